/* SPDX-License-Identifier: MIT */
/* The activation mask; see mask.h.
 *
 * Why a mask can hang a job
 *
 * NCCL and the GPU each count works, per communicator and channel. For a work
 * with KernelCh ("on") the GPU writes its count and the time into a place that
 * follows from the count (modulo 64), and a profiling operation of NCCL waits
 * until the place with NCCL's count has been written. As long as both count
 * alike it is. Where they do not ("drift"), an on work waits for a place that
 * another on work may never write: the operation does not end, nor does the
 * job. If all works are on, each place is written in time, whatever the drift:
 * times are wrong then, but nothing hangs. Drift comes from
 *  D1 a call captured into a CUDA graph: off, it is counted by NCCL once, at
 *     capture; on, at each replay, or not even then; by the GPU at each replay;
 *  D2 a message to oneself (ncclSend and ncclRecv of one rank, also as part of
 *     an all-to-all): the GPU counts it, NCCL does not. An API call does not
 *     tell the peer, so each call from point to point may be one;
 *  D3 in NCCL 2.29 and 2.30, Broadcasts of several roots in one group, which
 *     become AllGatherV: the GPU counts these, NCCL does not, and they write
 *     nothing. In a group NCCL launches collectives, AllGatherV and calls from
 *     point to point in this order;
 *  D4 from 2.31 on, every work that is off: NCCL counts works that are on only.
 * Besides, a Send and a Recv that NCCL joins to one work are on for the GPU if
 * the Recv is, but each of them waits by itself (D5).
 *
 * So the works of a communicator must satisfy, whatever threads do:
 *   I1 never captured off and then on; never captured on and then off;
 *   I2 never on after a drift, unless all that follow are on, too;
 *   I3 calls of one group that may be joined (D5) are all on or all off.
 *
 * What NCCL does, and what is assumed
 *
 * For each call NCCL reads the mask ("R"), then calls GroupApi start, if it is
 * the first of a group, and CollApi or P2pApi start; what it read is the mask
 * of that call. When the outermost group has ended, GroupApi stop is called on
 * the same thread.
 *  A1 The calls on one communicator, and its destruction, are ordered by the
 *     application (NCCL's rule), whichever threads make them: R of a call comes
 *     after all callbacks of the call before, and no other call comes between
 *     the first and the last of a group. An abort, which may come at any time,
 *     ends the communicator, and what its counters are no longer matters.
 *  A2 The first call on a communicator comes after its init here has returned,
 *     which is when NCCL itself can be used with it.
 *  A3 NCCL reports all calls of a communicator that was made here. (It does not
 *     once it has closed the plugin under a communicator that lives, as some
 *     releases can after a failed init of another one.)
 *
 * While one communicator lives its calls are ordered: at a callback no other
 * call is under way, R of the next one comes later, and what is stored now is
 * what that one reads. Hence at each callback the value that R found is known:
 * it is the one that is stored. With a second communicator there is no such
 * moment: a thread may have read the mask for a call on the other one and not
 * have called back yet, for any length of time; and that call may be captured.
 * And because of I3 no call from point to point may come between a switch and
 * others of its group. So
 *
 *   the mask is switched at the end of a group of the only communicator.
 *
 * `control` names that communicator, the owner, by its context, which is given
 * once and never again. A callback switches by swapping control from owner
 * alone to owner and LOCKED, storing the mask, and taking LOCKED away again; a
 * callback that comes late, of a communicator that is gone, is not the owner,
 * whatever has come in its place. Who may not swap does not wait: it leaves
 * the mask as it is, which is always right, since a mask that is not switched
 * breaks none of I1 to I3.
 *
 * Init of a second communicator takes the owner out of control and waits for
 * LOCKED to go: a few instructions of a callback. From then on nobody switches,
 * and by A2 no call on the new communicator has read the mask. If it is off it
 * stays off for both. If it is on (a "window": the next group of the first one
 * is to be timed) init first lets the first one close it (CLOSING), for some
 * milliseconds. If that does not happen the mask must stay on: a call on the
 * first one may have read it, and be captured; switching off now would leave
 * that one captured on and later ones off. On for both is as safe as "always",
 * only dearer; it ends when one communicator is left, which is then the owner,
 * and known to have read nothing but on. So that this is rare no window is
 * opened before SETTLE calls have been made since the last init.
 *
 * What is wanted (the mode, the period, what a chained plugin asks for) may
 * change at any time, by any thread. It is looked at where the mask may be
 * switched and nowhere else, so it decides which calls are timed, not whether
 * that is safe.
 *
 * What ends switching for good (STUCK): the mask stays as it is, but for a
 * window that is open, which the owner closes at the end of the group, unless
 * KEEP says that it must stay open:
 *  - a captured call (D1). The owner's: the mask is what that call has read. In
 *    a window it stays on for ever (KEEP). Of several communicators: the mask
 *    has not changed since the later of their inits, so it is what the call
 *    has read; if it is on, KEEP.
 *  - a call from point to point (D2). If its group is timed, all of the group
 *    is: the GPU is ahead of NCCL from the message to oneself on, so all places
 *    that NCCL waits for have been written within the group. The window closes
 *    at its end and I2 holds. If the mask is on for several: KEEP.
 *  - a Broadcast, on NCCL 2.29 and 2.30 (D3): in a window it is closed at
 *    once, by the owner, as nothing that is on may come after the drift.
 *    Collectives of the same group come before it; calls from point to point
 *    that have been made come after it, and so does the next call if control
 *    has just changed: KEEP, so that all places are written.
 *  - a communicator whose calls are not seen, or with another mask, a second
 *    NCCL's; API events that are no longer asked for: KEEP if the mask is on.
 *  - a mask that is not what was stored here: somebody else's (2.31's RAS). It
 *    is shown, and never stored to again. Stores swap the expected value for
 *    the new one, so that not even one that comes in between is lost.
 * STUCK and KEEP are never taken back, also not by a new communicator, although
 * its counters are new: nothing here knows what else is under way.
 *
 * On 2.31 (D4) there is never an owner: the mask is on from the first init on,
 * or never. When the last communicator is gone a window is closed.
 *
 * NCCLSTAT_NO_GRAPHS=1 promises that there is no D1, D2, D5. Then the mask may
 * be switched by any of several communicators, too (ANYONE), where there is no
 * D3 either (2.28, or NCCL_ALLGATHERV_ENABLE=0): a call that reads on
 * unexpectedly is only one more that is timed. If the promise is broken, off.
 *
 * test/model/mask_model.py tries all interleavings of this against I1 to I3,
 * and shows that each of the rules is needed.
 */
