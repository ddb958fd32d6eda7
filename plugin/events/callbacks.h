/* SPDX-License-Identifier: MIT */
/* NCCL's three event callbacks: one implementation for all seven versions of
 * the API.
 *
 * Callbacks of steps in progress go to step.h instead. Called on any thread: no
 * lock, no allocation, no system call, no output. Each event is either recorded
 * or counted as lost, and none of NCCL's arguments is trusted.
 */
#ifndef NCS_PLUGIN_EVENTS_CALLBACKS_H
#define NCS_PLUGIN_EVENTS_CALLBACKS_H

#include <stdint.h>

/* Handles startEvent. `body` is the descriptor's union, laid out as in
 * `api_version`. Returns the handle for NCCL; 0 if the event is not
 * followed. */
uint64_t ncs_start_event(unsigned api_version, const void *context,
			 uint64_t type, const void *parent, int rank,
			 const void *body);

/* Handles stopEvent. */
void ncs_stop_event(const void *handle);

/* Handles recordEventState. `args` may be NULL, and contains garbage for states
 * without arguments. */
void ncs_record_state(unsigned api_version, const void *handle, unsigned state,
		      const void *args);

#endif
