/* SPDX-License-Identifier: MIT */
/* The forward pass; see critical_path.h.
 *
 * Operations are processed in the order in which their first parts may have
 * ended. The predecessors of an operation's arrivals ended before that, so they
 * have been processed already. If not all ranks wait for all, the operation's
 * parts are deferred.
 */
#include "analysis/path/critical_path.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/base/finding_numbers.h"
#include "analysis/path/path_state.h"
#include "shm/array.h"

/* A stage has such a share of transfers among its operations. */
#define TRANSFERS 0.25

/* The role of a part in its operation. ALONE is also the role of all parts of
 * an operation in which all wait for all. */
enum role { ROLE_ALONE, ROLE_WAITED_FOR, ROLE_WAITS };

/* An operation that is being processed: as a whole, or part by part if not all
 * ranks wait for all. */
struct pending_operation {
	struct ncs_path_operation operation;
	size_t references;
	struct ncs_path_edits edits;
	size_t place; /* of its first part; see struct ncs_path_arrival */
	/* The latest arrival so far of the parts that others wait for. */
	bool has_arrived;
	double at_ns; /* as recorded */
	double times_ns[NCS_PATH_RUNS];
	uint64_t operations[NCS_PATH_RUNS];
	uint32_t owners[NCS_PATH_RUNS];
};

/* --- Deferred parts -------------------------------------------------------- */

/* A deferred part. If not all ranks wait for all in an operation, each of its parts is
 * processed by itself, at the first end of the parts that need it. These are the part
 * itself and the parts that wait for it. */
struct deferred {
	double at_ns;   /* when it is processed, as recorded */
	uint64_t order; /* order among parts with the same at_ns */
	enum role role;
	struct pending_operation *pending;
	size_t index; /* of the part in its operation */
	struct ncs_part part;
	struct ncs_part_times times; /* of the part */
};

static bool is_before(const void *left, const void *right)
{
	const struct deferred *a = left, *b = right;

	if (a->at_ns != b->at_ns)
		return a->at_ns < b->at_ns;
	return a->order < b->order;
}

static int push(struct ncs_path *path, struct pending_operation *pending,
		const struct ncs_joined *joined, const struct ncs_part *part,
		enum role role, double at_ns)
{
	struct deferred *deferred = malloc(sizeof(*deferred));

	if (!deferred)
		return -ENOMEM;
	*deferred = (struct deferred){
		.at_ns = at_ns,
		.order = path->deferred_count++,
		.role = role,
		.pending = pending,
		.index = (size_t)(part - joined->parts),
		.part = *part,
	};
	ncs_part_times_make(&deferred->times, joined, part);
	if (ncs_heap_push(&path->deferred, deferred, is_before) != 0) {
		free(deferred);
		return -ENOMEM;
	}
	pending->references++;
	return 0;
}

static void release(struct pending_operation *pending)
{
	if (--pending->references == 0)
		free(pending);
}

/* Takes out the next part that is due by `until_ns`, to be released with
 * deferred_free(); returns NULL if there is none. */
static struct deferred *deferred_next(struct ncs_path *path, double until_ns)
{
	const struct deferred *first;

	if (path->deferred.count == 0)
		return NULL;
	first = path->deferred.items[0];
	return first->at_ns <= until_ns ?
		       ncs_heap_pop(&path->deferred, is_before) :
		       NULL;
}

static void deferred_free(struct deferred *deferred)
{
	release(deferred->pending);
	free(deferred);
}

/* Returns the turn of the root; INFINITY if it has no part. */
static double root_turn_ns(const struct ncs_path *path,
			   const struct ncs_joined *joined)
{
	double root_ns = INFINITY;

	for (size_t i = 0; i < joined->count; i++)
		if (ncs_joined_is_root(joined, &joined->parts[i]))
			root_ns = ncs_since(
				path->base_ns,
				ncs_joined_turn_ns(joined, &joined->parts[i]));
	return root_ns;
}

