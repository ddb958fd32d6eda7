/* SPDX-License-Identifier: MIT */
/* Lists as JSON; see list_parts.h. Must not print anything else. */
#include "tui/commands/list_parts.h"

#include <inttypes.h>
#include <stdlib.h>

#include "analysis/base/value_names.h"
#include "ncclstat/abi_header.h"
#include "shm/labels.h"
#include "tui/commands/dump_command.h"
#include "tui/commands/json_values.h"

/* Begins the document. What has no members in it is empty, so that programs
 * need not know of what the list is. */
json_t *ncs_list_json_begin(const struct ncs_replay *replay,
			    const char *directory)
{
	struct ncs_stamp stamp = ncs_dump_stamp(replay);

	return NCS_JSON_ADD(ncs_json_stamped(&stamp),
			    { "directory", ncs_json_name(directory) },
			    { "segments", json_array() },
			    { "files", json_array() },
			    { "ranks", json_array() });
}

static json_t *number_of(const struct ncs_identity *identity)
{
	return NCS_JSON_IF(identity->known & NCS_KNOWN_RANK, identity->rank);
}

static uint64_t host_pid_of(const struct ncs_sample *sample)
{
	const char *here = ncs_labels_value(sample->labels, "host_pid");

	return here ? strtoul(here, NULL, 10) : sample->header->pid;
}

void ncs_list_json_add(json_t *list, const struct ncs_sample *sample)
{
	static const struct ncs_identity unknown = { 0 };
	bool is_readable = sample->attach == NCS_ATTACHED;
	const struct ncs_identity *identity =
		is_readable ? &sample->snapshot->identity : &unknown;

	json_array_append_new(
		json_object_get(list, "segments"),
		NCS_JSON_OBJECT(
			{ "path", NCS_JSON(sample->id) },
			{ "reason",
			  ncs_json_name(is_readable ? NULL : sample->why) },
			{ "pid",
			  NCS_JSON_IF(is_readable, sample->header->pid) },
			{ "host_pid",
			  NCS_JSON_IF(is_readable, host_pid_of(sample)) },
			{ "host",
			  ncs_json_name(is_readable ? sample->header->host :
						      NULL) },
			{ "rank", number_of(identity) },
			{ "communicator", ncs_json_comm(identity) },
			{ "state",
			  NCS_JSON_IF(is_readable,
				      ncs_liveness_name(
					      sample->snapshot->liveness)) },
			{ "job",
			  ncs_json_job(is_readable ? sample->labels : NULL) }));
}

/* --- Recordings ----------------------------------------------------------- */

static json_t *file_of(const struct ncs_replay *replay, size_t index)
{
	struct ncs_recorded_file_facts facts;
	char run[17];

	ncs_recording_file(replay->recording, index, &facts);
	snprintf(run, sizeof(run), "%016" PRIx64, facts.run);
	return NCS_JSON_OBJECT(
		{ "path", NCS_JSON(facts.path) },
		{ "host",
		  NCS_JSON(ncs_recording_host(replay->recording, facts.host)
				   ->name) },
		{ "number", NCS_JSON(facts.number) },
		{ "run", NCS_JSON_IF(facts.run != 0, run) },
		{ "begun_realtime_ns",
		  NCS_JSON(ncs_replay_realtime_ns(replay, facts.begun_ns)) },
		{ "bytes", NCS_JSON(facts.bytes) },
		{ "records", NCS_JSON(facts.records) },
		{ "damaged_chunks", NCS_JSON(facts.damaged_chunks) },
		{ "skipped_bytes", NCS_JSON(facts.skipped_bytes) },
		{ "cut", NCS_JSON(facts.is_cut) });
}

/* Records that were in the rings when the recording began are from before its
 * beginning: times may be negative. */
static json_t *time_of(const struct ncs_replay *replay, uint64_t time_ns)
{
	return json_integer((json_int_t)(time_ns - replay->all.from_ns));
}

static json_t *rank_of(struct ncs_replay *replay, size_t index)
{
	const struct ncs_recorded_rank *rank =
		ncs_recording_rank(replay->recording, index);
	const struct ncs_recorded_host *host =
		ncs_recording_host(replay->recording, rank->host);
	struct ncs_identity identity;

	ncs_list_identify(replay, index, &identity);
	return NCS_JSON_OBJECT({ "path", NCS_JSON(rank->id) },
			       { "pid", NCS_JSON(rank->header->pid) },
			       { "host", NCS_JSON(host->name) },
			       { "rank", number_of(&identity) },
			       { "communicator", ncs_json_comm(&identity) },
			       { "from_ns", time_of(replay, rank->from_ns) },
			       { "until_ns", time_of(replay, rank->until_ns) },
			       { "records", NCS_JSON(rank->records) },
			       { "records_lost", NCS_JSON(rank->lost) });
}

void ncs_list_recording_json(FILE *file, struct ncs_replay *replay)
{
	json_t *list = ncs_list_json_begin(replay, NULL);
	size_t files = ncs_recording_facts(replay->recording)->files;

	for (size_t i = 0; i < files; i++)
		json_array_append_new(json_object_get(list, "files"),
				      file_of(replay, i));
	for (size_t i = 0; i < ncs_recording_rank_count(replay->recording); i++)
		json_array_append_new(json_object_get(list, "ranks"),
				      rank_of(replay, i));
	ncs_json_print(file, list, JSON_COMPACT);
}
