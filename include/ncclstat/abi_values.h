/* SPDX-License-Identifier: MIT */
/* Values of fields of segments: functions, states, statuses, losses, and numbers
 * with a meaning of their own. For all of the segment see abi.h. */
#ifndef NCCLSTAT_ABI_VALUES_H
#define NCCLSTAT_ABI_VALUES_H

#include <assert.h>
#include <stdint.h>

#include "ncclstat/tables/channel_states.def"
#include "ncclstat/tables/cupti.def"
#include "ncclstat/tables/functions.def"
#include "ncclstat/tables/kernel_timing.def"
#include "ncclstat/tables/loss.def"
#include "ncclstat/tables/outside.def"
#include "ncclstat/tables/proxy_states.def"
#include "ncclstat/tables/timing_statuses.def"

enum ncs_channel_state {
#define X(ID, name, letter, label, help) NCS_CHANNEL_##ID,
	NCS_CHANNEL_STATES(X)
#undef X
	NCS_CHANNEL_STATE_COUNT
};

enum ncs_proxy_state {
#define X(ID, name, letter, help) NCS_PROXY_##ID,
	NCS_PROXY_STATES(X)
#undef X
	NCS_PROXY_STATE_COUNT
};

enum ncs_proxy_transition {
#define X(ID, name, help) NCS_TRANSITION_##ID,
	NCS_PROXY_TRANSITIONS(X)
#undef X
	NCS_TRANSITION_COUNT
};

enum ncs_function_id {
#define X(ID, name, size, numerator, denominator) NCS_FUNCTION_##ID,
	NCS_FUNCTIONS(X)
#undef X
	NCS_FUNCTION_COUNT
};

enum ncs_loss {
#define X(ID, ...) NCS_LOSS_##ID,
	NCS_LOSSES(X)
#undef X
	NCS_LOSS_COUNT
};

enum ncs_kernel_timing {
#define X(ID, name, help) NCS_KERNEL_TIMING_##ID,
	NCS_KERNEL_TIMINGS(X)
#undef X
	NCS_KERNEL_TIMING_COUNT
};

enum ncs_kernel_status {
#define X(ID, name, help) NCS_KERNEL_##ID,
	NCS_KERNEL_STATUSES(X)
#undef X
	NCS_KERNEL_STATUS_COUNT
};

enum ncs_stream_status {
#define X(ID, name, help) NCS_STREAM_##ID,
	NCS_STREAM_STATUSES(X)
#undef X
	NCS_STREAM_STATUS_COUNT
};

enum ncs_cupti_status {
#define X(ID, name, help) NCS_CUPTI_##ID,
	NCS_CUPTI_STATUSES(X)
#undef X
	NCS_CUPTI_STATUS_COUNT
};

/* Code that communicates outside NCCL. */
enum ncs_outside_code {
#define X(ID, name, help, how, text) NCS_OUTSIDE_##ID,
	NCS_OUTSIDE_CODE(X)
#undef X
	NCS_OUTSIDE_CODE_COUNT
};

#define NCS_FUNCTION_MAX 16
#define NCS_LOSS_MAX 16

static_assert((int)NCS_FUNCTION_COUNT <= NCS_FUNCTION_MAX,
	       "functions fit their table");
static_assert((int)NCS_LOSS_COUNT <= NCS_LOSS_MAX, "losses fit their table");

/* The source of an operation's time. */
enum ncs_timing {
	NCS_TIMING_KERNEL, /* its kernel channels, by the GPU's clock */
	NCS_TIMING_PROXY,  /* its proxy operations: first start to last end */
	/* Its launch, by CUDA events on the stream. A launch of several
	 * operations is the time of each, with the bytes of all of them. */
	NCS_TIMING_STREAM,
	NCS_TIMING_COUNT
};

/* NCCL reported no sequence number. */
#define NCS_NO_SEQUENCE_NUMBER UINT64_MAX

/* The size, algorithm and protocol of operations that found no class of their
 * own. */
#define NCS_CLASS_OTHER 255u

/* The number of the range for all calls whose range found no entry. */
#define NCS_RANGE_OTHER 1u

/* The size of a range's name in bytes, including the terminating zero. */
#define NCS_RANGE_NAME_BYTES 80u

static_assert(NCS_RANGE_NAME_BYTES % 8 == 0, "names are words");

#endif
