/* SPDX-License-Identifier: MIT */
/* The cost of ranks in sends and receives; see transfer_cost.h. Must not call a
 * rank slow for work that others of its kind have, too.
 */
#include "analysis/model/transfer_cost.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/model/transfer_log.h"
#include "analysis/model/transfer_pauses.h"
#include "analysis/model/transfer_replay.h"
#include "analysis/model/transfer_rest.h"
#include "analysis/model/transfer_works.h"
#include "shm/array.h"

/* Work counts as longer than that of others from this share on, and by so
 * much. */
#define LONGER 0.1
#define LONGER_NS 100000.0

/* Longer work than that of others counts from this share of the time on. */
#define EXCESS 0.01

/* The work of a rank is known if that of others tells of so much of it. */
#define KNOWN 0.95

/* The transfers of a line tell its cost if they are such a share of its
 * operations. */
#define TRANSFERS 0.25

/* The stages of a pipeline take turns if one of them does so at such a share of
 * its sends. */
#define TURNS 0.5

/* They exchange if all of them do so at such a share of their sends. */
#define EXCHANGES 0.9

/* At most such a share of a wait is made up for by GPUs that rest; a job on two
 * H200 made up for 0.2 to 0.3. */
#define RESTED_MOST 0.3

/* It is known within this share of the cost that it is known by. */
#define RESTED_WITHIN 0.1

/* The cost of so many parts is computed anew only so often. */
#define MANY 8192u
#define ANEW_NS UINT64_C(500000000)

/* --- Taking note ---------------------------------------------------------- */

static struct ncs_late_transfers *transfers_of(struct ncs_rank *rank)
{
	if (rank->late && !rank->late->transfers) {
		rank->late->transfers =
			calloc(1, sizeof(*rank->late->transfers));
		if (rank->late->transfers)
			rank->late->transfers->cost = rank->late->transfers
							      ->cost_again =
				rank->late->transfers->cost_at_least =
					rank->late->transfers->cost_at_most =
						-1;
	}
	return rank->late ? rank->late->transfers : NULL;
}

void ncs_transfer_log_free(struct ncs_transfer_log *log)
{
	if (log)
		ncs_transfer_log_release(log);
	free(log);
}

int ncs_transfer_note(const struct ncs_comparison *comparison)
{
	const struct ncs_joined *joined = comparison->joined;
	struct ncs_skews *skews = comparison->model->skews;
	bool is_transfer = joined->function == NCS_FUNCTION_SEND_RECV;
	bool is_wanted = is_transfer;

	for (size_t i = 0; i < joined->count; i++) {
		struct ncs_rank *rank = comparison->ranks[i];

		if (is_transfer && !transfers_of(rank))
			return -ENOMEM;
		is_wanted |= rank->late->transfer_use != NCS_TRANSFERS_UNUSED;
	}
	if (is_transfer && !skews->transfers)
		skews->transfers = calloc(1, sizeof(*skews->transfers));
	if (is_transfer && !skews->transfers)
		return -ENOMEM;
	return is_wanted && skews->transfers ?
		       ncs_transfer_log_add(skews->transfers, comparison) :
		       0;
}

/* --- Lines ---------------------------------------------------------------- */

/* One update. */
struct costing {
	struct ncs_model *model;
	struct ncs_transfer_replay replay;
	size_t line_capacity;
	struct ncs_transfer_works works;
	uint64_t first_ns, last_ns;
	double base_ns; /* when all ended, with nothing cut */
};

struct serial_line {
	uint32_t serial, line;
};

static int compare_serials(const void *left, const void *right)
{
	const struct serial_line *a = left, *b = right;

	return (a->serial > b->serial) - (a->serial < b->serial);
}

/* Returns the line of a rank's process; NCS_LINE_NONE if it has no
 * transfers. */
static uint32_t line_of(const struct ncs_transfer_replay *replay,
			const struct ncs_rank *rank)
{
	for (size_t i = 0; i < replay->line_count; i++)
		if (ncs_shares_process(replay->lines[i].rank, rank))
			return (uint32_t)i;
	return NCS_LINE_NONE;
}