/* Pushes the parts that wait for others if `waits` is true, else all the other
 * parts. Returns 0 or -ENOMEM. */
static int push_parts(struct ncs_path *path, const struct ncs_joined *joined,
		      struct pending_operation *pending, bool waits)
{
	double root_ns = root_turn_ns(path, joined);
	double first_ns = ncs_since(path->base_ns, joined->turn_ns);
	int error = 0;

	for (size_t i = 0; i < joined->count && !error; i++) {
		const struct ncs_part *part = &joined->parts[i];
		bool is_root = ncs_joined_is_root(joined, part);
		double at_ns = ncs_since(path->base_ns,
					 ncs_joined_turn_ns(joined, part));
		enum role role = ROLE_WAITED_FOR;

		if (ncs_is_waiting(joined->wait_rule, is_root) != waits)
			continue;
		if (joined->wait_rule == NCS_WAIT_FOR_NONE)
			role = ROLE_ALONE;
		else if (waits)
			role = ROLE_WAITS;
		else if (joined->wait_rule == NCS_WAIT_FOR_ROOT)
			at_ns = first_ns;
		else
			at_ns = ncs_smaller(at_ns, root_ns);
		error = push(path, pending, joined, part, role, at_ns);
	}
	return error;
}

/* Defers all parts of an operation; `pending` is what they have in common; it
 * is copied. Returns 0 or -ENOMEM. */
static int defer(struct ncs_path *path, const struct ncs_joined *joined,
		 const struct pending_operation *pending)
{
	struct pending_operation *kept = malloc(sizeof(*kept));
	int error;

	if (!kept)
		return -ENOMEM;
	*kept = *pending;
	kept->references = 1;
	/* Parts that are waited for come before those that wait. */
	error = push_parts(path, joined, kept, false);
	if (!error)
		error = push_parts(path, joined, kept, true);
	release(kept);
	return error;
}

/* --- Making and releasing ------------------------------------------------- */

static bool init_owners(struct ncs_path *path)
{
	const struct ncs_path_options *options = &path->options;

	for (size_t i = 0; i < options->owner_count; i++) {
		struct ncs_path_rank *rank =
			&path->ranks[options->owners[i].rank];

		path->members[i].rank = rank;
		path->members[i].least_ns = (double)NCS_LAUNCH_NS;
		path->members[i].call_ns = -INFINITY;
		rank->send_ns = rank->send_end_ns = -INFINITY;
		rank->other_ns = rank->other_end_ns = -INFINITY;
		rank->has_several = rank->overlaps = rank->capacity > 0;
		if (!rank->has_several && !ncs_path_finished_init(path, rank))
			return false;
	}
	for (size_t i = 0; i < options->owner_count; i++) {
		if (!path->ranks[options->owners[i].rank].has_several)
			continue;
		path->members[i].latest = calloc(1, path->finished_bytes);
		if (!path->members[i].latest)
			return false;
		path->members[i].latest->at_ns = INFINITY;
		path->members[i].latest->least_ns = INFINITY;
	}
	return true;
}

/* Notes what the scenario of run k needs. */
static void init_scenario(struct ncs_path *path, size_t k)
{
	const struct ncs_scenario *scenario = ncs_path_scenario(path, k);

	path->wants_hosts |= scenario->kind == NCS_WHAT_IF_NET &&
			     (scenario->inter_node || scenario->peers[0] >= 0);
	if (scenario->kind == NCS_WHAT_IF_WITHOUT && path->options.without)
		path->moves[k] =
			ncs_without_moves(path->options.without, k - 1);
}

struct ncs_path *ncs_path_new(const struct ncs_path_options *options)
{
	struct ncs_path *path = calloc(1, sizeof(*path));

