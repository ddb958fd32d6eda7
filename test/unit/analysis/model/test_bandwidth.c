/* SPDX-License-Identifier: MIT */
/* Bandwidth: the factors of nccl-tests, and the operations it is taken over. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "analysis/base/busbw.h"
#include "analysis/model/bandwidth.h"
#include "test/unit/support/scripted_source.h"

#define SECOND UINT64_C(1000000000)
#define GB UINT64_C(1000000000)

static void assert_near(double found, double wanted)
{
	if (found < wanted - 1e-9 || found > wanted + 1e-9)
		fail_msg("%.12g is not %.12g", found, wanted);
}

/* --- Formulas ------------------------------------------------------------- */

static void bus_factors_match_nccl_tests(void **state)
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

	(void)state;
	for (size_t i = 0; i < sizeof(factors) / sizeof(factors[0]); i++)
		assert_near(ncs_bus_factor(factors[i].function, 8),
			    factors[i].factor);
}

static void bus_factors_of_one_and_two_ranks(void **state)
{
	(void)state;
	assert_near(ncs_bus_factor(NCS_FUNCTION_ALL_REDUCE, 1), 0);
	assert_near(ncs_bus_factor(NCS_FUNCTION_ALL_REDUCE, 2), 1);
	assert_near(ncs_bus_factor(NCS_FUNCTION_ALL_GATHER, 2), 0.5);
}

static void bus_factor_is_unknown_without_number_of_ranks(void **state)
{
	(void)state;
	assert_true(ncs_bus_factor(NCS_FUNCTION_ALL_REDUCE, 0) < 0);
	assert_true(ncs_bus_factor(NCS_FUNCTION_ALL_GATHER, -1) < 0);
	assert_near(ncs_bus_factor(NCS_FUNCTION_BROADCAST, 0), 1);
	assert_true(ncs_bus_factor(NCS_FUNCTION_COUNT, 8) < 0);
}

static void algorithm_bandwidth_is_bytes_over_ns(void **state)
{
	(void)state;
	assert_near(ncs_algorithm_bandwidth(3 * GB, SECOND), 3);
	assert_near(ncs_algorithm_bandwidth(0, SECOND), 0);
	assert_true(ncs_algorithm_bandwidth(3 * GB, 0) < 0);
}

static void stream_then_kernel_then_proxy_times_are_preferred(void **state)
{
	struct ncs_function_view function = { 0 };

	(void)state;
	assert_int_equal(ncs_function_timing(&function), NCS_TIMING_COUNT);
	assert_null(ncs_function_histogram(&function));
	function.timed[NCS_TIMING_PROXY] = 5;
	assert_int_equal(ncs_function_timing(&function), NCS_TIMING_PROXY);
	function.timed[NCS_TIMING_KERNEL] = 3;
	assert_int_equal(ncs_function_timing(&function), NCS_TIMING_KERNEL);
	function.timed[NCS_TIMING_STREAM] = 1;
	assert_int_equal(ncs_function_timing(&function), NCS_TIMING_STREAM);
}

/* --- Of a rank ------------------------------------------------------------ */

/* Adds operations of 1 GB each, timed by the proxy. */
static void time_more(struct scripted_rank *rank, uint64_t count,
		      uint64_t each_ns)
{
	struct ncs_function_view *function =
		&rank->snapshot.functions[NCS_FUNCTION_ALL_REDUCE];

	function->operations += count;
	function->timed[NCS_TIMING_PROXY] += count;
	function->timed_bytes[NCS_TIMING_PROXY] += count * GB;
	function->time_ns[NCS_TIMING_PROXY] += count * each_ns;
}

static double algorithm_bandwidth(const struct scripted *scripted)
{
	return ncs_rank_algorithm_bandwidth(scripted_rank(scripted, 0),
					    NCS_FUNCTION_ALL_REDUCE);
}

static double bus_bandwidth(const struct scripted *scripted)
{
	return ncs_rank_bus_bandwidth(scripted_rank(scripted, 0),
				      NCS_FUNCTION_ALL_REDUCE);
}

static void first_sample_gives_bandwidth_since_start(void **state)
{
	struct scripted *scripted = *state;

	time_more(scripted_add(scripted, 0), 4, SECOND / 2);
	scripted_pass(scripted, SECOND);
	assert_near(algorithm_bandwidth(scripted), 2);
	assert_near(bus_bandwidth(scripted), 2 * 1.75);
}

