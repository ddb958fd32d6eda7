/* SPDX-License-Identifier: MIT */
/* Windows: where each begins, exact rates over it, ranks that come, go and
 * start again, and long times without an update. */
#include <stdio.h>
#include <string.h>

#include "analysis/model/class_stats.h"
#include "analysis/views/columns.h"
#include "test/unit/support/scripted_source.h"
#include "test/unit/support/unit.h"

#define SECOND UINT64_C(1000000000)
#define BORN (1000 * SECOND)

static struct scripted scripted;
static struct scripted_rank *rank;
static struct ncs_channel_view *channel;

/* Sets up a rank that sends 1 MB/s and begins two operations a second from its
 * birth on, and waits for its GPU three quarters of the time. */
static int setup(void **state)
{
	(void)state;
	scripted_init(&scripted);
	rank = scripted_add(&scripted, 0);
	rank->header.created = BORN;
	channel = scripted_channel(rank, 3, true, 1);
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	scripted_release(&scripted);
	return 0;
}

/* Adds the work of some seconds at `speed` times the usual pace. */
static void work(uint64_t seconds, uint64_t speed)
{
	struct ncs_function_view *function =
		&rank->snapshot.functions[NCS_FUNCTION_ALL_REDUCE];

	channel->bytes += seconds * speed * 1000000;
	channel->time_ns[NCS_CHANNEL_SEND_GPU_WAIT] += seconds * SECOND * 3 / 4;
	channel->time_ns[NCS_CHANNEL_IDLE] += seconds * SECOND / 4;
	function->operations += 2 * seconds * speed;
	function->timed[NCS_TIMING_PROXY] += 2 * seconds * speed;
}

/* Adds `count` operations of the same time. */
static void time_operations(uint64_t count, uint64_t time_ns)
{
	uint64_t *histogram = scripted_histogram(rank, NCS_FUNCTION_ALL_REDUCE,
						 NCS_TIMING_PROXY);

	histogram[ncs_histogram_bucket(time_ns)] += count;
}

/* Updates the model at each second of a range, after a second of work. */
static void refresh(uint64_t from_s, uint64_t until_s, uint64_t speed)
{
	for (uint64_t i = from_s; i <= until_s; i++) {
		work(1, speed);
		scripted_pass(&scripted, BORN + i * SECOND);
	}
}

static double cell(enum ncs_column_id id, size_t index)
{
	const struct ncs_row row = {
		.view = ncs_columns[id].view,
		.rank = scripted_rank(&scripted, 0),
		.index = index,
	};
	struct ncs_value value;

	ncs_column_get(&ncs_columns[id], &row, &value);
	return value.kind == NCS_VALUE_NONE ? -1 : value.real;
}

static void assert_near(double is, double wanted)
{
	if (is < wanted - 1e-6 || is > wanted + 1e-6)
		fail_msg("%f is not %f", is, wanted);
}

static void assert_window(enum ncs_window window, uint64_t seconds, double rate)
{
	ncs_model_set_window(&scripted.model, window);
	assert_int_equal(ncs_model_window_ns(&scripted.model),
			 seconds * SECOND);
	assert_near(cell(NCS_COLUMN_CHANNEL_RATE, 0), rate);
	if (rate < 0)
		return;
	assert_near(cell(NCS_COLUMN_RANK_SEND_RATE, 0), rate * 1e6);
	assert_near(cell(NCS_COLUMN_RANK_OPERATIONS_RATE, 0), 2 * rate);
	assert_near(cell(NCS_COLUMN_FUNCTION_RATE, NCS_FUNCTION_ALL_REDUCE),
		    2 * rate);
	assert_near(cell(NCS_COLUMN_CHANNEL_GPU_SHARE, 0), 0.75);
}

/* --- Where a window begins ------------------------------------------------ */

UNIT_FIXTURE(setup, teardown)

TEST(each_window_has_its_length)
{
	/* The first update comes at 300 s: these are known as a sum only. */
	work(300, 1);
	refresh(301, 400, 1);
	refresh(401, 480, 4);
	refresh(481, 500, 10);
	assert_window(NCS_WINDOW_NOW, 1, 10);
	ncs_model_set_window(&scripted.model, NCS_WINDOW_10_S);
	assert_in_range(ncs_model_window_ns(&scripted.model), 10 * SECOND,
			13 * SECOND);
	assert_near(cell(NCS_COLUMN_CHANNEL_RATE, 0), 10);
	ncs_model_set_window(&scripted.model, NCS_WINDOW_100_S);
	assert_in_range(ncs_model_window_ns(&scripted.model), 100 * SECOND,
			125 * SECOND);
	assert_window(NCS_WINDOW_START, 500, (400 + 80 * 4 + 20 * 10) / 500.0);
}

