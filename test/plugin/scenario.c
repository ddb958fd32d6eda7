/* SPDX-License-Identifier: MIT */
/* Plays scenarios and reads segments; see scenario.h. */
#include "test/plugin/scenario.h"

#include <dirent.h>
#include <errno.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "shm/process.h"
#include "shm/read/paths.h"
#include "shm/read/remote.h"
#include "shm/segment.h"
#include "test/unit/support/unit.h"

/* Seconds: far more than any scenario takes, sanitizers included, but less than
 * the limit of run_tests.sh, so that a message names the scenario that
 * hangs. */
#define PATIENCE_S 100

#define SKIPPED 77

char scenario_directory[64];

#ifdef __SANITIZE_THREAD__
/* Children of a fork start the plugin's threads anew, which the sanitizer
 * refuses unless it is told otherwise. */
__attribute__((visibility("default"))) const char *
__tsan_default_options(void);
const char *__tsan_default_options(void)
{
	return "die_after_fork=0";
}
#endif

/* --- Checks ------------------------------------------------------------ */

void scenario_fail(const char *file, int line, const char *condition,
		   const char *format, ...)
{
	va_list list;

	fflush(stdout);
	fprintf(stderr, "%s:%d: ", file, line);
	if (condition)
		fprintf(stderr, "%s: ", condition);
	va_start(list, format);
	vfprintf(stderr, format, list);
	va_end(list);
	fputc('\n', stderr);
	_exit(EXIT_FAILURE);
}

void scenario_skip(const char *why)
{
	printf("skipped: %s\n", why);
	fflush(stdout);
	_exit(SKIPPED);
}

/* --- Playing ----------------------------------------------------------- */

void scenario_remove_objects(void)
{
	static int (*const discover[])(const char *directory,
				       struct ncs_paths *paths) = {
		ncs_discover,
		ncs_discover_controls,
	};
	struct ncs_paths paths;

	for (size_t k = 0; k < sizeof(discover) / sizeof(*discover); k++) {
		if (discover[k](scenario_directory, &paths) != 0)
			return;
		for (size_t i = 0; i < paths.count; i++)
			unlink(paths.path[i]);
		ncs_paths_release(&paths);
	}
}

void scenario_mount(const char *options)
{
	if (unshare(CLONE_NEWNS) != 0 ||
	    mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) != 0 ||
	    mount("tmpfs", scenario_directory, "tmpfs", 0, options) != 0)
		scenario_skip("mounting a file system takes rights");
}

void scenario_prepare(void)
{
	snprintf(scenario_directory, sizeof(scenario_directory),
		 "/dev/shm/test-plugin.XXXXXX");
	if (!mkdtemp(scenario_directory))
		fail_msg("%s: %s", scenario_directory, strerror(errno));
}

pid_t scenario_start(void (*play)(void *argument), void *argument)
{
	pid_t pid;

	fflush(NULL);
	pid = fork();
	if (pid < 0)
		fail_msg("fork: %s", strerror(errno));
	if (pid > 0)
		return pid;
	alarm(PATIENCE_S);
	setenv("NCCLSTAT_DIR", scenario_directory, 1);
	/* Segments must not depend on the machine's memory. */
	setenv("NCCLSTAT_SHM_BYTES", "16M", 0);
	play(argument);
	exit(EXIT_SUCCESS);
}

static int wait_for(pid_t pid)
{
	int status;

	while (waitpid(pid, &status, 0) < 0)
		if (errno != EINTR)
			fail_msg("waitpid: %s", strerror(errno));
	return status;
}

static void describe(int status, char *text, size_t size)
{
	if (WIFSIGNALED(status) && WTERMSIG(status) == SIGALRM)
		snprintf(text, size, "hangs");
	else if (WIFSIGNALED(status))
		snprintf(text, size, "died: %s", strsignal(WTERMSIG(status)));
	else
		snprintf(text, size, "ended with status %d, see above",
			 WEXITSTATUS(status));
}

