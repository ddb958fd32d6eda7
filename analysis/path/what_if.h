/* SPDX-License-Identifier: MIT */
/* Scenarios: changes to a job that a pass along its critical path can apply,
 * and the time that transfers would take with them.
 *
 * Pure. All times are in ns.
 */
#ifndef NCS_ANALYSIS_PATH_WHAT_IF_H
#define NCS_ANALYSIS_PATH_WHAT_IF_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "analysis/records/join.h"
#include "ncclstat/names.h"
#include "ncclstat/tables/what_if.def"

/* The kinds of scenarios. */
enum ncs_what_if {
	NCS_WHAT_IF_NOTHING, /* no change */
#define X(ID, name, value, where, help) NCS_WHAT_IF_##ID,
	NCS_WHAT_IFS(X)
#undef X
};

/* A change to a recorded job. */
struct ncs_scenario {
	enum ncs_what_if kind;
	double factor;      /* of times: 0.5 is twice as fast */
	double step_ns;     /* LATENCY: ns that each step becomes shorter */
	int32_t rank;       /* of the job; -1 means all, or all stragglers */
	int32_t peers[2];   /* NET: ranks of the job; -1 means all */
	bool inter_node;    /* NET: only communicators of several hosts */
	unsigned algorithm; /* enum ncs_algorithm */
	const char *range;  /* its path, within `text`; NULL means all */
	const char *text;   /* the specification */
};

/* Parses a specification, which must outlive the scenario. Returns false if the
 * text is no valid specification; then `error` says what is wrong and what was
 * expected. */
bool ncs_scenario_parse(struct ncs_scenario *scenario, const char *text,
			char *error, size_t error_size);

/* --- Times of transfers by size ------------------------------------------- */

/* A straight line through the times of one communicator's operations of one
 * function, algorithm and protocol over their sizes (the alpha-beta model). It
 * is fitted by least squares of the relative errors, so that small sizes count
 * as much as large ones. */
struct ncs_fit {
	uint64_t comm_id;
	uint8_t function;
	uint8_t algorithm;
	uint8_t protocol;
	uint64_t least_bytes, most_bytes;
	double sums[5];  /* of the weights, and of weighted x, y, xx, xy */
	double alpha_ns; /* time of size 0 */
	double beta_ns; /* time of a byte; negative if all sizes are the same */
};

/* The fits of all communicators. A struct of zeros is empty. */
struct ncs_fits {
	struct ncs_fit *fits;
	size_t count;
	size_t found; /* index of the fit that was found last */
	size_t capacity;
};

/* Releases all fits. */
void ncs_fits_release(struct ncs_fits *fits);

/* Adds an operation that moved data for so long, unless that is 0. Returns 0 or
 * -ENOMEM. */
int ncs_fits_add(struct ncs_fits *fits, const struct ncs_joined *joined,
		 double moving_ns);

/* Returns the fit of an operation, or NULL if there is none. */
struct ncs_fit *ncs_fits_find(struct ncs_fits *fits,
			      const struct ncs_joined *joined);

/* --- Changed transfers ---------------------------------------------------- */

/* The transfer of an operation, with what is known of it. */
struct ncs_transfer {
	const struct ncs_joined *joined;
	const struct ncs_fit *fit; /* may be NULL */
	struct ncs_fits *fits;
	bool spans_hosts;
	const int32_t *ranks; /* ranks of the job, by part */
};

/* A change of a transfer's time: first the time above `alpha_ns` is multiplied
 * by `factor`, then `less_ns` is subtracted, but no less than `least_ns`
 * remains. */
struct ncs_transfer_edit {
	double alpha_ns;
	double factor;
	double less_ns;
	double least_ns;
};

#define NCS_TRANSFER_AS_IT_IS ((struct ncs_transfer_edit){ 0, 1, 0, 0 })

/* Returns what a scenario changes of an operation's transfer. If the scenario
 * changes the transfer but too little is known to say how, returns
 * NCS_TRANSFER_AS_IT_IS and sets *unknown. */
struct ncs_transfer_edit
ncs_scenario_transfer(const struct ncs_scenario *scenario,
		      const struct ncs_transfer *transfer, bool *unknown);

/* Returns the time of a transfer of `ns` after a change. */
static inline double ncs_transfer_edited(const struct ncs_transfer_edit *edit,
					 double ns)
{
	double alpha_ns = edit->alpha_ns < ns ? edit->alpha_ns : ns;
	double least_ns = edit->least_ns < ns ? edit->least_ns : ns;
	double edited_ns =
		alpha_ns + (ns - alpha_ns) * edit->factor - edit->less_ns;

	return edited_ns > least_ns ? edited_ns : least_ns;
}

#endif
