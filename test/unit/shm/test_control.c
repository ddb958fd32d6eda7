/* SPDX-License-Identifier: MIT */
/* Requests, details and leases: they survive packing, invalid words are
 * recognised, and concurrent requests are neither lost nor mixed. */
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "shm/atomics.h"
#include "shm/control.h"
#include "test/unit/support/unit.h"

#define SECOND UINT64_C(1000000000)
#define NOW (1000 * SECOND)
#define ONE UINT64_C(0x100000001)
#define OTHER UINT64_C(0x200000001)

static const struct ncs_detail more = {
	.has_groups = 1,
	.groups = NCS_GROUPS_ALL,
	.kernel = NCS_KERNEL_DETAIL_EVERY + 4,
	.sample = 1,
	.timing = NCS_TIMING_DETAIL_EVERY,
};

static struct ncs_control_request request_of(uint64_t word)
{
	struct ncs_control_request request;

	assert_true(ncs_request_unpack(word, &request));
	return request;
}

static struct ncs_change kernel_change(uint8_t kernel)
{
	return (struct ncs_change){ .kernel = true, .to.kernel = kernel };
}

/* --- Details and words ------------------------------------------------- */

TEST(every_detail_survives_being_packed)
{
	unsigned good = 0;

	for (uint64_t bits = 0; bits < UINT64_C(1) << NCS_DETAIL_BITS; bits++) {
		struct ncs_detail detail;

		if (!ncs_detail_unpack(bits, &detail)) {
			assert_int_equal(ncs_detail_pack(&detail), 0);
			continue;
		}
		assert_int_equal(ncs_detail_pack(&detail), bits);
		assert_true(detail.kernel <=
			    NCS_KERNEL_DETAIL_EVERY +
				    NCS_KERNEL_DETAIL_LOG2_MAX);
		assert_true(detail.sample <= 1 + NCS_LEVEL_MAX);
		assert_true(detail.timing <=
			    NCS_TIMING_DETAIL_EVERY +
				    NCS_TIMING_DETAIL_LOG2_MAX);
		good++;
	}
	/* Groups: not set, or calls together with any of control, launches and
	 * copies, with or without operations, and with none to three groups of
	 * the proxy's chain. */
	assert_int_equal(good, (1 + 16 * 4) *
				       (NCS_KERNEL_DETAIL_EVERY +
					NCS_KERNEL_DETAIL_LOG2_MAX + 1) *
				       (NCS_LEVEL_MAX + 2) *
				       (NCS_TIMING_DETAIL_EVERY +
					NCS_TIMING_DETAIL_LOG2_MAX + 1));
}

TEST(random_words_are_hardly_ever_valid)
{
	struct ncs_control_request request;

	srandom(1);
	for (unsigned i = 0; i < 200000; i++) {
		uint64_t word = (uint64_t)random() << 33 ^
				(uint64_t)random() << 11 ^ (uint64_t)random();

		if (i < 64)
			word = UINT64_C(1) << i;
		if (ncs_request_unpack(word, &request))
			assert_true(ncs_request_pack(&request) == word);
		else
			assert_true(
				ncs_request_pack(&request) ==
				word >> NCS_CONTROL_SERIAL_SHIFT
						<< NCS_CONTROL_SERIAL_SHIFT);
		assert_true(request.leased ||
			    ncs_detail_pack(&request.lease) == 0);
	}
}

TEST(group_without_its_prerequisite_is_dropped)
{
	const uint8_t calls = 1u << NCS_GROUP_CALLS,
		      proxy = 1u << NCS_GROUP_PROXY,
		      steps = 1u << NCS_GROUP_STEPS,
		      network = 1u << NCS_GROUP_NETWORK;

	assert_int_equal(ncs_groups_sane(0), calls);
	assert_int_equal(ncs_groups_sane(network), calls);
	assert_int_equal(ncs_groups_sane(steps | network), calls);
	assert_int_equal(ncs_groups_sane(proxy | network), calls | proxy);
	assert_int_equal(ncs_groups_sane(NCS_GROUPS_ALL), NCS_GROUPS_ALL);
}

/* Otherwise some event could never be turned off, or would be in two groups. */
TEST(every_event_except_kernels_is_in_one_group)
{
	const uint32_t kernel = 1u << NCS_EVENT_KERNEL_CH |
				1u << NCS_EVENT_KERNEL_PHASE;
	uint32_t seen = 0;

	for (unsigned i = 0; i < NCS_GROUP_COUNT; i++) {
		uint32_t events = ncs_groups_events((uint8_t)(1u << i));

		assert_true(events != 0);
		assert_int_equal(events & seen, 0);
		seen |= events;
	}
	assert_int_equal(seen, ((1u << NCS_EVENT_COUNT) - 1) & ~kernel);
}

