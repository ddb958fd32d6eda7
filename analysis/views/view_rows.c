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

static int communicator_rows(const struct ncs_model *model,
			     struct ncs_row **rows, size_t *capacity)
{
	size_t count = model->communicator_count;

	if (ncs_array_reserve(rows, capacity, count, sizeof(**rows)) != 0)
		return -ENOMEM;
	for (size_t i = 0; i < count; i++)
		(*rows)[i] = (struct ncs_row){
			.view = NCS_VIEW_COMMUNICATOR,
			.communicator = &model->communicators[i],
		};
	return (int)count;
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

static int collective_rows(const struct ncs_model *model, struct ncs_row **rows,
			   size_t *capacity)
{
	size_t most = model->communicator_count * NCS_FUNCTION_COUNT, count = 0;

	if (ncs_array_reserve(rows, capacity, most, sizeof(**rows)) != 0)
		return -ENOMEM;
	for (size_t i = 0; i < model->communicator_count; i++)
		for (unsigned k = 0; k < NCS_FUNCTION_COUNT; k++)
			if (is_used(&model->communicators[i], k))
				(*rows)[count++] = (struct ncs_row){
					.view = NCS_VIEW_COLLECTIVE,
					.communicator =
						&model->communicators[i],
					.index = k,
				};
	return (int)count;
}

static int finding_rows(const struct ncs_model *model, struct ncs_row **rows,
			size_t *capacity)
{
	const struct ncs_diagnosis *diagnosis = model->diagnosis;
	size_t most = diagnosis ? diagnosis->count : 0, count = 0;

	if (ncs_array_reserve(rows, capacity, most, sizeof(**rows)) != 0)
		return -ENOMEM;
	for (size_t i = 0; i < most; i++) {
		const struct ncs_finding *finding = &diagnosis->findings[i];
		const struct ncs_party *root = &finding->root;
		const struct ncs_rank *rank = root->rank;

		if (!rank && root->communicator)
			rank = root->communicator->ranks[0];
		if (rank || finding->node)
			(*rows)[count++] = (struct ncs_row){
				.view = NCS_VIEW_FINDING,
				.finding = finding,
				.rank = rank,
				.node = finding->node,
				.now_ns = model->now_ns,
				.index = i,
			};
	}
	return (int)count;
}

static int compare_nodes(const void *left, const void *right)
{
	const struct ncs_row *a = left, *b = right;

	if (a->node->state != b->node->state)
		return a->node->state < b->node->state ? -1 : 1;
	return (a->index > b->index) - (a->index < b->index);
}

/* The order of states is from that in which the least is seen. */
static int node_rows(const struct ncs_model *model, struct ncs_row **rows,
		     size_t *capacity)
{
	size_t count = model->node_count;

	if (ncs_array_reserve(rows, capacity, count, sizeof(**rows)) != 0)
		return -ENOMEM;
	for (size_t i = 0; i < count; i++)
		(*rows)[i] = (struct ncs_row){
			.view = NCS_VIEW_NODE,
			.node = &model->nodes[i],
			.now_ns = model->now_ns,
			.index = i,
		};
	if (count > 1)
		qsort(*rows, count, sizeof(**rows), compare_nodes);
	return (int)count;
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
	size_t most = 0, count = 0;

	if (view == NCS_VIEW_FINDING)
		return finding_rows(model, rows, capacity);
	if (view == NCS_VIEW_NODE)
		return node_rows(model, rows, capacity);
	if (view == NCS_VIEW_COMMUNICATOR)
		return communicator_rows(model, rows, capacity);
	if (view == NCS_VIEW_COLLECTIVE)
		return collective_rows(model, rows, capacity);
	for (size_t i = 0; i < model->rank_count; i++)
		most += entries(model->ranks[i], view);
	if (ncs_array_reserve(rows, capacity, most, sizeof(**rows)) != 0)
		return -ENOMEM;
	for (size_t i = 0; i < model->rank_count; i++) {
		const struct ncs_rank *rank = model->ranks[i];

		for (size_t k = 0; k < entries(rank, view); k++)
			if (is_shown(rank, view, k))
				(*rows)[count++] = (struct ncs_row){
					.view = view,
					.rank = rank,
					.index = k,
				};
	}
	return (int)count;
}
