/* SPDX-License-Identifier: MIT */
/* CUPTI: what kernels the GPU runs, when, and where they were launched
 * (NCCLSTAT_CUPTI, off by default).
 *
 * CUPTI calls on_launch() on the thread that launches, where the range is noted
 * under the launch's number: no lock, no allocation, no system call there.
 * Finished kernels come in buffers, on a thread of CUPTI's; there they are
 * summed up (gpu_time.h), under a lock that no callback of NCCL's takes.
 *
 * CUPTI serves one tool, so where there is another ours keeps off. Whatever
 * goes wrong, the job goes on as without it.
 */
#ifndef NCS_PLUGIN_LIFE_CUPTI_H
#define NCS_PLUGIN_LIFE_CUPTI_H

#include <stdbool.h>
#include <stddef.h>

#include "plugin/state/comm.h"

/* From init: starts it with the first communicator of the process, and tells
 * this one's readers what came of it. `library` as in struct ncs_environment.
 * False where there is something to be logged: `why` says what. */
bool ncs_cupti_join(struct ncs_comm *comm, const char *library, char *why,
		    size_t why_size);

/* From finalize: what has been recorded is counted when it returns, but for
 * kernels that still run. Calls CUPTI, which takes its own locks. */
void ncs_cupti_flush(void);

/* In a forked child: CUPTI and its threads are the parent's. */
void ncs_cupti_forget(void);

#endif
