/* SPDX-License-Identifier: MIT */
/* Recordings as traces: which tracks a rank has, and what is on them.
 *
 *   communicator
 *     rank                   marks, changes of what is collected
 *       API                  the application's calls, by thread
 *       AllReduce …          operations, by function
 *       stream               of which the CUDA stream is known
 *         AllReduce …        likewise
 *       proxy thread
 *       channel
 *         send -> PEER       steps, with what they waited for inside
 *         recv <- PEER
 *         … operations       the channel's share of operations
 *         kernel
 *       busbw … counters     from the states
 *
 * Whoever has more to show (a critical path, a re-timed timeline) writes it to
 * the same trace_writer.h, on tracks of his own.
 */
#ifndef NCS_RECORD_EXPORT_EXPORT_TRACE_H
#define NCS_RECORD_EXPORT_EXPORT_TRACE_H

#include "record/export/export_rank.h"
#include "record/read/recording.h"
#include "record/export/trace_writer.h"

struct ncs_trace_export;

/* Of ranks that others learn of: borrowed, as is the writer. NULL: no
 * memory. */
struct ncs_trace_export *
ncs_trace_export_open(struct ncs_trace_writer *writer,
		      const struct ncs_export_rank *ranks, size_t count);
void ncs_trace_export_close(struct ncs_trace_export *export);

/* A rank's next state: counters over the time since the one before. */
void ncs_trace_export_state(struct ncs_trace_export *export, size_t rank,
			    const struct ncs_snapshot *snapshot);

/* One more record, of a lane's in their order; `stream` is what
 * ncs_cuda_streams_take() said of it. All states that there are should have been
 * learned of: names and clocks come from these. 0 or -ENOMEM. */
int ncs_trace_export_record(struct ncs_trace_export *export, size_t rank,
			    unsigned lane, uint64_t stream,
			    const struct ncs_record *record);

/* Some of a rank's records, before the next one, are missing: from here on its
 * messages that NCCL does not number get no arrows. */
void ncs_trace_export_lose(struct ncs_trace_export *export, size_t rank);

/* Writes what is still held back. 0 or -ENOMEM. */
int ncs_trace_export_finish(struct ncs_trace_export *export);

/* The number that all ranks' parts of a collective have in common. */
uint64_t ncs_collective_correlation(uint64_t comm_id, unsigned function,
				    uint64_t sequence_number);

#endif
