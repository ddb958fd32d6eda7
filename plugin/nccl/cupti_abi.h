/* SPDX-License-Identifier: MIT */
/* The part of CUPTI's binary interface that the plugin uses, for CUDA 12 and
 * 13.
 *
 * Types, numbers and asserts only; the layout is that of 64-bit Linux. The
 * plugin reads the first part of a kernel's record, which has been the same
 * since CUDA 11.0: later records only append to it. CUPTI never reuses the
 * number of a function. test/check_cupti.sh compares this file with CUPTI's own
 * headers on machines that have them.
 */
#ifndef NCS_PLUGIN_NCCL_CUPTI_ABI_H
#define NCS_PLUGIN_NCCL_CUPTI_ABI_H

#include <assert.h>
#include <stddef.h>
#include <stdint.h>

enum cupti_result {
	CUPTI_OK = 0,
	CUPTI_NO_MORE_RECORDS = 12,
	CUPTI_ANOTHER_SUBSCRIBER = 39,
};

#define CUPTI_VERSION_LEAST 19u /* CUDA 12.0 */

enum cupti_kind { CUPTI_CONCURRENT_KERNEL = 10 };

enum cupti_site { CUPTI_ENTER = 0 };

enum cupti_domain { CUPTI_DRIVER = 1, CUPTI_RUNTIME = 2 };

/* The functions that launch kernels: X(domain, number, name). */
#define CUPTI_LAUNCHES(X) \
	X(DRIVER, 307, cuLaunchKernel) \
	X(DRIVER, 442, cuLaunchKernel_ptsz) \
	X(DRIVER, 477, cuLaunchCooperativeKernel) \
	X(DRIVER, 478, cuLaunchCooperativeKernel_ptsz) \
	X(DRIVER, 480, cuLaunchCooperativeKernelMultiDevice) \
	X(DRIVER, 514, cuGraphLaunch) \
	X(DRIVER, 515, cuGraphLaunch_ptsz) \
	X(DRIVER, 652, cuLaunchKernelEx) \
	X(DRIVER, 653, cuLaunchKernelEx_ptsz) \
	X(RUNTIME, 211, cudaLaunchKernel_v7000) \
	X(RUNTIME, 214, cudaLaunchKernel_ptsz_v7000) \
	X(RUNTIME, 269, cudaLaunchCooperativeKernel_v9000) \
	X(RUNTIME, 270, cudaLaunchCooperativeKernel_ptsz_v9000) \
	X(RUNTIME, 272, cudaLaunchCooperativeKernelMultiDevice_v9000) \
	X(RUNTIME, 311, cudaGraphLaunch_v10000) \
	X(RUNTIME, 312, cudaGraphLaunch_ptsz_v10000) \
	X(RUNTIME, 430, cudaLaunchKernelExC_v11060) \
	X(RUNTIME, 431, cudaLaunchKernelExC_ptsz_v11060)

struct cupti_subscriber;

struct cupti_call {
	uint32_t site; /* CUPTI_ENTER, or a later point of the call */
	const char *function;
	const void *parameters;
	void *result;
	const char *symbol;
	void *context;
	uint32_t context_number;
	uint64_t *data;
	/* Equal to `correlation` of the kernels that this call launches. */
	uint32_t correlation;
};

struct cupti_record {
	uint32_t kind;
};

struct cupti_kernel {
	uint32_t kind;
	uint32_t configuration[3];
	uint64_t start; /* ns; 0 if CUPTI could not time the kernel */
	uint64_t end;
	uint64_t completed;
	uint32_t device;
	uint32_t context;
	uint32_t stream;
	uint32_t launch[9];
	uint32_t local_bytes;
	uint32_t correlation;
	int64_t grid;
	const char *name; /* mangled */
};

typedef void (*cupti_on_call)(void *argument, uint32_t domain, uint32_t number,
			      const struct cupti_call *call);
typedef void (*cupti_on_request)(uint8_t **buffer, size_t *bytes,
				 size_t *records);
typedef void (*cupti_on_complete)(void *context, uint32_t stream,
				  uint8_t *buffer, size_t bytes,
				  size_t valid_bytes);

/* X(name, parameters). Each returns an enum cupti_result, as an int. */
#define CUPTI_FUNCTIONS(X) \
	X(GetVersion, (uint32_t * version)) \
	X(GetResultString, (int result, const char **text)) \
	X(Subscribe, (struct cupti_subscriber * *subscriber, \
		      cupti_on_call on_call, void *argument)) \
	X(Unsubscribe, (struct cupti_subscriber * subscriber)) \
	X(EnableCallback, \
	  (uint32_t enable, struct cupti_subscriber * subscriber, \
	   uint32_t domain, uint32_t number)) \
	X(ActivityRegisterCallbacks, \
	  (cupti_on_request on_request, cupti_on_complete on_complete)) \
	X(ActivityEnable, (uint32_t kind)) \
	X(ActivityFlushPeriod, (uint32_t ms)) \
	X(ActivityFlushAll, (uint32_t flags)) \
	X(ActivityGetNextRecord, (uint8_t * buffer, size_t valid_bytes, \
				  const struct cupti_record **record)) \
	X(ActivityGetNumDroppedRecords, \
	  (void *context, uint32_t stream, size_t *dropped))

static_assert(offsetof(struct cupti_call, context) == 40, "context");
static_assert(offsetof(struct cupti_call, correlation) == 64, "correlation");
static_assert(offsetof(struct cupti_kernel, start) == 16, "start");
static_assert(offsetof(struct cupti_kernel, device) == 40, "device");
static_assert(offsetof(struct cupti_kernel, correlation) == 92, "correlation");
static_assert(offsetof(struct cupti_kernel, name) == 104, "name");

#endif
