/* SPDX-License-Identifier: MIT */
/* The meaning of an operation's parts together; see joined.h. Must not trust
 * parts: times may be any value.
 */
#include "analysis/records/joined.h"

#include "analysis/base/finding_numbers.h"
#include "analysis/records/operation_record.h"
#include "ncclstat/abi_values.h"

/* Returns whether a moment is known of all parts. */
static bool all_know(const struct ncs_joined *joined, enum ncs_moment moment)
{
	for (size_t i = 0; i < joined->count; i++)
		if (joined->parts[i].at_ns[moment] == 0)
			return false;
	return true;
}

static const struct ncs_part *latest(const struct ncs_joined *joined,
				     enum ncs_moment moment)
{
	const struct ncs_part *found = &joined->parts[0];

	for (size_t i = 1; i < joined->count; i++)
		if (joined->parts[i].at_ns[moment] > found->at_ns[moment])
			found = &joined->parts[i];
	return found;
}

static bool is_data_computed(const struct ncs_joined *joined)
{
	for (size_t i = 0; i < joined->count; i++)
		if (joined->parts[i].flags & NCS_PART_DATA_COMPUTED)
			return true;
	return false;
}

/* Returns whether a rank had nothing to send for long although all kernels had
 * begun: then all waited for that, and DATA shows who was late. */
static bool is_data_late(const struct ncs_joined *joined,
			 enum ncs_moment begin)
{
	const struct ncs_part *begun = latest(joined, begin);
	const struct ncs_part *last = latest(joined, NCS_MOMENT_DATA);

	return last->at_ns[NCS_MOMENT_DATA] >
	       begun->at_ns[begin] +
		       ncs_parts_error_ns(last, NCS_MOMENT_DATA, begun, begin) +
		       NCS_TAIL_NS;
}

static void find_arrival(struct ncs_joined *joined)
{
	static const enum ncs_moment moments[] = { NCS_MOMENT_STREAM,
						   NCS_MOMENT_KERNEL,
						   NCS_MOMENT_PROXY };
	/* If not all ranks wait for all, a rank may send the data of others:
	 * then DATA does not show its own arrival. */
	bool has_data = joined->wait_rule == NCS_WAIT_FOR_ALL &&
			all_know(joined, NCS_MOMENT_DATA);

	joined->arrival = NCS_MOMENT_OPERATION;
	for (size_t i = 0; i < sizeof(moments) / sizeof(moments[0]); i++)
		if (all_know(joined, moments[i])) {
			joined->arrival = moments[i];
			break;
		}
	if (has_data && joined->arrival != NCS_MOMENT_OPERATION &&
	    ((joined->arrival != NCS_MOMENT_STREAM &&
	      !is_data_computed(joined)) ||
	     is_data_late(joined, joined->arrival)))
		joined->arrival = NCS_MOMENT_DATA;
}

/* Returns the part that arrived last of those that others wait for; NULL if
 * none waits for another. */
static const struct ncs_part *last_awaited(const struct ncs_joined *joined)
{
	const struct ncs_part *last = NULL;

	for (size_t i = 0; i < joined->count; i++) {
		const struct ncs_part *part = &joined->parts[i];

		if (ncs_is_awaited(joined->wait_rule,
				   ncs_joined_is_root(joined, part)) &&
		    (!last || ncs_joined_arrival_ns(joined, part) >
				      ncs_joined_arrival_ns(joined, last)))
			last = part;
	}
	return last;
}

bool ncs_joined_may_have_ended(const struct ncs_joined *joined,
			       const struct ncs_part *part,
			       enum ncs_moment moment)
{
	const struct ncs_part *last = joined->last_awaited;

	if (moment == NCS_MOMENT_KERNEL_END &&
	    part->flags & NCS_PART_KERNEL_END_EARLY)
		return false;
	return !last || part == last ||
	       !ncs_is_waiting(joined->wait_rule,
			       ncs_joined_is_root(joined, part)) ||
	       part->at_ns[moment] + ncs_parts_error_ns(part, moment, last,
							joined->arrival) >=
		       ncs_joined_arrival_ns(joined, last);
}

/* Returns whether a moment may be the end of all parts. */
static bool may_be_end(const struct ncs_joined *joined, enum ncs_moment moment)
{
	for (size_t i = 0; i < joined->count; i++)
		if (!ncs_joined_may_have_ended(joined, &joined->parts[i],
					       moment))
			return false;
	return true;
}

/* Finds the moment that counts as the end. KERNEL_END of a rank may come long
 * before its kernel ends: with the TREE algorithm, NCCL's channels stop one by
 * one. */
static void find_end(struct ncs_joined *joined)
{
	static const enum ncs_moment moments[] = { NCS_MOMENT_STREAM_END,
						   NCS_MOMENT_KERNEL_END,
						   NCS_MOMENT_LAST_END };
	const struct ncs_part *last = last_awaited(joined);

	joined->last_awaited = last;
	joined->end = NCS_MOMENT_LAST_END;
	joined->not_before_ns = last ? ncs_joined_arrival_ns(joined, last) : 0;
	joined->end_is_trusted = true;
	for (size_t i = 0; i < sizeof(moments) / sizeof(moments[0]); i++) {
		if (!all_know(joined, moments[i]) ||
		    !may_be_end(joined, moments[i]))
			continue;
		joined->end = moments[i];
		return;
	}
	joined->end_is_trusted = false;
}

