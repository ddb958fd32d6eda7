/* SPDX-License-Identifier: MIT */
/* The inside of a reader, for the files of shm/read only.
 *
 * A mapping is hostile input. Addresses are computed from the validated copy of
 * the header only, and mapped memory is read word by word.
 */
#ifndef NCS_SHM_READ_READER_INTERNAL_H
#define NCS_SHM_READ_READER_INTERNAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "ncclstat/abi.h"
#include "ncclstat/reader.h"
#include "shm/atomics.h"
#include "shm/clock.h"
#include "shm/read/liveness.h"
#include "shm/read/mapping.h"
#include "shm/ring.h"
#include "shm/segment.h"

struct ncs_reader {
	const char *mapping; /* the segment or image: base of all addresses */
	size_t mapped_bytes;
	struct ncs_mapping
		file; /* the segment's file; start is NULL for an image */
	struct ncs_process_state process; /* image only: its process's state */
	struct ncs_header header; /* validated; the only source of geometry */
	char *labels; /* of the job (shm/labels.h) */
	/* The process as numbered here, if it is of another PID namespace; 0:
	 * it is not, or cannot be seen. */
	uint32_t pid_here;
	struct ncs_ring_cursor *cursors; /* by lane */
	/* The slots of operations to be read, one bit each, and the counts of
	 * slots given out (filled.operations) at the latest two readings. */
	uint64_t *marked;
	uint64_t given[2];
	uint64_t revived; /* filled.revived at the latest reading */
	unsigned readings;
	char *path;
};

/* An image is memory of the caller; it has no file and no records. */
static inline bool ncs_reader_is_image(const struct ncs_reader *reader)
{
	return !reader->file.start;
}

/* Returns the address of a table's entry. `table` belongs to reader->header and
 * `index` is below its count. */
static inline const void *ncs_reader_entry(const struct ncs_reader *reader,
					   const struct ncs_table *table,
					   size_t index)
{
	return reader->mapping + table->offset + index * table->stride;
}

/* Returns the header as mapped: for its changing words only. */
static inline const struct ncs_header *
ncs_reader_mapped_header(const struct ncs_reader *reader)
{
	return (const struct ncs_header *)reader->mapping;
}

/* Returns how many entries of the table of channels may be in use: the first
 * ones. */
static inline size_t ncs_reader_channels(const struct ncs_reader *reader)
{
	const struct ncs_header *header = ncs_reader_mapped_header(reader);
	size_t count = reader->header.channels.count;
	uint64_t given;

	if (!NCS_SEGMENT_HAS(&reader->header, filled))
		return count;
	given = ncs_load_relaxed(&header->filled.channels);
	return given < count ? (size_t)given : count;
}

/* Tells whether a lane may be in use. The shared lane needs no owner, and one that had
 * records has one: looking it up takes longer than reading its ring's head. Pages of
 * unused lanes are not touched, so that they take no memory. */
static inline bool ncs_reader_uses_lane(const struct ncs_reader *reader,
					size_t index)
{
	const struct ncs_lane *lane =
		ncs_reader_entry(reader, &reader->header.lanes, index);

	return index == 0 || reader->cursors[index].next != 0 ||
	       ncs_load_relaxed(&lane->owner) != 0;
}

/* A ring in the mapping, and its capacity. */
struct ncs_mapped_ring {
	const struct ncs_ring *ring;
	uint64_t capacity;
};

/* Returns the ring that has all of a lane's records. */
static inline struct ncs_mapped_ring
ncs_reader_ring(const struct ncs_reader *reader, size_t lane)
{
	const struct ncs_header *header = &reader->header;
	size_t others = header->lanes.count - ncs_segment_call_lanes(header);

	if (ncs_segment_is_call_lane(header, lane))
		return (struct ncs_mapped_ring){
			ncs_reader_entry(reader, &header->call_rings,
					 lane - others),
			header->call_ring_records
		};
	return (struct ncs_mapped_ring){ ncs_reader_entry(reader,
							  &header->rings, lane),
					 header->ring_records };
}

/* Returns when the rank last gave a sign of life: called, or was seen to move a
 * launch; 0: never. */
static inline uint64_t
ncs_snapshot_last_sign_ns(const struct ncs_snapshot *snapshot)
{
	uint64_t moved_ns = ncs_launches_moved_ns(&snapshot->launches);

	return moved_ns > snapshot->last_call_ns ? moved_ns :
						   snapshot->last_call_ns;
}

