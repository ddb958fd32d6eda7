/* SPDX-License-Identifier: MIT */
/* Findings of the diagnosis in words; see finding_text.h. Sentences come from the
 * tables of verdicts and of evidence, with ranks, channels and calls filled in. Must
 * not state as known what was not measured. */
#include "tui/text/finding_text.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "analysis/base/value_names.h"
#include "analysis/cost/cost.h"
#include "analysis/model/range_totals.h"
#include "analysis/model/stragglers.h"
#include "analysis/model/waits.h"
#include "tui/text/format.h"
#include "tui/text/job_text.h"
#include "tui/text/node_text.h"
#include "tui/text/words.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

/* --- Words of both -------------------------------------------------------- */

/* A $word of a sentence, and what appends it, of a finding or of evidence. */
struct sentence_word {
	const char *word; /* in capitals, without $ */
	void (*append)(const void *of, char *text, size_t size);
};

/* Appends a sentence of a table, whose words are all among `count` words. */
static void append_sentence(const char *sentence,
			    const struct sentence_word *words, size_t count,
			    const void *of, char *text, size_t size)
{
	while (*sentence) {
		size_t plain = strcspn(sentence, "$"), length, i = 0;

		ncs_append(text, size, "%.*s", (int)plain, sentence);
		sentence += plain;
		if (!*sentence)
			return;
		sentence++;
		length = strspn(sentence, "abcdefghijklmnopqrstuvwxyz");
		while (i < count &&
		       (strlen(words[i].word) != length ||
			strncasecmp(words[i].word, sentence, length) != 0))
			i++;
		if (i < count)
			words[i].append(of, text, size);
		sentence += length;
	}
}

/* Whether a rank of a communicator may be on another node than those that are
 * looked at. */
static bool is_elsewhere(const struct ncs_communicator *communicator)
{
	const struct ncs_identity *identity = communicator->identity;

	return !((identity->known & NCS_KNOWN_NNODES) &&
		 identity->nnodes == 1) &&
	       !(communicator->rank_count > 0 &&
		 communicator->ranks[0]->reach[0]);
}

static bool is_dead(const struct ncs_party *party)
{
	return party->rank && party->rank->now.liveness == NCS_DEAD;
}

/* Returns the rank, seen or not, or the communicator that a party names. */
static struct ncs_phrase party_name(const struct ncs_party *party)
{
	const struct ncs_communicator *communicator = party->communicator;

	if (party->rank)
		return ncs_rank_of(party->rank);
	if (!communicator)
		return ncs_phrase("a rank");
	if (party->number < 0)
		return ncs_communicator_name(communicator);
	return ncs_phrase("rank %d%s, %s,", party->number,
			  ncs_of(communicator->identity, communicator).text,
			  is_elsewhere(communicator) ? "not on this node" :
						       "which is not seen");
}

/* Returns a call: its function and, if known, its sequence number. */
static struct ncs_phrase call_name(const struct ncs_call_id *call)
{
	if (call->function >= NCS_FUNCTION_COUNT)
		return ncs_phrase("a call");
	return ncs_call_name(call->function, call->sequence_number);
}

/* --- Evidence ------------------------------------------------------------- */

/* Defines the function that appends a word of the table; `it` is the evidence. */
#define WORD(ID) \
	static void append_##ID(const struct ncs_evidence *it, char *text, \
				size_t size)

/* Defines the same for a word that one format prints. */
#define PRINTED(ID, ...) \
	WORD(ID) \
	{ \
		ncs_append(text, size, __VA_ARGS__); \
	}

/* Returns how long it has lasted. */
static struct ncs_phrase lasting(const struct ncs_evidence *it)
{
	return ncs_lasting(it->party.rank, it->kind == NCS_EVIDENCE_GONE,
			   it->duration_ns);
}

static struct ncs_phrase rate(uint64_t bytes)
{
	char number[32];

	ncs_format_scaled(number, sizeof(number), (double)bytes, 0);
	return ncs_phrase("%sB/s", number);
}

