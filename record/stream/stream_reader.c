/* SPDX-License-Identifier: MIT */
/* Collects the chunks of a look and takes them once they are all there; see
 * stream_reader.h. Ranks are in stream_ranks.c. */
#include "record/stream/stream_reader.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "record/format/chunk.h"
#include "record/format/peaks_chunk.h"
#include "record/stream/chunk_splitter.h"
#include "record/stream/stream_internal.h"
#include "shm/array.h"

/* --- Chunks of a look ---------------------------------------------------- */

static void refuse(struct ncs_stream_reader *stream, const char *why)
{
	snprintf(stream->facts.refused, sizeof(stream->facts.refused), "%s",
		 why);
}

static void release_unreadable(struct ncs_stream_reader *stream)
{
	for (size_t i = 0; i < stream->unreadable_count; i++) {
		free(stream->unreadable[i].path);
		free(stream->unreadable[i].why);
	}
	stream->unreadable_count = 0;
}

/* Another agent writes from here on: forgets the ranks of the one before. */
static void begin_agent(struct ncs_stream_reader *stream)
{
	for (size_t i = 0; i < stream->rank_count; i++)
		ncs_stream_rank_release(&stream->ranks[i]);
	stream->rank_count = 0;
	release_unreadable(stream);
	memset(&stream->facts.look, 0, sizeof(stream->facts.look));
	memset(&stream->facts.clock, 0, sizeof(stream->facts.clock));
	memset(&stream->facts.peaks, 0, sizeof(stream->facts.peaks));
	stream->facts.looks_lost = 0;
	stream->has_number = stream->has_key = false;
}

static void take_head(struct ncs_stream_reader *stream, const char *payload,
		      size_t size)
{
	struct ncs_stream_facts *facts = &stream->facts;
	struct ncs_file_head head;

	if (size < sizeof(head))
		return;
	memcpy(&head, payload, sizeof(head));
	head.boot_id[sizeof(head.boot_id) - 1] = '\0';
	head.host[sizeof(head.host) - 1] = '\0';
	if (head.byte_order != NCS_BYTE_ORDER) {
		refuse(stream, "its byte order is another");
	} else if (head.version >> 16 != NCS_FORMAT_MAJOR) {
		snprintf(facts->refused, sizeof(facts->refused),
			 "its ncclstat writes format %u.%u, this one reads %u:"
			 " install the same version on both",
			 head.version >> 16, head.version & 0xffff,
			 NCS_FORMAT_MAJOR);
	} else {
		if (facts->has_head &&
		    memcmp(facts->head.recording, head.recording,
			   sizeof(head.recording)) != 0)
			begin_agent(stream);
		facts->head = head;
		facts->has_head = true;
	}
}

static char *copy_text(const char *text, size_t bytes)
{
	return strndup(text, bytes);
}

static int take_unreadable(struct ncs_stream_reader *stream,
			   const char *payload, size_t size)
{
	struct ncs_unreadable_head head;
	struct ncs_stream_unreadable *added;

	if (size < sizeof(head))
		return 0;
	memcpy(&head, payload, sizeof(head));
	payload += sizeof(head);
	size -= sizeof(head);
	if (head.path_bytes > size || head.why_bytes > size - head.path_bytes ||
	    head.attach == NCS_ATTACHED || head.attach > NCS_ATTACH_FAILED)
		return 0;
	if (ncs_array_reserve(&stream->unreadable, &stream->unreadable_capacity,
			      stream->unreadable_count + 1,
			      sizeof(*added)) != 0)
		return -ENOMEM;
	added = &stream->unreadable[stream->unreadable_count++];
	added->attach = (enum ncs_attach)head.attach;
	added->path = copy_text(payload, head.path_bytes);
	added->why = copy_text(payload + head.path_bytes, head.why_bytes);
	return added->path && added->why ? 0 : -ENOMEM;
}

/* Returns the unpacked payload; NULL if it is damaged or there is no memory. */
static const char *unpack(struct ncs_stream_reader *stream,
			  const struct ncs_chunk *chunk, const char *payload)
{
	if (!ncs_chunk_is_packed(chunk))
		return payload;
	if (!stream->unpacked)
		stream->unpacked =
			aligned_alloc(NCS_CHUNK_ALIGNMENT, NCS_CHUNK_BYTES_MAX);
	return stream->unpacked &&
			       ncs_chunk_unpack(chunk, payload,
						stream->unpacked) ?
		       stream->unpacked :
		       NULL;
}

