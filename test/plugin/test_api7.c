/* SPDX-License-Identifier: MIT */
/* Events that no capture has: API 7, copy-engine collectives, events of network
 * plugins, and each state that exists. Calls are made as in NCCL's source;
 * counters and records must contain their values. */
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "test/plugin/scenario.h"
#include "test/unit/support/unit.h"

static const struct ncs_function_view *function_of(const struct guest *guest,
						   enum ncs_function_id id)
{
	return &guest->view.now.functions[id];
}

static void check_order(const struct ncs_record *record, const char *what)
{
	CHECK(record->start != 0, "%s has no start", what);
	CHECK(record->delta[0] <= record->delta[1] || record->delta[1] == 0,
	      "%s: moments in disorder", what);
	CHECK(record->delta[0] <= record->duration, "%s: too short", what);
	CHECK(record->delta[1] <= record->duration, "%s: too short", what);
}

/* --- One collective of NCCL 2.31 --------------------------------------- */

#define STREAM ((void *)(uintptr_t)0x7f0012345678)

/* Handles of GroupApi, CollApi, KernelLaunch, Group and Coll, all of one
 * call. */
struct nest {
	void *group_api, *coll_api, *launch, *group, *coll;
};

static void open_nest(struct guest *guest, struct nest *nest,
		      struct host_event *coll)
{
	struct host_event event = {
		.type = NCCL_EVENT_GROUP_API,
		.depth = 1,
		.graph_captured = 1,
	};
	struct host_event api = *coll;

	nest->group_api = start(guest, &event);
	let_time_pass();
	record_without_args(guest, nest->group_api,
			    NCCL_STATE_GROUP_START_API_STOP);
	api.type = NCCL_EVENT_COLL_API;
	api.parent = nest->group_api;
	api.graph_captured = 1;
	nest->coll_api = start(guest, &api);
	stop(guest, nest->coll_api);
	let_time_pass();
	record_without_args(guest, nest->group_api,
			    NCCL_STATE_GROUP_END_API_START);
	nest->launch =
		start_type(guest, NCCL_EVENT_KERNEL_LAUNCH, nest->group_api);
	stop(guest, nest->launch);
	nest->group = start_type(guest, NCCL_EVENT_GROUP, NULL);
	coll->type = NCCL_EVENT_COLL;
	coll->parent = nest->coll_api;
	coll->parent_group = nest->group;
	nest->coll = start(guest, coll);
	let_time_pass();
	stop(guest, nest->coll);
	stop(guest, nest->group);
	stop(guest, nest->group_api);
}

static void check_nest(struct guest *guest, uint64_t bytes,
		       enum ncs_function_id function, int root)
{
	struct ncs_record found;

	found = expect_record(guest, NCS_EVENT_COLL_API, "the call");
	CHECK_EQUAL(found.function, function, "the call");
	CHECK_EQUAL(found.value, bytes, "the call's bytes");
	CHECK_EQUAL(found.peer, root, "the call's root");
	CHECK_EQUAL(found.flags, NCS_RECORD_GRAPH, "the call was captured");
	expect_record(guest, NCS_EVENT_KERNEL_LAUNCH, "the launch");
	expect_record(guest, NCS_EVENT_GROUP, "the group");
	found = expect_record(guest, NCS_EVENT_GROUP_API, "the group call");
	CHECK_EQUAL(found.number, 1, "its depth");
	CHECK_EQUAL(found.flags, NCS_RECORD_GRAPH, "the call was captured");
	CHECK(found.delta[0] != 0 && found.delta[1] != 0,
	      "the times of both states are recorded");
	check_order(&found, "the group call");
}

static void play_kernel(struct guest *guest, void *coll, unsigned channel,
			uint64_t gpu_ns)
{
	void *kernel = start_kernel(guest, coll, channel, gpu_ns);

	for (unsigned phase = 0; phase < 3; phase++) {
		static const char *const names[] = { "initial_sync", "compute",
						     "final_sync" };
		struct host_event event = {
			.type = NCCL_EVENT_KERNEL_PHASE,
			.parent = kernel,
			.channel = (uint8_t)channel,
			.phase = (uint8_t)phase,
			.phase_name = names[phase],
			.gpu_timer_ns = gpu_ns + 100 * phase,
		};
		void *handle = start(guest, &event);

		record_timer(guest, handle, NCCL_STATE_KERNEL_PHASE_STOP,
			     gpu_ns + 100 * phase + 90);
		stop(guest, handle);
	}
	record_timer(guest, kernel, NCCL_STATE_KERNEL_CH_STOP, gpu_ns + 300);
	stop(guest, kernel);
}

