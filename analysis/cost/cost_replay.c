/* SPDX-License-Identifier: MIT */
/* The replay; see cost_replay.h. It computes gains, not times: the gain of an event
 * is the least of what it depends on, plus the slack there. */
#include "analysis/cost/cost_replay.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "shm/array.h"

/* Steps of the order: the call of launch i is 2 i, its begin 2 i + 1; ends of
 * operations follow. */
enum state {
	UNSEEN,
	OPEN, /* what it depends on is on the stack above it */
	DONE,
};

int ncs_cost_replay_init(struct ncs_cost_replay *replay,
			 const struct ncs_cost_edges *edges)
{
	const struct ncs_cost_window *window = edges->window;
	size_t launches = window->launch_count + 1;
	size_t operations = window->operation_count + 1;

	*replay = (struct ncs_cost_replay){
		.edges = edges,
		.in_time = NCS_COST_NONE,
		.order = calloc(2 * launches + operations,
				sizeof(*replay->order)),
		.gains_ns = calloc(launches, sizeof(*replay->gains_ns)),
		.ends_ns = calloc(operations, sizeof(*replay->ends_ns)),
		.slack_ns = calloc(launches, sizeof(*replay->slack_ns)),
		.states = calloc(2 * launches + operations, 1),
	};
	return replay->order && replay->gains_ns && replay->ends_ns &&
			       replay->slack_ns && replay->states ?
		       0 :
		       -ENOMEM;
}

void ncs_cost_replay_release(struct ncs_cost_replay *replay)
{
	free(replay->order);
	free(replay->gains_ns);
	free(replay->ends_ns);
	free(replay->slack_ns);
	free(replay->states);
	free(replay->stack);
	*replay = (struct ncs_cost_replay){ 0 };
}

/* --- The order ------------------------------------------------------------ */

static void push(struct ncs_cost_replay *replay, uint32_t step)
{
	/* One that is open is a circle, by clocks that disagree: it counts as
	 * measured. */
	if (replay->states[step] != UNSEEN)
		return;
	if (ncs_array_reserve(&replay->stack, &replay->stack_capacity,
			      replay->stack_count + 1,
			      sizeof(*replay->stack)) != 0) {
		replay->error = -ENOMEM;
		return;
	}
	replay->stack[replay->stack_count++] = step;
}

static void push_end(struct ncs_cost_replay *replay, uint32_t index)
{
	const struct ncs_cost_window *window = replay->edges->window;
	const struct ncs_cost_launch *launch = &window->launches[index];

	for (uint32_t i = 0; i < launch->operation_count; i++)
		push(replay,
		     (uint32_t)(2 * window->launch_count) +
			     window->launch_operations[launch->operations + i]);
}

static void push_sources(struct ncs_cost_replay *replay,
			 const struct ncs_cost_source *source)
{
	for (unsigned i = 0; i < 2; i++) {
		uint32_t node = source->nodes[i];

		if (node == NCS_COST_NONE)
			continue;
		if (node % NCS_COST_EVENTS == NCS_COST_END)
			push_end(replay, node / NCS_COST_EVENTS);
		else
			push(replay, 2 * (node / NCS_COST_EVENTS) +
					     (node % NCS_COST_EVENTS ==
					      NCS_COST_READY));
	}
}

static void push_all(struct ncs_cost_replay *replay, uint32_t step)
{
	const struct ncs_cost_edges *edges = replay->edges;
	const struct ncs_cost_window *window = edges->window;
	const struct ncs_cost_launch *launch;
	uint32_t index = step / 2;

	if (step >= 2 * window->launch_count) {
		const struct ncs_cost_operation *operation =
			&window->operations[step - 2 * window->launch_count];

		for (uint32_t i = 0; i < operation->count; i++)
			push(replay,
			     2 * window->members[operation->first + i] + 1);
		return;
	}
	launch = &window->launches[index];
	push_sources(replay, &edges->sources[index][step % 2]);
	if (step % 2 == 0) {
		if (index > window->ranks[launch->rank].first)
			push(replay, step - 2);
		return;
	}
	push(replay, step - 1);
	if (launch->before != NCS_COST_NONE)
		push_end(replay, launch->before);
}

