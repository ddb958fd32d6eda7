/* SPDX-License-Identifier: MIT */
/* The forward pass; see critical_path.h.
 *
 * An operation is dealt with where its first part ended: all operations that
 * one of its arrivals follows on have ended before, so that they were dealt with
 * already. Of one in which not everybody waits for everybody, a part by itself
 * is dealt with where the first of those ends that need it.
 *
 * There are two ways to look at an operation's parts: rank by rank, which does
 * for all there is, and for ranks that keep step, in columns
 * (analysis/path/path_lockstep.h), in a third of the time. A rank goes from one to
 * the other at any time. Both say the same to the last bit, as they compute
 * with analysis/path/path_times.h, and as what the columns kept is entered into each
 * rank before it is looked at by itself (save()).
 */
#include "analysis/path/critical_path.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/base/selection.h"
#include "analysis/path/path_lockstep.h"
#include "analysis/path/path_nodes.h"
#include "analysis/path/path_times.h"

/* Ends that are remembered of a rank whose operations run side by side. */
#define ENDS_MAX 1024u

/* A kernel begins so long after it can at the most, or its GPU has other work. */
#define KERNEL_NS 20000.0

const char *ncs_path_cause_name(unsigned cause)
{
	static const char *const names[] = {
#define X(ID, name, help) name,
		NCS_PATH_CAUSES(X)
#undef X
	};

	return cause < NCS_PATH_CAUSE_COUNT ? names[cause] : "unknown";
}

/* An operation of a rank that has ended: when, in each scenario, and how long
 * its transfer was there. */
struct ended {
	double at_ns; /* as recorded */
	uint64_t unit;
	uint64_t unknown; /* bits: scenarios */
	uint32_t owner;
	struct ncs_last_channel last_channel;
	double times_ns[]; /* ends, then transfers */
};

/* A rank of the job. */
struct rank {
	double latest_ns; /* as recorded; what is at the place below */
	uint32_t latest;
	uint32_t count, capacity;
	bool has_several; /* communicators */
	bool overlaps;    /* its operations run side by side */
	bool forgets;     /* has had more ends than are remembered */
	bool is_named;    /* by a scenario */
	double busy_ns;   /* its GPU, with other work */
	double *at_ns;    /* by place: when it ended, as recorded */
	char *ended;      /* by place */
};

/* What of a rank's communicator came before. */
struct owner {
	struct rank *rank;
	double least_ns;      /* that a kernel took to begin */
	struct ended *latest; /* its latest end; NULL: the rank has no other */
	struct ncs_lockstep *lockstep; /* NULL: it keeps none */
	bool is_out_of_lockstep; /* those after it are not to be tried again */
};

/* A part's way to its arrival, as recorded. */
struct arrival {
	double at_ns;
	double gap_ns[NCS_PATH_GAPS];
	double total_ns;
	double base_ns;            /* what it follows on, if `after` is NULL */
	const struct ended *after; /* NULL: nothing */
	const struct ended *near;  /* … that is remembered: later than it */
	double call_ns;
	double since_ns;            /* … the end before it */
	const struct ended *called; /* … NULL: nothing, or it is `after` */
	struct owner *owner;
	const struct ended *queued; /* its communicator's, likewise */
};

/* Who waits for parts that are dealt with by themselves. */
struct group {
	struct ncs_path_unit unit;
	enum ncs_part_time arrival;
	size_t references;
	struct ncs_path_edits edits;
	/* The latest of those that others wait for, so far. */
	bool has_come;
	double at_ns;
	double times_ns[NCS_PATH_SUMS];
	uint64_t units[NCS_PATH_SUMS];
	uint32_t owners[NCS_PATH_SUMS];
};

enum role { ROLE_ALONE, ROLE_WAITED_FOR, ROLE_WAITS };

/* A part that is dealt with later. */
struct later {
	double at_ns;
	uint64_t order;
	enum role role;
	struct group *group;
	struct ncs_part part;
};

struct ncs_path {
	struct ncs_path_options options;
	size_t count; /* scenarios and the replay */
	size_t ended_bytes;
	bool has_base;
	uint64_t base_ns;
	double first_ns; /* of the first call */
	double last_ns;  /* of the last end */
	struct rank *ranks;
	struct owner *owners;
	struct ncs_path_nodes *nodes;
	/* The latest ends so far. */
	struct ncs_path_end ends[NCS_PATH_SUMS];
	double ends_ns[NCS_PATH_SUMS];
	struct ncs_path_changes changes;
	uint64_t apart;           /* bits: scenarios that need more than that */
	bool wants_hosts;         /* of all parts, some scenario */
	struct arrival *arrivals; /* of the operation at hand */
	struct ncs_part_times *part_times;
	int32_t *part_ranks;
	double *gaps;
	size_t room;               /* in these */
	struct ended *recalled[2]; /* of ranks that keep step */
	struct later **heap;
	size_t heap_count, heap_capacity;
	uint64_t order;
	struct ncs_path_report report;
	int error;
};

static struct ended *ended_at(const struct ncs_path *path,
			      const struct rank *rank, uint32_t place)
{
	return (void *)(rank->ended + place * path->ended_bytes);
}

static const struct ncs_scenario *scenario_of(const struct ncs_path *path,
					      size_t k)
{
	return k > 0 ? &path->options.scenarios[k - 1] : NULL;
}

/* --- Making and freeing ----------------------------------------------------- */

static bool init_rank(const struct ncs_path *path, struct rank *rank)
{
	rank->capacity = NCS_PATH_ENDS;
	rank->latest = NCS_PATH_ENDS - 1; /* the first place is the next one */
	rank->latest_ns = INFINITY;
	rank->at_ns = calloc(NCS_PATH_ENDS, sizeof(double));
	rank->ended = calloc(NCS_PATH_ENDS, path->ended_bytes);
	return rank->at_ns && rank->ended;
}

static bool init_owners(struct ncs_path *path)
{
	const struct ncs_path_options *options = &path->options;

	for (size_t i = 0; i < options->owner_count; i++) {
		struct rank *rank = &path->ranks[options->owners[i].rank];

		path->owners[i].rank = rank;
		path->owners[i].least_ns = KERNEL_NS;
		rank->has_several = rank->overlaps = rank->capacity > 0;
		if (!rank->has_several && !init_rank(path, rank))
			return false;
	}
	for (size_t i = 0; i < options->owner_count; i++) {
		if (!path->ranks[options->owners[i].rank].has_several)
			continue;
		path->owners[i].latest = calloc(1, path->ended_bytes);
		if (!path->owners[i].latest)
			return false;
		path->owners[i].latest->at_ns = INFINITY;
	}
	return true;
}

