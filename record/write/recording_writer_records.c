/* SPDX-License-Identifier: MIT */
/* Writes records, from rings and from memory; see recording_writer.h. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "ncclstat/reader.h"
#include "record/write/recording_writer_internal.h"
#include "shm/clock.h"

/* Smallest number of records for which the rest of a buffer is used instead of
 * a new buffer. */
#define RECORDS_LEAST 62u

/* Records of so many lanes are held, 8 MiB; those of others are written at once. */
#define HELD_LANES_MAX 64u

/* Sets the time of the chunk to the time that its records cover. */
static void set_times(struct ncs_chunk *chunk, const struct ncs_clock *clock,
		      const struct ncs_record *records, size_t count)
{
	uint64_t first = UINT64_MAX, last = 0;

	for (size_t i = 0; i < count; i++) {
		uint64_t start = records[i].start;
		uint64_t end = start + records[i].duration;

		if (start < first)
			first = start;
		if (end > last)
			last = end;
	}
	chunk->from_ns = ncs_clock_ns(clock, first);
	chunk->until_ns = ncs_clock_ns(clock, last);
}

/* Ends a chunk whose records lie behind its head. */
static int end_records(struct ncs_recording_writer *writer,
		       const struct ncs_recording_writer_rank *rank,
		       const struct ncs_records_head *head)
{
	struct ncs_chunk chunk = ncs_recording_chunk_at(
		NCS_CHUNK_RECORDS, rank->number,
		sizeof(*head) + head->count * sizeof(struct ncs_record),
		head->drained_ns);

	memcpy(writer->payload, head, sizeof(*head));
	if (head->count > 0)
		set_times(
			&chunk, &rank->header.clock,
			(struct ncs_record *)(writer->payload + sizeof(*head)),
			head->count);
	writer->end.records += head->count;
	writer->end.lost += head->lost;
	return ncs_recording_chunk_end(writer, &chunk);
}

/* Begins a chunk. Returns where to put its records, and sets *room to how many
 * fit. */
static struct ncs_record *begin_records(struct ncs_recording_writer *writer,
					size_t *room)
{
	char *payload = ncs_recording_chunk_begin(
		writer,
		sizeof(struct ncs_records_head) +
			RECORDS_LEAST * sizeof(struct ncs_record),
		room);

	if (!payload)
		return NULL;
	*room = (*room - sizeof(struct ncs_records_head)) /
		sizeof(struct ncs_record);
	if (*room > NCS_RECORDS_MAX)
		*room = NCS_RECORDS_MAX;
	return (struct ncs_record *)(payload + sizeof(struct ncs_records_head));
}

/* --- Held records -------------------------------------------------------- */

static void write_lane(struct ncs_recording_writer *writer, size_t number,
		       size_t lane)
{
	struct ncs_recording_held *held = &writer->ranks[number].held[lane];
	size_t count = held->count;
	uint64_t lost = held->lost;

	held->count = 0;
	held->lost = 0;
	ncs_recording_writer_records(writer, number, lane, held->records, count,
				     held->first, lost, held->drained_ns);
}

static void write_held(struct ncs_recording_writer *writer, size_t number)
{
	const struct ncs_recording_writer_rank *rank = &writer->ranks[number];

	for (size_t i = 0; rank->held && i < rank->header.lanes.count; i++)
		if (rank->held[i].count > 0 || rank->held[i].lost > 0)
			write_lane(writer, number, i);
}

/* Returns whether records of a lane are held. */
static bool holds(const struct ncs_recording_writer *writer, size_t number,
		  size_t lane)
{
	const struct ncs_recording_held *held = writer->ranks[number].held;

	return held &&
	       (held[lane].records || writer->held_lanes < HELD_LANES_MAX);
}

/* Adds the new records of a lane to those that are held, which are written once there
 * is no room for more, or where records are missing. */
static int hold(struct ncs_recording_writer *writer, size_t number,
		struct ncs_reader *reader, size_t lane, uint64_t now_ns,
		size_t *count)
{
	size_t most = ncs_reader_capacity(reader, lane), new_count;
	struct ncs_recording_held *held = &writer->ranks[number].held[lane];

	if (!held->records) {
		held->records = calloc(NCS_RECORDS_MAX, sizeof(*held->records));
		if (!held->records)
			return -ENOMEM;
		writer->held_lanes++;
		writer->write_held = write_held;
	}
	while (writer->error == 0 && *count < most &&
	       ncs_reader_waiting(reader, lane) > 0) {
		uint64_t lost = 0;

		if (held->count == NCS_RECORDS_MAX)
			write_lane(writer, number, lane);
		new_count = ncs_reader_records(reader, lane,
					       held->records + held->count,
					       NCS_RECORDS_MAX - held->count,
					       &lost);
		if (lost > 0 && held->count > 0) {
			struct ncs_record *added = held->records + held->count;

			write_lane(writer, number, lane);
			memmove(held->records, added,
				new_count * sizeof(*added));
		}
		held->lost += lost;
		held->count += new_count;
		held->first = ncs_reader_position(reader, lane) - held->count;
		held->drained_ns = now_ns;
		*count += new_count;
		if (new_count == 0)
			break;
	}
	return writer->error;
}

/* --- Rings and memory ---------------------------------------------------- */

int ncs_recording_writer_drain(struct ncs_recording_writer *writer,
			       size_t number, struct ncs_reader *reader,
			       size_t lane, uint64_t now_ns, size_t *count)
{
	size_t most = ncs_reader_capacity(reader, lane);
	struct ncs_records_head head = {
		.lane = (uint32_t)lane,
		.record_bytes = sizeof(struct ncs_record),
		.drained_ns = now_ns,
	};
	struct ncs_recording_writer_rank *rank;
	struct ncs_record *records;
	size_t room;

	*count = 0;
	if (holds(writer, number, lane))
		return hold(writer, number, reader, lane, now_ns, count);
	while (*count < most && ncs_reader_waiting(reader, lane) > 0) {
		rank = ncs_recording_rank_in_file(writer, number);
		records = rank ? begin_records(writer, &room) : NULL;
		if (!records)
			return writer->error;
		head.lost = 0;
		head.count = ncs_reader_records(reader, lane, records, room,
						&head.lost);
		if (head.count == 0 && head.lost == 0)
			break;
		head.first = ncs_reader_position(reader, lane) - head.count;
		*count += head.count;
		if (end_records(writer, rank, &head) != 0 || head.count == 0)
			return writer->error;
	}
	return writer->error;
}

int ncs_recording_writer_records(struct ncs_recording_writer *writer,
				 size_t number, size_t lane,
				 const struct ncs_record *records, size_t count,
				 uint64_t first, uint64_t lost,
				 uint64_t drained_ns)
{
	struct ncs_records_head head = {
		.lane = (uint32_t)lane,
		.record_bytes = sizeof(struct ncs_record),
		.first = first,
		.lost = lost,
		.drained_ns = drained_ns,
	};
	struct ncs_recording_writer_rank *rank =
		ncs_recording_rank_in_file(writer, number);
	size_t room;

	while (rank && (count > 0 || head.lost > 0)) {
		struct ncs_record *copy = begin_records(writer, &room);

		if (!copy)
			break;
		head.count = count < room ? count : room;
		memcpy(copy, records, head.count * sizeof(*copy));
		if (end_records(writer, rank, &head) != 0)
			break;
		head.first += head.count;
		head.lost = 0;
		records += head.count;
		count -= head.count;
	}
	return writer->error;
}
