/* SPDX-License-Identifier: MIT */
/* A profiler plugin that writes down what NCCL calls: it makes captures.
 *
 * Each process writes rank<N>.calllog into the folder that CAPTURE_DIR names, in
 * the format of test/captures/README.md; N is its rank in the first communicator.
 * Version 5 of the API only. Each call waits for a lock and formats a line, so it is
 * for tests and never for a job whose time matters.
 */
#include <inttypes.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "plugin/nccl/nccl_abi.h"

#define EXPORT __attribute__((visibility("default")))
/* All that version 5 has. */
#define MASK 0xfff

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
/* Guarded by the lock. A handle, like a context, is its number. */
static FILE *file;
static unsigned context_count;
static uintptr_t handle_count;

static uint64_t now_ns(clockid_t clock)
{
	struct timespec now;

	clock_gettime(clock, &now);
	return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

static const char *or_dash(const char *text)
{
	return text ? text : "-";
}

/* Writes the words that all lines begin with. The lock is held. */
static void begin_line(uint64_t time_ns, char verb)
{
	fprintf(file, "%" PRIu64 " %ld %c", time_ns, syscall(SYS_gettid), verb);
}

__attribute__((format(printf, 1, 2))) static void put(const char *format, ...)
{
	va_list arguments;

	va_start(arguments, format);
	vfprintf(file, format, arguments);
	va_end(arguments);
}

static int open_file(int rank)
{
	const char *folder = getenv("CAPTURE_DIR");
	char path[4096];

	snprintf(path, sizeof(path), "%s/rank%d.calllog", folder ? folder : ".",
		 rank);
	file = fopen(path, "we");
	if (!file)
		return -1;
	setvbuf(file, NULL, _IOFBF, 1 << 20);
	put("# calllog 1 api=5 pid=%d realtime_ns=%" PRIu64
	    " monotonic_ns=%" PRIu64 "\n",
	    (int)getpid(), now_ns(CLOCK_REALTIME), now_ns(CLOCK_MONOTONIC));
	return 0;
}

static enum nccl_result init(void **context, uint64_t comm_id,
			     int *activation_mask, const char *comm_name,
			     int nnodes, int nranks, int rank,
			     nccl_debug_logger logger)
{
	const uint64_t time_ns = now_ns(CLOCK_MONOTONIC);
	enum nccl_result result = NCCL_SUCCESS;

	(void)logger;
	pthread_mutex_lock(&lock);
	if (!file && open_file(rank) != 0) {
		result = NCCL_SYSTEM_ERROR;
	} else {
		*context = (void *)(uintptr_t)++context_count;
		*activation_mask = MASK;
		begin_line(time_ns, 'I');
		put(" ctx=%u comm=%" PRIx64 " name=%s nnodes=%d nranks=%d rank=%d"
		    " mask=%d\n",
		    context_count, comm_id, or_dash(comm_name), nnodes, nranks,
		    rank, MASK);
	}
	pthread_mutex_unlock(&lock);
	return result;
}

static void put_descriptor(const struct nccl_event_descr_v5 *d)
{
	switch (d->type) {
	case NCCL_EVENT_COLL:
		put(" seq=%" PRIu64 " func=%s sb=%" PRIxPTR " rb=%" PRIxPTR
		    " count=%zu root=%d dt=%s nch=%u nwarps=%u algo=%s proto=%s"
		    " pgroup=%" PRIuPTR,
		    d->coll.seq_number, or_dash(d->coll.func),
		    (uintptr_t)d->coll.send_buffer,
		    (uintptr_t)d->coll.recv_buffer, d->coll.count, d->coll.root,
		    or_dash(d->coll.datatype), d->coll.channels, d->coll.warps,
		    or_dash(d->coll.algorithm), or_dash(d->coll.protocol),
		    (uintptr_t)d->coll.parent_group);
		break;
	case NCCL_EVENT_P2P:
		put(" func=%s buf=%" PRIxPTR " dt=%s count=%zu peer=%d nch=%u"
		    " pgroup=%" PRIuPTR,
		    or_dash(d->p2p.func), (uintptr_t)d->p2p.buffer,
		    or_dash(d->p2p.datatype), d->p2p.count, d->p2p.peer,
		    d->p2p.channels, (uintptr_t)d->p2p.parent_group);
		break;
	case NCCL_EVENT_PROXY_OP:
		put(" pid=%d ch=%u peer=%d nsteps=%d chunk=%d send=%d",
		    d->proxy_op.pid, d->proxy_op.channel, d->proxy_op.peer,
		    d->proxy_op.steps, d->proxy_op.chunk_bytes,
		    d->proxy_op.is_send);
		break;
	case NCCL_EVENT_PROXY_STEP:
		put(" step=%d", d->proxy_step.step);
		break;
	case NCCL_EVENT_KERNEL_CH:
		put(" ch=%u ptimer=%" PRIu64, d->kernel_ch.channel,
		    d->kernel_ch.gpu_timer_ns);
		break;
	case NCCL_EVENT_NET_PLUGIN:
		put(" id=%" PRId64 " data=%" PRIxPTR, d->net_plugin.id,
		    (uintptr_t)d->net_plugin.data);
		break;
	case NCCL_EVENT_GROUP_API:
		put(" graph=%u depth=%d", d->group_api.graph_captured,
		    d->group_api.depth);
		break;
	case NCCL_EVENT_COLL_API:
		put(" func=%s count=%zu dt=%s root=%d stream=%" PRIxPTR
		    " graph=%u",
		    or_dash(d->coll_api.func), d->coll_api.count,
		    or_dash(d->coll_api.datatype), d->coll_api.root,
		    (uintptr_t)d->coll_api.stream, d->coll_api.graph_captured);
		break;
	case NCCL_EVENT_P2P_API:
		put(" func=%s count=%zu dt=%s stream=%" PRIxPTR " graph=%u",
		    or_dash(d->p2p_api.func), d->p2p_api.count,
		    or_dash(d->p2p_api.datatype), (uintptr_t)d->p2p_api.stream,
		    d->p2p_api.graph_captured);
		break;
	case NCCL_EVENT_KERNEL_LAUNCH:
		put(" stream=%" PRIxPTR, (uintptr_t)d->kernel_launch.stream);
		break;
	default: /* groups and proxy control have nothing of their own */
		break;
	}
}

static enum nccl_result start_event(void *context, void **handle,
				    void *pointer)
{
	const struct nccl_event_descr_v5 *descr = pointer;
	const uint64_t time_ns = now_ns(CLOCK_MONOTONIC);

	pthread_mutex_lock(&lock);
	*handle = (void *)++handle_count;
	begin_line(time_ns, 'S');
	put(" h=%" PRIuPTR " ctx=%" PRIuPTR " type=%" PRIu64 " parent=%" PRIuPTR
	    " rank=%d",
	    handle_count, (uintptr_t)context, descr->type,
	    (uintptr_t)descr->parent, descr->rank);
	put_descriptor(descr);
	put("\n");
	pthread_mutex_unlock(&lock);
	return NCCL_SUCCESS;
}

static enum nccl_result stop_event(void *handle)
{
	const uint64_t time_ns = now_ns(CLOCK_MONOTONIC);

	pthread_mutex_lock(&lock);
	begin_line(time_ns, 'E');
	put(" h=%" PRIuPTR "\n", (uintptr_t)handle);
	pthread_mutex_unlock(&lock);
	return NCCL_SUCCESS;
}

static void put_arguments(enum nccl_event_state state,
			  const union nccl_state_args_v4 *args)
{
	if (state >= NCCL_STATE_CTRL_IDLE && state <= NCCL_STATE_CTRL_APPEND_END)
		put(" appended=%d", args->proxy_ctrl.appended_ops);
	else if (state == NCCL_STATE_KERNEL_CH_STOP)
		put(" ptimer=%" PRIu64, args->kernel_ch.gpu_timer_ns);
	else if (state == NCCL_STATE_NET_PLUGIN_UPDATE)
		put(" data=%" PRIxPTR, (uintptr_t)args->net_plugin.data);
	else
		put(" size=%zu", args->proxy_step.transferred_bytes);
}

static enum nccl_result record_event_state(void *handle,
					   enum nccl_event_state state,
					   void *args)
{
	const uint64_t time_ns = now_ns(CLOCK_MONOTONIC);

	pthread_mutex_lock(&lock);
	begin_line(time_ns, 'R');
	put(" h=%" PRIuPTR " state=%d", (uintptr_t)handle, (int)state);
	if (args)
		put_arguments(state, args);
	put("\n");
	pthread_mutex_unlock(&lock);
	return NCCL_SUCCESS;
}

/* NCCL may close the library after the last context, and numbers begin anew. */
static enum nccl_result finalize(void *context)
{
	const uint64_t time_ns = now_ns(CLOCK_MONOTONIC);

	pthread_mutex_lock(&lock);
	begin_line(time_ns, 'F');
	put(" ctx=%" PRIuPTR "\n", (uintptr_t)context);
	fflush(file);
	pthread_mutex_unlock(&lock);
	return NCCL_SUCCESS;
}

extern const struct nccl_profiler ncclProfiler_v5;
EXPORT const struct nccl_profiler ncclProfiler_v5 = {
	.name = "capture",
	.init.v5 = init,
	.start_event = start_event,
	.stop_event = stop_event,
	.record_event_state = record_event_state,
	.finalize = finalize,
};
