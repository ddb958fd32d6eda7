/* SPDX-License-Identifier: MIT */
/* Counting by function, size class, algorithm and protocol: numbers are exact
 * with any number of threads, and nothing is lost if there is no room. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "plugin/state/comm.h"
#include "test/plugin/scenario.h"
#include "test/unit/support/unit.h"

#define LAST_API 7

#ifdef NCS_TSAN
#define ROUNDS 2000
#else
#define ROUNDS 20000
#endif

struct traffic {
	const char *func, *algorithm, *protocol;
	size_t bytes;
};

/* Plays an operation whose kernel takes `ns`; 0: without a timed kernel. The
 * operation keeps its slot among those that other threads start, since it has a
 * child when it is enqueued. */
static void play(struct guest *guest, const struct traffic *traffic,
		 uint64_t ns)
{
	struct host_event event = {
		.type = NCCL_EVENT_COLL,
		.func = traffic->func,
		.algorithm = traffic->algorithm,
		.protocol = traffic->protocol,
		.datatype = "ncclInt8",
		.count = traffic->bytes,
	};
	void *coll = start(guest, &event);
	void *kernel = ns ? start_kernel(guest, coll, 0, 1000) : NULL;

	stop(guest, coll);
	if (!kernel)
		return;
	record_timer(guest, kernel, NCCL_STATE_KERNEL_CH_STOP, 1000 + ns);
	stop(guest, kernel);
}

static const struct ncs_class_view *
find_class(const struct guest *guest, unsigned function, unsigned size_class,
	   unsigned algorithm, unsigned protocol)
{
	const struct ncs_snapshot *now = &guest->view.now;

	for (size_t i = 0; i < now->class_count; i++) {
		const struct ncs_class_view *view = &now->classes[i];

		if (view->function == function &&
		    view->size_class == size_class &&
		    view->algorithm == algorithm && view->protocol == protocol)
			return view;
	}
	scenario_fail(__FILE__, __LINE__, NULL, "no class %u %u %u %u",
		      function, size_class, algorithm, protocol);
}

static void check_class(const struct guest *guest, unsigned function,
			unsigned size_class, unsigned algorithm,
			unsigned protocol, uint64_t operations, uint64_t timed,
			uint64_t time_ns, uint64_t bytes, uint64_t longest_ns)
{
	const struct ncs_class_view *view =
		find_class(guest, function, size_class, algorithm, protocol);
	const struct ncs_class_times *times = &view->times[NCS_TIMING_KERNEL];

	CHECK_EQUAL(view->operations, operations, "operations");
	CHECK_EQUAL(times->timed, timed, "timed");
	CHECK_EQUAL(times->time_ns, time_ns, "time");
	CHECK_EQUAL(times->bytes, bytes, "bytes");
	CHECK_EQUAL(times->longest_ns, longest_ns, "the longest");
	CHECK_EQUAL(view->times[NCS_TIMING_PROXY].timed, 0, "no proxy");
}

GUEST_SCENARIO(each_class_counts_its_own_operations, LAST_API)
{
	static const struct traffic small = { "AllReduce", "RING", "LL", 100 };
	static const struct traffic large = { "AllReduce", "RING", "SIMPLE",
					      1 << 20 };
	static const struct traffic tree = { "AllReduce", "TREE", "LL", 127 };
	static const struct traffic gather = { "AllGather", "RING", "LL", 100 };

	play(guest, &small, 500);
	play(guest, &small, 900);
	play(guest, &small, 0);
	play(guest, &large, 77);
	play(guest, &tree, 1);
	play(guest, &gather, 2);
	view_take(&guest->view);
	CHECK_EQUAL(guest->view.now.class_count, 4, "classes");
	check_class(guest, NCS_FUNCTION_ALL_REDUCE, 8, NCS_ALGORITHM_RING,
		    NCS_PROTOCOL_LL, 3, 2, 1400, 200, 900);
	check_class(guest, NCS_FUNCTION_ALL_REDUCE, 22, NCS_ALGORITHM_RING,
		    NCS_PROTOCOL_SIMPLE, 1, 1, 77, 1 << 20, 77);
	check_class(guest, NCS_FUNCTION_ALL_REDUCE, 8, NCS_ALGORITHM_TREE,
		    NCS_PROTOCOL_LL, 1, 1, 1, 127, 1);
	/* 100 bytes of each of 4 ranks. */
	check_class(guest, NCS_FUNCTION_ALL_GATHER, 10, NCS_ALGORITHM_RING,
		    NCS_PROTOCOL_LL, 1, 1, 2, 400, 2);
	CHECK_EQUAL(
		guest->view.now.functions[NCS_FUNCTION_ALL_REDUCE]
			.histogram[NCS_TIMING_KERNEL][ncs_histogram_bucket(77)],
		1, "the function's times are those of its classes");
	check_losses(guest, "classes", END_OF_LOSSES);
}

