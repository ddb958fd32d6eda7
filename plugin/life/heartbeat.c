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

/* Writes the time into all segments. Returns false, and counts the thread as
 * ended, if there are none. */
static bool beat(void)
{
	bool needed = false;
	uint64_t now;

	pthread_mutex_lock(&lock);
	now = ncs_now();
	for (unsigned i = 0; i < NCS_COMM_MAX; i++) {
		if (!heart.headers[i])
			continue;
		ncs_store_relaxed(&heart.headers[i]->alive, now);
		needed = true;
	}
	heart.runs = needed;
	pthread_mutex_unlock(&lock);
	return needed;
}

/* Writes into all segments which code is loaded. */
static void tell_code(void)
{
	uint64_t code = ncs_loaded_code();

	pthread_mutex_lock(&lock);
	for (unsigned i = 0; i < NCS_COMM_MAX; i++)
		if (heart.headers[i])
			ncs_store_relaxed(&heart.headers[i]->outside_code,
					  code);
	pthread_mutex_unlock(&lock);
}

static void *run(void *unused)
{
	const struct timespec pause = { .tv_nsec = PAUSE_NS };
	unsigned beats = 0;

	(void)unused;
	pthread_setname_np(pthread_self(), "ncclstat-alive");
	while (beat()) {
		if (beats++ % LOOK_BEATS == 0)
			tell_code();
		nanosleep(&pause, NULL);
	}
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
