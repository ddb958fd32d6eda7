/* SPDX-License-Identifier: MIT */
/* Tests of many nodes as one source (fleet/head/fleet.h). */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fleet/head/fleet.h"
#include "fleet/head/fleet_internal.h"
#include "record/format/chunk.h"
#include "record/read/recording.h"
#include "record/write/recorder.h"
#include "shm/clock.h"
#include "test/unit/support/stream_fixture.h"

#define S UINT64_C(1000000000)
#define NOW_NS (UINT64_C(5000) * S)

static struct ncs_fleet *fleet;

static int setup(void **state)
{
	fleet = ncs_fleet_new(NULL);
	return fleet ? stream_fixture_setup(state) : -1;
}

static int teardown(void **state)
{
	ncs_fleet_free(fleet);
	return stream_fixture_teardown(state);
}

static size_t add(const char *name)
{
	size_t node;

	assert_int_equal(ncs_fleet_add(fleet, name, "", &node), 0);
	return node;
}

/* Makes a key and a change, by the agent of a host that is not this one. */
static void make_looks(struct stream_fixture *fixture, const char *host)
{
	struct ncs_file_head *head = &fixture->recording->settings.head;

	snprintf(head->host, sizeof(head->host), "%s", host);
	snprintf(head->boot_id, sizeof(head->boot_id), "boot of %s", host);
	stream_fixture_begin(fixture);
	stream_fixture_look(fixture, 0, 1, true);
	stream_fixture_look(fixture, S, 2, false);
	stream_fixture_end(fixture);
}

static void feed(size_t node, const struct stream_look *look, uint64_t now_ns)
{
	assert_int_equal(ncs_fleet_feed(fleet, node, look->bytes, look->size,
					now_ns),
			 0);
}

static struct ncs_node node_at(size_t node, uint64_t now_ns)
{
	struct ncs_node nodes[8];

	assert_true(ncs_fleet_nodes(fleet, now_ns, nodes, 8) > node);
	return nodes[node];
}

/* Runs a pass; returns the number of samples, and the last one's members that
 * the tests look at. */
struct seen {
	size_t count;
	char id[200];
	bool is_old;
	bool is_past;
	bool is_aligned;
	uint64_t taken_ns;
	size_t node;
};

static struct seen pass(uint64_t now_ns)
{
	struct ncs_source *source = ncs_fleet_source(fleet);
	struct ncs_sample sample;
	struct seen seen = { 0 };
	char why[100];

	assert_int_equal(source->begin(source, now_ns, why, sizeof(why)), 0);
	while (source->next(source, &sample)) {
		assert_int_equal(sample.attach, NCS_ATTACHED);
		seen.count++;
		snprintf(seen.id, sizeof(seen.id), "%s", sample.id);
		seen.is_old = sample.is_old;
		seen.is_past = sample.is_past;
		seen.is_aligned = sample.clock_is_aligned;
		/* A model that does not know the rank asks for it. */
		if (!sample.snapshot)
			assert_true(source->complete(source, &sample));
		seen.taken_ns = sample.snapshot->taken_ns;
		seen.node = sample.node;
	}
	return seen;
}

static void test_the_ranks_of_all_nodes_are_shown(void **state)
{
	struct stream_fixture *fixture = *state;
	const struct ncs_node *nodes;
	struct seen seen;

	make_looks(fixture, "one");
	make_looks(fixture, "two");
	feed(add("n1"), &fixture->looks[0], NOW_NS);
	feed(add("n2"), &fixture->looks[2], NOW_NS);
	seen = pass(NOW_NS);
	assert_int_equal(seen.count, 4);
	assert_string_equal(seen.id, "n2:ncclstat.8.1.0");
	assert_int_equal(seen.node, 1);
	assert_int_equal(
		ncs_fleet_source(fleet)->nodes(ncs_fleet_source(fleet), &nodes),
		2);
	assert_string_equal(nodes[1].host, "two");
	assert_int_equal(nodes[1].state, NCS_NODE_RUNNING);
}

