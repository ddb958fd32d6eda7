/* SPDX-License-Identifier: MIT */
/* Tags on rows; see screen_tags.h. */
#include "tui/screen/screen_tags.h"

#include "tui/table/table_actions.h"

static void say_tags(struct ncs_screen *screen, uint64_t now_ns)
{
	ncs_screen_say(screen, now_ns,
		       "%zu tagged; o shows only these, U untags",
		       screen->tags.count);
}

/* Returns the selected row; shows a message and returns NULL if there is no row
 * to tag. */
static const struct ncs_row *taggable(struct ncs_screen *screen,
				      uint64_t now_ns)
{
	const struct ncs_grid_row *row =
		ncs_grid_selected(ncs_screen_table(screen));

	if (row && !row->unreadable && !row->of)
		return &row->row;
	ncs_screen_say(screen, now_ns, "%s",
		       row && row->of ? "Enter shows its ranks, to be tagged" :
					"this row cannot be tagged");
	return NULL;
}

static void tag(struct ncs_screen *screen, bool whole, uint64_t now_ns)
{
	const struct ncs_row *row = taggable(screen, now_ns);
	struct ncs_grid_key key;
	char notice[8];

	if (!row)
		return;
	ncs_grid_key_of(row, &key);
	if (!whole && ncs_marks_remove(&screen->tags, &key)) {
		say_tags(screen, now_ns);
	} else if (!whole && ncs_marks_cover(&screen->tags, row)) {
		ncs_screen_say(screen, now_ns,
			       "tagged as part of a tagged row; U untags all");
	} else if (!ncs_marks_add(&screen->tags, &key, whole)) {
		ncs_screen_say(screen, now_ns, "not enough memory");
		return;
	} else {
		say_tags(screen, now_ns);
	}
	ncs_grid_act(ncs_screen_table(screen), NCS_ACTION_DOWN, notice,
		     sizeof(notice));
	screen->only_tagged = screen->only_tagged && screen->tags.count > 0;
	ncs_screen_build(screen);
}

bool ncs_screen_act_on_tags(struct ncs_screen *screen, enum ncs_action action,
			    uint64_t now_ns)
{
	switch (action) {
	case NCS_ACTION_TAG:
	case NCS_ACTION_TAG_WHOLE:
		tag(screen, action == NCS_ACTION_TAG_WHOLE, now_ns);
		return true;
	case NCS_ACTION_UNTAG_ALL:
		ncs_screen_say(screen, now_ns, "nothing is tagged now");
		ncs_marks_clear(&screen->tags);
		screen->only_tagged = false;
		ncs_screen_build(screen);
		return true;
	case NCS_ACTION_TAGGED_ONLY:
		if (screen->tags.count == 0) {
			ncs_screen_say(screen, now_ns,
				       "nothing is tagged: Space tags a row");
			return true;
		}
		screen->only_tagged = !screen->only_tagged;
		ncs_screen_say(screen, now_ns, "%s",
			       screen->only_tagged ? "only tagged rows" :
						     "all rows");
		ncs_screen_build(screen);
		return true;
	default:
		return false;
	}
}
