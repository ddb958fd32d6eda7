/* SPDX-License-Identifier: MIT */
/* Life cycle of the library and of its process: opened and closed repeatedly,
 * forked, ended in every possible way. Objects must exist while a process lives
 * or if it was killed, and otherwise not; objects of a killed process must be
 * readable. */
#include <dlfcn.h>
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "ncclstat/abi_header.h"
#include "shm/read/clean.h"
#include "test/plugin/scenario.h"
#include "test/unit/support/unit.h"

#define LAST_API 7

/* --- Exported symbols -------------------------------------------------- */

SCENARIO(plugin_exports_a_table_for_each_api)
{
	void *library = dlopen(NCS_PLUGIN_PATH, RTLD_NOW | RTLD_LOCAL);
	char symbol[32];

	CHECK(library, "%s", dlerror());
	for (int api = 0; api <= LAST_API + 1; api++) {
		const struct nccl_profiler *table;

		snprintf(symbol, sizeof(symbol), "ncclProfiler_v%d", api);
		table = dlsym(library, symbol);
		CHECK_EQUAL(table != NULL, api >= 1 && api <= LAST_API, symbol);
		if (!table)
			continue;
		CHECK(strcmp(table->name, "ncclstat") == 0, "%s", symbol);
		CHECK(table->init.v5 && table->start_event && table->stop_event &&
			      table->record_event_state && table->finalize,
		      "%s has a hole", symbol);
	}
	dlclose(library);
}

#define RANGE_CALLS 5 /* of ncclstat/range.h */

/* Any other name could hide a name of NCCL's or of the framework's. */
TEST(plugin_exports_nothing_else)
{
	int file = open(NCS_PLUGIN_PATH, O_RDONLY);
	const Elf64_Ehdr *head;
	const Elf64_Shdr *sections, *names;
	const Elf64_Sym *symbols;
	unsigned exported = 0;
	struct stat status;
	const char *base;

	assert_true(file >= 0);
	assert_int_equal(fstat(file, &status), 0);
	base = mmap(NULL, (size_t)status.st_size, PROT_READ, MAP_PRIVATE, file,
		    0);
	assert_true(base != MAP_FAILED);
	close(file);
	head = (const Elf64_Ehdr *)base;
	sections = (const Elf64_Shdr *)(base + head->e_shoff);
	for (unsigned i = 0; i < head->e_shnum; i++) {
		if (sections[i].sh_type != SHT_DYNSYM)
			continue;
		names = &sections[sections[i].sh_link];
		symbols = (const Elf64_Sym *)(base + sections[i].sh_offset);
		for (size_t k = 0; k < sections[i].sh_size / sizeof(*symbols);
		     k++) {
			const char *name =
				base + names->sh_offset + symbols[k].st_name;

			if (symbols[k].st_shndx == SHN_UNDEF ||
			    ELF64_ST_BIND(symbols[k].st_info) == STB_LOCAL)
				continue;
			if (strncmp(name, "ncclProfiler_v", 14) != 0 &&
			    strncmp(name, "ncclstat_range_", 15) != 0 &&
			    strcmp(name, "InitializeInjectionNvtx2") != 0)
				fail_msg("%s is exported", name);
			exported++;
		}
	}
	munmap((void *)(uintptr_t)base, (size_t)status.st_size);
	assert_int_equal(exported, LAST_API + RANGE_CALLS + 1);
}

/* Each process pays for the library's initialised memory. */
TEST(plugin_has_little_initialised_memory)
{
	int file = open(NCS_PLUGIN_PATH, O_RDONLY);
	uint64_t bytes = 0;
	Elf64_Phdr segment;
	Elf64_Ehdr head;

#ifdef __SANITIZE_ADDRESS__
	skip(); /* it has memory of its own */
#endif
	assert_int_equal(pread(file, &head, sizeof(head), 0), sizeof(head));
	for (unsigned i = 0; i < head.e_phnum; i++) {
		off_t offset = (off_t)(head.e_phoff + i * sizeof(segment));

		assert_int_equal(pread(file, &segment, sizeof(segment), offset),
				 sizeof(segment));
		if (segment.p_type == PT_LOAD && segment.p_flags & PF_W)
			bytes += segment.p_filesz;
	}
	close(file);
	assert_in_range(bytes, 1, 64 << 10);
}

