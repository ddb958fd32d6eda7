/* SPDX-License-Identifier: MIT */
/* The job's latest past; see trend.h. Called for each update. */
#include "analysis/model/trend.h"

#include "analysis/model/communicators.h"
#include "analysis/model/model.h"

/* Returns the bandwidth of the busiest class since the previous update. */
static double latest_busbw(const struct ncs_model *model)
{
	const struct ncs_communicator *communicator =
		ncs_busiest_communicator(model);
	const struct ncs_recent *recent;
	uint64_t count = 0;

	if (!communicator)
		return -1;
	recent = ncs_communicator_busbw_recent(
		communicator, communicator->busiest.function, &count);
	return recent ? ncs_recent_latest(recent, count) : -1;
}

void ncs_trend_add(struct ncs_trend *trend, const struct ncs_model *model)
{
	struct ncs_trend_point *point =
		&trend->points[trend->count % NCS_TREND_LENGTH];
	struct ncs_job_waits waits;

	ncs_job_waits(model, true, &waits);
	point->time_ns = model->now_ns;
	point->traffic = (float)ncs_recent_latest(&model->traffic,
						  model->refreshes);
	point->busbw = (float)latest_busbw(model);
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
