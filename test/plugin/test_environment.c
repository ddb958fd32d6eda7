/* SPDX-License-Identifier: MIT */
/* The plugin's environment: variables, missing or foreign directories, a full
 * file system, limits. In all cases NCCL must not be affected, and one log line
 * must name the cause. */
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "ncclstat/abi_header.h"
#include "shm/labels.h"
#include "shm/process.h"
#include "shm/read/remote.h"
#include "test/plugin/scenario.h"
#include "test/unit/support/unit.h"

#define LAST_API 7
#define COUNT(array) (sizeof(array) / sizeof((array)[0]))
#define NOBODY 65534

/* The value of NCCL's mask before init: another plugin's, or that of NCCL's RAS
 * client. */
#define SENTINEL 0x40000001

/* --- Init in detail ---------------------------------------------------- */

/* Calls init with a mask and a logger that the test reads. */
static void init_directly(int api, int *mask, void **context)
{
	void *library = dlopen(NCS_PLUGIN_PATH, RTLD_NOW | RTLD_LOCAL);
	enum nccl_result result = NCCL_INTERNAL_ERROR;
	char symbol[32];
	const struct nccl_profiler *table;

	CHECK(library, "%s", dlerror());
	snprintf(symbol, sizeof(symbol), "ncclProfiler_v%d", api);
	table = dlsym(library, symbol);
	CHECK(table, "no %s", symbol);
	*context = NULL;
	if (api < 4)
		result = table->init.v1(context, mask);
	else if (api == 4)
		result = table->init.v4(context, mask, "name", 1, 1, 2, 0,
					host_logger);
	else
		result = table->init.v5(context, 1, mask, "name", 1, 2, 0,
					host_logger);
	CHECK_EQUAL(result, NCCL_SUCCESS, "init may never fail");
	CHECK(*context, "NCCL up to 2.27 finalizes a NULL context, too");
	dlclose(library);
}

/* Makes every callback, with a context that is not published. */
static void call_everything(int api, void *context)
{
	struct guest guest = { .host = open_plugin(api) };

	for (int event = 0; event < NCS_EVENT_COUNT; event++) {
		struct host_event facts = {
			.type = UINT64_C(1) << event,
			.pid = (int)getpid(),
		};
		void *handle = start_in(&guest, context, &facts);

		CHECK(!handle, "%s is followed",
		      event_name((enum ncs_event)event));
		for (int state = 0; state <= 31; state++)
			record(&guest, handle, state);
		stop(&guest, handle);
	}
	CHECK(host_finalize(guest.host, context) == NCCL_SUCCESS,
	      "finalize never fails");
	CHECK(host_finalize(guest.host, context) == NCCL_SUCCESS,
	      "finalize never fails");
	host_close(guest.host);
}

/* Initialises two communicators that cannot be published. API 1 to 3 have no
 * logger. */
static void expect_unseen(int api, const char *told)
{
	unsigned lines = told && api >= 4 ? 1 : 0;
	int mask = SENTINEL;
	void *context;

	for (unsigned i = 0; i < 2; i++) {
		host_log_clear();
		init_directly(api, &mask, &context);
		CHECK_EQUAL(mask, SENTINEL, "nothing is asked for");
		CHECK_EQUAL(host_log_count(), i == 0 ? lines : 0,
			    "one line, once");
		if (i == 0 && lines)
			CHECK(host_log_has(told), "the log does not say: %s",
			      told);
		call_everything(api, context);
		CHECK_EQUAL(count_objects(), 0, "something was left");
	}
}

static void expect_seen(int api)
{
	size_t before = count_objects();
	int mask = SENTINEL;
	void *context;

	host_log_clear();
	init_directly(api, &mask, &context);
	CHECK(mask != SENTINEL, "the plugin asks for events");
	CHECK_EQUAL(count_objects(), before + 1, "a segment is published");
	CHECK_EQUAL(host_log_count(), api >= 4, "a line says where");
}

/* --- Variables --------------------------------------------------------- */

static void be_disabled(void *argument)
{
	expect_unseen(*(const int *)argument, NULL);
}

TEST(disabled_plugin_publishes_and_requests_nothing)
{
	setenv("NCCLSTAT_DISABLE", "1", 1);
	for (int api = 1; api <= LAST_API; api++)
		scenario_play(be_disabled, &api);
	unsetenv("NCCLSTAT_DISABLE");
}