/* --- Open and close ---------------------------------------------------- */

static bool is_mapped(void)
{
	void *library =
		dlopen(NCS_PLUGIN_PATH, RTLD_NOW | RTLD_LOCAL | RTLD_NOLOAD);

	if (library)
		dlclose(library);
	return library != NULL;
}

#define REOPENINGS 1000

SCENARIO(plugin_works_after_thousand_opens_and_closes)
{
	struct guest guest = { 0 };
	unsigned long kib = 0;
	size_t objects = 0;
	void *late = NULL;

	CHECK(!is_mapped(), "the library is loaded before dlopen()");
	for (unsigned i = 0; i < REOPENINGS; i++) {
		guest.host = open_plugin(1 + (int)(i % LAST_API));
		guest.context = init_comm(guest.host, "again", 0);
		if (late) /* a handle of an earlier life */
			stop(&guest, late);
		play_coll(&guest, i);
		late = start_any(&guest, NCS_EVENT_GROUP);
		CHECK(late, "life %u is not followed", i);
		host_finalize(guest.host, guest.context);
		host_close(guest.host);
		CHECK(is_mapped(), "a late callback would crash");
		if (i == REOPENINGS / 5) {
			kib = resident_kib();
			objects = count_objects();
		}
	}
	CHECK(count_objects() <= objects, "objects pile up: %zu, then %zu",
	      objects, count_objects());
	CHECK(resident_kib() < kib + 16384, "memory piles up: %lu to %lu KiB",
	      kib, resident_kib());
	guest.host = open_plugin(LAST_API);
	guest.context = init_comm(guest.host, "last", 3);
	view_open(&guest.view, count_objects() - 1);
	CHECK_EQUAL(guest.view.now.identity.rank, 3, "the newest");
	check_still_follows(&guest, "after 1000 lives");
	guest_close(&guest);
}

/* NCCL may miscount its users, and close the library while a communicator
 * exists. */
SCENARIO(plugin_closed_under_a_communicator_keeps_working)
{
	void *library = dlopen(NCS_PLUGIN_PATH, RTLD_NOW | RTLD_LOCAL);
	struct nccl_event_descr_v5 group = { .type = NCCL_EVENT_GROUP };
	const struct nccl_profiler *table;
	void *context, *handle;
	struct view view;
	int mask = 0;

	CHECK(library, "%s", dlerror());
	table = dlsym(library, "ncclProfiler_v7");
	table->init.v5(&context, 1, &mask, NULL, 1, 2, 0, NULL);
	view_open(&view, 0);
	dlclose(library);
	CHECK(table->start_event(context, &handle, &group) == NCCL_SUCCESS,
	      "as before");
	table->stop_event(handle);
	view_take(&view);
	CHECK_EQUAL(view.now.lanes[1].published, 1, "as before");
	CHECK_EQUAL(count_objects(), 1, "the object is still there");
	/* The next communicator opens it again. */
	library = dlopen(NCS_PLUGIN_PATH, RTLD_NOW | RTLD_LOCAL);
	CHECK(library, "%s", dlerror());
	CHECK(dlsym(library, "ncclProfiler_v7") == (const void *)table,
	      "another copy of it");
	table->start_event(context, &handle, &group);
	table->stop_event(handle);
	table->finalize(context);
	dlclose(library);
	view_take(&view);
	CHECK_EQUAL(view.now.lanes[1].published, 2, "as before");
	CHECK_EQUAL(view.now.liveness, NCS_FINISHED, "finalized");
	view_close(&view);
}

