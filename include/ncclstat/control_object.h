/* SPDX-License-Identifier: MIT */
/* The control object, through which viewers ask a running process to collect
 * more or less detail.
 *
 * Each process has one: a page in the directory of the segments, readable and
 * writable by its user, so that no other process needs to write to a segment.
 * The plugin creates it, reads its request at the start of each group of calls,
 * and answers in its segments (abi_header.h, struct ncs_settings). This header
 * has types and asserts only; shm/control.h changes the words,
 * shm/read/remote.h maps them.
 *
 * Its name has a random part, so that no other user can take it first: readers
 * list the directory. The control object of a segment is one that belongs to the
 * user that the segment belongs to, and says that the same process made it. Of
 * several, the one that was created last is meant, and of those created at the
 * same time, the one whose name sorts last: an earlier one was left by the
 * program that the process ran before exec(), or belongs to another copy of the
 * plugin.
 *
 * Neither side trusts the control object: any process of the user may write
 * anything to it, and both sides check what they read.
 *
 * A request is one word, so that it changes as a whole:
 *
 *   bits  0 … 23  base detail, in force until another request changes it
 *         24      a lease is held
 *        25 … 48  the lease's detail, in force above the base during the lease
 *        49 … 63  serial number, incremented by each change; 0: no request yet
 *
 * A detail is:
 *
 *   bits  0 …  7  the groups of events to be reported, by enum ncs_event_group
 *          8      the groups are set; if not, bits 0 … 7 are 0
 *          9 … 13 kernel timing: enum ncs_kernel_detail; 0: not set. Viewers
 *                 do not set it; the plugin reports the mode in force here, and
 *                 refuses such requests of earlier viewers
 *         14 … 18 sampling: 1 + level, where one operation in 2^level keeps the
 *                 records of its children; 0: not set
 *        19 … 23  timing of launches: enum ncs_timing_detail; 0: not set, or
 *                 not known, from plugins before minor version 5 of the ABI
 *
 * A field that is not set in the lease's detail is taken from the base; one
 * that is not set there is taken from the environment that the process was
 * started with.
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
#define NCS_CONTROL_VERSION (2u << 16 | 1u) /* major, minor */
#define NCS_CONTROL_BYTES 4096u /* size of the file */

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
	NCS_KERNEL_DETAIL_DEFAULT, /* not set */
	NCS_KERNEL_DETAIL_OFF,
	NCS_KERNEL_DETAIL_ALWAYS,
	/* In earlier plugins and viewers only: */
	NCS_KERNEL_DETAIL_AUTO,  /* sampled; the period follows the load */
	NCS_KERNEL_DETAIL_EVERY, /* + n: one group of calls in 2^n is timed */
};

#define NCS_KERNEL_DETAIL_LOG2_MAX 20u

enum ncs_timing_detail {
	NCS_TIMING_DETAIL_DEFAULT, /* not set */
	NCS_TIMING_DETAIL_OFF,
	NCS_TIMING_DETAIL_AUTO,  /* as many launches as cost little */
	NCS_TIMING_DETAIL_EVERY, /* + n: one launch in 2^n; n is 0: all */
};

#define NCS_TIMING_DETAIL_LOG2_MAX 20u

/* An unpacked detail. */
struct ncs_detail {
	uint8_t has_groups; /* 1: groups are set */
	uint8_t groups; /* bits, by enum ncs_event_group */
	uint8_t kernel; /* enum ncs_kernel_detail */
	uint8_t sample; /* 1 + level; 0: not set */
	uint8_t timing; /* enum ncs_timing_detail */
};

#define NCS_DETAIL_BITS 24
#define NCS_CONTROL_LEASED (UINT64_C(1) << 24)
#define NCS_CONTROL_LEASE_SHIFT 25
#define NCS_CONTROL_SERIAL_SHIFT 49
#define NCS_CONTROL_SERIALS (UINT32_C(1) << 15)

/* How long a lease lasts unless renewed, and the longest remaining time that is
 * accepted. */
#define NCS_LEASE_NS UINT64_C(5000000000)
#define NCS_LEASE_MAX_NS UINT64_C(10000000000)

/* The object. Words before the request do not change; the process is described
 * as in struct ncs_header (abi_header.h). */
struct ncs_control {
	uint64_t magic;   /* NCS_CONTROL_MAGIC */
	uint32_t version; /* NCS_CONTROL_VERSION; stored last, 0 until then */
	uint32_t byte_order;    /* NCS_BYTE_ORDER (abi_header.h) */
	uint32_t control_bytes; /* sizeof(struct ncs_control) of the plugin */
	uint32_t pid;
	uint64_t process_start;
	uint64_t pid_namespace;
	uint64_t time_namespace;
	char boot_id[40];
	uint64_t created_ns; /* CLOCK_MONOTONIC; 0 before minor version 1 */
	uint64_t reserved[4];
	uint64_t request; /* see above */
	/* Written before the request that takes the lease; the holder writes
	 * the end again to renew it. */
	uint64_t lease_until_ns; /* CLOCK_MONOTONIC */
	uint64_t lease_holder;   /* PID in the upper half; not 0 */
	uint64_t padding[5];
};

static_assert((int)NCS_GROUP_COUNT <= 8, "groups fit a detail");
static_assert(NCS_KERNEL_DETAIL_EVERY + NCS_KERNEL_DETAIL_LOG2_MAX < 32,
	      "the period fits a detail");
static_assert(NCS_TIMING_DETAIL_EVERY + NCS_TIMING_DETAIL_LOG2_MAX < 32,
	      "the period of timing fits a detail");
static_assert(NCS_LEVEL_MAX + 1 < 32, "the level fits a detail");
static_assert(offsetof(struct ncs_control, version) == 8, "version");
static_assert(offsetof(struct ncs_control, request) == 128,
	      "the request begins a cache line");
static_assert(sizeof(struct ncs_control) == 192, "control");
static_assert(sizeof(struct ncs_control) <= NCS_CONTROL_BYTES, "one page");

#endif
