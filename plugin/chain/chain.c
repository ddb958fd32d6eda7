/* SPDX-License-Identifier: MIT */
/* Calling both plugins; see chain.h. All functions but those for init and
 * finalize run in callbacks: no lock, no allocation, no system call of their
 * own. */
#include "plugin/chain/chain.h"

#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "ncclstat/record.h"
#include "plugin/events/callbacks.h"
#include "plugin/mask/release_events.h"
#include "plugin/state/lane.h"
#include "plugin/mask/mask.h"
#include "plugin/chain/next_plugin.h"
#include "plugin/chain/handle_pairs.h"
#include "plugin/events/step.h"

#define BIT(event) (1u << NCS_EVENT_##event)

/* Facts of a pair: the events that the chained plugin asked for when the pair
 * was made. They apply to children as well, as in NCCL, where a task keeps the
 * mask of its call. */
#define EVENTS_MASK UINT64_C(0xffffffff)
/* The chained plugin gets no states of this event. */
#define QUIET (UINT64_C(1) << 32)
/* The chained plugin follows the communicator. */
#define HAS_THEIRS (UINT64_C(1) << 33)

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static struct {
	bool tried;
	unsigned api_version; /* NCCL's */
	/* The mask for the chained plugin, in place of NCCL's. The plugin may
	 * write to it at any time, even after its finalize. */
	uint32_t own_mask;
	/* `own_mask`, or NCCL's mask if our plugin asks for no events. */
	uint32_t *mask;
	/* The events that NCCL was asked for on the chained plugin's behalf. */
	uint32_t followed;
	uint64_t following; /* 1 while a thread passes on the mask */
} chain;

/* --- the chained plugin's mask ------------------------------------- */

#define NETS BIT(NET_PLUGIN)
#define STEPS (BIT(PROXY_STEP) | NETS)
#define CHILDREN (BIT(PROXY_OP) | STEPS | BIT(KERNEL_CH))
#define COPIES (BIT(CE_COLL) | BIT(CE_SYNC) | BIT(CE_BATCH))
#define ANY_VERSION UINT8_MAX

/* How NCCL starts an event, by event type. An unknown one is started by no bit. */
static const struct {
	uint8_t class; /* of its pairs: enum ncs_pair_class */
	/* Up to this version of the API NCCL starts it only if the plugin has
	 * returned a handle for its parent. */
	uint8_t needs_parent;
	/* NCCL reads the mask itself, not the copy that a task keeps. */
	bool is_looked_up;
	/* The bits of a mask that make NCCL start it: its own, and those of its
	 * children, which need a parent. */
	uint32_t starters;
} kinds[NCS_EVENT_COUNT + 1] = {
	[NCS_EVENT_GROUP] = { NCS_PAIR_CALL, 0, false,
			      BIT(GROUP) | BIT(COLL) | BIT(P2P) | CHILDREN },
	[NCS_EVENT_COLL] = { NCS_PAIR_CALL, 4, false, BIT(COLL) | CHILDREN },
	[NCS_EVENT_P2P] = { NCS_PAIR_CALL, 4, false, BIT(P2P) | CHILDREN },
	[NCS_EVENT_PROXY_OP] = { NCS_PAIR_CHILD, 0, false,
				 BIT(PROXY_OP) | STEPS },
	[NCS_EVENT_PROXY_STEP] = { NCS_PAIR_STEP, 4, false, STEPS },
	[NCS_EVENT_PROXY_CTRL] = { NCS_PAIR_CTRL, 0, true, BIT(PROXY_CTRL) },
	[NCS_EVENT_KERNEL_CH] = { NCS_PAIR_CHILD, 0, false, BIT(KERNEL_CH) },
	[NCS_EVENT_NET_PLUGIN] = { NCS_PAIR_STEP, 0, false, NETS },
	[NCS_EVENT_GROUP_API] = { NCS_PAIR_CALL, 0, true,
				  BIT(GROUP_API) | BIT(COLL_API) |
					  BIT(P2P_API) | BIT(KERNEL_LAUNCH) |
					  BIT(GROUP) | BIT(COLL) | BIT(P2P) |
					  CHILDREN | COPIES },
	[NCS_EVENT_COLL_API] = { NCS_PAIR_CALL, 0, true,
				 BIT(COLL_API) | BIT(COLL) | CHILDREN |
					 COPIES },
	[NCS_EVENT_P2P_API] = { NCS_PAIR_CALL, 0, true,
				BIT(P2P_API) | BIT(P2P) | CHILDREN },
	[NCS_EVENT_KERNEL_LAUNCH] = { NCS_PAIR_CALL, 0, false,
				      BIT(KERNEL_LAUNCH) },
	[NCS_EVENT_CE_COLL] = { NCS_PAIR_CALL, 0, true, COPIES },
	[NCS_EVENT_CE_SYNC] = { NCS_PAIR_CALL, ANY_VERSION, true,
				BIT(CE_SYNC) },
	[NCS_EVENT_CE_BATCH] = { NCS_PAIR_CALL, ANY_VERSION, true,
				 BIT(CE_BATCH) },
	[NCS_EVENT_KERNEL_PHASE] = { NCS_PAIR_STEP, 0, false,
				     BIT(KERNEL_PHASE) },
};

