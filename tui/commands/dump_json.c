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
#include "analysis/model/moving.h"
#include "analysis/model/stragglers.h"
#include "analysis/model/waits.h"
#include "tui/commands/dump_command.h"
#include "tui/commands/json_values.h"

/* Views that have no ranks, and views that have communicators. */
#define VIEW(name) (1u << NCS_VIEW_##name)
#define WITHOUT_RANKS (VIEW(COMMUNICATOR) | VIEW(FINDING) | VIEW(NODE))
#define WITH_COMMUNICATORS (VIEW(COMMUNICATOR) | VIEW(COLLECTIVE))

/* --- Communicators ------------------------------------------------------- */

static json_t *skew_of(const struct ncs_communicator *communicator)
{
	const struct ncs_skew *skew = ncs_communicator_skew(communicator);

	if (!skew)
		return json_null();
	return NCS_JSON_OBJECT(
		{ "operations", NCS_JSON(skew->operations) },
		{ "operations_all", NCS_JSON(skew->all) },
		{ "ranks", NCS_JSON(skew->ranks) },
		{ "median_ns", NCS_JSON(skew->median_ns) },
		{ "p99_ns", NCS_JSON(skew->p99_ns) },
		{ "transfer_ns",
		  NCS_JSON_IF(skew->moved > 0, skew->moving_ns) },
		{ "transfer_error_ns",
		  NCS_JSON_IF(skew->moved > 0, skew->moving_error_ns) },
		{ "error_ns", NCS_JSON(skew->error_ns) },
		{ "other_clocks", NCS_JSON(communicator->other_clocks) });
}

/* Returns the first of the ranks that are behind; null if no rank is behind. */
static json_t *slowest_of(const struct ncs_progress *progress)
{
	if (ncs_progress_behind(progress) == 0)
		return json_null();
	return NCS_JSON_ADD(ncs_json_identity(progress->slowest),
			    { "sequence_number", NCS_JSON(progress->least) },
			    { "ranks", NCS_JSON(progress->slowest_count) });
}

/* The progress of the rank that is at the earliest launch; null if of none it is
 * known. */
static json_t *launches_of(const struct ncs_communicator *communicator)
{
	const struct ncs_rank *last =
		ncs_communicator_last_launch(communicator);
	const struct ncs_launches_view *launches;
	int64_t ahead;

	if (!last)
		return json_null();
	launches = &last->now.launches;
	ahead = ncs_rank_launches_ahead(last);
	return NCS_JSON_ADD(ncs_json_identity(last),
			    { "launched", NCS_JSON(launches->launched) },
			    { "begun", NCS_JSON(launches->begun) },
			    { "begun_ns", ncs_json_known(launches->begun_ns) },
			    { "ended", NCS_JSON(launches->ended) },
			    { "ended_ns", ncs_json_known(launches->ended_ns) },
			    { "ahead", NCS_JSON_IF(ahead >= 0, ahead) });
}

/* Returns NULL if no operation is known. */
static json_t *function_of(const struct ncs_communicator *communicator,
			   unsigned function)
{
	const struct ncs_identity *identity = communicator->identity;
	struct ncs_moving_view moving =
		ncs_communicator_moving(communicator, function, NULL);
	bool has_all = identity->known & NCS_KNOWN_NRANKS &&
		       moving.ranks >=
			       ncs_moving_ranks(function, identity->nranks);

	if (moving.operations == 0)
		return NULL;
	return NCS_JSON_OBJECT(
		{ "function", NCS_JSON(ncs_function_name(function)) },
		{ "operations", NCS_JSON(moving.operations) },
		{ "launches", NCS_JSON(moving.launches) },
		{ "ranks", NCS_JSON(moving.ranks) },
		{ "all_ranks", NCS_JSON(has_all) },
		{ "timing", NCS_JSON(ncs_timing_name(moving.timing)) },
		{ "moving_ns", NCS_JSON(moving.moving_ns) },
		{ "error_ns", NCS_JSON(moving.error_ns) },
		{ "algbw_gbs", NCS_JSON(moving.algbw) },
		{ "busbw_gbs", NCS_JSON(moving.busbw) },
		{ "age_ns", NCS_JSON(moving.age_ns) },
		{ "stale", NCS_JSON(moving.is_stale) });
}

