/* SPDX-License-Identifier: MIT */
/* The columns: the table is sound, and each kind of cell is computed as its
 * help says; unknown values are NONE. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/views/columns.h"
#include "analysis/diagnosis/diagnosis.h"
#include "ncclstat/names.h"
#include "ncclstat/size_class.h"
#include "test/unit/support/scripted_source.h"
#include "test/unit/support/unit.h"

#define SECOND UINT64_C(1000000000)

/* Returns the cell of rank 0's row, or of its communicator's. */
static struct ncs_value cell(const struct scripted *scripted,
			     enum ncs_column_id id, size_t index)
{
	const struct ncs_column *column = &ncs_columns[id];
	struct ncs_row row = {
		.view = column->view,
		.rank = scripted_rank(scripted, 0),
		.index = index,
	};
	struct ncs_value value;

	if (row.view == NCS_VIEW_NODE) {
		row.node = &scripted->nodes[index];
		row.rank = NULL;
		row.now_ns = scripted->now_ns;
	}
	if (row.view == NCS_VIEW_FINDING)
		row.finding = scripted->model.diagnosis->findings;
	if (row.view == NCS_VIEW_COMMUNICATOR ||
	    row.view == NCS_VIEW_COLLECTIVE) {
		row.communicator = row.rank->communicator;
		row.rank = NULL;
	}
	memset(&value, 0xa5, sizeof(value));
	ncs_column_get(column, &row, &value);
	return value;
}

static void assert_none(struct ncs_value value)
{
	assert_int_equal(value.kind, NCS_VALUE_NONE);
}

static void assert_number(struct ncs_value value, int64_t number)
{
	assert_int_equal(value.kind, NCS_VALUE_NUMBER);
	assert_int_equal(value.number, number);
}

static void assert_text(struct ncs_value value, const char *text)
{
	assert_int_equal(value.kind, NCS_VALUE_TEXT);
	assert_string_equal(value.text, text);
}

static void assert_duration(struct ncs_value value, uint64_t duration_ns)
{
	assert_int_equal(value.kind, NCS_VALUE_DURATION);
	assert_int_equal(value.number, duration_ns);
}

static void assert_real(struct ncs_value value, enum ncs_value_kind kind,
			double real)
{
	assert_int_equal(value.kind, kind);
	if (value.real < real - 1e-9 || value.real > real + 1e-9)
		fail_msg("%.12g is not %.12g", value.real, real);
}

/* --- The table ---------------------------------------------------------- */

UNIT_FIXTURE(scripted_setup, scripted_teardown)

TEST(columns_are_complete_and_wide_enough_for_their_titles)
{
	assert_int_equal(ncs_column_count, NCS_COLUMN_COUNT);
	for (size_t i = 0; i < ncs_column_count; i++) {
		const struct ncs_column *column = &ncs_columns[i];
		size_t length = strlen(column->help);

		if (column->width < strlen(column->title))
			fail_msg("%s is narrower than its title", column->id);
		if (length == 0 || column->help[length - 1] != '.')
			fail_msg("%s: help is not a sentence", column->id);
		assert_in_range(column->priority, 1, 9);
		assert_int_equal((column->value.get != NULL) +
					 (column->value.type != NCS_FIELD_NONE),
				 1);
	}
}

TEST(titles_are_unique_within_a_view)
{
	for (size_t i = 0; i < ncs_column_count; i++)
		for (size_t k = 0; k < i; k++)
			if (ncs_columns[i].view == ncs_columns[k].view &&
			    strcmp(ncs_columns[i].title,
				   ncs_columns[k].title) == 0)
				fail_msg("%s and %s have one title",
					 ncs_columns[i].id, ncs_columns[k].id);
}

TEST(column_ids_are_indexes_of_the_table)
{
	assert_string_equal(ncs_columns[NCS_COLUMN_RANK_RANK].id, "RANK_RANK");
	assert_string_equal(ncs_columns[NCS_COLUMN_FUNCTION_SEQUENCE].id,
			    "FUNCTION_SEQUENCE");
}

TEST(every_view_has_a_name_and_columns)
{
	for (unsigned view = 0; view < NCS_VIEW_COUNT; view++) {
		size_t columns = 0;

		assert_non_null(ncs_views[view].option);
		for (size_t i = 0; i < ncs_column_count; i++)
			columns += ncs_columns[i].view == (enum ncs_view)view;
		assert_true(columns > 0);
	}
}

/* The rank exists, and nothing else is known of it. */
TEST(unknown_values_are_none_in_every_column)
{
	static const enum ncs_column_id known[] = {
		NCS_COLUMN_RANK_PID,           NCS_COLUMN_RANK_STATE,
		NCS_COLUMN_RANK_LOST,          NCS_COLUMN_RANK_API,
		NCS_COLUMN_RANK_WAIT,          NCS_COLUMN_CHANNEL_CHANNEL,
		NCS_COLUMN_CHANNEL_DIRECTION,  NCS_COLUMN_CHANNEL_PEER,
		NCS_COLUMN_CHANNEL_STATE,      NCS_COLUMN_CHANNEL_OPERATIONS,
		NCS_COLUMN_CHANNEL_STEPS,      NCS_COLUMN_PROXY_PID,
		NCS_COLUMN_FUNCTION_FUNCTION,  NCS_COLUMN_FUNCTION_OPERATIONS,
		NCS_COLUMN_FUNCTION_TIMING,    NCS_COLUMN_FUNCTION_TIMED,
		NCS_COLUMN_CLASS_FUNCTION,     NCS_COLUMN_CLASS_OPERATIONS,
		NCS_COLUMN_CLASS_TIMING,       NCS_COLUMN_CLASS_TIMED,
		NCS_COLUMN_COMMUNICATOR_SEEN,  NCS_COLUMN_COMMUNICATOR_LIVE,
		NCS_COLUMN_COMMUNICATOR_DEAD,  NCS_COLUMN_COMMUNICATOR_SILENT,
		NCS_COLUMN_COMMUNICATOR_LOST,  NCS_COLUMN_RANGE_NAME,
		NCS_COLUMN_RANGE_OPERATIONS,   NCS_COLUMN_FINDING_SEVERITY,
		NCS_COLUMN_FINDING_VERDICT,    NCS_COLUMN_FINDING_WAITING,
		NCS_COLUMN_FINDING_CONFIDENCE, NCS_COLUMN_COLLECTIVE_FUNCTION,
		NCS_COLUMN_COLLECTIVE_RANKS,   NCS_COLUMN_COLLECTIVE_TIMING,
		NCS_COLUMN_COLLECTIVE_TIMED,   NCS_COLUMN_COLLECTIVE_OPERATIONS,
		NCS_COLUMN_NODE_NAME,          NCS_COLUMN_NODE_STATE,
		NCS_COLUMN_NODE_LOOKS,         NCS_COLUMN_NODE_BYTES,
	};
	static struct ncs_finding finding = {
		.root = { .number = -1 },
		.peer = { .number = -1 },
		.call = { NCS_FUNCTION_COUNT, NCS_NO_SEQUENCE_NUMBER },
	};
	static const struct ncs_diagnosis diagnosis = {
		.findings = &finding,
		.count = 1,
	};
	static struct ncs_range_view range = { .number = 2, .size_unknown = 1 };
	struct scripted *scripted = *state;
	struct scripted_rank *rank = scripted_add(scripted, 0);

	rank->snapshot.ranges = &range;
	rank->snapshot.range_count = 1;
	scripted->nodes[0] = (struct ncs_node){ .name = "n",
						.state = NCS_NODE_RUNNING };

	rank->snapshot.identity.known = 0;
	rank->header.api_version = 1;
	scripted_channel(rank, 0, true, 1)->size_unknown = 1;
	scripted_class(rank, 0, 0, NCS_ALGORITHM_UNKNOWN, NCS_PROTOCOL_UNKNOWN)
		->size_class = NCS_SIZE_CLASS_UNKNOWN;
	scripted_pass(scripted, SECOND);
	finding.root.communicator = scripted->model.communicators;
	scripted->model.diagnosis = &diagnosis;
	for (unsigned i = 0; i < NCS_COLUMN_COUNT; i++) {
		struct ncs_value value =
			cell(scripted, (enum ncs_column_id)i, 0);
		bool is_known = false;

		for (size_t k = 0; k < sizeof(known) / sizeof(known[0]); k++)
			is_known = is_known || known[k] == i;
		if ((value.kind != NCS_VALUE_NONE) != is_known)
			fail_msg("%s is %s", ncs_columns[i].id,
				 is_known ? "NONE" : "not NONE");
	}
}

