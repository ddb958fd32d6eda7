/* SPDX-License-Identifier: MIT */
/* The rows of every view. */
#include "analysis/views/columns.h"

#include <errno.h>
#include <stdlib.h>

#include "analysis/diagnosis/diagnosis.h"
#include "analysis/views/timeline.h"
#include "shm/array.h"

const struct ncs_identity *ncs_row_identity(const struct ncs_row *row)
{
	return row->communicator ? row->communicator->identity :
				   &row->rank->now.identity;
}

const struct ncs_communicator *ncs_row_communicator(const struct ncs_row *row)
{
	if (row->communicator)
		return row->communicator;
	return row->rank ? row->rank->communicator : NULL;
}

static size_t entries(const struct ncs_rank *rank, enum ncs_view view)
{
	if (view == NCS_VIEW_CHANNEL)
		return rank->now.channel_count;
	if (view == NCS_VIEW_CLASS)
		return rank->now.class_count;
	if (view == NCS_VIEW_TIMELINE)
		return ncs_track_count(rank);
	if (view == NCS_VIEW_RANGE)
		return rank->now.range_count;
	return view == NCS_VIEW_FUNCTION ? NCS_FUNCTION_COUNT : 1;
}

static bool is_shown(const struct ncs_rank *rank, enum ncs_view view,
		     size_t index)
{
	struct ncs_track track;

	if (view == NCS_VIEW_TIMELINE)
		return ncs_track_at(rank, index, &track);
	return view != NCS_VIEW_FUNCTION ||
	       ncs_function_is_used(&rank->now.functions[index]);
}

static bool is_used(const struct ncs_communicator *communicator,
		    unsigned function)
{
	for (size_t i = 0; i < communicator->rank_count; i++)
		if (ncs_function_is_used(
			    &communicator->ranks[i]->now.functions[function]))
			return true;
	return false;
}

/* Returns how many rows a view has at most. */
static size_t most_rows(const struct ncs_model *model, enum ncs_view view)
{
	size_t most = 0;

	switch (view) {
	case NCS_VIEW_FINDING:
		return model->diagnosis ? model->diagnosis->count : 0;
	case NCS_VIEW_NODE:
		return model->node_count;
	case NCS_VIEW_COMMUNICATOR:
		return model->communicator_count;
	case NCS_VIEW_COLLECTIVE:
		return model->communicator_count * NCS_FUNCTION_COUNT;
	default:
		for (size_t i = 0; i < model->rank_count; i++)
			most += entries(model->ranks[i], view);
		return most;
	}
}

/* Sets the objects of a row that is not a rank's; `place` is below most_rows(). Returns
 * false if it is not shown. */
static bool set_objects(struct ncs_row *row, const struct ncs_model *model,
			size_t place)
{
	const struct ncs_party *root;

	switch (row->view) {
	case NCS_VIEW_FINDING:
		row->finding = &model->diagnosis->findings[place];
		row->node = row->finding->node;
		row->index = place;
		root = &row->finding->root;
		row->rank = root->rank;
		if (!row->rank && root->communicator)
			row->rank = root->communicator->ranks[0];
		return row->rank || row->node;
	case NCS_VIEW_NODE:
		row->node = &model->nodes[place];
		row->index = place;
		return true;
	case NCS_VIEW_COMMUNICATOR:
		row->communicator = &model->communicators[place];
		return true;
	default:
		row->communicator =
			&model->communicators[place / NCS_FUNCTION_COUNT];
		row->index = place % NCS_FUNCTION_COUNT;
		return is_used(row->communicator, (unsigned)row->index);
	}
}

static size_t rank_rows(const struct ncs_model *model, enum ncs_view view,
			struct ncs_row *rows)
{
	size_t count = 0;

	for (size_t i = 0; i < model->rank_count; i++)
		for (size_t k = 0; k < entries(model->ranks[i], view); k++)
			if (is_shown(model->ranks[i], view, k))
				rows[count++] = (struct ncs_row){
					.view = view,
					.rank = model->ranks[i],
					.index = k,
				};
	return count;
}

/* The order of states is from that in which the least is seen. */
static int compare_nodes(const void *left, const void *right)
{
	const struct ncs_row *a = left, *b = right;

	if (a->node->state != b->node->state)
		return a->node->state < b->node->state ? -1 : 1;
	return (a->index > b->index) - (a->index < b->index);
}

bool ncs_view_has_data(const struct ncs_model *model, enum ncs_view view)
{
	if (view == NCS_VIEW_NODE)
		return model->node_count > 0;
	for (size_t i = 0; i < model->rank_count; i++) {
		const struct ncs_rank *rank = model->ranks[i];

		if (view == NCS_VIEW_PROXY ?
			    ncs_rank_proxy_known(rank) :
			    entries(rank, view) > 0)
			return true;
	}
	return false;
}

int ncs_rows(const struct ncs_model *model, enum ncs_view view,
	     struct ncs_row **rows, size_t *capacity)
{
	bool is_of_ranks = view != NCS_VIEW_FINDING && view != NCS_VIEW_NODE &&
			   view != NCS_VIEW_COMMUNICATOR &&
			   view != NCS_VIEW_COLLECTIVE;
	size_t most = most_rows(model, view), count = 0;

	if (ncs_array_reserve(rows, capacity, most, sizeof(**rows)) != 0)
		return -ENOMEM;
	if (is_of_ranks)
		return (int)rank_rows(model, view, *rows);
	for (size_t i = 0; i < most; i++) {
		struct ncs_row *row = &(*rows)[count];

		*row = (struct ncs_row){ .view = view,
					 .now_ns = model->now_ns };
		count += set_objects(row, model, i);
	}
	if (view == NCS_VIEW_NODE && count > 1)
		qsort(*rows, count, sizeof(**rows), compare_nodes);
	return (int)count;
}
