/* SPDX-License-Identifier: MIT */
/* Groups the model's ranks by communicator and sums them up; see
 * communicators.h. Must not guess: a rank whose sequence number is not known is
 * neither behind nor level.
 *
 * Called once an update; takes n log n time for n ranks, and time linear in the
 * number of their channels.
 */
#include "analysis/model/communicators.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/base/append.h"
#include "analysis/model/model.h"
#include "analysis/model/rank.h"
#include "shm/array.h"
#include "shm/clock.h"

/* --- Which ranks belong together ------------------------------------------ */

static bool has_id(const struct ncs_rank *rank)
{
	return rank->now.identity.known & NCS_KNOWN_COMM_ID;
}

static bool has_name(const struct ncs_rank *rank)
{
	return (rank->now.identity.known & NCS_KNOWN_COMM_NAME) &&
	       rank->now.identity.comm_name[0];
}

static int compare_communicators(const struct ncs_rank *a,
				 const struct ncs_rank *b)
{
	const struct ncs_identity *of_a = &a->now.identity;
	const struct ncs_identity *of_b = &b->now.identity;

	if (has_id(a) != has_id(b))
		return has_id(a) ? -1 : 1;
	if (has_id(a))
		return (of_a->comm_id > of_b->comm_id) -
		       (of_a->comm_id < of_b->comm_id);
	if (has_name(a) != has_name(b))
		return has_name(a) ? -1 : 1;
	return has_name(a) ? strcmp(of_a->comm_name, of_b->comm_name) :
			     strcmp(a->id, b->id);
}

static int compare_members(const void *left, const void *right)
{
	struct ncs_rank *const *a = left, *const *b = right;
	int order = compare_communicators(*a, *b);

	return order ? order : ncs_rank_compare(*a, *b);
}

static int compare_places(const void *left, const void *right)
{
	const struct ncs_communicator *a = left, *b = right;

	return ncs_rank_compare(a->ranks[0], b->ranks[0]);
}

/* Sets the key. `job` tells apart communicators of the same id; it is 0 for the
 * first one. */
static void set_key(struct ncs_communicator *communicator, uint64_t job)
{
	const struct ncs_rank *rank = communicator->ranks[0];
	const char *file = strrchr(rank->id, '/');
	size_t size = sizeof(communicator->key);

	if (has_id(rank))
		snprintf(communicator->key, size, "id %016" PRIx64,
			 rank->now.identity.comm_id);
	else if (has_name(rank))
		snprintf(communicator->key, size, "name %s",
			 rank->now.identity.comm_name);
	else
		snprintf(communicator->key, size, "rank %s",
			 file ? file + 1 : rank->id);
	if (job != 0)
		ncs_append(communicator->key, size, " from %" PRIu64, job);
}

/* --- Jobs with the same id ------------------------------------------------- */

/* Jobs that are told to use one id (NCCL_COMM_ID), or a job that was started
 * again, have communicators of the same id. Two ranks cannot have the same
 * number in one communicator, nor different ideas of its size. */
static bool are_of_two_jobs(const struct ncs_rank *a, const struct ncs_rank *b)
{
	const struct ncs_identity *of_a = &a->now.identity;
	const struct ncs_identity *of_b = &b->now.identity;
	uint64_t both = of_a->known & of_b->known;

	return (both & NCS_KNOWN_RANK && of_a->rank == of_b->rank) ||
	       (both & NCS_KNOWN_NRANKS && of_a->nranks != of_b->nranks);
}

static uint64_t created_ns(const struct ncs_rank *rank)
{
	return ncs_clock_ns(&rank->clock, rank->created);
}

static int compare_ages(const void *left, const void *right)
{
	struct ncs_rank *const *a = left, *const *b = right;
	uint64_t of_a = created_ns(*a), of_b = created_ns(*b);

	return of_a != of_b ? (of_a > of_b) - (of_a < of_b) :
			      ncs_rank_compare(*a, *b);
}

static int compare_ranks(const void *left, const void *right)
{
	struct ncs_rank *const *a = left, *const *b = right;

	return ncs_rank_compare(*a, *b);
}

/* Whether ranks of the same id may be of several jobs. Of one job, ranks are
 * many and their numbers differ; the usual case must cost little. */
static bool may_be_several(struct ncs_rank *const *ranks, size_t count)
{
	const struct ncs_identity *first = &ranks[0]->now.identity;

	for (size_t i = 1; i < count; i++)
		if (are_of_two_jobs(ranks[i - 1], ranks[i]) ||
		    are_of_two_jobs(ranks[0], ranks[i]))
			return true;
	return first->known & NCS_KNOWN_NRANKS && first->nranks >= 0 &&
	       count > (size_t)first->nranks;
}

