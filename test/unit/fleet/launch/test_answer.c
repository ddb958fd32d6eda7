/* SPDX-License-Identifier: MIT */
/* Tests of programs that are run for their output (fleet/launch/answer.h): one
 * that has ended has answered, also where this process was held up past its
 * time; one that still runs then has not. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>

#include "fleet/launch/answer.h"
#include "fleet/launch/launchers.h"
#include "shm/clock.h"

#define ENOUGH ((size_t)1 << 20)
#define WITHIN_NS UINT64_C(1)

static struct ncs_guard guard;

static int start_guard(void **state)
{
	(void)state;
	return ncs_guard_start(&guard);
}

static int stop_guard(void **state)
{
	(void)state;
	ncs_guard_stop(&guard);
	return 0;
}

/* Begins a program of the shell whose time is up at once. */
static void begin(struct ncs_answer *answer, const char *script)
{
	struct ncs_words words = { .count = 0 };
	char why[200] = "";

	ncs_words_add_shell(&words, script);
	assert_int_equal(ncs_answer_begin(answer, &guard, &words, NULL, ENOUGH,
					  WITHIN_NS, why, sizeof(why)),
			 0);
	ncs_words_release(&words);
	while (ncs_clock_monotonic_ns() <= answer->until_ns)
		;
}

static int take(struct ncs_answer *answer, char **text, char *why, size_t size)
{
	int turn = ncs_answer_wait(answer, 20);

	ncs_answer_end(answer, "sh", turn, text, why, size);
	return turn;
}

static void test_one_that_has_ended_has_answered(void **state)
{
	/* A pipe holds what it writes. */
	const char *script = "head -c 60000 /dev/zero | tr '\\0' x";
	struct ncs_answer answer;
	char *text, why[200] = "";
	siginfo_t ended;

	(void)state;
	begin(&answer, script);
	assert_int_equal(waitid(P_PID, (id_t)answer.child.pid, &ended,
				WEXITED | WNOWAIT),
			 0);
	assert_int_equal(take(&answer, &text, why, sizeof(why)), 1);
	assert_string_equal(why, "");
	assert_non_null(text);
	assert_int_equal(strspn(text, "x"), 60000);
	free(text);
}

static void test_one_that_runs_when_its_time_is_up_has_not(void **state)
{
	const char *script = "echo too early; exec sleep 600";
	struct ncs_answer answer;
	char *text, why[200] = "";

	(void)state;
	begin(&answer, script);
	assert_int_equal(take(&answer, &text, why, sizeof(why)), -ETIMEDOUT);
	assert_null(text);
	assert_string_equal(why, "sh does not answer within 1e-09 s");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_one_that_has_ended_has_answered),
		cmocka_unit_test(test_one_that_runs_when_its_time_is_up_has_not),
	};

	return cmocka_run_group_tests(tests, start_guard, stop_guard);
}
