/* SPDX-License-Identifier: MIT */
/* Tests of the pass along the critical path. Its results are compared with
 * those of another way: the longest path of an explicit graph, and jobs
 * with the change made. */
#include <malloc.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/base/finding_numbers.h"
#include "analysis/base/value_names.h"
#include "analysis/path/critical_path.h"
#include "test/unit/support/simulator/sim_parts.h"
#include "test/unit/support/unit.h"

#define START_NS UINT64_C(1000000000)
#define SUMS (1 + NCS_SCENARIOS_MAX)

/* --- Small jobs of any kind ----------------------------------------------- */

#define RANKS 5
#define COMMS 2
#define OPERATIONS 14
#define PARTS (OPERATIONS * RANKS)

struct small_job {
	uint64_t seed;
	unsigned ranks;
	unsigned comms;
	size_t count;
	struct ncs_joined joined[OPERATIONS];
	struct ncs_part parts[PARTS];
	struct ncs_part_times part_times[PARTS];
	size_t part_count;
	struct ncs_path_owner owners[RANKS * COMMS];
	/* By part, from find_all_gaps(). */
	size_t order[PARTS]; /* in which the pass comes to them */
	double gap_ns[PARTS][4];
	double host_ns[PARTS];
	bool is_next_call[PARTS];
};

