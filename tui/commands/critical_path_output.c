/* SPDX-License-Identifier: MIT */
/* Prints the critical path: as text for users, how the time was spent, by cause, rank,
 * channel and step, and the effects of changes; as JSON, the whole report, as one
 * object on one line. Must not compute anything of the path. */
#include "tui/commands/critical_path_command.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "analysis/base/utf8.h"
#include "analysis/base/value_names.h"
#include "ncclstat/abi_header.h"
#include "ncclstat/tables/what_if.def"
#include "tui/commands/json_values.h"
#include "tui/commands/print_values.h"
#include "tui/text/format.h"

/* --- Conclusion ----------------------------------------------------------- */

struct ncs_phrase ncs_path_rank_name(const struct ncs_recording *recording,
				     const struct ncs_path_owner *owners,
				     uint32_t rank, uint64_t comm_id)
{
	const struct ncs_identity *found = NULL;
	struct ncs_phrase raw, clean;
	bool is_only = true;

	for (size_t i = 0; i < ncs_recording_rank_count(recording); i++) {
		const struct ncs_identity *identity =
			&ncs_recording_rank(recording, i)->header->identity;

		is_only &= identity->comm_id ==
			   ncs_recording_rank(recording, 0)
				   ->header->identity.comm_id;
		if (owners[i].rank == rank &&
		    (comm_id != 0 ? identity->comm_id == comm_id :
				    !found || identity->nranks > found->nranks))
			found = identity;
	}
	raw = ncs_phrase("rank %" PRIu32,
			 found && comm_id != 0 ? (uint32_t)found->rank : rank);
	if (found && (!is_only || found->known & NCS_KNOWN_COMM_NAME))
		ncs_append(raw.text, sizeof(raw.text), "%s",
			   ncs_of(found, NULL).text);
	ncs_utf8_clean(clean.text, sizeof(clean.text), raw.text, false);
	return clean;
}

static double sum_of(const double cause_ns[NCS_PATH_CAUSE_COUNT])
{
	double ns = 0;

	for (unsigned i = 0; i < NCS_PATH_CAUSE_COUNT; i++)
		ns += cause_ns[i];
	return ns;
}

/* Returns the rank with the largest share of a cause's time. */
static uint32_t most_of(const struct ncs_path_view *view, unsigned cause)
{
	const struct ncs_path_sum *sum = &view->report->sums[0];
	uint32_t most = 0;

	for (uint32_t i = 1; i < view->rank_count; i++)
		if (sum->rank_ns[i][cause] > sum->rank_ns[most][cause])
			most = i;
	return most;
}

/* Returns the scenario with the shortest known time; NULL if none is shorter
 * than the job was. */
static const struct ncs_path_sum *best_of(const struct ncs_path_report *report)
{
	const struct ncs_path_sum *best = NULL;

	for (size_t i = 1; i < report->sum_count; i++) {
		const struct ncs_path_sum *sum = &report->sums[i];

		if (sum->is_known &&
		    sum->elapsed_ns < report->sums[0].elapsed_ns &&
		    (!best || sum->elapsed_ns < best->elapsed_ns))
			best = sum;
	}
	return best;
}

/* Writes one sentence on the path: what is avoidable, or that too much is not known.
 * Most work on the path is usual work, so that a cause on it is no loss. */
static void conclude(char *text, size_t size, const struct ncs_path_view *view)
{
	const struct ncs_path_report *report = view->report;
	const struct ncs_path_sum *sum = &report->sums[0];
	const struct ncs_path_sum *best = best_of(report);
	const struct ncs_cost_of_rank *cost =
		report->sum_count > 1 ? report->sums[1].cost : NULL;
	struct ncs_phrase whole = ncs_duration((uint64_t)sum->elapsed_ns);

	text[0] = '\0';
	if (!sum->is_known) {
		ncs_append(text, size,
			   "No conclusion: %.1f %% of the path is not known.",
			   sum->elapsed_ns > 0 ?
				   100 * sum->unknown_ns / sum->elapsed_ns :
				   100);
	} else if (best) {
		ncs_append(text, size,
			   "%.1f %% of %s is avoidable: %s by --what-if=%s.",
			   100 - 100 * best->elapsed_ns / sum->elapsed_ns,
			   whole.text,
			   ncs_duration((uint64_t)best->elapsed_ns).text,
			   best->scenario->text);
	} else if (cost && cost->unknown != NCS_COST_KNOWN) {
		ncs_append(text, size,
			   "How much of %s is avoidable is not known: %s.",
			   whole.text, ncs_cost_unknown_help(cost->unknown));
	} else if (report->sum_count > 1) {
		ncs_append(text, size, "Nothing of %s is avoidable so.",
			   whole.text);
	} else {
		ncs_append(
			text, size,
			"How much of %s is avoidable: --what-if=without:stragglers tells.",
			whole.text);
	}
}

