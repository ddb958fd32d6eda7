/* SPDX-License-Identifier: MIT */
/* A source whose ranks a test makes by hand; see scripted_source.h. */
#include "test/unit/support/scripted_source.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ncclstat/size_class.h"
#include "test/unit/support/unit.h"

static int begin(struct ncs_source *source, uint64_t now_ns, char *why,
		 size_t why_size)
{
	struct scripted *scripted = (struct scripted *)source;

	scripted->place = 0;
	scripted->now_ns = now_ns;
	if (scripted->begin_error)
		snprintf(why, why_size, "no luck");
	return scripted->begin_error;
}

static bool next(struct ncs_source *source, struct ncs_sample *sample)
{
	struct scripted *scripted = (struct scripted *)source;

	while (scripted->place < SCRIPTED_RANKS) {
		struct scripted_rank *rank =
			&scripted->ranks[scripted->place++];

		if (!rank->is_there)
			continue;
		memset(sample, 0, sizeof(*sample));
		sample->id = rank->id;
		sample->attach = rank->attach;
		sample->why = rank->why;
		if (rank->attach == NCS_ATTACHED) {
			if (!rank->is_past)
				rank->snapshot.taken_ns = scripted->now_ns;
			sample->is_old = rank->is_past;
			sample->is_past = rank->is_past;
			sample->node = rank->node;
			rank->snapshot.channels = rank->channels;
			rank->snapshot.operations = rank->operations;
			rank->snapshot.classes = rank->classes;
			rank->snapshot.class_buckets = rank->class_buckets;
			sample->header = &rank->header;
			sample->labels = rank->labels;
			sample->snapshot = &rank->snapshot;
			sample->clock_is_aligned = rank->clock_is_aligned;
			sample->clock_error_ns = rank->clock_error_ns;
			sample->records = rank->records;
			sample->record_count = rank->record_count;
			sample->records_lost = rank->records_lost;
		}
		return true;
	}
	return false;
}

static size_t list_nodes(struct ncs_source *source,
			 const struct ncs_node **nodes)
{
	struct scripted *scripted = (struct scripted *)source;

	*nodes = scripted->nodes;
	return scripted->node_count;
}

static void close_source(struct ncs_source *source)
{
	(void)source;
}

void scripted_init(struct scripted *scripted)
{
	memset(scripted, 0, sizeof(*scripted));
	scripted->source.begin = begin;
	scripted->source.next = next;
	scripted->source.nodes = list_nodes;
	scripted->source.close = close_source;
	ncs_model_init(&scripted->model);
}

void scripted_release(struct scripted *scripted)
{
	ncs_model_release(&scripted->model);
	for (size_t i = 0; i < SCRIPTED_RANKS; i++)
		for (size_t k = 0; k < NCS_FUNCTION_COUNT; k++)
			for (size_t m = 0; m < NCS_TIMING_COUNT; m++)
				free(scripted->ranks[i]
					     .snapshot.functions[k]
					     .histogram[m]);
}

int scripted_setup(void **state)
{
	static struct scripted scripted;

	scripted_init(&scripted);
	*state = &scripted;
	return 0;
}

int scripted_teardown(void **state)
{
	scripted_release(*state);
	return 0;
}

struct scripted_rank *scripted_add(struct scripted *scripted, int number)
{
	for (size_t i = 0; i < SCRIPTED_RANKS; i++) {
		struct scripted_rank *rank = &scripted->ranks[i];

		if (rank->id[0])
			continue;
		snprintf(rank->id, sizeof(rank->id), "scripted/%zu", i);
		rank->is_there = true;
		rank->header.api_version = 5;
		rank->header.clock.multiplier = UINT64_C(1) << 32;
		rank->header.pid = (uint32_t)(100 + number);
		rank->snapshot.identity.known = NCS_KNOWN_RANK |
						NCS_KNOWN_NRANKS;
		rank->snapshot.identity.rank = number;
		rank->snapshot.identity.nranks = 8;
		for (size_t k = 0; k < NCS_FUNCTION_COUNT; k++)
			rank->snapshot.functions[k].last_sequence_number =
				NCS_NO_SEQUENCE_NUMBER;
		return rank;
	}
	fail_msg("no room for another rank");
	return NULL;
}