	if (!path)
		return NULL;
	path->options = *options;
	path->run_count = 1 + options->scenario_count;
	path->finished_bytes = sizeof(struct ncs_path_finished) +
			       path->run_count *
				       sizeof(struct ncs_path_run);
	path->first_ns = INFINITY;
	path->last_ns = -INFINITY;
	for (size_t k = 0; k < path->run_count; k++) {
		path->ends[k].operation = NCS_PATH_NO_OPERATION;
		path->ends_ns[k] = -INFINITY;
	}
	path->ranks = calloc(options->rank_count + 1, sizeof(*path->ranks));
	path->members =
		calloc(options->owner_count + 1, sizeof(*path->members));
	path->overlap = calloc(1, path->finished_bytes);
	path->overlap_end = calloc(1, path->finished_bytes);
	if (ncs_path_nodes_init(path) && path->ranks && path->members &&
	    path->overlap && path->overlap_end && init_owners(path)) {
		for (size_t k = 1; k < path->run_count; k++)
			init_scenario(path, k);
		return path;
	}
	ncs_path_free(path);
	return NULL;
}

void ncs_path_free(struct ncs_path *path)
{
	struct deferred *deferred;

	if (!path)
		return;
	for (uint32_t i = 0; path->ranks && i < path->options.rank_count; i++) {
		free(path->ranks[i].least_ns);
		free(path->ranks[i].finished);
		free(path->ranks[i].send);
	}
	for (size_t i = 0; path->members && i < path->options.owner_count; i++)
		free(path->members[i].latest);
	while ((deferred = deferred_next(path, INFINITY)))
		deferred_free(deferred);
	ncs_heap_release(&path->deferred);
	free(path->numbers);
	ncs_path_nodes_release(&path->nodes);
	free(path->ranks);
	free(path->members);
	free(path->overlap);
	free(path->overlap_end);
	free(path->arrivals);
	free(path->part_times);
	free(path->part_ranks);
	free(path);
}

/* --- One operation -------------------------------------------------------- */

/* Reports the times of a part in all runs. */
static void report_times(const struct ncs_path *path,
			 const struct pending_operation *pending,
			 const struct ncs_path_start *start,
			 const struct ncs_part *part,
			 const struct ncs_path_arrival *arrival, double end_ns)
{
	for (size_t k = 0; k < path->run_count; k++) {
		double at_ns = ncs_path_arrival_ns(path, k, part, arrival);
		double in_ns = ncs_path_end_ns(path, k, arrival, &start->ready,
					       &pending->edits, end_ns);

		path->options.timed(path->options.context, k, part,
				    path->base_ns + (uint64_t)(int64_t)at_ns,
				    path->base_ns + (uint64_t)(int64_t)in_ns);
	}
}

/* Fills in the node of run k: the part that was waited for, and why it arrived
 * then. */
static void find_last(const struct ncs_path *path,
		      const struct pending_operation *pending, enum role role,
		      const struct ncs_part *parts, size_t k,
		      struct ncs_path_start *start, struct ncs_path_node *node)
{
	size_t last = start->last[k];

	if (role == ROLE_WAITS && pending->has_arrived &&
	    pending->times_ns[k] > start->ready.in_ns[k]) {
		start->ready.in_ns[k] = pending->times_ns[k];
		*node = (struct ncs_path_node){
			.predecessor = { .operation = pending->operations[k],
					 .owner = pending->owners[k] },
			.owner = pending->owners[k],
			.at_ns = pending->times_ns[k],
		};
	} else {
		ncs_path_explain(path, k, &parts[last], &path->arrivals[last],
				 start->ready.in_ns[k], node);
	}
}

