/* SPDX-License-Identifier: MIT */
/* Names that the user gives to communicators, in place of NCCL's names.
 *
 * They come from the text of a file: each line has a glob(7) pattern, blanks,
 * and a name; the first pattern that matches counts. Empty lines and lines that
 * begin with # are ignored. Pure.
 */
#ifndef NCS_ANALYSIS_BASE_ALIASES_H
#define NCS_ANALYSIS_BASE_ALIASES_H

#include <stdbool.h>
#include <stddef.h>

struct ncs_identity; /* ncclstat/abi_identity.h */

struct ncs_alias;

struct ncs_aliases {
	struct ncs_alias *aliases;
	size_t count, capacity;
};

/* Returns true if a communicator's name, or its id in 16 hexadecimal digits,
 * matches a glob(7) pattern, or if the pattern is NULL. */
bool ncs_comm_matches(const struct ncs_identity *identity, const char *pattern);

/* Parses the text of a file into `aliases`, which may be uninitialized. Returns
 * 0, -ENOMEM, or -EINVAL if the line `*line`, counted from 1, has a pattern
 * without a name. Release the aliases even after an error. */
int ncs_aliases_parse(struct ncs_aliases *aliases, const char *text,
		      unsigned *line);

/* Frees what ncs_aliases_parse() allocated. */
void ncs_aliases_release(struct ncs_aliases *aliases);

/* Replaces the name of a communicator by that of the first matching alias, if
 * there is one. */
void ncs_aliases_apply(const struct ncs_aliases *aliases,
		       struct ncs_identity *identity);

#endif
