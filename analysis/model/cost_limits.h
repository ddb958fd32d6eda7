/* SPDX-License-Identifier: MIT */
/* Limits of costs: what a rank costs at most, since hosts of others worked while their
 * GPUs waited for it. Private to analysis/model. Pure, but that it allocates.
 *
 * A host that runs ahead of its GPU goes on with its own work, such as to load data,
 * while its GPU waits for a late rank. Without that rank, its work would have taken as
 * long: the others have lost no more than the time in which their hosts did not work.
 */
#ifndef NCS_ANALYSIS_MODEL_COST_LIMITS_H
#define NCS_ANALYSIS_MODEL_COST_LIMITS_H

struct ncs_model;

/* Finds for each rank what it costs at most: after all operations of an update have
 * been compared. Returns 0 or -ENOMEM. */
int ncs_cost_limits_update(struct ncs_model *model);

#endif
