/* SPDX-License-Identifier: MIT */
/* Plans launches from call logs; see launch_plan.h. First each log is read for
 * what it tells of its launches, then the launches of all logs are put in
 * order: by their streams, collectives by their ranks, and receives by their
 * sends. */
#include "test/host/launch_plan.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "plugin/nccl/nccl_abi.h"

/* A kernel of which a log tells no times takes this time, and more for its
 * elements: as an AllReduce of floats does over NVLink. */
#define KERNEL_NS UINT64_C(10000)
#define ELEMENTS_PER_NS 25

/* No kernel takes less time. */
#define LEAST_NS UINT64_C(1000)

/* A send or receive of one launch. */
struct transfer {
	uint64_t comm;
	int rank, peer;
	bool send;
	uint64_t number;		/* among those alike */
	size_t launch;
	const struct launch *sender;	/* of a receive; NULL if unknown */
};

/* One launch of one log. */
struct launch {
	struct launch_plan plan;
	int tid;
	uint64_t called_ns;
	uint64_t elements;
	size_t previous;		/* in the stream, plus 1; 0: none */
	/* The first of its collectives. */
	uint64_t comm;
	const char *func;		/* NULL: none */
	uint64_t seq_number;
	/* By the GPU's clock; 0 if not known. */
	uint64_t gpu_begin_ns, gpu_end_ns;
	uint64_t host_end_ns;		/* of its last child */
	unsigned open;			/* children that have not ended */
	bool has_proxy;			/* its data goes through proxies */
};

/* A handle, as the reader of a log knows it. */
struct handle {
	size_t launch;			/* plus 1; 0: none */
	uint64_t type;
	bool graph;			/* GroupApi: captured */
};

struct reader {
	const struct calllog *log;
	struct launch *launches;
	size_t count;
	struct transfer *transfers;	/* in the order of launches */
	size_t transfer_count;
	struct handle *handles;
	uint64_t *comms;		/* by context */
	unsigned life;
	/* The host's clock minus the GPU's, which NCCL reads late. */
	int64_t clock_ns;
	bool has_clock;
};

struct job {
	struct reader *readers;
	size_t count;
	size_t launches;
};

/* --- Reading a log ----------------------------------------------------- */

static uint64_t time_in(uint64_t gpu_ns, const struct reader *reader)
{
	return gpu_ns + (uint64_t)reader->clock_ns;
}

static void compare_clocks(struct reader *reader,
	const struct calllog_call *call, uint64_t gpu_ns)
{
	int64_t difference_ns = (int64_t)(call->time_ns - gpu_ns);

	if (!reader->has_clock || difference_ns < reader->clock_ns)
		reader->clock_ns = difference_ns;
	reader->has_clock = true;
}

static struct launch *launch_of(const struct reader *reader, uint64_t handle)
{
	size_t launch = reader->handles[handle].launch;

	return launch == 0 ? NULL : &reader->launches[launch - 1];
}

static void add_launch(struct reader *reader, size_t index)
{
	const struct calllog_call *call = &reader->log->calls[index];
	uint64_t parent = calllog_number(call, CALLLOG_KEY_PARENT);
	struct launch *launch = &reader->launches[reader->count];
	size_t previous = reader->count++;

	*launch = (struct launch){
		.plan = { .call = index,
			.stream = (void *)(uintptr_t)calllog_number(call,
				CALLLOG_KEY_STREAM),
			.captured = reader->handles[parent].graph },
		.tid = call->tid,
		.called_ns = call->time_ns,
		.comm = reader->comms[calllog_number(call,
			CALLLOG_KEY_CONTEXT)],
	};
	while (previous > 0 && (reader->launches[previous - 1].plan.captured ||
	       reader->launches[previous - 1].plan.stream !=
	       launch->plan.stream))
		previous--;
	launch->previous = previous;
}

