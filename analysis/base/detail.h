/* SPDX-License-Identifier: MIT */
/* What a process collects, in words: for views, dumps and --set, and back.
 *
 * Pure. What is written here can be read here.
 *
 *   SETTING   default | ITEM[,ITEM]...
 *   ITEM      events=default | events=all[-GROUP]... | events=none[+GROUP]...
 *             kernel=default | off | always | sampled[:N] | sampled:auto
 *             sample=default | N
 *
 * where GROUP is a name of ncclstat/tables/event_groups.def and N a power of
 * two.
 */
#ifndef NCS_ANALYSIS_BASE_DETAIL_H
#define NCS_ANALYSIS_BASE_DETAIL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "ncclstat/control_object.h"
#include "ncclstat/reader.h"
#include "shm/control.h"

/* "events=all-steps,kernel=sampled:64,sample=16": what is told. */
void ncs_detail_text(const struct ncs_detail *detail, char *text, size_t size);

/* "kernel 1/64, sample 1/16, no steps": what is out of the ordinary; "" where
 * all events are collected, no kernel is timed and nothing is sampled. Where
 * kernel timing is not what the detail says, the status is there instead:
 * "kernel graph_off". */
void ncs_detail_note(const struct ncs_detail *detail,
		     enum ncs_kernel_status status, char *text, size_t size);

/* kernel=, sample= by themselves: "sampled:64", 16. */
void ncs_kernel_text(const struct ncs_detail *detail, char *text, size_t size);
uint64_t ncs_sample_period(const struct ncs_detail *detail);

/* Reads a setting, items separated by commas or blanks. False: `error` says
 * what is wrong and what is expected. */
bool ncs_change_parse(const char *text, struct ncs_change *change, char *error,
		      size_t error_size);

/* How long the lease still lasts that is in force; 0: there is none. */
uint64_t ncs_lease_left_ns(const struct ncs_settings_view *settings,
			   uint64_t now_ns);

#endif
