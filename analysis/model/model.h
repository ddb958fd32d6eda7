/* SPDX-License-Identifier: MIT */
/* The model: what is known of every rank now, one interval ago, and where the
 * window began over which rates are taken.
 *
 * Fed by a source, read by every view. Pure: no I/O, the time is passed in.
 * Rates and shares are those from rank->base to now; a rank without a base has
 * no rates yet, which is not the same as zero.
 */
#ifndef NCS_ANALYSIS_MODEL_MODEL_H
#define NCS_ANALYSIS_MODEL_MODEL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "analysis/model/history.h"
#include "analysis/records/latest_records.h"
#include "analysis/base/source.h"
#include "analysis/records/step_stats.h"
#include "analysis/base/recent_values.h"

struct ncs_communicator; /* analysis/model/communicators.h */
struct ncs_arrivals;     /* analysis/records/arrivals.h */
struct ncs_late_rank;    /* analysis/model/stragglers.h */
struct ncs_skews;

struct ncs_range_sum; /* analysis/model/range_totals.h */

/* One communicator's rank in one process. */
struct ncs_rank {
	char *id;
	const struct ncs_communicator *communicator; /* NULL: no memory */
	struct ncs_header header;
	struct ncs_snapshot now;
	struct ncs_range_sum *ranges; /* of now's, in the order of a tree */
	bool seen; /* in the latest pass */
	bool clock_is_aligned; /* with those of other hosts … */
	uint64_t clock_error_ns; /* … but for so much */
	struct ncs_history history;
	/* The window's beginning, in the history; NULL: it has none yet. */
	const struct ncs_counters *base;
	struct ncs_recent_values traces; /* each value of one interval */
	/* As the latest interval began in which operations were timed; zeros
	 * where there was none: bandwidth is then that since the start. */
	struct ncs_timed timed_before[NCS_FUNCTION_COUNT][NCS_TIMING_COUNT];
	/* Since the first pass with records; NULL: none seen, or not wanted. */
	struct ncs_steps *steps;
	struct ncs_arrivals *arrivals;
	struct ncs_late_rank *late; /* NULL: nothing was compared */
	/* The latest records; NULL: none seen, or not wanted. */
	struct ncs_latest *latest;
};

/* A segment that cannot be read, and why. */
struct ncs_unreadable {
	char *id;
	enum ncs_attach attach;
	char *why;
};

struct ncs_diagnosis; /* analysis/diagnosis/diagnosis.h */

struct ncs_model {
	/* What is wrong with it, of who looks at it; NULL: nobody asks. */
	const struct ncs_diagnosis *diagnosis;
	const struct ncs_aliases *aliases; /* the source's; NULL: none */
	bool keeps_latest; /* the latest records are kept; set before a pass */
	size_t latest_count;     /* ranks whose records were kept before it */
	struct ncs_rank **ranks; /* by host, communicator, rank, pid */
	size_t rank_count;
	struct ncs_rank **by_id; /* those of the pass before, by their id */
	size_t by_id_count;
	struct ncs_communicator *communicators; /* by their first ranks */
	size_t communicator_count;
	struct ncs_rank **members; /* the ranks of each, one after another */
	struct ncs_skews *skews;   /* NULL: nothing was compared */
	struct ncs_unreadable *unreadable;
	size_t unreadable_count;
	struct ncs_snapshot spare; /* a sample before it is a rank's */
	enum ncs_window window;    /* set it by ncs_model_set_window() */
	uint64_t marked_ns;        /* the pass that was marked; 0: none was */
	/* Bytes per second, sent and received by all ranks, at each pass. */
	struct ncs_recent traffic;
	uint64_t looks;
	uint64_t now_ns; /* of the latest pass */
	char error[256]; /* why the latest pass failed; empty: it did not */
	uint64_t generation; /* changes when a rank comes, goes or moves */
};

void ncs_model_init(struct ncs_model *model);
void ncs_model_release(struct ncs_model *model);

/* Forgets all ranks and all of the past, but not what is wanted of it: the
 * window, and whether the latest records are kept. */
