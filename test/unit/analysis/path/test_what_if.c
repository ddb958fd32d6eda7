/* SPDX-License-Identifier: MIT */
/* Tests of parsing scenarios, and of their effect on transfers. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "analysis/path/what_if.h"
#include "test/unit/support/unit.h"

/* --- Specifications ------------------------------------------------------- */

TEST(every_kind_of_specification_is_parsed)
{
	static const struct ncs_scenario cases[] = {
		{ NCS_WHAT_IF_NET,
		  0.5,
		  0,
		  -1,
		  { -1, -1 },
		  false,
		  0,
		  NULL,
		  "net:x2" },
		{ NCS_WHAT_IF_NET,
		  0.25,
		  0,
		  -1,
		  { -1, -1 },
		  true,
		  0,
		  NULL,
		  "net:x4@inter-node" },
		{ NCS_WHAT_IF_NET,
		  2,
		  0,
		  -1,
		  { 3, 7 },
		  false,
		  0,
		  NULL,
		  "net:x0.5@3-7" },
		{ NCS_WHAT_IF_LATENCY,
		  1,
		  2500,
		  -1,
		  { -1, -1 },
		  false,
		  0,
		  NULL,
		  "latency:-2.5us" },
		{ NCS_WHAT_IF_WITHOUT,
		  1,
		  0,
		  7,
		  { -1, -1 },
		  false,
		  0,
		  NULL,
		  "without:7" },
		{ NCS_WHAT_IF_WITHOUT,
		  1,
		  0,
		  -1,
		  { -1, -1 },
		  false,
		  0,
		  NULL,
		  "without:stragglers" },
		{ NCS_WHAT_IF_STREAM,
		  0.9,
		  0,
		  7,
		  { -1, -1 },
		  false,
		  0,
		  NULL,
		  "stream:0.9@rank=7" },
		{ NCS_WHAT_IF_HOST,
		  0.5,
		  0,
		  -1,
		  { -1, -1 },
		  false,
		  0,
		  "step/a@b:c",
		  "host:0.5@range=step/a@b:c" },
		{ NCS_WHAT_IF_LAUNCH,
		  0,
		  0,
		  1,
		  { -1, -1 },
		  false,
		  0,
		  "x",
		  "launch:0@rank=1@range=x" },
		{ NCS_WHAT_IF_ALGORITHM,
		  1,
		  0,
		  -1,
		  { -1, -1 },
		  false,
		  NCS_ALGORITHM_TREE,
		  NULL,
		  "algorithm:tree" },
		{ NCS_WHAT_IF_OVERLAP,
		  1,
		  0,
		  -1,
		  { -1, -1 },
		  false,
		  0,
		  NULL,
		  "overlap" },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		const struct ncs_scenario *is = &cases[i];
		struct ncs_scenario found;
		char error[200];

		if (!ncs_scenario_parse(&found, is->text, error, sizeof(error)))
			fail_msg("%s: %s", is->text, error);
		if (found.kind != is->kind || found.factor != is->factor ||
		    found.step_ns != is->step_ns || found.rank != is->rank ||
		    memcmp(found.peers, is->peers, sizeof(is->peers)) != 0 ||
		    found.inter_node != is->inter_node ||
		    found.algorithm != is->algorithm)
			fail_msg("%s is parsed as something else", is->text);
		if (is->range)
			assert_string_equal(found.range, is->range);
		else
			assert_null(found.range);
		assert_ptr_equal(found.text, is->text);
	}
}

TEST(invalid_specification_is_refused_with_reason)
{
	static const char *const texts[] = {
		"",          "nett:x2",        "net",           "net:2",
		"net:x0",    "net:x-1",        "net:x2@3",      "net:x2@3-3",
		"net:x2@3-", "latency:5us",    "latency:-5",    "without",
		"without:x", "without:1.5",    "stream:fast", "stream:-1",
		"host:0.5@", "host:0.5@rank",  "algorithm:xyz", "overlap:2",
		"net:xinf",  "overlap@rank=1",
	};
	char error[200];

	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
		struct ncs_scenario scenario;

		error[0] = '\0';
		if (ncs_scenario_parse(&scenario, texts[i], error,
				       sizeof(error)))
			fail_msg("'%s' is parsed as a scenario", texts[i]);
		assert_true(strstr(error, texts[i]) != NULL);
		assert_true(strlen(error) > strlen(texts[i]) + 8);
	}
}

/* --- Transfers ------------------------------------------------------------ */

#define RANKS 3

/* An AllReduce by the ring algorithm: each rank sends to the next one. */
struct ring_operation {
	struct ncs_part parts[RANKS];
	struct ncs_joined joined;
	int32_t ranks[RANKS];
	struct ncs_fits fits;
};

