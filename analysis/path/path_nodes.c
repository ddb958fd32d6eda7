/* SPDX-License-Identifier: MIT */
/* Walks paths back and adds them up; see path_state.h. */
#include "analysis/path/path_state.h"

#include <stdlib.h>

#include "shm/array.h"
#include "shm/hash.h"

#define STEPS_MAX (UINT32_C(1) << 20)
#define CHANNELS_MAX 65536u

/* Returns how much of the `ns` that end at `until_ns` is not added yet. */
static double rest_ns(const struct ncs_path_sums *sums, double until_ns,
		      double ns)
{
	return ncs_smaller(ns, ncs_larger(until_ns - sums->reached_ns, 0));
}

/* A channel's place among ncs_path_nodes.channels. */
struct channel_place {
	struct ncs_hash_link link; /* by what is_same() compares */
	size_t place;
};

bool ncs_path_nodes_init(struct ncs_path *path)
{
	const struct ncs_path_options *options = &path->options;
	struct ncs_path_nodes *nodes = &path->nodes;
	bool is_whole;

	nodes->step = NCS_NO_STEP;
	nodes->operations =
		calloc(NCS_PATH_OPERATIONS, sizeof(*nodes->operations));
	nodes->all = calloc(NCS_PATH_OPERATIONS * path->run_count,
			    sizeof(*nodes->all));
	nodes->walk = calloc(NCS_PATH_OPERATIONS + 1, sizeof(*nodes->walk));
	nodes->step_ns = calloc(options->rank_count, sizeof(double));
	is_whole = nodes->operations && nodes->all && nodes->walk &&
		   nodes->step_ns;
	for (size_t k = 0; k < path->run_count; k++) {
		nodes->sums[k].added = NCS_PATH_NO_OPERATION;
		nodes->sums[k].rank_ns = calloc(
			options->rank_count, sizeof(*nodes->sums[k].rank_ns));
		is_whole = is_whole && nodes->sums[k].rank_ns;
		nodes->report[k].rank_ns = nodes->sums[k].rank_ns;
		nodes->report[k].scenario = ncs_path_scenario(path, k);
	}
	return is_whole;
}

void ncs_path_nodes_release(struct ncs_path_nodes *nodes)
{
	for (size_t k = 0; k < NCS_PATH_RUNS; k++)
		free(nodes->sums[k].rank_ns);
	free(nodes->operations);
	free(nodes->all);
	free(nodes->walk);
	free(nodes->step_ns);
	free(nodes->steps);
	free(nodes->channels);
	ncs_hash_table_sweep(&nodes->places, NULL, 0);
	ncs_hash_table_release(&nodes->places);
}

static struct ncs_path_operation *operation_at(const struct ncs_path *path,
					       uint64_t operation)
{
	return &path->nodes.operations[operation % NCS_PATH_OPERATIONS];
}

static struct ncs_path_node *nodes_at(const struct ncs_path *path,
				      uint64_t operation)
{
	return &path->nodes
			.all[operation % NCS_PATH_OPERATIONS * path->run_count];
}

/* --- Steps ---------------------------------------------------------------- */

struct ncs_path_step *ncs_path_nodes_step(struct ncs_path *path, uint32_t step)
{
	if (step >= STEPS_MAX ||
	    ncs_array_reserve_zeroed(
		    &path->nodes.steps, &path->nodes.step_capacity,
		    (size_t)step + 1, sizeof(*path->nodes.steps)) != 0)
		return NULL;
	if (path->nodes.step_count <= step)
		path->nodes.step_count = (size_t)step + 1;
	return &path->nodes.steps[step];
}

/* Ends the step that is being added up: finds the rank with most of its
 * time. */
static void end_step(struct ncs_path *path)
{
	struct ncs_path_step *row;

	if (path->nodes.step == NCS_NO_STEP)
		return;
	row = ncs_path_nodes_step(path, path->nodes.step);
	for (uint32_t i = 0; i < path->options.rank_count; i++) {
		if (row && path->nodes.step_ns[i] > row->rank_ns) {
			row->rank = i;
			row->rank_ns = path->nodes.step_ns[i];
		}
		path->nodes.step_ns[i] = 0;
	}
}

static void add_to_step(struct ncs_path *path, uint32_t step, unsigned cause,
			uint32_t rank, double ns)
{
	struct ncs_path_step *row;

	if (step != path->nodes.step)
		end_step(path);
	path->nodes.step = step;
	row = step != NCS_NO_STEP ? ncs_path_nodes_step(path, step) : NULL;
	if (!row)
		return;
	row->cause_ns[cause] += ns;
	path->nodes.step_ns[rank] += ns;
}

/* --- Channels ------------------------------------------------------------- */

static bool is_same(const struct ncs_path_channel *a,
		    const struct ncs_path_channel *b)
{
	return a->rank == b->rank && a->comm_id == b->comm_id &&
	       a->channel == b->channel && a->send == b->send &&
	       a->peer == b->peer;
}

