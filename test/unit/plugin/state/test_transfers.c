/* SPDX-License-Identifier: MIT */
/* Numbers of transfers: each connection counts for itself from 0, whatever
 * others do, and one without a place never gets a number. */
#include <pthread.h>
#include <stdlib.h>

#include "test/unit/support/unit.h"

/* Included as text: the plugin's objects are for a shared library. */
#include "plugin/state/transfers.c"

static struct ncs_transfer_place places[NCS_TRANSFER_PLACES];
static struct ncs_comm comm;

static void begin(int32_t nranks)
{
	comm.transfers = places;
	ncs_transfers_reset(&comm, nranks);
}

static uint64_t count(int32_t peer, bool send)
{
	return ncs_transfers_count(&comm, peer, send, false);
}

TEST(each_connection_counts_from_zero)
{
	begin(64);
	for (uint64_t i = 0; i < 5; i++)
		for (int32_t peer = 0; peer < 64; peer++) {
			assert_int_equal(count(peer, true), 2 * i);
			assert_int_equal(count(peer, true), 2 * i + 1);
			assert_int_equal(count(peer, false), i);
		}
}

TEST(captured_transfers_do_not_move_others)
{
	begin(2);
	assert_int_equal(count(1, true), 0);
	assert_int_equal(ncs_transfers_count(&comm, 1, true, true), 0);
	assert_int_equal(ncs_transfers_count(&comm, 1, true, true), 1);
	assert_int_equal(count(1, true), 1);
}

TEST(next_communicator_begins_again)
{
	begin(1000);
	for (int32_t peer = 0; peer < 1000; peer++)
		assert_int_equal(count(peer, true), 0);
	ncs_transfers_missed(&comm);
	assert_false(ncs_transfers_are_all(&comm));
	begin(2);
	assert_true(ncs_transfers_are_all(&comm));
	begin(1000);
	for (int32_t peer = 0; peer < 1000; peer++)
		assert_int_equal(count(peer, true), 0);
}

TEST(connection_beyond_the_table_never_gets_a_number)
{
	static uint64_t counts[4 * NCS_TRANSFER_PLACES];
	unsigned without = 0;

	begin(-1);
	for (unsigned i = 0; i < 4; i++)
		for (int32_t peer = 0; peer < 4 * (int)NCS_TRANSFER_PLACES;
		     peer++) {
			uint64_t number = count(peer, false);

			if (i == 0)
				counts[peer] = number;
			if (counts[peer] == NCS_NO_SEQUENCE_NUMBER)
				assert_true(number == NCS_NO_SEQUENCE_NUMBER);
			else
				assert_int_equal(number, i);
		}
	for (unsigned i = 0; i < 4 * NCS_TRANSFER_PLACES; i++)
		without += counts[i] == NCS_NO_SEQUENCE_NUMBER;
	assert_in_range(without, 3 * NCS_TRANSFER_PLACES,
			4 * NCS_TRANSFER_PLACES - 1);
}

TEST(all_ranks_of_a_communicator_have_a_place)
{
	for (int32_t nranks = 1; nranks <= 2048; nranks *= 2) {
		begin(nranks);
		for (int32_t peer = 0; peer < nranks; peer++) {
			assert_int_equal(count(peer, true), 0);
			assert_int_equal(count(peer, false), 0);
		}
	}
}

#define THREADS 4
#define EACH 20000u
#define PEERS 8

static bool was_given[PEERS][THREADS * EACH];

static void *count_many(void *argument)
{
	(void)argument;
	for (unsigned i = 0; i < PEERS * EACH; i++) {
		uint64_t number = count((int32_t)(i % PEERS), true);

		if (number >= THREADS * EACH ||
		    __atomic_exchange_n(&was_given[i % PEERS][number], true,
					__ATOMIC_RELAXED))
			abort();
	}
	return NULL;
}

TEST(no_number_is_given_twice_to_threads)
{
	pthread_t threads[THREADS];

	begin(PEERS);
	for (unsigned i = 0; i < THREADS; i++)
		assert_int_equal(pthread_create(&threads[i], NULL, count_many,
						NULL),
				 0);
	for (unsigned i = 0; i < THREADS; i++)
		pthread_join(threads[i], NULL);
	for (int32_t peer = 0; peer < PEERS; peer++)
		assert_int_equal(count(peer, true), THREADS * EACH);
}