static void expect(bool good, int status)
{
	char text[128];

	if (good)
		return;
	describe(status, text, sizeof(text));
	scenario_clean_up(LEAVES_OBJECTS);
	fail_msg("the scenario %s", text);
}

void scenario_expect_success(pid_t pid)
{
	int status = wait_for(pid);

	if (WIFEXITED(status) && WEXITSTATUS(status) == SKIPPED) {
		scenario_clean_up(LEAVES_OBJECTS);
		skip();
	}
	expect(WIFEXITED(status) && WEXITSTATUS(status) == 0, status);
}

void scenario_expect_signal(pid_t pid, int signal_number)
{
	int status = wait_for(pid);

	expect(WIFSIGNALED(status) && WTERMSIG(status) == signal_number,
	       status);
}

void scenario_clean_up(enum scenario_leaves leaves)
{
	size_t left = count_objects() + count_controls();
	int error;

	scenario_remove_objects();
	error = rmdir(scenario_directory) == 0 ? 0 : errno;
	if (leaves == LEAVES_NOTHING && left != 0)
		fail_msg("an orderly exit left %zu objects behind", left);
	if (error)
		fail_msg("%s: %s", scenario_directory, strerror(error));
}

void scenario_play(void (*play)(void *argument), void *argument)
{
	scenario_prepare();
	scenario_expect_success(scenario_start(play, argument));
	scenario_clean_up(LEAVES_NOTHING);
}

void scenario_compare_dumps(const char *option, const char *folders)
{
	char command[8192];
	int status,
		length = (int)(strrchr(NCS_PLUGIN_PATH, '/') - NCS_PLUGIN_PATH);

	snprintf(command, sizeof(command),
		 "exec python3 test/plugin/captures_json.py %s '%.*s' '%s' %s",
		 option ? option : "", length, NCS_PLUGIN_PATH, NCS_CAPTURES,
		 folders ? folders : "");
	fflush(NULL);
	status = system(command);
	if (WIFEXITED(status) && WEXITSTATUS(status) == 77)
		skip();
	assert_true(WIFEXITED(status));
	assert_int_equal(WEXITSTATUS(status), 0);
}

/* --- Reading ----------------------------------------------------------- */

pid_t find_thread(const char *name)
{
	DIR *tasks = opendir("/proc/self/task");
	struct dirent *task;
	pid_t found = 0;

	CHECK(tasks, "/proc is not there");
	while (!found && (task = readdir(tasks)) != NULL) {
		char path[300], line[64] = "";
		FILE *file;

		snprintf(path, sizeof(path), "/proc/self/task/%s/comm",
			 task->d_name);
		file = fopen(path, "r");
		if (!file)
			continue;
		if (fgets(line, sizeof(line), file) &&
		    strcspn(line, "\n") == strlen(name) &&
		    strncmp(line, name, strlen(name)) == 0)
			found = (pid_t)strtol(task->d_name, NULL, 10);
		fclose(file);
	}
	closedir(tasks);
	return found;
}

/* Returns whether a thread of the calling process sleeps, or has ended. */
static bool sleeps(const char *thread)
{
	char path[300], line[512] = "";
	const char *state;
	FILE *file;

	snprintf(path, sizeof(path), "/proc/self/task/%s/stat", thread);
	file = fopen(path, "r");
	if (!file)
		return true;
	state = fgets(line, sizeof(line), file) ? strrchr(line, ')') : NULL;
	fclose(file);
	return !state || state[2] == 'S';
}

static bool all_others_sleep(void)
{
	DIR *tasks = opendir("/proc/self/task");
	struct dirent *task;
	bool all = true;

	CHECK(tasks, "/proc is not there");
	while (all && (task = readdir(tasks)) != NULL)
		all = task->d_name[0] == '.' ||
		      strtol(task->d_name, NULL, 10) == getpid() ||
		      sleeps(task->d_name);
	closedir(tasks);
	return all;
}

pid_t scenario_fork(void)
{
	const struct timespec pause = { .tv_nsec = 1000000 };
	pid_t pid;

	fflush(NULL);
	while (!all_others_sleep())
		nanosleep(&pause, NULL);
	pid = fork();
	CHECK(pid >= 0, "fork: %s", strerror(errno));
	return pid;
}

