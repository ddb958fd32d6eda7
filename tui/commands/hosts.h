/* SPDX-License-Identifier: MIT */
/* The hosts that options name, and commands that each of them runs by itself. */
#ifndef NCS_TUI_COMMANDS_HOSTS_H
#define NCS_TUI_COMMANDS_HOSTS_H

#include <stdbool.h>

#include "fleet/launch/hostlist.h"
#include "tui/commands/options.h"

/* Lists the hosts of --hosts, or those where the job of --slurm runs or ran, without those
 * of --exclude. Prints a message and returns false if there is none. */
bool ncs_hosts_find(const struct ncs_options *options,
		    struct ncs_hostlist *hosts);

/* Whether each host runs the command of these options: --check, --clean and --set. */
bool ncs_hosts_run_each(const struct ncs_options *options);

/* Has each host run it, by ssh, and prints their lines in the order of the hosts.
 * Returns the exit status: NCS_EXIT_OK if that of each is. */
int ncs_hosts_run(const struct ncs_options *options);

#endif
