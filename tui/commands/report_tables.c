/* SPDX-License-Identifier: MIT */
/* The parts of a report that are sentences and tables; see report_parts.h. */
#include <stdlib.h>
#include <string.h>

#include "analysis/base/value_names.h"
#include "analysis/model/moving.h"
#include "ncclstat/version.h"
#include "tui/commands/job_stacks.h"
#include "tui/commands/report_parts.h"
#include "tui/text/finding_text.h"
#include "tui/text/job_text.h"
#include "tui/text/job_verdict.h"
#include "tui/text/words.h"

/* More rows of a table, and ranks of a matrix, are left to the data. */
#define ROWS_MOST ((size_t)256)
#define LINKS_MOST 64

#define TABLE_END "</tbody></table></div>\n"
#define TITLE(name) "<th scope=\"col\">" name "</th>"
#define TITLE_RIGHT(name) "<th scope=\"col\" class=\"n\">" name "</th>"
#define BODY "</tr></thead><tbody>\n"

static void say_left_out(FILE *file, size_t count)
{
	if (count > ROWS_MOST)
		ncs_html_print(file, "<p>$n more are in the data.</p>\n",
			       count - ROWS_MOST);
}

/* --- The verdict ---------------------------------------------------------- */

int ncs_report_title(FILE *file, const struct ncs_report *report)
{
	const struct ncs_model *model = report->model;
	char job[64] = "";

	ncs_append_job(model->ranks[0], job, sizeof(job));
	ncs_html_print(file, "$s, $n rank$s$s$s", report->stamp->host,
		       model->rank_count, model->rank_count == 1 ? "" : "s",
		       job[0] ? ", job " : "", job);
	return 0;
}

static void print_finding(FILE *file, const struct ncs_finding *finding)
{
	char text[NCS_SENTENCE_MAX];

	ncs_finding_sentence(finding, text, sizeof(text));
	ncs_html_print(file, "<li><strong>$s</strong>: $s<ul>\n",
		       ncs_severity_name(finding->severity), text);
	ncs_finding_certainty(finding, text, sizeof(text));
	ncs_html_print(file, "<li>$s: $s</li>\n",
		       ncs_confidence_name(finding->confidence), text);
	for (size_t i = 0; i < finding->evidence_count; i++) {
		ncs_evidence_text(&finding->evidence[i], text, sizeof(text));
		ncs_html_print(file, "<li>seen: $s</li>\n", text);
	}
	ncs_html_print(file, "<li>next: $s</li>\n</ul></li>\n",
		       ncs_finding_next(finding));
}

int ncs_report_verdict(FILE *file, const struct ncs_report *report)
{
	const struct ncs_episodes *episodes = report->stamp->episodes;
	const struct ncs_episode *worst = &episodes->all[0];
	const struct ncs_diagnosis *diagnosis = report->diagnosis;
	const char *end = "<p class=\"verdict\">$s</p>\n";
	char text[NCS_SENTENCE_MAX + 64];

	if (episodes->count > 0 &&
	    worst->severity >= ncs_job_severity(diagnosis, report->model)) {
		const char *name = ncs_severity_name(worst->severity);

		ncs_html_print(file,
			       "<p class=\"verdict\"><strong class=\"$s\">$s"
			       "</strong> from $t to $t: $s</p>\n",
			       name, name, report->replay, worst->from_ns,
			       report->replay, worst->until_ns,
			       worst->sentence);
		/* The findings below have the same sentence. */
		end = diagnosis->count > 0 ?
			      "<p>At the end of the recording:</p>\n" :
			      "<p>At the end of the recording: $s</p>\n";
	}
	ncs_verdict_line(diagnosis, report->model, text, sizeof(text));
	ncs_html_print(file, end, text);
	if (diagnosis->count > 0)
		fputs("<ul>\n", file);
	for (size_t i = 0; i < diagnosis->count; i++)
		print_finding(file, &diagnosis->findings[i]);
	if (diagnosis->count > 0)
		fputs("</ul>\n", file);
	return 0;
}

int ncs_report_stacks(FILE *file, const struct ncs_report *report)
{
	char *text = NULL, *rest, *line;
	size_t size;
	FILE *memory = report->stamp->stacks ? open_memstream(&text, &size) :
					       NULL;

	if (!memory)
		return 0;
	ncs_job_stacks_text(memory, report->stamp->stacks, false);
	fclose(memory);
	fputs("<pre class=\"scroll\" tabindex=\"0\" role=\"region\""
	      " aria-label=\"Stacks\">", file);
	for (rest = text; (line = strsep(&rest, "\n"));)
		ncs_html_print(file, "$s\n", line);
	fputs("</pre>\n", file);
	free(text);
	return 0;
}

