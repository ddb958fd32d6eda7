/* SPDX-License-Identifier: MIT */
/* Makes the passes over a recording, and prints the result or adds it to a
 * trace; see critical_path_command.h. Must not compute the path: analysis/path
 * does. */
#include "tui/commands/critical_path_command.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/base/append.h"
#include "analysis/base/value_names.h"
#include "tui/commands/commands.h"
#include "tui/text/output.h"

/* The tracks and words of a trace into which a path is drawn. */
struct path_drawing {
	struct ncs_trace_writer *writer;
	uint32_t path_track;
	uint32_t category;
	uint32_t words[NCS_PATH_CAUSE_COUNT];
	uint32_t rank_word, peer_word, number_word, bytes_word;
	/* Tracks by scenario and rank of the job. */
	struct ncs_slice_tracks *tracks;
	struct ncs_phrase *names; /* names of tracks by rank of the job */
};

struct path_run {
	const struct ncs_options *options;
	struct ncs_recorded_operations *collectives;
	struct ncs_fits fits;
	struct ncs_path_lines lines;
	struct ncs_scenario scenarios[NCS_SCENARIOS_MAX];
	size_t scenario_count;
	bool leaves_out; /* the user asks for a job without a rank */
	/* NULL if nothing of it is drawn, or if there are too many parts. */
	struct ncs_without *without;
	struct ncs_path_owner *owners;
	uint32_t rank_count;
	const struct ncs_recording *recording;
	struct path_drawing *drawing; /* NULL if the path is printed */
	FILE *file;                   /* to print to */
};

static bool is_in_range(const void *context, const struct ncs_part *part,
			const char *path)
{
	const struct path_run *run = context;

	return ncs_recorded_operations_is_in_range(run->collectives, part,
						   path);
}

/* Keeps the parts of an operation by which ranks can be compared. */
static int keep_parts(struct path_run *run, const struct ncs_joined *joined)
{
	if (run->without && !run->leaves_out &&
	    ncs_without_count(run->without) > NCS_WITHOUT_PARTS) {
		ncs_without_free(run->without);
		run->without = NULL;
		run->scenario_count = run->options->what_if_count;
	}
	return run->without ?
		       ncs_without_add(run->without, joined, run->owners) :
		       0;
}

/* Makes the first pass, which finds the times of transfers, where the job's steps
 * begin, what ranks cost, and along the path, which ranks send and receive. */
static int learn(struct path_run *run, struct ncs_path *path)
{
	const struct ncs_joined *joined;
	int result;

	while ((result = ncs_recorded_operations_next(run->collectives,
						      &joined)) == 1) {
		result = ncs_path_add(path, joined, true, NCS_NO_STEP);
		if (!result)
			result = keep_parts(run, joined);
		if (!result && joined->is_complete)
			result = ncs_fits_add(&run->fits, joined,
					      ncs_joined_moving_ns(joined));
		if (result)
			return result;
	}
	if (!result)
		result = ncs_path_end(path);
	if (!result && run->without)
		result = ncs_without_compute(run->without, run->scenarios,
					     run->scenario_count);
	return result ? result :
			ncs_recorded_operations_rewind(run->collectives);
}

/* Learns by a pass along the path that has no scenarios. */
static int learn_lines(struct path_run *run, size_t owner_count)
{
	struct ncs_path *path;
	int result;

	path = ncs_path_new(&(struct ncs_path_options){
		.owners = run->owners,
		.owner_count = owner_count,
		.rank_count = run->rank_count,
		.lines = &run->lines,
		.learns = true,
	});
	result = path ? learn(run, path) : -ENOMEM;
	ncs_path_free(path);
	return result;
}

/* Makes the second pass, which follows the path. */
static int walk(struct path_run *run, struct ncs_path *path)
{
	const char *range = run->options->range;
	const struct ncs_joined *joined;
	int result;

	while ((result = ncs_recorded_operations_next(run->collectives,
						      &joined)) == 1) {
		uint32_t step = run->without ?
					ncs_without_step(run->without, joined) :
					NCS_NO_STEP;
		bool is_counted = !range ||
				  is_in_range(run, &joined->parts[0], range);

		result = ncs_path_add(path, joined, is_counted, step);
		if (result)
			return result;
	}
	return result ? result : ncs_path_end(path);
}

