/* SPDX-License-Identifier: MIT */
/* Comparing when ranks came to collectives; see stragglers.h. Must not guess:
 * what is not known of every rank compared does not count for any.
 *
 * For each operation the work is that of looking it up at each rank.
 */
#include "analysis/model/stragglers.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/base/estimate.h"
#include "analysis/base/collective_waits.h"
#include "analysis/base/selection.h"
#include "analysis/model/waits.h"

/* --- Names ---------------------------------------------------------------- */

const char *ncs_late_cause_name(unsigned cause)
{
	static const char *const names[] = {
#define X(ID, name, help) name,
		NCS_LATE_CAUSES(X)
#undef X
	};

	return cause < NCS_LATE_CAUSE_COUNT ? names[cause] : "none";
}

const char *ncs_moment_name(unsigned moment)
{
	static const char *const names[] = {
#define X(ID, name, help) name,
		NCS_STAGES_OF_ARRIVAL(X)
#undef X
	};

	return moment < NCS_ARRIVAL_STAGES ? names[moment] : "unknown";
}

/* --- Who waits for whom --------------------------------------------------- */

/* Whether others wait for a rank, with this root. */
static bool is_awaited(enum ncs_wait_rule rule, const struct ncs_rank *rank,
		       int32_t root)
{
	return ncs_is_awaited(rule, rank->now.identity.rank == root);
}

/* Whether a rank waits for others. */
static bool is_waiting(enum ncs_wait_rule rule, const struct ncs_rank *rank,
		       int32_t root)
{
	return ncs_is_waiting(rule, rank->now.identity.rank == root);
}

/* --- What is kept --------------------------------------------------------- */

/* Of a rank at one operation at which others waited for it. */
struct recent {
	uint64_t number;
	uint64_t ready_ns; /* when all had come */
	uint64_t late_ns;
	uint64_t exclusive_ns; /* 0: it was not last */
	uint64_t cause_ns[NCS_LATE_CAUSE_COUNT];
	uint64_t error_ns; /* of clocks */
	uint8_t function;
	uint8_t told_by; /* enum ncs_arrival_stage */
};

struct ncs_late_rank {
	struct recent recent[NCS_LATENESS_RECENT]; /* round and round */
	uint64_t operations;
	uint64_t last;
	uint64_t cause_ns[NCS_LATE_CAUSE_COUNT];
	uint64_t error_ns; /* the largest of all */
	struct ncs_distribution late;
	struct ncs_distribution exclusive; /* of those at which it was last */
	struct ncs_lateness_view view;
	bool is_viewed; /* the view is of now */
};

struct skew {
	uint64_t skew_ns;
	uint64_t error_ns;
	uint64_t transfer_ns;
	bool has_transfer;
};

struct ncs_skew_state {
	char key[sizeof(((struct ncs_communicator *)NULL)->key)];
	bool is_there; /* the communicator, in the latest update */
	struct skew recent[NCS_LATENESS_RECENT];
	struct ncs_skew view;
	bool is_viewed;
};

struct ncs_skews {
	struct ncs_skew_state **states;
	size_t count;
};

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

/* NULL: no memory. */
static struct ncs_skew_state *
skew_of(struct ncs_model *model, const struct ncs_communicator *communicator)
{
	struct ncs_skews *skews = model->skews;
	struct ncs_skew_state **states, *state;

	if (!skews)
		model->skews = skews = calloc(1, sizeof(*skews));
	if (!skews)
		return NULL;
	for (size_t i = 0; i < skews->count; i++)
		if (strcmp(skews->states[i]->key, communicator->key) == 0)
			return skews->states[i];
	states = realloc(skews->states,
			 (skews->count + 1) * sizeof(struct ncs_skew_state *));
	if (!states)
		return NULL;
	skews->states = states;
	state = calloc(1, sizeof(*state));
	if (!state)
		return NULL;
	memcpy(state->key, communicator->key, sizeof(state->key));
	states[skews->count++] = state;
	return state;
}

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

