/* SPDX-License-Identifier: MIT */
/* Makes parts of records, and operations of parts; see
 * recorded_operations.h. */
#include "record/read/recorded_operations.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/records/parts.h"
#include "analysis/model/range_totals.h"
#include "ncclstat/abi_header.h"
#include "shm/clock.h"

/* Parts are passed on this long after their records were drained. */
#define SETTLES_NS UINT64_C(20000000)

#define RANGE_PATH_MAX 512u

/* Largest number of states read besides the latest. */
#define STATES 3

struct operations_rank {
	struct ncs_parts *parts;
	struct ncs_identity identity;
	/* Paths of ranges; index is the range's number minus 1. */
	char **ranges;
	uint32_t range_count;
};

struct ncs_recorded_operations {
	struct ncs_recording *recording;
	uint64_t from_ns;
	uint64_t until_ns;
	struct operations_rank *ranks;
	size_t rank_count;
	struct ncs_job_rank *job_ranks;
	uint32_t job_rank_count;
	struct ncs_recording_pass *pass;
	struct ncs_replaced_records replaced;
	struct ncs_join *join;
	bool is_over;        /* the pass is at its end */
	uint64_t drained_ns; /* time of the latest batch */
	/* Longest time from an event's end until its record was read. */
	uint64_t lag_ns;
};

/* --- Learning from states ------------------------------------------------ */

static int copy_ranges(struct operations_rank *rank,
		       const struct ncs_snapshot *snapshot)
{
	char path[RANGE_PATH_MAX];
	uint32_t count = 0;

	for (size_t i = 0; i < snapshot->range_count; i++)
		if (snapshot->ranges[i].number > count)
			count = snapshot->ranges[i].number;
	rank->ranges = calloc(count + 1u, sizeof(char *));
	if (!rank->ranges)
		return -ENOMEM;
	rank->range_count = count;
	for (size_t i = 0; i < snapshot->range_count; i++) {
		uint32_t number = snapshot->ranges[i].number;

		if (number == 0 || rank->ranges[number - 1])
			continue;
		path[0] = '\0';
		ncs_range_append_path(snapshot, number, path, sizeof(path));
		rank->ranges[number - 1] = strdup(path);
		if (!rank->ranges[number - 1])
			return -ENOMEM;
	}
	return 0;
}

/* Learns from the state at a time. If there is none, less is known of the
 * rank. */
static int learn_at(struct ncs_recorded_operations *operations, size_t index,
		    uint64_t at_ns, bool is_latest)
{
	struct operations_rank *rank = &operations->ranks[index];
	struct ncs_snapshot snapshot;
	struct ncs_reader *reader;
	uint64_t taken_ns;
	int error;

	error = ncs_recording_state(operations->recording, index, at_ns,
				    &reader, &taken_ns);
	if (error != NCS_RECORDED_YES)
		return error == -ENOMEM ? error : 0;
	if (ncs_snapshot_init(&snapshot, reader) != 0)
		return -ENOMEM;
	ncs_snapshot_take(&snapshot, reader, taken_ns);
	error = ncs_parts_learn(rank->parts, &snapshot);
	rank->identity = snapshot.identity;
	if (!error && is_latest && !rank->ranges)
		error = copy_ranges(rank, &snapshot);
	ncs_snapshot_release(&snapshot);
	return error;
}

/* Learns from the latest state in the requested time, and from some states
 * before it, because the GPU's clock drifts. */
static int learn(struct ncs_recorded_operations *operations, size_t index)
{
	const struct ncs_recorded_rank *recorded =
		ncs_recording_rank(operations->recording, index);
	uint64_t from_ns = recorded->from_ns, until_ns = recorded->until_ns;
	int error = 0;

	operations->ranks[index].identity = recorded->header->identity;
	if (from_ns < operations->from_ns)
		from_ns = operations->from_ns;
	if (until_ns > operations->until_ns)
		until_ns = operations->until_ns;
	for (unsigned i = 0; i < STATES && !error && from_ns < until_ns; i++)
		error = learn_at(operations, index,
				 from_ns + (until_ns - from_ns) / STATES * i,
				 false);
	return error ? error : learn_at(operations, index, until_ns, true);
}

