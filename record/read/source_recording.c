/* SPDX-License-Identifier: MIT */
/* Reads samples from a recording; see source_recording.h. */
#include "record/read/source_recording.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "ncclstat/abi_header.h"
#include "ncclstat/reader.h"
#include "record/read/recording_internal.h"
#include "shm/array.h"
#include "shm/clock.h"

/* Largest number of records of a rank in one pass. A pass with more records
 * takes the latest ones. */
#define RECORD_MAX 262144u

/* Largest number and age of the records of a first pass; the number is that of
 * a live job. */
#define FIRST_MAX 16384u
#define BEFORE_FIRST_NS UINT64_C(10000000000)

/* Consecutive records of one lane. */
struct lane_piece {
	unsigned lane;
	size_t first; /* index in `gathered` */
	size_t count;
};

struct replayed_lane {
	uint64_t next; /* position of the next record in the lane */
	size_t series; /* the recording that had the one before it */
	bool is_known; /* whether `next` is set */
	bool waits; /* the next record is for a later pass, as it ends later */
};

/* How many of the records of a rank were passed on. */
struct replayed_rank {
	/* For each chunk, the earliest time in it and in all chunks behind it,
	 * by the host's clock. A search can stop at a chunk whose time here is
	 * after the end of the pass. */
	uint64_t *earliest;
	size_t next_chunk; /* all chunks before it are done */
	struct replayed_lane *lanes;
	uint64_t from_ns; /* records that ended before this are left out */
	bool has_begun;
	uint64_t shown_ns; /* time of the latest sample; 0 if there was none */
	/* Bytes that the recording's budget has paid for it in the model. */
	uint64_t paid;
};

struct source_recording {
	struct ncs_source source; /* must be first: it is cast to this struct */
	struct ncs_recording *recording;
	uint32_t pid; /* pid of the only process to show; 0 for all */
	struct replayed_rank *played;
	struct ncs_snapshot snapshot; /* snapshot of the latest sample */
	bool has_snapshot;
	char *stack; /* lines of that sample; NULL: none */
	struct ncs_machine_peaks peaks; /* of that sample */
	/* RECORD_MAX records, in the order of the recording. */
	struct ncs_record *gathered;
	struct ncs_record *records;  /* RECORD_MAX records, lane by lane */
	struct lane_piece *pieces;
	size_t piece_count;
	size_t piece_capacity;
	size_t place; /* rank at which next() continues */
	uint64_t now_ns;
};

static struct source_recording *self_of(struct ncs_source *source)
{
	return (struct source_recording *)source;
}

static void forget_sample(struct source_recording *self)
{
	if (self->has_snapshot)
		ncs_snapshot_release(&self->snapshot);
	self->has_snapshot = false;
	free(self->stack);
	self->stack = NULL;
}

void ncs_source_recording_restart(struct ncs_source *source)
{
	struct source_recording *self = self_of(source);

	self->now_ns = 0;
	for (size_t i = 0; i < self->recording->rank_count; i++) {
		self->played[i].has_begun = false;
		self->played[i].shown_ns = 0;
	}
}

void ncs_source_recording_expect(struct ncs_source *source, uint64_t at_ns)
{
	struct source_recording *self = self_of(source);

	for (size_t i = 0; i < self->recording->rank_count; i++)
		ncs_recording_expect(self->recording, i, at_ns);
}

static int begin(struct ncs_source *source, uint64_t now_ns, char *why,
		 size_t why_size)
{
	struct source_recording *self = self_of(source);

	(void)why;
	(void)why_size;
	if (now_ns < self->now_ns)
		ncs_source_recording_restart(source);
	forget_sample(self);
	self->now_ns = now_ns;
	self->place = 0;
	return 0;
}

/* --- Records ------------------------------------------------------------- */

static uint64_t common_ns(const struct source_recording *self, size_t rank,
			  uint64_t ns)
{
	return ncs_recording_common_ns(
		self->recording, self->recording->ranks[rank].facts.host, ns);
}

static struct ncs_chunk_place *chunk_of(const struct source_recording *self,
					size_t rank, size_t chunk)
{
	return ncs_recording_chunk(
		self->recording,
		self->recording->ranks[rank].records.at[chunk]);
}

