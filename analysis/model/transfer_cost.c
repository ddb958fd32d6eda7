/* SPDX-License-Identifier: MIT */
/* The cost of ranks in sends and receives; see transfer_cost.h. Must not count a
 * wait for what a rank was itself waiting for.
 */
#include "analysis/model/transfer_cost.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/model/waits.h"

static struct ncs_late_transfers *transfers_of(struct ncs_rank *rank)
{
	if (rank->late && !rank->late->transfers)
		rank->late->transfers =
			calloc(1, sizeof(*rank->late->transfers));
	return rank->late ? rank->late->transfers : NULL;
}

static struct ncs_transfer_slice *slice_at(struct ncs_late_transfers *transfers,
					   uint64_t at_ns)
{
	uint64_t number = at_ns / NCS_TRANSFER_SLICE_NS;
	struct ncs_transfer_slice *slice =
		&transfers->slices[number % NCS_TRANSFER_SLICES];

	if (slice->number < number)
		*slice = (struct ncs_transfer_slice){ .number = number };
	return slice;
}

/* Returns the time from `from_ns` to `until_ns` that was not counted before. */
static uint64_t uncounted_ns(uint64_t *counted_ns, uint64_t from_ns,
			     uint64_t until_ns)
{
	uint64_t time_ns;

	if (*counted_ns > from_ns)
		from_ns = *counted_ns;
	time_ns = ncs_time_since(from_ns, until_ns);
	if (until_ns > *counted_ns)
		*counted_ns = until_ns;
	return time_ns;
}

/* Returns the latest of some ends until `until_ns`; 0 if none is known. */
static uint64_t latest_end(const uint64_t ends_ns[NCS_TRANSFER_ENDS],
			   uint64_t until_ns)
{
	uint64_t latest_ns = 0;

	for (unsigned i = 0; i < NCS_TRANSFER_ENDS; i++)
		if (ends_ns[i] <= until_ns + NCS_LAUNCH_NS &&
		    ends_ns[i] > latest_ns)
			latest_ns = ends_ns[i];
	return latest_ns;
}

static void add_work(struct ncs_late_transfers *transfers, uint64_t from_ns,
		     uint64_t until_ns)
{
	struct ncs_transfer_slice *slice = slice_at(transfers, until_ns);
	uint64_t work_ns =
		uncounted_ns(&transfers->work_until_ns, from_ns, until_ns);

	slice->work_ns += work_ns;
	if (work_ns > slice->longest_ns)
		slice->longest_ns = work_ns;
}

/* Returns whether part i waited for another one. */
static bool has_waited(const struct ncs_comparison *comparison, size_t i)
{
	const struct ncs_joined *joined = comparison->joined;

	return i != comparison->last &&
	       ncs_arrival_ns(comparison, comparison->last) >
		       ncs_arrival_ns(comparison, i) + NCS_LAUNCH_NS &&
	       ncs_is_waiting(joined->wait_rule,
			      ncs_joined_is_root(joined, &joined->parts[i]));
}

/* Returns whether two times are the same, as far as launches tell. */
static bool is_near(uint64_t a_ns, uint64_t b_ns)
{
	return a_ns + NCS_LAUNCH_NS > b_ns && b_ns + NCS_LAUNCH_NS > a_ns;
}

/* Finds out whether the process went on to part i while its latest send was under
 * way, not in one launch with it. */
static void note_overlap(const struct ncs_comparison *comparison, size_t i,
			 const struct ncs_part_times *times,
			 struct ncs_late_transfers *transfers)
{
	const struct ncs_part *part = &comparison->joined->parts[i];

	if ((int32_t)(part->operation - transfers->send_operation) > 0 &&
	    times->arrival_ns + NCS_LAUNCH_NS < transfers->send_end_ns &&
	    !(is_near(times->arrival_ns, transfers->send_begin_ns) &&
	      is_near(times->least_end_ns, transfers->send_end_ns)))
		transfers->sends_overlap = true;
}

/* Notes from when on the process does what it does by itself: from the end of an
 * operation in which it waited, or from when it had its first data after that. */
static void note_begin(const struct ncs_comparison *comparison, size_t i,
		       const struct ncs_part_times *times,
		       struct ncs_late_transfers *transfers)
{
	const struct ncs_part *part = &comparison->joined->parts[i];
	uint64_t *begin_ns =
		&transfers->begins_ns[transfers->begin_count %
				      NCS_TRANSFER_ENDS];

