/* SPDX-License-Identifier: MIT */
/* The rules for what is not seen. Nodes: they are findings in words, other findings are
 * less certain for them, and no job is healthy that is not seen whole. And ranks that
 * kernels wait for: over NVLink no channel tells, but a kernel that has begun and does
 * not end. */
#include <stdio.h>
#include <string.h>

#include "analysis/diagnosis/diagnosis.h"
#include "ncclstat/names.h"
#include "test/unit/support/scripted_source.h"
#include "test/unit/support/unit.h"
#include "tui/text/finding_text.h"
#include "tui/text/job_verdict.h"
#include "tui/text/node_text.h"

#define SECOND UINT64_C(1000000000)
#define RANKS 8
#define NODES 64

struct fixture {
	struct scripted scripted;
	struct ncs_diagnosis diagnosis;
};

static void set_state(struct fixture *fixture, size_t node,
		      enum ncs_node_state state, const char *why)
{
	struct ncs_node *at = &fixture->scripted.nodes[node];

	at->state = state;
	snprintf(at->why, sizeof(at->why), "%s", why);
}

/* Makes 64 nodes of which eight have a rank each. Rank 1 has not called what the
 * others wait in. */
static int setup(void **state)
{
	static struct fixture fixture;

	scripted_init(&fixture.scripted);
	ncs_diagnosis_init(&fixture.diagnosis);
	for (size_t i = 0; i < NODES; i++) {
		struct ncs_node *node = &fixture.scripted.nodes[i];

		snprintf(node->name, sizeof(node->name), "n%02zu", i);
		node->state = NCS_NODE_RUNNING;
		node->look_ns = 40 * SECOND;
		node->clock_is_aligned = true;
		node->ranks = 1;
	}
	fixture.scripted.node_count = NODES;
	for (int i = 0; i < RANKS; i++) {
		struct scripted_rank *rank = scripted_add(&fixture.scripted, i);

		rank->node = (size_t)i;
		rank->snapshot.identity.known |= NCS_KNOWN_COMM_ID;
		rank->snapshot.identity.comm_id = 7;
	}
	*state = &fixture;
	return 0;
}

static int teardown(void **state)
{
	struct fixture *fixture = *state;

	ncs_diagnosis_release(&fixture->diagnosis);
	scripted_release(&fixture->scripted);
	return 0;
}

/* Makes all ranks but 1 wait in an AllReduce that it has not called. */
static void hang(struct fixture *fixture)
{
	for (int i = 0; i < RANKS; i++) {
		struct ncs_snapshot *now = &fixture->scripted.ranks[i].snapshot;
		struct ncs_function_view *function =
			&now->functions[NCS_FUNCTION_ALL_REDUCE];
		uint64_t last = i == 1 ? 3 : 4;

		function->operations = function->with_children = last + 1;
		function->last_sequence_number = last;
		if (i == 1)
			continue;
		fixture->scripted.ranks[i].operations[now->operation_count++] =
			(struct ncs_operation_view){
				.sequence_number = last,
				.start_ns = 10 * SECOND,
				.count = 1024,
				.function = NCS_FUNCTION_ALL_REDUCE,
				.enqueued_ns = 10 * SECOND + 1,
				.children_started = 1,
			};
		*scripted_channel(&fixture->scripted.ranks[i], 0, false,
				  (i + RANKS - 1) % RANKS) =
			(struct ncs_channel_view){
				.peer = (i + RANKS - 1) % RANKS,
				.state = NCS_CHANNEL_RECV_WAIT,
				.since_ns = 10 * SECOND,
				.function = NCS_FUNCTION_ALL_REDUCE,
			};
	}
}

static void look(struct fixture *fixture)
{
	for (unsigned i = 0; i < 2; i++) {
		scripted_pass(&fixture->scripted, (40 + i) * SECOND);
		assert_int_equal(ncs_diagnose(&fixture->diagnosis,
					      &fixture->scripted.model),
				 0);
	}
}

static const struct ncs_finding *worst(const struct fixture *fixture)
{
	assert_true(fixture->diagnosis.count > 0);
	return &fixture->diagnosis.findings[0];
}

static void assert_sentence(const struct ncs_finding *finding, const char *text)
{
	char sentence[NCS_SENTENCE_MAX];

	ncs_finding_sentence(finding, sentence, sizeof(sentence));
	assert_string_equal(sentence, text);
}

static void assert_certainty(const struct ncs_finding *finding,
			     const char *text)
{
	char certainty[NCS_SENTENCE_MAX];

	ncs_finding_certainty(finding, certainty, sizeof(certainty));
	assert_string_equal(certainty, text);
}

