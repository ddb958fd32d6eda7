/* SPDX-License-Identifier: MIT */
/* The activation mask; see mask.h.
 *
 * How a mask can hang a job
 *
 * NCCL and the GPU both count works, for each communicator and channel. For a
 * work with KernelCh (the work is "on") the GPU writes its count and the time
 * to a place that is given by the count modulo 64, and a profiling operation of
 * NCCL waits until the place given by NCCL's own count has been written. This
 * is right as long as the two counts agree. If they do not ("drift"), a work
 * that is on waits for a place that only another work that is on would write.
 * If no such work follows, the operation never ends, and neither does the job.
 * If all works are on, each place is written sooner or later, whatever the
 * drift: times are wrong then, but nothing hangs. Drift has these causes:
 *  D1 A call that is captured into a CUDA graph. The GPU counts it at each
 *     replay. NCCL counts it once, at capture, if it is off; and at each
 *     replay, or not even then, if it is on.
 *  D2 A message of a rank to itself: its ncclSend and ncclRecv, also as part
 *     of an all-to-all. The GPU counts it, NCCL does not. An API call does
 *     not report the peer, so any point-to-point call may be such a message.
 *  D3 In NCCL 2.29 and 2.30, Broadcasts of several roots in one group, which
 *     NCCL turns into an AllGatherV. The GPU counts it, NCCL does not, and the
 *     GPU writes nothing for it. In one group NCCL launches collectives first,
 *     then AllGatherVs, then point-to-point calls.
 *  D4 From NCCL 2.31 on, any work that is off: NCCL counts only works that are
 *     on.
 * There is another danger besides drift:
 *  D5 If NCCL joins a Send and a Recv to one work, the work is on for the GPU
 *     if the Recv is, but the Send and the Recv each wait if they are on
 *     themselves.
 *
 * Therefore the works of a communicator must satisfy these invariants, however
 * its threads interleave:
 *   I1 After a work was captured off, no work is on; after a work was captured
 *      on, no work is off.
 *   I2 No work is on after a drift, unless all works that follow are also on.
 *   I3 Calls of one group that may be joined (D5) are all on or all off.
 *
 * What NCCL does, and the assumptions
 *
 * For each call NCCL reads the mask ("R"); then it calls GroupApi start, if the
 * call is the first one of a group, and CollApi or P2pApi start. The value it
 * has read is the mask of that call. When the outermost group has ended, NCCL
 * calls GroupApi stop on the same thread.
 *  A1 The application orders the calls on one communicator, and its destruction
 *     (this is NCCL's rule), even if several threads make them. R of a call
 *     comes after all callbacks of the call before, and no other call on the
 *     communicator comes between the first and the last call of a group. An
 *     abort may come at any time; it ends the communicator, and its counts no
 *     longer matter.
 *  A2 The first call on a communicator comes after its init here has returned,
 *     because NCCL itself cannot be used with it before.
 *  A3 NCCL reports all calls on a communicator that was made here. (It does not
 *     after it has closed the plugin while the communicator lives, as some
 *     releases can when the init of another communicator fails.)
 *
 * While a single communicator lives, its calls are ordered: at a callback, no
 * other call is in progress, R of the next call comes later, and that R reads
 * the value stored now. Hence at each callback the value that R has read is
 * known: it is the stored one. With a second communicator there is no such
 * point in time. A thread may have read the mask for a call on the other
 * communicator and not have called back yet, for any length of time, and that
 * call may be captured. And because of I3, no point-to-point call may come
 * between a switch of the mask and another call of its group. Therefore
 *
 *   the mask is switched only at the end of a group of the only communicator.
 *
 * `control` names that communicator, the owner, by its context, which is never
 * reused. A callback switches the mask in three steps: it swaps control from
 * the owner alone to the owner and LOCKED, stores the mask, and clears LOCKED.
 * A late callback of a finalized communicator is never taken for the owner's,
 * even if the communicator's memory has been reused. A thread whose
 * compare-and-swap fails does not retry: it leaves the mask as it is, which is
 * always right, since a mask that is not switched breaks none of I1 to I3.
 *
 * The init of a second communicator takes the owner out of control and waits
 * until LOCKED is gone, which takes a few instructions of a callback. From then
 * on no thread switches the mask, and by A2 no call on the new communicator has
 * read it. If the mask is off, it stays off for both. If it is on (a "window":
 * the next group of the first communicator is to be timed), init first lets the
 * first communicator close the window (CLOSING), for some milliseconds. If that
 * does not happen, the mask must stay on: a call on the first communicator may
 * have read it and be captured; switching it off would leave that call captured
 * on and later ones off. On for both is as safe as "always" and only costs
 * more. It ends when one communicator is left: that one is then the owner, and
 * is known to have read nothing but on. To make this rare, no window is opened
 * before SETTLE calls have been made since the last init.
 *
 * The settings (the mode, the period, the events that a chained plugin asks
 * for) may change at any time and on any thread. They are read only where the
 * mask may be switched, so they decide which calls are timed, not whether
 * timing them is safe.
 *
 * The following ends switching for good (STUCK). The mask then stays as it is,
 * except that the owner closes an open window at the end of the group, unless
 * KEEP says that the window must stay open:
 *  - A captured call (D1). If it is the owner's, the mask is the value that the
 *    call has read, and if that is a window, the mask stays on for good (KEEP).
 *    With several communicators the mask has not changed since the last of
 *    their inits, so it is the value that the call has read; if it is on, KEEP.
 *  - A point-to-point call (D2). If its group is timed, the whole group is:
 *    from the rank's message to itself on, the GPU's count is ahead of NCCL's,
 *    so all places that NCCL waits for have been written within the group. The
 *    window closes at the end of the group, and I2 holds. If the mask is on for
 *    several communicators: KEEP.
 *  - A Broadcast on NCCL 2.29 and 2.30 (D3). In a window, the owner closes it
 *    immediately, since no work that is on may come after the drift.
 *    Collectives of the same group are launched before the Broadcast.
 *    Point-to-point calls that were already made are launched after it, and so
 *    is the next call if control has just changed; in these cases KEEP, so that
 *    all places are written.
 *  - A communicator whose calls are not seen, or that has another mask (a
 *    second NCCL's), and API events that are no longer asked for: KEEP if the
 *    mask is on.
 *  - A mask with another value than was stored here: another writer has changed
 *    it (RAS of 2.31). This is published, and the mask is never stored to
 *    again. Stores swap the expected value for the new one, so that not even
 *    another writer's store right before ours is lost.
 * STUCK and KEEP are never taken back, not even for a new communicator with new
 * counters: nothing here knows what else is in progress.
 *
 * On 2.31 (D4) there is never an owner: the mask is on from the first init on,
 * or never. When the last communicator is gone, a window is closed.
 *
 * NCCLSTAT_NO_GRAPHS=1 is a promise that there is no D1, D2 or D5. Then any of
 * several communicators may switch the mask (ANYONE), unless there may be
 * D3 (there is none on 2.28, or with NCCL_ALLGATHERV_ENABLE=0): a call that
 * unexpectedly reads on is merely one more call that is timed. If the promise
 * is broken, the mask is switched off.
 *
 * test/model/mask_model.py checks all interleavings of this against I1 to I3,
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

/* Bits of `control`, below the owner's context. */
#define LOCKED UINT64_C(1)  /* a thread is switching the mask */
#define CLOSING UINT64_C(2) /* windows may be closed, none opened */
#define STUCK UINT64_C(4)   /* no window is ever opened again */
#define KEEP UINT64_C(8)    /* a window that is open is never closed */
#define FLAGS UINT64_C(0xff)
#define OWNER_SHIFT 8
#define NOBODY UINT64_C(0)
#define ANYONE (UINT64_MAX >> OWNER_SHIFT)

