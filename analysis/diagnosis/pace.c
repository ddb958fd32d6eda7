/* SPDX-License-Identifier: MIT */
/* Judges the pace of communicators. Must not take a job that computes or sleeps
 * for a slow one: less traffic alone proves nothing. Either data takes longer
 * on the wire, or most ranks wait while one does not. */
#include "analysis/diagnosis/pace.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/base/percentile.h"
#include "shm/array.h"

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

double ncs_state_share(const struct ncs_rank *rank, bool send,
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
	if (!base || base->taken_ns >= rank->same_ns)
		return sent;
	for (size_t k = 0; k < rank->now.channel_count; k++) {
		const struct ncs_channel_counters *before =
			channel_before(rank, k);

		if (!before || !before->send)
			continue;
		sent.bytes += (double)(rank->now.channels[k].bytes -
				       before->bytes);
		sent.wire_ns += state_ns(rank, k, NCS_CHANNEL_SEND_WAIT);
	}
	return sent;
}

/* Sets the pace of the latest interval; zeros if nothing was sent. A single slow link
 * does not change the median of all ranks, unless receivers that wait for that link
 * take no data from others: then the fastest rank tells more. Returns 0 or -ENOMEM. */
static int find_pace(const struct ncs_communicator *communicator,
		     struct ncs_pace *pace)
{
	double *wire_ns = calloc(communicator->rank_count + 1, sizeof(double));
	double bytes = 0, longest_ns = 0;
	size_t count = 0;

	*pace = (struct ncs_pace){ 0 };
	if (!wire_ns)
		return -ENOMEM;
	for (size_t i = 0; i < communicator->rank_count; i++) {
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
		*pace = (struct ncs_pace){
			bytes / longest_ns * 1e9,
			ncs_select(wire_ns, count, (count - 1) / 2),
			ncs_select(wire_ns, count, 0)
		};
	free(wire_ns);
	return 0;
}

/* --- What is usual -------------------------------------------------------- */

/* Returns the usual pace. No link was slow then: the median is that of the fastest rank,
 * too. */
static struct ncs_pace usual_of(const struct ncs_pace_history *history)
{
	size_t count = history->count < NCS_USUAL ? history->count :
							     NCS_USUAL;
	double bytes[NCS_USUAL], wire[NCS_USUAL], wire_ns;

	for (size_t i = 0; i < count; i++) {
		bytes[i] = history->intervals[i].bytes_rate;
		wire[i] = history->intervals[i].wire_ns;
	}
	wire_ns = ncs_select(wire, count, count / 2);
	return (struct ncs_pace){ ncs_select(bytes, count, count / 2), wire_ns,
				  wire_ns };
}

/* --- The cause ------------------------------------------------------------ */

/* Finds the sender whose data is on the wire longest, for this share of the
 * interval at least. */
static void find_sender(const struct ncs_communicator *communicator,
			double least_share, struct ncs_pace_finding *finding)
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
			finding->rank = rank;
			finding->channel = &rank->now.channels[k];
		}
	}
}

static int compare_processes(const void *left, const void *right)
{
	const struct ncs_rank *const *a = left, *const *b = right;
	const struct ncs_process *x = &(*a)->process, *y = &(*b)->process;

	if (x->pid != y->pid)
		return x->pid < y->pid ? -1 : 1;
	return (x->start > y->start) - (x->start < y->start);
}

/* Returns the share of the interval in which the process of ranks[place] waited
 * for data, summed over its communicators; negative if unknown. The ranks are
 * sorted by processes. */
