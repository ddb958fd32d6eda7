/* SPDX-License-Identifier: MIT */
/* The plugin's private side of a communicator and of its publishing threads.
 *
 * Each communicator has two sides. The segment (ncclstat/abi.h) is what readers
 * see. Everything that a callback uses to find its way (indices, tags,
 * pointers) is in here, in memory that no other process can write. The memory
 * of a communicator is reused but never unmapped, except in a forked child, so
 * that a late callback does no harm.
 *
 * Threads: callbacks on any thread use these structures without a lock; each
 * member says below who writes it where that matters. init, finalize and fork
 * change them under the lock of plugin/life/lifecycle.c.
 */
#ifndef NCS_PLUGIN_STATE_COMM_H
#define NCS_PLUGIN_STATE_COMM_H

#include <assert.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "ncclstat/abi.h"
#include "plugin/nccl/nccl_names.h"
#include "plugin/state/decoded.h"
#include "plugin/state/gpu_clock.h"
#include "plugin/state/noted_calls.h"
#include "shm/atomics.h"
#include "shm/clock.h"
#include "shm/ring.h"
#include "shm/write/writer.h"

#define NCS_COMM_MAX 64u   /* communicators of a process */
#define NCS_LANE_MAX 9u    /* lanes of a communicator; lane 0 is shared */
#define NCS_CALL_LANES 4u  /* the most call lanes of a communicator */
#define NCS_THREAD_MAX 64u /* threads with an index of their own */
#define NCS_CLASS_MAX (NCS_FUNCTION_MAX + 64u)
#define NCS_SPAN_MAX 128u /* events in progress on a lane */
#define NCS_PROXY_OP_MAX 1024u
#define NCS_PROXY_OP_FREE_WORDS (NCS_PROXY_OP_MAX / 64)
/* A proxy operation without a step in progress is taken for one that NCCL never
 * stops after this many later ones. */
#define NCS_PROXY_OP_AGE (64 * NCS_PROXY_OP_MAX)
#define NCS_STEP_MAX 8u  /* NCCL_STEPS: steps of a proxy operation */
#define NCS_NONE 0xffffu /* no index */

/* Slots. Events in progress are kept in slots of fixed arrays. A slot's tag is
 * its generation: odd while the slot is in use, even while it is free, and
 * always growing. A handle carries the tag of its slot (handle.h), so that a
 * handle that comes back too late is told apart from the slot's next use.
 *
 * Records under construction can be accessed as fields and as words. A load of
 * a word that was just put together by smaller stores has to wait for all of
 * them, so values that are known at the same time are stored as whole words
 * (lane.h). */

/* Sampling of the records of an operation's child; see events/sampling.h. */
struct ncs_sampled {
	uint64_t flags; /* flags to set in the child's records */
	/* 0 if the records are published; else ticks since when the operation
	 * has been in progress: if it takes too long, the records are
	 * published. */
	uint64_t left_out_since;
};

/* An event in progress of any type but Coll, P2p, ProxyOp, ProxyStep and
 * ProxyCtrl. The first cache line is all that most of them use. */
struct ncs_span_slot {
	union {
		_Alignas(NCS_CACHE_LINE) struct ncs_record record;
		uint64_t words[NCS_RECORD_WORDS];
		/* The tag is in the place of the duration, which is not known
		 * until the record is published. */
		struct {
			uint64_t before_tag[5];
			uint64_t tag;
		};
	};
	/* Only used by children of operations: KernelCh, KernelPhase,
	 * NetPlugin. */
	struct ncs_sampled sampled;
	/* Handle of the operation that this event is a child of; 0 if none. */
	uint64_t operation_handle;
	uint64_t gpu_start_ns; /* by the GPU's clock; 0 if unknown */
	uint64_t gpu_stop_ns;
	/* Approximate ticks of the kernel's launch; 0 if unknown. */
	uint64_t since;
	bool launched; /* true if the launch was certainly not before `since` */
};

#define NCS_DURATION_WORD (offsetof(struct ncs_record, duration) / 8)
static_assert(offsetof(struct ncs_span_slot, tag) ==
		      offsetof(struct ncs_record, duration),
	      "the tag is in the place of the duration");
