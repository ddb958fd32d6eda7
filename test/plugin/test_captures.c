/* SPDX-License-Identifier: MIT */
/* Captured calls of NCCL, replayed to the plugin: every capture, several times.
 *
 * Call by call, while the rings are read: every record that the log implies must
 * be published, in order, with the log's values, and no other. The plugin's clock
 * then advances by 1 ns a call, so that it never knows how the GPU's clock goes,
 * and refuses none of the GPU's times, however long the replay takes. (By the
 * log's own clock it rightly refuses some, which NCCL had left of earlier
 * kernels.) Once more with the clock of this machine, as a job has it: at full
 * speed the GPU's times pass faster, so that the plugin may refuse some if the
 * replay is held up meanwhile, and must count each that it refuses.
 * Then as NCCL does it, with the threads of the log, at full speed: every
 * counter must be the one that the tally expects, and nothing may be lost that
 * the log does not explain.
 *
 * A last test dumps the state with the program itself and compares it with
 * test/oracle.py.
 */
#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "test/host/call_player.h"
#include "test/plugin/scenario.h"
#include "test/plugin/tally.h"
#include "test/unit/support/unit.h"

/* Calls between two readings of the rings: a call publishes at most 10 records,
 * and the shortest ring has 64. */
#define CALLS_A_LOOK 6

#define CONTEXT_MAX 16

struct capture_job {
	struct calllog *log;
	struct tally *tally;
	struct host *host;
	bool has_threads;   /* with the log's threads; false: one thread */
	bool has_own_clock; /* 1 ns a call; false: this machine's */
	uint64_t refused[CONTEXT_MAX]; /* kernels without the GPU's times */
	struct view views[CONTEXT_MAX];
	size_t view_count;
	struct tally_records got[CONTEXT_MAX];
};

/* --- The clock --------------------------------------------------------- */

/* The time that CLOCK_MONOTONIC shows; 0: this machine's. */
static uint64_t own_clock_ns;

/* Comes before the C library's, in the plugin as well. */
__attribute__((visibility("default"))) int clock_gettime(clockid_t id,
							 struct timespec *now)
{
	if (id != CLOCK_MONOTONIC || own_clock_ns == 0)
		return (int)syscall(SYS_clock_gettime, id, now);
	now->tv_sec = (time_t)(own_clock_ns / UINT64_C(1000000000));
	now->tv_nsec = (long)(own_clock_ns % UINT64_C(1000000000));
	return 0;
}

/* --- A job ------------------------------------------------------------- */

static void begin(struct capture_job *job, const char *path)
{
	char message[1024];

	CHECK(calllog_read(path, &job->log, message, sizeof(message)) == 0,
	      "%s", message);
	/* In init the clock stands still, so that the plugin finds no rate of
	 * the processor's counter, and takes CLOCK_MONOTONIC instead. */
	if (job->has_own_clock)
		own_clock_ns = UINT64_C(1000000000000);
	job->tally = tally_make(job->log);
	CHECK(job->tally->context_count <= CONTEXT_MAX, "more than we expect");
	job->host = open_plugin(job->log->api);
}

static void end(struct capture_job *job)
{
	for (size_t i = 0; i < job->view_count; i++) {
		view_close(&job->views[i]);
		free(job->got[i].all);
	}
	host_finalize_all(job->host);
	host_close(job->host);
	tally_free(job->tally);
	calllog_free(job->log);
}

/* --- Counters ---------------------------------------------------------- */

/* Describes the current check, for its message. */
static const char *where(const char *what, const char *name, unsigned context)
{
	static char text[256];

	snprintf(text, sizeof(text), "communicator %u, %s %s", context, what,
		 name);
	return text;
}

