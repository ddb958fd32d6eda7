/* SPDX-License-Identifier: MIT */
/* The JSON dump: one object for each sample, on one line.
 *
 * Keys are part of the interface: other programs parse them. An unknown value
 * is null, never 0. Points in time (*_ns) are by CLOCK_MONOTONIC; durations
 * are in ns, too. Strings from shared memory are cleaned, so they are
 * valid UTF-8. Must not read shared memory itself.
 */
#include <limits.h>

#include "analysis/base/timings.h"
#include "analysis/base/value_names.h"
#include "analysis/model/communicators.h"
#include "analysis/model/launch_waits.h"
#include "analysis/model/moving.h"
#include "analysis/model/peaks.h"
#include "analysis/model/stragglers.h"
#include "tui/commands/dump_command.h"
#include "tui/commands/dump_json_parts.h"
#include "tui/commands/json_values.h"

/* Views that have no ranks, and views that have communicators. */
#define VIEW(name) (1u << NCS_VIEW_##name)
#define WITHOUT_RANKS (VIEW(COMMUNICATOR) | VIEW(FINDING) | VIEW(NODE))
#define WITH_COMMUNICATORS (VIEW(COMMUNICATOR) | VIEW(COLLECTIVE))

/* --- Communicators ------------------------------------------------------- */

static json_t *skew_of(const struct ncs_communicator *communicator)
{
	const struct ncs_skew *skew = ncs_communicator_skew(communicator);
	json_t *object;

	if (!skew)
		return json_null();
	object = json_object();
	ncs_json_add_number(object, "operations", skew->operations);
	ncs_json_add_number(object, "operations_all", skew->all);
	ncs_json_add_number(object, "ranks", skew->ranks);
	ncs_json_add_number(object, "median_ns", skew->median_ns);
	ncs_json_add_number(object, "p99_ns", skew->p99_ns);
	ncs_json_add_number_if(object, "transfer_ns", skew->moved > 0,
			       skew->moving_ns);
	ncs_json_add_number_if(object, "transfer_error_ns", skew->moved > 0,
			       skew->moving_error_ns);
	ncs_json_add_number(object, "error_ns", skew->error_ns);
	ncs_json_add_number(object, "other_clocks", communicator->other_clocks);
	return object;
}

static json_t *straggler_of(const struct ncs_communicator *communicator)
{
	const struct ncs_rank *rank = ncs_communicator_straggler(communicator);
	json_t *object;

	if (!rank)
		return json_null();
	object = json_object();
	ncs_dump_json_identify(object, rank);
	return object;
}

/* Returns the first of the ranks that are behind; null if no rank is behind. */
static json_t *slowest_of(const struct ncs_progress *progress)
{
	const struct ncs_rank *rank = progress->slowest;
	json_t *object;

	if (ncs_progress_behind(progress) == 0)
		return json_null();
	object = json_object();
	ncs_dump_json_identify(object, rank);
	ncs_json_add_number(object, "sequence_number", progress->least);
	ncs_json_add_number(object, "ranks", progress->slowest_count);
	return object;
}

/* The progress of the rank that is at the earliest launch; null if of none it is
 * known. */
static json_t *launches_of(const struct ncs_communicator *communicator)
{
	const struct ncs_rank *last =
		ncs_communicator_last_launch(communicator);
	json_t *object;
	int64_t ahead;

	if (!last)
		return json_null();
	ahead = ncs_rank_launches_ahead(last);
	object = json_object();
	ncs_dump_json_identify(object, last);
	ncs_json_add_number(object, "launched", last->now.launches.launched);
	ncs_json_add_number(object, "begun", last->now.launches.begun);
	ncs_json_add_time(object, "begun_ns", last->now.launches.begun_ns);
	ncs_json_add_number(object, "ended", last->now.launches.ended);
	ncs_json_add_time(object, "ended_ns", last->now.launches.ended_ns);
	ncs_json_add_signed_if(object, "ahead", ahead >= 0, ahead);
	return object;
}

static json_t *function_of(const struct ncs_communicator *communicator,
			   unsigned function,
			   const struct ncs_moving_view *moving)
{
	int nranks = communicator->identity->nranks;
	json_t *object = json_object();

	ncs_json_add_word(object, "function", ncs_function_name(function));
	ncs_json_add_number(object, "operations", moving->operations);
	ncs_json_add_number(object, "launches", moving->launches);
	ncs_json_add_number(object, "ranks", moving->ranks);
	ncs_json_add_bool(object, "all_ranks",
			  communicator->identity->known & NCS_KNOWN_NRANKS &&
				  moving->ranks >=
					  ncs_moving_ranks(function, nranks));
	ncs_json_add_word(object, "timing", ncs_timing_name(moving->timing));
	ncs_json_add_number(object, "moving_ns", moving->moving_ns);
	ncs_json_add_number(object, "error_ns", moving->error_ns);
	ncs_json_add_real(object, "algbw_gbs", moving->algbw);
	ncs_json_add_real(object, "busbw_gbs", moving->busbw);
	ncs_json_add_number(object, "age_ns", moving->age_ns);
	ncs_json_add_bool(object, "stale", moving->is_stale);
	return object;
}

