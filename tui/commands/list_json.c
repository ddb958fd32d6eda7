/* SPDX-License-Identifier: MIT */
/* Lists as JSON; see list_json.h. Must not print anything else. */
#include "tui/commands/list_json.h"

#include <inttypes.h>
#include <stdlib.h>

#include "analysis/base/value_names.h"
#include "ncclstat/abi_header.h"
#include "shm/labels.h"
#include "tui/commands/dump_command.h"
#include "tui/commands/json_values.h"
#include "tui/commands/list_recording.h"
#include "tui/text/output.h"

/* Begins the document. What has no members in it is empty, so that programs
 * need not know of what the list is. */
static json_t *begin(const struct ncs_replay *replay, const char *directory)
{
	struct ncs_stamp stamp = ncs_dump_stamp(replay);
	json_t *list = ncs_json_stamped(&stamp);

	ncs_json_add_text_if(list, "directory", directory != NULL, directory);
	ncs_json_add(list, "segments", json_array());
	ncs_json_add(list, "files", json_array());
	ncs_json_add(list, "ranks", json_array());
	return list;
}

json_t *ncs_list_json_begin(const char *directory)
{
	return begin(NULL, directory);
}

static void add_identity(json_t *object, const struct ncs_identity *identity)
{
	ncs_json_add_signed_if(object, "rank",
			       identity->known & NCS_KNOWN_RANK,
			       identity->rank);
	ncs_json_add(object, "communicator", ncs_json_comm(identity));
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
	json_t *segment = json_object();

	ncs_json_add_text(segment, "path", sample->id);
	ncs_json_add_text_if(segment, "reason", !is_readable, sample->why);
	ncs_json_add_number_if(segment, "pid", is_readable,
			       is_readable ? sample->header->pid : 0);
	ncs_json_add_number_if(segment, "host_pid", is_readable,
			       is_readable ? host_pid_of(sample) : 0);
	ncs_json_add_text_if(segment, "host", is_readable,
			     is_readable ? sample->header->host : NULL);
	add_identity(segment,
		     is_readable ? &sample->snapshot->identity : &unknown);
	ncs_json_add_word(
		segment, "state",
		is_readable ? ncs_liveness_name(sample->snapshot->liveness) :
			      NULL);
	ncs_json_add(segment, "job",
		     ncs_json_job(is_readable ? sample->labels : NULL));
	ncs_json_append(json_object_get(list, "segments"), segment);
}

void ncs_list_json_print(FILE *file, json_t *list)
{
	ncs_json_print(file, list, JSON_COMPACT);
}

/* --- Recordings ----------------------------------------------------------- */

static json_t *file_of(const struct ncs_replay *replay, size_t index)
{
	struct ncs_recorded_file_facts facts;
	json_t *object = json_object();
	char run[17];

	ncs_recording_file(replay->recording, index, &facts);
	snprintf(run, sizeof(run), "%016" PRIx64, facts.run);
	ncs_json_add_text(object, "path", facts.path);
	ncs_json_add_text(
		object, "host",
		ncs_recording_host(replay->recording, facts.host)->name);
	ncs_json_add_number(object, "number", facts.number);
	ncs_json_add_text_if(object, "run", facts.run != 0, run);
	ncs_json_add_number(object, "begun_realtime_ns",
			    ncs_replay_realtime_ns(replay, facts.begun_ns));
	ncs_json_add_number(object, "bytes", facts.bytes);
	ncs_json_add_number(object, "records", facts.records);
	ncs_json_add_number(object, "damaged_chunks", facts.damaged_chunks);
	ncs_json_add_number(object, "skipped_bytes", facts.skipped_bytes);
	ncs_json_add_bool(object, "cut", facts.is_cut);
	return object;
}

/* Records that were in the rings when the recording began are from before its
 * beginning: times may be negative. */
static void add_time(json_t *object, const char *name,
		     const struct ncs_replay *replay, uint64_t time_ns)
{
	ncs_json_add_signed(object, name,
			    (int64_t)(time_ns - replay->all.from_ns));
}

static json_t *rank_of(struct ncs_replay *replay, size_t index)
{
	const struct ncs_recorded_rank *rank =
		ncs_recording_rank(replay->recording, index);
	json_t *object = json_object();
	struct ncs_identity identity;

	ncs_list_identify(replay, index, &identity);
	ncs_json_add_text(object, "path", rank->id);
	ncs_json_add_number(object, "pid", rank->header->pid);
	ncs_json_add_text(object, "host",
			  ncs_recording_host(replay->recording, rank->host)
				  ->name);
	add_identity(object, &identity);
	add_time(object, "from_ns", replay, rank->from_ns);
	add_time(object, "until_ns", replay, rank->until_ns);
	ncs_json_add_number(object, "records", rank->records);
	ncs_json_add_number(object, "records_lost", rank->lost);
	return object;
}

int ncs_list_json_recording_run(struct ncs_replay *replay)
{
	struct ncs_output output;
	int status = NCS_EXIT_OK;
	json_t *list;
	size_t files;

	if (!ncs_output_init(&output))
		return NCS_EXIT_NOTHING;
	ncs_recording_check(replay->recording);
	files = ncs_recording_facts(replay->recording)->files;
	list = begin(replay, NULL);
	for (size_t i = 0; i < files; i++)
		ncs_json_append(json_object_get(list, "files"),
				file_of(replay, i));
	for (size_t i = 0; i < ncs_recording_rank_count(replay->recording); i++)
		ncs_json_append(json_object_get(list, "ranks"),
				rank_of(replay, i));
	ncs_list_json_print(output.file, list);
	ncs_output_release(&output, &status);
	return status;
}