PRINTED(NUMBER, "%" PRIu64, it->number)
PRINTED(EXPECTED, "%" PRIu64, it->expected)
PRINTED(S, "%s", it->number == 1 ? "" : "s")
PRINTED(THEM, "%s", it->number == 1 ? "it" : "them")
PRINTED(ARE, "%s", it->number == 1 ? "is" : "are")
PRINTED(SHARE, "%.0f", 100 * it->share)
PRINTED(FUNCTION, "%s", ncs_function_name(it->channel->function))
PRINTED(STATE, "%s", ncs_channel_state_label(it->channel->state))
PRINTED(MEANING, "%s", ncs_channel_state_help(it->channel->state))
PRINTED(ELEMENTS, "%" PRIu64, it->operation->count)
PRINTED(IDLE, "%s",
	is_dead(&it->party) ?
		"had no operation in progress when its process ended" :
		"has no operation in progress")
PRINTED(EVENT, "%s", ncs_event_name((unsigned)it->number))
PRINTED(PROXY, "%s", ncs_proxy_state_name((unsigned)it->number))
PRINTED(SPENT, "%s", ncs_channel_state_name((unsigned)it->number))
PRINTED(REASON, "%s", ncs_cost_unknown_help((enum ncs_cost_unknown)it->number))
PRINTED(NODE, "%s", it->node->name)
PRINTED(TIME, "%s", ncs_duration(it->duration_ns).text)
PRINTED(BEFORE, "%s",
	it->expected > 0 ? ncs_duration(it->expected).text : "unknown")
PRINTED(LASTING, "%s", lasting(it).text)
PRINTED(CALL, "%s", call_name(&it->call).text)
PRINTED(CHANNEL, "%s", ncs_channel_name(it->channel).text)
PRINTED(RATE, "%s", rate(it->number).text)
PRINTED(MEDIAN, "%s", rate(it->expected).text)

WORD(HELD)
{
	const char *between = ": ";

#define X(ID, bit, words) \
	if (it->held_by & bit) { \
		ncs_append(text, size, "%s%s", between, words); \
		between = ", "; \
	}
	NCS_CLOCK_REASONS(X)
#undef X
}

WORD(FOR)
{
	if (it->duration_ns > 0)
		ncs_append(text, size, " for %s", lasting(it).text);
}

WORD(SINCE)
{
	if (it->duration_ns > 0)
		ncs_append(text, size, ", for %s", lasting(it).text);
}

WORD(STEP)
{
	if (it->channel->nsteps > 0)
		ncs_append(text, size, ", step %" PRIu64 " of %" PRIu64,
			   it->channel->step, it->channel->nsteps);
}

WORD(SIZE)
{
	uint64_t bytes = it->operation ? it->operation->bytes : it->number;

	/* Sizes of types that are not known are 0. */
	if (it->operation && bytes == 0 && it->operation->count > 0)
		ncs_append(text, size, "of unknown size");
	else
		ncs_append(text, size, "%sB", ncs_size(bytes).text);
}

/* Tells how far its kernel is, and where it was called. */
WORD(KERNEL)
{
	switch (ncs_operation_phase(it->party.rank, it->operation)) {
	case NCS_LAUNCH_PHASE_QUEUED:
		ncs_append(text, size,
			   "; its kernel has not begun: earlier"
			   " work on its stream has not ended");
		break;
	case NCS_LAUNCH_PHASE_RUNNING:
		ncs_append(text, size, "; its kernel has begun but not ended");
		break;
	default:
		if (it->operation->children_started == 0)
			ncs_append(text, size, "; none of its work has begun");
	}
	if (it->operation->range == 0)
		return;
	ncs_append(text, size, "; called in ");
	ncs_range_append_path(&it->party.rank->now, it->operation->range, text,
			      size);
}

/* A list of numbers ends once the sentence is so long. */
#define MISSING_MOST 120

/* "; 0,2-5 are not", as far as all that are seen have a number. */
WORD(MISSING)
{
	const struct ncs_communicator *communicator = it->party.communicator;
	const char *before = "; ";
	int32_t next = 0, number;
	size_t count = communicator->numbered_count;

	if (count != communicator->rank_count)
		return;
	for (size_t i = 0; i <= count; i++, next = number + 1) {
		number = i < count ?
				 communicator->numbered[i]->now.identity.rank :
				 (int32_t)it->expected;
		if (number <= next)
			continue;
		if (strlen(text) > MISSING_MOST) {
			ncs_append(text, size, " and more");
			break;
		}
		ncs_append(text, size, "%s%d", before, next);
		if (number > next + 1)
			ncs_append(text, size, "-%d", number - 1);
		before = ",";
	}
	ncs_append(text, size,
		   it->expected - it->number > 1 ? " are not" : " is not");
}

