/* SPDX-License-Identifier: MIT */
/* Communication outside NCCL; see outside.h. */
#include "analysis/model/outside.h"

#include <string.h>

#include "analysis/model/model.h"
#include "analysis/model/rank.h"

/* Which code no name of a kernel tells, by enum ncs_outside_code. */
enum { PATH = 0, CALL = 1 };
#define X(ID, name, help, how, text) | (uint64_t)how << NCS_OUTSIDE_##ID
static const uint64_t calls = 0 NCS_OUTSIDE_CODE(X);
#undef X

bool ncs_outside_of(const struct ncs_model *model, struct ncs_outside *outside)
{
	uint64_t outside_ns = 0, busy_ns = 0;

	memset(outside, 0, sizeof(*outside));
	for (size_t i = 0; i < model->rank_count; i++) {
		const struct ncs_snapshot *now = &model->ranks[i]->now;
		const struct ncs_cupti_view *cupti = &now->cupti;

		outside->kernels += cupti->outside_kernels;
		outside_ns += cupti->outside_busy_ns;
		busy_ns += cupti->busy_ns;
		outside->code |= cupti->known && cupti->status == NCS_CUPTI_ON ?
					 now->outside_code & calls :
					 now->outside_code;
	}
	outside->cupti_would_tell = outside->code & ~calls;
	if (busy_ns > 0)
		outside->share = (double)outside_ns / (double)busy_ns;
	return outside->kernels > 0 || outside->code != 0;
}