/* Returns the launch that an operation belongs to: NCCL reports its operations
 * after it, from the same thread. Returns 0 if it is none that is timed. */
static size_t find_launch(const struct reader *reader, int tid)
{
	size_t index = reader->count;

	while (index > 0 && reader->launches[index - 1].tid != tid)
		index--;
	return index > 0 && reader->launches[index - 1].plan.captured ? 0 :
		index;
}

static void add_transfer(struct reader *reader,
	const struct calllog_call *call, size_t launch)
{
	const char *func = calllog_text(call, CALLLOG_KEY_FUNC);
	struct transfer *transfer = &reader->transfers[reader->transfer_count];
	const struct transfer *before = transfer;

	*transfer = (struct transfer){
		.comm = reader->launches[launch].comm,
		.rank = (int)calllog_number(call, CALLLOG_KEY_RANK),
		.peer = (int)calllog_number(call, CALLLOG_KEY_PEER),
		.send = strcmp(func, "Send") == 0,
		.launch = launch,
	};
	while (transfer->number == 0 && before-- > reader->transfers)
		if (before->comm == transfer->comm &&
		    before->peer == transfer->peer &&
		    before->send == transfer->send)
			transfer->number = before->number + 1;
	reader->transfer_count++;
}

static void add_operation(struct reader *reader,
	const struct calllog_call *call, struct handle *handle)
{
	struct launch *launch;

	handle->launch = find_launch(reader, call->tid);
	if (handle->launch == 0)
		return;
	launch = &reader->launches[handle->launch - 1];
	launch->elements += calllog_number(call, CALLLOG_KEY_COUNT);
	if (handle->type == NCCL_EVENT_P2P)
		add_transfer(reader, call, handle->launch - 1);
	if (launch->func != NULL || handle->type != NCCL_EVENT_COLL)
		return;
	launch->func = calllog_text(call, CALLLOG_KEY_FUNC);
	launch->seq_number = calllog_number(call, CALLLOG_KEY_SEQ_NUMBER);
}

static void note_gpu_time(struct reader *reader,
	const struct calllog_call *call, struct launch *launch)
{
	uint64_t gpu_ns = calllog_number(call, CALLLOG_KEY_GPU_TIMER);

	if (gpu_ns == 0)
		return;
	compare_clocks(reader, call, gpu_ns);
	if (call->verb == CALLLOG_RECORD) {
		if (gpu_ns > launch->gpu_end_ns)
			launch->gpu_end_ns = gpu_ns;
	} else if (launch->gpu_begin_ns == 0 ||
		   gpu_ns < launch->gpu_begin_ns) {
		launch->gpu_begin_ns = gpu_ns;
	}
}

static void start(struct reader *reader, size_t index)
{
	const struct calllog_call *call = &reader->log->calls[index];
	struct handle *handle = &reader->handles[calllog_number(call,
		CALLLOG_KEY_HANDLE)];

	*handle = (struct handle){
		.type = calllog_number(call, CALLLOG_KEY_TYPE)
	};
	switch (handle->type) {
	case NCCL_EVENT_GROUP_API:
		handle->graph = calllog_number(call, CALLLOG_KEY_GRAPH) != 0;
		break;
	case NCCL_EVENT_KERNEL_LAUNCH:
		add_launch(reader, index);
		break;
	case NCCL_EVENT_COLL:
	case NCCL_EVENT_P2P:
		add_operation(reader, call, handle);
		break;
	case NCCL_EVENT_PROXY_OP:
	case NCCL_EVENT_KERNEL_CH:
		handle->launch = reader->handles[calllog_number(call,
			CALLLOG_KEY_PARENT)].launch;
		if (handle->launch == 0)
			break;
		launch_of(reader, calllog_number(call, CALLLOG_KEY_HANDLE))
			->open++;
		if (handle->type == NCCL_EVENT_PROXY_OP)
			launch_of(reader, calllog_number(call,
				CALLLOG_KEY_HANDLE))->has_proxy = true;
		note_gpu_time(reader, call, launch_of(reader,
			calllog_number(call, CALLLOG_KEY_HANDLE)));
		break;
	default:
		break;
	}
}

