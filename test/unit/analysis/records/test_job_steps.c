/* SPDX-License-Identifier: MIT */
/* Tests of finding steps: with one pattern, with several, with other operations
 * in between, and with none. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "analysis/records/job_steps.h"

#define OPERATIONS_MAX 4096u

/* Operations, one letter each. */
struct stepped_job {
	char letters[OPERATIONS_MAX + 1];
	uint32_t steps[OPERATIONS_MAX];
	size_t count;
};

static void add(struct stepped_job *job, const char *letters, unsigned times)
{
	for (unsigned i = 0; i < times; i++) {
		size_t length = strlen(letters);

		assert_true(job->count + length <= OPERATIONS_MAX);
		memcpy(job->letters + job->count, letters, length);
		job->count += length;
	}
}

/* Returns the operation that a letter stands for; '>' is a transfer. */
static struct ncs_joined joined_of(char letter, struct ncs_part *part)
{
	*part = (struct ncs_part){ .bytes = (uint64_t)letter };
	return (struct ncs_joined){
		.comm_id = 1,
		.function = letter == '>' ? NCS_FUNCTION_SEND_RECV :
					    NCS_FUNCTION_ALL_REDUCE,
		.count = 1,
		.parts = part,
	};
}

static void find_steps(struct stepped_job *job)
{
	struct ncs_job_steps *steps = ncs_job_steps_new();
	struct ncs_part part;
	struct ncs_joined joined;

	assert_non_null(steps);
	for (size_t i = 0; i < job->count; i++) {
		joined = joined_of(job->letters[i], &part);
		assert_int_equal(ncs_job_steps_learn(steps, &joined,
						     job->letters[i] != '.'),
				 0);
	}
	for (size_t i = 0; i < job->count; i++) {
		joined = joined_of(job->letters[i], &part);
		job->steps[i] = ncs_job_steps_next(steps, &joined,
						   job->letters[i] != '.');
	}
	ncs_job_steps_free(steps);
}

/* Returns the number of steps that consist of these operations and
 * transfers. */
static unsigned count_steps(const struct stepped_job *job, const char *letters)
{
	size_t length = strlen(letters), begin = 0;
	unsigned count = 0;

	for (size_t i = 1; i <= job->count; i++) {
		if (i < job->count && job->steps[i] == job->steps[begin])
			continue;
		if (job->steps[begin] != UINT32_MAX && i - begin == length &&
		    memcmp(job->letters + begin, letters, length) == 0)
			count++;
		begin = i;
	}
	return count;
}

static uint32_t step_count(const struct stepped_job *job)
{
	uint32_t count = 0;

	for (size_t i = 0; i < job->count; i++)
		if (job->steps[i] != UINT32_MAX) {
			/* Steps are numbered without a gap. */
			assert_true(job->steps[i] == count ||
				    job->steps[i] + 1 == count);
			count = job->steps[i] + 1;
		}
	return count;
}

static void each_repetition_is_a_step(void **state)
{
	struct stepped_job job = { .count = 0 };

	(void)state;
	add(&job, "abc>d", 20);
	find_steps(&job);
	assert_int_equal(step_count(&job), 20);
	assert_int_equal(count_steps(&job, "abc>d"), 20);
	assert_int_equal(job.steps[0], 0);
}

static void operation_that_occurs_once_in_a_step_begins_it(void **state)
{
	struct stepped_job job = { .count = 0 };

	(void)state;
	/* The recording begins in the middle of a step. */
	add(&job, "bababab", 1);
	add(&job, "cabababababababab", 12);
	find_steps(&job);
	assert_int_equal(step_count(&job), 12);
	assert_int_equal(count_steps(&job, "cabababababababab"), 12);
	assert_int_equal(job.steps[0], UINT32_MAX);
}

static void order_within_a_step_does_not_matter(void **state)
{
	struct stepped_job job = { .count = 0 };

	(void)state;
	for (unsigned i = 0; i < 10; i++) {
		add(&job, "xabcd", 1);
		add(&job, "xbadc", 1);
		add(&job, "xdcab", 1);
	}
	find_steps(&job);
	assert_int_equal(step_count(&job), 30);
	assert_int_equal(job.steps[149], 29);
}

static void steps_are_found_again_where_the_pattern_changes(void **state)
{
	struct stepped_job job = { .count = 0 };

	(void)state;
	add(&job, "abcd", 50);
	add(&job, "efgijklm", 30);
	add(&job, "no", 40);
	add(&job, "abcd", 50);
	find_steps(&job);
	/* It is not certain where one pattern ends and the next begins. */
	assert_in_range(count_steps(&job, "efgijklm"), 29, 30);
	assert_in_range(count_steps(&job, "no") + count_steps(&job, "on"), 39,
			40);
	assert_in_range(count_steps(&job, "abcd"), 99, 100);
	assert_in_range(step_count(&job), 168, 170);
}

