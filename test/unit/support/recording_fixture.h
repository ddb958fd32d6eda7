/* SPDX-License-Identifier: MIT */
/* A small recording of a small segment, written by record/write/recording_writer.h, for tests of
 * what reads recordings. Times are what the test says: ticks are ns. */
#ifndef NCS_TEST_UNIT_SUPPORT_RECORDING_FIXTURE_H
#define NCS_TEST_UNIT_SUPPORT_RECORDING_FIXTURE_H

#include "record/write/recording_writer.h"
#include "test/unit/support/segment_fixture.h"

/* When recordings begin, CLOCK_MONOTONIC and CLOCK_REALTIME ns. */
#define RECORDING_BEGUN_NS UINT64_C(1000000000000)
#define RECORDING_REALTIME_NS UINT64_C(1700000000000000000)
#define RECORDING_INTERVAL_NS UINT64_C(1000000000)

struct recording_fixture {
	struct segment_fixture *segment;
	struct ncs_reader *reader;
	struct ncs_recording_settings settings;
	struct ncs_recording_writer *writer;
	char path[300]; /* of the latest file */
	char why[300];
};

/* cmocka's setup and teardown: *state is a struct recording_fixture whose
 * segment has something of everything in it. */
int recording_fixture_setup(void **state);
int recording_fixture_teardown(void **state);

/* Begins a file of this name in the segment's directory. */
void recording_fixture_begin(struct recording_fixture *fixture,
			     const char *name);
/* Ends it; fixture->path is whole. */
void recording_fixture_end(struct recording_fixture *fixture);

/* The segment as a rank; a path of its own makes it another. */
size_t recording_fixture_add_rank(struct recording_fixture *fixture,
				  const char *path);

/* Records the segment as it is, `after_ns` after the beginning. */
void recording_fixture_state(struct recording_fixture *fixture, size_t rank,
			     uint64_t after_ns, unsigned flags);

/* `count` records of a lane, from position `first` on. Record i has the value i
 * and ends (i + 1) × 10 ms after the beginning. Drained `after_ns` after it. */
void recording_fixture_records(struct recording_fixture *fixture, size_t rank,
			       unsigned lane, uint64_t first, size_t count,
			       uint64_t lost, uint64_t after_ns);

/* Reads a file into memory; to be freed. */
char *recording_fixture_read(const char *path, size_t *bytes);

#endif
