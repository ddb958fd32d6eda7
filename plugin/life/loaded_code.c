/* SPDX-License-Identifier: MIT */
/* Code that communicates outside NCCL; see loaded_code.h. Must not load or call
 * any of it. */
#include "plugin/life/loaded_code.h"

#include <elf.h>
#include <link.h>
#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <string.h>
#include <time.h>

#include "ncclstat/abi_values.h"
#include "shm/atomics.h"

enum how { PATH, CALL };

static const struct {
	enum how how;
	const char *text;
} code[] = {
#define X(ID, name, help, how, text) { how, text },
	NCS_OUTSIDE_CODE(X)
#undef X
};

struct code_walk {
	uint64_t loads; /* how many libraries had ever been loaded */
	uint64_t found;
};

/* The latest walk that found a library more. */
static struct code_walk latest;

/* Held by a walk and by a fork. The kind says who does not hold it: a signal
 * handler that forks may have interrupted a walk. */
static pthread_mutex_t lock = PTHREAD_ERRORCHECK_MUTEX_INITIALIZER_NP;

/* A fork waits for a walk so long at most: a thread that forks during a walk of
 * its own keeps ours waiting. */
#define FORK_WAIT_S 1

/* Returns a pointer of a dynamic section, to which the loader adds the library's
 * address where it may write. */
static const void *pointer(const struct dl_phdr_info *library,
			   ElfW(Addr) address)
{
	if (address < library->dlpi_addr)
		address += library->dlpi_addr;
	return (const void *)address; // NOLINT(performance-no-int-to-ptr)
}

static uint64_t call_of(const char *function)
{
	for (unsigned i = 0; i < NCS_OUTSIDE_CODE_COUNT; i++)
		if (code[i].how == CALL && strcmp(function, code[i].text) == 0)
			return UINT64_C(1) << i;
	return 0;
}

/* A library's dynamic section, by tag; 0: nothing. */
struct section {
	const struct dl_phdr_info *library;
	ElfW(Xword) values[DT_NUM];
	ElfW(Xword) bound_to_none; /* so many of DT_RELA's first entries */
};

static void read_section(struct section *section, const ElfW(Dyn) *entry)
{
	for (; entry->d_tag != DT_NULL; entry++)
		if (entry->d_tag > 0 && entry->d_tag < DT_NUM)
			section->values[entry->d_tag] = entry->d_un.d_val;
		else if (entry->d_tag == DT_RELACOUNT)
			section->bound_to_none = entry->d_un.d_val;
}

/* Finds the functions that a library refers to and does not have, in entries of
 * a table of `bytes` that the loader binds to them. */
static uint64_t calls_in(const struct section *section, int table, int bytes,
			 size_t first)
{
	const ElfW(Xword) *values = section->values;
	const ElfW(Rela) *entries = pointer(section->library, values[table]);
	const ElfW(Sym) *symbols =
		pointer(section->library, values[DT_SYMTAB]);
	const char *names = pointer(section->library, values[DT_STRTAB]);
	uint64_t found = 0;

	if (!values[table] || !values[DT_SYMTAB] || !values[DT_STRTAB])
		return 0;
	for (size_t i = first; i < values[bytes] / sizeof(*entries); i++) {
		const ElfW(Sym) *symbol =
			&symbols[ELF64_R_SYM(entries[i].r_info)];

		if (symbol->st_shndx == SHN_UNDEF)
			found |= call_of(names + symbol->st_name);
	}
	return found;
}

static uint64_t code_of(const struct dl_phdr_info *library)
{
	const char *name = strrchr(library->dlpi_name, '/');
	struct section section = { .library = library };
	uint64_t found = 0;

	if (name && strncmp(name, "/libtorch", strlen("/libtorch")) == 0)
		return 0;
	for (unsigned i = 0; i < NCS_OUTSIDE_CODE_COUNT; i++)
		if (code[i].how == PATH &&
		    strstr(library->dlpi_name, code[i].text))
			found |= UINT64_C(1) << i;
	for (unsigned i = 0; i < library->dlpi_phnum; i++) {
		const ElfW(Phdr) *part = &library->dlpi_phdr[i];

		if (part->p_type == PT_DYNAMIC)
			read_section(&section,
				     pointer(library, part->p_vaddr));
	}
	/* Functions that are bound when they are called first, and others. */
	return found | calls_in(&section, DT_JMPREL, DT_PLTRELSZ, 0) |
	       calls_in(&section, DT_RELA, DT_RELASZ, section.bound_to_none);
}

/* Returns 1 to end the walk: nothing was loaded since the latest one. */
static int look(struct dl_phdr_info *library, size_t bytes, void *argument)
{
	struct code_walk *walk = argument;

	(void)bytes;
	if (library->dlpi_adds == latest.loads)
		return 1;
	walk->loads = library->dlpi_adds;
	walk->found |= code_of(library);
	return 0;
}

uint64_t ncs_loaded_code(void)
{
	struct code_walk walk = { 0 };

	/* A thread that forks may have other locks that the caller holds. */
	if (pthread_mutex_trylock(&lock) == 0) {
		if (dl_iterate_phdr(look, &walk) == 0) {
			latest.loads = walk.loads;
			ncs_store_relaxed(&latest.found, walk.found);
		}
		pthread_mutex_unlock(&lock);
	}
	return ncs_load_relaxed(&latest.found);
}

/* Whether the calling thread's fork holds the lock: if a walk of the same thread does,
 * it stays that walk's. */
static _Thread_local bool fork_holds;

void ncs_loaded_code_before_fork(void)
{
	struct timespec end;

	clock_gettime(CLOCK_REALTIME, &end);
	end.tv_sec += FORK_WAIT_S;
	fork_holds = pthread_mutex_timedlock(&lock, &end) == 0;
}

void ncs_loaded_code_after_fork(void)
{
	if (fork_holds)
		pthread_mutex_unlock(&lock);
	fork_holds = false;
}

void ncs_loaded_code_forget(void)
{
	fork_holds = false;
	lock = (pthread_mutex_t)PTHREAD_ERRORCHECK_MUTEX_INITIALIZER_NP;
}
