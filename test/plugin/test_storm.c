/* SPDX-License-Identifier: MIT */
/* A storm of short jobs in a file system of 64 MB, the /dev/shm of a container.
 *
 * Waves of eight ranks with up to eight communicators each end in every way: in
 * good order, killed in the middle of a callback, by exec(), with a forked child
 * that stays, without memory, without a directory. Each rank has a stand-in for
 * NCCL's own shared memory, which must always find its space. A reader must tell
 * of each killed rank what it did last, and at the end nothing may be left but
 * the latest crash.
 *
 *   STORM_JOBS=96    how many jobs
 *   STORM_SEED=1     for other random numbers
 *
 * Needs a mount namespace; skipped where there is none to be had. */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "shm/read/clean.h"
#include "shm/read/paths.h"
#include "test/plugin/scenario.h"
#include "test/unit/support/unit.h"

#define LAST_API 7
#define NOBODY 65534
#define RANKS 8
#define COMMS 8
#define COLLS 200
#define MIB (1 << 20)

/* NCCL's memory: of each rank while it runs, and of the next job. Objects of
 * ours take at most 8 MB. */
#define NCCL_RANK_BYTES (5 * MIB)
#define NCCL_JOB_BYTES (56 * MIB)
#define OUR_BYTES_MAX (8 * MIB)

enum ending {
	RETURN,
	EXIT,
	EXIT_AT_ONCE, /* _exit() */
	TERMINATED,
	KILLED,
	ABORTED,
	EXEC,
	FORK,     /* killed, while a forked child stays */
	NO_MEMORY,
	CANCELLED,
	FULL,     /* a directory on a full file system */
	REMOVED,  /* the directory, in the middle */
	UNREADABLE, /* the directory, for another user */
	OTHER_USER,
	ENDINGS
};

static const struct {
	const char *name;
	int signal;  /* by which it ends; 0: it ends with status 0 */
	bool leaves; /* objects */
	bool needs_root;
} endings[ENDINGS] = {
	[RETURN] = { "return", 0, false, false },
	[EXIT] = { "exit", 0, false, false },
	[EXIT_AT_ONCE] = { "_exit", 0, true, false },
	[TERMINATED] = { "SIGTERM", SIGTERM, true, false },
	[KILLED] = { "SIGKILL", SIGKILL, true, false },
	[ABORTED] = { "abort", SIGABRT, true, false },
	[EXEC] = { "exec", 0, false, false },
	[FORK] = { "fork", SIGKILL, true, false },
	[NO_MEMORY] = { "no memory", 0, false, false },
	[CANCELLED] = { "a cancelled thread", 0, false, false },
	[FULL] = { "a full directory", 0, false, true },
	[REMOVED] = { "a removed directory", 0, false, false },
	[UNREADABLE] = { "an unreadable directory", 0, false, true },
	[OTHER_USER] = { "another user", SIGKILL, true, true },
};

/* A rank, in memory that it shares with the storm. */
struct rank {
	enum ending ending;
	pid_t pid;
	unsigned seed;
	uint32_t published; /* number of its segments after its inits */
	uint32_t done;      /* number of operations that are surely counted */
};

static struct rank *ranks;
static uint32_t *arrived; /* number of ranks that have made communicators */
static bool is_root;

/* A pipe that only the storm itself has open for writing. */
static int lifeline[2];

/* --- A rank ------------------------------------------------------------- */

static void *call_for_ever(void *argument)
{
	struct guest *guest = argument;

	/* Sanitizers take the frames that a thread leaves so for live ones. */
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
	pthread_setcanceltype(PTHREAD_CANCEL_ASYNCHRONOUS, NULL);
#endif
	for (uint64_t i = 0;; i++) {
		play_coll(guest, i);
		pthread_testcancel();
	}
	return NULL;
}