static void assert_line(const struct fixture *fixture, const char *text)
{
	char line[NCS_SENTENCE_MAX];

	ncs_verdict_line(&fixture->diagnosis, &fixture->scripted.model, line,
			 sizeof(line));
	assert_string_equal(line, text);
}

UNIT_FIXTURE(setup, teardown)

TEST(with_all_nodes_it_is_certain)
{
	struct fixture *fixture = *state;

	hang(fixture);
	look(fixture);
	assert_int_equal(fixture->diagnosis.count, 1);
	assert_int_equal(worst(fixture)->verdict, NCS_VERDICT_RANK_MISSING);
	assert_int_equal(worst(fixture)->confidence, NCS_CONFIDENCE_CERTAIN);
	assert_int_equal(worst(fixture)->doubt, 0);
}

/* Two of 64 nodes do not answer, but all ranks of the communicator are seen. */
TEST(nodes_of_other_communicators_lower_nothing)
{
	struct fixture *fixture = *state;

	hang(fixture);
	set_state(fixture, 62, NCS_NODE_NOT_REACHABLE, "");
	set_state(fixture, 63, NCS_NODE_NOT_REACHABLE, "");
	look(fixture);
	assert_int_equal(fixture->diagnosis.count, 2);
	assert_int_equal(worst(fixture)->confidence, NCS_CONFIDENCE_CERTAIN);
}

TEST(two_silent_nodes_of_64_make_it_likely)
{
	struct fixture *fixture = *state;

	hang(fixture);
	for (int i = 0; i < RANKS; i++)
		fixture->scripted.ranks[i].snapshot.identity.nranks = 16;
	set_state(fixture, 62, NCS_NODE_NOT_REACHABLE, "");
	set_state(fixture, 63, NCS_NODE_SILENT, "");
	look(fixture);
	assert_int_equal(fixture->diagnosis.count, 3);
	assert_int_equal(worst(fixture)->verdict, NCS_VERDICT_RANK_MISSING);
	assert_int_equal(worst(fixture)->severity, NCS_SEVERITY_STUCK);
	assert_int_equal(worst(fixture)->confidence, NCS_CONFIDENCE_LIKELY);
	assert_certainty(worst(fixture),
			 "2 of 64 nodes do not answer: n62 and others");
}

TEST(a_node_that_answers_is_not_called_silent)
{
	struct fixture *fixture = *state;

	hang(fixture);
	for (int i = 0; i < RANKS; i++)
		fixture->scripted.ranks[i].snapshot.identity.nranks = 16;
	set_state(fixture, 62, NCS_NODE_DENIED, "it belongs to ann");
	look(fixture);
	assert_certainty(worst(fixture), "1 of 64 nodes is not seen: n62");
}

/* It may have called since its node's latest look. */
TEST(a_root_of_the_past_is_only_possible)
{
	struct fixture *fixture = *state;

	hang(fixture);
	look(fixture);
	fixture->scripted.ranks[1].is_past = true;
	set_state(fixture, 1, NCS_NODE_SILENT, "");
	scripted_pass(&fixture->scripted, 52 * SECOND);
	assert_int_equal(
		ncs_diagnose(&fixture->diagnosis, &fixture->scripted.model), 0);
	assert_int_equal(worst(fixture)->verdict, NCS_VERDICT_RANK_MISSING);
	assert_int_equal(worst(fixture)->confidence, NCS_CONFIDENCE_POSSIBLE);
	assert_certainty(worst(fixture), "last seen 12.0s ago; its node n01"
					 " is not seen now");
}

TEST(a_past_rank_elsewhere_makes_it_likely)
{
	struct fixture *fixture = *state;

	hang(fixture);
	look(fixture);
	fixture->scripted.ranks[5].is_past = true;
	set_state(fixture, 5, NCS_NODE_SILENT, "");
	scripted_pass(&fixture->scripted, 52 * SECOND);
	assert_int_equal(
		ncs_diagnose(&fixture->diagnosis, &fixture->scripted.model), 0);
	assert_int_equal(worst(fixture)->root.number, 1);
	assert_int_equal(worst(fixture)->confidence, NCS_CONFIDENCE_LIKELY);
	assert_certainty(worst(fixture), "1 of 64 nodes does not answer: n05");
}