/* What a scenario does to most ranks, so that they need not be asked for. */
static void init_scenario(struct ncs_path *path, size_t k)
{
	const struct ncs_scenario *scenario = scenario_of(path, k);
	bool is_for_all = scenario->rank < 0;

	switch (scenario->kind) {
	case NCS_WHAT_IF_PRODUCER:
	case NCS_WHAT_IF_OVERLAP:
		path->changes.gap[k] = NCS_PATH_PRODUCER;
		break;
	case NCS_WHAT_IF_HOST:
		path->changes.gap[k] = NCS_PATH_HOST;
		break;
	case NCS_WHAT_IF_LAUNCH:
		path->changes.gap[k] = NCS_PATH_LAUNCH;
		break;
	case NCS_WHAT_IF_WITHOUT:
		/* When each part would come asks for what is usual. */
		if (is_for_all || path->options.timed)
			path->apart |= UINT64_C(1) << k;
		break;
	case NCS_WHAT_IF_NET:
		path->wants_hosts |= scenario->inter_node ||
				     scenario->peers[0] >= 0;
		return;
	default:
		return;
	}
	if (scenario->range)
		path->apart |= UINT64_C(1) << k;
	else if (!is_for_all &&
		 (uint32_t)scenario->rank < path->options.rank_count)
		path->ranks[scenario->rank].is_named = true;
	else if (is_for_all && scenario->kind != NCS_WHAT_IF_WITHOUT)
		path->changes.saved[k] = scenario->kind == NCS_WHAT_IF_OVERLAP ?
						 1 :
						 1 - scenario->factor;
	if (is_for_all && scenario->kind == NCS_WHAT_IF_HOST)
		path->changes.host_factor[k] = scenario->factor;
}

struct ncs_path *ncs_path_new(const struct ncs_path_options *options)
{
	struct ncs_path *path = calloc(1, sizeof(*path));

	if (!path)
		return NULL;
	path->options = *options;
	path->count = 1 + options->scenario_count;
	path->ended_bytes =
		sizeof(struct ended) + 2 * path->count * sizeof(double);
	for (size_t k = 0; k < path->count; k++)
		path->changes.host_factor[k] = 1;
	path->first_ns = INFINITY;
	path->last_ns = -INFINITY;
	for (size_t k = 0; k < path->count; k++) {
		path->ends[k].unit = NCS_NO_UNIT;
		path->ends_ns[k] = -INFINITY;
	}
	path->ranks = calloc(options->rank_count + 1, sizeof(*path->ranks));
	path->owners = calloc(options->owner_count + 1, sizeof(*path->owners));
	path->nodes = ncs_path_nodes_new(&path->options);
	for (unsigned i = 0; i < 2; i++)
		path->recalled[i] = calloc(1, path->ended_bytes);
	if (path->ranks && path->owners && path->nodes && path->recalled[0] &&
	    path->recalled[1] && init_owners(path)) {
		for (size_t k = 1; k < path->count; k++)
			init_scenario(path, k);
		return path;
	}
	ncs_path_free(path);
	return NULL;
}

static void forget_lockstep(struct ncs_path *path,
			    struct ncs_lockstep *lockstep)
{
	for (size_t i = 0; lockstep && i < lockstep->count; i++) {
		struct owner *owner = &path->owners[lockstep->owners[i]];

		if (owner->lockstep == lockstep)
			owner->lockstep = NULL;
	}
	ncs_lockstep_free(lockstep);
}

void ncs_path_free(struct ncs_path *path)
{
	if (!path)
		return;
	for (uint32_t i = 0; path->ranks && i < path->options.rank_count; i++) {
		free(path->ranks[i].at_ns);
		free(path->ranks[i].ended);
	}
	for (size_t i = 0; path->owners && i < path->options.owner_count; i++) {
		free(path->owners[i].latest);
		forget_lockstep(path, path->owners[i].lockstep);
	}
	for (size_t i = 0; i < path->heap_count; i++) {
		if (--path->heap[i]->group->references == 0)
			free(path->heap[i]->group);
		free(path->heap[i]);
	}
	ncs_path_nodes_free(path->nodes);
	free(path->ranks);
	free(path->owners);
	free(path->arrivals);
	free(path->part_times);
	free(path->part_ranks);
	free(path->gaps);
	free(path->heap);
	free(path->recalled[0]);
	free(path->recalled[1]);
	free(path);
}

/* --- What came before ------------------------------------------------------- */

/* Whether an end came later: at the same moment, the one that was dealt with
 * later. */
static inline bool is_later(const struct ncs_path *path,
			    const struct rank *rank, uint32_t a, uint32_t b)
{
	if (rank->at_ns[a] != rank->at_ns[b])
		return rank->at_ns[a] > rank->at_ns[b];
	return ended_at(path, rank, a)->unit > ended_at(path, rank, b)->unit;
}

/* The operation of a rank that ended last until a moment. NULL: there is none,
 * or, with *near, the first of those that are remembered, it is not any more. */
static const struct ended *ended_before(const struct ncs_path *path,
					const struct rank *rank,
					double moment_ns,
					const struct ended **near)
{
	uint32_t found = UINT32_MAX, first = 0;

	*near = NULL;
	if (rank->count == 0)
		return NULL;
	if (rank->latest_ns <= moment_ns)
		return ended_at(path, rank, rank->latest);
	for (uint32_t i = 0; i < rank->count; i++) {
		if (rank->at_ns[i] <= moment_ns &&
		    (found == UINT32_MAX || is_later(path, rank, i, found)))
			found = i;
		if (is_later(path, rank, first, i))
			first = i;
	}
	if (found != UINT32_MAX)
		return ended_at(path, rank, found);
	if (rank->forgets)
		*near = ended_at(path, rank, first);
	return NULL;
}

/* As long as they do not overlap, the oldest one is the next. */
static inline uint32_t place_in_line(struct rank *rank)
{
	if (rank->count < NCS_PATH_ENDS)
		rank->count++;
	else
		rank->forgets = true;
	return (rank->latest + 1) % NCS_PATH_ENDS;
}

/* A place for an end: a free one, or that of one which none that arrives from
 * now on follows on, as it ended before another one did. -ENOMEM: none. */
static int place_for(struct ncs_path *path, struct rank *rank,
		     double arrival_ns, uint32_t *place)
{
	uint32_t oldest = 0, last_before = UINT32_MAX;
	uint32_t capacity = rank->capacity;
	double *at_ns;
	char *ended;

	if (rank->count < capacity) {
		*place = rank->count++;
		return 0;
	}
	for (uint32_t i = 0; i < rank->count; i++) {
		if (is_later(path, rank, oldest, i))
			oldest = i;
		if (rank->at_ns[i] <= arrival_ns &&
		    (last_before == UINT32_MAX ||
		     is_later(path, rank, i, last_before)))
			last_before = i;
	}
	*place = oldest;
	rank->forgets = true;
	if ((last_before != UINT32_MAX && oldest != last_before) ||
	    capacity >= ENDS_MAX)
		return 0;
	at_ns = realloc(rank->at_ns, 2 * capacity * sizeof(double));
	if (!at_ns)
		return -ENOMEM;
	rank->at_ns = at_ns;
	ended = realloc(rank->ended, 2 * capacity * path->ended_bytes);
	if (!ended)
		return -ENOMEM;
	rank->ended = ended;
	rank->capacity = 2 * capacity;
	*place = rank->count++;
	return 0;
}

