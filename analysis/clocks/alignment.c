/* SPDX-License-Identifier: MIT */
/* Aligning the clocks of all hosts: facts about pairs of hosts, the line of each pair,
 * and joining the lines of all pairs; see alignment.h.
 *
 * The line of a pair of hosts gives the clock of the host with the larger
 * number (`high`) minus that of the host with the smaller number (`low`), as a
 * function of the latter clock. The number after the last host stands for the
 * true time, which CLOCK_REALTIME shows.
 */
#include "analysis/clocks/alignment.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/base/move_clock.h"
#include "analysis/clocks/clock_line.h"

/* Credits count if at least AWAITED_MIN senders, and at least one sender in
 * AWAITED_PART, have waited for one. */
#define AWAITED_MIN 16
#define AWAITED_PART 256

/* The bounds of the difference from one side. */
struct ncs_pair_direction {
	struct ncs_bounds order;
	struct ncs_bounds credit;
	uint64_t awaited; /* number of credits that a sender waited for */
};

struct ncs_host_pair {
	size_t low;
	size_t high;
	int64_t about_ns; /* rough difference, from any one fact */
	/* Upper bounds of the difference, from events of `low` before events of
	 * `high`, and of its negative, from the opposite order. */
	struct ncs_pair_direction most;
	struct ncs_pair_direction least;
	bool has_line;
	struct ncs_clock_line line;
};

struct ncs_realtime_reading {
	uint64_t before_ns;
	uint64_t realtime_ns;
	uint64_t after_ns;
	uint64_t steps;
	bool is_there;
};

struct ncs_alignment {
	size_t hosts;
	size_t nodes;                 /* the hosts and the true time */
	struct ncs_host_pair **pairs; /* low × nodes + high */
	struct ncs_realtime_reading *readings;
	struct ncs_host_pair **list; /* of all pairs that have facts */
	size_t count;
};

struct ncs_alignment *ncs_alignment_new(size_t hosts)
{
	struct ncs_alignment *alignment = calloc(1, sizeof(*alignment));

	if (!alignment)
		return NULL;
	alignment->hosts = hosts;
	alignment->nodes = hosts + 1;
	alignment->pairs = calloc(alignment->nodes * alignment->nodes,
				  sizeof(struct ncs_host_pair *));
	alignment->list = calloc(alignment->nodes * alignment->nodes,
				 sizeof(struct ncs_host_pair *));
	alignment->readings =
		calloc(hosts + 1, sizeof(struct ncs_realtime_reading));
	if (!alignment->pairs || !alignment->list || !alignment->readings) {
		ncs_alignment_free(alignment);
		return NULL;
	}
	return alignment;
}

static void release_direction(struct ncs_pair_direction *direction)
{
	ncs_bounds_release(&direction->order);
	ncs_bounds_release(&direction->credit);
}

void ncs_alignment_free(struct ncs_alignment *alignment)
{
	if (!alignment)
		return;
	for (size_t i = 0; i < alignment->count; i++) {
		release_direction(&alignment->list[i]->most);
		release_direction(&alignment->list[i]->least);
		free(alignment->list[i]);
	}
	free(alignment->pairs);
	free(alignment->list);
	free(alignment->readings);
	free(alignment);
}

/* --- Facts ---------------------------------------------------------------- */

/* Returns the pair of two hosts, or NULL if there is no memory. */
static struct ncs_host_pair *pair_of(struct ncs_alignment *alignment,
				     size_t low, size_t high)
{
	struct ncs_host_pair **place =
		&alignment->pairs[low * alignment->nodes + high];

	if (!*place) {
		*place = calloc(1, sizeof(**place));
		if (!*place)
			return NULL;
		(*place)->low = low;
		(*place)->high = high;
		alignment->list[alignment->count++] = *place;
	}
	return *place;
}

static struct ncs_bounds *bounds_of(struct ncs_pair_direction *direction,
				    enum ncs_fact fact)
{
	if (fact == NCS_FACT_ORDER)
		return &direction->order;
	direction->awaited += fact == NCS_FACT_AWAITED_CREDIT;
	return &direction->credit;
}