/* However much evidence there is, what lowers the confidence is among it. */
TEST(the_doubt_has_room)
{
	struct fixture *fixture = *state;

	hang(fixture);
	for (int i = 0; i < RANKS; i++) {
		fixture->scripted.ranks[i].snapshot.identity.nranks = 16;
		for (unsigned k = 1; k < 4; k++)
			if (i != 1)
				*scripted_channel(
					&fixture->scripted.ranks[i], k, false,
					1) = (struct ncs_channel_view){
					.channel = (uint8_t)k,
					.peer = 1,
					.state = NCS_CHANNEL_RECV_WAIT,
					.since_ns = 10 * SECOND,
					.function = NCS_FUNCTION_ALL_REDUCE,
				};
	}
	set_state(fixture, 62, NCS_NODE_SILENT, "");
	look(fixture);
	assert_true(worst(fixture)->doubt > 0);
	assert_int_equal(
		worst(fixture)->evidence[worst(fixture)->doubt - 1].kind,
		NCS_EVIDENCE_NODES);
}

/* A rank that is left out of a node may be the one that is wrong. */
TEST(a_node_over_a_limit_leaves_no_verdict)
{
	struct fixture *fixture = *state;
	char text[NCS_SENTENCE_MAX];

	set_state(fixture, 9, NCS_NODE_OVER_LIMIT, "3 segments are left out");
	look(fixture);
	assert_int_equal(ncs_job_severity(&fixture->diagnosis,
					  &fixture->scripted.model),
			 NCS_SEVERITY_UNSEEN);
	ncs_verdict_line(&fixture->diagnosis, &fixture->scripted.model, text,
			 sizeof(text));
	assert_string_equal(text,
			    "no verdict: ranks of node n09 are not seen: more"
			    " comes from it than is read or kept here: 3"
			    " segments are left out (1.00s so far)");
}

TEST(a_job_that_is_well_is_not_called_healthy)
{
	struct fixture *fixture = *state;

	set_state(fixture, 9, NCS_NODE_NOT_REACHABLE, "No route to host");
	set_state(fixture, 12, NCS_NODE_NOT_REACHABLE, "No route to host");
	for (size_t i = 9; i < 13; i += 3)
		fixture->scripted.nodes[i].look_ns = 0;
	look(fixture);
	assert_int_equal(fixture->diagnosis.count, 1);
	assert_int_equal(ncs_diagnosis_severity(&fixture->diagnosis),
			 NCS_SEVERITY_UNSEEN);
	assert_line(fixture,
		    "no verdict: ranks of node n09 are not seen: no"
		    " connection to the node: No route to host; the same"
		    " applies to 1 other node");
	assert_int_equal(worst(fixture)->evidence[0].kind, NCS_EVIDENCE_NODE);
	assert_ptr_equal(worst(fixture)->evidence[0].node,
			 &fixture->scripted.model.nodes[12]);
}

TEST(each_state_is_a_finding_with_its_reason)
{
	struct fixture *fixture = *state;

	set_state(fixture, 20, NCS_NODE_OTHER_VERSION, "it writes 2.0");
	set_state(fixture, 21, NCS_NODE_DENIED, "it belongs to ann");
	set_state(fixture, 22, NCS_NODE_SILENT, "");
	fixture->scripted.nodes[20].look_ns = 0;
	look(fixture);
	assert_int_equal(fixture->diagnosis.count, 3);
	for (size_t i = 0; i < 3; i++) {
		const struct ncs_finding *finding =
			&fixture->diagnosis.findings[i];

		assert_int_equal(finding->verdict, NCS_VERDICT_NODE_UNSEEN);
		if (finding->node->state == NCS_NODE_OTHER_VERSION)
			assert_sentence(finding,
					"ranks of node n20 are not seen: its"
					" ncclstat writes streams that this one"
					" cannot read: it writes 2.0");
		if (finding->node->state == NCS_NODE_SILENT)
			assert_sentence(finding,
					"ranks of node n22 are not seen:"
					" no data from it for some time"
					" (1.00s so far)");
	}
}

TEST(nodes_that_are_seen_are_no_findings)
{
	struct fixture *fixture = *state;
	char text[NCS_SENTENCE_MAX];

	set_state(fixture, 30, NCS_NODE_SLOW_LINK, "");
	set_state(fixture, 31, NCS_NODE_NO_JOB, "");
	fixture->scripted.nodes[32].clock_is_aligned = false;
	fixture->scripted.nodes[33].clock_is_aligned = false;
	look(fixture);
	assert_int_equal(fixture->diagnosis.count, 0);
	assert_true(ncs_unchecked_nodes_text(&fixture->scripted.model, 0, text,
					     sizeof(text)));
	assert_string_equal(text,
			    "node n30: the connection to this machine is too"
			    " slow, looks are dropped: the data is older"
			    " than it seems");
	assert_true(ncs_unchecked_nodes_text(&fixture->scripted.model, 1, text,
					     sizeof(text)));
	assert_string_equal(text,
			    "2 of 64 nodes, such as n32: the clock is not"
			    " aligned: lateness is not compared with other"
			    " nodes");
	/* All ranks are seen: a node without some is none that matters. */
	assert_false(ncs_unchecked_nodes_text(&fixture->scripted.model, 2, text,
					      sizeof(text)));
}

