/* SPDX-License-Identifier: MIT */
/* Bandwidth over the moving part of operations; see moving.h. Must not guess:
 * a time that is not known on every rank compared does not count. */
#include "analysis/model/moving.h"

#include <errno.h>
#include <stdlib.h>

#include "analysis/base/percentile.h"
#include "analysis/base/timings.h"
#include "analysis/model/communicators.h"
#include "analysis/model/lateness_state.h"
#include "analysis/model/model.h"
#include "analysis/records/join.h"
#include "analysis/records/operation_record.h"
#include "ncclstat/size_class.h"

/* Collectives of one launch are joined one soon after the other. In an exchange
 * of all with all, sends and receives of all pairs come in between. */
#define LAUNCHES_BACK 16u
#define TRANSFERS_BACK NCS_MOVING_RECENT

/* Size class of a launch whose operations are of several classes. */
#define MIXED UINT8_MAX

/* The operations of one function in one launch. Times and bytes are those of
 * the whole launch, whatever functions it has. */
struct moved_launch {
	uint64_t begin_ns; /* on the last rank */
	uint64_t end_ns;   /* on the last rank */
	uint64_t bytes;    /* 0 if not known */
	double bus_bytes;  /* bytes times factor; negative if not known */
	uint32_t operations;
	uint32_t error_ns; /* of the time from begin to end */
	uint32_t ranks;
	int32_t rank;   /* that sends or receives; -1 of a collective */
	uint8_t timing; /* enum ncs_timing */
	struct ncs_moving_class class;
};

struct ncs_moving_ring {
	uint64_t count;  /* launches so far */
	uint64_t traced; /* … up to the latest update */
	struct moved_launch launches[NCS_MOVING_RECENT]; /* in rotation */
	struct ncs_recent busbw; /* at the latest updates */
};

/* --- Taking note ---------------------------------------------------------- */

void ncs_moving_release(struct ncs_moving *moving)
{
	for (unsigned i = 0; i < NCS_FUNCTION_COUNT; i++)
		free(moving->rings[i]);
	*moving = (struct ncs_moving){ 0 };
}

static struct ncs_moving_ring *ring_of(struct ncs_moving *moving,
				       unsigned function)
{
	struct ncs_moving_ring *ring = moving->rings[function];

	if (ring)
		return ring;
	ring = calloc(1, sizeof(*ring));
	for (unsigned i = 0; ring && i < NCS_RECENT_LENGTH; i++)
		ring->busbw.values[i] = -1;
	moving->rings[function] = ring;
	return ring;
}

static unsigned function_of(const struct ncs_joined *joined,
			    const struct ncs_part *part)
{
	return ncs_joined_is_transfer(joined) ? part->function :
						joined->function;
}

static struct moved_launch launch_of(const struct ncs_joined *joined,
				     const struct ncs_part *part,
				     const struct ncs_moving_part *moving)
{
	double factor = ncs_bus_factor(function_of(joined, part), part->nranks);

	return (struct moved_launch){
		.begin_ns = moving->begin_ns,
		.end_ns = moving->end_ns,
		.error_ns = moving->error_ns < UINT32_MAX ?
				    (uint32_t)moving->error_ns :
				    UINT32_MAX,
		.bytes = part->bytes,
		.bus_bytes = factor >= 0 ? factor * (double)part->bytes : -1,
		.operations = 1,
		.ranks = (uint32_t)joined->count,
		.rank = ncs_joined_is_transfer(joined) ? part->rank : -1,
		.timing = (uint8_t)moving->timing,
		.class = { (uint8_t)ncs_size_class(part->bytes),
			   part->algorithm, part->protocol },
	};
}

static bool is_class(const struct moved_launch *launch,
		     const struct ncs_moving_class *class)
{
	return launch->class.size_class == class->size_class &&
	       launch->class.algorithm == class->algorithm &&
	       launch->class.protocol == class->protocol;
}

