/* SPDX-License-Identifier: MIT */
/* Aligns a recording; see align.h.
 *
 * The collectives at the beginning of the recording show roughly how far apart
 * the hosts' clocks are. If the recording is long, the collectives at its end
 * show how the clocks drift. Windows in between then cover the same time on all
 * hosts, and the messages in these windows give the exact alignment.
 */
#include "record/read/align.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/clocks/traffic.h"
#include "analysis/records/operation_record.h"
#include "ncclstat/abi_header.h"
#include "shm/clock.h"

#define MS UINT64_C(1000000)
#define S UINT64_C(1000000000)

#define WINDOWS 24
#define WINDOW_NS (60 * MS)

/* Largest number of steps read, in all windows together. */
#define STEPS (UINT64_C(6) << 20)

/* Steps that wait until their other end is read. */
#define STEPS_KEPT ((size_t)1 << 18)

/* Largest number of records searched for the first collectives of all hosts,
 * and the number of records read before the search is first checked. */
#define SEARCHED (UINT64_C(32) << 20)
#define SEARCHED_AT_ONCE (UINT64_C(1) << 20)

/* Largest number of collectives kept during the search, of all hosts and of
 * one. */
#define KEPT (UINT64_C(1) << 22)
#define KEPT_MAX (UINT64_C(1) << 16)

/* Largest number of children of all ranks that wait for their operations, and
 * the least for one rank. */
#define CHILDREN ((size_t)1 << 20)
#define CHILDREN_LEAST ((size_t)1024)

/* Longest time in which clocks that were aligned at the beginning do not drift
 * far apart. */
#define SHORT_NS (30 * S)

struct align {
	struct ncs_recording *recording;
	struct ncs_recording_alignment *result;
	uint64_t from_ns;
	uint64_t until_ns;
	size_t hosts;
	struct ncs_traffic_facts *facts; /* by rank */
	/* State of the current phase; of zeros between phases. */
	struct ncs_traffic traffic;
	struct ncs_traffic_rank *ranks;
	size_t rank_count;
	/* First and last time at which the records of this phase were
	 * drained. */
	uint64_t seen_from_ns;
	uint64_t seen_until_ns;
	int error;
};

/* --- Phases -------------------------------------------------------------- */

/* Learns a rank's identity, which up to version 3 of NCCL's profiler API the
 * first header lacks, and the rest from its last state. Without a state, less is
 * known of the rank. Returns 0 or -ENOMEM. */
static int learn(struct align *align, size_t index)
{
	const struct ncs_recorded_rank *rank =
		ncs_recording_rank(align->recording, index);
	struct ncs_traffic_facts *facts = &align->facts[index];
	struct ncs_snapshot snapshot;
	struct ncs_reader *reader;
	uint64_t taken_ns;
	int found = ncs_recording_state(align->recording, index, rank->until_ns,
					&reader, &taken_ns);

	facts->host = rank->host;
	facts->identity = rank->header->identity;
	if (found != NCS_RECORDED_YES)
		return found == -ENOMEM ? found : 0;
	if (ncs_snapshot_init(&snapshot, reader) != 0)
		return -ENOMEM;
	ncs_snapshot_take(&snapshot, reader, taken_ns);
	ncs_traffic_learn(facts, &snapshot);
	ncs_snapshot_release(&snapshot);
	return 0;
}

static void learn_all(struct align *align)
{
	size_t ranks = ncs_recording_rank_count(align->recording);

	align->facts = calloc(ranks + 1, sizeof(*align->facts));
	if (!align->facts)
		align->error = -ENOMEM;
	for (size_t i = 0; i < ranks && !align->error; i++)
		align->error = learn(align, i);
}

static void end_phase(struct align *align)
{
	for (size_t i = 0; i < align->rank_count; i++)
		ncs_rank_operations_free(align->ranks[i].operations);
	free(align->ranks);
	align->ranks = NULL;
	align->rank_count = 0;
	ncs_traffic_release(&align->traffic);
}

