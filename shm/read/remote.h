/* SPDX-License-Identifier: MIT */
/* A control object as opened by a viewer: found, validated, mapped.
 *
 * The only writable mapping of the reader's half: one page, apart from all
 * segments. How to change its words is in shm/control.h. A control object is
 * hostile input like a segment; if it is cut short, a program that has called
 * ncs_reader_guard() survives. Any thread may use a handle, and different
 * threads at a time.
 */
#ifndef NCS_SHM_READ_REMOTE_H
#define NCS_SHM_READ_REMOTE_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#include "ncclstat/attach_result.h"
#include "ncclstat/control_object.h"
#include "shm/process.h"

struct ncs_remote;

/* Maps a control object for reading and writing. On NCS_ATTACHED *remote is
 * set, to be closed with ncs_remote_close(); otherwise it is NULL and `why`
 * (may be NULL) gets the reason, one clause for users. */
enum ncs_attach ncs_remote_open(const char *path, struct ncs_remote **remote,
				char *why, size_t why_size);

/* Same as ncs_remote_open() for the control object of a process whose segments
 * belong to the user `owner`; of several, the one that
 * ncclstat/control_object.h says. `directory` is that of ncs_directory(); where
 * it is the default, containers are looked into as well. Returns
 * NCS_ATTACH_ABSENT if the process has no control object. */
enum ncs_attach ncs_remote_find(const char *directory,
				const struct ncs_process *process, uid_t owner,
				struct ncs_remote **remote, char *why,
				size_t why_size);

/* Unmaps the object and releases the handle; NULL is allowed. */
void ncs_remote_close(struct ncs_remote *remote);

/* Returns the mapped object, to be used with shm/control.h only. Valid until
 * closed. */
struct ncs_control *ncs_remote_control(const struct ncs_remote *remote);

/* Return the process that made the object and the user that owns its file, as
 * found when it was opened. */
const struct ncs_process *ncs_remote_process(const struct ncs_remote *remote);
uid_t ncs_remote_owner(const struct ncs_remote *remote);

#endif
