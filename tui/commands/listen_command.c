/* SPDX-License-Identifier: MIT */
/* --listen: answers Prometheus with metrics, by HTTP. Looks at the jobs only when
 * it is asked, and not more often than LEAST_NS. */
#include "tui/commands/commands.h"

#include "tui/commands/dump_command.h"
#include "tui/commands/metrics_server.h"
#include "tui/commands/stop_signals.h"
#include "tui/text/output.h"

/* Between two looks, at least: a request that comes earlier sees the latest. */
#define LEAST_NS UINT64_C(500000000)

/* Looks, unless it has just been done. */
static int look(void *context)
{
	struct ncs_metrics_watch *watch = context;
	struct ncs_stamp stamp = ncs_dump_stamp(NULL);

	if (watch->model.refreshes > 0 &&
	    stamp.monotonic_ns - watch->model.now_ns < LEAST_NS)
		return 0;
	return ncs_metrics_watch_look(watch, &stamp);
}

int ncs_listen_run(const struct ncs_command_input *input)
{
	struct ncs_metrics_watch watch;
	struct ncs_metrics_server server = {
		.options = input->options,
		.watch = &watch,
		.refresh = look,
		.context = &watch,
	};
	sigset_t signals;
	int status;

	ncs_stop_signals_block(&signals);
	ncs_metrics_watch_init(&watch, input);
	status = ncs_metrics_server_open(&server);
	if (status == NCS_EXIT_OK) {
		/* The diagnosis compares with an earlier look, so have one. */
		status = look(&watch) == 0 ?
				 ncs_metrics_server_run(&server, &signals) :
				 NCS_EXIT_NOTHING;
		ncs_metrics_server_close(&server);
	}
	ncs_metrics_watch_release(&watch);
	return status;
}
