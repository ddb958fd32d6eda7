/* SPDX-License-Identifier: MIT */
/* Parts to launches; see cost_window.h. */
#include "analysis/cost/cost_items.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include "analysis/base/collective_waits.h"
#include "shm/array.h"
#include "shm/hash.h"

/* Sets when a part began and ended on its stream or, where that is not known, when it
 * had data or a kernel and what of it ended last. */
static void set_times(struct ncs_cost_part *cost,
		      const struct ncs_joined *joined,
		      const struct ncs_part *part)
{
	bool has_begun = joined->arrival == NCS_MOMENT_KERNEL ||
			 joined->arrival == NCS_MOMENT_DATA;

	cost->begin_ns = part->at_ns[NCS_MOMENT_STREAM];
	cost->end_ns = part->at_ns[NCS_MOMENT_STREAM_END];
	if ((cost->begin_ns != 0 && cost->end_ns != 0) || !has_begun)
		return;
	cost->begin_ns = part->at_ns[NCS_MOMENT_KERNEL];
	if (cost->begin_ns == 0)
		cost->begin_ns = ncs_joined_arrival_ns(joined, part) -
				 cost->data_late_ns;
	cost->end_ns = ncs_joined_turn_ns(joined, part);
	cost->tail_ns = ncs_joined_end_ns(joined, part) - cost->end_ns;
}

struct ncs_cost_part ncs_cost_part_of(const struct ncs_joined *joined,
				      const struct ncs_part *part,
				      uint32_t rank, uint64_t data_late_ns)
{
	bool is_p2p = part->flags & NCS_PART_P2P;
	uint64_t launched_ns = part->at_ns[NCS_MOMENT_OPERATION];
	uint64_t launch_ns = part->at_ns[NCS_MOMENT_LAUNCH];
	/* Without a number it cannot be told which operation it is. */
	bool is_told = part->number != NCS_NO_SEQUENCE_NUMBER &&
		       (!is_p2p || part->flags & NCS_PART_NUMBERED);

	struct ncs_cost_part cost = {
		.comm_id = part->comm_id,
		.number = part->number,
		.bytes = part->bytes,
		.stream = part->stream,
		.call_ns = launch_ns != 0 ? launch_ns : launched_ns,
		.launched_ns = launched_ns,
		.data_late_ns = data_late_ns,
		.clocks_apart_ns = joined->clocks_apart_ns,
		.rank = rank,
		.repeat = joined->repeat,
		.member = part->rank,
		.members = part->nranks,
		.peer = part->peer,
		.function = part->function,
	};

	if (is_told)
		set_times(&cost, joined, part);
	return cost;
}

static int by_call(const void *a, const void *b)
{
	const struct ncs_cost_item *x = a, *y = b;

	if (x->rank != y->rank)
		return x->rank < y->rank ? -1 : 1;
	if (x->call_ns != y->call_ns)
		return x->call_ns < y->call_ns ? -1 : 1;
	return (x->operation > y->operation) - (x->operation < y->operation);
}

static bool is_one_launch(const struct ncs_cost_item *a,
			  const struct ncs_cost_item *b)
{
	uint64_t from_ns = a->part->begin_ns, until_ns = b->part->begin_ns;

	return a->rank == b->rank && a->part->comm_id == b->part->comm_id &&
	       a->part->call_ns == b->part->call_ns && a->stream == b->stream &&
	       (from_ns < until_ns ? until_ns - from_ns : from_ns - until_ns) <
		       NCS_ERROR_NS;
}

/* --- Launches ------------------------------------------------------------- */

/* Numbers of a rank's streams or queues, by their first use. */
struct first_use {
	struct {
		uint64_t name;
		uint32_t latest; /* launch */
	} * all;
	size_t count, capacity;
};

static int number_of(struct first_use *use, uint64_t name, size_t *number)
{
	for (*number = 0; *number < use->count; (*number)++)
		if (use->all[*number].name == name)
			return 0;
	if (ncs_array_reserve(&use->all, &use->capacity, use->count + 1,
			      sizeof(*use->all)) != 0)
		return -ENOMEM;
	use->all[use->count].name = name;
	use->all[use->count++].latest = NCS_COST_NONE;
	return 0;
}

/* Returns a hash of what a launch does: its functions and sizes, and where it sends to
 * or receives from alone. Sizes of grouped sends and receives are left out. */
static uint64_t hash_of(const struct ncs_cost_item *items, size_t count)
{
	const struct ncs_cost_part *first = items[0].part;
	uint64_t sends = 0, hash = ncs_hash((uint64_t)(uint32_t)first->members);

	if (!ncs_cost_is_transfer(first)) {
		for (size_t i = 0; i < count; i++) {
			hash = ncs_hash_add(hash, items[i].part->function);
			hash = ncs_hash_add(hash, items[i].part->bytes);
		}
		return hash;
	}
	for (size_t i = 0; i < count; i++)
		sends += items[i].part->function == NCS_FUNCTION_SEND;
	hash = ncs_hash_add(ncs_hash_add(hash, sends), count - sends);
	return count == 1 ? ncs_hash_add(hash, first->peer > first->member) :
			    hash;
}

