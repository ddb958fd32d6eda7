/* SPDX-License-Identifier: MIT */
/* The end of an operation's launch, told by two threads at once. */
#include <pthread.h>
#include <sched.h>

#include "test/unit/support/unit.h"

/* Included as text: the plugin's objects are for a shared library. */
#include "plugin/events/operation.c"

#define OPERATIONS 100u
#define ROUNDS 50000u
#define LAUNCH 7u
#define TAG 1u

struct ncs_registry ncs_registry = {
	.clock = { .multiplier = UINT64_C(1) << 32 },
};
__thread uint32_t ncs_thread_index;

static struct ncs_header header;
static struct ncs_comm comm;
static struct ncs_lane lane;
static struct ncs_lane_state lane_state;
static struct ncs_operation published[OPERATIONS];
static struct ncs_operation_slot operations[OPERATIONS];
static uint64_t arrived;
static unsigned broken;

/* --- Functions that operation.c calls, but an end without a time does not - */

uint16_t ncs_class_count(struct ncs_comm *in,
			 const struct ncs_operation_facts *facts,
			 bool size_known, uint64_t bytes)
{
	(void)in, (void)facts, (void)size_known, (void)bytes;
	return 0;
}

struct ncs_histogram *ncs_class_histogram(struct ncs_comm *in,
					  uint16_t class_index,
					  uint8_t function,
					  enum ncs_timing timing)
{
	(void)in, (void)class_index, (void)function, (void)timing;
	return NULL;
}

void ncs_class_add_time(struct ncs_histogram *histogram, uint64_t ns,
			uint64_t bytes)
{
	(void)histogram, (void)ns, (void)bytes;
}

void ncs_class_change_time(struct ncs_histogram *histogram, uint64_t before_ns,
			   uint64_t ns)
{
	(void)histogram, (void)before_ns, (void)ns;
}

struct ncs_lane_state *ncs_lane_claim(struct ncs_comm *in)
{
	(void)in;
	return NULL;
}

void ncs_lane_publish_operation(struct ncs_lane_state *state,
				const struct ncs_record *record,
				uint64_t stream)
{
	(void)state, (void)record, (void)stream;
}

void ncs_range_operation(struct ncs_comm *in, uint32_t number, bool size_known,
			 uint64_t bytes)
{
	(void)in, (void)number, (void)size_known, (void)bytes;
}

void ncs_range_first_child(struct ncs_comm *in,
			   const struct ncs_operation_slot *op)
{
	(void)in, (void)op;
}

void ncs_range_begin(struct ncs_comm *in, uint32_t number, uint64_t now)
{
	(void)in, (void)number, (void)now;
}

void ncs_range_end_busy(struct ncs_comm *in, uint32_t number, uint64_t now)
{
	(void)in, (void)number, (void)now;
}

void ncs_range_time(struct ncs_comm *in, struct ncs_lane_state *state,
		    const struct ncs_operation_slot *op, enum ncs_timing timing,
		    uint64_t ns, uint64_t bytes, uint64_t before)
{
	(void)in, (void)state, (void)op, (void)timing, (void)ns, (void)bytes;
	(void)before;
}

uint64_t ncs_sampling_choose(struct ncs_comm *in,
			     const struct ncs_operation_facts *facts,
			     uint64_t transfer)
{
	(void)in, (void)facts, (void)transfer;
	return 0;
}

uint64_t ncs_transfers_count(struct ncs_comm *in, int32_t peer, bool send,
			     bool captured)
{
	(void)in, (void)peer, (void)send, (void)captured;
	return 0;
}

/* --- The test ------------------------------------------------------------ */

static void begin_all(void)
{
	for (unsigned i = 0; i < OPERATIONS; i++) {
		operations[i] = (struct ncs_operation_slot){
			.tag = TAG,
			.number = i + 1,
			.published = &published[i],
			.launch = LAUNCH,
			.children = ncs_children_none(TAG) | NCS_LAUNCH_PENDING,
		};
		published[i].number = i + 1;
	}
}

/* Waits until both threads have come here as often. */
static void meet(uint64_t times)
{
	unsigned spins = 0;

	ncs_add_acquire_release(&arrived, 1);
	while (ncs_load_acquire(&arrived) < 2 * times)
		if (++spins % 1000 == 0)
			sched_yield();
}

/* A second end takes away what is not there. */
static void check_all(void)
{
	for (unsigned i = 0; i < OPERATIONS; i++)
		if (operations[i].children !=
		    (ncs_children_none(TAG) | NCS_CHILDREN_COUNTED))
			broken++;
}

static void *end_all(void *is_other)
{
	const struct ncs_launch_end end = { 0 };

	for (unsigned round = 0; round < ROUNDS; round++) {
		if (!is_other)
			begin_all();
		meet(2 * round + 1);
		for (unsigned i = 0; i < OPERATIONS; i++)
			ncs_operation_launch_done(&comm, &lane_state,
						  &operations[i], LAUNCH, &end,
						  1);
		meet(2 * round + 2);
		if (!is_other)
			check_all();
	}
	return NULL;
}

TEST(two_threads_end_an_operation_once)
{
	pthread_t other;

	comm.header = &header;
	lane_state.published = &lane;
	lane_state.shared = true;
	assert_int_equal(pthread_create(&other, NULL, end_all, &comm), 0);
	end_all(NULL);
	pthread_join(other, NULL);
	assert_int_equal(broken, 0);
	assert_int_equal(lane.functions[0].operations_done,
			 ROUNDS * OPERATIONS);
}
