/* SPDX-License-Identifier: MIT */
/* The clocks of nodes against this machine's and each other; see fleet.h.
 *
 * The sources of a clock's move, the first one that there is: it is this
 * machine's clock; traffic (fleet_alignment.h); CLOCK_REALTIME; the arrival of
 * looks, which makes ages right and aligns nothing.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/base/move_clock.h"
#include "fleet/head/fleet_internal.h"
#include "ncclstat/abi_clock.h"
#include "ncclstat/abi_header.h"
#include "record/write/recording_writer.h"
#include "shm/array.h"

#define SECOND_NS UINT64_C(1000000000)

/* A move that is not exact is kept unless a better one differs by more: times
 * that jump make rates wrong. */
#define JUMP_NS 1000000

/* How long a reading of this machine's clocks is used. */
#define HERE_NS (SECOND_NS / 10)

/* A move by traffic is kept while it differs from the best one by less than
 * this, or a quarter of the error. */
#define TRAFFIC_JUMP_NS 5000

/* Looks may have come faster only as long ago as this: clocks drift. */
#define ARRIVALS_NS (60 * SECOND_NS)

/* How often traffic is looked at, and for how long the first records of a clock
 * wait to be shown until it is aligned to within an error: what is told of the
 * first operations would else be as wrong as the first solution, which has seen
 * traffic for a moment only. */
#define SOLVE_EVERY_NS (SECOND_NS / 2)
#define DUE_NS (3 * SECOND_NS)
#define DUE_ERROR_NS 100000

/* --- Finding clocks ------------------------------------------------------ */

static bool is_of(const struct ncs_fleet_clock *clock,
		  const struct ncs_file_head *head)
{
	return clock->time_namespace == head->time_namespace &&
	       strcmp(clock->boot_id, head->boot_id) == 0 &&
	       (head->boot_id[0] || strcmp(clock->host, head->host) == 0);
}

/* Forgets all that was concluded from traffic. */
static void forget_traffic(struct ncs_fleet *fleet)
{
	ncs_fleet_alignment_forget(fleet->alignment);
	for (size_t i = 0; i < fleet->clock_count; i++) {
		fleet->clocks[i].traffic = (struct ncs_aligned){ 0 };
		fleet->clocks[i].records_since_ns = 0;
	}
	fleet->is_aligned_here = true;
}

/* Returns a place for a new clock: that of one that no node has any more, as
 * its machine was started again, or a new one. SIZE_MAX: there is no memory. */
static size_t place_of_new(struct ncs_fleet *fleet)
{
	for (size_t i = 0; i < fleet->clock_count; i++) {
		if (fleet->clocks[i].nodes > 0)
			continue;
		if (fleet->clocks[i].records_since_ns != 0)
			forget_traffic(fleet);
		return i;
	}
	if (ncs_array_reserve(&fleet->clocks, &fleet->clock_capacity,
			      fleet->clock_count + 1,
			      sizeof(*fleet->clocks)) != 0)
		return SIZE_MAX;
	return fleet->clock_count++;
}

/* Sets *place to the clock of the machine that `head` names. Returns 0; or
 * -ENOMEM, and *place is SIZE_MAX. */
static int find_clock(struct ncs_fleet *fleet, const struct ncs_file_head *head,
		      size_t *place)
{
	struct ncs_fleet_clock *clock;
	struct ncs_file_head here;

	if (*place != SIZE_MAX && is_of(&fleet->clocks[*place], head))
		return 0;
	if (*place != SIZE_MAX)
		fleet->clocks[*place].nodes--;
	for (*place = 0; *place < fleet->clock_count; ++*place)
		if (is_of(&fleet->clocks[*place], head)) {
			fleet->clocks[*place].nodes++;
			return 0;
		}
	*place = place_of_new(fleet);
	if (*place == SIZE_MAX)
		return -ENOMEM;
	clock = &fleet->clocks[*place];
	*clock = (struct ncs_fleet_clock){
		.nodes = 1,
		.time_namespace = head->time_namespace,
		.arrivals_ns = { INT64_MAX, INT64_MAX },
	};
	memcpy(clock->boot_id, head->boot_id, sizeof(clock->boot_id));
	memcpy(clock->host, head->host, sizeof(clock->host));
	ncs_recording_head_here(&here);
	clock->is_here = head->boot_id[0] && is_of(clock, &here);
	return 0;
}