TEST(a_node_without_a_job_matters_where_ranks_are_missing)
{
	struct fixture *fixture = *state;
	char text[NCS_SENTENCE_MAX];

	set_state(fixture, 31, NCS_NODE_NO_JOB, "");
	for (int i = 0; i < RANKS; i++)
		fixture->scripted.ranks[i].snapshot.identity.nranks = 16;
	look(fixture);
	assert_true(ncs_unchecked_nodes_text(&fixture->scripted.model, 0, text,
					     sizeof(text)));
	assert_string_equal(text, "node n31: no segments, although ranks are"
				  " missing");
}

/* Names come from other machines, and people paste commands into shells. */
TEST(commands_have_no_names_that_a_shell_takes_apart)
{
	struct fixture *fixture = *state;
	struct ncs_node *node = &fixture->scripted.nodes[40];
	char command[NCS_SENTENCE_MAX];

	set_state(fixture, 40, NCS_NODE_REFUSED, "");
	look(fixture);
	assert_true(ncs_finding_command(worst(fixture), 0, command,
					sizeof(command)));
	assert_string_equal(command, "ssh n40 ncclstat --list");
	snprintf(node->name, sizeof(node->name), "%s", "n40; rm -rf ~");
	look(fixture);
	assert_false(ncs_finding_command(worst(fixture), 0, command,
					 sizeof(command)));
	snprintf(node->name, sizeof(node->name), "%s", "-oProxyCommand=x");
	snprintf(node->host, sizeof(node->host), "%s", "n40");
	look(fixture);
	assert_true(ncs_finding_command(worst(fixture), 0, command,
					sizeof(command)));
	assert_string_equal(command, "ssh n40 ncclstat --list");
}

/* --- Ranks ---------------------------------------------------------------- */

#define MS UINT64_C(1000000)
#define LAUNCH 5
#define CALL 4

/* Adds a rank of one communicator of `nranks` that has finished all calls before
 * CALL. */
static struct scripted_rank *add(struct scripted *scripted, int number,
				 int nranks)
{
	struct scripted_rank *rank = scripted_add(scripted, number);

	rank->snapshot.identity.known |= NCS_KNOWN_COMM_ID;
	rank->snapshot.identity.comm_id = 7;
	rank->snapshot.identity.nranks = nranks;
	rank->snapshot.last_call_ns = 10 * SECOND;
	scripted_follow(rank, LAUNCH, CALL, 9 * SECOND);
	return rank;
}

/* Calls a function at a time; its kernel begins at once. */
static struct ncs_operation_view *call(struct scripted_rank *rank,
				       unsigned function, uint64_t at_ns)
{
	struct ncs_snapshot *snapshot = &rank->snapshot;
	struct ncs_operation_view *operation =
		&rank->operations[snapshot->operation_count++];

	*operation = (struct ncs_operation_view){
		.number = LAUNCH,
		.start_ns = at_ns,
		.enqueued_ns = at_ns + 1,
		.sequence_number = CALL,
		.event = NCS_EVENT_COLL,
		.function = function,
		.launch = LAUNCH,
	};
	snapshot->functions[function].operations++;
	snapshot->functions[function].last_sequence_number = CALL;
	snapshot->launches.followed = snapshot->launches.launched = LAUNCH;
	snapshot->launches.begun = LAUNCH;
	snapshot->launches.begun_ns = at_ns;
	return operation;
}

static struct ncs_operation_view *reduce(struct scripted_rank *rank)
{
	return call(rank, NCS_FUNCTION_ALL_REDUCE, 10 * SECOND);
}

/* Looks twice, at `at_ns` and half a second before. */
static void diagnose(struct scripted *scripted, struct ncs_diagnosis *diagnosis,
		     uint64_t at_ns)
{
	ncs_diagnosis_init(diagnosis);
	for (unsigned i = 0; i < 2; i++) {
		scripted_pass(scripted, at_ns - (1 - i) * SECOND / 2);
		assert_int_equal(ncs_diagnose(diagnosis, &scripted->model), 0);
	}
}

static void assert_healthy(struct scripted *scripted, uint64_t at_ns)
{
	struct ncs_diagnosis diagnosis;

	diagnose(scripted, &diagnosis, at_ns);
	if (diagnosis.count > 0)
		print_message("found: %s\n",
			      ncs_verdict_name(diagnosis.findings[0].verdict));
	assert_int_equal(diagnosis.count, 0);
	ncs_diagnosis_release(&diagnosis);
}

