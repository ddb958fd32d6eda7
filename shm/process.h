/* SPDX-License-Identifier: MIT */
/* Identities of processes, and the names of their objects.
 *
 * Shared by the writer's and the reader's half. Reads /proc; not for
 * callbacks. Any thread may call these functions.
 */
#ifndef NCS_SHM_PROCESS_H
#define NCS_SHM_PROCESS_H

#include <stdbool.h>
#include <stdint.h>

struct ncs_control; /* ncclstat/control_object.h */
struct ncs_header;  /* ncclstat/abi_header.h */

/* The directory of segments and control objects if NCCLSTAT_DIR is not set.
 * shm_open() uses the same one, but cannot use another. */
#define NCS_DEFAULT_DIR "/dev/shm"
#define NCS_NAME_PREFIX "ncclstat."
/* Control objects; no segment's name begins with this. */
#define NCS_CONTROL_PREFIX "ncclstat-control."

/* A process, as identified in headers of segments and control objects. */
struct ncs_process {
	uint32_t pid;            /* in its own PID namespace */
	uint64_t start;          /* /proc/PID/stat, field 22; 0 if unknown */
	uint64_t pid_namespace;  /* inode of /proc/PID/ns/pid; 0 if unknown */
	uint64_t time_namespace; /* inode of /proc/PID/ns/time; 0 if none */
	char boot_id[40];        /* "" if unknown */
	char host[64];           /* the host's name */
};

/* Describes the calling process. Fields that cannot be read are 0 or empty. */
void ncs_process_describe(struct ncs_process *process);

/* Returns the start time of a process (/proc/PID/stat, field 22), or 0 if there
 * is no such process or it is a zombie. */
uint64_t ncs_process_start(uint32_t pid);

/* Tells whether a process is a thread of the kernel. */
bool ncs_process_is_kernels(uint32_t pid);

/* The state of a process, as far as another one can tell. */
struct ncs_process_state {
	bool gone;    /* it has ended */
	bool stopped; /* it is suspended by a signal or a debugger */
	/* It has been killed, or its first thread exits: `stopped` tells nothing
	 * more. */
	bool ending;
};

/* Returns the state of the process `other`, as seen by the process `self`, from one
 * look at /proc. A member is false if it
 * cannot be told, e.g. across PID namespaces. */
struct ncs_process_state ncs_process_look(const struct ncs_process *other,
					  const struct ncs_process *self);

/* Describe the process that made a segment or control object; that of a control
 * object has no host. */
void ncs_process_of_header(const struct ncs_header *header,
			   struct ncs_process *process);
void ncs_process_of_control(const struct ncs_control *control,
			    struct ncs_process *process);

/* Tells whether two descriptions are of the same process. */
bool ncs_process_is_same(const struct ncs_process *a,
			 const struct ncs_process *b);

#endif
