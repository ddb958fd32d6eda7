/* SPDX-License-Identifier: MIT */
/* The table of commands, and the steps that all commands share; see
 * commands.h. */
#include "tui/commands/commands.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "analysis/base/aliases.h"
#include "analysis/base/utf8.h"
#include "analysis/sources/source_shm.h"
#include "fleet/launch/everywhere.h"
#include "ncclstat/version.h"
#include "tui/commands/dump_command.h"
#include "tui/commands/follow.h"
#include "tui/text/output.h"
#include "tui/text/text_file.h"

#define HELP_COLUMNS 80

/* --- The table ---------------------------------------------------------- */

static int run_help(const struct ncs_command_input *input)
{
	ncs_options_help(input->file, input->options, HELP_COLUMNS);
	return NCS_EXIT_OK;
}

static int run_version(const struct ncs_command_input *input)
{
	fputs("ncclstat " NCS_VERSION_TEXT "\n", input->file);
	return NCS_EXIT_OK;
}

/* Where a command begins to read a recording. */
enum recording_start {
	AT_END, /* at its end, with all ranks that it ever had */
	/* Like AT_END, even if samples at intervals are requested. */
	AT_END_ONLY,
	AT_START,
	AT_START_WITH_ALL, /* shows all ranks at any time */
	/* AT_START if the recording is played, otherwise AT_END. */
	AT_START_ON_TERMINAL,
};

/* A row for each mode. option_rules.c says which other options a mode
 * accepts. */
static const struct mode_command {
	ncs_command_run *run; /* NULL for the live view */
	enum {
		AS_IT_GOES,
		AT_ONCE, /* prints to input->file */
	} output;
	enum {
		HERE,    /* reads the segments of this machine, or recordings */
		ALIASES, /* and names communicators as the user does */
		ITS_OWN, /* opens what it reads by itself */
	} source;
	enum recording_start start;
} commands[] = {
	[NCS_MODE_LIVE] = { NULL, AS_IT_GOES, HERE, AT_END }, /* no recording */
	[NCS_MODE_DUMP] = { ncs_dump_run, AS_IT_GOES, ALIASES, AT_END },
	[NCS_MODE_DIAGNOSE] = { ncs_diagnose_run, AS_IT_GOES, ALIASES,
				AT_END_ONLY },
	[NCS_MODE_WATCH] = { ncs_watch_run, AS_IT_GOES, ALIASES },
	[NCS_MODE_TEXTFILE] = { ncs_textfile_run, AS_IT_GOES, HERE },
	[NCS_MODE_LISTEN] = { ncs_listen_run, AS_IT_GOES, HERE },
	[NCS_MODE_RECORD] = { ncs_record_run, AS_IT_GOES, ITS_OWN },
	[NCS_MODE_STREAM] = { ncs_stream_run, AS_IT_GOES, ITS_OWN },
	[NCS_MODE_STACKS_OF] = { ncs_stacks_of_run, AT_ONCE, ITS_OWN },
	[NCS_MODE_REPLAY] = { NULL, AS_IT_GOES, HERE, AT_START_ON_TERMINAL },
	[NCS_MODE_CRITICAL_PATH] = { ncs_critical_path_run, AT_ONCE, HERE,
				     AT_START },
	[NCS_MODE_COMPARE] = { ncs_compare_run, AT_ONCE, ITS_OWN },
	[NCS_MODE_REPORT] = { ncs_report_run, AS_IT_GOES, ALIASES,
			      AT_END_ONLY },
	[NCS_MODE_EXPORT] = { ncs_export_run, AS_IT_GOES, ALIASES,
			      AT_START_WITH_ALL },
	[NCS_MODE_LIST] = { ncs_list_run, AT_ONCE, HERE, AT_START },
	[NCS_MODE_JOBS] = { ncs_jobs_run, AT_ONCE, ITS_OWN },
	[NCS_MODE_CHECK] = { ncs_check_run, AT_ONCE, HERE },
	[NCS_MODE_CLEAN] = { ncs_clean_run, AT_ONCE, ITS_OWN },
	[NCS_MODE_SET] = { ncs_set_run, AT_ONCE, HERE },
	[NCS_MODE_HELP] = { run_help, AT_ONCE, ITS_OWN },
	[NCS_MODE_VERSION] = { run_version, AT_ONCE, ITS_OWN },
};

