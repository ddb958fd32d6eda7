/* SPDX-License-Identifier: MIT */
/* The registry of communicators; see registry.h. Runs in callbacks: no lock, no
 * allocation, no system call. */
#include "plugin/state/registry.h"

struct ncs_registry ncs_registry;

struct ncs_comm *ncs_comm_for_unattributed(void)
{
	struct ncs_comm *any = NULL;

	for (unsigned i = 0; i < NCS_COMM_MAX; i++) {
		struct ncs_comm *comm = &ncs_registry.comms[i];

		/* ORDER: pairs with admit_callbacks()
		 * (plugin/life/lifecycle.c). */
		if (ncs_load_acquire(&comm->context) == 0)
			continue;
		if (ncs_comm_is_live(comm))
			return comm;
		any = comm;
	}
	return any;
}
