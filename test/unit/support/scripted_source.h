/* SPDX-License-Identifier: MIT */
/* A source whose ranks a test makes by hand, and a model that it feeds.
 *
 * Ranks start empty: only what the test sets is known. scripted_release() frees
 * all memory.
 */
#ifndef NCS_TEST_UNIT_SUPPORT_SCRIPTED_SOURCE_H
#define NCS_TEST_UNIT_SUPPORT_SCRIPTED_SOURCE_H

#include "analysis/model/model.h"
#include "ncclstat/abi_header.h"

#define SCRIPTED_RANKS 8
#define SCRIPTED_CHANNELS 8
#define SCRIPTED_OPERATIONS 4
#define SCRIPTED_CLASSES 8
#define SCRIPTED_BUCKETS 64
#define SCRIPTED_RECORDS 1024
#define SCRIPTED_NODES 64

struct scripted_rank {
	bool is_there;
	char id[32];
	enum ncs_attach attach;
	const char *why;
	struct ncs_header header;
	const char *labels; /* as of ncs_reader_labels(); NULL: none */
	struct ncs_snapshot snapshot;
	size_t node;
	bool is_past; /* nothing is newer than in the pass before */
	bool clock_is_aligned;
	uint64_t clock_error_ns;
	struct ncs_channel_view channels[SCRIPTED_CHANNELS];
	struct ncs_operation_view operations[SCRIPTED_OPERATIONS];
	struct ncs_class_view classes[SCRIPTED_CLASSES];
	uint64_t class_buckets[SCRIPTED_BUCKETS];
	struct ncs_record records[SCRIPTED_RECORDS]; /* of the next pass */
	size_t record_count;
	uint64_t records_lost;
};

struct scripted {
	struct ncs_source source; /* must be first: is cast to this struct */
	struct ncs_model model;
	struct scripted_rank ranks[SCRIPTED_RANKS];
	struct ncs_node nodes[SCRIPTED_NODES];
	size_t node_count;
	size_t place;
	uint64_t now_ns;
	int begin_error; /* returned by begin(), with the reason "no luck" */
};

/* Initialize a source and a model without ranks, and free their memory. */
void scripted_init(struct scripted *scripted);
void scripted_release(struct scripted *scripted);

/* Setup and teardown functions for cmocka: *state is an initialized struct
 * scripted. */
int scripted_setup(void **state);
int scripted_teardown(void **state);

/* Adds rank `rank` of API version 5 with pid 100 + rank. Its identity has the
 * rank and the size, 8, but no communicator. */
struct scripted_rank *scripted_add(struct scripted *scripted, int rank);

/* Makes a rank one whose launches are followed: all before `launch` have ended
 * at `at_ns`, as have all AllReduces before number `call`. */
void scripted_follow(struct scripted_rank *rank, uint64_t launch, uint64_t call,
		     uint64_t at_ns);

/* Adds a channel to a rank. */
struct ncs_channel_view *scripted_channel(struct scripted_rank *rank,
					  unsigned channel, bool send,
					  int peer);

/* Adds a class to a rank; classes stay in the order in which they are added. */
struct ncs_class_view *scripted_class(struct scripted_rank *rank,
				      unsigned function, uint64_t bytes,
				      unsigned algorithm, unsigned protocol);

/* Sets the times of a class: `count` operations that each took `each_ns`. */
void scripted_class_times(struct scripted_rank *rank,
			  struct ncs_class_view *view, unsigned timing,
			  uint64_t count, uint64_t each_ns, uint64_t bytes);

/* Returns a histogram of the snapshot, which is made at first use. */
uint64_t *scripted_histogram(struct scripted_rank *rank, unsigned function,
			     unsigned timing);

/* Adds records of AllReduces 0 to `count` - 1 to all ranks that exist: each 10
 * ms after the one before, from `first_ns` on. Rank `late` calls and begins
 * them `late_ns` later. All end 5 ms after they should have begun. */
void scripted_all_reduces(struct scripted *scripted, unsigned count,
			  uint64_t first_ns, int late, uint64_t late_ns);

/* Runs a pass of the model at this time; asserts that it succeeds. */
void scripted_pass(struct scripted *scripted, uint64_t now_ns);

/* Returns the model's rank of this number; asserts that it exists. */
const struct ncs_rank *scripted_rank(const struct scripted *scripted, int rank);

#endif