/* --- Ranks of the job ---------------------------------------------------- */

static bool is_same_gpu(const struct ncs_recorded_operations *operations,
			size_t a, size_t b)
{
	const struct ncs_recorded_rank *first =
		ncs_recording_rank(operations->recording, a);
	const struct ncs_recorded_rank *second =
		ncs_recording_rank(operations->recording, b);

	return first->host == second->host &&
	       first->header->pid == second->header->pid &&
	       first->header->process_start == second->header->process_start &&
	       strncmp(operations->ranks[a].identity.gpu,
		       operations->ranks[b].identity.gpu,
		       sizeof(operations->ranks[a].identity.gpu)) == 0;
}

/* Returns the recording's first rank that is on the same GPU. */
static size_t first_of_gpu(const struct ncs_recorded_operations *operations,
			   size_t index)
{
	for (size_t i = 0; i < index; i++)
		if (is_same_gpu(operations, i, index))
			return i;
	return index;
}

/* Returns the number of a GPU in the job: its rank in its largest communicator;
 * -1 if not known. */
static int32_t name_of_gpu(const struct ncs_recorded_operations *operations,
			   size_t first)
{
	int32_t largest = 0, name = -1;

	for (size_t i = first; i < operations->rank_count; i++) {
		const struct ncs_identity *identity =
			&operations->ranks[i].identity;

		if (is_same_gpu(operations, first, i) &&
		    (identity->known & NCS_KNOWN_RANK) &&
		    identity->nranks > largest) {
			largest = identity->nranks;
			name = identity->rank;
		}
	}
	return name;
}

static bool is_taken(const struct ncs_recorded_operations *operations,
		     size_t before, uint32_t name)
{
	for (size_t i = 0; i < before; i++)
		if (operations->job_ranks[i].rank == name)
			return true;
	return false;
}

/* Numbers the ranks of the job. GPUs without a number of their own get the next
 * free ones. */
static void name_ranks(struct ncs_recorded_operations *operations)
{
	uint32_t most = (uint32_t)operations->rank_count + 1;

	for (size_t i = 0; i < operations->rank_count; i++) {
		size_t first = first_of_gpu(operations, i);
		struct ncs_job_rank *job_rank = &operations->job_ranks[i];
		int32_t name;

		job_rank->host =
			(uint32_t)ncs_recording_rank(operations->recording, i)
				->host;
		job_rank->rank = UINT32_MAX;
		if (first < i) {
			job_rank->rank = operations->job_ranks[first].rank;
			continue;
		}
		name = name_of_gpu(operations, i);
		if (name >= 0 && (uint32_t)name < UINT32_C(1) << 20 &&
		    !is_taken(operations, i, (uint32_t)name))
			job_rank->rank = (uint32_t)name;
		if (job_rank->rank != UINT32_MAX && job_rank->rank >= most)
			most = job_rank->rank + 1;
	}
	operations->job_rank_count = most;
	for (size_t i = 0; i < operations->rank_count; i++) {
		size_t first = first_of_gpu(operations, i);
		struct ncs_job_rank *job_rank = &operations->job_ranks[i];

		if (job_rank->rank != UINT32_MAX)
			continue;
		job_rank->rank = first < i ? operations->job_ranks[first].rank :
					     operations->job_rank_count++;
	}
}

/* --- Opening ------------------------------------------------------------- */

static void release_reading(struct ncs_recorded_operations *operations)
{
	ncs_recording_pass_close(operations->pass);
	ncs_join_free(operations->join);
	operations->pass = NULL;
	operations->join = NULL;
	for (size_t i = 0; operations->ranks && i < operations->rank_count;
	     i++) {
		ncs_parts_free(operations->ranks[i].parts);
		operations->ranks[i].parts = NULL;
	}
}

void ncs_recorded_operations_close(struct ncs_recorded_operations *operations)
{
	if (!operations)
		return;
	release_reading(operations);
	for (size_t i = 0; operations->ranks && i < operations->rank_count;
	     i++) {
		struct operations_rank *rank = &operations->ranks[i];

		for (uint32_t k = 0; rank->ranges && k < rank->range_count; k++)
			free(rank->ranges[k]);
		free(rank->ranges);
	}
	ncs_replaced_records_release(&operations->replaced);
	free(operations->ranks);
	free(operations->job_ranks);
	free(operations);
}

