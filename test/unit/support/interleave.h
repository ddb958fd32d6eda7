/* SPDX-License-Identifier: MIT */
/* Interleaving of a reader and a writer, deterministically and in one thread:
 * the reader is preempted at any of its loads by a writer that is stopped after
 * any of its stores.
 *
 * Include it before the header under test, whose text is then compiled with
 * loads and stores that count. A test tries all pairs of numbers. This covers
 * every execution with one preemption on a sequentially consistent machine;
 * those of weaker machines are in test/model/ring_model.py.
 */
#ifndef NCS_TEST_UNIT_SUPPORT_INTERLEAVE_H
#define NCS_TEST_UNIT_SUPPORT_INTERLEAVE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "shm/atomics.h"

static struct {
	unsigned long loads_left; /* until the writer runs */
	void (*writer)(void);     /* NULL if nothing preempts */
	bool in_writer;
	unsigned long stores_left; /* later stores are lost */
} interleave;

/* Makes `writer` run before the reader's load number `load`, from 0, and
 * perform `stores` stores. */
static inline void interleave_arm(void (*writer)(void), unsigned long load,
				  unsigned long stores)
{
	interleave.writer = writer;
	interleave.loads_left = load;
	interleave.stores_left = stores;
}

/* Stops preempting the reader. */
static inline void interleave_disarm(void)
{
	interleave.writer = NULL;
	interleave.stores_left = 0;
}

/* Counts a load of the reader, and runs the writer before the chosen one. */
static inline void interleave_before_load(void)
{
	if (!interleave.writer || interleave.in_writer ||
	    interleave.loads_left-- > 0)
		return;
	interleave.in_writer = true;
	interleave.writer();
	interleave.in_writer = false;
	interleave.writer = NULL;
}

/* Counts a store of the writer. Returns false if it is lost. */
static inline bool interleave_may_store(void)
{
	if (!interleave.in_writer)
		return true;
	if (interleave.stores_left == 0)
		return false;
	interleave.stores_left--;
	return true;
}

/* Loads, after running the writer if it is due. */
static inline uint64_t interleave_load(const uint64_t *word)
{
	interleave_before_load();
	return ncs_load_relaxed(word);
}

/* Stores, if the writer has not been stopped yet. */
static inline void interleave_store(uint64_t *word, uint64_t value)
{
	if (interleave_may_store())
		ncs_store_relaxed(word, value);
}

#define ncs_load_relaxed interleave_load
#define ncs_load_acquire interleave_load
#define ncs_payload_load interleave_load
#define ncs_store_relaxed interleave_store
#define ncs_store_release interleave_store
#define ncs_payload_store interleave_store

#endif
