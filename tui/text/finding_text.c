/* SPDX-License-Identifier: MIT */
/* Sentences of the diagnosis; see finding_text.h. They come from the table of
 * verdicts, with ranks, channels and calls filled in. */
#include "tui/text/finding_text.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "analysis/base/value_names.h"
#include "analysis/model/stragglers.h"
#include "tui/text/finding_words.h"
#include "tui/text/node_text.h"
#include "tui/text/step_text.h"
#include "tui/text/words.h"

/* --- Words of sentences ---------------------------------------------------- */

/* Appends the root or the other rank of a finding. */
static void append_party(const struct ncs_party *party, char *text, size_t size)
{
	if (!party->rank && party->communicator && party->number < 0)
		ncs_append(text, size, "a rank that is not seen of ");
	ncs_append_party(party, text, size);
}

/* A rank that is not seen, and that others wait for, may wait for another one. */
static void append_rank(const void *of, char *text, size_t size)
{
	const struct ncs_finding *finding = of;
	const struct ncs_party *root = &finding->root;

	append_party(root, text, size);
	if (finding->verdict == NCS_VERDICT_PEER_WAIT && !root->rank &&
	    root->number >= 0 && root->communicator &&
	    ncs_communicator_unseen(root->communicator) > 1)
		ncs_append(text, size, " or one that it waits for,");
}

/* A rank that is not seen may have called: only its data are missed. One that replays a
 * graph does not call NCCL: its host may not have launched the graph, or its GPU may not
 * have come so far. */
static void append_lacks(const void *of, char *text, size_t size)
{
	const struct ncs_rank *rank =
		((const struct ncs_finding *)of)->root.rank;

	ncs_append(text, size,
		   rank && !rank->now.graphs.are_replays ? "has not called" :
							   "has not begun");
}

static void append_peer(const void *of, char *text, size_t size)
{
	append_party(&((const struct ncs_finding *)of)->peer, text, size);
}

/* "7 ranks wait" */
static void append_count(const void *of, char *text, size_t size)
{
	size_t count = ((const struct ncs_finding *)of)->waiting;

	if (count == 0)
		ncs_append(text, size, "no rank waits");
	else
		ncs_append(text, size, "%zu rank%s", count,
			   count == 1 ? " waits" : "s wait");
}

static void append_channel(const void *of, char *text, size_t size)
{
	const struct ncs_channel_view *channel =
		((const struct ncs_finding *)of)->channel;

	if (channel)
		ncs_append(text, size, "channel %u", channel->channel);
	else
		ncs_append(text, size, "a channel");
}

static void append_call(const void *of, char *text, size_t size)
{
	ncs_append_call(&((const struct ncs_finding *)of)->call, text, size);
}

static void append_cause(const void *of, char *text, size_t size)
{
	const struct ncs_finding *finding = of;

	ncs_append(text, size, "%s", ncs_late_cause_help(finding->cause));
}

static void append_node(const void *of, char *text, size_t size)
{
	const struct ncs_finding *finding = of;

	ncs_append(text, size, "%s", finding->node->name);
}

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

	if (ns <= 0 || finding->share <= 0)
		return;
	ncs_append(text, size, "; without it a step takes ");
	ncs_append_bounded(text, size, ns * (1 - finding->share),
			   ns * (1 - finding->share_most),
			   ns * (1 - finding->share_least));
	ncs_append(text, size, ", not ");
	ncs_append_duration(text, size, (uint64_t)ns);
}

/* --- The sentence --------------------------------------------------------- */

void ncs_finding_sentence(const struct ncs_finding *finding, char *text,
			  size_t size)
{
	static const struct ncs_word words[] = {
		{ "RANK", append_rank },   { "PEER", append_peer },
		{ "COUNT", append_count }, { "CHANNEL", append_channel },
		{ "CALL", append_call },   { "SHARE", append_share },
		{ "CAUSE", append_cause }, { "NODE", append_node },
		{ "WHY", append_why },     { "GAIN", append_gain },
		{ "LACKS", append_lacks },
	};

	text[0] = '\0';
	ncs_append_sentence(ncs_verdict_sentence(finding->verdict), words,
			    sizeof(words) / sizeof(words[0]), finding, text,
			    size);
	if (finding->alike > 0)
		ncs_append(text, size, "; the same applies to %zu other %s%s",
			   finding->alike, finding->node ? "node" : "rank",
			   finding->alike == 1 ? "" : "s");
	if (finding->duration_ns > 0) {
		bool is_death = finding->verdict == NCS_VERDICT_RANK_DIED;

		ncs_append(text, size, " (");
		ncs_append_lasting(finding->root.rank, is_death,
				   finding->duration_ns, text, size);
		ncs_append(text, size, "%s)",
			   !is_death && ncs_party_is_dead(&finding->root) ?
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
	ncs_append_party(party, text, size);
	ncs_append(text, size, ": pid %u on %s", ncs_rank_pid(party->rank),
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
		return !ncs_party_is_dead(party);
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
	for (size_t i = 0; i < sizeof(commands) / sizeof(*commands) &&
			   index < COMMANDS_MOST;
	     i++) {
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