#include "plugin/mask/mask.h"

#include <sched.h>
#include <stddef.h>
#include <string.h>
#include <time.h>

#include "plugin/state/comm.h"
#include "plugin/mask/release_events.h"
#include "shm/hash.h"
#include "shm/atomics.h"

/* In control, under the owner. */
#define LOCKED UINT64_C(1)  /* a callback is switching */
#define CLOSING UINT64_C(2) /* windows may be closed, none opened */
#define STUCK UINT64_C(4)   /* no window is ever opened again */
#define KEEP UINT64_C(8)    /* … nor closed */
#define FLAGS UINT64_C(0xff)
#define OWNER_SHIFT 8
#define NOBODY UINT64_C(0)
#define ANYONE (UINT64_MAX >> OWNER_SHIFT)

/* Calls after the making of a communicator before one is timed. */
#define SETTLE 1000

/* What init waits for a window to be closed. */
#define CLOSING_TRIES 20
#define CLOSING_PAUSE_NS 1000000

/* sampled:auto: proxy operations a second that may be added, by all
 * communicators together; and channels of a call as long as few have been
 * timed. */
#define AUTO_BUDGET 1000.0
#define AUTO_CHANNELS 32.0
#define AUTO_TIMED_MIN 8
#define AUTO_SHIFT_MAX 20