/* Asserts that there is one finding: that `waiting` ranks may wait for a rank
 * that is not seen. */
static void assert_found(struct scripted *scripted, uint64_t at_ns,
			 enum ncs_verdict_severity severity, int root,
			 size_t waiting)
{
	struct ncs_diagnosis diagnosis;
	const struct ncs_finding *found;

	diagnose(scripted, &diagnosis, at_ns);
	assert_int_equal(diagnosis.count, 1);
	found = diagnosis.findings;
	assert_string_equal(ncs_verdict_name(found->verdict), "peer_wait");
	assert_int_equal(found->severity, severity);
	assert_int_equal(found->confidence, NCS_CONFIDENCE_POSSIBLE);
	assert_null(found->root.rank);
	assert_non_null(found->root.communicator);
	assert_int_equal(found->root.number, root);
	assert_int_equal(found->waiting, waiting);
	ncs_diagnosis_release(&diagnosis);
}

TEST_WITH(a_kernel_waits_for_the_rank_that_is_not_seen, scripted_setup,
	  scripted_teardown)
{
	struct scripted *scripted = *state;

	reduce(add(scripted, 0, 2));
	assert_found(scripted, 40 * SECOND, NCS_SEVERITY_STUCK, 1, 1);
}

TEST_WITH(a_rank_in_the_middle_is_named_by_its_number, scripted_setup,
	  scripted_teardown)
{
	struct scripted *scripted = *state;

	for (int i = 0; i < 4; i++)
		if (i != 2)
			reduce(add(scripted, i, 4));
	assert_found(scripted, 40 * SECOND, NCS_SEVERITY_STUCK, 2, 3);
}

TEST_WITH(of_several_that_are_not_seen_none_is_named, scripted_setup,
	  scripted_teardown)
{
	struct scripted *scripted = *state;
	struct ncs_diagnosis diagnosis;
	char text[NCS_SENTENCE_MAX];

	for (int i = 0; i < 3; i++)
		reduce(add(scripted, i, 8));
	assert_found(scripted, 40 * SECOND, NCS_SEVERITY_STUCK, -1, 3);
	diagnose(scripted, &diagnosis, 40 * SECOND);
	ncs_finding_sentence(diagnosis.findings, text, sizeof(text));
	assert_string_equal(text,
			    "3 ranks wait for a rank that is not seen of"
			    " the communicator in AllReduce #4 (30.0s so far)");
	ncs_diagnosis_release(&diagnosis);
}

/* Over a network a rank is told to be slow and stuck after the same times. */
TEST_WITH(a_wait_is_slow_after_1_s_and_stuck_after_5, scripted_setup,
	  scripted_teardown)
{
	struct scripted *scripted = *state;

	reduce(add(scripted, 0, 2));
	assert_healthy(scripted, 10 * SECOND + 900 * MS);
	assert_found(scripted, 11 * SECOND, NCS_SEVERITY_SLOW, 1, 1);
	assert_found(scripted, 14 * SECOND + 900 * MS, NCS_SEVERITY_SLOW, 1, 1);
	assert_found(scripted, 15 * SECOND, NCS_SEVERITY_STUCK, 1, 1);
}

/* One look tells by the ages it has that nothing moves. */
TEST_WITH(a_single_look_tells_an_old_wait_as_stuck, scripted_setup,
	  scripted_teardown)
{
	struct scripted *scripted = *state;
	struct ncs_diagnosis diagnosis;

	reduce(add(scripted, 0, 2));
	ncs_diagnosis_init(&diagnosis);
	scripted_pass(scripted, 40 * SECOND);
	assert_int_equal(ncs_diagnose(&diagnosis, &scripted->model), 0);
	assert_int_equal(ncs_diagnosis_severity(&diagnosis),
			 NCS_SEVERITY_STUCK);
	ncs_diagnosis_release(&diagnosis);
}

TEST_WITH(a_rank_that_is_seen_and_has_not_called_is_named_first, scripted_setup,
	  scripted_teardown)
{
	struct scripted *scripted = *state;
	struct ncs_diagnosis diagnosis;

	reduce(add(scripted, 0, 4));
	add(scripted, 1, 4);
	diagnose(scripted, &diagnosis, 40 * SECOND);
	assert_int_equal(diagnosis.count, 1);
	assert_string_equal(ncs_verdict_name(diagnosis.findings[0].verdict),
			    "rank_missing");
	assert_int_equal(diagnosis.findings[0].root.number, 1);
	ncs_diagnosis_release(&diagnosis);
}