/* Notes the arrival of a part that other parts of its operation wait for. */
static void note_waited_for(const struct ncs_path *path,
			    struct pending_operation *pending,
			    const struct ncs_path_start *start,
			    const struct ncs_part *part)
{
	for (size_t k = 0; k < path->run_count; k++) {
		if (pending->has_arrived &&
		    start->ready.in_ns[k] <= pending->times_ns[k])
			continue;
		pending->times_ns[k] = start->ready.in_ns[k];
		pending->operations[k] = start->ready.operation;
		pending->owners[k] = (uint32_t)part->owner;
	}
	pending->at_ns = pending->has_arrived ?
				 ncs_larger(pending->at_ns, start->ready.ns) :
				 start->ready.ns;
	pending->has_arrived = true;
}

/* Notes the latest end of the operation's step: that of the last part, which ended at
 * `end_ns`, as recorded. */
static void note_step(struct ncs_path *path,
		      const struct pending_operation *pending,
		      const struct ncs_path_start *start,
		      const struct ncs_path_arrival *last, double end_ns)
{
	const struct ncs_path_operation *operation = &pending->operation;
	struct ncs_path_step *row;

	if (!operation->is_counted || operation->step == NCS_NO_STEP)
		return;
	row = ncs_path_nodes_step(path, operation->step);
	for (size_t k = 0; row && k < path->run_count; k++) {
		double in_ns = ncs_path_end_ns(path, k, last, &start->ready,
					       &pending->edits, end_ns);

		if (!row->has_end || in_ns > row->end_ns[k])
			row->end_ns[k] = in_ns;
	}
	if (row)
		row->has_end = true;
}

/* Makes a node of the arrival at a send beside which its rank goes on, if there is
 * one among the parts at hand. Returns its part, or `count`. */
static size_t explain_overlap(struct ncs_path *path,
			      const struct pending_operation *pending,
			      const struct ncs_part *parts, size_t count)
{
	struct ncs_path_finished *overlap = path->overlap;
	const struct ncs_path_arrival *arrival;
	struct ncs_path_node *nodes;
	size_t i = 0;

	while (i < count && !path->arrivals[i].send_overlaps)
		i++;
	if (i == count)
		return count;
	arrival = &path->arrivals[i];
	memset(overlap, 0, path->finished_bytes);
	nodes = ncs_path_nodes_add(path, &pending->operation,
				   &overlap->operation);
	overlap->at_ns = overlap->least_ns = arrival->at_ns;
	overlap->owner = (uint32_t)parts[i].owner;
	overlap->number = arrival->number;
	overlap->call_ns = arrival->call_ns;
	overlap->is_send = true;
	for (size_t k = 0; k < path->run_count; k++) {
		overlap->runs[k].end_ns =
			ncs_path_arrival_ns(path, k, &parts[i], arrival);
		ncs_path_explain(path, k, &parts[i], arrival,
				 overlap->runs[k].end_ns, &nodes[k]);
	}
	return i;
}

/* Processes parts that wait for each other, or a single part, which is this one of
 * its operation. */
static void process(struct ncs_path *path, struct pending_operation *pending,
		    enum role role, const struct ncs_part *parts,
		    const struct ncs_part_times *part_times, size_t count,
		    size_t index)
{
	size_t place = pending->place == NCS_PATH_NO_PLACE ?
			       NCS_PATH_NO_PLACE :
			       pending->place + index;
	struct ncs_path_start start;
	struct ncs_path_node *nodes;
	size_t overlap;
	double last_ns = -INFINITY;

	ncs_path_arrive(path, parts, part_times, count, place, &start);
	if (role == ROLE_WAITS && pending->has_arrived)
		start.ready.ns = ncs_larger(start.ready.ns, pending->at_ns);
	nodes = ncs_path_nodes_add(path, &pending->operation,
				   &start.ready.operation);
	for (size_t k = 0; k < path->run_count; k++)
		find_last(path, pending, role, parts, k, &start, &nodes[k]);
	overlap = explain_overlap(path, pending, parts, count);
	if (role == ROLE_WAITED_FOR)
		note_waited_for(path, pending, &start, parts);
	/* Report first: storing the ends may reuse places that the arrivals
	 * point to. */
	for (size_t i = 0; path->options.timed && i < count; i++)
		report_times(path, pending, &start, &parts[i],
			     &path->arrivals[i],
			     ncs_since(path->base_ns, part_times[i].end_ns));
	for (size_t i = 0; i < count; i++) {
		last_ns = ncs_larger(last_ns, ncs_since(path->base_ns,
							part_times[i].end_ns));
		ncs_path_finished_add(path, &start.ready, &pending->edits,
				      &part_times[i], &path->arrivals[i]);
	}
	if (overlap < count)
		ncs_path_keep_overlap(path, &path->arrivals[overlap]);
	path->last_ns = ncs_larger(path->last_ns, last_ns);
	note_step(path, pending, &start, &path->arrivals[start.last[0]],
		  ncs_larger(last_ns, start.ready.ns));
	path->report.parts += count;
}

