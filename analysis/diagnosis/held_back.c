/* SPDX-License-Identifier: MIT */
/* The rule for what holds the GPU or the network ports of a rank to blame back more
 * than those of others. It adds evidence to findings and makes none: the same may be
 * so where nothing is slow.
 */
#include "analysis/diagnosis/rules.h"

#include <stdlib.h>

/* Return how far a rank is held back; -1: not known. */
static int64_t clock_lost(const struct ncs_rank_peaks *peaks)
{
	if (peaks->clock_most_mhz == 0)
		return -1;
	return peaks->held_by & NCS_CLOCK_HELD &&
			       peaks->clock_mhz < peaks->clock_most_mhz ?
		       peaks->clock_most_mhz - peaks->clock_mhz :
		       0;
}

static int64_t resent(const struct ncs_rank_peaks *peaks)
{
	return peaks->ports.sent == 0 ?
		       -1 :
		       (int64_t)(1000 * peaks->ports.resent /
				 peaks->ports.sent);
}

static int64_t port_errors(const struct ncs_rank_peaks *peaks)
{
	return peaks->ports.ports == 0 ? -1 : (int64_t)peaks->ports.errors;
}

static int64_t ports_down(const struct ncs_rank_peaks *peaks)
{
	return peaks->ports.ports == 0 ? -1 : (int64_t)peaks->ports.down;
}

static const struct {
	enum ncs_evidence_kind kind;
	int64_t (*measure)(const struct ncs_rank_peaks *peaks);
	bool is_of_gpu; /* not of the machine */
} holds[] = {
	{ NCS_EVIDENCE_CLOCK, clock_lost, true },
	{ NCS_EVIDENCE_RESENT, resent, false },
	{ NCS_EVIDENCE_PORT_ERRORS, port_errors, false },
	{ NCS_EVIDENCE_PORTS_DOWN, ports_down, false },
};

static int compare_measures(const void *left, const void *right)
{
	const int64_t *a = left, *b = right;

	return (*a > *b) - (*a < *b);
}

/* Adds evidence if the rank is held back more than SLOWER_PACE times as far as the
 * median of those on other GPUs, or other machines. */
static void add_hold(struct ncs_finding *finding, size_t hold,
		     int64_t measures[])
{
	const struct ncs_rank *root = finding->root.rank;
	const struct ncs_communicator *communicator = root->communicator;
	const struct ncs_rank_peaks *peaks = &root->peaks;
	int64_t own = holds[hold].measure(peaks);
	bool is_clock = holds[hold].kind == NCS_EVIDENCE_CLOCK;
	struct ncs_evidence *evidence;
	size_t count = 0;

	for (size_t i = 0; own > 0 && i < communicator->rank_count; i++) {
		const struct ncs_rank *other = communicator->ranks[i];

		measures[count] = holds[hold].measure(&other->peaks);
		count += measures[count] >= 0 &&
			 (holds[hold].is_of_gpu ?
				  ncs_compare_gpus(root, other) != 0 :
				  !ncs_shares_clock(root, other));
	}
	if (count == 0)
		return;
	qsort(measures, count, sizeof(*measures), compare_measures);
	if (own <= NCS_SLOWER_PACE * measures[count / 2])
		return;
	evidence = ncs_finding_add_fact(finding, holds[hold].kind, root, 0);
	evidence->number = is_clock ? peaks->clock_mhz : (uint64_t)own;
	evidence->expected = is_clock ? peaks->clock_most_mhz :
					(uint64_t)measures[count / 2];
	evidence->held_by = peaks->held_by;
}

void ncs_find_held_back(struct ncs_diagnosis *diagnosis)
{
	int64_t *measures =
		calloc(diagnosis->model->rank_count + 1, sizeof(*measures));

	if (!measures)
		diagnosis->no_memory = true;
	for (size_t i = 0; measures && i < diagnosis->count; i++)
		for (size_t k = 0; k < sizeof(holds) / sizeof(*holds); k++)
			if (diagnosis->findings[i].root.rank &&
			    diagnosis->findings[i].root.rank->communicator)
				add_hold(&diagnosis->findings[i], k, measures);
	free(measures);
}