static void read_call(struct reader *reader, size_t index)
{
	const struct calllog_call *call = &reader->log->calls[index];
	uint64_t number = calllog_number(call, CALLLOG_KEY_HANDLE);
	struct launch *launch;

	if (call->life != reader->life)
		memset(reader->handles, 0, (reader->log->handle_max + 1) *
			sizeof(*reader->handles));
	reader->life = call->life;
	if (call->verb == CALLLOG_INIT)
		reader->comms[calllog_number(call, CALLLOG_KEY_CONTEXT)] =
			calllog_number(call, CALLLOG_KEY_COMM);
	if (call->verb == CALLLOG_START)
		start(reader, index);
	if (call->verb != CALLLOG_RECORD && call->verb != CALLLOG_STOP)
		return;
	launch = launch_of(reader, number);
	if (launch == NULL || (reader->handles[number].type !=
	    NCCL_EVENT_PROXY_OP && reader->handles[number].type !=
	    NCCL_EVENT_KERNEL_CH))
		return;
	if (call->verb == CALLLOG_RECORD) {
		note_gpu_time(reader, call, launch);
		return;
	}
	launch->open--;
	if (call->time_ns > launch->host_end_ns)
		launch->host_end_ns = call->time_ns;
}

static size_t count_starts(const struct calllog *log, uint64_t type)
{
	size_t count = 0;

	for (size_t index = 0; index < log->call_count; index++)
		count += log->calls[index].verb == CALLLOG_START &&
			calllog_number(&log->calls[index], CALLLOG_KEY_TYPE) ==
			type;
	return count;
}

static int read_log(struct reader *reader, const struct calllog *log)
{
	reader->log = log;
	reader->launches = calloc(count_starts(log, NCCL_EVENT_KERNEL_LAUNCH) +
		1, sizeof(*reader->launches));
	reader->transfers = calloc(count_starts(log, NCCL_EVENT_P2P) + 1,
		sizeof(*reader->transfers));
	reader->handles = calloc(log->handle_max + 1,
		sizeof(*reader->handles));
	reader->comms = calloc(log->context_max + 1, sizeof(*reader->comms));
	if (reader->launches == NULL || reader->transfers == NULL ||
	    reader->handles == NULL || reader->comms == NULL)
		return -ENOMEM;
	for (size_t index = 0; index < log->call_count; index++)
		read_call(reader, index);
	return 0;
}

/* --- Putting launches in order ----------------------------------------- */

static uint64_t later(uint64_t left_ns, uint64_t right_ns)
{
	return left_ns > right_ns ? left_ns : right_ns;
}

/* Adds to a time that may be LAUNCH_NEVER. */
static uint64_t after(uint64_t time_ns, uint64_t duration_ns)
{
	return time_ns == LAUNCH_NEVER ? LAUNCH_NEVER : time_ns + duration_ns;
}

static bool has_communicator(const struct reader *reader, uint64_t comm)
{
	for (uint64_t context = 0; context <= reader->log->context_max;
	     context++)
		if (reader->comms[context] == comm)
			return true;
	return false;
}

/* Returns the launch of the same collective; NULL if there is none. Ranks
 * launch mostly in one order, so that the search begins in the same place. */
static const struct launch *find_same(const struct reader *reader,
	const struct launch *launch, size_t place)
{
	for (size_t index = 0; index < reader->count; index++) {
		const struct launch *other = &reader->launches[
			(place + index) % reader->count];

		if (other->comm == launch->comm && other->func ==
		    launch->func && other->seq_number == launch->seq_number)
			return other;
	}
	return NULL;
}

