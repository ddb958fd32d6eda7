/* SPDX-License-Identifier: MIT */
/* The output of tools that read stacks: py-spy's JSON, texts of gdb and
 * eu-stack; and the lines that ncclstat itself writes on one machine and reads
 * on another. Pure; the output may be anything. */
#ifndef NCS_FLEET_STACKS_STACK_TOOLS_H
#define NCS_FLEET_STACKS_STACK_TOOLS_H

#include <stdio.h>

#include "fleet/stacks/stack.h"

/* gdb prints this line after frames of Python, and before those of the
 * thread. */
#define NCS_STACK_GDB_MARK "ncclstat: the thread"

/* Take the frames of the process's main thread out of a tool's output. Return
 * false, without frames, if there are none. gdb's frames of Python are
 * preferred to those of the interpreter. */
bool ncs_stack_take_pyspy(struct ncs_stack *stack, const char *output);
bool ncs_stack_take_gdb(struct ncs_stack *stack, const char *output);
bool ncs_stack_take_eu_stack(struct ncs_stack *stack, const char *output);

/* Prints a finished stack in lines. */
void ncs_stack_print(FILE *file, const struct ncs_stack *stack);

/* Takes the frames of stacks, by their pids, out of such lines, which may stand
 * among others. Several stacks of a process are taken in order; one whose pid is 0
 * takes any. Stacks that they do not tell of stay as they are. */
void ncs_stacks_take(struct ncs_stack *stacks, size_t count,
		     const char *output);

#endif