	if (has_waited(comparison, i)) {
		*begin_ns = times->least_end_ns;
		transfers->has_waited = true;
	} else if (transfers->has_waited &&
		   part->function == NCS_FUNCTION_RECV) {
		*begin_ns = ncs_arrival_ns(comparison, comparison->second);
		transfers->has_waited = false;
	} else {
		transfers->has_waited = false;
		return;
	}
	transfers->begin_count++;
}

/* Notes the work before part i, from the end of the operation before that the
 * process waited for, and when the part ended. If the process goes on while it
 * sends, sends tell nothing of its work. */
static void note_work(const struct ncs_comparison *comparison, size_t i,
		      struct ncs_late_transfers *transfers)
{
	const struct ncs_part *part = &comparison->joined->parts[i];
	bool is_send = part->function == NCS_FUNCTION_SEND;
	struct ncs_part_times times;
	uint64_t before_ns;

	ncs_part_times_make(&times, comparison->joined, part);
	if (transfers->first_ns == 0)
		transfers->first_ns = times.arrival_ns;
	if (times.arrival_ns > transfers->latest_ns)
		transfers->latest_ns = times.arrival_ns;
	if (!is_send)
		note_overlap(comparison, i, &times, transfers);
	if (!is_send || !transfers->sends_overlap) {
		before_ns = latest_end(transfers->ends_ns, times.arrival_ns);
		if (before_ns != 0)
			add_work(transfers, before_ns, times.arrival_ns);
		transfers->ends_ns[transfers->end_count++ % NCS_TRANSFER_ENDS] =
			times.least_end_ns;
		note_begin(comparison, i, &times, transfers);
	}
	if (is_send) {
		transfers->send_operation = part->operation;
		transfers->send_begin_ns = times.arrival_ns;
		transfers->send_end_ns = times.least_end_ns;
	}
}

/* Returns how long the other rank itself worked before it was there. */
static uint64_t usual_ns(const struct ncs_comparison *comparison)
{
	const struct ncs_late_rank *late =
		comparison->ranks[comparison->second]->late;
	uint64_t arrival_ns = ncs_arrival_ns(comparison, comparison->second);
	uint64_t before_ns =
		late->transfers ?
			latest_end(late->transfers->ends_ns, arrival_ns) :
			0;

	return before_ns != 0 ? ncs_time_since(before_ns, arrival_ns) : 0;
}

/* Notes that the receiver waited for what the sender did. A sender that waits is
 * ahead. */
static void note_wait(const struct ncs_comparison *comparison,
		      struct ncs_late_transfers *transfers)
{
	const struct ncs_part *part =
		&comparison->joined->parts[comparison->last];
	uint64_t arrival_ns = ncs_arrival_ns(comparison, comparison->last);
	uint64_t from_ns = ncs_arrival_ns(comparison, comparison->second);
	uint64_t launched_ns = part->at_ns[NCS_MOMENT_OPERATION];
	struct ncs_transfer_slice *slice = slice_at(transfers, arrival_ns);
	uint64_t before_ns = latest_end(transfers->begins_ns, arrival_ns) +
			     usual_ns(comparison);
	uint64_t own_ns, host_ns;

	if (before_ns > from_ns)
		from_ns = before_ns;
	/* Behind another send on its stream. */
	if (part->function == NCS_FUNCTION_SEND && transfers->sends_overlap &&
	    is_near(arrival_ns, transfers->send_end_ns))
		return;
	own_ns = uncounted_ns(&transfers->own_until_ns, from_ns, arrival_ns);
	if (own_ns < NCS_STRAGGLER_NS)
		return;
	host_ns = ncs_time_since(arrival_ns - own_ns, launched_ns);
	if (host_ns > own_ns)
		host_ns = own_ns;
	slice->wait_ns[NCS_LATE_HOST] += host_ns;
	slice->wait_ns[NCS_LATE_STREAM] += own_ns - host_ns;
}

int ncs_transfer_note(const struct ncs_comparison *comparison)
{
	const struct ncs_joined *joined = comparison->joined;

	for (size_t i = 0; i < joined->count; i++) {
		struct ncs_late_transfers *transfers =
			transfers_of(comparison->ranks[i]);

		if (!transfers)
			return -ENOMEM;
		if (i == comparison->last && comparison->exclusive_ns > 0 &&
		    joined->parts[i].function == NCS_FUNCTION_SEND &&
		    ncs_is_awaited(joined->wait_rule,
				   ncs_joined_is_root(joined,
						      &joined->parts[i])))
			note_wait(comparison, transfers);
		note_work(comparison, i, transfers);
	}
	return 0;
}

