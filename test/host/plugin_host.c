/* SPDX-License-Identifier: MIT */
/* Loads a plugin and calls it as NCCL does.
 *
 * Everything that NCCL leaves unset is filled with garbage here, so that a
 * plugin which reads it is noticed: padding, members of the union that do not
 * belong to the event, *handle before startEvent of API 4 and later. All
 * descriptors and args live on the stack for the duration of the call only.
 *
 * It must not depend on any one plugin: it uses the tables of nccl_abi.h
 * only.
 */
#include "test/host/plugin_host.h"

#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <time.h>
#include <unistd.h>

#define API_MAX 7
#define LOG_LINES 64
#define LOG_LINE_BYTES 512

/* The plugin's value for a number of the log. */
struct mapped_handle {
	void *handle;
	uint32_t type;			/* 0 if the number was not returned */
	uint32_t epoch;			/* if not the host's: dropped */
};

struct mapped_context {
	void *context;
	bool live;
};

struct host {
	char *path;
	int api;
	void *library;			/* NULL while it is closed */
	const struct nccl_profiler *table;
	int pid_recorded;		/* of the log in use */
	struct mapped_handle *handles;
	uint64_t handle_max;
	uint32_t epoch;
	struct mapped_context *contexts;
	uint64_t context_max;
	unsigned contexts_live;
	bool disabled;
	struct host_counts counts;
};

static int activation_mask;
static unsigned hosts_open;

/* --- The logger -------------------------------------------------------- */

static struct {
	pthread_mutex_t lock;
	unsigned count;
	char lines[LOG_LINES][LOG_LINE_BYTES];
} kept = { .lock = PTHREAD_MUTEX_INITIALIZER };

static enum nccl_log_level level_wanted(void)
{
	static const char *const names[] = { "NONE", "VERSION", "WARN",
		"INFO", "ABORT", "TRACE" };
	const char *wanted = getenv("NCCL_DEBUG");
	unsigned level;

	if (wanted == NULL)
		return NCCL_LOG_NONE;
	for (level = NCCL_LOG_NONE; level <= NCCL_LOG_TRACE; level++)
		if (strcasecmp(wanted, names[level]) == 0)
			return (enum nccl_log_level)level;
	return NCCL_LOG_NONE;
}

static void print_line(enum nccl_log_level level, const char *file, int line,
	const char *text)
{
	char name[128];

	if (gethostname(name, sizeof(name)) < 0)
		name[0] = '\0';
	name[strcspn(name, ".")] = '\0';
	if (level == NCCL_LOG_WARN)
		fprintf(stderr, "\n%s:%d:%d [0] %s:%d NCCL WARN %s\n", name,
			(int)getpid(), (int)gettid(), file, line, text);
	else
		fprintf(stderr, "%s:%d:%d [0] NCCL %s %s\n", name,
			(int)getpid(), (int)gettid(),
			level == NCCL_LOG_TRACE ? "TRACE" : "INFO", text);
}

void host_logger(enum nccl_log_level level, unsigned long subsystems,
	const char *file, int line, const char *format, ...)
{
	char text[LOG_LINE_BYTES];
	va_list list;

	(void)subsystems;
	va_start(list, format);
	vsnprintf(text, sizeof(text), format, list);
	va_end(list);
	pthread_mutex_lock(&kept.lock);
	memcpy(kept.lines[kept.count % LOG_LINES], text, sizeof(text));
	kept.count++;
	pthread_mutex_unlock(&kept.lock);
	if (level <= level_wanted())
		print_line(level, file, line, text);
}

unsigned host_log_count(void)
{
	unsigned count;

	pthread_mutex_lock(&kept.lock);
	count = kept.count;
	pthread_mutex_unlock(&kept.lock);
	return count;
}

bool host_log_has(const char *text)
{
	bool found = false;

	pthread_mutex_lock(&kept.lock);
	for (unsigned i = 0; i < kept.count && i < LOG_LINES; i++)
		found = found || strstr(kept.lines[i], text) != NULL;
	pthread_mutex_unlock(&kept.lock);
	return found;
}

void host_log_clear(void)
{
	pthread_mutex_lock(&kept.lock);
	kept.count = 0;
	pthread_mutex_unlock(&kept.lock);
}

/* --- Opening and closing ----------------------------------------------- */

static int __attribute__((format(printf, 4, 5)))
fail(int error, char *message, size_t message_bytes, const char *format, ...)
{
	va_list list;

	va_start(list, format);
	if (message_bytes > 0)
		vsnprintf(message, message_bytes, format, list);
	va_end(list);
	return -error;
}

