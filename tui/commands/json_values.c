/* SPDX-License-Identifier: MIT */
/* Values of the JSON output; see json_values.h. */
#include "tui/commands/json_values.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/base/utf8.h"
#include "analysis/model/job_step.h"
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

json_t *ncs_json_stamped(const struct ncs_stamp *stamp)
{
	json_t *document = ncs_json_document();

	ncs_json_add_number(document, "schema", NCS_JSON_SCHEMA);
	ncs_json_add_text(document, "host", stamp->host);
	ncs_json_add_number(document, "monotonic_ns", stamp->monotonic_ns);
	ncs_json_add_number(document, "realtime_ns", stamp->realtime_ns);
	ncs_json_add(document, "recording", ncs_json_recording(stamp->replay));
	return document;
}

void ncs_json_print(FILE *file, json_t *document, size_t flags)
{
	json_dumpf(document, file, flags);
	json_decref(document);
	fputc('\n', file);
}

/* --- Values ------------------------------------------------------------- */

void ncs_json_add(json_t *object, const char *key, json_t *value)
{
	json_object_set_new(object, key, value);
}

void ncs_json_append(json_t *array, json_t *value)
{
	json_array_append_new(array, value);
}

void ncs_json_add_number(json_t *object, const char *key, uint64_t value)
{
	ncs_json_add(object, key,
		     json_integer(value < INT64_MAX ? (json_int_t)value :
						      INT64_MAX));
}

void ncs_json_add_number_if(json_t *object, const char *key, bool known,
			    uint64_t value)
{
	if (known)
		ncs_json_add_number(object, key, value);
	else
		ncs_json_add(object, key, json_null());
}

void ncs_json_add_time(json_t *object, const char *key, uint64_t value_ns)
{
	ncs_json_add_number_if(object, key, value_ns != 0, value_ns);
}

void ncs_json_add_signed(json_t *object, const char *key, int64_t value)
{
	ncs_json_add(object, key, json_integer(value));
}

void ncs_json_add_signed_if(json_t *object, const char *key, bool known,
			    int64_t value)
{
	ncs_json_add(object, key, known ? json_integer(value) : json_null());
}

void ncs_json_add_real(json_t *object, const char *key, double value)
{
	ncs_json_add(object, key, value >= 0 ? json_real(value) : json_null());
}

void ncs_json_add_bool(json_t *object, const char *key, bool value)
{
	ncs_json_add(object, key, json_boolean(value));
}

void ncs_json_add_word(json_t *object, const char *key, const char *word)
{
	ncs_json_add(object, key, word ? json_string(word) : json_null());
}

void ncs_json_add_word_if(json_t *object, const char *key, bool known,
			  const char *word)
{
	ncs_json_add_word(object, key, known ? word : NULL);
}

json_t *ncs_json_clean(const char *raw)
{
	char clean[4096 + 1];

	ncs_utf8_clean(clean, sizeof(clean), raw, false);
	return json_string(clean);
}

void ncs_json_add_text(json_t *object, const char *key, const char *raw)
{
	ncs_json_add(object, key, ncs_json_clean(raw));
}

void ncs_json_add_text_if(json_t *object, const char *key, bool known,
			  const char *raw)
{
	ncs_json_add(object, key,
		     known && raw[0] ? ncs_json_clean(raw) : json_null());
}

json_t *ncs_json_counts(const char *(*name)(unsigned index),
			const uint64_t *values, unsigned first, unsigned end)
{
	json_t *object = json_object();

	for (unsigned i = first; i < end; i++)
		ncs_json_add_number(object, name(i), values[i]);
	return object;
}

json_t *ncs_json_bits(const char *(*name)(unsigned index), unsigned count,
		      uint64_t bits)
{
	json_t *names = json_array();

	for (unsigned i = 0; i < count; i++)
		if (bits >> i & 1)
			ncs_json_append(names, json_string(name(i)));
	return names;
}

/* --- Communicators ------------------------------------------------------ */

json_t *ncs_json_comm(const struct ncs_identity *identity)
{
	uint64_t known = identity->known;
	json_t *comm = json_object();
	char id[17];

	snprintf(id, sizeof(id), "%016" PRIx64, identity->comm_id);
	ncs_json_add_text_if(comm, "id", known & NCS_KNOWN_COMM_ID, id);
	ncs_json_add_text_if(comm, "name", known & NCS_KNOWN_COMM_NAME,
			     identity->comm_name);
	ncs_json_add_signed_if(comm, "nranks", known & NCS_KNOWN_NRANKS,
			       identity->nranks);
	ncs_json_add_signed_if(comm, "nnodes", known & NCS_KNOWN_NNODES,
			       identity->nnodes);
	return comm;
}

