/* SPDX-License-Identifier: MIT */
/* The states of ranks: finds the latest one at a time, composes its key and the
 * changes since into an image, and opens the image as a segment.
 *
 * A rank's key stays in memory, so that only the changes are read of the next state
 * with this key.
 */
#include "ncclstat/reader.h"
#include "record/read/recording_internal.h"

#include <errno.h>

#include "ncclstat/abi_header.h"
#include "record/format/peaks_chunk.h"
#include "shm/read/image.h"

/* Number of earlier states tried if one is damaged. */
#define TRIES_MAX 16

/* If hosts stop recording one after another, the ranks of hosts that stop first
 * are shown for this many intervals more. */
#define INTERVALS_LEFT 2

/* The chunks of one state, as a range of the rank's states. */
struct state_chunks {
	size_t first;
	size_t count;
};

/* --- Finding ------------------------------------------------------------- */

static struct ncs_chunk_place *place_of(const struct ncs_recording *recording,
					const struct ncs_rank_entry *rank,
					size_t state)
{
	return ncs_recording_chunk(recording, rank->states.at[state]);
}

static uint64_t taken_at(const struct ncs_recording *recording,
			 const struct ncs_rank_entry *rank, size_t state)
{
	return ncs_recording_common_ns(
		recording, rank->facts.host,
		place_of(recording, rank, state)->from_ns);
}

