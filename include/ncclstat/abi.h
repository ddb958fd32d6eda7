/* SPDX-License-Identifier: MIT */
/* The shared-memory segment that a rank publishes: layout, types, sizes.
 *
 * One segment per communicator of a process. Little-endian, 64-bit; the
 * writer is the plugin, readers map it read-only. Types and asserts only; how
 * to read and write it safely is in reader.h and shm/. What a reader finds is
 * not to be trusted: offsets and counts are validated once against the file's
 * size (shm/segment.h), and every index is checked against the validated copy.
 *
 *   header | lanes | channels | operations | classes | rings | histograms
 *          | ranges | histograms of ranges
 *
 * Where a block says "sequence", it is under a seqlock (shm/seqlock.h): its
 * first word is the lock and the block is copied word by word. All other
 * words are single counters that are valid by themselves.
 *
 * Times are ticks of the segment's clock (struct ncs_clock) unless their name
 * ends in _ns.
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

#define NCS_MAGIC UINT64_C(0x544154534c43434e) /* "NCCLSTAT" */
#define NCS_BYTE_ORDER UINT32_C(0x01020304)

/* Readers take any minor of their own major: they use the strides that the
 * segment states, and new fields come at the end of blocks. */
#define NCS_ABI_MAJOR 1u
#define NCS_ABI_MINOR 4u
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
#define X(ID, name, help) NCS_LOSS_##ID,
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

/* How ticks become CLOCK_MONOTONIC ns:
 *   base_monotonic_ns + ((ticks - base_ticks) * multiplier >> 32)
 * with a 128-bit product. The multiplier was measured over a few ms when the
 * plugin started; a reader on the same boot that can read the same counter
 * measures again over its whole distance from base (shm/clock.h). */
struct ncs_clock {
	uint64_t kind; /* enum ncs_clock_kind */
	uint64_t base_ticks;
	uint64_t base_monotonic_ns;
	uint64_t base_realtime_ns; /* CLOCK_REALTIME at the same moment */
	uint64_t multiplier;       /* ns per tick, times 2^32 */
};

/* A table within the segment. */
struct ncs_table {
	uint64_t offset; /* bytes from the segment's start */
	uint32_t count;  /* entries */
	uint32_t stride; /* bytes from one entry to the next */
};

/* Who publishes; under a seqlock, since API 1-3 tell it with the first
 * operation only. */
struct ncs_identity {
	uint64_t sequence;
	uint64_t known;   /* bits: enum ncs_known */
	uint64_t comm_id; /* NCCL's communicator hash */
	int32_t rank;
	int32_t nranks;
	int32_t nnodes;
	int32_t nccl_version; /* as ncclGetVersion gives it; 22809 is 2.28.9 */
	char comm_name[128];  /* cut, always terminated */
	char gpu[32];         /* PCI bus id of the process's current device */
};

enum ncs_known {
	NCS_KNOWN_COMM_ID = 1,
	NCS_KNOWN_COMM_NAME = 2,
	NCS_KNOWN_RANK = 4,
	NCS_KNOWN_NRANKS = 8,
	NCS_KNOWN_NNODES = 16,
	NCS_KNOWN_NCCL_VERSION = 32,
	NCS_KNOWN_GPU = 64,
};

/* The proxy thread. An interval is charged to the state that is left; the
 * time since `since` is not in time[] yet. */
struct ncs_proxy {
	uint64_t sequence;
	uint64_t state; /* enum ncs_proxy_state */
	uint64_t since; /* ticks */
	uint64_t appended_operations;
	uint64_t time[8];  /* ticks, by enum ncs_proxy_state */
	uint64_t count[8]; /* by enum ncs_proxy_transition */
};

/* What is kept of the records of operations' children (NCS_RECORD_LEVEL()).
 * The counters add up to the operations that started while one in two or fewer
 * was kept. Tables, histograms and counters know nothing of sampling. */
