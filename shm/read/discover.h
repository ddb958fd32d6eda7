/* SPDX-License-Identifier: MIT */
/* Finding segments, telling the living from the dead, removing the dead.
 *
 * For the reader's side; the public part is in ncclstat/reader.h.
 */
#ifndef NCS_SHM_READ_DISCOVER_H
#define NCS_SHM_READ_DISCOVER_H

#include <stddef.h>
#include <stdint.h>

#include "ncclstat/reader.h"

/* What has become of a segment's rank, from fresh readings. */
enum ncs_liveness ncs_liveness_of(uint64_t life, bool process_gone,
				  uint64_t last_call_ns, uint64_t now_ns);

/* Whether the process that made the segment is gone; false where that cannot
 * be told: one of another PID namespace cannot be looked up. */
bool ncs_process_is_gone(const struct ncs_header *header);

/* What has become of a process, as far as that can be told. */
struct ncs_fate {
	bool gone;
	bool stopped; /* by a signal or a debugger */
};

/* As of a moment that is not 0: of segments of one process that come one after
 * the other only the first costs a look. */
struct ncs_fate ncs_process_fate_at(const struct ncs_header *header,
				    uint64_t now_ns);

/* Lists what is named like a control object, as ncs_discover() does for
 * segments. */
int ncs_discover_controls(const char *directory, struct ncs_paths *paths);

/* Removes the segments and control objects in a directory whose process is
 * gone, as far as they are the caller's. `removed` (may be NULL) is called for each path with 0 or
 * -errno. Returns how many were removed, or -errno where the directory cannot
 * be read. */
int ncs_clean(const char *directory,
	      void (*removed)(const char *path, int error, void *argument),
	      void *argument);

#endif
