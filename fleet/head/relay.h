/* SPDX-License-Identifier: MIT */
/* An agent of agents: passes the streams of a fleet's nodes on to a pipe, as
 * lines under the names of their nodes, so that a reader sees the nodes as if
 * it had started them.
 *
 * Like an agent it never waits for its reader. Of each node it has the latest
 * look that can be read by itself, and the latest look after that; a look that
 * was not written yet is dropped for a newer one, and counted with those that
 * the node's own agent has dropped. (Of an agent that does not pack its looks,
 * ranks may then be behind, up to its next look that can be read by itself.) A
 * launcher's words about a node without looks are passed on in a chunk "node".
 * Must not look into states.
 */
#ifndef NCS_FLEET_HEAD_RELAY_H
#define NCS_FLEET_HEAD_RELAY_H

#include "fleet/head/fleet.h"
#include "fleet/stream/agent.h"

/* Runs until the settings' files end it, or `has_ended` says that no stream will
 * tell any more and all is written. Of the settings it uses is_packed, the files
 * and the heartbeat. */
void ncs_relay_run(struct ncs_fleet *fleet,
		   const struct ncs_agent_settings *settings,
		   bool (*has_ended)(void *context), void *context,
		   struct ncs_agent_result *result);

#endif