static uint32_t wanted_events(void)
{
	uint32_t events = ncs_load_relaxed32(chain.mask) &
			  ncs_next.known_events;

	/* NCCL itself turns on kernel channels with kernel phases. */
	if (events & BIT(KERNEL_PHASE))
		events |= BIT(KERNEL_CH);
	return events;
}

/* Asks NCCL for the events that the chained plugin asks for now. Returns false
 * if another thread is doing so: that thread may not have seen the last
 * change. */
static bool follow_mask(void)
{
	uint32_t events;

	/* ORDER: pairs with follow_mask() (plugin/chain/chain.c): one thread at
	 * a time, so that an older mask does not replace a newer one. */
	if (!ncs_cas_acquire_release(&chain.following, 0, 1))
		return false;
	events = wanted_events();
	if (chain.mask == &chain.own_mask)
		ncs_mask_set_events(NCS_MASK_CHAINED, events);
	ncs_store_relaxed32(&chain.followed, events);
	/* ORDER: pairs with follow_mask() (plugin/chain/chain.c). */
	ncs_store_release(&chain.following, 0);
	return true;
}

/* --- init and finalize ---------------------------------------------------- */

static uint64_t cookie(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (((uint64_t)now.tv_sec * UINT64_C(1000000000) +
		 (uint64_t)now.tv_nsec) ^
		(uint64_t)getpid() << 20) &
	       UINT64_C(0xffffffffff);
}

static void load(const struct ncs_init *init)
{
	const struct ncs_environment *config = ncs_process_environment();
	char why[1024];
	int error;

	error = ncs_next_load(config->chain, init->api_version, why,
			      sizeof(why));
	if (!error) {
		error = ncs_pairs_make(cookie());
		snprintf(why, sizeof(why), "%s", strerror(-error));
	}
	if (error) {
		ncs_process_log(init, NCCL_LOG_WARN,
				"NCCLSTAT_CHAIN=%s gets no calls: %s",
				config->chain, why);
		return;
	}
	chain.api_version = init->api_version;
	/* If our plugin asks for no events, the chained plugin writes NCCL's
	 * mask itself. */
	chain.mask = config->disabled && init->mask ? init->mask :
						      &chain.own_mask;
	ncs_registry.chained = true;
	ncs_process_log(init, NCCL_LOG_INFO,
			"calls go on to %s, version %u of the profiler API"
			" (NCCLSTAT_CHAIN=%s)",
			ncs_next.name, ncs_next.version, config->chain);
}

