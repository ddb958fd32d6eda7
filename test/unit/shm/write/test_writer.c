/* SPDX-License-Identifier: MIT */
/* The writer's half of a segment: what it creates, what it refuses, and that it
 * leaves nothing behind. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "ncclstat/reader.h"
#include "shm/object.h"
#include "test/unit/support/segment_fixture.h"
#include "test/unit/support/unit.h"

#define SOMEBODY_ELSE 65534

/* The result of the file system, if a test sets it; see posix_fallocate(). */
static enum {
	RESERVES,
	RESERVES_UNLESS_SIGNALLED, /* tmpfs before Linux 6.11 */
	IS_FULL,
	FORKS, /* another thread forks while the bytes are reserved */
} file_system;

/* The child that FORKS has forked, and the pipe that it waits at. */
static pid_t bystander;
static int bystander_gate[2];

static void fork_bystander(void)
{
	char byte;

	if (pipe(bystander_gate) != 0)
		return;
	bystander = fork();
	if (bystander != 0)
		return;
	close(bystander_gate[1]);
	ncs_writer_forget_unfinished();
	(void)!read(bystander_gate[0], &byte, 1);
	_exit(0);
}

/* Replaces libc's function. */
int posix_fallocate(int file, off_t offset, off_t bytes)
{
	sigset_t blocked;

	if (file_system == IS_FULL)
		return ENOSPC;
	if (file_system == FORKS)
		fork_bystander();
	if (file_system == RESERVES_UNLESS_SIGNALLED) {
		pthread_sigmask(SIG_SETMASK, NULL, &blocked);
		if (!sigismember(&blocked, SIGPROF) ||
		    !sigismember(&blocked, SIGALRM))
			return EINTR;
	}
	return fallocate(file, 0, offset, bytes) == 0 ? 0 : errno;
}

/* True if mremap() fails after it has removed the mapping in its way. */
static bool moving_fails;

/* Replaces libc's function. */
void *mremap(void *from, size_t bytes, size_t new_bytes, int flags, ...)
{
	va_list list;
	void *to;

	va_start(list, flags);
	to = va_arg(list, void *);
	va_end(list);
	if (!moving_fails)
		return (void *)syscall(SYS_mremap, from, bytes, new_bytes,
				       flags, to);
	munmap(to, new_bytes);
	errno = ENOMEM;
	return MAP_FAILED;
}

static int create(struct segment_fixture *fixture, struct ncs_writer *writer)
{
	memset(writer, 0x5a, sizeof(*writer)); /* nothing is taken from it */
	return segment_fixture_create(fixture, &fixture->process, 0, writer);
}

static unsigned files_in(const char *directory)
{
	DIR *stream = opendir(directory);
	unsigned count = 0;

	while (stream && readdir(stream))
		count++;
	if (stream)
		closedir(stream);
	return count - 2;
}

static void assert_refused(struct segment_fixture *fixture, int wanted)
{
	unsigned before = files_in(fixture->directory);
	struct ncs_writer writer;

	assert_int_equal(create(fixture, &writer), wanted);
	assert_null(writer.header);
	assert_string_equal(writer.path, "");
	assert_int_equal(files_in(fixture->directory), before);
	ncs_writer_unlink(&writer);
	assert_int_equal(files_in(fixture->directory), before);
}

/* --- Creating ---------------------------------------------------------- */

UNIT_FIXTURE(segment_fixture_setup_bare, segment_fixture_teardown)

TEST(header_identifies_its_process)
{
	struct segment_fixture *fixture = *state;
	struct ncs_header *header;
	struct ncs_writer writer;
	char path[512];

	assert_int_equal(create(fixture, &writer), 0);
	header = writer.header;
	snprintf(path, sizeof(path), "%s/ncclstat.%u.%llu.0",
		 fixture->directory, (unsigned)getpid(),
		 (unsigned long long)fixture->process.start);
	assert_string_equal(writer.path, path);
	assert_int_equal(header->magic, NCS_MAGIC);
	assert_int_equal(header->byte_order, NCS_BYTE_ORDER);
	assert_int_equal(header->header_bytes, sizeof(struct ncs_header));
	assert_int_equal(header->record_bytes, sizeof(struct ncs_record));
	assert_int_equal(header->segment_bytes, writer.mapped_bytes);
	assert_int_equal(header->pid, getpid());
	assert_int_equal(header->process_start, fixture->process.start);
	assert_int_equal(header->pid_namespace, fixture->process.pid_namespace);
	assert_int_equal(header->time_namespace,
			 fixture->process.time_namespace);
	assert_string_equal(header->boot_id, fixture->process.boot_id);
	assert_string_equal(header->host, fixture->process.host);
	assert_int_equal(header->life, NCS_LIFE_LIVE);
	munmap(header, writer.mapped_bytes);
}