/* Returns the exit status if there is nothing to read. */
static int unreadable(const struct ncs_options *options)
{
	return options->mode == NCS_MODE_DIAGNOSE ? NCS_EXIT_NO_VERDICT :
						    NCS_EXIT_NOTHING;
}

/* --- Names of communicators --------------------------------------------- */

/* Reads the file of the user's names for communicators. Returns false and
 * prints a message if the file has an error. */
static bool load_aliases(struct ncs_aliases *aliases, const char *path)
{
	unsigned line = 0;
	char *text;
	int error = ncs_text_file_read(path, &text);

	if (!error)
		error = ncs_aliases_parse(aliases, text, &line);
	free(text);
	if (error && line > 0)
		ncs_complain("%s:%u: %s", path, line,
			     error == -EINVAL ?
				     "a name is missing after the pattern" :
				     strerror(-error));
	else if (error)
		ncs_complain("%s: %s", path, strerror(-error));
	return !error;
}

int ncs_commands_run_with_aliases(ncs_command_run *run,
				  const struct ncs_command_input *input)
{
	const char *path = input->options->aliases_path;
	struct ncs_aliases aliases = { 0 };
	int status = NCS_EXIT_USAGE;

	if (!path[0])
		return run(input);
	if (load_aliases(&aliases, path)) {
		input->source->aliases = &aliases;
		status = run(input);
		input->source->aliases = NULL;
	}
	ncs_aliases_release(&aliases);
	return status;
}

/* --- Running ------------------------------------------------------------ */

bool ncs_commands_have_terminal(void)
{
	return isatty(STDIN_FILENO) && isatty(STDOUT_FILENO);
}

/* Runs a command on what its input has. */
static int run(const struct mode_command *command,
	       const struct ncs_command_input *input)
{
	struct ncs_command_input printing = *input;
	struct ncs_output output;

	if (command->source == ALIASES)
		return ncs_commands_run_with_aliases(command->run, input);
	if (command->output == AS_IT_GOES)
		return command->run(input);
	if (!ncs_output_init(&output))
		return NCS_EXIT_NOTHING;
	printing.file = output.file;
	return ncs_output_end(&output, command->run(&printing));
}

static bool begins_at_start(const struct mode_command *command,
			    const struct ncs_options *options)
{
	bool has_interval = ncs_options_is_given(options, NCS_OPTION_INTERVAL);

	switch (command->start) {
	case AT_START:
	case AT_START_WITH_ALL:
		return true;
	case AT_START_ON_TERMINAL:
		return has_interval || ncs_commands_have_terminal();
	case AT_END:
		return has_interval;
	default:
		return false;
	}
}

/* Returns the part of the recordings that a command reads, between --since and
 * --until, and the position at which to begin, from --at or from the
 * command. */
static struct ncs_replay_part part_of(const struct mode_command *command,
				      const struct ncs_options *options)
{
	struct ncs_replay_part part = {
		.since = options->since,
		.until = options->until,
		.at = options->at,
		.pid = options->choice.pid,
		.job = options->choice.job,
		.job_begun_ns = options->job_begun_ns,
		.job_next_ns = options->job_next_ns,
		.job_owner = options->job_owner,
		.keeps_ended = command->start == AT_START_WITH_ALL,
	};

	if (part.at.kind != NCS_INSTANT_NONE ||
	    begins_at_start(command, options))
		return part;
	part.keeps_ended = part.until.kind == NCS_INSTANT_NONE;
	part.at =
		part.keeps_ended ?
			(struct ncs_instant){ .kind = NCS_INSTANT_BEFORE_END } :
			part.until;
	return part;
}

/* Says so if the recordings are of several runs of a head. */
static void say_runs(const struct ncs_replay *replay)
{
	size_t runs = ncs_recording_facts(replay->recording)->runs;

	if (runs > 1)
		ncs_complain("these recordings are of %zu runs of --record on"
			     " nodes, which --list tells apart: each is shown at"
			     " its own time, the latest at the end",
			     runs);
}

static int run_on_recordings(const struct mode_command *command,
			     const struct ncs_options *options)
{
	struct ncs_replay_part part = part_of(command, options);
	struct ncs_replay replay;
	char why[4600];
	int status = unreadable(options);
	int error = ncs_replay_open(&replay,
				    (const char *const *)options->files,
				    options->file_count, &part, why,
				    sizeof(why));

	if (!error) {
		say_runs(&replay);
		status = run(command, &(struct ncs_command_input){
					      .options = options,
					      .source = replay.source,
					      .replay = &replay,
				      });
	} else {
		ncs_complain("%s", why);
	}
	ncs_replay_close(&replay);
	return status;
}