static void check_identity(const struct tally_context *expected,
			   const struct ncs_snapshot *now, unsigned context)
{
	const struct ncs_identity *identity = &now->identity;
	const uint64_t told = NCS_KNOWN_COMM_ID | NCS_KNOWN_COMM_NAME |
			      NCS_KNOWN_RANK | NCS_KNOWN_NRANKS |
			      NCS_KNOWN_NNODES;
	const char *about = where("identity", "", context);

	CHECK_EQUAL(identity->known & told, expected->known, about);
	CHECK_EQUAL(identity->comm_id, expected->comm_id, about);
	CHECK_EQUAL(identity->rank, expected->rank, about);
	CHECK_EQUAL(identity->nranks, expected->nranks, about);
	CHECK_EQUAL(identity->nnodes, expected->nnodes, about);
	CHECK(strcmp(identity->comm_name,
		     expected->name ? expected->name : "") == 0,
	      "%s is not %s", identity->comm_name, expected->name);
	CHECK_EQUAL(now->liveness == NCS_FINISHED, expected->finished, about);
	CHECK_EQUAL(now->finished_ns != 0, expected->finished, about);
	CHECK(!now->torn, "no thread is writing");
}

/* Returns true if the plugin has refused times of the GPU that did not go with
 * this machine's clock. */
static bool times_clash(const struct tally_context *expected,
			const struct ncs_snapshot *now,
			const struct capture_job *job)
{
	return !job->has_own_clock &&
	       now->losses[NCS_LOSS_BAD_PTIMER] >
		       expected->losses[NCS_LOSS_BAD_PTIMER];
}

static void check_functions(const struct tally_context *expected,
			    const struct ncs_snapshot *now, unsigned context,
			    const struct capture_job *job)
{
	static const char *const names[] = {
#define X(ID, name, size, numerator, denominator) name,
		NCS_FUNCTIONS(X)
#undef X
	};

	for (unsigned i = 0; i < NCS_FUNCTION_COUNT; i++) {
		const struct tally_function *want = &expected->functions[i];
		const struct ncs_function_view *got = &now->functions[i];
		const char *about = where("function", names[i], context);

		CHECK_EQUAL(got->calls, want->calls, about);
		CHECK_EQUAL(got->operations, want->operations, about);
		CHECK_EQUAL(got->operations_done, want->operations_done, about);
		CHECK_EQUAL(got->with_children, want->with_children, about);
		CHECK_EQUAL(got->bytes, want->bytes, about);
		CHECK_EQUAL(got->size_unknown, want->size_unknown, about);
		CHECK_EQUAL(got->last_sequence_number,
			    want->last_sequence_number, about);
		for (unsigned k = 0; k < NCS_TIMING_COUNT; k++) {
			uint64_t total = 0;

			if (k == NCS_TIMING_KERNEL &&
			    times_clash(expected, now, job))
				continue;
			CHECK_EQUAL(got->timed[k], want->timed[k], about);
			CHECK_EQUAL(got->timed_bytes[k], want->timed_bytes[k],
				    about);
			if (got->histogram[k])
				for (size_t b = 0; b < NCS_HISTOGRAM_BUCKETS;
				     b++)
					total += got->histogram[k][b];
			CHECK_EQUAL(total, want->timed[k], about);
		}
		if (!times_clash(expected, now, job))
			CHECK_EQUAL(got->time_ns[NCS_TIMING_KERNEL],
				    want->kernel_ns, about);
	}
}

static void check_channels(const struct tally_context *expected,
			   const struct view *view, unsigned context)
{
	char name[64];

	CHECK_EQUAL(view->now.channel_count, expected->channel_count,
		    where("channels", "", context));
	for (size_t i = 0; i < expected->channel_count; i++) {
		const struct tally_channel *want = &expected->channels[i];
		const struct ncs_channel_view *got = view_channel(
			view, want->channel, want->send, want->peer);
		bool busy = want->steps_started != want->steps_done;
		const char *about;

		snprintf(name, sizeof(name), "%u %s %d", want->channel,
			 want->send ? "send" : "recv", want->peer);
		about = where("channel", name, context);
		CHECK(got, "%s is missing", about);
		CHECK_EQUAL(got->operations_started, want->operations_started,
			    about);
		CHECK_EQUAL(got->operations_done, want->operations_done, about);
		CHECK_EQUAL(got->steps_started, want->steps_started, about);
		CHECK_EQUAL(got->steps_done, want->steps_done, about);
		CHECK_EQUAL(got->bytes, want->bytes, about);
		CHECK_EQUAL(got->size_unknown, want->size_unknown, about);
		CHECK_EQUAL(got->state != NCS_CHANNEL_IDLE, busy, about);
	}
}