/* Applies the mask that the chained plugin has stored in its init. */
static void apply_wishes(const struct ncs_init *init, uint32_t before)
{
	uint32_t asked = ncs_load_relaxed32(chain.mask);

	/* NCCL does the same with a table of an older version. */
	if (chain.mask != &chain.own_mask && asked & ~ncs_next.known_events)
		ncs_store_relaxed32(chain.mask, asked & ncs_next.known_events);
	while (!follow_mask())
		sched_yield();
	if (asked & ~before & BIT(KERNEL_CH) &&
	    !ncs_release_allows_kernel(init->api_version))
		ncs_process_log(
			init, NCCL_LOG_WARN,
			"%s asks for kernel channels, which can end a job"
			" before NCCL 2.28.3",
			ncs_next.name);
}

static bool init_theirs(const struct ncs_init *init, void **context)
{
	uint32_t before = ncs_load_relaxed32(chain.mask);
	enum nccl_result result;

	if (init->api_version != chain.api_version) {
		ncs_process_log(
			init, NCCL_LOG_WARN,
			"%s gets no calls of a second NCCL in this process",
			ncs_next.name);
		return false;
	}
	result = ncs_next_init(init, context, (int *)chain.mask);
	if (result == NCCL_SUCCESS) {
		apply_wishes(init, before);
		return true;
	}
	ncs_process_log(
		init, NCCL_LOG_WARN,
		"%s cannot follow this communicator (error %d); it gets no"
		" calls for it",
		ncs_next.name, (int)result);
	return false;
}

/* Called in a forked child, which has no communicators. */
static void forget(void)
{
	ncs_pairs_forget(cookie());
	chain.following = 0;
	pthread_mutex_init(&lock, NULL);
}

void ncs_chain_init_comm(const struct ncs_init *init, void **context)
{
	struct ncs_pair pair = { .ours = (uintptr_t)*context };
	void *theirs = NULL;
	uint64_t value;

	if (!ncs_process_environment()->chain[0])
		return;
	ncs_process_on_fork(forget);
	pthread_mutex_lock(&lock);
	if (!chain.tried)
		load(init);
	chain.tried = true;
	pthread_mutex_unlock(&lock);
	if (!ncs_chain_is_on())
		return;
	if (init_theirs(init, &theirs)) {
		pair.theirs = (uintptr_t)theirs;
		pair.facts = HAS_THEIRS;
	}
	value = ncs_pairs_put(NCS_PAIR_CONTEXT, &pair);
	if (value) {
		*context = (void *)(uintptr_t)value;
		return;
	}
	ncs_process_log(init, NCCL_LOG_WARN,
			"too many communicators; %s gets no calls for this one",
			ncs_next.name);
	if (pair.facts)
		ncs_next.table->finalize(theirs);
}

static bool get_context(const void *context, struct ncs_pair *pair)
{
	uint64_t value = (uintptr_t)context;

	return ncs_pairs_is_context(value) && ncs_pairs_get(value, pair);
}

void ncs_chain_finalize_comm(void *context)
{
	struct ncs_pair pair;

	if (!get_context(context, &pair)) {
		ncs_process_finalize_comm(context);
		return;
	}
	ncs_process_finalize_comm((void *)(uintptr_t)pair.ours);
	if (!ncs_pairs_close((uintptr_t)context) || !(pair.facts & HAS_THEIRS))
		return;
	/* From 2.28 on NCCL does not call finalize without a context. */
	if (pair.theirs || chain.api_version < 5)
		ncs_next.table->finalize((void *)(uintptr_t)pair.theirs);
}

/* --- handles -------------------------------------------------------------- */

static void count_lost_pair(uint64_t handle)
{
	struct ncs_handle decoded = ncs_handle_decode(handle);
	struct ncs_comm *comm = ncs_comm_of_handle(&decoded);

	if (comm)
		ncs_lane_lose(ncs_lane_enter(comm, ncs_now()), NCS_LOSS_CHAIN);
}

/* Finds the pair of a handle. Returns false if there is none: our plugin then
 * gets the value as it is, and counts it as stale. */
static bool get_pair(const void *handle, struct ncs_pair *pair)
{
	uint64_t value = (uintptr_t)handle;

	if (ncs_pairs_is_handle(value)) {
		if (ncs_pairs_get(value, pair))
			return true;
		count_lost_pair(value);
	}
	*pair = (struct ncs_pair){ .ours = value };
	return false;
}