TEST(version_is_stored_last)
{
	struct segment_fixture *fixture = *state;
	struct ncs_writer writer;
	struct ncs_reader *reader;

	assert_int_equal(create(fixture, &writer), 0);
	assert_int_equal(writer.header->version, 0);
	assert_int_equal(ncs_reader_open(writer.path, &reader, NULL, 0),
			 NCS_ATTACH_NOT_READY);
	assert_null(reader);
	ncs_writer_publish(&writer);
	assert_int_equal(writer.header->version, NCS_ABI_VERSION);
	assert_int_equal(ncs_reader_open(writer.path, &reader, NULL, 0),
			 NCS_ATTACHED);
	ncs_reader_close(reader);
	munmap(writer.header, writer.mapped_bytes);
}

TEST(only_the_owner_may_read_the_file_and_nobody_write_it)
{
	struct segment_fixture *fixture = *state;
	mode_t mask = umask(0);
	struct ncs_writer writer;
	struct stat status;

	assert_int_equal(create(fixture, &writer), 0);
	umask(mask);
	assert_int_equal(stat(writer.path, &status), 0);
	assert_int_equal(status.st_mode & 07777, 0400);
	munmap(writer.header, writer.mapped_bytes);
}

TEST(a_group_may_read_but_not_write)
{
	struct segment_fixture *fixture = *state;
	struct ncs_writer writer;
	struct stat status;

	assert_int_equal(create(fixture, &writer), 0);
	assert_int_equal(ncs_writer_share(&writer, getegid()), 0);
	assert_int_equal(stat(writer.path, &status), 0);
	assert_int_equal(status.st_mode & 07777, 0440);
	assert_int_equal(status.st_gid, getegid());
	ncs_writer_unlink(&writer);
	assert_int_equal(ncs_writer_share(&writer, getegid()), -ENOENT);
	munmap(writer.header, writer.mapped_bytes);
}

static mode_t mode_of(const char *path)
{
	struct stat status;

	assert_int_equal(stat(path, &status), 0);
	return status.st_mode & 07777;
}

TEST(sharing_changes_no_other_file_of_that_name)
{
	struct segment_fixture *fixture = *state;
	struct ncs_writer writer;
	char other[512];

	snprintf(other, sizeof(other), "%s",
		 segment_fixture_path(fixture, "other"));
	fclose(fopen(other, "w"));
	assert_int_equal(chmod(other, 0600), 0);
	assert_int_equal(create(fixture, &writer), 0);
	assert_int_equal(unlink(writer.path), 0);
	assert_int_equal(symlink(other, writer.path), 0);
	assert_int_equal(ncs_writer_share(&writer, getegid()), -ELOOP);
	assert_int_equal(mode_of(other), 0600);
	assert_int_equal(unlink(writer.path), 0);
	assert_int_equal(link(other, writer.path), 0);
	assert_int_equal(ncs_writer_share(&writer, getegid()), -ENOENT);
	assert_int_equal(mode_of(other), 0600);
	munmap(writer.header, writer.mapped_bytes);
}

TEST_WITH(numbers_of_names_cannot_be_foreseen_and_sort_by_serial, NULL, NULL)
{
	uint64_t first = ncs_writer_number(7);
	bool differ = false;

	assert_int_equal(first >> 32, 7);
	for (unsigned i = 0; i < 8; i++)
		differ |= ncs_writer_number(7) != first;
	assert_true(differ);
}

TEST(all_bytes_are_reserved)
{
	struct segment_fixture *fixture = *state;
	struct ncs_writer writer;
	struct stat status;

	assert_int_equal(create(fixture, &writer), 0);
	assert_int_equal(stat(writer.path, &status), 0);
	assert_int_equal(status.st_size, writer.mapped_bytes);
	assert_true((uint64_t)status.st_blocks * 512 >= writer.mapped_bytes);
	munmap(writer.header, writer.mapped_bytes);
}

TEST(segment_may_replace_another_mapping)
{
	struct segment_fixture *fixture = *state;
	struct ncs_writer first, second;

	assert_int_equal(create(fixture, &first), 0);
	first.header->created = 1;
	assert_int_equal(ncs_writer_create(&second, fixture->directory,
					   &fixture->process, 1,
					   &segment_fixture_size, first.header),
			 0);
	assert_ptr_equal(second.header, first.header);
	assert_int_equal(second.header->created, 0);
	assert_string_not_equal(second.path, first.path);
	munmap(second.header, second.mapped_bytes);
}

