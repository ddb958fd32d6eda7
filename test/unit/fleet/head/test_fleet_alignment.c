/* SPDX-License-Identifier: MIT */
/* Tests of aligning the clocks of a fleet by traffic as it comes
 * (fleet/head/fleet_alignment.h). The hosts are simulated, so that their
 * clocks are known. */
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "fleet/head/fleet_alignment.h"
#include "ncclstat/abi.h"
#include "record/read/recording.h"
#include "test/unit/support/simulator/sim_recording.h"
#include "test/unit/support/unit.h"

#define US UINT64_C(1000)
#define MS UINT64_C(1000000)
#define S UINT64_C(1000000000)

/* This machine's clock at true time 0, and the most ranks. */
#define HERE_NS (UINT64_C(7000) * S)
#define RANKS 16

struct fixture {
	char directory[64];
	struct sim_options options;
	struct sim_recording job;
	struct ncs_fleet_alignment *alignment;
	struct ncs_fleet_reported reported[SIM_HOSTS_MAX][RANKS];
	struct ncs_recording *recordings[SIM_HOSTS_MAX];
	int64_t base_ns[SIM_HOSTS_MAX];
};

static int setup(void **state)
{
	struct fixture *fixture = calloc(1, sizeof(*fixture));

	if (!fixture)
		return -1;
	*state = fixture;
	fixture->options = sim_steps(2, 2);
	fixture->options.steps = 120;
	fixture->options.realtime_error_ns = 0;
	fixture->alignment = ncs_fleet_alignment_new();
	snprintf(fixture->directory, sizeof(fixture->directory),
		 "/tmp/test-fleet.XXXXXX");
	return fixture->alignment && mkdtemp(fixture->directory) ? 0 : -1;
}

static int teardown(void **state)
{
	struct fixture *fixture = *state;

	for (unsigned i = 0; i < fixture->job.hosts; i++) {
		for (unsigned k = 0; k < RANKS; k++)
			ncs_fleet_reported_release(&fixture->reported[i][k]);
		ncs_recording_close(fixture->recordings[i]);
		unlink(fixture->job.path[i]);
	}
	sim_recording_release(&fixture->job);
	ncs_fleet_alignment_free(fixture->alignment);
	rmdir(fixture->directory);
	free(fixture);
	return 0;
}

/* Computes the job and opens each host's recording by itself, so that its times
 * are those of its own clock. */
static void simulate(struct fixture *fixture)
{
	char why[256];

	if (sim_recording_write(&fixture->job, &fixture->options,
				fixture->directory, why, sizeof(why)) != 0)
		fail_msg("%s", why);
	for (unsigned i = 0; i < fixture->job.hosts; i++) {
		const char *path = fixture->job.path[i];

		if (ncs_recording_open(&fixture->recordings[i], &path, 1, why,
				       sizeof(why)) != 0)
			fail_msg("%s", why);
		/* The first look takes 3 ms, and more from each host. */
		fixture->base_ns[i] =
			(int64_t)(HERE_NS + (3 + i) * MS -
				  sim_recording_clock_ns(&fixture->job, i, 0));
	}
}

/* Takes all records that a rank's host drained in a time of its clock. */
static void take_batch(struct fixture *fixture, unsigned host,
		       const struct ncs_batch *batch)
{
	struct ncs_recording *recording = fixture->recordings[host];
	const struct ncs_recorded_rank *rank =
		ncs_recording_rank(recording, batch->rank);
	struct ncs_clock clock = rank->header->clock;
	struct ncs_snapshot snapshot;
	struct ncs_reader *reader;
	uint64_t taken_ns;

	assert_true(batch->rank < RANKS);
	assert_int_equal(ncs_recording_state(recording, batch->rank,
					     rank->until_ns, &reader,
					     &taken_ns),
			 NCS_RECORDED_YES);
	assert_int_equal(ncs_snapshot_init(&snapshot, reader), 0);
	ncs_snapshot_take(&snapshot, reader, taken_ns);
	clock.base_monotonic_ns += (uint64_t)fixture->base_ns[host];
	assert_int_equal(ncs_fleet_alignment_take(
				 fixture->alignment, host + 1,
				 &fixture->reported[host][batch->rank], &snapshot,
				 &clock, batch->records, batch->count),
			 0);
	ncs_snapshot_release(&snapshot);
}