static size_t kept_of(const struct align *align, bool with_messages)
{
	uint64_t kept = KEPT / align->hosts;

	if (with_messages)
		return 0;
	return kept < KEPT_MAX ? (size_t)kept : KEPT_MAX;
}

/* Returns the number of children of a rank that may wait. */
static size_t children_of(size_t ranks)
{
	size_t own = CHILDREN / (ranks + 1);

	return own > CHILDREN_LEAST ? own : CHILDREN_LEAST;
}

static int begin_rank(struct align *align, size_t index)
{
	struct ncs_traffic_facts *facts = &align->facts[index];

	align->ranks[index] = (struct ncs_traffic_rank){
		.operations = ncs_rank_operations_new(children_of(
			ncs_recording_rank_count(align->recording))),
		.traffics = { &align->traffic },
		.owners = { index },
		.count = 1,
	};
	if (!align->ranks[index].operations)
		return -ENOMEM;
	/* The clock as aligned so far. */
	facts->clock =
		ncs_recording_rank(align->recording, index)->header->clock;
	return ncs_traffic_expect(&align->traffic, index, facts);
}

static void begin_phase(struct align *align, bool with_messages)
{
	size_t ranks = ncs_recording_rank_count(align->recording);

	align->seen_from_ns = UINT64_MAX;
	align->seen_until_ns = 0;
	align->error = ncs_traffic_init(&align->traffic, align->hosts,
					kept_of(align, with_messages),
					with_messages ? STEPS_KEPT : 0);
	align->ranks = calloc(ranks + 1, sizeof(*align->ranks));
	if (!align->ranks)
		align->error = -ENOMEM;
	for (size_t i = 0; i < ranks && !align->error; i++) {
		align->rank_count = i + 1;
		align->error = begin_rank(align, i);
	}
	for (size_t i = 0; i < align->hosts && !align->error; i++)
		align->error = ncs_recording_tell_clock(
			align->recording, i, align->traffic.alignment);
}

/* Selects the steps to match: those that ended in a given time. */
struct align_filter {
	uint64_t from_ns;
	uint64_t until_ns;
	uint64_t steps; /* number of steps that may still be selected */
};

static bool is_wanted(struct align_filter *filter,
		      const struct ncs_clock *clock,
		      const struct ncs_record *record)
{
	uint64_t end_ns = ncs_clock_ns(clock, record->start + record->duration);

	if (filter->steps == 0 || end_ns < filter->from_ns ||
	    end_ns > filter->until_ns)
		return false;
	filter->steps--;
	return true;
}

/* Takes an operation's own record or, in a phase with messages, the record of a
 * child; of steps only the wanted ones. */
static int take_record(struct align *align, size_t index,
		       const struct ncs_record *record,
		       struct align_filter *filter)
{
	const struct ncs_known_operation *known;

	if (!filter && !ncs_record_is_operation(record))
		return 0;
	if (record->event == NCS_EVENT_PROXY_STEP &&
	    !is_wanted(
		    filter,
		    &ncs_recording_rank(align->recording, index)->header->clock,
		    record))
		return 0;
	return ncs_traffic_take(&align->ranks[index], record, &known);
}

static void take_batch(struct align *align, const struct ncs_batch *batch,
		       struct align_filter *filter)
{
	struct ncs_rank_operations *operations =
		align->ranks[batch->rank].operations;

	if (batch->lost > 0)
		ncs_rank_operations_lose(operations);
	if (batch->count > 0)
		ncs_rank_operations_begin(operations, batch->lane,
					  batch->records);
	for (size_t i = 0; i < batch->count && !align->error; i++)
		align->error = take_record(align, batch->rank,
					   &batch->records[i], filter);
}

/* Forgets what waits: the records that follow are of another time. */
static void flush(struct align *align)
{
	size_t ranks = align->rank_count;

	for (size_t i = 0; i < ranks && !align->error; i++) {
		struct ncs_traffic_rank *rank = &align->ranks[i];

		align->error = ncs_traffic_give_up(rank);
		ncs_rank_operations_free(rank->operations);
		rank->operations = ncs_rank_operations_new(children_of(ranks));
		if (!rank->operations)
			align->error = -ENOMEM;
	}
	if (!align->error)
		align->error = ncs_traffic_flush(&align->traffic);
}

