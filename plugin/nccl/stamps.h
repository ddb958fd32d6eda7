/* SPDX-License-Identifier: MIT */
/* Stamps: kernels of one thread in CUDA graphs, by which the GPU itself reports
 * when captured work begins and ends, at each replay.
 *
 * A stamp appends a word and the GPU's time to a ring in this process's memory.
 * NCCL calls no profiler at a replay, so that nothing else tells of it. It is a
 * kernel of its stream: that costs some 2 us each on an H100. A node beside the
 * stream costs a graph without branches more: each launch of NCCL's kernels in it
 * takes 2 to 3 us longer as soon as there is a single branch
 * (test/bench/README.md).
 *
 * A graph outlives communicators, streams and the plugin's finalize, so a ring
 * stays mapped until the process ends. It is shared memory, so that a fork does
 * not move its pages away from the GPU.
 *
 * Each context has one ring; one thread reads it. The callers are between
 * ncs_cuda_begin() and ncs_cuda_end().
 */
#ifndef NCS_PLUGIN_NCCL_STAMPS_H
#define NCS_PLUGIN_NCCL_STAMPS_H

#include <stdbool.h>
#include <stdint.h>

#include "plugin/nccl/cuda_driver.h"

/* Contexts that can have a ring. */
#define NCS_STAMPS_MAX 16u

/* Stamps that a ring holds; a power of two, known to the kernels, too. */
#define NCS_STAMP_RING 262144u

/* Bits of the GPU's time, in ns, that a stamp has. */
#define NCS_STAMP_TIME_BITS 48

/* A stamp, written by the GPU in one store of 16 bytes. Its number counts from 1
 * and is in both halves, so that a reader can tell a half of another one. */
struct ncs_stamp_slot {
	uint64_t word; /* the stamp's word; bits 32-63: the number */
	uint64_t time; /* GPU's time in ns, times 2^16; bits 0-15: the number */
};

/* When the GPU's clock was read, and by which request. */
struct ncs_stamp_clock {
	uint64_t time_ns;
	uint64_t number;
};

/* A context's kernels and ring: all members are set before `state` says that they
 * are ready. */
struct ncs_stamps {
	uint64_t state; /* enum ncs_stamps_state */
	struct ncs_cuda_primary primary;
	void *module, *stamp, *clock;
	struct ncs_stamp_slot *ring;
	unsigned long long ring_address; /* for the GPU */
	int error; /* the driver's, or -errno */
};

enum ncs_stamps_state {
	NCS_STAMPS_UNUSED,
	NCS_STAMPS_MAKING, /* another thread is at it */
	NCS_STAMPS_READY,
	NCS_STAMPS_FAILED,
};

extern struct ncs_stamps ncs_stamps[NCS_STAMPS_MAX];

/* Returns a context's stamps, and makes them at the first call, which takes up to
 * a tenth of a second while the driver compiles the kernels. NULL if there is no
 * room, the driver refused, or another thread is making it. */
struct ncs_stamps *ncs_stamps_of(const struct ncs_cuda_primary *primary);

/* Finds the ID of the capture that a stream is in, which no other capture of the
 * process has. Returns 0, or the driver's error. */
int ncs_stamps_capture(void *stream, unsigned long long *id);

/* Puts a stamp with this word into a stream, as a rule one that is being captured.
 * Returns 0, or the driver's error. */
int ncs_stamps_put(const struct ncs_stamps *stamps, void *stream,
		   uint32_t word);

/* Asks the GPU for its time on a stream. The answer comes with `number` to
 * ncs_stamps_clock(). Returns 0, or the driver's error. */
int ncs_stamps_ask(const struct ncs_stamps *stamps, void *stream,
		   uint64_t number);

/* Returns where the answers come. */
const struct ncs_stamp_clock *
ncs_stamps_clock(const struct ncs_stamps *stamps);

enum ncs_stamp_read {
	NCS_STAMP_NONE,	       /* it has not been written yet */
	NCS_STAMP_THERE,
	NCS_STAMP_OVERWRITTEN, /* a later one has its place: *number is its */
};

/* Reads the stamp with *number into *word and *time_ns, NCS_STAMP_TIME_BITS of the
 * GPU's time. */
enum ncs_stamp_read ncs_stamps_read(const struct ncs_stamps *stamps,
				    uint32_t *number, uint32_t *word,
				    uint64_t *time_ns);

/* For a forked child: forgets the parent's. Their memory stays mapped. */
void ncs_stamps_forget(void);

#endif
