/* SPDX-License-Identifier: MIT */
/* --stream; see stream_command.h. Standard output is the stream, so all
 * messages must go to standard error. */
#include "tui/commands/stream_command.h"

#include <string.h>
#include <unistd.h>

#include "fleet/stacks/read_stacks.h"
#include "fleet/stream/agent.h"
#include "tui/commands/commands.h"
#include "tui/commands/stop_signals.h"
#include "tui/text/output.h"

struct ncs_agent_settings
ncs_stream_settings(const struct ncs_options *options)
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

int ncs_stream_end(const struct ncs_agent_result *result)
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
	settings = ncs_stream_settings(options);
	ncs_agent_run(&settings, &result);
	return ncs_stream_end(&result);
}
