/* SPDX-License-Identifier: MIT */
/* Findings in words: where the one to blame runs, what to do, what was not
 * checked, and the line for the whole job. */
#include <stdio.h>
#include <string.h>

#include "analysis/model/stragglers.h"
#include "test/unit/support/scripted_source.h"
#include "test/unit/support/unit.h"
#include "tui/text/finding_text.h"
#include "tui/text/job_verdict.h"

#define SECOND UINT64_C(1000000000)

/* Adds a rank that has made a call, whose operation is reported. */
static struct scripted_rank *add(struct scripted *scripted, int number)
{
	struct scripted_rank *rank = scripted_add(scripted, number);
	struct ncs_function_view *reduces =
		&rank->snapshot.functions[NCS_FUNCTION_ALL_REDUCE];

	reduces->calls = reduces->operations = 1;
	reduces->last_sequence_number = 0;
	rank->snapshot.identity.known |= NCS_KNOWN_COMM_ID;
	rank->snapshot.identity.comm_id = 7;
	rank->snapshot.identity.nranks = 2;
	strcpy(rank->header.host, "n017");
	return rank;
}

static void refuse(struct scripted *scripted, int number, enum ncs_attach attach,
		   const char *why)
{
	struct scripted_rank *rank = add(scripted, number);

	rank->attach = attach;
	rank->why = why;
}

/* Returns the line of the verdict on the job. */
static const char *line_of(struct scripted *scripted)
{
	static char line[NCS_SENTENCE_MAX];
	struct ncs_diagnosis diagnosis;

	ncs_diagnosis_init(&diagnosis);
	scripted_pass(scripted, SECOND);
	assert_int_equal(ncs_diagnose(&diagnosis, &scripted->model), 0);
	ncs_verdict_line(&diagnosis, &scripted->model, line, sizeof(line));
	ncs_diagnosis_release(&diagnosis);
	return line;
}

UNIT_FIXTURE(scripted_setup, scripted_teardown)

TEST(job_without_findings_is_healthy)
{
	add(*state, 0);
	add(*state, 1);
	assert_string_equal(line_of(*state),
			    "well: nothing is wrong: 2 of 2 ranks level");
}

/* The operations are those of the rank that began most. */
TEST(health_is_told_by_what_was_seen)
{
	struct scripted *scripted = *state;
	struct scripted_rank *ranks[] = { add(scripted, 0), add(scripted, 1) };
	char line[NCS_SENTENCE_MAX];
	struct ncs_diagnosis diagnosis;

	for (size_t i = 0; i < 2; i++) {
		ranks[i]->snapshot.functions[NCS_FUNCTION_ALL_REDUCE]
			.operations = 10;
		ranks[i]->snapshot.functions[NCS_FUNCTION_ALL_REDUCE]
			.last_sequence_number = 9;
	}
	scripted_pass(scripted, SECOND);
	ranks[0]->snapshot.functions[NCS_FUNCTION_ALL_REDUCE].operations = 40;
	ranks[1]->snapshot.functions[NCS_FUNCTION_ALL_REDUCE].operations = 41;
	scripted_pass(scripted, 3 * SECOND);
	ncs_diagnosis_init(&diagnosis);
	assert_int_equal(ncs_diagnose(&diagnosis, &scripted->model), 0);
	ncs_verdict_line(&diagnosis, &scripted->model, line, sizeof(line));
	assert_string_equal(line,
			    "well: nothing is wrong: 2 of 2 ranks level, 31"
			    " operations in 2.00s, lateness not compared");
	/* One of them does not go on with the other. */
	ranks[0]->snapshot.functions[NCS_FUNCTION_ALL_REDUCE]
		.last_sequence_number = 12;
	scripted_pass(scripted, 4 * SECOND);
	ncs_verdict_line(&diagnosis, &scripted->model, line, sizeof(line));
	assert_non_null(strstr(line, ": 1 of 2 ranks level, 31 operations in"
				     " 3.00s"));
	ncs_diagnosis_release(&diagnosis);
}

