/* SPDX-License-Identifier: MIT */
/* A communicator's rank in one process, as the model keeps it: its latest
 * snapshot, its past, and the facts from its records.
 *
 * Functions are pure: they read a rank and return what is known of the rank.
 * Times are ns of CLOCK_MONOTONIC on the rank's host.
 */
#ifndef NCS_ANALYSIS_MODEL_RANK_H
#define NCS_ANALYSIS_MODEL_RANK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/types.h>

#include "analysis/base/machine_peaks.h"
#include "analysis/base/nodes.h"
#include "analysis/base/recent_values.h"
#include "analysis/model/history.h"
#include "ncclstat/abi_clock.h"
#include "ncclstat/attach_result.h"
#include "ncclstat/snapshot.h"
#include "shm/process.h"

struct ncs_communicator; /* analysis/model/communicators.h */
struct ncs_late_rank;    /* analysis/model/lateness_state.h */
struct ncs_latest;       /* analysis/records/latest_records.h */
struct ncs_parts;        /* analysis/records/parts.h */
struct ncs_range_sum;    /* analysis/model/range_totals.h */
struct ncs_steps;        /* analysis/records/step_stats.h */

struct ncs_rank {
	char *id; /* the source's name of the segment */
	/* Differs between any two processes that this id has named, and between
	 * any two ranks, in the model's life. Not 0. */
	uint32_t serial;
	size_t place;     /* in model->ranks */
	size_t next_id;   /* in model->by_id, of the source's next; a guess */
	/* Since when `now` says nothing else but for times. */
	uint64_t unchanged_since_ns;
	/* The functions in which it has sequence numbers: bits by enum
	 * ncs_function_id. */
	uint64_t functions;
	const struct ncs_communicator *communicator; /* NULL if out of memory */
	/* Copied from the segment's header: */
	struct ncs_process process;
	struct ncs_clock clock;
	uint64_t created;     /* ticks */
	uint32_t api_version; /* of NCCL's profiler API */
	uid_t owner;          /* user of the segment's file; or NCS_NO_OWNER */
	/* Labels that tell of which job the process is (shm/labels.h); NULL:
	 * none. */
	char *labels;
	struct ncs_snapshot now;
	struct ncs_range_sum *ranges; /* of `now`, in the order of a tree */
	size_t range_capacity;
	bool seen;             /* in the latest update */
	/* Its process has been stopped since this sample, or since it is seen (0), and
	 * for longer than tools that read stacks pause it. */
	uint64_t stopped_ns;
	bool stays_stopped;
	uint64_t alive_ns;     /* latest update that showed it alive; 0: none */
	size_t node;           /* in the source's nodes; 0 if it has none */
	bool is_past;          /* its node tells nothing any more */
	/* Words before a command that run it where the rank is. */
	char reach[NCS_NODE_REACH_BYTES];
	struct ncs_rank_peaks peaks; /* of the links of its machine */
	char *stack;       /* lines of its stack, as of the sample; NULL: none */
	uint64_t stack_ns; /* when it was read */
	bool clock_is_aligned; /* with the clocks of other hosts */
	uint64_t clock_error_ns; /* largest error of that alignment */
	bool clock_is_by_realtime; /* of nothing but CLOCK_REALTIME */
	/* Its latest sample moved its clock by more than was told of the error:
	 * times from before are not to be compared with later ones. */
	bool has_moved;
	struct ncs_history history;
	/* Start of the window over which rates are taken, in the history; NULL
	 * if there are no rates yet. */
	const struct ncs_counters *base;
	struct ncs_recent_values traces; /* one value for each interval */
	/* From all records since the first update that had some; NULL if there
	 * were none, or if records are not wanted. */
	struct ncs_steps *steps;
	struct ncs_parts *parts;
	struct ncs_late_rank *late; /* NULL if no operation was compared */
	struct ncs_latest *latest;  /* latest records; NULL if none are kept */
};

/* A segment that cannot be read. */
struct ncs_unreadable {
	char *id;
	enum ncs_attach attach; /* the reason */
	char *why;              /* text for users */
};

/* Compares ranks by the order of model->ranks: host, communicator, rank,
 * process. Returns a negative number, 0 or a positive number, as qsort() needs
 * it. */
int ncs_rank_compare(const struct ncs_rank *a, const struct ncs_rank *b);

/* Returns the number of the rank's process where it was looked at: the host's,
 * if the process is in a container and was looked at from outside. */
uint32_t ncs_rank_pid(const struct ncs_rank *rank);

/* Returns whether two ranks read one clock. */
static inline bool ncs_shares_clock(const struct ncs_rank *a,
				    const struct ncs_rank *b)
{
	return a->process.time_namespace == b->process.time_namespace &&
	       strncmp(a->process.boot_id, b->process.boot_id,
		       sizeof(a->process.boot_id)) == 0 &&
	       strncmp(a->process.host, b->process.host,
		       sizeof(a->process.host)) == 0;
}

