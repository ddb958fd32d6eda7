/* SPDX-License-Identifier: MIT */
/* Collects the chunks of a look and takes them once they are all there; see
 * stream_reader.h. Ranks are in stream_ranks.c. */
#include "fleet/stream/stream_reader.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fleet/stream/stream_internal.h"
#include "ncclstat/abi_header.h"
#include "record/format/chunk.h"
#include "record/format/peaks_chunk.h"
#include "shm/array.h"

/* --- Limits -------------------------------------------------------------- */

#define SECOND_NS UINT64_C(1000000000)

/* The most that may be unpacked at once, two looks; and the pause after which so
 * much may be. */
#define BURST_BYTES (2 * NCS_LOOK_UNPACKED_MAX)
#define BURST_NS (BURST_BYTES / NCS_STREAM_UNPACKED_A_SECOND * SECOND_NS)

/* The largest look with its end, which its limit does not count. */
#define BYTES_MAX \
	(NCS_LOOK_BYTES_MAX + sizeof(struct ncs_chunk) + \
	 sizeof(struct ncs_look))

/* Allows for the time that has passed since the latest call. */
static void allow(struct ncs_stream_reader *stream, uint64_t now_ns)
{
	uint64_t passed_ns = now_ns > stream->allowance_ns ?
				     now_ns - stream->allowance_ns :
				     0;

	stream->allowance_ns += passed_ns;
	if (passed_ns > BURST_NS)
		passed_ns = BURST_NS;
	stream->allowance_bytes +=
		passed_ns * NCS_STREAM_UNPACKED_A_SECOND / SECOND_NS;
	if (stream->allowance_bytes > BURST_BYTES)
		stream->allowance_bytes = BURST_BYTES;
}

/* Returns whether so many bytes may be unpacked now: then they count as
 * unpacked. Otherwise that is noted. */
static bool may_unpack(struct ncs_stream_reader *stream, uint64_t bytes)
{
	if (bytes > stream->allowance_bytes) {
		ncs_stream_note_limit(stream, "more than 64 MiB a second come"
					      " from it, unpacked");
		return false;
	}
	stream->allowance_bytes -= bytes;
	return true;
}

/* --- Chunks of a look ---------------------------------------------------- */

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
		ncs_stream_rank_release(stream, &stream->ranks[i]);
	stream->rank_count = stream->unnamed = 0;
	release_unreadable(stream);
	memset(&stream->facts.look, 0, sizeof(stream->facts.look));
	memset(&stream->facts.clock, 0, sizeof(stream->facts.clock));
	memset(&stream->facts.peaks, 0, sizeof(stream->facts.peaks));
	stream->facts.looks_lost = stream->facts.left_out = 0;
	stream->has_number = false;
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
		snprintf(facts->refused, sizeof(facts->refused),
			 "its byte order is another");
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
	return strndup(text, bytes < NCS_STREAM_TEXT_MAX ? bytes :
							   NCS_STREAM_TEXT_MAX);
}

static int take_unreadable(struct ncs_stream_reader *stream,
			   const char *payload, size_t size)
{
	struct ncs_unreadable_head head;
	struct ncs_stream_unreadable *added;

	/* All are counted in the look's end. */
	if (size < sizeof(head) ||
	    stream->unreadable_count == NCS_STREAM_UNREADABLE_MAX)
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
	struct ncs_records_head records;

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
		if (size >= sizeof(records)) {
			memcpy(&records, payload, sizeof(records));
			stream->facts.look_lost += records.lost;
		}
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
	case NCS_CHUNK_STACK:
		ncs_stream_take_stack(stream, chunk, payload);
		return 0;
	case NCS_CHUNK_UNREADABLE:
		return take_unreadable(stream, payload, size);
	default:
		return 0;
	}
}

/* --- Looks --------------------------------------------------------------- */

/* Returns the chunk at an offset of the look that is coming. */
static const struct ncs_chunk *chunk_at(const struct ncs_stream_reader *stream,
					size_t at)
{
	return (const struct ncs_chunk *)(stream->bytes + at);
}

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
	stream->facts.look_lost = 0;
	if (look->flags & NCS_LOOK_KEY)
		stream->unnamed = 0;
	while (at < stream->size && !error && !stream->facts.refused[0]) {
		const struct ncs_chunk *chunk = chunk_at(stream, at);

		error = take_chunk(stream, chunk, (const char *)(chunk + 1));
		at += ncs_chunk_file_bytes(chunk);
	}
	if (error || stream->facts.refused[0])
		return error;
	count_lost(stream, look);
	stream->facts.look = *look;
	stream->facts.looks++;
	stream->facts.left_out = stream->unnamed;
	for (size_t i = 0; i < stream->rank_count; i++)
		ncs_stream_rank_settle(stream, &stream->ranks[i]);
	return 0;
}