static int find_lines(struct costing *costing)
{
	const struct ncs_model *model = costing->model;
	struct ncs_transfer_replay *replay = &costing->replay;

	for (size_t i = 0; i < model->rank_count; i++) {
		struct ncs_rank *rank = model->ranks[i];

		if (!rank->late || !rank->late->transfers ||
		    line_of(replay, rank) != NCS_LINE_NONE)
			continue;
		if (ncs_array_reserve(&replay->lines, &costing->line_capacity,
				      replay->line_count + 1,
				      sizeof(*replay->lines)) != 0)
			return -ENOMEM;
		replay->lines[replay->line_count++] =
			(struct ncs_transfer_line){ .rank = rank };
	}
	return 0;
}

/* Finds the line of each part. */
static int assign_lines(struct costing *costing)
{
	const struct ncs_model *model = costing->model;
	struct ncs_transfer_replay *replay = &costing->replay;
	struct serial_line *serials =
		malloc((model->rank_count + 1) * sizeof(*serials));
	size_t count = 0;

	replay->played = calloc(replay->count + 1, sizeof(*replay->played));
	if (!serials || !replay->played) {
		free(serials);
		return -ENOMEM;
	}
	for (size_t i = 0; i < model->rank_count; i++) {
		struct ncs_late_rank *late = model->ranks[i]->late;
		uint32_t line = late ? line_of(replay, model->ranks[i]) :
				       NCS_LINE_NONE;

		if (late)
			late->transfer_use = line == NCS_LINE_NONE ?
						     NCS_TRANSFERS_UNUSED :
						     NCS_TRANSFERS_USED;
		serials[count++] =
			(struct serial_line){ model->ranks[i]->serial, line };
	}
	qsort(serials, count, sizeof(*serials), compare_serials);
	for (size_t i = 0; i < replay->count; i++) {
		struct serial_line key = { (uint32_t)replay->parts[i].owner,
					   0 };
		const struct serial_line *found = bsearch(&key, serials, count,
							  sizeof(*serials),
							  compare_serials);

		replay->played[i].line = found ? found->line : NCS_LINE_NONE;
	}
	free(serials);
	return 0;
}

/* --- The cost ------------------------------------------------------------- */

/* How much longer a rank works than the others. */
struct excess {
	double cut_ns, longest_ns;  /* work by work */
	double same_ns;             /* of that, before the same collectives */
	double sum_ns, sum_host_ns; /* in all */
	double like_ns;             /* likewise, than those like it */
	double host_ns;             /* of the cut, before the launch */
	double work_ns, known_ns;   /* its work; as much as others tell of */
};

/* Finds by how much the work of a line in all is longer than of each other one of
 * its pipeline, and how much of that was before launches; and by how much it is
 * than of those that have as few operations, as the two ends of a pipeline do: to
 * begin and to end one takes time, too. */
static void longer_in_all(const struct costing *costing, size_t self,
			  struct excess *excess)
{
	const struct ncs_transfer_line *lines = costing->replay.lines;
	uint64_t most_ns = 0, most_like_ns = 0, most_host_ns = 0, sum_ns;
	double operations = (double)lines[self].operations * (1 + LONGER);

	for (size_t i = 0; i < costing->replay.line_count; i++) {
		if (i == self ||
		    !ncs_lines_are_together(&costing->replay, i, self))
			continue;
		if (lines[i].work_ns > most_ns)
			most_ns = lines[i].work_ns;
		if (lines[i].work_ns > most_like_ns &&
		    (double)lines[i].operations <= operations)
			most_like_ns = lines[i].work_ns;
		if (lines[i].host_ns > most_host_ns)
			most_host_ns = lines[i].host_ns;
	}
	if (most_like_ns == 0)
		most_like_ns = most_ns;
	sum_ns = ncs_time_since(most_ns, lines[self].work_ns);
	excess->sum_ns = (double)sum_ns;
	excess->like_ns =
		(double)ncs_time_since(most_like_ns, lines[self].work_ns);
	excess->sum_host_ns =
		fmin((double)ncs_time_since(most_host_ns, lines[self].host_ns),
		     (double)sum_ns);
}

/* Cuts a part of its work, and counts that. */
static void cut(struct costing *costing, size_t i, double cut_ns,
		struct excess *excess)
{
	const struct ncs_logged *part = &costing->replay.parts[i];
	struct ncs_played *played = &costing->replay.played[i];

	if (cut_ns > (double)played->work_ns)
		cut_ns = (double)played->work_ns;
	played->cut_ns = (uint64_t)cut_ns;
	if (played->new_ns == 0)
		return;
	/* A GPU that is late is so after the launch, for longer than usual. */
	excess->host_ns +=
		fmin((double)ncs_launched_after(part, played->work_ns),
		     (double)played->cut_ns);
	excess->cut_ns += cut_ns;
	if (cut_ns > excess->longest_ns)
		excess->longest_ns = cut_ns;
}

