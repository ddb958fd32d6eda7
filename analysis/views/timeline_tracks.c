/* SPDX-License-Identifier: MIT */
/* Activities and tracks of the timeline; see timeline.h. Reads no records.
 */
#include "analysis/views/timeline.h"

#include <stdio.h>

#include "analysis/base/value_names.h"

/* --- Activities ---------------------------------------------------------- */

static const struct {
	char letter;
	enum ncs_activity_layer layer;
	const char *label;
	const char *help;
} activities[NCS_ACTIVITY_COUNT] = {
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

char ncs_activity_letter(enum ncs_activity activity)
{
	return activities[activity].letter;
}

const char *ncs_activity_label(enum ncs_activity activity)
{
	return activities[activity].label;
}

const char *ncs_activity_help(enum ncs_activity activity)
{
	return activities[activity].help;
}

enum ncs_activity_layer ncs_activity_layer(enum ncs_activity activity)
{
	return activities[activity].layer;
}

/* --- Tracks -------------------------------------------------------------- */

enum {
	PLACE_CALLS,
	PLACE_FUNCTIONS,
	PLACE_KERNELS = PLACE_FUNCTIONS + NCS_FUNCTION_COUNT,
	PLACE_PROXY,
	PLACE_CHANNELS
};

static bool has_calls(const struct ncs_rank *rank)
{
	const uint64_t *events = rank->now.events;

	return events[NCS_EVENT_GROUP_API] > 0 ||
	       events[NCS_EVENT_COLL_API] > 0 ||
	       events[NCS_EVENT_P2P_API] > 0 ||
	       events[NCS_EVENT_KERNEL_LAUNCH] > 0 ||
	       events[NCS_EVENT_CE_COLL] > 0;
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

bool ncs_track_uses_ring(const struct ncs_rank *rank,
			 const struct ncs_track *track,
			 enum ncs_latest_kind kind)
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
		if (ncs_track_uses_ring(rank, track, i) &&
		    rank->latest->rings[i].complete_from_ns > from_ns)
			from_ns = rank->latest->rings[i].complete_from_ns;
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
