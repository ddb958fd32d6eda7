/* SPDX-License-Identifier: MIT */
/* Follows streams, and has hosts run commands; see follow.h. Standard output may be a
 * stream: all messages must go to standard error. */
#include "tui/commands/follow.h"

#include <errno.h>
#include <inttypes.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "analysis/base/append.h"
#include "fleet/head/relay.h"
#include "fleet/launch/everywhere.h"
#include "fleet/launch/lookups.h"
#include "fleet/stacks/read_stacks.h"
#include "fleet/stream/agent.h"
#include "shm/clock.h"
#include "tui/commands/commands.h"
#include "tui/commands/print_values.h"
#include "tui/commands/set_command.h"
#include "tui/commands/stop_signals.h"
#include "tui/text/format.h"
#include "tui/text/node_text.h"
#include "tui/text/output.h"

/* The longest wait for nodes, and for a verdict, which takes another look. */
#define WAIT_NS UINT64_C(3000000000)
#define WAIT_LEAST_NS UINT64_C(1000000000)
#define SETTLE_NS 250000000

/* The most nodes in a state that are told of one by one. */
#define NAMED_MOST 8u

/* How often it is looked whether all streams have ended. */
#define RECORD_POLL_MS 100

struct ncs_agent_call ncs_follow_call(const struct ncs_options *options)
{
	return (struct ncs_agent_call){
		.command = options->remote_command ? options->remote_command :
						     "ncclstat",
		.directory = options->directory,
		.interval_ns = options->interval_ns,
		/* For what is shown, ranks are chosen here. */
		.choice = options->mode == NCS_MODE_RECORD ?
				  options->choice :
				  (struct ncs_choice){ .pid = 0 },
		.with_records = options->with_records,
		.with_stacks = options->mode != NCS_MODE_DIAGNOSE &&
			       ncs_options_is_given(options, NCS_OPTION_STACKS),
		.ssh = getenv("NCCLSTAT_SSH"),
	};
}

/* Returns how the options have agents started. */
static struct ncs_launch launch_of(const struct ncs_options *options)
{
	const char *const targets[] = {
		[NCS_AGENTS_BY_HOSTS] = options->hosts,
		[NCS_AGENTS_BY_SLURM] = options->slurm,
		[NCS_AGENTS_BY_KUBE] = options->kube,
		[NCS_AGENTS_BY_COMMAND] = options->from,
	};
	struct ncs_launch launch = {
		.exclude = options->exclude,
		.call = ncs_follow_call(options),
	};

	/* A verdict compares two samples: between them each node has a look. */
	if (options->mode == NCS_MODE_DIAGNOSE)
		launch.call.interval_ns = options->interval_ns / 2;
	if (launch.call.interval_ns < NCS_INTERVAL_MIN_NS)
		launch.call.interval_ns = NCS_INTERVAL_MIN_NS;
	/* One of them is given. */
	while (!targets[launch.way])
		launch.way++;
	launch.target = targets[launch.way];
	return launch;
}

/* Opens the streams, or starts the agents that write them. */
static int open_streams(struct ncs_follow *follow,
			const struct ncs_options *options, char *why,
			size_t why_size)
{
	struct ncs_launch launch;

	if (options->follows)
		return ncs_pipes_open(&follow->pipes, follow->fleet,
				      options->files, options->file_count, why,
				      why_size);
	launch = launch_of(options);
	return ncs_crew_open(&follow->crew, follow->fleet, &launch, why,
			     why_size);
}

bool ncs_follow_open(struct ncs_follow *follow,
		     const struct ncs_options *options)
{
	char why[4300];

	follow->pipes = NULL;
	follow->crew = NULL;
	follow->is_command = options->from != NULL;
	follow->is_chosen = options->mode == NCS_MODE_RECORD &&
			    (options->choice.job || options->choice.pid != 0);
	follow->wait_ns = WAIT_NS;
	if (options->mode == NCS_MODE_DIAGNOSE)
		follow->wait_ns = options->interval_ns + WAIT_LEAST_NS <
						  WAIT_NS ?
					  WAIT_NS - options->interval_ns :
					  WAIT_LEAST_NS;
	/* The first look has stacks, if the job stands still. */
	if (ncs_options_is_given(options, NCS_OPTION_STACKS))
		follow->wait_ns += WAIT_NS;
	follow->fleet = ncs_fleet_new(&options->choice);
	if (!follow->fleet) {
		ncs_complain("%s", strerror(ENOMEM));
		return false;
	}
	if (options->mode == NCS_MODE_RECORD)
		ncs_fleet_keep(follow->fleet, &options->recording);
	if (open_streams(follow, options, why, sizeof(why)) == 0)
		return true;
	ncs_complain("%s", why);
	ncs_follow_close(follow);
	return false;
}