/* Adds the time of a channel to those that it had before, unless there is no room. */
static void add_to_channel(struct ncs_path_nodes *nodes,
			   const struct ncs_path_channel *channel)
{
	uint64_t ends = (uint64_t)channel->rank << 32 | (uint32_t)channel->peer;
	uint64_t hash =
		ncs_hash_add(ncs_hash(channel->comm_id ^ ends),
			     (uint64_t)channel->channel << 1 | channel->send);
	struct channel_place *found =
		ncs_hash_table_first(&nodes->places, hash);

	for (; found; found = ncs_hash_table_next(found)) {
		struct ncs_path_channel *known = &nodes->channels[found->place];

		if (!is_same(known, channel))
			continue;
		known->ns += channel->ns;
		return;
	}
	if (nodes->channel_count == CHANNELS_MAX ||
	    ncs_array_reserve(&nodes->channels, &nodes->channel_capacity,
			      nodes->channel_count + 1, sizeof(*channel)) != 0)
		return;
	found = ncs_hash_table_add(&nodes->places, sizeof(*found), hash);
	if (!found)
		return;
	found->place = nodes->channel_count++;
	nodes->channels[found->place] = *channel;
}

/* --- Adding up ------------------------------------------------------------ */

/* Adds a piece of the path that took `ns` and ended at `until_ns`. The channel
 * is NULL unless its waits were the cause. */
static void add_piece(struct ncs_path *path, size_t run,
		      const struct ncs_path_operation *operation,
		      uint32_t owner, unsigned cause,
		      const struct ncs_last_channel *last_channel,
		      double until_ns, double ns)
{
	const struct ncs_path_options *options = &path->options;
	struct ncs_path_sums *sums = &path->nodes.sums[run];
	struct ncs_path_sum *sum = &path->nodes.report[run];
	uint32_t rank = options->owners[owner].rank;

	ns = rest_ns(sums, until_ns, ns);
	if (ns <= 0)
		return;
	sums->reached_ns = until_ns;
	if (!operation->is_counted) {
		sum->uncounted_ns += ns;
	} else {
		sum->cause_ns[cause] += ns;
		sums->rank_ns[rank][cause] += ns;
	}
	if (run != 0)
		return;
	if (operation->is_counted)
		add_to_step(path, operation->step, cause, rank, ns);
	if (operation->is_counted && last_channel)
		add_to_channel(&path->nodes,
			       &(struct ncs_path_channel){
				       .rank = rank,
				       .comm_id = operation->comm_id,
				       .channel = last_channel->channel,
				       .send = last_channel->send,
				       .peer = last_channel->peer,
				       .ns = ns });
	if (options->segment)
		options->segment(
			options->context,
			&(struct ncs_path_segment){
				.cause = cause,
				.owner = owner,
				.from_ns = path->base_ns +
					   (uint64_t)(int64_t)(until_ns - ns),
				.until_ns = path->base_ns +
					    (uint64_t)(int64_t)until_ns,
				.comm_id = operation->comm_id,
				.number = operation->number,
				.bytes = operation->bytes,
				.function = operation->function,
				.step = operation->step,
				.channel = last_channel ?
						   last_channel->channel :
						   0,
				.send = last_channel && last_channel->send,
				.peer = last_channel ? last_channel->peer :
						       -1 });
}

/* Adds the transfer of a part that ended at `until_ns`. The waits of a channel
 * overlap: each gets its share of the time. */
static void add_transfer(struct ncs_path *path, size_t run,
			 const struct ncs_path_operation *operation,
			 const struct ncs_path_end *end, double until_ns)
{
	const struct ncs_last_channel *last_channel = &end->last_channel;
	double waits_ns = 0, at_ns = until_ns - end->transfer_ns;
	unsigned first = last_channel->send ? NCS_PATH_GPU : NCS_PATH_SENDER;

	for (unsigned i = 0; last_channel->is_known && i < 3; i++)
		waits_ns += last_channel->wait_ns[i];
	if (end->is_unknown && operation->is_counted)
		path->nodes.report[run].unknown_ns +=
			ncs_larger(rest_ns(&path->nodes.sums[run], until_ns,
					   end->transfer_ns),
				   0);
	if (!(waits_ns > 0)) {
		add_piece(path, run, operation, end->owner, NCS_PATH_TRANSFER,
			  NULL, until_ns, end->transfer_ns);
		return;
	}
	for (unsigned i = 0; i < 3; i++) {
		double ns =
			end->transfer_ns * last_channel->wait_ns[i] / waits_ns;

		at_ns += ns;
		add_piece(path, run, operation, end->owner, first + i,
			  last_channel, at_ns, ns);
	}
}

/* Returns a predecessor's operation. If that operation is too old to be known,
 * returns its successor, the operation at `index`, which its time is then added
 * to. */
static const struct ncs_path_operation *
operation_before(const struct ncs_path *path, uint64_t operation,
		 uint64_t index)
{
	return operation_at(path, path->nodes.next - operation <=
						  NCS_PATH_OPERATIONS ?
					  operation :
					  index);
}

