/* SPDX-License-Identifier: MIT */
/* Tests of what is learned of hosts: whether they wait for the end of the last part,
 * and how long they work at most. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "analysis/base/host_waits.h"

#define MS 1e6
#define US 1e3
#define STEPS 40u

/* A number from 0 to 1 for each step, in no order. */
static double vary(unsigned step)
{
	return (double)(step * 37 % STEPS) / STEPS;
}

static double vary_too(unsigned step)
{
	return (double)(step * 23 % STEPS) / STEPS;
}

static struct ncs_host_waits *new_waits(void)
{
	struct ncs_host_waits *waits = ncs_host_waits_new(2);

	assert_non_null(waits);
	return waits;
}

static const struct ncs_waited_call idle = { 40 * MS, 5 * MS, 30 * MS,
						  true };
static const struct ncs_waited_call busy = { 40 * MS, 5 * MS, 30 * MS,
						  false };

static void host_that_calls_later_after_later_ends_waits_for_them(void **state)
{
	struct ncs_host_waits *waits = new_waits();

	(void)state;
	for (unsigned i = 0; i < STEPS; i++) {
		struct ncs_waited_call call = idle;

		call.last_ns += 2 * MS * vary(i);
		call.call_ns = call.last_ns + 10 * MS + MS * vary_too(i);
		ncs_host_waits_note(waits, 0, &call);
	}
	assert_int_equal(ncs_host_waits_of(waits, 0, &idle),
			 NCS_HOST_WAIT_LAST);
	/* Nothing is known of the other rank. */
	assert_int_equal(ncs_host_waits_of(waits, 1, &idle),
			 NCS_HOST_WAIT_UNKNOWN);
	ncs_host_waits_free(waits);
}

static void host_that_calls_whenever_parts_end_does_not_wait(void **state)
{
	struct ncs_host_waits *waits = new_waits();

	(void)state;
	for (unsigned i = 0; i < STEPS; i++) {
		struct ncs_waited_call call = idle;

		call.last_ns += 2 * MS * vary(i);
		call.call_ns += MS * vary_too(i);
		ncs_host_waits_note(waits, 0, &call);
	}
	assert_int_equal(ncs_host_waits_of(waits, 0, &idle),
			 NCS_HOST_WAIT_NONE);
	ncs_host_waits_free(waits);
}

/* Ends that vary by no more than their times may be wrong. */
static void ends_that_vary_little_tell_only_that_a_host_waits(void **state)
{
	struct ncs_host_waits *waits = new_waits();

	(void)state;
	for (unsigned i = 0; i < STEPS; i++) {
		struct ncs_waited_call call = idle;

		call.last_ns += 200 * US * vary(i);
		call.call_ns = call.last_ns + 10 * MS + 100 * US * vary_too(i);
		ncs_host_waits_note(waits, 0, &call);
		call.call_ns = idle.call_ns + 100 * US * vary_too(i);
		ncs_host_waits_note(waits, 1, &call);
	}
	assert_int_equal(ncs_host_waits_of(waits, 0, &idle),
			 NCS_HOST_WAIT_LAST);
	assert_int_equal(ncs_host_waits_of(waits, 1, &idle),
			 NCS_HOST_WAIT_UNKNOWN);
	ncs_host_waits_free(waits);
}

static void host_of_a_job_that_never_varies_is_not_known(void **state)
{
	struct ncs_host_waits *waits = new_waits();

	(void)state;
	for (unsigned i = 0; i < STEPS; i++) {
		struct ncs_waited_call call = idle;

		call.last_ns += 10 * US * vary(i);
		call.call_ns += 10 * US * vary(i);
		ncs_host_waits_note(waits, 0, &call);
	}
	assert_int_equal(ncs_host_waits_of(waits, 0, &idle),
			 NCS_HOST_WAIT_UNKNOWN);
	ncs_host_waits_free(waits);
}

/* When a job begins, calls are of another kind. */
static void first_call_does_not_decide(void **state)
{
	struct ncs_waited_call call = { 67 * MS, 5 * MS, 47 * MS, true };
	struct ncs_host_waits *waits = new_waits();

	(void)state;
	ncs_host_waits_note(waits, 0, &call);
	for (unsigned i = 0; i < STEPS; i++) {
		call.call_ns = 20 * MS + 2 * MS * vary_too(i);
		call.last_ns = 7 * MS + 4 * MS * vary(i);
		ncs_host_waits_note(waits, 0, &call);
	}
	call.call_ns = 20 * MS;
	assert_int_equal(ncs_host_waits_of(waits, 0, &call),
			 NCS_HOST_WAIT_NONE);
	ncs_host_waits_free(waits);
}

