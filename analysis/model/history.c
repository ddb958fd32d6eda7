/* SPDX-License-Identifier: MIT */
/* Copies of counters, and the search among them; see history.h. Pure. */
#include "analysis/model/history.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/base/timings.h"
#include "shm/array.h"

/* The three waits of a sender, then the three of a receiver. */
static_assert(NCS_CHANNEL_IDLE == 0 &&
		      NCS_CHANNEL_STATE_COUNT == 2 * NCS_CHANNEL_TIMES - 1,
	      "three waits a direction");

/* An entry of times[] has its place in the upper bits, its count in the
 * lower. */
#define COUNT_BITS 48
#define COUNT_MAX ((UINT64_C(1) << COUNT_BITS) - 1)
static_assert(NCS_HISTORY_BUCKETS * NCS_HISTORY_BUCKET == NCS_HISTOGRAM_BUCKETS,
	      "no bucket is left over");
static_assert(NCS_FUNCTION_COUNT * NCS_TIMING_COUNT * NCS_HISTORY_BUCKETS <=
		      UINT64_C(1) << (64 - COUNT_BITS),
	      "all places fit");

static const struct {
	const char *name;
	uint64_t length_ns;
} windows[NCS_WINDOW_COUNT] = {
	[NCS_WINDOW_NOW] = { "now", 0 },
	[NCS_WINDOW_10_S] = { "10s", UINT64_C(10000000000) },
	[NCS_WINDOW_100_S] = { "100s", UINT64_C(100000000000) },
	[NCS_WINDOW_START] = { "start", 0 },
	[NCS_WINDOW_MARK] = { "z", 0 },
};

uint64_t ncs_window_ns(enum ncs_window window)
{
	return windows[window].length_ns;
}

const char *ncs_window_name(enum ncs_window window)
{
	return windows[window].name;
}

size_t ncs_channel_time(enum ncs_channel_state state)
{
	return state < NCS_CHANNEL_TIMES ? state :
					   state - (NCS_CHANNEL_TIMES - 1);
}

/* --- Channels and functions ----------------------------------------------- */

void ncs_channel_count(struct ncs_channel_counters *to,
		       const struct ncs_channel_view *from)
{
	unsigned first = from->send ? NCS_CHANNEL_SEND_GPU_WAIT :
				      NCS_CHANNEL_RECV_WAIT;

	to->channel = from->channel;
	to->send = from->send;
	to->bytes_known = from->bytes > 0 || from->size_unknown == 0;
	to->peer = from->peer;
	to->bytes = from->bytes;
	to->time_ns[0] = from->time_ns[NCS_CHANNEL_IDLE];
	memcpy(&to->time_ns[1], &from->time_ns[first],
	       sizeof(to->time_ns) - sizeof(to->time_ns[0]));
}

uint64_t ncs_snapshot_lost(const struct ncs_snapshot *snapshot)
{
	uint64_t lost = 0;

	for (size_t i = 0; i < NCS_LOSS_COUNT; i++)
		if (i != NCS_LOSS_OVERWRITTEN)
			lost += snapshot->losses[i];
	return lost;
}

/* --- Histograms ----------------------------------------------------------- */

static uint64_t first_place(unsigned function, unsigned timing)
{
	return (function * NCS_TIMING_COUNT + timing) * NCS_HISTORY_BUCKETS;
}

static uint64_t wide_count(const uint64_t *histogram, size_t bucket)
{
	uint64_t count = 0;

	for (size_t i = 0; i < NCS_HISTORY_BUCKET; i++)
		count += histogram[bucket * NCS_HISTORY_BUCKET + i];
	return count;
}

static int append_time(struct ncs_counters *to, uint64_t place, uint64_t count)
{
	if (ncs_array_reserve(&to->times, &to->time_capacity,
			      to->time_count + 1, sizeof(*to->times)) != 0)
		return -ENOMEM;
	to->times[to->time_count++] = place << COUNT_BITS |
				      (count < COUNT_MAX ? count : COUNT_MAX);
	return 0;
}

static int copy_histogram(struct ncs_counters *to, const uint64_t *histogram,
			  uint64_t place)
{
	int error = 0;

	for (size_t i = 0; i < NCS_HISTORY_BUCKETS && !error; i++) {
		uint64_t count = wide_count(histogram, i);

		if (count > 0)
			error = append_time(to, place + i, count);
	}
	return error;
}

static int copy_times(struct ncs_counters *to, const struct ncs_snapshot *from)
{
	int error = 0;

	to->time_count = 0;
	for (unsigned i = 0; i < NCS_FUNCTION_COUNT; i++) {
		for (unsigned k = 0; k < NCS_TIMING_COUNT && !error; k++) {
			const uint64_t *histogram =
				from->functions[i].histogram[k];

			if (histogram)
				error = copy_histogram(to, histogram,
						       first_place(i, k));
		}
	}
	if (error)
		to->taken_ns = 0;
	return error;
}