static_assert(sizeof(struct ncs_span_slot) == 2 * NCS_CACHE_LINE,
	      "slots of spans are aligned");

/* A collective or point-to-point operation (Coll, P2p) in progress. */
struct ncs_operation_slot {
	/* Read when the slot is claimed. */
	_Alignas(NCS_CACHE_LINE) uint64_t tag;
	/* Counts of children, and the slot's owner: slots.h. */
	uint64_t children;
	uint64_t enqueued; /* ticks of its stopEvent; 0 before that */
	/* Number of its launch; 0 if unknown, or if the launch has ended it. */
	uint64_t launch;
	uint64_t number; /* in its communicator, from 1; 0 if never used */
	struct ncs_operation *published; /* its entry in the segment */
	uint64_t start;
	uint64_t launched; /* ticks shortly before its launch; 0 if unknown */
	uint64_t bytes;
	uint64_t sequence_number; /* of a transfer: that of its record */
	uint64_t stream;   /* CUDA stream, as in records; 0 if unknown */
	uint64_t sampling; /* flags of its records: events/sampling.h */
	/* Ticks of its first progress, if its children's records are left out;
	 * else 0. */
	uint64_t under_way;
	uint8_t event;
	uint8_t function;
	uint8_t size_known;
	uint16_t class_index;
	int32_t peer;
	uint32_t range; /* number of the range it was called in; 0 if none */
	/* The times are 0 before they are known. */
	uint64_t proxy_start; /* ticks */
	uint64_t proxy_stop;
	uint64_t kernel_start_ns; /* by the GPU's clock */
	uint64_t kernel_stop_ns;
	/* When its kernel began, in ticks, and how long it took. */
	uint64_t stream_begin;
	uint64_t stream_ns;
	/* Time that was last added to the histograms, plus 1; 0 if none was. */
	uint64_t recorded_ns[NCS_TIMING_COUNT];
	uint64_t stream_bytes; /* of all operations of the launch */
};

/* Whether a communicator for copies has to be made. */
enum ncs_copies_wanted {
	NCS_COPIES_NONE,
	NCS_COPIES_WANTED,
	NCS_COPIES_REFUSED, /* there is no room for one */
};

struct ncs_launches;
struct ncs_launch_slot;
struct ncs_transfer_place;
struct ncs_proxy_op_slot;

/* A proxy step in progress; one cache line. The part of its record that all
 * steps of a proxy operation share is in struct ncs_proxy_op_slot. */
struct ncs_step_slot {
	/* See struct ncs_proxy_op_slot. */
	_Alignas(NCS_CACHE_LINE) uint64_t handle;
	struct ncs_proxy_op_slot *op; /* never changes */
	uint32_t number;
	uint32_t state; /* enum ncs_channel_state */
	uint64_t start;
	uint64_t bytes;
	uint64_t delta[2]; /* of its record */
	uint64_t flags;    /* of its record, at their position in word 1 */
};

struct ncs_channel_queue;

/* A proxy operation in progress. */
struct ncs_proxy_op_slot {
	/* In use: the handle that NCCL holds. Free: the last handle without its
	 * kind, which is equal to no handle. */
	uint64_t handle;
	/* Index of the next younger proxy operation in the channel's queue. */
	uint16_t next;
	uint16_t previous;
	uint8_t has_sample; /* API 1-3: `cumulative_bytes` is valid */
	uint8_t size_known;
	uint8_t send;
	uint32_t live; /* number of steps in progress */
	uint32_t nsteps;
	uint32_t order; /* low bits of its number in the communicator */
	struct ncs_channel_queue *queue;
	/* Its NCS_STEP_MAX steps; NULL if the slot was never used. */
	struct ncs_step_slot *steps;
	struct ncs_sampled sampled;
	uint64_t steps_done;
	uint64_t first_step; /* ticks when its first step started; 0 before */
	uint64_t step_words[2]; /* words 1 and 2 of its steps' records */
	uint64_t bytes;
	uint64_t operation_handle; /* of the operation; 0 if unknown */
	uint64_t operation;        /* number of the operation; 0 if unknown */
	uint64_t in_progress;      /* ticks of its first progress; 0 before */
	uint64_t cumulative_bytes; /* API 1-3: last reported sum */
	union {
		struct ncs_record record;
		uint64_t words[NCS_RECORD_WORDS];
	};
};

