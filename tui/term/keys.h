/* SPDX-License-Identifier: MIT */
/* Keys of the live view: from what curses reads to an action, and back to
 * names.
 *
 * Everything is made from include/ncclstat/tables/keys.def. Pure functions.
 */
#ifndef NCS_TUI_TERM_KEYS_H
#define NCS_TUI_TERM_KEYS_H

#include <stdbool.h>
#include <stddef.h>

#include "ncclstat/tables/keys.def"

enum ncs_action {
	NCS_ACTION_NONE,
#define X(ID, group, keys, label, help) NCS_ACTION_##ID,
	NCS_KEYS(X)
#undef X
		NCS_ACTION_COUNT
};

enum ncs_key_group {
#define X(ID, title) NCS_KEY_GROUP_##ID,
	NCS_KEY_GROUPS(X)
#undef X
		NCS_KEY_GROUP_COUNT
};

struct ncs_key {
	enum ncs_action action;
	enum ncs_key_group group;
	const char *keys;
	const char *label;
	const char *help;
};

/* In the table's order; [i].action == i + 1. */
extern const struct ncs_key ncs_keys[NCS_ACTION_COUNT - 1];
extern const char *const ncs_key_group_titles[NCS_KEY_GROUP_COUNT];

/* What a key read by curses means: NCS_ACTION_NONE if nothing. */
enum ncs_action ncs_key_action(int code);

/* The different codes that terminals send for Enter and Backspace made one. */
int ncs_key_normalize(int code);

/* The code of the key with this name of `length` bytes; -1 if there is none
 * of that name. */
int ncs_key_code(const char *name, size_t length);

/* Takes the next name off a list separated by blanks: returns its length, 0 at
 * the end, and moves *list to it. */
size_t ncs_key_next_name(const char **list);

/* The number of the function key in the bar, 0: it is not there. */
unsigned ncs_key_bar_number(const struct ncs_key *key);

#endif
