/* SPDX-License-Identifier: MIT */
/* A stream of looks at two ranks, as an agent writes it, each look for itself.
 * The test sets all times, as in recording_fixture.h. */
#ifndef NCS_TEST_UNIT_SUPPORT_STREAM_FIXTURE_H
#define NCS_TEST_UNIT_SUPPORT_STREAM_FIXTURE_H

#include "test/unit/support/recording_fixture.h"

#define STREAM_LOOKS 16

struct stream_look {
	char *bytes;
	size_t size;
};

struct stream_fixture {
	struct recording_fixture *recording;
	struct ncs_sink_memory memory;
	size_t ranks[2];
	bool swaps; /* streams that are begun name the second rank first */
	uint64_t number; /* of the next look */
	uint64_t dropped;
	struct stream_look looks[STREAM_LOOKS];
	size_t count;
	char *all; /* of stream_fixture_all() */
};

/* cmocka's setup and teardown: *state is a struct stream_fixture without
 * looks. */
int stream_fixture_setup(void **state);
int stream_fixture_teardown(void **state);

/* Begins a stream with the settings of `recording`; the looks of one before
 * stay. */
void stream_fixture_begin(struct stream_fixture *fixture);

/* Takes a look, `after_ns` after the beginning; the segment's proxy count 0 is
 * then `count`. With `is_key` it can be read by itself. */
void stream_fixture_look(struct stream_fixture *fixture, uint64_t after_ns,
			 uint64_t count, bool is_key);

/* Ends the stream. */
void stream_fixture_end(struct stream_fixture *fixture);

/* Returns the bytes of all looks, and sets *size. They are the fixture's until
 * the next call. */
const char *stream_fixture_all(struct stream_fixture *fixture, size_t *size);

#endif