/* What a part's arrival follows on, as recorded. */
static inline void trace_back(struct ncs_path *path,
			      const struct ncs_part_times *times,
			      double latest_ns, struct arrival *arrival)
{
	struct owner *owner = &path->owners[times->owner];
	struct rank *rank = owner->rank;
	struct ncs_path_moments moments =
		ncs_path_moments_of(times, path->base_ns, latest_ns);
	double call_ns = moments.call_ns, from_ns = call_ns;
	const struct ended *near;

	path->report.violations += moments.is_violation;
	arrival->owner = owner;
	arrival->at_ns = moments.arrival_ns;
	arrival->called = arrival->queued = NULL;
	arrival->call_ns = call_ns;
	if (rank->latest_ns <= arrival->at_ns) {
		arrival->after = ended_at(path, rank, rank->latest);
		from_ns = rank->latest_ns;
	} else {
		rank->overlaps |= rank->count > 0;
		arrival->after = ended_before(path, rank, arrival->at_ns,
					      &arrival->near);
		if (arrival->after)
			from_ns = arrival->after->at_ns;
		path->report.forgotten += arrival->near != NULL;
		arrival->base_ns = call_ns;
	}
	if (call_ns < from_ns)
		arrival->called = ended_before(path, rank, call_ns, &near);
	if (arrival->called)
		arrival->since_ns = call_ns - arrival->called->at_ns;
	if (owner->latest && owner->latest->at_ns <= arrival->at_ns)
		arrival->queued = owner->latest;
	ncs_path_split(&moments, from_ns, &owner->least_ns, arrival->gap_ns);
	arrival->total_ns = arrival->at_ns - from_ns;
	rank->busy_ns += arrival->gap_ns[NCS_PATH_PRODUCER];
}

/* --- Arrivals in a scenario --------------------------------------------------- */

/* What a straggler would take: the median of the ranks', or of the others'. A
 * negative one: there are none to compare with. */
static double usual_ns(const struct ncs_path *path,
		       const struct ncs_scenario *scenario,
		       const struct ncs_part *parts, size_t count)
{
	size_t others = 0;

	for (size_t i = 0; i < count; i++) {
		uint32_t rank = path->options.owners[parts[i].owner].rank;

		if (scenario->rank < 0 || rank != (uint32_t)scenario->rank)
			path->gaps[others++] = path->arrivals[i].total_ns;
	}
	if (others == 0 || (scenario->rank < 0 && others < 2))
		return -1;
	return ncs_select(path->gaps, others, (others - 1) / 2);
}

/* How a part's way to its arrival changes. */
struct factors {
	double gap[NCS_PATH_GAPS];
};

static bool is_meant(const struct ncs_path *path,
		     const struct ncs_scenario *scenario,
		     const struct ncs_part *part)
{
	const struct ncs_path_options *options = &path->options;

	if (scenario->rank >= 0 &&
	    options->owners[part->owner].rank != (uint32_t)scenario->rank)
		return false;
	return !scenario->range ||
	       (options->is_in_range &&
		options->is_in_range(options->who, part, scenario->range));
}

static struct factors factors_of(const struct ncs_path *path,
				 const struct ncs_scenario *scenario,
				 const struct ncs_part *part,
				 const struct arrival *arrival, double usual)
{
	struct factors factors = { { 1, 1, 1, 1 } };
	double all = 1;

	if (!is_meant(path, scenario, part))
		return factors;
	switch (scenario->kind) {
	case NCS_WHAT_IF_PRODUCER:
		factors.gap[NCS_PATH_PRODUCER] = scenario->factor;
		break;
	case NCS_WHAT_IF_HOST:
		factors.gap[NCS_PATH_HOST] = scenario->factor;
		break;
	case NCS_WHAT_IF_LAUNCH:
		factors.gap[NCS_PATH_LAUNCH] = scenario->factor;
		break;
	case NCS_WHAT_IF_OVERLAP:
		factors.gap[NCS_PATH_PRODUCER] = 0;
		break;
	case NCS_WHAT_IF_WITHOUT:
		if (usual >= 0 && usual < arrival->total_ns)
			all = usual / arrival->total_ns;
		for (unsigned i = 0; i < NCS_PATH_GAPS; i++)
			factors.gap[i] = all;
		break;
	default:
		break;
	}
	return factors;
}

static bool changes_arrivals(const struct ncs_scenario *scenario)
{
	return scenario && (scenario->kind == NCS_WHAT_IF_PRODUCER ||
			    scenario->kind == NCS_WHAT_IF_HOST ||
			    scenario->kind == NCS_WHAT_IF_LAUNCH ||
			    scenario->kind == NCS_WHAT_IF_OVERLAP ||
			    scenario->kind == NCS_WHAT_IF_WITHOUT);
}

/* By its gaps alone. */
static inline double come_ns(const struct arrival *arrival, size_t k)
{
	const struct ended *near = arrival->near;
	double base_ns = arrival->base_ns;

	if (arrival->after)
		base_ns = arrival->after->times_ns[k];
	else if (near)
		base_ns += near->times_ns[k] - near->at_ns;
	return base_ns + arrival->total_ns;
}

/* … and not before its call, nor its communicator's operation before. */
static inline double not_before_ns(const struct arrival *arrival, size_t k,
				   double host_factor, double come)
{
	if (arrival->called)
		come = ncs_larger(come,
				  arrival->called->times_ns[k] +
					  arrival->since_ns * host_factor);
	if (arrival->queued)
		come = ncs_larger(come, arrival->queued->times_ns[k]);
	return come;
}

static double arrival_ns(const struct ncs_path *path, size_t k,
			 const struct ncs_part *part,
			 const struct arrival *arrival, double usual)
{
	const struct ncs_scenario *scenario = scenario_of(path, k);
	double come = come_ns(arrival, k), host_factor = 1;

	if (changes_arrivals(scenario)) {
		struct factors factors =
			factors_of(path, scenario, part, arrival, usual);

		for (unsigned i = 0; i < NCS_PATH_GAPS; i++)
			come -= arrival->gap_ns[i] * (1 - factors.gap[i]);
		host_factor = factors.gap[NCS_PATH_HOST];
	}
	return not_before_ns(arrival, k, host_factor, come);
}

/* The end that something follows on, as a scenario has it. */
static struct ncs_path_end follow(const struct ncs_path *path,
				  const struct ended *ended, size_t k)
{
	return (struct ncs_path_end){
		.unit = ended->unit,
		.owner = ended->owner,
		.is_unknown = ended->unknown >> k & 1,
		.last_channel = ended->last_channel,
		.transfer_ns = ended->times_ns[path->count + k],
	};
}

