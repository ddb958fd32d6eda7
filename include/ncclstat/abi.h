/* SPDX-License-Identifier: MIT */
/* The shared-memory segment that a rank publishes: layout, types, sizes.
 *
 * A process has one segment for each of its communicators. The plugin writes
 * it, readers map it read-only. All words are little-endian. This header has
 * types and asserts only; libncclstat (reader.h) reads segments, and
 * ncclstat-shm(5) describes the format for other programs.
 *
 *   header | labels | lanes | channels | operations | classes | rings | call rings
 *          | histograms | ranges | histograms of ranges
 *
 * A segment is not to be trusted: a reader validates offsets and counts once
 * against the file's size (shm/segment.h), and checks every index against that
 * validated copy.
 *
 * A block whose first word is `sequence` is under a seqlock (shm/seqlock.h): it
 * is copied word by word, and copied again if the sequence was odd or has
 * changed. All other words are valid each by itself.
 *
 * Times are ticks of the segment's clock (struct ncs_clock) unless their name
 * ends in _ns. Reserved and padding words are 0.
 */
#ifndef NCCLSTAT_ABI_H
#define NCCLSTAT_ABI_H

#include <assert.h>
#include <stddef.h>
#include <stdint.h>

#include "ncclstat/histogram.h"
#include "ncclstat/record.h"
#include "ncclstat/size_class.h"
#include "ncclstat/tables/channel_states.def"
#include "ncclstat/tables/cupti.def"
#include "ncclstat/tables/functions.def"
#include "ncclstat/tables/kernel_timing.def"
#include "ncclstat/tables/loss.def"
#include "ncclstat/tables/proxy_states.def"
#include "ncclstat/tables/timing_statuses.def"

#define NCS_MAGIC UINT64_C(0x544154534c43434e) /* "NCCLSTAT" */
#define NCS_BYTE_ORDER UINT32_C(0x01020304)

/* A reader accepts every minor version of its own major version: new fields are
 * added at the end of blocks, and table entries have the stride that the
 * segment states. */
#define NCS_ABI_MAJOR 1u
#define NCS_ABI_MINOR 11u
#define NCS_ABI_VERSION (NCS_ABI_MAJOR << 16 | NCS_ABI_MINOR)

enum ncs_channel_state {
#define X(ID, name, letter, label, help) NCS_CHANNEL_##ID,
	NCS_CHANNEL_STATES(X)
#undef X
	NCS_CHANNEL_STATE_COUNT
};

enum ncs_proxy_state {
#define X(ID, name, letter, help) NCS_PROXY_##ID,
	NCS_PROXY_STATES(X)
#undef X
	NCS_PROXY_STATE_COUNT
};

enum ncs_proxy_transition {
#define X(ID, name, help) NCS_TRANSITION_##ID,
	NCS_PROXY_TRANSITIONS(X)
#undef X
	NCS_TRANSITION_COUNT
};

enum ncs_function_id {
#define X(ID, name, size, numerator, denominator) NCS_FUNCTION_##ID,
	NCS_FUNCTIONS(X)
#undef X
	NCS_FUNCTION_COUNT
};

enum ncs_loss {
#define X(ID, ...) NCS_LOSS_##ID,
	NCS_LOSSES(X)
#undef X
	NCS_LOSS_COUNT
};

enum ncs_kernel_timing {
#define X(ID, name, help) NCS_KERNEL_TIMING_##ID,
	NCS_KERNEL_TIMINGS(X)
#undef X
	NCS_KERNEL_TIMING_COUNT
};

enum ncs_kernel_status {
#define X(ID, name, help) NCS_KERNEL_##ID,
	NCS_KERNEL_STATUSES(X)
#undef X
	NCS_KERNEL_STATUS_COUNT
};

enum ncs_stream_status {
#define X(ID, name, help) NCS_STREAM_##ID,
	NCS_STREAM_STATUSES(X)
#undef X
	NCS_STREAM_STATUS_COUNT
};

enum ncs_cupti_status {
#define X(ID, name, help) NCS_CUPTI_##ID,
	NCS_CUPTI_STATUSES(X)
#undef X
	NCS_CUPTI_STATUS_COUNT
};

#define NCS_FUNCTION_MAX 16
#define NCS_LOSS_MAX 16

