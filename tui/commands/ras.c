/* SPDX-License-Identifier: MIT */
/* Asks NCCL's RAS service; see ras.h. */
#include "tui/commands/ras.h"

#include <arpa/inet.h>
#include <errno.h>
#include <jansson.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "analysis/base/append.h"
#include "analysis/base/value_names.h"
#include "analysis/model/communicators.h"
#include "shm/clock.h"
#include "shm/read/job.h"

#define PATIENCE_NS UINT64_C(1000000000)
#define ANSWER_BYTES_MAX ((size_t)4 << 20)
#define DEFAULT_ADDRESS "localhost:28028"
/* The most unseen ranks of a communicator that are told of. */
#define RANKS_MAX 8u

struct ncs_ras {
	json_t *answer; /* NULL if there is none */
	char why[96];   /* then: why not */
};

/* --- The connection -------------------------------------------------------- */

struct connection {
	int socket;
	uint64_t until_ns;
	char *text; /* received so far, terminated; room for ANSWER_BYTES_MAX */
	size_t bytes;
};

static bool wait_for(const struct connection *connection, short events)
{
	struct pollfd poll_for = { .fd = connection->socket, .events = events };
	uint64_t now_ns = ncs_clock_monotonic_ns();

	return now_ns < connection->until_ns &&
	       poll(&poll_for, 1,
		    (int)((connection->until_ns - now_ns) / 1000000) + 1) > 0;
}

/* Connects to "localhost:PORT", "127.x.y.z:PORT" or "[::1]:PORT"; other
 * addresses are refused. */