TEST(mapping_that_cannot_be_replaced_stays_usable)
{
	struct segment_fixture *fixture = *state;
	struct ncs_writer first, second;

	assert_int_equal(create(fixture, &first), 0);
	moving_fails = true;
	assert_int_equal(ncs_writer_create(&second, fixture->directory,
					   &fixture->process, 1,
					   &segment_fixture_size, first.header),
			 -ENOMEM);
	moving_fails = false;
	assert_null(second.header);
	assert_int_equal(files_in(fixture->directory), 1);
	/* A late callback writes there. */
	memset(first.header, 1, first.mapped_bytes);
	assert_int_equal(ncs_writer_create(&second, fixture->directory,
					   &fixture->process, 1,
					   &segment_fixture_size, first.header),
			 0);
	assert_ptr_equal(second.header, first.header);
	munmap(second.header, second.mapped_bytes);
}

TEST(process_forked_meanwhile_holds_nothing)
{
	struct segment_fixture *fixture = *state;
	struct ncs_writer writer;
	int file;

	file_system = FORKS;
	assert_int_equal(create(fixture, &writer), 0);
	file_system = RESERVES;
	assert_true(bystander > 0);
	file = ncs_object_open(AT_FDCWD, writer.path);
	assert_true(file >= 0);
	assert_int_equal(ncs_object_holding(file), NCS_HELD);
	munmap(writer.header, writer.mapped_bytes);
	/* The bystander may not have come so far. */
	for (unsigned tries = 0; ncs_object_holding(file) == NCS_HELD; tries++) {
		assert_true(tries < 10000);
		usleep(1000);
	}
	assert_int_equal(ncs_object_holding(file), NCS_ABANDONED);
	assert_int_equal(waitpid(bystander, NULL, WNOHANG), 0);
	close(file);
	close(bystander_gate[0]);
	close(bystander_gate[1]);
	assert_int_equal(waitpid(bystander, NULL, 0), bystander);
}

TEST(unlinking_removes_the_name_and_keeps_the_memory)
{
	struct segment_fixture *fixture = *state;
	struct ncs_writer writer;
	char path[512];

	assert_int_equal(create(fixture, &writer), 0);
	memcpy(path, writer.path, sizeof(path));
	ncs_writer_unlink(&writer);
	assert_int_equal(files_in(fixture->directory), 0);
	writer.header->life = NCS_LIFE_FINISHED;
	assert_int_equal(writer.header->magic, NCS_MAGIC);
	/* A second call does not remove a new file of that name. */
	fclose(fopen(path, "w"));
	ncs_writer_unlink(&writer);
	assert_int_equal(files_in(fixture->directory), 1);
	munmap(writer.header, writer.mapped_bytes);
}

/* --- Refusing ---------------------------------------------------------- */

TEST(existing_file_of_that_name_is_left_alone)
{
	struct segment_fixture *fixture = *state;
	struct ncs_writer writer, again;
	struct stat before, after;

	assert_int_equal(create(fixture, &writer), 0);
	assert_int_equal(stat(writer.path, &before), 0);
	assert_int_equal(create(fixture, &again), -EEXIST);
	assert_null(again.header);
	/* Also not by a caller that cleans up after a failure. */
	ncs_writer_unlink(&again);
	assert_int_equal(stat(writer.path, &after), 0);
	assert_int_equal(after.st_ino, before.st_ino);
	munmap(writer.header, writer.mapped_bytes);
}

TEST(symbolic_link_is_not_followed)
{
	struct segment_fixture *fixture = *state;
	struct ncs_writer writer;
	char name[512];

	assert_int_equal(create(fixture, &writer), 0);
	munmap(writer.header, writer.mapped_bytes);
	snprintf(name, sizeof(name), "%s", writer.path);
	ncs_writer_unlink(&writer);
	assert_int_equal(symlink(segment_fixture_path(fixture, "target"), name),
			 0);
	assert_refused(fixture, -EEXIST);
	assert_int_equal(access(segment_fixture_path(fixture, "target"), F_OK),
			 -1);
}

