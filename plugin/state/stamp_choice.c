/* SPDX-License-Identifier: MIT */
/* Choosing launches for stamps; see stamp_choice.h. */
#include "plugin/state/stamp_choice.h"

#include "plugin/nccl/stamps.h"
#include "plugin/state/captured.h"
#include "shm/atomics.h"

/* The period of a graph of which only the first launch has stamps: no graph has so
 * many. */
#define FIRST_ONLY (UINT32_C(1) << 31)

/* Graphs before a new one that are looked at. */
#define GRAPHS_SEEN 64u

/* --- Times of replays --------------------------------------------------- */

static uint64_t since(uint64_t begin_ns, uint64_t time_ns)
{
	return (time_ns - begin_ns) &
	       ((UINT64_C(1) << NCS_STAMP_TIME_BITS) - 1);
}

static void keep_least(uint64_t *least_ns, uint64_t ns)
{
	uint64_t before_ns = ncs_load_relaxed(least_ns);

	if (before_ns == 0 || ns < before_ns)
		ncs_store_relaxed(least_ns, ns);
}

void ncs_stamp_note_time(struct ncs_graph *graph,
			 const struct ncs_captured_launch *launch, bool ends,
			 uint64_t time_ns)
{
	if (!ends && launch->number == 1) {
		if (graph->begin_ns != 0)
			keep_least(&graph->apart_ns,
				   since(graph->begin_ns, time_ns));
		graph->begin_ns = time_ns;
	} else if (ends && launch->number == graph->last_stamped &&
		   graph->begin_ns != 0) {
		keep_least(&graph->span_ns, since(graph->begin_ns, time_ns));
		/* ORDER: pairs with ncs_stamp_choose()
		 * (plugin/state/stamp_choice.c): the times are those of so many
		 * replays. */
		ncs_store_release(&graph->spans, graph->spans + 1);
	}
}

void ncs_stamp_note_lost(void)
{
	uint64_t graphs = ncs_load_relaxed(&ncs_captured.graphs_used);

	for (uint64_t i = 0; i < graphs && i < NCS_GRAPH_MAX; i++)
		ncs_captured.graphs[i].begin_ns = 0;
}

/* --- Choosing ----------------------------------------------------------- */

/* Returns the time that the stamps of a replay cost if one launch in `period` has
 * some: those of all communicators that have launches in the capture. Their graphs
 * are near each other. */
static uint64_t cost_ns(const struct ncs_graph *graph, uint32_t period)
{
	const struct ncs_graph *all = ncs_captured.graphs;
	size_t place = (size_t)(graph - all), launches = 0;
	uint64_t used = ncs_load_relaxed(&ncs_captured.graphs_used);

	for (size_t i = place < GRAPHS_SEEN ? 0 : place - GRAPHS_SEEN;
	     i < used && i < NCS_GRAPH_MAX && i < place + GRAPHS_SEEN; i++)
		if (ncs_load_relaxed(&all[i].capture) == graph->capture)
			launches += (all[i].launches + period - 1) / period;
	return launches * NCS_STAMP_COST_NS;
}

/* Returns the least period at which stamps keep within their share of this time;
 * FIRST_ONLY if even those of the first launch do not. */
static uint32_t period_for(const struct ncs_graph *graph, uint64_t time_ns)
{
	uint32_t period = 1;

	for (; cost_ns(graph, period) * 1000 > time_ns * NCS_STAMP_SHARE;
	     period *= 2)
		if (period >= graph->launches)
			return FIRST_ONLY;
	return period;
}

static uint32_t larger(uint32_t a, uint32_t b)
{
	return a > b ? a : b;
}

void ncs_stamp_choose(struct ncs_graph *graph)
{
	const struct ncs_graph *all = ncs_captured.graphs;
	size_t place = (size_t)(graph - all);
	/* The most launches of a graph whose time is known, and of one whose time
	 * may be long enough. */
	uint32_t longest = 0, probe = 0, period = 1;

	for (size_t i = place < GRAPHS_SEEN ? 0 : place - GRAPHS_SEEN;
	     i < place; i++) {
		uint32_t fits;

		/* ORDER: pairs with ncs_stamp_note_time()
		 * (plugin/state/stamp_choice.c). */
		if (ncs_load_acquire(&all[i].spans) < NCS_STAMP_REPLAYS ||
		    all[i].comm != graph->comm ||
		    ncs_load_relaxed(&all[i].context) !=
			    ncs_load_relaxed(&graph->context))
			continue;
		fits = period_for(&all[i], ncs_load_relaxed(&all[i].span_ns));
		if (fits == 1 || 2 * all[i].last_stamped > all[i].launches) {
			longest = larger(longest, all[i].launches);
		} else if (ncs_load_relaxed(&all[i].apart_ns) == 0) {
			continue;
		} else if (period_for(&all[i], ncs_load_relaxed(
						       &all[i].apart_ns)) <
			   all[i].launches) {
			/* It may be long enough, if no later one tells. */
			probe = larger(probe, all[i].launches);
			continue;
		} else {
			fits = FIRST_ONLY;
			longest = larger(longest, all[i].launches);
		}
		period = larger(period, fits);
	}
	graph->probe = probe > longest ? probe : 0;
	graph->period = longest == 0 || graph->probe != 0 ? FIRST_ONLY : period;
}

bool ncs_stamp_is_chosen(const struct ncs_graph *graph, uint32_t number)
{
	return (number - 1) % graph->period == 0 || number == graph->probe;
}
