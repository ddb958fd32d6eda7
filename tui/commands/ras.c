/* SPDX-License-Identifier: MIT */
/* Asks NCCL's RAS service; see ras.h. */
#include "tui/commands/ras.h"

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
#include "tui/serve/listen_address.h"

#define PATIENCE_S 1
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
	size_t bytes; /* received so far */
	int error;    /* 0 or -errno */
};

/* Connects to a loopback address; others are refused. */
static void connect_to(struct connection *connection, const char *address)
{
	const struct timeval patience = { .tv_sec = PATIENCE_S };
	union ncs_socket_address to;
	socklen_t bytes = ncs_loopback_parse(address, &to);

	if (bytes == 0) {
		connection->error = -EINVAL;
		return;
	}
	connection->socket =
		socket(to.any.sa_family, SOCK_STREAM | SOCK_CLOEXEC, 0);
	setsockopt(connection->socket, SOL_SOCKET, SO_SNDTIMEO, &patience,
		   sizeof(patience));
	if (connection->socket < 0 ||
	    connect(connection->socket, &to.any, bytes) != 0)
		connection->error = errno == EINPROGRESS ? -ETIMEDOUT : -errno;
}

/* Receives some bytes, for json_load_callback(). Returns 0 at the end, and after an
 * error. */
static size_t receive(void *buffer, size_t size, void *context)
{
	struct connection *connection = context;
	struct pollfd answer = { .fd = connection->socket, .events = POLLIN };
	int64_t left_ns =
		(int64_t)(connection->until_ns - ncs_clock_monotonic_ns());
	ssize_t got = 0;

	if (connection->bytes >= ANSWER_BYTES_MAX)
		connection->error = -EFBIG;
	else if (left_ns <= 0 ||
		 poll(&answer, 1, (int)(left_ns / 1000000) + 1) <= 0)
		connection->error = -ETIMEDOUT;
	else
		got = recv(connection->socket, buffer, size, 0);
	if (got < 0)
		connection->error = -errno;
	connection->bytes += got > 0 ? (size_t)got : 0;
	return got > 0 ? (size_t)got : 0;
}

static void say(struct connection *connection, const char *line)
{
	size_t length = strlen(line);

	if (!connection->error && send(connection->socket, line, length,
				       MSG_NOSIGNAL) != (ssize_t)length)
		connection->error = -EPIPE;
}

/* Says a line, and checks that the line that answers it begins as expected. */
static void talk(struct connection *connection, const char *line,
		 const char *expected)
{
	char answer[80];
	size_t length = 0, got;

	say(connection, line);
	while (!connection->error && !memchr(answer, '\n', length)) {
		got = receive(answer + length, sizeof(answer) - length,
			      connection);
		length += got;
		if (got == 0 && !connection->error)
			break;
	}
	if (!connection->error &&
	    (length < strlen(expected) ||
	     memcmp(answer, expected, strlen(expected)) != 0))
		connection->error = -EPROTO;
}

static int ask(struct ncs_ras *ras, const char *address)
{
	struct connection connection = {
		.socket = -1,
		.until_ns = ncs_clock_monotonic_ns() +
			    PATIENCE_S * UINT64_C(1000000000),
	};

	connect_to(&connection, address);
	talk(&connection, "CLIENT PROTOCOL 2\n", "SERVER PROTOCOL ");
	talk(&connection, "TIMEOUT 1\n", "OK");
	talk(&connection, "SET FORMAT json\n", "OK");
	say(&connection, "VERBOSE STATUS\n");
	if (!connection.error) {
		ras->answer = json_load_callback(receive, &connection, 0, NULL);
		if (!ras->answer && !connection.error)
			connection.error = -EPROTO;
	}
	if (connection.socket >= 0)
		close(connection.socket);
	return connection.error;
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