/* Why a part came when it did. */
static void explain(const struct ncs_path *path, size_t k,
		    const struct ncs_part *part, const struct arrival *arrival,
		    double usual, double at_ns, struct ncs_path_node *node)
{
	const struct ncs_scenario *scenario = scenario_of(path, k);
	struct factors factors = { { 1, 1, 1, 1 } };
	double call_ns = arrival->since_ns;

	if (changes_arrivals(scenario))
		factors = factors_of(path, scenario, part, arrival, usual);
	*node = (struct ncs_path_node){ .owner = (uint32_t)part->owner,
					.at_ns = at_ns };
	call_ns *= factors.gap[NCS_PATH_HOST];
	if (arrival->queued && arrival->queued->times_ns[k] == at_ns) {
		node->after = follow(path, arrival->queued, k);
	} else if (arrival->called &&
		   arrival->called->times_ns[k] + call_ns == at_ns) {
		node->after = follow(path, arrival->called, k);
		node->gap_ns[NCS_PATH_HOST] = call_ns;
	} else {
		if (arrival->after)
			node->after = follow(path, arrival->after, k);
		else
			node->after.unit = NCS_NO_UNIT;
		for (unsigned i = 0; i < NCS_PATH_GAPS; i++)
			node->gap_ns[i] = arrival->gap_ns[i] * factors.gap[i];
	}
}

/* --- One operation ---------------------------------------------------------- */

/* What all parts of an operation have in common. */
struct start {
	struct ncs_path_ready ready;
	size_t last[NCS_PATH_SUMS]; /* who came last */
	double usual_ns[NCS_PATH_SUMS];
	double latest_ns[NCS_PATH_SUMS]; /* that stragglers come */
};

/* Tells of a part in all scenarios. */
static void tell_times(const struct ncs_path *path, const struct group *group,
		       const struct start *start, const struct ncs_part *part,
		       const struct arrival *arrival, double transfer_ns)
{
	for (size_t k = 0; k < path->count; k++) {
		double come_ns =
			arrival_ns(path, k, part, arrival, start->usual_ns[k]);
		double end_ns =
			start->ready.in_ns[k] +
			ncs_path_transfer_ns(&group->edits, k, transfer_ns);

		path->options.timed(path->options.who, k, part,
				    path->base_ns + (uint64_t)(int64_t)come_ns,
				    path->base_ns + (uint64_t)(int64_t)end_ns);
	}
}

/* What is known of an end, in all scenarios. */
static inline void fill_ended(size_t count, const struct ncs_path_ready *ready,
			      const struct ncs_path_edits *edits,
			      uint32_t owner,
			      const struct ncs_last_channel *last_channel,
			      double end_ns, struct ended *ended)
{
	double transfer_ns = end_ns - ready->ns;

	ended->at_ns = end_ns;
	ended->unit = ready->unit;
	ended->owner = owner;
	ended->last_channel = *last_channel;
	ended->unknown = edits->unknown;
	for (size_t k = 0; k < count; k++) {
		double edited_ns = ncs_path_transfer_ns(edits, k, transfer_ns);

		ended->times_ns[k] = ready->in_ns[k] + edited_ns;
		ended->times_ns[count + k] = edited_ns;
	}
}

/* A part ends, which arrived at `arrival_ns`. */
static inline void end_part(struct ncs_path *path, size_t count,
			    const struct ncs_path_ready *ready,
			    const struct ncs_path_edits *edits, uint32_t owner,
			    const struct ncs_last_channel *last_channel,
			    double arrival_ns, double end_ns)
{
	struct rank *rank = path->owners[owner].rank;
	struct ended *latest = path->owners[owner].latest;
	struct ended *ended;
	uint32_t place;

	if (!rank->overlaps) {
		place = place_in_line(rank);
	} else if (place_for(path, rank, arrival_ns, &place) != 0) {
		path->error = -ENOMEM;
		return;
	}
	ended = ended_at(path, rank, place);
	fill_ended(count, ready, edits, owner, last_channel, end_ns, ended);
	for (size_t k = 0; k < count; k++) {
		if (ended->times_ns[k] > path->ends_ns[k]) {
			path->ends_ns[k] = ended->times_ns[k];
			path->ends[k] = follow(path, ended, k);
		}
	}
	rank->at_ns[place] = end_ns;
	if (rank->count == 1 || end_ns >= rank->latest_ns) {
		rank->latest = place;
		rank->latest_ns = end_ns;
	}
	if (latest && (isinf(latest->at_ns) || end_ns >= latest->at_ns))
		memcpy(latest, ended, path->ended_bytes);
}

/* A part comes, in one scenario: whether it is the last one so far. */
static inline void note_come(struct start *start, size_t k, size_t i,
			     double at_ns)
{
	if (at_ns > start->ready.in_ns[k]) {
		start->ready.in_ns[k] = at_ns;
		start->last[k] = i;
	}
}

/* It would not come later than it did. When it would, is of interest only if it
 * came after all others. */
static bool is_straggler(const struct ncs_path *path, size_t k,
			 const struct ncs_part *part)
{
	const struct ncs_scenario *scenario = scenario_of(path, k);

	return scenario && scenario->kind == NCS_WHAT_IF_WITHOUT &&
	       scenario->rank >= 0 && is_meant(path, scenario, part);
}

/* … in all of them, but for those that are looked at apart. */
static inline void come(const struct ncs_path *path, size_t count,
			const struct ncs_part *parts, size_t i,
			struct start *start)
{
	const struct arrival *arrival = &path->arrivals[i];

	if (arrival->owner->rank->is_named || !arrival->after) {
		for (size_t k = 0; k < count; k++) {
			double at_ns =
				arrival_ns(path, k, &parts[i], arrival, -1);

			if (is_straggler(path, k, &parts[i]))
				start->latest_ns[k] =
					ncs_larger(start->latest_ns[k], at_ns);
			else
				note_come(start, k, i, at_ns);
		}
		return;
	}
	for (size_t k = 0; k < count; k++) {
		double at_ns = arrival->after->times_ns[k] + arrival->total_ns;

		/* The first is the replay. */
		if (k > 0)
			at_ns -= arrival->gap_ns[path->changes.gap[k]] *
				 path->changes.saved[k];
		note_come(start, k, i,
			  not_before_ns(arrival, k,
					path->changes.host_factor[k], at_ns));
	}
}

/* In a scenario that needs to know of all parts, or more of each of them. */
static void come_apart(const struct ncs_path *path,
		       const struct ncs_part *parts, size_t count, size_t k,
		       struct start *start)
{
	const struct ncs_scenario *scenario = scenario_of(path, k);

	start->ready.in_ns[k] = -INFINITY;
	if (scenario->kind == NCS_WHAT_IF_WITHOUT)
		start->usual_ns[k] = usual_ns(path, scenario, parts, count);
	for (size_t i = 0; i < count; i++)
		note_come(start, k, i,
			  arrival_ns(path, k, &parts[i], &path->arrivals[i],
				     start->usual_ns[k]));
}

/* Who was waited for, in one scenario, and why. */
static void find_last(const struct ncs_path *path, const struct group *group,
		      enum role role, const struct ncs_part *parts, size_t k,
		      struct start *start, struct ncs_path_node *node)
{
	size_t last = start->last[k];

