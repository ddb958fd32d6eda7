/* SPDX-License-Identifier: MIT */
/* Mappings of files in the directory of the segments.
 *
 * Only regular files of the caller's user (or any, for root) are mapped, and no
 * symbolic link is followed. While mapped, a file is guarded against being cut
 * short (guard.h).
 */
#ifndef NCS_SHM_READ_MAPPING_H
#define NCS_SHM_READ_MAPPING_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#include "ncclstat/attach_result.h"

struct ncs_mapping {
	void *start; /* NULL: nothing is mapped */
	size_t bytes;
	dev_t device;
	ino_t inode;
	uid_t owner;
};

/* Maps the first `most_bytes` bytes of a file, or all of it if it is shorter; a
 * file below `least_bytes` is refused. A writable mapping is shared with all
 * processes that map the file. On NCS_ATTACHED release with
 * ncs_mapping_close(); otherwise *mapping is all zeros and `why` (may be NULL)
 * gets the reason. */
enum ncs_attach ncs_mapping_open(struct ncs_mapping *mapping, const char *path,
				 bool writable, size_t least_bytes,
				 size_t most_bytes, char *why, size_t why_size);

/* Unmaps; does nothing if nothing is mapped. */
void ncs_mapping_close(struct ncs_mapping *mapping);

/* Copies the reason into `why` and returns `result`. */
enum ncs_attach ncs_attach_refuse(enum ncs_attach result, const char *text,
				  char *why, size_t size);

/* Returns the result that stands for an errno of opening or mapping, and
 * explains it. */
enum ncs_attach ncs_attach_failure(int error, char *why, size_t size);

#endif
