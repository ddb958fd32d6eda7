/* SPDX-License-Identifier: MIT */
/* Points in time of a recording, as users write them.
 *
 *   [-]SECONDS, [-]M:SS, [-]H:MM:SS   since the beginning; with "-": before the
 *                                     end
 *   [YYYY-MM-DD]THH:MM[:SS][Z]        by CLOCK_REALTIME, in this machine's time
 *                                     zone or, with Z, in UTC; without a date
 *                                     the first such time of the recording
 *
 * Seconds may have a fraction. A blank may replace the T behind a date.
 */
#ifndef NCS_RECORD_REPLAY_INSTANT_H
#define NCS_RECORD_REPLAY_INSTANT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum ncs_instant_kind {
	NCS_INSTANT_NONE,       /* the user gave none */
	NCS_INSTANT_SINCE,      /* ns since the beginning */
	NCS_INSTANT_BEFORE_END, /* ns before the end */
	NCS_INSTANT_DAYTIME,    /* ns since midnight */
	NCS_INSTANT_REALTIME,   /* CLOCK_REALTIME ns */
};

struct ncs_instant {
	enum ncs_instant_kind kind;
	bool utc; /* whether a time of day is in UTC */
	uint64_t ns;
};

/* Parses an instant. Returns false and leaves *instant unchanged if the text is
 * not an instant. */
bool ncs_instant_parse(const char *text, struct ncs_instant *instant);

/* The times of one clock that an instant may refer to, and CLOCK_REALTIME minus
 * that clock, in ns. */
struct ncs_time_span {
	uint64_t from_ns;
	uint64_t until_ns;
	int64_t realtime_offset_ns;
};

/* Converts an instant to a time of the span's clock. Returns false and sets
 * `why` to a clause for the user if the instant is not in the span. */
bool ncs_instant_resolve(const struct ncs_instant *instant,
			 const struct ncs_time_span *span, uint64_t *moment_ns,
			 char *why, size_t why_size);

/* Prints a duration, e.g. "1:02:03.500", as ncs_instant_parse() accepts it. */
void ncs_instant_print(uint64_t since_ns, char *text, size_t size);

#endif