/* All hosts may be busy, or stuck together: nothing is wrong with NCCL. */
TEST(that_nothing_moves_is_told)
{
	struct scripted *scripted = *state;
	struct ncs_diagnosis diagnosis;
	char line[NCS_SENTENCE_MAX];

	for (int i = 0; i < 2; i++) {
		struct scripted_rank *rank = add(scripted, i);

		rank->snapshot.functions[NCS_FUNCTION_ALL_REDUCE].operations =
			10;
		scripted_follow(rank, 10, 9, SECOND + (unsigned)i * SECOND);
	}
	ncs_diagnosis_init(&diagnosis);
	for (uint64_t at = 3; at <= 12; at++) {
		scripted_pass(scripted, at * SECOND);
		assert_int_equal(ncs_diagnose(&diagnosis, &scripted->model), 0);
		ncs_verdict_line(&diagnosis, &scripted->model, line,
				 sizeof(line));
		if (at < 7)
			assert_null(strstr(line, "moved"));
	}
	assert_non_null(strstr(line, ", nothing has moved for 10.0s"));
	scripted->ranks[0]
		.snapshot.functions[NCS_FUNCTION_ALL_REDUCE]
		.operations++;
	scripted_pass(scripted, 13 * SECOND);
	ncs_verdict_line(&diagnosis, &scripted->model, line, sizeof(line));
	assert_null(strstr(line, "moved"));
	ncs_diagnosis_release(&diagnosis);
}

/* Ranks that have ended are no longer level or behind. */
TEST(health_of_a_job_that_has_ended_is_told_by_what_was_seen)
{
	struct scripted *scripted = *state;
	struct scripted_rank *ranks[] = { add(scripted, 0), add(scripted, 1) };
	char line[NCS_SENTENCE_MAX];
	struct ncs_diagnosis diagnosis;

	scripted_pass(scripted, SECOND);
	for (size_t i = 0; i < 2; i++) {
		ranks[i]->snapshot.functions[NCS_FUNCTION_ALL_REDUCE]
			.operations = 6;
		ranks[i]->snapshot.liveness = NCS_FINISHED;
		ranks[i]->snapshot.finished_ns = 2 * SECOND;
	}
	scripted_pass(scripted, 3 * SECOND);
	ncs_diagnosis_init(&diagnosis);
	assert_int_equal(ncs_diagnose(&diagnosis, &scripted->model), 0);
	ncs_verdict_line(&diagnosis, &scripted->model, line, sizeof(line));
	assert_string_equal(line,
			    "well: nothing is wrong; its processes have ended:"
			    " 5 operations in 2.00s, lateness not compared");
	ncs_diagnosis_release(&diagnosis);
}

TEST(ranks_that_only_send_are_not_told_to_be_level)
{
	for (int i = 0; i < 2; i++) {
		struct scripted_rank *rank = add(*state, i);

		for (unsigned k = 0; k < NCS_FUNCTION_COUNT; k++)
			rank->snapshot.functions[k].last_sequence_number =
				NCS_NO_SEQUENCE_NUMBER;
		rank->snapshot.functions[NCS_FUNCTION_SEND].operations = 5;
	}
	assert_string_equal(line_of(*state),
			    "well: nothing is wrong: 0 of 2 ranks level, not"
			    " known of 2");
}

/* A counter of a stream may go back. */
TEST(operations_are_not_counted_backwards)
{
	struct scripted_rank *rank = add(*state, 0);
	struct ncs_function_view *view =
		&rank->snapshot.functions[NCS_FUNCTION_ALL_REDUCE];

	add(*state, 1);
	view->operations = 10;
	scripted_pass(*state, SECOND / 2);
	view->operations = 9;
	assert_non_null(strstr(line_of(*state), ", 0 operations in 500ms"));
}

/* Records a send of a rank to another one. */
static void send(struct scripted_rank *rank, unsigned flags)
{
	rank->records[rank->record_count++] = (struct ncs_record){
		.start = SECOND / 2,
		.duration = SECOND / 8,
		.event = NCS_EVENT_P2P,
		.function = NCS_FUNCTION_SEND,
		.operation = (uint32_t)rank->record_count + 1,
		.flags = (uint8_t)flags,
		.peer = 1,
		.number = flags ? rank->record_count : NCS_NO_SEQUENCE_NUMBER,
	};
}

