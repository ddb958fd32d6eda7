/* SPDX-License-Identifier: MIT */
/* --set; see set_command.h. Must write only one word, in the control object of
 * each target. */
#include "tui/commands/set_command.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "analysis/base/aliases.h"
#include "analysis/base/detail.h"
#include "analysis/base/value_names.h"
#include "ncclstat/reader.h"
#include "shm/clock.h"
#include "tui/commands/commands.h"
#include "tui/commands/print_values.h"
#include "tui/text/job_verdict.h"
#include "tui/text/output.h"
#include "tui/text/words.h"

#define PATIENCE_NS UINT64_C(2000000000)
#define REFRESH_NS 20000000

/* --- Targets ------------------------------------------------------------- */

static bool is_of(const struct ncs_rank *rank, const struct ncs_target *target)
{
	return rank->owner == target->owner &&
	       ncs_process_is_same(&rank->process, &target->process);
}

static bool is_known(const struct ncs_targets *targets,
		     const struct ncs_rank *rank)
{
	for (size_t i = 0; i < targets->count; i++)
		if (is_of(rank, &targets->targets[i]))
			return true;
	return false;
}

int ncs_targets_find(struct ncs_targets *targets, const struct ncs_model *model,
		     const struct ncs_target_filter *filter)
{
	memset(targets, 0, sizeof(*targets));
	targets->targets =
		calloc(model->rank_count + 1, sizeof(*targets->targets));
	if (!targets->targets)
		return -ENOMEM;
	for (size_t i = 0; i < model->rank_count; i++) {
		const struct ncs_rank *rank = model->ranks[i];
		struct ncs_target *target = &targets->targets[targets->count];

		if (rank->now.process_gone || !ncs_rank_is_live(rank) ||
		    !ncs_comm_matches(&rank->now.identity, filter->comm) ||
		    is_known(targets, rank))
			continue;
		target->process = rank->process;
		target->owner = rank->owner;
		target->pid = ncs_rank_pid(rank);
		ncs_comm_text(&rank->now.identity, target->comm,
			      sizeof(target->comm));
		ncs_remote_find(filter->directory, &rank->process, rank->owner,
				&target->remote, target->why,
				sizeof(target->why));
		if (target->remote && !filter->others &&
		    ncs_remote_owner(target->remote) != geteuid()) {
			ncs_remote_close(target->remote);
			memset(target, 0, sizeof(*target));
			continue;
		}
		targets->count++;
	}
	return 0;
}

void ncs_targets_release(struct ncs_targets *targets)
{
	for (size_t i = 0; i < targets->count; i++)
		ncs_remote_close(targets->targets[i].remote);
	free(targets->targets);
	memset(targets, 0, sizeof(*targets));
}

/* --- Asking -------------------------------------------------------------- */

/* Writes the request to each target. Returns the number of targets asked. */
static size_t ask(struct ncs_targets *targets, const struct ncs_change *change)
{
	size_t asked = 0;

	for (size_t i = 0; i < targets->count; i++) {
		struct ncs_target *target = &targets->targets[i];

		if (!target->remote)
			continue;
		target->word = ncs_control_change(
			ncs_remote_control(target->remote), change);
		asked++;
	}
	return asked;
}

void ncs_set_text(const struct ncs_change *change, char *text, size_t size)
{
	struct ncs_detail asked_for = { 0 };

	if (change->groups && change->kernel && change->sample &&
	    change->timing &&
	    ncs_detail_pack(&change->to) == 0) {
		snprintf(text, size, "default");
		return;
	}
	if (ncs_detail_pack(&change->to) != 0) {
		asked_for = change->to;
		ncs_detail_text(&asked_for, text, size);
	} else {
		text[0] = '\0';
	}
	if (change->groups && !asked_for.has_groups)
		ncs_append(text, size, "%sevents=default", text[0] ? "," : "");
	if (change->sample && asked_for.sample == 0)
		ncs_append(text, size, "%ssample=default", text[0] ? "," : "");
	if (change->timing && asked_for.timing == NCS_TIMING_DETAIL_DEFAULT)
		ncs_append(text, size, "%stiming=default", text[0] ? "," : "");
}

static const char *processes(size_t count)
{
	return count == 1 ? "process" : "processes";
}

size_t ncs_set_ask(const struct ncs_model *model,
		   const struct ncs_target_filter *filter,
		   const struct ncs_change *change, char *text, size_t size)
{
	struct ncs_targets targets;
	char what[256];
	size_t asked = 0;

	ncs_set_text(change, what, sizeof(what));
	if (ncs_targets_find(&targets, model, filter) != 0) {
		snprintf(text, size, "%s", strerror(ENOMEM));
	} else if (targets.count == 0) {
		snprintf(text, size, "there is no process to ask");
	} else {
		asked = ask(&targets, change);
		snprintf(text, size, "asked %zu %s for %s", asked,
			 processes(asked), what);
	}
	for (size_t i = 0; i < targets.count; i++) {
		if (targets.targets[i].remote)
			continue;
		ncs_append(text, size, "; not process %" PRIu32 ": %s",
			   targets.targets[i].pid,
			   targets.targets[i].why);
		break;
	}
	ncs_targets_release(&targets);
	return asked;
}

/* --- Answers ------------------------------------------------------------- */

/* Returns the settings that one of a target's ranks publishes; NULL if none
 * publishes settings. */
static const struct ncs_settings_view *
settings_of(const struct ncs_model *model, const struct ncs_target *target)
{
	for (size_t i = 0; i < model->rank_count; i++)
		if (is_of(model->ranks[i], target) &&
		    ncs_rank_is_live(model->ranks[i]) &&
		    model->ranks[i]->now.settings.known)
			return &model->ranks[i]->now.settings;
	return NULL;
}

