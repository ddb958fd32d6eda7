/* SPDX-License-Identifier: MIT */
/* Tests of the lines that carry a stream: what is written is read back from any
 * pieces and behind any label, damaged lines are noticed, and the order tells
 * of lines that are lost, repeated or of another agent. And of the orders of a
 * head: any bytes may come, in any pieces. */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "fleet/launch/lines.h"
#include "test/unit/support/unit.h"

static enum ncs_line_kind parse(const char *line, struct ncs_line *parsed)
{
	return ncs_line_parse(line, strlen(line), parsed);
}

TEST(known_line_is_written_and_read)
{
	struct ncs_line_writer writer;
	struct ncs_line parsed;
	char line[NCS_LINE_PADDED];
	size_t bytes;

	ncs_line_writer_init(&writer, "n01", 0xbeef, 0);
	assert_int_equal(ncs_line_put(&writer, "hello", 5, line, &bytes), 5);
	assert_int_equal(bytes, strlen("ncclstat1:n01:0000beef:0:aGVsbG8=\n"));
	assert_memory_equal(line, "ncclstat1:n01:0000beef:0:aGVsbG8=\n", bytes);
	assert_int_equal(ncs_line_parse(line, bytes - 1, &parsed),
			 NCS_LINE_OURS);
	assert_string_equal(parsed.node, "n01");
	assert_int_equal(parsed.agent, 0xbeef);
	assert_int_equal(parsed.number, 0);
	assert_int_equal(parsed.byte_count, 5);
	assert_memory_equal(parsed.bytes, "hello", 5);
	assert_int_equal(ncs_line_put(&writer, "", 0, line, &bytes), 0);
	assert_memory_equal(line, "ncclstat1:n01:0000beef:1:\n", bytes);
	assert_int_equal(ncs_line_parse(line, bytes - 1, &parsed),
			 NCS_LINE_OURS);
	assert_int_equal(parsed.byte_count, 0);
}

TEST(any_bytes_of_any_length_come_back)
{
	struct ncs_line_writer writer;
	struct ncs_line parsed;
	unsigned char raw[3000];
	char line[NCS_LINE_PADDED];
	size_t bytes;

	ncs_line_writer_init(&writer, "n01", 1, 0);
	srand(1);
	for (size_t i = 0; i < sizeof(raw); i++)
		raw[i] = (unsigned char)(rand() >> 7);
	for (size_t size = 0; size < sizeof(raw); size += 7) {
		size_t put = ncs_line_put(&writer, raw, size, line, &bytes);

		assert_true(put == size || put >= 530);
		assert_true(bytes <= NCS_LINE_MAX);
		assert_int_equal(line[bytes - 1], '\n');
		assert_int_equal(ncs_line_parse(line, bytes - 1, &parsed),
				 NCS_LINE_OURS);
		assert_int_equal(parsed.byte_count, put);
		assert_memory_equal(parsed.bytes, raw, put);
	}
}

/* Launchers of MPI pass on what they read, of a pipe or of a terminal. */
TEST(even_lines_are_read_whole)
{
	static const struct {
		size_t even, read;
	} cases[] = {
		{ NCS_LINE_PADDED, 4096 },
		{ NCS_LINE_PADDED, 65536 },
		{ NCS_LINE_TERMINAL, 4095 },
	};
	unsigned char raw[3000] = { 1 };

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct ncs_line_writer writer;
		char line[NCS_LINE_PADDED];
		struct ncs_line parsed;
		size_t bytes;

		assert_int_equal(cases[i].read % cases[i].even, 0);
		ncs_line_writer_init(&writer, "n01", 1, cases[i].even);
		for (size_t size = 0; size < sizeof(raw); size += 7) {
			size_t put =
				ncs_line_put(&writer, raw, size, line, &bytes);

			assert_true(put == size || put >= 530);
			assert_int_equal(bytes, cases[i].even);
			assert_int_equal(line[bytes - 1], '\n');
			assert_int_equal(ncs_line_parse(line, bytes - 1,
							&parsed),
					 NCS_LINE_OURS);
			assert_int_equal(parsed.byte_count, put);
			assert_memory_equal(parsed.bytes, raw, put);
		}
	}
}

