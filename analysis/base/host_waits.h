/* SPDX-License-Identifier: MIT */
/* Whether the hosts of a job wait for their GPUs before they call, as is learned from
 * the times of calls and of the ends before them: for what a job takes without a
 * straggler, and for what a straggler costs at most.
 *
 * A host that waits for an end calls the later the later that end is; one that does
 * not wait calls when its own work is done. Both look the same in a job whose times
 * never vary.
 *
 * Must not decide what follows from it. Pure. Functions are not thread-safe. Times are
 * ns.
 */
#ifndef NCS_ANALYSIS_BASE_HOST_WAITS_H
#define NCS_ANALYSIS_BASE_HOST_WAITS_H

#include <stdbool.h>
#include <stdint.h>

struct ncs_host_waits;

/* A call of a host before which parts of its rank ended. Times are since the host's
 * call before. */
struct ncs_waited_call {
	double call_ns;
	double first_ns, last_ns; /* the first and the last of these ends */
	/* No part that it had called was left: its GPU had nothing to do. */
	bool is_idle;
};

/* Whether a host waits for the last end before it calls. */
enum ncs_host_wait {
	NCS_HOST_WAIT_UNKNOWN,
	NCS_HOST_WAIT_LAST, /* it does */
	NCS_HOST_WAIT_NONE, /* it does not; only told where the GPU is idle */
};

/* Creates what is known of so many ranks of a job: nothing yet. Returns NULL if there
 * is no memory. Free it with ncs_host_waits_free(), which accepts NULL. */
struct ncs_host_waits *ncs_host_waits_new(uint32_t rank_count);
void ncs_host_waits_free(struct ncs_host_waits *waits);

/* Learns from a call of a rank. */
void ncs_host_waits_note(struct ncs_host_waits *waits, uint32_t rank,
			 const struct ncs_waited_call *call);

/* Returns whether a rank's host waits for the last end before such a call. Call this,
 * and those below, only when all is learned. */
enum ncs_host_wait ncs_host_waits_of(struct ncs_host_waits *waits,
				     uint32_t rank,
				     const struct ncs_waited_call *call);

/* Returns whether a rank's host calls while its GPU is busy for so much of the time
 * that it cannot wait for each end. */
bool ncs_host_waits_is_ahead(const struct ncs_host_waits *waits, uint32_t rank);

/* Returns how long hosts work, at most, between two calls that are `call_ns` apart,
 * if the GPU is busy at the later one: no longer than the host of which most is
 * known in about as long, as all run the same program. INFINITY if nothing is
 * known. */
double ncs_host_waits_most_ns(struct ncs_host_waits *waits, double call_ns);

#endif
