/* SPDX-License-Identifier: MIT */
/* The user's names for communicators; see aliases.h. Must do no I/O. */
#include "analysis/base/aliases.h"

#include <errno.h>
#include <fnmatch.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ncclstat/abi_identity.h"
#include "shm/array.h"

#define BLANKS " \t\r"

struct ncs_alias {
	char *pattern;
	char *name;
};

bool ncs_comm_matches(const struct ncs_identity *identity, const char *pattern)
{
	char id[17];

	if (!pattern)
		return true;
	if (identity->known & NCS_KNOWN_COMM_NAME &&
	    fnmatch(pattern, identity->comm_name, 0) == 0)
		return true;
	snprintf(id, sizeof(id), "%016" PRIx64, identity->comm_id);
	return identity->known & NCS_KNOWN_COMM_ID &&
	       fnmatch(pattern, id, 0) == 0;
}

/* Adds an alias, of which it takes ownership even if it fails. Returns 0 or
 * -ENOMEM. */
static int append(struct ncs_aliases *aliases, char *pattern, char *name)
{
	if (!pattern || !name ||
	    ncs_array_reserve(&aliases->aliases, &aliases->capacity,
			      aliases->count + 1,
			      sizeof(*aliases->aliases)) != 0) {
		free(pattern);
		free(name);
		return -ENOMEM;
	}
	aliases->aliases[aliases->count++] =
		(struct ncs_alias){ .pattern = pattern, .name = name };
	return 0;
}

/* Parses the first `length` bytes of a line. Returns 0, -ENOMEM, or -EINVAL if
 * it has a pattern but no name. */
static int parse_line(struct ncs_aliases *aliases, const char *line,
		      size_t length)
{
	size_t begin, blank, name;

	while (length > 0 && strchr(BLANKS, line[length - 1]))
		length--;
	begin = strspn(line, BLANKS);
	if (begin >= length || line[begin] == '#')
		return 0;
	blank = begin + strcspn(line + begin, BLANKS);
	if (blank >= length)
		return -EINVAL;
	name = blank + strspn(line + blank, BLANKS);
	return append(aliases, strndup(line + begin, blank - begin),
		      strndup(line + name, length - name));
}

int ncs_aliases_parse(struct ncs_aliases *aliases, const char *text,
		      unsigned *line)
{
	int error = 0;

	memset(aliases, 0, sizeof(*aliases));
	*line = 0;
	while (*text && !error) {
		size_t length = strcspn(text, "\n");

		++*line;
		error = parse_line(aliases, text, length);
		text += length + (text[length] == '\n');
	}
	return error;
}

void ncs_aliases_release(struct ncs_aliases *aliases)
{
	for (size_t i = 0; i < aliases->count; i++) {
		free(aliases->aliases[i].pattern);
		free(aliases->aliases[i].name);
	}
	free(aliases->aliases);
	memset(aliases, 0, sizeof(*aliases));
}

void ncs_aliases_apply(const struct ncs_aliases *aliases,
		       struct ncs_identity *identity)
{
	for (size_t i = 0; i < aliases->count; i++) {
		if (!ncs_comm_matches(identity, aliases->aliases[i].pattern))
			continue;
		snprintf(identity->comm_name, sizeof(identity->comm_name), "%s",
			 aliases->aliases[i].name);
		identity->known |= NCS_KNOWN_COMM_NAME;
		return;
	}
}
