/* SPDX-License-Identifier: MIT */
/*
 * The binary interface between NCCL and a profiler plugin, versions 1 to 7.
 *
 * NCCL looks for a table named ncclProfiler_v<N> in the library that it has
 * opened, and calls the functions in it. This header alone describes their
 * arguments; every offset and size is asserted. It includes none of
 * NCCL's own headers, so that one build of the plugin serves all releases.
 * Versions 5 to 7 keep all offsets and append fields: they have one layout, whose
 * comments say since which version there is a field. So do the events of version 4,
 * whose type has one byte.
 *
 * It must contain no code, and nothing that is not part of NCCL's interface.
 *
 * Rules for reading a descriptor:
 *  - `type` is one byte up to version 4 and eight bytes from version 5 on;
 *    the seven bytes behind it are garbage before version 5.
 *  - Only the member of the union that belongs to `type` is set. Padding and
 *    the other members contain garbage from NCCL's stack.
 *  - Strings are literals inside NCCL or NULL: they may be read as long as
 *    NCCL is loaded, and must be copied to be published.
 *  - `context`, `parent` and handles can come from another process.
 *  - A C++ bool is one byte that holds 0 or 1; it is declared as uint8_t so
 *    that another value can be read without undefined behaviour.
 */
#ifndef NCS_PLUGIN_NCCL_NCCL_ABI_H
#define NCS_PLUGIN_NCCL_NCCL_ABI_H

#include <stddef.h>
#include <stdint.h>

#include "ncclstat/tables/events.def"
#include "ncclstat/tables/states.def"

/* The result of every callback. NCCL checks it after init only. */
enum nccl_result {
	NCCL_SUCCESS = 0,
	NCCL_UNHANDLED_CUDA_ERROR = 1,
	NCCL_SYSTEM_ERROR = 2,
	NCCL_INTERNAL_ERROR = 3,
	NCCL_INVALID_ARGUMENT = 4,
	NCCL_INVALID_USAGE = 5,
	NCCL_REMOTE_ERROR = 6,
	NCCL_IN_PROGRESS = 7,
};

/* First argument of the logger that init of version 4 and later receives. */
enum nccl_log_level {
	NCCL_LOG_NONE = 0,
	NCCL_LOG_VERSION = 1,
	NCCL_LOG_WARN = 2,
	NCCL_LOG_INFO = 3,
	NCCL_LOG_ABORT = 4,
	NCCL_LOG_TRACE = 5,
};

/* Second argument: the subsystems that NCCL_DEBUG_SUBSYS filters by. */
#define NCCL_SUBSYSTEM_INIT 0x1UL
#define NCCL_SUBSYSTEM_PROFILE 0x4000UL

typedef void (*nccl_debug_logger)(enum nccl_log_level level,
	unsigned long subsystems, const char *file, int line,
	const char *format, ...) __attribute__((format(printf, 5, 6)));

/* Event types: the values of a descriptor's `type` and the bits of the mask. */
enum nccl_event_type {
#define X(ID, name, bit, api, help) NCCL_EVENT_##ID = (bit),
	NCS_EVENTS(X)
#undef X
};

/* Second argument of recordEventState. No number was ever reused. */
enum nccl_event_state {
#define X(ID, value, api, event, name) NCCL_STATE_##ID = (value),
	NCS_STATES(X)
#undef X
};

/*
 * The table of any version. `descr` and `args` are as the version lays them out.
 */
struct nccl_profiler {
	const char *name;
	union {
		/* Versions 1 to 3. */
		enum nccl_result (*v1)(void **context, int *activation_mask);
		enum nccl_result (*v4)(void **context, int *activation_mask,
			const char *comm_name, uint64_t comm_hash, int nnodes,
			int nranks, int rank, nccl_debug_logger logger);
		/* Versions 5 to 7. The order differs from version 4. */
		enum nccl_result (*v5)(void **context, uint64_t comm_id,
			int *activation_mask, const char *comm_name, int nnodes,
			int nranks, int rank, nccl_debug_logger logger);
	} init;
	enum nccl_result (*start_event)(void *context, void **handle,
		void *descr);
	enum nccl_result (*stop_event)(void *handle);
	enum nccl_result (*record_event_state)(void *handle,
		enum nccl_event_state state, void *args);
	enum nccl_result (*finalize)(void *context);
};

