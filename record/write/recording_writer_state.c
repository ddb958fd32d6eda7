/* SPDX-License-Identifier: MIT */
/* Writes states of a rank: keys, which hold the whole state, and changes since
 * a key; see recording_writer.h. */
#include <errno.h>
#include <string.h>

#include "record/write/recording_writer_internal.h"
#include "shm/array.h"

#define LINES_A_PAGE (NCS_PAGE_BYTES / NCS_STATE_LINE_BYTES)

/* Smallest room in bytes that is used for a part of a state. */
#define PART_BYTES_LEAST 8192u

void *ncs_recording_writer_image(struct ncs_recording_writer *writer,
				 size_t rank)
{
	return writer->ranks[rank].image;
}

void ncs_recording_writer_piece(void *context, size_t offset, size_t bytes)
{
	const struct ncs_recording_piece *piece = context;
	uint64_t *touched = piece->writer->ranks[piece->rank].touched;

	if (bytes == 0)
		return;
	for (size_t i = offset / NCS_PAGE_BYTES;
	     i <= (offset + bytes - 1) / NCS_PAGE_BYTES; i++)
		touched[i / 64] |= UINT64_C(1) << (i % 64);
}

/* --- Finding changed lines ----------------------------------------------- */

static const char zeros[NCS_PAGE_BYTES];

/* Adds a line to the runs. Returns false if there is no memory. */
static bool add_line(struct ncs_recording_writer *writer, uint32_t line)
{
	struct ncs_run *last = writer->run_count > 0 ?
				       &writer->runs[writer->run_count - 1] :
				       NULL;

	if (last && last->line + last->lines == line) {
		last->lines++;
		return true;
	}
	if (ncs_array_reserve(&writer->runs, &writer->run_capacity,
			      writer->run_count + 1,
			      sizeof(*writer->runs)) != 0)
		return false;
	writer->runs[writer->run_count++] =
		(struct ncs_run){ .line = line, .lines = 1 };
	return true;
}

/* Adds the lines of a page that differ from those at `before`. Returns false if
 * there is no memory. */
static bool compare_page(struct ncs_recording_writer *writer, const char *page,
			 const char *before, size_t number, uint64_t *lines)
{
	if (memcmp(page, before, NCS_PAGE_BYTES) == 0)
		return true;
	for (size_t i = 0; i < LINES_A_PAGE; i++) {
		size_t offset = i * NCS_STATE_LINE_BYTES;

		if (memcmp(page + offset, before + offset,
			   NCS_STATE_LINE_BYTES) == 0)
			continue;
		if (!add_line(writer, (uint32_t)(number * LINES_A_PAGE + i)))
			return false;
		++*lines;
	}
	return true;
}

static bool is_touched(const struct ncs_recording_writer_rank *rank,
		       size_t page)
{
	return rank->touched[page / 64] >> (page % 64) & 1;
}

/* Finds the lines of a state to be written, and counts them. Returns false if
 * there is no memory. */
static bool find_lines(struct ncs_recording_writer *writer,
		       const struct ncs_recording_writer_rank *rank,
		       bool is_key, uint64_t *lines)
{
	writer->run_count = 0;
	*lines = 0;
	for (size_t i = 0; i < rank->pages; i++) {
		size_t offset = i * NCS_PAGE_BYTES;

		if (rank->touched[i / 64] == 0) {
			i |= 63; /* no page of this word was touched */
			continue;
		}
		if (is_touched(rank, i) &&
		    !compare_page(writer, rank->image + offset,
				  is_key ? zeros : rank->key + offset, i,
				  lines))
			return false;
	}
	return true;
}

static void keep_key(struct ncs_recording_writer_rank *rank)
{
	for (size_t i = 0; i < rank->pages; i++)
		if (is_touched(rank, i))
			memcpy(rank->key + i * NCS_PAGE_BYTES,
			       rank->image + i * NCS_PAGE_BYTES,
			       NCS_PAGE_BYTES);
}

/* --- Parts --------------------------------------------------------------- */

/* Returns the offset in the payload at which the lines begin, behind this
 * number of runs. */
static size_t lines_offset(size_t runs)
{
	return sizeof(struct ncs_state_head) +
	       (runs * sizeof(struct ncs_run) + NCS_STATE_LINE_BYTES - 1) /
		       NCS_STATE_LINE_BYTES * NCS_STATE_LINE_BYTES;
}

