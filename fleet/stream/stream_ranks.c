/* SPDX-License-Identifier: MIT */
/* The ranks of a stream: their states and records; see stream_reader.h. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

#include "fleet/stream/stream_internal.h"
#include "ncclstat/abi_header.h"
#include "ncclstat/reader.h"
#include "record/format/chunk.h"
#include "record/read/state_image.h"
#include "shm/array.h"
#include "shm/clock.h"
#include "shm/read/image.h"
#include "shm/segment.h"

/* --- Memory -------------------------------------------------------------- */

void ncs_stream_note_limit(struct ncs_stream_reader *stream, const char *why)
{
	stream->facts.limited_times++;
	snprintf(stream->facts.limited, sizeof(stream->facts.limited), "%s",
		 why);
}

/* Notes that there is no room in the stream's memory, or in that of all. */
static void note_no_room(struct ncs_stream_reader *stream)
{
	const struct ncs_budget *own = &stream->budget, *whole = own->whole;
	bool is_own = !whole ||
		      own->most - own->used < whole->most - whole->used;

	ncs_stream_note_limit(stream,
			      is_own ? "its ranks take more than 256 MiB" :
				       "all nodes together take half of"
				       " the memory that was free");
}

bool ncs_stream_pay(struct ncs_stream_reader *stream, uint64_t bytes)
{
	if (ncs_budget_take(&stream->budget, bytes))
		return true;
	note_no_room(stream);
	return false;
}

/* --- Ranks --------------------------------------------------------------- */

/* Memory that each rank takes here, in the fleet and in the model, without what
 * its state says. */
#define RANK_BYTES (UINT32_C(32) << 10)

/* Returns what a rank is to pay for. */
static uint64_t price(const struct ncs_stream_rank *rank)
{
	return rank->own_bytes +
	       rank->record_capacity * sizeof(*rank->records) +
	       rank->record_lane_capacity * sizeof(*rank->record_lanes) +
	       rank->kept.key.size + rank->kept.change.size +
	       ncs_kept_state_model_bytes(&rank->kept) +
	       (rank->stack ? 2 * strlen(rank->stack) : 0);
}

/* Pays for what the rank takes by now. Returns false if there is no room for
 * it. */
static bool pay(struct ncs_stream_reader *stream, struct ncs_stream_rank *rank)
{
	uint64_t due = price(rank);

	if (due > rank->paid && !ncs_stream_pay(stream, due - rank->paid))
		return false;
	if (due < rank->paid)
		ncs_budget_give(&stream->budget, rank->paid - due);
	rank->paid = due;
	return true;
}

void ncs_stream_read_anew(struct ncs_stream_rank *rank)
{
	ncs_reader_close(rank->reader);
	rank->reader = NULL;
}

/* Leaves a rank out of the look, as there is no room for its state. It stays
 * named. */
static void leave_out(struct ncs_stream_reader *stream,
		      struct ncs_stream_rank *rank)
{
	ncs_stream_read_anew(rank);
	ncs_kept_state_release(&rank->kept);
	rank->has_key = rank->has_state = false;
	free(rank->records);
	free(rank->record_lanes);
	rank->records = NULL;
	rank->record_lanes = NULL;
	rank->record_capacity = rank->record_lane_capacity = 0;
	rank->record_count = rank->records_seen = 0;
	rank->parts = 0;
	rank->is_left_out = rank->is_behind = true;
	pay(stream, rank); /* less than before */
}

void ncs_stream_rank_release(struct ncs_stream_reader *stream,
			     struct ncs_stream_rank *rank)
{
	ncs_reader_close(rank->reader);
	ncs_kept_state_release(&rank->kept);
	free(rank->path);
	free(rank->lanes);
	free(rank->records);
	free(rank->record_lanes);
	free(rank->stack);
	ncs_budget_give(&stream->budget, rank->paid);
	memset(rank, 0, sizeof(*rank));
}