static_assert((int)NCS_FUNCTION_COUNT <= NCS_FUNCTION_MAX,
	       "functions fit their table");
static_assert((int)NCS_LOSS_COUNT <= NCS_LOSS_MAX, "losses fit their table");
static_assert((int)NCS_EVENT_COUNT <= NCS_EVENT_MAX, "events fit their table");

enum ncs_clock_kind {
	NCS_CLOCK_MONOTONIC = 1, /* ticks are ns of CLOCK_MONOTONIC */
	NCS_CLOCK_TSC = 2,       /* x86 time stamp counter */
	NCS_CLOCK_CNTVCT = 3,    /* Arm's virtual counter */
};

/* The conversion of ticks to ns of CLOCK_MONOTONIC:
 *   base_monotonic_ns + ((ticks - base_ticks) * multiplier >> 32)
 * with a 128-bit product. The plugin measures the multiplier over a few ms when
 * it starts. A reader of the same boot that can read the same counter improves
 * it by measuring from the base until now (shm/clock.h). */
struct ncs_clock {
	uint64_t kind; /* enum ncs_clock_kind */
	uint64_t base_ticks;
	uint64_t base_monotonic_ns;
	uint64_t base_realtime_ns; /* CLOCK_REALTIME at the same time */
	uint64_t multiplier;       /* ns per tick, times 2^32 */
};

/* A table within the segment. */
struct ncs_table {
	uint64_t offset; /* bytes from the segment's start */
	uint32_t count;  /* entries */
	uint32_t stride; /* bytes from one entry to the next */
};

/* The publishing rank. Under a seqlock, since versions 1 to 3 of the profiler
 * API report it no earlier than the first operation. */
struct ncs_identity {
	uint64_t sequence;
	uint64_t known;   /* valid fields: bits of enum ncs_known */
	uint64_t comm_id; /* NCCL's communicator hash */
	int32_t rank;
	int32_t nranks;
	int32_t nnodes;
	int32_t nccl_version; /* as of ncclGetVersion: 22809 is 2.28.9 */
	char comm_name[128];  /* truncated, always terminated */
	char gpu[32];         /* PCI bus ID of the process's current device */
};

/* Bits of struct ncs_identity's known. */
enum ncs_known {
	NCS_KNOWN_COMM_ID = 1,
	NCS_KNOWN_COMM_NAME = 2,
	NCS_KNOWN_RANK = 4,
	NCS_KNOWN_NRANKS = 8,
	NCS_KNOWN_NNODES = 16,
	NCS_KNOWN_NCCL_VERSION = 32,
	NCS_KNOWN_GPU = 64,
};

/* The state of the proxy thread. When the state changes, the time since `since`
 * is added to the state being exited; until then it is not in time[]. */
struct ncs_proxy {
	uint64_t sequence;
	uint64_t state; /* enum ncs_proxy_state */
	uint64_t since; /* ticks at which the state was entered */
	uint64_t appended_operations; /* proxy operations that it took over */
	uint64_t time[8];  /* ticks, by enum ncs_proxy_state */
	uint64_t count[8]; /* transitions, by enum ncs_proxy_transition */
};

/* Sampling of the records of operations' children (NCS_RECORD_LEVEL()). `kept`
 * and `left_out` add up to the operations that started at a level above 0.
 * Sampling has no effect on tables, histograms and counters. */
struct ncs_sampling {
	uint64_t level;    /* in force: one operation in 2^level is chosen */
	uint64_t slow_ns;  /* an operation that takes longer is slow */
	uint64_t kept;     /* number of operations chosen */
	uint64_t left_out; /* number of operations not chosen */
	uint64_t slow;     /* of left_out: slow, hence kept from then on */
	uint64_t reserved[3];
};

/* The effect of kernel timing in the process. */
struct ncs_kernel {
	uint64_t status; /* enum ncs_kernel_status */
	uint64_t mode;   /* enum ncs_kernel_timing */
	/* Reserved from minor version 6 on. Before that, one group of calls in
	 * `period` was timed, unless it is 0; the counts are the
	 * communicator's. */
	uint64_t period;
	uint64_t timed_calls;
	uint64_t captured_on;  /* calls captured into CUDA graphs, timed */
	uint64_t captured_off; /* calls captured into CUDA graphs, not timed */
	uint64_t reserved[2];
};

