/* SPDX-License-Identifier: MIT */
/* Replays a call log against a loaded plugin: one thread for each thread of the
 * log, each call by the thread that made it, in the order of the log, at the
 * recorded pace, faster, or as fast as possible.
 *
 * A baton that passes from thread to thread keeps the order: at any time one
 * thread makes calls or sleeps until the next one is due, and all others wait
 * for the baton without using the processor.
 *
 * A busy machine is late with calls. What comes later is then late in all processes
 * of the job, and is made up for slowly: at once, the times of the host and of the
 * GPU would contradict each other, and count as lost.
 */
#ifndef NCS_TEST_HOST_CALL_PLAYER_H
#define NCS_TEST_HOST_CALL_PLAYER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "test/host/calllog.h"
#include "test/host/launch_plan.h"
#include "test/host/plugin_host.h"
#include "test/plugin/next/fake_cuda.h"

struct replay;

/* Speed 0: as fast as possible. */
#define REPLAY_SPEED_MAX 0.0

/* Rounds 0: repeat until replay_stop(). */
#define REPLAY_FOR_EVER 0

struct replay_options {
	double speed;			/* 2 replays in half the time */
	uint64_t rounds;
	uint64_t origin_ns;		/* this recorded time … */
	uint64_t start_ns;		/* … is due now, CLOCK_MONOTONIC */
	uint64_t period_ns;		/* recorded time between rounds */
	/* The GPU that launches run on, and when they do; NULL for none. */
	struct fake_cuda *gpu;
	const struct launch_plans *launches;
	/* When each launch of the job began, in memory that its processes
	 * share. */
	uint64_t *begins;
	/* Until when the job is late, in memory that its processes share;
	 * starts with 0. NULL at speed 0. */
	_Atomic uint64_t *late_until_ns;
	bool unfinalized;		/* leave out what follows the body */
};

/* The part that further rounds repeat: calls from `first` to before `end`. It
 * is everything between init and finalize, so that one communicator lives
 * through all rounds. If a log has several inits, it is the whole log, and the
 * plugin is closed and opened again in each round. */
struct replay_body {
	size_t first;
	size_t end;
	uint64_t first_ns;		/* recorded time of the earliest call */
	uint64_t last_ns;		/* recorded time of the latest call */
};

struct replay_body replay_find_body(const struct calllog *log);

/* Returns the period at which all ranks of a job can repeat their bodies: from
 * the first call of any rank to the last call of any rank, and a little more.
 * The ranks' bodies keep their recorded distances in time. */
uint64_t replay_period_ns(const struct replay_body *bodies, size_t count);

/* Creates the threads. The host must be open; it adopts the numbers of the log.
 * Makes no call yet. Returns 0 or -errno. */
int replay_create(struct replay **replay, const struct calllog *log,
	struct host *host, const struct replay_options *options);

/* Makes all calls and returns; the caller's thread makes none. Returns 0, also
 * if it was stopped, or -errno with a message that begins with file and line.
 * May be called once. */
int replay_run(struct replay *replay, char *message, size_t message_bytes);

/* Makes replay_run() return once the call in progress returns. Any thread and
 * any signal handler may call it. */
void replay_stop(struct replay *replay);

/* Tells whether replay_stop() was called. */
int replay_is_stopped(const struct replay *replay);

/* Returns the number of rounds that were begun. */
uint64_t replay_rounds(const struct replay *replay);

/* Releases the player, after replay_run(). The host stays open, its contexts
 * alive. */
void replay_free(struct replay *replay);

#endif
