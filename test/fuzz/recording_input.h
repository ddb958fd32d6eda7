/* SPDX-License-Identifier: MIT */
/* The test of a hostile recording: open it, look at it at many times, read all
 * of it. Shared by the fuzzer and by the deterministic test of the unit tests.
 * It aborts if a promise of record/read/recording.h is broken; sanitizers find
 * the rest. */
#ifndef NCS_TEST_FUZZ_RECORDING_INPUT_H
#define NCS_TEST_FUZZ_RECORDING_INPUT_H

#include <dirent.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "analysis/model/model.h"
#include "record/read/align.h"
#include "record/format/chunk.h"
#include "record/read/recorded_operations.h"
#include "record/export/export.h"
#include "record/read/recording.h"
#include "record/read/source_recording.h"
#include "test/fuzz/segment_input.h"

/* Corrects the checksums of chunks in damaged files: otherwise no code behind
 * the checksums would ever be tested. Each byte of `choice` decides for one
 * chunk. */
static inline void recording_input_seal(uint8_t *data, size_t size,
					uint32_t choice)
{
	struct ncs_chunk chunk;

	for (size_t at = 0; at + sizeof(chunk) <= size;
	     at += NCS_CHUNK_ALIGNMENT) {
		memcpy(&chunk, data + at, sizeof(chunk));
		if (chunk.magic != NCS_CHUNK_MAGIC)
			continue;
		choice = choice * UINT32_C(1664525) + UINT32_C(1013904223);
		if (choice >> 29 == 0) /* one in eight stays damaged */
			continue;
		if (chunk.bytes > size - at - sizeof(chunk)) {
			/* A chunk that exceeds the file is cut to it. */
			bool packed = ncs_chunk_is_packed(&chunk);

			chunk.bytes = size - at - sizeof(chunk);
			if (!packed)
				chunk.unpacked_bytes = chunk.bytes;
		}
		ncs_chunk_seal(&chunk, data + at + sizeof(chunk));
		memcpy(data + at, &chunk, sizeof(chunk));
	}
}

static inline void recording_input_states(struct ncs_recording *recording,
					  size_t rank, uint64_t at_ns)
{
	struct ncs_snapshot snapshot;
	struct ncs_reader *reader = NULL;
	uint64_t taken_ns = 0;
	int status = ncs_recording_state(recording, rank, at_ns, &reader,
					 &taken_ns);

	if (status != NCS_RECORDED_YES)
		return;
	SEGMENT_INPUT_MUST(reader != NULL && taken_ns <= at_ns);
	SEGMENT_INPUT_MUST(ncs_snapshot_init(&snapshot, reader) == 0);
	ncs_snapshot_take(&snapshot, reader, at_ns);
	segment_input_check(&snapshot, ncs_reader_header(reader));
	ncs_snapshot_release(&snapshot);
}

/* Reads each byte of the records of all batches. */
static inline uint64_t recording_input_pass(struct ncs_recording *recording,
					    uint64_t from_ns, uint64_t until_ns)
{
	struct ncs_recording_pass *pass =
		ncs_recording_pass_open(recording, from_ns, until_ns);
	uint64_t count = 0, sum = 0;
	struct ncs_batch batch;

	SEGMENT_INPUT_MUST(pass != NULL);
	while (ncs_recording_pass_next(pass, &batch) > 0) {
		SEGMENT_INPUT_MUST(batch.rank <
				   ncs_recording_rank_count(recording));
		for (size_t i = 0; i < batch.count; i++)
			sum += batch.records[i].start ^ batch.records[i].value;
		count += batch.count;
	}
	ncs_recording_pass_close(pass);
	/* The sum is used, so that it is computed. */
	return sum == UINT64_MAX ? count + 1 : count;
}

/* Moves in time as the views do: forwards and backwards. */
static inline void recording_input_look(struct ncs_recording *recording,
					uint64_t from_ns, uint64_t until_ns)
{
	uint64_t step_ns = (until_ns - from_ns) / 3;
	struct ncs_source *source = ncs_source_open_recording(recording, 0);
	const uint64_t moments[] = { from_ns, from_ns + step_ns, until_ns,
				     from_ns + 2 * step_ns };
	struct ncs_model model;

	SEGMENT_INPUT_MUST(source != NULL);
	ncs_model_init(&model);
	model.keeps_latest = true;
	for (size_t i = 0; i < sizeof(moments) / sizeof(moments[0]); i++)
		ncs_model_update(&model, source, moments[i]);
	ncs_model_release(&model);
	source->close(source);
}

/* Removes a folder with files, and no other folder, in it. */
static inline void recording_input_remove(const char *path)
{
	DIR *folder = opendir(path);
	const struct dirent *entry;

	SEGMENT_INPUT_MUST(folder != NULL);
	while ((entry = readdir(folder)))
		if (strcmp(entry->d_name, ".") != 0 &&
		    strcmp(entry->d_name, "..") != 0)
			SEGMENT_INPUT_MUST(unlinkat(dirfd(folder),
						    entry->d_name, 0) == 0);
	closedir(folder);
	SEGMENT_INPUT_MUST(rmdir(path) == 0);
}