static bool is_same_segment(const struct ncs_stream_rank *rank,
			    const struct ncs_header *header, const char *path,
			    size_t path_bytes)
{
	return rank->is_named && rank->header.pid == header->pid &&
	       rank->header.process_start == header->process_start &&
	       rank->header.created == header->created &&
	       rank->header.segment_bytes == header->segment_bytes &&
	       rank->header.lanes.count == header->lanes.count &&
	       strlen(rank->path) == path_bytes &&
	       memcmp(rank->path, path, path_bytes) == 0;
}

/* Makes room for a rank of this number. Returns 1, 0 if it is not to be kept, or
 * -ENOMEM. */
static int make_number(struct ncs_stream_reader *stream, uint32_t number)
{
	const size_t size = sizeof(*stream->ranks);
	size_t needed = (size_t)number + 1, before = stream->rank_capacity;
	uint64_t most = 2 * (uint64_t)needed * size;
	int error;

	if (number >= NCS_STREAM_RANKS_MAX) {
		ncs_stream_note_limit(stream, "it has more than 16384 ranks");
		return 0;
	}
	if (needed > before) {
		if (!ncs_stream_pay(stream, most))
			return 0;
		error = ncs_array_reserve_zeroed(&stream->ranks,
						 &stream->rank_capacity, needed,
						 size);
		stream->ranks_paid += (stream->rank_capacity - before) * size;
		ncs_budget_give(&stream->budget,
				most - (stream->rank_capacity - before) * size);
		if (error)
			return error;
	}
	if (needed > stream->rank_count)
		stream->rank_count = needed;
	return 1;
}

/* Names a rank that is not named. Returns 0 or -ENOMEM. */
static int name_rank(struct ncs_stream_reader *stream,
		     struct ncs_stream_rank *rank,
		     const struct ncs_header *header, const char *path,
		     size_t path_bytes)
{
	rank->header = *header;
	rank->path = strndup(path, path_bytes);
	rank->lanes = calloc(header->lanes.count + 1u, sizeof(*rank->lanes));
	if (!rank->path || !rank->lanes) {
		ncs_stream_rank_release(stream, rank);
		return -ENOMEM;
	}
	rank->own_bytes = RANK_BYTES + strlen(rank->path) +
			  header->lanes.count * sizeof(*rank->lanes);
	rank->is_named = pay(stream, rank);
	if (!rank->is_named) {
		ncs_stream_rank_release(stream, rank);
		stream->unnamed++;
	}
	return 0;
}

int ncs_stream_take_rank(struct ncs_stream_reader *stream, uint32_t number,
			 const char *payload, size_t size)
{
	struct ncs_stream_rank *rank;
	struct ncs_header header;
	size_t path_bytes;
	const char *path;
	uid_t owner;
	int kept;

	if (!ncs_rank_payload_read(payload, size, &header, &owner, &path,
				   &path_bytes) ||
	    header.segment_bytes < sizeof(header) ||
	    header.segment_bytes > NCS_STATE_IMAGE_BYTES_MAX)
		return 0;
	kept = make_number(stream, number);
	if (kept <= 0) {
		stream->unnamed++;
		return kept;
	}
	rank = &stream->ranks[number];
	if (is_same_segment(rank, &header, path, path_bytes))
		return 0;
	ncs_stream_rank_release(stream, rank);
	rank->owner = owner;
	return name_rank(stream, rank, &header, path, path_bytes);
}

static struct ncs_stream_rank *find_rank(struct ncs_stream_reader *stream,
					 uint32_t number)
{
	return number < stream->rank_count && stream->ranks[number].is_named ?
		       &stream->ranks[number] :
		       NULL;
}

void ncs_stream_rank_settle(struct ncs_stream_reader *stream,
			    struct ncs_stream_rank *rank)
{
	const struct ncs_look *look = &stream->facts.look;
	bool has_state = rank->look == look->number + 1;

	stream->facts.left_out += has_state && rank->is_left_out;
	/* A look without room for all says nothing of those that it lacks. */
	if (!has_state && look->left_out > 0)
		return;
	rank->is_there = has_state && !(rank->flags & NCS_STATE_REMOVED);
	/* A segment that has gone is not told of again without its name. */
	if (!rank->is_there)
		ncs_stream_rank_release(stream, rank);
}

