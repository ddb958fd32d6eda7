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
		     bool takes_turns, double usual_ns[NCS_WORK_KINDS])
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
	if (!works->folds && !takes_turns)
		ncs_work_put_together(usual_ns);
}

void ncs_works_release(struct ncs_transfer_works *works)
{
	free(works->works);
	free(works->same_ns);
	*works = (struct ncs_transfer_works){ 0 };
}
