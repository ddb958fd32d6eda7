/* SPDX-License-Identifier: MIT */
/* A source whose ranks a test makes by hand, and a model fed by it.
 *
 * Ranks start empty: known is only what the test sets. All memory is given
 * back by scripted_release().
 */
#ifndef NCS_TEST_UNIT_SUPPORT_SCRIPTED_SOURCE_H
#define NCS_TEST_UNIT_SUPPORT_SCRIPTED_SOURCE_H

#include "analysis/model/model.h"

#define SCRIPTED_RANKS 8
#define SCRIPTED_CHANNELS 8
#define SCRIPTED_OPERATIONS 4
#define SCRIPTED_CLASSES 8
#define SCRIPTED_BUCKETS 64
#define SCRIPTED_RECORDS 512

struct scripted_rank {
	bool is_there;
	char id[32];
	enum ncs_attach attach;
	const char *why;
	struct ncs_header header;
	struct ncs_snapshot snapshot;
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
	struct ncs_source source; /* first: is cast to this struct */
	struct ncs_model model;
	struct scripted_rank ranks[SCRIPTED_RANKS];
	size_t place;
	uint64_t now_ns;
	int begin_error; /* what begin() returns, with "no luck" */
};

void scripted_init(struct scripted *scripted);
void scripted_release(struct scripted *scripted);

/* Setup and teardown functions for cmocka: *state is an initialized struct
 * scripted. */
int scripted_setup(void **state);
int scripted_teardown(void **state);

/* Adds rank `rank` of API version 5 with pid 100 + rank; its identity knows
 * rank and size (8), and it belongs to no named communicator. */
struct scripted_rank *scripted_add(struct scripted *scripted, int rank);

struct ncs_channel_view *scripted_channel(struct scripted_rank *rank,
					  unsigned channel, bool send,
					  int peer);

/* Classes are in the order in which they are added. */
struct ncs_class_view *scripted_class(struct scripted_rank *rank,
				      unsigned function, uint64_t bytes,
				      unsigned algorithm, unsigned protocol);

/* So many operations of a class that each took a time, of one bucket. */
void scripted_class_times(struct scripted_rank *rank,
			  struct ncs_class_view *view, unsigned timing,
			  uint64_t count, uint64_t each_ns, uint64_t bytes);

/* A histogram of the snapshot, made at first use. */
uint64_t *scripted_histogram(struct scripted_rank *rank, unsigned function,
			     unsigned timing);

/* Records of AllReduce number 0 to `count` - 1 at each rank so far, each 10 ms
 * after the one before from `first_ns` on; rank `late` called and began them so
 * much later. All end 5 ms after they should have begun. */
void scripted_all_reduces(struct scripted *scripted, unsigned count,
			  uint64_t first_ns, int late, uint64_t late_ns);

/* A pass of the model at this moment; must succeed. */
void scripted_pass(struct scripted *scripted, uint64_t now_ns);

/* The model's rank of this number; must be there. */
const struct ncs_rank *scripted_rank(const struct scripted *scripted, int rank);

#endif
