/* SPDX-License-Identifier: MIT */
/* --diagnose. Takes samples, waits for a problem if requested, and prints the
 * findings as text or as one object of JSON on one line, whose keys are part of the
 * interface. Must not judge: analysis/diagnosis does. */
#include <errno.h>
#include <string.h>

#include "analysis/base/value_names.h"
#include "analysis/model/stragglers.h"
#include "record/replay/replay_search.h"
#include "tui/commands/commands.h"
#include "tui/commands/dump_command.h"
#include "tui/commands/job_stacks.h"
#include "tui/commands/json_values.h"
#include "tui/commands/print_values.h"
#include "tui/commands/ras.h"
#include "tui/text/finding_text.h"
#include "tui/text/job_verdict.h"
#include "tui/text/output.h"

/* The first sample shows the state, the second one shows which values
 * change. */
#define SAMPLES_LEAST 2u

/* Episodes of a recording that are printed as text. */
#define EPISODES_PRINTED 10u

/* How long at most it waits for a second look of nodes that have given one. */
#define LOOKS_WAIT_NS UINT64_C(2000000000)

/* --- Text ---------------------------------------------------------------- */

static void print_finding(FILE *file, const struct ncs_finding *finding,
			  const struct ncs_ras *ras)
{
	const struct ncs_party *const parties[] = { &finding->root,
						    &finding->peer };
	char text[NCS_SENTENCE_MAX];

	ncs_finding_sentence(finding, text, sizeof(text));
	ncs_print(file, "\n$s: $s\n", ncs_severity_name(finding->severity),
		  text);
	ncs_finding_certainty(finding, text, sizeof(text));
	fprintf(file, "  verdict: %s, %s (%s)\n",
		ncs_verdict_name(finding->verdict),
		ncs_confidence_name(finding->confidence), text);
	for (size_t i = 0; i < 2; i++)
		if (ncs_party_where(parties[i], text, sizeof(text)))
			ncs_print(file, "  where: $s\n", text);
	for (size_t i = 0; i < finding->evidence_count; i++) {
		ncs_evidence_text(&finding->evidence[i], text, sizeof(text));
		ncs_print(file, "  seen: $s\n", text);
	}
	for (size_t i = 0; ncs_ras_text(ras, finding->root.communicator, i,
					text, sizeof(text));
	     i++)
		ncs_print(file, "  seen: $s\n", text);
	fprintf(file, "  next: %s\n", ncs_finding_next(finding));
	for (size_t i = 0; ncs_finding_command(finding, i, text, sizeof(text));
	     i++)
		ncs_print(file, "  try: $s\n", text);
}

/* Prints the episodes of a recording, from when to when each was, if all of it was
 * searched. */
static void print_episodes(FILE *file, const struct ncs_stamp *stamp)
{
	const struct ncs_episodes *episodes = stamp->episodes;
	const struct ncs_replay *replay = stamp->replay;

	if (!episodes || episodes->count == 0)
		return;
	fputc('\n', file);
	for (size_t i = 0; i < episodes->count && i < EPISODES_PRINTED; i++) {
		const struct ncs_episode *episode = &episodes->all[i];

		ncs_print(file, "$s from $t",
			  ncs_severity_name(episode->severity), replay,
			  episode->from_ns);
		if (episode->until_ns == replay->until_ns)
			fputs(" on", file);
		else
			ncs_print(file, " to $t", replay, episode->until_ns);
		ncs_print(file, ": $s\n", episode->sentence);
	}
	if (episodes->count > EPISODES_PRINTED)
		fprintf(file, "and %zu more: --diagnose=json has them\n",
			episodes->count - EPISODES_PRINTED);
	fputs("\nat the end of the recording:\n", file);
}

/* Prints what was not checked: of the model, and of a recording as far as it was
 * read. */
