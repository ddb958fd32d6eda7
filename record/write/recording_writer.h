/* SPDX-License-Identifier: MIT */
/* Writes a recording: chunks (record/format/file_format.h) into a sink.
 *
 * Takes states as images (shm/read/image.h), and records from a reader's ring
 * or from memory. Writes a state either as a key or as changes to the last key,
 * and adds indexes. Must not read a clock, nor a segment except in
 * ncs_recording_writer_drain(). Not thread-safe.
 *
 * Functions return 0 or -errno. After a write error all of them return that
 * error.
 *
 *	struct ncs_recording_settings settings = {
 *		.means = NCS_SINK_ALL_MEANS,
 *	};
 * 	ncs_recording_head_here(&settings.head);
 * 	ncs_recording_writer_open(&writer, "file", &settings, why, sizeof(why));
 * 	ncs_recording_writer_add_rank(writer, &header, owner, path, &rank);
 * 	image = ncs_recording_writer_image(writer, rank);
 * 	ncs_image_take(reader, image, ncs_recording_writer_piece,
 * 		       &(struct ncs_recording_piece){ writer, rank });
 * 	ncs_recording_writer_state(writer, rank, now_ns, 0, false);
 * 	ncs_recording_writer_drain(writer, rank, reader, lane, now_ns, &count);
 * 	ncs_recording_writer_close(writer, NULL);
 */
#ifndef NCS_RECORD_WRITE_RECORDING_WRITER_H
#define NCS_RECORD_WRITE_RECORDING_WRITER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "analysis/base/machine_peaks.h"
#include "ncclstat/attach_result.h"
#include "ncclstat/snapshot.h"
#include "record/format/file_format.h"
#include "record/write/sink.h"

struct ncs_header; /* ncclstat/abi_header.h */
struct ncs_reader; /* ncclstat/reader.h */

struct ncs_recording_writer;

/* Longest time between two key states of a rank, in ns. */
#define NCS_RECORDING_KEY_EVERY_NS UINT64_C(10000000000)

struct ncs_recording_settings {
	unsigned means;        /* enum ncs_sink_means */
	bool is_packed;        /* whether chunks are compressed */
	int pack_level;        /* level of Zstandard, if packed */
	uint64_t key_every_ns; /* 0 for NCS_RECORDING_KEY_EVERY_NS */
	bool is_stream;        /* has looks, and no indexes */
	/* Head of the first file. The writer sets versions and byte order. */
	struct ncs_file_head head;
};

/* Sums over all files of a recording. */
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

/* Fills in the head of a recording that this process begins on this host
 * now. */
void ncs_recording_head_here(struct ncs_file_head *head);

/* Reads CLOCK_MONOTONIC and CLOCK_REALTIME several times and takes the fastest
 * reading: the process was delayed during the slower ones. Any thread may call
 * it. */
void ncs_clock_reading_take(struct ncs_clock_reading *reading);

/* Returns the payload of the chunk "tables", to be freed by the caller; NULL if
 * there is no memory. */
char *ncs_recording_tables_text(size_t *bytes);

/* Begins a recording in a new file. On failure sets `why` to a clause for the
 * user. */
int ncs_recording_writer_open(struct ncs_recording_writer **writer,
			      const char *path,
			      const struct ncs_recording_settings *settings,
			      char *why, size_t why_size);

/* Begins a recording in memory, which is borrowed and receives the bytes at
 * each flush. */
int ncs_recording_writer_open_memory(
	struct ncs_recording_writer **writer, struct ncs_sink_memory *memory,
	const struct ncs_recording_settings *settings);

/* Ends the file and continues in another, which can be read without the first:
 * the next state of each rank is a key. */
int ncs_recording_writer_rotate(struct ncs_recording_writer *writer,
				const char *path, uint64_t monotonic_ns,
				uint64_t realtime_ns, char *why,
				size_t why_size);

/* Ends the recording and frees the writer. Sets *totals unless `totals` is
 * NULL. */
int ncs_recording_writer_close(struct ncs_recording_writer *writer,
			       struct ncs_recording_totals *totals);

/* Writes records that are held, and makes the sink write all data, so that a reader of
 * the file sees it soon. Pads a file by up to NCS_BLOCK_BYTES. */
int ncs_recording_writer_flush(struct ncs_recording_writer *writer);

/* --- Ranks --------------------------------------------------------------- */

/* Adds a segment. `header` is its validated header with the clock refined,
 * `owner` the user of its file, or NCS_NO_OWNER (shm/read/job.h). Sets *rank to
 * its number in this writer, which may differ from its number in the files. */
