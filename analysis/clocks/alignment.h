/* SPDX-License-Identifier: MIT */
/* Alignment of the clocks of hosts, from the order of events.
 *
 * A message cannot arrive before it was sent, and a collective in which all
 * ranks wait cannot end before all have arrived. Each such fact bounds the
 * difference of two hosts' clocks (analysis/clocks/clock_line.h); facts in both
 * directions give a line. Hosts that share no traffic are joined through other
 * hosts, or by CLOCK_REALTIME and the maximum error that the system reports for
 * it. If several ways lead to a host, the lines are made to agree by least
 * squares, weighted by their errors.
 *
 * Larger messages take longer: half of the time that the bytes of the smallest ones
 * take is part of the error where nothing else bounds that direction.
 *
 * Times are in ns of each host's own CLOCK_MONOTONIC. Must not trust these
 * times. Memory is bounded by the pairs of hosts that have traffic. Pure.
 */
#ifndef NCS_ANALYSIS_CLOCKS_ALIGNMENT_H
#define NCS_ANALYSIS_CLOCKS_ALIGNMENT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct ncs_alignment;

/* The reason that one event came before another. */
enum ncs_fact {
	NCS_FACT_ORDER, /* as of data, which were sent before they arrived */
	/* A receive was posted before the send was accepted. This order holds
	 * for InfiniBand, but sockets accept a send immediately. Such facts
	 * therefore count only for pairs in which some senders were seen
	 * waiting for the receive. */
	NCS_FACT_CREDIT,
	NCS_FACT_AWAITED_CREDIT, /* the same, and this sender waited */
};

/* A fact: `at_ns` on `host` was before `then_ns` on `then_host`. */
struct ncs_before {
	enum ncs_fact fact;
	size_t host;
	size_t then_host;
	uint64_t at_ns;
	uint64_t then_ns;
};

/* Creates an alignment of hosts, which are numbered from 0. Returns NULL if
 * there is no memory. Free it with ncs_alignment_free(), which accepts NULL. */
struct ncs_alignment *ncs_alignment_new(size_t hosts);
void ncs_alignment_free(struct ncs_alignment *alignment);

/* Adds a fact; ignores a fact of a host about itself. Returns 0 or -ENOMEM. */
int ncs_alignment_add(struct ncs_alignment *alignment,
		      const struct ncs_before *before);

/* Adds a reading of CLOCK_REALTIME that was taken between two times of the
 * host, in order of time for each host. `error_ns` is its maximum error, or
 * UINT64_MAX if it is not known. Returns 0 or -ENOMEM. */
int ncs_alignment_add_realtime(struct ncs_alignment *alignment, size_t host,
			       uint64_t before_ns, uint64_t realtime_ns,
			       uint64_t after_ns, uint64_t error_ns);

/* The source of a host's alignment. */
enum ncs_aligned_by {
	NCS_ALIGNED_BY_NOTHING, /* the host is not aligned */
	NCS_ALIGNED_BY_REALTIME,
	NCS_ALIGNED_BY_TRAFFIC, /* or it is the reference */
};

/* A host against the reference: its time t is t + offset_ns + drift × (t -
 * at_ns) there. */
struct ncs_aligned {
	enum ncs_aligned_by by; /* if NOTHING, the next four are 0 */
	uint64_t at_ns;
	int64_t offset_ns;
	double drift;
	uint64_t error_ns;   /* largest error in the interval asked for */
	uint64_t facts;      /* about this host, except from CLOCK_REALTIME */
	uint64_t violations; /* facts that turned out to be wrong */
	bool is_uneven;      /* its clock or another one did not run evenly */
	uint64_t realtime_steps; /* how often CLOCK_REALTIME was set */
};

/* The quality of an alignment of all hosts. */
struct ncs_alignment_quality {
	/* How much loops fail to close by, beyond all errors. */
	uint64_t loop_ns;
	size_t pairs;     /* pairs of hosts that have a line */
	size_t one_way;   /* pairs that only have facts in one direction */
};

/* Aligns all hosts to a reference for the interval from_ns … until_ns of its
 * clock. `aligned` has one entry for each host. Returns 0 or -ENOMEM. */
int ncs_alignment_solve(struct ncs_alignment *alignment, size_t reference,
			uint64_t from_ns, uint64_t until_ns,
			struct ncs_aligned *aligned,
			struct ncs_alignment_quality *quality);

#endif