json_t *ncs_json_job(const char *labels)
{
	json_t *object;

	if (!labels)
		return json_null();
	object = json_object();
	for (; *labels; labels += strlen(labels) + 1) {
		const char *value = strchr(labels, '=') + 1;
		char key[64];

		/* It is a number, told with the rank. */
		if (strncmp(labels, "host_pid=", 9) == 0)
			continue;
		snprintf(key, sizeof(key), "%.*s", (int)(value - labels) - 1,
			 labels);
		ncs_json_add_text(object, key, value);
	}
	if (json_object_size(object) == 0) {
		json_decref(object);
		return json_null();
	}
	return object;
}

json_t *ncs_json_unreadable(const struct ncs_model *model)
{
	json_t *unreadable = json_array();

	for (size_t i = 0; i < model->unreadable_count; i++) {
		json_t *object = json_object();

		ncs_json_add_text(object, "path", model->unreadable[i].id);
		ncs_json_add_text(object, "reason", model->unreadable[i].why);
		ncs_json_append(unreadable, object);
	}
	return unreadable;
}

/* --- Recordings --------------------------------------------------------- */

static const char *aligned_by(enum ncs_aligned_by by, size_t host)
{
	if (host == 0)
		return "reference";
	return by == NCS_ALIGNED_BY_TRAFFIC ? "traffic" : "realtime";
}

/* Returns the clocks of the recording's hosts; an empty array if it has only
 * one host. */
static json_t *clocks_of(const struct ncs_replay *replay)
{
	const struct ncs_recording_alignment *alignment = &replay->alignment;
	json_t *clocks = json_array();

	for (size_t i = 0; i < alignment->host_count; i++) {
		const struct ncs_aligned *aligned = &alignment->hosts[i];
		const struct ncs_recorded_host *host =
			ncs_recording_host(replay->recording, i);
		json_t *clock = json_object();

		ncs_json_add_text(clock, "host", host->name);
		ncs_json_add_signed(clock, "offset_ns", host->offset_ns);
		ncs_json_add(clock, "drift_ns_per_s",
			     json_real(host->drift * 1e9));
		ncs_json_add_number_if(clock, "error_ns",
				       host->error_ns != UINT64_MAX,
				       host->error_ns);
		ncs_json_add_word(clock, "by", aligned_by(aligned->by, i));
		ncs_json_add_number(clock, "facts", aligned->facts);
		ncs_json_add_number(clock, "contradicted", aligned->violations);
		ncs_json_add_bool(clock, "uneven", aligned->is_uneven);
		ncs_json_add_number(clock, "realtime_steps",
				    aligned->realtime_steps);
		ncs_json_append(clocks, clock);
	}
	return clocks;
}

json_t *ncs_json_recording(const struct ncs_replay *replay)
{
	const struct ncs_recording_facts *facts;
	json_t *object;

	if (!replay)
		return json_null();
	facts = ncs_recording_facts(replay->recording);
	object = json_object();
	ncs_json_add_number(object, "at_ns", ncs_replay_since_ns(replay));
	ncs_json_add_number(object, "length_ns",
			    replay->all.until_ns - replay->all.from_ns);
	ncs_json_add_number(object, "files", facts->files);
	ncs_json_add_number(object, "cut_files", facts->cut_files);
	ncs_json_add_number(object, "damaged_chunks", facts->damaged_chunks);
	ncs_json_add_number(object, "records_lost", facts->lost);
	ncs_json_add_number(object, "hosts",
			    ncs_recording_host_count(replay->recording));
	ncs_json_add_number_if(object, "clock_error_ns",
			       replay->error_ns != UINT64_MAX,
			       replay->error_ns);
	ncs_json_add(object, "clocks", clocks_of(replay));
	return object;
}

static json_t *node_of(const struct ncs_node *node, uint64_t now_ns)
{
	uint64_t age_ns = ncs_node_age_ns(node, now_ns);
	uint32_t version = node->program_version;
	bool looked = node->look_ns != 0;
	json_t *object = json_object();
	char number[32];

	snprintf(number, sizeof(number), "%u.%u.%u", version >> 16,
		 version >> 8 & 0xff, version & 0xff);
	ncs_json_add_text(object, "name", node->name);
	ncs_json_add_text_if(object, "host", true, node->host);
	ncs_json_add_word(object, "state", ncs_node_state_name(node->state));
	ncs_json_add_bool(object, "seen",
			  ncs_node_sight(node->state) == NCS_SIGHT_LIVE);
	ncs_json_add_text_if(object, "why", true, node->why);
	ncs_json_add_time(object, "state_since_ns", node->state_since_ns);
	ncs_json_add_number_if(object, "ranks", looked, node->ranks);
	ncs_json_add_number_if(object, "segments_denied", looked, node->denied);
	ncs_json_add_number_if(object, "segments_unreadable", looked,
			       node->unreadable);
	ncs_json_add_number_if(object, "segments_left_out", looked,
			       node->left_out);
	ncs_json_add_number_if(object, "look_age_ns", looked, age_ns);
	ncs_json_add_time(object, "interval_ns", node->interval_ns);
	ncs_json_add_text_if(object, "version", version != 0, number);
	ncs_json_add_number(object, "bytes", node->bytes);
	ncs_json_add_number_if(object, "bytes_per_s", node->bytes_a_second > 0,
			       node->bytes_a_second);
	ncs_json_add_number(object, "looks", node->looks);
	ncs_json_add_number_if(object, "looks_dropped", looked,
			       node->looks_dropped);
	ncs_json_add_number(object, "looks_lost", node->looks_lost);
	ncs_json_add_number_if(object, "clock_error_ns",
			       node->clock_is_aligned, node->clock_error_ns);
	return object;
}

