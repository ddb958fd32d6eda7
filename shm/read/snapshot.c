/* SPDX-License-Identifier: MIT */
/* Copies a segment's state into a snapshot; implements that part of
 * ncclstat/snapshot.h. Operations, classes and ranges have files of their own. */
#include "ncclstat/snapshot.h"

#include <errno.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>

#include "shm/clock.h"
#include "shm/control.h"
#include "shm/read/liveness.h"
#include "shm/read/reader_internal.h"
#include "shm/segment.h"
#include "shm/seqlock.h"

int ncs_snapshot_init(struct ncs_snapshot *snapshot,
		      const struct ncs_reader *reader)
{
	const struct ncs_header *header = &reader->header;

	memset(snapshot, 0, sizeof(*snapshot));
	/* Not zeroed: entries beyond the counts are never read, and untouched
	 * pages take no memory. */
	snapshot->channels =
		malloc(header->channels.count * sizeof(*snapshot->channels));
	snapshot->operations = malloc(header->operations.count *
				      sizeof(*snapshot->operations));
	snapshot->lanes = calloc(header->lanes.count, sizeof(*snapshot->lanes));
	if (!snapshot->channels || !snapshot->operations || !snapshot->lanes ||
	    ncs_ranges_init(snapshot, header) != 0 ||
	    ncs_classes_init(snapshot, header) != 0) {
		ncs_snapshot_release(snapshot);
		return -ENOMEM;
	}
	return 0;
}

void ncs_snapshot_release(struct ncs_snapshot *snapshot)
{
	ncs_classes_release(snapshot);
	ncs_ranges_release(snapshot);
	free(snapshot->channels);
	free(snapshot->operations);
	free(snapshot->lanes);
	memset(snapshot, 0, sizeof(*snapshot));
}

/* Copies a block under a seqlock. An image does not change while it is read, so
 * there retries are useless. */
static void copy_block(struct ncs_snapshot *snapshot,
		       const struct ncs_reader *reader, void *copy,
		       const void *block, size_t bytes)
{
	size_t words = bytes / sizeof(uint64_t);

	if (!(ncs_reader_is_image(reader) ?
		      ncs_seqlock_try(copy, block, words) :
		      ncs_seqlock_read(copy, block, words)))
		snapshot->torn = true;
}

/* Returns a value of an enumeration; `otherwise` if it is none of the known ones. */
static unsigned known_or(uint64_t value, unsigned count, unsigned otherwise)
{
	return value < count ? (unsigned)value : otherwise;
}

static void take_proxy(struct ncs_snapshot *snapshot,
		       const struct ncs_reader *reader)
{
	const struct ncs_clock *clock = &reader->header.clock;
	struct ncs_proxy_view *view = &snapshot->proxy;
	struct ncs_proxy copy;

	copy_block(snapshot, reader, &copy,
		   &ncs_reader_mapped_header(reader)->proxy, sizeof(copy));
	view->state =
		known_or(copy.state, NCS_PROXY_STATE_COUNT, NCS_PROXY_UNKNOWN);
	view->since_ns = ncs_clock_ns(clock, copy.since);
	view->appended_operations = copy.appended_operations;
	for (size_t i = 0; i < NCS_PROXY_STATE_COUNT; i++)
		view->time_ns[i] = ncs_clock_duration_ns(clock, copy.time[i]);
	for (size_t i = 0; i < NCS_TRANSITION_COUNT; i++)
		view->count[i] = copy.count[i];
	view->time_ns[view->state] +=
		ncs_snapshot_running_ns(snapshot, view->since_ns);
}

static void take_sampling(struct ncs_snapshot *snapshot,
			  const struct ncs_reader *reader)
{
	const struct ncs_sampling *sampling =
		&ncs_reader_mapped_header(reader)->sampling;
	uint64_t level = ncs_load_relaxed(&sampling->level);

	snapshot->sampling = (struct ncs_sampling_view){
		.level = known_or(level, NCS_LEVEL_MAX, NCS_LEVEL_MAX),
		.slow_ns = ncs_load_relaxed(&sampling->slow_ns),
		.kept = ncs_load_relaxed(&sampling->kept),
		.left_out = ncs_load_relaxed(&sampling->left_out),
		.slow = ncs_load_relaxed(&sampling->slow),
	};
}