void ncs_counters_times(const struct ncs_counters *base, unsigned function,
			unsigned timing, const uint64_t *histogram,
			uint64_t counts[NCS_HISTORY_BUCKETS])
{
	uint64_t first = first_place(function, timing);

	for (size_t i = 0; i < NCS_HISTORY_BUCKETS; i++)
		counts[i] = wide_count(histogram, i);
	for (size_t i = 0; i < base->time_count; i++) {
		uint64_t place = base->times[i] >> COUNT_BITS;
		uint64_t count = base->times[i] & COUNT_MAX;
		uint64_t *now;

		if (place < first || place >= first + NCS_HISTORY_BUCKETS)
			continue;
		now = &counts[place - first];
		*now = *now > count ? *now - count : 0;
	}
}

/* --- One set of counters -------------------------------------------------- */

uint64_t ncs_counters_class(const struct ncs_counters *counters,
			    const struct ncs_class_view *view)
{
	uint64_t key = ncs_class_identity(view);

	for (size_t i = 0; i < counters->class_count; i++)
		if (counters->classes[i].key == key)
			return counters->classes[i].operations;
	return 0;
}

/* Sets the times of counters whose counts are those of the snapshot already. */
static void set_times(struct ncs_counters *to, const struct ncs_snapshot *from)
{
	to->taken_ns = from->taken_ns;
	memcpy(to->proxy_time_ns, from->proxy.time_ns,
	       sizeof(to->proxy_time_ns));
	for (size_t i = 0; i < from->channel_count; i++)
		ncs_channel_count(&to->channels[i], &from->channels[i]);
}

static int counters_copy(struct ncs_counters *to,
			 const struct ncs_snapshot *from)
{
	to->taken_ns = 0;
	if (ncs_array_reserve(&to->classes, &to->class_capacity,
			      from->class_count, sizeof(*to->classes)) != 0 ||
	    ncs_array_reserve(&to->channels, &to->channel_capacity,
			      from->channel_count, sizeof(*to->channels)) != 0)
		return -ENOMEM;
	to->class_count = from->class_count;
	for (size_t i = 0; i < from->class_count; i++)
		to->classes[i] = (struct ncs_class_counters){
			.key = ncs_class_identity(&from->classes[i]),
			.operations = from->classes[i].operations,
		};
	to->channel_count = from->channel_count;
	to->lost = ncs_snapshot_lost(from);
	memcpy(to->proxy_count, from->proxy.count, sizeof(to->proxy_count));
	for (size_t i = 0; i < NCS_FUNCTION_COUNT; i++)
		to->functions[i] = (struct ncs_function_counters){
			.operations = from->functions[i].operations,
			.last_sequence_number =
				from->functions[i].last_sequence_number,
		};
	set_times(to, from);
	return 0;
}

/* Copies the counts of a set; set_times() then sets all times, and channels. */
static int copy_set(struct ncs_counters *to, const struct ncs_counters *from)
{
	struct ncs_counters copy = *from;

	to->taken_ns = 0;
	if (ncs_array_reserve(&to->classes, &to->class_capacity,
			      from->class_count, sizeof(*to->classes)) != 0 ||
	    ncs_array_reserve(&to->channels, &to->channel_capacity,
			      from->channel_count,
			      sizeof(*to->channels)) != 0 ||
	    ncs_array_reserve(&to->times, &to->time_capacity, from->time_count,
			      sizeof(*to->times)) != 0)
		return -ENOMEM;
	if (from->class_count > 0)
		memcpy(to->classes, from->classes,
		       from->class_count * sizeof(*to->classes));
	if (from->time_count > 0)
		memcpy(to->times, from->times,
		       from->time_count * sizeof(*to->times));
	copy.classes = to->classes;
	copy.class_capacity = to->class_capacity;
	copy.channels = to->channels;
	copy.channel_capacity = to->channel_capacity;
	copy.times = to->times;
	copy.time_capacity = to->time_capacity;
	*to = copy;
	return 0;
}

const struct ncs_channel_counters *
ncs_counters_channel(const struct ncs_counters *counters,
		     const struct ncs_channel_view *channel, size_t place)
{
	size_t i = place < counters->channel_count ? place + 1 :
						     counters->channel_count;

	while (i-- > 0) {
		const struct ncs_channel_counters *at = &counters->channels[i];

		if (at->channel == channel->channel &&
		    at->send == channel->send && at->peer == channel->peer)
			return at;
	}
	return NULL;
}

/* --- Sets in rotation ----------------------------------------------------- */

