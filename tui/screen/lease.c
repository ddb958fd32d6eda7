/* SPDX-License-Identifier: MIT */
/* The live view's lease; see lease.h. Must not write anything but the lease's
 * words in control objects. */
#include "tui/screen/lease.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "analysis/base/detail.h"
#include "shm/atomics.h"

#define RENEW_NS UINT64_C(1000000000)

/* The detail that the lease asks for. It is worth its cost only while a user
 * watches. */
static const struct ncs_detail more = {
	.has_groups = 1,
	.groups = NCS_GROUPS_ALL,
	.sample = 1,
};

bool ncs_lease_is_held(const struct ncs_lease *lease)
{
	return lease->targets.count > 0;
}

/* Removes a target from the lease. */
static void forget(struct ncs_targets *targets, size_t index)
{
	ncs_remote_close(targets->targets[index].remote);
	targets->targets[index] = targets->targets[--targets->count];
}

static bool take_one(struct ncs_lease *lease, const struct ncs_target *target,
		     const struct ncs_process *self, uint64_t now_ns,
		     const char **why)
{
	*why = target->why;
	if (!target->remote)
		return false;
	*why = "its clock belongs to another time namespace";
	if (target->process.time_namespace != self->time_namespace)
		return false;
	ncs_control_take_lease(ncs_remote_control(target->remote), &more,
			       lease->holder, now_ns);
	return true;
}

void ncs_lease_take(struct ncs_lease *lease, const struct ncs_model *model,
		    const struct ncs_target_filter *filter, uint64_t now_ns,
		    char *text, size_t size)
{
	struct ncs_targets *targets = &lease->targets;
	char detail[128], failures[192] = "";
	struct ncs_process self;

	ncs_targets_release(targets);
	ncs_process_describe(&self);
	lease->holder = (uint64_t)self.pid << 32 | (uint32_t)now_ns;
	lease->renewed_ns = now_ns;
	if (ncs_targets_find(targets, model, filter) != 0) {
		snprintf(text, size, "%s", strerror(ENOMEM));
		return;
	}
	if (targets->count == 0) {
		snprintf(text, size, "there is no process to ask");
		return;
	}
	for (size_t i = targets->count; i-- > 0;) {
		const struct ncs_target *target = &targets->targets[i];
		const char *why;

		if (take_one(lease, target, &self, now_ns, &why))
			continue;
		snprintf(failures, sizeof(failures),
			 "; not process %" PRIu32 ": %s", target->process.pid,
			 why);
		forget(targets, i);
	}
	ncs_detail_text(&more, detail, sizeof(detail));
	snprintf(text, size, "asked %zu %s for %s while this view runs%s",
		 targets->count, targets->count == 1 ? "process" : "processes",
		 detail, failures);
}

static void print_loss(const struct ncs_lease *lease,
		       const struct ncs_target *target, char *text, size_t size)
{
	uint64_t holder = ncs_load_relaxed(
		&ncs_remote_control(target->remote)->lease_holder);

	if (holder != lease->holder)
		snprintf(text, size,
			 "viewer %u took over the lease on process %" PRIu32,
			 (unsigned)(holder >> 32), target->process.pid);
	else
		snprintf(text, size,
			 "the lease on process %" PRIu32
			 " has ended; d takes it again",
			 target->process.pid);
}

void ncs_lease_renew(struct ncs_lease *lease, uint64_t now_ns, char *text,
		     size_t size)
{
	struct ncs_targets *targets = &lease->targets;

	text[0] = '\0';
	if (now_ns - lease->renewed_ns < RENEW_NS)
		return;
	lease->renewed_ns = now_ns;
	for (size_t i = targets->count; i-- > 0;) {
		const struct ncs_target *target = &targets->targets[i];

		if (ncs_control_renew_lease(ncs_remote_control(target->remote),
					    lease->holder, now_ns))
			continue;
		print_loss(lease, target, text, size);
		forget(targets, i);
	}
	if (targets->count == 0)
		ncs_targets_release(targets);
}

void ncs_lease_drop(struct ncs_lease *lease)
{
	for (size_t i = 0; i < lease->targets.count; i++)
		ncs_control_drop_lease(
			ncs_remote_control(lease->targets.targets[i].remote),
			lease->holder);
	ncs_targets_release(&lease->targets);
}
