/* SPDX-License-Identifier: MIT */
/* Waits of ranks: of their channels; of their operations in flight, by the progress of
 * launches on their streams, which is known without a proxy thread, i.e. over NVLink,
 * too; and of the whole job, as shares of the time of its ranks. The longest wait of a
 * rank, and for how long others wait for a rank that has not arrived.
 *
 * Pure. Results point into the model and are valid until its next update.
 */
#ifndef NCS_ANALYSIS_MODEL_WAITS_H
#define NCS_ANALYSIS_MODEL_WAITS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "analysis/base/finding_numbers.h"
#include "analysis/model/rank.h"
#include "ncclstat/tables/launches.def"
#include "ncclstat/tables/waits.def"

struct ncs_model;

/* --- Channels ------------------------------------------------------------- */

/* The wait of one channel of a rank. */
struct ncs_wait {
	const struct ncs_rank *rank;
	const struct ncs_channel_view *channel; /* NULL if none waits */
	uint64_t duration_ns;
};

/* Returns when the last rank of a model ended, in ns of the clock that the source
 * gives snapshots by; 0 if one lives, if there is none, or if it is not known. */
uint64_t ncs_job_end_ns(const struct ncs_model *model);

/* Returns for how long a channel has been in its state, in ns; 0 if it is
 * idle. */
uint64_t ncs_wait_ns(const struct ncs_rank *rank,
		     const struct ncs_channel_view *channel);

/* Returns how long something that began at `since_ns` has lasted, until the end
 * of the rank if it has ended; 0 if `since_ns` is 0. */
uint64_t ncs_age_ns(const struct ncs_rank *rank, uint64_t since_ns);

/* Returns the wait of a rank's channels that has lasted longest. */
struct ncs_wait ncs_oldest_wait(const struct ncs_rank *rank);

/* --- Launches ------------------------------------------------------------- */

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

/* --- The whole job -------------------------------------------------------- */

enum ncs_wait_kind {
#define X(ID, letter, name, help) NCS_WAIT_##ID,
	NCS_WAITS(X)
#undef X
		NCS_WAIT_COUNT
};

struct ncs_job_waits {
	size_t ranks; /* of which something is known; if 0, nothing else is */
	double share[NCS_WAIT_COUNT]; /* their sum is 1 */
};

/* Return the letter of a kind, and its word. */
char ncs_wait_letter(unsigned kind);
const char *ncs_wait_name(unsigned kind);

/* Return the kind of wait of a channel in a state (ncs_channel_state), and of a
 * launch that waits (ncs_launch_wait_kind); NCS_WAIT_COUNT for any other
 * number. */
enum ncs_wait_kind ncs_wait_of_channel(unsigned state);
enum ncs_wait_kind ncs_wait_of_launch(unsigned kind);

/* Adds up the waits of the ranks that live; all ranks count alike. A rank's
 * waits are those of its channels over its window, or over the latest interval
 * if `latest` is true. A rank whose channels were all idle, or that has none,
 * counts by what its oldest launch waits for now. */
void ncs_job_waits(const struct ncs_model *model, bool latest,
		   struct ncs_job_waits *waits);

/* --- The trend ---------------------------------------------------------- */

/* The job's speed and waits at the latest updates, for graphs. Memory: 18 KiB. Start
 * with zeros. */

#define NCS_TREND_LENGTH 512u

/* One update. Numbers that are not known are negative. */
struct ncs_trend_point {
	uint64_t time_ns;
	float busbw; /* GB/s, of the function that carries the most bytes */
	float share[NCS_WAIT_COUNT]; /* of waits in the interval before */
};

struct ncs_trend {
	/* Update n is at n modulo the length. */
	struct ncs_trend_point points[NCS_TREND_LENGTH];
	uint64_t count;
};

/* Adds the model's latest update. */
void ncs_trend_add(struct ncs_trend *trend, const struct ncs_model *model);

/* Returns the point of an update, 0 being the latest; NULL if there is none. */
const struct ncs_trend_point *ncs_trend_at(const struct ncs_trend *trend,
					   uint64_t age);

#endif