static void let_a_thread_be_cancelled(struct guest *guest)
{
	struct timespec pause = { 0, 300000 };
	pthread_t thread;

	CHECK(pthread_create(&thread, NULL, call_for_ever, guest) == 0,
	      "pthread_create");
	nanosleep(&pause, NULL);
	pthread_cancel(thread);
	pthread_join(thread, NULL);
}

struct blow {
	int signal;
	long delay_ns;
};

static void *strike(void *argument)
{
	const struct blow *blow = argument;
	struct timespec pause = { 0, blow->delay_ns };

	nanosleep(&pause, NULL);
	kill(getpid(), blow->signal);
	return NULL;
}

/* Has the process killed by a signal some time later, in any callback. */
static void be_killed(struct rank *self)
{
	static struct blow blow;
	pthread_t thread;

	blow.signal = endings[self->ending].signal;
	blow.delay_ns = rand_r(&self->seed) % 2000000;
	CHECK(pthread_create(&thread, NULL, strike, &blow) == 0,
	      "pthread_create");
}

/* Makes a file as NCCL does: reserved, and without a name. Returns its
 * descriptor. */
static int be_nccl(int bytes)
{
	char path[128];
	int file;

	snprintf(path, sizeof(path), "%s/nccl-%d", scenario_directory,
		 (int)getpid());
	file = open(path, O_CREAT | O_EXCL | O_RDWR, 0600);
	CHECK(file >= 0, "NCCL's memory: %s", strerror(errno));
	unlink(path);
	errno = posix_fallocate(file, 0, bytes);
	CHECK(errno == 0, "NCCL finds no space for %d bytes: %s", bytes,
	      strerror(errno));
	return file;
}

static void become_nobody(void)
{
	CHECK(setgid(NOBODY) == 0 && setuid(NOBODY) == 0, "setuid");
}

/* Gives the rank a directory of its own. */
static const char *use_own_directory(mode_t mode)
{
	static char path[128];

	snprintf(path, sizeof(path), "%s/own-%d", scenario_directory,
		 (int)getpid());
	CHECK(mkdir(path, mode) == 0, "%s: %s", path, strerror(errno));
	setenv("NCCLSTAT_DIR", path, 1);
	return path;
}

static void limit_memory(void)
{
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
	struct rlimit limit = { 0, 0 };
	unsigned long pages = 0;
	FILE *file = fopen("/proc/self/statm", "r");

	CHECK(file && fscanf(file, "%lu", &pages) == 1, "/proc is not there");
	fclose(file);
	limit.rlim_cur = limit.rlim_max =
		(pages << 12) + (rlim_t)(256 << 10);
	CHECK(setrlimit(RLIMIT_AS, &limit) == 0, "setrlimit");
#endif
}

static void prepare(struct rank *self)
{
	switch (self->ending) {
	case FULL:
		CHECK(unshare(CLONE_NEWNS) == 0 &&
			      mount("none", use_own_directory(0700), "tmpfs", 0,
				    "size=32k") == 0,
		      "mount: %s", strerror(errno));
		break;
	case REMOVED:
		use_own_directory(0700);
		break;
	case UNREADABLE:
		use_own_directory(0700);
		become_nobody();
		break;
	case OTHER_USER:
		become_nobody();
		break;
	case NO_MEMORY:
		limit_memory();
		break;
	default:
		break;
	}
}

/* Stays until the storm is over, in whatever way. */
static void stay(int nccl)
{
	char byte;

	close(nccl);
	(void)!read(lifeline[0], &byte, 1);
	_exit(EXIT_SUCCESS);
}