static void check_kernel(struct guest *guest, unsigned channel, uint64_t gpu_ns,
			 unsigned operation, enum ncs_function_id function)
{
	struct ncs_record found;

	for (unsigned phase = 0; phase < 3; phase++) {
		found = expect_record(guest, NCS_EVENT_KERNEL_PHASE, "phase");
		CHECK_EQUAL(found.delta[0], phase, "its number");
		CHECK_EQUAL(found.channel, channel, "its channel");
		CHECK_EQUAL(found.operation, operation, "its operation");
		CHECK_EQUAL(found.function, function, "its function");
		CHECK_EQUAL(found.value, gpu_ns + 100 * phase, "its start");
		CHECK_EQUAL(found.number, 90, "its duration");
	}
}

GUEST_SCENARIO(api_7_collectives_kernels_and_phases_are_followed, 7)
{
	struct host_event coll = {
		.rank = GUEST_RANK,
		.seq_number = 41,
		.func = "ReduceScatter",
		.datatype = "ncclBfloat16",
		.algorithm = "RING",
		.protocol = "LL128",
		.count = 500,
		.root = 3,
		.channels = 2,
		.kernel_variant = "a variant",
		.is_symmetric = 0,
		.user_tag = UINT64_MAX,
		.stream = STREAM,
	};
	const uint64_t bytes = 500 * 2 * GUEST_NRANKS;
	const struct ncs_operation_view *flying;
	const struct ncs_function_view *function;
	struct ncs_record found;
	struct nest nest;

	open_nest(guest, &nest, &coll);
	view_take(&guest->view);
	function = function_of(guest, NCS_FUNCTION_REDUCE_SCATTER);
	CHECK_EQUAL(function->calls, 1, "one call");
	CHECK_EQUAL(function->operations, 1, "one operation");
	CHECK_EQUAL(function->bytes, bytes, "count * ranks * element");
	CHECK_EQUAL(function->last_sequence_number, 41, "as reported");
	play_kernel(guest, nest.coll, 5, 1000000);
	check_nest(guest, bytes, NCS_FUNCTION_REDUCE_SCATTER, 3);
	check_kernel(guest, 5, 1000000, 1, NCS_FUNCTION_REDUCE_SCATTER);
	found = expect_record(guest, NCS_EVENT_STREAM, "the stream");
	CHECK_EQUAL(found.value, NCS_RECORD_STREAM(STREAM), "the call's");
	found = expect_record(guest, NCS_EVENT_COLL, "the operation");
	CHECK_EQUAL(found.value, bytes, "its bytes");
	CHECK_EQUAL(found.number, 41, "its sequence number");
	CHECK_EQUAL(found.peer, 3, "its root");
	CHECK(found.delta[0] != 0, "its enqueueing ended");
	found = expect_record(guest, NCS_EVENT_KERNEL_CH, "the kernel");
	CHECK_EQUAL(found.channel, 5, "its channel");
	CHECK_EQUAL(found.operation, 1, "its operation");
	CHECK_EQUAL(found.value, 1000000, "its start on the GPU");
	CHECK_EQUAL(found.number, 300, "its time on the GPU");
	/* An operation in flight must have all values of its call. */
	coll.seq_number = 42;
	coll.algorithm = "NVLS_TREE";
	coll.protocol = "SIMPLE";
	open_nest(guest, &nest, &coll);
	start_kernel(guest, nest.coll, 6, 2000000);
	check_losses(guest, "API 7", END_OF_LOSSES);
	CHECK_EQUAL(function->operations_done, 1, "one is on its way");
	CHECK_EQUAL(function->timed[NCS_TIMING_KERNEL], 1, "one was timed");
	CHECK_EQUAL(function->time_ns[NCS_TIMING_KERNEL], 300,
		    "time by the GPU's clock");
	CHECK_EQUAL(guest->view.now.operation_count, 1, "one is on its way");
	flying = &guest->view.now.operations[0];
	CHECK_EQUAL(flying->number, 2, "the second");
	CHECK_EQUAL(flying->sequence_number, 42, "as reported");
	CHECK_EQUAL(flying->bytes, bytes, "as reported");
	CHECK_EQUAL(flying->count, 500, "as reported");
	CHECK_EQUAL(flying->event, NCS_EVENT_COLL, "as reported");
	CHECK_EQUAL(flying->function, NCS_FUNCTION_REDUCE_SCATTER,
		    "as reported");
	CHECK_EQUAL(flying->datatype, NCS_DATATYPE_BFLOAT16, "as reported");
	CHECK_EQUAL(flying->algorithm, NCS_ALGORITHM_NVLS_TREE, "as reported");
	CHECK_EQUAL(flying->protocol, NCS_PROTOCOL_SIMPLE, "as reported");
	CHECK_EQUAL(flying->nchannels, 2, "as reported");
	CHECK_EQUAL(flying->peer, 3, "as reported");
	CHECK(flying->enqueued_ns >= flying->start_ns, "in order");
	CHECK(flying->first_child_ns >= flying->enqueued_ns, "in order");
}

