/* SPDX-License-Identifier: MIT */
/* The live view without its terminal's events: what is shown, and what a key
 * does to it.
 *
 * Keys, samples and the time come in as arguments, so that a test can show any
 * moment of any job; tui/screen/live.c brings the real ones.
 */
#ifndef NCS_TUI_SCREEN_SCREEN_H
#define NCS_TUI_SCREEN_SCREEN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <time.h>

#include "analysis/views/columns.h"
#include "analysis/diagnosis/diagnosis.h"
#include "analysis/model/model.h"
#include "analysis/diagnosis/summary.h"
#include "analysis/views/timeline.h"
#include "record/read/replay_search.h"
#include "tui/term/layout.h"
#include "tui/commands/options.h"
#include "tui/table/table.h"
#include "tui/term/term.h"

#define NCS_TRAIL_MAX 32
#define NCS_DETAIL_FORMS_MAX 3
#define NCS_EXPLAIN_MAX 1024

/* With more ranks, records are taken of the one that is looked at only. */
#define NCS_RANKS_WITH_RECORDS_MAX 64

/* One view: what differs from the others. */
struct ncs_screen_view {
	enum ncs_view view;
	const char *name;
	const char *short_name; /* where there is little room */
	struct ncs_grid_rules rules;
	/* Heights of what is drawn above the table, the largest first. */
	int detail[NCS_DETAIL_FORMS_MAX];
	size_t detail_count;
	int detail_width; /* that the first of them needs */
	void (*draw_detail)(const struct ncs_row *row,
			    const struct ncs_rect *rect);
	/* One sentence on a row's state. */
	void (*explain)(const struct ncs_row *row, char *text, size_t size);
};

extern const struct ncs_screen_view ncs_screen_ranks;
extern const struct ncs_screen_view ncs_screen_communicators;
extern const struct ncs_screen_view ncs_screen_channels;
extern const struct ncs_screen_view ncs_screen_proxy;
extern const struct ncs_screen_view ncs_screen_collectives;
extern const struct ncs_screen_view ncs_screen_timeline;
extern const struct ncs_screen_view ncs_screen_diagnose;
extern const struct ncs_screen_view ncs_screen_ranges;
extern const struct ncs_screen_view ncs_screen_sizes;

/* A place that was left by going down: there Esc leads back. */
struct ncs_crumb {
	enum ncs_view view;
	struct ncs_focus focus; /* what it was limited to */
	/* What was selected, as a channel's name; the table knows the rest. */
	int channel;
	bool send;
	int peer;
};

/* Where a click does what a key does, as it was drawn last. */
#define NCS_SPOTS_MAX 32
struct ncs_spot {
	int y;
	int x;
	int width;
	enum ncs_action action;
};

enum ncs_prompt {
	NCS_PROMPT_NONE,
	NCS_PROMPT_SEARCH,
	NCS_PROMPT_FILTER,
	NCS_PROMPT_SET,
	NCS_PROMPT_GO,
	NCS_PROMPT_KEEP, /* y or n */
};

/* What the timeline shows of the time. */
struct ncs_time_view {
	int64_t cell_ns;
	bool stays; /* the right edge is end_ns, not now */
	int64_t end_ns;
	int cursor; /* columns from the right edge */
	int x;      /* of the latest drawing, like the next */
	int width;
	bool is_lit;
	struct ncs_collective lit;
};

struct ncs_screen {
	struct ncs_model model;
	struct ncs_diagnosis diagnosis; /* of it */
	struct ncs_summary summary;
	struct ncs_grid tables[NCS_VIEW_COUNT];
	enum ncs_view view;

	struct ncs_focus focus;
	struct ncs_crumb trail[NCS_TRAIL_MAX];
	size_t depth;

	struct ncs_time_view time;

	bool help;
	int help_top;
	int help_page; /* of the latest drawing */

	bool setup;
	size_t setup_selected;
	size_t setup_top;
	size_t setup_page; /* of the latest drawing */

	struct ncs_spot spots[NCS_SPOTS_MAX];
	size_t spot_count;

	enum ncs_prompt prompt;
	char typed[128];
	size_t selected_before; /* the row as it was, for Esc */
	char search[128];
	char filter[128];

	struct ncs_marks tags; /* in all views */
	bool only_tagged;

	bool paused;
	bool hide_idle;
	bool hide_header;
	bool had_job;

	/* The recording that is shown, and what is found in it; NULL: it is
	 * what happens now. */
	struct ncs_replay *replay;
	const struct ncs_replay_search *search_ahead;
	int bar_y; /* of the latest drawing, like the next; no width: none */
	int bar_x;
	int bar_width;

	uint64_t interval_ns;
	char host[65];
	char directory[256];

	struct ncs_options options; /* as of the latest collection */
	const char *config_path;    /* borrowed; "": none */
	bool may_write;             /* to it: the user has said so */