/* --- The end of the process -------------------------------------------- */

static void make_three(struct guest *guest)
{
	guest->host = open_plugin(LAST_API);
	guest->context = init_comm(guest->host, "finalized", 0);
	host_finalize(guest->host, guest->context);
	init_comm(guest->host, "idle", 1);
	guest->context = init_comm(guest->host, "busy", 2);
	start_any(guest, NCS_EVENT_PROXY_STEP);
	CHECK_EQUAL(count_objects(), 3, "one each");
}

SCENARIO(orderly_exit_leaves_no_object)
{
	struct guest guest = { 0 };

	make_three(&guest);
	host_close(guest.host);
}

static void *exit_now(void *argument)
{
	(void)argument;
	exit(EXIT_SUCCESS);
}

static void *call_for_ever(void *argument)
{
	struct guest *guest = argument;

	for (;;)
		play_coll(guest, 0);
	return NULL;
}

/* Threads of NCCL keep making calls while the process exits. */
static void exit_in_full_flight(void *argument)
{
	struct guest guest = { 0 };
	pthread_t threads[3];

	(void)argument;
	make_three(&guest);
	for (unsigned i = 0; i < 2; i++)
		CHECK(pthread_create(&threads[i], NULL, call_for_ever,
				     &guest) == 0,
		      "pthread_create");
	CHECK(pthread_create(&threads[2], NULL, exit_now, NULL) == 0,
	      "pthread_create");
	pthread_join(threads[2], NULL);
	scenario_fail(__FILE__, __LINE__, NULL, "exit() came back");
}

TEST(exit_during_callbacks_leaves_no_object)
{
	for (unsigned i = 0; i < 20; i++)
		scenario_play(exit_in_full_flight, NULL);
}

static void leave_abruptly(void *argument)
{
	struct guest guest = { 0 };

	(void)argument;
	make_three(&guest);
	play_coll(&guest, 0);
	_exit(EXIT_SUCCESS);
}

static void kill_oneself(void *argument)
{
	struct guest guest = { 0 };

	(void)argument;
	make_three(&guest);
	play_coll(&guest, 0);
	kill(getpid(), SIGKILL);
}

/* Reads, in the parent, the objects of a process that was killed. */
static void check_remains(pid_t pid)
{
	static const enum ncs_liveness expected[] = { NCS_FINISHED, NCS_DEAD,
						      NCS_DEAD };
	const struct ncs_channel_view *channel;
	struct view view;
	char why[256];

	if (count_objects() != 3)
		fail_msg("%zu objects are left, not 3", count_objects());
	for (size_t i = 0; i < 3; i++) {
		if (!view_try_open(&view, i, why, sizeof(why)))
			fail_msg("object %zu: %s", i, why);
		assert_int_equal(view.now.liveness, expected[i]);
		assert_true(view.now.process_gone);
		assert_false(view.now.torn);
		assert_int_equal(view.now.identity.rank, i);
		assert_int_equal(ncs_reader_header(view.reader)->pid, pid);
		if (i == 2) {
			channel = view_channel(&view, 3, true, 2);
			assert_non_null(channel);
			assert_int_equal(channel->steps_done, 1);
			assert_int_equal(channel->steps_started, 2);
			assert_int_equal(channel->state,
					 NCS_CHANNEL_SEND_GPU_WAIT);
			assert_int_equal(view.now.functions[COLL_FUNCTION]
						 .operations_done,
					 1);
		}
		view_close(&view);
	}
	assert_int_equal(ncs_clean(scenario_directory, NULL, NULL, NULL), 4);
	assert_int_equal(count_objects(), 0);
}

TEST(killed_process_leaves_its_last_state)
{
	pid_t pid;

	scenario_prepare();
	pid = scenario_start(kill_oneself, NULL);
	scenario_expect_signal(pid, SIGKILL);
	check_remains(pid);
	scenario_clean_up(LEAVES_NOTHING);
	scenario_prepare();
	pid = scenario_start(leave_abruptly, NULL);
	scenario_expect_success(pid);
	check_remains(pid);
	scenario_clean_up(LEAVES_NOTHING);
}

