/* SPDX-License-Identifier: MIT */
/* Requests to a running process: a request is handled with the next group of
 * calls, shown in the settings, and recorded. Malformed requests and expired
 * leases change nothing for long; a fork, an exit and a missing object do no
 * harm. The tests with threads are also for ThreadSanitizer. */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "shm/atomics.h"
#include "shm/clock.h"
#include "shm/control.h"
#include "shm/read/paths.h"
#include "shm/read/remote.h"
#include "test/plugin/calls.h"
#include "test/unit/support/unit.h"

#define LAST_API 7
#define ONE UINT64_C(0x100000001)
#define OTHER UINT64_C(0x200000001)
#define MS UINT64_C(1000000)

static const struct ncs_detail more = {
	.sample = 3,
};

/* --- A guest that handles requests ------------------------------------- */

static struct ncs_remote *remote_of(const struct guest *guest)
{
	struct ncs_remote *remote;
	char why[128];

	CHECK(view_find_remote(&guest->view, &remote, why, sizeof(why)) ==
		      NCS_ATTACHED,
	      "%s", why);
	return remote;
}

/* Plays one group of the application's calls, as this API version reports
 * it. */
static void play_group(struct guest *guest)
{
	uint64_t type = host_api(guest->host) >= 5 ? NCCL_EVENT_GROUP_API :
						     NCCL_EVENT_GROUP;

	stop(guest, start_type(guest, type, NULL));
}

/* A snapshot is torn as long as a busy machine stops the writer in a block: it is taken
 * again, for a second at most. */
static const struct ncs_settings_view *settings_now(struct guest *guest)
{
	view_take(&guest->view);
	for (int i = 0; guest->view.now.torn && i < 1000; i++) {
		usleep(1000);
		view_take(&guest->view);
	}
	CHECK(!guest->view.now.torn, "no block is torn");
	CHECK(guest->view.now.settings.known, "the settings are known");
	return &guest->view.now.settings;
}

static uint64_t in_force(struct guest *guest)
{
	return ncs_detail_pack(&settings_now(guest)->in_force);
}

static uint64_t ask_groups(struct ncs_control *control, uint8_t groups)
{
	const struct ncs_change change = {
		.groups = true,
		.to = { .has_groups = 1, .groups = groups },
	};

	return ncs_control_change(control, &change);
}

static uint64_t ask_kernel(struct ncs_control *control, uint8_t kernel)
{
	const struct ncs_change change = { .kernel = true,
					   .to.kernel = kernel };

	return ncs_control_change(control, &change);
}

static uint64_t ask_sample(struct ncs_control *control, uint8_t sample)
{
	const struct ncs_change change = { .sample = true,
					   .to.sample = sample };

	return ncs_control_change(control, &change);
}

static void ask_default(struct ncs_control *control)
{
	const struct ncs_change change = { true, true, true, true, { 0 } };

	ncs_control_change(control, &change);
}

static void for_each_api(void (*play)(void *argument))
{
	for (int api = 1; api <= LAST_API; api++)
		scenario_play(play, &api);
}

/* --- Requests are executed --------------------------------------------- */

static void start_as_the_environment_says(void *argument)
{
	const struct ncs_settings_view *settings;
	struct guest guest;

	guest_open(&guest, *(int *)argument);
	settings = settings_now(&guest);
	CHECK_EQUAL(settings->in_force.groups, NCS_GROUPS_ALL, "all events");
	CHECK_EQUAL(settings->in_force.kernel, NCS_KERNEL_DETAIL_OFF,
		    "no kernels");
	CHECK_EQUAL(settings->in_force.sample, 1, "all records");
	CHECK_EQUAL(settings->in_force.timing,
		    host_api(guest.host) >= 5 ? NCS_TIMING_DETAIL_AUTO :
						NCS_TIMING_DETAIL_OFF,
		    "as many launches as cost little");
	CHECK_EQUAL(settings->asked, 0, "no request yet");
	CHECK_EQUAL(settings->changes, 0, "nothing has changed");
	CHECK_EQUAL(settings->refused, NCS_REFUSAL_NONE, "nor was refused");
	CHECK_EQUAL(count_controls(), 1, "one object a process");
	guest_close(&guest);
	CHECK_EQUAL(count_controls(), 1, "until the process ends");
}