TEST(window_longer_than_the_history_is_shortened)
{
	work(300, 7);
	refresh(301, 304, 2);
	assert_window(NCS_WINDOW_10_S, 3, 2);
	assert_window(NCS_WINDOW_100_S, 3, 2);
}

TEST(window_of_a_new_rank_begins_at_its_birth)
{
	work(3, 5);
	scripted_pass(&scripted, BORN + 3 * SECOND);
	assert_window(NCS_WINDOW_NOW, 0, -1);
	assert_window(NCS_WINDOW_10_S, 3, 5);
	assert_window(NCS_WINDOW_100_S, 3, 5);
	assert_window(NCS_WINDOW_START, 3, 5);
}

TEST(unknown_birth_gives_no_window_since_start)
{
	rank->header.created = 0;
	work(3, 5);
	scripted_pass(&scripted, BORN + 3 * SECOND);
	for (unsigned i = 0; i < NCS_WINDOW_COUNT; i++)
		assert_window((enum ncs_window)i, 0, -1);
}

TEST(no_interval_makes_a_window_too_short)
{
	static const uint64_t intervals_ms[] = { 100, 700, 2400, 2600, 9900 };

	work(1000, 1);
	for (size_t i = 0; i < 5; i++) {
		uint64_t interval_ns = intervals_ms[i] * 1000000;
		uint64_t begun_ns = BORN + (i + 1) * 1000 * SECOND;

		ncs_model_set_window(&scripted.model, NCS_WINDOW_10_S);
		for (unsigned k = 0; k < 300; k++) {
			uint64_t window_ns;

			scripted_pass(&scripted, begun_ns + k * interval_ns);
			window_ns = ncs_model_window_ns(&scripted.model);
			if (k * interval_ns < 10 * SECOND)
				continue;
			assert_true(window_ns >= 10 * SECOND);
			assert_true(window_ns < 12500000000 + interval_ns);
		}
	}
}

TEST(pause_of_updates_makes_a_window_longer_not_wrong)
{
	work(300, 1);
	refresh(301, 320, 1);
	work(60, 3);
	scripted_pass(&scripted, BORN + 380 * SECOND);
	assert_window(NCS_WINDOW_NOW, 60, 3);
	ncs_model_set_window(&scripted.model, NCS_WINDOW_10_S);
	assert_in_range(ncs_model_window_ns(&scripted.model), 60 * SECOND,
			63 * SECOND);
	refresh(381, 394, 1);
	assert_near(cell(NCS_COLUMN_CHANNEL_RATE, 0), 1);
}

/* --- Percentiles ---------------------------------------------------------- */

static void assert_percentile(double fraction, uint64_t wanted_ns)
{
	uint64_t time_ns = ncs_rank_percentile(
		scripted_rank(&scripted, 0), NCS_FUNCTION_ALL_REDUCE, fraction);

	assert_in_range(time_ns, wanted_ns - wanted_ns / 15,
			wanted_ns + wanted_ns / 15);
}

TEST(percentiles_are_those_of_the_window)
{
	time_operations(1000, 1000000);
	refresh(1, 200, 1);
	time_operations(90, 20000000);
	time_operations(10, 70000000);
	refresh(201, 201, 1);
	/* One interval has too few operations: these are all. */
	assert_percentile(0.50, 1000000);
	assert_percentile(1, 70000000);
	ncs_model_set_window(&scripted.model, NCS_WINDOW_START);
	assert_percentile(0.50, 1000000);
	ncs_model_set_window(&scripted.model, NCS_WINDOW_10_S);
	assert_percentile(0.50, 20000000);
	assert_percentile(0.90, 20000000);
	assert_percentile(0.95, 70000000);
	refresh(202, 220, 1);
	assert_int_equal(ncs_rank_percentile(scripted_rank(&scripted, 0),
					     NCS_FUNCTION_ALL_REDUCE, 0.5),
			 0);
	ncs_model_set_window(&scripted.model, NCS_WINDOW_100_S);
	assert_percentile(0.50, 20000000);
}