TEST(nodes_show_how_they_are_seen)
{
	struct scripted *scripted = *state;

	scripted->nodes[0] = (struct ncs_node){
		.name = "n7",
		.state = NCS_NODE_SILENT,
		.look_ns = 2 * SECOND,
		.program_version = 1 << 16 | 2 << 8 | 3,
		.bytes_a_second = 7000,
		.ranks = 8,
		.looks_dropped = 5,
		.looks_lost = 1,
		.clock_is_aligned = true,
		.clock_error_ns = 300000,
	};
	scripted->nodes[1] = (struct ncs_node){
		.name = "n8",
		.state = NCS_NODE_REFUSED,
		.why = "Permission denied (publickey)",
	};
	scripted->node_count = 2;
	scripted_add(scripted, 0);
	scripted_pass(scripted, 14 * SECOND);
	assert_text(cell(scripted, NCS_COLUMN_NODE_STATE, 0), "silent");
	assert_duration(cell(scripted, NCS_COLUMN_NODE_AGE, 0), 12 * SECOND);
	assert_number(cell(scripted, NCS_COLUMN_NODE_RANKS, 0), 8);
	assert_real(cell(scripted, NCS_COLUMN_NODE_RATE, 0),
		    NCS_VALUE_BYTES_RATE, 7000);
	assert_number(cell(scripted, NCS_COLUMN_NODE_DROPPED, 0), 5);
	assert_number(cell(scripted, NCS_COLUMN_NODE_LOST, 0), 1);
	assert_duration(cell(scripted, NCS_COLUMN_NODE_CLOCK, 0), 300000);
	assert_text(cell(scripted, NCS_COLUMN_NODE_VERSION, 0), "1.2.3");
	assert_text(cell(scripted, NCS_COLUMN_NODE_WHY, 0),
		    "no data from it for some time");
	assert_text(cell(scripted, NCS_COLUMN_NODE_WHY, 1),
		    "Permission denied (publickey)");
	assert_none(cell(scripted, NCS_COLUMN_NODE_RANKS, 1));
	assert_none(cell(scripted, NCS_COLUMN_NODE_AGE, 1));
	assert_none(cell(scripted, NCS_COLUMN_NODE_CLOCK, 1));
}

TEST(the_least_seen_nodes_come_first)
{
	static const enum ncs_node_state states[] = {
		NCS_NODE_RUNNING, NCS_NODE_SILENT, NCS_NODE_RUNNING,
		NCS_NODE_NOT_REACHABLE, NCS_NODE_NO_JOB,
	};
	static const size_t order[] = { 3, 1, 4, 0, 2 };
	struct scripted *scripted = *state;
	struct ncs_row *rows = NULL;
	size_t capacity = 0;

	scripted->node_count = sizeof(states) / sizeof(states[0]);
	for (size_t i = 0; i < scripted->node_count; i++)
		scripted->nodes[i] = (struct ncs_node){ .name = "n",
							.state = states[i] };
	scripted_pass(scripted, SECOND);
	assert_int_equal(ncs_rows(&scripted->model, NCS_VIEW_NODE, &rows,
				  &capacity),
			 5);
	for (size_t i = 0; i < 5; i++)
		assert_int_equal(rows[i].index, order[i]);
	free(rows);
}

TEST(a_rank_of_a_silent_node_is_past)
{
	struct scripted *scripted = *state;
	struct scripted_rank *rank = scripted_add(scripted, 0);
	struct ncs_channel_view *channel = scripted_channel(rank, 0, true, 1);
	struct ncs_value value;

	channel->state = NCS_CHANNEL_SEND_PEER_WAIT;
	channel->since_ns = SECOND;
	rank->snapshot.liveness = NCS_ALIVE;
	scripted->nodes[0] = (struct ncs_node){ .name = "n",
						.state = NCS_NODE_SILENT };
	scripted->node_count = 1;
	scripted_pass(scripted, 3 * SECOND);
	assert_text(cell(scripted, NCS_COLUMN_RANK_STATE, 0), "alive");
	rank->is_past = true;
	scripted_pass(scripted, 60 * SECOND);
	value = cell(scripted, NCS_COLUMN_RANK_STATE, 0);
	assert_text(value, "past");
	assert_true(value.is_stale);
	/* It had waited for so long at the latest look. */
	assert_duration(cell(scripted, NCS_COLUMN_RANK_OLDEST, 0), 2 * SECOND);
}

