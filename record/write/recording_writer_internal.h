/* SPDX-License-Identifier: MIT */
/* What the parts of the writer share; for record/writer*.c. */
#ifndef NCS_RECORD_WRITE_RECORDING_WRITER_INTERNAL_H
#define NCS_RECORD_WRITE_RECORDING_WRITER_INTERNAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "record/format/chunk.h"
#include "record/format/file_format.h"
#include "record/write/recording_writer.h"

#define NCS_PAGE_BYTES 4096u

/* A segment that is recorded. */
struct ncs_recording_writer_rank {
	struct ncs_header header;
	char *path;
	uint32_t number; /* in this file; NCS_NO_RANK: it is not in it yet */
	/* The state as it is, and as the key has it; NULL: it has ended. */
	char *image;
	char *key;
	/* Which pages of the image may not be zeros, a bit each. */
	uint64_t *touched;
	size_t pages;
	bool has_key; /* in this file */
	uint64_t key_offset;
	uint64_t key_taken_ns;
	uint64_t key_lines;
};

struct ncs_recording_writer {
	struct ncs_recording_settings settings;
	struct ncs_sink *sink;
	struct ncs_packer *packer; /* NULL: chunks are not packed */
	char *unpacked;            /* a payload that is to be packed */
	char *payload;             /* of the chunk that is being made */
	struct ncs_recording_writer_rank *ranks;
	size_t rank_count;
	size_t rank_capacity;
	uint32_t numbers;                /* given to ranks in this file */
	struct ncs_index_entry *entries; /* since the latest index */
	size_t entry_count;
	struct ncs_run *runs; /* of the state that is being made */
	size_t run_count;
	size_t run_capacity;
	struct ncs_end end;              /* of this file, as far as it goes */
	struct ncs_recording_totals before; /* of all files before it */
	int error;
};

/* Begins a chunk: where its payload goes, *room bytes of it, which are `least`
 * or more. NULL: it could not be had, see writer->error. */
void *ncs_recording_chunk_begin(struct ncs_recording_writer *writer,
				size_t least, size_t *room);

/* Ends it. Of `chunk` type, rank, unpacked_bytes and both times are given. */
int ncs_recording_chunk_end(struct ncs_recording_writer *writer,
			    struct ncs_chunk *chunk);

/* A chunk of what is in memory already. */
int ncs_recording_chunk_write(struct ncs_recording_writer *writer,
			      struct ncs_chunk *chunk, const void *payload);

/* A rank, in this file from now on. NULL: see writer->error. */
struct ncs_recording_writer_rank *
ncs_recording_rank_in_file(struct ncs_recording_writer *writer, size_t rank);

/* What the chunk "tables" says. NULL: no memory; to be freed. */
char *ncs_recording_tables_text(size_t *bytes);

#endif
