/* SPDX-License-Identifier: MIT */
/* Other machines: the streams of their agents in place of this machine's segments, and
 * commands that each host runs by itself. */
#ifndef NCS_TUI_COMMANDS_FOLLOW_H
#define NCS_TUI_COMMANDS_FOLLOW_H

#include <stdbool.h>

#include "fleet/head/feeds.h"
#include "fleet/head/fleet.h"
#include "fleet/launch/hostlist.h"
#include "tui/commands/options.h"

struct ncs_follow {
	struct ncs_fleet *fleet;
	struct ncs_pipes *pipes; /* of --follow */
	struct ncs_crew *crew;   /* of --hosts, --slurm, --kube and --from */
	bool is_command;
	bool is_chosen; /* agents look at a part of the processes only */
	uint64_t wait_ns;
};

/* Returns how the options have ncclstat called on other machines. */
struct ncs_agent_call ncs_follow_call(const struct ncs_options *options);

/* Opens the streams that the options name. Prints a message and returns false
 * if they cannot be opened. */
bool ncs_follow_open(struct ncs_follow *follow,
		     const struct ncs_options *options);
/* Closes them. */
void ncs_follow_close(struct ncs_follow *follow);

/* Waits until each node has given a look or is in trouble, for 3 s at most. Of
 * lines it is not known how many nodes they are of: no other node may have come
 * for a while. */
void ncs_follow_wait(struct ncs_follow *follow);

/* Prints a message for each node that does not show its ranks as they are now;
 * one for all that are in the same state, if they are many. */
void ncs_follow_say_trouble(const struct ncs_follow *follow);

/* --record: keeps the streams until they end, the duration is over, or a signal
 * comes. Returns the exit status. */
int ncs_follow_record(struct ncs_follow *follow,
		      const struct ncs_options *options);

/* --stream: passes the streams on until they end, or the agent is to end. Returns
 * the exit status. */
int ncs_follow_stream(struct ncs_follow *follow,
		      const struct ncs_options *options);

/* Lists the hosts of --hosts, or those where the job of --slurm runs or ran, without those
 * of --exclude. Prints a message and returns false if there is none. */
bool ncs_hosts_find(const struct ncs_options *options,
		    struct ncs_hostlist *hosts);

/* Has each host run --check, --clean or --set, by ssh, and prints their lines in the
 * order of the hosts. Returns the exit status: NCS_EXIT_OK if that of each is. */
int ncs_hosts_run(const struct ncs_options *options);

#endif
