/* SPDX-License-Identifier: MIT */
/* Tests of the dumps: the JSON has all keys, unknown values are null, and text
 * is plain for any contents of the segments. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <jansson.h>

#include "analysis/base/value_names.h"
#include "analysis/diagnosis/diagnosis.h"
#include "man/json_schema.h"
#include "ncclstat/size_class.h"
#include "test/unit/support/scripted_source.h"
#include "test/unit/support/unit.h"
#include "tui/commands/dump_command.h"

#define SECOND UINT64_C(1000000000)

static const struct ncs_stamp stamp = {
	.host = "node7",
	.monotonic_ns = 123,
	.realtime_ns = UINT64_C(1700000000) * SECOND,
};

/* --- JSON ---------------------------------------------------------------- */

/* Returns the model with its diagnosis. */
static struct ncs_model diagnose(struct ncs_diagnosis *diagnosis,
				 const struct scripted *scripted)
{
	struct ncs_model model = scripted->model;

	ncs_diagnosis_init(diagnosis);
	assert_int_equal(ncs_diagnose(diagnosis, &model), 0);
	model.diagnosis = diagnosis;
	return model;
}

static bool is_required(const json_t *node, const char *key)
{
	json_t *required;
	size_t i;

	json_array_foreach(json_object_get(node, "required"), i, required)
	{
		if (strcmp(json_string_value(required), key) == 0)
			return true;
	}
	return false;
}

/* Asserts that the objects in a value have the members that the JSON Schema gives
 * them, in its order. */
static void assert_described(const json_t *node, json_t *value,
			     const char *path)
{
	const char *reference =
		json_string_value(json_object_get(node, "$ref"));
	json_t *members = json_object_get(node, "properties"), *member;
	json_t *others = json_object_get(node, "additionalProperties");
	void *next = members ? json_object_iter(value) : NULL;
	const char *key;
	size_t i;

	if (!node || json_is_null(value))
		return;
	if (reference)
		assert_described(json_object_get(ncs_json_definitions(),
						 strrchr(reference, '/') + 1),
				 value, reference);
	assert_described(json_array_get(json_object_get(node, "anyOf"), 0),
			 value, path);
	json_array_foreach(value, i, member)
		assert_described(json_object_get(node, "items"), member, path);
	json_object_foreach(members, key, member)
	{
		if (next && strcmp(json_object_iter_key(next), key) == 0) {
			assert_described(member, json_object_iter_value(next),
					 key);
			next = json_object_iter_next(value, next);
		} else if (is_required(node, key)) {
			fail_msg("%s has no %s here", path, key);
		}
	}
	if (next)
		fail_msg("%s has %s", path, json_object_iter_key(next));
	if (json_is_object(others))
		json_object_foreach(value, key, member)
			assert_described(others, member, key);
}

static json_t *dump_json_view(const struct scripted *scripted,
			      enum ncs_view view)
{
	struct ncs_diagnosis diagnosis;
	struct ncs_model diagnosed;
	json_error_t error;
	json_t *sample;
	char *text = NULL;
	size_t size = 0;
	FILE *file = open_memstream(&text, &size);

	assert_non_null(file);
	diagnosed = diagnose(&diagnosis, scripted);
	ncs_dump_json(file, &diagnosed, &stamp, view);
	ncs_diagnosis_release(&diagnosis);
	fclose(file);
	/* The document is one line that ends with a newline. */
	assert_ptr_equal(strchr(text, '\n'), text + size - 1);
	sample = json_loads(text, 0, &error);
	if (!sample)
		fail_msg("%s: %s", error.text, text);
	free(text);
	assert_described(json_object_get(ncs_json_definitions(), "sample"),
			 sample, "the dump");
	return sample;
}

static json_t *dump_json(const struct scripted *scripted)
{
	return dump_json_view(scripted, NCS_VIEW_COUNT);
}

/* Asserts that an object has these keys, separated by blanks, in this order. */
static void assert_keys(json_t *object, const char *keys)
{
	char found[1024] = "";
	const char *key;
	json_t *value;

	assert_true(json_is_object(object));
	json_object_foreach(object, key, value)
	{
		if (found[0])
			strcat(found, " ");
		strcat(found, key);
	}
	assert_string_equal(found, keys);
}

/* Returns the value at a path such as "ranks.0.comm.name". */
static json_t *at(json_t *value, const char *path)
{
	char copy[128], *rest = copy;

	snprintf(copy, sizeof(copy), "%s", path);
	for (char *name = strsep(&rest, "."); name; name = strsep(&rest, ".")) {
		value = json_is_array(value) ?
				json_array_get(value, (size_t)atoi(name)) :
				json_object_get(value, name);
		if (!value)
			fail_msg("there is no %s in %s", name, path);
	}
	return value;
}

static void assert_null_at(json_t *sample, const char *path)
{
	if (!json_is_null(at(sample, path)))
		fail_msg("%s is not null", path);
}

static void assert_integer_at(json_t *sample, const char *path,
			      json_int_t wanted)
{
	json_t *value = at(sample, path);

	if (!json_is_integer(value) || json_integer_value(value) != wanted)
		fail_msg("%s is not %lld", path, (long long)wanted);
}

static void assert_string_at(json_t *sample, const char *path,
			     const char *wanted)
{
	assert_true(json_is_string(at(sample, path)));
	assert_string_equal(json_string_value(at(sample, path)), wanted);
}

UNIT_FIXTURE(scripted_setup, scripted_teardown)

TEST(json_without_jobs_has_empty_lists)
{
	struct scripted *scripted = *state;
	json_t *sample;

	scripted_pass(scripted, SECOND);
	sample = dump_json(scripted);
	assert_keys(sample,
		    "schema host monotonic_ns realtime_ns recording severity"
		    " verdict_line training_step ranks communicators unreadable nodes");
	assert_integer_at(sample, "schema", 3);
	assert_string_at(sample, "host", "node7");
	assert_integer_at(sample, "monotonic_ns", 123);
	assert_integer_at(sample, "realtime_ns", (json_int_t)stamp.realtime_ns);
	assert_int_equal(json_array_size(at(sample, "ranks")), 0);
	assert_int_equal(json_array_size(at(sample, "unreadable")), 0);
	json_decref(sample);
}