static int open_library(struct host *host, char *message,
	size_t message_bytes)
{
	char symbol[sizeof("ncclProfiler_v0")];

	host->library = dlopen(host->path, RTLD_NOW | RTLD_LOCAL);
	if (host->library == NULL)
		return fail(ENOENT, message, message_bytes, "%s", dlerror());
	snprintf(symbol, sizeof(symbol), "ncclProfiler_v%d", host->api);
	host->table = dlsym(host->library, symbol);
	if (host->table == NULL) {
		dlclose(host->library);
		host->library = NULL;
		return fail(ENOSYS, message, message_bytes,
			"%s: has no symbol %s", host->path, symbol);
	}
	host->counts.opened++;
	host_logger(NCCL_LOG_INFO, NCCL_SUBSYSTEM_INIT, __FILE__, __LINE__,
		"PROFILER/Plugin: Loaded %s (v%d)", host_plugin_name(host),
		host->api);
	return 0;
}

static void close_library(struct host *host)
{
	if (host->library == NULL)
		return;
	host->table = NULL;
	dlclose(host->library);
	host->library = NULL;
	host_logger(NCCL_LOG_INFO, NCCL_SUBSYSTEM_INIT, __FILE__, __LINE__,
		"PROFILER/Plugin: Closed");
}

int host_open(struct host **host, const char *path, int api, char *message,
	size_t message_bytes)
{
	struct host *opened;
	int error;

	*host = NULL;
	if (api < 1 || api > API_MAX)
		return fail(EINVAL, message, message_bytes,
			"there is no profiler API %d", api);
	opened = calloc(1, sizeof(*opened));
	if (opened == NULL)
		return fail(ENOMEM, message, message_bytes, "out of memory");
	opened->api = api;
	opened->path = strdup(path);
	if (opened->path == NULL)
		error = fail(ENOMEM, message, message_bytes, "out of memory");
	else
		error = open_library(opened, message, message_bytes);
	if (error != 0) {
		free(opened->path);
		free(opened);
		return error;
	}
	if (hosts_open++ == 0)
		__atomic_store_n(&activation_mask, 0, __ATOMIC_RELAXED);
	*host = opened;
	return 0;
}

void host_close(struct host *host)
{
	if (host == NULL)
		return;
	close_library(host);
	hosts_open--;
	free(host->handles);
	free(host->contexts);
	free(host->path);
	free(host);
}

int host_api(const struct host *host)
{
	return host->api;
}

const char *host_plugin_name(const struct host *host)
{
	return host->table == NULL ? NULL : host->table->name;
}

int host_mask(void)
{
	return __atomic_load_n(&activation_mask, __ATOMIC_RELAXED);
}

void host_set_mask(int mask)
{
	__atomic_store_n(&activation_mask, mask, __ATOMIC_RELAXED);
}

struct host_counts host_counts(const struct host *host)
{
	return host->counts;
}

/* Descriptors. Each macro sets the fields that have the same place and name in
 * all versions for which it is used. */
#define LAY_HEAD(descr, event) do { \
	(descr)->type = (__typeof__((descr)->type))(event)->type; \
	(descr)->parent = (event)->parent; \
	(descr)->rank = (event)->rank; \
} while (0)

#define LAY_PROXY_OP(descr, event) do { \
	(descr)->proxy_op.pid = (event)->pid; \
	(descr)->proxy_op.channel = (event)->channel; \
	(descr)->proxy_op.peer = (event)->peer; \
	(descr)->proxy_op.steps = (event)->steps; \
	(descr)->proxy_op.chunk_bytes = (event)->chunk_bytes; \
	(descr)->proxy_op.is_send = (event)->is_send; \
} while (0)

#define LAY_COLL(descr, event) do { \
	(descr)->coll.seq_number = (event)->seq_number; \
	(descr)->coll.send_buffer = (event)->send_buffer; \
	(descr)->coll.recv_buffer = (event)->recv_buffer; \
	(descr)->coll.count = (event)->count; \
	(descr)->coll.root = (event)->root; \
	(descr)->coll.warps = (event)->warps; \
} while (0)

#define LAY_COMM(block, event) do { \
	(block)->comm_name = (event)->comm_name; \
	(block)->comm_hash = (event)->comm_hash; \
} while (0)

#define LAY_TEXTS(descr, event) do { \
	(descr)->coll.func = (event)->func; \
	(descr)->coll.datatype = (event)->datatype; \
	(descr)->coll.algorithm = (event)->algorithm; \
	(descr)->coll.protocol = (event)->protocol; \
} while (0)