/* --- starting an event ---------------------------------------------------- */

struct chained_start {
	unsigned api_version;
	unsigned event; /* NCS_EVENT_COUNT if unknown */
	const union nccl_event_descr *descr;
	struct ncs_pair context;
	struct ncs_pair parent;
	struct ncs_pair group; /* Coll and P2p, from version 5 on */
	bool is_local;         /* false if known to be of another process */
};

static bool has_group(const struct chained_start *start)
{
	return start->api_version >= 5 && (start->event == NCS_EVENT_COLL ||
					   start->event == NCS_EVENT_P2P);
}

/* Looks up the pairs of an event's context and parents. The context and parent
 * of another process's event (PXN) are handles of that process, and are left as
 * they are. */
static void look_up(struct chained_start *start, const void *context)
{
	const struct nccl_event_descr_v5 *head = &start->descr->v5;
	const void *group;

	start->is_local = get_context(context, &start->context);
	if (!start->is_local)
		start->context.ours = (uintptr_t)context;
	if (start->event == NCS_EVENT_PROXY_OP &&
	    (uint32_t)head->proxy_op.pid != ncs_registry.pid)
		start->is_local = false;
	if (start->event == NCS_EVENT_PROXY_OP && !start->is_local) {
		start->parent.ours = (uintptr_t)head->parent;
		return;
	}
	get_pair(head->parent, &start->parent);
	if (has_group(start)) {
		group = start->event == NCS_EVENT_COLL ?
				head->coll.parent_group :
				head->p2p.parent_group;
		get_pair(group, &start->group);
	}
}

/* Returns the events that the chained plugin had asked for when NCCL read its
 * mask. */
static uint32_t events_then(const struct chained_start *start)
{
	uint32_t events = wanted_events();

	if (events != ncs_load_relaxed32(&chain.followed))
		follow_mask();
	/* The first call of a group may be on another communicator. */
	if (start->parent.facts & HAS_THEIRS &&
	    !kinds[start->event].is_looked_up)
		events = (uint32_t)(start->parent.facts & EVENTS_MASK);
	return events;
}

/* Returns true if NCCL would start this event for the chained plugin alone. */
static bool is_for_them(const struct chained_start *start, uint32_t events)
{
	return 1u << start->event & ncs_next.known_events &&
	       kinds[start->event].starters & events &&
	       (start->parent.theirs != 0 ||
		start->api_version > kinds[start->event].needs_parent);
}

static uint64_t start_theirs(const struct chained_start *start)
{
	static const uint8_t bytes[] = NCCL_EVENT_DESCR_BYTES;
	uint64_t parent = start->parent.theirs;
	union nccl_event_descr descr;
	void *handle = NULL;

	memcpy(&descr, start->descr, bytes[start->api_version]);
	if (has_group(start)) {
		/* In version 4 the group is the parent. */
		if (ncs_next.version == 4)
			parent = start->group.theirs;
		else if (start->event == NCS_EVENT_COLL)
			descr.v5.coll.parent_group =
				(void *)(uintptr_t)start->group.theirs;
		else
			descr.v5.p2p.parent_group =
				(void *)(uintptr_t)start->group.theirs;
	}
	/* The parent is at the same offset in all versions, and so is the type;
	 * up to version 4 the type has one byte, and the ones behind it are not
	 * read. */
	descr.v5.parent = (void *)(uintptr_t)parent;
	ncs_next.table->start_event((void *)(uintptr_t)start->context.theirs,
				    &handle, &descr);
	return (uintptr_t)handle;
}

/* Starts the event in our plugin, which gets all events, except proxy control
 * events that only the chained plugin asks for: they are too frequent. */