static const struct launch *find_sender(const struct job *job,
	const struct transfer *receive)
{
	for (size_t index = 0; index < job->count; index++) {
		const struct reader *reader = &job->readers[index];

		for (size_t i = 0; i < reader->transfer_count; i++) {
			const struct transfer *send = &reader->transfers[i];

			if (send->send && send->comm == receive->comm &&
			    send->rank == receive->peer &&
			    send->peer == receive->rank &&
			    send->number == receive->number)
				return &reader->launches[send->launch];
		}
	}
	return NULL;
}

static void find_senders(const struct job *job)
{
	for (size_t index = 0; index < job->count; index++) {
		const struct reader *reader = &job->readers[index];

		for (size_t i = 0; i < reader->transfer_count; i++)
			if (!reader->transfers[i].send)
				reader->transfers[i].sender = find_sender(job,
					&reader->transfers[i]);
	}
}

/* Returns when the last kernel begins that sends what a launch receives; 0 if it
 * receives nothing. */
static uint64_t last_send(const struct reader *reader, size_t launch)
{
	uint64_t last_ns = 0;

	for (size_t i = 0; i < reader->transfer_count; i++)
		if (reader->transfers[i].launch == launch &&
		    reader->transfers[i].sender != NULL)
			last_ns = later(last_ns,
				reader->transfers[i].sender->plan.begin_ns);
	return last_ns;
}

/* Returns when the last rank's kernel of a collective begins. */
static uint64_t last_begin(const struct job *job, const struct launch *launch,
	size_t place)
{
	uint64_t last_ns = launch->plan.begin_ns;

	for (size_t index = 0; launch->func != NULL && index < job->count;
	     index++) {
		const struct reader *reader = &job->readers[index];
		const struct launch *same = find_same(reader, launch,
			place);

		if (same != NULL)
			last_ns = later(last_ns, same->plan.begin_ns);
		else if (has_communicator(reader, launch->comm))
			last_ns = LAUNCH_NEVER;
	}
	return last_ns;
}

static uint64_t begin_of(const struct reader *reader,
	const struct launch *launch)
{
	uint64_t begin_ns = launch->called_ns;

	if (launch->gpu_begin_ns != 0)
		begin_ns = later(begin_ns,
			time_in(launch->gpu_begin_ns, reader));
	if (launch->previous != 0)
		begin_ns = later(begin_ns,
			reader->launches[launch->previous - 1].plan.end_ns);
	return begin_ns;
}

/* Returns when a log tells that a launch ended; 0 if it does not. */
static uint64_t told_end(const struct reader *reader,
	const struct launch *launch)
{
	if (launch->open > 0)
		return LAUNCH_NEVER;
	if (launch->gpu_end_ns != 0)
		return time_in(launch->gpu_end_ns, reader);
	return launch->host_end_ns;
}

/* Plans a launch by what is planned of the others. Returns true if that changes
 * its plan. */
static bool plan(const struct job *job, const struct reader *reader,
	struct launch *launch)
{
	size_t place = (size_t)(launch - reader->launches);
	struct launch_plan before = launch->plan;
	struct launch_plan *own = &launch->plan;
	uint64_t told_ns = told_end(reader, launch);
	uint64_t last_ns;

	own->begin_ns = begin_of(reader, launch);
	last_ns = later(last_begin(job, launch, place),
		last_send(reader, place));
	own->end_ns = told_ns == 0 ?
		after(last_ns, KERNEL_NS + launch->elements / ELEMENTS_PER_NS) :
		later(told_ns, after(last_ns, LEAST_NS));
	own->least_ns = own->end_ns == LAUNCH_NEVER ? LAUNCH_NEVER :
		own->end_ns - last_ns;
	return own->begin_ns != before.begin_ns ||
		own->end_ns != before.end_ns;
}

/* Plans all launches until that changes nothing more: plans only become later,
 * and a chain of launches is no longer than there are launches. Those that
 * still change wait for each other. */
