/* SPDX-License-Identifier: MIT */
/* The options of the program, by the table in ncclstat/tables/options.def: reads
 * them from the command line and from the configuration file, and prints them.
 *
 * Looks at its arguments only and prints no errors: its callers do.
 */
#ifndef NCS_TUI_COMMANDS_OPTIONS_H
#define NCS_TUI_COMMANDS_OPTIONS_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "analysis/path/critical_path.h"
#include "analysis/views/columns.h"
#include "ncclstat/tables/options.def"
#include "record/export/export.h"
#include "record/read/instant.h"
#include "record/write/recorder.h"
#include "shm/control.h"
#include "tui/term/term.h"
#include "tui/text/format.h"

#define NCS_INTERVAL_DEFAULT_NS UINT64_C(1000000000)
#define NCS_INTERVAL_MIN_NS UINT64_C(100000000)
#define NCS_INTERVAL_MAX_NS UINT64_C(86400000000000)
/* Size of a buffer for the value of any option that the live view changes. */
#define NCS_OPTION_VALUE_MAX 4096
#define NCS_SYNTHETIC_RANKS_MAX 4096u
#define NCS_SYNTHETIC_CHANNELS_MAX 64u

enum ncs_option {
#define X(ID, ...) NCS_OPTION_##ID,
	NCS_OPTIONS(X)
#undef X
		NCS_OPTIONS_END
};

/* The tasks of the program; each has a row in commands.c. */
enum ncs_mode {
	NCS_MODE_LIVE, /* the live view; a dump if there is no terminal */
	NCS_MODE_DUMP,
	NCS_MODE_DIAGNOSE,
	NCS_MODE_RECORD,
	NCS_MODE_REPLAY,
	NCS_MODE_CRITICAL_PATH,
	NCS_MODE_EXPORT,
	NCS_MODE_LIST,
	NCS_MODE_CLEAN,
	NCS_MODE_SET,
	NCS_MODE_HELP,
	NCS_MODE_VERSION,
};

enum ncs_dump_format { NCS_DUMP_TEXT, NCS_DUMP_JSON };

/* The order of a table's rows. */
struct ncs_sort {
	const struct ncs_column *column; /* NULL for the model's order */
	bool inverted;
};

enum ncs_color { NCS_COLOR_AUTO, NCS_COLOR_ALWAYS, NCS_COLOR_NEVER };

struct ncs_options {
	enum ncs_mode mode;
	uint64_t given; /* a bit for each enum ncs_option on the command line */
	enum ncs_dump_format format; /* of a dump, a diagnosis or a path */
	struct ncs_change change;    /* what --set asks for */
	const char *comm;      /* pattern for a communicator; NULL for any */
	uint32_t pid;          /* the only process to look at; 0 for all */
	const char *directory; /* of the segments; NULL for the default */
	uint64_t interval_ns;  /* between samples */
	uint64_t count;        /* samples to take; 0 if not given */
	uint64_t wait_ns;      /* for a problem; 0 if not given */
	enum ncs_view view;    /* NCS_VIEW_COUNT if not given */
	enum ncs_window window;
	enum ncs_color color;
	bool ascii;
	enum ncs_symbol_set symbols;
	enum ncs_scheme scheme;
	enum ncs_column_level level;
	struct ncs_sort sort[NCS_VIEW_COUNT];
	enum ncs_column_choice columns[NCS_COLUMN_COUNT];
	struct ncs_units units;
	bool hide_header;
	bool hide_idle;
	bool mouse;
	char aliases_path[NCS_OPTION_VALUE_MAX]; /* "" for none */
	const char *config_path;  /* NULL if not given; "" for no file */
	unsigned synthetic_ranks; /* 0 for real jobs */
	unsigned synthetic_channels;
	uint64_t synthetic_seed;
	const char *keys_path; /* NULL for none */
	/* Recordings; without any, the jobs of this machine or a synthetic job
	 * are shown. */
	char *const *files;
	size_t file_count;
	struct ncs_instant at;
	struct ncs_instant from;
	struct ncs_instant until;
	enum ncs_export_format export_format;
	const char *output_path; /* of an export; NULL for standard output */
	const char *what_if[NCS_SCENARIOS_MAX];
	size_t what_if_count;
	const char *range; /* of the path; NULL for the whole job */
	/* Settings of --record that are not among the fields above. */
	struct ncs_recorder_settings recording;
};

/* Sets the defaults. */
void ncs_options_init(struct ncs_options *options);

/* Adds a command line to the options. Strings are borrowed from argv; words of it
 * that are no options are moved to its end. False: `error` says which option is
 * wrong and what it expects. */
bool ncs_options_parse(struct ncs_options *options, int argc, char **argv,
		       char *error, size_t error_size);

/* Returns whether an option was on the command line. */
bool ncs_options_is_given(const struct ncs_options *options,
			  enum ncs_option option);

/* Returns whether the critical path is wanted, by itself or in an export. */
bool ncs_options_want_path(const struct ncs_options *options);

/* Returns the option with this long name, in full; -1 if there is none. */
int ncs_options_find(const char *name);

/* Return an option's long name, its argument's name or words, and its help. */
const char *ncs_options_name(enum ncs_option option);
const char *ncs_options_argument(enum ncs_option option);
const char *ncs_options_help_of(enum ncs_option option);

/* Return whether an option may stand in the configuration file, and whether the
 * live view changes and saves it. */
bool ncs_options_is_kept(enum ncs_option option);
bool ncs_options_is_live(enum ncs_option option);

/* Sets an option that may stand in the configuration file. False: `error` says
 * what it expects, and nothing is changed. */
bool ncs_options_set(struct ncs_options *options, enum ncs_option option,
		     const char *value, char *error, size_t error_size);

/* Prints the value of an option that the live view changes, as ncs_options_set()
 * reads it. */
void ncs_options_value(const struct ncs_options *options,
		       enum ncs_option option, char *text, size_t size);

/* Sets an option to the next of its words, or to the one before. False if it has
 * no words to choose from. */
bool ncs_options_step(struct ncs_options *options, enum ncs_option option,
		      bool forward);

/* Prints what --help shows, at most `columns` wide. */
void ncs_options_help(FILE *file, unsigned columns);

#endif