static uint64_t start_ours(const struct chained_start *start, uint64_t type)
{
	const struct nccl_event_descr_v5 *head = &start->descr->v5;

	const void *parent = (void *)(uintptr_t)start->parent.ours;
	uint64_t handle;

	if (start->event == NCS_EVENT_PROXY_CTRL &&
	    !ncs_release_allows_ctrl(start->api_version))
		return 0;
	if (start->event == NCS_EVENT_PROXY_STEP &&
	    ncs_step_on_start(parent, &head->proxy_step, &handle))
		return handle;
	return ncs_start_event(start->api_version,
			       (void *)(uintptr_t)start->context.ours, type,
			       parent, head->rank, &head->proxy_op);
}

static bool is_captured(const struct chained_start *start)
{
	const struct nccl_event_descr_v5 *head = &start->descr->v5;

	switch (start->event) {
	case NCS_EVENT_GROUP_API:
		return head->group_api.graph_captured != 0;
	case NCS_EVENT_COLL_API:
		return head->coll_api.graph_captured != 0;
	case NCS_EVENT_P2P_API:
		return head->p2p_api.graph_captured != 0;
	default:
		return false;
	}
}

static enum ncs_pair_class class_of(const struct chained_start *start)
{
	return is_captured(start) ? NCS_PAIR_CAPTURED :
				    kinds[start->event].class;
}

static unsigned event_of(uint64_t type)
{
	unsigned event = type ? (unsigned)__builtin_ctzll(type) : 64;

	return event < NCS_EVENT_COUNT && type == UINT64_C(1) << event ?
		       event :
		       NCS_EVENT_COUNT;
}

uint64_t ncs_chain_start_event(unsigned api_version, void *context,
			       void *const *former, uint64_t type,
			       const void *descr)
{
	struct chained_start start = {
		.api_version = api_version,
		.event = event_of(type),
		.descr = descr,
	};
	struct ncs_pair pair = { 0 };
	uint32_t events;
	uint64_t value = 0;

	/* NCCL starts a receive step at every poll until it can post it, and up
	 * to 2.26 does not stop all of them: close the one that NCCL
	 * forgets. */
	if (start.event == NCS_EVENT_PROXY_STEP && former &&
	    ncs_pairs_is_handle((uintptr_t)*former))
		ncs_pairs_close((uintptr_t)*former);
	look_up(&start, context);
	pair.ours = start_ours(&start, type);
	if (start.is_local && start.context.facts & HAS_THEIRS &&
	    start.event < NCS_EVENT_COUNT && api_version == chain.api_version) {
		events = events_then(&start);
		if (is_for_them(&start, events))
			pair.theirs = start_theirs(&start);
		pair.facts = HAS_THEIRS | events;
		/* From 2.28 on NCCL reports no states of such a step. */
		if (start.event == NCS_EVENT_PROXY_STEP &&
		    start.parent.theirs == 0)
			pair.facts |= QUIET;
	}
	if (pair.ours || pair.theirs) {
		value = ncs_pairs_put(class_of(&start), &pair);
		if (!value)
			count_lost_pair(pair.ours);
	}
	return value;
}

/* --- stopping and states -------------------------------------------------- */

void ncs_chain_stop_event(void *handle)
{
	struct ncs_pair pair;
	bool found = get_pair(handle, &pair);
	const void *ours = (void *)(uintptr_t)pair.ours;

	if (found)
		ncs_pairs_close((uintptr_t)handle);
	if ((ours || !found) && !ncs_step_on_stop(ours))
		ncs_stop_event(ours);
	if (pair.theirs)
		ncs_next.table->stop_event((void *)(uintptr_t)pair.theirs);
}

void ncs_chain_record_state(unsigned api_version, void *handle, unsigned state,
			    void *args)
{
	struct ncs_pair pair;
	bool found = get_pair(handle, &pair);
	const void *ours = (void *)(uintptr_t)pair.ours;

	if ((ours || !found) &&
	    !ncs_step_on_state(api_version, ours, state, args))
		ncs_record_state(api_version, ours, state, args);
	if (pair.theirs && !(pair.facts & QUIET))
		ncs_next.table->record_event_state(
			(void *)(uintptr_t)pair.theirs,
			(enum nccl_event_state)state, args);
}