static void test_a_node_without_a_name_has_its_hosts(void **state)
{
	struct stream_fixture *fixture = *state;
	size_t first, second;

	make_looks(fixture, "one");
	first = add(NULL);
	second = add(NULL);
	assert_string_equal(node_at(second, NOW_NS).name, "stream 2");
	feed(first, &fixture->looks[0], NOW_NS);
	feed(second, &fixture->looks[0], NOW_NS);
	assert_string_equal(node_at(first, NOW_NS).name, "one");
	assert_string_equal(node_at(second, NOW_NS).name, "one (2)");
}

static void test_a_look_is_new_once(void **state)
{
	struct stream_fixture *fixture = *state;
	size_t node = add("n");

	make_looks(fixture, "one");
	feed(node, &fixture->looks[0], NOW_NS);
	assert_false(pass(NOW_NS).is_old);
	assert_true(pass(NOW_NS + S / 2).is_old);
	feed(node, &fixture->looks[1], NOW_NS + S);
	assert_false(pass(NOW_NS + S).is_old);
}

/* The model knows the rank by its id. */
static void test_a_state_is_not_added_to_another_ranks_sample(void **state)
{
	struct ncs_source *source = ncs_fleet_source(fleet);
	struct stream_fixture *fixture = *state;
	size_t node = add("n");
	struct ncs_sample sample;
	char why[100];

	make_looks(fixture, "host-a");
	feed(node, &fixture->looks[0], NOW_NS);
	pass(NOW_NS);
	assert_int_equal(source->begin(source, NOW_NS, why, sizeof(why)), 0);
	assert_true(source->next(source, &sample));
	assert_non_null(strstr(sample.id, "ncclstat.7.1.0"));
	assert_null(sample.snapshot);
	fixture->swaps = true;
	make_looks(fixture, "host-a");
	feed(node, &fixture->looks[2], NOW_NS);
	assert_false(source->complete(source, &sample));
	assert_null(sample.snapshot);
}

static void test_ages_are_right_without_an_aligned_clock(void **state)
{
	struct stream_fixture *fixture = *state;
	size_t node = add("n");
	struct seen seen;

	make_looks(fixture, "one");
	feed(node, &fixture->looks[0], NOW_NS);
	seen = pass(NOW_NS + S / 4);
	assert_false(seen.is_aligned);
	assert_true(seen.taken_ns == NOW_NS);
	/* The second look is taken a second later, and takes 0.3 s less. */
	feed(node, &fixture->looks[1], NOW_NS + 7 * S / 10);
	seen = pass(NOW_NS + S);
	assert_true(seen.taken_ns == NOW_NS + 7 * S / 10);
}

static void test_this_machines_clock_is_aligned(void **state)
{
	struct stream_fixture *fixture = *state;
	struct seen seen;

	stream_fixture_begin(fixture);
	stream_fixture_look(fixture, 0, 1, true);
	stream_fixture_end(fixture);
	feed(add("n"), &fixture->looks[0], NOW_NS);
	seen = pass(NOW_NS);
	assert_true(seen.is_aligned);
	assert_true(seen.taken_ns == RECORDING_BEGUN_NS);
}

static void test_a_silent_node_shows_the_past(void **state)
{
	struct stream_fixture *fixture = *state;
	size_t node = add("n");

	make_looks(fixture, "one");
	feed(node, &fixture->looks[0], NOW_NS);
	assert_int_equal(node_at(node, NOW_NS + 2 * S).state, NCS_NODE_RUNNING);
	assert_false(pass(NOW_NS + 2 * S).is_past);
	assert_int_equal(node_at(node, NOW_NS + 4 * S).state, NCS_NODE_SILENT);
	assert_true(pass(NOW_NS + 4 * S).is_past);
	assert_true(node_at(node, NOW_NS + 4 * S).look_ns == NOW_NS);
	feed(node, &fixture->looks[1], NOW_NS + 5 * S);
	assert_int_equal(node_at(node, NOW_NS + 5 * S).state, NCS_NODE_RUNNING);
	assert_false(pass(NOW_NS + 5 * S).is_past);
}

