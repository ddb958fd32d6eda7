/* SPDX-License-Identifier: MIT */
/* Rules for combinations of options; see option_rows.h. To let a mode accept
 * another option, change a row of `rules`. */
#include "tui/commands/option_rows.h"

#include <string.h>

/* --- Options ------------------------------------------------------------ */

#define MODE(mode) (1u << NCS_MODE_##mode)
#define ALL_MODES (~0u)
#define OPTION(option) NCS_OPTION_BIT(NCS_OPTION_##option)
/* The bit for recordings in a set of options. */
#define FILES NCS_OPTION_BIT(NCS_OPTIONS_END)

#define TIMES (OPTION(AT) | OPTION(SINCE) | OPTION(UNTIL))
#define PATHS (OPTION(CRITICAL_PATH) | OPTION(WHAT_IF))
/* The ways to look at many nodes. */
#define NODES (OPTION(HOSTS) | OPTION(SLURM) | OPTION(KUBE) | OPTION(FROM))
/* With --hosts, each of these hosts runs them by itself. */
#define EACH_NODE (MODE(CHECK) | MODE(CLEAN) | MODE(SET))

/* Conditions of rules. */
#define WHEN(name, condition) \
	static bool name(const struct ncs_options *options) \
	{ \
		return condition; \
	}

WHEN(exports_no_trace, options->export_format != NCS_EXPORT_PERFETTO &&
			       options->export_format != NCS_EXPORT_CHROME)
WHEN(exports_no_lines, options->export_format != NCS_EXPORT_NDJSON)
WHEN(exports_no_columns, !ncs_export_column(options->export_format, 0))
WHEN(exports_no_table, options->export_format != NCS_EXPORT_CSV)
WHEN(exports_files, options->export_format == NCS_EXPORT_PARQUET)
WHEN(streams_bytes, options->stream_form == NCS_STREAM_FORM_RAW)
WHEN(prints_no_metrics, options->mode != NCS_MODE_DUMP ||
				(options->format != NCS_DUMP_OPENMETRICS &&
				 options->format != NCS_DUMP_PROMETHEUS))
WHEN(prints_no_tables, options->format != NCS_DUMP_TEXT)
WHEN(reads_no_recording,
     options->file_count == 0 &&
	     (options->mode == NCS_MODE_WATCH ||
	      options->mode == NCS_MODE_JOBS ||
	      options->mode == NCS_MODE_CLEAN || !options->archive_path[0]))
WHEN(listens_at_path, strchr(options->listen_address, '/'))
WHEN(names_nodes_twice,
     !!options->hosts + !!options->slurm + !!options->kube + !!options->from >
	     1)
WHEN(samples_late, options->stacks == NCS_STACKS_LATE)
WHEN(records_to_stdout, strcmp(options->recording.path, "-") == 0)
WHEN(keeps_without_limit,
     options->recording.rotate_ns == 0 && options->recording.rotate_bytes == 0)
WHEN(writes_tar, options->jobs_format == NCS_JOBS_TAR)

#define RULE(modes_, options_, error_, ...) \
	{ \
		.modes = modes_, .options = options_, .error = error_, \
		__VA_ARGS__ \
	}

/* An option that would have no effect is an error. In each of its modes, a rule
 * is broken if one of `options` is given, one of `with` is given (unless `with`
 * is empty), none of `without` is given, and `when` (unless it is NULL) returns
 * true. The first broken rule is reported. */
