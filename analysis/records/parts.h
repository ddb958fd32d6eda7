/* SPDX-License-Identifier: MIT */
/* A rank's parts of operations, made from its records: what the application,
 * the proxy thread and the GPU did for an operation, and when.
 *
 * The moments of an operation are found by analysis/records/operation_times.h, as
 * everywhere. Children are added up as they come, and do not wait for that record
 * as in analysis/records/rank_operations.h: that keeps a copy of each, up to 2^18
 * of a rank, where a part needs a sum for each channel.
 *
 * The records of one lane must come in order, those of several lanes nearly so.
 * Records are sorted by operation, and a part is given out when no more records
 * of it can come. All times are in ns of the clock that records are converted
 * with. Memory is bounded by the operations in progress and by the number of
 * records drained in one batch. Pure. Must not trust records. Functions for one
 * rank are not thread-safe.
 */
#ifndef NCS_ANALYSIS_RECORDS_PARTS_H
#define NCS_ANALYSIS_RECORDS_PARTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "analysis/base/finding_numbers.h"
#include "analysis/records/operation_times.h"
#include "analysis/records/replaced_records.h"
#include "ncclstat/snapshot.h"

struct ncs_header; /* ncclstat/abi_header.h */

struct ncs_clock; /* ncclstat/abi_clock.h */

enum ncs_part_flag {
	NCS_PART_P2P = 1,
	NCS_PART_NUMBERED = 2, /* P2P: `number` is its place on its connection */
	/* Records of children were left out or lost: the part has no channels,
	 * and DATA and KERNEL are not known. */
	NCS_PART_LEFT_OUT = 4,
	NCS_PART_MISSING_STOP = 8, /* a child has no stop event */
	/* DATA was computed: ncs_first_data_ns(). */
	NCS_PART_DATA_COMPUTED = 16,
	/* Data came after KERNEL_END, which is not its end. */
	NCS_PART_KERNEL_END_EARLY = 32,
	/* Set by the caller: its number is surely that of one call. */
	NCS_PART_ONCE = 64,
	/* Nothing but CLOCK_REALTIME aligns its clock with others. */
	NCS_PART_BY_REALTIME = 128,
};

/* A channel of a part, in one direction with one peer. Its waits are summed
 * over its steps; as steps overlap, they may exceed the time that passed. */
struct ncs_part_channel {
	uint64_t end_ns; /* of its last step or proxy operation */
	uint64_t bytes;
	uint64_t steps;
	int32_t peer;
	uint8_t channel;
	bool send;
	uint64_t wait_ns[NCS_CHANNEL_STATE_COUNT]; /* by channel state */
	/* When its first data to send was ready, or when its first data came,
	 * and since when a buffer had waited for that. 0 if not known. */
	uint64_t first_ns, first_posted_ns;
	/* The sum, over so many of its steps, of when data was handed to the
	 * network or came; wraps around. */
	uint64_t moments_ns, moments;
	uint64_t last_ns; /* the latest of these moments */
};

/* The data between a part's rank and another one, in one direction, by all
 * channels. */
struct ncs_part_link {
	int32_t peer;
	bool send;
	uint16_t channels;
	uint32_t steps;
	float wait_ns; /* mean time that a step's buffer waited for data; 0 of
			   * what is sent */
	uint64_t mean_ns; /* mean time at which the network had the data, or at
			   * which data came; 0 if not known of all steps */
};

/* More links of a part are not kept. */
#define NCS_PART_LINKS 6u

/* A part: the share of one rank in one operation. */
struct ncs_part {
	uint64_t comm_id;
	int32_t rank;
	int32_t nranks;
	size_t owner; /* the caller's number of the rank */
	uint8_t function;
	uint8_t algorithm; /* NCS_CLASS_OTHER if not known */
	uint8_t protocol;
	uint8_t flags;      /* enum ncs_part_flag */
	int32_t peer;       /* or root; -1 if none */
	uint32_t range;     /* range it was called in; 0 if none or not known */
	uint32_t operation; /* number in the order in which operations began */
	uint32_t channels;  /* number of its channels, by direction and peer */
	/* Sequence number; of a transfer, how many came before it on its
	 * connection; NCS_NO_SEQUENCE_NUMBER if not known. */
	uint64_t number;
	uint64_t bytes;
	uint64_t stream; /* that it was launched on, as in records; 0: unknown */
	/* 0 if not known. OPERATION and LAST_END are always known. */
	uint64_t at_ns[NCS_MOMENT_COUNT];
	/* When the last data was handed to the network, or came: its kernel ended
	 * after the former, and consumed the latter. 0 if not known of all
	 * steps. The `came_ns` of struct ncs_children is of data that
	 * came alone, and of those steps that tell. */
	uint64_t last_data_ns;
	uint32_t stream_error_ns; /* of STREAM and STREAM_END, at most */
	uint32_t kernel_error_ns; /* of KERNEL and KERNEL_END, at most */
	uint32_t clock_error_ns;  /* of all of them, against other clocks */
	uint32_t clock;           /* the caller's number of its host's clock */
	/* The one that ended last; its steps are 0 if there is none. */
	struct ncs_part_channel slowest;
	uint64_t wait_ns[NCS_CHANNEL_STATE_COUNT]; /* of all channels */
	struct ncs_part_link links[NCS_PART_LINKS];
	uint32_t link_count;
	/* The sending channel whose steps took longest on the wire on average;
	 * its steps are 0 if there is none. */
	struct ncs_part_channel wire;
};

