/* SPDX-License-Identifier: MIT */
/* Waits of the whole job; see job_waits.h. Must not judge. Called for each
 * update. */
#include "analysis/model/job_waits.h"

#include <string.h>

#include "analysis/base/lookup.h"
#include "analysis/model/communicators.h"
#include "analysis/model/launch_waits.h"
#include "analysis/model/model.h"

#define LETTER(ID, letter, name, help) letter,
#define NAME(ID, letter, name, help) name,

NCS_DEFINE_LOOKUP(ncs_wait_name, NCS_WAITS, NAME, "unknown")

char ncs_wait_letter(unsigned kind)
{
	static const char letters[] = { NCS_WAITS(LETTER) };

	return kind < NCS_WAIT_COUNT ? letters[kind] : '?';
}

static const enum ncs_wait_kind channel_kinds[NCS_CHANNEL_STATE_COUNT] = {
	[NCS_CHANNEL_IDLE] = NCS_WAIT_IDLE,
	[NCS_CHANNEL_SEND_GPU_WAIT] = NCS_WAIT_GPU,
	[NCS_CHANNEL_SEND_PEER_WAIT] = NCS_WAIT_PEER,
	[NCS_CHANNEL_SEND_WAIT] = NCS_WAIT_NETWORK,
	[NCS_CHANNEL_RECV_WAIT] = NCS_WAIT_PEER,
	[NCS_CHANNEL_RECV_FLUSH_WAIT] = NCS_WAIT_NETWORK,
	[NCS_CHANNEL_RECV_GPU_WAIT] = NCS_WAIT_GPU,
};

enum ncs_wait_kind ncs_wait_of_channel(unsigned state)
{
	return state < NCS_CHANNEL_STATE_COUNT ? channel_kinds[state] :
						 NCS_WAIT_COUNT;
}

static const enum ncs_wait_kind launch_kinds[NCS_LAUNCH_WAIT_COUNT] = {
	[NCS_LAUNCH_WAIT_STREAM] = NCS_WAIT_GPU,
	[NCS_LAUNCH_WAIT_PEER] = NCS_WAIT_PEER,
	[NCS_LAUNCH_WAIT_MOVING] = NCS_WAIT_RUNNING,
	[NCS_LAUNCH_WAIT_RUNNING] = NCS_WAIT_RUNNING,
};

enum ncs_wait_kind ncs_wait_of_launch(unsigned kind)
{
	return kind < NCS_LAUNCH_WAIT_COUNT ? launch_kinds[kind] :
					      NCS_WAIT_COUNT;
}

/* Adds the time that a channel spent in each kind of wait. */
static void add_channel(const struct ncs_rank *rank,
			const struct ncs_counters *base, size_t place,
			double *time_ns)
{
	const struct ncs_channel_view *view = &rank->now.channels[place];
	const struct ncs_channel_counters *before =
		base ? ncs_counters_channel(base, view, place) : NULL;
	unsigned first = view->send ? NCS_CHANNEL_SEND_GPU_WAIT :
				      NCS_CHANNEL_RECV_WAIT;

	for (unsigned i = 0; i < NCS_CHANNEL_TIMES; i++) {
		unsigned state = i == 0 ? NCS_CHANNEL_IDLE : first + i - 1;
		uint64_t was = before ? before->time_ns[i] : 0;

		if (view->time_ns[state] > was)
			time_ns[channel_kinds[state]] +=
				(double)(view->time_ns[state] - was);
	}
}

/* Adds the shares of a rank's channels. Returns false if they were all idle. */
static bool add_channels(const struct ncs_rank *rank, bool latest,
			 struct ncs_job_waits *waits)
{
	const struct ncs_counters *base = latest ? ncs_rank_before(rank) :
						   rank->base;
	double time_ns[NCS_WAIT_COUNT] = { 0 }, all_ns = 0;

	for (size_t i = 0; base && i < rank->now.channel_count; i++)
		add_channel(rank, base, i, time_ns);
	for (size_t i = 0; i < NCS_WAIT_COUNT; i++)
		all_ns += time_ns[i];
	/* Without times, by the states that the channels are in. */
	for (size_t i = 0; all_ns <= 0 && i < rank->now.channel_count; i++)
		time_ns[channel_kinds[rank->now.channels[i].state]]++;
	if (all_ns <= 0)
		all_ns = (double)rank->now.channel_count;
	if (all_ns <= time_ns[NCS_WAIT_IDLE])
		return false;
	for (size_t i = 0; i < NCS_WAIT_COUNT; i++)
		waits->share[i] += time_ns[i] / all_ns;
	return true;
}

static void add_rank(const struct ncs_rank *rank, bool latest,
		     struct ncs_job_waits *waits)
{
	struct ncs_launch_wait launch;

	if (add_channels(rank, latest, waits)) {
		waits->ranks++;
		return;
	}
	launch = ncs_rank_launch_wait(rank);
	if (launch.operation)
		waits->share[launch_kinds[launch.kind]]++;
	else if (rank->now.operation_count == 0)
		waits->share[NCS_WAIT_IDLE]++;
	else
		return;
	waits->ranks++;
}

void ncs_job_waits(const struct ncs_model *model, bool latest,
		   struct ncs_job_waits *waits)
{
	memset(waits, 0, sizeof(*waits));
	for (size_t i = 0; i < model->rank_count; i++)
		if (ncs_rank_is_live(model->ranks[i]) &&
		    !model->ranks[i]->is_past)
			add_rank(model->ranks[i], latest, waits);
	for (size_t i = 0; waits->ranks > 0 && i < NCS_WAIT_COUNT; i++)
		waits->share[i] /= (double)waits->ranks;
}

/* --- The trend ---------------------------------------------------------- */

void ncs_trend_add(struct ncs_trend *trend, const struct ncs_model *model)
{
	struct ncs_trend_point *point =
		&trend->points[trend->count % NCS_TREND_LENGTH];
	uint64_t count;
	const struct ncs_recent *busbw = ncs_busiest_recent(
		ncs_busiest_communicator(model), &count);
	struct ncs_job_waits waits = model->waits;

	if (model->window != NCS_WINDOW_NOW)
		ncs_job_waits(model, true, &waits);
	point->time_ns = model->now_ns;
	point->busbw = busbw ? (float)ncs_recent_latest(busbw, count) : -1;
	for (size_t i = 0; i < NCS_WAIT_COUNT; i++)
		point->share[i] =
			waits.ranks > 0 ? (float)waits.share[i] : -1.0f;
	trend->count++;
}

const struct ncs_trend_point *ncs_trend_at(const struct ncs_trend *trend,
					   uint64_t age)
{
	if (age >= trend->count || age >= NCS_TREND_LENGTH)
		return NULL;
	return &trend->points[(trend->count - 1 - age) % NCS_TREND_LENGTH];
}
