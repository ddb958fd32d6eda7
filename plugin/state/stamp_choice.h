/* SPDX-License-Identifier: MIT */
/* Which launches of a graph get stamps with NCCLSTAT_GRAPHS=auto: as many as cost
 * at most a given share of a replay's time, which the stamps of earlier graphs of
 * the communicator tell. Calls nothing.
 *
 * From a replay's first stamp to its last the GPU was not idle: that is the least
 * that the replay takes. From one replay's begin to the next is the most, as the
 * GPU may have waited for the host; only the first launch need have stamps for
 * that. So a graph of which only the first launch has some is known to be too
 * short for more, or may be long enough: then the next graph gets a second launch
 * with stamps, where the former one had its last, and the one after that as many as
 * that tells. NCCL does not say which launch of a capture is its last one.
 *
 * Ranks choose by their own times. Periods are powers of two, so that those of one
 * rank are among those of another with a lower one, and operations of replays are
 * numbered by their place in the graph, with stamps or without.
 */
#ifndef NCS_PLUGIN_STATE_STAMP_CHOICE_H
#define NCS_PLUGIN_STATE_STAMP_CHOICE_H

#include <stdbool.h>
#include <stdint.h>

struct ncs_graph;
struct ncs_captured_launch;

/* A launch with stamps holds up its stream by so much: 32 of a decode loop on two
 * H200 cost 142 us, on two H100 75 us (test/gpu/README.md, NCCLSTAT_GRAPHS). */
#define NCS_STAMP_COST_NS UINT64_C(5000)

/* The share of a replay's time that stamps may cost, per mille. */
#define NCS_STAMP_SHARE UINT64_C(5)

/* A graph's times count after so many replays: a rank waits in the first ones for
 * others that still capture theirs. */
#define NCS_STAMP_REPLAYS 8u

/* Chooses the launches of a new graph by those before it. For the capturing
 * thread. */
void ncs_stamp_choose(struct ncs_graph *graph);

/* Returns true if a launch of the graph is to have stamps. */
bool ncs_stamp_is_chosen(const struct ncs_graph *graph, uint32_t number);

/* Notes a stamp of a launch, which was written at `time_ns` by the GPU's clock. For
 * the watch thread. */
void ncs_stamp_note_time(struct ncs_graph *graph,
			 const struct ncs_captured_launch *launch, bool ends,
			 uint64_t time_ns);

/* Stamps were lost: times from those before to those after are not of one replay.
 * For the watch thread. */
void ncs_stamp_note_lost(void);

#endif