#define LAY_P2P(descr, event) do { \
	(descr)->p2p.func = (event)->func; \
	(descr)->p2p.buffer = (event)->recv_buffer; \
	(descr)->p2p.datatype = (event)->datatype; \
	(descr)->p2p.count = (event)->count; \
	(descr)->p2p.peer = (event)->peer; \
} while (0)

#define LAY_NET_PLUGIN(descr, event) do { \
	(descr)->net_plugin.id = (event)->net_id; \
	(descr)->net_plugin.data = (event)->net_data; \
} while (0)

static void lay_out_v1(struct nccl_event_descr_v1 *descr,
	const struct host_event *event)
{
	LAY_HEAD(descr, event);
	switch (event->type) {
	case NCCL_EVENT_COLL:
		LAY_COLL(descr, event);
		LAY_COMM(&descr->coll, event);
		descr->coll.func = event->func_number;
		descr->coll.datatype = event->datatype_number;
		descr->coll.algorithm = event->algorithm_number;
		descr->coll.protocol = event->protocol_number;
		descr->coll.reduction = event->reduction;
		descr->coll.traffic_bytes = event->traffic_bytes;
		descr->coll.max_channels = event->channels;
		descr->coll.is_collnet = event->is_collnet;
		descr->coll.is_nvls = event->is_nvls;
		break;
	case NCCL_EVENT_P2P:
		LAY_COMM(&descr->p2p, event);
		descr->p2p.func = event->func_number;
		descr->p2p.buffer = event->recv_buffer;
		descr->p2p.datatype = event->datatype_number;
		descr->p2p.count = event->count;
		descr->p2p.peer = event->peer;
		break;
	case NCCL_EVENT_PROXY_OP:
		LAY_PROXY_OP(descr, event);
		break;
	case NCCL_EVENT_PROXY_STEP:
		descr->proxy_step.step = event->step;
		break;
	}
}

static void lay_out_v2(struct nccl_event_descr_v2 *descr,
	const struct host_event *event)
{
	LAY_HEAD(descr, event);
	switch (event->type) {
	case NCCL_EVENT_COLL:
		LAY_COLL(descr, event);
		LAY_COMM(&descr->coll, event);
		LAY_TEXTS(descr, event);
		descr->coll.traffic_bytes = event->traffic_bytes;
		descr->coll.max_channels = event->channels;
		break;
	case NCCL_EVENT_P2P:
		LAY_P2P(descr, event);
		LAY_COMM(&descr->p2p, event);
		break;
	case NCCL_EVENT_PROXY_OP:
		LAY_PROXY_OP(descr, event);
		break;
	case NCCL_EVENT_PROXY_STEP:
		descr->proxy_step.step = event->step;
		break;
	}
}

static void lay_out_v3(struct nccl_event_descr_v3 *descr,
	const struct host_event *event)
{
	LAY_HEAD(descr, event);
	switch (event->type) {
	case NCCL_EVENT_COLL:
		LAY_COLL(descr, event);
		LAY_COMM(&descr->coll, event);
		LAY_TEXTS(descr, event);
		descr->coll.max_channels = event->channels;
		break;
	case NCCL_EVENT_P2P:
		LAY_P2P(descr, event);
		LAY_COMM(&descr->p2p, event);
		break;
	case NCCL_EVENT_PROXY_OP:
		LAY_PROXY_OP(descr, event);
		break;
	case NCCL_EVENT_PROXY_STEP:
		descr->proxy_step.step = event->step;
		break;
	case NCCL_EVENT_KERNEL_CH:
		descr->kernel_ch.channel = event->channel;
		break;
	case NCCL_EVENT_NET_PLUGIN:
		LAY_NET_PLUGIN(descr, event);
		break;
	}
}

/* The cases that version 4 and the later ones share. */
#define LAY_CASES_SINCE_V4(descr, event) \
	case NCCL_EVENT_PROXY_OP: \
		LAY_PROXY_OP(descr, event); \
		break; \
	case NCCL_EVENT_PROXY_STEP: \
		(descr)->proxy_step.step = (event)->step; \
		break; \
	case NCCL_EVENT_KERNEL_CH: \
		(descr)->kernel_ch.channel = (event)->channel; \
		(descr)->kernel_ch.gpu_timer_ns = (event)->gpu_timer_ns; \
		break; \
	case NCCL_EVENT_NET_PLUGIN: \
		LAY_NET_PLUGIN(descr, event); \
		break

