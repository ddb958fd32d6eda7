/* SPDX-License-Identifier: MIT */
/* The file format of recordings, as in ncclstat-record(5).
 *
 * A file is a sequence of chunks, each of which can be checked and understood
 * by itself. A reader skips chunks of unknown types. All numbers are
 * little-endian. Types and assertions only, no code.
 */
#ifndef NCS_RECORD_FORMAT_FILE_FORMAT_H
#define NCS_RECORD_FORMAT_FILE_FORMAT_H

#include <assert.h>
#include <stddef.h>
#include <stdint.h>

#include "analysis/base/machine_peaks.h"
#include "ncclstat/record.h"
#include "ncclstat/tables/chunks.def"

/* A reader accepts every minor version of its major version. */
#define NCS_FORMAT_MAJOR 1u
#define NCS_FORMAT_MINOR 8u
#define NCS_FORMAT_VERSION (NCS_FORMAT_MAJOR << 16 | NCS_FORMAT_MINOR)

enum ncs_chunk_type {
#define X(ID, name, number, help) NCS_CHUNK_##ID = number,
	NCS_CHUNKS(X)
#undef X
};

/* "NCSchunk" */
#define NCS_CHUNK_MAGIC UINT64_C(0x6b6e75686353434e)

/* Chunks begin at multiples of this many bytes. */
#define NCS_CHUNK_ALIGNMENT 64u

/* The largest chunk: its header, and its payload packed or unpacked. */
#define NCS_CHUNK_BYTES_MAX (UINT32_C(1) << 20)

/* Files are written in blocks of this many bytes. */
#define NCS_BLOCK_BYTES 4096u

#define NCS_NO_RANK UINT32_MAX

/* The header of every chunk. The payload follows it, then zeros up to the
 * alignment. */
struct ncs_chunk {
	uint64_t magic;
	uint32_t type; /* enum ncs_chunk_type */
	uint32_t rank; /* number of the rank in this file, or NCS_NO_RANK */
	/* Length of the payload in the file, and unpacked. If they differ, the
	 * payload is compressed: one frame of Zstandard. */
	uint64_t bytes;
	uint64_t unpacked_bytes;
	/* The time that the chunk covers: CLOCK_MONOTONIC of the recording
	 * host, in ns. */
	uint64_t from_ns;
	uint64_t until_ns;
	/* XXH3, 64 bits, of the payload as in the file. */
	uint64_t payload_checksum;
	uint64_t checksum; /* XXH3, 64 bits, of the words before this one */
};

/* --- Payloads ------------------------------------------------------------ */

/* Payload of NCS_CHUNK_FILE, the first chunk; never compressed. */
struct ncs_file_head {
	uint32_t version;         /* NCS_FORMAT_VERSION */
	uint32_t byte_order;      /* NCS_BYTE_ORDER */
	uint32_t abi_version;     /* the recorder's NCS_ABI_VERSION */
	uint32_t program_version; /* major << 16 | minor << 8 | patch */
	/* Random; the same in all files of a recording. */
	uint64_t recording[2];
	uint64_t number; /* number of this file in its recording, from 0 */
	uint64_t begun_monotonic_ns;
	uint64_t begun_realtime_ns;
	/* Time between two states of a rank; 0 if not known. */
	uint64_t interval_ns;
	uint64_t time_namespace;
	uint64_t pid_namespace;
	char boot_id[40];
	char host[64];
	/* Random; the same in the files of all nodes that one run of --record has
	 * written. 0: the file is of no such run. */
	uint64_t run;
	uint64_t reserved;
};

/* Payload of NCS_CHUNK_RANK: this struct, then the segment's header as it was
 * validated, with its clock refined, then the segment's path, without a
 * terminating zero. */
struct ncs_rank_head {
	uint32_t header_bytes;
	uint32_t path_bytes;
	/* User of the segment's file, plus 1; 0: not known, or before minor
	 * version 8. */
	uint64_t owner;
	uint64_t reserved[6];
};

