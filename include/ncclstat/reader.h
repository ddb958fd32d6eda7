/* SPDX-License-Identifier: MIT */
/* Looking at a rank from outside: find segments, attach, copy, read records.
 *
 * The library behind the ncclstat program (libncclstat). All functions only
 * read: segments are mapped PROT_READ, and the job never learns of a reader.
 * Nothing in a segment is trusted. Functions are not thread-safe for one
 * reader or snapshot; different ones may be used by different threads.
 *
 * A segment that is cut short under a reader raises SIGBUS, as any mapping
 * does. Programs that must survive that call ncs_reader_guard() once.
 */
#ifndef NCCLSTAT_READER_H
#define NCCLSTAT_READER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "ncclstat/abi.h"
#include "ncclstat/control_object.h"

#ifdef __cplusplus
extern "C" {
#endif

/* --- Finding segments ------------------------------------------------- */

/* Paths of files that are named like segments, sorted. */
struct ncs_paths {
	char **path;
	size_t count;
};

/* The directory that holds segments: `directory` if not NULL, else
 * $NCCLSTAT_DIR, else /dev/shm. */
const char *ncs_directory(const char *directory);

/* Lists what is named like a segment in a directory. Returns 0 or -errno; on
 * success release with ncs_paths_release(). */
int ncs_discover(const char *directory, struct ncs_paths *paths);
void ncs_paths_release(struct ncs_paths *paths);

/* --- Attaching -------------------------------------------------------- */

enum ncs_attach {
	NCS_ATTACHED,
	NCS_ATTACH_ABSENT,        /* no such file */
	NCS_ATTACH_DENIED,        /* another user's */
	NCS_ATTACH_NOT_READY,     /* being created; try again */
	NCS_ATTACH_OTHER_VERSION, /* made by another major version */
	NCS_ATTACH_CORRUPT,       /* no segment, or not a sane one */
	NCS_ATTACH_FAILED,        /* the system refused: memory, files */
};

struct ncs_reader;

/* Maps a segment read-only and validates it. On NCS_ATTACHED *reader is set,
 * to be closed with ncs_reader_close(); otherwise it is NULL and `why` (which
 * may be NULL) gets one clause for people, at most `why_size` bytes. */
enum ncs_attach ncs_reader_open(const char *path, struct ncs_reader **reader,
				char *why, size_t why_size);
void ncs_reader_close(struct ncs_reader *reader);

/* Until the next look its pages do not count as this process's memory. */
void ncs_reader_rest(struct ncs_reader *reader);

/* The path it was opened with. Valid until closed. */
const char *ncs_reader_path(const struct ncs_reader *reader);

/* The header as validated when it was opened, with the clock refined. */
const struct ncs_header *ncs_reader_header(const struct ncs_reader *reader);

/* False once the file was removed, replaced or cut short. */
bool ncs_reader_is_valid(const struct ncs_reader *reader);

/* From now on a segment that is cut short reads as zeros instead of raising
 * SIGBUS. Installs a handler for SIGBUS; other causes keep their effect. */
void ncs_reader_guard(void);

/* --- A copy of everything ----------------------------------------------- */

enum ncs_liveness {
	NCS_ALIVE,
	NCS_SILENT,   /* alive, but NCCL has reported nothing new for 10 s */
	NCS_FINISHED, /* the communicator was finalized */
	NCS_DEAD,     /* the process is gone */
};

#define NCS_SILENT_AFTER_NS UINT64_C(10000000000)

/* In a snapshot all times are CLOCK_MONOTONIC ns of this host, 0: never; the
 * current state's running time is included in time_ns[]. */

struct ncs_proxy_view {
	enum ncs_proxy_state state;
	uint64_t since_ns;
	uint64_t appended_operations;
	uint64_t time_ns[NCS_PROXY_STATE_COUNT];
	uint64_t count[NCS_TRANSITION_COUNT];
};

struct ncs_channel_view {
	uint8_t channel;
	bool send;
	int32_t peer;
	enum ncs_channel_state state;
	uint64_t since_ns;
	unsigned function;  /* enum ncs_function_id, NCS_FUNCTION_OTHER */
	uint64_t operation; /* 0: none under way */
	uint64_t step;
	uint64_t nsteps;
	uint64_t operations_started;
	uint64_t operations_done;
	uint64_t steps_started;
	uint64_t steps_done;
	uint64_t bytes;
	uint64_t size_unknown; /* steps whose size NCCL did not tell */
	uint64_t time_ns[NCS_CHANNEL_STATE_COUNT];
};

struct ncs_function_view {
	uint64_t calls;
	uint64_t operations;
	uint64_t operations_done;
	uint64_t with_children; /* 0: NCCL reports no completion */
	uint64_t bytes;
	uint64_t size_unknown; /* operations whose size could not be told */
	uint64_t last_sequence_number; /* NCS_NO_SEQUENCE_NUMBER: none */
	uint64_t timed[NCS_TIMING_COUNT];
	uint64_t time_ns[NCS_TIMING_COUNT];
	uint64_t timed_bytes[NCS_TIMING_COUNT];
	/* NCS_HISTOGRAM_BUCKETS counts, or NULL: none. The snapshot's. */
	uint64_t *histogram[NCS_TIMING_COUNT];
};

/* Times of a class's operations. Their histogram is kept from its first count to
 * its last: buckets `first` … `first` + `count` - 1 are the `count` words of
 * the snapshot's class_buckets from `place` on. */
struct ncs_class_times {
	uint64_t timed; /* operations: the sum of the buckets */
	uint64_t time_ns;
	uint64_t bytes;
	uint64_t longest_ns;
	unsigned first;
	unsigned count;
	size_t place;
};

/* Operations of one function, size class, algorithm and protocol; the last
 * three are NCS_CLASS_OTHER for what found no class of its own. */
struct ncs_class_view {
	unsigned function;
	unsigned size_class; /* size_class.h */
	unsigned algorithm;
	unsigned protocol;
	uint64_t operations;
	struct ncs_class_times times[NCS_TIMING_COUNT];
};

/* What was called in a range of the user's. Counters are those of the range
 * itself, without the ranges in it, but for the busy time. */
struct ncs_range_view {
	uint32_t number;
	uint32_t parent; /* the number of the range around it; 0: none */
	char name[NCS_RANGE_NAME_BYTES]; /* as the user gave it, cut */
	uint64_t calls;
	uint64_t operations;
	uint64_t bytes;
	uint64_t size_unknown; /* operations whose size could not be told */
	uint64_t with_children;
	uint64_t with_children_bytes;
	uint64_t busy;    /* operations that make progress now */
	uint64_t busy_ns; /* the time in which one or more did */
	uint64_t timed[NCS_TIMING_COUNT];
	uint64_t time_ns[NCS_TIMING_COUNT];
	uint64_t timed_bytes[NCS_TIMING_COUNT];
	uint64_t channel_time_ns[NCS_CHANNEL_STATE_COUNT];
	struct ncs_gpu_time gpu;
	/* Place in the snapshot's, from 1; 0: none. See ncs_range_buckets(). */
	uint32_t histogram[NCS_TIMING_COUNT];
};

struct ncs_operation_view {
	uint64_t number;
	uint64_t start_ns;
	uint64_t sequence_number;
	uint64_t bytes;
	uint64_t count;
	unsigned event; /* NCS_EVENT_COLL, NCS_EVENT_P2P */
	unsigned function;
	unsigned datatype;
	unsigned algorithm;
	unsigned protocol;
	unsigned nchannels;
	int32_t peer;
	uint64_t user_tag; /* 0: none */
	uint32_t range; /* that it was called in; 0: none */
	uint64_t enqueued_ns;
	uint64_t children_started;
	uint64_t children_done;
	uint64_t first_child_ns;
	uint64_t last_child_done_ns;
};

struct ncs_lane_view {
	uint64_t last_call_ns;
	uint64_t published; /* records */
	uint64_t open_since_ns[NCS_EVENT_COUNT];
};

struct ncs_sampling_view {
	unsigned level; /* one operation in 2^level keeps its records */
	uint64_t slow_ns;
	uint64_t kept; /* operations, like the next two */
	uint64_t left_out;
	uint64_t slow;
};

struct ncs_kernel_view {
	enum ncs_kernel_status status;
	enum ncs_kernel_timing mode;
	uint64_t period; /* 0: no such */
	uint64_t timed_calls;
	uint64_t captured_on;
	uint64_t captured_off;
};

/* What CUPTI has recorded; 0 in all communicators of a process but those that
 * told it. */
struct ncs_cupti_view {
	bool known; /* else the plugin knows nothing of CUPTI */
	enum ncs_cupti_status status;
	struct ncs_gpu_time total;
	uint64_t unplaced; /* kernels in no range, for want of their launch */
	uint64_t lost;     /* records that are missing in these sums */
};

/* What the GPU's clock, ns, is ahead of CLOCK_MONOTONIC: within the error, at
 * the time when it was told. */
struct ncs_gpu_clock_view {
	bool known;
	uint64_t told_ns;
	int64_t offset_ns;
	uint64_t error_ns;
	uint64_t quantum_ns;
};

/* What is collected of a rank's process, and who asked for it (control_object.h). */
struct ncs_settings_view {
	bool known;                 /* else all of this is 0 */
	struct ncs_detail in_force; /* all told */
	uint64_t asked;             /* the request dealt with last; 0: none */
	enum ncs_refusal refused;   /* what of it was not done */
	uint64_t changes;           /* of what is in force */
	uint64_t changed_ns;
	/* The lease in force: that has ended once the moment is past, whether
	 * or not the plugin has had a call since; 0: none. */
	uint64_t lease_until_ns;
	uint32_t lease_pid;
};

struct ncs_snapshot {
	uint64_t taken_ns;
	uint64_t last_call_ns; /* NCCL's latest callback, 0: none yet */
	uint64_t finished_ns;
	enum ncs_liveness liveness;
	bool process_gone; /* as far as can be told from here */
	bool process_stopped; /* by a debugger or a signal; likewise */
	bool torn; /* a block was caught in mid-write and may be mixed */
	struct ncs_identity identity;
	struct ncs_proxy_view proxy;
	struct ncs_sampling_view sampling;
	struct ncs_kernel_view kernel;
	struct ncs_cupti_view cupti;
	struct ncs_gpu_clock_view gpu_clock;
	struct ncs_settings_view settings;
	struct ncs_channel_view *channels; /* by channel, direction, peer */
	size_t channel_count;
	struct ncs_operation_view *operations; /* in flight, oldest first */
	size_t operation_count;
	/* The latest of those of whose end NCCL tells nothing, as their function
	 * never has a proxy operation or a kernel; in the memory of the others,
	 * in no order. */
	const struct ncs_operation_view *endless;
	size_t endless_count;
	struct ncs_range_view *ranges; /* by number; outer before inner */
	size_t range_count;
	uint64_t *range_buckets; /* NCS_RANGE_BUCKETS a histogram */
	size_t range_histogram_count;
	struct ncs_lane_view *lanes;
	size_t lane_count;
	struct ncs_function_view functions[NCS_FUNCTION_COUNT];
	/* Those in use, in the order of their first four fields. */
	struct ncs_class_view *classes;
	size_t class_count;
	uint64_t *class_buckets;
	size_t class_bucket_count;
	size_t class_bucket_capacity; /* the reader's */
	uint64_t events[NCS_EVENT_COUNT];
	/* OVERWRITTEN: what a reader that comes now has missed. */
	uint64_t losses[NCS_LOSS_COUNT];
};

/* Memory for the largest snapshot of this reader's segment. 0 or -ENOMEM. */
int ncs_snapshot_init(struct ncs_snapshot *snapshot,
		      const struct ncs_reader *reader);
void ncs_snapshot_release(struct ncs_snapshot *snapshot);

/* The place of a range among the snapshot's, by its number; range_count: it has
 * none. */
size_t ncs_range_place(const struct ncs_snapshot *snapshot, uint64_t number);

/* The histogram of a range, NCS_RANGE_BUCKETS counts; NULL: none. */
static inline const uint64_t *
ncs_range_buckets(const struct ncs_snapshot *snapshot,
		  const struct ncs_range_view *range, enum ncs_timing timing)
{
	uint32_t place = range->histogram[timing];

	return place != 0 ? &snapshot->range_buckets[(size_t)(place - 1) *
						     NCS_RANGE_BUCKETS] :
			    NULL;
}

/* Copies the segment's state as of now. `now_ns` is CLOCK_MONOTONIC. */
void ncs_snapshot_take(struct ncs_snapshot *snapshot,
		       struct ncs_reader *reader, uint64_t now_ns);

/* --- Records ------------------------------------------------------------ */

/* Copies up to `size` new records of one lane's ring, oldest first, times in
 * the segment's ticks. The reader keeps the place; *lost grows by the number
 * of records that were overwritten before they could be read. Returns how many
 * were copied. */
size_t ncs_reader_records(struct ncs_reader *reader, size_t lane,
			  struct ncs_record *records, size_t size,
			  uint64_t *lost);

/* The reader's place in a lane's ring: the position of the record that it wants
 * next; and how many there are from there on, overwritten ones included. */
uint64_t ncs_reader_position(const struct ncs_reader *reader, size_t lane);
uint64_t ncs_reader_waiting(const struct ncs_reader *reader, size_t lane);

/* What has been overwritten until now will not be counted as lost, nor what is
 * about to be: the oldest eighth of a full ring is left out. */
void ncs_reader_skip_overwritten(struct ncs_reader *reader);

#ifdef __cplusplus
}
#endif

#endif
