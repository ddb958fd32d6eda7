/* SPDX-License-Identifier: MIT */
/* Control objects as opened by viewers: found by the process of a segment,
 * refused if invalid, harmless if damaged or truncated, and removed after their
 * process has ended. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "ncclstat/reader.h"
#include "shm/control.h"
#include "shm/read/clean.h"
#include "shm/read/paths.h"
#include "shm/read/remote.h"
#include "test/unit/support/segment_fixture.h"
#include "test/unit/support/unit.h"

#define SOMEBODY_ELSE 65534
#define NOW UINT64_C(1000000000000)
#define ONE UINT64_C(0x100000001)

static const struct ncs_detail more = { .kernel = NCS_KERNEL_DETAIL_ALWAYS };
static const struct ncs_change off = { .kernel = true,
				       .to.kernel = NCS_KERNEL_DETAIL_OFF };
static char why[128];

static void make(struct segment_fixture *fixture,
		 const struct ncs_process *process, unsigned serial,
		 struct ncs_writer *writer)
{
	memset(writer, 0x5a, sizeof(*writer)); /* nothing is taken from it */
	assert_int_equal(ncs_writer_create_control(writer, fixture->directory,
						   process, serial),
			 0);
}

static void unmap(struct ncs_writer *writer)
{
	munmap(writer->control, NCS_CONTROL_BYTES);
}

static enum ncs_attach open_it(const char *path)
{
	struct ncs_remote *remote;
	enum ncs_attach result;

	why[0] = '\0';
	result = ncs_remote_open(path, &remote, why, sizeof(why));
	assert_true((remote != NULL) == (result == NCS_ATTACHED));
	assert_true((why[0] != '\0') == (result != NCS_ATTACHED));
	ncs_remote_close(remote);
	return result;
}

/* --- The object -------------------------------------------------------- */

UNIT_FIXTURE(segment_fixture_setup_bare, segment_fixture_teardown)

TEST(new_object_is_a_private_page_without_request)
{
	struct segment_fixture *fixture = *state;
	struct ncs_writer writer;
	struct stat status;
	char path[512];

	make(fixture, &fixture->process, 0, &writer);
	strcpy(path, writer.path);
	assert_int_equal(stat(writer.path, &status), 0);
	assert_int_equal(status.st_mode, S_IFREG | 0600);
	assert_int_equal(status.st_size, NCS_CONTROL_BYTES);
	assert_int_equal(status.st_blocks * 512, NCS_CONTROL_BYTES);
	assert_int_equal(writer.control->request, 0);
	assert_int_equal(writer.control->lease_until_ns, 0);
	assert_int_equal(writer.control->pid, fixture->process.pid);
	ncs_writer_unlink(&writer);
	assert_false(segment_fixture_exists(path));
	ncs_writer_unlink(&writer); /* once is enough */
	unmap(&writer);
}

TEST(existing_object_is_not_taken_over)
{
	struct segment_fixture *fixture = *state;
	struct ncs_writer first, second;

	make(fixture, &fixture->process, 0, &first);
	assert_int_equal(ncs_writer_create_control(&second, fixture->directory,
						   &fixture->process, 0),
			 -EEXIST);
	assert_null(second.control);
	assert_string_equal(second.path, "");
	assert_true(segment_fixture_exists(first.path));
	unmap(&first);
}

TEST(segments_and_control_objects_are_not_confused)
{
	struct segment_fixture *fixture = *state;
	struct ncs_writer control;
	struct ncs_writer segment;
	struct ncs_paths paths;

	make(fixture, &fixture->process, 0, &control);
	assert_int_equal(segment_fixture_create(fixture, &fixture->process, 0,
						&segment),
			 0);
	assert_int_equal(ncs_discover(fixture->directory, &paths), 0);
	assert_int_equal(paths.count, 1);
	assert_string_equal(paths.path[0], segment.path);
	ncs_paths_release(&paths);
	assert_int_equal(ncs_discover_controls(fixture->directory, &paths), 0);
	assert_int_equal(paths.count, 1);
	assert_string_equal(paths.path[0], control.path);
	ncs_paths_release(&paths);
	assert_int_equal(open_it(segment.path), NCS_ATTACH_CORRUPT);
	unmap(&control);
	munmap(segment.header, segment.mapped_bytes);
}

/* --- Opening ----------------------------------------------------------- */