void ncs_model_forget(struct ncs_model *model);

/* One pass over the source. Ranks keep their address while they are there; a
 * rank that is finished and whose process is gone is dropped, and one of which
 * the source has nothing newer stays as it is. 0 or -errno;
 * model->error then says why, and ranks stay as the pass before left them as
 * far as this one did not reach them. */
int ncs_model_update(struct ncs_model *model, struct ncs_source *source,
		     uint64_t now_ns);

/* The order of model->ranks: negative, 0 or positive, as qsort() has it. */
int ncs_rank_compare(const struct ncs_rank *a, const struct ncs_rank *b);

/* Takes all rates and shares over another window, from this moment on. */
void ncs_model_set_window(struct ncs_model *model, enum ncs_window window);

/* Lets NCS_WINDOW_MARK begin at the latest pass. 0 or -ENOMEM: it begins with
 * those ranks for which there was no memory. */
int ncs_model_mark(struct ncs_model *model);

/* The time over which a rank's rates are taken, as it was; 0: there are none.
 * For a rank that has ended, its life ends with it. */
uint64_t ncs_rank_window_ns(const struct ncs_rank *rank);

/* The counters one interval ago; NULL: there was no look at it yet. */
const struct ncs_counters *ncs_rank_before(const struct ncs_rank *rank);

/* The longest of all ranks. */
uint64_t ncs_model_window_ns(const struct ncs_model *model);

/* Until when a rank's clock ran: the moment of the snapshot, or that of its
 * end. What lasts, lasts until then. */
uint64_t ncs_rank_end_ns(const struct ncs_rank *rank);

/* All that the view may lack of a rank, without records that had been
 * overwritten before this viewer came. */
uint64_t ncs_rank_lost(const struct ncs_rank *rank);

/* Whether anything was seen of a function. */
bool ncs_function_is_used(const struct ncs_function_view *function);

/* Whether the profiler's API tells the application's calls. */
bool ncs_rank_calls_known(const struct ncs_rank *rank);

/* Whether NCCL tells what the proxy thread does. */
bool ncs_rank_proxy_known(const struct ncs_rank *rank);

/* Whether a function's bytes are known: not before the first operation, nor
 * where the size of one could not be told. */
bool ncs_function_bytes_known(const struct ncs_function_view *function);

/* Whether a channel's bytes are known: not where NCCL told no size of the
 * steps that were done. */
bool ncs_channel_bytes_known(const struct ncs_channel_view *channel);

/* Whether the profiler's API tells a channel's waiting for its peer apart from
 * that for the GPU: for a sender only from version 4 on. */
bool ncs_rank_peer_wait_known(const struct ncs_rank *rank);
bool ncs_channel_peer_wait_known(const struct ncs_rank *rank,
				 const struct ncs_channel_view *channel);

/* --- What the numbers mean ---------------------------------------------- */

/* Per second of the window: of a counter of the rank, of operations
 * started, of bytes in one direction. Negative: unknown. */
double ncs_rank_rate(const struct ncs_rank *rank, uint64_t now, uint64_t base);
double ncs_rank_operations_rate(const struct ncs_rank *rank);
double ncs_rank_bytes_rate(const struct ncs_rank *rank, bool send);

/* Percentile of the times of a rank's operations, in ns: of those timed in the
 * window; where that is the latest interval, which has too few, of all. 0:
 * there are none. */
uint64_t ncs_rank_percentile(const struct ncs_rank *rank, unsigned function,
			     double fraction);

/* GB/s of a function's timed operations: over the window if some were timed in
 * it, else over the latest interval in which some were, else since the start.
 * Negative: unknown. */
double ncs_rank_algorithm_bandwidth(const struct ncs_rank *rank,
				    unsigned function);
double ncs_bus_bandwidth_since(const struct ncs_rank *rank, unsigned function,
			       const struct ncs_counters *base);
double ncs_rank_bus_bandwidth(const struct ncs_rank *rank, unsigned function);

#endif
