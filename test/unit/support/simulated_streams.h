/* SPDX-License-Identifier: MIT */
/* A simulated job on many nodes, as the streams of their agents: for each node
 * the looks that "ncclstat --stream" would have written there.
 *
 * Processes make the same calls one after the other, on one communicator of all
 * and, with `group`, on smaller ones. States only; a look is a function of the
 * options and its time. A rank may make no more calls: all others then wait for
 * it. Not thread-safe.
 */
#ifndef NCS_TEST_UNIT_SUPPORT_SIMULATED_STREAMS_H
#define NCS_TEST_UNIT_SUPPORT_SIMULATED_STREAMS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define SIMULATED_NODES_MAX 16384u
#define SIMULATED_CHANNELS_MAX 32u

struct simulated_streams_options {
	uint64_t seed;
	unsigned nodes;
	unsigned ranks;     /* on each node */
	unsigned group;     /* ranks of each smaller communicator; 0: none */
	unsigned channels;  /* of the rings */
	uint64_t bytes;     /* of each AllReduce */
	uint64_t period_ns; /* from a call to the next; 1 us at least */
	/* The rank that makes no more calls from this time of the job on;
	 * UINT_MAX: all do. */
	unsigned missing_rank;
	uint64_t missing_ns;
	/* CLOCK_MONOTONIC and CLOCK_REALTIME of the nodes at the job's time 0;
	 * the clocks of nodes differ from it by up to skew_ns. */
	uint64_t begun_ns;
	uint64_t realtime_ns;
	uint64_t skew_ns;
	uint64_t interval_ns; /* between looks */
	bool is_packed;       /* looks are packed */
};

struct simulated_streams;

/* Begins the streams of all nodes. Returns NULL if there is no memory. */
struct simulated_streams *
simulated_streams_new(const struct simulated_streams_options *options);
void simulated_streams_free(struct simulated_streams *streams);

/* Returns the name of a node, valid until the next call. */
const char *simulated_streams_name(struct simulated_streams *streams,
				   unsigned node);

/* Takes the next look at a node, at a time of the job, and sets *bytes and
 * *size to it; they are valid until the next look at this node. Returns 0 or
 * -errno. */
int simulated_streams_look(struct simulated_streams *streams, unsigned node,
			   uint64_t at_ns, const void **bytes, size_t *size);

#endif