static int get_played(struct source_recording *self, size_t rank)
{
	const struct ncs_rank_entry *recorded = &self->recording->ranks[rank];
	struct replayed_rank *played = &self->played[rank];
	size_t count = recorded->records.count;
	uint64_t earliest_ns = UINT64_MAX;

	if (played->earliest)
		return 0;
	free(played->lanes);
	played->lanes =
		calloc(recorded->recorded.lanes.count, sizeof(*played->lanes));
	played->earliest = calloc(count + 1, sizeof(*played->earliest));
	if (!played->lanes || !played->earliest)
		return -ENOMEM;
	for (size_t i = count; i-- > 0;) {
		uint64_t from_ns = chunk_of(self, rank, i)->from_ns;

		if (from_ns < earliest_ns)
			earliest_ns = from_ns;
		played->earliest[i] = earliest_ns;
	}
	return 0;
}

/* Prepares the first pass of a rank: skips the records that ended more than
 * BEFORE_FIRST_NS before `until_ns`. */
static void begin_records(struct source_recording *self, size_t rank,
			  uint64_t until_ns)
{
	const struct ncs_rank_entry *recorded = &self->recording->ranks[rank];
	struct replayed_rank *played = &self->played[rank];
	size_t chunk = 0;

	if (played->has_begun)
		return;
	played->has_begun = true;
	played->from_ns =
		until_ns > BEFORE_FIRST_NS ? until_ns - BEFORE_FIRST_NS : 0;
	while (chunk < recorded->records.count &&
	       common_ns(self, rank, chunk_of(self, rank, chunk)->until_ns) <
		       played->from_ns)
		chunk++;
	played->next_chunk = chunk;
	memset(played->lanes, 0,
	       recorded->recorded.lanes.count * sizeof(*played->lanes));
}

static int add_piece(struct source_recording *self, unsigned lane, size_t first,
		     size_t count)
{
	if (ncs_array_reserve(&self->pieces, &self->piece_capacity,
			      self->piece_count + 1,
			      sizeof(*self->pieces)) != 0)
		return -ENOMEM;
	self->pieces[self->piece_count++] = (struct lane_piece){
		.lane = lane,
		.first = first,
		.count = count,
	};
	return 0;
}

/* Takes the records of a batch of a recording that ended by until_ns; all of them
 * if the batch was drained by then. Those between two recordings are not lost.
 * Returns 1 if all records were taken, 0 if some are left for later, or
 * -ENOMEM. */
static int take_batch(struct source_recording *self,
		      const struct ncs_batch *batch, size_t series,
		      uint64_t until_ns, struct ncs_sample *sample)
{
	struct replayed_rank *played = &self->played[batch->rank];
	const struct ncs_clock *clock =
		&self->recording->ranks[batch->rank].moved.clock;
	struct replayed_lane *lane = &played->lanes[batch->lane];
	size_t first = sample->record_count;
	uint64_t position = batch->first;
	size_t i = 0;

	if (lane->waits)
		return 0;
	if (lane->is_known && position > lane->next)
		sample->records_lost += series == lane->series ?
						position - lane->next :
						0;
	else if (lane->is_known)
		i = lane->next - position < batch->count ?
			    (size_t)(lane->next - position) :
			    batch->count;
	for (; i < batch->count && sample->record_count < RECORD_MAX; i++) {
		const struct ncs_record *record = &batch->records[i];
		uint64_t end_ns =
			ncs_clock_ns(clock, record->start + record->duration);

		if (end_ns > until_ns && batch->drained_ns > until_ns)
			break;
		if (end_ns > played->from_ns)
			self->gathered[sample->record_count++] = *record;
	}
	/* A recorder that goes on with the recording of another one has read what is
	 * still in the rings. */
	if (!lane->is_known || position + i > lane->next)
		lane->next = position + i;
	lane->is_known = true;
	lane->series = series;
	lane->waits = i < batch->count;
	if (sample->record_count > first &&
	    add_piece(self, batch->lane, first, sample->record_count - first) !=
		    0)
		return -ENOMEM;
	return i == batch->count;
}

/* Returns the first of the chunks before `end` that together have at most
 * `most` records. */
static size_t first_chunk(const struct source_recording *self, size_t rank,
			  size_t end, uint64_t most)
{
	const struct replayed_rank *played = &self->played[rank];
	uint64_t sum = 0;

	while (end > played->next_chunk) {
		sum += chunk_of(self, rank, end - 1)->records;
		if (sum > most)
			break;
		end--;
	}
	return end;
}