TEST(settings_show_the_environment)
{
	for_each_api(start_as_the_environment_says);
}

GUEST_SCENARIOS(event_groups_are_turned_off_and_on_again, 1, LAST_API)
{
	const struct ncs_settings_view *settings;
	uint64_t word, before;
	struct ncs_remote *remote;
	int mask;

	remote = remote_of(guest);
	mask = host_mask();
	before = in_force(guest);
	word = ask_groups(ncs_remote_control(remote),
			  NCS_GROUPS_ALL & ~(1u << NCS_GROUP_STEPS |
					     1u << NCS_GROUP_NETWORK));
	CHECK_EQUAL(host_mask(), mask, "not before a group");
	CHECK_EQUAL(settings_now(guest)->asked, 0, "not handled before");
	play_group(guest);
	CHECK_EQUAL(host_mask(),
		    mask & ~(NCCL_EVENT_PROXY_STEP | NCCL_EVENT_NET_PLUGIN),
		    "only these");
	settings = settings_now(guest);
	CHECK_EQUAL(settings->asked, word, "handled");
	CHECK_EQUAL(settings->changes, 1, "counted");
	CHECK(settings->changed_ns != 0, "with the time");
	CHECK_EQUAL(settings->in_force.groups,
		    NCS_GROUPS_ALL &
			    ~(1u << NCS_GROUP_STEPS | 1u << NCS_GROUP_NETWORK),
		    "told");
	play_group(guest);
	CHECK_EQUAL(settings_now(guest)->changes, 1, "once");
	ask_default(ncs_remote_control(remote));
	play_group(guest);
	CHECK_EQUAL(host_mask(), mask, "mask is unchanged");
	CHECK_EQUAL(in_force(guest), before, "settings are unchanged");
	CHECK_EQUAL(settings_now(guest)->changes, 2, "counted");
	check_still_follows(guest, "after changes");
	ncs_remote_close(remote);
}

GUEST_SCENARIOS(calls_are_never_turned_off, 1, LAST_API)
{
	struct ncs_remote *remote;

	remote = remote_of(guest);
	ask_groups(ncs_remote_control(remote), 1u << NCS_GROUP_CALLS);
	play_group(guest);
	CHECK(host_mask() & NCCL_EVENT_GROUP,
	      "without groups no request would be read again");
	CHECK(!(host_mask() & (NCCL_EVENT_COLL | NCCL_EVENT_PROXY_OP)),
	      "optional events are not requested");
	ask_default(ncs_remote_control(remote));
	play_group(guest);
	CHECK(host_mask() & NCCL_EVENT_COLL, "events are requested again");
	ncs_remote_close(remote);
}

/* Earlier viewers asked for kernels; the rest of such a request is executed. */
GUEST_SCENARIOS(kernel_timing_is_not_switched, 1, LAST_API)
{
	const struct ncs_settings_view *settings;
	struct ncs_remote *remote;
	int mask;

	mask = host_mask();
	remote = remote_of(guest);
	ask_kernel(ncs_remote_control(remote), NCS_KERNEL_DETAIL_EVERY + 4);
	ask_sample(ncs_remote_control(remote), 5);
	play_group(guest);
	settings = settings_now(guest);
	CHECK_EQUAL(settings->in_force.sample, 5, "sampling");
	CHECK_EQUAL(guest->view.now.sampling.level, 4, "sampling is changed");
	CHECK_EQUAL(settings->in_force.kernel, NCS_KERNEL_DETAIL_OFF, "kernel");
	CHECK_EQUAL(settings->refused, NCS_REFUSAL_KERNEL, "kernel");
	ask_kernel(ncs_remote_control(remote), NCS_KERNEL_DETAIL_OFF);
	play_group(guest);
	settings = settings_now(guest);
	CHECK_EQUAL(settings->in_force.kernel, NCS_KERNEL_DETAIL_OFF, "off");
	CHECK_EQUAL(settings->refused, NCS_REFUSAL_NONE, "off as it is");
	CHECK_EQUAL(host_mask(), mask, "the mask");
	ncs_remote_close(remote);
}

