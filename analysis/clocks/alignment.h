/* SPDX-License-Identifier: MIT */
/* The clocks of hosts against each other, from what happened before what.
 *
 * A message cannot arrive before it was sent, nor a collective that all wait in
 * end before all have come. Each such fact bounds the difference of two hosts'
 * clocks (analysis/clocks/clock_line.h); facts in both directions give a line.
 * Hosts that share no traffic are joined over others, or over CLOCK_REALTIME
 * and what the system says that it is off at most. Where several ways lead to a
 * host, the lines are made to agree by least squares, weighted by their errors.
 *
 * Messages take longer the more bytes they have. Where those of a pair have
 * several sizes, the time that a byte takes is measured between these, and
 * taken off: else half of it would be taken for a difference of the clocks.
 *
 * Times are ns of each host's own CLOCK_MONOTONIC. Nothing is trusted. Memory
 * is bounded by the pairs of hosts that have traffic. Pure.
 */
#ifndef NCS_ANALYSIS_CLOCKS_ALIGNMENT_H
#define NCS_ANALYSIS_CLOCKS_ALIGNMENT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct ncs_alignment;

/* Why one event came before another. */
enum ncs_fact {
	NCS_FACT_ORDER, /* for whatever reason */
	NCS_FACT_DATA,  /* these bytes were sent before they had arrived */
	/* A receive was posted before the send was accepted, as InfiniBand has
	 * it; sockets accept at once. So such facts count only for pairs of
	 * which some senders were seen waiting for it. */
	NCS_FACT_CREDIT,
	NCS_FACT_AWAITED_CREDIT, /* … the sender of this one was */
};

/* `at_ns` on `host` was at least `delay_ns` before `then_ns` on `then_host`. */
struct ncs_before {
	enum ncs_fact fact;
	size_t host;
	size_t then_host;
	uint64_t at_ns;
	uint64_t then_ns;
	uint64_t delay_ns;
	uint64_t bytes; /* of NCS_FACT_DATA */
};

/* Hosts are numbered from 0. NULL: no memory. */
struct ncs_alignment *ncs_alignment_new(size_t hosts);
void ncs_alignment_free(struct ncs_alignment *alignment); /* NULL: nothing */

/* Takes in a fact; one of a host about itself says nothing. 0 or -ENOMEM. */
int ncs_alignment_add(struct ncs_alignment *alignment,
		      const struct ncs_before *before);

/* Takes in what CLOCK_REALTIME showed between two moments, in the order of time
 * for each host, and what it was off at most; UINT64_MAX: not known. 0 or
 * -ENOMEM. */
int ncs_alignment_add_realtime(struct ncs_alignment *alignment, size_t host,
			       uint64_t before_ns, uint64_t realtime_ns,
			       uint64_t after_ns, uint64_t error_ns);

enum ncs_aligned_by {
	NCS_ALIGNED_BY_NOTHING, /* only what is left of CLOCK_REALTIME is known */
	NCS_ALIGNED_BY_REALTIME,
	NCS_ALIGNED_BY_TRAFFIC, /* or by being the reference */
};

/* One host against the reference: its t is t + offset_ns + drift × (t - at_ns)
 * there. */
struct ncs_aligned {
	enum ncs_aligned_by by; /* NOTHING: the next four are 0 */
	uint64_t at_ns;
	int64_t offset_ns;
	double drift;
	uint64_t error_ns; /* at most, in the time asked for */
	uint64_t facts; /* that this host is part of, but for CLOCK_REALTIME */
	uint64_t violations; /* of these, bounds that turned out to be wrong */
	bool is_uneven;      /* its clock or another one did not run evenly */
	uint64_t realtime_steps; /* times that CLOCK_REALTIME was set */
};

/* Of all together. */
struct ncs_alignment_quality {
	uint64_t loop_ns; /* by which loops of hosts miss, beyond all errors */
	size_t pairs;     /* of hosts that have a line */
	size_t one_way;   /* … that only have facts in one direction */
};

/* Aligns all hosts to a reference for from_ns … until_ns of that host's clock.
 * `aligned` has one entry for each host. 0 or -ENOMEM. */
int ncs_alignment_solve(struct ncs_alignment *alignment, size_t reference,
			uint64_t from_ns, uint64_t until_ns,
			struct ncs_aligned *aligned,
			struct ncs_alignment_quality *quality);

#endif