void ncs_follow_close(struct ncs_follow *follow)
{
	ncs_pipes_close(follow->pipes);
	ncs_crew_close(follow->crew);
	ncs_fleet_free(follow->fleet);
}

void ncs_follow_wait(struct ncs_follow *follow)
{
	uint64_t until_ns = ncs_clock_monotonic_ns() + follow->wait_ns;
	const struct timespec settle = { .tv_nsec = SETTLE_NS };
	/* From the start, how many there are. */
	bool knows_nodes = follow->crew ? !follow->is_command :
					  !ncs_pipes_have_lines(follow->pipes);
	size_t least = follow->crew ? 1 : ncs_pipes_count(follow->pipes);
	size_t count, before;

	do {
		uint64_t now_ns = ncs_clock_monotonic_ns();

		if (now_ns >= until_ns ||
		    !ncs_fleet_wait(follow->fleet, until_ns - now_ns))
			return;
		before = ncs_fleet_nodes(follow->fleet, 0, NULL, 0);
		if (before >= least && knows_nodes)
			return;
		nanosleep(&settle, NULL);
		count = ncs_fleet_nodes(follow->fleet, 0, NULL, 0);
	} while (count > before || count < least);
}

/* Says what is the matter with a node; of one that told before, since when it
 * does not. */
static void say_trouble_of(const struct ncs_node *node, uint64_t now_ns)
{
	uint64_t age_ns = ncs_node_age_ns(node, now_ns);
	char words[2 * NCS_NODE_WHY_BYTES] = "", age[NCS_FORMAT_MAX];

	ncs_append_node_why(node, words, sizeof(words));
	if (ncs_node_sight(node->state) == NCS_SIGHT_PAST &&
	    age_ns != UINT64_MAX) {
		ncs_format_duration(age, sizeof(age), age_ns, 8);
		ncs_append(words, sizeof(words), " (latest look %s ago)", age);
	}
	ncs_complain("%s: %s: %s", node->name, ncs_node_state_name(node->state),
		     words);
}

/* Prints a message for each node in a state, or one message if they are
 * many. */
static void say_state(const struct ncs_node *nodes, size_t count,
		      enum ncs_node_state state, uint64_t now_ns)
{
	const struct ncs_node *first = NULL;
	size_t alike = 0;

	for (size_t i = 0; i < count; i++) {
		if (nodes[i].state != state)
			continue;
		if (!first)
			first = &nodes[i];
		alike++;
	}
	for (size_t i = 0; i < count && alike <= NAMED_MOST; i++)
		if (nodes[i].state == state)
			say_trouble_of(&nodes[i], now_ns);
	if (alike > NAMED_MOST)
		ncs_complain("%zu of %zu nodes: %s: %s; the first is %s%s%s;"
			     " --list tells of each",
			     alike, count, ncs_node_state_name(state),
			     ncs_node_state_help(state), first->name,
			     first->why[0] ? ": " : "", first->why);
}

void ncs_follow_say_trouble(const struct ncs_follow *follow)
{
	uint64_t now_ns = ncs_clock_monotonic_ns();
	size_t count = ncs_fleet_nodes(follow->fleet, now_ns, NULL, 0);
	struct ncs_node *nodes = calloc(count + 1, sizeof(*nodes));
	char message[NCS_NODE_WHY_BYTES] = "";

	if (!nodes)
		return;
	if (count == 0) {
		if (follow->crew)
			ncs_crew_message(follow->crew, message,
					 sizeof(message));
		ncs_complain("there is no look of any node in the streams%s%s",
			     message[0] ? ": " : "", message);
	}
	ncs_fleet_nodes(follow->fleet, now_ns, nodes, count);
	for (unsigned i = 0; i < NCS_NODE_STATE_COUNT; i++)
		if (i != NCS_NODE_RUNNING &&
		    !(i == NCS_NODE_NO_JOB && follow->is_chosen))
			say_state(nodes, count, (enum ncs_node_state)i, now_ns);
	free(nodes);
}

/* Whether no stream tells any more. */
static bool has_ended(void *context)
{
	const struct ncs_follow *follow = context;

	return follow->crew ? ncs_crew_has_ended(follow->crew) :
			      ncs_pipes_have_ended(follow->pipes);
}

