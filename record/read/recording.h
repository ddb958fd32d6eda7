/* SPDX-License-Identifier: MIT */
/* Reads recordings: the states and records in one or several files.
 *
 * Opens files of one or several recordings, of one or several hosts, as one. At no
 * time are there ranks of two runs of a head that follow each other.
 * Nothing in them is trusted: damaged chunks are left out and counted.
 *
 * All times are in ns of the common time, which is CLOCK_MONOTONIC of the first
 * file's host. Times of other hosts are shifted by the difference of the
 * clocks, which is first computed from CLOCK_REALTIME and replaced by
 * ncs_recording_align(). The clocks of headers (struct ncs_clock) are adjusted
 * in the same way: converting ticks by them gives the common time. Not
 * thread-safe.
 */
#ifndef NCS_RECORD_READ_RECORDING_H
#define NCS_RECORD_READ_RECORDING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "analysis/base/machine_peaks.h"
#include "ncclstat/attach_result.h"
#include "ncclstat/snapshot.h"
#include "record/format/file_format.h"

struct ncs_alignment; /* analysis/clocks/alignment.h */
struct ncs_header;    /* ncclstat/abi_header.h */
struct ncs_reader;    /* ncclstat/reader.h */

struct ncs_recording;

/* A rank, which may be in several successive files. */
struct ncs_recorded_rank {
	/* Unique: the segment's path, with its host if there are several. */
	const char *id;
	size_t host;
	uid_t owner; /* user of the segment's file; or NCS_NO_OWNER */
	/* The header as first recorded, with its clock adjusted to the common
	 * time. */
	const struct ncs_header *header;
	uint64_t from_ns;  /* time of its first state or record */
	uint64_t until_ns; /* time of its last state or record */
	uint64_t records;
	/* Number of records overwritten before they were recorded. */
	uint64_t lost;
};

/* A host, or one time namespace of it. Ranks of a host have one clock. */
struct ncs_recorded_host {
	const char *name;
	const char *boot_id;
	uint64_t time_namespace;
	uint64_t first_ns; /* its first time, by its own CLOCK_MONOTONIC */
	int64_t offset_ns; /* added to its CLOCK_MONOTONIC at first_ns */
	double drift;      /* ns that are added for each ns since first_ns */
	/* Largest error of offset and drift; UINT64_MAX if not known. */
	uint64_t error_ns;
	bool is_by_realtime; /* nothing but CLOCK_REALTIME tells the offset */
	/* Its CLOCK_REALTIME minus its CLOCK_MONOTONIC. */
	int64_t realtime_offset_ns;
};

struct ncs_recording_facts {
	size_t files;
	size_t runs; /* different ones of heads (struct ncs_file_head) */
	uint64_t bytes;
	uint64_t chunks;
	uint64_t damaged_chunks; /* number of damaged chunks found so far */
	uint64_t skipped_bytes;  /* bytes in which no chunk was found */
	size_t cut_files; /* files without an end: still growing, or cut */
	uint64_t records;
	uint64_t lost;
	/* The recording begins when every rank present at the beginning has a
	 * state, or with the first record if there are no states. Earlier
	 * records may exist. */
	uint64_t from_ns;
	uint64_t until_ns;
	/* Time between two states of a rank; 0 if not known. */
	uint64_t interval_ns;
};

/* Opens files, and the recordings in folders, in the order of their names: files
 * whose first bytes are those of a recording, and those that this user may not
 * read, but no hidden ones. Returns 0 or -errno; on failure sets `why` to a clause
 * for the user that names the file. Damage and missing ends are not errors; they
 * are counted in the facts. */
int ncs_recording_open(struct ncs_recording **recording,
		       const char *const *paths, size_t count, char *why,
		       size_t why_size);
void ncs_recording_close(struct ncs_recording *recording); /* accepts NULL */

/* Opens the bytes of one file in memory, which must outlive the recording. */
int ncs_recording_open_memory(struct ncs_recording **recording,
			      const void *bytes, size_t size, char *why,
			      size_t why_size);

/* Whether a path is one of these recordings, or one in these folders, by another
 * name or not: then nothing else may be written there. */
bool ncs_recording_is_one_of(const char *path, char *const *paths,
			     size_t count);

/* Checks every chunk, which makes the facts about damage complete. Without this
 * call, damage is found as chunks are read. */
void ncs_recording_check(struct ncs_recording *recording);

/* One file. The path is valid until the recording is closed. */
struct ncs_recorded_file_facts {
	const char *path;
	size_t host;
	uint64_t bytes;
	uint64_t number;   /* number of the file in its recording, from 0 */
	uint64_t run;      /* of a head; 0: none is known */
	uint64_t begun_ns; /* time of its beginning, in common time */
	uint64_t records;
	uint64_t damaged_chunks;
	uint64_t skipped_bytes;
	bool is_cut;
};
/* Sets the facts of a file, by its number in the order of files. */
void ncs_recording_file(const struct ncs_recording *recording, size_t file,
			struct ncs_recorded_file_facts *facts);

