/* SPDX-License-Identifier: MIT */
/* The steps in which the launches of ranks repeat; see cost_window.h. Launches
 * outside the step (a barrier, an evaluation) get no position, and do not move those
 * that follow. */
#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include "analysis/base/collective_waits.h"
#include "analysis/cost/cost_window.h"
#include "shm/array.h"
#include "shm/hash.h"

/* Work space. */
struct search {
	struct ncs_cost_window *window;
	uint64_t *signatures; /* by rank: of the kinds of its launches */
	uint32_t *rows; /* by rank: the launch that the commonest row begins with */
	uint32_t *turns; /* by rank: the position of that */
	uint64_t *words; /* of as many launches as a rank has at most … */
	uint64_t *names; /* … and queues */
	uint32_t *positions; /* by operation: what its launches have */
	size_t class_capacity;
};

static int compare_words(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return (x > y) - (x < y);
}

static const struct ncs_cost_launch *
launches_of(const struct search *search, const struct ncs_cost_rank *rank)
{
	return &search->window->launches[rank->first];
}

/* Returns a hash of the tokens that a rank launches often in a queue, or in all if that is
 * NONE, in any order. */
static uint64_t sign(const struct search *search,
		     const struct ncs_cost_rank *rank, uint32_t queue)
{
	const struct ncs_cost_launch *launches = launches_of(search, rank);
	uint64_t signature = 0;
	uint32_t count = 0, same = 0;

	for (uint32_t i = 0; i < rank->count; i++)
		if (queue == NCS_COST_NONE || launches[i].queue == queue)
			search->words[count++] = launches[i].token;
	qsort(search->words, count, sizeof(*search->words), compare_words);
	for (uint32_t i = 0; i < count; i++) {
		same = i > 0 && search->words[i] == search->words[i - 1] ?
			       same + 1 :
			       1;
		/* Counts once, when it becomes often enough. */
		if (same == rank->count / 200 + 3)
			signature = ncs_hash_add(signature, search->words[i]);
	}
	return signature;
}

/* Tells launches of different queues of a rank apart, by what is often launched there; of
 * queues where that is the same, by their first use. The first use alone depends on where
 * in a step the window begins. */
static void name_queues(const struct search *search,
			const struct ncs_cost_rank *rank)
{
	struct ncs_cost_launch *launches =
		&search->window->launches[rank->first];
	uint64_t *names = search->names;

	for (uint32_t q = 0; q < rank->queue_count; q++) {
		uint32_t before = 0;

		names[q] = sign(search, rank, q);
		for (uint32_t i = 0; i < q; i++)
			before += names[i] == names[q];
		for (uint32_t i = 0; i < rank->count; i++)
			if (launches[i].queue == q)
				launches[i].token = ncs_hash_add(
					launches[i].token, names[q] + before);
	}
}

/* --- The step ------------------------------------------------------------- */

/* Fills in the hashes of all rows of `period` launches of a rank, of which it has as many
 * at least. Returns their number. */
static uint32_t hash_rows(const struct search *search,
			  const struct ncs_cost_rank *rank, uint32_t period)
{
	const struct ncs_cost_launch *launches = launches_of(search, rank);
	const uint64_t factor = ncs_hash(1) | 1;
	uint64_t row = 0, oldest = 1;

	for (uint32_t i = 0; i < period; i++)
		oldest *= factor;
	for (uint32_t i = 0; i < rank->count; i++) {
		row = row * factor + launches[i].token;
		if (i >= period)
			row -= oldest * launches[i - period].token;
		if (i + 1 >= period)
			search->words[i + 1 - period] = row;
	}
	return rank->count + 1 - period;
}

/* Sets *first to the first of the commonest rows of `period` launches of a rank.
 * Returns false if none comes twice. A launch from outside the step turns what
 * follows: counts by place would mix positions. */
