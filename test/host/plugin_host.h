/* SPDX-License-Identifier: MIT */
/*
 * The part of NCCL that a profiler plugin sees: loads a plugin's library, and
 * makes the calls of one API version with everything laid out as NCCL lays it
 * out. No NCCL, no GPU.
 *
 * Three ways to use it:
 *  - by hand, a call at a time: host_init(), host_start(), host_record(),
 *    host_stop(), host_finalize(). Arguments are passed on as they are, so
 *    that a test can be as hostile as it likes.
 *  - at full speed: host_lay_out() once, then host_start_descr() and
 *    host_record_args(), which add one branch to the plugin's own cost.
 *  - from a log: host_use_log() once, then host_call() for each call. Logged
 *    handles and contexts become what this plugin returned.
 *
 * Threads: host_start(), host_record(), host_stop(), host_init(),
 * host_finalize() and the two fast ones may be called by any number of
 * threads at a time, as NCCL does. All others: one thread at a time.
 */
#ifndef NCS_TEST_HOST_PLUGIN_HOST_H
#define NCS_TEST_HOST_PLUGIN_HOST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "plugin/nccl/nccl_abi.h"
#include "test/host/calllog.h"

/* What *handle holds before startEvent of API 4 and later is called. */
#define HOST_GARBAGE_HANDLE ((void *)(uintptr_t)UINT64_C(0xa5a5a5a5a5a5a5a5))

/* What every byte holds that NCCL leaves unset. */
#define HOST_GARBAGE_BYTE 0xa5

struct host;

/* What init is told. API 1-3: nothing of it. */
struct host_comm {
	uint64_t id;
	const char *name;
	int nnodes;
	int nranks;
	int rank;
};

/*
 * An event of any type and API version: what does not belong to `type`, or
 * not to the API, is not looked at. Texts must outlive the plugin's use.
 */
struct host_event {
	uint64_t type;			/* NCCL_EVENT_* */
	void *parent;
	int rank;

	const char *comm_name;		/* Coll, P2p of API 1-3 */
	uint64_t comm_hash;
	uint64_t seq_number;
	const char *func;
	const char *datatype;
	const char *algorithm;
	const char *protocol;
	uint8_t func_number;		/* API 1 has these for the texts */
	uint8_t datatype_number;
	uint8_t algorithm_number;
	uint8_t protocol_number;
	void *send_buffer;
	void *recv_buffer;		/* P2p: the buffer */
	size_t count;
	int root;
	int peer;			/* P2p, ProxyOp */
	uint32_t reduction;		/* API 1 */
	size_t traffic_bytes;		/* API 1 and 2 */
	int is_collnet;			/* API 1 */
	int is_nvls;			/* API 1 */
	uint8_t channels;
	uint8_t warps;
	void *parent_group;
	const char *kernel_variant;	/* API 7 */
	uint8_t is_symmetric;		/* API 7 */
	uint64_t user_tag;		/* API 7 */

	void *stream;			/* the API events, KernelLaunch */
	uint8_t graph_captured;
	int depth;			/* GroupApi */

	int pid;			/* ProxyOp */
	uint8_t channel;		/* ProxyOp, KernelCh, KernelPhase */
	int steps;
	int chunk_bytes;
	int is_send;
	int step;			/* ProxyStep */
	uint64_t gpu_timer_ns;		/* KernelCh, KernelPhase */
	int64_t net_id;			/* NetPlugin */
	void *net_data;

	const char *sync_strategy;	/* CeColl */
	uint8_t intra_sync;		/* CeColl, CeBatch */
	uint32_t batch_size;
	uint32_t batches;
	uint32_t ce_seq_number;
	uint8_t is_complete;		/* CeSync */
	int nranks;
	int ops;			/* CeBatch */
	size_t total_bytes;
	uint8_t phase;			/* KernelPhase */
	const char *phase_name;
};

/* The arguments of a state, of any API version. */
struct host_state {
	int state;			/* NCCL_STATE_* */
	bool without_args;		/* NCCL passes NULL */
	uint64_t size_bytes;
	int steps;			/* API 1-3 */
	int appended_ops;
	uint64_t gpu_timer_ns;
	void *net_data;
};


/*
 * Opens the library and finds ncclProfiler_v<api> in it. Returns 0, or -errno
 * and a sentence in `message`.
 */
