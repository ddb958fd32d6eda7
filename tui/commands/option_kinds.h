/* SPDX-License-Identifier: MIT */
/* The kinds of arguments that options have; options.def names them. Functions
 * must read only their arguments.
 */
#ifndef NCS_TUI_COMMANDS_OPTION_KINDS_H
#define NCS_TUI_COMMANDS_OPTION_KINDS_H

#include "tui/commands/option_rows.h"

/* No argument: nothing is set beyond the mode. */
extern const struct ncs_option_kind ncs_option_kind_none;
/* No argument: a bool becomes true. */
extern const struct ncs_option_kind ncs_option_kind_flag;
/* A word of the row's argument: sets an enum to the number of the word, or a
 * bool to true for the second of two words. */
extern const struct ncs_option_kind ncs_option_kind_choice;
/* A choice that is "on" if the argument is left out. */
extern const struct ncs_option_kind ncs_option_kind_mouse;
/* A const char * that is not empty. */
extern const struct ncs_option_kind ncs_option_kind_text;
/* A uint64_t of at least 1; the number of a process as uint32_t. */
extern const struct ncs_option_kind ncs_option_kind_number;
extern const struct ncs_option_kind ncs_option_kind_pid;
/* A uint64_t: a time in seconds, stored in ns. */
extern const struct ncs_option_kind ncs_option_kind_seconds;
/* A struct ncs_instant. */
extern const struct ncs_option_kind ncs_option_kind_instant;
/* The arguments of single options. */
extern const struct ncs_option_kind ncs_option_kind_metrics;
extern const struct ncs_option_kind ncs_option_kind_series;
extern const struct ncs_option_kind ncs_option_kind_archive;
extern const struct ncs_option_kind ncs_option_kind_bytes;
extern const struct ncs_option_kind ncs_option_kind_compression;
extern const struct ncs_option_kind ncs_option_kind_rotation;
extern const struct ncs_option_kind ncs_option_kind_retention;
extern const struct ncs_option_kind ncs_option_kind_what_if;
extern const struct ncs_option_kind ncs_option_kind_hook;
extern const struct ncs_option_kind ncs_option_kind_setting;
extern const struct ncs_option_kind ncs_option_kind_sort;
extern const struct ncs_option_kind ncs_option_kind_columns;
extern const struct ncs_option_kind ncs_option_kind_config_path;
extern const struct ncs_option_kind ncs_option_kind_aliases_path;

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
