/* SPDX-License-Identifier: MIT */
/* The HTTP server: clients that are slow, or many, keep nobody else from an
 * answer, and only requests for this machine's names get one. The server runs in
 * the test's own thread, clients in another. */
#include <errno.h>
#include <netinet/in.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "test/unit/support/unit.h"
#include "tui/serve/http_server.h"

#define FOR_EVER_NS UINT64_C(3600000000000)
#define REQUEST "GET /metrics HTTP/1.1\r\nHost: localhost\r\n\r\n"

static struct sockaddr_in address;
static struct ncs_http_server server;
static int stop_pipe[2];

static bool answer(void *context, const char *accept,
		   struct ncs_http_reply *reply)
{
	(void)context;
	(void)accept;
	reply->text = strdup("ncclstat_x 1\n");
	reply->size = strlen(reply->text);
	reply->content_type = "text/plain";
	return true;
}

/* --- Clients. They return errors to the test, which asserts. -------------- */

static int connect_client(void)
{
	int client = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

	if (connect(client, (struct sockaddr *)&address, sizeof(address)) == 0)
		return client;
	close(client);
	return -1;
}

/* Reads to the end of the answer; returns whether its status is this one. */
static bool reads(int client, const char *wanted)
{
	char text[4096] = "";
	size_t used = 0;
	ssize_t got;

	while ((got = read(client, text + used, sizeof(text) - 1 - used)) > 0)
		used += (size_t)got;
	return strncmp(text + strlen("HTTP/1.1 "), wanted, strlen(wanted)) ==
	       0;
}

/* Returns whether a request gets an answer with this status. */
static bool gets(const char *request, const char *wanted)
{
	int client = connect_client();
	bool good;

	if (client < 0 || write(client, request, strlen(request)) < 0)
		return false;
	good = reads(client, wanted);
	close(client);
	return good;
}

/* Sends a byte now and then until the server closes the connection. */
static bool is_closed_while_it_sends(int client)
{
	for (unsigned i = 0; i < 3000; i++) {
		if (send(client, "x", 1, 0) < 0)
			return errno == EPIPE || errno == ECONNRESET;
		usleep(10000);
	}
	return false;
}

static void *try_slow_client(void *result)
{
	int client = connect_client();

	*(bool *)result = client >= 0 &&
			  write(client, "GET /metrics HTTP/1.1\r\nX: ", 26) ==
				  26 &&
			  is_closed_while_it_sends(client) &&
			  gets(REQUEST, "200 ");
	close(client);
	close(stop_pipe[1]);
	return NULL;
}

static void *try_two_requests(void *result)
{
	int client = connect_client();
	char byte;

	/* More than one request is never answered. */
	*(bool *)result = client >= 0 &&
			  write(client, REQUEST REQUEST, 2 * strlen(REQUEST)) >
				  0 &&
			  reads(client, "200 ") &&
			  read(client, &byte, 1) <= 0;
	close(client);
	close(stop_pipe[1]);
	return NULL;
}

static void *try_many_clients(void *result)
{
	int clients[NCS_HTTP_CONNECTIONS];
	bool good = true;

	for (size_t i = 0; i < NCS_HTTP_CONNECTIONS; i++) {
		clients[i] = connect_client();
		good = good && clients[i] >= 0 && write(clients[i], "G", 1) == 1;
	}
	/* Another one is answered, again and again, and the longest-waiting ones
	 * made room. */
	for (unsigned i = 0; i < 3; i++)
		good = good && gets(REQUEST, "200 ");
	good = good && is_closed_while_it_sends(clients[0]);
	/* The latest ones still have their turn. */
	good = good &&
	       write(clients[NCS_HTTP_CONNECTIONS - 1], REQUEST + 1,
		     strlen(REQUEST) - 1) > 0 &&
	       reads(clients[NCS_HTTP_CONNECTIONS - 1], "200 ");
	for (size_t i = 0; i < NCS_HTTP_CONNECTIONS; i++)
		close(clients[i]);
	*(bool *)result = good;
	close(stop_pipe[1]);
	return NULL;
}

static void *try_hosts(void *result)
{
	*(bool *)result =
		gets(REQUEST, "200 ") &&
		gets("GET /metrics HTTP/1.1\r\nHost: evil.example:9498\r\n\r\n",
		     "421 ") &&
		gets("GET / HTTP/1.1\r\nHost: evil.example\r\n\r\n",
		     "421 ") &&
		gets("GET /metrics HTTP/1.1\r\nHost: node7:9498\r\n\r\n",
		     "200 ") &&
		gets("GET /metrics HTTP/1.0\r\n\r\n", "421 ");
	close(stop_pipe[1]);
	return NULL;
}

static void *try_any_host(void *result)
{
	*(bool *)result =
		gets("GET /metrics HTTP/1.1\r\nHost: evil.example\r\n\r\n",
		     "200 ");
	close(stop_pipe[1]);
	return NULL;
}

/* --- Tests ---------------------------------------------------------------- */

/* Serves while a client runs, which must be content. */
static void serve(void *(*client)(void *result))
{
	socklen_t size = sizeof(address);
	bool good = false;
	pthread_t thread;

	if (!ncs_http_is_built())
		skip();
	server.socket = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	memset(&address, 0, sizeof(address));
	address.sin_family = AF_INET;
	address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	assert_int_equal(bind(server.socket, (struct sockaddr *)&address,
			      sizeof(address)),
			 0);
	assert_int_equal(listen(server.socket, 16), 0);
	assert_int_equal(getsockname(server.socket,
				     (struct sockaddr *)&address, &size),
			 0);
	assert_int_equal(pipe(stop_pipe), 0);
	server.stop = stop_pipe[0];
	server.answer = answer;
	assert_int_equal(pthread_create(&thread, NULL, client, &good), 0);
	assert_true(ncs_http_serve(&server));
	assert_int_equal(pthread_join(thread, NULL), 0);
	close(stop_pipe[0]);
	assert_true(good);
}

TEST(request_that_takes_too_long_is_ended)
{
	server = (struct ncs_http_server){ .deadline_ns = 200000000 };
	serve(try_slow_client);
}

TEST(connection_is_for_one_request)
{
	server = (struct ncs_http_server){ .deadline_ns = FOR_EVER_NS };
	serve(try_two_requests);
}

TEST(longest_waiting_connection_makes_room)
{
	server = (struct ncs_http_server){ .deadline_ns = FOR_EVER_NS };
	serve(try_many_clients);
}

TEST(other_names_of_this_machine_are_refused)
{
	server = (struct ncs_http_server){ .deadline_ns = FOR_EVER_NS,
					   .checks_host = true,
					   .names = "node7" };
	serve(try_hosts);
}

TEST(any_name_will_do_where_names_mean_nothing)
{
	server = (struct ncs_http_server){ .deadline_ns = FOR_EVER_NS };
	serve(try_any_host);
}

int main(void)
{
	signal(SIGPIPE, SIG_IGN);
	return unit_run();
}
