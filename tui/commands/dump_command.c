/* SPDX-License-Identifier: MIT */
/* --dump; see dump_command.h. Takes samples at intervals and prints each; the
 * formats are in dump_text.c and dump_json.c. */
#include "tui/commands/dump_command.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>
#include <time.h>

#include "analysis/base/utf8.h"
#include "analysis/diagnosis/diagnosis.h"
#include "analysis/model/model.h"
#include "ncclstat/reader.h"
#include "shm/clock.h"
#include "shm/read/nccl_processes.h"
#include "shm/read/paths.h"
#include "tui/commands/commands.h"
#include "tui/commands/metrics_watch.h"
#include "tui/text/job_verdict.h"
#include "tui/text/output.h"

void ncs_dump_sleep_until(uint64_t time_ns)
{
	struct timespec time = {
		.tv_sec = (time_t)(time_ns / UINT64_C(1000000000)),
		.tv_nsec = (long)(time_ns % UINT64_C(1000000000)),
	};

	while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &time, NULL) ==
	       EINTR)
		;
}

/* Says which processes have NCCL in them and no communicator: that is all that is
 * seen of a job which hangs before its first one. */
static void say_early(const char *directory)
{
	struct ncs_nccl_processes processes;
	const struct ncs_nccl_process *first = NULL;
	size_t count = 0;
	char command[sizeof(first->command)];

	if (ncs_nccl_processes_list(&processes, directory) != 0)
		processes.count = 0;
	for (size_t i = 0; i < processes.count; i++) {
		const struct ncs_nccl_process *process = &processes.all[i];

		if (process->presence != NCS_PRESENCE_NOT_YET &&
		    process->presence != NCS_PRESENCE_NO_COMMUNICATOR)
			continue;
		if (count++ == 0)
			first = process;
	}
	if (first) {
		ncs_utf8_clean(command, sizeof(command), first->command, true);
		ncs_complain("process %" PRIu32
			     " (%.60s) has NCCL in it and no communicator: it"
			     " has not called ncclCommInitRank, or waits in it"
			     " for ranks that have not",
			     first->pid, command);
	}
	if (count > 1)
		ncs_complain("and %zu more: see ncclstat --check", count - 1);
	ncs_nccl_processes_release(&processes);
}

void ncs_dump_say_nothing(const struct ncs_options *options)
{
	const char *directory = ncs_directory(options->directory);
	const char *clause = ncs_directory_clause(directory);

	if (ncs_options_want_nodes(options) && options->choice.job)
		ncs_complain("no rank of job '%s' is seen on any node",
			     options->choice.job);
	else if (ncs_options_want_nodes(options))
		ncs_complain("no rank is seen on any node");
	else if (options->file_count > 0)
		ncs_complain("no rank was recorded at that time; --list tells"
			     " which were when");
	else if (options->choice.job)
		ncs_complain(
			"no process of job '%s' with the ncclstat plugin is"
			" running here (looked in %s%s); see"
			" ncclstat-plugin(7)",
			options->choice.job, directory, clause);
	else if (options->choice.pid)
		ncs_complain(
			"process %" PRIu32 " is no NCCL job with the"
			" ncclstat plugin (looked in %s%s); see"
			" ncclstat-plugin(7)",
			options->choice.pid, directory, clause);
	else {
		ncs_complain(
			"no NCCL job with the ncclstat plugin is"
			" running here (looked in %s%s); start one by"
			" \"ncclstat run -- COMMAND\", see"
			" ncclstat-plugin(7); ncclstat --check says what is"
			" missing",
			directory, clause);
		say_early(options->directory);
	}
}

struct dump {
	const struct ncs_options *options;
	struct ncs_replay *replay; /* NULL if jobs run now */
	struct ncs_source *source;
	struct ncs_model model;
	struct ncs_diagnosis diagnosis;
	/* The output so far. */
	bool printed; /* at least one table was printed */
	bool said;    /* the last output was the message that there is no job */
	int status;
};