/*
 * The fields of a struct with their offsets, X(S, type, name, offset), declare it and
 * are asserted, and so is its size in bytes. They hold for all machines with 8-byte
 * pointers and size_t; NCCL runs on no other.
 */
#define NCCL_MEMBER(S, type, name, offset) type name;
#define NCCL_OFFSET(S, type, name, offset) \
	_Static_assert(offsetof(struct S, name) == (offset), #S "." #name);
#define NCCL_SIZE(layout, bytes) \
	_Static_assert(sizeof(layout) == (bytes), #layout ": size")
#define NCCL_STRUCT(S, bytes, FIELDS) \
	struct S { \
		FIELDS(NCCL_MEMBER, S) \
	}; \
	FIELDS(NCCL_OFFSET, S) \
	NCCL_SIZE(struct S, bytes)

/*
 * Version 1 (NCCL 2.23): functions, algorithms and so on are numbers.
 */
#define NCCL_COLL_V1(X, S) \
	X(S, const char *, comm_name, 0) \
	X(S, uint64_t, comm_hash, 8) \
	X(S, uint64_t, seq_number, 16) \
	X(S, uint8_t, func, 24) /* see nccl_names.c, as those below */ \
	X(S, const void *, send_buffer, 32) \
	X(S, void *, recv_buffer, 40) \
	X(S, size_t, count, 48) \
	X(S, int, root, 56) \
	X(S, uint8_t, datatype, 60) \
	X(S, uint32_t, reduction, 64) \
	X(S, size_t, traffic_bytes, 72) /* by NCCL's cost model */ \
	X(S, uint8_t, max_channels, 80) \
	X(S, uint8_t, warps, 81) \
	X(S, uint8_t, algorithm, 82) \
	X(S, uint8_t, protocol, 83) \
	X(S, int, is_collnet, 84) \
	X(S, int, is_nvls, 88)
NCCL_STRUCT(nccl_coll_v1, 96, NCCL_COLL_V1);

#define NCCL_P2P_V1(X, S) \
	X(S, const char *, comm_name, 0) \
	X(S, uint64_t, comm_hash, 8) \
	X(S, uint8_t, func, 16) \
	X(S, void *, buffer, 24) \
	X(S, uint8_t, datatype, 32) \
	X(S, size_t, count, 40) \
	X(S, int, peer, 48)
NCCL_STRUCT(nccl_p2p_v1, 56, NCCL_P2P_V1);

/* Identical in all versions. */
#define NCCL_PROXY_OP(X, S) \
	X(S, int, pid, 0) /* of the process that owns the op */ \
	X(S, uint8_t, channel, 4) \
	X(S, int, peer, 8) \
	X(S, int, steps, 12) \
	X(S, int, chunk_bytes, 16) \
	X(S, int, is_send, 20)
NCCL_STRUCT(nccl_proxy_op, 24, NCCL_PROXY_OP);

/* Identical in all versions. */
struct nccl_proxy_step {
	int step;
};
NCCL_SIZE(struct nccl_proxy_step, 4);

struct nccl_event_descr_v1 {
	uint8_t type;
	void *parent;
	int rank;
	union {
		struct nccl_coll_v1 coll;
		struct nccl_p2p_v1 p2p;
		struct nccl_proxy_op proxy_op;
		struct nccl_proxy_step proxy_step;
	};
};

/* Versions 1 to 3: sizes come with the proxy operation's states. */
union nccl_state_args_v1 {
	struct {
		size_t transferred_bytes;	/* cumulative, from any start */
		int steps;
	} proxy_op;
	struct {
		int appended_ops;		/* at APPEND_END only */
	} proxy_ctrl;
};

/*
 * Version 2 (NCCL 2.24 and 2.25): strings in place of the numbers.
 */
#define NCCL_COLL_V2(X, S) \
	X(S, const char *, comm_name, 0) \
	X(S, uint64_t, comm_hash, 8) \
	X(S, uint64_t, seq_number, 16) \
	X(S, const char *, func, 24) \
	X(S, const void *, send_buffer, 32) \
	X(S, void *, recv_buffer, 40) \
	X(S, size_t, count, 48) \
	X(S, int, root, 56) \
	X(S, const char *, datatype, 64) \
	X(S, size_t, traffic_bytes, 72) /* by NCCL's cost model */ \
	X(S, uint8_t, max_channels, 80) \
	X(S, uint8_t, warps, 81) \
	X(S, const char *, algorithm, 88) \
	X(S, const char *, protocol, 96)
NCCL_STRUCT(nccl_coll_v2, 104, NCCL_COLL_V2);

/* Versions 2 and 3. */
#define NCCL_P2P_V2(X, S) \
	X(S, const char *, comm_name, 0) \
	X(S, uint64_t, comm_hash, 8) \
	X(S, const char *, func, 16) \
	X(S, void *, buffer, 24) \
	X(S, const char *, datatype, 32) \
	X(S, size_t, count, 40) \
	X(S, int, peer, 48)
NCCL_STRUCT(nccl_p2p_v2, 56, NCCL_P2P_V2);

struct nccl_event_descr_v2 {
	uint8_t type;
	void *parent;
	int rank;
	union {
		struct nccl_coll_v2 coll;
		struct nccl_p2p_v2 p2p;
		struct nccl_proxy_op proxy_op;
		struct nccl_proxy_step proxy_step;
	};
};

/*
 * Version 3 (NCCL 2.26): kernel channels and the network plugin's own events.
 */
#define NCCL_COLL_V3(X, S) \
	X(S, const char *, comm_name, 0) \
	X(S, uint64_t, comm_hash, 8) \
	X(S, uint64_t, seq_number, 16) \
	X(S, const char *, func, 24) \
	X(S, const void *, send_buffer, 32) \
	X(S, void *, recv_buffer, 40) \
	X(S, size_t, count, 48) \
	X(S, int, root, 56) \
	X(S, const char *, datatype, 64) \
	X(S, uint8_t, max_channels, 72) \
	X(S, uint8_t, warps, 73) \
	X(S, const char *, algorithm, 80) \
	X(S, const char *, protocol, 88)
NCCL_STRUCT(nccl_coll_v3, 96, NCCL_COLL_V3);

struct nccl_kernel_ch_v3 {
	uint8_t channel;
};
NCCL_SIZE(struct nccl_kernel_ch_v3, 1);

/* Versions 3 and later. `data` is valid during the call only. */
#define NCCL_NET_PLUGIN(X, S) \
	X(S, int64_t, id, 0) /* NCCL_NET_PLUGIN_* */ \
	X(S, void *, data, 8) /* struct nccl_net_*_descr_v1 */
NCCL_STRUCT(nccl_net_plugin, 16, NCCL_NET_PLUGIN);

struct nccl_event_descr_v3 {
	uint8_t type;
	void *parent;
	int rank;
	union {
		struct nccl_coll_v3 coll;
		struct nccl_p2p_v2 p2p;
		struct nccl_proxy_op proxy_op;
		struct nccl_proxy_step proxy_step;
		struct nccl_kernel_ch_v3 kernel_ch;
		struct nccl_net_plugin net_plugin;
	};
};

/*
 * Version 4 (NCCL 2.27): init reports the communicator, events no longer do.
 */
/* Versions 4 and later. From version 5 on, the event's parent is that of the API
 * call. */
#define NCCL_COLL_V4(X, S) \
	X(S, uint64_t, seq_number, 0) \
	X(S, const char *, func, 8) \
	X(S, const void *, send_buffer, 16) \
	X(S, void *, recv_buffer, 24) \
	X(S, size_t, count, 32) \
	X(S, int, root, 40) \
	X(S, const char *, datatype, 48) \
	X(S, uint8_t, channels, 56) \
	X(S, uint8_t, warps, 57) \
	X(S, const char *, algorithm, 64) \
	X(S, const char *, protocol, 72) \
	X(S, void *, parent_group, 80) /* version 5 */ \
	X(S, const char *, kernel_variant, 88) /* version 7 */ \
	X(S, uint8_t, is_symmetric, 96) /* version 7 */ \
	X(S, uint64_t, user_tag, 104) /* version 7 */
NCCL_STRUCT(nccl_coll_v4, 112, NCCL_COLL_V4);

/* Versions 4 and later. */
#define NCCL_P2P_V4(X, S) \
	X(S, const char *, func, 0) \
	X(S, void *, buffer, 8) \
	X(S, const char *, datatype, 16) \
	X(S, size_t, count, 24) \
	X(S, int, peer, 32) \
	X(S, uint8_t, channels, 36) \
	X(S, void *, parent_group, 40) /* version 5 */ \
	X(S, uint64_t, user_tag, 48) /* version 7 */
NCCL_STRUCT(nccl_p2p_v4, 56, NCCL_P2P_V4);

/* Versions 4 and later. */
#define NCCL_KERNEL_CH(X, S) \
	X(S, uint8_t, channel, 0) \
	X(S, uint64_t, gpu_timer_ns, 8) /* the GPU's globaltimer */
NCCL_STRUCT(nccl_kernel_ch, 16, NCCL_KERNEL_CH);

struct nccl_event_descr_v4 {
	uint8_t type;
	void *parent;
	int rank;
	union {
		struct nccl_coll_v4 coll;
		struct nccl_p2p_v4 p2p;
		struct nccl_proxy_op proxy_op;
		struct nccl_proxy_step proxy_step;
		struct nccl_kernel_ch kernel_ch;
		struct nccl_net_plugin net_plugin;
	};
};

/* Versions 4 to 7: sizes come with the proxy step's states. */
union nccl_state_args_v4 {
	struct {
		size_t transferred_bytes;	/* of this step */
	} proxy_step;
	struct {
		int appended_ops;		/* at APPEND_END only */
	} proxy_ctrl;
	struct {
		void *data;
	} net_plugin;
	struct {
		uint64_t gpu_timer_ns;		/* version 7: phases too */
	} kernel_ch;
};

/*
 * Version 5 (NCCL 2.28): events of the application's calls and of launches.
 * Version 6 (NCCL 2.29 and 2.30): collectives by the copy engine.
 * Version 7 (NCCL 2.31): the user's tag, kernel variants, kernel phases.
 */
#define NCCL_GROUP_API(X, S) \
	X(S, uint8_t, graph_captured, 0) \
	X(S, int, depth, 4)
NCCL_STRUCT(nccl_group_api, 8, NCCL_GROUP_API);

#define NCCL_COLL_API(X, S) \
	X(S, const char *, func, 0) \
	X(S, size_t, count, 8) \
	X(S, const char *, datatype, 16) \
	X(S, int, root, 24) \
	X(S, void *, stream, 32) \
	X(S, uint8_t, graph_captured, 40) \
	X(S, uint64_t, user_tag, 48) /* version 7 */
NCCL_STRUCT(nccl_coll_api, 56, NCCL_COLL_API);

#define NCCL_P2P_API(X, S) \
	X(S, const char *, func, 0) \
	X(S, size_t, count, 8) \
	X(S, const char *, datatype, 16) \
	X(S, void *, stream, 24) \
	X(S, uint8_t, graph_captured, 32) \
	X(S, uint64_t, user_tag, 40) /* version 7 */
NCCL_STRUCT(nccl_p2p_api, 48, NCCL_P2P_API);

struct nccl_kernel_launch {
	void *stream;
};
NCCL_SIZE(struct nccl_kernel_launch, 8);

/* Version 6, as the next two. */
#define NCCL_CE_COLL(X, S) \
	X(S, uint64_t, seq_number, 0) \
	X(S, const char *, func, 8) \
	X(S, const void *, send_buffer, 16) \
	X(S, void *, recv_buffer, 24) \
	X(S, size_t, count, 32) \
	X(S, int, root, 40) \
	X(S, const char *, datatype, 48) \
	X(S, const char *, sync_strategy, 56) \
	X(S, uint8_t, intra_batch_sync, 64) \
	X(S, uint32_t, batch_size, 68) \
	X(S, uint32_t, batches, 72) \
	X(S, uint32_t, ce_seq_number, 76) \
	X(S, void *, stream, 80) \
	X(S, uint64_t, user_tag, 88) /* version 7 */
NCCL_STRUCT(nccl_ce_coll, 96, NCCL_CE_COLL);

#define NCCL_CE_SYNC(X, S) \
	X(S, uint8_t, is_complete, 0) \
	X(S, int, nranks, 4)
NCCL_STRUCT(nccl_ce_sync, 8, NCCL_CE_SYNC);

#define NCCL_CE_BATCH(X, S) \
	X(S, int, ops, 0) \
	X(S, size_t, total_bytes, 8) \
	X(S, uint8_t, use_intra_sync, 16)
NCCL_STRUCT(nccl_ce_batch, 24, NCCL_CE_BATCH);

/* Version 7. */
#define NCCL_KERNEL_PHASE(X, S) \
	X(S, uint8_t, channel, 0) \
	X(S, uint8_t, phase, 1) /* 0 first sync, 1 compute, 2 last */ \
	X(S, const char *, phase_name, 8) \
	X(S, uint64_t, gpu_timer_ns, 16)
NCCL_STRUCT(nccl_kernel_phase, 24, NCCL_KERNEL_PHASE);

struct nccl_event_descr_v5 {
	uint64_t type;
	void *parent;
	int rank;
	union {
		struct nccl_group_api group_api;
		struct nccl_coll_api coll_api;
		struct nccl_p2p_api p2p_api;
		struct nccl_kernel_launch kernel_launch;
		struct nccl_coll_v4 coll;
		struct nccl_p2p_v4 p2p;
		struct nccl_proxy_op proxy_op;
		struct nccl_proxy_step proxy_step;
		struct nccl_kernel_ch kernel_ch;
		struct nccl_net_plugin net_plugin;
		struct nccl_ce_coll ce_coll;
		struct nccl_ce_sync ce_sync;
		struct nccl_ce_batch ce_batch;
		struct nccl_kernel_phase kernel_phase;
	};
};

/*
 * A descriptor of any version, and its bytes by version: those of versions 4 to 6
 * end before the fields that a later one appends.
 */
union nccl_event_descr {
	struct nccl_event_descr_v1 v1;
	struct nccl_event_descr_v2 v2;
	struct nccl_event_descr_v3 v3;
	struct nccl_event_descr_v4 v4;
	struct nccl_event_descr_v5 v5;
};

#define NCCL_EVENT_DESCR_V5_BYTES \
	offsetof(struct nccl_event_descr_v5, coll.kernel_variant)
#define NCCL_EVENT_DESCR_BYTES \
	{ \
		0, \
		sizeof(struct nccl_event_descr_v1), \
		sizeof(struct nccl_event_descr_v2), \
		sizeof(struct nccl_event_descr_v3), \
		offsetof(struct nccl_event_descr_v4, coll.parent_group), \
		NCCL_EVENT_DESCR_V5_BYTES, \
		NCCL_EVENT_DESCR_V5_BYTES, \
		sizeof(struct nccl_event_descr_v5), \
	}

union nccl_state_args {
	union nccl_state_args_v1 v1;
	union nccl_state_args_v4 v4;
};

/*
 * The data that net_plugin.data points to, by net_plugin.id (kind << 16 |
 * version).
 */
#define NCCL_NET_PLUGIN_IB_V1 INT64_C(0x10001)
#define NCCL_NET_PLUGIN_SOCKET_V1 INT64_C(0x20001)

#define NCCL_NET_IB_QUEUE_PAIR 1
#define NCCL_NET_SOCKET 1

struct nccl_net_ib_descr_v1 {
	uint8_t type;			/* NCCL_NET_IB_QUEUE_PAIR */
	struct {
		int device;
		uint64_t work_request;
		int opcode;
		int number;
		size_t length_bytes;
	} queue_pair;
};

struct nccl_net_socket_descr_v1 {
	uint8_t type;			/* NCCL_NET_SOCKET */
	struct {
		int fd;
		int op;
		size_t length_bytes;
	} socket;
};

/*
 * The asserts of all others: a field's offset and its size in bytes.
 */
#define NCCL_FIELD(layout, member, offset, bytes) \
	_Static_assert(offsetof(layout, member) == (offset) && \
		sizeof(((layout *)0)->member) == (bytes), #layout "." #member)

NCCL_SIZE(enum nccl_result, 4);
NCCL_SIZE(enum nccl_log_level, 4);
NCCL_SIZE(enum nccl_event_type, 4);
NCCL_SIZE(enum nccl_event_state, 4);
NCCL_SIZE(nccl_debug_logger, 8);

NCCL_SIZE(struct nccl_profiler, 48);
NCCL_FIELD(struct nccl_profiler, name, 0, 8);
NCCL_FIELD(struct nccl_profiler, init, 8, 8);
NCCL_FIELD(struct nccl_profiler, start_event, 16, 8);
NCCL_FIELD(struct nccl_profiler, stop_event, 24, 8);
NCCL_FIELD(struct nccl_profiler, record_event_state, 32, 8);
NCCL_FIELD(struct nccl_profiler, finalize, 40, 8);

/* All members of a descriptor's union begin where one of them does. */
#define NCCL_DESCR(layout, bytes, type_bytes) \
	NCCL_SIZE(layout, bytes); \
	NCCL_FIELD(layout, type, 0, type_bytes); \
	NCCL_FIELD(layout, parent, 8, 8); \
	NCCL_FIELD(layout, rank, 16, 4); \
	_Static_assert(offsetof(layout, coll) == 24, #layout ": union")

NCCL_DESCR(struct nccl_event_descr_v1, 120, 1);
NCCL_DESCR(struct nccl_event_descr_v2, 128, 1);
NCCL_DESCR(struct nccl_event_descr_v3, 120, 1);
NCCL_DESCR(struct nccl_event_descr_v4, 136, 1);
NCCL_DESCR(struct nccl_event_descr_v5, 136, 8);

NCCL_SIZE(union nccl_state_args_v1, 16);
NCCL_FIELD(union nccl_state_args_v1, proxy_op.transferred_bytes, 0, 8);
NCCL_FIELD(union nccl_state_args_v1, proxy_op.steps, 8, 4);
NCCL_FIELD(union nccl_state_args_v1, proxy_ctrl.appended_ops, 0, 4);
NCCL_SIZE(union nccl_state_args_v4, 8);
NCCL_FIELD(union nccl_state_args_v4, proxy_step.transferred_bytes, 0, 8);
NCCL_FIELD(union nccl_state_args_v4, proxy_ctrl.appended_ops, 0, 4);
NCCL_FIELD(union nccl_state_args_v4, net_plugin.data, 0, 8);
NCCL_FIELD(union nccl_state_args_v4, kernel_ch.gpu_timer_ns, 0, 8);

NCCL_SIZE(struct nccl_net_ib_descr_v1, 40);
NCCL_FIELD(struct nccl_net_ib_descr_v1, queue_pair, 8, 32);
NCCL_FIELD(struct nccl_net_ib_descr_v1, queue_pair.device, 8, 4);
NCCL_FIELD(struct nccl_net_ib_descr_v1, queue_pair.work_request, 16, 8);
NCCL_FIELD(struct nccl_net_ib_descr_v1, queue_pair.opcode, 24, 4);
NCCL_FIELD(struct nccl_net_ib_descr_v1, queue_pair.number, 28, 4);
NCCL_FIELD(struct nccl_net_ib_descr_v1, queue_pair.length_bytes, 32, 8);
NCCL_SIZE(struct nccl_net_socket_descr_v1, 24);
NCCL_FIELD(struct nccl_net_socket_descr_v1, socket, 8, 16);
NCCL_FIELD(struct nccl_net_socket_descr_v1, socket.fd, 8, 4);
NCCL_FIELD(struct nccl_net_socket_descr_v1, socket.op, 12, 4);
NCCL_FIELD(struct nccl_net_socket_descr_v1, socket.length_bytes, 16, 8);

#endif
