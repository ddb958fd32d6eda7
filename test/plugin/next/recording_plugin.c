/* SPDX-License-Identifier: MIT */
/* A profiler plugin that records its calls; see recording_plugin.h. */
#include "test/plugin/next/recording_plugin.h"

#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "plugin/nccl/nccl_abi.h"

#define EXPORT __attribute__((visibility("default")))

static void reset(void);

extern struct recorder recorder;
EXPORT struct recorder recorder = { .mask = 0xffff, .reset = reset };

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static size_t length, room;
static uint64_t handles_given, contexts_given;

static void take_lock(void)
{
	pthread_mutex_lock(&lock);
}

static void give_lock(void)
{
	pthread_mutex_unlock(&lock);
}

/* Protects against a fork while another thread holds the lock. */
__attribute__((constructor)) static void handle_fork(void)
{
	pthread_atfork(take_lock, give_lock, give_lock);
}

/* In processes other than tests: writes a report of the counts. */
__attribute__((constructor)) static void look_for_report(void)
{
	recorder.counts_only = getenv("RECORDER_REPORT") != NULL;
}

static void report(void)
{
	const char *path = getenv("RECORDER_REPORT");
	FILE *file = path ? fopen(path, "a") : NULL;

	if (!file)
		return;
	fprintf(file, "version %u broken %llu states %llu starts",
		recorder.version, (unsigned long long)recorder.broken,
		(unsigned long long)recorder.states);
	for (unsigned i = 0; i < 16; i++)
		fprintf(file, " %llu", (unsigned long long)recorder.starts[i]);
	fprintf(file, " stops");
	for (unsigned i = 0; i < 16; i++)
		fprintf(file, " %llu", (unsigned long long)recorder.stops[i]);
	fprintf(file, "\n");
	fclose(file);
}

static void reset(void)
{
	take_lock();
	free(recorder.text);
	memset(&recorder, 0, sizeof(recorder));
	recorder.mask = 0xffff;
	recorder.reset = reset;
	recorder.text = calloc(1, 1);
	length = 0;
	room = recorder.text ? 1 : 0;
	handles_given = contexts_given = 0;
	give_lock();
}

__attribute__((format(printf, 1, 2))) static void
write_down(const char *format, ...)
{
	char line[512];
	va_list list;
	size_t bytes;
	char *larger;

	recorder.calls++;
	if (recorder.counts_only)
		return;
	va_start(list, format);
	bytes = (size_t)vsnprintf(line, sizeof(line), format, list);
	va_end(list);
	if (length + bytes + 1 > room) {
		room = room * 2 + 65536;
		larger = realloc(recorder.text, room);
		if (!larger)
			abort();
		recorder.text = larger;
	}
	memcpy(recorder.text + length, line, bytes + 1);
	length += bytes;
}

/* --- Valid records ----------------------------------------------------- */

static unsigned event_of(const void *handle)
{
	return (unsigned)((uintptr_t)handle >> 1 & 15);
}

static void check_handle(const void *handle)
{
	uint64_t value = (uintptr_t)handle;

	if (value != 0 && (!(value & 1) || value >> 8 == 0 ||
			   value >> 8 > handles_given))
		recorder.broken++;
}

/* A parent's type is above its child's. */
static void check_parent(const void *parent, unsigned event)
{
	static const unsigned parents[16] = {
		[1] = 1 << 0 | 1 << 9,	 [2] = 1 << 0 | 1 << 10,
		[3] = 1 << 1 | 1 << 2,	 [4] = 1 << 3,
		[6] = 1 << 1 | 1 << 2,	 [7] = 1 << 4,
		[9] = 1 << 8,		 [10] = 1 << 8,
		[11] = 1 << 8,		 [12] = 1 << 9,
		[13] = 1 << 12,		 [14] = 1 << 12,
		[15] = 1 << 6,
	};

	check_handle(parent);
	if (parent && !(parents[event] & 1u << event_of(parent)))
		recorder.broken++;
}

static void check_context(const void *context)
{
	uint64_t value = (uintptr_t)context;

	if (value & 0xff || value >> 8 == 0 || value >> 8 > contexts_given)
		recorder.broken++;
}

/* --- The calls --------------------------------------------------------- */

static uint64_t hash(const void *bytes, size_t count)
{
	uint64_t value = UINT64_C(0xcbf29ce484222325);

	for (size_t i = 0; i < count; i++)
		value = (value ^ ((const unsigned char *)bytes)[i]) *
			UINT64_C(0x100000001b3);
	return value;
}

static enum nccl_result init(unsigned version, void **context, int *mask,
			     uint64_t id, const char *name, int nnodes,
			     int nranks, int rank)
{
	uint64_t given;

	take_lock();
	write_down("init id=%llx name=%s nnodes=%d nranks=%d rank=%d"
		   " found=%p\n",
		   (unsigned long long)id, name ? name : "-", nnodes, nranks,
		   rank, *context);
	recorder.version = version;
	recorder.mask_word = mask;
	__atomic_store_n(mask, recorder.mask, __ATOMIC_RELAXED);
	given = ++contexts_given;
	if (!recorder.gives_no_context && !recorder.fails_init)
		*context = (void *)(uintptr_t)RECORDER_CONTEXT(given);
	give_lock();
	return recorder.fails_init ? NCCL_SYSTEM_ERROR : NCCL_SUCCESS;
}