/* Returns whether a part may end before others of its operation begin: it sends, or waits
 * for a root alone, which has begun. */
static bool may_end_early(const struct ncs_cost_item *item)
{
	const struct ncs_cost_part *part = item->part;

	if (part->function == NCS_FUNCTION_SEND)
		return true;
	return ncs_has_root(part->function) &&
	       (part->peer != item->member ||
		ncs_wait_rule_of(part->function) != NCS_WAIT_FOR_LEAVES);
}

/* Fills in a launch of `count` items. */
static void make_launch(struct ncs_cost_window *window,
			struct ncs_cost_item *items, size_t count,
			uint64_t base_ns)
{
	uint32_t index = (uint32_t)window->launch_count++;
	struct ncs_cost_launch *launch = &window->launches[index];
	const struct ncs_cost_part *part = items[0].part;
	bool transfers = ncs_cost_is_transfer(part);
	uint64_t begin_ns = part->begin_ns, end_ns = part->end_ns;
	uint64_t latest_end_ns = end_ns + part->tail_ns;
	uint64_t bytes = 0;
	bool is_root = false;

	for (size_t i = 0; i < count; i++) {
		part = items[i].part;
		bytes += part->bytes;
		is_root |= ncs_has_root(part->function) &&
			   part->peer == items[i].member;
		if (transfers ? part->begin_ns < begin_ns :
				part->begin_ns > begin_ns)
			begin_ns = part->begin_ns;
		if (part->end_ns > end_ns)
			end_ns = part->end_ns;
		if (part->end_ns + part->tail_ns > latest_end_ns)
			latest_end_ns = part->end_ns + part->tail_ns;
	}
	part = items[0].part;
	for (size_t i = 0; i < count; i++)
		items[i].launch = index;
	*launch = (struct ncs_cost_launch){
		.call_ns = (double)(int64_t)(items[0].call_ns - base_ns),
		.begin_ns = (double)(int64_t)(begin_ns - base_ns),
		.end_ns = (double)(int64_t)(end_ns - base_ns),
		.token = hash_of(items, count),
		.bytes = bytes,
		.rank = items[0].rank,
		.before = NCS_COST_NONE,
		.operation_count = (uint32_t)count,
		.position = NCS_COST_NONE,
		.regular = NCS_COST_NONE,
		.launching_ns = (float)(part->launched_ns - items[0].call_ns),
		.tail_ns = (float)(latest_end_ns - end_ns),
		.is_root = is_root,
		.may_end_early = count == 1 && may_end_early(&items[0]),
		.wait_rule = (uint8_t)ncs_wait_rule_of(part->function),
	};
}

/* Finds which launches of a rank waited for their host or their stream. */
static void censor(struct ncs_cost_window *window,
		   const struct ncs_cost_rank *rank)
{
	struct ncs_cost_launch *launches = window->launches;
	double delay_ns = NCS_LAUNCH_NS;

	for (uint32_t i = rank->first; i < rank->first + rank->count; i++)
		delay_ns = fmin(delay_ns, launches[i].begin_ns -
						  launches[i].call_ns -
						  launches[i].launching_ns);
	delay_ns = fmax(delay_ns, 0);
	for (uint32_t i = rank->first; i < rank->first + rank->count; i++) {
		struct ncs_cost_launch *launch = &launches[i];
		uint32_t before = launch->before;

		launch->is_censored =
			launch->begin_ns - launch->call_ns -
					launch->launching_ns - delay_ns <
				NCS_LAUNCH_NS ||
			(before != NCS_COST_NONE &&
			 launch->begin_ns - launches[before].end_ns -
					 launches[before].tail_ns <
				 NCS_LAUNCH_NS);
	}
}

/* Makes the launches of a rank, whose items begin at *at. */
static int make_rank(struct ncs_cost_window *window,
		     struct ncs_cost_items *items, uint32_t index, size_t *at,
		     uint64_t base_ns)
{
	struct ncs_cost_rank *rank = &window->ranks[index];
	struct first_use queues = { 0 }, streams = { 0 };
	size_t queue, stream, end;
	int error = 0;

	rank->first = (uint32_t)window->launch_count;
	for (; !error && *at < items->count && items->items[*at].rank == index;
	     *at = end) {
		struct ncs_cost_item *first = &items->items[*at];
		struct ncs_cost_launch *launch =
			&window->launches[window->launch_count];

		for (end = *at + 1; end < items->count; end++)
			if (!is_one_launch(first, &items->items[end]))
				break;
		make_launch(window, first, end - *at, base_ns);
		launch->operations = (uint32_t)*at;
		error = number_of(&queues,
				  ncs_hash_add(ncs_hash(first->part->comm_id),
					       first->stream),
				  &queue);
		if (!error)
			error = number_of(&streams, first->stream, &stream);
		if (error)
			break;
		launch->queue = (uint32_t)queue;
		launch->before = streams.all[stream].latest;
		streams.all[stream].latest =
			(uint32_t)(launch - window->launches);
	}
	rank->count = (uint32_t)window->launch_count - rank->first;
	rank->queue_count = (uint32_t)queues.count;
	censor(window, rank);
	free(queues.all);
	free(streams.all);
	return error;
}

