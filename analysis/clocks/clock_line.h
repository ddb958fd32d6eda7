/* SPDX-License-Identifier: MIT */
/* What two clocks differ by, as a line between bounds.
 *
 * That one event came before another bounds the difference of the clocks that
 * they were read from: above, or below if it is the other way round. As the
 * difference changes with time, bounds are kept as points; those that no line
 * could touch are dropped. They lie in windows of time, so that one that is
 * wrong hides few others, and a clock that does not run evenly is seen.
 *
 * The line is the one with the most room to the bounds on both sides. Its error
 * is what it may be off where it is worst: as far as any other line between
 * the bounds goes, but not less than what the bounds of the median window leave
 * open, as clocks bend. If there is no line, some clock did not run evenly; the
 * error is then as far as the bounds of any window are away.
 *
 * Memory is bounded. Pure. The same for two hosts, or a GPU and its host.
 */
#ifndef NCS_ANALYSIS_CLOCKS_CLOCK_LINE_H
#define NCS_ANALYSIS_CLOCKS_CLOCK_LINE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* At first; they become longer as there are more of them. */
#define NCS_BOUND_WINDOW_NS (UINT64_C(1) << 27)
#define NCS_BOUND_WINDOWS 32
#define NCS_BOUND_POINTS 8

/* No clock runs faster or slower than another by more, ns per ns: adjtimex(2)
 * corrects each of them by half of that at most. */
#define NCS_DRIFT_MAX 1e-3

/* Of up to one part in so many, bounds that no line is between count as wrong
 * instead of the clocks as uneven. */
#define NCS_BOUND_WRONG_PART 16

struct ncs_bounds_window;

/* Upper bounds of a value. Lower bounds are upper ones of its negative. Start
 * with {0}. */
struct ncs_bounds {
	struct ncs_bounds_window *windows; /* by time */
	size_t count;
	size_t capacity;
	uint64_t window_ns;
	uint64_t facts; /* taken in */
};

/* The value was at most so much at this moment. In any order of time, fastest
 * in that. 0 or -ENOMEM. */
int ncs_bounds_add(struct ncs_bounds *bounds, uint64_t at_ns,
		   int64_t at_most_ns);

/* Takes in those of another, less so much. 0 or -ENOMEM. */
int ncs_bounds_add_all(struct ncs_bounds *bounds, const struct ncs_bounds *from,
		       int64_t less_ns);

void ncs_bounds_release(struct ncs_bounds *bounds);

/* At t the value is offset_ns + drift × (t - at_ns). */
struct ncs_clock_line {
	uint64_t at_ns;
	int64_t offset_ns;
	double drift;
	uint64_t error_ns; /* at most, over all of the time asked for */
	uint64_t facts;
	uint64_t violations; /* bounds that it does not lie between */
	bool is_uneven;      /* there is no line between them */
};

/* The value of a line, and how far it moves from one moment to another. */
int64_t ncs_clock_line_at(const struct ncs_clock_line *line, uint64_t at_ns);

/* The line for from_ns … until_ns, between upper bounds of the value and of its
 * negative. False: one of them is empty, so there is none. */
bool ncs_clock_line_fit(const struct ncs_bounds *most,
			const struct ncs_bounds *least, uint64_t from_ns,
			uint64_t until_ns, struct ncs_clock_line *line);

/* By how much the bounds of `less` are below those of `more`, both being of
 * what the line is, in most windows: the lower quartile. Makes their windows
 * equally long. False: they have fewer than 4 windows in common. */
bool ncs_bounds_gap(struct ncs_bounds *less, struct ncs_bounds *more,
		    const struct ncs_clock_line *line, double *gap_ns);

#endif
