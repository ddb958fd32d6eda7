/* SPDX-License-Identifier: MIT */
/* Tests of the synthetic job: the job is reproducible, its numbers are
 * consistent, and it has all special cases that the tests of the views rely
 * on. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "analysis/views/columns.h"
#include "test/unit/support/source_synthetic.h"

#define SECOND UINT64_C(1000000000)
#define T0 (1000 * SECOND)
#define AGE_AT_T0 (5 * SECOND)

struct job {
	struct ncs_source *source;
	struct ncs_model model;
};

static void job_init(struct job *job, uint64_t seed, unsigned ranks,
		     unsigned channels)
{
	job->source = ncs_source_open_synthetic(seed, ranks, channels);
	assert_non_null(job->source);
	ncs_model_init(&job->model);
}

static void job_release(struct job *job)
{
	ncs_model_release(&job->model);
	job->source->close(job->source);
}

static void job_pass(struct job *job, uint64_t now_ns)
{
	assert_int_equal(ncs_model_update(&job->model, job->source, now_ns), 0);
}

/* --- Reproducible ------------------------------------------------------- */

/* Hashes all cells of all views, one after another. */
static uint64_t hash_of(const struct ncs_model *model)
{
	struct ncs_row *rows = NULL;
	uint64_t hash = UINT64_C(0xcbf29ce484222325);
	size_t capacity = 0;

	for (size_t i = 0; i < ncs_column_count; i++) {
		int count =
			ncs_rows(model, ncs_columns[i].view, &rows, &capacity);

		assert_true(count >= 0);
		for (int k = 0; k < count; k++) {
			struct ncs_value value;
			unsigned char bytes[sizeof(value)];

			ncs_column_get(&ncs_columns[i], &rows[k], &value);
			value.recent = NULL; /* its address differs */
			memcpy(bytes, &value, sizeof(value));
			for (size_t m = 0; m < sizeof(bytes); m++)
				hash = (hash ^ bytes[m]) *
				       UINT64_C(0x100000001b3);
		}
	}
	free(rows);
	return hash;
}

static uint64_t hash_after(uint64_t seed, uint64_t passes)
{
	struct job job;
	uint64_t hash;

	job_init(&job, seed, 8, 4);
	for (uint64_t i = 0; i < passes; i++)
		job_pass(&job, T0 + i * SECOND);
	hash = hash_of(&job.model);
	job_release(&job);
	return hash;
}

static void same_seed_and_passes_give_the_same_cells(void **state)
{
	(void)state;
	assert_true(hash_after(7, 3) == hash_after(7, 3));
	assert_true(hash_after(7, 3) != hash_after(8, 3));
	assert_true(hash_after(7, 3) != hash_after(7, 4));
}

/* --- Consistent numbers ------------------------------------------------- */

static void assert_grows(uint64_t before, uint64_t now)
{
	assert_true(before <= now);
}

static void check_channel(const struct ncs_channel_view *before,
			  const struct ncs_channel_view *now)
{
	assert_int_equal(before->channel, now->channel);
	assert_int_equal(before->send, now->send);
	assert_int_equal(before->peer, now->peer);
	assert_grows(before->bytes, now->bytes);
	assert_grows(before->steps_started, now->steps_started);
	assert_grows(before->steps_done, now->steps_done);
	assert_grows(before->operations_started, now->operations_started);
	assert_grows(before->operations_done, now->operations_done);
	for (size_t i = 0; i < NCS_CHANNEL_STATE_COUNT; i++)
		assert_grows(before->time_ns[i], now->time_ns[i]);
	assert_true(now->steps_done <= now->steps_started);
	assert_true(now->operations_done <= now->operations_started);
}

static uint64_t total_of(const uint64_t *histogram)
{
	uint64_t total = 0;

	for (unsigned i = 0; i < NCS_HISTOGRAM_BUCKETS; i++)
		total += histogram[i];
	return total;
}

static void check_function(const struct ncs_function_view *before,
			   const struct ncs_function_view *now)
{
	assert_grows(before->operations, now->operations);
	assert_grows(before->operations_done, now->operations_done);
	assert_grows(before->bytes, now->bytes);
	assert_true(now->operations_done <= now->operations);
	for (size_t i = 0; i < NCS_TIMING_COUNT; i++) {
		assert_grows(before->timed[i], now->timed[i]);
		assert_grows(before->time_ns[i], now->time_ns[i]);
		if (now->timed[i] > 0)
			assert_int_equal(total_of(now->histogram[i]),
					 now->timed[i]);
	}
}

