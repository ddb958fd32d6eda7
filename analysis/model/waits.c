/* SPDX-License-Identifier: MIT */
/* Waits from the states of channels and the progress of launches; see waits.h. Must
 * not guess: where a rank cannot be seen, what it does is not known. Must not judge. */
#include "analysis/model/waits.h"

#include "analysis/base/collective_waits.h"
#include "analysis/base/lookup.h"
#include "analysis/model/communicators.h"
#include "analysis/model/lateness_state.h"
#include "analysis/model/model.h"

/* clang-format off */
NCS_DEFINE_LOOKUP(ncs_launch_wait_name, NCS_LAUNCH_WAITS, NCS_NAME, "unknown")
NCS_DEFINE_LOOKUP(ncs_launch_wait_help, NCS_LAUNCH_WAITS, NCS_HELP, "unknown")
/* clang-format on */

/* --- Channels ------------------------------------------------------------- */

uint64_t ncs_age_ns(const struct ncs_rank *rank, uint64_t since_ns)
{
	uint64_t end_ns = ncs_rank_end_ns(rank);

	return since_ns != 0 && end_ns > since_ns ? end_ns - since_ns : 0;
}

uint64_t ncs_wait_ns(const struct ncs_rank *rank,
		     const struct ncs_channel_view *channel)
{
	return channel->state != NCS_CHANNEL_IDLE ?
		       ncs_age_ns(rank, channel->since_ns) :
		       0;
}

struct ncs_wait ncs_oldest_wait(const struct ncs_rank *rank)
{
	struct ncs_wait oldest = { .rank = rank };

	for (size_t i = 0; i < rank->now.channel_count; i++) {
		const struct ncs_channel_view *channel = &rank->now.channels[i];
		uint64_t duration_ns = ncs_wait_ns(rank, channel);

		if (channel->state == NCS_CHANNEL_IDLE ||
		    (oldest.channel && duration_ns <= oldest.duration_ns))
			continue;
		oldest.channel = channel;
		oldest.duration_ns = duration_ns;
	}
	return oldest;
}

uint64_t ncs_job_end_ns(const struct ncs_model *model)
{
	uint64_t end_ns = 0;

	for (size_t i = 0; i < model->rank_count; i++) {
		const struct ncs_rank *rank = model->ranks[i];

		if (ncs_rank_is_live(rank))
			return 0;
		if (ncs_rank_end_ns(rank) > end_ns)
			end_ns = ncs_rank_end_ns(rank);
	}
	return end_ns;
}

/* --- Launches ------------------------------------------------------------- */

enum ncs_launch_phase
ncs_operation_phase(const struct ncs_rank *rank,
		    const struct ncs_operation_view *operation)
{
	return ncs_launch_phase(&rank->now.launches, operation->launch);
}

/* --- Other ranks ----------------------------------------------------------- */

static enum ncs_kernel_begun
begun_by_phase(const struct ncs_rank *rank,
	       const struct ncs_operation_view *operation)
{
	switch (ncs_operation_phase(rank, operation)) {
	case NCS_LAUNCH_PHASE_QUEUED:
		return NCS_BEGUN_NOT;
	case NCS_LAUNCH_PHASE_UNKNOWN:
		return NCS_BEGUN_NOT_KNOWN;
	default:
		return NCS_BEGUN_HAS;
	}
}

/* Whether two operations are the two halves of one transfer. */
static bool are_halves(const struct ncs_operation_view *a, int32_t rank_of_a,
		       const struct ncs_operation_view *b, int32_t rank_of_b)
{
	return b->event == NCS_EVENT_P2P && a->peer == rank_of_b &&
	       b->peer == rank_of_a &&
	       (a->function != b->function ||
		a->function == NCS_FUNCTION_SEND_RECV);
}

bool ncs_rank_hides_replay(const struct ncs_rank *rank,
			   const struct ncs_rank *other)
{
	const struct ncs_graphs_view *own = &rank->now.graphs;
	const struct ncs_graphs_view *its = &other->now.graphs;
	uint32_t period = (uint32_t)own->stamped;
	uint64_t its_other = its->stamped >> 32;

	if (!own->are_replays || own->replays < its->replays || period == 0 ||
	    its->stamped == 0)
		return false;
	return period > (uint32_t)its->stamped ||
	       (its_other != 0 && its_other != own->stamped >> 32 &&
		(its_other - 1) % period != 0);
}

