/* SPDX-License-Identifier: MIT */
/* A profiler plugin that loads others, and lets one at a time have the callbacks: so
 * that a program can compare them within one process, where the same buffers,
 * processors and clocks serve all of them. Processes differ by more than a plugin
 * costs.
 *
 * TURNS_PLUGINS names the others, with ':' between them, each as a path or as
 * VARIABLE=VALUE@PATH; the variable is set while it initializes its communicators.
 * A file can be loaded once only; a copy of it once more. A program that has opened
 * this library by its path calls turns_take(). Version 5 of the API only.
 *
 * Must not be used where an event is in progress while turns change. If a plugin
 * changes its mask in its turn, that counts from its next turn on.
 */
#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "plugin/nccl/nccl_abi.h"

#define EXPORT __attribute__((visibility("default")))
#define OTHERS_MAX 8
#define COMMS_MAX 16

struct other {
	char *variable; /* NULL: none */
	const char *value;
	const struct nccl_profiler *profiler;
};

struct comm {
	int *activation_mask; /* NCCL's */
	void *contexts[OTHERS_MAX];
	int masks[OTHERS_MAX];
};

static struct other others[OTHERS_MAX];
static unsigned other_count;
static struct comm comms[COMMS_MAX];
static unsigned comm_count;
static unsigned turn; /* 0: nobody's */
/* NCCL initializes communicators of one process at once. */
static pthread_mutex_t initializing = PTHREAD_MUTEX_INITIALIZER;

static void fail(const char *what, const char *why)
{
	fprintf(stderr, "turns: %s: %s\n", what, why);
	exit(1);
}

/* `text` is VARIABLE=VALUE@PATH or PATH, and is kept. */
static void load_other(char *text)
{
	char *at = strchr(text, '@'), *equals = strchr(text, '=');
	struct other *other = &others[other_count++];
	const char *path = text;
	void *library;

	if (at && equals && equals < at) {
		*equals = *at = '\0';
		other->variable = text;
		other->value = equals + 1;
		path = at + 1;
	}
	library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
	if (!library)
		fail(path, dlerror());
	other->profiler = dlsym(library, "ncclProfiler_v5");
	if (!other->profiler)
		fail(path, "no ncclProfiler_v5");
}

static void load_others(void)
{
	const char *list = getenv("TURNS_PLUGINS");
	char *text = strdup(list ? list : ""), *rest;

	for (char *entry = strtok_r(text, ":", &rest);
	     entry && other_count < OTHERS_MAX;
	     entry = strtok_r(NULL, ":", &rest))
		load_other(entry);
	if (other_count == 0)
		fail("TURNS_PLUGINS", "names no plugin");
}

static enum nccl_result init(void **context, uint64_t comm_id,
			     int *activation_mask, const char *comm_name,
			     int nnodes, int nranks, int rank,
			     nccl_debug_logger logger)
{
	struct comm *comm;

	pthread_mutex_lock(&initializing);
	if (comm_count == COMMS_MAX)
		fail("init", "too many communicators");
	comm = &comms[comm_count++];
	if (other_count == 0)
		load_others();
	comm->activation_mask = activation_mask;
	for (unsigned i = 0; i < other_count; i++) {
		const struct other *other = &others[i];

		if (other->variable)
			setenv(other->variable, other->value, 1);
		if (other->profiler->init.v5(&comm->contexts[i], comm_id,
					     &comm->masks[i], comm_name, nnodes,
					     nranks, rank,
					     logger) != NCCL_SUCCESS)
			fail(other->profiler->name, "does not initialize");
		if (other->variable)
			unsetenv(other->variable);
	}
	pthread_mutex_unlock(&initializing);
	*context = comm;
	*activation_mask = 0;
	return NCCL_SUCCESS;
}

/* The number of turns: nobody's, and each plugin's. */
EXPORT unsigned turns_count(void);
unsigned turns_count(void)
{
	return other_count + 1;
}

/* Gives the callbacks to a plugin, by its place in the list from 1 on; 0: NCCL makes
 * none. No event may be in progress. */
EXPORT void turns_take(unsigned number);
void turns_take(unsigned number)
{
	for (unsigned i = 0; i < comm_count; i++)
		*comms[i].activation_mask =
			number > 0 ? comms[i].masks[number - 1] : 0;
	turn = number;
}

static enum nccl_result start_event(void *context, void **handle,
				    void *descr)
{
	const struct comm *comm = context;

	*handle = NULL;
	if (turn == 0)
		return NCCL_SUCCESS;
	return others[turn - 1].profiler->start_event(
		comm->contexts[turn - 1], handle, descr);
}

static enum nccl_result stop_event(void *handle)
{
	return turn > 0 ? others[turn - 1].profiler->stop_event(handle) :
			  NCCL_SUCCESS;
}

static enum nccl_result record_event_state(void *handle,
					   enum nccl_event_state state,
					   void *args)
{
	return turn > 0 ? others[turn - 1].profiler->record_event_state(
				  handle, state, args) :
			  NCCL_SUCCESS;
}

static enum nccl_result finalize(void *context)
{
	const struct comm *comm = context;

	for (unsigned i = 0; i < other_count; i++)
		others[i].profiler->finalize(comm->contexts[i]);
	return NCCL_SUCCESS;
}

extern const struct nccl_profiler ncclProfiler_v5;
EXPORT const struct nccl_profiler ncclProfiler_v5 = {
	.name = "turns",
	.init.v5 = init,
	.start_event = start_event,
	.stop_event = stop_event,
	.record_event_state = record_event_state,
	.finalize = finalize,
};