static void take_kernel(struct ncs_snapshot *snapshot,
			const struct ncs_reader *reader)
{
	const struct ncs_kernel *kernel =
		&ncs_reader_mapped_header(reader)->kernel;
	struct ncs_kernel_view *view = &snapshot->kernel;

	view->status = known_or(ncs_load_relaxed(&kernel->status),
				NCS_KERNEL_STATUS_COUNT, NCS_KERNEL_UNKNOWN);
	view->mode = known_or(ncs_load_relaxed(&kernel->mode),
			      NCS_KERNEL_TIMING_COUNT, NCS_KERNEL_TIMING_OFF);
	view->counted = (reader->header.version & 0xffff) <= 5;
	if (!view->counted)
		return;
	view->period = ncs_load_relaxed(&kernel->period);
	view->timed_calls = ncs_load_relaxed(&kernel->timed_calls);
	view->captured_on = ncs_load_relaxed(&kernel->captured_on);
	view->captured_off = ncs_load_relaxed(&kernel->captured_off);
}

static void take_cupti(struct ncs_snapshot *snapshot,
		       const struct ncs_reader *reader)
{
	const struct ncs_cupti *cupti =
		&ncs_reader_mapped_header(reader)->cupti;
	struct ncs_cupti_view *view = &snapshot->cupti;
	uint64_t status;

	memset(view, 0, sizeof(*view));
	if (!NCS_SEGMENT_HAS(&reader->header, cupti))
		return;
	status = ncs_load_relaxed(&cupti->status);
	view->known = status < NCS_CUPTI_STATUS_COUNT;
	if (!view->known)
		return;
	view->status = (enum ncs_cupti_status)status;
	view->total = ncs_gpu_time_load(&cupti->total);
	view->unplaced = ncs_load_relaxed(&cupti->unplaced);
	view->lost = ncs_load_relaxed(&cupti->lost);
	view->outside_kernels = ncs_load_relaxed(&cupti->outside_kernels);
	view->outside_busy_ns = ncs_load_relaxed(&cupti->outside_busy_ns);
	view->busy_ns = ncs_load_relaxed(&cupti->busy_ns);
}

static uint64_t larger(uint64_t a, uint64_t b)
{
	return a > b ? a : b;
}

/* A launch is launched, then followed, begins and ends in this order. Copied
 * the other way round, later words are those of later times; where the segment
 * says otherwise the later stage is believed. */
static void take_progress(struct ncs_launches_view *view,
			  const struct ncs_launch_progress *progress,
			  const struct ncs_clock *clock)
{
	uint64_t begun;

	view->ended = ncs_load_relaxed(&progress->ended);
	view->ended_ns =
		ncs_clock_ns(clock, ncs_load_relaxed(&progress->ended_at));
	begun = ncs_load_relaxed(&progress->begun);
	view->begun = larger(begun, view->ended);
	view->begun_ns =
		begun < view->ended ?
			view->ended_ns :
			ncs_clock_ns(clock,
				     ncs_load_relaxed(&progress->begun_at));
	view->followed =
		larger(ncs_load_relaxed(&progress->followed), view->begun);
	view->launched =
		larger(ncs_load_relaxed(&progress->launched), view->followed);
	view->launched_ns =
		ncs_clock_ns(clock, ncs_load_relaxed(&progress->launched_at));
}

/* Returns true if NCCL reports launches, as far as is known. */
static bool are_launches_reported(const struct ncs_reader *reader)
{
	uint64_t events = ncs_load_relaxed(
		&ncs_reader_mapped_header(reader)->event_mask);

	return events == 0 || events >> NCS_EVENT_KERNEL_LAUNCH & 1;
}

/* Returns true if a status says that launches are timed, or will be. */
static bool is_status_of_launches(enum ncs_stream_status status)
{
	return status == NCS_STREAM_WAITING || status == NCS_STREAM_ALL ||
	       status == NCS_STREAM_SOME;
}