/* --- Text ----------------------------------------------------------------- */

/* Largest number of rows of tables that could be very long. */
#define RANKS_MOST 16u
#define CHANNELS_MOST 10u
#define STEPS_MOST 16u

#define TIME_COLUMNS 9

/* Returns a time to be printed: one that is negative is 0. */
static uint64_t from_zero(double ns)
{
	return ns > 0 ? (uint64_t)ns : 0;
}

static void print_time(FILE *file, double ns)
{
	char text[NCS_FORMAT_MAX];

	ncs_format_duration(text, sizeof(text), from_zero(ns), TIME_COLUMNS);
	fprintf(file, "%*s", TIME_COLUMNS, text);
}

static struct ncs_phrase name_of(const struct ncs_path_view *view,
				 uint32_t rank, uint64_t comm_id)
{
	return ncs_path_rank_name(view->replay->recording, view->owners, rank,
				  comm_id);
}

/* Whether a cause took a time worth a row: the JSON, too, has whole ns. */
static bool took_time(double ns)
{
	return ns >= 0.5;
}

static double percent(double part, double whole)
{
	return whole > 0 ? 100 * part / whole : 0;
}

/* Prints how many there are of what the path cannot rely on, if any. */
static void print_doubt(FILE *file, uint64_t count, const char *doubt)
{
	if (count > 0)
		fprintf(file, "  %" PRIu64 " %s\n", count, doubt);
}

/* Prints how far the result can be trusted. */
static void print_trust(FILE *file, const struct ncs_path_view *view)
{
	const struct ncs_path_report *report = view->report;
	const struct ncs_path_trust *trust = &report->trust;
	const struct ncs_path_sum *sum = &report->sums[0];
	const char *separator = "";

	fputs("arrivals by", file);
	for (unsigned i = 0; i < NCS_MOMENT_COUNT; i++) {
		if (trust->arrivals[i] == 0)
			continue;
		fprintf(file, "%s %s %" PRIu64, separator, ncs_moment_name(i),
			trust->arrivals[i]);
		separator = ",";
	}
	fprintf(file, "; not known: %.1f %% of the path\n",
		percent(sum->unknown_ns, sum->elapsed_ns));
	print_doubt(file, trust->arrivals[NCS_MOMENT_OPERATION],
		    "operations: only the host's launch, not when the GPU could"
		    " begin");
	print_doubt(file, trust->endless, "operations: when they ended");
	print_doubt(file, trust->incomplete, "operations: not of all ranks");
	print_doubt(file, trust->unrecorded,
		    "operations: of ranks of which there is no recording");
	print_doubt(file, trust->unseen,
		    "operations: without a record, between others");
	print_doubt(file, trust->to_itself,
		    "operations: of a rank with itself, not modelled");
	print_doubt(file, view->count.join.again,
		    "parts: of operations that the rank was in already");
	print_doubt(file, view->count.join.unidentified,
		    "parts: of no known rank");
	print_doubt(file, view->count.records_lost, "records: lost");
	if (report->sum_count > 1)
		print_doubt(file, trust->queued_parts,
			    "parts: when they were ready, as they were queued");
	if (report->forgotten > 0 || report->breaks > 0)
		fprintf(file,
			"not exact: %" PRIu64 " parts had too many before them,"
			" and the path was cut %" PRIu64 " times\n",
			report->forgotten, report->breaks);
}