static bool find_row(const struct search *search,
		     const struct ncs_cost_rank *rank, uint32_t period,
		     uint32_t *first)
{
	uint64_t commonest = 0, *rows = search->words;
	uint32_t count, same = 0, most = 0;

	if (rank->count < period)
		return false;
	count = hash_rows(search, rank, period);
	qsort(rows, count, sizeof(*rows), compare_words);
	for (uint32_t i = 0; i < count; i++) {
		same = i > 0 && rows[i] == rows[i - 1] ? same + 1 : 1;
		if (same > most) {
			most = same;
			commonest = rows[i];
		}
	}
	hash_rows(search, rank, period);
	*first = 0;
	while (rows[*first] != commonest)
		++*first;
	return most >= 2;
}

/* Returns the position in a step at which a row of launches begins; `period` if it is not
 * that step, turned. */
static uint32_t turn_of(const struct ncs_cost_launch *row, const uint64_t *step,
			uint32_t period)
{
	for (uint32_t p = 0; p < period; p++) {
		uint32_t i = 0;

		while (i < period && row[i].token == step[(p + i) % period])
			i++;
		if (i == period)
			return p;
	}
	return period;
}

/* --- Positions ------------------------------------------------------------ */

/* Looks for the position of a launch that does not fit: where most of what
 * follows fits. Returns false if there is none. Without it, diagnosis/3d of make truth is
 * wrong more often. */
static bool find_phase(const struct ncs_cost_launch *launches, uint32_t count,
		       const struct ncs_cost_class *class, uint32_t i,
		       uint32_t *p)
{
	uint32_t period = class->period, found = *p, most = 0;
	uint32_t looked_at = count - i < 2 * period ? count - i : 2 * period;

	/* The nearest after the expected position, if several fit. */
	for (uint32_t k = 1; k < period; k++) {
		uint32_t q = (*p + k) % period, fitting = 0;

		if (class->step[q] != launches[i].token)
			continue;
		for (uint32_t n = 0; n < looked_at; n++)
			fitting += launches[i + n].token ==
				   class->step[(q + n) % period];
		if (100 * fitting > NCS_MOST * looked_at && fitting > most) {
			most = fitting;
			found = q;
		}
	}
	*p = found;
	return most > 0;
}

/* Gives the launches of a rank positions, the one at `from` position p. One that does not
 * fit gets none. */
static void place(struct ncs_cost_launch *launches, uint32_t count,
		  const struct ncs_cost_class *class, uint32_t from, uint32_t p)
{
	uint32_t period = class->period, q = p;

	for (uint32_t i = from; i-- > 0;) {
		uint32_t before = (q + period - 1) % period;

		if (launches[i].token != class->step[before])
			continue;
		launches[i].position = before;
		q = before;
	}
	for (uint32_t i = from; i < count; i++) {
		if (launches[i].token != class->step[p] &&
		    !find_phase(launches, count, class, i, &p))
			continue;
		launches[i].position = p;
		p = (p + 1) % period;
	}
}

/* Returns the operation of a launch that is a collective alone, NONE else. */
static uint32_t told_by(const struct search *search,
			const struct ncs_cost_launch *launch)
{
	const struct ncs_cost_window *window = search->window;
	uint32_t operation = window->launch_operations[launch->operations];

	/* The two ends of a message have different positions. */
	return launch->operation_count == 1 &&
			       !window->operations[operation].is_transfer ?
		       operation :
		       NCS_COST_NONE;
}

/* Finds a launch of a rank whose operation has a position. */
static bool is_told(const struct search *search,
		    const struct ncs_cost_rank *rank, uint32_t *from,
		    uint32_t *p)
{
	for (uint32_t i = 0; i < rank->count; i++) {
		uint32_t operation =
			told_by(search, &launches_of(search, rank)[i]);

		if (operation == NCS_COST_NONE ||
		    search->positions[operation] == NCS_COST_NONE)
			continue;
		*from = i;
		*p = search->positions[operation];
		return true;
	}
	return false;
}