/* Begins to end, at a random call. `nccl` is NCCL's descriptor. Most endings end the process here. */
static void begin_to_end(struct rank *self, struct guest *guest, int nccl)
{
	char path[160];

	switch (self->ending) {
	case EXIT:
		exit(EXIT_SUCCESS);
	case EXIT_AT_ONCE:
		_exit(EXIT_SUCCESS);
	case ABORTED:
		signal(SIGABRT, SIG_DFL);
		abort();
	case EXEC:
		setenv("STORM_AGAIN", "1", 1);
		execl("/proc/self/exe", "test_storm", (char *)NULL);
		scenario_fail(__FILE__, __LINE__, NULL, "exec failed");
	case FORK:
		if (fork() == 0)
			stay(nccl);
		kill(getpid(), SIGKILL);
		break;
	case TERMINATED:
	case KILLED:
	case OTHER_USER:
		be_killed(self);
		break;
	case CANCELLED:
		let_a_thread_be_cancelled(guest);
		break;
	case REMOVED:
		snprintf(path, sizeof(path), "rm -r %s/own-%d",
			 scenario_directory, (int)getpid());
		CHECK(system(path) == 0, "rm");
		break;
	default:
		break;
	}
}

static uint32_t count_own(void)
{
	struct ncs_paths paths;
	char part[32];
	uint32_t count = 0;

	snprintf(part, sizeof(part), "/ncclstat.%d.", (int)getpid());
	if (ncs_discover(getenv("NCCLSTAT_DIR"), &paths) != 0)
		return 0;
	for (size_t i = 0; i < paths.count; i++)
		count += strstr(paths.path[i], part) != NULL;
	ncs_paths_release(&paths);
	return count;
}

static void *make_comm(struct host *host, int rank, unsigned number)
{
	char name[16];
	struct host_comm comm = {
		.id = number + 1,
		.name = name,
		.nnodes = 1,
		.nranks = RANKS,
		.rank = rank,
	};
	void *context = NULL;

	snprintf(name, sizeof(name), "%u", number);
	CHECK(host_init(host, &comm, &context) == NCCL_SUCCESS && context,
	      "init never fails");
	return context;
}

/* Waits for all ranks, for ten seconds at most: as in NCCL, no job works, nor
 * ends, before all of its ranks are there. */
static void wait_for_all(void)
{
	__atomic_add_fetch(arrived, 1, __ATOMIC_RELAXED);
	for (unsigned tries = 0;
	     __atomic_load_n(arrived, __ATOMIC_RELAXED) < RANKS; tries++) {
		CHECK(tries < 50000, "a rank does not come");
		usleep(200);
	}
}

/* A rank. Its first communicator is the one that works. */
static void be_a_rank(int number)
{
	struct rank *self = &ranks[number];
	unsigned comms = 1 + (unsigned)rand_r(&self->seed) % COMMS;
	unsigned end = (unsigned)rand_r(&self->seed) % COLLS;
	struct guest guest = { 0 };
	bool ends_by_signal = endings[self->ending].signal != 0;
	void *contexts[COMMS];
	int nccl = -1;

	close(lifeline[1]);
	unsetenv("NCCLSTAT_SHM_BYTES");
	guest.host = open_plugin(LAST_API);
	prepare(self);
	for (unsigned i = 0; i < comms; i++)
		contexts[i] = make_comm(guest.host, number, i);
	guest.context = contexts[0];
	self->published = count_own();
	if (self->ending != NO_MEMORY && !(is_root && geteuid() != 0))
		nccl = be_nccl(NCCL_RANK_BYTES);
	wait_for_all();
	for (unsigned i = 0; i < COLLS || ends_by_signal; i++) {
		if (i == end)
			begin_to_end(self, &guest, nccl);
		play_coll(&guest, i);
		__atomic_store_n(&self->done, i + 1, __ATOMIC_RELAXED);
	}
	for (unsigned i = 0; i < comms; i++)
		CHECK(host_finalize(guest.host, contexts[i]) == NCCL_SUCCESS,
		      "finalize never fails");
	host_close(guest.host);
	exit(EXIT_SUCCESS);
}