int ncs_alignment_add(struct ncs_alignment *alignment,
		      const struct ncs_before *before)
{
	bool is_low = before->host < before->then_host;
	size_t low = is_low ? before->host : before->then_host;
	size_t high = is_low ? before->then_host : before->host;
	struct ncs_host_pair *pair;

	if (low == high || high >= alignment->hosts)
		return 0;
	pair = pair_of(alignment, low, high);
	if (!pair)
		return -ENOMEM;
	pair->about_ns = (int64_t)(is_low ? before->then_ns - before->at_ns :
					    before->at_ns - before->then_ns);
	return ncs_bounds_add(
		bounds_of(is_low ? &pair->most : &pair->least, before->fact),
		is_low ? before->at_ns : before->then_ns,
		(int64_t)(before->then_ns - before->at_ns));
}

/* Returns true if CLOCK_REALTIME was set since the last reading. CLOCK_REALTIME
 * is corrected like CLOCK_MONOTONIC, so their difference changes only if
 * CLOCK_REALTIME is set, or by the drift of the times given here. */
static bool is_step(const struct ncs_realtime_reading *last, uint64_t before_ns,
		    uint64_t realtime_ns, uint64_t after_ns)
{
	int64_t most = (int64_t)(realtime_ns - before_ns);
	int64_t least = (int64_t)(realtime_ns - after_ns);
	int64_t last_most = (int64_t)(last->realtime_ns - last->before_ns);
	int64_t last_least = (int64_t)(last->realtime_ns - last->after_ns);
	double drifts = NCS_DRIFT_MAX *
			fabs((double)(int64_t)(before_ns - last->before_ns));

	return last->is_there && ((double)least - (double)last_most > drifts ||
				  (double)last_least - (double)most > drifts);
}

int ncs_alignment_add_realtime(struct ncs_alignment *alignment, size_t host,
			       uint64_t before_ns, uint64_t realtime_ns,
			       uint64_t after_ns, uint64_t error_ns)
{
	struct ncs_realtime_reading *reading;
	struct ncs_host_pair *pair;
	int error;

	if (host >= alignment->hosts || after_ns < before_ns)
		return 0;
	reading = &alignment->readings[host];
	pair = pair_of(alignment, host, alignment->hosts);
	if (!pair)
		return -ENOMEM;
	/* Earlier readings are of no use after the clock was set. */
	if (is_step(reading, before_ns, realtime_ns, after_ns)) {
		reading->steps++;
		ncs_bounds_release(&pair->most.order);
		ncs_bounds_release(&pair->least.order);
	}
	*reading = (struct ncs_realtime_reading){ before_ns, realtime_ns,
						  after_ns, reading->steps,
						  true };
	pair->about_ns = (int64_t)(realtime_ns - before_ns);
	if (error_ns > INT64_MAX / 4)
		return 0;
	error = ncs_bounds_add(&pair->most.order, before_ns,
			       (int64_t)(realtime_ns + error_ns - before_ns));
	return error ? error :
		       ncs_bounds_add(
			       &pair->least.order, before_ns,
			       (int64_t)(after_ns - realtime_ns + error_ns));
}

/* --- Pairs ---------------------------------------------------------------- */

static bool has_credits(const struct ncs_pair_direction *direction)
{
	return direction->awaited >= AWAITED_MIN &&
	       direction->awaited >= direction->credit.facts / AWAITED_PART;
}

/* Collects all bounds of one side. Returns 0 or -ENOMEM. */
static int gather(const struct ncs_pair_direction *direction, bool with_credit,
		  struct ncs_bounds *all)
{
	int error = ncs_bounds_add_all(all, &direction->order);

	if (with_credit && has_credits(direction))
		error |= ncs_bounds_add_all(all, &direction->credit);
	return error;
}

/* Fits a line to the bounds of a pair. Returns 0 or -ENOMEM. */
static int fit(const struct ncs_host_pair *pair, bool with_credit,
	       uint64_t from_ns, uint64_t until_ns, bool *has_line,
	       struct ncs_clock_line *line)
{
	struct ncs_bounds most = { 0 }, least = { 0 };
	int error = gather(&pair->most, with_credit, &most);

	error |= gather(&pair->least, with_credit, &least);
	*has_line = error == 0 &&
		    ncs_clock_line_fit(&most, &least, from_ns, until_ns, line);
	ncs_bounds_release(&most);
	ncs_bounds_release(&least);
	return error;
}

/* Finds the line of a pair for an interval of the clock of its `low`. Returns 0
 * or -ENOMEM. */
static int solve_pair(struct ncs_host_pair *pair, uint64_t from_ns,
		      uint64_t until_ns)
{
	struct ncs_clock_line other;
	bool has_other;
	int error = fit(pair, true, from_ns, until_ns, &pair->has_line,
			&pair->line);

	if (error || !pair->has_line || pair->line.violations == 0)
		return error;
	/* Ignores credits if they contradict certain facts. */
	error = fit(pair, false, from_ns, until_ns, &has_other, &other);
	if (has_other && other.violations < pair->line.violations)
		pair->line = other;
	return error;
}