TEST(request_reaches_the_process)
{
	struct segment_fixture *fixture = *state;
	struct ncs_writer writer;
	struct ncs_remote *remote;
	uint64_t word;

	make(fixture, &fixture->process, 0, &writer);
	assert_int_equal(ncs_remote_open(writer.path, &remote, why,
					 sizeof(why)),
			 NCS_ATTACHED);
	assert_int_equal(ncs_remote_owner(remote), geteuid());
	assert_true(ncs_process_is_same(ncs_remote_process(remote),
					&fixture->process));
	word = ncs_control_change(ncs_remote_control(remote), &off);
	assert_true(writer.control->request == word);
	ncs_remote_close(remote);
	assert_true(writer.control->request == word);
	unmap(&writer);
}

static enum ncs_attach find(struct segment_fixture *fixture,
			    const struct ncs_process *process,
			    struct ncs_remote **remote)
{
	why[0] = '\0';
	return ncs_remote_find(fixture->directory, process, geteuid(), remote,
			       why, sizeof(why));
}

TEST(object_is_found_by_the_process_of_a_segment)
{
	struct segment_fixture *fixture = *state;
	struct ncs_process stranger = fixture->process;
	struct ncs_process process = fixture->process;
	struct ncs_writer others, mine;
	struct ncs_remote *remote;

	assert_int_equal(find(fixture, &process, &remote), NCS_ATTACH_ABSENT);
	assert_null(remote);
	assert_true(why[0] != '\0');
	/* An object of this name from another container. */
	stranger.pid_namespace++;
	make(fixture, &stranger, 0, &others);
	assert_int_equal(find(fixture, &process, &remote), NCS_ATTACH_ABSENT);
	make(fixture, &fixture->process, 1, &mine);
	assert_int_equal(find(fixture, &process, &remote), NCS_ATTACHED);
	ncs_control_change(ncs_remote_control(remote), &off);
	assert_true(mine.control->request != 0);
	assert_true(others.control->request == 0);
	ncs_remote_close(remote);
	process.start++;
	assert_int_equal(find(fixture, &process, &remote), NCS_ATTACH_ABSENT);
	unmap(&others);
	unmap(&mine);
}

/* --- One of several ---------------------------------------------------- */

/* Finds the object of the fixture's process, and tells whether it is this one. */
static bool finds(struct segment_fixture *fixture,
		  const struct ncs_writer *writer)
{
	struct ncs_process process = fixture->process;
	struct ncs_remote *remote;
	uint64_t holder;
	bool is_it;

	if (find(fixture, &process, &remote) != NCS_ATTACHED)
		return false;
	holder = ncs_remote_control(remote)->lease_holder;
	writer->control->lease_holder = holder + 1;
	is_it = ncs_remote_control(remote)->lease_holder == holder + 1;
	ncs_remote_close(remote);
	return is_it;
}

TEST(object_that_was_created_last_is_meant)
{
	struct segment_fixture *fixture = *state;
	struct ncs_writer old, left, last;

	make(fixture, &fixture->process, 9, &left);
	assert_true(finds(fixture, &left));
	make(fixture, &fixture->process, 10, &last);
	assert_true(finds(fixture, &last));
	/* Names do not count. */
	left.control->created_ns = last.control->created_ns + 1;
	assert_true(finds(fixture, &left));
	/* One of an earlier plugin, before there were times. */
	make(fixture, &fixture->process, 11, &old);
	old.control->created_ns = 0;
	assert_true(finds(fixture, &left));
	/* At the same time, the last one by name. */
	left.control->created_ns = last.control->created_ns;
	assert_true(finds(fixture, &last));
	unmap(&old);
	unmap(&left);
	unmap(&last);
}

TEST(object_that_is_not_ready_is_not_meant_yet)
{
	struct segment_fixture *fixture = *state;
	struct ncs_writer first, second;

	make(fixture, &fixture->process, 0, &first);
	make(fixture, &fixture->process, 1, &second);
	second.control->version = 0;
	assert_true(finds(fixture, &first));
	second.control->version = NCS_CONTROL_VERSION;
	assert_true(finds(fixture, &second));
	unmap(&first);
	unmap(&second);
}

/* Another user's object, made with all that the process's own says, cannot
 * take its place, also for root, who may open it. */
TEST(object_of_another_user_than_the_segment_is_not_meant)
{
	struct segment_fixture *fixture = *state;
	struct ncs_process process = fixture->process;
	struct ncs_writer mine, forged;
	struct ncs_remote *remote;

	if (geteuid() != 0)
		skip();
	make(fixture, &fixture->process, 1, &forged);
	assert_int_equal(chown(forged.path, SOMEBODY_ELSE, SOMEBODY_ELSE), 0);
	assert_int_equal(find(fixture, &process, &remote), NCS_ATTACH_ABSENT);
	make(fixture, &fixture->process, 0, &mine);
	forged.control->created_ns = UINT64_MAX;
	assert_true(finds(fixture, &mine));
	unmap(&mine);
	unmap(&forged);
}