/* Bounds of the GPU's clock (%globaltimer, ns of unknown origin) at one time of
 * the host's clock. Since the clocks drift, they hold for about a second. Under
 * a seqlock. */
struct ncs_gpu_clock {
	uint64_t sequence;
	uint64_t ticks;      /* time of the host's clock; 0: not known yet */
	uint64_t low_ns;     /* the GPU's clock then, lower bound */
	uint64_t high_ns;    /* the GPU's clock then, upper bound */
	uint64_t quantum_ns; /* resolution: its times are multiples of this */
	uint64_t samples;    /* number of kernel channels measured */
	uint64_t restarts;   /* number of contradictions between bounds */
	uint64_t reserved;
};

/* The settings of the plugin: the detail in force and the latest request from
 * outside (control_object.h). They are the process's and thus the same in all
 * its segments. Under a seqlock. */
struct ncs_settings {
	uint64_t sequence;
	uint64_t in_force;  /* a detail with all fields set; 0: not known yet */
	uint64_t asked;     /* word of the latest request handled; 0: none */
	uint64_t changes;   /* number of changes of the detail in force */
	uint64_t changed;   /* ticks of the latest change; 0: never */
	uint64_t refused;   /* refused part of that request: enum ncs_refusal */
	uint64_t lease_until_ns; /* CLOCK_MONOTONIC; 0: no lease is in force */
	uint64_t lease_holder;   /* as in the control object; 0: none */
};

/* Times of a GPU's kernels, from CUPTI, summed over the GPUs of the process.
 * Kernels of NCCL are communication, all others compute. Each word is valid by
 * itself. */
struct ncs_gpu_time {
	uint64_t compute_kernels;
	uint64_t compute_ns;      /* sum of their durations */
	uint64_t compute_busy_ns; /* time in which at least one of them ran */
	uint64_t communication_kernels;
	uint64_t communication_ns;
	/* The part of communication_ns during which the GPU also computed, in
	 * any range. */
	uint64_t hidden_ns;
};

/* The effect of NCCLSTAT_CUPTI. The status is the process's and the same in all
 * its segments. Kernels belong to no communicator: one segment has them, here
 * and in its ranges, so that the process's numbers are the sums over its
 * segments. */
struct ncs_cupti {
	uint64_t status; /* enum ncs_cupti_status */
	struct ncs_gpu_time total;
	uint64_t unplaced; /* kernels in no range, as their launch is unknown */
	/* Number of records that CUPTI had no room for, of kernels without
	 * times, and of kernels reported too late to be counted in full. */
	uint64_t lost;
	uint64_t reserved[3];
};

/* The used parts of tables; readers need not read the rest. */
struct ncs_filled {
	uint64_t channels;   /* number of entries in use: the first ones */
	uint64_t operations; /* number of slots given out so far, cyclically */
	/* Number of finished operations that were reopened, except those in the
	 * NCS_FILLED_RECENT slots given out last. */
	uint64_t revived;
	uint64_t reserved[3];
};

/* How many of the slots given out last a reader always reads, as they may be
 * filled in or reopened. */
#define NCS_FILLED_RECENT 64u

/* Launches of NCCL's kernels, followed by CUDA events on their streams. Launches
 * are numbered from 1 in a communicator; those captured into a graph have no
 * number. NCCL runs a communicator's launches one after the other, so when one
 * has ended, all earlier ones have ended, too.
 *
 * Each word is valid by itself. A reader that copies `ended` before `begun`,
 * and that before `followed` and `launched`, sees no launch end before it began.
 */
