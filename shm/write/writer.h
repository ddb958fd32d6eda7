/* SPDX-License-Identifier: MIT */
/* The writer's end of a segment and of a control object: create, publish,
 * unlink.
 *
 * For the plugin only, from init, finalize and exit: everything here may call
 * the kernel. Callbacks write into the mapping through ring.h, seqlock.h and
 * atomics.h.
 */
#ifndef NCS_SHM_WRITE_WRITER_H
#define NCS_SHM_WRITE_WRITER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "ncclstat/abi.h"
#include "ncclstat/control_object.h"
#include "shm/process.h"
#include "shm/segment.h"

struct ncs_writer {
	struct ncs_header *header; /* the mapping; NULL: none */
	uint64_t mapped_bytes;
	char path[512];
};

/* Creates and maps a segment in `directory`, all of it reserved and, but for the
 * histograms, touched; with everything of the header in place but the version. `place`: where to
 * map it, over a mapping of the same size that it replaces; NULL: anywhere.
 * 0 or -errno (EPERM: the directory belongs to somebody else and is not
 * sticky; ENOSPC: no room). Nothing is left behind on failure. */
int ncs_writer_create(struct ncs_writer *writer, const char *directory,
		      const struct ncs_process *process, unsigned serial,
		      const struct ncs_segment_size *size, void *place);

/* Lets readers in: stores the version word, last of all. */
void ncs_writer_publish(struct ncs_writer *writer);

/* Removes the name; the mapping stays, so late callbacks do no harm. */
void ncs_writer_unlink(struct ncs_writer *writer);

struct ncs_control_writer {
	struct ncs_control *control; /* the mapping; NULL: none */
	char path[512];
};

/* Creates and maps a control object in which nobody has asked for anything,
 * and lets others in. 0 or -errno, as above. */
int ncs_writer_create_control(struct ncs_control_writer *writer,
			      const char *directory,
			      const struct ncs_process *process,
			      unsigned serial);

/* Removes the name; the mapping stays. */
void ncs_writer_unlink_control(struct ncs_control_writer *writer);

/* Removes the caller's objects that are older than a day and whose process, of
 * this PID namespace or of an earlier boot, is gone. */
void ncs_writer_reap(const char *directory, const struct ncs_process *process);

#endif