/* Gives all launches of a class positions: those of an operation the same. */
static void place_class(struct search *search, struct ncs_cost_class *class)
{
	struct ncs_cost_window *window = search->window;
	uint32_t index = (uint32_t)(class - window->classes);

	for (size_t i = 0; i < window->operation_count; i++)
		search->positions[i] = NCS_COST_NONE;
	for (uint32_t k = 0; k < class->rank_count; k++) {
		uint32_t from, p, next = NCS_COST_NONE;
		struct ncs_cost_rank *rank;

		/* First a rank that has something in common with those before. */
		for (uint32_t i = 0; i < class->rank_count; i++) {
			rank = &window->ranks[class->ranks[i]];
			if (rank->class_index == index)
				continue;
			if (next == NCS_COST_NONE)
				next = i;
			if (is_told(search, rank, &from, &p)) {
				next = i;
				break;
			}
		}
		rank = &window->ranks[class->ranks[next]];
		rank->class_index = index;
		rank->class_place = next;
		if (!is_told(search, rank, &from, &p)) {
			from = search->rows[class->ranks[next]];
			p = search->turns[class->ranks[next]];
		}
		place(&window->launches[rank->first], rank->count, class, from,
		      p);
		for (uint32_t i = 0; i < rank->count; i++) {
			const struct ncs_cost_launch *launch =
				&launches_of(search, rank)[i];
			uint32_t operation = told_by(search, launch);

			if (operation != NCS_COST_NONE &&
			    launch->position != NCS_COST_NONE)
				search->positions[operation] = launch->position;
		}
	}
}

/* Notes which classes have ranks that send to one another at different positions, but
 * for a misfit now and then. */
static void find_chains(struct ncs_cost_window *window)
{
	for (size_t i = 0; i < window->operation_count; i++) {
		const struct ncs_cost_operation *operation =
			&window->operations[i];
		const struct ncs_cost_launch *ends[2];
		uint32_t classes[2];

		if (!operation->is_transfer || operation->count != 2)
			continue;
		for (unsigned k = 0; k < 2; k++) {
			ends[k] =
				&window->launches
					 [window->members[operation->first + k]];
			classes[k] = window->ranks[ends[k]->rank].class_index;
		}
		if (classes[0] == NCS_COST_NONE || classes[0] != classes[1])
			continue;
		window->classes[classes[0]].messages++;
		window->classes[classes[0]].unlike += ends[0]->position !=
						      ends[1]->position;
	}
	for (size_t i = 0; i < window->class_count; i++)
		window->classes[i].is_chain =
			1000 * window->classes[i].unlike >
			NCS_COST_MISFIT * window->classes[i].messages;
}

/* --- Classes -------------------------------------------------------------- */

/* Returns how many launches back an anchor may be: of few steps, not most are given up
 * for that. */
static uint32_t depth_of(uint32_t launches, uint32_t period)
{
	uint32_t steps = launches / period / 3, depth;

	if (steps > NCS_COST_STEPS)
		steps = NCS_COST_STEPS;
	if (steps < 2)
		steps = 2;
	depth = steps * period + 2;
	return depth < NCS_COST_DEPTH_MOST ? depth : NCS_COST_DEPTH_MOST;
}

/* Adds a class whose step is a row of launches. */
static int add_class(struct search *search, const struct ncs_cost_launch *row,
		     uint32_t period, uint32_t depth)
{
	struct ncs_cost_window *window = search->window;
	struct ncs_cost_class *class;

	if (ncs_array_reserve(&window->classes, &search->class_capacity,
			      window->class_count + 1,
			      sizeof(*window->classes)) != 0)
		return -ENOMEM;
	class = &window->classes[window->class_count++];
	*class = (struct ncs_cost_class){
		.period = period,
		.depth = depth,
		.step = malloc(period * sizeof(*class->step)),
	};
	for (uint32_t i = 0; class->step && i < period; i++)
		class->step[i] = row[i].token;
	return class->step ? 0 : -ENOMEM;
}

/* Adds a rank to the class that has its step, of those from `first` on, or to a
 * new one; to none if its launches do not repeat. */
