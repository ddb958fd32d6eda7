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

#define KINDS NCS_LOGGED_KINDS

/* The median work of one line between two kinds of operations. */
struct ncs_work {
	uint32_t line;
	uint16_t between; /* as ncs_work_between() has it */
	uint64_t ns;
};

unsigned ncs_work_between(const struct ncs_transfer_replay *replay, size_t i)
{
	return replay->played[i].before * KINDS + replay->parts[i].kind;
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

int ncs_works_find(struct ncs_transfer_works *found,
		   const struct ncs_transfer_replay *replay)
{
	struct ncs_work *works =
		malloc((replay->count + 1) * sizeof(*works));
	size_t count = 0, kept = 0, end;

	found->works = works;
	if (!works)
		return -ENOMEM;
	for (size_t i = 0; i < replay->count; i++)
		if (replay->played[i].has_work)
			works[count++] = (struct ncs_work){
				replay->played[i].line,
				(uint16_t)ncs_work_between(replay, i),
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

bool ncs_lines_are_together(const struct ncs_transfer_replay *replay, size_t a,
			    size_t b)
{
	return replay->lines[a].rank->communicator ==
	       replay->lines[b].rank->communicator;
}

/* Adds the sums of what is done one after the other, where nothing is known. A
 * receive comes at once after a send unless something else is known. */
static void put_together(double usual_ns[NCS_WORK_KINDS])
{
	double *path_ns = malloc(sizeof(double) * NCS_WORK_KINDS);

	if (!path_ns)
		return;
	memcpy(path_ns, usual_ns, sizeof(double) * NCS_WORK_KINDS);
	for (unsigned from = 0; from < NCS_LOGGED_COLLECTIVE; from++)
		for (unsigned to = 0; to < NCS_LOGGED_COLLECTIVE; to++)
			if (ncs_is_logged_send(from) &&
			    !ncs_is_logged_send(to) &&
			    usual_ns[from * KINDS + to] == NCS_WORK_UNKNOWN_NS)
				path_ns[from * KINDS + to] = 0;
	for (unsigned via = 0; via < NCS_LOGGED_COLLECTIVE; via++)
		for (unsigned from = 0; from < KINDS; from++)
			for (unsigned to = 0; to < KINDS; to++) {
				double ns = path_ns[from * KINDS + via] +
					    path_ns[via * KINDS + to];

				if (ns < path_ns[from * KINDS + to])
					path_ns[from * KINDS + to] = ns;
			}
	for (size_t i = 0; i < NCS_WORK_KINDS; i++)
		if (usual_ns[i] == NCS_WORK_UNKNOWN_NS)
			usual_ns[i] = path_ns[i];
	free(path_ns);
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
	put_together(usual_ns);
}

void ncs_works_release(struct ncs_transfer_works *works)
{
	free(works->works);
	*works = (struct ncs_transfer_works){ 0 };
}