static int take_chunk(struct ncs_stream_reader *stream,
		      const struct ncs_chunk *chunk, const char *packed)
{
	const char *payload = unpack(stream, chunk, packed);
	size_t size = chunk->unpacked_bytes;

	if (!payload)
		return 0;
	switch (chunk->type) {
	case NCS_CHUNK_FILE:
		take_head(stream, payload, size);
		return 0;
	case NCS_CHUNK_RANK:
		return ncs_stream_take_rank(stream, chunk->rank, payload, size);
	case NCS_CHUNK_STATE:
		return ncs_stream_take_state(stream, chunk->rank, payload,
					     size);
	case NCS_CHUNK_RECORDS:
		stream->facts.has_records = true;
		return ncs_stream_take_records(stream, chunk->rank, payload,
					       size);
	case NCS_CHUNK_CLOCK:
		if (size >= sizeof(stream->facts.clock))
			memcpy(&stream->facts.clock, payload,
			       sizeof(stream->facts.clock));
		return 0;
	case NCS_CHUNK_PEAKS:
		ncs_peaks_unpack(payload, size, &stream->facts.peaks);
		return 0;
	case NCS_CHUNK_DIGEST:
		stream->facts.has_digests = true;
		ncs_stream_take_digests(stream, payload, size);
		return 0;
	case NCS_CHUNK_UNREADABLE:
		return take_unreadable(stream, payload, size);
	default:
		return 0;
	}
}

/* --- Looks --------------------------------------------------------------- */

/* Counts the looks that were lost before one: those that the agent has written
 * and that did not come whole. */
static void count_lost(struct ncs_stream_reader *stream,
		       const struct ncs_look *look)
{
	const struct ncs_look *before = &stream->facts.look;
	uint64_t missing, dropped;

	if (stream->has_number && look->number > before->number) {
		missing = look->number - before->number - 1;
		dropped = look->dropped - before->dropped;
		if (missing > dropped)
			stream->facts.looks_lost += missing - dropped;
	}
	stream->has_number = true;
}

/* Takes all chunks that were collected. The look is as long as it says. */
static int take_look(struct ncs_stream_reader *stream,
		     const struct ncs_look *look)
{
	size_t at = 0;
	int error = 0;

	release_unreadable(stream);
	stream->number = look->number;
	while (at < stream->size && !error && !stream->facts.refused[0]) {
		struct ncs_chunk chunk;

		memcpy(&chunk, stream->bytes + at, sizeof(chunk));
		error = take_chunk(stream, &chunk,
				   stream->bytes + at + sizeof(chunk));
		at += ncs_chunk_file_bytes(&chunk);
	}
	if (error || stream->facts.refused[0])
		return error;
	count_lost(stream, look);
	if (look->flags & NCS_LOOK_KEY) {
		stream->has_key = true;
		stream->key = look->number;
	}
	stream->facts.look = *look;
	/* To readers of earlier versions they are left out. */
	stream->facts.look.left_out -= look->digests < look->left_out ?
					       look->digests :
					       look->left_out;
	stream->facts.looks++;
	for (size_t i = 0; i < stream->rank_count; i++)
		ncs_stream_rank_settle(&stream->ranks[i], &stream->facts.look);
	return 0;
}

static bool is_of_agent(const struct ncs_stream_reader *stream,
			const struct ncs_look *look)
{
	return (look->flags & NCS_LOOK_KEY) ||
	       (stream->facts.has_head &&
		memcmp(stream->facts.head.recording, look->recording,
		       sizeof(look->recording)) == 0);
}

/* Frees what a look was collected in: of many streams, few have one that
 * comes. */
static void release_look(struct ncs_stream_reader *stream)
{
	free(stream->bytes);
	free(stream->unpacked);
	stream->bytes = stream->unpacked = NULL;
	stream->size = stream->capacity = stream->chunks = 0;
}

/* Ends a look: takes it if it is whole. */
static int end_look(struct ncs_stream_reader *stream,
		    const struct ncs_chunk *chunk, const char *payload)
{
	struct ncs_look look;
	int error = 0;

	if (chunk->unpacked_bytes < sizeof(look) || ncs_chunk_is_packed(chunk))
		return 0;
	memcpy(&look, payload, sizeof(look));
	if (stream->chunks == look.chunks && stream->size == look.bytes &&
	    is_of_agent(stream, &look)) {
		error = take_look(stream, &look);
		if (!error && stream->keep) {
			size_t bytes = ncs_chunk_file_bytes(chunk);

			stream->keep(stream->context, stream->bytes,
				     stream->size);
			/* The chunk lies before its payload in memory. */
			stream->keep(stream->context,
				     payload - sizeof(*chunk), bytes);
		}
	}
	release_look(stream);
	return error;
}