static int classify(struct search *search, uint32_t index, uint32_t period,
		    size_t first)
{
	struct ncs_cost_window *window = search->window;
	const struct ncs_cost_rank *rank = &window->ranks[index];
	const struct ncs_cost_launch *row;
	struct ncs_cost_class *class;
	uint32_t turn = period, *ranks;

	if (!find_row(search, rank, period, &search->rows[index]))
		return 0;
	row = &launches_of(search, rank)[search->rows[index]];
	for (; first < window->class_count; first++) {
		turn = turn_of(row, window->classes[first].step, period);
		if (turn < period)
			break;
	}
	search->turns[index] = turn % period;
	if (first == window->class_count &&
	    add_class(search, row, period, depth_of(rank->count, period)) != 0)
		return -ENOMEM;
	class = &window->classes[first];
	ranks = realloc(class->ranks,
			(class->rank_count + 1) * sizeof(*class->ranks));
	if (!ranks)
		return -ENOMEM;
	class->ranks = ranks;
	class->ranks[class->rank_count++] = index;
	return 0;
}

/* Returns whether a rank exchanges most of a step's data in operations without a root. */
static bool meets_without_root(const struct search *search,
			       const struct ncs_cost_rank *rank,
			       uint32_t period)
{
	uint64_t bytes = 0, rooted_bytes = 0;
	uint32_t first;

	if (!find_row(search, rank, period, &first))
		return false;
	for (uint32_t i = 0; i < period; i++) {
		const struct ncs_cost_launch *launch =
			&launches_of(search, rank)[first + i];

		bytes += launch->bytes;
		if (launch->wait_rule == NCS_WAIT_FOR_ROOT ||
		    launch->wait_rule == NCS_WAIT_FOR_LEAVES)
			rooted_bytes += launch->bytes;
	}
	return bytes >= 2 * rooted_bytes;
}

static int find_classes(struct search *search, uint32_t *ranks,
			uint32_t rank_count, bool with_roots);

/* Groups ranks by what they launch, and finds the classes of each group. Changes the
 * list. */
static int find_groups(struct search *search, uint32_t *ranks,
		       uint32_t rank_count, bool with_roots)
{
	uint32_t *group = calloc(rank_count + 1, sizeof(*group));
	int error = group ? 0 : -ENOMEM;

	for (uint32_t r = 0; r < rank_count; r++)
		search->signatures[ranks[r]] =
			sign(search, &search->window->ranks[ranks[r]],
			     NCS_COST_NONE);
	while (!error && rank_count > 0) {
		uint64_t signature = search->signatures[ranks[0]];
		uint32_t count = 0, others = 0;

		for (uint32_t r = 0; r < rank_count; r++) {
			if (search->signatures[ranks[r]] == signature)
				group[count++] = ranks[r];
			else
				ranks[others++] = ranks[r];
		}
		rank_count = others;
		error = find_classes(search, group, count, with_roots);
	}
	free(group);
	return error;
}

/* Tells the launches of roots apart from those of the other ranks. */
static void distinguish_roots(struct search *search, const uint32_t *ranks,
			      uint32_t rank_count)
{
	for (uint32_t r = 0; r < rank_count; r++) {
		const struct ncs_cost_rank *rank =
			&search->window->ranks[ranks[r]];
		struct ncs_cost_launch *launches =
			&search->window->launches[rank->first];

		for (uint32_t i = 0; i < rank->count; i++)
			launches[i].token = ncs_hash_add(launches[i].token,
							 launches[i].is_root);
	}
}

/* Returns the share of a rank's launches that end a row of `period` which the row before
 * was like. */
static double repeating(const struct search *search, uint32_t index,
			uint32_t period)
{
	const struct ncs_cost_rank *rank = &search->window->ranks[index];
	const struct ncs_cost_launch *at = launches_of(search, rank);
	uint32_t like = 0, count = 0;

	for (uint32_t i = period; i < rank->count; i++) {
		like = at[i].token == at[i - period].token ? like + 1 : 0;
		count += like >= period;
	}
	return rank->count < 2 * period ?
		       1 :
		       count / (rank->count + 1. - 2 * period);
}

/* Moves ranks that repeat in `period` launches to the front of a list, or those that do not
 * if its first does not. Returns their number. Launches now and then of some ranks alone
 * make no difference. */
