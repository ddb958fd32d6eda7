/* SPDX-License-Identifier: MIT */
/* Names that the user gives to communicators, in place of those that NCCL has.
 *
 * From the text of a file: a pattern a line, and after blanks the name; the
 * first pattern that fits counts. Empty lines and those that begin with # are
 * left out. Pure.
 */
#ifndef NCS_ANALYSIS_BASE_ALIASES_H
#define NCS_ANALYSIS_BASE_ALIASES_H

#include <stdbool.h>
#include <stddef.h>

#include "ncclstat/abi.h"

struct ncs_alias;

struct ncs_aliases {
	struct ncs_alias *aliases;
	size_t count;
};

/* Whether a communicator's name or its id, in 16 hexadecimal digits, fits a
 * glob(7) pattern; NULL fits all. */
bool ncs_comm_matches(const struct ncs_identity *identity, const char *pattern);

/* To be released, also after an error: -ENOMEM, or -EINVAL and the line, from 1
 * on, that is a pattern without a name. */
int ncs_aliases_parse(struct ncs_aliases *aliases, const char *text,
		      unsigned *line);
void ncs_aliases_release(struct ncs_aliases *aliases);

/* Gives a communicator its name, if it has one here. */
void ncs_aliases_apply(const struct ncs_aliases *aliases,
		       struct ncs_identity *identity);

#endif