/* --- All hosts ------------------------------------------------------------ */

struct node {
	bool is_near; /* about_ns is known */
	bool is_known;
	bool is_done;
	bool by_realtime;
	/* The host's clock minus the reference's, roughly, from any one fact
	 * … */
	int64_t about_ns;
	/* … and by lines, at the two ends of the interval asked for. */
	int64_t off_ns[2];
	double add_ns[2]; /* corrections that make loops close */
	double error_ns;
};

struct solution {
	struct ncs_alignment *alignment;
	struct node *nodes;
	size_t reference;
	uint64_t ends_ns[2]; /* of the interval */
};

/* Finds the rough difference of each host, so that the interval asked for is
 * known on each clock. */
static void find_about(struct solution *solution)
{
	struct node *nodes = solution->nodes;
	bool more = true;

	nodes[solution->reference].is_near = true;
	while (more) {
		more = false;
		for (size_t i = 0; i < solution->alignment->count; i++) {
			const struct ncs_host_pair *pair =
				solution->alignment->list[i];
			struct node *low = &nodes[pair->low];
			struct node *high = &nodes[pair->high];

			if (low->is_near == high->is_near)
				continue;
			more = true;
			if (low->is_near)
				high->about_ns =
					ncs_plus(low->about_ns, pair->about_ns);
			else
				low->about_ns = ncs_minus(high->about_ns,
							  pair->about_ns);
			low->is_near = high->is_near = true;
		}
	}
}

/* Finds the lines of all pairs. Returns 0 or -ENOMEM. */
static int solve_pairs(struct solution *solution)
{
	int error = 0;

	for (size_t i = 0; error == 0 && i < solution->alignment->count; i++) {
		struct ncs_host_pair *pair = solution->alignment->list[i];
		uint64_t about_ns =
			(uint64_t)solution->nodes[pair->low].about_ns;

		error = solve_pair(pair, solution->ends_ns[0] + about_ns,
				   solution->ends_ns[1] + about_ns);
	}
	return error;
}

/* Returns the difference of a pair at `reference_ns` of the reference's clock.
 * `low_ns` is the clock of the pair's `low` minus the reference's. */
static int64_t difference(const struct ncs_host_pair *pair,
			  uint64_t reference_ns, int64_t low_ns)
{
	return ncs_clock_line_at(&pair->line, reference_ns + (uint64_t)low_ns);
}

/* Returns a host's clock minus the reference's at `reference_ns`, from that of the
 * other host of a pair. */
static int64_t offset_by(const struct ncs_host_pair *pair, bool is_low,
			 uint64_t reference_ns, int64_t other_ns)
{
	int64_t low_ns;

	if (!is_low)
		return ncs_plus(other_ns,
				difference(pair, reference_ns, other_ns));
	/* The time on `low` is unknown: approximate it, then iterate. */
	low_ns = ncs_minus(other_ns, pair->line.offset_ns);
	for (unsigned i = 0; i < 3; i++)
		low_ns = ncs_minus(other_ns,
				   difference(pair, reference_ns, low_ns));
	return low_ns;
}

/* Joins a host to a host that is in the tree already. */
static void join(struct solution *solution, const struct ncs_host_pair *pair,
		 struct node *node, const struct node *near, double error_ns)
{
	bool is_low = node == &solution->nodes[pair->low];

	node->is_known = true;
	node->error_ns = error_ns;
	node->by_realtime = near->by_realtime ||
			    pair->high == solution->alignment->hosts;
	for (unsigned end = 0; end < 2; end++)
		node->off_ns[end] = offset_by(pair, is_low,
					      solution->ends_ns[end],
					      near->off_ns[end]);
}

/* Finds the tree with the smallest errors. Begins with the reference and always
 * joins next the host whose error is smallest. */
