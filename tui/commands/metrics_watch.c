/* SPDX-License-Identifier: MIT */
/* Looks, and prints and serves metrics; see metrics_watch.h. --listen answers Prometheus
 * with them: it looks at the jobs only when it is asked, and not more often than
 * LEAST_NS. */
#include "tui/commands/metrics_watch.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include "shm/clock.h"
#include "shm/group.h"
#include "tui/commands/commands.h"
#include "tui/commands/dump_command.h"
#include "tui/commands/stop_signals.h"
#include "tui/serve/http_headers.h"
#include "tui/serve/http_server.h"
#include "tui/text/output.h"

bool ncs_wants_no_records(const void *context, const char *id)
{
	(void)context;
	(void)id;
	return false;
}

void ncs_metrics_watch_init(struct ncs_metrics_watch *watch,
			    const struct ncs_command_input *input)
{
	memset(watch, 0, sizeof(*watch));
	watch->source = input->source;
	ncs_model_init(&watch->model);
	ncs_diagnosis_init(&watch->diagnosis);
	watch->model.diagnosis = &watch->diagnosis;
	ncs_metrics_init(&watch->metrics);
	watch->metrics.wanted = input->options->metrics;
	watch->metrics.series_max = input->options->series_max;
	watch->source->shows_denied = true;
	/* The UUID of a GPU comes with its peaks. */
	watch->source->wants_peaks = watch->metrics.wanted &
				     NCS_METRIC_BIT(NCS_METRIC_RANK_INFO);
	if (!ncs_metrics_need_records(&watch->metrics))
		watch->source->wants_records = ncs_wants_no_records;
}

void ncs_metrics_watch_release(struct ncs_metrics_watch *watch)
{
	watch->source->wants_records = NULL;
	watch->source->shows_denied = false;
	watch->source->wants_peaks = false;
	ncs_metrics_release(&watch->metrics);
	ncs_diagnosis_release(&watch->diagnosis);
	ncs_model_release(&watch->model);
}

static int complain_of_memory(void)
{
	ncs_complain("%s", strerror(ENOMEM));
	return -ENOMEM;
}

/* Prints an error of the source, unless it was the one before. */
static void say(struct ncs_metrics_watch *watch)
{
	if (strcmp(watch->said, watch->model.error) == 0)
		return;
	snprintf(watch->said, sizeof(watch->said), "%s", watch->model.error);
	if (watch->said[0])
		ncs_complain("%s", watch->said);
}

int ncs_metrics_watch_look(struct ncs_metrics_watch *watch,
			   const struct ncs_stamp *stamp)
{
	uint64_t began_ns = ncs_clock_monotonic_ns();
	int error = ncs_model_update(&watch->model, watch->source,
				     stamp->monotonic_ns);

	if (error == -ENOMEM && !watch->keeps_ranks)
		return complain_of_memory();
	say(watch);
	if (error && !watch->keeps_ranks) {
		/* The ranks that it showed before are no longer known. */
		ncs_model_forget(&watch->model);
		watch->model.now_ns = stamp->monotonic_ns;
	}
	if (ncs_diagnose(&watch->diagnosis, &watch->model) != 0)
		return complain_of_memory();
	watch->look.realtime_ns = stamp->realtime_ns;
	watch->look.took_ns = ncs_clock_monotonic_ns() - began_ns;
	return 0;
}

int ncs_metrics_watch_print(struct ncs_metrics_watch *watch, FILE *file,
			    enum ncs_metric_format format)
{
	if (ncs_metrics_write(&watch->metrics, file, format, &watch->model,
			      &watch->diagnosis, &watch->look) != 0)
		return complain_of_memory();
	return 0;
}

/* --- The server ------------------------------------------------------------- */

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
	struct ncs_metrics_server *server = context;
	enum ncs_metric_format format = ncs_accept_format(accept);
	FILE *file;
	int error;

	if (!server->turn && look(server->watch) != 0)
		return false;
	file = open_memstream(&reply->text, &reply->size);
	if (!file)
		return false;
	error = ncs_metrics_watch_print(server->watch, file, format);
	if (fclose(file) != 0 && !error) {
		error = -errno;
		ncs_complain("%s", strerror(errno));
	}
	if (error) {
		free(reply->text);
		return false;
	}
	reply->content_type = ncs_accept_content_type(format);
	return true;
}

static bool turn(void *context, int *timeout_ms)
{
	struct ncs_metrics_server *server = context;

	return server->turn(server->context, timeout_ms);
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

int ncs_metrics_server_open(struct ncs_metrics_server *server)
{
	const struct ncs_options *options = server->options;
	struct ncs_metrics *metrics = &server->watch->metrics;
	char why[600];
	int error;

	if (!ncs_http_is_built()) {
		ncs_complain("--listen: this ncclstat was built without"
			     " libmicrohttpd; --textfile needs none, and"
			     " --dump=openmetrics can be run by"
			     " exporter_exporter");
		return NCS_EXIT_USAGE;
	}
	error = ncs_listening_open(&server->listening, options->listen_address,
				   why, sizeof(why));
	if (error) {
		ncs_complain("%s", why);
		return error == -EINVAL ? NCS_EXIT_USAGE : NCS_EXIT_NOTHING;
	}
	if (server->listening.is_port) {
		metrics->hides_names = !options->user_names;
		gethostname(metrics->host, sizeof(metrics->host) - 1);
		warn(options);
	}
	return NCS_EXIT_OK;
}

int ncs_metrics_server_run(struct ncs_metrics_server *server,
			   const sigset_t *signals)
{
	const struct ncs_http_server http = {
		.socket = server->listening.socket,
		.stop = signalfd(-1, signals, SFD_CLOEXEC),
		.deadline_ns = NCS_HTTP_DEADLINE_NS,
		.checks_host = server->listening.is_port,
		.names = server->options->listen_names,
		.answer = answer,
		.turn = server->turn ? turn : NULL,
		.context = server,
	};
	bool served;

	if (http.stop < 0) {
		ncs_complain("%s", strerror(errno));
		return NCS_EXIT_NOTHING;
	}
	served = ncs_http_serve(&http);
	close(http.stop);
	if (!served)
		ncs_complain("the HTTP server cannot start");
	return served ? NCS_EXIT_OK : NCS_EXIT_NOTHING;
}

void ncs_metrics_server_close(struct ncs_metrics_server *server)
{
	ncs_listening_remove(&server->listening);
}

/* --- --listen -------------------------------------------------------------- */

int ncs_listen_run(const struct ncs_command_input *input)
{
	struct ncs_metrics_watch watch;
	struct ncs_metrics_server server = {
		.options = input->options,
		.watch = &watch,
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
