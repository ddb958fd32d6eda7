/* SPDX-License-Identifier: MIT */
/* The pace of communicators, compared with their past: the traffic of each
 * communicator in the latest intervals between two updates.
 *
 * Pure. A communicator is identified by its key.
 */
#ifndef NCS_ANALYSIS_DIAGNOSIS_PACE_H
#define NCS_ANALYSIS_DIAGNOSIS_PACE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "analysis/base/finding_numbers.h"
#include "analysis/model/communicators.h"
#include "analysis/model/model.h"

/* The pace in one interval. */
struct ncs_pace {
	double bytes_rate; /* bytes per second that all ranks sent */
	double wire_ns; /* time on the wire per byte sent, of the median rank */
	double least_wire_ns; /* of the fastest rank */
};

/* The latest intervals of one communicator. */
struct ncs_pace_history {
	char key[sizeof(((struct ncs_communicator *)0)->key)];
	struct ncs_pace intervals[NCS_USUAL];
	size_t count; /* number of intervals so far; the latest are kept */
	size_t slow; /* number of slow intervals in a row, which are not kept */
	const struct ncs_rank *slow_rank; /* their cause; never dereferenced */
	/* The latest sender that was slow, however little it sent; never
	 * dereferenced. */
	const struct ncs_rank *sender;
	double slow_ns;   /* length of the intervals since then … */
	double excess_ns; /* … and time on the wire beyond what is usual */
	bool seen;                        /* in this update */
};

/* The histories of all communicators. */
struct ncs_paces {
	struct ncs_pace_history *histories;
	size_t count;
	size_t capacity;
};

/* An interval compared with those before it. */
enum ncs_pace_verdict {
	NCS_PACE_USUAL, /* or unknown */
	NCS_PACE_SLOW_RANK,
	NCS_PACE_SLOW_NETWORK,
};

/* The result of a comparison. */
struct ncs_pace_finding {
	enum ncs_pace_verdict verdict;
	const struct ncs_rank *rank; /* the slow rank, or the slow sender */
	/* The sender's slowest channel; NULL unless SLOW_NETWORK. */
	const struct ncs_channel_view *channel;
	struct ncs_pace now;
	struct ncs_pace median;
	/* A sender that is slow, whatever the verdict is, or NULL; and the
	 * largest share of the time that it may cost. */
	const struct ncs_rank *sender;
	double share;
};

/* Adds the latest interval of a communicator and compares it with the earlier
 * ones. Call this once for each communicator after each update of the model;
 * then call ncs_paces_end_pass(), which forgets the communicators that are
 * gone. A struct ncs_paces of zeros is empty. Returns 0, or -ENOMEM. */
int ncs_paces_add(struct ncs_paces *paces, const struct ncs_model *model,
		  const struct ncs_communicator *communicator,
		  struct ncs_pace_finding *finding);
void ncs_paces_end_pass(struct ncs_paces *paces);

/* Returns whether it is known of a communicator, by its key, what is usual. */
bool ncs_paces_know(const struct ncs_paces *paces, const char *key);

/* Releases all histories and leaves `paces` empty. */
void ncs_paces_release(struct ncs_paces *paces);

/* Returns the share (0 to 1) of the latest interval that a rank's channels in
 * one direction spent in a state; negative if unknown. */
double ncs_state_share(const struct ncs_rank *rank, bool send,
		       enum ncs_channel_state state);

#endif