/* From 2.31 on, NCCL reports the name of a symmetric kernel as the algorithm,
 * and no protocol. */
GUEST_SCENARIO(symmetric_collectives_have_an_unknown_algorithm, 7)
{
	struct host_event coll = {
		.rank = GUEST_RANK,
		.func = "AllReduce",
		.datatype = "ncclFloat32",
		.algorithm = "LL_R",
		.protocol = "",
		.count = 100,
		.kernel_variant = "ncclSymkDevKernel_AllReduce_LL_R",
		.is_symmetric = 1,
		.user_tag = 99,
	};
	struct nest nest;

	open_nest(guest, &nest, &coll);
	start_kernel(guest, nest.coll, 0, 0);
	check_losses(guest, "a symmetric collective", END_OF_LOSSES);
	CHECK_EQUAL(guest->view.now.operation_count, 1, "on its way");
	CHECK_EQUAL(guest->view.now.operations[0].algorithm,
		    NCS_ALGORITHM_UNKNOWN, "unknown to the plugin");
	CHECK_EQUAL(guest->view.now.operations[0].protocol,
		    NCS_PROTOCOL_UNKNOWN, "no protocol");
	CHECK_EQUAL(guest->view.now.operations[0].bytes, 400,
		    "size as in other operations");
	CHECK_EQUAL(guest->view.now.operations[0].user_tag, 99, "as given");
}

GUEST_SCENARIO(user_tags_change_nothing_else, 7)
{
	struct host_event event = {
		.type = NCCL_EVENT_P2P_API,
		.func = "Send",
		.datatype = "ncclFloat64",
		.count = 10,
		.peer = 2,
		.user_tag = UINT64_C(0xfeedfacefeedface),
		.kernel_variant = "unused",
	};
	struct ncs_record found;
	void *p2p;

	event.parent = start(guest, &event);
	stop(guest, event.parent);
	event.type = NCCL_EVENT_P2P;
	p2p = start(guest, &event);
	view_take(&guest->view);
	CHECK(guest->view.now.operations[0].user_tag == event.user_tag,
	      "the tag is shown");
	stop(guest, p2p);
	stop(guest, start_proxy_op(guest, p2p, 1, true, 2, 1));
	check_losses(guest, "a send with a tag", END_OF_LOSSES);
	CHECK_EQUAL(function_of(guest, NCS_FUNCTION_SEND)->calls, 1, "call");
	CHECK_EQUAL(function_of(guest, NCS_FUNCTION_SEND)->bytes, 80, "10*8");
	CHECK_EQUAL(function_of(guest, NCS_FUNCTION_SEND)->last_sequence_number,
		    NCS_NO_SEQUENCE_NUMBER, "P2p has none");
	found = expect_record(guest, NCS_EVENT_P2P_API, "the call");
	CHECK_EQUAL(found.value, 80, "10 * 8");
	CHECK_EQUAL(found.peer, -1, "the call has none");
	expect_record(guest, NCS_EVENT_PROXY_OP, "the child");
	expect_record(guest, NCS_EVENT_STREAM, "the stream");
	found = expect_record(guest, NCS_EVENT_P2P, "the send");
	CHECK_EQUAL(found.peer, 2, "as reported");
	CHECK_EQUAL(found.value, 80, "as reported");
	CHECK_EQUAL(found.number, 0, "the first one to its peer");
}

