/* SPDX-License-Identifier: MIT */
/* The inside of a stream's reader, for the files that make it up: stream_ranks.c
 * and stream_reader.c. */
#ifndef NCS_FLEET_STREAM_STREAM_INTERNAL_H
#define NCS_FLEET_STREAM_STREAM_INTERNAL_H

#include "fleet/stream/look_pack.h"
#include "fleet/stream/stream_reader.h"

/* Notes that a limit was reached; `why` is a clause for users. */
void ncs_stream_note_limit(struct ncs_stream_reader *stream, const char *why);

/* Takes bytes from the stream's memory. Returns false, and notes it, if they are
 * more than is left. */
bool ncs_stream_pay(struct ncs_stream_reader *stream, uint64_t bytes);

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