/* Creates an object again and again, as two copies of the plugin in one process
 * would, and leaves the last one. */
static int create_often(struct segment_fixture *fixture)
{
	struct ncs_writer writer = { 0 };

	for (unsigned i = 0; i < 200; i++) {
		ncs_writer_unlink(&writer);
		if (ncs_writer_create_control(&writer, fixture->directory,
					      &fixture->process,
					      ncs_writer_number(0)) != 0)
			return 1;
	}
	return 0;
}

static pid_t start_creator(struct segment_fixture *fixture)
{
	pid_t pid = fork();

	if (pid == 0)
		_exit(create_often(fixture));
	return pid;
}

TEST(readers_agree_on_one_of_two_that_were_created_at_once)
{
	struct segment_fixture *fixture = *state;
	struct ncs_process process = fixture->process;
	struct ncs_remote *remote, *again;
	pid_t creators[2];
	uint64_t latest = 0;
	struct ncs_paths paths;
	int status, running = 2;

	for (size_t i = 0; i < 2; i++)
		creators[i] = start_creator(fixture);
	while (running > 0) {
		enum ncs_attach found = find(fixture, &process, &remote);

		assert_true(found == NCS_ATTACHED ||
			    found == NCS_ATTACH_ABSENT ||
			    found == NCS_ATTACH_NOT_READY);
		ncs_remote_close(remote);
		if (waitpid(creators[running - 1], &status, WNOHANG) > 0) {
			assert_int_equal(status, 0);
			running--;
		}
	}
	assert_int_equal(ncs_discover_controls(fixture->directory, &paths), 0);
	assert_int_equal(paths.count, 2);
	for (size_t i = 0; i < paths.count; i++) {
		assert_int_equal(ncs_remote_open(paths.path[i], &remote, NULL,
						 0),
				 NCS_ATTACHED);
		if (ncs_remote_control(remote)->created_ns > latest)
			latest = ncs_remote_control(remote)->created_ns;
		ncs_remote_close(remote);
	}
	ncs_paths_release(&paths);
	assert_int_equal(find(fixture, &process, &remote), NCS_ATTACHED);
	assert_int_equal(find(fixture, &process, &again), NCS_ATTACHED);
	assert_true(ncs_remote_control(remote)->created_ns == latest);
	ncs_control_change(ncs_remote_control(remote), &off);
	assert_true(ncs_remote_control(again)->request ==
		    ncs_remote_control(remote)->request);
	ncs_remote_close(remote);
	ncs_remote_close(again);
}

/* --- Refusing ---------------------------------------------------------- */

TEST(invalid_object_is_refused)
{
	struct segment_fixture *fixture = *state;
	const char *link = segment_fixture_path(fixture, "link");
	struct ncs_writer writer;
	char path[512];

	assert_int_equal(open_it("/nonexistent/control"), NCS_ATTACH_ABSENT);
	assert_int_equal(open_it("/dev/null"), NCS_ATTACH_CORRUPT);
	make(fixture, &fixture->process, 0, &writer);
	snprintf(path, sizeof(path), "%s", link);
	assert_int_equal(symlink(writer.path, path), 0);
	assert_int_equal(open_it(path), NCS_ATTACH_CORRUPT);
	writer.control->version = 0;
	assert_int_equal(open_it(writer.path), NCS_ATTACH_NOT_READY);
	writer.control->version = 9u << 16;
	assert_int_equal(open_it(writer.path), NCS_ATTACH_OTHER_VERSION);
	writer.control->version = NCS_CONTROL_VERSION + 1;
	assert_int_equal(open_it(writer.path), NCS_ATTACHED);
	writer.control->magic++;
	assert_int_equal(open_it(writer.path), NCS_ATTACH_CORRUPT);
	writer.control->magic--;
	writer.control->byte_order++;
	assert_int_equal(open_it(writer.path), NCS_ATTACH_CORRUPT);
	writer.control->byte_order--;
	writer.control->control_bytes = sizeof(struct ncs_control) - 8;
	assert_int_equal(open_it(writer.path), NCS_ATTACH_CORRUPT);
	writer.control->control_bytes = sizeof(struct ncs_control);
	unmap(&writer);
	assert_int_equal(truncate(writer.path, NCS_CONTROL_BYTES - 1), 0);
	assert_int_equal(open_it(writer.path), NCS_ATTACH_CORRUPT);
	assert_int_equal(truncate(writer.path, 0), 0);
	assert_int_equal(open_it(writer.path), NCS_ATTACH_NOT_READY);
}