TEST(percentiles_start_again_at_the_mark)
{
	time_operations(1000, 1000000);
	refresh(1, 5, 1);
	assert_int_equal(ncs_model_mark(&scripted.model), 0);
	time_operations(3, 5000000);
	refresh(6, 6, 1);
	ncs_model_set_window(&scripted.model, NCS_WINDOW_MARK);
	assert_percentile(0.01, 5000000);
}

TEST(each_function_and_timing_has_its_own_times)
{
	uint64_t counts[NCS_HISTORY_BUCKETS];
	uint64_t *other = scripted_histogram(rank, NCS_FUNCTION_ALL_REDUCE + 1,
					     NCS_TIMING_KERNEL);
	const struct ncs_counters *base;

	time_operations(7, 1000);
	other[0] = 5;
	other[NCS_HISTOGRAM_BUCKETS - 1] = 9;
	refresh(1, 3, 1);
	other[NCS_HISTOGRAM_BUCKETS - 1] += 2;
	refresh(4, 4, 1);
	base = ncs_history_base(&scripted_rank(&scripted, 0)->history,
				NCS_WINDOW_10_S, BORN + 13 * SECOND);
	assert_non_null(base);
	ncs_counters_times(base, NCS_FUNCTION_ALL_REDUCE + 1, NCS_TIMING_KERNEL,
			   other, counts);
	assert_int_equal(counts[0], 0);
	assert_int_equal(counts[NCS_HISTORY_BUCKETS - 1], 2);
	ncs_counters_times(base, NCS_FUNCTION_ALL_REDUCE, NCS_TIMING_PROXY,
			   other, counts);
	assert_int_equal(counts[0], 5);
}

/* --- The mark ------------------------------------------------------------- */

TEST(rates_start_again_at_the_mark)
{
	work(300, 1);
	refresh(301, 310, 9);
	assert_int_equal(ncs_model_mark(&scripted.model), 0);
	assert_window(NCS_WINDOW_MARK, 0, -1);
	assert_near(cell(NCS_COLUMN_CHANNEL_GPU_SHARE, 0), -1);
	refresh(311, 350, 2);
	assert_window(NCS_WINDOW_MARK, 40, 2);
	ncs_model_mark(&scripted.model);
	refresh(351, 352, 6);
	assert_window(NCS_WINDOW_MARK, 2, 6);
}

TEST(rank_born_after_the_mark_counts_from_its_birth)
{
	rank->is_there = false;
	scripted_pass(&scripted, BORN - 10 * SECOND);
	ncs_model_mark(&scripted.model);
	rank->is_there = true;
	work(4, 3);
	scripted_pass(&scripted, BORN + 4 * SECOND);
	assert_window(NCS_WINDOW_MARK, 4, 3);
}

TEST(rank_not_seen_at_the_mark_counts_from_first_sample)
{
	rank->is_there = false;
	scripted_pass(&scripted, BORN + 10 * SECOND);
	ncs_model_mark(&scripted.model);
	rank->is_there = true;
	work(20, 3);
	refresh(21, 21, 8);
	refresh(22, 30, 2);
	assert_window(NCS_WINDOW_MARK, 9, 2);
}

/* --- Coming and going ----------------------------------------------------- */

TEST(rank_that_comes_back_has_no_past)
{
	work(300, 1);
	refresh(301, 330, 5);
	rank->is_there = false;
	scripted_pass(&scripted, BORN + 331 * SECOND);
	rank->is_there = true;
	work(9, 5);
	refresh(340, 340, 5);
	assert_window(NCS_WINDOW_10_S, 0, -1);
	refresh(341, 342, 4);
	assert_window(NCS_WINDOW_10_S, 2, 4);
}

TEST(restart_with_same_pid_has_no_past)
{
	refresh(1, 40, 5);
	rank->header.created = BORN + 40 * SECOND;
	rank->snapshot.functions[NCS_FUNCTION_ALL_REDUCE] =
		(struct ncs_function_view){ 0 };
	channel->bytes = 0;
	memset(channel->time_ns, 0, sizeof(channel->time_ns));
	refresh(41, 42, 3);
	assert_window(NCS_WINDOW_NOW, 1, 3);
	assert_window(NCS_WINDOW_10_S, 2, 3);
	assert_window(NCS_WINDOW_START, 2, 3);
}

TEST(new_channel_counts_from_zero)
{
	struct ncs_channel_view *other;

	work(300, 1);
	refresh(301, 320, 2);
	other = scripted_channel(rank, 4, true, 1);
	other->bytes = 20000000;
	refresh(321, 321, 2);
	ncs_model_set_window(&scripted.model, NCS_WINDOW_NOW);
	assert_near(cell(NCS_COLUMN_CHANNEL_RATE, 1), 20);
	assert_near(cell(NCS_COLUMN_CHANNEL_RATE, 0), 2);
}

