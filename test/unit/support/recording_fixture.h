/* SPDX-License-Identifier: MIT */
/* A small recording of a small segment, written by
 * record/write/recording_writer.h, for tests of readers. The test sets all
 * times: ticks are ns.
 */
#ifndef NCS_TEST_UNIT_SUPPORT_RECORDING_FIXTURE_H
#define NCS_TEST_UNIT_SUPPORT_RECORDING_FIXTURE_H

#include "record/write/recording_writer.h"
#include "test/unit/support/segment_fixture.h"

/* The beginning of recordings, in CLOCK_MONOTONIC and CLOCK_REALTIME ns. */
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
 * segment has something in every table. */
int recording_fixture_setup(void **state);
int recording_fixture_teardown(void **state);

/* Begins a recording in a file of this name in the segment's directory. */
void recording_fixture_begin(struct recording_fixture *fixture,
			     const char *name);

/* Ends the recording; the file at fixture->path is then complete. */
void recording_fixture_end(struct recording_fixture *fixture);

/* Adds the segment as a rank; with another path it is another rank. Returns its
 * number. */
size_t recording_fixture_add_rank(struct recording_fixture *fixture,
				  const char *path);

/* Records the segment's state as of `after_ns` after the beginning. */
void recording_fixture_state(struct recording_fixture *fixture, size_t rank,
			     uint64_t after_ns, unsigned flags);

/* Records `count` records of a lane, from position `first` on. Record i has the
 * value i and ends (i + 1) × 10 ms after the beginning. They are drained
 * `after_ns` after it. */
void recording_fixture_records(struct recording_fixture *fixture, size_t rank,
			       unsigned lane, uint64_t first, size_t count,
			       uint64_t lost, uint64_t after_ns);

/* Reads a file into memory, which the caller frees. */
char *recording_fixture_read(const char *path, size_t *bytes);

#endif
