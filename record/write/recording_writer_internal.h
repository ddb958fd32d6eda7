/* SPDX-License-Identifier: MIT */
/* Structs and functions shared by the files of the writer. Only
 * recording_writer*.c include this header. */
#ifndef NCS_RECORD_WRITE_RECORDING_WRITER_INTERNAL_H
#define NCS_RECORD_WRITE_RECORDING_WRITER_INTERNAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "ncclstat/abi_header.h"
#include "record/format/chunk.h"
#include "record/format/file_format.h"
#include "record/write/recording_writer.h"

#define NCS_PAGE_BYTES 4096u

/* Largest number of records in a chunk: a chunk fits into the processor's
 * second-level cache while it is filled and its checksum computed. */
#define NCS_RECORDS_MAX 2046u

/* Records of a lane that were read and are not in the file yet: one chunk of many is
 * compressed faster than many of few. */
struct ncs_recording_held {
	struct ncs_record *records; /* NCS_RECORDS_MAX; NULL: none so far */
	size_t count;
	uint64_t first; /* position of the first one in its ring */
	uint64_t lost;  /* right before it */
	uint64_t drained_ns;
};

/* A segment that is recorded. */
struct ncs_recording_writer_rank {
	struct ncs_header header;
	uid_t owner;
	char *path;
	/* Number in this file; NCS_NO_RANK if the rank has none yet. */
	uint32_t number;
	bool is_in_file; /* its NCS_CHUNK_RANK is written */
	/* The current state, and the state of the latest key; NULL if the rank
	 * has ended. */
	char *image;
	char *key;
	/* One bit for each page of the image: whether it was ever written. */
	uint64_t *touched;
	size_t pages;
	bool has_key; /* whether this file has a key of the rank */
	uint64_t key_offset;
	uint64_t key_taken_ns;
	uint64_t key_lines;
	/* By lane; NULL if records are not held, or the rank has ended. */
	struct ncs_recording_held *held;
};

struct ncs_recording_writer {
	struct ncs_recording_settings settings;
	struct ncs_sink *sink;
	struct ncs_packer *packer; /* NULL if chunks are not packed */
	char *unpacked; /* buffer for a payload that will be packed */
	char *payload;  /* payload of the current chunk */
	struct ncs_recording_writer_rank *ranks;
	size_t rank_count;
	size_t rank_capacity;
	uint64_t added; /* number of ranks that were ever added */
	/* The peaks as they were written since the latest head; zeros: not. */
	struct ncs_machine_peaks peaks;
	uint32_t numbers; /* number of ranks in this file so far */
	/* Entries since the latest index; INDEX_EVERY of them fit. */
	struct ncs_index_entry *entries;
	size_t entry_count;
	size_t held_lanes; /* lanes whose records are held */
	/* Writes those of a rank; an error is in `error`. recording_writer_records.c
	 * sets it with the first lane: two files must not include each other. */
	void (*write_held)(struct ncs_recording_writer *writer, size_t rank);
	struct ncs_run *runs; /* runs of the current state */
	size_t run_count;
	size_t run_capacity;
	/* Offset, unpacked bytes, chunks and records at the beginning of the
	 * look, in a stream. */
	uint64_t look_offset;
	uint64_t look_unpacked;
	uint64_t look_chunks;
	uint64_t look_records;
	uint64_t unpacked_bytes; /* of all chunks so far */
	struct ncs_end end;                 /* totals of this file so far */
	struct ncs_recording_totals before; /* totals of all files before it */
	int error;
};

/* Makes the header of a chunk at one time whose payload has so many bytes. */
static inline struct ncs_chunk ncs_recording_chunk_at(enum ncs_chunk_type type,
						      uint32_t rank,
						      size_t bytes,
						      uint64_t at_ns)
{
	return (struct ncs_chunk){ .type = type,
				   .rank = rank,
				   .unpacked_bytes = bytes,
				   .from_ns = at_ns,
				   .until_ns = at_ns };
}

/* Begins a chunk. Returns where to put its payload, and sets *room to the bytes
 * available, at least `least`. Returns NULL on an error, which is in
 * writer->error. */
void *ncs_recording_chunk_begin(struct ncs_recording_writer *writer,
				size_t least, size_t *room);

/* Ends the chunk and appends it to the file. The caller sets type, rank,
 * unpacked_bytes and both times of `chunk`. Returns 0 or -errno. */
int ncs_recording_chunk_end(struct ncs_recording_writer *writer,
			    struct ncs_chunk *chunk);

/* Writes a chunk whose payload is in memory. Returns 0 or -errno. */
int ncs_recording_chunk_write(struct ncs_recording_writer *writer,
			      struct ncs_chunk *chunk, const void *payload);

/* Returns a rank, after writing its NCS_CHUNK_RANK if this file has none yet;
 * NULL on an error, which is in writer->error. */
struct ncs_recording_writer_rank *
ncs_recording_rank_in_file(struct ncs_recording_writer *writer, size_t rank);

#endif
