/* SPDX-License-Identifier: MIT */
/* The state of the live view; see screen_state.h. Must not include other
 * headers of this folder. */
#include "tui/screen/screen_state.h"

#include <stdarg.h>
#include <stdio.h>

#include "tui/table/table.h"

/* How long a message stays on the screen, in ns. */
#define NOTICE_NS UINT64_C(2500000000)

struct ncs_grid *ncs_screen_table(struct ncs_screen *screen)
{
	return &screen->tables[screen->view];
}

const struct ncs_grid_row *ncs_screen_selected(const struct ncs_screen *screen)
{
	return ncs_grid_selected(&screen->tables[screen->view]);
}

bool ncs_screen_has_tab(const struct ncs_screen *screen, enum ncs_view view)
{
	switch (view) {
	case NCS_VIEW_CHANNEL:
	case NCS_VIEW_PROXY:
	case NCS_VIEW_RANGE:
	case NCS_VIEW_NODE:
		return view == screen->view || screen->has_data[view];
	default:
		return view < NCS_VIEW_TABS;
	}
}

void ncs_screen_build(struct ncs_screen *screen)
{
	const struct ncs_grid_query query = {
		.model = &screen->model,
		.focus = screen->focus,
		.filter = screen->filter,
		.hide_idle = screen->options.hide_idle,
		.tags = &screen->tags,
		.only_tagged = screen->only_tagged,
		.diagnosis = &screen->diagnosis,
	};

	ncs_grid_build(ncs_screen_table(screen), &query);
}

void ncs_screen_follow_table(struct ncs_screen *screen)
{
	const char *notice = ncs_screen_table(screen)->notice;

	if (notice[0])
		ncs_screen_say(screen, "%s", notice);
	ncs_screen_build(screen);
}

void ncs_screen_say(struct ncs_screen *screen, const char *format, ...)
{
	va_list arguments;

	va_start(arguments, format);
	vsnprintf(screen->notice, sizeof(screen->notice), format, arguments);
	va_end(arguments);
	screen->notice_until_ns = screen->now_ns + NOTICE_NS;
}

void ncs_screen_add_click_target(struct ncs_screen *screen, int y, int x,
				 int width, enum ncs_action action)
{
	if (screen->click_target_count < NCS_CLICK_TARGETS_MAX)
		screen->click_targets[screen->click_target_count++] =
			(struct ncs_click_target){ y, x, width, action };
}