static void take_launches(struct ncs_snapshot *snapshot,
			  const struct ncs_reader *reader)
{
	const struct ncs_launch_progress *progress =
		&ncs_reader_mapped_header(reader)->launches;
	const struct ncs_clock *clock = &reader->header.clock;
	struct ncs_launches_view *view = &snapshot->launches;

	memset(view, 0, sizeof(*view));
	if (!NCS_SEGMENT_HAS(&reader->header, launches))
		return;
	take_progress(view, progress, clock);
	view->status = known_or(ncs_load_relaxed(&progress->status),
				NCS_STREAM_STATUS_COUNT, NCS_STREAM_UNKNOWN);
	if (is_status_of_launches(view->status) &&
	    !are_launches_reported(reader))
		view->status = NCS_STREAM_NO_EVENTS;
	/* Launches since are not counted. */
	if ((view->status == NCS_STREAM_OFF ||
	     view->status == NCS_STREAM_NO_EVENTS) &&
	    view->ended == view->followed)
		view->ended = view->begun = view->followed = view->launched = 0;
	view->level = known_or(ncs_load_relaxed(&progress->level), 64, 63);
	view->timed = ncs_load_relaxed(&progress->timed);
	view->captured = ncs_load_relaxed(&progress->captured);
	view->bias_ns = ncs_load_relaxed(&progress->bias_ns);
	view->error_ns = ncs_load_relaxed(&progress->error_ns);
	view->failure = ncs_load_relaxed(&progress->failure);
	view->watch_since_ns =
		ncs_clock_ns(clock, ncs_load_relaxed(&progress->watch_since));
	view->missed = ncs_load_relaxed(&progress->missed);
	if (NCS_SEGMENT_HAS(&reader->header, other_context))
		view->other_context = ncs_load_relaxed(
			&ncs_reader_mapped_header(reader)->other_context);
}

static void take_graphs(struct ncs_snapshot *snapshot,
			const struct ncs_reader *reader)
{
	const struct ncs_graphs *graphs =
		&ncs_reader_mapped_header(reader)->graphs;
	struct ncs_graphs_view *view = &snapshot->graphs;

	memset(view, 0, sizeof(*view));
	if (!NCS_SEGMENT_HAS(&reader->header, graphs))
		return;
	view->graphs = ncs_load_relaxed(&graphs->graphs);
	view->stamped = ncs_load_relaxed(&graphs->stamped);
	view->failure = ncs_load_relaxed(&graphs->failure);
	view->are_replays = ncs_load_relaxed(&graphs->are_replays) != 0;
	view->of = ncs_load_relaxed(&graphs->of);
	view->replays = ncs_load_relaxed(&graphs->replays);
	view->timed = ncs_load_relaxed(&graphs->timed);
	view->launches = ncs_load_relaxed(&graphs->launches);
	view->lost = ncs_load_relaxed(&graphs->lost);
}

static void take_gpu_clock(struct ncs_snapshot *snapshot,
			   const struct ncs_reader *reader)
{
	struct ncs_gpu_clock_view *view = &snapshot->gpu_clock;
	struct ncs_gpu_clock copy;
	uint64_t width;

	copy_block(snapshot, reader, &copy,
		   &ncs_reader_mapped_header(reader)->gpu_clock, sizeof(copy));
	width = copy.high_ns - copy.low_ns;
	view->known = copy.ticks != 0 && width <= INT64_MAX;
	view->told_ns = ncs_clock_ns(&reader->header.clock, copy.ticks);
	view->error_ns = (width + 1) / 2;
	/* The clocks have unrelated origins: a difference modulo 2^64. */
	view->offset_ns = (int64_t)(copy.low_ns + width / 2 - view->told_ns);
	view->quantum_ns = copy.quantum_ns;
}

