/* SPDX-License-Identifier: MIT */
/* Reads the clocks; see clock_reading.h. */
#include "record/write/clock_reading.h"

#include <sys/timex.h>

#include "shm/clock.h"

void ncs_clock_reading_take(struct ncs_clock_reading *best)
{
	uint64_t least = UINT64_MAX;
	struct timex timex = { 0 };
	int state;

	*best = (struct ncs_clock_reading){
		.maximum_error_ns = UINT64_MAX,
		.estimated_error_ns = UINT64_MAX,
	};
	for (int i = 0; i < 5; i++) {
		uint64_t before = ncs_clock_monotonic_ns();
		uint64_t realtime = ncs_clock_realtime_ns();
		uint64_t after = ncs_clock_monotonic_ns();

		if (after - before >= least)
			continue;
		least = after - before;
		best->before_ns = before;
		best->realtime_ns = realtime;
		best->after_ns = after;
	}
	state = adjtimex(&timex);
	if (state >= 0) {
		best->maximum_error_ns = (uint64_t)timex.maxerror * 1000;
		best->estimated_error_ns = (uint64_t)timex.esterror * 1000;
		best->synchronized = state != TIME_ERROR;
	}
}
