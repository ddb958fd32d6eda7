/* SPDX-License-Identifier: MIT */
/* Tests of an agent of agents (fleet/head/relay.h): what it passes on is read
 * by another fleet. */
#include <fcntl.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "fleet/head/relay.h"
#include "fleet/launch/lines.h"
#include "shm/clock.h"
#include "test/unit/support/stream_fixture.h"
#include "test/unit/support/unit.h"

#define S UINT64_C(1000000000)
#define NODES 2

static struct ncs_fleet *from, *to;
static struct ncs_agent_settings settings;
static struct stream_fixture *fixture;

/* Feeds that are due at each turn of the agent, and states. */
struct feed {
	unsigned turn;
	size_t node;
	size_t look;
	const char *why; /* NULL: the look comes; else no connection, so */
	bool is_over_limit; /* rather than that */
};
static const struct feed *feeds;
static size_t feed_count;
static unsigned turn;
static off_t written; /* when the latest look was fed; -1: something was since */

static int setup(void **state)
{
	size_t node;

	from = ncs_fleet_new(NULL);
	to = ncs_fleet_new(NULL);
	if (!from || !to || stream_fixture_setup(state) != 0 ||
	    ncs_fleet_add(from, "n1", "", &node) != 0 ||
	    ncs_fleet_add(from, "n2", "", &node) != 0)
		return -1;
	fixture = *state;
	settings = (struct ncs_agent_settings){
		.input = -1,
		.stop = -1,
		.output = memfd_create("lines", 0),
	};
	turn = 0;
	written = -1;
	return settings.output < 0 ? -1 : 0;
}

static int teardown(void **state)
{
	close(settings.output);
	ncs_fleet_free(from);
	ncs_fleet_free(to);
	return stream_fixture_teardown(state);
}

static off_t output_size(void)
{
	struct stat status;

	assert_int_equal(fstat(settings.output, &status), 0);
	return status.st_size;
}

/* Feeds what is due at a turn, once something of the turn before was written: another
 * thread hands looks over. Says that all has ended after the last feed. */
static bool feed(void *context)
{
	bool more = false;

	(void)context;
	for (size_t i = 0; i < feed_count; i++)
		more = more || feeds[i].turn >= turn;
	if (!more)
		return true;
	if (output_size() == written)
		return false;
	more = false;
	written = -1;
	for (size_t i = 0; i < feed_count; i++) {
		const struct feed *due = &feeds[i];
		const struct stream_look *look = &fixture->looks[due->look];

		more = more || due->turn > turn;
		if (due->turn != turn)
			continue;
		if (due->why)
			ncs_fleet_set_state(from, due->node,
					    due->is_over_limit ?
						    NCS_NODE_OVER_LIMIT :
						    NCS_NODE_NOT_REACHABLE,
					    due->why,
					    ncs_clock_monotonic_ns());
		else
			assert_int_equal(
				ncs_fleet_feed(from, due->node, look->bytes,
					       look->size,
					       ncs_clock_monotonic_ns()),
				0);
		if (!due->why)
			written = output_size();
	}
	turn++;
	return !more;
}

/* Gives a line to the fleet behind. */
static void take_line(const char *text, size_t length)
{
	struct ncs_node nodes[NODES];
	struct ncs_line line;
	size_t count, node = 0;

	assert_true(length < NCS_LINE_MAX);
	assert_int_equal(ncs_line_parse(text, length, &line), NCS_LINE_OURS);
	count = ncs_fleet_nodes(to, 0, nodes, NODES);
	while (node < count && strcmp(nodes[node].name, line.node) != 0)
		node++;
	if (node == count)
		assert_int_equal(ncs_fleet_add(to, line.node, "", &node), 0);
	assert_int_equal(ncs_fleet_feed(to, node, line.bytes, line.byte_count,
					ncs_clock_monotonic_ns()),
			 0);
}

/* Runs the agent over the feeds, and reads what it wrote. Returns the bytes. */
static size_t pass_on(const struct feed *list, size_t count)
{
	struct ncs_agent_result result;
	off_t size;
	char *text, *at, *end;

	feeds = list;
	feed_count = count;
	ncs_relay_run(from, &settings, feed, NULL, &result);
	assert_int_equal(result.end, NCS_AGENT_COUNTED);
	size = output_size();
	assert_true(size > 0);
	text = malloc((size_t)size);
	assert_non_null(text);
	assert_true(pread(settings.output, text, (size_t)size, 0) == size);
	for (at = text; at < text + size; at = end + 1) {
		end = memchr(at, '\n', (size_t)(text + size - at));
		assert_non_null(end);
		take_line(at, (size_t)(end - at));
	}
	free(text);
	return (size_t)size;
}

/* Returns a node of the fleet behind, by its name. */
static struct ncs_node node_named(const char *name)
{
	struct ncs_node nodes[NODES];
	size_t count = ncs_fleet_nodes(to, ncs_clock_monotonic_ns(), nodes,
				       NODES);

	for (size_t i = 0; i < count; i++)
		if (strcmp(nodes[i].name, name) == 0)
			return nodes[i];
	fail_msg("there is no node %s", name);
	return nodes[0];
}

/* A key, two changes, another key, a change to that. */
static void make_looks(void)
{
	stream_fixture_begin(fixture);
	for (uint64_t i = 0; i < 5; i++)
		stream_fixture_look(fixture, i * S, 100 + i, i % 3 == 0);
	stream_fixture_end(fixture);
}

UNIT_FIXTURE(setup, teardown)

