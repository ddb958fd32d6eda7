/* SPDX-License-Identifier: MIT */
/* cmocka with the headers that it wants before it, and tests that need no list.
 *
 * TEST(name) begins a test, whose statements follow in braces. All tests of a
 * program run in the order in which they stand; unit.c has its main(), which a file
 * may replace by its own, to run them with unit_run().
 */
#ifndef NCS_TEST_UNIT_SUPPORT_UNIT_H
#define NCS_TEST_UNIT_SUPPORT_UNIT_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

/* A test without setup and teardown has those of the UNIT_FIXTURE() before it. */
#define TEST(name) \
	static void name(void **state); \
	__attribute__((constructor)) static void name##_is_run(void) \
	{ \
		unit_add(#name, name); \
	} \
	static void name(__attribute__((unused)) void **state)

#define TEST_WITH(name, setup, teardown) \
	static void name(void **state); \
	__attribute__((constructor)) static void name##_is_run(void) \
	{ \
		unit_add_with(#name, name, setup, teardown); \
	} \
	static void name(__attribute__((unused)) void **state)

#define UNIT_FIXTURE(setup, teardown) \
	__attribute__((constructor)) static void unit_fixture_is_set(void) \
	{ \
		unit_fixture(setup, teardown); \
	}

/* The macros call these before main(): once there are too many tests, they stop the
 * program. The name is borrowed. */
void unit_add(const char *name, CMUnitTestFunction test);
void unit_add_with(const char *name, CMUnitTestFunction test,
		   CMFixtureFunction setup, CMFixtureFunction teardown);
void unit_fixture(CMFixtureFunction setup, CMFixtureFunction teardown);

/* Runs all tests. Returns how many failed. */
int unit_run(void);

#endif
