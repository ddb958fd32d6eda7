/* SPDX-License-Identifier: MIT */
/* A recording that is played: which part of it, where in it, and how fast.
 *
 * The time comes in as an argument, so that a test can play at any speed. All
 * moments are the recording's common time. */
#ifndef NCS_RECORD_READ_REPLAY_H
#define NCS_RECORD_READ_REPLAY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "analysis/diagnosis/diagnosis.h"
#include "analysis/model/model.h"
#include "record/read/align.h"
#include "record/read/instant.h"
#include "record/read/recording.h"

struct ncs_replay {
	struct ncs_recording *recording;
	struct ncs_source *source;
	struct ncs_time_span all; /* of the recording */
	uint64_t from_ns;    /* what is played of it */
	uint64_t until_ns;
	/* The same for who reads records: unless it was asked for a part, all
	 * that was recorded, also what was in the rings at the beginning. */
	uint64_t records_from_ns;
	uint64_t records_until_ns;
	uint64_t at_ns;
	bool playing;
	double speed;
	uint64_t played_ns; /* CLOCK_MONOTONIC here, as it was at at_ns */
	char hosts[128];    /* their names */
	struct ncs_recording_alignment alignment; /* of hosts' clocks */
	/* What any two hosts' clocks are off beside each other, at most;
	 * UINT64_MAX: not known; 0: there is one host. */
	uint64_t error_ns;
};

/* What of a recording is to be played, from where on; NCS_INSTANT_NONE: all of
 * it, from the beginning. */
struct ncs_replay_part {
	struct ncs_instant from;
	struct ncs_instant until;
	struct ncs_instant at;
	uint32_t pid; /* of this process only; 0: of all */
	/* Ranks that have ended are there as they were last. */
	bool keeps_ended;
};

/* Aligns the clocks of several hosts, for what is to be played. 0 or -errno, and
 * then `why`. Whatever it returns is released with
 * ncs_replay_close(). */
int ncs_replay_open(struct ncs_replay *replay, const char *const *paths,
		    size_t count, const struct ncs_replay_part *part, char *why,
		    size_t why_size);
void ncs_replay_close(struct ncs_replay *replay);

/* CLOCK_REALTIME at a moment, as the first host had it. */
uint64_t ncs_replay_realtime_ns(const struct ncs_replay *replay,
				uint64_t moment_ns);

/* Since the beginning of the recording. */
uint64_t ncs_replay_since_ns(const struct ncs_replay *replay);

/* --- Playing ------------------------------------------------------------- */

#define NCS_SPEED_MIN 0.01
#define NCS_SPEED_MAX 1000.0

/* Plays from where it is, or stops there. */
void ncs_replay_play(struct ncs_replay *replay, bool playing, uint64_t now_ns);

/* The next of 0.01, 0.02, 0.05, 0.1 … 1000. */
void ncs_replay_change_speed(struct ncs_replay *replay, bool faster,
			     uint64_t now_ns);

/* Goes on to where it is now, or to the end, where it stops. */
void ncs_replay_advance(struct ncs_replay *replay, uint64_t now_ns);

/* Goes to a moment of what is played. */
void ncs_replay_go(struct ncs_replay *replay, uint64_t moment_ns,
		   uint64_t now_ns);

/* --- Models -------------------------------------------------------------- */

/* Makes a model anew, as if it had looked at intervals before the moment: with a
 * past of 100 s as far as there is one. The look at the moment itself is the
 * caller's, and brings the latest records. `diagnosis` may be NULL,
 * else it looks, too. 0 or -errno. */
int ncs_replay_fill(struct ncs_source *source, struct ncs_model *model,
		    struct ncs_diagnosis *diagnosis, uint64_t from_ns,
		    uint64_t moment_ns, uint64_t interval_ns);

#endif