/* By bit: Group 1, Coll 2, P2p 4, ProxyOp 8, ProxyStep 16, ProxyCtrl 32,
 * KernelCh 64, NetPlugin 128, GroupApi to KernelLaunch 256 to 2048, copy
 * engines 4096 to 16384, KernelPhase 32768. */
struct masks {
	int api;
	int off;
	int always;
};

static const struct masks masks[] = {
	{ 1, 31, 31 },         { 2, 31, 31 },     { 3, 159, 159 },
	{ 4, 191, 191 },       { 5, 4031, 4095 }, { 6, 0x7fbf, 0x7fff },
	{ 7, 0x7fbf, 0xffff },
};

struct mask_wanted {
	int api;
	int mask;
};

static void ask_for(void *argument)
{
	const struct mask_wanted *wanted = argument;
	int mask = SENTINEL;
	void *context;
	struct view view;

	init_directly(wanted->api, &mask, &context);
	CHECK_EQUAL(mask, wanted->mask, "events requested from NCCL");
	view_open(&view, 0);
	CHECK_EQUAL(ncs_reader_header(view.reader)->event_mask, wanted->mask,
		    "the value in the header");
	CHECK_EQUAL(ncs_reader_header(view.reader)->api_version, wanted->api,
		    "the value in the header");
	view_close(&view);
	/* A second communicator requests the same events. */
	init_directly(wanted->api, &mask, &context);
	CHECK_EQUAL(mask, wanted->mask, "events requested from NCCL");
	if (wanted->api == 4 && getenv("NCCLSTAT_KERNEL_TIMING") &&
	    strcasecmp(getenv("NCCLSTAT_KERNEL_TIMING"), "always") == 0)
		CHECK(host_log_has("ignored"), "the log does not say so");
}

TEST(each_api_is_asked_for_events_that_its_releases_support)
{
	static const char *const off[] = { NULL, "", "off", "OFF" };
	static const char *const always[] = { "always", "Always" };
	struct mask_wanted wanted;

	for (unsigned i = 0; i < sizeof(masks) / sizeof(masks[0]); i++) {
		wanted.api = masks[i].api;
		for (unsigned k = 0; k < COUNT(off); k++) {
			wanted.mask = masks[i].off;
			if (off[k])
				setenv("NCCLSTAT_KERNEL_TIMING", off[k], 1);
			scenario_play(ask_for, &wanted);
			unsetenv("NCCLSTAT_KERNEL_TIMING");
		}
		for (unsigned k = 0; k < 2; k++) {
			wanted.mask = masks[i].always;
			setenv("NCCLSTAT_KERNEL_TIMING", always[k], 1);
			scenario_play(ask_for, &wanted);
			unsetenv("NCCLSTAT_KERNEL_TIMING");
		}
	}
}

/* The mask is one word for all communicators, and others also write to it. */
SCENARIO(environment_is_read_once_per_process)
{
	void *contexts[2];
	int mask = SENTINEL;

	init_directly(5, &mask, &contexts[0]);
	CHECK_EQUAL(mask, 4031, "the first asks");
	setenv("NCCLSTAT_DIR", "/nowhere", 1);
	setenv("NCCLSTAT_DISABLE", "1", 1);
	setenv("NCCLSTAT_KERNEL_TIMING", "always", 1);
	init_directly(5, &mask, &contexts[1]);
	CHECK_EQUAL(mask, 4031, "the environment is read once a process");
	CHECK_EQUAL(count_objects(), 2, "the environment is read once");
}

static void expect_job(const char *path, const char *job)
{
	struct ncs_reader *reader;
	const char *value;

	CHECK(ncs_reader_open(path, &reader, NULL, 0) == NCS_ATTACHED,
	      "%s is no segment", path);
	value = ncs_labels_value(ncs_reader_labels(reader), "job_id");
	CHECK(value && strcmp(value, job) == 0, "%s tells of job %s", path,
	      value ? value : "none");
	ncs_reader_close(reader);
}