enum ncs_state_flag {
	/* A key: the whole state rather than changes to one. */
	NCS_STATE_KEY = 1,
	NCS_STATE_LAST = 2, /* the last part of this state */
	NCS_STATE_GONE = 4, /* the process was gone */
	NCS_STATE_STOPPED = 8, /* the process was stopped, or until it was gone */
	/* The segment was removed; the rank has no later state. */
	NCS_STATE_REMOVED = 16,
};

/* Payload of NCS_CHUNK_STATE: this struct, `runs` of struct ncs_run, zeros up
 * to a multiple of 64 bytes, then the lines of the runs, in the order of the
 * runs.
 *
 * A state is the segment as in ncclstat-shm(5), without the records in its
 * rings. The header was validated and its clock refined; blocks under a
 * sequence counter were copied while the counter was even. A line that no run
 * covers is zero in a key; in any other state it is as in the state's key. A
 * state may take several chunks, all with the same times.
 */
struct ncs_state_head {
	uint64_t taken_ns;
	uint64_t key_offset;   /* offset in the file of the key's first chunk */
	uint64_t key_taken_ns; /* when the key was taken */
	uint64_t segment_bytes;
	uint32_t part;  /* number of this chunk in the state, from 0 */
	uint32_t flags; /* enum ncs_state_flag */
	uint32_t runs;
	uint32_t reserved;
	uint64_t padding[2];
};

#define NCS_STATE_LINE_BYTES 64u

struct ncs_run {
	uint32_t line; /* number of the first line in the segment */
	uint32_t lines;
};

/* Payload of NCS_CHUNK_RECORDS: this struct, then `count` of struct
 * ncs_record. */
struct ncs_records_head {
	uint32_t lane;
	uint32_t record_bytes; /* sizeof(struct ncs_record) */
	uint64_t first;        /* position of the first record in its ring */
	uint64_t count;
	/* Number of records right before these that were overwritten unread. */
	uint64_t lost;
	uint64_t drained_ns; /* when the last one was read from the ring */
	uint64_t reserved[3];
};

/* Payload of NCS_CHUNK_CLOCK. CLOCK_MONOTONIC was read right before and right
 * after CLOCK_REALTIME. All times in ns. */
struct ncs_clock_reading {
	uint64_t before_ns;
	uint64_t realtime_ns;
	uint64_t after_ns;
	/* From adjtimex(2), like the next two; UINT64_MAX if not known. */
	uint64_t maximum_error_ns;
	uint64_t estimated_error_ns;
	uint64_t synchronized; /* 0 if the system says that its clock is not */
	uint64_t reserved[2];
};

/* Payload of NCS_CHUNK_INDEX: this struct, then `count` entries of entry_bytes
 * each. */
struct ncs_index_head {
	/* Offset of the index before this one; 0 if none. */
	uint64_t previous_offset;
	uint32_t count;
	uint32_t entry_bytes;
	uint64_t reserved[6];
};

struct ncs_index_entry {
	uint64_t offset;
	uint64_t bytes; /* length of the payload as in the file */
	uint64_t from_ns;
	uint64_t until_ns;
	uint64_t records; /* number of records in the chunk; 0 if it has none */
	uint64_t lost;    /* records lost right before these; 0 if none */
	uint32_t type;
	uint32_t rank;
};

/* Payload of NCS_CHUNK_END. With its header it is the last 128 bytes of a
 * file. */
struct ncs_end {
	uint64_t index_offset; /* offset of the last index; 0 if none */
	uint64_t chunks;       /* number of chunks before this one */
	uint64_t records;
	uint64_t lost; /* number of records that were overwritten unread */
	uint64_t states;
	/* Number of states with a block that was copied in the middle of a
	 * write; UINT64_MAX: not known. */
	uint64_t torn_states;
	uint64_t another; /* 1 if the recording continues in another file */
	uint64_t reserved;
};

/* The largest look: its chunks with their headers. Readers refuse larger
 * ones. */