static void check_counters(const struct tally_context *expected,
			   const struct view *view, unsigned context,
			   const struct capture_job *job)
{
	static const char *const losses[] = {
#define X(ID, name, ...) name,
		NCS_LOSSES(X)
#undef X
	};
	static const char *const events[] = {
#define X(ID, name, bit, api, help) name,
		NCS_EVENTS(X)
#undef X
	};
	const struct ncs_snapshot *now = &view->now;
	uint64_t published = 0, records = expected->records.count;

	for (unsigned i = 0; i < NCS_EVENT_COUNT; i++)
		CHECK_EQUAL(now->events[i], expected->events[i],
			    where("events", events[i], context));
	for (unsigned i = 0; i < NCS_LOSS_COUNT; i++)
		if (i != NCS_LOSS_OVERWRITTEN &&
		    (i != NCS_LOSS_BAD_PTIMER ||
		     !times_clash(expected, now, job)))
			CHECK_EQUAL(now->losses[i], expected->losses[i],
				    where("loss", losses[i], context));
	for (unsigned i = 0; i < NCS_TRANSITION_COUNT; i++)
		CHECK_EQUAL(now->proxy.count[i], expected->transitions[i],
			    where("proxy", "", context));
	CHECK_EQUAL(now->proxy.appended_operations,
		    expected->appended_operations,
		    where("proxy", "appended", context));
	for (size_t i = 0; i < now->lane_count; i++)
		published += now->lanes[i].published;
	if (job->has_threads)
		records += expected->streams_of_threads - expected->streams;
	CHECK_EQUAL(published, records, where("records", "", context));
}

static void check_context(const struct tally_context *expected,
			  struct view *view, unsigned context,
			  const struct capture_job *job)
{
	view_take(view);
	check_identity(expected, &view->now, context);
	check_counters(expected, view, context, job);
	check_functions(expected, &view->now, context, job);
	check_channels(expected, view, context);
}

static void check_job(struct capture_job *job)
{
	CHECK_EQUAL(job->view_count, job->tally->context_count,
		    "communicators");
	for (unsigned i = 0; i < job->view_count; i++)
		check_context(&job->tally->contexts[i], &job->views[i], i, job);
}

/* --- Records ----------------------------------------------------------- */

static void read_rings(struct capture_job *job)
{
	for (size_t i = 0; i < job->view_count; i++) {
		struct tally_records *got = &job->got[i];
		uint64_t lost = 0;

		if (got->room - got->count < 4096) {
			got->room = got->room * 2 + 8192;
			got->all = realloc(got->all,
					   got->room * sizeof(*got->all));
			CHECK(got->all, "out of memory");
		}
		got->count += view_records(&job->views[i],
					   got->all + got->count, 4096, &lost);
		CHECK_EQUAL(lost, 0, "we read often enough");
	}
}

/* Tells whether a record has its stream in place of a time. */
static bool has_stream(const struct ncs_record *record)
{
	return record->event == NCS_EVENT_COLL_API ||
	       record->event == NCS_EVENT_P2P_API ||
	       record->event == NCS_EVENT_KERNEL_LAUNCH;
}

/* Times within a record must be within its duration. */
static void check_times(const struct ncs_record *got, const char *about)
{
	bool ordered = got->event != NCS_EVENT_COLL &&
		       got->event != NCS_EVENT_P2P &&
		       got->event != NCS_EVENT_PROXY_OP;

	CHECK(got->start != 0, "%s has no start", about);
	if (has_stream(got))
		return;
	CHECK(got->delta[0] <= got->duration, "%s ends too early", about);
	CHECK(got->delta[1] <= got->duration, "%s ends too early", about);
	if (ordered && got->delta[1] != 0)
		CHECK(got->delta[0] <= got->delta[1], "%s is in disorder",
		      about);
}

/* Returns true for a kernel without the GPU's times, of which the log has
 * some. */
