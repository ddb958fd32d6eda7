/* SPDX-License-Identifier: MIT */
/* NCCL's RAS service as a second witness: what it says of ranks that are not
 * seen here. It is evidence in findings and changes none.
 *
 * The service listens on a port of this node, and is not trusted: only loopback
 * addresses are asked, once, for at most a second and 4 MB in all. Only
 * --diagnose asks; the live view never does.
 */
#ifndef NCS_TUI_COMMANDS_RAS_H
#define NCS_TUI_COMMANDS_RAS_H

#include <stdbool.h>
#include <stddef.h>

#include "analysis/model/model.h"

struct ncs_ras;

/* Asks the service of the model's processes if any rank of a communicator that
 * lives is unseen. Returns NULL if none is, or if there is no memory; else what
 * was answered, to be released. */
struct ncs_ras *ncs_ras_ask(const struct ncs_model *model);
void ncs_ras_release(struct ncs_ras *ras);

/* Prints the index-th thing that the service says of a communicator's unseen
 * ranks, such as "RAS: rank 5 on host n2 has called AllReduce 41 times, the
 * others 42 times", not cleaned. Returns false if there are no more; `ras` and
 * `communicator` may be NULL. */
bool ncs_ras_text(const struct ncs_ras *ras,
		  const struct ncs_communicator *communicator, size_t index,
		  char *text, size_t size);

#endif