/* A rank after exec(): a job once more, which ends in good order. */
static int be_a_rank_again(void)
{
	struct guest guest = { 0 };

	guest.host = open_plugin(LAST_API);
	guest.context = make_comm(guest.host, 0, 0);
	play_coll(&guest, 0);
	CHECK(host_finalize(guest.host, guest.context) == NCCL_SUCCESS,
	      "finalize never fails");
	host_close(guest.host);
	return EXIT_SUCCESS;
}

/* --- The storm ---------------------------------------------------------- */

static bool is_of(const char *path, pid_t pid)
{
	const char *name = strrchr(path, '/');
	int found;

	return name && sscanf(name, "/ncclstat.%d.", &found) == 1 &&
	       found == pid;
}

/* Reads a segment that a killed rank has left. Returns true if it is the first
 * communicator's. */
static bool check_last_state(const struct rank *rank, size_t place)
{
	const char *name = endings[rank->ending].name;
	struct view view;
	uint64_t done;
	bool first;

	view_open(&view, place);
	CHECK_EQUAL(view.now.liveness, NCS_DEAD, name);
	first = strcmp(view.now.identity.comm_name, "0") == 0;
	done = view.now.functions[COLL_FUNCTION].operations_done;
	if (first && !view.now.torn)
		CHECK(done == rank->done || done == rank->done + 1,
		      "%s: %llu operations, and %u were done", name,
		      (unsigned long long)done, rank->done);
	view_close(&view);
	return first;
}

static void check_rank(const struct rank *rank, int status)
{
	const char *name = endings[rank->ending].name;
	int killed_by = endings[rank->ending].signal;
	struct ncs_paths paths;
	unsigned left = 0, first = 0;

	CHECK(killed_by ? WIFSIGNALED(status) && WTERMSIG(status) == killed_by :
			  WIFEXITED(status) && WEXITSTATUS(status) == 0,
	      "a rank that ends by %s ended with %#x", name, status);
	CHECK(ncs_discover(scenario_directory, &paths) == 0, "%s",
	      scenario_directory);
	for (size_t i = 0; i < paths.count; i++) {
		if (!is_of(paths.path[i], rank->pid))
			continue;
		left++;
		first += check_last_state(rank, i);
	}
	ncs_paths_release(&paths);
	if (!endings[rank->ending].leaves) {
		CHECK_EQUAL(left, 0, name);
		return;
	}
	CHECK_EQUAL(left, rank->published, name);
	CHECK(rank->published == 0 || first == 1,
	      "%s: the first communicator is gone", name);
}

static uint64_t bytes_of_all(void)
{
	return count_object_bytes() + 4096 * (uint64_t)count_controls();
}

/* Plays a wave, waits for all of it, and looks at what it has left. */
static void play_wave(void)
{
	int status[RANKS];

	*arrived = 0;
	for (int i = 0; i < RANKS; i++) {
		pid_t pid;

		fflush(NULL);
		pid = fork();
		CHECK(pid >= 0, "fork");
		if (pid == 0)
			be_a_rank(i);
		ranks[i].pid = pid;
	}
	for (int i = 0; i < RANKS; i++)
		CHECK(waitpid(ranks[i].pid, &status[i], 0) == ranks[i].pid,
		      "waitpid");
	for (int i = 0; i < RANKS; i++)
		check_rank(&ranks[i], status[i]);
	CHECK(bytes_of_all() <= OUR_BYTES_MAX, "%llu bytes are taken",
	      (unsigned long long)bytes_of_all());
}

/* Another user needs root. An emulator does not run what a program executes. */
static bool is_possible(enum ending ending)
{
	if (ending == EXEC)
		return !getenv("TEST_EMULATOR");
	return is_root || !endings[ending].needs_root;
}

/* Gives the ranks their endings, each in turn. */
static void choose_endings(unsigned wave, bool orderly, unsigned *seed)
{
	for (unsigned i = 0; i < RANKS; i++) {
		enum ending ending =
			(enum ending)((wave * RANKS + i) % ENDINGS);

		memset(&ranks[i], 0, sizeof(ranks[i]));
		if (orderly || !is_possible(ending))
			ending = RETURN;
		ranks[i].ending = ending;
		ranks[i].seed = (unsigned)rand_r(seed);
	}
}

