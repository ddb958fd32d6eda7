/* SPDX-License-Identifier: MIT */
/* Limits of costs; see cost_limits.h. Must not read calls: host_calls.c does.
 */
#include "analysis/model/cost_limits.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include "analysis/model/communicators.h"
#include "analysis/model/host_calls.h"
#include "analysis/model/lateness_cost.h"
#include "analysis/model/model.h"
#include "shm/array.h"

/* The number of ranks of a large communicator whose hosts are looked at. */
#define ASKED 64u

/* Hosts are looked at if a rank seems to cost this share of the time. */
#define COSTS 0.01

/* A host that works for at least WORKS of the time may go on with that while its GPU
 * waits. With fewer long gaps than LONG_LEAST nobody can tell. If it works for
 * WORKS_MUCH, chance puts it further behind, and LONG_LEAST_MUCH are needed. */
#define WORKS 0.04
#define WORKS_MUCH 0.25
#define LONG_LEAST 12u
#define LONG_LEAST_MUCH 24u

/* In LONG_LEAST steps, chance makes no rank seem to cost more than this share. */
#define CHANCE 0.3

/* Hosts are known to wait, or not to, if one in so many of them is. */
#define KNOWN 4

/* The hosts of a communicator that were looked at. */
struct hosts {
	struct ncs_host_calls *calls; /* room */
	struct ncs_host_work *hosts;
	size_t count, capacity;
	size_t step; /* each so many ranks, one was looked at */
};

/* Returns whether the hosts of all ranks but one wait while their GPUs are idle: what
 * most of those do of which it is known, as all run the same program. That one is left
 * out since a late host may do otherwise. */
static enum ncs_host_wait wait_of_others(const struct hosts *hosts, size_t but)
{
	size_t wait = 0, go_on = 0;

	for (size_t i = 0; i < hosts->count; i++) {
		if (i * hosts->step == but)
			continue;
		wait += hosts->hosts[i].wait == NCS_HOST_WAIT_LAST;
		go_on += hosts->hosts[i].wait == NCS_HOST_WAIT_NONE;
	}
	if (wait == go_on || wait + go_on < hosts->count / KNOWN)
		return NCS_HOST_WAIT_UNKNOWN;
	return wait > go_on ? NCS_HOST_WAIT_LAST : NCS_HOST_WAIT_NONE;
}

/* Returns whether a host may go on with its work while its GPU is idle, as it mostly is
 * when it calls. */
static bool works_while_idle(const struct ncs_host_work *host)
{
	return host->waiting.at_least >= WORKS && host->varies &&
	       2 * host->idle_count > host->long_count;
}

/* Returns whether a host runs ahead of its GPU, and has work of its own. */
static bool works_ahead(const struct ncs_host_work *host)
{
	return host->waiting.share >= WORKS_MUCH && host->varies &&
	       2 * host->idle_count <= host->long_count;
}

/* Returns whether there are too few calls to tell whether a host works while its GPU is
 * idle. */
static bool is_early(const struct ncs_host_work *host)
{
	return works_while_idle(host) &&
	       host->long_count < (host->waiting.at_least < WORKS_MUCH ?
					   LONG_LEAST :
					   LONG_LEAST_MUCH);
}

/* Returns whether chance may explain what a rank seems to cost. It averages out with
 * the root of the number of steps. */
static bool may_be_chance(const struct ncs_host_work *host, double cost)
{
	double steps = fmin((double)host->long_count, LONG_LEAST);

	return cost * sqrt(steps / LONG_LEAST) < CHANCE;
}

/* Returns the share of the time for which a host worked. While it is too early to tell
 * whether the host goes on, and chance may explain what a rank seems to cost, all of the
 * time counts as work. */
static struct ncs_host_share choose(const struct ncs_host_work *host,
				    enum ncs_host_wait wait,
				    double seeming_cost)
{
	if (wait != NCS_HOST_WAIT_LAST && is_early(host) &&
	    may_be_chance(host, seeming_cost))
		return (struct ncs_host_share){ 1, 1 };
	return wait == NCS_HOST_WAIT_NONE ? host->going_on : host->waiting;
}

/* Sets what a rank costs at most. */
static void set_limit(const struct hosts *hosts, size_t rank,
		      struct ncs_late_rank *late)
{
	enum ncs_host_wait wait = wait_of_others(hosts, rank);
	double seeming_cost =
		hosts->count > 0 ? ncs_seeming_cost(late, NCS_STRAGGLER_NS,
						    NCS_COST_MOST) :
				   0;
	struct ncs_lateness_view *view = &late->view;
	struct ncs_host_share most = { 0 };

	view->hosts_may_go_on = view->hosts_run_ahead = view->is_unsure = false;
	for (size_t i = 0; i < hosts->count; i++) {
		struct ncs_host_share share =
			choose(&hosts->hosts[i], wait, seeming_cost);
		bool may_work = wait != NCS_HOST_WAIT_LAST &&
				works_while_idle(&hosts->hosts[i]);

		if (i * hosts->step == rank)
			continue;
		view->hosts_may_go_on |= may_work;
		view->hosts_run_ahead |= works_ahead(&hosts->hosts[i]);
		view->is_unsure |= may_work &&
				   (wait == NCS_HOST_WAIT_UNKNOWN ||
				    is_early(&hosts->hosts[i]));
		most.share = fmax(most.share, share.share);
		most.at_least = fmax(most.at_least, share.at_least);
	}
	view->cost_limit = 1 - most.share;
	view->cost_limit_at_most = fmax(view->cost_limit, 1 - most.at_least);
	late->is_viewed = false;
}

/* Returns whether a rank of a communicator seems to cost anything. */
static bool has_cost(const struct ncs_communicator *communicator)
{
	for (size_t i = 0; i < communicator->rank_count; i++)
		if (communicator->ranks[i]->late &&
		    ncs_seeming_cost(communicator->ranks[i]->late,
				     NCS_STRAGGLER_NS, NCS_COST_MOST) > COSTS)
			return true;
	return false;
}

/* Looks at the hosts of a communicator. Returns 0 or -ENOMEM. */
static int look_at_hosts(const struct ncs_model *model,
			 const struct ncs_communicator *communicator,
			 struct hosts *hosts)
{
	hosts->count = 0;
	hosts->step = communicator->rank_count / ASKED + 1;
	if (ncs_array_reserve(&hosts->hosts, &hosts->capacity,
			      communicator->rank_count / hosts->step + 1,
			      sizeof(*hosts->hosts)) != 0)
		return -ENOMEM;
	for (size_t i = 0; i < communicator->rank_count; i += hosts->step) {
		if (ncs_host_calls_look(hosts->calls, model,
					communicator->ranks[i],
					&hosts->hosts[hosts->count]) != 0)
			return -ENOMEM;
		hosts->count++;
	}
	return 0;
}

int ncs_cost_limits_update(struct ncs_model *model)
{
	struct hosts hosts = { .step = 1, .calls = ncs_host_calls_new() };
	int error = hosts.calls ? 0 : -ENOMEM;

	for (size_t i = 0; i < model->communicator_count && !error; i++) {
		hosts.count = 0;
		if (has_cost(&model->communicators[i]))
			error = look_at_hosts(model, &model->communicators[i],
					      &hosts);
		for (size_t k = 0; k < model->communicators[i].rank_count; k++)
			if (model->communicators[i].ranks[k]->late)
				set_limit(&hosts, k,
					  model->communicators[i].ranks[k]->late);
	}
	free(hosts.hosts);
	ncs_host_calls_free(hosts.calls);
	return error;
}