/* Why nodes are not seen: all are silent, or there are several reasons. */
WORD(SILENT)
{
	bool one = it->number == 1;

	if (it->share > 0.999)
		ncs_append(text, size, "%s not answer", one ? "does" : "do");
	else
		ncs_append(text, size, "%s not seen", one ? "is" : "are");
}

/* The first of nodes that are not seen. */
WORD(WHICH)
{
	if (it->node)
		ncs_append(text, size, ": %s%s", it->node->name,
			   it->number > 1 ? " and others" : "");
}

WORD(WHY)
{
	ncs_append_node_why(it->node, text, size);
}

#undef WORD
#undef PRINTED

#define X(ID, member) \
	static void append_word_##ID(const void *of, char *text, size_t size) \
	{ \
		append_##ID(of, text, size); \
	}
NCS_EVIDENCE_WORDS(X)
#undef X

static void append_fact(const struct ncs_evidence *evidence, char *text,
			size_t size)
{
	static const char *const sentences[] = {
#define X(ID, sentence) sentence,
		NCS_EVIDENCE(X)
#undef X
	};
	static const struct sentence_word words[] = {
#define X(ID, member) { #ID, append_word_##ID },
		NCS_EVIDENCE_WORDS(X)
#undef X
	};

	append_sentence(sentences[evidence->kind], words, COUNT(words),
			evidence, text, size);
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
		ncs_append(text, size, "node %s: ", evidence->node->name);
	else
		ncs_append(text, size,
			   "%s: ", party_name(&evidence->party).text);
	append_fact(evidence, text, size);
}

bool ncs_is_root(const struct ncs_diagnosis *diagnosis,
		 const struct ncs_rank *rank)
{
	for (size_t i = 0; i < diagnosis->count; i++)
		if (diagnosis->findings[i].root.rank == rank)
			return true;
	return false;
}

/* --- The sentence of a finding -------------------------------------------- */

/* Returns the root or the other rank of a finding. */
static struct ncs_phrase rank_of(const struct ncs_party *party)
{
	bool is_any = !party->rank && party->communicator && party->number < 0;

	return ncs_phrase("%s%s", is_any ? "a rank that is not seen of " : "",
			  party_name(party).text);
}

/* A rank that is not seen, and that others wait for, may wait for another one. */
static void append_rank(const void *of, char *text, size_t size)
{
	const struct ncs_finding *finding = of;
	const struct ncs_party *root = &finding->root;

	ncs_append(text, size, "%s", rank_of(root).text);
	if (finding->verdict == NCS_VERDICT_PEER_WAIT && !root->rank &&
	    root->number >= 0 && root->communicator &&
	    ncs_communicator_unseen(root->communicator) > 1)
		ncs_append(text, size, " or one that it waits for,");
}

/* A rank that is not seen may have called: only its data are missed. One that replays a
 * graph does not call NCCL: its host may not have launched the graph, or its GPU may not
 * have come so far. */
static const char *lacks_of(const struct ncs_rank *rank)
{
	return rank && !rank->now.graphs.are_replays ? "has not called" :
						       "has not begun";
}

/* "7 ranks wait" */
static struct ncs_phrase count_of(size_t count)
{
	if (count == 0)
		return ncs_phrase("no rank waits");
	return ncs_phrase("%zu rank%s", count,
			  count == 1 ? " waits" : "s wait");
}

static struct ncs_phrase channel_of(const struct ncs_channel_view *channel)
{
	return channel ? ncs_phrase("channel %u", channel->channel) :
			 ncs_phrase("a channel");
}

/* Defines the function that appends a word of a finding, `it`. */
#define WORD(name, words) \
	static void append_##name(const void *of, char *text, size_t size) \
	{ \
		const struct ncs_finding *it = of; \
\
		ncs_append(text, size, "%s", words); \
	}

WORD(peer, rank_of(&it->peer).text)
WORD(lacks, lacks_of(it->root.rank))
WORD(count, count_of(it->waiting).text)
WORD(channel, channel_of(it->channel).text)
WORD(call, call_name(&it->call).text)
WORD(cause, ncs_late_cause_help(it->cause))
WORD(node, it->node->name)

