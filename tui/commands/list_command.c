/* SPDX-License-Identifier: MIT */
/* --list: prints the existing segments, readable or not, or the contents of
 * recordings, as text or as JSON, whose names are part of the interface. Must not
 * use a model, because a model omits ranks that have ended. */
#include <inttypes.h>
#include <stdlib.h>

#include "analysis/base/utf8.h"
#include "analysis/base/value_names.h"
#include "ncclstat/abi_header.h"
#include "ncclstat/reader.h"
#include "shm/clock.h"
#include "shm/labels.h"
#include "shm/read/job.h"
#include "shm/read/paths.h"
#include "tui/commands/commands.h"
#include "tui/commands/dump_command.h"
#include "tui/commands/json_values.h"
#include "tui/commands/print_values.h"
#include "tui/text/format.h"
#include "tui/text/output.h"

/* --- Recordings as text ---------------------------------------------------- */

static void print_file(FILE *file, const struct ncs_replay *replay,
		       size_t index)
{
	struct ncs_recorded_file_facts facts;
	struct ncs_phrase begun;

	ncs_recording_file(replay->recording, index, &facts);
	begun = ncs_dump_time(ncs_replay_realtime_ns(replay, facts.begun_ns));
	ncs_print(file, "$s: host $s$s$s", facts.path,
		  ncs_recording_host(replay->recording, facts.host)->name,
		  begun.text[0] ? ", begun " : "", begun.text);
	if (facts.run != 0)
		fprintf(file, ", run %016" PRIx64, facts.run);
	ncs_print(file, ", file $u, $u bytes, $u records", facts.number + 1,
		  facts.bytes, facts.records);
	if (facts.damaged_chunks > 0)
		ncs_print(file, ", $u damaged chunks", facts.damaged_chunks);
	if (facts.skipped_bytes > 0)
		ncs_print(file, ", $u bytes that are no chunk",
			  facts.skipped_bytes);
	fputs(facts.is_cut ? ", cut or still growing\n" : ", whole\n", file);
}

/* Prints the alignment of a host's clock, and the evidence for it. */
static void print_host(FILE *file, const struct ncs_replay *replay,
		       size_t index)
{
	const struct ncs_recorded_host *host =
		ncs_recording_host(replay->recording, index);
	const struct ncs_aligned *aligned = &replay->alignment.hosts[index];
	uint64_t steps = aligned->realtime_steps;

	ncs_print(file, "clock of $s: ", host->name);
	fprintf(file, "%+.9f s moved, drift %+.3f ppm, ",
		(double)host->offset_ns / 1e9, host->drift * 1e6);
	if (host->error_ns == UINT64_MAX)
		fputs("error not known", file);
	else
		ncs_print(file, "error $d at most", host->error_ns);
	if (aligned->by == NCS_ALIGNED_BY_TRAFFIC) {
		ncs_print(file, ", by $u facts of its traffic", aligned->facts);
		if (aligned->violations > 0)
			ncs_print(file, ", $u contradicted",
				  aligned->violations);
		if (aligned->is_uneven)
			fputs(", its clock or another ran unevenly", file);
	} else {
		fputs(", by CLOCK_REALTIME: it has no traffic both ways", file);
	}
	if (steps > 0)
		ncs_print(file, ", CLOCK_REALTIME was set $u time$s", steps,
			  steps == 1 ? "" : "s");
	fputc('\n', file);
}

/* Prints the evidence by which the clocks of all hosts were aligned. */
static void print_alignment(FILE *file,
			    const struct ncs_recording_alignment *alignment)
{
	if (alignment->host_count == 0)
		return;
	ncs_print(file,
		  "clocks: $u messages and $u collectives in $n window$s, $d of"
		  " $d; $n pairs of hosts",
		  alignment->messages, alignment->collectives,
		  (size_t)alignment->windows,
		  alignment->windows == 1 ? "" : "s", alignment->windows_ns,
		  alignment->length_ns, alignment->quality.pairs);
	if (alignment->quality.one_way > 0)
		ncs_print(file, ", $n more with traffic one way only",
			  alignment->quality.one_way);
	if (alignment->quality.loop_ns > 0)
		ncs_print(file,
			  ", which contradict each other by $d more than their"
			  " errors",
			  alignment->quality.loop_ns);
	fputc('\n', file);
}

/* Returns the identity of a recorded rank: in its last state, which has the most
 * facts, or otherwise in its header. */
static struct ncs_identity identity_of(const struct ncs_replay *replay,
				       size_t index)
{
	const struct ncs_recorded_rank *rank =
		ncs_recording_rank(replay->recording, index);
	struct ncs_identity identity = rank->header->identity;
	struct ncs_snapshot snapshot;
	struct ncs_reader *reader;
	uint64_t taken_ns;

	if (ncs_recording_state(replay->recording, index, rank->until_ns,
				&reader, &taken_ns) != NCS_RECORDED_YES ||
	    ncs_snapshot_init(&snapshot, reader) != 0)
		return identity;
	ncs_snapshot_take(&snapshot, reader, taken_ns);
	identity = snapshot.identity;
	ncs_snapshot_release(&snapshot);
	return identity;
}

