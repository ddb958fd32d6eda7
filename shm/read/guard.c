/* SPDX-License-Identifier: MIT */
/* Replaces mappings of truncated files by zeros; see guard.h. */
#include "shm/read/guard.h"

#include <errno.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/mman.h>

#include "ncclstat/reader.h"
#include "shm/atomics.h"

#define GUARDED_MAX 8192

/* The guarded mappings of all threads. */
static struct {
	uint64_t start; /* address; 0: entry is free, 1: being filled in */
	uint64_t bytes;
} guarded[GUARDED_MAX];
static struct sigaction previous_sigbus;

/* Replaces the guarded mapping that contains the address by zeros. Returns
 * false if there is none. */
static bool put_zeros(uintptr_t address)
{
	for (size_t i = 0; i < GUARDED_MAX; i++) {
		/* ORDER: pairs with ncs_guard_add() (shm/read/guard.c): the
		 * length is that of this start. */
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

/* Handles SIGBUS. As a signal handler it calls mmap, sigaction and raise
 * only. */
static void on_sigbus(int number, siginfo_t *info, void *context)
{
	int error = errno;

	(void)context;
	if (info->si_code <= 0) {
		/* A process sent it. */
		sigaction(number, &previous_sigbus, NULL);
		raise(number);
	} else if (!put_zeros((uintptr_t)info->si_addr)) {
		/* Not a guarded mapping: the access is repeated, with the
		 * previous handler in place. */
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
		/* ORDER: pairs with ncs_guard_remove() (shm/read/guard.c): an
		 * entry is reused only after its mapping was removed. */
		if (!ncs_cas_acquire_release(&guarded[i].start, 0, 1))
			continue;
		ncs_store_relaxed(&guarded[i].bytes, bytes);
		/* ORDER: pairs with put_zeros() (shm/read/guard.c): the length
		 * is stored before the start. */
		ncs_store_release(&guarded[i].start, (uintptr_t)start);
		return;
	}
}

void ncs_guard_remove(const void *start)
{
	for (size_t i = 0; i < GUARDED_MAX; i++) {
		if (ncs_load_relaxed(&guarded[i].start) != (uintptr_t)start)
			continue;
		/* ORDER: pairs with ncs_guard_add() (shm/read/guard.c): no use
		 * of the entry for this mapping follows. */
		ncs_store_release(&guarded[i].start, 0);
		return;
	}
}