TEST(json_objects_have_exactly_the_keys_of_the_schema)
{
	static struct ncs_range_view range = {
		.number = 2,
		.name = "st\x1b"
			"ep",
		.gpu = { .compute_kernels = 1, .compute_busy_ns = 60 },
	};
	/* Those that may be null, and items of lists that may be empty. */
	static const char *const parts[] = {
		"kernel_timing.gpu_clock",
		"cupti.gpu",
		"channels.0",
		"step_estimates.0",
		"functions.0",
		"classes.0",
		"ranges.0.gpu",
		"in_flight.0",
	};
	struct scripted *scripted = *state;
	struct scripted_rank *rank = scripted_add(scripted, 0);
	json_t *sample;

	scripted_channel(rank, 0, true, 1);
	scripted_class(rank, NCS_FUNCTION_SEND, 1, 0, 0);
	rank->snapshot.gpu_clock.known = true;
	rank->snapshot.cupti = (struct ncs_cupti_view){
		.known = true,
		.status = NCS_CUPTI_ON,
		.total = { .communication_kernels = 2, .hidden_ns = 40 },
		.outside_kernels = 3,
		.outside_busy_ns = 20,
		.busy_ns = 80,
	};
	rank->snapshot.outside_code = UINT64_C(1) << NCS_OUTSIDE_MSCCLPP;
	rank->snapshot.operation_count = 1;
	rank->snapshot.functions[NCS_FUNCTION_SEND].operations = 1;
	rank->snapshot.ranges = &range;
	rank->snapshot.range_count = 1;
	rank->records[rank->record_count++] = (struct ncs_record){
		.event = NCS_EVENT_PROXY_STEP,
		.flags = NCS_RECORD_SEND,
		.operation = 1,
		.duration = 100,
	};
	scripted_pass(scripted, SECOND);
	sample = dump_json(scripted);
	/* The schema requires fewer of them: views leave some out. */
	assert_keys(
		at(sample, "ranks.0"),
		"pid rank host_pid host gpu_pci_id state past api_version nccl_version communicator job settings"
		" proxy kernel_timing launches graphs cupti outside_code channels sampling"
		" step_estimates"
		" functions classes lateness late_now oldest_wait_ns ranges"
		" in_flight"
		" events lost waits_for busbw_gbs operations_per_s"
		" send_bytes_per_s recv_bytes_per_s kernel_age_ns call_age_ns"
		" torn");
	for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++)
		if (json_object_size(at(at(sample, "ranks.0"), parts[i])) == 0)
			fail_msg("there is no %s", parts[i]);
	assert_keys(at(sample, "ranks.0.step_estimates.0.time_ns"),
		    "duration send_gpu_wait send_peer_wait send_wait");
	assert_keys(at(sample, "ranks.0.step_estimates.0.time_ns.duration"),
		    "total mean p50 p99");
	assert_keys(at(sample, "ranks.0.step_estimates.0.time_ns.send_wait"),
		    "total mean share p50 p99");
	assert_keys(at(sample, "ranks.0.proxy.states_ns"),
		    "sleep idle active append");
	assert_keys(at(sample, "ranks.0.proxy.transitions"),
		    "idle active sleep wakeup append append_end");
	assert_keys(at(sample, "ranks.0.channels.0.states_ns"),
		    "idle send_gpu_wait send_peer_wait send_wait recv_wait"
		    " recv_flush_wait recv_gpu_wait");
	assert_integer_at(sample, "ranks.0.ranges.0.gpu.compute_busy_ns", 60);
	assert_null_at(sample, "ranks.0.ranges.0.gpu.hidden_ns");
	assert_integer_at(sample, "ranks.0.cupti.outside_kernels", 3);
	assert_integer_at(sample, "ranks.0.cupti.outside_busy_ns", 20);
	assert_integer_at(sample, "ranks.0.cupti.busy_ns", 80);
	assert_string_at(sample, "ranks.0.outside_code.0", "MSCCL++");
	assert_string_at(sample, "ranks.0.cupti.status", "on");
	assert_integer_at(sample, "ranks.0.cupti.gpu.hidden_ns", 40);
	assert_integer_at(sample, "ranks.0.cupti.unplaced", 0);
	assert_keys(at(sample, "ranks.0.ranges.0.waits_ns"),
		    "send_gpu_wait send_peer_wait send_wait recv_wait"
		    " recv_flush_wait recv_gpu_wait");
	assert_string_at(sample, "ranks.0.ranges.0.name", "st?ep");
	assert_null_at(sample, "ranks.0.ranges.0.parent");
	assert_null_at(sample, "ranks.0.ranges.0.busy_ns");
	for (unsigned i = 0; i < NCS_LOSS_COUNT; i++)
		assert_non_null(json_object_get(at(sample, "ranks.0.lost"),
						ncs_loss_name(i)));
	assert_int_equal(json_object_size(at(sample, "ranks.0.lost")),
			 NCS_LOSS_COUNT);
	json_decref(sample);
}