/* Number of calls after an init before a window may be opened. */
#define SETTLE 1000

/* How long init waits for a window to be closed: tries, and ns between them. */
#define CLOSING_TRIES 20
#define CLOSING_PAUSE_NS 1000000

/* For sampled:auto: the number of proxy operations, one for each timed channel,
 * that all communicators together may add per second; and the number of
 * channels that a call is assumed to have until AUTO_TIMED_MIN calls have been
 * timed. */
#define AUTO_BUDGET 1000.0
#define AUTO_CHANNELS 32.0
#define AUTO_TIMED_MIN 8
#define AUTO_SHIFT_MAX 20

#define API_BITS \
	(UINT64_C(1) << NCS_EVENT_GROUP_API | \
	 UINT64_C(1) << NCS_EVENT_COLL_API | UINT64_C(1) << NCS_EVENT_P2P_API)

static struct {
	/* Written at each switch, read at the end of each group. */
	_Alignas(NCS_CACHE_LINE) uint64_t control;
	uint64_t stored; /* the value that we stored last */
	/* Read at the end of each group. */
	_Alignas(NCS_CACHE_LINE) uint64_t mode; /* enum ncs_kernel_timing */
	uint64_t shift;  /* binary logarithm of the period */
	uint64_t events; /* events to ask for besides kernels */
	uint64_t added;  /* events that a chained plugin asks for */
	/* KernelCh and KernelPhase, if the release allows them */
	uint64_t kernel;
	uint64_t reason;  /* enum ncs_kernel_status: why STUCK or KEEP is set */
	uint64_t foreign; /* 1 once another writer has changed the mask */
	uint64_t live;    /* number of live communicators */
	uint64_t second;  /* in ticks */
	uint64_t comms[NCS_COMM_MAX]; /* their addresses, `live` of them */
	/* Set by init before any callback. */
	uint64_t word; /* address of NCCL's mask */
	unsigned api_version;
	bool single_calls; /* the release allows timing some calls only */
	bool allgatherv;   /* NCCL may turn Broadcasts into an AllGatherV */
	/* Changed by init and finalize only. */
	/* True if any communicator may have switched the mask since there was
	 * none. */
	bool anyone;
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

/* Returns true if every call is to be timed. */
static bool is_always(void)
{
	return ncs_load_relaxed(&mask.mode) == NCS_KERNEL_TIMING_ALWAYS ||
	       is_on(ncs_load_relaxed(&mask.added));
}

/* Returns the events to ask for, except those that the rules of kernel timing
 * govern. */
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

/* --- Publishing -------------------------------------------------------- */

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

/* Publishes the mask's state in all communicators. Some may be finalized
 * already; their memory remains mapped. */
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

/* Returns true if the caller may change the mask until unlock(). Does not
 * wait. */
static bool lock(uint64_t control)
{
	/* ORDER: pairs with unlock() (plugin/mask/mask.c): a thread that
	 * switches sees what the threads before it did. */
	return !(control & LOCKED) &&
	       ncs_cas_acquire_release(&mask.control, control,
				       control | LOCKED);
}

/* Ends lock(). Returns the value that control had until now. */
static uint64_t unlock(void)
{
	/* ORDER: pairs with lock() (plugin/mask/mask.c), and hand_over() waits
	 * for it: the mask is stored before another thread may store it. */
	return ncs_add_acquire_release(&mask.control, -LOCKED);
}

static void add_flags(uint64_t flags)
{
	uint64_t control;

	do {
		control = ncs_load_relaxed(&mask.control);
		/* ORDER: pairs with lock() (plugin/mask/mask.c): from here on
		 * no thread switches what the flags forbid. */
	} while ((control & flags) != flags &&
		 !ncs_cas_acquire_release(&mask.control, control,
					  control | flags));
}

/* Ends switching. A mask that is on stays on for good if `keep` is set, or if
 * it is not a window of the communicator with this context. */
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
		/* ORDER: pairs with lock() (plugin/mask/mask.c): from here on
		 * no thread opens a window. */
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

/* Stores `word` in the mask. Returns false, and stores nothing, if control has
 * changed since the decision, or if another writer has changed the mask. */
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
	/* With several communicators, one may have ended switching while
	 * another was opening a window. */
	else if (is_on(word) && !is_on(before) && now & STUCK && !(now & KEEP))
		return switch_to(now & ~LOCKED, before);
	return ours;
}

