/* SPDX-License-Identifier: MIT */
/* Sentences of the diagnosis; see finding_text.h. They come from the table of
 * verdicts, with ranks, channels and calls filled in. */
#include "tui/text/finding_text.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "analysis/base/value_names.h"
#include "analysis/model/launch_waits.h"
#include "analysis/model/range_totals.h"
#include "analysis/model/stragglers.h"
#include "tui/text/format.h"
#include "tui/text/node_text.h"
#include "tui/text/well_text.h"
#include "tui/text/words.h"

/* --- Parts of sentences --------------------------------------------------- */

static bool is_on_one_node(const struct ncs_communicator *communicator)
{
	const struct ncs_identity *identity = communicator->identity;

	return (identity->known & NCS_KNOWN_NNODES) && identity->nnodes == 1;
}

static void append_party(const struct ncs_party *party, char *text, size_t size)
{
	char title[NCS_SENTENCE_MAX];

	if (party->rank) {
		ncs_rank_title(party->rank, title, sizeof(title));
		ncs_append(text, size, "%s", title);
		return;
	}
	if (!party->communicator) {
		ncs_append(text, size, "a rank");
		return;
	}
	ncs_communicator_label(party->communicator, title, sizeof(title));
	if (party->number < 0) {
		ncs_append(text, size, "%s", title);
		return;
	}
	ncs_append(text, size, "rank %d of %s, %s,", party->number, title,
		   is_on_one_node(party->communicator) ? "which is not seen" :
							 "not on this node");
}

/* Appends the root or the other rank of a finding. */
static void append_rank(const struct ncs_party *party, char *text, size_t size)
{
	if (!party->rank && party->communicator && party->number < 0)
		ncs_append(text, size, "a rank that is not seen of ");
	append_party(party, text, size);
}

static void append_call(const struct ncs_call_id *call, char *text, size_t size)
{
	if (call->function >= NCS_FUNCTION_COUNT) {
		ncs_append(text, size, "a call");
		return;
	}
	ncs_append(text, size, "%s", ncs_function_name(call->function));
	if (call->sequence_number != NCS_NO_SEQUENCE_NUMBER)
		ncs_append(text, size, " %" PRIu64, call->sequence_number);
}

/* "7 ranks wait" */
static void append_waiting(size_t count, char *text, size_t size)
{
	if (count == 0)
		ncs_append(text, size, "nobody waits");
	else
		ncs_append(text, size, "%zu rank%s", count,
			   count == 1 ? " waits" : "s wait");
}

static void append_channel(const struct ncs_finding *finding, char *text,
			   size_t size)
{
	if (finding->channel)
		ncs_append(text, size, "channel %u", finding->channel->channel);
	else
		ncs_append(text, size, "a channel");
}

static bool is_dead(const struct ncs_party *party)
{
	return party->rank && party->rank->now.liveness == NCS_DEAD;
}

/* Appends a duration of a rank. If nobody knows when its process died, what it
 * was in may have lasted for longer, and its death may be younger. */
static void append_lasting(const struct ncs_rank *rank, bool since_death,
			   uint64_t duration_ns, char *text, size_t size)
{
	if (rank && !ncs_rank_end_is_known(rank))
		ncs_append(text, size, since_death ? "at most " : "at least ");
	ncs_append_duration(text, size, duration_ns);
}

/* A bound of a share this near to it is no other one. */
#define SHARE_NEAR 0.1

/* "24 %", "at least 24 %", "at most 24 %", or "about 24 % (6 to 40 %)"; bounds are
 * rounded so that they stay bounds. */
static void append_share(const struct ncs_finding *finding, char *text,
			 size_t size)
{
	double share = finding->share;
	bool least = finding->share_least < share * (1 - SHARE_NEAR);
	bool most = finding->share_most > share * (1 + SHARE_NEAR);

	if (least && most)
		ncs_append(text, size, "about %.0f %% (%.0f to %.0f %%)",
			   100 * share, floor(100 * finding->share_least),
			   ceil(100 * fmin(finding->share_most, 1)));
	else if (least)
		ncs_append(text, size, "at most %.0f %%",
			   ceil(100 * fmin(finding->share_most, 1)));
	else if (most)
		ncs_append(text, size, "at least %.0f %%",
			   floor(100 * finding->share_least));
	else
		ncs_append(text, size, "%.0f %%", 100 * share);
}