unsigned long resident_kib(void)
{
	char line[256];
	unsigned long kib = 0;
	FILE *file = fopen("/proc/self/status", "r");

	CHECK(file, "/proc is not there");
	while (fgets(line, sizeof(line), file))
		if (sscanf(line, "VmRSS: %lu", &kib) == 1)
			break;
	fclose(file);
	return kib;
}

size_t count_controls(void)
{
	struct ncs_paths paths;
	size_t count;

	if (ncs_discover_controls(scenario_directory, &paths) != 0)
		return 0;
	count = paths.count;
	ncs_paths_release(&paths);
	return count;
}

size_t count_objects(void)
{
	struct ncs_paths paths;
	size_t count;

	if (ncs_discover(scenario_directory, &paths) != 0)
		return 0;
	count = paths.count;
	ncs_paths_release(&paths);
	return count;
}

uint64_t count_object_bytes(void)
{
	struct ncs_paths paths;
	struct stat status;
	uint64_t bytes = 0;

	if (ncs_discover(scenario_directory, &paths) != 0)
		return 0;
	for (size_t i = 0; i < paths.count; i++)
		if (stat(paths.path[i], &status) == 0)
			bytes += (uint64_t)status.st_blocks * 512;
	ncs_paths_release(&paths);
	return bytes;
}

bool view_try_open(struct view *view, size_t place, char *why, size_t why_size)
{
	struct ncs_paths paths;
	enum ncs_attach result = NCS_ATTACH_ABSENT;

	memset(view, 0, sizeof(*view));
	snprintf(why, why_size, "there are not as many objects");
	if (ncs_discover(scenario_directory, &paths) != 0)
		return false;
	if (place < paths.count)
		result = ncs_reader_open(paths.path[place], &view->reader, why,
					 why_size);
	ncs_paths_release(&paths);
	if (result != NCS_ATTACHED)
		return false;
	CHECK(ncs_snapshot_init(&view->now, view->reader) == 0,
	      "out of memory");
	view_take(view);
	return true;
}

void view_open(struct view *view, size_t place)
{
	char why[256];

	CHECK(view_try_open(view, place, why, sizeof(why)), "%s", why);
}

void view_close(struct view *view)
{
	ncs_snapshot_release(&view->now);
	ncs_reader_close(view->reader);
	view->reader = NULL;
}

static uint64_t monotonic_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * UINT64_C(1000000000) +
	       (uint64_t)now.tv_nsec;
}

void view_take(struct view *view)
{
	ncs_snapshot_take(&view->now, view->reader, monotonic_ns());
}

enum ncs_attach view_find_remote(const struct view *view,
				 struct ncs_remote **remote, char *why,
				 size_t why_size)
{
	struct ncs_process process;

	ncs_process_of_header(ncs_reader_header(view->reader), &process);
	return ncs_remote_find(scenario_directory, &process,
			       ncs_reader_owner(view->reader), remote, why,
			       why_size);
}

size_t view_records(struct view *view, struct ncs_record *records, size_t size,
		    uint64_t *lost)
{
	size_t lanes = ncs_reader_header(view->reader)->lanes.count;
	size_t count = 0;

	for (size_t i = 0; i < lanes; i++)
		count += ncs_reader_records(view->reader, i, records + count,
					    size - count, lost);
	return count;
}

const struct ncs_channel_view *
view_channel(const struct view *view, unsigned channel, bool send, int peer)
{
	for (size_t i = 0; i < view->now.channel_count; i++) {
		const struct ncs_channel_view *found = &view->now.channels[i];

		if (found->channel == channel && found->send == send &&
		    found->peer == peer)
			return found;
	}
	return NULL;
}

/* --- A guest ----------------------------------------------------------- */

struct host *open_plugin(int api)
{
	char message[512];
	struct host *host;

	CHECK(host_open(&host, NCS_PLUGIN_PATH, api, message,
			sizeof(message)) == 0,
	      "%s", message);
	return host;
}