	if (role == ROLE_WAITS && group->has_come &&
	    group->times_ns[k] > start->ready.in_ns[k]) {
		start->ready.in_ns[k] = group->times_ns[k];
		*node = (struct ncs_path_node){
			.after = { .unit = group->units[k],
				   .owner = group->owners[k] },
			.owner = group->owners[k],
			.at_ns = group->times_ns[k],
		};
	} else {
		explain(path, k, &parts[last], &path->arrivals[last],
			start->usual_ns[k], start->ready.in_ns[k], node);
	}
}

/* Those who wait for this part know from now on. */
static void tell_group(const struct ncs_path *path, struct group *group,
		       const struct start *start, const struct ncs_part *part)
{
	for (size_t k = 0; k < path->count; k++) {
		if (group->has_come &&
		    start->ready.in_ns[k] <= group->times_ns[k])
			continue;
		group->times_ns[k] = start->ready.in_ns[k];
		group->units[k] = start->ready.unit;
		group->owners[k] = (uint32_t)part->owner;
	}
	group->at_ns = group->has_come ?
			       ncs_larger(group->at_ns, start->ready.ns) :
			       start->ready.ns;
	group->has_come = true;
}

/* The latest end of a step. */
static void note_step(struct ncs_path *path, const struct group *group,
		      const struct start *start, double longest_ns)
{
	const struct ncs_path_unit *unit = &group->unit;
	struct ncs_path_step *row;

	if (!unit->is_counted || unit->step == NCS_NO_STEP)
		return;
	row = ncs_path_nodes_step(path->nodes, unit->step);
	for (size_t k = 0; row && k < path->count; k++) {
		double end_ns =
			start->ready.in_ns[k] +
			ncs_path_transfer_ns(&group->edits, k, longest_ns);

		if (!row->has_end || end_ns > row->end_ns[k])
			row->end_ns[k] = end_ns;
	}
	if (row)
		row->has_end = true;
}

/* --- Ranks that keep step ----------------------------------------------------- */

/* Their ranks are told of the turns that they lack: later, but the same. A part
 * that keeps step follows on the latest end: any moment from then on stands for
 * its arrival. */
static void save(struct ncs_path *path, struct ncs_lockstep *lockstep)
{
	if (lockstep->unsaved == 0)
		return;
	while (lockstep->unsaved > 0) {
		const struct ncs_lockstep_turn *turn =
			ncs_lockstep_turn(lockstep, --lockstep->unsaved);

		for (size_t i = 0; i < lockstep->count; i++)
			end_part(path, path->count, &turn->ready, &turn->edits,
				 lockstep->owners[i], &turn->last_channels[i],
				 turn->end_ns[i], turn->end_ns[i]);
	}
	for (size_t i = 0; i < lockstep->count; i++) {
		struct owner *owner = &path->owners[lockstep->owners[i]];

		owner->least_ns = lockstep->least_ns[i];
		owner->rank->busy_ns += lockstep->busy_ns[i];
		owner->rank->forgets |= lockstep->drops;
		lockstep->busy_ns[i] = 0;
	}
	lockstep->drops = false;
}

static void dissolve(struct ncs_path *path, struct ncs_lockstep *lockstep)
{
	save(path, lockstep);
	forget_lockstep(path, lockstep);
}

/* Whether a scenario changes the arrivals of this rank alone. */
static bool names(const struct ncs_path *path, size_t k,
		  const struct owner *owner)
{
	const struct ncs_scenario *scenario = scenario_of(path, k);

	return scenario->rank >= 0 &&
	       owner->rank - path->ranks == scenario->rank;
}

/* The owners of these parts keep step from now on, unless one of them has other
 * communicators. */
static void fall_into_lockstep(struct ncs_path *path,
			       const struct ncs_part_times *part_times,
			       size_t count)
{
	struct ncs_lockstep *lockstep;
	bool is_common = true;

	for (size_t i = 0; is_common && i < count; i++) {
		const struct owner *owner = &path->owners[part_times[i].owner];

		is_common = !owner->rank->has_several;
	}
	lockstep = is_common ?
			   ncs_lockstep_new(part_times, count, path->count) :
			   NULL;
	if (is_common && !lockstep) {
		path->error = -ENOMEM;
		return;
	}
	for (size_t i = 0; is_common && i < count; i++) {
		struct owner *owner = &path->owners[part_times[i].owner];

		/* Nobody has two parts in one operation, unless the data are
		 * wrong. */
		is_common = owner->lockstep != lockstep;
		if (owner->lockstep && is_common)
			dissolve(path, owner->lockstep);
		owner->lockstep = lockstep;
		for (size_t k = 1; k < path->count; k++)
			if (owner->rank->is_named && names(path, k, owner))
				lockstep->named[k] = i;
	}
	if (!is_common) {
		if (lockstep)
			dissolve(path, lockstep);
		path->owners[part_times[0].owner].is_out_of_lockstep = true;
	}
}

/* The lockstep that these parts are in from now on. NULL: none. */
static struct ncs_lockstep *lockstep_of(struct ncs_path *path,
					const struct ncs_part_times *part_times,
					size_t count)
{
	struct owner *first = &path->owners[part_times[0].owner];
	struct ncs_lockstep *lockstep = first->lockstep;
	bool is_same = lockstep && lockstep->count == count;

	for (size_t i = 0; is_same && i < count; i++)
		is_same = lockstep->owners[i] == part_times[i].owner;
	if (lockstep && !is_same)
		dissolve(path, lockstep);
	if (!first->lockstep && !first->is_out_of_lockstep)
		fall_into_lockstep(path, part_times, count);
	return first->lockstep;
}

/* These parts are looked at rank by rank, as those of no lockstep or this one. */
static void leave_locksteps(struct ncs_path *path,
			    const struct ncs_lockstep *but,
			    const struct ncs_part_times *part_times,
			    size_t count)
{
	for (size_t i = 0; i < count; i++) {
		struct ncs_lockstep *lockstep =
			path->owners[part_times[i].owner].lockstep;

		if (!lockstep)
			continue;
		save(path, lockstep);
		if (lockstep != but)
			lockstep->turn_count = 0;
	}
}

/* Whether parts that were looked at rank by rank have come in step: each follows
 * on its rank's latest end, and no more is remembered of it than of others. The
 * lockstep then goes on, or begins, with them. */
static bool is_in_lockstep(const struct ncs_path *path,
			   struct ncs_lockstep *lockstep)
{
	for (size_t i = 0; i < lockstep->count; i++) {
		const struct owner *owner = path->arrivals[i].owner;
		const struct rank *rank = owner->rank;

		if (rank->capacity > NCS_PATH_ENDS ||
		    (rank->count > 0 &&
		     rank->latest_ns > path->arrivals[i].at_ns)) {
			lockstep->turn_count = 0;
			return false;
		}
		lockstep->least_ns[i] = owner->least_ns;
	}
	return true;
}

