/* SPDX-License-Identifier: MIT */
/* Reads recordings: the states and records in one or several files.
 *
 * Opens files of one or several recordings, of one or several hosts, as one.
 * Nothing in them is trusted: damaged chunks are left out and counted.
 *
 * All times are in ns of the common time, which is CLOCK_MONOTONIC of the first
 * file's host. Times of other hosts are shifted by the difference of the
 * clocks: at first as CLOCK_REALTIME shows it, after ncs_recording_align() as
 * the hosts' traffic shows it. The clocks of headers (struct ncs_clock) are
 * adjusted likewise, so that converting ticks by them gives the common time.
 * Not thread-safe.
 */
#ifndef NCS_RECORD_READ_RECORDING_H
#define NCS_RECORD_READ_RECORDING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "ncclstat/reader.h"
#include "record/format/file_format.h"

struct ncs_recording;

/* A rank, which may be in several successive files. */
struct ncs_recorded_rank {
	/* Unique: the segment's path, with its host if there are several. */
	const char *id;
	size_t host;
	/* The header as first recorded, its clock adjusted to the common
	 * time. */
	const struct ncs_header *header;
	uint64_t from_ns;  /* of its first state or record */
	uint64_t until_ns; /* of its last state or record */
	uint64_t records;
	uint64_t lost; /* records overwritten before they were recorded */
};

/* A host, or one time namespace of it. Ranks of a host have one clock. */
struct ncs_recorded_host {
	const char *name;
	const char *boot_id;
	uint64_t time_namespace;
	uint64_t first_ns; /* its first time, by its own CLOCK_MONOTONIC */
	int64_t offset_ns; /* added to its CLOCK_MONOTONIC at first_ns */
	double drift;      /* ns that are added for each ns since first_ns */
	uint64_t error_ns; /* largest error of these; UINT64_MAX if not known */
	/* Its own CLOCK_REALTIME minus its CLOCK_MONOTONIC. */
	int64_t realtime_offset_ns;
};

struct ncs_recording_facts {
	size_t files;
	uint64_t bytes;
	uint64_t chunks;
	uint64_t damaged_chunks; /* found so far */
	uint64_t skipped_bytes;  /* bytes in which no chunk was found */
	size_t cut_files; /* files without an end: still growing, or cut */
	uint64_t records;
	uint64_t lost;
	/* From when every rank of the beginning had its first state, or from
	 * the first record if there are no states (earlier records may exist),
	 * until the end. */
	uint64_t from_ns;
	uint64_t until_ns;
	uint64_t interval_ns; /* between two states of a rank; 0 if not known */
};

/* Opens files. Returns 0 or -errno; on failure sets `why` to a clause for the
 * user that names the file. Damage and missing ends are not errors, see the
 * facts. */
int ncs_recording_open(struct ncs_recording **recording,
		       const char *const *paths, size_t count, char *why,
		       size_t why_size);
void ncs_recording_close(struct ncs_recording *recording); /* accepts NULL */

/* Opens the bytes of one file in memory, which must outlive the recording. */
int ncs_recording_open_memory(struct ncs_recording **recording,
			      const void *bytes, size_t size, char *why,
			      size_t why_size);

/* Checks every chunk, so that the facts are complete. Otherwise damage is found
 * as chunks are read. */
void ncs_recording_check(struct ncs_recording *recording);

/* One file. The path is valid until the recording is closed. */
struct ncs_recorded_file_facts {
	const char *path;
	size_t host;
	uint64_t bytes;
	uint64_t number;   /* of the file in its recording, from 0 */
	uint64_t begun_ns; /* in common time */
	uint64_t records;
	uint64_t damaged_chunks;
	uint64_t skipped_bytes;
	bool is_cut;
};
/* Sets the facts of a file, by its number in the order of files. */
void ncs_recording_file(const struct ncs_recording *recording, size_t file,
			struct ncs_recorded_file_facts *facts);

/* Counts the facts anew. Valid until the recording is closed. */
const struct ncs_recording_facts *
ncs_recording_facts(struct ncs_recording *recording);

/* Counts, ranks and hosts. Pointers are valid until the recording is closed or
 * aligned. */
size_t ncs_recording_rank_count(const struct ncs_recording *recording);
const struct ncs_recorded_rank *
ncs_recording_rank(const struct ncs_recording *recording, size_t rank);
size_t ncs_recording_host_count(const struct ncs_recording *recording);
const struct ncs_recorded_host *
ncs_recording_host(const struct ncs_recording *recording, size_t host);

/* Visits the readings of a host's clocks, in the order of time, in its own
 * CLOCK_MONOTONIC. */
typedef void ncs_reading_visit(void *context,
			       const struct ncs_clock_reading *reading);
void ncs_recording_readings(struct ncs_recording *recording, size_t host,
			    ncs_reading_visit *visit, void *context);

/* Sets the shift of a host's clock: its CLOCK_MONOTONIC t becomes t + offset_ns
 * + drift × (t - first_ns). */
void ncs_recording_align(struct ncs_recording *recording, size_t host,
			 int64_t offset_ns, double drift, uint64_t error_ns);

/* --- States -------------------------------------------------------------- */

enum ncs_recorded {
	NCS_RECORDED_YES,
	NCS_RECORDED_NOT_YET, /* the rank begins later */
	NCS_RECORDED_NO_MORE, /* the rank ended before */
	NCS_RECORDED_DAMAGED, /* its states around that time cannot be read */
};

/* Finds the latest state of a rank at a time. Sets *reader to it as a segment,
 * as from ncs_reader_open_image(); the recording owns it, and it is valid until
 * the next call. Take a snapshot of it as of *taken_ns or later. Returns
 * -ENOMEM, -EIO or an enum ncs_recorded. */
int ncs_recording_state(struct ncs_recording *recording, size_t rank,
			uint64_t at_ns, struct ncs_reader **reader,
			uint64_t *taken_ns);

/* From now on, ranks that have ended keep their last state. A process that
 * removed its segment was alive then. */
void ncs_recording_keep_ended(struct ncs_recording *recording);

/* Returns when the rank's first state after a time was taken; 0 if there is
 * none. */
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
	/* Records missing right before these: overwritten or damaged. */
	uint64_t lost;
	uint64_t drained_ns;
};

/* A pass over the records of one rank, or with NCS_ALL_RANKS of all ranks.
 * Records of one recording come in the order in which they were drained;
 * several recordings are merged by drained_ns. Chunks in which nothing ended
 * from from_ns to until_ns are left out; those at the borders come whole.
 * Several passes of a recording may be open. ncs_recording_pass_open() returns
 * NULL if there is no memory. */
struct ncs_recording_pass;
struct ncs_recording_pass *
ncs_recording_pass_open(struct ncs_recording *recording, size_t rank,
			uint64_t from_ns, uint64_t until_ns);
#define NCS_ALL_RANKS SIZE_MAX
/* Returns 1 and sets *batch, 0 at the end, or -errno. */
int ncs_recording_pass_next(struct ncs_recording_pass *pass,
			    struct ncs_batch *batch);
void ncs_recording_pass_close(
	struct ncs_recording_pass *pass); /* accepts NULL */

#endif
