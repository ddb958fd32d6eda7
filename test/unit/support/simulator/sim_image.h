/* SPDX-License-Identifier: MIT */
/* Segments of simulated processes in recordings: what a snapshot tells, as the image
 * that a recorder would have copied. */
#ifndef NCS_TEST_UNIT_SUPPORT_SIMULATOR_SIM_IMAGE_H
#define NCS_TEST_UNIT_SUPPORT_SIMULATOR_SIM_IMAGE_H

#include "ncclstat/abi_header.h"
#include "record/write/recording_writer.h"

/* Threads of a process: one calls, and one does all else. Lane 0 is that of threads
 * without a lane. */
enum sim_lane { SIM_LANE_CALLS = 1, SIM_LANE_PROXY, SIM_LANES };

/* Facts that segments have of their ranks. */
#define SIM_IMAGE_KNOWN \
	(NCS_KNOWN_COMM_ID | NCS_KNOWN_COMM_NAME | NCS_KNOWN_RANK | \
	 NCS_KNOWN_NRANKS | NCS_KNOWN_NNODES)

/* Where a recording is made. */
struct sim_place {
	char host[16];
	unsigned number; /* of the host */
	uint64_t seed;
	/* Its clocks at the job's begin, and what ticks are then. */
	uint64_t monotonic_ns, realtime_ns, ticks;
	uint64_t interval_ns; /* between states */
};

/* A segment in a recording. */
struct sim_image {
	struct ncs_header header;
	struct ncs_recording_writer *writer;
	size_t number;               /* of the rank in it */
	uint64_t records[SIM_LANES]; /* in rings so far */
};

/* Sets the head of a recording. */
void sim_image_head(struct ncs_file_head *head, const struct sim_place *place);

/* Adds the segment of a process to a recording. Returns 0 or -errno. */
int sim_image_add(struct sim_image *image, struct ncs_recording_writer *writer,
		  const struct sim_place *place, uint32_t pid, unsigned number,
		  const struct ncs_identity *identity);

/* Records a state as of a time of the host's clock. Times in the snapshot are ticks.
 * Returns 0 or -errno. */
int sim_image_state(struct sim_image *image,
		    const struct ncs_snapshot *snapshot, uint64_t taken_ns);

#endif