static const struct ended *recall_end(const struct ncs_path *path,
				      const struct ncs_lockstep *lockstep,
				      const struct ncs_lockstep_turn *turn,
				      size_t i, struct ended *ended)
{
	fill_ended(path->count, &turn->ready, &turn->edits, lockstep->owners[i],
		   &turn->last_channels[i], turn->end_ns[i], ended);
	return ended;
}

/* What the arrival of one that came in step follows on. */
static void recall(struct ncs_path *path, const struct ncs_lockstep *lockstep,
		   const struct ncs_part_times *part_times, double latest_ns,
		   size_t i)
{
	struct arrival *arrival = &path->arrivals[i];
	const struct ncs_lockstep_turn *after = ncs_lockstep_turn(lockstep, 0);
	const struct ncs_lockstep_turn *called = NULL;
	double from_ns = after->end_ns[i];
	struct ncs_path_moments moments =
		ncs_path_moments_of(&part_times[i], path->base_ns, latest_ns);

	*arrival = (struct arrival){
		.at_ns = moments.arrival_ns,
		.total_ns = moments.arrival_ns - from_ns,
		.after =
			recall_end(path, lockstep, after, i, path->recalled[0]),
		.call_ns = moments.call_ns,
		.owner = &path->owners[lockstep->owners[i]],
	};
	if (moments.call_ns < from_ns)
		called = ncs_lockstep_called(lockstep, i, moments.call_ns);
	if (called) {
		arrival->called = recall_end(path, lockstep, called, i,
					     path->recalled[1]);
		arrival->since_ns = moments.call_ns - called->end_ns[i];
	}
	ncs_path_split(&moments, from_ns, &lockstep->least_ns[i],
		       arrival->gap_ns);
}

/* What the rank that a scenario names would take if it were as the others. */
static double usual_in_lockstep_ns(const struct ncs_path *path,
				   const struct ncs_lockstep *lockstep,
				   const struct ncs_scenario *scenario,
				   const struct ncs_part *parts,
				   const struct ncs_part_times *part_times,
				   double latest_ns)
{
	const double *end_ns = ncs_lockstep_turn(lockstep, 0)->end_ns;

	for (size_t i = 0; i < lockstep->count; i++) {
		struct ncs_path_moments moments = ncs_path_moments_of(
			&part_times[i], path->base_ns, latest_ns);

		path->arrivals[i].total_ns = moments.arrival_ns - end_ns[i];
	}
	return usual_ns(path, scenario, parts, lockstep->count);
}

/* The rank that a scenario names comes, in this scenario: the others have. The
 * first one of those that came last, by place, is who came last. */
static void come_named(struct ncs_path *path, struct ncs_lockstep *lockstep,
		       size_t k, const struct ncs_part *parts,
		       const struct ncs_part_times *part_times,
		       double latest_ns, struct start *start)
{
	const struct ncs_scenario *scenario = scenario_of(path, k);
	size_t i = lockstep->named[k];
	double at_ns;

	recall(path, lockstep, part_times, latest_ns, i);
	at_ns = arrival_ns(path, k, &parts[i], &path->arrivals[i], -1);
	if (is_straggler(path, k, &parts[i])) {
		if (at_ns < start->ready.in_ns[k])
			return;
		start->usual_ns[k] = usual_in_lockstep_ns(
			path, lockstep, scenario, parts, part_times, latest_ns);
		at_ns = arrival_ns(path, k, &parts[i], &path->arrivals[i],
				   start->usual_ns[k]);
	}
	if (at_ns == start->ready.in_ns[k] && i < start->last[k])
		start->last[k] = i;
	note_come(start, k, i, at_ns);
}

/* All parts come in step. False: not so. */
static bool come_in_lockstep(struct ncs_path *path,
			     struct ncs_lockstep *lockstep,
			     const struct ncs_part *parts,
			     const struct ncs_part_times *part_times,
			     size_t count, double latest_ns,
			     struct start *start)
{
	struct ncs_lockstep_come come;

	if (!ncs_lockstep_come(lockstep, &path->changes, part_times, count,
			       path->base_ns, latest_ns, &come))
		return false;
	path->report.violations += come.violations;
	path->first_ns = ncs_smaller(path->first_ns, come.first_call_ns);
	start->ready.ns = come.ready_ns;
	memcpy(start->ready.in_ns, come.ready_in_ns,
	       path->count * sizeof(double));
	memcpy(start->last, come.last, path->count * sizeof(size_t));
	for (size_t k = 1; k < path->count; k++)
		if (lockstep->named[k] < count)
			come_named(path, lockstep, k, parts, part_times,
				   latest_ns, start);
	return true;
}

/* The latest end in each scenario may be of the latest turn, of which the last
 * end as recorded is told. As transfers keep their order, that one is the last
 * in each scenario, alone or with others: the first of them by place counts. */
static void note_ends(struct ncs_path *path,
		      const struct ncs_lockstep *lockstep, double last_ns)
{
	const struct ncs_lockstep_turn *turn = ncs_lockstep_turn(lockstep, 0);

	for (size_t k = 0; k < path->count; k++) {
		double end_ns = turn->ready.in_ns[k] +
				ncs_path_transfer_ns(&turn->edits, k,
						     last_ns - turn->ready.ns);
		size_t i = 0;

		if (end_ns <= path->ends_ns[k])
			continue;
		while (i + 1 < lockstep->count &&
		       ncs_lockstep_end_ns(turn, k, i) < end_ns)
			i++;
		path->ends_ns[k] = end_ns;
		path->ends[k] = (struct ncs_path_end){
			.unit = turn->ready.unit,
			.owner = lockstep->owners[i],
			.is_unknown = turn->edits.unknown >> k & 1,
			.last_channel = turn->last_channels[i],
			.transfer_ns = ncs_path_transfer_ns(
				&turn->edits, k,
				turn->end_ns[i] - turn->ready.ns),
		};
	}
}

/* Returns the last end, as recorded. */
static double end_in_lockstep(struct ncs_path *path,
			      struct ncs_lockstep *lockstep,
			      const struct group *group,
			      const struct start *start,
			      const struct ncs_part_times *part_times)
{
	double last_ns = ncs_lockstep_end(lockstep, &start->ready,
					  &group->edits, part_times,
					  path->base_ns);

	note_ends(path, lockstep, last_ns);
	return last_ns;
}

/* --- All parts of an operation ------------------------------------------------ */

/* All parts come. */
static inline void come_all(struct ncs_path *path, size_t scenarios,
			    const struct ncs_part *parts,
			    const struct ncs_part_times *part_times,
			    size_t count, double latest_ns, struct start *start)
{
	double ready_ns = -INFINITY, first_ns = path->first_ns;

	for (size_t i = 0; i < count; i++) {
		struct arrival *arrival = &path->arrivals[i];

		trace_back(path, &part_times[i], latest_ns, arrival);
		ready_ns = ncs_larger(ready_ns, arrival->at_ns);
		first_ns = ncs_smaller(first_ns, arrival->call_ns);
		come(path, scenarios, parts, i, start);
	}
	start->ready.ns = ready_ns;
	path->first_ns = first_ns;
}