static bool has_answered(const struct ncs_model *model,
			 const struct ncs_target *target)
{
	const struct ncs_settings_view *settings = settings_of(model, target);

	return settings && settings->asked != 0 &&
	       ncs_request_is_since(settings->asked, target->word);
}

static bool all_have_answered(const struct ncs_model *model,
			      const struct ncs_targets *targets)
{
	for (size_t i = 0; i < targets->count; i++)
		if (targets->targets[i].word != 0 &&
		    !has_answered(model, &targets->targets[i]))
			return false;
	return true;
}

static void wait_for_answers(struct ncs_model *model, struct ncs_source *source,
			     const struct ncs_targets *targets)
{
	static const struct timespec pause = { 0, REFRESH_NS };
	uint64_t start_ns = ncs_clock_monotonic_ns(), now_ns;

	do {
		now_ns = ncs_clock_monotonic_ns();
		ncs_model_update(model, source, now_ns);
		if (all_have_answered(model, targets))
			break;
		nanosleep(&pause, NULL);
	} while (now_ns - start_ns < PATIENCE_NS);
}

static void append_lease(const struct ncs_settings_view *settings,
			 uint64_t now_ns, char *text, size_t size)
{
	uint64_t left_ns = ncs_lease_left_ns(settings, now_ns);

	if (left_ns > 0)
		ncs_append(text, size,
			   "; process %" PRIu32 " has a lease for %s",
			   settings->lease_pid, ncs_duration(left_ns).text);
}

/* Prints the answer of a process. Returns false if the process does not comply
 * with the request. */
static bool describe(const struct ncs_model *model,
		     const struct ncs_target *target, char *text, size_t size)
{
	const struct ncs_settings_view *settings = settings_of(model, target);
	char detail[256];

	if (!target->remote) {
		snprintf(text, size, "cannot be asked: %s", target->why);
		return false;
	}
	if (!settings) {
		snprintf(text, size, "has gone");
		return false;
	}
	ncs_detail_text(&settings->in_force, detail, sizeof(detail));
	if (!has_answered(model, target)) {
		snprintf(text, size,
			 "asked; it has made no NCCL call since; until then %s",
			 detail);
		return false;
	}
	snprintf(text, size, "%s", detail);
	append_lease(settings, model->now_ns, text, size);
	if (settings->refused == NCS_REFUSAL_NONE)
		return true;
	ncs_append(text, size, "; refused: %s",
		   ncs_refusal_help(settings->refused));
	return false;
}

static bool print_answers(FILE *file, const struct ncs_model *model,
			  const struct ncs_targets *targets)
{
	char text[512];
	bool good = true;

	for (size_t i = 0; i < targets->count; i++) {
		const struct ncs_target *target = &targets->targets[i];

		good &= describe(model, target, text, sizeof(text));
		ncs_print(file, "pid $n$s$s: $s\n", (size_t)target->pid,
			  target->comm[0] ? " " : "", target->comm, text);
	}
	return good;
}

/* --- The program --------------------------------------------------------- */

static void say_nothing_found(const struct ncs_options *options,
			      const struct ncs_model *model)
{
	const char *directory = ncs_directory(options->directory);

	if (model->rank_count == 0 && model->unreadable_count > 0)
		ncs_complain("%s: %s", model->unreadable[0].id,
			     model->unreadable[0].why);
	else if (options->comm)
		ncs_complain("no living process has a communicator that"
			     " matches '%s' (looked in %s)",
			     options->comm, directory);
	else if (options->choice.job)
		ncs_complain("no living process is of job '%s' (looked in %s)",
			     options->choice.job, directory);
	else if (options->choice.pid)
		ncs_complain("process %" PRIu32 " is no NCCL job with the"
			     " ncclstat plugin (looked in %s)",
			     options->choice.pid, directory);
	else
		ncs_complain("no NCCL job of yours with the ncclstat"
			     " plugin is running here (looked in %s)",
			     directory);
}

static int set(const struct ncs_command_input *input, struct ncs_model *model,
	       struct ncs_targets *targets)
{
	const struct ncs_change *change = &input->options->change;
	size_t asked = ask(targets, change);
	char what[256];

	ncs_set_text(change, what, sizeof(what));
	fprintf(input->file, "asked %zu %s for %s\n", asked, processes(asked),
		what);
	wait_for_answers(model, input->source, targets);
	return print_answers(input->file, model, targets) ? NCS_EXIT_OK :
							    NCS_EXIT_NOTHING;
}

int ncs_set_run(const struct ncs_command_input *input)
{
	const struct ncs_options *options = input->options;
	const struct ncs_target_filter filter = {
		.directory = options->directory,
		.comm = options->comm,
		.others = options->choice.pid != 0 ||
			  options->choice.job || options->comm,
	};
	struct ncs_targets targets = { 0 };
	struct ncs_model model;
	int status = NCS_EXIT_NOTHING;

	ncs_model_init(&model);
	ncs_model_update(&model, input->source, ncs_clock_monotonic_ns());
	if (model.error[0])
		ncs_complain("%s", model.error);
	else if (ncs_targets_find(&targets, &model, &filter) != 0)
		ncs_complain("%s", strerror(ENOMEM));
	else if (targets.count > 0)
		status = set(input, &model, &targets);
	else {
		say_nothing_found(options, &model);
		status = ncs_sight_status(0, ncs_count_unreadable(&model));
	}
	ncs_targets_release(&targets);
	ncs_model_release(&model);
	return status;
}
