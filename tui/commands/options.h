/* SPDX-License-Identifier: MIT */
/* Options, by the table of ncclstat/tables/options.def: from the command line,
 * from lines of the configuration file, and back to text.
 *
 * Parsing looks at its arguments only and prints nothing; what is said to the
 * user about it is printed by main.c.
 */
#ifndef NCS_TUI_COMMANDS_OPTIONS_H
#define NCS_TUI_COMMANDS_OPTIONS_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "analysis/views/columns.h"
#include "analysis/path/critical_path.h"
#include "ncclstat/tables/options.def"
#include "record/export/export.h"
#include "record/read/instant.h"
#include "record/write/recorder.h"
#include "shm/control.h"
#include "tui/text/format.h"
#include "tui/term/term.h"

#define NCS_INTERVAL_DEFAULT_NS UINT64_C(1000000000)
#define NCS_INTERVAL_MIN_NS UINT64_C(100000000)
#define NCS_INTERVAL_MAX_NS UINT64_C(86400000000000)
/* Room for any value of one that the live view changes. */
#define NCS_OPTION_VALUE_MAX 4096
#define NCS_SYNTHETIC_RANKS_MAX 4096u
#define NCS_SYNTHETIC_CHANNELS_MAX 64u

enum ncs_option {
#define X(ID, name, letter, has, argument, place, help) NCS_OPTION_##ID,
	NCS_OPTIONS(X)
#undef X
		NCS_OPTIONS_END
};

enum ncs_mode {
	NCS_MODE_LIVE, /* or a dump, where there is no terminal */
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

/* What a table is sorted by; column NULL: the model's order. */
struct ncs_sort {
	const struct ncs_column *column;
	bool inverted;
};

enum ncs_color { NCS_COLOR_AUTO, NCS_COLOR_ALWAYS, NCS_COLOR_NEVER };

struct ncs_options {
	enum ncs_mode mode;
	enum ncs_dump_format format;
	struct ncs_change change; /* NCS_MODE_SET */
	const char *comm;         /* a pattern; NULL: any */
	uint32_t pid;             /* 0: all */
	const char *directory;    /* NULL: the default */
	uint64_t interval_ns;
	bool has_interval;  /* was asked for */
	uint64_t count;     /* of samples; 0: was not asked for */
	uint64_t wait_ns;   /* for trouble; 0: was not asked for */
	enum ncs_view view; /* NCS_VIEW_COUNT: was not asked for */
	enum ncs_window window;
	enum ncs_color color;
	bool has_color; /* was asked for on the command line */
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
	char aliases_path[NCS_OPTION_VALUE_MAX]; /* "": none */
	const char *config_path;  /* NULL: was not asked for; "": none */
	unsigned synthetic_ranks; /* 0: a real job */
	unsigned synthetic_channels;
	uint64_t synthetic_seed;
	const char *keys_path; /* NULL: none */
	/* Recordings; none: it is this machine's jobs, or a made-up one. */
	char *const *files;
	size_t file_count;
	struct ncs_instant at;
	struct ncs_instant from;
	struct ncs_instant until;
	enum ncs_export_format export_format; /* NCS_MODE_EXPORT */
	const char *output_path;              /* NULL: standard output */
	bool has_path; /* NCS_MODE_CRITICAL_PATH, or in an export */
	const char *what_if[NCS_SCENARIOS_MAX];
	size_t what_if_count;
	const char *range; /* NULL: all */
	/* NCS_MODE_RECORD: what is in here but not above. */
	struct ncs_recorder_settings recording;
};

/* What holds where nothing is asked for. */
void ncs_options_init(struct ncs_options *options);

/* Adds the command line to what is there. Strings are borrowed from argv, whose
 * words that are no options are moved to its end.
 * False: `error` says which option is wrong and what it expects. */
bool ncs_options_parse(struct ncs_options *options, int argc, char **argv,
		       char *error, size_t error_size);

/* The option with this long name, in full; -1: there is none. */
int ncs_options_find(const char *name);
const char *ncs_options_name(enum ncs_option option);
const char *ncs_options_argument(enum ncs_option option);
const char *ncs_options_help_of(enum ncs_option option);

/* Whether it may stand in the configuration file; whether the live view
 * changes and keeps it. */
bool ncs_options_is_kept(enum ncs_option option);
bool ncs_options_is_live(enum ncs_option option);

/* Sets one that is kept. False: `error` says what it expects, and nothing is
 * changed. */
bool ncs_options_set(struct ncs_options *options, enum ncs_option option,
		     const char *value, char *error, size_t error_size);

/* The value of one that the live view changes, as ncs_options_set() takes
 * it. */
void ncs_options_value(const struct ncs_options *options,
		       enum ncs_option option, char *text, size_t size);

/* The next of its words, or the one before. False: it has no words to choose
 * from. */
bool ncs_options_step(struct ncs_options *options, enum ncs_option option,
		      bool forward);

/* What --help prints, at most `columns` wide. */
void ncs_options_help(FILE *file, unsigned columns);

#endif