/* Returns a set of counters by age, from 0 for the newest; NULL if there are
 * not that many. */
static const struct ncs_counters *
past_counters(const struct ncs_past_counters *past, size_t index)
{
	size_t place = (past->next + 2 * NCS_HISTORY_DEPTH - 1 - index) %
		       NCS_HISTORY_DEPTH;

	return past->at[place].taken_ns != 0 ? &past->at[place] : NULL;
}

static int past_take(struct ncs_past_counters *past,
		     const struct ncs_snapshot *snapshot, uint64_t apart_ns,
		     uint64_t unchanged_since_ns)
{
	const struct ncs_counters *newest = past_counters(past, 0);
	struct ncs_counters *to = &past->at[past->next];
	int error = 0;

	if (newest && snapshot->taken_ns < newest->taken_ns + apart_ns)
		return 0;
	if (!newest || newest->taken_ns < unchanged_since_ns) {
		error = counters_copy(to, snapshot);
		if (!error)
			error = copy_times(to, snapshot);
	} else {
		if (to->taken_ns < unchanged_since_ns)
			error = copy_set(to, newest);
		if (!error)
			set_times(to, snapshot);
	}
	if (!error)
		past->next = (past->next + 1) % NCS_HISTORY_DEPTH;
	return error;
}

static void counters_release(struct ncs_counters *counters)
{
	free(counters->channels);
	free(counters->classes);
	free(counters->times);
}

void ncs_history_release(struct ncs_history *history)
{
	counters_release(&history->latest);
	counters_release(&history->mark);
	for (size_t i = 0; i < NCS_WINDOWS_FIXED; i++)
		for (size_t k = 0; k < NCS_HISTORY_DEPTH; k++)
			counters_release(&history->past[i].at[k]);
	memset(history, 0, sizeof(*history));
}

void ncs_history_begin(struct ncs_history *history, uint64_t born_ns)
{
	ncs_history_release(history);
	history->birth.taken_ns = born_ns;
}

static void note_time(struct ncs_history *history,
		      const struct ncs_snapshot *snapshot)
{
	if (snapshot->taken_ns > history->greatest_ns)
		history->greatest_ns = snapshot->taken_ns;
}

int ncs_history_take(struct ncs_history *history,
		     const struct ncs_snapshot *snapshot,
		     uint64_t unchanged_since_ns)
{
	int error = 0;

	note_time(history, snapshot);
	if (history->latest.taken_ns < unchanged_since_ns)
		error = counters_copy(&history->latest, snapshot);
	else
		set_times(&history->latest, snapshot);
	for (unsigned i = 0; i < NCS_WINDOWS_FIXED && !error; i++)
		error = past_take(&history->past[i], snapshot,
				  ncs_window_ns(NCS_WINDOW_10_S + i) / 4,
				  unchanged_since_ns);
	return error;
}

int ncs_history_mark(struct ncs_history *history,
		     const struct ncs_snapshot *snapshot)
{
	int error = counters_copy(&history->mark, snapshot);

	note_time(history, snapshot);
	return error ? error : copy_times(&history->mark, snapshot);
}

static const struct ncs_counters *known(const struct ncs_counters *counters)
{
	return counters->taken_ns != 0 ? counters : NULL;
}

static const struct ncs_counters *
base_of_length(const struct ncs_history *history, enum ncs_window window,
	       uint64_t now_ns)
{
	const struct ncs_past_counters *past =
		&history->past[window - NCS_WINDOW_10_S];
	uint64_t length_ns = ncs_window_ns(window);
	uint64_t begin_ns = now_ns > length_ns ? now_ns - length_ns : 0;
	uint64_t slack_ns = length_ns / 4;
	const struct ncs_counters *oldest = NULL, *at;

	for (size_t i = 0;
	     i < NCS_HISTORY_DEPTH && (at = past_counters(past, i)) != NULL;
	     i++) {
		if (at->taken_ns <= begin_ns)
			return at;
		oldest = at;
	}
	/* The rank was born at about the beginning of the window. */
	if (history->birth.taken_ns != 0 &&
	    history->birth.taken_ns + slack_ns >= begin_ns)
		return &history->birth;
	return oldest;
}

const struct ncs_counters *ncs_history_base(const struct ncs_history *history,
					    enum ncs_window window,
					    uint64_t now_ns)
{
	switch (window) {
	case NCS_WINDOW_10_S:
	case NCS_WINDOW_100_S:
		return base_of_length(history, window, now_ns);
	case NCS_WINDOW_START:
		return known(&history->birth);
	case NCS_WINDOW_MARK:
		/* A rank that came after the mark counts from its own start. */
		return history->mark.taken_ns != 0 ? &history->mark :
						     known(&history->birth);
	default:
		return known(&history->latest);
	}
}