/* A rank that takes part. */
struct member {
	struct ncs_rank *rank;
	struct ncs_arrival *arrival;
	uint64_t at_ns;
};

struct comparison {
	struct ncs_rank **ranks; /* whose clocks can be compared */
	size_t rank_count;
	struct member *members; /* of these, who takes part */
	size_t count;
	enum ncs_wait_rule wait_rule;
	int32_t root;
	bool known[NCS_ARRIVAL_STAGES]; /* of all members */
	enum ncs_arrival_stage told_by;
	size_t first; /* of all members; the earlier in their order */
	size_t last;
	uint64_t exclusive_ns; /* 0: several are last */
	uint64_t error_ns;     /* of the clocks of any two of them */
};

static uint64_t since(uint64_t from_ns, uint64_t until_ns)
{
	return until_ns > from_ns ? until_ns - from_ns : 0;
}

static bool shares_clock(const struct ncs_rank *a, const struct ncs_rank *b)
{
	return a->header.time_namespace == b->header.time_namespace &&
	       strncmp(a->header.boot_id, b->header.boot_id,
		       sizeof(a->header.boot_id)) == 0 &&
	       strncmp(a->header.host, b->header.host,
		       sizeof(a->header.host)) == 0;
}

/* Whether times of two ranks can be compared. */
static bool is_comparable(const struct ncs_rank *a, const struct ncs_rank *b)
{
	return shares_clock(a, b) ||
	       (a->clock_is_aligned && b->clock_is_aligned);
}

/* What their difference may be off. */
static uint64_t error_between(const struct ncs_rank *a,
			      const struct ncs_rank *b)
{
	return shares_clock(a, b) ? 0 : a->clock_error_ns + b->clock_error_ns;
}

/* Everybody who takes part. False: somebody is missing, or there is nobody to
 * compare with. */
static bool gather(struct comparison *comparison, unsigned function,
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
				(struct member){ rank, arrival, 0 };
		else if (ncs_rank_is_live(rank))
			return false;
	}
	return comparison->count > 1;
}

/* Where there is a root, all must mean the same, and it must be among them. */
static bool find_root(struct comparison *comparison)
{
	bool is_there = false;

	if (comparison->wait_rule == NCS_WAIT_FOR_ALL)
		return true;
	comparison->root = comparison->members[0].arrival->root;
	for (size_t i = 0; i < comparison->count; i++) {
		const struct member *member = &comparison->members[i];
		const struct ncs_identity *identity =
			&member->rank->now.identity;

		if (member->arrival->root != comparison->root ||
		    !(identity->known & NCS_KNOWN_RANK))
			return false;
		is_there |= identity->rank == comparison->root;
	}
	return is_there;
}

/* The latest moment that is known of all. Where only some wait for the others,
 * the data that a rank sends may be others'. */
static void find_moment(struct comparison *comparison)
{
	comparison->told_by = NCS_AT_OPERATION;
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
			comparison->told_by = (enum ncs_arrival_stage)i;
	for (size_t k = 0; k < comparison->count; k++) {
		struct member *member = &comparison->members[k];

		member->at_ns = member->arrival->at_ns[comparison->told_by];
	}
}

/* Clocks of one host are off alike: the largest error is that of the host with
 * the largest, and the largest of the others. */
static void find_error(struct comparison *comparison)
{
	const struct member *members = comparison->members;
	size_t worst = 0;

	for (size_t i = 1; i < comparison->count; i++)
		if (members[i].rank->clock_error_ns >
		    members[worst].rank->clock_error_ns)
			worst = i;
	comparison->error_ns = 0;
	for (size_t i = 0; i < comparison->count; i++) {
		uint64_t error_ns =
			error_between(members[i].rank, members[worst].rank);

		if (error_ns > comparison->error_ns)
			comparison->error_ns = error_ns;
	}
}

static void find_order(struct comparison *comparison)
{
	const struct member *members = comparison->members;
	const struct member *last;
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
	comparison->exclusive_ns = since(second_ns, last->at_ns);
	/* By the clocks another may have been later. */
	for (size_t i = 0; i < comparison->count; i++)
		if (i != comparison->last &&
		    since(members[i].at_ns, last->at_ns) <=
			    error_between(members[i].rank, last->rank))
			comparison->exclusive_ns = 0;
}

