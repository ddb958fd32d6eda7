/* SPDX-License-Identifier: MIT */
/* Lateness across the nodes of a fleet, while its clocks drift: a rank that is
 * late by a known time, by streams as agents write them with --records. */
#include <stdlib.h>

#include "analysis/model/communicators.h"
#include "analysis/model/model.h"
#include "analysis/model/stragglers.h"
#include "fleet/head/fleet.h"
#include "test/unit/support/simulator/sim_recording.h"
#include "test/unit/support/unit.h"

#define US UINT64_C(1000)
#define MS UINT64_C(1000000)
#define S UINT64_C(1000000000)

/* This machine's clock at true time 0; how long a look is on its way. */
#define HERE_NS (UINT64_C(7000) * S)
#define ON_THE_WAY_NS (4 * MS)

#define LATE_NS (2 * MS)
#define LATE_RANK 3

/* By then no operation is among the latest ones that was told before the clocks
 * were aligned; their error is below a tenth of the lateness. */
#define SETTLED_NS (40 * S)
#define ERROR_MAX_NS (LATE_NS / 10)

struct watched {
	struct ncs_fleet *fleet;
	struct ncs_model model;
	size_t nodes[2];
	unsigned checked;       /* looks after which the lateness was right */
};

static int setup(void **state)
{
	struct watched *watched = calloc(1, sizeof(*watched));

	if (!watched)
		return -1;
	watched->fleet = ncs_fleet_new(NULL);
	if (!watched->fleet)
		return -1;
	ncs_model_init(&watched->model);
	for (unsigned i = 0; i < 2; i++)
		if (ncs_fleet_add(watched->fleet, NULL, "", &watched->nodes[i]))
			return -1;
	*state = watched;
	return 0;
}

static int teardown(void **state)
{
	struct watched *watched = *state;

	ncs_model_release(&watched->model);
	ncs_fleet_free(watched->fleet);
	free(watched);
	return 0;
}

static const struct ncs_rank *rank_of(const struct watched *watched, int rank)
{
	for (size_t i = 0; i < watched->model.rank_count; i++)
		if (watched->model.ranks[i]->now.identity.rank == rank)
			return watched->model.ranks[i];
	fail_msg("rank %d is not seen", rank);
	return NULL;
}

static void check(struct watched *watched)
{
	const struct ncs_lateness_view *view =
		ncs_rank_lateness(rank_of(watched, LATE_RANK));
	const struct ncs_lateness *recent;

	assert_non_null(view);
	recent = &view->recent;
	assert_in_range(recent->error_ns, 1, ERROR_MAX_NS);
	assert_int_equal(recent->last, recent->operations);
	assert_in_range(recent->exclusive_ns, LATE_NS - recent->error_ns,
			LATE_NS + recent->error_ns);
	for (int i = 0; i < LATE_RANK; i++)
		assert_int_equal(
			ncs_rank_lateness(rank_of(watched, i))->recent.last, 0);
	watched->checked++;
}

static int take_look(void *context, unsigned host, uint64_t true_ns,
		     const void *bytes, size_t size)
{
	struct watched *watched = context;
	uint64_t now_ns = HERE_NS + true_ns + ON_THE_WAY_NS * (1 + host);

	assert_int_equal(ncs_fleet_feed(watched->fleet, watched->nodes[host],
					bytes, size, now_ns),
			 0);
	assert_int_equal(ncs_model_update(&watched->model,
					  ncs_fleet_source(watched->fleet),
					  now_ns + MS),
			 0);
	if (true_ns > SETTLED_NS && host == 1)
		check(watched);
	return 0;
}

/* Returns how far the clocks of the two hosts are apart. */
static int64_t apart_ns(const struct sim_recording *job, uint64_t true_ns)
{
	return (int64_t)(sim_recording_clock_ns(job, 1, true_ns) -
			 sim_recording_clock_ns(job, 0, true_ns));
}

UNIT_FIXTURE(setup, teardown)

/* The clocks, which differ by up to 10 s, are moved on by the drift of more than
 * five times the lateness meanwhile. */
TEST(test_a_late_rank_on_another_node_is_named_for_minutes)
{
	struct watched *watched = *state;
	struct sim_options options = sim_steps(2, 2);
	struct sim_recording job;
	int64_t before_ns, after_ns;

	options.realtime_error_ns = 0;
	options.channels = 1;
	options.bytes = UINT64_C(1) << 20;
	options.small_period = 0;
	options.gap_ns = 40 * MS;
	options.jitter = 0;
	options.queue_ns = 0;
	options.drift = 700e-6;
	/* A GPU's clock would drift against its host's as much. */
	options.no_kernels = true;
	options.fault = SIM_HOST;
	options.victim = LATE_RANK;
	options.fault_size = LATE_NS;
	assert_int_equal(sim_recording_stream(&job, &options, S, 150 * S,
					      take_look, watched),
			 0);
	assert_true(watched->checked > 100);
	before_ns = apart_ns(&job, 0);
	after_ns = apart_ns(&job, 150 * S);
	assert_true(llabs(after_ns - before_ns) > 5 * (int64_t)LATE_NS);
	sim_recording_release(&job);
}
