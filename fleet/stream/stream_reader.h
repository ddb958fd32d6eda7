/* SPDX-License-Identifier: MIT */
/* Reads the stream of one agent as its bytes come: the looks, and in them the
 * states and records of the ranks.
 *
 * A look is taken as a whole, once all its chunks are there; one that is
 * damaged or cut is counted and left out, with the later states that build on
 * it. Nothing in the bytes is trusted: what they unpack to is limited, at once
 * and over time. Ranks and looks beyond a limit are left out, which the facts
 * tell. Times are those of the agent's host. Not thread-safe.
 */
#ifndef NCS_FLEET_STREAM_STREAM_READER_H
#define NCS_FLEET_STREAM_STREAM_READER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "analysis/base/machine_peaks.h"
#include "analysis/base/move_clock.h"
#include "analysis/base/nodes.h"
#include "analysis/base/source.h"
#include "fleet/stream/chunk_splitter.h"
#include "ncclstat/abi_header.h"
#include "ncclstat/attach_result.h"
#include "ncclstat/snapshot.h"
#include "record/format/file_format.h"
#include "record/read/budget.h"
#include "record/read/state_image.h"

/* The most ranks of a stream; and records of a rank that wait to be taken,
 * beyond which the oldest are lost. */
#define NCS_STREAM_RANKS_MAX 16384u
#define NCS_STREAM_RECORDS_MAX 16384u

/* The most memory that a stream takes, with what a model takes that shows its
 * ranks; and what of it is unpacked in a second. */
#define NCS_STREAM_BYTES_MAX (UINT64_C(256) << 20)
#define NCS_STREAM_UNPACKED_A_SECOND (UINT64_C(64) << 20)

/* The most segments that cannot be read that are named, and bytes of a text
 * about one. */
#define NCS_STREAM_UNREADABLE_MAX 64u
#define NCS_STREAM_TEXT_MAX 4096u

struct ncs_stream_lane {
	uint64_t next; /* position of the next record in the ring */
	bool is_known;
};

struct ncs_stream_rank {
	/* Each look reads and writes these: they lie together. */
	bool is_named;    /* its segment is known */
	bool is_there;    /* the latest look has a state of it */
	bool is_behind;   /* but that state could not be read */
	bool is_left_out; /* there was no room for that state */
	bool has_key;
	bool has_state;
	uint32_t parts; /* of the state that is being read */
	uint32_t flags; /* enum ncs_state_flag of the state */
	struct ncs_kept_state kept;
	uint64_t key_taken_ns;
	uint64_t taken_ns; /* when the state was taken */
	uint64_t look;     /* number of the latest look with a state of it,
			      plus 1 */
	uint64_t paid;     /* of the stream's memory, */
	uint64_t own_bytes; /* and of that what does not depend on its state */
	size_t record_capacity;
	size_t record_lane_capacity;
	char *stack;              /* lines; NULL: none */
	struct ncs_header header; /* as when it was named */
	/* A number for the key's lines but that of the heartbeat, and that
	 * line. */
	uint64_t key_said;
	char key_alive[NCS_STATE_LINE_BYTES];
	uint64_t said;      /* as of ncs_stream_is_same(); 0: not known */
	bool is_read_whole; /* the latest snapshot has all that the state has */
	uint64_t shown_ns;  /* for the caller; 0 for a new rank */
	uid_t owner;        /* of the segment; or NCS_NO_OWNER */
	char *path;         /* of the segment */
	struct ncs_reader *reader;
	struct ncs_clock_move reader_move;
	struct ncs_stream_lane *lanes; /* as many as the header has */
	struct ncs_record *records;    /* that wait, as they came */
	uint32_t *record_lanes;        /* the lane of each */
	size_t record_count;
	size_t records_seen; /* by the caller, of those that wait */
	uint64_t records_lost;
	uint64_t stack_ns; /* when the stack was read */
};

/* A segment that the agent cannot read. */
struct ncs_stream_unreadable {
	enum ncs_attach attach;
	char *path;
	char *why;
};

