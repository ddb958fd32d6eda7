/* SPDX-License-Identifier: MIT */
/* The detail that a process collects, as text: for views, dumps and --set, and
 * parsed again. Text that is written here can be parsed here, except kernel=,
 * which only the plugin sets. Pure.
 *
 *   SETTING   default | ITEM[,ITEM]...
 *   ITEM      events=default | events=all[-GROUP]... | events=none[+GROUP]...
 *             sample=default | N
 *             timing=default | off | auto | all | 1/N
 *
 * GROUP is a name of ncclstat/tables/event_groups.def, N a power of two.
 */
#ifndef NCS_ANALYSIS_BASE_DETAIL_H
#define NCS_ANALYSIS_BASE_DETAIL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "ncclstat/control_object.h"
#include "ncclstat/snapshot.h"
#include "shm/control.h"

/* Writes a detail as text: "events=all-steps,kernel=off,sample=16,
 * timing=auto". */
void ncs_detail_text(const struct ncs_detail *detail, char *text, size_t size);

/* Writes what is unusual about a detail: "kernel always, timing off, sample
 * 1/16". The text is empty if all events are collected, launches are timed as
 * without a request, no kernel is timed and nothing is sampled. If the plugin times kernels in another way than the detail says,
 * the text has that status: "kernel graph_off". */
void ncs_detail_note(const struct ncs_detail *detail,
		     enum ncs_kernel_status status, char *text, size_t size);

/* Writes the value of kernel= as text: "off"; "sampled:64" with earlier
 * plugins. */
void ncs_kernel_text(const struct ncs_detail *detail, char *text, size_t size);

/* Writes the value of timing= as text: "1/64"; "default" if it is not known. */
void ncs_timing_text(const struct ncs_detail *detail, char *text, size_t size);

/* Returns the value of sample=: one of so many operations is recorded. */
uint64_t ncs_sample_period(const struct ncs_detail *detail);

/* Parses a setting, whose items may be separated by commas or blanks. Returns
 * false if it is malformed; then `error` says what is wrong and what is
 * expected. */
bool ncs_change_parse(const char *text, struct ncs_change *change, char *error,
		      size_t error_size);

/* Returns the time in ns that is left of the lease in force, or 0 if there is
 * none. `now_ns` is the CLOCK_MONOTONIC time. */
uint64_t ncs_lease_left_ns(const struct ncs_settings_view *settings,
			   uint64_t now_ns);

#endif