/* The launch of an operation that is not in flight is over, or was not
 * followed. A collective is told by its number. That a transfer between two
 * ranks is over cannot be: then it would be over on both. */
enum ncs_kernel_begun
ncs_rank_has_begun(const struct ncs_rank *rank, const struct ncs_rank *caller,
		   const struct ncs_operation_view *operation)
{
	const struct ncs_snapshot *now = &rank->now;
	bool is_p2p = operation->event == NCS_EVENT_P2P;
	uint64_t number = operation->sequence_number;
	uint64_t last =
		now->functions[operation->function].last_sequence_number;

	if (!is_p2p && (last == NCS_NO_SEQUENCE_NUMBER || last < number))
		return ncs_rank_hides_replay(rank, caller) ?
			       NCS_BEGUN_NOT_KNOWN :
			       NCS_BEGUN_NOT; /* not called yet */
	for (size_t i = 0; i < now->operation_count; i++) {
		const struct ncs_operation_view *own = &now->operations[i];

		if (is_p2p ? are_halves(operation, caller->now.identity.rank,
					own, now->identity.rank) :
			     own->function == operation->function &&
				     own->sequence_number == number)
			return begun_by_phase(rank, own);
	}
	if (now->launches.status != NCS_STREAM_ALL)
		return NCS_BEGUN_NOT_KNOWN;
	return is_p2p ? NCS_BEGUN_NOT : NCS_BEGUN_HAS;
}

bool ncs_operation_needs(const struct ncs_rank *caller,
			 const struct ncs_operation_view *operation,
			 const struct ncs_rank *other)
{
	enum ncs_wait_rule rule;

	if (operation->event == NCS_EVENT_P2P)
		return operation->peer == other->now.identity.rank;
	rule = ncs_wait_rule_of(operation->function);
	return rule != NCS_WAIT_FOR_NONE &&
	       operation->sequence_number != NCS_NO_SEQUENCE_NUMBER &&
	       ncs_is_waiting(rule,
			      caller->now.identity.rank == operation->peer) &&
	       ncs_is_awaited(rule,
			      other->now.identity.rank == operation->peer);
}

/* Finds out whether an operation that has begun waits for another rank. */
static enum ncs_launch_wait_kind
running_kind(const struct ncs_rank *rank,
	     const struct ncs_operation_view *operation)
{
	const struct ncs_communicator *communicator = rank->communicator;
	const struct ncs_identity *identity = &rank->now.identity;
	size_t begun = 0, awaited = 1;

	for (size_t i = 0; communicator && i < communicator->rank_count; i++) {
		const struct ncs_rank *other = communicator->ranks[i];

		if (other == rank ||
		    !ncs_operation_needs(rank, operation, other))
			continue;
		switch (ncs_rank_has_begun(other, rank, operation)) {
		case NCS_BEGUN_NOT:
			return NCS_LAUNCH_WAIT_PEER;
		case NCS_BEGUN_HAS:
			begun++;
			break;
		case NCS_BEGUN_NOT_KNOWN:
			break;
		}
	}
	if (operation->event != NCS_EVENT_P2P &&
	    ncs_wait_rule_of(operation->function) != NCS_WAIT_FOR_ROOT)
		awaited = (size_t)identity->nranks - 1;
	return identity->known & NCS_KNOWN_NRANKS && begun > 0 &&
			       begun == awaited ?
		       NCS_LAUNCH_WAIT_MOVING :
		       NCS_LAUNCH_WAIT_RUNNING;
}

/* --- A rank ---------------------------------------------------------------- */

struct ncs_launch_wait ncs_rank_launch_wait(const struct ncs_rank *rank)
{
	const struct ncs_snapshot *now = &rank->now;
	struct ncs_launch_wait wait = { .kind = NCS_LAUNCH_WAIT_COUNT };
	uint64_t end_ns = ncs_rank_end_ns(rank);