static void print_head(FILE *file, const struct ncs_path_view *view)
{
	const struct ncs_path_report *report = view->report;
	double error = percent(report->sums[0].elapsed_ns - report->measured_ns,
			       report->measured_ns);
	uint64_t transfers_ns = view->replay->error_ns;

	ncs_print(file, "critical path of $u operations\nelapsed $d",
		  report->operations, (uint64_t)report->measured_ns);
	if (fabs(error) >= 0.005)
		fprintf(file, "; replayed without any change %+.2f %%", error);
	fputc('\n', file);
	if (ncs_recording_host_count(view->replay->recording) > 1) {
		if (transfers_ns == UINT64_MAX)
			fputs("how far apart the clocks of the hosts are is not"
			      " known\n",
			      file);
		else
			ncs_print(file,
				  "clocks of the hosts are within $d of each"
				  " other\n",
				  transfers_ns);
	}
	print_trust(file, view);
}

static void print_causes(FILE *file, const struct ncs_path_view *view)
{
	const struct ncs_path_sum *sum = &view->report->sums[0];

	fputs("\nSPENT IN       TIME      %   MOST OF IT\n", file);
	for (unsigned i = 0; i < NCS_PATH_CAUSE_COUNT; i++) {
		uint32_t rank = most_of(view, i);

		if (!took_time(sum->cause_ns[i]))
			continue;
		fprintf(file, "%-10s", ncs_path_cause_name(i));
		print_time(file, sum->cause_ns[i]);
		fprintf(file, " %6.1f",
			percent(sum->cause_ns[i], sum->elapsed_ns));
		if (i != NCS_PATH_START)
			fprintf(file, "   %s: %.1f %%",
				name_of(view, rank, 0).text,
				percent(sum->rank_ns[rank][i],
					sum->cause_ns[i]));
		fputc('\n', file);
	}
	if (took_time(sum->uncounted_ns)) {
		fputs("elsewhere ", file);
		print_time(file, sum->uncounted_ns);
		fprintf(file, " %6.1f\n",
			percent(sum->uncounted_ns, sum->elapsed_ns));
	}
}

struct path_rank_time {
	uint32_t rank;
	double ns;
};

static int compare_times(const void *a, const void *b)
{
	const struct path_rank_time *first = a, *second = b;

	return (first->ns < second->ns) - (first->ns > second->ns);
}

static void print_ranks(FILE *file, const struct ncs_path_view *view)
{
	const struct ncs_path_sum *sum = &view->report->sums[0];
	struct path_rank_time *times =
		calloc(view->rank_count + 1, sizeof(*times));
	size_t count = 0;

	if (!times)
		return;
	for (uint32_t i = 0; i < view->rank_count; i++) {
		double ns = sum_of(sum->rank_ns[i]);

		if (ns > 0)
			times[count++] = (struct path_rank_time){ i, ns };
	}
	qsort(times, count, sizeof(*times), compare_times);
	fputs("\n RANK     TIME      %", file);
	for (unsigned k = 0; k < NCS_PATH_START; k++)
		if (took_time(sum->cause_ns[k]))
			fprintf(file, " %9s", ncs_path_cause_name(k));
	fputc('\n', file);
	for (size_t i = 0; i < count && i < RANKS_MOST; i++) {
		fprintf(file, "%5" PRIu32, times[i].rank);
		print_time(file, times[i].ns);
		fprintf(file, " %6.1f", percent(times[i].ns, sum->elapsed_ns));
		for (unsigned k = 0; k < NCS_PATH_START; k++) {
			if (!took_time(sum->cause_ns[k]))
				continue;
			fputc(' ', file);
			print_time(file, sum->rank_ns[times[i].rank][k]);
		}
		fputc('\n', file);
	}
	if (count > RANKS_MOST)
		fprintf(file, "  and %zu more\n", count - RANKS_MOST);
	free(times);
}

static void print_channels(FILE *file, const struct ncs_path_view *view)
{
	const struct ncs_path_report *report = view->report;

	if (report->channel_count == 0)
		return;
	fputs("\n     TIME      % CHANNEL THAT ENDED LAST\n", file);
	for (size_t i = 0; i < report->channel_count && i < CHANNELS_MOST;
	     i++) {
		const struct ncs_path_channel *channel = &report->channels[i];

		print_time(file, channel->ns);
		fprintf(file, " %6.1f %s, channel %u %s %" PRId32 "\n",
			percent(channel->ns, report->sums[0].elapsed_ns),
			name_of(view, channel->rank, channel->comm_id).text,
			channel->channel,
			channel->send ? "send to" : "recv from", channel->peer);
	}
	if (report->channel_count > CHANNELS_MOST)
		fprintf(file, "  and %zu more\n",
			report->channel_count - CHANNELS_MOST);
}