TEST(path_that_is_no_directory_is_refused)
{
	struct segment_fixture *fixture = *state;
	struct ncs_writer writer;
	char long_name[600];

	fclose(fopen(segment_fixture_path(fixture, "file"), "w"));
	assert_int_equal(ncs_writer_create(
				 &writer, segment_fixture_path(fixture, "file"),
				 &fixture->process, 0, &segment_fixture_size,
				 NULL),
			 -ENOTDIR);
	assert_int_equal(
		ncs_writer_create(
			&writer, segment_fixture_path(fixture, "absent"),
			&fixture->process, 0, &segment_fixture_size, NULL),
		-ENOENT);
	/* A name of the directory so long that no room is left for the
	 * object's. */
	memset(long_name, '/', sizeof(long_name));
	long_name[500] = '\0';
	assert_int_equal(ncs_writer_create(&writer, long_name,
					   &fixture->process, 0,
					   &segment_fixture_size, NULL),
			 -ENAMETOOLONG);
	assert_string_equal(writer.path, "");
	assert_int_equal(files_in(fixture->directory), 1);
}

TEST(directory_that_is_not_in_memory_is_refused)
{
	struct segment_fixture *fixture = *state;
	struct ncs_writer writer;

	assert_int_equal(ncs_writer_create(&writer, "/proc", &fixture->process,
					   0, &segment_fixture_size, NULL),
			 -EMEDIUMTYPE);
	assert_null(writer.header);
}

TEST(directory_of_another_user_is_refused_unless_sticky)
{
	struct segment_fixture *fixture = *state;
	struct ncs_writer writer;

	if (geteuid() != 0)
		skip();
	assert_int_equal(chown(fixture->directory, SOMEBODY_ELSE, 0), 0);
	assert_int_equal(chmod(fixture->directory, 0777), 0);
	assert_refused(fixture, -EPERM);
	assert_int_equal(chmod(fixture->directory, 01777), 0);
	assert_int_equal(create(fixture, &writer), 0);
	munmap(writer.header, writer.mapped_bytes);
}

static int create_as_somebody_else(struct segment_fixture *fixture)
{
	struct ncs_writer writer;

	if (setegid(SOMEBODY_ELSE) != 0 || seteuid(SOMEBODY_ELSE) != 0)
		return 1;
	return create(fixture, &writer) != 0;
}

TEST(own_directory_need_not_be_sticky)
{
	struct segment_fixture *fixture = *state;
	int status;

	if (geteuid() != 0)
		skip();
	assert_int_equal(chown(fixture->directory, SOMEBODY_ELSE, 0), 0);
	status = segment_fixture_in_child(create_as_somebody_else, fixture);
	assert_true(WIFEXITED(status));
	assert_int_equal(WEXITSTATUS(status), 0);
}

TEST(full_file_system_leaves_no_segment)
{
	file_system = IS_FULL;
	assert_refused(*state, -ENOSPC);
	file_system = RESERVES;
}

TEST(full_file_system_leaves_no_control_object)
{
	struct segment_fixture *fixture = *state;
	unsigned before = files_in(fixture->directory);
	struct ncs_writer writer;

	file_system = IS_FULL;
	assert_int_equal(ncs_writer_create_control(&writer, fixture->directory,
						   &fixture->process, 0),
			 -ENOSPC);
	file_system = RESERVES;
	assert_null(writer.control);
	assert_string_equal(writer.path, "");
	assert_int_equal(files_in(fixture->directory), before);
}

/* Uses a real file system of 64 KiB, in the child's own mount namespace. */
static int fill_a_small_file_system(struct segment_fixture *fixture)
{
	struct ncs_writer writer;
	unsigned before;
	int error;

	if (unshare(CLONE_NEWNS) != 0 ||
	    mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) != 0 ||
	    mount("none", fixture->directory, "tmpfs", 0, "size=64k") != 0)
		return 77;
	before = files_in(fixture->directory);
	error = ncs_writer_create(
		&writer, fixture->directory, &fixture->process, 0,
		&(struct ncs_segment_size){ 2, 2, 2, 2, 2, 4096, 0, 0, 0, 0 },
		NULL);
	return !(error == -ENOSPC && !writer.header &&
		 files_in(fixture->directory) == before);
}

TEST(full_tmpfs_leaves_nothing_behind)
{
	int status = segment_fixture_in_child(fill_a_small_file_system, *state);

	assert_true(WIFEXITED(status));
	if (WEXITSTATUS(status) == 77)
		skip();
	assert_int_equal(WEXITSTATUS(status), 0);
}

