/* SPDX-License-Identifier: MIT */
/* The rule for nodes that are not seen: they are findings in words, other
 * findings are less certain for them, and no job is healthy that is not seen
 * whole. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "analysis/diagnosis/diagnosis.h"
#include "test/unit/support/scripted_source.h"
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

static void with_all_nodes_it_is_certain(void **state)
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
static void nodes_of_other_communicators_lower_nothing(void **state)
{
	struct fixture *fixture = *state;

	hang(fixture);
	set_state(fixture, 62, NCS_NODE_NOT_REACHABLE, "");
	set_state(fixture, 63, NCS_NODE_NOT_REACHABLE, "");
	look(fixture);
	assert_int_equal(fixture->diagnosis.count, 2);
	assert_int_equal(worst(fixture)->confidence, NCS_CONFIDENCE_CERTAIN);
}

static void two_silent_nodes_of_64_make_it_likely(void **state)
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
	assert_certainty(worst(fixture), "2 of 64 nodes do not answer: n62 and others");
}

static void a_node_that_answers_is_not_called_silent(void **state)
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
static void a_root_of_the_past_is_only_possible(void **state)
{
	struct fixture *fixture = *state;

	hang(fixture);
	look(fixture);
	fixture->scripted.ranks[1].is_past = true;
	set_state(fixture, 1, NCS_NODE_SILENT, "");
	scripted_pass(&fixture->scripted, 52 * SECOND);
	assert_int_equal(ncs_diagnose(&fixture->diagnosis,
				      &fixture->scripted.model),
			 0);
	assert_int_equal(worst(fixture)->verdict, NCS_VERDICT_RANK_MISSING);
	assert_int_equal(worst(fixture)->confidence, NCS_CONFIDENCE_POSSIBLE);
	assert_certainty(worst(fixture), "last seen 12.0s ago; its node n01"
					 " is not seen now");
}

static void a_past_rank_elsewhere_makes_it_likely(void **state)
{
	struct fixture *fixture = *state;

	hang(fixture);
	look(fixture);
	fixture->scripted.ranks[5].is_past = true;
	set_state(fixture, 5, NCS_NODE_SILENT, "");
	scripted_pass(&fixture->scripted, 52 * SECOND);
	assert_int_equal(ncs_diagnose(&fixture->diagnosis,
				      &fixture->scripted.model),
			 0);
	assert_int_equal(worst(fixture)->root.number, 1);
	assert_int_equal(worst(fixture)->confidence, NCS_CONFIDENCE_LIKELY);
	assert_certainty(worst(fixture), "1 of 64 nodes does not answer: n05");
}

/* However much evidence there is, what lowers the confidence is among it. */
static void the_doubt_has_room(void **state)
{
	struct fixture *fixture = *state;

	hang(fixture);
	for (int i = 0; i < RANKS; i++) {
		fixture->scripted.ranks[i].snapshot.identity.nranks = 16;
		for (unsigned k = 1; k < 4; k++)
			if (i != 1)
				*scripted_channel(&fixture->scripted.ranks[i],
						  k, false, 1) =
					(struct ncs_channel_view){
						.channel = (uint8_t)k,
						.peer = 1,
						.state = NCS_CHANNEL_RECV_WAIT,
						.since_ns = 10 * SECOND,
						.function =
							NCS_FUNCTION_ALL_REDUCE,
					};
	}
	set_state(fixture, 62, NCS_NODE_SILENT, "");
	look(fixture);
	assert_true(worst(fixture)->doubt > 0);
	assert_int_equal(worst(fixture)->evidence[worst(fixture)->doubt - 1].kind,
			 NCS_EVIDENCE_NODES);
}

/* A rank that is left out of a node may be the one that is wrong. */
static void a_node_over_a_limit_leaves_no_verdict(void **state)
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

static void a_job_that_is_well_is_not_called_healthy(void **state)
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

static void each_state_is_a_finding_with_its_reason(void **state)
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

static void nodes_that_are_seen_are_no_findings(void **state)
{
	struct fixture *fixture = *state;
	char text[NCS_SENTENCE_MAX];

	set_state(fixture, 30, NCS_NODE_SLOW_LINK, "");
	set_state(fixture, 31, NCS_NODE_NO_JOB, "");
	fixture->scripted.nodes[32].clock_is_aligned = false;
	fixture->scripted.nodes[33].clock_is_aligned = false;
	look(fixture);
	assert_int_equal(fixture->diagnosis.count, 0);
	assert_true(ncs_unchecked_nodes_text(&fixture->scripted.model, 0,
					     text, sizeof(text)));
	assert_string_equal(text, "node n30: the connection to this machine is too"
				  " slow, looks are dropped: the data is older"
				  " than it seems");
	assert_true(ncs_unchecked_nodes_text(&fixture->scripted.model, 1,
					     text, sizeof(text)));
	assert_string_equal(text, "2 of 64 nodes, such as n32: the clock is not"
				  " aligned: lateness is not compared with other"
				  " nodes");
	/* All ranks are seen: a node without some is none that matters. */
	assert_false(ncs_unchecked_nodes_text(&fixture->scripted.model, 2,
					      text, sizeof(text)));
}

static void a_node_without_a_job_matters_where_ranks_are_missing(void **state)
{
	struct fixture *fixture = *state;
	char text[NCS_SENTENCE_MAX];

	set_state(fixture, 31, NCS_NODE_NO_JOB, "");
	for (int i = 0; i < RANKS; i++)
		fixture->scripted.ranks[i].snapshot.identity.nranks = 16;
	look(fixture);
	assert_true(ncs_unchecked_nodes_text(&fixture->scripted.model, 0,
					     text, sizeof(text)));
	assert_string_equal(text, "node n31: no segments, although ranks are"
				  " missing");
}

/* Names come from other machines, and people paste commands into shells. */
static void commands_have_no_names_that_a_shell_takes_apart(void **state)
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

int main(void)
{
#define TEST(test) cmocka_unit_test_setup_teardown(test, setup, teardown)
	static const struct CMUnitTest tests[] = {
		TEST(with_all_nodes_it_is_certain),
		TEST(nodes_of_other_communicators_lower_nothing),
		TEST(two_silent_nodes_of_64_make_it_likely),
		TEST(a_node_that_answers_is_not_called_silent),
		TEST(a_root_of_the_past_is_only_possible),
		TEST(a_past_rank_elsewhere_makes_it_likely),
		TEST(the_doubt_has_room),
		TEST(a_node_over_a_limit_leaves_no_verdict),
		TEST(a_job_that_is_well_is_not_called_healthy),
		TEST(each_state_is_a_finding_with_its_reason),
		TEST(nodes_that_are_seen_are_no_findings),
		TEST(a_node_without_a_job_matters_where_ranks_are_missing),
		TEST(commands_have_no_names_that_a_shell_takes_apart),
	};

	return cmocka_run_group_tests_name("unseen nodes", tests, NULL, NULL);
}
