/* SPDX-License-Identifier: MIT */
/* The options of the program, and the commands that stand for some of them, by the
 * tables in ncclstat/tables/options.def and commands.def: reads them from the command
 * line and from the configuration file, and prints them.
 *
 * Functions must read only their arguments, and must not print errors: the
 * callers do.
 */
#ifndef NCS_TUI_COMMANDS_OPTIONS_H
#define NCS_TUI_COMMANDS_OPTIONS_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/types.h>

#include "analysis/path/critical_path.h"
#include "analysis/views/columns.h"
#include "fleet/launch/agents.h"
#include "ncclstat/tables/commands.def"
#include "ncclstat/tables/options.def"
#include "record/archive/archive.h"
#include "record/export/export.h"
#include "record/replay/instant.h"
#include "record/write/recorder.h"
#include "shm/control.h"
#include "tui/term/term.h"
#include "tui/text/format.h"

#define NCS_INTERVAL_DEFAULT_NS UINT64_C(1000000000)
#define NCS_INTERVAL_MIN_NS UINT64_C(100000000)
#define NCS_INTERVAL_MAX_NS UINT64_C(86400000000000)
/* Size of a buffer for the value of any option that the live view changes. */
#define NCS_OPTION_VALUE_MAX 4096

enum ncs_option {
#define X(ID, ...) NCS_OPTION_##ID,
	NCS_OPTIONS(X)
#undef X
		NCS_OPTIONS_END
};

/* A set of options: a bit for each enum ncs_option, and one more. */
__extension__ typedef unsigned __int128 ncs_option_set;

#define NCS_OPTION_BIT(option) ((ncs_option_set)1 << (option))

/* The tasks of the program; each has a row in commands.c. */
enum ncs_mode {
	NCS_MODE_LIVE, /* the live view; a dump if there is no terminal */
	NCS_MODE_DUMP,
	NCS_MODE_DIAGNOSE,
	NCS_MODE_WATCH,
	NCS_MODE_TEXTFILE,
	NCS_MODE_LISTEN,
	NCS_MODE_RECORD,
	NCS_MODE_STREAM,
	NCS_MODE_STACKS_OF,
	NCS_MODE_REPLAY,
	NCS_MODE_CRITICAL_PATH,
	NCS_MODE_COMPARE,
	NCS_MODE_REPORT,
	NCS_MODE_EXPORT,
	NCS_MODE_LIST,
	NCS_MODE_JOBS,
	NCS_MODE_CHECK,
	NCS_MODE_CLEAN,
	NCS_MODE_SET,
	NCS_MODE_HELP,
	NCS_MODE_VERSION,
};

enum ncs_dump_format {
	NCS_DUMP_TEXT,
	NCS_DUMP_JSON,
	NCS_DUMP_OPENMETRICS,
	NCS_DUMP_PROMETHEUS,
};

enum ncs_jobs_format {
	NCS_JOBS_TEXT,
	NCS_JOBS_JSON,
	NCS_JOBS_TAR,
};

/* The most commands of --on. */
#define NCS_HOOKS_MAX 8u

/* When the command of a hook is run. */
enum ncs_hook_when {
	NCS_HOOK_STUCK,
	NCS_HOOK_SLOW,
	NCS_HOOK_DIED,
};

struct ncs_hook {
	enum ncs_hook_when when;
	const char *command; /* for a shell */
	const char *option;  /* WHEN:COMMAND */
};

enum ncs_stacks_choice {
	NCS_STACKS_CULPRIT,
	NCS_STACKS_ALL,
	NCS_STACKS_LATE,
};

enum ncs_stream_form {
	NCS_STREAM_FORM_RAW,
	NCS_STREAM_FORM_LINES,
	NCS_STREAM_FORM_PACKED, /* lines */
};

/* The order of a table's rows. */
struct ncs_sort {
	const struct ncs_column *column; /* NULL for the model's order */
	bool inverted;
};

/* Bounds of what --clean keeps. */
struct ncs_retention {
	uint64_t age_ns, bytes; /* UINT64_MAX: any */
	const char *text; /* as it was given; NULL if it was not */
};

enum ncs_color { NCS_COLOR_AUTO, NCS_COLOR_ALWAYS, NCS_COLOR_NEVER };

/* The tasks of the program, by which options and commands are listed. */
enum ncs_task {
	NCS_TASK_OTHER, /* of options that help lists last */
#define X(ID, word, title, page) NCS_TASK_##ID,
	NCS_TASKS(X)
#undef X
		NCS_TASK_SETTINGS, /* of options that no help lists */
};

/* A command that may be the first word, such as "record": each stands for an option,
 * other than run and env (run_command.h). */
struct ncs_subcommand {
	const char *name;
	enum ncs_task task;
	const char *options; /* that it takes, as its own help shows them */
	const char *operands;
	/* The option that it stands for; NCS_OPTIONS_END if there is none. */
	enum ncs_option option;
	bool takes_operand; /* the first operand is that option's argument */
	const char *brief;
};

