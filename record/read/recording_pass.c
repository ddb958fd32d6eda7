/* SPDX-License-Identifier: MIT */
/* Passes over the records of recordings. Several recordings are merged by the
 * time at which their records were drained; the records of one recording come
 * in the order of its files. */
#include "record/read/recording.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "record/read/recording_internal.h"

/* Position in the records of one recording, and its next batch. */
struct pass_cursor {
	const struct ncs_chunk_refs *places;
	size_t next;
	bool has_batch;
	struct ncs_batch batch;
	size_t series; /* the recording that has the batch */
	char *unpacked; /* records of the batch; NULL until needed */
};

struct pass_lane {
	uint64_t next; /* the expected position; 0 if nothing was read yet */
	size_t series; /* the recording that had the one before it */
};

struct ncs_recording_pass {
	struct ncs_recording *recording;
	uint64_t from_ns;
	uint64_t until_ns;
	struct pass_cursor *cursors;
	size_t count;
	size_t latest; /* cursor of the latest batch */
	bool has_given;
	struct pass_lane **lanes; /* by rank and lane */
};

int ncs_recording_batch(struct ncs_recording *recording, size_t rank,
			struct ncs_chunk_ref at, void *room,
			struct ncs_batch *batch)
{
	const struct ncs_recorded_rank *facts = &recording->ranks[rank].facts;
	struct ncs_payload payload = ncs_recording_payload(recording, at, room);
	struct ncs_records_head head;

	if (!payload.bytes || payload.size < sizeof(head))
		return 0;
	memcpy(&head, payload.bytes, sizeof(head));
	if (head.record_bytes != sizeof(struct ncs_record) ||
	    head.lane >= facts->header->lanes.count ||
	    head.count > (payload.size - sizeof(head)) / head.record_bytes)
		return 0;
	*batch = (struct ncs_batch){
		.rank = rank,
		.lane = head.lane,
		.records = (const struct ncs_record *)(payload.bytes +
						       sizeof(head)),
		.count = head.count,
		.first = head.first,
		.lost = head.lost,
		.drained_ns = ncs_recording_common_ns(recording, facts->host,
						      head.drained_ns),
	};
	return 1;
}

/* --- Opening ------------------------------------------------------------- */

struct ncs_recording_pass *
ncs_recording_pass_open(struct ncs_recording *recording, uint64_t from_ns,
			uint64_t until_ns)
{
	size_t count = recording->series_count;
	struct ncs_recording_pass *pass = calloc(1, sizeof(*pass));

	if (!pass)
		return NULL;
	pass->recording = recording;
	pass->from_ns = from_ns;
	pass->until_ns = until_ns;
	pass->count = count;
	pass->cursors = calloc(count + 1, sizeof(*pass->cursors));
	pass->lanes = calloc(recording->rank_count + 1, sizeof(*pass->lanes));
	if (!pass->cursors || !pass->lanes) {
		ncs_recording_pass_close(pass);
		return NULL;
	}
	for (size_t i = 0; i < count; i++)
		pass->cursors[i].places = &recording->series[i].records;
	return pass;
}

void ncs_recording_pass_close(struct ncs_recording_pass *pass)
{
	if (!pass)
		return;
	for (size_t i = 0; pass->cursors && i < pass->count; i++)
		free(pass->cursors[i].unpacked);
	for (size_t i = 0; pass->lanes && i < pass->recording->rank_count; i++)
		free(pass->lanes[i]);
	free(pass->cursors);
	free(pass->lanes);
	free(pass);
}

/* --- Batches ------------------------------------------------------------- */

/* Leaves out what an earlier batch has: a recorder that goes on with the recording of
 * another one reads what is still in the rings. */
static void leave_repeated(struct ncs_batch *batch, uint64_t next)
{
	uint64_t repeated = next - batch->first;

	if (repeated > batch->count)
		repeated = batch->count;
	batch->records += repeated;
	batch->first += repeated;
	batch->count -= repeated;
	batch->lost = 0;
}