/* --- Into a trace -------------------------------------------------------- */

static void draw_segment(void *context, const struct ncs_path_segment *segment)
{
	const struct path_run *run = context;
	const struct path_drawing *drawing = run->drawing;
	const struct ncs_trace_argument arguments[] = {
		{ drawing->rank_word, NCS_TRACE_NUMBER,
		  run->owners[segment->owner].rank },
		{ drawing->number_word, NCS_TRACE_NUMBER, segment->number },
		{ drawing->bytes_word, NCS_TRACE_NUMBER, segment->bytes },
		{ drawing->peer_word, NCS_TRACE_WHOLE,
		  (uint64_t)(int64_t)segment->peer },
	};
	const struct ncs_trace_event event = {
		.name = drawing->words[segment->cause],
		.category = drawing->category,
		.arguments = arguments,
		.argument_count = segment->peer >= 0 ? 4 : 3,
	};

	ncs_trace_slice(drawing->writer, drawing->path_track, segment->from_ns,
			segment->until_ns, &event);
}

/* Draws an operation with its times in a scenario. Scenario 0 is the recorded
 * job, which the trace already shows. */
static void draw_timed(void *context, size_t scenario,
		       const struct ncs_part *part, uint64_t arrival_ns,
		       uint64_t end_ns)
{
	const struct path_run *run = context;
	const struct path_drawing *drawing = run->drawing;
	uint32_t rank = run->owners[part->owner].rank;
	struct ncs_trace_argument arguments[] = {
		{ drawing->number_word, NCS_TRACE_NUMBER, part->number },
		{ drawing->bytes_word, NCS_TRACE_NUMBER, part->bytes },
	};
	const struct ncs_trace_event event = {
		.name = ncs_trace_word(drawing->writer,
				       ncs_function_name(part->function)),
		.category = drawing->category,
		.arguments = arguments,
		.argument_count = 2,
	};
	struct ncs_slice_tracks *tracks;

	if (scenario == 0)
		return;
	tracks = &drawing->tracks[(scenario - 1) * run->rank_count + rank];
	ncs_trace_slice(drawing->writer,
			ncs_slice_tracks_take(tracks, drawing->writer,
					      arrival_ns, end_ns),
			arrival_ns, end_ns, &event);
}

static int print(struct path_run *run, struct ncs_replay *replay,
		 const struct ncs_path *path)
{
	struct ncs_path_view view = {
		.options = run->options,
		.replay = replay,
		.report = ncs_path_report(path),
		.rank_count = run->rank_count,
		.owners = run->owners,
	};

	ncs_recorded_operations_count(run->collectives, &view.count);
	if (view.report->parts == 0) {
		ncs_complain(
			"no operation has ended in what was"
			" recorded: of jobs without a network an end is known"
			" only where launches are timed (NCCLSTAT_TIMING)");
		return NCS_EXIT_NOTHING;
	}
	ncs_critical_path_print(run->file, &view);
	return NCS_EXIT_OK;
}

/* --- What there is not ---------------------------------------------------- */

static bool has_rank(const struct path_run *run, size_t owner_count, uint32_t rank)
{
	for (size_t i = 0; i < owner_count; i++)
		if (run->owners[i].rank == rank)
			return true;
	return false;
}

/* Appends the ranks that there are, as "0-3,6". */
static void append_ranks(const struct path_run *run, size_t owner_count,
			 char *text, size_t size)
{
	const char *comma = "";

	for (uint32_t from = 0; from < run->rank_count; from++) {
		uint32_t until = from;

		if (!has_rank(run, owner_count, from))
			continue;
		while (has_rank(run, owner_count, until + 1))
			until++;
		ncs_append(text, size, "%s%" PRIu32, comma, from);
		if (until > from)
			ncs_append(text, size, "-%" PRIu32, until);
		comma = ",";
		from = until;
	}
}