/* Checks under the lock if another writer has changed the mask. */
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

/* Handles a captured call, which has read the value that the mask has now. */
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

/* Handles a call that may be a message of the rank to itself. */
static void from_point_to_point(uint64_t context, bool on)
{
	if (!(ncs_load_relaxed(&mask.control) & STUCK))
		end_switching(NCS_KERNEL_P2P, context, on, is_always());
}

/* Handles a call that NCCL may turn into an AllGatherV. A window that is still
 * open although a point-to-point call has ended switching must stay open. */
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

/* --- Choosing the groups that are timed --------------------------------- */

static uint64_t kernel_events(const struct ncs_comm *comm)
{
	uint64_t count = 0;

	for (unsigned i = 0; i < NCS_LANE_MAX; i++)
		count += ncs_load_relaxed(
			&comm->lanes[i].published->events[NCS_EVENT_KERNEL_CH]);
	return count;
}

/* Adapts the period to the rate of calls, once a second. */
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

/* Returns true if the group that follows a call is to be timed. A hash decides,
 * not a count, so that all ranks choose the same groups, and the choice follows
 * no period of the job. A longer period chooses a subset of the same groups. */
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

/* Switches events other than kernels, which is possible at any time. Without
 * API events kernels can no longer be switched. */
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

/* --- Settings --------------------------------------------------------- */

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

/* Makes `owner` the only communicator that may switch, with these flags, and
 * waits until no thread is switching. Returns control. */
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
		/* ORDER: pairs with unlock() (plugin/mask/mask.c): the mask has
		 * its final value. */
		control = ncs_load_acquire(&mask.control);
	} while (control & LOCKED && sched_yield() == 0);
	return control;
}

/* Returns true if any of several communicators may switch. */
static bool may_anyone(void)
{
	return mask.config.no_graphs && mask.single_calls && !mask.allgatherv;
}

/* Returns the owner for the current number of communicators. If any of several
 * communicators could switch, the last one left does not know which value its
 * calls have read, so it does not become the owner. */
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

/* Waits a little for the only communicator to close its window. */
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

/* Ends the switching by the only communicator. */
static void stop_switching(void)
{
	let_close();
	hand_over(NOBODY, 0);
}

/* Stores the mask while no communicator lives; then only a chained plugin may
 * be switching. */
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

/* Stores the mask for the first communicator. */
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

/* Stores the mask of a second NCCL: on or off like the first one, for good. */
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

/* Stores the events of a chained plugin if no communicator here asks for
 * any. */
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
