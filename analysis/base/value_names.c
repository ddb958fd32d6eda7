/* SPDX-License-Identifier: MIT */
/* Lookups in the tables of names; see value_names.h. */
#include "analysis/base/value_names.h"

#include <inttypes.h>
#include <stdio.h>

#include "analysis/base/lookup.h"
#include "ncclstat/tables/lateness.def"
#include "ncclstat/tables/what_if.def"

/* Enumerations that have no table, in their order. */
#define LIVENESSES(X) \
	X(ALIVE, "alive", ) \
	X(SILENT, "silent", ) \
	X(FINISHED, "finished", ) \
	X(DEAD, "dead", )

#define WHAT(ID, name, what, help) what,
#define CHANNEL_LABEL(ID, name, letter, label, help) label,

/* clang-format off */
static NCS_DEFINE_LOOKUP(nccl_event_name, NCS_EVENTS, NCS_NAME, "unknown")
static NCS_DEFINE_LOOKUP(own_event_name, NCS_OWN_EVENTS, NCS_NAME, "unknown")

NCS_DEFINE_LOOKUP(ncs_algorithm_name, NCS_ALGORITHMS, NCS_NAME,
	      words[NCS_ALGORITHM_UNKNOWN])
NCS_DEFINE_LOOKUP(ncs_channel_state_label, NCS_CHANNEL_STATES, CHANNEL_LABEL,
	      "unknown")
NCS_DEFINE_LOOKUP(ncs_channel_state_name, NCS_CHANNEL_STATES, NCS_NAME,
		  "unknown")
NCS_DEFINE_LOOKUP(ncs_cupti_status_name, NCS_CUPTI_STATUSES, NCS_NAME,
		  "unknown")
NCS_DEFINE_LOOKUP(ncs_event_group_name, NCS_EVENT_GROUPS, NCS_NAME, "unknown")
NCS_DEFINE_LOOKUP(ncs_function_name, NCS_FUNCTIONS, NCS_NAME,
	      words[NCS_FUNCTION_OTHER])
NCS_DEFINE_LOOKUP(ncs_kernel_status_name, NCS_KERNEL_STATUSES, NCS_NAME,
	      words[NCS_KERNEL_UNKNOWN])
NCS_DEFINE_LOOKUP(ncs_kernel_timing_name, NCS_KERNEL_TIMINGS, NCS_NAME,
		  "unknown")
NCS_DEFINE_LOOKUP(ncs_launch_phase_name, NCS_LAUNCH_PHASES, NCS_NAME,
	      words[NCS_LAUNCH_PHASE_UNKNOWN])
NCS_DEFINE_LOOKUP(ncs_late_cause_help, NCS_LATE_CAUSES, NCS_HELP,
	      "it is not known why")
NCS_DEFINE_LOOKUP(ncs_late_cause_name, NCS_LATE_CAUSES, NCS_NAME, "none")
NCS_DEFINE_LOOKUP(ncs_liveness_name, LIVENESSES, NCS_NAME, "unknown")
NCS_DEFINE_LOOKUP(ncs_loss_name, NCS_LOSSES, NCS_NAME, "unknown")
NCS_DEFINE_LOOKUP(ncs_loss_what, NCS_LOSSES, WHAT, "events")
NCS_DEFINE_LOOKUP(ncs_moment_name, NCS_MOMENTS, NCS_NAME, "unknown")
NCS_DEFINE_LOOKUP(ncs_doubt_name, NCS_DOUBTS, NCS_NAME, "unknown")
NCS_DEFINE_LOOKUP(ncs_outside_code_name, NCS_OUTSIDE_CODE, NCS_NAME, "unknown")
NCS_DEFINE_LOOKUP(ncs_path_cause_name, NCS_PATH_CAUSES, NCS_NAME, "unknown")
NCS_DEFINE_LOOKUP(ncs_protocol_name, NCS_PROTOCOLS, NCS_NAME,
	      words[NCS_PROTOCOL_UNKNOWN])
NCS_DEFINE_LOOKUP(ncs_proxy_state_name, NCS_PROXY_STATES, NCS_NAME,
	      words[NCS_PROXY_UNKNOWN])
NCS_DEFINE_LOOKUP(ncs_proxy_transition_name, NCS_PROXY_TRANSITIONS, NCS_NAME,
	      "unknown")
NCS_DEFINE_LOOKUP(ncs_refusal_help, NCS_REFUSALS, NCS_HELP,
	      "it does not say why")
NCS_DEFINE_LOOKUP(ncs_refusal_name, NCS_REFUSALS, NCS_NAME, "unknown")
NCS_DEFINE_LOOKUP(ncs_stream_status_help, NCS_STREAM_STATUSES, NCS_HELP,
	      words[NCS_STREAM_UNKNOWN])
NCS_DEFINE_LOOKUP(ncs_stream_status_name, NCS_STREAM_STATUSES, NCS_NAME,
	      words[NCS_STREAM_UNKNOWN])
const char *ncs_event_name(unsigned event)
{
	return event < NCS_EVENT_MAX ? nccl_event_name(event) :
				       own_event_name(event - NCS_EVENT_MAX);
}
/* clang-format on */

void ncs_nccl_version_text(int nccl_version, char *text, size_t size)
{
	/* NCCL counts in steps of 1000 before 2.9 and of 10000 from then on. */
	int major = nccl_version >= 10000 ? 10000 : 1000;

	snprintf(text, size, "%d.%d.%d", nccl_version / major,
		 nccl_version % major / 100, nccl_version % 100);
}

void ncs_comm_text(const struct ncs_identity *identity, char *text, size_t size)
{
	if (size == 0)
		return;
	text[0] = '\0';
	if (identity->known & NCS_KNOWN_COMM_NAME && identity->comm_name[0])
		snprintf(text, size, "%.*s", (int)sizeof(identity->comm_name),
			 identity->comm_name);
	else if (identity->known & NCS_KNOWN_COMM_ID)
		snprintf(text, size, "%016" PRIx64, identity->comm_id);
}
