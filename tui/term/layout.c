/* SPDX-License-Identifier: MIT */
/* Layout of the screen; see layout.h. Must not draw, and must not know what is
 * drawn. Called once a frame.
 */
#include "tui/term/layout.h"

static int used(const struct ncs_layout *layout)
{
	int sum = 0;

	for (size_t i = 0; i < NCS_PART_COUNT; i++)
		sum += layout->part[i].height;
	return sum;
}

/* Takes the next smaller form of the detail, whose index is *form. Returns false if
 * the detail has no more than `down_to` lines already. */
static bool shrink_detail(struct ncs_layout *layout,
			  const struct ncs_layout_request *request,
			  size_t *form, int down_to)
{
	int *height = &layout->part[NCS_PART_DETAIL].height;

	if (*height <= down_to)
		return false;
	*height = ++*form < request->detail_count ? request->detail[*form] : 0;
	return true;
}

static bool take_line(struct ncs_layout *layout, enum ncs_screen_part part)
{
	if (layout->part[part].height == 0)
		return false;
	layout->part[part].height--;
	return true;
}

/* Takes a line from the least important part that still has any, or shrinks the
 * detail to its next form. */
static bool give_up(struct ncs_layout *layout,
		    const struct ncs_layout_request *request, size_t *form)
{
	return take_line(layout, NCS_PART_INFO) ||
	       take_line(layout, NCS_PART_SUMMARY) ||
	       shrink_detail(layout, request, form, 1) ||
	       take_line(layout, NCS_PART_TABS) ||
	       take_line(layout, NCS_PART_BAR) ||
	       shrink_detail(layout, request, form, 0) ||
	       take_line(layout, NCS_PART_TITLE);
}

/* Gives the lines that the rows do not need to a graph. */
static void add_graph(struct ncs_layout *layout,
		      const struct ncs_layout_request *request)
{
	int needed = request->rows + 1 > NCS_LAYOUT_MIN_ROWS ?
			     request->rows + 1 :
			     NCS_LAYOUT_MIN_ROWS;
	int left = layout->part[NCS_PART_ROWS].height - needed;

	if (request->rows <= 0 || left < NCS_LAYOUT_MIN_GRAPH)
		return;
	layout->part[NCS_PART_ROWS].height = needed;
	layout->part[NCS_PART_GRAPH].height = left;
}

void ncs_layout_compute(struct ncs_layout *layout,
			const struct ncs_layout_request *request)
{
	size_t form = 0;
	int y = 0;

	if (request->height < NCS_LAYOUT_MIN_HEIGHT ||
	    request->width < NCS_LAYOUT_MIN_WIDTH) {
		*layout = (struct ncs_layout){ .too_small = true };
		return;
	}
	*layout = (struct ncs_layout){
		.part[NCS_PART_TITLE].height = request->title,
		.part[NCS_PART_SUMMARY].height = request->summary,
		.part[NCS_PART_TABS].height = 1,
		.part[NCS_PART_DETAIL].height =
			request->detail_count > 0 ? request->detail[0] : 0,
		.part[NCS_PART_HEADER].height = 1,
		.part[NCS_PART_ROWS].height = request->least_rows > 0 ?
						      request->least_rows :
						      NCS_LAYOUT_MIN_ROWS,
		.part[NCS_PART_INFO].height = request->info,
		.part[NCS_PART_BAR].height = 1,
	};
	while (used(layout) > request->height &&
	       give_up(layout, request, &form))
		;
	layout->part[NCS_PART_ROWS].height += request->height - used(layout);
	add_graph(layout, request);
	for (size_t i = 0; i < NCS_PART_COUNT; i++) {
		layout->part[i].y = y;
		layout->part[i].width = request->width;
		y += layout->part[i].height;
	}
}

struct ncs_rect ncs_rect_below(const struct ncs_rect *rect, int lines)
{
	struct ncs_rect rest = *rect;

	rest.y += lines;
	rest.height -= lines;
	return rest;
}

/* --- In a line ------------------------------------------------------------ */

static int fit_used(const struct ncs_item *items, size_t count, int gap)
{
	int sum = 0;

	for (size_t i = 0; i < count; i++)
		if (items[i].kept)
			sum += items[i].width + gap;
	return sum > 0 ? sum - gap : 0;
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

	for (size_t i = 0; i < count; i++)
		if (items[i].kept &&
		    (!dropped || goes_before(&items[i], dropped, excess, gap)))
			dropped = &items[i];
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
			items[i].kept = fit_used(items, count, gap) <= width;
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
