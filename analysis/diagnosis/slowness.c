/* SPDX-License-Identifier: MIT */
/* The rules for what is slow although no wait explains it: communicators that are
 * slower than they were, and links on which messages are longer on the way.
 *
 * Must not take a job that computes or sleeps for a slow one: less traffic alone
 * proves nothing. Either data takes longer on the wire, or most ranks wait while one
 * does not. Must not name a link that has been named by its sender.
 */
#include "analysis/diagnosis/diagnosis.h"

#include <stdlib.h>
#include <string.h>

#include "analysis/base/percentile.h"
#include "analysis/model/slow_links.h"
#include "analysis/model/stragglers.h"
#include "shm/array.h"

/* The traffic of a communicator in the interval between two updates. */
struct pace {
	double bytes_rate; /* bytes per second that all ranks sent */
	double wire_ns; /* time on the wire per byte sent, of the median rank */
	double least_wire_ns; /* of the fastest rank */
};

struct ncs_pace_history {
	char key[sizeof(((struct ncs_communicator *)0)->key)];
	struct pace intervals[NCS_USUAL];
	size_t count; /* number of intervals so far; the latest are kept */
	size_t slow; /* number of slow intervals in a row, which are not kept */
	const struct ncs_rank *slow_rank; /* their cause; never dereferenced */
	/* The latest sender that was slow, however little it sent; never
	 * dereferenced. */
	const struct ncs_rank *sender;
	double slow_ns;   /* length of the intervals since then … */
	double excess_ns; /* … and time on the wire beyond what is usual */
	bool seen;        /* in this update */
};

/* An interval compared with those before it. */
struct compared_pace {
	const struct ncs_rank *rank; /* the slow one; NULL: usual, or unknown */
	/* The slowest channel of a rank that sends slowly; else NULL. */
	const struct ncs_channel_view *channel;
	struct pace now, median;
	/* A sender that is slow, though `rank` may be NULL; or NULL. And the
	 * largest share of the time that it may cost. */
	const struct ncs_rank *sender;
	double share;
};

/* --- One interval --------------------------------------------------------- */

/* Returns a channel as it was one interval ago; NULL if it was not there. */
static const struct ncs_channel_counters *
channel_before(const struct ncs_rank *rank, size_t index)
{
	const struct ncs_counters *counters = ncs_rank_before(rank);

	return counters ?
		       ncs_counters_channel(counters,
					    &rank->now.channels[index], index) :
		       NULL;
}

static double interval_ns(const struct ncs_rank *rank)
{
	return (double)(rank->now.taken_ns - ncs_rank_before(rank)->taken_ns);
}

static double state_ns(const struct ncs_rank *rank, size_t index,
		       enum ncs_channel_state state)
{
	const struct ncs_channel_counters *before = channel_before(rank, index);

	if (!before)
		return 0;
	return (double)(rank->now.channels[index].time_ns[state] -
			before->time_ns[ncs_channel_time(state)]);
}

/* Returns the share of the interval that a rank's channels in one direction spent in
 * a state; negative if unknown. */
static double state_share(const struct ncs_rank *rank, bool send,
			  enum ncs_channel_state state)
{
	double time_ns = 0, whole_ns = 0;

	for (size_t i = 0; i < rank->now.channel_count; i++) {
		if (rank->now.channels[i].send != send ||
		    !channel_before(rank, i))
			continue;
		time_ns += state_ns(rank, i, state);
		whole_ns += interval_ns(rank);
	}
	return whole_ns > 0 ? time_ns / whole_ns : -1;
}

/* Bytes and time of what a rank sent in the latest interval. */
struct sent {
	double bytes, wire_ns; /* of all its channels */
};

static struct sent sent_by(const struct ncs_rank *rank)
{
	const struct ncs_counters *base = ncs_rank_before(rank);
	struct sent sent = { 0 };

	/* The rank has said the same since then: its channels need no look. */
	if (!base || base->taken_ns >= rank->unchanged_since_ns)
		return sent;
	for (size_t k = 0; k < rank->now.channel_count; k++) {
		const struct ncs_channel_counters *before =
			channel_before(rank, k);

		if (!before || !before->send)
			continue;
		sent.bytes +=
			(double)(rank->now.channels[k].bytes - before->bytes);
		sent.wire_ns += state_ns(rank, k, NCS_CHANNEL_SEND_WAIT);
	}
	return sent;
}