/* Counts the facts again and returns them. Valid until the recording is
 * closed. */
const struct ncs_recording_facts *
ncs_recording_facts(struct ncs_recording *recording);

/* Return the number of ranks, a rank, the number of hosts, and a host. Pointers
 * are valid until the recording is closed or aligned. */
size_t ncs_recording_rank_count(const struct ncs_recording *recording);
const struct ncs_recorded_rank *
ncs_recording_rank(const struct ncs_recording *recording, size_t rank);
size_t ncs_recording_host_count(const struct ncs_recording *recording);
const struct ncs_recorded_host *
ncs_recording_host(const struct ncs_recording *recording, size_t host);

/* Adds the readings of a host's clocks to an alignment, in common time. Returns 0 or
 * -ENOMEM. */
int ncs_recording_tell_clock(struct ncs_recording *recording, size_t host,
			     struct ncs_alignment *alignment);

/* Leaves ranks out, as if they had not been recorded: those whose labels do not match the
 * pattern, those whose user is known not to be `owner` (both: shm/read/job.h), and those
 * whose segments were created before a time since 1970, or from another one on unless
 * that is 0. To be called before the hosts' clocks are aligned. Returns 0, -ENOENT if no
 * rank is left, or -ENOMEM or -EIO with nothing left out. */
int ncs_recording_keep_jobs(struct ncs_recording *recording,
			    const char *pattern, uid_t owner, uint64_t since_ns,
			    uint64_t before_ns);

/* Sets the shift of a host's clock as traffic tells it: its CLOCK_MONOTONIC t
 * becomes t + offset_ns + drift × (t - first_ns). */
void ncs_recording_align(struct ncs_recording *recording, size_t host,
			 int64_t offset_ns, double drift, uint64_t error_ns);

/* --- States -------------------------------------------------------------- */

enum ncs_recorded {
	NCS_RECORDED_YES,
	NCS_RECORDED_NOT_YET, /* the rank begins later */
	NCS_RECORDED_NO_MORE, /* the rank ended before */
	/* The rank's states around that time cannot be read. */
	NCS_RECORDED_DAMAGED,
};

/* Finds the latest state of a rank at a time. Sets *reader to a reader of that
 * state, as from ncs_reader_open_image(); the recording owns the reader, which
 * is valid until the next call. Snapshots must be taken as of *taken_ns or
 * later. Returns -ENOMEM, -EIO or an enum ncs_recorded. */
int ncs_recording_state(struct ncs_recording *recording, size_t rank,
			uint64_t at_ns, struct ncs_reader **reader,
			uint64_t *taken_ns);

/* Makes ncs_recording_state() return the last state of ranks that have ended, but
 * not once another run of a head has begun that has not recorded them. A process
 * that removed its segment counts as alive in that state. */
void ncs_recording_keep_ended(struct ncs_recording *recording);

/* Reads what the machine that a rank was recorded on at a time could do: it had the
 * first peaks that are known before they were. Returns false if none are. */
bool ncs_recording_peaks(const struct ncs_recording *recording, size_t rank,
			 uint64_t at_ns, struct ncs_machine_peaks *peaks);

/* Returns the time at which the rank's first state after `after_ns` was taken;
 * 0 if there is none. */
uint64_t ncs_recording_next_state_of(const struct ncs_recording *recording,
				     size_t rank, uint64_t after_ns);

/* --- Records ------------------------------------------------------------- */

/* Records of one lane, in the order of its ring. Their times are in the rank's
 * ticks. */
struct ncs_batch {
	size_t rank;
	unsigned lane;
	const struct ncs_record *records; /* valid until the next batch */
	size_t count;
	uint64_t first; /* position of the first record in its ring */
	/* Number of records missing right before these: overwritten or
	 * damaged. */
	uint64_t lost;
	uint64_t drained_ns;
};

/* A pass over the records of all ranks. Records of one recording come in the order in
 * which they were drained; several recordings are merged by drained_ns. Chunks in which
 * nothing ended from from_ns to until_ns are left out; chunks at the borders come whole.
 * Several passes of a recording may be open. ncs_recording_pass_open() returns NULL if
 * there is no memory. */
struct ncs_recording_pass;
struct ncs_recording_pass *
ncs_recording_pass_open(struct ncs_recording *recording, uint64_t from_ns,
			uint64_t until_ns);
/* Returns 1 and sets *batch, 0 at the end, or -errno. */
int ncs_recording_pass_next(struct ncs_recording_pass *pass,
			    struct ncs_batch *batch);
void ncs_recording_pass_close(
	struct ncs_recording_pass *pass); /* accepts NULL */

#endif
