/* SPDX-License-Identifier: MIT */
/* Rests of GPUs that wait; see transfer_rest.h. Must not call a pace known that was
 * seen only while they wait.
 */
#include "analysis/model/transfer_rest.h"

#include <math.h>
#include <stdlib.h>

#include "analysis/base/selection.h"

/* The others waited at most at this share of the usual pace before waits that
 * began, and for so many times the longest time between two of them. */
#define BEFORE 0.1
#define BEFORE_GAPS 3

/* Works of one kind are compared if there are so many before and since, and tell the
 * pace if so many kinds are, and make such a share of all work. */
#define OFTEN 8u
#define KINDS_LEAST 3u
#define COMPARED 0.5

/* A pace of several kinds is as wrong as this many times what their paces deviate
 * from each other lets expect, and as this at least. */
#define DEVIATIONS 2
#define ERROR_LEAST 0.001

/* --- When the waits began ------------------------------------------------- */

/* A piece that is cut of the work of a line. */
struct cut {
	uint64_t at_ns, ns;
};

static int compare_cuts(const void *left, const void *right)
{
	const struct cut *a = left, *b = right;

	return (a->at_ns > b->at_ns) - (a->at_ns < b->at_ns);
}

/* Returns the number of cuts of a line, and when its first and last work ended. */
static size_t list_cuts(const struct ncs_transfer_replay *replay, uint32_t self,
			struct cut *cuts, uint64_t *first_ns, uint64_t *last_ns)
{
	size_t count = 0;

	*first_ns = UINT64_MAX;
	*last_ns = 0;
	for (size_t i = 0; i < replay->count; i++) {
		const struct ncs_played *played = &replay->played[i];
		uint64_t at_ns = replay->parts[i].arrival_ns;

		if (played->line != self || !played->has_work)
			continue;
		if (at_ns < *first_ns)
			*first_ns = at_ns;
		if (at_ns > *last_ns)
			*last_ns = at_ns;
		if (played->new_ns > 0 && played->cut_ns > 0)
			cuts[count++] = (struct cut){ at_ns, played->cut_ns };
	}
	qsort(cuts, count, sizeof(*cuts), compare_cuts);
	return count;
}

/* Returns the cut before which the sum of all was the furthest behind that of an
 * even pace, and that sum. */
static size_t find_turn(const struct cut *cuts, size_t count, uint64_t first_ns,
			uint64_t last_ns, double *before_ns)
{
	double sum_ns = 0, all_ns = 0, least = INFINITY;
	size_t turn = 0;

	for (size_t i = 0; i < count; i++)
		all_ns += (double)cuts[i].ns;
	for (size_t i = 0; i < count; i++) {
		double even_ns = all_ns * (double)(cuts[i].at_ns - first_ns) /
				 (double)(last_ns - first_ns);

		if (sum_ns - even_ns < least) {
			least = sum_ns - even_ns;
			turn = i;
			*before_ns = sum_ns;
		}
		sum_ns += (double)cuts[i].ns;
	}
	return turn;
}

/* Returns when the cuts turned to what they are since; 0 if they did not. */
static uint64_t turn_ns(const struct cut *cuts, size_t count, uint64_t first_ns,
			uint64_t last_ns)
{
	double before_ns = 0, since_ns = 0;
	size_t turn = find_turn(cuts, count, first_ns, last_ns, &before_ns);
	double healthy_ns = (double)(cuts[turn].at_ns - first_ns);
	double late_ns = (double)(last_ns - cuts[turn].at_ns);
	uint64_t gap_ns = last_ns - cuts[count - 1].at_ns;

	for (size_t i = turn; i < count; i++) {
		since_ns += (double)cuts[i].ns;
		if (i > turn && cuts[i].at_ns - cuts[i - 1].at_ns > gap_ns)
			gap_ns = cuts[i].at_ns - cuts[i - 1].at_ns;
	}
	return healthy_ns >= BEFORE_GAPS * (double)gap_ns &&
			       before_ns * late_ns <=
				       BEFORE * since_ns * healthy_ns ?
		       cuts[turn].at_ns :
		       0;
}

uint64_t ncs_rest_since_ns(const struct ncs_transfer_replay *replay,
			   uint32_t self)
{
	struct cut *cuts = malloc((replay->count + 1) * sizeof(*cuts));
	uint64_t first_ns, last_ns, since_ns = 0;
	size_t count;

	if (!cuts)
		return 0;
	count = list_cuts(replay, self, cuts, &first_ns, &last_ns);
	if (count > 0 && last_ns > first_ns)
		since_ns = turn_ns(cuts, count, first_ns, last_ns);
	free(cuts);
	return since_ns;
}

/* --- Their pace ----------------------------------------------------------- */

