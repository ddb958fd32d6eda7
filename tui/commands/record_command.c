/* SPDX-License-Identifier: MIT */
/* --record: records jobs until it is stopped, and prints the result. Standard
 * output may be the recording, so all messages must go to standard error. */
#include "tui/commands/commands.h"

#include <inttypes.h>
#include <signal.h>
#include <string.h>

#include "analysis/base/append.h"
#include "fleet/stacks/read_stacks.h"
#include "record/write/recorder.h"
#include "shm/atomics.h"
#include "shm/clock.h"
#include "tui/text/format.h"
#include "tui/text/output.h"

/* A signal that comes so soon after the first one is the same one: timeout(1)
 * and some launchers signal a process, and then its group. */
#define SAME_SIGNAL_NS UINT64_C(1000000000)

static volatile sig_atomic_t stop;
static uint64_t stopped_ns; /* when the first signal came; 0 before */

/* The first signal ends the recording in good order, a later one the program at
 * once. */
static void on_signal(int number)
{
	uint64_t first_ns = ncs_load_relaxed(&stopped_ns);
	uint64_t now_ns = ncs_clock_monotonic_ns();

	if (first_ns == 0)
		ncs_store_relaxed(&stopped_ns, now_ns);
	stop = 1;
	if (first_ns == 0 || now_ns - first_ns < SAME_SIGNAL_NS)
		return;
	signal(number, SIG_DFL);
	raise(number);
}

bool ncs_record_is_stopped(void)
{
	return stop != 0;
}

/* Installs the signal handlers without SA_RESTART, so that a waiting system
 * call returns when a signal arrives. */
static void heed_signals(void)
{
	static const int signals[] = { SIGINT, SIGTERM, SIGHUP };
	struct sigaction action = { .sa_handler = on_signal };

	for (size_t i = 0; i < sizeof(signals) / sizeof(signals[0]); i++) {
		struct sigaction before;

		/* Signals that are ignored stay ignored: nohup relies on
		 * this. */
		if (sigaction(signals[i], NULL, &before) == 0 &&
		    before.sa_handler != SIG_IGN)
			sigaction(signals[i], &action, NULL);
	}
	/* Reaching the file size limit is then an error like any other. */
	signal(SIGXFSZ, SIG_IGN);
}

/* Prints a report of the recorder. */
static void report(void *context, const char *text)
{
	(void)context;
	ncs_complain("%s", text);
}

static const char *ending(uint64_t count)
{
	return count == 1 ? "" : "s";
}

/* Prints what was recorded, and where. */
static void say_totals(const struct ncs_options *options,
		       const struct ncs_recorder_result *result)
{
	const struct ncs_recording_totals *totals = &result->totals;
	const char *path = options->recording.path;
	char text[4600] = "", bytes[NCS_FORMAT_MAX];

	ncs_format_scaled(bytes, sizeof(bytes), (double)totals->bytes, 6);
	ncs_append(text, sizeof(text),
		   "recorded %" PRIu64 " record%s and %" PRIu64
		   " state%s of %" PRIu64 " rank%s",
		   totals->records, ending(totals->records), totals->states,
		   ending(totals->states), totals->ranks,
		   ending(totals->ranks));
	if (totals->lost > 0)
		ncs_append(text, sizeof(text),
			   ", %" PRIu64
			   " lost (overwritten before they were read)",
			   totals->lost);
	if (result->missed > 0)
		ncs_append(text, sizeof(text),
			   ", at least %" PRIu64
			   " more rank%s missed (ended before they were seen)",
			   result->missed, ending(result->missed));
	ncs_append(text, sizeof(text), "; wrote %sB to %s", bytes,
		   strcmp(path, "-") == 0 ? "standard output" : path);
	if (totals->files > 1)
		ncs_append(text, sizeof(text), " and %" PRIu64 " more",
			   totals->files - 1);
	ncs_append(text, sizeof(text), " (%s)", result->method);
	ncs_complain("%s", text);
}

static int say_result(const struct ncs_options *options,
		      const struct ncs_recorder_result *result)
{
	if (result->end == NCS_RECORDER_FAILED) {
		ncs_complain("%s", result->why);
		/* The method is only known if the file was opened. */
		if (result->method[0])
			ncs_complain("what was written before that can be"
				     " read");
		return NCS_EXIT_NOTHING;
	}
	if (options->mode == NCS_MODE_RECORD)
		say_totals(options, result);
	if (result->end == NCS_RECORDER_NO_PROCESS)
		ncs_complain("there is no process %" PRIu32,
			     options->choice.pid);
	return ncs_sight_status(result->totals.ranks, result->unreadable);
}

int ncs_record_run(const struct ncs_command_input *input)
{
	const struct ncs_options *options = input->options;
	struct ncs_recorder_settings settings = options->recording;
	struct ncs_recorder_result result;

	settings.directory = options->directory;
	settings.choice = options->choice;
	settings.interval_ns =
		ncs_options_is_given(options, NCS_OPTION_INTERVAL) ?
			options->interval_ns :
			NCS_RECORDING_INTERVAL_NS;
	settings.means = NCS_SINK_ALL_MEANS;
	settings.stop = &stop;
	/* A watch has jobs come and go. */
	settings.report = options->mode == NCS_MODE_WATCH ? NULL : report;
	if (ncs_options_is_given(options, NCS_OPTION_STACKS))
		settings.read_stacks = ncs_stacks_read_lines;
	heed_signals();
	ncs_recorder_run(&settings, &result);
	return say_result(options, &result);
}
