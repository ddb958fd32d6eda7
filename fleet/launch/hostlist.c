/* SPDX-License-Identifier: MIT */
/* Lists of hosts; see hostlist.h. Expands a name by walking through its text:
 * at a bracket it goes on behind it once for each number. */
#include "fleet/launch/hostlist.h"

#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "shm/array.h"

#define SEPARATORS ", \t\n"
/* All that a name of a host, or of a user at a host, consists of. */
#define NAME_CHARACTERS \
	"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ" \
	"0123456789.-_:@%+"
/* A number of this many digits fits into 64 bits. */
#define DIGITS_MAX 18

/* --- Lists --------------------------------------------------------------- */

bool ncs_hostlist_has(const struct ncs_hostlist *list, const char *name)
{
	return ncs_hash_table_find_name(&list->by_name, name, strlen(name));
}

int ncs_hostlist_add_name(struct ncs_hostlist *list, const char *name)
{
	size_t length = strlen(name);
	struct ncs_host *host;
	int error;

	if (ncs_hostlist_has(list, name))
		return 0;
	if (list->count == NCS_HOSTLIST_MAX)
		return -E2BIG;
	error = ncs_array_reserve(&list->hosts, &list->capacity,
				  list->count + 1, sizeof(*list->hosts));
	host = error ? NULL : malloc(sizeof(*host) + length + 1);
	if (!host)
		return -ENOMEM;
	memcpy(host->name, name, length + 1);
	error = ncs_hash_table_insert_name(&list->by_name, &host->link,
					   host->name);
	if (error) {
		free(host);
		return error;
	}
	list->hosts[list->count++] = host;
	return 0;
}

void ncs_hostlist_exclude(struct ncs_hostlist *list,
			  const struct ncs_hostlist *excluded)
{
	size_t kept = 0;

	for (size_t i = 0; i < list->count; i++) {
		struct ncs_host *host = list->hosts[i];

		if (ncs_hostlist_has(excluded, host->name)) {
			ncs_hash_table_remove(&list->by_name, &host->link.link);
			free(host);
		} else {
			list->hosts[kept++] = host;
		}
	}
	list->count = kept;
}

void ncs_hostlist_release(struct ncs_hostlist *list)
{
	for (size_t i = 0; i < list->count; i++)
		free(list->hosts[i]);
	free(list->hosts);
	ncs_hash_table_release(&list->by_name);
	memset(list, 0, sizeof(*list));
}

/* --- Expanding ----------------------------------------------------------- */

struct expansion {
	struct ncs_hostlist *list;
	const char *text; /* the whole list, for positions */
	size_t made;      /* names so far, also those that came twice */
	size_t room;      /* names that may still be made */
	char name[NCS_HOST_NAME_BYTES]; /* up to where the walk is */
	char *error;
	size_t error_size;
};

static int fail(struct expansion *expansion, const char *at, const char *why)
{
	snprintf(expansion->error, expansion->error_size, "character %zu: %s",
		 (size_t)(at - expansion->text) + 1, why);
	return -EINVAL;
}

/* One item between brackets. */
struct range {
	uint64_t first, last, step;
	int width; /* with leading zeros */
};

static const char *skip_blanks(const char *at)
{
	return at + strspn(at, " ");
}

/* Reads a number. Returns its digits, or 0 if there is none or too many. */
static int read_number(const char **at, uint64_t *number)
{
	int digits = (int)strspn(*at, "0123456789");

	if (digits == 0 || digits > DIGITS_MAX)
		return 0;
	*number = strtoull(*at, NULL, 10);
	*at += digits;
	return digits;
}

/* Reads an item such as 7, 01-16 or 1-9/2, and moves `at` behind it. */
static int read_range(struct expansion *expansion, const char **at,
		      struct range *range)
{
	const char *begin = *at = skip_blanks(*at);
	int last_width;

	range->step = 1;
	range->width = read_number(at, &range->first);
	range->last = range->first;
	if (range->width == 0)
		return fail(expansion, begin, "a number is expected here");
	if (**at == '-') {
		const char *last = ++*at;

		last_width = read_number(at, &range->last);
		if (last_width == 0)
			return fail(expansion, last,
				    "a number is expected here");
		if (range->last < range->first)
			return fail(expansion, begin,
				    "the range goes backwards");
		if (last[0] == '0' && last_width != range->width)
			return fail(expansion, begin,
				    "its numbers have different padding");
	}
	if (**at == '/') {
		const char *step = ++*at;

		if (read_number(at, &range->step) == 0 || range->step == 0)
			return fail(expansion, step,
				    "a step of 1 or more is expected here");
	}
	*at = skip_blanks(*at);
	if (**at == ',' || **at == ']')
		return 0;
	return fail(expansion, *at,
		    **at ? "',', '-', '/' or ']' is expected here" :
			   "']' is missing");
}

