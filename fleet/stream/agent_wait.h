/* SPDX-License-Identifier: MIT */
/* Waits of a program that writes a stream: for its time, for the orders of its
 * head, for its end, and for its last look to be written. Not thread-safe.
 */
#ifndef NCS_FLEET_STREAM_AGENT_WAIT_H
#define NCS_FLEET_STREAM_AGENT_WAIT_H

#include <poll.h>
#include <stdbool.h>
#include <stdint.h>

#include "fleet/launch/lines.h"
#include "fleet/stream/agent.h"
#include "fleet/stream/stream_output.h"

struct ncs_agent_wait {
	const struct ncs_agent_settings *settings;
	struct pollfd files[5];
	struct ncs_orders orders;
	short input_events;
	uint64_t taken_ns;  /* when orders began to be counted, */
	size_t taken_bytes; /* and how many were taken since */
	uint64_t begun_ns;
	uint64_t beat_ns; /* when the input was read last, or the beginning */
	enum ncs_agent_end end;
};

/* Begins. `written` is a file that becomes readable when a write has failed,
 * `more` another one to wait for, or -1. */
void ncs_agent_wait_begin(struct ncs_agent_wait *wait,
			  const struct ncs_agent_settings *settings,
			  int written, int more);

/* Waits until CLOCK_MONOTONIC is until_ns, `more` is readable, or orders have
 * come. Returns false if the program is to end: `end` says why. */
bool ncs_agent_wait(struct ncs_agent_wait *wait, uint64_t until_ns);

/* Closes the output of a program that has come to result->end, or to `error`,
 * and sets the rest of the result but its looks. Waits for what is not written
 * yet: longer if all was to be written than if the program was told to end.
 * `output` may be NULL. */
void ncs_agent_finish(struct ncs_stream_output *output, int error,
		      struct ncs_agent_result *result);

#endif