/* Returns the pace of the latest interval; zeros if nothing was sent. A single slow link
 * does not change the median of all ranks, unless receivers that wait for that link
 * take no data from others: then the fastest rank tells more. */
static struct pace find_pace(struct ncs_diagnosis *diagnosis,
			     const struct ncs_communicator *communicator)
{
	double *wire_ns = calloc(communicator->rank_count + 1, sizeof(double));
	double bytes = 0, longest_ns = 0;
	struct pace pace = { 0 };
	size_t count = 0;

	if (!wire_ns)
		diagnosis->no_memory = true;
	for (size_t i = 0; wire_ns && i < communicator->rank_count; i++) {
		const struct ncs_rank *rank = communicator->ranks[i];
		struct sent sent = sent_by(rank);

		if (sent.bytes <= 0)
			continue;
		bytes += sent.bytes;
		wire_ns[count++] = sent.wire_ns / sent.bytes;
		if (interval_ns(rank) > longest_ns)
			longest_ns = interval_ns(rank);
	}
	if (count > 0)
		pace = (struct pace){ bytes / longest_ns * 1e9,
				      ncs_select(wire_ns, count,
						 (count - 1) / 2),
				      ncs_select(wire_ns, count, 0) };
	free(wire_ns);
	return pace;
}

/* --- What is usual -------------------------------------------------------- */

/* Returns the usual pace. No link was slow then: the median is that of the fastest rank,
 * too. */
static struct pace usual_of(const struct ncs_pace_history *history)
{
	size_t count = history->count < NCS_USUAL ? history->count : NCS_USUAL;
	double bytes[NCS_USUAL], wire[NCS_USUAL], wire_ns;

	for (size_t i = 0; i < count; i++) {
		bytes[i] = history->intervals[i].bytes_rate;
		wire[i] = history->intervals[i].wire_ns;
	}
	wire_ns = ncs_select(wire, count, count / 2);
	return (struct pace){ ncs_select(bytes, count, count / 2), wire_ns,
			      wire_ns };
}

/* --- The cause ------------------------------------------------------------ */

/* Finds the sender whose data is on the wire longest, for this share of the
 * interval at least. */
static void find_sender(const struct ncs_communicator *communicator,
			double least_share, struct compared_pace *pace)
{
	double most_ns = 0;

	for (size_t i = 0; i < communicator->rank_count; i++) {
		const struct ncs_rank *rank = communicator->ranks[i];

		for (size_t k = 0; k < rank->now.channel_count; k++) {
			double time_ns =
				state_ns(rank, k, NCS_CHANNEL_SEND_WAIT);

			if (!rank->now.channels[k].send || time_ns <= most_ns ||
			    time_ns < least_share * interval_ns(rank))
				continue;
			most_ns = time_ns;
			pace->rank = rank;
			pace->channel = &rank->now.channels[k];
		}
	}
}

static int compare_gpus(const void *left, const void *right)
{
	return ncs_compare_gpus(*(const struct ncs_rank *const *)left,
				*(const struct ncs_rank *const *)right);
}

/* Returns the share of the interval in which the process of ranks[place] waited
 * for data, summed over its communicators; negative if unknown. The ranks are
 * sorted by processes. */
static double waiting_share(const struct ncs_rank *const *ranks, size_t count,
			    size_t place)
{
	size_t first = place;
	double sum = -1;

	while (first > 0 && ncs_shares_process(ranks[first - 1], ranks[place]))
		first--;
	for (size_t i = first;
	     i < count && ncs_shares_process(ranks[i], ranks[place]); i++) {
		double share =
			state_share(ranks[i], false, NCS_CHANNEL_RECV_WAIT);

		if (share >= 0)
			sum = (sum >= 0 ? sum : 0) + share;
	}
	return sum;
}

/* Finds the rank of a communicator that does not wait, if most others do, among
 * all ranks, sorted by processes. */