TEST(healthy_job_says_that_sends_without_numbers_are_not_compared)
{
	struct scripted *scripted = *state;
	struct scripted_rank *rank = add(scripted, 0);
	char text[NCS_SENTENCE_MAX];

	add(scripted, 1);
	send(rank, NCS_RECORD_NUMBERED);
	send(rank, 0);
	assert_string_equal(line_of(scripted),
			    "well: nothing is wrong: 2 of 2 ranks level;"
			    " the lateness of sends and receives is unknown");
	for (size_t i = 0; ncs_unchecked_text(&scripted->model, i, text,
					      sizeof(text));
	     i++)
		if (strstr(text, ": 1 of 2 sends and receives"))
			return;
	fail_msg("it is not said how many");
}

TEST(segments_that_cannot_be_read_are_not_healthy)
{
	add(*state, 0);
	refuse(*state, 1, NCS_ATTACH_DENIED, NCS_WHY_OWNER "root");
	assert_string_equal(line_of(*state),
			    "no verdict: 1 segment belongs to root");
	refuse(*state, 2, NCS_ATTACH_DENIED, NCS_WHY_OWNER "root");
	assert_string_equal(line_of(*state),
			    "no verdict: 2 segments belong to root");
}

/* NCCL reports calls that symmetric kernels serve, but no operation. */
TEST(job_whose_operations_are_not_reported_is_not_healthy)
{
	struct scripted *scripted = *state;
	char text[NCS_SENTENCE_MAX];

	for (int i = 0; i < 2; i++) {
		struct scripted_rank *rank = add(scripted, i);
		struct ncs_function_view *functions = rank->snapshot.functions;

		functions[NCS_FUNCTION_ALL_REDUCE].operations = 0;
		functions[NCS_FUNCTION_ALL_REDUCE].calls = 10;
		functions[NCS_FUNCTION_ALL_TO_ALL].calls = 9;
		functions[NCS_FUNCTION_SEND].calls = 100;
		functions[NCS_FUNCTION_SEND].operations = 100;
		rank->snapshot.launches.launched = 0;
	}
	assert_string_equal(line_of(scripted),
			    "no verdict: NCCL reports no operation of most"
			    " calls: whether they end is not seen");
	assert_true(ncs_unchecked_text(&scripted->model, 0, text,
				       sizeof(text)));
	assert_non_null(strstr(text, ": AllReduce: NCCL reports 10 calls of rank"
				     " 0, but no operation"));
}

TEST(damaged_segment_is_not_healthy)
{
	refuse(*state, 0, NCS_ATTACH_CORRUPT, "it is too short");
	assert_string_equal(
		line_of(*state),
		"no verdict: 1 segment cannot be read: it is too short");
}

TEST(segment_that_is_being_created_is_no_trouble)
{
	add(*state, 0);
	refuse(*state, 1, NCS_ATTACH_NOT_READY, "it is not ready yet");
	assert_non_null(strstr(line_of(*state), "well: "));
}

static void share_of_outside_kernels(struct scripted_rank *rank,
				     uint64_t outside_ns, uint64_t busy_ns)
{
	rank->snapshot.cupti = (struct ncs_cupti_view){
		.known = true,
		.status = NCS_CUPTI_ON,
		.outside_kernels = outside_ns > 0,
		.outside_busy_ns = outside_ns,
		.busy_ns = busy_ns,
	};
}

/* Nobody knows whether communication that NCCL does not report is well. */
TEST(job_with_communication_outside_nccl_is_not_called_well)
{
	struct scripted *scripted = *state;
	struct scripted_rank *ranks[] = { add(scripted, 0), add(scripted, 1) };
	char text[NCS_SENTENCE_MAX];

	share_of_outside_kernels(ranks[0], 0, 300);
	share_of_outside_kernels(ranks[1], 50, 100);
	assert_string_equal(
		line_of(scripted),
		"no verdict: communication outside NCCL (12 % of the GPUs'"
		" time) is not seen; else nothing is wrong: 2 of 2 ranks"
		" level");
	assert_true(ncs_unchecked_text(&scripted->model, 0, text,
				       sizeof(text)));
	assert_string_equal(text, "communication outside NCCL: 12 % of the"
				  " GPUs' time");
	share_of_outside_kernels(ranks[1], 1, 1000);
	assert_non_null(strstr(line_of(scripted), "(under 1 % of the GPUs'"));
	/* None of their kernels communicates. */
	share_of_outside_kernels(ranks[1], 0, 100);
	assert_non_null(strstr(line_of(scripted), "well: nothing is wrong:"));
}

