/* SPDX-License-Identifier: MIT */
/* Walking back and adding up; see path_nodes.h. */
#include "analysis/path/path_nodes.h"

#include <stdlib.h>
#include <string.h>

/* Units that are kept; a power of two. */
#define UNITS 16384u

#define STEPS_MAX (UINT32_C(1) << 20)
#define CHANNELS_MAX 65536u

struct sums {
	double cause_ns[NCS_PATH_CAUSE_COUNT];
	double uncounted_ns;
	double unknown_ns;
	double (*rank_ns)[NCS_PATH_CAUSE_COUNT];
	uint64_t settled; /* the latest unit that is; NCS_NO_UNIT: none */
	double origin_ns; /* where the path begins, once something is settled */
};

struct ncs_path_nodes {
	const struct ncs_path_options *options;
	size_t count; /* scenarios and the replay */
	uint64_t base_ns;
	uint64_t first; /* unit that is not settled */
	uint64_t next;
	struct ncs_path_unit *units;
	struct ncs_path_node *nodes; /* of a unit side by side */
	uint64_t *walk;
	struct sums sums[1 + NCS_SCENARIOS_MAX];
	struct ncs_path_sum report[1 + NCS_SCENARIOS_MAX];
	uint64_t breaks;
	struct ncs_path_step *steps;
	size_t step_count, step_capacity;
	uint32_t step;                     /* that is added up */
	double *step_ns;                   /* by rank */
	struct ncs_path_channel *channels; /* by hash, then by cost */
	size_t channel_count, channel_capacity;
};

struct ncs_path_nodes *
ncs_path_nodes_new(const struct ncs_path_options *options)
{
	struct ncs_path_nodes *nodes = calloc(1, sizeof(*nodes));
	bool is_whole;

	if (!nodes)
		return NULL;
	nodes->options = options;
	nodes->count = 1 + options->scenario_count;
	nodes->step = NCS_NO_STEP;
	nodes->units = calloc(UNITS, sizeof(*nodes->units));
	nodes->nodes = calloc(UNITS * nodes->count, sizeof(*nodes->nodes));
	nodes->walk = calloc(UNITS + 1, sizeof(*nodes->walk));
	nodes->step_ns = calloc(options->rank_count, sizeof(double));
	is_whole = nodes->units && nodes->nodes && nodes->walk &&
		   nodes->step_ns;
	for (size_t k = 0; k < nodes->count; k++) {
		nodes->sums[k].settled = NCS_NO_UNIT;
		nodes->sums[k].rank_ns = calloc(
			options->rank_count, sizeof(*nodes->sums[k].rank_ns));
		is_whole = is_whole && nodes->sums[k].rank_ns;
	}
	if (is_whole)
		return nodes;
	ncs_path_nodes_free(nodes);
	return NULL;
}

void ncs_path_nodes_free(struct ncs_path_nodes *nodes)
{
	if (!nodes)
		return;
	for (size_t k = 0; k < nodes->count; k++)
		free(nodes->sums[k].rank_ns);
	free(nodes->units);
	free(nodes->nodes);
	free(nodes->walk);
	free(nodes->step_ns);
	free(nodes->steps);
	free(nodes->channels);
	free(nodes);
}

void ncs_path_nodes_set_base(struct ncs_path_nodes *nodes, uint64_t base_ns)
{
	nodes->base_ns = base_ns;
}

static struct ncs_path_unit *unit_at(const struct ncs_path_nodes *nodes,
				     uint64_t unit)
{
	return &nodes->units[unit % UNITS];
}

static struct ncs_path_node *nodes_at(const struct ncs_path_nodes *nodes,
				      uint64_t unit)
{
	return &nodes->nodes[unit % UNITS * nodes->count];
}

/* --- Steps ---------------------------------------------------------------- */

