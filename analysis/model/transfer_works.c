/* SPDX-License-Identifier: MIT */
/* Usual work of stages; see transfer_works.h. Must not call work usual that only
 * the rank itself has.
 */
#include "analysis/model/transfer_works.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* A kind of work is known if it was done so often. */
#define OFTEN 3u

/* Paces are compared if work was done so often at each of them, and differ from
 * this share on. */
#define PACE_OFTEN 16u
#define PACE_DIFFERS 0.02
#define UNKNOWN_PACE 2

#define KINDS NCS_WORK_KIND_COUNT

/* The median work of one line between two kinds of operations. */
struct ncs_work {
	uint32_t line;
	uint16_t between; /* as ncs_work_between() has it */
	uint64_t ns;
};

static unsigned folded(const struct ncs_transfer_works *works, unsigned kind)
{
	if (!works->folds || !ncs_is_work_transfer(kind))
		return kind;
	return ncs_is_work_send(kind) ? NCS_WORK_SEND_NEXT : NCS_WORK_RECV_NEXT;
}

unsigned ncs_work_between(const struct ncs_transfer_works *works,
			  const struct ncs_transfer_replay *replay, size_t i)
{
	return folded(works, replay->played[i].before) * KINDS +
	       folded(works, replay->parts[i].kind);
}

static int compare_works(const void *left, const void *right)
{
	const struct ncs_work *a = left, *b = right;

	if (a->line != b->line)
		return a->line < b->line ? -1 : 1;
	if (a->between != b->between)
		return a->between < b->between ? -1 : 1;
	return (a->ns > b->ns) - (a->ns < b->ns);
}

/* Finds the medians. Returns 0 or -ENOMEM. */
static int find_medians(struct ncs_transfer_works *found,
			const struct ncs_transfer_replay *replay)
{
	struct ncs_work *works = malloc((replay->count + 1) * sizeof(*works));
	size_t count = 0, kept = 0, end;

	found->works = works;
	if (!works)
		return -ENOMEM;
	for (size_t i = 0; i < replay->count; i++)
		if (replay->played[i].has_work)
			works[count++] = (struct ncs_work){
				replay->played[i].line,
				(uint16_t)ncs_work_between(found, replay, i),
				replay->played[i].work_ns
			};
	qsort(works, count, sizeof(*works), compare_works);
	for (size_t i = 0; i < count; i = end) {
		end = i;
		while (end < count && works[end].line == works[i].line &&
		       works[end].between == works[i].between)
			end++;
		if (end - i >= OFTEN)
			works[kept++] = works[i + (end - i) / 2];
	}
	found->count = kept;
	return 0;
}

/* The two longest works before one operation, by the kind that came before. */
struct longest_works {
	uint64_t ns[KINDS], second_ns[KINDS];
	size_t count[KINDS];
};

static void add_longest(struct longest_works *longest, unsigned kind,
			uint64_t work_ns)
{
	longest->count[kind]++;
	if (work_ns > longest->ns[kind]) {
		longest->second_ns[kind] = longest->ns[kind];
		longest->ns[kind] = work_ns;
	} else if (work_ns > longest->second_ns[kind]) {
		longest->second_ns[kind] = work_ns;
	}
}

static uint64_t longest_of_others(const struct longest_works *longest,
				  unsigned kind, uint64_t work_ns)
{
	if (longest->count[kind] < 2)
		return UINT64_MAX;
	return work_ns == longest->ns[kind] ? longest->second_ns[kind] :
					      longest->ns[kind];
}

/* Finds what others worked before the same collective. */
static void find_same(struct ncs_transfer_works *found,
		      const struct ncs_transfer_replay *replay)
{
	size_t end;

	for (size_t first = 0; first < replay->count; first = end) {
		bool is_transfer =
			ncs_is_work_transfer(replay->parts[first].kind);
		struct longest_works longest = { 0 };

		end = first + replay->parts[first].count;
		for (size_t i = first; i < end; i++) {
			const struct ncs_played *played = &replay->played[i];

			if (played->has_work && !is_transfer)
				add_longest(&longest,
					    folded(found, played->before),
					    played->work_ns);
		}
		for (size_t i = first; i < end; i++) {
			const struct ncs_played *played = &replay->played[i];

			found->same_ns[i] =
				played->has_work && !is_transfer ?
					longest_of_others(
						&longest,
						folded(found, played->before),
						played->work_ns) :
					UINT64_MAX;
		}
	}
}