/* Returns the same launch among the latest ones of a function, or NULL. */
static struct moved_launch *find_launch(struct ncs_moving_ring *ring,
					const struct moved_launch *like)
{
	uint64_t back = like->rank < 0 ? LAUNCHES_BACK : TRANSFERS_BACK;

	if (like->timing != NCS_TIMING_STREAM)
		return NULL;
	for (uint64_t i = 1; i <= ring->count && i <= back; i++) {
		struct moved_launch *launch =
			&ring->launches[(ring->count - i) % NCS_MOVING_RECENT];

		if (launch->rank == like->rank &&
		    launch->begin_ns == like->begin_ns &&
		    launch->end_ns == like->end_ns)
			return launch;
	}
	return NULL;
}

/* Adds an operation to what is known of its launch. */
static void add(struct moved_launch *launch,
		const struct moved_launch *operation)
{
	if (launch->bytes > 0 && operation->bytes > 0)
		launch->bytes += operation->bytes;
	else
		launch->bytes = 0;
	if (launch->bus_bytes >= 0 && operation->bus_bytes >= 0)
		launch->bus_bytes += operation->bus_bytes;
	else
		launch->bus_bytes = -1;
	if (operation->ranks < launch->ranks)
		launch->ranks = operation->ranks;
	if (!is_class(launch, &operation->class))
		launch->class.size_class = MIXED;
}

/* Takes note of an operation, by its first part, or of one end of a transfer:
 * bytes that a rank sends and those that it receives in one launch are not
 * added, as nccl-tests does not. */
static int note(struct ncs_moving *moving, const struct ncs_joined *joined,
		const struct ncs_part *part,
		const struct ncs_moving_part *times)
{
	struct moved_launch operation = launch_of(joined, part, times);
	struct moved_launch whole = operation;
	unsigned function = function_of(joined, part);
	struct ncs_moving_ring *ring = ring_of(moving, function);
	bool is_there = false;

	if (!ring)
		return -ENOMEM;
	for (unsigned i = 0; i < NCS_FUNCTION_COUNT; i++) {
		struct moved_launch *launch =
			moving->rings[i] &&
					(operation.rank < 0 || i == function) ?
				find_launch(moving->rings[i], &operation) :
				NULL;

		if (!launch)
			continue;
		add(launch, &operation);
		whole = *launch;
		launch->operations += i == function;
		is_there |= i == function;
	}
	if (is_there)
		return 0;
	whole.operations = 1;
	ring->launches[ring->count++ % NCS_MOVING_RECENT] = whole;
	return 0;
}

int ncs_moving_note(struct ncs_moving *moving, const struct ncs_joined *joined)
{
	struct ncs_moving_part times;
	int error;

	if (!ncs_joined_moving(joined, &times))
		return 0;
	error = note(moving, joined, &joined->parts[0], &times);
	if (ncs_joined_is_transfer(joined))
		error |= note(moving, joined, &joined->parts[1], &times);
	return error ? -ENOMEM : 0;
}

size_t ncs_moving_ranks(unsigned function, int nranks)
{
	return ncs_is_transfer(function) && nranks > 2 ? 2 : (size_t)nranks;
}

/* --- Figures -------------------------------------------------------------- */

/* The latest launches, their values in any order. */
struct values {
	size_t count, sized;
	uint64_t moving_ns[NCS_MOVING_RECENT];
	uint64_t least_ns[NCS_MOVING_RECENT]; /* without their errors … */
	uint64_t most_ns[NCS_MOVING_RECENT];  /* … and with them */
	double algbw[NCS_MOVING_RECENT];
	double busbw[NCS_MOVING_RECENT];
	bool has_busbw;
};

static void take(struct values *values, const struct moved_launch *launch)
{
	uint64_t moving_ns = launch->end_ns - launch->begin_ns;
	size_t i = values->count++;

	values->moving_ns[i] = moving_ns;
	values->least_ns[i] = ncs_time_since(launch->error_ns, moving_ns);
	values->most_ns[i] = moving_ns + launch->error_ns;
	if (launch->bytes == 0)
		return;
	values->algbw[values->sized] =
		(double)launch->bytes / (double)moving_ns;
	values->busbw[values->sized++] = launch->bus_bytes / (double)moving_ns;
	values->has_busbw &= launch->bus_bytes >= 0;
}