#define API_BITS \
	(UINT64_C(1) << NCS_EVENT_GROUP_API | \
	 UINT64_C(1) << NCS_EVENT_COLL_API | UINT64_C(1) << NCS_EVENT_P2P_API)

static struct {
	/* Written at each switch, and read at each group's end. */
	_Alignas(NCS_CACHE_LINE) uint64_t control;
	uint64_t stored; /* what the mask is as far as we made it */
	/* Read at each group's end. */
	_Alignas(NCS_CACHE_LINE) uint64_t mode; /* enum ncs_kernel_timing */
	uint64_t shift;                         /* of the period */
	uint64_t events; /* what is asked for besides kernels */
	uint64_t added;  /* what a chained plugin wants */
	uint64_t kernel; /* KernelCh, KernelPhase, if NCCL may be asked */
	uint64_t reason; /* enum ncs_kernel_status: of STUCK, KEEP */
	uint64_t foreign;
	uint64_t live;                /* communicators */
	uint64_t second;              /* in ticks */
	uint64_t comms[NCS_COMM_MAX]; /* addresses; the first `live` */
	/* Set by init, before any callback. */
	uint64_t word; /* address of NCCL's mask */
	unsigned api_version;
	bool single_calls; /* single calls can be timed at all */
	bool allgatherv;   /* NCCL may make one of Broadcasts */
	/* Changed by init and finalize only. */
	bool anyone; /* may have switched since there was no communicator */
	struct ncs_environment config;
} mask;

static uint32_t *word_at(uint64_t address)
{
	return (uint32_t *)(uintptr_t)address;
}

static uint64_t load_word(uint64_t address)
{
	return ncs_load_relaxed32(word_at(address));
}

static bool is_on(uint64_t word)
{
	return word >> NCS_EVENT_KERNEL_CH & 1;
}

/* Whether every call is to be timed. */
static bool is_always(void)
{
	return ncs_load_relaxed(&mask.mode) == NCS_KERNEL_TIMING_ALWAYS ||
	       is_on(ncs_load_relaxed(&mask.added));
}

/* What is asked for besides kernel timing, or without its rules. */
static uint64_t wanted_events(void)
{
	return ncs_load_relaxed(&mask.events) |
	       (ncs_load_relaxed(&mask.added) & ~mask.kernel);
}

static uint64_t owner_of(uint64_t control)
{
	return control >> OWNER_SHIFT;
}

static void bump(uint64_t *counter)
{
	ncs_store_relaxed(counter, ncs_load_relaxed(counter) + 1);
}

/* --- What is shown -------------------------------------------------------- */

static enum ncs_kernel_status status(void)
{
	uint64_t control = ncs_load_relaxed(&mask.control);
	uint64_t mode = ncs_load_relaxed(&mask.mode);
	uint64_t reason = ncs_load_relaxed(&mask.reason);
	bool on = is_on(ncs_load_relaxed(&mask.stored));

	if (ncs_load_relaxed(&mask.foreign))
		return NCS_KERNEL_FOREIGN;
	if (mode == NCS_KERNEL_TIMING_ALWAYS && on)
		return NCS_KERNEL_ALWAYS;
	if (on && is_on(ncs_load_relaxed(&mask.added)))
		return NCS_KERNEL_CHAINED;
	if (mode == NCS_KERNEL_TIMING_OFF && !on)
		return NCS_KERNEL_OFF;
	if (on && reason == NCS_KERNEL_GRAPH_ON)
		return NCS_KERNEL_GRAPH_ON;
	if (on && (control & KEEP || owner_of(control) == NOBODY))
		return NCS_KERNEL_LINGERING;
	if (!mask.single_calls)
		return NCS_KERNEL_RELEASE;
	if (reason)
		return (enum ncs_kernel_status)reason;
	if (owner_of(control) == NOBODY)
		return NCS_KERNEL_SEVERAL;
	return mode == NCS_KERNEL_TIMING_ALWAYS ? NCS_KERNEL_ALWAYS :
						  NCS_KERNEL_SAMPLED;
}

