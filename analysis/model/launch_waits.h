/* SPDX-License-Identifier: MIT */
/* Waits of a rank's operations in flight, by the progress of launches on their
 * streams. They are known without a proxy thread, i.e. over NVLink, too. The longest
 * wait of a rank, and for how long others wait for a rank that has not arrived.
 *
 * Pure. What is returned points into the model and is valid until its next
 * update.
 */
#ifndef NCS_ANALYSIS_MODEL_LAUNCH_WAITS_H
#define NCS_ANALYSIS_MODEL_LAUNCH_WAITS_H

#include <stdbool.h>
#include <stdint.h>

#include "analysis/model/rank.h"
#include "analysis/model/waits.h"
#include "ncclstat/tables/launches.def"

enum ncs_launch_wait_kind {
#define X(ID, name, help) NCS_LAUNCH_WAIT_##ID,
	NCS_LAUNCH_WAITS(X)
#undef X
		NCS_LAUNCH_WAIT_COUNT
};

struct ncs_launch_wait {
	const struct ncs_operation_view *operation; /* NULL if none is known */
	enum ncs_launch_wait_kind kind;             /* COUNT if none is known */
	uint64_t since_ns; /* of its launch (STREAM), or of its begin */
	uint64_t duration_ns;
};

/* Returns what the rank's oldest operation of a known launch waits for. */
struct ncs_launch_wait ncs_rank_launch_wait(const struct ncs_rank *rank);

/* Whether another rank's kernel of an operation has begun. */
enum ncs_kernel_begun {
	NCS_BEGUN_NOT_KNOWN,
	NCS_BEGUN_NOT, /* it has not called, or its kernel is queued */
	NCS_BEGUN_HAS,
};

/* Whether it cannot be known what `rank` has begun of the replay of a graph that
 * `other` is in: launches of it that report on the other do not on this one. */
bool ncs_rank_hides_replay(const struct ncs_rank *rank,
			   const struct ncs_rank *other);

/* Returns whether `rank` has begun its part of an operation of `caller`, a rank
 * of the same communicator: the same collective, or the other half of a
 * point-to-point transfer between the two. */
enum ncs_kernel_begun
ncs_rank_has_begun(const struct ncs_rank *rank, const struct ncs_rank *caller,
		   const struct ncs_operation_view *operation);

/* Whether `caller`, in an operation that has begun, needs `other` for it. */
bool ncs_operation_needs(const struct ncs_rank *caller,
			 const struct ncs_operation_view *operation,
			 const struct ncs_rank *other);

/* Return the name of a kind and its explanation; "unknown" for COUNT. */
const char *ncs_launch_wait_name(unsigned kind);
const char *ncs_launch_wait_help(unsigned kind);

/* Returns how far the launch of a rank's operation has got. */
enum ncs_launch_phase
ncs_operation_phase(const struct ncs_rank *rank,
		    const struct ncs_operation_view *operation);

/* Returns the number of launches that the host is ahead of the GPU: launched
 * and not begun, as far as that is known; negative if it is not known. */
int64_t ncs_rank_launches_ahead(const struct ncs_rank *rank);

/* Returns the live rank of a communicator that is at the earliest launch, of
 * several the first one; NULL if of none the progress is known. */
const struct ncs_rank *
ncs_communicator_last_launch(const struct ncs_communicator *communicator);

/* --- The oldest wait ---------------------------------------------------- */

/* The longest wait of a rank, by its channels or, over NVLink where there are none, by
 * its launches. */
struct ncs_oldest {
	const struct ncs_rank *rank; /* NULL if none waits */
	uint64_t since_ns;           /* 0 if it is not known */
	uint64_t duration_ns;        /* long from NCS_LONG_WAIT_NS on */
};

/* Returns the wait of a rank's channels that has lasted longest; if no channel
 * is busy, that of its oldest operation whose launch is known: queued, or begun
 * and not over. */
struct ncs_oldest ncs_rank_oldest(const struct ncs_rank *rank);

/* Replaces *oldest by the wait of a rank that lives, if that has lasted
 * longer. */
void ncs_oldest_add(struct ncs_oldest *oldest, const struct ncs_rank *rank);

/* --- Ranks that others wait for now ------------------------------------- */

/* The operation that other ranks have waited in for longest. */
struct ncs_late_now {
	uint64_t late_ns; /* lateness so far, at least; 0 if no rank waits */
	unsigned function;
	uint64_t number; /* sequence number */
	size_t waiting;  /* ranks that wait */
};

/* Fills in the operation for which a rank is late now. */
void ncs_rank_late_now(const struct ncs_rank *rank, struct ncs_late_now *now);

#endif