TEST(json_of_a_view_has_its_parts_only)
{
#define SAMPLE \
	"schema host monotonic_ns realtime_ns recording severity" \
	" verdict_line training_step "
#define RANK \
	"pid rank host_pid host gpu_pci_id state past api_version" \
	" nccl_version communicator "
	static const struct {
		enum ncs_view view;
		const char *sample, *rank; /* NULL: there are no ranks */
	} wanted[] = {
		{ NCS_VIEW_PROXY, SAMPLE "ranks unreadable",
		  RANK "proxy torn" },
		{ NCS_VIEW_CHANNEL, SAMPLE "ranks unreadable",
		  RANK "channels sampling step_estimates torn" },
		{ NCS_VIEW_COLLECTIVE, SAMPLE "ranks communicators unreadable",
		  RANK "functions lateness torn" },
		{ NCS_VIEW_CLASS, SAMPLE "ranks unreadable",
		  RANK "classes torn" },
		{ NCS_VIEW_COMMUNICATOR, SAMPLE "communicators unreadable",
		  NULL },
		{ NCS_VIEW_FINDING, SAMPLE "unreadable", NULL },
		{ NCS_VIEW_NODE, SAMPLE "unreadable nodes", NULL },
	};
	struct scripted *scripted = *state;

	scripted_add(scripted, 0);
	scripted_pass(scripted, SECOND);
	for (size_t i = 0; i < sizeof(wanted) / sizeof(wanted[0]); i++) {
		json_t *sample = dump_json_view(scripted, wanted[i].view);

		assert_keys(sample, wanted[i].sample);
		if (wanted[i].rank)
			assert_keys(at(sample, "ranks.0"), wanted[i].rank);
		json_decref(sample);
	}
#undef RANK
#undef SAMPLE
}

TEST(unknown_values_are_null)
{
	static const char *const unknown[] = {
		"rank",
		"gpu_pci_id",
		"nccl_version",
		"communicator.id",
		"communicator.name",
		"communicator.nranks",
		"communicator.nnodes",
		"proxy.since_ns",
		"proxy.states_ns.idle",
		"kernel_timing.asked",
		"kernel_timing.period",
		"kernel_timing.timed_calls",
		"kernel_timing.captured_on",
		"kernel_timing.captured_off",
		"kernel_timing.gpu_clock",
		"launches",
		"cupti",
		"channels.0.since_ns",
		"channels.0.bytes",
		"channels.0.states_ns.send_peer_wait",
		"functions.0.calls",
		"functions.0.operations_done",
		"functions.0.bytes",
		"functions.0.last_sequence_number",
		"functions.0.time_ns.p50",
		"classes.0.size_bytes",
		"classes.0.algorithm",
		"classes.0.protocol",
		"classes.0.bytes",
		"classes.0.time_ns.p50",
		"classes.0.time_ns.max",
		"classes.0.algbw_gbs",
		"classes.0.busbw_gbs",
		"classes.1.size_bytes",
		"classes.1.algorithm",
		"classes.1.protocol",
		"ranges.0.calls",
		"ranges.0.own_calls",
		"proxy.transitions.wakeup",
		"proxy.appended_operations",
		"lateness",
		"late_now",
		"oldest_wait_ns",
		"in_flight.0.sequence_number",
		"in_flight.0.bytes",
		"in_flight.0.peer",
		"in_flight.0.launch",
		"in_flight.0.phase",
	};
	struct ncs_range_view range = { .number = 2, .name = "step" };
	struct scripted *scripted = *state;
	struct scripted_rank *rank = scripted_add(scripted, 0);
	json_t *sample;

	rank->header.api_version = 1;
	rank->snapshot.identity.known = 0;
	scripted_channel(rank, 0, true, 1)->size_unknown = 1;
	scripted_class(rank, NCS_FUNCTION_REDUCE, 0, 0, 0)->size_class =
		NCS_SIZE_CLASS_UNKNOWN;
	scripted_class(rank, NCS_FUNCTION_REDUCE, 0, NCS_CLASS_OTHER,
		       NCS_CLASS_OTHER)
		->size_class = NCS_CLASS_OTHER;
	rank->snapshot.functions[NCS_FUNCTION_REDUCE].operations = 1;
	rank->snapshot.functions[NCS_FUNCTION_REDUCE].size_unknown = 1;
	rank->snapshot.operation_count = 1;
	rank->operations[0].sequence_number = NCS_NO_SEQUENCE_NUMBER;
	rank->operations[0].count = 5;
	rank->operations[0].peer = -1;
	rank->snapshot.ranges = &range;
	rank->snapshot.range_count = 1;
	scripted_pass(scripted, SECOND);
	sample = dump_json(scripted);
	for (size_t i = 0; i < sizeof(unknown) / sizeof(unknown[0]); i++)
		assert_null_at(at(sample, "ranks.0"), unknown[i]);
	json_decref(sample);
}

