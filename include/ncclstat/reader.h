/* SPDX-License-Identifier: MIT */
/* The reader's interface of libncclstat: find segments, attach to them, copy
 * their state, and read their records.
 *
 * 	struct ncs_paths paths;
 * 	struct ncs_reader *reader;
 * 	struct ncs_snapshot snapshot;
 *
 * 	ncs_discover(ncs_directory(NULL), &paths);
 * 	ncs_reader_open(paths.path[0], &reader, NULL, 0);
 * 	ncs_snapshot_init(&snapshot, reader);
 * 	ncs_snapshot_take(&snapshot, reader, now_ns);
 * 	... snapshot.functions[NCS_FUNCTION_ALL_REDUCE].operations ...
 * 	ncs_snapshot_release(&snapshot);
 * 	ncs_reader_close(reader);
 * 	ncs_paths_release(&paths);
 *
 * A segment has the state of one rank: of one communicator in one process
 * (abi.h). It is only read: mapped PROT_READ, so that a job never notices its
 * readers. Nothing in a segment is trusted: whatever it contains, functions
 * return terminated strings, and numbers and states within documented limits.
 *
 * One thread at a time may use a reader or snapshot; different threads may use
 * different ones. ncs_discover(), ncs_directory() and ncs_reader_guard() may be
 * called by any thread.
 *
 * A segment that is truncated while it is mapped raises SIGBUS, as any mapping
 * does. A program that must survive this calls ncs_reader_guard() once.
 */
#ifndef NCCLSTAT_READER_H
#define NCCLSTAT_READER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "ncclstat/abi.h"
#include "ncclstat/attach_result.h"
#include "ncclstat/control_object.h"
#include "ncclstat/path_list.h"
#include "ncclstat/snapshot.h"

#ifdef __cplusplus
extern "C" {
#endif

/* --- Finding segments -------------------------------------------------- */

/* Returns the directory of the segments: `directory` if not NULL, else the
 * value of NCCLSTAT_DIR, else /dev/shm. The string is the caller's or the
 * environment's. */
const char *ncs_directory(const char *directory);

/* Lists the files of a directory that are named like segments, sorted by name
 * with numbers in numeric order. Opens none of them. Returns 0, or -errno with
 * nothing to release. On success release with ncs_paths_release(). */
int ncs_discover(const char *directory, struct ncs_paths *paths);

/* Releases the paths; *paths is empty afterwards. */
void ncs_paths_release(struct ncs_paths *paths);

/* --- Attaching --------------------------------------------------------- */

/* A reader of one segment. */
struct ncs_reader;

/* Maps a segment read-only and validates it. On NCS_ATTACHED *reader is set, to
 * be closed with ncs_reader_close(). Otherwise it is NULL, and `why` (may be
 * NULL) gets the reason: one clause for users, truncated to `why_size`
 * bytes. */
enum ncs_attach ncs_reader_open(const char *path, struct ncs_reader **reader,
				char *why, size_t why_size);
/* Unmaps the segment and releases the reader; NULL is allowed. */
void ncs_reader_close(struct ncs_reader *reader);

/* Gives the mapped pages back to the kernel until they are read again, so that
 * they do not count as this process's memory meanwhile. */
void ncs_reader_rest(struct ncs_reader *reader);

/* Returns the path that the reader was opened with. Valid until it is
 * closed. */
const char *ncs_reader_path(const struct ncs_reader *reader);

/* Returns the reader's copy of the header, validated when it was opened, with
 * the clock's multiplier refined. It does not change: for changing fields take
 * a snapshot. Valid until the reader is closed. */
const struct ncs_header *ncs_reader_header(const struct ncs_reader *reader);

/* Returns the user that the segment's file belongs to. */
uid_t ncs_reader_owner(const struct ncs_reader *reader);

/* Returns the labels that identify the process's job: "key=value" strings, each
 * terminated, with an empty string at the end. They are cleaned copies: UTF-8
 * without control characters. ncclstat-plugin(7) lists the keys; later plugins
 * may add others. Valid until the reader is closed. */
const char *ncs_reader_labels(const struct ncs_reader *reader);

/* Returns true if the path still names the mapped file; false if the file was
 * removed, replaced or truncated. */
bool ncs_reader_is_valid(const struct ncs_reader *reader);

/* Installs a handler of SIGBUS for the whole process: from now on a segment
 * that is truncated reads as zeros. SIGBUS of other causes has its previous
 * effect. */
void ncs_reader_guard(void);

/* --- Records ----------------------------------------------------------- */

/* Copies up to `size` records of a lane's ring, oldest first, beginning after
 * the ones that this reader has already read. Times are in the segment's ticks.
 * Adds the number of records that were overwritten before they could be read to
 * *lost. Returns how many were copied; 0 if there is no new record or no such
 * lane. */
size_t ncs_reader_records(struct ncs_reader *reader, size_t lane,
			  struct ncs_record *records, size_t size,
			  uint64_t *lost);

/* Returns how many records a lane's ring has room for. `lane` is below the
 * header's lanes.count. */
size_t ncs_reader_capacity(const struct ncs_reader *reader, size_t lane);

/* Returns the position in a lane's ring of the next record to be read. `lane`
 * is below the header's lanes.count. */
uint64_t ncs_reader_position(const struct ncs_reader *reader, size_t lane);

/* Returns how many records have been published from that position on, including
 * overwritten ones. */
uint64_t ncs_reader_waiting(const struct ncs_reader *reader, size_t lane);

/* Moves past all records that were overwritten or soon will be, which are the
 * oldest eighth of a full ring, in all lanes, without counting them as lost. */
void ncs_reader_skip_overwritten(struct ncs_reader *reader);

#ifdef __cplusplus
}
#endif

#endif