TEST_WITH(a_kernel_that_is_queued_waits_for_nobody, scripted_setup,
	  scripted_teardown)
{
	struct scripted *scripted = *state;
	struct scripted_rank *rank = add(scripted, 0, 2);

	reduce(rank);
	rank->snapshot.launches.begun = LAUNCH - 1;
	rank->snapshot.launches.begun_ns = 9 * SECOND;
	assert_healthy(scripted, 40 * SECOND);
}

/* The root of a broadcast needs nobody; the others need the root. */
TEST_WITH(a_root_that_sends_waits_for_nobody, scripted_setup, scripted_teardown)
{
	struct scripted *scripted = *state;

	call(add(scripted, 0, 2), NCS_FUNCTION_BROADCAST, 10 * SECOND)->peer =
		0;
	assert_healthy(scripted, 40 * SECOND);
	scripted->ranks[0].operations[0].peer = 1;
	assert_found(scripted, 42 * SECOND, NCS_SEVERITY_STUCK, 1, 1);
}

TEST_WITH(a_transfer_names_its_peer, scripted_setup, scripted_teardown)
{
	struct scripted *scripted = *state;
	struct ncs_operation_view *operation =
		call(add(scripted, 0, 8), NCS_FUNCTION_RECV, 10 * SECOND);

	operation->event = NCS_EVENT_P2P;
	operation->sequence_number = NCS_NO_SEQUENCE_NUMBER;
	operation->peer = 6;
	assert_found(scripted, 40 * SECOND, NCS_SEVERITY_STUCK, 6, 1);
}

/* A kernel runs for long if it moves much over a slow network. */
TEST_WITH(data_that_move_are_no_wait, scripted_setup, scripted_teardown)
{
	struct scripted *scripted = *state;
	struct scripted_rank *rank = add(scripted, 0, 2);
	struct ncs_channel_view *channel = scripted_channel(rank, 0, true, 1);

	reduce(rank);
	channel->state = NCS_CHANNEL_SEND_WAIT;
	channel->since_ns = 39 * SECOND + 900 * MS;
	channel->function = NCS_FUNCTION_ALL_REDUCE;
	channel->step = 1;
	assert_healthy(scripted, 40 * SECOND);
}

/* Ranks of a host share what comes over the network: a kernel that runs and gives no
 * data may wait, over NVLink, for a rank whose process has not begun. */
TEST_WITH(a_kernel_without_data_waits_for_the_rank_that_is_not_seen,
	  scripted_setup, scripted_teardown)
{
	struct scripted *scripted = *state;

	for (int i = 0; i < 3; i++) {
		struct scripted_rank *rank = add(scripted, i, 4);
		struct ncs_channel_view *channel;

		reduce(rank);
		if (i != 0)
			continue;
		channel = scripted_channel(rank, 0, true, 2);
		channel->state = NCS_CHANNEL_SEND_GPU_WAIT;
		channel->since_ns = 10 * SECOND;
		channel->function = NCS_FUNCTION_ALL_REDUCE;
		channel->step = 1;
	}
	assert_found(scripted, 14 * SECOND, NCS_SEVERITY_SLOW, 3, 3);
}

/* With one element only, a channel is as it was posted though the kernel has
 * begun: it could as well be queued, did the launch not tell. */
TEST_WITH(a_channel_that_has_not_begun_hides_no_wait, scripted_setup,
	  scripted_teardown)
{
	struct scripted *scripted = *state;
	struct scripted_rank *rank = add(scripted, 0, 2);
	struct ncs_diagnosis diagnosis;

	reduce(rank);
	for (unsigned i = 0; i < 2; i++) {
		struct ncs_channel_view *channel =
			scripted_channel(rank, 0, i == 0, 1);

		channel->state = i == 0 ? NCS_CHANNEL_SEND_GPU_WAIT :
					  NCS_CHANNEL_RECV_WAIT;
		channel->since_ns = 10 * SECOND;
		channel->function = NCS_FUNCTION_ALL_REDUCE;
	}
	diagnose(scripted, &diagnosis, 40 * SECOND);
	assert_int_equal(diagnosis.count, 1);
	assert_int_equal(diagnosis.findings[0].root.number, 1);
	assert_int_equal(diagnosis.findings[0].severity, NCS_SEVERITY_STUCK);
	assert_int_equal(diagnosis.findings[0].confidence,
			 NCS_CONFIDENCE_POSSIBLE);
	ncs_diagnosis_release(&diagnosis);
}