/* Appends the name of the rank that an episode blames, as findings have it. */
static void append_culprit(const struct ncs_report *report,
			   const struct ncs_episode *episode, char *text,
			   size_t size)
{
	const struct ncs_model *model = report->model;

	for (size_t i = 0; i < model->rank_count; i++) {
		const struct ncs_rank *rank = model->ranks[i];

		if (!rank->communicator ||
		    rank->now.identity.rank != episode->rank ||
		    strcmp(rank->communicator->key, episode->communicator) != 0)
			continue;
		ncs_append(text, size, "%s", ncs_rank_of(rank).text);
		return;
	}
	snprintf(text, size, "it");
}

int ncs_report_gain(FILE *file, const struct ncs_report *report)
{
	const struct ncs_episodes *episodes = report->stamp->episodes;

	for (size_t i = 0; i < episodes->count; i++) {
		const struct ncs_episode *one = &episodes->all[i];
		char name[300] = "";
		struct ncs_phrase after;

		if (one->step_ns <= 0 || one->share <= 0)
			continue;
		append_culprit(report, one, name, sizeof(name));
		after = ncs_bounded(100 * one->step_ns * (1 - one->share),
				    100 * one->step_ns * (1 - one->share_most),
				    100 * one->step_ns *
					    (1 - one->share_least));
		ncs_html_print(
			file,
			"<p>Gain: without $s, 100 steps take $s in place of"
			" $d, as it was from $t to $t: $n % is avoidable.</p>\n",
			name, after.text, (uint64_t)(100 * one->step_ns),
			report->replay, one->from_ns, report->replay,
			one->until_ns, (size_t)(100 * one->share + 0.5));
		return 0;
	}
	return 0;
}

int ncs_report_episodes(FILE *file, const struct ncs_report *report)
{
	const struct ncs_episodes *episodes = report->stamp->episodes;

	if (episodes->count == 0) {
		fputs("<p>Nothing was slow or stuck.</p>\n", file);
		return 0;
	}
	fputs(NCS_REPORT_TABLE("Episodes, the worst first") TITLE("Verdict")
		      TITLE_RIGHT("From") TITLE_RIGHT("Until") TITLE_RIGHT("Lasts")
			      TITLE_RIGHT("% cost") TITLE("What") BODY,
	      file);
	for (size_t i = 0; i < episodes->count && i < ROWS_MOST; i++) {
		const struct ncs_episode *episode = &episodes->all[i];
		const char *name = ncs_severity_name(episode->severity);
		struct ncs_value cost = { 0 };

		if (episode->shares > 0)
			ncs_value_set_real(&cost, NCS_VALUE_SHARE, episode->share);
		ncs_html_print(file,
			       "<tr><th scope=\"row\" class=\"$s\">$s</th>"
			       "<td class=\"n\">$t</td><td class=\"n\">$t</td>"
			       "<td class=\"n\">$d</td><td class=\"n\">$v</td>"
			       "<td class=\"text\">$s</td></tr>\n",
			       name, name, report->replay, episode->from_ns,
			       report->replay, episode->until_ns,
			       episode->until_ns - episode->from_ns, &cost,
			       episode->sentence);
	}
	fputs(TABLE_END, file);
	say_left_out(file, episodes->count);
	return 0;
}

/* --- Tables of views ------------------------------------------------------ */

/* Roots of findings come first; then the rank whose lateness costs most, unknown
 * costs last. */
static int compare_ranks(const void *left, const void *right, void *diagnosis)
{
	const struct ncs_column *column = &ncs_columns[NCS_COLUMN_RANK_LATE_COST];
	const struct ncs_row *a = left, *b = right;
	struct ncs_value of_a, of_b;
	int order = ncs_is_root(diagnosis, b->rank) -
		    ncs_is_root(diagnosis, a->rank);

	ncs_column_get(column, a, &of_a);
	ncs_column_get(column, b, &of_b);
	if (!order)
		order = ncs_value_order(&of_a, &of_b, true);
	return order ? order : ncs_rank_compare(a->rank, b->rank);
}

/* Whether a table has a column: one for all users, known in a row at least. */
static bool is_shown(const struct ncs_column *column, const struct ncs_row *rows,
		     size_t count)
{
	struct ncs_value value = { 0 };

	if (column->view != rows->view || column->level != NCS_COLUMN_INFO)
		return false;
	for (size_t i = 0; i < count && value.kind == NCS_VALUE_NONE; i++)
		ncs_column_get(column, &rows[i], &value);
	return value.kind != NCS_VALUE_NONE && value.kind != NCS_VALUE_RECENT;
}

