/* SPDX-License-Identifier: MIT */
/* The rule for ranks that are not seen and that kernels wait for: over NVLink no
 * channel tells, but a kernel that has begun and does not end. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "analysis/diagnosis/diagnosis.h"
#include "ncclstat/names.h"
#include "test/unit/support/scripted_source.h"
#include "tui/text/finding_text.h"

#define MS UINT64_C(1000000)
#define SECOND UINT64_C(1000000000)
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

static void a_kernel_waits_for_the_rank_that_is_not_seen(void **state)
{
	struct scripted *scripted = *state;

	reduce(add(scripted, 0, 2));
	assert_found(scripted, 40 * SECOND, NCS_SEVERITY_STUCK, 1, 1);
}

static void a_rank_in_the_middle_is_named_by_its_number(void **state)
{
	struct scripted *scripted = *state;

	for (int i = 0; i < 4; i++)
		if (i != 2)
			reduce(add(scripted, i, 4));
	assert_found(scripted, 40 * SECOND, NCS_SEVERITY_STUCK, 2, 3);
}

static void of_several_that_are_not_seen_none_is_named(void **state)
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
static void a_wait_is_slow_after_1_s_and_stuck_after_5(void **state)
{
	struct scripted *scripted = *state;

	reduce(add(scripted, 0, 2));
	assert_healthy(scripted, 10 * SECOND + 900 * MS);
	assert_found(scripted, 11 * SECOND, NCS_SEVERITY_SLOW, 1, 1);
	assert_found(scripted, 14 * SECOND + 900 * MS, NCS_SEVERITY_SLOW, 1, 1);
	assert_found(scripted, 15 * SECOND, NCS_SEVERITY_STUCK, 1, 1);
}

/* One look tells by the ages it has that nothing moves. */
static void a_single_look_tells_an_old_wait_as_stuck(void **state)
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

static void a_rank_that_is_seen_and_has_not_called_is_named_first(void **state)
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

static void a_kernel_that_is_queued_waits_for_nobody(void **state)
{
	struct scripted *scripted = *state;
	struct scripted_rank *rank = add(scripted, 0, 2);

	reduce(rank);
	rank->snapshot.launches.begun = LAUNCH - 1;
	rank->snapshot.launches.begun_ns = 9 * SECOND;
	assert_healthy(scripted, 40 * SECOND);
}

/* The root of a broadcast needs nobody; the others need the root. */
static void a_root_that_sends_waits_for_nobody(void **state)
{
	struct scripted *scripted = *state;

	call(add(scripted, 0, 2), NCS_FUNCTION_BROADCAST, 10 * SECOND)->peer = 0;
	assert_healthy(scripted, 40 * SECOND);
	scripted->ranks[0].operations[0].peer = 1;
	assert_found(scripted, 42 * SECOND, NCS_SEVERITY_STUCK, 1, 1);
}

static void a_transfer_names_its_peer(void **state)
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
static void data_that_move_are_no_wait(void **state)
{
	struct scripted *scripted = *state;
	struct scripted_rank *rank = add(scripted, 0, 2);
	struct ncs_channel_view *channel =
		scripted_channel(rank, 0, true, 1);

	reduce(rank);
	channel->state = NCS_CHANNEL_SEND_WAIT;
	channel->since_ns = 39 * SECOND + 900 * MS;
	channel->function = NCS_FUNCTION_ALL_REDUCE;
	channel->step = 1;
	assert_healthy(scripted, 40 * SECOND);
}

/* Ranks of a host share what comes over the network: a kernel that runs and gives no
 * data may wait, over NVLink, for a rank whose process has not begun. */
static void a_kernel_without_data_waits_for_the_rank_that_is_not_seen(
	void **state)
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
static void a_channel_that_has_not_begun_hides_no_wait(void **state)
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
static void a_gpu_that_passes_on_what_is_not_seen_is_not_blamed(void **state)
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
static void a_gpu_that_has_not_begun_is_blamed_for_those_that_pass_on(
	void **state)
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

static void ranks_that_may_wait_for_one_that_is_not_seen_are_no_verdict(
	void **state)
{
	struct scripted *scripted = *state;

	for (int i = 0; i < 3; i++)
		post(scripted, i, 4);
	assert_found(scripted, 40 * SECOND, NCS_SEVERITY_UNSEEN, -1, 3);
}

