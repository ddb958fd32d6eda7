/* SPDX-License-Identifier: MIT */
/* The latest operations of ranks on their GPUs; see lateness_state.h. */
#include "analysis/model/lateness_state.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/model/model.h"
#include "analysis/records/operation_record.h"
#include "shm/array.h"

/* Number of the first operation of a rank. */
#define FIRST_OPERATION 1u

/* Operations are at most this many places out of their order. */
#define OUT_OF_ORDER 8u

/* --- Keeping them --------------------------------------------------------- */

static struct ncs_span span_of(const struct ncs_part *part)
{
	const uint64_t *at_ns = part->at_ns;
	bool on_stream = at_ns[NCS_MOMENT_STREAM] != 0;
	uint64_t end_ns = on_stream ? at_ns[NCS_MOMENT_STREAM_END] :
				      ncs_part_first_end_ns(part);

	return (struct ncs_span){
		.operation = part->operation,
		.begin_ns =
			at_ns[on_stream ? NCS_MOMENT_STREAM : NCS_MOMENT_PROXY],
		.first_end_ns = end_ns,
		.end_ns = end_ns,
	};
}

static const struct ncs_span *last_span(const struct ncs_late_rank *late)
{
	return &late->spans[late->span_count - 1];
}

/* Notes that of the operations that ended before a time, not all are kept. */
static void note_loss(struct ncs_late_rank *late, uint64_t until_ns)
{
	if (until_ns > late->known_from_ns)
		late->known_from_ns = until_ns;
}

int ncs_spans_add(struct ncs_late_rank *late, const struct ncs_part *part)
{
	struct ncs_span span = span_of(part);
	uint32_t next = late->span_count == 0 ?
				FIRST_OPERATION :
				last_span(late)->operation + OUT_OF_ORDER;

	if (part->operation > next)
		note_loss(late, span.first_end_ns);
	if (ncs_array_reserve(&late->spans, &late->span_capacity,
			      late->span_count + 1,
			      sizeof(*late->spans)) != 0) {
		note_loss(late, span.first_end_ns);
		return -ENOMEM;
	}
	late->spans[late->span_count++] = span;
	return 0;
}

/* Gives back memory that only an update with many operations needed. */
static void shrink(struct ncs_late_rank *late)
{
	struct ncs_span *spans;

	if (late->span_capacity <= (size_t)4 * NCS_SPANS)
		return;
	spans = realloc(late->spans, NCS_SPANS * sizeof(*spans));
	if (!spans)
		return;
	late->spans = spans;
	late->span_capacity = NCS_SPANS;
}

void ncs_spans_drop_old(struct ncs_late_rank *late)
{
	size_t old =
		late->span_count > NCS_SPANS ? late->span_count - NCS_SPANS : 0;

	if (old == 0)
		return;
	note_loss(late, late->spans[old - 1].first_end_ns);
	late->span_count -= old;
	late->corrected = late->corrected > old ? late->corrected - old : 0;
	memmove(late->spans, late->spans + old,
		late->span_count * sizeof(*late->spans));
	shrink(late);
}

void ncs_spans_drop_all(struct ncs_late_rank *late)
{
	late->span_count = late->corrected = 0;
	late->known_from_ns = 0;
}

/* Returns the kept span of a part, or NULL. Parts are corrected nearly in the
 * order of their spans. */
static struct ncs_span *span_of_part(struct ncs_late_rank *late,
				     const struct ncs_part *part)
{
	size_t from = late->corrected > OUT_OF_ORDER ?
			      late->corrected - OUT_OF_ORDER :
			      0;

	for (size_t k = 0; k < late->span_count; k++) {
		size_t place = (from + k) % late->span_count;

		if (late->spans[place].operation != part->operation)
			continue;
		late->corrected = place;
		return &late->spans[place];
	}
	return NULL;
}

/* Returns whether a rank of an operation with a root waited for no other one, and none
 * for it. */
static bool is_free(const struct ncs_comparison *comparison, size_t i)
{
	const struct ncs_joined *joined = comparison->joined;

	return (joined->wait_rule == NCS_WAIT_FOR_ROOT ||
		joined->wait_rule == NCS_WAIT_FOR_LEAVES) &&
	       !ncs_is_awaited(joined->wait_rule,
			       ncs_joined_is_root(joined, &joined->parts[i])) &&
	       joined->last_awaited &&
	       ncs_joined_arrival_ns(joined, joined->last_awaited) <=
		       ncs_arrival_ns(comparison, i);
}

