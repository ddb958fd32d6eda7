/* SPDX-License-Identifier: MIT */
/* The latest times by which operations of a communicator moved data for longer
 * than usual, and the share of its job's time that they make. Private to
 * analysis/model.
 *
 * Memory is bounded: 16 KiB for each communicator that has slow operations. Pure,
 * but that it allocates. Times are ns.
 */
#ifndef NCS_ANALYSIS_MODEL_EXCESSES_H
#define NCS_ANALYSIS_MODEL_EXCESSES_H

#include <stddef.h>
#include <stdint.h>

struct ncs_excess;
struct ncs_model;

/* Those of one communicator. Start with zeros. */
struct ncs_excesses {
	struct ncs_excess *latest; /* in rotation; NULL if there are none */
	uint64_t count;
	size_t job; /* the same number for all communicators of a job */
};

/* Adds an operation that ended at `end_ns` after `more_ns` more than usual. Returns 0
 * or -ENOMEM. */
int ncs_excesses_add(struct ncs_excesses *excesses, double more_ns,
		     uint64_t end_ns);

/* Releases all memory. */
void ncs_excesses_release(struct ncs_excesses *excesses);

/* Finds which communicators are of one job, if any has an excess: call this once
 * they are added. Returns 0 or -ENOMEM. */
int ncs_excesses_find_jobs(struct ncs_model *model);

/* Returns the share of the time since `since_ns` that is in any excess of the
 * communicators of a job; 0 if there is no memory. */
double ncs_excesses_share(const struct ncs_model *model, size_t job,
			  uint64_t since_ns);

#endif