static void print_time(FILE *file, const struct ncs_replay *replay,
		       uint64_t time_ns)
{
	uint64_t from_ns = replay->all.from_ns;
	char text[32];

	/* Records that were in the rings when the recording began are from
	 * before its beginning. */
	ncs_instant_print(time_ns > from_ns ? time_ns - from_ns :
					      from_ns - time_ns,
			  text + 1, sizeof(text) - 1);
	text[0] = '-';
	fprintf(file, "  %12s", time_ns < from_ns ? text : text + 1);
}

static void print_rank(FILE *file, const struct ncs_replay *replay,
		       size_t index, bool ascii)
{
	const struct ncs_recorded_rank *rank =
		ncs_recording_rank(replay->recording, index);
	struct ncs_identity identity = identity_of(replay, index);
	char comm[NCS_FORMAT_MAX] = "-", number[16] = "-";
	char raw[sizeof(identity.comm_name)];

	if (identity.known & NCS_KNOWN_RANK)
		snprintf(number, sizeof(number), "%" PRId32, identity.rank);
	ncs_comm_text(&identity, raw, sizeof(raw));
	if (raw[0])
		ncs_utf8_clean(comm, sizeof(comm), raw, ascii);
	fprintf(file, "%7" PRIu32 "  %4s  %-16s", rank->header->pid, number,
		comm);
	print_time(file, replay, rank->from_ns);
	print_time(file, replay, rank->until_ns);
	fprintf(file, "  %10" PRIu64 "  %8" PRIu64, rank->records, rank->lost);
	ncs_print(file, "  $s\n", rank->id);
}

/* Prints the contents of each file of recordings, the hosts' clocks, and the ranks. */
static void print_recording(FILE *file, const struct ncs_replay *replay,
			    bool ascii)
{
	struct ncs_recording *recording = replay->recording;
	size_t hosts = ncs_recording_host_count(recording);
	size_t ranks = ncs_recording_rank_count(recording);
	char length[32];

	for (size_t i = 0; i < ncs_recording_facts(recording)->files; i++)
		print_file(file, replay, i);
	for (size_t i = 1; i < hosts; i++)
		print_host(file, replay, i);
	print_alignment(file, &replay->alignment);
	ncs_instant_print(replay->all.until_ns - replay->all.from_ns, length,
			  sizeof(length));
	fprintf(file, "%s long, %zu rank%s\n", length, ranks,
		ranks == 1 ? "" : "s");
	if (ranks > 0)
		fprintf(file, "\n%7s  %4s  %-16s  %12s  %12s  %10s  %8s  %s\n",
			"PID", "RANK", "COMM", "FROM", "UNTIL", "RECORDS",
			"LOST", "PATH");
	for (size_t i = 0; i < ranks; i++)
		print_rank(file, replay, i, ascii);
}

/* --- JSON ------------------------------------------------------------------ */

/* Begins the document; without a recording, or a directory, these are NULL. An array
 * or object without members is empty, so that programs need not know of what the list
 * is. */
