/* SPDX-License-Identifier: MIT */
/* Removes the segments and control objects that dead processes left behind. */
#ifndef NCS_SHM_READ_CLEAN_H
#define NCS_SHM_READ_CLEAN_H

/* Removes from `directory` the segments and control objects that no process
 * holds (shm/object.h) and that belong to the caller, or to anybody if the
 * caller is root. The latest crash goes, too. Calls `removed`, unless NULL, for
 * each such file, with error 0 if it was removed, else -errno. Returns the
 * number of files removed, or -errno if the directory cannot be read. */
int ncs_clean(const char *directory,
	      void (*removed)(const char *path, int error, void *argument),
	      void *argument);

#endif
