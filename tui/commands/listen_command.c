/* SPDX-License-Identifier: MIT */
/* --listen; see listen_command.h. Sockets and HTTP are in tui/serve. */
#include "tui/commands/listen_command.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "shm/clock.h"
#include "tui/commands/dump_command.h"
#include "tui/commands/metrics_watch.h"
#include "tui/commands/stop_signals.h"
#include "tui/serve/accept.h"
#include "tui/serve/http_server.h"
#include "tui/serve/listen_address.h"
#include "tui/text/output.h"

/* Looks, unless it has just been done. */
static int look(struct ncs_metrics_watch *watch)
{
	struct ncs_stamp stamp = ncs_dump_stamp(NULL);

	if (watch->model.refreshes > 0 &&
	    stamp.monotonic_ns - watch->model.now_ns < NCS_LISTEN_LEAST_NS)
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

static int serve(const struct ncs_command_input *input, int socket,
		 const sigset_t *signals)
{
	struct ncs_metrics_watch watch;
	struct ncs_http_server *server = NULL;

	ncs_metrics_watch_init(&watch, input);
	/* The diagnosis compares with an earlier look, so have one. */
	if (look(&watch) == 0)
		server = ncs_http_start(socket, answer, &watch);
	if (server) {
		while (sigwaitinfo(signals, NULL) < 0 && errno == EINTR)
			;
		ncs_http_stop(server);
	} else {
		ncs_complain("the HTTP server cannot start");
	}
	ncs_metrics_watch_release(&watch);
	return server ? NCS_EXIT_OK : NCS_EXIT_NOTHING;
}

int ncs_listen_run(const struct ncs_command_input *input)
{
	struct ncs_listening listening;
	char why[600];
	sigset_t signals;
	int status, error;

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
	status = serve(input, listening.socket, &signals);
	ncs_listening_remove(&listening);
	return status;
}