static inline void recording_input_export(struct ncs_recording *recording,
					  unsigned format)
{
	char folder[] = "/dev/shm/ncclstat-fuzz.XXXXXX";
	struct ncs_export_result result;
	struct ncs_export_request request = {
		.format = (enum ncs_export_format)(format % NCS_EXPORT_COUNT),
		.until_ns = UINT64_MAX,
		.file = fopen("/dev/null", "w"),
	};

	SEGMENT_INPUT_MUST(request.file != NULL);
	if (request.format == NCS_EXPORT_PARQUET) {
		request.directory = mkdtemp(folder);
		SEGMENT_INPUT_MUST(request.directory != NULL);
	}
	ncs_export(recording, &request, &result);
	fclose(request.file);
	if (request.directory)
		recording_input_remove(request.directory);
}

static inline void recording_input_align(struct ncs_recording *recording)
{
	struct ncs_recording_alignment alignment;

	ncs_recording_align_hosts(recording, 0, UINT64_MAX, &alignment);
	ncs_recording_alignment_release(&alignment);
}

/* Reads the operations of all ranks twice, as the critical path does. */
static inline void recording_input_collectives(struct ncs_recording *recording)
{
	struct ncs_recorded_operations *collectives =
		ncs_recorded_operations_open(recording, 0, UINT64_MAX);
	const struct ncs_joined *joined;

	SEGMENT_INPUT_MUST(collectives != NULL);
	while (ncs_recorded_operations_next(collectives, &joined) > 0)
		SEGMENT_INPUT_MUST(joined != NULL);
	ncs_recorded_operations_rewind(collectives);
	while (ncs_recorded_operations_next(collectives, &joined) > 0)
		SEGMENT_INPUT_MUST(joined != NULL);
	ncs_recorded_operations_close(collectives);
}

/* Returns a number that any change of an input changes. */
static inline uint64_t recording_input_choice(const uint8_t *data, size_t size)
{
	uint64_t choice = size;

	for (size_t i = 0; i < size; i++)
		choice = (choice ^ data[i]) * UINT64_C(0x100000001b3);
	return choice >> 32;
}

/* Returns the result of opening. */
static inline int recording_input_run(const uint8_t *data, size_t size)
{
	const struct ncs_recording_facts *facts;
	struct ncs_recording *recording = NULL;
	char why[256] = "";
	char *bytes = aligned_alloc(NCS_CHUNK_ALIGNMENT,
				    ncs_chunk_round(size + 1));
	uint64_t choice;
	int error;

	SEGMENT_INPUT_MUST(bytes != NULL);
	memcpy(bytes, data, size);
	error = ncs_recording_open_memory(&recording, bytes, size, why,
					  sizeof(why));
	SEGMENT_INPUT_MUST(memchr(why, 0, sizeof(why)));
	if (error) {
		SEGMENT_INPUT_MUST(recording == NULL && why[0] != '\0');
		free(bytes);
		return error;
	}
	facts = ncs_recording_facts(recording);
	SEGMENT_INPUT_MUST(facts->files == 1);
	for (size_t rank = 0; rank < ncs_recording_rank_count(recording);
	     rank++) {
		const struct ncs_recorded_rank *recorded =
			ncs_recording_rank(recording, rank);
		uint64_t middle_ns = recorded->from_ns / 2 +
				     recorded->until_ns / 2;

		SEGMENT_INPUT_MUST(recorded->id != NULL);
		SEGMENT_INPUT_MUST(recorded->host <
				   ncs_recording_host_count(recording));
		recording_input_states(recording, rank, recorded->until_ns);
		recording_input_states(recording, rank, recorded->from_ns);
		recording_input_states(recording, rank, middle_ns);
		recording_input_states(recording, rank, 0);
		recording_input_states(recording, rank, UINT64_MAX);
		ncs_recording_next_state_of(recording, rank, middle_ns);
		recording_input_pass(recording, recorded->from_ns, middle_ns);
	}
	recording_input_pass(recording, 0, UINT64_MAX);
	/* Operations that take long, one of them for each input. */
	choice = recording_input_choice(data, size);
	switch (choice % 32) {
	case 0:
	case 1:
		recording_input_look(recording, facts->from_ns,
				     facts->until_ns);
		break;
	case 2:
		if (ncs_recording_host_count(recording) > 0)
			ncs_recording_align(recording, 0, -12345, 1e-5, 1);
		recording_input_look(recording, facts->from_ns,
				     facts->until_ns);
		break;
	case 3:
	case 4:
	case 5:
	case 6:
		recording_input_export(recording, (unsigned)(choice / 32));
		break;
	case 7:
	case 8:
		recording_input_align(recording);
		break;
	case 9:
	case 10:
	case 11:
	case 12:
		recording_input_collectives(recording);
		break;
	}
	ncs_recording_check(recording);
	ncs_recording_close(recording);
	free(bytes);
	return 0;
}

#endif
