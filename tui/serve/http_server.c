/* SPDX-License-Identifier: MIT */
/* HTTP by libmicrohttpd; see http_server.h. */
#include "tui/serve/http_server.h"

#include <stdlib.h>
#include <unistd.h>

#ifdef NCS_WITH_HTTP

#include <limits.h>
#include <microhttpd.h>
#include <poll.h>
#include <string.h>
#include <sys/socket.h>

#include "shm/clock.h"
#include "tui/serve/http_headers.h"

struct client {
	int socket; /* -1: the entry is free */
	bool is_ended; /* by us; libmicrohttpd will notice */
	uint64_t begin_ns;
};

struct service {
	const struct ncs_http_server *server;
	struct MHD_Daemon *daemon;
	/* And one that comes while all are in use. */
	struct client connections[NCS_HTTP_CONNECTIONS + 1];
	/* A connection has ended. If all were in use, libmicrohttpd accepts
	 * others only once it runs again, and no event tells it to. */
	bool has_room;
};

bool ncs_http_is_built(void)
{
	return true;
}

/* --- Answers -------------------------------------------------------------- */

/* Sends a response, which it takes over; NULL closes the connection. */
static enum MHD_Result send_response(struct MHD_Connection *connection,
				     unsigned status,
				     struct MHD_Response *response,
				     const char *content_type)
{
	enum MHD_Result result;

	if (!response)
		return MHD_NO;
	MHD_add_response_header(response, MHD_HTTP_HEADER_CONTENT_TYPE,
				content_type);
	MHD_add_response_header(response, MHD_HTTP_HEADER_CONNECTION, "close");
	if (status == MHD_HTTP_METHOD_NOT_ALLOWED)
		MHD_add_response_header(response, MHD_HTTP_HEADER_ALLOW,
					"GET, HEAD");
	result = MHD_queue_response(connection, status, response);
	MHD_destroy_response(response);
	return result;
}

static enum MHD_Result send_text(struct MHD_Connection *connection,
				 unsigned status, const char *text)
{
	return send_response(connection, status,
			     MHD_create_response_from_buffer(
				     strlen(text), (void *)(uintptr_t)text,
				     MHD_RESPMEM_PERSISTENT),
			     "text/plain; charset=utf-8");
}

static const char *header_of(struct MHD_Connection *connection,
			     const char *name)
{
	return MHD_lookup_connection_value(connection, MHD_HEADER_KIND, name);
}

static enum MHD_Result send_metrics(const struct ncs_http_server *server,
				    struct MHD_Connection *connection)
{
	struct ncs_http_reply reply = { 0 };
	const char *accept = header_of(connection, MHD_HTTP_HEADER_ACCEPT);
	struct MHD_Response *response;

	if (!server->answer(server->context, accept, &reply))
		return send_text(connection, MHD_HTTP_INTERNAL_SERVER_ERROR,
				 "no memory\n");
	response = MHD_create_response_from_buffer(reply.size, reply.text,
						   MHD_RESPMEM_MUST_FREE);
	if (!response)
		free(reply.text);
	return send_response(connection, MHD_HTTP_OK, response,
			     reply.content_type);
}

/* Called for a request's header first, then for its body, then to answer. */
static enum MHD_Result on_request(void *context,
				  struct MHD_Connection *connection,
				  const char *url, const char *method,
				  const char *version, const char *upload,
				  size_t *upload_size, void **state)
{
	const struct service *service = context;
	const struct ncs_http_server *server = service->server;
	static int header_seen;

	(void)version;
	(void)upload;
	if (!*state) {
		*state = &header_seen;
		return MHD_YES;
	}
	if (*upload_size > 0) {
		*upload_size = 0;
		return MHD_YES;
	}
	if (server->checks_host &&
	    !ncs_host_is_served(header_of(connection, MHD_HTTP_HEADER_HOST),
				server->names))
		return send_text(connection, MHD_HTTP_MISDIRECTED_REQUEST,
				 "not served by this name: see --listen-name\n");
	if (strcmp(method, MHD_HTTP_METHOD_GET) != 0 &&
	    strcmp(method, MHD_HTTP_METHOD_HEAD) != 0)
		return send_text(connection, MHD_HTTP_METHOD_NOT_ALLOWED,
				 "GET /metrics\n");
	if (strcmp(url, "/metrics") == 0)
		return send_metrics(server, connection);
	if (strcmp(url, "/") == 0)
		return send_text(connection, MHD_HTTP_OK,
				 "ncclstat: metrics are at /metrics\n");
	return send_text(connection, MHD_HTTP_NOT_FOUND,
			 "not found: metrics are at /metrics\n");
}

/* --- Connections ---------------------------------------------------------- */

/* Ends a connection. libmicrohttpd closes its socket. */
static void end(struct client *connection)
{
	connection->is_ended = true;
	shutdown(connection->socket, SHUT_RDWR);
}

