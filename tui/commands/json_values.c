/* SPDX-License-Identifier: MIT */
/* Values of the JSON output; see json_values.h. */
#include "tui/commands/json_values.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/base/utf8.h"
#include "analysis/model/stragglers.h"
#include "tui/commands/dump_command.h"
#include "tui/text/finding_text.h"
#include "tui/text/job_verdict.h"
#include "tui/text/output.h"

/* --- Documents ---------------------------------------------------------- */

static void *allocate(size_t size)
{
	void *memory = malloc(size);

	if (!memory) {
		ncs_complain("%s", strerror(ENOMEM));
		exit(NCS_EXIT_NOTHING);
	}
	return memory;
}

json_t *ncs_json_document(void)
{
	json_set_alloc_funcs(allocate, free);
	return json_object();
}

void ncs_json_print(FILE *file, json_t *document, size_t flags)
{
	json_dumpf(document, file, flags);
	json_decref(document);
	fputc('\n', file);
}

/* --- Values ------------------------------------------------------------- */

json_t *ncs_json_add(json_t *object, const struct ncs_json_member *members)
{
	for (; members->key; members++)
		if (members->value)
			json_object_set_new(object, members->key,
					    members->value);
	return object;
}

json_t *ncs_json_of_number(uint64_t value)
{
	return json_integer(value < INT64_MAX ? (json_int_t)value : INT64_MAX);
}

json_t *ncs_json_known(uint64_t value)
{
	return NCS_JSON_IF(value != 0, value);
}

json_t *ncs_json_of_real(double value)
{
	return value >= 0 ? json_real(value) : json_null();
}

json_t *ncs_json_of_boolean(bool value)
{
	return json_boolean(value);
}

json_t *ncs_json_of_text(const char *raw)
{
	char clean[4096 + 1];

	if (!raw)
		return json_null();
	ncs_utf8_clean(clean, sizeof(clean), raw, false);
	return json_string(clean);
}

json_t *ncs_json_name(const char *raw)
{
	return NCS_JSON_IF(raw && raw[0], raw);
}

NCS_JSON_MAP(json_t *ncs_json_counts(const char *(*name)(unsigned index),
				     const uint64_t *values, unsigned first,
				     unsigned end),
	     first, end, name, NCS_JSON(values[i]))

NCS_JSON_ARRAY(json_t *ncs_json_bits(const char *(*name)(unsigned index),
				     unsigned count, uint64_t bits),
	       count, bits >> i & 1 ? json_string(name((unsigned)i)) : NULL)

/* --- Ranks and communicators -------------------------------------------- */

json_t *ncs_json_identity(const struct ncs_rank *rank)
{
	const struct ncs_identity *identity = &rank->now.identity;

	return NCS_JSON_OBJECT({ "pid", NCS_JSON(rank->process.pid) },
			       { "rank",
				 NCS_JSON_IF(identity->known & NCS_KNOWN_RANK,
					     identity->rank) });
}

json_t *ncs_json_comm(const struct ncs_identity *identity)
{
	uint64_t known = identity->known;
	char id[17];

	snprintf(id, sizeof(id), "%016" PRIx64, identity->comm_id);
	return NCS_JSON_OBJECT(
		{ "id", NCS_JSON_IF(known & NCS_KNOWN_COMM_ID, id) },
		{ "name", ncs_json_name(known & NCS_KNOWN_COMM_NAME ?
						identity->comm_name :
						NULL) },
		{ "nranks",
		  NCS_JSON_IF(known & NCS_KNOWN_NRANKS, identity->nranks) },
		{ "nnodes",
		  NCS_JSON_IF(known & NCS_KNOWN_NNODES, identity->nnodes) });
}

json_t *ncs_json_job(const char *labels)
{
	json_t *object = json_object();

	for (; labels && *labels; labels += strlen(labels) + 1) {
		const char *value = strchr(labels, '=') + 1;
		char key[64];

		/* It is a number, told with the rank. */
		if (strncmp(labels, "host_pid=", 9) == 0)
			continue;
		snprintf(key, sizeof(key), "%.*s", (int)(value - labels) - 1,
			 labels);
		json_object_set_new(object, key, NCS_JSON(value));
	}
	if (json_object_size(object) > 0)
		return object;
	json_decref(object);
	return json_null();
}

