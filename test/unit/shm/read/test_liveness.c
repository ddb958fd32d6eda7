/* SPDX-License-Identifier: MIT */
/* Liveness of processes and segments, by PID, start time, boot and
 * namespaces. */
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "ncclstat/reader.h"
#include "shm/read/liveness.h"
#include "test/unit/support/segment_fixture.h"
#include "test/unit/support/unit.h"

TEST(process_is_gone_if_pid_is_unused_or_reused)
{
	struct ncs_process process;

	ncs_process_describe(&process);
	assert_false(ncs_process_is_gone(&process));
	process.start++; /* the PID is in use again */
	assert_true(ncs_process_is_gone(&process));
	segment_fixture_dead_process(&process);
	assert_true(ncs_process_is_gone(&process));
}

static void *wait_for_ever(void *unused)
{
	for (;;)
		pause();
	return unused;
}

/* A process whose first thread has ended while another goes on stands for one
 * that is ending, which takes microseconds. */
TEST(process_that_is_ending_is_not_a_stopped_one)
{
	pid_t child = fork();
	struct ncs_process self, process;
	pthread_t thread;
	int status;

	assert_true(child >= 0);
	if (child == 0) {
		raise(SIGSTOP);
		pthread_create(&thread, NULL, wait_for_ever, NULL);
		pthread_exit(NULL);
	}
	assert_int_equal(waitpid(child, &status, WUNTRACED), child);
	ncs_process_describe(&self);
	process = self;
	process.pid = (uint32_t)child;
	process.start = ncs_process_start(process.pid);
	assert_true(ncs_process_look(&process, &self).stopped);
	assert_false(ncs_process_look(&process, &self).ending);
	kill(child, SIGCONT);
	while (!ncs_process_look(&process, &self).ending)
		sched_yield();
	assert_int_equal(ncs_process_start(process.pid), process.start);
	assert_false(ncs_process_look(&process, &self).stopped);
	assert_false(ncs_process_look(&process, &self).gone);
	kill(child, SIGKILL);
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_true(ncs_process_look(&process, &self).gone);
}

TEST(process_of_another_boot_is_gone)
{
	struct ncs_process process;

	ncs_process_describe(&process);
	process.boot_id[0] ^= 1;
	assert_true(ncs_process_is_gone(&process));
	process.pid_namespace++;
	assert_true(ncs_process_is_gone(&process));
}

TEST(process_of_unknown_state_counts_as_alive)
{
	struct ncs_process self, dead, process;

	ncs_process_describe(&self);
	segment_fixture_dead_process(&dead);
	process = dead;
	process.pid_namespace++; /* its PID means nothing here */
	assert_false(ncs_process_is_gone(&process));
	process = self;
	process.start = 0; /* it could not read its own */
	assert_false(ncs_process_is_gone(&process));
	process = self;
	process.start++; /* measured in another time namespace */
	process.time_namespace++;
	assert_false(ncs_process_is_gone(&process));
	process = dead;
	process.time_namespace++; /* but no process has its PID */
	assert_true(ncs_process_is_gone(&process));
}

/* Runs as process 1 of a new PID namespace. */
static int judge_from_another_namespace(struct segment_fixture *fixture)
{
	struct ncs_process here;
	pid_t pid;
	int status;

	if (unshare(CLONE_NEWPID) != 0)
		return 77;
	pid = fork();
	if (pid == 0) {
		ncs_process_describe(&here);
		if (here.pid_namespace == fixture->process.pid_namespace)
			_exit(1);
		_exit(ncs_process_look(&fixture->process, &here).gone);
	}
	waitpid(pid, &status, 0);
	return WIFEXITED(status) ? WEXITSTATUS(status) : 2;
}

TEST_WITH(processes_of_another_pid_namespace_count_as_alive,
	  segment_fixture_setup_bare, segment_fixture_teardown)
{
	struct segment_fixture *fixture = *state;
	int status;

	segment_fixture_dead_process(&fixture->process);
	status =
		segment_fixture_in_child(judge_from_another_namespace, fixture);
	assert_true(WIFEXITED(status));
	if (WEXITSTATUS(status) == 77)
		skip();
	assert_int_equal(WEXITSTATUS(status), 0);
}

static struct ncs_process_state state_of(struct segment_fixture *fixture,
					 const struct ncs_process *process,
					 bool held)
{
	struct ncs_process_state state;
	struct ncs_reader *reader;
	struct ncs_writer writer;

	segment_fixture_make(fixture, process, 0, &writer);
	assert_int_equal(ncs_reader_open(writer.path, &reader, NULL, 0),
			 NCS_ATTACHED);
	if (!held)
		segment_fixture_let_go(&writer);
	state = ncs_reader_process(reader, 1);
	if (held)
		segment_fixture_let_go(&writer);
	ncs_writer_unlink(&writer);
	/* A name that is gone tells nothing. */
	assert_int_equal(ncs_reader_process(reader, 1).gone,
			 ncs_process_is_gone(process));
	ncs_reader_close(reader);
	return state;
}

TEST_WITH(segment_that_nobody_holds_has_lost_its_process,
	  segment_fixture_setup_bare, segment_fixture_teardown)
{
	struct segment_fixture *fixture = *state;
	struct ncs_process away = fixture->process, dead, boot;

	segment_fixture_dead_process(&dead);
	away.pid_namespace++;
	boot = fixture->process;
	boot.boot_id[0] ^= 1;
	assert_false(state_of(fixture, &fixture->process, true).gone);
	assert_true(state_of(fixture, &fixture->process, false).gone);
	assert_false(state_of(fixture, &away, true).gone);
	assert_true(state_of(fixture, &away, false).gone);
	assert_false(state_of(fixture, &boot, true).gone);
	assert_true(state_of(fixture, &boot, false).gone);
	assert_true(state_of(fixture, &dead, true).gone);
	assert_true(state_of(fixture, &dead, false).gone);
}

TEST(liveness_follows_life_process_and_last_call)
{
	const uint64_t now = 1000 * UINT64_C(1000000000);
	const uint64_t just = now - NCS_SILENT_AFTER_NS;

	assert_int_equal(ncs_liveness_of(NCS_LIFE_LIVE, false, now, now),
			 NCS_ALIVE);
	assert_int_equal(ncs_liveness_of(NCS_LIFE_LIVE, false, just, now),
			 NCS_ALIVE);
	assert_int_equal(ncs_liveness_of(NCS_LIFE_LIVE, false, just - 1, now),
			 NCS_SILENT);
	/* A call later than now counts as recent. */
	assert_int_equal(ncs_liveness_of(NCS_LIFE_LIVE, false, now + 5, now),
			 NCS_ALIVE);
	assert_int_equal(ncs_liveness_of(NCS_LIFE_LIVE, true, now, now),
			 NCS_DEAD);
	assert_int_equal(ncs_liveness_of(NCS_LIFE_LIVE, true, just - 1, now),
			 NCS_DEAD);
	assert_int_equal(ncs_liveness_of(NCS_LIFE_FINISHED, true, now, now),
			 NCS_FINISHED);
	assert_int_equal(ncs_liveness_of(NCS_LIFE_FINISHED, false, 0, now),
			 NCS_FINISHED);
}
