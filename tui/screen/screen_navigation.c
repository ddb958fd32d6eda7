/* SPDX-License-Identifier: MIT */
/* Moves from view to view; see screen_actions.h. Must not draw. */
#include "tui/screen/screen_actions.h"

#include "analysis/model/stragglers.h"
#include "tui/table/table.h"

static void forget_trail(struct ncs_screen *screen)
{
	screen->depth = 0;
	screen->focus = (struct ncs_focus){ 0 };
}

/* Shows the timeline with the current focus, at the selected row. */
static void show_timeline(struct ncs_screen *screen)
{
	const struct ncs_grid_row *row = ncs_screen_selected(screen);

	if (screen->view == NCS_VIEW_TIMELINE)
		return;
	/* Tracks belong to ranks and communicators, not to functions. */
	if (screen->focus.kind == NCS_FOCUS_FUNCTION ||
	    screen->focus.kind == NCS_FOCUS_COLLECTIVE)
		forget_trail(screen);
	screen->view = NCS_VIEW_TIMELINE;
	screen->time.legend_lines = 1;
	ncs_screen_build(screen);
	if (row)
		ncs_grid_select_like(ncs_screen_table(screen), row);
}

void ncs_screen_show_view(struct ncs_screen *screen, enum ncs_view view)
{
	if (view == NCS_VIEW_TIMELINE) {
		show_timeline(screen);
		return;
	}
	forget_trail(screen);
	screen->view = view;
	ncs_screen_build(screen);
}

void ncs_screen_step_view(struct ncs_screen *screen, unsigned step)
{
	unsigned tab = ncs_screen_tab_of(screen->view);

	do {
		tab = (tab + step) % NCS_VIEW_TABS;
	} while (!ncs_screen_has_tab(screen, (enum ncs_view)tab));
	ncs_screen_show_view(screen, (enum ncs_view)tab);
}

/* Returns the selected channel, or NULL. */
static const struct ncs_channel_view *
selected_channel(const struct ncs_screen *screen)
{
	const struct ncs_grid_row *row = ncs_screen_selected(screen);

	if (!row || row->unreadable || row->row.view != NCS_VIEW_CHANNEL)
		return NULL;
	return &row->row.rank->now.channels[row->row.index];
}

/* Leaves a breadcrumb and shows the rows of a view that belong to a focus. */
static bool go_down(struct ncs_screen *screen, enum ncs_view view,
		    enum ncs_focus_kind kind, const char *name,
		    unsigned function)
{
	const struct ncs_channel_view *channel = selected_channel(screen);

	if (screen->depth == NCS_TRAIL_MAX)
		return false;
	screen->trail[screen->depth++] = (struct ncs_crumb){
		.view = screen->view,
		.focus = screen->focus,
		.channel = channel && screen->view == NCS_VIEW_CHANNEL ?
				   channel->channel :
				   -1,
		.send = channel && channel->send,
		.peer = channel ? channel->peer : 0,
	};
	ncs_grid_select(ncs_screen_table(screen),
			ncs_screen_table(screen)->selected);
	screen->focus = (struct ncs_focus){ kind, ncs_grid_id(name), function };
	screen->view = view;
	ncs_screen_build(screen);
	return true;
}

static bool go_to_channels(struct ncs_screen *screen,
			   const struct ncs_rank *rank)
{
	return go_down(screen, NCS_VIEW_CHANNEL, NCS_FOCUS_RANK, rank->id, 0);
}

/* Goes to the ranks of a communicator, and selects the rank that is behind, or
 * otherwise the straggler. */
static bool go_to_ranks(struct ncs_screen *screen,
			const struct ncs_communicator *communicator)
{
	const struct ncs_progress *progress = &communicator->progress;
	const struct ncs_rank *straggler =
		ncs_communicator_straggler(communicator);

	if (!go_down(screen, NCS_VIEW_RANK, NCS_FOCUS_COMMUNICATOR,
		     communicator->key, 0))
		return false;
	if (ncs_progress_behind(progress) > 0)
		ncs_grid_select_rank(ncs_screen_table(screen),
				     progress->slowest);
	else if (straggler)
		ncs_grid_select_rank(ncs_screen_table(screen), straggler);
	return true;
}

bool ncs_screen_go_up(struct ncs_screen *screen)
{
	struct ncs_crumb *crumb;

	if (screen->depth == 0)
		return false;
	crumb = &screen->trail[--screen->depth];
	screen->focus = crumb->focus;
	screen->view = crumb->view;
	ncs_screen_build(screen);
	if (crumb->channel >= 0)
		ncs_grid_select_channel(ncs_screen_table(screen),
					crumb->channel, crumb->send,
					crumb->peer);
	return true;
}

/* Goes from a channel to its other end, in the peer. Returns false if the trail is
 * full. */