/* All parts end; returns when, the last one. */
static inline double end_all(struct ncs_path *path, size_t scenarios,
			     const struct group *group,
			     const struct start *start,
			     const struct ncs_part_times *part_times,
			     size_t count)
{
	double last_ns = -INFINITY;

	for (size_t i = 0; i < count; i++) {
		double end_ns = ncs_since(path->base_ns, part_times[i].end_ns);

		last_ns = ncs_larger(last_ns, end_ns);
		end_part(path, scenarios, &start->ready, &group->edits,
			 part_times[i].owner, &part_times[i].last_channel,
			 path->arrivals[i].at_ns, end_ns);
	}
	return last_ns;
}

static void come_by_rank(struct ncs_path *path, const struct ncs_part *parts,
			 const struct ncs_part_times *part_times, size_t count,
			 double latest_ns, struct start *start)
{
	/* Compiled anew where there is but the replay. */
	if (path->count == 1)
		come_all(path, 1, parts, part_times, count, latest_ns, start);
	else
		come_all(path, path->count, parts, part_times, count, latest_ns,
			 start);
	for (size_t k = 1; k < path->count; k++)
		if ((path->apart >> k & 1) ||
		    start->latest_ns[k] >= start->ready.in_ns[k])
			come_apart(path, parts, count, k, start);
}

static double end_by_rank(struct ncs_path *path, const struct group *group,
			  const struct start *start,
			  const struct ncs_part_times *part_times, size_t count)
{
	if (path->count == 1)
		return end_all(path, 1, group, start, part_times, count);
	return end_all(path, path->count, group, start, part_times, count);
}

/* Deals with parts that wait for each other, or with one by itself, at the latest
 * moment at which they can have come: the first end of those that need them. */
static void process(struct ncs_path *path, struct group *group, enum role role,
		    bool may_keep_lockstep, const struct ncs_part *parts,
		    const struct ncs_part_times *part_times, size_t count,
		    double latest_ns)
{
	struct ncs_lockstep *lockstep =
		may_keep_lockstep ? path->owners[part_times[0].owner].lockstep :
				    NULL;
	struct start start;
	struct ncs_path_node *nodes;
	double last_ns;
	bool in_lockstep;

	for (size_t k = 0; k < path->count; k++) {
		start.ready.in_ns[k] = -INFINITY;
		start.last[k] = 0;
		start.usual_ns[k] = -1;
		start.latest_ns[k] = -INFINITY;
	}
	in_lockstep = lockstep &&
		      come_in_lockstep(path, lockstep, parts, part_times, count,
				       latest_ns, &start);
	if (!in_lockstep) {
		lockstep = may_keep_lockstep ?
				   lockstep_of(path, part_times, count) :
				   NULL;
		leave_locksteps(path, lockstep, part_times, count);
		come_by_rank(path, parts, part_times, count, latest_ns, &start);
	}
	if (role == ROLE_WAITS && group->has_come)
		start.ready.ns = ncs_larger(start.ready.ns, group->at_ns);
	nodes = ncs_path_nodes_add(path->nodes, &group->unit, path->ends,
				   &start.ready.unit);
	for (size_t k = 0; k < path->count; k++) {
		if (in_lockstep &&
		    (k == 0 || start.last[k] != start.last[k - 1]))
			recall(path, lockstep, part_times, latest_ns,
			       start.last[k]);
		find_last(path, group, role, parts, k, &start, &nodes[k]);
	}
	if (role == ROLE_WAITED_FOR)
		tell_group(path, group, &start, parts);
	/* All of them before what they follow on is forgotten. */
	for (size_t i = 0; path->options.timed && i < count; i++)
		tell_times(path, group, &start, &parts[i], &path->arrivals[i],
			   ncs_since(path->base_ns, part_times[i].end_ns) -
				   start.ready.ns);
	if (in_lockstep || (lockstep && is_in_lockstep(path, lockstep)))
		last_ns = end_in_lockstep(path, lockstep, group, &start,
					  part_times);
	else
		last_ns = end_by_rank(path, group, &start, part_times, count);
	path->last_ns = ncs_larger(path->last_ns, last_ns);
	note_step(path, group, &start, ncs_larger(last_ns - start.ready.ns, 0));
	path->report.parts += count;
}

/* --- Parts that are dealt with later ------------------------------------------ */

static bool is_before(const struct later *a, const struct later *b)
{
	if (a->at_ns != b->at_ns)
		return a->at_ns < b->at_ns;
	return a->order < b->order;
}

static int push(struct ncs_path *path, struct group *group, enum role role,
		const struct ncs_part *part, double at_ns)
{
	size_t place = path->heap_count;
	struct later *later;

	if (place == path->heap_capacity) {
		size_t capacity = place ? 2 * place : 64;
		struct later **heap =
			realloc(path->heap, capacity * sizeof(struct later *));

		if (!heap)
			return -ENOMEM;
		path->heap = heap;
		path->heap_capacity = capacity;
	}
	later = malloc(sizeof(*later));
	if (!later)
		return -ENOMEM;
	*later = (struct later){ at_ns, path->order++, role, group, *part };
	group->references++;
	path->heap_count++;
	while (place > 0 && is_before(later, path->heap[(place - 1) / 2])) {
		path->heap[place] = path->heap[(place - 1) / 2];
		place = (place - 1) / 2;
	}
	path->heap[place] = later;
	return 0;
}

static struct later *pop(struct ncs_path *path)
{
	struct later *top = path->heap[0];
	struct later *last = path->heap[--path->heap_count];
	size_t place = 0, child;

	while ((child = 2 * place + 1) < path->heap_count) {
		if (child + 1 < path->heap_count &&
		    is_before(path->heap[child + 1], path->heap[child]))
			child++;
		if (!is_before(path->heap[child], last))
			break;
		path->heap[place] = path->heap[child];
		place = child;
	}
	if (path->heap_count > 0)
		path->heap[place] = last;
	return top;
}

static void release(struct group *group)
{
	if (--group->references == 0)
		free(group);
}

static void process_until(struct ncs_path *path, double moment_ns)
{
	while (path->heap_count > 0 && path->heap[0]->at_ns <= moment_ns) {
		struct later *later = pop(path);
		struct ncs_part_times times;

		ncs_part_times_make(&times, &later->part,
				    later->group->arrival);
		process(path, later->group, later->role, false, &later->part,
			&times, 1, later->at_ns);
		release(later->group);
		free(later);
	}
}

/* The first end of those that need it: its own, and theirs that wait for it. */
static int push_parts(struct ncs_path *path, const struct ncs_joined *joined,
		      struct group *group)
{
	double root_ns = INFINITY;
	double first_ns =
		(double)(int64_t)(joined->first_end_ns - path->base_ns);
	int error = 0;