/* Processes the deferred parts that are due by `until_ns`. */
static void process_deferred(struct ncs_path *path, double until_ns)
{
	struct deferred *deferred;

	while ((deferred = deferred_next(path, until_ns))) {
		process(path, deferred->pending, deferred->role,
			&deferred->part, &deferred->times, 1, deferred->index);
		deferred_free(deferred);
	}
}

/* --- The pass ------------------------------------------------------------- */

/* Makes room in the work space for `count` parts. Returns 0 or -ENOMEM. */
static int make_room(struct ncs_path *path, size_t count)
{
	size_t rooms[3] = { path->room, path->room, path->room };

	if (ncs_array_reserve(&path->arrivals, &rooms[0], count,
			      sizeof(*path->arrivals)) != 0 ||
	    ncs_array_reserve(&path->part_times, &rooms[1], count,
			      sizeof(*path->part_times)) != 0 ||
	    ncs_array_reserve(&path->part_ranks, &rooms[2], count,
			      sizeof(*path->part_ranks)) != 0)
		return -ENOMEM;
	path->room = rooms[0];
	return 0;
}

/* Finds what each scenario changes of an operation's transfer. */
static void find_edits(struct ncs_path *path, const struct ncs_joined *joined,
		       struct ncs_path_edits *edits)
{
	const struct ncs_path_options *options = &path->options;
	struct ncs_fits none = { 0 };
	struct ncs_transfer transfer = {
		.joined = joined,
		.fits = options->fits ? options->fits : &none,
		.ranks = path->part_ranks,
	};

	edits->edits[0] = NCS_TRANSFER_AS_IT_IS;
	if (path->run_count == 1)
		return;
	transfer.fit = ncs_fits_find(transfer.fits, joined);
	for (size_t i = 0; path->wants_hosts && i < joined->count; i++) {
		const struct ncs_path_owner *owner =
			&options->owners[joined->parts[i].owner];

		path->part_ranks[i] = (int32_t)owner->rank;
		transfer.spans_hosts |=
			owner->host !=
			options->owners[joined->parts[0].owner].host;
	}
	for (size_t k = 1; k < path->run_count; k++) {
		bool unknown = false;

		edits->edits[k] = ncs_scenario_transfer(
			&options->scenarios[k - 1], &transfer, &unknown);
		edits->unknown |= (uint64_t)unknown << k;
	}
}

/* Returns the times of an operation's parts. Computes them if the operation
 * does not have them. */
static const struct ncs_part_times *
part_times_of(const struct ncs_path *path, const struct ncs_joined *joined)
{
	if (joined->part_times)
		return joined->part_times;
	for (size_t i = 0; i < joined->count; i++)
		ncs_part_times_make(&path->part_times[i], joined,
				    &joined->parts[i]);
	return path->part_times;
}

/* Returns whether the owner of a part is a stage, or may turn out to be one: it does not
 * send or receive but a few times, as a job does when it begins. */