static void show(const struct ncs_comm *comm)
{
	struct ncs_kernel *shown = &comm->header->kernel;
	uint64_t mode = ncs_load_relaxed(&mask.mode);
	uint64_t word = ncs_load_relaxed(&comm->mask.word);
	uint64_t period = 0;

	if (mode == NCS_KERNEL_TIMING_SAMPLED)
		period = UINT64_C(1) << ncs_load_relaxed(&mask.shift);
	else if (mode == NCS_KERNEL_TIMING_AUTO)
		period = UINT64_C(1) << ncs_load_relaxed(&comm->mask.shift);
	ncs_store_relaxed(&shown->status, status());
	ncs_store_relaxed(&shown->mode, mode);
	ncs_store_relaxed(&shown->period, period);
	if (word)
		ncs_store_relaxed(&comm->header->event_mask, load_word(word));
}

/* A finalized one may be among them: its memory stays. */
static void show_all(void)
{
	uint64_t live = ncs_load_relaxed(&mask.live);

	for (uint64_t i = 0; i < live && i < NCS_COMM_MAX; i++) {
		uint64_t comm = ncs_load_relaxed(&mask.comms[i]);

		if (comm)
			show((const struct ncs_comm *)(uintptr_t)comm);
	}
}

/* --- Switching ------------------------------------------------------------ */

/* True if the mask is ours to change until unlock(). Does not wait. */
static bool lock(uint64_t control)
{
	/* ORDER: pairs with unlock() (plugin/mask/mask.c): of those who switch each
	 * sees what the others did. */
	return !(control & LOCKED) &&
	       ncs_cas_acquire_release(&mask.control, control,
				       control | LOCKED);
}

/* What control was meanwhile. */
static uint64_t unlock(void)
{
	/* ORDER: pairs with lock() (plugin/mask/mask.c), and hand_over() waits for
	 * it: the mask is stored before anybody else may. */
	return ncs_add_acquire_release(&mask.control, -LOCKED);
}

static void add_flags(uint64_t flags)
{
	uint64_t control;

	do {
		control = ncs_load_relaxed(&mask.control);
		/* ORDER: pairs with lock() (plugin/mask/mask.c): from here on nobody
		 * switches what the flags say. */
	} while ((control & flags) != flags &&
		 !ncs_cas_acquire_release(&mask.control, control,
					  control | flags));
}

/* Ends switching. A mask that is on stays so for good with `keep`, or where it
 * is not a window of the communicator with this context. */
static void end_switching(enum ncs_kernel_status reason, uint64_t context,
			  bool on, bool keep)
{
	uint64_t control, owner, ended;

	do {
		control = ncs_load_relaxed(&mask.control);
		owner = owner_of(control);
		ended = control | STUCK;
		if (on && (keep || (owner != context && owner != ANYONE)))
			ended |= KEEP;
		if (ended == control)
			return;
		/* ORDER: pairs with lock() (plugin/mask/mask.c): from here on nobody
		 * opens a window. */
	} while (!ncs_cas_acquire_release(&mask.control, control, ended));
	ncs_store_relaxed(&mask.reason, reason);
	show_all();
}

static void found_foreign(void)
{
	add_flags(STUCK | KEEP);
	ncs_store_relaxed(&mask.foreign, 1);
	show_all();
}

/* Makes the mask `word` if control is still as it was when that was decided.
 * False if it was not, or if the mask was not what it should have been. */
static bool switch_to(uint64_t control, uint64_t word)
{
	uint64_t before, now;
	bool ours;

	if (!lock(control))
		return false;
	before = ncs_load_relaxed(&mask.stored);
	ours = ncs_cas_relaxed32(word_at(mask.word), (uint32_t)before,
				 (uint32_t)word);
	if (ours)
		ncs_store_relaxed(&mask.stored, word);
	now = unlock();
	if (!ours)
		found_foreign();
	/* Of several communicators one may have ended switching while another
	 * was opening a window. */
	else if (is_on(word) && !is_on(before) && now & STUCK && !(now & KEEP))
		return switch_to(now & ~LOCKED, before);
	return ours;
}

