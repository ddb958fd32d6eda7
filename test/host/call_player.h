/* SPDX-License-Identifier: MIT */
/*
 * Replays a call log against a loaded plugin: one thread for each thread of
 * the log, each call by the thread that made it, in the order of the log, at
 * the recorded pace, faster, or as fast as possible.
 *
 * The order is kept by one baton that goes from thread to thread: at any time
 * one thread makes calls or sleeps until the next is due, and all others wait
 * for the baton without using the processor.
 */
#ifndef NCS_TEST_HOST_CALL_PLAYER_H
#define NCS_TEST_HOST_CALL_PLAYER_H

#include <stddef.h>
#include <stdint.h>

#include "test/host/calllog.h"
#include "test/host/plugin_host.h"

struct replay;

/* Speed 0: as fast as possible. */
#define REPLAY_SPEED_MAX 0.0

/* Rounds 0: for ever, that is until replay_stop(). */
#define REPLAY_FOR_EVER 0

struct replay_options {
	double speed;			/* 2: in half the time */
	uint64_t rounds;
	uint64_t origin_ns;		/* recorded time that */
	uint64_t start_ns;		/* is this moment, CLOCK_MONOTONIC */
	uint64_t period_ns;		/* recorded time from round to round */
};

/*
 * What a further round repeats: the calls `first` to before `end`. It is all
 * between init and finalize, so that one communicator lives through all
 * rounds; where a log has several inits, it is the whole log, and the plugin
 * is closed and opened again in each round.
 */
struct replay_body {
	size_t first;
	size_t end;
	uint64_t first_ns;		/* recorded: the earliest call */
	uint64_t last_ns;		/* the latest one */
};

struct replay_body replay_find_body(const struct calllog *log);

/*
 * The period at which the ranks of one job can all repeat their bodies: from
 * the first call of any to the last call of any, and a little more. Bodies
 * begin and end together, within what the recording shows.
 */
uint64_t replay_period_ns(const struct replay_body *bodies, size_t count);

/*
 * Makes the threads. The host must be open; it takes the log's numbers into
 * use. Nothing is called yet. Returns 0 or -errno.
 */
int replay_create(struct replay **replay, const struct calllog *log,
	struct host *host, const struct replay_options *options);

/*
 * Makes all calls, then returns; the caller's thread makes none. Returns 0,
 * also if it was stopped, or -errno and a sentence that begins with file and
 * line. May be called once.
 */
int replay_run(struct replay *replay, char *message, size_t message_bytes);

/*
 * Makes replay_run() return as soon as the call in progress does. It may be
 * called by any thread and by a signal handler.
 */
void replay_stop(struct replay *replay);

/* Whether replay_stop() was called. */
int replay_is_stopped(const struct replay *replay);

/* How many rounds were begun. */
uint64_t replay_rounds(const struct replay *replay);

/* After replay_run(). The host stays open, its contexts live. */
void replay_free(struct replay *replay);

#endif
