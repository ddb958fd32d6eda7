/* SPDX-License-Identifier: MIT */
/* Surviving a mapped file that is cut short; see guard.h. */
#include "shm/read/guard.h"

#include <errno.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/mman.h>

#include "ncclstat/reader.h"
#include "shm/atomics.h"

#define GUARDED_MAX 8192

/* All mappings of all threads. */
static struct {
	uint64_t start; /* address; 0: free, 1: being filled in */
	uint64_t bytes;
} guarded[GUARDED_MAX];
static struct sigaction previous_sigbus;

static bool put_zeros(uintptr_t address)
{
	for (size_t i = 0; i < GUARDED_MAX; i++) {
		/* ORDER: pairs with ncs_guard_add() (shm/read/guard.c): the length
		 * belongs to this start. */
		uint64_t start = ncs_load_acquire(&guarded[i].start);
		uint64_t bytes = ncs_load_relaxed(&guarded[i].bytes);

		if (start > 1 && address - start < bytes &&
		    mmap((void *)(uintptr_t)start, bytes,
			 PROT_READ | PROT_WRITE,
			 MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1,
			 0) != MAP_FAILED)
			return true;
	}
	return false;
}

/* Puts zeros in place of a mapping whose file has become too short. Runs in a
 * signal handler: mmap, sigaction and raise only. */
static void on_sigbus(int number, siginfo_t *info, void *context)
{
	int error = errno;

	(void)context;
	if (info->si_code <= 0) {
		/* Somebody sent it. */
		sigaction(number, &previous_sigbus, NULL);
		raise(number);
	} else if (!put_zeros((uintptr_t)info->si_addr)) {
		/* Not ours: it happens again, with its former effect. */
		sigaction(number, &previous_sigbus, NULL);
	}
	errno = error;
}

void ncs_reader_guard(void)
{
	struct sigaction action = { 0 }, previous;

	action.sa_sigaction = on_sigbus;
	action.sa_flags = SA_SIGINFO;
	if (sigaction(SIGBUS, NULL, &previous) != 0 ||
	    previous.sa_sigaction == on_sigbus)
		return;
	previous_sigbus = previous;
	sigaction(SIGBUS, &action, NULL);
}

void ncs_guard_add(const void *start, size_t bytes)
{
	for (size_t i = 0; i < GUARDED_MAX; i++) {
		/* ORDER: pairs with ncs_guard_remove() (shm/read/guard.c): a place
		 * is used again only when its mapping is out of it. */
		if (!ncs_cas_acquire_release(&guarded[i].start, 0, 1))
			continue;
		ncs_store_relaxed(&guarded[i].bytes, bytes);
		/* ORDER: pairs with put_zeros() (shm/read/guard.c): the length is
		 * there before the start. */
		ncs_store_release(&guarded[i].start, (uintptr_t)start);
		return;
	}
}

void ncs_guard_remove(const void *start)
{
	for (size_t i = 0; i < GUARDED_MAX; i++) {
		if (ncs_load_relaxed(&guarded[i].start) != (uintptr_t)start)
			continue;
		/* ORDER: pairs with ncs_guard_add() (shm/read/guard.c). */
		ncs_store_release(&guarded[i].start, 0);
		return;
	}
}