/* Returns the median that belongs to the least of two median times. */
static double median(double *values, size_t count)
{
	return count > 0 ? ncs_select(values, count, count / 2) : -1;
}

/* The median of times that are known within errors is between the medians of
 * their bounds. */
static void find_medians(struct values *values, struct ncs_moving_view *view)
{
	size_t count = values->count;
	uint64_t least_ns, most_ns;

	view->moving_ns =
		ncs_percentile_of_values(values->moving_ns, count, 50);
	least_ns = ncs_percentile_of_values(values->least_ns, count, 50);
	most_ns = ncs_percentile_of_values(values->most_ns, count, 50);
	view->error_ns = view->moving_ns - least_ns;
	if (most_ns - view->moving_ns > view->error_ns)
		view->error_ns = most_ns - view->moving_ns;
	if (least_ns == 0)
		return;
	view->algbw = median(values->algbw, values->sized);
	if (values->has_busbw)
		view->busbw = median(values->busbw, values->sized);
}

static size_t kept(const struct ncs_moving_ring *ring)
{
	return ring->count < NCS_MOVING_RECENT ? (size_t)ring->count :
						 NCS_MOVING_RECENT;
}

static const struct moved_launch *latest(const struct ncs_moving_ring *ring,
					 uint64_t back)
{
	return &ring->launches[(ring->count - 1 - back) % NCS_MOVING_RECENT];
}

/* Returns the best source of times that any launch has: times of two sources
 * are not compared. */
static unsigned best_timing(const struct ncs_moving_ring *ring,
			    const struct ncs_moving_class *only)
{
	uint64_t timed[NCS_TIMING_COUNT] = { 0 };

	for (size_t i = 0; i < kept(ring); i++)
		if (!only || is_class(latest(ring, i), only))
			timed[latest(ring, i)->timing]++;
	return ncs_best_timing(timed);
}

/* Returns the figures of the latest `most` launches of a ring at most. */
static struct ncs_moving_view figures(const struct ncs_moving_ring *ring,
				      uint64_t most,
				      const struct ncs_moving_class *only,
				      uint64_t now_ns, uint64_t window_ns)
{
	struct ncs_moving_view view = {
		.algbw = -1,
		.busbw = -1,
		.timing = best_timing(ring, only),
	};
	struct values values;

	values.count = values.sized = 0;
	values.has_busbw = true;
	for (size_t i = 0; i < kept(ring) && i < most; i++) {
		const struct moved_launch *launch = latest(ring, i);
		uint64_t age_ns = ncs_time_since(launch->end_ns, now_ns);

		if ((only && !is_class(launch, only)) ||
		    launch->timing != view.timing ||
		    (window_ns > 0 && age_ns > window_ns &&
		     view.launches >= NCS_MOVING_LEAST))
			continue;
		take(&values, launch);
		view.operations += launch->operations;
		if (view.launches++ == 0) {
			view.ranks = launch->ranks;
			view.age_ns = age_ns;
		}
		if (age_ns < view.age_ns)
			view.age_ns = age_ns;
		if (launch->ranks < view.ranks)
			view.ranks = launch->ranks;
	}
	if (view.launches == 0)
		return view;
	view.is_stale = view.age_ns > window_ns &&
			view.age_ns > NCS_MOVING_STALE_NS;
	find_medians(&values, &view);
	return view;
}

struct ncs_moving_view ncs_moving_figures(const struct ncs_moving *moving,
					  unsigned function,
					  const struct ncs_moving_class *only,
					  uint64_t window_ns)
{
	const struct ncs_moving_ring *ring =
		function < NCS_FUNCTION_COUNT ? moving->rings[function] : NULL;

	if (!ring)
		return (struct ncs_moving_view){ .algbw = -1,
						 .busbw = -1,
						 .timing = NCS_TIMING_COUNT };
	return figures(ring, ring->count, only, moving->now_ns, window_ns);
}

