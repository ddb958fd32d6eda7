/* SPDX-License-Identifier: MIT */
/* The busiest class of operations of each communicator, and of the job: the
 * function and size that carried the most bytes lately. Pure. */
#ifndef NCS_ANALYSIS_MODEL_BUSIEST_H
#define NCS_ANALYSIS_MODEL_BUSIEST_H

#include "analysis/model/moving.h"

struct ncs_model;

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

#endif
