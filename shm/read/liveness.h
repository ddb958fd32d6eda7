/* SPDX-License-Identifier: MIT */
/* Whether processes and their segments are alive.
 *
 * For the reader's half. Works from identities that were already read, from
 * /proc, and from the kernel's count of writers; maps nothing. Any thread may call these functions.
 */
#ifndef NCS_SHM_READ_LIVENESS_H
#define NCS_SHM_READ_LIVENESS_H

#include <stdbool.h>
#include <stdint.h>

#include "ncclstat/snapshot.h"
#include "shm/process.h"

struct ncs_reader; /* ncclstat/reader.h */

/* Returns the liveness of a segment's rank. `life` is the header's enum
 * ncs_life, `last_call_ns` the time of the latest callback or 0 if unknown;
 * both times are CLOCK_MONOTONIC ns. */
enum ncs_liveness ncs_liveness_of(uint64_t life, bool process_gone,
				  uint64_t last_call_ns, uint64_t now_ns);

/* Tells whether a process has ended. Returns false if that cannot be told, e.g.
 * for a process of another PID namespace. */
bool ncs_process_is_gone(const struct ncs_process *process);

/* Returns the state of the process of a reader's segment: also in another PID
 * namespace whether it has ended, and in this one whether it has called exec(),
 * as far as it is known whether anybody holds the segment (shm/object.h). An image
 * has the state that was recorded. Each thread caches what /proc says last: of the
 * same process at the same `now_ns`, unless that is 0, it is read once. */
struct ncs_process_state ncs_reader_process(const struct ncs_reader *reader,
					    uint64_t now_ns);

/* Returns when a thread of a reader's rank last made a call, CLOCK_MONOTONIC ns;
 * 0: never. */
uint64_t ncs_reader_last_call_ns(const struct ncs_reader *reader);

#endif
