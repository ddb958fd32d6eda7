/* SPDX-License-Identifier: MIT */
/* Evidence of findings in words, one clause for each piece; see evidence_text.h.
 * Must not state as known what was not measured. */
#include "tui/text/evidence_text.h"

#include <inttypes.h>

#include "analysis/base/value_names.h"
#include "analysis/cost/cost.h"
#include "analysis/model/launch_waits.h"
#include "analysis/model/range_totals.h"
#include "tui/text/finding_words.h"
#include "tui/text/format.h"
#include "tui/text/node_text.h"
#include "tui/text/words.h"

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
		ncs_append_lasting(evidence->party.rank, false,
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

	ncs_append_call(&evidence->call, text, size);
	ncs_append(text, size, " of %" PRIu64 " elements has been %s for ",
		   operation->count,
		   operation->enqueued_ns ? "in progress" : "being enqueued");
	ncs_append_lasting(evidence->party.rank, false, evidence->duration_ns, text,
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
	ncs_append_lasting(evidence->party.rank,
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
 * 790us", or "unknown" */
static void append_times(const struct ncs_evidence *evidence, const char *what,
			 char *text, size_t size)
{
	ncs_append(text, size, "%s ", what);
	ncs_append_duration(text, size, evidence->duration_ns);
	ncs_append(text, size, " in the latest %" PRIu64 " ", evidence->number);
	ncs_append_call(&evidence->call, text, size);
	ncs_append(text, size, ", earlier ");
	if (evidence->expected > 0)
		ncs_append_duration(text, size, evidence->expected);
	else
		ncs_append(text, size, "unknown");
}

/* "arrives last in 11 of 98 AllReduce, 20.1ms after the others" */
static void append_late(const struct ncs_evidence *evidence, char *text,
			size_t size)
{
	ncs_append(text, size, "arrives last in %" PRIu64 " of %" PRIu64 " ",
		   evidence->number, evidence->expected);
	ncs_append_call(&evidence->call, text, size);
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

/* "3 operations, the latest 4.1s ago, ended although ranks
 * called them differently: their results are wrong" */
static void append_ended(const struct ncs_evidence *evidence, char *text,
			 size_t size)
{
	bool one = evidence->number == 1;

	ncs_append(text, size, "%" PRIu64 " operation%s, ",
		   evidence->number, one ? "" : "s");
	ncs_append(text, size, one ? "" : "the latest ");
	ncs_append_duration(text, size, evidence->duration_ns);
	ncs_append(text, size,
		   " ago, ended although ranks called %s differently: %s"
		   " results are wrong",
		   one ? "it" : "them", one ? "its" : "their");
}

/* "the others have waited for its host before: 14.8s at most, in the 5 min that are
 * known" */
static void append_host(const struct ncs_evidence *evidence, char *text,
			size_t size)
{
	if (evidence->expected == 0) {
		ncs_append(text, size,
			   "whether the others waited for its host before is"
			   " not known");
		return;
	}
	ncs_append(text, size, "the others waited for its host before: ");
	ncs_append_duration(text, size, evidence->duration_ns);
	ncs_append(text, size, " at most, in the ");
	ncs_append_duration(text, size, evidence->expected);
	ncs_append(text, size, " that are known");
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
		ncs_append_call(&evidence->call, text, size);
		append_since("", evidence, text, size);
		return;
	case NCS_EVIDENCE_DONE:
		ncs_append(text, size, "has finished ");
		ncs_append_call(&evidence->call, text, size);
		ncs_append(text, size, " of %llu bytes",
			   (unsigned long long)evidence->number);
		return;
	case NCS_EVIDENCE_ROOT:
		ncs_append(text, size, "has called ");
		ncs_append_call(&evidence->call, text, size);
		ncs_append(text, size, " with root %" PRIu64, evidence->number);
		return;
	case NCS_EVIDENCE_ENDED:
		append_ended(evidence, text, size);
		return;
	case NCS_EVIDENCE_BEHIND:
		ncs_append_call(&evidence->call, text, size);
		ncs_append(text, size, " would be its next call");
		return;
	case NCS_EVIDENCE_BORN:
		ncs_append(text, size, "initialized its communicator ");
		ncs_append_duration(text, size, evidence->duration_ns);
		ncs_append(text, size, " later than all others");
		return;
	case NCS_EVIDENCE_HOST:
		append_host(evidence, text, size);
		return;
	case NCS_EVIDENCE_ALSO:
		ncs_append(text, size, "the same");
		return;
	case NCS_EVIDENCE_OPERATION:
	case NCS_EVIDENCE_ENQUEUEING:
		append_operation(evidence, text, size);
		return;
	case NCS_EVIDENCE_IDLE:
		append_since(ncs_party_is_dead(&evidence->party) ?
				     "had no operation in progress when its"
				     " process ended" :
				     "has no operation in progress",
			     evidence, text, size);
		return;
	case NCS_EVIDENCE_INSIDE:
		ncs_append(text, size, "a thread has been in %s for ",
			   ncs_event_name((unsigned)evidence->number));
		ncs_append_lasting(evidence->party.rank, false,
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
	case NCS_EVIDENCE_ORDER:
		ncs_append(text, size,
			   "whether the process%s of %" PRIu64
			   " other rank%s ended before it is not known",
			   evidence->number == 1 ? "" : "es", evidence->number,
			   evidence->number == 1 ? "" : "s");
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
	case NCS_EVIDENCE_COST:
		ncs_append(text, size,
			   "the others waited for it %" PRIu64
			   " %% of the time; its cost is not known: %s",
			   evidence->expected,
			   ncs_cost_unknown_help(
				   (enum ncs_cost_unknown)evidence->number));
		return;
	case NCS_EVIDENCE_NO_DATA:
		ncs_append(text, size,
			   "at %" PRIu64 " of these %" PRIu64
			   " it was late to have data to send, and when its"
			   " kernel began is not known: its GPU was busy, or its"
			   " proxy thread was late",
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
	case NCS_EVIDENCE_TOOK:
		append_times(evidence,
			     "time after all have"
			     " arrived:",
			     text, size);
		ncs_append(text, size,
			   " by the median of its counters since its start");
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
		ncs_append_party(&evidence->party, text, size);
	ncs_append(text, size, ": ");
	append_fact(evidence, text, size);
}
