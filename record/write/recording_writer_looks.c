/* SPDX-License-Identifier: MIT */
/* Writes what only a stream has: ends of looks, and segments that cannot be
 * read; see recording_writer.h. */
#include <string.h>

#include "record/write/recording_writer_internal.h"

/* Bytes of a path and a reason that are kept. */
#define TEXT_BYTES_MAX 4096u

int ncs_recording_writer_renew(struct ncs_recording_writer *writer)
{
	if (writer->error != 0)
		return writer->error;
	for (size_t i = 0; i < writer->rank_count; i++) {
		writer->ranks[i].is_in_file = false;
		writer->ranks[i].has_key = false;
	}
	return ncs_recording_head_write(writer);
}

int ncs_recording_writer_unreadable(struct ncs_recording_writer *writer,
				    enum ncs_attach attach, const char *path,
				    const char *why)
{
	struct ncs_unreadable_head head = {
		.attach = attach,
		.path_bytes = (uint32_t)strnlen(path, TEXT_BYTES_MAX),
		.why_bytes = (uint32_t)strnlen(why, TEXT_BYTES_MAX),
	};
	struct ncs_chunk chunk = ncs_recording_chunk_at(
		NCS_CHUNK_UNREADABLE, NCS_NO_RANK,
		sizeof(head) + head.path_bytes + head.why_bytes, 0);
	size_t room;
	char *payload =
		ncs_recording_chunk_begin(writer, chunk.unpacked_bytes, &room);

	if (!payload)
		return writer->error;
	memcpy(payload, &head, sizeof(head));
	memcpy(payload + sizeof(head), path, head.path_bytes);
	memcpy(payload + sizeof(head) + head.path_bytes, why, head.why_bytes);
	return ncs_recording_chunk_end(writer, &chunk);
}

void ncs_recording_writer_unpack(struct ncs_recording_writer *writer)
{
	ncs_packer_free(writer->packer);
	writer->packer = NULL;
}

int ncs_recording_writer_look(struct ncs_recording_writer *writer,
			      struct ncs_look *look)
{
	const struct ncs_file_head *head = &writer->settings.head;
	struct ncs_chunk chunk = ncs_recording_chunk_at(
		NCS_CHUNK_LOOK, NCS_NO_RANK, sizeof(*look), look->taken_ns);
	size_t room;

	/* Room is made first: it may take padding, which is a chunk of this
	 * look, too. */
	if (!ncs_recording_chunk_begin(writer, sizeof(*look), &room))
		return writer->error;
	memcpy(look->recording, head->recording, sizeof(look->recording));
	look->program_version = head->program_version;
	look->chunks = writer->end.chunks - writer->look_chunks;
	look->records = writer->end.records - writer->look_records;
	look->bytes = ncs_sink_offset(writer->sink) - writer->look_offset;
	ncs_recording_chunk_write(writer, &chunk, look);
	writer->look_chunks = writer->end.chunks;
	writer->look_records = writer->end.records;
	writer->look_offset = ncs_sink_offset(writer->sink);
	return ncs_recording_writer_flush(writer);
}
