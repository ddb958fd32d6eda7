/* SPDX-License-Identifier: MIT */
/* When an operation began and ended at one rank, by what, and how wrong that may
 * be: from its own record (operation_record.h) and the facts that its children's
 * records show. All moments that records tell of a rank's operation are found
 * here, for parts and for traces; analysis/records/joined.h then says which of
 * them can be trusted across ranks. Pure. Must not trust records.
 */
#ifndef NCS_ANALYSIS_RECORDS_OPERATION_TIMES_H
#define NCS_ANALYSIS_RECORDS_OPERATION_TIMES_H

#include <stdbool.h>
#include <stdint.h>

#include "analysis/records/gpu_readings.h"
#include "analysis/records/operation_record.h"
#include "ncclstat/tables/lateness.def"

struct ncs_clock; /* ncclstat/abi_clock.h */

/* The moments of a rank's operation, from the application's call to its end. */
enum ncs_moment {
#define X(ID, name, help) NCS_MOMENT_##ID,
	NCS_MOMENTS(X)
#undef X
		NCS_MOMENT_COUNT
};

/* --- Children ------------------------------------------------------------- */

/* The facts that the records of an operation's children show: when its kernels ran,
 * when its first data were ready, and whose data they were. All zeros if nothing is
 * known yet. */
struct ncs_children {
	/* Start of the first kernel and end of the last one, by the GPU's own
	 * clock: the host only learns of them when the proxy thread polls. */
	uint64_t gpu_start_ns;
	uint64_t gpu_stop_ns;
	/* Start of the first proxy operation and end of the last one, by the
	 * host's clock. */
	uint64_t proxy_start_ns;
	uint64_t proxy_stop_ns;
	/* The end of a sender's first wait for its GPU, by the host's clock. */
	uint64_t data_ns;
	/* The latest time at which data came to the rank, as its proxy thread
	 * saw before its kernel could take them; and, where no step tells that,
	 * the end of the last proxy operation that received. */
	uint64_t came_ns;
	uint64_t receive_stop_ns;
	/* Hashes of the sets of channels and peers that it sends to and
	 * receives from. */
	uint64_t sends;
	uint64_t receives;
};

/* Takes the record of a child; ignores other records, and those of an operation
 * that turned out to be slow, whose first ones are missing. */
void ncs_children_take(struct ncs_children *children,
		       const struct ncs_clock *clock,
		       const struct ncs_record *record);

/* --- Times ---------------------------------------------------------------- */

/* The clocks of a rank's times; borrowed. */
struct ncs_operation_clocks {
	const struct ncs_clock *host;
	const struct ncs_gpu_readings *gpu;
};

/* Sets at_ns to what the record of an operation and its proxy operations tell:
 * OPERATION, ENQUEUED, PROXY, STREAM, STREAM_END, LAST_END. Moments that are not
 * known remain as they are. */
void ncs_operation_times_take(uint64_t at_ns[NCS_MOMENT_COUNT],
			      const struct ncs_operation_clocks *clocks,
			      const struct ncs_operation_ticks *ticks,
			      const struct ncs_children *children);

/* How far KERNEL and KERNEL_END can be relied on. */
struct ncs_kernel_trust {
	uint64_t error_ns; /* largest error of both */
	/* Data came to the rank after KERNEL_END: its kernels ended later. */
	bool is_early;
};

/* Sets KERNEL and KERNEL_END, by the GPU's clock and within the times that are
 * there, if they are known. */
struct ncs_kernel_trust
ncs_operation_times_take_kernel(uint64_t at_ns[NCS_MOMENT_COUNT],
				const struct ncs_operation_clocks *clocks,
				const struct ncs_children *children);

/* Returns a time if it is within the operation: not before it began, as clocks
 * are not known to the nanosecond; 0 (not known) if it is 0 or after the end. */
uint64_t ncs_operation_times_within(const uint64_t at_ns[NCS_MOMENT_COUNT],
				    uint64_t time_ns);

/* Where a time of an operation comes from. */
enum ncs_time_source {
	NCS_TIME_BY_NOTHING,
	NCS_TIME_BY_STREAM, /* events on the stream */
	NCS_TIME_BY_KERNEL, /* the kernel's channels, by the GPU's clock */
	NCS_TIME_BY_PROXY,  /* proxy operations */
	NCS_TIME_BY_REPORT, /* NCCL's report of a kernel's end */
	NCS_TIME_SOURCES,
};

/* When an operation ran at its rank. */
struct ncs_operation_run {
	uint64_t begin_ns; /* it counts as queued until then */
	uint64_t end_ns;
	enum ncs_time_source begin, end;
};

/* Returns when an operation ran: as its kernel did, by its stream or else by the
 * GPU's clock; else as its record tells. `ticks` are those of at_ns.
 * `kernel_end_is_wrong` says that KERNEL_END is not its end. */
struct ncs_operation_run
ncs_operation_run_of(const uint64_t at_ns[NCS_MOMENT_COUNT],
		     const struct ncs_operation_clocks *clocks,
		     const struct ncs_operation_ticks *ticks,
		     bool kernel_end_is_wrong);

#endif
