/* SPDX-License-Identifier: MIT */
/* A small HTTP server for metrics, by libmicrohttpd; the only user of it.
 *
 * It answers GET and HEAD of /metrics with what its owner makes, one request at
 * a time, in the caller's thread. Clients are not trusted: each connection is
 * for one request, has to be through with it by a deadline, and gives way to a
 * new one if all are in use.
 */
#ifndef NCS_TUI_SERVE_HTTP_SERVER_H
#define NCS_TUI_SERVE_HTTP_SERVER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The most connections at a time. If there is another one, the one that has
 * waited longest is closed. */
#define NCS_HTTP_CONNECTIONS 16u
/* How long a connection may take, from its begin to the end of its answer. */
#define NCS_HTTP_DEADLINE_NS UINT64_C(10000000000)

struct ncs_http_reply {
	char *text; /* from malloc(); the server frees it */
	size_t size;
	const char *content_type;
};

struct ncs_http_server {
	int socket; /* which listens */
	int stop;   /* a file descriptor that can be read once it is to end */
	uint64_t deadline_ns; /* as NCS_HTTP_DEADLINE_NS */
	/* Whether only requests for the hosts of tui/serve/http_headers.h are answered;
	 * their further names. */
	bool checks_host;
	const char *names;
	/* Makes the metrics. `accept` is the request's header of that name, or
	 * NULL. Returns false if they cannot be made. */
	bool (*answer)(void *context, const char *accept,
		       struct ncs_http_reply *reply);
	/* Called whenever the server has waited, and after `timeout_ms`, which
	 * it sets: for what its owner has to do meanwhile. Returns false to end
	 * the server. NULL: nothing. */
	bool (*turn)(void *context, int *timeout_ms);
	void *context;
};

/* Whether the program was built with libmicrohttpd. */
bool ncs_http_is_built(void);

/* Serves until it is to end; closes the socket. SIGPIPE must be ignored. Returns
 * false if it cannot start. */
bool ncs_http_serve(const struct ncs_http_server *server);

#endif