static bool put(const char *path, const char *text)
{
	FILE *file = fopen(path, "w");
	bool good = file && fputs(text, file) >= 0;

	return file && fclose(file) == 0 && good;
}

/* Becomes the same user in a user namespace, in which mounting is allowed. */
static bool enter_user_namespace(void)
{
	char users[64], groups[64];

	snprintf(users, sizeof(users), "%u %u 1", geteuid(), geteuid());
	snprintf(groups, sizeof(groups), "%u %u 1", getegid(), getegid());
	return unshare(CLONE_NEWUSER) == 0 &&
	       put("/proc/self/setgroups", "deny") &&
	       put("/proc/self/uid_map", users) &&
	       put("/proc/self/gid_map", groups);
}

/* Makes a file system of 64 MB. */
static void make_file_system(void)
{
	is_root = geteuid() == 0;
	if ((!is_root && !enter_user_namespace()) ||
	    unshare(CLONE_NEWNS) != 0 ||
	    mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) != 0 ||
	    mount("none", scenario_directory, "tmpfs", 0,
		  "size=64m,mode=1777") != 0)
		scenario_skip("no mount namespace to be had");
}

static unsigned number_of(const char *variable, unsigned otherwise)
{
	const char *text = getenv(variable);

	return text ? (unsigned)strtoul(text, NULL, 10) : otherwise;
}

static void check_space_for_next_job(void)
{
	pid_t pid = fork();
	int status;

	if (pid == 0) {
		be_nccl(NCCL_JOB_BYTES);
		_exit(EXIT_SUCCESS);
	}
	CHECK(waitpid(pid, &status, 0) == pid && status == 0,
	      "the next job has no room");
}

/* All that is left must be of the latest wave that crashed, unless it belongs to
 * a user who has not come back. */
static void check_remains(const pid_t *latest)
{
	struct ncs_paths paths;
	struct stat status;

	CHECK(ncs_discover(scenario_directory, &paths) == 0, "%s",
	      scenario_directory);
	CHECK(paths.count > 0, "the latest crash is gone");
	for (size_t i = 0; i < paths.count; i++) {
		bool known = stat(paths.path[i], &status) != 0 ||
			     status.st_uid != geteuid();

		for (int k = 0; k < RANKS; k++)
			known = known || is_of(paths.path[i], latest[k]);
		CHECK(known, "%s is left of an earlier crash", paths.path[i]);
	}
	ncs_paths_release(&paths);
}

SCENARIO(short_jobs_that_end_in_every_way_hurt_nobody)
{
	unsigned waves = (number_of("STORM_JOBS", 96) + RANKS - 1) / RANKS;
	unsigned seed = number_of("STORM_SEED", 1);
	pid_t latest[RANKS] = { 0 };

	alarm(600);
	ranks = mmap(NULL, RANKS * sizeof(*ranks) + sizeof(*arrived),
		     PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	CHECK(ranks != MAP_FAILED && pipe(lifeline) == 0, "%s",
	      strerror(errno));
	arrived = (uint32_t *)(ranks + RANKS);
	make_file_system();
	for (unsigned wave = 0; wave < waves; wave++) {
		choose_endings(wave, false, &seed);
		play_wave();
		check_space_for_next_job();
		for (unsigned i = 0; i < RANKS; i++)
			latest[i] = ranks[i].pid;
	}
	choose_endings(waves, true, &seed);
	play_wave();
	check_remains(latest);
	CHECK(ncs_clean(scenario_directory, NULL, NULL, NULL) > 0, "--clean");
	CHECK_EQUAL(count_objects() + count_controls(), 0, "after --clean");
}

int main(void)
{
	if (getenv("STORM_AGAIN"))
		return be_a_rank_again();
	return unit_run();
}