/* Whether the mask is not what was stored, certainly. */
static void look_for_foreign(uint64_t control)
{
	bool ours;

	if (!lock(control))
		return;
	ours = load_word(mask.word) == ncs_load_relaxed(&mask.stored);
	unlock();
	if (!ours)
		found_foreign();
}

/* --- Calls ---------------------------------------------------------------- */

/* A call was captured, and what the mask is now is what it has read. */
static void captured(struct ncs_comm *comm, uint64_t context, bool on)
{
	struct ncs_kernel *shown = &comm->header->kernel;
	uint64_t control = ncs_load_relaxed(&mask.control);

	bump(on ? &shown->captured_on : &shown->captured_off);
	if (owner_of(control) == ANYONE)
		end_switching(NCS_KERNEL_BROKEN_PROMISE, context, on, false);
	else
		end_switching(on ? NCS_KERNEL_GRAPH_ON : NCS_KERNEL_GRAPH_OFF,
			      context, on, true);
}

/* A call that may be to oneself. */
static void from_point_to_point(uint64_t context, bool on)
{
	if (!(ncs_load_relaxed(&mask.control) & STUCK))
		end_switching(NCS_KERNEL_P2P, context, on, is_always());
}

/* A call that NCCL may make an AllGatherV of. Where a call from point to point
 * has ended switching before, in a window that is still open, it is to stay
 * open. */
static void broadcast(uint64_t context, bool on)
{
	uint64_t control = ncs_load_relaxed(&mask.control), off;

	end_switching(NCS_KERNEL_BROADCAST, context, on,
		      is_always() || control & STUCK);
	control = ncs_load_relaxed(&mask.control);
	off = ncs_load_relaxed(&mask.stored) & ~mask.kernel;
	if (on && !(control & KEEP) && !switch_to(control, off)) {
		add_flags(KEEP);
		show_all();
	}
}

void ncs_mask_call(struct ncs_comm *comm, uint64_t context,
		   enum ncs_event event, const struct ncs_decoded_call *call)
{
	struct ncs_mask_comm *own = &comm->mask;
	uint64_t word = ncs_load_relaxed(&own->word);
	bool on;

	if (!word)
		return;
	on = is_on(load_word(word));
	bump(&own->calls);
	if (on)
		bump(&comm->header->kernel.timed_calls);
	if (__builtin_expect(call->graph, 0))
		captured(comm, context, on);
	if (!mask.single_calls)
		return;
	if (event == NCS_EVENT_P2P_API)
		from_point_to_point(context, on);
	else if (mask.allgatherv &&
		 (call->function == NCS_FUNCTION_BROADCAST ||
		  call->function == NCS_FUNCTION_ALL_GATHER_V))
		broadcast(context, on);
}

/* --- Which groups are timed ----------------------------------------------- */

static uint64_t kernel_events(const struct ncs_comm *comm)
{
	uint64_t count = 0;

	for (unsigned i = 0; i < NCS_LANE_MAX; i++)
		count += ncs_load_relaxed(
			&comm->lanes[i].published->events[NCS_EVENT_KERNEL_CH]);
	return count;
}