static void counters_never_go_back(void **state)
{
	struct job job, behind; /* the same job, one pass behind */

	(void)state;
	job_init(&job, 3, 9, 3);
	job_init(&behind, 3, 9, 3);
	job_pass(&job, T0);
	for (uint64_t i = 1; i < 400; i++) {
		job_pass(&job, T0 + i * SECOND / 37);
		job_pass(&behind, T0 + (i - 1) * SECOND / 37);
		for (size_t k = 0; k < job.model.rank_count; k++) {
			const struct ncs_snapshot *now =
				&job.model.ranks[k]->now;
			const struct ncs_snapshot *before =
				&behind.model.ranks[k]->now;

			assert_int_equal(before->channel_count,
					 now->channel_count);
			for (size_t m = 0; m < now->channel_count; m++)
				check_channel(&before->channels[m],
					      &now->channels[m]);
			for (size_t m = 0; m < NCS_FUNCTION_COUNT; m++)
				check_function(&before->functions[m],
					       &now->functions[m]);
			for (size_t m = 0; m < NCS_TRANSITION_COUNT; m++)
				assert_grows(before->proxy.count[m],
					     now->proxy.count[m]);
			for (size_t m = 0; m < NCS_LOSS_COUNT; m++)
				assert_grows(before->losses[m], now->losses[m]);
		}
	}
	job_release(&job);
	job_release(&behind);
}

static void times_of_a_channels_states_add_up_to_the_interval(void **state)
{
	struct job job;

	(void)state;
	job_init(&job, 3, 4, 2);
	job_pass(&job, T0);
	job_pass(&job, T0 + 7 * SECOND);
	for (size_t i = 0; i < job.model.rank_count; i++) {
		const struct ncs_rank *rank = job.model.ranks[i];
		const struct ncs_counters *before = ncs_rank_before(rank);

		for (size_t k = 0; k < rank->now.channel_count; k++) {
			struct ncs_channel_counters now;
			uint64_t sum_ns = 0;

			ncs_channel_count(&now, &rank->now.channels[k]);
			for (size_t m = 0; m < NCS_CHANNEL_TIMES; m++)
				sum_ns += now.time_ns[m] -
					  before->channels[k].time_ns[m];
			assert_true(sum_ns == 7 * SECOND);
		}
	}
	job_release(&job);
}

static void states_began_within_the_life_of_the_job(void **state)
{
	struct job job;

	(void)state;
	job_init(&job, 3, 8, 2);
	for (uint64_t i = 0; i < 50; i++) {
		uint64_t now_ns = T0 + i * SECOND / 7;

		job_pass(&job, now_ns);
		for (size_t k = 0; k < job.model.rank_count; k++) {
			const struct ncs_snapshot *now =
				&job.model.ranks[k]->now;

			for (size_t m = 0; m < now->channel_count; m++)
				assert_in_range(now->channels[m].since_ns,
						T0 - AGE_AT_T0, now_ns);
			for (size_t m = 0; m < now->operation_count; m++)
				assert_in_range(now->operations[m].start_ns,
						T0 - AGE_AT_T0, now_ns);
		}
	}
	job_release(&job);
}

/* --- The special cases -------------------------------------------------- */

static size_t count_ranks(const struct ncs_model *model, const char *comm,
			  enum ncs_liveness liveness)
{
	size_t count = 0;

	for (size_t i = 0; i < model->rank_count; i++)
		count += strcmp(model->ranks[i]->now.identity.comm_name,
				comm) == 0 &&
			 model->ranks[i]->now.liveness == liveness;
	return count;
}

static void one_of_eight_ranks_or_more_is_dead(void **state)
{
	struct job job;

	(void)state;
	job_init(&job, 1, 7, 1);
	job_pass(&job, T0);
	assert_int_equal(count_ranks(&job.model, "world", NCS_ALIVE), 7);
	assert_int_equal(count_ranks(&job.model, "world", NCS_DEAD), 0);
	job_release(&job);
	job_init(&job, 1, 8, 1);
	job_pass(&job, T0);
	assert_int_equal(count_ranks(&job.model, "world", NCS_ALIVE), 7);
	assert_int_equal(count_ranks(&job.model, "world", NCS_DEAD), 1);
	job_release(&job);
}

static void two_ranks_or_more_have_other_communicators(void **state)
{
	const struct ncs_rank *old = NULL;
	struct job job;

	(void)state;
	job_init(&job, 1, 2, 1);
	job_pass(&job, T0);
	assert_int_equal(job.model.rank_count, 6);
	assert_int_equal(count_ranks(&job.model, "setup", NCS_FINISHED), 1);
	assert_int_equal(count_ranks(&job.model, "", NCS_ALIVE), 3);
	for (size_t i = 0; i < job.model.rank_count; i++)
		if (job.model.ranks[i]->api_version == 1)
			old = job.model.ranks[i];
	assert_non_null(old);
	assert_false(ncs_rank_proxy_known(old));
	assert_false(ncs_channel_bytes_known(&old->now.channels[0]));
	assert_int_equal(old->now.identity.known & NCS_KNOWN_NRANKS, 0);
	job_release(&job);
}