static int run_on_jobs(const struct mode_command *command,
		       const struct ncs_options *options)
{
	struct ncs_command_input input = { .options = options };
	int status;

	input.source =
		ncs_source_open_shm(options->directory, &options->choice);
	if (!input.source) {
		ncs_complain("%s", strerror(ENOMEM));
		return NCS_EXIT_NOTHING;
	}
	status = run(command, &input);
	input.source->close(input.source);
	return status;
}

/* Shows the ranks of all streams. A dump or a verdict waits until all have
 * answered; the live view shows them as they come. */
static int run_on_streams(const struct mode_command *command,
			  const struct ncs_options *options)
{
	struct ncs_command_input input = { .options = options };
	struct ncs_follow follow;
	int status = unreadable(options);

	if (!ncs_follow_open(&follow, options))
		return status;
	input.source = ncs_fleet_source(follow.fleet);
	if (options->mode == NCS_MODE_RECORD) {
		status = ncs_follow_record(&follow, options);
	} else if (options->mode == NCS_MODE_STREAM) {
		status = ncs_follow_stream(&follow, options);
	} else {
		/* Without a terminal the live view is a dump. */
		bool is_live = options->mode == NCS_MODE_LIVE &&
			       ncs_commands_have_terminal();

		if (!is_live)
			ncs_follow_wait(&follow);
		status = run(command, &input);
		if (!is_live)
			ncs_follow_say_trouble(&follow);
	}
	ncs_follow_close(&follow);
	return status;
}

/* Records the jobs of this machine, and reports on the recording, which is not kept. */
static int run_on_recorded(const struct mode_command *command,
			   const struct ncs_options *options)
{
	const char *folder = getenv("TMPDIR");
	struct ncs_options of_file = *options;
	char path[4096], *name, *files[1] = { path };
	int status = NCS_EXIT_NOTHING;

	snprintf(path, sizeof(path), "%s/ncclstat-XXXXXX",
		 folder && folder[0] ? folder : "/tmp");
	if (!mkdtemp(path)) {
		ncs_complain("%s: %s", path, strerror(errno));
		return status;
	}
	name = path + strlen(path);
	snprintf(name, sizeof(path) - strlen(path), "/recording");
	of_file.recording.path = path;
	status = ncs_record_run(
		&(struct ncs_command_input){ .options = &of_file });
	of_file.files = files;
	of_file.file_count = 1;
	if (status != NCS_EXIT_NOTHING)
		status = run_on_recordings(command, &of_file);
	else
		ncs_dump_say_nothing(options);
	unlink(path);
	*name = '\0';
	rmdir(path);
	return status;
}

/* Returns a time of an archive as nanoseconds, a bit before; 0 for 0. */
static uint64_t ns_before(time_t seconds)
{
	return seconds > NCS_ARCHIVE_BEGUN_WITHIN_S ?
		       (uint64_t)(seconds - NCS_ARCHIVE_BEGUN_WITHIN_S) *
			       UINT64_C(1000000000) :
		       0;
}

/* Says which one is read of several that --job names: runs of a job, or jobs of an array. */
static void say_which(const struct ncs_archive_files *files, const char *job)
{
	if (files->matching < 2)
		return;
	ncs_complain("this is job %s, begun %s, the latest of %zu that --job=%s"
		     " names%s%s",
		     files->job, ncs_local_time(files->begun).text,
		     files->matching, job,
		     files->before[0] ? "; the one before: --job=" : "",
		     files->before);
}

/* Prints behind a verdict which reports are kept of the job, unless they are copies that
 * will be removed, and its lines in the list of jobs. */
static void say_history(const struct ncs_archive_files *files,
			const struct ncs_options *options)
{
	struct ncs_options of_list = *options;
	struct ncs_output output;
	char path[4400], clean[4400];

	if (!ncs_output_init(&output))
		return;
	fputc('\n', output.file);
	for (size_t i = 0;
	     !options->archive_is_copy && i < files->folders.count; i++) {
		snprintf(path, sizeof(path), "%s/" NCS_ARCHIVE_REPORT,
			 files->folders.path[i]);
		ncs_utf8_clean(clean, sizeof(clean), path, options->ascii);
		if (access(path, R_OK) == 0)
			fprintf(output.file, "report: %s\n", clean);
	}
	of_list.jobs_format = NCS_JOBS_TEXT;
	ncs_jobs_run(&(struct ncs_command_input){ .options = &of_list,
						  .file = output.file });
	ncs_output_end(&output, NCS_EXIT_OK);
}