void *init_comm(struct host *host, const char *name, int rank)
{
	struct host_comm comm = {
		.id = GUEST_COMM_ID,
		.name = name,
		.nnodes = 2,
		.nranks = GUEST_NRANKS,
		.rank = rank,
	};
	void *context = NULL;

	CHECK(host_init(host, &comm, &context) == NCCL_SUCCESS,
	      "init may never fail: NCCL stops profiling the process");
	CHECK(context, "NCCL up to 2.27 finalizes a NULL context, too");
	return context;
}

void guest_open(struct guest *guest, int api)
{
	memset(guest, 0, sizeof(*guest));
	guest->host = open_plugin(api);
	guest->context = init_comm(guest->host, "guest", GUEST_RANK);
	view_open(&guest->view, 0);
}

void guest_close(struct guest *guest)
{
	CHECK(host_finalize(guest->host, guest->context) == NCCL_SUCCESS,
	      "finalize never fails");
	view_close(&guest->view);
	host_close(guest->host);
}

/* A guest's scenario. */
struct visit {
	void (*play)(struct guest *guest, int api);
	int api;
};

static void play_visit(void *argument)
{
	const struct visit *visit = argument;
	struct guest guest;

	guest_open(&guest, visit->api);
	visit->play(&guest, visit->api);
	guest_close(&guest);
}

void guest_play(void (*play)(struct guest *guest, int api), int first, int last)
{
	struct visit visit = { play, first };

	for (; visit.api <= last; visit.api++)
		scenario_play(play_visit, &visit);
}

void *start_in(struct guest *guest, void *context,
	       const struct host_event *event)
{
	void *handle;

	CHECK(host_start(guest->host, context, event, &handle) == NCCL_SUCCESS,
	      "startEvent never fails");
	CHECK(handle != HOST_GARBAGE_HANDLE,
	      "NCCL would stop the old value of *handle");
	return handle;
}

void *start(struct guest *guest, const struct host_event *event)
{
	return start_in(guest, guest->context, event);
}

void stop(struct guest *guest, void *handle)
{
	CHECK(host_stop(guest->host, handle) == NCCL_SUCCESS,
	      "stopEvent never fails");
}

static void record_state(struct guest *guest, void *handle,
			 const struct host_state *state)
{
	CHECK(host_record(guest->host, handle, state) == NCCL_SUCCESS,
	      "recordEventState never fails");
}

void record(struct guest *guest, void *handle, int state)
{
	struct host_state facts = { .state = state };

	record_state(guest, handle, &facts);
}

void record_size(struct guest *guest, void *handle, int state,
		 uint64_t size_bytes)
{
	struct host_state facts = { .state = state, .size_bytes = size_bytes };

	record_state(guest, handle, &facts);
}

void record_timer(struct guest *guest, void *handle, int state,
		  uint64_t gpu_timer_ns)
{
	struct host_state facts = {
		.state = state,
		.gpu_timer_ns = gpu_timer_ns,
	};

	record_state(guest, handle, &facts);
}

void record_appended(struct guest *guest, void *handle, int state, int ops)
{
	struct host_state facts = { .state = state, .appended_ops = ops };

	record_state(guest, handle, &facts);
}

void record_without_args(struct guest *guest, void *handle, int state)
{
	struct host_state facts = { .state = state, .without_args = true };

	record_state(guest, handle, &facts);
}

void let_time_pass(void)
{
	struct timespec pause = { 0, 1000 };

	nanosleep(&pause, NULL);
}

struct host_event coll_event_of(void *call)
{
	return (struct host_event){
		.type = NCCL_EVENT_COLL,
		.parent = call,
		.func = "AllReduce",
		.datatype = "ncclFloat32",
		.algorithm = "RING",
		.protocol = "SIMPLE",
		.count = GUEST_COLL_ELEMENTS,
		.channels = 1,
	};
}

