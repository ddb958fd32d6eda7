/* SPDX-License-Identifier: MIT */
/* Makes the calls of a log with as many threads as the log has.
 *
 * The baton. Each worker has one word. To pass the baton, a worker sets the
 * BATON bit of the next worker's word and wakes it; a waiting worker sleeps on
 * its own word. All data of the baton's holder (the position, the host's
 * tables) is handed on by the release and acquire of that word and needs no
 * lock. The STOP bit is set in all words at the same time and has priority over
 * the baton.
 *
 * Nothing polls: a waiting worker sleeps in the kernel, and so does the holder
 * until the next call is due.
 */
#include "test/host/call_player.h"

#include <errno.h>
#include <linux/futex.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define NS_PER_S UINT64_C(1000000000)

/* Time between the last call of a round and the first one of the next. */
#define SEAM_NS UINT64_C(1000000)

/* A call that is due this soon is made immediately: sleeping and waking up
 * would take as long, and cost more than the call. */
#define SOON_NS UINT64_C(20000)

/* A call that is later than this makes the job late: half of what the plugin
 * allows between the times of the host and of the GPU. The job makes up for it by
 * this part of the time, so that a kernel of 50 ms sees less than that of it. */
#define LATE_NS UINT64_C(500000)
#define CATCH_UP 128

/* The time of a kernel in a replay without waiting. */
#define FASTEST_KERNEL_NS UINT64_C(1000)

#define BATON 1u
#define STOP 2u

struct replay_worker {
	_Alignas(64) _Atomic uint32_t word;
	struct replay *replay;
	pthread_t thread;
	int tid;			/* as recorded */
	uint64_t types;			/* of the events that it starts */
};

struct replay {
	const struct calllog *log;
	struct host *host;
	struct replay_options options;
	struct replay_body body;
	bool whole_log;			/* the body is the whole log */
	uint64_t gpu_origin_ns;
	struct replay_worker *workers;
	unsigned worker_count;
	unsigned *worker_of;		/* by call */
	uint64_t *seq_advance;		/* by call, a round */
	_Atomic uint32_t stopped;
	/* Used by the baton's holder: */
	size_t position;
	uint64_t round;
	int error;
	char message[1024];
};

/* --- Futexes and time -------------------------------------------------- */

static uint64_t now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * NS_PER_S + (uint64_t)now.tv_nsec;
}

/* Sleeps while the word has this value, at most until `until` (0: no limit). */
static void sleep_on(_Atomic uint32_t *word, uint32_t value,
	uint64_t until_ns)
{
	struct timespec until = { (time_t)(until_ns / NS_PER_S),
		(long)(until_ns % NS_PER_S) };

	syscall(SYS_futex, word, FUTEX_WAIT_BITSET_PRIVATE, value,
		until_ns == 0 ? NULL : &until, NULL, FUTEX_BITSET_MATCH_ANY);
}

static void give(struct replay_worker *worker, uint32_t bit)
{
	atomic_fetch_or_explicit(&worker->word, bit, memory_order_release);
	syscall(SYS_futex, &worker->word, FUTEX_WAKE_PRIVATE, 1, NULL, NULL,
		0);
}

static void stop_workers(struct replay *replay)
{
	unsigned index;

	for (index = 0; index < replay->worker_count; index++)
		give(&replay->workers[index], STOP);
}

/* --- Repetition -------------------------------------------------------- */

static size_t count_verb(const struct calllog *log, enum calllog_verb verb)
{
	size_t count = 0;
	size_t index;

	for (index = 0; index < log->call_count; index++)
		if (log->calls[index].verb == verb)
			count++;
	return count;
}

static bool has_one_communicator(const struct calllog *log)
{
	size_t last = log->call_count - 1;
	size_t finalizes = count_verb(log, CALLLOG_FINALIZE);

	return count_verb(log, CALLLOG_INIT) == 1 &&
		log->calls[0].verb == CALLLOG_INIT && (finalizes == 0 ||
		(finalizes == 1 && log->calls[last].verb == CALLLOG_FINALIZE));
}

struct replay_body replay_find_body(const struct calllog *log)
{
	struct replay_body body = { 0, log->call_count, UINT64_MAX, 0 };
	size_t index;
	uint64_t time_ns;

