/* SPDX-License-Identifier: MIT */
/* Lines between bounds; see clock_line.h. Must not trust times, which may be
 * any value: differences are taken modulo 2^64.
 *
 * For a line a + b t of slope b, the upper bounds u and the lower bounds l,
 * each at its own time t, leave a the room min(u - b t) - max(l - b t). This
 * room is a concave function of b, so its maximum and its zeros are found by
 * bisection.
 */
#include "analysis/clocks/clock_line.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/base/move_clock.h"
#include "analysis/base/percentile.h"
#include "shm/array.h"

struct point {
	uint64_t at_ns;
	int64_t most_ns;
};

/* A window: the lower hull of its points, by time. */
struct ncs_bounds_window {
	uint64_t number; /* its time divided by window_ns */
	unsigned count;
	struct point points[NCS_BOUND_POINTS + 1];
};

/* --- One window ----------------------------------------------------------- */

static double time_between(const struct point *a, const struct point *b)
{
	return (double)(int64_t)(b->at_ns - a->at_ns);
}

static double rise(const struct point *a, const struct point *b)
{
	return (double)b->most_ns - (double)a->most_ns;
}

/* Returns true if all lines below `a` are below `b`. */
static bool is_implied(const struct point *b, const struct point *a)
{
	return rise(a, b) >= NCS_DRIFT_MAX * fabs(time_between(a, b));
}

/* Returns how far the middle point is below the chord of the other two. */
static double depth(const struct point *left, const struct point *middle,
		    const struct point *right)
{
	double whole = time_between(left, right);

	if (whole <= 0)
		return 0;
	return rise(left, right) * (time_between(left, middle) / whole) -
	       rise(left, middle);
}

static void drop_point(struct ncs_bounds_window *window, unsigned index)
{
	window->count--;
	memmove(&window->points[index], &window->points[index + 1],
		(window->count - index) * sizeof(struct point));
}

/* Drop points after or before `index` that no line can touch any more. */
static void clean_right(struct ncs_bounds_window *window, unsigned index)
{
	const struct point *points = window->points;

	while (index + 1 < window->count &&
	       (is_implied(&points[index + 1], &points[index]) ||
		(index + 2 < window->count &&
		 depth(&points[index], &points[index + 1],
		       &points[index + 2]) <= 0)))
		drop_point(window, index + 1);
}

static void clean_left(struct ncs_bounds_window *window, unsigned index)
{
	const struct point *points = window->points;

	while (index > 0 &&
	       (is_implied(&points[index - 1], &points[index]) ||
		(index > 1 && depth(&points[index - 2], &points[index - 1],
				    &points[index]) <= 0)))
		drop_point(window, --index);
}

/* If there are too many points, drops the one that adds least to the hull. */
static void keep_few(struct ncs_bounds_window *window)
{
	double least = INFINITY;
	unsigned worst = 1;

	if (window->count <= NCS_BOUND_POINTS)
		return;
	for (unsigned i = 1; i + 1 < window->count; i++) {
		double own = depth(&window->points[i - 1], &window->points[i],
				   &window->points[i + 1]);

		if (own >= least)
			continue;
		least = own;
		worst = i;
	}
	drop_point(window, worst);
}

static void add_point(struct ncs_bounds_window *window,
		      const struct point *point)
{
	struct point *points = window->points;
	unsigned place = window->count;

	while (place > 0 && points[place - 1].at_ns > point->at_ns)
		place--;
	if ((place > 0 && is_implied(point, &points[place - 1])) ||
	    (place < window->count && is_implied(point, &points[place])) ||
	    (place > 0 && place < window->count &&
	     depth(&points[place - 1], point, &points[place]) <= 0))
		return;
	memmove(&points[place + 1], &points[place],
		(window->count - place) * sizeof(*points));
	points[place] = *point;
	window->count++;
	clean_right(window, place);
	clean_left(window, place);
	keep_few(window);
}

/* --- All windows ---------------------------------------------------------- */