static bool is_refused(const struct ncs_record *got,
		       const struct ncs_record *want)
{
	return want->event == NCS_EVENT_KERNEL_CH && want->number != 0 &&
	       got->value == 0 && got->number == 0;
}

/* `times` is false if the GPU's times need not be there. */
static void check_record(const struct ncs_record *got,
			 const struct ncs_record *want, size_t place,
			 unsigned context, bool times)
{
	char name[32];
	const char *about;

	snprintf(name, sizeof(name), "%zu", place);
	about = where("record", name, context);
	CHECK_EQUAL(got->event, want->event, about);
	CHECK_EQUAL(got->flags, want->flags, about);
	CHECK_EQUAL(got->channel, want->channel, about);
	CHECK_EQUAL(got->function, want->function, about);
	CHECK_EQUAL(got->operation, want->operation, about);
	CHECK_EQUAL(got->peer, want->peer, about);
	if (times) {
		CHECK_EQUAL(got->value, want->value, about);
		CHECK_EQUAL(got->number, want->number, about);
	}
	CHECK_EQUAL(got->position, (uint32_t)place, about);
	if (has_stream(want))
		CHECK_EQUAL(got->delta[0], want->delta[0], about);
	check_times(got, about);
}

/* Returns the place of the next record in the same ring as `want`, from `place`
 * on: one thread has two rings, which are read one after the other. */
static size_t next_of_ring(const struct tally_records *got, size_t place,
			   const struct ncs_record *want)
{
	while (place < got->count && is_of_call_lane(got->all[place].event) !=
					     is_of_call_lane(want->event))
		place++;
	return place;
}

static void check_records(struct capture_job *job)
{
	for (unsigned i = 0; i < job->view_count; i++) {
		const struct tally_records *want =
			&job->tally->contexts[i].records;
		const struct tally_records *got = &job->got[i];
		size_t next[2] = { 0 }, positions[2] = { 0 };

		for (size_t k = 0; k < want->count; k++) {
			bool ring = is_of_call_lane(want->all[k].event);
			size_t at =
				next_of_ring(got, next[ring], &want->all[k]);
			bool refused;

			if (at == got->count)
				break;
			refused = !job->has_own_clock &&
				  is_refused(&got->all[at], &want->all[k]);
			check_record(&got->all[at], &want->all[k],
				     positions[ring]++, i, !refused);
			job->refused[i] += refused;
			next[ring] = at + 1;
		}
		CHECK_EQUAL(got->count, want->count, where("records", "", i));
	}
}

/* --- Playing ----------------------------------------------------------- */

static void play_calls(struct capture_job *job)
{
	char message[512];

	CHECK(host_use_log(job->host, job->log) == 0, "out of memory");
	for (size_t i = 0; i < job->log->call_count; i++) {
		const struct calllog_call *call = &job->log->calls[i];

		if (job->has_own_clock)
			own_clock_ns++;
		CHECK(host_call(job->host, call, NULL, message,
				sizeof(message)) == 0,
		      "%s", message);
		if (call->verb == CALLLOG_INIT) {
			view_open(&job->views[job->view_count],
				  job->view_count);
			job->view_count++;
		}
		if (i % CALLS_A_LOOK == 0)
			read_rings(job);
	}
	read_rings(job);
}

/* With one thread there is one lane, whose ring has all records in order. */
static void play_call_by_call(void *argument)
{
	struct capture_job job = { .has_own_clock = true };

	begin(&job, argument);
	play_calls(&job);
	check_records(&job);
	check_job(&job);
	end(&job);
}

static void play_by_this_clock(void *argument)
{
	struct capture_job job = { 0 };

	begin(&job, argument);
	play_calls(&job);
	check_records(&job);
	check_job(&job);
	for (size_t i = 0; i < job.view_count; i++)
		CHECK_EQUAL(job.views[i].now.losses[NCS_LOSS_BAD_PTIMER] -
				    job.tally->contexts[i]
					    .losses[NCS_LOSS_BAD_PTIMER],
			    job.refused[i], where("refused", "", (unsigned)i));
	end(&job);
}

