/* SPDX-License-Identifier: MIT */
/* Serves the metrics of a model by HTTP, for --listen alone or with --watch. Must not
 * look at jobs: its owner does. Sockets and HTTP are in tui/serve. */
#ifndef NCS_TUI_COMMANDS_METRICS_SERVER_H
#define NCS_TUI_COMMANDS_METRICS_SERVER_H

#include <signal.h>

#include "tui/commands/metrics_watch.h"
#include "tui/serve/listen_address.h"

struct ncs_metrics_server {
	const struct ncs_options *options; /* --listen and what goes with it */
	struct ncs_metrics_watch *watch;   /* whose looks are served */
	/* Looks before an answer; NULL: the latest look is served. Returns 0, or
	 * -errno after a message. */
	int (*refresh)(void *context);
	/* The turn of the HTTP server (tui/serve/http_server.h), or NULL. */
	bool (*turn)(void *context, int *timeout_ms);
	void *context;
	struct ncs_listening listening;
};

/* Opens the address of --listen; of a port, sets the metrics to what all users may
 * read, and says so. Returns 0, or the exit status after a message. */
int ncs_metrics_server_open(struct ncs_metrics_server *server);

/* Serves until one of the signals, which are blocked, or until `turn` ends it. Returns
 * the exit status. */
int ncs_metrics_server_run(struct ncs_metrics_server *server,
			   const sigset_t *signals);

/* Removes the socket. */
void ncs_metrics_server_close(struct ncs_metrics_server *server);

#endif