static void plan_all(const struct job *job)
{
	bool changed = true;

	for (size_t pass = 0; changed; pass++) {
		changed = false;
		for (size_t index = 0; index < job->count; index++) {
			struct reader *reader = &job->readers[index];

			for (size_t i = 0; i < reader->count; i++) {
				struct launch *launch = &reader->launches[i];

				if (launch->plan.captured ||
				    !plan(job, reader, launch))
					continue;
				changed = true;
				if (pass > job->launches)
					launch->open++;
			}
		}
	}
}

/* --- All of it --------------------------------------------------------- */

static void number_launches(const struct job *job)
{
	size_t number = 0;

	for (size_t index = 0; index < job->count; index++)
		for (size_t i = 0; i < job->readers[index].count; i++)
			job->readers[index].launches[i].plan.number = number++;
}

static void add_other(struct launch_plan *plan, const struct launch *other)
{
	if (other != NULL && other->plan.number != plan->number)
		plan->others[plan->other_count++] = other->plan.number;
}

static int find_others(const struct job *job, const struct reader *reader,
	size_t place, struct launch_plan *plan)
{
	const struct launch *launch = &reader->launches[place];

	plan->others = calloc(job->count + reader->transfer_count + 1,
		sizeof(*plan->others));
	if (plan->others == NULL)
		return -ENOMEM;
	if (launch->has_proxy)
		return 0;
	for (size_t index = 0; launch->func != NULL && index < job->count;
	     index++)
		add_other(plan, find_same(&job->readers[index], launch,
			place));
	for (size_t i = 0; i < reader->transfer_count; i++)
		if (reader->transfers[i].launch == place)
			add_other(plan, reader->transfers[i].sender);
	return 0;
}

static int take_plans(const struct job *job, const struct reader *reader,
	struct launch_plans *plans)
{
	int error = 0;

	plans->count = reader->count;
	plans->job_count = job->launches;
	plans->all = calloc(reader->count + 1, sizeof(*plans->all));
	if (plans->all == NULL)
		return -ENOMEM;
	for (size_t index = 0; index < reader->count && error == 0; index++) {
		plans->all[index] = reader->launches[index].plan;
		error = find_others(job, reader, index, &plans->all[index]);
	}
	return error;
}

int launch_plans_make(const struct calllog *const *logs, size_t count,
	struct launch_plans *plans)
{
	struct job job = { .readers = calloc(count, sizeof(*job.readers)) };
	int error = job.readers == NULL ? -ENOMEM : 0;

	memset(plans, 0, count * sizeof(*plans));
	for (; job.count < count && error == 0; job.count++) {
		error = read_log(&job.readers[job.count], logs[job.count]);
		job.launches += job.readers[job.count].count;
	}
	if (error == 0) {
		find_senders(&job);
		plan_all(&job);
		number_launches(&job);
	}
	for (size_t index = 0; index < job.count && error == 0; index++)
		error = take_plans(&job, &job.readers[index], &plans[index]);
	for (size_t index = 0; index < job.count; index++) {
		struct reader *reader = &job.readers[index];

		free(reader->launches);
		free(reader->transfers);
		free(reader->handles);
		free(reader->comms);
	}
	free(job.readers);
	for (size_t index = 0; error != 0 && index < count; index++)
		launch_plans_free(&plans[index]);
	return error;
}

void launch_plans_free(struct launch_plans *plans)
{
	for (size_t index = 0; index < plans->count; index++)
		free(plans->all[index].others);
	free(plans->all);
	*plans = (struct launch_plans){ NULL, 0, 0 };
}

const struct launch_plan *launch_plan_of(const struct launch_plans *plans,
	size_t call)
{
	size_t low = 0;
	size_t high = plans->count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (plans->all[middle].call < call)
			low = middle + 1;
		else
			high = middle;
	}
	return low < plans->count && plans->all[low].call == call ?
		&plans->all[low] : NULL;
}
