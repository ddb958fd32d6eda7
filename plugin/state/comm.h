/* SPDX-License-Identifier: MIT */
/* The plugin's private side of a communicator, and of its publishing threads.
 *
 * Everything that a callback uses to find its way (indices, generations,
 * pointers) is in here, in memory that no other process can write; what is
 * published is in the segment (ncclstat/abi.h). A communicator's structure and
 * its mappings are never freed, so that a late callback harms nobody.
 *
 * Threads: the registry changes under the lock of lifecycle.c only; callbacks
 * read it without a lock.
 */
#ifndef NCS_PLUGIN_STATE_COMM_H
#define NCS_PLUGIN_STATE_COMM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "ncclstat/abi.h"
#include "plugin/state/gpu_clock.h"
#include "plugin/state/mask_comm.h"
#include "shm/atomics.h"
#include "shm/clock.h"
#include "shm/ring.h"
#include "shm/write/writer.h"

#define NCS_COMM_MAX 64u
#define NCS_LANE_MAX 9u    /* lane 0 is the shared one */
#define NCS_THREAD_MAX 64u /* threads that are told apart; more share lane 0 */
#define NCS_CLASS_MAX (NCS_FUNCTION_MAX + 64u)
#define NCS_SPAN_MAX 128u /* events under way, a lane */
#define NCS_PROXY_OP_MAX 1024u
#define NCS_STEP_MAX 8u /* NCCL_STEPS: steps of a proxy operation at once */
#define NCS_NONE 0xffffu

/* Tags are the generations of slots: odd while in use, even while free; they
 * only grow. A handle carries the tag of its slot, so that one which comes
 * back too late is told from the slot's next use. */

/* Records in the making are there as fields and as words: a word that is read
 * soon after it was put together from smaller stores has to wait for them, so
 * what is known at once is stored as words (lane.h). */
/* What was chosen for the records of an operation's child: sampling.h. */
struct ncs_sampled {
	uint64_t flags;          /* that they get */
	uint64_t left_out_since; /* ticks; 0: they are published */
};

/* Any event but Coll, P2p, ProxyOp, ProxyStep and ProxyCtrl. */
struct ncs_span_slot {
	uint64_t tag;
	union {
		struct ncs_record record;
		uint64_t words[NCS_RECORD_WORDS];
	};
	struct ncs_sampled sampled;
	uint64_t operation_handle; /* of a child's operation, 0: none */
	uint64_t gpu_start_ns;
	uint64_t gpu_stop_ns;
	uint64_t since; /* ticks when it was launched, about; 0: unknown */
	bool launched;  /* … and certainly not later */
};

/* A collective or point-to-point operation, Coll or P2p. */
struct ncs_op {
	uint64_t tag;
	uint64_t number; /* in its communicator, from 1; 0: slot never used */
	struct ncs_operation *published;
	uint64_t start;
	uint64_t launched; /* ticks before its kernel was; 0: unknown */
	uint64_t enqueued; /* ticks of its stopEvent; 0: not yet */
	uint64_t bytes;
	uint64_t sequence_number;
	uint64_t children;    /* how many, and whose slot it is: operation.c */
	uint64_t proxy_start; /* ticks, 0: none */
	uint64_t proxy_stop;
	uint64_t kernel_start_ns; /* the GPU's clock, 0: none */
	uint64_t kernel_stop_ns;
	uint64_t recorded_ns[NCS_TIMING_COUNT]; /* plus 1; 0: not timed */
	uint64_t stream; /* that it was called on, as in records; 0: unknown */
	uint64_t sampling;  /* flags of its records: sampling.h */
	uint64_t under_way; /* ticks, if its children's are left out; 0: not */
	uint8_t event;
	uint8_t function;
	uint8_t size_known;
	uint16_t class_index;
	int32_t peer;
	uint32_t range; /* that it was called in; 0: none */
};

struct ncs_proxy_op;

/* One transfer; a cache line. What its record shares with that of its proxy
 * operation is there. */
struct ncs_step_slot {
	_Alignas(NCS_CACHE_LINE) uint64_t handle; /* as struct ncs_proxy_op's */
	struct ncs_proxy_op *op;                  /* always the same */
	uint32_t number;
	uint32_t state; /* enum ncs_channel_state */
	uint64_t start;
	uint64_t bytes;
	uint64_t delta[2];
	uint64_t flags; /* the record's, in their place in their word */
};

struct ncs_channel_queue;

struct ncs_proxy_op {
	/* What NCCL holds while in use; while free, its last one without its
	 * kind, so that no handle is equal to it. */
	uint64_t handle;
	uint16_t next; /* younger proxy operation of the channel */
	uint16_t previous;
	uint8_t has_sample;
	uint8_t size_known;
	uint8_t send;
	uint32_t live; /* steps under way */
	uint32_t nsteps;
	struct ncs_channel_queue *queue;
	struct ncs_step_slot *steps; /* NCS_STEP_MAX; NULL: slot never used */
	struct ncs_sampled sampled;
	uint64_t steps_done;
	uint64_t first_step;
	uint64_t step_words[2]; /* words 1 and 2 of its steps' records */
	uint64_t bytes;
	uint64_t operation_handle; /* 0: none */
	uint64_t operation;        /* its number, 0: none */
	uint64_t in_progress;
	uint64_t cumulative_bytes; /* API 1-3: the latest sample */
	union {
		struct ncs_record record;
		uint64_t words[NCS_RECORD_WORDS];
	};
};

