/* SPDX-License-Identifier: MIT */
/* Looks through a recording for the moments at which something goes wrong: a
 * bounded amount of work at a time, so that whoever shows the recording does so
 * meanwhile. */
#ifndef NCS_RECORD_READ_REPLAY_SEARCH_H
#define NCS_RECORD_READ_REPLAY_SEARCH_H

#include "record/read/replay.h"

/* More are not kept: what is always wrong is not abnormal. */
#define NCS_ABNORMAL_MAX 1024

/* The diagnosis is worse than one look before, or a process has died. */
struct ncs_abnormal {
	uint64_t moment_ns;
	enum ncs_verdict verdict; /* of what is worst then */
	enum ncs_verdict_severity severity;
};

struct ncs_replay_search {
	struct ncs_source *source;
	struct ncs_model model;
	struct ncs_diagnosis diagnosis;
	uint64_t from_ns;
	uint64_t until_ns;
	uint64_t next_ns; /* all before it has been looked at */
	uint64_t step_ns;
	bool done;
	enum ncs_verdict_severity severity; /* of the look before … */
	size_t dead;                        /* … and processes in it */
	struct ncs_abnormal found[NCS_ABNORMAL_MAX];
	size_t count;
};

/* 0 or -ENOMEM. The recording must outlive the search. */
int ncs_replay_search_begin(struct ncs_replay_search *search,
			    const struct ncs_replay *replay, uint32_t pid);
void ncs_replay_search_end(struct ncs_replay_search *search);

/* One look, unless it is done. What it cannot look at for want of memory ends
 * it: -ENOMEM. */
int ncs_replay_search_step(struct ncs_replay_search *search);

/* The first found after a moment, or the last before it. NULL: none so far. */
const struct ncs_abnormal *
ncs_replay_search_next(const struct ncs_replay_search *search,
		       uint64_t moment_ns, bool forward);

#endif
