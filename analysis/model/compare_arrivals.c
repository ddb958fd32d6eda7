/* SPDX-License-Identifier: MIT */
/* Compares arrivals; see lateness_state.h. Must not guess: an operation that is
 * not known of every rank compared, or of which only the host's times are known,
 * does not count for any of them. Work that others may have done while they waited
 * counts as theirs.
 */
#include "analysis/model/lateness_state.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/base/collective_waits.h"
#include "analysis/base/estimate.h"
#include "analysis/base/heap.h"
#include "analysis/model/communicators.h"
#include "analysis/model/model.h"
#include "analysis/records/parts.h"
#include "shm/array.h"

/* Number of parts of incomplete operations that are kept of each rank. */
#define PARTS_PER_RANK 256u

/* --- What is kept --------------------------------------------------------- */

void ncs_late_rank_free(struct ncs_late_rank *late)
{
	if (!late)
		return;
	ncs_distribution_release(&late->late);
	ncs_distribution_release(&late->exclusive);
	free(late->transfers);
	free(late->spans);
	free(late);
}

static void skew_free(struct ncs_skew_state *state)
{
	ncs_join_free(state->join);
	ncs_moving_release(&state->moving);
	ncs_links_release(&state->links);
	free(state);
}

void ncs_stragglers_release(struct ncs_model *model)
{
	struct ncs_skews *skews = model->skews;

	if (!skews)
		return;
	for (size_t i = 0; i < skews->count; i++)
		skew_free(skews->states[i]);
	ncs_costs_free(skews->costs);
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

static struct ncs_join *new_join(const struct ncs_communicator *communicator)
{
	return ncs_join_new(PARTS_PER_RANK * (communicator->rank_count + 1),
			    false);
}

/* Returns a new state of a communicator; NULL if there is no memory. */
static struct ncs_skew_state *
skew_new(const struct ncs_communicator *communicator)
{
	struct ncs_skew_state *state = calloc(1, sizeof(*state));

	if (!state)
		return NULL;
	memcpy(state->key, communicator->key, sizeof(state->key));
	state->join = new_join(communicator);
	if (state->join)
		return state;
	free(state);
	return NULL;
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
	state = skew_new(communicator);
	if (state)
		skews->states[skews->count++] = state;
	return state;
}

/* Drops the states of communicators that are gone. */
static void drop_skews(struct ncs_skews *skews)
{
	size_t kept = 0;

	for (size_t i = 0; i < skews->count; i++) {
		if (skews->states[i]->is_there)
			skews->states[kept++] = skews->states[i];
		else
			skew_free(skews->states[i]);
	}
	skews->count = kept;
}

/* --- One operation -------------------------------------------------------- */

static bool is_root(const struct ncs_comparison *comparison, size_t i)
{
	return ncs_joined_is_root(comparison->joined,
				  &comparison->joined->parts[i]);
}

/* Returns the largest error of the time between two parts' arrivals. */
static uint64_t error_between(const struct ncs_comparison *comparison, size_t a,
			      size_t b)
{
	const struct ncs_joined *joined = comparison->joined;

	return ncs_parts_error_ns(&joined->parts[a], joined->arrival,
				  &joined->parts[b], joined->arrival);
}

/* Finds the rank of each part. Returns false if one is gone, or if there is
 * only one. */
static bool find_ranks(struct ncs_comparison *comparison,
		       const struct ncs_communicator *communicator)
{
	const struct ncs_joined *joined = comparison->joined;

	if (joined->count < 2 || joined->count > communicator->rank_count)
		return false;
	for (size_t i = 0; i < joined->count; i++) {
		struct ncs_rank *found = NULL;

		for (size_t k = 0; k < communicator->rank_count && !found;
		     k++) {
			/* Mostly, all ranks have a part. */
			size_t place = (i + k) % communicator->rank_count;

			if (communicator->ranks[place]->serial ==
			    joined->parts[i].owner)
				found = communicator->ranks[place];
		}
		comparison->ranks[i] = found;
		if (!found)
			return false;
	}
	return true;
}

/* Returns false unless all parts name the same root, and it has a part, or the
 * function has no root. */
static bool has_one_root(const struct ncs_joined *joined)
{
	bool is_there = false;

	if (joined->wait_rule == NCS_WAIT_FOR_ALL ||
	    ncs_joined_is_transfer(joined))
		return true;
	for (size_t i = 0; i < joined->count; i++) {
		if (joined->parts[i].peer != joined->parts[0].peer)
			return false;
		is_there |= ncs_joined_is_root(joined, &joined->parts[i]);
	}
	return is_there;
}

/* Finds which parts arrived last, and how long all waited for the last one. */
static void find_order(struct ncs_comparison *comparison)
{
	size_t count = comparison->joined->count;
	uint64_t last_ns;

	comparison->last = 0;
	for (size_t i = 1; i < count; i++)
		if (ncs_arrival_ns(comparison, i) >
		    ncs_arrival_ns(comparison, comparison->last))
			comparison->last = i;
	last_ns = ncs_arrival_ns(comparison, comparison->last);
	comparison->second = comparison->last == 0;
	comparison->error_ns = 0;
	for (size_t i = 0; i < count; i++) {
		uint64_t error_ns =
			error_between(comparison, i, comparison->last);

		if (i == comparison->last)
			continue;
		if (ncs_arrival_ns(comparison, i) >
		    ncs_arrival_ns(comparison, comparison->second))
			comparison->second = i;
		if (error_ns > comparison->error_ns)
			comparison->error_ns = error_ns;
	}
	comparison->exclusive_ns = ncs_time_since(
		ncs_arrival_ns(comparison, comparison->second), last_ns);
	/* Within the error of the clocks, another one may have been later. */
	for (size_t i = 0; i < count; i++)
		if (i != comparison->last &&
		    ncs_time_since(ncs_arrival_ns(comparison, i), last_ns) <=
			    error_between(comparison, i, comparison->last))
			comparison->exclusive_ns = 0;
}

/* Returns the first to arrive of the parts that wait for others; their number if none
 * does. */
static size_t first_waiting(const struct ncs_comparison *comparison)
{
	size_t count = comparison->joined->count, first = count;

	for (size_t i = 0; i < count; i++)
		if (ncs_is_waiting(comparison->joined->wait_rule,
				   is_root(comparison, i)) &&
		    (first == count ||
		     ncs_arrival_ns(comparison, i) <
			     ncs_arrival_ns(comparison, first)))
			first = i;
	return first;
}

/* --- Why a rank came last --------------------------------------------------- */

/* Returns how much of the time for which all waited for the last part alone its
 * process took by itself: it needed so much longer since its last operation than
 * the process of the last but one. The rest it lost before, in operations that
 * ended late. */
static uint64_t own_ns(const struct ncs_comparison *comparison)
{
	uint64_t late_ns = comparison->exclusive_ns;
	uint64_t last_ns = comparison->before_last.end_ns;
	uint64_t second_ns = comparison->before_second.end_ns;
	uint64_t usual_ns = 0, took_ns, own_ns;

	if (last_ns == 0)
		return late_ns;
	took_ns = ncs_arrival_ns(comparison, comparison->last) - last_ns;
	if (second_ns != 0)
		usual_ns = ncs_arrival_ns(comparison, comparison->second) -
			   second_ns;
	own_ns = ncs_time_since(usual_ns, took_ns);
	return own_ns < late_ns ? own_ns : late_ns;
}

/* Returns how much of a wait for the first data of the last part its proxy
 * thread took: the time since its kernel began, beyond what the last part but
 * one took for that. Without kernels' times, the time that the thread took to
 * look at the operation. */
static uint64_t proxy_ns(const struct ncs_comparison *comparison)
{
	const struct ncs_joined *joined = comparison->joined;
	const struct ncs_part *last = &joined->parts[comparison->last];
	const struct ncs_part *second = &joined->parts[comparison->second];
	enum ncs_moment from = NCS_MOMENT_KERNEL, until = NCS_MOMENT_DATA;
	uint64_t usual_ns, error_ns;

	if (joined->arrival != NCS_MOMENT_DATA)
		return 0;
	if (last->at_ns[from] == 0 || second->at_ns[from] == 0) {
		from = NCS_MOMENT_OPERATION;
		until = NCS_MOMENT_PROXY;
	}
	error_ns = ncs_part_error_ns(last, from) +
		   ncs_part_error_ns(second, from) + NCS_LAUNCH_NS;
	usual_ns = ncs_time_since(second->at_ns[from], second->at_ns[until]);
	usual_ns = ncs_time_since(usual_ns, ncs_time_since(last->at_ns[from],
							   last->at_ns[until]));
	return usual_ns > error_ns ? usual_ns : 0;
}

/* Returns when the kernel of a part could begin; 0 if that is not known. */
static uint64_t begun_ns(const struct ncs_part *part)
{
	return part->at_ns[NCS_MOMENT_STREAM] != 0 ?
		       part->at_ns[NCS_MOMENT_STREAM] :
		       part->at_ns[NCS_MOMENT_KERNEL];
}

/* Returns for how long all waited for the data of the last part although its kernel
 * could begin: beyond the time that the last part but one took for that. Its proxy
 * thread was late, or its GPU had no room for the kernel. */
static uint64_t data_late_ns(const struct ncs_comparison *comparison)
{
	const struct ncs_joined *joined = comparison->joined;
	const struct ncs_part *last = &joined->parts[comparison->last];
	const struct ncs_part *second = &joined->parts[comparison->second];
	uint64_t late_ns;

	if (joined->arrival != NCS_MOMENT_DATA)
		return 0;
	if (begun_ns(last) == 0 || begun_ns(second) == 0)
		return proxy_ns(comparison);
	late_ns = ncs_time_since(ncs_time_since(begun_ns(second),
						second->at_ns[NCS_MOMENT_DATA]),
				 ncs_time_since(begun_ns(last),
						last->at_ns[NCS_MOMENT_DATA]));
	return late_ns < comparison->exclusive_ns ? late_ns :
						    comparison->exclusive_ns;
}

/* Splits the time for which all waited for the last part alone by cause. A peer's is
 * the time that its process lost in operations that ended late. In the rest, a
 * launch counts if others were there before it, and if the last operation of
 * the process had ended before it: then the stream was empty, and all that
 * follows is later by as much as the launch was. The stream's is all else that
 * follows the launch. */
static void split_wait(const struct ncs_comparison *comparison,
		       uint64_t cause_ns[NCS_LATE_CAUSE_COUNT])
{
	const struct ncs_joined *joined = comparison->joined;
	const struct ncs_part *part = &joined->parts[comparison->last];
	const struct ncs_part *second = &joined->parts[comparison->second];
	uint64_t launched_ns = part->at_ns[NCS_MOMENT_OPERATION];
	uint64_t later_ns = ncs_time_since(second->at_ns[NCS_MOMENT_OPERATION],
					   launched_ns);
	uint64_t late_ns = own_ns(comparison), peer_ns;
	uint64_t by_proxy_ns = proxy_ns(comparison);
	uint64_t host_ns = ncs_time_since(
		ncs_arrival_ns(comparison, comparison->second), launched_ns);

	peer_ns = comparison->exclusive_ns - late_ns;
	if (by_proxy_ns > late_ns)
		by_proxy_ns = late_ns;
	late_ns -= by_proxy_ns;
	if (launched_ns > comparison->before_last.end_ns &&
	    later_ns > NCS_LAUNCH_NS && later_ns > host_ns)
		host_ns = later_ns;
	if (host_ns > late_ns || joined->arrival == NCS_MOMENT_PROXY ||
	    ncs_time_since(launched_ns,
			   ncs_arrival_ns(comparison, comparison->last)) <=
		    NCS_LAUNCH_NS)
		host_ns = late_ns;
	cause_ns[NCS_LATE_PEER] = peer_ns;
	cause_ns[NCS_LATE_PROXY] = by_proxy_ns;
	cause_ns[NCS_LATE_HOST] = host_ns;
	cause_ns[NCS_LATE_STREAM] = late_ns - host_ns;
}

/* Returns what the last rank but one did before: NCS_BEFORE_QUEUED if it began
 * as soon as the operation before of its process had ended. */
static enum ncs_late_before work_before(const struct ncs_comparison *comparison)
{
	uint64_t before_ns = comparison->before_second.end_ns;

	if (before_ns == 0)
		return NCS_BEFORE_UNKNOWN;
	return before_ns + NCS_LAUNCH_NS >
			       ncs_arrival_ns(comparison, comparison->second) ?
		       NCS_BEFORE_QUEUED :
		       NCS_BEFORE_WORK;
}

/* --- Taking note ---------------------------------------------------------- */

/* Notes how late part i came. Returns 0, or -ENOMEM; then its lateness does not
 * count. */
static int note_part(struct ncs_comparison *comparison, size_t i,
		     uint64_t than_ns, uint64_t *late_ns)
{
	const struct ncs_part *part = &comparison->joined->parts[i];
	struct ncs_late_rank *late = late_of(comparison->ranks[i]);
	bool is_transfer = ncs_joined_is_transfer(comparison->joined);
	struct ncs_late_ring *ring;
	bool is_last = comparison->exclusive_ns > 0 && i == comparison->last;
	struct ncs_late_part recent = {
		.number = part->number,
		.ready_ns = ncs_arrival_ns(comparison, comparison->last),
		.late_ns =
			ncs_time_since(than_ns, ncs_arrival_ns(comparison, i)),
		.exclusive_ns = is_last ? comparison->exclusive_ns : 0,
		.before = (uint8_t)comparison->before,
		.error_ns = comparison->error_ns,
		.function = part->function,
		.moment = (uint8_t)comparison->joined->arrival,
		.kernel_is_unknown = is_last &&
				     comparison->joined->arrival ==
					     NCS_MOMENT_DATA &&
				     part->at_ns[NCS_MOMENT_KERNEL] == 0,
	};

	*late_ns = recent.late_ns;
	if (late && recent.error_ns > late->error_ns)
		late->error_ns = recent.error_ns;
	if (late && late->first_ns == 0)
		late->first_ns = recent.ready_ns;
	if (!late ||
	    ncs_distribution_count(&late->late,
				   ncs_histogram_bucket(recent.late_ns)) != 0)
		return -ENOMEM;
	if (is_last) {
		split_wait(comparison, recent.cause_ns);
		comparison->data_late_ns = data_late_ns(comparison);
		recent.own_ns =
			recent.exclusive_ns - recent.cause_ns[NCS_LATE_PEER];
		for (unsigned k = 0; k < NCS_LATE_CAUSE_COUNT; k++)
			late->cause_ns[recent.before == NCS_BEFORE_QUEUED][k] +=
				recent.cause_ns[k];
		if (recent.cause_ns[NCS_LATE_HOST] > late->longest_host_ns)
			late->longest_host_ns = recent.cause_ns[NCS_LATE_HOST];
		late->last++;
		late->queued += recent.before == NCS_BEFORE_QUEUED;
		if (ncs_distribution_count(
			    &late->exclusive,
			    ncs_histogram_bucket(recent.exclusive_ns)) != 0)
			return -ENOMEM;
	}
	if (is_transfer && !late->transfers)
		late->transfers = calloc(1, sizeof(*late->transfers));
	ring = is_transfer ? late->transfers : &late->collectives;
	if (ring)
		ring->recent[ring->operations++ % NCS_LATENESS_RECENT] = recent;
	late->is_viewed = false;
	return ring ? 0 : -ENOMEM;
}

/* Notes the operation in its communicator. */
static void note_skew(struct ncs_skew_state *state,
		      const struct ncs_comparison *comparison, uint64_t skew_ns)
{
	const struct ncs_joined *joined = comparison->joined;
	struct ncs_moving_part moving = { 0 };
	bool is_moving = ncs_joined_moving(joined, &moving);

	state->recent[state->view.all++ % NCS_LATENESS_RECENT] =
		(struct ncs_skew_part){
			.skew_ns = skew_ns,
			.error_ns = comparison->error_ns,
			.moving_ns = moving.end_ns - moving.begin_ns,
			.moving_error_ns = moving.error_ns,
			.is_moving = is_moving,
		};
	state->view.ranks = joined->count;
	state->is_viewed = false;
}

/* Compares the parts of an operation. Returns 0 or -ENOMEM. */
static int compare(struct ncs_comparison *comparison,
		   struct ncs_skew_state *state)
{
	const struct ncs_joined *joined = comparison->joined;
	uint64_t skew_ns = 0, late_ns, than_ns;
	size_t first = first_waiting(comparison);
	int error = 0;

	find_order(comparison);
	comparison->before_last =
		ncs_operation_before(comparison, comparison->last);
	comparison->before_second =
		ncs_operation_before(comparison, comparison->second);
	comparison->before = work_before(comparison);
	if (first == joined->count)
		return 0;
	than_ns = ncs_arrival_ns(comparison, first);
	for (size_t i = 0; i < joined->count; i++) {
		if (!ncs_is_awaited(joined->wait_rule, is_root(comparison, i)))
			continue;
		error |= note_part(comparison, i, than_ns, &late_ns);
		if (late_ns > skew_ns)
			skew_ns = late_ns;
	}
	note_skew(state, comparison, skew_ns);
	return error;
}

static int take_joined(struct ncs_comparison *comparison,
		       const struct ncs_communicator *communicator,
		       const struct ncs_joined *joined)
{
	bool is_told = joined->arrival != NCS_MOMENT_OPERATION;
	bool is_compared;
	int error;

	comparison->joined = joined;
	comparison->data_late_ns = 0;
	ncs_unlike_calls_note(&communicator->skew->unlike, joined);
	if (!joined->is_complete || !find_ranks(comparison, communicator))
		return 0;
	for (size_t i = 0; i < joined->count; i++) {
		struct ncs_late_rank *late = late_of(comparison->ranks[i]);

		if (!late)
			return -ENOMEM;
		late->count.unknown += !is_told;
	}
	/* Its cost is not known, and neither is that of operations around it. */
	if (!is_told)
		return ncs_costs_note(comparison, communicator);
	error = ncs_moving_note(&communicator->skew->moving, joined);
	error |= ncs_links_note(&communicator->skew->links, joined,
				comparison->ranks);
	is_compared = ncs_past_is_known(comparison);
	for (size_t i = 0; i < joined->count; i++)
		comparison->ranks[i]->late->count.compared += is_compared;
	if (is_compared && has_one_root(joined))
		error |= compare(comparison, communicator->skew);
	error |= ncs_costs_note(comparison, communicator);
	ncs_spans_correct(comparison);
	return error;
}

/* --- All operations ------------------------------------------------------- */

/* Returns the first rank of the communicator that a rank can be compared with:
 * its number stands for their clocks. */
static const struct ncs_rank *
first_of_clock(const struct ncs_communicator *communicator,
	       const struct ncs_rank *rank)
{
	for (size_t i = 0; i < communicator->rank_count; i++)
		if (ncs_is_comparable(communicator->ranks[i], rank))
			return communicator->ranks[i];
	return rank;
}

/* Adds a rank's part to the operations of its communicator. Parts by clocks
 * that cannot be compared are never joined: the clock stands for the
 * communicator. */
static int take_part(const struct ncs_communicator *communicator,
		     struct ncs_rank *rank, uint64_t clock,
		     const struct ncs_part *part)
{
	struct ncs_late_rank *late = late_of(rank);
	struct ncs_part taken = *part;
	int error = 0;

	if (!late)
		return -ENOMEM;
	if (part->flags & NCS_PART_P2P && part->peer != part->rank) {
		late->transfer_count++;
		late->unnumbered += part->number == NCS_NO_SEQUENCE_NUMBER;
	}
	/* A rank that is alone waits for nobody. */
	if (part->nranks != 1)
		error = ncs_spans_add(late, part);
	if (part->number == NCS_NO_SEQUENCE_NUMBER ||
	    (part->flags & NCS_PART_P2P ?
		     part->peer == part->rank :
		     ncs_wait_rule_of(part->function) == NCS_WAIT_FOR_NONE))
		return error;
	late->count.seen++;
	taken.comm_id = clock;
	if (!(part->flags & NCS_PART_P2P) &&
	    part->function < NCS_FUNCTION_COUNT)
		ncs_numbers_note(&late->numbers[part->function], &taken,
				 ncs_parts_count(rank->parts)->lost);
	return error | ncs_join_add(communicator->skew->join, &taken);
}

/* Finds out how many ranks most others are not compared with. */
static void count_clocks(struct ncs_communicator *communicator)
{
	size_t most = 0;

	for (size_t i = 0; i < communicator->rank_count; i++) {
		size_t count = 0;

		if (first_of_clock(communicator, communicator->ranks[i]) !=
		    communicator->ranks[i])
			continue;
		for (size_t k = i; k < communicator->rank_count; k++)
			count += ncs_is_comparable(communicator->ranks[k],
						   communicator->ranks[i]);
		if (count > most)
			most = count;
	}
	communicator->other_clocks = communicator->rank_count - most;
}

/* Announces the ranks that have records, and says which clock each has. */
static int announce(const struct ncs_communicator *communicator)
{
	int error = 0;

	for (size_t i = 0; i < communicator->rank_count; i++) {
		struct ncs_rank *rank = communicator->ranks[i];
		uint32_t clock = 0;

		if (!rank->parts)
			continue;
		while (clock < i &&
		       !ncs_shares_clock(communicator->ranks[clock], rank))
			clock++;
		ncs_parts_set_clock(rank->parts, clock, rank->clock_error_ns,
				    rank->clock_is_by_realtime);
		if (rank->now.identity.known & NCS_KNOWN_RANK)
			error |= ncs_join_expect(
				communicator->skew->join,
				first_of_clock(communicator, rank)->serial,
				rank->now.identity.rank);
	}
	return error;
}

/* Joins the parts that have come. Nothing more comes from a rank that has
 * ended. */
static int take_parts(const struct ncs_communicator *communicator)
{
	int error = 0;

	for (size_t i = 0; i < communicator->rank_count; i++) {
		struct ncs_rank *rank = communicator->ranks[i];
		uint64_t clock = first_of_clock(communicator, rank)->serial;
		const struct ncs_part *part;

		if (!rank->parts)
			continue;
		while ((part = ncs_parts_next(rank->parts)))
			error |= take_part(communicator, rank, clock, part);
	}
	for (size_t i = 0; i < communicator->rank_count; i++) {
		const struct ncs_rank *rank = communicator->ranks[i];

		if (rank->parts && !ncs_rank_is_live(rank) &&
		    rank->now.identity.known & NCS_KNOWN_RANK)
			error |= ncs_join_forget(
				communicator->skew->join,
				first_of_clock(communicator, rank)->serial,
				rank->now.identity.rank);
	}
	return error;
}

static bool has_parts(const struct ncs_communicator *communicator)
{
	for (size_t i = 0; i < communicator->rank_count; i++)
		if (communicator->ranks[i]->parts)
			return true;
	return false;
}

/* Forgets times by which those that come now cannot be judged, where clocks of
 * the communicator were moved. Returns 0 or -ENOMEM. */
static int forget_moved(const struct ncs_communicator *communicator)
{
	struct ncs_join *join;
	bool moved = false;

	for (size_t i = 0; i < communicator->rank_count; i++) {
		struct ncs_rank *rank = communicator->ranks[i];

		if (!rank->has_moved)
			continue;
		moved = true;
		if (rank->late)
			ncs_spans_drop_all(rank->late);
	}
	if (!moved)
		return 0;
	join = new_join(communicator);
	if (!join)
		return -ENOMEM;
	ncs_join_free(communicator->skew->join);
	communicator->skew->join = join;
	return 0;
}

/* Joins what has come of a communicator. Returns 0 or -ENOMEM. */
static int join_all(struct ncs_model *model,
		    struct ncs_communicator *communicator)
{
	int error;

	if (!has_parts(communicator))
		return 0;
	communicator->skew = skew_of(model, communicator);
	if (!communicator->skew)
		return -ENOMEM;
	communicator->skew->is_there = true;
	error = forget_moved(communicator);
	error |= announce(communicator);
	error |= take_parts(communicator);
	ncs_join_advance(communicator->skew->join, model->now_ns);
	count_clocks(communicator);
	return error;
}

/* An operation that is joined, and its communicator. */
struct next_joined {
	const struct ncs_joined *joined;
	const struct ncs_communicator *communicator;
};

static bool ends_before(const void *left, const void *right)
{
	const struct next_joined *a = left, *b = right;

	return a->joined->turn_ns < b->joined->turn_ns;
}

/* Compares the operations that are joined, in the order of their turns over all
 * communicators: what a rank did before is known then. `next` has room for all
 * communicators. Returns 0 or -ENOMEM. */
static int compare_all(struct ncs_comparison *comparison,
		       struct next_joined *next)
{
	const struct ncs_model *model = comparison->model;
	struct ncs_heap heap = { 0 };
	struct next_joined *first;
	int error = 0;

	for (size_t i = 0; i < model->communicator_count; i++) {
		next[i].communicator = &model->communicators[i];
		if (!next[i].communicator->skew)
			continue;
		next[i].joined =
			ncs_join_next(next[i].communicator->skew->join);
		if (next[i].joined)
			error |= ncs_heap_push(&heap, &next[i], ends_before);
	}
	while ((first = ncs_heap_pop(&heap, ends_before))) {
		error |= take_joined(comparison, first->communicator,
				     first->joined);
		first->joined = ncs_join_next(first->communicator->skew->join);
		if (first->joined)
			error |= ncs_heap_push(&heap, first, ends_before);
	}
	ncs_heap_release(&heap);
	for (size_t i = 0; i < model->communicator_count; i++)
		if (model->communicators[i].skew)
			ncs_moving_update(&model->communicators[i].skew->moving,
					  model->now_ns);
	return error;
}

/* Ends the ranks' moves: what was kept of them is forgotten. */
static void end_moves(struct ncs_model *model)
{
	bool moved = false;

	for (size_t i = 0; i < model->rank_count; i++) {
		moved |= model->ranks[i]->has_moved;
		model->ranks[i]->has_moved = false;
	}
	if (moved && model->skews)
		ncs_costs_forget(model->skews->costs);
}

int ncs_stragglers_update(struct ncs_model *model)
{
	struct ncs_comparison comparison = {
		.model = model,
		.ranks = calloc(model->rank_count + 1,
				sizeof(struct ncs_rank *)),
	};
	struct next_joined *next =
		calloc(model->communicator_count + 1, sizeof(*next));
	int error = comparison.ranks && next ? 0 : -ENOMEM;

	for (size_t i = 0; model->skews && i < model->skews->count; i++)
		model->skews->states[i]->is_there = false;
	for (size_t i = 0; i < model->communicator_count; i++)
		error |= join_all(model, &model->communicators[i]);
	end_moves(model);
	ncs_spans_find_pasts(model);
	/* By then it is known of all communicators what they did. */
	if (comparison.ranks && next)
		error |= compare_all(&comparison, next);
	for (size_t i = 0; i < model->rank_count; i++)
		if (model->ranks[i]->late)
			ncs_spans_drop_old(model->ranks[i]->late);
	if (model->skews) {
		ncs_costs_update(model->skews->costs, model->now_ns,
				 model->costs_every_times);
		drop_skews(model->skews);
	}
	error |= ncs_links_find_jobs(model);
	free(comparison.ranks);
	free(next);
	return error ? -ENOMEM : 0;
}
