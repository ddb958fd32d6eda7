/* SPDX-License-Identifier: MIT */
/* Removes the segments and control objects that dead processes left behind. */
#ifndef NCS_SHM_READ_CLEAN_H
#define NCS_SHM_READ_CLEAN_H

#include <stdbool.h>
#include <stdint.h>

/* The segments that stay: the latest ones. */
struct ncs_clean_limits {
	uint64_t age_ns; /* since their processes were last known to live */
	uint64_t bytes;	 /* that they take together, at most */
};

/* A file that a dead process left. */
struct ncs_left {
	const char *path;
	uint64_t bytes;	   /* that it takes */
	uint64_t alive_ns; /* when its process was last known to live, since
			    * 1970; 0: unknown, or of a control object */
	bool is_finished;  /* the communicator was finalized */
	bool is_kept;
	int error; /* 0, or -errno: it could not be removed */
};

/* Removes from `directory` the segments and control objects that no process
 * holds (shm/object.h) and that belong to the caller, or to anybody if the
 * caller is root. Segments within the limits stay, unless these are NULL, or the
 * communicator was finalized: only others are evidence of how a job ended. Calls
 * `told`, unless NULL, for each such file, segments first, the latest of them
 * first. Returns the number of files removed, or -errno if the directory cannot be
 * read. */
int ncs_clean(const char *directory, const struct ncs_clean_limits *limits,
	      void (*told)(const struct ncs_left *left, void *argument),
	      void *argument);

#endif
