/* SPDX-License-Identifier: MIT */
/* The words of the tables by number. Pure; see value_names.h. */
#include "analysis/base/value_names.h"

#include <inttypes.h>
#include <stdio.h>

/* The words come from the tables, so that a new line there is enough. */
static const char *const functions[] = {
#define X(ID, name, size, numerator, denominator) name,
	NCS_FUNCTIONS(X)
#undef X
};

static const char *const events[] = {
#define X(ID, name, bit, api, help) name,
	NCS_EVENTS(X)
#undef X
};

static const char *const own_events[] = {
#define X(ID, name, number, help) [(number) - NCS_EVENT_MAX] = name,
	NCS_OWN_EVENTS(X)
#undef X
};

static const char *const event_groups[] = {
#define X(ID, name, events, needs, help) name,
	NCS_EVENT_GROUPS(X)
#undef X
};

static const char *const refusals[] = {
#define X(ID, name, help) name,
	NCS_REFUSALS(X)
#undef X
};

static const char *const refusal_helps[] = {
#define X(ID, name, help) help,
	NCS_REFUSALS(X)
#undef X
};

static const char *const losses[] = {
#define X(ID, name, help) name,
	NCS_LOSSES(X)
#undef X
};

static const char *const channel_states[] = {
#define X(ID, name, letter, label, help) name,
	NCS_CHANNEL_STATES(X)
#undef X
};

static const char *const channel_labels[] = {
#define X(ID, name, letter, label, help) label,
	NCS_CHANNEL_STATES(X)
#undef X
};

static const char *const proxy_states[] = {
#define X(ID, name, letter, help) name,
	NCS_PROXY_STATES(X)
#undef X
};

static const char *const proxy_transitions[] = {
#define X(ID, name, help) name,
	NCS_PROXY_TRANSITIONS(X)
#undef X
};

static const char *const kernel_timings[] = {
#define X(ID, name, help) name,
	NCS_KERNEL_TIMINGS(X)
#undef X
};

static const char *const kernel_statuses[] = {
#define X(ID, name, help) name,
	NCS_KERNEL_STATUSES(X)
#undef X
};

static const char *const cupti_statuses[] = {
#define X(ID, name, help) name,
	NCS_CUPTI_STATUSES(X)
#undef X
};

static const char *const liveness_words[] = {
	[NCS_ALIVE] = "alive",
	[NCS_SILENT] = "silent",
	[NCS_FINISHED] = "finished",
	[NCS_DEAD] = "dead",
};

static const char *const timings[] = {
	[NCS_TIMING_KERNEL] = "kernel",
	[NCS_TIMING_PROXY] = "proxy",
};

static const char *const algorithms[] = {
#define X(ID, name, number) name,
	NCS_ALGORITHMS(X)
#undef X
};

static const char *const protocols[] = {
#define X(ID, name, number) name,
	NCS_PROTOCOLS(X)
#undef X
};

#define WORD(table, number, otherwise) \
	((number) < sizeof(table) / sizeof(*(table)) ? (table)[number] : \
						       (otherwise))

const char *ncs_function_name(unsigned function)
{
	return WORD(functions, function, functions[NCS_FUNCTION_OTHER]);
}

const char *ncs_algorithm_name(unsigned algorithm)
{
	return WORD(algorithms, algorithm, algorithms[NCS_ALGORITHM_UNKNOWN]);
}

const char *ncs_protocol_name(unsigned protocol)
{
	return WORD(protocols, protocol, protocols[NCS_PROTOCOL_UNKNOWN]);
}

const char *ncs_event_name(unsigned event)
{
	if (event >= NCS_EVENT_MAX)
		return WORD(own_events, event - NCS_EVENT_MAX, "unknown");
	return WORD(events, event, "unknown");
}

const char *ncs_event_group_name(unsigned group)
{
	return WORD(event_groups, group, "unknown");
}

const char *ncs_refusal_name(unsigned refusal)
{
	return WORD(refusals, refusal, "unknown");
}

const char *ncs_refusal_help(unsigned refusal)
{
	return WORD(refusal_helps, refusal, "it does not say why");
}

const char *ncs_loss_name(unsigned loss)
{
	return WORD(losses, loss, "unknown");
}

const char *ncs_channel_state_name(unsigned state)
{
	return WORD(channel_states, state, "unknown");
}

const char *ncs_channel_state_label(unsigned state)
{
	return WORD(channel_labels, state, "unknown");
}

const char *ncs_proxy_state_name(unsigned state)
{
	return WORD(proxy_states, state, proxy_states[NCS_PROXY_UNKNOWN]);
}

const char *ncs_proxy_transition_name(unsigned transition)
{
	return WORD(proxy_transitions, transition, "unknown");
}

const char *ncs_kernel_timing_name(unsigned timing)
{
	return WORD(kernel_timings, timing, "unknown");
}

const char *ncs_kernel_status_name(unsigned status)
{
	return WORD(kernel_statuses, status,
		    kernel_statuses[NCS_KERNEL_UNKNOWN]);
}

const char *ncs_cupti_status_name(unsigned status)
{
	return WORD(cupti_statuses, status, "unknown");
}

const char *ncs_liveness_name(unsigned liveness)
{
	return WORD(liveness_words, liveness, "unknown");
}

const char *ncs_timing_name(unsigned timing)
{
	return WORD(timings, timing, "none");
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
