/* SPDX-License-Identifier: MIT */
/* Bandwidth of a communicator: how long its operations moved data, from the
 * begin on the last rank to the end on the last rank, and how many bytes in
 * that time. A rank's own time, which contains its wait for others, says
 * nothing about bandwidth.
 *
 * Operations of one launch move together: they count once, with their bytes
 * added, but what a rank sends counts for Send, what it receives for Recv. A
 * transfer counts once both of its ends are known. An operation of which only the host's times are known does not count,
 * nor does one whose end cannot be told. Figures are medians, so that the first
 * operations, which connect, do not spoil them. Bandwidth is in GB/s and
 * computed with nccl-tests' factors; negative if it is not known.
 *
 * Memory is bounded: 13 KiB for each function of a communicator that has such
 * operations. Pure. Not thread-safe.
 */
#ifndef NCS_ANALYSIS_MODEL_MOVING_H
#define NCS_ANALYSIS_MODEL_MOVING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "analysis/base/finding_numbers.h"
#include "analysis/base/recent_values.h"

struct ncs_communicator;
struct ncs_joined;
struct ncs_model;

/* Number of latest launches of a function that are kept. */
#define NCS_MOVING_RECENT 256u

/* Figures cover the launches that ended in the window, but no fewer than the
 * latest NCS_MOVING_LEAST: of two, the first of all might be the median. */
#define NCS_MOVING_LEAST NCS_USUAL

/* Figures are stale if the latest launch ended before the window, and longer
 * ago than this. */
#define NCS_MOVING_STALE_NS NCS_STUCK_NS

/* A class of operations, as struct ncs_class_view has it. */
struct ncs_moving_class {
	uint8_t size_class; /* size_class.h */
	uint8_t algorithm;
	uint8_t protocol;
};

/* The figures of a function, or of a class of it. */
struct ncs_moving_view {
	uint64_t operations; /* if 0, nothing is known */
	uint64_t launches;   /* in which these operations were */
	uint64_t moving_ns;  /* median */
	uint64_t error_ns;   /* of moving_ns, at most */
	double algbw, busbw; /* medians; unknown if the time is within its
				error, or no size is known */
	uint64_t age_ns;     /* since the end of the latest launch */
	bool is_stale;
	/* Ranks that the moving part is of (two of a transfer), in the launch that has fewest. If
	 * the communicator has more, the time in which the seen ones waited for
	 * the others counts, and bandwidth is a lower bound. */
	size_t ranks;
	unsigned timing; /* enum ncs_timing: the best that any has, and then all */
};

/* Returns the figures of a function (enum ncs_function_id), or of a class of it
 * if `only` is not NULL. They are valid until the next call. */
struct ncs_moving_view
ncs_communicator_moving(const struct ncs_communicator *communicator,
			unsigned function, const struct ncs_moving_class *only);

/* Returns the number of ranks that an operation of a function has in a
 * communicator of `nranks`, which is not negative: two if it is a transfer. */
size_t ncs_moving_ranks(unsigned function, int nranks);

/* Returns the bus bandwidth of a function at the latest updates, one value for
 * each, and sets `count` to the number of updates; NULL if there is none. */
const struct ncs_recent *
ncs_communicator_busbw_recent(const struct ncs_communicator *communicator,
			      unsigned function, uint64_t *count);

/* --- The busiest class ---------------------------------------------------- */

/* The function and size of the operations of a communicator that carried the most
 * bytes lately. */
struct ncs_busiest {
	unsigned function; /* NCS_FUNCTION_COUNT: nothing was called */
	struct ncs_moving_class which;
	double bytes; /* in the latest 100 s, about */
	/* Bandwidth of this class; unknown where its ends are not told. */
	struct ncs_moving_view view;
};

/* Finds the busiest class of every communicator, by the rank that is first of
 * those that live. */
void ncs_busiest_find(struct ncs_model *model);

/* Returns the communicator whose busiest class carried the most bytes; NULL if
 * nothing was called. */
const struct ncs_communicator *
ncs_busiest_communicator(const struct ncs_model *model);

/* Returns the bandwidths of the function of the busiest class of a communicator
 * at the latest of *count updates; NULL if the communicator is, or if none is
 * known. */
const struct ncs_recent *
ncs_busiest_recent(const struct ncs_communicator *communicator,
		   uint64_t *count);

/* --- The peak of links ---------------------------------------------------- */

/* The links that a communicator's traffic goes over. */
enum ncs_peak_link {
	NCS_PEAK_UNKNOWN,
	NCS_PEAK_NVLINK,  /* all active links of a GPU, in one direction */
	NCS_PEAK_NETWORK, /* the network ports of a machine together */
};

struct ncs_peak {
	enum ncs_peak_link link;
	double gigabytes; /* 10^9 per second; 0: unknown */
};

/* Returns the peak of a communicator: the least of those that its machines tell.
 * It is that of NVLinks if all ranks are seen on one machine, each GPU reaches
 * the others by NVLink, and no network is used; that of the network if the ranks
 * are on several machines. Anything else is unknown. */
struct ncs_peak
ncs_communicator_peak(const struct ncs_communicator *communicator);

/* Returns the name of a link: "nvlink" or "network"; NULL if it is unknown. */
const char *ncs_peak_link_name(enum ncs_peak_link link);

/* --- Kept with the state of a communicator -------------------------------- */

struct ncs_moving_ring;

/* Start with zeros. */
struct ncs_moving {
	struct ncs_moving_ring *rings[NCS_FUNCTION_COUNT]; /* NULL: no launch */
	uint64_t updates;
	uint64_t now_ns; /* time of the latest one */
};

/* Takes note of an operation that all ranks compared have a part in. Returns 0,
 * or -ENOMEM if it does not count. */
int ncs_moving_note(struct ncs_moving *moving, const struct ncs_joined *joined);

/* Ends an update at which all operations up to `now_ns` were noted. */
void ncs_moving_update(struct ncs_moving *moving, uint64_t now_ns);

/* Returns the figures of what was noted; `only` may be NULL. A window of 0 is
 * as long as what is kept. */
struct ncs_moving_view ncs_moving_figures(const struct ncs_moving *moving,
					  unsigned function,
					  const struct ncs_moving_class *only,
					  uint64_t window_ns);

/* Releases all memory. */
void ncs_moving_release(struct ncs_moving *moving);

#endif
