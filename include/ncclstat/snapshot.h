/* SPDX-License-Identifier: MIT */
/* Snapshots of libncclstat: copies of the state of a rank, as a reader (reader.h)
 * takes them. Must not depend on the layout of a segment, which may change while
 * snapshots stay as they are.
 *
 * One thread at a time may use a snapshot; different threads may use different
 * ones.
 */
#ifndef NCCLSTAT_SNAPSHOT_H
#define NCCLSTAT_SNAPSHOT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "ncclstat/abi_gpu_time.h"
#include "ncclstat/abi_identity.h"
#include "ncclstat/abi_values.h"
#include "ncclstat/control_object.h"
#include "ncclstat/histogram.h"
#include "ncclstat/record.h"
#include "ncclstat/tables/launches.def"

#ifdef __cplusplus
extern "C" {
#endif

struct ncs_reader; /* reader.h */

/* Whether a rank is alive. */
enum ncs_liveness {
	NCS_ALIVE,
	NCS_SILENT,   /* alive, but NCCL has reported nothing new for 10 s */
	NCS_FINISHED, /* the communicator was finalized */
	NCS_DEAD,     /* the process is gone */
};

#define NCS_SILENT_AFTER_NS UINT64_C(10000000000)

/* In a snapshot all times are CLOCK_MONOTONIC ns of this host, 0 meaning never.
 * Fields that are not described here are those of the same name in abi.h,
 * converted from ticks to ns. Times by state include the time in the current
 * state up to now. */

/* The proxy thread; struct ncs_proxy. */
struct ncs_proxy_view {
	enum ncs_proxy_state state;
	uint64_t since_ns;
	uint64_t appended_operations;
	uint64_t time_ns[NCS_PROXY_STATE_COUNT];
	uint64_t count[NCS_TRANSITION_COUNT];
};

/* One channel × direction × peer; struct ncs_channel. */
struct ncs_channel_view {
	uint8_t channel;
	bool send; /* direction: send, not receive */
	int32_t peer;
	enum ncs_channel_state state;
	uint64_t since_ns;
	unsigned function;  /* enum ncs_function_id */
	uint64_t operation; /* number of the operation in progress; 0: none */
	uint64_t step;
	uint64_t nsteps;
	uint64_t operations_started;
	uint64_t operations_done;
	uint64_t steps_started;
	uint64_t steps_done;
	uint64_t bytes;
	uint64_t size_unknown; /* steps whose size NCCL did not report */
	uint64_t time_ns[NCS_CHANNEL_STATE_COUNT];
};

/* One function, summed over all lanes; struct ncs_function. */
struct ncs_function_view {
	uint64_t calls;
	uint64_t operations;
	uint64_t operations_done;
	uint64_t with_children; /* 0: NCCL reports no operation's end */
	uint64_t bytes;
	uint64_t size_unknown; /* operations of unknown size */
	uint64_t last_sequence_number; /* NCS_NO_SEQUENCE_NUMBER: none */
	uint64_t timed[NCS_TIMING_COUNT];
	uint64_t time_ns[NCS_TIMING_COUNT];
	uint64_t timed_bytes[NCS_TIMING_COUNT];
	/* NCS_HISTOGRAM_BUCKETS counts over all classes, owned by the snapshot;
	 * NULL if there are none. */
	uint64_t *histogram[NCS_TIMING_COUNT];
};

/* The times of a class's operations. Of the histogram only the buckets that may
 * hold counts are kept: buckets first … first + count - 1 are in the snapshot's
 * class_buckets, from index `place` on. All other buckets are 0. */
struct ncs_class_times {
	uint64_t timed; /* number of operations: the sum of the buckets */
	uint64_t time_ns;    /* sum of their times */
	uint64_t bytes;      /* sum of their bytes */
	uint64_t longest_ns; /* longest of their times */
	unsigned first;
	unsigned count;
	size_t place;
};

/* A class: operations of one function, size class, algorithm and protocol. The
 * last three are NCS_CLASS_OTHER for operations that found no class of their
 * own. */
struct ncs_class_view {
	unsigned function;   /* enum ncs_function_id */
	unsigned size_class; /* size_class.h */
	unsigned algorithm;  /* enum ncs_algorithm (names.h), or any value */
	unsigned protocol;   /* enum ncs_protocol (names.h), or any value */
	uint64_t operations;
	struct ncs_class_times times[NCS_TIMING_COUNT];
};

/* One of the application's ranges; struct ncs_range. Counters do not include
 * the ranges inside it, except for the busy times. */
struct ncs_range_view {
	uint32_t number; /* from 1; the same in all segments of a process */
	uint32_t parent; /* range around it, below `number`; 0: none */
	char name[NCS_RANGE_NAME_BYTES]; /* any bytes, truncated, terminated */
	uint64_t calls;
	uint64_t operations;
	uint64_t bytes;
	uint64_t size_unknown; /* operations of unknown size */
	uint64_t with_children;
	uint64_t with_children_bytes;
	uint64_t busy;          /* operations with a child in progress now, */
	uint64_t busy_since_ns; /* and since when there are some */
	uint64_t busy_ns; /* time with one or more such operations */
	uint64_t timed[NCS_TIMING_COUNT];
	uint64_t time_ns[NCS_TIMING_COUNT];
	uint64_t timed_bytes[NCS_TIMING_COUNT];
	uint64_t channel_time_ns[NCS_CHANNEL_STATE_COUNT];
	struct ncs_gpu_time gpu;
	/* Index in the snapshot's range_buckets, from 1; 0: none. Use
	 * ncs_range_buckets(). */
	uint32_t histogram[NCS_TIMING_COUNT];
};

/* An operation in flight; struct ncs_operation. */
struct ncs_operation_view {
	uint64_t number;
	uint64_t start_ns;
	uint64_t sequence_number;
	uint64_t bytes;
	uint64_t count;
	unsigned event; /* NCS_EVENT_COLL or NCS_EVENT_P2P */
	unsigned function;  /* enum ncs_function_id */
	unsigned datatype;  /* enum ncs_datatype (names.h), or any value */
	unsigned algorithm; /* enum ncs_algorithm, or any value */
	unsigned protocol;  /* enum ncs_protocol, or any value */
	unsigned nchannels;
	int32_t peer;
	uint64_t user_tag; /* 0: none */
	uint32_t range;    /* number of the range of its call; 0: none */
	uint64_t launch;   /* number of its launch; 0: not known, or captured */
	uint64_t enqueued_ns;
	uint64_t children_started;
	uint64_t children_done;
	uint64_t first_child_ns;
	uint64_t last_child_done_ns;
};

/* A publishing thread; struct ncs_lane. */
struct ncs_lane_view {
	uint64_t last_call_ns;
	uint64_t published; /* number of records */
	/* Start of the event of each type that the thread is in; 0: none. */
	uint64_t open_since_ns[NCS_EVENT_COUNT];
};

/* Sampling of records; struct ncs_sampling. */
struct ncs_sampling_view {
	unsigned level;    /* one operation in 2^level is chosen */
	uint64_t slow_ns;
	uint64_t kept;     /* number of operations, like the next two */
	uint64_t left_out;
	uint64_t slow;
};

/* Kernel timing; struct ncs_kernel. */
struct ncs_kernel_view {
	enum ncs_kernel_status status;
	enum ncs_kernel_timing mode;
	/* True in segments up to minor version 5, whose plugin timed one of
	 * `period` groups of calls (0: none). If false, the rest is 0. */
	bool counted;
	uint64_t period;
	uint64_t timed_calls;
	uint64_t captured_on;
	uint64_t captured_off;
};

/* GPU times from CUPTI; struct ncs_cupti. All numbers are 0 in segments of the
 * process that do not report them. */
struct ncs_cupti_view {
	bool known; /* false: the plugin does not report a status */
	enum ncs_cupti_status status;
	struct ncs_gpu_time total;
	uint64_t unplaced; /* kernels in no range, as their launch is unknown */
	uint64_t lost;     /* kernels missing in these sums */
	/* Kernels that communicate outside NCCL, the time in which any of them
	 * ran, and in which any kernel ran; this is 0 where the plugin does not
	 * tell them apart. */
	uint64_t outside_kernels;
	uint64_t outside_busy_ns;
	uint64_t busy_ns;
};

/* Launches of NCCL's kernels; struct ncs_launch_progress. All fields are 0 in a
 * segment that has none. ended <= begun <= followed <= launched. */
struct ncs_launches_view {
	enum ncs_stream_status status;
	unsigned level; /* one launch in 2^level is timed */
	uint64_t ended; /* number of the launch, like the next three */
	uint64_t begun;
	uint64_t followed;
	uint64_t launched;
	uint64_t ended_ns; /* when that was seen, like the next one */
	uint64_t begun_ns;
	uint64_t launched_ns; /* when it was launched */
	uint64_t timed;
	uint64_t captured;
	uint64_t bias_ns;
	uint64_t error_ns; /* of the begin of a timed operation; 0: unknown */
	uint64_t failure;  /* error number of CUDA's driver; 0: none */
	uint64_t watch_since_ns; /* start of the driver call in progress */
	uint64_t missed; /* launches that should have been timed, too */
	uint64_t other_context; /* launches outside the primary context */
};

/* Captured graphs and their replays; struct ncs_graphs. All fields are 0 in a
 * segment that has none. */
struct ncs_graphs_view {
	uint64_t graphs;
	/* Captured launches that report their replays; of replays, which ones
	 * (struct ncs_graphs). */
	uint64_t stamped;
	uint64_t failure; /* error number of CUDA's driver; 0: none */
	/* In the segment of a communicator's replays: */
	bool are_replays;  /* it is one */
	uint64_t of;	   /* comm_id of the communicator */
	uint64_t replays;  /* of all graphs */
	uint64_t launches; /* in them, as far as they are known to be over */
	uint64_t timed;	   /* those of them that were reported */
	uint64_t lost;	   /* reports that were overwritten unread */
};

/* Returns the status of timing to show to users: NCS_STREAM_MOST if all
 * launches should have been timed but some were not. */
static inline enum ncs_stream_status
ncs_launches_told(const struct ncs_launches_view *launches)
{
	bool followed = launches->status == NCS_STREAM_WAITING ||
			launches->status == NCS_STREAM_ALL ||
			launches->status == NCS_STREAM_SOME;

	return followed && launches->level == 0 && launches->missed > 0 ?
		       NCS_STREAM_MOST :
		       launches->status;
}

/* How far a launch has got, when the plugin last looked. */
enum ncs_launch_phase {
#define X(ID, name, help) NCS_LAUNCH_PHASE_##ID,
	NCS_LAUNCH_PHASES(X)
#undef X
};

/* Returns the phase of a launch of the communicator; `launch` is its number, 0
 * if that is not known. */
enum ncs_launch_phase ncs_launch_phase(const struct ncs_launches_view *launches,
				       uint64_t launch);

/* Returns when a launch was last seen to begin or end; 0: never. */
static inline uint64_t
ncs_launches_moved_ns(const struct ncs_launches_view *launches)
{
	return launches->begun_ns > launches->ended_ns ? launches->begun_ns :
							 launches->ended_ns;
}

/* The offset of the GPU's clock from CLOCK_MONOTONIC; struct ncs_gpu_clock. */
struct ncs_gpu_clock_view {
	bool known;          /* false: do not use the other fields */
	uint64_t told_ns;    /* time at which it was measured */
	int64_t offset_ns;   /* GPU clock minus CLOCK_MONOTONIC, modulo 2^64 */
	uint64_t error_ns;   /* error of the offset at that time, at most */
	uint64_t quantum_ns; /* resolution of the GPU's clock */
};

/* The settings of the rank's plugin, and the latest request (control_object.h);
 * struct ncs_settings. */
struct ncs_settings_view {
	bool known;                 /* false: all other fields are 0 */
	struct ncs_detail in_force; /* all fields are set */
	uint64_t asked;             /* latest request handled; 0: none */
	enum ncs_refusal refused;   /* the part of it that was refused */
	uint64_t changes;           /* number of changes of in_force */
	uint64_t changed_ns;        /* time of the latest change */
	/* End of the lease in force; 0: none. The lease is over after that
	 * time, even if the plugin has had no call to notice it since. */
	uint64_t lease_until_ns;
	uint32_t lease_pid; /* process that holds the lease */
};

/* How far back records go that a reader which opens the segment now can read. */
struct ncs_reach {
	uint64_t overwritten; /* number of earlier ones */
	/* All that were published later are there. 0: none was overwritten, or it
	 * is not known, as in a recording. */
	uint64_t from_ns;
};

/* A copy of a segment's state at one time. All pointers are the snapshot's. */
struct ncs_snapshot {
	uint64_t taken_ns;
	uint64_t last_call_ns; /* latest callback of NCCL; 0: none yet */
	uint64_t finished_ns;  /* end of the communicator; 0: not finished */
	/* When the process was last known to live, by the plugin's heartbeat; 0:
	 * it has none. */
	uint64_t alive_ns;
	enum ncs_liveness liveness;
	bool process_gone;    /* also false if this is not known */
	bool process_stopped; /* by a debugger or signal; as above */
	/* Code that communicates outside NCCL and that the process has loaded:
	 * bits by enum ncs_outside_code. */
	uint64_t outside_code;
	bool torn; /* a block changed during the copy: values may be mixed */
	struct ncs_identity identity;
	struct ncs_proxy_view proxy;
	struct ncs_sampling_view sampling;
	struct ncs_kernel_view kernel;
	struct ncs_cupti_view cupti;
	struct ncs_launches_view launches;
	struct ncs_graphs_view graphs;
	struct ncs_gpu_clock_view gpu_clock;
	struct ncs_settings_view settings;
	struct ncs_channel_view *channels; /* by channel, direction, peer */
	size_t channel_count;
	struct ncs_operation_view *operations; /* in flight, oldest first */
	size_t operation_count;
	struct ncs_range_view *ranges; /* by number; outer before inner */
	size_t range_count;
	uint64_t *range_buckets; /* NCS_RANGE_BUCKETS per histogram */
	size_t range_histogram_count;
	struct ncs_lane_view *lanes;
	size_t lane_count;
	struct ncs_function_view functions[NCS_FUNCTION_COUNT];
	/* Classes in use, sorted by function, size class, algorithm,
	 * protocol. */
	struct ncs_class_view *classes;
	size_t class_count;
	uint64_t *class_buckets;
	size_t class_bucket_count;
	size_t class_bucket_capacity; /* allocated; private to the reader */
	uint64_t events[NCS_EVENT_COUNT]; /* number of starts */
	/* By enum ncs_loss. OVERWRITTEN counts records that a reader which
	 * opens the segment now can no longer read. */
	uint64_t losses[NCS_LOSS_COUNT];
	struct ncs_reach calls_reach;    /* operations, launches, API calls */
	struct ncs_reach children_reach; /* proxy operations, steps, kernels */
};

/* Allocates memory for the largest snapshot of this reader's segment. Returns
 * 0, or -ENOMEM with nothing to release. Release with
 * ncs_snapshot_release(). */
int ncs_snapshot_init(struct ncs_snapshot *snapshot,
		      const struct ncs_reader *reader);
/* Releases the memory; *snapshot is all zeros afterwards. */
void ncs_snapshot_release(struct ncs_snapshot *snapshot);

/* Returns the index in snapshot->ranges of the range with this number, or
 * snapshot->range_count if there is none. */
size_t ncs_range_place(const struct ncs_snapshot *snapshot, uint64_t number);

/* Returns a range's histogram, NCS_RANGE_BUCKETS counts owned by the snapshot,
 * or NULL if there is none. */
static inline const uint64_t *
ncs_range_buckets(const struct ncs_snapshot *snapshot,
		  const struct ncs_range_view *range, enum ncs_timing timing)
{
	uint32_t place = range->histogram[timing];

	return place != 0 ? &snapshot->range_buckets[(size_t)(place - 1) *
						     NCS_RANGE_BUCKETS] :
			    NULL;
}

/* Replaces the snapshot's contents by the segment's current state. `snapshot`
 * was initialised for this reader. `now_ns` is the current CLOCK_MONOTONIC.
 * Does not fail: a histogram is missing if there is no memory for it. */
void ncs_snapshot_take(struct ncs_snapshot *snapshot,
		       struct ncs_reader *reader, uint64_t now_ns);

/* Makes the snapshot of a rank that lives one of a later time, at which the
 * segment said the same but for the process's heartbeat, alive_ns: as if it had
 * been taken then. `created_ns` is the segment's creation. */
void ncs_snapshot_advance(struct ncs_snapshot *snapshot, uint64_t created_ns,
			  uint64_t now_ns, uint64_t alive_ns);

#ifdef __cplusplus
}
#endif

#endif