static uint64_t draw(struct small_job *job, uint64_t below)
{
	uint64_t x = job->seed += UINT64_C(0x9e3779b97f4a7c15);

	x = (x ^ x >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
	x = (x ^ x >> 27) * UINT64_C(0x94d049bb133111eb);
	return (x ^ x >> 31) % below;
}

/* Operations end halfway between the times at which others arrive: what comes
 * first is certain, and some follow one another as closely as if queued. */
#define UNIT_NS UINT64_C(60000)

/* Draws a time that no other event has, so that it is certain which operation
 * ended last. */
static uint64_t draw_time(struct small_job *job, uint64_t from_ns,
			  uint64_t units)
{
	return (from_ns / UNIT_NS + 1 + draw(job, units)) * UNIT_NS +
	       draw(job, 1000);
}

static int by_first_end(const void *a, const void *b)
{
	const struct ncs_joined *first = a, *second = b;

	return (first->first_end_ns > second->first_end_ns) -
	       (first->first_end_ns < second->first_end_ns);
}

static void make_operation(struct small_job *job, struct ncs_joined *joined,
			   uint64_t owner_free_ns[RANKS * COMMS])
{
	static const unsigned functions[] = { NCS_FUNCTION_ALL_REDUCE,
					      NCS_FUNCTION_ALL_REDUCE,
					      NCS_FUNCTION_BROADCAST,
					      NCS_FUNCTION_REDUCE };
	unsigned comm = (unsigned)draw(job, job->comms);
	unsigned count = 2 + (unsigned)draw(job, job->ranks - 1), root;
	bool is_usual = draw(job, 2) != 0;
	struct ncs_part *parts = &job->parts[job->part_count];
	uint64_t all_ns = 0, root_ns;

	root = (unsigned)draw(job, count);
	*joined = (struct ncs_joined){
		.comm_id = 1 + comm,
		.function = (uint8_t)functions[draw(job, 4)],
		.is_complete = draw(job, 8) != 0,
		.arrival = NCS_MOMENT_KERNEL,
		.end = NCS_MOMENT_STREAM_END,
		.end_is_trusted = true,
		.first_end_ns = UINT64_MAX,
		.count = count,
		.parts = parts,
	};
	if (is_usual)
		joined->function = NCS_FUNCTION_ALL_REDUCE;
	joined->wait_rule = ncs_wait_rule_of(joined->function);
	if (!is_usual && draw(job, 10) == 0)
		joined->wait_rule = NCS_WAIT_FOR_NONE;
	job->part_count += count;
	for (unsigned i = 0; i < count; i++) {
		struct ncs_part *part = &parts[i];
		uint64_t *at_ns = part->at_ns;

		*part = (struct ncs_part){ .rank = (int32_t)i,
					   .owner = comm * RANKS + i,
					   .function = joined->function,
					   .peer = (int32_t)root,
					   .bytes = 1 << 20 };
		at_ns[NCS_MOMENT_KERNEL] = draw_time(job,
						     owner_free_ns[part->owner],
						     draw(job, 3) ? 100 : 1);
		at_ns[NCS_MOMENT_OPERATION] =
			at_ns[NCS_MOMENT_KERNEL] - draw(job, 120) * UNIT_NS;
		at_ns[NCS_MOMENT_CALL] =
			draw(job, 8) ? at_ns[NCS_MOMENT_OPERATION] -
					       draw(job, 90) * UNIT_NS :
				       0;
		if (at_ns[NCS_MOMENT_KERNEL] > all_ns)
			all_ns = at_ns[NCS_MOMENT_KERNEL];
	}
	root_ns = parts[root].at_ns[NCS_MOMENT_KERNEL];
	for (unsigned i = 0; i < count; i++) {
		uint64_t ready_ns = parts[i].at_ns[NCS_MOMENT_KERNEL];

		if (joined->wait_rule == NCS_WAIT_FOR_ALL ||
		    (joined->wait_rule == NCS_WAIT_FOR_LEAVES && i == root))
			ready_ns = all_ns;
		if (joined->wait_rule == NCS_WAIT_FOR_ROOT &&
		    root_ns > ready_ns)
			ready_ns = root_ns;
		parts[i].at_ns[NCS_MOMENT_STREAM_END] =
			draw_time(job, ready_ns, 80) + UNIT_NS / 2;
		owner_free_ns[parts[i].owner] =
			parts[i].at_ns[NCS_MOMENT_STREAM_END];
		if (parts[i].at_ns[NCS_MOMENT_STREAM_END] <
		    joined->first_end_ns)
			joined->first_end_ns =
				parts[i].at_ns[NCS_MOMENT_STREAM_END];
	}
	joined->turn_ns = joined->first_end_ns;
}

static void make_small(struct small_job *job, uint64_t seed)
{
	uint64_t owner_free_ns[RANKS * COMMS];

	memset(job, 0, sizeof(*job));
	job->seed = seed;
	job->comms = seed % 3 == 0 ? 1 : COMMS;
	job->ranks = 2 + (unsigned)draw(job, RANKS - 1);
	job->count = 1 + draw(job, OPERATIONS);
	for (unsigned i = 0; i < RANKS * COMMS; i++) {
		job->owners[i] = (struct ncs_path_owner){ i % RANKS, 0 };
		owner_free_ns[i] = START_NS;
	}
	for (size_t i = 0; i < job->count; i++)
		make_operation(job, &job->joined[i], owner_free_ns);
	qsort(job->joined, job->count, sizeof(job->joined[0]), by_first_end);
}

static void make_part_times(struct small_job *job)
{
	for (size_t i = 0; i < job->count; i++) {
		struct ncs_joined *joined = &job->joined[i];
		struct ncs_part_times *times =
			&job->part_times[joined->parts - job->parts];

		joined->part_times = times;
		for (size_t k = 0; k < joined->count; k++)
			ncs_part_times_make(&times[k], joined,
					    &joined->parts[k]);
	}
}

/* --- The longest path of an explicit graph -------------------------------- */

/* Nodes: arrivals are even, ends are odd; the last one is the beginning. */
#define BEGINNING (2 * PARTS)
#define EDGES (PARTS * (RANKS + 4))

struct path_edge {
	size_t from, to;
	double gap_ns[4];
	double transfer_ns;
	double offset_ns; /* from the beginning */
};

struct path_graph {
	const struct small_job *job;
	struct path_edge edges[EDGES];
	size_t edge_count;
	double times_ns[BEGINNING + 1];
	const struct path_edge *why[BEGINNING + 1]; /* last edge of each path */
};

static double rel(uint64_t ns)
{
	return (double)(int64_t)(ns - START_NS);
}

static double arrival(const struct ncs_part *part)
{
	return rel(part->at_ns[NCS_MOMENT_KERNEL]);
}

static double ended(const struct ncs_part *part)
{
	return rel(part->at_ns[NCS_MOMENT_STREAM_END]);
}

static double called(const struct ncs_part *part)
{
	uint64_t call_ns = part->at_ns[NCS_MOMENT_CALL];

	return rel(call_ns ? call_ns : part->at_ns[NCS_MOMENT_OPERATION]);
}

static struct path_edge *edge(struct path_graph *graph, size_t from, size_t to)
{
	struct path_edge *added = &graph->edges[graph->edge_count++];

	assert_true(graph->edge_count <= EDGES);
	*added = (struct path_edge){ .from = from, .to = to };
	return added;
}

/* Returns the part of the rank that ended last by `until_ns`; with
 * `same_owner`, only parts of its communicator count. */
static const struct ncs_part *last_before(const struct small_job *job,
					  const struct ncs_part *part,
					  bool same_owner, double until_ns)
{
	const struct ncs_part *found = NULL;

	for (size_t i = 0; i < job->part_count; i++) {
		const struct ncs_part *other = &job->parts[i];

		if (other->owner % RANKS == part->owner % RANKS &&
		    (!same_owner || other->owner == part->owner) &&
		    ended(other) <= until_ns &&
		    (!found || ended(other) > ended(found)))
			found = other;
	}
	return found;
}

/* Returns whether a part was launched behind an earlier one that ended right
 * before it began. */
static bool is_behind(const struct ncs_part *part,
		      const struct ncs_part *earlier)
{
	return rel(part->at_ns[NCS_MOMENT_OPERATION]) < ended(earlier) &&
	       arrival(part) - ended(earlier) <= 50000;
}

/* Returns the part that an arrival follows. */
static const struct ncs_part *predecessor(const struct small_job *job,
					  const struct ncs_part *part)
{
	const struct ncs_part *own =
		last_before(job, part, true, arrival(part));

	return own && is_behind(part, own) ?
		       own :
		       last_before(job, part, false, arrival(part));
}

/* Finds the gaps before an arrival, as recorded. */
static void find_gaps(const struct small_job *job, const struct ncs_part *part,
		      double gap_ns[4])
{
	const struct ncs_part *after = predecessor(job, part);
	double from = after ? ended(after) : called(part);
	double begin = rel(part->at_ns[NCS_MOMENT_OPERATION]);
	double least = (double)NCS_LAUNCH_NS, rest;
	double host_until = fmax(from, called(part));
	double launch_until = fmax(host_until, begin);

	/* The shortest time that a kernel of this communicator took so far. */
	for (size_t i = 0; i < job->part_count; i++) {
		const struct ncs_part *other = &job->parts[i];
		const struct ncs_part *its = predecessor(job, other);
		double could = fmax(rel(other->at_ns[NCS_MOMENT_OPERATION]),
				    its ? ended(its) : called(other));

		if (other->owner == part->owner &&
		    arrival(other) <= arrival(part))
			least = fmin(least, arrival(other) - could);
	}
	rest = arrival(part) - launch_until;
	gap_ns[0] = host_until - from;
	gap_ns[1] = launch_until - host_until;
	gap_ns[2] = 0;
	gap_ns[3] = rest - fmin(least, rest);
	gap_ns[called(part) >= from || begin > from ? 1 : 2] +=
		fmin(least, rest);
}

/* Returns when the pass comes to a part: at the first end of the parts that need
 * it. */
static uint64_t turn_ns(const struct ncs_joined *joined,
			const struct ncs_part *part)
{
	uint64_t end_ns = part->at_ns[NCS_MOMENT_STREAM_END], root_ns;

	if (joined->wait_rule == NCS_WAIT_FOR_ALL ||
	    (joined->wait_rule == NCS_WAIT_FOR_ROOT &&
	     ncs_joined_is_root(joined, part)))
		return joined->first_end_ns;
	if (joined->wait_rule == NCS_WAIT_FOR_LEAVES &&
	    !ncs_joined_is_root(joined, part)) {
		root_ns = joined->parts[joined->parts[0].peer]
				  .at_ns[NCS_MOMENT_STREAM_END];
		return end_ns < root_ns ? end_ns : root_ns;
	}
	return end_ns;
}

static void find_order(struct small_job *job)
{
	uint64_t turns_ns[PARTS];

	for (size_t i = 0; i < job->count; i++)
		for (size_t k = 0; k < job->joined[i].count; k++) {
			const struct ncs_part *part = &job->joined[i].parts[k];

			turns_ns[part - job->parts] =
				turn_ns(&job->joined[i], part);
		}
	for (size_t i = 0; i < job->part_count; i++) {
		size_t place = i;

		for (;
		     place > 0 && turns_ns[job->order[place - 1]] > turns_ns[i];
		     place--)
			job->order[place] = job->order[place - 1];
		job->order[place] = i;
	}
}

/* Finds what the hosts took before their calls, and whose time before an arrival
 * is not known because it was queued. */
static void find_hosts(struct small_job *job)
{
	double calls_ns[RANKS * COMMS];

	for (size_t i = 0; i < RANKS * COMMS; i++)
		calls_ns[i] = -INFINITY;
	for (size_t i = 0; i < job->part_count; i++) {
		size_t at = job->order[i];
		const struct ncs_part *part = &job->parts[at];
		const struct ncs_part *after = predecessor(job, part);
		const struct ncs_part *host =
			last_before(job, part, false, called(part));
		double *call_ns = &calls_ns[part->owner];
		double call = called(part), since = call;

		if (after)
			since = ended(after);
		if (after && call < ended(after) && host)
			since = ended(host);
		job->is_next_call[at] = *call_ns <= call &&
					(*call_ns > since || since > call);
		job->host_ns[at] = fmax(
			call - (job->is_next_call[at] ? *call_ns : since), 0);
		*call_ns = fmax(*call_ns, call);
	}
}

static void find_all_gaps(struct small_job *job)
{
	for (size_t i = 0; i < job->part_count; i++)
		find_gaps(job, &job->parts[i], job->gap_ns[i]);
	find_order(job);
	find_hosts(job);
}

/* A third of the parts were called in the range, whatever its name is. */
static bool is_in_range(const void *context, const struct ncs_part *part,
			const char *path)
{
	(void)context;
	(void)path;
	return part->at_ns[NCS_MOMENT_STREAM_END] % 3 == 0;
}

static bool is_meant(const struct ncs_scenario *scenario,
		     const struct ncs_part *part)
{
	if (scenario->rank >= 0 &&
	    (int32_t)(part->owner % RANKS) != scenario->rank)
		return false;
	return !scenario->range || is_in_range(NULL, part, scenario->range);
}

static const struct ncs_joined *joined_of(const struct small_job *job,
					  const struct ncs_part *part)
{
	size_t k = 0;

	while (part < job->joined[k].parts ||
	       part >= job->joined[k].parts + job->joined[k].count)
		k++;
	return &job->joined[k];
}

/* Changes the gaps before an arrival. */
static void change_gaps(const struct ncs_part *part,
			const struct ncs_scenario *scenario, double gap_ns[4])
{
	if (!is_meant(scenario, part))
		return;
	switch (scenario->kind) {
	case NCS_WHAT_IF_HOST:
		gap_ns[0] *= scenario->factor;
		break;
	case NCS_WHAT_IF_LAUNCH:
		gap_ns[1] *= scenario->factor;
		break;
	case NCS_WHAT_IF_STREAM:
		gap_ns[3] *= scenario->factor;
		break;
	case NCS_WHAT_IF_OVERLAP:
		gap_ns[3] = 0;
		break;
	default:
		break;
	}
}

/* Finds how much earlier the call of each part comes if hosts are faster, in the
 * order of the pass. */
static void find_savings(const struct small_job *job,
			 const struct ncs_scenario *scenario,
			 double saved_ns[PARTS])
{
	double latest[RANKS * COMMS] = { 0 };

	for (size_t i = 0; i < job->part_count; i++) {
		size_t at = job->order[i];
		const struct ncs_part *part = &job->parts[at];
		double *saved = &latest[part->owner];

		if (!job->is_next_call[at])
			*saved = 0;
		if (is_meant(scenario, part) &&
		    scenario->kind == NCS_WHAT_IF_HOST)
			*saved += job->host_ns[at] * (1 - scenario->factor);
		saved_ns[at] = *saved;
	}
}

static double changed_transfer(const struct ncs_scenario *scenario,
			       const struct ncs_fits *fits, double ns)
{
	double alpha = fmin(ns, fits->fits[0].alpha_ns);

	if (scenario->kind != NCS_WHAT_IF_NET)
		return ns;
	return alpha + (ns - alpha) * scenario->factor;
}

static void add_part(struct path_graph *graph, const struct ncs_joined *joined,
		     const struct ncs_part *part,
		     const struct ncs_scenario *scenario, double saved_ns,
		     const struct ncs_fits *fits)
{
	const struct small_job *job = graph->job;
	size_t place = 2 * (size_t)(part - job->parts);
	const struct ncs_part *after = predecessor(job, part);
	const struct ncs_part *queued =
		last_before(job, part, true, arrival(part));
	const struct ncs_part *host =
		last_before(job, part, false, called(part));
	bool is_root = ncs_joined_is_root(joined, part);
	double gap_ns[4], ready = arrival(part), transfer;
	struct path_edge *way;

	memcpy(gap_ns, job->gap_ns[part - job->parts], sizeof(gap_ns));
	change_gaps(part, scenario, gap_ns);
	way = edge(graph,
		   after ? 2 * (size_t)(after - job->parts) + 1 : BEGINNING,
		   place);
	memcpy(way->gap_ns, gap_ns, sizeof(gap_ns));
	way->offset_ns = after ? 0 : called(part);
	if (after && host && called(part) < ended(after)) {
		way = edge(graph, 2 * (size_t)(host - job->parts) + 1, place);
		way->gap_ns[0] = called(part) - ended(host) - saved_ns;
	}
	if (queued)
		edge(graph, 2 * (size_t)(queued - job->parts) + 1, place);
	for (size_t i = 0; i < joined->count; i++) {
		const struct ncs_part *other = &joined->parts[i];

		if (other != part &&
		    ncs_is_waiting(joined->wait_rule, is_root) &&
		    ncs_is_awaited(joined->wait_rule,
				   ncs_joined_is_root(joined, other)))
			ready = fmax(ready, arrival(other));
	}
	transfer = changed_transfer(scenario, fits, ended(part) - ready);
	for (size_t i = 0; i < joined->count; i++) {
		const struct ncs_part *other = &joined->parts[i];

		if (other == part ||
		    (ncs_is_waiting(joined->wait_rule, is_root) &&
		     ncs_is_awaited(joined->wait_rule,
				    ncs_joined_is_root(joined, other))))
			edge(graph, 2 * (size_t)(other - job->parts), place + 1)
				->transfer_ns = transfer;
	}
}

static double weight(const struct path_edge *way)
{
	return way->offset_ns + way->gap_ns[0] + way->gap_ns[1] +
	       way->gap_ns[2] + way->gap_ns[3] + way->transfer_ns;
}

static void find_longest(struct path_graph *graph)
{
	bool changed = true;

	for (size_t i = 0; i < BEGINNING; i++)
		graph->times_ns[i] = -INFINITY;
	graph->times_ns[BEGINNING] = 0;
	while (changed) {
		changed = false;
		for (size_t i = 0; i < graph->edge_count; i++) {
			const struct path_edge *way = &graph->edges[i];
			double to = graph->times_ns[way->from] + weight(way);

			if (to <= graph->times_ns[way->to])
				continue;
			graph->times_ns[way->to] = to;
			graph->why[way->to] = way;
			changed = true;
		}
	}
}

static void build(struct path_graph *graph, const struct small_job *job,
		  const struct ncs_scenario *scenario,
		  const struct ncs_fits *fits)
{
	double saved_ns[PARTS];

	memset(graph, 0, sizeof(*graph));
	graph->job = job;
	find_savings(job, scenario, saved_ns);
	for (size_t i = 0; i < job->part_count; i++)
		add_part(graph, joined_of(job, &job->parts[i]), &job->parts[i],
			 scenario, saved_ns[i], fits);
	find_longest(graph);
}

/* --- The pass and the graph ----------------------------------------------- */

struct timed_parts {
	const struct small_job *job;
	double ends_ns[SUMS][PARTS];
};

static void note_timed(void *context, size_t run, const struct ncs_part *part,
		       uint64_t arrival_ns, uint64_t end_ns)
{
	struct timed_parts *timed = context;

	(void)arrival_ns;
	/* The part may be a copy: find it by its end, which no other has. */
	for (size_t i = 0; i < timed->job->part_count; i++)
		if (timed->job->parts[i].owner == part->owner &&
		    timed->job->parts[i].at_ns[NCS_MOMENT_STREAM_END] ==
			    part->at_ns[NCS_MOMENT_STREAM_END])
			timed->ends_ns[run][i] = rel(end_ns);
}

static const char *const specifications[] = {
	"net:x2",
	"net:x0.5",
	"stream:0.5",
	"host:0.25",
	"launch:0.5",
	"overlap",
	"stream:3@rank=1",
	"stream:0.25@range=a",
	"launch:2@range=a",
	"host:0.5@rank=1@range=a",
};

#define SCENARIOS (sizeof(specifications) / sizeof(specifications[0]))
#define SIMPLE_SCENARIOS 8u /* the first scenarios do not need all parts */

static void parse(struct ncs_scenario *scenarios)
{
	char error[256];

	for (size_t i = 0; i < SCENARIOS; i++)
		if (!ncs_scenario_parse(&scenarios[i], specifications[i], error,
					sizeof(error)))
			fail_msg("%s", error);
}

static void check_sum(const struct path_graph *graph,
		      const struct ncs_path_sum *sum, double first_ns,
		      uint64_t seed, size_t k)
{
	double causes[NCS_PATH_CAUSE_COUNT] = { 0 }, last = -INFINITY;
	size_t at = BEGINNING;

	for (size_t i = 1; i < 2 * graph->job->part_count; i += 2)
		if (graph->times_ns[i] > last) {
			last = graph->times_ns[i];
			at = i;
		}
	if (!sum->scenario || sum->scenario->kind != NCS_WHAT_IF_OVERLAP)
		if (fabs(sum->elapsed_ns - (last - first_ns)) > 1)
			fail_msg("seed %lu, scenario %zu: %f, not %f", seed, k,
				 sum->elapsed_ns, last - first_ns);
	while (at != BEGINNING) {
		const struct path_edge *why = graph->why[at];

		for (unsigned i = 0; i < 4; i++)
			causes[i] += why->gap_ns[i];
		causes[NCS_PATH_TRANSFER] += why->transfer_ns;
		if (why->from == BEGINNING)
			causes[NCS_PATH_START] = why->offset_ns - first_ns;
		at = why->from;
	}
	for (unsigned i = 0; i < NCS_PATH_CAUSE_COUNT; i++)
		if (fabs(causes[i] - sum->cause_ns[i]) > 1)
			fail_msg("seed %lu, scenario %zu: %s %f, not %f", seed,
				 k, ncs_path_cause_name(i), sum->cause_ns[i],
				 causes[i]);
}

TEST(the_pass_finds_the_longest_path)
{
	static struct small_job job;
	static struct path_graph graph;
	static struct timed_parts timed;
	static const struct ncs_scenario nothing = { .rank = -1, .factor = 1 };
	struct ncs_scenario scenarios[SCENARIOS];
	struct ncs_fit fit = { .alpha_ns = 20000, .beta_ns = 1 };

	parse(scenarios);
	for (uint64_t seed = 1; seed <= 1000; seed++) {
		bool has_times = seed & 1, is_joined = seed & 2;
		static const size_t counts[] = { SCENARIOS, SIMPLE_SCENARIOS,
						 SIMPLE_SCENARIOS, 0 };
		struct ncs_fits fits = { .fits = &fit, .count = 1 };
		struct ncs_path_options options = {
			.owners = job.owners,
			.rank_count = RANKS * COMMS,
			.scenarios = scenarios,
			.scenario_count = counts[seed / 4 % 4],
			.fits = &fits,
			.is_in_range = is_in_range,
			.timed = has_times ? note_timed : NULL,
			.context = &timed,
		};
		const struct ncs_path_report *report;
		struct ncs_path *path;

		make_small(&job, seed);
		if (is_joined)
			make_part_times(&job);
		find_all_gaps(&job);
		timed.job = &job;
		options.owner_count = RANKS * job.comms;
		path = ncs_path_new(&options);
		assert_non_null(path);
		for (size_t i = 0; i < job.count; i++) {
			/* Every communicator has this fit. */
			fit.comm_id = job.joined[i].comm_id;
			fit.function = job.joined[i].function;
			assert_int_equal(ncs_path_add(path, &job.joined[i],
						      true, NCS_NO_STEP),
					 0);
		}
		assert_int_equal(ncs_path_end(path), 0);
		report = ncs_path_report(path);
		assert_int_equal(report->forgotten, 0);
		assert_int_equal(report->breaks, 0);
		assert_int_equal(report->sum_count, 1 + options.scenario_count);
		for (size_t k = 0; k < report->sum_count; k++) {
			build(&graph, &job, k ? &scenarios[k - 1] : &nothing,
			      &fits);
			for (size_t i = 0; has_times && i < job.part_count; i++)
				if (fabs(timed.ends_ns[k][i] -
					 graph.times_ns[2 * i + 1]) > 1)
					fail_msg("seed %lu, scenario %zu, part"
						 " %zu: %f, not %f",
						 seed, k, i,
						 timed.ends_ns[k][i],
						 graph.times_ns[2 * i + 1]);
			check_sum(&graph, &report->sums[k],
				  report->first_ns - (double)START_NS, seed, k);
		}
		assert_true(fabs(report->sums[0].elapsed_ns -
				 report->measured_ns) < 1);
		ncs_path_free(path);
	}
}

/* --- Jobs with the change made -------------------------------------------- */

/* Owners are ranks in the communicator of all, and in smaller ones. */
#define OWNERS (2 * SIM_RANKS_MAX)

/* The operations of a job in the order of their first ends. */
struct recorded_job {
	struct sim_joined *operations;
	struct ncs_joined *joined;
	size_t count;
	struct ncs_path_owner owners[OWNERS];
	double elapsed_ns;
};

/* Makes the records those of kernels and proxies: nothing is timed on its
 * stream. */
static void take_stream_times(struct sim_joined *operation)
{
	operation->joined.arrival = NCS_MOMENT_KERNEL;
	operation->joined.end = NCS_MOMENT_LAST_END;
	for (size_t i = 0; i < operation->joined.count; i++) {
		uint64_t *at_ns = operation->parts[i].at_ns;

		at_ns[NCS_MOMENT_KERNEL] = at_ns[NCS_MOMENT_STREAM];
		at_ns[NCS_MOMENT_LAUNCH] = at_ns[NCS_MOMENT_STREAM] =
			at_ns[NCS_MOMENT_STREAM_END] = 0;
	}
}

static void record(struct recorded_job *recorded,
		   const struct sim_options *options)
{
	struct sim_parts *job = sim_parts_new(options);
	uint64_t first_ns = UINT64_MAX, last_ns = 0;

	*recorded = (struct recorded_job){ 0 };
	recorded->operations =
		calloc(options->steps + 1, sizeof(*recorded->operations));
	recorded->joined = calloc(options->steps, sizeof(*recorded->joined));
	assert_non_null(recorded->operations);
	assert_non_null(recorded->joined);
	for (size_t at = 0, i = 0;
	     sim_parts_join(job, &at, &recorded->operations[i]); i++) {
		struct sim_joined *operation = &recorded->operations[i];

		take_stream_times(operation);
		for (size_t k = 0; k < operation->joined.count; k++) {
			struct ncs_part *part = &operation->parts[k];
			const uint64_t *at_ns = part->at_ns;

			if (at_ns[NCS_MOMENT_CALL] < first_ns)
				first_ns = at_ns[NCS_MOMENT_CALL];
			if (at_ns[NCS_MOMENT_LAST_END] > last_ns)
				last_ns = at_ns[NCS_MOMENT_LAST_END];
			if (part->nranks < (int)options->ranks)
				part->owner += options->ranks;
		}
		recorded->joined[i] = operation->joined;
		recorded->count++;
	}
	qsort(recorded->joined, recorded->count, sizeof(*recorded->joined),
	      by_first_end);
	recorded->elapsed_ns = (double)(last_ns - first_ns);
	for (unsigned i = 0; i < 2 * options->ranks; i++) {
		recorded->owners[i].rank = i % options->ranks;
		recorded->owners[i].host =
			i % options->ranks / options->ranks_per_host;
	}
	sim_parts_free(job);
}

static void release(struct recorded_job *recorded)
{
	free(recorded->operations);
	free(recorded->joined);
}

/* Runs the pass over a recorded job with one scenario, or none if NULL. */
static struct ncs_path_sum run_pass(const struct recorded_job *recorded,
				    const struct sim_options *options,
				    const char *specification,
				    struct ncs_path_report *report)
{
	struct ncs_scenario scenario;
	struct ncs_fits fits = { 0 };
	struct ncs_path_options path_options = {
		.owners = recorded->owners,
		.owner_count = 2 * options->ranks,
		.rank_count = options->ranks,
		.scenarios = &scenario,
		.scenario_count = specification != NULL,
		.fits = &fits,
	};
	struct ncs_path_sum sum;
	struct ncs_path *path;
	char error[256];

	if (specification &&
	    !ncs_scenario_parse(&scenario, specification, error, sizeof(error)))
		fail_msg("%s", error);
	for (size_t i = 0; i < recorded->count; i++)
		assert_int_equal(ncs_fits_add(&fits, &recorded->joined[i],
					      ncs_joined_moving_ns(
						      &recorded->joined[i])),
				 0);
	path = ncs_path_new(&path_options);
	assert_non_null(path);
	for (size_t i = 0; i < recorded->count; i++)
		assert_int_equal(ncs_path_add(path, &recorded->joined[i], true,
					      NCS_NO_STEP),
				 0);
	assert_int_equal(ncs_path_end(path), 0);
	*report = *ncs_path_report(path);
	sum = report->sums[specification != NULL];
	ncs_path_free(path);
	ncs_fits_release(&fits);
	assert_int_equal(report->forgotten, 0);
	assert_int_equal(report->breaks, 0);
	return sum;
}

static struct sim_options usual(void)
{
	struct sim_options options = sim_plain(SIM_SIZES, 1);

	options.ranks = 8;
	options.ranks_per_host = 4;
	options.steps = 400;
	options.ahead = 1;
	options.noise = 0.1;
	options.gap_ns = 60e3;
	options.launch_ns = 15e3;
	options.work_ns = 440e3;
	options.alpha_ns = 3e3;
	options.beta_ns = 0.02;
	options.beta_inter_node = 1;
	options.algorithm = NCS_ALGORITHM_RING;
	return options;
}

TEST(replay_without_changes_gives_recorded_time)
{
	struct sim_options options = usual();
	struct ncs_path_report report;
	struct recorded_job recorded;
	struct ncs_path_sum sum;
	double causes = 0;

	options.neighbours = 4;
	options.sends = true;
	options.ranks = 16;
	options.steps = 2000;
	record(&recorded, &options);
	sum = run_pass(&recorded, &options, NULL, &report);
	assert_true(fabs(report.measured_ns - recorded.elapsed_ns) < 2);
	assert_true(fabs(sum.elapsed_ns - report.measured_ns) < 2);
	for (unsigned i = 0; i < NCS_PATH_CAUSE_COUNT; i++)
		causes += sum.cause_ns[i];
	assert_true(fabs(causes - sum.elapsed_ns) < 10);
	release(&recorded);
}

struct job_change {
	const char *specification;
	/* Sets the options of the job before the change. */
	void (*prepare)(struct sim_options *options);
	/* Makes the change. */
	void (*make)(struct sim_options *options);
};

static void as_usual(struct sim_options *options)
{
	(void)options;
}

static void network_twice(struct sim_options *options)
{
	options->beta_ns /= 2;
}

static void network_half(struct sim_options *options)
{
	options->beta_ns *= 2;
}

static void slow_between_hosts(struct sim_options *options)
{
	options->beta_inter_node = 3;
	options->neighbours = 4;
}

static void fast_between_hosts(struct sim_options *options)
{
	options->beta_inter_node = 1.5;
}

static void less_latency(struct sim_options *options)
{
	options->alpha_ns -= 2000;
}

static void slow_rank(struct sim_options *options)
{
	options->fault = SIM_GPU;
	options->victim = 5;
	options->fault_size = 2;
}

static void no_slow_rank(struct sim_options *options)
{
	options->fault = SIM_HEALTHY;
}

static void half_producer(struct sim_options *options)
{
	options->work_ns /= 2;
}

/* Each call follows the end of the operation before it. */
static void synchronous(struct sim_options *options)
{
	options->ahead = 0;
	options->work_ns = 0;
}

static void half_host(struct sim_options *options)
{
	options->gap_ns /= 2;
}

static void half_launch(struct sim_options *options)
{
	options->launch_ns /= 2;
}

static void both_algorithms(struct sim_options *options)
{
	options->algorithm = NCS_ALGORITHM_UNKNOWN;
	options->ranks = 16;
}

static void ring_only(struct sim_options *options)
{
	options->algorithm = NCS_ALGORITHM_RING;
}

static void tree_only(struct sim_options *options)
{
	options->algorithm = NCS_ALGORITHM_TREE;
}

static const struct job_change changes[] = {
	{ "net:x2", as_usual, network_twice },
	{ "net:x0.5", as_usual, network_half },
	{ "net:x2", synchronous, network_twice },
	{ "net:x2@inter-node", slow_between_hosts, fast_between_hosts },
	{ "latency:-2us", as_usual, less_latency },
	{ "stream:0.5", as_usual, half_producer },
	{ "stream:0.5@rank=5", slow_rank, no_slow_rank },
	{ "host:0.5", synchronous, half_host },
	{ "launch:0.5", synchronous, half_launch },
	{ "algorithm:ring", both_algorithms, ring_only },
	{ "algorithm:tree", both_algorithms, tree_only },
};

TEST(prediction_matches_job_with_change_made)
{
	for (size_t i = 0; i < sizeof(changes) / sizeof(changes[0]); i++) {
		const struct job_change *change = &changes[i];
		struct sim_options options = usual();
		struct recorded_job before, after;
		struct ncs_path_report report;
		struct ncs_path_sum sum;
		double error;

		change->prepare(&options);
		record(&before, &options);
		change->make(&options);
		record(&after, &options);
		sum = run_pass(&before, &options, change->specification,
			       &report);
		error = sum.elapsed_ns / after.elapsed_ns - 1;
		print_message("%-20s %9.0f us, predicted %9.0f, real %9.0f:"
			      " error %5.2f %%\n",
			      change->specification, before.elapsed_ns / 1e3,
			      sum.elapsed_ns / 1e3, after.elapsed_ns / 1e3,
			      100 * error);
		/* A change without effect would prove nothing. */
		assert_true(fabs(after.elapsed_ns / before.elapsed_ns - 1) >
			    0.02);
		assert_true(fabs(error) < 0.02);
		assert_true(sum.unknown_ns <= 1e-3 * sum.elapsed_ns);
		release(&before);
		release(&after);
	}
}

/* Sets the clock of a rank ahead: the others then end before it is seen to
 * arrive, and go on to their next operation. */
static void set_ahead(struct recorded_job *recorded, int32_t rank,
		      uint64_t ahead_ns)
{
	for (size_t i = 0; i < recorded->count; i++)
		for (size_t k = 0; k < recorded->joined[i].count; k++) {
			struct ncs_part *part =
				(void *)(uintptr_t)&recorded->joined[i].parts[k];

			if (part->rank != rank)
				continue;
			for (unsigned m = 0; m < NCS_MOMENT_COUNT; m++)
				if (part->at_ns[m] != 0)
					part->at_ns[m] += ahead_ns;
		}
}

/* Notes all ends too late, as NCCL reports them, so that what follows an operation
 * arrives before its end. */
static void note_ends_late(struct recorded_job *recorded, uint64_t late_ns)
{
	for (size_t i = 0; i < recorded->count; i++) {
		struct ncs_joined *joined = &recorded->joined[i];

		for (size_t k = 0; k < joined->count; k++) {
			struct ncs_part *part =
				(void *)(uintptr_t)&joined->parts[k];

			part->at_ns[NCS_MOMENT_LAST_END] =
				ncs_joined_end_ns(joined, part) + late_ns;
		}
		joined->end = NCS_MOMENT_LAST_END;
	}
}

/* Fails unless the time in a run of the pass is the sum of its causes. */
static void check_causes(const struct recorded_job *recorded,
			 const struct sim_options *options, const char *change)
{
	struct ncs_path_report report;
	struct ncs_path_sum sum = run_pass(recorded, options, change, &report);
	double sum_ns = 0;

	for (unsigned k = 0; k < NCS_PATH_CAUSE_COUNT; k++)
		sum_ns += sum.cause_ns[k];
	if (fabs(sum_ns - sum.elapsed_ns) > 1)
		fail_msg("%s: %f is not %f ms", change ? change : "no change",
			 sum_ns / 1e6, sum.elapsed_ns / 1e6);
}

TEST(time_with_a_change_is_the_sum_of_its_causes)
{
	static const char *const made[] = { NULL, "latency:-500us", "net:x50",
					    "launch:0.1" };
	struct sim_options options = usual();
	struct recorded_job recorded;

	options.steps = 100;
	record(&recorded, &options);
	note_ends_late(&recorded, 400000);
	for (size_t i = 0; i < sizeof(made) / sizeof(made[0]); i++)
		check_causes(&recorded, &options, made[i]);
	/* A clock that jumps: all go on before this rank is seen to arrive. */
	for (size_t i = 0; i < recorded.count; i += 7)
		set_ahead(&(struct recorded_job){ .joined = &recorded.joined[i],
						  .count = 1 },
			  2, 700000);
	for (size_t i = 0; i < sizeof(made) / sizeof(made[0]); i++)
		check_causes(&recorded, &options, made[i]);
	release(&recorded);
}

TEST(what_is_not_known_is_told)
{
	struct sim_options options = usual();
	struct ncs_path_report report;
	struct recorded_job recorded;
	struct ncs_path_sum sum;

	options.steps = 100;
	record(&recorded, &options);
	for (size_t i = 0; i < 2; i++) {
		recorded.joined[i].end_is_trusted = false;
		recorded.joined[10 + i].is_complete = i < 1;
		recorded.joined[10 + i].is_whole = false;
	}
	sum = run_pass(&recorded, &options, "net:x2", &report);
	assert_int_equal(report.trust.arrivals[NCS_MOMENT_KERNEL], 100);
	assert_int_equal(report.trust.endless, 2);
	assert_int_equal(report.trust.unrecorded, 1);
	assert_int_equal(report.trust.incomplete, 1);
	assert_true(sum.is_known);
	assert_true(sum.unknown_ns > 0.01 * sum.elapsed_ns);
	assert_int_equal(report.trust.unseen, 0);
	/* Operations without records take a time that is not known. */
	for (size_t i = 0; i < recorded.count; i++)
		recorded.joined[i].number *= 3;
	sum = run_pass(&recorded, &options, "net:x2", &report);
	assert_int_equal(report.trust.unseen, 2 * 99);
	assert_false(sum.is_known);
	/* If the host's launches are all there is, nothing is known. */
	for (size_t i = 0; i < recorded.count; i++)
		recorded.joined[i].arrival = NCS_MOMENT_OPERATION;
	sum = run_pass(&recorded, &options, "net:x2", &report);
	assert_int_equal(report.trust.arrivals[NCS_MOMENT_OPERATION], 100);
	assert_false(sum.is_known);
	assert_true(sum.unknown_ns > 0.9 * sum.elapsed_ns);
	release(&recorded);
}

/* All operations but the last seem to end in its midst, of which only the host's
 * launch is known: nothing is known to come before it, yet it is not the beginning
 * of the job. */
TEST(time_before_a_path_that_breaks_off_is_unknown)
{
	struct sim_options options = usual();
	struct ncs_path_report report;
	struct recorded_job recorded;
	struct ncs_joined *last;
	struct ncs_path_sum sum;
	uint64_t at_ns = 0;

	options.steps = 6;
	record(&recorded, &options);
	sum = run_pass(&recorded, &options, NULL, &report);
	assert_true(sum.unknown_ns < 0.01 * sum.elapsed_ns);
	last = &recorded.joined[recorded.count - 1];
	last->arrival = NCS_MOMENT_OPERATION;
	for (size_t i = 0; i < last->count; i++)
		if (ncs_joined_arrival_ns(last, &last->parts[i]) > at_ns)
			at_ns = ncs_joined_arrival_ns(last, &last->parts[i]);
	at_ns += (last->first_end_ns - at_ns) / 2;
	for (size_t i = 0; i + 1 < recorded.count; i++) {
		struct ncs_joined *joined = &recorded.joined[i];

		for (size_t k = 0; k < joined->count; k++) {
			union {
				const struct ncs_part *read;
				struct ncs_part *write;
			} part = { &joined->parts[k] };

			part.write->at_ns[joined->end] = at_ns;
		}
		joined->first_end_ns = joined->turn_ns = at_ns;
	}
	sum = run_pass(&recorded, &options, NULL, &report);
	assert_true(sum.cause_ns[NCS_PATH_START] > 0.5 * sum.elapsed_ns);
	assert_true(sum.unknown_ns >= sum.cause_ns[NCS_PATH_START]);
	assert_false(sum.is_known);
	release(&recorded);
}

/* --- Times that may be any value ------------------------------------------ */

/* This many ns after the first operation, a time in a double has no room for a
 * single ns. */
#define FAR_NS (UINT64_C(1) << 56)
#define MS UINT64_C(1000000)

/* A transfer from one of two ranks to the other. Both ends arrive and end
 * together. */
static void add_transfer(struct ncs_path *path, unsigned sender,
			 uint32_t operation, uint64_t arrival_ns,
			 uint64_t end_ns)
{
	struct ncs_part parts[2];
	struct ncs_joined joined = {
		.comm_id = 1,
		.function = NCS_FUNCTION_SEND_RECV,
		.number = operation,
		.is_complete = true,
		.is_whole = true,
		.wait_rule = NCS_WAIT_FOR_ALL,
		.arrival = NCS_MOMENT_STREAM,
		.end = NCS_MOMENT_STREAM_END,
		.end_is_trusted = true,
		.first_end_ns = end_ns,
		.turn_ns = end_ns,
		.count = 2,
		.parts = parts,
	};

	for (unsigned i = 0; i < 2; i++) {
		unsigned rank = i == 0 ? sender : 1 - sender;

		parts[i] = (struct ncs_part){
			.comm_id = 1,
			.rank = (int32_t)rank,
			.nranks = 2,
			.owner = rank,
			.peer = 1 - (int32_t)rank,
			.function = i == 0 ? NCS_FUNCTION_SEND :
					     NCS_FUNCTION_RECV,
			.flags = NCS_PART_P2P,
			.operation = operation,
			.bytes = 1 << 20,
		};
		parts[i].at_ns[NCS_MOMENT_OPERATION] = arrival_ns;
		parts[i].at_ns[NCS_MOMENT_STREAM] = arrival_ns;
		parts[i].at_ns[NCS_MOMENT_STREAM_END] = end_ns;
		parts[i].at_ns[NCS_MOMENT_LAST_END] = end_ns;
	}
	assert_int_equal(ncs_path_add(path, &joined, true, NCS_NO_STEP), 0);
}

TEST(sends_that_are_skipped_come_to_an_end_at_any_time)
{
	static const struct ncs_path_owner owners[] = { { 0, 0 }, { 1, 1 } };
	struct ncs_path_line ranks[2] = { { 0 } };
	struct ncs_path_lines lines = { .ranks = ranks };
	struct ncs_path *path = ncs_path_new(&(struct ncs_path_options){
		.owners = owners,
		.owner_count = 2,
		.rank_count = 2,
		.lines = &lines,
		.learns = true,
	});

	assert_non_null(path);
	add_transfer(path, 0, 1, MS, 2 * MS);
	/* A receive while a send goes on: ranks go on while they send. */
	add_transfer(path, 1, 3, FAR_NS + 1 * MS, FAR_NS + 2 * MS);
	add_transfer(path, 0, 2, FAR_NS, FAR_NS + 10 * MS);
	assert_true(lines.sends_overlap);
	/* A send and a receive at once: both follow what was before. */
	add_transfer(path, 0, 4, FAR_NS + 20 * MS, FAR_NS + 40 * MS);
	add_transfer(path, 1, 5, FAR_NS + 20 * MS, FAR_NS + 50 * MS);
	assert_int_equal(ncs_path_end(path), 0);
	assert_int_equal(ncs_path_report(path)->operations, 5);
	ncs_path_free(path);
}

int main(void)
{
	/* Large allocations come zeroed from mmap(): small jobs use little of
	 * them. */
	mallopt(M_MMAP_THRESHOLD, 1 << 20);
	return unit_run();
}