#define LAY_COLL_SINCE_V4(descr, event) do { \
	LAY_COLL(descr, event); \
	LAY_TEXTS(descr, event); \
	(descr)->coll.channels = (event)->channels; \
} while (0)

#define LAY_P2P_SINCE_V4(descr, event) do { \
	LAY_P2P(descr, event); \
	(descr)->p2p.channels = (event)->channels; \
} while (0)

static void lay_out_v4(struct nccl_event_descr_v4 *descr,
	const struct host_event *event)
{
	LAY_HEAD(descr, event);
	switch (event->type) {
	case NCCL_EVENT_COLL:
		LAY_COLL_SINCE_V4(descr, event);
		break;
	case NCCL_EVENT_P2P:
		LAY_P2P_SINCE_V4(descr, event);
		break;
	LAY_CASES_SINCE_V4(descr, event);
	}
}

static void lay_out_v5(struct nccl_event_descr_v5 *descr,
	const struct host_event *event)
{
	LAY_HEAD(descr, event);
	switch (event->type) {
	LAY_CASES_SINCE_V4(descr, event);
	case NCCL_EVENT_COLL:
		LAY_COLL_SINCE_V4(descr, event);
		descr->coll.parent_group = event->parent_group;
		break;
	case NCCL_EVENT_P2P:
		LAY_P2P_SINCE_V4(descr, event);
		descr->p2p.parent_group = event->parent_group;
		break;
	case NCCL_EVENT_COLL_API:
		descr->coll_api.func = event->func;
		descr->coll_api.count = event->count;
		descr->coll_api.datatype = event->datatype;
		descr->coll_api.root = event->root;
		descr->coll_api.stream = event->stream;
		descr->coll_api.graph_captured = event->graph_captured;
		break;
	case NCCL_EVENT_P2P_API:
		descr->p2p_api.func = event->func;
		descr->p2p_api.count = event->count;
		descr->p2p_api.datatype = event->datatype;
		descr->p2p_api.stream = event->stream;
		descr->p2p_api.graph_captured = event->graph_captured;
		break;
	case NCCL_EVENT_GROUP_API:
		descr->group_api.graph_captured = event->graph_captured;
		descr->group_api.depth = event->depth;
		break;
	case NCCL_EVENT_KERNEL_LAUNCH:
		descr->kernel_launch.stream = event->stream;
		break;
	}
}

/* The fields that version 6 adds. */
static void lay_out_new_in_v6(struct nccl_event_descr_v5 *descr,
	const struct host_event *event)
{
	switch (event->type) {
	case NCCL_EVENT_CE_COLL:
		descr->ce_coll.seq_number = event->seq_number;
		descr->ce_coll.func = event->func;
		descr->ce_coll.send_buffer = event->send_buffer;
		descr->ce_coll.recv_buffer = event->recv_buffer;
		descr->ce_coll.count = event->count;
		descr->ce_coll.root = event->root;
		descr->ce_coll.datatype = event->datatype;
		descr->ce_coll.sync_strategy = event->sync_strategy;
		descr->ce_coll.intra_batch_sync = event->intra_sync;
		descr->ce_coll.batch_size = event->batch_size;
		descr->ce_coll.batches = event->batches;
		descr->ce_coll.ce_seq_number = event->ce_seq_number;
		descr->ce_coll.stream = event->stream;
		break;
	case NCCL_EVENT_CE_SYNC:
		descr->ce_sync.is_complete = event->is_complete;
		descr->ce_sync.nranks = event->nranks;
		break;
	case NCCL_EVENT_CE_BATCH:
		descr->ce_batch.ops = event->ops;
		descr->ce_batch.total_bytes = event->total_bytes;
		descr->ce_batch.use_intra_sync = event->intra_sync;
		break;
	}
}

/* The fields that version 7 adds. */
static void lay_out_new_in_v7(struct nccl_event_descr_v5 *descr,
	const struct host_event *event)
{
	switch (event->type) {
	case NCCL_EVENT_COLL:
		descr->coll.kernel_variant = event->kernel_variant;
		descr->coll.is_symmetric = event->is_symmetric;
		descr->coll.user_tag = event->user_tag;
		break;
	case NCCL_EVENT_P2P:
		descr->p2p.user_tag = event->user_tag;
		break;
	case NCCL_EVENT_COLL_API:
		descr->coll_api.user_tag = event->user_tag;
		break;
	case NCCL_EVENT_P2P_API:
		descr->p2p_api.user_tag = event->user_tag;
		break;
	case NCCL_EVENT_CE_COLL:
		descr->ce_coll.user_tag = event->user_tag;
		break;
	case NCCL_EVENT_KERNEL_PHASE:
		descr->kernel_phase.channel = event->channel;
		descr->kernel_phase.phase = event->phase;
		descr->kernel_phase.phase_name = event->phase_name;
		descr->kernel_phase.gpu_timer_ns = event->gpu_timer_ns;
		break;
	}
}