/* Prints the peak of a communicator's links, and the share of it. */
static void print_peak(FILE *file, const struct ncs_row *row)
{
	struct ncs_peak peak = ncs_communicator_peak(row->communicator);
	struct ncs_value value = { 0 }, share = { 0 }, busbw;

	ncs_column_get(&ncs_columns[NCS_COLUMN_COLLECTIVE_BUSBW], row, &busbw);
	if (peak.gigabytes > 0)
		ncs_value_set_real(&value, NCS_VALUE_REAL, peak.gigabytes);
	if (peak.gigabytes > 0 && busbw.kind == NCS_VALUE_REAL)
		ncs_value_set_real(&share, NCS_VALUE_SHARE,
				   busbw.real / peak.gigabytes);
	ncs_html_print(file, "<td class=\"n\">$v</td><td class=\"n\">$v</td>",
		       &value, &share);
}

static void print_row(FILE *file, const struct ncs_row *row, const bool *shown)
{
	const char *tag = "th scope=\"row\"", *end = "th";
	struct ncs_value value;

	fputs("<tr>", file);
	for (size_t i = 0; i < ncs_column_count; i++) {
		if (!shown[i])
			continue;
		ncs_column_get(&ncs_columns[i], row, &value);
		fprintf(file, "<%s", tag);
		ncs_html_print(file, " class=\"$s\">$v</$s>",
			       ncs_columns[i].align == NCS_ALIGN_RIGHT ? "n" : "",
			       &value, end);
		tag = end = "td";
	}
	if (row->view == NCS_VIEW_RANK)
		ncs_html_print(file, "<td>$s</td>", row->rank->process.host);
	if (row->view == NCS_VIEW_COLLECTIVE)
		print_peak(file, row);
	fputs("</tr>\n", file);
}

static void print_rows(FILE *file, const struct ncs_row *rows, size_t count)
{
	bool shown[NCS_COLUMN_COUNT];

	ncs_html_print(file, NCS_REPORT_TABLE("$s"),
		       ncs_views[rows->view].option);
	for (size_t i = 0; i < ncs_column_count; i++) {
		const struct ncs_column *column = &ncs_columns[i];

		shown[i] = is_shown(column, rows, count);
		if (shown[i])
			ncs_html_print(
				file,
				"<th scope=\"col\" class=\"$s\"><abbr title=\"$s\">"
				"$s</abbr></th>",
				column->align == NCS_ALIGN_RIGHT ? "n" : "",
				column->help, column->title);
	}
	if (rows->view == NCS_VIEW_RANK)
		fputs(TITLE("HOST"), file);
	if (rows->view == NCS_VIEW_COLLECTIVE)
		fputs(TITLE_RIGHT("PEAK GB/s") TITLE_RIGHT("%PEAK"), file);
	fputs(BODY, file);
	for (size_t i = 0; i < count && i < ROWS_MOST; i++)
		print_row(file, &rows[i], shown);
	fputs(TABLE_END, file);
	say_left_out(file, count);
}

int ncs_report_view(FILE *file, const struct ncs_report *report,
		    enum ncs_view view)
{
	struct ncs_row *rows = NULL;
	size_t capacity = 0;
	int count = ncs_rows(report->model, view, &rows, &capacity);

	if (count > 0 && view == NCS_VIEW_RANK)
		qsort_r(rows, (size_t)count, sizeof(*rows), compare_ranks,
			report->diagnosis);
	if (count > 0)
		print_rows(file, rows, (size_t)count);
	else
		fputs("<p>There are none.</p>\n", file);
	free(rows);
	return count < 0 ? count : 0;
}

/* --- Links ---------------------------------------------------------------- */

/* Prints the bytes that a rank sent to each of the others. */
static void print_sent(FILE *file, const struct ncs_rank *rank, int nranks)
{
	ncs_html_print(file, "<tr><th scope=\"row\" class=\"n\">$n</th>",
		       (size_t)rank->now.identity.rank);
	for (int to = 0; to < nranks; to++) {
		struct ncs_value value = { 0 };
		uint64_t sent = 0;

		for (size_t i = 0; i < rank->now.channel_count; i++)
			if (rank->now.channels[i].send &&
			    rank->now.channels[i].peer == to &&
			    ncs_channel_bytes_known(&rank->now.channels[i]))
				sent += rank->now.channels[i].bytes;
		if (sent > 0)
			ncs_value_set(&value, NCS_VALUE_BYTES, sent);
		ncs_html_print(file, "<td class=\"n\">$v</td>", &value);
	}
	fputs("</tr>\n", file);
}