GUEST_SCENARIOS(timing_is_refused_if_launches_are_not_reported, 1, LAST_API)
{
	const struct ncs_settings_view *settings;
	struct ncs_remote *remote;

	remote = remote_of(guest);
	for (uint8_t timing = NCS_TIMING_DETAIL_EVERY + 4;
	     timing >= NCS_TIMING_DETAIL_OFF; timing--) {
		const struct ncs_change change = { .timing = true,
						   .to.timing = timing };
		bool refused = api < 5 && timing > NCS_TIMING_DETAIL_OFF;

		ncs_control_change(ncs_remote_control(remote), &change);
		play_group(guest);
		settings = settings_now(guest);
		CHECK_EQUAL(settings->in_force.timing,
			    refused ? NCS_TIMING_DETAIL_OFF : timing, "timing");
		CHECK_EQUAL(settings->refused,
			    refused ? NCS_REFUSAL_TIMING : NCS_REFUSAL_NONE,
			    "refused");
	}
	ncs_remote_close(remote);
}

SCENARIO(kernel_timing_stays_on_while_other_events_are_switched)
{
	struct ncs_remote *remote;
	struct guest guest;
	int mask;

	setenv("NCCLSTAT_KERNEL_TIMING", "always", 1);
	guest_open(&guest, 5);
	mask = host_mask();
	remote = remote_of(&guest);
	ask_kernel(ncs_remote_control(remote), NCS_KERNEL_DETAIL_OFF);
	make_calls(&guest, guest.context, 2);
	CHECK_EQUAL(settings_now(&guest)->in_force.kernel,
		    NCS_KERNEL_DETAIL_ALWAYS, "as the environment says");
	CHECK_EQUAL(settings_now(&guest)->refused, NCS_REFUSAL_KERNEL, "off");
	ask_groups(ncs_remote_control(remote),
		   NCS_GROUPS_ALL & ~(1u << NCS_GROUP_CONTROL));
	make_calls(&guest, guest.context, 2);
	CHECK_EQUAL(host_mask(), mask & ~NCCL_EVENT_PROXY_CTRL,
		    "other events are switched, kernels stay");
	expect_status(&guest, NCS_KERNEL_ALWAYS, "always");
	ncs_remote_close(remote);
	guest_close(&guest);
}

/* --- Records ----------------------------------------------------------- */

static void check_record(struct guest *guest, uint64_t value, uint64_t number,
			 const char *what)
{
	const struct ncs_settings_view *settings = settings_now(guest);
	struct ncs_record found;

	do
		CHECK(next_record(guest, &found), "%s leaves no record", what);
	while (found.event != NCS_EVENT_SETTINGS);
	CHECK_EQUAL(found.value, value, what);
	CHECK_EQUAL(found.number, number, what);
	CHECK_EQUAL(found.delta[0], settings->asked, what);
	CHECK_EQUAL(found.delta[1], settings->lease_until_ns, what);
	CHECK_EQUAL(found.duration, 0, what);
	CHECK_EQUAL(found.peer, -1, what);
	CHECK(found.start != 0, "%s: when", what);
	while (next_record(guest, &found))
		CHECK(found.event != NCS_EVENT_SETTINGS, "%s: one too many",
		      what);
}

GUEST_SCENARIO(every_change_leaves_a_record, LAST_API)
{
	uint64_t before, between;
	struct ncs_remote *remote;

	remote = remote_of(guest);
	before = in_force(guest);
	read_all_records(guest);
	ask_sample(ncs_remote_control(remote), 4);
	play_group(guest);
	between = in_force(guest);
	CHECK(between != before, "settings have changed");
	check_record(guest, between, before, "a change");
	ncs_control_take_lease(ncs_remote_control(remote), &more, ONE,
			       ncs_clock_monotonic_ns());
	play_group(guest);
	check_record(guest, in_force(guest), between, "a lease");
	ncs_control_drop_lease(ncs_remote_control(remote), ONE);
	before = in_force(guest);
	play_group(guest);
	check_record(guest, between, before, "the end of a lease");
	CHECK_EQUAL(in_force(guest), between, "as before");
	ask_default(ncs_remote_control(remote));
	play_group(guest);
	check_still_follows(guest, "after records of its own");
	ncs_remote_close(remote);
}