static void make_ring(struct ring_operation *ring, uint64_t bytes)
{
	*ring = (struct ring_operation){ .joined = {
						 .comm_id = 5,
						 .function =
							 NCS_FUNCTION_ALL_REDUCE,
						 .count = RANKS,
					 } };
	ring->joined.parts = ring->parts;
	for (int32_t i = 0; i < RANKS; i++) {
		ring->ranks[i] = 10 + i;
		ring->parts[i] = (struct ncs_part){
			.rank = i,
			.nranks = RANKS,
			.bytes = bytes,
			.algorithm = NCS_ALGORITHM_RING,
			.wire = { .peer = (i + 1) % RANKS,
				  .steps = 4,
				  .send = true },
		};
		ring->parts[i].wire.wait_ns[NCS_CHANNEL_SEND_WAIT] = 40000;
	}
}

/* Adds operations on a line: 20 us, and 1 ns for every 10 bytes. */
static void lay_line(struct ring_operation *ring)
{
	for (uint64_t bytes = 100000; bytes <= 1600000; bytes *= 2) {
		ring->parts[0].bytes = bytes;
		assert_int_equal(ncs_fits_add(&ring->fits, &ring->joined,
					      20000 + (double)bytes / 10),
				 0);
	}
}

static struct ncs_transfer_edit edit_of(struct ring_operation *ring,
					const char *text, bool spans_hosts,
					bool *unknown)
{
	struct ncs_transfer transfer = {
		.joined = &ring->joined,
		.fit = ncs_fits_find(&ring->fits, &ring->joined),
		.fits = &ring->fits,
		.spans_hosts = spans_hosts,
		.ranks = ring->ranks,
	};
	struct ncs_scenario scenario;
	char error[200];

	assert_true(ncs_scenario_parse(&scenario, text, error, sizeof(error)));
	*unknown = false;
	return ncs_scenario_transfer(&scenario, &transfer, unknown);
}

static void assert_edit(struct ring_operation *ring, const char *text,
			bool spans_hosts, double was_ns, double is_ns)
{
	bool unknown;
	struct ncs_transfer_edit edit =
		edit_of(ring, text, spans_hosts, &unknown);
	double found_ns = ncs_transfer_edited(&edit, was_ns);

	if (unknown || fabs(found_ns - is_ns) > 1e-6 * was_ns)
		fail_msg("%s makes %g ns of %g, not %g%s", text, found_ns,
			 was_ns, is_ns, unknown ? ", and is not known" : "");
}

TEST(faster_network_shortens_time_of_bytes_only)
{
	struct ring_operation ring;

	make_ring(&ring, 1000000);
	lay_line(&ring);
	assert_edit(&ring, "net:x2", false, 120000, 70000);
	assert_edit(&ring, "net:x2@inter-node", true, 120000, 70000);
	assert_edit(&ring, "net:x2@inter-node", false, 120000, 120000);
	ncs_fits_release(&ring.fits);
}

TEST(faster_link_helps_only_if_it_is_slowest)
{
	struct ring_operation ring;

	make_ring(&ring, 1000000);
	lay_line(&ring);
	/* A link no slower than the others gains nothing. */
	assert_edit(&ring, "net:x4@10-11", false, 120000, 120000);
	/* A link twice as slow gains until the others are the slowest. */
	ring.parts[0].wire.wait_ns[NCS_CHANNEL_SEND_WAIT] = 80000;
	assert_edit(&ring, "net:x4@10-11", false, 120000, 70000);
	assert_edit(&ring, "net:x4@11-10", false, 120000, 70000);
	assert_edit(&ring, "net:x4@11-12", false, 120000, 120000);
	/* A rank without a part in the operation changes nothing. */
	assert_edit(&ring, "net:x4@10-13", false, 120000, 120000);
	ncs_fits_release(&ring.fits);
}

TEST(lower_latency_never_shortens_time_of_bytes)
{
	struct ring_operation ring;

	make_ring(&ring, 1000000);
	lay_line(&ring);
	ring.parts[0].bytes = 1000000;
	/* 2 (n - 1) steps. */
	assert_edit(&ring, "latency:-2us", false, 120000, 112000);
	assert_edit(&ring, "latency:-9us", false, 120000, 100000);
	ncs_fits_release(&ring.fits);
}

TEST(change_is_unknown_if_only_one_size_was_seen)
{
	struct ring_operation ring;
	bool unknown;

	make_ring(&ring, 1000000);
	assert_int_equal(ncs_fits_add(&ring.fits, &ring.joined, 120000), 0);
	assert_int_equal(ncs_fits_add(&ring.fits, &ring.joined, 130000), 0);
	edit_of(&ring, "net:x2", false, &unknown);
	assert_true(unknown);
	edit_of(&ring, "algorithm:tree", false, &unknown);
	assert_true(unknown);
	edit_of(&ring, "stream:0.5", false, &unknown);
	assert_false(unknown);
	ncs_fits_release(&ring.fits);
}