/* The period follows the rate of calls. */
static void follow_rate(struct ncs_comm *comm, uint64_t now)
{
	struct ncs_mask_comm *own = &comm->mask;
	uint64_t timed = ncs_load_relaxed(&comm->header->kernel.timed_calls);
	uint64_t live = ncs_load_relaxed(&mask.live);
	uint64_t calls = ncs_load_relaxed(&own->calls);
	uint64_t elapsed = now - ncs_load_relaxed(&own->rated);
	double channels = AUTO_CHANNELS, times;
	uint64_t shift = 0;

	if (elapsed < mask.second)
		return;
	if (timed >= AUTO_TIMED_MIN)
		channels = (double)kernel_events(comm) / (double)timed;
	times = (double)(calls - ncs_load_relaxed(&own->rated_calls)) *
		channels * (double)mask.second / (double)elapsed *
		(double)(live ? live : 1) / AUTO_BUDGET;
	while (shift < AUTO_SHIFT_MAX && (double)(UINT64_C(1) << shift) < times)
		shift++;
	ncs_store_relaxed(&own->rated, now);
	ncs_store_relaxed(&own->rated_calls, calls);
	if (shift != ncs_load_relaxed(&own->shift)) {
		ncs_store_relaxed(&own->shift, shift);
		show(comm);
	}
}

/* Whether the group that follows a call is to be timed. A hash, not a count,
 * decides: all ranks choose the same, and no period of the job fools it. With a
 * longer period fewer of the same are chosen. */
static bool is_chosen(const struct ncs_mask_comm *own, uint64_t shift)
{
	uint64_t calls = ncs_load_relaxed(&own->calls);

	return calls >= ncs_load_relaxed(&own->windows_from) &&
	       (shift == 0 || ncs_hash(own->seed + calls) >> (64 - shift) == 0);
}

static bool is_wanted(struct ncs_comm *comm, uint64_t now)
{
	if (is_always())
		return true;
	switch (ncs_load_relaxed(&mask.mode)) {
	case NCS_KERNEL_TIMING_SAMPLED:
		return is_chosen(&comm->mask, ncs_load_relaxed(&mask.shift));
	case NCS_KERNEL_TIMING_AUTO:
		follow_rate(comm, now);
		return is_chosen(&comm->mask,
				 ncs_load_relaxed(&comm->mask.shift));
	default:
		return false;
	}
}

/* Events other than kernels can be switched at any time. Without API events
 * kernels cannot any more. */
static void switch_events(uint64_t stored, uint64_t context)
{
	uint64_t events = wanted_events();

	if ((stored & ~mask.kernel) == events)
		return;
	if (mask.single_calls && (events & API_BITS) != API_BITS)
		end_switching(NCS_KERNEL_EVENTS, context, is_on(stored), true);
	if (switch_to(ncs_load_relaxed(&mask.control),
		      (stored & mask.kernel) | events))
		show_all();
}

void ncs_mask_group_end(struct ncs_comm *comm, uint64_t context, uint64_t now)
{
	struct ncs_mask_comm *own = &comm->mask;
	uint64_t word = ncs_load_relaxed(&own->word);
	uint64_t control = ncs_load_relaxed(&mask.control);
	uint64_t stored = ncs_load_relaxed(&mask.stored);
	uint64_t owner = owner_of(control), value;
	bool on = is_on(stored), wanted;

	if (!word || word != mask.word)
		return;
	value = load_word(word);
	if (__builtin_expect(ncs_load_relaxed(&mask.foreign), 0)) {
		if (ncs_load_relaxed(&comm->header->event_mask) != value)
			show(comm);
		return;
	}
	if (__builtin_expect(value != stored, 0)) {
		look_for_foreign(control);
		return;
	}
	if (owner == context || owner == ANYONE) {
		wanted = !(control & STUCK) && is_wanted(comm, now) &&
			 (wanted_events() & API_BITS) == API_BITS;
		if (wanted != on && !(control & (wanted ? FLAGS : KEEP)) &&
		    switch_to(control, stored ^ mask.kernel)) {
			show(comm);
			return;
		}
	}
	switch_events(stored, context);
}

/* --- From outside --------------------------------------------------------- */

void ncs_mask_set_timing(enum ncs_kernel_timing mode, uint32_t period)
{
	uint64_t shift = 0;

	while (shift < AUTO_SHIFT_MAX && UINT64_C(1) << shift < period)
		shift++;
	ncs_store_relaxed(&mask.shift, shift);
	ncs_store_relaxed(&mask.mode, mode);
	show_all();
}

