/* SPDX-License-Identifier: MIT */
/* The GPU's clock: bounds of its offset, and rejecting implausible times. */
#include "plugin/state/gpu_clock.h"
#include "test/unit/support/unit.h"

#define US UINT64_C(1000)
#define MS UINT64_C(1000000)
#define SECOND UINT64_C(1000000000)
#define QUANTUM 32

/* A GPU with a drifting clock, and a host that sees kernels with a delay. */
struct drifting_gpu {
	uint64_t random;
	uint64_t offset; /* GPU minus host, at the host's time 0 */
	int64_t drift_ppm;
	uint64_t now; /* on the host */
};

/* Returns a random number by xorshift64, the same in every run. */
static uint64_t below(struct drifting_gpu *gpu, uint64_t bound)
{
	gpu->random ^= gpu->random << 13;
	gpu->random ^= gpu->random >> 7;
	gpu->random ^= gpu->random << 17;
	return gpu->random % bound;
}

static uint64_t offset_at(const struct drifting_gpu *gpu, uint64_t host)
{
	return gpu->offset +
	       (uint64_t)((int64_t)host * gpu->drift_ppm / 1000000);
}

static uint64_t gpu_time(const struct drifting_gpu *gpu, uint64_t host)
{
	uint64_t time = host + offset_at(gpu, host);

	return time - time % QUANTUM;
}

static struct ncs_gpu_kernel run_kernel(struct drifting_gpu *gpu)
{
	struct ncs_gpu_kernel kernel;
	uint64_t start, stop;

	kernel.launched = kernel.since = gpu->now += 1 + below(gpu, 200 * US);
	start = gpu->now += 3 * US + below(gpu, 20 * US);
	stop = start + 5 * US + below(gpu, 300 * US);
	kernel.start = gpu_time(gpu, start);
	kernel.stop = gpu_time(gpu, stop);
	kernel.seen_start = start + 1 * US + below(gpu, 30 * US);
	kernel.seen_stop = stop + 1 * US + below(gpu, 30 * US);
	gpu->now = kernel.seen_stop;
	return kernel;
}

static void take(struct ncs_gpu_bounds *bounds, struct drifting_gpu *gpu)
{
	struct ncs_gpu_kernel kernel = run_kernel(gpu);

	assert_true(ncs_gpu_is_plausible(bounds, &kernel));
	ncs_gpu_learn(bounds, &kernel);
}

static void assert_bounds_hold(const struct ncs_gpu_bounds *bounds,
			       const struct drifting_gpu *gpu, uint64_t slack)
{
	uint64_t offset = offset_at(gpu, bounds->known_at);

	assert_false(ncs_gpu_before(offset + slack, bounds->known.low));
	assert_false(ncs_gpu_before(bounds->known.high + slack, offset));
}

static void run_for(struct ncs_gpu_bounds *bounds, struct drifting_gpu *gpu,
		    uint64_t ns)
{
	uint64_t end = gpu->now + ns;

	while (gpu->now < end)
		take(bounds, gpu);
}

TEST(bounds_hold_the_true_offset)
{
	/* A clock near CLOCK_REALTIME, and one that started after the
	 * host's. */
	static const uint64_t offsets[] = { UINT64_C(1795190000000000000),
					    -1000 * SECOND };

	for (unsigned i = 0; i < 2; i++) {
		struct drifting_gpu gpu = { .random = 88172645463325252 + i,
					    .offset = offsets[i],
					    .now = 2000 * SECOND };
		struct ncs_gpu_bounds bounds = { 0 };

		run_for(&bounds, &gpu, 15 * MS);
		assert_int_equal(bounds.known_at, 0); /* too few kernels */
		run_for(&bounds, &gpu, 10 * SECOND);
		assert_bounds_hold(&bounds, &gpu, 0);
		assert_int_equal(bounds.quantum, QUANTUM);
		assert_true(bounds.known_samples > 1000);
		assert_true(bounds.known.high - bounds.known.low < 6 * US);
		assert_int_equal(bounds.restarts, 0);
	}
}

TEST(bounds_follow_a_clock_that_drifts)
{
	static const int64_t drifts[] = { 20, -20, 100, -100 };

	for (unsigned i = 0; i < 4; i++) {
		struct drifting_gpu gpu = { .random = 1234567 + i,
					    .offset = 3 * SECOND,
					    .drift_ppm = drifts[i],
					    .now = SECOND };
		struct ncs_gpu_bounds bounds = { 0 };

		run_for(&bounds, &gpu, 60 * SECOND);
		assert_true(gpu.now - bounds.known_at < 3 * SECOND);
		/* The error is not greater than the drift in a window. */
		assert_bounds_hold(&bounds, &gpu, 100 * US);
	}
}

TEST(bounds_follow_a_clock_that_is_set)
{
	struct drifting_gpu gpu = { .random = 99,
				    .offset = 5 * SECOND,
				    .now = SECOND };
	struct ncs_gpu_bounds bounds = { 0 };
	struct ncs_gpu_kernel kernel;

	run_for(&bounds, &gpu, 3 * SECOND);
	gpu.offset += 40 * US; /* still plausible */
	run_for(&bounds, &gpu, 3 * SECOND);
	assert_bounds_hold(&bounds, &gpu, 0);
	/* A large step is implausible under the known bounds. */
	gpu.offset += SECOND;
	kernel = run_kernel(&gpu);
	assert_false(ncs_gpu_is_plausible(&bounds, &kernel));
}

