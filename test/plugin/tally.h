/* SPDX-License-Identifier: MIT */
/* The expected result of a call log: every number that the plugin must arrive
 * at, and every record that it must publish, in order.
 *
 * This is a second implementation, independent of the plugin's. It follows the
 * log's own handles, call by call, without limits on the number of objects; it
 * shares only the numbers of the ABI with the plugin. It is for logs of correct
 * jobs: a loss is expected only if the log shows it (a stop that never came, a
 * call after finalize).
 */
#ifndef NCS_TEST_PLUGIN_TALLY_H
#define NCS_TEST_PLUGIN_TALLY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "ncclstat/abi.h"
#include "test/host/calllog.h"

struct tally_channel {
	unsigned channel;
	bool send;
	int peer;
	uint64_t operations_started;
	uint64_t operations_done;
	uint64_t steps_started;
	uint64_t steps_done;
	uint64_t bytes;
	uint64_t size_unknown;
};

struct tally_function {
	uint64_t calls;
	uint64_t operations;
	uint64_t operations_done;
	uint64_t with_children;
	uint64_t bytes;
	uint64_t size_unknown;
	uint64_t last_sequence_number;
	uint64_t timed[NCS_TIMING_COUNT];
	uint64_t timed_bytes[NCS_TIMING_COUNT];
	uint64_t kernel_ns;
};

/* Expected records. Times in them are 0; if a delta is a stream, it is set. */
struct tally_records {
	struct ncs_record *all;
	size_t count;
	size_t room;
};

/* The streams of the operations in a ring, as its STREAM records report
 * them. */
struct tally_ring {
	int tid;         /* the thread that publishes into it */
	uint64_t stream; /* of the latest STREAM record */
	uint64_t age;    /* number of operations since */
};

#define TALLY_RINGS 8

/* More ranks than any call log has. */
#define TALLY_PEERS 64

struct tally_context {
	uint64_t number; /* of its life in the log */
	uint64_t known;  /* enum ncs_known: fields that the API reports */
	uint64_t comm_id;
	const char *name;
	int rank;
	int nranks;
	int nnodes;
	bool finished;
	uint64_t events[NCS_EVENT_COUNT];
	uint64_t losses[NCS_LOSS_COUNT];
	uint64_t transitions[NCS_TRANSITION_COUNT];
	uint64_t appended_operations;
	uint64_t operation_count; /* number of numbered operations */
	struct tally_function functions[NCS_FUNCTION_COUNT];
	uint64_t transfers[TALLY_PEERS][2]; /* not captured, by direction */
	struct tally_channel *channels;
	size_t channel_count;
	/* Records as one thread publishes them, into one ring. With the threads
	 * of the log there are several rings, and other STREAM records. */
	struct tally_records records;
	struct tally_ring ring;
	uint64_t streams;
	struct tally_ring rings[TALLY_RINGS];
	size_t ring_count;
	uint64_t streams_of_threads;
	int tid; /* the calling thread */
};

/* Contexts in the order of their init. */
struct tally {
	struct tally_context *contexts;
	size_t context_count;
};

/* Adds up a log. Ends the process if it cannot follow the log. */
struct tally *tally_make(const struct calllog *log);
void tally_free(struct tally *tally);

#endif