TEST(ranges_show_compute_time_and_hidden_share)
{
	static struct ncs_range_view range = {
		.number = 2,
		.gpu = { .compute_kernels = 3,
			 .compute_ns = 900,
			 .compute_busy_ns = 700,
			 .communication_kernels = 1,
			 .communication_ns = 400,
			 .hidden_ns = 100 },
	};
	struct scripted *scripted = *state;
	struct scripted_rank *rank = scripted_add(scripted, 0);

	rank->snapshot.ranges = &range;
	rank->snapshot.range_count = 1;
	scripted_pass(scripted, SECOND);
	assert_int_equal(cell(scripted, NCS_COLUMN_RANGE_COMPUTE, 0).number,
			 700);
	assert_real(cell(scripted, NCS_COLUMN_RANGE_HIDDEN, 0), NCS_VALUE_SHARE,
		    0.25);
}

/* --- Rates -------------------------------------------------------------- */

TEST(rates_need_two_samples)
{
	struct scripted *scripted = *state;
	struct scripted_rank *rank = scripted_add(scripted, 0);
	struct ncs_channel_view *channel = scripted_channel(rank, 0, true, 1);

	channel->bytes = 1000000;
	rank->snapshot.functions[NCS_FUNCTION_REDUCE].operations = 5;
	scripted_pass(scripted, SECOND);
	assert_none(cell(scripted, NCS_COLUMN_CHANNEL_RATE, 0));
	assert_none(cell(scripted, NCS_COLUMN_RANK_SEND_RATE, 0));
	assert_none(cell(scripted, NCS_COLUMN_RANK_OPERATIONS_RATE, 0));
	scripted_pass(scripted, 2 * SECOND);
	assert_real(cell(scripted, NCS_COLUMN_CHANNEL_RATE, 0), NCS_VALUE_REAL,
		    0);
}

TEST(rates_are_growth_per_time_between_two_samples)
{
	struct scripted *scripted = *state;
	struct scripted_rank *rank = scripted_add(scripted, 0);
	struct ncs_channel_view *send = scripted_channel(rank, 0, true, 1);
	struct ncs_channel_view *recv = scripted_channel(rank, 0, false, 1);

	rank->snapshot.proxy.state = NCS_PROXY_SLEEP;
	scripted_pass(scripted, SECOND);
	send->bytes = 6000000;
	recv->bytes = 1000000;
	rank->snapshot.functions[NCS_FUNCTION_REDUCE].operations = 5;
	rank->snapshot.functions[NCS_FUNCTION_SEND].operations = 3;
	rank->snapshot.proxy.count[NCS_TRANSITION_WAKEUP] = 10;
	scripted_pass(scripted, SECOND + SECOND / 2);
	assert_real(cell(scripted, NCS_COLUMN_CHANNEL_RATE, 0), NCS_VALUE_REAL,
		    12);
	assert_real(cell(scripted, NCS_COLUMN_RANK_SEND_RATE, 0),
		    NCS_VALUE_BYTES_RATE, 12e6);
	assert_real(cell(scripted, NCS_COLUMN_RANK_RECV_RATE, 0),
		    NCS_VALUE_BYTES_RATE, 2e6);
	assert_real(cell(scripted, NCS_COLUMN_RANK_OPERATIONS_RATE, 0),
		    NCS_VALUE_RATE, 16);
	assert_real(cell(scripted, NCS_COLUMN_FUNCTION_RATE, NCS_FUNCTION_SEND),
		    NCS_VALUE_RATE, 6);
	assert_real(cell(scripted, NCS_COLUMN_PROXY_WAKEUP_RATE, 0),
		    NCS_VALUE_RATE, 20);
}

TEST(a_channel_keeps_its_base_when_its_index_changes)
{
	struct scripted *scripted = *state;
	struct scripted_rank *rank = scripted_add(scripted, 0);
	struct ncs_channel_view *channel;

	channel = scripted_channel(rank, 3, true, 1);
	channel->bytes = 1000000;
	scripted_pass(scripted, SECOND);
	/* A channel that comes before it moves its index. */
	rank->snapshot.channel_count = 0;
	scripted_channel(rank, 1, true, 1)->bytes = 9000000;
	scripted_channel(rank, 3, true, 1)->bytes = 5000000;
	scripted_pass(scripted, 2 * SECOND);
	assert_real(cell(scripted, NCS_COLUMN_CHANNEL_RATE, 0), NCS_VALUE_REAL,
		    9);
	assert_real(cell(scripted, NCS_COLUMN_CHANNEL_RATE, 1), NCS_VALUE_REAL,
		    4);
}

TEST(a_counter_that_decreased_has_no_rate)
{
	struct scripted *scripted = *state;
	struct scripted_rank *rank = scripted_add(scripted, 0);
	struct ncs_channel_view *channel = scripted_channel(rank, 0, true, 1);

	channel->bytes = 2000000;
	scripted_pass(scripted, SECOND);
	channel->bytes = 1000000;
	scripted_pass(scripted, 2 * SECOND);
	assert_none(cell(scripted, NCS_COLUMN_CHANNEL_RATE, 0));
}

TEST(two_samples_of_the_same_time_give_no_rate)
{
	struct scripted *scripted = *state;

	scripted_add(scripted, 0);
	scripted_pass(scripted, SECOND);
	scripted_pass(scripted, SECOND);
	assert_none(cell(scripted, NCS_COLUMN_RANK_OPERATIONS_RATE, 0));
}

TEST(bytes_without_a_size_have_no_rate)
{
	struct scripted *scripted = *state;
	struct scripted_rank *rank = scripted_add(scripted, 0);

	scripted_channel(rank, 0, true, 1)->size_unknown = 5;
	scripted_pass(scripted, SECOND);
	scripted_pass(scripted, 2 * SECOND);
	assert_none(cell(scripted, NCS_COLUMN_CHANNEL_BYTES, 0));
	assert_none(cell(scripted, NCS_COLUMN_CHANNEL_RATE, 0));
	assert_none(cell(scripted, NCS_COLUMN_RANK_SEND_RATE, 0));
	/* That no bytes are received is known. */
	assert_real(cell(scripted, NCS_COLUMN_RANK_RECV_RATE, 0),
		    NCS_VALUE_BYTES_RATE, 0);
}

/* --- Shares ------------------------------------------------------------- */

