/* SPDX-License-Identifier: MIT */
/* Values of JSON, as all our JSON has them: unknown is null, strings that nobody
 * vouches for are cleaned, and want of memory ends the program.
 */
#ifndef NCS_TUI_TEXT_JSON_VALUES_H
#define NCS_TUI_TEXT_JSON_VALUES_H

#include <errno.h>
#include <inttypes.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#include "ncclstat/reader.h"
#include "tui/commands/dump_command.h"
#include "tui/text/format.h"
#include "tui/text/output.h"

/* An object that lacks a key for want of memory would be a lie. */
static inline void *allocate(size_t size)
{
	void *memory = malloc(size);

	if (!memory) {
		fprintf(stderr, "ncclstat: %s\n", strerror(ENOMEM));
		exit(NCS_EXIT_NOTHING);
	}
	return memory;
}

static inline void put(json_t *object, const char *key, json_t *value)
{
	json_object_set_new(object, key, value);
}

static inline json_t *number(uint64_t value)
{
	return json_integer(value < INT64_MAX ? (json_int_t)value : INT64_MAX);
}

static inline json_t *number_if(bool known, uint64_t value)
{
	return known ? number(value) : json_null();
}

/* A moment; 0 is "never". */
static inline json_t *moment(uint64_t value_ns)
{
	return number_if(value_ns != 0, value_ns);
}

static inline json_t *whole(int64_t value)
{
	return json_integer(value);
}

static inline json_t *whole_if(bool known, int64_t value)
{
	return known ? whole(value) : json_null();
}

/* One of our own words. */
static inline json_t *word(const char *name)
{
	return json_string(name);
}

/* Bandwidth, a rate, an estimate: negative is unknown. */
static inline json_t *real(double value)
{
	return value >= 0 ? json_real(value) : json_null();
}

static inline json_t *text(const char *raw)
{
	char clean[4096 + 1];

	ncs_format_clean(clean, sizeof(clean), raw, false);
	return json_string(clean);
}

static inline json_t *text_if(bool known, const char *raw)
{
	return known && raw[0] ? text(raw) : json_null();
}

static inline const char *aligned_by(enum ncs_aligned_by by, size_t host)
{
	if (host == 0)
		return "reference";
	return by == NCS_ALIGNED_BY_TRAFFIC ? "traffic" : "realtime";
}

/* Of the hosts of a recording, if they are several. */
static inline json_t *clocks_of(const struct ncs_replay *replay)
{
	const struct ncs_recording_alignment *alignment = &replay->alignment;
	json_t *clocks = json_array();

	for (size_t i = 0; i < alignment->host_count; i++) {
		const struct ncs_aligned *aligned = &alignment->hosts[i];
		const struct ncs_recorded_host *host =
			ncs_recording_host(replay->recording, i);
		json_t *clock = json_object();

		put(clock, "host", text(host->name));
		put(clock, "offset_ns", whole(host->offset_ns));
		put(clock, "drift", json_real(host->drift));
		put(clock, "error_ns",
		    number_if(host->error_ns != UINT64_MAX, host->error_ns));
		put(clock, "by", text(aligned_by(aligned->by, i)));
		put(clock, "facts", number(aligned->facts));
		put(clock, "contradicted", number(aligned->violations));
		put(clock, "uneven", json_boolean(aligned->is_uneven));
		put(clock, "realtime_steps", number(aligned->realtime_steps));
		json_array_append_new(clocks, clock);
	}
	return clocks;
}

/* Where in a recording it is; null: it is no recording. */
static inline json_t *recording_of(const struct ncs_stamp *stamp)
{
	const struct ncs_replay *replay = stamp->replay;
	const struct ncs_recording_facts *facts;
	json_t *object;

	if (!replay)
		return json_null();
	facts = ncs_recording_facts(replay->recording);
	object = json_object();
	put(object, "at_ns", number(ncs_replay_since_ns(replay)));
	put(object, "length_ns",
	    number(replay->all.until_ns - replay->all.from_ns));
	put(object, "files", number(facts->files));
	put(object, "cut_files", number(facts->cut_files));
	put(object, "damaged_chunks", number(facts->damaged_chunks));
	put(object, "records_lost", number(facts->lost));
	put(object, "hosts",
	    number(ncs_recording_host_count(replay->recording)));
	put(object, "clock_error_ns",
	    number_if(replay->error_ns != UINT64_MAX, replay->error_ns));
	put(object, "clocks", clocks_of(replay));
	return object;
}

static inline json_t *comm_of(const struct ncs_identity *identity)
{
	uint64_t known = identity->known;
	json_t *comm = json_object();
	char id[17];

	snprintf(id, sizeof(id), "%016" PRIx64, identity->comm_id);
	put(comm, "id", text_if(known & NCS_KNOWN_COMM_ID, id));
	put(comm, "name",
	    text_if(known & NCS_KNOWN_COMM_NAME, identity->comm_name));
	put(comm, "nranks",
	    whole_if(known & NCS_KNOWN_NRANKS, identity->nranks));
	put(comm, "nnodes",
	    whole_if(known & NCS_KNOWN_NNODES, identity->nnodes));
	return comm;
}

#endif
