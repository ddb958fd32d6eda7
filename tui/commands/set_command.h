/* SPDX-License-Identifier: MIT */
/* --set: asks processes to collect more or less from now on. Their control objects are
 * what --set and the lease of the live view (tui/screen/lease.h) ask by; the program
 * changes a job in no other way.
 */
#ifndef NCS_TUI_COMMANDS_SET_COMMAND_H
#define NCS_TUI_COMMANDS_SET_COMMAND_H

#include <stdbool.h>
#include <stddef.h>

#include "analysis/model/model.h"
#include "shm/control.h"
#include "shm/read/remote.h"

/* A live process, as described by its first rank. */
struct ncs_target {
	struct ncs_process process;
	uid_t owner;    /* user of its segments */
	uint32_t pid;   /* its number here, if it is in a container */
	char comm[128]; /* name of its first communicator, not cleaned */
	struct ncs_remote *remote; /* NULL if it cannot be asked */
	char why[160];             /* why it cannot be asked */
	uint64_t word; /* the request of --set that it was asked; 0: none */
};

struct ncs_targets {
	struct ncs_target *targets;
	size_t count;
};

/* Selects processes. */
struct ncs_target_filter {
	/* Directory of the segments; NULL for the default. */
	const char *directory;
	const char *comm; /* pattern for a communicator's name or id; NULL
			     for any */
	/* Whether to include processes of other users, if permitted. */
	bool others;
};

/* Finds the live processes of the model that match. Returns 0 or -ENOMEM; in
 * either case, the caller calls ncs_targets_release(). */
int ncs_targets_find(struct ncs_targets *targets, const struct ncs_model *model,
		     const struct ncs_target_filter *filter);
void ncs_targets_release(struct ncs_targets *targets);

/* Writes a change as --set reads it, e.g. "events=all,sample=default". */
void ncs_set_text(const struct ncs_change *change, char *text, size_t size);

/* Asks the processes without waiting for answers. Returns the number of
 * processes asked, and sets `text` to a sentence for the user. */
size_t ncs_set_ask(const struct ncs_model *model,
		   const struct ncs_target_filter *filter,
		   const struct ncs_change *change, char *text, size_t size);

#endif
