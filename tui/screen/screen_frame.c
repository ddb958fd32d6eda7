/* SPDX-License-Identifier: MIT */
/* Draws the whole screen; see screen.h. This file draws the lines below
 * the table, and explanations in place of an empty table; it calls other files
 * to draw the rest.
 *
 * Must not change the state of the screen, except for values that depend on its
 * size. Called for each frame.
 */
#include "tui/screen/screen.h"

#include <stdio.h>
#include <string.h>

#include "shm/read/paths.h"
#include "tui/screen/screen_actions.h"
#include "tui/screen/screen_pages.h"
#include "tui/screen/screen_parts.h"
#include "tui/screen/screen_timeline.h"
#include "tui/table/row_query.h"
#include "tui/table/table.h"
#include "tui/term/keys.h"
#include "tui/term/wrap.h"
#include "tui/text/finding_text.h"
#include "tui/text/node_text.h"
#include "tui/text/words.h"

#define LINE_BYTES 512
/* From this height on there is room for another line on the selected row. */
#define TALL_HEIGHT 24

/* --- Below the table ------------------------------------------------------ */

/* Whether the evidence of the worst finding is in place of the graphs, which
 * show nothing where nothing ends. */
static bool shows_evidence(const struct ncs_screen *screen)
{
	const struct ncs_summary *summary = &screen->summary;

	return screen->view == NCS_VIEW_RANK && screen->diagnosis.count > 0 &&
	       (ncs_diagnosis_severity(&screen->diagnosis) ==
			NCS_SEVERITY_STUCK ||
		summary->dead + summary->finished == summary->ranks ||
		!ncs_graph_shows_speed(screen));
}

/* Returns the finding that stands in place of the selected row's explanation,
 * which would say the same again; NULL if the row is not the root of one. */
static const struct ncs_finding *
finding_of_selected(const struct ncs_screen *screen)
{
	const struct ncs_grid_row *row = ncs_screen_selected(screen);

	return screen->view == NCS_VIEW_RANK && screen->diagnosis.count > 0 &&
			       row && !row->of && row->row.rank &&
			       row->row.rank ==
				       screen->diagnosis.findings[0].root.rank ?
		       &screen->diagnosis.findings[0] :
		       NULL;
}

/* Explains the selected row; of a group, says what it is, and how to see its
 * rows. */
static void info_text(const struct ncs_screen *screen, char *text, size_t size)
{
	const struct ncs_grid *table = &screen->tables[screen->view];
	const struct ncs_grid_row *row = ncs_grid_selected(table);

	text[0] = '\0';
	if (!row)
		return;
	if (row->of) {
		table->rules->group_title(row->of,
					  &table->folds.rows[row->of->first],
					  text, size);
		ncs_append(text, size,
			   ". Enter %s %s; * opens and closes all.",
			   row->fold == NCS_FOLD_CLOSED ? "shows" : "hides",
			   row->of->place ? "its ranks" : "its nodes");
	} else if (row->unreadable) {
		ncs_append(text, size, "%s cannot be read: %s.",
			   row->unreadable->id, row->unreadable->why);
	} else if (screen->view == NCS_VIEW_TIMELINE) {
		ncs_timeline_explain(screen, text, size);
	} else {
		ncs_screen_view_of(row->row.view)
			->explain(&row->row, text, size);
	}
}

static void draw_info(const struct ncs_screen *screen,
		      const struct ncs_rect *rect)
{
	const struct ncs_finding *finding = finding_of_selected(screen);
	char text[NCS_EXPLAIN_MAX];

	if (rect->height == 0)
		return;
	if (finding) {
		ncs_draw_finding(finding, rect);
		return;
	}
	info_text(screen, text, sizeof(text));
	ncs_draw_wrapped(rect, NCS_ROLE_LABEL, text);
}

static void draw_bar(struct ncs_screen *screen, const struct ncs_rect *rect)
{
	char number[8];
	int x = rect->x, start;

	for (unsigned function = 1; function <= 12; function++) {
		for (size_t i = 0; i < NCS_ACTION_COUNT - 1; i++) {
			if (ncs_key_bar_number(&ncs_keys[i]) != function)
				continue;
			start = x;
			snprintf(number, sizeof(number), "%u", function);
			x += ncs_term_put(rect->y, x, rect->width - x,
					  NCS_ROLE_BAR_KEY, number);
			x += ncs_term_put(rect->y, x, rect->width - x,
					  NCS_ROLE_BAR_LABEL,
					  ncs_keys[i].label);
			ncs_screen_add_click_target(screen, rect->y, start,
						    x - start,
						    ncs_keys[i].action);
			x += ncs_term_put(rect->y, x, rect->width - x,
					  NCS_ROLE_TEXT, " ");
		}
	}
}

