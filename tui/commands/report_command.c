/* SPDX-License-Identifier: MIT */
/* --report: writes a report on recordings as one file of HTML. Reads the
 * recording and fills in the template; report_parts.h makes the parts. Must not
 * compute a figure: those of the tables are those of the documents embedded. */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "record/replay/replay_search.h"
#include "tui/commands/commands.h"
#include "tui/commands/job_stacks.h"
#include "tui/commands/report_parts.h"
#include "tui/text/finding_text.h"
#include "tui/text/job_text.h"
#include "tui/text/output.h"

/* --- Embedded documents --------------------------------------------------- */

/* Prints the dump or the diagnosis so that no text in it ends the element around
 * it. */
static int embed(FILE *file, const struct ncs_report *report, bool is_dump)
{
	char *text = NULL;
	size_t size = 0;
	FILE *memory = open_memstream(&text, &size);

	if (memory && is_dump)
		ncs_dump_json(memory, report->model, report->stamp, NCS_VIEW_COUNT);
	else if (memory)
		ncs_diagnose_json(memory, report->diagnosis, report->model,
				  report->stamp);
	if (!memory || fclose(memory) != 0) {
		free(text);
		return -ENOMEM;
	}
	for (size_t i = 0; i < size; i++)
		if (text[i] == '<')
			fputs("\\u003c", file);
		else
			fputc(text[i], file);
	free(text);
	return 0;
}

static int embed_dump(FILE *file, const struct ncs_report *report)
{
	return embed(file, report, true);
}

static int embed_diagnosis(FILE *file, const struct ncs_report *report)
{
	return embed(file, report, false);
}

static int print_compared(FILE *file, const struct ncs_report *report)
{
	return report->compared ? report->print_compared(file, report) : 0;
}

/* --- The template --------------------------------------------------------- */

#define PART(name) \
	{ \
#name, ncs_report_##name, NCS_VIEW_COUNT \
	}
static const struct place {
	const char *name;
	ncs_report_part *print; /* NULL: the table of the view */
	enum ncs_view view;
} places[] = {
	PART(title),
	PART(verdict),
	PART(gain),
	PART(episodes),
	PART(steps),
	{ "ranks", NULL, NCS_VIEW_RANK },
	PART(lanes),
	{ "functions", NULL, NCS_VIEW_COLLECTIVE },
	{ "sizes", NULL, NCS_VIEW_CLASS },
	PART(waits),
	PART(links),
	PART(stacks),
	PART(unseen),
	PART(made),
	{ "compared", print_compared, NCS_VIEW_COUNT },
	{ "dump", embed_dump, NCS_VIEW_COUNT },
	{ "diagnosis", embed_diagnosis, NCS_VIEW_COUNT },
};
#undef PART

/* Returns the place whose name is between this '@' and the next one; NULL if it
 * is none. */
static const struct place *place_at(const char *at)
{
	for (size_t i = 0; i < sizeof(places) / sizeof(places[0]); i++) {
		size_t length = strlen(places[i].name);

		if (strncmp(at + 1, places[i].name, length) == 0 &&
		    at[1 + length] == '@')
			return &places[i];
	}
	return NULL;
}

static int print_report(FILE *file, const struct ncs_report *report)
{
	int error = 0;

	for (const char *at = ncs_report_template; *at && !error;) {
		const struct place *place = *at == '@' ? place_at(at) : NULL;

		if (!place) {
			fputc(*at++, file);
			continue;
		}
		error = place->print ?
				place->print(file, report) :
				ncs_report_view(file, report, place->view);
		at += strlen(place->name) + 2;
	}
	return error;
}

/* --- The recording -------------------------------------------------------- */

/* Notes the step at a look, if it is known. */
static void note_step(struct ncs_report *report, struct ncs_report_slice *slice,
		      uint64_t moment_ns, const struct ncs_model *model)
{
	struct ncs_job_step step;
	bool is_known = ncs_busiest_step(model, &step) &&
			step.step.unknown == NCS_COST_KNOWN;

	if (!is_known && report->knows_step)
		return;
	report->knows_step = is_known;
	report->step_at_ns = moment_ns;
	report->step[0] = '\0';
	ncs_append_step(model, report->step, sizeof(report->step));
	if (!is_known)
		return;
	slice->step_ns = step.step.ns;
	slice->steps[0] = step.waiting_ns;
	slice->steps[1] = fmin(step.exposed_ns, step.step.ns - step.waiting_ns);
	slice->steps[2] = step.step.ns - slice->steps[0] - slice->steps[1];
}