/* `body` is the descriptor's union. Pointers to data elsewhere and the other
 * parent are removed from it before it is compared. */
static enum nccl_result start(unsigned version, void *context, void **handle,
			      uint64_t type, void *parent, int rank,
			      const void *body, size_t body_bytes)
{
	unsigned event = (unsigned)__builtin_ctzll(type | UINT64_C(1) << 15);
	unsigned char copy[128] = { 0 };
	void *group = NULL;
	size_t group_at = event == 1 ? 80 : 40;

	memcpy(copy, body, body_bytes);
	if (version >= 5 && (event == 1 || event == 2)) {
		memcpy(&group, copy + group_at, sizeof(group));
		memset(copy + group_at, 0, sizeof(group));
	}
	if (event == 7)
		memset(copy + 8, 0, sizeof(void *));
	take_lock();
	check_context(context);
	check_parent(parent, event);
	check_handle(group);
	recorder.starts[event]++;
	if (type != UINT64_C(1) << event)
		recorder.broken++;
	handles_given++;
	*handle = recorder.gives_nothing_for & type ?
			  NULL :
			  (void *)(uintptr_t)RECORDER_HANDLE(handles_given,
							     event);
	if (recorder.body_bytes)
		body_bytes = recorder.body_bytes;
	write_down("start %p context=%p type=%llu parent=%p group=%p rank=%d"
		   " body=%016llx\n",
		   *handle, context, (unsigned long long)type, parent, group,
		   rank, (unsigned long long)hash(copy, body_bytes));
	give_lock();
	return NCCL_SUCCESS;
}

static enum nccl_result stop(void *handle)
{
	take_lock();
	check_handle(handle);
	recorder.stops[event_of(handle)]++;
	write_down("stop %p\n", handle);
	give_lock();
	return NCCL_SUCCESS;
}

static enum nccl_result record(void *handle, int state, const void *args,
			       size_t args_bytes)
{
	uint64_t digest = args ? hash(args, args_bytes) : 0;

	take_lock();
	check_handle(handle);
	recorder.states++;
	write_down("state %p %d args=%016llx\n", handle, state,
		   (unsigned long long)digest);
	give_lock();
	return NCCL_SUCCESS;
}

static enum nccl_result finalize(void *context)
{
	take_lock();
	if (context)
		check_context(context);
	write_down("finalize %p\n", context);
	report();
	give_lock();
	return NCCL_SUCCESS;
}

/* --- The tables -------------------------------------------------------- */

#define TABLE(version, layout, init_layout, args_layout)                \
	static enum nccl_result start_v##version(                       \
		void *context, void **handle, void *pointer)            \
	{                                                               \
		static const unsigned char bytes[] =                    \
			NCCL_EVENT_DESCR_BYTES;                         \
		struct nccl_event_descr_##layout *descr = pointer;      \
                                                                        \
		return start(version, context, handle, descr->type,     \
			     descr->parent, descr->rank,                \
			     &descr->proxy_op, bytes[version] - 24u);   \
	}                                                               \
	static enum nccl_result record_v##version(                      \
		void *handle, enum nccl_event_state state, void *args)  \
	{                                                               \
		return record(handle, (int)state, args,                 \
			      sizeof(union nccl_state_args_##args_layout)); \
	}                                                               \
	extern const struct nccl_profiler ncclProfiler_v##version;      \
	EXPORT const struct nccl_profiler ncclProfiler_v##version = {   \
		.name = "recorder",                                     \
		.init.init_layout = init_v##version,                    \
		.start_event = start_v##version,                        \
		.stop_event = stop,                                     \
		.record_event_state = record_v##version,                \
		.finalize = finalize,                                   \
	};

#define SILENT_TABLE(version)                                              \
	static enum nccl_result init_v##version(void **context, int *mask) \
	{                                                                  \
		return init(version, context, mask, 0, NULL, -1, -1, -1);  \
	}                                                                  \
	TABLE(version, v##version, v1, v1)

#define TELLING_TABLE(version)                                              \
	static enum nccl_result init_v##version(                            \
		void **context, uint64_t id, int *mask, const char *name,   \
		int nnodes, int nranks, int rank, nccl_debug_logger logger) \
	{                                                                   \
		(void)logger;                                               \
		return init(version, context, mask, id, name, nnodes,       \
			    nranks, rank);                                  \
	}                                                                   \
	TABLE(version, v5, v5, v4)

#ifdef WITH_V1
SILENT_TABLE(1)
#endif
#ifdef WITH_V2
SILENT_TABLE(2)
#endif
#ifdef WITH_V3
SILENT_TABLE(3)
#endif
#ifdef WITH_V4
static enum nccl_result init_v4(void **context, int *mask, const char *name,
				uint64_t id, int nnodes, int nranks, int rank,
				nccl_debug_logger logger)
{
	(void)logger;
	return init(4, context, mask, id, name, nnodes, nranks, rank);
}
TABLE(4, v4, v4, v4)
#endif
#ifdef WITH_V5
TELLING_TABLE(5)
#endif
#ifdef WITH_V6
TELLING_TABLE(6)
#endif
#ifdef WITH_V7
TELLING_TABLE(7)
#endif
