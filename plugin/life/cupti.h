/* SPDX-License-Identifier: MIT */
/* CUPTI: which kernels the GPU runs, when, and in which range they were
 * launched (NCCLSTAT_CUPTI, off by default).
 *
 * CUPTI calls on_launch() on the thread that launches a kernel; it notes the
 * range under the launch's number without lock, allocation or system call.
 * Finished kernels come in buffers on a thread of CUPTI, which sums them up
 * (gpu_time.h) under a lock that no callback of NCCL takes.
 *
 * CUPTI serves one tool only, so the plugin does not use it if another tool
 * does. On any error the job goes on as without CUPTI.
 *
 * CUPTI may take long, or never return. The first init starts it and the last
 * finalize flushes it, without a lock, so that all other communicators come, go
 * on and go meanwhile.
 */
#ifndef NCS_PLUGIN_LIFE_CUPTI_H
#define NCS_PLUGIN_LIFE_CUPTI_H

#include <stdbool.h>
#include <stddef.h>

#include "plugin/state/comm.h"

/* Publishes the status in the segment of `comm`. Called at each init, under the
 * lock of plugin/life/lifecycle.c. `library` is `cupti` of struct
 * ncs_environment. Returns true if the caller is to start CUPTI, once a
 * process. */
bool ncs_cupti_join(struct ncs_comm *comm, const char *library);

/* Starts CUPTI. Not under a lock. Returns false if there is something to log:
 * then `why` is the reason. */
bool ncs_cupti_start(const char *library, char *why, size_t why_size);

/* Publishes the status, which a start has changed, in the segment of `comm`. */
void ncs_cupti_publish(struct ncs_comm *comm);

/* Waits until all finished kernels are counted. Called at the last finalize. Not
 * under a lock. */
void ncs_cupti_flush(void);

/* For a forked child: stops using CUPTI, whose threads are the parent's. */
void ncs_cupti_forget(void);

#endif
