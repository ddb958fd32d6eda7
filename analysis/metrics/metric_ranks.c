/* SPDX-License-Identifier: MIT */
/* The ranks that have metrics; see metric_ranks.h. */
#include "analysis/metrics/metric_ranks.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "shm/array.h"
#include "shm/labels.h"

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
static struct ncs_metric_rank *find(struct ncs_metric_ranks *list,
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
		same = find(list, &entry);
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

void ncs_metric_ranks_release(struct ncs_metric_ranks *list)
{
	free(list->ranks);
	memset(list, 0, sizeof(*list));
}