/* No host calls earlier because parts end later: that is chance. */
static void host_that_calls_earlier_after_later_ends_is_not_known(void **state)
{
	struct ncs_host_waits *waits = new_waits();

	(void)state;
	for (unsigned i = 0; i < STEPS; i++) {
		struct ncs_waited_call call = idle;

		call.last_ns += 2 * MS * vary(i);
		call.call_ns -= 10 * MS * vary(i);
		ncs_host_waits_note(waits, 0, &call);
	}
	assert_int_equal(ncs_host_waits_of(waits, 0, &idle),
			 NCS_HOST_WAIT_UNKNOWN);
	ncs_host_waits_free(waits);
}

static void few_calls_tell_nothing(void **state)
{
	struct ncs_host_waits *waits = new_waits();

	(void)state;
	for (unsigned i = 0; i < 5; i++) {
		struct ncs_waited_call call = idle;

		call.last_ns += 2 * MS * vary(i);
		call.call_ns = call.last_ns + 10 * MS;
		ncs_host_waits_note(waits, 0, &call);
	}
	assert_int_equal(ncs_host_waits_of(waits, 0, &idle),
			 NCS_HOST_WAIT_UNKNOWN);
	ncs_host_waits_free(waits);
}

static void busy_host_that_follows_the_last_end_waits_for_it(void **state)
{
	struct ncs_host_waits *waits = new_waits();

	(void)state;
	for (unsigned i = 0; i < STEPS; i++) {
		struct ncs_waited_call call = busy;

		call.last_ns += 2 * MS * vary(i);
		call.call_ns = call.last_ns + 10 * MS;
		ncs_host_waits_note(waits, 0, &call);
	}
	assert_int_equal(ncs_host_waits_of(waits, 0, &busy),
			 NCS_HOST_WAIT_LAST);
	ncs_host_waits_free(waits);
}

/* Two kinds of calls lie on a line, but neither follows its last end. */
static void busy_host_with_two_kinds_of_calls_is_not_known(void **state)
{
	struct ncs_host_waits *waits = new_waits();

	(void)state;
	for (unsigned i = 0; i < STEPS; i++) {
		struct ncs_waited_call call = busy;

		call.last_ns += i % 2 * MS;
		call.call_ns += i % 2 * MS;
		ncs_host_waits_note(waits, 0, &call);
	}
	assert_int_equal(ncs_host_waits_of(waits, 0, &busy),
			 NCS_HOST_WAIT_UNKNOWN);
	ncs_host_waits_free(waits);
}

static void host_that_calls_while_its_gpu_is_busy_is_ahead(void **state)
{
	struct ncs_host_waits *waits = new_waits();

	(void)state;
	for (unsigned i = 0; i < STEPS; i++) {
		ncs_host_waits_note(waits, 0, &idle);
		ncs_host_waits_note(waits, 1, i % 20 == 0 ? &busy : &idle);
	}
	assert_false(ncs_host_waits_is_ahead(waits, 0));
	assert_false(ncs_host_waits_is_ahead(waits, 1));
	for (unsigned i = 0; i < STEPS; i++)
		ncs_host_waits_note(waits, 1, &busy);
	assert_true(ncs_host_waits_is_ahead(waits, 1));
	ncs_host_waits_free(waits);
}

/* All run the same program: what one host works, no other works longer. */
static void hosts_work_no_longer_than_the_one_that_is_known_best(void **state)
{
	struct ncs_host_waits *waits = new_waits();

	(void)state;
	for (unsigned i = 0; i < STEPS; i++) {
		struct ncs_waited_call call = busy;

		ncs_host_waits_note(waits, 0, &call);
		call.first_ns = 28 * MS;
		ncs_host_waits_note(waits, 1, &call);
		/* Another kind of call, of which one is longer. */
		call.call_ns = i == 0 ? 10 * MS : 9.5 * MS;
		call.first_ns = 9 * MS;
		ncs_host_waits_note(waits, 1, &call);
	}
	assert_true(fabs(ncs_host_waits_most_ns(waits, 40 * MS) - 12 * MS) < 1);
	assert_true(fabs(ncs_host_waits_most_ns(waits, 10 * MS) - 0.5 * MS) <
		    1);
	assert_true(isinf(ncs_host_waits_most_ns(waits, 4 * MS)));
	ncs_host_waits_free(waits);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(
			host_that_calls_later_after_later_ends_waits_for_them),
		cmocka_unit_test(
			host_that_calls_whenever_parts_end_does_not_wait),
		cmocka_unit_test(
			ends_that_vary_little_tell_only_that_a_host_waits),
		cmocka_unit_test(host_of_a_job_that_never_varies_is_not_known),
		cmocka_unit_test(first_call_does_not_decide),
		cmocka_unit_test(
			host_that_calls_earlier_after_later_ends_is_not_known),
		cmocka_unit_test(few_calls_tell_nothing),
		cmocka_unit_test(
			busy_host_that_follows_the_last_end_waits_for_it),
		cmocka_unit_test(
			busy_host_with_two_kinds_of_calls_is_not_known),
		cmocka_unit_test(
			host_that_calls_while_its_gpu_is_busy_is_ahead),
		cmocka_unit_test(
			hosts_work_no_longer_than_the_one_that_is_known_best),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