TEST(shares_cover_all_time_and_then_the_interval)
{
	struct scripted *scripted = *state;
	struct scripted_rank *rank = scripted_add(scripted, 0);
	struct ncs_channel_view *channel = scripted_channel(rank, 0, false, 1);

	channel->time_ns[NCS_CHANNEL_IDLE] = 900;
	channel->time_ns[NCS_CHANNEL_RECV_WAIT] = 100;
	scripted_pass(scripted, SECOND);
	assert_real(cell(scripted, NCS_COLUMN_CHANNEL_PEER_SHARE, 0),
		    NCS_VALUE_SHARE, 0.1);
	assert_real(cell(scripted, NCS_COLUMN_CHANNEL_IDLE_SHARE, 0),
		    NCS_VALUE_SHARE, 0.9);
	channel->time_ns[NCS_CHANNEL_RECV_WAIT] += 30;
	channel->time_ns[NCS_CHANNEL_RECV_GPU_WAIT] += 10;
	scripted_pass(scripted, 2 * SECOND);
	assert_real(cell(scripted, NCS_COLUMN_CHANNEL_PEER_SHARE, 0),
		    NCS_VALUE_SHARE, 0.75);
	assert_real(cell(scripted, NCS_COLUMN_CHANNEL_GPU_SHARE, 0),
		    NCS_VALUE_SHARE, 0.25);
	assert_real(cell(scripted, NCS_COLUMN_CHANNEL_IDLE_SHARE, 0),
		    NCS_VALUE_SHARE, 0);
}

TEST(shares_of_a_clock_that_stands_still_are_since_the_start)
{
	struct scripted *scripted = *state;
	struct scripted_rank *rank = scripted_add(scripted, 0);
	struct ncs_channel_view *channel = scripted_channel(rank, 0, true, 1);

	channel->time_ns[NCS_CHANNEL_SEND_WAIT] = 300;
	channel->time_ns[NCS_CHANNEL_IDLE] = 100;
	scripted_pass(scripted, SECOND);
	scripted_pass(scripted, 2 * SECOND);
	assert_real(cell(scripted, NCS_COLUMN_CHANNEL_NET_SHARE, 0),
		    NCS_VALUE_SHARE, 0.75);
}

TEST(old_apis_do_not_report_a_senders_wait_for_its_peer)
{
	struct scripted *scripted = *state;
	struct scripted_rank *rank = scripted_add(scripted, 0);

	rank->header.api_version = 3;
	scripted_channel(rank, 0, true, 1)->time_ns[NCS_CHANNEL_IDLE] = 1;
	scripted_channel(rank, 0, false, 1)->time_ns[NCS_CHANNEL_IDLE] = 1;
	scripted_pass(scripted, SECOND);
	assert_none(cell(scripted, NCS_COLUMN_CHANNEL_PEER_SHARE, 0));
	assert_real(cell(scripted, NCS_COLUMN_CHANNEL_PEER_SHARE, 1),
		    NCS_VALUE_SHARE, 0);
	rank->header.api_version = 4;
	scripted_pass(scripted, 2 * SECOND);
	assert_real(cell(scripted, NCS_COLUMN_CHANNEL_PEER_SHARE, 0),
		    NCS_VALUE_SHARE, 0);
}

TEST(time_of_an_unknown_proxy_state_has_no_share)
{
	struct scripted *scripted = *state;
	struct scripted_rank *rank = scripted_add(scripted, 0);

	rank->snapshot.proxy.state = NCS_PROXY_IDLE;
	rank->snapshot.proxy.time_ns[NCS_PROXY_UNKNOWN] = 1000;
	rank->snapshot.proxy.time_ns[NCS_PROXY_SLEEP] = 60;
	rank->snapshot.proxy.time_ns[NCS_PROXY_IDLE] = 40;
	scripted_pass(scripted, SECOND);
	assert_real(cell(scripted, NCS_COLUMN_PROXY_SLEEP_SHARE, 0),
		    NCS_VALUE_SHARE, 0.6);
}

/* --- What a rank waits for ---------------------------------------------- */

static void set_state(struct ncs_channel_view *channel,
		      enum ncs_channel_state to, uint64_t since_ns)
{
	channel->state = to;
	channel->since_ns = since_ns;
}

TEST(wait_is_what_most_busy_channels_wait_for)
{
	struct scripted *scripted = *state;
	struct scripted_rank *rank = scripted_add(scripted, 0);

	scripted_channel(rank, 0, true, 1);
	scripted_channel(rank, 1, true, 1);
	scripted_channel(rank, 2, true, 1);
	scripted_pass(scripted, SECOND);
	assert_text(cell(scripted, NCS_COLUMN_RANK_WAIT, 0), "idle");
	assert_none(cell(scripted, NCS_COLUMN_RANK_OLDEST, 0));

	set_state(&rank->channels[0], NCS_CHANNEL_SEND_WAIT, 900);
	scripted_pass(scripted, 2 * SECOND);
	assert_text(cell(scripted, NCS_COLUMN_RANK_WAIT, 0), "network:1");

	/* If two states are equally frequent, the one that has lasted longest
	 * is shown. */
	set_state(&rank->channels[1], NCS_CHANNEL_SEND_PEER_WAIT, 950);
	scripted_pass(scripted, 3 * SECOND);
	assert_text(cell(scripted, NCS_COLUMN_RANK_WAIT, 0), "network:1");
	set_state(&rank->channels[0], NCS_CHANNEL_SEND_WAIT, 960);
	scripted_pass(scripted, 3 * SECOND);
	assert_text(cell(scripted, NCS_COLUMN_RANK_WAIT, 0), "peer:1");

	set_state(&rank->channels[2], NCS_CHANNEL_SEND_WAIT, 970);
	scripted_pass(scripted, 4 * SECOND);
	assert_text(cell(scripted, NCS_COLUMN_RANK_WAIT, 0), "network:1");
	assert_duration(cell(scripted, NCS_COLUMN_RANK_OLDEST, 0),
			4 * SECOND - 950);
}

TEST(a_state_that_began_during_the_snapshot_has_lasted_0)
{
	struct scripted *scripted = *state;
	struct scripted_rank *rank = scripted_add(scripted, 0);

	/* The state changed while the snapshot was being taken. */
	set_state(scripted_channel(rank, 0, true, 1), NCS_CHANNEL_SEND_GPU_WAIT,
		  100 * SECOND + 1);
	scripted_pass(scripted, 100 * SECOND);
	assert_duration(cell(scripted, NCS_COLUMN_CHANNEL_SINCE, 0), 0);
}

TEST(waiting_ends_with_the_rank)
{
	struct scripted *scripted = *state;
	struct scripted_rank *rank = scripted_add(scripted, 0);

	set_state(scripted_channel(rank, 0, true, 1), NCS_CHANNEL_SEND_GPU_WAIT,
		  SECOND);
	rank->snapshot.last_call_ns = 3 * SECOND;
	rank->snapshot.liveness = NCS_DEAD;
	scripted_pass(scripted, 100 * SECOND);
	assert_duration(cell(scripted, NCS_COLUMN_RANK_OLDEST, 0), 2 * SECOND);
	assert_duration(cell(scripted, NCS_COLUMN_CHANNEL_SINCE, 0),
			2 * SECOND);
	assert_duration(cell(scripted, NCS_COLUMN_RANK_LAST_CALL, 0),
			97 * SECOND);
}