	for (size_t i = 0; i < joined->count; i++)
		if (ncs_joined_is_root(joined, &joined->parts[i]))
			root_ns =
				ncs_since(path->base_ns,
					  joined->parts[i].at_ns[NCS_PART_END]);
	/* Those that are waited for before those that wait. */
	for (unsigned waits = 0; waits < 2; waits++) {
		for (size_t i = 0; i < joined->count && !error; i++) {
			const struct ncs_part *part = &joined->parts[i];
			bool is_root = ncs_joined_is_root(joined, part);
			double end_ns = ncs_since(path->base_ns,
						  part->at_ns[NCS_PART_END]);

			if (ncs_is_waiting(joined->wait_rule, is_root) != waits)
				continue;
			if (joined->wait_rule == NCS_WAIT_FOR_NONE)
				error = push(path, group, ROLE_ALONE, part,
					     end_ns);
			else if (waits)
				error = push(path, group, ROLE_WAITS, part,
					     end_ns);
			else if (joined->wait_rule == NCS_WAIT_FOR_ROOT)
				error = push(path, group, ROLE_WAITED_FOR, part,
					     first_ns);
			else
				error = push(path, group, ROLE_WAITED_FOR, part,
					     ncs_smaller(end_ns, root_ns));
		}
	}
	return error;
}

/* --- From outside ----------------------------------------------------------- */

static int make_room(struct ncs_path *path, size_t count)
{
	void *arrivals, *part_times, *ranks, *gaps;

	if (count <= path->room)
		return 0;
	arrivals = realloc(path->arrivals, count * sizeof(*path->arrivals));
	if (arrivals)
		path->arrivals = arrivals;
	part_times =
		realloc(path->part_times, count * sizeof(*path->part_times));
	if (part_times)
		path->part_times = part_times;
	ranks = realloc(path->part_ranks, count * sizeof(*path->part_ranks));
	if (ranks)
		path->part_ranks = ranks;
	gaps = realloc(path->gaps, count * sizeof(*path->gaps));
	if (gaps)
		path->gaps = gaps;
	if (!arrivals || !part_times || !ranks || !gaps)
		return -ENOMEM;
	path->room = count;
	return 0;
}

static void find_edits(struct ncs_path *path, const struct ncs_joined *joined,
		       struct ncs_path_edits *edits)
{
	const struct ncs_path_options *options = &path->options;
	struct ncs_fits none = { 0 };
	struct ncs_transfer transfer = {
		.joined = joined,
		.fits = options->fits ? options->fits : &none,
		.ranks = path->part_ranks,
	};

	if (path->count == 1)
		return;
	transfer.fit = ncs_fits_find(transfer.fits, joined);
	for (size_t i = 0; path->wants_hosts && i < joined->count; i++) {
		const struct ncs_path_owner *owner =
			&options->owners[joined->parts[i].owner];

		path->part_ranks[i] = (int32_t)owner->rank;
		transfer.spans_hosts |=
			owner->host !=
			options->owners[joined->parts[0].owner].host;
	}
	for (size_t k = 1; k < path->count; k++) {
		bool unknown = false;

		edits->edits[k] = ncs_scenario_transfer(
			&options->scenarios[k - 1], &transfer, &unknown);
		edits->unknown |= (uint64_t)unknown << k;
		if (edits->edits[k].factor != 1 || edits->edits[k].less_ns != 0)
			edits->edited |= UINT64_C(1) << k;
	}
}

static const struct ncs_part_times *
part_times_of(const struct ncs_path *path, const struct ncs_joined *joined)
{
	if (joined->part_times)
		return joined->part_times;
	for (size_t i = 0; i < joined->count; i++)
		ncs_part_times_make(&path->part_times[i], &joined->parts[i],
				    joined->arrival);
	return path->part_times;
}

/* What needs to know of each rank's arrivals looks at them rank by rank. */
static bool may_keep_lockstep(const struct ncs_path *path,
			      const struct ncs_joined *joined)
{
	return !path->apart && !path->options.timed && joined->is_complete &&
	       joined->function != NCS_FUNCTION_SEND_RECV;
}

int ncs_path_add(struct ncs_path *path, const struct ncs_joined *joined,
		 bool is_counted, uint32_t step)
{
	struct group group = {
		.unit = { .comm_id = joined->comm_id,
			  .number = joined->number,
			  .bytes = joined->parts[0].bytes,
			  .step = step,
			  .function = joined->function,
			  .is_counted = is_counted },
		.arrival = joined->arrival,
	};
	struct group *kept;
	double first_ns;
	int error;

	if (make_room(path, joined->count) != 0)
		return -ENOMEM;
	if (!path->has_base) {
		path->has_base = true;
		path->base_ns = joined->first_end_ns;
		ncs_path_nodes_set_base(path->nodes, path->base_ns);
	}
	/* Others stand in line in their streams. */
	for (size_t i = 0; (joined->function == NCS_FUNCTION_SEND_RECV ||
			    joined->wait_rule != NCS_WAIT_FOR_ALL) &&
			   i < joined->count;
	     i++) {
		size_t owner = joined->parts[i].owner;

		path->ranks[path->options.owners[owner].rank].overlaps = true;
	}
	path->report.operations++;
	path->report.incomplete += !joined->is_complete;
	first_ns = (double)(int64_t)(joined->first_end_ns - path->base_ns);
	process_until(path, first_ns);
	find_edits(path, joined, &group.edits);
	if (joined->wait_rule == NCS_WAIT_FOR_ALL) {
		process(path, &group, ROLE_ALONE,
			may_keep_lockstep(path, joined), joined->parts,
			part_times_of(path, joined), joined->count, first_ns);
		return path->error;
	}
	kept = malloc(sizeof(*kept));
	if (!kept)
		return -ENOMEM;
	*kept = group;
	kept->references = 1;
	error = push_parts(path, joined, kept);
	release(kept);
	return error ? error : path->error;
}

int ncs_path_end(struct ncs_path *path)
{
	struct ncs_path_report *report = &path->report;
	struct ncs_path_sum *sums;
	double busiest_ns = 0;

	process_until(path, INFINITY);
	for (size_t i = 0; i < path->options.owner_count; i++)
		if (path->owners[i].lockstep)
			save(path, path->owners[i].lockstep);
	if (!path->has_base)
		path->first_ns = path->last_ns = 0;
	ncs_path_nodes_finish(path->nodes, path->ends, path->ends_ns,
			      path->first_ns);
	for (uint32_t i = 0; i < path->options.rank_count; i++)
		busiest_ns = ncs_larger(busiest_ns, path->ranks[i].busy_ns);
	sums = ncs_path_nodes_report(path->nodes, path->first_ns, report);
	for (size_t k = 0; path->has_base && k < path->count; k++) {
		const struct ncs_scenario *scenario = scenario_of(path, k);

		sums[k].elapsed_ns = path->ends_ns[k] - path->first_ns;
		if (scenario && scenario->kind == NCS_WHAT_IF_OVERLAP)
			sums[k].elapsed_ns =
				ncs_larger(sums[k].elapsed_ns, busiest_ns);
	}
	report->measured_ns = path->last_ns - path->first_ns;
	report->first_ns = (double)path->base_ns + path->first_ns;
	return path->error;
}

const struct ncs_path_report *ncs_path_report(const struct ncs_path *path)
{
	return &path->report;
}
