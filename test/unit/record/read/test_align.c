/* SPDX-License-Identifier: MIT */
/* Tests of aligning recordings of several hosts. The hosts are simulated, so
 * that their clocks are known. */
#include <dirent.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "ncclstat/names.h"
#include "record/read/align.h"
#include "test/unit/support/simulator/sim_recording.h"
#include "test/unit/support/unit.h"

#define US UINT64_C(1000)
#define MS UINT64_C(1000000)
#define S UINT64_C(1000000000)

struct align_fixture {
	char directory[64];
	struct sim_options options;
	struct sim_recording job;
	struct ncs_recording *recording;
	struct ncs_recording_alignment alignment;
};

/* Has a job of so many hosts. */
static void set_hosts(struct align_fixture *fixture, unsigned hosts,
		      unsigned ranks)
{
	fixture->options = sim_steps(hosts, ranks);
	fixture->options.steps = 120;
}

static int setup(void **state)
{
	struct align_fixture *fixture = calloc(1, sizeof(*fixture));

	if (!fixture)
		return -1;
	*state = fixture;
	set_hosts(fixture, 4, 2);
	snprintf(fixture->directory, sizeof(fixture->directory),
		 "/tmp/test-align.XXXXXX");
	return mkdtemp(fixture->directory) ? 0 : -1;
}

static int teardown(void **state)
{
	struct align_fixture *fixture = *state;

	ncs_recording_alignment_release(&fixture->alignment);
	ncs_recording_close(fixture->recording);
	for (unsigned i = 0; i < fixture->job.hosts; i++)
		unlink(fixture->job.path[i]);
	sim_recording_release(&fixture->job);
	rmdir(fixture->directory);
	free(fixture);
	return 0;
}

static void open_all(struct align_fixture *fixture)
{
	const char *paths[SIM_HOSTS_MAX];
	char why[256];

	if (sim_recording_write(&fixture->job, &fixture->options,
				fixture->directory, why, sizeof(why)) != 0)
		fail_msg("%s", why);
	for (unsigned i = 0; i < fixture->job.hosts; i++)
		paths[i] = fixture->job.path[i];
	if (ncs_recording_open(&fixture->recording, paths, fixture->job.hosts,
			       why, sizeof(why)) != 0)
		fail_msg("%s", why);
	assert_int_equal(ncs_recording_host_count(fixture->recording),
			 fixture->job.hosts);
}

static void align(struct align_fixture *fixture)
{
	open_all(fixture);
	assert_int_equal(ncs_recording_align_hosts(fixture->recording, 0,
						   UINT64_MAX,
						   &fixture->alignment),
			 0);
}

/* Converts a true time of a host to the recording's common time. */
static uint64_t common_ns(const struct align_fixture *fixture, unsigned host,
			  uint64_t true_ns)
{
	const struct ncs_recorded_host *facts =
		ncs_recording_host(fixture->recording, host);
	uint64_t own_ns = sim_recording_clock_ns(&fixture->job, host, true_ns);

	return own_ns + (uint64_t)facts->offset_ns +
	       (uint64_t)(int64_t)llround(
		       facts->drift *
		       (double)(int64_t)(own_ns - facts->first_ns));
}

static uint64_t true_error(const struct align_fixture *fixture, unsigned host)
{
	uint64_t worst_ns = 0;

	for (unsigned i = 0; i <= 16; i++) {
		uint64_t true_ns = fixture->job.end_ns / 16 * i;
		int64_t off_ns = (int64_t)(common_ns(fixture, host, true_ns) -
					   sim_recording_clock_ns(&fixture->job,
								  0, true_ns));

		if ((uint64_t)llabs(off_ns) > worst_ns)
			worst_ns = (uint64_t)llabs(off_ns);
	}
	return worst_ns;
}

static void assert_aligned(const struct align_fixture *fixture,
			   uint64_t error_at_most_ns)
{
	for (unsigned i = 0; i < fixture->job.hosts; i++) {
		const struct ncs_recorded_host *host =
			ncs_recording_host(fixture->recording, i);

		if (true_error(fixture, i) > host->error_ns ||
		    host->error_ns > error_at_most_ns)
			print_message("host %u: off by %llu, said %llu\n", i,
				      (unsigned long long)true_error(fixture,
								     i),
				      (unsigned long long)host->error_ns);
		assert_int_equal(fixture->alignment.hosts[i].by,
				 NCS_ALIGNED_BY_TRAFFIC);
		assert_true(true_error(fixture, i) <= host->error_ns);
		assert_true(host->error_ns <= error_at_most_ns);
	}
}

UNIT_FIXTURE(setup, teardown)

TEST(skew_and_drift_are_found)
{
	struct align_fixture *fixture = *state;

	align(fixture);
	assert_aligned(fixture, 40 * US);
	for (unsigned i = 1; i < fixture->job.hosts; i++)
		assert_true(true_error(fixture, i) < 5 * US);
	assert_true(fixture->alignment.messages > 1000);
	assert_int_equal(fixture->alignment.messages,
			 fixture->job.source->job.messages);
}

