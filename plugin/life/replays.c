/* SPDX-License-Identifier: MIT */
/* Replays of CUDA graphs; see replays.h. */
#include "plugin/life/replays.h"

#include <string.h>

#include "plugin/events/operation.h"
#include "plugin/life/launch_end.h"
#include "plugin/nccl/stamps.h"
#include "plugin/state/captured.h"
#include "plugin/state/lane.h"
#include "plugin/state/registry.h"
#include "plugin/state/stamp_choice.h"

/* The GPU's clock is asked again after this time. An answer within so long is
 * accepted, and waited for so long. */
#define CLOCK_AGE_NS UINT64_C(2000000000)
#define CLOCK_PATIENCE_NS UINT64_C(50000)
#define CLOCK_ERROR_NS UINT64_C(100000)

/* A context's stamps, as they are read. */
struct reader {
	uint32_t latest; /* number of the latest one that was read */
	uint64_t asked; /* number of the latest request for the clock */
	/* The clocks at the same time; 0 before that is known. */
	uint64_t base_ns, base_ticks;
	uint64_t error_ns;
};

/* The replays of a communicator. Under `ncs_watched_lock`. */
struct replayed {
	struct ncs_comm *comm; /* theirs; NULL if there is none yet */
	uint64_t of;           /* context of the communicator */
	uint64_t launches;     /* that have begun */
	uint64_t numbers[NCS_FUNCTION_MAX]; /* of the next operations */
	bool refused;	/* none could be made */
	bool uncounted; /* stamps were lost: numbers would differ from other
			   ranks' */
};

static struct reader readers[NCS_STAMPS_MAX];
static struct replayed replayed[NCS_COMM_MAX];
static void (*make_comm)(const struct ncs_comm *comm);

void ncs_replays_reset(void (*make)(const struct ncs_comm *comm))
{
	make_comm = make;
}

/* --- The GPU's clock ---------------------------------------------------- */

static uint64_t age_ns(uint64_t ticks)
{
	return ncs_ns_of_ticks(ncs_now() - ticks);
}

/* Asks the GPU for its time, and waits a moment for the answer: the GPU may be
 * busy. A request that is late is not repeated before it is answered. */
static void ask_clock(struct reader *reader, const struct ncs_stamps *stamps,
		      void *stream)
{
	const struct ncs_stamp_clock *clock = ncs_stamps_clock(stamps);
	uint64_t before, after;

	/* ORDER: pairs with ncs_stamps_ask() (plugin/nccl/stamps.c),
	 * which writes both words at once. */
	if (ncs_load_acquire(&clock->number) != reader->asked)
		return;
	before = ncs_now();
	if (ncs_stamps_ask(stamps, stream, reader->asked + 1) != 0)
		return;
	reader->asked++;
	do {
		after = ncs_now();
		/* ORDER: pairs with ncs_stamps_ask()
		 * (plugin/nccl/stamps.c): so is the time. */
	} while (ncs_load_acquire(&clock->number) != reader->asked &&
		 age_ns(before) < CLOCK_PATIENCE_NS);
	if (ncs_load_relaxed(&clock->number) != reader->asked ||
	    (reader->base_ns != 0 && age_ns(before) > CLOCK_ERROR_NS))
		return;
	reader->base_ns = ncs_load_relaxed(&clock->time_ns);
	reader->base_ticks = before + (after - before) / 2;
	reader->error_ns = ncs_ns_of_ticks((after - before) / 2);
}

void ncs_replays_renew_clock(const struct ncs_cuda_primary *primary,
			     void *stream)
{
	for (unsigned i = 0; i < NCS_STAMPS_MAX; i++) {
		struct reader *reader = &readers[i];
		const struct ncs_stamps *stamps = &ncs_stamps[i];

		/* ORDER: pairs with make_in() (plugin/nccl/stamps.c): it is
		 * complete. */
		if (ncs_load_acquire(&stamps->state) == NCS_STAMPS_READY &&
		    stamps->primary.context == primary->context &&
		    stamps->primary.id == primary->id &&
		    (reader->base_ns == 0 ||
		     age_ns(reader->base_ticks) >= CLOCK_AGE_NS))
			ask_clock(reader, stamps, stream);
	}
}

