/* SPDX-License-Identifier: MIT */
/* The ring under load: no torn record is ever accepted, and no record is lost
 * without being counted.
 *
 * A writer at full speed and three readers, as threads and as processes, over
 * rings of 8 to 65536 records, also with the writer stalled inside every 16th
 * record and readers inside some copies, as if preempted there. Under
 * ThreadSanitizer (which sees one process only) with threads and fewer records;
 * there, a data race is also a failure.
 *
 * x86 hides some errors of memory order; test/model/ring_model.py finds those.
 * test_ring_weakened.c shows that the hunt finds errors at all.
 */
#include "test/stress/hunt.h"
#include "test/unit/support/unit.h"

#ifdef NCS_TSAN
#define RECORDS 400000
#define STALLED_RECORDS 100000
#define RECORDS_AT_LEAST 2000000
#else
#define RECORDS 20000000
#define STALLED_RECORDS 2000000
#define RECORDS_AT_LEAST 100000000
#endif

static uint64_t produced, accepted, rejected;

static void ring_delivers_no_torn_or_uncounted_record(void **state)
{
	const struct hunt_setup *setup = *state;
	struct hunt_findings findings[HUNT_READERS];

	assert_true(hunt_records(setup, findings));
	produced += setup->records;
	for (unsigned i = 0; i < HUNT_READERS; i++) {
		if (findings[i].bad != 0)
			print_message(
				"first bad record: %llu\n",
				(unsigned long long)findings[i].first_bad);
		assert_int_equal(findings[i].bad, 0);
		assert_int_equal(findings[i].accepted + findings[i].lost,
				 setup->records);
		assert_true(findings[i].accepted > 0);
		accepted += findings[i].accepted;
		rejected += findings[i].rejected;
	}
}

/* Runs last. A hunt in which no reader was ever overtaken proves nothing. */
static void readers_were_overtaken_often_enough(void **state)
{
	(void)state;
	print_message("%llu records produced, %llu accepted, %llu rejected"
		      " after the copy\n",
		      (unsigned long long)produced,
		      (unsigned long long)accepted,
		      (unsigned long long)rejected);
	assert_true(produced >= RECORDS_AT_LEAST);
	assert_true(rejected > 1000);
}

#define HUNT(title, slots, count, every, at_once, forked) \
	{ \
		"no torn record, no uncounted loss: " title, \
			ring_delivers_no_torn_or_uncounted_record, NULL, NULL, \
			&(struct hunt_setup) \
		{ \
			.ring = (every) > 0 ? &hunt_stalled_ring : \
					      &hunt_real_ring, \
			.capacity = (slots), .records = (count), \
			.stall = (every), .batch = (at_once), \
			.processes = (forked) \
		} \
	}

#define HUNTS(who, forked) \
	HUNT(who ", 8 slots", 8, RECORDS, 0, 1, forked), \
		HUNT(who ", 8 slots, stalls", 8, STALLED_RECORDS, 16, 8, \
		     forked), \
		HUNT(who ", 64 slots", 64, RECORDS, 0, 7, forked), \
		HUNT(who ", 64 slots, stalls", 64, STALLED_RECORDS, 16, 1, \
		     forked), \
		HUNT(who ", 1024 slots", 1024, RECORDS, 0, HUNT_BATCH, \
		     forked), \
		HUNT(who ", 1024 slots, stalls", 1024, STALLED_RECORDS, 16, \
		     64, forked), \
		HUNT(who ", 65536 slots", 65536, RECORDS, 0, 64, forked), \
		HUNT(who ", 65536 slots, stalls", 65536, STALLED_RECORDS, 16, \
		     HUNT_BATCH, forked)

int main(void)
{
	const struct CMUnitTest tests[] = {
		HUNTS("threads", false),
#ifndef NCS_TSAN
		HUNTS("processes", true),
#endif
		cmocka_unit_test(readers_were_overtaken_often_enough),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
