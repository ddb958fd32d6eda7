/* SPDX-License-Identifier: MIT */
/* Whether processes and their segments are alive.
 *
 * For the reader's half. Works from identities that were already read and from
 * /proc; maps nothing. Any thread may call these functions.
 */
#ifndef NCS_SHM_READ_LIVENESS_H
#define NCS_SHM_READ_LIVENESS_H

#include <stdbool.h>
#include <stdint.h>

#include "ncclstat/reader.h"
#include "shm/process.h"

/* The state of a process, as far as this process can tell. */
struct ncs_process_state {
	bool gone;    /* it has ended */
	bool stopped; /* it is suspended by a signal or a debugger */
};

/* Returns the liveness of a segment's rank. `life` is the header's enum
 * ncs_life, `last_call_ns` the time of the latest callback or 0 if unknown;
 * both times are CLOCK_MONOTONIC ns. */
enum ncs_liveness ncs_liveness_of(uint64_t life, bool process_gone,
				  uint64_t last_call_ns, uint64_t now_ns);

/* Tells whether a process has ended. Returns false if that cannot be told,
 * e.g. for a process of another PID namespace. */
bool ncs_process_ended(const struct ncs_process *process);

/* Same as ncs_process_ended() for the process that made the segment with this
 * header. */
bool ncs_process_is_gone(const struct ncs_header *header);

/* Returns the state of the process that made the segment with this header.
 * Each thread caches the latest answer: consecutive calls with the same process
 * and the same `now_ns` read /proc once. If `now_ns` is 0 nothing is cached. */
struct ncs_process_state ncs_process_state_at(const struct ncs_header *header,
					      uint64_t now_ns);

/* Tells whether any process of this machine, in whatever PID namespace, has the
 * file open for writing or mapped writable. Returns false if the file cannot be
 * opened or its file system does not know. */
bool ncs_is_being_written(const char *path);

#endif
