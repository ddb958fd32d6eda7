/* SPDX-License-Identifier: MIT */
/* HTTP by libmicrohttpd; see http_server.h. */
#include "tui/serve/http_server.h"

#include <stdlib.h>
#include <unistd.h>

#ifdef NCS_WITH_HTTP

#include <microhttpd.h>
#include <string.h>

struct ncs_http_server {
	struct MHD_Daemon *daemon;
	ncs_http_answer *answer;
	void *context;
};

bool ncs_http_is_built(void)
{
	return true;
}

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

static enum MHD_Result send_metrics(struct ncs_http_server *server,
				    struct MHD_Connection *connection)
{
	struct ncs_http_reply reply = { 0 };
	const char *accept = MHD_lookup_connection_value(
		connection, MHD_HEADER_KIND, MHD_HTTP_HEADER_ACCEPT);
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
	if (strcmp(method, MHD_HTTP_METHOD_GET) != 0 &&
	    strcmp(method, MHD_HTTP_METHOD_HEAD) != 0)
		return send_text(connection, MHD_HTTP_METHOD_NOT_ALLOWED,
				 "GET /metrics\n");
	if (strcmp(url, "/metrics") == 0)
		return send_metrics(context, connection);
	if (strcmp(url, "/") == 0)
		return send_text(connection, MHD_HTTP_OK,
				 "ncclstat: metrics are at /metrics\n");
	return send_text(connection, MHD_HTTP_NOT_FOUND,
			 "not found: metrics are at /metrics\n");
}

struct ncs_http_server *ncs_http_start(int socket, ncs_http_answer *answer,
				       void *context)
{
	struct ncs_http_server *server = calloc(1, sizeof(*server));

	if (!server) {
		close(socket);
		return NULL;
	}
	server->answer = answer;
	server->context = context;
	server->daemon = MHD_start_daemon(
		MHD_USE_INTERNAL_POLLING_THREAD | MHD_USE_AUTO, 0, NULL, NULL,
		on_request, server, MHD_OPTION_LISTEN_SOCKET, socket,
		MHD_OPTION_CONNECTION_LIMIT, NCS_HTTP_CONNECTIONS,
		MHD_OPTION_CONNECTION_TIMEOUT, NCS_HTTP_TIMEOUT_SECONDS,
		MHD_OPTION_END);
	if (!server->daemon) {
		free(server);
		close(socket);
		return NULL;
	}
	return server;
}

void ncs_http_stop(struct ncs_http_server *server)
{
	MHD_stop_daemon(server->daemon);
	free(server);
}

#else

bool ncs_http_is_built(void)
{
	return false;
}

struct ncs_http_server *ncs_http_start(int socket, ncs_http_answer *answer,
				       void *context)
{
	(void)answer;
	(void)context;
	close(socket);
	return NULL;
}

void ncs_http_stop(struct ncs_http_server *server)
{
	(void)server;
}

#endif