static unsigned largest_cause(const double cause_ns[NCS_PATH_CAUSE_COUNT])
{
	unsigned largest = 0;

	for (unsigned k = 1; k < NCS_PATH_CAUSE_COUNT; k++)
		if (cause_ns[k] > cause_ns[largest])
			largest = k;
	return largest;
}

static void print_steps(FILE *file, const struct ncs_path_view *view)
{
	const struct ncs_path_report *report = view->report;
	size_t first = 1;

	if (report->step_count < 2)
		return;
	if (report->step_count > STEPS_MOST)
		first = report->step_count - STEPS_MOST;
	fprintf(file, "\n%zu steps%s\n STEP     TIME   MOST OF IT\n",
		report->step_count, first > 1 ? ", of which the last" : "");
	for (size_t i = first; i < report->step_count; i++) {
		const struct ncs_path_step *step = &report->steps[i];
		unsigned cause = largest_cause(step->cause_ns);
		double ns = step->end_ns[0] - report->steps[i - 1].end_ns[0];
		/* Percentages are of this sum, not of `ns`: operations of
		 * neighbouring steps overlap. */
		double path_ns = sum_of(step->cause_ns);

		fprintf(file, "%5zu", i);
		print_time(file, ns);
		fprintf(file, "   %s %.1f %%, %s %.1f %%\n",
			ncs_path_cause_name(cause),
			percent(step->cause_ns[cause], path_ns),
			name_of(view, step->rank, 0).text,
			percent(step->rank_ns, path_ns));
	}
}

/* Prints what is known of the time without ranks: between which times it lies, or
 * why nothing is. */
static void print_cost(FILE *file, const struct ncs_path_sum *before,
		       const struct ncs_path_sum *sum)
{
	if (!sum->cost)
		return;
	if (sum->cost->unknown != NCS_COST_KNOWN) {
		fprintf(file, "%38s not known: %s\n", "",
			ncs_cost_unknown_help(sum->cost->unknown));
		return;
	}
	if (!sum->is_known)
		return;
	fprintf(file, "%38s", "");
	ncs_print(file, " between $d and $d: gains between $d and $d\n",
		  from_zero(sum->at_least_ns), from_zero(sum->at_most_ns),
		  from_zero(before->elapsed_ns - sum->at_most_ns),
		  from_zero(before->elapsed_ns - sum->at_least_ns));
}

static void print_scenarios(FILE *file, const struct ncs_path_view *view)
{
	const struct ncs_path_report *report = view->report;
	const struct ncs_path_sum *before = &report->sums[0];

	if (report->sum_count < 2)
		return;
	fputs("\n   BEFORE     AFTER SPEEDUP NOT KNOWN WHAT IF\n", file);
	for (size_t i = 1; i < report->sum_count; i++) {
		const struct ncs_path_sum *sum = &report->sums[i];

		print_time(file, before->elapsed_ns);
		fputc(' ', file);
		if (sum->is_known) {
			print_time(file, sum->elapsed_ns);
			fprintf(file, " %7.3f",
				sum->elapsed_ns > 0 ?
					before->elapsed_ns / sum->elapsed_ns :
					1);
		} else {
			fprintf(file, "%*s %7s", TIME_COLUMNS, "-", "-");
		}
		fprintf(file, " %8.1f%% %s\n",
			percent(sum->unknown_ns, sum->elapsed_ns),
			sum->scenario->text);
		print_cost(file, before, sum);
		fputs("                                      ", file);
		for (unsigned k = 0; k < NCS_PATH_CAUSE_COUNT; k++)
			if (percent(sum->cause_ns[k], sum->elapsed_ns) >= 0.05)
				fprintf(file, " %s %.1f %%",
					ncs_path_cause_name(k),
					percent(sum->cause_ns[k],
						sum->elapsed_ns));
		fputc('\n', file);
	}
}

static bool leaves_rank_out(const struct ncs_path_report *report)
{
	for (size_t i = 1; i < report->sum_count; i++)
		if (report->sums[i].scenario->kind == NCS_WHAT_IF_WITHOUT)
			return true;
	return false;
}