TEST(two_hosts_align_most_exactly)
{
	struct align_fixture *fixture = *state;

	set_hosts(fixture, 2, 2);
	align(fixture);
	assert_aligned(fixture, 5 * US);
	assert_true(true_error(fixture, 1) < 2 * US);
}

/* Over sockets, receivers send no credits: messages in a ring of three hosts go
 * one way only, but collectives order times both ways. */
TEST(collectives_align_one_way_rings_over_sockets)
{
	struct align_fixture *fixture = *state;

	set_hosts(fixture, 3, 2);
	fixture->options.is_socket = true;
	align(fixture);
	assert_aligned(fixture, 2 * MS);
}

/* NVLink between two hosts with TREE, of which only the kernels' channels are
 * known: they stop 40 ms before the last rank has called. No end is known, so
 * that CLOCK_REALTIME has to do. */
TEST(early_stops_of_kernels_do_not_align)
{
	struct align_fixture *fixture = *state;

	set_hosts(fixture, 2, 1);
	fixture->options.is_nvlink = true;
	fixture->options.algorithm = NCS_ALGORITHM_TREE;
	fixture->options.fault = SIM_HOST;
	fixture->options.victim = 1;
	fixture->options.fault_size = 40 * MS;
	align(fixture);
	assert_true(true_error(fixture, 1) <=
		    ncs_recording_host(fixture->recording, 1)->error_ns);
	assert_int_equal(fixture->alignment.hosts[1].by,
			 NCS_ALIGNED_BY_REALTIME);
}

/* Two of four ranks of a host have proxy operations: the others' channels of
 * kernels stop early, and must not spoil what proxy operations tell. */
TEST(early_stops_do_not_spoil_the_alignment)
{
	struct align_fixture *fixture = *state;

	set_hosts(fixture, 3, 4);
	fixture->options.is_socket = true;
	fixture->options.algorithm = NCS_ALGORITHM_TREE;
	align(fixture);
	assert_aligned(fixture, 2 * MS);
}

/* With RING, channels stop when the kernel ends. */
TEST(kernels_of_rings_align_hosts_over_nvlink)
{
	struct align_fixture *fixture = *state;

	set_hosts(fixture, 2, 2);
	fixture->options.is_nvlink = true;
	align(fixture);
	assert_aligned(fixture, 2 * MS);
}

TEST(one_way_traffic_does_not_align)
{
	struct align_fixture *fixture = *state;

	set_hosts(fixture, 2, 2);
	fixture->options.shape = SIM_ONE_WAY;
	fixture->options.is_socket = true;
	align(fixture);
	assert_int_equal(fixture->alignment.hosts[1].by,
			 NCS_ALIGNED_BY_REALTIME);
	assert_int_equal(fixture->alignment.quality.one_way, 1);
	assert_true(fixture->alignment.messages > 0);
	/* The host stays aligned by CLOCK_REALTIME. */
	assert_true(true_error(fixture, 1) > 10 * US);
}

TEST(missing_records_do_not_disturb_the_alignment)
{
	struct align_fixture *fixture = *state;

	fixture->options.lost = 0.3;
	align(fixture);
	assert_aligned(fixture, 60 * US);
	assert_true(fixture->alignment.messages <
		    fixture->job.source->job.messages);
}

TEST(clock_set_while_recording_is_reported)
{
	struct align_fixture *fixture = *state;

	set_hosts(fixture, 2, 2);
	fixture->options.realtime_set_ns = 600 * MS;
	align(fixture);
	assert_int_equal(fixture->alignment.hosts[0].realtime_steps, 0);
	assert_int_equal(fixture->alignment.hosts[1].realtime_steps, 1);
	/* Alignment by traffic is not affected. */
	assert_aligned(fixture, 5 * US);
}

TEST(clock_set_without_traffic_is_not_trusted)
{
	struct align_fixture *fixture = *state;

	set_hosts(fixture, 2, 2);
	fixture->options.shape = SIM_ONE_WAY;
	fixture->options.is_socket = true;
	fixture->options.realtime_set_ns = 600 * MS;
	align(fixture);
	assert_int_equal(ncs_recording_host(fixture->recording, 1)->error_ns,
			 UINT64_MAX);
}

/* A minute with few records: windows are far apart, and drift matters. */
TEST(long_recording_is_aligned_by_windows)
{
	struct align_fixture *fixture = *state;

	fixture->options.steps = 600;
	fixture->options.gap_ns = 100 * MS;
	fixture->options.bytes = UINT64_C(4) << 20;
	fixture->options.realtime_error_ns = 0;
	align(fixture);
	assert_int_equal(fixture->alignment.windows, 24);
	assert_true(fixture->alignment.windows_ns * 20 <
		    fixture->alignment.length_ns);
	assert_aligned(fixture, 60 * US);
	for (unsigned i = 0; i < fixture->job.hosts; i++)
		assert_int_equal(fixture->alignment.hosts[i].realtime_steps, 0);
}

TEST(single_host_needs_no_alignment)
{
	struct align_fixture *fixture = *state;

	set_hosts(fixture, 1, 2);
	align(fixture);
	assert_int_equal(fixture->alignment.host_count, 0);
	assert_int_equal(ncs_recording_host(fixture->recording, 0)->offset_ns,
			 0);
}