NCS_JSON_ARRAY(json_t *ncs_json_unreadable(const struct ncs_model *model),
	       model->unreadable_count,
	       NCS_JSON_OBJECT({ "path", NCS_JSON(model->unreadable[i].id) },
			       { "reason",
				 NCS_JSON(model->unreadable[i].why) }))

/* --- Recordings --------------------------------------------------------- */

static json_t *clock_of(const struct ncs_replay *replay, size_t index)
{
	const struct ncs_aligned *aligned = &replay->alignment.hosts[index];
	const struct ncs_recorded_host *host =
		ncs_recording_host(replay->recording, index);

	return NCS_JSON_OBJECT(
		{ "host", NCS_JSON(host->name) },
		{ "offset_ns", NCS_JSON(host->offset_ns) },
		{ "drift_ns_per_s", json_real(host->drift * 1e9) },
		{ "error_ns",
		  NCS_JSON_IF(host->error_ns != UINT64_MAX, host->error_ns) },
		{ "by", NCS_JSON(index == 0 ? "reference" :
				 aligned->by == NCS_ALIGNED_BY_TRAFFIC ?
					      "traffic" :
					      "realtime") },
		{ "facts", NCS_JSON(aligned->facts) },
		{ "contradicted", NCS_JSON(aligned->violations) },
		{ "uneven", NCS_JSON(aligned->is_uneven) },
		{ "realtime_steps", NCS_JSON(aligned->realtime_steps) });
}

/* Returns the clocks of the recording's hosts; an empty array if it has only
 * one host. */
NCS_JSON_ARRAY(static json_t *clocks_of(const struct ncs_replay *replay),
	       replay->alignment.host_count, clock_of(replay, i))

static json_t *recording_of(const struct ncs_replay *replay)
{
	const struct ncs_recording_facts *facts;

	if (!replay)
		return json_null();
	facts = ncs_recording_facts(replay->recording);
	return NCS_JSON_OBJECT(
		{ "at_ns", NCS_JSON(ncs_replay_since_ns(replay)) },
		{ "length_ns",
		  NCS_JSON(replay->all.until_ns - replay->all.from_ns) },
		{ "files", NCS_JSON(facts->files) },
		{ "cut_files", NCS_JSON(facts->cut_files) },
		{ "damaged_chunks", NCS_JSON(facts->damaged_chunks) },
		{ "records_lost", NCS_JSON(facts->lost) },
		{ "hosts",
		  NCS_JSON(ncs_recording_host_count(replay->recording)) },
		{ "clock_error_ns", NCS_JSON_IF(replay->error_ns != UINT64_MAX,
						replay->error_ns) },
		{ "clocks", clocks_of(replay) });
}

json_t *ncs_json_stamped(const struct ncs_stamp *stamp)
{
	json_t *document = ncs_json_document();

	return NCS_JSON_ADD(document, { "schema", NCS_JSON(NCS_JSON_SCHEMA) },
			    { "host", NCS_JSON(stamp->host) },
			    { "monotonic_ns", NCS_JSON(stamp->monotonic_ns) },
			    { "realtime_ns", NCS_JSON(stamp->realtime_ns) },
			    { "recording", recording_of(stamp->replay) });
}

static json_t *node_of(const struct ncs_node *node, uint64_t now_ns)
{
	uint64_t age_ns = ncs_node_age_ns(node, now_ns);
	uint32_t version = node->program_version;
	bool looked = node->look_ns != 0;
	char number[32];

	snprintf(number, sizeof(number), "%u.%u.%u", version >> 16,
		 version >> 8 & 0xff, version & 0xff);
	return NCS_JSON_OBJECT(
		{ "name", NCS_JSON(node->name) },
		{ "host", ncs_json_name(node->host) },
		{ "state", NCS_JSON(ncs_node_state_name(node->state)) },
		{ "seen",
		  json_boolean(ncs_node_sight(node->state) == NCS_SIGHT_LIVE) },
		{ "why", ncs_json_name(node->why) },
		{ "state_since_ns", ncs_json_known(node->state_since_ns) },
		{ "ranks", NCS_JSON_IF(looked, node->ranks) },
		{ "segments_denied", NCS_JSON_IF(looked, node->denied) },
		{ "segments_unreadable",
		  NCS_JSON_IF(looked, node->unreadable) },
		{ "segments_left_out", NCS_JSON_IF(looked, node->left_out) },
		{ "look_age_ns", NCS_JSON_IF(looked, age_ns) },
		{ "interval_ns", ncs_json_known(node->interval_ns) },
		{ "version", ncs_json_name(version != 0 ? number : NULL) },
		{ "bytes", NCS_JSON(node->bytes) },
		{ "bytes_per_s", ncs_json_known(node->bytes_a_second) },
		{ "looks", NCS_JSON(node->looks) },
		{ "looks_dropped", NCS_JSON_IF(looked, node->looks_dropped) },
		{ "looks_lost", NCS_JSON(node->looks_lost) },
		{ "clock_error_ns",
		  NCS_JSON_IF(node->clock_is_aligned, node->clock_error_ns) });
}