NCS_JSON_ARRAY(static json_t *functions_of(
		       const struct ncs_communicator *communicator),
	       NCS_FUNCTION_COUNT, function_of(communicator, (unsigned)i))

static json_t *communicator_of(const struct ncs_communicator *communicator)
{
	const struct ncs_progress *progress = &communicator->progress;
	bool known = progress->known > 0;
	struct ncs_peak peak = ncs_communicator_peak(communicator);
	const struct ncs_rank *straggler =
		ncs_communicator_straggler(communicator);

	return NCS_JSON_OBJECT(
		{ "communicator", ncs_json_comm(communicator->identity) },
		{ "ranks_seen", NCS_JSON(communicator->rank_count) },
		{ "ranks_live", NCS_JSON(communicator->live) },
		{ "ranks_silent", NCS_JSON(communicator->silent) },
		{ "ranks_finished", NCS_JSON(communicator->finished) },
		{ "ranks_dead", NCS_JSON(communicator->dead) },
		{ "function",
		  NCS_JSON_IF(known,
			      ncs_function_name(communicator->function)) },
		{ "sequence_number", NCS_JSON_IF(known, progress->most) },
		{ "sequence_numbers_known", NCS_JSON(progress->known) },
		{ "behind", NCS_JSON_IF(progress->known > 1,
					ncs_progress_behind(progress)) },
		{ "slowest", slowest_of(progress) },
		{ "functions", functions_of(communicator) },
		{ "peak_link", NCS_JSON(ncs_peak_link_name(peak.link)) },
		{ "peak_gbs", NCS_JSON_IF(peak.gigabytes > 0, peak.gigabytes) },
		{ "skew", skew_of(communicator) },
		{ "straggler",
		  straggler ? ncs_json_identity(straggler) : json_null() },
		{ "launches", launches_of(communicator) },
		{ "oldest_wait_since_ns",
		  ncs_json_known(communicator->oldest.since_ns) },
		{ "oldest_wait_ns",
		  NCS_JSON_IF(communicator->oldest.since_ns != 0,
			      communicator->oldest.duration_ns) },
		{ "operations_per_s", NCS_JSON(communicator->operations_rate) },
		{ "send_bytes_per_s", NCS_JSON(communicator->send_rate) },
		{ "recv_bytes_per_s", NCS_JSON(communicator->recv_rate) },
		{ "lost", NCS_JSON(communicator->lost) });
}

NCS_JSON_ARRAY(static json_t *communicators_of(const struct ncs_model *model),
	       model->communicator_count,
	       communicator_of(&model->communicators[i]))

/* --- The sample ---------------------------------------------------------- */

NCS_JSON_ARRAY(static json_t *ranks_of(const struct ncs_model *model,
				       unsigned views),
	       model->rank_count, ncs_json_rank(model->ranks[i], views))

void ncs_dump_json(FILE *file, const struct ncs_model *model,
		   const struct ncs_stamp *stamp, enum ncs_view view)
{
	unsigned views = view == NCS_VIEW_COUNT ? UINT_MAX : 1u << view;
	json_t *sample = ncs_json_add_verdict(ncs_json_stamped(stamp), model,
					      model->diagnosis);

	NCS_JSON_ADD(
		sample,
		{ "ranks",
		  views & ~WITHOUT_RANKS ? ranks_of(model, views) : NULL },
		{ "communicators",
		  views & WITH_COMMUNICATORS ? communicators_of(model) : NULL },
		{ "unreadable", ncs_json_unreadable(model) },
		{ "nodes", views & VIEW(NODE) ? ncs_json_nodes(model) : NULL });
	/* Nine digits show a time in seconds exactly to the nanosecond. */
	ncs_json_print(file, sample, JSON_COMPACT | JSON_REAL_PRECISION(9));
}
