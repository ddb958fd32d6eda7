/* SPDX-License-Identifier: MIT */
/* Moments of a recording, as people write them.
 *
 *   [-]SECONDS, [-]M:SS, [-]H:MM:SS    since the beginning; with "-": before the
 *                                      end
 *   [YYYY-MM-DD]THH:MM[:SS][Z]         by CLOCK_REALTIME, in this machine's time
 *                                      zone or, with Z, in UTC; without a date
 *                                      the first such moment of the recording
 *
 * Seconds may have a fraction, and a blank may stand for the T behind a date.
 */
#ifndef NCS_RECORD_READ_INSTANT_H
#define NCS_RECORD_READ_INSTANT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum ncs_instant_kind {
	NCS_INSTANT_NONE,       /* nobody wrote any */
	NCS_INSTANT_SINCE,      /* ns since the beginning */
	NCS_INSTANT_BEFORE_END, /* ns before the end */
	NCS_INSTANT_DAYTIME,    /* ns since midnight */
	NCS_INSTANT_REALTIME,   /* CLOCK_REALTIME ns */
};

struct ncs_instant {
	enum ncs_instant_kind kind;
	bool utc; /* the day's time is */
	uint64_t ns;
};

/* False: it is none, and nothing is changed. */
bool ncs_instant_parse(const char *text, struct ncs_instant *instant);

/* What an instant is a part of: moments of one clock, and what CLOCK_REALTIME is
 * ahead of that. */
struct ncs_time_span {
	uint64_t from_ns;
	uint64_t until_ns;
	int64_t realtime_offset_ns;
};

/* The moment that is meant. False: it is not in the span, and `why` says so. */
bool ncs_instant_resolve(const struct ncs_instant *instant,
			 const struct ncs_time_span *span, uint64_t *moment_ns,
			 char *why, size_t why_size);

/* "1:02:03.500", as ncs_instant_parse() takes it. */
void ncs_instant_print(uint64_t since_ns, char *text, size_t size);

#endif
