/* SPDX-License-Identifier: MIT */
/* --list: prints the existing segments, readable or not, or the contents of
 * recordings. Must not use a model, because a model omits ranks that have ended. */
#include "ncclstat/reader.h"
#include "tui/commands/command_runs.h"

#include <inttypes.h>
#include <string.h>

#include "analysis/base/utf8.h"
#include "analysis/base/value_names.h"
#include "ncclstat/abi_header.h"
#include "shm/clock.h"
#include "shm/labels.h"
#include "shm/read/job.h"
#include "shm/read/paths.h"
#include "tui/commands/list_json.h"
#include "tui/commands/list_recording.h"
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
	memset(line, 0, sizeof(*line));
	strcpy(line->pid, "-");
	strcpy(line->rank, "-");
	strcpy(line->comm, "-");
	strcpy(line->job, "-");
	line->state = "-";
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

static void count_sample(const struct ncs_sample *sample, size_t *unreadable,
			 uint64_t *unpublished)
{
	*unreadable += sample->attach != NCS_ATTACHED &&
		       sample->attach != NCS_ATTACH_NOT_READY;
	if (sample->attach == NCS_ATTACHED)
		*unpublished += sample->snapshot->losses[NCS_LOSS_UNPUBLISHED];
}

/* Prints all segments and counts them, those that cannot be read, and the
 * communicators that have none. */
static size_t print_all(FILE *file, struct ncs_source *source, bool ascii,
			size_t *unreadable, uint64_t *unpublished)
{
	static const struct list_line titles = {
		.pid = "PID",
		.rank = "RANK",
		.comm = "COMM",
		.state = "STATE",
		.job = "JOB",
		.path = "PATH",
	};
	struct ncs_sample sample;
	struct list_line line;
	size_t count = 0;

	while (source->next(source, &sample)) {
		if (count++ == 0)
			print_line(file, &titles);
		count_sample(&sample, unreadable, unpublished);
		describe(&line, &sample, ascii);
		print_line(file, &line);
	}
	return count;
}

/* Does the same as JSON. Segments of nodes have no directory here. */
static size_t print_json(FILE *file, struct ncs_source *source,
			 const char *directory, size_t *unreadable,
			 uint64_t *unpublished)
{
	json_t *list = ncs_list_json_begin(source->nodes ? NULL : directory);
	struct ncs_sample sample;
	size_t count = 0;

	for (; source->next(source, &sample); count++) {
		count_sample(&sample, unreadable, unpublished);
		ncs_list_json_add(list, &sample);
	}
	ncs_list_json_print(file, list);
	return count;
}

static int list_segments(const struct ncs_options *options,
			 struct ncs_source *source)
{
	const char *directory = ncs_directory(options->directory);
	struct ncs_output output;
	int status = NCS_EXIT_OK;
	size_t count, unreadable = 0;
	uint64_t unpublished = 0;
	char why[256];

	if (source->begin(source, ncs_clock_monotonic_ns(), why, sizeof(why)) !=
	    0) {
		ncs_complain("%s", why);
		return NCS_EXIT_NOTHING;
	}
	if (!ncs_output_init(&output))
		return NCS_EXIT_NOTHING;
	if (options->format == NCS_DUMP_JSON)
		count = print_json(output.file, source, directory, &unreadable,
				   &unpublished);
	else
		count = print_all(output.file, source, options->ascii,
				  &unreadable, &unpublished);
	ncs_complain_of_unpublished(unpublished);
	if (count == 0 && options->choice.job && source->nodes)
		ncs_complain("there is no segment of job '%s' on any node",
			     options->choice.job);
	else if (count == 0 && options->choice.job)
		ncs_complain("there is no segment of job '%s' in %s",
			     options->choice.job, directory);
	else if (count == 0 && !source->nodes)
		ncs_complain("there is no segment in %s%s", directory,
			     ncs_directory_clause(directory));
	if (unreadable == count)
		status = ncs_sight_status(0, count);
	ncs_output_release(&output, &status);
	return status;
}

int ncs_list_run(const struct ncs_command_input *input)
{
	if (!input->replay)
		return list_segments(input->options, input->source);
	return input->options->format == NCS_DUMP_JSON ?
		       ncs_list_json_recording_run(input->replay) :
		       ncs_list_recording_run(input->options, input->replay);
}
