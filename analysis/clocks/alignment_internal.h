/* SPDX-License-Identifier: MIT */
/* An alignment, for the files that make it up: alignment_pairs.c,
 * which takes facts and finds the line of each pair of hosts, and alignment.c,
 * which joins the lines of all pairs.
 *
 * The line of a pair of hosts gives the clock of the host with the larger
 * number (`high`) minus that of the host with the smaller number (`low`), as a
 * function of the latter clock. The number after the last host stands for the
 * true time, which CLOCK_REALTIME shows.
 */
#ifndef NCS_ANALYSIS_CLOCKS_ALIGNMENT_INTERNAL_H
#define NCS_ANALYSIS_CLOCKS_ALIGNMENT_INTERNAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "analysis/clocks/alignment.h"
#include "analysis/clocks/clock_line.h"

/* The bounds of the difference from one side. */
struct ncs_pair_direction {
	struct ncs_bounds order;
	struct ncs_bounds credit;
	uint64_t awaited; /* number of credits that a sender waited for */
};

struct ncs_host_pair {
	size_t low;
	size_t high;
	int64_t about_ns; /* rough difference, from any one fact */
	/* Upper bounds of the difference, from events of `low` before events of
	 * `high`, and of its negative, from the opposite order. */
	struct ncs_pair_direction most;
	struct ncs_pair_direction least;
	bool has_line;
	struct ncs_clock_line line;
};

struct ncs_realtime_reading {
	uint64_t before_ns;
	uint64_t realtime_ns;
	uint64_t after_ns;
	uint64_t steps;
	bool is_there;
};

struct ncs_alignment {
	size_t hosts;
	size_t nodes;                 /* the hosts and the true time */
	struct ncs_host_pair **pairs; /* low × nodes + high */
	struct ncs_realtime_reading *readings;
	struct ncs_host_pair **list; /* of all pairs that have facts */
	size_t count;
};

/* Finds the line of a pair for an interval of the clock of its `low`. Returns 0
 * or -ENOMEM. */
int ncs_host_pair_solve(struct ncs_host_pair *pair, uint64_t from_ns,
			uint64_t until_ns);

#endif
