/* SPDX-License-Identifier: MIT */
/* Captured launches; see capture.h. */
#include "plugin/events/capture.h"

#include "plugin/nccl/stamps.h"
#include "plugin/state/stamp_choice.h"

/* Returns the graph of a capture, a new one if the communicator's launches before
 * were in another capture. NULL if there is no room. */
static struct ncs_graph *graph_of(struct ncs_comm *comm,
				  struct ncs_launches *launches,
				  unsigned long long capture)
{
	uint64_t period = ncs_load_relaxed(&ncs_launch_process.stamp_period);
	struct ncs_graph *graph;
	uint64_t index;

	if (launches->graph != 0 && launches->capture == capture)
		return &ncs_captured.graphs[launches->graph - 1];
	index = ncs_add_relaxed(&ncs_captured.graphs_used, 1);
	if (index >= NCS_GRAPH_MAX)
		return NULL;
	graph = &ncs_captured.graphs[index];
	graph->comm = comm;
	/* ORDER: pairs with ncs_replays_may_come() (plugin/life/replays.c): a
	 * graph with a context has its communicator. */
	ncs_store_release(&graph->context, ncs_load_relaxed(&comm->context));
	ncs_store_relaxed(&graph->capture, capture);
	graph->period = (uint32_t)period;
	if (period == 0)
		ncs_stamp_choose(graph);
	launches->capture = capture;
	ncs_store_relaxed32(&launches->graph, (uint32_t)index + 1);
	ncs_add_relaxed(&comm->header->graphs.graphs, 1);
	return graph;
}

/* Returns the index plus 1 of a new launch; 0 if there is no room. */
static uint32_t add_launch(const struct ncs_launches *launches,
			   struct ncs_graph *graph)
{
	uint32_t index = (uint32_t)ncs_add_relaxed(&ncs_captured.launches_used,
						   1);
	struct ncs_captured_launch *launch;

	if (index >= NCS_CAPTURED_LAUNCH_MAX)
		return 0;
	launch = &ncs_captured.launches[index];
	launch->graph = launches->graph - 1;
	launch->number = ++graph->launches;
	if (graph->last != 0)
		ncs_captured.launches[graph->last - 1].next = index + 1;
	else
		graph->first = index + 1;
	graph->last = index + 1;
	return index + 1;
}

/* Adds the launch, and its first stamp if it is to have any. Returns 0, or why
 * there is no launch or no stamp. */
static int start(struct ncs_comm *comm, struct ncs_lane_state *lane,
		 struct ncs_launches *launches, void *stream)
{
	const struct ncs_stamps *stamps = ncs_stamps_of(&launches->primary);
	struct ncs_captured_launch *launch;
	unsigned long long capture;
	struct ncs_graph *graph;
	int error;

	if (!stamps)
		return CUDA_ERROR_NOT_READY_NUMBER;
	error = ncs_stamps_capture(stream, &capture);
	if (error)
		return error;
	graph = graph_of(comm, launches, capture);
	if (graph)
		lane->captured_launch = add_launch(launches, graph);
	if (lane->captured_launch == 0)
		return CUDA_ERROR_NOT_READY_NUMBER;
	launch = &ncs_captured.launches[lane->captured_launch - 1];
	if (!ncs_stamp_is_chosen(graph, launch->number))
		return 0;
	error = ncs_stamps_put(stamps, stream, 2 * (lane->captured_launch - 1));
	launch->has_begin = error == 0;
	return error;
}

void ncs_capture_start(struct ncs_comm *comm, struct ncs_lane_state *lane,
		       struct ncs_launches *launches, void *stream)
{
	int error = start(comm, lane, launches, stream);

	if (error)
		ncs_store_relaxed(&comm->header->graphs.failure,
				  (uint64_t)error);
}

bool ncs_capture_is_stamped(const struct ncs_lane_state *lane)
{
	return lane->captured_launch != 0 &&
	       ncs_captured.launches[lane->captured_launch - 1].has_begin;
}

void ncs_capture_stop(struct ncs_comm *comm, const struct ncs_lane_state *lane,
		      const struct ncs_launches *launches, void *stream)
{
	uint32_t index = lane->captured_launch - 1;
	struct ncs_captured_launch *launch = &ncs_captured.launches[index];
	int error = ncs_stamps_put(ncs_stamps_of(&launches->primary), stream,
				   2 * index | NCS_STAMP_END);

	if (error) {
		ncs_store_relaxed(&comm->header->graphs.failure,
				  (uint64_t)error);
		return;
	}
	launch->has_end = true;
	ncs_captured.graphs[launch->graph].last_stamped = launch->number;
	ncs_add_relaxed(&comm->header->graphs.stamped, 1);
}

void ncs_capture_operation(const struct ncs_lane_state *lane,
			   const struct ncs_operation_facts *facts)
{
	struct ncs_captured *all = &ncs_captured;
	struct ncs_captured_operation *op;
	struct ncs_captured_launch *launch;
	uint64_t index;

	if (lane->captured_launch == 0)
		return;
	index = ncs_add_relaxed(&all->operations_used, 1);
	if (index >= NCS_CAPTURED_OPERATION_MAX)
		return;
	launch = &all->launches[lane->captured_launch - 1];
	op = &all->operations[index];
	op->facts = *facts;
	/* In its replays it is one like any other, and its numbers are those
	 * of replays. */
	op->facts.captured = false;
	op->place = all->graphs[launch->graph].operations[facts->function]++;
	all->graphs[launch->graph].operations_noted++;
	if (launch->last != 0)
		all->operations[launch->last - 1].next = (uint32_t)index + 1;
	else
		launch->first = (uint32_t)index + 1;
	launch->last = (uint32_t)index + 1;
}