/* A kernel reported after the operation seemed finished makes its time
 * longer. */
GUEST_SCENARIO(growing_time_is_counted_once, LAST_API)
{
	void *coll, *kernel;

	coll = start_coll(guest, 0, 250);
	stop(guest, coll);
	for (unsigned i = 0; i < 3; i++) {
		kernel = start_kernel(guest, coll, i, 1000);
		record_timer(guest, kernel, NCCL_STATE_KERNEL_CH_STOP,
			     1000 + 100 * (i + 1));
		stop(guest, kernel);
		view_take(&guest->view);
		check_class(guest, COLL_FUNCTION, 11, NCS_ALGORITHM_RING,
			    guest->view.now.classes[0].protocol, 1, 1,
			    100 * (i + 1), 1000, 100 * (i + 1));
	}
}

/* --- No room ----------------------------------------------------------- */

#define SIZES 40

/* Five times as many classes as there is room for. */
GUEST_SCENARIO(operations_without_a_class_count_in_their_functions, LAST_API)
{
	static const char *const algorithms[] = { "RING", "TREE", "NVLS",
						  "PAT" };
	static const char *const protocols[] = { "LL", "SIMPLE" };
	const struct ncs_header *header;
	uint64_t own = 0, other = 0, timed = 0, longest = 0;
	unsigned with_times = 0, classes = 0;

	header = ncs_reader_header(guest->view.reader);
	for (unsigned i = 0; i < SIZES * 4 * 2; i++) {
		struct traffic traffic = {
			"AllReduce",
			algorithms[i / SIZES % 4],
			protocols[i / SIZES / 4],
			(size_t)1 << i % SIZES,
		};

		play(guest, &traffic, 100 + i);
		play(guest, &traffic, 100 + i);
	}
	view_take(&guest->view);
	for (size_t i = 0; i < guest->view.now.class_count; i++) {
		const struct ncs_class_view *view = &guest->view.now.classes[i];
		const struct ncs_class_times *times =
			&view->times[NCS_TIMING_KERNEL];

		if (view->size_class == NCS_CLASS_OTHER) {
			other += view->operations;
			longest = times->longest_ns;
		} else {
			CHECK_EQUAL(view->operations, 2, "its own");
			CHECK(times->timed == 2 || times->timed == 0,
			      "all of its times or none");
			own += view->operations;
			classes++;
			with_times += times->timed == 2;
		}
		timed += times->timed;
	}
	CHECK_EQUAL(own + other, 2 * SIZES * 4 * 2, "all operations");
	CHECK_EQUAL(timed, 2 * SIZES * 4 * 2, "all times");
	CHECK(classes > 48 && classes <= header->classes.count - 16,
	      "%u classes in %u places", classes, header->classes.count);
	/* A function's own class may be among the first three quarters. */
	CHECK(with_times <= header->histograms.count * 3 / 4 &&
		      with_times >= header->histograms.count * 3 / 4 - 1,
	      "%u with times of %u: the others are for functions", with_times,
	      header->histograms.count);
	CHECK_EQUAL(longest, 100 + SIZES * 4 * 2 - 1, "seen in the function's");
	check_losses(guest, "nothing is lost", END_OF_LOSSES);
}

/* --- Threads ----------------------------------------------------------- */

#define THREADS 4

struct player {
	struct guest *guest;
	unsigned index;
};

/* Each class is used by two threads, at the same time. */
static void *play_rounds(void *argument)
{
	const struct player *player = argument;

	for (unsigned i = 0; i < ROUNDS; i++) {
		unsigned size = i * 16 / ROUNDS;
		struct traffic traffic = {
			"AllReduce",
			"RING",
			player->index % 2 ? "LL" : "SIMPLE",
			(size_t)1 << size,
		};

		play(player->guest, &traffic, 1000 + size);
	}
	return NULL;
}

GUEST_SCENARIO(threads_sharing_classes_count_exactly, LAST_API)
{
	struct player players[THREADS];
	pthread_t threads[THREADS];

	for (unsigned i = 0; i < THREADS; i++) {
		players[i] = (struct player){ guest, i };
		CHECK(pthread_create(&threads[i], NULL, play_rounds,
				     &players[i]) == 0,
		      "pthread_create");
	}
	for (unsigned i = 0; i < THREADS; i++)
		pthread_join(threads[i], NULL);
	view_take(&guest->view);
	CHECK_EQUAL(guest->view.now.class_count, 32, "classes");
	for (unsigned i = 0; i < 32; i++) {
		uint64_t count = 2 * ROUNDS / 16;

		check_class(guest, NCS_FUNCTION_ALL_REDUCE, 2 + i / 2,
			    NCS_ALGORITHM_RING,
			    i % 2 ? NCS_PROTOCOL_LL : NCS_PROTOCOL_SIMPLE,
			    count, count, count * (1000 + i / 2),
			    count << i / 2, 1000 + i / 2);
	}
}
