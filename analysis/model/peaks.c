/* SPDX-License-Identifier: MIT */
/* Peaks of communicators; see peaks.h. Called for each frame. */
#include "analysis/model/peaks.h"

#include <stdbool.h>
#include <stddef.h>

#include "analysis/model/communicators.h"
#include "analysis/model/lateness_state.h"

static struct ncs_peak peak_of(enum ncs_peak_link link, uint64_t mb_s)
{
	if (mb_s == 0)
		return (struct ncs_peak){ .link = NCS_PEAK_UNKNOWN };
	return (struct ncs_peak){ .link = link,
				  .gigabytes = (double)mb_s / 1e3 };
}

static uint64_t lesser(uint64_t known, uint64_t mb_s)
{
	return known == 0 || mb_s < known ? mb_s : known;
}

static struct ncs_peak network_peak(const struct ncs_communicator *communicator)
{
	uint64_t least = 0;

	for (size_t i = 0; i < communicator->rank_count; i++) {
		uint64_t mb_s = communicator->ranks[i]->peaks.network_mb_s;

		if (mb_s > 0)
			least = lesser(least, mb_s);
	}
	return peak_of(NCS_PEAK_NETWORK, least);
}

/* Whether nothing speaks against it that a rank sends to all of `gpus` by NVLink.
 * Over NVLink no channel is seen; ranks of other agents may have other bits. */
static bool sends_by_nvlink(const struct ncs_rank *rank,
			    const struct ncs_rank *first, uint64_t gpus)
{
	return rank->peaks.nvlink_mb_s > 0 &&
	       (gpus & ~(rank->peaks.own | rank->peaks.reach)) == 0 &&
	       rank->now.channel_count == 0 && ncs_shares_clock(rank, first);
}

static struct ncs_peak nvlink_peak(const struct ncs_communicator *communicator)
{
	uint64_t gpus = 0, least = 0;

	for (size_t i = 0; i < communicator->rank_count; i++) {
		uint64_t own = communicator->ranks[i]->peaks.own;

		/* No two ranks are on one GPU. */
		if (own == 0 || (gpus & own))
			return peak_of(NCS_PEAK_NVLINK, 0);
		gpus |= own;
	}
	for (size_t i = 0; i < communicator->rank_count; i++) {
		const struct ncs_rank *rank = communicator->ranks[i];

		if (!sends_by_nvlink(rank, communicator->ranks[0], gpus))
			return peak_of(NCS_PEAK_NVLINK, 0);
		least = lesser(least, rank->peaks.nvlink_mb_s);
	}
	return peak_of(NCS_PEAK_NVLINK, least);
}

struct ncs_peak
ncs_communicator_peak(const struct ncs_communicator *communicator)
{
	const struct ncs_identity *identity = communicator->identity;

	if (!(identity->known & NCS_KNOWN_NNODES))
		return peak_of(NCS_PEAK_UNKNOWN, 0);
	if (identity->nnodes > 1)
		return network_peak(communicator);
	if (!(identity->known & NCS_KNOWN_NRANKS) || identity->nranks < 2 ||
	    communicator->rank_count != (size_t)identity->nranks)
		return peak_of(NCS_PEAK_UNKNOWN, 0);
	return nvlink_peak(communicator);
}

const char *ncs_peak_link_name(enum ncs_peak_link link)
{
	switch (link) {
	case NCS_PEAK_NVLINK:
		return "nvlink";
	case NCS_PEAK_NETWORK:
		return "network";
	default:
		return NULL;
	}
}
