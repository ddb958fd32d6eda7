/* SPDX-License-Identifier: MIT */
/* Parts to operations; see cost_items.h. Operations are told by their numbers: the
 * order of times and the number of parts decide nothing. */
#include "analysis/cost/cost_items.h"

#include <errno.h>
#include <stdlib.h>

#include "shm/array.h"

static int32_t sender_of(const struct ncs_cost_part *part)
{
	return part->function == NCS_FUNCTION_SEND ? part->member : part->peer;
}

static int32_t receiver_of(const struct ncs_cost_part *part)
{
	return part->function == NCS_FUNCTION_SEND ? part->peer : part->member;
}

#define ORDER_BY(x, y) \
	do { \
		if ((x) != (y)) \
			return (x) < (y) ? -1 : 1; \
	} while (0)

int ncs_cost_compare_series(const struct ncs_cost_part *a,
			    const struct ncs_cost_part *b)
{
	bool transfers = ncs_cost_is_transfer(a);

	ORDER_BY(a->comm_id, b->comm_id);
	ORDER_BY(transfers, ncs_cost_is_transfer(b));
	if (!transfers) {
		ORDER_BY(a->function, b->function);
		return 0;
	}
	ORDER_BY(sender_of(a), sender_of(b));
	ORDER_BY(receiver_of(a), receiver_of(b));
	return 0;
}

int ncs_cost_compare_operations(const struct ncs_cost_part *a,
				const struct ncs_cost_part *b)
{
	int order = ncs_cost_compare_series(a, b);

	if (order)
		return order;
	ORDER_BY(a->repeat, b->repeat);
	ORDER_BY(a->number, b->number);
	return 0;
}

uint64_t ncs_cost_missing_between(const struct ncs_cost_part *before,
				  const struct ncs_cost_part *after)
{
	return after->number > before->number &&
			       after->repeat == before->repeat &&
			       ncs_cost_compare_series(before, after) == 0 ?
		       after->number - before->number - 1 :
		       0;
}

static int by_operation(const void *a, const void *b)
{
	const struct ncs_cost_item *x = a, *y = b;
	int order = ncs_cost_compare_operations(x->part, y->part);

	if (order)
		return order;
	ORDER_BY(x->rank, y->rank);
	ORDER_BY(x->part->function, y->part->function);
	return 0;
}

static int by_number(const void *a, const void *b)
{
	uint32_t x = ((const struct ncs_cost_rank *)a)->number;
	uint32_t y = ((const struct ncs_cost_rank *)b)->number;

	return (x > y) - (x < y);
}

static int add_item(struct ncs_cost_items *items, struct ncs_cost_item item)
{
	if (ncs_array_reserve(&items->items, &items->capacity, items->count + 1,
			      sizeof(*items->items)) != 0)
		return -ENOMEM;
	item.call_ns = item.part->call_ns;
	items->items[items->count++] = item;
	return 0;
}

/* Returns the rank of a part; NULL if it is not known yet. */
static struct ncs_cost_rank *rank_of(const struct ncs_cost_window *window,
				     const struct ncs_cost_part *part)
{
	struct ncs_cost_rank key = { .number = part->rank };

	return bsearch(&key, window->ranks, window->rank_count, sizeof(key),
		       by_number);
}

/* Lists the ranks of a window by number. */
static int find_ranks(struct ncs_cost_window *window,
		      const struct ncs_cost_part *parts, size_t count)
{
	size_t capacity = 0;

	for (size_t i = 0; i < count; i++) {
		size_t at = window->rank_count;

		if (at > 0 && rank_of(window, &parts[i]))
			continue;
		if (ncs_array_reserve(&window->ranks, &capacity, at + 1,
				      sizeof(*window->ranks)) != 0)
			return -ENOMEM;
		for (; at > 0 && window->ranks[at - 1].number > parts[i].rank;
		     at--)
			window->ranks[at] = window->ranks[at - 1];
		window->ranks[at] =
			(struct ncs_cost_rank){ .number = parts[i].rank,
						.class_index = NCS_COST_NONE };
		window->rank_count++;
	}
	return 0;
}

static int take_parts(struct ncs_cost_window *window,
		      struct ncs_cost_items *items,
		      const struct ncs_cost_part *parts, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		const struct ncs_cost_part *part = &parts[i];
		struct ncs_cost_rank *rank = rank_of(window, part);
		struct ncs_cost_item item = {
			.part = part,
			.stream = part->stream,
			.member = part->member,
			.index = (uint32_t)i,
			.rank = (uint32_t)(rank - window->ranks),
		};

		rank->seen++;
		if (!ncs_cost_has_times(part))
			rank->unknown++;
		else if (add_item(items, item) != 0)
			return -ENOMEM;
	}
	if (items->count > 0)
		qsort(items->items, items->count, sizeof(*items->items),
		      by_operation);
	return 0;
}

/* Returns where a run of items that begins at `first` ends: of equal ones. */
static size_t run_end(const struct ncs_cost_items *items, size_t first,
		      size_t count,
		      int (*compare)(const struct ncs_cost_part *a,
				     const struct ncs_cost_part *b))
{
	size_t end = first + 1;

	while (end < count &&
	       compare(items->items[end].part, items->items[first].part) == 0)
		end++;
	return end;
}

/* Makes up the parts of ranks in an operation of which they are lost, as on another rank,
 * so that positions stay right. */
