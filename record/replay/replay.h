/* SPDX-License-Identifier: MIT */
/* Plays a recording: which part of it, where in it, and how fast.
 *
 * The current time is an argument, so that tests can play at any speed. All
 * other times are the recording's common time. Not thread-safe.
 */
#ifndef NCS_RECORD_REPLAY_REPLAY_H
#define NCS_RECORD_REPLAY_REPLAY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "analysis/diagnosis/diagnosis.h"
#include "analysis/model/model.h"
#include "record/read/align.h"
#include "record/read/recording.h"
#include "record/replay/instant.h"

struct ncs_replay {
	struct ncs_recording *recording;
	struct ncs_source *source;
	struct ncs_time_span all; /* time of the whole recording */
	uint64_t from_ns;         /* the part that is played */
	uint64_t until_ns;
	/* The part that readers of records should read. If the user requested
	 * no part: everything recorded, including the records that the rings
	 * held at the beginning. */
	uint64_t records_from_ns;
	uint64_t records_until_ns;
	uint64_t at_ns;
	bool playing;
	double speed;
	/* This machine's CLOCK_MONOTONIC when at_ns was set. */
	uint64_t played_ns;
	char hosts[128]; /* names of the hosts, separated by commas */
	/* Alignment of the hosts' clocks. */
	struct ncs_recording_alignment alignment;
	/* Largest error between any two hosts' clocks; UINT64_MAX if not known,
	 * 0 if there is one host. */
	uint64_t error_ns;
};

/* The part of a recording to play, and where to begin. NCS_INSTANT_NONE stands
 * for all of it, and for its beginning. */
struct ncs_replay_part {
	struct ncs_instant since;
	struct ncs_instant until;
	struct ncs_instant at;
	uint32_t pid; /* pid of the only process to show; 0 for all */
	const char *job; /* pattern of the only jobs to show; NULL for all */
	/* With `job`: those of its name that began before the one time, or from the
	 * other one on, in ns since 1970, are others. 0: none. */
	uint64_t job_begun_ns, job_next_ns;
	const uid_t *job_owner; /* its user; NULL or NCS_NO_OWNER: any */
	/* Whether ranks that have ended keep their last state. */
	bool keeps_ended;
};

/* Opens a recording and aligns the clocks of its hosts for the part that is
 * played. Returns 0, or -errno and sets `why` to a clause for the user. The
 * caller closes the replay in either case. */
int ncs_replay_open(struct ncs_replay *replay, const char *const *paths,
		    size_t count, const struct ncs_replay_part *part, char *why,
		    size_t why_size);
/* Closes the recording and frees what the replay holds; also after a failure to
 * open. */
void ncs_replay_close(struct ncs_replay *replay);

/* Converts a time to CLOCK_REALTIME of the first host. */
uint64_t ncs_replay_realtime_ns(const struct ncs_replay *replay,
				uint64_t at_ns);

/* Returns the time since the beginning of the recording, in ns. */
uint64_t ncs_replay_since_ns(const struct ncs_replay *replay);

/* Prints a time as --at takes it: since the beginning of the recording. A time
 * before the beginning, since which ranks may wait, is printed as the
 * beginning. */
void ncs_replay_print_time(const struct ncs_replay *replay, uint64_t time_ns,
			   char *text, size_t size);

/* --- Playing ------------------------------------------------------------- */

#define NCS_SPEED_MIN 0.01
#define NCS_SPEED_MAX 1000.0

/* Starts or stops playing. */
void ncs_replay_play(struct ncs_replay *replay, bool playing, uint64_t now_ns);

/* Changes the speed to the next of 0.01, 0.02, 0.05, 0.1 and so on up to
 * 1000. */
void ncs_replay_change_speed(struct ncs_replay *replay, bool faster,
			     uint64_t now_ns);

/* Moves to the time that playing has reached at now_ns. Stops at the end. */
void ncs_replay_advance(struct ncs_replay *replay, uint64_t now_ns);

/* Moves to a time, or to the nearest time in the part that is played. */
void ncs_replay_go(struct ncs_replay *replay, uint64_t at_ns, uint64_t now_ns);

/* --- Models -------------------------------------------------------------- */

/* Rebuilds a model as if it had been refreshed at intervals before a time, with
 * a past of up to 100 s, of which the latest 10 s have records. The caller makes the
 * refresh at the time itself. `diagnosis` is rebuilt with it unless it is NULL.
 * Returns 0 or -errno. */
int ncs_replay_fill(struct ncs_source *source, struct ncs_model *model,
		    struct ncs_diagnosis *diagnosis, uint64_t from_ns,
		    uint64_t at_ns, uint64_t interval_ns);

#endif
