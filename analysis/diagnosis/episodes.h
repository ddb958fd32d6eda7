/* SPDX-License-Identifier: MIT */
/* The episodes of a job: from when to when something was slow or stuck, and what
 * it was.
 *
 * A finding that is there again within NCS_STUCK_NS is the same episode. Where ranks
 * leave a hang one after another, those that stay wait for them: that is the same
 * episode, too, with the root that it had. Episodes do not point into the model. Pure.
 */
#ifndef NCS_ANALYSIS_DIAGNOSIS_EPISODES_H
#define NCS_ANALYSIS_DIAGNOSIS_EPISODES_H

#include <stddef.h>
#include <stdint.h>

#include "analysis/diagnosis/diagnosis.h"

/* Largest number of episodes that are kept; a job with more is always in one. */
#define NCS_EPISODE_MAX 512

/* Size of an episode's sentence. */
#define NCS_EPISODE_BYTES 256

struct ncs_episode {
	/* Since when its ranks wait, and when it was seen first and last. */
	uint64_t from_ns, seen_ns, until_ns;
	enum ncs_verdict verdict;
	enum ncs_verdict_severity severity; /* the worst */
	/* The means of what it cost, 0 to 1, and of its bounds, from so many looks
	 * that knew; 0 if none did. */
	double share, share_least, share_most;
	uint64_t shares;
	/* The mean time of a step from so many looks; 0 if none knew it. */
	double step_ns;
	uint64_t steps;
	int32_t rank; /* the root's number; -1 if not known */
	char communicator[272]; /* its key; "" if not known */
	size_t alike;
	char sentence[NCS_EPISODE_BYTES];
};

/* Prints the sentence of a finding; the finding is valid during the call. */
typedef void ncs_describe_finding(const struct ncs_finding *finding, char *text,
				  size_t size);

struct ncs_episodes {
	ncs_describe_finding *describe; /* set by the caller; NULL: no sentences */
	struct ncs_episode all[NCS_EPISODE_MAX]; /* in the order of seen_ns */
	size_t count;
};

/* Adds what a diagnosis finds at a time, which is not before that of an earlier
 * call. Nodes that are not seen, and setups, are no episodes. */
void ncs_episodes_add(struct ncs_episodes *episodes,
		      const struct ncs_diagnosis *diagnosis, uint64_t now_ns);

/* Sorts the episodes, the worst first: by severity, then by how long they lasted,
 * times the share of it that they cost. They can not be added to afterwards. */
void ncs_episodes_sort(struct ncs_episodes *episodes);

#endif
