/* SPDX-License-Identifier: MIT */
/* The tests of a program; see unit.h. */
#include <stdlib.h>

#include "test/unit/support/unit.h"

static struct CMUnitTest tests[256];
static size_t count;
static CMFixtureFunction usual_setup, usual_teardown;

void unit_add_with(const char *name, CMUnitTestFunction test,
		   CMFixtureFunction setup, CMFixtureFunction teardown)
{
	if (count == sizeof(tests) / sizeof(tests[0]))
		abort();
	tests[count++] = (struct CMUnitTest){
		.name = name,
		.test_func = test,
		.setup_func = setup,
		.teardown_func = teardown,
	};
}

void unit_add(const char *name, CMUnitTestFunction test)
{
	unit_add_with(name, test, usual_setup, usual_teardown);
}

void unit_fixture(CMFixtureFunction setup, CMFixtureFunction teardown)
{
	usual_setup = setup;
	usual_teardown = teardown;
}

int unit_run(void)
{
	return _cmocka_run_group_tests("tests", tests, count, NULL, NULL);
}

__attribute__((weak)) int main(void)
{
	return unit_run();
}
