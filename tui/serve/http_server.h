/* SPDX-License-Identifier: MIT */
/* A small HTTP server for metrics, by libmicrohttpd; the only user of it.
 *
 * It answers GET and HEAD of /metrics with what its owner makes, one request at
 * a time, in a thread of its own. Connections are few and end after a while.
 */
#ifndef NCS_TUI_SERVE_HTTP_SERVER_H
#define NCS_TUI_SERVE_HTTP_SERVER_H

#include <stdbool.h>
#include <stddef.h>

struct ncs_http_server;

/* The most connections at a time; how long one may stay idle. */
#define NCS_HTTP_CONNECTIONS 16u
#define NCS_HTTP_TIMEOUT_SECONDS 10u

struct ncs_http_reply {
	char *text; /* from malloc(); the server frees it */
	size_t size;
	const char *content_type;
};

/* Makes the metrics. `accept` is the request's header of that name, or NULL.
 * Returns false if they cannot be made. Called by the server's thread. */
typedef bool ncs_http_answer(void *context, const char *accept,
			     struct ncs_http_reply *reply);

/* Whether the program was built with libmicrohttpd. */
bool ncs_http_is_built(void);

/* Serves a listening socket, which is the server's from now on. The thread
 * inherits the caller's blocked signals. Returns NULL, with the socket closed,
 * if it cannot start. */
struct ncs_http_server *ncs_http_start(int socket, ncs_http_answer *answer,
				       void *context);

/* Ends the server and waits for its thread. */
void ncs_http_stop(struct ncs_http_server *server);

#endif