static void wait_for_end(struct ncs_follow *follow,
			 const struct ncs_options *options, int stop)
{
	struct pollfd stopped = { .fd = stop, .events = POLLIN };
	uint64_t duration_ns = options->recording.duration_ns;
	uint64_t begun_ns = ncs_clock_monotonic_ns();

	while (!has_ended(follow)) {
		if (duration_ns != 0 &&
		    ncs_clock_monotonic_ns() - begun_ns >= duration_ns)
			return;
		if (poll(&stopped, 1, RECORD_POLL_MS) > 0)
			return;
	}
}

static const char *ending(uint64_t count)
{
	return count == 1 ? "" : "s";
}

int ncs_follow_record(struct ncs_follow *follow,
		      const struct ncs_options *options)
{
	int stop = ncs_stop_signals_file();
	struct ncs_fleet_kept kept;
	char bytes[NCS_FORMAT_MAX], text[4300] = "";

	wait_for_end(follow, options, stop);
	if (stop >= 0)
		close(stop);
	if (!has_ended(follow))
		ncs_follow_say_trouble(follow);
	ncs_pipes_close(follow->pipes);
	follow->pipes = NULL;
	ncs_crew_close(follow->crew);
	follow->crew = NULL;
	ncs_fleet_keep_end(follow->fleet, &kept);
	if (kept.error) {
		ncs_complain("%s: %s", kept.failed_path, strerror(-kept.error));
		return NCS_EXIT_NOTHING;
	}
	ncs_format_scaled(bytes, sizeof(bytes), (double)kept.bytes, 6);
	ncs_append(text, sizeof(text),
		   "kept %" PRIu64 " look%s of %zu node%s%s; wrote %sB to"
		   " %sNODE",
		   kept.looks, ending(kept.looks), kept.nodes,
		   ending(kept.nodes), kept.states > 0 ? "" : " without a rank",
		   bytes, kept.prefix);
	if (kept.files > kept.nodes)
		ncs_append(text, sizeof(text), " and %zu more file%s",
			   kept.files - kept.nodes,
			   ending(kept.files - kept.nodes));
	ncs_complain("%s", text);
	if (kept.stale > 0)
		ncs_complain("%zu older file%s could not be removed",
			     kept.stale, ending(kept.stale));
	return kept.states > 0 ? NCS_EXIT_OK : NCS_EXIT_NOTHING;
}

/* --- --stream --------------------------------------------------------------- */

/* Returns the settings of an agent as the options have them. Blocks the signals
 * that are to end it. */
static struct ncs_agent_settings settings_of(const struct ncs_options *options)
{
	return (struct ncs_agent_settings){
		.directory = options->directory,
		.choice = options->choice,
		.interval_ns = options->interval_ns,
		.heartbeat_ns = options->heartbeat_ns,
		.count = options->count,
		.has_lines = options->stream_form != NCS_STREAM_FORM_RAW,
		.is_packed = options->stream_form == NCS_STREAM_FORM_PACKED,
		.with_records = options->with_records,
		.read_stacks =
			ncs_options_is_given(options, NCS_OPTION_STACKS) ?
				ncs_stacks_read_lines :
				NULL,
		.pack_level = options->recording.pack_level,
		.output = STDOUT_FILENO,
		.input = STDIN_FILENO,
		.stop = ncs_stop_signals_file(),
	};
}

/* Says why an agent has ended, if it is an error. Returns the exit status. */
static int end_stream(const struct ncs_agent_result *result)
{
	if (result->end != NCS_AGENT_FAILED)
		return NCS_EXIT_OK;
	ncs_complain("standard output: %s", strerror(-result->error));
	return NCS_EXIT_NOTHING;
}

int ncs_stream_run(const struct ncs_command_input *input)
{
	const struct ncs_options *options = input->options;
	struct ncs_agent_settings settings;
	struct ncs_agent_result result;

	if (options->stream_form == NCS_STREAM_FORM_RAW &&
	    isatty(STDOUT_FILENO)) {
		ncs_complain("standard output: a stream is nothing for a"
			     " terminal, except for --stream=lines");
		return NCS_EXIT_NOTHING;
	}
	settings = settings_of(options);
	ncs_agent_run(&settings, &result);
	return end_stream(&result);
}

int ncs_follow_stream(struct ncs_follow *follow,
		      const struct ncs_options *options)
{
	struct ncs_agent_settings settings = settings_of(options);
	struct ncs_agent_result result;

	/* It may be one of the streams. */
	if (options->follows)
		settings.input = -1;
	ncs_relay_run(follow->fleet, &settings, has_ended, follow, &result);
	if (settings.stop >= 0)
		close(settings.stop);
	return end_stream(&result);
}

/* --- Commands on hosts ------------------------------------------------------ */

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