struct ncs_launch_progress {
	uint64_t status;      /* enum ncs_stream_status */
	uint64_t level;       /* one launch in 2^level is timed */
	uint64_t ended;       /* latest launch that is known to have ended */
	uint64_t ended_at;    /* ticks at which that was seen */
	uint64_t begun;       /* latest launch that is known to have begun */
	uint64_t begun_at;    /* ticks at which that was seen */
	uint64_t followed;    /* latest launch that the events cover */
	uint64_t launched;    /* latest launch */
	uint64_t launched_at; /* ticks at which it was launched */
	uint64_t timed;       /* number of launches that were timed */
	uint64_t captured;    /* number of launches captured into graphs */
	uint64_t bias_ns;     /* subtracted from times: half an empty pair's */
	uint64_t error_ns;    /* error of a begin on the host's clock; 0: unknown */
	uint64_t failure;     /* the driver's error number; 0: none */
	/* Ticks since when the plugin's watch thread has been inside a call of
	 * the driver; 0: it is not. */
	uint64_t watch_since;
	/* Number of launches that were to be timed and were not, since there
	 * were no events left, or their thread had no lane of its own; from
	 * minor version 7 on, 0 before that. */
	uint64_t missed;
};

/* Launches captured into CUDA graphs, and their replays, which the GPU reports.
 * The replayed operations of a communicator are in a segment of their own, whose
 * identity is the communicator's but for its comm_id, which NCCL does not know,
 * and its name, which ends with " graphs". */
struct ncs_graphs {
	uint64_t graphs;  /* number of captures with launches */
	uint64_t stamped; /* launches in them that report their replays */
	uint64_t failure; /* the driver's latest error number; 0: none */
	/* In the segment of the replays; 0 in others: */
	uint64_t are_replays; /* 1 */
	uint64_t of;	   /* comm_id of the communicator; 0 if unknown, too */
	uint64_t replays;  /* of all graphs */
	uint64_t launches; /* in them */
	uint64_t timed;	   /* those of them that were reported */
	uint64_t lost;	   /* reports that were overwritten unread */
};

enum ncs_life {
	NCS_LIFE_LIVE = 1,
	NCS_LIFE_FINISHED = 2, /* the communicator was finalized */
};

/* The header, at the start of the segment. */
struct ncs_header {
	uint64_t magic;   /* NCS_MAGIC */
	uint32_t version; /* NCS_ABI_VERSION; stored last, 0 until then */
	uint32_t byte_order;    /* NCS_BYTE_ORDER */
	uint32_t header_bytes;  /* sizeof(struct ncs_header) of the plugin */
	uint32_t record_bytes;  /* sizeof(struct ncs_record) */
	uint64_t segment_bytes; /* of the segment: at most the file's size */
	struct ncs_table lanes;      /* struct ncs_lane */
	struct ncs_table channels;   /* struct ncs_channel */
	struct ncs_table operations; /* struct ncs_operation */
	struct ncs_table histograms; /* struct ncs_histogram */
	struct ncs_table rings;      /* struct ncs_ring, one per lane */
	uint32_t ring_records;       /* capacity of each ring, a power of two */
	uint32_t plugin_version;     /* major << 16 | minor << 8 | patch */
	uint32_t pid;         /* in its own PID namespace */
	uint32_t api_version; /* of NCCL's profiler API: 1 … 7 */
	uint64_t process_start; /* /proc/PID/stat, field 22 */
	uint64_t pid_namespace; /* inode of /proc/self/ns/pid */
	uint64_t time_namespace; /* inode of /proc/self/ns/time; 0: none */
	char boot_id[40];        /* /proc/sys/kernel/random/boot_id */
	char host[64];           /* host name, truncated, terminated */
	struct ncs_clock clock;
	uint64_t created;    /* ticks */
	uint64_t event_mask; /* activation mask: events that NCCL reports */
	uint64_t life;       /* enum ncs_life */
	uint64_t finished;   /* ticks; 0 while live */
	uint64_t latest_done; /* largest number of a finished operation */
	struct ncs_table classes; /* struct ncs_class; before 1.2 none */
	uint64_t reserved;
	struct ncs_identity identity;
	struct ncs_proxy proxy;
	struct ncs_gpu_clock gpu_clock;
	struct ncs_kernel kernel;
	struct ncs_sampling sampling;
	struct ncs_settings settings;
	struct ncs_filled filled; /* from minor version 2 on */
	/* From minor version 3 on; both may be empty. */
	struct ncs_table ranges;           /* struct ncs_range */
	struct ncs_table range_histograms; /* struct ncs_range_histogram */
	uint64_t ranges_filled; /* number of entries in use: the first ones */
	struct ncs_cupti cupti;
	struct ncs_launch_progress launches; /* from minor version 5 on */
	/* Ticks at which the process was last known to live: the plugin's
	 * heartbeat, twice a second. 0: it has none. From minor version 8 on. */
	uint64_t alive;
	/* struct ncs_labels: one, or none; from minor version 8 on. */
	struct ncs_table labels;
	/* Number of launches in a CUDA context that is not a device's primary
	 * one: they are not followed, and have no number. From minor version 9
	 * on. */
	uint64_t other_context;
	/* struct ncs_ring: the rings of call lanes, which are the last lanes, in
	 * the same order; may be empty. From minor version 10 on. */
	struct ncs_table call_rings;
	uint64_t call_ring_records; /* capacity of each, a power of two */
	/* From minor version 11 on. */
	struct ncs_graphs graphs;
};

