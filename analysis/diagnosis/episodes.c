/* SPDX-License-Identifier: MIT */
/* Joins the findings of many looks to episodes; see episodes.h. Must not judge. */
#include "analysis/diagnosis/episodes.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *key_of(const struct ncs_finding *finding)
{
	return finding->root.communicator ? finding->root.communicator->key :
					    "";
}

/* Whether a finding goes on that an episode has. Another process that has died is
 * an episode of its own. */
static bool is_same(const struct ncs_episode *episode,
		    const struct ncs_finding *finding, uint64_t now_ns)
{
	return episode->verdict == finding->verdict &&
	       episode->rank == finding->root.number &&
	       (finding->verdict != NCS_VERDICT_RANK_DIED ||
		episode->alike == finding->alike) &&
	       now_ns - episode->until_ns <= NCS_STUCK_NS &&
	       strcmp(episode->communicator, key_of(finding)) == 0;
}

/* Whether a finding is what became of an episode: ranks that wait since before it was
 * seen to be stuck now wait for one that has left. */
static bool is_aftermath(const struct ncs_episode *episode,
			 const struct ncs_finding *finding, uint64_t now_ns)
{
	const struct ncs_rank *root = finding->root.rank;

	return root && root->now.liveness == NCS_FINISHED &&
	       episode->severity == NCS_SEVERITY_STUCK &&
	       finding->severity == NCS_SEVERITY_STUCK &&
	       episode->seen_ns < now_ns &&
	       now_ns <= episode->seen_ns + finding->duration_ns &&
	       now_ns - episode->until_ns <= NCS_STUCK_NS &&
	       strcmp(episode->communicator, key_of(finding)) == 0;
}

static struct ncs_episode *find(struct ncs_episodes *episodes,
				const struct ncs_finding *finding,
				uint64_t now_ns)
{
	struct ncs_episode *episode;

	for (size_t i = episodes->count; i-- > 0;)
		if (is_same(&episodes->all[i], finding, now_ns))
			return &episodes->all[i];
	for (size_t i = 0; i < episodes->count; i++)
		if (is_aftermath(&episodes->all[i], finding, now_ns))
			return &episodes->all[i];
	if (episodes->count == NCS_EPISODE_MAX)
		return NULL;
	episode = &episodes->all[episodes->count++];
	*episode = (struct ncs_episode){
		.from_ns = now_ns - (finding->duration_ns < now_ns ?
					     finding->duration_ns :
					     0),
		.seen_ns = now_ns,
		.verdict = finding->verdict,
		.rank = finding->root.number,
		.alike = finding->alike,
	};
	snprintf(episode->communicator, sizeof(episode->communicator), "%s",
		 key_of(finding));
	return episode;
}

/* Describes the episode by its latest finding, with what it cost on average. */
static void describe(const struct ncs_episodes *episodes,
		     struct ncs_episode *episode,
		     const struct ncs_finding *finding)
{
	struct ncs_finding mean = *finding;

	mean.share = episode->share;
	mean.share_least = episode->share_least;
	mean.share_most = episode->share_most;
	mean.step_ns = episode->step_ns;
	mean.duration_ns = 0;
	if (episodes->describe)
		episodes->describe(&mean, episode->sentence,
				   sizeof(episode->sentence));
}

/* Adds the last of so many values to their mean. */
static void to_mean(double *mean, double value, uint64_t count)
{
	*mean += (value - *mean) / (double)count;
}

static void add(struct ncs_episodes *episodes,
		const struct ncs_finding *finding, uint64_t now_ns)
{
	struct ncs_episode *episode = find(episodes, finding, now_ns);

	if (!episode)
		return;
	episode->until_ns = now_ns;
	if (finding->share > 0) {
		episode->shares++;
		to_mean(&episode->share, finding->share, episode->shares);
		to_mean(&episode->share_least, finding->share_least,
			episode->shares);
		to_mean(&episode->share_most, finding->share_most,
			episode->shares);
	}
	if (finding->step_ns > 0)
		to_mean(&episode->step_ns, finding->step_ns, ++episode->steps);
	if (finding->severity >= episode->severity &&
	    finding->verdict == episode->verdict &&
	    finding->root.number == episode->rank) {
		episode->severity = finding->severity;
		describe(episodes, episode, finding);
	}
}

void ncs_episodes_add(struct ncs_episodes *episodes,
		      const struct ncs_diagnosis *diagnosis, uint64_t now_ns)
{
	for (size_t i = 0; i < diagnosis->count; i++)
		if (diagnosis->findings[i].severity >= NCS_SEVERITY_SLOW)
			add(episodes, &diagnosis->findings[i], now_ns);
}

static double weight(const struct ncs_episode *episode)
{
	return (double)(episode->until_ns - episode->from_ns) *
	       (episode->share > 0 ? episode->share : 1);
}

static int compare(const void *left, const void *right)
{
	const struct ncs_episode *a = left, *b = right;

	if (a->severity != b->severity)
		return a->severity > b->severity ? -1 : 1;
	if (weight(a) != weight(b))
		return weight(a) > weight(b) ? -1 : 1;
	return (a->seen_ns > b->seen_ns) - (a->seen_ns < b->seen_ns);
}

void ncs_episodes_sort(struct ncs_episodes *episodes)
{
	qsort(episodes->all, episodes->count, sizeof(episodes->all[0]),
	      compare);
}
