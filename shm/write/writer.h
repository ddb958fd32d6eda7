/* SPDX-License-Identifier: MIT */
/* The writer's half of segments and control objects: create, publish, unlink.
 *
 * For the plugin only, at init, finalize and exit: all functions make system
 * calls. Callbacks write into the mapping through ring.h, seqlock.h and
 * atomics.h. One thread at a time may create objects.
 */
#ifndef NCS_SHM_WRITE_WRITER_H
#define NCS_SHM_WRITE_WRITER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "ncclstat/abi.h"
#include "ncclstat/control_object.h"
#include "shm/process.h"
#include "shm/segment.h"

/* A segment or control object that this process created. */
struct ncs_writer {
	union {
		void *mapping; /* NULL if there is none */
		struct ncs_header *header;
		struct ncs_control *control;
	};
	uint64_t mapped_bytes;
	dev_t device; /* of the file */
	ino_t inode;
	char path[512]; /* "" if there is no file, or it was unlinked */
};

/* How many names a process tries before it does without an object. */
#define NCS_NAME_TRIES 100u

/* Returns a number for the name of an object that nobody could foresee: in a
 * directory that others may write to, another user could have taken the name
 * first. The lower 32 bits are random, so that names sort by `serial`. Where the
 * kernel has no random numbers it is the time. */
uint64_t ncs_writer_number(uint32_t serial);

/* Creates a segment in `directory` and maps it. All its memory is reserved and,
 * except histograms and ranges, populated; the header's geometry and process
 * are filled in, its version is 0. Nobody may open the file for writing (mode
 * 0400), so that no other program of the user cuts it short by accident.
 * `number` makes the names of a process's segments unique. `place` is the
 * address of a mapping of the same size that is to be replaced, or NULL for any
 * address. Returns 0 or -errno, e.g. -EPERM if the directory belongs to another
 * user and is not sticky, -EMEDIUMTYPE if it is on neither a tmpfs nor a ramfs,
 * -ENOSPC if there is no room, -EEXIST if the file exists. On failure nothing is
 * left behind, and `place` stays mapped. The mapping is the caller's to unmap;
 * the file is removed with ncs_writer_unlink(). */
int ncs_writer_create(struct ncs_writer *writer, const char *directory,
		      const struct ncs_process *process, uint64_t number,
		      const struct ncs_segment_size *size, void *place);

/* Lets the users of a group read the segment, too (mode 0440). Returns 0 or -errno,
 * e.g. -EPERM if the process is not in the group, -ENOENT if the name is not the
 * segment's any more; the segment is its owner's alone then. */
int ncs_writer_share(const struct ncs_writer *writer, gid_t group);

/* Stores the version word, after which readers accept the segment. Call it
 * once, after everything else is in place. */
void ncs_writer_publish(struct ncs_writer *writer);

/* Removes the file's name. The mapping stays, so that late callbacks do no
 * harm. */
void ncs_writer_unlink(struct ncs_writer *writer);

/* Creates a control object without a request, maps it and publishes it. Returns
 * 0 or -errno as ncs_writer_create() does. */
int ncs_writer_create_control(struct ncs_writer *writer, const char *directory,
			      const struct ncs_process *process,
			      uint64_t number);

/* For a forked child: lets go of an object that another thread of the parent was
 * creating at that moment. */
void ncs_writer_forget_unfinished(void);

#endif