struct ncs_sampling {
	uint64_t level;    /* in force: one operation in 2^level */
	uint64_t slow_ns;  /* who has been under way for longer is kept */
	uint64_t kept;     /* operations that were chosen */
	uint64_t left_out; /* … and those that were not */
	uint64_t slow;     /* of these, those that turned out to be slow */
	uint64_t reserved[3];
};

/* What comes of kernel timing. The first three are the process's, the counts
 * the communicator's. */
struct ncs_kernel {
	uint64_t status; /* enum ncs_kernel_status */
	uint64_t mode;   /* enum ncs_kernel_timing */
	uint64_t period; /* one group of calls in so many is timed; 0: no such */
	uint64_t timed_calls;
	uint64_t captured_on;  /* calls captured into graphs, timed */
	uint64_t captured_off; /* … and not */
	uint64_t reserved[2];
};

/* What the GPU's clock (%globaltimer, ns since some moment) showed at a moment
 * of the host's: between two bounds, which hold for the drift of a second or
 * so. Under a seqlock. */
struct ncs_gpu_clock {
	uint64_t sequence;
	uint64_t ticks;      /* the moment; 0: not known yet */
	uint64_t low_ns;     /* at least */
	uint64_t high_ns;    /* at most */
	uint64_t quantum_ns; /* its times are multiples of this */
	uint64_t samples;    /* kernel channels that the bounds come from */
	uint64_t restarts;   /* times that bounds contradicted each other */
	uint64_t reserved;
};

/* What the plugin collects, and what it was asked for from outside (control_object.h);
 * under a seqlock. Of a process, so all its communicators tell the same. */
struct ncs_settings {
	uint64_t sequence;
	uint64_t in_force;  /* a detail with all told; 0: not known yet */
	uint64_t asked;     /* the request that was dealt with last; 0: none */
	uint64_t changes;   /* times that what is in force has changed */
	uint64_t changed;   /* ticks; 0: never */
	uint64_t refused;   /* of that request: enum ncs_refusal */
	uint64_t lease_until_ns; /* CLOCK_MONOTONIC; 0: no lease is in force */
	uint64_t lease_holder;   /* as in the control object; 0: none */
};

/* What a GPU's kernels took, by CUPTI. Kernels of NCCL communicate, all others
 * compute; where the process has several GPUs, it is the sum over them. Each
 * word is valid by itself. */
struct ncs_gpu_time {
	uint64_t compute_kernels;
	uint64_t compute_ns;      /* the sum of their times */
	uint64_t compute_busy_ns; /* the time in which any of them ran */
	uint64_t communication_kernels;
	uint64_t communication_ns;
	/* The part of that during which the GPU computed, in any range. */
	uint64_t hidden_ns;
};

/* What comes of NCCLSTAT_CUPTI. The status is the process's, in all of its
 * communicators; what was recorded belongs to no communicator, so one of them
 * tells it, here and in its ranges: the process's is the sum over all. */
struct ncs_cupti {
	uint64_t status; /* enum ncs_cupti_status */
	struct ncs_gpu_time total;
	uint64_t unplaced; /* kernels whose launch is not known: in no range */
	/* Records that CUPTI had no room for, kernels without times, and those
	 * that were told too late to be counted in full. */
	uint64_t lost;
	uint64_t reserved[3];
};

/* How far the tables are filled: what is beyond need not be looked at. */
struct ncs_filled {
	uint64_t channels;   /* entries given out: the first ones */
	uint64_t operations; /* slots given out: round and round, from the first */
	/* Operations that were over and are not, but for those in the latest
	 * NCS_FILLED_RECENT slots that had been given out then. */
	uint64_t revived;
	uint64_t reserved[3];
};

#define NCS_FILLED_RECENT 64u

enum ncs_life {
	NCS_LIFE_LIVE = 1,
	NCS_LIFE_FINISHED = 2, /* the communicator was finalized */
};