static const struct ncs_rank *
least_waiting(const struct ncs_rank *const *ranks, size_t count,
	      const struct ncs_communicator *communicator)
{
	const struct ncs_rank *least_rank = NULL;
	size_t known = 0, waiting = 0;
	double least = 0;

	for (size_t i = 0; i < count; i++) {
		double share;

		if (ranks[i]->communicator != communicator)
			continue;
		share = waiting_share(ranks, count, i);
		if (share < 0)
			continue;
		known++;
		waiting += share >= NCS_MOST / 100.;
		if (!least_rank || share < least ||
		    (share == least &&
		     ncs_rank_compare(ranks[i], least_rank) < 0)) {
			least = share;
			least_rank = ranks[i];
		}
	}
	return waiting > 0 && 2 * waiting + 1 >= known &&
			       least * NCS_SLOWER_PACE <= NCS_MOST / 100. ?
		       least_rank :
		       NULL;
}

/* Returns the rank that does not wait, if most others do; else NULL. */
static const struct ncs_rank *
find_awaited(struct ncs_diagnosis *diagnosis,
	     const struct ncs_communicator *communicator)
{
	const struct ncs_model *model = diagnosis->model;
	size_t bytes = model->rank_count * sizeof(*model->ranks);
	const struct ncs_rank **ranks = malloc(bytes), *found;

	if (!ranks) {
		diagnosis->no_memory = true;
		return NULL;
	}
	memcpy(ranks, model->ranks, bytes);
	qsort(ranks, model->rank_count, sizeof(*ranks), compare_gpus);
	found = least_waiting(ranks, model->rank_count, communicator);
	free(ranks);
	return found;
}

static bool is_slow_sender(const struct ncs_rank *rank,
			   const struct pace *usual)
{
	struct sent sent = sent_by(rank);

	return usual->wire_ns > 0 &&
	       sent.wire_ns > NCS_SLOWER_PACE * usual->wire_ns * sent.bytes;
}

/* Adds an interval in which a sender was slow: of its channels, which send at the
 * same time, the slowest one counts. */
static void add_excess(struct ncs_pace_history *history,
		       struct compared_pace *pace)
{
	const struct ncs_rank *rank = pace->sender;
	double most_ns = 0;

	for (size_t k = 0; k < rank->now.channel_count; k++) {
		const struct ncs_channel_counters *before =
			channel_before(rank, k);
		double excess_ns;

		if (!before || !before->send)
			continue;
		excess_ns = state_ns(rank, k, NCS_CHANNEL_SEND_WAIT) -
			    pace->median.least_wire_ns *
				    (double)(rank->now.channels[k].bytes -
					     before->bytes);
		if (excess_ns > most_ns)
			most_ns = excess_ns;
	}
	history->excess_ns += most_ns;
	history->slow_ns += interval_ns(rank);
	pace->share = history->excess_ns / history->slow_ns;
}

/* Finds the sender that is slow, and what it costs since it is. */
static void follow_sender(const struct ncs_communicator *communicator,
			  struct ncs_pace_history *history,
			  struct compared_pace *pace)
{
	struct compared_pace longest = { 0 };

	if (pace->now.bytes_rate > 0) {
		find_sender(communicator, 0, &longest);
		if (!longest.rank ||
		    !is_slow_sender(longest.rank, &pace->median))
			longest.rank = NULL;
		if (history->sender != longest.rank)
			history->slow_ns = history->excess_ns = 0;
		history->sender = longest.rank;
	}
	for (size_t i = 0; i < communicator->rank_count; i++)
		if (communicator->ranks[i] == history->sender)
			pace->sender = communicator->ranks[i];
	if (pace->sender && ncs_rank_before(pace->sender))
		add_excess(history, pace);
}

/* Finds the rank that is slow. */
static void find_slow(struct ncs_diagnosis *diagnosis,
		      const struct ncs_communicator *communicator,
		      struct compared_pace *pace)
{
	find_sender(communicator, NCS_MOST / 200., pace);
	if (pace->rank && is_slow_sender(pace->rank, &pace->median))
		return;
	pace->rank = NULL;
	pace->channel = NULL;
	/* At 0 the usual pace is not known yet. */
	if (pace->now.bytes_rate * NCS_SLOWER_PACE < pace->median.bytes_rate)
		pace->rank = find_awaited(diagnosis, communicator);
}

