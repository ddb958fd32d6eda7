/* SPDX-License-Identifier: MIT */
/* Writes a recording: chunks, as record/format/file_format.h has them, into a sink.
 *
 * For whoever has segments or makes them up: it takes states as images
 * (shm/read/image.h) and records from a reader's ring or from memory, and makes
 * chunks, keys and changes against them, and the index. It asks for no time and
 * looks at no segment by itself but in ncs_recording_writer_drain(). Not
 * thread-safe.
 *
 * Functions return 0 or -errno. What could not be written once is returned by
 * all of them from then on.
 *
 *	struct ncs_recording_settings settings = { .means = NCS_SINK_ALL_MEANS };
 *	ncs_recording_head_here(&settings.head);
 *	ncs_recording_writer_open(&writer, "file", &settings, why, sizeof(why));
 *	ncs_recording_writer_add_rank(writer, &header, path, &rank);
 *	image = ncs_recording_writer_image(writer, rank);
 *	ncs_image_take(reader, image, ncs_recording_writer_piece,
 *		       &(struct ncs_recording_piece){ writer, rank });
 *	ncs_recording_writer_state(writer, rank, now_ns, 0, false);
 *	ncs_recording_writer_drain(writer, rank, reader, lane, now_ns, &count);
 *	ncs_recording_writer_close(writer, NULL);
 */
#ifndef NCS_RECORD_WRITE_RECORDING_WRITER_H
#define NCS_RECORD_WRITE_RECORDING_WRITER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "ncclstat/reader.h"
#include "record/format/file_format.h"
#include "record/write/sink.h"

struct ncs_recording_writer;

/* How long a key may be one for later states. */
#define NCS_RECORDING_KEY_EVERY_NS UINT64_C(10000000000)

struct ncs_recording_settings {
	unsigned means;        /* enum ncs_sink_means */
	bool is_packed;        /* chunks are compressed … */
	int pack_level;        /* … at this level of Zstandard */
	uint64_t key_every_ns; /* 0: NCS_RECORDING_KEY_EVERY_NS */
	/* Of the first file; version and number are filled in. */
	struct ncs_file_head head;
};

/* Of all files. */
struct ncs_recording_totals {
	uint64_t files;
	uint64_t bytes;
	uint64_t ranks;
	uint64_t chunks;
	uint64_t records;
	uint64_t lost;
	uint64_t states;
	uint64_t torn_states;
};

/* A recording by this process, which begins now. */
void ncs_recording_head_here(struct ncs_file_head *head);

/* Begins a recording. `why` as ncs_sink_open() has it. */
int ncs_recording_writer_open(struct ncs_recording_writer **writer,
			      const char *path,
			      const struct ncs_recording_settings *settings,
			      char *why, size_t why_size);

/* Ends the file and goes on in another, which has all that is needed to read it
 * by itself: the next state of each rank is a key. */
int ncs_recording_writer_rotate(struct ncs_recording_writer *writer,
				const char *path, uint64_t monotonic_ns,
				uint64_t realtime_ns, char *why,
				size_t why_size);

/* Ends the recording and frees the writer. *totals, if not NULL, is what there
 * is in it. */
int ncs_recording_writer_close(struct ncs_recording_writer *writer,
			       struct ncs_recording_totals *totals);

/* Hands what there is to the sink, so that whoever reads the file has it soon.
 * In a file that takes up to NCS_BLOCK_BYTES of padding. */
int ncs_recording_writer_flush(struct ncs_recording_writer *writer);

/* --- Ranks --------------------------------------------------------------- */

/* A segment, by its validated header with the clock refined. *rank is its number
 * in this writer, which may differ from those in the files. */
int ncs_recording_writer_add_rank(struct ncs_recording_writer *writer,
				  const struct ncs_header *header,
				  const char *path, size_t *rank);

/* It has nothing more to record. Its number is not given out again. */
void ncs_recording_writer_end_rank(struct ncs_recording_writer *writer,
				   size_t rank);

/* --- States -------------------------------------------------------------- */

/* The rank's image, of its header's segment_bytes: zeros at first, then as the
 * caller left it. */
void *ncs_recording_writer_image(struct ncs_recording_writer *writer,
				 size_t rank);

/* Bytes of the image were written: needed once for those that were zeros until
 * then. As an ncs_image_piece, its context a struct ncs_recording_piece. */
struct ncs_recording_piece {
	struct ncs_recording_writer *writer;
	size_t rank;
};
void ncs_recording_writer_piece(void *piece, size_t offset, size_t bytes);

/* Records the state that the image holds. `flags`: enum ncs_state_flag of the
 * process and the segment. `is_torn`: a block was caught in mid-write. */
int ncs_recording_writer_state(struct ncs_recording_writer *writer, size_t rank,
			       uint64_t taken_ns, unsigned flags, bool is_torn);

/* --- Records ------------------------------------------------------------- */

/* Moves what is new in a lane's ring, of the reader's segment, into the
 * recording, at most one ring full. *count: how many records. */
int ncs_recording_writer_drain(struct ncs_recording_writer *writer, size_t rank,
			       struct ncs_reader *reader, size_t lane,
			       uint64_t now_ns, size_t *count);

/* Records from memory. `first` is the position of the first one in its ring,
 * `lost` the number of those right before it that are lost. */
int ncs_recording_writer_records(struct ncs_recording_writer *writer,
				 size_t rank, size_t lane,
				 const struct ncs_record *records, size_t count,
				 uint64_t first, uint64_t lost,
				 uint64_t drained_ns);

/* --- Others -------------------------------------------------------------- */

int ncs_recording_writer_clock(struct ncs_recording_writer *writer,
			       const struct ncs_clock_reading *reading);

/* Until now. */
struct ncs_recording_totals
ncs_recording_writer_totals(const struct ncs_recording_writer *writer);

/* Of this file, until now. */
uint64_t ncs_recording_writer_bytes(const struct ncs_recording_writer *writer);

/* As ncs_sink_method() and ncs_sink_fallback() say of this file. */
const char *
ncs_recording_writer_method(const struct ncs_recording_writer *writer);
const char *
ncs_recording_writer_fallback(const struct ncs_recording_writer *writer);

#endif