int host_open(struct host **host, const char *path, int api, char *message,
	size_t message_bytes);

/* Closes the library, whatever still lives in it, and frees the host. */
void host_close(struct host *host);

int host_api(const struct host *host);

/* The name in the plugin's table. */
const char *host_plugin_name(const struct host *host);

/*
 * The mask that the plugin asked for. There is one for the process, in the
 * same place for ever, as in NCCL; the first host_open() clears it.
 */
int host_mask(void);

/*
 * Somebody else sets it, as NCCL's RAS client can.
 */
void host_set_mask(int mask);

/*
 * By hand. The results are the plugin's.
 */
enum nccl_result host_init(struct host *host, const struct host_comm *comm,
	void **context);
enum nccl_result host_start(struct host *host, void *context,
	const struct host_event *event, void **handle);
enum nccl_result host_record(struct host *host, void *handle,
	const struct host_state *state);
enum nccl_result host_stop(struct host *host, void *handle);
enum nccl_result host_finalize(struct host *host, void *context);

/*
 * At full speed. host_start_descr() leaves *handle as it is before the call.
 */
void host_lay_out(const struct host *host, const struct host_event *event,
	union nccl_event_descr *descr);
void host_lay_out_args(const struct host *host,
	const struct host_state *state, union nccl_state_args *args);
enum nccl_result host_start_descr(struct host *host, void *context,
	union nccl_event_descr *descr, void **handle);
enum nccl_result host_record_args(struct host *host, void *handle, int state,
	union nccl_state_args *args);

/*
 * From a log.
 */

/* Added to what the log has; a repeated replay counts on in this way. */
struct host_shift {
	uint64_t seq_number;
	uint64_t gpu_timer_ns;
};

struct host_counts {
	uint64_t made;			/* calls that reached the plugin */
	uint64_t skipped_null;		/* record, stop: the plugin gave NULL */
	uint64_t skipped_dropped;	/* the handle was dropped before */
	uint64_t skipped_disabled;	/* init failed: NCCL calls no more */
	unsigned inits_failed;
	unsigned opened;		/* times that the library was opened */
};

/* Makes room for the log's handles and contexts. Returns 0 or -errno. */
int host_use_log(struct host *host, const struct calllog *log);

/*
 * Makes the call. `shift` may be NULL. The library is closed after the last
 * finalize and opened again by the next init. What NCCL would not do is not
 * done, but counted: record and stop for a handle that is NULL (except where
 * NCCL does not look), any call after a failed init up to API 4, finalize of
 * a NULL context from API 5 on. Returns 0, or -errno and a sentence.
 */
int host_call(struct host *host, const struct calllog_call *call,
	const struct host_shift *shift, char *message, size_t message_bytes);

/* Forgets all handles, as NCCL forgets those of an operation that failed. */
void host_drop_handles(struct host *host);

/* Finalizes the contexts of the log that live, then closes the library. */
void host_finalize_all(struct host *host);

/* What the plugin gave for the log's number of this life; NULL: nothing. */
void *host_handle(const struct host *host, uint64_t number);
void *host_context(const struct host *host, uint64_t number);

struct host_counts host_counts(const struct host *host);

/*
 * The event and the state that a log's call describes, before handles are
 * mapped: parent and parent_group are NULL, pid is the log's.
 */
void host_event_of_call(int api, const struct calllog_call *call,
	struct host_event *event);
void host_state_of_call(const struct calllog_call *call,
	struct host_state *state);

/*
 * The logger that init gets (API 4 and later) and that the host itself uses.
 * Lines go to stderr as NCCL_DEBUG asks (VERSION, WARN, INFO, TRACE), with
 * the prefix that NCCL writes; the last ones are kept in any case.
 */
void host_logger(enum nccl_log_level level, unsigned long subsystems,
	const char *file, int line, const char *format, ...)
	__attribute__((format(printf, 5, 6)));

/* How many lines were logged since the start or since host_log_clear(). */
unsigned host_log_count(void);

/* Copies the line that was logged `back` lines before the last one. */
bool host_log_line(unsigned back, char *line, size_t line_bytes);

/* Whether one of the kept lines contains the text. */
bool host_log_has(const char *text);

void host_log_clear(void);

#endif