static int connect_to(struct connection *connection, const char *address)
{
	struct sockaddr_in v4 = { .sin_family = AF_INET };
	struct sockaddr_in6 v6 = { .sin6_family = AF_INET6,
				   .sin6_addr = IN6ADDR_LOOPBACK_INIT };
	const char *colon = strrchr(address, ':');
	bool is_v6 = strncmp(address, "[::1]:", 6) == 0;
	unsigned long port = colon ? strtoul(colon + 1, NULL, 10) : 0;
	char host[64];
	int error = 0;
	socklen_t length = sizeof(error);

	if (port == 0 || port > 65535)
		return -EINVAL;
	snprintf(host, sizeof(host), "%.*s", (int)(colon - address), address);
	if (strcmp(host, "localhost") == 0)
		strcpy(host, "127.0.0.1");
	if (!is_v6 && (inet_pton(AF_INET, host, &v4.sin_addr) != 1 ||
		       ntohl(v4.sin_addr.s_addr) >> 24 != 127))
		return -EINVAL;
	v4.sin_port = v6.sin6_port = htons((uint16_t)port);
	connection->socket =
		socket(is_v6 ? AF_INET6 : AF_INET,
		       SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
	if (connection->socket < 0)
		return -errno;
	if ((is_v6 ? connect(connection->socket, (struct sockaddr *)&v6,
			     sizeof(v6)) :
		     connect(connection->socket, (struct sockaddr *)&v4,
			     sizeof(v4))) == 0)
		return 0;
	if (errno != EINPROGRESS)
		return -errno;
	if (!wait_for(connection, POLLOUT))
		return -ETIMEDOUT;
	getsockopt(connection->socket, SOL_SOCKET, SO_ERROR, &error, &length);
	return -error;
}

/* Receives more. Returns the number of bytes, 0 at the end, or -errno. */
static int receive(struct connection *connection)
{
	ssize_t got;

	if (connection->bytes == ANSWER_BYTES_MAX)
		return -EFBIG;
	if (!wait_for(connection, POLLIN))
		return -ETIMEDOUT;
	got = recv(connection->socket, connection->text + connection->bytes,
		   ANSWER_BYTES_MAX - connection->bytes, 0);
	if (got < 0)
		return errno == EAGAIN || errno == EINTR ? 1 : -errno;
	connection->bytes += (size_t)got;
	connection->text[connection->bytes] = '\0';
	return (int)got;
}

/* Sends a line and checks that the answer begins as expected; NULL: takes all
 * until the service closes. */
static int talk(struct connection *connection, const char *line,
		const char *expected)
{
	int result = 1;

	connection->bytes = 0;
	if (!wait_for(connection, POLLOUT))
		return -ETIMEDOUT;
	if (send(connection->socket, line, strlen(line), MSG_NOSIGNAL) !=
	    (ssize_t)strlen(line))
		return -EPIPE;
	while (result > 0 &&
	       !(expected && connection->bytes > 0 &&
		 memchr(connection->text, '\n', connection->bytes)))
		result = receive(connection);
	if (result < 0)
		return result;
	if (connection->bytes == 0)
		return -EPROTO;
	return !expected || strncmp(connection->text, expected,
				    strlen(expected)) == 0 ?
		       0 :
		       -EPROTO;
}

static int ask(struct ncs_ras *ras, const char *address)
{
	struct connection connection = {
		.socket = -1,
		.until_ns = ncs_clock_monotonic_ns() + PATIENCE_NS,
		.text = malloc(ANSWER_BYTES_MAX + 1),
	};
	int error = connection.text ? connect_to(&connection, address) :
				      -ENOMEM;

	if (!error)
		error = talk(&connection, "CLIENT PROTOCOL 2\n",
			     "SERVER PROTOCOL ");
	if (!error)
		error = talk(&connection, "TIMEOUT 1\n", "OK");
	if (!error)
		error = talk(&connection, "SET FORMAT json\n", "OK");
	if (!error)
		error = talk(&connection, "VERBOSE STATUS\n", NULL);
	if (!error) {
		ras->answer = json_loadb(connection.text, connection.bytes, 0,
					 NULL);
		error = ras->answer ? 0 : -EPROTO;
	}
	if (connection.socket >= 0)
		close(connection.socket);
	free(connection.text);
	return error;
}

/* --- Unseen ranks ---------------------------------------------------------- */

static bool has_unseen(const struct ncs_communicator *communicator)
{
	const struct ncs_identity *identity = communicator->identity;

	return (identity->known & NCS_KNOWN_NRANKS) &&
	       (identity->known & NCS_KNOWN_COMM_ID) && communicator->live > 0 &&
	       identity->nranks > 0 &&
	       (uint64_t)identity->nranks > communicator->rank_count;
}

/* Tells whether a process of this machine has the same network as this one, so
 * that its loopback is the one that can be asked. */
static bool shares_network(uint32_t pid)
{
	struct stat own, other;
	char path[48];

	snprintf(path, sizeof(path), "/proc/%u/ns/net", pid);
	return stat("/proc/self/ns/net", &own) == 0 && stat(path, &other) == 0 &&
	       own.st_ino == other.st_ino;
}

/* Whether a rank is on this machine: the pids of other nodes are others here. */
static bool is_here(const struct ncs_model *model, const struct ncs_rank *rank)
{
	char host[NCS_NODE_NAME_BYTES] = "";

	if (model->node_count == 0)
		return true;
	gethostname(host, sizeof(host) - 1);
	return rank->node < model->node_count &&
	       strcmp(model->nodes[rank->node].host, host) == 0;
}

/* Returns a rank on this machine of a communicator of which some ranks are not
 * seen; NULL if there is none. */
static const struct ncs_rank *find_witness(const struct ncs_model *model)
{
	for (size_t i = 0; i < model->communicator_count; i++) {
		const struct ncs_communicator *each = &model->communicators[i];

		if (!has_unseen(each))
			continue;
		for (size_t j = 0; j < each->rank_count; j++)
			if (is_here(model, each->ranks[j]))
				return each->ranks[j];
	}
	return NULL;
}

struct ncs_ras *ncs_ras_ask(const struct ncs_model *model)
{
	const struct ncs_rank *rank = find_witness(model);
	char address[128] = DEFAULT_ADDRESS;
	struct ncs_ras *ras;
	int error;

	if (!rank || !shares_network(ncs_rank_pid(rank)))
		return NULL;
	ras = calloc(1, sizeof(*ras));
	if (!ras)
		return NULL;
	ncs_job_environment_value(ncs_rank_pid(rank), "NCCL_RAS_ADDR", address,
				  sizeof(address));
	error = ask(ras, address);
	if (error == -EPROTO)
		snprintf(ras->why, sizeof(ras->why),
			 "its answer is not JSON, which NCCL gives from 2.28.7"
			 " on");
	else if (error)
		snprintf(ras->why, sizeof(ras->why), "%s", strerror(-error));
	return ras;
}

void ncs_ras_release(struct ncs_ras *ras)
{
	if (!ras)
		return;
	json_decref(ras->answer);
	free(ras);
}

/* --- What it says ----------------------------------------------------------- */

static json_t *find_communicator(const struct ncs_ras *ras, uint64_t id)
{
	json_t *each;
	size_t i;

	json_array_foreach(json_object_get(ras->answer, "communicators"), i,
			   each) {
		const char *hash = json_string_value(json_object_get(each,
								     "hash"));

		if (hash && strtoull(hash, NULL, 16) == id)
			return each;
	}
	return NULL;
}

static bool is_unseen(const struct ncs_communicator *communicator,
		      const json_t *rank)
{
	json_t *number = json_object_get(rank, "rank");

	if (!json_is_integer(number))
		return false;
	for (size_t i = 0; i < communicator->rank_count; i++)
		if (communicator->ranks[i]->now.identity.rank ==
		    json_integer_value(number))
			return false;
	return true;
}

static bool count_of(const json_t *rank, const char *function, json_int_t *count)
{
	json_t *value = json_object_get(
		json_object_get(rank, "collective_counts"), function);

	*count = json_integer_value(value);
	return json_is_integer(value);
}

static const char *text_of(const json_t *object, const char *key)
{
	const char *text = json_string_value(json_object_get(object, key));

	return text ? text : "-";
}

/* Says how often an unseen rank has called the function, and all others. */
static void say_counts(const json_t *ranks, const json_t *rank,
		       const char *function, char *text, size_t size)
{
	json_int_t own, least = 0, most = 0, count;
	bool any = false;
	json_t *other;
	size_t i;

	ncs_append(text, size, "RAS: rank %" JSON_INTEGER_FORMAT " on host %.64s",
		   json_integer_value(json_object_get(rank, "rank")),
		   text_of(rank, "host"));
	if (!count_of(rank, function, &own)) {
		ncs_append(text, size, " is there");
		return;
	}
	ncs_append(text, size, " has called %s %" JSON_INTEGER_FORMAT " times",
		   function, own);
	json_array_foreach(ranks, i, other) {
		if (other == rank || !count_of(other, function, &count))
			continue;
		least = !any || count < least ? count : least;
		most = !any || count > most ? count : most;
		any = true;
	}
	if (any)
		ncs_append(text, size, ", the others %" JSON_INTEGER_FORMAT,
			   least);
	if (any && most != least)
		ncs_append(text, size, " to %" JSON_INTEGER_FORMAT, most);
}

bool ncs_ras_text(const struct ncs_ras *ras,
		  const struct ncs_communicator *communicator, size_t index,
		  char *text, size_t size)
{
	json_t *found, *ranks, *missing, *rank;
	const char *function;
	size_t place = 0, i;

	text[0] = '\0';
	if (!ras || !communicator || !has_unseen(communicator) ||
	    index >= RANKS_MAX)
		return false;
	if (!ras->answer) {
		ncs_append(text, size, "RAS was asked of the unseen ranks: %s",
			   ras->why);
		return index == 0;
	}
	found = find_communicator(ras, communicator->identity->comm_id);
	function = communicator->function < NCS_FUNCTION_COUNT ?
			   ncs_function_name(communicator->function) :
			   "AllReduce";
	ranks = json_object_get(found, "ranks");
	missing = json_object_get(found, "missing_ranks");
	json_array_foreach(missing, i, rank) {
		if (!is_unseen(communicator, rank) || place++ != index)
			continue;
		ncs_append(text, size,
			   "RAS: rank %" JSON_INTEGER_FORMAT
			   " on host %.64s does not answer",
			   json_integer_value(json_object_get(rank, "rank")),
			   text_of(rank, "host"));
		return true;
	}
	json_array_foreach(ranks, i, rank) {
		if (!is_unseen(communicator, rank) || place++ != index)
			continue;
		say_counts(ranks, rank, function, text, size);
		return true;
	}
	return false;
}
