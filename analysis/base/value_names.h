/* SPDX-License-Identifier: MIT */
/* Names of numbers, from the tables of ncclstat/tables: for views, dumps and
 * columns. Pure.
 *
 * A number that is out of range, as a segment may hold, gets the name that its
 * table has for "unknown". None of these functions returns NULL.
 */
#ifndef NCS_ANALYSIS_BASE_VALUE_NAMES_H
#define NCS_ANALYSIS_BASE_VALUE_NAMES_H

#include <stddef.h>
#include <stdint.h>

#include "ncclstat/names.h"
#include "ncclstat/snapshot.h"

/* Return the name of a number of the enumeration that the function is named
 * after; "-" for an algorithm or protocol that NCCL does not report. Events are
 * NCCL's and the plugin's own. */
const char *ncs_function_name(unsigned function);
const char *ncs_event_name(unsigned event);
const char *ncs_event_group_name(unsigned group);
const char *ncs_refusal_name(unsigned refusal);
const char *ncs_loss_name(unsigned loss);
const char *ncs_channel_state_name(unsigned state);
const char *ncs_proxy_state_name(unsigned state);
const char *ncs_proxy_transition_name(unsigned transition);
const char *ncs_kernel_timing_name(unsigned timing);
const char *ncs_kernel_status_name(unsigned status);
const char *ncs_cupti_status_name(unsigned status);
const char *ncs_stream_status_name(unsigned status);
const char *ncs_launch_phase_name(unsigned phase);
const char *ncs_liveness_name(unsigned liveness);
const char *ncs_algorithm_name(unsigned algorithm);
const char *ncs_protocol_name(unsigned protocol);
const char *ncs_moment_name(unsigned moment);
const char *ncs_doubt_name(unsigned doubt);
const char *ncs_late_cause_name(unsigned cause);
const char *ncs_outside_code_name(unsigned code);
const char *ncs_path_cause_name(unsigned cause);

/* Return the clause that says why the plugin refused a request, the one that
 * says whether launches are timed, and why not, and the one that says why a rank
 * is late. */
const char *ncs_refusal_help(unsigned refusal);
const char *ncs_stream_status_help(unsigned status);
const char *ncs_late_cause_help(unsigned cause);

/* Returns the word for the things of which one kind of loss is. */
const char *ncs_loss_what(unsigned loss);

/* Returns the word for a channel state in the live view. */
const char *ncs_channel_state_label(unsigned state);

/* Writes a version number of NCCL as text: "2.28.9" for 22809. `text` has room
 * for at least 16 bytes. */
void ncs_nccl_version_text(int nccl_version, char *text, size_t size);

/* Writes the name of a communicator: its own if it has one, else its id in 16
 * hexadecimal digits, else an empty string. The text is raw, as found in the
 * segment: clean it with ncs_utf8_clean() before it is shown. */
void ncs_comm_text(const struct ncs_identity *identity, char *text,
		   size_t size);

#endif