/* --- Killed in the middle of a callback -------------------------------- */

#define KILLS 100
#define STEP_BYTES(number) (64 * ((uint64_t)(number) + 1))

/* Reports that it has begun. */
static void publish_for_ever(void *argument)
{
	int to_parent = *(const int *)argument;
	struct guest guest = { 0 };
	void *op;

	guest.host = open_plugin(LAST_API);
	guest.context = init_comm(guest.host, "busy", 0);
	op = start_proxy_op(&guest, NULL, 3, true, 2, 0);
	CHECK(write(to_parent, "", 1) == 1, "the pipe broke");
	for (int number = 0;; number++) {
		void *step = start_step(&guest, op, number);

		record(&guest, step, NCCL_STATE_STEP_SEND_GPU_WAIT);
		record_size(&guest, step, NCCL_STATE_STEP_SEND_WAIT,
			    STEP_BYTES(number));
		stop(&guest, step);
	}
}

static void check_torn_remains(void)
{
	const struct ncs_channel_view *channel;
	struct ncs_record records[256];
	uint64_t lost = 0, published, first;
	struct view view;
	char why[256];
	size_t count;

	if (!view_try_open(&view, 0, why, sizeof(why)))
		fail_msg("it cannot be read any more: %s", why);
	assert_int_equal(view.now.liveness, NCS_DEAD);
	published = view.now.lanes[1].published;
	channel = view_channel(&view, 3, true, 2);
	assert_non_null(channel);
	if (!view.now.torn) {
		uint64_t done = channel->steps_done;

		assert_in_range(channel->steps_started - done, 0, 1);
		assert_in_range(channel->bytes, 32 * done * (done + 1),
				32 * (done + 1) * (done + 2));
		/* A step's record is published before the step is counted. */
		assert_in_range(published, done, done + 1);
	}
	first = published < ncs_reader_header(view.reader)->ring_records ?
			0 :
			published + 1 -
				ncs_reader_header(view.reader)->ring_records;
	while ((count = view_records(&view, records, 256, &lost)) > 0)
		for (size_t i = 0; i < count; i++, first++) {
			assert_int_equal(records[i].number, first);
			assert_int_equal(records[i].position, first);
			assert_int_equal(records[i].value, STEP_BYTES(first));
			assert_int_equal(records[i].event,
					 NCS_EVENT_PROXY_STEP);
		}
	assert_int_equal(first, published);
	view_close(&view);
}

TEST(process_killed_in_mid_write_leaves_whole_records)
{
	struct timespec pause = { 0, 0 };
	unsigned seed = 1;
	char byte;
	int ends[2];
	pid_t pid;

	for (unsigned i = 0; i < KILLS; i++) {
		assert_int_equal(pipe(ends), 0);
		scenario_prepare();
		pid = scenario_start(publish_for_ever, &ends[1]);
		close(ends[1]);
		assert_int_equal(read(ends[0], &byte, 1), 1);
		close(ends[0]);
		pause.tv_nsec = rand_r(&seed) % 1000000;
		nanosleep(&pause, NULL);
		kill(pid, SIGKILL);
		scenario_expect_signal(pid, SIGKILL);
		check_torn_remains();
		scenario_clean_up(LEAVES_OBJECTS);
	}
}

/* --- Fork -------------------------------------------------------------- */

/* Everything that the plugin publishes for a communicator, but for the parent's
 * heartbeat, which goes on. */
struct published_copy {
	void *bytes;
	size_t size;
};

static void take_image(const struct view *view, struct published_copy *image)
{
	int file = open(ncs_reader_path(view->reader), O_RDONLY);
	struct stat status;

	CHECK(file >= 0 && fstat(file, &status) == 0, "%s",
	      ncs_reader_path(view->reader));
	image->size = (size_t)status.st_size;
	image->bytes = malloc(image->size);
	CHECK(image->bytes && read(file, image->bytes, image->size) ==
				      (ssize_t)image->size,
	      "read");
	((struct ncs_header *)image->bytes)->alive = 0;
	close(file);
}

