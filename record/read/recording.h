/* SPDX-License-Identifier: MIT */
/* Recordings, for reading: what is in one or several files, at any moment.
 *
 * Opens files of one or several recordings, of one or several hosts, as one.
 * Nothing in them is trusted: what is damaged is left out and counted. All
 * times are ns of one clock, that of the first file's host: CLOCK_MONOTONIC
 * there; other hosts' times are moved by what their clocks differ, at first as
 * CLOCK_REALTIME tells, and by ncs_recording_align() as their traffic does.
 * That is done in the clocks of headers (struct ncs_clock), so that whoever
 * makes ns of ticks with these gets the common time. Not thread-safe.
 */
#ifndef NCS_RECORD_READ_RECORDING_H
#define NCS_RECORD_READ_RECORDING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "ncclstat/reader.h"
#include "record/format/file_format.h"

struct ncs_recording;

/* A rank, which may be in several files one after another. */
struct ncs_recorded_rank {
	const char *id; /* unique: the segment's path, its host before it */
	size_t host;
	/* As first recorded, its clock moved to the common time. */
	const struct ncs_header *header;
	uint64_t from_ns;  /* of its first state or record … */
	uint64_t until_ns; /* … and of its last */
	uint64_t records;
	uint64_t lost; /* overwritten before they were recorded */
};

/* Ranks of one boot and time namespace have one clock. */
struct ncs_recorded_host {
	const char *name;
	const char *boot_id;
	uint64_t time_namespace;
	uint64_t first_ns; /* its first moment, of its own CLOCK_MONOTONIC */
	int64_t offset_ns; /* what was added to its CLOCK_MONOTONIC, at … */
	double drift; /* … and ns per ns since the recording's beginning */
	uint64_t error_ns; /* of that, at most; UINT64_MAX: not known */
	/* CLOCK_REALTIME less CLOCK_MONOTONIC of its own. */
	int64_t realtime_offset_ns;
};

struct ncs_recording_facts {
	size_t files;
	uint64_t bytes;
	uint64_t chunks;
	uint64_t damaged_chunks; /* that were found so far */
	uint64_t skipped_bytes; /* in which no chunk was found */
	size_t cut_files;       /* that have no end: still growing, or cut */
	uint64_t records;
	uint64_t lost;
	/* When the ranks that were there at first had a state each, or the first
	 * record where there is no state; what had ended before is older. And
	 * the end of it all. */
	uint64_t from_ns;
	uint64_t until_ns;
	uint64_t interval_ns; /* between two states of a rank; 0: not known */
};

/* 0 or -errno; `why` (one clause for people) names the file and says what is
 * wrong with it. Damage and missing ends are no errors: see the facts. */
int ncs_recording_open(struct ncs_recording **recording,
		       const char *const *paths, size_t count, char *why,
		       size_t why_size);
void ncs_recording_close(struct ncs_recording *recording); /* NULL: nothing */

/* The same of one file's bytes in memory, which must stay as long as it. */
int ncs_recording_open_memory(struct ncs_recording **recording,
			      const void *bytes, size_t size, char *why,
			      size_t why_size);

/* Looks at each chunk whether it is whole, so that the facts are complete;
 * otherwise that is seen as it is read. */
void ncs_recording_check(struct ncs_recording *recording);

/* A file, as it was opened. */
struct ncs_recorded_file_facts {
	const char *path;
	size_t host;
	uint64_t bytes;
	uint64_t number;   /* in its recording */
	uint64_t begun_ns; /* common time */
	uint64_t records;
	uint64_t damaged_chunks;
	uint64_t skipped_bytes;
	bool is_cut;
};
void ncs_recording_file(const struct ncs_recording *recording, size_t file,
			struct ncs_recorded_file_facts *facts);

const struct ncs_recording_facts *
ncs_recording_facts(struct ncs_recording *recording);

/* Valid until it is closed or aligned. */
size_t ncs_recording_rank_count(const struct ncs_recording *recording);
const struct ncs_recorded_rank *
ncs_recording_rank(const struct ncs_recording *recording, size_t rank);
size_t ncs_recording_host_count(const struct ncs_recording *recording);
const struct ncs_recorded_host *
ncs_recording_host(const struct ncs_recording *recording, size_t host);

/* What the host's clocks showed, in the order of time, each by its own
 * CLOCK_MONOTONIC. */
typedef void ncs_reading_visit(void *context,
			       const struct ncs_clock_reading *reading);
void ncs_recording_readings(struct ncs_recording *recording, size_t host,
			    ncs_reading_visit *visit, void *context);

/* Moves a host's clock: its CLOCK_MONOTONIC t becomes t + offset_ns +
 * drift × (t - the host's first moment). */
void ncs_recording_align(struct ncs_recording *recording, size_t host,
			 int64_t offset_ns, double drift, uint64_t error_ns);

/* --- States ---------------------------------------------------------------- */

enum ncs_recorded {
	NCS_RECORDED_YES,
	NCS_RECORDED_NOT_YET, /* the rank begins later */
	NCS_RECORDED_NO_MORE, /* it had ended before */
	NCS_RECORDED_DAMAGED, /* its states around then cannot be read */
};

/* The latest state of a rank at a moment, as a segment: *reader is what
 * ncs_reader_open_image() gives, owned by the recording and valid until its next
 * call; take a snapshot of it as of any later moment. -ENOMEM, -EIO or an
 * enum ncs_recorded. */
int ncs_recording_state(struct ncs_recording *recording, size_t rank,
			uint64_t at_ns, struct ncs_reader **reader,
			uint64_t *taken_ns);

/* From now on a rank that has ended is there as it was last. Its process was
 * alive when it removed its segment. */
void ncs_recording_keep_ended(struct ncs_recording *recording);

/* When the first state of a rank after a moment was taken. 0: none. */
uint64_t ncs_recording_next_state_of(const struct ncs_recording *recording,
				     size_t rank, uint64_t after_ns);

/* --- Records --------------------------------------------------------------- */

/* Records of one lane, in the order of its ring; times in the rank's ticks. */
struct ncs_batch {
	size_t rank;
	unsigned lane;
	const struct ncs_record *records; /* valid until the next batch */
	size_t count;
	uint64_t first; /* position of the first one in its ring */
	uint64_t lost;  /* right before them, overwritten or damaged */
	uint64_t drained_ns;
};

/* A pass over the records of all ranks, or of one, file by file as they were
 * drained: those of the hosts side by side, by drained_ns. Chunks that hold
 * nothing that ended in from_ns … until_ns are left out; those at the borders
 * come whole. Several passes of one recording may be open. NULL: no memory. */
struct ncs_recording_pass;
struct ncs_recording_pass *
ncs_recording_pass_open(struct ncs_recording *recording, size_t rank,
			uint64_t from_ns, uint64_t until_ns);
#define NCS_ALL_RANKS SIZE_MAX
/* 1: there is one; 0: no more; -errno. */
int ncs_recording_pass_next(struct ncs_recording_pass *pass,
			    struct ncs_batch *batch);
void ncs_recording_pass_close(
	struct ncs_recording_pass *pass); /* NULL: nothing */

#endif