static void find_tree(struct solution *solution)
{
	struct ncs_alignment *alignment = solution->alignment;
	struct node *nodes = solution->nodes;

	nodes[solution->reference].is_known = true;
	for (;;) {
		struct node *best = NULL;

		for (size_t i = 0; i < alignment->nodes; i++)
			if (nodes[i].is_known && !nodes[i].is_done &&
			    (!best || nodes[i].error_ns < best->error_ns))
				best = &nodes[i];
		if (!best)
			return;
		best->is_done = true;
		for (size_t i = 0; i < alignment->count; i++) {
			const struct ncs_host_pair *pair = alignment->list[i];
			struct node *low = &nodes[pair->low];
			struct node *high = &nodes[pair->high];
			struct node *other = low == best ? high : low;
			double error_ns =
				best->error_ns + (double)pair->line.error_ns;

			if (!pair->has_line || (low != best && high != best) ||
			    other->is_done ||
			    (other->is_known && other->error_ns <= error_ns))
				continue;
			join(solution, pair, other, best, error_ns);
		}
	}
}

/* --- Least squares -------------------------------------------------------- */

/* An equation: by how much the line of a pair differs from the tree, at one
 * end of the interval. */
struct equation {
	size_t low;
	size_t high;
	double weight;
	double rest;
};

struct equations {
	struct equation *list;
	size_t count;
	size_t nodes;
	size_t reference;
};

/* Multiplies the matrix of the normal equations by a vector. */
static void multiply(const struct equations *equations, const double *vector,
		     double *product)
{
	memset(product, 0, equations->nodes * sizeof(double));
	for (size_t i = 0; i < equations->count; i++) {
		const struct equation *one = &equations->list[i];
		double flow =
			one->weight * (vector[one->high] - vector[one->low]);

		product[one->high] += flow;
		product[one->low] -= flow;
	}
	product[equations->reference] = 0;
}

static double dot(const double *a, const double *b, size_t count)
{
	double sum = 0;

	for (size_t i = 0; i < count; i++)
		sum += a[i] * b[i];
	return sum;
}

/* Solves the equations by conjugate gradients. `work` has room for three
 * vectors. */
static void least_squares(const struct equations *equations, double *found,
			  double *work)
{
	size_t nodes = equations->nodes;
	double *rest = work, *direction = work + nodes;
	double *product = work + 2 * nodes;
	double square, first;

	memset(found, 0, nodes * sizeof(double));
	memset(rest, 0, nodes * sizeof(double));
	for (size_t i = 0; i < equations->count; i++) {
		const struct equation *one = &equations->list[i];

		rest[one->high] += one->weight * one->rest;
		rest[one->low] -= one->weight * one->rest;
	}
	rest[equations->reference] = 0;
	memcpy(direction, rest, nodes * sizeof(double));
	first = square = dot(rest, rest, nodes);
	for (size_t i = 0; i < 2 * nodes && square > first * 1e-24; i++) {
		double step, before = square, curve;

		multiply(equations, direction, product);
		curve = dot(direction, product, nodes);
		if (curve <= 0)
			return;
		step = square / curve;
		for (size_t k = 0; k < nodes; k++) {
			found[k] += step * direction[k];
			rest[k] -= step * product[k];
		}
		square = dot(rest, rest, nodes);
		for (size_t k = 0; k < nodes; k++)
			direction[k] = rest[k] + square / before * direction[k];
	}
}

/* Returns by how much the line of a pair exceeds the tree, at one end of the
 * interval. */
static double rest_of(const struct solution *solution,
		      const struct ncs_host_pair *pair, unsigned end)
{
	int64_t low_ns = solution->nodes[pair->low].off_ns[end];
	int64_t high_ns = solution->nodes[pair->high].off_ns[end];

	return (double)ncs_minus(difference(pair, solution->ends_ns[end],
					    low_ns),
				 ncs_minus(high_ns, low_ns));
}

/* Returns by how much a pair contradicts the tree beyond all errors. */
static double excess_of(const struct solution *solution,
			const struct ncs_host_pair *pair, double rest)
{
	return fabs(rest) - (double)pair->line.error_ns -
	       solution->nodes[pair->low].error_ns -
	       solution->nodes[pair->high].error_ns;
}

/* Sets up the equations. Returns how much loops fail to close by, beyond all
 * errors. */
static double set_equations(const struct solution *solution,
			    struct equations *equations, unsigned end)
{
	double worst = 0;

	equations->count = 0;
	for (size_t i = 0; i < solution->alignment->count; i++) {
		const struct ncs_host_pair *pair = solution->alignment->list[i];
		double error_ns = (double)pair->line.error_ns + 1;
		double rest;

		if (!pair->has_line || !solution->nodes[pair->low].is_known)
			continue;
		rest = rest_of(solution, pair, end);
		worst = fmax(worst, excess_of(solution, pair, rest));
		equations->list[equations->count++] =
			(struct equation){ pair->low, pair->high,
					   1 / (error_ns * error_ns), rest };
	}
	return worst;
}

