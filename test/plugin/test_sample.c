/* SPDX-License-Identifier: MIT */
/* Sampling of records: ranks choose the same operations without communicating,
 * children are kept with their operation, slow operations are kept, and nothing
 * but records is ever missing. */
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "test/plugin/scenario.h"
#include "test/unit/support/unit.h"

#define LAST_API 7

/* Levels at which one operation in 4 and one in 16 is chosen. */
#define ONE_IN_4 2
#define ONE_IN_16 4

/* No operation takes that long, however busy the machine is. */
#define NEVER "86400s"

static void sample(const char *one_in, const char *slow)
{
	setenv("NCCLSTAT_SAMPLE", one_in, 1);
	setenv("NCCLSTAT_SAMPLE_SLOW", slow, 1);
	setenv("NCCLSTAT_SHM_BYTES", "256M", 1);
}

static bool is_left_out(const struct ncs_record *record)
{
	return record->flags & NCS_RECORD_LEFT_OUT;
}

static unsigned level_of(const struct ncs_record *record)
{
	return NCS_RECORD_LEVEL(record->flags);
}

static bool is_operation(const struct ncs_record *record)
{
	return record->event == NCS_EVENT_COLL ||
	       record->event == NCS_EVENT_P2P;
}

/* --- A job of eight ranks ---------------------------------------------- */

#define RANKS 8
#define COLLECTIVES 250 /* of each function, by rank */
#define TRANSFERS 20    /* from each rank to each rank */
#define FUNCTIONS 2
#define RECORD_MAX 8192

/* For each operation: true if its children's records were kept. */
struct chosen {
	bool collectives[RANKS][FUNCTIONS][COLLECTIVES];
	bool sent[RANKS][RANKS][TRANSFERS];     /* by sender and receiver */
	bool received[RANKS][RANKS][TRANSFERS]; /* by sender and receiver */
};

struct sampled_job {
	int api;
	unsigned level;
	struct chosen *chosen; /* shared with the parent */
};

static struct guest guests[RANKS];

/* At any time one thread of a rank is its proxy thread. */
static pthread_mutex_t proxies[RANKS];

/* Plays a rank's operations, at the thread's own pace. */
struct rank_worker {
	pthread_t thread;
	int rank;
	bool transfers; /* in addition to AllGather; else AllReduce only */
	unsigned seed;
};

/* The index of a function in struct chosen. */
static const char *const functions[FUNCTIONS] = { "AllReduce", "AllGather" };

static void dawdle(struct rank_worker *worker)
{
	for (int i = rand_r(&worker->seed) % 3; i > 0; i--)
		sched_yield();
}

static void *start_operation(int rank, uint64_t type, const char *func,
			     uint64_t seq_number, int peer)
{
	struct host_event event = {
		.type = type,
		.rank = rank,
		.comm_name = "guest",
		.comm_hash = GUEST_COMM_ID,
		.seq_number = seq_number,
		.func = func,
		.datatype = "ncclInt8",
		.algorithm = "RING",
		.protocol = "SIMPLE",
		.peer = peer,
		.count = 1024,
	};

	return start(&guests[rank], &event);
}

/* Plays an operation with a proxy operation of one step. */
static void play_operation(struct rank_worker *worker, uint64_t type,
			   const char *func, uint64_t seq_number, int peer)
{
	struct guest *guest = &guests[worker->rank];
	void *operation =
		start_operation(worker->rank, type, func, seq_number, peer);
	void *op, *step;

	stop(guest, operation);
	dawdle(worker);
	pthread_mutex_lock(&proxies[worker->rank]);
	op = start_proxy_op(guest, operation, 3, true, 2, 1);
	step = start_step(guest, op, 0);
	dawdle(worker);
	stop(guest, step);
	stop(guest, op);
	pthread_mutex_unlock(&proxies[worker->rank]);
}

/* Each rank sends to and receives from all ranks, in an order of its own; only
 * the order between two ranks is the same at both ends. */
