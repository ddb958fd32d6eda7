/* SPDX-License-Identifier: MIT */
/* The latest operations of ranks on their GPUs; see spans.h. */
#include "analysis/model/spans.h"

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

void ncs_spans_add(struct ncs_late_rank *late, const struct ncs_part *part)
{
	late->spans[late->span_count++ % NCS_SPANS] = span_of(part);
}

/* Returns the kept span of a part, or NULL. */
static struct ncs_span *span_of_part(struct ncs_late_rank *late,
				     const struct ncs_part *part)
{
	uint64_t place = late->span_count;
	uint64_t first = place > NCS_SPANS ? place - NCS_SPANS : 0;

	while (place > first) {
		struct ncs_span *span = &late->spans[--place % NCS_SPANS];

		if (span->operation == part->operation)
			return span;
	}
	return NULL;
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
		span->begin_ns = ncs_arrival_ns(comparison, i);
		span->end_ns = ncs_joined_end_ns(joined, part);
		if (joined->end != NCS_MOMENT_LAST_END)
			span->first_end_ns = span->end_ns;
		else if (span->first_end_ns < joined->not_before_ns)
			span->first_end_ns = joined->not_before_ns;
	}
}

/* --- Finding them --------------------------------------------------------- */

static const struct ncs_span *span_at(const struct ncs_late_rank *late,
				      uint64_t place)
{
	return &late->spans[place % NCS_SPANS];
}

/* Returns the place of the first kept span that cannot have ended by
 * `until_ns`. */
static uint64_t first_span_after(const struct ncs_late_rank *late,
				 uint64_t until_ns)
{
	uint64_t high = late->span_count;
	uint64_t low = high > NCS_SPANS ? high - NCS_SPANS : 0;

	while (low < high) {
		uint64_t middle = low + (high - low) / 2;

		if (span_at(late, middle)->first_end_ns <= until_ns)
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
	const struct ncs_late_rank *found_late; /* the rank that has it … */
	uint64_t found_place;                   /* … and its place there */
};

/* Notes a rank's kept operation if it ended later than that found so far. */
static void find_before(struct search_before *search,
			const struct ncs_rank *rank)
{
	const struct ncs_late_rank *late = rank->late;
	uint64_t until_ns = search->until_ns + search->error_ns, after;

	if (!late || late->span_count == 0)
		return;
	after = first_span_after(late, until_ns);
	/* Operations on several streams end a little out of order. */
	for (uint64_t i = after > 4 ? after - 4 : 0; i < after; i++) {
		struct ncs_span span = *span_at(late, i);

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
		search->found_late = late;
		search->found_place = i;
	}
}

static struct search_before
search_before(const struct ncs_comparison *comparison, size_t i)
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
	return search;
}

struct ncs_span ncs_operation_before(const struct ncs_comparison *comparison,
				     size_t i)
{
	return search_before(comparison, i).found;
}

uint64_t ncs_busy_since_ns(const struct ncs_comparison *comparison, size_t i)
{
	struct search_before search = search_before(comparison, i);
	const struct ncs_late_rank *late = search.found_late;
	uint64_t since_ns = search.found.begin_ns, first;

	if (!late)
		return ncs_arrival_ns(comparison, i);
	first = late->span_count > NCS_SPANS ? late->span_count - NCS_SPANS : 0;
	for (uint64_t k = search.found_place; k > first; k--) {
		const struct ncs_span *span = span_at(late, k - 1);

		if (span->end_ns + NCS_LAUNCH_NS < since_ns)
			break;
		if (span->begin_ns < since_ns)
			since_ns = span->begin_ns;
	}
	return since_ns;
}