TEST(job_that_may_communicate_outside_nccl_is_not_called_well)
{
	struct scripted *scripted = *state;
	struct scripted_rank *ranks[] = { add(scripted, 0), add(scripted, 1) };
	char text[NCS_SENTENCE_MAX];

	ranks[0]->snapshot.outside_code = UINT64_C(1) << NCS_OUTSIDE_VLLM;
	ranks[1]->snapshot.outside_code = UINT64_C(1) << NCS_OUTSIDE_DEEP_EP;
	assert_string_equal(
		line_of(scripted),
		"no verdict: communication outside NCCL (DeepEP, vLLM) is not"
		" seen; else nothing is wrong: 2 of 2 ranks level");
	assert_true(ncs_unchecked_text(&scripted->model, 0, text,
				       sizeof(text)));
	assert_string_equal(text,
			    "communication outside NCCL: DeepEP, vLLM;"
			    " NCCLSTAT_CUPTI=1 tells how much there is");
	share_of_outside_kernels(ranks[0], 50, 100);
	assert_non_null(strstr(line_of(scripted),
			       "(50 % of the GPUs' time; DeepEP) is not"));
	/* All kernels are known, and none communicates: the library is not
	 * used. */
	share_of_outside_kernels(ranks[0], 0, 100);
	share_of_outside_kernels(ranks[1], 0, 100);
	assert_non_null(strstr(line_of(scripted), "well: nothing is wrong:"));
	/* CUPTI was not to be had. */
	ranks[1]->snapshot.cupti.status = NCS_CUPTI_TAKEN;
	assert_non_null(strstr(line_of(scripted), " (DeepEP) is not seen;"));
	/* Names of kernels do not tell of NCCL's one-sided calls. */
	share_of_outside_kernels(ranks[1], 0, 100);
	ranks[1]->snapshot.outside_code |= UINT64_C(1) << NCS_OUTSIDE_ONE_SIDED;
	assert_non_null(
		strstr(line_of(scripted), " (one-sided calls) is not seen;"));
	assert_true(ncs_unchecked_text(&scripted->model, 0, text,
				       sizeof(text)));
	assert_string_equal(text,
			    "communication outside NCCL: one-sided calls");
}

TEST(what_was_not_checked_is_listed)
{
	struct scripted *scripted = *state;
	char text[NCS_SENTENCE_MAX];
	struct scripted_rank *rank = add(scripted, 0);

	rank->snapshot.identity.nranks = 8;
	refuse(scripted, 1, NCS_ATTACH_CORRUPT, "it is too short");
	scripted_pass(scripted, SECOND);
	assert_true(ncs_unchecked_text(&scripted->model, 0, text,
				       sizeof(text)));
	assert_non_null(strstr(text, "1 segment cannot be read"));
	assert_true(ncs_unchecked_text(&scripted->model, 1, text,
				       sizeof(text)));
	assert_non_null(strstr(text, "1 of its 8 ranks are seen"));
	assert_true(ncs_unchecked_text(&scripted->model, 2, text,
				       sizeof(text)));
	assert_non_null(strstr(text, "only calls are known"));
	assert_false(ncs_unchecked_text(&scripted->model, 3, text,
					sizeof(text)));
	/* Its launches are followed. */
	rank->snapshot.launches.status = NCS_STREAM_ALL;
	scripted_pass(scripted, 2 * SECOND);
	assert_false(ncs_unchecked_text(&scripted->model, 2, text,
					sizeof(text)));
}