static void draw_prompt(const struct ncs_screen *screen, int y, int width)
{
	const struct ncs_grid *table = &screen->tables[screen->view];
	static const struct {
		const char *name;
		const char *example; /* of what may be typed; NULL: none */
	} prompts[] = {
		[NCS_PROMPT_SEARCH] = { "Search: ", NCS_ROW_QUERY_EXAMPLES },
		[NCS_PROMPT_HELP] = { "Search the help: " },
		[NCS_PROMPT_FILTER] = { "Filter: ", NCS_ROW_QUERY_EXAMPLES },
		[NCS_PROMPT_SET] = { "Set: ", "events=all-steps sample=8, or"
					      " default" },
		[NCS_PROMPT_GO] = { "Go to: ", "12.5, 1:02:03, -10 (before the"
					       " end) or T14:03:05" },
		[NCS_PROMPT_KEEP] = { "y/n: write " },
		[NCS_PROMPT_STACKS] = { "y/n: read stacks of two processes at"
					" most; each pauses meanwhile" },
	};
	const char *example = prompts[screen->prompt].example;
	char text[LINE_BYTES];
	int x;

	snprintf(text, sizeof(text), "%s%s", prompts[screen->prompt].name,
		 screen->prompt == NCS_PROMPT_KEEP ? screen->config_path :
						     screen->typed);
	ncs_term_fill(y, 0, width, NCS_ROLE_PROMPT);
	x = ncs_term_put(y, 0, width, NCS_ROLE_PROMPT, text);
	ncs_term_cursor(y, x < width ? x : width - 1, true);
	text[0] = '\0';
	if (screen->prompt == NCS_PROMPT_FILTER)
		snprintf(text, sizeof(text), "  %zu of %zu rows", table->passed,
			 table->total);
	else if (screen->prompt == NCS_PROMPT_SEARCH && screen->finds_nothing) {
		snprintf(text, sizeof(text), "  no row: ");
		ncs_row_query_hint(screen->view, screen->typed,
				   text + strlen(text),
				   sizeof(text) - strlen(text));
	}
	if (ncs_term_text_width(text) < width - x)
		ncs_term_put(y, width - ncs_term_text_width(text), width,
			     NCS_ROLE_TEXT, text);
	if (!screen->typed[0] && example) {
		snprintf(text, sizeof(text), "such as %s", example);
		ncs_term_put(y, x + 2, width - x - 2, NCS_ROLE_LABEL, text);
	}
}

/* Draws the prompt, or otherwise the message, in the last line. Returns false
 * if there is neither. */
static bool draw_message(const struct ncs_screen *screen)
{
	int y = ncs_term_height() - 1, width = ncs_term_width();

	if (screen->prompt != NCS_PROMPT_NONE) {
		draw_prompt(screen, y, width);
	} else if (screen->notice[0] &&
		   screen->now_ns < screen->notice_until_ns) {
		ncs_term_fill(y, 0, width, NCS_ROLE_PROMPT);
		ncs_term_put(y, 0, width, NCS_ROLE_PROMPT, screen->notice);
	} else {
		return false;
	}
	return true;
}

/* --- Empty tables --------------------------------------------------------- */

static void no_job_text(const struct ncs_screen *screen, char *text,
			size_t size)
{
	text[0] = '\0';
	if (screen->model.error[0])
		ncs_append(text, size, "Cannot read the segments: %s.",
			   screen->model.error);
	else if (screen->replay)
		ncs_append(text, size, "No rank was recorded at this moment.");
	else if (screen->had_job)
		ncs_append(text, size,
			   "The job has ended. This view waits for"
			   " the next one.");
	else if (screen->model.node_count > 0)
		ncs_append(text, size,
			   "No rank is seen on %s. This view waits for one.",
			   screen->model.node_count == 1 ? "the node" :
							   "any node");
	else if (screen->has_nodes)
		ncs_append(text, size,
			   "No node is known yet: no pod matches, or the"
			   " command has printed nothing. This view waits for"
			   " one.");
	else
		ncs_append(text, size,
			   "No job is seen in %s%s. This view waits for one.",
			   screen->directory,
			   ncs_directory_clause(screen->directory));
}

