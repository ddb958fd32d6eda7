/* SPDX-License-Identifier: MIT */
/* The state of the made-up job, and the functions that fill in its snapshots.
 * Only files in this folder include this header. */
#ifndef NCS_TEST_UNIT_SUPPORT_SYNTHETIC_JOB_H
#define NCS_TEST_UNIT_SUPPORT_SYNTHETIC_JOB_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "analysis/base/source.h"
#include "ncclstat/abi_header.h"
#include "shm/hash.h"

#define MS UINT64_C(1000000)
#define MIB (UINT64_C(1) << 20)

/* A cycle is an operation of the busiest function on every channel, with its
 * steps. A second is not a multiple of a cycle, so that refreshes every second
 * see the job at different places of the cycle. */
#define CYCLE_NS (17 * MS)
#define CYCLE_STEPS 8u
#define STEP_BYTES (14 * MIB) /* of all channels together */
/* One launch in 2^level is timed. */
#define SYNTHETIC_LAUNCH_LEVEL 2u

/* The age at which a channel hangs, 8 s: the beginning of a cycle. */
#define HANG_AT_NS (471 * CYCLE_NS)
#define NOT_HUNG UINT64_MAX

/* Largest number of records of a rank in one pass. */
#define RECORD_MAX 8192u

/* The communicator that a rank belongs to; OLD belongs to a job whose NCCL has
 * profiler API 1. */
enum synthetic_kind { WORLD, UNNAMED, FINISHED, OLD };

/* One rank of one communicator. */
struct synthetic_member {
	char id[64];
	enum synthetic_kind kind;
	struct ncs_header header;
	unsigned nranks;
	unsigned rank;
	bool late;
	bool after_late;  /* receives from the late rank */
	bool before_late; /* sends to the late rank */
	bool dead;
	bool hangs;           /* sends on the channel that hangs */
	bool is_hung_on;      /* receives on the channel that hangs */
	bool loses;           /* loses events */
	uint64_t recorded_ns; /* end of the records handed over so far */
};

struct synthetic_job {
	struct ncs_source source; /* must be first: it is cast to this struct */
	uint64_t seed;
	unsigned channels;
	struct synthetic_member *members;
	size_t count;
	size_t place; /* position of next() in the members */
	bool is_born; /* whether the first pass has set the job's birth */
	uint64_t born_ns;
	uint64_t now_ns;
	struct ncs_snapshot snapshot; /* snapshot of the latest sample */
	/* Records of the latest sample, room for RECORD_MAX. */
	struct ncs_record *records;
	size_t record_count;
};

/* Returns a number that depends on the seed and two places; any two inputs give
 * unrelated numbers. */
static inline uint64_t ncs_synthetic_number(uint64_t seed, uint64_t a,
					    uint64_t b)
{
	return ncs_hash(seed + UINT64_C(0x9e3779b97f4a7c15) * ((a << 20) + b));
}

/* --- synthetic_counters.c: functions, classes and ranges ------------------ */

/* Allocates the snapshot's classes, ranges and histograms. Returns 0, or -1 if
 * there is no memory; the caller releases the snapshot. */
int ncs_synthetic_reserve(struct ncs_snapshot *snapshot);

/* Fills in the counters of the member's calls so far, by function and class. */
void ncs_synthetic_functions(struct ncs_snapshot *snapshot,
			     const struct synthetic_member *member,
			     uint64_t age_ns);

/* Adds the ranges of the program. The snapshot's channels must be filled in. */
void ncs_synthetic_ranges(struct ncs_snapshot *snapshot,
			  const struct synthetic_member *member,
			  uint64_t age_ns);

/* --- synthetic_channels.c: channels, operations and the proxy thread ------ */

/* A phase of a cycle: a state, and how long it lasts. */
struct synthetic_phase {
	unsigned state;
	uint64_t length_ns;
};

enum { CHANNEL_PHASES = 4 };

/* Sets the phases of a member's channels in one direction. */
void ncs_synthetic_phases(const struct synthetic_member *member, bool send,
			  struct synthetic_phase phases[CHANNEL_PHASES]);

/* Returns the age at which a channel hangs, or NOT_HUNG if it does not hang. A
 * sender hangs when it begins to wait for its peer, a receiver when it begins
 * to wait for data. */
uint64_t ncs_synthetic_hang_age_ns(const struct synthetic_member *member,
				   unsigned channel, bool send,
				   unsigned channels,
				   const struct synthetic_phase *phases);

/* Returns by how many ns the cycle of a channel begins after that of the first
 * channel. */
uint64_t ncs_synthetic_jitter_ns(const struct synthetic_job *job,
				 const struct synthetic_member *member,
				 unsigned channel);

/* Fill in the channels, the operations in flight, the progress of launches (the
 * snapshot has its functions), and the proxy thread. */
void ncs_synthetic_channels(struct synthetic_job *job,
			    const struct synthetic_member *member,
			    uint64_t age_ns, uint64_t end_ns);
void ncs_synthetic_operations(struct synthetic_job *job,
			      const struct synthetic_member *member,
			      uint64_t age_ns, uint64_t end_ns);
void ncs_synthetic_launches(struct ncs_snapshot *snapshot,
			    const struct synthetic_member *member,
			    uint64_t age_ns, uint64_t end_ns);
void ncs_synthetic_proxy(struct ncs_proxy_view *view, uint64_t age_ns,
			 uint64_t end_ns);

/* --- synthetic_records.c -------------------------------------------------- */

/* Returns by how much a GPU's clock is ahead, in ns. */
uint64_t ncs_synthetic_gpu_offset_ns(const struct synthetic_member *member);

/* Makes the records of a member since the previous pass, as many as there is
 * room for; the oldest are lost. Returns the number of lost records. */
uint64_t ncs_synthetic_records(struct synthetic_job *job,
			       const struct synthetic_member *member,
			       uint64_t age_ns, uint64_t end_ns);

#endif