struct ncs_options {
	enum ncs_mode mode;
	/* The command that the line begins with; NULL if with none. */
	const struct ncs_subcommand *subcommand;
	bool help_all; /* --help is for all options */
	/* The options that are on the command line. */
	ncs_option_set given;
	/* Format of a dump, a diagnosis or a path. */
	enum ncs_dump_format format;
	enum ncs_jobs_format jobs_format;
	enum ncs_stacks_choice stacks; /* if it is given */
	bool is_beside; /* whether a watch ends with its input */
	struct ncs_hook hooks[NCS_HOOKS_MAX];
	size_t hook_count;
	const char *stacks_of; /* for ncs_stacks_parse(); NULL if not given */
	enum ncs_stream_form stream_form;
	bool with_records; /* whether a stream has records */
	uint64_t heartbeat_ns; /* longest silence of the input; 0 if not given */
	bool follows;      /* whether the files are streams */
	char archive_path[NCS_OPTION_VALUE_MAX]; /* "" if not given */
	const char *archive_named; /* NULL: it is the default */
	bool archive_is_copy;      /* which will be removed */
	uint64_t archive_bytes;
	struct ncs_retention retain; /* of zeros: nothing */
	/* When the job of an archive began, and the next of its name; since 1970. 0: any,
	 * none. */
	uint64_t job_begun_ns, job_next_ns;
	const uid_t *job_owner; /* its user; NULL or NCS_NO_OWNER: any */
	const char *textfile_directory;
	const char *report_path; /* of HTML */
	const char *listen_address;
	const char *listen_names; /* for tui/serve/http_headers.h; NULL: none */
	bool user_names; /* include them in metrics that others can read */
	uint64_t metrics;    /* a set; see analysis/metrics/metric_writer.h */
	uint64_t series_max; /* the most series of metrics */
	/* How to start agents on other nodes; NULL if not given. */
	const char *hosts, *slurm, *kube, *from;
	const char *exclude;
	const char *remote_command;
	struct ncs_change change;    /* settings that --set requests */
	const char *comm;      /* pattern for a communicator; NULL for any */
	struct ncs_choice choice; /* of processes to show */
	/* Directory of the segments; NULL for the default. */
	const char *directory;
	uint64_t interval_ns;  /* time between samples */
	uint64_t count;        /* number of samples to take; 0 if not given */
	/* Longest time to wait for a problem; 0 if not given. */
	uint64_t wait_ns;
	enum ncs_view view;    /* NCS_VIEW_COUNT if not given */
	enum ncs_window window;
	enum ncs_color color;
	bool ascii;
	enum ncs_symbol_set symbols;
	enum ncs_scheme scheme;
	enum ncs_column_level level;
	struct ncs_sort sort[NCS_VIEW_COUNT];
	enum ncs_column_choice columns[NCS_COLUMN_COUNT];
	/* The argument on the command line, which exports read; "" if there is
	 * none. True if it has titles of columns of views. */
	char columns_text[NCS_OPTION_VALUE_MAX];
	bool columns_are_titles;
	char sort_text[NCS_OPTION_VALUE_MAX];
	bool sorts_are_titles;
	struct ncs_units units;
	bool hide_header;
	bool hide_idle;
	bool mouse;
	char aliases_path[NCS_OPTION_VALUE_MAX]; /* "" for none */
	const char *config_path;  /* NULL if not given; "" for no file */
	const char *keys_path; /* file of keys to play; NULL for none */
	/* Recordings; without any, the jobs of this machine are shown. */
	char *const *files;
	size_t file_count;
	struct ncs_instant at;
	struct ncs_instant since;
	struct ncs_instant until;
	enum ncs_export_format export_format;
	const char *events; /* to export, separated by commas; NULL for all */
	/* File of an export; NULL for standard output. */
	const char *output_path;
	const char *what_if[NCS_SCENARIOS_MAX];
	size_t what_if_count;
	/* Range of the critical path; NULL for the whole job. */
	const char *range;
	/* Settings of --record that are not among the fields above. */
	struct ncs_recorder_settings recording;
};

extern const struct ncs_subcommand ncs_subcommands[];
extern const size_t ncs_subcommand_count;

/* Returns the command of a command line, or NULL. A file of that name is meant
 * by ./NAME. */
const struct ncs_subcommand *ncs_subcommand_of(int count, char **words);

/* Sets all options to their defaults. */
void ncs_options_init(struct ncs_options *options);

/* Adds a command line to the options; its first word may be a command. Strings are borrowed from argv; words
 * that are not options are moved to the end of argv; they are recordings, which
 * are played unless an option says otherwise. Returns false on an error;
 * `error` then says which option is wrong and what it expects. */
bool ncs_options_parse(struct ncs_options *options, int argc, char **argv,
		       char *error, size_t error_size);

/* Whether an option was on the command line. */
bool ncs_options_is_given(const struct ncs_options *options,
			  enum ncs_option option);

/* Whether ranks are shown by the streams of agents, not by segments here. */
bool ncs_options_want_nodes(const struct ncs_options *options);

/* Returns the option with this long name, in full; -1 if there is none. */
int ncs_options_find(const char *name);

/* Appends the option whose long name is nearest to a word, as "; did you mean
 * --dump?", if one is near; of those only that say what the program does, if
 * `modes_only`. */
void ncs_options_suggest(const char *word, bool modes_only, char *text,
			 size_t size);

/* Whether the live view changes an option and saves it in the configuration file. */
bool ncs_options_is_live(enum ncs_option option);

/* Sets an option that may be in the configuration file. On an error returns
 * false, sets `error` to what the option expects, and changes nothing else. */
bool ncs_options_set(struct ncs_options *options, enum ncs_option option,
		     const char *value, char *error, size_t error_size);

/* Prints the value of an option that the live view changes, in the form that
 * ncs_options_set() reads. */
void ncs_options_value(const struct ncs_options *options,
		       enum ncs_option option, char *text, size_t size);

/* Sets an option to the next or the previous of its words. Returns false if the
 * option has no words to choose from. */
bool ncs_options_step(struct ncs_options *options, enum ncs_option option,
		      bool forward);

/* Prints the text of --help, at most `columns` wide: of the command that the
 * line begins with; of all options, by task; or one screen. */
void ncs_options_help(FILE *file, const struct ncs_options *options,
		      unsigned columns);

#endif
