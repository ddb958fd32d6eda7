/* SPDX-License-Identifier: MIT */
/* Searches a recording for the times at which something goes wrong. Each call
 * does a bounded amount of work, so that the caller can show the recording in
 * the meantime. Not thread-safe. */
#ifndef NCS_RECORD_REPLAY_REPLAY_SEARCH_H
#define NCS_RECORD_REPLAY_REPLAY_SEARCH_H

#include "record/replay/replay.h"

/* Largest number of abnormal times kept; a job with more of them is always
 * abnormal. */
#define NCS_ABNORMAL_MAX 1024

/* A time at which the diagnosis is worse than one step before, or a process has
 * died. */
struct ncs_abnormal {
	uint64_t moment_ns;
	/* Verdict of the worst finding at that time. */
	enum ncs_verdict verdict;
	enum ncs_verdict_severity severity;
};

struct ncs_replay_search {
	struct ncs_source *source;
	struct ncs_model model;
	struct ncs_diagnosis diagnosis;
	uint64_t from_ns;
	uint64_t until_ns;
	uint64_t next_ns; /* time of the next step */
	uint64_t step_ns;
	bool done;
	enum ncs_verdict_severity severity; /* at the previous step */
	size_t dead; /* number of dead processes at the previous step */
	struct ncs_abnormal found[NCS_ABNORMAL_MAX];
	size_t count;
};

/* Begins a search. The recording must outlive it. Returns 0 or -ENOMEM. */
int ncs_replay_search_begin(struct ncs_replay_search *search,
			    const struct ncs_replay *replay, uint32_t pid);
/* Frees what the search holds. */
void ncs_replay_search_end(struct ncs_replay_search *search);

/* Searches one step further, unless the search is done. Returns 0, or -ENOMEM,
 * which ends the search. */
int ncs_replay_search_step(struct ncs_replay_search *search);

/* Returns the first abnormal time after a time, or the last one before it; NULL
 * if none has been found yet. */
const struct ncs_abnormal *
ncs_replay_search_next(const struct ncs_replay_search *search,
		       uint64_t moment_ns, bool forward);

#endif