static bool is_stage(const struct ncs_path *path, size_t owner)
{
	const struct ncs_path_options *options = &path->options;
	const struct ncs_path_line *line;

	if (!options->lines || options->learns)
		return true;
	line = &options->lines->ranks[options->owners[owner].rank];
	return (double)line->transfers >= TRANSFERS * (double)line->operations;
}

/* Notes which ranks run operations side by side. Operations in which all ranks
 * wait for all follow one another in a stream; others may overlap. */
static void note_overlap(struct ncs_path *path, const struct ncs_joined *joined)
{
	if (joined->function != NCS_FUNCTION_SEND_RECV &&
	    joined->wait_rule == NCS_WAIT_FOR_ALL)
		return;
	for (size_t i = 0; i < joined->count; i++) {
		struct ncs_path_rank *rank =
			path->members[joined->parts[i].owner].rank;

		rank->overlaps = true;
		rank->has_transfers |=
			joined->function == NCS_FUNCTION_SEND_RECV &&
			is_stage(path, joined->parts[i].owner);
	}
}

/* Returns the latest numbers of a communicator; NULL if there is no memory. */
static struct ncs_path_numbers *numbers_of(struct ncs_path *path,
					   uint64_t comm_id)
{
	for (size_t i = 0; i < path->numbers_count; i++) {
		size_t place = (path->numbers_found + i) % path->numbers_count;

		if (path->numbers[place].comm_id != comm_id)
			continue;
		path->numbers_found = place;
		return &path->numbers[place];
	}
	if (ncs_array_reserve_zeroed(&path->numbers, &path->numbers_capacity,
				     path->numbers_count + 1,
				     sizeof(*path->numbers)) != 0)
		return NULL;
	path->numbers[path->numbers_count].comm_id = comm_id;
	return &path->numbers[path->numbers_count++];
}

/* Returns how many operations of an operation's communicator and function came
 * right before it without any record. */
static uint64_t unseen_before(struct ncs_path *path,
			      const struct ncs_joined *joined)
{
	struct ncs_path_numbers *numbers;
	uint64_t *next, unseen = 0;

	if (joined->function >= NCS_FUNCTION_COUNT ||
	    joined->function == NCS_FUNCTION_SEND_RECV || joined->repeat > 0 ||
	    joined->number == NCS_NO_SEQUENCE_NUMBER)
		return 0;
	numbers = numbers_of(path, joined->comm_id);
	if (!numbers) {
		path->error = -ENOMEM;
		return 0;
	}
	next = &numbers->next[joined->function];
	if (joined->number < *next)
		return 0;
	if (*next > 0)
		unseen = joined->number - *next;
	*next = joined->number + 1;
	return unseen;
}

/* Notes what is not known of an operation. Returns whether its times cannot be
 * relied on. */
static bool note_trust(struct ncs_path_trust *trust,
		       const struct ncs_joined *joined)
{
	const struct ncs_part *first = &joined->parts[0];
	bool is_unrecorded = joined->is_complete && !joined->is_whole;

	trust->arrivals[joined->arrival]++;
	trust->endless += !joined->end_is_trusted;
	trust->incomplete += !joined->is_complete;
	trust->unrecorded += is_unrecorded;
	trust->to_itself += joined->function == NCS_FUNCTION_SEND_RECV &&
			    first->peer == first->rank;
	return ncs_joined_doubt(joined, first) > NCS_DOUBT_PULLED;
}

