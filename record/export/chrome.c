/* SPDX-License-Identifier: MIT */
/* Writes traces as JSON for chrome://tracing; Perfetto also reads this format.
 *
 * Event types and keys are those of Chrome's "Trace Event Format": slices are
 * complete events ("X"), flows are "s" and "f", instants are "i", counters are
 * "C", and names are metadata ("M"). Each track is a thread of its own, because
 * viewers drop all but the first of a thread's overlapping slices. Times are
 * always in µs since the trace's beginning, as readers may hold them in a
 * double.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "record/export/trace_format.h"
#include "record/format/json_text.h"

static const char *word(const struct ncs_trace_writer *writer, uint32_t number)
{
	return writer->words[number]->text;
}

/* Returns the process that a track is in, or the track itself if it is a
 * process; 0 if there is none. */
static uint32_t process_of(const struct ncs_trace_writer *writer,
			   uint32_t track)
{
	while (track != 0 && writer->tracks[track].kind != NCS_TRACE_PROCESS)
		track = writer->tracks[track].parent;
	return track;
}

static void begin_event(struct ncs_trace_writer *writer, char type,
			uint32_t track)
{
	FILE *file = writer->file;

	ncs_json_raw(file,
		     writer->written++ > 0 ? ",\n{\"ph\":\"" : "{\"ph\":\"");
	putc_unlocked(type, file);
	ncs_json_raw(file, "\",\"pid\":");
	ncs_json_number(file, process_of(writer, track));
	ncs_json_raw(file, ",\"tid\":");
	ncs_json_number(file, track);
}

static void put_duration(struct ncs_trace_writer *writer, const char *key,
			 uint64_t value_ns)
{
	ncs_json_raw(writer->file, key);
	ncs_json_us(writer->file, value_ns);
}

/* Writes a point in time. */
static void put_time(struct ncs_trace_writer *writer, uint64_t at_ns)
{
	put_duration(writer, ",\"ts\":", at_ns);
}

static void put_text(struct ncs_trace_writer *writer, const char *key,
		     const char *text)
{
	ncs_json_raw(writer->file, key);
	ncs_json_text(writer->file, text);
}

/* --- Names --------------------------------------------------------------- */

/* Appends the names of a track and of those above it, below `top`. */
static void append_path(const struct ncs_trace_writer *writer, uint32_t track,
			uint32_t top, char *path, size_t size)
{
	const struct ncs_trace_track *shown = &writer->tracks[track];
	size_t used;

	if (track == top)
		return;
	append_path(writer, shown->parent, top, path, size);
	used = strlen(path);
	snprintf(path + used, size - used, "%s%s", used > 0 ? ", " : "",
		 word(writer, shown->name));
}

static void put_metadata(struct ncs_trace_writer *writer, const char *name,
			 uint32_t track, const char *text)
{
	begin_event(writer, 'M', track);
	put_text(writer, ",\"name\":", name);
	put_text(writer, ",\"args\":{\"name\":", text);
	ncs_json_raw(writer->file, "}}");
}

/* Returns an index that keeps the tracks of one parent together. */
static uint64_t sort_index(const struct ncs_trace_writer *writer,
			   uint32_t track)
{
	const struct ncs_trace_track *shown = &writer->tracks[track];
	const struct ncs_trace_track *parent = &writer->tracks[shown->parent];

	if (shown->kind == NCS_TRACE_PROCESS)
		return (uint64_t)shown->parent << 16 | (shown->place & 0xffff);
	if (parent->kind == NCS_TRACE_PROCESS)
		return (uint64_t)shown->place << 16;
	return (uint64_t)parent->place << 16 | (shown->place & 0xffff);
}

static void put_place(struct ncs_trace_writer *writer, const char *name,
		      uint32_t track)
{
	begin_event(writer, 'M', track);
	put_text(writer, ",\"name\":", name);
	ncs_json_raw(writer->file, ",\"args\":{\"sort_index\":");
	ncs_json_number(writer->file, sort_index(writer, track));
	ncs_json_raw(writer->file, "}}");
}

static void write_track(struct ncs_trace_writer *writer, uint32_t track)
{
	uint32_t top = process_of(writer, track);
	bool is_process = top == track;
	char path[1024] = "";

	/* A process's name includes the names above it; a counter's path is in
	 * its events. */
	if (top == 0 || writer->tracks[track].kind == NCS_TRACE_COUNTER)
		return;
	append_path(writer, track, is_process ? 0 : top, path, sizeof(path));
	put_metadata(writer, is_process ? "process_name" : "thread_name", track,
		     path);
	put_place(writer,
		  is_process ? "process_sort_index" : "thread_sort_index",
		  track);
}

/* --- Ends of arrows ------------------------------------------------------ */

/* Largest number of ends that wait for their other end. If there are too many,
 * all are dropped and get no arrow. */
#define OPEN_FLOWS_MAX (UINT32_C(1) << 22)

struct open_flow {
	struct ncs_hash_link link; /* by flow */
	uint64_t flow;             /* the arrow's number, a hash */
	uint64_t at_ns;
	uint32_t track;
};

/* Has an end wait for its other end; without memory it gets no arrow. */
static void keep_flow(struct ncs_hash_table *flows, const struct open_flow *end)
{
	struct open_flow *kept = malloc(sizeof(*kept));

	if (flows->count >= OPEN_FLOWS_MAX)
		ncs_hash_table_sweep(flows, NULL, 0);
	if (!kept)
		return;
	*kept = *end;
	if (ncs_hash_table_insert(flows, &kept->link, end->flow) != 0)
		free(kept);
}

/* --- Events -------------------------------------------------------------- */