static void transfer(struct rank_worker *worker)
{
	unsigned left[RANKS][2];

	for (unsigned i = 0; i < RANKS; i++)
		left[i][0] = left[i][1] = TRANSFERS;
	for (unsigned i = 0; i < RANKS * 2 * TRANSFERS; i++) {
		unsigned place;

		do
			place = (unsigned)rand_r(&worker->seed) % (RANKS * 2);
		while (left[place / 2][place % 2] == 0);
		left[place / 2][place % 2]--;
		play_operation(worker, NCCL_EVENT_P2P,
			       place % 2 ? "Send" : "Recv", 0,
			       (int)(place / 2));
	}
}

static void *work(void *argument)
{
	struct rank_worker *worker = argument;

	for (uint64_t i = 0; i < COLLECTIVES; i++)
		play_operation(worker, NCCL_EVENT_COLL,
			       functions[worker->transfers], i, 0);
	if (worker->transfers)
		transfer(worker);
	return NULL;
}

/* Notes which operations were chosen, in the order of their numbers. */
struct notes {
	struct chosen *chosen;
	int rank;
	unsigned sent[RANKS], received[RANKS];
};

static void note(struct notes *notes, const struct ncs_record *operation,
		 bool kept)
{
	int peer = operation->peer, rank = notes->rank;
	struct chosen *chosen = notes->chosen;

	if (operation->event == NCS_EVENT_COLL)
		chosen->collectives[rank][operation->function !=
					  NCS_FUNCTION_ALL_REDUCE]
				   [operation->number] = kept;
	else if (operation->function == NCS_FUNCTION_SEND)
		chosen->sent[rank][peer][notes->sent[peer]++] = kept;
	else
		chosen->received[peer][rank][notes->received[peer]++] = kept;
}

static int by_operation(const void *left, const void *right)
{
	const struct ncs_record *a = left, *b = right;

	if (a->operation != b->operation)
		return a->operation < b->operation ? -1 : 1;
	return is_operation(b) - is_operation(a);
}

/* Checks that each operation has the records of all its children, or of
 * none. */
static void read_rank(const struct sampled_job *job, int rank)
{
	static struct ncs_record records[RECORD_MAX];
	struct notes notes = { .chosen = job->chosen, .rank = rank };
	uint64_t lost = 0, kept = 0, left_out = 0;
	size_t count =
		view_records(&guests[rank].view, records, RECORD_MAX, &lost);

	CHECK_EQUAL(lost, 0, "the rings hold all of it");
	qsort(records, count, sizeof(records[0]), by_operation);
	for (size_t i = 0; i < count;) {
		const struct ncs_record *operation = &records[i++];
		size_t children = 0;

		CHECK(is_operation(operation), "a child without operation");
		CHECK_EQUAL(level_of(operation), job->level, "an operation");
		for (; i < count && !is_operation(&records[i]); i++) {
			CHECK_EQUAL(level_of(&records[i]), job->level,
				    "a child");
			children++;
		}
		CHECK_EQUAL(children, is_left_out(operation) ? 0 : 2,
			    "a proxy operation and its step");
		note(&notes, operation, children != 0);
		if (children)
			kept++;
		else
			left_out++;
	}
	CHECK_EQUAL(kept + left_out,
		    FUNCTIONS * COLLECTIVES + 2 * RANKS * TRANSFERS,
		    "operations");
	view_take(&guests[rank].view);
	CHECK_EQUAL(guests[rank].view.now.sampling.kept, kept, "the header");
	CHECK_EQUAL(guests[rank].view.now.sampling.left_out, left_out,
		    "the header");
	CHECK_EQUAL(guests[rank].view.now.sampling.slow, 0, "the header");
}

static void play_job(void *argument)
{
	static struct rank_worker workers[2 * RANKS];
	struct sampled_job *job = argument;
	struct host *host = open_plugin(job->api);

	for (int i = 0; i < RANKS; i++) {
		pthread_mutex_init(&proxies[i], NULL);
		guests[i].host = host;
		guests[i].context = init_comm(host, "guest", i);
		view_open(&guests[i].view, (size_t)i);
	}
	for (int i = 0; i < 2 * RANKS; i++) {
		workers[i] = (struct rank_worker){
			.rank = i / 2,
			.transfers = i % 2,
			.seed = (unsigned)(1000 * job->level) + (unsigned)i,
		};
		CHECK(pthread_create(&workers[i].thread, NULL, work,
				     &workers[i]) == 0,
		      "no thread");
	}
	for (int i = 0; i < 2 * RANKS; i++)
		pthread_join(workers[i].thread, NULL);
	for (int i = 0; i < RANKS; i++) {
		read_rank(job, i);
		host_finalize(host, guests[i].context);
		view_close(&guests[i].view);
	}
	host_close(host);
}