TEST(known_values_are_in_the_json)
{
	struct scripted *scripted = *state;
	struct scripted_rank *rank = scripted_add(scripted, 3);
	struct ncs_class_view *view;
	struct ncs_identity *identity = &rank->snapshot.identity;
	struct ncs_function_view *function =
		&rank->snapshot.functions[NCS_FUNCTION_ALL_REDUCE];
	json_t *sample, *first;

	identity->known |= NCS_KNOWN_COMM_ID | NCS_KNOWN_NCCL_VERSION |
			   NCS_KNOWN_GPU;
	strcpy(identity->gpu, "0000:1b:00.0");
	identity->comm_id = UINT64_C(0xfedcba9876543210);
	identity->nccl_version = 22809;
	rank->snapshot.liveness = NCS_SILENT;
	rank->snapshot.events[NCS_EVENT_PROXY_STEP] = 6;
	rank->snapshot.proxy.state = NCS_PROXY_IDLE;
	rank->snapshot.losses[NCS_LOSS_STALE] = 2;
	rank->snapshot.kernel = (struct ncs_kernel_view){
		.status = NCS_KERNEL_GRAPH_OFF,
		.mode = NCS_KERNEL_TIMING_AUTO,
		.counted = true,
		.period = 128,
		.timed_calls = 9,
		.captured_on = 0,
		.captured_off = 4,
	};
	rank->snapshot.gpu_clock = (struct ncs_gpu_clock_view){
		.known = true,
		.told_ns = 5,
		.offset_ns = -7,
		.error_ns = 800,
		.quantum_ns = 32,
	};
	scripted_channel(rank, 4, false, 2)->bytes = 77;
	function->operations = 3;
	function->with_children = 3;
	function->operations_done = 2;
	function->bytes = 3000;
	function->last_sequence_number = 2;
	function->timed[NCS_TIMING_KERNEL] = 2;
	function->timed_bytes[NCS_TIMING_KERNEL] = 2000;
	function->time_ns[NCS_TIMING_KERNEL] = 1000;
	scripted_histogram(rank, NCS_FUNCTION_ALL_REDUCE,
			   NCS_TIMING_KERNEL)[20] = 2;
	view = scripted_class(rank, NCS_FUNCTION_REDUCE, 6000,
			      NCS_ALGORITHM_TREE, NCS_PROTOCOL_SIMPLE);
	view->operations = 8;
	scripted_class_times(rank, view, NCS_TIMING_PROXY, 6, 2000, 36000);
	scripted_pass(scripted, SECOND);
	sample = dump_json(scripted);
	first = at(sample, "ranks.0");
	assert_integer_at(first, "pid", 103);
	assert_integer_at(first, "rank", 3);
	assert_string_at(first, "state", "silent");
	assert_string_at(first, "nccl_version", "2.28.9");
	assert_string_at(first, "communicator.id", "fedcba9876543210");
	assert_integer_at(first, "communicator.nranks", 8);
	assert_keys(at(first, "events"), "proxy_step");
	assert_integer_at(first, "lost.stale", 2);
	assert_string_at(first, "kernel_timing.status", "graph_off");
	assert_string_at(first, "kernel_timing.asked", "sampled:auto");
	assert_integer_at(first, "kernel_timing.period", 128);
	assert_integer_at(first, "kernel_timing.timed_calls", 9);
	assert_integer_at(first, "kernel_timing.captured_on", 0);
	assert_integer_at(first, "kernel_timing.captured_off", 4);
	assert_integer_at(first, "kernel_timing.gpu_clock.offset_ns", -7);
	assert_integer_at(first, "kernel_timing.gpu_clock.error_ns", 800);
	assert_integer_at(first, "kernel_timing.gpu_clock.quantum_ns", 32);
	assert_integer_at(first, "kernel_timing.gpu_clock.told_ns", 5);
	assert_integer_at(first, "proxy.transitions.wakeup", 0);
	assert_integer_at(first, "proxy.appended_operations", 0);
	assert_integer_at(first, "channels.0.bytes", 77);
	assert_string_at(first, "channels.0.direction", "recv");
	assert_integer_at(first, "functions.0.operations_done", 2);
	assert_integer_at(first, "functions.0.last_sequence_number", 2);
	assert_string_at(first, "functions.0.timing", "kernel");
	assert_string_at(first, "classes.0.function", "Reduce");
	assert_integer_at(first, "classes.0.size_bytes", 4096);
	assert_string_at(first, "classes.0.algorithm", "TREE");
	assert_string_at(first, "classes.0.protocol", "SIMPLE");
	assert_integer_at(first, "classes.0.operations", 8);
	assert_string_at(first, "classes.0.timing", "proxy");
	assert_integer_at(first, "classes.0.timed", 6);
	assert_integer_at(first, "classes.0.time_ns.sum", 12000);
	assert_integer_at(first, "classes.0.bytes", 36000);
	assert_true(json_is_false(at(first, "classes.0.other")));
	assert_integer_at(first, "classes.0.time_ns.max", 2000);
	assert_null_at(first, "classes.0.algbw_gbs");
	assert_integer_at(first, "functions.0.time_ns.p50", 20);
	assert_integer_at(first, "functions.0.time_ns.sum", 1000);
	assert_string_at(first, "gpu_pci_id", "0000:1b:00.0");
	assert_true(json_is_false(at(first, "torn")));
	json_decref(sample);
}

/* Adds a rank that has followed seven of eight launches; number 6 runs. */
static struct scripted_rank *add_launching(struct scripted *scripted,
					   int number)
{
	struct scripted_rank *rank = scripted_add(scripted, number);

	rank->snapshot.last_call_ns = SECOND;
	rank->snapshot.launches = (struct ncs_launches_view){
		.status = NCS_STREAM_SOME,
		.level = 3,
		.ended = 5,
		.begun = 6,
		.followed = 7,
		.launched = 8,
		.ended_ns = 3 * SECOND,
		.begun_ns = 4 * SECOND,
		.launched_ns = 5 * SECOND,
		.timed = 2,
		.missed = 3,
		.captured = 9,
		.other_context = 3,
		.bias_ns = 1250,
	};
	rank->snapshot.operation_count = 2;
	rank->operations[0] = (struct ncs_operation_view){
		.number = 1,
		.start_ns = 2 * SECOND,
		.sequence_number = 41,
		.event = NCS_EVENT_COLL,
		.function = NCS_FUNCTION_ALL_REDUCE,
		.launch = 6,
	};
	rank->operations[1] = rank->operations[0];
	rank->operations[1].number = 2;
	rank->operations[1].launch = 7;
	return rank;
}

