/* SPDX-License-Identifier: MIT */
/* Finds NCCL in files: the version of a library, a program into which NCCL was
 * linked, and the libraries that a program started here would use. Files are not
 * trusted. Opens files for reading only.
 */
#ifndef NCS_SHM_READ_NCCL_LIBRARY_H
#define NCS_SHM_READ_NCCL_LIBRARY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The first release with profiler plugins, as a version below. */
#define NCS_FIRST_NCCL (2u << 16 | 23u << 8)

/* Finds NCCL's version in the bytes of its library, where it stands as "NCCL
 * version 2.28.9+cuda12.9": major << 16 | minor << 8 | patch. Returns 0 if it
 * does not. */
uint32_t ncs_nccl_version_in(const char *bytes, size_t size);

/* Does so for an open file; for a file with a path, that it has. */
uint32_t ncs_nccl_version_of(int file);
uint32_t ncs_nccl_version_at(const char *path);

/* Whether an open file is a program or library of this machine's kind whose
 * symbols have NCCL's functions. */
bool ncs_nccl_is_linked_into(int file);

/* Calls back with the path of each libnccl.so.2 that a program started here may
 * load: of the loader's path, then of the packages of each python3 in $PATH. */
void ncs_nccl_libraries(void (*on_found)(const char *path, void *argument),
			void *argument);

#endif