/* Collects facts from the records of a given time, at most records_max of them.
 * Returns the number of records read. */
static uint64_t feed(struct align *align, uint64_t from_ns, uint64_t until_ns,
		     uint64_t records_max, struct align_filter *filter)
{
	struct ncs_recording_pass *pass =
		ncs_recording_pass_open(align->recording, from_ns, until_ns);
	struct ncs_batch batch;
	uint64_t records = 0;
	int more = 0;

	if (!pass)
		align->error = -ENOMEM;
	while (!align->error && records < records_max &&
	       (more = ncs_recording_pass_next(pass, &batch)) > 0) {
		records += batch.count;
		if (batch.drained_ns < align->seen_from_ns)
			align->seen_from_ns = batch.drained_ns;
		if (batch.drained_ns > align->seen_until_ns)
			align->seen_until_ns = batch.drained_ns;
		take_batch(align, &batch, filter);
	}
	if (more < 0)
		align->error = more;
	ncs_recording_pass_close(pass);
	flush(align);
	align->result->records += records;
	return records;
}

static void solve(struct align *align, uint64_t from_ns, uint64_t until_ns)
{
	if (!align->error)
		align->error = ncs_alignment_solve(align->traffic.alignment, 0,
						   from_ns, until_ns,
						   align->result->hosts,
						   &align->result->quality);
}

static bool all_have_traffic(const struct align *align)
{
	for (size_t i = 0; i < align->hosts; i++)
		if (align->result->hosts[i].by != NCS_ALIGNED_BY_TRAFFIC)
			return false;
	return true;
}

/* Applies each host's alignment to its clock. Without drift, applies the offset
 * that the host has after_ns after the beginning. */
static void move_hosts(struct align *align, bool with_drift, uint64_t after_ns)
{
	for (size_t i = 1; i < align->hosts; i++) {
		const struct ncs_aligned *aligned = &align->result->hosts[i];
		const struct ncs_recorded_host *host =
			ncs_recording_host(align->recording, i);
		double drift = with_drift ? aligned->drift : 0;
		uint64_t first_ns = host->first_ns + (uint64_t)host->offset_ns;
		double moved =
			drift * (double)(int64_t)(first_ns - aligned->at_ns);

		if (aligned->by != NCS_ALIGNED_BY_TRAFFIC)
			continue;
		if (!with_drift)
			moved = aligned->drift * (double)after_ns;
		ncs_recording_align(
			align->recording, i,
			(int64_t)((uint64_t)host->offset_ns +
				  (uint64_t)aligned->offset_ns +
				  (uint64_t)(int64_t)llround(moved)),
			host->drift + drift + host->drift * drift,
			aligned->error_ns);
	}
}

/* --- Entry points -------------------------------------------------------- */

/* Limits the requested time to the recording, in common time as aligned so
 * far. */
static void find_time(struct align *align, uint64_t from_ns, uint64_t until_ns)
{
	const struct ncs_recording_facts *facts =
		ncs_recording_facts(align->recording);

	align->from_ns = from_ns > facts->from_ns ? from_ns : facts->from_ns;
	align->until_ns = until_ns < facts->until_ns ? until_ns :
						       facts->until_ns;
	if (align->until_ns < align->from_ns)
		align->until_ns = align->from_ns;
	align->result->length_ns = align->until_ns - align->from_ns;
}

