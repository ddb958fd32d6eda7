/* SPDX-License-Identifier: MIT */
/* The table of options as an array, and the shape of its rows. For the files that
 * read, check and print options; all others use options.h. Must not know what an
 * option does.
 */
#ifndef NCS_TUI_COMMANDS_OPTION_ROWS_H
#define NCS_TUI_COMMANDS_OPTION_ROWS_H

#include <getopt.h>

#include "tui/commands/options.h"

/* Where an option may stand; see options.def. */
enum ncs_option_place { NCS_PLACE_ONCE, NCS_PLACE_KEPT, NCS_PLACE_LIVE };

struct ncs_option_row {
	const char *name;     /* without the dashes */
	char letter;          /* 0 if it has none */
	int has;              /* an argument: as struct option's has_arg */
	const char *argument; /* its name, or "one|two" */
	enum ncs_option_place place;
	enum ncs_mode mode; /* NCS_MODE_LIVE if the option does not set one */
	const struct ncs_option_kind *kind;
	size_t offset; /* of the field that it sets in struct ncs_options */
	size_t size;   /* of that field */
	const char *limits; /* what the argument must be, beyond its name */
	const char *help;
};

/* An argument that is to be read. */
struct ncs_option_input {
	struct ncs_options *options;
	const struct ncs_option_row *row;
	const char *argument; /* NULL if it was left out */
	char *why;            /* empty; receives a message */
	size_t why_size;
};

/* How the arguments of an option are read and printed. */
struct ncs_option_kind {
	/* Sets the option's field. False if the argument is wrong: `why` then
	 * has a message, or is empty for the usual one. */
	bool (*take)(const struct ncs_option_input *input);
	/* Prints the value as take() reads it; NULL if it is never saved. */
	void (*print)(const struct ncs_options *options,
		      const struct ncs_option_row *row, char *text,
		      size_t size);
};

extern const struct ncs_option_row ncs_option_rows[NCS_OPTIONS_END];

#endif