/* Adds a step to the order, after all that it depends on. */
static void add_step(struct ncs_cost_replay *replay, uint32_t step)
{
	replay->stack_count = 0;
	push(replay, step);
	while (replay->stack_count > 0 && !replay->error) {
		uint32_t top = replay->stack[replay->stack_count - 1];

		if (replay->states[top] == UNSEEN) {
			replay->states[top] = OPEN;
			push_all(replay, top);
			continue;
		}
		if (replay->states[top] == OPEN) {
			replay->states[top] = DONE;
			replay->order[replay->order_count++] = top;
		}
		replay->stack_count--;
	}
}

/* Finds from when on the anchors of some rank are known, and the last end. */
static void find_window(struct ncs_cost_replay *replay)
{
	const struct ncs_cost_window *window = replay->edges->window;

	replay->from_ns = INFINITY;
	replay->until_ns = 0;
	for (size_t r = 0; r < window->rank_count; r++) {
		const struct ncs_cost_rank *rank = &window->ranks[r];
		uint32_t depth;

		for (uint32_t i = rank->first; i < rank->first + rank->count;
		     i++)
			replay->until_ns = fmax(replay->until_ns,
						window->launches[i].end_ns);
		if (rank->class_index == NCS_COST_NONE)
			continue;
		depth = window->classes[rank->class_index].depth;
		if (rank->regular_count > depth)
			replay->from_ns = fmin(
				replay->from_ns,
				window->launches[window->regular[rank->regular +
								 depth - 1]]
					.end_ns);
	}
	if (isinf(replay->from_ns))
		replay->from_ns = 0;
}

int ncs_cost_replay_begin(struct ncs_cost_replay *replay)
{
	const struct ncs_cost_window *window = replay->edges->window;
	size_t steps = 2 * window->launch_count + window->operation_count;

	memset(replay->states, UNSEEN, steps);
	replay->order_count = 0;
	for (uint32_t i = 0; !replay->error && i < steps; i++)
		add_step(replay, i);
	find_window(replay);
	ncs_cost_replay_reset(replay, 0, (uint32_t)window->launch_count);
	return replay->error;
}

void ncs_cost_replay_reset(struct ncs_cost_replay *replay, uint32_t first,
			   uint32_t count)
{
	for (uint32_t i = first; i < first + count; i++)
		for (unsigned k = 0; k < 2; k++)
			memcpy(replay->slack_ns[i][k],
			       replay->edges->sources[i][k].slack_ns,
			       sizeof(replay->slack_ns[i][k]));
}

/* fminf() would be a call, as it treats NAN. */
static inline float smaller(float a, float b)
{
	return a < b ? a : b;
}

/* --- Running -------------------------------------------------------------- */

/* Returns the gain of the end of a launch. */
static float end_gain(const struct ncs_cost_replay *replay, uint32_t index)
{
	const struct ncs_cost_window *window = replay->edges->window;
	const struct ncs_cost_launch *launch = &window->launches[index];
	const uint32_t *operations =
		&window->launch_operations[launch->operations];
	double last_ns = -INFINITY;
	float least_ns = INFINITY;

	if (launch->operation_count == 1)
		return replay->ends_ns[operations[0]];
	for (uint32_t i = 0; i < launch->operation_count; i++)
		last_ns = fmax(last_ns,
			       window->operations[operations[i]].last_begin_ns);
	for (uint32_t i = 0; i < launch->operation_count; i++)
		least_ns = smaller(
			least_ns,
			replay->ends_ns[operations[i]] +
				(float)(last_ns -
					window->operations[operations[i]]
						.last_begin_ns));
	return least_ns;
}

