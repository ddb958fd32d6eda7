/* SPDX-License-Identifier: MIT */
/* The difference of two clocks as a line between bounds.
 *
 * If one event came before another, this order bounds the difference of the
 * clocks that their times were read from: from above, or from below for the
 * opposite order. As the difference changes with time, bounds are kept as
 * points; points that no line could touch are dropped. Points are kept by
 * windows of time, so that a wrong bound hides few others and a clock that runs
 * unevenly is noticed.
 *
 * The line is the one with the most room to the bounds on both sides. Its error
 * is how far it may be off at worst: as far as any other line between the
 * bounds, but, as clocks bend, at least as far as the bounds of the median
 * window allow. If there is no line, some clock ran unevenly; then the error is
 * the largest distance to the bounds of any window.
 *
 * Used for two hosts, and for a GPU and its host. Memory is bounded. Pure.
 */
#ifndef NCS_ANALYSIS_CLOCKS_CLOCK_LINE_H
#define NCS_ANALYSIS_CLOCKS_CLOCK_LINE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The initial length of windows in ns, the most windows, and the most points in
 * a window. Instead of adding more windows, existing ones are made longer. */
#define NCS_BOUND_WINDOW_NS (UINT64_C(1) << 27)
#define NCS_BOUND_WINDOWS 32
#define NCS_BOUND_POINTS 8

/* The largest drift of a clock from another one, in ns per ns: adjtimex(2)
 * corrects each of them by at most half of that. */
#define NCS_DRIFT_MAX 1e-3

/* If no line fits, up to one in this many bounds is assumed to be wrong before
 * the clocks are assumed to run unevenly. */
#define NCS_BOUND_WRONG_PART 16

struct ncs_bounds_window;

/* Upper bounds of a value. Lower bounds are the upper bounds of its negative. A
 * struct of zeros is empty. */
struct ncs_bounds {
	struct ncs_bounds_window *windows; /* by time */
	size_t count;
	size_t capacity;
	uint64_t window_ns;
	uint64_t facts; /* number of bounds added */
};

/* Adds a bound: the value was at most `at_most_ns` at this time. Times may come
 * in any order; ascending order is fastest. Returns 0 or -ENOMEM. */
int ncs_bounds_add(struct ncs_bounds *bounds, uint64_t at_ns,
		   int64_t at_most_ns);

/* Adds all bounds of `from`. Returns 0 or -ENOMEM. */
int ncs_bounds_add_all(struct ncs_bounds *bounds,
		       const struct ncs_bounds *from);

/* Releases all bounds; the struct is then empty. */
void ncs_bounds_release(struct ncs_bounds *bounds);

/* A line: at time t the value is offset_ns + drift × (t - at_ns). */
struct ncs_clock_line {
	uint64_t at_ns;
	int64_t offset_ns;
	double drift;
	uint64_t error_ns;   /* largest error in the interval asked for */
	uint64_t facts;      /* number of bounds that it was made from */
	uint64_t violations; /* bounds that it violates */
	bool is_uneven;      /* no line lies between the bounds */
};

/* Returns the value of a line at a time. */
int64_t ncs_clock_line_at(const struct ncs_clock_line *line, uint64_t at_ns);

/* Finds the line for the interval from_ns … until_ns between upper bounds of
 * the value (`most`) and of its negative (`least`). Returns false, without a
 * line, if one of them is empty. */
bool ncs_clock_line_fit(const struct ncs_bounds *most,
			const struct ncs_bounds *least, uint64_t from_ns,
			uint64_t until_ns, struct ncs_clock_line *line);

#endif