/* Prints the matrix of a communicator. Returns whether there is one. */
static bool print_matrix(FILE *file, const struct ncs_communicator *communicator)
{
	int nranks = communicator->identity->nranks;
	size_t channels = 0;
	char name[128];

	for (size_t i = 0; i < communicator->numbered_count; i++)
		channels += communicator->numbered[i]->now.channel_count;
	if (!(communicator->identity->known & NCS_KNOWN_NRANKS) ||
	    nranks > LINKS_MOST || channels == 0)
		return false;
	ncs_comm_text(communicator->identity, name, sizeof(name));
	ncs_html_print(file,
		       "<p>Bytes that a rank (line) of $s sent to another (column):"
		       "</p>\n" NCS_REPORT_TABLE("Bytes between ranks") TITLE_RIGHT("RANK"),
		       name);
	for (int i = 0; i < nranks; i++)
		ncs_html_print(file, TITLE_RIGHT("$n"), (size_t)i);
	fputs(BODY, file);
	for (size_t i = 0; i < communicator->numbered_count; i++)
		print_sent(file, communicator->numbered[i], nranks);
	fputs(TABLE_END, file);
	return true;
}

int ncs_report_links(FILE *file, const struct ncs_report *report)
{
	const struct ncs_model *model = report->model;
	bool some = false;

	for (size_t i = 0; i < model->communicator_count; i++)
		some |= print_matrix(file, &model->communicators[i]);
	if (!some)
		ncs_html_print(file, "<p>No communicator of up to $n ranks used"
				     " channels of the network.</p>\n",
			       (size_t)LINKS_MOST);
	return 0;
}

/* --- Not seen, made ------------------------------------------------------- */

int ncs_report_unseen(FILE *file, const struct ncs_report *report)
{
	const struct ncs_model *model = report->model;
	const struct ncs_recording_facts *facts =
		ncs_recording_facts(report->replay->recording);
	char text[NCS_SENTENCE_MAX];

	fputs("<ul>\n", file);
	for (size_t i = 0; ncs_unchecked_text(model, i, text, sizeof(text)); i++)
		ncs_html_print(file, "<li>not checked: $s</li>\n", text);
	for (size_t i = 0; i < model->unreadable_count; i++)
		ncs_html_print(file, "<li>not readable: $s: $s</li>\n",
			       model->unreadable[i].id, model->unreadable[i].why);
	ncs_html_print(file,
		       "<li>$n records that were overwritten before they were"
		       " recorded, $n damaged parts of files, $n files that have"
		       " no end</li>\n<li>what had happened before the recording"
		       " began$s</li>\n</ul>\n",
		       (size_t)facts->lost, (size_t)facts->damaged_chunks,
		       facts->cut_files,
		       report->stamp->stacks ?
			       "" :
			       ", and the stacks of processes");
	return 0;
}

int ncs_report_made(FILE *file, const struct ncs_report *report)
{
	const struct ncs_replay *replay = report->replay;
	const struct ncs_options *options = report->options;
	const struct ncs_rank *rank = report->model->ranks[0];
	struct ncs_phrase begun = ncs_dump_time(
		ncs_replay_realtime_ns(replay, replay->all.from_ns));
	char text[64];

	ncs_html_print(file,
		       "<ul>\n<li>by ncclstat " NCS_VERSION_TEXT ", from a"
		       " recording that began at $s and took $t</li>\n"
		       "<li><code>ncclstat$s --report=$s",
		       begun.text[0] ? begun.text : "-", replay,
		       replay->all.until_ns,
		       report->compared ? " --compare" : "",
		       options->report_path);
	if (options->given & NCS_OPTION_BIT(NCS_OPTION_DURATION))
		ncs_html_print(file, " --duration=$f",
			       (double)options->recording.duration_ns / 1e9);
	else
		for (size_t i = 0; i < options->file_count; i++)
			ncs_html_print(file, " $s", options->files[i]);
	ncs_html_print(file, "</code></li>\n<li>hosts: $s</li>\n", replay->hosts);
	if (rank->now.identity.known & NCS_KNOWN_NCCL_VERSION) {
		ncs_nccl_version_text(rank->now.identity.nccl_version, text,
				      sizeof(text));
		ncs_html_print(file, "<li>NCCL $s</li>\n", text);
	}
	for (const char *label = rank->labels; label && *label;
	     label += strlen(label) + 1)
		ncs_html_print(file, "<li>$s</li>\n", label);
	fputs("</ul>\n", file);
	return 0;
}
