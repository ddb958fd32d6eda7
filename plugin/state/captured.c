/* SPDX-License-Identifier: MIT */
/* Tables of captured launches; see captured.h. */
#include "plugin/state/captured.h"

#include <string.h>

struct ncs_captured ncs_captured;

static size_t entries(uint64_t used, size_t most)
{
	return used < most ? (size_t)used : most;
}

void ncs_captured_forget(void)
{
	struct ncs_captured *all = &ncs_captured;

	memset(all->graphs, 0,
	       entries(all->graphs_used, NCS_GRAPH_MAX) *
		       sizeof(all->graphs[0]));
	memset(all->launches, 0,
	       entries(all->launches_used, NCS_CAPTURED_LAUNCH_MAX) *
		       sizeof(all->launches[0]));
	memset(all->operations, 0,
	       entries(all->operations_used, NCS_CAPTURED_OPERATION_MAX) *
		       sizeof(all->operations[0]));
	all->graphs_used = all->launches_used = all->operations_used = 0;
}