/* --- Copy engines ------------------------------------------------------ */

GUEST_SCENARIOS(copy_engine_collectives_are_recorded, 6, 7)
{
	struct host_event coll = {
		.type = NCCL_EVENT_CE_COLL,
		.seq_number = 17,
		.func = "AllGather",
		.datatype = "ncclFloat16",
		.count = 300,
		.root = 2,
		.sync_strategy = "MC",
		.ce_seq_number = 17,
		.user_tag = 5,
	};
	struct host_event sync = {
		.type = NCCL_EVENT_CE_SYNC,
		.is_complete = 1,
		.nranks = GUEST_NRANKS,
	};
	struct host_event batch = {
		.type = NCCL_EVENT_CE_BATCH,
		.ops = 12,
		.total_bytes = 987654321012,
		.intra_sync = 1,
	};
	struct ncs_record found;
	void *outer, *inner;

	outer = start(guest, &coll);
	record(guest, outer, NCCL_STATE_CE_COLL_START);
	sync.parent = batch.parent = outer;
	inner = start(guest, &sync);
	record(guest, inner, NCCL_STATE_CE_SYNC_START);
	record(guest, inner, NCCL_STATE_CE_SYNC_COMPLETE);
	view_take(&guest->view);
	CHECK(guest->view.now.lanes[1].open_since_ns[NCS_EVENT_CE_SYNC] >=
		      guest->view.now.lanes[1].open_since_ns[NCS_EVENT_CE_COLL],
	      "both are under way");
	CHECK(guest->view.now.lanes[1].open_since_ns[NCS_EVENT_CE_COLL] != 0,
	      "both are under way");
	stop(guest, inner);
	inner = start(guest, &batch);
	record(guest, inner, NCCL_STATE_CE_BATCH_START);
	record(guest, inner, NCCL_STATE_CE_BATCH_COMPLETE);
	stop(guest, inner);
	record(guest, outer, NCCL_STATE_CE_COLL_COMPLETE);
	stop(guest, outer);
	check_losses(guest, "copy engines", END_OF_LOSSES);
	CHECK_EQUAL(guest->view.now.lanes[1].open_since_ns[NCS_EVENT_CE_COLL],
		    0, "no event is open");
	CHECK_EQUAL(guest->view.now.events[NCS_EVENT_CE_COLL], 1, "one");
	CHECK_EQUAL(guest->view.now.events[NCS_EVENT_CE_SYNC], 1, "one");
	CHECK_EQUAL(guest->view.now.events[NCS_EVENT_CE_BATCH], 1, "one");
	found = expect_record(guest, NCS_EVENT_CE_SYNC, "the sync");
	CHECK_EQUAL(found.number, GUEST_NRANKS, "its ranks");
	found = expect_record(guest, NCS_EVENT_CE_BATCH, "the batch");
	CHECK_EQUAL(found.number, 12, "its copies");
	CHECK_EQUAL(found.value, 987654321012, "its bytes");
	found = expect_record(guest, NCS_EVENT_CE_COLL, "the collective");
	CHECK_EQUAL(found.function, NCS_FUNCTION_ALL_GATHER, "its function");
	CHECK_EQUAL(found.number, 17, "its sequence number");
	CHECK_EQUAL(found.peer, 2, "its root");
	CHECK_EQUAL(found.value, 300 * 2 * GUEST_NRANKS, "its bytes");
	check_order(&found, "the collective");
}

/* --- The network plugin ------------------------------------------------ */

