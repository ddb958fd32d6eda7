/* SPDX-License-Identifier: MIT */
/* Asks /proc about a process: whether its stack may be read, and where it waits
 * in the kernel. Pauses nothing. */
#ifndef NCS_FLEET_STACKS_PROC_STACK_H
#define NCS_FLEET_STACKS_PROC_STACK_H

#include "fleet/stacks/stack.h"

enum ncs_proc_permit {
	NCS_PROC_REFUSED, /* it is to be left alone; the stack says why */
	NCS_PROC_ONLY,    /* no tool may attach to it; likewise */
	NCS_PROC_ANY,
};

/* Tells whether a process is the one that is asked for, and may be attached to:
 * it runs, nothing traces it, and it is of this user, or this is root. */
enum ncs_proc_permit ncs_proc_permit(struct ncs_stack *stack);

/* Takes frames from /proc: functions of the kernel as far as they may be read,
 * the system call, and the thread's name. */
void ncs_stack_take_proc(struct ncs_stack *stack);

#endif