/* Returns the gain of an event of which no anchor is known: a call follows the one
 * before, and a launch is ready a while after its call. */
static float other_gain(const struct ncs_cost_replay *replay, uint32_t index,
			unsigned k)
{
	const struct ncs_cost_window *window = replay->edges->window;

	if (k == 1)
		return replay->gains_ns[index][0];
	return index > window->ranks[window->launches[index].rank].first ?
		       replay->gains_ns[index - 1][0] :
		       0;
}

/* Returns the gain that the anchors of an event allow. */
static float source_gain(const struct ncs_cost_replay *replay, uint32_t index,
			 unsigned k)
{
	const struct ncs_cost_source *source =
		&replay->edges->sources[index][k];
	const float *slack_ns = replay->slack_ns[index][k];
	float gain_ns = INFINITY;

	for (unsigned i = 0; i < 2; i++) {
		uint32_t node = source->nodes[i], event, at;
		float ns;

		if (node == NCS_COST_NONE)
			continue;
		event = node % NCS_COST_EVENTS;
		at = node / NCS_COST_EVENTS;
		ns = event == NCS_COST_END ?
			     end_gain(replay, at) :
			     replay->gains_ns[at][event == NCS_COST_READY];
		gain_ns = smaller(gain_ns, ns + slack_ns[i]);
	}
	return isinf(gain_ns) ? other_gain(replay, index, k) : gain_ns;
}

/* Returns how much later a call came than the one before it required. What a host does
 * after the end of a launch, it does after its call before, too. */
static float order_slack(const struct ncs_cost_replay *replay, uint32_t index)
{
	const struct ncs_cost_edges *edges = replay->edges;
	const struct ncs_cost_source *source = &edges->sources[index][0];
	const struct ncs_cost_launch *launch = &edges->window->launches[index];
	uint32_t node = source->nodes[0];

	if (node == NCS_COST_NONE || source->nodes[1] != NCS_COST_NONE ||
	    node % NCS_COST_EVENTS != NCS_COST_END)
		return (float)(launch->call_ns - launch[-1].call_ns);
	return (float)fmax(0, ncs_cost_measured_ns(edges, node) -
				      launch[-1].call_ns) +
	       replay->slack_ns[index][0][0];
}

static void run_call(struct ncs_cost_replay *replay, uint32_t index)
{
	const struct ncs_cost_window *window = replay->edges->window;
	const struct ncs_cost_launch *launch = &window->launches[index];
	float gain_ns = source_gain(replay, index, 0);

	if (index > window->ranks[launch->rank].first)
		gain_ns = smaller(gain_ns, replay->gains_ns[index - 1][0] +
						   order_slack(replay, index));
	replay->gains_ns[index][0] = gain_ns;
}

/* Returns the gain of a launch's begin: it follows its call, its readiness and the
 * end before on its stream. */
static float begin_gain(const struct ncs_cost_replay *replay, uint32_t index)
{
	const struct ncs_cost_window *window = replay->edges->window;
	const struct ncs_cost_launch *launch = &window->launches[index];
	double launched_ns = launch->call_ns + (double)launch->launching_ns;
	double before_ns = -INFINITY, from_ns = launch->begin_ns;
	float gain_ns;

	if (launch->before != NCS_COST_NONE)
		before_ns = window->launches[launch->before].end_ns +
			    (double)window->launches[launch->before].tail_ns;
	/* One that waited began right after the later of the two: the time in
	 * between stays. */
	if (launch->is_censored)
		from_ns = fmax(launched_ns, before_ns);
	gain_ns = replay->gains_ns[index][0] +
		  (float)fmax(0, from_ns - launched_ns);
	if (launch->before != NCS_COST_NONE)
		gain_ns = smaller(gain_ns,
				  end_gain(replay, launch->before) +
					  (float)fmax(0, from_ns - before_ns));
	return smaller(gain_ns,
		       replay->gains_ns[index][1] +
			       (float)fmax(0,
					   from_ns - launch->begin_ns +
						   (double)replay->edges
							   ->hidden_ns[index]));
}