/* Returns whether times of two ranks can be compared. */
static inline bool ncs_is_comparable(const struct ncs_rank *a,
				     const struct ncs_rank *b)
{
	return ncs_shares_clock(a, b) ||
	       (a->clock_is_aligned && b->clock_is_aligned);
}

/* Returns the largest error of the difference between times of two ranks. */
static inline uint64_t ncs_error_between(const struct ncs_rank *a,
					 const struct ncs_rank *b)
{
	return ncs_shares_clock(a, b) ? 0 :
					a->clock_error_ns + b->clock_error_ns;
}

/* Returns whether two ranks belong to one process. */
bool ncs_shares_process(const struct ncs_rank *a, const struct ncs_rank *b);

/* Orders ranks so that those of one process are neighbours, and of these those that it
 * has on one GPU, in several communicators: they are one rank of the job. Returns a negative
 * number, 0 for them, or a positive one, like strcmp(). */
int ncs_compare_gpus(const struct ncs_rank *a, const struct ncs_rank *b);

/* Returns the actual length of the rank's window in ns; 0 if there are no rates
 * yet. The window of a rank that has ended ends with the rank. */
uint64_t ncs_rank_window_ns(const struct ncs_rank *rank);

/* Returns the counters of one interval ago, or NULL if there is only one
 * snapshot. */
const struct ncs_counters *ncs_rank_before(const struct ncs_rank *rank);

/* Returns whether a rank can still move: it is neither dead nor finished. */
static inline bool ncs_rank_is_live(const struct ncs_rank *rank)
{
	return rank->now.liveness == NCS_ALIVE ||
	       rank->now.liveness == NCS_SILENT;
}

/* Returns the time until which the rank's clock ran: that of its snapshot, or
 * of its end. Durations that go on are counted until then. The end of a process
 * that died is the latest of all times that show it alive: this viewer's, its
 * heartbeat's, and those of what it last did. */
uint64_t ncs_rank_end_ns(const struct ncs_rank *rank);

/* Returns whether that end is more than a lower bound: false for a process that
 * died without a heartbeat, and when this viewer did not look. */
bool ncs_rank_end_is_known(const struct ncs_rank *rank);

/* Returns the number of records and updates that are missing, except records
 * that were overwritten before this reader's first refresh. */
static inline uint64_t ncs_rank_lost(const struct ncs_rank *rank)
{
	return ncs_snapshot_lost(&rank->now);
}

/* Returns how many of them were lost in the rank's window; all if there are no
 * rates yet. */
uint64_t ncs_rank_lost_in_window(const struct ncs_rank *rank);

/* Returns whether there was any call or operation of a function. */
static inline bool
ncs_function_is_used(const struct ncs_function_view *function)
{
	return function->calls > 0 || function->operations > 0;
}

/* Returns whether the rank has called or launched anything. */
bool ncs_rank_has_called(const struct ncs_rank *rank);

/* Returns whether ends of the function's operations are reported: by their
 * children, or by their launches. */
static inline bool
ncs_function_ends_known(const struct ncs_function_view *function)
{
	return function->with_children > 0 || function->operations_done > 0;
}

/* Returns whether the profiler API reports the application's calls. */
static inline bool ncs_rank_calls_known(const struct ncs_rank *rank)
{
	return rank->api_version >= 5;
}

/* Returns whether NCCL reports what the proxy thread does. */
static inline bool ncs_rank_proxy_known(const struct ncs_rank *rank)
{
	return rank->now.proxy.state != NCS_PROXY_UNKNOWN;
}

/* Returns whether the function's sum of bytes is complete: there was an
 * operation, and the size of all was known. */
static inline bool
ncs_function_bytes_known(const struct ncs_function_view *function)
{
	return function->operations > 0 && function->size_unknown == 0;
}

/* Returns whether the channel's sum of bytes is complete: NCCL reported the
 * size of its steps. */
static inline bool
ncs_channel_bytes_known(const struct ncs_channel_view *channel)
{
	return channel->bytes > 0 || channel->size_unknown == 0;
}

/* Return whether waiting for the peer is known apart from waiting for the GPU:
 * senders report that only from version 4 of the profiler API on. */
bool ncs_channel_peer_wait_known(const struct ncs_rank *rank,
				 const struct ncs_channel_view *channel);
static inline bool ncs_rank_peer_wait_known(const struct ncs_rank *rank)
{
	return rank->api_version >= 4;
}

/* --- Rates -------------------------------------------------------------- */

/* Rates are over the rank's window (ncs_rank_window_ns()), per second; negative if they
 * are not known. */

/* Returns the rate of a counter of the rank, from its values now and at the
 * start of the window. */
double ncs_rank_rate(const struct ncs_rank *rank, uint64_t now, uint64_t base);

/* Returns the rate of operations started. */
double ncs_rank_operations_rate(const struct ncs_rank *rank);

/* Returns the rate of bytes that all channels of one direction moved. */
double ncs_rank_bytes_rate(const struct ncs_rank *rank, bool send);

#endif
