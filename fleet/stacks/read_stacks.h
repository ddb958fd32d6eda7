/* SPDX-License-Identifier: MIT */
/* Reads stacks of processes of this machine by py-spy, gdb, eu-stack or,
 * without any of them, /proc; and of those of other nodes, by ncclstat there.
 *
 * A process pauses while a tool reads its stack. None is read that is stopped,
 * traced or gone; a process that was left stopped by a tool which had to be
 * ended is continued. No tool runs after the call. One thread at a time.
 */
#ifndef NCS_FLEET_STACKS_READ_STACKS_H
#define NCS_FLEET_STACKS_READ_STACKS_H

#include "fleet/stacks/stack.h"

struct ncs_reader; /* ncclstat/reader.h */

/* The most processes of a machine that are read. */
#define NCS_STACKS_MAX 256u

/* Fills in the stacks of processes of this machine, whose pid, start and
 * pid_namespace say which they are, within 3 s. Each then has frames or says
 * why not. */
void ncs_stacks_read(struct ncs_stack *stacks, size_t count);

/* Reads the stacks of the processes of segments, each process once, likewise; sets
 * lines[i], to be freed, to the lines of that of readers[i], as
 * ncs_stacks_take() reads them, or NULL without memory. */
void ncs_stacks_read_lines(struct ncs_reader *const *readers, char **lines,
			   size_t count);

/* The most moments at which a process is sampled. */
#define NCS_LATE_STACKS_MAX 20u

/* Returns a number if the process is late now, the same as long as it makes no
 * call; otherwise 0. */
typedef uint64_t ncs_lateness_now(void *context);

/* Fills in stacks of the process that the first one names, one for each moment at
 * which it is late, within 10 s, by py-spy or /proc, without stopping it. All are
 * by the same tool. Returns their number; without any, the first one says why. */
size_t ncs_stacks_sample_late(struct ncs_stack stacks[NCS_LATE_STACKS_MAX],
			      ncs_lateness_now *lateness, void *context);

/* Stacks of one node. */
struct ncs_node_stacks {
	/* Words before a command that run it on the node. */
	const char *reach;
	const char *command; /* which is ncclstat there */
	struct ncs_stack *stacks;
	size_t count;
	/* The stacks, NCS_LATE_STACKS_MAX, are to be of one process while it is
	 * late. */
	bool is_late;
};

/* Fills in the stacks of processes of nodes, within 10 s for each of 16 nodes
 * at once, or 17 s for those of a process that is late. */
void ncs_stacks_read_nodes(struct ncs_node_stacks *nodes, size_t count);

/* Reads the processes that the command is given: PID:START:PID_NAMESPACE,...
 * Returns their number, with `stacks` to be freed; 0 if the text is not such a
 * list or there is no memory. */
size_t ncs_stacks_parse(const char *text, struct ncs_stack **stacks);

#endif
