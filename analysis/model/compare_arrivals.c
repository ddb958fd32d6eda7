/* SPDX-License-Identifier: MIT */
/* Compares arrivals; see compare_arrivals.h. Must not guess: an operation that
 * is not known of every rank compared does not count for any of them.
 *
 * The work for each operation is one look-up at each rank.
 */
#include "analysis/model/compare_arrivals.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/base/collective_waits.h"
#include "analysis/base/estimate.h"
#include "analysis/model/communicators.h"
#include "analysis/model/lateness_state.h"
#include "analysis/model/model.h"
#include "analysis/model/waits.h"
#include "analysis/records/arrivals.h"
#include "shm/array.h"

/* --- What is kept --------------------------------------------------------- */

void ncs_late_rank_free(struct ncs_late_rank *late)
{
	if (!late)
		return;
	ncs_distribution_release(&late->late);
	ncs_distribution_release(&late->exclusive);
	free(late);
}

void ncs_stragglers_release(struct ncs_model *model)
{
	struct ncs_skews *skews = model->skews;

	for (size_t i = 0; skews && i < skews->count; i++)
		free(skews->states[i]);
	if (skews)
		free(skews->states);
	free(skews);
	model->skews = NULL;
}

static struct ncs_late_rank *late_of(struct ncs_rank *rank)
{
	if (!rank->late)
		rank->late = calloc(1, sizeof(*rank->late));
	return rank->late;
}

/* Returns the state of a communicator, adding it if it is new; NULL if there is
 * no memory. */
static struct ncs_skew_state *
skew_of(struct ncs_model *model, const struct ncs_communicator *communicator)
{
	struct ncs_skews *skews = model->skews;
	struct ncs_skew_state *state;

	if (!skews)
		model->skews = skews = calloc(1, sizeof(*skews));
	if (!skews)
		return NULL;
	for (size_t i = 0; i < skews->count; i++)
		if (strcmp(skews->states[i]->key, communicator->key) == 0)
			return skews->states[i];
	if (ncs_array_reserve(&skews->states, &skews->capacity,
			      skews->count + 1, sizeof(*skews->states)) != 0)
		return NULL;
	state = calloc(1, sizeof(*state));
	if (!state)
		return NULL;
	memcpy(state->key, communicator->key, sizeof(state->key));
	skews->states[skews->count++] = state;
	return state;
}

/* Drops the states of communicators that are gone. */
static void drop_skews(struct ncs_skews *skews)
{
	size_t kept = 0;

	for (size_t i = 0; skews && i < skews->count; i++) {
		if (skews->states[i]->is_there)
			skews->states[kept++] = skews->states[i];
		else
			free(skews->states[i]);
	}
	if (skews)
		skews->count = kept;
}

/* --- One operation -------------------------------------------------------- */

/* A rank that takes part in the operation. */
struct comparison_member {
	struct ncs_rank *rank;
	struct ncs_arrival *arrival;
	uint64_t at_ns;
};

struct arrival_comparison {
	struct ncs_rank **ranks; /* with records, and comparable clocks */
	size_t rank_count;
	/* Ranks that take part in the operation. */
	struct comparison_member *members;
	size_t count;
	enum ncs_wait_rule wait_rule;
	int32_t root;
	/* Stages that are known of all members. */
	bool known[NCS_ARRIVAL_STAGES];
	enum ncs_arrival_stage stage; /* by which arrivals are compared */
	size_t first; /* member that arrived first; of several, the first */
	size_t last;  /* member that arrived last; of several, the first */
	/* Time from the last but one arrival to the last; 0 if several are
	 * last. */
	uint64_t exclusive_ns;
	uint64_t error_ns; /* largest error of the clocks of any two members */
};

/* Finds the ranks that take part in an operation. Returns false if one is
 * missing, or if there is only one. */
static bool gather(struct arrival_comparison *comparison, unsigned function,
		   uint64_t number)
{
	comparison->count = 0;
	for (size_t i = 0; i < comparison->rank_count; i++) {
		struct ncs_rank *rank = comparison->ranks[i];
		struct ncs_arrival *arrival;

		if (!ncs_arrivals_has(rank->arrivals, function))
			continue;
		arrival = ncs_arrivals_find(rank->arrivals, function, number);
		if (arrival)
			comparison->members[comparison->count++] =
				(struct comparison_member){ rank, arrival, 0 };
		else if (ncs_rank_is_live(rank))
			return false;
	}
	return comparison->count > 1;
}

/* Finds the root, if the function has one. Returns false unless all members
 * name the same one, and it is one of them. */
