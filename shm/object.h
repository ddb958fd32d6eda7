/* SPDX-License-Identifier: MIT */
/* Files of segments and control objects: their names, their file systems, and
 * whether a process holds them.
 *
 * A process holds an object while it has it open for writing or mapped
 * writable. The kernel counts that for each file, whatever PID namespace the
 * process is in, until its last mapping is gone: when it ends in whatever way,
 * or calls exec(). No process has to do anything for it, and no descriptor
 * stays open. fcntl(F_SETLEASE) reads the count: a read lease is refused while
 * anybody has the file open for writing. Viewers open segments for reading
 * only, so they hold none; a viewer that changes the detail of a process holds
 * its control object.
 *
 * Shared by the writer's and the reader's half. System calls, no state; any
 * thread may call these functions.
 */
#ifndef NCS_SHM_OBJECT_H
#define NCS_SHM_OBJECT_H

#include <stdbool.h>
#include <stdint.h>

#include "shm/process.h"

enum ncs_object_kind {
	NCS_OBJECT_NONE, /* the name is no object's */
	NCS_OBJECT_SEGMENT,
	NCS_OBJECT_CONTROL,
};

/* Parses the name of a file, without its directory. *pid and *start are those
 * of the process that it is named after, 0 if it is no object's name. */
enum ncs_object_kind ncs_object_parse(const char *name, uint32_t *pid,
				      uint64_t *start);

/* Returns the serial number in the name of a segment (ncs_writer_number() in
 * shm/write/writer.h): a process counts its segments from 0 on. 0 if there is
 * none, as in names that earlier plugins gave. */
uint32_t ncs_object_serial(const char *path);

/* Tells whether a file is on a tmpfs or ramfs. Elsewhere a page can be missing
 * although it was reserved, and the kernel does not know who holds a file. */
bool ncs_object_is_in_memory(int file);

enum ncs_holding {
	NCS_HELD,
	NCS_ABANDONED,
	NCS_HOLDING_UNKNOWN, /* another file system or another user's file */
};

/* Tells whether any process of this machine holds the open file, which must be
 * open for reading only. */
enum ncs_holding ncs_object_holding(int file);

/* Opens an object for a look at it: for reading only, and not by a symbolic
 * link. Returns a descriptor to be closed, or -errno. */
int ncs_object_open(int directory, const char *path);

/* Tells whether an open file of this kind is an object that no process holds.
 * Where the kernel cannot tell, its process must have ended, as seen by the
 * process `self`. *maker, unless NULL, is the process that made the object, all
 * zeros if it had not got that far. A file that does not begin like an object
 * is not one. */
bool ncs_object_is_abandoned(int file, enum ncs_object_kind kind,
			     const struct ncs_process *self,
			     struct ncs_process *maker);

#endif
