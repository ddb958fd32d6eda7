/* SPDX-License-Identifier: MIT */
/* A simulated job as recordings, one of each host, as ncclstat --record would have
 * written it there, or as looks, as ncclstat --stream --records would. */
#ifndef NCS_TEST_UNIT_SUPPORT_SIMULATOR_SIM_RECORDING_H
#define NCS_TEST_UNIT_SUPPORT_SIMULATOR_SIM_RECORDING_H

#include "test/unit/support/simulator/sim_source.h"

#define SIM_HOSTS_MAX 64u

/* A job that has been recorded. */
struct sim_recording {
	struct sim_source *source;
	unsigned hosts;
	char path[SIM_HOSTS_MAX][512]; /* of each host's file */
	uint64_t end_ns;               /* since the job's begin */
	uint64_t records;
};

/* Computes the job and writes "host0.ncclstat" … into the directory. Returns 0, or
 * -errno with the reason in `why`. Release *self in any case. */
int sim_recording_write(struct sim_recording *self,
			const struct sim_options *options,
			const char *directory, char *why, unsigned why_size);
void sim_recording_release(struct sim_recording *self);

/* Takes a look at a host at a time since the job's begin. Returns 0 or -errno, which
 * ends the job. */
typedef int sim_look(void *context, unsigned host, uint64_t true_ns,
		     const void *bytes, size_t size);

/* Computes the job and gives `take` a look at each host every `every_ns`, a multiple of
 * 50 ms, until `until_ns`; the number of steps does not count. Returns 0 or -errno.
 * Release *self in any case. */
int sim_recording_stream(struct sim_recording *self,
			 const struct sim_options *options, uint64_t every_ns,
			 uint64_t until_ns, sim_look *take, void *context);

/* Returns a host's CLOCK_MONOTONIC at a time since the job's begin. */
uint64_t sim_recording_clock_ns(const struct sim_recording *self, unsigned host,
				uint64_t true_ns);

#endif
