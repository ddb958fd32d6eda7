/* SPDX-License-Identifier: MIT */
/* Pairs of handles: what NCCL gets for an event, or as a context, when a second
 * plugin is chained to ours (chain.h).
 *
 * NCCL keeps one word for each event. With two plugins that word is a number
 * which leads to the pair of words that the plugins have returned. A child may
 * name a parent that was stopped long ago, so a pair outlives its event: places
 * of the oldest pairs are reused first, and those of events in progress last. A
 * number that is too old, or was never given out, finds no pair.
 *
 *   bits  0- 3  kind (NCS_HANDLE_PAIR)    bits 10-12  class
 *   bits  4- 9  communicator              bits 13-63  number in the class
 *
 * Callbacks on any thread call these functions, except ncs_pairs_make() and
 * ncs_pairs_forget(): no lock, no allocation, no system call.
 */
#ifndef NCS_PLUGIN_CHAIN_HANDLE_PAIRS_H
#define NCS_PLUGIN_CHAIN_HANDLE_PAIRS_H

#include <stdbool.h>
#include <stdint.h>

/* Each class has a table of its own, so that frequent events do not evict pairs
 * that are needed for a long time. */
enum ncs_pair_class {
	/* Operations and API calls: stopped early, named as parents late. */
	NCS_PAIR_CALL,
	/* Proxy operations and kernels: many may be in progress. */
	NCS_PAIR_CHILD,
	/* Steps and their children: most frequent, and short; the table is
	 * small, so that it stays in the cache. */
	NCS_PAIR_STEP,
	/* Proxy control: very frequent, never a parent. */
	NCS_PAIR_CTRL,
	/* Captured API calls: parents at every replay. */
	NCS_PAIR_CAPTURED,
	/* Communicators: never evicted while open. */
	NCS_PAIR_CONTEXT,
	NCS_PAIR_CLASS_COUNT
};

struct ncs_pair {
	uint64_t ours;   /* our handle or context; 0 if none */
	uint64_t theirs; /* the chained plugin's; 0 if none */
	uint64_t facts;  /* stored for the caller */
};

/* Makes the tables; called once in each process. Numbers start at `cookie`,
 * which must differ between processes. Returns 0 or -errno. */
int ncs_pairs_make(uint64_t cookie);

/* For a forked child: forgets the parent's contexts. */
void ncs_pairs_forget(uint64_t cookie);

/* Stores a new pair, which is open, and returns its handle; 0 if there is no
 * room. */
uint64_t ncs_pairs_put(enum ncs_pair_class class, const struct ncs_pair *pair);

/* Looks up a pair. Returns false if the handle, which may be any value, leads
 * to none. */
bool ncs_pairs_get(uint64_t handle, struct ncs_pair *pair);

/* Return true if a value has the form of a pair's handle for an event, and for
 * a context. */
bool ncs_pairs_is_handle(uint64_t value);
bool ncs_pairs_is_context(uint64_t value);

/* Closes a pair whose event has ended, so that its place may be reused. Returns
 * false if it was closed before. */
bool ncs_pairs_close(uint64_t handle);

#endif
