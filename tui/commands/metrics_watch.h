/* SPDX-License-Identifier: MIT */
/* Looks at the jobs of this node, or at recordings, and prints or serves metrics of
 * them; shared by the commands that do, which decide when to look. */
#ifndef NCS_TUI_COMMANDS_METRICS_WATCH_H
#define NCS_TUI_COMMANDS_METRICS_WATCH_H

#include <signal.h>

#include "analysis/metrics/metrics.h"
#include "tui/commands/commands.h"
#include "tui/serve/listen_address.h"

struct ncs_stamp; /* tui/commands/dump_command.h */

struct ncs_metrics_watch {
	struct ncs_source *source;
	struct ncs_model model;
	struct ncs_diagnosis diagnosis;
	struct ncs_metrics metrics;
	struct ncs_metrics_look look; /* the latest */
	char said[256]; /* the latest error of the source, which was printed */
	bool keeps_ranks; /* when the source cannot be read */
};

/* Begins to watch the input's source, by its options. The source then hands
 * over records only if a metric needs them. */
void ncs_metrics_watch_init(struct ncs_metrics_watch *watch,
			    const struct ncs_command_input *input);
void ncs_metrics_watch_release(struct ncs_metrics_watch *watch);

/* Looks at the source as it is at the stamp, which is now. If it cannot be read, a
 * message is printed, once, and it has no ranks unless they are kept. Returns 0 or
 * -ENOMEM, after a message; where ranks are kept, only if they cannot be judged. */
int ncs_metrics_watch_look(struct ncs_metrics_watch *watch,
			   const struct ncs_stamp *stamp);

/* Prints the metrics of the latest look. Returns 0 or -ENOMEM, after a
 * message. */
int ncs_metrics_watch_print(struct ncs_metrics_watch *watch, FILE *file,
			    enum ncs_metric_format format);

/* Serves the metrics of a watch by HTTP, for --listen alone or with --watch, whose looks
 * it serves. Sockets and HTTP are in tui/serve. */
struct ncs_metrics_server {
	const struct ncs_options *options; /* --listen and what goes with it */
	struct ncs_metrics_watch *watch;
	/* The turn of the HTTP server (tui/serve/http_server.h), in which its owner
	 * looks; NULL: it looks before an answer. */
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

/* For a source of which only states are of use. */
bool ncs_wants_no_records(const void *context, const char *id);

#endif
