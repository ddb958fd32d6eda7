/* SPDX-License-Identifier: MIT */
/* A recording from within: what recording.c and the files that do its parts
 * share. Nobody else includes it. */
#ifndef NCS_RECORD_READ_RECORDING_INTERNAL_H
#define NCS_RECORD_READ_RECORDING_INTERNAL_H

#include "record/read/recording.h"
#include "record/read/recording_file.h"

/* A chunk of a rank: its file and its place there. */
struct ncs_chunk_ref {
	uint32_t file;
	uint32_t place;
};

struct ncs_chunk_refs {
	struct ncs_chunk_ref *at;
	size_t count;
	size_t capacity;
};

/* What a line of the key was before a later state was laid over it. */
struct ncs_saved_line {
	uint32_t line;
	char bytes[NCS_STATE_LINE_BYTES];
};

/* A rank's state in memory, as the file has it but for the clock. */
struct ncs_recorded_image {
	char *bytes; /* NULL: none yet */
	size_t size;
	bool has_key;
	struct ncs_chunk_ref key;     /* which one is in it … */
	struct ncs_saved_line *saved; /* … under what was laid over it */
	size_t saved_count;
	size_t saved_capacity;
	bool has_state;
	struct ncs_chunk_ref state; /* the first chunk of the one that is in it */
	uint64_t taken_ns;         /* the host's */
	/* The header as in the file, where the image has another clock. */
	struct ncs_header header;
	bool is_moved;
	struct ncs_reader *reader;
};

struct ncs_rank_entry {
	struct ncs_recorded_rank facts;
	char *id;
	char *path; /* of the segment */
	/* The times of the facts by the host's clock. */
	uint64_t own_from_ns;
	uint64_t own_until_ns;
	uint64_t recording[2];
	struct ncs_header recorded; /* its clock as recorded */
	struct ncs_header moved;    /* … and in common time */
	struct ncs_chunk_refs states;
	struct ncs_chunk_refs records;
	struct ncs_recorded_image image;
};

struct ncs_host_entry {
	struct ncs_recorded_host facts;
	char *name;
	char *boot_id;
	/* The best reading of its clocks, and how wrong it may be. */
	uint64_t read_monotonic_ns;
	uint64_t reading_error_ns; /* of CLOCK_MONOTONIC beside CLOCK_REALTIME */
	uint64_t realtime_error_ns; /* of CLOCK_REALTIME; UINT64_MAX: not known */
};

/* Files of one recording, one after the other. */
struct ncs_file_series {
	uint64_t recording[2];
	size_t host;
	size_t first_file;
	size_t file_count;
	uint64_t until_ns;         /* the host's */
	bool goes_on;              /* its last file has no end */
	struct ncs_chunk_refs
		records; /* of all its ranks, as they were drained */
};

struct ncs_recording {
	struct ncs_recorded_file *files;
	size_t *file_series;
	size_t file_count;
	/* The number of a rank in a file, in the recording; SIZE_MAX: none. */
	size_t **file_ranks;
	size_t *file_rank_counts;
	struct ncs_file_series *series;
	size_t series_count;
	struct ncs_host_entry *hosts;
	size_t host_count;
	struct ncs_rank_entry *ranks;
	size_t rank_count;
	size_t rank_capacity;
	struct ncs_recording_facts facts;
	bool keeps_ended;
};

static inline struct ncs_chunk_place *
ncs_recording_chunk(const struct ncs_recording *recording,
		    struct ncs_chunk_ref at)
{
	return &recording->files[at.file].places[at.place];
}

/* A moment of a host's CLOCK_MONOTONIC in common time. */
uint64_t ncs_recording_common_ns(const struct ncs_recording *recording,
				 size_t host, uint64_t ns);

/* 0 or -ENOMEM. */
int ncs_chunk_refs_add(struct ncs_chunk_refs *refs, struct ncs_chunk_ref at);

/* Finds the hosts of all files, and what their clocks show; 0 or -ENOMEM. */
int ncs_recording_find_hosts(struct ncs_recording *recording);

/* Moves a rank's clock to common time. */
void ncs_recording_move_clock(const struct ncs_recording *recording,
			      struct ncs_rank_entry *rank);

/* Reads a chunk of a rank's records as a batch, whose `lost` is what the chunk
 * tells. `room` as for ncs_recorded_file_payload(). 1; 0: it is damaged or not
 * sane. */
int ncs_recording_batch(struct ncs_recording *recording, size_t rank,
			struct ncs_chunk_ref at, void *room,
			struct ncs_batch *batch);

/* The state of a rank at a moment will be wanted: has it read meanwhile. */
void ncs_recording_expect(const struct ncs_recording *recording, size_t rank,
			  uint64_t at_ns);

#endif
