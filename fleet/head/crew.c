/* SPDX-License-Identifier: MIT */
/* Runs agents in a thread; see crew.h. */
#include "fleet/head/crew.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "shm/array.h"
#include "shm/clock.h"

/* Time between two looks at whether all has ended. */
#define TURN_NS UINT64_C(200000000)

struct ncs_crew {
	struct ncs_fleet *fleet;
	struct ncs_agents *agents;
	pthread_t thread;
	pthread_mutex_t mutex;
	/* Under the mutex: */
	bool stops;
	bool has_ended;
	char message[NCS_NODE_WHY_BYTES];
	/* The fleet's number of each node; used by the thread only. */
	size_t *nodes;
	size_t capacity;
	size_t count;
};

static void take_node(void *context, size_t node, const char *name,
		      const char *reach)
{
	struct ncs_crew *crew = context;
	size_t number = SIZE_MAX;

	/* Without memory, what the node tells is left out. */
	if (ncs_array_reserve(&crew->nodes, &crew->capacity, node + 1,
			      sizeof(*crew->nodes)) != 0)
		return;
	if (ncs_fleet_add(crew->fleet, name, &number) != 0)
		number = SIZE_MAX;
	else
		ncs_fleet_set_reach(crew->fleet, number, reach);
	crew->nodes[node] = number;
	crew->count = node + 1;
}

/* Returns the fleet's number of a node; SIZE_MAX if it has none. */
static size_t number_of(const struct ncs_crew *crew, size_t node)
{
	return node < crew->count ? crew->nodes[node] : SIZE_MAX;
}

static void take_bytes(void *context, size_t node, enum ncs_line_step step,
		       const void *bytes, size_t size)
{
	struct ncs_crew *crew = context;
	size_t number = number_of(crew, node);

	if (number == SIZE_MAX)
		return;
	if (step != NCS_LINE_NEXT)
		ncs_fleet_gap(crew->fleet, number);
	ncs_fleet_feed(crew->fleet, number, bytes, size,
		       ncs_clock_monotonic_ns());
}

static void take_state(void *context, size_t node, enum ncs_node_state state,
		       const char *why)
{
	struct ncs_crew *crew = context;
	size_t number = number_of(crew, node);

	if (number != SIZE_MAX)
		ncs_fleet_set_state(crew->fleet, number, state, why,
				    ncs_clock_monotonic_ns());
}

/* --- The thread ------------------------------------------------------------ */

static void *run(void *context)
{
	struct ncs_crew *crew = context;
	const struct ncs_agents_sink sink = {
		.context = crew,
		.node = take_node,
		.bytes = take_bytes,
		.state = take_state,
	};
	bool stops = false;

	while (!stops) {
		ncs_agents_run(crew->agents, &sink,
			       ncs_clock_monotonic_ns() + TURN_NS);
		pthread_mutex_lock(&crew->mutex);
		snprintf(crew->message, sizeof(crew->message), "%s",
			 ncs_agents_message(crew->agents));
		crew->has_ended = ncs_agents_have_ended(crew->agents);
		stops = crew->stops;
		pthread_mutex_unlock(&crew->mutex);
	}
	/* This thread started them, and must outlive them. */
	ncs_agents_close(crew->agents);
	return NULL;
}

int ncs_crew_open(struct ncs_crew **crew, struct ncs_fleet *fleet,
		  const struct ncs_launch *launch, char *why, size_t why_size)
{
	struct ncs_crew *opened = calloc(1, sizeof(*opened));
	sigset_t all, before;
	int error;

	*crew = NULL;
	if (!opened) {
		snprintf(why, why_size, "%s", strerror(ENOMEM));
		return -ENOMEM;
	}
	opened->fleet = fleet;
	error = ncs_agents_open(&opened->agents, launch, why, why_size);
	if (error) {
		free(opened);
		return error;
	}
	pthread_mutex_init(&opened->mutex, NULL);
	/* Signals are for the thread that shows. */
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	error = -pthread_create(&opened->thread, NULL, run, opened);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	if (error) {
		snprintf(why, why_size, "%s", strerror(-error));
		ncs_agents_close(opened->agents);
		pthread_mutex_destroy(&opened->mutex);
		free(opened);
		return error;
	}
	*crew = opened;
	return 0;
}

bool ncs_crew_has_ended(struct ncs_crew *crew)
{
	bool has_ended;

	pthread_mutex_lock(&crew->mutex);
	has_ended = crew->has_ended;
	pthread_mutex_unlock(&crew->mutex);
	return has_ended;
}

void ncs_crew_message(struct ncs_crew *crew, char *text, size_t size)
{
	pthread_mutex_lock(&crew->mutex);
	snprintf(text, size, "%s", crew->message);
	pthread_mutex_unlock(&crew->mutex);
}

void ncs_crew_close(struct ncs_crew *crew)
{
	if (!crew)
		return;
	pthread_mutex_lock(&crew->mutex);
	crew->stops = true;
	pthread_mutex_unlock(&crew->mutex);
	ncs_agents_wake(crew->agents);
	pthread_join(crew->thread, NULL);
	pthread_mutex_destroy(&crew->mutex);
	free(crew->nodes);
	free(crew);
}
