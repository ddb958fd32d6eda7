/* SPDX-License-Identifier: MIT */
/* The control object: by which a process is asked, while it runs, to collect
 * more or less.
 *
 * One a process, a page in the directory of the segments, readable and writable
 * by its owner, so that segments themselves need to be writable by nobody else.
 * The plugin makes it, looks at one word of it as each group of calls begins,
 * and answers in its segments (abi.h, struct ncs_settings). Types and asserts
 * only; how to read and write it is in shm/control.h and shm/read/remote.h.
 *
 * Everybody who may write it can write anything: each side checks what it
 * finds.
 *
 * All that is asked for is in one word, so that it changes as a whole:
 *
 *   bits  0 … 18  what holds until something else is asked for: a detail
 *         19      a lease is held
 *        20 … 38  what holds beyond that as long as the lease does: a detail
 *        39       0
 *        40 … 63  serial number: another for each change; 0: nobody has asked
 *
 * and a detail is
 *
 *   bits  0 …  7  groups of events that are asked for, by enum ncs_event_group
 *          8      they are told; else bits 0 … 7 are 0
 *          9 … 13 kernel timing: enum ncs_kernel_detail; 0: not told
 *         14 … 18 sampling: 1 + the level, one operation in 2^level keeps the
 *                 records of its parts; 0: not told
 *
 * What is not told comes from what the lease stands on, and in the end from the
 * environment that the process was started with.
 */
#ifndef NCCLSTAT_CONTROL_OBJECT_H
#define NCCLSTAT_CONTROL_OBJECT_H

#include <assert.h>
#include <stddef.h>
#include <stdint.h>

#include "ncclstat/record.h"
#include "ncclstat/tables/event_groups.def"
#include "ncclstat/tables/refusals.def"

#define NCS_CONTROL_MAGIC UINT64_C(0x4c52544e4353434e) /* "NCSCNTRL" */
#define NCS_CONTROL_VERSION (1u << 16 | 0u) /* major, minor */
#define NCS_CONTROL_BYTES 4096u

enum ncs_event_group {
#define X(ID, name, events, needs, help) NCS_GROUP_##ID,
	NCS_EVENT_GROUPS(X)
#undef X
	NCS_GROUP_COUNT
};

#define NCS_GROUPS_ALL ((1u << NCS_GROUP_COUNT) - 1)

enum ncs_refusal {
#define X(ID, name, help) NCS_REFUSAL_##ID,
	NCS_REFUSALS(X)
#undef X
	NCS_REFUSAL_COUNT
};

enum ncs_kernel_detail {
	NCS_KERNEL_DETAIL_DEFAULT, /* not told */
	NCS_KERNEL_DETAIL_OFF,
	NCS_KERNEL_DETAIL_ALWAYS,
	NCS_KERNEL_DETAIL_AUTO,  /* one call in as many as the load allows */
	NCS_KERNEL_DETAIL_EVERY, /* one call in 1; + n: one in 2^n */
};

#define NCS_KERNEL_DETAIL_LOG2_MAX 20u
#define NCS_KERNEL_DETAIL_LOG2_DEFAULT 6u

/* A detail, taken apart. */
struct ncs_detail {
	uint8_t has_groups;
	uint8_t groups; /* bits, by enum ncs_event_group */
	uint8_t kernel; /* enum ncs_kernel_detail */
	uint8_t sample; /* 1 + level; 0: not told */
};

#define NCS_DETAIL_BITS 19
#define NCS_CONTROL_LEASED (UINT64_C(1) << 19)
#define NCS_CONTROL_LEASE_SHIFT 20
#define NCS_CONTROL_SERIAL_SHIFT 40
#define NCS_CONTROL_SERIALS (UINT32_C(1) << 24)

/* How long a lease lasts without being renewed, and the most that may be left
 * of one. */
#define NCS_LEASE_NS UINT64_C(5000000000)
#define NCS_LEASE_MAX_NS UINT64_C(10000000000)

struct ncs_control {
	uint64_t magic;
	uint32_t version; /* NCS_CONTROL_VERSION; 0 until all is in place */
	uint32_t byte_order;
	uint32_t control_bytes;
	uint32_t pid;
	uint64_t process_start;
	uint64_t pid_namespace;
	uint64_t time_namespace;
	char boot_id[40];
	uint64_t reserved[5];
	uint64_t request; /* the word */
	/* Written before a lease is taken, and by its holder as long as he
	 * lives. */
	uint64_t lease_until_ns; /* CLOCK_MONOTONIC */
	uint64_t lease_holder;   /* process in the upper half; not 0 */
	uint64_t padding[5];
};

static_assert((int)NCS_GROUP_COUNT <= 8, "groups fit a detail");
static_assert(NCS_KERNEL_DETAIL_EVERY + NCS_KERNEL_DETAIL_LOG2_MAX < 32, "so does the period");
static_assert(NCS_LEVEL_MAX + 1 < 32, "so does the level");
static_assert(offsetof(struct ncs_control, version) == 8, "version");
static_assert(offsetof(struct ncs_control, request) == 128, "a line of its own");
static_assert(sizeof(struct ncs_control) == 192, "control");
static_assert(sizeof(struct ncs_control) <= NCS_CONTROL_BYTES, "one page");

#endif