static bool print_sample(FILE *file, struct dump *dump,
			 const struct ncs_stamp *stamp)
{
	const struct ncs_options *options = dump->options;
	const struct ncs_model *model = &dump->model;

	if (model->error[0])
		ncs_complain("%s", model->error);
	if (options->format == NCS_DUMP_JSON) {
		ncs_dump_json(file, model, stamp, options->view);
		return true;
	}
	if (model->rank_count > 0 || model->unreadable_count > 0 ||
	    model->node_count > 0) {
		if (dump->printed)
			fputc('\n', file);
		if (!dump->printed)
			ncs_complain_of_unpublished(
				ncs_count_unpublished(model));
		dump->printed = true;
		/* Nodes are no answer to a question for a job. */
		if (model->rank_count == 0 && model->node_count > 0 &&
		    options->choice.job && !dump->said)
			ncs_dump_say_nothing(options);
		dump->said = model->rank_count == 0;
		return ncs_dump_text(file, model, options, stamp,
				     ncs_output_columns());
	}
	if (!model->error[0] && !dump->said)
		ncs_dump_say_nothing(options);
	dump->said = true;
	return true;
}

/* Returns the exit status for what a model has seen. */
static int sight_of(const struct ncs_model *model)
{
	struct ncs_node_counts nodes;

	ncs_count_nodes(model, &nodes);
	return ncs_sight_status(model->rank_count,
				ncs_count_unreadable(model) + nodes.nodes -
					nodes.seen);
}

/* Takes and prints one sample. Returns false if no other sample should
 * follow. */
static bool dump_sample(struct dump *dump)
{
	struct ncs_output output;
	struct ncs_stamp stamp;
	bool printed;

	dump->status = NCS_EXIT_NOTHING;
	if (!ncs_output_init(&output))
		return false;
	stamp = ncs_dump_stamp(dump->replay);
	ncs_model_update(&dump->model, dump->source, stamp.monotonic_ns);
	printed = ncs_diagnose(&dump->diagnosis, &dump->model) == 0 &&
		  print_sample(output.file, dump, &stamp);
	if (!printed)
		ncs_complain("%s", strerror(ENOMEM));
	dump->status = ncs_output_end(
		&output, printed ? sight_of(&dump->model) : NCS_EXIT_NOTHING);
	return !output.failed && printed;
}

/* Whether a sample is taken before the first that is printed, so that there are
 * rates. Recordings have a past. */
static bool looks_twice(const struct ncs_options *options,
			const struct ncs_replay *replay)
{
	return !replay && options->format == NCS_DUMP_TEXT &&
	       options->count == 0 &&
	       !ncs_options_is_given(options, NCS_OPTION_INTERVAL);
}

static uint64_t samples_wanted(const struct ncs_options *options)
{
	if (options->count > 0)
		return options->count;
	return ncs_options_is_given(options, NCS_OPTION_INTERVAL) ? UINT64_MAX :
								    1;
}

/* Waits until the next sample is due, or moves the recording to its time.
 * Returns false if there are no more samples. */
static bool wait_for_next(const struct ncs_options *options,
			  struct ncs_replay *replay, uint64_t *next_ns)
{
	if (replay) {
		if (replay->until_ns - replay->at_ns < options->interval_ns)
			return false;
		ncs_replay_go(replay, replay->at_ns + options->interval_ns, 0);
		return true;
	}
	*next_ns += options->interval_ns;
	/* After a late sample, do not take several samples in quick
	 * succession. */
	if (*next_ns < ncs_clock_monotonic_ns())
		*next_ns = ncs_clock_monotonic_ns();
	ncs_dump_sleep_until(*next_ns);
	return true;
}

int ncs_dump_past(const struct ncs_options *options,
		  const struct ncs_replay *replay, struct ncs_model *model,
		  struct ncs_diagnosis *diagnosis)
{
	return ncs_replay_fill(replay->source, model, diagnosis,
			       replay->from_ns, replay->at_ns,
			       options->interval_ns);
}