static double waiting_share(const struct ncs_rank *const *ranks, size_t count,
			    size_t place)
{
	size_t first = place;
	double sum = -1;

	while (first > 0 &&
	       compare_processes(&ranks[first - 1], &ranks[place]) == 0)
		first--;
	for (size_t i = first;
	     i < count && compare_processes(&ranks[i], &ranks[place]) == 0;
	     i++) {
		double share;

		if (!ncs_shares_process(ranks[i], ranks[place]))
			continue;
		share = ncs_state_share(ranks[i], false, NCS_CHANNEL_RECV_WAIT);
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

/* Finds the rank that does not wait, if most others do. Returns 0 or -ENOMEM. */
static int find_awaited(const struct ncs_model *model,
			const struct ncs_communicator *communicator,
			struct ncs_pace_finding *finding)
{
	size_t count = model->rank_count;
	const struct ncs_rank **ranks = calloc(count + 1, sizeof(*ranks));

	if (!ranks)
		return -ENOMEM;
	for (size_t i = 0; i < count; i++)
		ranks[i] = model->ranks[i];
	qsort(ranks, count, sizeof(*ranks), compare_processes);
	finding->rank = least_waiting(ranks, count, communicator);
	free(ranks);
	return 0;
}

static bool is_slow_sender(const struct ncs_rank *rank,
			   const struct ncs_pace *usual)
{
	struct sent sent = sent_by(rank);

	return usual->wire_ns > 0 &&
	       sent.wire_ns > NCS_SLOWER_PACE * usual->wire_ns * sent.bytes;
}

/* Adds an interval in which a sender was slow: of its channels, which send at the
 * same time, the slowest one counts. */
static void add_excess(struct ncs_pace_history *history,
		       struct ncs_pace_finding *finding)
{
	const struct ncs_rank *rank = finding->sender;
	double most_ns = 0;

	for (size_t k = 0; k < rank->now.channel_count; k++) {
		const struct ncs_channel_counters *before =
			channel_before(rank, k);
		double excess_ns;

		if (!before || !before->send)
			continue;
		excess_ns = state_ns(rank, k, NCS_CHANNEL_SEND_WAIT) -
			    finding->median.least_wire_ns *
				    (double)(rank->now.channels[k].bytes -
					     before->bytes);
		if (excess_ns > most_ns)
			most_ns = excess_ns;
	}
	history->excess_ns += most_ns;
	history->slow_ns += interval_ns(rank);
	finding->share = history->excess_ns / history->slow_ns;
}

/* Finds the sender that is slow, and what it costs since it is. */
static void follow_sender(const struct ncs_communicator *communicator,
			  struct ncs_pace_history *history,
			  struct ncs_pace_finding *finding)
{
	struct ncs_pace_finding longest = { 0 };

	if (finding->now.bytes_rate > 0) {
		find_sender(communicator, 0, &longest);
		if (!longest.rank ||
		    !is_slow_sender(longest.rank, &finding->median))
			longest.rank = NULL;
		if (history->sender != longest.rank)
			history->slow_ns = history->excess_ns = 0;
		history->sender = longest.rank;
	}
	for (size_t i = 0; i < communicator->rank_count; i++)
		if (communicator->ranks[i] == history->sender)
			finding->sender = communicator->ranks[i];
	if (finding->sender && ncs_rank_before(finding->sender))
		add_excess(history, finding);
}

/* Returns 0 or -ENOMEM. */
static int judge(const struct ncs_model *model,
		 const struct ncs_communicator *communicator,
		 struct ncs_pace_finding *finding)
{
	const struct ncs_pace *now = &finding->now, *usual = &finding->median;
	int error = 0;

	find_sender(communicator, NCS_MOST / 200., finding);
	if (finding->rank && is_slow_sender(finding->rank, usual))
		finding->verdict = NCS_PACE_SLOW_NETWORK;
	else
		finding->rank = NULL;
	if (!finding->rank)
		finding->channel = NULL;
	/* The usual pace is not known yet. */
	if (usual->bytes_rate == 0)
		return 0;
	if (!finding->rank &&
	    now->bytes_rate * NCS_SLOWER_PACE < usual->bytes_rate) {
		error = find_awaited(model, communicator, finding);
		if (finding->rank)
			finding->verdict = NCS_PACE_SLOW_RANK;
	}
	return error;
}

/* --- All communicators ---------------------------------------------------- */

static struct ncs_pace_history *history_of(struct ncs_paces *paces,
					   const char *key)
{
	struct ncs_pace_history *histories = paces->histories;

	for (size_t i = 0; i < paces->count; i++)
		if (strcmp(histories[i].key, key) == 0)
			return &histories[i];
	if (ncs_array_reserve(&paces->histories, &paces->capacity,
			      paces->count + 1, sizeof(*histories)) != 0)
		return NULL;
	histories = paces->histories;
	memset(&histories[paces->count], 0, sizeof(*histories));
	strcpy(histories[paces->count].key, key);
	return &histories[paces->count++];
}

int ncs_paces_add(struct ncs_paces *paces, const struct ncs_model *model,
		  const struct ncs_communicator *communicator,
		  struct ncs_pace_finding *finding)
{
	struct ncs_pace_history *history = history_of(paces, communicator->key);

	*finding = (struct ncs_pace_finding){ 0 };
	if (!history || find_pace(communicator, &finding->now) != 0)
		return -ENOMEM;
	history->seen = true;
	/* From the start, a sender is compared with the others. */
	if (history->count >= NCS_FEW)
		finding->median = usual_of(history);
	else
		finding->median = (struct ncs_pace){
			.wire_ns = finding->now.wire_ns,
			.least_wire_ns = finding->now.least_wire_ns,
		};
	follow_sender(communicator, history, finding);
	if (judge(model, communicator, finding) != 0)
		return -ENOMEM;
	if (finding->verdict == NCS_PACE_USUAL) {
		/* Without traffic the job sleeps, computes or is stalled. */
		if (finding->now.bytes_rate > 0)
			history->intervals[history->count++ %
					   NCS_USUAL] = finding->now;
		history->slow = 0;
		return 0;
	}
	/* If a different rank is slow each time, it is chance. */
	if (history->slow_rank != finding->rank)
		history->slow = 0;
	history->slow_rank = finding->rank;
	if (++history->slow < NCS_IN_A_ROW)
		finding->verdict = NCS_PACE_USUAL;
	return 0;
}

bool ncs_paces_know(const struct ncs_paces *paces, const char *key)
{
	for (size_t i = 0; i < paces->count; i++)
		if (strcmp(paces->histories[i].key, key) == 0)
			return paces->histories[i].count >= NCS_FEW;
	return false;
}

void ncs_paces_end_pass(struct ncs_paces *paces)
{
	size_t kept = 0;

	for (size_t i = 0; i < paces->count; i++) {
		if (!paces->histories[i].seen)
			continue;
		if (kept != i)
			paces->histories[kept] = paces->histories[i];
		paces->histories[kept++].seen = false;
	}
	paces->count = kept;
}

void ncs_paces_release(struct ncs_paces *paces)
{
	free(paces->histories);
	memset(paces, 0, sizeof(*paces));
}