	for (size_t i = 0; i < now->operation_count && !wait.operation; i++) {
		const struct ncs_operation_view *operation =
			&now->operations[i];
		enum ncs_launch_phase phase =
			ncs_operation_phase(rank, operation);

		if (phase == NCS_LAUNCH_PHASE_QUEUED) {
			wait.kind = NCS_LAUNCH_WAIT_STREAM;
			wait.since_ns = operation->start_ns;
		} else if (phase == NCS_LAUNCH_PHASE_RUNNING) {
			wait.kind = running_kind(rank, operation);
			wait.since_ns = now->launches.begun_ns;
		} else {
			continue;
		}
		wait.operation = operation;
	}
	if (wait.operation && end_ns > wait.since_ns)
		wait.duration_ns = end_ns - wait.since_ns;
	return wait;
}

static bool is_followed(const struct ncs_launches_view *launches)
{
	return launches->status == NCS_STREAM_ALL ||
	       launches->status == NCS_STREAM_SOME;
}

int64_t ncs_rank_launches_ahead(const struct ncs_rank *rank)
{
	const struct ncs_launches_view *launches = &rank->now.launches;

	/* Once the last launch that is followed has ended, nothing is known of
	 * those after it. */
	if (!is_followed(launches) || (launches->followed == launches->ended &&
				       launches->launched > launches->followed))
		return -1;
	return (int64_t)(launches->launched - launches->begun);
}

/* --- A communicator -------------------------------------------------------- */

const struct ncs_rank *
ncs_communicator_last_launch(const struct ncs_communicator *communicator)
{
	const struct ncs_rank *last = NULL;

	for (size_t i = 0; i < communicator->rank_count; i++) {
		const struct ncs_rank *rank = communicator->ranks[i];
		const struct ncs_launches_view *launches = &rank->now.launches;

		if (!is_followed(launches) || !ncs_rank_is_live(rank))
			continue;
		if (!last || launches->begun < last->now.launches.begun ||
		    (launches->begun == last->now.launches.begun &&
		     launches->ended < last->now.launches.ended))
			last = rank;
	}
	return last;
}

/* --- The oldest wait ---------------------------------------------------- */

struct ncs_oldest ncs_rank_oldest(const struct ncs_rank *rank)
{
	struct ncs_wait channels = ncs_oldest_wait(rank);
	struct ncs_launch_wait launch;

	if (channels.channel)
		return (struct ncs_oldest){ rank, channels.channel->since_ns,
					    channels.duration_ns };
	launch = ncs_rank_launch_wait(rank);
	if (!launch.operation)
		return (struct ncs_oldest){ 0 };
	return (struct ncs_oldest){ rank, launch.since_ns, launch.duration_ns };
}

void ncs_oldest_add(struct ncs_oldest *oldest, const struct ncs_rank *rank)
{
	struct ncs_oldest own = ncs_rank_oldest(rank);

	if (own.rank && ncs_rank_is_live(rank) &&
	    (!oldest->rank || own.duration_ns > oldest->duration_ns))
		*oldest = own;
}

/* --- Ranks that others wait for now ------------------------------------- */

/* They are read from tables of operations: an operation that hangs has no
 * records. */

/* Returns the sequence number of a rank's next operation of a function. */
static uint64_t next_number(const struct ncs_rank *rank, unsigned function)
{
	uint64_t last = rank->now.functions[function].last_sequence_number;

	return last == NCS_NO_SEQUENCE_NUMBER ? 0 : last + 1;
}

/* Returns since when an operation waits for other ranks: not before its kernel
 * has begun, where that is known. Returns 0 if it does not wait yet. */
static uint64_t waiting_since_ns(const struct ncs_rank *rank,
				 const struct ncs_operation_view *operation)
{
	switch (ncs_operation_phase(rank, operation)) {
	case NCS_LAUNCH_PHASE_QUEUED:
		return 0;
	case NCS_LAUNCH_PHASE_RUNNING:
		return rank->now.launches.begun_ns;
	default:
		return operation->start_ns;
	}
}