GUEST_SCENARIOS(network_plugin_events_have_their_bytes, 3, 7)
{
	struct nccl_net_ib_descr_v1 ib = {
		.type = NCCL_NET_IB_QUEUE_PAIR,
		.queue_pair = { .length_bytes = 123456 },
	};
	struct nccl_net_socket_descr_v1 sock = {
		.type = NCCL_NET_SOCKET,
		.socket = { .length_bytes = 654321 },
	};
	struct {
		int64_t id;
		void *data;
		uint64_t bytes;
	} kinds[] = {
		{ NCCL_NET_PLUGIN_IB_V1, &ib, 123456 },
		{ NCCL_NET_PLUGIN_SOCKET_V1, &sock, 654321 },
		{ NCCL_NET_PLUGIN_IB_V1, NULL, 0 },
		/* Data of unknown plugins must not be read. */
		{ 0x10002, (void *)(uintptr_t)8, 0 },
		{ INT64_MIN, (void *)(uintptr_t)8, 0 },
	};
	struct ncs_record found;
	void *p2p, *op, *step;

	p2p = start_p2p(guest, "Recv", 3, 1);
	stop(guest, p2p);
	op = start_proxy_op(guest, p2p, 4, true, 3, 1);
	step = start_step(guest, op, 0);
	for (unsigned i = 0; i < 5; i++) {
		struct host_event event = {
			.type = NCCL_EVENT_NET_PLUGIN,
			.parent = step,
			.net_id = kinds[i].id,
			.net_data = kinds[i].data,
		};
		void *handle = start(guest, &event);

		if (api >= 4)
			record(guest, handle, NCCL_STATE_NET_PLUGIN_UPDATE);
		stop(guest, handle);
		found = expect_record(guest, NCS_EVENT_NET_PLUGIN, "event");
		CHECK_EQUAL(found.number, kinds[i].id,
			    "id of the network plugin");
		CHECK_EQUAL(found.value, kinds[i].bytes, "its bytes");
		CHECK_EQUAL(found.channel, 4, "its step's channel");
		CHECK_EQUAL(found.peer, 3, "its step's peer");
		CHECK_EQUAL(found.flags, NCS_RECORD_SEND, "its direction");
		CHECK_EQUAL(found.operation, 1, "its operation");
		CHECK_EQUAL(found.function, NCS_FUNCTION_RECV, "its function");
	}
	check_losses(guest, "network plugin", END_OF_LOSSES);
	CHECK_EQUAL(guest->view.now.events[NCS_EVENT_NET_PLUGIN], 5,
		    "each event counts");
	/* From 2.27 on, an event of InfiniBand is stopped twice, and a plugin
	 * may have none at first. */
	stop(guest, start_type(guest, NCCL_EVENT_NET_PLUGIN, NULL));
	check_losses(guest, "without a parent", END_OF_LOSSES);
}

/* --- Every state ------------------------------------------------------- */

/* Up to 2.26, states of proxy operations report the bytes since an arbitrary
 * start. */
GUEST_SCENARIOS(sizes_in_old_states_count_as_differences, 1, 3)
{
	const struct ncs_channel_view *channel;
	struct ncs_record found;
	void *send, *recv;

	send = start_proxy_op(guest, NULL, 0, true, 2, 2);
	record_size(guest, send, NCCL_STATE_OP_SEND_POSTED, 5000);
	record_size(guest, send, NCCL_STATE_OP_SEND_REM_FIFO_WAIT, 5000);
	record_size(guest, send, NCCL_STATE_OP_SEND_TRANSMITTED, 5600);
	record_size(guest, send, NCCL_STATE_OP_SEND_DONE, 5600);
	record_size(guest, send, NCCL_STATE_OP_SEND_TRANSMITTED, 6000);
	recv = start_proxy_op(guest, NULL, 0, false, 2, 2);
	record_size(guest, recv, NCCL_STATE_OP_RECV_POSTED, 70);
	record_size(guest, recv, NCCL_STATE_OP_RECV_RECEIVED, 90);
	record_size(guest, recv, NCCL_STATE_OP_RECV_TRANSMITTED, 90);
	record_size(guest, recv, NCCL_STATE_OP_RECV_DONE, 90);
	/* In a slot that NCCL reuses, the sum continues from its previous
	 * value. */
	stop(guest, recv);
	recv = start_proxy_op(guest, NULL, 0, false, 2, 2);
	record_size(guest, recv, NCCL_STATE_OP_RECV_POSTED, 90);
	record_size(guest, recv, NCCL_STATE_OP_RECV_RECEIVED, 95);
	stop(guest, recv);
	stop(guest, send);
	check_losses(guest, "states 0 to 7", END_OF_LOSSES);
	channel = view_channel(&guest->view, 0, true, 2);
	CHECK_EQUAL(channel->bytes, 1000, "how far the sum moved");
	channel = view_channel(&guest->view, 0, false, 2);
	CHECK_EQUAL(channel->bytes, 25, "how far the sums moved");
	found = expect_record(guest, NCS_EVENT_PROXY_OP, "the first receive");
	CHECK_EQUAL(found.value, 20, "its bytes");
	found = expect_record(guest, NCS_EVENT_PROXY_OP, "the second");
	CHECK_EQUAL(found.value, 5, "its bytes");
	found = expect_record(guest, NCS_EVENT_PROXY_OP, "the send");
	CHECK_EQUAL(found.value, 1000, "its bytes");
}