TEST(test_each_look_is_passed_on_once)
{
	const struct feed all[] = {
		{ 0, 0, 0, NULL, false }, { 1, 0, 1, NULL, false }, { 2, 0, 2, NULL, false },
		{ 3, 0, 3, NULL, false }, { 4, 0, 4, NULL, false },
	};
	struct ncs_node node;

	make_looks();
	pass_on(all, 5);
	node = node_named("n1");
	assert_int_equal(node.looks, 5);
	assert_int_equal(node.looks_dropped, 0);
	assert_int_equal(node.looks_lost, 0);
	assert_int_equal(node.ranks, 2);
	assert_string_equal(node.host, "alpha");
}

/* Three looks come before the first is written: of those that change it, the
 * latest counts. */
TEST(test_the_latest_look_wins)
{
	const struct feed burst[] = { { 0, 0, 0, NULL, false },
				      { 0, 0, 1, NULL, false },
				      { 0, 0, 2, NULL, false } };
	struct ncs_node node;

	make_looks();
	pass_on(burst, 3);
	node = node_named("n1");
	assert_int_equal(node.looks, 2);
	assert_int_equal(node.looks_dropped, 1);
	assert_int_equal(node.looks_lost, 0);
}

/* A look that can be read by itself takes the place of all before it. */
TEST(test_a_key_look_drops_those_before)
{
	const struct feed burst[] = {
		{ 0, 0, 0, NULL, false }, { 0, 0, 1, NULL, false }, { 0, 0, 2, NULL, false },
		{ 0, 0, 3, NULL, false }, { 0, 0, 4, NULL, false },
	};
	struct ncs_node node;

	make_looks();
	pass_on(burst, 5);
	node = node_named("n1");
	assert_int_equal(node.looks, 2);
	assert_int_equal(node.looks_dropped, 3);
	assert_int_equal(node.looks_lost, 0);
}

/* Looks that were dropped are counted for their node only. */
TEST(test_nodes_keep_their_names_and_counts)
{
	const struct feed both[] = {
		{ 0, 0, 0, NULL, false }, { 0, 1, 0, NULL, false }, { 0, 1, 1, NULL, false },
		{ 0, 1, 2, NULL, false }, { 1, 0, 1, NULL, false },
	};

	make_looks();
	pass_on(both, 5);
	assert_int_equal(node_named("n1").looks_dropped, 0);
	assert_int_equal(node_named("n1").looks, 2);
	assert_int_equal(node_named("n2").looks_dropped, 1);
	assert_int_equal(node_named("n2").looks, 2);
}

TEST(test_packed_lines_are_shorter)
{
	const struct feed all[] = { { 0, 0, 0, NULL, false },
				    { 1, 0, 1, NULL, false },
				    { 2, 0, 2, NULL, false } };
	size_t plain, packed;

	fixture->recording->settings.is_packed = false;
	make_looks();
	plain = pass_on(all, 3);
	/* Another agent reads the same once more. */
	settings.is_packed = true;
	turn = 0;
	packed = pass_on(all, 3) - plain;
	assert_true(packed < plain / 2);
	assert_int_equal(node_named("n1").looks_lost, 0);
}

TEST(test_what_a_launcher_says_is_passed_on)
{
	const struct feed trouble[] = { { 0, 1, 0, "no route", false },
					{ 1, 0, 0, NULL, false },
					{ 2, 0, 0, "gone", false },
					{ 3, 1, 0, NULL, false } };
	struct ncs_node node;

	make_looks();
	pass_on(trouble, 4);
	node = node_named("n1");
	assert_int_equal(node.state, NCS_NODE_NOT_REACHABLE);
	assert_string_equal(node.why, "gone");
	/* Until its next look. */
	node = node_named("n2");
	assert_int_equal(node.looks, 1);
	assert_int_equal(node.state, NCS_NODE_RUNNING);
	assert_string_equal(node.why, "");
}

/* Its looks are passed on meanwhile. */
TEST(test_a_limit_is_passed_on)
{
	const struct feed trouble[] = { { 0, 0, 0, NULL, false },
					{ 1, 0, 0, "too much", true },
					{ 2, 0, 1, NULL, false } };
	struct ncs_node node;

	make_looks();
	pass_on(trouble, 3);
	node = node_named("n1");
	assert_int_equal(node.looks, 2);
	assert_int_equal(node.state, NCS_NODE_OVER_LIMIT);
	assert_string_equal(node.why, "too much");
}

/* Reads a pipe to its end, after a second. Returns the number of bytes. */
static void *read_late(void *context)
{
	const int file = *(const int *)context;
	uintptr_t bytes = 0;
	char text[4096];
	ssize_t size;

	sleep(1);
	while ((size = read(file, text, sizeof(text))) > 0)
		bytes += (uintptr_t)size;
	return (void *)bytes;
}

TEST(test_the_last_look_waits_for_a_slow_reader)
{
	const struct feed one[] = { { 0, 0, 0, NULL, false } };
	struct ncs_agent_result result;
	pthread_t reader;
	void *bytes;
	int ends[2];

	make_looks();
	feeds = one;
	feed_count = 1;
	assert_int_equal(pipe2(ends, O_CLOEXEC), 0);
	/* Less than the look. */
	assert_true(fcntl(ends[1], F_SETPIPE_SZ, 4096) == 4096);
	assert_int_equal(pthread_create(&reader, NULL, read_late, &ends[0]), 0);
	close(settings.output);
	settings.output = ends[1];
	ncs_relay_run(from, &settings, feed, NULL, &result);
	assert_int_equal(result.end, NCS_AGENT_COUNTED);
	close(ends[1]);
	settings.output = -1;
	assert_int_equal(pthread_join(reader, &bytes), 0);
	assert_true((uintptr_t)bytes > 4096);
	assert_true(result.bytes == (uintptr_t)bytes);
	close(ends[0]);
}