/* Notes for how long another rank's operation has waited for a rank. */
static void note_waiting(struct ncs_late_now *now, const struct ncs_rank *rank,
			 const struct ncs_rank *other,
			 const struct ncs_operation_view *operation)
{
	enum ncs_wait_rule rule =
		operation->event == NCS_EVENT_COLL &&
				operation->function < NCS_FUNCTION_COUNT ?
			ncs_wait_rule_of(operation->function) :
			NCS_WAIT_FOR_NONE;
	uint64_t since_ns = waiting_since_ns(other, operation);
	uint64_t late_ns;

	if (rule == NCS_WAIT_FOR_NONE || since_ns == 0 ||
	    operation->sequence_number == NCS_NO_SEQUENCE_NUMBER ||
	    operation->sequence_number !=
		    next_number(rank, operation->function) ||
	    ncs_rank_hides_replay(rank, other) ||
	    !ncs_is_awaited(rule, rank->now.identity.rank == operation->peer) ||
	    !ncs_is_waiting(rule, other->now.identity.rank == operation->peer))
		return;
	/* Both snapshots were taken after the start. */
	late_ns = ncs_time_since(since_ns + ncs_error_between(rank, other),
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

void ncs_rank_late_now(const struct ncs_rank *rank, struct ncs_late_now *now)
{
	const struct ncs_communicator *communicator = rank->communicator;

	*now = (struct ncs_late_now){ 0 };
	if (!communicator || !ncs_rank_is_live(rank) ||
	    !(rank->now.identity.known & NCS_KNOWN_RANK))
		return;
	for (size_t i = 0; i < communicator->rank_count; i++) {
		const struct ncs_rank *other = communicator->ranks[i];

		if (other == rank || !ncs_is_comparable(rank, other) ||
		    !ncs_rank_is_live(other))
			continue;
		for (size_t k = 0; k < other->now.operation_count; k++)
			note_waiting(now, rank, other,
				     &other->now.operations[k]);
	}
}

/* --- The whole job -------------------------------------------------------- */

#define LETTER(ID, letter, name, help) letter,
#define NAME(ID, letter, name, help) name,

NCS_DEFINE_LOOKUP(ncs_wait_name, NCS_WAITS, NAME, "unknown")

char ncs_wait_letter(unsigned kind)
{
	static const char letters[] = { NCS_WAITS(LETTER) };

	return kind < NCS_WAIT_COUNT ? letters[kind] : '?';
}

static const enum ncs_wait_kind channel_kinds[NCS_CHANNEL_STATE_COUNT] = {
	[NCS_CHANNEL_IDLE] = NCS_WAIT_IDLE,
	[NCS_CHANNEL_SEND_GPU_WAIT] = NCS_WAIT_GPU,
	[NCS_CHANNEL_SEND_PEER_WAIT] = NCS_WAIT_PEER,
	[NCS_CHANNEL_SEND_WAIT] = NCS_WAIT_NETWORK,
	[NCS_CHANNEL_RECV_WAIT] = NCS_WAIT_PEER,
	[NCS_CHANNEL_RECV_FLUSH_WAIT] = NCS_WAIT_NETWORK,
	[NCS_CHANNEL_RECV_GPU_WAIT] = NCS_WAIT_GPU,
};

enum ncs_wait_kind ncs_wait_of_channel(unsigned state)
{
	return state < NCS_CHANNEL_STATE_COUNT ? channel_kinds[state] :
						 NCS_WAIT_COUNT;
}

static const enum ncs_wait_kind launch_kinds[NCS_LAUNCH_WAIT_COUNT] = {
	[NCS_LAUNCH_WAIT_STREAM] = NCS_WAIT_GPU,
	[NCS_LAUNCH_WAIT_PEER] = NCS_WAIT_PEER,
	[NCS_LAUNCH_WAIT_MOVING] = NCS_WAIT_RUNNING,
	[NCS_LAUNCH_WAIT_RUNNING] = NCS_WAIT_RUNNING,
};

enum ncs_wait_kind ncs_wait_of_launch(unsigned kind)
{
	return kind < NCS_LAUNCH_WAIT_COUNT ? launch_kinds[kind] :
					      NCS_WAIT_COUNT;
}

/* Adds the time that a channel spent in each kind of wait. */
static void add_channel(const struct ncs_rank *rank,
			const struct ncs_counters *base, size_t place,
			double *time_ns)
{
	const struct ncs_channel_view *view = &rank->now.channels[place];
	const struct ncs_channel_counters *before =
		base ? ncs_counters_channel(base, view, place) : NULL;
	unsigned first = view->send ? NCS_CHANNEL_SEND_GPU_WAIT :
				      NCS_CHANNEL_RECV_WAIT;

	for (unsigned i = 0; i < NCS_CHANNEL_TIMES; i++) {
		unsigned state = i == 0 ? NCS_CHANNEL_IDLE : first + i - 1;
		uint64_t was = before ? before->time_ns[i] : 0;

		if (view->time_ns[state] > was)
			time_ns[channel_kinds[state]] +=
				(double)(view->time_ns[state] - was);
	}
}

/* Adds the shares of a rank's channels. Returns false if they were all idle. */
static bool add_channels(const struct ncs_rank *rank, bool latest,
			 struct ncs_job_waits *waits)
{
	const struct ncs_counters *base = latest ? ncs_rank_before(rank) :
						   rank->base;
	double time_ns[NCS_WAIT_COUNT] = { 0 }, all_ns = 0;

	for (size_t i = 0; base && i < rank->now.channel_count; i++)
		add_channel(rank, base, i, time_ns);
	for (size_t i = 0; i < NCS_WAIT_COUNT; i++)
		all_ns += time_ns[i];
	/* Without times, by the states that the channels are in. */
	for (size_t i = 0; all_ns <= 0 && i < rank->now.channel_count; i++)
		time_ns[channel_kinds[rank->now.channels[i].state]]++;
	if (all_ns <= 0)
		all_ns = (double)rank->now.channel_count;
	if (all_ns <= time_ns[NCS_WAIT_IDLE])
		return false;
	for (size_t i = 0; i < NCS_WAIT_COUNT; i++)
		waits->share[i] += time_ns[i] / all_ns;
	return true;
}

static void add_rank(const struct ncs_rank *rank, bool latest,
		     struct ncs_job_waits *waits)
{
	struct ncs_launch_wait launch;

	if (add_channels(rank, latest, waits)) {
		waits->ranks++;
		return;
	}
	launch = ncs_rank_launch_wait(rank);
	if (launch.operation)
		waits->share[launch_kinds[launch.kind]]++;
	else if (rank->now.operation_count == 0)
		waits->share[NCS_WAIT_IDLE]++;
	else
		return;
	waits->ranks++;
}

void ncs_job_waits(const struct ncs_model *model, bool latest,
		   struct ncs_job_waits *waits)
{
	memset(waits, 0, sizeof(*waits));
	for (size_t i = 0; i < model->rank_count; i++)
		if (ncs_rank_is_live(model->ranks[i]) &&
		    !model->ranks[i]->is_past)
			add_rank(model->ranks[i], latest, waits);
	for (size_t i = 0; waits->ranks > 0 && i < NCS_WAIT_COUNT; i++)
		waits->share[i] /= (double)waits->ranks;
}

/* --- The trend ---------------------------------------------------------- */

void ncs_trend_add(struct ncs_trend *trend, const struct ncs_model *model)
{
	struct ncs_trend_point *point =
		&trend->points[trend->count % NCS_TREND_LENGTH];
	uint64_t count;
	const struct ncs_recent *busbw =
		ncs_busiest_recent(ncs_busiest_communicator(model), &count);
	struct ncs_job_waits waits = model->waits;

	if (model->window != NCS_WINDOW_NOW)
		ncs_job_waits(model, true, &waits);
	point->time_ns = model->now_ns;
	point->busbw = busbw ? (float)ncs_recent_latest(busbw, count) : -1;
	for (size_t i = 0; i < NCS_WAIT_COUNT; i++)
		point->share[i] = waits.ranks > 0 ? (float)waits.share[i] :
						    -1.0f;
	trend->count++;
}

const struct ncs_trend_point *ncs_trend_at(const struct ncs_trend *trend,
					   uint64_t age)
{
	if (age >= trend->count || age >= NCS_TREND_LENGTH)
		return NULL;
	return &trend->points[(trend->count - 1 - age) % NCS_TREND_LENGTH];
}