/* Prints what the words above mean, as far as they are there. */
static void print_legend(FILE *file, const struct ncs_path_view *view)
{
	const struct ncs_path_sum *sum = &view->report->sums[0];
	static const char *const helps[] = {
#define X(ID, name, help) [NCS_PATH_##ID] = help,
		NCS_PATH_CAUSES(X)
#undef X
	};

	fputs("\nLEGEND\n", file);
	for (unsigned i = 0; i < NCS_PATH_CAUSE_COUNT; i++)
		if (took_time(sum->cause_ns[i]))
			fprintf(file, "%-10s%s\n", ncs_path_cause_name(i),
				helps[i]);
	if (took_time(sum->uncounted_ns))
		fputs("elsewhere in operations outside of --range\n", file);
	fputs("RANK      a GPU of a process, by its rank in its largest"
	      " communicator\n",
	      file);
	if (view->report->sum_count > 1)
		fputs("AFTER     the time with the change; - if more than 5 %"
		      " of it is not known\n"
		      "NOT KNOWN share of the path in operations whose times"
		      " are not known, and in\n"
		      "          transfers that the change concerns but whose"
		      " times tell too little\n",
		      file);
	if (leaves_rank_out(view->report))
		fputs("without   the gain is the rank's cost in the"
		      " recording, as %COST is\n"
		      "          other GPUs are taken to be as fast as they"
		      " were; at full power, those\n"
		      "          that rested while they waited are slower: the"
		      " gain is up to a sixth less\n",
		      file);
}

/* --- JSON ----------------------------------------------------------------- */

/* Returns a time in whole ns: fractions only result from dividing times among
 * causes, and have no meaning. */
static json_t *ns_of(double ns)
{
	return json_integer(llround(ns));
}

NCS_JSON_MAP(
	static json_t *causes_of(const double cause_ns[NCS_PATH_CAUSE_COUNT]),
	0, NCS_PATH_CAUSE_COUNT, ncs_path_cause_name, ns_of(cause_ns[i]))

/* Returns NULL for a rank that is not on the path. */
static json_t *rank_of(const double cause_ns[NCS_PATH_CAUSE_COUNT], size_t rank)
{
	double ns = sum_of(cause_ns);

	return ns > 0 ? NCS_JSON_OBJECT({ "rank", NCS_JSON(rank) },
					{ "time_ns", ns_of(ns) },
					{ "causes_ns", causes_of(cause_ns) }) :
			NULL;
}

NCS_JSON_ARRAY(static json_t *ranks_of(const struct ncs_path_view *view,
				       const struct ncs_path_sum *sum),
	       view->rank_count, rank_of(sum->rank_ns[i], i))

static json_t *channel_of(const struct ncs_path_channel *channel)
{
	char id[17];

	snprintf(id, sizeof(id), "%016" PRIx64, channel->comm_id);
	return NCS_JSON_OBJECT({ "rank", NCS_JSON(channel->rank) },
			       { "communicator_id", NCS_JSON(id) },
			       { "channel", NCS_JSON(channel->channel) },
			       { "direction",
				 NCS_JSON(channel->send ? "send" : "recv") },
			       { "peer", NCS_JSON(channel->peer) },
			       { "time_ns", ns_of(channel->ns) });
}

NCS_JSON_ARRAY(static json_t *channels_of(const struct ncs_path_report *report),
	       report->channel_count, channel_of(&report->channels[i]))

NCS_JSON_ARRAY(static json_t *ends_of(const struct ncs_path_step *step,
				      size_t count),
	       count, step->has_end ? ns_of(step->end_ns[i]) : json_null())

static json_t *step_of(const struct ncs_path_report *report, size_t index)
{
	const struct ncs_path_step *step = &report->steps[index];

	return NCS_JSON_OBJECT({ "step", NCS_JSON(index) },
			       { "ends_ns", ends_of(step, report->sum_count) },
			       { "causes_ns", causes_of(step->cause_ns) },
			       { "rank", NCS_JSON(step->rank) },
			       { "rank_ns", ns_of(step->rank_ns) });
}

NCS_JSON_ARRAY(static json_t *steps_of(const struct ncs_path_report *report),
	       report->step_count, step_of(report, i))

