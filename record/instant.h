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
#ifndef NCS_RECORD_INSTANT_H
#define NCS_RECORD_INSTANT_H

#include <stdbool.h>
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

#endif