/* The proxy operations of a channel, oldest first. */
struct ncs_channel_queue {
	struct ncs_channel *channel; /* the entry in the segment */
	/* The oldest unfinished step of the oldest proxy operation that has
	 * one; NULL if there is none. */
	struct ncs_step_slot *head;
	uint16_t first; /* indices of proxy operations; NCS_NONE if empty */
	uint16_t last;
	/* Number of steps started, plus 1, when a proxy operation was found
	 * that had none within NCS_PROXY_OP_AGE; 0 before that. */
	uint64_t stepless;
};

/* Members that different threads write must not share a cache line, nor a pair
 * of lines that the processor fetches together. */
#define NCS_APART _Alignas(2 * NCS_CACHE_LINE)

/* A lane: a publishing thread's rings and counters in a communicator. */
struct ncs_lane_state {
	/* Each callback uses these members. */
	NCS_APART struct ncs_lane *published; /* the counters in the segment */
	struct ncs_ring_producer ring;
	struct ncs_span_slot *spans; /* NCS_SPAN_MAX of them */
	uint64_t span_hint;          /* index of the slot claimed last */
	uint16_t index; /* in the communicator's lanes */
	bool shared; /* true for lane 0, which many threads may use at once */
	/* The handle of a span here, without slot and tag (handle.h). */
	uint32_t span_handle;
	/* The ring of its call lane; without a ring if it has none. */
	struct ncs_ring_producer calls;
	/* Ticks when the thread's last KernelLaunch or API call began; 0 if
	 * there was none. */
	uint64_t launched;
	/* The thread's last KernelLaunch: its number in the communicator, 0 if
	 * it was captured or there was none; its slot, NULL if it is not
	 * followed. */
	uint64_t launch_number;
	struct ncs_launch_slot *launch_slot;
	/* Whether the thread's last KernelLaunch was captured, and its index
	 * plus 1 in captured.h; 0 if it is not there. */
	bool is_captured;
	uint32_t captured_launch;
	/* The thread's latest call and its handle, 0 if there was none; not in
	 * the shared lane. */
	uint64_t call_handle;
	struct ncs_noted_call call;
	/* The GroupApi event that this call is in; 0 if that is not known. */
	uint64_t call_group;
	/* The CUDA stream in the last STREAM record of the thread's operations,
	 * 0 before the first one, and the number published since. */
	uint64_t stream;
	uint32_t stream_age;
	uint32_t class_index; /* of the thread's latest operation */
	/* The names in the thread's latest call; not in the shared lane. */
	_Alignas(NCS_CACHE_LINE) struct ncs_known_names names;
	/* The collective by copy engines that the thread submits, and its event's
	 * handle; 0 if there is none. */
	struct ncs_operation_facts copy;
	uint64_t copy_handle;
	uint64_t ring_busy; /* shared lane: 1 while a thread publishes */
	/* The ProxyCtrl event in progress; a thread has one at a time. */
	uint64_t ctrl_tag;
	union {
		struct ncs_record ctrl;
		uint64_t ctrl_words[NCS_RECORD_WORDS];
	};
	/* Its call lane, if it has one, and the short ring of that. */
	struct ncs_lane *call_lane;
	struct ncs_ring_producer short_ring;
};

/* Numbers of operations on which all ranks agree; see events/sampling.h. */
struct ncs_counted_function {
	uint64_t numbers; /* greatest sequence number plus 1; 0 before any */
	uint64_t repeats; /* number of operations with a repeated number */
};

struct ncs_counted {
	struct ncs_counted_function functions[NCS_FUNCTION_MAX];
	uint64_t comm_id;
	uint64_t rank;
	uint64_t unplaced; /* transfers on connections without a place */
};