static void print_unchecked(FILE *file, const struct ncs_model *model,
			    const struct ncs_replay *replay)
{
	uint64_t chunks =
		replay ? ncs_recording_facts(replay->recording)->damaged_chunks :
			 0;
	const char *gap = "\n";
	char text[NCS_SENTENCE_MAX];

	for (size_t i = 0; ncs_unchecked_text(model, i, text, sizeof(text));
	     i++) {
		fputs(gap, file);
		ncs_print(file, "not checked: $s\n", text);
		gap = "";
	}
	if (chunks == 0)
		return;
	fputs(gap, file);
	ncs_print(file, "not checked: $u damaged chunk$s of the recording\n",
		  chunks, chunks == 1 ? "" : "s");
}

/* Prints the findings for users. */
static void print_text(FILE *file, const struct ncs_diagnosis *diagnosis,
		       const struct ncs_model *model,
		       const struct ncs_stamp *stamp, bool ascii)
{
	ncs_dump_head(file, model, stamp, ascii);
	print_episodes(file, stamp);
	if (diagnosis->count == 0) {
		fputc('\n', file);
		ncs_dump_verdict(file, model, 0, ascii);
	}
	for (size_t i = 0; i < diagnosis->count; i++)
		print_finding(file, &diagnosis->findings[i], stamp->ras);
	ncs_dump_step(file, model, 0, ascii);
	if (stamp->stacks)
		ncs_job_stacks_text(file, stamp->stacks, ascii);
	print_unchecked(file, model, stamp->replay);
	ncs_dump_unreadable(file, model, ascii);
}

/* --- JSON ---------------------------------------------------------------- */

static json_t *party_of(const struct ncs_party *party)
{
	const struct ncs_rank *rank = party->rank;
	const struct ncs_identity *communicator =
		rank                ? &rank->now.identity :
		party->communicator ? party->communicator->identity :
				      NULL;

	if (!communicator && party->number < 0)
		return json_null();
	return NCS_JSON_OBJECT(
		{ "rank", NCS_JSON_IF(party->number >= 0, party->number) },
		{ "pid", NCS_JSON_IF(rank, ncs_rank_pid(rank)) },
		{ "container_pid",
		  NCS_JSON_IF(rank && ncs_rank_pid(rank) != rank->process.pid,
			      rank->process.pid) },
		{ "host", ncs_json_name(rank ? rank->process.host : NULL) },
		{ "gpu_pci_id",
		  ncs_json_name(rank && rank->now.identity.known &
							NCS_KNOWN_GPU ?
					rank->now.identity.gpu :
					NULL) },
		{ "seen", json_boolean(rank) },
		{ "communicator",
		  communicator ? ncs_json_comm(communicator) : json_null() });
}

static json_t *channel_of(const struct ncs_channel_view *channel)
{
	if (!channel)
		return json_null();
	return NCS_JSON_OBJECT(
		{ "channel", NCS_JSON(channel->channel) },
		{ "direction", NCS_JSON(channel->send ? "send" : "recv") },
		{ "peer", NCS_JSON(channel->peer) },
		{ "state", NCS_JSON(ncs_channel_state_name(channel->state)) },
		{ "since_ns", ncs_json_known(channel->since_ns) });
}

static json_t *evidence_of(const struct ncs_finding *finding,
			   const struct ncs_ras *ras)
{
	json_t *evidence = json_array();
	char sentence[NCS_SENTENCE_MAX];

	for (size_t i = 0; i < finding->evidence_count; i++) {
		ncs_evidence_text(&finding->evidence[i], sentence,
				  sizeof(sentence));
		json_array_append_new(evidence, NCS_JSON(sentence));
	}
	for (size_t i = 0; ncs_ras_text(ras, finding->root.communicator, i,
					sentence, sizeof(sentence));
	     i++)
		json_array_append_new(evidence, NCS_JSON(sentence));
	return evidence;
}

static json_t *commands_of(const struct ncs_finding *finding)
{
	json_t *commands = json_array();
	char command[NCS_SENTENCE_MAX];

	for (size_t i = 0;
	     ncs_finding_command(finding, i, command, sizeof(command)); i++)
		json_array_append_new(commands, NCS_JSON(command));
	return commands;
}

