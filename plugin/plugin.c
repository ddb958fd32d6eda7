/* SPDX-License-Identifier: MIT */
/* The plugin's interface to NCCL: one table of functions for each version of
 * the profiler API.
 *
 * Thin on purpose: no logic but the choice of the module to call. All versions
 * are exported, because NCCL takes the latest one that it knows, and its choice
 * identifies its release. Every function returns success: NCCL looks at the
 * result of init only, where an error would end profiling for the whole
 * process, or worse. */
#include <assert.h>
#include <pthread.h>
#include <stddef.h>

#include "plugin/events/call.h"
#include "plugin/events/callbacks.h"
#include "plugin/chain/chain.h"
#include "plugin/nccl/nccl_abi.h"
#include "plugin/life/lifecycle.h"
#include "plugin/events/step.h"

#define EXPORT __attribute__((visibility("default")))

/* Stores a handle, also if it is 0: NCCL would otherwise find the old value and
 * stop that event again. */
static void give_handle(void **handle, uint64_t value)
{
	if (handle)
		*handle = (void *)(uintptr_t)value;
}

/* Init and finalize take locks and make system calls: a thread that is cancelled
 * meanwhile ends after them. */
static enum nccl_result init(const struct ncs_init *facts, void **context)
{
	void *ours, *made;
	int cancelling;

	pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &cancelling);
	ncs_process_init_comm(facts, &ours);
	made = ours;
	ncs_chain_init_comm(facts, &made);
	ncs_process_publish_comm(facts, ours);
	if (context)
		*context = made;
	pthread_setcancelstate(cancelling, NULL);
	return NCCL_SUCCESS;
}

/* Each kind of event has a function of its own, so that it saves no registers
 * for the others. */
__attribute__((noinline)) static enum nccl_result stop_other(void *handle)
{
	if (ncs_chain_is_on())
		ncs_chain_stop_event(handle);
	else
		ncs_stop_event(handle);
	return NCCL_SUCCESS;
}

__attribute__((noinline)) static enum nccl_result stop_step(void *handle)
{
	return ncs_step_on_stop(handle) ? NCCL_SUCCESS : stop_other(handle);
}

__attribute__((noinline)) static enum nccl_result stop_span(void *handle)
{
	return ncs_call_on_stop(handle) ? NCCL_SUCCESS : stop_other(handle);
}

__attribute__((noinline)) static enum nccl_result stop_operation(void *handle)
{
	return ncs_call_on_stop_operation(handle) ? NCCL_SUCCESS :
						    stop_other(handle);
}

static enum nccl_result stop_event(void *handle)
{
	uint64_t value = (uint64_t)(uintptr_t)handle;

	if (ncs_handle_is(value, NCS_HANDLE_STEP))
		return stop_step(handle);
	if (ncs_handle_is(value, NCS_HANDLE_SPAN))
		return stop_span(handle);
	if (ncs_handle_is(value, NCS_HANDLE_OPERATION))
		return stop_operation(handle);
	return stop_other(handle);
}

static enum nccl_result finalize(void *context)
{
	int cancelling;

	pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &cancelling);
	if (ncs_chain_is_on())
		ncs_chain_finalize_comm(context);
	else
		ncs_process_finalize_comm(context);
	pthread_setcancelstate(cancelling, NULL);
	return NCCL_SUCCESS;
}

/* The head of the descriptor and a step's facts are at the same place in all
 * versions; up to version 4 the type has one byte. */
static_assert(offsetof(struct nccl_event_descr_v1, parent) ==
		      offsetof(struct nccl_event_descr_v5, parent),
	      "the parent is at the same place");
static_assert(offsetof(struct nccl_event_descr_v1, rank) ==
		      offsetof(struct nccl_event_descr_v5, rank),
	      "the rank is at the same place");
static_assert(offsetof(struct nccl_event_descr_v1, proxy_step) ==
		      offsetof(struct nccl_event_descr_v5, proxy_step),
	      "a step's facts are at the same place");

/* Starts any event but a step of our own: a function of its own, so that the
 * callback of a step stays short. With a chained plugin NCCL never holds a
 * step's own handle, and all callbacks come here. */
__attribute__((noinline)) static enum nccl_result
start_other(void *context, void **handle, const void *descr, unsigned version)
{
	const struct nccl_event_descr_v1 *early = descr;
	const struct nccl_event_descr_v5 *head = descr;
	uint64_t type = version < 5 ? early->type : head->type, value;

	if (ncs_chain_is_on())
		value = ncs_chain_start_event(version, context, handle, type,
					      head);
	else
		value = ncs_start_event(version, context, type, head->parent,
					head->rank, &head->proxy_op);
	give_handle(handle, value);
	return NCCL_SUCCESS;
}

/* Starts a span of a call, since version 5. */
__attribute__((noinline)) static enum nccl_result
start_span(void *context, void **handle, const void *descr, unsigned version)
{
	uint64_t value;

	if (!ncs_call_on_start(context, descr, &value))
		return start_other(context, handle, descr, version);
	give_handle(handle, value);
	return NCCL_SUCCESS;
}

/* Starts a collective, since version 5. */
__attribute__((noinline)) static enum nccl_result
start_coll(void *context, void **handle, const void *descr, unsigned version)
{
	uint64_t value;

	if (!ncs_call_on_start_coll(version, context, descr, &value))
		return start_other(context, handle, descr, version);
	give_handle(handle, value);
	return NCCL_SUCCESS;
}

/* Starts a step. The parameters are those that start_other() needs, at the same
 * places, so that nothing has to be moved. */