/* Bytes reserved for the header: tables begin after them. */
#define NCS_HEADER_BYTES 2048u

/* Labels that identify the process's job: "key=value" strings, each terminated,
 * with an empty string at the end. The plugin takes them from the
 * environment at its first init (ncclstat/tables/job_labels.def). A reader
 * ignores keys that it does not know. */
struct ncs_labels {
	char text[2048];
};

/* header_bytes of minor version 1, the earliest that readers accept. */
#define NCS_HEADER_BYTES_LEAST offsetof(struct ncs_header, filled)

/* Counters of one function in one lane; readers add them over all lanes. Sums
 * are modulo 2^64: if a finished operation is reopened, the lane that sees it
 * subtracts it, which need not be the lane that counted it. */
struct ncs_function {
	uint64_t sequence;
	uint64_t calls;           /* number of CollApi and P2pApi events */
	uint64_t operations;      /* number of Coll and P2p events */
	uint64_t operations_done; /* operations whose children have all ended */
	uint64_t with_children;   /* operations with at least one child */
	uint64_t bytes;           /* message sizes as nccl-tests counts them */
	uint64_t size_unknown;    /* operations of unknown size */
	uint64_t last_sequence_number; /* last reported number + 1; 0: none */
	/* Finished operations with a time, by its source: enum ncs_timing. */
	uint64_t timed[2];       /* their number */
	uint64_t time_ns[2];     /* sum of their times */
	uint64_t timed_bytes[2]; /* sum of their bytes */
	uint64_t reserved[2];
};

/* The source of an operation's time. */
enum ncs_timing {
	NCS_TIMING_KERNEL, /* its kernel channels, by the GPU's clock */
	NCS_TIMING_PROXY,  /* its proxy operations: first start to last end */
	/* Its launch, by CUDA events on the stream. A launch of several
	 * operations is the time of each, with the bytes of all of them. */
	NCS_TIMING_STREAM,
	NCS_TIMING_COUNT
};

/* Counters of operations with a time from the stream, as in struct
 * ncs_function, whose sequence covers them, or struct ncs_range. */
struct ncs_stream_times {
	uint64_t timed;
	uint64_t time_ns;
	uint64_t timed_bytes;
	uint64_t reserved;
};

/* The counters of one publishing thread; its ring has the same index. Lane 0 is
 * shared by all threads that found no lane of their own: there, counters are
 * added to atomically, and blocks have no seqlock.
 *
 * From minor version 10 on the last lanes may be call lanes. Call lane i of them
 * (from 0) belongs to the thread of lane i + 1: its ring in header.call_rings has
 * the thread's COLL, P2P, STREAM, KERNEL_LAUNCH, COLL_API, P2P_API and CE_COLL
 * records, so that proxy steps do not overwrite them. All other records, and all
 * of a thread without a call lane, are in the ring of the thread's own lane. A
 * call lane has no counters. Its ring in header.rings is for readers that do not
 * know call lanes: it has the COLL, P2P and STREAM records once more. */