/* Moves as many of the writer's runs to `chosen`, from *next on, as fit into
 * `room` bytes with their lines; a run may be split. Sets *lines to the number
 * of their lines. Returns the number of runs moved. */
static size_t choose_runs(struct ncs_recording_writer *writer, size_t *next,
			  struct ncs_run *chosen, size_t room, size_t *lines)
{
	size_t count = 0;

	*lines = 0;
	while (*next < writer->run_count) {
		struct ncs_run *run = &writer->runs[*next];
		size_t before =
			lines_offset(count + 1) + *lines * NCS_STATE_LINE_BYTES;
		size_t fit;

		if (before + NCS_STATE_LINE_BYTES > room)
			break;
		fit = (room - before) / NCS_STATE_LINE_BYTES;
		if (fit > run->lines)
			fit = run->lines;
		chosen[count].line = run->line;
		chosen[count++].lines = (uint32_t)fit;
		*lines += fit;
		run->line += (uint32_t)fit;
		run->lines -= (uint32_t)fit;
		if (run->lines > 0)
			break;
		++*next;
	}
	return count;
}

static int write_part(struct ncs_recording_writer *writer,
		      const struct ncs_recording_writer_rank *rank,
		      struct ncs_state_head *head, size_t *next)
{
	size_t room, lines;
	char *payload =
		     ncs_recording_chunk_begin(writer, PART_BYTES_LEAST, &room),
	     *at;
	struct ncs_run *runs = (struct ncs_run *)(payload + sizeof(*head));
	struct ncs_chunk chunk;

	if (!payload)
		return writer->error;
	if ((head->flags & NCS_STATE_KEY) && head->part == 0)
		head->key_offset = ncs_sink_offset(writer->sink);
	head->runs = (uint32_t)choose_runs(writer, next, runs, room, &lines);
	if (*next == writer->run_count)
		head->flags |= NCS_STATE_LAST;
	memcpy(payload, head, sizeof(*head));
	at = payload + lines_offset(head->runs);
	memset(&runs[head->runs], 0, (size_t)(at - (char *)&runs[head->runs]));
	for (size_t i = 0; i < head->runs; i++) {
		size_t bytes = (size_t)runs[i].lines * NCS_STATE_LINE_BYTES;

		memcpy(at,
		       rank->image +
			       (size_t)runs[i].line * NCS_STATE_LINE_BYTES,
		       bytes);
		at += bytes;
	}
	chunk = ncs_recording_chunk_at(NCS_CHUNK_STATE, rank->number,
				       (size_t)(at - payload), head->taken_ns);
	head->part++;
	return ncs_recording_chunk_end(writer, &chunk);
}

int ncs_recording_writer_state(struct ncs_recording_writer *writer,
			       size_t number, uint64_t taken_ns, unsigned flags,
			       bool is_torn)
{
	struct ncs_recording_writer_rank *rank =
		ncs_recording_rank_in_file(writer, number);
	struct ncs_state_head head = { .taken_ns = taken_ns, .flags = flags };
	uint64_t lines = 0;
	size_t next = 0;
	bool is_key, found;

	/* A state comes after the records that it counts. */
	if (rank && writer->held_lanes > 0)
		writer->write_held(writer, number);
	if (!rank || writer->error != 0)
		return writer->error;
	is_key = !rank->has_key ||
		 taken_ns - rank->key_taken_ns >= writer->settings.key_every_ns;
	found = find_lines(writer, rank, is_key, &lines);
	/* Looks that are packed have no other keys than those of looks that can
	 * be read by themselves: so any other look may be dropped. */
	if (found && !is_key && lines > rank->key_lines / 2 &&
	    !(writer->settings.is_stream && !writer->packer)) {
		is_key = true;
		found = find_lines(writer, rank, is_key, &lines);
	}
	if (!found)
		return -ENOMEM;
	head.segment_bytes = rank->header.segment_bytes;
	head.key_offset = rank->key_offset;
	head.key_taken_ns = rank->key_taken_ns;
	if (is_key) {
		head.flags |= NCS_STATE_KEY;
		head.key_taken_ns = taken_ns;
	}
	while (!(head.flags & NCS_STATE_LAST))
		if (write_part(writer, rank, &head, &next) != 0)
			return writer->error;
	if (is_key) {
		rank->has_key = true;
		rank->key_offset = head.key_offset;
		rank->key_taken_ns = taken_ns;
		rank->key_lines = lines;
		keep_key(rank);
	}
	writer->end.states++;
	writer->end.torn_states += is_torn;
	return 0;
}