/* Checks that the ranks of the scenarios are there. */
static bool check_ranks(const struct path_run *run, size_t owner_count)
{
	for (size_t i = 0; i < run->scenario_count; i++) {
		const struct ncs_scenario *scenario = &run->scenarios[i];
		const int32_t ranks[] = { scenario->rank, scenario->peers[0],
					  scenario->peers[1] };

		for (size_t k = 0; k < 3; k++) {
			char there[256] = "";

			if (ranks[k] < 0 || has_rank(run, owner_count,
						     (uint32_t)ranks[k]))
				continue;
			append_ranks(run, owner_count, there, sizeof(there));
			ncs_complain("--what-if=%s: there is no rank %" PRId32
				     "; by their numbers in the largest"
				     " communicator there are: %s",
				     scenario->text, ranks[k], there);
			return false;
		}
	}
	return true;
}

/* Checks that the range of --range is there. */
static bool check_range(const struct path_run *run)
{
	const char *wanted = run->options->range, *range, *last = "";
	size_t length = wanted ? strlen(wanted) : 0;
	char there[512] = "";

	for (size_t i = 0; wanted &&
	     (range = ncs_recorded_operations_range(run->collectives, i)); i++) {
		if (strncmp(range, wanted, length) == 0 &&
		    (range[length] == '\0' || range[length] == '/'))
			return true;
		if (range[0] && strcmp(range, last) != 0 &&
		    !strstr(there, range))
			ncs_append(there, sizeof(there), "%s%s",
				   there[0] ? ", " : ": ", range);
		last = range;
	}
	if (!wanted)
		return true;
	ncs_complain("--range=%s: there is no such range; there %s%s", wanted,
		     there[0] ? "are" : "are none", there);
	return false;
}

/* Parses the scenarios. Without one, it is what is avoidable, but in a trace. */
static int parse_scenarios(struct path_run *run)
{
	static const char *const implied[] = { "without:stragglers" };
	size_t asked = run->options->what_if_count;
	char error[256];

	run->scenario_count = asked == 0 && !run->drawing ? 1 : asked;
	/* Cannot fail: parsing the options has checked the scenarios. */
	for (size_t i = 0; i < run->scenario_count; i++) {
		struct ncs_scenario *scenario = &run->scenarios[i];

		if (!ncs_scenario_parse(scenario,
					asked > 0 ? run->options->what_if[i] :
						    implied[i],
					error, sizeof(error)))
			return -EINVAL;
		run->leaves_out |= i < asked &&
				   scenario->kind == NCS_WHAT_IF_WITHOUT;
	}
	if (run->drawing && !run->leaves_out)
		return 0;
	run->without = ncs_without_new();
	return run->without ? 0 : -ENOMEM;
}

/* Makes both passes; draws the path if there is a drawing, otherwise prints
 * it. */
static int analyse(struct path_run *run, struct ncs_replay *replay)
{
	struct ncs_path_options options = {
		.owners = run->owners,
		.owner_count = ncs_recording_rank_count(replay->recording),
		.rank_count = run->rank_count,
		.scenarios = run->scenarios,
		.fits = &run->fits,
		.lines = &run->lines,
		.is_in_range = is_in_range,
		.segment = run->drawing ? draw_segment : NULL,
		.timed = run->drawing && run->options->what_if_count > 0 ?
				 draw_timed :
				 NULL,
		.context = run,
	};
	struct ncs_path *path;
	int result, status;

	result = parse_scenarios(run);
	if (!result && (!check_ranks(run, options.owner_count) ||
			!check_range(run)))
		return -EINVAL;
	if (!result)
		result = learn_lines(run, options.owner_count);
	if (result)
		return result;
	options.without = run->without;
	options.scenario_count = run->scenario_count;
	path = ncs_path_new(&options);
	if (!path)
		return -ENOMEM;
	result = walk(run, path);
	status = result || run->drawing ? result : print(run, replay, path);
	ncs_path_free(path);
	return status;
}