static struct chosen *shared_chosen(void)
{
	void *memory = mmap(NULL, sizeof(struct chosen), PROT_READ | PROT_WRITE,
			    MAP_SHARED | MAP_ANONYMOUS, -1, 0);

	assert_true(memory != MAP_FAILED);
	return memory;
}

static const struct chosen *choose(int api, const char *one_in, unsigned level)
{
	struct sampled_job job = {
		.api = api,
		.level = level,
		.chosen = shared_chosen(),
	};

	sample(one_in, NEVER);
	scenario_play(play_job, &job);
	return job.chosen;
}

static void free_chosen(const struct chosen *chosen)
{
	munmap((void *)(uintptr_t)chosen, sizeof(*chosen));
}

/* Asserts that `kept` is within five standard deviations of the expected
 * number. */
static void assert_share(unsigned kept, unsigned all, unsigned level,
			 const char *what)
{
	double share = 1.0 / (1 << level), expected = all * share;
	double off = kept - expected;

	print_message("%s: %u of %u kept\n", what, kept, all);
	if (off * off > 25 * expected * (1 - share))
		fail_msg("%s: %u of %u kept at level %u", what, kept, all,
			 level);
}

static void assert_agreement(const struct chosen *chosen, unsigned level)
{
	unsigned kept = 0, all = 0;

	for (unsigned i = 1; i < RANKS; i++)
		if (memcmp(chosen->collectives[0], chosen->collectives[i],
			   sizeof(chosen->collectives[0])) != 0)
			fail_msg("ranks 0 and %u chose other collectives", i);
	if (memcmp(chosen->sent, chosen->received, sizeof(chosen->sent)) != 0)
		fail_msg("sender and receiver chose other transfers");
	for (unsigned i = 0; i < FUNCTIONS; i++)
		for (unsigned k = 0; k < COLLECTIVES; k++)
			kept += chosen->collectives[0][i][k];
	assert_share(kept, FUNCTIONS * COLLECTIVES, level, "collectives");
	if (memcmp(chosen->collectives[0][0], chosen->collectives[0][1],
		   sizeof(chosen->collectives[0][0])) == 0)
		fail_msg("each function has a choice of its own");
	kept = 0;
	for (unsigned i = 0; i < RANKS; i++)
		for (unsigned k = 0; k < RANKS; k++)
			for (unsigned j = 0; j < TRANSFERS; j++, all++)
				kept += chosen->sent[i][k][j];
	assert_share(kept, all, level, "transfers");
}

TEST(all_ranks_keep_the_same_operations)
{
	static const int apis[] = { 2, 4, LAST_API };

	for (unsigned i = 0; i < sizeof(apis) / sizeof(apis[0]); i++) {
		const struct chosen *chosen = choose(apis[i], "4", ONE_IN_4);

		assert_agreement(chosen, ONE_IN_4);
		free_chosen(chosen);
	}
}

TEST(operations_kept_at_a_level_are_kept_at_all_lower_levels)
{
	const struct chosen *more = choose(LAST_API, "4", ONE_IN_4);
	const struct chosen *less = choose(LAST_API, "16", ONE_IN_16);
	const bool *of_more = (const bool *)more;
	const bool *of_less = (const bool *)less;

	assert_agreement(less, ONE_IN_16);
	for (size_t i = 0; i < sizeof(*more) / sizeof(bool); i++)
		if (of_less[i] && !of_more[i])
			fail_msg("choice %zu is kept at 1/16, not at 1/4", i);
	free_chosen(more);
	free_chosen(less);
}

/* --- Graph replays ----------------------------------------------------- */

#define REPLAYS 1000

/* The sequence numbers that a replayed graph reports. */
struct replays {
	uint64_t first, count; /* the numbers of the capture, cyclically */
};

