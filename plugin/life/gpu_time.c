/* SPDX-License-Identifier: MIT */
/* Summing up kernels; see gpu_time.h. */
#include "plugin/life/gpu_time.h"

#include <stdlib.h>
#include <string.h>

#include "plugin/life/intervals.h"
#include "plugin/state/range_stack.h"
#include "plugin/events/range_stats.h"
#include "shm/atomics.h"

#define DEVICE_MAX 64u

/* Number of intervals kept in which a GPU computes, as many for each range; and
 * number of NCCL's kernels kept. A kernel that is added after this many later
 * ones comes too late. */
#define INTERVALS_MAX 16384u
#define COMMUNICATIONS 2048u

struct communication {
	uint64_t start;
	uint64_t end;
	uint64_t latest_end; /* latest end of this one and all before it */
	uint64_t range;
};

struct device {
	struct ncs_intervals *ran; /* any kernel */
	struct ncs_intervals *outside;
	struct ncs_intervals *computed;
	struct ncs_intervals *computed_for[NCS_RANGE_MAX + 1];
	/* Sorted by start. Those that ended before `floor` are not kept. */
	struct communication communications[COMMUNICATIONS];
	uint32_t communication_count;
	uint64_t floor;
};

static struct device *devices[DEVICE_MAX];

static struct device *device_of(uint32_t number)
{
	struct device **device;

	if (number >= DEVICE_MAX)
		return NULL;
	device = &devices[number];
	if (*device)
		return *device;
	*device = calloc(1, sizeof(**device));
	if (!*device)
		return NULL;
	(*device)->ran = ncs_intervals_new(INTERVALS_MAX);
	(*device)->outside = ncs_intervals_new(INTERVALS_MAX);
	(*device)->computed = ncs_intervals_new(INTERVALS_MAX);
	if ((*device)->ran && (*device)->outside && (*device)->computed)
		return *device;
	free((*device)->ran);
	free((*device)->outside);
	free((*device)->computed);
	free(*device);
	*device = NULL;
	return NULL;
}

static struct ncs_gpu_time *total_of(struct ncs_comm *comm)
{
	return &comm->header->cupti.total;
}

/* Returns the sums of a range; if it has none, a struct that is never read. */
static struct ncs_gpu_time *time_of(struct ncs_comm *comm, uint32_t range)
{
	static struct ncs_gpu_time nowhere;
	struct ncs_gpu_time *time = ncs_range_gpu_time(comm, range);

	return time ? time : &nowhere;
}

/* --- Communication ------------------------------------------------------ */

static void hide(struct ncs_comm *comm, uint32_t range, uint64_t ns)
{
	ncs_add_relaxed(&total_of(comm)->hidden_ns, ns);
	ncs_add_relaxed(&time_of(comm, range)->hidden_ns, ns);
}

static void drop_oldest(struct device *device)
{
	uint32_t count = COMMUNICATIONS / 4;
	uint64_t latest_end = device->communications[count - 1].latest_end;

	if (device->floor < latest_end)
		device->floor = latest_end;
	device->communication_count -= count;
	memmove(device->communications, device->communications + count,
		device->communication_count *
			sizeof(device->communications[0]));
}

static void keep(struct device *device, const struct ncs_kernel_run *kernel)
{
	struct communication *all = device->communications;
	uint64_t latest_end;
	uint32_t place;

	if (device->communication_count == COMMUNICATIONS)
		drop_oldest(device);
	place = device->communication_count++;
	for (; place > 0 && all[place - 1].start > kernel->start; place--)
		all[place] = all[place - 1];
	all[place] = (struct communication){
		.start = kernel->start,
		.end = kernel->end,
		.range = kernel->range,
	};
	latest_end = place > 0 ? all[place - 1].latest_end : 0;
	for (; place < device->communication_count; place++) {
		if (latest_end < all[place].end)
			latest_end = all[place].end;
		all[place].latest_end = latest_end;
	}
}