/* --- The sentence --------------------------------------------------------- */

/* Appends the text for a $word of the table. Returns the length of the word. */
static size_t expand(const struct ncs_finding *finding, const char *word,
		     char *text, size_t size)
{
	static const char *const words[] = { "$rank", "$peer",  "$channel",
					     "$call", "$share", "$cause",
					     "$node", "$why",   "$count" };
	size_t i = 0;

	while (strncmp(word, words[i], strlen(words[i])) != 0)
		i++;
	switch (i) {
	case 0:
		append_rank(&finding->root, text, size);
		break;
	case 1:
		append_rank(&finding->peer, text, size);
		break;
	case 2:
		append_channel(finding, text, size);
		break;
	case 3:
		append_call(&finding->call, text, size);
		break;
	case 4:
		append_share(finding, text, size);
		break;
	case 5:
		ncs_append(text, size, "%s",
			   ncs_late_cause_help(finding->cause));
		break;
	case 6:
		ncs_append(text, size, "%s", finding->node->name);
		break;
	case 7:
		ncs_append_node_why(finding->node, text, size);
		break;
	default:
		append_waiting(finding->waiting, text, size);
		break;
	}
	return strlen(words[i]);
}

void ncs_finding_sentence(const struct ncs_finding *finding, char *text,
			  size_t size)
{
	const char *rest = ncs_verdict_sentence(finding->verdict);

	text[0] = '\0';
	while (*rest) {
		size_t plain = strcspn(rest, "$");

		ncs_append(text, size, "%.*s", (int)plain, rest);
		rest += plain;
		if (*rest)
			rest += expand(finding, rest, text, size);
	}
	if (finding->alike > 0)
		ncs_append(text, size, "; the same holds for %zu other %s%s",
			   finding->alike, finding->node ? "node" : "rank",
			   finding->alike == 1 ? "" : "s");
	if (finding->duration_ns > 0) {
		bool is_death = finding->verdict == NCS_VERDICT_RANK_DIED;

		ncs_append(text, size, " (");
		append_lasting(finding->root.rank, is_death,
			       finding->duration_ns, text, size);
		ncs_append(text, size, "%s)",
			   !is_death && is_dead(&finding->root) ?
				   " until its process was gone" :
				   " so far");
	}
}

/* --- The verdict on the job ------------------------------------------------ */

size_t ncs_count_unreadable(const struct ncs_model *model)
{
	size_t count = 0;

	for (size_t i = 0; i < model->unreadable_count; i++)
		count += model->unreadable[i].attach != NCS_ATTACH_NOT_READY;
	return count;
}

uint64_t ncs_count_unpublished(const struct ncs_model *model)
{
	uint64_t count = 0;

	for (size_t i = 0; i < model->rank_count; i++)
		count += model->ranks[i]->now.losses[NCS_LOSS_UNPUBLISHED];
	return count;
}

/* Appends how many communicators have no segment. Returns false if none is
 * known to have none. */
static bool append_unpublished(const struct ncs_model *model, char *text,
			       size_t size)
{
	uint64_t count = ncs_count_unpublished(model);

	if (count == 0)
		return false;
	ncs_append(text, size,
		   "%" PRIu64 " communicator%s of the processes seen here: no"
		   " room for a segment, see NCCLSTAT_SHM_BYTES in"
		   " ncclstat-plugin(7)",
		   count, count == 1 ? "" : "s");
	return true;
}

/* Appends how many segments cannot be read, and why the first one cannot. */
static void append_unreadable(const struct ncs_model *model, char *text,
			      size_t size)
{
	const struct ncs_unreadable *first = model->unreadable;
	size_t count = ncs_count_unreadable(model), owner_bytes;
	const char *plural = count == 1 ? "" : "s";

	while (first->attach == NCS_ATTACH_NOT_READY)
		first++;
	owner_bytes = strlen(NCS_WHY_OWNER);
	if (strncmp(first->why, NCS_WHY_OWNER, owner_bytes) == 0)
		ncs_append(text, size, "%zu segment%s belong%s to %s", count,
			   plural, count == 1 ? "s" : "",
			   first->why + owner_bytes);
	else
		ncs_append(text, size, "%zu segment%s cannot be read%s: %s",
			   count, plural, count == 1 ? "" : ", the first",
			   first->why);
}

