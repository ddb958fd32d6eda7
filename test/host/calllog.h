/* SPDX-License-Identifier: MIT */
/* A call log read into memory: the calls that NCCL made to a profiler plugin in
 * one process, in order. test/captures/README.md describes the format.
 *
 * Reading is strict: a line that does not match the format exactly is an error
 * with file and line. Nothing in here depends on any plugin.
 */
#ifndef NCS_TEST_HOST_CALLLOG_H
#define NCS_TEST_HOST_CALLLOG_H

#include <stddef.h>
#include <stdint.h>

/*
 * Every key: name in C, name in the log, what its value is.
 *   INT    int, decimal, may be negative
 *   BYTE   0 to 255, decimal
 *   WORD   32 bits, unsigned, decimal
 *   LONG   64 bits, unsigned, decimal
 *   HEX    64 bits, hexadecimal without prefix
 *   TEXT   the characters up to the next space; "-" is NULL
 *   NAME   as TEXT, but a BYTE when the log is of API 1
 */
#define CALLLOG_KEYS(KEY) \
	KEY(HANDLE, "h", LONG) \
	KEY(CONTEXT, "ctx", LONG) \
	KEY(COMM, "comm", HEX) \
	KEY(COMM_NAME, "name", TEXT) \
	KEY(NNODES, "nnodes", INT) \
	KEY(NRANKS, "nranks", INT) \
	KEY(RANK, "rank", INT) \
	KEY(MASK, "mask", INT) \
	KEY(TYPE, "type", LONG) \
	KEY(PARENT, "parent", LONG) \
	KEY(SEQ_NUMBER, "seq", LONG) \
	KEY(FUNC, "func", NAME) \
	KEY(SEND_BUFFER, "sb", HEX) \
	KEY(RECV_BUFFER, "rb", HEX) \
	KEY(BUFFER, "buf", HEX) \
	KEY(COUNT, "count", LONG) \
	KEY(ROOT, "root", INT) \
	KEY(DATATYPE, "dt", NAME) \
	KEY(REDUCTION, "op", WORD) \
	KEY(TRAFFIC, "traffic", LONG) \
	KEY(CHANNELS, "nch", BYTE) \
	KEY(WARPS, "nwarps", BYTE) \
	KEY(ALGORITHM, "algo", NAME) \
	KEY(PROTOCOL, "proto", NAME) \
	KEY(COLLNET, "collnet", INT) \
	KEY(NVLS, "nvls", INT) \
	KEY(PARENT_GROUP, "pgroup", LONG) \
	KEY(PEER, "peer", INT) \
	KEY(PID, "pid", INT) \
	KEY(CHANNEL, "ch", BYTE) \
	KEY(STEPS_PLANNED, "nsteps", INT) \
	KEY(CHUNK, "chunk", INT) \
	KEY(IS_SEND, "send", INT) \
	KEY(STEP, "step", INT) \
	KEY(GPU_TIMER, "ptimer", LONG) \
	KEY(GRAPH, "graph", BYTE) \
	KEY(DEPTH, "depth", INT) \
	KEY(STREAM, "stream", HEX) \
	KEY(USER_TAG, "tag", LONG) \
	KEY(VARIANT, "variant", TEXT) \
	KEY(SYMMETRIC, "sym", BYTE) \
	KEY(NET_ID, "id", LONG) \
	KEY(SYNC_STRATEGY, "sync", TEXT) \
	KEY(INTRA_SYNC, "intra", BYTE) \
	KEY(BATCH_SIZE, "batch", WORD) \
	KEY(BATCHES, "nbatches", WORD) \
	KEY(CE_SEQ_NUMBER, "ceseq", WORD) \
	KEY(IS_COMPLETE, "complete", BYTE) \
	KEY(OPS, "ops", INT) \
	KEY(TOTAL, "bytes", LONG) \
	KEY(PHASE, "phase", BYTE) \
	KEY(PHASE_NAME, "pname", TEXT) \
	KEY(STATE, "state", INT) \
	KEY(APPENDED, "appended", INT) \
	KEY(DATA, "data", HEX) \
	KEY(SIZE, "size", LONG) \
	KEY(STEPS, "steps", INT)

#define CALLLOG_KEY_ENUM(id, name, kind) CALLLOG_KEY_##id,
enum calllog_key {
	CALLLOG_KEYS(CALLLOG_KEY_ENUM)
	CALLLOG_KEYS_END
};
#undef CALLLOG_KEY_ENUM

/* The value is the letter in the log. */
enum calllog_verb {
	CALLLOG_INIT = 'I',
	CALLLOG_START = 'S',
	CALLLOG_RECORD = 'R',
	CALLLOG_STOP = 'E',
	CALLLOG_FINALIZE = 'F',
};

struct calllog_field {
	enum calllog_key key;
	union {
		uint64_t number;	/* INT: as int64_t */
		const char *text;	/* lives as long as the process */
	};
};

struct calllog_call {
	uint64_t time_ns;		/* CLOCK_MONOTONIC when recorded */
	int tid;
	unsigned line;
	unsigned life;			/* how often the plugin was closed
					 * before */
	enum calllog_verb verb;
	unsigned field_count;
	const struct calllog_field *fields;
};

struct calllog {
	char *path;
	int api;			/* 1 to 7 */
	int pid;
	uint64_t realtime_ns;		/* at the same time as base_monotonic */
	uint64_t monotonic_ns;
	size_t call_count;
	struct calllog_call *calls;
	uint64_t handle_max;		/* largest number of each kind */
	uint64_t context_max;
	unsigned life_count;
	struct calllog_field *fields;	/* of all calls; private */
};

/* Reads a file, plain or xz, as its content shows. Returns 0 and a log, to be
 * freed with calllog_free(), or -errno and a message that begins with the path.
 * One thread at a time: texts are kept in one table for the life of the
 * process. */
int calllog_read(const char *path, struct calllog **log, char *message,
	size_t message_bytes);

/* Does what calllog_read() does, from memory; `path` is used in messages
 * only. */
int calllog_parse(const char *path, const char *text, size_t text_bytes,
	struct calllog **log, char *message, size_t message_bytes);

void calllog_free(struct calllog *log);

/* Returns the field, or NULL if the call has no such key. */
const struct calllog_field *calllog_find(const struct calllog_call *call,
	enum calllog_key key);

/* Return the value, or 0 or NULL if the call has no such key. */
uint64_t calllog_number(const struct calllog_call *call, enum calllog_key key);
int calllog_int(const struct calllog_call *call, enum calllog_key key);
const char *calllog_text(const struct calllog_call *call,
	enum calllog_key key);

#endif
