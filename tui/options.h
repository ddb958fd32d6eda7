/* The command line: parsed once, by the table of ncclstat/tables/options.h.
 *
 * Parsing looks at its arguments only and prints nothing; what is said to the
 * user about it is printed by main.c.
 */
#ifndef NCS_TUI_OPTIONS_H
#define NCS_TUI_OPTIONS_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "analysis/columns.h"
#include "shm/control.h"

#define NCS_INTERVAL_DEFAULT_NS UINT64_C(1000000000)
#define NCS_INTERVAL_MIN_NS UINT64_C(100000000)
#define NCS_INTERVAL_MAX_NS UINT64_C(86400000000000)
#define NCS_SYNTHETIC_RANKS_MAX 4096u
#define NCS_SYNTHETIC_CHANNELS_MAX 64u

enum ncs_mode {
	NCS_MODE_LIVE, /* or a dump, where there is no terminal */
	NCS_MODE_DUMP,
	NCS_MODE_LIST,
	NCS_MODE_CLEAN,
	NCS_MODE_SET,
	NCS_MODE_HELP,
	NCS_MODE_VERSION,
};

enum ncs_dump_format { NCS_DUMP_TEXT, NCS_DUMP_JSON };

enum ncs_color { NCS_COLOR_AUTO, NCS_COLOR_ALWAYS, NCS_COLOR_NEVER };

struct ncs_options {
	enum ncs_mode mode;
	enum ncs_dump_format format;
	struct ncs_change change; /* NCS_MODE_SET */
	const char *comm;         /* a pattern; NULL: any */
	uint32_t pid;             /* 0: all */
	const char *directory; /* NULL: the default */
	uint64_t interval_ns;
	bool has_interval; /* was asked for */
	uint64_t count;    /* of samples; 0: was not asked for */
	enum ncs_view view; /* NCS_VIEW_COUNT: was not asked for */
	enum ncs_color color;
	bool ascii;
	unsigned synthetic_ranks; /* 0: a real job */
	unsigned synthetic_channels;
	uint64_t synthetic_seed;
	const char *keys_path; /* NULL: none */
};

/* Strings are borrowed from argv. False: `error` says which option is wrong
 * and what it expects. */
bool ncs_options_parse(struct ncs_options *options, int argc, char **argv,
		       char *error, size_t error_size);

/* What --help prints, at most `columns` wide. */
void ncs_options_help(FILE *file, unsigned columns);

#endif
