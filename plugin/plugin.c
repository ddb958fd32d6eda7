/* SPDX-License-Identifier: MIT */
/* What NCCL sees: one table of functions for each version of its profiler API.
 *
 * Thin on purpose. All versions are exported, since NCCL takes the latest that
 * it knows; which one it took tells its release. Every function returns
 * success: NCCL looks at init's result only, and an error there costs the whole
 * process its profiling, or worse. */
#include "plugin/events/callbacks.h"
#include "plugin/chain/chain.h"
#include "plugin/nccl/nccl_abi.h"
#include "plugin/life/lifecycle.h"
#include "plugin/events/step.h"

#define EXPORT __attribute__((visibility("default")))

/* NCCL may find the handle's old value otherwise, and stop it again. */
static void give_handle(void **handle, uint64_t value)
{
	if (handle)
		*handle = (void *)(uintptr_t)value;
}

static enum nccl_result init(const struct ncs_init *facts, void **context)
{
	void *ours, *made;

	ncs_process_init_comm(facts, &ours);
	made = ours;
	ncs_chain_init_comm(facts, &made);
	ncs_process_publish_comm(facts, ours);
	if (context)
		*context = made;
	return NCCL_SUCCESS;
}

static enum nccl_result stop_event(void *handle)
{
	if (ncs_step_on_stop(handle))
		return NCCL_SUCCESS;
	if (ncs_chain_is_on())
		ncs_chain_stop_event(handle);
	else
		ncs_stop_event(handle);
	return NCCL_SUCCESS;
}

static enum nccl_result finalize(void *context)
{
	if (ncs_chain_is_on())
		ncs_chain_finalize_comm(context);
	else
		ncs_process_finalize_comm(context);
	return NCCL_SUCCESS;
}

/* startEvent and recordEventState of a version: the descriptor's head is the
 * same in all, its type one byte or eight. What is not a step's is apart, so
 * that the run of a step's callback stays short; where another plugin is
 * chained NCCL never holds a step's own handle, and all is that. */
#define EVENT_FUNCTIONS(version) \
	__attribute__((noinline)) static enum nccl_result \
		start_other_v##version( \
			void *context, void **handle, \
			struct nccl_event_descr_v##version *descr) \
	{ \
		uint64_t value; \
\
		if (ncs_chain_is_on()) \
			value = ncs_chain_start_event( \
				version, context, handle, descr->type, descr); \
		else \
			value = ncs_start_event(version, context, descr->type, \
						descr->parent, descr->rank, \
						&descr->proxy_op); \
		give_handle(handle, value); \
		return NCCL_SUCCESS; \
	} \
\
	static enum nccl_result start_event_v##version( \
		void *context, void **handle, \
		struct nccl_event_descr_v##version *descr) \
	{ \
		uint64_t value = 0; \
\
		if (descr && !(descr->type == NCCL_EVENT_PROXY_STEP && \
			       ncs_step_on_start(descr->parent, \
						 &descr->proxy_step, &value))) \
			return start_other_v##version(context, handle, descr); \
		give_handle(handle, value); \
		return NCCL_SUCCESS; \
	} \
\
	static enum nccl_result record_state_v##version( \
		void *handle, enum nccl_event_state state, \
		union nccl_state_args_v##version *args) \
	{ \
		if (ncs_step_on_state(version, handle, (unsigned)state, args)) \
			return NCCL_SUCCESS; \
		if (ncs_chain_is_on()) \
			ncs_chain_record_state(version, handle, \
					       (unsigned)state, args); \
		else \
			ncs_record_state(version, handle, (unsigned)state, \
					 args); \
		return NCCL_SUCCESS; \
	}

EVENT_FUNCTIONS(1)
EVENT_FUNCTIONS(2)
EVENT_FUNCTIONS(3)
EVENT_FUNCTIONS(4)
EVENT_FUNCTIONS(5)
EVENT_FUNCTIONS(6)
EVENT_FUNCTIONS(7)

/* Versions 1 to 3 tell nothing of the communicator here. */
#define INIT_SILENT(version) \
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

INIT_SILENT(1)
INIT_SILENT(2)
INIT_SILENT(3)

static enum nccl_result init_v4(void **context, int *mask, const char *name,
				uint64_t comm_id, int nnodes, int nranks,
				int rank, nccl_debug_logger logger)
{
	struct ncs_init facts = {
		.api_version = 4,
		.comm_id = comm_id,
		.has_comm_id = true,
		.comm_name = name,
		.nnodes = nnodes,
		.nranks = nranks,
		.rank = rank,
		.mask = (uint32_t *)mask,
		.logger = logger,
		.caller = __builtin_return_address(0),
	};

	return init(&facts, context);
}

#define INIT_TELLING(version) \
	static enum nccl_result init_v##version( \
		void **context, uint64_t comm_id, int *mask, const char *name, \
		int nnodes, int nranks, int rank, nccl_debug_logger logger) \
	{ \
		struct ncs_init facts = { \
			.api_version = version, \
			.comm_id = comm_id, \
			.has_comm_id = true, \
			.comm_name = name, \
			.nnodes = nnodes, \
			.nranks = nranks, \
			.rank = rank, \
			.mask = (uint32_t *)mask, \
			.logger = logger, \
			.caller = __builtin_return_address(0), \
		}; \
\
		return init(&facts, context); \
	}

INIT_TELLING(5)
INIT_TELLING(6)
INIT_TELLING(7)

#define TABLE(version) \
	extern const struct nccl_profiler_v##version ncclProfiler_v##version; \
	EXPORT const struct nccl_profiler_v##version ncclProfiler_v##version = { \
		.name = "ncclstat", \
		.init = init_v##version, \
		.start_event = start_event_v##version, \
		.stop_event = stop_event, \
		.record_event_state = record_state_v##version, \
		.finalize = finalize, \
	};

TABLE(1)
TABLE(2)
TABLE(3)
TABLE(4)
TABLE(5)
TABLE(6)
TABLE(7)