/* A viewer that looks before a process dies knows until when it waited, and one
 * that comes later only what the process did last. */
TEST(a_wait_until_an_unknown_death_is_a_lower_bound)
{
	static const enum ncs_column_id columns[] = {
		NCS_COLUMN_RANK_OLDEST,
		NCS_COLUMN_CHANNEL_SINCE,
		NCS_COLUMN_PROXY_SINCE,
	};
	struct scripted *scripted = *state;
	struct scripted_rank *rank = scripted_add(scripted, 0);

	set_state(scripted_channel(rank, 0, true, 1), NCS_CHANNEL_SEND_GPU_WAIT,
		  SECOND);
	rank->snapshot.proxy.state = NCS_PROXY_IDLE;
	rank->snapshot.proxy.since_ns = SECOND;
	rank->snapshot.last_call_ns = SECOND + 500;
	for (size_t i = 0; i < 2; i++) {
		rank->header.process_start++;
		rank->snapshot.liveness = i == 0 ? NCS_DEAD : NCS_ALIVE;
		scripted_pass(scripted, (5 + i) * SECOND);
		rank->snapshot.liveness = NCS_DEAD;
		scripted_pass(scripted, 9 * SECOND);
		for (size_t k = 0; k < 3; k++) {
			struct ncs_value value = cell(scripted, columns[k], 0);

			assert_duration(value, i == 0 ? 500 : 5 * SECOND);
			assert_int_equal(value.is_least, i == 0);
		}
	}
}

TEST(the_oldest_operation_is_the_one_shown)
{
	struct scripted *scripted = *state;
	struct scripted_rank *rank = scripted_add(scripted, 0);

	rank->snapshot.operation_count = 2;
	rank->operations[0].function = NCS_FUNCTION_BROADCAST;
	rank->operations[0].sequence_number = 41;
	rank->operations[1].function = NCS_FUNCTION_SEND;
	rank->operations[1].sequence_number = 2;
	scripted_pass(scripted, SECOND);
	assert_text(cell(scripted, NCS_COLUMN_RANK_OPERATION, 0),
		    "Broadcast#41");
	rank->operations[0].sequence_number = NCS_NO_SEQUENCE_NUMBER;
	scripted_pass(scripted, 2 * SECOND);
	assert_text(cell(scripted, NCS_COLUMN_RANK_OPERATION, 0), "Broadcast");
}

TEST(a_step_is_shown_with_the_number_of_steps)
{
	struct scripted *scripted = *state;
	struct scripted_rank *rank = scripted_add(scripted, 0);
	struct ncs_channel_view *channel = scripted_channel(rank, 0, true, 1);

	set_state(channel, NCS_CHANNEL_SEND_WAIT, 1);
	channel->step = 3;
	channel->nsteps = 16;
	scripted_pass(scripted, SECOND);
	assert_text(cell(scripted, NCS_COLUMN_CHANNEL_STEP, 0), "3/16");
	channel->nsteps = 0;
	scripted_pass(scripted, 2 * SECOND);
	assert_text(cell(scripted, NCS_COLUMN_CHANNEL_STEP, 0), "3");
	channel->state = NCS_CHANNEL_IDLE;
	scripted_pass(scripted, 3 * SECOND);
	assert_none(cell(scripted, NCS_COLUMN_CHANNEL_STEP, 0));
}

/* --- Names and versions ------------------------------------------------- */

TEST(a_communicator_without_a_name_is_called_by_its_id)
{
	struct scripted *scripted = *state;
	struct scripted_rank *rank = scripted_add(scripted, 0);
	struct ncs_identity *identity = &rank->snapshot.identity;

	identity->known |= NCS_KNOWN_COMM_ID;
	identity->comm_id = UINT64_C(0xabc);
	scripted_pass(scripted, SECOND);
	assert_text(cell(scripted, NCS_COLUMN_RANK_COMM, 0),
		    "0000000000000abc");
	identity->known |= NCS_KNOWN_COMM_NAME;
	strcpy(identity->comm_name, "data");
	scripted_pass(scripted, 2 * SECOND);
	assert_text(cell(scripted, NCS_COLUMN_PROXY_COMM, 0), "data");
}

TEST(nccl_versions_before_and_after_2_9_are_shown)
{
	struct scripted *scripted = *state;
	struct scripted_rank *rank = scripted_add(scripted, 0);

	rank->snapshot.identity.known |= NCS_KNOWN_NCCL_VERSION;
	rank->snapshot.identity.nccl_version = 22809;
	scripted_pass(scripted, SECOND);
	assert_text(cell(scripted, NCS_COLUMN_RANK_NCCL, 0), "2.28.9");
	rank->snapshot.identity.nccl_version = 2708;
	scripted_pass(scripted, 2 * SECOND);
	assert_text(cell(scripted, NCS_COLUMN_RANK_NCCL, 0), "2.7.8");
}

/* --- Functions ---------------------------------------------------------- */

TEST(ranks_show_how_far_launches_are)
{
	struct scripted *scripted = *state;
	struct scripted_rank *rank = scripted_add(scripted, 0);
	struct ncs_launches_view *launches = &rank->snapshot.launches;

#define CELL(id) cell(scripted, NCS_COLUMN_RANK_##id, 0)
	scripted_pass(scripted, SECOND);
	assert_none(CELL(STREAM));
	assert_none(CELL(AHEAD));
	assert_none(CELL(BEGUN));
	assert_none(CELL(ENDED));
	assert_none(CELL(MOVED));
	assert_none(CELL(WAIT));
	*launches = (struct ncs_launches_view){
		.status = NCS_STREAM_SOME,
		.level = 4,
		.ended = 5,
		.begun = 6,
		.followed = 9,
		.launched = 9,
		.timed = 3,
		.ended_ns = SECOND,
		.begun_ns = SECOND + 400,
	};
	rank->snapshot.operation_count = 1;
	rank->operations[0] = (struct ncs_operation_view){
		.number = 1,
		.start_ns = SECOND,
		.event = NCS_EVENT_P2P,
		.launch = 6,
	};
	scripted_pass(scripted, SECOND + 500);
	assert_text(CELL(STREAM), "33 %");
	assert_number(CELL(AHEAD), 3);
	assert_number(CELL(BEGUN), 6);
	assert_number(CELL(ENDED), 5);
	assert_duration(CELL(MOVED), 100);
	assert_text(CELL(WAIT), "running");
	assert_duration(CELL(OLDEST), 100);
	assert_number(cell(scripted, NCS_COLUMN_COMMUNICATOR_AHEAD, 0), 3);
	launches->begun = 5;
	launches->status = NCS_STREAM_ALL;
	scripted_pass(scripted, SECOND + 600);
	assert_text(CELL(STREAM), "all");
	assert_text(CELL(WAIT), "stream");
	assert_duration(CELL(OLDEST), 600);
	/* A busy channel tells more. */
	scripted_channel(rank, 0, true, 1);
	scripted_pass(scripted, SECOND + 700);
	assert_text(CELL(WAIT), "stream");
	set_state(&rank->channels[0], NCS_CHANNEL_SEND_WAIT, SECOND + 750);
	scripted_pass(scripted, SECOND + 800);
	assert_text(CELL(WAIT), "network:1");
	assert_duration(CELL(OLDEST), 50);
	launches->status = NCS_STREAM_RELEASE;
	launches->launched = 0;
	scripted_pass(scripted, SECOND + 900);
	assert_text(CELL(STREAM), "release");
	assert_none(CELL(AHEAD));
	assert_none(CELL(BEGUN));
#undef CELL
}

