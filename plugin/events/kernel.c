/* SPDX-License-Identifier: MIT */
/* Checking the GPU's times; see kernel.h. */
#include "plugin/events/kernel.h"

#include "plugin/state/lane.h"
#include "plugin/state/registry.h"
#include "shm/seqlock.h"

static void publish(struct ncs_gpu_clock *block,
		    const struct ncs_gpu_bounds *bounds, uint64_t now_ns,
		    uint64_t now)
{
	bool known = bounds->known_at != 0;

	ncs_seqlock_begin(&block->sequence);
	ncs_payload_store(&block->ticks, known ? now : 0);
	ncs_payload_store(&block->low_ns,
			  known ? now_ns + bounds->known.low : 0);
	ncs_payload_store(&block->high_ns,
			  known ? now_ns + bounds->known.high : 0);
	ncs_payload_store(&block->quantum_ns, bounds->quantum);
	ncs_payload_store(&block->samples, bounds->known_samples);
	ncs_payload_store(&block->restarts, bounds->restarts);
	ncs_seqlock_end(&block->sequence);
}

/* Returns false if another thread is using the bounds; this one then does
 * without. */
static bool take_bounds(struct ncs_comm *comm)
{
	/* ORDER: pairs with release_bounds() (plugin/events/kernel.c): one
	 * thread at a time. */
	return ncs_cas_acquire_release(&comm->gpu_busy, 0, 1);
}

static void release_bounds(struct ncs_comm *comm)
{
	/* ORDER: pairs with take_bounds() (plugin/events/kernel.c). */
	ncs_store_release(&comm->gpu_busy, 0);
}

bool ncs_kernel_times(struct ncs_comm *comm, struct ncs_lane_state *lane,
		      struct ncs_span_slot *span, uint64_t now)
{
	const struct ncs_clock *clock = &ncs_registry.clock;
	struct ncs_gpu_kernel kernel = {
		.start = span->gpu_start_ns,
		.stop = span->gpu_stop_ns,
		.since = ncs_clock_ns(clock, span->since),
		.seen_start = ncs_clock_ns(clock, span->record.start),
		.seen_stop = ncs_clock_ns(clock, now),
	};
	bool plausible;

	if (span->launched)
		kernel.launched = kernel.since;
	if (kernel.start == 0 && kernel.stop == 0)
		return false; /* API 3 reports no times */
	if (take_bounds(comm)) {
		plausible = ncs_gpu_is_plausible(&comm->gpu, &kernel);
		if (plausible && kernel.launched != 0 &&
		    span->record.event == NCS_EVENT_KERNEL_CH &&
		    ncs_gpu_learn(&comm->gpu, &kernel))
			publish(&comm->header->gpu_clock, &comm->gpu,
				kernel.seen_stop, now);
		release_bounds(comm);
	} else {
		static const struct ncs_gpu_bounds none;

		plausible = ncs_gpu_is_plausible(&none, &kernel);
	}
	if (!plausible) {
		ncs_lane_lose(lane, NCS_LOSS_BAD_PTIMER);
		return false;
	}
	span->record.value = span->gpu_start_ns;
	span->record.number = span->gpu_stop_ns - span->gpu_start_ns;
	return true;
}