struct ncs_header {
	uint64_t magic;
	uint32_t version; /* NCS_ABI_VERSION; 0 until all else is in place */
	uint32_t byte_order;
	uint32_t header_bytes;
	uint32_t record_bytes;
	uint64_t segment_bytes;
	struct ncs_table lanes;      /* struct ncs_lane */
	struct ncs_table channels;   /* struct ncs_channel */
	struct ncs_table operations; /* struct ncs_operation */
	struct ncs_table histograms; /* struct ncs_histogram */
	struct ncs_table rings;      /* struct ncs_ring, one a lane */
	uint32_t ring_records;       /* capacity of each ring, a power of two */
	uint32_t plugin_version;     /* major << 16 | minor << 8 | patch */
	uint32_t pid;
	uint32_t api_version; /* of NCCL's profiler API: 1 … 7 */
	uint64_t process_start; /* /proc/PID/stat, field 22 */
	uint64_t pid_namespace; /* inode of /proc/self/ns/pid */
	uint64_t time_namespace; /* inode of /proc/self/ns/time; 0: none */
	char boot_id[40];
	char host[64];
	struct ncs_clock clock;
	uint64_t created;    /* ticks */
	uint64_t event_mask; /* what NCCL is asked for at this moment */
	uint64_t life;       /* enum ncs_life */
	uint64_t finished;   /* ticks; 0 while live */
	uint64_t latest_done; /* largest number of an operation that finished */
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
	uint64_t ranges_filled; /* those beyond need not be looked at */
	struct ncs_cupti cupti;
};

#define NCS_HEADER_BYTES 2048u

/* header_bytes of the earliest minor version that is read, 1. */
#define NCS_HEADER_BYTES_LEAST offsetof(struct ncs_header, filled)

/* What one thread submitted and finished of one function. Reader: the sum
 * over all lanes. Sums are modulo 2^64: an operation that turns out not to be
 * finished is taken back by the lane that saw it, not by the one that
 * counted it. */
struct ncs_function {
	uint64_t sequence;
	uint64_t calls;           /* CollApi, P2pApi events */
	uint64_t operations;      /* Coll, P2p events */
	uint64_t operations_done; /* those whose children have all ended */
	uint64_t with_children;   /* those with a proxy operation or kernel */
	uint64_t bytes;           /* message sizes as nccl-tests counts them */
	uint64_t size_unknown;    /* operations whose size could not be told */
	uint64_t last_sequence_number; /* plus 1; 0: none was told */
	/* By where the time comes from: enum ncs_timing. */
	uint64_t timed[2];
	uint64_t time_ns[2];
	uint64_t timed_bytes[2];
	uint64_t reserved[2];
};

enum ncs_timing {
	NCS_TIMING_KERNEL, /* the GPU's clock, KernelCh */
	NCS_TIMING_PROXY,  /* first proxy operation's start to last one's end */
	NCS_TIMING_COUNT
};

/* One publishing thread of the communicator; its ring has the same index.
 * Lane 0 is shared by all threads that found no lane of their own: there,
 * counters are added to atomically and blocks have no seqlock. */
struct ncs_lane {
	uint64_t owner;     /* opaque; 0: not in use */
	/* Ticks of the latest callback, but for the states of steps and of
	 * kernels; a channel's are in its `since`. */
	uint64_t last_call;
	uint64_t reserved[6];
	uint64_t events[NCS_EVENT_MAX]; /* starts, by enum ncs_event */
	uint64_t losses[NCS_LOSS_MAX];  /* by enum ncs_loss */
	/* Start, in ticks, of the event of each type that this thread is in,
	 * 0: none. Only for events that start and stop on one thread. */
	uint64_t open_since[NCS_EVENT_MAX];
	struct ncs_function functions[NCS_FUNCTION_MAX];
	uint64_t padding[8]; /* the next lane's line is not prefetched */
};

/* One channel × direction × peer, and the oldest unfinished step on it. An
 * interval is charged to the state that is left. */