struct ncs_path_step *ncs_path_nodes_step(struct ncs_path_nodes *nodes,
					  uint32_t step)
{
	size_t capacity = nodes->step_capacity;
	struct ncs_path_step *steps;

	if (step >= STEPS_MAX)
		return NULL;
	while (capacity <= step)
		capacity = capacity ? 2 * capacity : 64;
	if (capacity > nodes->step_capacity) {
		steps = realloc(nodes->steps, capacity * sizeof(*steps));
		if (!steps)
			return NULL;
		nodes->steps = steps;
		nodes->step_capacity = capacity;
	}
	while (nodes->step_count <= step)
		nodes->steps[nodes->step_count++] =
			(struct ncs_path_step){ .has_end = false };
	return &nodes->steps[step];
}

/* The step that was added up is over. */
static void end_step(struct ncs_path_nodes *nodes)
{
	struct ncs_path_step *row;

	if (nodes->step == NCS_NO_STEP)
		return;
	row = ncs_path_nodes_step(nodes, nodes->step);
	for (uint32_t i = 0; i < nodes->options->rank_count; i++) {
		if (row && nodes->step_ns[i] > row->rank_ns) {
			row->rank = i;
			row->rank_ns = nodes->step_ns[i];
		}
		nodes->step_ns[i] = 0;
	}
}

static void add_to_step(struct ncs_path_nodes *nodes, uint32_t step,
			unsigned cause, uint32_t rank, double ns)
{
	struct ncs_path_step *row;

	if (step != nodes->step)
		end_step(nodes);
	nodes->step = step;
	row = step != NCS_NO_STEP ? ncs_path_nodes_step(nodes, step) : NULL;
	if (!row)
		return;
	row->cause_ns[cause] += ns;
	nodes->step_ns[rank] += ns;
}

/* --- Channels ------------------------------------------------------------- */

static bool is_same(const struct ncs_path_channel *a,
		    const struct ncs_path_channel *b)
{
	return a->rank == b->rank && a->comm_id == b->comm_id &&
	       a->channel == b->channel && a->send == b->send &&
	       a->peer == b->peer;
}

static struct ncs_path_channel *
channel_place(const struct ncs_path_nodes *nodes,
	      const struct ncs_path_channel *channel)
{
	uint64_t hash = (channel->comm_id ^ channel->rank ^
			 (uint64_t)channel->channel << 20 ^
			 (uint64_t)channel->send << 30 ^
			 (uint64_t)(uint32_t)channel->peer << 32) *
			UINT64_C(0x9e3779b97f4a7c15);
	size_t place = hash >> 32;

	for (;; place++) {
		struct ncs_path_channel *found =
			&nodes->channels[place & (nodes->channel_capacity - 1)];

		if (found->ns == 0 || is_same(found, channel))
			return found;
	}
}

static void add_to_channel(struct ncs_path_nodes *nodes,
			   const struct ncs_path_channel *channel)
{
	struct ncs_path_channel *place;

	if (2 * nodes->channel_count >= nodes->channel_capacity) {
		struct ncs_path_channel *before = nodes->channels;
		size_t count = nodes->channel_capacity;
		size_t capacity = count ? 2 * count : 64;

		if (capacity > CHANNELS_MAX ||
		    !(nodes->channels = calloc(capacity, sizeof(*before)))) {
			nodes->channels = before;
			return;
		}
		nodes->channel_capacity = capacity;
		for (size_t i = 0; i < count; i++)
			if (before[i].ns != 0)
				*channel_place(nodes, &before[i]) = before[i];
		free(before);
	}
	place = channel_place(nodes, channel);
	if (place->ns == 0) {
		*place = *channel;
		nodes->channel_count++;
	} else {
		place->ns += channel->ns;
	}
}

/* --- Adding up ------------------------------------------------------------ */