struct ncs_stream_facts {
	bool has_head;
	bool has_records;
	uint32_t left_out; /* ranks of the latest look that are left out here */
	uint64_t looks;    /* taken */
	uint64_t looks_lost; /* of the present agent's: damaged or cut */
	uint64_t look_lost;  /* records that are missing before the latest */
	uint64_t bytes;
	uint64_t skipped_bytes;
	uint64_t reported_times; /* how often `reported` came */
	uint64_t limited_times;  /* how often a limit was reached, so that a
				    look or a rank was left out */
	struct ncs_look look;    /* the latest one */
	/* The latest reading of the host's clocks; all zeros: none yet. */
	struct ncs_clock_reading clock;
	/* Why nothing more is read, a clause for users; "": it is read. */
	char refused[160];
	struct ncs_file_head head; /* of the agent that writes */
	/* The latest word of an agent on the way here about the node, if
	 * reported_times is not 0. */
	enum ncs_node_state reported;
	char reported_why[NCS_NODE_WHY_BYTES];
	/* The latest reason for a limit, a clause for users. */
	char limited[160];
	struct ncs_machine_peaks peaks; /* all zeros: none yet */
};

/* Receives the bytes of each whole look, after it was read, and where its last
 * chunk, "look", begins; may be NULL. */
typedef void ncs_stream_keep(void *context, const void *bytes, size_t size,
			     size_t end);

/* Only the first members are for callers. */
struct ncs_stream_reader {
	struct ncs_stream_facts facts;
	/* Those that were ever named, by their number in the stream; `is_named`
	 * may be false. Valid until the next bytes are taken. */
	struct ncs_stream_rank *ranks;
	size_t rank_count;
	/* The segments in the latest look that the agent cannot read and are
	 * named; likewise. */
	struct ncs_stream_unreadable *unreadable;
	size_t unreadable_count;
	/* The rest is private. */
	struct ncs_chunk_splitter splitter;
	struct ncs_budget budget;
	uint64_t allowance_bytes; /* that may be unpacked … */
	uint64_t allowance_ns;    /* … at this time */
	ncs_stream_keep *keep;
	void *context;
	/* The chunks of the look that is coming. */
	char *bytes;
	size_t size;
	size_t capacity; /* for which the budget has paid */
	size_t chunks;
	uint64_t number; /* of the look that is being taken */
	bool has_number; /* facts.look is of the present agent */
	struct ncs_look_unpacker *unpacker; /* NULL until needed */
	uint64_t unpacker_paid;
	char *unpacked; /* NCS_CHUNK_BYTES_MAX bytes; NULL until needed */
	size_t rank_capacity;
	uint64_t ranks_paid;
	/* Ranks for which there was no room when they were named, since the
	 * latest look that can be read by itself. */
	uint32_t unnamed;
	size_t unreadable_capacity;
};

/* Creates a reader, whose memory is part of a budget, if that is not NULL.
 * Returns NULL if there is no memory; ncs_stream_free() accepts NULL. */
struct ncs_stream_reader *ncs_stream_new(struct ncs_budget *whole,
					 ncs_stream_keep *keep, void *context);
void ncs_stream_free(struct ncs_stream_reader *stream);

/* Takes the next bytes; `now_ns` is CLOCK_MONOTONIC. Returns 0 or -ENOMEM; then
 * they are as if they were missing. */
int ncs_stream_feed(struct ncs_stream_reader *stream, const void *bytes,
		    size_t size, uint64_t now_ns);

/* Notes that bytes are missing before the next ones. */
void ncs_stream_gap(struct ncs_stream_reader *stream);

/* Moves the records that wait to `records`, which has
 * NCS_STREAM_RECORDS_MAX, lane by lane. Returns how many; *lost is the number
 * of those that are missing since the last call. */
size_t ncs_stream_move_records(struct ncs_stream_rank *rank,
			       struct ncs_record *records, uint64_t *lost);

/* Takes a snapshot of a rank that has a state, all times moved by `move`, and
 * sets *header to its header, moved likewise. Returns 0, -ENOMEM, or -EBADMSG if
 * the state makes no sense. The caller releases the snapshot on success, and the
 * image, which all ranks may share, at last. */
int ncs_stream_snapshot(struct ncs_stream_rank *rank,
			const struct ncs_clock_move *move,
			struct ncs_state_image *image,
			struct ncs_snapshot *snapshot,
			struct ncs_header *header);

/* The times in which two states differ that say the same. */
struct ncs_state_times {
	uint64_t taken_ns;
	uint64_t alive_ns; /* of the process's heartbeat; 0: it has none */
};

/* Whether a rank's state says what the one did for which this function was
 * called last, and a snapshot of that one was taken, with this move. Then sets
 * *times and *moved, as ncs_stream_snapshot() does. */
bool ncs_stream_is_same(struct ncs_stream_rank *rank,
			const struct ncs_clock_move *move,
			struct ncs_state_times *times,
			struct ncs_header *moved);

/* Has the next snapshot read all slots of operations, not only those that may
 * have changed. */
void ncs_stream_read_anew(struct ncs_stream_rank *rank);

#endif
