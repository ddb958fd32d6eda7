/* SPDX-License-Identifier: MIT */
/*
 * The binary interface between NCCL and a profiler plugin, versions 1 to 7.
 *
 * NCCL looks for a table named ncclProfiler_v<N> in the library that it has
 * opened, and calls the functions in it. This header alone describes their
 * arguments; every offset and size is asserted below. It includes none of
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
 * Version 1 (NCCL 2.23): functions, algorithms and so on are numbers.
 */
struct nccl_coll_v1 {
	const char *comm_name;
	uint64_t comm_hash;
	uint64_t seq_number;
	uint8_t func;			/* see nccl_names.c, as those below */
	const void *send_buffer;
	void *recv_buffer;
	size_t count;
	int root;
	uint8_t datatype;
	uint32_t reduction;
	size_t traffic_bytes;		/* NCCL's cost model, not the size */
	uint8_t max_channels;
	uint8_t warps;
	uint8_t algorithm;
	uint8_t protocol;
	int is_collnet;
	int is_nvls;
};

struct nccl_p2p_v1 {
	const char *comm_name;
	uint64_t comm_hash;
	uint8_t func;
	void *buffer;
	uint8_t datatype;
	size_t count;
	int peer;
};

/* Identical in all versions. */
struct nccl_proxy_op {
	int pid;			/* of the process that owns the op */
	uint8_t channel;
	int peer;
	int steps;
	int chunk_bytes;
	int is_send;
};

/* Identical in all versions. */
struct nccl_proxy_step {
	int step;
};

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
struct nccl_coll_v2 {
	const char *comm_name;
	uint64_t comm_hash;
	uint64_t seq_number;
	const char *func;
	const void *send_buffer;
	void *recv_buffer;
	size_t count;
	int root;
	const char *datatype;
	size_t traffic_bytes;		/* NCCL's cost model, not the size */
	uint8_t max_channels;
	uint8_t warps;
	const char *algorithm;
	const char *protocol;
};

/* Versions 2 and 3. */
struct nccl_p2p_v2 {
	const char *comm_name;
	uint64_t comm_hash;
	const char *func;
	void *buffer;
	const char *datatype;
	size_t count;
	int peer;
};

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
struct nccl_coll_v3 {
	const char *comm_name;
	uint64_t comm_hash;
	uint64_t seq_number;
	const char *func;
	const void *send_buffer;
	void *recv_buffer;
	size_t count;
	int root;
	const char *datatype;
	uint8_t max_channels;
	uint8_t warps;
	const char *algorithm;
	const char *protocol;
};

struct nccl_kernel_ch_v3 {
	uint8_t channel;
};

/* Versions 3 and later. `data` is valid during the call only. */
struct nccl_net_plugin {
	int64_t id;			/* NCCL_NET_PLUGIN_* */
	void *data;			/* struct nccl_net_*_descr_v1 */
};

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
struct nccl_coll_v4 {
	uint64_t seq_number;
	const char *func;
	const void *send_buffer;
	void *recv_buffer;
	size_t count;
	int root;
	const char *datatype;
	uint8_t channels;
	uint8_t warps;
	const char *algorithm;
	const char *protocol;
	void *parent_group;		/* version 5 */
	const char *kernel_variant;	/* version 7 */
	uint8_t is_symmetric;		/* version 7 */
	uint64_t user_tag;		/* version 7 */
};

/* Versions 4 and later. */
struct nccl_p2p_v4 {
	const char *func;
	void *buffer;
	const char *datatype;
	size_t count;
	int peer;
	uint8_t channels;
	void *parent_group;		/* version 5 */
	uint64_t user_tag;		/* version 7 */
};

/* Versions 4 and later. */
struct nccl_kernel_ch {
	uint8_t channel;
	uint64_t gpu_timer_ns;		/* the GPU's globaltimer */
};

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
struct nccl_group_api {
	uint8_t graph_captured;
	int depth;
};