static void test_a_node_whose_first_look_is_not_whole_is_starting(void **state)
{
	struct stream_fixture *fixture = *state;
	struct stream_look part;
	size_t node = add("n");

	make_looks(fixture, "one");
	part = fixture->looks[0];
	part.size /= 2;
	feed(node, &part, NOW_NS);
	assert_int_equal(node_at(node, NOW_NS).state, NCS_NODE_STARTING);
	assert_non_null(strstr(node_at(node, NOW_NS).why, " bytes have"));
}

static void test_ranks_of_a_pod_that_is_gone_are_not_shown(void **state)
{
	struct stream_fixture *fixture = *state;
	size_t node = add("n"), other = add("m");

	stream_fixture_begin(fixture);
	stream_fixture_look(fixture, 0, 1, true);
	stream_fixture_end(fixture);
	feed(node, &fixture->looks[0], NOW_NS);
	feed(other, &fixture->looks[0], NOW_NS);
	assert_int_equal(pass(NOW_NS).count, 4);
	ncs_fleet_set_state(fleet, node, NCS_NODE_ENDED, "", NOW_NS);
	assert_int_equal(pass(NOW_NS).count, 4);
	ncs_fleet_set_state(fleet, node, NCS_NODE_GONE, "", NOW_NS);
	assert_int_equal(pass(NOW_NS).count, 2);
	/* It runs again. */
	feed(node, &fixture->looks[0], NOW_NS + S);
	assert_int_equal(pass(NOW_NS + S).count, 4);
}

static void test_a_launchers_word_holds_until_a_look_comes(void **state)
{
	struct stream_fixture *fixture = *state;
	size_t node = add("n");

	make_looks(fixture, "one");
	assert_int_equal(node_at(node, NOW_NS).state, NCS_NODE_STARTING);
	ncs_fleet_set_state(fleet, node, NCS_NODE_REFUSED, "wrong key", NOW_NS);
	assert_int_equal(node_at(node, NOW_NS).state, NCS_NODE_REFUSED);
	assert_string_equal(node_at(node, NOW_NS).why, "wrong key");
	feed(node, &fixture->looks[0], NOW_NS);
	assert_int_equal(node_at(node, NOW_NS).state, NCS_NODE_RUNNING);
	assert_string_equal(node_at(node, NOW_NS).why, "");
	ncs_fleet_set_state(fleet, node, NCS_NODE_ENDED, "", NOW_NS);
	assert_true(pass(NOW_NS).is_past);
}

static void test_dropped_looks_are_a_slow_link_for_a_while(void **state)
{
	struct stream_fixture *fixture = *state;
	size_t node = add("n");

	stream_fixture_begin(fixture);
	stream_fixture_look(fixture, 0, 1, true);
	fixture->number++;
	fixture->dropped++;
	stream_fixture_look(fixture, 2 * S, 2, true);
	for (uint64_t i = 3; i < 14; i++)
		stream_fixture_look(fixture, i * S, i, false);
	stream_fixture_end(fixture);
	feed(node, &fixture->looks[0], NOW_NS);
	feed(node, &fixture->looks[1], NOW_NS + 2 * S);
	assert_int_equal(node_at(node, NOW_NS + 2 * S).state,
			 NCS_NODE_SLOW_LINK);
	assert_true(node_at(node, NOW_NS + 2 * S).looks_dropped == 1);
	assert_false(pass(NOW_NS + 2 * S).is_past);
	for (uint64_t i = 2; i < fixture->count; i++)
		feed(node, &fixture->looks[i], NOW_NS + (i + 1) * S);
	assert_int_equal(node_at(node, NOW_NS + 14 * S).state,
			 NCS_NODE_RUNNING);
	assert_true(node_at(node, NOW_NS + 14 * S).bytes_a_second > 0);
}

