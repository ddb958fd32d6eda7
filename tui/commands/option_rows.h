/* SPDX-License-Identifier: MIT */
/* The table of options as an array, the kinds of arguments that its rows name, and the
 * rules for combinations of options. Functions must read only their arguments.
 */
#ifndef NCS_TUI_COMMANDS_OPTION_ROWS_H
#define NCS_TUI_COMMANDS_OPTION_ROWS_H

#include <getopt.h>

#include "tui/commands/options.h"

/* Where an option may be given; see options.def. */
enum ncs_option_place { NCS_PLACE_ONCE, NCS_PLACE_KEPT, NCS_PLACE_LIVE };

struct ncs_option_row {
	const char *name;     /* long name, without the dashes */
	char letter;          /* short option; 0 if it has none */
	int has; /* whether it takes an argument, as has_arg of struct option */
	/* Name of the argument, or its words: "one|two". */
	const char *argument;
	enum ncs_option_place place;
	enum ncs_task task; /* by which help lists it */
	enum ncs_mode mode; /* NCS_MODE_LIVE if the option does not set one */
	const struct ncs_option_kind *kind;
	/* Offset in struct ncs_options of the field that it sets. */
	size_t offset;
	size_t size;        /* size of that field in bytes */
	const char *limits; /* limits of the argument, for messages and help */
	const char *help;
};

/* An argument to be read. */
struct ncs_option_input {
	struct ncs_options *options;
	const struct ncs_option_row *row;
	const char *argument; /* NULL if it was left out */
	char *why;            /* empty at first; receives a message */
	size_t why_size;
};

/* How the arguments of an option are read and printed. */
struct ncs_option_kind {
	/* Sets the option's field. Returns false if the argument is wrong;
	 * `why` then has a message, or is empty for the usual message. */
	bool (*take)(const struct ncs_option_input *input);
	/* Prints the value in the form that take() reads. The function is NULL
	 * if the value is never saved. */
	void (*print)(const struct ncs_options *options,
		      const struct ncs_option_row *row, char *text,
		      size_t size);
	/* Appends what may be meant by an argument that is wrong. NULL if it is
	 * none of a list of names. */
	void (*suggest)(const struct ncs_option_row *row, const char *argument,
			char *text, size_t size);
};

extern const struct ncs_option_row ncs_option_rows[NCS_OPTIONS_END];

/* --- Kinds --------------------------------------------------------------- */

/* The kinds; what each takes is said where it is listed. */
#define X(ID, name, letter, has, argument, place, task, mode, kind, field, \
	  limits, help) \
	extern const struct ncs_option_kind ncs_option_kind_##kind;
NCS_OPTIONS(X)
#undef X

/* Whether each item of an argument of --columns or --sort is a column of a
 * view. */
bool ncs_titles_are_of(const char *text, enum ncs_view view);

/* Copies the next of the items that commas separate, and moves *list behind it: to NULL
 * after the last one. Returns false if it does not fit. */
bool ncs_option_item(const char **list, char *item, size_t size);

/* Keeps an argument, in NCS_OPTION_VALUE_MAX bytes. Returns false if it does not fit. */
bool ncs_option_keep(const char *argument, char *text);

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

/* --- Rules --------------------------------------------------------------- */

/* Checks the options of a whole command line. Returns false, and sets `error`
 * to the reason, if an option would have no effect, or if files are missing or
 * not expected. */
bool ncs_option_rules_check(const struct ncs_options *options, char *error,
			    size_t error_size);

/* Checks that the argument of --columns, if any, has titles of columns of
 * views. Returns false, and sets `error` to what is expected, if it has not. */
bool ncs_option_rules_check_titles(const struct ncs_options *options,
				   char *error, size_t error_size);

/* Sets the columns, the order and the events of a request by the options, which are those
 * of an export. Returns false, and sets `error` to what is expected, if they
 * make no sense. */
bool ncs_export_choice(const struct ncs_options *options,
		       struct ncs_export_request *request, char *error,
		       size_t error_size);

#endif