/* Lists the operations of launches, and the launches of operations. */
static void list_members(struct ncs_cost_window *window,
			 const struct ncs_cost_items *items)
{
	struct ncs_cost_operation *operations = window->operations;
	uint32_t first = 0;

	for (size_t i = 0; i < items->count; i++) {
		window->launch_operations[i] = items->items[i].operation;
		operations[items->items[i].operation].count++;
	}
	for (size_t i = 0; i < window->operation_count; i++) {
		operations[i].first = first;
		operations[i].last_begin_ns = -INFINITY;
		first += operations[i].count;
		operations[i].count = 0;
	}
	for (size_t i = 0; i < items->count; i++) {
		struct ncs_cost_operation *operation =
			&operations[items->items[i].operation];
		uint32_t launch = items->items[i].launch;

		window->members[operation->first + operation->count++] = launch;
		operation->is_transfer =
			ncs_cost_is_transfer(items->items[i].part);
		operation->last_begin_ns =
			fmax(operation->last_begin_ns,
			     window->launches[launch].begin_ns);
		window->launches[launch].clocks_apart_ns = fmaxf(
			window->launches[launch].clocks_apart_ns,
			(float)items->items[i].part->clocks_apart_ns);
		if (items->items[i].part->data_late_ns <=
		    operation->data_late_ns)
			continue;
		operation->data_late_ns = items->items[i].part->data_late_ns;
		operation->late_rank = items->items[i].rank;
	}
	window->item_count = items->count;
	for (size_t i = 0; i < items->count; i++) {
		const struct ncs_cost_operation *operation =
			&operations[items->items[i].operation];
		int32_t wanted = operation->is_transfer ?
					 2 :
					 items->items[i].part->members;

		window->partial_count += (int64_t)operation->count < wanted;
	}
}

/* --- Launches that end early --------------------------------------------- */

/* Work space. */
struct separation {
	struct ncs_cost_window *window;
	size_t capacity;       /* of operations */
	uint32_t member_count; /* in the window's list */
};

/* Returns when a launch had ended on any clock. */
static double ended_ns(const struct ncs_cost_launch *launch)
{
	return launch->end_ns + (double)launch->tail_ns +
	       fmax((double)NCS_ERROR_NS, (double)launch->clocks_apart_ns);
}

static int by_begin(const void *a, const void *b, void *context)
{
	const struct ncs_cost_launch *launches = context;
	double x = launches[*(const uint32_t *)a].begin_ns;
	double y = launches[*(const uint32_t *)b].begin_ns;

	return (x > y) - (x < y);
}

/* Returns the last of members, sorted by begin, that had begun at a time. The first one
 * had. */
static uint32_t last_begun(const struct ncs_cost_window *window,
			   const uint32_t *members, uint32_t count,
			   double at_ns)
{
	uint32_t low = 0, high = count;

	while (high - low > 1) {
		uint32_t middle = low + (high - low) / 2;

		if (window->launches[members[middle]].begin_ns <= at_ns)
			low = middle;
		else
			high = middle;
	}
	return members[low];
}

/* Adds the operation that a launch of `operation` ended with. */
static int add(struct separation *separation, uint32_t index, uint32_t last,
	       uint32_t root, const struct ncs_cost_operation *operation,
	       bool waits_less)
{
	struct ncs_cost_window *window = separation->window;
	uint32_t first = separation->member_count;
	uint32_t *members = &window->members[first], count = 0;

	if (ncs_array_reserve(&window->operations, &separation->capacity,
			      window->operation_count + 1,
			      sizeof(*window->operations)) != 0)
		return -ENOMEM;
	members[count++] = index;
	if (last != index)
		members[count++] = last;
	if (root != NCS_COST_NONE && root != last && root != index)
		members[count++] = root;
	separation->member_count += count;
	window->launch_operations[window->launches[index].operations] =
		(uint32_t)window->operation_count;
	window->operations[window->operation_count++] =
		(struct ncs_cost_operation){
			.first = first,
			.count = count,
			.last_begin_ns = window->launches[last].begin_ns,
			.is_transfer = operation->is_transfer,
			.is_separate = true,
			.waits_less = waits_less,
		};
	return 0;
}

