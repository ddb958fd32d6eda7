/* SPDX-License-Identifier: MIT */
/* Named ranges of a program, e.g. "forward" and "backward": ncclstat reports
 * NCCL's calls and their times by range.
 *
 * 	ncclstat_range_push("backward");
 * 	...
 * 	ncclstat_range_pop();
 *
 * Programs include this header and link nothing, except -ldl with glibc before
 * 2.34. It is for C11 and C++, with GCC or Clang.
 *
 * The functions call the profiler plugin (ncclstat-plugin(7)) if the
 * environment variable NCCL_PROFILER_PLUGIN names it; otherwise they do
 * nothing. The first call finds the plugin, which may load it; later calls take
 * some nanoseconds and neither lock nor allocate. Any thread may call them at
 * any time, also before the first and after the last use of NCCL. No function
 * fails: without the plugin they return the values stated below.
 *
 * Names are UTF-8. They are copied, and truncated to 79 bytes.
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

/* The plugin's functions; all NULL without the plugin. Private to this header,
 * as are the three functions below. */
struct ncclstat_range_calls {
	int (*push)(const char *name);
	int (*pop)(void);
	uint64_t (*start)(const char *name);
	void (*end)(uint64_t range);
	void (*mark)(const char *name);
};

/* The functions found; NULL until the first call. Being weak, it exists once in
 * a program or library, however many of its files include this header. */
__attribute__((weak, visibility("hidden")))
const struct ncclstat_range_calls *ncclstat_range_found;

/* Stores the function of this name in *call. Returns 0 if there is none. ISO C
 * does not convert the object pointer of dlsym() to a function pointer. */
static inline int ncclstat_range_symbol(void *library, const char *name,
					void *call)
{
	void *symbol = dlsym(library, name);

	memcpy(call, &symbol, sizeof(symbol));
	return symbol != NULL;
}

/* Finds the plugin by the name that NCCL uses, so that the dynamic linker
 * returns NCCL's copy. Threads that call it at the same time find the same
 * functions. */
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

/* Returns the functions to call, after finding them if necessary. */
static inline const struct ncclstat_range_calls *ncclstat_range_get(void)
{
	const struct ncclstat_range_calls *found =
		__atomic_load_n(&ncclstat_range_found, __ATOMIC_ACQUIRE);

	return found ? found : ncclstat_range_find();
}

/* Enters a range of the calling thread. Ranges nest to any depth. Returns the
 * range's level, 0 for the outermost one, or a negative number without the
 * plugin. */
static inline int ncclstat_range_push(const char *name)
{
	const struct ncclstat_range_calls *calls = ncclstat_range_get();

	return calls->push ? calls->push(name) : -1;
}

/* Leaves the innermost range that the calling thread has pushed. Returns its
 * level, or a negative number if there was none or without the plugin. */
static inline int ncclstat_range_pop(void)
{
	const struct ncclstat_range_calls *calls = ncclstat_range_get();

	return calls->pop ? calls->pop() : -1;
}

/* Starts a range of the process, which any thread may end. It contains the NCCL
 * calls of all threads that are in no range of their own. Returns the handle for
 * ncclstat_range_end(), or 0 without the plugin. */
static inline uint64_t ncclstat_range_start(const char *name)
{
	const struct ncclstat_range_calls *calls = ncclstat_range_get();

	return calls->start ? calls->start(name) : 0;
}

/* Ends a range of the process. A handle that was not returned by
 * ncclstat_range_start() or has been ended is ignored. */
static inline void ncclstat_range_end(uint64_t range)
{
	const struct ncclstat_range_calls *calls = ncclstat_range_get();

	if (calls->end)
		calls->end(range);
}

/* Marks the current time by a record of this name, in the calling thread's
 * current range. */
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
