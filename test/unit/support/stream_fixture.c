/* SPDX-License-Identifier: MIT */
/* A stream of looks for tests; see stream_fixture.h. */
#include <stdlib.h>
#include <string.h>

#include "test/unit/support/stream_fixture.h"

#include "test/unit/support/unit.h"

int stream_fixture_setup(void **state)
{
	struct stream_fixture *fixture = calloc(1, sizeof(*fixture));
	void *recording;

	if (!fixture || recording_fixture_setup(&recording) != 0)
		return -1;
	fixture->recording = recording;
	fixture->recording->settings.is_packed = true;
	fixture->recording->settings.pack_level = 1;
	fixture->recording->settings.is_stream = true;
	fixture->recording->settings.key_every_ns = UINT64_MAX;
	*state = fixture;
	return 0;
}

int stream_fixture_teardown(void **state)
{
	struct stream_fixture *fixture = *state;
	void *recording = fixture->recording;

	for (size_t i = 0; i < fixture->count; i++)
		free(fixture->looks[i].bytes);
	free(fixture->memory.bytes);
	free(fixture->all);
	free(fixture);
	return recording_fixture_teardown(&recording);
}

void stream_fixture_begin(struct stream_fixture *fixture)
{
	struct recording_fixture *recording = fixture->recording;

	fixture->number = fixture->dropped = 0;
	fixture->memory.size = 0;
	assert_int_equal(ncs_recording_writer_open_memory(
				 &recording->writer, &fixture->memory,
				 &recording->settings),
			 0);
	for (unsigned i = 0; i < 2; i++)
		fixture->ranks[i] = recording_fixture_add_rank(
			recording, i == fixture->swaps ? "ncclstat.7.1.0" :
							 "ncclstat.8.1.0");
}

static void end_look(struct stream_fixture *fixture, struct ncs_look *look)
{
	struct stream_look *added = &fixture->looks[fixture->count++];

	assert_true(fixture->count <= STREAM_LOOKS);
	assert_int_equal(
		ncs_recording_writer_look(fixture->recording->writer, look), 0);
	added->bytes = malloc(fixture->memory.size);
	assert_non_null(added->bytes);
	added->size = fixture->memory.size;
	memcpy(added->bytes, fixture->memory.bytes, added->size);
	fixture->memory.size = 0;
}

void stream_fixture_look(struct stream_fixture *fixture, uint64_t after_ns,
			 uint64_t count, bool is_key)
{
	struct recording_fixture *recording = fixture->recording;
	struct ncs_look look = {
		.number = fixture->number++,
		.dropped = fixture->dropped,
		.taken_ns = RECORDING_BEGUN_NS + after_ns,
		.interval_ns = RECORDING_INTERVAL_NS,
		.flags = is_key ? NCS_LOOK_KEY : 0,
		.ranks = 2,
	};

	if (is_key && look.number > 0)
		assert_int_equal(ncs_recording_writer_renew(recording->writer),
				 0);
	recording->segment->header->proxy.count[0] = count;
	for (size_t i = 0; i < 2; i++)
		recording_fixture_state(recording, fixture->ranks[i], after_ns,
					0);
	end_look(fixture, &look);
}

void stream_fixture_end(struct stream_fixture *fixture)
{
	assert_int_equal(ncs_recording_writer_close(fixture->recording->writer,
						    NULL),
			 0);
}

const char *stream_fixture_all(struct stream_fixture *fixture, size_t *size)
{
	*size = 0;
	for (size_t i = 0; i < fixture->count; i++)
		*size += fixture->looks[i].size;
	free(fixture->all);
	fixture->all = malloc(*size + 1);
	assert_non_null(fixture->all);
	*size = 0;
	for (size_t i = 0; i < fixture->count; i++) {
		memcpy(fixture->all + *size, fixture->looks[i].bytes,
		       fixture->looks[i].size);
		*size += fixture->looks[i].size;
	}
	return fixture->all;
}
