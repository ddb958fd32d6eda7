/* SPDX-License-Identifier: MIT */
/* Copies of snapshots that outlive the source's own. */
#ifndef NCS_ANALYSIS_MODEL_SNAPSHOT_COPY_H
#define NCS_ANALYSIS_MODEL_SNAPSHOT_COPY_H

#include "ncclstat/reader.h"

/* Copies all of `from` into `to`, whose memory
 * is reused. `to` must be an earlier copy or all zeros; release it with
 * ncs_snapshot_release(). Returns 0 or -ENOMEM; then the contents of `to` are
 * undefined, but it can be copied to again, and released. */
int ncs_snapshot_copy(struct ncs_snapshot *to, const struct ncs_snapshot *from);

#endif