static void test_a_node_of_other_users_is_denied_in_words(void **state)
{
	struct stream_fixture *fixture = *state;
	struct ncs_look look = { .denied = 1, .flags = NCS_LOOK_KEY };
	struct ncs_source *source = ncs_fleet_source(fleet);
	struct ncs_sample sample;
	size_t node = add("n");
	char why[100];

	stream_fixture_begin(fixture);
	ncs_recording_writer_unreadable(fixture->recording->writer,
					NCS_ATTACH_DENIED, "/dev/shm/x",
					"it belongs to root");
	ncs_recording_writer_look(fixture->recording->writer, &look);
	ncs_fleet_feed(fleet, node, fixture->memory.bytes,
		       fixture->memory.size, NOW_NS);
	stream_fixture_end(fixture);
	assert_int_equal(node_at(node, NOW_NS).state, NCS_NODE_DENIED);
	assert_string_equal(node_at(node, NOW_NS).why, "it belongs to root");
	assert_int_equal(source->begin(source, NOW_NS, why, sizeof(why)), 0);
	assert_true(source->next(source, &sample));
	assert_int_equal(sample.attach, NCS_ATTACH_DENIED);
	assert_string_equal(sample.id, "n:/dev/shm/x");
	assert_false(source->next(source, &sample));
}

static void test_waiting_ends_when_all_have_answered(void **state)
{
	struct stream_fixture *fixture = *state;
	size_t first = add("n1"), second = add("n2");

	make_looks(fixture, "one");
	feed(first, &fixture->looks[0], NOW_NS);
	assert_false(ncs_fleet_wait(fleet, 1000));
	ncs_fleet_set_state(fleet, second, NCS_NODE_NOT_REACHABLE, "no route",
			    NOW_NS);
	assert_true(ncs_fleet_wait(fleet, 60 * S));
}

static void test_kept_looks_are_a_recording_of_their_host(void **state)
{
	struct stream_fixture *fixture = *state;
	char base[300], path[400];
	const char *paths[] = { path };
	const struct ncs_recorder_settings settings = { .path = base,
							.pack_level = 1 };
	struct ncs_recorded_file_facts file;
	struct ncs_recording *recording;
	struct ncs_fleet_kept kept;
	struct ncs_reader *read;
	uint64_t taken_ns;
	size_t node = add("n/1");

	snprintf(base, sizeof(base), "%s",
		 segment_fixture_path(fixture->recording->segment, "kept"));
	ncs_fleet_keep(fleet, &settings);
	make_looks(fixture, "one");
	/* It begins with a look that can be read by itself. */
	feed(node, &fixture->looks[1], NOW_NS);
	feed(node, &fixture->looks[0], NOW_NS);
	feed(node, &fixture->looks[1], NOW_NS + S);
	ncs_fleet_keep_end(fleet, &kept);
	assert_true(kept.error == 0 && kept.files == 1 && kept.looks == 2);
	assert_true(kept.nodes == 1 && kept.states == 4);
	snprintf(path, sizeof(path), "%s.n_1", base);
	if (ncs_recording_open(&recording, paths, 1, base, sizeof(base)) != 0)
		fail_msg("%s", base);
	assert_int_equal(ncs_recording_rank_count(recording), 2);
	assert_string_equal(ncs_recording_host(recording, 0)->name, "one");
	assert_true(ncs_recording_facts(recording)->damaged_chunks == 0);
	assert_int_equal(ncs_recording_facts(recording)->cut_files, 0);
	ncs_recording_file(recording, 0, &file);
	assert_true(file.run != 0 && file.number == 0);
	assert_int_equal(file.begun_ns, RECORDING_BEGUN_NS);
	assert_int_equal(ncs_recording_state(recording, 1, UINT64_MAX / 2,
					     &read, &taken_ns),
			 NCS_RECORDED_NO_MORE);
	assert_int_equal(ncs_recording_state(recording, 1,
					     RECORDING_BEGUN_NS + S, &read,
					     &taken_ns),
			 NCS_RECORDED_YES);
	assert_true(taken_ns == RECORDING_BEGUN_NS + S);
	ncs_recording_close(recording);
}