void ncs_stream_take_stack(struct ncs_stream_reader *stream,
			   const struct ncs_chunk *chunk, const char *payload)
{
	struct ncs_stream_rank *rank = find_rank(stream, chunk->rank);

	if (!rank)
		return;
	free(rank->stack);
	rank->stack = strndup(payload, chunk->unpacked_bytes);
	rank->stack_ns = chunk->from_ns;
	if (pay(stream, rank))
		return;
	free(rank->stack);
	rank->stack = NULL;
}

/* --- States -------------------------------------------------------------- */

/* Begins a state: forgets what it replaces. Returns whether its parts can be
 * taken. */
static bool begin_state(struct ncs_stream_rank *rank,
			const struct ncs_state_head *head)
{
	if (head->part == 0)
		rank->parts = 0;
	if (head->part != rank->parts)
		return false;
	/* A key's first part has taken the one before away. */
	if (head->part != 0 && (head->flags & NCS_STATE_KEY) && rank->has_key)
		return false;
	if (!(head->flags & NCS_STATE_KEY) &&
	    (!rank->has_key || head->key_taken_ns != rank->key_taken_ns))
		return false;
	if (head->part == 0 && (head->flags & NCS_STATE_KEY)) {
		ncs_state_parts_release(&rank->kept.change);
		ncs_state_parts_forget(&rank->kept.key);
		rank->has_key = false;
	} else if (head->part == 0) {
		ncs_state_parts_forget(&rank->kept.change);
	}
	return true;
}

/* Adds a part. Returns false if there is no room for it. */
static bool keep_part(struct ncs_stream_reader *stream,
		      struct ncs_stream_rank *rank,
		      const struct ncs_state_part *part, const char *payload,
		      size_t size)
{
	struct ncs_state_parts *parts = part->head.flags & NCS_STATE_KEY ?
						&rank->kept.key :
						&rank->kept.change;

	if (ncs_state_parts_add(parts, part, payload, size) == 0)
		return pay(stream, rank);
	note_no_room(stream);
	return false;
}

/* The line of the segment that has the process's heartbeat. */
#define ALIVE_LINE (offsetof(struct ncs_header, alive) / NCS_STATE_LINE_BYTES)
#define ALIVE_AT (offsetof(struct ncs_header, alive) % NCS_STATE_LINE_BYTES)

static uint64_t add_lines(uint64_t said, size_t line, const char *from,
			  size_t count)
{
	return count == 0 ?
		       said :
		       XXH3_64bits_withSeed(from, count * NCS_STATE_LINE_BYTES,
					    said + line);
}

/* Adds the lines of all parts to what is said, but for that of the heartbeat,
 * which is copied to `alive`, if it is there. */
static uint64_t add_parts(uint64_t said, const struct ncs_state_parts *parts,
			  char *alive)
{
	struct ncs_state_part part;
	size_t at = 0;

	while (ncs_state_parts_next(parts, &at, &part)) {
		const char *from = part.lines;

		for (uint32_t i = 0; i < part.head.runs; i++) {
			size_t line = part.runs[i].line;
			size_t count = part.runs[i].lines;
			size_t before = ALIVE_LINE - line;

			if (line <= ALIVE_LINE && before < count) {
				said = add_lines(said, line, from, before);
				from += before * NCS_STATE_LINE_BYTES;
				memcpy(alive, from, NCS_STATE_LINE_BYTES);
				from += NCS_STATE_LINE_BYTES;
				line = ALIVE_LINE + 1;
				count -= before + 1;
			}
			said = add_lines(said, line, from, count);
			from += count * NCS_STATE_LINE_BYTES;
		}
	}
	return said;
}

/* Makes the state that the rank is in unusable, as its parts are mixed. */
static void spoil(struct ncs_stream_rank *rank)
{
	rank->has_key = false;
	rank->has_state = false;
	rank->is_behind = true;
}