int ncs_path_add(struct ncs_path *path, const struct ncs_joined *joined,
		 bool is_counted, uint32_t step)
{
	struct pending_operation pending = {
		.operation = { .comm_id = joined->comm_id,
			       .number = joined->number,
			       .bytes = joined->parts[0].bytes,
			       .step = step,
			       .function = joined->function,
			       .is_counted = is_counted },
		.place = NCS_PATH_NO_PLACE,
	};
	double first_ns;
	uint64_t unseen;
	int error;

	if (make_room(path, joined->count) != 0)
		return -ENOMEM;
	if (!path->has_base) {
		path->has_base = true;
		path->base_ns = joined->first_end_ns;
	}
	note_overlap(path, joined);
	path->report.operations++;
	pending.operation.is_unknown = note_trust(&path->report.trust, joined);
	first_ns = ncs_since(path->base_ns, joined->turn_ns);
	process_deferred(path, first_ns);
	find_edits(path, joined, &pending.edits);
	if (pending.operation.is_unknown)
		pending.edits.unknown = UINT64_MAX;
	unseen = unseen_before(path, joined);
	path->report.trust.unseen += unseen;
	/* They are in the time before this operation. */
	pending.operation.is_unknown |= unseen > 0;
	if (ncs_without_takes(joined)) {
		pending.place = path->compared;
		path->compared += joined->count;
	}
	if (joined->wait_rule == NCS_WAIT_FOR_ALL) {
		process(path, &pending, ROLE_ALONE, joined->parts,
			part_times_of(path, joined), joined->count, 0);
		return path->error;
	}
	error = defer(path, joined, &pending);
	return error ? error : path->error;
}

/* Tells the elapsed time of a run without a rank by what the rank costs. The first
 * launches, of which no anchors are known, cost what the others do, at least nothing. */
static void leave_out(struct ncs_path *path, size_t k,
		      struct ncs_path_sum *sums)
{
	const struct ncs_cost_of_rank *cost =
		ncs_without_cost(path->options.without, k - 1);
	double before_ns = sums[0].elapsed_ns;
	struct ncs_path_sum *sum = &sums[k];
	double after_ns;

	sum->cost = cost;
	if (!cost)
		return;
	sum->is_known = sum->is_known && cost->unknown == NCS_COST_KNOWN;
	if (cost->unknown != NCS_COST_KNOWN)
		return;
	after_ns = ncs_larger(before_ns - cost->share * cost->steps_ns, 0);
	if (sum->elapsed_ns > 0)
		ncs_path_nodes_scale(path, k, after_ns / sum->elapsed_ns);
	sum->elapsed_ns = after_ns;
	sum->at_least_ns =
		ncs_larger(before_ns - cost->most * cost->steps_ns, 0);
	sum->at_most_ns =
		before_ns - ncs_smaller(cost->least * cost->steps_ns,
					cost->share * cost->window_ns);
}

int ncs_path_end(struct ncs_path *path)
{
	struct ncs_path_report *report = &path->report;
	struct ncs_path_sum *sums;
	double busiest_ns = 0;

	process_deferred(path, INFINITY);
	if (!path->has_base)
		path->first_ns = path->last_ns = 0;
	for (uint32_t i = 0; i < path->options.rank_count; i++)
		busiest_ns = ncs_larger(busiest_ns, path->ranks[i].busy_ns);
	sums = ncs_path_nodes_report(path);
	for (size_t k = 0; path->has_base && k < path->run_count; k++) {
		const struct ncs_scenario *scenario =
			ncs_path_scenario(path, k);

		sums[k].elapsed_ns = path->ends_ns[k] - path->first_ns;
		if (scenario && scenario->kind == NCS_WHAT_IF_OVERLAP)
			sums[k].elapsed_ns =
				ncs_larger(sums[k].elapsed_ns, busiest_ns);
		/* It is told if what is not known, should all of it be wrong, is
		 * little of the true time. */
		sums[k].is_known =
			sums[k].unknown_ns <=
			NCS_COST_SHARE / 100. *
				(sums[k].elapsed_ns - sums[k].unknown_ns);
		if (path->options.without && k > 0)
			leave_out(path, k, sums);
	}
	report->measured_ns = path->last_ns - path->first_ns;
	report->first_ns = (double)path->base_ns + path->first_ns;
	return path->error;
}

const struct ncs_path_report *ncs_path_report(const struct ncs_path *path)
{
	return &path->report;
}