TEST(counter_that_goes_back_has_no_rate)
{
	work(300, 1);
	refresh(301, 320, 2);
	channel->bytes = 1;
	scripted_pass(&scripted, BORN + 321 * SECOND);
	ncs_model_set_window(&scripted.model, NCS_WINDOW_10_S);
	assert_near(cell(NCS_COLUMN_CHANNEL_RATE, 0), -1);
}

TEST(window_since_start_ends_with_the_rank)
{
	refresh(1, 20, 3);
	rank->snapshot.liveness = NCS_DEAD;
	rank->snapshot.last_call_ns = BORN + 20 * SECOND;
	for (uint64_t i = 21; i <= 200; i++)
		scripted_pass(&scripted, BORN + i * SECOND);
	assert_window(NCS_WINDOW_START, 20, 3);
	ncs_model_set_window(&scripted.model, NCS_WINDOW_10_S);
	assert_near(cell(NCS_COLUMN_CHANNEL_RATE, 0), 0);
}

/* --- Counts that stay the same -------------------------------------------- */

static void assert_same_counters(const struct ncs_counters *a,
				 const struct ncs_counters *b)
{
	assert_true(a->taken_ns == b->taken_ns && a->lost == b->lost);
	assert_memory_equal(a->proxy_time_ns, b->proxy_time_ns,
			    sizeof(a->proxy_time_ns));
	assert_memory_equal(a->functions, b->functions, sizeof(a->functions));
	assert_int_equal(a->channel_count, b->channel_count);
	for (size_t i = 0; i < a->channel_count; i++) {
		assert_true(a->channels[i].bytes == b->channels[i].bytes);
		assert_memory_equal(a->channels[i].time_ns,
				    b->channels[i].time_ns,
				    sizeof(a->channels[i].time_ns));
	}
	assert_int_equal(a->class_count, b->class_count);
	for (size_t i = 0; i < a->class_count; i++)
		assert_true(a->classes[i].key == b->classes[i].key &&
			    a->classes[i].operations ==
				    b->classes[i].operations);
	assert_int_equal(a->time_count, b->time_count);
	for (size_t i = 0; i < a->time_count; i++)
		assert_true(a->times[i] == b->times[i]);
}

TEST(counts_that_stay_the_same_are_kept_as_if_they_were_copied)
{
	struct ncs_history told = { 0 }, copied = { 0 };
	struct ncs_snapshot *now = &rank->snapshot;
	struct ncs_class_view *view =
		scripted_class(rank, NCS_FUNCTION_ALL_REDUCE, 4096, 1, 2);
	uint64_t unchanged_since_ns = 0;

	scripted_pass(&scripted, BORN); /* which completes the snapshot */
	for (uint64_t i = 0; i < 300; i++) {
		/* It works for 70 s, hangs for 80 s, and so on. */
		const bool works = i % 150 < 70;

		now->taken_ns = BORN + i * SECOND;
		if (works || i == 0) {
			unchanged_since_ns = now->taken_ns;
			work(1, 1);
			view->operations++;
			time_operations(1, 1000 * (i + 1));
			now->losses[NCS_LOSS_STALE]++;
		}
		channel->time_ns[NCS_CHANNEL_SEND_GPU_WAIT] += SECOND;
		now->proxy.time_ns[1] += SECOND;
		assert_int_equal(
			ncs_history_take(&told, now, unchanged_since_ns), 0);
		assert_int_equal(ncs_history_take(&copied, now, UINT64_MAX), 0);
		for (unsigned window = 0; window < NCS_WINDOW_START; window++)
			assert_same_counters(ncs_history_base(&told, window,
							      now->taken_ns),
					     ncs_history_base(&copied, window,
							      now->taken_ns));
	}
	ncs_history_release(&told);
	ncs_history_release(&copied);
}

/* --- Memory --------------------------------------------------------------- */

TEST(history_of_a_large_job_stays_small)
{
	size_t channels = 2 * 32 * sizeof(struct ncs_channel_counters);
	size_t sets = 2 + 2 * NCS_HISTORY_DEPTH;

	assert_true(512 * (sizeof(struct ncs_history) + sets * channels) <=
		    (size_t)28 << 20);
}