struct ncs_comm {
	/* Each callback uses these members. */
	NCS_APART uint64_t context; /* that NCCL holds; 0 if never used */
	/* Address of its steps, NCS_PROXY_OP_MAX * NCS_STEP_MAX of them in
	 * order of their proxy operations; 0 before publication and after
	 * finalize. */
	uint64_t live;
	uint32_t index; /* in the registry */
	int32_t nranks; /* -1 if unknown */
	uint32_t operation_count; /* a power of two */
	uint32_t class_count; /* NCS_FUNCTION_MAX plus a power of two */
	struct ncs_header *header; /* the segment */
	struct ncs_class *classes; /* in the segment */
	struct ncs_operation_slot *ops; /* private: comm_memory.h */
	struct ncs_proxy_op_slot *proxy_ops;
	uint64_t mask; /* address of NCCL's mask; 0 if none was passed */
	uint64_t event_mask; /* as published */
	uint64_t launches; /* address, see launches.h; 0 if not followed */
	uint32_t range_count; /* 0 if ranges are off */
	uint32_t api_version;
	/* By thread index (lane.h); NULL if the thread has no lane yet. The
	 * last one serves all threads without an index of their own. */
	struct ncs_lane_state *lane_of_thread[NCS_THREAD_MAX + 2];
	/* Other tables in the segment, and their sizes. */
	struct ncs_channel *channels;
	struct ncs_operation *operations;
	struct ncs_histogram *histograms;
	struct ncs_range *ranges;
	struct ncs_range_histogram *range_histograms;
	/* For each channel table entry, a cache line with the part of each of
	 * its times that was already added to a range; the line's last word is
	 * 1 once it is in use. */
	uint64_t (*charged)[8];
	uint32_t range_histogram_count;
	uint32_t channel_count; /* a power of two */
	uint32_t histogram_count;
	uint32_t lane_count; /* at most NCS_LANE_MAX */
	uint64_t lanes_claimed; /* in this life: lane.c */
	uint64_t identified; /* API 1-3: 1 once NCCL has reported our rank */
	/* Other private arrays. */
	struct ncs_step_slot *steps;
	struct ncs_channel_queue *queues; /* one for each channel table entry */
	/* Index of channels by the hash of their keys: an entry's index in the
	 * table plus 1; 0 if free. ncs_channel_places() places. */
	uint64_t *channel_places;
	/* Counts of transfers by connection: state/transfers.h. */
	struct ncs_transfer_place *transfers;
	uint64_t transfer_places;  /* in use: a power of two */
	uint64_t transfers_missed; /* 1 once some were not reported */
	/* For each class and timing: index of its histogram plus 1; 0 if none
	 * has been claimed yet; more than histogram_count if there never will
	 * be one. */
	uint64_t histogram_of[NCS_CLASS_MAX][NCS_TIMING_COUNT];
	struct ncs_writer writer;
	void *private_memory;
	size_t private_bytes;
	uint64_t finished_order; /* smaller if finalized earlier */
	bool is_companion; /* it has another one's replays, or its copies */
	/* Collectives by copy engines (events/copies.h): their communicator's address,
	 * 0 if there is none; enum ncs_copies_wanted; how many there were, by
	 * function. */
	uint64_t copies, copies_wanted;
	uint64_t copied[NCS_FUNCTION_MAX];
	/* 1 once a copy was captured into a graph before there was that communicator:
	 * ranks would count replays differently. In both, once it is there. */
	uint64_t captures_missed;
	struct ncs_segment_size size; /* of its tables */
	/* Written by launching threads: */
	NCS_APART struct ncs_counted counted;
	/* Written by the proxy thread: */
	/* A bit for each slot of a proxy operation: 1 if it was noted as
	 * free. */
	NCS_APART uint64_t proxy_ops_free[NCS_PROXY_OP_FREE_WORDS];
	uint64_t proxy_op_number; /* of the last proxy operation */
	uint64_t proxy_op_cursor; /* of the search when none is noted */
	uint64_t proxy_resting;  /* state to return to after sleep and append */
	struct ncs_gpu_bounds gpu; /* events/span.c */
	uint64_t gpu_busy;         /* 1 while a thread changes `gpu` */
	/* Stand-ins for channels that found no room in the table; not
	 * published. */
	struct ncs_channel_queue overflow_queue;
	struct ncs_channel overflow_channel;
	/* Each written by its own thread: */
	struct ncs_lane_state lanes[NCS_LANE_MAX];
};

#endif