static const struct option_rule {
	unsigned modes;
	ncs_option_set options;
	ncs_option_set with;
	ncs_option_set without;
	bool (*when)(const struct ncs_options *options);
	const char *error;
} rules[] = {
	RULE(MODE(CLEAN), OPTION(PID) | OPTION(JOB),
	     "--clean cannot be combined with --pid or --job: it"
	     " removes the segments of all processes that are gone"),
	RULE(MODE(CHECK), OPTION(PID) | OPTION(JOB),
	     "--check cannot be combined with --pid or --job: it"
	     " lists all processes that use NCCL"),
	RULE(~MODE(DIAGNOSE), OPTION(WAIT),
	     "--wait requires --diagnose: it waits for a problem"),
	RULE(~(MODE(LIVE) | MODE(REPLAY)), OPTION(KEYS),
	     "--keys requires the live view"),
	RULE(~MODE(WATCH), OPTION(ARCHIVE_SIZE),
	     "--archive-size requires --watch --archive"),
	RULE(MODE(WATCH), OPTION(ARCHIVE_SIZE),
	     "--archive-size requires --archive", .without = OPTION(ARCHIVE)),
	RULE(~MODE(CLEAN), OPTION(RETAIN),
	     "--retain requires --clean: it says what is to stay"),
	RULE(MODE(CLEAN), OPTION(ARCHIVE),
	     "--clean --archive requires --retain, such as --retain=30d,1G:"
	     " it says what is to stay",
	     .without = OPTION(RETAIN)),
	RULE(~(MODE(WATCH) | MODE(JOBS) | MODE(CLEAN)), OPTION(ARCHIVE),
	     "--archive requires --watch, --jobs, --clean, or --job=ID: it names"
	     " the directory where what is kept of jobs is",
	     .without = OPTION(JOB) | OPTION(SLURM)),
	RULE(~(MODE(WATCH) | MODE(JOBS) | MODE(CLEAN) | MODE(DUMP) |
	       MODE(DIAGNOSE) | MODE(REPLAY) | MODE(CRITICAL_PATH) |
	       MODE(REPORT) | MODE(EXPORT) | MODE(LIST)),
	     OPTION(ARCHIVE),
	     "--archive requires a command that reads recordings"),
	RULE(~(MODE(WATCH) | MODE(JOBS)), OPTION(ARCHIVE),
	     "--archive cannot be combined with a FILE: it names recordings",
	     .with = FILES),
	RULE(MODE(WATCH), OPTION(ARCHIVE),
	     "--archive is for the jobs of this machine: run a watch on each"
	     " node",
	     .with = NODES),
	RULE(~MODE(WATCH), OPTION(ARCHIVE),
	     "--archive can be combined with --hosts or --slurm, but with no other"
	     " way to look at nodes: ssh fetches what each keeps",
	     .with = OPTION(FOLLOW) | (NODES & ~(OPTION(HOSTS) | OPTION(SLURM)))),
	RULE(~MODE(WATCH),
	     OPTION(DIR) | OPTION(RECORDS) | OPTION(WAIT),
	     "--dir, --records and --wait cannot be combined with --archive: it"
	     " names recordings",
	     .with = OPTION(ARCHIVE)),
	RULE(MODE(JOBS), NODES,
	     "--jobs cannot be combined with --hosts: it lists archives of this"
	     " machine or of a file system that machines share"),
	RULE(MODE(JOBS), OPTION(JOBS),
	     "--jobs=tar requires --job=ID: it writes the recordings of one",
	     .without = OPTION(JOB), .when = writes_tar),
	RULE(~MODE(WATCH), OPTION(ON),
	     "--on requires --watch: only there is each finding new once"),
	RULE(~(MODE(DIAGNOSE) | MODE(RECORD) | MODE(STREAM) | MODE(WATCH) |
	       MODE(STACKS_OF)),
	     OPTION(STACKS),
	     "--stacks requires --diagnose, which shows the stacks of ranks"
	     " that are to blame, or --record, --stream or --archive, which keep"
	     " those of all"),
	RULE(MODE(WATCH), OPTION(STACKS),
	     "--stacks requires --archive: a watch keeps them there",
	     .without = OPTION(ARCHIVE)),
	RULE(~MODE(STACKS_OF), OPTION(STACKS),
	     "--stacks=late requires --diagnose, without a FILE, --follow or"
	     " --from: it samples a process that runs",
	     .when = samples_late,
	     .with = FILES | OPTION(FOLLOW) | OPTION(FROM) | OPTION(RECORD) |
		     OPTION(STREAM) | OPTION(WATCH)),
	RULE(MODE(STACKS_OF), OPTION(PID) | OPTION(JOB),
	     "--stacks-of cannot be combined with --pid or --job:"
	     " it names the processes"),
	RULE(~MODE(SET), OPTION(COMM),
	     "--comm requires --set: views show all communicators"),
	RULE(MODE(EXPORT), PATHS,
	     "--critical-path and --what-if require --export=perfetto or"
	     " --export=chrome: only traces show a path",
	     .when = exports_no_trace),
	RULE(~MODE(EXPORT), OPTION(EVENTS),
	     "--events requires --export=ndjson"),
	RULE(MODE(EXPORT), OPTION(EVENTS),
	     "--events requires --export=ndjson: traces and Parquet combine"
	     " events, and CSV has counters instead",
	     .when = exports_no_lines),
	RULE(MODE(EXPORT), OPTION(COLUMNS),
	     "--columns requires --export=ndjson or --export=csv, or the live"
	     " view: other exports have fixed columns",
	     .when = exports_no_columns),
	RULE(MODE(EXPORT), OPTION(SORT),
	     "--sort requires --export=csv, or tables: other exports are in"
	     " the order of time",
	     .when = exports_no_table),
	RULE(MODE(DUMP), OPTION(COLUMNS) | OPTION(SORT),
	     "--columns and --sort require a text dump: other dumps have no"
	     " tables",
	     .when = prints_no_tables),
	RULE(MODE(EXPORT), OPTION(EXPORT),
	     "--export=parquet requires --output=DIR: it writes a file for"
	     " each host and table",
	     .without = OPTION(OUTPUT), .when = exports_files),
	RULE(ALL_MODES, OPTION(RANGE), "--range requires --critical-path",
	     .without = PATHS),
	RULE(~(MODE(TEXTFILE) | MODE(LISTEN)), OPTION(METRICS) | OPTION(SERIES),
	     "--metrics and --series require --dump=openmetrics,"
	     " --dump=prometheus, --textfile or --listen",
	     .when = prints_no_metrics, .without = OPTION(LISTEN)),
	RULE(~MODE(LISTEN), OPTION(LISTEN_NAME) | OPTION(USER_NAMES),
	     "--listen-name and --user-names require --listen",
	     .without = OPTION(LISTEN)),
	RULE(MODE(LISTEN) | MODE(WATCH),
	     OPTION(LISTEN_NAME) | OPTION(USER_NAMES),
	     "--listen-name and --user-names require a port for --listen: a"
	     " Unix socket has all names, and answers requests for all hosts",
	     .when = listens_at_path),
	RULE(MODE(LISTEN), OPTION(INTERVAL) | OPTION(COUNT),
	     "--listen cannot be combined with --interval or --count: it"
	     " reads the segments on request"),
	RULE(MODE(CRITICAL_PATH), OPTION(PID) | OPTION(AT),
	     "--critical-path cannot be combined with --pid or --at: it"
	     " covers all ranks, between --since and --until"),
	RULE(MODE(REPORT), OPTION(DURATION),
	     "--report cannot be combined with --duration and a FILE: the jobs"
	     " of this machine are recorded for so long, or the FILE is read",
	     .with = FILES),
	RULE(MODE(REPORT),
	     OPTION(AT) | OPTION(COUNT) | OPTION(WINDOW) | OPTION(INTERVAL),
	     "--report cannot be combined with --at, --count, --window or"
	     " --interval: it is of all between --since and --until"),
	RULE(~(MODE(RECORD) | MODE(REPORT)), OPTION(DURATION),
	     "--duration requires --record or --report"),
	RULE(~MODE(RECORD), OPTION(ROTATE), "--rotate requires --record"),
	RULE(~(MODE(RECORD) | MODE(STREAM) | MODE(WATCH)), OPTION(COMPRESS),
	     "--compress requires --record, --stream or --watch"),
	RULE(MODE(WATCH), OPTION(COMPRESS),
	     "--compress requires --archive: a watch records there",
	     .without = OPTION(ARCHIVE)),
	RULE(ALL_MODES, OPTION(FOLLOW),
	     "--follow requires FILEs, the streams to follow",
	     .without = FILES),
	RULE(~(MODE(LIVE) | MODE(DUMP) | MODE(DIAGNOSE) | MODE(WATCH) |
	       MODE(LIST) | MODE(RECORD) | MODE(STREAM) | EACH_NODE),
	     OPTION(FOLLOW) | NODES,
	     "--follow, --hosts, --slurm, --kube and --from can be combined"
	     " only with --dump, --diagnose, --watch, --list, --record or"
	     " --stream: other commands need a recording or this machine's segments",
	     .without = OPTION(ARCHIVE)),
	RULE(EACH_NODE, OPTION(FOLLOW) | (NODES & ~OPTION(HOSTS)),
	     "--check, --clean and --set can be combined with --hosts, but with"
	     " no other way to look at nodes: ssh runs them on each"),
	RULE(EACH_NODE, OPTION(RECORDS),
	     "--records is for looks at nodes: --check, --clean and --set take"
	     " none"),
	RULE(EACH_NODE, OPTION(PID),
	     "--pid cannot be combined with --hosts: a process is on one node",
	     .with = OPTION(HOSTS)),
	RULE(MODE(STREAM), OPTION(FOLLOW) | NODES,
	     "--stream requires =lines or =packed to pass on streams of"
	     " nodes: only lines contain the node's name",
	     .when = streams_bytes),
	RULE(MODE(STREAM),
	     OPTION(COUNT) | OPTION(PID) | OPTION(JOB) | OPTION(COMPRESS),
	     "--stream cannot be combined with --count, --pid, --job or"
	     " --compress for streams of nodes: these are passed on unchanged",
	     .with = OPTION(FOLLOW) | NODES),
	RULE(ALL_MODES, NODES,
	     "--hosts, --slurm, --kube and --from cannot be combined with"
	     " each other",
	     .when = names_nodes_twice),
	RULE(ALL_MODES, NODES,
	     "--hosts, --slurm, --kube and --from cannot be combined with a"
	     " FILE",
	     .with = FILES | OPTION(FOLLOW)),
	RULE(ALL_MODES, OPTION(EXCLUDE) | OPTION(REMOTE_COMMAND),
	     "--exclude and --remote-command require --hosts, --slurm or"
	     " --kube",
	     .without = NODES & ~OPTION(FROM)),
	RULE(ALL_MODES, OPTION(DIR),
	     "--dir cannot be combined with --from: put it into the COMMAND",
	     .with = OPTION(FROM)),
	RULE(MODE(RECORD),
	     OPTION(INTERVAL) | OPTION(COMPRESS) | OPTION(PID) | OPTION(JOB),
	     "--record cannot be combined with --interval, --pid, --job or"
	     " --compress for --from or --follow: put them into the commands"
	     " that write these streams",
	     .with = OPTION(FOLLOW) | OPTION(FROM)),
	RULE(MODE(RECORD), OPTION(FOLLOW) | NODES,
	     "--record requires a FILE for streams of nodes: each has one of"
	     " its own, FILE.NODE",
	     .when = records_to_stdout),
	RULE(ALL_MODES, TIMES,
	     "--at, --since and --until cannot be combined with --follow:"
	     " they are times in a recording",
	     .with = OPTION(FOLLOW)),
	RULE(~MODE(STREAM), OPTION(RECORDS),
	     "--records requires --stream, --hosts, --slurm or --kube; with"
	     " --from, put it into the COMMAND",
	     .without = NODES & ~OPTION(FROM)),
	RULE(~MODE(STREAM), OPTION(HEARTBEAT), "--heartbeat requires --stream"),
	RULE(MODE(RECORD), OPTION(COUNT),
	     "--record cannot be combined with --count: use --duration"),
	RULE(MODE(RECORD), OPTION(ROTATE),
	     "--rotate expects a time or a size beside keep=: without them"
	     " there is one file",
	     .when = keeps_without_limit),
	RULE(MODE(RECORD), OPTION(ROTATE),
	     "--rotate requires a FILE: there is only one standard output",
	     .when = records_to_stdout),
	RULE(~MODE(EXPORT), OPTION(OUTPUT),
	     "--output requires --export: other output goes to standard"
	     " output"),
	RULE(MODE(EXPORT), OPTION(AT),
	     "--export cannot be combined with --at: use --since and --until"),
	RULE(MODE(EXPORT), OPTION(INTERVAL) | OPTION(COUNT),
	     "--export cannot be combined with --interval or --count: it"
	     " writes all records"),
	RULE(ALL_MODES, TIMES,
	     "--at, --since and --until require a FILE, or --archive and --job:"
	     " they are times in a recording",
	     .when = reads_no_recording),
	RULE(ALL_MODES, OPTION(DIR),
	     "--dir cannot be combined with a FILE: a recording contains all"
	     " data",
	     .with = FILES),
	RULE(ALL_MODES, OPTION(WAIT),
	     "--wait cannot be combined with a FILE: a recording has ended",
	     .with = FILES, .without = OPTION(FOLLOW)),
	RULE(MODE(LIST), TIMES,
	     "--list cannot be combined with --at, --since or --until: it"
	     " covers the whole recording"),
	RULE(MODE(DUMP), OPTION(INTERVAL),
	     "--at cannot be combined with --interval: use --since and"
	     " --until for samples at intervals",
	     .with = OPTION(AT)),
};