/* Two ranks replay a graph; one of them reads which operations are kept. */
static void play_replays(void *argument)
{
	const struct replays *replays = argument;
	static bool kept[2][REPLAYS];
	struct host *host = open_plugin(LAST_API);
	unsigned sum = 0;

	for (int rank = 0; rank < 2; rank++) {
		struct rank_worker worker = { .rank = rank };
		struct ncs_record found;

		pthread_mutex_init(&proxies[rank], NULL);
		guests[rank].host = host;
		guests[rank].context = init_comm(host, "guest", rank);
		view_open(&guests[rank].view, (size_t)rank);
		for (unsigned i = 0; i < REPLAYS; i++) {
			play_operation(&worker, NCCL_EVENT_COLL, "AllReduce",
				       replays->first + i % replays->count, 0);
			while (next_record(&guests[rank], &found))
				kept[rank][i] |= !is_operation(&found);
			sum += kept[rank][i];
		}
	}
	CHECK(memcmp(kept[0], kept[1], sizeof(kept[0])) == 0,
	      "the ranks agree on replays, too");
	CHECK(sum > 2 * REPLAYS * 3 / 20 && sum < 2 * REPLAYS * 7 / 20,
	      "%u of %u replays kept at 1/4", sum, 2 * REPLAYS);
	for (int rank = 0; rank < 2; rank++) {
		host_finalize(host, guests[rank].context);
		view_close(&guests[rank].view);
	}
	host_close(host);
}

TEST(replays_of_a_graph_are_sampled_independently)
{
	/* The latest number repeatedly, and the numbers of the capture. */
	struct replays replays[] = { { 5, 1 }, { 17, 3 } };

	sample("4", NEVER);
	for (unsigned i = 0; i < 2; i++)
		scenario_play(play_replays, &replays[i]);
}

/* --- Children ---------------------------------------------------------- */

/* Plays every kind of child that an operation can have. Returns the level of
 * its record. */
static struct ncs_record play_family(struct guest *guest, uint64_t seq_number,
				     unsigned *children)
{
	void *coll = start_coll(guest, seq_number, GUEST_COLL_ELEMENTS);
	struct ncs_record found, operation = { 0 };
	void *op, *step, *net, *kernel, *phase;
	unsigned seen = 0;

	stop(guest, coll);
	op = start_proxy_op(guest, coll, 3, true, 2, 1);
	record(guest, op, NCCL_STATE_OP_IN_PROGRESS);
	step = start_step(guest, op, 0);
	net = start_type(guest, NCCL_EVENT_NET_PLUGIN, step);
	kernel = start_kernel(guest, coll, 3, 1000);
	phase = start_type(guest, NCCL_EVENT_KERNEL_PHASE, kernel);
	stop(guest, net);
	stop(guest, phase);
	stop(guest, step);
	record_timer(guest, kernel, NCCL_STATE_KERNEL_CH_STOP, 2000);
	stop(guest, kernel);
	stop(guest, op);
	*children = 0;
	while (next_record(guest, &found)) {
		if (is_operation(&found)) {
			operation = found;
			continue;
		}
		CHECK_EQUAL(level_of(&found), ONE_IN_4, "as its operation");
		CHECK(!is_left_out(&found), "no stop is missing");
		seen |= 1u << found.event;
		++*children;
	}
	CHECK_EQUAL(operation.event, NCS_EVENT_COLL,
		    "the operation's record is always there");
	if (*children)
		CHECK_EQUAL(seen,
			    1u << NCS_EVENT_PROXY_OP |
				    1u << NCS_EVENT_PROXY_STEP |
				    1u << NCS_EVENT_NET_PLUGIN |
				    1u << NCS_EVENT_KERNEL_CH |
				    1u << NCS_EVENT_KERNEL_PHASE,
			    "each child has its record");
	return operation;
}