static void check_unchanged(const struct view *view,
			    const struct published_copy *image)
{
	struct published_copy now;

	take_image(view, &now);
	CHECK_EQUAL(now.size, image->size, "the parent's object");
	for (size_t i = 0; i < now.size; i++)
		if (((char *)now.bytes)[i] != ((char *)image->bytes)[i])
			scenario_fail(__FILE__, __LINE__, NULL,
				      "byte %zu of the parent's object", i);
	free(now.bytes);
}

static void expect_good_end(pid_t child)
{
	int status;

	CHECK(waitpid(child, &status, 0) == child, "waitpid");
	CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 0,
	      "a forked child ended with %d", status);
}

/* Makes every call that a forked child can make with its parent's handles. */
static void use_parents_things(struct guest *guest, void **handles)
{
	for (int event = 0; event < NCS_EVENT_COUNT; event++) {
		struct host_event facts = {
			.type = UINT64_C(1) << event,
			.pid = (int)getpid(),
			.parent = handles[event],
		};
		void *handle;

		for (int state = 0; state <= 31; state++)
			record(guest, handles[event], state);
		handle = start_in(guest, guest->context, &facts);
		if (handle)
			stop(guest, handle);
		facts.pid = (int)getppid();
		handle = start_in(guest, guest->context, &facts);
		if (handle)
			stop(guest, handle);
		stop(guest, handles[event]);
	}
	CHECK(host_finalize(guest->host, guest->context) == NCCL_SUCCESS,
	      "finalize never fails");
}

/* The child uses NCCL itself. Its objects come before or after its parent's by
 * name, depending on the PIDs. */
static void be_a_rank(struct guest *guest, size_t others)
{
	struct view view;
	char prefix[128];
	bool found = false;

	guest->context = init_comm(guest->host, "child", 3);
	CHECK_EQUAL(count_objects(), others + 1, "one of its own");
	snprintf(prefix, sizeof(prefix), "%s/ncclstat.%d.", scenario_directory,
		 (int)getpid());
	for (size_t i = 0; i <= others; i++) {
		view_open(&view, i);
		if (strncmp(ncs_reader_path(view.reader), prefix,
			    strlen(prefix)) == 0) {
			CHECK_EQUAL(ncs_reader_header(view.reader)->pid,
				    getpid(), "its own");
			CHECK_EQUAL(view.now.liveness, NCS_ALIVE, "its own");
			found = true;
			guest->view = view;
		} else {
			view_close(&view);
		}
	}
	CHECK(found, "none has its pid");
	check_still_follows(guest, "in a forked child");
}

static void fork_children(void *argument)
{
	bool rank = *(const bool *)argument;
	void *handles[NCS_EVENT_COUNT];
	struct guest guest;
	struct published_copy image;
	pid_t child;

	guest_open(&guest, LAST_API);
	play_coll(&guest, 0);
	for (int event = 0; event < NCS_EVENT_COUNT; event++)
		handles[event] = start_any(&guest, (enum ncs_event)event);
	take_image(&guest.view, &image);
	child = scenario_fork();
	if (child == 0) {
		struct guest own = guest;

		use_parents_things(&own, handles);
		if (rank) {
			be_a_rank(&own, 1);
			use_parents_things(&guest, handles);
		}
		exit(EXIT_SUCCESS);
	}
	expect_good_end(child);
	check_unchanged(&guest.view, &image);
	CHECK_EQUAL(count_objects(), 1, "the parent's, and none else");
	CHECK(ncs_reader_is_valid(guest.view.reader), "the child removed it");
	view_take(&guest.view);
	CHECK_EQUAL(guest.view.now.liveness, NCS_ALIVE, "the parent lives");
	free(image.bytes);
	check_still_follows(&guest, "after a fork");
	guest_close(&guest);
}

