/* SPDX-License-Identifier: MIT */
/* The program's ranges: each thread's stack of open ranges, and the numbers of
 * paths.
 *
 * A path is a sequence of names, from an outermost range to a range inside it.
 * Pushing a range stores only its name. A path gets a number when NCCL is first
 * called in it, so that a program which pushes a differently named range for
 * each tensor uses up no numbers. A path's number is the same in all
 * communicators and is never reused.
 *
 * The ranges belong to the process; events/range_stats.h has what each
 * communicator counts in them. Called by the program as often as it likes, and
 * by callbacks: no lock, no allocation, no system call.
 */
#ifndef NCS_PLUGIN_STATE_RANGE_STACK_H
#define NCS_PLUGIN_STATE_RANGE_STACK_H

#include <stdbool.h>
#include <stdint.h>
#include <wchar.h>

#include "ncclstat/abi.h"
#include "plugin/nccl/environment.h"
#include "plugin/state/registry.h"
#include "shm/atomics.h"

#define NCS_RANGE_NAME_WORDS (NCS_RANGE_NAME_BYTES / 8)
/* Ranges that are nested deeper count as the innermost one above. */
#define NCS_RANGE_DEPTH 64u

/* A name in UTF-8, padded with at least one zero byte. */
struct ncs_range_name {
	uint64_t words[NCS_RANGE_NAME_WORDS];
};

/* Set a name from text or from wide characters; NULL yields an empty name. Text
 * that is too long is cut. */
void ncs_range_name_set(struct ncs_range_name *name, const char *text);
void ncs_range_name_set_wide(struct ncs_range_name *name, const wchar_t *text);

/* Domains: a pop ends the innermost range of its domain. Values other than
 * these three are handles of NVTX domains. */
#define NCS_RANGE_DOMAIN_DEFAULT UINT64_C(0) /* NVTX's default domain */
#define NCS_RANGE_DOMAIN_OWN UINT64_C(1)     /* of ncclstat/range.h */
/* The domain of NCCL's own calls. These are not ranges of the program, but name
 * the call that NCCL splits into others. */
#define NCS_RANGE_DOMAIN_NCCL UINT64_C(2)

/* Returned if there is no range to pop; NVTX's number for that. */
#define NCS_RANGE_NONE_OPEN (-2)

/* Push and pop a range of the calling thread. Both return its level, from 0. */
int ncs_range_push(uint64_t domain, const struct ncs_range_name *name);
int ncs_range_pop(uint64_t domain);

/* Start and end a range of the process, which belongs to no thread. `*id`
 * identifies the range; if it is 0, it is set to a new id. Returns false if
 * there is no room to follow the range. */
bool ncs_range_start(const struct ncs_range_name *name, uint64_t *id);
void ncs_range_end(uint64_t id);

/* Returns false until the process has started or pushed its first range. */
static inline bool ncs_range_is_used(void)
{
	return ncs_load_relaxed(&ncs_registry.ranges_used) != 0;
}

/* The range of a call. */
struct ncs_range_place {
	uint32_t number; /* 0 if none */
	/* True if this is an outer range in place of the real one. */
	bool folded;
};

/* Returns the range that the calling thread is in. A thread that is in none,
 * such as autograd's threads, which run the backward pass for the main thread,
 * is given the range of the main thread, else the range of the process that was
 * started last. `function` is the name of NCCL's call, NULL if unknown: if NCCL
 * made this call as a part of one with another name, that name becomes an inner
 * range. */
struct ncs_range_place ncs_range_now(const char *function);

/* Returns the range of this name inside the range that the thread is in. */
struct ncs_range_place ncs_range_in_now(const struct ncs_range_name *name);

/* Return the number of the range around a range, 0 if it is outermost, and the
 * range's name. */
uint32_t ncs_range_parent(uint32_t number);
void ncs_range_name_get(uint32_t number, struct ncs_range_name *name);

/* Sets the greatest number; 0 turns ranges off. Call it before any callback. */
void ncs_range_set_limit(uint32_t limit);

/* For a forked child: forgets the stacks of all threads but the calling one. */
void ncs_range_forget_threads(void);

#endif