/* Takes a look at a host: what happened until a true time, and since the look
 * before. */
static void look(struct fixture *fixture, unsigned host, uint64_t from_ns,
		 uint64_t until_ns)
{
	struct ncs_recording_pass *pass = ncs_recording_pass_open(
		fixture->recordings[host],
		sim_recording_clock_ns(&fixture->job, host, from_ns) + 1,
		sim_recording_clock_ns(&fixture->job, host, until_ns));
	struct ncs_batch batch;

	assert_non_null(pass);
	while (ncs_recording_pass_next(pass, &batch) > 0)
		take_batch(fixture, host, &batch);
	ncs_recording_pass_close(pass);
}

static struct ncs_fleet_aligned solve(struct fixture *fixture, uint64_t true_ns)
{
	struct ncs_fleet_aligned aligned;

	assert_int_equal(ncs_fleet_alignment_solve(fixture->alignment,
						   HERE_NS + true_ns, &aligned),
			 0);
	return aligned;
}

/* Returns a host's true time, by its clock, as moved to the reference's. */
static int64_t off_ns(const struct fixture *fixture,
		      const struct ncs_fleet_aligned *aligned, unsigned host,
		      uint64_t true_ns)
{
	const struct ncs_aligned *move = &aligned->hosts[host + 1];
	unsigned reference = (unsigned)aligned->reference - 1;
	uint64_t own_ns = sim_recording_clock_ns(&fixture->job, host, true_ns) +
			  (uint64_t)fixture->base_ns[host];
	uint64_t moved_ns =
		own_ns + (uint64_t)move->offset_ns +
		(uint64_t)(int64_t)llround(
			move->drift * (double)(int64_t)(own_ns - move->at_ns));
	uint64_t wanted_ns =
		sim_recording_clock_ns(&fixture->job, reference, true_ns) +
		(uint64_t)fixture->base_ns[reference];

	return (int64_t)(moved_ns - wanted_ns);
}

static void assert_within(const struct fixture *fixture,
			  const struct ncs_fleet_aligned *aligned,
			  uint64_t true_ns, uint64_t most_ns, unsigned hosts)
{
	for (unsigned i = 0; i < hosts; i++) {
		const struct ncs_aligned *host = &aligned->hosts[i + 1];
		int64_t off = off_ns(fixture, aligned, i, true_ns);

		assert_int_equal(host->by, NCS_ALIGNED_BY_TRAFFIC);
		if ((uint64_t)llabs(off) > host->error_ns ||
		    host->error_ns > most_ns)
			fail_msg("host %u is off by %lld ns, said %llu", i,
				 (long long)off,
				 (unsigned long long)host->error_ns);
	}
}

/* Plays the job in looks of all hosts; checks the solution after each. */
static struct ncs_fleet_aligned play(struct fixture *fixture, uint64_t every_ns,
				     uint64_t until_ns, uint64_t most_ns)
{
	struct ncs_fleet_aligned aligned = { 0 };
	uint64_t at_ns = 0;

	while (at_ns < until_ns) {
		for (unsigned i = 0; i < fixture->job.hosts; i++)
			look(fixture, i, at_ns, at_ns + every_ns);
		at_ns += every_ns;
		aligned = solve(fixture, at_ns);
		assert_true(aligned.count > fixture->job.hosts);
		assert_within(fixture, &aligned, at_ns, most_ns,
			      fixture->job.hosts);
	}
	return aligned;
}

UNIT_FIXTURE(setup, teardown)

TEST(test_clocks_are_found_within_the_told_error)
{
	struct fixture *fixture = *state;

	simulate(fixture);
	play(fixture, S / 5, fixture->job.end_ns, 20 * MS);
}

/* Looks of hosts come at different times, and each brings what the others have
 * told before. */