TEST(forked_child_never_changes_its_parents_objects)
{
	bool rank = false;

	scenario_play(fork_children, &rank);
}

TEST(forked_child_publishes_under_its_own_pid)
{
	bool rank = true;

	scenario_play(fork_children, &rank);
}

/* Three generations, each with communicators. */
SCENARIO(grandchildren_are_processes_of_their_own)
{
	struct guest guest = { 0 };
	pid_t child = 0;

	guest.host = open_plugin(LAST_API);
	for (unsigned generation = 0; generation < 3; generation++) {
		be_a_rank(&guest, generation);
		child = scenario_fork();
		if (child > 0) {
			expect_good_end(child);
			CHECK_EQUAL(count_objects(), generation + 1,
				    "the youngest took theirs along");
			check_still_follows(&guest, "after a fork");
			break;
		}
		view_close(&guest.view);
	}
	if (child > 0)
		view_close(&guest.view);
	host_close(guest.host);
}

static long faults_before, faults_after;

static long count_faults(void)
{
	struct rusage usage;

	getrusage(RUSAGE_SELF, &usage);
	return usage.ru_minflt;
}

/* Handlers run in the order of their registration: these before and after the
 * plugin's. */
static void before_plugin(void)
{
	faults_before = count_faults();
}

static void after_plugin(void)
{
	faults_after = count_faults();
}

/* A page that the child writes to is a page that it pays for. A page of zeros
 * that it only reads costs less, and no memory. */
#define FAULTS_MAX 100
#define EXIT_FAULTS_MAX 24

static void fork_cheaply(void *argument)
{
	struct guest guest;
	pid_t child;

	(void)argument;
	CHECK(pthread_atfork(NULL, NULL, before_plugin) == 0, "pthread_atfork");
	guest_open(&guest, LAST_API);
	CHECK(pthread_atfork(NULL, NULL, after_plugin) == 0, "pthread_atfork");
	play_coll(&guest, 0);
	child = scenario_fork();
	if (child == 0)
		_exit(faults_after - faults_before > FAULTS_MAX);
	expect_good_end(child);
	guest_close(&guest);
}

static void skip_unless_faults_are_ours(void)
{
#ifdef __SANITIZE_ADDRESS__
	skip(); /* it touches pages of its own */
#endif
	if (getenv("TEST_EMULATOR"))
		skip(); /* so does an emulator */
}

TEST(forked_child_touches_few_pages)
{
	skip_unless_faults_are_ours();
	scenario_play(fork_cheaply, NULL);
}

/* Faults of a process up to its exit(), in memory that its parent shares. */
static long *faults_at_exit;

static void note_faults(void)
{
	*faults_at_exit = count_faults();
}

static void exit_cheaply(void *argument)
{
	struct guest guest = { 0 };

	(void)argument;
	make_three(&guest);
	CHECK(atexit(note_faults) == 0, "atexit");
}