void host_lay_out(const struct host *host, const struct host_event *event,
	union nccl_event_descr *descr)
{
	memset(descr, HOST_GARBAGE_BYTE, sizeof(*descr));
	switch (host->api) {
	case 1: lay_out_v1(&descr->v1, event); break;
	case 2: lay_out_v2(&descr->v2, event); break;
	case 3: lay_out_v3(&descr->v3, event); break;
	case 4: lay_out_v4(&descr->v4, event); break;
	default: lay_out_v5(&descr->v5, event); break;
	}
	if (host->api >= 6)
		lay_out_new_in_v6(&descr->v5, event);
	if (host->api >= 7)
		lay_out_new_in_v7(&descr->v5, event);
}

/* Versions 1 to 3 have the same layout, and so have versions 4 to 7. */
static void lay_out_args_v1(union nccl_state_args_v1 *args,
	const struct host_state *state)
{
	if (state->state >= NCCL_STATE_CTRL_IDLE &&
	    state->state <= NCCL_STATE_CTRL_APPEND_END) {
		args->proxy_ctrl.appended_ops = state->appended_ops;
		return;
	}
	args->proxy_op.transferred_bytes = state->size_bytes;
	args->proxy_op.steps = state->steps;
}

static void lay_out_args_v4(union nccl_state_args_v4 *args,
	const struct host_state *state)
{
	switch (state->state) {
	case NCCL_STATE_CTRL_IDLE:
	case NCCL_STATE_CTRL_ACTIVE:
	case NCCL_STATE_CTRL_SLEEP:
	case NCCL_STATE_CTRL_WAKEUP:
	case NCCL_STATE_CTRL_APPEND:
	case NCCL_STATE_CTRL_APPEND_END:
		args->proxy_ctrl.appended_ops = state->appended_ops;
		break;
	case NCCL_STATE_KERNEL_CH_STOP:
	case NCCL_STATE_KERNEL_PHASE_STOP:
		args->kernel_ch.gpu_timer_ns = state->gpu_timer_ns;
		break;
	case NCCL_STATE_NET_PLUGIN_UPDATE:
		args->net_plugin.data = state->net_data;
		break;
	case NCCL_STATE_OP_IN_PROGRESS:
	case NCCL_STATE_GROUP_START_API_STOP:
	case NCCL_STATE_GROUP_END_API_START:
		break;			/* no member is set */
	default:
		args->proxy_step.transferred_bytes = state->size_bytes;
		break;
	}
}

void host_lay_out_args(const struct host *host,
	const struct host_state *state, union nccl_state_args *args)
{
	memset(args, HOST_GARBAGE_BYTE, sizeof(*args));
	if (host->api <= 3)
		lay_out_args_v1(&args->v1, state);
	else
		lay_out_args_v4(&args->v4, state);
}

/* --- Calls ------------------------------------------------------------- */

enum nccl_result host_init(struct host *host, const struct host_comm *comm,
	void **context)
{
	const struct nccl_profiler *table = host->table;
	int *mask = &activation_mask;

	if (host->api <= 3)
		return table->init.v1(context, mask);
	if (host->api == 4)
		return table->init.v4(context, mask, comm->name, comm->id,
			comm->nnodes, comm->nranks, comm->rank, host_logger);
	return table->init.v5(context, comm->id, mask, comm->name,
		comm->nnodes, comm->nranks, comm->rank, host_logger);
}

enum nccl_result host_start_descr(struct host *host, void *context,
	union nccl_event_descr *descr, void **handle)
{
	return host->table->start_event(context, handle, descr);
}

enum nccl_result host_start(struct host *host, void *context,
	const struct host_event *event, void **handle)
{
	union nccl_event_descr descr;

	host_lay_out(host, event, &descr);
	*handle = host->api <= 3 ? NULL : HOST_GARBAGE_HANDLE;
	return host_start_descr(host, context, &descr, handle);
}

enum nccl_result host_record_args(struct host *host, void *handle, int state,
	union nccl_state_args *args)
{
	return host->table->record_event_state(handle,
		(enum nccl_event_state)state, args);
}