static void take_settings(struct ncs_snapshot *snapshot,
			  const struct ncs_reader *reader)
{
	struct ncs_settings_view *view = &snapshot->settings;
	struct ncs_settings copy;

	memset(view, 0, sizeof(*view));
	copy_block(snapshot, reader, &copy,
		   &ncs_reader_mapped_header(reader)->settings, sizeof(copy));
	if (!ncs_detail_unpack(copy.in_force, &view->in_force) ||
	    !view->in_force.has_groups || view->in_force.sample == 0 ||
	    view->in_force.kernel == NCS_KERNEL_DETAIL_DEFAULT) {
		memset(view, 0, sizeof(*view));
		return;
	}
	view->known = true;
	view->asked = copy.asked;
	view->refused = known_or(copy.refused, NCS_REFUSAL_COUNT,
				 NCS_REFUSAL_MALFORMED);
	view->changes = copy.changes;
	view->changed_ns = ncs_clock_ns(&reader->header.clock, copy.changed);
	view->lease_until_ns = copy.lease_until_ns;
	view->lease_pid = (uint32_t)(copy.lease_holder >> 32);
}

static void take_channel(struct ncs_snapshot *snapshot,
			 const struct ncs_clock *clock,
			 const struct ncs_channel *copy)
{
	struct ncs_channel_view *view =
		&snapshot->channels[snapshot->channel_count++];

	view->channel = NCS_CHANNEL_KEY_CHANNEL(copy->key);
	view->send = NCS_CHANNEL_KEY_SEND(copy->key);
	view->peer = NCS_CHANNEL_KEY_PEER(copy->key);
	view->state = known_or(copy->state, NCS_CHANNEL_STATE_COUNT,
			       NCS_CHANNEL_IDLE);
	view->since_ns = ncs_clock_ns(clock, copy->since);
	view->function = known_or(copy->function, NCS_FUNCTION_COUNT,
				  NCS_FUNCTION_OTHER);
	view->operation = copy->operation;
	view->step = copy->step;
	view->nsteps = copy->nsteps;
	view->operations_started = copy->operations_started;
	view->operations_done = copy->operations_done;
	view->steps_started = copy->steps_started;
	view->steps_done = copy->steps_done;
	view->bytes = copy->bytes;
	view->size_unknown = copy->size_unknown;
	for (size_t i = 0; i < NCS_CHANNEL_STATE_COUNT; i++)
		view->time_ns[i] = ncs_clock_duration_ns(clock, copy->time[i]);
}

static int compare_channels(const void *left, const void *right)
{
	const struct ncs_channel_view *a = left, *b = right;

	if (a->channel != b->channel)
		return a->channel < b->channel ? -1 : 1;
	if (a->send != b->send)
		return a->send ? -1 : 1;
	return (a->peer > b->peer) - (a->peer < b->peer);
}

/* Copies the channels, without the time that they have been in their states:
 * when that ends depends on whether the rank lives, and that on them. */
static void take_channels(struct ncs_snapshot *snapshot,
			  const struct ncs_reader *reader)
{
	const struct ncs_table *table = &reader->header.channels;
	size_t count = ncs_reader_channels(reader);
	struct ncs_channel copy;

	snapshot->channel_count = 0;
	for (size_t i = 0; i < count; i++) {
		const struct ncs_channel *channel =
			ncs_reader_entry(reader, table, i);

		if (ncs_load_relaxed(&channel->key) == 0)
			continue;
		copy_block(snapshot, reader, &copy, channel, sizeof(copy));
		if (copy.key != 0)
			take_channel(snapshot, &reader->header.clock, &copy);
	}
	qsort(snapshot->channels, snapshot->channel_count,
	      sizeof(*snapshot->channels), compare_channels);
}

static void add_running_times(struct ncs_snapshot *snapshot)
{
	for (size_t i = 0; i < snapshot->channel_count; i++) {
		struct ncs_channel_view *view = &snapshot->channels[i];

		view->time_ns[view->state] +=
			ncs_snapshot_running_ns(snapshot, view->since_ns);
	}
}

/* Copies the stream times after the counters. Returns false if the sequence has
 * changed since those were copied. */
static bool copy_times(struct ncs_stream_times *times,
		       const struct ncs_lane *lane, unsigned function,
		       uint64_t sequence)
{
	const uint64_t *words = (const uint64_t *)&lane->stream_times[function];
	uint64_t copy[sizeof(*times) / sizeof(uint64_t)];

	for (size_t i = 0; i < sizeof(copy) / sizeof(*copy); i++)
		copy[i] = ncs_payload_load(&words[i]);
	memcpy(times, copy, sizeof(copy));
	/* ORDER: pairs with ncs_seqlock_begin() (shm/seqlock.h): the sequence
	 * is read again after all words. */
	ncs_fence_acquire();
	return ncs_load_relaxed(&lane->functions[function].sequence) ==
	       sequence;
}