/* --- All communicators ---------------------------------------------------- */

/* Returns the history of a communicator; NULL if it has none. */
static struct ncs_pace_history *
find_history(const struct ncs_diagnosis *diagnosis,
	     const struct ncs_communicator *communicator)
{
	for (size_t i = 0; i < diagnosis->pace_count; i++)
		if (strcmp(diagnosis->paces[i].key, communicator->key) == 0)
			return &diagnosis->paces[i];
	return NULL;
}

/* Returns its history, an empty one if it is new; NULL without memory. */
static struct ncs_pace_history *
history_of(struct ncs_diagnosis *diagnosis,
	   const struct ncs_communicator *communicator)
{
	struct ncs_pace_history *history =
		find_history(diagnosis, communicator);

	if (history)
		return history;
	if (ncs_array_reserve(&diagnosis->paces, &diagnosis->pace_capacity,
			      diagnosis->pace_count + 1,
			      sizeof(*diagnosis->paces)) != 0) {
		diagnosis->no_memory = true;
		return NULL;
	}
	history = &diagnosis->paces[diagnosis->pace_count++];
	memset(history, 0, sizeof(*history));
	strcpy(history->key, communicator->key);
	return history;
}

/* Forgets the communicators that are gone. */
static void forget(struct ncs_diagnosis *diagnosis)
{
	size_t kept = 0;

	for (size_t i = 0; i < diagnosis->pace_count; i++) {
		if (!diagnosis->paces[i].seen)
			continue;
		if (kept != i)
			diagnosis->paces[kept] = diagnosis->paces[i];
		diagnosis->paces[kept++].seen = false;
	}
	diagnosis->pace_count = kept;
}

/* Compares the latest interval of a communicator with those before it, and keeps
 * it. */
static struct compared_pace
compare_pace(struct ncs_diagnosis *diagnosis,
	     const struct ncs_communicator *communicator)
{
	struct ncs_pace_history *history = history_of(diagnosis, communicator);
	struct compared_pace pace = {
		.now = find_pace(diagnosis, communicator),
	};

	if (!history)
		return pace;
	history->seen = true;
	if (diagnosis->no_memory)
		return pace;
	/* From the start, a sender is compared with the others. */
	pace.median = pace.now;
	pace.median.bytes_rate = 0;
	if (history->count >= NCS_FEW)
		pace.median = usual_of(history);
	follow_sender(communicator, history, &pace);
	find_slow(diagnosis, communicator, &pace);
	if (!pace.rank) {
		/* Without traffic the job sleeps, computes or is stalled. */
		if (pace.now.bytes_rate > 0)
			history->intervals[history->count++ % NCS_USUAL] =
				pace.now;
		history->slow = 0;
		return pace;
	}
	/* If a different rank is slow each time, it is chance. */
	if (history->slow_rank != pace.rank)
		history->slow = 0;
	history->slow_rank = pace.rank;
	if (++history->slow < NCS_IN_A_ROW)
		pace.rank = NULL;
	return pace;
}

static void add_shares(struct ncs_finding *finding, const struct ncs_rank *rank)
{
	for (unsigned i = NCS_CHANNEL_IDLE + 1; i < NCS_CHANNEL_STATE_COUNT;
	     i++) {
		struct ncs_evidence *evidence;
		bool send = i <= NCS_CHANNEL_SEND_WAIT;
		double share =
			state_share(rank, send, (enum ncs_channel_state)i);

		if (share < 0.01)
			continue;
		evidence = ncs_finding_add_fact(finding, NCS_EVIDENCE_SHARE,
						rank, 0);
		evidence->number = i;
		evidence->share = share;
	}
}