static bool open_run(struct path_run *run, struct ncs_replay *replay)
{
	size_t count = ncs_recording_rank_count(replay->recording);
	const struct ncs_job_rank *ranks;

	run->recording = replay->recording;
	run->collectives = ncs_recorded_operations_open(
		replay->recording, replay->records_from_ns,
		replay->records_until_ns);
	run->owners = calloc(count + 1, sizeof(*run->owners));
	if (!run->collectives || !run->owners)
		return false;
	ranks = ncs_recorded_operations_job_ranks(run->collectives,
						  &run->rank_count);
	for (size_t i = 0; i < count; i++)
		run->owners[i] =
			(struct ncs_path_owner){ ranks[i].rank, ranks[i].host };
	run->lines.ranks =
		calloc((size_t)run->rank_count + 1, sizeof(*run->lines.ranks));
	return run->lines.ranks != NULL;
}

static void close_run(struct path_run *run)
{
	ncs_recorded_operations_close(run->collectives);
	ncs_fits_release(&run->fits);
	ncs_without_free(run->without);
	free(run->lines.ranks);
	free(run->owners);
}

/* Makes a root track for each scenario, and below it a track for each rank. */
static bool prepare_scenarios(const struct path_run *run,
			      struct path_drawing *drawing)
{
	size_t count = run->options->what_if_count;

	drawing->tracks =
		calloc(count * run->rank_count + 1, sizeof(*drawing->tracks));
	drawing->names = calloc(run->rank_count + 1, sizeof(*drawing->names));
	if (!drawing->tracks || !drawing->names)
		return false;
	for (uint32_t i = 0; i < run->rank_count; i++)
		drawing->names[i] =
			ncs_path_rank_name(run->recording, run->owners, i, 0);
	for (size_t k = 0; k < count; k++) {
		char name[300];
		uint32_t root;

		snprintf(name, sizeof(name), "what if %s",
			 run->options->what_if[k]);
		root = ncs_trace_track(drawing->writer, 0, name, 0);
		for (uint32_t i = 0; i < run->rank_count; i++)
			drawing->tracks[k * run->rank_count + i] =
				(struct ncs_slice_tracks){
					.parent = root,
					.place = i,
					.name = drawing->names[i].text,
				};
	}
	return true;
}

static bool prepare(const struct path_run *run, struct path_drawing *drawing)
{
	struct ncs_trace_writer *writer = drawing->writer;

	drawing->path_track = ncs_trace_track(writer, 0, "critical path", 0);
	drawing->category = ncs_trace_word(writer, "critical path");
	drawing->rank_word = ncs_trace_word(writer, "rank");
	drawing->peer_word = ncs_trace_word(writer, "peer");
	drawing->number_word = ncs_trace_word(writer, "number");
	drawing->bytes_word = ncs_trace_word(writer, "bytes");
	for (unsigned i = 0; i < NCS_PATH_CAUSE_COUNT; i++)
		drawing->words[i] =
			ncs_trace_word(writer, ncs_path_cause_name(i));
	return prepare_scenarios(run, drawing);
}

int ncs_critical_path_trace(const struct ncs_options *options,
			    struct ncs_replay *replay,
			    struct ncs_trace_writer *writer)
{
	struct path_drawing drawing = { .writer = writer };
	struct path_run run = { .options = options, .drawing = &drawing };
	int result = -ENOMEM;

	if (open_run(&run, replay) && prepare(&run, &drawing))
		result = analyse(&run, replay);
	free(drawing.tracks);
	free(drawing.names);
	close_run(&run);
	return result;
}

int ncs_critical_path_run(const struct ncs_command_input *input)
{
	struct path_run run = { .options = input->options,
				.file = input->file };
	int status = -ENOMEM;

	if (open_run(&run, input->replay))
		status = analyse(&run, input->replay);
	close_run(&run);
	if (status >= 0)
		return status;
	/* Why it is not valid was said. */
	if (status != -EINVAL)
		ncs_complain("%s", strerror(-status));
	return NCS_EXIT_NOTHING;
}