/* Whether what the look unpacks to is within the limits. */
static bool is_within_limits(struct ncs_stream_reader *stream)
{
	uint64_t packed = 0, all = 0;
	size_t at = 0;

	while (at < stream->size) {
		const struct ncs_chunk *chunk = chunk_at(stream, at);

		all += sizeof(*chunk) + chunk->unpacked_bytes;
		if (ncs_chunk_is_packed(chunk))
			packed += chunk->unpacked_bytes;
		at += ncs_chunk_file_bytes(chunk);
	}
	if (all <= NCS_LOOK_UNPACKED_MAX)
		return may_unpack(stream, packed);
	ncs_stream_note_limit(stream, "a look from it is more than 64 MiB,"
				      " unpacked");
	return false;
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
	ncs_budget_give(&stream->budget, stream->capacity);
	stream->bytes = stream->unpacked = NULL;
	stream->size = stream->capacity = stream->chunks = 0;
}

/* Ends a look, whose last chunk is behind the others: takes it if it is whole. */
static int end_look(struct ncs_stream_reader *stream)
{
	const struct ncs_chunk *chunk = chunk_at(stream, stream->size);
	struct ncs_look look;
	int error = 0;

	if (chunk->unpacked_bytes < sizeof(look) || ncs_chunk_is_packed(chunk))
		return 0;
	memcpy(&look, chunk + 1, sizeof(look));
	if (stream->chunks == look.chunks && stream->size == look.bytes &&
	    is_of_agent(stream, &look) && is_within_limits(stream)) {
		error = take_look(stream, &look);
		if (!error && stream->keep)
			stream->keep(stream->context, stream->bytes,
				     stream->size + ncs_chunk_file_bytes(chunk),
				     stream->size);
	}
	release_look(stream);
	return error;
}

/* Forgets what has come of a look: it will not be whole. */
static void forget_look(struct ncs_stream_reader *stream)
{
	stream->size = stream->chunks = 0;
}

/* Makes room for more bytes of the look that is coming. Returns 0, -ENOMEM, or
 * -ENOSPC if all would be more than `most`. */
static int make_room(struct ncs_stream_reader *stream, size_t bytes,
		     size_t most)
{
	size_t needed = stream->size + bytes;
	size_t capacity = stream->size > 0 ? 2 * needed : needed;
	char *larger;

	if (needed <= stream->capacity)
		return 0;
	if (capacity > most)
		capacity = most;
	if (needed > most)
		ncs_stream_note_limit(stream, "a look from it is more than 32"
					      " MiB");
	if (needed > most ||
	    !ncs_stream_pay(stream, capacity - stream->capacity))
		return -ENOSPC;
	larger = aligned_alloc(NCS_CHUNK_ALIGNMENT, ncs_chunk_round(capacity));
	if (!larger) {
		ncs_budget_give(&stream->budget, capacity - stream->capacity);
		return -ENOMEM;
	}
	if (stream->size > 0)
		memcpy(larger, stream->bytes, stream->size);
	free(stream->bytes);
	stream->bytes = larger;
	stream->capacity = capacity;
	return 0;
}

/* Collects a chunk until its look is whole. */
static int collect(struct ncs_stream_reader *stream,
		   const struct ncs_chunk *chunk, const char *payload)
{
	size_t bytes = ncs_chunk_file_bytes(chunk);
	bool is_end = chunk->type == NCS_CHUNK_LOOK;
	int error = make_room(stream, bytes,
			      is_end ? BYTES_MAX : NCS_LOOK_BYTES_MAX);

	if (error) {
		forget_look(stream);
		return error == -ENOSPC ? 0 : error;
	}
	/* The chunk lies before its payload in memory. */
	memcpy(stream->bytes + stream->size, payload - sizeof(*chunk), bytes);
	if (is_end)
		return end_look(stream);
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
	facts->reported = (enum ncs_node_state)head.state;
	facts->reported_times++;
	snprintf(facts->reported_why, sizeof(facts->reported_why), "%.*s",
		 (int)head.why_bytes, payload + sizeof(head));
}

/* Pays for the bases that packs have left. Without room for them there are none:
 * the looks that need them are left out. */
static void pay_for_bases(struct ncs_stream_reader *stream)
{
	size_t kept = ncs_look_unpacker_kept(stream->unpacker);

	ncs_budget_give(&stream->budget, stream->unpacker_paid);
	stream->unpacker_paid = kept;
	if (ncs_stream_pay(stream, kept))
		return;
	ncs_look_unpacker_free(stream->unpacker);
	stream->unpacker = NULL;
	stream->unpacker_paid = 0;
}