/* Cuts what a line works longer than others before the same collective, or else
 * before operations of the same kind. */
static struct excess cut_by_kind(struct costing *costing, uint32_t self,
				 const double *usual_ns)
{
	const struct ncs_transfer_replay *replay = &costing->replay;
	const struct ncs_transfer_works *works = &costing->works;
	struct excess excess = { 0 };

	for (size_t i = 0; i < replay->count; i++) {
		struct ncs_played *played = &replay->played[i];
		double work_ns = (double)played->work_ns, ns;
		bool is_same;

		played->cut_ns = 0;
		if (played->line != self || !played->has_work)
			continue;
		is_same = works->same_ns[i] != UINT64_MAX;
		ns = is_same ? (double)works->same_ns[i] :
			       usual_ns[ncs_work_between(works, replay, i)];
		excess.work_ns += (double)played->new_ns;
		if (ns == NCS_WORK_UNKNOWN_NS)
			continue;
		excess.known_ns += (double)played->new_ns;
		if (work_ns <= ns * (1 + LONGER) + LONGER_NS)
			continue;
		cut(costing, i, work_ns - ns, &excess);
		if (is_same && played->new_ns > 0)
			excess.same_ns += work_ns - ns;
	}
	return excess;
}

/* Cuts as much as a line works longer in all, of all its work alike. */
static void cut_alike(struct costing *costing, uint32_t self, double sum_ns)
{
	const struct ncs_transfer_replay *replay = &costing->replay;
	double work_ns = (double)replay->lines[self].work_ns;
	struct excess excess = { 0 };

	for (size_t i = 0; i < replay->count; i++) {
		struct ncs_played *played = &replay->played[i];

		played->cut_ns = 0;
		if (played->line == self && played->has_work && work_ns > 0)
			cut(costing, i,
			    (double)played->work_ns * sum_ns / work_ns,
			    &excess);
	}
}

/* Returns how much of a line's work is longer than `level_ns`. */
static double longer_than(const struct ncs_transfer_replay *replay,
			  uint32_t self, double level_ns)
{
	double sum_ns = 0;

	for (size_t i = 0; i < replay->count; i++)
		if (replay->played[i].line == self &&
		    (double)replay->played[i].new_ns > level_ns)
			sum_ns += (double)replay->played[i].new_ns - level_ns;
	return sum_ns;
}

/* Cuts as much, of its longest work. */
static struct excess cut_longest(struct costing *costing, uint32_t self,
				 const struct excess *in_all)
{
	const struct ncs_transfer_replay *replay = &costing->replay;
	double low_ns = 0, high_ns = (double)replay->lines[self].work_ns;
	struct excess excess = { .sum_ns = in_all->sum_ns };

	/* Times that make no sense are not told apart to 1000 ns. */
	for (unsigned i = 0; i < 64 && high_ns - low_ns > 1000; i++) {
		double level_ns = (low_ns + high_ns) / 2;

		if (longer_than(replay, self, level_ns) > in_all->sum_ns)
			low_ns = level_ns;
		else
			high_ns = level_ns;
	}
	for (size_t i = 0; i < replay->count; i++) {
		struct ncs_played *played = &replay->played[i];

		played->cut_ns = 0;
		if (played->line == self && played->has_work &&
		    (double)played->work_ns > high_ns)
			cut(costing, i, (double)played->work_ns - high_ns,
			    &excess);
	}
	excess.host_ns = in_all->sum_host_ns * excess.cut_ns / excess.sum_ns;
	return excess;
}

static void count_operations(struct costing *costing)
{
	const struct ncs_transfer_replay *replay = &costing->replay;

	for (size_t i = 0; i < replay->count; i++) {
		const struct ncs_played *played = &replay->played[i];
		unsigned kind = replay->parts[i].kind;

		if (played->line == NCS_LINE_NONE)
			continue;
		replay->lines[played->line].operations++;
		replay->lines[played->line].sends += ncs_is_work_send(kind);
		/* One launch that sends and receives turns nothing back. */
		replay->lines[played->line].turns +=
			!played->is_at_once &&
			ncs_are_opposite(played->before, kind);
	}
}