/* Returns a stamp's time in ticks; 0 if that is not known. */
static uint64_t ticks_of(const struct reader *reader, uint64_t time_ns)
{
	/* Sign-extended from the bits that stamps have. */
	int64_t since_ns = (int64_t)((time_ns - reader->base_ns)
				     << (64 - NCS_STAMP_TIME_BITS)) >>
			   (64 - NCS_STAMP_TIME_BITS);

	if (reader->base_ns == 0)
		return 0;
	return since_ns >= 0 ? reader->base_ticks +
				       ncs_ticks_of_ns((uint64_t)since_ns) :
			       reader->base_ticks -
				       ncs_ticks_of_ns((uint64_t)-since_ns);
}

/* --- Operations --------------------------------------------------------- */

/* Whether numbers of replayed operations would differ from other ranks'. */
static bool is_uncounted(const struct replayed *of,
			 const struct ncs_graph *graph)
{
	return of->uncounted ||
	       ncs_load_relaxed(&graph->comm->captures_missed) != 0;
}

/* Starts the operations of a launch, at this time in ticks. The lock is held. */
static void begin_launch(struct replayed *of, const struct ncs_graph *graph,
			 struct ncs_captured_launch *launch, uint64_t ticks)
{
	struct ncs_header *header = of->comm->header;
	struct ncs_lane_state *lane = ncs_lane_of_caller(of->comm);
	uint64_t number = ++of->launches;

	ncs_lane_note_call(lane, ticks);
	ncs_store_relaxed(&header->graphs.launches, number);
	ncs_store_relaxed(&header->launches.launched, number);
	ncs_store_relaxed(&header->launches.launched_at, ticks);
	ncs_store_relaxed(&header->launches.followed, number);
	ncs_store_relaxed(&header->launches.begun, number);
	ncs_store_relaxed(&header->launches.begun_at, ticks);
	lane->launch_number = number;
	launch->bytes = 0;
	for (uint32_t i = launch->first; i != 0;) {
		struct ncs_captured_operation *op =
			&ncs_captured.operations[i - 1];
		struct ncs_operation_facts facts = op->facts;
		uint64_t bytes;

		facts.sequence_number =
			is_uncounted(of, graph) ?
				NCS_NO_SEQUENCE_NUMBER :
				graph->base[facts.function] + op->place;
		ncs_message_bytes(of->comm->nranks, facts.function,
				  facts.datatype, facts.count, &bytes);
		launch->bytes += bytes;
		op->handle = ncs_operation_replay_began(of->comm, lane, &facts,
							ticks);
		i = op->next;
	}
}

/* Ends them; `time_ns` is 0 if it is not known how long the launch took. The lock
 * is held. */
static void end_launch(const struct replayed *of,
		       struct ncs_captured_launch *launch, uint64_t time_ns)
{
	struct ncs_header *header = of->comm->header;
	struct ncs_lane_state *lane = ncs_lane_of_caller(of->comm);
	struct ncs_launch_end end = {
		.begin = time_ns != 0 ? launch->begin : 0,
		.time_ns = time_ns,
		.bytes = launch->bytes,
	};
	uint64_t now = ncs_now();

	for (uint32_t i = launch->first; i != 0;) {
		const struct ncs_captured_operation *op =
			&ncs_captured.operations[i - 1];

		ncs_operation_replay_ended(of->comm, lane, op->handle, &end,
					   now);
		i = op->next;
	}
	launch->begin = launch->begin_ns = 0;
	ncs_store_relaxed(&header->launches.ended, of->launches);
	ncs_store_relaxed(&header->launches.ended_at, now);
	if (time_ns == 0)
		ncs_store_relaxed(&header->launches.status, NCS_STREAM_SOME);
	else
		ncs_add_relaxed(&header->graphs.timed, 1);
}

/* Counts the operations of launches without stamps: those after the latest known
 * one of the replay and before `next`, the index plus 1 of a launch that begins;
 * 0 if it is all the rest. */