TEST(lines_are_even_below_mpi_and_to_terminals)
{
	static const char *const names[] = { "OMPI_COMM_WORLD_RANK",
					     "PMIX_RANK", "PMI_RANK" };
	int terminal = posix_openpt(O_RDWR | O_NOCTTY), ends[2];

	assert_int_equal(pipe(ends), 0);
	for (size_t i = 0; i < 3; i++)
		unsetenv(names[i]);
	assert_int_equal(ncs_line_even(ends[1]), 0);
	for (size_t i = 0; i < 3; i++) {
		setenv(names[i], "0", 1);
		assert_int_equal(ncs_line_even(ends[1]), NCS_LINE_PADDED);
		unsetenv(names[i]);
	}
	assert_true(terminal >= 0);
	assert_int_equal(ncs_line_even(terminal), NCS_LINE_TERMINAL);
	close(terminal);
	close(ends[0]);
	close(ends[1]);
}

TEST(longest_head_leaves_room)
{
	struct ncs_line_writer writer;
	struct ncs_line parsed;
	char name[200], line[NCS_LINE_PADDED];
	unsigned char raw[1000] = { 0 };
	size_t bytes;

	memset(name, 'n', sizeof(name) - 1);
	name[sizeof(name) - 1] = 0;
	ncs_line_writer_init(&writer, name, UINT32_MAX, 0);
	writer.number = UINT64_C(9999999999999999999);
	assert_true(ncs_line_put(&writer, raw, sizeof(raw), line, &bytes) >=
		    530);
	assert_true(bytes <= NCS_LINE_MAX);
	assert_int_equal(ncs_line_parse(line, bytes - 1, &parsed),
			 NCS_LINE_OURS);
	assert_int_equal(strlen(parsed.node), NCS_LINE_NODE_MAX);
	assert_true(parsed.number == UINT64_C(9999999999999999999));
}

TEST(node_names_are_cleaned)
{
	struct ncs_line_writer writer;

	ncs_line_writer_init(&writer, "a:b\n\xff-1.c_d", 1, 0);
	assert_string_equal(writer.node, "a_b__-1.c_d");
	ncs_line_writer_init(&writer, "", 1, 0);
	assert_string_equal(writer.node, "_");
}

TEST(slurm_names_its_node)
{
	char name[100], cut[4];

	setenv("SLURMD_NODENAME", "n07", 1);
	ncs_line_node_name(name, sizeof(name));
	assert_string_equal(name, "n07");
	unsetenv("SLURMD_NODENAME");
	ncs_line_node_name(name, sizeof(name));
	assert_true(strlen(name) > 0);
	assert_string_not_equal(name, "n07");
	ncs_line_node_name(cut, sizeof(cut));
	assert_true(strlen(cut) < sizeof(cut));
}

/* Labels of pdsh, mpirun, and the rest of a torn line. */
TEST(what_stands_before_the_marker_is_ignored)
{
	static const char *const lines[] = {
		"n01: ncclstat1:n01:0000beef:0:aGVsbG8=",
		"[1,0]<stdout>: ncclstat1:n01:0000beef:0:aGVsbG8=",
		"ncclstat1:n02:0000beef:7:QUJDncclstat1:n01:0000beef:0:aGVsbG8=",
		"ncclstat: ncclstat1:n01:0000beef:0:aGVsbG8=",
	};
	struct ncs_line parsed;

	for (size_t i = 0; i < sizeof(lines) / sizeof(lines[0]); i++) {
		assert_int_equal(parse(lines[i], &parsed), NCS_LINE_OURS);
		assert_string_equal(parsed.node, "n01");
		assert_memory_equal(parsed.bytes, "hello", 5);
	}
}

