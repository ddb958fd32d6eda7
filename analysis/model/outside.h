/* SPDX-License-Identifier: MIT */
/* Communication of a job outside NCCL, which NCCL does not report: by the names of
 * kernels where CUPTI tells them, and by the code that processes have. Pure.
 */
#ifndef NCS_ANALYSIS_MODEL_OUTSIDE_H
#define NCS_ANALYSIS_MODEL_OUTSIDE_H

#include <stdbool.h>
#include <stdint.h>

struct ncs_model;

/* Sums over all processes since they started. */
struct ncs_outside {
	uint64_t kernels; /* that communicate outside NCCL */
	double share; /* of the time in which the GPUs run kernels; 0: none */
	/* Code of processes of whose kernels nobody tells, and calls, which have
	 * no kernels of known names; by enum ncs_outside_code. */
	uint64_t code;
	bool cupti_would_tell; /* whether some of it is used */
};

/* Adds up what the model's ranks show. Returns false if none communicates, or
 * may communicate, outside NCCL as far as can be seen. */
bool ncs_outside_of(const struct ncs_model *model, struct ncs_outside *outside);

#endif