TEST(launches_are_in_the_json)
{
	struct scripted *scripted = *state;
	struct scripted_rank *rank = add_launching(scripted, 0);
	json_t *sample, *first;

	scripted_pass(scripted, 6 * SECOND);
	sample = dump_json(scripted);
	first = at(sample, "ranks.0.launches");
	assert_string_at(first, "status", "some");
	assert_integer_at(first, "one_in", 8);
	assert_integer_at(first, "launched", 8);
	assert_integer_at(first, "launched_ns", 5 * SECOND);
	assert_integer_at(first, "followed", 7);
	assert_integer_at(first, "begun", 6);
	assert_integer_at(first, "begun_ns", 4 * SECOND);
	assert_integer_at(first, "ended", 5);
	assert_integer_at(first, "ended_ns", 3 * SECOND);
	assert_integer_at(first, "ahead", 2);
	assert_string_at(first, "wait", "running");
	assert_integer_at(first, "wait_since_ns", 4 * SECOND);
	assert_integer_at(first, "timed", 2);
	assert_integer_at(first, "missed", 3);
	assert_integer_at(first, "captured", 9);
	assert_integer_at(first, "other_context", 3);
	assert_integer_at(first, "bias_ns", 1250);
	assert_null_at(first, "error_ns");
	assert_null_at(first, "failure");
	assert_null_at(first, "driver_since_ns");
	assert_integer_at(sample, "ranks.0.in_flight.0.launch", 6);
	assert_string_at(sample, "ranks.0.in_flight.0.phase", "running");
	assert_string_at(sample, "ranks.0.in_flight.1.phase", "queued");
	first = at(sample, "communicators.0.launches");
	assert_integer_at(first, "begun", 6);
	json_decref(sample);
	rank->snapshot.launches = (struct ncs_launches_view){
		.status = NCS_STREAM_FAILED,
		.ended = 5,
		.begun = 6,
		.followed = 7,
		.launched = 8,
		.failure = 709,
		.watch_since_ns = 6 * SECOND,
	};
	scripted_pass(scripted, 7 * SECOND);
	sample = dump_json(scripted);
	first = at(sample, "ranks.0.launches");
	assert_string_at(first, "status", "failed");
	assert_null_at(first, "one_in");
	assert_null_at(first, "ahead");
	assert_null_at(first, "wait");
	assert_null_at(first, "bias_ns");
	assert_integer_at(first, "failure", 709);
	assert_integer_at(first, "driver_since_ns", 6 * SECOND);
	assert_null_at(sample, "communicators.0.launches");
	json_decref(sample);
}

TEST(communicator_names_the_rank_that_is_behind)
{
	static const char *const unknown[] = {
		"function",       "sequence_number",  "behind",
		"slowest",        "peak_link",        "peak_gbs",
		"skew",           "straggler",        "oldest_wait_since_ns",
		"oldest_wait_ns", "send_bytes_per_s", "recv_bytes_per_s",
		"launches",       "operations_per_s",
	};
	struct scripted *scripted = *state;
	json_t *sample, *first;

	for (int i = 0; i < 3; i++) {
		struct scripted_rank *rank = scripted_add(scripted, i);

		rank->snapshot.identity.known |= NCS_KNOWN_COMM_ID;
		rank->snapshot.identity.comm_id = 17;
	}
	scripted_pass(scripted, SECOND);
	sample = dump_json(scripted);
	assert_int_equal(json_array_size(at(sample, "communicators")), 1);
	first = at(sample, "communicators.0");
	for (size_t i = 0; i < sizeof(unknown) / sizeof(unknown[0]); i++)
		assert_null_at(first, unknown[i]);
	assert_string_at(first, "communicator.id", "0000000000000011");
	assert_integer_at(first, "ranks_seen", 3);
	assert_integer_at(first, "sequence_numbers_known", 0);
	json_decref(sample);
	for (int i = 0; i < 3; i++) {
		struct ncs_function_view *function =
			&scripted->ranks[i]
				 .snapshot.functions[NCS_FUNCTION_REDUCE];

		function->operations = 5;
		function->last_sequence_number = i == 1 ? 2 : 4;
	}
	scripted_channel(&scripted->ranks[2], 0, false, 1)->state =
		NCS_CHANNEL_RECV_WAIT;
	scripted->ranks[2].channels[0].since_ns = SECOND / 2;
	scripted_pass(scripted, 2 * SECOND);
	sample = dump_json(scripted);
	first = at(sample, "communicators.0");
	assert_string_at(first, "function", "Reduce");
	assert_integer_at(first, "sequence_number", 4);
	assert_integer_at(first, "sequence_numbers_known", 3);
	assert_integer_at(first, "behind", 2);
	assert_integer_at(first, "slowest.pid", 101);
	assert_integer_at(first, "slowest.rank", 1);
	assert_integer_at(first, "slowest.sequence_number", 2);
	assert_integer_at(first, "slowest.ranks", 1);
	assert_integer_at(first, "oldest_wait_since_ns", SECOND / 2);
	assert_integer_at(first, "oldest_wait_ns", 3 * SECOND / 2);
	assert_integer_at(sample, "ranks.2.oldest_wait_ns", 3 * SECOND / 2);
	assert_null_at(sample, "ranks.1.oldest_wait_ns");
	assert_true(json_real_value(at(first, "operations_per_s")) == 15);
	json_decref(sample);
}

/* Makes three ranks: rank 1 comes 2 ms late to each of 40 AllReduces and does
 * not come to the next one. */
static void make_late(struct scripted *scripted)
{
	for (int i = 0; i < 3; i++) {
		struct scripted_rank *rank = scripted_add(scripted, i);

		rank->snapshot.identity.known |= NCS_KNOWN_COMM_ID;
		rank->snapshot.identity.comm_id = 17;
		rank->snapshot.functions[NCS_FUNCTION_ALL_REDUCE]
			.last_sequence_number = i == 1 ? 39 : 40;
	}
	scripted_all_reduces(scripted, 40, SECOND, 1, 2000000);
	scripted->ranks[0].snapshot.operation_count = 1;
	scripted->ranks[0].operations[0] = (struct ncs_operation_view){
		.event = NCS_EVENT_COLL,
		.function = NCS_FUNCTION_ALL_REDUCE,
		.sequence_number = 40,
		.start_ns = 2 * SECOND,
	};
	scripted_pass(scripted, 5 * SECOND);
}

