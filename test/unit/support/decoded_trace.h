/* SPDX-License-Identifier: MIT */
/* A decoded Perfetto trace, for tests: decoded from the public format only,
 * without the code that writes it. Asserts that the trace is well-formed: each
 * packet, message and number ends where it should, names are defined before
 * they are used, and slices of a track nest.
 */
#ifndef NCS_TEST_UNIT_SUPPORT_DECODED_TRACE_H
#define NCS_TEST_UNIT_SUPPORT_DECODED_TRACE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define DECODED_ARGUMENTS_MAX 24

struct decoded_argument {
	const char *name;
	char kind; /* 'u'nsigned, 'i'nteger, 'b'ool, 's'tring */
	uint64_t number;
	const char *text;
};

struct decoded_event {
	size_t order;  /* in the file */
	uint64_t type; /* 1 slice, 3 instant, 4 counter */
	uint64_t track;
	uint64_t at_ns;
	uint64_t end_ns; /* if it is a slice */
	unsigned depth;  /* number of slices around it */
	const char *name;
	const char *category;
	uint64_t flow; /* id of the flow at its beginning or end; 0 if none */
	uint64_t flow_ns; /* time of the flow: at_ns or end_ns */
	uint64_t correlation;
	double value;
	struct decoded_argument arguments[DECODED_ARGUMENTS_MAX];
	unsigned argument_count;
};

struct decoded_track {
	uint64_t uuid;
	uint64_t parent;
	uint64_t place;
	const char *name;
	const char *unit; /* NULL if it is no counter */
};

struct decoded_trace {
	uint64_t base_ns;             /* origin of its times */
	uint64_t realtime_ns;         /* CLOCK_REALTIME at base_ns */
	struct decoded_event *events; /* in the order in which they begin */
	size_t event_count, event_capacity;
	struct decoded_track *tracks;
	size_t track_count, track_capacity;
	struct decoded_words *words;
};

/* Decodes a trace. Release it with decoded_trace_release(). */
void decoded_trace_read(struct decoded_trace *trace, const void *bytes,
			size_t size);
void decoded_trace_release(struct decoded_trace *trace);

/* Returns a track; asserts that it exists. */
const struct decoded_track *decoded_track(const struct decoded_trace *trace,
					  uint64_t uuid);

/* Returns the next event of a category, from index *at on, or NULL if there is
 * none. Moves *at behind it. */
const struct decoded_event *decoded_next(const struct decoded_trace *trace,
					 const char *category, size_t *at);

/* Returns the number of events of a category. */
size_t decoded_count(const struct decoded_trace *trace, const char *category);

/* Returns an argument of an event, or NULL if it has no such argument. */
const struct decoded_argument *
decoded_argument(const struct decoded_event *event, const char *name);

/* Returns the number of flows, each of which must join two events. */
size_t decoded_flows(const struct decoded_trace *trace);

#endif