static int walk(struct expansion *expansion, const char *at, size_t length);

/* Goes on behind the brackets once for each number of a range. */
static int walk_range(struct expansion *expansion, const struct range *range,
		      const char *after, size_t length)
{
	uint64_t number = range->first;

	for (;;) {
		char *end = expansion->name + length;
		size_t room = sizeof(expansion->name) - length;
		int digits = snprintf(end, room, "%0*llu", range->width,
				      (unsigned long long)number);
		int error;

		if ((size_t)digits >= room)
			return fail(expansion, after, "the name is too long");
		error = walk(expansion, after, length + (size_t)digits);
		if (error)
			return error;
		if (range->last - number < range->step)
			return 0;
		number += range->step;
	}
}

/* Expands brackets; `at` is behind the opening one. */
static int walk_brackets(struct expansion *expansion, const char *at,
			 size_t length)
{
	const char *close = strchr(at, ']');
	struct range range;
	int error;

	if (!close)
		return fail(expansion, at - 1, "']' is missing");
	do {
		error = read_range(expansion, &at, &range);
		if (!error)
			error = walk_range(expansion, &range, close + 1,
					   length);
	} while (!error && *at++ == ',');
	return error;
}

static int finish_name(struct expansion *expansion, const char *at,
		       size_t length)
{
	if (expansion->room == 0) {
		fail(expansion, at, "there are more than 65536 names");
		return -E2BIG;
	}
	expansion->room--;
	expansion->made++;
	expansion->name[length] = 0;
	return ncs_hostlist_add_name(expansion->list, expansion->name);
}

/* Expands the rest of a name, whose first `length` characters are made. */
static int walk(struct expansion *expansion, const char *at, size_t length)
{
	size_t plain = strspn(at, NAME_CHARACTERS);

	if (plain >= sizeof(expansion->name) - length)
		return fail(expansion, at, "the name is too long");
	memcpy(expansion->name + length, at, plain);
	length += plain;
	at += plain;
	if (*at == '[')
		return walk_brackets(expansion, at + 1, length);
	if (*at == ']')
		return fail(expansion, at, "'[' is missing");
	if (*at && !strchr(SEPARATORS, *at))
		return fail(expansion, at,
			    "this character is in no name of a host");
	return finish_name(expansion, at, length);
}

/* Returns the end of the part that begins here: brackets have commas, too. */
static const char *end_of_part(const char *at)
{
	bool inside = false;

	for (; *at && (inside || !strchr(SEPARATORS, *at)); at++)
		inside = *at == '[' || (inside && *at != ']');
	return at;
}

bool ncs_hostlist_needs_nodeset(const char *text)
{
	bool begins = true;

	for (; *text; text++) {
		if (strchr("!&^*?", *text) || (begins && *text == '@'))
			return true;
		begins = strchr(SEPARATORS, *text) != NULL;
	}
	return false;
}

/* Adds the names of the whole list. */
static int expand(struct expansion *expansion)
{
	const char *text = expansion->text;
	const char *at = text + strspn(text, " \t\n");
	int result = 0;

	while (!result && *at) {
		if (*at == '-')
			return fail(expansion, at, "no name begins with a '-'");
		if (*at == ',')
			return fail(expansion, at, "a name is expected here");
		result = walk(expansion, at, 0);
		at = end_of_part(at);
		at += strspn(at, " \t\n");
		if (*at == ',') {
			at++;
			at += strspn(at, " \t\n");
		}
	}
	if (!result && expansion->made == 0)
		return fail(expansion, at, "a name is expected here");
	return result;
}

int ncs_hostlist_add_within(struct ncs_hostlist *list, const char *text,
			    size_t *room, char *error, size_t error_size)
{
	struct expansion expansion = {
		.list = list,
		.text = text,
		.room = *room,
		.error = error,
		.error_size = error_size,
	};
	int result = expand(&expansion);

	*room = expansion.room;
	return result;
}

int ncs_hostlist_add(struct ncs_hostlist *list, const char *text, char *error,
		     size_t error_size)
{
	size_t room = NCS_HOSTLIST_MAX;

	return ncs_hostlist_add_within(list, text, &room, error, error_size);
}
