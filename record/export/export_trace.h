/* SPDX-License-Identifier: MIT */
/* Exports a recording as a trace: the tracks of each rank, and the slices on
 * them.
 *
 *   communicator
 *     rank                   marks, changes of the activation mask
 *       API                  the application's calls, by thread
 *       AllReduce …          operations, by function
 *       stream               operations whose CUDA stream is known
 *         AllReduce …        … by function
 *       proxy thread
 *       channel
 *         send -> PEER       steps, with the waits inside them
 *         recv <- PEER
 *         … operations       the channel's share of operations
 *         kernel
 *       sent … counters      from the states
 *
 * Callers that show more (a critical path, a what-if timeline) write it to the
 * same trace_writer.h, on tracks of their own. Not thread-safe.
 */
#ifndef NCS_RECORD_EXPORT_EXPORT_TRACE_H
#define NCS_RECORD_EXPORT_EXPORT_TRACE_H

#include "record/export/export_rank.h"
#include "record/export/trace_writer.h"

struct ncs_operation_table;
struct ncs_trace_export;

/* Lets operations tell how far their times can be relied on across ranks. The
 * table is borrowed. */
void ncs_trace_export_joined(struct ncs_trace_export *export,
			     const struct ncs_operation_table *operations);

/* Begins to export these ranks. The ranks and the writer are borrowed. Returns
 * NULL if there is no memory. */
struct ncs_trace_export *
ncs_trace_export_open(struct ncs_trace_writer *writer,
		      const struct ncs_export_rank *ranks, size_t count);
/* Frees the export; accepts NULL. The writer stays open. */
void ncs_trace_export_close(struct ncs_trace_export *export);

/* Takes a rank's next state, and writes the counters since the previous one. */
void ncs_trace_export_state(struct ncs_trace_export *export, size_t rank,
			    const struct ncs_snapshot *snapshot);

/* Takes the next record of a lane. `stream` is the record's, as
 * ncs_cuda_streams_take() set it. The ranks should have learned all states
 * before, because names and clocks are learned from states. Returns 0 or
 * -ENOMEM. */
int ncs_trace_export_record(struct ncs_trace_export *export, size_t rank,
			    unsigned lane, uint64_t stream,
			    const struct ncs_record *record);

/* Tells the export that records of a rank are missing before its next one. From
 * then on, its messages without a sequence number get no arrows. Returns 0 or
 * -ENOMEM. */
int ncs_trace_export_lose(struct ncs_trace_export *export, size_t rank);

/* Writes the children whose operation's record never came. Returns 0 or -ENOMEM. */
int ncs_trace_export_finish(struct ncs_trace_export *export);

#endif
