/* SPDX-License-Identifier: MIT */
/* The state of the live view, shared by all files of this folder, and the few
 * functions on it that all of them need.
 *
 * One thread. The time is set by the functions of screen.h that get it, and by
 * live.c; nothing here reads a clock or draws.
 */
#ifndef NCS_TUI_SCREEN_SCREEN_STATE_H
#define NCS_TUI_SCREEN_SCREEN_STATE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "analysis/diagnosis/diagnosis.h"
#include "analysis/diagnosis/summary.h"
#include "analysis/model/model.h"
#include "analysis/views/columns.h"
#include "analysis/views/timeline.h"
#include "record/replay/replay_search.h"
#include "tui/commands/options.h"
#include "tui/table/rows.h"
#include "tui/term/keys.h"
#include "tui/views/view.h"

#define NCS_TRAIL_MAX 32
#define NCS_CLICK_TARGETS_MAX 32

/* A breadcrumb: a place that the user left by going down from a row. Esc goes
 * back to it. */
struct ncs_crumb {
	enum ncs_view view;
	struct ncs_focus focus;
	/* The channel that was selected; -1 if none was. A selected row that is
	 * not a channel is remembered by its table. */
	int channel;
	bool send;
	int peer;
};

/* Cells of the screen in which a click has the effect of a key, as last
 * drawn. */
struct ncs_click_target {
	int y;
	int x;
	int width;
	enum ncs_action action;
};

/* The question in the last line. */
enum ncs_prompt {
	NCS_PROMPT_NONE,
	NCS_PROMPT_SEARCH,
	NCS_PROMPT_HELP, /* a search in the help */
	NCS_PROMPT_FILTER,
	NCS_PROMPT_SET,
	NCS_PROMPT_GO,
	/* Asks whether to write the configuration file, y or n. */
	NCS_PROMPT_KEEP,
	NCS_PROMPT_STACKS, /* asks whether processes may pause, y or n */
};

/* The part of time that the timeline shows. */
struct ncs_time_view {
	bool placed; /* at a time to begin with, or by the user */
	int64_t cell_ns; /* time that one column shows */
	bool fixed;      /* the right edge is end_ns; if false, it is now */
	int64_t end_ns;
	int cursor; /* columns from the right edge */
	int x;      /* place and width of the tracks as last drawn */
	int width;
	int legend_lines; /* that the legend has needed at most */
	bool highlights; /* whether `highlighted` is set */
	struct ncs_collective highlighted;
};

struct ncs_screen {
	struct ncs_model model;
	struct ncs_diagnosis diagnosis; /* diagnosis of the model */
	struct ncs_summary summary;
	struct ncs_grid tables[NCS_VIEW_COUNT];
	enum ncs_view view;

	struct ncs_focus focus;
	struct ncs_crumb trail[NCS_TRAIL_MAX];
	size_t depth; /* number of breadcrumbs in the trail */

	struct ncs_time_view time;

	bool help;
	char *stacks; /* shown in the place of the help; NULL: none */
	int help_top;
	int help_page; /* height of the help as last drawn */
	int help_before; /* line at the top when a search in it began */
	int help_found;  /* line that a search begins from */
	char help_search[128]; /* text that is marked in the help; "" for none */

	bool sorting; /* the menu of orders is open */
	size_t sort_selected;
	size_t sort_page; /* height of the menu as last drawn */

	bool setup;
	size_t setup_selected;
	size_t setup_top;
	size_t setup_page; /* height of the setup as last drawn */

	struct ncs_click_target click_targets[NCS_CLICK_TARGETS_MAX];
	size_t click_target_count;

	enum ncs_prompt prompt;
	char typed[128];
	/* The row that was selected when the prompt was opened; of zeros if none
	 * was. */
	struct ncs_grid_key selected_before;
	char search[128];
	bool finds_nothing; /* what is typed to search for */
	char filter[128];

	struct ncs_marks tags; /* tagged rows of all views */
	bool only_tagged;

	bool paused;
	bool had_job;
	/* Views for which the model has data: it may have many ranks, and frames
	 * ask for it several times each. */
	bool has_data[NCS_VIEW_TABS];

	/* The recording that is shown and the search for problems in it,
	 * borrowed; NULL if the live job is shown. */
	struct ncs_replay *replay;
	const struct ncs_replay_search *search_ahead;
	int bar_y; /* line of the recording's bar as last drawn */
	int bar_x;
	int bar_width; /* 0 if there is no bar */

	char host[65];
	char directory[256];
	char plugin_folder[256]; /* of the plugin of this program; "" if none */
	bool is_root;
	bool has_nodes; /* the source's ranks are of nodes, not of this one */

	struct ncs_options options; /* set by ncs_screen_collect() */
	const char *config_path;    /* borrowed; "" if there is none */
	bool may_write; /* whether the user has agreed to writing that file */

	uint64_t now_ns;  /* of the latest key, click, message or frame */
	char notice[192]; /* message in the last line, "" if none */
	uint64_t notice_until_ns;
};

/* Bits that a key returns to ask the caller for an action. */
enum ncs_request {
	NCS_REQUEST_QUIT = 1,
	NCS_REQUEST_SAMPLE = 2,
	NCS_REQUEST_INTERVAL = 4, /* the interval has changed */
	NCS_REQUEST_REPAINT = 8,
	NCS_REQUEST_DETAIL = 16, /* take the lease, or give it back */
	NCS_REQUEST_SET = 32,    /* ask processes for the setting in `typed` */
	NCS_REQUEST_KEEP = 64,   /* write the configuration file */
	NCS_REQUEST_SAVE = 128,  /* write this view to a file */
	/* Fill the model with the time before the recording's new position,
	 * then take a sample there. */
	NCS_REQUEST_JUMP = 256,
	NCS_REQUEST_STACKS = 512, /* read stacks, and show them */
	/* Within this folder: the key or click has its usual meaning. */
	NCS_REQUEST_USUAL = 1024,
};

/* Returns the table of the view that is shown. */
struct ncs_grid *ncs_screen_table(struct ncs_screen *screen);

/* Returns the row that is selected in it, or NULL. */
const struct ncs_grid_row *ncs_screen_selected(const struct ncs_screen *screen);

/* Whether a view has a tab: not one for which the source has nothing, unless it
 * is shown because the user asked for it. */
bool ncs_screen_has_tab(const struct ncs_screen *screen, enum ncs_view view);

/* Builds the table of the view that is shown again. Needed after a change of
 * the model, the focus, the filter or the order. */
void ncs_screen_build(struct ncs_screen *screen);

/* Does so after a key or a click on the table, and shows the table's notice. */
void ncs_screen_follow_table(struct ncs_screen *screen);

/* Shows a message in the last line for some seconds from now_ns on. */
void ncs_screen_say(struct ncs_screen *screen, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

/* Makes cells of this frame a click target. Has no effect if there are too many
 * targets. */
void ncs_screen_add_click_target(struct ncs_screen *screen, int y, int x,
				 int width, enum ncs_action action);

#endif