/* Returns the end of the first job's ranks, in the order of their ages: where
 * ranks are of two jobs, the later one began after the longest pause. */
static size_t first_job(struct ncs_rank *const *ranks, size_t count)
{
	for (size_t i = 1; i < count; i++) {
		size_t other = i, best;

		while (other > 0 &&
		       !are_of_two_jobs(ranks[other - 1], ranks[i]))
			other--;
		if (other == 0)
			continue;
		best = other;
		for (size_t k = other; k <= i; k++)
			if (created_ns(ranks[k]) - created_ns(ranks[k - 1]) >
			    created_ns(ranks[best]) -
				    created_ns(ranks[best - 1]))
				best = k;
		return best;
	}
	return count;
}

/* Puts the ranks of the first of several jobs in front, both in the model's
 * order. Returns their number; all of them if they are of one job. */
static size_t split_jobs(struct ncs_rank **ranks, size_t count)
{
	size_t first;

	if (!has_id(ranks[0]) || count < 2 || !may_be_several(ranks, count))
		return count;
	qsort(ranks, count, sizeof(*ranks), compare_ages);
	first = first_job(ranks, count);
	qsort(ranks, first, sizeof(*ranks), compare_ranks);
	if (first < count)
		qsort(ranks + first, count - first, sizeof(*ranks),
		      compare_ranks);
	return first;
}

/* --- Progress ------------------------------------------------------------- */

void ncs_communicator_progress(const struct ncs_communicator *communicator,
			       unsigned function, struct ncs_progress *progress)
{
	memset(progress, 0, sizeof(*progress));
	if (!(communicator->functions >> function & 1))
		return;
	for (size_t i = 0; i < communicator->rank_count; i++) {
		const struct ncs_rank *rank = communicator->ranks[i];
		uint64_t number =
			rank->now.functions[function].last_sequence_number;

		if (number == NCS_NO_SEQUENCE_NUMBER ||
		    (communicator->live > 0 && !ncs_rank_is_live(rank)))
			continue;
		if (progress->known == 0 || number > progress->most) {
			progress->most = number;
			progress->fastest = rank;
			progress->fastest_count = 0;
		}
		if (progress->known == 0 || number < progress->least) {
			progress->least = number;
			progress->slowest = rank;
			progress->slowest_count = 0;
		}
		progress->fastest_count += number == progress->most;
		progress->slowest_count += number == progress->least;
		progress->known++;
	}
}

uint64_t ncs_progress_behind(const struct ncs_progress *progress)
{
	return progress->most - progress->least;
}

bool ncs_progress_is_held_up(const struct ncs_progress *progress,
			     unsigned function)
{
	const struct ncs_counters *before =
		progress->slowest ? ncs_rank_before(progress->slowest) : NULL;

	return before && ncs_progress_behind(progress) > 0 &&
	       before->functions[function].last_sequence_number ==
		       progress->least;
}

bool ncs_rank_is_held_up(const struct ncs_rank *rank)
{
	const struct ncs_communicator *communicator = rank->communicator;
	const struct ncs_counters *before = ncs_rank_before(rank);
	unsigned function =
		communicator ? communicator->function : NCS_FUNCTION_COUNT;
	uint64_t number;

	if (!before || function == NCS_FUNCTION_COUNT ||
	    communicator->progress.known == 0)
		return false;
	number = rank->now.functions[function].last_sequence_number;
	return number != NCS_NO_SEQUENCE_NUMBER &&
	       number < communicator->progress.most &&
	       before->functions[function].last_sequence_number == number;
}

static void count_in_flight(const struct ncs_communicator *communicator,
			    size_t *in_flight)
{
	memset(in_flight, 0, NCS_FUNCTION_COUNT * sizeof(*in_flight));
	for (size_t i = 0; i < communicator->rank_count; i++) {
		const struct ncs_snapshot *now = &communicator->ranks[i]->now;

		/* The rank is in its oldest operation. */
		if (now->operation_count > 0 &&
		    now->operations[0].function < NCS_FUNCTION_COUNT)
			in_flight[now->operations[0].function]++;
	}
}

/* How well a function shows the progress of its communicator. Functions are
 * compared by the first field that differs. */
struct function_weight {
	uint64_t behind;
	uint64_t in_flight;
	uint64_t most;
};

static bool is_more(const struct function_weight *a,
		    const struct function_weight *b)
{
	if (a->behind != b->behind)
		return a->behind > b->behind;
	if (a->in_flight != b->in_flight)
		return a->in_flight > b->in_flight;
	return a->most > b->most;
}

