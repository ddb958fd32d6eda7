/* SPDX-License-Identifier: MIT */
/* A recording in the live view; see screen_actions.h. Must not read a clock. */
#include "tui/screen/screen_actions.h"

void ncs_screen_set_replay(struct ncs_screen *screen, struct ncs_replay *replay,
			   const struct ncs_replay_search *search)
{
	screen->replay = replay;
	screen->search_ahead = search;
	screen->paused = !replay->playing;
}

/* --- Keys ----------------------------------------------------------------- */

/* Goes to a time. Returns the request to fill the model with the time before
 * it. */
static unsigned jump(struct ncs_screen *screen, uint64_t moment_ns)
{
	ncs_replay_go(screen->replay, moment_ns, screen->now_ns);
	return NCS_REQUEST_JUMP;
}

static unsigned play(struct ncs_screen *screen)
{
	struct ncs_replay *replay = screen->replay;

	if (!replay->playing && replay->at_ns == replay->until_ns) {
		ncs_screen_say(screen,
			       "this is the end; Ctrl-A goes to the beginning");
		return 0;
	}
	ncs_replay_play(replay, !replay->playing, screen->now_ns);
	screen->paused = !replay->playing;
	ncs_screen_say(screen, "%s",
		       screen->paused ? "paused: Z resumes" : "playing");
	return NCS_REQUEST_SAMPLE;
}

static unsigned step(struct ncs_screen *screen, bool back)
{
	struct ncs_replay *replay = screen->replay;
	uint64_t at_ns = replay->at_ns, by_ns = screen->options.interval_ns;

	ncs_replay_play(replay, false, screen->now_ns);
	screen->paused = true;
	if (back && at_ns == replay->from_ns)
		ncs_screen_say(screen, "this is the beginning");
	else if (back)
		return jump(screen, at_ns > by_ns ? at_ns - by_ns : 0);
	else if (at_ns == replay->until_ns)
		ncs_screen_say(screen, "this is the end");
	else
		ncs_replay_go(replay, at_ns + by_ns, screen->now_ns);
	return NCS_REQUEST_SAMPLE;
}

static unsigned change_speed(struct ncs_screen *screen, bool faster)
{
	ncs_replay_change_speed(screen->replay, faster, screen->now_ns);
	ncs_screen_say(screen, "%gx the original speed", screen->replay->speed);
	return 0;
}

static unsigned go_abnormal(struct ncs_screen *screen, bool forward)
{
	const struct ncs_replay_search *search = screen->search_ahead;
	const struct ncs_episode *found;

	if (!search)
		return 0;
	found = ncs_replay_search_next(search, screen->replay->at_ns, forward);
	if (found) {
		ncs_screen_say(screen, "%s: %s",
			       ncs_severity_name(found->severity),
			       found->sentence);
		ncs_replay_play(screen->replay, false, screen->now_ns);
		screen->paused = true;
		return jump(screen, found->seen_ns);
	}
	ncs_screen_say(screen,
		       search->done || !forward ?
			       "nothing wrong found %s this moment" :
			       "nothing wrong found %s this moment so far; the"
			       " search goes on",
		       forward ? "after" : "before");
	return 0;
}

unsigned ncs_replay_go_typed(struct ncs_screen *screen)
{
	struct ncs_replay *replay = screen->replay;
	struct ncs_instant instant;
	uint64_t moment_ns;
	char why[160];

	if (!ncs_instant_parse(screen->typed, &instant))
		ncs_screen_say(screen, "write a time as 12.5, 1:02:03, -10 or"
				       " T14:03:05");
	else if (!ncs_instant_resolve(&instant, &replay->all, &moment_ns, why,
				      sizeof(why)))
		ncs_screen_say(screen, "%s", why);
	else
		return jump(screen, moment_ns);
	return 0;
}

static bool is_of_recordings(enum ncs_action action)
{
	return action != NCS_ACTION_NONE &&
	       ncs_keys[action - 1].group == NCS_KEY_GROUP_REPLAY;
}

/* NCS_ACTION_GO is not handled here: screen.c opens a prompt for it. */
unsigned ncs_replay_act(struct ncs_screen *screen, enum ncs_action action)
{
	struct ncs_replay *replay = screen->replay;

	if (!replay && !is_of_recordings(action))
		return NCS_REQUEST_USUAL;
	if (!replay) {
		ncs_screen_say(screen, "this key is for recordings: ncclstat"
				       " --replay FILE");
		return 0;
	}
	switch (action) {
	case NCS_ACTION_PAUSE:
		return play(screen);
	case NCS_ACTION_STEP_ON:
	case NCS_ACTION_STEP_BACK:
		return step(screen, action == NCS_ACTION_STEP_BACK);
	case NCS_ACTION_FASTER:
	case NCS_ACTION_SLOWER:
		return change_speed(screen, action == NCS_ACTION_FASTER);
	case NCS_ACTION_GO_ABNORMAL:
	case NCS_ACTION_GO_ABNORMAL_BACK:
		return go_abnormal(screen, action == NCS_ACTION_GO_ABNORMAL);
	case NCS_ACTION_GO_BEGINNING:
		return jump(screen, replay->from_ns);
	case NCS_ACTION_GO_END:
		return jump(screen, replay->until_ns);
	case NCS_ACTION_DETAIL:
	case NCS_ACTION_SET:
		ncs_screen_say(screen,
			       "this is a recording: its settings cannot be"
			       " changed");
		return 0;
	default:
		return NCS_REQUEST_USUAL;
	}
}

/* --- The mouse ------------------------------------------------------------ */

unsigned ncs_replay_click(struct ncs_screen *screen, int y, int x)
{
	const struct ncs_replay *replay = screen->replay;
	uint64_t length_ns;

	if (!replay || screen->bar_width < 2 || y != screen->bar_y ||
	    x < screen->bar_x || x >= screen->bar_x + screen->bar_width)
		return NCS_REQUEST_USUAL;
	length_ns = replay->until_ns - replay->from_ns;
	return jump(screen,
		    replay->from_ns +
			    (uint64_t)((double)length_ns * (x - screen->bar_x) /
				       (screen->bar_width - 1)));
}