static bool is_broken(const struct option_rule *rule,
		      const struct ncs_options *options)
{
	ncs_option_set given = options->given |
			       (options->file_count ? FILES : 0);

	return (rule->modes >> options->mode & 1) && (given & rule->options) &&
	       (!rule->with || (given & rule->with)) &&
	       !(given & rule->without) && (!rule->when || rule->when(options));
}

static bool check_rules(const struct ncs_options *options, char *error,
			size_t error_size)
{
	for (size_t i = 0; i < sizeof(rules) / sizeof(rules[0]); i++) {
		if (!is_broken(&rules[i], options))
			continue;
		snprintf(error, error_size, "%s", rules[i].error);
		return false;
	}
	return true;
}

/* --- Files -------------------------------------------------------------- */

#define NEED_FILES \
	(MODE(REPLAY) | MODE(EXPORT) | MODE(CRITICAL_PATH) | MODE(COMPARE) | \
	 MODE(REPORT))
#define READ_FILES (NEED_FILES | MODE(DUMP) | MODE(DIAGNOSE) | MODE(LIST))
/* The modes whose option has an optional argument. */
#define HAVE_FORMATS \
	(MODE(DUMP) | MODE(DIAGNOSE) | MODE(CRITICAL_PATH) | MODE(COMPARE) | \
	 MODE(LIST))

