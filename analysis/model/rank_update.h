/* SPDX-License-Identifier: MIT */
/* Updates of one rank of the model from a source's samples. */
#ifndef NCS_ANALYSIS_MODEL_RANK_UPDATE_H
#define NCS_ANALYSIS_MODEL_RANK_UPDATE_H

#include "analysis/base/source.h"
#include "analysis/model/model.h"

/* Takes a sample: the rank's present state becomes its past. `has_past` is
 * false for a new rank, and for one whose id now names another segment. Returns
 * 0 or -ENOMEM. */
int ncs_rank_take(struct ncs_rank *rank, struct ncs_model *model,
		  const struct ncs_sample *sample, bool has_past);

/* Takes a sample that says the same as the rank's present state, later on; that
 * becomes its past. A rank that has ended stays as it is. Returns 0 or -ENOMEM. */
int ncs_rank_stay(struct ncs_rank *rank, const struct ncs_model *model,
		  const struct ncs_sample *sample);

/* Returns whether a segment is still the rank's: the same path may come to hold
 * the segment of another process. */
bool ncs_rank_is_same(const struct ncs_rank *rank,
		      const struct ncs_header *header);

/* Finds the start of the rank's window: sets rank->base. */
void ncs_rank_find_base(struct ncs_rank *rank, enum ncs_window window);

/* Releases a rank and all that belongs to it. */
void ncs_rank_free(struct ncs_rank *rank);

#endif