	if (has_one_communicator(log)) {
		body.first = 1;
		if (log->calls[log->call_count - 1].verb == CALLLOG_FINALIZE)
			body.end--;
	}
	for (index = body.first; index < body.end; index++) {
		time_ns = log->calls[index].time_ns;
		if (time_ns < body.first_ns)
			body.first_ns = time_ns;
		if (time_ns > body.last_ns)
			body.last_ns = time_ns;
	}
	return body;
}

uint64_t replay_period_ns(const struct replay_body *bodies, size_t count)
{
	uint64_t first_ns = UINT64_MAX;
	uint64_t last_ns = 0;
	size_t index;

	for (index = 0; index < count; index++) {
		if (bodies[index].first >= bodies[index].end)
			continue;
		if (bodies[index].first_ns < first_ns)
			first_ns = bodies[index].first_ns;
		if (bodies[index].last_ns > last_ns)
			last_ns = bodies[index].last_ns;
	}
	return last_ns < first_ns ? 0 : last_ns - first_ns + SEAM_NS;
}

/* Sequence numbers continue from round to round: each function of each
 * communicator advances by as many as the body has. */
struct sequence {
	uint64_t context;
	uint64_t type;
	const struct calllog_field *func;
	uint64_t min;
	uint64_t max;
};

struct sequences {
	struct sequence *all;
	size_t count;
};

static bool has_sequence(const struct calllog_call *call)
{
	return call->verb == CALLLOG_START &&
		calllog_find(call, CALLLOG_KEY_SEQ_NUMBER) != NULL;
}

/* Texts are interned, so equal ones have the same address; numbers are compared
 * by value. */
static struct sequence *find_sequence(const struct sequences *sequences,
	const struct calllog_call *call)
{
	uint64_t context = calllog_number(call, CALLLOG_KEY_CONTEXT);
	uint64_t type = calllog_number(call, CALLLOG_KEY_TYPE);
	const struct calllog_field *func = calllog_find(call,
		CALLLOG_KEY_FUNC);
	struct sequence *sequence;
	size_t index;

	for (index = 0; index < sequences->count; index++) {
		sequence = &sequences->all[index];
		if (sequence->context == context && sequence->type == type &&
		    sequence->func->number == func->number)
			return sequence;
	}
	return NULL;
}

static int note_sequence(struct sequences *sequences,
	const struct calllog_call *call)
{
	uint64_t number = calllog_number(call, CALLLOG_KEY_SEQ_NUMBER);
	struct sequence *sequence = find_sequence(sequences, call);
	struct sequence *moved;

	if (sequence != NULL) {
		if (number < sequence->min)
			sequence->min = number;
		if (number > sequence->max)
			sequence->max = number;
		return 0;
	}
	moved = reallocarray(sequences->all, sequences->count + 1,
		sizeof(*moved));
	if (moved == NULL)
		return -ENOMEM;
	sequences->all = moved;
	sequence = &moved[sequences->count++];
	sequence->context = calllog_number(call, CALLLOG_KEY_CONTEXT);
	sequence->type = calllog_number(call, CALLLOG_KEY_TYPE);
	sequence->func = calllog_find(call, CALLLOG_KEY_FUNC);
	sequence->min = number;
	sequence->max = number;
	return 0;
}

static int find_advances(struct replay *replay)
{
	const struct calllog_call *calls = replay->log->calls;
	struct sequences sequences = { NULL, 0 };
	const struct sequence *sequence;
	size_t index;
	int error = 0;

	/* A new communicator starts at 0 again. */
	if (replay->whole_log)
		return 0;
	for (index = 0; index < replay->log->call_count && error == 0; index++)
		if (has_sequence(&calls[index]))
			error = note_sequence(&sequences, &calls[index]);
	for (index = 0; index < replay->log->call_count && error == 0;
	     index++) {
		if (!has_sequence(&calls[index]))
			continue;
		sequence = find_sequence(&sequences, &calls[index]);
		replay->seq_advance[index] = sequence->max - sequence->min + 1;
	}
	free(sequences.all);
	return error;
}

/* --- Time -------------------------------------------------------------- */

static uint64_t scaled(uint64_t duration_ns, double speed)
{
	return (uint64_t)((double)duration_ns / speed);
}

/* Returns when a recorded time comes in this round if nothing is late. */
static uint64_t planned_ns(const struct replay *replay, uint64_t recorded)
{
	uint64_t at_ns = recorded + replay->round * replay->options.period_ns;
	uint64_t origin_ns = replay->options.origin_ns;

	if (at_ns <= origin_ns)
		return replay->options.start_ns;
	return replay->options.start_ns +
		scaled(at_ns - origin_ns, replay->options.speed);
}

