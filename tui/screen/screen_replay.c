/* SPDX-License-Identifier: MIT */
/* A recording in the live view; see screen_replay.h. Must not read a clock. */
#include "tui/screen/screen_replay.h"

#include <stdio.h>
#include <string.h>
#include <time.h>

#include "tui/term/term.h"
#include "tui/text/format.h"

#define LINE_BYTES 512
#define BAR_LEAST 16

void ncs_screen_set_replay(struct ncs_screen *screen, struct ncs_replay *replay,
			   const struct ncs_replay_search *search)
{
	screen->replay = replay;
	screen->search_ahead = search;
	screen->paused = !replay->playing;
}

/* --- The line ------------------------------------------------------------- */

enum replay_part {
	PART_POSITION,
	PART_SPEED,
	PART_WALL,
	PART_CLOCKS,
	PART_ABNORMAL,
	PART_BAR, /* takes the rest of the line */
	PART_COUNT
};

static const unsigned priorities[PART_COUNT] = { 9, 8, 4, 7, 5, 6 };

static void print_wall(const struct ncs_replay *replay, char *text, size_t size)
{
	uint64_t wall_ns = ncs_replay_realtime_ns(replay, replay->at_ns);
	time_t seconds = (time_t)(wall_ns / UINT64_C(1000000000));
	struct tm local;
	char day[32];

	if (localtime_r(&seconds, &local) &&
	    strftime(day, sizeof(day), "%Y-%m-%d %H:%M:%S", &local) > 0)
		snprintf(text, size, "%s.%03u", day,
			 (unsigned)(wall_ns % 1000000000 / 1000000));
}

static void print_abnormal(const struct ncs_replay_search *search, char *text,
			   size_t size)
{
	uint64_t length_ns = search->until_ns - search->from_ns;

	if (search->done)
		snprintf(text, size, "%zu abnormal", search->found.count);
	else
		snprintf(text, size, "%zu abnormal, %d%% searched",
			 search->found.count,
			 length_ns > 0 ? (int)((double)(search->next_ns -
							search->from_ns) *
					       100 / (double)length_ns) :
					 0);
}

static void print_parts(const struct ncs_screen *screen,
			char texts[PART_COUNT][96])
{
	const struct ncs_replay *replay = screen->replay;
	size_t size = sizeof(texts[0]);
	char at[32], length[32], error[NCS_FORMAT_MAX] = "-";

	for (size_t i = 0; i < PART_COUNT; i++)
		texts[i][0] = '\0';
	ncs_instant_print(ncs_replay_since_ns(replay), at, sizeof(at));
	ncs_instant_print(replay->all.until_ns - replay->all.from_ns, length,
			  sizeof(length));
	snprintf(texts[PART_POSITION], size, "at %s of %s", at, length);
	snprintf(texts[PART_SPEED], size, "%gx", replay->speed);
	print_wall(replay, texts[PART_WALL], size);
	if (replay->error_ns != 0) {
		if (replay->error_ns != UINT64_MAX)
			ncs_format_duration(error, sizeof(error),
					    replay->error_ns, 0);
		snprintf(texts[PART_CLOCKS], size, "clocks within %.32s",
			 error);
	}
	if (screen->search_ahead)
		print_abnormal(screen->search_ahead, texts[PART_ABNORMAL],
			       size);
}

static int column_of(const struct ncs_replay *replay, uint64_t moment_ns,
		     int width)
{
	uint64_t length_ns = replay->until_ns - replay->from_ns;

	if (length_ns == 0)
		return 0;
	return (int)((double)(moment_ns - replay->from_ns) / (double)length_ns *
		     (width - 1));
}

static void draw_episode(const struct ncs_replay *replay,
			 const struct ncs_episode *episode, int y, int x,
			 int width)
{
	int at = column_of(replay, episode->seen_ns, width);
	int end = column_of(replay, episode->until_ns, width);

	for (int i = at; i <= end; i++)
		ncs_term_put(y, x + i, 1, NCS_ROLE_BAD,
			     i == column_of(replay, replay->at_ns, width) ?
				     "|" :
				     "!");
}

/* Draws the bar: the time before the position, the position, and the time after
 * it, with marks at the episodes. */
static void draw_bar(struct ncs_screen *screen, int y, int x, int width)
{
	const struct ncs_replay *replay = screen->replay;
	const struct ncs_replay_search *search = screen->search_ahead;
	int at = column_of(replay, replay->at_ns, width);
	char text[LINE_BYTES];

	if (width >= (int)sizeof(text))
		width = (int)sizeof(text) - 1;
	for (int i = 0; i < width; i++)
		text[i] = i == at ? '|' : i < at ? '=' : '-';
	text[width] = '\0';
	ncs_term_put(y, x, width, NCS_ROLE_TEXT, text);
	for (size_t i = 0; search && i < search->found.count; i++)
		draw_episode(replay, &search->found.all[i], y, x, width);
	screen->bar_y = y;
	screen->bar_x = x;
	screen->bar_width = width;
}

void ncs_replay_draw(struct ncs_screen *screen, const struct ncs_rect *rect)
{
	char texts[PART_COUNT][96];
	struct ncs_item items[PART_COUNT];
	int x = rect->x;

	print_parts(screen, texts);
	for (size_t i = 0; i < PART_COUNT; i++)
		items[i] = (struct ncs_item){
			.width = ncs_term_text_width(texts[i]),
			.priority = priorities[i],
		};
	items[PART_BAR].width = BAR_LEAST;
	ncs_layout_fit(items, PART_COUNT, rect->width, 2);
	for (size_t i = 0; i < PART_BAR; i++)
		if (items[i].kept && items[i].width > 0)
			x += 2 + ncs_term_put(rect->y, x, items[i].width,
					      NCS_ROLE_TEXT, texts[i]);
	if (items[PART_BAR].kept)
		draw_bar(screen, rect->y, x, rect->x + rect->width - x);
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
	uint64_t at_ns = replay->at_ns, by_ns = screen->interval_ns;

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
