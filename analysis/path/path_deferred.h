/* SPDX-License-Identifier: MIT */
/* Parts that the pass defers. If not all ranks wait for all in an operation,
 * each of its parts is processed by itself, at the first end of the parts that
 * need it. These are the part itself and the parts that wait for it. Private to
 * the pass.
 */
#ifndef NCS_ANALYSIS_PATH_PATH_DEFERRED_H
#define NCS_ANALYSIS_PATH_PATH_DEFERRED_H

#include "analysis/path/path_state.h"

/* A deferred part. */
struct ncs_path_deferred {
	double at_ns;   /* when it is processed, as recorded */
	uint64_t order; /* order among parts with the same at_ns */
	enum ncs_path_role role;
	struct ncs_path_pending *pending;
	size_t index; /* of the part in its operation */
	struct ncs_part part;
	struct ncs_part_times times; /* of the part */
};

/* Defers all parts of an operation; `pending` is what they have in common; it
 * is copied. Returns 0 or -ENOMEM. */
int ncs_path_defer(struct ncs_path *path, const struct ncs_joined *joined,
		   const struct ncs_path_pending *pending);

/* Takes out the next part that is due by `until_ns`, to be released with
 * ncs_path_deferred_free(); returns NULL if there is none. */
struct ncs_path_deferred *ncs_path_deferred_next(struct ncs_path *path,
						 double until_ns);
void ncs_path_deferred_free(struct ncs_path_deferred *deferred);

#endif