static void find_function(struct ncs_communicator *communicator)
{
	size_t in_flight[NCS_FUNCTION_COUNT];
	struct function_weight best = { 0 };

	communicator->function = NCS_FUNCTION_COUNT;
	count_in_flight(communicator, in_flight);
	for (unsigned i = 0; i < NCS_FUNCTION_COUNT; i++) {
		struct ncs_progress found;
		struct function_weight weight;

		ncs_communicator_progress(communicator, i, &found);
		weight = (struct function_weight){ ncs_progress_behind(&found),
						   in_flight[i], found.most };
		if (found.known == 0 ||
		    (communicator->function < NCS_FUNCTION_COUNT &&
		     !is_more(&weight, &best)))
			continue;
		best = weight;
		communicator->function = i;
		communicator->progress = found;
	}
}

/* --- All of it ------------------------------------------------------------ */

static void add_rate(double *sum, double rate)
{
	if (rate >= 0)
		*sum = (*sum >= 0 ? *sum : 0) + rate;
}

static void add_rates(struct ncs_communicator *communicator)
{
	communicator->operations_rate = -1;
	communicator->most_operations_rate = -1;
	communicator->send_rate = -1;
	communicator->recv_rate = -1;
	for (size_t i = 0; i < communicator->rank_count; i++) {
		const struct ncs_rank *rank = communicator->ranks[i];
		double rate = ncs_rank_operations_rate(rank);

		add_rate(&communicator->operations_rate, rate);
		if (rate > communicator->most_operations_rate)
			communicator->most_operations_rate = rate;
		add_rate(&communicator->send_rate,
			 ncs_rank_bytes_rate(rank, true));
		add_rate(&communicator->recv_rate,
			 ncs_rank_bytes_rate(rank, false));
	}
}

static void add_rank(struct ncs_communicator *communicator,
		     const struct ncs_rank *rank)
{
	if (!communicator->identity ||
	    __builtin_popcountll(rank->now.identity.known) >
		    __builtin_popcountll(communicator->identity->known))
		communicator->identity = &rank->now.identity;
	communicator->functions |= rank->functions;
	communicator->live += ncs_rank_is_live(rank);
	communicator->silent += rank->now.liveness == NCS_SILENT;
	communicator->finished += rank->now.liveness == NCS_FINISHED;
	communicator->dead += rank->now.liveness == NCS_DEAD;
	communicator->lost += ncs_rank_lost(rank);
	ncs_oldest_add(&communicator->oldest, rank);
}

static void sum_up(struct ncs_communicator *communicator,
		   struct ncs_rank **ranks, size_t count, uint64_t job)
{
	*communicator = (struct ncs_communicator){
		.ranks = ranks,
		.rank_count = count,
	};
	set_key(communicator, job);
	for (size_t i = 0; i < count; i++)
		add_rank(communicator, ranks[i]);
	add_rates(communicator);
	find_function(communicator);
}

/* Returns the end of the communicator whose ranks begin at `from`. */
static size_t group_end(const struct ncs_model *model, size_t from)
{
	size_t end = from + 1;

	while (end < model->rank_count &&
	       compare_communicators(model->members[from],
				     model->members[end]) == 0)
		end++;
	return end;
}

static int sort_members(struct ncs_model *model)
{
	struct ncs_rank **members;
	size_t count = model->rank_count;

	if (ncs_array_reserve(&model->members, &model->member_capacity, count,
			      sizeof(*model->members)) != 0)
		return -ENOMEM;
	members = model->members;
	for (size_t i = 0; i < count; i++) {
		members[i] = model->ranks[i];
		members[i]->communicator = NULL;
	}
	if (count > 1)
		qsort(members, count, sizeof(struct ncs_rank *),
		      compare_members);
	return 0;
}

/* Adds the communicators of ranks that have the same id. The first rank of each job
 * tells it apart: only the split tells which that is. */
static int add_group(struct ncs_model *model, size_t from, size_t end)
{
	size_t first = from;

	while (from < end) {
		size_t count = split_jobs(&model->members[from], end - from);
		uint64_t job = from == first ?
				       0 :
				       created_ns(model->members[from]);

		if (ncs_array_reserve(&model->communicators,
				      &model->communicator_capacity,
				      model->communicator_count + 1,
				      sizeof(*model->communicators)) != 0)
			return -ENOMEM;
		sum_up(&model->communicators[model->communicator_count++],
		       &model->members[from], count, job);
		from += count;
	}
	return 0;
}

