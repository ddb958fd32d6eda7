/* SPDX-License-Identifier: MIT */
/* The ranks, jobs and peers that have metrics; see metrics.h. */
#include "analysis/metrics/metrics.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "shm/array.h"
#include "shm/clock.h"

/* --- Ranks ------------------------------------------------------------------ */

/* Returns the number at the end of a segment's name, which differs between the
 * segments of a process; the rank's serial if there is none. */
static uint32_t segment_number(const struct ncs_rank *rank)
{
	const char *dot = strrchr(rank->id, '.');

	if (!dot || !dot[1] || dot[1 + strspn(dot + 1, "0123456789")])
		return rank->serial;
	return (uint32_t)strtoul(dot + 1, NULL, 10);
}

const char *ncs_metric_job_label(const struct ncs_rank *rank, const char *key)
{
	const char *value = ncs_labels_value(rank->labels, key);

	return value ? value : "";
}

void ncs_metric_rank_name(struct ncs_metric_rank *entry,
			  const struct ncs_rank *rank)
{
	const struct ncs_identity *identity = &rank->now.identity;

	entry->rank = rank;
	entry->is_live = ncs_rank_is_live(rank);
	if (identity->known & NCS_KNOWN_COMM_ID)
		snprintf(entry->comm, sizeof(entry->comm), "%016" PRIx64,
			 identity->comm_id);
	else
		snprintf(entry->comm, sizeof(entry->comm),
			 "~%" PRIu32 ".%" PRIu32, rank->process.pid,
			 segment_number(rank));
	if (identity->known & NCS_KNOWN_RANK)
		snprintf(entry->number, sizeof(entry->number), "%" PRId32,
			 identity->rank);
	else
		snprintf(entry->number, sizeof(entry->number), "~%" PRIu32,
			 rank->process.pid);
	entry->comm_name = identity->known & NCS_KNOWN_COMM_NAME ?
				   identity->comm_name :
				   "";
	entry->job_id = ncs_metric_job_label(rank, "job_id");
	entry->node = rank->process.host;
}

static bool has_metrics(const struct ncs_model *model,
			const struct ncs_rank *rank)
{
	uint64_t end_ns = ncs_rank_end_ns(rank);

	if (rank->now.liveness == NCS_FINISHED)
		return false;
	return rank->now.liveness != NCS_DEAD || model->now_ns <= end_ns ||
	       model->now_ns - end_ns <= NCS_METRICS_DEAD_NS;
}

/* Returns the entry that has the same labels; NULL if there is none. */
static struct ncs_metric_rank *find_alike(struct ncs_metric_ranks *list,
					  const struct ncs_metric_rank *entry)
{
	for (size_t i = 0; i < list->count; i++)
		if (strcmp(list->ranks[i].comm, entry->comm) == 0 &&
		    strcmp(list->ranks[i].number, entry->number) == 0)
			return &list->ranks[i];
	return NULL;
}

int ncs_metric_ranks_find(struct ncs_metric_ranks *list,
			  const struct ncs_model *model)
{
	list->count = 0;
	list->duplicates = 0;
	if (ncs_array_reserve(&list->ranks, &list->capacity, model->rank_count,
			      sizeof(*list->ranks)) != 0)
		return -ENOMEM;
	for (size_t i = 0; i < model->rank_count; i++) {
		struct ncs_metric_rank entry, *same;

		if (!has_metrics(model, model->ranks[i]))
			continue;
		ncs_metric_rank_name(&entry, model->ranks[i]);
		same = find_alike(list, &entry);
		if (!same) {
			list->ranks[list->count++] = entry;
			continue;
		}
		list->duplicates++;
		/* A restart leaves a dead one behind: the one that lives counts. */
		if (entry.is_live && !same->is_live)
			*same = entry;
	}
	return 0;
}

/* --- Jobs ------------------------------------------------------------------- */

static const char *id_of(const struct ncs_metric_jobs *list,
			 const struct ncs_rank *rank)
{
	return list->without_ids ? "" : ncs_metric_job_label(rank, "job_id");
}

struct ncs_metric_job *ncs_metric_jobs_find(const struct ncs_metric_jobs *list,
					    const struct ncs_rank *rank)
{
	const char *id = id_of(list, rank);

	for (size_t i = 0; i < list->count; i++)
		if (strcmp(list->jobs[i].id, id) == 0)
			return &list->jobs[i];
	return NULL;
}

static struct ncs_metric_job *add_job(struct ncs_metric_jobs *list,
				      const struct ncs_rank *rank)
{
	struct ncs_metric_job *job = ncs_metric_jobs_find(list, rank);

	if (job)
		return job;
	if (ncs_array_reserve(&list->jobs, &list->capacity, list->count + 1,
			      sizeof(*list->jobs)) != 0)
		return NULL;
	job = &list->jobs[list->count++];
	*job = (struct ncs_metric_job){ .begun_ns = UINT64_MAX, .verdict = "" };
	snprintf(job->id, sizeof(job->id), "%s", id_of(list, rank));
	return job;
}