/* Whether the stages of a line's pipeline send and receive in turn, as they do
 * with one microbatch forward, one backward. The last stage turns with each
 * microbatch; where all go forward first, it turns once. */
static bool takes_turns(const struct costing *costing, uint32_t self)
{
	const struct ncs_transfer_replay *replay = &costing->replay;

	for (size_t i = 0; i < replay->line_count; i++)
		if (ncs_lines_are_together(replay, i, self) &&
		    (double)replay->lines[i].turns >
			    TURNS * (double)replay->lines[i].sends)
			return true;
	return false;
}

/* Whether the stages of a line's pipeline only send to and receive from the same
 * stage at once: they work side by side, whatever they call forward. */
static bool exchanges(const struct costing *costing, uint32_t self)
{
	const struct ncs_transfer_replay *replay = &costing->replay;

	for (size_t i = 0; i < replay->line_count; i++)
		if (ncs_lines_are_together(replay, i, self) &&
		    (double)replay->lines[i].exchanges <
			    EXCHANGES * (double)replay->lines[i].sends)
			return false;
	return true;
}

/* Returns the share of the time that is gained by what is cut. */
static double play(struct costing *costing)
{
	double gain_ns = costing->base_ns - ncs_replay_run(&costing->replay);

	return gain_ns > 0 ?
		       gain_ns / (double)ncs_time_since(costing->first_ns,
							costing->last_ns) :
		       0;
}

/* Returns whether it is known what a line works longer: before the same
 * collectives as others, or kind by kind, and then not more than that in all. Of
 * work of which others tell nothing, none is longer if what is known makes all of
 * it; where directions do not count, it must. */
static bool is_known(const struct costing *costing, const struct excess *excess)
{
	double time_ns = (double)(costing->last_ns - costing->first_ns);
	double by_kind_ns = excess->cut_ns - excess->same_ns;
	double all_ns = costing->works.folds ? excess->sum_ns : excess->like_ns;
	double left_ns = fmax(all_ns * (1 + LONGER) - excess->same_ns, 0);
	bool is_all = excess->cut_ns > 0 &&
		      all_ns <= excess->cut_ns * (1 + LONGER);

	if (!costing->works.folds)
		is_all |= excess->known_ns >= KNOWN * excess->work_ns;
	return is_all &&
	       by_kind_ns <= left_ns + excess->longest_ns + EXCESS * time_ns;
}

/* Leaves only that cut of which it is known that others do the same work. */
static void keep_same(struct costing *costing)
{
	for (size_t i = 0; i < costing->replay.count; i++)
		if (costing->works.same_ns[i] == UINT64_MAX)
			costing->replay.played[i].cut_ns = 0;
}

/* Finds the cost where it is known only how much longer a line works in all: by
 * all of its work, by the longest of it or, where that makes all of it, by what
 * others take if directions do not count. What others need not before the same
 * collectives, it costs at least. Work after an operation whose end is not known may
 * have begun later, and is less then. */
static void bound_cost(struct costing *costing, uint32_t self,
		       struct excess *excess,
		       struct ncs_late_transfers *transfers)
{
	double time_ns = (double)(costing->last_ns - costing->first_ns);
	double sum_ns = excess->sum_ns, alike, longest, most, same, guess;
	double error_ns = (double)costing->replay.lines[self].error_ns, least;

	guess = is_known(costing, excess) ? play(costing) : 0;
	keep_same(costing);
	same = play(costing);
	cut_alike(costing, self, sum_ns);
	alike = play(costing);
	cut_alike(costing, self, fmax(sum_ns - error_ns, 0));
	least = play(costing);
	*excess = cut_longest(costing, self, excess);
	longest = play(costing);
	/* One that it was in when the time began is not in the sum. */
	most = (sum_ns + excess->longest_ns) / time_ns;
	most = fmax(fmax(most, guess), fmax(alike, longest));
	transfers->cost = fmax((alike + longest) / 2, fmax(same, guess));
	transfers->cost_at_least = fmax(fmin(least, longest), same);
	transfers->cost_at_most = fmax(most, same);
}

/* Returns the cost if the others' works since a time would take longer by a share. */
static double play_longer(struct costing *costing, uint32_t self,
			  uint64_t since_ns, double share)
{
	double cost;

	ncs_rest_lengthen(&costing->replay, self, since_ns, fmax(share, 0));
	cost = play(costing);
	ncs_rest_lengthen(&costing->replay, self, 0, 0);
	return cost;
}