TEST(other_lines_are_told_apart)
{
	static const struct {
		const char *line;
		enum ncs_line_kind kind;
	} cases[] = {
		{ "", NCS_LINE_MESSAGE },
		{ "bash: ncclstat: command not found", NCS_LINE_MESSAGE },
		{ "ncclstat1", NCS_LINE_MESSAGE },
		{ "ncclstat2:n01:0000beef:0:aGVsbG8=", NCS_LINE_FOREIGN },
		{ "ncclstat11:n01:0000beef:0:aGVsbG8=", NCS_LINE_FOREIGN },
		{ "ncclstat1:", NCS_LINE_TORN },
		{ "ncclstat1:n01:0000beef:0", NCS_LINE_TORN },
		{ "ncclstat1::0000beef:0:aGVsbG8=", NCS_LINE_TORN },
		{ "ncclstat1:n 1:0000beef:0:aGVsbG8=", NCS_LINE_TORN },
		{ "ncclstat1:n01:beef:0:aGVsbG8=", NCS_LINE_TORN },
		{ "ncclstat1:n01:0000BEEF:0:aGVsbG8=", NCS_LINE_TORN },
		{ "ncclstat1:n01:0000beef::aGVsbG8=", NCS_LINE_TORN },
		{ "ncclstat1:n01:0000beef:-1:aGVsbG8=", NCS_LINE_TORN },
		{ "ncclstat1:n01:0000beef:99999999999999999999:aGVsbG8=",
		  NCS_LINE_TORN },
		{ "ncclstat1:n01:0000beef:0:aGVsbG8", NCS_LINE_TORN },
		{ "ncclstat1:n01:0000beef:0:aGVs=bG8", NCS_LINE_TORN },
		{ "ncclstat1:n01:0000beef:0:aGVsbG==aGVs", NCS_LINE_TORN },
		{ "ncclstat1:n01:0000beef:0:aG*sbG8=", NCS_LINE_TORN },
		{ "ncclstat1:n01:0000beef:0:=GVsbG8=", NCS_LINE_TORN },
		{ "ncclstat1:n01:0000beef:0:aG=sbG8=", NCS_LINE_TORN },
	};
	struct ncs_line parsed;

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		if (parse(cases[i].line, &parsed) != cases[i].kind)
			fail_msg("%s: %d", cases[i].line,
				 parse(cases[i].line, &parsed));
}

TEST(line_that_is_too_long_for_us_is_torn)
{
	struct ncs_line parsed;
	char line[2000] = "ncclstat1:n01:0000beef:0:";

	memset(line + strlen(line), 'A', 1004);
	assert_int_equal(parse(line, &parsed), NCS_LINE_TORN);
}

/* --- Splitting ------------------------------------------------------------- */

TEST(lines_come_whole_from_any_pieces)
{
	static const char text[] = "one\n\ntwo two\r\nthree\nrest";
	static const char *const wanted[] = { "one", "", "two two", "three" };

	for (size_t piece = 1; piece <= sizeof(text) - 1; piece++) {
		struct ncs_line_splitter splitter = { .used = 0 };
		const char *at = text, *end = text + sizeof(text) - 1;
		size_t found = 0;

		while (at < end) {
			size_t left = (size_t)(end - at), length;
			size_t size = left < piece ? left : piece;
			char *line =
				ncs_line_next(&splitter, &at, &size, &length);

			if (!line)
				continue;
			assert_true(found < 4);
			assert_string_equal(line, wanted[found]);
			assert_int_equal(length, strlen(wanted[found]));
			found++;
		}
		assert_int_equal(found, 4);
	}
}

