/* SPDX-License-Identifier: MIT */
/* A simulated job on very many nodes, as the streams of their agents: for each node
 * the looks that "ncclstat --stream" would have written there. States only.
 *
 * A job of a few nodes is simulated. Each node shows the state of one of these with
 * its own numbers and clock: that of the rank that makes no more calls and those
 * beside it theirs, all others that of one which waits like them. Not thread-safe.
 */
#ifndef NCS_TEST_UNIT_SUPPORT_SIMULATOR_SIM_STREAM_H
#define NCS_TEST_UNIT_SUPPORT_SIMULATOR_SIM_STREAM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define SIM_NODES_MAX 16384u
#define SIM_CHANNELS_MAX 32u

struct sim_stream_options {
	uint64_t seed;
	unsigned nodes;
	unsigned ranks; /* on each node */
	/* Ranks of each smaller communicator, which divides a node, or consists
	 * of nodes; 0: none. */
	unsigned group;
	unsigned channels;  /* of the rings */
	uint64_t bytes;     /* of each AllReduce */
	uint64_t period_ns; /* from a call to the next, roughly; 1 us at least */
	/* The rank that makes no more calls from this time of the job on;
	 * UINT_MAX: all do. */
	unsigned missing_rank;
	uint64_t missing_ns;
	/* CLOCK_MONOTONIC and CLOCK_REALTIME of the nodes at the job's time 0;
	 * the clocks of nodes differ from it by up to skew_ns. */
	uint64_t begun_ns, realtime_ns, skew_ns;
	uint64_t interval_ns; /* between looks */
	bool is_packed;       /* looks are packed */
};

struct sim_stream;

/* Begins the streams of all nodes. Returns NULL if they cannot be. */
struct sim_stream *sim_stream_new(const struct sim_stream_options *options);
void sim_stream_free(struct sim_stream *self);

/* Returns the name of a node, valid as long as *self. */
const char *sim_stream_name(const struct sim_stream *self, unsigned node);

/* Takes the next look at a node, at a time of the job that is not before that of any
 * earlier look, and sets *bytes and *size to it; they are valid until the next look at
 * this node. Returns 0 or -errno. */
int sim_stream_look(struct sim_stream *self, unsigned node, uint64_t at_ns,
		    const void **bytes, size_t *size);

#endif