/* Collects a chunk until its look is whole. */
static int collect(void *context, const struct ncs_chunk *chunk,
		   const char *payload)
{
	struct ncs_stream_reader *stream = context;
	size_t bytes = ncs_chunk_file_bytes(chunk);

	if (stream->facts.refused[0])
		return 0;
	/* Bytes are missing: what came before them is no part of the look whose
	 * end comes next. */
	if (stream->splitter.skipped_bytes != stream->facts.skipped_bytes)
		stream->size = stream->chunks = 0;
	stream->facts.skipped_bytes = stream->splitter.skipped_bytes;
	if (chunk->type == NCS_CHUNK_LOOK)
		return end_look(stream, chunk, payload);
	if (stream->size + bytes > NCS_LOOK_BYTES_MAX) {
		refuse(stream, "a look of its ncclstat is too large");
		return 0;
	}
	if (stream->size + bytes > stream->capacity) {
		size_t capacity = (stream->size + bytes) * 2;
		char *larger = aligned_alloc(NCS_CHUNK_ALIGNMENT,
					     ncs_chunk_round(capacity));

		if (!larger)
			return -ENOMEM;
		if (stream->size > 0)
			memcpy(larger, stream->bytes, stream->size);
		free(stream->bytes);
		stream->bytes = larger;
		stream->capacity = capacity;
	}
	memcpy(stream->bytes + stream->size, payload - sizeof(*chunk), bytes);
	stream->size += bytes;
	stream->chunks++;
	return 0;
}

/* Takes the word of an agent on the way here about the node. Its states may be
 * newer than ours: those say nothing. */
static void take_node(struct ncs_stream_reader *stream,
		      const struct ncs_chunk *chunk, const char *payload)
{
	struct ncs_stream_facts *facts = &stream->facts;
	struct ncs_node_head head;

	if (chunk->bytes < sizeof(head) || ncs_chunk_is_packed(chunk))
		return;
	memcpy(&head, payload, sizeof(head));
	if (head.state >= NCS_NODE_STATE_COUNT ||
	    head.why_bytes > chunk->bytes - sizeof(head))
		return;
	facts->told = (enum ncs_node_state)head.state;
	facts->told_times++;
	snprintf(facts->told_why, sizeof(facts->told_why), "%.*s",
		 (int)head.why_bytes, payload + sizeof(head));
}

/* Takes a chunk of the stream. Without all chunks of a pack its look is not
 * whole. */
static int take_any(void *context, const struct ncs_chunk *chunk,
		    const char *payload)
{
	struct ncs_stream_reader *stream = context;
	bool is_whole;
	int error;

	if (chunk->type == NCS_CHUNK_NODE) {
		take_node(stream, chunk, payload);
		return 0;
	}
	if (chunk->type != NCS_CHUNK_PACK || stream->facts.refused[0])
		return collect(stream, chunk, payload);
	if (!stream->unpacker)
		stream->unpacker = ncs_look_unpacker_new();
	if (!stream->unpacker)
		return -ENOMEM;
	error = ncs_look_unpacker_take(stream->unpacker, chunk, payload,
				       collect, stream, &is_whole);
	if (!is_whole)
		stream->size = stream->chunks = 0;
	return error;
}

/* --- Interface ----------------------------------------------------------- */

struct ncs_stream_reader *ncs_stream_new(ncs_stream_keep *keep, void *context)
{
	struct ncs_stream_reader *stream = calloc(1, sizeof(*stream));

	if (!stream)
		return NULL;
	stream->keep = keep;
	stream->context = context;
	return stream;
}

void ncs_stream_free(struct ncs_stream_reader *stream)
{
	if (!stream)
		return;
	begin_agent(stream);
	ncs_chunk_splitter_release(&stream->splitter);
	ncs_look_unpacker_free(stream->unpacker);
	free(stream->unreadable);
	free(stream->ranks);
	free(stream->bytes);
	free(stream->unpacked);
	free(stream);
}

int ncs_stream_feed(struct ncs_stream_reader *stream, const void *bytes,
		    size_t size)
{
	int error;

	stream->facts.bytes += size;
	if (stream->facts.refused[0])
		return 0;
	error = ncs_chunk_splitter_feed(&stream->splitter, bytes, size,
					take_any, stream);
	if (stream->splitter.skipped_bytes != stream->facts.skipped_bytes)
		stream->size = stream->chunks = 0;
	stream->facts.skipped_bytes = stream->splitter.skipped_bytes;
	return error;
}

void ncs_stream_gap(struct ncs_stream_reader *stream)
{
	ncs_chunk_splitter_cut(&stream->splitter);
	stream->size = stream->chunks = 0;
}

const struct ncs_stream_facts *
ncs_stream_facts(const struct ncs_stream_reader *stream)
{
	return &stream->facts;
}

size_t ncs_stream_rank_count(const struct ncs_stream_reader *stream)
{
	return stream->rank_count;
}

struct ncs_stream_rank *ncs_stream_rank(struct ncs_stream_reader *stream,
					size_t rank)
{
	return &stream->ranks[rank];
}

size_t ncs_stream_unreadable_count(const struct ncs_stream_reader *stream)
{
	return stream->unreadable_count;
}

const struct ncs_stream_unreadable *
ncs_stream_unreadable(const struct ncs_stream_reader *stream, size_t index)
{
	return &stream->unreadable[index];
}
