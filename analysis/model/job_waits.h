/* SPDX-License-Identifier: MIT */
/* Waits of the whole job, as shares of the time of its ranks. Pure. */
#ifndef NCS_ANALYSIS_MODEL_JOB_WAITS_H
#define NCS_ANALYSIS_MODEL_JOB_WAITS_H

#include <stdbool.h>
#include <stddef.h>

#include "ncclstat/tables/waits.def"

struct ncs_model;

enum ncs_wait_kind {
#define X(ID, letter, name, help) NCS_WAIT_##ID,
	NCS_WAITS(X)
#undef X
		NCS_WAIT_COUNT
};

struct ncs_job_waits {
	size_t ranks; /* of which something is known; if 0, nothing else is */
	double share[NCS_WAIT_COUNT]; /* their sum is 1 */
};

/* Return the letter of a kind, and its word. */
char ncs_wait_letter(unsigned kind);
const char *ncs_wait_name(unsigned kind);

/* Return the kind of wait of a channel in a state (ncs_channel_state), and of a
 * launch that waits (ncs_launch_wait_kind); NCS_WAIT_COUNT for any other
 * number. */
enum ncs_wait_kind ncs_wait_of_channel(unsigned state);
enum ncs_wait_kind ncs_wait_of_launch(unsigned kind);

/* Adds up the waits of the ranks that live; all ranks count alike. A rank's
 * waits are those of its channels over its window, or over the latest interval
 * if `latest` is true. A rank whose channels were all idle, or that has none,
 * counts by what its oldest launch waits for now. */
void ncs_job_waits(const struct ncs_model *model, bool latest,
		   struct ncs_job_waits *waits);

#endif
