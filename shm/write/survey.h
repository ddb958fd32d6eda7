/* SPDX-License-Identifier: MIT */
/* A look at the objects of a directory: how much memory they take, who holds
 * them, and removal of those that nobody holds.
 *
 * /dev/shm is small in a container, and NCCL needs it. So the objects of
 * processes that were killed must go, however they were killed and whatever PID
 * namespace they were in, and the latest crash must stay, because it can still
 * be read. The rules:
 *
 *  - An object is abandoned when no process holds it (shm/object.h). Only
 *    objects of this user are ever removed.
 *  - An abandoned object of the calling process itself is removed: the process
 *    has called exec(), and nobody else will use that name.
 *  - Any other is found once: the first process that finds it marks it, by the
 *    sticky bit of its mode, which also stores the time (ctime). A marked object
 *    is superseded, and removed, when an object that was created after that time
 *    (mtime) is abandoned, too: a later job has crashed. The objects of one job
 *    are all created before any of them is found, so that they stay together,
 *    also if its processes are killed and restarted one by one.
 *  - The objects that stay take at most the node's limit (below); the ones
 *    created first go first.
 *
 * The limit of a node is 1/16 of what is free on the file system, counting what
 * the objects take as free. Live objects stay within it, the latest crash within
 * as much again; the other 14/16 are NCCL's. Objects of other users, which may be
 * anything, count for at most half of the limit, so that no user can keep another
 * user's jobs from being seen.
 *
 * For the plugin's init only. Looks at a bounded number of files, so that
 * another user's files cannot delay a job. Errors are ignored.
 */
#ifndef NCS_SHM_WRITE_SURVEY_H
#define NCS_SHM_WRITE_SURVEY_H

#include <stdbool.h>
#include <stdint.h>

#include "shm/process.h"

/* Numbers of directory entries and of objects that are looked at. */
#define NCS_SURVEY_ENTRIES_MAX 8192u
#define NCS_SURVEY_OBJECTS_MAX 1024u

/* Part of the free memory that objects may take. */
#define NCS_SURVEY_SHARE 16u

struct ncs_survey {
	uint64_t limit_bytes;     /* the node's, for live objects */
	uint64_t held_bytes;      /* of objects that are or may be held; see above */
	uint64_t abandoned_bytes; /* of objects that are not, and have stayed */
	uint32_t processes;       /* number of this user's that hold some */
	uint32_t looked_at;       /* number of files */
	uint32_t removed;         /* number of files */
	bool complete;            /* every file was looked at */
};

/* Looks at the objects of `directory`. If `reap`, removes and marks as the rules
 * say; else an abandoned object that is not marked counts as held. `self` is the
 * calling process. */
void ncs_survey_take(struct ncs_survey *survey, const char *directory,
		     const struct ncs_process *self, bool reap);

#endif
