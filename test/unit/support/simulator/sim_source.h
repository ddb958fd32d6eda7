/* SPDX-License-Identifier: MIT */
/* A simulated job as a source: records and counters of its ranks. */
#ifndef NCS_TEST_UNIT_SUPPORT_SIMULATOR_SIM_SOURCE_H
#define NCS_TEST_UNIT_SUPPORT_SIMULATOR_SIM_SOURCE_H

#include "analysis/base/source.h"
#include "test/unit/support/simulator/sim_job.h"

/* The part of the job's past that a viewer that begins late still finds. */
enum sim_past {
	SIM_PAST_WHOLE,
	SIM_PAST_OPERATIONS, /* records of operations, none of proxies */
	SIM_PAST_COUNTERS, /* no records, but times of classes since the start */
	SIM_PAST_NONE,     /* nor those */
};

struct sim_segment;
struct sim_states;

struct sim_source {
	struct ncs_source source; /* must be first: is cast to this struct */
	struct sim_job job;
	struct sim_segment **segments; /* by communicator and member */
	struct sim_states *states;     /* in place of records */
	/* When a rank first waited because of the fault; UINT64_MAX: none has. */
	uint64_t visible_ns;
	double end_ns;                 /* since the job's begin */
	/* The pass that goes on. */
	uint64_t now_ns;
	unsigned comm_place, member_place;
	struct ncs_snapshot snapshot;
	struct ncs_record *batch;
	size_t batch_capacity;
	/* The rest of the time before. */
	enum sim_past past;
	double forget_ns;
	struct ncs_class_view *classes;
	uint64_t *buckets;
	size_t class_capacity, bucket_capacity;
};

/* Computes a job; stops the program if there is no memory. A job without a number of
 * steps goes on as far as passes come. All ranks are alive for ever;
 * the process of a rank has pid 1000 plus the rank, and 100 more for each number of the job
 * before its own. Free it with sim_source_free(). */
struct sim_source *sim_source_new(const struct sim_options *options);
void sim_source_free(struct sim_source *self);

/* Leaves only so much of what was before a step. Call this before the first
 * look. */
void sim_source_forget(struct sim_source *self, unsigned step,
		       enum sim_past past);

/* Counts an operation of a member in its function and class, with its time; 0: it has
 * none. */
void sim_source_count(struct sim_source *self, unsigned comm, unsigned member,
		      unsigned function, uint64_t bytes, unsigned timing,
		      uint64_t time_ns);

/* Sets the snapshot to the state of a member at the time of the pass. */
void sim_source_show(struct sim_source *self, unsigned comm, unsigned member);

/* Whether a record is of the application's thread. */
bool sim_source_is_call(const struct ncs_record *record);

/* Returns when a step begins, in ns since the job's begin: its first rank may
 * begin with it then. */
static inline double sim_source_step_ns(const struct sim_source *self,
					unsigned step)
{
	return self->job.begins_ns[step];
}

/* Returns when all ranks had first come to a collective, in ns since the job's
 * begin: what is before is seen in part. */
double sim_source_met_ns(const struct sim_source *self);

/* Returns when the job ends, by a perfect clock. */
uint64_t sim_source_end_ns(const struct sim_source *self);

/* Returns a communicator, which tells when all ranks had come to its collectives. */
const struct sim_comm *sim_source_comm(const struct sim_source *self,
				       uint64_t comm_id);

#endif