/* Returns the name of the option that chooses a mode. */
static const char *name_of_mode(enum ncs_mode mode)
{
	const struct ncs_option_row *row = ncs_option_rows;

	while (row->mode != mode)
		row++;
	return row->name;
}

/* Checks the words that are not options: they are the names of recordings. */
static bool check_files(const struct ncs_options *options, char *error,
			size_t error_size)
{
	const char *formats = ncs_option_rows[NCS_OPTION_DUMP].argument;
	unsigned mode = 1u << options->mode;
	const char *first;
	int option;

	if (options->mode == NCS_MODE_COMPARE && options->file_count != 2) {
		snprintf(error, error_size,
			 "--compare expects two FILEs, recordings made with"
			 " --record");
		return false;
	}
	if (options->file_count == 0) {
		bool is_report = options->mode == NCS_MODE_REPORT;

		if (!(mode & NEED_FILES) || options->archive_path[0] ||
		    (is_report && options->given & OPTION(DURATION)))
			return true;
		snprintf(error, error_size,
			 "--%s expects a FILE, a recording made with"
			 " --record%s",
			 name_of_mode(options->mode),
			 is_report ? ", or --duration, to report on the jobs of"
				     " this machine" :
				     "");
		return false;
	}
	first = options->files[0];
	option = ncs_options_find(first);
	if (options->mode == NCS_MODE_REPLAY && option >= 0 &&
	    ncs_option_rows[option].mode != NCS_MODE_LIVE) {
		snprintf(error, error_size,
			 "'%s' is no option; did you mean --%s? A recording of"
			 " that name is ./%s",
			 first, first, first);
		return false;
	}
	if ((mode & HAVE_FORMATS) && ncs_choice_find(formats, first) >= 0) {
		snprintf(error, error_size,
			 "'%s' is no option; an optional argument is joined by"
			 " '=', as in --dump=json, and a recording of that name"
			 " is ./%s",
			 first, first);
		return false;
	}
	/* The rules say in which modes streams are followed. */
	if ((mode & READ_FILES) || options->follows)
		return true;
	snprintf(error, error_size,
		 "'%s' is no option; a recording is read with --replay,"
		 " --export, --dump, --diagnose, --critical-path, --compare,"
		 " --report or --list, a stream with --follow",
		 first);
	return false;
}