static void play_families(void *argument)
{
	unsigned kept = 0, left_out = 0, children;
	struct ncs_record found;
	struct guest guest;
	void *orphan;

	(void)argument;
	guest_open(&guest, LAST_API);
	for (uint64_t i = 0; i < 64; i++) {
		struct ncs_record operation = play_family(&guest, i, &children);

		CHECK_EQUAL(children, is_left_out(&operation) ? 0 : 5,
			    "all children, or none");
		if (children)
			kept++;
		else
			left_out++;
	}
	CHECK(kept && left_out, "%u kept, %u left out", kept, left_out);
	view_take(&guest.view);
	CHECK_EQUAL(guest.view.now.sampling.level, ONE_IN_4, "the header");
	CHECK_EQUAL(guest.view.now.events[NCS_EVENT_PROXY_STEP], 64,
		    "events are counted all the same");
	CHECK_EQUAL(view_channel(&guest.view, 3, true, 2)->steps_done, 64,
		    "steps are counted");
	CHECK_EQUAL(
		guest.view.now.functions[COLL_FUNCTION].timed[NCS_TIMING_KERNEL],
		64, "times are counted");
	orphan = start_proxy_op(&guest, NULL, 3, true, 2, 1);
	stop(&guest, start_step(&guest, orphan, 0));
	stop(&guest, orphan);
	for (unsigned i = 0; i < 2; i++) {
		CHECK(next_record(&guest, &found), "an orphan is kept");
		CHECK_EQUAL(level_of(&found), 0,
			    "the record stands for itself");
	}
	guest_close(&guest);
}

TEST(children_are_kept_with_their_operation)
{
	sample("3", NEVER); /* at 1 in 4 */
	scenario_play(play_families, NULL);
}

/* --- Slow operations --------------------------------------------------- */

static void wait_ns(uint64_t duration_ns)
{
	struct timespec pause = {
		.tv_sec = (time_t)(duration_ns / UINT64_C(1000000000)),
		.tv_nsec = (long)(duration_ns % UINT64_C(1000000000)),
	};

	while (nanosleep(&pause, &pause) != 0)
		;
}

#define SLOW "1ms"
#define SLOW_NS 1000000

/* Sequence numbers of operations that are not kept at level 14. */
static void check_kept_for_being_slow(struct guest *guest, enum ncs_event event)
{
	struct ncs_record found = expect_record(guest, event, "it is slow");

	CHECK_EQUAL(level_of(&found), NCS_LEVEL_SLOW, "not chosen");
	CHECK(!is_left_out(&found), "the child's record is there");
}

/* Plays an operation that takes at least twice the time that *argument is, in ns. */
static void play_slowly(void *argument)
{
	struct guest guest;
	void *coll, *op, *other, *steps[2];

	guest_open(&guest, LAST_API);
	coll = start_coll(&guest, 0, GUEST_COLL_ELEMENTS);
	stop(&guest, coll);
	op = start_proxy_op(&guest, coll, 3, true, 2, 2);
	record(&guest, op, NCCL_STATE_OP_IN_PROGRESS);
	steps[0] = start_step(&guest, op, 0);
	steps[1] = start_step(&guest, op, 1);
	wait_ns(2 * *(const uint64_t *)argument);
	stop(&guest, steps[0]);
	check_kept_for_being_slow(&guest, NCS_EVENT_PROXY_STEP);
	/* From then on, all of its children are kept. */
	stop(&guest, steps[1]);
	check_kept_for_being_slow(&guest, NCS_EVENT_PROXY_STEP);
	other = start_proxy_op(&guest, coll, 4, true, 2, 1);
	stop(&guest, start_step(&guest, other, 0));
	check_kept_for_being_slow(&guest, NCS_EVENT_PROXY_STEP);
	stop(&guest, other);
	check_kept_for_being_slow(&guest, NCS_EVENT_PROXY_OP);
	stop(&guest, op);
	check_kept_for_being_slow(&guest, NCS_EVENT_PROXY_OP);
	check_kept_for_being_slow(&guest, NCS_EVENT_COLL);
	view_take(&guest.view);
	CHECK_EQUAL(guest.view.now.sampling.slow, 1, "one operation");
	CHECK_EQUAL(guest.view.now.sampling.left_out, 1,
		    "the operation was not chosen");
	guest_close(&guest);
}