static void ranks_that_compute_are_healthy_where_all_are_seen(void **state)
{
	struct scripted *scripted = *state;

	for (int i = 0; i < 4; i++)
		post(scripted, i, 4);
	assert_healthy(scripted, 40 * SECOND);
}

static void a_rank_that_goes_on_shows_that_none_is_waited_for(void **state)
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
	struct ncs_channel_view *channel =
		scripted_channel(rank, 0, false, 1);
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

static void a_rank_of_a_ring_that_sends_nothing_has_not_called(void **state)
{
	assert_int_equal(without_data(*state, NCS_FUNCTION_ALL_REDUCE,
				      NCS_ALGORITHM_RING, -1),
			 NCS_VERDICT_RANK_MISSING);
}

static void a_rank_of_a_tree_that_sends_nothing_may_wait_itself(void **state)
{
	assert_int_equal(without_data(*state, NCS_FUNCTION_ALL_REDUCE,
				      NCS_ALGORITHM_TREE, -1),
			 NCS_VERDICT_PEER_WAIT);
}

static void a_root_that_sends_nothing_has_not_called(void **state)
{
	assert_int_equal(without_data(*state, NCS_FUNCTION_BROADCAST,
				      NCS_ALGORITHM_RING, 1),
			 NCS_VERDICT_RANK_MISSING);
}

static void a_rank_of_a_chain_that_sends_nothing_may_wait_itself(void **state)
{
	assert_int_equal(without_data(*state, NCS_FUNCTION_BROADCAST,
				      NCS_ALGORITHM_RING, 3),
			 NCS_VERDICT_PEER_WAIT);
}

/* Launches are not followed; NCCL has told that the kernel has begun. */
static void a_kernel_channel_tells_as_much_as_a_launch(void **state)
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
static void a_healthy_job_of_which_one_rank_is_seen_is_never_stuck(void **state)
{
	static const uint64_t computes_ns[] = { 400 * MS, 900 * MS, 1000 * MS,
						3000 * MS };

	(void)state;
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
			assert_int_equal(ncs_diagnose(&diagnosis,
						      &scripted.model),
					 0);
			assert_true(ncs_diagnosis_severity(&diagnosis) <
				    NCS_SEVERITY_STUCK);
			if (computes_ns[i] < SECOND)
				assert_int_equal(diagnosis.count, 0);
		}
		ncs_diagnosis_release(&diagnosis);
		scripted_release(&scripted);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
#define TEST(name) \
	cmocka_unit_test_setup_teardown(name, scripted_setup, scripted_teardown)
		TEST(a_kernel_waits_for_the_rank_that_is_not_seen),
		TEST(a_rank_in_the_middle_is_named_by_its_number),
		TEST(of_several_that_are_not_seen_none_is_named),
		TEST(a_wait_is_slow_after_1_s_and_stuck_after_5),
		TEST(a_single_look_tells_an_old_wait_as_stuck),
		TEST(a_rank_that_is_seen_and_has_not_called_is_named_first),
		TEST(a_kernel_that_is_queued_waits_for_nobody),
		TEST(a_root_that_sends_waits_for_nobody),
		TEST(a_transfer_names_its_peer),
		TEST(data_that_move_are_no_wait),
		TEST(a_kernel_without_data_waits_for_the_rank_that_is_not_seen),
		TEST(a_channel_that_has_not_begun_hides_no_wait),
		TEST(a_gpu_that_has_not_begun_is_blamed_for_those_that_pass_on),
		TEST(a_gpu_that_passes_on_what_is_not_seen_is_not_blamed),
		TEST(ranks_that_may_wait_for_one_that_is_not_seen_are_no_verdict),
		TEST(ranks_that_compute_are_healthy_where_all_are_seen),
		TEST(a_rank_that_goes_on_shows_that_none_is_waited_for),
		TEST(a_rank_of_a_ring_that_sends_nothing_has_not_called),
		TEST(a_rank_of_a_tree_that_sends_nothing_may_wait_itself),
		TEST(a_root_that_sends_nothing_has_not_called),
		TEST(a_rank_of_a_chain_that_sends_nothing_may_wait_itself),
		TEST(a_kernel_channel_tells_as_much_as_a_launch),
		cmocka_unit_test(
			a_healthy_job_of_which_one_rank_is_seen_is_never_stuck),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