TEST(unset_fields_come_from_the_lower_detail)
{
	const struct ncs_detail lower = { 1, 0x81, NCS_KERNEL_DETAIL_OFF, 5,
					  NCS_TIMING_DETAIL_AUTO },
				nothing = { 0 },
				kernel = { .kernel = NCS_KERNEL_DETAIL_ALWAYS };
	struct ncs_detail over = ncs_detail_over(&nothing, &lower);

	assert_memory_equal(&over, &lower, sizeof(over));
	over = ncs_detail_over(&kernel, &lower);
	assert_int_equal(over.kernel, NCS_KERNEL_DETAIL_ALWAYS);
	assert_int_equal(over.groups, 0x81);
	assert_int_equal(over.sample, 5);
	assert_int_equal(over.timing, NCS_TIMING_DETAIL_AUTO);
	over = ncs_detail_over(&more, &lower);
	assert_memory_equal(&over, &more, sizeof(over));
}

TEST(serial_numbers_wrap_around)
{
	const uint64_t last = UINT64_C(0x7fff) << NCS_CONTROL_SERIAL_SHIFT,
		       first = UINT64_C(1) << NCS_CONTROL_SERIAL_SHIFT;
	struct ncs_control control = { .request = last };
	struct ncs_change change = kernel_change(NCS_KERNEL_DETAIL_OFF);
	uint64_t word = ncs_control_change(&control, &change);

	/* 0 means that there is no request. */
	assert_true(word >> NCS_CONTROL_SERIAL_SHIFT == 1);
	assert_true(ncs_request_is_since(word, last));
	assert_false(ncs_request_is_since(last, word));
	assert_true(ncs_request_is_since(first, first));
	assert_true(ncs_request_is_since(2 * first, first));
	assert_false(ncs_request_is_since(first, 2 * first));
}

/* --- Changes ----------------------------------------------------------- */

TEST(change_leaves_other_fields_alone)
{
	struct ncs_control control = { 0 };
	struct ncs_change change = kernel_change(NCS_KERNEL_DETAIL_ALWAYS);
	struct ncs_control_request request;

	ncs_control_change(&control, &change);
	change = (struct ncs_change){ .sample = true, .to.sample = 4 };
	ncs_control_change(&control, &change);
	request = request_of(control.request);
	assert_int_equal(request.base.kernel, NCS_KERNEL_DETAIL_ALWAYS);
	assert_int_equal(request.base.sample, 4);
	assert_int_equal(request.base.has_groups, 0);
	assert_int_equal(request.serial, 2);
	change = (struct ncs_change){ .timing = true,
				      .to.timing = NCS_TIMING_DETAIL_OFF };
	ncs_control_change(&control, &change);
	change = kernel_change(NCS_KERNEL_DETAIL_DEFAULT);
	ncs_control_change(&control, &change);
	request = request_of(control.request);
	assert_int_equal(request.base.timing, NCS_TIMING_DETAIL_OFF);
	assert_int_equal(request.base.kernel, NCS_KERNEL_DETAIL_DEFAULT);
	assert_int_equal(request.base.sample, 4);
}

TEST(invalid_request_is_replaced_by_the_next_one)
{
	struct ncs_control control = { .request = UINT64_MAX };
	struct ncs_change change = kernel_change(NCS_KERNEL_DETAIL_OFF);
	struct ncs_control_request request;

	ncs_control_change(&control, &change);
	request = request_of(control.request);
	assert_int_equal(request.base.kernel, NCS_KERNEL_DETAIL_OFF);
	assert_int_equal(request.base.sample, 0);
	assert_false(request.leased);
}

#define CHANGES 10000u

static struct ncs_control shared;

static void *change_again_and_again(void *argument)
{
	unsigned which = *(unsigned *)argument;

	for (unsigned i = 1; i <= CHANGES; i++) {
		struct ncs_change change = { 0 };

		if (which == 0) {
			change.kernel = true;
			change.to.kernel = (uint8_t)(i % 8);
			ncs_control_change(&shared, &change);
		} else if (which == 1) {
			change.sample = true;
			change.to.sample = (uint8_t)(i % 8);
			ncs_control_change(&shared, &change);
		} else if (i % 2) {
			ncs_control_take_lease(&shared, &more, which, NOW);
		} else {
			ncs_control_drop_lease(&shared, which);
		}
	}
	return NULL;
}