static void add_node(struct ncs_path *path, size_t run, uint64_t index)
{
	const struct ncs_path_node *node = &nodes_at(path, index)[run];
	struct ncs_path_sums *sums = &path->nodes.sums[run];
	struct ncs_path_sum *sum = &path->nodes.report[run];
	double at_ns = node->at_ns;

	for (unsigned i = 0; i < NCS_PATH_GAPS; i++)
		at_ns -= node->gap_ns[i];
	if (node->predecessor.operation != NCS_PATH_NO_OPERATION)
		add_transfer(path, run,
			     operation_before(path, node->predecessor.operation,
					      index),
			     &node->predecessor, at_ns);
	if (sums->added == NCS_PATH_NO_OPERATION) {
		sums->origin_ns = sums->reached_ns = at_ns;
		sums->lacks_before = node->lacks_before;
	}
	if (operation_at(path, index)->is_counted)
		sum->unknown_ns += node->unknown_ns;
	for (unsigned i = 0; i < NCS_PATH_GAPS; i++) {
		at_ns += node->gap_ns[i];
		if (operation_at(path, index)->is_unknown &&
		    operation_at(path, index)->is_counted)
			sum->unknown_ns += ncs_larger(
				rest_ns(sums, at_ns, node->gap_ns[i]), 0);
		add_piece(path, run, operation_at(path, index), node->owner, i,
			  NULL, at_ns, node->gap_ns[i]);
	}
	sums->added = index;
}

/* Adds up the path to an end: its operations before `until` that are not added
 * yet. */
static void add_path(struct ncs_path *path, size_t run,
		     const struct ncs_path_end *end, uint64_t until)
{
	uint64_t at = end->operation;
	size_t count = 0;

	while (at != NCS_PATH_NO_OPERATION && at >= path->nodes.first) {
		if (at < until)
			path->nodes.walk[count++] = at;
		at = nodes_at(path, at)[run].predecessor.operation;
	}
	if (at != path->nodes.sums[run].added && count > 0)
		path->report.breaks++;
	while (count > 0)
		add_node(path, run, path->nodes.walk[--count]);
}

struct ncs_path_node *
ncs_path_nodes_add(struct ncs_path *path,
		   const struct ncs_path_operation *operation, uint64_t *index)
{
	struct ncs_path_nodes *nodes = &path->nodes;

	if (nodes->next - nodes->first == NCS_PATH_OPERATIONS) {
		uint64_t until = nodes->next - NCS_PATH_OPERATIONS / 2;

		for (size_t k = 0; k < path->run_count; k++)
			add_path(path, k, &path->ends[k], until);
		nodes->first = until;
	}
	*index = nodes->next++;
	*operation_at(path, *index) = *operation;
	return nodes_at(path, *index);
}

static int compare_channels(const void *a, const void *b)
{
	const struct ncs_path_channel *first = a, *second = b;

	return (first->ns < second->ns) - (first->ns > second->ns);
}

/* Adds up the path to the latest end of a run. */
static void add_whole_path(struct ncs_path *path, size_t run)
{
	const struct ncs_path_end *end = &path->ends[run];
	const struct ncs_path_sums *sums = &path->nodes.sums[run];
	struct ncs_path_sum *sum = &path->nodes.report[run];
	uint64_t next = path->nodes.next;

	if (end->operation == NCS_PATH_NO_OPERATION)
		return;
	add_path(path, run, end, next);
	add_transfer(path, run,
		     operation_before(path, end->operation, next - 1), end,
		     path->ends_ns[run]);
	sum->cause_ns[NCS_PATH_START] = sums->origin_ns - path->first_ns;
	if (sums->lacks_before)
		sum->unknown_ns += sums->origin_ns - path->first_ns;
}

struct ncs_path_sum *ncs_path_nodes_report(struct ncs_path *path)
{
	struct ncs_path_nodes *nodes = &path->nodes;
	struct ncs_path_report *report = &path->report;

	for (size_t k = 0; k < path->run_count; k++)
		add_whole_path(path, k);
	end_step(path);
	if (nodes->channel_count > 0)
		qsort(nodes->channels, nodes->channel_count,
		      sizeof(*nodes->channels), compare_channels);
	for (size_t i = 0; i < nodes->step_count; i++)
		for (size_t k = 0; k < path->run_count; k++)
			nodes->steps[i].end_ns[k] -= path->first_ns;
	report->sum_count = path->run_count;
	report->sums = nodes->report;
	report->step_count = nodes->step_count;
	report->steps = nodes->steps;
	report->channel_count = nodes->channel_count;
	report->channels = nodes->channels;
	return nodes->report;
}

void ncs_path_nodes_scale(struct ncs_path *path, size_t run, double factor)
{
	struct ncs_path_sum *sum = &path->nodes.report[run];
	double(*rank_ns)[NCS_PATH_CAUSE_COUNT] = path->nodes.sums[run].rank_ns;

	for (unsigned k = 0; k < NCS_PATH_CAUSE_COUNT; k++) {
		sum->cause_ns[k] *= factor;
		for (uint32_t i = 0; i < path->options.rank_count; i++)
			rank_ns[i][k] *= factor;
	}
	sum->uncounted_ns *= factor;
	sum->unknown_ns *= factor;
}
