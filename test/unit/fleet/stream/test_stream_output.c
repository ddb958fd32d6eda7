/* SPDX-License-Identifier: MIT */
/* Tests of the agent's way out (fleet/stream/stream_output.h): a full pipe
 * never holds the agent up, and whole looks come out of it. */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "fleet/stream/stream_output.h"
#include "test/unit/support/unit.h"

#define LOOK_BYTES 200000u
#define WAIT_NS UINT64_C(10000000000)

struct way {
	int pipe[2];
	struct ncs_stream_output *output;
};

static void open_way(struct way *way, const struct ncs_line_writer *lines)
{
	assert_int_equal(pipe(way->pipe), 0);
	assert_int_equal(
		ncs_stream_output_open(&way->output, way->pipe[1],
				       lines ? NCS_STREAM_OUTPUT_LINES :
					       NCS_STREAM_OUTPUT_BYTES,
				       lines),
		0);
}

static void put(struct way *way, char letter, size_t bytes)
{
	struct ncs_sink_memory look = { .bytes = malloc(bytes),
					.size = bytes,
					.capacity = bytes };

	assert_non_null(look.bytes);
	memset(look.bytes, letter, bytes);
	ncs_stream_output_put(way->output, &look);
	assert_true(look.size == 0);
	free(look.bytes);
}

/* Reads so many bytes and asserts that all are this letter. */
static void expect(const struct way *way, char letter, size_t bytes)
{
	char room[4096];

	while (bytes > 0) {
		size_t most = bytes < sizeof(room) ? bytes : sizeof(room);
		ssize_t size = read(way->pipe[0], room, most);

		assert_true(size > 0);
		for (ssize_t i = 0; i < size; i++)
			assert_int_equal(room[i], letter);
		bytes -= (size_t)size;
	}
}

/* Waits until the pipe has something to read: a look is being written. */
static void wait_for_some(const struct way *way)
{
	struct pollfd ready = { .fd = way->pipe[0], .events = POLLIN };

	assert_int_equal(poll(&ready, 1, 10000), 1);
}

TEST(test_a_full_pipe_drops_the_look_that_waits)
{
	struct ncs_stream_output_totals totals;
	struct way way;

	open_way(&way, NULL);
	put(&way, 'a', LOOK_BYTES);
	wait_for_some(&way);
	/* The first look does not fit into the pipe, so the next ones wait. */
	assert_false(ncs_stream_output_drop(way.output));
	put(&way, 'b', LOOK_BYTES);
	assert_true(ncs_stream_output_drop(way.output));
	put(&way, 'c', LOOK_BYTES);
	assert_true(ncs_stream_output_drop(way.output));
	assert_false(ncs_stream_output_drop(way.output));
	put(&way, 'd', 10);
	expect(&way, 'a', LOOK_BYTES);
	expect(&way, 'd', 10);
	ncs_stream_output_close(way.output, WAIT_NS, &totals);
	assert_true(totals.bytes == LOOK_BYTES + 10 && totals.error == 0);
	close(way.pipe[0]);
	close(way.pipe[1]);
}

TEST(test_a_reader_that_goes_away_is_noticed)
{
	struct ncs_stream_output_totals totals;
	struct pollfd event;
	struct way way;

	open_way(&way, NULL);
	close(way.pipe[0]);
	put(&way, 'a', 10);
	event.fd = ncs_stream_output_event(way.output);
	event.events = POLLIN;
	assert_int_equal(poll(&event, 1, 10000), 1);
	ncs_stream_output_close(way.output, WAIT_NS, &totals);
	assert_int_equal(totals.error, -EPIPE);
	close(way.pipe[1]);
}

TEST(test_the_last_look_is_written_before_the_end)
{
	struct ncs_stream_output_totals totals;
	struct way way;

	open_way(&way, NULL);
	put(&way, 'a', 1000);
	ncs_stream_output_close(way.output, WAIT_NS, &totals);
	assert_true(totals.bytes == 1000);
	expect(&way, 'a', 1000);
	close(way.pipe[0]);
	close(way.pipe[1]);
}