static json_t *unchecked_of(const struct ncs_model *model)
{
	json_t *unchecked = json_array();
	char clause[NCS_SENTENCE_MAX];

	for (size_t i = 0;
	     ncs_unchecked_text(model, i, clause, sizeof(clause)); i++)
		json_array_append_new(unchecked, NCS_JSON(clause));
	return unchecked;
}

static json_t *finding_of(const struct ncs_finding *finding,
			  const struct ncs_ras *ras)
{
	const struct ncs_call_id *call = &finding->call;
	bool has_cost = finding->share > 0;
	char certainty[NCS_SENTENCE_MAX], sentence[NCS_SENTENCE_MAX];

	ncs_finding_certainty(finding, certainty, sizeof(certainty));
	ncs_finding_sentence(finding, sentence, sizeof(sentence));
	return NCS_JSON_OBJECT(
		{ "verdict", NCS_JSON(ncs_verdict_name(finding->verdict)) },
		{ "severity", NCS_JSON(ncs_severity_name(finding->severity)) },
		{ "confidence",
		  NCS_JSON(ncs_confidence_name(finding->confidence)) },
		{ "certainty", NCS_JSON(certainty) },
		{ "sentence", NCS_JSON(sentence) },
		{ "root", party_of(&finding->root) },
		{ "other", party_of(&finding->peer) },
		{ "node",
		  ncs_json_name(finding->node ? finding->node->name : NULL) },
		{ "channel", channel_of(finding->channel) },
		{ "function", NCS_JSON_IF(call->function < NCS_FUNCTION_COUNT,
					  ncs_function_name(call->function)) },
		{ "sequence_number",
		  NCS_JSON_IF(call->sequence_number != NCS_NO_SEQUENCE_NUMBER,
			      call->sequence_number) },
		{ "lasts_ns", ncs_json_known(finding->duration_ns) },
		{ "cost_share", NCS_JSON_IF(has_cost, finding->share) },
		{ "cost_share_least",
		  NCS_JSON_IF(has_cost, finding->share_least) },
		{ "cost_share_most",
		  NCS_JSON_IF(has_cost, finding->share_most) },
		{ "step_ns", ncs_json_known((uint64_t)finding->step_ns) },
		{ "cause", NCS_JSON_IF(finding->cause < NCS_LATE_CAUSE_COUNT,
				       ncs_late_cause_name(finding->cause)) },
		{ "ranks_waiting", NCS_JSON(finding->waiting) },
		{ "alike", NCS_JSON(finding->alike) },
		{ "evidence", evidence_of(finding, ras) },
		{ "next", NCS_JSON(ncs_finding_next(finding)) },
		{ "commands", commands_of(finding) });
}

NCS_JSON_ARRAY(static json_t *findings_of(const struct ncs_diagnosis *diagnosis,
					  const struct ncs_ras *ras),
	       diagnosis->count, finding_of(&diagnosis->findings[i], ras))

void ncs_diagnose_json(FILE *file, const struct ncs_diagnosis *diagnosis,
		       const struct ncs_model *model,
		       const struct ncs_stamp *stamp)
{
	json_t *object = ncs_json_stamped(stamp);

	NCS_JSON_ADD(object, { "looks", NCS_JSON(diagnosis->passes) },
		     { "ranks_seen", NCS_JSON(model->rank_count) },
		     { "unreadable", ncs_json_unreadable(model) },
		     { "nodes", ncs_json_nodes(model) });
	ncs_json_add_verdict(object, model, diagnosis);
	NCS_JSON_ADD(object, { "findings", findings_of(diagnosis, stamp->ras) },
		     { "episodes", ncs_json_episodes(stamp->episodes) },
		     { "stacks", ncs_job_stacks_json(stamp->stacks) },
		     { "not_checked", unchecked_of(model) });
	ncs_json_print(file, object, JSON_COMPACT | JSON_REAL_PRECISION(9));
}

