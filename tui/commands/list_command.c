/* SPDX-License-Identifier: MIT */
/* --list: prints the existing segments, readable or not, or the contents of
 * recordings. Must not use a model, because a model omits ranks that have ended. */
#include "ncclstat/reader.h"
#include "tui/commands/command_runs.h"

#include <inttypes.h>

#include "analysis/base/utf8.h"
#include "analysis/base/value_names.h"
#include "ncclstat/abi_header.h"
#include "shm/clock.h"
#include "shm/labels.h"
#include "shm/read/job.h"
#include "shm/read/paths.h"
#include "tui/commands/json_values.h"
#include "tui/commands/list_parts.h"
#include "tui/text/format.h"
#include "tui/text/output.h"

struct list_line {
	char pid[16];
	char rank[16];
	char comm[NCS_FORMAT_MAX];
	char job[NCS_FORMAT_MAX];
	const char *state;
	char path[4096 + 1];
	char why[NCS_FORMAT_MAX];
};

static void describe_segment(struct list_line *line,
			     const struct ncs_sample *sample, bool ascii)
{
	const struct ncs_identity *identity = &sample->snapshot->identity;
	char comm[sizeof(identity->comm_name)];
	const char *job, *here;

	here = ncs_labels_value(sample->labels, "host_pid");
	snprintf(line->pid, sizeof(line->pid), "%" PRIu32, sample->header->pid);
	if (here)
		snprintf(line->pid, sizeof(line->pid), "%.15s", here);
	if (identity->known & NCS_KNOWN_RANK)
		snprintf(line->rank, sizeof(line->rank), "%" PRId32,
			 identity->rank);
	ncs_comm_text(identity, comm, sizeof(comm));
	if (comm[0])
		ncs_utf8_clean(line->comm, sizeof(line->comm), comm, ascii);
	if (ncs_job_of(sample->labels, &job) != NCS_JOB_NONE)
		ncs_utf8_clean(line->job, sizeof(line->job), job, ascii);
	line->state = ncs_liveness_name(sample->snapshot->liveness);
}

static void describe(struct list_line *line, const struct ncs_sample *sample,
		     bool ascii)
{
	*line = (struct list_line){ "-", "-", "-", "-", "-", "", "" };
	ncs_utf8_clean(line->path, sizeof(line->path), sample->id, ascii);
	if (sample->attach == NCS_ATTACHED)
		describe_segment(line, sample, ascii);
	else
		ncs_utf8_clean(line->why, sizeof(line->why), sample->why,
			       ascii);
}

static void print_line(FILE *file, const struct list_line *line)
{
	char comm[NCS_FORMAT_MAX], job[NCS_FORMAT_MAX];
	unsigned width = ncs_format_columns(line->comm);

	ncs_format_pad(comm, sizeof(comm), line->comm, width > 16 ? width : 16,
		       NCS_ALIGN_LEFT);
	width = ncs_format_columns(line->job);
	ncs_format_pad(job, sizeof(job), line->job, width > 8 ? width : 8,
		       NCS_ALIGN_LEFT);
	fprintf(file, "%7s  %4s  %s  %-8s  %s  %s", line->pid, line->rank, comm,
		line->state, job, line->path);
	fprintf(file, line->why[0] ? ": not readable: %s\n" : "%s\n",
		line->why);
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
				   struct ncs_source *source, bool ascii)
{
	static const struct list_line titles = {
		.pid = "PID",
		.rank = "RANK",
		.comm = "COMM",
		.state = "STATE",
		.job = "JOB",
		.path = "PATH",
	};
	struct list_counts counts = { 0 };
	struct ncs_sample sample;
	struct list_line line;

	while (source->next(source, &sample)) {
		bool is_readable = sample.attach == NCS_ATTACHED;

		counts.unreadable += !is_readable &&
				     sample.attach != NCS_ATTACH_NOT_READY;
		if (is_readable)
			counts.unpublished +=
				sample.snapshot->losses[NCS_LOSS_UNPUBLISHED];
		if (counts.all++ == 0 && !list)
			print_line(file, &titles);
		if (list) {
			ncs_list_json_add(list, &sample);
			continue;
		}
		describe(&line, &sample, ascii);
		print_line(file, &line);
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
		list = ncs_list_json_begin(NULL,
					   source->nodes ? NULL : directory);
	counts = list_all(file, list, source, options->ascii);
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
	struct ncs_replay *replay = input->replay;
	struct ncs_output output;
	int status = NCS_EXIT_OK;

	if (!ncs_output_init(&output))
		return NCS_EXIT_NOTHING;
	if (replay)
		ncs_recording_check(replay->recording);
	if (!replay)
		status = list_segments(output.file, input->options,
				       input->source);
	else if (input->options->format == NCS_DUMP_JSON)
		ncs_list_recording_json(output.file, replay);
	else
		ncs_list_recording_text(output.file, replay,
					input->options->ascii);
	return ncs_output_end(&output, status);
}