TEST(functions_show_what_nccl_reported)
{
	struct scripted *scripted = *state;
	struct scripted_rank *rank = scripted_add(scripted, 0);
	struct ncs_function_view *function =
		&rank->snapshot.functions[NCS_FUNCTION_SEND];
	uint64_t *histogram =
		scripted_histogram(rank, NCS_FUNCTION_SEND, NCS_TIMING_PROXY);

	function->calls = 6;
	function->operations = 5;
	function->operations_done = 4;
	function->with_children = 5;
	function->bytes = 50;
	function->last_sequence_number = 0;
	function->timed[NCS_TIMING_PROXY] = 4;
	function->timed_bytes[NCS_TIMING_PROXY] = 40;
	function->time_ns[NCS_TIMING_PROXY] = 80;
	histogram[20] = 4;
	scripted_pass(scripted, SECOND);
#define CELL(id) cell(scripted, NCS_COLUMN_FUNCTION_##id, NCS_FUNCTION_SEND)
	assert_text(CELL(FUNCTION), "Send");
	assert_number(CELL(CALLS), 6);
	assert_number(CELL(OPERATIONS), 5);
	assert_number(CELL(DONE), 4);
	assert_number(CELL(SEQUENCE), 0);
	assert_number(CELL(TIMED), 4);
	assert_text(CELL(TIMING), "proxy");
	assert_duration(CELL(P50), 20);
	assert_duration(CELL(P99), 20);
	rank->header.api_version = 4;
	function->with_children = 0;
	scripted_pass(scripted, 2 * SECOND);
	assert_none(CELL(CALLS));
	/* By their launches. */
	assert_number(CELL(DONE), 4);
	function->operations_done = 0;
	scripted_pass(scripted, 3 * SECOND);
	assert_none(CELL(DONE));
#undef CELL
}