static bool go_to_peer(struct ncs_screen *screen, const struct ncs_rank *rank)
{
	const struct ncs_channel_view *channel = selected_channel(screen);
	int number = channel->channel, own = rank->now.identity.rank;
	int peer_number = channel->peer;
	bool send = channel->send;
	const struct ncs_rank *peer = ncs_peer_rank(rank, channel->peer);

	if (!peer)
		ncs_screen_say(screen, "the peer, rank %d, is not seen here",
			       peer_number);
	else if (!go_to_channels(screen, peer))
		return false;
	else if (!ncs_grid_select_channel(ncs_screen_table(screen), number,
					  !send, own))
		ncs_screen_say(screen, "rank %d does not show this channel",
			       peer_number);
	return true;
}

/* Goes to a channel of a rank in the view of channels. */
static bool go_to_channel(struct ncs_screen *screen,
			  const struct ncs_rank *rank,
			  const struct ncs_channel_view *channel)
{
	return go_to_channels(screen, rank) &&
	       ncs_grid_select_channel(ncs_screen_table(screen),
				       channel->channel, channel->send,
				       channel->peer);
}

/* Goes to the channel of a finding if it has one; else to the ranks of its root's
 * communicator, and selects the root. */
static bool go_to_root(struct ncs_screen *screen,
		       const struct ncs_finding *finding)
{
	const struct ncs_channel_view *channel = finding->channel;
	const struct ncs_rank *rank = finding->channel_rank ?
					      finding->channel_rank :
					      finding->root.rank;

	if (channel && rank) {
		if (!go_to_channels(screen, rank))
			return false;
		ncs_grid_select_channel(ncs_screen_table(screen),
					channel->channel, channel->send,
					channel->peer);
		return true;
	}
	if (!go_to_ranks(screen, finding->root.communicator))
		return false;
	if (finding->root.rank)
		ncs_grid_select_rank(ncs_screen_table(screen),
				     finding->root.rank);
	return true;
}

/* Returns whether a finding calls a rank slow; its evidence then tells how that was
 * told. */
static bool is_called_slow(const struct ncs_screen *screen,
			   const struct ncs_rank *rank)
{
	const struct ncs_diagnosis *diagnosis = &screen->diagnosis;

	for (size_t i = 0; i < diagnosis->count; i++)
		if (diagnosis->findings[i].root.rank == rank &&
		    diagnosis->findings[i].severity == NCS_SEVERITY_SLOW)
			return true;
	return false;
}

static bool go_below(struct ncs_screen *screen, const struct ncs_row *row)
{
	if (row->node)
		return go_down(screen, NCS_VIEW_RANK, NCS_FOCUS_NODE,
			       row->node->name, 0);
	if (row->view == NCS_VIEW_COLLECTIVE)
		return go_down(screen, NCS_VIEW_FUNCTION, NCS_FOCUS_COLLECTIVE,
			       row->communicator->key, (unsigned)row->index);
	if (row->communicator)
		return go_to_ranks(screen, row->communicator);
	if (row->finding)
		return go_to_root(screen, row->finding);
	if (row->view == NCS_VIEW_FUNCTION)
		return go_down(screen, NCS_VIEW_CLASS, NCS_FOCUS_FUNCTION,
			       row->rank->id, (unsigned)row->index);
	if (row->view == NCS_VIEW_CHANNEL)
		return go_to_channel(screen, row->rank,
				     &row->rank->now.channels[row->index]);
	if (row->view == NCS_VIEW_RANK && screen->depth == 0 &&
	    is_called_slow(screen, row->rank))
		return go_down(screen, NCS_VIEW_FINDING, NCS_FOCUS_RANK,
			       row->rank->id, 0);
	return go_to_channels(screen, row->rank);
}

/* Shows the rows of a group, or hides them again. */
static void toggle_group(struct ncs_screen *screen,
			 const struct ncs_grid_row *row)
{
	ncs_grid_act(ncs_screen_table(screen), row->fold == NCS_FOLD_CLOSED ?
						       NCS_ACTION_UNFOLD :
						       NCS_ACTION_FOLD);
	ncs_screen_follow_table(screen);
}

void ncs_screen_enter(struct ncs_screen *screen)
{
	const struct ncs_grid_row *row = ncs_screen_selected(screen);

	if (!row)
		ncs_screen_say(screen, "no row is selected");
	else if (row->of)
		toggle_group(screen, row);
	else if (row->unreadable)
		ncs_screen_say(screen, "it cannot be read: %s",
			       row->unreadable->why);
	else if (screen->view == NCS_VIEW_CHANNEL && row->row.rank ?
			 !go_to_peer(screen, row->row.rank) :
			 !go_below(screen, &row->row))
		ncs_screen_say(screen, "nothing below this; Esc goes"
				       " back");
}

void ncs_screen_toggle_sizes(struct ncs_screen *screen)
{
	if (ncs_screen_tab_of(screen->view) != NCS_VIEW_COLLECTIVE) {
		ncs_screen_say(screen, "for sizes, press x in Collectives");
		return;
	}
	ncs_screen_show_view(screen, screen->view == NCS_VIEW_CLASS ?
					     NCS_VIEW_COLLECTIVE :
					     NCS_VIEW_CLASS);
	ncs_screen_say(screen, "%s",
		       screen->view == NCS_VIEW_COLLECTIVE ?
			       "one row for each function" :
			       "one row for each size, algorithm and protocol");
}
