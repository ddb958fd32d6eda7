/* SPDX-License-Identifier: MIT */
/* Searches a recording for the episodes in which something is wrong. Each call
 * does a bounded amount of work, so that the caller can show the recording in
 * the meantime. Not thread-safe. */
#ifndef NCS_RECORD_REPLAY_REPLAY_SEARCH_H
#define NCS_RECORD_REPLAY_REPLAY_SEARCH_H

#include "analysis/diagnosis/episodes.h"
#include "record/replay/replay.h"

struct ncs_replay_search {
	const struct ncs_recording *recording;
	struct ncs_source *source;
	struct ncs_model model;
	struct ncs_diagnosis diagnosis;
	uint64_t from_ns;
	uint64_t until_ns;
	uint64_t next_ns; /* time of the next step */
	uint64_t step_ns;
	uint64_t interval_ns; /* between two states of a rank, as recorded */
	/* The latest two moments that are steps apart. */
	uint64_t before_ns, latest_ns;
	bool done;
	struct ncs_episodes found;
};

/* Begins a search. The recording must outlive it. Episodes have sentences if
 * `describe` is not NULL. Returns 0 or -ENOMEM. */
int ncs_replay_search_begin(struct ncs_replay_search *search,
			    const struct ncs_replay *replay, uint32_t pid,
			    ncs_describe_finding *describe);
/* Frees what the search holds. */
void ncs_replay_search_end(struct ncs_replay_search *search);

/* Searches one step further, unless the search is done. Returns 0, or -ENOMEM,
 * which ends the search. */
int ncs_replay_search_step(struct ncs_replay_search *search);

/* Returns the first episode that was seen after a time, or the last one that was
 * seen before it; NULL if none has been found yet. Episodes must not be sorted. */
const struct ncs_episode *
ncs_replay_search_next(const struct ncs_replay_search *search,
		       uint64_t moment_ns, bool forward);

#endif