struct ncs_channel {
	uint64_t sequence;
	uint64_t key;       /* see NCS_CHANNEL_KEY; 0: not in use */
	uint64_t state;     /* enum ncs_channel_state */
	uint64_t since;     /* ticks */
	uint64_t function;  /* of the operation under way */
	uint64_t operation; /* its number; 0: none */
	uint64_t step;      /* the oldest unfinished step */
	uint64_t nsteps;    /* of that proxy operation */
	uint64_t operations_started;
	uint64_t operations_done;
	uint64_t steps_started;
	uint64_t steps_done;
	uint64_t bytes;
	uint64_t size_unknown; /* steps whose size NCCL did not tell */
	uint64_t reserved[2];
	uint64_t time[8]; /* ticks, by enum ncs_channel_state */
	uint64_t padding[8];
};

/* A key is never 0. */
#define NCS_CHANNEL_KEY(channel, send, peer)                        \
	(UINT64_C(1) << 63 | (uint64_t)((send) != 0) << 48 |        \
	 (uint64_t)(uint8_t)(channel) << 32 | (uint64_t)(uint32_t)(peer))
#define NCS_CHANNEL_KEY_CHANNEL(key) ((uint8_t)((key) >> 32))
#define NCS_CHANNEL_KEY_SEND(key) ((key) >> 48 & 1)
#define NCS_CHANNEL_KEY_PEER(key) ((int32_t)(uint32_t)(key))

/* A collective or point-to-point operation in flight. `number` is the lock:
 * 0 while the slot is empty or being filled; it never takes the same value
 * twice. The counters after it change while it stays. */
struct ncs_operation {
	uint64_t number;
	uint64_t start;           /* ticks */
	uint64_t sequence_number; /* per function; NCS_NO_SEQUENCE_NUMBER */
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
	uint32_t range;           /* that it was called in; 0: none */
	uint64_t enqueued;        /* ticks of its stopEvent; 0: still open */
	uint64_t children_started; /* proxy operations and kernel channels */
	uint64_t children_done;
	uint64_t first_child;     /* ticks */
	uint64_t last_child_done; /* ticks */
	uint64_t user_tag; /* the application's, from API 7 on; 0: none */
	uint64_t reserved[3];
};

#define NCS_NO_SEQUENCE_NUMBER UINT64_MAX

/* Operations of one function, size class (size_class.h), algorithm and protocol.
 * The first NCS_FUNCTION_MAX of the table are each function's own: for what
 * found no class; their size, algorithm and protocol are NCS_CLASS_OTHER. The
 * others are given to a class at first use, anywhere. */
struct ncs_class {
	uint64_t key;        /* NCS_CLASS_KEY; 0: not in use */
	uint64_t operations; /* Coll, P2p events */
	uint64_t reserved[6];
};

#define NCS_CLASS_OTHER 255u

/* A key is never 0. */
#define NCS_CLASS_KEY(function, size, algorithm, protocol)          \
	(UINT64_C(1) << 32 | (uint64_t)(uint8_t)(size) << 24 |      \
	 (uint64_t)(uint8_t)(protocol) << 16 |                      \
	 (uint64_t)(uint8_t)(algorithm) << 8 | (uint8_t)(function))
#define NCS_CLASS_KEY_FUNCTION(key) ((uint8_t)(key))
#define NCS_CLASS_KEY_ALGORITHM(key) ((uint8_t)((key) >> 8))
#define NCS_CLASS_KEY_PROTOCOL(key) ((uint8_t)((key) >> 16))
#define NCS_CLASS_KEY_SIZE(key) ((uint8_t)((key) >> 24))

/* The times of a class's operations, in ns, given to a (class, timing) at first
 * use; those in use come first. A class that finds none uses its function's. */
struct ncs_histogram {
	uint64_t key; /* NCS_HISTOGRAM_KEY; 0: not in use */
	uint64_t buckets[NCS_HISTOGRAM_BUCKETS];
	uint64_t time_ns;    /* of all of them together */
	uint64_t bytes;      /* of their messages */
	uint64_t longest_ns;
	/* Buckets before `first` - 1 and from `end` on are 0; 0: not told. */
	uint64_t first;
	uint64_t end;
	uint64_t padding[2];
};