TEST(exit_touches_few_pages)
{
	struct rusage usage;
	int status;
	pid_t pid;

	skip_unless_faults_are_ours();
	faults_at_exit = mmap(NULL, sizeof(*faults_at_exit),
			      PROT_READ | PROT_WRITE,
			      MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	assert_ptr_not_equal(faults_at_exit, MAP_FAILED);
	scenario_prepare();
	pid = scenario_start(exit_cheaply, NULL);
	assert_int_equal(wait4(pid, &status, 0, &usage), pid);
	assert_int_equal(status, 0);
	assert_in_range(usage.ru_minflt - *faults_at_exit, 0, EXIT_FAULTS_MAX);
	scenario_clean_up(LEAVES_NOTHING);
	munmap(faults_at_exit, sizeof(*faults_at_exit));
}

static bool is_over;

static void *init_for_ever(void *argument)
{
	struct host *host = argument;

	while (!__atomic_load_n(&is_over, __ATOMIC_RELAXED))
		host_finalize(host, init_comm(host, "parent", 0));
	return NULL;
}

static void *publish_until_over(void *argument)
{
	struct guest *guest = argument;

	while (!__atomic_load_n(&is_over, __ATOMIC_RELAXED))
		play_coll(guest, 0);
	return NULL;
}

/* At the time of the fork another thread may be anywhere: in init with the
 * lock, in a callback. The child does not have this thread, and must not wait
 * for it. */
static void fork_in_full_flight(void *argument)
{
	struct guest guest = { 0 };
	struct guest own;
	pthread_t threads[2];
	pid_t child;

	(void)argument;
	/* API 3 has no logger; with others the host's logger has a lock of its
	 * own. */
	guest.host = open_plugin(3);
	guest.context = init_comm(guest.host, "parent", 0);
	CHECK(pthread_create(&threads[0], NULL, init_for_ever, guest.host) == 0,
	      "pthread_create");
	CHECK(pthread_create(&threads[1], NULL, publish_until_over, &guest) ==
		      0,
	      "pthread_create");
	for (unsigned i = 0; i < 40; i++) {
		child = fork();
		CHECK(child >= 0, "fork");
		if (child > 0) {
			expect_good_end(child);
			continue;
		}
		alarm(100);
		own = guest;
		own.context = init_comm(own.host, "child", 3);
		CHECK(own.context != guest.context, "its own");
		CHECK(start_any(&own, NCS_EVENT_GROUP),
		      "the event is not followed");
		play_coll(&own, 0);
		host_finalize(own.host, own.context);
		exit(EXIT_SUCCESS);
	}
	__atomic_store_n(&is_over, true, __ATOMIC_RELAXED);
	pthread_join(threads[0], NULL);
	pthread_join(threads[1], NULL);
	host_finalize(guest.host, guest.context);
	host_close(guest.host);
}

TEST(fork_during_init_and_callbacks_leaves_a_working_child)
{
#ifdef __SANITIZE_ADDRESS__
	/* dlopen() has a lock of its own, which may be held in the child. */
	skip();
#endif
	scenario_play(fork_in_full_flight, NULL);
}

/* --- Cancelled threads -------------------------------------------------- */

/* The thread ends at the first cancellation point outside the plugin. */
static void *init_cancelled(void *argument)
{
	struct host *host = argument;

	pthread_cancel(pthread_self());
	init_comm(host, "cancelled", 1);
	pthread_testcancel();
	return NULL;
}

static void *finalize_cancelled(void *argument)
{
	const struct guest *guest = argument;

	pthread_cancel(pthread_self());
	host_finalize(guest->host, guest->context);
	pthread_testcancel();
	return NULL;
}

static void run_cancelled(void *(*run)(void *argument), void *argument)
{
	pthread_t thread;
	void *result;

	CHECK(pthread_create(&thread, NULL, run, argument) == 0,
	      "pthread_create");
	CHECK(pthread_join(thread, &result) == 0, "pthread_join");
	CHECK(result == PTHREAD_CANCELED, "the thread was not cancelled");
}

SCENARIO(thread_cancelled_in_init_leaves_no_lock)
{
	struct guest guest = { 0 };

	/* A hang is what is to be found. */
	alarm(100);
	/* API 3 has no logger, in which a thread may be cancelled. */
	guest.host = open_plugin(3);
	run_cancelled(init_cancelled, guest.host);
	guest.context = init_comm(guest.host, "second", GUEST_RANK);
	CHECK_EQUAL(count_objects(), 2, "both inits have been completed");
	play_coll(&guest, 0);
	run_cancelled(finalize_cancelled, &guest);
	guest.context = init_comm(guest.host, "third", GUEST_RANK);
	view_open(&guest.view, count_objects() - 1);
	check_still_follows(&guest, "after cancelled threads");
	guest_close(&guest);
}