enum nccl_result host_record(struct host *host, void *handle,
	const struct host_state *state)
{
	union nccl_state_args args;

	if (state->without_args)
		return host_record_args(host, handle, state->state, NULL);
	host_lay_out_args(host, state, &args);
	return host_record_args(host, handle, state->state, &args);
}

enum nccl_result host_stop(struct host *host, void *handle)
{
	return host->table->stop_event(handle);
}

enum nccl_result host_finalize(struct host *host, void *context)
{
	return host->table->finalize(context);
}

/* --- Calls of a log ---------------------------------------------------- */

int host_use_log(struct host *host, const struct calllog *log)
{
	free(host->handles);
	free(host->contexts);
	host->contexts_live = 0;
	host->epoch = 1;
	host->pid_recorded = log->pid;
	host->handle_max = log->handle_max;
	host->context_max = log->context_max;
	host->handles = calloc((size_t)log->handle_max + 1,
		sizeof(*host->handles));
	host->contexts = calloc((size_t)log->context_max + 1,
		sizeof(*host->contexts));
	return host->handles == NULL || host->contexts == NULL ? -ENOMEM : 0;
}

void host_drop_handles(struct host *host)
{
	host->epoch++;
}

static bool handle_is_current(const struct host *host, uint64_t number)
{
	return number != 0 && number <= host->handle_max &&
		host->handles[number].type != 0 &&
		host->handles[number].epoch == host->epoch;
}

/* Returns the plugin's value for a number of the log in its current life; NULL
 * if there is none. */
static void *host_handle(const struct host *host, uint64_t number)
{
	return handle_is_current(host, number) ?
		host->handles[number].handle : NULL;
}

static void *host_context(const struct host *host, uint64_t number)
{
	return number <= host->context_max ?
		host->contexts[number].context : NULL;
}

static void *pointer(const struct calllog_call *call, enum calllog_key key)
{
	return (void *)(uintptr_t)calllog_number(call, key);
}

static void texts_of_call(int api, const struct calllog_call *call,
	struct host_event *event)
{
	if (api == 1) {
		event->func_number =
			(uint8_t)calllog_number(call, CALLLOG_KEY_FUNC);
		event->datatype_number =
			(uint8_t)calllog_number(call, CALLLOG_KEY_DATATYPE);
		event->algorithm_number =
			(uint8_t)calllog_number(call, CALLLOG_KEY_ALGORITHM);
		event->protocol_number =
			(uint8_t)calllog_number(call, CALLLOG_KEY_PROTOCOL);
		return;
	}
	event->func = calllog_text(call, CALLLOG_KEY_FUNC);
	event->datatype = calllog_text(call, CALLLOG_KEY_DATATYPE);
	event->algorithm = calllog_text(call, CALLLOG_KEY_ALGORITHM);
	event->protocol = calllog_text(call, CALLLOG_KEY_PROTOCOL);
}

static void field_of_call(const struct calllog_field *field,
	struct host_event *event)
{
	uint64_t number = field->number;
	int small = (int)(int64_t)number;
	void *address = (void *)(uintptr_t)number;