static void put_below(struct ncs_rect *rect, enum ncs_role role,
		      const char *text)
{
	*rect = ncs_rect_below(rect, ncs_draw_wrapped(rect, role, text));
}

/* Says of each node what it said, as far as there is room. */
static void draw_nodes_without_ranks(const struct ncs_model *model,
				     struct ncs_rect *rect)
{
	char text[LINE_BYTES];

	for (size_t i = 0; i < model->node_count; i++) {
		const struct ncs_node *node = &model->nodes[i];

		if (rect->height <= 1 && i + 1 < model->node_count) {
			snprintf(text, sizeof(text),
				 "... and %zu more: key %s shows all",
				 model->node_count - i,
				 ncs_keys[NCS_ACTION_VIEW_NODE - 1].keys);
			put_below(rect, NCS_ROLE_TEXT, text);
			return;
		}
		snprintf(text, sizeof(text), "  %s: ", node->name);
		ncs_append_node_why(node, text, sizeof(text));
		put_below(rect, NCS_ROLE_TEXT, text);
	}
}

static void draw_no_job(const struct ncs_screen *screen,
			const struct ncs_rect *rows)
{
	struct ncs_rect rect = *rows;
	char text[LINE_BYTES];

	no_job_text(screen, text, sizeof(text));
	put_below(&rect, NCS_ROLE_STRONG, text);
	draw_nodes_without_ranks(&screen->model, &rect);
	if (screen->replay || screen->has_nodes)
		return;
	put_below(&rect, NCS_ROLE_TEXT, "Start a job by:");
	put_below(&rect, NCS_ROLE_STRONG, "  ncclstat run -- COMMAND");
	if (screen->plugin_folder[0]) {
		put_below(&rect, NCS_ROLE_TEXT, "which sets these variables:");
		put_below(&rect, NCS_ROLE_TEXT,
			  "  NCCL_PROFILER_PLUGIN=libnccl-profiler-ncclstat.so");
		snprintf(text, sizeof(text), "  LD_LIBRARY_PATH=%s",
			 screen->plugin_folder);
		put_below(&rect, NCS_ROLE_TEXT, text);
	} else {
		put_below(&rect, NCS_ROLE_TEXT,
			  "The plugin is not beside this program: install it"
			  " first.");
	}
	snprintf(text, sizeof(text),
		 "A job in a container is seen if it shares /dev/shm or the"
		 " folder that NCCLSTAT_DIR names.%s ncclstat --check says what"
		 " is missing.",
		 screen->is_root ? "" : " Only root sees other users' jobs.");
	put_below(&rect, NCS_ROLE_TEXT, text);
}

static void draw_no_nodes(const struct ncs_rect *rows)
{
	static const char *const ways[] = {
		"  --slurm JOBID     all nodes of a Slurm job, by srun",
		"  --hosts n[1-64]   by ssh",
		"  --kube SELECTOR   pods, by kubectl exec",
		"  --from COMMAND    anything that starts ncclstat"
		" --stream=lines there",
	};
	struct ncs_rect rect = *rows;

	put_below(&rect, NCS_ROLE_STRONG,
		  "This view shows this machine or a recording. To see all"
		  " nodes of a job, start ncclstat with one of these:");
	for (size_t i = 0; i < sizeof(ways) / sizeof(*ways); i++)
		put_below(&rect, NCS_ROLE_TEXT, ways[i]);
}

/* Says why a view of a job is empty, and what to do. */
static const char *why_empty(enum ncs_view view)
{
	switch (view) {
	case NCS_VIEW_CHANNEL:
		return "No channel is seen. Over NVLink and shared memory, no"
		       " thread of NCCL moves data, so nothing reports"
		       " channels: Ranks, Collectives and the timeline show the"
		       " waits. Over the network, NCCL may not report"
		       " channels.";
	case NCS_VIEW_PROXY:
		return "No proxy thread is seen. NCCL uses one only for the"
		       " network, and reports it from 2.27 on.";
	case NCS_VIEW_RANGE:
		return "No range is seen: the program marks none with NVTX, or"
		       " its marks do not reach the plugin. Start the job with"
		       " ncclstat run, or set NVTX_INJECTION64_PATH to the"
		       " plugin's file; see ncclstat-plugin(7).";
	default:
		return "Nothing of this kind has happened in the job.";
	}
}