TEST(end_of_a_line_that_is_too_long_is_kept)
{
	const char *ours = "ncclstat1:n01:0000beef:0:aGVsbG8=\n";
	struct ncs_line_splitter splitter = { .used = 0 };
	struct ncs_line parsed;
	char noise[NCS_LINE_READ_MAX + 100], *line;
	size_t size, length;

	memset(noise, 'x', sizeof(noise));
	for (unsigned i = 0; i < 5; i++) {
		const char *at = noise;

		size = sizeof(noise) - i * 1000;
		assert_null(ncs_line_next(&splitter, &at, &size, &length));
		assert_int_equal(size, 0);
	}
	size = strlen(ours);
	line = ncs_line_next(&splitter, &ours, &size, &length);
	assert_non_null(line);
	assert_int_equal(length, NCS_LINE_READ_MAX);
	assert_int_equal(ncs_line_parse(line, length, &parsed), NCS_LINE_OURS);
}

/* --- Order ----------------------------------------------------------------- */

static enum ncs_line_step take(struct ncs_line_order *order, uint32_t agent,
			       uint64_t number)
{
	struct ncs_line line = { .agent = agent, .number = number };

	return ncs_line_order_take(order, &line);
}

TEST(lost_and_repeated_lines_are_noticed)
{
	struct ncs_line_order order = { .agent = 0 };

	assert_int_equal(take(&order, 1, 0), NCS_LINE_BEGINS);
	assert_int_equal(take(&order, 1, 1), NCS_LINE_NEXT);
	assert_int_equal(take(&order, 1, 1), NCS_LINE_DROP);
	assert_int_equal(take(&order, 1, 4), NCS_LINE_GAP);
	assert_int_equal(take(&order, 1, 3), NCS_LINE_DROP);
	assert_int_equal(take(&order, 1, 5), NCS_LINE_NEXT);
}

TEST(next_agent_takes_over_with_its_first_line)
{
	struct ncs_line_order order = { .agent = 0 };

	assert_int_equal(take(&order, 1, 7), NCS_LINE_BEGINS);
	assert_int_equal(take(&order, 2, 0), NCS_LINE_BEGINS);
	assert_int_equal(take(&order, 1, 8), NCS_LINE_DROP);
	assert_int_equal(take(&order, 2, 1), NCS_LINE_NEXT);
}

/* Two agents at once: one is followed, however long both go on. */
TEST(one_of_two_agents_is_followed)
{
	struct ncs_line_order order = { .agent = 0 };

	take(&order, 1, 0);
	take(&order, 2, 0);
	for (uint64_t i = 1; i < 100; i++) {
		assert_int_equal(take(&order, 1, i), NCS_LINE_DROP);
		assert_int_equal(take(&order, 2, i), NCS_LINE_NEXT);
	}
}

TEST(agent_without_its_first_line_takes_over_a_silent_one)
{
	struct ncs_line_order order = { .agent = 0 };
	uint64_t number = 1;

	take(&order, 1, 0);
	while (take(&order, 2, number) == NCS_LINE_DROP)
		assert_true(number++ < 50);
	assert_int_equal(take(&order, 2, number + 1), NCS_LINE_NEXT);
}

/* A thousand nodes through one pipe, torn at random: each byte that comes is in
 * its place, and each that does not is counted. */