SCENARIO(job_labels_are_read_once_and_in_all_segments)
{
	struct ncs_paths paths;
	void *contexts[2];
	int mask = SENTINEL;

	setenv("SLURM_JOB_ID", "4711", 1);
	init_directly(5, &mask, &contexts[0]);
	setenv("SLURM_JOB_ID", "4712", 1);
	init_directly(5, &mask, &contexts[1]);
	CHECK(ncs_discover(ncs_directory(NULL), &paths) == 0, "no directory");
	CHECK_EQUAL(paths.count, 2, "segments");
	for (size_t i = 0; i < paths.count; i++)
		expect_job(paths.path[i], "4711");
	ncs_paths_release(&paths);
}

static uint64_t default_bytes;

static void talk_nonsense(void *argument)
{
	const char *variable = argument;
	int mask = SENTINEL;
	void *context;

	init_directly(LAST_API, &mask, &context);
	CHECK_EQUAL(mask, 0x7fbf, "the default");
	CHECK_EQUAL(count_objects(), 1, "the default");
	CHECK_EQUAL(count_object_bytes(), default_bytes, "the default");
	CHECK_EQUAL(host_log_count(), 2,
		    "one line for the error, one for the path");
	CHECK(host_log_has(variable), "the line names the variable");
	host_log_clear();
	init_directly(LAST_API, &mask, &context);
	CHECK_EQUAL(host_log_count(), 1, "logged only once");
}

static void measure_default(void *argument)
{
	struct guest guest;
	int to_parent = *(const int *)argument;
	uint64_t bytes;

	guest_open(&guest, LAST_API);
	bytes = count_object_bytes();
	CHECK(write(to_parent, &bytes, sizeof(bytes)) == sizeof(bytes),
	      "the pipe broke");
	guest_close(&guest);
}

TEST(invalid_value_is_logged_once_and_the_default_applies)
{
	static const char *const nonsense[][2] = {
		{ "NCCLSTAT_DISABLE", "yes" },
		{ "NCCLSTAT_DISABLE", "2" },
		{ "NCCLSTAT_DISABLE", "1 " },
		{ "NCCLSTAT_KERNEL_TIMING", "sometimes" },
		{ "NCCLSTAT_KERNEL_TIMING", "1" },
		{ "NCCLSTAT_KERNEL_TIMING", "alwaysalways" },
		{ "NCCLSTAT_RANGES", "-1" },
		{ "NCCLSTAT_RANGES", "65536" },
		{ "NCCLSTAT_RANGES", "many" },
		{ "NCCLSTAT_RANGES", "1K" },
		{ "NCCLSTAT_SAMPLE", "0" },
		{ "NCCLSTAT_SAMPLE", "-4" },
		{ "NCCLSTAT_SAMPLE", "1/4" },
		{ "NCCLSTAT_SAMPLE", "16385" },
		{ "NCCLSTAT_SAMPLE", "99999999999999999999" },
		{ "NCCLSTAT_SAMPLE_SLOW", "10" },
		{ "NCCLSTAT_SAMPLE_SLOW", "ms" },
		{ "NCCLSTAT_SAMPLE_SLOW", "10 ms" },
		{ "NCCLSTAT_SAMPLE_SLOW", "1.5s" },
		{ "NCCLSTAT_SAMPLE_SLOW", "10m" },
		{ "NCCLSTAT_SAMPLE_SLOW", "86401s" },
		{ "NCCLSTAT_SAMPLE_SLOW", "86400000001us" },
		{ "NCCLSTAT_KERNEL_TIMING", "sampled" },
		{ "NCCLSTAT_KERNEL_TIMING", "sampled:64" },
		{ "NCCLSTAT_KERNEL_TIMING", "sampled:auto" },
		{ "NCCLSTAT_KERNEL_TIMING", "auto" },
		{ "NCCLSTAT_SHM_BYTES", "-1" },
		{ "NCCLSTAT_SHM_BYTES", " -1" },
		{ "NCCLSTAT_SHM_BYTES", "+1000000" },
		{ "NCCLSTAT_SHM_BYTES", "lots" },
		{ "NCCLSTAT_SHM_BYTES", "K" },
		{ "NCCLSTAT_SHM_BYTES", "12x" },
		{ "NCCLSTAT_SHM_BYTES", "1KK" },
		{ "NCCLSTAT_SHM_BYTES", "1T" },
		{ "NCCLSTAT_SHM_BYTES", "0x10" },
		{ "NCCLSTAT_SHM_BYTES", "1 " },
		{ "NCCLSTAT_SHM_BYTES", "1@" },
		{ "NCCLSTAT_SHM_BYTES", "99999999999999999999" },
		{ "NCCLSTAT_SHM_BYTES", "17179869184G" },
	};
	char why[128];
	int ends[2];

	assert_int_equal(pipe(ends), 0);
	scenario_play(measure_default, &ends[1]);
	assert_int_equal(read(ends[0], &default_bytes, sizeof(default_bytes)),
			 sizeof(default_bytes));
	close(ends[0]);
	close(ends[1]);
	for (unsigned i = 0; i < sizeof(nonsense) / sizeof(nonsense[0]); i++) {
		snprintf(why, sizeof(why), "%s", nonsense[i][0]);
		print_message("%s='%s'\n", nonsense[i][0], nonsense[i][1]);
		setenv(nonsense[i][0], nonsense[i][1], 1);
		scenario_play(talk_nonsense, why);
		unsetenv(nonsense[i][0]);
	}
}