void ncs_spans_correct(const struct ncs_comparison *comparison)
{
	const struct ncs_joined *joined = comparison->joined;

	for (size_t i = 0; i < joined->count; i++) {
		const struct ncs_part *part = &joined->parts[i];
		struct ncs_span *span =
			span_of_part(comparison->ranks[i]->late, part);

		if (!span)
			continue;
		span->is_free = is_free(comparison, i);
		span->begin_ns = ncs_arrival_ns(comparison, i);
		span->end_ns = ncs_joined_end_ns(joined, part);
		if (joined->end != NCS_MOMENT_LAST_END)
			span->first_end_ns = span->end_ns;
		else if (span->first_end_ns < joined->not_before_ns)
			span->first_end_ns = joined->not_before_ns;
	}
}

/* --- Finding them --------------------------------------------------------- */

/* Returns the place of the first kept span that cannot have ended by
 * `until_ns`. */
static size_t first_span_after(const struct ncs_late_rank *late,
			       uint64_t until_ns)
{
	size_t high = late->span_count, low = 0;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (late->spans[middle].first_end_ns <= until_ns)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

/* A search for the operation before a part. */
struct search_before {
	const struct ncs_rank *rank; /* that has the part */
	uint32_t operation;          /* of the part itself */
	uint64_t until_ns;           /* when the part began … */
	uint64_t error_ns;           /* … and by how much that may be wrong */
	struct ncs_span found;       /* zeros if there is none */
};

/* Notes a rank's kept operation if it ended later than that found so far. */
static void find_before(struct search_before *search,
			const struct ncs_rank *rank)
{
	const struct ncs_late_rank *late = rank->late;
	uint64_t until_ns = search->until_ns + search->error_ns;
	unsigned looked_at = 0;

	if (!late || late->span_count == 0)
		return;
	/* Operations on several streams end a little out of order. */
	for (size_t i = first_span_after(late, until_ns);
	     i-- > 0 && looked_at < 4;) {
		struct ncs_span span = late->spans[i];

		if (span.is_free)
			continue;
		looked_at++;
		if (span.begin_ns >= search->until_ns ||
		    span.first_end_ns > until_ns ||
		    (rank == search->rank &&
		     span.operation == search->operation))
			continue;
		if (span.end_ns > search->until_ns)
			span.end_ns = search->until_ns;
		if (span.end_ns <= search->found.end_ns)
			continue;
		search->found = span;
	}
}

void ncs_spans_find_pasts(const struct ncs_model *model)
{
	for (size_t i = 0; i < model->rank_count; i++) {
		const struct ncs_rank *rank = model->ranks[i];
		uint64_t from_ns = 0;

		if (!rank->late)
			continue;
		for (size_t k = 0; k < model->rank_count; k++) {
			const struct ncs_rank *other = model->ranks[k];

			if (k != i && other->late &&
			    other->late->known_from_ns > from_ns &&
			    ncs_shares_process(rank, other))
				from_ns = other->late->known_from_ns;
		}
		rank->late->others_from_ns = from_ns;
	}
}

bool ncs_past_is_known(const struct ncs_comparison *comparison)
{
	for (size_t i = 0; i < comparison->joined->count; i++)
		if (ncs_arrival_ns(comparison, i) <
		    comparison->ranks[i]->late->others_from_ns)
			return false;
	return true;
}

struct ncs_span ncs_operation_before(const struct ncs_comparison *comparison,
				     size_t i)
{
	const struct ncs_part *part = &comparison->joined->parts[i];
	struct search_before search = {
		.rank = comparison->ranks[i],
		.operation = part->operation,
		.until_ns = ncs_arrival_ns(comparison, i),
		.error_ns = 2 * ncs_part_error_ns(part,
						  comparison->joined->arrival),
	};

	for (size_t k = 0; k < comparison->model->rank_count; k++)
		if (ncs_shares_process(search.rank,
				       comparison->model->ranks[k]))
			find_before(&search, comparison->model->ranks[k]);
	return search.found;
}