#define NCS_LOOK_BYTES_MAX (UINT64_C(32) << 20)

/* The most that its chunks unpack to, with their headers; likewise. */
#define NCS_LOOK_UNPACKED_MAX (UINT64_C(64) << 20)

enum ncs_look_flag {
	/* The look begins with a chunk "file", names all its ranks, and all its
	 * states are keys: a reader can join here. */
	NCS_LOOK_KEY = 1,
};

/* Payload of NCS_CHUNK_LOOK, the last chunk of a look; never compressed. */
struct ncs_look {
	uint64_t recording[2]; /* as in the stream's struct ncs_file_head */
	uint64_t number;       /* from 0; dropped looks are counted */
	uint64_t dropped;      /* number of looks dropped so far */
	uint64_t taken_ns;     /* when the look began */
	uint64_t realtime_ns;  /* CLOCK_REALTIME then */
	uint64_t interval_ns;  /* time between looks */
	uint64_t chunks;       /* number of chunks of the look before this one */
	uint64_t bytes;        /* and their length in the stream */
	uint64_t records;      /* number of records in the look */
	uint32_t flags;        /* enum ncs_look_flag */
	uint32_t program_version; /* major << 16 | minor << 8 | patch */
	uint32_t ranks;           /* number of ranks that have a state in it */
	uint32_t denied;          /* segments of other users */
	uint32_t unreadable;      /* other segments that cannot be read */
	uint32_t left_out;        /* segments that the look has no room for */
	uint64_t reserved[3];
};

/* Payload of NCS_CHUNK_UNREADABLE: this struct, then the segment's path and the
 * reason, a clause for users, both without a terminating zero. */
struct ncs_unreadable_head {
	uint32_t attach; /* enum ncs_attach */
	uint32_t path_bytes;
	uint32_t why_bytes;
	uint32_t reserved;
};

/* Payload of NCS_CHUNK_PACK: this struct, then one frame of Zstandard, to the
 * end of the payload. What it unpacks to are chunks of a look, whose checksums
 * are 0. */
struct ncs_pack_head {
	uint64_t recording; /* first word of the stream's */
	uint64_t look;      /* number of the look */
	/* Number of the look whose pack of the same part, unpacked, is the
	 * frame's prefix (a dictionary of content); that of this look: none. */
	uint64_t base;
	uint32_t part;           /* number of this pack in the look, from 0 */
	uint32_t unpacked_bytes; /* NCS_CHUNK_BYTES_MAX at most */
};

/* Payload of NCS_CHUNK_NODE: this struct, then words for users about the state,
 * without a terminating zero. It is between looks, and no part of one. */
struct ncs_node_head {
	uint32_t state; /* enum ncs_node_state */
	uint32_t why_bytes;
};

/* Payload of NCS_CHUNK_PEAKS: this struct, then `gpus` of struct ncs_gpu_peak, each
 * gpu_bytes long, then struct ncs_ports. Before minor version 7, a GPU ended with its
 * clocks; before 6, with its reach, and the last struct was missing.
 * Megabytes are 10^6 bytes. */
struct ncs_peaks_head {
	/* Megabytes per second that the machine's network ports send together;
	 * 0: not known. */
	uint64_t network_mb_s;
	uint32_t gpus;      /* 64 at most */
	uint32_t gpu_bytes; /* sizeof(struct ncs_gpu_peak) */
};

static_assert(sizeof(struct ncs_peaks_head) == 16, "peaks head");
static_assert(sizeof(struct ncs_gpu_peak) == 56, "GPU's peaks");
static_assert(sizeof(struct ncs_ports) == 40, "ports");
static_assert(sizeof(struct ncs_node_head) == 8, "node head");
static_assert(sizeof(struct ncs_pack_head) == 32, "pack head");
static_assert(sizeof(struct ncs_look) == 128, "look");
static_assert(sizeof(struct ncs_unreadable_head) == 16, "unreadable head");
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