static void report_pace(struct ncs_diagnosis *diagnosis,
			const struct ncs_communicator *communicator,
			const struct compared_pace *pace)
{
	struct ncs_finding *finding =
		ncs_diagnosis_add(diagnosis,
				  pace->channel ? NCS_VERDICT_SLOW_NETWORK :
						  NCS_VERDICT_SLOW_RANK,
				  ncs_party_of(pace->rank));
	struct ncs_evidence *evidence;

	finding->channel = pace->channel;
	if (pace->channel) {
		finding->call.function = pace->channel->function;
		finding->peer = (struct ncs_party){
			ncs_peer_rank(pace->rank, pace->channel->peer),
			communicator, pace->channel->peer
		};
	}
	finding->waiting = ncs_communicator_judged(communicator) - 1;
	finding->share = finding->share_most = pace->share;
	ncs_finding_rate(finding, false, NCS_CONFIDENCE_LIKELY);
	if (pace->median.bytes_rate > 0) {
		evidence = ncs_finding_add_evidence(
			finding, NCS_EVIDENCE_SPEED,
			(struct ncs_party){ NULL, communicator, -1 });
		evidence->number = (uint64_t)pace->now.bytes_rate;
		evidence->expected = (uint64_t)pace->median.bytes_rate;
	}
	add_shares(finding, pace->rank);
	for (size_t i = 0; i < communicator->rank_count; i++)
		if (communicator->ranks[i] != pace->rank) {
			add_shares(finding, communicator->ranks[i]);
			break;
		}
	ncs_finding_add_unseen(finding, communicator);
}

/* Adds what a slow sender costs to the finding of another communicator of its
 * process: it is one link. Returns false if there is none. */
static bool join_pace(struct ncs_diagnosis *diagnosis,
		      const struct compared_pace *pace)
{
	for (size_t i = 0; i < diagnosis->count; i++) {
		struct ncs_finding *finding = &diagnosis->findings[i];

		if (!pace->sender ||
		    finding->verdict != NCS_VERDICT_SLOW_NETWORK ||
		    !ncs_shares_process(finding->root.rank, pace->sender))
			continue;
		finding->share += pace->share;
		if (finding->share > 1)
			finding->share = 1;
		finding->share_most = finding->share;
		return true;
	}
	return false;
}

/* Reports the slow rank of a communicator, if it has one of its own. */
static void judge_pace(struct ncs_diagnosis *diagnosis,
		       const struct ncs_communicator *communicator,
		       struct compared_pace *pace)
{
	/* Where lateness is known, it tells which rank is slow. */
	if (!pace->rank || ncs_diagnosis_explains(diagnosis, communicator) ||
	    (!pace->channel && ncs_communicator_skew(communicator)))
		return;
	if (!pace->channel || !join_pace(diagnosis, pace))
		report_pace(diagnosis, communicator, pace);
	pace->sender = NULL;
}

void ncs_find_slow_communicators(struct ncs_diagnosis *diagnosis)
{
	const struct ncs_model *model = diagnosis->model;
	size_t count = model->communicator_count;
	struct compared_pace *paces = calloc(count + 1, sizeof(*paces));

	if (!paces) {
		diagnosis->no_memory = true;
		return;
	}
	for (size_t i = 0; i < count; i++)
		paces[i] = compare_pace(diagnosis, &model->communicators[i]);
	for (size_t i = 0; i < count; i++)
		judge_pace(diagnosis, &model->communicators[i], &paces[i]);
	/* Its communicators that send little wait for the same link. */
	for (size_t i = 0; i < count; i++)
		join_pace(diagnosis, &paces[i]);
	forget(diagnosis);
	free(paces);
}

/* --- Links ------------------------------------------------------------------ */

/* Returns whether a finding tells of a slow link of one of these ranks'
 * processes. */
static bool is_reported(const struct ncs_diagnosis *diagnosis,
			const struct ncs_rank *from, const struct ncs_rank *to)
{
	for (size_t i = 0; i < diagnosis->count; i++) {
		const struct ncs_rank *root = diagnosis->findings[i].root.rank;

		if (diagnosis->findings[i].verdict ==
			    NCS_VERDICT_SLOW_NETWORK &&
		    root &&
		    (ncs_shares_process(root, from) ||
		     ncs_shares_process(root, to)))
			return true;
	}
	return false;
}