struct nccl_coll_api {
	const char *func;
	size_t count;
	const char *datatype;
	int root;
	void *stream;
	uint8_t graph_captured;
	uint64_t user_tag;		/* version 7 */
};

struct nccl_p2p_api {
	const char *func;
	size_t count;
	const char *datatype;
	void *stream;
	uint8_t graph_captured;
	uint64_t user_tag;		/* version 7 */
};

struct nccl_kernel_launch {
	void *stream;
};

/* Version 6, as the next two. */
struct nccl_ce_coll {
	uint64_t seq_number;
	const char *func;
	const void *send_buffer;
	void *recv_buffer;
	size_t count;
	int root;
	const char *datatype;
	const char *sync_strategy;
	uint8_t intra_batch_sync;
	uint32_t batch_size;
	uint32_t batches;
	uint32_t ce_seq_number;
	void *stream;
	uint64_t user_tag;		/* version 7 */
};

struct nccl_ce_sync {
	uint8_t is_complete;
	int nranks;
};

struct nccl_ce_batch {
	int ops;
	size_t total_bytes;
	uint8_t use_intra_sync;
};

/* Version 7. */
struct nccl_kernel_phase {
	uint8_t channel;
	uint8_t phase;			/* 0 initial sync, 1 compute, 2 final sync */
	const char *phase_name;
	uint64_t gpu_timer_ns;
};

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
 * The asserts, one line for each field: its offset and its size in bytes. They
 * hold for all machines with 8-byte pointers and size_t; NCCL runs on no other.
 */
