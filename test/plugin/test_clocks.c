/* SPDX-License-Identifier: MIT */
/* Hosts whose clocks are not the kernel's (libfaketime), stand still or go back:
 * init must end, and no time may do harm. This program has a clock_gettime() of
 * its own, which the plugin calls. */
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "test/plugin/scenario.h"
#include "test/unit/support/unit.h"

#define LAST_API 7

enum way {
	TRUE_TIME,
	FROZEN,
	BACKWARD,
	JUMPING, /* to and fro */
	RACING,  /* a second for each reading */
	WAY_COUNT
};

static enum way way;
static uint64_t readings;

__attribute__((visibility("default"))) int clock_gettime(clockid_t id,
							 struct timespec *now)
{
	uint64_t ns = 1000 * UINT64_C(1000000000), reading;

	if (way == TRUE_TIME)
		return (int)syscall(SYS_clock_gettime, id, now);
	reading = __atomic_add_fetch(&readings, 1, __ATOMIC_RELAXED);
	if (way == BACKWARD)
		ns -= 1000 * reading;
	else if (way == JUMPING)
		ns += reading % 2 ? 0 : UINT64_C(1000000000);
	else if (way == RACING)
		ns += UINT64_C(1000000000) * reading;
	now->tv_sec = (time_t)(ns / UINT64_C(1000000000));
	now->tv_nsec = (long)(ns % UINT64_C(1000000000));
	return 0;
}

static void publish(struct guest *guest)
{
	for (int i = 0; i < 200; i++) {
		for (int event = 0; event < NCS_EVENT_COUNT; event++)
			stop(guest, start_any(guest, (enum ncs_event)event));
		play_coll(guest, (uint64_t)i);
	}
}

/* The clock is wrong from the beginning. */
static void begin_with(void *argument)
{
	struct guest guest = { 0 };

	/* A hang is what is to be found. */
	alarm(100);
	way = *(const enum way *)argument;
	guest.host = open_plugin(LAST_API);
	guest.context = init_comm(guest.host, "strange", GUEST_RANK);
	publish(&guest);
	view_open(&guest.view, 0);
	CHECK(readings > 0, "the plugin reads another clock");
	CHECK_EQUAL(guest.view.now.functions[COLL_FUNCTION].operations_done,
		    200, "operations are counted without a clock");
	guest_close(&guest);
}

/* The clock goes wrong, and right again, in a job that is published. */
static void change_to(void *argument)
{
	struct guest guest;

	alarm(100);
	guest_open(&guest, LAST_API);
	publish(&guest);
	way = *(const enum way *)argument;
	publish(&guest);
	view_take(&guest.view);
	way = TRUE_TIME;
	check_still_follows(&guest, "with a true clock");
	guest_close(&guest);
}

TEST(strange_clock_neither_hangs_nor_crashes_the_job)
{
	for (enum way i = FROZEN; i < WAY_COUNT; i++)
		scenario_play(begin_with, &i);
}

TEST(clock_may_change_at_any_time)
{
	for (enum way i = FROZEN; i < WAY_COUNT; i++)
		scenario_play(change_to, &i);
}