/* Collects the chunks that a pack was unpacked to, right behind those that were
 * collected before. */
static int collect_unpacked(struct ncs_stream_reader *stream, size_t bytes)
{
	size_t end = stream->size + bytes;

	while (stream->size < end) {
		const struct ncs_chunk *chunk = chunk_at(stream, stream->size);

		/* The last one, if a packer has made the pack. */
		if (chunk->type == NCS_CHUNK_LOOK)
			return end_look(stream);
		stream->size += ncs_chunk_file_bytes(chunk);
		stream->chunks++;
	}
	return 0;
}

/* Unpacks a pack behind the chunks that were collected. Returns 0, -ENOMEM,
 * -EBADMSG if it makes no sense, or -ENOSPC beyond a limit: if that is a key look, those
 * after it cannot be unpacked either, up to the next one. */
static int unpack_behind(struct ncs_stream_reader *stream,
			 const struct ncs_chunk *chunk, const char *payload,
			 struct ncs_pack_head *head)
{
	int error;

	if (!stream->unpacker)
		stream->unpacker = ncs_look_unpacker_new();
	if (!stream->unpacker)
		return -ENOMEM;
	if (!ncs_pack_head_read(chunk, payload, head))
		return -EBADMSG;
	if (!may_unpack(stream, head->unpacked_bytes))
		return -ENOSPC;
	error = make_room(stream, head->unpacked_bytes, BYTES_MAX);
	if (!error)
		error = ncs_look_unpacker_take(stream->unpacker, chunk, payload,
					       head,
					       stream->bytes + stream->size);
	pay_for_bases(stream);
	return error;
}

/* Takes the chunks of a pack. Without all of them its look is not whole. */
static int take_pack(struct ncs_stream_reader *stream,
		     const struct ncs_chunk *chunk, const char *payload)
{
	struct ncs_pack_head head;
	int error = unpack_behind(stream, chunk, payload, &head);

	if (!error)
		return collect_unpacked(stream, head.unpacked_bytes);
	forget_look(stream);
	return error == -ENOMEM ? error : 0;
}

/* Takes a chunk of the stream. */
static int take_any(void *context, const struct ncs_chunk *chunk,
		    const char *payload)
{
	struct ncs_stream_reader *stream = context;

	if (chunk->type == NCS_CHUNK_NODE) {
		take_node(stream, chunk, payload);
		return 0;
	}
	if (stream->facts.refused[0])
		return 0;
	/* Bytes are missing: what came before them is no part of the look whose
	 * end comes next. */
	if (stream->splitter.skipped_bytes != stream->facts.skipped_bytes)
		forget_look(stream);
	stream->facts.skipped_bytes = stream->splitter.skipped_bytes;
	return chunk->type == NCS_CHUNK_PACK ?
		       take_pack(stream, chunk, payload) :
		       collect(stream, chunk, payload);
}

/* --- Interface ----------------------------------------------------------- */

struct ncs_stream_reader *ncs_stream_new(struct ncs_budget *whole,
					 ncs_stream_keep *keep, void *context)
{
	struct ncs_stream_reader *stream = calloc(1, sizeof(*stream));

	if (!stream)
		return NULL;
	stream->budget = (struct ncs_budget){ .whole = whole,
					      .most = NCS_STREAM_BYTES_MAX };
	stream->allowance_bytes = BURST_BYTES;
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
	ncs_budget_give(&stream->budget, stream->unpacker_paid);
	ncs_budget_give(&stream->budget, stream->ranks_paid);
	free(stream->unreadable);
	free(stream->ranks);
	release_look(stream);
	free(stream);
}

int ncs_stream_feed(struct ncs_stream_reader *stream, const void *bytes,
		    size_t size, uint64_t now_ns)
{
	int error;

	stream->facts.bytes += size;
	if (stream->facts.refused[0])
		return 0;
	allow(stream, now_ns);
	error = ncs_chunk_splitter_feed(&stream->splitter, bytes, size,
					take_any, stream);
	if (error)
		ncs_stream_gap(stream);
	if (stream->splitter.skipped_bytes != stream->facts.skipped_bytes)
		forget_look(stream);
	stream->facts.skipped_bytes = stream->splitter.skipped_bytes;
	return error;
}

void ncs_stream_gap(struct ncs_stream_reader *stream)
{
	ncs_chunk_splitter_cut(&stream->splitter);
	forget_look(stream);
}
