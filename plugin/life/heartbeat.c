/* SPDX-License-Identifier: MIT */
/* The heartbeat; see heartbeat.h. */
#include "plugin/life/heartbeat.h"

#include <pthread.h>
#include <string.h>
#include <time.h>

#include "plugin/life/loaded_code.h"
#include "plugin/life/own_thread.h"
#include "plugin/state/registry.h"

/* The last beat is up to one pause older than a process's end. A hang that
 * lasted for 6 s is thus known to have lasted for more than NCS_STUCK_NS
 * (analysis/diagnosis/finding.h), also where a beat comes late. */
#define PAUSE_NS 500000000L

/* Libraries are looked for once in so many beats: a program that goes on loading
 * them makes each look a walk through all. */
#define LOOK_BEATS 4

/* A thread that holds this lock waits for nothing else. */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

/* Under the lock. */
static struct {
	struct ncs_header *headers[NCS_COMM_MAX]; /* by communicator, or NULL */
	bool runs;                                /* there is a thread */
} heart;

/* Writes the time into all segments, and which code is loaded if it looks for
 * that. Returns false, and counts the thread as ended, if there are none. */
static bool beat(bool looks)
{
	uint64_t code = looks ? ncs_loaded_code() : 0;
	bool needed = false;
	uint64_t now;

	pthread_mutex_lock(&lock);
	now = ncs_now();
	for (unsigned i = 0; i < NCS_COMM_MAX; i++) {
		if (!heart.headers[i])
			continue;
		ncs_store_relaxed(&heart.headers[i]->alive, now);
		if (looks)
			ncs_store_relaxed(&heart.headers[i]->outside_code,
					  code);
		needed = true;
	}
	heart.runs = needed;
	pthread_mutex_unlock(&lock);
	return needed;
}

static void *run(void *unused)
{
	const struct timespec pause = { .tv_nsec = PAUSE_NS };
	unsigned beats = 0;

	(void)unused;
	pthread_setname_np(pthread_self(), "ncclstat-alive");
	while (beat(beats++ % LOOK_BEATS == 0))
		nanosleep(&pause, NULL);
	return NULL;
}

void ncs_heartbeat_add(struct ncs_comm *comm)
{
	pthread_mutex_lock(&lock);
	heart.headers[comm->index] = comm->header;
	if (!heart.runs)
		heart.runs = ncs_own_thread_start(run);
	pthread_mutex_unlock(&lock);
}

void ncs_heartbeat_remove(struct ncs_comm *comm)
{
	pthread_mutex_lock(&lock);
	heart.headers[comm->index] = NULL;
	pthread_mutex_unlock(&lock);
}

void ncs_heartbeat_forget(void)
{
	pthread_mutex_init(&lock, NULL);
	memset(&heart, 0, sizeof(heart));
}