static void run_end(struct ncs_cost_replay *replay, uint32_t index)
{
	const struct ncs_cost_window *window = replay->edges->window;
	const struct ncs_cost_operation *operation = &window->operations[index];
	float gain_ns = INFINITY;
	double transfer_ns = 0; /* mean of its ranks, which end apart */
	uint32_t ending = 0;

	for (uint32_t i = 0; i < operation->count; i++) {
		uint32_t member = window->members[operation->first + i];

		gain_ns = smaller(
			gain_ns,
			begin_gain(replay, member) +
				(float)(operation->last_begin_ns -
					window->launches[member].begin_ns));
		if (!ncs_cost_ends_with(window, &window->launches[member], index))
			continue;
		ending++;
		transfer_ns += window->launches[member].end_ns -
			       operation->last_begin_ns;
	}
	if (replay->without_transfers && transfer_ns > 0 &&
	    operation->last_begin_ns >= replay->from_ns)
		gain_ns += (float)(transfer_ns / ending);
	if (operation->late_rank == replay->in_time ||
	    replay->in_time == NCS_COST_ALL)
		gain_ns += (float)operation->data_late_ns;
	replay->ends_ns[index] = gain_ns;
}

/* Sums up the gains at the ends of launches, for each rank by moments. */
static void sum_up(struct ncs_cost_replay *replay)
{
	const struct ncs_cost_window *window = replay->edges->window;
	double moment_ns =
		(replay->until_ns - replay->from_ns) / NCS_COST_MOMENTS;
	uint32_t ranks = 0;

	replay->gain_ns = 0;
	memset(replay->moments_ns, 0, sizeof(replay->moments_ns));
	for (size_t r = 0; r < window->rank_count; r++) {
		const struct ncs_cost_rank *rank = &window->ranks[r];
		uint32_t moment = 0;
		float latest_ns = 0;

		ranks += rank->count > 0;
		for (uint32_t i = rank->first; i < rank->first + rank->count;
		     i++) {
			double at =
				window->launches[i].end_ns - replay->from_ns;

			for (; moment < NCS_COST_MOMENTS &&
			       at > moment * moment_ns;
			     moment++)
				replay->moments_ns[moment] += latest_ns;
			latest_ns = end_gain(replay, i);
		}
		for (; moment <= NCS_COST_MOMENTS; moment++)
			replay->moments_ns[moment] += latest_ns;
		replay->gain_ns += latest_ns;
	}
	for (uint32_t i = 0; ranks > 0 && i <= NCS_COST_MOMENTS; i++)
		replay->moments_ns[i] /= ranks;
	if (ranks > 0)
		replay->gain_ns /= ranks;
}

void ncs_cost_replay_run(struct ncs_cost_replay *replay)
{
	const struct ncs_cost_window *window = replay->edges->window;
	size_t launches = window->launch_count;

	memset(replay->gains_ns, 0, launches * sizeof(*replay->gains_ns));
	memset(replay->ends_ns, 0,
	       window->operation_count * sizeof(*replay->ends_ns));
	for (size_t i = 0; i < replay->order_count; i++) {
		uint32_t step = replay->order[i];

		if (step >= 2 * launches)
			run_end(replay, step - (uint32_t)(2 * launches));
		else if (step % 2 == 0)
			run_call(replay, step / 2);
		else
			replay->gains_ns[step / 2][1] =
				source_gain(replay, step / 2, 1);
	}
	sum_up(replay);
}

struct ncs_cost_move
ncs_cost_replay_move(const struct ncs_cost_replay *replay, uint32_t launch)
{
	return (struct ncs_cost_move){ replay->gains_ns[launch][0],
				       begin_gain(replay, launch),
				       end_gain(replay, launch) };
}