/* Goes over all records for those that replace earlier ones, perhaps long after
 * their parts would have been given out. */
static int note_replaced(struct ncs_recorded_operations *operations)
{
	struct ncs_recording_pass *pass = ncs_recording_pass_open(
		operations->recording, operations->from_ns,
		operations->until_ns);
	struct ncs_batch batch;
	int error = 0, found = 0;

	if (!pass)
		return -ENOMEM;
	while (!error && (found = ncs_recording_pass_next(pass, &batch)) > 0)
		for (size_t i = 0; i < batch.count && !error; i++)
			error = ncs_replaced_records_note(&operations->replaced,
							  batch.rank,
							  &batch.records[i]);
	ncs_recording_pass_close(pass);
	ncs_replaced_records_sort(&operations->replaced);
	return error ? error : found;
}

int ncs_recorded_operations_rewind(struct ncs_recorded_operations *operations)
{
	int error = 0;

	release_reading(operations);
	operations->is_over = false;
	operations->drained_ns = operations->lag_ns = 0;
	ncs_replaced_records_rewind(&operations->replaced);
	operations->pass = ncs_recording_pass_open(operations->recording,
						   operations->from_ns,
						   operations->until_ns);
	operations->join = ncs_join_new(0, true);
	if (!operations->pass || !operations->join)
		return -ENOMEM;
	for (size_t i = 0; i < operations->rank_count && !error; i++) {
		const struct ncs_recorded_rank *recorded =
			ncs_recording_rank(operations->recording, i);
		struct operations_rank *rank = &operations->ranks[i];

		rank->parts = ncs_parts_new(recorded->header, i);
		if (!rank->parts)
			return -ENOMEM;
		if (operations->replaced.count > 0)
			ncs_parts_look_ahead(rank->parts,
					     &operations->replaced);
		error = learn(operations, i);
		if (!error && (rank->identity.known & NCS_KNOWN_RANK))
			error = ncs_join_expect(operations->join,
						rank->identity.comm_id,
						rank->identity.rank);
	}
	return error;
}

struct ncs_recorded_operations *
ncs_recorded_operations_open(struct ncs_recording *recording, uint64_t from_ns,
			     uint64_t until_ns)
{
	struct ncs_recorded_operations *operations =
		calloc(1, sizeof(*operations));

	if (!operations)
		return NULL;
	operations->recording = recording;
	operations->from_ns = from_ns;
	operations->until_ns = until_ns;
	operations->rank_count = ncs_recording_rank_count(recording);
	operations->ranks =
		calloc(operations->rank_count + 1, sizeof(*operations->ranks));
	operations->job_ranks = calloc(operations->rank_count + 1,
				       sizeof(*operations->job_ranks));
	if (operations->ranks && operations->job_ranks &&
	    note_replaced(operations) == 0 &&
	    ncs_recorded_operations_rewind(operations) == 0) {
		name_ranks(operations);
		return operations;
	}
	ncs_recorded_operations_close(operations);
	return NULL;
}

/* --- Reading ------------------------------------------------------------- */

/* Updates the longest lag: an end was known at `drained_ns`. */
static void note_lag(struct ncs_recorded_operations *operations,
		     uint64_t end_ns, uint64_t drained_ns)
{
	if (end_ns < drained_ns && drained_ns - end_ns > operations->lag_ns)
		operations->lag_ns = drained_ns - end_ns;
}

static int hand_over(struct ncs_recorded_operations *operations,
		     uint64_t settled_ns)
{
	for (size_t i = 0; i < operations->rank_count; i++) {
		struct ncs_parts *parts = operations->ranks[i].parts;
		const struct ncs_part *part;

		ncs_parts_settle(parts, settled_ns);
		while ((part = ncs_parts_next(parts))) {
			note_lag(operations, ncs_part_first_end_ns(part),
				 operations->drained_ns);
			if (ncs_join_add(operations->join, part) != 0)
				return -ENOMEM;
		}
	}
	return 0;
}

