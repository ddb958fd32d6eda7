/* SPDX-License-Identifier: MIT */
/* The reader of a stream, for the files that make it up: stream_reader.c and
 * stream_ranks.c. */
#ifndef NCS_RECORD_STREAM_STREAM_INTERNAL_H
#define NCS_RECORD_STREAM_STREAM_INTERNAL_H

#include "record/stream/chunk_splitter.h"
#include "record/stream/look_pack.h"
#include "record/stream/stream_reader.h"

struct ncs_stream_reader {
	struct ncs_stream_facts facts;
	struct ncs_chunk_splitter splitter;
	ncs_stream_keep *keep;
	void *context;
	/* The chunks of the look that is coming. */
	char *bytes;
	size_t size;
	size_t capacity;
	size_t chunks;
	uint64_t number; /* of the look that is being taken */
	bool has_number; /* facts.look is of the present agent */
	bool has_key;    /* a look that can be read by itself was taken … */
	uint64_t key;    /* … of which this is the number of the latest */
	struct ncs_look_unpacker *unpacker; /* NULL until needed */
	char *unpacked;  /* NCS_CHUNK_BYTES_MAX bytes; NULL until needed */
	struct ncs_stream_rank *ranks; /* by their number in the stream */
	size_t rank_count;
	size_t rank_capacity;
	struct ncs_stream_unreadable *unreadable;
	size_t unreadable_count;
	size_t unreadable_capacity;
};

/* Frees what belongs to a rank, which is then not named. */
void ncs_stream_rank_release(struct ncs_stream_rank *rank);

/* Take the payload of a chunk of a rank, by its number. Return 0 or -ENOMEM;
 * what makes no sense is left out. */
int ncs_stream_take_rank(struct ncs_stream_reader *stream, uint32_t number,
			 const char *payload, size_t size);
int ncs_stream_take_state(struct ncs_stream_reader *stream, uint32_t number,
			  const char *payload, size_t size);
int ncs_stream_take_records(struct ncs_stream_reader *stream, uint32_t number,
			    const char *payload, size_t size);

/* Takes the payload of a chunk of digests; what makes no sense is left out. */
void ncs_stream_take_digests(struct ncs_stream_reader *stream,
			     const char *payload, size_t size);

/* Says whether a rank is there, after a look. */
void ncs_stream_rank_settle(struct ncs_stream_rank *rank,
			    const struct ncs_look *look);

#endif
