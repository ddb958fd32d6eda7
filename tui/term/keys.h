/* SPDX-License-Identifier: MIT */
/* Keys of the live view: from the codes that curses reads to actions, and from
 * names to codes.
 *
 * Everything is generated from include/ncclstat/tables/keys.def. Pure
 * functions.
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
	const char *keys;  /* names, separated by blanks */
	/* Label in the function bar; "" if the key is not in the bar. */
	const char *label;
	const char *help;
};

/* The key table. It is in the order of the actions: ncs_keys[i].action == i +
 * 1. */
extern const struct ncs_key ncs_keys[NCS_ACTION_COUNT - 1];

/* Headings of the groups in the help. */
extern const char *const ncs_key_group_titles[NCS_KEY_GROUP_COUNT];

/* Returns the action of a key that curses read, or NCS_ACTION_NONE. */
enum ncs_action ncs_key_action(int code);

/* Moves a place in a list from 0 to `last`: by one, by a page, or to an end. Returns
 * false if the action is none of these. */
bool ncs_action_moves(enum ncs_action action, size_t page, size_t last,
		      size_t *place);

/* Maps the codes that different terminals send for Enter and Backspace to one
 * code each. Returns other codes unchanged. */
int ncs_key_normalize(int code);

/* Returns the code of the key with a name of `length` bytes, or -1 if there is
 * no such key. */
int ncs_key_code(const char *name, size_t length);

/* Moves *list to the next name in a list of names separated by blanks. Returns
 * the length of that name in bytes; 0 at the end. */
size_t ncs_key_next_name(const char **list);

/* Returns the number of the function key that the bar shows for a key; 0 if
 * there is none. */
unsigned ncs_key_bar_number(const struct ncs_key *key);

#endif