/* Passes on all that is complete: the parts whose records were drained
 * SETTLES_NS ago, then the operations that ended earlier than that by more than
 * the longest lag. */
static int go_on(struct ncs_recorded_operations *operations,
		 uint64_t drained_ns)
{
	uint64_t settled_ns =
		drained_ns > SETTLES_NS ? drained_ns - SETTLES_NS : 0;
	int error = hand_over(operations, settled_ns);

	if (!error && settled_ns > operations->lag_ns)
		ncs_join_advance(operations->join,
				 settled_ns - operations->lag_ns);
	return error;
}

static int finish(struct ncs_recorded_operations *operations)
{
	int error = hand_over(operations, UINT64_MAX);

	ncs_join_advance(operations->join, UINT64_MAX);
	operations->is_over = true;
	return error;
}

/* Updates the longest lag. The records of a lane are in the order of their
 * ends, so the first one has waited longest. */
static void note_batch_lag(struct ncs_recorded_operations *operations,
			   const struct ncs_batch *batch)
{
	const struct ncs_clock *clock =
		&ncs_recording_rank(operations->recording, batch->rank)
			 ->header->clock;
	const struct ncs_record *first = batch->records;

	if (batch->count > 0)
		note_lag(operations,
			 ncs_clock_ns(clock, first->start + first->duration),
			 batch->drained_ns);
}

static int read_more(struct ncs_recorded_operations *operations)
{
	struct ncs_batch batch;
	int error = ncs_recording_pass_next(operations->pass, &batch);

	if (error < 0)
		return error;
	if (error == 0)
		return finish(operations);
	error = 0;
	/* Records drained at one time come in several batches. */
	if (batch.drained_ns > operations->drained_ns + SETTLES_NS / 4) {
		error = go_on(operations, batch.drained_ns);
		operations->drained_ns = batch.drained_ns;
	}
	note_batch_lag(operations, &batch);
	if (error)
		return error;
	return ncs_parts_take(operations->ranks[batch.rank].parts,
			      batch.records, batch.count, batch.lost,
			      batch.drained_ns);
}

int ncs_recorded_operations_next(struct ncs_recorded_operations *operations,
				 const struct ncs_joined **joined)
{
	for (;;) {
		*joined = ncs_join_next(operations->join);
		if (!*joined && operations->is_over)
			return 0;
		if (!*joined) {
			int error = read_more(operations);

			if (error)
				return error;
		} else if ((*joined)->first_end_ns >= operations->from_ns &&
			   (*joined)->first_end_ns <= operations->until_ns) {
			return 1;
		}
	}
}

/* --- Queries ------------------------------------------------------------- */

const struct ncs_job_rank *ncs_recorded_operations_job_ranks(
	const struct ncs_recorded_operations *operations, uint32_t *ranks)
{
	*ranks = operations->job_rank_count;
	return operations->job_ranks;
}

bool ncs_recorded_operations_is_in_range(
	const struct ncs_recorded_operations *operations,
	const struct ncs_part *part, const char *path)
{
	const struct operations_rank *rank = &operations->ranks[part->owner];
	size_t length = strlen(path);
	const char *range;

	if (part->range == 0 || part->range > rank->range_count)
		return false;
	range = rank->ranges[part->range - 1];
	return range && strncmp(range, path, length) == 0 &&
	       (range[length] == '\0' || range[length] == '/');
}

const char *ncs_recorded_operations_range(
	const struct ncs_recorded_operations *operations, size_t place)
{
	for (size_t i = 0; i < operations->rank_count; i++) {
		const struct operations_rank *rank = &operations->ranks[i];

		if (place < rank->range_count)
			return rank->ranges[place] ? rank->ranges[place] : "";
		place -= rank->range_count;
	}
	return NULL;
}

void ncs_recorded_operations_count(
	const struct ncs_recorded_operations *operations,
	struct ncs_recorded_operations_count *count)
{
	*count = (struct ncs_recorded_operations_count){
		.join = *ncs_join_count(operations->join),
	};
	for (size_t i = 0; i < operations->rank_count; i++)
		count->records_lost +=
			ncs_parts_count(operations->ranks[i].parts)->lost;
}