static const struct ncs_rank *
rank_of(const struct ncs_communicator *communicator, int32_t number)
{
	for (size_t i = 0; i < communicator->rank_count; i++)
		if (communicator->ranks[i]->now.identity.rank == number)
			return communicator->ranks[i];
	return NULL;
}

static void add_times(struct ncs_finding *finding, enum ncs_evidence_kind kind,
		      const struct ncs_party *party,
		      const struct ncs_slow_link *link, double now_ns,
		      double usual_ns)
{
	struct ncs_evidence *evidence =
		ncs_finding_add_evidence(finding, kind, *party);

	evidence->call = finding->call;
	evidence->number = link->operations;
	evidence->duration_ns = (uint64_t)now_ns;
	evidence->expected = (uint64_t)usual_ns;
}

static void report_link(struct ncs_diagnosis *diagnosis,
			const struct ncs_communicator *communicator,
			const struct ncs_slow_link *link,
			const struct ncs_rank *from, const struct ncs_rank *to)
{
	struct ncs_finding *finding = ncs_diagnosis_add(
		diagnosis, NCS_VERDICT_SLOW_NETWORK, ncs_party_of(from));

	finding->peer = ncs_party_of(to);
	finding->call.function = link->function == NCS_FUNCTION_SEND_RECV ?
					 NCS_FUNCTION_SEND :
					 link->function;
	finding->waiting = ncs_communicator_judged(communicator) - 1;
	finding->share = finding->share_most = link->share;
	ncs_finding_rate(finding, false,
			 link->past == NCS_PAST_LINK ? NCS_CONFIDENCE_LIKELY :
						       NCS_CONFIDENCE_POSSIBLE);
	add_times(finding, NCS_EVIDENCE_MESSAGES, &finding->root, link,
		  link->message_ns, link->usual_message_ns);
	if (link->past != NCS_PAST_LINK)
		finding->doubt = finding->evidence_count;
	if (link->past == NCS_PAST_COUNTERS)
		add_times(finding, NCS_EVIDENCE_TOOK, &finding->peer, link,
			  link->moving_ns, link->usual_moving_ns);
	else
		add_times(finding, NCS_EVIDENCE_MOVED, &finding->root, link,
			  link->moving_ns, link->usual_moving_ns);
	ncs_finding_add_fact(finding, NCS_EVIDENCE_RECEIVER, to, 0);
	ncs_finding_add_unseen(finding, communicator);
}

bool ncs_find_slow_links(struct ncs_diagnosis *diagnosis,
			 const struct ncs_communicator *communicator)
{
	const struct ncs_rank *from, *to;
	struct ncs_slow_link link;

	if (!ncs_communicator_slow_link(diagnosis->model, communicator,
					&link) ||
	    link.share < NCS_STRAGGLER_COST)
		return false;
	from = rank_of(communicator, link.from);
	to = rank_of(communicator, link.to);
	if (from && to && !is_reported(diagnosis, from, to))
		report_link(diagnosis, communicator, &link, from, to);
	return false;
}

/* --- What can be found ---------------------------------------------------- */

/* Returns whether a rank has sent lately, and often enough for a verdict. */
static bool sends(const struct ncs_rank *rank)
{
	for (size_t i = 0; i < rank->now.channel_count; i++) {
		const struct ncs_channel_view *channel = &rank->now.channels[i];

		if (channel->send && channel->operations_done >= NCS_IN_A_ROW &&
		    ncs_age_ns(rank, channel->since_ns) < NCS_COST_WINDOW_NS)
			return true;
	}
	return false;
}

enum ncs_link_check
ncs_diagnosis_links(const struct ncs_diagnosis *diagnosis,
		    const struct ncs_communicator *communicator)
{
	const struct ncs_pace_history *history =
		find_history(diagnosis, communicator);

	if (ncs_communicator_links_compared(communicator))
		return NCS_LINKS_CHECKED;
	for (size_t i = 0; i < communicator->rank_count; i++)
		if (ncs_rank_is_live(communicator->ranks[i]) &&
		    sends(communicator->ranks[i]))
			return history && history->count >= NCS_FEW ?
				       NCS_LINKS_BY_SENDER :
				       NCS_LINKS_UNCHECKED;
	return NCS_LINKS_CHECKED;
}