/* Makes the lines agree at both ends of the interval. Returns 0 or -ENOMEM. */
static int close_loops(struct solution *solution,
		       struct ncs_alignment_quality *quality)
{
	size_t nodes = solution->alignment->nodes;
	struct equations equations = {
		.list = calloc(solution->alignment->count + 1,
			       sizeof(struct equation)),
		.nodes = nodes,
		.reference = solution->reference,
	};
	double *found = calloc(4 * nodes, sizeof(*found));
	bool failed = !equations.list || !found;
	double loop_ns = 0;

	for (unsigned end = 0; !failed && end < 2; end++) {
		loop_ns =
			fmax(loop_ns, set_equations(solution, &equations, end));
		least_squares(&equations, found, found + nodes);
		for (size_t i = 0; i < nodes; i++)
			solution->nodes[i].add_ns[end] = found[i];
	}
	quality->loop_ns = loop_ns < 1e18 ? (uint64_t)loop_ns : UINT64_MAX;
	free(equations.list);
	free(found);
	return failed ? -ENOMEM : 0;
}

/* --- Results -------------------------------------------------------------- */

static void set_aligned(const struct solution *solution, size_t host,
			struct ncs_aligned *aligned)
{
	const struct node *node = &solution->nodes[host];
	double length = (double)(solution->ends_ns[1] - solution->ends_ns[0]);
	int64_t from_ns = ncs_plus(node->off_ns[0], llround(node->add_ns[0]));
	int64_t until_ns = ncs_plus(node->off_ns[1], llround(node->add_ns[1]));
	double gained = (double)ncs_minus(until_ns, from_ns);
	double error_ns = node->error_ns +
			  fmax(fabs(node->add_ns[0]), fabs(node->add_ns[1]));

	*aligned = (struct ncs_aligned){
		.realtime_steps = solution->alignment->readings[host].steps,
	};
	if (!node->is_known)
		return;
	aligned->by = node->by_realtime ? NCS_ALIGNED_BY_REALTIME :
					  NCS_ALIGNED_BY_TRAFFIC;
	aligned->at_ns = solution->ends_ns[0] + (uint64_t)from_ns;
	aligned->offset_ns = ncs_minus(0, from_ns);
	aligned->drift = length + gained > 0 ? -gained / (length + gained) : 0;
	aligned->error_ns = error_ns < 1e18 ? (uint64_t)ceil(error_ns) :
					      UINT64_MAX;
}

static uint64_t facts_of(const struct ncs_pair_direction *direction)
{
	return direction->order.facts + direction->credit.facts;
}

static void count_facts(const struct solution *solution,
			struct ncs_aligned *aligned,
			struct ncs_alignment_quality *quality)
{
	const struct ncs_alignment *alignment = solution->alignment;

	for (size_t i = 0; i < alignment->count; i++) {
		const struct ncs_host_pair *pair = alignment->list[i];
		const struct ncs_clock_line *line = &pair->line;

		if (pair->high == alignment->hosts)
			continue;
		quality->pairs += pair->has_line;
		quality->one_way += !pair->has_line;
		for (unsigned k = 0; k < 2; k++) {
			struct ncs_aligned *one =
				&aligned[k == 0 ? pair->low : pair->high];

			one->facts += facts_of(&pair->most) +
				      facts_of(&pair->least);
			one->violations += line->violations;
			one->is_uneven |= line->is_uneven;
		}
	}
}

int ncs_alignment_solve(struct ncs_alignment *alignment, size_t reference,
			uint64_t from_ns, uint64_t until_ns,
			struct ncs_aligned *aligned,
			struct ncs_alignment_quality *quality)
{
	struct solution solution = {
		.alignment = alignment,
		.nodes = calloc(alignment->nodes, sizeof(struct node)),
		.reference = reference,
		.ends_ns = { from_ns,
			     until_ns > from_ns ? until_ns : from_ns + 1 },
	};
	int error = solution.nodes ? 0 : -ENOMEM;

	*quality = (struct ncs_alignment_quality){ 0 };
	if (!error) {
		find_about(&solution);
		error = solve_pairs(&solution);
	}
	if (!error) {
		find_tree(&solution);
		error = close_loops(&solution, quality);
	}
	for (size_t i = 0; !error && i < alignment->hosts; i++)
		set_aligned(&solution, i, &aligned[i]);
	if (!error)
		count_facts(&solution, aligned, quality);
	free(solution.nodes);
	return error;
}