/* Returns the ns from `since_ns` until the snapshot was taken, or until the
 * rank's end if it is finished or dead: the part of the current state that the
 * segment's sums do not include yet. Returns 0 if `since_ns` is 0. Needs the
 * snapshot's liveness, latest call, launches and alive_ns. */
static inline uint64_t
ncs_snapshot_running_ns(const struct ncs_snapshot *snapshot, uint64_t since_ns)
{
	uint64_t end_ns = snapshot->taken_ns;

	if (snapshot->liveness == NCS_FINISHED && snapshot->finished_ns != 0)
		end_ns = snapshot->finished_ns;
	else if (snapshot->liveness == NCS_FINISHED ||
		 snapshot->liveness == NCS_DEAD)
		end_ns = ncs_snapshot_last_sign_ns(snapshot);
	if (snapshot->liveness == NCS_DEAD && end_ns < snapshot->alive_ns)
		end_ns = snapshot->alive_ns;
	if (end_ns > snapshot->taken_ns) /* the segment's, thus anything */
		end_ns = snapshot->taken_ns;
	return since_ns != 0 && end_ns > since_ns ? end_ns - since_ns : 0;
}

/* Copies mapped GPU times; each word is valid by itself. */
static inline struct ncs_gpu_time
ncs_gpu_time_load(const struct ncs_gpu_time *time)
{
	struct ncs_gpu_time copy;

	ncs_load_words(&copy, time, sizeof(copy));
	return copy;
}

/* --- The parts of a snapshot, and of an image (image.h) ------------------- */

/* Copies the counters of `function` in a lane of the segment, which are in two
 * places under one sequence; `times` is all zeros if the segment has none.
 * Returns false if the copies may be inconsistent. */
bool ncs_function_copy(const struct ncs_reader *reader,
		       const struct ncs_lane *lane, unsigned function,
		       struct ncs_function *counters,
		       struct ncs_stream_times *times);

/* A table of operations has thousands of slots, few of which hold an operation
 * at a time. The reader marks those that may, and reads only them: those that
 * held one at its previous reading, and those given out since the reading before
 * that. This function marks them. */
void ncs_operation_slots_mark(struct ncs_reader *reader);

/* Returns the first slot from `index` on that is marked; that behind the last one
 * if there is none. */
static inline size_t ncs_operation_slot_next(const struct ncs_reader *reader,
					     size_t index)
{
	size_t count = reader->header.operations.count;

	while (index < count) {
		uint64_t marked = reader->marked[index / 64] >> (index % 64);

		if (marked & 1)
			return index;
		index = marked == 0 ? (index | 63) + 1 : index + 1;
	}
	return count;
}

/* Copies a marked slot. Returns false and removes the mark if the slot is empty
 * or was being written. */
bool ncs_operation_slot_copy(struct ncs_reader *reader, size_t index,
			     struct ncs_operation *copy);

/* Fills in the snapshot's operations, sorted. Its liveness and functions must be
 * filled in already. */
void ncs_operations_take(struct ncs_snapshot *snapshot,
			 struct ncs_reader *reader);

/* Allocates memory for the classes of a segment with this header. Returns 0 or
 * -ENOMEM; either way release with ncs_classes_release(). */
int ncs_classes_init(struct ncs_snapshot *snapshot,
		     const struct ncs_header *header);
void ncs_classes_release(struct ncs_snapshot *snapshot);

/* Fills in the snapshot's classes, class_buckets and the functions' histograms.
 * Only histograms in use are read, and of them only the buckets that may hold
 * counts. Without memory for a histogram its class has no times. */
void ncs_classes_take(struct ncs_snapshot *snapshot,
		      const struct ncs_reader *reader);

/* Turns a mapped histogram's words `first` and `end`, which may be any value,
 * into the bounds of the buckets that may hold counts: *first is the index of
 * the first one, *end one past the last. */
static inline void ncs_histogram_bounds(uint64_t *first, uint64_t *end)
{
	if (*end == 0 || *end > NCS_HISTOGRAM_BUCKETS)
		*end = NCS_HISTOGRAM_BUCKETS;
	*first = *first == 0 || *first > *end ? 0 : *first - 1;
}

/* Allocates memory for the ranges of a segment with this header, none if it has
 * none. Returns 0 or -ENOMEM; either way release with ncs_ranges_release(). */
int ncs_ranges_init(struct ncs_snapshot *snapshot,
		    const struct ncs_header *header);
void ncs_ranges_release(struct ncs_snapshot *snapshot);

/* Fills in the snapshot's ranges and range_buckets. Its liveness must be filled
 * in already. */
void ncs_ranges_take(struct ncs_snapshot *snapshot,
		     const struct ncs_reader *reader);

#endif