bool ncs_function_copy(const struct ncs_reader *reader,
		       const struct ncs_lane *lane, unsigned function,
		       struct ncs_function *counters,
		       struct ncs_stream_times *times)
{
	const uint64_t *block = (const uint64_t *)&lane->functions[function];
	uint64_t copy[sizeof(*counters) / sizeof(uint64_t)];
	/* An image does not change while it is read. */
	unsigned tries = ncs_reader_is_image(reader) ? 1 : NCS_SEQLOCK_TRIES;
	bool has_times = ncs_segment_has_stream_times(&reader->header);
	bool good = false;

	memset(times, 0, sizeof(*times));
	for (unsigned i = 0; i < tries && !good; i++) {
		good = ncs_seqlock_try(copy, block,
				       sizeof(copy) / sizeof(*copy));
		if (has_times && !copy_times(times, lane, function, copy[0]))
			good = false;
		/* The writer may be waiting for this processor. */
		if (!good && i % 64 == 63)
			sched_yield();
	}
	memcpy(counters, copy, sizeof(copy));
	return good;
}

static void add_function(struct ncs_function_view *view,
			 const struct ncs_function *copy,
			 const struct ncs_stream_times *times)
{
	uint64_t last = copy->last_sequence_number;

	view->calls += copy->calls;
	view->operations += copy->operations;
	view->operations_done += copy->operations_done;
	view->with_children += copy->with_children;
	view->bytes += copy->bytes;
	view->size_unknown += copy->size_unknown;
	if (last != 0 &&
	    (view->last_sequence_number == NCS_NO_SEQUENCE_NUMBER ||
	     view->last_sequence_number < last - 1))
		view->last_sequence_number = last - 1;
	for (size_t i = 0; i < NCS_TIMING_STREAM; i++) {
		view->timed[i] += copy->timed[i];
		view->time_ns[i] += copy->time_ns[i];
		view->timed_bytes[i] += copy->timed_bytes[i];
	}
	view->timed[NCS_TIMING_STREAM] += times->timed;
	view->time_ns[NCS_TIMING_STREAM] += times->time_ns;
	view->timed_bytes[NCS_TIMING_STREAM] += times->timed_bytes;
}

/* Clears the sums over lanes, but keeps the memory of the histograms. */
static void clear_sums(struct ncs_snapshot *snapshot)
{
	memset(snapshot->events, 0, sizeof(snapshot->events));
	memset(snapshot->losses, 0, sizeof(snapshot->losses));
	snapshot->calls_reach = (struct ncs_reach){ 0 };
	snapshot->children_reach = (struct ncs_reach){ 0 };
	for (size_t i = 0; i < NCS_FUNCTION_COUNT; i++) {
		struct ncs_function_view *view = &snapshot->functions[i];
		struct ncs_function_view empty = {
			.last_sequence_number = NCS_NO_SEQUENCE_NUMBER,
		};

		memcpy(empty.histogram, view->histogram,
		       sizeof(empty.histogram));
		*view = empty;
	}
}

/* Returns the end of the oldest record in a lane's ring, not counting those that
 * may be overwritten before they are read. */
static uint64_t oldest_end_ns(const struct ncs_snapshot *snapshot,
			      const struct ncs_reader *reader,
			      struct ncs_mapped_ring mapped)
{
	struct ncs_ring_cursor cursor = { 0 };
	struct ncs_record record;
	uint64_t available =
		ncs_ring_available(mapped.ring, mapped.capacity, &cursor);

	cursor.next += available / 8;
	if (ncs_ring_copy(mapped.ring,
			  (const struct ncs_record *)(mapped.ring + 1),
			  mapped.capacity, &cursor, &record, 1) == 0)
		return snapshot->taken_ns;
	return ncs_clock_ns(&reader->header.clock,
			    record.start + record.duration);
}