static void play_a_slow_kernel(void *argument)
{
	struct guest guest;
	void *coll, *kernel, *phase;

	(void)argument;
	guest_open(&guest, LAST_API);
	coll = start_coll(&guest, 0, GUEST_COLL_ELEMENTS);
	stop(&guest, coll);
	kernel = start_kernel(&guest, coll, 3, 1000);
	phase = start_type(&guest, NCCL_EVENT_KERNEL_PHASE, kernel);
	wait_ns(2 * SLOW_NS);
	stop(&guest, phase);
	check_kept_for_being_slow(&guest, NCS_EVENT_KERNEL_PHASE);
	stop(&guest, kernel);
	/* The operation ends with its last child, before the child's own
	 * record. */
	check_kept_for_being_slow(&guest, NCS_EVENT_COLL);
	check_kept_for_being_slow(&guest, NCS_EVENT_KERNEL_CH);
	guest_close(&guest);
}

/* A late child that is quick itself belongs to a slow operation. */
static void play_a_late_part(void *argument)
{
	struct guest guest;
	void *coll, *first, *late;

	(void)argument;
	guest_open(&guest, LAST_API);
	coll = start_coll(&guest, 0, GUEST_COLL_ELEMENTS);
	stop(&guest, coll);
	first = start_proxy_op(&guest, coll, 3, true, 2, 1);
	late = start_proxy_op(&guest, coll, 4, true, 2, 1);
	record(&guest, first, NCCL_STATE_OP_IN_PROGRESS);
	wait_ns(2 * SLOW_NS);
	record(&guest, late, NCCL_STATE_OP_IN_PROGRESS);
	stop(&guest, late);
	check_kept_for_being_slow(&guest, NCS_EVENT_PROXY_OP);
	stop(&guest, first);
	check_kept_for_being_slow(&guest, NCS_EVENT_PROXY_OP);
	check_kept_for_being_slow(&guest, NCS_EVENT_COLL);
	guest_close(&guest);
}

TEST(slow_operations_are_kept_and_represent_only_themselves)
{
	uint64_t slow_ns = SLOW_NS;

	sample("16384", SLOW);
	scenario_play(play_slowly, &slow_ns);
	scenario_play(play_a_slow_kernel, NULL);
	scenario_play(play_a_late_part, NULL);
}

TEST(without_a_valid_time_operations_are_slow_from_the_default_on)
{
	uint64_t default_ns = 10000000;

	sample("16384", "86401s");
	scenario_play(play_slowly, &default_ns);
}

static uint64_t monotonic_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * UINT64_C(1000000000) +
	       (uint64_t)now.tv_nsec;
}

#define QUEUE "100ms"
#define QUEUE_NS UINT64_C(100000000)

/* An operation that was enqueued long before the proxy begins it has waited,
 * but is not slow. If the machine is so busy that starting takes as long, the
 * test proves nothing. */
static void play_queued(void *argument)
{
	struct ncs_record found;
	struct guest guest;
	uint64_t since, took;
	void *coll, *op;

	(void)argument;
	guest_open(&guest, LAST_API);
	do {
		read_all_records(&guest);
		coll = start_coll(&guest, 0, GUEST_COLL_ELEMENTS);
		stop(&guest, coll);
		op = start_proxy_op(&guest, coll, 3, true, 2, 2);
		wait_ns(QUEUE_NS + QUEUE_NS / 10);
		since = monotonic_ns();
		record(&guest, op, NCCL_STATE_OP_IN_PROGRESS);
		stop(&guest, start_step(&guest, op, 0));
		stop(&guest, op);
		took = monotonic_ns() - since;
	} while (took > QUEUE_NS / 2);
	found = expect_record(&guest, NCS_EVENT_COLL, "its own");
	CHECK(is_left_out(&found), "the operation was quick once it had begun");
	CHECK(!next_record(&guest, &found), "nothing of its children");
	guest_close(&guest);
}

TEST(queued_operation_is_not_slow)
{
	sample("16384", QUEUE);
	scenario_play(play_queued, NULL);
}

/* --- Records that are never sampled ------------------------------------ */

TEST(sampling_does_not_change_the_tables)
{
	scenario_compare_dumps(
		"--sample=64",
		"net-v1-mix net-v3-mix net-v5-ddp8 net-v5-graph");
}