TEST(concurrent_requests_are_all_kept)
{
	static unsigned numbers[] = { 0, 1, 2 };
	struct ncs_control_request request;
	pthread_t threads[3];

	memset(&shared, 0, sizeof(shared));
	for (unsigned i = 0; i < 3; i++)
		assert_int_equal(pthread_create(&threads[i], NULL,
						change_again_and_again,
						&numbers[i]),
				 0);
	for (unsigned i = 0; i < 3; i++)
		pthread_join(threads[i], NULL);
	/* The latest change of each thread is in force, and each change had a
	 * serial number. */
	request = request_of(shared.request);
	assert_int_equal(request.base.kernel, CHANGES % 8);
	assert_int_equal(request.base.sample, CHANGES % 8);
	assert_false(request.leased);
	assert_int_equal(request.serial, 3 * CHANGES);
}

/* --- Leases ------------------------------------------------------------ */

TEST(lease_lasts_as_long_as_it_is_renewed)
{
	struct ncs_control control = { 0 };
	uint64_t now = NOW;

	ncs_control_take_lease(&control, &more, ONE, now);
	assert_true(request_of(control.request).leased);
	assert_false(ncs_lease_is_over(control.lease_until_ns, now));
	for (unsigned i = 0; i < 100; i++) {
		now += NCS_LEASE_NS - 1;
		assert_false(ncs_lease_is_over(control.lease_until_ns, now));
		assert_true(ncs_control_renew_lease(&control, ONE, now));
	}
	now += NCS_LEASE_NS;
	assert_true(ncs_lease_is_over(control.lease_until_ns, now));
	/* A viewer that was stopped and continues must not bring its lease
	 * back. */
	assert_false(ncs_control_renew_lease(&control, ONE, now));
	assert_true(ncs_lease_is_over(control.lease_until_ns, now));
}

TEST(no_lease_lasts_for_ever)
{
	assert_true(ncs_lease_is_over(0, NOW));
	assert_true(ncs_lease_is_over(NOW, NOW));
	assert_false(ncs_lease_is_over(NOW + 1, NOW));
	assert_false(ncs_lease_is_over(NOW + NCS_LEASE_MAX_NS, NOW));
	assert_true(ncs_lease_is_over(NOW + NCS_LEASE_MAX_NS + 1, NOW));
	assert_true(ncs_lease_is_over(UINT64_MAX, NOW));
}

TEST(lease_does_not_change_the_base_detail)
{
	struct ncs_control control = { 0 };
	struct ncs_change change = kernel_change(NCS_KERNEL_DETAIL_OFF);
	struct ncs_control_request request;

	ncs_control_take_lease(&control, &more, ONE, NOW);
	ncs_control_change(&control, &change);
	request = request_of(control.request);
	assert_true(request.leased);
	assert_int_equal(request.lease.kernel, more.kernel);
	assert_int_equal(request.base.kernel, NCS_KERNEL_DETAIL_OFF);
	assert_true(ncs_control_renew_lease(&control, ONE, NOW + 1));
	ncs_control_drop_lease(&control, ONE);
	request = request_of(control.request);
	assert_false(request.leased);
	assert_int_equal(request.base.kernel, NCS_KERNEL_DETAIL_OFF);
}

TEST(last_process_to_take_the_lease_holds_it)
{
	struct ncs_control control = { 0 };

	ncs_control_take_lease(&control, &more, ONE, NOW);
	ncs_control_take_lease(&control, &more, OTHER, NOW);
	assert_false(ncs_control_renew_lease(&control, ONE, NOW + 1));
	assert_true(ncs_control_renew_lease(&control, OTHER, NOW + 1));
	ncs_control_drop_lease(&control, ONE); /* its holder does not have it */
	assert_true(request_of(control.request).leased);
	ncs_control_drop_lease(&control, OTHER);
	assert_false(request_of(control.request).leased);
	assert_false(ncs_control_renew_lease(&control, OTHER, NOW + 1));
}

/* Between writing the holder and the request, another viewer may do both. */
TEST(lease_taken_by_two_at_once_ends_if_not_renewed)
{
	struct ncs_control control = { 0 };

	ncs_control_take_lease(&control, &more, ONE, NOW);
	control.lease_holder = OTHER; /* and then OTHER died */
	assert_false(ncs_control_renew_lease(&control, ONE, NOW + SECOND));
	assert_true(
		ncs_lease_is_over(control.lease_until_ns, NOW + NCS_LEASE_NS));
}

TEST(ending_a_lease_does_not_end_a_later_one)
{
	struct ncs_control control = { 0 };
	uint64_t first = ncs_control_take_lease(&control, &more, ONE, NOW);
	uint64_t second = ncs_control_take_lease(&control, &more, OTHER, NOW);
	uint64_t ended;

	assert_true(ncs_control_end_lease(&control, first) == first);
	assert_true(control.request == second);
	ended = ncs_control_end_lease(&control, second);
	assert_true(ended == control.request);
	assert_false(request_of(ended).leased);
	assert_true(ncs_request_is_since(ended, second));
}