/* Returns how late what is planned for a time comes: the less, the nearer that is
 * to the time until which the job is late. */
static uint64_t late_ns(const struct replay *replay, uint64_t planned)
{
	uint64_t until = atomic_load_explicit(replay->options.late_until_ns,
		memory_order_relaxed);

	return until > planned ? (until - planned) / CATCH_UP : 0;
}

static uint64_t time_in_round(const struct replay *replay, uint64_t recorded)
{
	uint64_t planned = planned_ns(replay, recorded);

	return planned + late_ns(replay, planned);
}

static uint64_t due_ns(const struct replay *replay)
{
	return time_in_round(replay,
		replay->log->calls[replay->position].time_ns);
}

/* Lets the job be late by as much as the next call, which is made now. */
static void note_late(const struct replay *replay, uint64_t now)
{
	uint64_t planned = planned_ns(replay,
		replay->log->calls[replay->position].time_ns);
	uint64_t until = planned + (now - planned) * CATCH_UP;
	uint64_t before = atomic_load_explicit(replay->options.late_until_ns,
		memory_order_relaxed);

	while (before < until &&
	       !atomic_compare_exchange_weak_explicit(
		       replay->options.late_until_ns, &before, until,
		       memory_order_relaxed, memory_order_relaxed))
		;
}

static uint64_t gpu_timer_of(const struct calllog_call *call)
{
	return calllog_number(call, CALLLOG_KEY_GPU_TIMER);
}

/* A job at another speed is a job with faster kernels: the GPU's time is scaled
 * like the host's. */
static uint64_t gpu_timer_shift(const struct replay *replay,
	const struct calllog_call *call)
{
	uint64_t timer_ns = gpu_timer_of(call);
	uint64_t round_ns = replay->round * replay->options.period_ns;
	uint64_t since_ns = timer_ns + round_ns - replay->gpu_origin_ns;

	if (timer_ns < replay->gpu_origin_ns ||
	    !(replay->options.speed > REPLAY_SPEED_MAX))
		return round_ns;
	return round_ns + scaled(since_ns, replay->options.speed) - since_ns +
		late_ns(replay, planned_ns(replay, call->time_ns));
}

static struct host_shift shift_of(const struct replay *replay,
	const struct calllog_call *call)
{
	struct host_shift shift = { 0, 0 };

	shift.seq_number = replay->round *
		replay->seq_advance[replay->position];
	if (gpu_timer_of(call) != 0)
		shift.gpu_timer_ns = gpu_timer_shift(replay, call);
	return shift;
}

/* --- Workers ----------------------------------------------------------- */

static bool is_stopped(struct replay_worker *worker)
{
	return atomic_load_explicit(&worker->word, memory_order_relaxed) &
		STOP;
}

static bool wait_for_baton(struct replay_worker *worker)
{
	uint32_t word;

	for (;;) {
		word = atomic_load_explicit(&worker->word,
			memory_order_acquire);
		if (word & STOP)
			return false;
		if (word & BATON)
			break;
		sleep_on(&worker->word, word, 0);
	}
	atomic_fetch_and_explicit(&worker->word, ~BATON,
		memory_order_acquire);
	return true;
}

static bool wait_until_due(struct replay_worker *worker)
{
	const struct replay *replay = worker->replay;
	uint64_t due, now;

	if (!(replay->options.speed > REPLAY_SPEED_MAX))
		return !is_stopped(worker);
	while (!is_stopped(worker)) {
		due = due_ns(replay);
		now = now_ns();
		if (now > due + LATE_NS)
			note_late(replay, now);
		if (now + SOON_NS >= due)
			return true;
		sleep_on(&worker->word, 0, due);
	}
	return false;
}

static void begin_round(struct replay *replay)
{
	replay->round++;
	replay->position = replay->body.first;
	if (replay->whole_log)
		host_finalize_all(replay->host);
	else
		host_drop_handles(replay->host);
}

/* Advances to the next call; returns false if there is none. */
static bool advance(struct replay *replay)
{
	uint64_t rounds = replay->options.rounds;

	replay->position++;
	if (replay->position == replay->body.end &&
	    (rounds == REPLAY_FOR_EVER || replay->round + 1 < rounds))
		begin_round(replay);
	return replay->position < (replay->options.unfinalized ?
		replay->body.end : replay->log->call_count);
}