/* One piece, which ends at `until_ns`. */
static void add_piece(struct ncs_path_nodes *nodes, size_t scenario,
		      const struct ncs_path_unit *unit, uint32_t owner,
		      unsigned cause,
		      const struct ncs_last_channel *last_channel,
		      double until_ns, double ns)
{
	const struct ncs_path_options *options = nodes->options;
	struct sums *sums = &nodes->sums[scenario];
	uint32_t rank = options->owners[owner].rank;

	if (ns <= 0)
		return;
	if (!unit->is_counted) {
		sums->uncounted_ns += ns;
	} else {
		sums->cause_ns[cause] += ns;
		sums->rank_ns[rank][cause] += ns;
	}
	if (scenario != 0)
		return;
	if (unit->is_counted)
		add_to_step(nodes, unit->step, cause, rank, ns);
	if (unit->is_counted && last_channel)
		add_to_channel(nodes, &(struct ncs_path_channel){
					      .rank = rank,
					      .comm_id = unit->comm_id,
					      .channel = last_channel->channel,
					      .send = last_channel->send,
					      .peer = last_channel->peer,
					      .ns = ns });
	if (options->segment)
		options->segment(
			options->who,
			&(struct ncs_path_segment){
				.cause = cause,
				.owner = owner,
				.from_ns = nodes->base_ns +
					   (uint64_t)(int64_t)(until_ns - ns),
				.until_ns = nodes->base_ns +
					    (uint64_t)(int64_t)until_ns,
				.comm_id = unit->comm_id,
				.number = unit->number,
				.bytes = unit->bytes,
				.function = unit->function,
				.step = unit->step,
				.channel = last_channel ?
						   last_channel->channel :
						   0,
				.send = last_channel && last_channel->send,
				.peer = last_channel ? last_channel->peer :
						       -1 });
}

/* The waits of a channel overlap: each gets its share of the time. */
static void add_transfer(struct ncs_path_nodes *nodes, size_t scenario,
			 const struct ncs_path_unit *unit,
			 const struct ncs_path_end *end, double until_ns)
{
	const struct ncs_last_channel *last_channel = &end->last_channel;
	double waits_ns = 0, at_ns = until_ns - end->transfer_ns;
	unsigned first = last_channel->send ? NCS_PATH_GPU : NCS_PATH_SENDER;

	for (unsigned i = 0; last_channel->is_known && i < 3; i++)
		waits_ns += last_channel->wait_ns[i];
	if (end->is_unknown && unit->is_counted)
		nodes->sums[scenario].unknown_ns += end->transfer_ns;
	if (!(waits_ns > 0)) {
		add_piece(nodes, scenario, unit, end->owner, NCS_PATH_TRANSFER,
			  NULL, until_ns, end->transfer_ns);
		return;
	}
	for (unsigned i = 0; i < 3; i++) {
		double ns =
			end->transfer_ns * last_channel->wait_ns[i] / waits_ns;

		at_ns += ns;
		add_piece(nodes, scenario, unit, end->owner, first + i,
			  last_channel, at_ns, ns);
	}
}

/* Of an operation of long ago nothing is known any more: what it took is put
 * down to the one that follows on it. */
static const struct ncs_path_unit *
unit_before(const struct ncs_path_nodes *nodes, uint64_t unit, uint64_t index)
{
	return unit_at(nodes, nodes->next - unit <= UNITS ? unit : index);
}

static void add_node(struct ncs_path_nodes *nodes, size_t scenario,
		     uint64_t index)
{
	const struct ncs_path_node *node = &nodes_at(nodes, index)[scenario];
	struct sums *sums = &nodes->sums[scenario];
	double at_ns = node->at_ns;

	for (unsigned i = 0; i < NCS_PATH_GAPS; i++)
		at_ns -= node->gap_ns[i];
	if (node->after.unit != NCS_NO_UNIT)
		add_transfer(nodes, scenario,
			     unit_before(nodes, node->after.unit, index),
			     &node->after, at_ns);
	if (sums->settled == NCS_NO_UNIT)
		sums->origin_ns = at_ns;
	for (unsigned i = 0; i < NCS_PATH_GAPS; i++) {
		at_ns += node->gap_ns[i];
		add_piece(nodes, scenario, unit_at(nodes, index), node->owner,
			  i, NULL, at_ns, node->gap_ns[i]);
	}
	sums->settled = index;
}