struct ncs_lane {
	uint64_t owner;     /* opaque; 0: not in use (lane 0: always 0) */
	/* Ticks of the latest callback, except state changes of steps, which
	 * update their channel's `since`, and of kernels. */
	uint64_t last_call;
	uint64_t reserved[6];
	uint64_t events[NCS_EVENT_MAX]; /* events started, by enum ncs_event */
	uint64_t losses[NCS_LOSS_MAX];  /* by enum ncs_loss */
	/* By enum ncs_event: start, in ticks, of the event that the thread is
	 * in; 0: none. Only for types that start and stop on one thread. */
	uint64_t open_since[NCS_EVENT_MAX];
	struct ncs_function functions[NCS_FUNCTION_MAX];
	/* From minor version 5 on, by function. */
	struct ncs_stream_times stream_times[NCS_FUNCTION_MAX];
	uint64_t padding[8]; /* keeps the next lane from being prefetched */
};

/* Bytes of an entry that readers accept: before minor version 5. */
#define NCS_LANE_BYTES_LEAST offsetof(struct ncs_lane, stream_times)

/* One channel × direction × peer, and the oldest unfinished step on it. When
 * the state changes, the time since `since` is added to the state being
 * exited. */
struct ncs_channel {
	uint64_t sequence;
	uint64_t key;       /* NCS_CHANNEL_KEY(); 0: not in use */
	uint64_t state;     /* enum ncs_channel_state */
	uint64_t since;     /* ticks at which the state was entered */
	uint64_t function;  /* of the operation in progress */
	uint64_t operation; /* number of the operation in progress; 0: none */
	uint64_t step;      /* number of the oldest unfinished step */
	uint64_t nsteps;    /* number of steps of its proxy operation */
	uint64_t operations_started; /* proxy operations */
	uint64_t operations_done;
	uint64_t steps_started;
	uint64_t steps_done;
	uint64_t bytes;        /* bytes moved */
	uint64_t size_unknown; /* steps whose size NCCL did not report */
	uint64_t reserved[2];
	uint64_t time[8]; /* ticks, by enum ncs_channel_state */
	uint64_t padding[8];
};

/* The key of a channel, never 0, and its parts. */
#define NCS_CHANNEL_KEY(channel, send, peer)                        \
	(UINT64_C(1) << 63 | (uint64_t)((send) != 0) << 48 |        \
	 (uint64_t)(uint8_t)(channel) << 32 | (uint64_t)(uint32_t)(peer))
#define NCS_CHANNEL_KEY_CHANNEL(key) ((uint8_t)((key) >> 32))
#define NCS_CHANNEL_KEY_SEND(key) ((key) >> 48 & 1)
#define NCS_CHANNEL_KEY_PEER(key) ((int32_t)(uint32_t)(key))

/* A slot for a collective or point-to-point operation in flight. `number` is
 * its lock: 0 while the slot is empty or being filled in, and never the same
 * value for two operations. Fields from `enqueued` on change while the number
 * stays. */
struct ncs_operation {
	uint64_t number;          /* in its communicator and process, from 1 */
	uint64_t start;           /* ticks */
	uint64_t sequence_number; /* of the function; NCS_NO_SEQUENCE_NUMBER */
	uint64_t bytes;           /* message size as nccl-tests counts it */
	uint64_t count;           /* elements, as NCCL passed it */
	uint8_t event;            /* NCS_EVENT_COLL or NCS_EVENT_P2P */
	uint8_t function;
	uint8_t datatype;
	uint8_t algorithm;
	uint8_t protocol;
	uint8_t nchannels;
	uint8_t flags; /* enum ncs_record_flag */
	uint8_t reserved_byte;
	int32_t peer; /* peer or root */
	uint32_t range;           /* in which it was called; 0: none */
	uint64_t enqueued;        /* ticks of NCCL's stopEvent; 0: not yet */
	uint64_t children_started; /* number of proxy operations and kernel
				      channels; at most 16777215 */
	uint64_t children_done;
	uint64_t first_child;     /* ticks at which the first child started */
	uint64_t last_child_done; /* ticks at which the latest child ended */
	uint64_t user_tag; /* set by the application, API 7 on; 0: none */
	uint64_t launch; /* number of its launch; 0: unknown, or captured */
	uint64_t reserved[2];
};

/* NCCL reported no sequence number. */
#define NCS_NO_SEQUENCE_NUMBER UINT64_MAX

/* The number of operations of one class: function, size class (size_class.h),
 * algorithm and protocol. The first NCS_FUNCTION_MAX entries of the table are
 * the functions' own: they count operations that found no class, and their
 * size, algorithm and protocol are NCS_CLASS_OTHER. Any other entry is given to
 * a class when that is first used. */
