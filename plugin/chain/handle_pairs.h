/* SPDX-License-Identifier: MIT */
/* Two plugins behind one handle: what NCCL gets for an event, or as context,
 * when another plugin is chained to ours (chain.h).
 *
 * NCCL keeps one word. Here that word is a number which leads to the pair of
 * words that the two plugins gave. Children may name a parent that was stopped
 * long ago, so a pair outlives its event: the oldest are used again first, and
 * those under way last of all. A number that comes back too late, or was never
 * given, finds nothing.
 *
 *   bits  0- 3  kind (NCS_HANDLE_PAIR)    bits 10-12  class
 *   bits  4- 9  communicator              bits 13-63  number in the class
 *
 * Any thread but for ncs_pairs_make() and ncs_pairs_forget(). The rest runs in
 * callbacks: no lock, no allocation, no system call.
 */
#ifndef NCS_PLUGIN_CHAIN_HANDLE_PAIRS_H
#define NCS_PLUGIN_CHAIN_HANDLE_PAIRS_H

#include <stdbool.h>
#include <stdint.h>

/* Each has a place of its own, so that what comes often does not drive out what
 * is needed long. */
enum ncs_pair_class {
	NCS_PAIR_CALL,     /* operations and API calls: stopped early, named
			      as parents late */
	NCS_PAIR_PART,     /* proxy operations, kernels: many may wait */
	NCS_PAIR_STEP,     /* steps and what is beneath them: most of all, and
			      short; few places, which stay in the cache */
	NCS_PAIR_CTRL,     /* proxy control: floods, never a parent */
	NCS_PAIR_CAPTURED, /* API calls under graph capture: parents at every
			      replay */
	NCS_PAIR_CONTEXT,  /* communicators: never driven out while open */
	NCS_PAIR_CLASS_COUNT
};

struct ncs_pair {
	uint64_t ours;
	uint64_t theirs;
	uint64_t facts; /* the caller's */
};

/* Makes the tables, once a process. `cookie` is where numbers begin: another
 * process must have another. Returns 0 or -errno. */
int ncs_pairs_make(uint64_t cookie);

/* In a forked child: the parent's contexts are none of its own. */
void ncs_pairs_forget(uint64_t cookie);

/* The handle of a new pair, which is open; 0: there is no room. */
uint64_t ncs_pairs_put(enum ncs_pair_class class, const struct ncs_pair *pair);

/* False if the value is not the handle of a pair that is still there. */
bool ncs_pairs_get(uint64_t handle, struct ncs_pair *pair);

bool ncs_pairs_is_handle(uint64_t value);
bool ncs_pairs_is_context(uint64_t value);

/* The event is over: its place may be used again when its turn comes. False if
 * it was closed already. */
bool ncs_pairs_close(uint64_t handle);

#endif