/* Returns whether lateness in sends and receives is not known. */
static bool is_blind_in_transfers(const struct ncs_model *model)
{
	for (size_t i = 0; i < model->communicator_count; i++) {
		struct ncs_transfer_count count =
			ncs_communicator_transfers(&model->communicators[i]);

		if (ncs_transfers_are_blind(&count))
			return true;
	}
	return false;
}

enum ncs_verdict_severity ncs_job_severity(const struct ncs_diagnosis *diagnosis,
					   const struct ncs_model *model)
{
	if (diagnosis->count == 0 &&
	    (ncs_count_unreadable(model) > 0 || model->rank_count == 0))
		return NCS_SEVERITY_UNSEEN;
	return ncs_diagnosis_severity(diagnosis);
}

void ncs_job_sentence(const struct ncs_diagnosis *diagnosis,
		      const struct ncs_model *model, char *text, size_t size)
{
	char seen[NCS_SENTENCE_MAX / 2] = "";

	text[0] = '\0';
	if (diagnosis->count > 0) {
		ncs_finding_sentence(&diagnosis->findings[0], text, size);
		if (diagnosis->count > 1)
			ncs_append(text, size, "; and %zu more",
				   diagnosis->count - 1);
		return;
	}
	if (ncs_count_unreadable(model) > 0) {
		append_unreadable(model, text, size);
		return;
	}
	if (model->rank_count == 0) {
		ncs_append(text, size, "no rank is seen");
		return;
	}
	ncs_append_well(model, seen, sizeof(seen));
	ncs_append(text, size, "%s%s%s%s",
		   seen[0] ? "nothing is wrong: " :
			     ncs_severity_help(NCS_SEVERITY_WELL),
		   seen,
		   diagnosis->graph.is_over && diagnosis->graph.node_count > 0 ?
			   "; its processes have ended" :
			   "",
		   is_blind_in_transfers(model) ?
			   "; the lateness of sends and receives is"
			   " unknown" :
			   "");
	if (ncs_count_unpublished(model) > 0)
		ncs_append(text, size,
			   "; communicators that have no room for a segment"
			   " are not seen");
}

void ncs_verdict_line(const struct ncs_diagnosis *diagnosis,
		      const struct ncs_model *model, char *text, size_t size)
{
	char sentence[NCS_SENTENCE_MAX];

	ncs_job_sentence(diagnosis, model, sentence, sizeof(sentence));
	text[0] = '\0';
	ncs_append(text, size, "%s: %s",
		   ncs_severity_name(ncs_job_severity(diagnosis, model)),
		   sentence);
}

/* Appends which ranks of a communicator were not seen. Returns false if all
 * were. */
static bool append_unseen(const struct ncs_communicator *communicator,
			  char *text, size_t size)
{
	if (communicator->live == 0 ||
	    ncs_communicator_unseen(communicator) == 0)
		return false;
	ncs_communicator_label(communicator, text, size);
	ncs_append(text, size,
		   ": only %zu of its %d ranks are seen here",
		   communicator->rank_count, communicator->identity->nranks);
	return true;
}

/* Appends that nobody tells when a communicator's operations begin and end.
 * Returns false if somebody does. */
static bool append_blind(const struct ncs_communicator *communicator,
			 char *text, size_t size)
{
	for (size_t i = 0; i < communicator->rank_count; i++) {
		const struct ncs_rank *rank = communicator->ranks[i];

		for (unsigned k = 0; k < NCS_FUNCTION_COUNT; k++)
			if (ncs_function_ends_known(&rank->now.functions[k]))
				return false;
		if (!ncs_rank_is_live(rank) ||
		    rank->now.launches.status == NCS_STREAM_ALL ||
		    rank->now.launches.status == NCS_STREAM_SOME)
			return false;
	}
	ncs_communicator_label(communicator, text, size);
	ncs_append(text, size,
		   ": only calls are known, not when their kernels"
		   " begin and end");
	return true;
}