void *start_coll(struct guest *guest, uint64_t seq_number, size_t count)
{
	struct host_event event = {
		.type = NCCL_EVENT_COLL,
		.rank = GUEST_RANK,
		.comm_name = "guest",
		.comm_hash = GUEST_COMM_ID,
		.seq_number = seq_number,
		.func = "AllReduce",
		.datatype = "ncclFloat32",
		.algorithm = "RING",
		.protocol = "SIMPLE",
		.func_number = 4,
		.datatype_number = 7,
		.algorithm_number = 1,
		.protocol_number = 2,
		.count = count,
		.channels = 2,
	};

	return start(guest, &event);
}

void *start_p2p(struct guest *guest, const char *func, int peer, size_t count)
{
	struct host_event event = {
		.type = NCCL_EVENT_P2P,
		.rank = GUEST_RANK,
		.comm_name = "guest",
		.comm_hash = GUEST_COMM_ID,
		.func = func,
		.datatype = "ncclInt8",
		.func_number = strcmp(func, "Send") == 0 ? 6 : 7,
		.peer = peer,
		.count = count,
	};

	return start(guest, &event);
}

void *start_proxy_op(struct guest *guest, void *parent, unsigned channel,
		     bool send, int peer, int steps)
{
	struct host_event event = {
		.type = NCCL_EVENT_PROXY_OP,
		.parent = parent,
		.rank = GUEST_RANK,
		.pid = (int)getpid(),
		.channel = (uint8_t)channel,
		.peer = peer,
		.steps = steps,
		.chunk_bytes = 1 << 17,
		.is_send = send,
	};

	return start(guest, &event);
}

void *start_step(struct guest *guest, void *parent, int step)
{
	struct host_event event = {
		.type = NCCL_EVENT_PROXY_STEP,
		.parent = parent,
		.rank = GUEST_RANK,
		.step = step,
	};

	return start(guest, &event);
}

void *start_type(struct guest *guest, uint64_t type, void *parent)
{
	struct host_event event = { .type = type, .parent = parent };

	return start(guest, &event);
}

void *start_kernel(struct guest *guest, void *parent, unsigned channel,
		   uint64_t gpu_timer_ns)
{
	struct host_event event = {
		.type = NCCL_EVENT_KERNEL_CH,
		.parent = parent,
		.channel = (uint8_t)channel,
		.gpu_timer_ns = gpu_timer_ns,
	};

	return start(guest, &event);
}

static const char *loss_name(unsigned loss)
{
	static const char *const names[] = {
#define X(ID, name, ...) name,
		NCS_LOSSES(X)
#undef X
	};

	return names[loss];
}

void check_losses(struct guest *guest, const char *when, ...)
{
	uint64_t expected[NCS_LOSS_COUNT] = { 0 };
	va_list list;
	int loss;

	va_start(list, when);
	while ((loss = va_arg(list, int)) != END_OF_LOSSES)
		expected[loss] = (uint64_t)va_arg(list, int);
	va_end(list);
	view_take(&guest->view);
	for (unsigned i = 0; i < NCS_LOSS_COUNT; i++)
		if (i != NCS_LOSS_OVERWRITTEN &&
		    guest->view.now.losses[i] != expected[i])
			scenario_fail(
				__FILE__, __LINE__, NULL,
				"%s: %s is %llu, not %llu", when, loss_name(i),
				(unsigned long long)guest->view.now.losses[i],
				(unsigned long long)expected[i]);
}

uint64_t count_published(struct guest *guest)
{
	uint64_t count = 0;

	view_take(&guest->view);
	for (size_t i = 0; i < guest->view.now.lane_count; i++)
		count += guest->view.now.lanes[i].published;
	return count;
}

void play_coll(struct guest *guest, uint64_t seq_number)
{
	void *coll = start_coll(guest, seq_number, GUEST_COLL_ELEMENTS);
	void *op, *step;

	stop(guest, coll);
	op = start_proxy_op(guest, coll, 3, true, 2, 1);
	step = start_step(guest, op, 0);
	record(guest, step, NCCL_STATE_STEP_SEND_GPU_WAIT);
	record_size(guest, step, NCCL_STATE_STEP_SEND_WAIT, GUEST_STEP_BYTES);
	stop(guest, step);
	stop(guest, op);
}

