/* SPDX-License-Identifier: MIT */
/* The table of views; see view.h. */
#include "tui/views/view.h"

static const struct ncs_screen_view *const views[NCS_VIEW_COUNT] = {
	[NCS_VIEW_RANK] = &ncs_screen_ranks,
	[NCS_VIEW_COMMUNICATOR] = &ncs_screen_communicators,
	[NCS_VIEW_CHANNEL] = &ncs_screen_channels,
	[NCS_VIEW_PROXY] = &ncs_screen_proxy,
	[NCS_VIEW_COLLECTIVE] = &ncs_screen_collectives,
	[NCS_VIEW_TIMELINE] = &ncs_screen_timeline,
	[NCS_VIEW_FINDING] = &ncs_screen_diagnose,
	[NCS_VIEW_RANGE] = &ncs_screen_ranges,
	[NCS_VIEW_NODE] = &ncs_screen_nodes,
	[NCS_VIEW_FUNCTION] = &ncs_screen_functions,
	[NCS_VIEW_CLASS] = &ncs_screen_sizes,
};

const struct ncs_screen_view *ncs_screen_view_of(enum ncs_view view)
{
	return views[view];
}

enum ncs_view ncs_screen_tab_of(enum ncs_view view)
{
	return view == NCS_VIEW_CLASS || view == NCS_VIEW_FUNCTION ?
		       NCS_VIEW_COLLECTIVE :
		       view;
}
