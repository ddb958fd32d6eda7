/* SPDX-License-Identifier: MIT */
/* Sizes of segments and their choice; see profile.h. Pure. */
#include "plugin/life/profile.h"

#include "plugin/state/comm.h"

/* The number of communicators for which each rank keeps room. */
#define COMMS_KEPT 8u

/* The number of ranks of a node where NCCL does not tell. */
#define RANKS_GUESSED 8u

/* The number of histograms of ranges: one for this many ranges, and some
 * more. */
#define RANGES_PER_HISTOGRAM 8u
#define RANGE_HISTOGRAMS_LEAST 8u

/* From this size on a segment may take all that is left of the process's
 * limit. */
#define FIRST_SMALL 3u

/* Numbers of ranges and of their histograms are upper bounds.
 *
 * A call lane's ring is to hold 10 s of a busy job. A launch leaves two records
 * on the thread that calls (its API call and itself), and one on the thread that
 * sees it end, and each 16 of these one more. 8192 records are 10 s of 400
 * launches a second on one thread; PyTorch's DistributedDataParallel was seen to
 * make 60 to 600, on two threads. */
#define RANGE_LIMITS UINT32_MAX, UINT32_MAX
static const struct ncs_segment_size profiles[NCS_PROFILE_COUNT] = {
	{ NCS_LANE_MAX, 512, 1024, NCS_FUNCTION_MAX + 64, 64, 1024,
	  RANGE_LIMITS, NCS_CALL_LANES, 8192 },
	{ NCS_LANE_MAX, 256, 512, NCS_FUNCTION_MAX + 64, 24, 512, RANGE_LIMITS,
	  NCS_CALL_LANES, 2048 },
	{ NCS_LANE_MAX, 128, 256, NCS_FUNCTION_MAX + 32, 12, 128, RANGE_LIMITS,
	  NCS_CALL_LANES, 1024 },
	{ NCS_LANE_MAX, 64, 128, NCS_FUNCTION_MAX + 16, 8, 64, RANGE_LIMITS,
	  NCS_CALL_LANES, 256 },
	{ 4, 32, 64, NCS_FUNCTION_MAX + 8, 2, 32, 16, 2, 2, 128 },
	/* 64 of these fit into a 16th of 64 MB, the /dev/shm of a container. */
	{ 3, 32, 32, NCS_FUNCTION_MAX + 8, 1, 32, 8, 1, 0, 0 },
};

static uint32_t smaller(uint32_t a, uint32_t b)
{
	return a < b ? a : b;
}

static uint64_t rest(uint64_t limit, uint64_t used)
{
	return limit > used ? limit - used : 0;
}

struct ncs_segment_size ncs_profile_size(uint32_t profile, uint32_t ranges)
{
	struct ncs_segment_size size = profiles[profile];

	size.ranges = smaller(ranges, size.ranges);
	size.range_histograms =
		ranges == 0 ? 0 :
			      smaller(ranges / RANGES_PER_HISTOGRAM +
					      RANGE_HISTOGRAMS_LEAST,
				      size.range_histograms);
	return size;
}

uint64_t ncs_profile_bytes(uint32_t profile, uint32_t ranges)
{
	struct ncs_segment_size size = ncs_profile_size(profile, ranges);
	struct ncs_header layout = { 0 };

	ncs_segment_lay_out(&layout, &size);
	return layout.segment_bytes;
}

/* Returns what remains to this rank of the node's memory, but for its later
 * communicators. */
static uint64_t share_left(const struct ncs_room *room, uint32_t ranges)
{
	uint64_t free = rest(room->node_bytes, room->held_bytes);
	uint64_t kept = 0, share;

	if (room->comms + 1 < COMMS_KEPT)
		kept = (COMMS_KEPT - 1 - room->comms) *
		       ncs_profile_bytes(NCS_PROFILE_SMALLEST, ranges);
	share = rest(room->node_bytes / room->ranks, room->used_bytes + kept);
	return share < free ? share : free;
}

/* Tells whether there is room for a segment of this size. */
static bool fits(const struct ncs_room *room, uint32_t profile, uint32_t ranges)
{
	uint64_t bytes = ncs_profile_bytes(profile, ranges);
	uint64_t left = rest(room->process_bytes, room->used_bytes);

	if (bytes > (profile < FIRST_SMALL ? left / 4 : left))
		return false;
	if (!room->node_counts)
		return true;
	if (profile == NCS_PROFILE_SMALLEST)
		return !room->node_known ||
		       bytes <= rest(room->node_bytes, room->held_bytes);
	return room->node_known && bytes <= share_left(room, ranges);
}

uint32_t ncs_profile_choose(const struct ncs_room *room, uint32_t ranges)
{
	uint32_t profile = 0;

	while (profile < NCS_PROFILE_COUNT && !fits(room, profile, ranges))
		profile++;
	return profile;
}

uint32_t ncs_profile_ranks(int nranks, int nnodes, uint32_t processes)
{
	uint32_t ranks = RANKS_GUESSED;

	if (nranks > 0 && nnodes > 0)
		ranks = ((uint32_t)nranks - 1) / (uint32_t)nnodes + 1;
	else if (nranks > 0)
		ranks = smaller((uint32_t)nranks, RANKS_GUESSED);
	return ranks > processes ? ranks : processes;
}
