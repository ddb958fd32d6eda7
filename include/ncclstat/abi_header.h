/* SPDX-License-Identifier: MIT */
/* The header of a segment, its blocks, and the labels of the job. For all of the
 * segment see abi.h. */
#ifndef NCCLSTAT_ABI_HEADER_H
#define NCCLSTAT_ABI_HEADER_H

#include <assert.h>
#include <stddef.h>
#include <stdint.h>

#include "ncclstat/abi_clock.h"
#include "ncclstat/abi_gpu_time.h"
#include "ncclstat/abi_identity.h"

#define NCS_MAGIC UINT64_C(0x544154534c43434e) /* "NCCLSTAT" */
#define NCS_BYTE_ORDER UINT32_C(0x01020304)

/* A reader accepts every minor version of its own major version: new fields are
 * added at the end of blocks, and table entries have the stride that the
 * segment states. */
#define NCS_ABI_MAJOR 1u
#define NCS_ABI_MINOR 12u
#define NCS_ABI_VERSION (NCS_ABI_MAJOR << 16 | NCS_ABI_MINOR)

/* A table within the segment. */
struct ncs_table {
	uint64_t offset; /* bytes from the segment's start */
	uint32_t count;  /* entries */
	uint32_t stride; /* bytes from one entry to the next */
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
	/* From minor version 12 on, 0 before that, for all GPUs of the process:
	 * kernels that communicate outside NCCL, by their names; the time in
	 * which at least one of them ran, and in which any kernel ran. */
	uint64_t outside_kernels;
	uint64_t outside_busy_ns;
	uint64_t busy_ns;
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
	/* Launches in them that report their replays. In the segment of the
	 * replays: which ones do in the graph whose replay began latest, the first
	 * one and one in so many after it (a power of two; 0: not told), and 2^32
	 * times the number of another one; 0: none. */
	uint64_t stamped;
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
	/* Code that communicates outside NCCL and that the process has loaded:
	 * bits by enum ncs_outside_code. From minor version 12 on, 0 before
	 * that. */
	uint64_t outside_code;
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

static_assert(sizeof(struct ncs_table) == 16, "table");
static_assert(sizeof(struct ncs_proxy) == 160, "proxy");
static_assert(sizeof(struct ncs_sampling) == 64, "sampling");
static_assert(sizeof(struct ncs_kernel) == 64, "kernel");
static_assert(sizeof(struct ncs_gpu_clock) == 64, "GPU clock");
static_assert(sizeof(struct ncs_settings) == 64, "settings");
static_assert(sizeof(struct ncs_filled) == 48, "filled");
static_assert(sizeof(struct ncs_cupti) == 96, "CUPTI");
static_assert(sizeof(struct ncs_labels) % 8 == 0, "labels are words");
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
static_assert(offsetof(struct ncs_header, ranges) == 1024, "ranges");
static_assert(offsetof(struct ncs_header, cupti) == 1064, "CUPTI");

#endif
