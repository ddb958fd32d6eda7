/* SPDX-License-Identifier: MIT */
/* NCCL's three event callbacks, one core for all seven versions of the API, but
 * for those of steps that are under way: these are in step.h.
 *
 * Any thread; no lock, no allocation, no system call, no output. Whatever
 * comes is either recorded or counted, and nothing of it is trusted.
 */
#ifndef NCS_PLUGIN_EVENTS_CALLBACKS_H
#define NCS_PLUGIN_EVENTS_CALLBACKS_H

#include <stdint.h>

/* `body` is the descriptor's union, laid out as `api_version` says. Returns
 * the handle for NCCL; 0: the event is not followed. */
uint64_t ncs_start_event(unsigned api_version, const void *context,
			 uint64_t type, const void *parent, int rank,
			 const void *body);
void ncs_stop_event(const void *handle);

/* `args` may be NULL, and holds garbage for states without arguments. */
void ncs_record_state(unsigned api_version, const void *handle, unsigned state,
		      const void *args);

#endif