static void count_unstamped(struct replayed *of, struct ncs_graph *graph,
			    uint32_t next)
{
	uint32_t i = graph->latest != 0 ?
			     ncs_captured.launches[graph->latest - 1].next :
			     graph->first;

	while (i != 0 && i != next) {
		struct ncs_captured_launch *launch =
			&ncs_captured.launches[i - 1];

		if (launch->begin_ns == 0) {
			begin_launch(of, graph, launch, ncs_now());
			end_launch(of, launch, 0);
		}
		graph->latest = i;
		i = launch->next;
	}
}

/* A replay of the graph begins, so that the one before is over: its operations
 * get the next numbers. */
static void begin_replay(struct replayed *of, struct ncs_graph *graph)
{
	struct ncs_graphs *told = &of->comm->header->graphs;

	if (graph->replays++ > 0)
		count_unstamped(of, graph, 0);
	graph->latest = 0;
	for (unsigned i = 0; i < NCS_FUNCTION_MAX; i++) {
		graph->base[i] = of->numbers[i];
		of->numbers[i] += graph->operations[i];
	}
	ncs_store_relaxed(&told->stamped,
			  graph->period | (uint64_t)graph->probe << 32);
	ncs_add_relaxed(&told->replays, 1);
}

/* A launch was reported to have begun. A launch that does not come after the
 * latest one is the next replay's: NCCL orders a communicator's launches. */
static void report_begin(struct replayed *of, struct ncs_graph *graph,
			 struct ncs_captured_launch *launch, uint64_t ticks)
{
	uint32_t index = (uint32_t)(launch - ncs_captured.launches) + 1;

	if (graph->latest == 0 ||
	    launch->number <= ncs_captured.launches[graph->latest - 1].number)
		begin_replay(of, graph);
	count_unstamped(of, graph, index);
	graph->latest = index;
	begin_launch(of, graph, launch, ticks);
}

/* Returns the replays of a communicator that is still there; NULL if it is not.
 * The lock is held. */
static struct replayed *replayed_of(const struct ncs_graph *graph)
{
	struct replayed *of = &replayed[graph->comm - ncs_registry.comms];

	if (ncs_load_relaxed(&graph->comm->context) != graph->context ||
	    !ncs_comm_is_live(graph->comm))
		return NULL;
	if (of->of != graph->context) {
		memset(of, 0, sizeof(*of));
		of->of = graph->context;
	}
	return of;
}

/* Makes the communicator for replays at the first one. Not under the lock. */
static void make_replayed(const struct ncs_graph *graph)
{
	struct replayed *of;
	bool lacking;

	pthread_mutex_lock(&ncs_watched_lock);
	of = replayed_of(graph);
	lacking = of && !of->comm && !of->refused;
	pthread_mutex_unlock(&ncs_watched_lock);
	if (lacking)
		make_comm(graph->comm);
}

void ncs_replays_add(const struct ncs_comm *comm, struct ncs_comm *replays)
{
	struct replayed *of = &replayed[comm->index];

	pthread_mutex_lock(&ncs_watched_lock);
	memset(of, 0, sizeof(*of));
	of->of = ncs_load_relaxed(&comm->context);
	of->comm = replays;
	of->refused = !replays;
	pthread_mutex_unlock(&ncs_watched_lock);
}

static void play(const struct reader *reader, uint32_t word, uint64_t time_ns)
{
	struct ncs_captured_launch *launch =
		&ncs_captured.launches[word >> 1 &
				       (NCS_CAPTURED_LAUNCH_MAX - 1)];
	struct ncs_graph *graph = &ncs_captured.graphs[launch->graph];
	bool ends = word & NCS_STAMP_END;
	struct replayed *of;

	if (!launch->has_end)
		return;
	ncs_stamp_note_time(graph, launch, ends, time_ns);
	/* NCCL reports operations with proxies at each replay itself. */
	if (graph->operations_noted == 0)
		return;
	make_replayed(graph);
	pthread_mutex_lock(&ncs_watched_lock);
	of = replayed_of(graph);
	if (of && of->comm) {
		if (launch->begin_ns != 0)
			end_launch(of, launch,
				   ends ? time_ns - launch->begin_ns : 0);
		if (!ends) {
			uint64_t ticks = ticks_of(reader, time_ns);

			report_begin(of, graph, launch,
				     ticks != 0 ? ticks : ncs_now());
			launch->begin = ticks;
			launch->begin_ns = time_ns;
			ncs_store_relaxed(
				&of->comm->header->launches.error_ns,
				reader->error_ns);
		}
	}
	pthread_mutex_unlock(&ncs_watched_lock);
}

