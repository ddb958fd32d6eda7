/* SPDX-License-Identifier: MIT */
/* Sets of rows by name; see marks.h. The user makes marks one by one, so the
 * sets are small and searched linearly. */
#include "tui/table/marks.h"

#include <stdlib.h>
#include <string.h>

#include "analysis/base/hash_table.h"
#include "analysis/base/timings.h"
#include "analysis/diagnosis/finding.h"
#include "analysis/model/range_totals.h"
#include "analysis/views/timeline.h"
#include "shm/array.h"

uint64_t ncs_grid_id(const char *text)
{
	return ncs_hash_of_name(text, strlen(text));
}

static void key_of_channel(const struct ncs_channel_view *channel,
			   struct ncs_grid_key *key)
{
	key->channel = channel->channel;
	key->send = channel->send;
	key->peer = channel->peer;
}

void ncs_grid_key_of(const struct ncs_row *row, struct ncs_grid_key *key)
{
	struct ncs_track track;

	*key = (struct ncs_grid_key){ .view = row->view, .channel = -1 };
	if (row->communicator) {
		key->id = ncs_grid_id(row->communicator->key);
		if (row->view == NCS_VIEW_COLLECTIVE)
			key->index = row->index;
		return;
	}
	if (row->node) {
		key->id = ncs_grid_id(row->node->name);
		if (row->finding)
			key->index = row->finding->verdict;
		return;
	}
	key->id = ncs_grid_id(row->rank->id);
	switch (row->view) {
	case NCS_VIEW_FUNCTION:
		key->index = row->index;
		break;
	case NCS_VIEW_FINDING:
		key->index = row->finding->verdict;
		break;
	case NCS_VIEW_RANGE:
		key->index = row->rank->ranges[row->index].range->number;
		break;
	case NCS_VIEW_CLASS:
		key->index =
			ncs_class_identity(&row->rank->now.classes[row->index]);
		break;
	case NCS_VIEW_TIMELINE:
		if (!ncs_track_at(row->rank, row->index, &track) ||
		    !track.channel)
			key->index = row->index;
		else
			key_of_channel(track.channel, key);
		break;
	case NCS_VIEW_CHANNEL:
		key_of_channel(&row->rank->now.channels[row->index], key);
		break;
	default:
		key->view = NCS_VIEW_RANK;
	}
}

bool ncs_grid_key_is(const struct ncs_grid_key *a, const struct ncs_grid_key *b)
{
	return a->view == b->view && a->id == b->id && a->index == b->index &&
	       a->channel == b->channel && a->send == b->send &&
	       a->peer == b->peer;
}

static struct ncs_mark *find(const struct ncs_marks *marks,
			     const struct ncs_grid_key *key)
{
	for (size_t i = 0; i < marks->count; i++)
		if (ncs_grid_key_is(&marks->marks[i].key, key))
			return &marks->marks[i];
	return NULL;
}

void ncs_marks_clear(struct ncs_marks *marks)
{
	free(marks->marks);
	memset(marks, 0, sizeof(*marks));
}

bool ncs_marks_add(struct ncs_marks *marks, const struct ncs_grid_key *key,
		   bool whole)
{
	struct ncs_mark *mark = find(marks, key);

	if (mark) {
		mark->whole = mark->whole || whole;
		return true;
	}
	if (ncs_array_reserve(&marks->marks, &marks->capacity, marks->count + 1,
			      sizeof(*marks->marks)) != 0)
		return false;
	marks->marks[marks->count++] = (struct ncs_mark){ *key, whole };
	return true;
}

bool ncs_marks_remove(struct ncs_marks *marks, const struct ncs_grid_key *key)
{
	struct ncs_mark *mark = find(marks, key);

	if (!mark)
		return false;
	*mark = marks->marks[--marks->count];
	return true;
}

bool ncs_marks_have(const struct ncs_marks *marks,
		    const struct ncs_grid_key *key)
{
	return find(marks, key) != NULL;
}

static bool belongs_to(const struct ncs_row *row,
		       const struct ncs_grid_key *key)
{
	const struct ncs_communicator *communicator = ncs_row_communicator(row);

	if (key->view == NCS_VIEW_COMMUNICATOR)
		return communicator &&
		       ncs_grid_id(communicator->key) == key->id;
	return key->view == NCS_VIEW_RANK && row->rank &&
	       ncs_grid_id(row->rank->id) == key->id;
}

bool ncs_marks_cover(const struct ncs_marks *marks, const struct ncs_row *row)
{
	struct ncs_grid_key key;

	if (marks->count == 0)
		return false;
	ncs_grid_key_of(row, &key);
	for (size_t i = 0; i < marks->count; i++) {
		const struct ncs_mark *mark = &marks->marks[i];

		if (ncs_grid_key_is(&mark->key, &key) ||
		    (mark->whole && belongs_to(row, &mark->key)))
			return true;
	}
	return false;
}

bool ncs_marks_touch(const struct ncs_marks *marks, const struct ncs_rank *rank)
{
	for (size_t i = 0; i < marks->count; i++)
		if (marks->marks[i].key.id == ncs_grid_id(rank->id))
			return true;
	return false;
}
