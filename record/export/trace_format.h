/* SPDX-License-Identifier: MIT */
/* A trace's words and tracks, and the functions of each format. Only
 * trace_writer.c and the formats include this header. */
#ifndef NCS_RECORD_EXPORT_TRACE_FORMAT_H
#define NCS_RECORD_EXPORT_TRACE_FORMAT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "analysis/base/hash_table.h"
#include "record/export/trace_writer.h"

/* --- Ends of arrows ------------------------------------------------------- */

/* Ends of arrows that wait for their other end. Bounded: if there are too many,
 * all waiting ends are dropped and get no arrow. Not thread-safe. */

/* Largest number of waiting ends. */
#define NCS_OPEN_FLOWS_MAX (UINT32_C(1) << 22)

struct ncs_open_flow {
	uint64_t flow; /* the arrow's number, a hash; 0 if the slot is free */
	uint64_t at_ns;
	uint32_t track;
};

/* A struct of zeros is empty.
 *
 * Deliberately a hash table of its own, with open addressing, rather than
 * ncs_hash_table: an export of a large recording inserts and removes more than
 * 100 million ends, and this needs neither an allocation nor a pointer for
 * each.
 */
struct ncs_open_flows {
	struct ncs_open_flow *slots;
	uint32_t slot_count; /* 0, or a power of two */
	uint32_t count;
};

/* Returns true if the other end of the arrow was waiting, and moves it into
 * *other. Otherwise this end waits, or is dropped if there is no memory. */
bool ncs_open_flows_join(struct ncs_open_flows *flows,
			 const struct ncs_open_flow *end,
			 struct ncs_open_flow *other);

/* Drops all waiting ends, and frees their memory. */
void ncs_open_flows_release(struct ncs_open_flows *flows);

/* --- Words, tracks, formats ----------------------------------------------- */

enum ncs_trace_kind {
	NCS_TRACE_PLAIN,
	NCS_TRACE_PROCESS,
	NCS_TRACE_COUNTER,
};

struct ncs_trace_track {
	enum ncs_trace_kind kind;
	uint32_t parent; /* 0 if none */
	uint32_t place;
	uint32_t name; /* number of a word */
	uint32_t unit; /* number of a word; only for a counter */
	bool is_written;
	/* Among slice tracks: the end of its latest slice, and the next one; 0:
	 * none. */
	uint64_t end_ns;
	uint32_t next;
};

struct ncs_trace_word {
	char *text;         /* clean; owned by the hash table's entry */
	/* Bits defined by the format: tables that have the word. */
	uint8_t written_in;
};

struct ncs_trace_writer {
	const struct ncs_trace_functions *format;
	FILE *file;
	struct ncs_trace_base base;
	int error;        /* 0 or -errno */
	uint64_t written; /* number of events; for the format's use */
	struct ncs_open_flows open_flows; /* for the format's use */
	struct ncs_trace_word *words;     /* by number; 0 is "" */
	uint32_t word_count;
	size_t word_capacity;
	struct ncs_hash_table texts;    /* the words by their text */
	struct ncs_trace_track *tracks; /* by number; 0 is none */
	uint32_t track_count;
	size_t track_capacity;
};

struct ncs_trace_functions {
	void (*begin)(struct ncs_trace_writer *writer);
	/* Writes a track whose parents have been written. */
	void (*track)(struct ncs_trace_writer *writer, uint32_t track);
	void (*slice)(struct ncs_trace_writer *writer, uint32_t track,
		      uint64_t start_ns, uint64_t end_ns,
		      const struct ncs_trace_event *event);
	void (*instant)(struct ncs_trace_writer *writer, uint32_t track,
			uint64_t at_ns, const struct ncs_trace_event *event);
	void (*count)(struct ncs_trace_writer *writer, uint32_t track,
		      uint64_t at_ns, double value);
	void (*end)(struct ncs_trace_writer *writer);
};

extern const struct ncs_trace_functions ncs_trace_perfetto;
extern const struct ncs_trace_functions ncs_trace_chrome;

#endif