TEST(lateness_comes_with_its_counts)
{
	struct scripted *scripted = *state;
	json_t *sample, *late;

	make_late(scripted);
	sample = dump_json(scripted);
	late = at(sample, "ranks.1.lateness");
	assert_integer_at(late, "recent.error_ns", 0);
	assert_keys(at(late, "recent.causes_ns"), "host stream proxy peer");
	assert_keys(at(late, "functions"), "AllReduce");
	assert_keys(at(late, "told_by"), "proxy stream kernel data");
	assert_integer_at(late, "recent.operations", 40);
	assert_integer_at(late, "recent.last", 40);
	assert_integer_at(late, "recent.median_ns", 2000000);
	assert_integer_at(late, "recent.exclusive_ns", 2000000);
	assert_integer_at(late, "recent.causes_ns.host", 80000000);
	assert_integer_at(late, "all.operations", 40);
	assert_integer_at(late, "functions.AllReduce.p99_ns", 2000000);
	assert_integer_at(late, "told_by.stream", 40);
	assert_integer_at(late, "operations_seen", 40);
	assert_integer_at(late, "operations_compared", 40);
	assert_true(json_is_true(at(late, "straggler")));
	assert_null_at(sample, "ranks.0.lateness.recent.exclusive_ns");
	assert_true(json_is_false(at(sample, "ranks.0.lateness.straggler")));
	assert_integer_at(sample, "ranks.1.late_now.sequence_number", 40);
	assert_integer_at(sample, "ranks.1.late_now.late_ns", 3 * SECOND);
	assert_integer_at(sample, "ranks.1.late_now.ranks_waiting", 1);
	assert_null_at(sample, "ranks.0.late_now");
	assert_integer_at(sample, "communicators.0.skew.median_ns", 2000000);
	assert_integer_at(sample, "communicators.0.skew.transfer_ns", 2999999);
	assert_integer_at(sample, "communicators.0.straggler.rank", 1);
	json_decref(sample);
}

TEST(bandwidth_is_by_communicator)
{
	struct scripted *scripted = *state;
	json_t *sample, *function;

	make_late(scripted);
	sample = dump_json(scripted);
	assert_int_equal(
		json_array_size(at(sample, "communicators.0.functions")), 1);
	function = at(sample, "communicators.0.functions.0");
	assert_string_at(function, "function", "AllReduce");
	assert_integer_at(function, "operations", 40);
	assert_integer_at(function, "launches", 40);
	assert_integer_at(function, "ranks", 3);
	assert_true(json_is_false(at(function, "all_ranks")));
	assert_string_at(function, "timing", "stream");
	assert_integer_at(function, "moving_ns", 2999999);
	assert_integer_at(function, "error_ns", 0);
	/* 8 MB in 3 ms, on 8 ranks. */
	assert_int_equal(1e5 * json_real_value(at(function, "algbw_gbs")),
			 266666);
	assert_int_equal(1e5 * json_real_value(at(function, "busbw_gbs")),
			 466666);
	assert_integer_at(function, "age_ns", 5 * SECOND - 1395000000);
	assert_true(json_is_false(at(function, "stale")));
	json_decref(sample);
}

TEST(only_operations_with_a_root_have_a_peer)
{
	struct scripted *scripted = *state;
	struct scripted_rank *rank = scripted_add(scripted, 0);
	json_t *sample;

	rank->snapshot.operation_count = 3;
	for (unsigned i = 0; i < 3; i++) {
		rank->operations[i].event = NCS_EVENT_COLL;
		rank->operations[i].peer = 5;
	}
	rank->operations[0].function = NCS_FUNCTION_ALL_REDUCE;
	rank->operations[1].function = NCS_FUNCTION_BROADCAST;
	rank->operations[2].function = NCS_FUNCTION_SEND;
	rank->operations[2].event = NCS_EVENT_P2P;
	scripted_pass(scripted, SECOND);
	sample = dump_json(scripted);
	assert_null_at(sample, "ranks.0.in_flight.0.peer");
	assert_integer_at(sample, "ranks.0.in_flight.1.peer", 5);
	assert_integer_at(sample, "ranks.0.in_flight.2.peer", 5);
	json_decref(sample);
}

TEST(strings_of_a_segment_cannot_break_the_json)
{
	struct scripted *scripted = *state;
	struct scripted_rank *rank = scripted_add(scripted, 0);
	struct scripted_rank *other = scripted_add(scripted, 1);
	json_t *sample;

	rank->snapshot.identity.known |= NCS_KNOWN_COMM_NAME;
	strcpy(rank->snapshot.identity.comm_name, "\xff\"\\\n\033[31m\xc3");
	other->attach = NCS_ATTACH_CORRUPT;
	other->why = "\xfe";
	scripted_pass(scripted, SECOND);
	sample = dump_json(scripted);
	assert_string_at(sample, "ranks.0.communicator.name", "?\"\\??[31m?");
	assert_string_at(sample, "unreadable.0.path", "scripted/1");
	assert_string_at(sample, "unreadable.0.reason", "?");
	json_decref(sample);
}

TEST(numbers_of_a_hostile_segment_stay_numbers)
{
	struct scripted *scripted = *state;
	struct scripted_rank *rank = scripted_add(scripted, 0);
	json_t *sample;

	rank->snapshot.losses[NCS_LOSS_STALE] = UINT64_MAX;
	scripted_pass(scripted, SECOND);
	sample = dump_json(scripted);
	assert_integer_at(sample, "ranks.0.lost.stale", INT64_MAX);
	json_decref(sample);
}

/* --- Text ---------------------------------------------------------------- */

static char *dump_text_with(const struct scripted *scripted,
			    const struct ncs_options *options)
{
	struct ncs_diagnosis diagnosis;
	struct ncs_model diagnosed;
	char *text = NULL;
	size_t size = 0;
	FILE *file = open_memstream(&text, &size);

	assert_non_null(file);
	diagnosed = diagnose(&diagnosis, scripted);
	assert_true(ncs_dump_text(file, &diagnosed, options, &stamp, 0));
	ncs_diagnosis_release(&diagnosis);
	fclose(file);
	return text;
}