/* Takes from a line's cost as much as the others would work longer without the waits
 * for it: that is known if they were seen before these began, and else from the
 * most that it was. */
static void take_rest(struct costing *costing, uint32_t self, double plain,
		      struct ncs_late_transfers *transfers)
{
	struct ncs_rest *rest = &transfers->rest;
	uint64_t since_ns = ncs_rest_since_ns(&costing->replay, self);
	double least = 1 - RESTED_MOST, most = 1, cost;

	if (since_ns > 0)
		ncs_rest_find(&costing->replay, self, since_ns, rest);
	if (rest->works > 0 && plain > 0) {
		cost = play_longer(costing, self, since_ns, rest->slower);
		least = play_longer(costing, self, since_ns,
				    rest->slower + rest->error) / plain;
		most = play_longer(costing, self, since_ns,
				   rest->slower - rest->error) / plain;
		transfers->cost *= cost / plain;
	}
	transfers->cost_at_least *= least;
	transfers->cost_at_most *= most;
	transfers->may_rest = most - least > RESTED_WITHIN;
}

/* Leaves the longest of what is cut of a line's work where it was, in all parts that
 * it comes before. */
static void keep_longest(struct costing *costing, uint32_t self)
{
	const struct ncs_transfer_replay *replay = &costing->replay;
	uint64_t longest_ns = 0, from_ns = 0, until_ns = 0;

	for (size_t i = 0; i < replay->count; i++) {
		const struct ncs_played *played = &replay->played[i];

		if (played->line != self || played->new_ns == 0 ||
		    played->cut_ns <= longest_ns)
			continue;
		longest_ns = played->cut_ns;
		until_ns = replay->parts[i].arrival_ns;
		from_ns = until_ns - played->work_ns;
	}
	for (size_t i = 0; i < replay->count; i++) {
		struct ncs_played *played = &replay->played[i];
		uint64_t arrival_ns = replay->parts[i].arrival_ns;

		if (played->line == self && arrival_ns > from_ns &&
		    arrival_ns - played->work_ns < until_ns)
			played->cut_ns = 0;
	}
}

/* Returns the share of the cost that is left without the longest of what is cut:
 * the others may have been late then, too. */
static double share_again(struct costing *costing, uint32_t self)
{
	double all = play(costing);

	keep_longest(costing, self);
	return all > 0 ? play(costing) / all : 0;
}

/* Notes what a line costs. */
static void note_cost(struct costing *costing, uint32_t self, bool known,
		      struct excess *excess)
{
	const struct ncs_transfer_line *line = &costing->replay.lines[self];
	struct ncs_late_transfers *transfers = line->rank->late->transfers;
	double time_ns = (double)(costing->last_ns - costing->first_ns);

	transfers->cost = transfers->cost_again = transfers->cost_at_least =
		transfers->cost_at_most = 0;
	transfers->is_unlike = transfers->may_rest = false;
	memset(transfers->cause_ns, 0, sizeof(transfers->cause_ns));
	if ((known ? excess->cut_ns : excess->sum_ns) < EXCESS * time_ns) {
		transfers->rest = (struct ncs_rest){ 0 };
		return;
	}
	transfers->cost = transfers->cost_at_least = transfers->cost_at_most =
		play(costing);
	transfers->is_unlike = !known;
	if (!known)
		bound_cost(costing, self, excess, transfers);
	take_rest(costing, self, play(costing), transfers);
	if (line->others_overlap)
		transfers->cost_at_least = 0;
	transfers->takes_turns = takes_turns(costing, self);
	transfers->cost_again = transfers->cost * share_again(costing, self);
	transfers->cause_ns[NCS_LATE_HOST] = (uint64_t)excess->host_ns;
	transfers->cause_ns[NCS_LATE_STREAM] =
		(uint64_t)fmax(excess->cut_ns - excess->host_ns, 0);
	/* Nothing stays cut for the next one. */
	for (size_t i = 0; i < costing->replay.count; i++)
		costing->replay.played[i].cut_ns = 0;
}

