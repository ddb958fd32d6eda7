/* SPDX-License-Identifier: MIT */
/* The file format of recordings, as ncclstat-record(5) has it.
 *
 * A file is a row of chunks, each of which can be checked and understood by
 * itself; what a reader does not know it leaves out. All numbers are
 * little-endian. Types and asserts only: no code.
 */
#ifndef NCS_RECORD_FORMAT_FILE_FORMAT_H
#define NCS_RECORD_FORMAT_FILE_FORMAT_H

#include <assert.h>
#include <stddef.h>
#include <stdint.h>

#include "ncclstat/abi.h"
#include "ncclstat/record.h"
#include "ncclstat/tables/chunks.def"

/* A reader reads all minor versions of its major one. */
#define NCS_FORMAT_MAJOR 1u
#define NCS_FORMAT_MINOR 0u
#define NCS_FORMAT_VERSION (NCS_FORMAT_MAJOR << 16 | NCS_FORMAT_MINOR)

enum ncs_chunk_type {
#define X(ID, name, number, help) NCS_CHUNK_##ID = number,
	NCS_CHUNKS(X)
#undef X
};

/* "NCSchunk" */
#define NCS_CHUNK_MAGIC UINT64_C(0x6b6e75686353434e)

/* Chunks begin at multiples of this. */
#define NCS_CHUNK_ALIGNMENT 64u

/* The most that one takes, header and compressed or uncompressed payload. */
#define NCS_CHUNK_BYTES_MAX (UINT32_C(1) << 20)

/* Files are written in blocks of this. */
#define NCS_BLOCK_BYTES 4096u

#define NCS_NO_RANK UINT32_MAX

/* What every chunk begins with; the payload follows, then zeros up to the
 * alignment. */
struct ncs_chunk {
	uint64_t magic;
	uint32_t type; /* enum ncs_chunk_type */
	uint32_t rank; /* its number in this file; NCS_NO_RANK */
	/* Of the payload: in the file, and once it is unpacked. If these differ
	 * it is compressed, one frame of Zstandard. */
	uint64_t bytes;
	uint64_t unpacked_bytes;
	/* The first and the last moment that it tells of, CLOCK_MONOTONIC ns
	 * of the host that recorded. */
	uint64_t from_ns;
	uint64_t until_ns;
	uint64_t payload_checksum; /* XXH3, 64 bits, of the payload in the file */
	uint64_t checksum;         /* the same of the words before this one */
};

/* --- Payloads ------------------------------------------------------------ */

/* NCS_CHUNK_FILE; never compressed. */
struct ncs_file_head {
	uint32_t version;         /* NCS_FORMAT_VERSION */
	uint32_t byte_order;      /* NCS_BYTE_ORDER */
	uint32_t abi_version;     /* of the recorder: NCS_ABI_VERSION */
	uint32_t program_version; /* major << 16 | minor << 8 | patch */
	uint64_t recording[2]; /* random, the same in all files of one recording */
	uint64_t number;       /* of the file in its recording, from 0 */
	uint64_t begun_monotonic_ns;
	uint64_t begun_realtime_ns;
	uint64_t interval_ns; /* between two states of a rank */
	uint64_t time_namespace;
	uint64_t pid_namespace;
	char boot_id[40];
	char host[64];
	uint64_t reserved[2];
};

/* NCS_CHUNK_RANK: this, then the segment's header as it was validated, its clock
 * refined, then the path, without a zero. */
struct ncs_rank_head {
	uint32_t header_bytes;
	uint32_t path_bytes;
	uint64_t reserved[7];
};

enum ncs_state_flag {
	NCS_STATE_KEY = 1,      /* all of the state, not what has changed */
	NCS_STATE_LAST = 2,     /* no more parts of this state */
	NCS_STATE_GONE = 4,     /* the process was gone */
	NCS_STATE_STOPPED = 8,  /* … was stopped */
	NCS_STATE_REMOVED = 16, /* the segment was; it has no later state */
};