/* Checks that a file can be followed, and how many looks it has; and that its second
 * chunk is "tables". */
static void follow_kept(const char *path, uint64_t looks)
{
	char *bytes = malloc(1 << 20);
	size_t node = add("again"), size;
	FILE *file = fopen(path, "rb");
	struct ncs_chunk chunk;

	assert_true(bytes && file);
	size = fread(bytes, 1, 1 << 20, file);
	fclose(file);
	assert_int_equal(ncs_fleet_feed(fleet, node, bytes, size, NOW_NS), 0);
	assert_int_equal(node_at(node, NOW_NS).looks, looks);
	assert_int_equal(node_at(node, NOW_NS).looks_lost, 0);
	assert_int_equal(node_at(node, NOW_NS).ranks, 2);
	memcpy(&chunk, bytes, sizeof(chunk));
	memcpy(&chunk, bytes + ncs_chunk_file_bytes(&chunk), sizeof(chunk));
	assert_int_equal(chunk.type, NCS_CHUNK_TABLES);
	free(bytes);
}

/* Chunks out of packs are not compressed; in the file they are, and it can still
 * be followed. */
static void test_what_is_kept_is_compressed(void **state)
{
	struct stream_fixture *fixture = *state;
	struct ncs_fleet_kept kept;
	char base[300], path[400];
	const struct ncs_recorder_settings settings = { .path = base,
							.pack_level = 1 };
	size_t node = add("n1");

	snprintf(base, sizeof(base), "%s",
		 segment_fixture_path(fixture->recording->segment, "kept"));
	fixture->recording->settings.is_packed = false;
	make_looks(fixture, "one");
	ncs_fleet_keep(fleet, &settings);
	feed(node, &fixture->looks[0], NOW_NS);
	feed(node, &fixture->looks[1], NOW_NS + S);
	ncs_fleet_keep_end(fleet, &kept);
	assert_true(kept.error == 0 && kept.looks == 2);
	assert_true(kept.bytes < (fixture->looks[0].size +
				  fixture->looks[1].size) / 2);
	snprintf(path, sizeof(path), "%s.n1", base);
	follow_kept(path, 2);
}

/* A file goes on until a look comes that can be read by itself; all files of a node
 * are one recording, though another agent writes some of them. */
static void test_what_is_kept_is_rotated(void **state)
{
	struct stream_fixture *fixture = *state;
	char folder[300], first[400], second[400], third[400], why[400];
	const char *paths[] = { third, second };
	const struct ncs_recorder_settings settings = {
		.path = folder,
		.pack_level = 1,
		.rotate_ns = 10 * S,
		.keep = 2,
	};
	struct ncs_recorded_file_facts file;
	struct ncs_recording *recording;
	struct ncs_fleet_kept kept;
	size_t node = add("n1");

	snprintf(folder, sizeof(folder), "%s/",
		 segment_fixture_path(fixture->recording->segment, "run"));
	snprintf(first, sizeof(first), "%sn1", folder);
	snprintf(second, sizeof(second), "%sn1.1", folder);
	snprintf(third, sizeof(third), "%sn1.2", folder);
	ncs_fleet_keep(fleet, &settings);
	make_looks(fixture, "one");
	fixture->recording->settings.head.recording[0]++;
	stream_fixture_begin(fixture);
	stream_fixture_look(fixture, 9 * S, 3, true);
	stream_fixture_look(fixture, 11 * S, 4, false);
	stream_fixture_look(fixture, 12 * S, 5, true);
	stream_fixture_look(fixture, 30 * S, 6, true);
	stream_fixture_end(fixture);
	for (size_t i = 0; i < fixture->count; i++)
		feed(node, &fixture->looks[i], NOW_NS + i * S);
	ncs_fleet_keep_end(fleet, &kept);
	assert_true(kept.error == 0 && kept.files == 3 && kept.nodes == 1);
	assert_string_equal(kept.prefix, folder);
	assert_false(segment_fixture_exists(first));
	if (ncs_recording_open(&recording, paths, 2, why, sizeof(why)) != 0)
		fail_msg("%s", why);
	assert_int_equal(ncs_recording_rank_count(recording), 2);
	assert_int_equal(ncs_recording_facts(recording)->cut_files, 0);
	assert_int_equal(ncs_recording_facts(recording)->damaged_chunks, 0);
	assert_int_equal(ncs_recording_facts(recording)->runs, 1);
	ncs_recording_file(recording, 0, &file);
	assert_string_equal(file.path, second);
	/* Its look alone is whole: it has tables, which no agent has sent there. */
	follow_kept(second, 1);
	assert_true(file.number == 1 &&
		    file.begun_ns == RECORDING_BEGUN_NS + 12 * S);
	ncs_recording_close(recording);
	assert_true(remove(second) == 0 && remove(third) == 0);
}

