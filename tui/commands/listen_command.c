/* SPDX-License-Identifier: MIT */
/* --listen: answers Prometheus with metrics, by HTTP. Looks at the jobs only when
 * it is asked, and not more often than LEAST_NS. Sockets and HTTP are in
 * tui/serve. */
#include "tui/commands/command_runs.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include "shm/group.h"
#include "tui/commands/dump_command.h"
#include "tui/commands/metrics_watch.h"
#include "tui/commands/stop_signals.h"
#include "tui/serve/accept.h"
#include "tui/serve/http_server.h"
#include "tui/serve/listen_address.h"
#include "tui/text/output.h"

/* Between two looks, at least: a request that comes earlier sees the latest. */
#define LEAST_NS UINT64_C(500000000)

/* Looks, unless it has just been done. */
static int look(struct ncs_metrics_watch *watch)
{
	struct ncs_stamp stamp = ncs_dump_stamp(NULL);

	if (watch->model.refreshes > 0 &&
	    stamp.monotonic_ns - watch->model.now_ns < LEAST_NS)
		return 0;
	return ncs_metrics_watch_look(watch, &stamp);
}

static bool answer(void *context, const char *accept,
		   struct ncs_http_reply *reply)
{
	struct ncs_metrics_watch *watch = context;
	enum ncs_metric_format format = ncs_accept_format(accept);
	FILE *file = open_memstream(&reply->text, &reply->size);
	bool failed;

	if (!file)
		return false;
	failed = look(watch) != 0 ||
		 ncs_metrics_watch_print(watch, file, format) != 0;
	failed |= fclose(file) != 0;
	if (failed) {
		free(reply->text);
		return false;
	}
	reply->content_type = ncs_accept_content_type(format);
	return true;
}

/* Says what other users can read. */
static void warn(const struct ncs_options *options)
{
	ncs_complain("all users of this machine can read these metrics: of each"
		     " rank its process, GPU, operations, waits and findings;"
		     " %s; a Unix socket is for you, or " NCS_GROUP_VARIABLE
		     ", alone",
		     options->user_names ?
			     "and the names of communicators, jobs, pods and"
			     " ranges" :
			     "names that users choose are left out, see"
			     " --user-names");
}

static int serve(const struct ncs_command_input *input,
		 const struct ncs_listening *listening, int stop)
{
	struct ncs_metrics_watch watch;
	const struct ncs_http_server server = {
		.socket = listening->socket,
		.stop = stop,
		.deadline_ns = NCS_HTTP_DEADLINE_NS,
		.checks_host = listening->is_port,
		.names = input->options->listen_names,
		.answer = answer,
		.context = &watch,
	};
	bool served = false;

	ncs_metrics_watch_init(&watch, input);
	if (listening->is_port) {
		watch.metrics.hides_names = !input->options->user_names;
		gethostname(watch.metrics.host, sizeof(watch.metrics.host) - 1);
		warn(input->options);
	}
	/* The diagnosis compares with an earlier look, so have one. */
	if (look(&watch) == 0)
		served = ncs_http_serve(&server);
	if (!served)
		ncs_complain("the HTTP server cannot start");
	ncs_metrics_watch_release(&watch);
	return served ? NCS_EXIT_OK : NCS_EXIT_NOTHING;
}

int ncs_listen_run(const struct ncs_command_input *input)
{
	struct ncs_listening listening;
	char why[600];
	sigset_t signals;
	int status, error, stop;

	if (!ncs_http_is_built()) {
		ncs_complain("--listen: this ncclstat was built without"
			     " libmicrohttpd; --textfile needs none, and"
			     " --dump=openmetrics can be run by"
			     " exporter_exporter");
		return NCS_EXIT_USAGE;
	}
	ncs_stop_signals_block(&signals);
	error = ncs_listening_open(&listening, input->options->listen_address,
				   why, sizeof(why));
	if (error) {
		ncs_complain("%s", why);
		return error == -EINVAL ? NCS_EXIT_USAGE : NCS_EXIT_NOTHING;
	}
	stop = signalfd(-1, &signals, SFD_CLOEXEC);
	status = stop < 0 ? NCS_EXIT_NOTHING : serve(input, &listening, stop);
	if (stop < 0)
		ncs_complain("%s", strerror(errno));
	else
		close(stop);
	ncs_listening_remove(&listening);
	return status;
}
