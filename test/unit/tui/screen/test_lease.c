/* SPDX-License-Identifier: MIT */
/* Tests of the live view's lease, and of asking for a setting as --set does.
 * The process that is asked is this one. The tests show which processes are
 * asked, which are not and why, and the message when a lease is lost. Times are
 * made up. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "analysis/sources/source_shm.h"
#include "shm/control.h"
#include "test/unit/support/segment_fixture.h"
#include "tui/screen/lease.h"
#include "tui/commands/set_command.h"
#include "test/unit/support/unit.h"

#define SECOND UINT64_C(1000000000)
#define NOW (1000 * SECOND)

static const struct ncs_change off = { .sample = true, .to.sample = 5 };

static struct {
	struct segment_fixture *fixture;
	struct ncs_writer writer;
	struct ncs_source *source;
	struct ncs_model model;
	struct ncs_target_filter filter;
	struct ncs_lease lease;
	char text[256];
} test;

static void look(void)
{
	assert_int_equal(ncs_model_update(&test.model, test.source, NOW), 0);
}

static void attach(void)
{
	test.source = ncs_source_open_shm(test.fixture->directory, NULL);
	ncs_model_init(&test.model);
	look();
}

static void detach(void)
{
	ncs_model_release(&test.model);
	test.source->close(test.source);
}

static int setup(void **state)
{
	struct ncs_identity *identity;

	memset(&test, 0, sizeof(test));
	if (segment_fixture_setup(state) != 0)
		return -1;
	test.fixture = *state;
	identity = &test.fixture->header->identity;
	identity->known = NCS_KNOWN_COMM_NAME | NCS_KNOWN_COMM_ID;
	identity->comm_id = 0xabcdef;
	strcpy(identity->comm_name, "world");
	test.filter.directory = test.fixture->directory;
	attach();
	return ncs_writer_create_control(&test.writer, test.fixture->directory,
					 &test.fixture->process, 0);
}

static int teardown(void **state)
{
	ncs_lease_drop(&test.lease);
	detach();
	if (test.writer.control)
		munmap(test.writer.control, NCS_CONTROL_BYTES);
	return segment_fixture_teardown(state);
}

static bool is_leased(void)
{
	struct ncs_control_request request;

	assert_true(ncs_request_unpack(test.writer.control->request, &request));
	return request.leased;
}

static void take(void)
{
	ncs_lease_take(&test.lease, &test.model, &test.filter, NOW, test.text,
		       sizeof(test.text));
}

static void renew(uint64_t at_ns)
{
	ncs_lease_renew(&test.lease, at_ns, test.text, sizeof(test.text));
}

static void says(const char *words)
{
	if (!strstr(test.text, words))
		fail_msg("\"%s\" does not say \"%s\"", test.text, words);
}

/* --- The lease ------------------------------------------------------------ */

UNIT_FIXTURE(setup, teardown)

TEST(lease_is_taken_renewed_and_given_back)
{
	assert_false(ncs_lease_is_held(&test.lease));
	take();
	says("asked 1 process for events=all,sample=1 while");
	assert_true(ncs_lease_is_held(&test.lease));
	assert_true(is_leased());
	assert_int_equal(test.writer.control->lease_holder >> 32, getpid());
	assert_int_equal(test.writer.control->lease_until_ns,
			 NOW + NCS_LEASE_NS);
	renew(NOW + SECOND / 2);
	assert_int_equal(test.writer.control->lease_until_ns,
			 NOW + NCS_LEASE_NS); /* not due yet */
	renew(NOW + SECOND);
	assert_int_equal(test.writer.control->lease_until_ns,
			 NOW + SECOND + NCS_LEASE_NS);
	assert_string_equal(test.text, "");
	ncs_lease_drop(&test.lease);
	assert_false(is_leased());
	assert_false(ncs_lease_is_held(&test.lease));
	ncs_lease_drop(&test.lease);
}

TEST(expired_lease_is_reported_and_not_renewed)
{
	take();
	renew(NOW + NCS_LEASE_NS);
	says("has ended; d takes it again");
	assert_false(ncs_lease_is_held(&test.lease));
	assert_int_equal(test.writer.control->lease_until_ns,
			 NOW + NCS_LEASE_NS);
	take();
	assert_true(ncs_lease_is_held(&test.lease));
}

TEST(lease_taken_by_another_viewer_is_reported)
{
	static const struct ncs_detail less = { .sample = 9 };

	take();
	ncs_control_take_lease(test.writer.control, &less,
			       UINT64_C(4711) << 32 | 1, NOW);
	renew(NOW + SECOND);
	says("viewer 4711 took over the lease");
	assert_false(ncs_lease_is_held(&test.lease));
	assert_true(is_leased());
	assert_int_equal(test.writer.control->lease_until_ns,
			 NOW + NCS_LEASE_NS);
}

TEST(process_without_a_control_object_grants_no_lease)
{
	ncs_writer_unlink(&test.writer);
	take();
	says("asked 0 processes");
	says("it has no control object");
	assert_false(ncs_lease_is_held(&test.lease));
}

/* A process in another time namespace has another monotonic clock. */
TEST(process_in_another_time_namespace_grants_no_lease)
{
	test.writer.control->time_namespace++;
	test.fixture->header->time_namespace++;
	ncs_model_release(&test.model);
	test.source->close(test.source);
	test.source = ncs_source_open_shm(test.fixture->directory, NULL);
	ncs_model_init(&test.model);
	look();
	take();
	says("time namespace");
	assert_false(ncs_lease_is_held(&test.lease));
	assert_false(is_leased());
}

TEST(finished_process_is_not_asked)
{
	test.fixture->header->life = NCS_LIFE_FINISHED;
	look();
	take();
	says("there is no process to ask");
	assert_false(ncs_lease_is_held(&test.lease));
	assert_int_equal(test.writer.control->request, 0);
}

/* --- Asking --------------------------------------------------------------- */

static size_t ask(void)
{
	return ncs_set_ask(&test.model, &test.filter, &off, test.text,
			   sizeof(test.text));
}

TEST(matching_processes_are_asked)
{
	static const char *const matching[] = {
		NULL, "world", "w*d", "*", "0000000000abcdef", "*cdef"
	};

	for (size_t i = 0; i < sizeof(matching) / sizeof(*matching); i++) {
		test.filter.comm = matching[i];
		assert_int_equal(ask(), 1);
		says("asked 1 process for sample=16");
		assert_int_equal(test.writer.control->request >>
					 NCS_CONTROL_SERIAL_SHIFT,
				 i + 1);
	}
	test.filter.comm = "worl";
	assert_int_equal(ask(), 0);
	says("there is no process to ask");
}

/* root could ask all processes, but must name those of other users. */
TEST(processes_of_other_users_are_asked_by_pid_only)
{
	if (geteuid() != 0)
		skip();
	assert_int_equal(chown(test.writer.path, 65534, 65534), 0);
	assert_int_equal(chown(test.fixture->writer.path, 65534, 65534), 0);
	detach();
	attach();
	assert_int_equal(ask(), 0);
	assert_int_equal(test.writer.control->request, 0);
	test.filter.others = true;
	assert_int_equal(ask(), 1);
}

TEST(process_that_cannot_be_asked_is_reported)
{
	test.writer.control->magic++;
	assert_int_equal(ask(), 0);
	says("asked 0 processes");
	says("; not process");
	says("magic");
}