/* A node that is started again has other processes and another clock: its file begins
 * another recording. */
static void test_a_boot_begins_another_recording(void **state)
{
	struct stream_fixture *fixture = *state;
	char folder[300], first[400], second[400], why[400];
	const char *paths[] = { first, second };
	const struct ncs_recorder_settings settings = { .path = folder,
							.pack_level = 1 };
	struct ncs_recorded_file_facts file;
	struct ncs_recording *recording;
	struct ncs_fleet_kept kept;
	size_t node = add("n1");

	snprintf(folder, sizeof(folder), "%s/",
		 segment_fixture_path(fixture->recording->segment, "run"));
	snprintf(first, sizeof(first), "%sn1", folder);
	snprintf(second, sizeof(second), "%sn1.1", folder);
	ncs_fleet_keep(fleet, &settings);
	make_looks(fixture, "one");
	strcpy(fixture->recording->settings.head.boot_id, "another boot");
	fixture->recording->settings.head.recording[0]++;
	stream_fixture_begin(fixture);
	stream_fixture_look(fixture, 2 * S, 3, true);
	stream_fixture_end(fixture);
	for (size_t i = 0; i < fixture->count; i++)
		feed(node, &fixture->looks[i], NOW_NS + i * S);
	ncs_fleet_keep_end(fleet, &kept);
	assert_true(kept.error == 0 && kept.files == 2 && kept.nodes == 1);
	if (ncs_recording_open(&recording, paths, 2, why, sizeof(why)) != 0)
		fail_msg("%s", why);
	assert_int_equal(ncs_recording_facts(recording)->cut_files, 0);
	assert_int_equal(ncs_recording_facts(recording)->damaged_chunks, 0);
	assert_int_equal(ncs_recording_host_count(recording), 2);
	assert_int_equal(ncs_recording_rank_count(recording), 4);
	ncs_recording_file(recording, 1, &file);
	assert_string_equal(file.path, second);
	assert_int_equal(file.number, 1);
	ncs_recording_close(recording);
	assert_true(remove(first) == 0 && remove(second) == 0);
}

/* The second file of rack is not that of rack.1. */
static void test_names_of_nodes_are_none_of_another_ones_files(void **state)
{
	struct stream_fixture *fixture = *state;
	static const char *const names[] = { "rack", "rack.1", "10.0.0.1" };
	static const char *const files[] = { "rack.1", "rack.1_", "10.0.0.1" };
	char folder[300], path[400];
	const struct ncs_recorder_settings settings = {
		.path = folder,
		.pack_level = 1,
		.rotate_ns = S,
	};
	struct ncs_fleet_kept kept;
	bool is_there = true;

	snprintf(folder, sizeof(folder), "%s/",
		 segment_fixture_path(fixture->recording->segment, "run"));
	ncs_fleet_keep(fleet, &settings);
	make_looks(fixture, "one");
	stream_fixture_begin(fixture);
	stream_fixture_look(fixture, 2 * S, 3, true);
	stream_fixture_end(fixture);
	for (size_t i = 0; i < 3; i++) {
		size_t node = add(names[i]);

		feed(node, &fixture->looks[0], NOW_NS);
		if (i == 0)
			feed(node, &fixture->looks[2], NOW_NS + 2 * S);
	}
	ncs_fleet_keep_end(fleet, &kept);
	assert_true(kept.error == 0 && kept.files == 4);
	for (size_t i = 0; i < 3; i++) {
		snprintf(path, sizeof(path), "%s%s", folder, files[i]);
		is_there &= remove(path) == 0;
	}
	snprintf(path, sizeof(path), "%srack", folder);
	assert_true(is_there && remove(path) == 0);
}