/* --- Moves --------------------------------------------------------------- */

static uint64_t error_of(const struct ncs_clock_reading *reading)
{
	return reading->synchronized &&
			       reading->after_ns >= reading->before_ns ?
		       reading->maximum_error_ns :
		       UINT64_MAX;
}

static int64_t realtime_offset(const struct ncs_clock_reading *reading)
{
	return (int64_t)(reading->realtime_ns - reading->before_ns -
			 (reading->after_ns - reading->before_ns) / 2);
}

/* Finds the shift by CLOCK_REALTIME. Returns false if one of the two is not
 * kept synchronized, or the result contradicts a look's arrival. */
static bool by_realtime(const struct ncs_fleet *fleet,
			const struct ncs_fleet_clock *clock, int64_t *shift_ns,
			uint64_t *error_ns)
{
	const struct ncs_clock_reading *there = &clock->reading;
	const struct ncs_clock_reading *here = &fleet->here;
	uint64_t a, b;

	if (there->realtime_ns == 0)
		return false;
	a = error_of(here);
	b = error_of(there);
	if (a > INT64_MAX / 4 || b > INT64_MAX / 4)
		return false;
	*error_ns = a + b + (here->after_ns - here->before_ns) +
		    (there->after_ns - there->before_ns);
	*shift_ns = ncs_minus(realtime_offset(there), realtime_offset(here));
	return *error_ns <= INT64_MAX / 4 &&
	       ncs_minus(*shift_ns, (int64_t)*error_ns) <= clock->late_ns;
}

static void set_shift(struct ncs_fleet_clock *clock, int64_t shift_ns)
{
	int64_t by_ns = ncs_minus(shift_ns, clock->move.offset_ns);

	if (clock->is_known && clock->move.drift == 0 && by_ns < JUMP_NS &&
	    by_ns > -JUMP_NS)
		return;
	clock->move = (struct ncs_clock_move){ .offset_ns = shift_ns };
	clock->is_known = true;
}

static int64_t arrival_ns(const struct ncs_fleet_clock *clock)
{
	return clock->arrivals_ns[0] < clock->arrivals_ns[1] ?
		       clock->arrivals_ns[0] :
		       clock->arrivals_ns[1];
}

/* Sets the move without traffic. */
static void move_by_looks(const struct ncs_fleet *fleet,
			  struct ncs_fleet_clock *clock)
{
	uint64_t error_ns;
	int64_t shift_ns;

	clock->is_aligned = fleet->is_aligned_here &&
			    by_realtime(fleet, clock, &shift_ns, &error_ns);
	clock->error_ns = clock->is_aligned ? error_ns + JUMP_NS : 0;
	set_shift(clock, clock->is_aligned ? shift_ns : arrival_ns(clock));
}

static uint64_t distance(const struct ncs_clock_move *a,
			 const struct ncs_clock_move *b, uint64_t ns)
{
	return ncs_magnitude(ncs_minus(ncs_clock_move_by(a, ns),
				       ncs_clock_move_by(b, ns)));
}

/* Sets the move by traffic. A move that is nearly the same is kept; by how much
 * it differs is then a part of the error. */
static void move_by_traffic(const struct ncs_fleet *fleet,
			    struct ncs_fleet_clock *clock)
{
	const uint64_t base_ns = (uint64_t)clock->base_ns;
	const struct ncs_aligned *traffic = &clock->traffic;
	const struct ncs_clock_move move = {
		.offset_ns = ncs_plus(clock->base_ns, traffic->offset_ns),
		.drift = traffic->drift,
		.at_ns = traffic->at_ns - base_ns,
	};
	uint64_t before =
		distance(&clock->move, &move, fleet->aligned_from_ns - base_ns);
	uint64_t after = distance(&clock->move, &move,
				  fleet->aligned_until_ns - base_ns);
	uint64_t off_ns = before > after ? before : after;
	uint64_t error_ns = traffic->error_ns;