#define CELL(id) \
	cell(scripted, NCS_COLUMN_COLLECTIVE_##id, NCS_FUNCTION_ALL_REDUCE)

/* Makes ranks of a communicator of eight that did 40 AllReduces of 8 MB: rank 1
 * was 2 ms late to each, and all ended 5 ms after the others had begun. */
static void make_all_reduces(struct scripted *scripted, int ranks)
{
	for (int i = 0; i < ranks; i++) {
		struct scripted_rank *rank = scripted_add(scripted, i);
		struct ncs_function_view *function =
			&rank->snapshot.functions[NCS_FUNCTION_ALL_REDUCE];

		rank->snapshot.identity.known |= NCS_KNOWN_COMM_ID;
		rank->snapshot.identity.comm_id = 17;
		function->operations = 40 + (uint64_t)i;
		function->bytes = function->operations * 8000000;
		function->timed[NCS_TIMING_STREAM] = 40;
		scripted_histogram(rank, NCS_FUNCTION_ALL_REDUCE,
				   NCS_TIMING_STREAM)[20 + i] = 40;
	}
	scripted_all_reduces(scripted, 40, SECOND, 1, 2000000);
}

TEST(collectives_show_bandwidth_of_the_moving_part)
{
	struct scripted *scripted = *state;

	make_all_reduces(scripted, 3);
	scripted_pass(scripted, 2 * SECOND);
	assert_text(CELL(FUNCTION), "AllReduce");
	assert_text(CELL(RANKS), "3/8");
	assert_number(CELL(OPERATIONS), 42);
	assert_int_equal(CELL(BYTES).number, 42 * 8000000);
	assert_duration(CELL(TIME), 21);
	assert_duration(CELL(MOVING), 2999999);
	assert_real(CELL(ALGBW), NCS_VALUE_REAL, 8000000 / 2999999.0);
	assert_real(CELL(BUSBW), NCS_VALUE_REAL, 1.75 * 8000000 / 2999999.0);
	assert_int_equal(CELL(TRACE).kind, NCS_VALUE_RECENT);
	assert_text(CELL(TIMING), "stream");
	assert_number(CELL(TIMED), 40);
	assert_duration(CELL(AGE), 2 * SECOND - SECOND - 39 * 10000000 -
					   5000000);
	assert_false(CELL(BUSBW).is_stale);
	for (uint64_t i = 3; i < 12; i++)
		scripted_pass(scripted, i * SECOND);
	assert_true(CELL(BUSBW).is_stale);
	assert_true(CELL(MOVING).is_stale);
}

TEST(one_rank_alone_has_a_time_but_no_bandwidth)
{
	struct scripted *scripted = *state;

	make_all_reduces(scripted, 1);
	scripted_pass(scripted, 2 * SECOND);
	assert_text(CELL(RANKS), "1/8");
	assert_duration(CELL(TIME), 20);
	assert_none(CELL(MOVING));
	assert_none(CELL(ALGBW));
	assert_none(CELL(BUSBW));
	assert_none(CELL(TRACE));
	assert_none(CELL(AGE));
	assert_text(CELL(TIMING), "none");
}

#undef CELL

#define CELL(id, index) cell(scripted, NCS_COLUMN_CLASS_##id, index)

TEST(classes_show_the_bandwidth_of_all_ranks)
{
	struct scripted *scripted = *state;

	make_all_reduces(scripted, 3);
	for (int i = 0; i < 3; i++)
		scripted_class(&scripted->ranks[i], NCS_FUNCTION_ALL_REDUCE,
			       8000000, NCS_ALGORITHM_RING,
			       NCS_PROTOCOL_SIMPLE)
			->operations = 40;
	scripted_class(&scripted->ranks[0], NCS_FUNCTION_ALL_REDUCE, 64,
		       NCS_ALGORITHM_TREE, NCS_PROTOCOL_LL)
		->operations = 1;
	scripted_pass(scripted, 2 * SECOND);
	assert_real(CELL(ALGBW, 0), NCS_VALUE_REAL, 8000000 / 2999999.0);
	assert_real(CELL(BUSBW, 0), NCS_VALUE_REAL, 1.75 * 8000000 / 2999999.0);
	assert_none(CELL(BUSBW, 1));
}

TEST(classes_show_what_nccl_tests_would_print)
{
	struct scripted *scripted = *state;
	struct scripted_rank *rank = scripted_add(scripted, 0);
	struct ncs_class_view *view =
		scripted_class(rank, NCS_FUNCTION_ALL_REDUCE, 1 << 20,
			       NCS_ALGORITHM_RING, NCS_PROTOCOL_LL128);

	view->operations = 9;
	scripted_class_times(rank, view, NCS_TIMING_PROXY, 5, 1000,
			     5 * (1 << 20));
	scripted_class_times(rank, view, NCS_TIMING_KERNEL, 4, 30, 4 * 120);
	scripted_pass(scripted, SECOND);
	assert_text(CELL(FUNCTION, 0), "AllReduce");
	assert_int_equal(CELL(SIZE, 0).kind, NCS_VALUE_SIZE);
	assert_int_equal(CELL(SIZE, 0).number, 1 << 20);
	assert_text(CELL(ALGORITHM, 0), "RING");
	assert_text(CELL(PROTOCOL, 0), "LL128");
	assert_number(CELL(OPERATIONS, 0), 9);
	/* The kernel's times are preferred. */
	assert_text(CELL(TIMING, 0), "kernel");
	assert_number(CELL(TIMED, 0), 4);
	assert_duration(CELL(TIME, 0), 30);
	assert_duration(CELL(P50, 0), 30);
	assert_duration(CELL(P95, 0), 30);
	assert_duration(CELL(P99, 0), 30);
	assert_duration(CELL(MAX, 0), 30);
	/* A rank's own time is no bandwidth. */
	assert_none(CELL(ALGBW, 0));
	assert_none(CELL(BUSBW, 0));
	assert_none(CELL(RATE, 0));
	view->times[NCS_TIMING_KERNEL].timed = 0;
	view->operations = 19;
	scripted_pass(scripted, 2 * SECOND);
	assert_text(CELL(TIMING, 0), "proxy");
	assert_duration(CELL(TIME, 0), 1000);
	assert_real(CELL(RATE, 0), NCS_VALUE_RATE, 10);
}

TEST(no_percentile_is_longer_than_the_longest)
{
	struct scripted *scripted = *state;
	struct scripted_rank *rank = scripted_add(scripted, 0);
	uint64_t low_ns = ncs_histogram_low(ncs_histogram_bucket(1000000));

	scripted_class_times(rank,
			     scripted_class(rank, NCS_FUNCTION_SEND, 64, 0, 0),
			     NCS_TIMING_PROXY, 3, low_ns, 192);
	scripted_pass(scripted, SECOND);
	assert_duration(CELL(MAX, 0), low_ns);
	assert_duration(CELL(P50, 0), low_ns);
	assert_duration(CELL(P99, 0), low_ns);
}

TEST(a_class_keeps_its_base_when_its_index_changes)
{
	struct scripted *scripted = *state;
	struct scripted_rank *rank = scripted_add(scripted, 0);

	scripted_class(rank, NCS_FUNCTION_SEND, 64, 0, 0)->operations = 5;
	scripted_pass(scripted, SECOND);
	rank->classes[1] = rank->classes[0];
	rank->classes[0].size_class--;
	rank->classes[0].operations = 3;
	rank->classes[1].operations = 7;
	rank->snapshot.class_count = 2;
	scripted_pass(scripted, 2 * SECOND);
	assert_real(CELL(RATE, 0), NCS_VALUE_RATE, 3);
	assert_real(CELL(RATE, 1), NCS_VALUE_RATE, 2);
}

TEST(operations_without_a_class_are_other)
{
	struct scripted *scripted = *state;
	struct scripted_rank *rank = scripted_add(scripted, 0);
	struct ncs_class_view *view =
		scripted_class(rank, NCS_FUNCTION_BROADCAST, 0, NCS_CLASS_OTHER,
			       NCS_CLASS_OTHER);

	view->size_class = NCS_CLASS_OTHER;
	scripted_class_times(rank, view, NCS_TIMING_PROXY, 2, 10, 100);
	scripted_pass(scripted, SECOND);
	assert_text(CELL(SIZE, 0), "other");
	assert_text(CELL(ALGORITHM, 0), "other");
	assert_text(CELL(PROTOCOL, 0), "other");
	assert_none(CELL(ALGBW, 0));
	assert_none(CELL(BUSBW, 0));
}

#undef CELL

TEST(numbers_beyond_int64_are_cut)
{
	struct scripted *scripted = *state;
	struct scripted_rank *rank = scripted_add(scripted, 0);

	rank->snapshot.functions[NCS_FUNCTION_SEND].operations = UINT64_MAX;
	scripted_pass(scripted, SECOND);
	assert_number(cell(scripted, NCS_COLUMN_FUNCTION_OPERATIONS,
			   NCS_FUNCTION_SEND),
		      INT64_MAX);
}

/* --- Rows and order ----------------------------------------------------- */

TEST(a_communicator_has_the_slowest_of_its_ranks)
{
	struct scripted *scripted = *state;
	struct ncs_value value;

	for (int i = 0; i < 3; i++) {
		struct scripted_rank *rank = scripted_add(scripted, i);
		struct ncs_function_view *function =
			&rank->snapshot.functions[NCS_FUNCTION_REDUCE];

		rank->snapshot.identity.known |= NCS_KNOWN_COMM_ID;
		rank->snapshot.identity.comm_id = 17;
		function->operations = 9;
		function->last_sequence_number = 8;
	}
	scripted_pass(scripted, SECOND);
	assert_text(cell(scripted, NCS_COLUMN_COMMUNICATOR_COMM, 0),
		    "0000000000000011");
	assert_number(cell(scripted, NCS_COLUMN_COMMUNICATOR_NRANKS, 0), 8);
	assert_number(cell(scripted, NCS_COLUMN_COMMUNICATOR_SEEN, 0), 3);
	assert_text(cell(scripted, NCS_COLUMN_COMMUNICATOR_FUNCTION, 0),
		    "Reduce");
	/* All ranks are level: none is the slowest. */
	assert_number(cell(scripted, NCS_COLUMN_COMMUNICATOR_BEHIND, 0), 0);
	assert_none(cell(scripted, NCS_COLUMN_COMMUNICATOR_SLOWEST, 0));
	assert_none(cell(scripted, NCS_COLUMN_COMMUNICATOR_OPERATIONS_RATE, 0));
	scripted->ranks[1]
		.snapshot.functions[NCS_FUNCTION_REDUCE]
		.last_sequence_number = 5;
	scripted_pass(scripted, 2 * SECOND);
	assert_number(cell(scripted, NCS_COLUMN_COMMUNICATOR_SEQUENCE, 0), 8);
	assert_number(cell(scripted, NCS_COLUMN_COMMUNICATOR_BEHIND, 0), 3);
	assert_number(cell(scripted, NCS_COLUMN_COMMUNICATOR_SLOWEST, 0), 1);
	value = cell(scripted, NCS_COLUMN_COMMUNICATOR_OPERATIONS_RATE, 0);
	assert_real(value, NCS_VALUE_RATE, 0);
}

TEST(lateness_is_shown_for_compared_ranks)
{
	struct scripted *scripted = *state;

	for (int i = 0; i < 3; i++) {
		struct scripted_rank *rank = scripted_add(scripted, i);

		rank->snapshot.identity.known |= NCS_KNOWN_COMM_ID;
	}
	scripted_pass(scripted, SECOND);
	assert_none(cell(scripted, NCS_COLUMN_RANK_LATE, 0));
	assert_none(cell(scripted, NCS_COLUMN_COMMUNICATOR_SKEW, 0));
	scripted_all_reduces(scripted, 40, 2 * SECOND, 0, 2000000);
	scripted_pass(scripted, 5 * SECOND);
	assert_duration(cell(scripted, NCS_COLUMN_RANK_LATE, 0), 2000000);
	assert_duration(cell(scripted, NCS_COLUMN_RANK_LATE_P99, 0), 2000000);
	assert_duration(cell(scripted, NCS_COLUMN_RANK_EXCLUSIVE, 0), 2000000);
	assert_real(cell(scripted, NCS_COLUMN_RANK_LAST_SHARE, 0),
		    NCS_VALUE_SHARE, 1);
	/* 39 times 2 ms in 39 times 10 ms. */
	assert_real(cell(scripted, NCS_COLUMN_RANK_LATE_COST, 0),
		    NCS_VALUE_SHARE, 78.0 / 390);
	assert_text(cell(scripted, NCS_COLUMN_RANK_LATE_CAUSE, 0), "host");
	assert_duration(cell(scripted, NCS_COLUMN_COMMUNICATOR_SKEW, 0),
			2000000);
	assert_duration(cell(scripted, NCS_COLUMN_COMMUNICATOR_TRANSFER, 0),
			2999999);
	assert_number(cell(scripted, NCS_COLUMN_COMMUNICATOR_STRAGGLER, 0), 0);
}

TEST(rows_are_ranks_their_channels_and_their_used_functions)
{
	struct scripted *scripted = *state;
	struct scripted_rank *first = scripted_add(scripted, 0);
	struct scripted_rank *second = scripted_add(scripted, 1);
	struct ncs_row *rows = NULL;
	size_t capacity = 0;

	scripted_channel(first, 0, true, 1);
	scripted_channel(second, 0, true, 0);
	scripted_channel(second, 0, false, 0);
	first->snapshot.functions[NCS_FUNCTION_SEND].operations = 1;
	second->snapshot.functions[NCS_FUNCTION_RECV].calls = 1;
	assert_int_equal(
		ncs_rows(&scripted->model, NCS_VIEW_RANK, &rows, &capacity), 0);
	scripted_pass(scripted, SECOND);
	assert_int_equal(
		ncs_rows(&scripted->model, NCS_VIEW_RANK, &rows, &capacity), 2);
	assert_int_equal(ncs_rows(&scripted->model, NCS_VIEW_PROXY, &rows,
				  &capacity),
			 2);
	assert_int_equal(ncs_rows(&scripted->model, NCS_VIEW_CHANNEL, &rows,
				  &capacity),
			 3);
	assert_ptr_equal(rows[2].rank, scripted_rank(scripted, 1));
	assert_int_equal(rows[2].index, 1);
	assert_int_equal(ncs_rows(&scripted->model, NCS_VIEW_FUNCTION, &rows,
				  &capacity),
			 2);
	assert_int_equal(rows[0].index, NCS_FUNCTION_SEND);
	assert_int_equal(rows[1].index, NCS_FUNCTION_RECV);
	assert_int_equal(ncs_rows(&scripted->model, NCS_VIEW_COLLECTIVE, &rows,
				  &capacity),
			 2);
	assert_int_equal(rows[0].index, NCS_FUNCTION_SEND);
	assert_ptr_equal(rows[0].communicator,
			 scripted_rank(scripted, 0)->communicator);
	second->snapshot.identity = first->snapshot.identity;
	second->snapshot.identity.rank = 1;
	first->snapshot.identity.known |= NCS_KNOWN_COMM_ID;
	second->snapshot.identity.known |= NCS_KNOWN_COMM_ID;
	scripted_pass(scripted, 2 * SECOND);
	assert_int_equal(ncs_rows(&scripted->model, NCS_VIEW_COMMUNICATOR,
				  &rows, &capacity),
			 1);
	assert_ptr_equal(rows[0].communicator,
			 &scripted->model.communicators[0]);
	free(rows);
}

TEST(sorting_puts_unknown_values_last)
{
	struct ncs_value none = { 0 };
	struct ncs_value small = { .kind = NCS_VALUE_NUMBER, .number = -1 };
	struct ncs_value large = { .kind = NCS_VALUE_NUMBER, .number = 2 };

	assert_true(ncs_value_order(&small, &large, false) < 0);
	assert_true(ncs_value_order(&large, &small, false) > 0);
	assert_true(ncs_value_order(&large, &none, false) < 0);
	assert_true(ncs_value_order(&none, &small, false) > 0);
	assert_int_equal(ncs_value_order(&none, &none, false), 0);
}

TEST(sorting_compares_numbers_within_texts)
{
	struct ncs_value nine = { .kind = NCS_VALUE_TEXT, .text = "9/16" };
	struct ncs_value ten = { .kind = NCS_VALUE_TEXT, .text = "10/16" };
	struct ncs_value half = { .kind = NCS_VALUE_SHARE, .real = 0.5 };
	struct ncs_value more = { .kind = NCS_VALUE_SHARE, .real = 0.6 };

	assert_true(ncs_value_order(&nine, &ten, false) < 0);
	assert_true(ncs_value_order(&more, &half, false) > 0);
}