bool ncs_option_rules_check_titles(const struct ncs_options *options,
				   char *error, size_t error_size)
{
	if (options->columns_text[0] && !options->columns_are_titles)
		ncs_option_refuse(&ncs_option_rows[NCS_OPTION_COLUMNS],
				  options->columns_text, error, error_size);
	else if (options->sort_text[0] && !options->sorts_are_titles)
		ncs_option_refuse(&ncs_option_rows[NCS_OPTION_SORT],
				  options->sort_text, error, error_size);
	else
		return true;
	return false;
}

/* Checks that the columns are of the only view of a dump. */
static bool are_of_view(const struct ncs_options *options,
			enum ncs_option option, const char *text, char *error,
			size_t error_size)
{
	if (!text[0] || ncs_titles_are_of(text, options->view))
		return true;
	snprintf(error, error_size,
		 "--%s expects columns of --view=%s, not '%s'",
		 ncs_option_rows[option].name, ncs_views[options->view].option,
		 text);
	return false;
}

/* Checks the names of columns and events, which depend on the mode. */
static bool check_columns(const struct ncs_options *options, char *error,
			  size_t error_size)
{
	struct ncs_export_request request = { 0 };

	if (options->mode == NCS_MODE_EXPORT)
		return ncs_export_choice(options, &request, error, error_size);
	if (!ncs_option_rules_check_titles(options, error, error_size))
		return false;
	return options->mode != NCS_MODE_DUMP ||
	       options->view == NCS_VIEW_COUNT ||
	       (are_of_view(options, NCS_OPTION_COLUMNS, options->columns_text,
			    error, error_size) &&
		are_of_view(options, NCS_OPTION_SORT, options->sort_text,
			    error, error_size));
}

bool ncs_option_rules_check(const struct ncs_options *options, char *error,
			    size_t error_size)
{
	return check_files(options, error, error_size) &&
	       check_rules(options, error, error_size) &&
	       check_columns(options, error, error_size);
}
