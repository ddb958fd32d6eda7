/* SPDX-License-Identifier: MIT */
/* The GPU's clock against the host's, from what kernel channels tell.
 *
 * A kernel starts after it was launched, and before NCCL has seen that it did;
 * the GPU's clock showed `start` then, a multiple of its quantum. So of the
 * offset, GPU minus host,
 *
 *   start - seen <= offset < start + quantum - launched
 *
 * and likewise for the stop's lower bound. The offset drifts, so bounds are
 * those of a window of about a second: the greatest lower and the least upper
 * one. Where they contradict each other, by drift or because a time was wrong,
 * a new window begins.
 *
 * Pure; times are ns. Offsets are differences modulo 2^64, since neither clock
 * begins at a moment that is known.
 */
#ifndef NCS_PLUGIN_STATE_GPU_CLOCK_H
#define NCS_PLUGIN_STATE_GPU_CLOCK_H

#include <stdbool.h>
#include <stdint.h>

#define NCS_GPU_WINDOW_NS UINT64_C(1000000000)
/* Less is no window: a time that is wrong would not be contradicted. */
#define NCS_GPU_WINDOW_NS_MIN UINT64_C(20000000)
#define NCS_GPU_SAMPLES_MIN 16

/* So many windows in a row that were contradicted too early: what was known
 * is not true any more. */
#define NCS_GPU_RESTARTS_MAX 8

/* How far from the truth a plausible time may be, beyond the bounds: where the
 * clocks can be compared, and where they cannot; and the part of the time since
 * they could that they may have drifted apart. */
#define NCS_GPU_SLACK_NS UINT64_C(1000000)
#define NCS_GPU_SLACK_UNKNOWN_NS UINT64_C(10000000000)
#define NCS_GPU_DRIFT_PART 8192

/* No channel's kernel takes longer. */
#define NCS_GPU_KERNEL_NS_MAX UINT64_C(3600000000000)

struct ncs_gpu_offset {
	uint64_t low; /* at least */
	uint64_t high;
};

struct ncs_gpu_bounds {
	uint64_t quantum; /* 0: no time was seen yet */
	/* The window that is being filled. */
	struct ncs_gpu_offset window;
	uint64_t since; /* on the host */
	uint64_t samples;
	/* The latest full one. */
	struct ncs_gpu_offset known;
	uint64_t known_at; /* on the host; 0: there is none */
	uint64_t known_samples;
	uint64_t restarts;
	uint64_t early; /* of these, in a row */
};

/* What is told of a kernel channel. */
struct ncs_gpu_kernel {
	uint64_t start; /* by the GPU's clock */
	uint64_t stop;
	uint64_t launched;   /* on the host, before it ran; 0: unknown */
	uint64_t since;      /* about when it was launched; 0: unknown */
	uint64_t seen_start; /* when NCCL saw that it had */
	uint64_t seen_stop;
};

/* Whether an offset, or a time, is before another. */
static inline bool ncs_gpu_before(uint64_t a, uint64_t b)
{
	return (int64_t)(a - b) < 0;
}

/* Whether the GPU's times can be true. */
static inline bool ncs_gpu_is_plausible(const struct ncs_gpu_bounds *bounds,
					const struct ncs_gpu_kernel *kernel)
{
	uint64_t slack = NCS_GPU_SLACK_UNKNOWN_NS;
	uint64_t duration = kernel->stop - kernel->start;

	if (kernel->start == 0 || kernel->stop <= kernel->start ||
	    duration > NCS_GPU_KERNEL_NS_MAX)
		return false;
	if (bounds->known_at != 0) {
		slack = NCS_GPU_SLACK_NS + bounds->quantum +
			(kernel->seen_stop - bounds->known_at) /
				NCS_GPU_DRIFT_PART;
		if (ncs_gpu_before(kernel->seen_stop + slack,
				   kernel->stop - bounds->known.high) ||
		    (kernel->since != 0 &&
		     ncs_gpu_before(kernel->start - bounds->known.low + slack,
				    kernel->since)))
			return false;
	}
	return kernel->since == 0 ||
	       duration < kernel->seen_stop - kernel->since + slack;
}