/* Appends which sends and receives of a communicator were not compared. Returns
 * false if all were. */
static bool append_unpaired(const struct ncs_communicator *communicator,
			    char *text, size_t size)
{
	struct ncs_transfer_count count =
		ncs_communicator_transfers(communicator);

	if (count.unnumbered == 0 && count.distrusted == 0)
		return false;
	ncs_communicator_label(communicator, text, size);
	ncs_append(text, size, ": ");
	if (count.unnumbered > 0)
		ncs_append(text, size,
			   "%" PRIu64 " of %" PRIu64
			   " sends and receives cannot be paired",
			   count.unnumbered, count.seen);
	if (count.unnumbered > 0 && count.distrusted > 0)
		ncs_append(text, size, "; ");
	if (count.distrusted > 0)
		ncs_append(text, size, "%" PRIu64 " pairs do not match",
			   count.distrusted);
	ncs_append(text, size, ": the lateness of these%s is unknown",
		   count.distrusted > 0 ? ", and of later pairs," : "");
	return true;
}

bool ncs_unchecked_text(const struct ncs_model *model, size_t index, char *text,
			size_t size)
{
	size_t place = 0;

	text[0] = '\0';
	if (ncs_count_unreadable(model) > 0 && place++ == index) {
		append_unreadable(model, text, size);
		return true;
	}
	if (append_unpublished(model, text, size) && place++ == index)
		return true;
	text[0] = '\0';
	for (size_t i = 0; i < model->communicator_count; i++) {
		const struct ncs_communicator *communicator =
			&model->communicators[i];

		if (append_unseen(communicator, text, size) && place++ == index)
			return true;
		text[0] = '\0';
		if (append_blind(communicator, text, size) && place++ == index)
			return true;
		text[0] = '\0';
		if (append_unpaired(communicator, text, size) &&
		    place++ == index)
			return true;
		text[0] = '\0';
	}
	return ncs_unchecked_nodes_text(model, index - place, text, size);
}

/* --- Where, and what to do ------------------------------------------------- */

static const char *gpu_of(const struct ncs_rank *rank)
{
	const struct ncs_identity *identity = &rank->now.identity;

	return identity->known & NCS_KNOWN_GPU ? identity->gpu : "";
}

bool ncs_party_where(const struct ncs_party *party, char *text, size_t size)
{
	text[0] = '\0';
	if (!party->rank)
		return false;
	append_party(party, text, size);
	ncs_append(text, size, ": pid %u on %s", ncs_rank_pid(party->rank),
		   party->rank->header.host);
	if (*gpu_of(party->rank))
		ncs_append(text, size, ", GPU %s", gpu_of(party->rank));
	return true;
}

/* Fills in a command of the table for a finding. Returns false if what the
 * command needs is not known, or is gone. */
static bool fill_command(const char *command, const struct ncs_finding *finding,
			 char *text, size_t size)
{
	const struct ncs_party *party = &finding->root;
	const char *word = strchr(command, '$');

	if (!word) {
		ncs_append(text, size, "%s", command);
		return true;
	}
	if (finding->node && finding->node->reach[0]) {
		/* It is known how the node is reached, which may be a pod. */
		ncs_append(text, size, "%s%s", finding->node->reach,
			   word + strlen("$node "));
		return true;
	}
	if (finding->node) {
		const char *name = ncs_node_shell_name(finding->node);

		ncs_append(text, size, "%.*s%s%s", (int)(word - command),
			   command, name ? name : "", word + strlen("$node"));
		return name != NULL;
	}
	if (!party->rank)
		return false;
	ncs_append(text, size, "%.*s", (int)(word - command), command);
	if (strncmp(word, "$pid", 4) == 0) {
		ncs_append(text, size, "%u%s", ncs_rank_pid(party->rank),
			   word + 4);
		return !is_dead(party);
	}
	ncs_append(text, size, "%s", gpu_of(party->rank));
	return *gpu_of(party->rank) != '\0';
}

/* Prints a command as it is run on the party's node. ssh hands its words to a
 * shell there, so that one with quotes or a pipe must be one word. */