struct ncs_class {
	uint64_t key;        /* NCS_CLASS_KEY(); 0: not in use */
	uint64_t operations; /* number of Coll and P2p events */
	uint64_t reserved[6];
};

#define NCS_CLASS_OTHER 255u

/* The key of a class, never 0, and its parts. */
#define NCS_CLASS_KEY(function, size, algorithm, protocol)          \
	(UINT64_C(1) << 32 | (uint64_t)(uint8_t)(size) << 24 |      \
	 (uint64_t)(uint8_t)(protocol) << 16 |                      \
	 (uint64_t)(uint8_t)(algorithm) << 8 | (uint8_t)(function))
#define NCS_CLASS_KEY_FUNCTION(key) ((uint8_t)(key))
#define NCS_CLASS_KEY_ALGORITHM(key) ((uint8_t)((key) >> 8))
#define NCS_CLASS_KEY_PROTOCOL(key) ((uint8_t)((key) >> 16))
#define NCS_CLASS_KEY_SIZE(key) ((uint8_t)((key) >> 24))

/* A histogram of the times of a class's operations. An entry is given to a
 * (class, timing) at first use; entries in use come first. A class that finds
 * no entry uses its function's. */
struct ncs_histogram {
	uint64_t key; /* NCS_HISTOGRAM_KEY(); 0: not in use */
	uint64_t buckets[NCS_HISTOGRAM_BUCKETS]; /* operations, histogram.h */
	uint64_t time_ns;    /* sum of the operations' times */
	uint64_t bytes;      /* sum of the operations' bytes */
	uint64_t longest_ns;
	/* Buckets before first - 1 and from end on are 0. If a word is 0, its
	 * bound is unknown. */
	uint64_t first;
	uint64_t end;
	uint64_t padding[2];
};

/* The key of a histogram, never 0, and its parts. */
#define NCS_HISTOGRAM_KEY(class_index, timing) \
	(UINT64_C(1) << 32 | (uint64_t)(class_index) << 8 | (uint64_t)(timing))
#define NCS_HISTOGRAM_KEY_CLASS(key) ((uint32_t)((key) >> 8 & 0xffffff))
#define NCS_HISTOGRAM_KEY_TIMING(key) ((uint8_t)(key))

/* The header of a lane's ring (shm/ring.h); ring_records records follow it. */
struct ncs_ring {
	uint64_t head; /* number of records published so far */
	uint64_t padding[15];
};

/* The size of a range's name in bytes, including the terminating zero. */
#define NCS_RANGE_NAME_BYTES 80u

/* Counters of one of the application's ranges (ncclstat/range.h). A range is a
 * path, from the outermost range to the innermost one around a call. Its
 * counters do not include the ranges inside it, which have entries of their
 * own, except for the busy times. Entries are numbered from 1 in the order of
 * this table, and a path has the same number in all segments of a process.
 * Several threads add to the counters, each of which is valid by itself. */
struct ncs_range {
	/* NCS_RANGE_KEY() of the range around it; 0: not in use. The name is
	 * stored before the key, and neither changes afterwards. */
	uint64_t key;
	char name[NCS_RANGE_NAME_BYTES]; /* truncated, always terminated */
	uint64_t calls;         /* number of CollApi and P2pApi events */
	uint64_t operations;    /* number of Coll and P2p events */
	uint64_t bytes;         /* message sizes as nccl-tests counts them */
	uint64_t size_unknown;  /* operations of unknown size: not in bytes */
	uint64_t with_children; /* operations with at least one child */
	uint64_t with_children_bytes; /* bytes of these operations */
	/* Operations with a child in progress, also in ranges inside it. */
	uint64_t busy; /* their number, NCS_RANGE_BUSY(); the rest is private */
	uint64_t busy_since; /* ticks at which the number became nonzero */
	uint64_t busy_time;  /* ticks with a nonzero number before that */
	/* Operations with a time, by enum ncs_timing; see struct
	 * ncs_function. */
	uint64_t timed[2];
	uint64_t time_ns[2];
	uint64_t timed_bytes[2];
	uint64_t time[8]; /* ticks of its channels, by enum ncs_channel_state */
	/* Kernels launched in it; compute_busy_ns includes the ranges
	 * inside. */
	struct ncs_gpu_time gpu;
	struct ncs_stream_times stream_times; /* from minor version 5 on */
	uint64_t padding[4];
};

