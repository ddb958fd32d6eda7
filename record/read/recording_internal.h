/* SPDX-License-Identifier: MIT */
/* Structs and functions shared by the files that read a recording. Only files
 * in record/read include this header. */
#ifndef NCS_RECORD_READ_RECORDING_INTERNAL_H
#define NCS_RECORD_READ_RECORDING_INTERNAL_H

#include "analysis/base/move_clock.h"
#include "ncclstat/abi_header.h"
#include "record/read/budget.h"
#include "record/read/recording.h"
#include "record/read/recording_file.h"
#include "record/read/state_image.h"

/* A chunk: its file, and its place there. */
struct ncs_chunk_ref {
	uint32_t file;
	uint32_t place;
};

struct ncs_chunk_refs {
	struct ncs_chunk_ref *at;
	size_t count;
	size_t capacity;
};

/* A rank's state in memory. */
struct ncs_recorded_state {
	struct ncs_kept_state kept;
	uint64_t paid; /* for it, of the recording's budget */
	bool has_key;
	struct ncs_chunk_ref key; /* first chunk of the key that is kept */
	bool has_state;
	struct ncs_chunk_ref state; /* first chunk of the state that is kept */
	uint64_t taken_ns;          /* time of that state, in common time */
	struct ncs_reader *reader;
};

struct ncs_rank_entry {
	struct ncs_recorded_rank facts;
	char *id;
	char *path; /* of the segment */
	/* The first and last time, by the host's clock. */
	uint64_t own_from_ns;
	uint64_t own_until_ns;
	struct ncs_header recorded; /* header with the clock as recorded */
	struct ncs_header moved;    /* header with the clock in common time */
	struct ncs_chunk_refs states;
	struct ncs_chunk_refs records;
	struct ncs_chunk_refs stacks;
	struct ncs_recorded_state state;
};

struct ncs_host_entry {
	struct ncs_recorded_host facts;
	char *name;
	char *boot_id;
	/* The most exact reading of the host's clocks, and its errors. */
	uint64_t read_monotonic_ns;
	/* Error of CLOCK_MONOTONIC when CLOCK_REALTIME was read. */
	uint64_t reading_error_ns;
	/* Error of CLOCK_REALTIME; UINT64_MAX if not known. */
	uint64_t realtime_error_ns;
};

/* The successive files of one recording. */
struct ncs_file_series {
	uint64_t recording[2];
	size_t host;
	size_t first_file;
	size_t file_count;
	/* Its first state, UINT64_MAX if there is none, and the end of its files, in
	 * the host's time. */
	uint64_t from_ns;
	uint64_t until_ns;
	uint64_t records_from_ns; /* its first records, as from_ns */
	/* When a later run of a head had begun and this one had ended, in common
	 * time; UINT64_MAX: never. */
	uint64_t passed_ns;
	struct ncs_chunk_refs peaks;
	/* Chunks of records of all ranks, in the order of draining. */
	struct ncs_chunk_refs records;
};

/* A run of a head, on any number of hosts, and its time. */
struct ncs_recorded_run {
	uint64_t run; /* as in the heads of its files */
	uint64_t from_ns;
	uint64_t until_ns;
};

struct ncs_recording {
	struct ncs_recorded_file *files;
	size_t *file_series;
	size_t file_count;
	struct ncs_file_series *series;
	size_t series_count;
	struct ncs_recorded_run *runs;
	struct ncs_host_entry *hosts;
	size_t host_count;
	struct ncs_rank_entry *ranks;
	size_t rank_count;
	size_t rank_capacity;
	struct ncs_recording_facts facts;
	bool keeps_ended;
	struct ncs_budget budget; /* of what the states take */
	struct ncs_state_image image; /* has the state of the latest reader */
};

/* Returns the place of a chunk. */
static inline struct ncs_chunk_place *
ncs_recording_chunk(const struct ncs_recording *recording,
		    struct ncs_chunk_ref at)
{
	return &recording->files[at.file].places[at.place];
}

/* Returns the payload of a chunk, as ncs_recorded_file_payload() does. */
static inline struct ncs_payload
ncs_recording_payload(const struct ncs_recording *recording,
		      struct ncs_chunk_ref at, void *room)
{
	return ncs_recorded_file_payload(&recording->files[at.file],
					 ncs_recording_chunk(recording, at),
					 room);
}

/* Returns the rank of a chunk of states or records that a series has. */
static inline size_t
ncs_recording_rank_of(const struct ncs_recording *recording,
		      struct ncs_chunk_ref at)
{
	return ncs_recording_chunk(recording, at)->owner;
}

/* Frees a rank's state in memory: it is read again when it is needed. */
void ncs_recording_release_state(struct ncs_recording *recording,
				 struct ncs_rank_entry *rank);

/* Returns the move of a host's CLOCK_MONOTONIC to common time. */
struct ncs_clock_move
ncs_recording_move_of(const struct ncs_recording *recording, size_t host);

/* Converts a host's CLOCK_MONOTONIC to common time. */
uint64_t ncs_recording_common_ns(const struct ncs_recording *recording,
				 size_t host, uint64_t ns);

/* Whether two files belong to the same recording. */
static inline bool ncs_recording_is_same(const uint64_t a[2],
					 const uint64_t b[2])
{
	return a[0] == b[0] && a[1] == b[1];
}

/* Returns the place of the latest of a rank's chunks by a time, else
 * `otherwise`. */
size_t ncs_recording_latest(const struct ncs_recording *recording,
			    const struct ncs_rank_entry *rank,
			    const struct ncs_chunk_refs *chunks, uint64_t at_ns,
			    size_t otherwise);

/* Reads a rank's chunk: its header, its owner, and where its path is. Returns
 * false if the chunk is not valid. */
bool ncs_recording_read_rank(struct ncs_recorded_file *file,
			     struct ncs_chunk_place *place,
			     struct ncs_header *header, uid_t *owner,
			     const char **path, size_t *path_bytes);

/* Finds the ranks of all files, and their chunks. Times are still in the hosts'
 * own clocks. Returns 0 or -ENOMEM. */
int ncs_recording_take_ranks(struct ncs_recording *recording);

/* Names the ranks. Returns 0 or -ENOMEM. */
int ncs_recording_name_ranks(struct ncs_recording *recording);

/* Refuses a rank that two recordings have at the same time: sets `why` and
 * returns -EEXIST; otherwise returns 0. */
int ncs_recording_refuse_twice(const struct ncs_recording *recording, char *why,
			       size_t why_size);

/* Finds the hosts of all files and reads their clocks. Returns 0 or -ENOMEM. */
int ncs_recording_find_hosts(struct ncs_recording *recording);

/* Adjusts a rank's clock to common time. */
void ncs_recording_move_clock(const struct ncs_recording *recording,
			      struct ncs_rank_entry *rank);

/* Reads a chunk of a rank's records as a batch; its `lost` is the number stored
 * in the chunk. `room` is as for ncs_recorded_file_payload(). Returns 1, or 0
 * if the chunk is damaged or not valid. */
int ncs_recording_batch(struct ncs_recording *recording, size_t rank,
			struct ncs_chunk_ref at, void *room,
			struct ncs_batch *batch);

/* Makes the kernel read ahead the state of a rank at a time. */
void ncs_recording_expect(const struct ncs_recording *recording, size_t rank,
			  uint64_t at_ns);

#endif