/* Ends a state whose last part is laid. */
static void end_state(struct ncs_stream_rank *rank,
		      const struct ncs_state_head *head)
{
	/* Its number may be another segment's, whose name did not come. */
	if ((head->flags & NCS_STATE_KEY) &&
	    !ncs_kept_state_is_of(&rank->kept, &rank->header)) {
		spoil(rank);
		return;
	}
	if (head->flags & NCS_STATE_KEY) {
		rank->has_key = true;
		rank->key_taken_ns = head->taken_ns;
		memset(rank->key_alive, 0, sizeof(rank->key_alive));
		rank->key_said = add_parts(0, &rank->kept.key, rank->key_alive);
	}
	/* A reader that went back in time would look for operations in slots
	 * that later ones used. */
	if (head->taken_ns < rank->taken_ns)
		ncs_stream_read_anew(rank);
	rank->has_state = true;
	rank->is_behind = rank->is_left_out = false;
	rank->taken_ns = head->taken_ns;
	rank->flags = head->flags;
}

int ncs_stream_take_state(struct ncs_stream_reader *stream, uint32_t number,
			  const char *payload, size_t size)
{
	struct ncs_stream_rank *rank = find_rank(stream, number);
	struct ncs_state_part part;

	if (!rank)
		return 0;
	rank->look = stream->number + 1;
	if (!ncs_state_part_read(payload, size, rank->header.segment_bytes,
				 &part)) {
		rank->is_behind = true;
		return 0;
	}
	if (!begin_state(rank, &part.head)) {
		/* A state without its key leaves the one before in place. */
		if (part.head.part != 0)
			spoil(rank);
		rank->is_behind = true;
		return 0;
	}
	if (!keep_part(stream, rank, &part, payload, size)) {
		leave_out(stream, rank);
		return 0;
	}
	rank->parts++;
	if (part.head.flags & NCS_STATE_LAST)
		end_state(rank, &part.head);
	else
		rank->has_state = false;
	return 0;
}

static bool is_same_move(const struct ncs_clock_move *a,
			 const struct ncs_clock_move *b)
{
	return a->offset_ns == b->offset_ns && a->drift == b->drift &&
	       a->at_ns == b->at_ns;
}

int ncs_stream_snapshot(struct ncs_stream_rank *rank,
			const struct ncs_clock_move *move,
			struct ncs_state_image *image,
			struct ncs_snapshot *snapshot, struct ncs_header *moved)
{
	bool is_new;
	int error;

	/* A reader keeps the clock that it found when it was opened. */
	if (rank->reader && !is_same_move(&rank->reader_move, move))
		ncs_stream_read_anew(rank);
	is_new = !rank->reader;
	rank->reader_move = *move;
	error = ncs_state_image_open(image, &rank->kept, &rank->header, move,
				     rank->path, &rank->reader);
	if (!error && ncs_snapshot_init(snapshot, rank->reader) != 0)
		error = -ENOMEM;
	if (!error) {
		ncs_reader_set_process_state(
			rank->reader,
			(struct ncs_process_state){
				.gone = rank->flags & NCS_STATE_GONE,
				.stopped = rank->flags & NCS_STATE_STOPPED,
			});
		ncs_snapshot_take(snapshot, rank->reader,
				  ncs_clock_moved_ns(move, rank->taken_ns));
		rank->is_read_whole = is_new;
		*moved = rank->header;
		ncs_clock_move(&moved->clock, move);
	}
	ncs_state_image_clear(image);
	return error;
}

/* --- States that say the same --------------------------------------------- */

bool ncs_stream_is_same(struct ncs_stream_rank *rank,
			const struct ncs_clock_move *move,
			struct ncs_state_times *times, struct ncs_header *moved)
{
	uint64_t alive = 0, before = rank->said;
	char line[NCS_STATE_LINE_BYTES];
	uint64_t said = rank->key_said +
			(rank->flags & (NCS_STATE_GONE | NCS_STATE_STOPPED));

	memcpy(line, rank->key_alive, sizeof(line));
	said = add_parts(said, &rank->kept.change, line);
	if (NCS_SEGMENT_HAS(&rank->header, alive)) {
		memcpy(&alive, line + ALIVE_AT, sizeof(alive));
		memset(line + ALIVE_AT, 0, sizeof(alive));
	}
	rank->said = add_lines(said, ALIVE_LINE, line, 1);
	if (!rank->reader || rank->said != before ||
	    !is_same_move(&rank->reader_move, move))
		return false;
	*moved = rank->header;
	ncs_clock_move(&moved->clock, move);
	times->taken_ns = ncs_clock_moved_ns(move, rank->taken_ns);
	times->alive_ns = ncs_clock_ns(&moved->clock, alive);
	return true;
}