/* Adds up the path to an end, of what is before `until` and not settled yet. */
static void settle(struct ncs_path_nodes *nodes, size_t scenario,
		   const struct ncs_path_end *end, uint64_t until)
{
	uint64_t at = end->unit;
	size_t count = 0;

	while (at != NCS_NO_UNIT && at >= nodes->first) {
		if (at < until)
			nodes->walk[count++] = at;
		at = nodes_at(nodes, at)[scenario].after.unit;
	}
	if (at != nodes->sums[scenario].settled && count > 0)
		nodes->breaks++;
	while (count > 0)
		add_node(nodes, scenario, nodes->walk[--count]);
}

struct ncs_path_node *ncs_path_nodes_add(struct ncs_path_nodes *nodes,
					 const struct ncs_path_unit *unit,
					 const struct ncs_path_end *ends,
					 uint64_t *index)
{
	if (nodes->next - nodes->first == UNITS) {
		uint64_t until = nodes->next - UNITS / 2;

		for (size_t k = 0; k < nodes->count; k++)
			settle(nodes, k, &ends[k], until);
		nodes->first = until;
	}
	*index = nodes->next++;
	*unit_at(nodes, *index) = *unit;
	return nodes_at(nodes, *index);
}

static int compare_channels(const void *a, const void *b)
{
	const struct ncs_path_channel *first = a, *second = b;

	return (first->ns < second->ns) - (first->ns > second->ns);
}

void ncs_path_nodes_finish(struct ncs_path_nodes *nodes,
			   const struct ncs_path_end *ends,
			   const double *ends_ns, double first_ns)
{
	for (size_t k = 0; k < nodes->count; k++) {
		struct sums *sums = &nodes->sums[k];

		if (ends[k].unit == NCS_NO_UNIT)
			continue;
		settle(nodes, k, &ends[k], nodes->next);
		add_transfer(nodes, k,
			     unit_before(nodes, ends[k].unit, nodes->next - 1),
			     &ends[k], ends_ns[k]);
		sums->cause_ns[NCS_PATH_START] = sums->origin_ns - first_ns;
	}
	end_step(nodes);
	nodes->step = NCS_NO_STEP;
}

struct ncs_path_sum *ncs_path_nodes_report(struct ncs_path_nodes *nodes,
					   double first_ns,
					   struct ncs_path_report *report)
{
	size_t count = 0;

	for (size_t k = 0; k < nodes->count; k++) {
		const struct sums *sums = &nodes->sums[k];
		struct ncs_path_sum *sum = &nodes->report[k];

		sum->scenario = k > 0 ? &nodes->options->scenarios[k - 1] :
					NULL;
		memcpy(sum->cause_ns, sums->cause_ns, sizeof(sum->cause_ns));
		sum->uncounted_ns = sums->uncounted_ns;
		sum->unknown_ns = sums->unknown_ns;
		sum->rank_ns = sums->rank_ns;
	}
	for (size_t i = 0; i < nodes->channel_capacity; i++)
		if (nodes->channels[i].ns != 0)
			nodes->channels[count++] = nodes->channels[i];
	if (count > 0)
		qsort(nodes->channels, count, sizeof(*nodes->channels),
		      compare_channels);
	for (size_t i = 0; i < nodes->step_count; i++)
		for (size_t k = 0; k < nodes->count; k++)
			nodes->steps[i].end_ns[k] -= first_ns;
	report->breaks = nodes->breaks;
	report->sum_count = nodes->count;
	report->sums = nodes->report;
	report->step_count = nodes->step_count;
	report->steps = nodes->steps;
	report->channel_count = count;
	report->channels = nodes->channels;
	return nodes->report;
}
