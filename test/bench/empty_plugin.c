/* SPDX-License-Identifier: MIT */
/* A profiler plugin that does nothing, to measure the benchmark's own cost, and what
 * NCCL itself does for a plugin that asks for the events that ncclstat asks for by
 * default: all but those of kernel timing.
 *
 * Its handles are not NULL, so that NCCL, or a program that calls plugins like
 * NCCL, makes every call. Version 5 of the API only.
 */
#include "plugin/nccl/nccl_abi.h"

#define EXPORT __attribute__((visibility("default")))

static int something;

static enum nccl_result init(void **context, uint64_t comm_id,
			     int *activation_mask, const char *comm_name,
			     int nnodes, int nranks, int rank,
			     nccl_debug_logger logger)
{
	(void)comm_id, (void)comm_name, (void)nnodes, (void)nranks;
	(void)rank, (void)logger;
	*context = &something;
	*activation_mask = 0xfff & ~NCCL_EVENT_KERNEL_CH;
	return NCCL_SUCCESS;
}

static enum nccl_result start_event(void *context, void **handle,
				    void *descr)
{
	(void)descr;
	*handle = context;
	return NCCL_SUCCESS;
}

static enum nccl_result stop_event(void *handle)
{
	(void)handle;
	return NCCL_SUCCESS;
}

static enum nccl_result record_event_state(void *handle,
					   enum nccl_event_state state,
					   void *args)
{
	(void)handle, (void)state, (void)args;
	return NCCL_SUCCESS;
}

static enum nccl_result finalize(void *context)
{
	(void)context;
	return NCCL_SUCCESS;
}

extern const struct nccl_profiler ncclProfiler_v5;
EXPORT const struct nccl_profiler ncclProfiler_v5 = {
	.name = "empty",
	.init.v5 = init,
	.start_event = start_event,
	.stop_event = stop_event,
	.record_event_state = record_event_state,
	.finalize = finalize,
};
