/* SPDX-License-Identifier: MIT */
/* The clocks of nodes against this machine's; see fleet.h. */
#include <errno.h>
#include <string.h>

#include "record/fleet/fleet_internal.h"
#include "record/write/clock_reading.h"
#include "record/write/recording_writer.h"
#include "shm/array.h"

/* A shift is kept unless a better one differs by more: times that jump make
 * rates wrong. */
#define JUMP_NS 1000000

static bool is_of(const struct ncs_fleet_clock *clock,
		  const struct ncs_file_head *head)
{
	return clock->time_namespace == head->time_namespace &&
	       strcmp(clock->boot_id, head->boot_id) == 0 &&
	       (head->boot_id[0] || strcmp(clock->host, head->host) == 0);
}

static int find_clock(struct ncs_fleet *fleet, const struct ncs_file_head *head,
		      size_t *place)
{
	struct ncs_fleet_clock *clock;
	struct ncs_file_head here;

	for (*place = 0; *place < fleet->clock_count; ++*place)
		if (is_of(&fleet->clocks[*place], head))
			return 0;
	if (ncs_array_reserve(&fleet->clocks, &fleet->clock_capacity,
			      fleet->clock_count + 1, sizeof(*clock)) != 0)
		return -ENOMEM;
	clock = &fleet->clocks[fleet->clock_count++];
	*clock = (struct ncs_fleet_clock){
		.time_namespace = head->time_namespace,
		.arrival_ns = INT64_MAX,
	};
	memcpy(clock->boot_id, head->boot_id, sizeof(clock->boot_id));
	memcpy(clock->host, head->host, sizeof(clock->host));
	ncs_recording_head_here(&here);
	clock->is_here = head->boot_id[0] && is_of(clock, &here);
	return 0;
}

static uint64_t error_of(const struct ncs_clock_reading *reading)
{
	return reading->synchronized && reading->after_ns >= reading->before_ns ?
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
static bool by_realtime(const struct ncs_fleet_clock *clock,
			const struct ncs_clock_reading *there,
			int64_t *shift_ns, uint64_t *error_ns)
{
	struct ncs_clock_reading here;
	uint64_t a, b;

	ncs_clock_reading_take(&here);
	a = error_of(&here);
	b = error_of(there);
	if (a > INT64_MAX / 4 || b > INT64_MAX / 4)
		return false;
	*error_ns = a + b + (here.after_ns - here.before_ns) +
		    (there->after_ns - there->before_ns);
	*shift_ns = (int64_t)((uint64_t)realtime_offset(there) -
			      (uint64_t)realtime_offset(&here));
	return *error_ns <= INT64_MAX / 4 &&
	       *shift_ns - (int64_t)*error_ns <= clock->arrival_ns;
}

static void set_shift(struct ncs_fleet_clock *clock, int64_t shift_ns)
{
	int64_t by_ns = (int64_t)((uint64_t)shift_ns -
				  (uint64_t)clock->shift_ns);

	if (clock->is_known && by_ns < JUMP_NS && by_ns > -JUMP_NS)
		return;
	clock->shift_ns = shift_ns;
	clock->is_known = true;
	clock->changes++;
}

int ncs_fleet_clock_take(struct ncs_fleet *fleet, struct ncs_fleet_node *node)
{
	const struct ncs_stream_facts *facts = ncs_stream_facts(node->stream);
	struct ncs_fleet_clock *clock;
	int64_t arrival_ns, shift_ns;
	uint64_t error_ns;
	int error = find_clock(fleet, &facts->head, &node->clock);

	if (error) {
		node->clock = SIZE_MAX;
		return error;
	}
	clock = &fleet->clocks[node->clock];
	if (clock->is_here) {
		clock->is_known = clock->is_aligned = true;
		return 0;
	}
	arrival_ns = (int64_t)(node->now_ns - facts->look.taken_ns);
	if (arrival_ns < clock->arrival_ns)
		clock->arrival_ns = arrival_ns;
	clock->is_aligned =
		facts->clock.realtime_ns != 0 &&
		by_realtime(clock, &facts->clock, &shift_ns, &error_ns);
	clock->error_ns = clock->is_aligned ? error_ns + JUMP_NS : 0;
	set_shift(clock, clock->is_aligned ? shift_ns : clock->arrival_ns);
	return 0;
}
