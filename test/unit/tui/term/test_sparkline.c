/* SPDX-License-Identifier: MIT */
/* Tests of sparklines in each set of symbols: each value is at its place,
 * unknown values are blank. Also tests of the recent values that sparklines are
 * drawn from. */
#include <stdio.h>
#include <string.h>

#include "analysis/views/columns.h"
#include "test/unit/support/scripted_source.h"
#include "tui/text/format.h"
#include "tui/term/sparkline.h"
#include "test/unit/support/unit.h"

#define SECOND UINT64_C(1000000000)

static struct ncs_recent trace;
static struct ncs_recent_values traces;

static int setup(void **state)
{
	(void)state;
	memset(&trace, 0, sizeof(trace));
	memset(&traces, 0, sizeof(traces));
	return 0;
}

static void add(double value)
{
	traces.count++;
	ncs_recent_set(&trace, traces.count, value);
}

static void assert_line(unsigned width, enum ncs_symbol_set symbols,
			const char *wanted)
{
	char text[256];

	ncs_sparkline(text, sizeof(text), &trace, traces.count, width, symbols);
	assert_string_equal(text, wanted);
}

/* --- Sparklines ----------------------------------------------------------- */

UNIT_FIXTURE(setup, NULL)

TEST(the_newest_value_is_at_the_right)
{
	assert_line(4, NCS_SYMBOLS_ASCII, "");
	add(8);
	assert_line(4, NCS_SYMBOLS_ASCII, "   #");
	add(0);
	assert_line(4, NCS_SYMBOLS_ASCII, "  #_");
	add(4);
	add(8);
	assert_line(4, NCS_SYMBOLS_ASCII, "#_+#");
	add(1);
	assert_line(4, NCS_SYMBOLS_ASCII, "_+#.");
}

TEST(tallest_bar_is_the_largest_value_shown)
{
	add(1000);
	for (unsigned i = 0; i < 4; i++)
		add(2);
	assert_line(4, NCS_SYMBOLS_BLOCK, "████");
	add(1);
	assert_line(4, NCS_SYMBOLS_BLOCK, "███▅");
}

TEST(unknown_values_are_blank_and_zero_is_not)
{
	add(0);
	add(-1);
	add(0);
	assert_line(8, NCS_SYMBOLS_BLOCK, "     ▁ ▁");
	assert_line(8, NCS_SYMBOLS_ASCII, "     _ _");
}

TEST(braille_shows_two_values_per_column)
{
	add(4);
	assert_line(2, NCS_SYMBOLS_BRAILLE, " ⢸");
	add(1);
	assert_line(2, NCS_SYMBOLS_BRAILLE, " ⣧");
	add(-1);
	add(4);
	assert_line(2, NCS_SYMBOLS_BRAILLE, "⣧⢸");
}

TEST(sparkline_is_limited_to_the_values_kept)
{
	char text[256];

	for (unsigned i = 0; i < 100; i++)
		add(i);
	ncs_sparkline(text, sizeof(text), &trace, traces.count, 200,
		      NCS_SYMBOLS_ASCII);
	assert_int_equal(strlen(text), NCS_SPARKLINE_WIDTH);
	ncs_sparkline(text, sizeof(text), &trace, traces.count, 1,
		      NCS_SYMBOLS_ASCII);
	assert_string_equal(text, "#");
}

/* --- Recent values -------------------------------------------------------- */

static double latest(struct scripted *scripted, enum ncs_column_id id)
{
	const struct ncs_row row = {
		.view = ncs_columns[id].view,
		.rank = scripted_rank(scripted, 0),
	};
	struct ncs_value value;
	char text[16];

	ncs_column_get(&ncs_columns[id], &row, &value);
	if (value.kind == NCS_VALUE_NONE)
		return -1;
	assert_int_equal(value.kind, NCS_VALUE_RECENT);
	ncs_format_value(text, sizeof(text), &value, 0, true);
	assert_string_equal(text, "-");
	return value.real;
}

TEST(sample_adds_the_value_of_its_interval)
{
	struct scripted scripted;
	struct scripted_rank *rank;
	struct ncs_channel_view *channel;

	scripted_init(&scripted);
	rank = scripted_add(&scripted, 0);
	channel = scripted_channel(rank, 3, true, 1);
	channel->bytes = 500;
	scripted_pass(&scripted, 10 * SECOND);
	assert_true(latest(&scripted, NCS_COLUMN_CHANNEL_TRACE) < 0);
	channel->bytes += 600;
	/* Each value covers one interval, regardless of the window. */
	ncs_model_set_window(&scripted.model, NCS_WINDOW_START);
	scripted_pass(&scripted, 12 * SECOND);
	assert_int_equal(latest(&scripted, NCS_COLUMN_CHANNEL_TRACE), 300);
	scripted_pass(&scripted, 13 * SECOND);
	assert_int_equal(latest(&scripted, NCS_COLUMN_CHANNEL_TRACE), 0);
	scripted_release(&scripted);
}

TEST(channels_keep_their_values_when_others_appear)
{
	struct ncs_channel_view channels[2] = {
		{ .channel = 4, .send = true, .peer = 1 },
		{ .channel = 5, .send = true, .peer = 1 },
	};
	struct ncs_snapshot snapshot = { .channels = &channels[1],
					 .channel_count = 1 };

	assert_int_equal(ncs_recent_values_begin(&traces, &snapshot), 0);
	ncs_recent_set(&traces.channels[0].rate, traces.count, 7);
	snapshot.channels = channels;
	snapshot.channel_count = 2;
	assert_int_equal(ncs_recent_values_begin(&traces, &snapshot), 0);
	/* Not assert_int_equal(): a negative double is no unsigned integer. */
	assert_true(traces.channels[1].rate.values[0] == 7);
	assert_true(traces.channels[1].rate.values[1] == -1);
	assert_true(traces.channels[0].rate.values[0] == -1);
	ncs_recent_values_release(&traces);
}
