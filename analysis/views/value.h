/* SPDX-License-Identifier: MIT */
/* The value of a cell: a kind, which is also its unit, and a number, a real
 * number or a text.
 *
 * Pure. A value starts as NCS_VALUE_NONE, which means unknown and is shown as
 * "-", never as 0. The setters change a value only if what they are given is
 * known.
 */
#ifndef NCS_ANALYSIS_VIEWS_VALUE_H
#define NCS_ANALYSIS_VIEWS_VALUE_H

#include <stdbool.h>
#include <stdint.h>

struct ncs_recent; /* analysis/base/recent_values.h */

enum ncs_value_kind {
	NCS_VALUE_NONE,       /* unknown */
	NCS_VALUE_NUMBER,     /* number */
	NCS_VALUE_RATE,       /* real, per second */
	NCS_VALUE_BYTES,      /* number */
	NCS_VALUE_SIZE,       /* number, shown in powers of 1024 */
	NCS_VALUE_BYTES_RATE, /* real, bytes per second */
	NCS_VALUE_REAL,       /* real, 10^6 or 10^9 bytes per second */
	NCS_VALUE_SHARE,      /* real, 0 to 1, shown in percent */
	NCS_VALUE_DURATION,   /* number, ns; may have an error */
	NCS_VALUE_TEXT,       /* text */
	NCS_VALUE_RECENT,     /* recent; real is its latest value */
};

struct ncs_value {
	enum ncs_value_kind kind;
	int64_t number;
	uint64_t error_ns; /* largest error of a duration, from hosts' clocks */
	double real;
	const struct ncs_recent
		*recent;       /* the values of a sparkline, the model's */
	uint64_t recent_count; /* number of refreshes that they cover */
	/* A duration that may be any longer one, or a share that may be
	 * larger. */
	bool is_least;
	bool is_most; /* a share that may be smaller */
	bool is_stale; /* the latest that is known, but long past */
	char text[128]; /* raw, as found in the segment: escape when shown */
};

/* Sets a number of a kind, which is cut to INT64_MAX. */
void ncs_value_set(struct ncs_value *value, enum ncs_value_kind kind,
		   uint64_t number);

/* Sets a number that has no unit. */
void ncs_value_set_number(struct ncs_value *value, uint64_t number);

/* Sets a real number of a kind; a negative one is unknown. */
void ncs_value_set_real(struct ncs_value *value, enum ncs_value_kind kind,
			double real);

/* Sets a text; an empty one is unknown. */
void ncs_value_set_text(struct ncs_value *value, const char *text);

/* Sets a function with its sequence number, unless that is
 * NCS_NO_SEQUENCE_NUMBER: "AllReduce#4", without a blank, as tables of text are
 * read by their blanks. */
void ncs_value_set_call(struct ncs_value *value, unsigned function,
			uint64_t number);

/* Sets a duration in ns; 0 is unknown. */
void ncs_value_set_duration(struct ncs_value *value, uint64_t duration_ns);

/* Sets a percentile in ns (analysis/base/percentile.h); 0 is unknown. */
void ncs_value_set_percentile(struct ncs_value *value, uint64_t time_ns);

/* Sets the duration between two times in ns; unknown if `from_ns` is 0. The
 * duration is 0 if `until_ns` is earlier, as it may be for something that began
 * while the snapshot was being taken. */
void ncs_value_set_span(struct ncs_value *value, uint64_t from_ns,
			uint64_t until_ns);

/* Orders two values as a user who sorts expects, from the largest down if
 * `downwards`: unknown values are last in any order. Returns a negative number, 0 or
 * a positive number. */
int ncs_value_order(const struct ncs_value *a, const struct ncs_value *b,
		    bool downwards);

#endif
