/* SPDX-License-Identifier: MIT */
/* The reader of a stream, for the files that make it up: stream_limits.c,
 * stream_ranks.c and stream_reader.c. */
#ifndef NCS_FLEET_STREAM_STREAM_INTERNAL_H
#define NCS_FLEET_STREAM_STREAM_INTERNAL_H

#include "fleet/stream/chunk_splitter.h"
#include "fleet/stream/look_pack.h"
#include "fleet/stream/stream_reader.h"

/* The most that may be unpacked at once: two looks. */
#define NCS_STREAM_BURST_BYTES (2 * NCS_LOOK_UNPACKED_MAX)

struct ncs_stream_reader {
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
	char *unpacked;  /* NCS_CHUNK_BYTES_MAX bytes; NULL until needed */
	struct ncs_stream_rank *ranks; /* by their number in the stream */
	size_t rank_count;
	size_t rank_capacity;
	uint64_t ranks_paid;
	/* Ranks for which there was no room when they were named, since the
	 * latest look that can be read by itself. */
	uint32_t unnamed;
	struct ncs_stream_unreadable *unreadable;
	size_t unreadable_count;
	size_t unreadable_capacity;
	struct ncs_stream_facts facts;
};

/* Notes that a limit was reached; `why` is a clause for users. */
void ncs_stream_note_limit(struct ncs_stream_reader *stream, const char *why);

/* Notes that there is no room in the stream's memory, or in that of all. */
void ncs_stream_note_no_room(struct ncs_stream_reader *stream);

/* Takes bytes from the stream's memory. Returns false, and notes it, if they are
 * more than is left. */
bool ncs_stream_pay(struct ncs_stream_reader *stream, uint64_t bytes);

/* Allows for the time that has passed since the latest call. */
void ncs_stream_allow(struct ncs_stream_reader *stream, uint64_t now_ns);

/* Returns whether so many bytes may be unpacked now: then they count as
 * unpacked. Otherwise that is noted. */
bool ncs_stream_may_unpack(struct ncs_stream_reader *stream, uint64_t bytes);

/* Frees what belongs to a rank, which is then not named. */
void ncs_stream_rank_release(struct ncs_stream_reader *stream,
			     struct ncs_stream_rank *rank);

/* Take the payload of a chunk of a rank, by its number. Return 0 or -ENOMEM;
 * what makes no sense is left out. */
int ncs_stream_take_rank(struct ncs_stream_reader *stream, uint32_t number,
			 const char *payload, size_t size);
int ncs_stream_take_state(struct ncs_stream_reader *stream, uint32_t number,
			  const char *payload, size_t size);
int ncs_stream_take_records(struct ncs_stream_reader *stream, uint32_t number,
			    const char *payload, size_t size);

/* Takes the lines of a rank's stack; those that find no room are left out. */
void ncs_stream_take_stack(struct ncs_stream_reader *stream,
			   const struct ncs_chunk *chunk, const char *payload);

/* Says whether a rank is there, after a look. */
void ncs_stream_rank_settle(struct ncs_stream_reader *stream,
			    struct ncs_stream_rank *rank);

#endif