/* A work of another line. */
struct other_work {
	uint32_t line;
	uint16_t between; /* kinds, as in ncs_work_between() */
	bool is_since;
	double ns;
};

static int compare_works(const void *left, const void *right)
{
	const struct other_work *a = left, *b = right;

	if (a->line != b->line)
		return a->line < b->line ? -1 : 1;
	if (a->between != b->between)
		return a->between < b->between ? -1 : 1;
	if (a->is_since != b->is_since)
		return a->is_since - b->is_since;
	return (a->ns > b->ns) - (a->ns < b->ns);
}

static size_t list_works(const struct ncs_transfer_replay *replay,
			 uint32_t self, uint64_t since_ns,
			 struct other_work *works)
{
	size_t count = 0;

	for (size_t i = 0; i < replay->count; i++) {
		const struct ncs_played *played = &replay->played[i];

		if (played->line != NCS_LINE_NONE && played->line != self &&
		    played->has_work && played->work_ns > 0)
			works[count++] = (struct other_work){
				played->line,
				(uint16_t)(played->before *
						   NCS_WORK_KIND_COUNT +
					   replay->parts[i].kind),
				replay->parts[i].arrival_ns >= since_ns,
				(double)played->work_ns
			};
	}
	qsort(works, count, sizeof(*works), compare_works);
	return count;
}

/* The works of one kind of one line. */
struct kind_pace {
	double slower; /* than since, as struct ncs_rest has it */
	double ns;     /* of those since */
};

/* Returns how many times longer works took before than since, less one: the median of
 * what their deciles tell, so that a few that are far longer do not count. */
static double slower_of(const struct other_work *before, size_t before_count,
			const struct other_work *since, size_t since_count)
{
	double slower[9];

	for (size_t i = 0; i < 9; i++)
		slower[i] = before[before_count * (i + 1) / 10].ns /
				    since[since_count * (i + 1) / 10].ns -
			    1;
	return ncs_select(slower, 9, 4);
}

/* Sums up the paces of kinds. */
static void add_up(const struct kind_pace *kinds, size_t count,
		   struct ncs_rest *rest)
{
	double sum_ns = 0, slower = 0, squares = 0;

	for (size_t i = 0; i < count; i++) {
		sum_ns += kinds[i].ns;
		slower += kinds[i].ns * kinds[i].slower;
	}
	rest->slower = slower / sum_ns;
	for (size_t i = 0; i < count; i++) {
		double off = kinds[i].ns * (kinds[i].slower - rest->slower);

		squares += off * off;
	}
	rest->error = fmax(ERROR_LEAST, DEVIATIONS *
						sqrt(squares * (double)count /
						     (double)(count - 1)) /
						sum_ns);
}

/* Finds the pace of works that are in order of line and kind. */
static void find_pace(const struct other_work *works, size_t count,
		      struct kind_pace *kinds, struct ncs_rest *rest)
{
	size_t kind_count = 0, told = 0, end, since;
	double compared_ns = 0, all_ns = 0;

	for (size_t i = 0; i < count; i = end) {
		double ns = 0;

		for (end = since = i;
		     end < count && works[end].line == works[i].line &&
		     works[end].between == works[i].between;
		     end++)
			if (works[end].is_since)
				ns += works[end].ns;
			else
				since = end + 1;
		all_ns += ns;
		if (since - i < OFTEN || end - since < OFTEN)
			continue;
		kinds[kind_count++] =
			(struct kind_pace){ slower_of(&works[i], since - i,
						      &works[since],
						      end - since),
					    ns };
		compared_ns += ns;
		told += since - i < end - since ? since - i : end - since;
	}
	if (kind_count < KINDS_LEAST || compared_ns < COMPARED * all_ns ||
	    told < rest->works)
		return;
	add_up(kinds, kind_count, rest);
	rest->works = told;
}

void ncs_rest_find(const struct ncs_transfer_replay *replay, uint32_t self,
		   uint64_t since_ns, struct ncs_rest *rest)
{
	struct other_work *works = malloc((replay->count + 1) * sizeof(*works));
	struct kind_pace *kinds = malloc((replay->count + 1) * sizeof(*kinds));

	if (works && kinds)
		find_pace(works, list_works(replay, self, since_ns, works),
			  kinds, rest);
	free(works);
	free(kinds);
}

void ncs_rest_lengthen(const struct ncs_transfer_replay *replay, uint32_t self,
		       uint64_t since_ns, double share)
{
	for (size_t i = 0; i < replay->count; i++) {
		struct ncs_played *played = &replay->played[i];

		played->more_ns = 0;
		if (played->line != self && played->line != NCS_LINE_NONE &&
		    replay->parts[i].arrival_ns >= since_ns)
			played->more_ns = share * (double)played->work_ns;
	}
}