void ncs_mask_set_events(uint32_t events)
{
	uint64_t asked =
		ncs_release_mask(mask.api_version, NCS_KERNEL_TIMING_OFF);

	ncs_store_relaxed(&mask.events, asked & events);
}

void ncs_mask_add_events(uint32_t events)
{
	ncs_store_relaxed(&mask.added, events);
	if (ncs_load_relaxed(&mask.word))
		switch_events(ncs_load_relaxed(&mask.stored), NOBODY);
}

/* --- Init and finalize ---------------------------------------------------- */

void ncs_mask_reset(const struct ncs_environment *config,
		    const struct ncs_clock *clock)
{
	memset(&mask, 0, sizeof(mask));
	mask.config = *config;
	ncs_mask_set_timing(config->kernel_timing, config->kernel_period);
	mask.second = (UINT64_C(1000000000) << 32) / clock->multiplier;
}

/* From now on only `owner` may switch, with these flags; waits for who is just
 * at it. */
static uint64_t hand_over(uint64_t owner, uint64_t flags)
{
	uint64_t control, after;

	do {
		control = ncs_load_relaxed(&mask.control);
		after = owner << OWNER_SHIFT | flags |
			(control & (LOCKED | STUCK | KEEP));
		/* ORDER: pairs with lock() (plugin/mask/mask.c). */
	} while (!ncs_cas_acquire_release(&mask.control, control, after));
	do {
		/* ORDER: pairs with unlock() (plugin/mask/mask.c): the mask is what
		 * it will be. */
		control = ncs_load_acquire(&mask.control);
	} while (control & LOCKED && sched_yield() == 0);
	return control;
}

/* Whether several communicators may switch. */
static bool may_anyone(void)
{
	return mask.config.no_graphs && mask.single_calls && !mask.allgatherv;
}

/* Who may switch, as many communicators as there are now. Who alone is left of
 * several that might is not sure what it has read. */
static uint64_t rightful_owner(void)
{
	const struct ncs_comm *comm =
		(const struct ncs_comm *)(uintptr_t)mask.comms[0];

	if (mask.live == 0)
		mask.anyone = false;
	else if (mask.live > 1 && may_anyone())
		mask.anyone = true;
	if (mask.anyone)
		return ANYONE;
	return mask.live == 1 && mask.single_calls ?
		       ncs_load_relaxed(&comm->context) :
		       NOBODY;
}

/* Lets the only communicator close a window. */
static void let_close(void)
{
	const struct timespec pause = { 0, CLOSING_PAUSE_NS };
	uint64_t owner = owner_of(ncs_load_relaxed(&mask.control));
	uint64_t control;

	if (owner == NOBODY || owner == ANYONE)
		return;
	control = hand_over(owner, CLOSING);
	for (int i = 0; i < CLOSING_TRIES; i++) {
		if (!is_on(ncs_load_relaxed(&mask.stored)) || control & KEEP ||
		    is_always())
			return;
		nanosleep(&pause, NULL);
		control = ncs_load_relaxed(&mask.control);
	}
}

/* Nobody may switch any more. */
static void stop_switching(void)
{
	let_close();
	hand_over(NOBODY, 0);
}

/* No communicator lives: only a chained plugin may be at it. */
static void store_alone(uint32_t *word, uint64_t value)
{
	uint64_t control;

	do
		control = ncs_load_relaxed(&mask.control);
	while (!lock(control) && sched_yield() == 0);
	ncs_store_relaxed(&mask.word, (uintptr_t)word);
	if (!mask.foreign) {
		ncs_store_relaxed(&mask.stored, value);
		if (load_word(mask.word) != value)
			ncs_store_relaxed32(word, (uint32_t)value);
	}
	unlock();
}