int ncs_recording_writer_add_rank(struct ncs_recording_writer *writer,
				  const struct ncs_header *header, uid_t owner,
				  const char *path, size_t *rank);

/* Ends a rank that has nothing more to record: writes its records that are held, and
 * frees its image. Its number in this writer may be that of a rank that is added
 * later; so may its number in a stream, but not in a file. */
void ncs_recording_writer_end_rank(struct ncs_recording_writer *writer,
				   size_t rank);

/* --- States -------------------------------------------------------------- */

/* Returns the rank's image, whose size is its header's segment_bytes. The image
 * is all zeros at first, then as the caller left it. The writer owns it. */
void *ncs_recording_writer_image(struct ncs_recording_writer *writer,
				 size_t rank);

/* Tells the writer that bytes of the image were written. Needed once for bytes
 * that were zero until then. This is an ncs_image_piece whose context is a
 * struct ncs_recording_piece. */
struct ncs_recording_piece {
	struct ncs_recording_writer *writer;
	size_t rank;
};
void ncs_recording_writer_piece(void *piece, size_t offset, size_t bytes);

/* Records the state in the image. `flags` are of enum ncs_state_flag; `is_torn`
 * says that a block was copied in the middle of a write. */
int ncs_recording_writer_state(struct ncs_recording_writer *writer, size_t rank,
			       uint64_t taken_ns, unsigned flags, bool is_torn);

/* --- Records ------------------------------------------------------------- */

/* Adds the new records of a lane's ring to the recording, at most one ring
 * full. Sets *count to the number of records. In a compressed file they are held, and
 * written with the next state of their rank or the next flush, when they fill a chunk,
 * and at the end of the rank or file. Returns 0 or -errno. */
int ncs_recording_writer_drain(struct ncs_recording_writer *writer, size_t rank,
			       struct ncs_reader *reader, size_t lane,
			       uint64_t now_ns, size_t *count);

/* Adds records from memory to the recording. `first` is the position of the
 * first one in its ring, `lost` the number of records lost right before it. */
int ncs_recording_writer_records(struct ncs_recording_writer *writer,
				 size_t rank, size_t lane,
				 const struct ncs_record *records, size_t count,
				 uint64_t first, uint64_t lost,
				 uint64_t drained_ns);

/* --- Looks --------------------------------------------------------------- */

/* Makes what follows readable without anything that was written before: writes
 * the file's head again, and each rank again before its next chunk; the next
 * state of each rank is a key. */
int ncs_recording_writer_renew(struct ncs_recording_writer *writer);

/* Leaves chunks uncompressed from now on: they will be packed as a whole
 * (fleet/stream/look_pack.h). */
void ncs_recording_writer_unpack(struct ncs_recording_writer *writer);

/* Adds a segment that cannot be read; `why` is a clause for users. */
int ncs_recording_writer_unreadable(struct ncs_recording_writer *writer,
				    enum ncs_attach attach, const char *path,
				    const char *why);

/* Ends a look, and flushes. The writer sets the look's recording, number of
 * chunks, bytes, records and the program's version; the next look begins
 * here. */
int ncs_recording_writer_look(struct ncs_recording_writer *writer,
			      struct ncs_look *look);

/* --- Peaks and stacks ---------------------------------------------------- */

/* Adds the lines of the stack of a rank's process; longer than a chunk, they are
 * cut. */
int ncs_recording_writer_stack(struct ncs_recording_writer *writer, size_t rank,
			       const char *lines, uint64_t now_ns);

/* Adds the machine's peaks, unless the file has them as they are since its head, or
 * a stream since it was renewed; nothing if nothing is known. */
int ncs_recording_writer_peaks(struct ncs_recording_writer *writer,
			       const struct ncs_machine_peaks *peaks,
			       uint64_t now_ns);

/* --- Clocks and totals --------------------------------------------------- */

/* Adds a reading of the clocks to the recording. */
int ncs_recording_writer_clock(struct ncs_recording_writer *writer,
			       const struct ncs_clock_reading *reading);

/* Returns the totals so far. */
struct ncs_recording_totals
ncs_recording_writer_totals(const struct ncs_recording_writer *writer);

/* Returns the number of bytes in the current file so far. */
uint64_t ncs_recording_writer_bytes(const struct ncs_recording_writer *writer);

/* Returns the bytes of the present look so far, and sets *unpacked to those that it
 * unpacks to. */
uint64_t
ncs_recording_writer_look_bytes(const struct ncs_recording_writer *writer,
				uint64_t *unpacked);

/* Returns the sink of the current file, which tells how it writes. */
const struct ncs_sink *
ncs_recording_writer_sink(const struct ncs_recording_writer *writer);

#endif