	if (!clock->is_aligned || !clock->is_known ||
	    (off_ns > TRAFFIC_JUMP_NS && off_ns > error_ns / 4)) {
		clock->move = move;
		off_ns = 0;
	}
	clock->is_known = clock->is_aligned = true;
	clock->error_ns = error_ns + off_ns + 1;
}

/* CLOCK_REALTIME must not contradict the arrival of a look. */
static bool is_by_traffic(const struct ncs_fleet_clock *clock)
{
	const struct ncs_aligned *traffic = &clock->traffic;
	int64_t shift_ns = ncs_plus(clock->base_ns, traffic->offset_ns);

	if (traffic->by == NCS_ALIGNED_BY_NOTHING ||
	    traffic->error_ns > INT64_MAX / 4)
		return false;
	return traffic->by == NCS_ALIGNED_BY_TRAFFIC ||
	       ncs_minus(shift_ns, (int64_t)traffic->error_ns) <=
		       clock->late_ns;
}

static void set_move(const struct ncs_fleet *fleet,
		     struct ncs_fleet_clock *clock)
{
	if (clock->is_here) {
		clock->is_known = true;
		clock->is_aligned = fleet->is_aligned_here;
	} else if (is_by_traffic(clock)) {
		clock->is_by_realtime =
			clock->traffic.by != NCS_ALIGNED_BY_TRAFFIC;
		move_by_traffic(fleet, clock);
	} else {
		clock->is_by_realtime = true;
		move_by_looks(fleet, clock);
	}
}

/* Reads this machine's clocks, unless that was done a short time ago. */
static void read_here(struct ncs_fleet *fleet, uint64_t now_ns)
{
	if (fleet->here.after_ns != 0 && now_ns - fleet->here_ns < HERE_NS)
		return;
	ncs_clock_reading_take(&fleet->here);
	fleet->here_ns = now_ns;
}

/* --- Looks --------------------------------------------------------------- */

static void note_arrival(struct ncs_fleet_clock *clock, uint64_t taken_ns,
			 uint64_t now_ns)
{
	clock->late_ns = (int64_t)(now_ns - taken_ns);
	if (now_ns - clock->arrivals_since_ns > ARRIVALS_NS) {
		clock->arrivals_ns[0] = clock->arrivals_ns[1];
		clock->arrivals_ns[1] = INT64_MAX;
		clock->arrivals_since_ns = now_ns;
	}
	if (clock->late_ns < clock->arrivals_ns[1])
		clock->arrivals_ns[1] = clock->late_ns;
}

/* Returns the number of a clock in the alignment. */
static size_t host_of(const struct ncs_fleet *fleet, size_t clock)
{
	return fleet->clocks[clock].is_here ? 0 : clock + 1;
}

int ncs_fleet_clock_take(struct ncs_fleet *fleet, struct ncs_fleet_node *node)
{
	const struct ncs_stream_facts *facts = &node->stream->facts;
	struct ncs_fleet_clock *clock;
	int error = find_clock(fleet, &facts->head, &node->clock);

	if (error)
		return error;
	clock = &fleet->clocks[node->clock];
	clock->reading = facts->clock;
	note_arrival(clock, facts->look.taken_ns, node->now_ns);
	read_here(fleet, node->now_ns);
	set_move(fleet, clock);
	if (clock->is_here || clock->records_since_ns == 0)
		return 0;
	return ncs_fleet_alignment_read(fleet->alignment,
					host_of(fleet, node->clock),
					clock->base_ns, &clock->reading);
}

/* --- Traffic ------------------------------------------------------------- */

static struct ncs_fleet_rank *rank_of(struct ncs_fleet_node *node,
				      size_t number,
				      const struct ncs_header *header)
{
	struct ncs_fleet_rank *rank;

	if (ncs_array_reserve_zeroed(&node->ranks, &node->rank_capacity,
				     number + 1, sizeof(*node->ranks)) != 0)
		return NULL;
	rank = &node->ranks[number];
	if (rank->pid != header->pid ||
	    rank->process_start != header->process_start ||
	    rank->created != header->created) {
		ncs_fleet_reported_release(&rank->reported);
		rank->pid = header->pid;
		rank->process_start = header->process_start;
		rank->created = header->created;
	}
	return rank;
}