/* Finds the first window of at least this number. */
static size_t find_window(const struct ncs_bounds *bounds, uint64_t number)
{
	size_t low = 0, high = bounds->count;

	if (high > 0 && bounds->windows[high - 1].number < number)
		return high;
	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (bounds->windows[middle].number < number)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

/* Makes windows twice as long. */
static void join_windows(struct ncs_bounds *bounds)
{
	size_t kept = 0;

	bounds->window_ns *= 2;
	for (size_t i = 0; i < bounds->count; i++) {
		struct ncs_bounds_window *window = &bounds->windows[i];

		window->number /= 2;
		if (kept == 0 ||
		    bounds->windows[kept - 1].number != window->number) {
			bounds->windows[kept++] = *window;
			continue;
		}
		for (unsigned k = 0; k < window->count; k++)
			add_point(&bounds->windows[kept - 1],
				  &window->points[k]);
	}
	bounds->count = kept;
}

/* Returns the window of a time, or NULL if there is no memory. */
static struct ncs_bounds_window *window_at(struct ncs_bounds *bounds,
					   uint64_t at_ns)
{
	struct ncs_bounds_window *windows;
	uint64_t number;
	size_t place;

	if (bounds->window_ns == 0)
		bounds->window_ns = NCS_BOUND_WINDOW_NS;
	for (;;) {
		number = at_ns / bounds->window_ns;
		place = find_window(bounds, number);
		if (place < bounds->count &&
		    bounds->windows[place].number == number)
			return &bounds->windows[place];
		if (bounds->count < NCS_BOUND_WINDOWS)
			break;
		join_windows(bounds);
	}
	if (ncs_array_reserve(&bounds->windows, &bounds->capacity,
			      bounds->count + 1, sizeof(*windows)) != 0)
		return NULL;
	windows = bounds->windows;
	memmove(&windows[place + 1], &windows[place],
		(bounds->count - place) * sizeof(*windows));
	bounds->count++;
	windows[place].number = number;
	windows[place].count = 0;
	return &windows[place];
}

int ncs_bounds_add(struct ncs_bounds *bounds, uint64_t at_ns,
		   int64_t at_most_ns)
{
	struct ncs_bounds_window *window = window_at(bounds, at_ns);

	if (!window)
		return -ENOMEM;
	bounds->facts++;
	add_point(window, &(struct point){ at_ns, at_most_ns });
	return 0;
}

int ncs_bounds_add_all(struct ncs_bounds *bounds, const struct ncs_bounds *from)
{
	uint64_t facts = bounds->facts + from->facts;

	for (size_t i = 0; i < from->count; i++)
		for (unsigned k = 0; k < from->windows[i].count; k++) {
			const struct point *point = &from->windows[i].points[k];

			if (ncs_bounds_add(bounds, point->at_ns,
					   point->most_ns) != 0)
				return -ENOMEM;
		}
	bounds->facts = facts;
	return 0;
}

void ncs_bounds_release(struct ncs_bounds *bounds)
{
	free(bounds->windows);
	*bounds = (struct ncs_bounds){ 0 };
}

/* --- Lines ---------------------------------------------------------------- */

#define POINTS (NCS_BOUND_WINDOWS * NCS_BOUND_POINTS)

/* Bounds of one side, relative to some time and value so that doubles are
 * precise to the ns. */
struct side {
	double time[POINTS];
	double most[POINTS];
	bool is_wrong[POINTS];
	size_t count;
};

struct fit {
	struct side most;
	struct side least; /* bounds of the negative */
	double from, until;
	double a, b;
	double room; /* between the bounds; negative if there is no line */
};

/* Returns how high a line of this slope may begin. */
static double lowest(const struct side *side, double slope)
{
	double found = INFINITY;

	for (size_t i = 0; i < side->count; i++) {
		double own = side->most[i] - slope * side->time[i];

		if (own < found && !side->is_wrong[i])
			found = own;
	}
	return found;
}

static size_t lowest_place(const struct side *side, double slope)
{
	double found = INFINITY;
	size_t place = 0;

	for (size_t i = 0; i < side->count; i++) {
		double own = side->most[i] - slope * side->time[i];

		if (own >= found || side->is_wrong[i])
			continue;
		found = own;
		place = i;
	}
	return place;
}

static double room_at(const struct fit *fit, double b)
{
	return lowest(&fit->most, b) + lowest(&fit->least, -b);
}

enum goal {
	GOAL_ROOM,
	GOAL_HIGHEST, /* at `time` */
	GOAL_LOWEST,
};

static double value_of(const struct fit *fit, enum goal goal, double time,
		       double b)
{
	switch (goal) {
	case GOAL_HIGHEST:
		return lowest(&fit->most, b) + b * time;
	case GOAL_LOWEST:
		return lowest(&fit->least, -b) - b * time;
	default:
		/* Prefers the flattest of lines with the same room. */
		return room_at(fit, b) - 1e-6 * fabs(b * time);
	}
}

/* Finds where a concave function is largest. */
static double argmax(const struct fit *fit, enum goal goal, double time,
		     double low, double high)
{
	for (unsigned i = 0; i < 90; i++) {
		double third = (high - low) / 3;

		if (value_of(fit, goal, time, low + third) <
		    value_of(fit, goal, time, high - third))
			low += third;
		else
			high -= third;
	}
	return (low + high) / 2;
}

static void find_line(struct fit *fit)
{
	double low;

	fit->b = argmax(fit, GOAL_ROOM, fit->until - fit->from, -NCS_DRIFT_MAX,
			NCS_DRIFT_MAX);
	low = lowest(&fit->least, -fit->b);
	fit->a = (lowest(&fit->most, fit->b) - low) / 2;
	fit->room = room_at(fit, fit->b);
}

/* Finds the steepest slope towards `limit` of a line that still has room. */
static double last_slope(const struct fit *fit, double limit)
{
	double inside = fit->b, outside = limit;

	if (room_at(fit, limit) >= 0)
		return limit;
	for (unsigned i = 0; i < 60; i++) {
		double middle = (inside + outside) / 2;

		if (room_at(fit, middle) >= 0)
			inside = middle;
		else
			outside = middle;
	}
	return inside;
}

/* Returns how far other lines between the bounds are from this one at most. */
static double error_at(const struct fit *fit, double time)
{
	double low_b = last_slope(fit, -NCS_DRIFT_MAX);
	double high_b = last_slope(fit, NCS_DRIFT_MAX);
	double own = fit->a + fit->b * time;
	double high = value_of(fit, GOAL_HIGHEST, time,
			       argmax(fit, GOAL_HIGHEST, time, low_b, high_b));
	double low = -value_of(fit, GOAL_LOWEST, time,
			       argmax(fit, GOAL_LOWEST, time, low_b, high_b));

	return fmax(high - own, own - low);
}

/* Drops one of the bounds that leave the least room: the one without which the
 * room is largest. */
static void drop_worst(struct fit *fit)
{
	double b = fit->b, step = NCS_DRIFT_MAX * 1e-9;
	bool *candidates[] = {
		&fit->most.is_wrong[lowest_place(&fit->most, b - step)],
		&fit->most.is_wrong[lowest_place(&fit->most, b + step)],
		&fit->least.is_wrong[lowest_place(&fit->least, -b - step)],
		&fit->least.is_wrong[lowest_place(&fit->least, -b + step)],
	};
	double most = -INFINITY;
	bool *best = candidates[0];

	for (unsigned i = 0; i < 4; i++) {
		*candidates[i] = true;
		find_line(fit);
		*candidates[i] = false;
		if (fit->room <= most)
			continue;
		most = fit->room;
		best = candidates[i];
	}
	*best = true;
	find_line(fit);
}

static size_t count_wrong(const struct side *side)
{
	size_t count = 0;

	for (size_t i = 0; i < side->count; i++)
		count += side->is_wrong[i];
	return count;
}

static void mark_wrong(struct side *side, double a, double b)
{
	for (size_t i = 0; i < side->count; i++)
		side->is_wrong[i] = side->most[i] < a + b * side->time[i];
}

/* A walk through the points of one side. */
struct walk {
	const struct side *side;
	size_t place;
	double sign;
};

/* Returns the distance of the nearest bound up to a time, or INFINITY if there
 * is none. */
static double nearest_until(struct walk *walk, const struct fit *fit,
			    double until)
{
	const struct side *side = walk->side;
	double found = INFINITY;

	for (; walk->place < side->count && side->time[walk->place] <= until;
	     walk->place++)
		found = fmin(
			found,
			side->most[walk->place] -
				walk->sign *
					(fit->a +
					 fit->b * side->time[walk->place]));
	return found;
}

static double next_time(const struct walk *walk)
{
	return walk->place < walk->side->count ? walk->side->time[walk->place] :
						 INFINITY;
}

/* How far the line may be off in each window, by the window's own bounds alone:
 * this holds however the clocks run. */
struct windows {
	double errors[2 * NCS_BOUND_WINDOWS];
	size_t count;
	double moves; /* largest move of the middle between two windows */
};

static void find_windows(const struct fit *fit, double window,
			 struct windows *windows)
{
	struct walk most = { &fit->most, 0, 1 };
	struct walk least = { &fit->least, 0, -1 };
	double before = NAN, next;

	windows->count = 0;
	windows->moves = 0;
	while (!isinf(next = fmin(next_time(&most), next_time(&least)))) {
		double high = nearest_until(&most, fit, next + window);
		double low = nearest_until(&least, fit, next + window);

		if (isinf(high) || isinf(low))
			continue;
		windows->errors[windows->count++] = fmax(fabs(high), fabs(low));
		if (!isnan(before))
			windows->moves = fmax(windows->moves,
					      fabs((high - low) / 2 - before));
		before = (high - low) / 2;
	}
}

/* Returns the error of a line between all bounds. Clocks bend a little, so the
 * error is larger than other lines suggest, but no larger than most windows
 * allow. */
static double even_error(const struct fit *fit, double window)
{
	double error =
		fmax(error_at(fit, fit->from), error_at(fit, fit->until));
	struct windows windows;

	find_windows(fit, window, &windows);
	if (windows.count == 0)
		return error;
	return fmax(error, ncs_select(windows.errors, windows.count,
				      windows.count / 2));
}

/* Returns the error of a line that is not between all bounds. */
static double uneven_error(const struct fit *fit, double window)
{
	double error = -fit->room / 2;
	struct windows windows;

	find_windows(fit, window, &windows);
	for (size_t i = 0; i < windows.count; i++)
		error = fmax(error, windows.errors[i]);
	return error + windows.moves;
}

static void take_side(struct side *side, const struct ncs_bounds *bounds,
		      uint64_t at_ns, int64_t value_ns)
{
	side->count = 0;
	for (size_t i = 0; i < bounds->count; i++)
		for (unsigned k = 0; k < bounds->windows[i].count; k++) {
			const struct point *point =
				&bounds->windows[i].points[k];
			size_t place = side->count++;

			side->time[place] =
				(double)(int64_t)(point->at_ns - at_ns);
			side->most[place] =
				(double)ncs_minus(point->most_ns, value_ns);
			side->is_wrong[place] = false;
		}
}

static uint64_t rounded_up(double value)
{
	return value < 1e18 ? (uint64_t)ceil(fmax(value, 0)) : UINT64_MAX;
}

bool ncs_clock_line_fit(const struct ncs_bounds *most,
			const struct ncs_bounds *least, uint64_t from_ns,
			uint64_t until_ns, struct ncs_clock_line *line)
{
	uint64_t at_ns = from_ns + (until_ns - from_ns) / 2;
	uint64_t window_ns = most->window_ns > least->window_ns ?
				     most->window_ns :
				     least->window_ns;
	struct fit fit;
	double error;
	int64_t base_ns;
	size_t most_wrong;

	*line = (struct ncs_clock_line){ .at_ns = at_ns };
	if (most->count == 0 || least->count == 0)
		return false;
	base_ns = most->windows[0].points[0].most_ns;
	take_side(&fit.most, most, at_ns, base_ns);
	take_side(&fit.least, least, at_ns, ncs_minus(0, base_ns));
	fit.from = (double)(int64_t)(from_ns - at_ns);
	fit.until = (double)(int64_t)(until_ns - at_ns);
	find_line(&fit);
	most_wrong = (fit.most.count + fit.least.count) / NCS_BOUND_WRONG_PART;
	for (size_t i = 0; fit.room < 0 && i < most_wrong; i++)
		drop_worst(&fit);
	line->is_uneven = fit.room < 0;
	if (line->is_uneven) {
		memset(fit.most.is_wrong, 0, sizeof(fit.most.is_wrong));
		memset(fit.least.is_wrong, 0, sizeof(fit.least.is_wrong));
		find_line(&fit);
		error = uneven_error(&fit, (double)window_ns);
		mark_wrong(&fit.most, fit.a, fit.b);
		mark_wrong(&fit.least, -fit.a, -fit.b);
	} else {
		error = even_error(&fit, (double)window_ns);
	}
	line->offset_ns = ncs_plus(base_ns, llround(fit.a));
	line->drift = fit.b;
	line->error_ns = rounded_up(error + 0.5);
	line->facts = most->facts + least->facts;
	line->violations = count_wrong(&fit.most) + count_wrong(&fit.least);
	return true;
}

int64_t ncs_clock_line_at(const struct ncs_clock_line *line, uint64_t at_ns)
{
	double moved = line->drift * (double)(int64_t)(at_ns - line->at_ns);

	return ncs_plus(line->offset_ns, llround(moved));
}