TEST(contradictions_drop_the_bounds)
{
	struct drifting_gpu gpu = { .random = 99,
				    .offset = 5 * SECOND,
				    .now = SECOND };
	struct ncs_gpu_bounds bounds = { 0 };

	run_for(&bounds, &gpu, 3 * SECOND);
	assert_true(bounds.known_at != 0);
	/* Every second kernel has another clock. */
	for (unsigned i = 0; i < 2 * NCS_GPU_RESTARTS_MAX; i++) {
		gpu.offset += i & 1 ? 500 * US : -500 * US;
		take(&bounds, &gpu);
		if (bounds.known_at == 0)
			break;
	}
	assert_int_equal(bounds.known_at, 0);
	assert_true(bounds.restarts >= NCS_GPU_RESTARTS_MAX);
	run_for(&bounds, &gpu, SECOND);
	assert_bounds_hold(&bounds, &gpu, 0);
}

TEST(the_quantum_divides_all_times)
{
	assert_int_equal(ncs_gpu_quantum(0, 4096), 4096);
	assert_int_equal(ncs_gpu_quantum(4096, 10240), 2048);
	assert_int_equal(ncs_gpu_quantum(2048, 1024), 1024);
	assert_int_equal(ncs_gpu_quantum(1024, 1795190353531082560), 64);
	assert_int_equal(ncs_gpu_quantum(64, 96), 32);
	assert_int_equal(ncs_gpu_quantum(32, 0), 32);
	assert_int_equal(ncs_gpu_quantum(32, 7), 1);
	/* The greatest number of divisions. */
	assert_int_equal(ncs_gpu_quantum(UINT64_C(12200160415121876738),
					 UINT64_C(7540113804746346429)),
			 1);
}

TEST(implausible_times_are_rejected_without_bounds)
{
	const struct ncs_gpu_bounds unknown = { 0 };
	const struct ncs_gpu_kernel good = {
		.start = 1000 * SECOND,
		.stop = 1000 * SECOND + 5 * MS,
		.since = 7 * SECOND,
		.seen_start = 7 * SECOND + 1 * MS,
		.seen_stop = 7 * SECOND + 9 * MS,
	};
	struct ncs_gpu_kernel bad = good;

	assert_true(ncs_gpu_is_plausible(&unknown, &good));
	bad.start = 0;
	assert_false(ncs_gpu_is_plausible(&unknown, &bad));
	bad = good;
	bad.stop = bad.start;
	assert_false(ncs_gpu_is_plausible(&unknown, &bad));
	bad.stop = bad.start - 1;
	assert_false(ncs_gpu_is_plausible(&unknown, &bad));
	bad.stop = 0;
	assert_false(ncs_gpu_is_plausible(&unknown, &bad));
	/* Much longer than the time since the launch. */
	bad.stop = bad.start + 9 * SECOND;
	assert_true(ncs_gpu_is_plausible(&unknown, &bad));
	bad.stop = bad.start + 11 * SECOND;
	assert_false(ncs_gpu_is_plausible(&unknown, &bad));
	bad.since = 0; /* unknown */
	assert_true(ncs_gpu_is_plausible(&unknown, &bad));
	bad.stop = bad.start + NCS_GPU_KERNEL_NS_MAX + 1;
	assert_false(ncs_gpu_is_plausible(&unknown, &bad));
}

TEST(bounds_reject_the_times_of_other_operations)
{
	struct drifting_gpu gpu = { .random = 4711,
				    .offset = 9 * SECOND,
				    .now = SECOND };
	struct ncs_gpu_bounds bounds = { 0 };
	struct ncs_gpu_kernel kernel, other;

	run_for(&bounds, &gpu, 2 * SECOND);
	kernel = run_kernel(&gpu);
	assert_true(ncs_gpu_is_plausible(&bounds, &kernel));
	/* The times of an earlier kernel, as drifting counts give. */
	other = kernel;
	other.start -= 3 * MS;
	other.stop -= 3 * MS;
	assert_false(ncs_gpu_is_plausible(&bounds, &other));
	/* A kernel that has not ended yet. */
	other = kernel;
	other.stop = kernel.stop + 5 * MS;
	assert_false(ncs_gpu_is_plausible(&bounds, &other));
	/* Longer than the time since the launch. */
	other = kernel;
	other.start -= MS / 2;
	other.stop += 2 * MS;
	assert_false(ncs_gpu_is_plausible(&bounds, &other));
	/* The longer ago the bounds were known, the more is plausible. */
	gpu.now += 3600 * SECOND;
	gpu.drift_ppm = 20;
	gpu.offset -= (uint64_t)((int64_t)gpu.now * gpu.drift_ppm / 1000000);
	gpu.offset += 70 * MS; /* 20 ppm of an hour */
	kernel = run_kernel(&gpu);
	assert_true(ncs_gpu_is_plausible(&bounds, &kernel));
}