static void play_with_threads(void *argument)
{
	struct replay_options options = {
		.speed = REPLAY_SPEED_MAX,
		.rounds = 1,
	};
	struct capture_job job = { .has_threads = true };
	struct replay *replay;
	char message[1024];

	begin(&job, argument);
	CHECK(replay_create(&replay, job.log, job.host, &options) == 0,
	      "no replay");
	CHECK(replay_run(replay, message, sizeof(message)) == 0, "%s", message);
	for (size_t i = count_objects(); job.view_count < i; job.view_count++)
		view_open(&job.views[job.view_count], job.view_count);
	check_job(&job);
	replay_free(replay);
	end(&job);
}

/* Another plugin chained to ours must not change what ours publishes. */
static void play_beside_another(void *argument)
{
	setenv("NCCLSTAT_CHAIN", NCS_NEXT "/recorder-all.so", 1);
	play_call_by_call(argument);
}

/* Up to API 3, our plugin gets no proxy control events unless the chained
 * plugin requests them. */
static bool is_since_api_4(const char *path)
{
	return !strstr(path, "-v1-") && !strstr(path, "-v2-") &&
	       !strstr(path, "-v3-");
}

static void every_call_of_a_capture_is_followed(void **state)
{
	scenario_play(play_call_by_call, *state);
	scenario_play(play_by_this_clock, *state);
	scenario_play(play_with_threads, *state);
	if (is_since_api_4(*state))
		scenario_play(play_beside_another, *state);
}

/* --- The program ------------------------------------------------------- */

/* A sanitizer looks at code, which few jobs, and the first rank of each, reach. */
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define RANKS_PLAYED 1
#define DUMPED "net-v5-mix nvlink-v5-mix8"
#else
#define RANKS_PLAYED INT_MAX
#define DUMPED NULL
#endif

static void dump_agrees_with_the_oracle(void **state)
{
	(void)state;
	scenario_compare_dumps(NULL, DUMPED);
}

/* --- All captures ------------------------------------------------------ */

#define TEST_MAX 512

static struct CMUnitTest tests[TEST_MAX];
static size_t test_count;

static void add_test(const char *name, CMUnitTestFunction function,
		     void *argument)
{
	if (test_count == TEST_MAX) {
		fprintf(stderr, "more captures than we have room for\n");
		exit(EXIT_FAILURE);
	}
	tests[test_count].name = name;
	tests[test_count].test_func = function;
	tests[test_count].initial_state = argument;
	test_count++;
}

static int has_no_dot(const struct dirent *entry)
{
	return entry->d_name[0] != '.';
}

static int is_capture(const struct dirent *entry)
{
	return strstr(entry->d_name, ".calllog") != NULL;
}

static void add_folder(const char *folder)
{
	struct dirent **entries;
	char *path, *name;
	int count = scandir(folder, &entries, is_capture, versionsort);

	for (int i = 0; i < count; i++) {
		if (i >= RANKS_PLAYED) {
			free(entries[i]);
			continue;
		}
		if (asprintf(&path, "%s/%s", folder, entries[i]->d_name) < 0 ||
		    asprintf(&name, "follows_every_call_of_%s", path) < 0)
			abort();
		add_test(name, every_call_of_a_capture_is_followed, path);
		free(entries[i]);
	}
	if (count >= 0)
		free(entries);
}

int main(void)
{
	struct dirent **entries;
	char folder[4096];
	int count = scandir(NCS_CAPTURES, &entries, has_no_dot, versionsort);

	for (int i = 0; i < count; i++) {
		snprintf(folder, sizeof(folder), "%s/%s", NCS_CAPTURES,
			 entries[i]->d_name);
		add_folder(folder);
		free(entries[i]);
	}
	if (count >= 0)
		free(entries);
	if (test_count == 0) {
		fprintf(stderr, "no captures in %s\n", NCS_CAPTURES);
		return EXIT_FAILURE;
	}
	add_test("dump_agrees_with_the_oracle", dump_agrees_with_the_oracle,
		 NULL);
	return _cmocka_run_group_tests("captures", tests, test_count, NULL,
				       NULL);
}