TEST(thousand_nodes_share_a_pipe)
{
	enum { NODES = 1000, LINES = 20 };
	static struct ncs_line_writer writers[NODES];
	static struct ncs_line_order orders[NODES];
	static struct ncs_line_splitter splitter;
	static uint64_t next[NODES];
	uint64_t seen = 0, lost = 0, sent = 0;
	char text[NCS_LINE_PADDED];
	struct ncs_line parsed;
	size_t bytes;

	srand(2);
	for (uint32_t i = 0; i < NODES; i++) {
		snprintf(text, sizeof(text), "node%u", i);
		ncs_line_writer_init(&writers[i], text, i, 0);
	}
	for (unsigned turn = 0; turn < LINES * NODES; turn++) {
		unsigned node = (unsigned)rand() % NODES;
		uint64_t payload[2] = { node, writers[node].number };
		const char *at = text;
		size_t length;
		char *line;

		ncs_line_put(&writers[node], payload, sizeof(payload), text,
			     &bytes);
		sent++;
		/* Each fiftieth line is torn. */
		if (turn % 50 == 49)
			bytes = (size_t)rand() % bytes;
		while ((line = ncs_line_next(&splitter, &at, &bytes,
					     &length))) {
			if (ncs_line_parse(line, length, &parsed) !=
			    NCS_LINE_OURS)
				continue;
			memcpy(payload, parsed.bytes, sizeof(payload));
			assert_int_equal(parsed.byte_count, sizeof(payload));
			assert_int_equal(payload[1], parsed.number);
			assert_true(payload[0] < NODES);
			assert_string_equal(parsed.node,
					    writers[payload[0]].node);
			if (ncs_line_order_take(&orders[payload[0]], &parsed) ==
			    NCS_LINE_GAP)
				lost += parsed.number - next[payload[0]];
			next[payload[0]] = parsed.number + 1;
			seen++;
		}
	}
	/* The last lines of a node, and its first ones, leave no gap. */
	assert_true(seen < sent);
	assert_true(seen + lost <= sent);
	assert_true(seen > sent * 9 / 10);
	assert_true(lost > 0);
}

TEST(random_bytes_do_no_harm)
{
	static struct ncs_line_splitter splitter;
	static const char *const parts[] = {
		"ncclstat1:", "n01:", "0000beef:", "12:",
		"AAAA",       "\n",   "=",         "ncclstat"
	};
	struct ncs_line_order order = { .agent = 0 };
	struct ncs_line parsed;
	size_t lines = 0;

	srand(3);
	for (unsigned i = 0; i < 200000; i++) {
		char noise = (char)rand();
		const char *text = parts[(unsigned)rand() % 8];
		size_t size = strlen(text), length;
		char *line;

		if (i % 16 == 0) {
			text = &noise;
			size = 1;
		}
		while ((line = ncs_line_next(&splitter, &text, &size,
					     &length))) {
			if (ncs_line_parse(line, length, &parsed) ==
			    NCS_LINE_OURS) {
				ncs_line_order_take(&order, &parsed);
				lines++;
			}
		}
	}
	assert_true(lines > 0);
}

/* --- Orders --------------------------------------------------------------- */

static struct ncs_orders take_orders(const char *text, size_t piece)
{
	struct ncs_orders orders = { 0 };
	size_t left = strlen(text);

	for (; left > 0; text += piece, left -= piece) {
		if (piece > left)
			piece = left;
		ncs_orders_take(&orders, text, piece);
	}
	return orders;
}

TEST(an_order_may_come_in_pieces)
{
	for (size_t piece = 1; piece < 9; piece++)
		assert_true(take_orders("\n\npack\n", piece).packs);
}

TEST(what_is_no_order_is_left_out)
{
	char line[300];

	assert_false(take_orders("", 1).packs);
	assert_false(take_orders("pack", 3).packs);
	assert_false(take_orders("packs\nunpack\n pack\n1\n", 7).packs);
	memset(line, 'x', sizeof(line));
	memcpy(line + sizeof(line) - 6, "pack\n", 6);
	assert_false(take_orders(line, 50).packs);
	memcpy(line + sizeof(line) - 7, "\npack\n", 7);
	assert_true(take_orders(line, 50).packs);
}

TEST(any_bytes_leave_bounded_orders)
{
	static const char alphabet[] = "pack\n\n pack\0x";
	struct ncs_orders orders = { 0 };
	uint32_t seed = 7;

	for (int i = 0; i < 200000; i++) {
		char byte;

		seed = seed * 1664525u + 1013904223u;
		byte = alphabet[(seed >> 16) % sizeof(alphabet)];
		ncs_orders_take(&orders, &byte, 1);
		assert_true(orders.used <= sizeof(orders.line));
	}
	orders.packs = false;
	ncs_orders_take(&orders, "\npack\n", 6);
	assert_true(orders.packs);
}
