/* SPDX-License-Identifier: MIT */
/* Processes as segments name them, and where segments lie.
 *
 * Shared by the writer's and the reader's half. Reads /proc; not for
 * callbacks.
 */
#ifndef NCS_SHM_PROCESS_H
#define NCS_SHM_PROCESS_H

#include <stdbool.h>
#include <stdint.h>

#include "ncclstat/abi.h"
#include "ncclstat/control_object.h"

/* Objects are files in this directory unless told otherwise; shm_open() would
 * put them there too, but takes no directory. */
#define NCS_DEFAULT_DIR "/dev/shm"
#define NCS_NAME_PREFIX "ncclstat."
/* Of control objects; no segment's name begins like this. */
#define NCS_CONTROL_PREFIX "ncclstat-control."

/* Who this process is, as the header tells it. */
struct ncs_process {
	uint32_t pid;
	uint64_t start;
	uint64_t pid_namespace;
	uint64_t time_namespace;
	char boot_id[40];
	char host[64];
};

/* Fills in `process` for the calling process. What cannot be read stays 0 or
 * empty. */
void ncs_process_describe(struct ncs_process *process);

/* Field 22 of /proc/PID/stat, 0 if there is no such process or all that is left
 * of it waits to be reaped. */
uint64_t ncs_process_start(uint32_t pid);

/* Whether a process of this name space is stopped, by a signal or a debugger,
 * and is the one that started then. */
bool ncs_process_is_stopped(uint32_t pid, uint64_t start);

/* Whether the process `other` is gone, as seen by the process `self`; false
 * where that cannot be told. */
bool ncs_process_has_ended(const struct ncs_process *other,
			   const struct ncs_process *self);

/* The process that made a segment, a control object; their host is left
 * empty. */
void ncs_process_of_header(const struct ncs_header *header,
			   struct ncs_process *process);
void ncs_process_of_control(const struct ncs_control *control,
			    struct ncs_process *process);

/* Whether two descriptions are of one process. */
bool ncs_process_is_same(const struct ncs_process *a,
			 const struct ncs_process *b);

#endif
