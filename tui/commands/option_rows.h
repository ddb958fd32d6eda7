/* SPDX-License-Identifier: MIT */
/* The table of options as an array, and the shape of its rows. Must not know what an
 * option does. */
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

#endif