/* Records begin 3 s before the first look. */
TEST(what_a_first_look_cannot_see_is_said)
{
	struct scripted *scripted = *state;
	struct scripted_rank *rank = add(scripted, 0);
	char text[NCS_SENTENCE_MAX];

	rank->snapshot.launches.status = NCS_STREAM_ALL;
	rank->snapshot.identity.nranks = 1;
	rank->snapshot.calls_reach.overwritten = 77;
	rank->snapshot.calls_reach.from_ns = 17 * SECOND;
	send(rank, NCS_RECORD_NUMBERED);
	scripted_pass(scripted, 20 * SECOND);
	assert_true(
		ncs_unchecked_text(&scripted->model, 0, text, sizeof(text)));
	assert_non_null(strstr(text, ": only operations of the last 3.00s are"
				     " known: 77 records of rank 0 were"
				     " overwritten before this look"));
	scripted_pass(scripted, 28 * SECOND);
	assert_false(
		ncs_unchecked_text(&scripted->model, 0, text, sizeof(text)));
}

/* Looks at a channel that has sent 100 MB/s until `sent_ns`, and says what was not
 * checked; "" if all was. */
static const char *unchecked_of(struct scripted *scripted,
				struct ncs_diagnosis *diagnosis,
				struct ncs_channel_view *channel,
				uint64_t sent_ns, uint64_t now_ns)
{
	static char text[NCS_SENTENCE_MAX];

	channel->operations_done = channel->steps_done = sent_ns / 1000000;
	channel->bytes = sent_ns / 10;
	channel->since_ns = sent_ns;
	channel->time_ns[NCS_CHANNEL_SEND_WAIT] = sent_ns / 10;
	scripted->model.diagnosis = diagnosis;
	scripted_pass(scripted, now_ns);
	assert_int_equal(ncs_diagnose(diagnosis, &scripted->model), 0);
	ncs_unchecked_text(&scripted->model, 0, text, sizeof(text));
	return text;
}

TEST(links_without_a_past_are_not_checked)
{
	struct scripted *scripted = *state;
	struct scripted_rank *rank = add(scripted, 0);
	struct ncs_channel_view *channel;
	struct ncs_diagnosis diagnosis;
	const char *text;

	rank->snapshot.launches.status = NCS_STREAM_ALL;
	add(scripted, 1)->snapshot.launches.status = NCS_STREAM_ALL;
	channel = scripted_channel(rank, 0, true, 1);
	ncs_diagnosis_init(&diagnosis);
	text = unchecked_of(scripted, &diagnosis, channel, SECOND, SECOND);
	assert_non_null(strstr(text, ": links: there is no earlier look to"
				     " compare with"));
	for (uint64_t i = 2; i < 14; i++)
		text = unchecked_of(scripted, &diagnosis, channel, i * SECOND,
				    i * SECOND);
	assert_non_null(strstr(text, ": links: only the senders' waits are"
				     " known"));
	/* It has sent nothing for long. */
	text = unchecked_of(scripted, &diagnosis, channel, 13 * SECOND,
			    60 * SECOND);
	assert_string_equal(text, "");
	scripted->model.diagnosis = NULL;
	ncs_diagnosis_release(&diagnosis);
}

TEST(communicators_without_a_segment_are_not_checked)
{
	struct scripted *scripted = *state;
	struct scripted_rank *rank = add(scripted, 0);
	char text[NCS_SENTENCE_MAX];

	rank->snapshot.launches.status = NCS_STREAM_ALL;
	add(scripted, 1)->snapshot.launches.status = NCS_STREAM_ALL;
	scripted_pass(scripted, SECOND);
	assert_false(ncs_unchecked_text(&scripted->model, 0, text,
					sizeof(text)));
	rank->snapshot.losses[NCS_LOSS_UNPUBLISHED] = 3;
	assert_string_equal(line_of(scripted),
			    "well: nothing is wrong: 2 of 2 ranks level;"
			    " communicators that have no room for a segment are"
			    " not seen");
	assert_true(ncs_unchecked_text(&scripted->model, 0, text,
				       sizeof(text)));
	assert_non_null(strstr(text, "3 communicators of the processes"));
	assert_false(ncs_unchecked_text(&scripted->model, 1, text,
					sizeof(text)));
}