NCS_JSON_ARRAY(json_t *ncs_json_nodes(const struct ncs_model *model),
	       model->node_count, node_of(&model->nodes[i], model->now_ns))

/* Returns why a time is not known; null if it is. */
static json_t *unknown_of(enum ncs_cost_unknown unknown)
{
	return NCS_JSON_IF(unknown != NCS_COST_KNOWN,
			   ncs_cost_unknown_name(unknown));
}

/* Returns a time in whole ns, if it is known. */
static json_t *whole_of(bool is_known, double ns)
{
	return NCS_JSON_IF(is_known, (uint64_t)ns);
}

static json_t *training_step_of(const struct ncs_model *model)
{
	struct ncs_job_step step;
	bool is_known;

	if (!ncs_busiest_step(model, &step))
		return json_null();
	is_known = step.exposed_unknown == NCS_COST_KNOWN;
	return NCS_JSON_OBJECT(
		{ "unknown", unknown_of(step.step.unknown) },
		{ "step_ns",
		  whole_of(step.step.unknown == NCS_COST_KNOWN, step.step.ns) },
		{ "steps", NCS_JSON(step.step.count) },
		{ "calls", NCS_JSON(step.step.launches) },
		{ "exposed_unknown", unknown_of(step.exposed_unknown) },
		{ "exposed_ns", whole_of(is_known, step.exposed_ns) },
		{ "exposed_least_ns",
		  whole_of(is_known, step.exposed_least_ns) },
		{ "exposed_most_ns", whole_of(is_known, step.exposed_most_ns) },
		{ "waiting_ns", whole_of(step.latest, step.waiting_ns) },
		{ "waiting_for_rank",
		  NCS_JSON_IF(step.latest, step.latest->now.identity.rank) },
		{ "waiting_for_communicator",
		  step.latest ? ncs_json_comm(&step.latest->now.identity) :
				json_null() });
}

json_t *ncs_json_add_verdict(json_t *object, const struct ncs_model *model,
			     const struct ncs_diagnosis *diagnosis)
{
	char line[NCS_SENTENCE_MAX + 64];
	enum ncs_verdict_severity severity = ncs_job_severity(diagnosis, model);
	bool is_seen = diagnosis->count > 0 || model->rank_count > 0 ||
		       ncs_count_unreadable(model) > 0;

	ncs_verdict_line(diagnosis, model, line, sizeof(line));
	return NCS_JSON_ADD(
		object,
		{ "severity", NCS_JSON_IF(severity != NCS_SEVERITY_UNSEEN,
					  ncs_severity_name(severity)) },
		{ "verdict_line", ncs_json_name(is_seen ? line : NULL) },
		{ "training_step", training_step_of(model) });
}

static json_t *episode_of(const struct ncs_episode *episode)
{
	return NCS_JSON_OBJECT(
		{ "from_ns", NCS_JSON(episode->from_ns) },
		{ "seen_ns", NCS_JSON(episode->seen_ns) },
		{ "until_ns", NCS_JSON(episode->until_ns) },
		{ "verdict", NCS_JSON(ncs_verdict_name(episode->verdict)) },
		{ "severity", NCS_JSON(ncs_severity_name(episode->severity)) },
		{ "rank", NCS_JSON_IF(episode->rank >= 0, episode->rank) },
		{ "cost_share",
		  NCS_JSON_IF(episode->shares > 0, episode->share) },
		{ "step_ns", ncs_json_known((uint64_t)episode->step_ns) },
		{ "sentence", NCS_JSON(episode->sentence) });
}

NCS_JSON_ARRAY(static json_t *array_of(const struct ncs_episodes *episodes),
	       episodes->count, episode_of(&episodes->all[i]))

json_t *ncs_json_episodes(const struct ncs_episodes *episodes)
{
	return episodes ? array_of(episodes) : json_null();
}