/* --- Limits ---------------------------------------------------------------- */

static void test_a_node_over_a_limit_is_told_and_others_go_on(void **state)
{
	struct stream_fixture *fixture = *state;
	size_t greedy = add("greedy"), modest = add("modest");
	uint64_t used = fleet->budget.used;
	struct ncs_node node;
	struct seen seen;

	make_looks(fixture, "one");
	make_looks(fixture, "two");
	feed(modest, &fixture->looks[2], NOW_NS);
	/* Room for one rank more, and for the look. */
	fleet->budget.most = fleet->budget.used +
			     (fleet->budget.used - used) * 3 / 4 +
			     2 * fixture->looks[0].size;
	feed(greedy, &fixture->looks[0], NOW_NS);
	node = node_at(greedy, NOW_NS);
	assert_int_equal(node.state, NCS_NODE_OVER_LIMIT);
	assert_int_equal(node.left_out, 1);
	assert_string_equal(node.why,
			    "1 segment is left out: all nodes together take"
			    " half of the memory that was free");
	assert_int_equal(node_at(modest, NOW_NS).state, NCS_NODE_RUNNING);
	seen = pass(NOW_NS);
	assert_int_equal(seen.count, 3);
	assert_false(seen.is_past);
	feed(modest, &fixture->looks[3], NOW_NS + S);
	assert_int_equal(node_at(modest, NOW_NS + S).state, NCS_NODE_RUNNING);
}

static void test_a_launchers_word_on_a_limit_outlives_a_look(void **state)
{
	struct stream_fixture *fixture = *state;
	size_t node = add("n");

	make_looks(fixture, "one");
	feed(node, &fixture->looks[0], NOW_NS);
	ncs_fleet_set_state(fleet, node, NCS_NODE_OVER_LIMIT, "too much",
			    NOW_NS);
	feed(node, &fixture->looks[1], NOW_NS + S);
	assert_int_equal(node_at(node, NOW_NS + S).state, NCS_NODE_OVER_LIMIT);
	assert_string_equal(node_at(node, NOW_NS + S).why, "too much");
	for (uint64_t i = 2; i < 30; i++)
		feed(node, &fixture->looks[1], NOW_NS + i * S);
	assert_int_equal(node_at(node, NOW_NS + 29 * S).state,
			 NCS_NODE_RUNNING);
}

static void test_segments_that_an_agent_leaves_out_are_told(void **state)
{
	struct stream_fixture *fixture = *state;
	struct ncs_look look = { .number = 2,
				 .taken_ns = RECORDING_BEGUN_NS,
				 .interval_ns = RECORDING_INTERVAL_NS,
				 .ranks = 1,
				 .left_out = 3 };
	size_t node = add("n");

	stream_fixture_begin(fixture);
	stream_fixture_look(fixture, 0, 1, true);
	recording_fixture_state(fixture->recording, fixture->ranks[0], S, 0);
	ncs_recording_writer_look(fixture->recording->writer, &look);
	feed(node, &fixture->looks[0], NOW_NS);
	assert_int_equal(node_at(node, NOW_NS).state, NCS_NODE_RUNNING);
	ncs_fleet_feed(fleet, node, fixture->memory.bytes,
		       fixture->memory.size, NOW_NS);
	assert_int_equal(node_at(node, NOW_NS).state, NCS_NODE_OVER_LIMIT);
	assert_string_equal(node_at(node, NOW_NS).why,
			    "3 segments are left out: they do not fit into a"
			    " look of its agent");
	stream_fixture_end(fixture);
}