/* Draws the reason for an empty table. */
static void draw_no_rows(const struct ncs_screen *screen,
			 const struct ncs_rect *rows)
{
	const struct ncs_grid *table = &screen->tables[screen->view];
	char hint[LINE_BYTES];
	const char *text;

	if (screen->view == NCS_VIEW_NODE && screen->model.node_count == 0) {
		draw_no_nodes(rows);
		return;
	}
	if (screen->model.rank_count == 0 && table->total == 0) {
		draw_no_job(screen, rows);
		return;
	}
	if (ncs_focus_is_gone(screen, &screen->focus))
		text = screen->focus.kind == NCS_FOCUS_RANK ?
			       "This rank is gone. Esc goes back." :
		       screen->focus.kind == NCS_FOCUS_NODE ?
			       "This node is gone. Esc goes back." :
			       "This communicator is gone. Esc goes back.";
	else if (screen->focus.kind == NCS_FOCUS_NODE && table->total == 0)
		text = "No rank of this node is seen. Esc goes back.";
	else if (table->total > 0 && screen->filter[0]) {
		snprintf(hint, sizeof(hint),
			 "No row matches the filter. \\ or Esc clears it; ");
		ncs_row_query_hint(screen->view, screen->filter,
				   hint + strlen(hint),
				   sizeof(hint) - strlen(hint));
		text = hint;
	} else if (table->total > 0 && screen->only_tagged)
		text = "No row here is tagged. o shows all rows.";
	else if (table->total > 0)
		text = "All rows are idle and hidden. i shows them.";
	else if (screen->view == NCS_VIEW_FINDING)
		text = ncs_severity_help(NCS_SEVERITY_WELL);
	else
		text = why_empty(screen->view);
	ncs_draw_wrapped(rows, NCS_ROLE_TEXT, text);
}

/* --- The frame ------------------------------------------------------------ */

static void draw_too_small(int height, int width)
{
	struct ncs_rect rect = { .height = height, .width = width };
	char text[64];
	int length;

	length = snprintf(text, sizeof(text), "too small %dx%d, need %dx%d",
			  width, height, NCS_LAYOUT_MIN_WIDTH,
			  NCS_LAYOUT_MIN_HEIGHT);
	/* Centre the text if it fits into a line. */
	if (length < width) {
		rect.x = (width - length) / 2;
		rect.y = (height - 1) / 2;
		rect.width = length;
		rect.height = 1;
	}
	ncs_draw_wrapped(&rect, NCS_ROLE_TEXT, text);
}

/* Draws the first and the last line of a page in place of the view. */
static void draw_page(const struct ncs_screen *screen, int height, int width,
		      const char *title, const char *hint)
{
	ncs_term_fill(0, 0, width, NCS_ROLE_TITLE);
	ncs_term_put(0, 0, width, NCS_ROLE_TITLE, title);
	if (draw_message(screen))
		return;
	ncs_term_fill(height - 1, 0, width, NCS_ROLE_TITLE);
	ncs_term_put(height - 1, 0, width, NCS_ROLE_TITLE, hint);
}

static void draw_help(struct ncs_screen *screen, int height, int width)
{
	const struct ncs_rect rect = { 1, 0, height - 2, width };
	char text[64] = "ncclstat: ";
	int most;

	screen->help_page = rect.height;
	most = ncs_help_lines(screen, width) - rect.height;
	if (screen->help_top > most)
		screen->help_top = most;
	if (screen->help_top < 0)
		screen->help_top = 0;
	ncs_append(text, sizeof(text), screen->stacks ? "" : "help on ");
	ncs_help_place(screen, width, text + strlen(text),
		       sizeof(text) - strlen(text));
	ncs_help_draw(screen, &rect);
	draw_page(screen, height, width, text,
		  most > 0 ? "PgDn next page, PgUp back; / searches, n next"
			     " match; q leaves" :
			     "/ searches, n next match; q leaves");
}

static void draw_setup(struct ncs_screen *screen, int height, int width)
{
	const struct ncs_rect rect = { 1, 0, height - 2, width };

	ncs_setup_draw(screen, &rect);
	draw_page(screen, height, width, "ncclstat: setup",
		  "W saves; arrows change; q leaves");
}

/* Returns how many lines other parts leave, negative if they leave none. The
 * tabs, the titles of the table and the last line take 3. */
static int lines_left(const struct ncs_layout_request *request)
{
	return request->height - request->title - request->summary -
	       request->info - request->rows - 3;
}

/* Returns the lines that rows of the table need: above evidence, which cannot be
 * scrolled, no more than it and the explanation leave. */