SCENARIO(all_communicators_of_a_process_show_the_same_settings)
{
	struct guest guest, second;
	struct ncs_remote *remote;
	int mask;

	guest_open(&guest, LAST_API);
	remote = remote_of(&guest);
	ask_groups(ncs_remote_control(remote),
		   NCS_GROUPS_ALL &
			   ~(1u << NCS_GROUP_STEPS | 1u << NCS_GROUP_NETWORK));
	play_group(&guest);
	mask = host_mask();
	second = guest;
	second.context = init_comm(second.host, "second", 2);
	view_open(&second.view, 1);
	CHECK_EQUAL(host_mask(), mask, "init asks for everything again");
	CHECK_EQUAL(count_controls(), 1, "one object a process");
	CHECK_EQUAL(in_force(&second), in_force(&guest), "one for all");
	CHECK_EQUAL(settings_now(&second)->asked, settings_now(&guest)->asked,
		    "one for all");
	ask_sample(ncs_remote_control(remote), 7);
	play_group(&second);
	CHECK_EQUAL(settings_now(&guest)->in_force.sample, 7, "one for all");
	CHECK_EQUAL(settings_now(&second)->in_force.sample, 7, "one for all");
	host_finalize(second.host, second.context);
	view_close(&second.view);
	ncs_remote_close(remote);
	guest_close(&guest);
}

/* A job that only replays graphs makes no calls, but its plans are reported. */
GUEST_SCENARIO(group_event_alone_triggers_reading_the_request, LAST_API)
{
	struct ncs_remote *remote;

	remote = remote_of(guest);
	ask_sample(ncs_remote_control(remote), 2);
	stop(guest, start_type(guest, NCCL_EVENT_GROUP, NULL));
	CHECK_EQUAL(settings_now(guest)->in_force.sample, 2, "with the plan");
	ncs_remote_close(remote);
}

/* --- Malformed requests ------------------------------------------------ */

static void ask_for_nonsense(void *argument)
{
	const struct ncs_settings_view *settings;
	struct ncs_control *control;
	struct ncs_remote *remote;
	int api = *(int *)argument, all, allowed;
	uint64_t good;
	struct guest guest;

	guest_open(&guest, api);
	remote = remote_of(&guest);
	control = ncs_remote_control(remote);
	all = host_mask();
	allowed = all | (api >= 5 ? NCCL_EVENT_KERNEL_CH : 0);
	ask_sample(control, 9);
	ncs_control_take_lease(control, &more, ONE, ncs_clock_monotonic_ns());
	play_group(&guest);
	CHECK_EQUAL(settings_now(&guest)->in_force.sample, more.sample,
		    "the lease's");
	control->request = UINT64_MAX;
	play_group(&guest);
	settings = settings_now(&guest);
	CHECK_EQUAL(settings->refused, NCS_REFUSAL_MALFORMED, "nonsense");
	CHECK_EQUAL(settings->in_force.sample, 9,
		    "the latest sense holds, without its lease");
	CHECK_EQUAL(settings->lease_until_ns, 0, "without its lease");
	good = in_force(&guest);
	srandom((unsigned)api);
	for (unsigned i = 0; i < 5000; i++) {
		uint64_t word = (uint64_t)random() << 33 ^
				(uint64_t)random() << 11 ^ (uint64_t)random();
		struct ncs_control_request request;

		control->request = word;
		control->lease_until_ns = (uint64_t)random() << 33 ^
					  (uint64_t)random();
		control->lease_holder = (uint64_t)random();
		play_group(&guest);
		CHECK(!(host_mask() & ~allowed), "more than the release supports");
		CHECK(host_mask() & NCCL_EVENT_GROUP,
		      "calls are never turned off");
		if (!ncs_request_unpack(word, &request))
			CHECK_EQUAL(in_force(&guest), good, "nonsense");
		good = in_force(&guest);
	}
	ask_default(control);
	play_group(&guest);
	CHECK_EQUAL(settings_now(&guest)->refused, NCS_REFUSAL_NONE,
		    "sense again");
	/* Kernels that were timed have yet to be reported. */
	make_calls(&guest, guest.context, 2);
	CHECK_EQUAL(host_mask(), all, "sense again");
	check_still_follows(&guest, "after nonsense");
	ncs_remote_close(remote);
	guest_close(&guest);
}