NCS_JSON_ARRAY(json_t *ncs_json_nodes(const struct ncs_model *model),
	       model->node_count, node_of(&model->nodes[i], model->now_ns))

/* Adds why a time is not known, null if it is, and the time. */
static void add_cost_time(json_t *object, const char *why_key, const char *key,
			  enum ncs_cost_unknown unknown, double ns)
{
	ncs_json_add_word(object, why_key,
			  unknown != NCS_COST_KNOWN ?
				  ncs_cost_unknown_name(unknown) :
				  NULL);
	ncs_json_add_number_if(object, key, unknown == NCS_COST_KNOWN,
			       (uint64_t)ns);
}

static json_t *training_step_of(const struct ncs_model *model)
{
	struct ncs_job_step step;
	json_t *object;
	bool is_known;

	if (!ncs_busiest_step(model, &step))
		return json_null();
	object = json_object();
	add_cost_time(object, "unknown", "step_ns", step.step.unknown,
		      step.step.ns);
	ncs_json_add_number(object, "steps", step.step.count);
	ncs_json_add_number(object, "calls", step.step.launches);
	add_cost_time(object, "exposed_unknown", "exposed_ns",
		      step.exposed_unknown, step.exposed_ns);
	is_known = step.exposed_unknown == NCS_COST_KNOWN;
	ncs_json_add_number_if(object, "exposed_least_ns", is_known,
			       (uint64_t)step.exposed_least_ns);
	ncs_json_add_number_if(object, "exposed_most_ns", is_known,
			       (uint64_t)step.exposed_most_ns);
	ncs_json_add_number_if(object, "waiting_ns", step.latest != NULL,
			       (uint64_t)step.waiting_ns);
	ncs_json_add_signed_if(object, "waiting_for_rank", step.latest != NULL,
			       step.latest ? step.latest->now.identity.rank : 0);
	ncs_json_add(object, "waiting_for_communicator",
		     step.latest ? ncs_json_comm(&step.latest->now.identity) :
				   json_null());
	return object;
}

void ncs_json_add_verdict(json_t *object, const struct ncs_model *model,
			  const struct ncs_diagnosis *diagnosis)
{
	char line[NCS_SENTENCE_MAX + 64];
	enum ncs_verdict_severity severity = ncs_job_severity(diagnosis, model);

	ncs_json_add_word_if(object, "severity",
			     severity != NCS_SEVERITY_UNSEEN,
			     ncs_severity_name(severity));
	ncs_verdict_line(diagnosis, model, line, sizeof(line));
	ncs_json_add_text_if(object, "verdict_line",
			     diagnosis->count > 0 || model->rank_count > 0 ||
				     ncs_count_unreadable(model) > 0,
			     line);
	ncs_json_add(object, "training_step", training_step_of(model));
}

json_t *ncs_json_episodes(const struct ncs_episodes *episodes)
{
	json_t *array = episodes ? json_array() : json_null();

	for (size_t i = 0; episodes && i < episodes->count; i++) {
		const struct ncs_episode *episode = &episodes->all[i];
		json_t *object = json_object();

		ncs_json_add_number(object, "from_ns", episode->from_ns);
		ncs_json_add_number(object, "seen_ns", episode->seen_ns);
		ncs_json_add_number(object, "until_ns", episode->until_ns);
		ncs_json_add_word(object, "verdict",
				  ncs_verdict_name(episode->verdict));
		ncs_json_add_word(object, "severity",
				  ncs_severity_name(episode->severity));
		ncs_json_add_signed_if(object, "rank", episode->rank >= 0,
				       episode->rank);
		ncs_json_add_real(object, "cost_share",
				  episode->shares > 0 ? episode->share : -1);
		ncs_json_add_time(object, "step_ns", (uint64_t)episode->step_ns);
		ncs_json_add_text(object, "sentence", episode->sentence);
		ncs_json_append(array, object);
	}
	return array;
}
