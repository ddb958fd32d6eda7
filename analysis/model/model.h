/* SPDX-License-Identifier: MIT */
/* The model: all ranks that a source shows, each with its latest snapshot and
 * its past. It is updated from a source and read by the diagnosis and every
 * view.
 *
 * Pure: does no I/O of its own, and the caller passes the time. Rates and
 * shares are taken from rank->base until now; a rank without a base has no
 * rates yet, which is not the same as zero. Not thread-safe.
 */
#ifndef NCS_ANALYSIS_MODEL_MODEL_H
#define NCS_ANALYSIS_MODEL_MODEL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "analysis/base/recent_values.h"
#include "analysis/base/source.h"
#include "analysis/model/history.h"
#include "analysis/model/rank.h"
#include "analysis/model/waits.h"

struct ncs_aliases;   /* analysis/base/aliases.h */
struct ncs_diagnosis; /* analysis/diagnosis/diagnosis.h */
struct ncs_skews;     /* analysis/model/lateness_state.h */

struct ncs_model {
	/* The reader's diagnosis, which the model only carries along to the
	 * views; NULL if there is none. */
	const struct ncs_diagnosis *diagnosis;
	const struct ncs_aliases *aliases; /* the source's; may be NULL */
	bool shows_part; /* the source's: ranks of one process only */
	bool keeps_latest;   /* whether ranks keep their latest records */
	/* Between two computations of what ranks cost are at least so many times what
	 * one takes; but see ncs_costs_update(). */
	uint64_t costs_every_times;
	size_t latest_count; /* ranks that kept some before the latest update */
	struct ncs_rank **ranks; /* by host, communicator, rank, process */
	size_t rank_count, rank_capacity;
	struct ncs_rank **by_id; /* ranks of the previous update, by their id */
	size_t by_id_count, by_id_capacity;
	size_t first_id; /* place in by_id of the source's first; a guess */
	struct ncs_communicator *communicators; /* by first rank */
	size_t communicator_count, communicator_capacity;
	struct ncs_rank **members; /* ranks of each communicator in a row */
	struct ncs_rank **numbered; /* those with a number, sorted by it */
	size_t numbered_capacity;
	size_t member_capacity;
	uint32_t serials;        /* of ranks so far */
	struct ncs_skews *skews; /* NULL if nothing was compared */
	struct ncs_unreadable *unreadable;
	size_t unreadable_count, unreadable_capacity;
	/* The source's nodes as of the latest update, in the source's order,
	 * which rank->node counts by. */
	struct ncs_node *nodes;
	size_t node_count, node_capacity;
	/* The copy of a sample's snapshot, until a rank takes it. */
	struct ncs_snapshot spare;
	enum ncs_window window; /* see ncs_model_set_window() */
	uint64_t marked_ns;     /* time of ncs_model_mark(); 0 if not marked */
	struct ncs_job_waits waits; /* in the window of the rates */
	struct ncs_trend trend;
	uint64_t refreshes;  /* number of updates */
	uint64_t now_ns;     /* time of the latest update */
	char error[256];     /* why the latest update failed, or empty */
	uint64_t generation; /* changes when a rank comes, goes or moves */
};

/* Makes an empty model, to be released with ncs_model_release(). */
void ncs_model_init(struct ncs_model *model);

/* Releases all ranks and memory; the model is then empty. */
void ncs_model_release(struct ncs_model *model);

/* Forgets all ranks and their past. Keeps the settings: the window, the
 * diagnosis, and whether latest records are kept. */
void ncs_model_forget(struct ncs_model *model);

/* Reads the source once, which shows the state at `now_ns`. Ranks keep their
 * address as long as the source shows them. Ranks that have finished and whose
 * process is gone are dropped; ranks of which the source has nothing newer stay
 * as they are. Returns 0 or -errno; model->error then says why, and ranks that
 * were not reached stay as they were. */
int ncs_model_update(struct ncs_model *model, struct ncs_source *source,
		     uint64_t now_ns);

/* Takes all rates and shares over another window from now on. Pointers into the
 * model stay valid, and so do findings. */
void ncs_model_set_window(struct ncs_model *model, enum ncs_window window);

/* Sets the start of NCS_WINDOW_MARK to the latest update. Returns 0, or -ENOMEM
 * if some ranks have no mark. */
int ncs_model_mark(struct ncs_model *model);

/* Returns the length of the longest window of all ranks in ns. */
uint64_t ncs_model_window_ns(const struct ncs_model *model);

/* --- Jobs and nodes ------------------------------------------------------- */

/* The jobs that the ranks are of, by their labels (shm/read/job.h). */
struct ncs_job_counts {
	size_t jobs; /* jobs of a batch system, or runs of torchrun */
	size_t pods; /* pods of ranks for which no job is known */
};

/* Counts the different jobs and pods of all ranks. Ranks without labels are of
 * none. Returns 0, or -ENOMEM with both 0. */
int ncs_jobs_count(const struct ncs_model *model,
		   struct ncs_job_counts *counts);

struct ncs_node_counts {
	size_t nodes;  /* without those that are gone; 0: the source has none */
	size_t seen;   /* nodes whose ranks are seen as they are now */
	size_t silent; /* of the others, those that do not answer (any more) */
	/* Ranks of all communicators, as these tell, seen or not; at least the
	 * ranks of the model. */
	size_t ranks;
};

/* Counts the nodes of the model, and the ranks of its communicators. */
void ncs_count_nodes(const struct ncs_model *model,
		     struct ncs_node_counts *counts);

#endif
