/* SPDX-License-Identifier: MIT */
/* The program's ranges: which ones a thread is in, and the numbers of paths.
 *
 * Each thread has a stack of the ranges that it has pushed, by name. A name is
 * looked up only when NCCL is called in the range: programs that push a range
 * with a name of its own for each tensor use up no room for that. A path, from
 * the outermost range to one in it, gets a number then, which is the same in
 * all communicators and never another path's.
 *
 * Called by the program at any rate, and by callbacks: no lock, no allocation,
 * no system call. Of the process, not of a communicator (range_stats.h).
 */
#ifndef NCS_PLUGIN_STATE_RANGE_STACK_H
#define NCS_PLUGIN_STATE_RANGE_STACK_H

#include <stdbool.h>
#include <stdint.h>
#include <wchar.h>

#include "ncclstat/abi.h"
#include "plugin/nccl/environment.h"

#define NCS_RANGE_NAME_WORDS (NCS_RANGE_NAME_BYTES / 8)
#define NCS_RANGE_DEPTH 64u /* what is deeper counts as what is around it */

/* Padded with zeros, of which there is at least one. */
struct ncs_range_name {
	uint64_t words[NCS_RANGE_NAME_WORDS];
};

/* Cuts what is too long. NULL: an empty name. */
void ncs_range_name_set(struct ncs_range_name *name, const char *text);
/* … to UTF-8. */
void ncs_range_name_set_wide(struct ncs_range_name *name, const wchar_t *text);

/* A pop ends the innermost range of its own domain. Any value but these is a
 * domain of NVTX's. */
#define NCS_RANGE_DOMAIN_DEFAULT UINT64_C(0) /* NVTX's */
#define NCS_RANGE_DOMAIN_OWN UINT64_C(1)     /* ncclstat/range.h's */
/* NCCL's own calls: no ranges of the program, but they name what the profiler
 * takes apart. */
#define NCS_RANGE_DOMAIN_NCCL UINT64_C(2)

/* Nothing to pop: NVTX's number for it. */
#define NCS_RANGE_NONE_OPEN (-2)

/* Both return the range's level, from 0. */
int ncs_range_push(uint64_t domain, const struct ncs_range_name *name);
int ncs_range_pop(uint64_t domain);

/* Ranges of the process, not of a thread. `*id` is what to end it with; 0: one
 * is given out. False: it cannot be followed, for want of room. */
bool ncs_range_start(const struct ncs_range_name *name, uint64_t *id);
void ncs_range_end(uint64_t id);

/* False until the first range of the process. */
bool ncs_range_is_used(void);

/* The range that the calling thread is in; see ncs_range_now(). */
struct ncs_range_place {
	uint32_t number; /* 0: none */
	bool folded;     /* it is deeper in, or has no number of its own */
};

/* That of the thread; for one that has none, as autograd's threads that run
 * the backward pass for the main thread: that of the main thread, else the
 * process's latest. `function` is what NCCL says that is called, for what it
 * takes apart; NULL: not to be named. */
struct ncs_range_place ncs_range_now(const char *function);

/* The range of this name in the one that the thread is in. */
struct ncs_range_place ncs_range_in_now(const struct ncs_range_name *name);

/* Of a number that was given out: the range around it, 0: none; its name. */
uint32_t ncs_range_parent(uint32_t number);
void ncs_range_name_get(uint32_t number, struct ncs_range_name *name);

/* How many numbers there are, at most; before any callback. */
void ncs_range_set_limit(uint32_t limit);

/* In a forked child: only the calling thread is left. */
void ncs_range_forget_threads(void);

#endif
