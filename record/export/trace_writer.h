/* SPDX-License-Identifier: MIT */
/* Writes trace files that Perfetto and chrome://tracing show: tracks with
 * slices, instants, counters, and flows between them.
 *
 * There are two formats with one interface: Perfetto's protobuf (perfetto.c)
 * and Chrome's JSON (chrome.c). Events are written immediately; only words and
 * tracks are kept, and in Chrome's format the open ends of arrows. Must not
 * know what the slices mean.
 *
 * All times are in ns of the recording's common time, and may come in any
 * order. Viewers expect the slices of a track to follow or to contain each
 * other; for overlapping slices there are struct ncs_slice_tracks. Errors are
 * kept until ncs_trace_close(). Not thread-safe.
 */
#ifndef NCS_RECORD_EXPORT_TRACE_WRITER_H
#define NCS_RECORD_EXPORT_TRACE_WRITER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

enum ncs_trace_format { NCS_TRACE_PERFETTO, NCS_TRACE_CHROME };

struct ncs_trace_writer;

/* The base of a trace's times. Perfetto's are counted from base_ns: the closer it
 * is to the events, the shorter the file. Chrome's are the common times. */
struct ncs_trace_base {
	uint64_t base_ns;
	/* CLOCK_REALTIME minus the common time. */
	int64_t realtime_offset_ns;
};

/* Begins a trace. The caller keeps and closes the file. Returns NULL if there
 * is no memory. */
struct ncs_trace_writer *ncs_trace_open(enum ncs_trace_format format,
					FILE *file,
					const struct ncs_trace_base *base);

/* Writes the end and frees the writer; accepts NULL. Returns 0, or -errno of
 * the first error. After an error the file is incomplete. */
int ncs_trace_close(struct ncs_trace_writer *writer);

/* Returns the number of a text as a word of the trace, which is always the same
 * for the same text; 0, which stands for no word, if there is no memory.
 * Control characters and invalid UTF-8 are replaced. */
uint32_t ncs_trace_word(struct ncs_trace_writer *writer, const char *text);

/* Return the number of a new track below `parent`, or at the top if `parent` is
 * 0; 0 if there is no memory. The track is written with its first event. Tracks
 * with the same parent are ordered by place; tracks of one name are shown as
 * one. Chrome's JSON has only two levels: a track below a process is a thread
 * of that process, named after all tracks in between. */
uint32_t ncs_trace_track(struct ncs_trace_writer *writer, uint32_t parent,
			 const char *name, uint32_t place);
uint32_t ncs_trace_process(struct ncs_trace_writer *writer, uint32_t parent,
			   const char *name, uint32_t place);
uint32_t ncs_trace_counter(struct ncs_trace_writer *writer, uint32_t parent,
			   const char *name, const char *unit, uint32_t place);

/* Returns the parent of a track; 0 if it has none. */
uint32_t ncs_trace_parent(const struct ncs_trace_writer *writer,
			  uint32_t track);

/* Tracks for overlapping slices: as many tracks of one name as are needed, so
 * that slices on the same track do not overlap.
 *
 * Slices are expected in the order of their ends; a slice that comes later gets
 * a track of its own if it does not fit. */
struct ncs_slice_tracks {
	uint32_t parent; /* parent of the tracks, as for ncs_trace_track() */
	uint32_t place;
	const char *name; /* borrowed */
	/* Private: those that are reused, and their number. */
	uint32_t first, last;
	uint32_t count;
};

/* Largest number of tracks that are reused. Further tracks are used for one
 * slice each. */
#define NCS_SLICE_TRACKS_MAX 256u

/* Returns the track for a slice: of those that are free at its start, the one
 * whose latest slice ended last; a new one if none is free. */
uint32_t ncs_slice_tracks_take(struct ncs_slice_tracks *tracks,
			       struct ncs_trace_writer *writer,
			       uint64_t start_ns, uint64_t end_ns);

enum ncs_trace_value {
	NCS_TRACE_NUMBER, /* uint64_t */
	NCS_TRACE_WHOLE,  /* int64_t, cast to uint64_t */
	NCS_TRACE_FLAG,
	NCS_TRACE_WORD, /* number of a word */
};

struct ncs_trace_argument {
	uint32_t name; /* number of a word */
	enum ncs_trace_value kind;
	uint64_t value;
};

#define NCS_TRACE_ARGUMENTS_MAX 24u

struct ncs_trace_event {
	uint32_t name;     /* number of a word */
	uint32_t category; /* number of a word */
	/* A number shared by all events that belong together, on any tracks; 0
	 * if none. */
	uint64_t correlation;
	/* Two slices with the same number are joined by an arrow, from the
	 * earlier end to the later; 0 if none. The arrow touches the slice at
	 * its end if is_flow_at_end, otherwise at its beginning. */
	uint64_t flow;
	bool is_flow_at_end;
	const struct ncs_trace_argument *arguments;
	unsigned argument_count; /* at most NCS_TRACE_ARGUMENTS_MAX */
};

/* Writes a slice. A slice inside another one of its track must come after
 * it. */
void ncs_trace_slice(struct ncs_trace_writer *writer, uint32_t track,
		     uint64_t start_ns, uint64_t end_ns,
		     const struct ncs_trace_event *event);

/* Writes an instant. Ignores event->flow. */
void ncs_trace_instant(struct ncs_trace_writer *writer, uint32_t track,
		       uint64_t at_ns, const struct ncs_trace_event *event);

/* Writes the value of a counter from at_ns on. */
void ncs_trace_count(struct ncs_trace_writer *writer, uint32_t track,
		     uint64_t at_ns, double value);

#endif