TEST(malformed_requests_change_nothing)
{
	for_each_api(ask_for_nonsense);
}

/* --- Leases ------------------------------------------------------------ */

/* A lease that ends very soon, followed by a group after its end. */
static void let_it_end(struct guest *guest, struct ncs_control *control)
{
	ncs_store_relaxed(&control->lease_until_ns,
			  ncs_clock_monotonic_ns() + MS);
	while (!ncs_lease_is_over(control->lease_until_ns,
				  ncs_clock_monotonic_ns()))
		let_time_pass();
	play_group(guest);
}

GUEST_SCENARIO(unrenewed_lease_ends, LAST_API)
{
	const struct ncs_settings_view *settings;
	struct ncs_control_request request;
	struct ncs_control *control;
	struct ncs_remote *remote;
	uint64_t before;

	remote = remote_of(guest);
	control = ncs_remote_control(remote);
	ask_sample(control, 11);
	play_group(guest);
	before = in_force(guest);
	ncs_control_take_lease(control, &more, ONE, ncs_clock_monotonic_ns());
	play_group(guest);
	settings = settings_now(guest);
	CHECK_EQUAL(settings->in_force.sample, more.sample, "the lease's");
	CHECK_EQUAL(settings->in_force.groups, NCS_GROUPS_ALL, "not set");
	CHECK_EQUAL(settings->lease_pid, ONE >> 32, "pid of the holder");
	CHECK_EQUAL(settings->lease_until_ns, control->lease_until_ns,
		    "until when");
	/* The lease is renewed. */
	CHECK(ncs_control_renew_lease(control, ONE,
				      ncs_clock_monotonic_ns() + MS),
	      "the lease is renewed");
	play_group(guest);
	CHECK_EQUAL(settings_now(guest)->lease_until_ns,
		    control->lease_until_ns, "until when, now");
	CHECK_EQUAL(settings_now(guest)->changes, 2, "a renewal is no change");
	/* The viewer dies. */
	let_it_end(guest, control);
	CHECK_EQUAL(in_force(guest), before, "as before the lease");
	settings = settings_now(guest);
	CHECK_EQUAL(settings->lease_until_ns, 0, "the lease is over");
	CHECK_EQUAL(settings->refused, NCS_REFUSAL_NONE,
		    "the end is no refusal");
	CHECK_EQUAL(settings->changes, 3, "a change");
	CHECK(ncs_request_unpack(control->request, &request), "sense");
	CHECK(!request.leased, "its holder can find out");
	CHECK_EQUAL(request.base.sample, 11, "base detail stays");
	CHECK(!ncs_control_renew_lease(control, ONE, ncs_clock_monotonic_ns()),
	      "renewing does not restore a lost lease");
	play_group(guest);
	CHECK_EQUAL(settings_now(guest)->changes, 3, "nothing new");
	ncs_remote_close(remote);
}

GUEST_SCENARIO(leases_that_last_too_long_are_refused, LAST_API)
{
	struct ncs_control *control;
	struct ncs_remote *remote;
	uint64_t before;

	remote = remote_of(guest);
	control = ncs_remote_control(remote);
	before = in_force(guest);
	/* The viewer has died before the first group. */
	ncs_control_take_lease(control, &more, ONE,
			       ncs_clock_monotonic_ns() - NCS_LEASE_NS);
	play_group(guest);
	CHECK_EQUAL(in_force(guest), before, "over before it began");
	CHECK_EQUAL(settings_now(guest)->refused, NCS_REFUSAL_LEASE, "refused");
	/* A lease without end lasts too long. */
	ncs_control_take_lease(control, &more, ONE, ncs_clock_monotonic_ns());
	control->lease_until_ns = UINT64_MAX;
	play_group(guest);
	CHECK_EQUAL(in_force(guest), before, "no lease is for ever");
	CHECK_EQUAL(settings_now(guest)->refused, NCS_REFUSAL_LEASE, "refused");
	ncs_control_take_lease(control, &more, OTHER, ncs_clock_monotonic_ns());
	play_group(guest);
	CHECK_EQUAL(settings_now(guest)->in_force.sample, more.sample,
		    "a good one");
	CHECK_EQUAL(settings_now(guest)->refused, NCS_REFUSAL_NONE,
		    "a good one");
	ncs_remote_close(remote);
}

