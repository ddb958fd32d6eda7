/* SPDX-License-Identifier: MIT */
/* Why an agent did not start, or ended: the state of its node, and words for
 * users, from what its launcher printed and its exit status. Functions do no
 * I/O. */
#ifndef NCS_FLEET_LAUNCH_FAILURES_H
#define NCS_FLEET_LAUNCH_FAILURES_H

#include <stdbool.h>
#include <stddef.h>

#include "analysis/base/nodes.h"

/* The meaning of the messages so far. One of zeros is at the beginning. */
struct ncs_failure {
	size_t row;   /* of the table, from 1; 0: no row fits */
	bool is_said; /* `message` is the one that fits the row */
	char message[NCS_NODE_WHY_BYTES]; /* clean */
};

/* Takes a message, a line without its end. */
void ncs_failure_take(struct ncs_failure *failure, const char *message);

/* Finds the exit status in a message of a launcher of many nodes, such as
 * "n02: task 1: Exited with exit code 127". Returns -1 if there is none. */
int ncs_failure_status_in(const char *message);

/* Returns the state of a node whose launcher ended with this status, and
 * writes words about it. A status of -1 is that of a launcher that could not be
 * started. `has_spoken`: the agent had begun to tell. */
enum ncs_node_state ncs_failure_judge(const struct ncs_failure *failure,
				      int status, bool has_spoken, char *why,
				      size_t why_size);

/* Whether it makes sense to try again when a node is in this state. */
bool ncs_failure_may_pass(enum ncs_node_state state);

#endif