static void put_value(struct ncs_trace_writer *writer,
		      const struct ncs_trace_argument *argument)
{
	switch (argument->kind) {
	case NCS_TRACE_NUMBER:
		ncs_json_number(writer->file, argument->value);
		break;
	case NCS_TRACE_WHOLE:
		ncs_json_whole(writer->file, (int64_t)argument->value);
		break;
	case NCS_TRACE_FLAG:
		ncs_json_flag(writer->file, argument->value != 0);
		break;
	case NCS_TRACE_WORD:
		ncs_json_text(writer->file,
			      word(writer, (uint32_t)argument->value));
		break;
	}
}

static void put_details(struct ncs_trace_writer *writer,
			const struct ncs_trace_event *event)
{
	FILE *file = writer->file;

	put_text(writer, ",\"name\":", word(writer, event->name));
	put_text(writer, ",\"cat\":", word(writer, event->category));
	ncs_json_raw(file, ",\"args\":{");
	for (unsigned i = 0; i < event->argument_count; i++) {
		if (i > 0)
			putc_unlocked(',', file);
		ncs_json_text(file, word(writer, event->arguments[i].name));
		putc_unlocked(':', file);
		put_value(writer, &event->arguments[i]);
	}
	if (event->correlation != 0) {
		ncs_json_raw(file, event->argument_count > 0 ?
					   ",\"correlation_id\":" :
					   "\"correlation_id\":");
		ncs_json_id(file, event->correlation);
	}
	ncs_json_raw(file, "}}");
}

/* Writes one end of an arrow, bound to the innermost slice at its time. */
static void write_flow_end(struct ncs_trace_writer *writer, char type,
			   const struct open_flow *end)
{
	begin_event(writer, type, end->track);
	put_time(writer, end->at_ns);
	ncs_json_raw(writer->file, ",\"bp\":\"e\",\"name\":\"message\","
				   "\"cat\":\"message\",\"id\":");
	ncs_json_id(writer->file, end->flow);
	putc_unlocked('}', writer->file);
}

/* Writes an arrow when both of its ends are known: the format distinguishes the
 * start from the end, so neither can be written earlier. */
static void write_flow(struct ncs_trace_writer *writer,
		       const struct open_flow *end)
{
	struct ncs_hash_table *flows = writer->own;
	struct open_flow *other = ncs_hash_table_first(flows, end->flow);
	bool is_earlier;

	if (!other) {
		keep_flow(flows, end);
		return;
	}
	is_earlier = end->at_ns < other->at_ns;
	write_flow_end(writer, 's', is_earlier ? end : other);
	write_flow_end(writer, 'f', is_earlier ? other : end);
	ncs_hash_table_remove(flows, &other->link);
	free(other);
}

static void write_slice(struct ncs_trace_writer *writer, uint32_t track,
			uint64_t start_ns, uint64_t end_ns,
			const struct ncs_trace_event *event)
{
	/* The end of the arrow must lie inside the slice. */
	bool is_at_end = event->is_flow_at_end && end_ns > start_ns;
	const struct open_flow end_of_flow = {
		.flow = event->flow,
		.at_ns = is_at_end ? end_ns - 1 : start_ns,
		.track = track,
	};

	begin_event(writer, 'X', track);
	put_time(writer, start_ns);
	put_duration(writer, ",\"dur\":", end_ns - start_ns);
	put_details(writer, event);
	if (event->flow != 0 && writer->own)
		write_flow(writer, &end_of_flow);
}

static void write_instant(struct ncs_trace_writer *writer, uint32_t track,
			  uint64_t at_ns, const struct ncs_trace_event *event)
{
	begin_event(writer, 'i', track);
	put_time(writer, at_ns);
	ncs_json_raw(writer->file, ",\"s\":\"t\"");
	put_details(writer, event);
}

static void write_count(struct ncs_trace_writer *writer, uint32_t track,
			uint64_t at_ns, double value)
{
	const struct ncs_trace_track *shown = &writer->tracks[track];
	char path[1024] = "";

	append_path(writer, track, process_of(writer, track), path,
		    sizeof(path));
	begin_event(writer, 'C', track);
	put_time(writer, at_ns);
	put_text(writer, ",\"name\":", path);
	put_text(writer, ",\"args\":{", word(writer, shown->unit));
	putc_unlocked(':', writer->file);
	ncs_json_real(writer->file, value);
	ncs_json_raw(writer->file, "}}");
}

/* --- The file ------------------------------------------------------------ */

/* Times count from 0 of the common time: what was in progress when the part that
 * is exported begins has begun before, and Perfetto drops events before 0. */
static void begin(struct ncs_trace_writer *writer)
{
	writer->own = calloc(1, sizeof(struct ncs_hash_table));
	if (!writer->own)
		writer->error = -ENOMEM;
	ncs_json_raw(writer->file,
		     "{\"displayTimeUnit\":\"ns\",\"otherData\":"
		     "{\"base_monotonic_ns\":\"0\",\"base_realtime_ns\":\"");
	ncs_json_number(writer->file,
			(uint64_t)writer->base.realtime_offset_ns);
	ncs_json_raw(writer->file, "\"},\n\"traceEvents\":[\n");
}

static void end(struct ncs_trace_writer *writer)
{
	struct ncs_hash_table *flows = writer->own;

	ncs_json_raw(writer->file, "\n]}\n");
	if (!flows)
		return;
	ncs_hash_table_sweep(flows, NULL, 0);
	ncs_hash_table_release(flows);
	free(flows);
}

const struct ncs_trace_functions ncs_trace_chrome = {
	.begin = begin,
	.track = write_track,
	.slice = write_slice,
	.instant = write_instant,
	.count = write_count,
	.end = end,
};