static void a_job_of_one_rank_has_no_other_communicator(void **state)
{
	struct job job;

	(void)state;
	job_init(&job, 1, 1, 1);
	job_pass(&job, T0);
	job_pass(&job, T0 + 20 * SECOND);
	assert_int_equal(job.model.rank_count, 1);
	job_release(&job);
}

static bool is_stuck(const struct ncs_rank *rank,
		     const struct ncs_channel_view *channel)
{
	return channel->state != NCS_CHANNEL_IDLE &&
	       ncs_rank_end_ns(rank) - channel->since_ns > SECOND;
}

/* Counts stuck senders and receivers after a time. */
static void count_stuck(uint64_t after_ns, size_t *senders, size_t *receivers)
{
	struct job job;

	*senders = *receivers = 0;
	job_init(&job, 1, 6, 4);
	job_pass(&job, T0);
	job_pass(&job, T0 + after_ns);
	for (size_t i = 0; i < job.model.rank_count; i++) {
		const struct ncs_rank *rank = job.model.ranks[i];

		for (size_t k = 0; k < rank->now.channel_count; k++) {
			const struct ncs_channel_view *channel =
				&rank->now.channels[k];

			if (!is_stuck(rank, channel))
				continue;
			if (channel->send) {
				assert_int_equal(channel->state,
						 NCS_CHANNEL_SEND_PEER_WAIT);
				(*senders)++;
			} else {
				assert_int_equal(channel->state,
						 NCS_CHANNEL_RECV_WAIT);
				(*receivers)++;
			}
		}
	}
	job_release(&job);
}

static void one_channel_hangs_from_an_age_of_eight_seconds(void **state)
{
	size_t senders, receivers;

	(void)state;
	count_stuck(2 * SECOND, &senders, &receivers);
	assert_int_equal(senders + receivers, 0);
	count_stuck(60 * SECOND, &senders, &receivers);
	assert_int_equal(senders, 1);
	assert_int_equal(receivers, 1);
}

static void one_rank_keeps_its_network_waiting_for_its_gpu(void **state)
{
	size_t late = 0;
	struct job job;

	(void)state;
	job_init(&job, 1, 6, 1);
	job_pass(&job, T0);
	for (size_t i = 0; i < job.model.rank_count; i++) {
		const struct ncs_channel_view *channel =
			job.model.ranks[i]->now.channels;
		uint64_t total_ns = 0;

		if (job.model.ranks[i]->now.channel_count == 0)
			continue;
		assert_true(channel->send);
		for (size_t k = 0; k < NCS_CHANNEL_STATE_COUNT; k++)
			total_ns += channel->time_ns[k];
		late += channel->time_ns[NCS_CHANNEL_SEND_GPU_WAIT] >
			total_ns / 2;
	}
	assert_int_equal(late, 1);
	job_release(&job);
}

static void one_rank_has_lost_events(void **state)
{
	size_t losers = 0;
	struct job job;

	(void)state;
	job_init(&job, 1, 6, 1);
	job_pass(&job, T0);
	for (size_t i = 0; i < job.model.rank_count; i++)
		losers += ncs_rank_lost(job.model.ranks[i]) > 0;
	assert_int_equal(losers, 1);
	job_release(&job);
}

static void large_jobs_have_all_their_rows(void **state)
{
	struct ncs_row *rows = NULL;
	size_t capacity = 0;
	struct job job;

	(void)state;
	job_init(&job, 1, 64, 32);
	job_pass(&job, T0);
	job_pass(&job, T0 + SECOND);
	/* 64 in the world, 2 without a name, 1 finished, 1 old. */
	assert_int_equal(ncs_rows(&job.model, NCS_VIEW_RANK, &rows, &capacity),
			 68);
	assert_int_equal(ncs_rows(&job.model, NCS_VIEW_CHANNEL, &rows,
				  &capacity),
			 (64 + 2 + 1) * 32 * 2);
	free(rows);
	job_release(&job);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(same_seed_and_passes_give_the_same_cells),
		cmocka_unit_test(counters_never_go_back),
		cmocka_unit_test(
			times_of_a_channels_states_add_up_to_the_interval),
		cmocka_unit_test(states_began_within_the_life_of_the_job),
		cmocka_unit_test(one_of_eight_ranks_or_more_is_dead),
		cmocka_unit_test(two_ranks_or_more_have_other_communicators),
		cmocka_unit_test(a_job_of_one_rank_has_no_other_communicator),
		cmocka_unit_test(
			one_channel_hangs_from_an_age_of_eight_seconds),
		cmocka_unit_test(
			one_rank_keeps_its_network_waiting_for_its_gpu),
		cmocka_unit_test(one_rank_has_lost_events),
		cmocka_unit_test(large_jobs_have_all_their_rows),
	};

	return cmocka_run_group_tests_name("synthetic", tests, NULL, NULL);
}
