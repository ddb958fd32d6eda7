/* SPDX-License-Identifier: MIT */
/* A profiler plugin that does the least work of any plugin that writes: each
 * callback reads the time stamp counter and stores one 64-byte record. It checks
 * nothing, and its records have no reader.
 *
 * For one thread. Version 5 of the API only.
 */
#include <stdatomic.h>

#include "plugin/nccl/nccl_abi.h"

#if defined(__x86_64__)
#include <x86intrin.h>
#endif

#define EXPORT __attribute__((visibility("default")))

/* Records of the ring, as many as ncclstat's rings have. */
#define RECORDS 1024u

static struct {
	_Alignas(64) _Atomic uint64_t words[8];
} records[RECORDS];
static uint64_t position;

static uint64_t ticks(void)
{
#if defined(__x86_64__)
	return __rdtsc();
#elif defined(__aarch64__)
	uint64_t now;

	__asm__ volatile("mrs %0, cntvct_el0" : "=r"(now));
	return now;
#else
	return 0;
#endif
}

static enum nccl_result put(const void *subject, uint64_t what)
{
	_Atomic uint64_t *words = records[position % RECORDS].words;
	const uint64_t values[8] = {
		ticks(),
		position++,
		(uint64_t)(uintptr_t)subject,
		what,
	};

#pragma GCC unroll 8
	for (unsigned i = 0; i < 8; i++)
		atomic_store_explicit(&words[i], values[i],
				      memory_order_relaxed);
	return NCCL_SUCCESS;
}

static enum nccl_result init(void **context, uint64_t comm_id,
			     int *activation_mask, const char *comm_name,
			     int nnodes, int nranks, int rank,
			     nccl_debug_logger logger)
{
	(void)comm_id, (void)comm_name, (void)nnodes, (void)nranks;
	(void)rank, (void)logger;
	*context = &position;
	*activation_mask = 0xfff & ~NCCL_EVENT_KERNEL_CH;
	return NCCL_SUCCESS;
}

static enum nccl_result start_event(void *context, void **handle,
				    void *pointer)
{
	const struct nccl_event_descr_v5 *descr = pointer;

	*handle = context;
	return put(descr->parent, descr->type);
}

static enum nccl_result stop_event(void *handle)
{
	return put(handle, 0);
}

static enum nccl_result record_event_state(void *handle,
					   enum nccl_event_state state,
					   void *args)
{
	(void)args;
	return put(handle, (uint64_t)state);
}

static enum nccl_result finalize(void *context)
{
	(void)context;
	return NCCL_SUCCESS;
}

extern const struct nccl_profiler ncclProfiler_v5;
EXPORT const struct nccl_profiler ncclProfiler_v5 = {
	.name = "floor",
	.init.v5 = init,
	.start_event = start_event,
	.stop_event = stop_event,
	.record_event_state = record_event_state,
	.finalize = finalize,
};