static void add_reach(struct ncs_reach *reach, uint64_t overwritten,
		      uint64_t from_ns)
{
	reach->overwritten += overwritten;
	if (from_ns > reach->from_ns)
		reach->from_ns = from_ns;
}

/* Counts the records of a lane that were overwritten: of calls, unless the
 * thread's call lane has them, and of operations' children if its thread handles
 * them. */
static void count_overwritten(struct ncs_snapshot *snapshot,
			      const struct ncs_reader *reader, size_t index,
			      const struct ncs_lane *lane)
{
	static const uint8_t children[] = { NCS_EVENT_PROXY_OP,
					    NCS_EVENT_PROXY_STEP,
					    NCS_EVENT_KERNEL_CH };
	struct ncs_mapped_ring mapped = ncs_reader_ring(reader, index);
	uint64_t published = snapshot->lanes[index].published;
	uint64_t overwritten, from_ns = 0, started = 0;

	if (published < mapped.capacity)
		return;
	overwritten = published - mapped.capacity + 1;
	snapshot->losses[NCS_LOSS_OVERWRITTEN] += overwritten;
	if (!ncs_reader_is_image(reader))
		from_ns = oldest_end_ns(snapshot, reader, mapped);
	if (index == 0 || index > ncs_segment_call_lanes(&reader->header))
		add_reach(&snapshot->calls_reach, overwritten, from_ns);
	for (size_t i = 0; i < sizeof(children); i++)
		started += ncs_load_relaxed(&lane->events[children[i]]);
	if (started > 0)
		add_reach(&snapshot->children_reach, overwritten, from_ns);
}

static void take_lane(struct ncs_snapshot *snapshot,
		      const struct ncs_reader *reader, size_t index)
{
	const struct ncs_header *header = &reader->header;
	const struct ncs_lane *lane =
		ncs_reader_entry(reader, &header->lanes, index);
	struct ncs_lane_view *view = &snapshot->lanes[index];
	struct ncs_function copy;
	struct ncs_stream_times times;

	memset(view, 0, sizeof(*view));
	if (!ncs_reader_uses_lane(reader, index))
		return;
	view->last_call_ns = ncs_clock_ns(&header->clock,
					  ncs_load_relaxed(&lane->last_call));
	view->published =
		ncs_load_relaxed(&ncs_reader_ring(reader, index).ring->head);
	count_overwritten(snapshot, reader, index, lane);
	for (size_t i = 0; i < NCS_EVENT_COUNT; i++) {
		snapshot->events[i] += ncs_load_relaxed(&lane->events[i]);
		view->open_since_ns[i] = ncs_clock_ns(
			&header->clock, ncs_load_relaxed(&lane->open_since[i]));
	}
	for (size_t i = 0; i < NCS_LOSS_COUNT; i++)
		snapshot->losses[i] += ncs_load_relaxed(&lane->losses[i]);
	for (unsigned i = 0; i < NCS_FUNCTION_COUNT; i++) {
		if (!ncs_function_copy(reader, lane, i, &copy, &times))
			snapshot->torn = true;
		add_function(&snapshot->functions[i], &copy, &times);
	}
	if (view->last_call_ns > snapshot->last_call_ns)
		snapshot->last_call_ns = view->last_call_ns;
}

/* Returns when the process was last known to live; 0: never. */
static uint64_t last_alive_ns(const struct ncs_reader *reader, uint64_t now_ns)
{
	uint64_t alive_ns;

	if (!NCS_SEGMENT_HAS(&reader->header, alive))
		return 0;
	alive_ns = ncs_clock_ns(
		&reader->header.clock,
		ncs_load_relaxed(&ncs_reader_mapped_header(reader)->alive));
	return alive_ns < now_ns ? alive_ns : now_ns;
}

/* Returns when NCCL last called, or a launch was last seen to begin or end. A
 * rank without any of that is silent from its creation on. */
static uint64_t last_news_ns(const struct ncs_snapshot *snapshot,
			     uint64_t created_ns)
{
	uint64_t last_ns = ncs_snapshot_last_sign_ns(snapshot);

	return last_ns != 0 ? last_ns : created_ns;
}

