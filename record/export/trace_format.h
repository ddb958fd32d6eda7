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
	struct ncs_name_link link;
	uint32_t number;
	/* Bits defined by the format: tables that have the word. */
	uint8_t written_in;
	char text[]; /* clean */
};

struct ncs_trace_writer {
	const struct ncs_trace_functions *format;
	FILE *file;
	struct ncs_trace_base base;
	int error;        /* 0 or -errno */
	uint64_t written; /* number of events; for the format's use */
	void *own;        /* likewise; made by begin(), freed by end() */
	struct ncs_trace_word **words; /* by number; 0 is "" */
	uint32_t word_count;
	size_t word_capacity;
	struct ncs_hash_table texts;    /* the words by their text; owns them */
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
