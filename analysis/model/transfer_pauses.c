/* SPDX-License-Identifier: MIT */
/* Finds pauses; see transfer_pauses.h. Must not take work for a pause while another
 * stage waits.
 */
#include "analysis/model/transfer_pauses.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include "analysis/base/selection.h"
#include "analysis/model/transfer_works.h"

/* Work is long from so many times the usual work on, so many times what is longer
 * than nine in ten, and such a share of the time: what comes in each step is no
 * pause. */
#define LONG_TO_MEDIAN 10
#define LONG_TO_P90 2
#define LONG_SHARE 0.01

struct long_work {
	uint64_t from_ns, until_ns;
	uint32_t line;
};

struct pauses {
	struct long_work *works; /* in the order of their ends */
	size_t count;
	uint64_t longest_ns;
	uint64_t *common_ns; /* by line; of one part */
};

static bool has_work(const struct ncs_played *played)
{
	return played->line != NCS_LINE_NONE && played->has_work;
}

/* Returns what long work takes at least. `values` has room for all parts. */
static double least_ns(const struct ncs_transfer_replay *replay,
		       uint64_t time_ns, double *values)
{
	size_t count = 0;
	double median_ns, p90_ns;

	for (size_t i = 0; i < replay->count; i++)
		if (has_work(&replay->played[i]) &&
		    replay->played[i].new_ns > 0)
			values[count++] = (double)replay->played[i].new_ns;
	if (count == 0)
		return INFINITY;
	median_ns = ncs_select(values, count, count / 2);
	p90_ns = ncs_select(values, count, count * 9 / 10);
	return fmax(LONG_SHARE * (double)time_ns,
		    fmax(LONG_TO_MEDIAN * median_ns, LONG_TO_P90 * p90_ns));
}

static int compare_ends(const void *left, const void *right)
{
	const struct long_work *a = left, *b = right;

	return (a->until_ns > b->until_ns) - (a->until_ns < b->until_ns);
}

static void find_works(const struct ncs_transfer_replay *replay,
		       double least, struct pauses *pauses)
{
	for (size_t i = 0; i < replay->count; i++) {
		const struct ncs_played *played = &replay->played[i];
		uint64_t until_ns = replay->parts[i].arrival_ns;

		if (!has_work(played) || (double)played->new_ns < least)
			continue;
		pauses->works[pauses->count++] = (struct long_work){
			until_ns - played->new_ns, until_ns, played->line
		};
		if (played->new_ns > pauses->longest_ns)
			pauses->longest_ns = played->new_ns;
	}
	qsort(pauses->works, pauses->count, sizeof(*pauses->works),
	      compare_ends);
}

/* Returns the place of the first long work that ends after a time. */
static size_t first_after(const struct pauses *pauses, uint64_t at_ns)
{
	size_t low = 0, high = pauses->count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (pauses->works[middle].until_ns > at_ns)
			high = middle;
		else
			low = middle + 1;
	}
	return low;
}

/* Finds for how much of a time each line was in long work. */
static void find_common(struct pauses *pauses, size_t lines, uint64_t from_ns,
			uint64_t until_ns)
{
	for (size_t i = 0; i < lines; i++)
		pauses->common_ns[i] = 0;
	for (size_t i = first_after(pauses, from_ns); i < pauses->count; i++) {
		const struct long_work *work = &pauses->works[i];
		uint64_t begin_ns = work->from_ns, end_ns = work->until_ns;

		if (ncs_time_since(pauses->longest_ns, end_ns) >= until_ns)
			break;
		if (begin_ns < from_ns)
			begin_ns = from_ns;
		if (end_ns > until_ns)
			end_ns = until_ns;
		pauses->common_ns[work->line] +=
			ncs_time_since(begin_ns, end_ns);
	}
}

/* Returns for how much of a part's work all other stages were in long work. */
static uint64_t pause_ns(const struct ncs_transfer_replay *replay, size_t i,
			 struct pauses *pauses)
{
	uint64_t until_ns = replay->parts[i].arrival_ns, least = UINT64_MAX;
	size_t self = replay->played[i].line;

	find_common(pauses, replay->line_count,
		    until_ns - replay->played[i].work_ns, until_ns);
	for (size_t line = 0; line < replay->line_count; line++)
		if (line != self && pauses->common_ns[line] < least &&
		    ncs_lines_are_together(replay, line, self))
			least = pauses->common_ns[line];
	return least == UINT64_MAX ? 0 : least;
}

int ncs_transfer_find_pauses(struct ncs_transfer_replay *replay,
			     uint64_t time_ns)
{
	double *values = malloc((replay->count + 1) * sizeof(*values));
	struct pauses pauses = {
		.works = malloc((replay->count + 1) * sizeof(*pauses.works)),
		.common_ns = malloc((replay->line_count + 1) *
				    sizeof(*pauses.common_ns)),
	};
	int error = values && pauses.works && pauses.common_ns ? 0 : -ENOMEM;
	double least = error ? INFINITY : least_ns(replay, time_ns, values);

	if (!error)
		find_works(replay, least, &pauses);
	for (size_t i = 0; !error && i < replay->count; i++) {
		struct ncs_played *played = &replay->played[i];

		if (has_work(played) && (double)played->work_ns >= least)
			played->pause_ns = pause_ns(replay, i, &pauses);
	}
	free(values);
	free(pauses.works);
	free(pauses.common_ns);
	return error;
}
