/* SPDX-License-Identifier: MIT */
/* Labels of segments as readers have them, and the choice of a job. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "ncclstat/reader.h"
#include "shm/labels.h"
#include "shm/read/image.h"
#include "shm/read/job.h"
#include "test/unit/support/segment_fixture.h"

static struct ncs_labels *labels_of(struct segment_fixture *fixture)
{
	return (struct ncs_labels *)((char *)fixture->header +
				     fixture->header->labels.offset);
}

static struct ncs_reader *open_reader(struct segment_fixture *fixture)
{
	struct ncs_reader *reader;

	assert_int_equal(ncs_reader_open(fixture->writer.path, &reader, NULL, 0),
			 NCS_ATTACHED);
	return reader;
}

static void labels_are_read_from_segment_and_image(void **state)
{
	struct segment_fixture *fixture = *state;
	struct ncs_reader *reader, *second;
	char *image;
	size_t bytes;

	memcpy(labels_of(fixture), "job_id=47\0cluster=a\xff\0",
	       sizeof("job_id=47\0cluster=a\xff\0"));
	reader = open_reader(fixture);
	assert_string_equal(ncs_labels_value(ncs_reader_labels(reader),
					     "job_id"),
			    "47");
	bytes = ncs_reader_header(reader)->segment_bytes;
	image = calloc(1, bytes);
	assert_non_null(image);
	ncs_image_take(reader, image, NULL, NULL);
	assert_int_equal(ncs_reader_open_image(image, bytes, "image", &second,
					       NULL, 0),
			 NCS_ATTACHED);
	assert_string_equal(ncs_labels_value(ncs_reader_labels(second),
					     "cluster"),
			    "a\xef\xbf\xbd");
	ncs_reader_close(second);
	ncs_reader_close(reader);
	free(image);
}

static void labels_out_of_bounds_are_refused(void **state)
{
	struct segment_fixture *fixture = *state;
	struct ncs_reader *reader;
	char why[100] = "";

	fixture->header->labels.offset = fixture->header->segment_bytes - 8;
	assert_int_equal(ncs_reader_open(fixture->writer.path, &reader, why,
					 sizeof(why)),
			 NCS_ATTACH_CORRUPT);
	assert_non_null(strstr(why, "job labels"));
}

/* The test's own process has the segment; its environment as of its start. */
static void an_older_plugins_labels_come_from_the_environment(void **state)
{
	struct segment_fixture *fixture = *state;
	struct ncs_reader *reader;

	if (getenv("TEST_EMULATOR"))
		skip(); /* it has another environment, see main() */
	fixture->header->header_bytes = offsetof(struct ncs_header, labels);
	reader = open_reader(fixture);
	assert_string_equal(ncs_labels_value(ncs_reader_labels(reader),
					     "job_id"),
			    "815");
	ncs_reader_close(reader);
	/* Another process has the number by now. */
	fixture->header->process_start++;
	reader = open_reader(fixture);
	assert_string_equal(ncs_reader_labels(reader), "");
	ncs_reader_close(reader);
	fixture->header->process_start--;
	fixture->header->pid_namespace++;
	reader = open_reader(fixture);
	assert_string_equal(ncs_reader_labels(reader), "");
	ncs_reader_close(reader);
}

static void a_plugin_that_found_no_label_is_believed(void **state)
{
	struct ncs_reader *reader = open_reader(*state);

	assert_string_equal(ncs_reader_labels(reader), "");
	ncs_reader_close(reader);
}

/* Has the segment these labels; checks the name that its job has then. */
static void expect_name(struct segment_fixture *fixture, const char *labels,
			size_t bytes, const char *wanted)
{
	struct ncs_reader *reader;

	memset(labels_of(fixture), 0, sizeof(struct ncs_labels));
	memcpy(labels_of(fixture), labels, bytes);
	reader = open_reader(fixture);
	assert_string_equal(ncs_job_name(ncs_reader_labels(reader)), wanted);
	assert_true(ncs_job_matches(ncs_reader_labels(reader), wanted));
	ncs_reader_close(reader);
}

static void a_job_in_an_array_is_named_as_its_system_prints_it(void **state)
{
	static const char slurm[] = "job_id=4714\0array_job=4711\0"
				    "array_task=3\0";
	static const char lsf[] = "job_id=4711\0array_task=3\0";
	static const char plain[] = "job_id=4711\0array_task=0\0";

	expect_name(*state, slurm, sizeof(slurm), "4711_3");
	expect_name(*state, lsf, sizeof(lsf), "4711[3]");
	expect_name(*state, plain, sizeof(plain), "4711");
}