/* Returns the index behind the last chunk in which a record may have ended by
 * until_ns. */
static size_t last_chunk(const struct source_recording *self, size_t rank,
			 uint64_t until_ns)
{
	const struct replayed_rank *played = &self->played[rank];
	size_t end = played->next_chunk;

	while (end < self->recording->ranks[rank].records.count &&
	       common_ns(self, rank, played->earliest[end]) <= until_ns)
		end++;
	return end;
}

static void put_lane_by_lane(struct source_recording *self, unsigned lanes,
			     struct ncs_sample *sample)
{
	size_t count = 0;

	for (unsigned lane = 0; lane < lanes; lane++)
		for (size_t i = 0; i < self->piece_count; i++) {
			const struct lane_piece *piece = &self->pieces[i];

			if (piece->lane != lane)
				continue;
			memcpy(&self->records[count],
			       &self->gathered[piece->first],
			       piece->count * sizeof(*self->records));
			count += piece->count;
		}
	sample->records = self->records;
	sample->record_count = count;
}

static int read_records(struct source_recording *self, size_t rank,
			uint64_t until_ns, struct ncs_sample *sample)
{
	const struct ncs_rank_entry *recorded = &self->recording->ranks[rank];
	struct replayed_rank *played = &self->played[rank];
	size_t end, chunk;
	bool whole = true, is_first;

	if (get_played(self, rank) != 0)
		return -ENOMEM;
	is_first = !played->has_begun;
	begin_records(self, rank, until_ns);
	for (uint32_t i = 0; i < recorded->recorded.lanes.count; i++)
		played->lanes[i].waits = false;
	self->piece_count = 0;
	end = last_chunk(self, rank, until_ns);
	chunk = first_chunk(self, rank, end, is_first ? FIRST_MAX : RECORD_MAX);
	played->next_chunk = chunk;
	for (; chunk < end; chunk++) {
		struct ncs_chunk_ref at = recorded->records.at[chunk];
		struct ncs_batch batch;
		int result = ncs_recording_batch(self->recording, rank, at,
						 NULL, &batch);

		/* Skip a chunk that cannot be read. */
		if (result == 1)
			result = take_batch(
				self, &batch,
				self->recording->file_series[at.file], until_ns,
				sample);
		else if (result == 0)
			result = 1;
		if (result < 0)
			return result;
		whole = whole && result == 1;
		if (whole)
			played->next_chunk = chunk + 1;
	}
	put_lane_by_lane(self, recorded->recorded.lanes.count, sample);
	return 0;
}

/* Sets the clock error of a sample: that of the recording's alignment of
 * hosts. */
static void set_clock_error(const struct source_recording *self, size_t rank,
			    struct ncs_sample *sample)
{
	const struct ncs_recorded_host *host = ncs_recording_host(
		self->recording, self->recording->ranks[rank].facts.host);

	sample->clock_is_aligned = host->error_ns != UINT64_MAX;
	if (sample->clock_is_aligned)
		sample->clock_error_ns = host->error_ns;
	sample->clock_is_by_realtime = host->is_by_realtime;
}

/* Adds the latest stack that the rank's process had by now. */
static void take_stack(struct source_recording *self, size_t rank,
		       struct ncs_sample *sample)
{
	const struct ncs_chunk_refs *stacks =
		&self->recording->ranks[rank].stacks;
	size_t place = ncs_recording_latest(self->recording,
					    &self->recording->ranks[rank],
					    stacks, self->now_ns,
					    stacks->count);
	struct ncs_payload payload;

	if (place == stacks->count)
		return;
	payload =
		ncs_recording_payload(self->recording, stacks->at[place], NULL);
	if (payload.bytes)
		self->stack = strndup(payload.bytes, payload.size);
	sample->stack = self->stack;
	sample->stack_ns = common_ns(
		self, rank,
		ncs_recording_chunk(self->recording, stacks->at[place])->from_ns);
}

/* --- Samples ------------------------------------------------------------- */

/* Pays for the rank in the model that shows it. Returns false if there is too
 * little memory for that. */