static json_t *scenario_of(const struct ncs_path_view *view, size_t index)
{
	const struct ncs_path_sum *sums = view->report->sums;
	const struct ncs_path_sum *sum = &sums[index];
	bool has_bounds = sum->is_known && sum->cost;
	bool is_unknown = sum->cost && sum->cost->unknown != NCS_COST_KNOWN;

	return NCS_JSON_OBJECT(
		{ "what_if", NCS_JSON(sum->scenario->text) },
		{ "before_ns", ns_of(sums[0].elapsed_ns) },
		{ "after_ns",
		  sum->is_known ? ns_of(sum->elapsed_ns) : json_null() },
		{ "after_at_least_ns",
		  has_bounds ? ns_of(sum->at_least_ns) : json_null() },
		{ "after_at_most_ns",
		  has_bounds ? ns_of(sum->at_most_ns) : json_null() },
		{ "cost_unknown",
		  NCS_JSON_IF(is_unknown,
			      ncs_cost_unknown_name(sum->cost->unknown)) },
		{ "unknown_ns", ns_of(sum->unknown_ns) },
		{ "elsewhere_ns", ns_of(sum->uncounted_ns) },
		{ "causes_ns", causes_of(sum->cause_ns) },
		{ "ranks", ranks_of(view, sum) });
}

/* The first sum is that of the job as it was. */
NCS_JSON_ARRAY(static json_t *scenarios_of(const struct ncs_path_view *view),
	       view->report->sum_count - 1, scenario_of(view, i + 1))

static json_t *trust_of(const struct ncs_path_view *view)
{
	const struct ncs_path_trust *trust = &view->report->trust;

	return NCS_JSON_OBJECT(
		{ "unknown_ns", ns_of(view->report->sums[0].unknown_ns) },
		{ "told_by",
		  ncs_json_counts(ncs_moment_name, trust->arrivals,
				  NCS_MOMENT_OPERATION, NCS_MOMENT_DATA + 1) },
		{ "endless", NCS_JSON(trust->endless) },
		{ "incomplete", NCS_JSON(trust->incomplete) },
		{ "unrecorded", NCS_JSON(trust->unrecorded) },
		{ "to_itself", NCS_JSON(trust->to_itself) },
		{ "unseen", NCS_JSON(trust->unseen) },
		{ "queued_parts", NCS_JSON(trust->queued_parts) },
		{ "again", NCS_JSON(view->count.join.again) },
		{ "unidentified", NCS_JSON(view->count.join.unidentified) },
		{ "records_lost", NCS_JSON(view->count.records_lost) });
}

static void print_json(FILE *file, const struct ncs_path_view *view,
		       const char *conclusion)
{
	const struct ncs_path_report *report = view->report;
	const struct ncs_path_sum *replayed = &report->sums[0];
	uint64_t error_ns = view->replay->error_ns;
	json_t *object = ncs_json_document();

	NCS_JSON_ADD(object, { "schema", NCS_JSON(NCS_JSON_SCHEMA) },
		     { "conclusion", NCS_JSON(conclusion) },
		     { "operations", NCS_JSON(report->operations) },
		     { "trust", trust_of(view) },
		     { "clock_error_ns",
		       NCS_JSON_IF(error_ns != UINT64_MAX, error_ns) },
		     { "forgotten", NCS_JSON(report->forgotten) },
		     { "breaks", NCS_JSON(report->breaks) },
		     { "elapsed_ns", ns_of(report->measured_ns) },
		     { "replayed_ns", ns_of(replayed->elapsed_ns) },
		     { "elsewhere_ns", ns_of(replayed->uncounted_ns) },
		     { "causes_ns", causes_of(replayed->cause_ns) },
		     { "ranks", ranks_of(view, replayed) },
		     { "channels", channels_of(report) },
		     { "steps", steps_of(report) },
		     { "what_if", scenarios_of(view) });
	ncs_json_print(file, object, JSON_COMPACT);
}

void ncs_critical_path_print(FILE *file, const struct ncs_path_view *view)
{
	char conclusion[512];

	conclude(conclusion, sizeof(conclusion), view);
	if (view->options->format == NCS_DUMP_JSON) {
		print_json(file, view, conclusion);
		return;
	}
	fprintf(file, "%s\n\n", conclusion);
	print_head(file, view);
	print_causes(file, view);
	print_ranks(file, view);
	print_channels(file, view);
	print_steps(file, view);
	print_scenarios(file, view);
	print_legend(file, view);
}