static char *dump_text(const struct scripted *scripted, enum ncs_view view)
{
	struct ncs_options options = { .view = view, .ascii = true };

	return dump_text_with(scripted, &options);
}

static size_t count_lines(const char *text)
{
	size_t lines = 0;

	for (; *text; text++)
		lines += *text == '\n';
	return lines;
}

/* Counts the words of the first line. */
static size_t count_words(const char *line)
{
	size_t words = 0;
	bool inside = false;

	for (; *line && *line != '\n'; line++) {
		words += *line != ' ' && !inside;
		inside = *line != ' ';
	}
	return words;
}

static const char *line_of(const char *text, size_t number)
{
	while (number-- > 0)
		text = strchr(text, '\n') + 1;
	return text;
}

TEST(text_has_a_head_titles_and_a_line_for_each_row)
{
	struct scripted *scripted = *state;
	char *text;

	scripted_channel(scripted_add(scripted, 0), 0, true, 1);
	scripted_add(scripted, 1)
		->snapshot.functions[NCS_FUNCTION_ALL_REDUCE]
		.operations = 1;
	scripted_pass(scripted, SECOND);
	text = dump_text(scripted, NCS_VIEW_RANK);
	assert_int_equal(count_lines(text), 7);
	assert_ptr_equal(strstr(text, "ncclstat: host node7, 2 ranks, time "),
			 text);
	assert_ptr_equal(strstr(text, "well: "), line_of(text, 1));
	assert_ptr_equal(strstr(text, "\nranks:\n"), line_of(text, 2));
	/* No cell is empty, so a line can be split at blanks. */
	for (size_t i = 5; i < 7; i++)
		assert_int_equal(count_words(line_of(text, i)),
				 count_words(line_of(text, 4)));
	free(text);
}

TEST(text_has_the_columns_and_the_order_that_are_asked_for)
{
	struct scripted *scripted = *state;
	struct ncs_options options = {
		.view = NCS_VIEW_RANK,
		.ascii = true,
		.sort[NCS_VIEW_RANK] = {
			.column = &ncs_columns[NCS_COLUMN_RANK_RANK],
			.inverted = true,
		},
		.columns[NCS_COLUMN_RANK_RANK] = NCS_COLUMN_SHOWN,
		.columns[NCS_COLUMN_RANK_STATE] = NCS_COLUMN_SHOWN,
	};
	char *text;

	for (int i = 0; i < 3; i++)
		scripted_add(scripted, i);
	scripted_pass(scripted, SECOND);
	text = dump_text_with(scripted, &options);
	assert_non_null(strstr(text, "ranks:\nRANK  STATE\n   2  alive\n"
				     "   1  alive\n   0  alive\n"));
	free(text);
	/* Columns are left out; the model's order is turned round. */
	options.sort[NCS_VIEW_RANK].column = NULL;
	options.columns[NCS_COLUMN_RANK_RANK] = NCS_COLUMN_BY_LEVEL;
	options.columns[NCS_COLUMN_RANK_STATE] = NCS_COLUMN_HIDDEN;
	text = dump_text_with(scripted, &options);
	assert_non_null(strstr(line_of(text, 4), "RANK  COMM"));
	assert_null(strstr(text, "alive"));
	assert_memory_equal(line_of(text, 5), "   2  ", 6);
	assert_memory_equal(line_of(text, 7), "   0  ", 6);
	free(text);
}

TEST(text_without_a_view_has_all_tables)
{
	struct scripted *scripted = *state;
	size_t titles = 0;
	char *text;

	scripted_channel(scripted_add(scripted, 0), 0, true, 1);
	scripted_pass(scripted, SECOND);
	text = dump_text(scripted, NCS_VIEW_COUNT);
	for (size_t i = 0; i < count_lines(text); i++)
		titles += strncmp(line_of(text, i), "RANK", 4) == 0 ||
			  strncmp(line_of(text, i), "COMM", 4) == 0;
	/* All views except the timeline, which repeats other tables, the
	 * diagnosis, which has its own option, and nodes: there are none. */
	assert_int_equal(titles, NCS_VIEW_COUNT - 3);
	free(text);
}

TEST(text_lists_launches)
{
	struct scripted *scripted = *state;
	struct scripted_rank *rank;
	char *text;

	scripted_add(scripted, 0);
	add_launching(scripted, 1);
	rank = add_launching(scripted, 2);
	rank->snapshot.launches = (struct ncs_launches_view){
		.status = NCS_STREAM_ALL,
		.ended = 7,
		.begun = 7,
		.followed = 7,
		.launched = 7,
		.ended_ns = 5 * SECOND,
		.timed = 6,
		.missed = 1,
		.watch_since_ns = 2 * SECOND,
	};
	rank = add_launching(scripted, 3);
	rank->snapshot.launches = (struct ncs_launches_view){
		.status = NCS_STREAM_FAILED,
		.launched = 3,
		.failure = 709,
	};
	rank = add_launching(scripted, 4);
	rank->snapshot.launches = (struct ncs_launches_view){
		.status = NCS_STREAM_NO_DRIVER,
	};
	scripted_pass(scripted, 6 * SECOND);
	text = dump_text(scripted, NCS_VIEW_CHANNEL);
	assert_null(strstr(text, "launches: "));
	free(text);
	text = dump_text(scripted, NCS_VIEW_RANK);
	assert_null(strstr(text, "launches: rank 0"));
	assert_non_null(strstr(
		text,
		"\nlaunches: rank 1: launch 6 of 8 began 2.00s ago, 2 are ahead"
		" on the host; 2 of 8 launches timed, none of 9"
		" captured into graphs, none of 3 in a CUDA context of"
		" the application's own: launches come so fast"));
	assert_non_null(strstr(
		text,
		"\nlaunches: rank 2: launch 7 of 7 ended 1.00s ago; the"
		" CUDA driver has not answered the plugin for 4.00s; 6 of 7"
		" launches timed; 1 could not be followed, because no"
		" events or no lane was free\n"));
	assert_non_null(strstr(
		text,
		"\nlaunches: rank 3: no launch of 3 has begun; launches are"
		" not timed any more: the CUDA driver returned an error, or"
		" the plugin could not start its thread (709)\n"));
	assert_non_null(
		strstr(text, "\nlaunches: rank 4: no launch is timed: "));
	free(text);
}

