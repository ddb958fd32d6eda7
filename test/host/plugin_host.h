/* SPDX-License-Identifier: MIT */
/* The part of NCCL that a profiler plugin sees: loads a plugin's library, and
 * makes the calls of one API version with all arguments laid out as NCCL does.
 * NCCL and a GPU are not needed.
 *
 * Three ways to use it:
 *
 * - by hand, one call at a time: host_init(), host_start(), host_record(),
 *   host_stop(), host_finalize(). Arguments are passed on unchanged, so that a
 *   test can be as hostile as it likes;
 * - at full speed: host_lay_out() once, then host_start_descr() and
 *   host_record_args(), which add one branch to the plugin's own cost;
 * - from a log: host_use_log() once, then host_call() for each call. Logged
 *   handles and contexts are mapped to those that the plugin returned.
 *
 * Threads: host_start(), host_record(), host_stop(), host_init(),
 * host_finalize() and the two fast functions may be called by any number of
 * threads at a time, as NCCL does. All others: one thread at a time.
 */
#ifndef NCS_TEST_HOST_PLUGIN_HOST_H
#define NCS_TEST_HOST_PLUGIN_HOST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "plugin/nccl/nccl_abi.h"
#include "test/host/calllog.h"

/* The value of *handle before startEvent of API 4 and later. */
#define HOST_GARBAGE_HANDLE ((void *)(uintptr_t)UINT64_C(0xa5a5a5a5a5a5a5a5))

/* The value of every byte that NCCL leaves unset. */
#define HOST_GARBAGE_BYTE 0xa5

struct host;

/* The arguments of init. API 1 to 3 pass none of them. */
struct host_comm {
	uint64_t id;
	const char *name;
	int nnodes;
	int nranks;
	int rank;
};

/* An event of any type and API version; fields that do not belong to `type` or
 * to the API are ignored. Texts must outlive the plugin's use of them. */
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
	uint8_t func_number;		/* passed by API 1 in place of texts */
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


/* Opens the library and finds ncclProfiler_v<api> in it. Returns 0, or -errno
 * and a message. */
int host_open(struct host **host, const char *path, int api, char *message,
	size_t message_bytes);

/* Closes the library, even while contexts live in it, and frees the host. */
void host_close(struct host *host);

int host_api(const struct host *host);

/* Returns the name in the plugin's table. */
const char *host_plugin_name(const struct host *host);

/* Returns the mask that the plugin requested. As in NCCL, a process has one,
 * always at the same address; the first host_open() clears it. */
int host_mask(void);

/* Sets the mask as others may do, e.g. NCCL's RAS client. */
void host_set_mask(int mask);

/* Calls by hand. They return the plugin's results. */
enum nccl_result host_init(struct host *host, const struct host_comm *comm,
	void **context);
enum nccl_result host_start(struct host *host, void *context,
	const struct host_event *event, void **handle);
enum nccl_result host_record(struct host *host, void *handle,
	const struct host_state *state);
enum nccl_result host_stop(struct host *host, void *handle);
enum nccl_result host_finalize(struct host *host, void *context);

/* Calls at full speed. host_start_descr() leaves *handle unchanged before the
 * call. */
void host_lay_out(const struct host *host, const struct host_event *event,
	union nccl_event_descr *descr);
void host_lay_out_args(const struct host *host,
	const struct host_state *state, union nccl_state_args *args);
enum nccl_result host_start_descr(struct host *host, void *context,
	union nccl_event_descr *descr, void **handle);
enum nccl_result host_record_args(struct host *host, void *handle, int state,
	union nccl_state_args *args);

/* Calls from a log. */

/* Added to the values in the log; a repeated replay continues its numbers with
 * it. */
struct host_shift {
	uint64_t seq_number;
	uint64_t gpu_timer_ns;
};

struct host_counts {
	uint64_t made;			/* calls that reached the plugin */
	uint64_t skipped_null;		/* record, stop of a NULL handle */
	uint64_t skipped_dropped;	/* the handle had been dropped */
	uint64_t skipped_disabled;	/* after a failed init */
	unsigned inits_failed;
	unsigned opened;		/* how often the library was opened */
};

/* Allocates room for the log's handles and contexts. Returns 0 or -errno. */
int host_use_log(struct host *host, const struct calllog *log);

/* Makes a call of the log. `shift` may be NULL. The library is closed after the
 * last finalize and opened again by the next init. Calls that NCCL would not
 * make are counted instead: record and stop for a handle that is NULL (except
 * where NCCL does not check), any call after a failed init up to API 4,
 * finalize of a NULL context from API 5 on. Returns 0, or -errno and a
 * message. */
int host_call(struct host *host, const struct calllog_call *call,
	const struct host_shift *shift, char *message, size_t message_bytes);

/* Drops all handles, as NCCL does with those of a failed operation. */
void host_drop_handles(struct host *host);

/* Finalizes the live contexts of the log, then closes the library. */
void host_finalize_all(struct host *host);

struct host_counts host_counts(const struct host *host);

/* Return the event and the state that a log's call describes, before handles
 * are mapped: parent and parent_group are NULL, pid is the log's. */
void host_event_of_call(int api, const struct calllog_call *call,
	struct host_event *event);
void host_state_of_call(const struct calllog_call *call,
	struct host_state *state);

/* The logger that init gets (API 4 and later) and that the host itself uses.
 * Lines go to stderr according to NCCL_DEBUG (VERSION, WARN, INFO, TRACE), with
 * NCCL's prefix; the latest ones are kept in any case. */
void host_logger(enum nccl_log_level level, unsigned long subsystems,
	const char *file, int line, const char *format, ...)
	__attribute__((format(printf, 5, 6)));

/* Returns the number of lines logged since the start or since
 * host_log_clear(). */
unsigned host_log_count(void);

/* Tells whether one of the kept lines contains the text. */
bool host_log_has(const char *text);

void host_log_clear(void);

#endif