	switch (field->key) {
	case CALLLOG_KEY_TYPE: event->type = number; break;
	case CALLLOG_KEY_RANK: event->rank = small; break;
	case CALLLOG_KEY_COMM_NAME: event->comm_name = field->text; break;
	case CALLLOG_KEY_COMM: event->comm_hash = number; break;
	case CALLLOG_KEY_SEQ_NUMBER: event->seq_number = number; break;
	case CALLLOG_KEY_SEND_BUFFER: event->send_buffer = address; break;
	case CALLLOG_KEY_RECV_BUFFER: event->recv_buffer = address; break;
	case CALLLOG_KEY_BUFFER: event->recv_buffer = address; break;
	case CALLLOG_KEY_COUNT: event->count = (size_t)number; break;
	case CALLLOG_KEY_ROOT: event->root = small; break;
	case CALLLOG_KEY_PEER: event->peer = small; break;
	case CALLLOG_KEY_REDUCTION: event->reduction = (uint32_t)number; break;
	case CALLLOG_KEY_TRAFFIC: event->traffic_bytes = (size_t)number; break;
	case CALLLOG_KEY_COLLNET: event->is_collnet = small; break;
	case CALLLOG_KEY_NVLS: event->is_nvls = small; break;
	case CALLLOG_KEY_CHANNELS: event->channels = (uint8_t)number; break;
	case CALLLOG_KEY_WARPS: event->warps = (uint8_t)number; break;
	case CALLLOG_KEY_VARIANT: event->kernel_variant = field->text; break;
	case CALLLOG_KEY_SYMMETRIC:
		event->is_symmetric = (uint8_t)number;
		break;
	case CALLLOG_KEY_USER_TAG: event->user_tag = number; break;
	case CALLLOG_KEY_STREAM: event->stream = address; break;
	case CALLLOG_KEY_GRAPH: event->graph_captured = (uint8_t)number; break;
	case CALLLOG_KEY_DEPTH: event->depth = small; break;
	case CALLLOG_KEY_PID: event->pid = small; break;
	case CALLLOG_KEY_CHANNEL: event->channel = (uint8_t)number; break;
	case CALLLOG_KEY_STEPS_PLANNED: event->steps = small; break;
	case CALLLOG_KEY_CHUNK: event->chunk_bytes = small; break;
	case CALLLOG_KEY_IS_SEND: event->is_send = small; break;
	case CALLLOG_KEY_STEP: event->step = small; break;
	case CALLLOG_KEY_GPU_TIMER: event->gpu_timer_ns = number; break;
	case CALLLOG_KEY_NET_ID: event->net_id = (int64_t)number; break;
	case CALLLOG_KEY_DATA: event->net_data = address; break;
	case CALLLOG_KEY_SYNC_STRATEGY:
		event->sync_strategy = field->text;
		break;
	case CALLLOG_KEY_INTRA_SYNC: event->intra_sync = (uint8_t)number; break;
	case CALLLOG_KEY_BATCH_SIZE:
		event->batch_size = (uint32_t)number;
		break;
	case CALLLOG_KEY_BATCHES: event->batches = (uint32_t)number; break;
	case CALLLOG_KEY_CE_SEQ_NUMBER:
		event->ce_seq_number = (uint32_t)number;
		break;
	case CALLLOG_KEY_IS_COMPLETE:
		event->is_complete = (uint8_t)number;
		break;
	case CALLLOG_KEY_NRANKS: event->nranks = small; break;
	case CALLLOG_KEY_OPS: event->ops = small; break;
	case CALLLOG_KEY_TOTAL: event->total_bytes = (size_t)number; break;
	case CALLLOG_KEY_PHASE: event->phase = (uint8_t)number; break;
	case CALLLOG_KEY_PHASE_NAME: event->phase_name = field->text; break;
	default: break;		/* handles, and fields set by texts_of_call() */
	}
}

void host_event_of_call(int api, const struct calllog_call *call,
	struct host_event *event)
{
	unsigned index;

	memset(event, 0, sizeof(*event));
	for (index = 0; index < call->field_count; index++)
		field_of_call(&call->fields[index], event);
	texts_of_call(api, call, event);
}

void host_state_of_call(const struct calllog_call *call,
	struct host_state *state)
{
	memset(state, 0, sizeof(*state));
	state->state = calllog_int(call, CALLLOG_KEY_STATE);
	state->without_args = call->field_count <= 2;
	state->size_bytes = calllog_number(call, CALLLOG_KEY_SIZE);
	state->steps = calllog_int(call, CALLLOG_KEY_STEPS);
	state->appended_ops = calllog_int(call, CALLLOG_KEY_APPENDED);
	state->gpu_timer_ns = calllog_number(call, CALLLOG_KEY_GPU_TIMER);
	state->net_data = pointer(call, CALLLOG_KEY_DATA);
}

static int call_init(struct host *host, const struct calllog_call *call,
	char *message, size_t message_bytes)
{
	uint64_t number = calllog_number(call, CALLLOG_KEY_CONTEXT);
	struct host_comm comm = {
		.id = calllog_number(call, CALLLOG_KEY_COMM),
		.name = calllog_text(call, CALLLOG_KEY_COMM_NAME),
		.nnodes = calllog_int(call, CALLLOG_KEY_NNODES),
		.nranks = calllog_int(call, CALLLOG_KEY_NRANKS),
		.rank = calllog_int(call, CALLLOG_KEY_RANK),
	};
	void *context = NULL;
	int error;

	if (host->library == NULL) {
		error = open_library(host, message, message_bytes);
		if (error != 0)
			return error;
	}
	if (host_init(host, &comm, &context) != NCCL_SUCCESS) {
		host->counts.inits_failed++;
		host->disabled = host->api <= 4;
	}
	host->contexts[number].context = context;
	host->contexts[number].live = true;
	host->contexts_live++;
	host->counts.made++;
	return 0;
}

/* Data of a network plugin's descriptor: invalid after the call. */
union net_data {
	struct nccl_net_ib_descr_v1 ib;
	struct nccl_net_socket_descr_v1 socket;
};