static bool add_communication(struct ncs_comm *comm, struct device *device,
			      const struct ncs_kernel_run *kernel)
{
	uint64_t ns = kernel->end - kernel->start;

	ncs_add_relaxed(&total_of(comm)->communication_kernels, 1);
	ncs_add_relaxed(&total_of(comm)->communication_ns, ns);
	ncs_add_relaxed(&time_of(comm, kernel->range)->communication_kernels,
			1);
	ncs_add_relaxed(&time_of(comm, kernel->range)->communication_ns, ns);
	hide(comm, kernel->range,
	     ncs_intervals_covered(device->computed, kernel->start,
				   kernel->end));
	keep(device, kernel);
	return kernel->start >= device->computed->floor;
}

/* --- Computing ---------------------------------------------------------- */

struct hiding {
	struct ncs_comm *comm;
	const struct device *device;
};

/* Handles an interval in which the GPU was not known to compute before. */
static void on_computed(void *argument, uint64_t start, uint64_t end)
{
	const struct hiding *hiding = argument;
	const struct communication *all = hiding->device->communications;

	for (uint32_t i = hiding->device->communication_count;
	     i > 0 && all[i - 1].latest_end > start; i--) {
		const struct communication *one = &all[i - 1];
		uint64_t from = one->start > start ? one->start : start;
		uint64_t to = one->end < end ? one->end : end;

		if (from < to)
			hide(hiding->comm, (uint32_t)one->range, to - from);
	}
}

/* Adds to the time in which any kernel of a set ran. */
static bool add_to(struct ncs_intervals *set, uint64_t *word,
		   const struct ncs_kernel_run *kernel)
{
	bool in_full = kernel->start >= set->floor;

	ncs_add_relaxed(word, ncs_intervals_add(set, kernel->start, kernel->end,
						NULL, NULL));
	return in_full;
}

/* Adds to the busy time of a kernel's range and of the ranges around it. */
static bool add_busy(struct ncs_comm *comm, struct device *device,
		     const struct ncs_kernel_run *kernel)
{
	bool in_full = true;

	for (uint32_t range = kernel->range; range != 0;
	     range = ncs_range_parent(range)) {
		struct ncs_intervals **set = &device->computed_for[range];

		if (!*set)
			*set = ncs_intervals_new(INTERVALS_MAX);
		if (!*set)
			return false;
		in_full &= add_to(*set, &time_of(comm, range)->compute_busy_ns,
				  kernel);
	}
	return in_full;
}

static bool add_computing(struct ncs_comm *comm, struct device *device,
			  const struct ncs_kernel_run *kernel)
{
	struct hiding hiding = { comm, device };
	uint64_t ns = kernel->end - kernel->start;
	bool in_full = kernel->start >= device->computed->floor &&
		       kernel->start >= device->floor;

	ncs_add_relaxed(&total_of(comm)->compute_kernels, 1);
	ncs_add_relaxed(&total_of(comm)->compute_ns, ns);
	ncs_add_relaxed(&time_of(comm, kernel->range)->compute_kernels, 1);
	ncs_add_relaxed(&time_of(comm, kernel->range)->compute_ns, ns);
	ncs_add_relaxed(&total_of(comm)->compute_busy_ns,
			ncs_intervals_add(device->computed, kernel->start,
					  kernel->end, on_computed, &hiding));
	return add_busy(comm, device, kernel) && in_full;
}

/* --- Outside NCCL -------------------------------------------------------- */

static bool add_outside(struct ncs_comm *comm, struct device *device,
			const struct ncs_kernel_run *kernel)
{
	struct ncs_cupti *cupti = &comm->header->cupti;

	ncs_add_relaxed(&cupti->outside_kernels, 1);
	return add_to(device->outside, &cupti->outside_busy_ns, kernel);
}

bool ncs_gpu_time_add(struct ncs_comm *comm,
		      const struct ncs_kernel_run *kernel)
{
	struct device *device = device_of(kernel->device);
	bool in_full;

	if (!device || kernel->start == 0 || kernel->end < kernel->start)
		return false;
	in_full = add_to(device->ran, &comm->header->cupti.busy_ns, kernel);
	switch (kernel->kind) {
	case NCS_KIND_NCCL:
		return add_communication(comm, device, kernel) && in_full;
	case NCS_KIND_OUTSIDE:
		return add_outside(comm, device, kernel) && in_full;
	default:
		return add_computing(comm, device, kernel) && in_full;
	}
}

void ncs_gpu_time_forget(void)
{
	memset(devices, 0, sizeof(devices));
}
