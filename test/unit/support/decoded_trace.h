/* SPDX-License-Identifier: MIT */
/* A Perfetto trace taken apart, for tests: by the public format alone, with none
 * of the code that writes it. Asserts that it is well-formed: that each packet,
 * message and number ends where it should, that names are told before they are
 * used, and that slices of a track nest. */
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
	uint64_t end_ns; /* of a slice */
	unsigned depth;  /* of slices around it */
	const char *name;
	const char *category;
	uint64_t flow;    /* at its beginning or end; 0: none */
	uint64_t flow_ns; /* which of these moments */
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
	const char *unit; /* NULL: no counter */
};

struct decoded_trace {
	uint64_t base_ns;             /* of the clock of its times */
	uint64_t realtime_ns;         /* at that moment */
	struct decoded_event *events; /* in the order of their beginnings */
	size_t event_count;
	struct decoded_track *tracks;
	size_t track_count;
	struct decoded_words *words;
};

void decoded_trace_read(struct decoded_trace *trace, const void *bytes,
			size_t size);
void decoded_trace_release(struct decoded_trace *trace);

const struct decoded_track *decoded_track(const struct decoded_trace *trace,
					  uint64_t uuid);
/* The event of this category that comes next, from *at on, which is moved behind
 * it. NULL: no more. */
const struct decoded_event *decoded_next(const struct decoded_trace *trace,
					 const char *category, size_t *at);
size_t decoded_count(const struct decoded_trace *trace, const char *category);
/* NULL: it has no such argument. */
const struct decoded_argument *
decoded_argument(const struct decoded_event *event, const char *name);
/* Pairs of events with the same flow; asserts that none has three. */
size_t decoded_flows(const struct decoded_trace *trace);

#endif
