/* SPDX-License-Identifier: MIT */
/* Telling threads apart by their pthread_self(), in a table that is never
 * cleared.
 *
 * A thread that gets the stack of a dead one has the same pthread_self() and so
 * inherits its place, which keeps short-lived threads from using up all places.
 * Called by callbacks: no lock, no system call.
 */
#ifndef NCS_PLUGIN_STATE_THREADS_H
#define NCS_PLUGIN_STATE_THREADS_H

#include <pthread.h>
#include <stdint.h>

#include "shm/atomics.h"

/* Returns the calling thread's place in a table of `count` places, and claims
 * one at first use; `count` if all are taken. */
static inline uint32_t ncs_thread_place(uint64_t *threads, uint32_t count)
{
	uint64_t self = (uint64_t)pthread_self();

	for (uint32_t i = 0; i < count; i++) {
		uint64_t found = ncs_load_relaxed(&threads[i]);

		/* ORDER: pairs with ncs_thread_place()
		 * (plugin/state/threads.h): only one of two threads gets the
		 * place. */
		if (found == 0 && ncs_cas_acquire_release(&threads[i], 0, self))
			return i;
		if (ncs_load_relaxed(&threads[i]) == self)
			return i;
	}
	return count;
}

#endif
