/* SPDX-License-Identifier: MIT */
/* --watch: prints a line whenever the verdict on the job changes, runs the commands
 * of --on, has jobs kept, and serves metrics. Must not judge: analysis/diagnosis does. */
#include <errno.h>
#include <poll.h>
#include <string.h>
#include <unistd.h>

#include "analysis/base/utf8.h"
#include "shm/clock.h"
#include "tui/commands/commands.h"
#include "tui/commands/metrics_watch.h"
#include "tui/commands/stop_signals.h"
#include "tui/commands/watch_parts.h"
#include "tui/text/finding_text.h"
#include "tui/text/job_verdict.h"
#include "tui/text/output.h"

/* Time between two looks at a command that runs. */
#define HOOK_STEP_NS UINT64_C(50000000)

/* Computing costs takes a three-hundredth of a processor at most, however large the job
 * is: it takes more than all else that a watch does, and costs are of the latest 10 s or
 * more. */
#define COSTS_EVERY_TIMES 300u

struct verdict_watch {
	const struct ncs_options *options;
	struct ncs_metrics_watch jobs;
	struct ncs_stamp stamp;
	struct ncs_hooks *hooks;
	struct ncs_kept_jobs *kept;       /* NULL: none are kept */
	struct ncs_metrics_server server; /* of zeros: none */
	uint64_t next_ns; /* time of the next look */
	uint64_t looks;
	/* The verdict that was printed. */
	bool is_told;
	enum ncs_verdict_severity severity;
	struct ncs_finding_key worst;
};

/* Prints the verdict if it is another one. Returns false if nobody reads. */
static bool tell(struct verdict_watch *watch)
{
	const struct ncs_diagnosis *diagnosis = &watch->jobs.diagnosis;
	const struct ncs_model *model = &watch->jobs.model;
	enum ncs_verdict_severity severity = ncs_job_severity(diagnosis, model);
	char text[NCS_SENTENCE_MAX], clean[NCS_SENTENCE_MAX];
	struct ncs_finding_key worst;

	memset(&worst, 0, sizeof(worst));
	if (diagnosis->count > 0)
		worst = ncs_finding_key(&diagnosis->findings[0]);
	if (watch->is_told && severity == watch->severity &&
	    memcmp(&worst, &watch->worst, sizeof(worst)) == 0)
		return true;
	watch->is_told = true;
	watch->severity = severity;
	watch->worst = worst;
	ncs_verdict_line(diagnosis, model, text, sizeof(text));
	ncs_utf8_clean(clean, sizeof(clean), text, watch->options->ascii);
	return printf("%s %s\n", ncs_dump_time(watch->stamp.realtime_ns).text,
		      clean) > 0 &&
	       fflush(stdout) == 0;
}

/* Takes a sample. The first one says nothing of what changes, and is not told
 * of. Returns false if the command is to end. */
static bool look(struct verdict_watch *watch)
{
	const struct ncs_diagnosis *diagnosis = &watch->jobs.diagnosis;
	const struct ncs_model *model = &watch->jobs.model;

	watch->stamp = ncs_dump_stamp(NULL);
	if (ncs_metrics_watch_look(&watch->jobs, &watch->stamp) != 0)
		return false;
	if (watch->kept)
		ncs_kept_jobs_look(watch->kept, diagnosis, model);
	if (diagnosis->passes < 2)
		return true;
	ncs_hooks_look(watch->hooks, diagnosis, model, &watch->stamp);
	return tell(watch);
}

/* Whether nobody can write to a pipe at standard input any more. */
static bool has_ended(void)
{
	struct pollfd input = { .fd = STDIN_FILENO };

	return poll(&input, 1, 0) > 0 && (input.revents & POLLHUP);
}

/* Looks if it is time, and goes on with commands. Returns the time at which it is to be
 * called again; 0: never. */
static uint64_t take_turn(struct verdict_watch *watch)
{
	const struct ncs_options *options = watch->options;
	uint64_t now_ns = ncs_clock_monotonic_ns();

	if (now_ns >= watch->next_ns) {
		if (!look(watch) || (options->is_beside && has_ended()) ||
		    (options->count > 0 && ++watch->looks >= options->count))
			return 0;
		now_ns = ncs_clock_monotonic_ns();
		watch->next_ns = now_ns + options->interval_ns;
	}
	return ncs_hooks_turn(watch->hooks) &&
			       watch->next_ns > now_ns + HOOK_STEP_NS ?
		       now_ns + HOOK_STEP_NS :
		       watch->next_ns;
}

/* Takes a turn beside the HTTP server. */
static bool take_served_turn(void *context, int *timeout_ms)
{
	uint64_t next_ns = take_turn(context);
	uint64_t now_ns = ncs_clock_monotonic_ns();

	*timeout_ms = next_ns > now_ns ?
			      (int)((next_ns - now_ns) / UINT64_C(1000000)) + 1 :
			      0;
	return next_ns != 0;
}

static int watch_until_stopped(struct verdict_watch *watch,
			       const sigset_t *signals)
{
	uint64_t next_ns;

	if (watch->server.options)
		return ncs_metrics_server_run(&watch->server, signals);
	do
		next_ns = take_turn(watch);
	while (next_ns != 0 && !ncs_stop_signals_wait(signals, next_ns));
	return NCS_EXIT_OK;
}

int ncs_watch_run(const struct ncs_command_input *input)
{
	struct verdict_watch watch = {
		.options = input->options,
		.hooks = ncs_hooks_open(input->options),
	};
	int status = NCS_EXIT_OK;
	sigset_t signals;

	if (!watch.hooks) {
		ncs_complain("%s", strerror(ENOMEM));
		return NCS_EXIT_NOTHING;
	}
	ncs_stop_signals_block(&signals);
	if (input->options->archive_path[0]) {
		watch.kept = ncs_kept_jobs_open(input->options);
		if (!watch.kept) {
			ncs_hooks_close(watch.hooks);
			return NCS_EXIT_NOTHING;
		}
	}
	ncs_metrics_watch_init(&watch.jobs, input);
	watch.jobs.keeps_ranks = true;
	/* The latest calls show what some ranks have finished and others have
	 * not. */
	watch.jobs.model.keeps_latest = true;
	watch.jobs.model.costs_every_times = COSTS_EVERY_TIMES;
	input->source->shows_denied = false;
	input->source->wants_records = NULL;
	/* Peaks tell what holds a GPU or a port back. */
	input->source->wants_peaks = true;
	if (input->options->listen_address) {
		watch.server = (struct ncs_metrics_server){
			.options = input->options,
			.watch = &watch.jobs,
			.turn = take_served_turn,
			.context = &watch,
		};
		status = ncs_metrics_server_open(&watch.server);
	}
	if (status == NCS_EXIT_OK) {
		status = watch_until_stopped(&watch, &signals);
		if (watch.server.options)
			ncs_metrics_server_close(&watch.server);
	}
	ncs_hooks_close(watch.hooks);
	if (watch.kept)
		ncs_kept_jobs_close(watch.kept);
	ncs_metrics_watch_release(&watch.jobs);
	return status;
}
