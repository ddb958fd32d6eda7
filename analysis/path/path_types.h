/* SPDX-License-Identifier: MIT */
/* The types of the pass along the critical path: what it is asked for, and what
 * it reports. See analysis/path/critical_path.h for what it does.
 */
#ifndef NCS_ANALYSIS_PATH_PATH_TYPES_H
#define NCS_ANALYSIS_PATH_PATH_TYPES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "analysis/path/what_if.h"
#include "analysis/records/join.h"

enum ncs_path_cause {
#define X(ID, name, help) NCS_PATH_##ID,
	NCS_PATH_CAUSES(X)
#undef X
		NCS_PATH_CAUSE_COUNT
};

#define NCS_SCENARIOS_MAX 16u

#define NCS_NO_STEP UINT32_MAX

/* The part's owner, which is an index of what the caller told. */
struct ncs_path_owner {
	uint32_t rank; /* of the job: what scenarios name */
	uint32_t host;
};

/* A piece of the path: what the rank's time went into. */
struct ncs_path_segment {
	unsigned cause; /* enum ncs_path_cause */
	size_t owner;
	uint64_t from_ns; /* as replayed */
	uint64_t until_ns;
	/* Of the operation that was waited for, or that was transferred. */
	uint64_t comm_id;
	uint64_t number;
	uint64_t bytes;
	uint8_t function;
	uint32_t step;
	/* The channel that ended last; only from NCS_PATH_GPU on. */
	uint8_t channel;
	bool send;
	int32_t peer;
};

struct ncs_path_options {
	const struct ncs_path_owner *owners;
	size_t owner_count;
	uint32_t rank_count; /* of the job: larger than each owner's */
	const struct ncs_scenario *scenarios;
	size_t scenario_count; /* NCS_SCENARIOS_MAX at most */
	struct ncs_fits *fits; /* solved; NULL: none */
	/* Whether a part was called in a range, by its path; NULL: never. */
	bool (*is_in_range)(const void *who, const struct ncs_part *part,
			    const char *path);
	/* Told of the path as it was, in the order of time; NULL: nobody. */
	void (*segment)(void *who, const struct ncs_path_segment *segment);
	/* Told of each part of each scenario, as it would be: when it comes and
	 * when it ends. NULL: nobody. */
	void (*timed)(void *who, size_t scenario, const struct ncs_part *part,
		      uint64_t arrival_ns, uint64_t end_ns);
	void *who;
};

/* Where the time of one scenario went, by its own path. */
struct ncs_path_sum {
	const struct ncs_scenario *scenario; /* NULL: as it was, replayed */
	/* From the first operation's call to the last one's end. */
	double elapsed_ns;
	double cause_ns[NCS_PATH_CAUSE_COUNT];
	double uncounted_ns; /* on the path, in what is not counted */
	/* On the path, in transfers whose change is not known. */
	double unknown_ns;
	const double (*rank_ns)[NCS_PATH_CAUSE_COUNT]; /* by the job's rank */
};

struct ncs_path_channel {
	uint32_t rank; /* of the job */
	uint64_t comm_id;
	uint8_t channel;
	bool send;
	int32_t peer; /* in its communicator */
	double ns;
};

struct ncs_path_step {
	bool has_end;                         /* else there is nothing in it */
	double end_ns[1 + NCS_SCENARIOS_MAX]; /* since the first call */
	double cause_ns[NCS_PATH_CAUSE_COUNT];
	uint32_t rank; /* of the job, that most of it went through */
	double rank_ns;
};

struct ncs_path_report {
	double measured_ns; /* elapsed, as recorded */
	double first_ns;    /* of the first call */
	uint64_t operations;
	uint64_t incomplete;
	uint64_t parts;
	/* Parts that came after others had ended that waited for them, by the
	 * clocks: they are taken to have come by then. */
	uint64_t violations;
	uint64_t forgotten; /* parts whose operation before was not known any more */
	uint64_t breaks;  /* where the path was given up, for want of memory */
	size_t sum_count; /* scenarios, and the replay, which is the first */
	const struct ncs_path_sum *sums;
	size_t step_count;
	const struct ncs_path_step *steps;
	size_t channel_count; /* the most expensive first */
	const struct ncs_path_channel *channels;
};

#endif
