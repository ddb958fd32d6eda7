/* NCCL's activation mask; see mask.h. */
#include "plugin/mask.h"

#include "ncclstat/record.h"
#include "shm/atomics.h"

#define KERNEL_EVENTS (1u << NCS_EVENT_KERNEL_CH | 1u << NCS_EVENT_KERNEL_PHASE)

static uint32_t *word; /* set at the first init, before any callback */
static uint32_t allowed;

static uint32_t events = UINT32_MAX;
static uint64_t timing; /* mode and period, as they were asked for */

/* The word is read by NCCL's threads at any time: stored only where it
 * changes. */
static void store(void)
{
	uint32_t wanted = ncs_load_relaxed32(&allowed) &
			  (ncs_load_relaxed32(&events) | KERNEL_EVENTS);

	if (word && ncs_load_relaxed32(word) != wanted)
		ncs_store_relaxed32(word, wanted);
}

void ncs_mask_attach(int *mask, int wanted)
{
	if (!mask || wanted == 0)
		return;
	if (word != (uint32_t *)mask)
		word = (uint32_t *)mask;
	ncs_store_relaxed32(&allowed, (uint32_t)wanted);
	store();
}

void ncs_mask_set_timing(enum ncs_kernel_timing mode, uint32_t period)
{
	ncs_store_relaxed(&timing, (uint64_t)mode << 32 | period);
}

void ncs_mask_set_events(uint32_t wanted)
{
	ncs_store_relaxed32(&events, wanted);
	store();
}