static json_t *begin_list(const struct ncs_replay *replay,
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

static json_t *segment_of(const struct ncs_sample *sample)
{
	static const struct ncs_snapshot unknown = { 0 };
	bool known = sample->attach == NCS_ATTACHED;
	const struct ncs_snapshot *now = known ? sample->snapshot : &unknown;

	return NCS_JSON_OBJECT(
		{ "path", NCS_JSON(sample->id) },
		{ "reason", ncs_json_name(known ? NULL : sample->why) },
		{ "pid", NCS_JSON_IF(known, sample->header->pid) },
		{ "host_pid", NCS_JSON_IF(known, host_pid_of(sample)) },
		{ "host", ncs_json_name(known ? sample->header->host : NULL) },
		{ "rank", number_of(&now->identity) },
		{ "communicator", ncs_json_comm(&now->identity) },
		{ "state",
		  NCS_JSON_IF(known, ncs_liveness_name(now->liveness)) },
		{ "job", ncs_json_job(known ? sample->labels : NULL) });
}

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

static json_t *rank_of(const struct ncs_replay *replay, size_t index)
{
	const struct ncs_recorded_rank *rank =
		ncs_recording_rank(replay->recording, index);
	const struct ncs_recorded_host *host =
		ncs_recording_host(replay->recording, rank->host);
	struct ncs_identity identity = identity_of(replay, index);

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

static void print_recording_json(FILE *file, const struct ncs_replay *replay)
{
	json_t *list = begin_list(replay, NULL);
	size_t files = ncs_recording_facts(replay->recording)->files;

	for (size_t i = 0; i < files; i++)
		json_array_append_new(json_object_get(list, "files"),
				      file_of(replay, i));
	for (size_t i = 0; i < ncs_recording_rank_count(replay->recording); i++)
		json_array_append_new(json_object_get(list, "ranks"),
				      rank_of(replay, i));
	ncs_json_print(file, list, JSON_COMPACT);
}

/* --- Segments -------------------------------------------------------------- */

/* Prints a line up to its path. */
static void print_line(FILE *file, const char *pid, const char *rank,
		       const char *comm, const char *state, const char *job)
{
	fprintf(file, "%7s  %4s  ", pid, rank);
	ncs_print(file, "$16s  $8s  $8s  ", comm, state, job);
}

static void print_segment(FILE *file, const struct ncs_sample *sample)
{
	const struct ncs_identity *identity;
	char pid[16], rank[16] = "-", comm[sizeof(identity->comm_name)];
	const char *job;

	if (sample->attach != NCS_ATTACHED) {
		print_line(file, "-", "-", "-", "-", "-");
		ncs_print(file, "$s: not readable: $s\n", sample->id,
			  sample->why);
		return;
	}
	identity = &sample->snapshot->identity;
	snprintf(pid, sizeof(pid), "%" PRIu64, host_pid_of(sample));
	if (identity->known & NCS_KNOWN_RANK)
		snprintf(rank, sizeof(rank), "%" PRId32, identity->rank);
	ncs_comm_text(identity, comm, sizeof(comm));
	if (ncs_job_of(sample->labels, &job) == NCS_JOB_NONE)
		job = "-";
	print_line(file, pid, rank, comm[0] ? comm : "-",
		   ncs_liveness_name(sample->snapshot->liveness), job);
	ncs_print(file, "$s\n", sample->id);
}

/* Segments, of these the ones that cannot be read, and communicators that have
 * none. */
struct list_counts {
	size_t all, unreadable;
	uint64_t unpublished;
};

/* Prints all segments, or adds them to a list unless that is NULL, and counts
 * them. */
static struct list_counts list_all(FILE *file, json_t *list,
				   struct ncs_source *source)
{
	struct list_counts counts = { 0 };
	struct ncs_sample sample;

	while (source->next(source, &sample)) {
		bool is_readable = sample.attach == NCS_ATTACHED;

		counts.unreadable += !is_readable &&
				     sample.attach != NCS_ATTACH_NOT_READY;
		if (is_readable)
			counts.unpublished +=
				sample.snapshot->losses[NCS_LOSS_UNPUBLISHED];
		if (list) {
			json_array_append_new(json_object_get(list, "segments"),
					      segment_of(&sample));
		} else {
			if (counts.all == 0) {
				print_line(file, "PID", "RANK", "COMM", "STATE",
					   "JOB");
				fputs("PATH\n", file);
			}
			print_segment(file, &sample);
		}
		counts.all++;
	}
	return counts;
}

static int list_segments(FILE *file, const struct ncs_options *options,
			 struct ncs_source *source)
{
	const char *directory = ncs_directory(options->directory);
	struct list_counts counts;
	json_t *list = NULL;
	char why[256];

	if (source->begin(source, ncs_clock_monotonic_ns(), why, sizeof(why)) !=
	    0) {
		ncs_complain("%s", why);
		return NCS_EXIT_NOTHING;
	}
	/* Segments of nodes have no directory here. */
	if (options->format == NCS_DUMP_JSON)
		list = begin_list(NULL, source->nodes ? NULL : directory);
	counts = list_all(file, list, source);
	if (list)
		ncs_json_print(file, list, JSON_COMPACT);
	ncs_complain_of_unpublished(counts.unpublished);
	if (counts.all == 0 && options->choice.job && source->nodes)
		ncs_complain("there is no segment of job '%s' on any node",
			     options->choice.job);
	else if (counts.all == 0 && options->choice.job)
		ncs_complain("there is no segment of job '%s' in %s",
			     options->choice.job, directory);
	else if (counts.all == 0 && !source->nodes)
		ncs_complain("there is no segment in %s%s", directory,
			     ncs_directory_clause(directory));
	return counts.unreadable == counts.all ?
		       ncs_sight_status(0, counts.all) :
		       NCS_EXIT_OK;
}

int ncs_list_run(const struct ncs_command_input *input)
{
	const struct ncs_options *options = input->options;

	if (!input->replay)
		return list_segments(input->file, options, input->source);
	ncs_recording_check(input->replay->recording);
	if (options->format == NCS_DUMP_JSON)
		print_recording_json(input->file, input->replay);
	else
		print_recording(input->file, input->replay, options->ascii);
	return NCS_EXIT_OK;
}
