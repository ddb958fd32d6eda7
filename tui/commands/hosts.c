/* SPDX-License-Identifier: MIT */
/* Hosts of options; see hosts.h. */
#include "tui/commands/hosts.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fleet/launch/everywhere.h"
#include "fleet/launch/lookups.h"
#include "tui/commands/follow.h"
#include "tui/commands/print_values.h"
#include "tui/commands/set_command.h"
#include "tui/text/output.h"

bool ncs_hosts_find(const struct ncs_options *options,
		    struct ncs_hostlist *hosts)
{
	struct ncs_guard guard = { .pid = 0 };
	char why[512] = "there is no node left";
	const struct ncs_lookup lookup = { &guard, hosts, why, sizeof(why) };
	int error = ncs_guard_start(&guard);

	if (error)
		snprintf(why, sizeof(why), "%s", strerror(-error));
	if (!error)
		error = options->slurm ?
				ncs_lookup_job_that_ran(&lookup,
							options->slurm) :
				ncs_lookup_hosts(&lookup, options->hosts);
	if (!error)
		error = ncs_lookup_exclude(&lookup, options->exclude);
	ncs_guard_stop(&guard);
	if (!error && hosts->count > 0)
		return true;
	ncs_complain("%s", why);
	return false;
}

bool ncs_hosts_run_each(const struct ncs_options *options)
{
	return options->hosts && (options->mode == NCS_MODE_CHECK ||
				  options->mode == NCS_MODE_CLEAN ||
				  options->mode == NCS_MODE_SET);
}

/* Adds the options that ask for the same on another machine. */
static void add_options(struct ncs_words *words,
			const struct ncs_options *options)
{
	char change[256];

	ncs_set_text(&options->change, change, sizeof(change));
	if (options->mode == NCS_MODE_SET)
		ncs_words_add(words, "--set=%s", change);
	else
		ncs_words_add(words, options->mode == NCS_MODE_CHECK ?
					     "--check" :
					     "--clean");
	if (options->choice.job)
		ncs_words_add(words, "--job=%s", options->choice.job);
	if (options->comm)
		ncs_words_add(words, "--comm=%s", options->comm);
	if (options->archive_named)
		ncs_words_add(words, "--archive=%s", options->archive_named);
	else if (options->archive_path[0])
		ncs_words_add(words, "--archive");
	if (options->retain.text)
		ncs_words_add(words, "--retain=%s", options->retain.text);
	if (options->directory)
		ncs_words_add(words, "--dir=%s", options->directory);
}

/* Prints what a host printed, each line after the host's name. */
static void print_outcome(FILE *file, const char *host,
			  const struct ncs_outcome *outcome)
{
	char *rest = outcome->text, *line;

	while (rest && (line = strsep(&rest, "\n"))) {
		/* No empty line after the last one. */
		if (!rest && !line[0])
			break;
		ncs_print(file, "$s: $s\n", host, line);
	}
	if (outcome->why[0])
		ncs_complain("%s: %s", host, outcome->why);
}

int ncs_hosts_run(const struct ncs_options *options)
{
	const struct ncs_agent_call call = ncs_follow_call(options);
	struct ncs_hostlist hosts = { .count = 0 };
	struct ncs_words words = { .count = 0 };
	struct ncs_outcome *outcomes = NULL;
	struct ncs_output output;
	int status = NCS_EXIT_NOTHING, error = -ENOMEM;

	add_options(&words, options);
	if (ncs_hosts_find(options, &hosts)) {
		outcomes = calloc(hosts.count, sizeof(*outcomes));
		if (outcomes)
			error = ncs_run_everywhere(&call, &hosts, &words,
						   outcomes);
		if (error)
			ncs_complain("%s", strerror(-error));
	}
	if (!error && ncs_output_init(&output)) {
		status = NCS_EXIT_OK;
		for (size_t i = 0; i < hosts.count; i++) {
			print_outcome(output.file, hosts.hosts[i]->name,
				      &outcomes[i]);
			if (!outcomes[i].is_good)
				status = NCS_EXIT_NOTHING;
		}
		status = ncs_output_end(&output, status);
	}
	if (outcomes)
		ncs_outcomes_release(outcomes, hosts.count);
	free(outcomes);
	ncs_words_release(&words);
	ncs_hostlist_release(&hosts);
	return status;
}
