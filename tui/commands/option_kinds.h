/* SPDX-License-Identifier: MIT */
/* The kinds of arguments that options have; options.def names them. Functions
 * must read only their arguments.
 */
#ifndef NCS_TUI_COMMANDS_OPTION_KINDS_H
#define NCS_TUI_COMMANDS_OPTION_KINDS_H

#include "tui/commands/option_rows.h"

/* The kinds; what each takes is said where it is listed. */
#define X(ID, name, letter, has, argument, place, mode, kind, field, limits, \
	  help) \
	extern const struct ncs_option_kind ncs_option_kind_##kind;
NCS_OPTIONS(X)
#undef X

/* Whether each item of an argument of --columns or --sort is a column of a
 * view. */
bool ncs_titles_are_of(const char *text, enum ncs_view view);

/* Says what an option expects in place of an argument that is wrong, and what may
 * be meant by it. */
void ncs_option_refuse(const struct ncs_option_row *row, const char *argument,
		       char *error, size_t error_size);

/* Appends the word that may have been meant by the first word of a setting, as
 * of --set, that is none, as "; did you mean sample?", if one is near. */
void ncs_setting_suggest(const char *setting, char *text, size_t size);

/* Returns the number of a word in a list such as "one|two|three"; -1 if the
 * list does not contain it. */
int ncs_choice_find(const char *choices, const char *word);

/* Sets a choice to its next or its previous word, wrapping around at the
 * ends. */
void ncs_choice_step(struct ncs_options *options,
		     const struct ncs_option_row *row, bool forward);

#endif