/* Finds what a line costs, if that is known. Returns whether it is. */
static bool find_cost(struct costing *costing, uint32_t self, bool is_last)
{
	const struct ncs_transfer_line *line = &costing->replay.lines[self];
	double *usual_ns = malloc(sizeof(double) * NCS_WORK_KINDS);
	struct excess excess;
	bool known;

	if (!usual_ns)
		return false;
	ncs_works_usual(&costing->works, &costing->replay, self,
			takes_turns(costing, self), usual_ns);
	excess = cut_by_kind(costing, self, usual_ns);
	longer_in_all(costing, self, &excess);
	free(usual_ns);
	known = is_known(costing, &excess) && !line->others_overlap &&
		(!costing->works.folds || exchanges(costing, self));
	if (known || is_last)
		note_cost(costing, self, known, &excess);
	return known;
}

/* Finds what all lines cost. Where a stage has not its like in its pipeline, it
 * may have it if directions do not count. Returns 0 or -ENOMEM. */
static int find_all(struct costing *costing)
{
	struct ncs_transfer_replay *replay = &costing->replay;

	for (unsigned folds = 0; folds < 2; folds++) {
		if (ncs_works_find(&costing->works, replay, folds) != 0)
			return -ENOMEM;
		for (size_t i = 0; i < replay->line_count; i++)
			if (!replay->lines[i].is_known)
				replay->lines[i].is_known = find_cost(
					costing, (uint32_t)i, folds == 1);
	}
	return 0;
}

/* Returns whether a line is one of transfers: not one that has a few of them, as
 * a job does that sends something when it begins. */
static bool is_of_transfers(const struct costing *costing, uint32_t line)
{
	const struct ncs_transfer_replay *replay = &costing->replay;
	size_t all = 0, transfers = 0;

	for (size_t i = 0; i < replay->count; i++) {
		if (replay->played[i].line != line)
			continue;
		all++;
		transfers += ncs_is_work_transfer(replay->parts[i].kind);
	}
	return transfers >= TRANSFERS * (double)all;
}

/* Says of which ranks the cost is that of their collectives, too. */
static void set_rule(const struct costing *costing)
{
	const struct ncs_model *model = costing->model;

	for (size_t i = 0; i < model->rank_count; i++) {
		struct ncs_late_rank *late = model->ranks[i]->late;
		uint32_t line =
			late && late->transfer_use == NCS_TRANSFERS_USED ?
				line_of(&costing->replay, model->ranks[i]) :
				NCS_LINE_NONE;

		if (line != NCS_LINE_NONE &&
		    !costing->replay.lines[line].others_overlap &&
		    is_of_transfers(costing, line))
			late->transfer_use = NCS_TRANSFERS_RULE;
		if (line != NCS_LINE_NONE)
			late->is_viewed = false;
	}
}

/* Computes the costs of all lines. Returns 0 or -ENOMEM. */
static int find_costs(struct costing *costing)
{
	struct ncs_transfer_replay *replay = &costing->replay;
	int error = find_lines(costing);

	error |= error ? 0 : assign_lines(costing);
	error |= error ? 0 : ncs_replay_prepare(replay);
	if (error)
		return -ENOMEM;
	ncs_replay_run(replay);
	if (ncs_transfer_find_pauses(replay, costing->last_ns -
						     costing->first_ns) != 0)
		return -ENOMEM;
	costing->base_ns = ncs_replay_run(replay);
	count_operations(costing);
	error = find_all(costing);
	set_rule(costing);
	return error;
}

int ncs_transfer_update(struct ncs_model *model)
{
	struct ncs_transfer_log *log = model->skews ? model->skews->transfers :
						      NULL;
	struct costing costing = { .model = model, .first_ns = UINT64_MAX };
	int error = 0;

	if (!log || log->count == 0 ||
	    (log->count > MANY && model->now_ns > log->computed_ns &&
	     model->now_ns < log->computed_ns + ANEW_NS))
		return 0;
	log->computed_ns = model->now_ns;
	for (size_t i = 0; i < log->count; i++)
		if (log->parts[i].end_ns > costing.last_ns)
			costing.last_ns = log->parts[i].end_ns;
	ncs_transfer_log_drop(log, ncs_time_since(NCS_COST_WINDOW_NS,
						  costing.last_ns));
	for (size_t i = 0; i < log->count; i++)
		if (log->parts[i].arrival_ns < costing.first_ns)
			costing.first_ns = log->parts[i].arrival_ns;
	costing.replay.parts = log->parts;
	costing.replay.count = log->count;
	if (costing.last_ns > costing.first_ns)
		error = find_costs(&costing);
	ncs_works_release(&costing.works);
	free(costing.replay.played);
	free(costing.replay.moments);
	free(costing.replay.lines);
	return error;
}
