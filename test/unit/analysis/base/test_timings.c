/* SPDX-License-Identifier: MIT */
/* Bandwidth: the factors of nccl-tests, and the times it is taken over. */
#include "analysis/base/timings.h"
#include "test/unit/support/unit.h"

#define SECOND UINT64_C(1000000000)
#define GB UINT64_C(1000000000)

static void assert_near(double found, double wanted)
{
	if (found < wanted - 1e-9 || found > wanted + 1e-9)
		fail_msg("%.12g is not %.12g", found, wanted);
}

TEST(bus_factors_match_nccl_tests)
{
	/* For 8 ranks, computed by hand from nccl-tests' PERFORMANCE.md and,
	 * for gather and scatter, from its sources. */
	static const struct {
		unsigned function;
		double factor;
	} factors[] = {
		{ NCS_FUNCTION_ALL_REDUCE, 1.75 },
		{ NCS_FUNCTION_ALL_GATHER, 0.875 },
		{ NCS_FUNCTION_REDUCE_SCATTER, 0.875 },
		{ NCS_FUNCTION_ALL_TO_ALL, 0.875 },
		{ NCS_FUNCTION_GATHER, 0.875 },
		{ NCS_FUNCTION_SCATTER, 0.875 },
		{ NCS_FUNCTION_BROADCAST, 1 },
		{ NCS_FUNCTION_REDUCE, 1 },
		{ NCS_FUNCTION_SEND, 1 },
		{ NCS_FUNCTION_RECV, 1 },
		{ NCS_FUNCTION_SEND_RECV, 1 },
	};

	for (size_t i = 0; i < sizeof(factors) / sizeof(factors[0]); i++)
		assert_near(ncs_bus_factor(factors[i].function, 8),
			    factors[i].factor);
}

TEST(bus_factors_of_one_and_two_ranks)
{
	assert_near(ncs_bus_factor(NCS_FUNCTION_ALL_REDUCE, 1), 0);
	assert_near(ncs_bus_factor(NCS_FUNCTION_ALL_REDUCE, 2), 1);
	assert_near(ncs_bus_factor(NCS_FUNCTION_ALL_GATHER, 2), 0.5);
}

TEST(bus_factor_is_unknown_without_number_of_ranks)
{
	assert_true(ncs_bus_factor(NCS_FUNCTION_ALL_REDUCE, 0) < 0);
	assert_true(ncs_bus_factor(NCS_FUNCTION_ALL_GATHER, -1) < 0);
	assert_near(ncs_bus_factor(NCS_FUNCTION_BROADCAST, 0), 1);
	assert_true(ncs_bus_factor(NCS_FUNCTION_COUNT, 8) < 0);
}

TEST(algorithm_bandwidth_is_bytes_over_ns)
{
	assert_near(ncs_algorithm_bandwidth(3 * GB, SECOND), 3);
	assert_near(ncs_algorithm_bandwidth(0, SECOND), 0);
	assert_true(ncs_algorithm_bandwidth(3 * GB, 0) < 0);
}

TEST(stream_then_kernel_then_proxy_times_are_preferred)
{
	struct ncs_function_view function = { 0 };

	assert_int_equal(ncs_function_timing(&function), NCS_TIMING_COUNT);
	assert_null(ncs_function_histogram(&function));
	function.timed[NCS_TIMING_PROXY] = 5;
	assert_int_equal(ncs_function_timing(&function), NCS_TIMING_PROXY);
	function.timed[NCS_TIMING_KERNEL] = 3;
	assert_int_equal(ncs_function_timing(&function), NCS_TIMING_KERNEL);
	function.timed[NCS_TIMING_STREAM] = 1;
	assert_int_equal(ncs_function_timing(&function), NCS_TIMING_STREAM);
}