static bool find_root(struct arrival_comparison *comparison)
{
	bool is_there = false;

	if (comparison->wait_rule == NCS_WAIT_FOR_ALL)
		return true;
	comparison->root = comparison->members[0].arrival->root;
	for (size_t i = 0; i < comparison->count; i++) {
		const struct comparison_member *member =
			&comparison->members[i];
		const struct ncs_identity *identity =
			&member->rank->now.identity;

		if (member->arrival->root != comparison->root ||
		    !(identity->known & NCS_KNOWN_RANK))
			return false;
		is_there |= identity->rank == comparison->root;
	}
	return is_there;
}

/* Finds the latest stage that is known of all members. Unless all ranks wait
 * for all, a rank may send the data of others, so that DATA tells nothing. */
static void find_stage(struct arrival_comparison *comparison)
{
	comparison->stage = NCS_AT_OPERATION;
	for (unsigned i = 0; i < NCS_ARRIVAL_STAGES; i++) {
		comparison->known[i] = true;
		for (size_t k = 0; k < comparison->count; k++)
			if (comparison->members[k].arrival->at_ns[i] == 0)
				comparison->known[i] = false;
	}
	if (comparison->wait_rule != NCS_WAIT_FOR_ALL)
		comparison->known[NCS_AT_DATA] = false;
	for (unsigned i = NCS_AT_OPERATION + 1; i < NCS_ARRIVAL_STAGES; i++)
		if (comparison->known[i])
			comparison->stage = (enum ncs_arrival_stage)i;
	for (size_t k = 0; k < comparison->count; k++) {
		struct comparison_member *member = &comparison->members[k];

		member->at_ns = member->arrival->at_ns[comparison->stage];
	}
}

/* Finds the largest error. All ranks of a host have the same clock error, so
 * the largest error is that between the two hosts whose clock errors are
 * largest. */
static void find_error(struct arrival_comparison *comparison)
{
	const struct comparison_member *members = comparison->members;
	size_t worst = 0;

	for (size_t i = 1; i < comparison->count; i++)
		if (members[i].rank->clock_error_ns >
		    members[worst].rank->clock_error_ns)
			worst = i;
	comparison->error_ns = 0;
	for (size_t i = 0; i < comparison->count; i++) {
		uint64_t error_ns =
			ncs_error_between(members[i].rank, members[worst].rank);

		if (error_ns > comparison->error_ns)
			comparison->error_ns = error_ns;
	}
}

/* Finds which members arrived first and last. */
static void find_order(struct arrival_comparison *comparison)
{
	const struct comparison_member *members = comparison->members;
	const struct comparison_member *last;
	uint64_t second_ns = 0;

	comparison->first = comparison->last = 0;
	for (size_t i = 1; i < comparison->count; i++) {
		uint64_t at_ns = members[i].at_ns;

		if (at_ns < members[comparison->first].at_ns)
			comparison->first = i;
		if (at_ns > members[comparison->last].at_ns)
			comparison->last = i;
	}
	for (size_t i = 0; i < comparison->count; i++)
		if (i != comparison->last && members[i].at_ns > second_ns)
			second_ns = members[i].at_ns;
	last = &members[comparison->last];
	comparison->exclusive_ns = ncs_time_since(second_ns, last->at_ns);
	/* Within the error of the clocks, another one may have been later. */
	for (size_t i = 0; i < comparison->count; i++)
		if (i != comparison->last &&
		    ncs_time_since(members[i].at_ns, last->at_ns) <=
			    ncs_error_between(members[i].rank, last->rank))
			comparison->exclusive_ns = 0;
}

/* Returns the first to arrive of the members that wait for others; NULL if
 * there is none. */
static const struct comparison_member *
first_waiting(const struct arrival_comparison *comparison)
{
	const struct comparison_member *first = NULL;

	if (comparison->wait_rule == NCS_WAIT_FOR_ALL)
		return &comparison->members[comparison->first];
	for (size_t i = 0; i < comparison->count; i++) {
		const struct comparison_member *member =
			&comparison->members[i];

		if (ncs_is_waiting(comparison->wait_rule,
				   member->rank->now.identity.rank ==
					   comparison->root) &&
		    (!first || member->at_ns < first->at_ns))
			first = member;
	}
	return first;
}

/* Returns how late a member was at a stage on its way, but not more than
 * `at_most_ns`: lateness that it made up for afterwards does not count. */
static uint64_t late_at(const struct comparison_member *member,
			const struct comparison_member *than,
			enum ncs_arrival_stage stage, uint64_t at_most_ns)
{
	uint64_t late_ns = ncs_time_since(than->arrival->at_ns[stage],
					  member->arrival->at_ns[stage]);