struct ncs_moving_view
ncs_communicator_moving(const struct ncs_communicator *communicator,
			unsigned function, const struct ncs_moving_class *only)
{
	static const struct ncs_moving none;
	const struct ncs_moving *moving =
		communicator->skew ? &communicator->skew->moving : &none;
	uint64_t window_ns = 0;

	/* Without launches of the function there is no need to ask all ranks,
	 * which a table would do in each of their rows. */
	if (function >= NCS_FUNCTION_COUNT || !moving->rings[function])
		return ncs_moving_figures(moving, function, only, 0);
	for (size_t i = 0; i < communicator->rank_count; i++) {
		uint64_t one_ns = ncs_rank_window_ns(communicator->ranks[i]);

		if (one_ns > window_ns)
			window_ns = one_ns;
	}
	return ncs_moving_figures(moving, function, only, window_ns);
}

/* --- The past ------------------------------------------------------------- */

void ncs_moving_update(struct ncs_moving *moving, uint64_t now_ns)
{
	moving->now_ns = now_ns;
	moving->updates++;
	for (unsigned i = 0; i < NCS_FUNCTION_COUNT; i++) {
		struct ncs_moving_ring *ring = moving->rings[i];

		if (!ring)
			continue;
		ncs_recent_set(&ring->busbw, moving->updates,
			       figures(ring, ring->count - ring->traced, NULL,
				       now_ns, 0)
				       .busbw);
		ring->traced = ring->count;
	}
}

const struct ncs_recent *
ncs_communicator_busbw_recent(const struct ncs_communicator *communicator,
			      unsigned function, uint64_t *count)
{
	const struct ncs_skew_state *state = communicator->skew;

	if (!state || !state->moving.rings[function])
		return NULL;
	*count = state->moving.updates;
	return &state->moving.rings[function]->busbw;
}

/* --- The busiest class ---------------------------------------------------- */

/* Returns the first rank that lives; the first of all if none does. */
static const struct ncs_rank *
speaker_of(const struct ncs_communicator *communicator)
{
	for (size_t i = 0; i < communicator->rank_count; i++)
		if (ncs_rank_is_live(communicator->ranks[i]))
			return communicator->ranks[i];
	return communicator->ranks[0];
}

/* Returns about how many bytes a class carried since a time. An operation of no
 * known size counts as one byte, so that something is found where no size is
 * known. */
static double bytes_since(const struct ncs_class_view *view,
			  const struct ncs_counters *base)
{
	uint64_t before = base ? ncs_counters_class(base, view) : 0;
	uint64_t low = view->size_class < NCS_SIZE_CLASS_COUNT ?
			       ncs_size_class_low(view->size_class) :
			       0;

	if (view->operations <= before)
		return 0;
	return (double)(view->operations - before) *
	       (double)(low > 0 ? low : 1);
}

static void find_class(const struct ncs_rank *rank,
		       const struct ncs_counters *base,
		       struct ncs_busiest *busiest)
{
	for (size_t i = 0; i < rank->now.class_count; i++) {
		const struct ncs_class_view *view = &rank->now.classes[i];
		double bytes = bytes_since(view, base);

		if (bytes <= busiest->bytes ||
		    view->function >= NCS_FUNCTION_COUNT)
			continue;
		busiest->bytes = bytes;
		busiest->function = view->function;
		busiest->which = (struct ncs_moving_class){
			.size_class = (uint8_t)view->size_class,
			.algorithm = (uint8_t)view->algorithm,
			.protocol = (uint8_t)view->protocol,
		};
	}
}

static void find_busiest(struct ncs_communicator *communicator)
{
	const struct ncs_rank *rank = speaker_of(communicator);
	struct ncs_busiest *busiest = &communicator->busiest;

	*busiest = (struct ncs_busiest){ .function = NCS_FUNCTION_COUNT,
					 .view = { .algbw = -1, .busbw = -1 } };
	find_class(rank,
		   ncs_history_base(&rank->history, NCS_WINDOW_100_S,
				    rank->now.taken_ns),
		   busiest);
	/* A job that stands still: what it did before. */
	if (busiest->bytes <= 0)
		find_class(rank, NULL, busiest);
	if (busiest->function < NCS_FUNCTION_COUNT)
		busiest->view = ncs_communicator_moving(
			communicator, busiest->function, &busiest->which);
}