static void later_samples_give_bandwidth_of_interval(void **state)
{
	struct scripted *scripted = *state;
	struct scripted_rank *rank = scripted_add(scripted, 0);

	/* The first operation waits for all ranks to start, as in every job. */
	time_more(rank, 1, 100 * SECOND);
	scripted_pass(scripted, SECOND);
	time_more(rank, 10, SECOND / 4);
	scripted_pass(scripted, 2 * SECOND);
	assert_near(algorithm_bandwidth(scripted), 4);
}

static void bandwidth_stays_while_no_operation_is_timed(void **state)
{
	struct scripted *scripted = *state;
	struct scripted_rank *rank = scripted_add(scripted, 0);

	time_more(rank, 1, 100 * SECOND);
	scripted_pass(scripted, SECOND);
	time_more(rank, 10, SECOND / 4);
	scripted_pass(scripted, 2 * SECOND);
	scripted_pass(scripted, 3 * SECOND);
	scripted_pass(scripted, 4 * SECOND);
	assert_near(algorithm_bandwidth(scripted), 4);
}

static void bandwidth_is_unknown_without_timed_operations(void **state)
{
	struct scripted *scripted = *state;
	struct scripted_rank *rank = scripted_add(scripted, 0);

	rank->snapshot.functions[NCS_FUNCTION_ALL_REDUCE].operations = 9;
	scripted_pass(scripted, SECOND);
	assert_true(algorithm_bandwidth(scripted) < 0);
	assert_true(bus_bandwidth(scripted) < 0);
}

static void bandwidth_is_unknown_if_a_size_is_missing(void **state)
{
	struct scripted *scripted = *state;
	struct scripted_rank *rank = scripted_add(scripted, 0);

	time_more(rank, 4, SECOND / 2);
	rank->snapshot.functions[NCS_FUNCTION_ALL_REDUCE].size_unknown = 1;
	scripted_pass(scripted, SECOND);
	assert_true(algorithm_bandwidth(scripted) < 0);
	/* In the next interval all sizes are known. */
	time_more(rank, 4, SECOND / 2);
	scripted_pass(scripted, 2 * SECOND);
	assert_near(algorithm_bandwidth(scripted), 2);
}

static void bus_bandwidth_needs_number_of_ranks(void **state)
{
	struct scripted *scripted = *state;
	struct scripted_rank *rank = scripted_add(scripted, 0);

	time_more(rank, 4, SECOND / 2);
	rank->snapshot.identity.known &= ~(uint64_t)NCS_KNOWN_NRANKS;
	scripted_pass(scripted, SECOND);
	assert_near(algorithm_bandwidth(scripted), 2);
	assert_true(bus_bandwidth(scripted) < 0);
}

static void counters_that_go_back_give_no_bandwidth(void **state)
{
	struct scripted *scripted = *state;
	struct scripted_rank *rank = scripted_add(scripted, 0);

	time_more(rank, 4, SECOND / 2);
	scripted_pass(scripted, SECOND);
	rank->snapshot.functions[NCS_FUNCTION_ALL_REDUCE]
		.timed[NCS_TIMING_PROXY]++;
	rank->snapshot.functions[NCS_FUNCTION_ALL_REDUCE]
		.time_ns[NCS_TIMING_PROXY] = 1;
	scripted_pass(scripted, 2 * SECOND);
	assert_true(algorithm_bandwidth(scripted) < 0);
}

int main(void)
{
#define TEST(name) \
	cmocka_unit_test_setup_teardown(name, scripted_setup, scripted_teardown)
	const struct CMUnitTest tests[] = {
		TEST(bus_factors_match_nccl_tests),
		TEST(bus_factors_of_one_and_two_ranks),
		TEST(bus_factor_is_unknown_without_number_of_ranks),
		TEST(algorithm_bandwidth_is_bytes_over_ns),
		TEST(stream_then_kernel_then_proxy_times_are_preferred),
		TEST(first_sample_gives_bandwidth_since_start),
		TEST(later_samples_give_bandwidth_of_interval),
		TEST(bandwidth_stays_while_no_operation_is_timed),
		TEST(bandwidth_is_unknown_without_timed_operations),
		TEST(bandwidth_is_unknown_if_a_size_is_missing),
		TEST(bus_bandwidth_needs_number_of_ranks),
		TEST(counters_that_go_back_give_no_bandwidth),
	};

	return cmocka_run_group_tests_name("bandwidth", tests, NULL, NULL);
}