static void send_command(const struct ncs_party *party, const char *command,
			 char *text, size_t size)
{
	const char *reach = party->rank ? party->rank->reach : "";
	const char *quote = "";

	text[0] = '\0';
	if (reach[0] && strncmp(reach, "srun ", 5) != 0 &&
	    strncmp(reach, "kubectl ", 8) != 0 && strpbrk(command, "'|"))
		quote = "\"";
	ncs_append(text, size, "%s%s%s%s", reach, quote, command, quote);
}

bool ncs_finding_command(const struct ncs_finding *finding, size_t index,
			 char *text, size_t size)
{
	static const struct {
		enum ncs_verdict verdict;
		const char *command;
	} commands[] = {
#define X(VERDICT, command) { NCS_VERDICT_##VERDICT, command },
		NCS_COMMANDS(X)
#undef X
	};
	char command[NCS_SENTENCE_MAX];
	size_t place = 0;

	for (size_t i = 0; i < sizeof(commands) / sizeof(*commands); i++) {
		command[0] = '\0';
		if (commands[i].verdict == finding->verdict &&
		    fill_command(commands[i].command, finding, command,
				 sizeof(command)) &&
		    place++ == index) {
			send_command(&finding->root, command, text, size);
			return true;
		}
	}
	text[0] = '\0';
	return false;
}

/* --- Evidence ------------------------------------------------------------- */

static void append_wait(const struct ncs_evidence *evidence, char *text,
			size_t size)
{
	const struct ncs_channel_view *channel = evidence->channel;
	char label[64];

	ncs_channel_label(channel, label, sizeof(label));
	ncs_append(text, size, "%s, %s in state %s", label,
		   ncs_function_name(channel->function),
		   ncs_channel_state_label(channel->state));
	if (evidence->duration_ns > 0) {
		ncs_append(text, size, " for ");
		append_lasting(evidence->party.rank, false,
			       evidence->duration_ns, text, size);
	}
	ncs_append(text, size, ": %s", ncs_channel_state_help(channel->state));
	if (channel->nsteps > 0)
		ncs_append(text, size, ", step %" PRIu64 " of %" PRIu64,
			   channel->step, channel->nsteps);
}

static void append_operation(const struct ncs_evidence *evidence, char *text,
			     size_t size)
{
	const struct ncs_operation_view *operation = evidence->operation;
	enum ncs_launch_phase phase =
		ncs_operation_phase(evidence->party.rank, operation);

	append_call(&evidence->call, text, size);
	ncs_append(text, size, " of %" PRIu64 " elements has been %s for ",
		   operation->count,
		   operation->enqueued_ns ? "in progress" : "being enqueued");
	append_lasting(evidence->party.rank, false, evidence->duration_ns, text,
		       size);
	switch (phase) {
	case NCS_LAUNCH_PHASE_QUEUED:
		ncs_append(text, size,
			   "; its kernel has not begun: earlier"
			   " work on its stream has not ended");
		break;
	case NCS_LAUNCH_PHASE_RUNNING:
		ncs_append(text, size, "; its kernel has begun but not ended");
		break;
	default:
		if (operation->children_started == 0)
			ncs_append(text, size, "; none of its work has begun");
	}
	if (operation->range == 0)
		return;
	ncs_append(text, size, "; called in ");
	ncs_range_append_path(&evidence->party.rank->now, operation->range,
			      text, size);
}

static void append_since(const char *clause,
			 const struct ncs_evidence *evidence, char *text,
			 size_t size)
{
	ncs_append(text, size, "%s", clause);
	if (evidence->duration_ns == 0)
		return;
	ncs_append(text, size, ", for ");
	append_lasting(evidence->party.rank,
		       evidence->kind == NCS_EVIDENCE_GONE,
		       evidence->duration_ns, text, size);
}

static void append_speed(const struct ncs_evidence *evidence, char *text,
			 size_t size)
{
	char now[32], usual[32];

	ncs_format_scaled(now, sizeof(now), (double)evidence->number, 0);
	ncs_format_scaled(usual, sizeof(usual), (double)evidence->expected, 0);
	ncs_append(text, size, "sends %sB/s, its earlier median is %sB/s", now,
		   usual);
}