/* --- Reading ------------------------------------------------------------ */

/* Counts stamps that were overwritten, in all communicators that may have had
 * some, and ends what is under way: its end may be among them. */
static void lose(uint64_t lost)
{
	uint64_t launches = ncs_load_relaxed(&ncs_captured.launches_used);

	ncs_stamp_note_lost();
	pthread_mutex_lock(&ncs_watched_lock);
	for (unsigned i = 0; i < NCS_COMM_MAX; i++) {
		struct ncs_comm *comm = replayed[i].comm;

		if (!comm)
			continue;
		ncs_add_relaxed(&comm->header->graphs.lost, lost);
		ncs_store_relaxed(&comm->transfers_missed, 1);
		replayed[i].uncounted = true;
	}
	for (uint64_t i = 0; i < launches && i < NCS_CAPTURED_LAUNCH_MAX; i++) {
		struct ncs_captured_launch *launch = &ncs_captured.launches[i];
		struct replayed *of =
			launch->begin_ns == 0 ?
				NULL :
				replayed_of(&ncs_captured.graphs[launch->graph]);

		if (of && of->comm)
			end_launch(of, launch, 0);
	}
	pthread_mutex_unlock(&ncs_watched_lock);
}

static unsigned read_stamps(struct reader *reader,
			    const struct ncs_stamps *stamps)
{
	unsigned done = 0;

	for (; done < NCS_STAMP_RING; done++) {
		uint32_t number = reader->latest + 1, word;
		uint64_t time_ns;
		enum ncs_stamp_read found = ncs_stamps_read(
			stamps, &number, &word, &time_ns);

		if (found == NCS_STAMP_NONE)
			break;
		if (found == NCS_STAMP_OVERWRITTEN) {
			lose(number - reader->latest - 1);
			reader->latest = number - 1;
			continue;
		}
		reader->latest = number;
		play(reader, word, time_ns);
	}
	return done;
}

unsigned ncs_replays_serve(void)
{
	unsigned done = 0;

	for (unsigned i = 0; i < NCS_STAMPS_MAX; i++)
		/* ORDER: pairs with make_in() (plugin/nccl/stamps.c): it is
		 * complete. */
		if (ncs_load_acquire(&ncs_stamps[i].state) ==
		    NCS_STAMPS_READY)
			done += read_stamps(&readers[i], &ncs_stamps[i]);
	return done;
}

bool ncs_replays_may_come(void)
{
	bool may_come = false;

	pthread_mutex_lock(&ncs_watched_lock);
	for (uint64_t i = 0;
	     !may_come && i < ncs_load_relaxed(&ncs_captured.graphs_used) &&
	     i < NCS_GRAPH_MAX;
	     i++)
		/* ORDER: pairs with graph_of() (plugin/events/capture.c): it
		 * has its communicator. */
		may_come = ncs_load_acquire(&ncs_captured.graphs[i].context) !=
				   0 &&
			   replayed_of(&ncs_captured.graphs[i]) != NULL;
	pthread_mutex_unlock(&ncs_watched_lock);
	return may_come;
}

struct ncs_comm *ncs_replays_remove(const struct ncs_comm *comm)
{
	struct ncs_comm *made = NULL;

	pthread_mutex_lock(&ncs_watched_lock);
	if (replayed[comm->index].of == ncs_load_relaxed(&comm->context)) {
		made = replayed[comm->index].comm;
		memset(&replayed[comm->index], 0, sizeof(replayed[0]));
	}
	pthread_mutex_unlock(&ncs_watched_lock);
	return made;
}

void ncs_replays_forget(void)
{
	memset(readers, 0, sizeof(readers));
	memset(replayed, 0, sizeof(replayed));
	ncs_captured_forget();
	ncs_stamps_forget();
}
