/* SPDX-License-Identifier: MIT */
/* A program that includes ncclstat/range.h, with and without the plugin. */
#include <dlfcn.h>
#include <stdlib.h>

#include "ncclstat/range.h"
#include "test/plugin/ranges.h"
#include "test/unit/support/unit.h"

#define PLUGIN_VARIABLE "NCCL_PROFILER_PLUGIN"

static void run_alone(void *argument)
{
	(void)argument;
	CHECK_EQUAL(ncclstat_range_push("step"), -1, "without the plugin");
	CHECK_EQUAL(ncclstat_range_start("job"), 0, "without the plugin");
	ncclstat_range_mark("mark");
	ncclstat_range_end(0);
	CHECK_EQUAL(ncclstat_range_pop(), -1, "without the plugin");
	CHECK(!dlopen(NCS_PLUGIN_PATH, RTLD_NOW | RTLD_NOLOAD),
	      "the plugin was not requested");
}

TEST(stubs_do_nothing_without_the_plugin)
{
	static const char *const others[] = { "", "none", "inspector",
					      "no-such-ncclstat.so" };

	unsetenv(PLUGIN_VARIABLE);
	scenario_play(run_alone, NULL);
	for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++) {
		setenv(PLUGIN_VARIABLE, others[i], 1);
		scenario_play(run_alone, NULL);
	}
	unsetenv(PLUGIN_VARIABLE);
}

static void run_with_plugin(void *argument)
{
	struct guest guest;
	uint64_t job;

	(void)argument;
	CHECK_EQUAL(ncclstat_range_push("step"), 0, "before NCCL is there");
	guest_open(&guest, 7);
	ranges_call_and_play(&guest, guest.context);
	ranges_expect_calls(&guest.view, "step", 1, "by the stubs");
	CHECK_EQUAL(ncclstat_range_pop(), 0, "the level that is left");
	job = ncclstat_range_start("job");
	ncclstat_range_mark("mark");
	ranges_call_and_play(&guest, guest.context);
	ncclstat_range_end(job);
	ranges_call_and_play(&guest, guest.context);
	ranges_expect_calls(&guest.view, "job", 1, "by the stubs");
	CHECK(ranges_find(&guest.view, "job/mark"), "there is no mark");
	guest_close(&guest);
}

TEST(stubs_call_the_plugin)
{
	setenv(PLUGIN_VARIABLE, NCS_PLUGIN_PATH, 1);
	scenario_play(run_with_plugin, NULL);
	unsetenv(PLUGIN_VARIABLE);
}