TEST(test_the_flags_of_the_file_stay)
{
	struct ncs_stream_output_totals totals;
	struct way way;
	int before, after;

	assert_int_equal(pipe(way.pipe), 0);
	before = fcntl(way.pipe[1], F_GETFL);
	assert_int_equal(ncs_stream_output_open(&way.output, way.pipe[1],
						NCS_STREAM_OUTPUT_BYTES, NULL),
			 0);
	after = fcntl(way.pipe[1], F_GETFL);
	assert_int_equal(before, after);
	ncs_stream_output_close(way.output, WAIT_NS, &totals);
	close(way.pipe[0]);
	close(way.pipe[1]);
}

TEST(test_lines_can_be_read_back)
{
	struct ncs_line_writer lines;
	struct ncs_stream_output_totals totals;
	struct ncs_line_splitter splitter = { 0 };
	char room[8192];
	const char *at = room;
	size_t bytes = 0, left;
	uint64_t number = 0;
	ssize_t size;
	struct way way;

	ncs_line_writer_init(&lines, "n01", 7, 0);
	open_way(&way, &lines);
	put(&way, 'x', 3000);
	ncs_stream_output_close(way.output, WAIT_NS, &totals);
	close(way.pipe[1]);
	size = read(way.pipe[0], room, sizeof(room));
	assert_true(size > 0 && (uint64_t)size == totals.bytes);
	for (left = (size_t)size; left > 0;) {
		struct ncs_line parsed;
		size_t length;
		char *line = ncs_line_next(&splitter, &at, &left, &length);

		assert_non_null(line);
		assert_int_equal(ncs_line_parse(line, length, &parsed),
				 NCS_LINE_OURS);
		assert_true(parsed.number == number++ && parsed.agent == 7);
		for (size_t i = 0; i < parsed.byte_count; i++)
			assert_int_equal(parsed.bytes[i], 'x');
		bytes += parsed.byte_count;
	}
	assert_int_equal(bytes, 3000);
	close(way.pipe[0]);
}

/* Agents that share a pipe, as two do that one shell has started. */
TEST(test_agents_that_share_a_pipe_tear_no_line)
{
	enum { AGENTS = 4 };
	struct ncs_stream_output_totals totals;
	struct ncs_line_splitter splitter = { 0 };
	struct way ways[AGENTS];
	uint64_t numbers[AGENTS] = { 0 };
	size_t bytes = 0, size, length;
	char room[8192], *line;

	assert_int_equal(pipe(ways[0].pipe), 0);
	for (uint32_t i = 0; i < AGENTS; i++) {
		struct ncs_line_writer lines;

		memcpy(ways[i].pipe, ways[0].pipe, sizeof(ways[i].pipe));
		ncs_line_writer_init(&lines, "n01", i, 0);
		assert_int_equal(
			ncs_stream_output_open(&ways[i].output, ways[i].pipe[1],
					       NCS_STREAM_OUTPUT_LINES, &lines),
			0);
		put(&ways[i], (char)('a' + i), LOOK_BYTES);
	}
	while (bytes < AGENTS * LOOK_BYTES) {
		const char *at = room;

		wait_for_some(&ways[0]);
		size = (size_t)read(ways[0].pipe[0], room, sizeof(room));
		assert_true(size > 0 && size <= sizeof(room));
		while ((line = ncs_line_next(&splitter, &at, &size, &length))) {
			struct ncs_line parsed;

			assert_int_equal(ncs_line_parse(line, length, &parsed),
					 NCS_LINE_OURS);
			assert_true(parsed.agent < AGENTS);
			assert_true(parsed.number == numbers[parsed.agent]++);
			for (size_t i = 0; i < parsed.byte_count; i++)
				assert_int_equal(parsed.bytes[i],
						 'a' + parsed.agent);
			bytes += parsed.byte_count;
		}
	}
	for (uint32_t i = 0; i < AGENTS; i++)
		ncs_stream_output_close(ways[i].output, WAIT_NS, &totals);
	close(ways[0].pipe[0]);
	close(ways[0].pipe[1]);
}