	return late_ns < at_most_ns ? late_ns : at_most_ns;
}

/* Splits a member's lateness by where it began: at the call, if it never made
 * up for that part; then up to the start of the operation; then after that. */
static void split(const struct arrival_comparison *comparison,
		  const struct comparison_member *member,
		  const struct comparison_member *than, uint64_t late_ns,
		  uint64_t cause_ns[NCS_LATE_CAUSE_COUNT])
{
	uint64_t begun_ns = late_ns, called_ns;

	if (comparison->stage == NCS_AT_DATA)
		for (unsigned i = NCS_AT_OPERATION; i < NCS_AT_DATA; i++)
			if (comparison->known[i])
				begun_ns = late_at(member, than,
						   (enum ncs_arrival_stage)i,
						   late_ns);
	called_ns = late_at(member, than, NCS_AT_OPERATION, begun_ns);
	if (comparison->known[NCS_AT_CALL])
		called_ns = late_at(member, than, NCS_AT_CALL, called_ns);
	cause_ns[NCS_LATE_HOST] = called_ns;
	cause_ns[NCS_LATE_QUEUE] = begun_ns - called_ns;
	cause_ns[NCS_LATE_PRODUCER] = late_ns - begun_ns;
}

/* Notes how late a member came. Returns 0, or -ENOMEM; then its lateness does
 * not count. */
static int note_member(const struct arrival_comparison *comparison,
		       const struct comparison_member *member,
		       const struct comparison_member *than, uint64_t *late_ns)
{
	struct ncs_late_rank *late = late_of(member->rank);
	bool is_last = comparison->exclusive_ns > 0 &&
		       member == &comparison->members[comparison->last];
	struct ncs_late_part recent = {
		.number = member->arrival->number,
		.ready_ns = comparison->members[comparison->last].at_ns,
		.late_ns = ncs_time_since(than->at_ns, member->at_ns),
		.exclusive_ns = is_last ? comparison->exclusive_ns : 0,
		.error_ns = comparison->error_ns,
		.function = member->arrival->function,
		.stage = (uint8_t)comparison->stage,
	};

	*late_ns = recent.late_ns;
	if (late && recent.error_ns > late->error_ns)
		late->error_ns = recent.error_ns;
	if (!late ||
	    ncs_distribution_count(&late->late,
				   ncs_histogram_bucket(recent.late_ns)) != 0)
		return -ENOMEM;
	if (is_last) {
		split(comparison, member, than, recent.late_ns,
		      recent.cause_ns);
		for (unsigned i = 0; i < NCS_LATE_CAUSE_COUNT; i++)
			late->cause_ns[i] += recent.cause_ns[i];
		late->last++;
		if (ncs_distribution_count(
			    &late->exclusive,
			    ncs_histogram_bucket(recent.exclusive_ns)) != 0)
			return -ENOMEM;
	}
	late->recent[late->operations++ % NCS_LATENESS_RECENT] = recent;
	late->is_viewed = false;
	return 0;
}

static void note_skew(struct ncs_skew_state *state,
		      const struct arrival_comparison *comparison,
		      uint64_t skew_ns)
{
	struct ncs_skew_part skew = { .skew_ns = skew_ns,
				      .error_ns = comparison->error_ns,
				      .has_transfer = true };
	uint64_t end_ns = 0;

	for (size_t i = 0; i < comparison->count; i++) {
		const struct ncs_arrival *arrival =
			comparison->members[i].arrival;

		skew.has_transfer = skew.has_transfer && arrival->has_end;
		if (arrival->end_ns > end_ns)
			end_ns = arrival->end_ns;
	}
	skew.transfer_ns = ncs_time_since(
		comparison->members[comparison->last].at_ns, end_ns);
	state->recent[state->view.all++ % NCS_LATENESS_RECENT] = skew;
	state->view.ranks = comparison->count;
	state->is_viewed = false;
}

/* Compares the members. Returns 0 or -ENOMEM. */
static int compare(struct arrival_comparison *comparison,
		   struct ncs_skew_state *state)
{
	const struct comparison_member *than;
	uint64_t skew_ns = 0, late_ns;
	int error = 0;

	for (size_t i = 0; i < comparison->count; i++)
		ncs_arrivals_compared(comparison->members[i].rank->arrivals,
				      comparison->members[i].arrival);
	if (!find_root(comparison))
		return 0;
	find_stage(comparison);
	find_error(comparison);
	find_order(comparison);
	than = first_waiting(comparison);
	for (size_t i = 0; than && i < comparison->count; i++) {
		const struct comparison_member *member =
			&comparison->members[i];

		if (!ncs_is_awaited(comparison->wait_rule,
				    member->rank->now.identity.rank ==
					    comparison->root))
			continue;
		error |= note_member(comparison, member, than, &late_ns);
		if (late_ns > skew_ns)
			skew_ns = late_ns;
	}
	if (than)
		note_skew(state, comparison, skew_ns);
	return error;
}