/* Launches are not followed: GPUs compute, or wait. */
static struct scripted_rank *post(struct scripted *scripted, int number,
				  int nranks)
{
	struct scripted_rank *rank = add(scripted, number, nranks);
	struct ncs_operation_view *operation = reduce(rank);
	struct ncs_channel_view *channel =
		scripted_channel(rank, 0, true, (number + 1) % nranks);

	memset(&rank->snapshot.launches, 0, sizeof(rank->snapshot.launches));
	operation->launch = 0;
	operation->children_started = 1;
	operation->first_child_ns = 10 * SECOND;
	channel->state = NCS_CHANNEL_SEND_GPU_WAIT;
	channel->since_ns = 10 * SECOND;
	channel->function = NCS_FUNCTION_ALL_REDUCE;
	channel->operation = operation->number;
	return rank;
}

/* Adds a rank of four nodes of two ranks, in a ring. It has sent its own data, and
 * gets the next from the rank before it: over the network, or from that of its
 * node. */
static struct scripted_rank *pass_on(struct scripted *scripted, int number)
{
	struct scripted_rank *rank = post(scripted, number, 8);
	struct ncs_channel_view *channel = &rank->channels[0];

	rank->snapshot.identity.known |= NCS_KNOWN_NNODES;
	rank->snapshot.identity.nnodes = 4;
	channel->step = 1;
	if (number % 2 == 0) {
		channel->send = false;
		channel->peer = (number + 7) % 8;
		channel->state = NCS_CHANNEL_RECV_WAIT;
	}
	return rank;
}

/* Ranks 6 and 7 are not seen: that rank 1 has nothing to send is not the fault of
 * its GPU. */
TEST_WITH(a_gpu_that_passes_on_what_is_not_seen_is_not_blamed, scripted_setup,
	  scripted_teardown)
{
	struct scripted *scripted = *state;
	struct ncs_diagnosis diagnosis;
	char text[NCS_SENTENCE_MAX];

	for (int i = 0; i < 6; i++)
		pass_on(scripted, i);
	diagnose(scripted, &diagnosis, 40 * SECOND);
	assert_int_equal(diagnosis.count, 1);
	ncs_finding_sentence(diagnosis.findings, text, sizeof(text));
	assert_string_equal(text, "6 ranks wait for rank 7, not on this node,"
				  " or one that it waits for, in AllReduce #4"
				  " (30.0s so far)");
	ncs_evidence_text(&diagnosis.findings[0].evidence[1], text,
			  sizeof(text));
	assert_string_equal(text, "the communicator: 6 of its 8 ranks are seen"
				  " here; 6-7 are not");
	ncs_diagnosis_release(&diagnosis);
}

/* All are seen: rank 7 has not sent its own data. */
TEST_WITH(a_gpu_that_has_not_begun_is_blamed_for_those_that_pass_on,
	  scripted_setup, scripted_teardown)
{
	struct scripted *scripted = *state;
	struct ncs_diagnosis diagnosis;

	for (int i = 0; i < 8; i++)
		pass_on(scripted, i)->channels[0].step = i == 7 ? 0 : 1;
	diagnose(scripted, &diagnosis, 40 * SECOND);
	assert_int_equal(diagnosis.count, 1);
	assert_string_equal(ncs_verdict_name(diagnosis.findings[0].verdict),
			    "gpu_late");
	assert_int_equal(diagnosis.findings[0].root.number, 7);
	assert_int_equal(diagnosis.findings[0].alike, 0);
	ncs_diagnosis_release(&diagnosis);
}

TEST_WITH(ranks_that_may_wait_for_one_that_is_not_seen_are_no_verdict,
	  scripted_setup, scripted_teardown)
{
	struct scripted *scripted = *state;

	for (int i = 0; i < 3; i++)
		post(scripted, i, 4);
	assert_found(scripted, 40 * SECOND, NCS_SEVERITY_UNSEEN, -1, 3);
}

TEST_WITH(ranks_that_compute_are_healthy_where_all_are_seen, scripted_setup,
	  scripted_teardown)
{
	struct scripted *scripted = *state;

	for (int i = 0; i < 4; i++)
		post(scripted, i, 4);
	assert_healthy(scripted, 40 * SECOND);
}

TEST_WITH(a_rank_that_goes_on_shows_that_none_is_waited_for, scripted_setup,
	  scripted_teardown)
{
	struct scripted *scripted = *state;

	for (int i = 0; i < 3; i++)
		post(scripted, i, 4);
	scripted->ranks[2].operations[0].start_ns = 38 * SECOND;
	assert_healthy(scripted, 40 * SECOND);
}