static void give_room(void *argument)
{
	expect_seen(LAST_API);
	(void)argument;
}

TEST(valid_budgets_are_accepted)
{
	static const char *const good[] = { "1000000", "1000K",
					    "900k",    "2M",
					    "1g",      "18446744073709551615" };

	for (unsigned i = 0; i < sizeof(good) / sizeof(good[0]); i++) {
		setenv("NCCLSTAT_SHM_BYTES", good[i], 1);
		scenario_play(give_room, NULL);
		unsetenv("NCCLSTAT_SHM_BYTES");
	}
}

/* --- Directories ------------------------------------------------------- */

struct unseen {
	void (*arrange)(void);
	const char *told;
	int api;
};

static void arrange_and_init(void *argument)
{
	const struct unseen *unseen = argument;

	unseen->arrange();
	expect_unseen(unseen->api, unseen->told);
}

static void play_unseen(void (*arrange)(void), const char *told)
{
	struct unseen unseen = { .arrange = arrange, .told = told };

	for (unseen.api = 1; unseen.api <= LAST_API; unseen.api++)
		scenario_play(arrange_and_init, &unseen);
}

static void be_full(void)
{
	scenario_mount("size=32k");
}

TEST(full_file_system_logs_one_line_and_raises_no_sigbus)
{
	play_unseen(be_full, "No space left");
}

static void be_without_inodes(void)
{
	scenario_mount("size=16m,nr_inodes=1");
}

TEST(file_system_without_inodes_logs_one_line)
{
	play_unseen(be_without_inodes, "No space left");
}

static void be_read_only(void)
{
	scenario_mount("size=16m");
	if (mount(NULL, scenario_directory, NULL, MS_REMOUNT | MS_RDONLY,
		  NULL) != 0)
		scenario_skip("remounting takes rights");
}

TEST(read_only_file_system_logs_one_line)
{
	play_unseen(be_read_only, "Read-only");
}

static void be_missing(void)
{
	setenv("NCCLSTAT_DIR", "/dev/shm/there/is/no/such/directory", 1);
}

TEST(missing_directory_logs_one_line)
{
	play_unseen(be_missing, "/dev/shm/there/is/no/such/directory");
}

static void be_a_file(void)
{
	setenv("NCCLSTAT_DIR", "/proc/self/status", 1);
}

TEST(file_in_place_of_the_directory_logs_one_line)
{
	play_unseen(be_a_file, "Not a directory");
}

static void be_off_memory(void)
{
	setenv("NCCLSTAT_DIR", "/proc", 1);
}

TEST(directory_that_is_not_in_memory_logs_one_line)
{
	play_unseen(be_off_memory, "not on a tmpfs (set NCCLSTAT_DIR");
}

static void be_unwritable(void)
{
	CHECK(chmod(scenario_directory, 0500) == 0, "chmod");
	if (geteuid() == 0 && (chown(scenario_directory, NOBODY, NOBODY) != 0 ||
			       setgid(NOBODY) != 0 || setuid(NOBODY) != 0))
		scenario_skip("becoming another user needs privileges");
}

TEST(unwritable_directory_logs_one_line)
{
	play_unseen(be_unwritable, "Permission denied");
}

/* The directory's owner could replace the object. */
static void be_another_users(void)
{
	if (chown(scenario_directory, NOBODY, NOBODY) != 0 ||
	    chmod(scenario_directory, 0777) != 0)
		scenario_skip("giving a directory away takes rights");
}

TEST(directory_of_another_user_is_not_used)
{
	if (geteuid() != 0)
		skip();
	play_unseen(be_another_users, "not permitted");
}