TEST(test_looks_may_come_one_after_the_other)
{
	struct fixture *fixture = *state;
	struct ncs_fleet_aligned aligned;

	simulate(fixture);
	look(fixture, 0, 0, S);
	solve(fixture, S);
	look(fixture, 1, 0, S / 2);
	aligned = solve(fixture, S);
	assert_true(aligned.count > 0);
	assert_within(fixture, &aligned, S / 2, 20 * MS, fixture->job.hosts);
	look(fixture, 1, S / 2, S);
	aligned = solve(fixture, 3 * S / 2);
	assert_within(fixture, &aligned, S, 20 * MS, fixture->job.hosts);
}

/* When a job hangs, its clocks drift on: the error tells how far. */
TEST(test_the_error_grows_without_traffic)
{
	struct fixture *fixture = *state;
	struct ncs_fleet_aligned aligned;
	uint64_t end_ns, error_ns;

	simulate(fixture);
	end_ns = fixture->job.end_ns;
	aligned = play(fixture, S / 5, end_ns, 20 * MS);
	error_ns = aligned.hosts[1 + (aligned.reference == 1)].error_ns;
	for (unsigned i = 1; i <= 60; i++) {
		aligned = solve(fixture, end_ns + 10 * i * S);
		assert_within(fixture, &aligned, end_ns + 10 * i * S, S,
			      fixture->job.hosts);
	}
	assert_true(aligned.hosts[1 + (aligned.reference == 1)].error_ns >
		    error_ns);
}

TEST(test_old_facts_give_way_to_new_ones)
{
	struct fixture *fixture = *state;

	/* Some 200 s. */
	fixture->options.steps = 2000;
	fixture->options.gap_ns = 100 * MS;
	fixture->options.bytes = 4096;
	fixture->options.channels = 1;
	fixture->options.jitter = 0.2;
	simulate(fixture);
	assert_true(fixture->job.end_ns > 180 * S);
	play(fixture, 2 * S, fixture->job.end_ns, 20 * MS);
}

TEST(test_hosts_may_be_more_than_at_first)
{
	struct fixture *fixture = *state;
	struct ncs_fleet_aligned aligned;
	uint64_t end_ns;

	fixture->options.ranks = 24;
	fixture->options.steps = 40;
	simulate(fixture);
	end_ns = fixture->job.end_ns;
	for (unsigned i = 0; i < 4; i++)
		look(fixture, i, 0, end_ns / 2);
	aligned = solve(fixture, end_ns / 2);
	assert_int_equal(aligned.hosts[1].by, NCS_ALIGNED_BY_TRAFFIC);
	assert_int_equal(aligned.hosts[4].by, NCS_ALIGNED_BY_TRAFFIC);
	assert_int_equal(aligned.hosts[5].by, NCS_ALIGNED_BY_NOTHING);
	for (unsigned i = 0; i < 12; i++)
		look(fixture, i, end_ns / 2, 3 * end_ns / 4);
	/* From now on there is room for all. */
	aligned = solve(fixture, 3 * end_ns / 4);
	assert_within(fixture, &aligned, 3 * end_ns / 4, 50 * MS, 4);
	for (unsigned i = 0; i < 12; i++)
		look(fixture, i, 3 * end_ns / 4, end_ns);
	solve(fixture, end_ns);
	aligned = solve(fixture, end_ns);
	assert_true(aligned.count > 12);
	assert_within(fixture, &aligned, end_ns, 50 * MS, fixture->job.hosts);
}

TEST(test_what_is_forgotten_is_not_told)
{
	struct fixture *fixture = *state;
	struct ncs_fleet_aligned aligned;

	simulate(fixture);
	play(fixture, S, S, 20 * MS);
	ncs_fleet_alignment_forget(fixture->alignment);
	aligned = solve(fixture, 2 * S);
	assert_int_equal(aligned.count, 0);
	look(fixture, 0, S, 2 * S);
	look(fixture, 1, S, 2 * S);
	aligned = solve(fixture, 2 * S);
	assert_within(fixture, &aligned, 2 * S, 20 * MS, fixture->job.hosts);
}

TEST(test_one_host_alone_is_not_aligned)
{
	struct fixture *fixture = *state;
	struct ncs_fleet_aligned aligned;

	simulate(fixture);
	look(fixture, 0, 0, S);
	aligned = solve(fixture, S);
	assert_int_equal(aligned.count, 0);
}