/* Proxy operations of a channel, oldest first. */
struct ncs_channel_queue {
	struct ncs_channel *channel;
	/* The oldest unfinished step of the oldest proxy operation that has
	 * one; NULL: none. */
	struct ncs_step_slot *head;
	uint16_t first;
	uint16_t last;
};

/* Two threads that write here must not share a line, nor the line that is
 * fetched along with it. */
#define NCS_APART _Alignas(2 * NCS_CACHE_LINE)

/* A publishing thread of one communicator. */
struct ncs_lane_state {
	NCS_APART struct ncs_lane *published;
	struct ncs_ring_producer ring;
	struct ncs_span_slot *spans; /* NCS_SPAN_MAX */
	uint64_t span_hint;          /* the one claimed last */
	/* The thread's latest KernelLaunch or API call began; 0: none. */
	uint64_t launched;
	/* The ProxyCtrl event under way; a thread has one at a time. */
	uint64_t ctrl_tag;
	union {
		struct ncs_record ctrl;
		uint64_t ctrl_words[NCS_RECORD_WORDS];
	};
	uint64_t ring_busy; /* shared lane: 1 while a thread publishes */
	/* What its ring says of the streams of operations: the latest STREAM
	 * record's, 0 before any, and how many operations came since. */
	uint64_t stream;
	uint64_t stream_age;
	uint32_t index;
	bool shared;
};

/* Collectives and transfers as all ranks count them; see sampling.h. */
struct ncs_counted_function {
	uint64_t numbers; /* the largest sequence number, plus 1; 0: none */
	uint64_t repeats; /* of numbers that were told before */
};

#define NCS_TRANSFER_MAX 256u

struct ncs_counted {
	uint64_t comm_id;
	uint64_t rank;
	struct ncs_counted_function functions[NCS_FUNCTION_MAX];
	uint64_t transfers[NCS_TRANSFER_MAX]; /* by peer and direction */
};

struct ncs_comm {
	uint64_t context; /* what NCCL holds; 0: this entry was never used */
	/* The address of its steps (NCS_PROXY_OP_MAX * NCS_STEP_MAX), in order
	 * of their proxy operations; 0 before publication and after finalize. */
	uint64_t live;
	uint32_t index; /* in the registry */
	uint32_t api_version;
	int32_t nranks; /* -1: unknown */
	struct ncs_header *header;
	struct ncs_channel *channels;
	struct ncs_operation *operations;
	struct ncs_class *classes;
	struct ncs_histogram *histograms;
	struct ncs_range *ranges;
	struct ncs_range_histogram *range_histograms;
	/* What of each channel's times has been charged to a range: a line for
	 * each table entry, its last word 1 once it is in use. */
	uint64_t (*charged)[8];
	uint32_t range_count; /* 0: ranges are off */
	uint32_t range_histogram_count;
	uint32_t channel_count; /* a power of two */
	uint32_t operation_count;
	uint32_t class_count; /* NCS_FUNCTION_MAX and a power of two */
	uint32_t histogram_count;
	uint64_t lanes_claimed;
	uint64_t identified; /* API 1-3: 1 once told who we are */
	struct ncs_op *ops;
	struct ncs_proxy_op *proxy_ops;
	struct ncs_step_slot *steps;
	struct ncs_channel_queue *queues; /* one a channel table entry */
	/* A channel's index plus 1 by the hash of its key; 0: none. As many as
	 * ncs_channel_places(). */
	uint64_t *channel_places;
	/* Of a class: index in the histogram table plus 1; 0: none yet; more
	 * than there are: none, for good. */
	uint64_t histogram_of[NCS_CLASS_MAX][NCS_TIMING_COUNT];
	/* By thread index (lane.h); NULL: not claimed yet. The last one is for
	 * all threads that are not told apart. */
	struct ncs_lane_state *lane_of_thread[NCS_THREAD_MAX + 2];
	struct ncs_writer writer;
	void *private_memory;
	uint64_t finished_order; /* the lower, the earlier finalized */
	uint32_t profile;        /* which size it was laid out with */
	/* Launching threads write these, … */
	NCS_APART uint64_t operation_number; /* of the latest operation */
	struct ncs_counted counted;
	struct ncs_mask_comm mask;
	/* … the proxy thread these: … */
	NCS_APART uint64_t proxy_op_hint; /* slots before it are taken, likely */
	uint64_t proxy_op_evict;
	uint64_t proxy_resting; /* state that sleep and append come back to */
	struct ncs_gpu_bounds gpu; /* kernel.c */
	uint64_t gpu_busy;         /* 1 while a thread changes them */
	/* … what found no room in the table, seen by nobody, … */
	struct ncs_channel_queue overflow_queue;
	struct ncs_channel overflow_channel;
	/* … and each thread its lane. */
	struct ncs_lane_state lanes[NCS_LANE_MAX];
};

#endif