static int make_up_operation(struct ncs_cost_items *items, size_t first,
			     size_t end, uint32_t rank_count)
{
	const struct ncs_cost_part *like = items->items[first].part;
	size_t at = first;

	for (uint32_t rank = 0; rank < rank_count; rank++) {
		const struct ncs_cost_span *span = &items->spans[rank];
		struct ncs_cost_item lost = {
			.part = like,
			.index = NCS_COST_NONE,
			.rank = rank,
		};

		while (at < end && items->items[at].rank < rank)
			at++;
		if ((at < end && items->items[at].rank == rank) ||
		    !span->some || span->least >= like->number ||
		    span->most <= like->number)
			continue;
		lost.stream = span->some->stream;
		lost.member = span->some->member;
		if (add_item(items, lost) != 0)
			return -ENOMEM;
	}
	return 0;
}

/* Makes up what is lost of a series. */
static int make_up_series(struct ncs_cost_items *items, size_t first,
			  size_t end, uint32_t rank_count)
{
	size_t ranks = 0;

	for (uint32_t i = 0; i < rank_count; i++)
		items->spans[i] = (struct ncs_cost_span){ .least = UINT64_MAX };
	for (size_t i = first; i < end; i++) {
		const struct ncs_cost_item *item = &items->items[i];
		struct ncs_cost_span *span = &items->spans[item->rank];

		ranks += !span->some;
		span->some = item->part;
		if (item->part->number < span->least)
			span->least = item->part->number;
		if (item->part->number > span->most)
			span->most = item->part->number;
	}
	while (first < end) {
		size_t next =
			run_end(items, first, end, ncs_cost_compare_operations);

		if (next - first < ranks &&
		    make_up_operation(items, first, next, rank_count) != 0)
			return -ENOMEM;
		first = next;
	}
	return 0;
}

static int make_up_lost(struct ncs_cost_window *window,
			struct ncs_cost_items *items)
{
	size_t count = items->count;

	for (size_t i = 0, end; i < count; i = end) {
		end = run_end(items, i, count, ncs_cost_compare_series);
		for (size_t k = i + 1; k < end; k++)
			window->missing_count += ncs_cost_missing_between(
				items->items[k - 1].part, items->items[k].part);
		if (!ncs_cost_is_transfer(items->items[i].part) &&
		    make_up_series(items, i, end,
				   (uint32_t)window->rank_count) != 0)
			return -ENOMEM;
	}
	if (items->count > count)
		qsort(items->items, items->count, sizeof(*items->items),
		      by_operation);
	return 0;
}

/* Leaves out parts that are there twice, which would shift positions, and numbers
 * the operations. Calls of a series are in the order of its numbers, even where
 * their times are not. */
static void number_operations(struct ncs_cost_window *window,
			      struct ncs_cost_items *items)
{
	size_t kept = 0;

	for (size_t i = 0; i < items->count; i++) {
		struct ncs_cost_item *item = &items->items[i];
		const struct ncs_cost_item *before =
			kept ? &items->items[kept - 1] : NULL;
		bool is_same = before && ncs_cost_compare_operations(before->part,
							    item->part) == 0;

		if (is_same && before->rank == item->rank &&
		    before->part->function == item->part->function)
			continue;
		window->operation_count += !is_same;
		item->operation = (uint32_t)window->operation_count - 1;
		items->items[kept++] = *item;
	}
	items->count = kept;
	for (size_t i = items->count; i-- > 0;) {
		struct ncs_cost_item *item = &items->items[i];
		uint64_t *next_ns = &items->spans[item->rank].next_call_ns;

		if (i + 1 == items->count ||
		    ncs_cost_compare_series(item->part, items->items[i + 1].part) != 0)
			for (size_t k = 0; k < window->rank_count; k++)
				items->spans[k].next_call_ns = UINT64_MAX;
		if (!ncs_cost_is_transfer(item->part) &&
		    item->call_ns >= *next_ns)
			item->call_ns = *next_ns - 1;
		*next_ns = item->call_ns;
	}
}

/* Finds the streams of items, which are sorted by communicator. A rank uses one that is
 * not known in a part as in others of the communicator, or the communicator has one of
 * its own. */
static void find_streams(const struct ncs_cost_window *window,
			 struct ncs_cost_items *items)
{
	for (size_t first = 0, end; first < items->count; first = end) {
		uint64_t comm_id = items->items[first].part->comm_id;

		for (size_t i = 0; i < window->rank_count; i++)
			items->spans[i].stream = 0;
		for (end = first; end < items->count; end++) {
			const struct ncs_cost_item *item = &items->items[end];
			struct ncs_cost_span *span = &items->spans[item->rank];

			if (item->part->comm_id != comm_id)
				break;
			if (span->stream == 0)
				span->stream = item->stream;
		}
		for (size_t i = first; i < end; i++) {
			struct ncs_cost_item *item = &items->items[i];

			if (item->stream == 0)
				item->stream = items->spans[item->rank].stream;
			if (item->stream == 0)
				item->stream = comm_id;
		}
	}
}

int ncs_cost_items_make(struct ncs_cost_items *items,
			struct ncs_cost_window *window,
			const struct ncs_cost_part *parts, size_t count)
{
	int error;

	*items = (struct ncs_cost_items){ 0 };
	error = find_ranks(window, parts, count);
	if (error || count == 0)
		return error;
	items->spans = calloc(window->rank_count, sizeof(*items->spans));
	error = items->spans ? take_parts(window, items, parts, count) :
			       -ENOMEM;
	if (!error)
		error = make_up_lost(window, items);
	if (error)
		return error;
	number_operations(window, items);
	find_streams(window, items);
	return 0;
}

void ncs_cost_items_release(struct ncs_cost_items *items)
{
	free(items->items);
	free(items->spans);
	*items = (struct ncs_cost_items){ 0 };
}