static int compare_numbers(const void *left, const void *right)
{
	struct ncs_rank *const *a = left, *const *b = right;
	int32_t of_a = (*a)->now.identity.rank, of_b = (*b)->now.identity.rank;

	return of_a != of_b ? (of_a > of_b) - (of_a < of_b) :
			      ncs_rank_compare(*a, *b);
}

/* Sorts the ranks of all communicators by their numbers. */
static int sort_numbered(struct ncs_model *model)
{
	struct ncs_rank **at;

	if (ncs_array_reserve(&model->numbered, &model->numbered_capacity,
			      model->rank_count + 1,
			      sizeof(*model->numbered)) != 0)
		return -ENOMEM;
	at = model->numbered;
	for (size_t i = 0; i < model->communicator_count; i++) {
		struct ncs_communicator *communicator =
			&model->communicators[i];

		communicator->numbered = at;
		for (size_t k = 0; k < communicator->rank_count; k++)
			if (communicator->ranks[k]->now.identity.known &
			    NCS_KNOWN_RANK)
				*at++ = communicator->ranks[k];
		communicator->numbered_count =
			(size_t)(at - communicator->numbered);
		if (communicator->numbered_count > 1)
			qsort(communicator->numbered,
			      communicator->numbered_count, sizeof(*at),
			      compare_numbers);
	}
	return 0;
}

int ncs_communicators_find(struct ncs_model *model)
{
	size_t end;

	model->communicator_count = 0;
	if (sort_members(model) != 0)
		return -ENOMEM;
	for (size_t i = 0; i < model->rank_count; i = end) {
		end = group_end(model, i);
		if (add_group(model, i, end) != 0) {
			model->communicator_count = 0;
			return -ENOMEM;
		}
	}
	if (sort_numbered(model) != 0) {
		model->communicator_count = 0;
		return -ENOMEM;
	}
	if (model->communicator_count > 1)
		qsort(model->communicators, model->communicator_count,
		      sizeof(*model->communicators), compare_places);
	for (size_t i = 0; i < model->communicator_count; i++)
		for (size_t k = 0; k < model->communicators[i].rank_count; k++)
			model->communicators[i].ranks[k]->communicator =
				&model->communicators[i];
	if (model->communicator_count == 1)
		model->communicators[0].is_only = true;
	return 0;
}

void ncs_communicators_rate(struct ncs_model *model)
{
	for (size_t i = 0; i < model->communicator_count; i++)
		add_rates(&model->communicators[i]);
}

void ncs_communicators_release(struct ncs_model *model)
{
	free(model->communicators);
	free(model->members);
	free(model->numbered);
	model->communicators = NULL;
	model->members = NULL;
	model->numbered = NULL;
	model->communicator_count = model->communicator_capacity = 0;
	model->member_capacity = model->numbered_capacity = 0;
}

const struct ncs_communicator *
ncs_communicator_of_key(const struct ncs_model *model, const char *key)
{
	for (size_t i = 0; i < model->communicator_count; i++)
		if (strcmp(model->communicators[i].key, key) == 0)
			return &model->communicators[i];
	return NULL;
}

size_t ncs_communicator_unseen(const struct ncs_communicator *communicator)
{
	const struct ncs_identity *identity = communicator->identity;

	if (!(identity->known & NCS_KNOWN_NRANKS) || identity->nranks < 0 ||
	    (size_t)identity->nranks <= communicator->rank_count)
		return 0;
	return (size_t)identity->nranks - communicator->rank_count;
}

bool ncs_is_seen_whole(const struct ncs_communicator *communicator)
{
	const struct ncs_identity *identity = communicator->identity;

	for (size_t i = 0; i < communicator->rank_count; i++)
		if (communicator->ranks[i]->is_past)
			return false;
	return identity->known & NCS_KNOWN_NRANKS && identity->nranks >= 0 &&
	       ncs_communicator_unseen(communicator) == 0;
}

size_t ncs_communicator_judged(const struct ncs_communicator *communicator)
{
	return communicator->live > 0 ? communicator->live :
					communicator->rank_count;
}

const struct ncs_rank *ncs_peer_rank(const struct ncs_rank *rank, int peer)
{
	const struct ncs_communicator *communicator = rank->communicator;
	size_t low = 0, high = communicator ? communicator->numbered_count : 0;
	const struct ncs_rank *found = NULL;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (communicator->numbered[middle]->now.identity.rank < peer)
			low = middle + 1;
		else
			high = middle;
	}
	for (; communicator && low < communicator->numbered_count; low++) {
		const struct ncs_rank *other = communicator->numbered[low];

		if (other->now.identity.rank != peer)
			break;
		if (other != rank && (!found || ncs_rank_is_live(other)))
			found = other;
	}
	return found;
}
