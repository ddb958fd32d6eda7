/* SPDX-License-Identifier: MIT */
/* Lookups in the tables of names; see value_names.h. */
#include "analysis/base/value_names.h"

#include <inttypes.h>
#include <stdio.h>

#include "analysis/base/append.h"
#include "ncclstat/tables/lateness.def"
#include "ncclstat/tables/what_if.def"

/* Enumerations that have no table, in their order. */
#define LIVENESSES(X) \
	X(ALIVE, "alive", ) \
	X(SILENT, "silent", ) \
	X(FINISHED, "finished", ) \
	X(DEAD, "dead", )

/* Columns of the tables. Each row has an identifier and a name first. */
#define NAME(ID, name, ...) name,
#define HELP(ID, name, help) help,
#define WHAT(ID, name, what, help) what,
#define CHANNEL_LABEL(ID, name, letter, label, help) label,

/* Defines a function that looks up a column of a table. `otherwise` may be one
 * of the `words`. */
#define DEFINE_LOOKUP(function, table, column, otherwise) \
	const char *function(unsigned number) \
	{ \
		static const char *const words[] = { table(column) }; \
\
		return number < sizeof(words) / sizeof(*words) ? \
			       words[number] : \
			       (otherwise); \
	}

/* clang-format off */
static DEFINE_LOOKUP(nccl_event_name, NCS_EVENTS, NAME, "unknown")
static DEFINE_LOOKUP(own_event_name, NCS_OWN_EVENTS, NAME, "unknown")

DEFINE_LOOKUP(ncs_algorithm_name, NCS_ALGORITHMS, NAME,
	      words[NCS_ALGORITHM_UNKNOWN])
DEFINE_LOOKUP(ncs_channel_state_label, NCS_CHANNEL_STATES, CHANNEL_LABEL,
	      "unknown")
DEFINE_LOOKUP(ncs_channel_state_name, NCS_CHANNEL_STATES, NAME, "unknown")
DEFINE_LOOKUP(ncs_cupti_status_name, NCS_CUPTI_STATUSES, NAME, "unknown")
DEFINE_LOOKUP(ncs_event_group_name, NCS_EVENT_GROUPS, NAME, "unknown")
DEFINE_LOOKUP(ncs_function_name, NCS_FUNCTIONS, NAME,
	      words[NCS_FUNCTION_OTHER])
DEFINE_LOOKUP(ncs_kernel_status_name, NCS_KERNEL_STATUSES, NAME,
	      words[NCS_KERNEL_UNKNOWN])
DEFINE_LOOKUP(ncs_kernel_timing_name, NCS_KERNEL_TIMINGS, NAME, "unknown")
DEFINE_LOOKUP(ncs_launch_phase_name, NCS_LAUNCH_PHASES, NAME,
	      words[NCS_LAUNCH_PHASE_UNKNOWN])
DEFINE_LOOKUP(ncs_late_cause_help, NCS_LATE_CAUSES, HELP,
	      "it is not known why")
DEFINE_LOOKUP(ncs_late_cause_name, NCS_LATE_CAUSES, NAME, "none")
DEFINE_LOOKUP(ncs_liveness_name, LIVENESSES, NAME, "unknown")
DEFINE_LOOKUP(ncs_loss_name, NCS_LOSSES, NAME, "unknown")
DEFINE_LOOKUP(ncs_loss_what, NCS_LOSSES, WHAT, "events")
DEFINE_LOOKUP(ncs_moment_name, NCS_MOMENTS, NAME, "unknown")
DEFINE_LOOKUP(ncs_doubt_name, NCS_DOUBTS, NAME, "unknown")
DEFINE_LOOKUP(ncs_outside_code_name, NCS_OUTSIDE_CODE, NAME, "unknown")
DEFINE_LOOKUP(ncs_path_cause_name, NCS_PATH_CAUSES, NAME, "unknown")
DEFINE_LOOKUP(ncs_protocol_name, NCS_PROTOCOLS, NAME,
	      words[NCS_PROTOCOL_UNKNOWN])
DEFINE_LOOKUP(ncs_proxy_state_name, NCS_PROXY_STATES, NAME,
	      words[NCS_PROXY_UNKNOWN])
DEFINE_LOOKUP(ncs_proxy_transition_name, NCS_PROXY_TRANSITIONS, NAME,
	      "unknown")
DEFINE_LOOKUP(ncs_refusal_help, NCS_REFUSALS, HELP,
	      "it does not say why")
DEFINE_LOOKUP(ncs_refusal_name, NCS_REFUSALS, NAME, "unknown")
DEFINE_LOOKUP(ncs_stream_status_help, NCS_STREAM_STATUSES, HELP,
	      words[NCS_STREAM_UNKNOWN])
DEFINE_LOOKUP(ncs_stream_status_name, NCS_STREAM_STATUSES, NAME,
	      words[NCS_STREAM_UNKNOWN])
const char *ncs_event_name(unsigned event)
{
	return event < NCS_EVENT_MAX ? nccl_event_name(event) :
				       own_event_name(event - NCS_EVENT_MAX);
}
/* clang-format on */

void ncs_append_numbered(char *text, size_t size, unsigned function,
			 uint64_t number)
{
	ncs_append(text, size, "%s", ncs_function_name(function));
	if (number != NCS_NO_SEQUENCE_NUMBER)
		ncs_append(text, size, " #%" PRIu64, number);
}

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