static void steps_may_become_longer(void **state)
{
	struct stepped_job job = { .count = 0 };

	(void)state;
	add(&job, "abc", 30);
	add(&job, "abcabcabcabcz", 20);
	find_steps(&job);
	/* Longer steps begin at z, so that the first abcabcabcabc are short
	 * ones. */
	assert_int_equal(count_steps(&job, "abc"), 34);
	assert_int_equal(count_steps(&job, "zabcabcabcabc"), 19);
}

static void single_operation_belongs_to_its_step(void **state)
{
	struct stepped_job job = { .count = 0 };

	(void)state;
	add(&job, "abcdefgh", 10);
	add(&job, "abcdQefgh", 1);
	add(&job, "abcdefgh", 10);
	find_steps(&job);
	assert_int_equal(count_steps(&job, "abcdefgh"), 20);
	assert_int_equal(count_steps(&job, "abcdQefgh"), 1);
	assert_int_equal(step_count(&job), 21);
}

static void operations_longer_than_a_step_are_in_no_step(void **state)
{
	struct stepped_job job = { .count = 0 };

	(void)state;
	add(&job, "abcdefgh", 10);
	add(&job, "0123456789ABCDEFGHIJKLM", 1);
	add(&job, "abcdefgh", 10);
	add(&job, "nopqrstuvwxyzNOPQRSTUVWXYZ", 1);
	find_steps(&job);
	assert_int_equal(step_count(&job), 20);
	assert_int_equal(count_steps(&job, "abcdefgh"), 20);
	assert_int_equal(job.steps[job.count - 1], UINT32_MAX);
}

static void uncounted_operations_are_in_no_step(void **state)
{
	struct stepped_job job = { .count = 0 };

	(void)state;
	add(&job, "a.bc", 10);
	find_steps(&job);
	assert_int_equal(step_count(&job), 10);
	assert_int_equal(job.steps[1], UINT32_MAX);
	assert_int_equal(job.steps[38], 9);
}

static void without_a_pattern_there_are_no_steps(void **state)
{
	struct stepped_job job = { .count = 0 };
	uint64_t seed = 7;
	uint32_t in_none = 0;

	(void)state;
	for (unsigned i = 0; i < OPERATIONS_MAX; i++) {
		char letter[2] = { 0 };

		seed = seed * UINT64_C(6364136223846793005) + 1442695041;
		letter[0] = (char)('a' + (seed >> 33) % 16);
		add(&job, letter, 1);
	}
	find_steps(&job);
	for (size_t i = 0; i < job.count; i++)
		in_none += job.steps[i] == UINT32_MAX;
	/* A few operations look like a pattern by chance. */
	print_message("%u of %zu operations in no step\n", in_none, job.count);
	assert_true(in_none > 0.9 * (double)job.count);
	job.count = 0;
	add(&job, "a", 100);
	find_steps(&job);
	assert_int_equal(step_count(&job), 0);
}

static void number_of_kinds_is_bounded(void **state)
{
	struct ncs_job_steps *steps = ncs_job_steps_new();
	struct ncs_part part = { .bytes = 1 };
	struct ncs_joined joined = { .count = 1, .parts = &part };
	uint32_t step = UINT32_MAX;

	(void)state;
	assert_non_null(steps);
	for (unsigned look = 0; look < 2; look++)
		for (uint64_t i = 0; i < 300000; i++) {
			part.bytes = i % 10 ? 1000 + i : 1;
			if (look == 0)
				assert_int_equal(ncs_job_steps_learn(
							 steps, &joined, true),
						 0);
			else
				step = ncs_job_steps_next(steps, &joined, true);
		}
	assert_int_equal(step, 29999);
	ncs_job_steps_free(steps);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_repetition_is_a_step),
		cmocka_unit_test(
			operation_that_occurs_once_in_a_step_begins_it),
		cmocka_unit_test(order_within_a_step_does_not_matter),
		cmocka_unit_test(
			steps_are_found_again_where_the_pattern_changes),
		cmocka_unit_test(steps_may_become_longer),
		cmocka_unit_test(single_operation_belongs_to_its_step),
		cmocka_unit_test(operations_longer_than_a_step_are_in_no_step),
		cmocka_unit_test(uncounted_operations_are_in_no_step),
		cmocka_unit_test(without_a_pattern_there_are_no_steps),
		cmocka_unit_test(number_of_kinds_is_bounded),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