/* Rank 0 waits for the first data of rank 1, which is not seen. */
static enum ncs_verdict without_data(struct scripted *scripted,
				     unsigned function, unsigned algorithm,
				     int32_t root)
{
	struct scripted_rank *rank = add(scripted, 0, 4);
	struct ncs_operation_view *operation =
		call(rank, function, 10 * SECOND);
	struct ncs_channel_view *channel = scripted_channel(rank, 0, false, 1);
	struct ncs_diagnosis diagnosis;
	enum ncs_verdict verdict;

	operation->algorithm = algorithm;
	operation->peer = root;
	channel->operation = operation->number;
	channel->state = NCS_CHANNEL_RECV_WAIT;
	channel->since_ns = 10 * SECOND;
	channel->function = function;
	diagnose(scripted, &diagnosis, 40 * SECOND);
	assert_int_equal(diagnosis.count, 1);
	assert_int_equal(diagnosis.findings[0].root.number, 1);
	verdict = diagnosis.findings[0].verdict;
	ncs_diagnosis_release(&diagnosis);
	return verdict;
}

TEST_WITH(a_rank_of_a_ring_that_sends_nothing_has_not_called, scripted_setup,
	  scripted_teardown)
{
	assert_int_equal(without_data(*state, NCS_FUNCTION_ALL_REDUCE,
				      NCS_ALGORITHM_RING, -1),
			 NCS_VERDICT_RANK_MISSING);
}

TEST_WITH(a_rank_of_a_tree_that_sends_nothing_may_wait_itself, scripted_setup,
	  scripted_teardown)
{
	assert_int_equal(without_data(*state, NCS_FUNCTION_ALL_REDUCE,
				      NCS_ALGORITHM_TREE, -1),
			 NCS_VERDICT_PEER_WAIT);
}

TEST_WITH(a_root_that_sends_nothing_has_not_called, scripted_setup,
	  scripted_teardown)
{
	assert_int_equal(without_data(*state, NCS_FUNCTION_BROADCAST,
				      NCS_ALGORITHM_RING, 1),
			 NCS_VERDICT_RANK_MISSING);
}

TEST_WITH(a_rank_of_a_chain_that_sends_nothing_may_wait_itself, scripted_setup,
	  scripted_teardown)
{
	assert_int_equal(without_data(*state, NCS_FUNCTION_BROADCAST,
				      NCS_ALGORITHM_RING, 3),
			 NCS_VERDICT_PEER_WAIT);
}

/* Launches are not followed; NCCL has told that the kernel has begun. */
TEST_WITH(a_kernel_channel_tells_as_much_as_a_launch, scripted_setup,
	  scripted_teardown)
{
	struct scripted *scripted = *state;
	struct scripted_rank *rank = add(scripted, 0, 2);
	struct ncs_operation_view *operation = reduce(rank);

	memset(&rank->snapshot.launches, 0, sizeof(rank->snapshot.launches));
	operation->launch = 0;
	assert_healthy(scripted, 40 * SECOND);
	operation->children_started = 1;
	operation->first_child_ns = 10 * SECOND;
	assert_found(scripted, 42 * SECOND, NCS_SEVERITY_STUCK, 1, 1);
}

/* The rank that is seen waits in each step until the other has computed; it is
 * looked at every 0.5 s. */
TEST_WITH(a_healthy_job_of_which_one_rank_is_seen_is_never_stuck, NULL, NULL)
{
	static const uint64_t computes_ns[] = { 400 * MS, 900 * MS, 1000 * MS,
						3000 * MS };

	for (size_t i = 0; i < 4; i++) {
		uint64_t step_ns = computes_ns[i] + 20 * MS;
		struct ncs_diagnosis diagnosis;
		struct scripted scripted;
		struct scripted_rank *rank;

		scripted_init(&scripted);
		ncs_diagnosis_init(&diagnosis);
		rank = add(&scripted, 0, 2);
		for (unsigned k = 0; k < 60; k++) {
			uint64_t now_ns = 10 * SECOND + k * SECOND / 2;
			uint64_t step = k * SECOND / 2 / step_ns;

			rank->snapshot.operation_count = 0;
			rank->snapshot.functions[NCS_FUNCTION_ALL_REDUCE]
				.operations = CALL + step;
			reduce(rank);
			rank->snapshot.launches.begun_ns =
				10 * SECOND + step * step_ns;
			scripted_pass(&scripted, now_ns);
			assert_int_equal(
				ncs_diagnose(&diagnosis, &scripted.model), 0);
			assert_true(ncs_diagnosis_severity(&diagnosis) <
				    NCS_SEVERITY_STUCK);
			if (computes_ns[i] < SECOND)
				assert_int_equal(diagnosis.count, 0);
		}
		ncs_diagnosis_release(&diagnosis);
		scripted_release(&scripted);
	}
}