static void expect_channel(struct guest *guest, bool send,
			   enum ncs_channel_state state)
{
	const struct ncs_channel_view *channel;

	view_take(&guest->view);
	channel = view_channel(&guest->view, 6, send, 0);
	CHECK_EQUAL(channel->state, state, "the state of the step");
}

GUEST_SCENARIOS(each_state_of_a_step_is_shown_and_its_time_recorded, 1, 7)
{
	const struct ncs_channel_view *channel;
	struct ncs_record found;
	uint64_t size = api >= 4 ? 1 : 0; /* earlier ones differ */
	void *op, *step;

	op = start_proxy_op(guest, NULL, 6, true, 0, 9);
	let_time_pass();
	if (api >= 4)
		record(guest, op, NCCL_STATE_OP_IN_PROGRESS);
	step = start_step(guest, op, 8);
	record_size(guest, step, NCCL_STATE_STEP_SEND_GPU_WAIT, 999);
	expect_channel(guest, true, NCS_CHANNEL_SEND_GPU_WAIT);
	let_time_pass();
	for (unsigned i = 0; i < 50 && api >= 4; i++) { /* at every poll */
		record_size(guest, step, NCCL_STATE_STEP_SEND_PEER_WAIT, 999);
		expect_channel(guest, true, NCS_CHANNEL_SEND_PEER_WAIT);
	}
	let_time_pass();
	record_size(guest, step, NCCL_STATE_STEP_SEND_WAIT, 1234);
	expect_channel(guest, true, NCS_CHANNEL_SEND_WAIT);
	stop(guest, step);
	expect_channel(guest, true, NCS_CHANNEL_IDLE);
	found = expect_record(guest, NCS_EVENT_PROXY_STEP, "the send");
	CHECK_EQUAL(found.channel, 6, "as reported");
	CHECK_EQUAL(found.peer, 0, "as reported");
	CHECK_EQUAL(found.number, 8, "as reported");
	CHECK_EQUAL(found.value, 1234 * size, "the size at SendWait");
	CHECK_EQUAL(found.flags, NCS_RECORD_SEND, "as reported");
	CHECK_EQUAL(found.delta[0] != 0, api >= 4, "time of SendPeerWait");
	CHECK(found.delta[1] != 0, "time of SendWait");
	check_order(&found, "the send");
	stop(guest, op);
	found = expect_record(guest, NCS_EVENT_PROXY_OP, "the send");
	CHECK_EQUAL(found.value, 1234 * size, "its bytes");
	CHECK_EQUAL(found.number, 1, "its steps");
	CHECK_EQUAL(found.delta[0] != 0, api >= 4, "time of InProgress");
	CHECK(found.delta[1] >= found.delta[0], "in order");
	check_order(&found, "the send");

	op = start_proxy_op(guest, NULL, 6, false, 0, 9);
	step = start_step(guest, op, 0);
	record_size(guest, step, NCCL_STATE_STEP_RECV_WAIT, 999);
	expect_channel(guest, false, NCS_CHANNEL_RECV_WAIT);
	let_time_pass();
	record_size(guest, step, NCCL_STATE_STEP_RECV_FLUSH_WAIT, 77);
	expect_channel(guest, false, NCS_CHANNEL_RECV_FLUSH_WAIT);
	let_time_pass();
	record_size(guest, step, NCCL_STATE_STEP_RECV_GPU_WAIT, 999);
	expect_channel(guest, false, NCS_CHANNEL_RECV_GPU_WAIT);
	stop(guest, step);
	found = expect_record(guest, NCS_EVENT_PROXY_STEP, "the receive");
	CHECK_EQUAL(found.value, 77 * size, "the size at RecvFlushWait");
	CHECK_EQUAL(found.flags, 0, "as reported");
	CHECK(found.delta[0] != 0, "time of RecvFlushWait");
	CHECK(found.delta[1] != 0, "time of RecvGPUWait");
	check_order(&found, "the receive");
	stop(guest, op);
	check_losses(guest, "states 8 to 12, 19 and 20", END_OF_LOSSES);
	channel = view_channel(&guest->view, 6, true, 0);
	CHECK_EQUAL(channel->bytes, 1234 * size, "its bytes");
	CHECK_EQUAL(channel->size_unknown, 1 - size, "or that they are not");
}