#define BASE_GROUPS (NCS_GROUPS_ALL & ~(1u << NCS_GROUP_CONTROL))

GUEST_SCENARIO(last_of_two_viewers_holds_the_lease, LAST_API)
{
	struct ncs_detail less = { .sample = 12 };
	struct ncs_control *control;
	struct ncs_remote *first, *second;

	first = remote_of(guest);
	second = remote_of(guest);
	control = ncs_remote_control(first);
	ncs_control_take_lease(control, &more, ONE, ncs_clock_monotonic_ns());
	play_group(guest);
	ncs_control_take_lease(ncs_remote_control(second), &less, OTHER,
			       ncs_clock_monotonic_ns());
	ask_groups(control, BASE_GROUPS); /* the base detail */
	play_group(guest);
	CHECK_EQUAL(settings_now(guest)->in_force.sample, 12, "the second's");
	CHECK_EQUAL(settings_now(guest)->in_force.groups, BASE_GROUPS,
		    "base detail stays");
	CHECK_EQUAL(settings_now(guest)->lease_pid, OTHER >> 32,
		    "the second's");
	CHECK(!ncs_control_renew_lease(control, ONE, ncs_clock_monotonic_ns()),
	      "the first one finds out");
	ncs_control_drop_lease(control, ONE);
	play_group(guest);
	CHECK_EQUAL(settings_now(guest)->in_force.sample, 12,
		    "the lease is no longer the first viewer's");
	ncs_control_drop_lease(ncs_remote_control(second), OTHER);
	play_group(guest);
	CHECK_EQUAL(settings_now(guest)->in_force.sample, 1, "as at the start");
	CHECK_EQUAL(settings_now(guest)->in_force.groups, BASE_GROUPS,
		    "base detail stays");
	ncs_remote_close(first);
	ncs_remote_close(second);
}

/* --- Many threads ------------------------------------------------------ */

#define THREADS 4
#define CHANGES 300

static bool is_over;

static void *play_groups(void *argument)
{
	struct guest *guest = argument;

	/* At a pace that the reader can follow. */
	while (!__atomic_load_n(&is_over, __ATOMIC_RELAXED)) {
		play_group(guest);
		let_time_pass();
	}
	return NULL;
}

/* Each change has a detail of its own, by which its record is recognised. */
struct chain {
	uint64_t value;
	uint64_t number;
	uint64_t asked;
};

static int compare_asked(const void *left, const void *right)
{
	const struct chain *a = left, *b = right;

	return (a->asked > b->asked) - (a->asked < b->asked);
}

static size_t collect(struct guest *guest, struct chain *chain, size_t count)
{
	struct ncs_record found;

	while (next_record(guest, &found))
		if (found.event == NCS_EVENT_SETTINGS && count < 2 * CHANGES)
			chain[count++] = (struct chain){ found.value,
							 found.number,
							 found.delta[0] };
	return count;
}

/* Each request is handled completely by one thread before the next one: each
 * record's previous detail is the one that the record before set. */
GUEST_SCENARIO(many_threads_handle_each_request_once, LAST_API)
{
	struct chain chain[2 * CHANGES];
	pthread_t threads[THREADS];
	struct ncs_control *control;
	struct ncs_remote *remote;
	uint64_t word = 0, value, serial = 0;
	size_t count = 0;

	remote = remote_of(guest);
	control = ncs_remote_control(remote);
	value = in_force(guest);
	for (unsigned i = 0; i < THREADS; i++)
		CHECK(pthread_create(&threads[i], NULL, play_groups, guest) ==
			      0,
		      "pthread_create");
	for (unsigned i = 0; i < CHANGES; i++) {
		ask_groups(control,
			   i % 2 ? NCS_GROUPS_ALL : 1u << NCS_GROUP_CALLS);
		word = ask_sample(control, (uint8_t)(1 + i % 15));
		do
			count = collect(guest, chain, count);
		while (settings_now(guest)->asked != word);
		CHECK_EQUAL(settings_now(guest)->in_force.sample, 1 + i % 15,
			    "the latest request");
	}
	__atomic_store_n(&is_over, true, __ATOMIC_RELAXED);
	for (unsigned i = 0; i < THREADS; i++)
		pthread_join(threads[i], NULL);
	CHECK_EQUAL(settings_now(guest)->asked, word, "the last one");
	CHECK(host_mask() & NCCL_EVENT_COLL, "all events, at last");
	count = collect(guest, chain, count);
	qsort(chain, count, sizeof(*chain), compare_asked);
	/* Rings may have lost some records; consecutive ones must match. */
	CHECK(count > 0, "no record was seen");
	for (size_t i = 0; i < count; i++) {
		uint64_t former = serial;

		serial = chain[i].asked >> NCS_CONTROL_SERIAL_SHIFT;
		CHECK(serial != former, "dealt with twice");
		if (serial == former + 1)
			CHECK_EQUAL(chain[i].number, value,
				    "mixed with others");
		value = chain[i].value;
	}
	ncs_remote_close(remote);
}