uint64_t ncs_joined_end_ns(const struct ncs_joined *joined,
			   const struct ncs_part *part)
{
	uint64_t end_ns = part->at_ns[joined->end];

	if (end_ns < joined->not_before_ns &&
	    ncs_is_waiting(joined->wait_rule, ncs_joined_is_root(joined, part)))
		return joined->not_before_ns;
	return end_ns;
}

/* Returns the sum of the two largest errors of different clocks, unless they are
 * aligned by what passed between them: their offset is then in the middle of what is
 * possible, and nearly right. A clock has one error at a time. */
static uint64_t clocks_apart_ns(const struct ncs_joined *joined)
{
	const struct ncs_part *worst = &joined->parts[0];
	bool is_by_realtime = worst->flags & NCS_PART_BY_REALTIME;
	uint64_t apart_ns = 0;

	for (size_t i = 1; i < joined->count; i++) {
		const struct ncs_part *part = &joined->parts[i];
		uint64_t sum_ns = (uint64_t)worst->clock_error_ns +
				  part->clock_error_ns;

		if (part->clock != worst->clock && sum_ns > apart_ns)
			apart_ns = sum_ns;
		if (part->clock_error_ns > worst->clock_error_ns)
			worst = part;
		is_by_realtime |= part->flags & NCS_PART_BY_REALTIME;
	}
	return is_by_realtime ? apart_ns : 0;
}

/* A sender that ended before the receiver began did not wait for it. */
static enum ncs_wait_rule rule_of_transfer(const struct ncs_joined *joined)
{
	const struct ncs_part *send = &joined->parts[0];
	const struct ncs_part *receive = &joined->parts[1];

	if (joined->count < 2)
		return NCS_WAIT_FOR_NONE;
	return send->at_ns[NCS_MOMENT_LAST_END] <
			       receive->at_ns[NCS_MOMENT_OPERATION] ?
		       NCS_WAIT_FOR_ROOT :
		       NCS_WAIT_FOR_ALL;
}

/* Returns whether the sender of a transfer had surely ended before its receiver
 * arrived: what is small or goes over the network is buffered. */
static bool has_not_waited(const struct ncs_joined *joined)
{
	const struct ncs_part *send = &joined->parts[0];
	enum ncs_moment end = send->at_ns[NCS_MOMENT_STREAM_END] != 0 ?
				      NCS_MOMENT_STREAM_END :
				      NCS_MOMENT_LAST_END;

	return joined->count == 2 && joined->arrival != NCS_MOMENT_OPERATION &&
	       send->at_ns[end] + ncs_parts_error_ns(send, end,
						     &joined->parts[1],
						     joined->arrival) <
		       ncs_joined_arrival_ns(joined, &joined->parts[1]);
}

/* Returns how much earlier than its end a part can have ended: its kernel has
 * handed out its last data, which the proxy thread notices a little later, and
 * the network may take long for. Even by one clock, the next operation may begin
 * a little before that end: the two are measured apart from each other. */
static uint64_t early_ns(const struct ncs_joined *joined,
			 const struct ncs_part *part, uint64_t end_ns)
{
	if (joined->end != NCS_MOMENT_LAST_END)
		return ncs_part_error_ns(part, joined->end) + NCS_ERROR_NS;
	if (part->last_data_ns != 0 && part->last_data_ns < end_ns)
		return end_ns - part->last_data_ns + NCS_TAIL_NS;
	return NCS_TAIL_NS;
}

/* Returns the earliest time at which a part can have ended that can have ended
 * so much early. */
static uint64_t least_end_ns(const struct ncs_joined *joined,
			     const struct ncs_part *part, uint64_t end_ns,
			     uint64_t early_ns)
{
	uint64_t least_ns = ncs_joined_arrival_ns(joined, part);

	if (least_ns < joined->not_before_ns &&
	    ncs_is_waiting(joined->wait_rule, ncs_joined_is_root(joined, part)))
		least_ns = joined->not_before_ns;
	if (end_ns - least_ns > early_ns)
		least_ns = end_ns - early_ns;
	return least_ns < end_ns ? least_ns : end_ns;
}

uint64_t ncs_joined_turn_ns(const struct ncs_joined *joined,
			    const struct ncs_part *part)
{
	uint64_t end_ns = ncs_joined_end_ns(joined, part);

	return joined->end == NCS_MOMENT_LAST_END ?
		       least_end_ns(joined, part, end_ns, NCS_TAIL_NS) :
		       end_ns;
}

