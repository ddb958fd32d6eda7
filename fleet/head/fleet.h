/* SPDX-License-Identifier: MIT */
/* Many nodes as one source: takes the streams of their agents, and shows all
 * ranks as one job, with what is known of each node (analysis/base/nodes.h).
 *
 * Bytes and states of nodes come from a launcher or from pipes
 * (fleet/head/feeds.h), in any thread; the source is read by one thread.
 *
 * Times of nodes are moved to this machine's CLOCK_MONOTONIC. Nodes of this
 * machine's boot and time namespace have the same clock. Others are aligned by
 * their traffic, if the streams have records: to this machine if it has ranks of
 * the job or a synchronized CLOCK_REALTIME, else to one of the nodes. Without
 * records they are aligned by CLOCK_REALTIME if the system keeps it synchronized
 * on both sides; else their clock is not aligned: their times are moved so that
 * their ages are right, to the time that a look takes to get here.
 */
#ifndef NCS_FLEET_HEAD_FLEET_H
#define NCS_FLEET_HEAD_FLEET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "analysis/base/nodes.h"
#include "analysis/base/source.h"
#include "shm/read/job.h"

struct ncs_fleet;

/* The most nodes; further ones are told as one, in the place of the last. */
#define NCS_FLEET_NODES_MAX 65536u

/* Creates a fleet without nodes, which shows the processes that are chosen;
 * NULL chooses all. The choice's strings must outlive the fleet. Returns NULL if
 * there is no memory. */
struct ncs_fleet *ncs_fleet_new(const struct ncs_choice *choice);
/* Frees the fleet, of which nothing may be used any more; accepts NULL. */
void ncs_fleet_free(struct ncs_fleet *fleet);

/* --- For launchers: any thread ------------------------------------------- */

/* Adds a node, and sets *node to its number, from 0. With a name of NULL it
 * is called as its agent calls its host. `reach` are the words that run a command
 * on it; "" if they are not known. Returns 0, -ENOMEM, or -E2BIG if there are too
 * many. */
int ncs_fleet_add(struct ncs_fleet *fleet, const char *name, const char *reach,
		  size_t *node);

/* Takes the next bytes of a node's stream; `now_ns` is CLOCK_MONOTONIC. A node
 * that was in trouble is so no more with its next look. Returns 0 or -ENOMEM;
 * then the bytes are as if they were missing. */
int ncs_fleet_feed(struct ncs_fleet *fleet, size_t node, const void *bytes,
		   size_t size, uint64_t now_ns);

/* Notes that bytes of a node's stream are missing before the next ones. */
void ncs_fleet_gap(struct ncs_fleet *fleet, size_t node);

/* Sets the state of a node: that nothing will come, that it is being started, or
 * that it is over a limit, which does not end with its next look, but holds for
 * some time. `why` are words for users, or "". */
void ncs_fleet_set_state(struct ncs_fleet *fleet, size_t node,
			 enum ncs_node_state state, const char *why,
			 uint64_t now_ns);

/* --- For readers ---------------------------------------------------------- */

/* Waits until each node has given a look or is in trouble, and there is one,
 * for at most `wait_ns`. Returns false if it is not so. */
bool ncs_fleet_wait(struct ncs_fleet *fleet, uint64_t wait_ns);

/* Returns the source, which belongs to the fleet: its close() does nothing.
 * Passes must be as of CLOCK_MONOTONIC. */
struct ncs_source *ncs_fleet_source(struct ncs_fleet *fleet);

/* Copies up to `size` nodes, as of now_ns. Returns the number of all nodes. */
size_t ncs_fleet_nodes(struct ncs_fleet *fleet, uint64_t now_ns,
		       struct ncs_node *nodes, size_t size);

struct ncs_recorder_settings; /* record/write/recorder.h */

/* From now on writes each look that comes to a file for each node, PATH.NODE,
 * which is a recording, compressed. If the path ends with '/' or is a folder, the
 * file is NODE in it; one that is missing is made. The
 * settings are borrowed; only the path, the level of packing, and rotation count:
 * another file of a node begins with the first look, once it is due, that can be read
 * by itself. */
void ncs_fleet_keep(struct ncs_fleet *fleet,
		    const struct ncs_recorder_settings *settings);

/* Receives the bytes of a node's look, as if it were not packed, and where its last
 * chunk, "look", begins. The fleet must not be called. */
typedef void ncs_fleet_pass(void *context, size_t node, const void *bytes,
			    size_t size, size_t end);

/* From now on passes on each look that comes. */
void ncs_fleet_pass_on(struct ncs_fleet *fleet, ncs_fleet_pass *pass,
		       void *context);

struct ncs_fleet_kept {
	char prefix[4100]; /* of the files' paths: the node's name follows */
	size_t nodes;
	size_t files;
	size_t stale; /* older files that could not be removed */
	uint64_t looks;
	uint64_t states;
	uint64_t bytes;
	int error;              /* -errno of the first failure; 0: none */
	char failed_path[4200]; /* the file of that failure */
};

/* Ends the files and says what is in them. */
void ncs_fleet_keep_end(struct ncs_fleet *fleet, struct ncs_fleet_kept *kept);

#endif