/* Returns by how much longer what has lasted since a time lasts now. */
static uint64_t gained_ns(uint64_t since_ns, uint64_t before_ns,
			  uint64_t now_ns)
{
	uint64_t from_ns = larger(since_ns, before_ns);

	return since_ns != 0 && now_ns > from_ns ? now_ns - from_ns : 0;
}

void ncs_snapshot_take(struct ncs_snapshot *snapshot, struct ncs_reader *reader,
		       uint64_t now_ns)
{
	const struct ncs_header *header = ncs_reader_mapped_header(reader);
	struct ncs_process_state process = ncs_reader_process(reader, now_ns);

	snapshot->taken_ns = now_ns;
	snapshot->torn = false;
	snapshot->last_call_ns = 0;
	copy_block(snapshot, reader, &snapshot->identity, &header->identity,
		   sizeof(snapshot->identity));
	snapshot->identity.comm_name[sizeof(snapshot->identity.comm_name) - 1] =
		'\0';
	snapshot->identity.gpu[sizeof(snapshot->identity.gpu) - 1] = '\0';
	clear_sums(snapshot);
	snapshot->lane_count = reader->header.lanes.count;
	for (size_t i = 0; i < snapshot->lane_count; i++)
		take_lane(snapshot, reader, i);
	take_channels(snapshot, reader);
	/* State changes of steps do not update last_call, only `since` of the
	 * channel. */
	for (size_t i = 0; i < snapshot->channel_count; i++)
		if (snapshot->channels[i].since_ns > snapshot->last_call_ns)
			snapshot->last_call_ns = snapshot->channels[i].since_ns;
	take_launches(snapshot, reader);
	take_graphs(snapshot, reader);
	snapshot->finished_ns = ncs_clock_ns(
		&reader->header.clock, ncs_load_relaxed(&header->finished));
	snapshot->alive_ns = last_alive_ns(reader, now_ns);
	snapshot->process_gone = process.gone;
	snapshot->process_stopped = process.stopped;
	snapshot->outside_code =
		ncs_load_relaxed(&header->outside_code) &
		((UINT64_C(1) << NCS_OUTSIDE_CODE_COUNT) - 1);
	snapshot->liveness = ncs_liveness_of(
		ncs_load_relaxed(&header->life), snapshot->process_gone,
		last_news_ns(snapshot, ncs_clock_ns(&reader->header.clock,
						    reader->header.created)),
		now_ns);
	/* From here on it is known until when the rank lived. */
	add_running_times(snapshot);
	take_proxy(snapshot, reader);
	take_kernel(snapshot, reader);
	take_cupti(snapshot, reader);
	take_gpu_clock(snapshot, reader);
	take_sampling(snapshot, reader);
	take_settings(snapshot, reader);
	ncs_operations_take(snapshot, reader);
	ncs_classes_take(snapshot, reader);
	ncs_ranges_take(snapshot, reader);
}

void ncs_snapshot_advance(struct ncs_snapshot *snapshot, uint64_t created_ns,
			  uint64_t now_ns, uint64_t alive_ns)
{
	const uint64_t before_ns = snapshot->taken_ns;
	struct ncs_proxy_view *proxy = &snapshot->proxy;

	snapshot->taken_ns = now_ns;
	snapshot->alive_ns = alive_ns < now_ns ? alive_ns : now_ns;
	snapshot->liveness = ncs_liveness_of(NCS_LIFE_LIVE, false,
					     last_news_ns(snapshot, created_ns),
					     now_ns);
	for (size_t i = 0; i < snapshot->channel_count; i++) {
		struct ncs_channel_view *view = &snapshot->channels[i];

		view->time_ns[view->state] +=
			gained_ns(view->since_ns, before_ns, now_ns);
	}
	proxy->time_ns[proxy->state] +=
		gained_ns(proxy->since_ns, before_ns, now_ns);
	for (size_t i = 0; i < snapshot->range_count; i++) {
		struct ncs_range_view *view = &snapshot->ranges[i];

		view->busy_ns +=
			gained_ns(view->busy_since_ns, before_ns, now_ns);
	}
}