/* --- Records ------------------------------------------------------------- */

/* Drops the oldest records, so that there is room for `count`; some more than
 * that, as the others are moved each time. */
static void make_room(struct ncs_stream_rank *rank, size_t count)
{
	size_t surplus;

	if (rank->record_count + count <= NCS_STREAM_RECORDS_MAX)
		return;
	surplus = rank->record_count + count - NCS_STREAM_RECORDS_MAX +
		  NCS_STREAM_RECORDS_MAX / 16;
	if (surplus > rank->record_count)
		surplus = rank->record_count;
	rank->record_count -= surplus;
	rank->records_seen -= surplus < rank->records_seen ? surplus :
							     rank->records_seen;
	rank->records_lost += surplus;
	memmove(rank->records, rank->records + surplus,
		rank->record_count * sizeof(*rank->records));
	memmove(rank->record_lanes, rank->record_lanes + surplus,
		rank->record_count * sizeof(*rank->record_lanes));
}

int ncs_stream_take_records(struct ncs_stream_reader *stream, uint32_t number,
			    const char *payload, size_t size)
{
	struct ncs_stream_rank *rank = find_rank(stream, number);
	struct ncs_records_head head;
	struct ncs_stream_lane *lane;
	uint64_t skip = 0;

	if (!rank || size < sizeof(head))
		return 0;
	memcpy(&head, payload, sizeof(head));
	if (head.record_bytes != sizeof(struct ncs_record) ||
	    head.lane >= rank->header.lanes.count ||
	    head.count > (size - sizeof(head)) / sizeof(struct ncs_record) ||
	    head.first > UINT64_MAX - head.count)
		return 0;
	lane = &rank->lanes[head.lane];
	if (lane->is_known && head.first > lane->next)
		rank->records_lost += head.first - lane->next;
	else if (lane->is_known)
		skip = lane->next - head.first;
	else
		rank->records_lost += head.lost;
	if (skip >= head.count && head.count > 0)
		return 0;
	lane->next = head.first + head.count;
	lane->is_known = true;
	head.count -= skip;
	if (head.count == 0)
		return 0;
	if (head.count > NCS_STREAM_RECORDS_MAX) {
		rank->records_lost += head.count - NCS_STREAM_RECORDS_MAX;
		skip += head.count - NCS_STREAM_RECORDS_MAX;
		head.count = NCS_STREAM_RECORDS_MAX;
	}
	if (rank->is_left_out) {
		rank->records_lost += head.count;
		return 0;
	}
	make_room(rank, head.count);
	if (ncs_array_reserve(&rank->records, &rank->record_capacity,
			      rank->record_count + head.count,
			      sizeof(*rank->records)) != 0 ||
	    ncs_array_reserve(&rank->record_lanes, &rank->record_lane_capacity,
			      rank->record_count + head.count,
			      sizeof(*rank->record_lanes)) != 0)
		return -ENOMEM;
	if (!pay(stream, rank)) {
		leave_out(stream, rank);
		return 0;
	}
	for (uint64_t i = 0; i < head.count; i++)
		rank->record_lanes[rank->record_count + i] = head.lane;
	memcpy(rank->records + rank->record_count,
	       payload + sizeof(head) + skip * sizeof(*rank->records),
	       head.count * sizeof(*rank->records));
	rank->record_count += head.count;
	return 0;
}

size_t ncs_stream_move_records(struct ncs_stream_rank *rank,
			       struct ncs_record *records, uint64_t *lost)
{
	size_t count = 0;

	for (uint32_t lane = 0;
	     lane < rank->header.lanes.count && count < rank->record_count;
	     lane++)
		for (size_t i = 0; i < rank->record_count; i++)
			if (rank->record_lanes[i] == lane)
				records[count++] = rank->records[i];
	*lost = rank->records_lost;
	rank->record_count = rank->records_seen = 0;
	rank->records_lost = 0;
	return count;
}
