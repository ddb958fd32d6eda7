/* SPDX-License-Identifier: MIT */
/* The peak of a communicator's links: when it is that of NVLinks, of network
 * ports, or of neither. */
#include <stdio.h>
#include <string.h>

#include "analysis/model/communicators.h"
#include "analysis/model/moving.h"
#include "test/unit/support/unit.h"

#define RANKS 4u

static struct ncs_rank members[RANKS];
static struct ncs_rank *ranks[RANKS];
static struct ncs_communicator communicator;

/* A communicator on one machine, each of whose GPUs has NVLinks to the others. */
static int setup(void **state)
{
	(void)state;
	memset(members, 0, sizeof(members));
	for (unsigned i = 0; i < RANKS; i++) {
		struct ncs_rank *rank = &members[i];

		rank->now.identity.known = NCS_KNOWN_NNODES | NCS_KNOWN_NRANKS;
		rank->now.identity.nnodes = 1;
		rank->now.identity.nranks = RANKS;
		rank->peaks = (struct ncs_rank_peaks){
			.network_mb_s = 50000,
			.nvlink_mb_s = 478116,
			.own = UINT64_C(1) << i,
			.reach = 0xff & ~(UINT64_C(1) << i),
		};
		snprintf(rank->process.host, sizeof(rank->process.host), "n1");
		ranks[i] = rank;
	}
	communicator = (struct ncs_communicator){
		.ranks = ranks,
		.rank_count = RANKS,
		.identity = &members[0].now.identity,
	};
	return 0;
}

static void assert_peak(enum ncs_peak_link link, double gigabytes)
{
	struct ncs_peak peak = ncs_communicator_peak(&communicator);

	assert_int_equal(peak.link, link);
	assert_true(peak.gigabytes > gigabytes - 1e-9 &&
		    peak.gigabytes < gigabytes + 1e-9);
}

UNIT_FIXTURE(setup, NULL)

TEST(nvlinks_are_the_peak_of_one_machine)
{
	assert_peak(NCS_PEAK_NVLINK, 478.116);
	/* The GPU with the fewest links holds up the others. */
	members[2].peaks.nvlink_mb_s = 200000;
	assert_peak(NCS_PEAK_NVLINK, 200);
}

TEST(network_is_the_peak_of_several_machines)
{
	for (unsigned i = 0; i < RANKS; i++)
		members[i].now.identity.nnodes = 2;
	assert_peak(NCS_PEAK_NETWORK, 50);
	members[1].peaks.network_mb_s = 12500;
	members[3].peaks.network_mb_s = 0;
	assert_peak(NCS_PEAK_NETWORK, 12.5);
	for (unsigned i = 0; i < RANKS; i++)
		members[i].peaks.network_mb_s = 0;
	assert_peak(NCS_PEAK_UNKNOWN, 0);
}

TEST(gpu_that_is_not_told_of_leaves_no_peak)
{
	members[3].peaks = (struct ncs_rank_peaks){ .network_mb_s = 50000 };
	assert_peak(NCS_PEAK_UNKNOWN, 0);
}

TEST(gpu_without_nvlink_leaves_no_peak)
{
	members[3].peaks.nvlink_mb_s = 0;
	assert_peak(NCS_PEAK_UNKNOWN, 0);
}

/* Two pairs with bridges: neither sends to the other by NVLink. */
TEST(pairs_of_gpus_leave_no_peak)
{
	for (unsigned i = 0; i < RANKS; i++)
		members[i].peaks.reach = UINT64_C(1) << (i ^ 1);
	assert_peak(NCS_PEAK_UNKNOWN, 0);
	communicator.rank_count = members[0].now.identity.nranks = 2;
	assert_peak(NCS_PEAK_NVLINK, 478.116);
}

/* Two agents, each of which sees one GPU, give both the same bit. */
TEST(ranks_of_two_agents_leave_no_peak)
{
	for (unsigned i = 0; i < RANKS; i++) {
		members[i].peaks.own = 1;
		members[i].peaks.reach = 0;
	}
	assert_peak(NCS_PEAK_UNKNOWN, 0);
}

TEST(traffic_through_a_network_leaves_no_peak)
{
	members[1].now.channel_count = 2;
	assert_peak(NCS_PEAK_UNKNOWN, 0);
}

TEST(ranks_of_two_machines_leave_no_peak)
{
	snprintf(members[2].process.host, sizeof(members[2].process.host),
		 "n2");
	assert_peak(NCS_PEAK_UNKNOWN, 0);
}

TEST(ranks_that_are_not_seen_leave_no_peak)
{
	communicator.rank_count = RANKS - 1;
	assert_peak(NCS_PEAK_UNKNOWN, 0);
	communicator.rank_count = RANKS;
	members[0].now.identity.known = NCS_KNOWN_NNODES;
	assert_peak(NCS_PEAK_UNKNOWN, 0);
	members[0].now.identity.known = 0;
	assert_peak(NCS_PEAK_UNKNOWN, 0);
}

TEST(rank_alone_has_no_peak)
{
	communicator.rank_count = members[0].now.identity.nranks = 1;
	assert_peak(NCS_PEAK_UNKNOWN, 0);
}
