/* SPDX-License-Identifier: MIT */
/* Parts of a job to the cost of its ranks; see without.h. */
#include "analysis/path/without.h"

#include <errno.h>
#include <stdlib.h>

#include "shm/array.h"

/* The answer to one scenario. */
struct answer {
	bool is_asked;
	struct ncs_cost_of_rank cost;
	struct ncs_cost_move *moves; /* NULL if it is not known */
};

struct ncs_without {
	struct ncs_cost_part *parts;
	size_t count, capacity;
	struct answer *answers;
	size_t answer_count;
	uint64_t *begins_ns; /* of steps */
	size_t begin_count, step; /* those that have begun */
};

struct ncs_without *ncs_without_new(void)
{
	return calloc(1, sizeof(struct ncs_without));
}

void ncs_without_free(struct ncs_without *without)
{
	if (!without)
		return;
	for (size_t i = 0; i < without->answer_count; i++)
		free(without->answers[i].moves);
	free(without->answers);
	free(without->begins_ns);
	free(without->parts);
	free(without);
}

bool ncs_without_takes(const struct ncs_joined *joined)
{
	const struct ncs_part *first = &joined->parts[0];

	if (!joined->is_complete || joined->arrival == NCS_MOMENT_OPERATION ||
	    joined->number == NCS_NO_SEQUENCE_NUMBER)
		return false;
	return joined->function == NCS_FUNCTION_SEND_RECV ?
		       first->peer != first->rank :
		       joined->wait_rule != NCS_WAIT_FOR_NONE;
}

size_t ncs_without_count(const struct ncs_without *without)
{
	return without->count;
}

int ncs_without_add(struct ncs_without *without,
		    const struct ncs_joined *joined,
		    const struct ncs_path_owner *owners)
{
	if (!ncs_without_takes(joined))
		return 0;
	if (ncs_array_reserve(&without->parts, &without->capacity,
			      without->count + joined->count,
			      sizeof(*without->parts)) != 0)
		return -ENOMEM;
	for (size_t i = 0; i < joined->count; i++)
		without->parts[without->count++] = ncs_cost_part_of(
			joined, &joined->parts[i],
			owners[joined->parts[i].owner].rank, 0);
	return 0;
}

/* Returns whether it is not known what a rank cost in this very window. Chance does not
 * matter: what other moments would have given is asked by none. */
static bool is_ambiguous(const struct ncs_cost_of_rank *cost)
{
	return cost->is_contradicted ||
	       cost->most_here - cost->least_here >= NCS_MOST / 100.;
}

static int find_steps(struct ncs_without *without, const struct ncs_cost *cost)
{
	without->begin_count = ncs_cost_step_begins(cost, NULL);
	without->begins_ns = calloc(without->begin_count + 1,
				    sizeof(*without->begins_ns));
	if (!without->begins_ns)
		return -ENOMEM;
	ncs_cost_step_begins(cost, without->begins_ns);
	return 0;
}

uint32_t ncs_without_step(struct ncs_without *without,
			  const struct ncs_joined *joined)
{
	while (without->step < without->begin_count &&
	       without->begins_ns[without->step] < joined->first_end_ns)
		without->step++;
	return without->step > 0 ? (uint32_t)without->step - 1 : UINT32_MAX;
}

/* Answers a scenario by the costs of the window. */
static int find_answer(const struct ncs_without *without, struct ncs_cost *cost,
		       const struct ncs_scenario *scenario,
		       struct answer *answer)
{
	int64_t rank = scenario->rank >= 0 ? scenario->rank : NCS_COST_AT_ONCE;
	const struct ncs_cost_of_rank *found = ncs_cost_find(cost, rank);

	answer->is_asked = true;
	answer->cost =
		(struct ncs_cost_of_rank){ .unknown = NCS_COST_NO_TIMES };
	if (!found)
		return 0;
	if (ncs_cost_compute(cost, rank) != 0)
		return -ENOMEM;
	answer->cost = *found;
	if (found->unknown == NCS_COST_KNOWN ||
	    found->unknown == NCS_COST_AMBIGUOUS)
		answer->cost.unknown = is_ambiguous(found) ?
					       NCS_COST_AMBIGUOUS :
					       NCS_COST_KNOWN;
	if (answer->cost.unknown != NCS_COST_KNOWN)
		return 0;
	answer->moves = malloc((without->count + 1) * sizeof(*answer->moves));
	return answer->moves ? ncs_cost_moves(cost, rank, answer->moves) :
			       -ENOMEM;
}

int ncs_without_compute(struct ncs_without *without,
			const struct ncs_scenario *scenarios, size_t count)
{
	struct ncs_cost *cost = ncs_cost_new(without->parts, without->count);
	int error = 0;

	without->answers = calloc(count + 1, sizeof(*without->answers));
	without->answer_count = without->answers ? count : 0;
	if (!cost || !without->answers)
		error = -ENOMEM;
	if (!error)
		error = find_steps(without, cost);
	for (size_t i = 0; !error && i < count; i++)
		if (scenarios[i].kind == NCS_WHAT_IF_WITHOUT)
			error = find_answer(without, cost, &scenarios[i],
					    &without->answers[i]);
	ncs_cost_free(cost);
	return error;
}

const struct ncs_cost_of_rank *ncs_without_cost(const struct ncs_without *without,
						size_t scenario)
{
	return scenario < without->answer_count &&
			       without->answers[scenario].is_asked ?
		       &without->answers[scenario].cost :
		       NULL;
}

const struct ncs_cost_move *ncs_without_moves(const struct ncs_without *without,
					      size_t scenario)
{
	return scenario < without->answer_count ?
		       without->answers[scenario].moves :
		       NULL;
}