static int create_over_the_limit(struct segment_fixture *fixture)
{
	struct rlimit limit = { .rlim_cur = 4096, .rlim_max = 4096 };
	struct ncs_writer writer;

	if (setrlimit(RLIMIT_FSIZE, &limit) != 0)
		return 1;
	return create(fixture, &writer) != -EFBIG ||
	       files_in(fixture->directory) != 0;
}

TEST(file_size_limit_does_not_kill_the_process)
{
	int status = segment_fixture_in_child(create_over_the_limit, *state);

	assert_true(WIFEXITED(status));
	assert_int_equal(WEXITSTATUS(status), 0);
}

TEST(signals_do_not_interrupt_the_reservation)
{
	struct segment_fixture *fixture = *state;
	sigset_t before, after;
	struct ncs_writer writer;

	sigemptyset(&before);
	sigaddset(&before, SIGUSR1);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	file_system = RESERVES_UNLESS_SIGNALLED;
	assert_int_equal(create(fixture, &writer), 0);
	file_system = RESERVES;
	pthread_sigmask(SIG_SETMASK, NULL, &after);
	for (int number = 1; number < 32; number++)
		assert_int_equal(sigismember(&after, number),
				 sigismember(&before, number));
	sigemptyset(&before);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	munmap(writer.header, writer.mapped_bytes);
}

/* --- Processes --------------------------------------------------------- */

TEST_WITH(process_describes_itself, NULL, NULL)
{
	struct ncs_process process;

	memset(&process, 0x5a, sizeof(process));
	ncs_process_describe(&process);
	assert_int_equal(process.pid, getpid());
	assert_true(process.start != 0);
	assert_int_equal(process.start, ncs_process_start(process.pid));
	assert_true(process.pid_namespace != 0);
	assert_int_equal(strlen(process.boot_id), 36);
	assert_true(strlen(process.host) < sizeof(process.host));
	assert_true(process.host[0] != '\0');
}

TEST_WITH(process_may_have_any_command_name, NULL, NULL)
{
	static const char *const names[] = {
		") (", "a) R 1 (b", ")))", "1 2 3 4 5 6 7", "\n) S 1", " ",
	};
	uint64_t start = ncs_process_start((uint32_t)getpid());
	char before[16];

	prctl(PR_GET_NAME, before);
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		prctl(PR_SET_NAME, names[i]);
		assert_int_equal(ncs_process_start((uint32_t)getpid()), start);
	}
	prctl(PR_SET_NAME, before);
}

TEST_WITH(missing_process_has_no_start_time, NULL, NULL)
{
	struct ncs_process dead;

	segment_fixture_dead_process(&dead);
	assert_true(dead.start != 0);
	assert_int_equal(ncs_process_start(dead.pid), 0);
	assert_int_equal(ncs_process_start(UINT32_MAX), 0);
	assert_int_equal(ncs_process_start(0), 0);
}

TEST_WITH(zombie_has_no_start_time, NULL, NULL)
{
	siginfo_t info;
	pid_t pid = fork();

	if (pid == 0)
		_exit(0);
	assert_true(pid > 0);
	/* It has ended, and is still a zombie. */
	assert_int_equal(waitid(P_PID, (id_t)pid, &info, WEXITED | WNOWAIT), 0);
	assert_int_equal(kill(pid, 0), 0);
	assert_int_equal(ncs_process_start((uint32_t)pid), 0);
	assert_int_equal(waitpid(pid, NULL, 0), pid);
}

static void *wait_for_ever(void *gate)
{
	char byte;

	(void)!read(*(int *)gate, &byte, 1);
	_exit(0);
}

TEST_WITH(process_without_its_main_thread_is_alive, NULL, NULL)
{
	int gate[2];
	pid_t pid;
	char path[64], line[512] = "";

	assert_int_equal(pipe(gate), 0);
	pid = fork();
	if (pid == 0) {
		pthread_t thread;

		close(gate[1]);
		pthread_create(&thread, NULL, wait_for_ever, &gate[0]);
		pthread_exit(NULL);
	}
	assert_true(pid > 0);
	close(gate[0]);
	snprintf(path, sizeof(path), "/proc/%d/stat", (int)pid);
	for (unsigned tries = 0; !strstr(line, ") Z ") && tries < 10000;
	     tries++) {
		FILE *file = fopen(path, "r");

		assert_non_null(file);
		assert_non_null(fgets(line, sizeof(line), file));
		fclose(file);
		usleep(1000);
	}
	assert_non_null(strstr(line, ") Z "));
	assert_true(ncs_process_start((uint32_t)pid) != 0);
	close(gate[1]);
	assert_int_equal(waitpid(pid, NULL, 0), pid);
}