/* Adds the waits and the step of a look to the slice of its time. */
static void add_look(struct ncs_report *report, uint64_t moment_ns,
		     const struct ncs_model *model)
{
	const struct ncs_replay *replay = report->replay;
	const struct ncs_job_waits *waits = &model->waits;
	uint64_t slice_ns = (replay->until_ns - replay->from_ns) /
				    report->slice_count + 1;
	struct ncs_report_slice *slice =
		&report->slices[(moment_ns - replay->from_ns) / slice_ns];

	note_step(report, slice, moment_ns, model);
	if (waits->ranks == 0)
		return;
	slice->looks++;
	for (unsigned i = 0; i < NCS_WAIT_COUNT; i++)
		slice->share[i] += waits->share[i];
}

/* Goes through all of a recording, for its episodes and waits. */
static int search(struct ncs_report *report, struct ncs_replay_search *found)
{
	int error = ncs_replay_search_begin(found, report->replay,
					    report->options->choice.pid,
					    ncs_finding_sentence);
	uint64_t looks;

	if (error)
		return error;
	looks = (found->until_ns - found->from_ns) / found->step_ns + 1;
	report->slice_count =
		looks < NCS_REPORT_SLICES ? (size_t)looks : NCS_REPORT_SLICES;
	while (!error && !found->done) {
		uint64_t moment_ns = found->next_ns;

		error = ncs_replay_search_step(found);
		add_look(report, moment_ns, &found->model);
	}
	ncs_episodes_sort(&found->found);
	return error;
}

/* Fills the model with the end of the recording, as --dump and --diagnose do. */
static int look_at_end(const struct ncs_report *report, struct ncs_model *model)
{
	const struct ncs_replay *replay = report->replay;
	int error = ncs_dump_past(report->options, replay, model,
				  report->diagnosis);

	if (!error)
		error = ncs_model_update(model, replay->source, replay->at_ns);
	return error ? error : ncs_diagnose(report->diagnosis, model);
}

/* --- The file ------------------------------------------------------------- */

static int write_file(const struct ncs_report *report)
{
	FILE *file = fopen(report->options->report_path, "we");
	int error;

	if (!file)
		return -errno;
	error = print_report(file, report);
	if (!error && ferror(file))
		error = -EIO;
	if (fclose(file) != 0 && !error)
		error = -errno;
	return error;
}

int ncs_report_write(const struct ncs_command_input *input,
		     const struct ncs_compared *compared,
		     ncs_report_part *print_part)
{
	const struct ncs_options *options = input->options;
	/* It is large. */
	static struct ncs_replay_search found;
	struct ncs_diagnosis diagnosis;
	struct ncs_model model;
	struct ncs_stamp stamp;
	struct ncs_report report = {
		.options = options,
		.replay = input->replay,
		.model = &model,
		.diagnosis = &diagnosis,
		.stamp = &stamp,
		.compared = compared,
		.print_compared = print_part,
	};
	int error;

	if (ncs_recording_is_one_of(options->report_path, options->files,
				    options->file_count)) {
		ncs_complain("%s: this is the recording itself; it would be"
			     " overwritten",
			     options->report_path);
		return NCS_EXIT_USAGE;
	}
	ncs_model_init(&model);
	ncs_diagnosis_init(&diagnosis);
	model.diagnosis = &diagnosis;
	model.keeps_latest = true;
	error = look_at_end(&report, &model);
	if (!error && model.rank_count == 0)
		ncs_dump_say_nothing(options);
	if (!error && model.rank_count > 0)
		error = search(&report, &found);
	stamp = ncs_dump_stamp(input->replay);
	if (!error && model.rank_count > 0) {
		struct ncs_job_stacks *stacks =
			ncs_job_stacks_read(&(struct ncs_stacks_request){
				.model = &model,
				.diagnosis = &diagnosis,
				.options = options,
			});

		stamp.stacks = stacks;
		stamp.episodes = &found.found;
		error = write_file(&report);
		ncs_job_stacks_free(stacks);
	}
	if (error)
		ncs_complain("%s: %s", options->report_path, strerror(-error));
	if (model.rank_count == 0)
		error = -ENOENT;
	ncs_replay_search_end(&found);
	ncs_diagnosis_release(&diagnosis);
	ncs_model_release(&model);
	return error ? NCS_EXIT_NOTHING : NCS_EXIT_OK;
}

int ncs_report_run(const struct ncs_command_input *input)
{
	return ncs_report_write(input, NULL, NULL);
}