/* Finds each clock's offset at the beginning. */
static void search_beginning(struct align *align)
{
	uint64_t records = UINT64_MAX, at_once = SEARCHED_AT_ONCE;
	bool found = false;

	while (!align->error && !found && at_once <= SEARCHED &&
	       records >= at_once / 4) {
		begin_phase(align, false);
		records = feed(align, align->from_ns, align->until_ns, at_once,
			       NULL);
		solve(align, align->seen_from_ns, align->seen_until_ns);
		found = !align->error && all_have_traffic(align);
		end_phase(align);
		at_once *= 4;
	}
	if (!align->error)
		move_hosts(align, false,
			   (align->seen_until_ns - align->seen_from_ns) / 2);
}

/* Finds each clock's drift from the collectives at the end. */
static void search_end(struct align *align)
{
	uint64_t apart_ns = 2 * S + align->result->length_ns / 500;

	if (align->error || align->result->length_ns < SHORT_NS)
		return;
	begin_phase(align, false);
	feed(align, align->from_ns, align->from_ns + 2 * S, SEARCHED / 4, NULL);
	feed(align, align->until_ns - apart_ns, align->until_ns, SEARCHED / 4,
	     NULL);
	solve(align, align->from_ns, align->until_ns);
	end_phase(align);
	if (!align->error)
		move_hosts(align, true, 0);
}

static void read_windows(struct align *align)
{
	struct ncs_recording_alignment *result = align->result;
	bool is_short = result->length_ns <= 2 * WINDOWS * WINDOW_NS;
	uint64_t window_ns = is_short ? result->length_ns : WINDOW_NS;
	unsigned windows = is_short ? 1 : WINDOWS;

	begin_phase(align, true);
	for (unsigned i = 0; i < windows && !align->error; i++) {
		uint64_t from_ns = align->from_ns;
		struct align_filter filter;

		if (i > 0)
			from_ns += (result->length_ns - window_ns) /
				   (windows - 1) * i;
		filter = (struct align_filter){ from_ns, from_ns + window_ns,
						STEPS / windows };
		feed(align, filter.from_ns, filter.until_ns, UINT64_MAX,
		     &filter);
		result->windows++;
		result->windows_ns += window_ns;
	}
	solve(align, align->from_ns, align->until_ns);
	if (!align->error) {
		result->collectives = align->traffic.collectives;
		result->messages = align->traffic.message_count;
		move_hosts(align, true, 0);
	}
	end_phase(align);
}

/* Sets the clock error to unknown for each host that is aligned only by
 * CLOCK_REALTIME, if that clock was set during the recording. */
static void distrust_set_clocks(struct align *align)
{
	const struct ncs_aligned *hosts = align->result->hosts;

	for (size_t i = 1; i < align->hosts; i++) {
		const struct ncs_recorded_host *host =
			ncs_recording_host(align->recording, i);

		if (hosts[i].by != NCS_ALIGNED_BY_TRAFFIC &&
		    hosts[0].realtime_steps + hosts[i].realtime_steps > 0)
			ncs_recording_align(align->recording, i,
					    host->offset_ns, host->drift,
					    UINT64_MAX);
	}
}

int ncs_recording_align_hosts(struct ncs_recording *recording, uint64_t from_ns,
			      uint64_t until_ns,
			      struct ncs_recording_alignment *alignment)
{
	struct align align = {
		.recording = recording,
		.result = alignment,
		.hosts = ncs_recording_host_count(recording),
	};

	*alignment = (struct ncs_recording_alignment){ 0 };
	if (align.hosts < 2)
		return 0;
	alignment->host_count = align.hosts;
	alignment->hosts = calloc(align.hosts, sizeof(*alignment->hosts));
	if (!alignment->hosts)
		return -ENOMEM;
	find_time(&align, from_ns, until_ns);
	learn_all(&align);
	search_beginning(&align);
	find_time(&align, from_ns, until_ns);
	search_end(&align);
	find_time(&align, from_ns, until_ns);
	if (!align.error)
		read_windows(&align);
	if (!align.error)
		distrust_set_clocks(&align);
	end_phase(&align);
	free(align.facts);
	return align.error;
}

void ncs_recording_alignment_release(struct ncs_recording_alignment *alignment)
{
	free(alignment->hosts);
	*alignment = (struct ncs_recording_alignment){ 0 };
}