SCENARIO(sticky_directory_of_another_user_is_used)
{
	if (chown(scenario_directory, NOBODY, NOBODY) != 0 ||
	    chmod(scenario_directory, 01777) != 0)
		scenario_skip("giving a directory away takes rights");
	expect_seen(LAST_API);
}

/* --- Limits ------------------------------------------------------------ */

static void be_limited_in_size(void)
{
	struct rlimit limit = { 4096, 4096 };

	CHECK(setrlimit(RLIMIT_FSIZE, &limit) == 0, "setrlimit");
}

TEST(file_size_limit_logs_one_line_and_raises_no_signal)
{
	play_unseen(be_limited_in_size, "File too large");
}

/* Takes all file descriptors but those that dlopen() needs. */
static void init_without_files(void *argument)
{
	struct guest guest = { .host = open_plugin(*(const int *)argument) };
	struct rlimit limit, none;
	struct host_comm comm = { .id = 1, .nranks = 2 };

	CHECK(getrlimit(RLIMIT_NOFILE, &limit) == 0, "getrlimit");
	none = limit;
	none.rlim_cur = 0;
	CHECK(setrlimit(RLIMIT_NOFILE, &none) == 0, "setrlimit");
	CHECK(host_init(guest.host, &comm, &guest.context) == NCCL_SUCCESS,
	      "init may never fail");
	CHECK(guest.context, "a context");
	CHECK_EQUAL(host_mask(), 0, "nothing is asked for");
	CHECK(setrlimit(RLIMIT_NOFILE, &limit) == 0, "setrlimit");
	CHECK_EQUAL(count_objects(), 0, "nothing is left");
	CHECK(host_finalize(guest.host, guest.context) == NCCL_SUCCESS,
	      "finalize never fails");
	/* Once there are file descriptors again, init publishes the
	 * communicator. */
	guest.context = init_comm(guest.host, "guest", GUEST_RANK);
	view_open(&guest.view, 0);
	check_still_follows(&guest, "with files again");
	guest_close(&guest);
}

TEST(communicator_without_file_descriptors_is_not_published)
{
	for (int api = 1; api <= LAST_API; api++)
		scenario_play(init_without_files, &api);
}

/* The file system fills up after some communicators: those keep working, and
 * another one is published as soon as there is room. */
SCENARIO(plugin_publishes_again_once_the_file_system_has_room)
{
	char path[128];
	struct guest guest;
	void *unseen;
	int file;

	scenario_mount("size=4m");
	guest_open(&guest, LAST_API);
	snprintf(path, sizeof(path), "%s/filler", scenario_directory);
	file = open(path, O_CREAT | O_WRONLY, 0600);
	CHECK(file >= 0, "%s", path);
	for (off_t bytes = 4 << 20; bytes >= 4096; bytes /= 2)
		while (posix_fallocate(file, lseek(file, 0, SEEK_END), bytes) ==
		       0)
			;
	host_log_clear();
	unseen = init_comm(guest.host, "unseen", 2);
	CHECK_EQUAL(count_objects(), 1, "there is no room");
	CHECK_EQUAL(host_log_count(), 1, "one line");
	CHECK(host_log_has("No space left"), "the log gives the reason");
	CHECK(host_mask() != 0, "the first still wants its events");
	check_still_follows(&guest, "with another that is unseen");
	close(file);
	unlink(path);
	CHECK(host_finalize(guest.host, unseen) == NCCL_SUCCESS, "never");
	unseen = init_comm(guest.host, "seen", 3);
	CHECK_EQUAL(count_objects(), 2, "there is room again");
	host_finalize(guest.host, unseen);
	guest_close(&guest);
}

/* --- Records and counters ---------------------------------------------- */

SCENARIO(object_is_private_to_its_user_and_has_no_holes)
{
	struct ncs_paths paths;
	struct guest guest;
	struct stat status;
	char prefix[128];

	umask(0);
	guest_open(&guest, LAST_API);
	snprintf(prefix, sizeof(prefix), "%s/ncclstat.%d.", scenario_directory,
		 (int)getpid());
	CHECK(ncs_discover(scenario_directory, &paths) == 0, "%s",
	      scenario_directory);
	CHECK(strncmp(paths.path[0], prefix, strlen(prefix)) == 0, "%s",
	      paths.path[0]);
	CHECK(lstat(paths.path[0], &status) == 0, "%s", paths.path[0]);
	CHECK_EQUAL(status.st_mode, S_IFREG | 0400, "only its user may read it");
	CHECK_EQUAL(status.st_uid, geteuid(), "its user's");
	CHECK(status.st_blocks * 512 >= status.st_size,
	      "a hole in it would be a SIGBUS one day");
	ncs_paths_release(&paths);
	guest_close(&guest);
}