int ncs_works_find(struct ncs_transfer_works *works,
		   const struct ncs_transfer_replay *replay, bool folds)
{
	ncs_works_release(works);
	works->folds = folds;
	works->same_ns = malloc((replay->count + 1) * sizeof(*works->same_ns));
	if (!works->same_ns)
		return -ENOMEM;
	find_same(works, replay);
	return find_medians(works, replay);
}

bool ncs_lines_are_together(const struct ncs_transfer_replay *replay, size_t a,
			    size_t b)
{
	return replay->lines[a].rank->communicator ==
	       replay->lines[b].rank->communicator;
}

void ncs_works_usual(const struct ncs_transfer_works *works,
		     const struct ncs_transfer_replay *replay, size_t self,
		     double usual_ns[NCS_WORK_KINDS])
{
	for (size_t i = 0; i < NCS_WORK_KINDS; i++)
		usual_ns[i] = NCS_WORK_UNKNOWN_NS;
	for (size_t i = 0; i < works->count; i++) {
		const struct ncs_work *work = &works->works[i];
		double *ns = &usual_ns[work->between];

		if (work->line != self &&
		    ncs_lines_are_together(replay, work->line, self) &&
		    (*ns == NCS_WORK_UNKNOWN_NS || (double)work->ns > *ns))
			*ns = (double)work->ns;
	}
	if (!works->folds)
		ncs_work_put_together(usual_ns);
}

/* Returns how much longer the works since then would be at the pace before, where
 * all of them would: at each quartile. */
static double slower_ns(const struct ncs_work *before, size_t before_count,
			const struct ncs_work *since, size_t since_count)
{
	double least = UNKNOWN_PACE, sum_ns = 0;

	if (before_count < PACE_OFTEN || since_count < PACE_OFTEN)
		return 0;
	for (size_t i = 1; i < 4; i++) {
		double before_ns = (double)before[before_count * i / 4].ns;
		double since_ns = (double)since[since_count * i / 4].ns;

		if (before_ns < least * since_ns)
			least = before_ns / since_ns;
	}
	for (size_t i = 0; i < since_count; i++)
		sum_ns += (double)since[i].ns;
	return least > 1 + PACE_DIFFERS && least < UNKNOWN_PACE ?
		       (least - 1) * sum_ns :
		       0;
}

/* Returns the number of works of the same kind and line as the first one. */
static size_t count_alike(const struct ncs_work *works, size_t count)
{
	size_t alike = 0;

	while (alike < count && works[alike].line == works[0].line &&
	       works[alike].between == works[0].between)
		alike++;
	return alike;
}

double ncs_works_rested_ns(const struct ncs_transfer_replay *replay,
			   size_t self, uint64_t since_ns)
{
	struct ncs_work *works[2] = { NULL, NULL };
	size_t count[2] = { 0, 0 };
	double sum_ns = 0;

	for (unsigned k = 0; k < 2; k++)
		works[k] = malloc((replay->count + 1) * sizeof(**works));
	for (size_t i = 0; works[0] && works[1] && i < replay->count; i++) {
		const struct ncs_played *played = &replay->played[i];
		bool since = replay->parts[i].arrival_ns > since_ns;

		if (played->has_work && played->line != self)
			works[since][count[since]++] = (struct ncs_work){
				played->line,
				(uint16_t)(played->before * KINDS +
					   replay->parts[i].kind),
				played->new_ns
			};
	}
	for (unsigned k = 0; k < 2; k++)
		if (count[k] > 0)
			qsort(works[k], count[k], sizeof(**works),
			      compare_works);
	for (size_t i = 0, k = 0; i < count[0] && k < count[1];) {
		size_t before = count_alike(&works[0][i], count[0] - i);
		size_t since = count_alike(&works[1][k], count[1] - k);
		struct ncs_work a = works[0][i], b = works[1][k];
		int order;

		a.ns = b.ns = 0;
		order = compare_works(&a, &b);
		if (order == 0)
			sum_ns += slower_ns(&works[0][i], before, &works[1][k],
					    since);
		i += order <= 0 ? before : 0;
		k += order >= 0 ? since : 0;
	}
	free(works[0]);
	free(works[1]);
	return replay->line_count > 1 ?
		       sum_ns / (double)(replay->line_count - 1) :
		       0;
}

void ncs_works_release(struct ncs_transfer_works *works)
{
	free(works->works);
	free(works->same_ns);
	*works = (struct ncs_transfer_works){ 0 };
}
