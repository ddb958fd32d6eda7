/* SPDX-License-Identifier: MIT */
/* Figures of a whole recording, and the differences between those of two.
 *
 * Figures are means over the looks at a recording, one a second, or over its
 * operations, and have the error of that mean. Operations are counted from the
 * beginning of the recording on. Not thread-safe.
 */
#ifndef NCS_RECORD_REPLAY_DIFFERENCES_H
#define NCS_RECORD_REPLAY_DIFFERENCES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "analysis/model/waits.h"
#include "record/replay/replay_search.h"

/* A mean, and the error of it. */
struct ncs_mean {
	uint64_t count; /* of values; below 2 the error is not known */
	double mean;
	double squares; /* sum of squares of the differences to it */
};

/* The operations of one function and size class, of all ranks. */
struct ncs_job_class {
	unsigned function, size_class;
	unsigned timing; /* enum ncs_timing; NCS_TIMING_COUNT: not timed */
	size_t ranks;    /* that made some */
	uint64_t operations;
	uint64_t timed;
	double time_ns; /* sum of their times, and of their squares */
	double squares;
};

struct ncs_recorded_job {
	uint64_t length_ns;
	size_t ranks; /* of all communicators; the most at a look */
	struct ncs_mean rate; /* operations of a rank a second */
	struct ncs_mean waits[NCS_WAIT_COUNT]; /* shares of the time, 0 to 1 */
	struct ncs_job_class *classes; /* by function and size */
	size_t class_count;
	struct ncs_replay_search *search; /* its episodes, the worst first */
};

/* Reads all of a recording, whose replay keeps ranks that have ended. `describe` is
 * as of ncs_replay_search_begin(). Returns 0 or -errno; release the job in either
 * case. */
int ncs_recorded_job_read(struct ncs_recorded_job *job,
			  const struct ncs_replay *replay, uint32_t pid,
			  ncs_describe_finding *describe);
void ncs_recorded_job_release(struct ncs_recorded_job *job);

enum ncs_difference_kind {
	NCS_DIFFERENCE_RATE,  /* operations of a rank a second */
	NCS_DIFFERENCE_WAIT,  /* a share of the time, 0 to 1 */
	NCS_DIFFERENCE_TIME,  /* of an operation, in ns */
	NCS_DIFFERENCE_COUNT, /* operations, of which one job has none */
};

/* A figure of two jobs. */
struct ncs_difference {
	enum ncs_difference_kind kind;
	unsigned wait; /* enum ncs_wait_kind, of WAIT */
	unsigned function, size_class; /* of TIME and COUNT */
	double before, after;
	double error; /* of the difference; negative: not known */
	bool differs; /* by more than twice the error */
	double weight; /* how much of the time the difference is, 0 to 1 */
};

/* Compares two jobs: the figures that both have, those that differ first, the
 * weightiest of these first. Sets *differences to an array that the caller frees.
 * Returns their number; 0 and NULL if there is no memory. */
size_t ncs_jobs_compare(const struct ncs_recorded_job *before,
			const struct ncs_recorded_job *after,
			struct ncs_difference **differences);

#endif