TEST(finding_says_where_its_root_runs_and_what_to_try)
{
	struct scripted *scripted = *state;
	struct ncs_identity *identity = &add(scripted, 1)->snapshot.identity;
	struct ncs_finding finding = { .verdict = NCS_VERDICT_GPU_LATE };
	char text[NCS_SENTENCE_MAX];

	identity->known |= NCS_KNOWN_GPU;
	strcpy(identity->gpu, "0000:18:00.0");
	scripted_pass(scripted, SECOND);
	finding.root = ncs_party_of(scripted_rank(scripted, 1));
	assert_true(ncs_party_where(&finding.root, text, sizeof(text)));
	assert_string_equal(text, "rank 1: pid 101 on n017,"
				  " GPU 0000:18:00.0");
	assert_true(ncs_finding_command(&finding, 0, text, sizeof(text)));
	assert_string_equal(text, "py-spy dump --pid 101");
	assert_true(ncs_finding_command(&finding, 1, text, sizeof(text)));
	assert_string_equal(text, "nvidia-smi -q -d PERFORMANCE,CLOCK -i"
				  " 0000:18:00.0");
	assert_false(ncs_finding_command(&finding, 2, text, sizeof(text)));
}

TEST(command_for_another_node_goes_there)
{
	struct scripted *scripted = *state;
	struct ncs_finding finding = { .verdict = NCS_VERDICT_RANK_MISSING };
	char text[NCS_SENTENCE_MAX];
	struct ncs_rank rank;

	add(scripted, 1);
	scripted_pass(scripted, SECOND);
	rank = *scripted_rank(scripted, 1);
	finding.root = ncs_party_of(&rank);
	strcpy(rank.reach, "ssh n2 ");
	assert_true(ncs_finding_command(&finding, 0, text, sizeof(text)));
	assert_string_equal(text, "ssh n2 py-spy dump --pid 101");
	assert_true(ncs_finding_command(&finding, 1, text, sizeof(text)));
	assert_string_equal(text, "ssh n2 \"gdb -p 101 -batch -ex 'thread apply"
				  " all bt'\"");
	strcpy(rank.reach, "kubectl exec -n default n2 -- ");
	assert_true(ncs_finding_command(&finding, 1, text, sizeof(text)));
	assert_string_equal(text, "kubectl exec -n default n2 -- gdb -p 101"
				  " -batch -ex 'thread apply all bt'");
}

/* NCCL is not called in a replay: nothing tells whether the host is late or the GPU. */
TEST(rank_that_replays_a_graph_has_not_begun)
{
	struct scripted *scripted = *state;
	struct ncs_finding finding = { .verdict = NCS_VERDICT_RANK_MISSING,
				       .call = ncs_no_call };
	char text[NCS_SENTENCE_MAX];
	struct ncs_rank rank;

	add(scripted, 1);
	scripted_pass(scripted, SECOND);
	rank = *scripted_rank(scripted, 1);
	finding.root = ncs_party_of(&rank);
	ncs_finding_sentence(&finding, text, sizeof(text));
	assert_non_null(strstr(text, " has not called "));
	assert_null(strstr(ncs_finding_next(&finding), "on its GPU"));
	rank.now.graphs.are_replays = true;
	ncs_finding_sentence(&finding, text, sizeof(text));
	assert_non_null(strstr(text, " has not begun "));
	assert_non_null(strstr(ncs_finding_next(&finding), "on its GPU"));
}

TEST(command_for_an_unknown_gpu_is_left_out)
{
	struct scripted *scripted = *state;
	struct ncs_finding finding = { .verdict = NCS_VERDICT_GPU_LATE };
	char text[NCS_SENTENCE_MAX];

	add(scripted, 1);
	scripted_pass(scripted, SECOND);
	finding.root = ncs_party_of(scripted_rank(scripted, 1));
	assert_true(ncs_finding_command(&finding, 0, text, sizeof(text)));
	assert_false(ncs_finding_command(&finding, 1, text, sizeof(text)));
}

TEST(each_verdict_has_a_command)
{
	struct scripted *scripted = *state;
	struct ncs_identity *identity = &add(scripted, 1)->snapshot.identity;
	struct ncs_finding finding = { 0 };
	char text[NCS_SENTENCE_MAX];

	identity->known |= NCS_KNOWN_GPU;
	strcpy(identity->gpu, "0000:18:00.0");
	scripted_pass(scripted, SECOND);
	finding.root = ncs_party_of(scripted_rank(scripted, 1));
	for (unsigned i = 0; i < NCS_VERDICT_COUNT; i++) {
		finding.verdict = i;
		assert_true(ncs_finding_command(&finding, 0, text,
						sizeof(text)));
		assert_null(strchr(text, '$'));
	}
}