/* Finds when the first part ended, and from when on it may have. */
static void find_first(struct ncs_joined *joined)
{
	joined->first_end_ns = joined->turn_ns = UINT64_MAX;
	for (size_t i = 0; i < joined->count; i++) {
		const struct ncs_part *part = &joined->parts[i];
		uint64_t end_ns = ncs_joined_end_ns(joined, part);
		uint64_t turn_ns = ncs_joined_turn_ns(joined, part);

		if (end_ns < joined->first_end_ns)
			joined->first_end_ns = end_ns;
		if (turn_ns < joined->turn_ns)
			joined->turn_ns = turn_ns;
	}
}

void ncs_joined_finish(struct ncs_joined *joined)
{
	bool is_transfer = ncs_joined_is_transfer(joined);

	joined->wait_rule = is_transfer ? rule_of_transfer(joined) :
					  ncs_wait_rule_of(joined->function);
	find_arrival(joined);
	if (is_transfer && has_not_waited(joined))
		joined->wait_rule = NCS_WAIT_FOR_ROOT;
	find_end(joined);
	joined->clocks_apart_ns = clocks_apart_ns(joined);
	find_first(joined);
}

enum ncs_doubt ncs_joined_doubt(const struct ncs_joined *joined,
				const struct ncs_part *part)
{
	if (!joined->is_complete)
		return NCS_DOUBT_INCOMPLETE;
	if (!joined->is_whole)
		return NCS_DOUBT_UNRECORDED;
	if (joined->arrival == NCS_MOMENT_OPERATION)
		return NCS_DOUBT_HOST;
	if (!joined->end_is_trusted)
		return NCS_DOUBT_END;
	return ncs_joined_end_ns(joined, part) != part->at_ns[joined->end] ?
		       NCS_DOUBT_PULLED :
		       NCS_DOUBT_NONE;
}

static unsigned timing_of(enum ncs_moment end)
{
	if (end == NCS_MOMENT_STREAM_END)
		return NCS_TIMING_STREAM;
	return end == NCS_MOMENT_KERNEL_END ? NCS_TIMING_KERNEL :
					      NCS_TIMING_PROXY;
}

bool ncs_joined_moving(const struct ncs_joined *joined,
		       struct ncs_moving_part *moving)
{
	const struct ncs_part *begin, *end = &joined->parts[0];
	enum ncs_moment begins = joined->arrival;

	if (joined->arrival == NCS_MOMENT_OPERATION || !joined->end_is_trusted)
		return false;
	if (ncs_joined_is_transfer(joined) &&
	    (joined->count != 2 || joined->wait_rule != NCS_WAIT_FOR_ALL))
		return false;
	/* Operations of one launch share its times on the stream, even if the
	 * data of one of them is late. */
	if (joined->end == NCS_MOMENT_STREAM_END &&
	    all_know(joined, NCS_MOMENT_STREAM))
		begins = NCS_MOMENT_STREAM;
	begin = latest(joined, begins);
	for (size_t i = 1; i < joined->count; i++)
		if (ncs_joined_end_ns(joined, &joined->parts[i]) >
		    ncs_joined_end_ns(joined, end))
			end = &joined->parts[i];
	*moving = (struct ncs_moving_part){
		.begin_ns = begin->at_ns[begins],
		.end_ns = ncs_joined_end_ns(joined, end),
		.error_ns = ncs_parts_error_ns(begin, begins, end,
					       joined->end),
		.timing = timing_of(joined->end),
	};
	return moving->end_ns > moving->begin_ns;
}

double ncs_joined_moving_ns(const struct ncs_joined *joined)
{
	struct ncs_moving_part moving;

	return ncs_joined_moving(joined, &moving) ?
		       (double)(moving.end_ns - moving.begin_ns) :
		       0;
}

void ncs_part_times_make(struct ncs_part_times *times,
			 const struct ncs_joined *joined,
			 const struct ncs_part *part)
{
	const struct ncs_part_channel *slowest = &part->slowest;
	const uint64_t *wait_ns =
		&slowest->wait_ns[slowest->send ? NCS_CHANNEL_SEND_GPU_WAIT :
						  NCS_CHANNEL_RECV_WAIT];

	times->begin_ns = part->at_ns[NCS_MOMENT_OPERATION];
	times->call_ns = part->at_ns[NCS_MOMENT_CALL] != 0 ?
				 part->at_ns[NCS_MOMENT_CALL] :
				 times->begin_ns;
	times->arrival_ns = ncs_joined_arrival_ns(joined, part);
	times->end_ns = ncs_joined_end_ns(joined, part);
	times->least_end_ns = least_end_ns(joined, part, times->end_ns,
					   early_ns(joined, part,
						    times->end_ns));
	times->owner = (uint32_t)part->owner;
	times->has_begun = joined->arrival != NCS_MOMENT_OPERATION;
	times->last_channel.is_known = slowest->steps > 0;
	times->last_channel.send = slowest->send;
	times->last_channel.channel = slowest->channel;
	times->last_channel.peer = slowest->peer;
	for (unsigned i = 0; i < 3; i++)
		times->last_channel.wait_ns[i] = (float)(int64_t)wait_ns[i];
}