static bool pay(struct source_recording *self, size_t rank)
{
	struct ncs_recording *recording = self->recording;
	uint64_t due =
		ncs_kept_state_model_bytes(&recording->ranks[rank].state.kept);
	uint64_t *paid = &self->played[rank].paid;

	if (due > *paid && !ncs_budget_take(&recording->budget, due - *paid))
		return false;
	if (due > *paid)
		*paid = due;
	return true;
}

static void take_sample(struct source_recording *self, size_t rank,
			struct ncs_reader *reader, uint64_t taken_ns,
			struct ncs_sample *sample)
{
	int error = pay(self, rank) ?
			    ncs_snapshot_init(&self->snapshot, reader) :
			    -ENOMEM;

	if (!error) {
		self->has_snapshot = true;
		ncs_snapshot_take(&self->snapshot, reader, taken_ns);
		sample->header = &self->recording->ranks[rank].moved;
		sample->owner = self->recording->ranks[rank].facts.owner;
		sample->labels = ncs_reader_labels(reader);
		if (ncs_recording_peaks(self->recording, rank, self->now_ns,
					&self->peaks))
			sample->peaks = &self->peaks;
		take_stack(self, rank, sample);
		sample->snapshot = &self->snapshot;
		sample->is_old = self->played[rank].shown_ns == taken_ns;
		self->played[rank].shown_ns = taken_ns;
		set_clock_error(self, rank, sample);
		sample->without_records =
			self->source.wants_records &&
			!self->source.wants_records(self->source.wants_context,
						    sample->id);
		if (!sample->without_records)
			error = read_records(self, rank, taken_ns, sample);
		/* The state of a rank that has ended is old when its records
		 * come with a later pass. */
		if (sample->record_count > 0 || sample->records_lost > 0)
			sample->is_old = false;
	}
	sample->attach = error ? NCS_ATTACH_FAILED : NCS_ATTACHED;
	sample->why = error ? strerror(-error) : NULL;
}

static bool next(struct ncs_source *source, struct ncs_sample *sample)
{
	struct source_recording *self = self_of(source);

	forget_sample(self);
	while (self->place < self->recording->rank_count) {
		size_t rank = self->place++;
		const struct ncs_recorded_rank *facts =
			&self->recording->ranks[rank].facts;
		struct ncs_reader *reader;
		uint64_t taken_ns;
		int result;

		if (self->pid != 0 && facts->header->pid != self->pid)
			continue;
		result = ncs_recording_state(self->recording, rank,
					     self->now_ns, &reader, &taken_ns);
		if (result == NCS_RECORDED_NOT_YET ||
		    result == NCS_RECORDED_NO_MORE)
			continue;
		memset(sample, 0, sizeof(*sample));
		sample->id = facts->id;
		if (result == NCS_RECORDED_YES) {
			take_sample(self, rank, reader, taken_ns, sample);
		} else if (result == NCS_RECORDED_DAMAGED) {
			sample->attach = NCS_ATTACH_CORRUPT;
			sample->why = "the recording is damaged there";
		} else {
			sample->attach = NCS_ATTACH_FAILED;
			sample->why = strerror(-result);
		}
		return true;
	}
	return false;
}

static void close_source(struct ncs_source *source)
{
	struct source_recording *self = self_of(source);

	forget_sample(self);
	for (size_t i = 0; self->played && i < self->recording->rank_count;
	     i++) {
		ncs_budget_give(&self->recording->budget, self->played[i].paid);
		free(self->played[i].earliest);
		free(self->played[i].lanes);
	}
	free(self->played);
	free(self->gathered);
	free(self->records);
	free(self->pieces);
	free(self);
}

struct ncs_source *ncs_source_open_recording(struct ncs_recording *recording,
					     uint32_t pid)
{
	struct source_recording *self = calloc(1, sizeof(*self));

	if (!self)
		return NULL;
	self->recording = recording;
	self->pid = pid;
	self->played = calloc(recording->rank_count + 1, sizeof(*self->played));
	/* Memory that is never touched is not used. */
	self->gathered = malloc(RECORD_MAX * sizeof(*self->gathered));
	self->records = malloc(RECORD_MAX * sizeof(*self->records));
	if (!self->played || !self->gathered || !self->records) {
		close_source(&self->source);
		return NULL;
	}
	self->source.begin = begin;
	self->source.next = next;
	self->source.close = close_source;
	return &self->source;
}