__attribute__((noinline)) static enum nccl_result
start_step(void *context, void **handle, const void *descr, unsigned version)
{
	const struct nccl_event_descr_v5 *head = descr;
	uint64_t value;

	if (!ncs_step_on_start(head->parent, &head->proxy_step, &value))
		return start_other(context, handle, descr, version);
	give_handle(handle, value);
	return NCCL_SUCCESS;
}

/* The state of any event but a step; a GroupApi's in few instructions, since NCCL
 * reports two in each call. */
__attribute__((noinline)) static enum nccl_result
record_other(void *handle, enum nccl_event_state state, void *args,
	     unsigned version)
{
	if (version >= 5 && ncs_call_on_state(handle, (unsigned)state))
		return NCCL_SUCCESS;
	if (ncs_chain_is_on())
		ncs_chain_record_state(version, handle, (unsigned)state, args);
	else
		ncs_record_state(version, handle, (unsigned)state, args);
	return NCCL_SUCCESS;
}

/* recordEventState for all versions that treat steps as `step_version` does. */
#define RECORD_STATE(name, step_version) \
	__attribute__((noinline)) static enum nccl_result name( \
		void *handle, enum nccl_event_state state, void *args, \
		unsigned version) \
	{ \
		if (ncs_step_on_state(step_version, handle, (unsigned)state, \
				      args)) \
			return NCCL_SUCCESS; \
		return record_other(handle, state, args, version); \
	}

RECORD_STATE(record_state_before_v4, 3)
RECORD_STATE(record_state_since_v4, 4)

/* A version's own two functions only choose one of those above. */
#define EVENT_FUNCTIONS(version, record, layout) \
	static enum nccl_result start_event_v##version( \
		void *context, void **handle, void *pointer) \
	{ \
		const struct nccl_event_descr_##layout *descr = pointer; \
\
		if (!descr) { \
			give_handle(handle, 0); \
			return NCCL_SUCCESS; \
		} \
		if (descr->type == NCCL_EVENT_PROXY_STEP) \
			return start_step(context, handle, descr, version); \
		if (version >= 5 && descr->type & NCS_CALL_SPANS) \
			return start_span(context, handle, descr, version); \
		if (version >= 5 && descr->type == NCCL_EVENT_COLL) \
			return start_coll(context, handle, descr, version); \
		return start_other(context, handle, descr, version); \
	} \
\
	static enum nccl_result record_state_v##version( \
		void *handle, enum nccl_event_state state, void *args) \
	{ \
		return record(handle, state, args, version); \
	}

EVENT_FUNCTIONS(1, record_state_before_v4, v1)
EVENT_FUNCTIONS(2, record_state_before_v4, v2)
EVENT_FUNCTIONS(3, record_state_before_v4, v3)
EVENT_FUNCTIONS(4, record_state_since_v4, v4)
EVENT_FUNCTIONS(5, record_state_since_v4, v5)
EVENT_FUNCTIONS(6, record_state_since_v4, v5)
EVENT_FUNCTIONS(7, record_state_since_v4, v5)

/* Versions 1 to 3 pass no facts about the communicator to init. */
#define INIT_WITHOUT_COMM(version) \
	static enum nccl_result init_v##version(void **context, int *mask) \
	{ \
		struct ncs_init facts = { \
			.api_version = version, \
			.nnodes = -1, \
			.nranks = -1, \
			.rank = -1, \
			.mask = (uint32_t *)mask, \
			.caller = __builtin_return_address(0), \
		}; \
\
		return init(&facts, context); \
	}

INIT_WITHOUT_COMM(1)
INIT_WITHOUT_COMM(2)
INIT_WITHOUT_COMM(3)

static enum nccl_result init_with_comm(unsigned api_version, void **context,
				       uint64_t comm_id, int *mask,
				       const char *name, int nnodes, int nranks,
				       int rank, nccl_debug_logger logger,
				       const void *caller)
{
	struct ncs_init facts = {
		.api_version = api_version,
		.comm_id = comm_id,
		.has_comm_id = true,
		.comm_name = name,
		.nnodes = nnodes,
		.nranks = nranks,
		.rank = rank,
		.mask = (uint32_t *)mask,
		.logger = logger,
		.caller = caller,
	};

	return init(&facts, context);
}

static enum nccl_result init_v4(void **context, int *mask, const char *name,
				uint64_t comm_id, int nnodes, int nranks,
				int rank, nccl_debug_logger logger)
{
	return init_with_comm(4, context, comm_id, mask, name, nnodes, nranks,
			      rank, logger, __builtin_return_address(0));
}

#define INIT_WITH_COMM(version) \
	static enum nccl_result init_v##version( \
		void **context, uint64_t comm_id, int *mask, const char *name, \
		int nnodes, int nranks, int rank, nccl_debug_logger logger) \
	{ \
		return init_with_comm(version, context, comm_id, mask, name, \
				      nnodes, nranks, rank, logger, \
				      __builtin_return_address(0)); \
	}

INIT_WITH_COMM(5)
INIT_WITH_COMM(6)
INIT_WITH_COMM(7)

/* A later NCCL may read functions that were appended to a table: it finds none. */
#define APPENDED 8

struct table {
	struct nccl_profiler table;
	void (*appended[APPENDED])(void);
};

#define TABLE(n, init_version) \
	extern const struct table ncclProfiler_v##n; \
	EXPORT const struct table ncclProfiler_v##n = { \
		.table = { \
			.name = "ncclstat", \
			.init.init_version = init_v##n, \
			.start_event = start_event_v##n, \
			.stop_event = stop_event, \
			.record_event_state = record_state_v##n, \
			.finalize = finalize, \
		}, \
	};

TABLE(1, v1)
TABLE(2, v1)
TABLE(3, v1)
TABLE(4, v4)
TABLE(5, v5)
TABLE(6, v5)
TABLE(7, v5)
