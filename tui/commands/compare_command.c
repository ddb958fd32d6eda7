/* SPDX-License-Identifier: MIT */
/* --compare: tells what differs between two recordings, one made before and one
 * after. Must not judge: record/replay/differences.h does. */
#include <stdlib.h>
#include <string.h>

#include "analysis/base/value_names.h"
#include "ncclstat/size_class.h"
#include "record/replay/differences.h"
#include "tui/commands/commands.h"
#include "tui/commands/json_values.h"
#include "tui/commands/report_parts.h"
#include "tui/text/finding_text.h"
#include "tui/text/output.h"
#include "tui/text/words.h"

/* Episodes of a recording that are printed as text. */
#define EPISODES_PRINTED 3u

static const char *const sides[] = { "before", "after" };

struct ncs_compared {
	const struct ncs_options *options;
	struct ncs_replay replays[2];
	struct ncs_recorded_job jobs[2];
	struct ncs_difference *differences;
	size_t count;
};

/* --- Text ----------------------------------------------------------------- */

static void print_job(FILE *file, const struct ncs_compared *all, size_t side)
{
	const struct ncs_recorded_job *job = &all->jobs[side];
	const struct ncs_episodes *episodes = &job->search->found;
	char length[32];

	ncs_instant_print(job->length_ns, length, sizeof(length));
	ncs_print(file, "$s: $s, $s, $n rank$s$s\n", sides[side],
		  all->options->files[side], length, job->ranks,
		  job->ranks == 1 ? "" : "s",
		  episodes->count == 0 ? ", nothing was slow or stuck" : "");
	for (size_t i = 0; i < episodes->count && i < EPISODES_PRINTED; i++) {
		const struct ncs_episode *episode = &episodes->all[i];

		ncs_print(file, "  $s for $d: $s\n",
			  ncs_severity_name(episode->severity),
			  episode->until_ns - episode->from_ns,
			  episode->sentence);
	}
	if (episodes->count > EPISODES_PRINTED)
		fprintf(file, "  and %zu more: --diagnose tells them\n",
			episodes->count - EPISODES_PRINTED);
}

/* The name of a figure: "AllReduce 16M time", "operations/s of a rank". */
static struct ncs_phrase name_of(const struct ncs_difference *one)
{
	bool is_sized = one->size_class > NCS_SIZE_CLASS_UNKNOWN &&
			one->size_class < NCS_SIZE_CLASS_COUNT;
	struct ncs_phrase size =
		is_sized ? ncs_size(ncs_size_class_low(one->size_class)) :
			   ncs_phrase("-");

	switch (one->kind) {
	case NCS_DIFFERENCE_RATE:
		return ncs_phrase("operations of a rank, a second");
	case NCS_DIFFERENCE_WAIT:
		return ncs_phrase("share of the time: %s",
				  ncs_wait_name(one->wait));
	case NCS_DIFFERENCE_TIME:
		return ncs_phrase("time of %s %s",
				  ncs_function_name(one->function), size.text);
	default:
		return ncs_phrase("number of %s %s",
				  ncs_function_name(one->function), size.text);
	}
}

static struct ncs_phrase figure_of(const struct ncs_difference *one,
				   double figure)
{
	switch (one->kind) {
	case NCS_DIFFERENCE_RATE:
		return ncs_phrase("%.4g", figure);
	case NCS_DIFFERENCE_WAIT:
		return ncs_phrase("%.1f %%", 100 * figure);
	case NCS_DIFFERENCE_TIME:
		return ncs_duration((uint64_t)(figure + 0.5));
	default:
		return ncs_phrase("%.0f", figure);
	}
}

/* "+26.1 %", "+3.2 points", "new", "gone"; and the error behind it. */
static struct ncs_phrase difference_of(const struct ncs_difference *one)
{
	double by = one->after - one->before, error = one->error;
	const char *unit = " %";

	if (one->kind == NCS_DIFFERENCE_COUNT)
		return ncs_phrase("%s", one->before > 0 ? "gone" : "new");
	if (one->kind != NCS_DIFFERENCE_WAIT && one->before <= 0)
		return ncs_phrase("-");
	if (one->kind == NCS_DIFFERENCE_WAIT) {
		unit = " points";
		by *= 100;
		error *= 100;
	} else {
		by *= 100 / one->before;
		error *= 100 / one->before;
	}
	return one->error < 0 ?
		       ncs_phrase("%+.1f%s, error not known", by, unit) :
		       ncs_phrase("%+.1f%s +- %.1f", by, unit, error);
}

static void print_differences(FILE *file, const struct ncs_compared *all, bool differ)
{
	const char *title = differ ? "\ndiffers:\n" :
				     "\nno difference beyond the error:\n";

	for (size_t i = 0; i < all->count; i++) {
		const struct ncs_difference *one = &all->differences[i];

		if (one->differs != differ ||
		    (one->before == 0 && one->after == 0))
			continue;
		fprintf(file, "%s  %-34s %9s -> %-9s %s\n", title,
			name_of(one).text, figure_of(one, one->before).text,
			figure_of(one, one->after).text,
			difference_of(one).text);
		title = "";
	}
}

static void print_text(FILE *file, const struct ncs_compared *all)
{
	print_job(file, all, 0);
	print_job(file, all, 1);
	print_differences(file, all, true);
	print_differences(file, all, false);
}

/* --- HTML ----------------------------------------------------------------- */