/* --- Another user ------------------------------------------------------- */

/* Creates empty files with all names of this kind up to a number. */
static void take_names(const char *prefix, const struct ncs_process *process,
		       unsigned count)
{
	char path[256];

	for (unsigned i = 0; i < count; i++) {
		int file;

		snprintf(path, sizeof(path), "%s/%s%u.%llu.%u",
			 scenario_directory, prefix, process->pid,
			 (unsigned long long)process->start, i);
		file = open(path, O_CREAT | O_EXCL | O_WRONLY, 0600);
		CHECK(file >= 0, "%s: %s", path, strerror(errno));
		close(file);
	}
}

/* Lets another user take the names that a process would have, were they not
 * random. */
static void lose_names(void)
{
	struct ncs_process self;
	pid_t other;
	int status;

	if (geteuid() != 0)
		scenario_skip("becoming another user needs privileges");
	ncs_process_describe(&self);
	CHECK(chmod(scenario_directory, 01777) == 0, "chmod");
	other = fork();
	CHECK(other >= 0, "fork");
	if (other == 0) {
		CHECK(setgid(NOBODY) == 0 && setuid(NOBODY) == 0, "setuid");
		take_names(NCS_NAME_PREFIX, &self, 100000);
		take_names(NCS_CONTROL_PREFIX, &self, 1000);
		_exit(EXIT_SUCCESS);
	}
	CHECK(waitpid(other, &status, 0) == other && status == 0,
	      "the other user did not take them");
}

SCENARIO(another_user_cannot_take_a_process_names_first)
{
	struct guest guest = { 0 };
	struct ncs_remote *remote;
	char why[256];
	size_t place;

	lose_names();
	place = count_objects();
	guest.host = open_plugin(LAST_API);
	guest.context = init_comm(guest.host, "guest", GUEST_RANK);
	CHECK(!host_log_has("cannot"), "nothing is missing");
	/* Its number may be anywhere among theirs, most likely after them. */
	while (!view_try_open(&guest.view, place, why, sizeof(why)))
		CHECK(place-- > 0, "it is not seen");
	CHECK(view_find_remote(&guest.view, &remote, why, sizeof(why)) ==
		      NCS_ATTACHED,
	      "%s", why);
	ncs_remote_close(remote);
	check_still_follows(&guest, "beside another user's files");
	guest_close(&guest);
	scenario_remove_objects();
}

/* Lets another user take more memory than all jobs together may. */
static void lose_memory(void)
{
	char path[128];
	pid_t other;
	int status;

	if (geteuid() != 0)
		scenario_skip("becoming another user needs privileges");
	scenario_mount("size=16m,mode=1777");
	snprintf(path, sizeof(path), "%s/" NCS_NAME_PREFIX "1.1.1",
		 scenario_directory);
	other = fork();
	CHECK(other >= 0, "fork");
	if (other == 0) {
		int file;

		CHECK(setgid(NOBODY) == 0 && setuid(NOBODY) == 0, "setuid");
		file = open(path, O_CREAT | O_EXCL | O_WRONLY, 0600);
		_exit(file < 0 || posix_fallocate(file, 0, 8 << 20) != 0);
	}
	CHECK(waitpid(other, &status, 0) == other && status == 0,
	      "the other user did not take it");
}

SCENARIO(another_user_cannot_take_the_memory_of_all_jobs)
{
	struct guest guest = { 0 };
	char why[256];

	lose_memory();
	unsetenv("NCCLSTAT_SHM_BYTES");
	guest.host = open_plugin(LAST_API);
	guest.context = init_comm(guest.host, "guest", GUEST_RANK);
	CHECK(!host_log_has("cannot"), "nothing is missing");
	CHECK(view_try_open(&guest.view, 1, why, sizeof(why)), "%s", why);
	check_still_follows(&guest, "beside another user's memory");
	guest_close(&guest);
}