/* NCS_CHUNK_STATE: this, `runs` of struct ncs_run, zeros up to 64 bytes, then
 * their lines, one run after another. A state is the segment as
 * ncclstat-shm(5) has it, without the records in its rings: the header is a
 * validated one, its clock refined, and blocks under a sequence were copied
 * when that was even. What no run covers is zero in a key, and as in the key
 * otherwise. A state may take several chunks, all of the same time. */
struct ncs_state_head {
	uint64_t taken_ns;
	uint64_t key_offset;   /* in the file, of the first chunk of the key */
	uint64_t key_taken_ns; /* … and its time */
	uint64_t segment_bytes;
	uint32_t part;  /* from 0 */
	uint32_t flags; /* enum ncs_state_flag */
	uint32_t runs;
	uint32_t reserved;
	uint64_t padding[2];
};

#define NCS_STATE_LINE_BYTES 64u

struct ncs_run {
	uint32_t line; /* the first one's number in the segment */
	uint32_t lines;
};

/* NCS_CHUNK_RECORDS: this, then `count` of struct ncs_record. */
struct ncs_records_head {
	uint32_t lane;
	uint32_t record_bytes; /* sizeof(struct ncs_record) */
	uint64_t first;        /* position of the first one in its ring */
	uint64_t count;
	uint64_t lost; /* right before these: overwritten before they were read */
	uint64_t drained_ns; /* when they were read */
	uint64_t reserved[3];
};

/* NCS_CHUNK_CLOCK: ns; the two readings of CLOCK_MONOTONIC are right before and
 * right after that of CLOCK_REALTIME. */
struct ncs_clock_reading {
	uint64_t before_ns;
	uint64_t realtime_ns;
	uint64_t after_ns;
	uint64_t maximum_error_ns; /* adjtimex(2); UINT64_MAX: not known */
	uint64_t estimated_error_ns;
	uint64_t synchronized; /* 0: the system says that it is not */
	uint64_t reserved[2];
};

/* NCS_CHUNK_INDEX: this, then `count` entries. */
struct ncs_index_head {
	uint64_t previous_offset; /* of the index before it; 0: none */
	uint32_t count;
	uint32_t entry_bytes;
	uint64_t reserved[6];
};

struct ncs_index_entry {
	uint64_t offset;
	uint64_t bytes; /* of the payload, in the file */
	uint64_t from_ns;
	uint64_t until_ns;
	uint64_t records; /* of a chunk of records: its count … */
	uint64_t lost;    /* … and what was lost before them; else 0 */
	uint32_t type;
	uint32_t rank;
};

/* NCS_CHUNK_END; with its header the last 128 bytes of a file. */
struct ncs_end {
	uint64_t index_offset; /* of the last index; 0: none */
	uint64_t chunks;       /* before this one */
	uint64_t records;
	uint64_t lost; /* records overwritten before they were read */
	uint64_t states;
	uint64_t torn_states; /* of these: with a block caught in mid-write */
	uint64_t another;     /* 1: the recording goes on in another file */
	uint64_t reserved;
};

static_assert(sizeof(struct ncs_chunk) == 64, "chunk");
static_assert(sizeof(struct ncs_file_head) % 8 == 0, "file head");
static_assert(sizeof(struct ncs_rank_head) == 64, "rank head");
static_assert(sizeof(struct ncs_state_head) == 64, "state head");
static_assert(sizeof(struct ncs_run) == 8, "run");
static_assert(sizeof(struct ncs_records_head) == 64, "records head");
static_assert(sizeof(struct ncs_clock_reading) == 64, "clock reading");
static_assert(sizeof(struct ncs_index_head) == 64, "index head");
static_assert(sizeof(struct ncs_index_entry) == 56, "index entry");
static_assert(sizeof(struct ncs_end) == 64, "end");

#endif