static uint32_t split(const struct search *search, uint32_t *ranks,
		      uint32_t rank_count, uint32_t period)
{
	double of_first = repeating(search, ranks[0], period);
	uint32_t count = 0;

	for (uint32_t r = 0; r < rank_count; r++) {
		uint32_t rank = ranks[r];

		if (fabs(repeating(search, rank, period) - of_first) >
		    NCS_MOST / 100.)
			continue;
		ranks[r] = ranks[count];
		ranks[count++] = rank;
	}
	return count;
}

/* Finds the classes of ranks that launch the same. Ranks that reduce gradients together do
 * the same work, even if one of them also broadcasts its buffers. Where most data goes to
 * or from a root, the root may have work of its own, as a parameter server has. Stages of a
 * pipeline may launch the same in steps of different lengths. */
static int find_classes(struct search *search, uint32_t *ranks,
			uint32_t rank_count, bool with_roots)
{
	struct ncs_cost_window *window = search->window;
	size_t first = window->class_count;
	uint32_t period, own, count;
	int error = ncs_cost_find_period(window, ranks, rank_count, &period);

	if (!error)
		error = ncs_cost_find_period(window, ranks, 1, &own);
	if (error)
		return error;
	count = split(search, ranks, rank_count, own < period ? own : period);
	if (count < rank_count) {
		error = find_classes(search, ranks, count, with_roots);
		return error ? error :
			       find_classes(search, ranks + count,
					    rank_count - count, with_roots);
	}
	if (period > 0 && !with_roots &&
	    !meets_without_root(search, &window->ranks[ranks[0]], period)) {
		distinguish_roots(search, ranks, rank_count);
		return find_groups(search, ranks, rank_count, true);
	}
	for (uint32_t r = 0; !error && period > 0 && r < rank_count; r++)
		error = classify(search, ranks[r], period, first);
	return error;
}

/* Lists the launches that have positions. */
static void list_regular(struct ncs_cost_window *window)
{
	uint32_t count = 0;

	for (size_t r = 0; r < window->rank_count; r++) {
		struct ncs_cost_rank *rank = &window->ranks[r];

		rank->regular = count;
		for (uint32_t i = rank->first; i < rank->first + rank->count;
		     i++) {
			if (window->launches[i].position == NCS_COST_NONE)
				continue;
			window->launches[i].regular = count - rank->regular;
			window->regular[count++] = i;
		}
		rank->regular_count = count - rank->regular;
	}
}

static int search_steps(struct search *search)
{
	struct ncs_cost_window *window = search->window;
	uint32_t *ranks = calloc(window->rank_count + 1, sizeof(*ranks));
	uint32_t count = 0;
	int error = ranks ? 0 : -ENOMEM;

	for (uint32_t r = 0; !error && r < window->rank_count; r++) {
		name_queues(search, &window->ranks[r]);
		if (window->ranks[r].count > 0)
			ranks[count++] = r;
	}
	if (!error)
		error = find_groups(search, ranks, count, false);
	free(ranks);
	for (size_t i = 0; !error && i < window->class_count; i++)
		place_class(search, &window->classes[i]);
	find_chains(window);
	list_regular(window);
	return error;
}

int ncs_cost_find_steps(struct ncs_cost_window *window)
{
	struct search search = { .window = window };
	size_t most = 1, ranks = window->rank_count + 1;
	int error = -ENOMEM;

	for (size_t r = 0; r < window->rank_count; r++)
		if (window->ranks[r].count > most)
			most = window->ranks[r].count;
	search.signatures = calloc(ranks, sizeof(*search.signatures));
	search.rows = calloc(ranks, sizeof(*search.rows));
	search.turns = calloc(ranks, sizeof(*search.turns));
	search.words = calloc(most, sizeof(*search.words));
	search.names = calloc(most, sizeof(*search.names));
	search.positions =
		calloc(window->operation_count + 1, sizeof(*search.positions));
	if (search.signatures && search.rows && search.turns && search.words &&
	    search.names && search.positions)
		error = search_steps(&search);
	free(search.signatures);
	free(search.rows);
	free(search.turns);
	free(search.words);
	free(search.names);
	free(search.positions);
	return error;
}
