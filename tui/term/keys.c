/* SPDX-License-Identifier: MIT */
/* Keys of the live view; see keys.h. Must not act, and must not know the
 * screen: tui/screen/screen.c executes actions.
 *
 * Called for each key. The table is short, so it is searched each time; there
 * is no index that could get out of step with it.
 */
#include "tui/term/keys.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "tui/term/curses.h"

const struct ncs_key ncs_keys[NCS_ACTION_COUNT - 1] = {
#define X(ID, group, keys, label, help) \
	{ NCS_ACTION_##ID, NCS_KEY_GROUP_##group, keys, label, help },
	NCS_KEYS(X)
#undef X
};

const char *const ncs_key_group_titles[NCS_KEY_GROUP_COUNT] = {
#define X(ID, title) title,
	NCS_KEY_GROUPS(X)
#undef X
};

#define CONTROL(letter) ((letter)&0x1f)
#define ESCAPE 27

static const struct {
	const char *name;
	int code;
} named[] = {
	{ "Up", KEY_UP },
	{ "Down", KEY_DOWN },
	{ "Left", KEY_LEFT },
	{ "Right", KEY_RIGHT },
	{ "PgUp", KEY_PPAGE },
	{ "PgDn", KEY_NPAGE },
	{ "Home", KEY_HOME },
	{ "End", KEY_END },
	{ "Enter", KEY_ENTER },
	{ "Esc", ESCAPE },
	{ "Backspace", KEY_BACKSPACE },
	{ "Tab", '\t' },
	{ "Shift-Tab", KEY_BTAB },
	{ "Shift-Left", KEY_SLEFT },
	{ "Shift-Right", KEY_SRIGHT },
	{ "Space", ' ' },
	/* Names that tmux uses, for scripts of keys. */
	{ "PPage", KEY_PPAGE },
	{ "PageUp", KEY_PPAGE },
	{ "NPage", KEY_NPAGE },
	{ "PageDown", KEY_NPAGE },
	{ "Escape", ESCAPE },
	{ "BSpace", KEY_BACKSPACE },
	{ "BTab", KEY_BTAB },
	{ "S-Left", KEY_SLEFT },
	{ "S-Right", KEY_SRIGHT },
};

/* Returns the length of a prefix such as "Ctrl-" or its short form "C-", if a name
 * begins with one and goes on; else 0. */
static size_t prefix_length(const char *name, size_t length, const char *prefix)
{
	size_t bytes = strlen(prefix);

	if (length > bytes && memcmp(name, prefix, bytes) == 0)
		return bytes;
	return length > 2 && name[0] == prefix[0] && name[1] == '-' ? 2 : 0;
}

/* Returns the number of a function key, F1 to F12, or 0 for other names. */
static int function_number(const char *name, size_t length)
{
	int number = 0;

	if (length < 2 || length > 3 || name[0] != 'F')
		return 0;
	for (size_t i = 1; i < length; i++) {
		if (!isdigit((unsigned char)name[i]))
			return 0;
		number = number * 10 + (name[i] - '0');
	}
	return number <= 12 ? number : 0;
}

int ncs_key_code(const char *name, size_t length)
{
	size_t prefix;
	int number;

	if (length == 1)
		return (unsigned char)name[0];
	for (size_t i = 0; i < sizeof(named) / sizeof(*named); i++)
		if (strlen(named[i].name) == length &&
		    memcmp(named[i].name, name, length) == 0)
			return named[i].code;
	number = function_number(name, length);
	if (number > 0)
		return KEY_F(number);
	/* Terminals send F13 to F24 for shifted function keys. */
	prefix = prefix_length(name, length, "Shift-");
	if (prefix > 0) {
		number = function_number(name + prefix, length - prefix);
		return number > 0 ? KEY_F(number + 12) : -1;
	}
	prefix = prefix_length(name, length, "Ctrl-");
	if (prefix > 0 && length == prefix + 1 &&
	    isalpha((unsigned char)name[prefix]))
		return CONTROL(name[prefix]);
	return -1;
}

int ncs_key_normalize(int code)
{
	switch (code) {
	case '\r':
	case '\n':
		return KEY_ENTER;
	case CONTROL('H'):
	case 0x7f:
		return KEY_BACKSPACE;
	default:
		return code;
	}
}

size_t ncs_key_next_name(const char **list)
{
	while (**list && strchr(" \t\r\n", **list))
		(*list)++;
	return strcspn(*list, " \t\r\n");
}

static bool has_code(const char *keys, int code)
{
	size_t length;

	while ((length = ncs_key_next_name(&keys)) > 0) {
		if (ncs_key_normalize(ncs_key_code(keys, length)) == code)
			return true;
		keys += length;
	}
	return false;
}

enum ncs_action ncs_key_action(int code)
{
	code = ncs_key_normalize(code);
	for (size_t i = 0; i < NCS_ACTION_COUNT - 1; i++)
		if (has_code(ncs_keys[i].keys, code))
			return ncs_keys[i].action;
	return NCS_ACTION_NONE;
}

unsigned ncs_key_bar_number(const struct ncs_key *key)
{
	const char *keys = key->keys;
	size_t length = ncs_key_next_name(&keys);

	if (!key->label[0])
		return 0;
	return (unsigned)function_number(keys, length);
}

bool ncs_action_moves(enum ncs_action action, size_t page, size_t last,
		      size_t *place)
{
	bool by_page = action == NCS_ACTION_PAGE_UP ||
		       action == NCS_ACTION_PAGE_DOWN;
	size_t by = by_page ? page : 1;

	switch (action) {
	case NCS_ACTION_UP:
	case NCS_ACTION_PAGE_UP:
		*place -= *place < by ? *place : by;
		return true;
	case NCS_ACTION_DOWN:
	case NCS_ACTION_PAGE_DOWN:
		*place = *place + by < last ? *place + by : last;
		return true;
	case NCS_ACTION_FIRST:
		*place = 0;
		return true;
	case NCS_ACTION_LAST:
		*place = last;
		return true;
	default:
		return false;
	}
}
