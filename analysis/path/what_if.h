/* SPDX-License-Identifier: MIT */
/* Changes to a job that a pass along its critical path can be asked for: what
 * they are, and what a transfer would take with them.
 *
 * Pure. One unit: ns.
 */
#ifndef NCS_ANALYSIS_PATH_WHAT_IF_H
#define NCS_ANALYSIS_PATH_WHAT_IF_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "analysis/records/join.h"
#include "ncclstat/names.h"
#include "ncclstat/tables/what_if.def"

enum ncs_what_if {
	NCS_WHAT_IF_NOTHING, /* all as it was */
#define X(ID, name, value, where, help) NCS_WHAT_IF_##ID,
	NCS_WHAT_IFS(X)
#undef X
};

struct ncs_scenario {
	enum ncs_what_if kind;
	double factor;      /* of times: 0.5 is twice as fast */
	double step_ns;     /* LATENCY: less a step */
	int32_t rank;       /* -1: all, or WITHOUT: stragglers */
	int32_t peers[2];   /* NET; -1: all */
	bool inter_node;    /* NET */
	unsigned algorithm; /* enum ncs_algorithm */
	const char *range;  /* its path, in the specification; NULL: all */
	const char *text;   /* the specification */
};

/* Of a specification, which must outlive it. False: `error` says what is wrong
 * and what was expected. */
bool ncs_scenario_parse(struct ncs_scenario *scenario, const char *text,
			char *error, size_t error_size);

/* --- What transfers take -------------------------------------------------- */

/* A straight line through the times of one communicator's operations of one
 * function, algorithm and protocol over their sizes (the alpha-beta model), by
 * least squares of the relative errors, so that small ones count as much as
 * large ones. */
struct ncs_fit {
	uint64_t comm_id;
	uint8_t function;
	uint8_t algorithm;
	uint8_t protocol;
	uint64_t count;
	uint64_t least_bytes, most_bytes;
	double least_ns;
	double sums[5]; /* weight; of x, y, xx, xy with it */
	double alpha_ns;
	double beta_ns; /* a byte; negative: all are of one size */
};

struct ncs_fits {
	struct ncs_fit *fits;
	size_t count;
	size_t found; /* the latest */
};

void ncs_fits_release(struct ncs_fits *fits);

/* Takes in what an operation took from when all had come. 0 or -ENOMEM. */
int ncs_fits_add(struct ncs_fits *fits, const struct ncs_joined *joined,
		 double transfer_ns);

/* Lays the lines. After all were added. */
void ncs_fits_solve(struct ncs_fits *fits);

/* The operation's. NULL: there is none. */
const struct ncs_fit *ncs_fits_find(struct ncs_fits *fits,
				    const struct ncs_joined *joined);

/* --- What they would take ------------------------------------------------- */

/* What is known of an operation in a pass. */
struct ncs_transfer {
	const struct ncs_joined *joined;
	const struct ncs_fit *fit; /* NULL: none */
	struct ncs_fits *fits;
	bool spans_hosts;
	const int32_t *ranks; /* of the job, by part: what scenarios name */
};

/* How a transfer's time changes: first what is above `alpha_ns` by a factor,
 * then all of it by a number of ns, but not below `least_ns`. */
struct ncs_transfer_edit {
	double alpha_ns;
	double factor;
	double less_ns;
	double least_ns;
};

#define NCS_TRANSFER_AS_IT_IS ((struct ncs_transfer_edit){ 0, 1, 0, 0 })

/* What becomes of an operation's transfer. Where the change should touch it,
 * but too little is known to say how, it stays as it is and *unknown is set. */
struct ncs_transfer_edit
ncs_scenario_transfer(const struct ncs_scenario *scenario,
		      const struct ncs_transfer *transfer, bool *unknown);

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
