/* SPDX-License-Identifier: MIT */
/* Layout of the screen; see layout.h. Must not draw, and must not know what is
 * drawn. Called once a frame.
 */
#include "tui/term/layout.h"

#include <string.h>

/* The number of lines of each part, and the index of the detail's form. */
struct layout_plan {
	int lines[NCS_PART_COUNT];
	size_t form;
};

static int used(const struct layout_plan *plan)
{
	int sum = 0;

	for (size_t i = 0; i < NCS_PART_COUNT; i++)
		sum += plan->lines[i];
	return sum;
}

static int at_least(int value, int least)
{
	return value > least ? value : least;
}

/* Takes the next smaller form of the detail. Returns false if the detail has no
 * more than `down_to` lines already. */
static bool shrink_detail(struct layout_plan *plan,
			  const struct ncs_layout_request *request, int down_to)
{
	size_t next = plan->form + 1;
	int height = next < request->detail_count ? request->detail[next] : 0;

	if (plan->lines[NCS_PART_DETAIL] <= down_to)
		return false;
	plan->form = next;
	plan->lines[NCS_PART_DETAIL] = at_least(height, 0);
	return true;
}

static bool take_line(struct layout_plan *plan, enum ncs_screen_part part)
{
	if (plan->lines[part] == 0)
		return false;
	plan->lines[part]--;
	return true;
}

/* Takes a line from the least important part that still has any, or shrinks the
 * detail to its next form. */
static bool give_up(struct layout_plan *plan,
		    const struct ncs_layout_request *request)
{
	return take_line(plan, NCS_PART_INFO) ||
	       take_line(plan, NCS_PART_SUMMARY) ||
	       shrink_detail(plan, request, 1) ||
	       take_line(plan, NCS_PART_TABS) ||
	       take_line(plan, NCS_PART_BAR) ||
	       shrink_detail(plan, request, 0) ||
	       take_line(plan, NCS_PART_TITLE);
}

/* Gives the lines that the rows do not need to a graph. */
static void add_graph(struct layout_plan *plan,
		      const struct ncs_layout_request *request)
{
	int needed = at_least(request->rows + 1, NCS_LAYOUT_MIN_ROWS);
	int left = plan->lines[NCS_PART_ROWS] - needed;

	if (request->rows <= 0 || left < NCS_LAYOUT_MIN_GRAPH)
		return;
	plan->lines[NCS_PART_ROWS] = needed;
	plan->lines[NCS_PART_GRAPH] = left;
}

void ncs_layout_compute(struct ncs_layout *layout,
			const struct ncs_layout_request *request)
{
	struct layout_plan plan = { 0 };
	int y = 0;

	memset(layout, 0, sizeof(*layout));
	if (request->height < NCS_LAYOUT_MIN_HEIGHT ||
	    request->width < NCS_LAYOUT_MIN_WIDTH) {
		layout->too_small = true;
		return;
	}
	plan.lines[NCS_PART_TITLE] = request->title;
	plan.lines[NCS_PART_SUMMARY] = at_least(request->summary, 0);
	plan.lines[NCS_PART_TABS] = 1;
	if (request->detail_count > 0)
		plan.lines[NCS_PART_DETAIL] = at_least(request->detail[0], 0);
	plan.lines[NCS_PART_HEADER] = 1;
	plan.lines[NCS_PART_ROWS] = request->least_rows > 0 ?
					    request->least_rows :
					    NCS_LAYOUT_MIN_ROWS;
	plan.lines[NCS_PART_INFO] = at_least(request->info, 0);
	plan.lines[NCS_PART_BAR] = 1;
	while (used(&plan) > request->height && give_up(&plan, request))
		;
	plan.lines[NCS_PART_ROWS] += request->height - used(&plan);
	add_graph(&plan, request);
	for (size_t i = 0; i < NCS_PART_COUNT; i++) {
		layout->part[i] = (struct ncs_rect){
			.y = y,
			.height = plan.lines[i],
			.width = request->width,
		};
		y += plan.lines[i];
	}
}

/* --- In a line ------------------------------------------------------------ */

static int fit_used(const struct ncs_item *items, size_t count, int gap)
{
	int sum = 0, kept = 0;

	for (size_t i = 0; i < count; i++) {
		if (!items[i].kept)
			continue;
		sum += items[i].width;
		kept++;
	}
	return kept > 0 ? sum + (kept - 1) * gap : 0;
}

/* Whether `item` should be dropped rather than `other`, to save `excess`
 * columns. */
static bool goes_before(const struct ncs_item *item,
			const struct ncs_item *other, int excess, int gap)
{
	bool enough = item->width + gap >= excess;
	bool other_enough = other->width + gap >= excess;

	if (item->priority != other->priority)
		return item->priority < other->priority;
	if (enough != other_enough)
		return enough;
	/* Items are compared from left to right; drop the one on the right. */
	return enough || item->width >= other->width;
}

static void drop_one(struct ncs_item *items, size_t count, int excess, int gap)
{
	struct ncs_item *dropped = NULL;

	for (size_t i = 0; i < count; i++) {
		if (!items[i].kept)
			continue;
		if (!dropped || goes_before(&items[i], dropped, excess, gap))
			dropped = &items[i];
	}
	if (dropped)
		dropped->kept = false;
}

static void bring_back(struct ncs_item *items, size_t count, int width, int gap)
{
	for (unsigned priority = 9; priority > 2; priority--) {
		for (size_t i = 0; i < count; i++) {
			if (items[i].kept || items[i].priority != priority)
				continue;
			items[i].kept = true;
			if (fit_used(items, count, gap) > width)
				items[i].kept = false;
		}
	}
}

int ncs_layout_fit(struct ncs_item *items, size_t count, int width, int gap)
{
	int excess;

	for (size_t i = 0; i < count; i++)
		items[i].kept = true;
	while ((excess = fit_used(items, count, gap) - width) > 0 &&
	       fit_used(items, count, gap) > 0)
		drop_one(items, count, excess, gap);
	bring_back(items, count, width, gap);
	return fit_used(items, count, gap);
}