/* --- Metrics ------------------------------------------------------------ */

/* Prints metrics once. Returns false if no more should follow. */
static bool dump_metrics(struct ncs_metrics_watch *watch,
			 const struct ncs_replay *replay,
			 enum ncs_metric_format format, int *status)
{
	struct ncs_stamp stamp = ncs_dump_stamp(replay);
	struct ncs_output output;
	int error;

	*status = NCS_EXIT_NOTHING;
	if (!ncs_output_init(&output))
		return false;
	error = ncs_metrics_watch_look(watch, &stamp);
	if (!error)
		error = ncs_metrics_watch_print(watch, output.file, format);
	/* Without a job there are the exporter's own metrics. */
	if (!error && sight_of(&watch->model) != NCS_EXIT_NOTHING)
		*status = sight_of(&watch->model);
	else if (!error)
		*status = NCS_EXIT_OK;
	*status = ncs_output_end(&output, *status);
	return !output.failed && !error;
}

static int run_metrics(const struct ncs_command_input *input)
{
	const struct ncs_options *options = input->options;
	enum ncs_metric_format format =
		options->format == NCS_DUMP_OPENMETRICS ?
			NCS_METRICS_OPENMETRICS :
			NCS_METRICS_PROMETHEUS;
	uint64_t wanted = samples_wanted(options);
	uint64_t next_ns = ncs_clock_monotonic_ns();
	struct ncs_metrics_watch watch;
	int status = NCS_EXIT_NOTHING;

	ncs_metrics_watch_init(&watch, input);
	/* They are not known before a second sample. */
	input->source->wants_peaks &= wanted > 1;
	if (input->replay && !ncs_options_is_given(options, NCS_OPTION_INTERVAL))
		ncs_dump_past(options, input->replay, &watch.model,
			      &watch.diagnosis);
	for (uint64_t i = 0; i < wanted; i++) {
		if (i > 0 && !wait_for_next(options, input->replay, &next_ns))
			break;
		if (!dump_metrics(&watch, input->replay, format, &status))
			break;
	}
	ncs_metrics_watch_release(&watch);
	return status;
}

/* --- Text and JSON ------------------------------------------------------ */

static int run_tables(const struct ncs_command_input *input)
{
	const struct ncs_options *options = input->options;
	struct ncs_replay *replay = input->replay;
	uint64_t wanted = samples_wanted(options);
	uint64_t next_ns = ncs_clock_monotonic_ns();
	struct dump dump = {
		.options = options,
		.replay = replay,
		.source = input->source,
		.status = NCS_EXIT_NOTHING,
	};
	struct ncs_model *model = &dump.model;

	ncs_model_init(model);
	ncs_model_set_window(model, options->window);
	ncs_diagnosis_init(&dump.diagnosis);
	model->diagnosis = &dump.diagnosis;
	/* The diagnosis compares the calls that ranks have finished. */
	model->keeps_latest = true;
	if (replay && !ncs_options_is_given(options, NCS_OPTION_INTERVAL))
		ncs_dump_past(options, replay, model, &dump.diagnosis);
	/* They are not known before a second sample. */
	input->source->wants_peaks = options->format == NCS_DUMP_JSON &&
				     wanted > 1;
	if (looks_twice(options, replay)) {
		ncs_model_update(model, input->source, next_ns);
		if (model->rank_count > 0)
			wait_for_next(options, NULL, &next_ns);
	}
	for (uint64_t i = 0; i < wanted; i++) {
		if (i > 0 && !wait_for_next(options, replay, &next_ns))
			break;
		if (!dump_sample(&dump))
			break;
	}
	ncs_diagnosis_release(&dump.diagnosis);
	ncs_model_release(model);
	return dump.status;
}

int ncs_dump_run(const struct ncs_command_input *input)
{
	enum ncs_dump_format format = input->options->format;

	return format == NCS_DUMP_OPENMETRICS || format == NCS_DUMP_PROMETHEUS ?
		       run_metrics(input) :
		       run_tables(input);
}