static int lines_for_rows(const struct ncs_screen *screen,
			  const struct ncs_layout_request *request)
{
	/* The layout gives the table a line more. */
	const int least = NCS_LAYOUT_MIN_ROWS - 1;
	int room;

	if (!shows_evidence(screen))
		return request->rows;
	room = lines_left(request) + request->rows - 1 -
	       ncs_finding_lines(&screen->diagnosis.findings[0],
				 request->width);
	if (room < least)
		room = least;
	return room < request->rows ? room : request->rows;
}

/* Returns the lines for the explanation of the selected row: a few, or as many as
 * it needs if they are free; none where the evidence says the same. */
static int lines_for_info(const struct ncs_screen *screen,
			  const struct ncs_layout_request *request)
{
	const struct ncs_finding *finding = finding_of_selected(screen);
	int usual = request->height >= TALL_HEIGHT ? 3 : 2;
	int room = request->rows > 0 && request->detail_count == 0 ?
			   lines_left(request) - 1 - NCS_LAYOUT_MIN_GRAPH :
			   0;
	bool has_evidence = room >= 0 && shows_evidence(screen);
	char text[NCS_EXPLAIN_MAX];
	int wanted;

	if (finding && has_evidence)
		return 0;
	info_text(screen, text, sizeof(text));
	wanted = finding ? ncs_finding_lines(finding, request->width) :
			   ncs_wrapped_lines(text, request->width);
	if (room < usual)
		room = usual;
	if (wanted > room)
		wanted = room;
	/* Evidence needs lines more than an even height of the explanation. */
	return wanted > usual || has_evidence ||
			       screen->view == NCS_VIEW_FINDING ?
		       wanted :
		       usual;
}

/* Returns the lines for the selected finding: all that it needs, or all that
 * other parts leave, but no fewer than usual. */
static int lines_for_finding(const struct ncs_screen *screen,
			     const struct ncs_layout_request *request)
{
	const struct ncs_grid_row *row =
		ncs_grid_selected(&screen->tables[NCS_VIEW_FINDING]);
	int room = lines_left(request), wanted;

	if (!row || !row->row.finding)
		return request->detail[0];
	/* Others than the first have their sentence above. */
	wanted = ncs_finding_lines(row->row.finding, request->width) +
		 (row->row.index > 0 ? 2 : 0);
	if (wanted > room)
		wanted = room;
	return wanted > request->detail[0] ? wanted : request->detail[0];
}

static void compute_layout(const struct ncs_screen *screen, int height,
			   int width, struct ncs_layout *layout)
{
	const struct ncs_screen_view *view = ncs_screen_view_of(screen->view);
	size_t first = width < view->detail_width && view->detail_count > 0;
	/* More rows than lines are as good as as many. */
	size_t rows = screen->tables[screen->view].count;
	int row_count = rows < (size_t)height ? (int)rows : height;
	int detail[NCS_DETAIL_FORMS_MAX];
	bool is_diagnose = screen->view == NCS_VIEW_FINDING;
	struct ncs_layout_request request = {
		.height = height,
		.width = width,
		.title = !screen->options.hide_header,
		.summary = screen->options.hide_header ?
				   0 :
				   ncs_summary_lines(screen, width) +
					   (screen->replay != NULL),
		.detail = detail + first,
		/* Without a row there is no detail. */
		.detail_count = screen->tables[screen->view].count > 0 ?
					view->detail_count - first :
					0,
		.rows = screen->view == NCS_VIEW_TIMELINE ? 0 : row_count,
		.least_rows = is_diagnose && row_count < NCS_LAYOUT_MIN_ROWS ?
				      row_count :
				      0,
	};

	memcpy(detail, view->detail, sizeof(detail));
	/* Where the evidence is there, the explanation may have no lines; where it
	 * has some, there are fewer for rows. */
	request.rows = lines_for_rows(screen, &request);
	request.info = lines_for_info(screen, &request);
	request.rows = lines_for_rows(screen, &request);
	if (is_diagnose)
		detail[0] = lines_for_finding(screen, &request);
	if (screen->view == NCS_VIEW_TIMELINE)
		detail[0] = screen->time.legend_lines;
	ncs_layout_compute(layout, &request);
}

/* Tells the table how many lines there are for rows, and builds it again if
 * they have changed: rows that do not fit are folded. Returns whether they
 * have. */