/* Asserts what is advised for a rank that is late for a reason, and to try
 * first. */
static void assert_advice(const struct ncs_rank *rank, unsigned cause,
			  const char *next, const char *command)
{
	struct ncs_finding finding = { .verdict = NCS_VERDICT_LATE_RANK,
				       .root = ncs_party_of(rank),
				       .cause = cause };
	char text[NCS_SENTENCE_MAX];

	assert_non_null(strstr(ncs_finding_next(&finding), next));
	assert_int_equal(ncs_finding_command(&finding, 0, text, sizeof(text)),
			 command != NULL);
	if (command)
		assert_string_equal(text, command);
	assert_false(ncs_finding_command(&finding, 2, text, sizeof(text)));
}

TEST(advice_follows_the_cause)
{
	struct scripted *scripted = *state;
	struct ncs_identity *identity = &add(scripted, 1)->snapshot.identity;
	const struct ncs_rank *rank;

	identity->known |= NCS_KNOWN_GPU;
	strcpy(identity->gpu, "0000:18:00.0");
	scripted_pass(scripted, SECOND);
	rank = scripted_rank(scripted, 1);
	assert_advice(rank, NCS_LATE_HOST, "stack of its process",
		      "py-spy dump --pid 101");
	assert_advice(rank, NCS_LATE_STREAM, "Earlier kernels of the app",
		      "nvidia-smi -q -d PERFORMANCE,CLOCK -i 0000:18:00.0");
	assert_advice(rank, NCS_LATE_PROXY, "proxy thread",
		      "top -b -n 1 -H -p 101");
	assert_advice(rank, NCS_LATE_PEER, "another communicator", NULL);
	assert_advice(rank, NCS_LATE_CAUSE_COUNT, "if its host is late",
		      "py-spy dump --pid 101");
}

TEST(process_that_is_gone_has_no_stack)
{
	struct scripted *scripted = *state;
	struct ncs_finding finding = { .verdict = NCS_VERDICT_RANK_MISSING };
	char text[NCS_SENTENCE_MAX];

	add(scripted, 1)->snapshot.liveness = NCS_DEAD;
	scripted_pass(scripted, SECOND);
	finding.root = ncs_party_of(scripted_rank(scripted, 1));
	assert_false(ncs_finding_command(&finding, 0, text, sizeof(text)));
	finding.verdict = NCS_VERDICT_RANK_DIED;
	assert_true(ncs_finding_command(&finding, 0, text, sizeof(text)));
}

/* Rounding must not make a bound one that does not hold. */
TEST(bounds_of_a_cost_are_rounded_to_the_safe_side)
{
	struct ncs_finding finding = { .verdict = NCS_VERDICT_LATE_RANK,
				       .call = ncs_no_call,
				       .cause = NCS_LATE_HOST,
				       .share = 0.376,
				       .share_least = 0.357,
				       .share_most = 0.765 };
	char text[NCS_SENTENCE_MAX];

	ncs_finding_sentence(&finding, text, sizeof(text));
	assert_non_null(strstr(text, " costs at least 35 % of the time"));
	finding.share_most = 0.381;
	ncs_finding_sentence(&finding, text, sizeof(text));
	assert_non_null(strstr(text, " costs 38 % of the time"));
	finding.share_least = 0.101;
	ncs_finding_sentence(&finding, text, sizeof(text));
	assert_non_null(strstr(text, " costs at most 39 % of the time"));
	finding.share_most = 0.765;
	ncs_finding_sentence(&finding, text, sizeof(text));
	assert_non_null(strstr(text, " about 38 % (10 to 77 %) of the time"));
}