/* Bytes of an entry that readers accept: before minor version 5. */
#define NCS_RANGE_BYTES_LEAST offsetof(struct ncs_range, stream_times)

/* The number of the range for all calls whose range found no entry. */
#define NCS_RANGE_OTHER 1u
#define NCS_RANGE_KEY(parent) (UINT64_C(1) << 32 | (uint64_t)(parent))
#define NCS_RANGE_KEY_PARENT(key) ((uint32_t)(key)) /* 0: outermost */
#define NCS_RANGE_BUSY(busy) ((busy)&UINT64_C(0xffff))

/* A histogram of the times of a range's operations in ns, with a quarter of the
 * buckets of struct ncs_histogram. An entry is given to a (range, timing) at
 * first use. */
struct ncs_range_histogram {
	uint64_t key; /* NCS_RANGE_HISTOGRAM_KEY(); 0: not in use */
	uint64_t buckets[NCS_RANGE_BUCKETS];
	uint64_t padding[7];
};

#define NCS_RANGE_HISTOGRAM_KEY(range, timing) \
	(UINT64_C(1) << 63 | (uint64_t)(range) << 8 | (uint64_t)(timing))

static_assert(sizeof(struct ncs_clock) == 40, "clock");
static_assert(sizeof(struct ncs_table) == 16, "table");
static_assert(sizeof(struct ncs_identity) == 200, "identity");
static_assert(sizeof(struct ncs_proxy) == 160, "proxy");
static_assert(sizeof(struct ncs_sampling) == 64, "sampling");
static_assert(sizeof(struct ncs_kernel) == 64, "kernel");
static_assert(sizeof(struct ncs_gpu_clock) == 64, "GPU clock");
static_assert(sizeof(struct ncs_settings) == 64, "settings");
static_assert(sizeof(struct ncs_filled) == 48, "filled");
static_assert(sizeof(struct ncs_gpu_time) == 48, "GPU time");
static_assert(sizeof(struct ncs_cupti) == 96, "CUPTI");
static_assert(sizeof(struct ncs_header) <= NCS_HEADER_BYTES, "header");
static_assert(sizeof(struct ncs_labels) % 8 == 0, "labels are words");
static_assert(offsetof(struct ncs_header, version) == 8, "version");
static_assert(offsetof(struct ncs_header, lanes) == 32, "lanes");
static_assert(offsetof(struct ncs_header, clock) == 256, "clock");
static_assert(offsetof(struct ncs_header, identity) == 360, "identity");
static_assert(offsetof(struct ncs_header, proxy) == 560, "proxy");
static_assert(offsetof(struct ncs_header, gpu_clock) == 720, "GPU clock");
static_assert(offsetof(struct ncs_header, kernel) == 784, "kernel");
static_assert(offsetof(struct ncs_header, sampling) == 848, "sampling");
static_assert(offsetof(struct ncs_header, settings) == 912, "settings");
static_assert(offsetof(struct ncs_header, filled) == 976, "filled");
static_assert(sizeof(struct ncs_function) == 128, "function");
static_assert(sizeof(struct ncs_lane) == 3328, "lane");
static_assert(offsetof(struct ncs_lane, functions) % 64 == 0, "functions");
static_assert(sizeof(struct ncs_channel) == 256, "channel");
static_assert(sizeof(struct ncs_operation) == 128, "operation");
static_assert(sizeof(struct ncs_class) == 64, "class");
static_assert(sizeof(struct ncs_histogram) % 64 == 0, "histogram");
static_assert(sizeof(struct ncs_ring) == 128, "ring");
static_assert(offsetof(struct ncs_header, ranges) == 1024, "ranges");
static_assert(offsetof(struct ncs_header, cupti) == 1064, "CUPTI");
static_assert(sizeof(struct ncs_range) == 384, "range");
static_assert(NCS_RANGE_NAME_BYTES % 8 == 0, "names are words");
static_assert(sizeof(struct ncs_range_histogram) % 64 == 0,
	      "histogram of a range");

#endif