/* --- Looking ------------------------------------------------------------- */

struct diagnose_watch {
	const struct ncs_options *options;
	struct ncs_source *source;
	struct ncs_replay *replay; /* NULL if jobs run now */
	struct ncs_model model;
	struct ncs_diagnosis diagnosis;
	struct ncs_stamp stamp;
	uint64_t began_ns;
	/* Since when the job has been slow; 0 if it is not slow. */
	uint64_t slow_since_ns;
};

static bool take_sample(struct diagnose_watch *watch)
{
	watch->stamp = ncs_dump_stamp(watch->replay);
	if (watch->began_ns == 0)
		watch->began_ns = watch->stamp.monotonic_ns;
	ncs_model_update(&watch->model, watch->source,
			 watch->stamp.monotonic_ns);
	if (watch->model.error[0])
		ncs_complain("%s", watch->model.error);
	if (ncs_diagnose(&watch->diagnosis, &watch->model) == 0)
		return true;
	ncs_complain("%s", strerror(ENOMEM));
	return false;
}

/* Whether --wait can end: the job is stuck, or has been slow for as long as a
 * job must stand still to count as stuck. */
static bool has_problem(struct diagnose_watch *watch)
{
	enum ncs_verdict_severity severity =
		ncs_diagnosis_severity(&watch->diagnosis);
	uint64_t now_ns = watch->stamp.monotonic_ns;

	if (severity < NCS_SEVERITY_SLOW)
		watch->slow_since_ns = 0;
	else if (watch->slow_since_ns == 0)
		watch->slow_since_ns = now_ns;
	return severity == NCS_SEVERITY_STUCK ||
	       (severity == NCS_SEVERITY_SLOW &&
		now_ns - watch->slow_since_ns > NCS_STUCK_NS);
}

/* Whether a node's samples are of one look only, for which there is time. */
static bool awaits_looks(const struct diagnose_watch *watch)
{
	const struct ncs_model *model = &watch->model;
	uint64_t passed_ns = watch->stamp.monotonic_ns - watch->began_ns;

	if (passed_ns + watch->options->interval_ns > LOOKS_WAIT_NS)
		return false;
	for (size_t i = 0; i < model->node_count; i++)
		if (model->nodes[i].looks == 1 &&
		    ncs_node_sight(model->nodes[i].state) >= NCS_SIGHT_PART)
			return true;
	return false;
}

static bool is_done(struct diagnose_watch *watch)
{
	const struct ncs_options *options = watch->options;
	size_t least = options->count > SAMPLES_LEAST ? options->count :
							SAMPLES_LEAST;
	bool problem = has_problem(watch);

	if (watch->diagnosis.passes < least || awaits_looks(watch))
		return false;
	return problem ||
	       watch->stamp.monotonic_ns - watch->began_ns >= options->wait_ns;
}

/* Returns the severity of the verdict, or of a recording's worst episode. */
static enum ncs_verdict_severity worst_of(const struct diagnose_watch *watch)
{
	const struct ncs_episodes *episodes = watch->stamp.episodes;
	enum ncs_verdict_severity severity =
		ncs_job_severity(&watch->diagnosis, &watch->model);

	if (episodes && episodes->count > 0 &&
	    episodes->all[0].severity > severity)
		severity = episodes->all[0].severity;
	return severity;
}

static int status_of(const struct diagnose_watch *watch)
{
	if (watch->diagnosis.count == 0 && watch->model.rank_count == 0 &&
	    ncs_count_unreadable(&watch->model) == 0)
		return NCS_EXIT_NO_VERDICT;
	switch (worst_of(watch)) {
	case NCS_SEVERITY_UNSEEN:
		return NCS_EXIT_UNREADABLE;
	case NCS_SEVERITY_STUCK:
		return NCS_EXIT_STUCK;
	case NCS_SEVERITY_SLOW:
		return NCS_EXIT_SLOW;
	default:
		return NCS_EXIT_OK;
	}
}