static void count_passed(void *context, size_t node, const void *bytes,
			 size_t size, size_t end)
{
	size_t *passed = context;

	assert_true(end < size);
	(void)node;
	(void)bytes;
	*passed += size;
}

static void test_looks_without_room_are_not_passed_on(void **state)
{
	struct stream_fixture *fixture = *state;
	size_t node = add("n"), passed = 0;

	make_looks(fixture, "one");
	ncs_fleet_pass_on(fleet, count_passed, &passed);
	feed(node, &fixture->looks[0], NOW_NS);
	assert_int_equal(passed, fixture->looks[0].size);
	node = add("m");
	fleet->budget.most = fleet->budget.used + 2 * fixture->looks[0].size;
	feed(node, &fixture->looks[0], NOW_NS);
	assert_int_equal(passed, fixture->looks[0].size);
	assert_int_equal(node_at(node, NOW_NS).state, NCS_NODE_OVER_LIMIT);
	fleet->budget.most = UINT64_MAX;
	feed(node, &fixture->looks[0], NOW_NS);
	assert_int_equal(passed, 2 * fixture->looks[0].size);
}

static void test_nodes_without_room_are_told_as_one(void **state)
{
	struct ncs_node node;
	size_t number;

	(void)state;
	add("n1");
	fleet->budget.most = fleet->budget.used;
	assert_int_equal(ncs_fleet_add(fleet, "n2", "", &number), -E2BIG);
	assert_int_equal(ncs_fleet_add(fleet, "n3", "", &number), -E2BIG);
	assert_int_equal(ncs_fleet_nodes(fleet, NOW_NS, NULL, 0), 2);
	node = node_at(1, NOW_NS);
	assert_string_equal(node.name, "others");
	assert_int_equal(node.state, NCS_NODE_OVER_LIMIT);
}

static void test_names_are_unique(void **state)
{
	(void)state;
	add("n");
	add("n (2)");
	add("n");
	add("n");
	assert_string_equal(node_at(2, NOW_NS).name, "n (3)");
	assert_string_equal(node_at(3, NOW_NS).name, "n (4)");
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_the_ranks_of_all_nodes_are_shown),
		TEST(test_a_node_without_a_name_has_its_hosts),
		TEST(test_a_look_is_new_once),
		TEST(test_a_state_is_not_added_to_another_ranks_sample),
		TEST(test_ages_are_right_without_an_aligned_clock),
		TEST(test_this_machines_clock_is_aligned),
		TEST(test_a_silent_node_shows_the_past),
		TEST(test_a_node_whose_first_look_is_not_whole_is_starting),
		TEST(test_ranks_of_a_pod_that_is_gone_are_not_shown),
		TEST(test_a_launchers_word_holds_until_a_look_comes),
		TEST(test_dropped_looks_are_a_slow_link_for_a_while),
		TEST(test_a_node_of_other_users_is_denied_in_words),
		TEST(test_waiting_ends_when_all_have_answered),
		TEST(test_kept_looks_are_a_recording_of_their_host),
		TEST(test_what_is_kept_is_compressed),
		TEST(test_what_is_kept_is_rotated),
		TEST(test_a_boot_begins_another_recording),
		TEST(test_names_of_nodes_are_none_of_another_ones_files),
		TEST(test_a_node_over_a_limit_is_told_and_others_go_on),
		TEST(test_a_launchers_word_on_a_limit_outlives_a_look),
		TEST(test_segments_that_an_agent_leaves_out_are_told),
		TEST(test_looks_without_room_are_not_passed_on),
		TEST(test_nodes_without_room_are_told_as_one),
		TEST(test_names_are_unique),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