static void play_ctrl(struct guest *guest, int state, int next, int ops)
{
	void *ctrl = start_type(guest, NCCL_EVENT_PROXY_CTRL, NULL);

	record_appended(guest, ctrl, state, 0);
	if (next != 0)
		record_appended(guest, ctrl, next, ops);
	stop(guest, ctrl);
}

static void expect_proxy(struct guest *guest, enum ncs_proxy_state state)
{
	view_take(&guest->view);
	CHECK_EQUAL(guest->view.now.proxy.state, state, "the proxy thread");
}

GUEST_SCENARIOS(each_state_of_the_proxy_thread_is_shown_and_counted, 1, 7)
{
	static const uint64_t expected[NCS_TRANSITION_COUNT] = {
		[NCS_TRANSITION_IDLE] = 2,   [NCS_TRANSITION_ACTIVE] = 1,
		[NCS_TRANSITION_SLEEP] = 1,  [NCS_TRANSITION_WAKEUP] = 1,
		[NCS_TRANSITION_APPEND] = 2, [NCS_TRANSITION_APPEND_END] = 2,
	};
	struct ncs_record found;
	void *ctrl;

	expect_proxy(guest, NCS_PROXY_UNKNOWN);
	play_ctrl(guest, NCCL_STATE_CTRL_IDLE, 0, 0);
	expect_proxy(guest, NCS_PROXY_IDLE);
	ctrl = start_type(guest, NCCL_EVENT_PROXY_CTRL, NULL);
	record_appended(guest, ctrl, NCCL_STATE_CTRL_SLEEP, 0);
	expect_proxy(guest, NCS_PROXY_SLEEP);
	let_time_pass();
	record_appended(guest, ctrl, NCCL_STATE_CTRL_WAKEUP, 0);
	expect_proxy(guest, NCS_PROXY_IDLE);
	stop(guest, ctrl);
	ctrl = start_type(guest, NCCL_EVENT_PROXY_CTRL, NULL);
	record_appended(guest, ctrl, NCCL_STATE_CTRL_APPEND, 99);
	expect_proxy(guest, NCS_PROXY_APPEND);
	record_appended(guest, ctrl, NCCL_STATE_CTRL_APPEND_END, 3);
	stop(guest, ctrl);
	expect_proxy(guest, NCS_PROXY_IDLE);
	play_ctrl(guest, NCCL_STATE_CTRL_ACTIVE, 0, 0);
	expect_proxy(guest, NCS_PROXY_ACTIVE);
	play_ctrl(guest, NCCL_STATE_CTRL_APPEND, NCCL_STATE_CTRL_APPEND_END, 4);
	expect_proxy(guest, NCS_PROXY_ACTIVE);
	play_ctrl(guest, NCCL_STATE_CTRL_IDLE, 0, 0);
	stop(guest, start_type(guest, NCCL_EVENT_PROXY_CTRL, NULL));
	check_losses(guest, "states 13 to 18", END_OF_LOSSES);
	for (unsigned i = 0; i < NCS_TRANSITION_COUNT; i++)
		CHECK_EQUAL(guest->view.now.proxy.count[i], expected[i],
			    "transitions");
	CHECK_EQUAL(guest->view.now.proxy.appended_operations, 7,
		    "at AppendEnd only");
	CHECK_EQUAL(guest->view.now.events[NCS_EVENT_PROXY_CTRL], 7, "starts");
	found = expect_record(guest, NCS_EVENT_PROXY_CTRL, "sleep");
	CHECK_EQUAL(found.number, NCS_PROXY_SLEEP, "sleep");
	CHECK(found.delta[0] != 0, "time of the wakeup");
	check_order(&found, "sleep");
	for (unsigned ops = 3; ops <= 4; ops++) {
		found = expect_record(guest, NCS_EVENT_PROXY_CTRL, "append");
		CHECK_EQUAL(found.number, NCS_PROXY_APPEND, "append");
		CHECK_EQUAL(found.value, ops, "operations appended");
		check_order(&found, "append");
	}
	CHECK(!next_record(guest, &found), "idle and active are no records");
}