/* Reads what an archive has of a job, on one machine or on several. */
static int run_on_archive(const struct mode_command *command,
			  const struct ncs_options *options)
{
	struct ncs_options of_job = *options;
	struct ncs_archive_files files;
	int status = unreadable(options);
	int error = ncs_archive_find(&files, options->archive_path,
				     options->choice.job);

	if (error) {
		ncs_complain("%s: nothing is kept of job %s (%s); \"ncclstat"
			     " jobs\" lists what is",
			     options->archive_path, options->choice.job,
			     strerror(-error));
	} else {
		say_which(&files, options->choice.job);
		of_job.choice.job = files.job;
		of_job.job_begun_ns = ns_before(files.begun);
		of_job.job_next_ns = ns_before(files.next_begun);
		of_job.job_owner = &files.owner;
		of_job.files = files.files.path;
		of_job.file_count = files.files.count;
		status = run_on_recordings(command, &of_job);
		if (options->mode == NCS_MODE_DIAGNOSE &&
		    options->format == NCS_DUMP_TEXT)
			say_history(&files, options);
	}
	ncs_archive_release(&files);
	return status;
}

static void say_not_fetched(const char *host, const char *why)
{
	ncs_complain("%s: %s", host, why);
}

/* Reads what the archives of hosts have of a job, which is fetched first. */
static int run_on_archives(const struct mode_command *command,
			   const struct ncs_options *options)
{
	struct ncs_options of_fetched = *options;
	const char *slurm = options->slurm ? options->slurm : "";
	struct ncs_hostlist hosts = { .count = 0 };
	char job[64];
	struct ncs_fetch fetch = {
		.call = ncs_follow_call(options),
		.job = options->choice.job ? options->choice.job : job,
		.archive = options->archive_named,
		.failed = say_not_fetched,
	};
	int status = unreadable(options);
	bool any = ncs_hosts_find(options, &hosts);
	int error = any ? ncs_fetch_begin(&fetch) : 0;

	/* The components of a heterogeneous job are kept as one. */
	snprintf(job, sizeof(job), "%.*s", (int)strcspn(slurm, "+"), slurm);
	if (error) {
		ncs_complain("%s: %s; TMPDIR names another directory",
			     fetch.path, strerror(-error));
	} else if (any) {
		snprintf(of_fetched.archive_path,
			 sizeof(of_fetched.archive_path), "%s", fetch.kept);
		of_fetched.hosts = of_fetched.slurm = NULL;
		of_fetched.choice.job = fetch.job;
		of_fetched.archive_is_copy = true;
		if (ncs_fetch_from(&fetch, &hosts) > 0)
			status = run_on_archive(command, &of_fetched);
		ncs_fetch_end(&fetch);
	}
	ncs_hostlist_release(&hosts);
	return status;
}

int ncs_commands_run(const struct ncs_options *options, ncs_command_run *live)
{
	struct mode_command command = commands[options->mode];

	if (!command.run)
		command.run = live;
	if (options->hosts &&
	    (options->mode == NCS_MODE_CHECK ||
	     options->mode == NCS_MODE_CLEAN || options->mode == NCS_MODE_SET))
		return ncs_hosts_run(options);
	if (options->archive_path[0] && options->mode != NCS_MODE_WATCH &&
	    options->mode != NCS_MODE_JOBS && options->mode != NCS_MODE_CLEAN)
		return options->hosts || options->slurm ?
			       run_on_archives(&command, options) :
			       run_on_archive(&command, options);
	if (ncs_options_want_nodes(options))
		return run_on_streams(&command, options);

	if (options->mode == NCS_MODE_REPORT && options->file_count == 0)
		return run_on_recorded(&command, options);
	if (command.source == ITS_OWN)
		return run(&command,
			   &(struct ncs_command_input){ .options = options });
	return options->file_count > 0 ? run_on_recordings(&command, options) :
					 run_on_jobs(&command, options);
}