/* "time for a message to arrive: 13.2ms in the latest 4 AllReduce, earlier
 * 790us" */
static void append_times(const struct ncs_evidence *evidence, const char *what,
			 char *text, size_t size)
{
	ncs_append(text, size, "%s ", what);
	ncs_append_duration(text, size, evidence->duration_ns);
	ncs_append(text, size, " in the latest %" PRIu64 " ", evidence->number);
	append_call(&evidence->call, text, size);
	ncs_append(text, size, ", earlier ");
	ncs_append_duration(text, size, evidence->expected);
}

/* "arrives last in 11 of 98 AllReduce, 20.1ms after the others" */
static void append_late(const struct ncs_evidence *evidence, char *text,
			size_t size)
{
	ncs_append(text, size, "arrives last in %" PRIu64 " of %" PRIu64 " ",
		   evidence->number, evidence->expected);
	append_call(&evidence->call, text, size);
	ncs_append(text, size, ", ");
	ncs_append_duration(text, size, evidence->duration_ns);
	ncs_append(text, size, " after the others at the 99th percentile");
}

/* "2 of 64 nodes do not answer" */
static void append_nodes(const struct ncs_evidence *evidence, char *text,
			 size_t size)
{
	bool one = evidence->number == 1;
	bool all_silent = evidence->share > 0.999;

	ncs_append(text, size, "%" PRIu64 " of %" PRIu64 " nodes %s",
		   evidence->number, evidence->expected,
		   all_silent ? one ? "does not answer" : "do not answer" :
		   one	      ? "is not seen" :
				"are not seen");
}

