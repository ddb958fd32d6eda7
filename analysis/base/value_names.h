/* SPDX-License-Identifier: MIT */
/* The words of the tables by number: for views, dumps and columns.
 *
 * Pure. A number that is out of range, as a segment may hold, gets the word
 * for "unknown" of its table; none of these returns NULL.
 */
#ifndef NCS_ANALYSIS_BASE_VALUE_NAMES_H
#define NCS_ANALYSIS_BASE_VALUE_NAMES_H

#include <stddef.h>

#include "ncclstat/names.h"
#include "ncclstat/reader.h"

const char *ncs_function_name(unsigned function);
/* NCCL's event types and the plugin's own. */
const char *ncs_event_name(unsigned event);
const char *ncs_event_group_name(unsigned group);
const char *ncs_refusal_name(unsigned refusal);
const char *ncs_refusal_help(unsigned refusal);
const char *ncs_loss_name(unsigned loss);
const char *ncs_channel_state_name(unsigned state);
const char *ncs_channel_state_label(unsigned state);
const char *ncs_proxy_state_name(unsigned state);
const char *ncs_proxy_transition_name(unsigned transition);
const char *ncs_kernel_timing_name(unsigned timing);
const char *ncs_kernel_status_name(unsigned status);
const char *ncs_cupti_status_name(unsigned status);
/* alive, silent, finished, dead */
const char *ncs_liveness_name(unsigned liveness);
/* kernel, proxy; NCS_TIMING_COUNT: none */
const char *ncs_timing_name(unsigned timing);
/* "-" where NCCL does not tell. */
const char *ncs_algorithm_name(unsigned algorithm);
const char *ncs_protocol_name(unsigned protocol);

/* "2.28.9" for 22809. `text` has room for 16 bytes at least. */
void ncs_nccl_version_text(int nccl_version, char *text, size_t size);

/* What a communicator is called: its name, else its id in 16 hexadecimal
 * digits, else an empty string. Raw, as found in the segment. */
void ncs_comm_text(const struct ncs_identity *identity, char *text,
		   size_t size);

#endif
