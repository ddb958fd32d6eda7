/* SPDX-License-Identifier: MIT */
/* Bounds of the offset between the GPU's clock and the host's, from the times
 * of kernel channels.
 *
 * A kernel starts after its launch, and before NCCL has seen it start. The
 * GPU's clock then showed `start`, a multiple of the clock's quantum. For the
 * offset, GPU minus host, this means
 *
 *   start - seen <= offset < start + quantum - launched
 *
 * and the kernel's stop gives another lower bound in the same way. Since the
 * offset drifts, the bounds are those of a window of about a second: the
 * greatest lower bound and the least upper bound. When they contradict each
 * other, because of drift or of a wrong time, a new window begins.
 *
 * Pure functions; times are in ns. Offsets are differences modulo 2^64, since
 * neither clock starts at a known time.
 */
#ifndef NCS_PLUGIN_STATE_GPU_CLOCK_H
#define NCS_PLUGIN_STATE_GPU_CLOCK_H

#include <stdbool.h>
#include <stdint.h>

#define NCS_GPU_WINDOW_NS UINT64_C(1000000000)
/* The shortest window that counts: a shorter one might contain a wrong time
 * that no other time contradicts. */
#define NCS_GPU_WINDOW_NS_MIN UINT64_C(20000000)
#define NCS_GPU_SAMPLES_MIN 16

/* After this many windows in a row were contradicted too early, the known
 * bounds are dropped. */
#define NCS_GPU_RESTARTS_MAX 8

/* How far beyond the bounds a plausible time may be, in ns: if bounds are
 * known, and if they are not; and the clocks' drift, as a fraction (1/8192) of
 * the time since the bounds were known. */
#define NCS_GPU_SLACK_NS UINT64_C(1000000)
#define NCS_GPU_SLACK_UNKNOWN_NS UINT64_C(10000000000)
#define NCS_GPU_DRIFT_PART 8192

/* The longest plausible kernel: one hour. */
#define NCS_GPU_KERNEL_NS_MAX UINT64_C(3600000000000)

struct ncs_gpu_offset {
	uint64_t low; /* inclusive bounds */
	uint64_t high;
};

struct ncs_gpu_bounds {
	uint64_t quantum; /* 0 before the first time */
	/* The current window. */
	struct ncs_gpu_offset window;
	uint64_t since; /* host's time of its first kernel */
	uint64_t samples;
	/* The last complete window. */
	struct ncs_gpu_offset known;
	uint64_t known_at; /* host's time of its end; 0 if there is none */
	uint64_t known_samples;
	uint64_t restarts; /* number of windows that were contradicted */
	uint64_t early;    /* the latest in a row that were too early */
};

/* The times of a kernel channel. */
struct ncs_gpu_kernel {
	uint64_t start; /* by the GPU's clock */
	uint64_t stop;
	/* Host's time, certainly before its start; 0 if unknown. */
	uint64_t launched;
	uint64_t since; /* host's time, about its launch; 0 if unknown */
	/* Host's times at which NCCL saw its start and its stop. */
	uint64_t seen_start;
	uint64_t seen_stop;
};

/* Returns true if an offset or time is less than another, modulo 2^64. */
static inline bool ncs_gpu_before(uint64_t a, uint64_t b)
{
	return (int64_t)(a - b) < 0;
}

/* Returns true if the GPU's times of a kernel are plausible. */
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

/* Returns the greatest common divisor of the quantum and a time. */
static inline uint64_t ncs_gpu_quantum(uint64_t quantum, uint64_t time)
{
	/* The quantum usually is a power of two that divides the time: avoid
	 * the divisions then. */
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

/* Narrows an offset's bounds by one kernel. */
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

/* Makes the current window the known one. */
static inline void ncs_gpu_know(struct ncs_gpu_bounds *bounds, uint64_t now)
{
	bounds->known = bounds->window;
	bounds->known_at = now;
	bounds->known_samples = bounds->samples;
	bounds->early = 0;
	bounds->samples = 0;
}

/* Returns true if the window is `length` ns long and has enough kernels. */
static inline bool ncs_gpu_window_is_good(const struct ncs_gpu_bounds *bounds,
					  uint64_t now, uint64_t length)
{
	return bounds->samples >= NCS_GPU_SAMPLES_MIN &&
	       now - bounds->since >= length;
}

/* Adds a kernel whose times are plausible and whose `launched` is known.
 * Returns true if the known bounds have changed. */
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