static int open_as_somebody_else(struct segment_fixture *fixture)
{
	struct ncs_paths paths;
	enum ncs_attach result = NCS_ATTACH_FAILED;
	struct ncs_remote *remote;

	if (setegid(SOMEBODY_ELSE) != 0 || seteuid(SOMEBODY_ELSE) != 0 ||
	    ncs_discover_controls(fixture->directory, &paths) != 0)
		return 100;
	result = ncs_remote_open(paths.path[0], &remote, NULL, 0);
	ncs_paths_release(&paths);
	return (int)result;
}

TEST(object_of_another_user_is_denied_whatever_its_mode)
{
	struct segment_fixture *fixture = *state;
	struct ncs_writer writer;

	if (geteuid() != 0)
		skip();
	make(fixture, &fixture->process, 0, &writer);
	assert_int_equal(chmod(fixture->directory, 0777), 0);
	assert_int_equal(WEXITSTATUS(segment_fixture_in_child(
				 open_as_somebody_else, fixture)),
			 NCS_ATTACH_DENIED);
	assert_int_equal(chmod(writer.path, 0666), 0);
	assert_int_equal(WEXITSTATUS(segment_fixture_in_child(
				 open_as_somebody_else, fixture)),
			 NCS_ATTACH_DENIED);
	unmap(&writer);
}

/* --- Damage ------------------------------------------------------------ */

/* Calls every function that uses an object. */
static void use(struct ncs_remote *remote)
{
	struct ncs_control *control = ncs_remote_control(remote);
	struct ncs_control_request request;

	assert_true(memchr(ncs_remote_process(remote)->boot_id, 0,
			   sizeof(ncs_remote_process(remote)->boot_id)));
	ncs_request_unpack(control->request, &request);
	ncs_control_renew_lease(control, ONE, NOW);
	ncs_control_take_lease(control, &more, ONE, NOW);
	ncs_control_change(control, &off);
	ncs_control_drop_lease(control, ONE);
}

TEST(opening_survives_random_damage)
{
	struct segment_fixture *fixture = *state;
	struct ncs_writer writer;
	struct ncs_control valid;
	unsigned opened = 0;

	make(fixture, &fixture->process, 0, &writer);
	valid = *writer.control;
	srandom(1);
	for (unsigned i = 0; i < 20000; i++) {
		unsigned char *bytes = (unsigned char *)writer.control;
		unsigned count = 1 + (unsigned)random() % 4;
		struct ncs_remote *remote;

		*writer.control = valid;
		for (unsigned k = 0; k < count; k++)
			bytes[(size_t)random() % sizeof(valid)] =
				(unsigned char)random();
		if (ncs_remote_open(writer.path, &remote, why, sizeof(why)) !=
		    NCS_ATTACHED)
			continue;
		use(remote);
		ncs_remote_close(remote);
		opened++;
	}
	assert_in_range(opened, 1000, 19000);
	unmap(&writer);
}

TEST(truncated_object_does_no_harm_with_the_guard)
{
	struct segment_fixture *fixture = *state;
	struct ncs_writer writer;
	struct ncs_remote *remote;

	ncs_reader_guard();
	make(fixture, &fixture->process, 0, &writer);
	assert_int_equal(ncs_remote_open(writer.path, &remote, NULL, 0),
			 NCS_ATTACHED);
	unmap(&writer);
	assert_int_equal(truncate(writer.path, 0), 0);
	use(remote);
	ncs_remote_close(remote);
}

/* --- Removing ---------------------------------------------------------- */

TEST(objects_of_dead_processes_are_removed_and_others_kept)
{
	struct segment_fixture *fixture = *state;
	struct ncs_writer gone, half, mine;
	struct ncs_process dead;

	segment_fixture_dead_process(&dead);
	make(fixture, &dead, 0, &gone);
	make(fixture, &dead, 1, &half);
	make(fixture, &fixture->process, 0, &mine);
	half.control->version = 0;
	unmap(&gone);
	unmap(&half);
	assert_int_equal(ncs_clean(fixture->directory, NULL, NULL, NULL), 2);
	assert_false(segment_fixture_exists(gone.path));
	assert_false(segment_fixture_exists(half.path));
	assert_true(segment_fixture_exists(mine.path));
	unmap(&mine);
}
