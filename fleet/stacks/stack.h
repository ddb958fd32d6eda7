/* SPDX-License-Identifier: MIT */
/* The stack of a process's main thread: which process is asked for, and the
 * frames, or why there are none; and a tree of many stacks: branches of frames
 * that the same processes have, and where a culprit leaves the others. Does no
 * I/O. */
#ifndef NCS_FLEET_STACKS_STACK_H
#define NCS_FLEET_STACKS_STACK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

struct ncs_process; /* shm/process.h */

/* Frames of a finished stack; in the middle of a deeper one, some are left
 * out. */
#define NCS_STACK_FRAMES 128u
/* Frames that are taken of any tool, from the innermost on. */
#define NCS_STACK_FRAMES_TAKEN 4096u

/* Texts of other processes, cleaned. */
struct ncs_stack_frame {
	char function[160];
	char file[128]; /* "" if not known */
	uint32_t line;  /* 0 if not known */
};

struct ncs_stack {
	/* The process, as numbered where its stack is read. Members that are 0
	 * are not compared. */
	uint32_t pid;
	uint64_t start;         /* field 22 of /proc/PID/stat */
	uint64_t pid_namespace; /* its inode: `pid` is a number there */
	char tool[16];          /* what has read the stack; "" if nothing */
	/* A clause for users: why there are no frames or, with frames, why no
	 * better tool has read them; "" if there is nothing to say. */
	char why[140];
	struct ncs_stack_frame *frames; /* the outermost first, once finished */
	size_t count;
	size_t capacity;
	bool is_cut; /* outer frames were left out */
};

/* Says which process it is; `labels` are those of its segments. That of a
 * container that is looked at from outside is known by its number here only. */
void ncs_stack_identify(struct ncs_stack *stack,
			const struct ncs_process *process, const char *labels);

/* Sets why there is no better stack. */
void ncs_stack_say(struct ncs_stack *stack, const char *why);

/* Adds the next outer frame; texts are cleaned, and cut to fit. Too many
 * frames, or those without memory, are left out. */
void ncs_stack_add(struct ncs_stack *stack, const char *function,
		   const char *file, uint32_t line);

/* Turns a stack around, the outermost frame first, and shortens it. */
void ncs_stack_finish(struct ncs_stack *stack);

/* Forgets the frames. */
void ncs_stack_forget(struct ncs_stack *stack);

/* --- The output of tools --------------------------------------------------- */

/* py-spy's JSON, texts of gdb and eu-stack; and the lines that ncclstat itself
 * writes on one machine and reads on another. The output may be anything. */

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

/* --- One tree of the stacks of many processes ------------------------------ */

/* A stack to merge. */
struct ncs_stack_leaf {
	const struct ncs_stack *stack;
	size_t number; /* the caller's; orders equal stacks */
	bool is_culprit;
};

/* Frames that follow each other in the stacks of some leaves. */
struct ncs_stack_branch {
	size_t first, count; /* the leaves, in the order that merging made */
	size_t from, end;    /* frames of each of these leaves; may be none */
	unsigned level;      /* that of the branches of outermost frames is 0 */
	/* All its leaves are culprits, and others share the frames before. */
	bool is_apart;
};

/* Sorts the leaves, all of which have finished stacks with frames, and returns
 * their branches, each before those that come out of it, to be freed, and their
 * number. NULL if there are none, or no memory. */
struct ncs_stack_branch *ncs_stacks_merge(struct ncs_stack_leaf *leaves,
					  size_t count, size_t *branch_count);

#endif
