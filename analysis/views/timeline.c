/* SPDX-License-Identifier: MIT */
/* Activities and tracks of the timeline, and the stretches of tracks. Must not trust
 * records, which come from shared memory and may have any value. */
#include "analysis/views/timeline.h"

#include <stdio.h>

#include "analysis/base/value_names.h"
#include "analysis/model/waits.h"
#include "analysis/records/operation_record.h"
#include "analysis/records/step_record.h"
#include "shm/clock.h"

/* --- Activities ---------------------------------------------------------- */

const struct ncs_activity_words ncs_activities[NCS_ACTIVITY_COUNT] = {
#define X(ID, letter, layer, label, help) \
	[NCS_ACTIVITY_##ID] = { letter, NCS_LAYER_##layer, label, help },
	NCS_ACTIVITIES(X)
#undef X
#define X(ID, name, letter, label, help) \
	[NCS_ACTIVITY_CHANNEL + NCS_CHANNEL_## \
		ID] = { letter, NCS_LAYER_BEFORE, label, help },
		NCS_CHANNEL_STATES(X)
#undef X
#define X(ID, name, letter, help) \
	[NCS_ACTIVITY_PROXY + NCS_PROXY_## \
		ID] = { letter, NCS_LAYER_BEFORE, name, help },
			NCS_PROXY_STATES(X)
#undef X
};

/* --- Tracks -------------------------------------------------------------- */

enum {
	PLACE_CALLS,
	PLACE_FUNCTIONS,
	PLACE_KERNELS = PLACE_FUNCTIONS + NCS_FUNCTION_COUNT,
	PLACE_PROXY,
	PLACE_CHANNELS
};

/* The activities of events that are calls; of others UNKNOWN, which is 0. */
static const enum ncs_activity calls[NCS_EVENT_COUNT] = {
	[NCS_EVENT_GROUP_API] = NCS_ACTIVITY_GROUP,
	[NCS_EVENT_COLL_API] = NCS_ACTIVITY_CALL,
	[NCS_EVENT_P2P_API] = NCS_ACTIVITY_CALL,
	[NCS_EVENT_CE_COLL] = NCS_ACTIVITY_CALL,
	[NCS_EVENT_KERNEL_LAUNCH] = NCS_ACTIVITY_LAUNCH,
};

static bool has_calls(const struct ncs_rank *rank)
{
	for (unsigned i = 0; i < NCS_EVENT_COUNT; i++)
		if (calls[i] && rank->now.events[i] > 0)
			return true;
	return false;
}

size_t ncs_track_count(const struct ncs_rank *rank)
{
	return PLACE_CHANNELS + rank->now.channel_count;
}

bool ncs_track_at(const struct ncs_rank *rank, size_t place,
		  struct ncs_track *track)
{
	*track = (struct ncs_track){ .kind = NCS_TRACK_CALLS };
	if (place >= PLACE_CHANNELS) {
		track->kind = NCS_TRACK_CHANNEL;
		track->channel = &rank->now.channels[place - PLACE_CHANNELS];
		return true;
	}
	if (place == PLACE_CALLS)
		return has_calls(rank);
	if (place == PLACE_KERNELS) {
		track->kind = NCS_TRACK_KERNELS;
		return rank->now.events[NCS_EVENT_KERNEL_CH] > 0 ||
		       rank->now.launches.followed > 0;
	}
	if (place == PLACE_PROXY) {
		track->kind = NCS_TRACK_PROXY;
		return ncs_rank_proxy_known(rank);
	}
	track->kind = NCS_TRACK_FUNCTION;
	track->function = (unsigned)(place - PLACE_FUNCTIONS);
	return rank->now.functions[track->function].operations > 0;
}

void ncs_track_name(const struct ncs_track *track, char *text, size_t size)
{
	const struct ncs_channel_view *channel = track->channel;

	switch (track->kind) {
	case NCS_TRACK_CALLS:
		snprintf(text, size, "API");
		break;
	case NCS_TRACK_FUNCTION:
		snprintf(text, size, "%s", ncs_function_name(track->function));
		break;
	case NCS_TRACK_KERNELS:
		snprintf(text, size, "kernels");
		break;
	case NCS_TRACK_PROXY:
		snprintf(text, size, "proxy");
		break;
	case NCS_TRACK_CHANNEL:
		snprintf(text, size, "ch %u %s %d", channel->channel,
			 channel->send ? "send" : "recv", channel->peer);
		break;
	}
}

/* Returns whether a track has records of this kind. Times on the stream are in
 * the records of operations, those of channels of kernels in their own. */
static bool uses_list(const struct ncs_rank *rank,
		      const struct ncs_track *track, enum ncs_latest_kind kind)
{
	switch (track->kind) {
	case NCS_TRACK_CALLS:
	case NCS_TRACK_FUNCTION:
		return kind == NCS_LATEST_CALLS;
	case NCS_TRACK_KERNELS:
		return kind == NCS_LATEST_CALLS ?
			       rank->now.launches.followed > 0 :
			       rank->now.events[NCS_EVENT_KERNEL_CH] > 0;
	default:
		return kind == NCS_LATEST_WORK;
	}
}

uint64_t ncs_track_known_from_ns(const struct ncs_rank *rank,
				 const struct ncs_track *track)
{
	uint64_t from_ns = 0;

	if (!rank->latest)
		return rank->now.taken_ns;
	for (unsigned i = 0; i < NCS_LATEST_KINDS; i++)
		if (uses_list(rank, track, i) &&
		    rank->latest->lists[i].complete_from_ns > from_ns)
			from_ns = rank->latest->lists[i].complete_from_ns;
	return from_ns;
}

bool ncs_track_has_gaps(const struct ncs_rank *rank,
			const struct ncs_track *track)
{
	const struct ncs_launches_view *launches = &rank->now.launches;

	return track->kind == NCS_TRACK_KERNELS &&
	       (launches->status == NCS_STREAM_SOME || launches->captured > 0 ||
		launches->missed > 0);
}

/* --- Stretches ----------------------------------------------------------- */

/* A visit of the stretches of a track in a time. */
struct track_visitor {
	const struct ncs_rank *rank;
	const struct ncs_track *track;
	int64_t from_ns;
	int64_t until_ns;
	ncs_stretch_visit *visit;
	void *context;
	/* These times in ticks, a little longer: records outside are
	 * skipped. */
	uint64_t from_ticks;
	uint64_t until_ticks;
};

#define ROUNDING_NS 2

/* Converts a time to ticks; returns UINT64_MAX if the clock cannot do it. */
static uint64_t ticks_of(const struct ncs_clock *clock, int64_t at_ns)
{
	int64_t base_ns = (int64_t)clock->base_monotonic_ns;
	uint64_t distance;

	if (clock->multiplier == 0)
		return UINT64_MAX;
	if (at_ns >= base_ns)
		return clock->base_ticks +
		       ncs_clock_duration_ticks(clock,
						(uint64_t)(at_ns - base_ns));
	distance = ncs_clock_duration_ticks(clock, (uint64_t)(base_ns - at_ns));
	return distance < clock->base_ticks ? clock->base_ticks - distance : 0;
}

/* Visits a stretch, which is at least 1 ns long. */
static void emit(const struct track_visitor *visitor,
		 struct ncs_stretch stretch)
{
	if (stretch.end_ns <= stretch.start_ns)
		stretch.end_ns = stretch.start_ns + 1;
	if ((int64_t)stretch.start_ns >= visitor->until_ns ||
	    (int64_t)stretch.end_ns <= visitor->from_ns ||
	    stretch.end_ns > INT64_MAX)
		return;
	visitor->visit(visitor->context, &stretch);
}

static uint64_t ns_of(const struct track_visitor *visitor, uint64_t ticks)
{
	return ncs_clock_ns(&visitor->rank->clock, ticks);
}

/* Whether a record may overlap the visited time. Kernels always may, since they
 * are placed by the GPU's clock. */
static bool may_be_seen(const struct track_visitor *visitor,
			const struct ncs_record *record)
{
	return record->event == NCS_EVENT_KERNEL_CH ||
	       (record->start < visitor->until_ticks &&
		record->start + record->duration >= visitor->from_ticks);
}

static void emit_record(const struct track_visitor *visitor,
			const struct ncs_record *record,
			enum ncs_activity activity, uint64_t from_ticks,
			uint64_t until_ticks)
{
	emit(visitor,
	     (struct ncs_stretch){ .start_ns = ns_of(visitor, from_ticks),
				   .end_ns = ns_of(visitor, until_ticks),
				   .activity = activity,
				   .record = record });
}

static void emit_open(const struct track_visitor *visitor, uint64_t since_ns,
		      enum ncs_activity activity)
{
	if (since_ns != 0)
		emit(visitor, (struct ncs_stretch){
				      .start_ns = since_ns,
				      .end_ns = ncs_rank_end_ns(visitor->rank),
				      .activity = activity,
				      .open = true });
}

static bool is_call(const struct ncs_track *track,
		    const struct ncs_record *record)
{
	(void)track;
	return record->event < NCS_EVENT_COUNT && calls[record->event];
}

static void visit_call(const struct track_visitor *visitor,
		       const struct ncs_record *record)
{
	emit_record(visitor, record, calls[record->event], record->start,
		    record->start + record->duration);
}

static void visit_open_calls(const struct track_visitor *visitor)
{
	const struct ncs_snapshot *now = &visitor->rank->now;

	for (size_t i = 0; i < now->lane_count; i++)
		for (unsigned k = 0; k < NCS_EVENT_COUNT; k++)
			if (calls[k])
				emit_open(visitor,
					  now->lanes[i].open_since_ns[k],
					  calls[k]);
}

static bool is_of_function(const struct ncs_track *track,
			   const struct ncs_record *record)
{
	return ncs_record_is_operation(record) &&
	       record->function == track->function;
}

static void visit_operation(const struct track_visitor *visitor,
			    const struct ncs_record *record)
{
	struct ncs_operation_ticks ticks = ncs_operation_ticks(record);

	emit_record(visitor, record, NCS_ACTIVITY_QUEUED, ticks.start,
		    ticks.running);
	if (ticks.running < ticks.end)
		emit_record(visitor, record, NCS_ACTIVITY_RUNNING,
			    ticks.running, ticks.end);
}

/* Returns when an operation's first child or its kernel began, 0 if neither
 * has. */
static uint64_t operation_begun_ns(const struct ncs_rank *rank,
				   const struct ncs_operation_view *operation)
{
	if (operation->first_child_ns == 0 &&
	    ncs_operation_phase(rank, operation) == NCS_LAUNCH_PHASE_RUNNING)
		return rank->now.launches.begun_ns;
	return operation->first_child_ns;
}

/* Visits an operation in progress: queued until `begun_ns`, 0 if it has not
 * begun, then in an activity. */
static void emit_operation(const struct track_visitor *visitor,
			   const struct ncs_operation_view *operation,
			   uint64_t begun_ns, enum ncs_activity activity)
{
	struct ncs_stretch stretch = {
		.start_ns = operation->start_ns,
		.end_ns = ncs_rank_end_ns(visitor->rank),
		.activity = NCS_ACTIVITY_QUEUED,
		.open = true,
		.operation = operation,
	};

	if (begun_ns != 0) {
		if (begun_ns > stretch.start_ns) {
			stretch.end_ns = begun_ns;
			emit(visitor, stretch);
		}
		stretch.start_ns = begun_ns;
		stretch.end_ns = ncs_rank_end_ns(visitor->rank);
		stretch.activity = activity;
	}
	emit(visitor, stretch);
}

static void visit_open_operations(const struct track_visitor *visitor)
{
	const struct ncs_rank *rank = visitor->rank;

	for (size_t i = 0; i < rank->now.operation_count; i++) {
		const struct ncs_operation_view *operation =
			&rank->now.operations[i];

		if (operation->function == visitor->track->function)
			emit_operation(visitor, operation,
				       operation_begun_ns(rank, operation),
				       NCS_ACTIVITY_RUNNING);
	}
}

static bool is_on_stream(const struct ncs_record *record)
{
	return ncs_record_is_operation(record) &&
	       ncs_operation_ticks(record).is_on_stream;
}

static bool is_kernel(const struct ncs_track *track,
		      const struct ncs_record *record)
{
	(void)track;
	return record->event == NCS_EVENT_KERNEL_CH || is_on_stream(record);
}

/* The kernel of an operation, by its launch's times on the stream. */
static void visit_launch(const struct track_visitor *visitor,
			 const struct ncs_record *record)
{
	struct ncs_operation_ticks ticks = ncs_operation_ticks(record);

	/* It had been reported 1 tick before at the latest. */
	if (ticks.begin - ticks.start > 1)
		emit_record(visitor, record, NCS_ACTIVITY_QUEUED, ticks.start,
			    ticks.begin);
	emit_record(visitor, record, NCS_ACTIVITY_KERNEL, ticks.begin,
		    ticks.end);
}

/* Places a kernel's channel by the GPU's clock, or if that is unknown by the times at
 * which NCCL reported it. */
static void visit_kernel(const struct track_visitor *visitor,
			 const struct ncs_record *record)
{
	const struct ncs_gpu_clock_view *clock = &visitor->rank->now.gpu_clock;
	struct ncs_stretch stretch = { .activity = NCS_ACTIVITY_KERNEL,
				       .record = record };

	if (is_on_stream(record)) {
		visit_launch(visitor, record);
		return;
	}
	if (!clock->known || record->value == 0) {
		emit_record(visitor, record, NCS_ACTIVITY_KERNEL, record->start,
			    record->start + record->duration);
		return;
	}
	stretch.start_ns = record->value - (uint64_t)clock->offset_ns;
	stretch.end_ns = stretch.start_ns + record->number;
	emit(visitor, stretch);
}

static void visit_open_launches(const struct track_visitor *visitor)
{
	const struct ncs_rank *rank = visitor->rank;

	for (size_t i = 0; i < rank->now.operation_count; i++) {
		const struct ncs_operation_view *operation =
			&rank->now.operations[i];
		enum ncs_launch_phase phase =
			ncs_operation_phase(rank, operation);

		if (phase == NCS_LAUNCH_PHASE_QUEUED ||
		    phase == NCS_LAUNCH_PHASE_RUNNING)
			emit_operation(visitor, operation,
				       phase == NCS_LAUNCH_PHASE_RUNNING ?
					       rank->now.launches.begun_ns :
					       0,
				       NCS_ACTIVITY_KERNEL);
	}
}

static bool is_of_proxy(const struct ncs_track *track,
			const struct ncs_record *record)
{
	(void)track;
	return record->event == NCS_EVENT_PROXY_CTRL &&
	       record->number != NCS_PROXY_UNKNOWN &&
	       record->number < NCS_PROXY_STATE_COUNT;
}

static void visit_proxy(const struct track_visitor *visitor,
			const struct ncs_record *record)
{
	emit_record(visitor, record,
		    NCS_ACTIVITY_PROXY + (enum ncs_activity)record->number,
		    record->start, record->start + record->duration);
}

static void visit_proxy_now(const struct track_visitor *visitor)
{
	const struct ncs_proxy_view *proxy = &visitor->rank->now.proxy;
	uint64_t known_ns =
		ncs_track_known_from_ns(visitor->rank, visitor->track);

	emit(visitor,
	     (struct ncs_stretch){ .start_ns = known_ns,
				   .end_ns = ncs_rank_end_ns(visitor->rank),
				   .activity = NCS_ACTIVITY_AWAKE,
				   .open = true });
	emit_open(visitor, proxy->since_ns,
		  NCS_ACTIVITY_PROXY + (enum ncs_activity)proxy->state);
}

static bool is_of_channel(const struct ncs_track *track,
			  const struct ncs_record *record)
{
	const struct ncs_channel_view *channel = track->channel;

	return (record->event == NCS_EVENT_PROXY_OP ||
		record->event == NCS_EVENT_PROXY_STEP) &&
	       record->channel == channel->channel &&
	       record->peer == channel->peer &&
	       !(record->flags & NCS_RECORD_SEND) == !channel->send;
}

static void visit_step(const struct track_visitor *visitor,
		       const struct ncs_record *record)
{
	bool send = visitor->track->channel->send;
	uint64_t ends[NCS_STEP_TIMES];
	uint64_t begun = record->start;

	ncs_step_split(record, ends);
	for (unsigned i = NCS_STEP_FIRST_WAIT; i < NCS_STEP_TIMES; i++) {
		uint64_t end = begun + ends[i];

		if (ends[i] > 0)
			emit_record(visitor, record,
				    NCS_ACTIVITY_CHANNEL +
					    (enum ncs_activity)ncs_step_state(
						    send, i),
				    begun, end);
		begun = end;
	}
}

static void visit_channel(const struct track_visitor *visitor,
			  const struct ncs_record *record)
{
	if (record->event == NCS_EVENT_PROXY_STEP)
		visit_step(visitor, record);
	else
		emit_record(visitor, record, NCS_ACTIVITY_OPERATION,
			    record->start + record->delta[0],
			    record->start + record->duration);
}

/* Visits the steps in progress, of which only the wait of the oldest one is
 * known. */
static void visit_channel_now(const struct track_visitor *visitor)
{
	const struct ncs_channel_view *channel = visitor->track->channel;
	const struct ncs_snapshot *now = &visitor->rank->now;

	if (channel->state == NCS_CHANNEL_IDLE)
		return;
	for (size_t i = 0; i < now->operation_count; i++)
		if (now->operations[i].number == channel->operation)
			emit(visitor,
			     (struct ncs_stretch){
				     .start_ns =
					     now->operations[i].first_child_ns,
				     .end_ns = ncs_rank_end_ns(visitor->rank),
				     .activity = NCS_ACTIVITY_OPERATION,
				     .open = true,
				     .operation = &now->operations[i] });
	emit_open(visitor, channel->since_ns,
		  NCS_ACTIVITY_CHANNEL + (enum ncs_activity)channel->state);
}

static const struct {
	bool (*has)(const struct ncs_track *track,
		    const struct ncs_record *record);
	void (*record)(const struct track_visitor *visitor,
		       const struct ncs_record *record);
	void (*now)(const struct track_visitor *visitor);
} kinds[] = {
	[NCS_TRACK_CALLS] = { is_call, visit_call, visit_open_calls },
	[NCS_TRACK_FUNCTION] = { is_of_function, visit_operation,
				 visit_open_operations },
	[NCS_TRACK_KERNELS] = { is_kernel, visit_kernel, visit_open_launches },
	[NCS_TRACK_PROXY] = { is_of_proxy, visit_proxy, visit_proxy_now },
	[NCS_TRACK_CHANNEL] = { is_of_channel, visit_channel,
				visit_channel_now },
};

/* Visits the records of a track; without a visitor, only tells whether there is one. */
static bool visit_records(const struct ncs_rank *rank,
			  const struct ncs_track *track,
			  const struct track_visitor *visitor)
{
	for (unsigned k = 0; rank->latest && k < NCS_LATEST_KINDS; k++) {
		const struct ncs_latest_list *list = &rank->latest->lists[k];

		for (size_t i = 0; uses_list(rank, track, k) && i < list->count;
		     i++) {
			const struct ncs_record *record = &list->records[i];

			if ((visitor && !may_be_seen(visitor, record)) ||
			    !kinds[track->kind].has(track, record))
				continue;
			if (!visitor)
				return true;
			kinds[track->kind].record(visitor, record);
		}
	}
	return false;
}

void ncs_track_visit(const struct ncs_rank *rank, const struct ncs_track *track,
		     int64_t from_ns, int64_t until_ns,
		     ncs_stretch_visit *visit, void *context)
{
	const struct ncs_clock *clock = &rank->clock;
	const struct track_visitor visitor = {
		.rank = rank,
		.track = track,
		.from_ns = from_ns,
		.until_ns = until_ns,
		.visit = visit,
		.context = context,
		.from_ticks = ticks_of(clock, from_ns - ROUNDING_NS),
		.until_ticks = ticks_of(clock, until_ns + ROUNDING_NS),
	};

	visit_records(rank, track, &visitor);
	kinds[track->kind].now(&visitor);
}

bool ncs_track_is_empty(const struct ncs_rank *rank,
			const struct ncs_track *track)
{
	struct ncs_stretch now;

	return !ncs_track_now(rank, track, &now) &&
	       !visit_records(rank, track, NULL);
}

struct track_search {
	int64_t from_ns;
	int64_t until_ns;
	struct ncs_stretch *found;
	size_t count;
	enum ncs_activity_layer layer;
	int64_t overlap_ns;
};

int64_t ncs_stretch_overlap_ns(const struct ncs_stretch *stretch,
			       int64_t from_ns, int64_t until_ns)
{
	int64_t start_ns = (int64_t)stretch->start_ns;
	int64_t end_ns = (int64_t)stretch->end_ns;

	return (end_ns < until_ns ? end_ns : until_ns) -
	       (start_ns > from_ns ? start_ns : from_ns);
}

static void compare_stretch(void *context, const struct ncs_stretch *stretch)
{
	struct track_search *search = context;
	int64_t own_ns = ncs_stretch_overlap_ns(stretch, search->from_ns,
						search->until_ns);
	enum ncs_activity_layer layer = ncs_activities[stretch->activity].layer;

	search->count++;
	if (search->count > 1 && layer < search->layer)
		return;
	if (search->count > 1 && layer == search->layer &&
	    own_ns <= search->overlap_ns)
		return;
	*search->found = *stretch;
	search->layer = layer;
	search->overlap_ns = own_ns;
}

bool ncs_track_find(const struct ncs_rank *rank, const struct ncs_track *track,
		    int64_t from_ns, int64_t until_ns,
		    struct ncs_stretch *found, size_t *count)
{
	struct track_search search = { .from_ns = from_ns,
				       .until_ns = until_ns,
				       .found = found };

	ncs_track_visit(rank, track, from_ns, until_ns, compare_stretch,
			&search);
	*count = search.count;
	return search.count > 0;
}

bool ncs_track_now(const struct ncs_rank *rank, const struct ncs_track *track,
		   struct ncs_stretch *now)
{
	int64_t end_ns = (int64_t)ncs_rank_end_ns(rank);
	struct track_search search = { .from_ns = end_ns - 1,
				       .until_ns = end_ns,
				       .found = now };
	const struct track_visitor visitor = {
		.rank = rank,
		.track = track,
		.from_ns = end_ns - 1,
		.until_ns = end_ns,
		.visit = compare_stretch,
		.context = &search,
	};

	kinds[track->kind].now(&visitor);
	return search.count > 0;
}