/* The greatest number that the quantum and the time are multiples of. */
static inline uint64_t ncs_gpu_quantum(uint64_t quantum, uint64_t time)
{
	/* As a rule it is a power of two, and nothing new: no division. */
	if (quantum != 0 && (quantum & (quantum - 1)) == 0 &&
	    (time & (quantum - 1)) == 0)
		return quantum;
	while (time != 0) {
		uint64_t rest = quantum % time;

		quantum = time;
		time = rest;
	}
	return quantum;
}

/* Narrows the bounds by one kernel. */
static inline void ncs_gpu_narrow(const struct ncs_gpu_bounds *bounds,
				  struct ncs_gpu_offset *offset,
				  const struct ncs_gpu_kernel *kernel)
{
	uint64_t start_low = kernel->start - kernel->seen_start;
	uint64_t stop_low = kernel->stop - kernel->seen_stop;
	uint64_t high = kernel->start + bounds->quantum - kernel->launched;

	if (ncs_gpu_before(offset->low, start_low))
		offset->low = start_low;
	if (ncs_gpu_before(offset->low, stop_low))
		offset->low = stop_low;
	if (ncs_gpu_before(high, offset->high))
		offset->high = high;
}

/* The window becomes what is known. */
static inline void ncs_gpu_know(struct ncs_gpu_bounds *bounds, uint64_t now)
{
	bounds->known = bounds->window;
	bounds->known_at = now;
	bounds->known_samples = bounds->samples;
	bounds->early = 0;
	bounds->samples = 0;
}

static inline bool ncs_gpu_window_is_good(const struct ncs_gpu_bounds *bounds,
					  uint64_t now, uint64_t length)
{
	return bounds->samples >= NCS_GPU_SAMPLES_MIN &&
	       now - bounds->since >= length;
}

/* Takes in a kernel whose times are plausible and whose launch is known. True
 * if more is known than before, or less. */
static inline bool ncs_gpu_learn(struct ncs_gpu_bounds *bounds,
				 const struct ncs_gpu_kernel *kernel)
{
	uint64_t now = kernel->seen_stop;
	struct ncs_gpu_offset narrowed;
	bool changed = false;

	bounds->quantum = ncs_gpu_quantum(bounds->quantum, kernel->start);
	bounds->quantum = ncs_gpu_quantum(bounds->quantum, kernel->stop);
	if (bounds->samples > 0) {
		narrowed = bounds->window;
		ncs_gpu_narrow(bounds, &narrowed, kernel);
		if (!ncs_gpu_before(narrowed.high, narrowed.low)) {
			bounds->window = narrowed;
			bounds->samples++;
			if (!ncs_gpu_window_is_good(
				    bounds, now,
				    bounds->known_at ? NCS_GPU_WINDOW_NS :
						       NCS_GPU_WINDOW_NS_MIN))
				return false;
			ncs_gpu_know(bounds, now);
			return true;
		}
		bounds->restarts++;
		if (ncs_gpu_window_is_good(bounds, now,
					   NCS_GPU_WINDOW_NS_MIN)) {
			ncs_gpu_know(bounds, now);
			changed = true;
		} else if (++bounds->early == NCS_GPU_RESTARTS_MAX) {
			changed = bounds->known_at != 0;
			bounds->known_at = 0;
		}
	}
	bounds->window.low = kernel->start - kernel->seen_start;
	bounds->window.high =
		kernel->start + bounds->quantum - kernel->launched;
	bounds->since = now;
	bounds->samples = 1;
	ncs_gpu_narrow(bounds, &bounds->window, kernel);
	return changed;
}

#endif