static void a_job_is_named_by_batch_system_then_run_then_pod(void **state)
{
	const char *name;

	(void)state;
	assert_int_equal(ncs_job_of("pod=p\0run_id=r\0job_id=7\0", &name),
			 NCS_JOB_BATCH);
	assert_string_equal(name, "7");
	assert_int_equal(ncs_job_of("pod=p\0run_id=r\0", &name), NCS_JOB_BATCH);
	assert_string_equal(name, "r");
	assert_int_equal(ncs_job_of("pod=p\0run_id=none\0", &name),
			 NCS_JOB_POD);
	assert_string_equal(name, "p");
	assert_int_equal(ncs_job_of("node=n\0", &name), NCS_JOB_NONE);
	assert_int_equal(ncs_job_of(NULL, &name), NCS_JOB_NONE);
	assert_null(name);
}

static void a_job_is_chosen_by_any_of_its_names(void **state)
{
	static const char labels[] = "job_id=47\0job_step=2\0array_job=40\0"
				     "run_id=llm\0pod=p-0\0namespace=prod\0"
				     "pod_uid=ab-cd\0";
	static const char *const good[] = { "47",  "47.2", "40", "llm", "p-0",
					    "prod/p-0", "ab-cd", "4?", "prod/*" };
	static const char *const bad[] = { "4", "47.1", "471", "p", "prod", "2",
					   "" };

	(void)state;
	for (size_t i = 0; i < sizeof(good) / sizeof(good[0]); i++)
		assert_true(ncs_job_matches(labels, good[i]));
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		assert_false(ncs_job_matches(labels, bad[i]));
	assert_true(ncs_job_matches(labels, NULL));
	assert_true(ncs_job_matches(NULL, NULL));
	assert_false(ncs_job_matches(NULL, "*"));
}

static void ids_of_batch_systems_can_be_short_or_name_a_part(void **state)
{
	static const char pbs[] = "job_id=1234[5].server\0";
	static const char slurm[] = "job_id=4711\0";
	static const char *const good[] = { "1234[5].server", "1234[5]",
					    "1234" };
	static const char *const bad[] = { "123", "1234[", "1234.", "1234[6]",
					   "server" };

	(void)state;
	for (size_t i = 0; i < sizeof(good) / sizeof(good[0]); i++)
		assert_true(ncs_job_matches(pbs, good[i]));
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		assert_false(ncs_job_matches(pbs, bad[i]));
	assert_true(ncs_job_matches(slurm, "4711+1"));
	assert_false(ncs_job_matches(slurm, "4711+"));
	assert_false(ncs_job_matches(slurm, "4711+x"));
	assert_false(ncs_job_matches(slurm, "471+1"));
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(
			labels_are_read_from_segment_and_image,
			segment_fixture_setup, segment_fixture_teardown),
		cmocka_unit_test_setup_teardown(
			labels_out_of_bounds_are_refused, segment_fixture_setup,
			segment_fixture_teardown),
		cmocka_unit_test_setup_teardown(
			an_older_plugins_labels_come_from_the_environment,
			segment_fixture_setup, segment_fixture_teardown),
		cmocka_unit_test_setup_teardown(
			a_plugin_that_found_no_label_is_believed,
			segment_fixture_setup, segment_fixture_teardown),
		cmocka_unit_test_setup_teardown(
			a_job_in_an_array_is_named_as_its_system_prints_it,
			segment_fixture_setup, segment_fixture_teardown),
		cmocka_unit_test(
			ids_of_batch_systems_can_be_short_or_name_a_part),
		cmocka_unit_test(
			a_job_is_named_by_batch_system_then_run_then_pod),
		cmocka_unit_test(a_job_is_chosen_by_any_of_its_names),
	};
	static char job[] = "SLURM_JOB_ID=815";
	static char *environment[] = { job, NULL };

	/* /proc/PID/environ is what the process was started with. An emulator
	 * does not run what it executes. */
	if (argc == 1 && !getenv("TEST_EMULATOR")) {
		char *again[] = { argv[0], job, NULL };

		execve("/proc/self/exe", again, environment);
		return 1;
	}
	return cmocka_run_group_tests(tests, NULL, NULL);
}