#define NCS_NCCL_SIZE(layout, bytes) \
	_Static_assert(sizeof(layout) == (bytes), #layout ": size")
#define NCS_NCCL_FIELD(layout, member, offset, bytes) \
	_Static_assert(offsetof(layout, member) == (offset) && \
		sizeof(((layout *)0)->member) == (bytes), #layout "." #member)

NCS_NCCL_SIZE(enum nccl_result, 4);
NCS_NCCL_SIZE(enum nccl_log_level, 4);
NCS_NCCL_SIZE(enum nccl_event_type, 4);
NCS_NCCL_SIZE(enum nccl_event_state, 4);
NCS_NCCL_SIZE(nccl_debug_logger, 8);

NCS_NCCL_SIZE(struct nccl_profiler, 48);
NCS_NCCL_FIELD(struct nccl_profiler, name, 0, 8);
NCS_NCCL_FIELD(struct nccl_profiler, init, 8, 8);
NCS_NCCL_FIELD(struct nccl_profiler, start_event, 16, 8);
NCS_NCCL_FIELD(struct nccl_profiler, stop_event, 24, 8);
NCS_NCCL_FIELD(struct nccl_profiler, record_event_state, 32, 8);
NCS_NCCL_FIELD(struct nccl_profiler, finalize, 40, 8);

#define NCS_NCCL_HEAD(layout, bytes, type_bytes) \
	NCS_NCCL_SIZE(layout, bytes); \
	NCS_NCCL_FIELD(layout, type, 0, type_bytes); \
	NCS_NCCL_FIELD(layout, parent, 8, 8); \
	NCS_NCCL_FIELD(layout, rank, 16, 4)

NCS_NCCL_HEAD(struct nccl_event_descr_v1, 120, 1);
NCS_NCCL_HEAD(struct nccl_event_descr_v2, 128, 1);
NCS_NCCL_HEAD(struct nccl_event_descr_v3, 120, 1);
NCS_NCCL_HEAD(struct nccl_event_descr_v4, 136, 1);
NCS_NCCL_HEAD(struct nccl_event_descr_v5, 136, 8);

/* coll */
NCS_NCCL_FIELD(struct nccl_event_descr_v1, coll, 24, 96);
NCS_NCCL_FIELD(struct nccl_event_descr_v1, coll.comm_name, 24, 8);
NCS_NCCL_FIELD(struct nccl_event_descr_v1, coll.comm_hash, 32, 8);
NCS_NCCL_FIELD(struct nccl_event_descr_v1, coll.seq_number, 40, 8);
NCS_NCCL_FIELD(struct nccl_event_descr_v1, coll.func, 48, 1);
NCS_NCCL_FIELD(struct nccl_event_descr_v1, coll.send_buffer, 56, 8);
NCS_NCCL_FIELD(struct nccl_event_descr_v1, coll.recv_buffer, 64, 8);
NCS_NCCL_FIELD(struct nccl_event_descr_v1, coll.count, 72, 8);
NCS_NCCL_FIELD(struct nccl_event_descr_v1, coll.root, 80, 4);
NCS_NCCL_FIELD(struct nccl_event_descr_v1, coll.datatype, 84, 1);
NCS_NCCL_FIELD(struct nccl_event_descr_v1, coll.reduction, 88, 4);
NCS_NCCL_FIELD(struct nccl_event_descr_v1, coll.traffic_bytes, 96, 8);
NCS_NCCL_FIELD(struct nccl_event_descr_v1, coll.max_channels, 104, 1);
NCS_NCCL_FIELD(struct nccl_event_descr_v1, coll.warps, 105, 1);
NCS_NCCL_FIELD(struct nccl_event_descr_v1, coll.algorithm, 106, 1);
NCS_NCCL_FIELD(struct nccl_event_descr_v1, coll.protocol, 107, 1);
NCS_NCCL_FIELD(struct nccl_event_descr_v1, coll.is_collnet, 108, 4);
NCS_NCCL_FIELD(struct nccl_event_descr_v1, coll.is_nvls, 112, 4);

NCS_NCCL_FIELD(struct nccl_event_descr_v2, coll, 24, 104);
NCS_NCCL_FIELD(struct nccl_event_descr_v2, coll.comm_name, 24, 8);
NCS_NCCL_FIELD(struct nccl_event_descr_v2, coll.comm_hash, 32, 8);
NCS_NCCL_FIELD(struct nccl_event_descr_v2, coll.seq_number, 40, 8);
NCS_NCCL_FIELD(struct nccl_event_descr_v2, coll.func, 48, 8);
NCS_NCCL_FIELD(struct nccl_event_descr_v2, coll.send_buffer, 56, 8);
NCS_NCCL_FIELD(struct nccl_event_descr_v2, coll.recv_buffer, 64, 8);
NCS_NCCL_FIELD(struct nccl_event_descr_v2, coll.count, 72, 8);
NCS_NCCL_FIELD(struct nccl_event_descr_v2, coll.root, 80, 4);
NCS_NCCL_FIELD(struct nccl_event_descr_v2, coll.datatype, 88, 8);
NCS_NCCL_FIELD(struct nccl_event_descr_v2, coll.traffic_bytes, 96, 8);
NCS_NCCL_FIELD(struct nccl_event_descr_v2, coll.max_channels, 104, 1);
NCS_NCCL_FIELD(struct nccl_event_descr_v2, coll.warps, 105, 1);
NCS_NCCL_FIELD(struct nccl_event_descr_v2, coll.algorithm, 112, 8);
NCS_NCCL_FIELD(struct nccl_event_descr_v2, coll.protocol, 120, 8);

NCS_NCCL_FIELD(struct nccl_event_descr_v3, coll, 24, 96);
NCS_NCCL_FIELD(struct nccl_event_descr_v3, coll.comm_name, 24, 8);
NCS_NCCL_FIELD(struct nccl_event_descr_v3, coll.comm_hash, 32, 8);
NCS_NCCL_FIELD(struct nccl_event_descr_v3, coll.seq_number, 40, 8);
NCS_NCCL_FIELD(struct nccl_event_descr_v3, coll.func, 48, 8);
NCS_NCCL_FIELD(struct nccl_event_descr_v3, coll.send_buffer, 56, 8);
NCS_NCCL_FIELD(struct nccl_event_descr_v3, coll.recv_buffer, 64, 8);
NCS_NCCL_FIELD(struct nccl_event_descr_v3, coll.count, 72, 8);
NCS_NCCL_FIELD(struct nccl_event_descr_v3, coll.root, 80, 4);
NCS_NCCL_FIELD(struct nccl_event_descr_v3, coll.datatype, 88, 8);
NCS_NCCL_FIELD(struct nccl_event_descr_v3, coll.max_channels, 96, 1);
NCS_NCCL_FIELD(struct nccl_event_descr_v3, coll.warps, 97, 1);
NCS_NCCL_FIELD(struct nccl_event_descr_v3, coll.algorithm, 104, 8);
NCS_NCCL_FIELD(struct nccl_event_descr_v3, coll.protocol, 112, 8);

#define NCS_NCCL_COLL_SINCE_V4(layout) \
	NCS_NCCL_FIELD(layout, coll, 24, 112); \
	NCS_NCCL_FIELD(layout, coll.seq_number, 24, 8); \
	NCS_NCCL_FIELD(layout, coll.func, 32, 8); \
	NCS_NCCL_FIELD(layout, coll.send_buffer, 40, 8); \
	NCS_NCCL_FIELD(layout, coll.recv_buffer, 48, 8); \
	NCS_NCCL_FIELD(layout, coll.count, 56, 8); \
	NCS_NCCL_FIELD(layout, coll.root, 64, 4); \
	NCS_NCCL_FIELD(layout, coll.datatype, 72, 8); \
	NCS_NCCL_FIELD(layout, coll.channels, 80, 1); \
	NCS_NCCL_FIELD(layout, coll.warps, 81, 1); \
	NCS_NCCL_FIELD(layout, coll.algorithm, 88, 8); \
	NCS_NCCL_FIELD(layout, coll.protocol, 96, 8); \
	NCS_NCCL_FIELD(layout, coll.parent_group, 104, 8); \
	NCS_NCCL_FIELD(layout, coll.kernel_variant, 112, 8); \
	NCS_NCCL_FIELD(layout, coll.is_symmetric, 120, 1); \
	NCS_NCCL_FIELD(layout, coll.user_tag, 128, 8)

NCS_NCCL_COLL_SINCE_V4(struct nccl_event_descr_v4);
NCS_NCCL_COLL_SINCE_V4(struct nccl_event_descr_v5);

/* p2p */
NCS_NCCL_FIELD(struct nccl_event_descr_v1, p2p, 24, 56);
NCS_NCCL_FIELD(struct nccl_event_descr_v1, p2p.comm_name, 24, 8);
NCS_NCCL_FIELD(struct nccl_event_descr_v1, p2p.comm_hash, 32, 8);
NCS_NCCL_FIELD(struct nccl_event_descr_v1, p2p.func, 40, 1);
NCS_NCCL_FIELD(struct nccl_event_descr_v1, p2p.buffer, 48, 8);
NCS_NCCL_FIELD(struct nccl_event_descr_v1, p2p.datatype, 56, 1);
NCS_NCCL_FIELD(struct nccl_event_descr_v1, p2p.count, 64, 8);
NCS_NCCL_FIELD(struct nccl_event_descr_v1, p2p.peer, 72, 4);

#define NCS_NCCL_P2P_V2_V3(layout) \
	NCS_NCCL_FIELD(layout, p2p, 24, 56); \
	NCS_NCCL_FIELD(layout, p2p.comm_name, 24, 8); \
	NCS_NCCL_FIELD(layout, p2p.comm_hash, 32, 8); \
	NCS_NCCL_FIELD(layout, p2p.func, 40, 8); \
	NCS_NCCL_FIELD(layout, p2p.buffer, 48, 8); \
	NCS_NCCL_FIELD(layout, p2p.datatype, 56, 8); \
	NCS_NCCL_FIELD(layout, p2p.count, 64, 8); \
	NCS_NCCL_FIELD(layout, p2p.peer, 72, 4)

NCS_NCCL_P2P_V2_V3(struct nccl_event_descr_v2);
NCS_NCCL_P2P_V2_V3(struct nccl_event_descr_v3);

#define NCS_NCCL_P2P_SINCE_V4(layout) \
	NCS_NCCL_FIELD(layout, p2p, 24, 56); \
	NCS_NCCL_FIELD(layout, p2p.func, 24, 8); \
	NCS_NCCL_FIELD(layout, p2p.buffer, 32, 8); \
	NCS_NCCL_FIELD(layout, p2p.datatype, 40, 8); \
	NCS_NCCL_FIELD(layout, p2p.count, 48, 8); \
	NCS_NCCL_FIELD(layout, p2p.peer, 56, 4); \
	NCS_NCCL_FIELD(layout, p2p.channels, 60, 1); \
	NCS_NCCL_FIELD(layout, p2p.parent_group, 64, 8); \
	NCS_NCCL_FIELD(layout, p2p.user_tag, 72, 8)

NCS_NCCL_P2P_SINCE_V4(struct nccl_event_descr_v4);
NCS_NCCL_P2P_SINCE_V4(struct nccl_event_descr_v5);

/* proxy_op and proxy_step */
#define NCS_NCCL_PROXY(layout) \
	NCS_NCCL_FIELD(layout, proxy_op, 24, 24); \
	NCS_NCCL_FIELD(layout, proxy_op.pid, 24, 4); \
	NCS_NCCL_FIELD(layout, proxy_op.channel, 28, 1); \
	NCS_NCCL_FIELD(layout, proxy_op.peer, 32, 4); \
	NCS_NCCL_FIELD(layout, proxy_op.steps, 36, 4); \
	NCS_NCCL_FIELD(layout, proxy_op.chunk_bytes, 40, 4); \
	NCS_NCCL_FIELD(layout, proxy_op.is_send, 44, 4); \
	NCS_NCCL_FIELD(layout, proxy_step, 24, 4); \
	NCS_NCCL_FIELD(layout, proxy_step.step, 24, 4)

NCS_NCCL_PROXY(struct nccl_event_descr_v1);
NCS_NCCL_PROXY(struct nccl_event_descr_v2);
NCS_NCCL_PROXY(struct nccl_event_descr_v3);
NCS_NCCL_PROXY(struct nccl_event_descr_v4);
NCS_NCCL_PROXY(struct nccl_event_descr_v5);

/* kernel_ch */
NCS_NCCL_FIELD(struct nccl_event_descr_v3, kernel_ch, 24, 1);
NCS_NCCL_FIELD(struct nccl_event_descr_v3, kernel_ch.channel, 24, 1);

#define NCS_NCCL_KERNEL_CH(layout) \
	NCS_NCCL_FIELD(layout, kernel_ch, 24, 16); \
	NCS_NCCL_FIELD(layout, kernel_ch.channel, 24, 1); \
	NCS_NCCL_FIELD(layout, kernel_ch.gpu_timer_ns, 32, 8)

NCS_NCCL_KERNEL_CH(struct nccl_event_descr_v4);
NCS_NCCL_KERNEL_CH(struct nccl_event_descr_v5);

/* net_plugin */
#define NCS_NCCL_NET_PLUGIN_EVENT(layout) \
	NCS_NCCL_FIELD(layout, net_plugin, 24, 16); \
	NCS_NCCL_FIELD(layout, net_plugin.id, 24, 8); \
	NCS_NCCL_FIELD(layout, net_plugin.data, 32, 8)

NCS_NCCL_NET_PLUGIN_EVENT(struct nccl_event_descr_v3);
NCS_NCCL_NET_PLUGIN_EVENT(struct nccl_event_descr_v4);
NCS_NCCL_NET_PLUGIN_EVENT(struct nccl_event_descr_v5);

/* group_api, coll_api, p2p_api, kernel_launch */
NCS_NCCL_FIELD(struct nccl_event_descr_v5, group_api, 24, 8);
NCS_NCCL_FIELD(struct nccl_event_descr_v5, group_api.graph_captured, 24, 1);
NCS_NCCL_FIELD(struct nccl_event_descr_v5, group_api.depth, 28, 4);
NCS_NCCL_FIELD(struct nccl_event_descr_v5, coll_api, 24, 56);
NCS_NCCL_FIELD(struct nccl_event_descr_v5, coll_api.func, 24, 8);
NCS_NCCL_FIELD(struct nccl_event_descr_v5, coll_api.count, 32, 8);
NCS_NCCL_FIELD(struct nccl_event_descr_v5, coll_api.datatype, 40, 8);
NCS_NCCL_FIELD(struct nccl_event_descr_v5, coll_api.root, 48, 4);
NCS_NCCL_FIELD(struct nccl_event_descr_v5, coll_api.stream, 56, 8);
NCS_NCCL_FIELD(struct nccl_event_descr_v5, coll_api.graph_captured, 64, 1);
NCS_NCCL_FIELD(struct nccl_event_descr_v5, p2p_api, 24, 48);
NCS_NCCL_FIELD(struct nccl_event_descr_v5, p2p_api.func, 24, 8);
NCS_NCCL_FIELD(struct nccl_event_descr_v5, p2p_api.count, 32, 8);
NCS_NCCL_FIELD(struct nccl_event_descr_v5, p2p_api.datatype, 40, 8);
NCS_NCCL_FIELD(struct nccl_event_descr_v5, p2p_api.stream, 48, 8);
NCS_NCCL_FIELD(struct nccl_event_descr_v5, p2p_api.graph_captured, 56, 1);
NCS_NCCL_FIELD(struct nccl_event_descr_v5, kernel_launch, 24, 8);
NCS_NCCL_FIELD(struct nccl_event_descr_v5, kernel_launch.stream, 24, 8);
NCS_NCCL_FIELD(struct nccl_event_descr_v5, coll_api.user_tag, 72, 8);
NCS_NCCL_FIELD(struct nccl_event_descr_v5, p2p_api.user_tag, 64, 8);

/* ce_coll, ce_sync, ce_batch */
NCS_NCCL_FIELD(struct nccl_event_descr_v5, ce_coll, 24, 96);
NCS_NCCL_FIELD(struct nccl_event_descr_v5, ce_coll.seq_number, 24, 8);
NCS_NCCL_FIELD(struct nccl_event_descr_v5, ce_coll.func, 32, 8);
NCS_NCCL_FIELD(struct nccl_event_descr_v5, ce_coll.send_buffer, 40, 8);
NCS_NCCL_FIELD(struct nccl_event_descr_v5, ce_coll.recv_buffer, 48, 8);
NCS_NCCL_FIELD(struct nccl_event_descr_v5, ce_coll.count, 56, 8);
NCS_NCCL_FIELD(struct nccl_event_descr_v5, ce_coll.root, 64, 4);
NCS_NCCL_FIELD(struct nccl_event_descr_v5, ce_coll.datatype, 72, 8);
NCS_NCCL_FIELD(struct nccl_event_descr_v5, ce_coll.sync_strategy, 80, 8);
NCS_NCCL_FIELD(struct nccl_event_descr_v5, ce_coll.intra_batch_sync, 88, 1);
NCS_NCCL_FIELD(struct nccl_event_descr_v5, ce_coll.batch_size, 92, 4);
NCS_NCCL_FIELD(struct nccl_event_descr_v5, ce_coll.batches, 96, 4);
NCS_NCCL_FIELD(struct nccl_event_descr_v5, ce_coll.ce_seq_number, 100, 4);
NCS_NCCL_FIELD(struct nccl_event_descr_v5, ce_coll.stream, 104, 8);
NCS_NCCL_FIELD(struct nccl_event_descr_v5, ce_sync, 24, 8);
NCS_NCCL_FIELD(struct nccl_event_descr_v5, ce_sync.is_complete, 24, 1);
NCS_NCCL_FIELD(struct nccl_event_descr_v5, ce_sync.nranks, 28, 4);
NCS_NCCL_FIELD(struct nccl_event_descr_v5, ce_batch, 24, 24);
NCS_NCCL_FIELD(struct nccl_event_descr_v5, ce_batch.ops, 24, 4);
NCS_NCCL_FIELD(struct nccl_event_descr_v5, ce_batch.total_bytes, 32, 8);
NCS_NCCL_FIELD(struct nccl_event_descr_v5, ce_batch.use_intra_sync, 40, 1);
NCS_NCCL_FIELD(struct nccl_event_descr_v5, ce_coll.user_tag, 112, 8);

/* kernel_phase */
NCS_NCCL_FIELD(struct nccl_event_descr_v5, kernel_phase, 24, 24);
NCS_NCCL_FIELD(struct nccl_event_descr_v5, kernel_phase.channel, 24, 1);
NCS_NCCL_FIELD(struct nccl_event_descr_v5, kernel_phase.phase, 25, 1);
NCS_NCCL_FIELD(struct nccl_event_descr_v5, kernel_phase.phase_name, 32, 8);
NCS_NCCL_FIELD(struct nccl_event_descr_v5, kernel_phase.gpu_timer_ns, 40, 8);

/* state args */
NCS_NCCL_SIZE(union nccl_state_args_v1, 16);
NCS_NCCL_FIELD(union nccl_state_args_v1, proxy_op, 0, 16);
NCS_NCCL_FIELD(union nccl_state_args_v1, proxy_op.transferred_bytes, 0, 8);
NCS_NCCL_FIELD(union nccl_state_args_v1, proxy_op.steps, 8, 4);
NCS_NCCL_FIELD(union nccl_state_args_v1, proxy_ctrl, 0, 4);
NCS_NCCL_FIELD(union nccl_state_args_v1, proxy_ctrl.appended_ops, 0, 4);

NCS_NCCL_SIZE(union nccl_state_args_v4, 8);
NCS_NCCL_FIELD(union nccl_state_args_v4, proxy_step, 0, 8);
NCS_NCCL_FIELD(union nccl_state_args_v4, proxy_step.transferred_bytes, 0, 8);
NCS_NCCL_FIELD(union nccl_state_args_v4, proxy_ctrl, 0, 4);
NCS_NCCL_FIELD(union nccl_state_args_v4, proxy_ctrl.appended_ops, 0, 4);
NCS_NCCL_FIELD(union nccl_state_args_v4, net_plugin, 0, 8);
NCS_NCCL_FIELD(union nccl_state_args_v4, net_plugin.data, 0, 8);
NCS_NCCL_FIELD(union nccl_state_args_v4, kernel_ch, 0, 8);
NCS_NCCL_FIELD(union nccl_state_args_v4, kernel_ch.gpu_timer_ns, 0, 8);

/* net plugin descriptors */
NCS_NCCL_SIZE(struct nccl_net_ib_descr_v1, 40);
NCS_NCCL_FIELD(struct nccl_net_ib_descr_v1, type, 0, 1);
NCS_NCCL_FIELD(struct nccl_net_ib_descr_v1, queue_pair, 8, 32);
NCS_NCCL_FIELD(struct nccl_net_ib_descr_v1, queue_pair.device, 8, 4);
NCS_NCCL_FIELD(struct nccl_net_ib_descr_v1, queue_pair.work_request, 16, 8);
NCS_NCCL_FIELD(struct nccl_net_ib_descr_v1, queue_pair.opcode, 24, 4);
NCS_NCCL_FIELD(struct nccl_net_ib_descr_v1, queue_pair.number, 28, 4);
NCS_NCCL_FIELD(struct nccl_net_ib_descr_v1, queue_pair.length_bytes, 32, 8);
NCS_NCCL_SIZE(struct nccl_net_socket_descr_v1, 24);
NCS_NCCL_FIELD(struct nccl_net_socket_descr_v1, type, 0, 1);
NCS_NCCL_FIELD(struct nccl_net_socket_descr_v1, socket, 8, 16);
NCS_NCCL_FIELD(struct nccl_net_socket_descr_v1, socket.fd, 8, 4);
NCS_NCCL_FIELD(struct nccl_net_socket_descr_v1, socket.op, 12, 4);
NCS_NCCL_FIELD(struct nccl_net_socket_descr_v1, socket.length_bytes, 16, 8);

#endif