#undef WORD

static void append_why(const void *of, char *text, size_t size)
{
	ncs_append_node_why(((const struct ncs_finding *)of)->node, text, size);
}

/* "24 %", "at least 24 %", "at most 24 %", "about 24 % (6 to 40 %)", or "an unknown
 * share"; bounds are rounded so that they stay bounds. */
static void append_share(const void *of, char *text, size_t size)
{
	const struct ncs_finding *finding = of;
	double share = finding->share;
	bool least = !ncs_bound_is_near(finding->share_least, share);
	bool most = !ncs_bound_is_near(finding->share_most, share);

	if (share <= 0)
		ncs_append(text, size, "an unknown share");
	else if (least && most)
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

/* "; without it a step takes 110ms, not 148ms"; nothing if that is not known. */
static void append_gain(const void *of, char *text, size_t size)
{
	const struct ncs_finding *finding = of;
	double ns = finding->step_ns;

	if (ns > 0 && finding->share > 0)
		ncs_append(text, size, "; without it a step takes %s, not %s",
			   ncs_bounded(ns * (1 - finding->share),
				       ns * (1 - finding->share_most),
				       ns * (1 - finding->share_least))
				   .text,
			   ncs_duration((uint64_t)ns).text);
}

void ncs_finding_sentence(const struct ncs_finding *finding, char *text,
			  size_t size)
{
	static const struct sentence_word words[] = {
		{ "RANK", append_rank },   { "PEER", append_peer },
		{ "COUNT", append_count }, { "CHANNEL", append_channel },
		{ "CALL", append_call },   { "SHARE", append_share },
		{ "CAUSE", append_cause }, { "NODE", append_node },
		{ "WHY", append_why },     { "GAIN", append_gain },
		{ "LACKS", append_lacks },
	};

	text[0] = '\0';
	append_sentence(ncs_verdict_sentence(finding->verdict), words,
			COUNT(words), finding, text, size);
	if (finding->alike > 0)
		ncs_append(text, size, "; the same applies to %zu other %s%s",
			   finding->alike, finding->node ? "node" : "rank",
			   finding->alike == 1 ? "" : "s");
	if (finding->duration_ns > 0) {
		bool is_death = finding->verdict == NCS_VERDICT_RANK_DIED;

		ncs_append(text, size, " (%s%s)",
			   ncs_lasting(finding->root.rank, is_death,
				       finding->duration_ns)
				   .text,
			   !is_death && is_dead(&finding->root) ?
				   " until its process was gone" :
				   " so far");
	}
	if (finding->severity == NCS_SEVERITY_SLOW && finding->root.rank &&
	    finding->root.rank->now.liveness == NCS_FINISHED)
		ncs_append(text, size, "; the job has ended");
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
	ncs_append(text, size, "%s: pid %u on %s",
		   ncs_rank_of(party->rank).text, ncs_rank_pid(party->rank),
		   party->rank->process.host);
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

/* The most commands that are proposed. */
#define COMMANDS_MOST 2u

bool ncs_finding_command(const struct ncs_finding *finding, size_t index,
			 char *text, size_t size)
{
	/* A finding without a cause takes commands of any. */
	enum { NCS_LATE_ANY = NCS_LATE_CAUSE_COUNT };
	static const struct {
		enum ncs_verdict verdict;
		unsigned cause;
		const char *command;
	} commands[] = {
#define X(VERDICT, CAUSE, command) \
	{ NCS_VERDICT_##VERDICT, NCS_LATE_##CAUSE, command },
		NCS_COMMANDS(X)
#undef X
	};
	char command[NCS_SENTENCE_MAX];
	size_t place = 0;

	text[0] = '\0';
	for (size_t i = 0; i < COUNT(commands) && index < COMMANDS_MOST; i++) {
		command[0] = '\0';
		if (commands[i].verdict == finding->verdict &&
		    (commands[i].cause == finding->cause ||
		     commands[i].cause == NCS_LATE_ANY ||
		     finding->cause == NCS_LATE_ANY) &&
		    fill_command(commands[i].command, finding, command,
				 sizeof(command)) &&
		    place++ == index) {
			send_command(&finding->root, command, text, size);
			return true;
		}
	}
	return false;
}