static json_t *functions_of(const struct ncs_communicator *communicator)
{
	json_t *functions = json_array();

	for (unsigned i = 0; i < NCS_FUNCTION_COUNT; i++) {
		struct ncs_moving_view moving =
			ncs_communicator_moving(communicator, i, NULL);

		if (moving.operations > 0)
			ncs_json_append(functions,
					function_of(communicator, i, &moving));
	}
	return functions;
}

static json_t *communicator_of(const struct ncs_communicator *communicator)
{
	const struct ncs_progress *progress = &communicator->progress;
	bool known = progress->known > 0;
	struct ncs_peak peak = ncs_communicator_peak(communicator);
	json_t *object = json_object();

	ncs_json_add(object, "communicator",
		     ncs_json_comm(communicator->identity));
	ncs_json_add_number(object, "ranks_seen", communicator->rank_count);
	ncs_json_add_number(object, "ranks_live", communicator->live);
	ncs_json_add_number(object, "ranks_silent", communicator->silent);
	ncs_json_add_number(object, "ranks_finished", communicator->finished);
	ncs_json_add_number(object, "ranks_dead", communicator->dead);
	ncs_json_add_word_if(object, "function", known,
			     ncs_function_name(communicator->function));
	ncs_json_add_number_if(object, "sequence_number", known,
			       progress->most);
	ncs_json_add_number(object, "sequence_numbers_known", progress->known);
	ncs_json_add_number_if(object, "behind", progress->known > 1,
			       ncs_progress_behind(progress));
	ncs_json_add(object, "slowest", slowest_of(progress));
	ncs_json_add(object, "functions", functions_of(communicator));
	ncs_json_add_word(object, "peak_link", ncs_peak_link_name(peak.link));
	ncs_json_add_real(object, "peak_gbs",
			  peak.gigabytes > 0 ? peak.gigabytes : -1);
	ncs_json_add(object, "skew", skew_of(communicator));
	ncs_json_add(object, "straggler", straggler_of(communicator));
	ncs_json_add(object, "launches", launches_of(communicator));
	ncs_json_add_time(object, "oldest_wait_since_ns",
			  communicator->oldest.since_ns);
	ncs_json_add_number_if(object, "oldest_wait_ns",
			       communicator->oldest.since_ns != 0,
			       communicator->oldest.duration_ns);
	ncs_json_add_real(object, "operations_per_s",
			  communicator->operations_rate);
	ncs_json_add_real(object, "send_bytes_per_s", communicator->send_rate);
	ncs_json_add_real(object, "recv_bytes_per_s", communicator->recv_rate);
	ncs_json_add_number(object, "lost", communicator->lost);
	return object;
}

NCS_JSON_ARRAY(static json_t *communicators_of(const struct ncs_model *model),
	       model->communicator_count,
	       communicator_of(&model->communicators[i]))

/* --- The sample ---------------------------------------------------------- */

NCS_JSON_ARRAY(static json_t *ranks_of(const struct ncs_model *model,
				       unsigned views),
	       model->rank_count, ncs_dump_json_rank(model->ranks[i], views))

void ncs_dump_json(FILE *file, const struct ncs_model *model,
		   const struct ncs_stamp *stamp, enum ncs_view view)
{
	unsigned views = view == NCS_VIEW_COUNT ? UINT_MAX : 1u << view;
	json_t *sample = ncs_json_stamped(stamp);

	ncs_json_add_verdict(sample, model, model->diagnosis);
	if (views & ~WITHOUT_RANKS)
		ncs_json_add(sample, "ranks", ranks_of(model, views));
	if (views & WITH_COMMUNICATORS)
		ncs_json_add(sample, "communicators", communicators_of(model));
	ncs_json_add(sample, "unreadable", ncs_json_unreadable(model));
	if (views & VIEW(NODE))
		ncs_json_add(sample, "nodes", ncs_json_nodes(model));
	/* Nine digits show a time in seconds exactly to the nanosecond. */
	ncs_json_print(file, sample, JSON_COMPACT | JSON_REAL_PRECISION(9));
}