/* Ends the connection that has waited longest, if more are in use than there may
 * be. */
static void make_room(struct service *service)
{
	struct client *longest = NULL;
	unsigned used = 0;

	for (size_t i = 0; i <= NCS_HTTP_CONNECTIONS; i++) {
		struct client *one = &service->connections[i];

		if (one->socket < 0 || one->is_ended)
			continue;
		used++;
		if (!longest || one->begin_ns < longest->begin_ns)
			longest = one;
	}
	if (used > NCS_HTTP_CONNECTIONS)
		end(longest);
}

static struct client *find(struct service *service, int socket)
{
	struct client *connection = service->connections;

	while (connection->socket != socket)
		connection++;
	return connection;
}

/* Called when a connection begins and when it ends. */
static void on_connection(void *context, struct MHD_Connection *connection,
			  void **state,
			  enum MHD_ConnectionNotificationCode code)
{
	struct service *service = context;
	struct client *entry = *state;

	if (code == MHD_CONNECTION_NOTIFY_CLOSED) {
		entry->socket = -1;
		service->has_room = true;
		return;
	}
	entry = find(service, -1);
	*entry = (struct client){
		.socket = MHD_get_connection_info(
				  connection,
				  MHD_CONNECTION_INFO_CONNECTION_FD)
				  ->connect_fd,
		.begin_ns = ncs_clock_monotonic_ns(),
	};
	*state = entry;
	make_room(service);
}

/* Ends connections that are past their deadline. Returns in how many ms the next
 * one will be; -1 if there is none. */
static int enforce_deadlines(struct service *service)
{
	uint64_t now_ns = ncs_clock_monotonic_ns(), next_ns = UINT64_MAX;

	for (size_t i = 0; i <= NCS_HTTP_CONNECTIONS; i++) {
		struct client *one = &service->connections[i];
		uint64_t end_ns = one->begin_ns + service->server->deadline_ns;

		if (one->socket < 0 || one->is_ended)
			continue;
		if (end_ns <= now_ns)
			end(one);
		else if (end_ns < next_ns)
			next_ns = end_ns;
	}
	return next_ns == UINT64_MAX ?
		       -1 :
		       (int)((next_ns - now_ns) / UINT64_C(1000000)) + 1;
}

/* Returns in how many ms libmicrohttpd has something to do by itself; -1 if it
 * has not. */
static int library_timeout(struct service *service)
{
	MHD_UNSIGNED_LONG_LONG ms;
	bool has_room = service->has_room;

	service->has_room = false;
	if (has_room)
		return 0;
	if (MHD_get_timeout(service->daemon, &ms) != MHD_YES)
		return -1;
	return ms > INT_MAX ? INT_MAX : (int)ms;
}

/* Returns the shorter one of two timeouts; -1, for ever, is the largest unsigned
 * number. */
static int sooner(int one_ms, int other_ms)
{
	return (unsigned)one_ms < (unsigned)other_ms ? one_ms : other_ms;
}

static void run(struct service *service)
{
	struct pollfd files[] = {
		{ .fd = MHD_get_daemon_info(service->daemon,
					    MHD_DAEMON_INFO_EPOLL_FD)
				->epoll_fd,
		  .events = POLLIN },
		{ .fd = service->server->stop, .events = POLLIN },
	};

	while (files[1].revents == 0) {
		const struct ncs_http_server *server = service->server;
		int timeout_ms = -1;

		if (server->turn && !server->turn(server->context, &timeout_ms))
			return;
		timeout_ms = sooner(timeout_ms, enforce_deadlines(service));
		timeout_ms = sooner(timeout_ms, library_timeout(service));
		poll(files, 2, timeout_ms);
		MHD_run(service->daemon);
	}
}

bool ncs_http_serve(const struct ncs_http_server *server)
{
	struct service service = { .server = server };

	for (size_t i = 0; i <= NCS_HTTP_CONNECTIONS; i++)
		service.connections[i].socket = -1;
	service.daemon = MHD_start_daemon(
		MHD_USE_EPOLL, 0, NULL, NULL, on_request, &service,
		MHD_OPTION_LISTEN_SOCKET, server->socket,
		MHD_OPTION_CONNECTION_LIMIT, NCS_HTTP_CONNECTIONS + 1,
		MHD_OPTION_NOTIFY_CONNECTION, on_connection, &service,
		MHD_OPTION_SIGPIPE_HANDLED_BY_APP, 1, MHD_OPTION_END);
	if (!service.daemon) {
		close(server->socket);
		return false;
	}
	run(&service);
	MHD_stop_daemon(service.daemon);
	return true;
}

#else

bool ncs_http_is_built(void)
{
	return false;
}

bool ncs_http_serve(const struct ncs_http_server *server)
{
	close(server->socket);
	return false;
}

#endif
