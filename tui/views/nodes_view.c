/* SPDX-License-Identifier: MIT */
/* Nodes: one row for each node whose ranks come by a stream, and why it
 * is not seen if it is not. Must not draw.
 */
#include "tui/views/view.h"

#include <inttypes.h>

#include "tui/text/node_text.h"
#include "tui/text/words.h"

static enum ncs_severity severity(const struct ncs_row *row)
{
	switch (row->node->state) {
	case NCS_NODE_RUNNING:
		return NCS_NORMAL;
	case NCS_NODE_NO_JOB:
	case NCS_NODE_GONE:
		return NCS_QUIET;
	case NCS_NODE_STARTING:
	case NCS_NODE_SLOW_LINK:
		return NCS_NOTE;
	default:
		return NCS_BAD;
	}
}

/* Appends what is lost of its looks, and how its clock is. */
static void append_losses(const struct ncs_node *node, char *text, size_t size)
{
	if (node->looks_dropped > 0)
		ncs_append(text, size,
			   " Its agent has dropped %" PRIu64 " looks.",
			   node->looks_dropped);
	if (node->looks_lost > 0)
		ncs_append(text, size,
			   " %" PRIu64 " looks arrived damaged or cut.",
			   node->looks_lost);
	if (node->left_out > 0)
		ncs_append(text, size, " %u segments are left out.",
			   node->left_out);
	if (node->look_ns != 0 && !node->clock_is_aligned)
		ncs_append(text, size,
			   " Its clock is not aligned: ages are right, but its"
			   " ranks are not compared with those of others.");
}

static void explain(const struct ncs_row *row, char *text, size_t size)
{
	const struct ncs_node *node = row->node;
	uint64_t age_ns = ncs_node_age_ns(node, row->now_ns);

	ncs_append(text, size, "%s: ", node->name);
	ncs_append_node_why(node, text, size);
	ncs_append(text, size, ".");
	if (age_ns != UINT64_MAX)
		ncs_append(text, size,
			   " Its latest look, %s ago, has %u rank%s.",
			   ncs_duration(age_ns).text, node->ranks,
			   node->ranks == 1 ? "" : "s");
	append_losses(node, text, size);
	ncs_append(text, size, " Enter goes to its ranks.");
}

const struct ncs_screen_view ncs_screen_nodes = {
	.rules = {
		.severity = severity,
		.throughput = NCS_COLUMN_NODE_RATE,
		.bytes = NCS_COLUMN_NODE_BYTES,
		.time = NCS_COLUMN_NODE_AGE,
	},
	.explain = explain,
};
