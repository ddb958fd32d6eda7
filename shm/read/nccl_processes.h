/* SPDX-License-Identifier: MIT */
/* Finds the processes that have NCCL in them, how the plugin stands there, and the
 * libraries of NCCL that there are.
 *
 * It tells from the libraries that a process has mapped, the symbols of its
 * program, and the environment that it was started with, as far as this user may
 * read them: what a program has set later is not seen. Reads /proc only.
 * Processes are not trusted. One thread at a time.
 */
#ifndef NCS_SHM_READ_NCCL_PROCESSES_H
#define NCS_SHM_READ_NCCL_PROCESSES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "ncclstat/tables/plugin_presence.def"

#define NCS_UNREADABLE_USERS_MAX 8

enum ncs_plugin_presence {
#define X(ID, name, help) NCS_PRESENCE_##ID,
	NCS_PLUGIN_PRESENCES(X)
#undef X
		NCS_PRESENCE_COUNT
};

struct ncs_nccl_process {
	uint32_t pid; /* as numbered here */
	uid_t uid;
	/* NCCL's version, major << 16 | minor << 8 | patch; 0: not known. */
	uint32_t nccl_version;
	enum ncs_plugin_presence presence;
	bool is_linked; /* NCCL was linked into the program */
	/* Command line, blanks between; not cleaned; NULL: no memory. */
	char *command;
	char detail[256];  /* the other plugin or directory; "" if none */
};

struct ncs_nccl_processes {
	struct ncs_nccl_process *all;
	size_t count;
	size_t capacity;
	/* Processes that this user may not look into, by their user, those of
	 * the last for all others, too; the first without any ends them. */
	struct {
		uid_t uid;
		uint64_t count;
	} unreadable[NCS_UNREADABLE_USERS_MAX];
};

/* Lists the processes with NCCL in them, by their number. `directory` is the one
 * that is looked at for segments; NULL for the default. Presence is told from
 * what the process is like: the caller, who knows the segments, tells which of
 * them publish by ncs_nccl_process_publishes(). Returns 0 or -errno. The caller
 * releases the list in either case. */
int ncs_nccl_processes_list(struct ncs_nccl_processes *processes,
			    const char *directory);

/* Notes that there is a segment of a process. */
void ncs_nccl_process_publishes(struct ncs_nccl_processes *processes,
				uint32_t pid);

/* Frees the list; *processes is empty afterwards. */
void ncs_nccl_processes_release(struct ncs_nccl_processes *processes);

/* --- Libraries ------------------------------------------------------------- */

/* The first release with profiler plugins, as a version below. */
#define NCS_FIRST_NCCL (2u << 16 | 23u << 8)

/* Finds NCCL's version in the bytes of its library, where it stands as "NCCL
 * version 2.28.9+cuda12.9": major << 16 | minor << 8 | patch. Returns 0 if it
 * does not. */
uint32_t ncs_nccl_version_in(const char *bytes, size_t size);

/* Does so for a file with a path. */
uint32_t ncs_nccl_version_at(const char *path);

/* Calls back with the path of each libnccl.so.2 that a program started here may
 * load: of the loader's path, then of the packages of each python3 in $PATH. */
void ncs_nccl_libraries(void (*on_found)(const char *path, void *argument),
			void *argument);

#endif
