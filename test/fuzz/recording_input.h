/* Bytes as a recording, whatever they are: opened, and everything asked for that
 * can be asked for. Beside the bytes as they are there are those with all
 * checksums made right, so that what is behind these is reached. */
#ifndef NCS_TEST_FUZZ_RECORDING_INPUT_H
#define NCS_TEST_FUZZ_RECORDING_INPUT_H

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/model.h"
#include "record/chunk.h"
#include "record/recording.h"
#include "record/source_recording.h"

/* A payload is what there is of it, and a header has the magic. */
static inline void recording_input_seal(char *bytes, size_t size)
{
	size_t offset = 0;

	while (size - offset >= sizeof(struct ncs_chunk)) {
		struct ncs_chunk *chunk = (struct ncs_chunk *)(bytes + offset);
		uint64_t room = size - offset - sizeof(*chunk);

		if (chunk->bytes > room)
			chunk->bytes = room;
		if (chunk->bytes > NCS_PAYLOAD_BYTES_MAX)
			chunk->bytes = NCS_PAYLOAD_BYTES_MAX;
		if (chunk->unpacked_bytes < chunk->bytes ||
		    chunk->unpacked_bytes > NCS_PAYLOAD_BYTES_MAX)
			chunk->unpacked_bytes = chunk->bytes;
		ncs_chunk_seal(chunk, chunk + 1);
		offset += ncs_chunk_file_bytes(chunk);
		if (offset > size)
			return;
	}
}

static inline void recording_input_state(struct ncs_recording *recording,
					 size_t rank, uint64_t at_ns)
{
	struct ncs_snapshot snapshot;
	struct ncs_reader *reader;
	uint64_t taken_ns;

	if (ncs_recording_state(recording, rank, at_ns, &reader, &taken_ns) !=
		    NCS_RECORDED_YES ||
	    ncs_snapshot_init(&snapshot, reader) != 0)
		return;
	ncs_snapshot_take(&snapshot, reader, taken_ns);
	ncs_snapshot_release(&snapshot);
}

static inline void recording_input_records(struct ncs_recording *recording)
{
	struct ncs_pass *pass =
		ncs_pass_open(recording, NCS_ALL_RANKS, 0, UINT64_MAX);
	volatile uint64_t sum = 0;
	struct ncs_batch batch;

	while (pass && ncs_pass_next(pass, &batch) == 1)
		for (size_t i = 0; i < batch.count; i++)
			sum += batch.records[i].value;
	ncs_pass_close(pass);
}

static inline void recording_input_model(struct ncs_recording *recording,
					 uint64_t from_ns, uint64_t until_ns)
{
	struct ncs_source *source = ncs_source_open_recording(recording, 0);
	struct ncs_model model;

	if (!source)
		return;
	ncs_model_init(&model);
	model.keeps_latest = true;
	for (unsigned i = 0; i < 5; i++)
		ncs_model_update(&model, source,
				 from_ns + (until_ns - from_ns) / 4 * i);
	ncs_model_update(&model, source, from_ns);
	ncs_model_release(&model);
	source->close(source);
}

static inline void recording_input_read(const char *bytes, size_t size)
{
	const struct ncs_recording_facts *facts;
	struct ncs_recording *recording;
	uint64_t from_ns, until_ns;
	char why[400];

	if (ncs_recording_open_memory(&recording, bytes, size, why,
				      sizeof(why)) != 0)
		return;
	facts = ncs_recording_facts(recording);
	from_ns = facts->from_ns;
	until_ns = facts->until_ns;
	for (size_t i = 0; i < ncs_recording_rank_count(recording); i++)
		for (unsigned k = 0; k < 5; k++)
			recording_input_state(recording, i,
					      from_ns + (until_ns - from_ns) /
								4 *
								(k * 3 % 5));
	ncs_recording_next_state_ns(recording, from_ns);
	recording_input_records(recording);
	recording_input_model(recording, from_ns, until_ns);
	if (ncs_recording_host_count(recording) > 0)
		ncs_recording_align(recording, 0, -12345, 1e-5, 1);
	recording_input_model(recording, from_ns, until_ns);
	ncs_recording_check(recording);
	ncs_recording_close(recording);
}

/* False: no memory. */
static inline bool recording_input_run(const void *data, size_t size)
{
	char *bytes =
		aligned_alloc(NCS_CHUNK_ALIGNMENT, ncs_chunk_round(size + 1));

	if (!bytes)
		return false;
	memcpy(bytes, data, size);
	recording_input_read(bytes, size);
	recording_input_seal(bytes, size);
	recording_input_read(bytes, size);
	free(bytes);
	return true;
}

#endif