int ncs_fleet_clock_tell(struct ncs_fleet *fleet, struct ncs_fleet_node *node,
			 size_t number, const struct ncs_snapshot *snapshot)
{
	struct ncs_stream_rank *rank = &node->stream->ranks[number];
	struct ncs_fleet_clock *clock = &fleet->clocks[node->clock];
	struct ncs_clock_move base = { 0 };
	struct ncs_clock ticks = rank->header.clock;
	struct ncs_fleet_rank *known;
	size_t seen = rank->records_seen;

	if (seen >= rank->record_count)
		return 0;
	known = rank_of(node, number, &rank->header);
	if (!known)
		return -ENOMEM;
	if (clock->records_since_ns == 0)
		clock->records_since_ns = fleet->now_ns;
	if (!clock->has_base && !clock->is_here)
		clock->base_ns = arrival_ns(clock);
	clock->has_base = true;
	base.offset_ns = clock->base_ns;
	ncs_clock_move(&ticks, &base);
	rank->records_seen = rank->record_count;
	return ncs_fleet_alignment_take(fleet->alignment,
					host_of(fleet, node->clock),
					&known->reported, snapshot, &ticks,
					rank->records + seen,
					rank->record_count - seen);
}

/* Returns whether records came of more than one clock. */
static bool has_traffic(const struct ncs_fleet *fleet)
{
	size_t count = 0;

	for (size_t i = 0; i < fleet->clock_count; i++)
		count += fleet->clocks[i].records_since_ns != 0;
	return count > 1;
}

/* Whether a clock that has records is aligned as well as may be expected. */
static bool is_settled(const struct ncs_fleet_clock *clock)
{
	return clock->traffic.by == NCS_ALIGNED_BY_TRAFFIC &&
	       clock->traffic.error_ns <= DUE_ERROR_NS;
}

/* Notes whether there are clocks for which the records of all wait. */
static void find_unsettled(struct ncs_fleet *fleet)
{
	fleet->has_unsettled = false;
	for (size_t i = 0; i < fleet->clock_count; i++)
		fleet->has_unsettled |= fleet->clocks[i].records_since_ns != 0 &&
					!is_settled(&fleet->clocks[i]);
}

bool ncs_fleet_clock_is_due(const struct ncs_fleet *fleet, size_t place)
{
	const struct ncs_fleet_clock *clock = &fleet->clocks[place];

	/* Until a second clock has records there is nothing to align. */
	return clock->records_since_ns != 0 && fleet->clock_count > 1 &&
	       fleet->now_ns - clock->records_since_ns < DUE_NS &&
	       (fleet->has_unsettled || !is_settled(clock));
}

int ncs_fleet_clocks_align(struct ncs_fleet *fleet, uint64_t now_ns)
{
	struct ncs_fleet_aligned aligned;
	int error;

	if (!has_traffic(fleet) ||
	    (fleet->aligned_ns != 0 &&
	     now_ns - fleet->aligned_ns < SOLVE_EVERY_NS))
		return 0;
	fleet->aligned_ns = now_ns;
	read_here(fleet, now_ns);
	error = ncs_fleet_alignment_read(fleet->alignment, 0, 0, &fleet->here);
	if (!error)
		error = ncs_fleet_alignment_solve(fleet->alignment, now_ns,
						  &aligned);
	if (error)
		return error;
	/* Without a host that is aligned to another, it is this machine. */
	fleet->is_aligned_here = aligned.reference == 0;
	fleet->aligned_from_ns = aligned.from_ns;
	fleet->aligned_until_ns = aligned.until_ns;
	for (size_t i = 0; i < fleet->clock_count; i++) {
		size_t host = host_of(fleet, i);
		struct ncs_fleet_clock *clock = &fleet->clocks[i];

		clock->traffic = (struct ncs_aligned){ 0 };
		if (host < aligned.count && clock->has_base)
			clock->traffic = aligned.hosts[host];
		set_move(fleet, clock);
	}
	find_unsettled(fleet);
	return 0;
}