/* The mask is nobody's: no communicator lives. */
static void store_first(uint32_t *word, unsigned api_version)
{
	uint64_t control = ncs_load_relaxed(&mask.control);
	bool on = control & STUCK ? (control & KEEP) != 0 : is_always();

	mask.api_version = api_version;
	mask.single_calls = ncs_release_allows_single_calls(api_version);
	mask.allgatherv = ncs_release_makes_allgatherv(api_version) &&
			  !mask.config.no_allgatherv;
	mask.events = ncs_release_mask(api_version, NCS_KERNEL_TIMING_OFF);
	mask.kernel = ncs_release_mask(api_version, NCS_KERNEL_TIMING_ALWAYS) &
		      ~mask.events;
	store_alone(word, wanted_events() | (on ? mask.kernel : 0));
}

static void join(struct ncs_comm *comm, uint32_t *word)
{
	struct ncs_mask_comm *own = &comm->mask;

	own->seed = ncs_hash(comm->header->identity.comm_id);
	ncs_store_relaxed(&own->calls, 0);
	ncs_store_relaxed(&own->shift, 6);
	ncs_store_relaxed(&own->rated, comm->header->created);
	ncs_store_relaxed(&own->rated_calls, 0);
	ncs_store_relaxed(&own->word, (uintptr_t)word);
	ncs_store_relaxed(&mask.comms[mask.live], (uintptr_t)comm);
	ncs_store_relaxed(&mask.live, mask.live + 1);
	for (uint64_t i = 0; i < mask.live; i++) {
		own = &((struct ncs_comm *)(uintptr_t)mask.comms[i])->mask;
		ncs_store_relaxed(&own->windows_from,
				  ncs_load_relaxed(&own->calls) + SETTLE);
	}
}

/* Another NCCL's mask is on or off as ours is, once and for all. */
static void store_second(uint32_t *word, unsigned api_version)
{
	bool on = is_on(mask.stored);

	end_switching(NCS_KERNEL_BLIND, NOBODY, on, !may_anyone());
	ncs_store_relaxed32(word,
			    ncs_release_mask(api_version,
					     on ? NCS_KERNEL_TIMING_ALWAYS :
						  NCS_KERNEL_TIMING_OFF) |
				    (uint32_t)(ncs_load_relaxed(&mask.added) &
					       ~mask.kernel));
}

void ncs_mask_add_comm(struct ncs_comm *comm, uint32_t *word)
{
	if (!word)
		return;
	if (mask.live == 0)
		store_first(word, comm->api_version);
	else if (!may_anyone())
		stop_switching();
	if (mask.word != (uintptr_t)word)
		store_second(word, comm->api_version);
	join(comm, word);
	hand_over(rightful_owner(), 0);
	show_all();
}

/* Where nothing is asked for here a chained plugin gets what it wants. */
static void store_added(uint32_t *word)
{
	uint64_t added = ncs_load_relaxed(&mask.added);

	if (mask.live == 0 && word && added)
		store_alone(word, added);
}

void ncs_mask_add_unseen(uint32_t *word)
{
	store_added(word);
	if (!may_anyone())
		stop_switching();
	end_switching(NCS_KERNEL_BLIND, NOBODY,
		      is_on(ncs_load_relaxed(&mask.stored)), !may_anyone());
	hand_over(rightful_owner(), 0);
	show_all();
}

void ncs_mask_remove_comm(struct ncs_comm *comm)
{
	uint64_t place = 0, control;

	while (place < mask.live && mask.comms[place] != (uintptr_t)comm)
		place++;
	if (place == mask.live)
		return;
	control = hand_over(NOBODY, 0);
	ncs_store_relaxed(&mask.live, mask.live - 1);
	ncs_store_relaxed(&mask.comms[place], mask.comms[mask.live]);
	ncs_store_relaxed(&mask.comms[mask.live], 0);
	if (mask.live == 0 && is_on(mask.stored) && !(control & KEEP) &&
	    !is_always())
		switch_to(control, mask.stored & ~mask.kernel);
	hand_over(rightful_owner(), 0);
	show_all();
}