/* Forgets jobs that were not live. The others must be found live again. */
static void forget_jobs(struct ncs_metric_jobs *list)
{
	/* From the end: the one that fills a gap has been looked at. */
	for (size_t i = list->count; i-- > 0;)
		if (list->jobs[i].is_live)
			list->jobs[i].is_live = false;
		else
			list->jobs[i] = list->jobs[--list->count];
}

/* Whether a rank may be of a job: without an id, ranks of an earlier one are listed
 * for a while. */
static bool is_of(const struct ncs_metric_job *job, const struct ncs_rank *rank)
{
	return ncs_rank_end_ns(rank) >= job->begun_ns;
}

static void take_rank(struct ncs_metric_job *job, const struct ncs_rank *rank)
{
	uint64_t begun_ns = ncs_clock_ns(&rank->clock, rank->created);
	uint64_t end_ns = ncs_rank_end_ns(rank);

	if (begun_ns < job->begun_ns)
		job->begun_ns = begun_ns;
	if (end_ns > job->ended_ns)
		job->ended_ns = end_ns;
}

static void take_finding(const struct ncs_metric_jobs *list,
			 const struct ncs_finding *finding)
{
	const struct ncs_party *root = &finding->root;
	const struct ncs_rank *rank = root->rank;
	struct ncs_metric_job *job;

	if (!rank && root->communicator)
		rank = root->communicator->ranks[0];
	job = rank ? ncs_metric_jobs_find(list, rank) : NULL;
	if (!job || !is_of(job, rank) || finding->severity <= job->severity)
		return;
	job->severity = finding->severity;
	job->verdict = ncs_verdict_name(finding->verdict);
}

int ncs_metric_jobs_look(struct ncs_metric_jobs *list,
			 const struct ncs_model *model,
			 const struct ncs_diagnosis *diagnosis,
			 bool without_ids)
{
	int error = 0;

	list->without_ids = without_ids;
	forget_jobs(list);
	for (size_t i = 0; i < model->rank_count; i++) {
		struct ncs_metric_job *job;

		if (!ncs_rank_is_live(model->ranks[i]))
			continue;
		job = add_job(list, model->ranks[i]);
		if (!job) {
			error = -ENOMEM;
			continue;
		}
		job->is_live = true;
		take_rank(job, model->ranks[i]);
	}
	for (size_t i = 0; i < model->rank_count; i++) {
		struct ncs_metric_job *job =
			ncs_metric_jobs_find(list, model->ranks[i]);

		if (job && is_of(job, model->ranks[i]))
			take_rank(job, model->ranks[i]);
	}
	for (size_t i = 0; i < diagnosis->count; i++)
		take_finding(list, &diagnosis->findings[i]);
	return error;
}

/* --- Peers ------------------------------------------------------------------ */

static struct ncs_peers_of_rank *named_peers(struct ncs_named_peers *list,
					     uint32_t serial)
{
	struct ncs_peers_of_rank *found;

	for (size_t i = 0; i < list->count; i++)
		if (list->ranks[i].serial == serial)
			return &list->ranks[i];
	if (ncs_array_reserve(&list->ranks, &list->capacity, list->count + 1,
			      sizeof(*list->ranks)) != 0)
		return NULL;
	found = &list->ranks[list->count++];
	memset(found, 0, sizeof(*found));
	found->serial = serial;
	return found;
}

/* Returns the place of a peer's sum; that of all others if it has no name. */
static size_t place_of(struct ncs_peers_of_rank *named, int32_t peer)
{
	size_t place = 0;

	while (place < named->count && named->peers[place] != peer)
		place++;
	if (place == named->count && place < NCS_METRIC_PEERS_MAX)
		named->peers[named->count++] = peer;
	return place;
}

const struct ncs_peers_of_rank *
ncs_peers_sum(struct ncs_named_peers *list, const struct ncs_rank *rank,
	      struct ncs_peer_sum sums[NCS_METRIC_PEERS_MAX + 1])
{
	struct ncs_peers_of_rank *named = named_peers(list, rank->serial);

	memset(sums, 0, (NCS_METRIC_PEERS_MAX + 1) * sizeof(*sums));
	if (!named)
		return NULL;
	named->is_seen = true;
	for (size_t i = 0; i < rank->now.channel_count; i++) {
		const struct ncs_channel_view *channel = &rank->now.channels[i];
		struct ncs_peer_sum *sum =
			&sums[place_of(named, channel->peer)];

		if (channel->send) {
			bool known = ncs_channel_bytes_known(channel);

			sum->bytes_known = known &&
					   (sum->bytes_known || !sum->sends);
			sum->sent_bytes += channel->bytes;
			sum->sends = true;
		} else {
			sum->receives = true;
		}
		sum->is_used = true;
		for (unsigned k = 0; k < NCS_CHANNEL_STATE_COUNT; k++)
			sum->time_ns[k] += channel->time_ns[k];
	}
	return named;
}

void ncs_peers_forget(struct ncs_named_peers *list)
{
	size_t kept = 0;

	for (size_t i = 0; i < list->count; i++) {
		if (!list->ranks[i].is_seen)
			continue;
		list->ranks[kept] = list->ranks[i];
		list->ranks[kept++].is_seen = false;
	}
	list->count = kept;
}
