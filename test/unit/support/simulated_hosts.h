/* SPDX-License-Identifier: MIT */
/* A simulated job on several hosts, recorded to one file for each host, as
 * ncclstat --record would have written it there, or told in looks, as ncclstat
 * --stream --records would.
 *
 * Ranks make the same calls one after the other, on one communicator, and
 * compute in between. Their rings go from host to host over a network with a
 * latency, a bandwidth and queues. Each host reads its own clock, which is
 * ahead of true time and drifts. Everything is a function of the options; the
 * truth is reported, too.
 */
#ifndef NCS_TEST_UNIT_SUPPORT_SIMULATED_HOSTS_H
#define NCS_TEST_UNIT_SUPPORT_SIMULATED_HOSTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define SIMULATED_HOSTS_MAX 64

enum simulated_calls {
	SIMULATED_ALL_REDUCE, /* of all ranks */
	/* From each rank to the one of the same place on the next host, except
	 * on the last host: traffic goes one way. */
	SIMULATED_SEND,
};

struct simulated_options {
	uint64_t seed;
	unsigned hosts;
	unsigned ranks; /* on each host */
	unsigned channels;
	unsigned operations;
	enum simulated_calls calls;
	uint64_t bytes; /* of each operation */
	/* One in this many operations has 4 KiB instead; 0 if none has. */
	unsigned small_every;
	uint64_t compute_ns; /* between two operations, roughly */
	double jitter;       /* compute_ns is up to this many times longer */
	unsigned late_rank;  /* rank that computes longer by late_ns */
	uint64_t late_ns;
	/* The network. */
	bool has_credits; /* as InfiniBand; sockets have none */
	uint64_t latency_ns;
	double byte_ns;
	uint64_t queue_ns; /* wait of one in 50 messages, roughly */
	double lost;       /* share of step records that are missing */
	bool has_kernels;
	/* Hosts are connected by NVLink: no proxy operations between them. */
	bool is_nvlink;
	/* A kernel's channels stop 20 us after they began, as with TREE. */
	bool kernels_stop_early;
	unsigned algorithm; /* in the states: enum ncs_algorithm */
	/* The most that clocks differ, and that they drift. */
	uint64_t skew_ns;
	double drift;
	/* The most that CLOCK_REALTIME is wrong, which it reports; and the time
	 * at which that of the last host is corrected by 3 s, or 0. */
	uint64_t realtime_error_ns;
	uint64_t set_at_ns;
};

/* Returns default options: 4 hosts of 2 ranks, InfiniBand, two channels,
 * kernels; 300 AllReduces of 16 MiB in about 3 s; skew of 5 s, drift of 100
 * ppm. */
struct simulated_options simulated_defaults(void);

/* The truth about a simulated job. */
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

/* Computes the job and writes "host0.ncclstat" … into the directory. Returns 0,
 * or -errno with the reason in `why`. */
int simulated_hosts_write(const struct simulated_options *options,
			  const char *directory, struct simulated_hosts *hosts,
			  char *why, unsigned why_size);

/* Takes a look at a host at a true time. Returns 0 or -errno, which ends the
 * job. */
typedef int simulated_look(void *context, unsigned host, uint64_t true_ns,
			   const void *bytes, size_t size);

/* Computes the job and gives `take` a look at each host every `every_ns`, a
 * multiple of 50 ms, until `until_ns`; the options' number of operations does not
 * count. Returns 0 or -errno. */
int simulated_hosts_stream(const struct simulated_options *options,
			   uint64_t every_ns, uint64_t until_ns,
			   struct simulated_hosts *hosts, simulated_look *take,
			   void *context);

/* Returns a host's CLOCK_MONOTONIC at a true time. */
uint64_t simulated_clock_ns(const struct simulated_hosts *hosts, unsigned host,
			    uint64_t true_ns);

#endif