static bool fit_table(struct ncs_screen *screen,
		      const struct ncs_layout *layout)
{
	struct ncs_folds *folds = &ncs_screen_table(screen)->folds;
	size_t room = (size_t)(layout->part[NCS_PART_ROWS].height +
			       layout->part[NCS_PART_GRAPH].height);

	if (folds->room == room)
		return false;
	folds->room = room;
	ncs_screen_build(screen);
	return true;
}

/* Draws the recording's line, if one is shown, and the summary. */
static void draw_summary(struct ncs_screen *screen, const struct ncs_rect *rect)
{
	struct ncs_rect rest = *rect;

	screen->bar_width = 0;
	if (screen->replay && rest.height > 0) {
		ncs_draw_replay(screen, &rest);
		rest = ncs_rect_below(&rest, 1);
	}
	ncs_draw_summary(screen, &rest);
}

/* Draws into the lines that the table leaves free: the detail of the selected
 * rank, and the graphs; of a job that is stuck or dead, which has empty ones, the
 * evidence. */
static void draw_free(const struct ncs_screen *screen,
		      const struct ncs_rect *rect)
{
	struct ncs_rect detail = *rect, graphs = *rect;

	if (rect->height > 0 && shows_evidence(screen)) {
		const struct ncs_finding *finding =
			&screen->diagnosis.findings[0];
		int lines = ncs_finding_lines(finding, rect->width);

		graphs.height = lines < rect->height ? lines : rect->height;
		ncs_draw_finding(finding, &graphs);
		detail = ncs_rect_below(rect, graphs.height + 1);
		ncs_draw_detail(screen, &detail);
		return;
	}
	detail.height = ncs_detail_lines(screen, rect->height, rect->width);
	graphs = ncs_rect_below(rect, detail.height);
	ncs_draw_detail(screen, &detail);
	ncs_draw_graphs(screen, &graphs);
}

static void draw_view(struct ncs_screen *screen,
		      const struct ncs_layout *layout, const struct tm *wall)
{
	const struct ncs_screen_view *view = ncs_screen_view_of(screen->view);
	const struct ncs_rect *part = layout->part;
	struct ncs_grid *table = &screen->tables[screen->view];
	const struct ncs_grid_row *row = ncs_grid_selected(table);

	ncs_draw_title(screen, &part[NCS_PART_TITLE], wall);
	draw_summary(screen, &part[NCS_PART_SUMMARY]);
	if (view->draw_detail && part[NCS_PART_DETAIL].height > 0 && row &&
	    !row->unreadable && row->row.view == screen->view)
		view->draw_detail(&row->row, &part[NCS_PART_DETAIL]);
	if (screen->view == NCS_VIEW_TIMELINE)
		ncs_timeline_draw(screen, &part[NCS_PART_DETAIL],
				  &part[NCS_PART_HEADER],
				  &part[NCS_PART_ROWS]);
	else
		ncs_grid_draw(table, &part[NCS_PART_HEADER],
			      &part[NCS_PART_ROWS]);
	ncs_draw_tabs(screen, &part[NCS_PART_TABS],
		      part[NCS_PART_TITLE].height > 0);
	draw_free(screen, &part[NCS_PART_GRAPH]);
	if (screen->sorting)
		ncs_sort_draw(screen, &part[NCS_PART_HEADER],
			      &part[NCS_PART_ROWS]);
	if (table->count == 0)
		draw_no_rows(screen, &part[NCS_PART_ROWS]);
	draw_info(screen, &part[NCS_PART_INFO]);
	if (!draw_message(screen) && part[NCS_PART_BAR].height > 0)
		draw_bar(screen, &part[NCS_PART_BAR]);
}

void ncs_screen_draw(struct ncs_screen *screen, uint64_t now_ns,
		     const struct tm *wall)
{
	int height = ncs_term_height(), width = ncs_term_width();
	int legend_lines = screen->time.legend_lines;
	struct ncs_layout layout;

	screen->now_ns = now_ns;
	ncs_term_erase();
	screen->click_target_count = 0;
	compute_layout(screen, height, width, &layout);
	if (fit_table(screen, &layout))
		compute_layout(screen, height, width, &layout);
	if (layout.too_small)
		draw_too_small(height, width);
	else if (screen->help)
		draw_help(screen, height, width);
	else if (screen->setup)
		draw_setup(screen, height, width);
	else
		draw_view(screen, &layout, wall);
	/* Which letters are there is known once they are drawn. */
	if (screen->time.legend_lines > legend_lines)
		ncs_screen_draw(screen, now_ns, wall);
}