void ncs_busiest_find(struct ncs_model *model)
{
	for (size_t i = 0; i < model->communicator_count; i++)
		find_busiest(&model->communicators[i]);
}

const struct ncs_communicator *
ncs_busiest_communicator(const struct ncs_model *model)
{
	const struct ncs_communicator *best = NULL;

	for (size_t i = 0; i < model->communicator_count; i++) {
		const struct ncs_communicator *communicator =
			&model->communicators[i];

		if (communicator->busiest.function < NCS_FUNCTION_COUNT &&
		    (!best ||
		     communicator->busiest.bytes > best->busiest.bytes))
			best = communicator;
	}
	return best;
}

const struct ncs_recent *
ncs_busiest_recent(const struct ncs_communicator *communicator, uint64_t *count)
{
	if (!communicator ||
	    communicator->busiest.function >= NCS_FUNCTION_COUNT)
		return NULL;
	return ncs_communicator_busbw_recent(
		communicator, communicator->busiest.function, count);
}

/* --- The peak of links ---------------------------------------------------- */

static uint64_t lesser(uint64_t known, uint64_t mb_s)
{
	return known == 0 || mb_s < known ? mb_s : known;
}

/* Returns the least peak of the networks of its machines; 0: not known. */
static uint64_t network_mb_s(const struct ncs_communicator *communicator)
{
	uint64_t least = 0;

	for (size_t i = 0; i < communicator->rank_count; i++) {
		uint64_t mb_s = communicator->ranks[i]->peaks.network_mb_s;

		if (mb_s > 0)
			least = lesser(least, mb_s);
	}
	return least;
}

/* Whether nothing speaks against it that a rank sends to all of `gpus` by NVLink.
 * Over NVLink no channel is seen; ranks of other agents may have other bits. */
static bool sends_by_nvlink(const struct ncs_rank *rank,
			    const struct ncs_rank *first, uint64_t gpus)
{
	return rank->peaks.nvlink_mb_s > 0 &&
	       (gpus & ~(rank->peaks.own | rank->peaks.reach)) == 0 &&
	       rank->now.channel_count == 0 && ncs_shares_clock(rank, first);
}

/* Returns the least peak of the NVLinks of its GPUs; 0: not known. */
static uint64_t nvlink_mb_s(const struct ncs_communicator *communicator)
{
	uint64_t gpus = 0, least = 0;

	for (size_t i = 0; i < communicator->rank_count; i++) {
		uint64_t own = communicator->ranks[i]->peaks.own;

		/* No two ranks are on one GPU. */
		if (own == 0 || (gpus & own))
			return 0;
		gpus |= own;
	}
	for (size_t i = 0; i < communicator->rank_count; i++) {
		const struct ncs_rank *rank = communicator->ranks[i];

		if (!sends_by_nvlink(rank, communicator->ranks[0], gpus))
			return 0;
		least = lesser(least, rank->peaks.nvlink_mb_s);
	}
	return least;
}

struct ncs_peak
ncs_communicator_peak(const struct ncs_communicator *communicator)
{
	const struct ncs_identity *identity = communicator->identity;
	struct ncs_peak peak = { .link = NCS_PEAK_UNKNOWN };
	uint64_t mb_s = 0;

	if (!(identity->known & NCS_KNOWN_NNODES))
		return peak;
	if (identity->nnodes > 1)
		mb_s = network_mb_s(communicator);
	else if (identity->known & NCS_KNOWN_NRANKS && identity->nranks >= 2 &&
		 communicator->rank_count == (size_t)identity->nranks)
		mb_s = nvlink_mb_s(communicator);
	if (mb_s == 0)
		return peak;
	peak.link = identity->nnodes > 1 ? NCS_PEAK_NETWORK : NCS_PEAK_NVLINK;
	peak.gigabytes = (double)mb_s / 1e3;
	return peak;
}

const char *ncs_peak_link_name(enum ncs_peak_link link)
{
	static const char *const names[] = {
		[NCS_PEAK_NVLINK] = "nvlink",
		[NCS_PEAK_NETWORK] = "network",
	};

	return names[link];
}