#define NCS_HISTOGRAM_KEY(class_index, timing) \
	(UINT64_C(1) << 32 | (uint64_t)(class_index) << 8 | (uint64_t)(timing))
#define NCS_HISTOGRAM_KEY_CLASS(key) ((uint32_t)((key) >> 8 & 0xffffff))
#define NCS_HISTOGRAM_KEY_TIMING(key) ((uint8_t)(key))

/* The ring of a lane: header, then ring_records records. */
struct ncs_ring {
	uint64_t head; /* records published so far */
	uint64_t padding[15];
};

/* Bytes of a range's name, the terminating zero included. */
#define NCS_RANGE_NAME_BYTES 80u

/* What was called in a range of the user's (ncclstat/range.h), not counting
 * the ranges in it, whose entries are their own: the path from the outermost
 * range to the one in which a call is made. Ranges are numbered from 1 in the
 * order of this table, one number for a path in all communicators of a
 * process. Counters are added to one by one, by several threads. */
struct ncs_range {
	/* NCS_RANGE_KEY of the range around it; 0: not in use. The name is there
	 * before the key, and neither changes. */
	uint64_t key;
	char name[NCS_RANGE_NAME_BYTES]; /* cut, always terminated */
	uint64_t calls;                  /* CollApi, P2pApi events */
	uint64_t operations;             /* Coll, P2p events */
	uint64_t bytes;                  /* as struct ncs_function's */
	uint64_t size_unknown;  /* operations whose size is not in bytes */
	uint64_t with_children; /* operations that made progress … */
	uint64_t with_children_bytes; /* … and their bytes */
	/* Here, and only here, with the ranges inside: how many operations have
	 * a child under way, since when that is so, and the ticks before that
	 * in which it was so. */
	uint64_t busy; /* NCS_RANGE_BUSY() and a lock: plugin/events/range_stats.c */
	uint64_t busy_since;
	uint64_t busy_time;
	uint64_t timed[2]; /* by enum ncs_timing, as struct ncs_function's */
	uint64_t time_ns[2];
	uint64_t timed_bytes[2];
	uint64_t time[8]; /* ticks of its channels, by enum ncs_channel_state */
	/* Of kernels that were launched in it. Busy, like above, with those of
	 * the ranges inside. */
	struct ncs_gpu_time gpu;
};

/* The range of all that found no entry of its own. */
#define NCS_RANGE_OTHER 1u
#define NCS_RANGE_KEY(parent) (UINT64_C(1) << 32 | (uint64_t)(parent))
#define NCS_RANGE_KEY_PARENT(key) ((uint32_t)(key)) /* 0: outermost */
#define NCS_RANGE_BUSY(busy) ((busy)&UINT64_C(0xffff))

/* A duration histogram of a range in ns, at a quarter of the resolution of
 * struct ncs_histogram; given to a (range, timing) at first use. */
struct ncs_range_histogram {
	uint64_t key; /* NCS_RANGE_HISTOGRAM_KEY; 0: not in use */
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
static_assert(sizeof(struct ncs_lane) == 2816, "lane");
static_assert(offsetof(struct ncs_lane, functions) % 64 == 0, "functions");
static_assert(sizeof(struct ncs_channel) == 256, "channel");
static_assert(sizeof(struct ncs_operation) == 128, "operation");
static_assert(sizeof(struct ncs_class) == 64, "class");
static_assert(sizeof(struct ncs_histogram) % 64 == 0, "histogram");
static_assert(sizeof(struct ncs_ring) == 128, "ring");
static_assert(offsetof(struct ncs_header, ranges) == 1024, "ranges");
static_assert(offsetof(struct ncs_header, cupti) == 1064, "CUPTI");
static_assert(sizeof(struct ncs_range) == 320, "range");
static_assert(NCS_RANGE_NAME_BYTES % 8 == 0, "names are words");
static_assert(sizeof(struct ncs_range_histogram) % 64 == 0,
	      "histogram of a range");

#endif