	char notice[192]; /* "": none */
	uint64_t notice_until_ns;
};

/* What a key asks of who runs the screen. */
enum ncs_request {
	NCS_REQUEST_QUIT = 1,
	NCS_REQUEST_SAMPLE = 2,
	NCS_REQUEST_INTERVAL = 4, /* it has changed */
	NCS_REQUEST_REPAINT = 8,
	NCS_REQUEST_DETAIL = 16, /* take the lease, or give it back */
	NCS_REQUEST_SET = 32,    /* ask for the setting in `typed` */
	NCS_REQUEST_KEEP = 64,   /* write the configuration file */
	NCS_REQUEST_SAVE = 128,  /* write this view to a file */
	/* Look at the past of where the recording is now, then there. */
	NCS_REQUEST_JUMP = 256,
};

void ncs_screen_init(struct ncs_screen *screen, enum ncs_view view,
		     uint64_t interval_ns, const char *host,
		     const char *directory);
void ncs_screen_release(struct ncs_screen *screen);

/* Shows it as the options say, in the terminal's colours and symbols, too. */
void ncs_screen_apply(struct ncs_screen *screen,
		      const struct ncs_options *options);

/* Brings screen->options up to how it is shown now. */
void ncs_screen_collect(struct ncs_screen *screen);

/* Looks at the job: 0 or -errno, which is also shown. Who calls it does not
 * while the screen is paused, unless a key asked for it. */
int ncs_screen_sample(struct ncs_screen *screen, struct ncs_source *source,
		      uint64_t now_ns);

/* A key, as curses has it. Returns requests. */
unsigned ncs_screen_key(struct ncs_screen *screen, int code, uint64_t now_ns);

/* The same for the mouse. */
unsigned ncs_screen_mouse(struct ncs_screen *screen,
			  const struct ncs_mouse *mouse, uint64_t now_ns);

/* Says something for a moment, in the last line. */
void ncs_screen_say(struct ncs_screen *screen, uint64_t now_ns,
		    const char *format, ...)
	__attribute__((format(printf, 3, 4)));

/* Puts the whole screen; the caller flushes. */
void ncs_screen_draw(struct ncs_screen *screen, uint64_t now_ns,
		     const struct tm *wall);

const struct ncs_screen_view *ncs_screen_view_of(enum ncs_view view);

/* The tab that a view is under. */
enum ncs_view ncs_screen_tab_of(enum ncs_view view);

/* --- For the views -------------------------------------------------------- */

/* Bytes of the next line of a text: to a blank, if there is one, that keeps it
 * within `width` columns. */
size_t ncs_line_length(const char *text, int width);

/* How bad it stands with a rank. */
enum ncs_severity ncs_rank_severity(const struct ncs_rank *rank);

/* Appends a clause: "channel 3 send to 6, peer for 41.2s", and what that
 * means. */
void ncs_append_wait(const struct ncs_wait *wait, char *text, size_t size);

/* What is drawn here is to take clicks; for this frame. */
void ncs_screen_add_spot(struct ncs_screen *screen, int y, int x, int width,
			 enum ncs_action action);

/* Draws text in lines broken at blanks; returns how many lines it took. */
int ncs_draw_wrapped(const struct ncs_rect *rect, enum ncs_role role,
		     const char *text);

/* --- Setup ---------------------------------------------------------------- */

/* A line of it: an option, and for NCS_OPTION_COLUMNS which column. */
struct ncs_setup_entry {
	enum ncs_option option;
	const struct ncs_column *column;
};

/* What it lists, from the first place on: what the live view changes,
 * NCS_OPTION_SET, and each column of the view. */
size_t ncs_setup_count(enum ncs_view view);
struct ncs_setup_entry ncs_setup_entry(enum ncs_view view, size_t place);
void ncs_setup_draw(struct ncs_screen *screen, const struct ncs_rect *rect);

/* --- The timeline --------------------------------------------------------- */

void ncs_timeline_init(struct ncs_time_view *time);

/* Does what a key means there. False: it means what it means elsewhere. */
bool ncs_timeline_act(struct ncs_screen *screen, enum ncs_action action,
		      uint64_t now_ns);

void ncs_timeline_draw(struct ncs_screen *screen, const struct ncs_rect *header,
		       const struct ncs_rect *rows);

/* The cursor goes to a column of the screen, if a cell is there. */
void ncs_timeline_click(struct ncs_screen *screen, int x);

/* Whether a rank has lanes on the screen, by its id. */
bool ncs_timeline_shows(const struct ncs_screen *screen, const char *id);

/* What is under the cursor. */
void ncs_timeline_explain(const struct ncs_screen *screen, char *text,
			  size_t size);

/* --- Help ----------------------------------------------------------------- */

/* How many lines it has in a width; draws those from `top` on. */
int ncs_help_lines(int width);
void ncs_help_draw(const struct ncs_rect *rect, int top);

#endif
