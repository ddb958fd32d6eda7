/* SPDX-License-Identifier: MIT */
/* A job on several hosts that is computed, and recorded: one file for each host,
 * as ncclstat --record would have written it there.
 *
 * Ranks make the same calls one after the other, on one communicator, and
 * compute in between. Their rings go from host to host over a network with a
 * latency, a bandwidth and queues, and each host reads its own clock, which is
 * ahead of the truth and drifts. All of it is a function of the options; what is
 * true can be asked for.
 */
#ifndef NCS_TEST_UNIT_SUPPORT_SIMULATED_HOSTS_H
#define NCS_TEST_UNIT_SUPPORT_SIMULATED_HOSTS_H

#include <stdbool.h>
#include <stdint.h>

#define SIMULATED_HOSTS_MAX 64

enum simulated_calls {
	SIMULATED_ALL_REDUCE, /* of all ranks */
	/* From each rank to that of the same place on the next host, but for
	 * the last host: traffic goes one way. */
	SIMULATED_SEND,
};

struct simulated_options {
	uint64_t seed;
	unsigned hosts;
	unsigned ranks; /* on each host */
	unsigned channels;
	unsigned operations;
	enum simulated_calls calls;
	uint64_t bytes; /* of an operation */
	/* One operation in so many has 4 KiB instead; 0: none has. */
	unsigned small_every;
	uint64_t compute_ns; /* between two operations, about */
	double jitter;       /* of it, up to so many times as much */
	unsigned late_rank;  /* computes longer … */
	uint64_t late_ns;    /* … by so much; 0: it does not */
	/* The network. */
	bool has_credits; /* InfiniBand; else sockets */
	uint64_t latency_ns;
	double byte_ns;
	uint64_t queue_ns; /* one message in 50 waits so long, about; 0: none */
	double lost;       /* so many of one step records are missing */
	bool has_kernels;
	/* Clocks are apart by up to so much, and drift by up to that. */
	uint64_t skew_ns;
	double drift;
	/* CLOCK_REALTIME is wrong by up to so much, and says so; at that time
	 * the last host's is set by 3 s, which it was off before; 0: never. */
	uint64_t realtime_error_ns;
	uint64_t set_at_ns;
};

/* 4 hosts of 2 ranks, InfiniBand, two channels, kernels; 300 AllReduces of 16
 * MiB in about 3 s; skew of 5 s, drift of 100 ppm. */
struct simulated_options simulated_defaults(void);

/* What is true. */
struct simulated_hosts {
	struct simulated_options options;
	struct {
		uint64_t ahead_ns;
		double drift;
		char path[512]; /* of its file */
	} host[SIMULATED_HOSTS_MAX];
	uint64_t end_ns;   /* true time, from 0 */
	uint64_t messages; /* between hosts */
	uint64_t records;
};

/* Computes the job and writes "host0.ncclstat" … into the directory. 0 or -errno,
 * with why. */
int simulated_hosts_write(const struct simulated_options *options,
			  const char *directory, struct simulated_hosts *hosts,
			  char *why, unsigned why_size);

/* What a host's CLOCK_MONOTONIC shows at a true time. */
uint64_t simulated_clock_ns(const struct simulated_hosts *hosts, unsigned host,
			    uint64_t true_ns);

/* What a GPU's %globaltimer shows, of a rank of the job. */
uint64_t simulated_gpu_ns(const struct simulated_hosts *hosts, unsigned rank,
			  uint64_t true_ns);

#endif