/* Of those that wait for the others, the one that came first. */
static const struct member *first_waiting(const struct comparison *comparison)
{
	const struct member *first = NULL;

	if (comparison->wait_rule == NCS_WAIT_FOR_ALL)
		return &comparison->members[comparison->first];
	for (size_t i = 0; i < comparison->count; i++) {
		const struct member *member = &comparison->members[i];

		if (is_waiting(comparison->wait_rule, member->rank,
			       comparison->root) &&
		    (!first || member->at_ns < first->at_ns))
			first = member;
	}
	return first;
}

/* How late a member was at a moment on its way, of what it is late in the end:
 * what it made up for until then does not count. */
static uint64_t late_at(const struct member *member, const struct member *than,
			enum ncs_arrival_stage moment, uint64_t at_most_ns)
{
	uint64_t late_ns = since(than->arrival->at_ns[moment],
				 member->arrival->at_ns[moment]);

	return late_ns < at_most_ns ? late_ns : at_most_ns;
}

/* Splits a member's lateness by where it began: it is what was there by the
 * call and never made up for, then what was there by the beginning. */
static void split(const struct comparison *comparison,
		  const struct member *member, const struct member *than,
		  uint64_t late_ns, uint64_t cause_ns[NCS_LATE_CAUSE_COUNT])
{
	uint64_t begun_ns = late_ns, called_ns;

	if (comparison->told_by == NCS_AT_DATA)
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

/* 0 or -ENOMEM: then it does not count. */
static int note_member(const struct comparison *comparison,
		       const struct member *member, const struct member *than,
		       uint64_t *late_ns)
{
	struct ncs_late_rank *late = late_of(member->rank);
	bool is_last = comparison->exclusive_ns > 0 &&
		       member == &comparison->members[comparison->last];
	struct recent recent = {
		.number = member->arrival->number,
		.ready_ns = comparison->members[comparison->last].at_ns,
		.late_ns = since(than->at_ns, member->at_ns),
		.exclusive_ns = is_last ? comparison->exclusive_ns : 0,
		.error_ns = comparison->error_ns,
		.function = member->arrival->function,
		.told_by = (uint8_t)comparison->told_by,
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
		      const struct comparison *comparison, uint64_t skew_ns)
{
	struct skew skew = { .skew_ns = skew_ns,
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
	skew.transfer_ns =
		since(comparison->members[comparison->last].at_ns, end_ns);
	state->recent[state->view.all++ % NCS_LATENESS_RECENT] = skew;
	state->view.ranks = comparison->count;
	state->is_viewed = false;
}

/* 0 or -ENOMEM. */
static int compare(struct comparison *comparison, struct ncs_skew_state *state)
{
	const struct member *than;
	uint64_t skew_ns = 0, late_ns;
	int error = 0;

	for (size_t i = 0; i < comparison->count; i++)
		ncs_arrivals_compared(comparison->members[i].rank->arrivals,
				      comparison->members[i].arrival);
	if (!find_root(comparison))
		return 0;
	find_moment(comparison);
	find_error(comparison);
	find_order(comparison);
	than = first_waiting(comparison);
	for (size_t i = 0; than && i < comparison->count; i++) {
		const struct member *member = &comparison->members[i];

		if (!is_awaited(comparison->wait_rule, member->rank,
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

/* --- Operations that are still awaited ------------------------------------ */

/* The number that a rank's next operation of a function will have. */
static uint64_t next_number(const struct ncs_rank *rank, unsigned function)
{
	uint64_t last = rank->now.functions[function].last_sequence_number;

	return last == NCS_NO_SEQUENCE_NUMBER ? 0 : last + 1;
}

/* How long a rank keeps this operation of another one waiting. */
static void note_waiting(struct ncs_late_now *now, const struct ncs_rank *rank,
			 const struct ncs_rank *other,
			 const struct ncs_operation_view *operation)
{
	enum ncs_wait_rule rule =
		operation->event == NCS_EVENT_COLL &&
				operation->function < NCS_FUNCTION_COUNT ?
			ncs_wait_rule_of(operation->function) :
			NCS_WAIT_FOR_NONE;
	uint64_t late_ns;

	if (rule == NCS_WAIT_FOR_NONE ||
	    operation->sequence_number == NCS_NO_SEQUENCE_NUMBER ||
	    operation->sequence_number !=
		    next_number(rank, operation->function) ||
	    !is_awaited(rule, rank, operation->peer) ||
	    !is_waiting(rule, other, operation->peer))
		return;
	/* Both were looked at after this moment. */
	late_ns = since(operation->start_ns + error_between(rank, other),
			rank->now.taken_ns);
	if (late_ns == 0)
		return;
	if (now->late_ns > 0 && (now->function != operation->function ||
				 now->number != operation->sequence_number)) {
		if (late_ns <= now->late_ns)
			return;
		now->waiting = 0;
	}
	now->function = operation->function;
	now->number = operation->sequence_number;
	now->waiting++;
	if (late_ns > now->late_ns)
		now->late_ns = late_ns;
}

static struct ncs_late_now late_now(const struct ncs_communicator *communicator,
				    const struct ncs_rank *rank)
{
	struct ncs_late_now now = { 0 };

	if (!ncs_rank_is_live(rank) ||
	    !(rank->now.identity.known & NCS_KNOWN_RANK))
		return now;
	for (size_t i = 0; i < communicator->rank_count; i++) {
		const struct ncs_rank *other = communicator->ranks[i];

		if (other == rank || !is_comparable(rank, other) ||
		    !ncs_rank_is_live(other))
			continue;
		for (size_t k = 0; k < other->now.operation_count; k++)
			note_waiting(&now, rank, other,
				     &other->now.operations[k]);
	}
	return now;
}

void ncs_rank_late_now(const struct ncs_rank *rank, struct ncs_late_now *now)
{
	*now = rank->communicator ? late_now(rank->communicator, rank) :
				    (struct ncs_late_now){ 0 };
}

/* --- All of them ---------------------------------------------------------- */

/* Finds those that a rank can be compared with; of these, those with records. Returns
 * how many there are of the former. */
static size_t find_ranks(struct comparison *comparison,
			 const struct ncs_communicator *communicator,
			 const struct ncs_rank *clock)
{
	size_t count = 0;

	comparison->rank_count = 0;
	for (size_t i = 0; i < communicator->rank_count; i++) {
		struct ncs_rank *rank = communicator->ranks[i];

		if (!is_comparable(rank, clock))
			continue;
		count++;
		if (rank->arrivals)
			comparison->ranks[comparison->rank_count++] = rank;
	}
	return count;
}

/* Whether a rank stands before all others that it can be compared with. */
static bool is_first_of_clock(const struct ncs_communicator *communicator,
			      size_t index)
{
	for (size_t i = 0; i < index; i++)
		if (is_comparable(communicator->ranks[i],
				  communicator->ranks[index]))
			return false;
	return true;
}

/* A rank at which all operations of a function are that can be compared. NULL:
 * there is none. */
static struct ncs_rank *rank_with(const struct comparison *comparison,
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

static int compare_function(struct comparison *comparison,
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

static int compare_functions(struct comparison *comparison,
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

static int compare_all(struct comparison *comparison, struct ncs_model *model,
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
	struct comparison comparison = {
		.ranks = calloc(model->rank_count + 1,
				sizeof(struct ncs_rank *)),
		.members = calloc(model->rank_count + 1, sizeof(struct member)),
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

/* --- Figures -------------------------------------------------------------- */

static size_t recent_count(uint64_t operations)
{
	return operations < NCS_LATENESS_RECENT ? (size_t)operations :
						  NCS_LATENESS_RECENT;
}

/* Of one function, or of all: NCS_FUNCTION_COUNT. */
static void sum_recent(const struct ncs_late_rank *late, unsigned function,
		       struct ncs_lateness *lateness)
{
	uint64_t late_ns[NCS_LATENESS_RECENT];
	uint64_t exclusive_ns[NCS_LATENESS_RECENT];
	size_t count = 0, last = 0;

	*lateness = (struct ncs_lateness){ 0 };
	for (size_t i = 0; i < recent_count(late->operations); i++) {
		const struct recent *recent = &late->recent[i];

		if (function < NCS_FUNCTION_COUNT &&
		    recent->function != function)
			continue;
		late_ns[count++] = recent->late_ns;
		if (recent->error_ns > lateness->error_ns)
			lateness->error_ns = recent->error_ns;
		if (recent->exclusive_ns == 0)
			continue;
		exclusive_ns[last++] = recent->exclusive_ns;
		for (unsigned k = 0; k < NCS_LATE_CAUSE_COUNT; k++)
			lateness->cause_ns[k] += recent->cause_ns[k];
	}
	lateness->operations = count;
	lateness->last = last;
	lateness->median_ns = ncs_percentile_of_values(late_ns, count, 50);
	lateness->p99_ns = ncs_percentile_of_values(late_ns, count, 99);
	lateness->exclusive_ns =
		ncs_percentile_of_values(exclusive_ns, last, 50);
}

static uint64_t quantile(const struct ncs_distribution *distribution,
			 double fraction)
{
	double value = ncs_estimate_quantile(distribution, fraction).value;

	return value > 0 ? (uint64_t)value : 0;
}

static void sum_all(const struct ncs_late_rank *late,
		    struct ncs_lateness *lateness)
{
	lateness->error_ns = late->error_ns;
	lateness->operations = late->operations;
	lateness->last = late->last;
	lateness->median_ns = quantile(&late->late, 0.50);
	lateness->p99_ns = quantile(&late->late, 0.99);
	lateness->exclusive_ns =
		late->last > 0 ? quantile(&late->exclusive, 0.50) : 0;
	memcpy(lateness->cause_ns, late->cause_ns, sizeof(late->cause_ns));
}

/* How long all waited for it alone, and of how many operations that is known,
 * of how many there were. */
struct waiting {
	uint64_t exclusive_ns;
	uint64_t count;
	uint64_t first;
	uint64_t last;
};

/* Share of the time from the first recent operation to the last. */
static double cost_of(const struct ncs_late_rank *late)
{
	struct waiting waiting[NCS_FUNCTION_COUNT] = { 0 };
	uint64_t first_ns = UINT64_MAX, last_ns = 0;
	double cost_ns = 0;

	for (size_t i = 0; i < recent_count(late->operations); i++) {
		const struct recent *recent = &late->recent[i];
		struct waiting *one = &waiting[recent->function];

		if (one->count == 0 || recent->number < one->first)
			one->first = recent->number;
		if (one->count == 0 || recent->number > one->last)
			one->last = recent->number;
		one->count++;
		one->exclusive_ns += recent->exclusive_ns;
		if (recent->ready_ns < first_ns)
			first_ns = recent->ready_ns;
		if (recent->ready_ns > last_ns)
			last_ns = recent->ready_ns;
	}
	if (last_ns <= first_ns)
		return -1;
	for (size_t i = 0; i < NCS_FUNCTION_COUNT; i++)
		if (waiting[i].count > 0)
			cost_ns +=
				(double)waiting[i].exclusive_ns *
				((double)(waiting[i].last - waiting[i].first) +
				 1) /
				(double)waiting[i].count;
	cost_ns /= (double)(last_ns - first_ns);
	return cost_ns < 1 ? cost_ns : 1;
}

static bool is_straggler(const struct ncs_lateness_view *view)
{
	const struct ncs_lateness *recent = &view->recent;

	return recent->operations >= NCS_STRAGGLER_OPERATIONS &&
	       2 * recent->last > recent->operations &&
	       recent->exclusive_ns >= NCS_STRAGGLER_NS &&
	       view->cost >= NCS_STRAGGLER_COST;
}

const struct ncs_lateness_view *ncs_rank_lateness(const struct ncs_rank *rank)
{
	struct ncs_late_rank *late = rank->late;
	struct ncs_lateness_view *view;

	if (!late || late->operations == 0)
		return NULL;
	view = &late->view;
	view->count = *ncs_arrivals_count(rank->arrivals);
	/* Of many ranks few are looked at. */
	if (late->is_viewed)
		return view;
	sum_recent(late, NCS_FUNCTION_COUNT, &view->recent);
	sum_all(late, &view->all);
	memset(view->told_by, 0, sizeof(view->told_by));
	for (size_t i = 0; i < recent_count(late->operations); i++)
		view->told_by[late->recent[i].told_by]++;
	view->cost = cost_of(late);
	view->is_straggler = is_straggler(view);
	late->is_viewed = true;
	return view;
}

void ncs_rank_function_lateness(const struct ncs_rank *rank, unsigned function,
				struct ncs_lateness *lateness)
{
	*lateness = (struct ncs_lateness){ 0 };
	if (rank->late)
		sum_recent(rank->late, function, lateness);
}

unsigned ncs_rank_late_function(const struct ncs_rank *rank,
				struct ncs_lateness *lateness)
{
	unsigned found = NCS_FUNCTION_COUNT;
	struct ncs_lateness one;

	*lateness = (struct ncs_lateness){ 0 };
	for (unsigned i = 0; i < NCS_FUNCTION_COUNT; i++) {
		if (ncs_wait_rule_of(i) == NCS_WAIT_FOR_NONE)
			continue;
		ncs_rank_function_lateness(rank, i, &one);
		if (one.last <= lateness->last)
			continue;
		*lateness = one;
		found = i;
	}
	return found;
}

unsigned ncs_lateness_cause(const struct ncs_lateness *lateness)
{
	unsigned most = 0;

	if (lateness->last == 0)
		return NCS_LATE_CAUSE_COUNT;
	for (unsigned i = 1; i < NCS_LATE_CAUSE_COUNT; i++)
		if (lateness->cause_ns[i] > lateness->cause_ns[most])
			most = i;
	return most;
}

const struct ncs_skew *
ncs_communicator_skew(const struct ncs_communicator *communicator)
{
	struct ncs_skew_state *state = communicator->skew;
	uint64_t skew_ns[NCS_LATENESS_RECENT];
	uint64_t transfer_ns[NCS_LATENESS_RECENT];
	size_t count, transfers = 0;

	if (!state || state->view.all == 0)
		return NULL;
	if (state->is_viewed)
		return &state->view;
	count = recent_count(state->view.all);
	state->view.error_ns = 0;
	for (size_t i = 0; i < count; i++) {
		if (state->recent[i].error_ns > state->view.error_ns)
			state->view.error_ns = state->recent[i].error_ns;
		skew_ns[i] = state->recent[i].skew_ns;
		if (state->recent[i].has_transfer)
			transfer_ns[transfers++] = state->recent[i].transfer_ns;
	}
	state->view.operations = count;
	state->view.transfers = transfers;
	state->view.median_ns = ncs_percentile_of_values(skew_ns, count, 50);
	state->view.p99_ns = ncs_percentile_of_values(skew_ns, count, 99);
	state->view.transfer_ns =
		ncs_percentile_of_values(transfer_ns, transfers, 50);
	state->is_viewed = true;
	return &state->view;
}

const struct ncs_rank *
ncs_communicator_straggler(const struct ncs_communicator *communicator)
{
	const struct ncs_rank *worst = NULL;
	double cost = 0;

	for (size_t i = 0; i < communicator->rank_count; i++) {
		const struct ncs_rank *rank = communicator->ranks[i];
		const struct ncs_lateness_view *view = ncs_rank_lateness(rank);

		if (!view || !view->is_straggler || !ncs_rank_is_live(rank) ||
		    view->cost <= cost)
			continue;
		worst = rank;
		cost = view->cost;
	}
	return worst;
}