static void set_net_data(struct host_event *event, union net_data *data)
{
	memset(data, 0, sizeof(*data));
	event->net_data = NULL;
	if (event->net_id == NCCL_NET_PLUGIN_IB_V1) {
		data->ib.type = NCCL_NET_IB_QUEUE_PAIR;
		event->net_data = data;
	} else if (event->net_id == NCCL_NET_PLUGIN_SOCKET_V1) {
		data->socket.type = NCCL_NET_SOCKET;
		event->net_data = data;
	}
}

static void shift_event(struct host_event *event,
	const struct host_shift *shift)
{
	if (shift == NULL)
		return;
	event->seq_number += shift->seq_number;
	if (event->gpu_timer_ns != 0)
		event->gpu_timer_ns += shift->gpu_timer_ns;
}

static void call_start(struct host *host, const struct calllog_call *call,
	const struct host_shift *shift)
{
	uint64_t number = calllog_number(call, CALLLOG_KEY_HANDLE);
	void *context = host_context(host,
		calllog_number(call, CALLLOG_KEY_CONTEXT));
	struct host_event event;
	union net_data data;
	void *handle;

	host_event_of_call(host->api, call, &event);
	event.parent = host_handle(host,
		calllog_number(call, CALLLOG_KEY_PARENT));
	event.parent_group = host_handle(host,
		calllog_number(call, CALLLOG_KEY_PARENT_GROUP));
	if (event.pid == host->pid_recorded)
		event.pid = (int)getpid();
	if (event.type == NCCL_EVENT_NET_PLUGIN)
		set_net_data(&event, &data);
	shift_event(&event, shift);
	host_start(host, context, &event, &handle);
	host->handles[number].handle = handle;
	host->handles[number].type = (uint32_t)event.type;
	host->handles[number].epoch = host->epoch;
	host->counts.made++;
}

/* Tells whether NCCL calls stop without checking the handle for NULL. */
static bool stops_null(const struct host *host, uint32_t type)
{
	return type == NCCL_EVENT_NET_PLUGIN ||
		(type == NCCL_EVENT_COLL && host->api <= 2);
}

static void call_record_or_stop(struct host *host,
	const struct calllog_call *call, const struct host_shift *shift)
{
	uint64_t number = calllog_number(call, CALLLOG_KEY_HANDLE);
	struct host_state state;
	void *handle;

	if (!handle_is_current(host, number)) {
		host->counts.skipped_dropped++;
		return;
	}
	handle = host->handles[number].handle;
	if (handle == NULL && (call->verb == CALLLOG_RECORD ||
	    !stops_null(host, host->handles[number].type))) {
		host->counts.skipped_null++;
		return;
	}
	host->counts.made++;
	if (call->verb == CALLLOG_STOP) {
		host_stop(host, handle);
		return;
	}
	host_state_of_call(call, &state);
	if (shift != NULL && state.gpu_timer_ns != 0)
		state.gpu_timer_ns += shift->gpu_timer_ns;
	host_record(host, handle, &state);
}

static void finalize_context(struct host *host, struct mapped_context *mapped)
{
	if (!mapped->live)
		return;
	mapped->live = false;
	host->contexts_live--;
	if (host->disabled) {
		host->counts.skipped_disabled++;
	} else if (mapped->context == NULL && host->api >= 5) {
		host->counts.skipped_null++;
	} else {
		host_finalize(host, mapped->context);
		host->counts.made++;
	}
	if (host->contexts_live > 0)
		return;
	host_drop_handles(host);
	close_library(host);
}

void host_finalize_all(struct host *host)
{
	uint64_t number;

	for (number = 1; number <= host->context_max; number++)
		finalize_context(host, &host->contexts[number]);
}

int host_call(struct host *host, const struct calllog_call *call,
	const struct host_shift *shift, char *message, size_t message_bytes)
{
	if (call->verb == CALLLOG_INIT && !host->disabled)
		return call_init(host, call, message, message_bytes);
	if (call->verb == CALLLOG_FINALIZE) {
		finalize_context(host, &host->contexts[
			calllog_number(call, CALLLOG_KEY_CONTEXT)]);
		return 0;
	}
	if (host->disabled) {
		host->counts.skipped_disabled++;
		return 0;
	}
	if (host->library == NULL)
		return fail(EINVAL, message, message_bytes,
			"line %u: a call while the plugin is closed",
			call->line);
	if (call->verb == CALLLOG_START)
		call_start(host, call, shift);
	else
		call_record_or_stop(host, call, shift);
	return 0;
}