static struct replay_worker *owner(const struct replay *replay)
{
	return &replay->workers[replay->worker_of[replay->position]];
}

/* --- Launches ---------------------------------------------------------- */

/* Keeps a stream busy up to a recorded time, and for a recorded time at the
 * least, in which all ranks run the kernel. As fast as possible, that takes hardly
 * any time, and ranks do not wait for each other. */
static void keep_busy(const struct replay *replay, void *stream,
	uint64_t least_ns, uint64_t until_ns,
	const struct fake_cuda_meeting *meeting)
{
	double speed = replay->options.speed;
	uint64_t duration_ns = FASTEST_KERNEL_NS;

	if (until_ns == LAUNCH_NEVER)
		duration_ns = FAKE_CUDA_UNTIL_FINISHED;
	else if (speed > REPLAY_SPEED_MAX)
		duration_ns = scaled(least_ns, speed);
	if (!(speed > REPLAY_SPEED_MAX))
		replay->options.gpu->launch(stream, duration_ns);
	else
		replay->options.gpu->launch_together(stream, duration_ns,
			until_ns == LAUNCH_NEVER ? 0 :
				time_in_round(replay, until_ns), meeting);
}

/* Does what the application and CUDA do before NCCL begins a launch: the stream
 * has other work, or is being captured. */
static void before_launch(const struct replay *replay,
	const struct launch_plan *launch)
{
	if (launch->captured)
		replay->options.gpu->capture_begin(launch->stream,
			FAKE_CUDA_THREAD_LOCAL);
	else
		keep_busy(replay, launch->stream, 0, launch->begin_ns,
			&(struct fake_cuda_meeting){ .begins = NULL });
}

/* Lets NCCL's kernel enter the stream. A capture ends here since nothing more
 * is done in it. */
static void launch_kernel(const struct replay *replay,
	const struct launch_plan *launch)
{
	const struct fake_cuda_meeting meeting = {
		.begins = replay->options.begins,
		.own = launch->number,
		.others = launch->others,
		.other_count = launch->other_count,
		.since_ns = planned_ns(replay, replay->options.origin_ns),
	};

	keep_busy(replay, launch->stream, launch->least_ns, launch->end_ns,
		&meeting);
	if (launch->captured)
		replay->options.gpu->capture_end(launch->stream);
}

/* --- Calls ------------------------------------------------------------- */

static int make_call(struct replay *replay)
{
	const struct calllog_call *call =
		&replay->log->calls[replay->position];
	const struct launch_plan *launch = replay->options.gpu == NULL ? NULL :
		launch_plan_of(replay->options.launches, replay->position);
	struct host_shift shift = shift_of(replay, call);
	char reason[512];
	int error;

	if (launch != NULL)
		before_launch(replay, launch);
	error = host_call(replay->host, call, &shift, reason, sizeof(reason));
	if (launch != NULL)
		launch_kernel(replay, launch);
	if (error != 0) {
		replay->error = error;
		snprintf(replay->message, sizeof(replay->message),
			"%s:%u: %s", replay->log->path, call->line, reason);
	}
	return error;
}

/* Makes calls until it is another worker's turn, or there are none left. */
static void take_turn(struct replay_worker *worker)
{
	struct replay *replay = worker->replay;

	do {
		if (!wait_until_due(worker))
			return;
		if (make_call(replay) != 0 || !advance(replay)) {
			stop_workers(replay);
			return;
		}
	} while (owner(replay) == worker);
	give(owner(replay), BATON);
}

static void *work(void *argument)
{
	struct replay_worker *worker = argument;

	while (wait_for_baton(worker))
		take_turn(worker);
	return NULL;
}

/* --- Creation ---------------------------------------------------------- */

static unsigned find_worker(const struct replay *replay, int tid)
{
	unsigned index;

	for (index = 0; index < replay->worker_count; index++)
		if (replay->workers[index].tid == tid)
			break;
	return index;
}

static int assign_workers(struct replay *replay)
{
	const struct calllog_call *call = replay->log->calls;
	size_t index;
	unsigned room = 0;
	unsigned found;
	struct replay_worker *moved;

	for (index = 0; index < replay->log->call_count; index++, call++) {
		found = find_worker(replay, call->tid);
		if (found == room) {
			room += 16;
			moved = aligned_alloc(_Alignof(struct replay_worker),
				room * sizeof(*moved));
			if (moved == NULL)
				return -ENOMEM;
			memset(moved, 0, room * sizeof(*moved));
			if (found > 0)
				memcpy(moved, replay->workers,
					found * sizeof(*moved));
			free(replay->workers);
			replay->workers = moved;
		}
		if (found == replay->worker_count) {
			replay->workers[found].tid = call->tid;
			replay->worker_count++;
		}
		replay->workers[found].types |=
			calllog_number(call, CALLLOG_KEY_TYPE);
		replay->worker_of[index] = found;
	}
	return 0;
}