/* --- All operations ------------------------------------------------------- */

/* Finds the ranks with records that a rank can be compared with. Returns how
 * many ranks it can be compared with, with or without records. */
static size_t find_ranks(struct arrival_comparison *comparison,
			 const struct ncs_communicator *communicator,
			 const struct ncs_rank *clock)
{
	size_t count = 0;

	comparison->rank_count = 0;
	for (size_t i = 0; i < communicator->rank_count; i++) {
		struct ncs_rank *rank = communicator->ranks[i];

		if (!ncs_is_comparable(rank, clock))
			continue;
		count++;
		if (rank->arrivals)
			comparison->ranks[comparison->rank_count++] = rank;
	}
	return count;
}

/* Whether a rank is the first of those that it can be compared with. */
static bool is_first_of_clock(const struct ncs_communicator *communicator,
			      size_t index)
{
	for (size_t i = 0; i < index; i++)
		if (ncs_is_comparable(communicator->ranks[i],
				      communicator->ranks[index]))
			return false;
	return true;
}

/* Returns a rank that has all operations of a function that can be compared;
 * NULL if there is none. */
static struct ncs_rank *rank_with(const struct arrival_comparison *comparison,
				  unsigned function)
{
	struct ncs_rank *found = NULL;

	for (size_t i = 0; i < comparison->rank_count; i++) {
		struct ncs_rank *rank = comparison->ranks[i];

		if (!ncs_arrivals_has(rank->arrivals, function))
			continue;
		if (ncs_rank_is_live(rank))
			return rank;
		if (!found)
			found = rank;
	}
	return found;
}

static int compare_function(struct arrival_comparison *comparison,
			    struct ncs_skew_state *state, unsigned function)
{
	struct ncs_rank *rank = rank_with(comparison, function);
	struct ncs_arrival *arrival;
	size_t place = 0;
	int error = 0;

	comparison->wait_rule = ncs_wait_rule_of(function);
	while (rank &&
	       (arrival = ncs_arrivals_next(rank->arrivals, function, &place)))
		if (gather(comparison, function, arrival->number))
			error |= compare(comparison, state);
	return error;
}

static int compare_functions(struct arrival_comparison *comparison,
			     struct ncs_skew_state *state)
{
	int error = 0;

	for (unsigned i = 0; i < NCS_FUNCTION_COUNT; i++)
		if (ncs_wait_rule_of(i) != NCS_WAIT_FOR_NONE)
			error |= compare_function(comparison, state, i);
	return error;
}

static bool has_arrivals(const struct ncs_communicator *communicator)
{
	for (size_t i = 0; i < communicator->rank_count; i++)
		if (communicator->ranks[i]->arrivals)
			return true;
	return false;
}

static int compare_all(struct arrival_comparison *comparison,
		       struct ncs_model *model,
		       struct ncs_communicator *communicator)
{
	size_t most = 0;
	int error = 0;

	if (!has_arrivals(communicator))
		return 0;
	communicator->skew = skew_of(model, communicator);
	if (!communicator->skew)
		return -ENOMEM;
	communicator->skew->is_there = true;
	for (size_t i = 0; i < communicator->rank_count; i++) {
		const struct ncs_rank *rank = communicator->ranks[i];
		size_t count;

		if (!is_first_of_clock(communicator, i))
			continue;
		count = find_ranks(comparison, communicator, rank);
		if (count > most)
			most = count;
		error |= compare_functions(comparison, communicator->skew);
	}
	communicator->other_clocks = communicator->rank_count - most;
	return error;
}

int ncs_stragglers_update(struct ncs_model *model)
{
	struct arrival_comparison comparison = {
		.ranks = calloc(model->rank_count + 1,
				sizeof(struct ncs_rank *)),
		.members = calloc(model->rank_count + 1,
				  sizeof(struct comparison_member)),
	};
	bool failed = !comparison.ranks || !comparison.members;

	for (size_t i = 0; model->skews && i < model->skews->count; i++)
		model->skews->states[i]->is_there = false;
	for (size_t i = 0; !failed && i < model->communicator_count; i++)
		failed = compare_all(&comparison, model,
				     &model->communicators[i]) != 0;
	drop_skews(model->skews);
	free(comparison.ranks);
	free(comparison.members);
	return failed ? -ENOMEM : 0;
}
