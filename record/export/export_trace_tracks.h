/* SPDX-License-Identifier: MIT */
/* The tracks of each rank in a trace that is exported. Only exporter_trace.c
 * includes this header.
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
 * same trace_writer.h, on tracks of their own.
 */
#ifndef NCS_RECORD_EXPORT_EXPORT_TRACE_TRACKS_H
#define NCS_RECORD_EXPORT_EXPORT_TRACE_TRACKS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "analysis/base/hash_table.h"
#include "analysis/base/value_names.h"
#include "analysis/records/operation_times.h"
#include "analysis/records/rank_operations.h"
#include "ncclstat/snapshot.h"
#include "record/export/export_facts.h"
#include "record/export/trace_writer.h"
#include "record/format/record_fields.h"

/* --- Counters of a rank from its states ----------------------------------- */

/* Sums of a state's counters. */
struct ncs_counter_sums {
	uint64_t taken_ns; /* 0 if there was no state yet */
	uint64_t bytes[2]; /* received, sent */
	bool bytes_known[2];
	uint64_t state_ns[NCS_CHANNEL_STATE_COUNT];
};

/* The counters of a rank; begin with zeros. */
struct ncs_export_counters {
	struct ncs_counter_sums before;
	/* Tracks of the counters; 0 until there is a value. */
	uint32_t in_flight;
	uint32_t bytes[2];
	uint32_t shares[NCS_CHANNEL_STATE_COUNT];
};

/* --- The trace ------------------------------------------------------------ */

#define NCS_TRACE_CHANNELS 256u

/* Largest number of CUDA streams with tracks of their own; operations on any
 * other stream name it in an argument. */
#define NCS_TRACE_STREAMS_MAX 256u

/* A channel, direction and peer of a rank. */
struct ncs_trace_connection {
	struct ncs_hash_link link; /* by key */
	uint64_t key;              /* NCS_CHANNEL_KEY */
	char name[32];
	char operations_name[48];
	char network_name[48];
	struct ncs_slice_tracks steps;
	struct ncs_slice_tracks operations;
	struct ncs_slice_tracks network;
	bool peer_is_there; /* whether the peer is also in the trace */
};

struct ncs_trace_channel {
	uint32_t track;
	struct ncs_slice_tracks kernels;
	struct ncs_slice_tracks phases;
};

/* Launches of one CUDA stream that may still get operations: their records may
 * come from several rings, which a recorder reads one after the other. */
#define NCS_TRACE_OPEN_LAUNCHES 64

/* Launches on one CUDA stream. */
struct ncs_trace_launches {
	struct ncs_slice_tracks tracks;
	/* The latest that were written; 0 if there was none. */
	uint64_t begin_ticks[NCS_TRACE_OPEN_LAUNCHES];
	uint64_t end_ticks[NCS_TRACE_OPEN_LAUNCHES];
	unsigned next;
};

/* The operations on one CUDA stream. */
struct ncs_trace_stream {
	uint64_t handle;
	struct ncs_trace_launches launches;
	struct ncs_slice_tracks functions[NCS_FUNCTION_COUNT];
};

struct ncs_trace_rank {
	struct ncs_trace_export *export;
	const struct ncs_export_rank *facts; /* borrowed */
	uint32_t track;
	struct ncs_export_counters counters;
	struct ncs_slice_tracks *calls; /* by lane */
	size_t call_count;
	size_t call_capacity;
	struct ncs_trace_stream no_stream; /* operations on no known one */
	struct ncs_trace_stream *streams;
	size_t stream_count;
	size_t stream_capacity;
	struct ncs_slice_tracks proxy;
	struct ncs_slice_tracks other;
	uint32_t marks;
	struct ncs_trace_channel *channels[NCS_TRACE_CHANNELS];
	struct ncs_hash_table connections; /* by key */
	struct ncs_rank_operations *operations;
};

struct ncs_trace_export {
	struct ncs_trace_writer *writer;
	struct ncs_trace_rank *ranks;
	size_t rank_count;
	/* Words of the trace, by field, event and so on. */
	uint32_t fields[NCS_FIELD_COUNT];
	uint32_t events[NCS_EVENT_MARK + 1];
	uint32_t functions[NCS_FUNCTION_COUNT];
	uint32_t channel_states[NCS_CHANNEL_STATE_COUNT];
	uint32_t proxy_states[NCS_PROXY_STATE_COUNT];
	uint32_t wait;
	uint32_t part;
	uint32_t launch;
	uint32_t queued;
	uint32_t running;
	const struct ncs_operation_table *operations; /* of all ranks */
	uint32_t trust;
	uint32_t doubts[NCS_DOUBT_COUNT]; /* names */
	uint32_t begin_source;
	uint32_t end_source;
	uint32_t sources[NCS_TIME_SOURCES]; /* names */
};

/* Whether the communicator of the rank is known. */
static inline bool ncs_trace_has_comm_id(const struct ncs_trace_rank *rank)
{
	return rank->facts->identity.known & NCS_KNOWN_COMM_ID;
}

/* --- Tracks, made at first use -------------------------------------------- */

/* Returns the rank with this index, after making its own tracks. */
struct ncs_trace_rank *ncs_trace_export_rank(struct ncs_trace_export *export,
					     size_t index);

/* Returns the tracks of operations on a stream, given as in records;
 * rank->no_stream if the stream is 0, if there are too many streams, or if there
 * is no memory. */
struct ncs_trace_stream *ncs_trace_export_stream(struct ncs_trace_rank *rank,
						 uint64_t stream);

/* Return the tracks of a lane's API calls, of a channel, and of the connection
 * of a record; NULL if there is no memory. */
struct ncs_slice_tracks *ncs_trace_export_calls(struct ncs_trace_rank *rank,
						unsigned lane);
struct ncs_trace_channel *ncs_trace_export_channel(struct ncs_trace_rank *rank,
						   uint8_t number);
struct ncs_trace_connection *
ncs_trace_export_connection(struct ncs_trace_rank *rank,
			    const struct ncs_record *record);

/* Takes the rank's next state. Rates and shares cover the time since the
 * previous state, and are written at the time of the previous state. */
void ncs_trace_export_state(struct ncs_trace_rank *rank,
			    const struct ncs_snapshot *snapshot);

/* Frees the memory that a rank holds. */
void ncs_trace_rank_release(struct ncs_trace_rank *rank);

#endif
