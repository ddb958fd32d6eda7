/* SPDX-License-Identifier: MIT */
/* Traces for trace viewers: tracks, and slices, instants, counters and flows on
 * them, as a file that Perfetto and chrome://tracing show.
 *
 * One way to say it, two formats: Perfetto's protobuf (perfetto.c) and Chrome's
 * JSON (chrome.c). What is written is in the file at once; nothing is kept but
 * words and tracks. It must not know what the slices stand for.
 *
 * All times are ns of the recording's common clock, in any order. Viewers want
 * slices of one track to lie side by side or inside each other: slice_tracks.h has
 * tracks for those that overlap. Errors of memory and of writing are kept until
 * ncs_trace_close(). Not thread-safe.
 */
#ifndef NCS_RECORD_EXPORT_TRACE_WRITER_H
#define NCS_RECORD_EXPORT_TRACE_WRITER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

enum ncs_trace_format { NCS_TRACE_PERFETTO, NCS_TRACE_CHROME };

struct ncs_trace_writer;

/* What a trace begins with. Times in the file are counted from `base_ns`: the
 * nearer that is to what is in it, the better. */
struct ncs_trace_base {
	uint64_t base_ns;
	/* CLOCK_REALTIME less the common clock. */
	int64_t realtime_offset_ns;
};

/* NULL: no memory. The file stays the caller's. */
struct ncs_trace_writer *ncs_trace_open(enum ncs_trace_format format,
					FILE *file,
					const struct ncs_trace_base *base);

/* Writes the end and releases the writer; NULL: nothing. 0 or -errno: the file
 * then lacks something. */
int ncs_trace_close(struct ncs_trace_writer *writer);

/* A number for a text, the same for the same text; it is cleaned: no control
 * characters, valid UTF-8. 0 stands for no word. */
uint32_t ncs_trace_word(struct ncs_trace_writer *writer, const char *text);

/* A track below another one, 0: below none. It appears with the first thing on
 * it; among its siblings those of a lower place come first. Siblings of one name
 * are shown as one. Chrome's JSON knows two levels only: what is below a process
 * is its thread, whose name has those of the tracks in between. */
uint32_t ncs_trace_track(struct ncs_trace_writer *writer, uint32_t parent,
			 const char *name, uint32_t place);
uint32_t ncs_trace_process(struct ncs_trace_writer *writer, uint32_t parent,
			   const char *name, uint32_t place);
uint32_t ncs_trace_counter(struct ncs_trace_writer *writer, uint32_t parent,
			   const char *name, const char *unit, uint32_t place);

/* The track above; 0: none. */
uint32_t ncs_trace_parent(const struct ncs_trace_writer *writer,
			  uint32_t track);

enum ncs_trace_value {
	NCS_TRACE_NUMBER, /* uint64_t */
	NCS_TRACE_WHOLE,  /* int64_t, as a uint64_t */
	NCS_TRACE_FLAG,
	NCS_TRACE_WORD, /* ncs_trace_word() */
};

struct ncs_trace_argument {
	uint32_t name; /* ncs_trace_word() */
	enum ncs_trace_value kind;
	uint64_t value;
};

#define NCS_TRACE_ARGUMENTS_MAX 24u

struct ncs_trace_event {
	uint32_t name;     /* ncs_trace_word() */
	uint32_t category; /* likewise */
	/* The same of all that belong together, on whatever tracks; 0: none. */
	uint64_t correlation;
	/* Two slices with the same one are joined by an arrow, from the earlier
	 * end to the later; 0: none. It is where a slice begins, or ends. */
	uint64_t flow;
	bool is_flow_at_end;
	const struct ncs_trace_argument *arguments;
	unsigned argument_count; /* NCS_TRACE_ARGUMENTS_MAX at most */
};

/* A slice inside another one of its track comes after that one. */
void ncs_trace_slice(struct ncs_trace_writer *writer, uint32_t track,
		     uint64_t start_ns, uint64_t end_ns,
		     const struct ncs_trace_event *event);

/* A moment; flows are ignored. */
void ncs_trace_instant(struct ncs_trace_writer *writer, uint32_t track,
		       uint64_t at_ns, const struct ncs_trace_event *event);

/* The value of a counter's track from then on. */
void ncs_trace_count(struct ncs_trace_writer *writer, uint32_t track,
		     uint64_t at_ns, double value);

#endif