static void append_fact(const struct ncs_evidence *evidence, char *text,
			size_t size)
{
	switch (evidence->kind) {
	case NCS_EVIDENCE_WAIT:
		append_wait(evidence, text, size);
		return;
	case NCS_EVIDENCE_CALLED:
		ncs_append(text, size, "has called ");
		append_call(&evidence->call, text, size);
		append_since("", evidence, text, size);
		return;
	case NCS_EVIDENCE_DONE:
		ncs_append(text, size, "has finished ");
		append_call(&evidence->call, text, size);
		ncs_append(text, size, " of %llu bytes",
			   (unsigned long long)evidence->number);
		return;
	case NCS_EVIDENCE_BEHIND:
		append_call(&evidence->call, text, size);
		ncs_append(text, size, " would be its next call");
		return;
	case NCS_EVIDENCE_ALSO:
		ncs_append(text, size, "the same");
		return;
	case NCS_EVIDENCE_OPERATION:
	case NCS_EVIDENCE_ENQUEUEING:
		append_operation(evidence, text, size);
		return;
	case NCS_EVIDENCE_IDLE:
		append_since("has no operation in progress", evidence, text, size);
		return;
	case NCS_EVIDENCE_INSIDE:
		ncs_append(text, size, "a thread has been in %s for ",
			   ncs_event_name((unsigned)evidence->number));
		append_lasting(evidence->party.rank, false,
			       evidence->duration_ns, text, size);
		return;
	case NCS_EVIDENCE_PROXY:
		ncs_append(text, size, "its proxy thread is in state %s",
			   ncs_proxy_state_name((unsigned)evidence->number));
		append_since("", evidence, text, size);
		return;
	case NCS_EVIDENCE_GONE:
		append_since("its process is gone", evidence, text, size);
		return;
	case NCS_EVIDENCE_FINISHED:
		ncs_append(text, size, "has finalized its communicator");
		return;
	case NCS_EVIDENCE_STOPPED:
		ncs_append(text, size,
			   "its process is stopped by a signal or a debugger");
		return;
	case NCS_EVIDENCE_ELSEWHERE:
		ncs_append(text, size, "its process waits here");
		return;
	case NCS_EVIDENCE_LATE:
		append_late(evidence, text, size);
		return;
	case NCS_EVIDENCE_WAITED:
		ncs_append(text, size, "the others waited ");
		ncs_append_duration(text, size, evidence->duration_ns);
		ncs_append(text, size,
			   " for it in its latest %" PRIu64 " operations",
			   evidence->number);
		return;
	case NCS_EVIDENCE_QUEUED:
		ncs_append(text, size,
			   "in %" PRIu64 " of these %" PRIu64
			   " the others came directly from another operation:"
			   " how much they computed while they waited is"
			   " unknown",
			   evidence->number, evidence->expected);
		return;
	case NCS_EVIDENCE_LAG:
		ncs_append(text, size,
			   "its lag may carry over from one operation to the"
			   " next: how much of it is new each time is unknown");
		return;
	case NCS_EVIDENCE_UNLIKE:
		ncs_append(text, size,
			   "no other rank does the same work between sends and"
			   " receives: only the total of its additional work"
			   " is known");
		return;
	case NCS_EVIDENCE_TURNS:
		ncs_append(text, size,
			   "it sends to and receives from its neighbours in"
			   " turn: how often a delay travels back and forth is"
			   " unknown");
		return;
	case NCS_EVIDENCE_NO_DATA:
		ncs_append(text, size,
			   "at %" PRIu64 " of these %" PRIu64
			   " it had no data to send although its turn on the"
			   " stream had come: whether its GPU was busy or its"
			   " proxy thread was late is not known",
			   evidence->number, evidence->expected);
		return;
	case NCS_EVIDENCE_CLOCKS:
		ncs_append(text, size,
			   "not compared with %" PRIu64
			   " ranks that have another clock",
			   evidence->number);
		return;
	case NCS_EVIDENCE_UNCOMPARED:
		ncs_append(text, size,
			   "for %" PRIu64 " of %" PRIu64
			   " operations only the host's times are known",
			   evidence->number, evidence->expected);
		return;
	case NCS_EVIDENCE_UNPAIRED:
		ncs_append(text, size,
			   "%" PRIu64 " of %" PRIu64
			   " sends and receives have no number and are not"
			   " compared",
			   evidence->number, evidence->expected);
		return;
	case NCS_EVIDENCE_MESSAGES:
		append_times(evidence, "time for a message to arrive:", text,
			     size);
		return;
	case NCS_EVIDENCE_MOVED:
		append_times(evidence, "time in which data moves:", text, size);
		return;
	case NCS_EVIDENCE_RECEIVER:
		ncs_append(text, size,
			   "not checked: whether its proxy thread was late to"
			   " see what arrived");
		return;
	case NCS_EVIDENCE_SPEED:
		append_speed(evidence, text, size);
		return;
	case NCS_EVIDENCE_SHARE:
		ncs_append(text, size, "%.0f %% of its channels' time in %s",
			   100 * evidence->share,
			   ncs_channel_state_name((unsigned)evidence->number));
		return;
	case NCS_EVIDENCE_UNSEEN:
		ncs_append(text, size,
			   "%" PRIu64 " of its %" PRIu64 " ranks are seen here",
			   evidence->number, evidence->expected);
		return;
	case NCS_EVIDENCE_NO_SIGNALS:
		ncs_append(text, size,
			   "NCCL does not report what its proxy thread does");
		return;
	case NCS_EVIDENCE_NODES:
		append_nodes(evidence, text, size);
		return;
	case NCS_EVIDENCE_NODE:
		ncs_append_node_why(evidence->node, text, size);
		return;
	case NCS_EVIDENCE_PAST:
		ncs_append(text, size, "last seen ");
		ncs_append_duration(text, size, evidence->duration_ns);
		ncs_append(text, size, " ago; its node %s is not seen now",
			   evidence->node->name);
		return;
	}
}

void ncs_finding_certainty(const struct ncs_finding *finding, char *text,
			   size_t size)
{
	text[0] = '\0';
	if (finding->doubt > 0)
		append_fact(&finding->evidence[finding->doubt - 1], text, size);
	else
		ncs_append(text, size, "%s",
			   ncs_confidence_help(finding->confidence));
}

void ncs_evidence_text(const struct ncs_evidence *evidence, char *text,
		       size_t size)
{
	text[0] = '\0';
	if (evidence->kind == NCS_EVIDENCE_NODE)
		ncs_append(text, size, "node %s", evidence->node->name);
	else
		append_party(&evidence->party, text, size);
	ncs_append(text, size, ": ");
	append_fact(evidence, text, size);
}
