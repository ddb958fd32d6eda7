/* SPDX-License-Identifier: MIT */
/* What a call log adds up to: every number that the plugin must arrive at, and
 * every record that it must publish, in order.
 *
 * A second opinion. It follows the log's own handles, call by call, with no
 * limit on how many things there are at once and no table of the plugin's;
 * what it shares with the plugin are the numbers of the ABI. Written for good
 * logs: it says what must be counted as lost because the log shows it (a stop
 * that never came, a call after finalize), and nothing else may be.
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

/* Times in a record are left 0; where a delta is a stream, it is there. */
struct tally_records {
	struct ncs_record *all;
	size_t count;
	size_t room;
};

/* What a ring says of the streams of operations. */
struct tally_ring {
	int tid;         /* whose it is */
	uint64_t stream; /* of the latest STREAM record */
	uint64_t age;    /* operations since */
};

#define TALLY_RINGS 8

struct tally_context {
	uint64_t number; /* in the log, of its life */
	uint64_t known;  /* enum ncs_known, of what the API tells */
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
	uint64_t operation_count; /* given numbers to */
	struct tally_function functions[NCS_FUNCTION_COUNT];
	struct tally_channel *channels;
	size_t channel_count;
	/* As one thread publishes them: one ring has them all. With the log's own
	 * threads, each has a ring, and there are other STREAM records. */
	struct tally_records records;
	struct tally_ring ring;
	uint64_t streams;
	struct tally_ring rings[TALLY_RINGS];
	size_t ring_count;
	uint64_t streams_of_threads;
	int tid; /* who calls */
};

/* Contexts in the order of their init. */
struct tally {
	struct tally_context *contexts;
	size_t context_count;
};

/* Adds up a log. Ends the process on a log that it cannot follow. */
struct tally *tally_make(const struct calllog *log);
void tally_free(struct tally *tally);

#endif
