/* SPDX-License-Identifier: MIT */
/* fstatat(2) for code that goes into training processes.
 *
 * C libraries before 2.33 have no function of this name, only one that the
 * headers of their time call. The plugin must be built on a new system and
 * load on an old one, so it asks the kernel itself where struct stat is the
 * kernel's own.
 */
#ifndef NCS_SHM_FILE_STATUS_H
#define NCS_SHM_FILE_STATUS_H

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

/* Like fstatat(). Any thread. */
static inline int ncs_file_status(int directory, const char *path,
				  struct stat *status, int flags)
{
#if (defined(__x86_64__) || defined(__aarch64__)) && defined(__LP64__)
	return (int)syscall(SYS_newfstatat, directory, path, status, flags);
#else
	return fstatat(directory, path, status, flags);
#endif
}

/* Like fstat(). Any thread. */
static inline int ncs_open_file_status(int file, struct stat *status)
{
	return ncs_file_status(file, "", status, AT_EMPTY_PATH);
}

#endif