static int separate(struct separation *separation, size_t index)
{
	struct ncs_cost_window *window = separation->window;
	const struct ncs_cost_operation operation = window->operations[index];
	uint32_t *members = &window->members[operation.first];
	uint32_t root = NCS_COST_NONE, latest = NCS_COST_NONE;
	bool any = false;
	int error = 0;

	for (uint32_t i = 0; i < operation.count; i++) {
		const struct ncs_cost_launch *launch =
			&window->launches[members[i]];

		if (launch->is_root && launch->wait_rule == NCS_WAIT_FOR_ROOT)
			root = members[i];
		any |= launch->may_end_early &&
		       ended_ns(launch) < operation.last_begin_ns;
	}
	if (!any)
		return 0;
	qsort_r(members, operation.count, sizeof(*members), by_begin,
		window->launches);
	for (uint32_t i = 0; !error && i < operation.count; i++) {
		const struct ncs_cost_launch *launch =
			&window->launches[members[i]];
		double at_ns = ended_ns(launch);
		uint32_t last;

		if (!launch->may_end_early ||
		    at_ns >= operation.last_begin_ns ||
		    (root != NCS_COST_NONE &&
		     window->launches[root].begin_ns > at_ns))
			continue;
		last = last_begun(window, members, operation.count, at_ns);
		error = add(separation, members[i], last, root, &operation,
			    last == latest);
		latest = last;
	}
	return error;
}

/* Finds launches that ended before others of their operation had begun, and adds the
 * operations that these ended with. Sorts the members of such an operation by their
 * begins. Where such times cannot be, as a leaf ends before its root begins, it leaves
 * them alone. */
static int separate_all(struct ncs_cost_window *window)
{
	struct separation separation = {
		.window = window,
		.capacity = window->operation_count,
		.member_count = (uint32_t)window->item_count,
	};
	int error = 0;

	window->whole_count = window->operation_count;
	for (size_t i = 0; !error && i < window->whole_count; i++)
		error = separate(&separation, i);
	return error;
}

/* --- The window ----------------------------------------------------------- */

static int make_launches(struct ncs_cost_window *window,
			 struct ncs_cost_items *items)
{
	size_t at = 0;
	int error = 0;

	window->base_ns = UINT64_MAX;
	for (size_t i = 0; i < items->count; i++)
		if (items->items[i].call_ns < window->base_ns)
			window->base_ns = items->items[i].call_ns;
	for (uint32_t i = 0; !error && i < window->rank_count; i++)
		error = make_rank(window, items, i, &at, window->base_ns);
	if (error)
		return error;
	list_members(window, items);
	return separate_all(window);
}

static int allocate(struct ncs_cost_window *window, size_t count)
{
	window->launches = calloc(count, sizeof(*window->launches));
	window->operations =
		calloc(window->operation_count, sizeof(*window->operations));
	/* Each launch may have an operation of its own with two others. */
	window->members = calloc(4 * count, sizeof(*window->members));
	window->launch_operations =
		calloc(count, sizeof(*window->launch_operations));
	window->regular = calloc(count, sizeof(*window->regular));
	return window->launches && window->operations && window->members &&
			       window->launch_operations && window->regular ?
		       0 :
		       -ENOMEM;
}

int ncs_cost_window_make(struct ncs_cost_window *window,
			 const struct ncs_cost_part *parts, size_t count)
{
	struct ncs_cost_items items;
	int error;

	*window = (struct ncs_cost_window){
		.part_launches = malloc((count + 1) * sizeof(uint32_t)),
		.part_count = count,
	};
	error = ncs_cost_items_make(&items, window, parts, count);
	if (!window->part_launches)
		error = -ENOMEM;
	if (!error && items.count > 0) {
		qsort(items.items, items.count, sizeof(*items.items), by_call);
		error = allocate(window, items.count);
		if (!error)
			error = make_launches(window, &items);
	}
	for (size_t i = 0; !error && i < count; i++)
		window->part_launches[i] = NCS_COST_NONE;
	for (size_t i = 0; !error && i < items.count; i++)
		if (items.items[i].index != NCS_COST_NONE)
			window->part_launches[items.items[i].index] =
				items.items[i].launch;
	ncs_cost_items_release(&items);
	return error;
}

void ncs_cost_window_release(struct ncs_cost_window *window)
{
	for (size_t i = 0; i < window->class_count; i++) {
		free(window->classes[i].step);
		free(window->classes[i].ranks);
	}
	free(window->classes);
	free(window->ranks);
	free(window->launches);
	free(window->operations);
	free(window->members);
	free(window->launch_operations);
	free(window->regular);
	free(window->part_launches);
	*window = (struct ncs_cost_window){ 0 };
}