/* The thread's number in the log, as recorded in its calls. */
static void name_worker(const struct replay_worker *worker)
{
	char name[16];

	if (worker->tid == worker->replay->log->pid)
		snprintf(name, sizeof(name), "main");
	else if (worker->types & (NCCL_EVENT_PROXY_OP | NCCL_EVENT_PROXY_STEP |
		 NCCL_EVENT_PROXY_CTRL | NCCL_EVENT_KERNEL_CH))
		snprintf(name, sizeof(name), "NCCL Progress");
	else
		snprintf(name, sizeof(name), "tid %d", worker->tid);
	pthread_setname_np(worker->thread, name);
}

/* Signals are handled by the thread that made the player, never by a worker
 * inside the plugin. */
static int start_workers(struct replay *replay)
{
	sigset_t all;
	sigset_t before;
	unsigned index;
	int error = 0;

	sigfillset(&all);
	sigdelset(&all, SIGSEGV);
	sigdelset(&all, SIGBUS);
	sigdelset(&all, SIGILL);
	sigdelset(&all, SIGFPE);
	sigdelset(&all, SIGABRT);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	for (index = 0; index < replay->worker_count && error == 0; index++) {
		replay->workers[index].replay = replay;
		error = pthread_create(&replay->workers[index].thread, NULL,
			work, &replay->workers[index]);
		if (error == 0)
			name_worker(&replay->workers[index]);
	}
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	if (error == 0)
		return 0;
	replay->worker_count = index - 1;
	stop_workers(replay);
	for (index = 0; index < replay->worker_count; index++)
		pthread_join(replay->workers[index].thread, NULL);
	return -error;
}

static int prepare(struct replay *replay)
{
	size_t count = replay->log->call_count;
	int error;

	replay->body = replay_find_body(replay->log);
	replay->whole_log = replay->body.first == 0;
	if (replay->body.first >= replay->body.end)
		replay->options.rounds = 1;
	replay->gpu_origin_ns = replay->log->realtime_ns -
		replay->log->monotonic_ns + replay->options.origin_ns;
	replay->worker_of = calloc(count, sizeof(*replay->worker_of));
	replay->seq_advance = calloc(count, sizeof(*replay->seq_advance));
	if (replay->worker_of == NULL || replay->seq_advance == NULL)
		return -ENOMEM;
	error = find_advances(replay);
	if (error == 0)
		error = assign_workers(replay);
	if (error == 0)
		error = host_use_log(replay->host, replay->log);
	return error;
}

int replay_create(struct replay **replay, const struct calllog *log,
	struct host *host, const struct replay_options *options)
{
	struct replay *made = calloc(1, sizeof(*made));
	int error;

	*replay = NULL;
	if (made == NULL)
		return -ENOMEM;
	made->log = log;
	made->host = host;
	made->options = *options;
	error = prepare(made);
	if (error == 0)
		error = start_workers(made);
	if (error != 0) {
		replay_free(made);
		return error;
	}
	*replay = made;
	return 0;
}

int replay_run(struct replay *replay, char *message, size_t message_bytes)
{
	unsigned index;

	give(owner(replay), BATON);
	for (index = 0; index < replay->worker_count; index++)
		pthread_join(replay->workers[index].thread, NULL);
	if (message_bytes > 0)
		snprintf(message, message_bytes, "%s", replay->message);
	return replay->error;
}

void replay_stop(struct replay *replay)
{
	atomic_store_explicit(&replay->stopped, 1, memory_order_relaxed);
	stop_workers(replay);
}

int replay_is_stopped(const struct replay *replay)
{
	return atomic_load_explicit(&replay->stopped, memory_order_relaxed) !=
		0;
}

uint64_t replay_rounds(const struct replay *replay)
{
	return replay->round + 1;
}

void replay_free(struct replay *replay)
{
	if (replay == NULL)
		return;
	free(replay->workers);
	free(replay->worker_of);
	free(replay->seq_advance);
	free(replay);
}
