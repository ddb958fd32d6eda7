/* SPDX-License-Identifier: MIT */
/* Ranges of a program: what it does, by name, for ncclstat to say which NCCL
 * calls are made in which phase, and what they take.
 *
 *	ncclstat_range_push("backward");
 *	...
 *	ncclstat_range_pop();
 *
 * Programs include this header and link nothing. The calls go to the profiler
 * plugin (ncclstat-plugin(7)) if NCCL_PROFILER_PLUGIN names it; else they do
 * nothing. The first one finds that out and may load the plugin; the others
 * take some nanoseconds, lock nothing and allocate nothing. They may be made by
 * any thread, before NCCL is used and after. With glibc before 2.34 link with
 * -ldl. For C11 and C++, with GCC or Clang.
 */
#ifndef NCCLSTAT_RANGE_H
#define NCCLSTAT_RANGE_H

#include <dlfcn.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#ifdef __cplusplus
extern "C" {
#endif

/* What the plugin exports under the same names. */
struct ncclstat_range_calls {
	int (*push)(const char *name);
	int (*pop)(void);
	uint64_t (*start)(const char *name);
	void (*end)(uint64_t range);
	void (*mark)(const char *name);
};

/* NULL until the first call. One a program, however many of its files include
 * this. */
__attribute__((weak, visibility("hidden")))
const struct ncclstat_range_calls *ncclstat_range_found;

/* ISO C has no conversion from what dlsym() returns to a function. */
static inline int ncclstat_range_symbol(void *library, const char *name,
					void *call)
{
	void *symbol = dlsym(library, name);

	memcpy(call, &symbol, sizeof(symbol));
	return symbol != NULL;
}

/* Finds the plugin, by the name that NCCL is told. The dynamic linker has one
 * copy of it for both. Threads that are here at once find the same. */
static inline const struct ncclstat_range_calls *ncclstat_range_find(void)
{
	static const struct ncclstat_range_calls none = { 0, 0, 0, 0, 0 };
	static struct ncclstat_range_calls calls;
	const struct ncclstat_range_calls *found = &none;
	struct ncclstat_range_calls here;
	const char *name = getenv("NCCL_PROFILER_PLUGIN");
	void *library = NULL;

	if (name && strcmp(name, "ncclstat") == 0)
		name = "libnccl-profiler-ncclstat.so";
	if (name && strstr(name, "ncclstat"))
		library = dlopen(name, RTLD_NOW | RTLD_LOCAL);
	if (library &&
	    ncclstat_range_symbol(library, "ncclstat_range_push", &here.push) &&
	    ncclstat_range_symbol(library, "ncclstat_range_pop", &here.pop) &&
	    ncclstat_range_symbol(library, "ncclstat_range_start",
				  &here.start) &&
	    ncclstat_range_symbol(library, "ncclstat_range_end", &here.end) &&
	    ncclstat_range_symbol(library, "ncclstat_range_mark", &here.mark)) {
		__atomic_store_n(&calls.push, here.push, __ATOMIC_RELAXED);
		__atomic_store_n(&calls.pop, here.pop, __ATOMIC_RELAXED);
		__atomic_store_n(&calls.start, here.start, __ATOMIC_RELAXED);
		__atomic_store_n(&calls.end, here.end, __ATOMIC_RELAXED);
		__atomic_store_n(&calls.mark, here.mark, __ATOMIC_RELAXED);
		found = &calls;
	}
	__atomic_store_n(&ncclstat_range_found, found, __ATOMIC_RELEASE);
	return found;
}

static inline const struct ncclstat_range_calls *ncclstat_range_get(void)
{
	const struct ncclstat_range_calls *found =
		__atomic_load_n(&ncclstat_range_found, __ATOMIC_ACQUIRE);

	return found ? found : ncclstat_range_find();
}

/* The calling thread enters a range; ranges nest to any depth. The name is
 * UTF-8, copied, and cut after 79 bytes. Returns the range's level, from 0;
 * negative: nobody looks. */
static inline int ncclstat_range_push(const char *name)
{
	const struct ncclstat_range_calls *calls = ncclstat_range_get();

	return calls->push ? calls->push(name) : -1;
}

/* The calling thread leaves the innermost range that it has pushed. Returns
 * its level; negative: there was none, or nobody looks. */
static inline int ncclstat_range_pop(void)
{
	const struct ncclstat_range_calls *calls = ncclstat_range_get();

	return calls->pop ? calls->pop() : -1;
}

/* A range of the process, which any thread may end: what NCCL calls are in that
 * are in no range of a thread. Returns what to end it with; 0: nobody looks. */
static inline uint64_t ncclstat_range_start(const char *name)
{
	const struct ncclstat_range_calls *calls = ncclstat_range_get();

	return calls->start ? calls->start(name) : 0;
}

/* Ends it. What was not started, or has been ended, is ignored. */
static inline void ncclstat_range_end(uint64_t range)
{
	const struct ncclstat_range_calls *calls = ncclstat_range_get();

	if (calls->end)
		calls->end(range);
}

/* Something has happened at this moment: a record, in the range that the thread
 * is in. */
static inline void ncclstat_range_mark(const char *name)
{
	const struct ncclstat_range_calls *calls = ncclstat_range_get();

	if (calls->mark)
		calls->mark(name);
}

#ifdef __cplusplus
}
#endif

#endif