static int print_part(FILE *file, const struct ncs_report *report)
{
	const struct ncs_compared *all = report->compared;

	ncs_html_print(file,
		       "<section aria-labelledby=\"compared\">\n<h2 id=\"compared\">"
		       "Compared with $s</h2>\n<p class=\"note\">That recording was"
		       " made before this one. What differs by more than twice its"
		       " error comes first.</p>\n" NCS_REPORT_TABLE(
			       "Differences between the recordings") "<th"
		       " scope=\"col\">Figure</th><th scope=\"col\">Before</th><th"
		       " scope=\"col\">After</th><th scope=\"col\">By</th><th"
		       " scope=\"col\">Differs</th></tr></thead><tbody>\n",
		       all->options->files[0]);
	for (size_t i = 0; i < all->count; i++) {
		const struct ncs_difference *one = &all->differences[i];

		if (one->before == 0 && one->after == 0)
			continue;
		ncs_html_print(
			file,
			"<tr><th scope=\"row\">$s</th><td class=\"n\">$s</td>"
			"<td class=\"n\">$s</td><td class=\"n\">$s</td><td>$s"
			"</td></tr>\n",
			name_of(one).text, figure_of(one, one->before).text,
			figure_of(one, one->after).text,
			difference_of(one).text, one->differs ? "yes" : "no");
	}
	fputs("</tbody></table></div>\n</section>\n", file);
	return 0;
}

/* --- JSON ----------------------------------------------------------------- */

static json_t *json_of_job(const struct ncs_compared *all, size_t side)
{
	const struct ncs_recorded_job *job = &all->jobs[side];

	return NCS_JSON_OBJECT({ "file", NCS_JSON(all->options->files[side]) },
			       { "length_ns", NCS_JSON(job->length_ns) },
			       { "ranks", NCS_JSON(job->ranks) },
			       { "episodes",
				 ncs_json_episodes(&job->search->found) });
}

static json_t *json_of_difference(const struct ncs_difference *one)
{
	static const char *const kinds[] = { "operations_per_s", "wait_share",
					     "time_ns", "operations" };
	bool is_of_class = one->kind >= NCS_DIFFERENCE_TIME;

	return NCS_JSON_OBJECT(
		{ "figure", NCS_JSON(kinds[one->kind]) },
		{ "wait", NCS_JSON_IF(one->kind == NCS_DIFFERENCE_WAIT,
				      ncs_wait_name(one->wait)) },
		{ "function",
		  NCS_JSON_IF(is_of_class, ncs_function_name(one->function)) },
		{ "size_bytes",
		  NCS_JSON_IF(is_of_class &&
				      one->size_class > NCS_SIZE_CLASS_UNKNOWN,
			      ncs_size_class_low(one->size_class)) },
		{ "before", NCS_JSON(one->before) },
		{ "after", NCS_JSON(one->after) },
		{ "error", NCS_JSON(one->error) },
		{ "differs", NCS_JSON(one->differs) });
}

NCS_JSON_ARRAY(static json_t *differences_of(const struct ncs_compared *all),
	       all->count, json_of_difference(&all->differences[i]))

static void print_json(FILE *file, const struct ncs_compared *all)
{
	json_t *object = ncs_json_document();

	NCS_JSON_ADD(object, { "schema", NCS_JSON(NCS_JSON_SCHEMA) },
		     { sides[0], json_of_job(all, 0) },
		     { sides[1], json_of_job(all, 1) },
		     { "differences", differences_of(all) });
	ncs_json_print(file, object, JSON_COMPACT | JSON_REAL_PRECISION(9));
}

/* --- The command ---------------------------------------------------------- */

/* Reads one of the recordings. Returns false and prints a message if it cannot. */
static bool read_side(struct ncs_compared *all, size_t side)
{
	const struct ncs_options *options = all->options;
	const struct ncs_replay_part part = {
		.since = options->since,
		.until = options->until,
		.pid = options->choice.pid,
		.job = options->choice.job,
		.keeps_ended = true,
	};
	char why[4600];
	int error;

	if (ncs_replay_open(&all->replays[side],
			    (const char *const *)&options->files[side], 1, &part,
			    why, sizeof(why)) != 0) {
		ncs_complain("%s", why);
		return false;
	}
	error = ncs_recorded_job_read(&all->jobs[side], &all->replays[side],
				      options->choice.pid,
				      ncs_finding_sentence);
	if (error) {
		ncs_complain("%s: %s", options->files[side], strerror(-error));
		return false;
	}
	if (all->jobs[side].ranks > 0)
		return true;
	ncs_complain("%s: no rank was recorded", options->files[side]);
	return false;
}

int ncs_compare_run(const struct ncs_command_input *input)
{
	struct ncs_compared all = { .options = input->options };
	struct ncs_replay *after = &all.replays[1];
	int status = NCS_EXIT_NOTHING;

	if (read_side(&all, 0) && read_side(&all, 1)) {
		all.count = ncs_jobs_compare(&all.jobs[0], &all.jobs[1],
					     &all.differences);
		ncs_replay_go(after, after->until_ns, 0);
		status = NCS_EXIT_OK;
		if (all.options->report_path)
			status = ncs_report_write(
				&(struct ncs_command_input){
					.options = all.options,
					.source = after->source,
					.replay = after,
				},
				&all, print_part);
		else if (all.options->format == NCS_DUMP_JSON)
			print_json(input->file, &all);
		else
			print_text(input->file, &all);
	}
	free(all.differences);
	for (size_t side = 0; side < 2; side++) {
		ncs_recorded_job_release(&all.jobs[side]);
		ncs_replay_close(&all.replays[side]);
	}
	return status;
}