void scripted_follow(struct scripted_rank *rank, uint64_t launch, uint64_t call,
		     uint64_t at_ns)
{
	struct ncs_function_view *view =
		&rank->snapshot.functions[NCS_FUNCTION_ALL_REDUCE];

	rank->snapshot.launches = (struct ncs_launches_view){
		.status = NCS_STREAM_ALL,
		.ended = launch - 1,
		.begun = launch - 1,
		.followed = launch - 1,
		.launched = launch - 1,
		.ended_ns = at_ns,
		.begun_ns = at_ns,
		.launched_ns = at_ns,
	};
	view->operations = view->operations_done = call;
	view->last_sequence_number = call - 1;
}

struct ncs_channel_view *scripted_channel(struct scripted_rank *rank,
					  unsigned channel, bool send, int peer)
{
	struct ncs_channel_view *view =
		&rank->channels[rank->snapshot.channel_count++];

	assert_true(rank->snapshot.channel_count <= SCRIPTED_CHANNELS);
	memset(view, 0, sizeof(*view));
	view->channel = (uint8_t)channel;
	view->send = send;
	view->peer = peer;
	return view;
}

struct ncs_class_view *scripted_class(struct scripted_rank *rank,
				      unsigned function, uint64_t bytes,
				      unsigned algorithm, unsigned protocol)
{
	struct ncs_class_view *view =
		&rank->classes[rank->snapshot.class_count++];

	assert_true(rank->snapshot.class_count <= SCRIPTED_CLASSES);
	*view = (struct ncs_class_view){
		.function = function,
		.size_class = ncs_size_class(bytes),
		.algorithm = algorithm,
		.protocol = protocol,
	};
	return view;
}

void scripted_class_times(struct scripted_rank *rank,
			  struct ncs_class_view *view, unsigned timing,
			  uint64_t count, uint64_t each_ns, uint64_t bytes)
{
	size_t place = rank->snapshot.class_bucket_count++;

	assert_true(place < SCRIPTED_BUCKETS);
	rank->class_buckets[place] = count;
	view->times[timing] = (struct ncs_class_times){
		.timed = count,
		.time_ns = count * each_ns,
		.bytes = bytes,
		.longest_ns = each_ns,
		.first = ncs_histogram_bucket(each_ns),
		.count = 1,
		.place = place,
	};
}

uint64_t *scripted_histogram(struct scripted_rank *rank, unsigned function,
			     unsigned timing)
{
	uint64_t **histogram =
		&rank->snapshot.functions[function].histogram[timing];

	if (!*histogram)
		*histogram = calloc(NCS_HISTOGRAM_BUCKETS, sizeof(uint64_t));
	assert_non_null(*histogram);
	return *histogram;
}

static void put_record(struct scripted_rank *rank,
		       const struct ncs_record *record)
{
	assert_true(rank->record_count < SCRIPTED_RECORDS);
	rank->records[rank->record_count++] = *record;
}

void scripted_all_reduces(struct scripted *scripted, unsigned count,
			  uint64_t first_ns, int late, uint64_t late_ns)
{
	for (size_t i = 0; i < SCRIPTED_RANKS; i++) {
		struct scripted_rank *rank = &scripted->ranks[i];
		uint64_t own_ns =
			rank->snapshot.identity.rank == late ? late_ns : 0;

		for (unsigned k = 0; rank->id[0] && k < count; k++) {
			struct ncs_record record = {
				.event = NCS_EVENT_COLL_API,
				.function = NCS_FUNCTION_ALL_REDUCE,
				.start = first_ns + UINT64_C(10000000) * k +
					 own_ns,
			};

			put_record(rank, &record);
			record.event = NCS_EVENT_COLL;
			record.flags = NCS_RECORD_ON_STREAM;
			record.delta[1] = 1;
			record.value = 8000000;
			record.operation = k + 1;
			record.number = k;
			record.duration = UINT64_C(5000000) - own_ns;
			put_record(rank, &record);
		}
	}
}

void scripted_pass(struct scripted *scripted, uint64_t now_ns)
{
	assert_int_equal(ncs_model_update(&scripted->model, &scripted->source,
					  now_ns),
			 0);
}

const struct ncs_rank *scripted_rank(const struct scripted *scripted,
				     int number)
{
	for (size_t i = 0; i < scripted->model.rank_count; i++) {
		const struct ncs_rank *rank = scripted->model.ranks[i];

		if (rank->now.identity.rank == number)
			return rank;
	}
	fail_msg("rank %d is not in the model", number);
	return NULL;
}
