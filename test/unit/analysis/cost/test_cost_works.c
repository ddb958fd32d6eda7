/* SPDX-License-Identifier: MIT */
/* Quantiles, works that are only known to be less, and what works become. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#include "analysis/cost/cost_stats.h"
#include "analysis/cost/cost_works.h"

#define RANKS 3u

static void statistics_are_those_of_sorted_values(void **state)
{
	double values[] = { 9, 1, 8, 2, 7, 3, 6, 4, 5, 1000 };
	const float sorted[] = { 1, 2, 4 };

	(void)state;
	assert_float_equal(ncs_cost_median(values, 10), 5.5, 1e-9);
	assert_float_equal(ncs_cost_median(values, 9), 5, 1e-9);
	assert_float_equal(ncs_cost_mean_of_least(values, 10, 15), 4.5, 1e-9);
	assert_float_equal(ncs_cost_at_share(values, 10, 0.25), 3.25, 1e-9);
	assert_int_equal(ncs_cost_cut_outer(values, 10, 1), 8);
	assert_float_equal(ncs_cost_mean_of_least(values, 8, 0), 5.5, 1e-9);
	assert_float_equal(ncs_cost_quantile(sorted, 3, 0.75), 3, 1e-9);
}

/* A class of one position. */
struct fixture {
	struct ncs_cost_window window;
	struct ncs_cost_rank ranks[RANKS];
	struct ncs_cost_class class;
	uint32_t indices[RANKS];
	struct ncs_cost_works works;
};

static int setup(void **state)
{
	static struct fixture fixture;

	fixture = (struct fixture){
		.window = { .ranks = fixture.ranks,
			    .rank_count = RANKS,
			    .classes = &fixture.class,
			    .class_count = 1 },
		.class = { .period = 1,
			   .ranks = fixture.indices,
			   .rank_count = RANKS },
	};
	for (uint32_t i = 0; i < RANKS; i++) {
		fixture.indices[i] = i;
		fixture.ranks[i].class_place = i;
	}
	*state = &fixture;
	return ncs_cost_works_init(&fixture.works, &fixture.window);
}

static int teardown(void **state)
{
	struct fixture *fixture = *state;

	ncs_cost_works_release(&fixture->works);
	return 0;
}

static struct ncs_cost_bucket *bucket_of(struct fixture *fixture, uint32_t kind,
					 uint32_t rank)
{
	return ncs_cost_bucket_of(&fixture->works, kind, 0,
				  &fixture->ranks[rank]);
}

/* Gives ranks 12 works of a kind, from `works_ns` on by 1 us; none if that is 0;
 * limits if it is negative. */
static void put(struct fixture *fixture, uint32_t kind,
		const double works_ns[RANKS])
{
	for (uint32_t i = 0; i < RANKS; i++) {
		struct ncs_cost_bucket *bucket = bucket_of(fixture, kind, i);

		bucket->seen_count = works_ns[i] > 0 ? 12 : 0;
		bucket->less_count = works_ns[i] < 0 ? 12 : 0;
	}
	assert_int_equal(ncs_cost_works_reserve(&fixture->works), 0);
	for (uint32_t i = 0; i < RANKS; i++)
		for (unsigned k = 0; k < 12 && works_ns[i] != 0; k++)
			ncs_cost_works_put(&fixture->works,
					   bucket_of(fixture, kind, i),
					   works_ns[i] < 0,
					   fabs(works_ns[i]) + 1e3 * k);
	ncs_cost_works_finish(&fixture->works, NCS_COST_SLOW_BY_FACTOR);
}

static double mapped(struct fixture *fixture, uint32_t kind, double ns)
{
	return ncs_cost_mapped_ns(&fixture->works, &fixture->ranks[0], kind, 0,
				  ns);
}

static void works_become_the_others_quantile_by_quantile(void **state)
{
	struct fixture *fixture = *state;

	put(fixture, 1, (double[]){ 3e6, 1e6, 2e6 });
	assert_float_equal(mapped(fixture, 1, 3e6), 1.5e6, 1);
	assert_float_equal(mapped(fixture, 1, 3e6 + 11e3), 1.511e6, 1);
	assert_float_equal(mapped(fixture, 1, 9e6), 1.511e6, 1);
}

static void a_kind_that_others_do_not_show_shrinks_as_others(void **state)
{
	struct fixture *fixture = *state;

	/* All ranks show that rank 0 is slower by a fifth. */
	put(fixture, 1, (double[]){ 1.2e6, 1e6, 1e6 });
	assert_float_equal(fixture->works.paces[0].factor, 1.2, 0.01);
	assert_float_equal(fixture->works.paces[1].factor, 1, 0.01);
	bucket_of(fixture, 1, 1)->seen_count = 0;
	bucket_of(fixture, 1, 2)->seen_count = 0;
	assert_float_equal(mapped(fixture, 1, 1.2e6), 1e6, 1e4);
}

static void hosts_that_always_wait_need_less(void **state)
{
	struct fixture *fixture = *state;

	put(fixture, 0, (double[]){ 40e6, -10e6, -12e6 });
	assert_float_equal(mapped(fixture, 0, 40e6), 11e6 / 4, 1);
	assert_float_equal(mapped(fixture, 0, 1e6), 1e6, 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(statistics_are_those_of_sorted_values),
		cmocka_unit_test_setup_teardown(
			works_become_the_others_quantile_by_quantile, setup,
			teardown),
		cmocka_unit_test_setup_teardown(
			a_kind_that_others_do_not_show_shrinks_as_others, setup,
			teardown),
		cmocka_unit_test_setup_teardown(
			hosts_that_always_wait_need_less, setup, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