/* Returns the number of chunks of a rank's states up to a time. */
static size_t count_until(const struct ncs_recording *recording,
			  const struct ncs_rank_entry *rank, uint64_t at_ns)
{
	size_t low = 0, high = rank->states.count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (taken_at(recording, rank, middle) <= at_ns)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

static bool is_together(const struct ncs_recording *recording,
			const struct ncs_rank_entry *rank, size_t a, size_t b)
{
	return rank->states.at[a].file == rank->states.at[b].file &&
	       place_of(recording, rank, a)->from_ns ==
		       place_of(recording, rank, b)->from_ns;
}

/* Returns the chunks of the state that a chunk belongs to. */
static struct state_chunks group_of(const struct ncs_recording *recording,
				    const struct ncs_rank_entry *rank,
				    size_t chunk)
{
	struct state_chunks group = { .first = chunk };
	size_t end = chunk + 1;

	while (group.first > 0 &&
	       is_together(recording, rank, group.first - 1, chunk))
		group.first--;
	while (end < rank->states.count &&
	       is_together(recording, rank, end, chunk))
		end++;
	group.count = end - group.first;
	return group;
}

/* Finds the key of a state by its time: in a stream some looks may be missing, so
 * that offsets are too large. */
static bool find_key(const struct ncs_recording *recording,
		     const struct ncs_rank_entry *rank, size_t state,
		     uint64_t key_taken_ns, struct state_chunks *group)
{
	uint32_t file = rank->states.at[state].file;

	while (state-- > 0 && rank->states.at[state].file == file) {
		uint64_t taken_ns = place_of(recording, rank, state)->from_ns;

		if (taken_ns > key_taken_ns)
			continue;
		*group = group_of(recording, rank, state);
		return taken_ns == key_taken_ns;
	}
	return false;
}

/* --- Reading a part ------------------------------------------------------ */

static bool read_part(struct ncs_recording *recording,
		      struct ncs_rank_entry *rank, size_t chunk,
		      struct ncs_state_part *part)
{
	struct ncs_chunk_ref at = rank->states.at[chunk];
	struct ncs_payload payload = ncs_recording_payload(recording, at, NULL);

	return ncs_state_part_read(payload.bytes, payload.size,
				   rank->recorded.segment_bytes, part);
}

/* Whether a part is the expected next one of its state. */
static bool is_next(const struct ncs_state_part *part,
		    const struct ncs_state_part *first, struct state_chunks group,
		    size_t index)
{
	bool is_last = index + 1 == group.count;

	return part->head.part == index &&
	       part->head.taken_ns == first->head.taken_ns &&
	       part->head.key_offset == first->head.key_offset &&
	       !(part->head.flags & NCS_STATE_KEY) ==
		       !(first->head.flags & NCS_STATE_KEY) &&
	       !(part->head.flags & NCS_STATE_LAST) == !is_last;
}

/* --- The state in memory -------------------------------------------------- */

void ncs_recording_release_state(struct ncs_recording *recording,
				 struct ncs_rank_entry *rank)
{
	struct ncs_recorded_state *state = &rank->state;

	if (recording->image.state == &state->kept)
		ncs_state_image_clear(&recording->image);
	ncs_reader_close(state->reader);
	ncs_kept_state_release(&state->kept);
	ncs_budget_give(&recording->budget, state->paid);
	*state = (struct ncs_recorded_state){ .paid = 0 };
}

/* Pays for a rank's state. Without room for it, those of other ranks are released.
 * Returns an enum ncs_recorded or -ENOMEM. */
static int pay(struct ncs_recording *recording, struct ncs_rank_entry *rank)
{
	struct ncs_recorded_state *state = &rank->state;
	struct ncs_budget *budget = &recording->budget;
	uint64_t due = state->kept.key.size + state->kept.change.size +
		       ncs_kept_state_image_bytes(&state->kept);

	ncs_budget_give(budget, state->paid);
	state->paid = 0;
	if (!ncs_budget_take(budget, due)) {
		for (size_t i = 0; i < recording->rank_count; i++)
			if (&recording->ranks[i] != rank)
				ncs_recording_release_state(
					recording, &recording->ranks[i]);
		if (!ncs_budget_take(budget, due))
			return -ENOMEM;
	}
	state->paid = due;
	return NCS_RECORDED_YES;
}

/* Keeps all parts of a state, each of which is paid for. Returns an enum ncs_recorded or
 * -ENOMEM. */
static int keep(struct ncs_recording *recording, struct ncs_rank_entry *rank,
		struct state_chunks group, struct ncs_state_parts *parts)
{
	struct ncs_state_part part, first;
	int result;

	for (size_t i = 0; i < group.count; i++) {
		struct ncs_chunk_ref at = rank->states.at[group.first + i];
		struct ncs_payload payload =
			ncs_recording_payload(recording, at, NULL);

		if (!ncs_state_part_read(payload.bytes, payload.size,
					 rank->recorded.segment_bytes, &part))
			return NCS_RECORDED_DAMAGED;
		if (i == 0)
			first = part;
		if (!is_next(&part, &first, group, i))
			return NCS_RECORDED_DAMAGED;
		if (ncs_state_parts_add(parts, &part, payload.bytes,
					payload.size) != 0)
			return -ENOMEM;
		result = pay(recording, rank);
		if (result != NCS_RECORDED_YES)
			return result;
	}
	return NCS_RECORDED_YES;
}

static bool is_at(struct ncs_chunk_ref a, struct ncs_chunk_ref b)
{
	return a.file == b.file && a.place == b.place;
}

static int keep_key(struct ncs_recording *recording,
		    struct ncs_rank_entry *rank, struct state_chunks key)
{
	struct ncs_recorded_state *state = &rank->state;
	int result;

	if (state->has_key && is_at(state->key, rank->states.at[key.first]))
		return NCS_RECORDED_YES;
	ncs_state_parts_forget(&state->kept.key);
	result = keep(recording, rank, key, &state->kept.key);
	state->has_key = result == NCS_RECORDED_YES;
	state->key = rank->states.at[key.first];
	return result;
}

/* Keeps the state of these chunks and its key. */
static int keep_state(struct ncs_recording *recording,
		      struct ncs_rank_entry *rank, struct state_chunks group)
{
	struct ncs_recorded_state *state = &rank->state;
	struct state_chunks key = group;
	bool is_key;
	struct ncs_state_part first;
	int result;

	if (!read_part(recording, rank, group.first, &first))
		return NCS_RECORDED_DAMAGED;
	is_key = first.head.flags & NCS_STATE_KEY;
	if (!is_key && !find_key(recording, rank, group.first,
				 first.head.key_taken_ns, &key))
		return NCS_RECORDED_DAMAGED;
	ncs_state_image_clear(&recording->image);
	state->has_state = false;
	ncs_state_parts_forget(&state->kept.change);
	result = keep_key(recording, rank, key);
	if (result == NCS_RECORDED_YES && !is_key)
		result = keep(recording, rank, group, &state->kept.change);
	if (result == NCS_RECORDED_YES &&
	    !ncs_kept_state_is_of(&state->kept, &rank->recorded))
		result = NCS_RECORDED_DAMAGED;
	if (result != NCS_RECORDED_YES) {
		ncs_recording_release_state(recording, rank);
		return result;
	}
	state->has_state = true;
	state->state = rank->states.at[group.first];
	return NCS_RECORDED_YES;
}

/* Opens a reader of the state, or keeps the previous one if time goes forward. A
 * reader that went back in time would look for operations in slots that later
 * operations used. */
static int open_state(struct ncs_recording *recording,
		      struct ncs_rank_entry *rank, uint64_t taken_ns)
{
	struct ncs_recorded_state *state = &rank->state;
	const struct ncs_clock_move move =
		ncs_recording_move_of(recording, rank->facts.host);
	int error;

	if (taken_ns < state->taken_ns) {
		ncs_reader_close(state->reader);
		state->reader = NULL;
	}
	state->taken_ns = taken_ns;
	error = ncs_state_image_open(&recording->image, &state->kept,
				     &rank->recorded, &move, rank->path,
				     &state->reader);
	return error == -EBADMSG ? NCS_RECORDED_DAMAGED : error;
}

/* --- States -------------------------------------------------------------- */

static int show(struct ncs_recording *recording, struct ncs_rank_entry *rank,
		struct state_chunks group, struct ncs_reader **reader,
		uint64_t *taken_ns)
{
	struct ncs_recorded_state *state = &rank->state;
	struct ncs_state_part last;
	int result = NCS_RECORDED_YES;
	uint32_t flags;

	if (!read_part(recording, rank, group.first + group.count - 1, &last) ||
	    !(last.head.flags & NCS_STATE_LAST))
		return NCS_RECORDED_DAMAGED;
	flags = last.head.flags;
	if (flags & NCS_STATE_REMOVED) {
		if (!recording->keeps_ended)
			return NCS_RECORDED_NO_MORE;
		flags &= ~(uint32_t)NCS_STATE_GONE;
	}
	if (!state->has_state ||
	    !is_at(state->state, rank->states.at[group.first]))
		result = keep_state(recording, rank, group);
	*taken_ns = taken_at(recording, rank, group.first);
	if (result == NCS_RECORDED_YES)
		result = open_state(recording, rank, *taken_ns);
	if (result != NCS_RECORDED_YES)
		return result;
	ncs_reader_set_process_state(
		state->reader, (struct ncs_process_state){
				       .gone = flags & NCS_STATE_GONE,
				       .stopped = flags & NCS_STATE_STOPPED,
			       });
	*reader = state->reader;
	return NCS_RECORDED_YES;
}

/* Returns the recording that has a rank's latest state at a time; NULL if there
 * is none. */
static const struct ncs_file_series *
series_at(const struct ncs_recording *recording,
	  const struct ncs_rank_entry *rank, uint64_t at_ns)
{
	size_t until = count_until(recording, rank, at_ns);

	return until > 0 ? &recording->series[recording->file_series
						      [rank->states.at[until - 1]
							       .file]] :
			   NULL;
}

size_t ncs_recording_latest(const struct ncs_recording *recording,
			    const struct ncs_rank_entry *rank,
			    const struct ncs_chunk_refs *chunks, uint64_t at_ns,
			    size_t otherwise)
{
	for (size_t i = chunks->count; i > 0; i--)
		if (ncs_recording_common_ns(
			    recording, rank->facts.host,
			    ncs_recording_chunk(recording, chunks->at[i - 1])
				    ->from_ns) <= at_ns)
			return i - 1;
	return otherwise;
}

bool ncs_recording_peaks(const struct ncs_recording *recording, size_t index,
			 uint64_t at_ns, struct ncs_machine_peaks *peaks)
{
	const struct ncs_rank_entry *rank = &recording->ranks[index];
	const struct ncs_file_series *series =
		series_at(recording, rank, at_ns);
	struct ncs_payload payload;
	size_t latest;

	if (!series || series->peaks.count == 0)
		return false;
	latest =
		ncs_recording_latest(recording, rank, &series->peaks, at_ns, 0);
	payload = ncs_recording_payload(recording, series->peaks.at[latest],
					NULL);
	return payload.bytes &&
	       ncs_peaks_unpack(payload.bytes, payload.size, peaks);
}

/* Whether all files of a recording ended before a time. */
static bool has_ended(const struct ncs_recording *recording,
		      const struct ncs_file_series *series, uint64_t at_ns)
{
	uint64_t until_ns = ncs_recording_common_ns(recording, series->host,
						    series->until_ns);

	return at_ns > until_ns &&
	       at_ns - until_ns > INTERVALS_LEFT * recording->facts.interval_ns;
}

void ncs_recording_keep_ended(struct ncs_recording *recording)
{
	recording->keeps_ended = true;
}

int ncs_recording_state(struct ncs_recording *recording, size_t index,
			uint64_t at_ns, struct ncs_reader **reader,
			uint64_t *taken_ns)
{
	struct ncs_rank_entry *rank = &recording->ranks[index];
	const struct ncs_file_series *series =
		series_at(recording, rank, at_ns);
	size_t until = count_until(recording, rank, at_ns);
	int result = NCS_RECORDED_NOT_YET;

	if (series &&
	    (at_ns >= series->passed_ns ||
	     (!recording->keeps_ended && has_ended(recording, series, at_ns))))
		return NCS_RECORDED_NO_MORE;
	for (int tries = 0; tries < TRIES_MAX && until > 0; tries++) {
		struct state_chunks group =
			group_of(recording, rank, until - 1);

		/* In damaged files, times may be out of order. */
		result =
			taken_at(recording, rank, group.first) <= at_ns ?
				show(recording, rank, group, reader, taken_ns) :
				NCS_RECORDED_DAMAGED;
		if (result != NCS_RECORDED_DAMAGED)
			return result;
		until = group.first;
	}
	return result;
}

uint64_t ncs_recording_next_state_of(const struct ncs_recording *recording,
				     size_t rank, uint64_t after_ns)
{
	const struct ncs_rank_entry *of = &recording->ranks[rank];
	size_t until = count_until(recording, of, after_ns);

	return until < of->states.count ? taken_at(recording, of, until) : 0;
}

void ncs_recording_expect(const struct ncs_recording *recording, size_t index,
			  uint64_t at_ns)
{
	const struct ncs_rank_entry *rank = &recording->ranks[index];
	size_t until = count_until(recording, rank, at_ns);
	struct state_chunks group;

	if (until == 0)
		return;
	group = group_of(recording, rank, until - 1);
	for (size_t i = group.first; i < group.first + group.count; i++) {
		struct ncs_chunk_ref at = rank->states.at[i];
		const struct ncs_chunk_place *place =
			ncs_recording_chunk(recording, at);

		if (place->check == NCS_PLACE_UNCHECKED)
			ncs_recorded_file_fetch(
				&recording->files[at.file], place->offset,
				sizeof(struct ncs_chunk) + place->bytes);
	}
}