TEST(text_lists_late_ranks_by_cost)
{
	struct scripted *scripted = *state;
	char *text, *first;

	make_late(scripted);
	text = dump_text(scripted, NCS_VIEW_CHANNEL);
	assert_null(strstr(text, "late: "));
	free(text);
	text = dump_text(scripted, NCS_VIEW_RANK);
	first = strstr(text, "\nlate: ");
	assert_non_null(first);
	assert_ptr_equal(strstr(first + 1, "late: rank 1:"
					   " arrives last at 100 % of 40"
					   " AllReduce, 2.00ms after the"
					   " others, host-late"),
			 first + 1);
	assert_non_null(strstr(text, "1 rank waits for it in AllReduce #40, for"
				     " 3.00s"));
	assert_non_null(strstr(text, "late: rank 0: late by"
				     " 0ns (p99 0ns) at 40 collectives, never"
				     " last\n"));
	free(text);
}

TEST(text_columns_are_as_wide_as_their_cells)
{
	struct scripted *scripted = *state;
	struct scripted_rank *rank = scripted_add(scripted, 0);
	struct ncs_identity *identity = &rank->snapshot.identity;
	char *text;

	identity->known |= NCS_KNOWN_COMM_NAME;
	memset(identity->comm_name, 'n', sizeof(identity->comm_name) - 1);
	scripted_pass(scripted, SECOND);
	text = dump_text(scripted, NCS_VIEW_RANK);
	assert_non_null(strstr(text, identity->comm_name));
	/* The title is padded to the width of the cells. */
	assert_true(strstr(line_of(text, 1), "SIZE") - line_of(text, 1) >
		    (ptrdiff_t)strlen(identity->comm_name));
	free(text);
}

TEST(settings_come_with_their_lease)
{
	struct scripted *scripted = *state;
	struct scripted_rank *rank = scripted_add(scripted, 0);
	struct ncs_settings_view *settings = &rank->snapshot.settings;
	json_t *sample;
	char *text;

	scripted_pass(scripted, SECOND);
	sample = dump_json(scripted);
	assert_null_at(sample, "ranks.0.settings");
	json_decref(sample);
	*settings = (struct ncs_settings_view){
		.known = true,
		.in_force = { .has_groups = 1,
			      .groups = 1u << NCS_GROUP_CALLS |
					1u << NCS_GROUP_CONTROL,
			      .kernel = NCS_KERNEL_DETAIL_EVERY + 4,
			      .sample = 4 },
		.asked = UINT64_C(9) << NCS_CONTROL_SERIAL_SHIFT,
		.refused = NCS_REFUSAL_KERNEL,
		.changes = 2,
		.changed_ns = SECOND / 2,
		.lease_until_ns = 3 * SECOND,
		.lease_pid = 4711,
	};
	scripted_pass(scripted, 2 * SECOND);
	sample = dump_json(scripted);
	assert_int_equal(json_array_size(at(sample, "ranks.0.settings.events")),
			 2);
	assert_string_at(sample, "ranks.0.settings.events.1", "control");
	assert_string_at(sample, "ranks.0.settings.kernel", "sampled:16");
	assert_integer_at(sample, "ranks.0.settings.sample", 8);
	assert_integer_at(sample, "ranks.0.settings.changes", 2);
	assert_integer_at(sample, "ranks.0.settings.asked", 9);
	assert_string_at(sample, "ranks.0.settings.refused", "kernel");
	assert_integer_at(sample, "ranks.0.settings.lease.pid", 4711);
	assert_integer_at(sample, "ranks.0.settings.lease.until_ns",
			  3 * SECOND);
	json_decref(sample);
	text = dump_text(scripted, NCS_VIEW_RANK);
	assert_non_null(strstr(text, "-copies,kernel=sampled:16,sample=8,lease"
				     "\n"));
	free(text);
	/* The lease has ended, although the plugin was not called since
	 * then. */
	scripted_pass(scripted, 3 * SECOND);
	sample = dump_json(scripted);
	assert_null_at(sample, "ranks.0.settings.lease");
	json_decref(sample);
	text = dump_text(scripted, NCS_VIEW_RANK);
	assert_null(strstr(text, "lease"));
	free(text);
}

TEST(text_is_plain_and_ends_without_blanks)
{
	struct scripted *scripted = *state;
	struct scripted_rank *rank = scripted_add(scripted, 0);
	char *text;

	rank->snapshot.identity.known |= NCS_KNOWN_COMM_NAME | NCS_KNOWN_GPU;
	strcpy(rank->snapshot.identity.comm_name, "a\033[2Jb\xc2\x9b\xff");
	strcpy(rank->snapshot.identity.gpu, "\t\r\n");
	scripted_add(scripted, 1)->attach = NCS_ATTACH_CORRUPT;
	scripted->ranks[1].why = "\033]0;x\a";
	scripted_pass(scripted, SECOND);
	text = dump_text(scripted, NCS_VIEW_COUNT);
	for (char *at_ = text; *at_; at_++) {
		assert_true((*at_ >= 0x20 && *at_ < 0x7f) || *at_ == '\n');
		if (*at_ == '\n' && at_ > text)
			assert_int_not_equal(at_[-1], ' ');
	}
	assert_non_null(strstr(text, "not readable: scripted/1: ?]0;x?\n"));
	free(text);
}