void check_still_follows(struct guest *guest, const char *when)
{
	const struct ncs_function_view *function =
		&guest->view.now.functions[COLL_FUNCTION];
	uint64_t done, losses[NCS_LOSS_COUNT];
	struct ncs_record found;

	read_all_records(guest);
	view_take(&guest->view);
	done = function->operations_done;
	memcpy(losses, guest->view.now.losses, sizeof(losses));
	play_coll(guest, 0);
	view_take(&guest->view);
	CHECK_EQUAL(function->operations_done, done + 1, when);
	for (unsigned i = 0; i < NCS_LOSS_COUNT; i++)
		if (i != NCS_LOSS_OVERWRITTEN)
			CHECK_EQUAL(guest->view.now.losses[i], losses[i], when);
	found = expect_record(guest, NCS_EVENT_PROXY_STEP, when);
	CHECK_EQUAL(found.peer, 2, when);
	found = expect_record(guest, NCS_EVENT_PROXY_OP, when);
	CHECK_EQUAL(found.number, 1, when);
	found = expect_record(guest, NCS_EVENT_COLL, when);
	CHECK_EQUAL(found.value, GUEST_COLL_ELEMENTS * COLL_ELEMENT_BYTES,
		    when);
	CHECK(!next_record(guest, &found), "%s: a record too many", when);
}

void *start_any(struct guest *guest, enum ncs_event event)
{
	switch ((int)event) {
	case NCS_EVENT_COLL:
		return start_coll(guest, 0, GUEST_COLL_ELEMENTS);
	case NCS_EVENT_P2P:
		return start_p2p(guest, "Send", 2, GUEST_COLL_ELEMENTS);
	case NCS_EVENT_PROXY_OP:
		return start_proxy_op(guest, NULL, 3, true, 2, 1);
	case NCS_EVENT_PROXY_STEP:
		return start_step(
			guest, start_proxy_op(guest, NULL, 3, true, 2, 1), 0);
	case NCS_EVENT_KERNEL_PHASE:
		return start_type(guest, NCCL_EVENT_KERNEL_PHASE,
				  start_kernel(guest, NULL, 3, 0));
	default:
		return start_type(guest, UINT64_C(1) << event, NULL);
	}
}

const char *event_name(enum ncs_event event)
{
	static const char *const names[] = {
#define X(ID, name, bit, api, help) name,
		NCS_EVENTS(X)
#undef X
	};

	return names[event];
}

void read_all_records(struct guest *guest)
{
	struct ncs_record records[256];
	uint64_t lost = 0;

	while (view_records(&guest->view, records, 256, &lost) > 0)
		;
}

bool is_of_call_lane(unsigned event)
{
	return event == NCS_EVENT_COLL || event == NCS_EVENT_P2P ||
	       event == NCS_EVENT_STREAM || event == NCS_EVENT_CE_COLL ||
	       event == NCS_EVENT_COLL_API || event == NCS_EVENT_P2P_API ||
	       event == NCS_EVENT_KERNEL_LAUNCH;
}

bool next_record(struct guest *guest, struct ncs_record *record)
{
	uint64_t lost = 0;

	return view_records(&guest->view, record, 1, &lost) == 1;
}

struct ncs_record expect_record(struct guest *guest, unsigned event,
				const char *what)
{
	struct ncs_reader *reader = guest->view.reader;
	const struct ncs_header *header = ncs_reader_header(reader);
	bool is_call = header->call_rings.count > 0 && is_of_call_lane(event);
	struct ncs_record found = { 0 };
	uint64_t lost = 0;
	size_t count = 0;

	for (size_t i = 0; i < header->lanes.count && count == 0; i++)
		if (ncs_segment_is_call_lane(header, i) == is_call)
			count = ncs_reader_records(reader, i, &found, 1, &lost);
	CHECK_EQUAL(count, 1, what);
	CHECK_EQUAL(found.event, event, what);
	return found;
}
