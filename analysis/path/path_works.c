/* SPDX-License-Identifier: MIT */
/* Work by rank and kinds; see path_works.h. */
#include "analysis/path/path_works.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include "analysis/base/selection.h"
#include "analysis/records/work_kind.h"
#include "shm/array.h"
#include "shm/hash.h"

#define KINDS NCS_WORK_KIND_COUNT

/* Number of times that are kept of each kind of work. */
#define SAMPLES 256u

/* A kind of work is known if it was done so often. */
#define OFTEN 3u

/* Stages take turns if one of them does so at such a share of its sends. */
#define TURNS 0.5

/* A stage has such a share of transfers among its operations. */
#define TRANSFERS 0.25

/* The work of a rank between two kinds of operations. */
struct path_work {
	unsigned between;
	uint64_t count;
	double median_ns; /* negative: to be found */
	double samples_ns[SAMPLES];
};

struct rank_works {
	struct path_work *works;
	size_t count, capacity;
	bool is_aside;
	uint64_t operations, transfers, sends, turns;
	/* The times of the others, by kinds; NULL until they are asked for. */
	double *others_ns;
};

struct ncs_path_works {
	uint32_t rank_count;
	struct ncs_host_waits *waits;
	bool is_beside;
	double *medians; /* work space, by rank */
	struct rank_works *ranks;
};

struct ncs_path_works *ncs_path_works_new(uint32_t rank_count)
{
	struct ncs_path_works *works = calloc(1, sizeof(*works));

	if (!works)
		return NULL;
	works->rank_count = rank_count;
	works->ranks = calloc((size_t)rank_count + 1, sizeof(*works->ranks));
	works->medians = calloc((size_t)rank_count + 1, sizeof(double));
	works->waits = ncs_host_waits_new(rank_count);
	if (works->ranks && works->medians && works->waits)
		return works;
	ncs_path_works_free(works);
	return NULL;
}

void ncs_path_works_free(struct ncs_path_works *works)
{
	if (!works)
		return;
	for (uint32_t i = 0; works->ranks && i < works->rank_count; i++) {
		free(works->ranks[i].works);
		free(works->ranks[i].others_ns);
	}
	ncs_host_waits_free(works->waits);
	free(works->ranks);
	free(works->medians);
	free(works);
}

struct ncs_host_waits *ncs_path_works_waits(const struct ncs_path_works *works)
{
	return works->waits;
}

void ncs_path_works_set_beside(struct ncs_path_works *works)
{
	for (uint32_t i = 0; i < works->rank_count && !works->is_beside; i++)
		works->ranks[i].count = 0;
	works->is_beside = true;
}

void ncs_path_works_set_aside(struct ncs_path_works *works, uint32_t rank)
{
	works->ranks[rank].is_aside = true;
}

void ncs_path_works_count(struct ncs_path_works *works, uint32_t rank,
			  unsigned kind, bool is_turn)
{
	works->ranks[rank].operations++;
	works->ranks[rank].transfers += ncs_is_work_transfer(kind);
	works->ranks[rank].sends += ncs_is_work_send(kind);
	works->ranks[rank].turns += is_turn;
}

bool ncs_path_works_is_stage(const struct ncs_path_works *works, uint32_t rank)
{
	const struct rank_works *self = &works->ranks[rank];

	return (double)self->transfers >= TRANSFERS * (double)self->operations;
}

/* Returns whether stages send and receive in turn, as they do with one microbatch
 * forward, one backward. The last stage turns with each microbatch; where all go
 * forward first, it turns once. */
static bool take_turns(const struct ncs_path_works *works)
{
	for (uint32_t i = 0; i < works->rank_count; i++)
		if ((double)works->ranks[i].turns >
		    TURNS * (double)works->ranks[i].sends)
			return true;
	return false;
}

bool ncs_path_works_is_beside(const struct ncs_path_works *works)
{
	return works->is_beside;
}

static struct path_work *find(const struct ncs_path_works *works, uint32_t rank,
			      unsigned between)
{
	struct rank_works *self = &works->ranks[rank];

	for (size_t i = 0; i < self->count; i++)
		if (self->works[i].between == between)
			return &self->works[i];
	return NULL;
}

int ncs_path_works_note(struct ncs_path_works *works, uint32_t rank,
			unsigned before, unsigned kind, double ns)
{
	struct rank_works *self = &works->ranks[rank];
	unsigned between = before * KINDS + kind;
	struct path_work *work = find(works, rank, between);
	uint64_t place;

	if (before >= KINDS || kind >= KINDS)
		return 0;
	if (!work) {
		if (ncs_array_reserve(&self->works, &self->capacity,
				      self->count + 1,
				      sizeof(*self->works)) != 0)
			return -ENOMEM;
		work = &self->works[self->count++];
		work->between = between;
		work->count = 0;
	}
	/* Each time is as likely to be kept as any other. */
	place = work->count < SAMPLES ?
			work->count :
			ncs_hash(work->count) % (work->count + 1);
	if (place < SAMPLES)
		work->samples_ns[place] = ns;
	work->count++;
	work->median_ns = -1;
	return 0;
}

/* Returns the median of a rank's work; INFINITY if there is too little. */
static double median_ns(const struct ncs_path_works *works, uint32_t rank,
			unsigned between)
{
	struct path_work *work = find(works, rank, between);
	size_t count;

	if (!work || work->count < OFTEN)
		return INFINITY;
	if (work->median_ns >= 0)
		return work->median_ns;
	count = work->count < SAMPLES ? (size_t)work->count : SAMPLES;
	work->median_ns =
		fmax(ncs_select(work->samples_ns, count, (count - 1) / 2), 0);
	return work->median_ns;
}

double ncs_path_works_own_ns(struct ncs_path_works *works, uint32_t rank,
			     unsigned before, unsigned kind)
{
	if (before >= KINDS || kind >= KINDS)
		return INFINITY;
	return median_ns(works, rank, before * KINDS + kind);
}

/* Finds what all ranks but one take. Returns false if there is no memory. */
static bool find_others(struct ncs_path_works *works, uint32_t rank)
{
	double *others_ns = malloc(sizeof(double) * KINDS * KINDS);

	works->ranks[rank].others_ns = others_ns;
	if (!others_ns)
		return false;
	for (unsigned between = 0; between < KINDS * KINDS; between++) {
		size_t count = 0;

		for (uint32_t i = 0; i < works->rank_count; i++) {
			double ns = i != rank ? median_ns(works, i, between) :
						INFINITY;

			if (isfinite(ns))
				works->medians[count++] = ns;
		}
		others_ns[between] = count > 0 ?
					     ncs_select(works->medians, count,
							(count - 1) / 2) :
					     NCS_WORK_UNKNOWN_NS;
	}
	if (take_turns(works))
		ncs_work_at_once(others_ns);
	else
		ncs_work_put_together(others_ns);
	return true;
}

double ncs_path_works_others_ns(struct ncs_path_works *works, uint32_t rank,
				unsigned before, unsigned kind)
{
	const struct rank_works *self = &works->ranks[rank];
	double ns;

	if (before >= KINDS || kind >= KINDS || self->is_aside ||
	    (!self->others_ns && !find_others(works, rank)))
		return INFINITY;
	ns = self->others_ns[before * KINDS + kind];
	return ns < NCS_WORK_UNKNOWN_NS ? ns : INFINITY;
}
