/* SPDX-License-Identifier: MIT */
/* Evidence of findings in words, from the table of evidence; see evidence_text.h.
 * Must not state as known what was not measured. */
#include "tui/text/evidence_text.h"

#include <inttypes.h>

#include "analysis/base/value_names.h"
#include "analysis/cost/cost.h"
#include "analysis/model/range_totals.h"
#include "analysis/model/waits.h"
#include "tui/text/finding_words.h"
#include "tui/text/format.h"
#include "tui/text/node_text.h"
#include "tui/text/words.h"

/* --- Words ------------------------------------------------------------------ */

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
	ncs_party_is_dead(&it->party) ?
		"had no operation in progress when its process ended" :
		"has no operation in progress")
PRINTED(EVENT, "%s", ncs_event_name((unsigned)it->number))
PRINTED(PROXY, "%s", ncs_proxy_state_name((unsigned)it->number))
PRINTED(SPENT, "%s", ncs_channel_state_name((unsigned)it->number))
PRINTED(REASON, "%s",
	ncs_cost_unknown_help((enum ncs_cost_unknown)it->number))
PRINTED(NODE, "%s", it->node->name)

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

WORD(TIME)
{
	ncs_append_duration(text, size, it->duration_ns);
}

WORD(BEFORE)
{
	if (it->expected > 0)
		ncs_append_duration(text, size, it->expected);
	else
		ncs_append(text, size, "unknown");
}

WORD(LASTING)
{
	ncs_append_lasting(it->party.rank, it->kind == NCS_EVIDENCE_GONE,
			   it->duration_ns, text, size);
}

WORD(FOR)
{
	if (it->duration_ns == 0)
		return;
	ncs_append(text, size, " for ");
	append_LASTING(it, text, size);
}

WORD(SINCE)
{
	if (it->duration_ns > 0)
		ncs_append(text, size, ",");
	append_FOR(it, text, size);
}

WORD(CALL)
{
	ncs_append_call(&it->call, text, size);
}

WORD(CHANNEL)
{
	ncs_append_channel(it->channel, text, size);
}

WORD(STEP)
{
	if (it->channel->nsteps > 0)
		ncs_append(text, size, ", step %" PRIu64 " of %" PRIu64,
			   it->channel->step, it->channel->nsteps);
}

WORD(SIZE)
{
	struct ncs_value value = { 0 };
	char bytes[NCS_FORMAT_MAX];

	/* Sizes of types that are not known are 0. */
	if (it->operation && it->operation->bytes == 0 &&
	    it->operation->count > 0) {
		ncs_append(text, size, "of unknown size");
		return;
	}
	ncs_value_set(&value, NCS_VALUE_SIZE,
		      it->operation ? it->operation->bytes : it->number);
	ncs_format_value(bytes, sizeof(bytes), &value, 0, false);
	ncs_append(text, size, "%sB", bytes);
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

static void append_rate(double bytes, char *text, size_t size)
{
	char rate[32];

	ncs_format_scaled(rate, sizeof(rate), bytes, 0);
	ncs_append(text, size, "%sB/s", rate);
}

WORD(RATE)
{
	append_rate((double)it->number, text, size);
}

WORD(MEDIAN)
{
	append_rate((double)it->expected, text, size);
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
		number = i < count ? communicator->numbered[i]->now.identity.rank :
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
	ncs_append(text, size, it->expected - it->number > 1 ? " are not" :
							      " is not");
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

/* --- Sentences -------------------------------------------------------------- */

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
	static const struct ncs_word words[] = {
#define X(ID, member) { #ID, append_word_##ID },
		NCS_EVIDENCE_WORDS(X)
#undef X
	};

	ncs_append_sentence(sentences[evidence->kind], words,
			    sizeof(words) / sizeof(words[0]), evidence, text,
			    size);
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
		ncs_append_party(&evidence->party, text, size);
	ncs_append(text, size, ": ");
	append_fact(evidence, text, size);
}