/* Sets the number of records missing before a batch of a recording: the number in
 * its chunk, or the gap between positions, e.g. where a chunk is damaged, but not
 * that between two recordings. Returns 0 or -ENOMEM. */
static int count_lost(struct ncs_recording_pass *pass, struct ncs_batch *batch,
		      size_t series)
{
	struct pass_lane **lanes = &pass->lanes[batch->rank], *lane;

	if (!*lanes)
		*lanes = calloc(
			pass->recording->ranks[batch->rank].recorded.lanes.count,
			sizeof(**lanes));
	if (!*lanes)
		return -ENOMEM;
	lane = &(*lanes)[batch->lane];
	if (batch->first < lane->next)
		leave_repeated(batch, lane->next);
	else if (lane->next != 0 && batch->first > lane->next &&
		 series == lane->series)
		batch->lost = batch->first - lane->next;
	if (batch->count > 0)
		*lane = (struct pass_lane){ batch->first + batch->count,
					    series };
	return 0;
}

/* Returns 1 if the cursor has a batch; 0 if the chunk is left out as damaged or
 * not valid; or -ENOMEM. */
static int take_chunk(struct ncs_recording_pass *pass,
		      struct pass_cursor *cursor, struct ncs_chunk_ref at)
{
	if (!cursor->unpacked)
		cursor->unpacked =
			aligned_alloc(NCS_CHUNK_ALIGNMENT, NCS_CHUNK_BYTES_MAX);
	if (!cursor->unpacked)
		return -ENOMEM;
	cursor->series = pass->recording->file_series[at.file];
	return ncs_recording_batch(pass->recording,
				   ncs_recording_rank_of(pass->recording, at), at,
				   cursor->unpacked, &cursor->batch);
}

static bool is_wanted(const struct ncs_recording_pass *pass,
		      struct ncs_chunk_ref at)
{
	const struct ncs_recording *recording = pass->recording;
	const struct ncs_chunk_place *place =
		ncs_recording_chunk(recording, at);
	size_t host = recording->ranks[ncs_recording_rank_of(recording, at)].facts.host;

	return ncs_recording_common_ns(recording, host, place->until_ns) >=
		       pass->from_ns &&
	       ncs_recording_common_ns(recording, host, place->from_ns) <=
		       pass->until_ns;
}

/* Moves a cursor to its next batch. At its end a cursor has no batch. Returns 0
 * or -errno. */
static int advance(struct ncs_recording_pass *pass, struct pass_cursor *cursor)
{
	cursor->has_batch = false;
	while (!cursor->has_batch && cursor->next < cursor->places->count) {
		struct ncs_chunk_ref at = cursor->places->at[cursor->next++];
		int result;

		if (!is_wanted(pass, at))
			continue;
		result = take_chunk(pass, cursor, at);
		if (result < 0)
			return result;
		cursor->has_batch = result == 1;
	}
	return 0;
}

int ncs_recording_pass_next(struct ncs_recording_pass *pass,
			    struct ncs_batch *batch)
{
	struct pass_cursor *first = NULL;
	int error = 0;

	for (size_t i = 0; i < pass->count; i++) {
		struct pass_cursor *cursor = &pass->cursors[i];

		if (!pass->has_given || i == pass->latest)
			error = advance(pass, cursor);
		if (error)
			return error;
		if (cursor->has_batch &&
		    (!first ||
		     cursor->batch.drained_ns < first->batch.drained_ns))
			first = cursor;
	}
	pass->has_given = true;
	if (!first)
		return 0;
	pass->latest = (size_t)(first - pass->cursors);
	*batch = first->batch;
	/* In the order in which batches are given: another cursor may have a later
	 * batch of the same lane already. */
	error = count_lost(pass, batch, first->series);
	return error ? error : 1;
}