TEST(durations_of_a_death_without_a_date_are_bounds)
{
	struct scripted *scripted = *state;
	struct scripted_rank *rank = add(scripted, 1);
	struct ncs_finding finding = { .verdict = NCS_VERDICT_RANK_MISSING,
				       .call = ncs_no_call,
				       .duration_ns = 2 * SECOND };
	char text[NCS_SENTENCE_MAX];

	rank->snapshot.liveness = NCS_DEAD;
	scripted_pass(scripted, 9 * SECOND);
	finding.root = ncs_party_of(scripted_rank(scripted, 1));
	ncs_finding_sentence(&finding, text, sizeof(text));
	assert_non_null(
		strstr(text, "(at least 2.00s until its process was gone)"));
	finding.verdict = NCS_VERDICT_RANK_DIED;
	ncs_finding_sentence(&finding, text, sizeof(text));
	assert_non_null(strstr(text, "(at most 2.00s so far)"));
	/* Its watch thread dates the death. */
	rank->header.process_start++;
	rank->snapshot.alive_ns = 7 * SECOND;
	scripted_pass(scripted, 10 * SECOND);
	finding.root = ncs_party_of(scripted_rank(scripted, 1));
	ncs_finding_sentence(&finding, text, sizeof(text));
	assert_non_null(strstr(text, "(2.00s so far)"));
	finding.verdict = NCS_VERDICT_RANK_MISSING;
	ncs_finding_sentence(&finding, text, sizeof(text));
	assert_non_null(strstr(text, "(2.00s until its process was gone)"));
}

/* Asserts what a piece of evidence about rank 1 says. */
static void assert_says(struct scripted *scripted, struct ncs_evidence evidence,
			const char *expected)
{
	char text[NCS_SENTENCE_MAX];

	evidence.party = ncs_party_of(scripted_rank(scripted, 1));
	ncs_evidence_text(&evidence, text, sizeof(text));
	assert_non_null(strchr(text, ':'));
	assert_string_equal(strchr(text, ':') + 2, expected);
}

TEST(evidence_has_what_its_words_stand_for)
{
	struct scripted *scripted = *state;
	const struct ncs_call_id call = { NCS_FUNCTION_ALL_REDUCE, 17 };

	add(scripted, 0);
	add(scripted, 1);
	scripted_pass(scripted, SECOND);
	assert_says(scripted,
		    (struct ncs_evidence){ .kind = NCS_EVIDENCE_HOST,
					   .duration_ns = 15 * SECOND,
					   .expected = 42 * SECOND },
		    "the others waited for its host before: 15.0s at most, in"
		    " the 42.0s that are known");
	assert_says(scripted,
		    (struct ncs_evidence){ .kind = NCS_EVIDENCE_HOST_UNKNOWN },
		    "whether the others waited for its host before is not"
		    " known");
	assert_says(scripted,
		    (struct ncs_evidence){ .kind = NCS_EVIDENCE_BORN,
					   .duration_ns = 5 * SECOND },
		    "initialized its communicator 5.00s later than the rank"
		    " that waits longest");
	assert_says(scripted,
		    (struct ncs_evidence){ .kind = NCS_EVIDENCE_CALLED,
					   .call = call,
					   .duration_ns = 2 * SECOND },
		    "has called AllReduce #17, for 2.00s");
	assert_says(scripted,
		    (struct ncs_evidence){ .kind = NCS_EVIDENCE_CALLED,
					   .call = call },
		    "has called AllReduce #17");
	assert_says(scripted,
		    (struct ncs_evidence){ .kind = NCS_EVIDENCE_MOVED,
					   .call = call,
					   .number = 4,
					   .duration_ns = 2 * SECOND },
		    "time in which data moves: 2.00s in the latest 4 AllReduce"
		    " #17, earlier unknown");
	assert_says(scripted,
		    (struct ncs_evidence){ .kind = NCS_EVIDENCE_ENDED,
					   .number = 1,
					   .duration_ns = 2 * SECOND },
		    "1 operation ended although ranks called it differently,"
		    " the latest 2.00s ago: results are wrong");
	assert_says(scripted,
		    (struct ncs_evidence){ .kind = NCS_EVIDENCE_NODES,
					   .number = 1,
					   .expected = 3,
					   .share = 1 },
		    "1 of 3 nodes does not answer");
}

TEST(rank_that_is_not_seen_runs_nowhere)
{
	const struct ncs_finding finding = {
		.verdict = NCS_VERDICT_RANK_MISSING,
		.root.number = 3,
	};
	char text[NCS_SENTENCE_MAX];

	assert_false(ncs_party_where(&finding.root, text, sizeof(text)));
	assert_false(ncs_finding_command(&finding, 0, text, sizeof(text)));
}
