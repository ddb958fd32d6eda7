/* SPDX-License-Identifier: MIT */
/* The activation mask; see mask.h.
 *
 * NCCL and the GPU both count the works of a channel. For a work that is timed
 * the GPU writes its count, and NCCL waits for its own count to be written. The
 * two differ after a captured call, a message of a rank to itself, and a
 * Broadcast that becomes an AllGatherV; from 2.31 on NCCL counts timed works
 * only. If all works are timed, or none, all counts are written; if some are,
 * the job may hang. So kernel bits do not change while a communicator lives.
 * All others may, at any time and on any thread. */
#include "plugin/mask/mask.h"

#include <sched.h>
#include <string.h>

#include "plugin/mask/release_events.h"
#include "plugin/state/registry.h"
#include "plugin/state/transfers.h"

static struct {
	uint64_t asked;     /* requests to store since nobody was storing */
	uint64_t events[2]; /* by enum ncs_mask_part */
	enum ncs_kernel_timing timing;
	/* Only the thread that is storing uses these. */
	uint32_t *word;       /* NCCL's mask */
	unsigned api_version; /* 0 if no communicator was published */
	uint32_t kernel;      /* kernel bits */
	uint32_t stored;      /* the value that we stored last */
	bool foreign;         /* another writer has changed it */
	bool unseen;          /* a communicator was not published */
} mask;

/* Returns the events to ask a release for; 0 stands for none of ours. */
static uint32_t wanted(unsigned api_version)
{
	uint64_t ours = ncs_release_events(api_version) &
			ncs_load_relaxed(&mask.events[NCS_MASK_OURS]);
	uint64_t both = ours | ncs_load_relaxed(&mask.events[NCS_MASK_CHAINED]);

	return ((uint32_t)both & ~NCS_KERNEL_EVENTS) | mask.kernel;
}

static enum ncs_kernel_status status(void)
{
	bool always = mask.timing == NCS_KERNEL_TIMING_ALWAYS;

	if (mask.foreign)
		return NCS_KERNEL_FOREIGN;
	if (mask.kernel)
		return always ? NCS_KERNEL_ALWAYS : NCS_KERNEL_CHAINED;
	if (always)
		return mask.unseen ? NCS_KERNEL_BLIND : NCS_KERNEL_RELEASE;
	return ncs_load_relaxed(&mask.events[NCS_MASK_CHAINED]) &
			       NCS_KERNEL_EVENTS ?
		       NCS_KERNEL_LATE :
		       NCS_KERNEL_OFF;
}

static void publish(void)
{
	for (unsigned i = 0; i < NCS_COMM_MAX; i++) {
		struct ncs_comm *comm = &ncs_registry.comms[i];
		uint64_t word;

		if (!ncs_comm_is_live(comm))
			continue;
		ncs_store_relaxed(&comm->header->kernel.status, status());
		ncs_store_relaxed(&comm->header->kernel.mode, mask.timing);
		word = ncs_load_relaxed(&comm->mask);
		if (!word)
			continue;
		word = ncs_load_relaxed32((uint32_t *)word);
		ncs_store_relaxed(&comm->event_mask, word);
		ncs_store_relaxed(&comm->header->event_mask, word);
		if (!(word >> NCS_EVENT_P2P & 1))
			ncs_transfers_missed(comm);
	}
}

/* Returns true if another communicator than `but` lives, or may live, whose
 * mask is `word` (any if NULL). */
static bool another_lives(const struct ncs_comm *but, const uint32_t *word)
{
	const struct ncs_comm *comm = ncs_registry.comms;

	for (; comm < ncs_registry.comms + NCS_COMM_MAX; comm++)
		if (comm != but && ncs_comm_is_live(comm) &&
		    (!word || ncs_load_relaxed(&comm->mask) == (uintptr_t)word))
			return true;
	return mask.unseen;
}

/* Swaps the value that was stored last for the wanted one, so that another
 * writer's is not lost, until nobody has asked for it meanwhile. */
static void store(void)
{
	uint64_t asked;
	uint32_t value;

	do {
		/* ORDER: pairs with ncs_mask_store() (plugin/mask/mask.c): a
		 * setting that was changed before is stored here. */
		asked = ncs_load_acquire(&mask.asked);
		value = wanted(mask.api_version);
		if (mask.word && !mask.foreign &&
		    another_lives(NULL, mask.word)) {
			mask.foreign = !ncs_cas_relaxed32(mask.word,
							  mask.stored, value);
			mask.stored = value;
		}
		publish();
		/* ORDER: pairs with ncs_mask_store() (plugin/mask/mask.c), and
		 * with ncs_mask_add_comm() (plugin/mask/mask.c). */
	} while (!ncs_cas_acquire_release(&mask.asked, asked, 0));
}

void ncs_mask_store(void)
{
	/* ORDER: pairs with store() (plugin/mask/mask.c). */
	if (ncs_add_acquire_release(&mask.asked, 1) == 0)
		store();
}

void ncs_mask_reset(enum ncs_kernel_timing timing)
{
	memset(&mask, 0, sizeof(mask));
	mask.timing = timing;
	mask.events[NCS_MASK_OURS] = UINT64_MAX;
}

void ncs_mask_set_events(enum ncs_mask_part part, uint32_t events)
{
	ncs_store_relaxed(&mask.events[part], events);
	ncs_mask_store();
}

void ncs_mask_add_comm(struct ncs_comm *comm, uint32_t *word)
{
	bool first = !another_lives(comm, NULL);
	unsigned api_version = comm ? comm->api_version : 0;
	uint32_t events = ncs_release_events(api_version), kernel;

	if (!word)
		return;
	/* ORDER: pairs with store() (plugin/mask/mask.c). */
	while (!ncs_cas_acquire_release(&mask.asked, 0, 1))
		sched_yield();
	kernel = (uint32_t)ncs_load_relaxed(&mask.events[NCS_MASK_CHAINED]) |
		 (mask.timing == NCS_KERNEL_TIMING_ALWAYS ? events : 0);
	if (first)
		mask.kernel = kernel & NCS_KERNEL_EVENTS;
	if ((first || !mask.word) && (comm || kernel)) {
		mask.word = word;
		mask.stored = ncs_load_relaxed32(word);
	}
	if (word != mask.word && !ncs_load_relaxed32(word)) /* a second NCCL */
		ncs_store_relaxed32(word,
				    wanted(api_version) & (events | kernel));
	if (word == mask.word && (first || comm))
		mask.api_version = api_version;
	if (comm)
		ncs_store_relaxed(&comm->mask, (uintptr_t)word);
	else
		mask.unseen = true;
	store();
}