void ncs_transfer_note_collective(const struct ncs_comparison *comparison)
{
	const struct ncs_model *model = comparison->model;

	for (size_t i = 0; i < comparison->joined->count; i++)
		for (size_t k = 0; k < model->rank_count; k++) {
			const struct ncs_rank *rank = model->ranks[k];

			if (rank->late && rank->late->transfers &&
			    ncs_shares_process(rank, comparison->ranks[i]))
				note_work(comparison, i, rank->late->transfers);
		}
}

/* --- The cost ------------------------------------------------------------- */

/* The recent time of a rank. */
struct recent_time {
	uint64_t work_ns, longest_ns;
	uint64_t wait_ns[NCS_LATE_CAUSE_COUNT];
};

static uint64_t sum_of(const struct recent_time *recent)
{
	return recent->wait_ns[NCS_LATE_HOST] + recent->wait_ns[NCS_LATE_STREAM];
}

static struct recent_time sum_from(const struct ncs_late_transfers *transfers,
				   uint64_t from_ns)
{
	struct recent_time recent = { 0 };

	for (size_t i = 0; i < NCS_TRANSFER_SLICES; i++) {
		const struct ncs_transfer_slice *slice = &transfers->slices[i];

		if (slice->number < from_ns / NCS_TRANSFER_SLICE_NS)
			continue;
		recent.work_ns += slice->work_ns;
		if (slice->longest_ns > recent.longest_ns)
			recent.longest_ns = slice->longest_ns;
		for (unsigned k = 0; k < NCS_LATE_CAUSE_COUNT; k++)
			recent.wait_ns[k] += slice->wait_ns[k];
	}
	return recent;
}

/* Returns the transfers of a rank that were compared, or NULL. */
static struct ncs_late_transfers *compared(const struct ncs_rank *rank)
{
	return rank->late ? rank->late->transfers : NULL;
}

/* Computes what rank `self` costs from `from_ns` on. */
static void find_cost(const struct ncs_communicator *communicator, size_t self,
		      uint64_t from_ns, uint64_t window_ns)
{
	struct ncs_late_transfers *transfers =
		compared(communicator->ranks[self]);
	struct recent_time own = sum_from(transfers, from_ns);
	struct recent_time most = { 0 };
	uint64_t work_ns, wait_ns, host_ns;

	for (size_t i = 0; i < communicator->rank_count; i++) {
		const struct ncs_late_transfers *other =
			compared(communicator->ranks[i]);
		struct recent_time recent;

		if (i == self || !other)
			continue;
		recent = sum_from(other, from_ns);
		if (recent.work_ns > most.work_ns)
			most.work_ns = recent.work_ns;
		if (sum_of(&recent) > sum_of(&most))
			memcpy(most.wait_ns, recent.wait_ns,
			       sizeof(most.wait_ns));
	}
	/* One of them may be in the recent time of this rank only. */
	work_ns = ncs_time_since(most.work_ns + own.longest_ns, own.work_ns);
	wait_ns = sum_of(&own);
	if (wait_ns > work_ns)
		wait_ns = work_ns;
	transfers->cost =
		window_ns > 0 ? (double)wait_ns / (double)window_ns : -1;
	host_ns = ncs_time_since(most.wait_ns[NCS_LATE_HOST],
				 own.wait_ns[NCS_LATE_HOST]);
	if (host_ns > wait_ns)
		host_ns = wait_ns;
	transfers->cause_ns[NCS_LATE_HOST] = host_ns;
	transfers->cause_ns[NCS_LATE_STREAM] = wait_ns - host_ns;
}

void ncs_transfer_update(const struct ncs_communicator *communicator)
{
	uint64_t first_ns = UINT64_MAX, latest_ns = 0;

	for (size_t i = 0; i < communicator->rank_count; i++) {
		const struct ncs_late_transfers *transfers =
			compared(communicator->ranks[i]);

		if (!transfers)
			continue;
		if (transfers->first_ns < first_ns)
			first_ns = transfers->first_ns;
		if (transfers->latest_ns > latest_ns)
			latest_ns = transfers->latest_ns;
	}
	if (latest_ns > NCS_COST_WINDOW_NS &&
	    latest_ns - NCS_COST_WINDOW_NS > first_ns)
		first_ns = latest_ns - NCS_COST_WINDOW_NS;
	for (size_t i = 0; i < communicator->rank_count; i++)
		if (compared(communicator->ranks[i]))
			find_cost(communicator, i, first_ns,
				  ncs_time_since(first_ns, latest_ns));
}