/* --- Processes --------------------------------------------------------- */

SCENARIO(forked_child_has_its_own_control_object)
{
	struct ncs_remote *remote, *own;
	struct guest guest, child;
	pid_t pid;
	int status;

	guest_open(&guest, LAST_API);
	remote = remote_of(&guest);
	ask_sample(ncs_remote_control(remote), 3);
	play_group(&guest);
	pid = scenario_fork();
	if (pid == 0) {
		alarm(100);
		child = guest;
		child.context = init_comm(child.host, "child", 3);
		view_open(&child.view, 1);
		CHECK_EQUAL(count_controls(), 2, "an object of its own");
		CHECK_EQUAL(settings_now(&child)->in_force.sample, 1,
			    "the parent's request does not apply");
		own = remote_of(&child);
		ask_sample(ncs_remote_control(own), 6);
		play_group(&child);
		CHECK_EQUAL(settings_now(&child)->in_force.sample, 6,
			    "the child handles requests");
		ask_sample(ncs_remote_control(remote), 4);
		play_group(&child);
		CHECK_EQUAL(settings_now(&child)->in_force.sample, 6,
			    "its parent's object is none of its own");
		host_finalize(child.host, child.context);
		ncs_remote_close(own);
		exit(EXIT_SUCCESS);
	}
	CHECK(waitpid(pid, &status, 0) == pid && WIFEXITED(status) &&
		      WEXITSTATUS(status) == 0,
	      "the child ended with %#x", status);
	CHECK_EQUAL(count_controls(), 1, "the child took its own along");
	play_group(&guest);
	CHECK_EQUAL(settings_now(&guest)->in_force.sample, 4,
		    "the parent handles requests as before");
	ncs_remote_close(remote);
	guest_close(&guest);
}

GUEST_SCENARIO(removing_the_object_does_no_harm, LAST_API)
{
	struct ncs_remote *remote;
	struct ncs_paths paths;

	remote = remote_of(guest);
	CHECK(ncs_discover_controls(scenario_directory, &paths) == 0 &&
		      paths.count == 1,
	      "there is one");
	CHECK(unlink(paths.path[0]) == 0, "unlink");
	ncs_paths_release(&paths);
	ask_sample(ncs_remote_control(remote), 3);
	play_group(guest);
	CHECK_EQUAL(settings_now(guest)->in_force.sample, 3,
		    "through an open mapping");
	ask_default(ncs_remote_control(remote));
	play_group(guest);
	check_still_follows(guest, "without its object");
	ncs_remote_close(remote);
}

SCENARIO(job_runs_without_a_control_object)
{
	struct ncs_remote *remote;
	struct guest guest;

	/* Room for the segment alone. */
	scenario_mount("size=16m,nr_inodes=2");
	guest_open(&guest, LAST_API);
	CHECK(host_log_has("cannot make a control object"), "a line is logged");
	play_group(&guest);
	CHECK_EQUAL(settings_now(&guest)->in_force.groups, NCS_GROUPS_ALL,
		    "the settings are shown nevertheless");
	CHECK(view_find_remote(&guest.view, &remote, NULL, 0) != NCS_ATTACHED,
	      "there is nothing to ask by");
	check_still_follows(&guest, "without a control object");
	guest_close(&guest);
}