/* Returns the largest error in ns of a part's moment, by the clock of its host:
 * 0 for what the host itself saw. */
uint64_t ncs_part_error_ns(const struct ncs_part *part, enum ncs_moment moment);

/* Returns the largest error in ns of the time from one part's moment to another
 * part's. */
uint64_t ncs_parts_error_ns(const struct ncs_part *a, enum ncs_moment a_moment,
			    const struct ncs_part *b, enum ncs_moment b_moment);

/* Returns the earliest of the moments that may be the part's end. */
uint64_t ncs_part_first_end_ns(const struct ncs_part *part);

/* Returns a part's link to or from a rank; NULL if it has none. */
const struct ncs_part_link *ncs_part_link_of(const struct ncs_part *part,
					     int32_t peer, bool send);

/* Returns the mean time in ns for which the data of a link was on the way, at
 * most: its receiver may have had no buffer for it. The steps of both ends are the
 * same, so it is the difference of the mean times at the ends. Returns 0 if that is
 * not known. */
double ncs_link_message_ns(const struct ncs_part_link *send,
			   const struct ncs_part_link *receive);

struct ncs_parts;

/* Creates the parts of the rank that has this header; `owner` is the caller's
 * number of it. Returns NULL if there is no memory. Free them with
 * ncs_parts_free(), which accepts NULL. */
struct ncs_parts *ncs_parts_new(const struct ncs_header *header, size_t owner);
void ncs_parts_free(struct ncs_parts *parts);

/* Sets the caller's number of the host's clock, the largest error of its alignment
 * with other clocks in ns, and whether nothing but CLOCK_REALTIME aligns it. */
void ncs_parts_set_clock(struct ncs_parts *parts, uint32_t clock,
			 uint64_t error_ns, bool is_by_realtime);

/* Gives parts with their times by another clock from now on, which counts the
 * same ticks: the host's, as it is known now to be moved to a common one. Times
 * that the caller passes are by that clock, too. Times that were taken before
 * are moved with it. */
void ncs_parts_move(struct ncs_parts *parts, const struct ncs_clock *clock);

/* Takes from a snapshot what records do not report: the rank's identity, the
 * algorithms it uses for each size, and a reading of its GPU's clock. Call this
 * before records are taken. As the GPU's clock drifts, it is best to call this
 * with several snapshots, in order, that are spread over the time of the
 * records. Returns 0 or -ENOMEM. */
int ncs_parts_learn(struct ncs_parts *parts,
		    const struct ncs_snapshot *snapshot);

/* Leaves out, of the records that are taken from now on, those that others
 * replace. `replaced` is in its second pass, knows ranks by their owners, and must
 * outlive `parts`. Without this, a record that comes after its part was given out
 * is not used. */
void ncs_parts_look_ahead(struct ncs_parts *parts,
			  struct ncs_replaced_records *replaced);

/* Takes records of one lane that were read at `drained_ns`; `lost` records
 * right before them were overwritten. Returns 0, or -ENOMEM if parts will be
 * missing. */
int ncs_parts_take(struct ncs_parts *parts, const struct ncs_record *records,
		   size_t count, uint64_t lost, uint64_t drained_ns);

/* Promises that all records read until `drained_ns` were taken. UINT64_MAX
 * means that no more records will come at all. */
void ncs_parts_settle(struct ncs_parts *parts, uint64_t drained_ns);

/* Records of other lanes, and of the children of an operation that has ended, are
 * written at most this much later: so long a look waits for them. */
#define NCS_SETTLES_AFTER_NS UINT64_C(10000000)

/* Promises that all records of operations that ended by `ended_ns` were taken.
 * This holds NCS_SETTLES_AFTER_NS before a time up to which all lanes were read. */
void ncs_parts_settle_ended(struct ncs_parts *parts, uint64_t ended_ns);

/* Returns the next part, nearly in the order in which parts ended, or NULL if
 * there is none yet. It is valid until the next call for this rank. */
const struct ncs_part *ncs_parts_next(struct ncs_parts *parts);

struct ncs_parts_count {
	/* Records. Those that were overwritten before the first snapshot was
	 * learned from count if the others reach back less than
	 * NCS_LOOK_BACK_NS, and as long as that time is not over. */
	uint64_t lost;
	uint64_t from_ns;  /* since when operations are known then; else 0 */
	uint64_t dropped;  /* children of operations that have not ended */
};

/* Returns the counts up to now. They belong to `parts`. */
const struct ncs_parts_count *ncs_parts_count(const struct ncs_parts *parts);

#endif
