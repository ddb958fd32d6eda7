/* SPDX-License-Identifier: MIT */
/* The latest step of a rank, for the time that the timeline begins with: its
 * latest operations as far as they repeat those before. */
#include "analysis/views/timeline.h"

#include "analysis/records/operation_record.h"
#include "shm/clock.h"

/* Operations that are compared; those that are a step if none is repeated. */
#define COMPARED_MAX 512u
#define WITHOUT_PERIOD 8u

static bool are_alike(const struct ncs_record *a, const struct ncs_record *b)
{
	return a->event == b->event && a->function == b->function &&
	       a->value == b->value;
}

/* Returns after how many operations the latest ones, which come first, begin
 * again. */
static size_t period_of(const struct ncs_record *const *records, size_t count)
{
	for (size_t period = 1; 2 * period <= count; period++) {
		size_t i = 0;

		while (i < period && are_alike(records[i], records[i + period]))
			i++;
		if (i == period)
			return period;
	}
	return count < WITHOUT_PERIOD ? count : WITHOUT_PERIOD;
}

bool ncs_latest_step(const struct ncs_rank *rank, uint64_t *from_ns,
		     uint64_t *until_ns)
{
	const struct ncs_latest_ring *ring =
		rank->latest ? &rank->latest->rings[NCS_LATEST_CALLS] : NULL;
	const struct ncs_record *records[COMPARED_MAX];
	size_t count = 0, period;

	for (size_t i = ring ? ring->count : 0; i-- > 0 && count < COMPARED_MAX;)
		if (ncs_record_is_operation(ncs_latest_at(ring, i)))
			records[count++] = ncs_latest_at(ring, i);
	if (count == 0)
		return false;
	period = period_of(records, count);
	*from_ns = UINT64_MAX;
	*until_ns = 0;
	for (size_t i = 0; i < period; i++) {
		uint64_t start_ns =
			ncs_clock_ns(&rank->clock, records[i]->start);
		uint64_t end_ns = ncs_clock_ns(
			&rank->clock, records[i]->start + records[i]->duration);

		if (start_ns < *from_ns)
			*from_ns = start_ns;
		if (end_ns > *until_ns)
			*until_ns = end_ns;
	}
	return *until_ns > *from_ns;
}