static void say(void *context, const char *text)
{
	(void)context;
	ncs_complain("%s", text);
}

static int print(struct diagnose_watch *watch)
{
	const struct ncs_options *options = watch->options;
	int status = status_of(watch);
	struct ncs_output output;
	struct ncs_ras *ras = NULL;
	struct ncs_job_stacks *stacks = NULL;

	if (!ncs_output_init(&output))
		return NCS_EXIT_NO_VERDICT;
	if (!watch->replay && watch->diagnosis.count > 0)
		ras = ncs_ras_ask(&watch->model);
	watch->stamp.ras = ras;
	if (watch->model.rank_count > 0)
		stacks = ncs_job_stacks_read(&(struct ncs_stacks_request){
			.model = &watch->model,
			.diagnosis = &watch->diagnosis,
			.source = watch->source,
			.options = options,
			.say = ncs_options_is_given(options,
						    NCS_OPTION_STACKS) ?
				       say :
				       NULL,
		});
	watch->stamp.stacks = stacks;
	if (options->format == NCS_DUMP_JSON)
		ncs_diagnose_json(output.file, &watch->diagnosis, &watch->model,
				  &watch->stamp);
	else if (watch->model.rank_count > 0 || watch->diagnosis.count > 0 ||
		 watch->model.unreadable_count > 0)
		print_text(output.file, &watch->diagnosis, &watch->model,
				  &watch->stamp, options->ascii);
	else if (!watch->model.error[0])
		ncs_dump_say_nothing(options);
	ncs_ras_release(ras);
	watch->stamp.ras = NULL;
	ncs_job_stacks_free(stacks);
	watch->stamp.stacks = NULL;
	return ncs_output_end(&output, NCS_EXIT_OK) == NCS_EXIT_OK ?
		       status :
		       NCS_EXIT_NO_VERDICT;
}

/* Searches all of a recording for episodes. Returns false after a message. */
static bool search_all(const struct diagnose_watch *watch,
		       struct ncs_replay_search *search)
{
	int error = ncs_replay_search_begin(search, watch->replay,
					    watch->options->choice.pid,
					    ncs_finding_sentence);

	while (!error && !search->done)
		error = ncs_replay_search_step(search);
	if (error)
		ncs_complain("%s", strerror(-error));
	else
		ncs_episodes_sort(&search->found);
	return !error;
}

int ncs_diagnose_run(const struct ncs_command_input *input)
{
	struct diagnose_watch watch = {
		.options = input->options,
		.source = input->source,
		.replay = input->replay,
	};
	/* It is large. */
	static struct ncs_replay_search search;
	int status = NCS_EXIT_NO_VERDICT;
	bool sampled, searched;

	ncs_model_init(&watch.model);
	ncs_diagnosis_init(&watch.diagnosis);
	watch.model.diagnosis = &watch.diagnosis;
	/* The latest calls show what some ranks have finished and others have
	 * not. */
	watch.model.keeps_latest = true;
	/* Peaks tell what holds a GPU or a port back. */
	input->source->wants_peaks = true;
	searched = watch.replay && watch.options->at.kind == NCS_INSTANT_NONE &&
		   search_all(&watch, &search);
	if (watch.replay)
		ncs_dump_past(watch.options, watch.replay, &watch.model,
			      &watch.diagnosis);
	sampled = take_sample(&watch);
	while (!watch.replay && sampled && !is_done(&watch)) {
		ncs_dump_sleep_until(watch.stamp.monotonic_ns +
				     watch.options->interval_ns);
		sampled = take_sample(&watch);
	}
	watch.stamp.episodes = searched ? &search.found : NULL;
	if (sampled)
		status = print(&watch);
	ncs_replay_search_end(&search);
	ncs_diagnosis_release(&watch.diagnosis);
	ncs_model_release(&watch.model);
	return status;
}
