/* SPDX-License-Identifier: MIT */
/* The test of a hostile segment: write it to a file, open it, call every
 * function of the reader, change and truncate the file under the reader, and
 * close it. Shared by the fuzzer and by the deterministic test of the unit
 * tests. It aborts if a promise of ncclstat/reader.h is broken; sanitizers find
 * the rest. */
#ifndef NCS_TEST_FUZZ_SEGMENT_INPUT_H
#define NCS_TEST_FUZZ_SEGMENT_INPUT_H

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "ncclstat/abi.h"
#include "ncclstat/reader.h"

struct segment_input {
	int file;
	char path[64];
};

#define SEGMENT_INPUT_NOW UINT64_C(1000000000000)

/* Not assert(), which depends on NDEBUG. */
#define SEGMENT_INPUT_MUST(condition) \
	do { \
		if (!(condition)) { \
			fprintf(stderr, "%s:%d: broken: %s\n", __FILE__, \
				__LINE__, #condition); \
			abort(); \
		} \
	} while (0)

static inline void segment_input_open(struct segment_input *input)
{
	snprintf(input->path, sizeof(input->path), "%s/test-ncclstat.XXXXXX",
		 access("/dev/shm", W_OK) == 0 ? "/dev/shm" : "/tmp");
	input->file = mkstemp(input->path);
	SEGMENT_INPUT_MUST(input->file >= 0);
}

static inline void segment_input_close(struct segment_input *input)
{
	close(input->file);
	unlink(input->path);
}

static inline void segment_input_check(const struct ncs_snapshot *snapshot,
				       const struct ncs_header *header)
{
	const struct ncs_identity *identity = &snapshot->identity;

	SEGMENT_INPUT_MUST(
		memchr(identity->comm_name, 0, sizeof(identity->comm_name)));
	SEGMENT_INPUT_MUST(memchr(identity->gpu, 0, sizeof(identity->gpu)));
	SEGMENT_INPUT_MUST(memchr(header->host, 0, sizeof(header->host)));
	SEGMENT_INPUT_MUST(memchr(header->boot_id, 0, sizeof(header->boot_id)));
	SEGMENT_INPUT_MUST(snapshot->proxy.state < NCS_PROXY_STATE_COUNT);
	SEGMENT_INPUT_MUST(snapshot->liveness <= NCS_DEAD);
	SEGMENT_INPUT_MUST(snapshot->lane_count == header->lanes.count);
	SEGMENT_INPUT_MUST(snapshot->channel_count <= header->channels.count);
	SEGMENT_INPUT_MUST(snapshot->operation_count <=
			   header->operations.count);
	for (size_t i = 0; i < snapshot->channel_count; i++) {
		const struct ncs_channel_view *view = &snapshot->channels[i];

		SEGMENT_INPUT_MUST(view->state < NCS_CHANNEL_STATE_COUNT);
		SEGMENT_INPUT_MUST(view->function < NCS_FUNCTION_COUNT);
		SEGMENT_INPUT_MUST(i == 0 || view[-1].channel <= view->channel);
	}
	for (size_t i = 0; i < snapshot->operation_count; i++) {
		const struct ncs_operation_view *view =
			&snapshot->operations[i];

		SEGMENT_INPUT_MUST(view->number != 0);
		SEGMENT_INPUT_MUST(view->function < NCS_FUNCTION_COUNT);
		SEGMENT_INPUT_MUST(i == 0 || view[-1].number <= view->number);
	}
}

static inline void segment_input_look(struct ncs_reader *reader,
				      struct ncs_snapshot *snapshot)
{
	const struct ncs_header *header = ncs_reader_header(reader);
	struct ncs_record records[33];

	ncs_snapshot_take(snapshot, reader, SEGMENT_INPUT_NOW);
	segment_input_check(snapshot, header);
	for (size_t lane = 0; lane < header->lanes.count; lane++) {
		uint64_t lost = 0;
		size_t count;

		for (unsigned i = 0; i < 3; i++) {
			count = ncs_reader_records(reader, lane, records,
						   i == 0 ? 1 : 33, &lost);
			SEGMENT_INPUT_MUST(count <= (i == 0 ? 1 : 33));
			SEGMENT_INPUT_MUST(count <
					   ncs_reader_capacity(reader, lane));
		}
	}
}

/* Returns the result of attaching. */
static inline enum ncs_attach
segment_input_run(struct segment_input *input, const uint8_t *data, size_t size)
{
	struct ncs_snapshot snapshot;
	struct ncs_reader *reader;
	enum ncs_attach result;
	uint8_t other[4096];
	char why[64] = "";

	ncs_reader_guard();
	SEGMENT_INPUT_MUST(ftruncate(input->file, 0) == 0);
	SEGMENT_INPUT_MUST(pwrite(input->file, data, size, 0) == (ssize_t)size);
	result = ncs_reader_open(input->path, &reader, why, sizeof(why));
	SEGMENT_INPUT_MUST(memchr(why, 0, sizeof(why)));
	if (result != NCS_ATTACHED) {
		SEGMENT_INPUT_MUST(reader == NULL && why[0] != '\0');
		return result;
	}
	SEGMENT_INPUT_MUST(ncs_reader_is_valid(reader));
	SEGMENT_INPUT_MUST(ncs_snapshot_init(&snapshot, reader) == 0);
	segment_input_look(reader, &snapshot);
	/* Inverts every bit of the header; the validated copy must be used. */
	for (size_t i = 0; i < sizeof(other); i++)
		other[i] = (uint8_t)~data[i % size];
	SEGMENT_INPUT_MUST(pwrite(input->file, other, sizeof(other), 0) ==
			   (ssize_t)sizeof(other));
	segment_input_look(reader, &snapshot);
	SEGMENT_INPUT_MUST(ftruncate(input->file, (off_t)(size / 2)) == 0);
	segment_input_look(reader, &snapshot);
	SEGMENT_INPUT_MUST(!ncs_reader_is_valid(reader));
	ncs_snapshot_release(&snapshot);
	ncs_reader_close(reader);
	return result;
}

#endif
