/* SPDX-License-Identifier: MIT */
/* Words on nodes; see node_text.h. */
#include "tui/text/node_text.h"

#include <string.h>

#include "analysis/base/append.h"

void ncs_append_nodes(const struct ncs_node_counts *counts, size_t ranks,
		      char *text, size_t size)
{
	if (counts->nodes == 0)
		return;
	if (counts->ranks > ranks)
		ncs_append(text, size, " of %zu", counts->ranks);
	ncs_append(text, size, ", %zu of %zu node%s", counts->seen,
		   counts->nodes, counts->nodes == 1 ? "" : "s");
}

void ncs_append_node_why(const struct ncs_node *node, char *text, size_t size)
{
	ncs_append(text, size, "%s", ncs_node_state_help(node->state));
	if (node->why[0])
		ncs_append(text, size, ": %s", node->why);
}

/* --- What is not checked --------------------------------------------------- */

static bool drops_looks(const struct ncs_node *node)
{
	return node->state == NCS_NODE_SLOW_LINK;
}

static bool has_other_clock(const struct ncs_node *node)
{
	return ncs_node_sight(node->state) >= NCS_SIGHT_PART &&
	       node->ranks > 0 && !node->clock_is_aligned;
}

static bool has_no_job(const struct ncs_node *node)
{
	return node->state == NCS_NODE_NO_JOB;
}

static const struct node_doubt {
	bool (*holds)(const struct ncs_node *node);
	bool if_some_rank_is_unseen; /* else it is no reason for doubt */
	bool if_several;             /* … nor is it for one node */
	const char *clause;
} doubts[] = {
	{ drops_looks, false, false,
	  "the connection to this machine is too slow, looks are dropped:"
	  " the data is older than it seems" },
	{ has_other_clock, false, true,
	  "the clock is not aligned: lateness is not compared with other"
	  " nodes" },
	{ has_no_job, true, false,
	  "no segments, although ranks are missing" },
};

static bool some_rank_is_unseen(const struct ncs_model *model)
{
	struct ncs_node_counts counts;

	ncs_count_nodes(model, &counts);
	return counts.ranks > model->rank_count;
}

/* Appends "2 of 64 nodes, such as n7: ..."; nothing if no node is in doubt. */
static void append_doubt(const struct ncs_model *model,
			 const struct node_doubt *doubt, char *text,
			 size_t size)
{
	const struct ncs_node *first = NULL;
	size_t count = 0;

	if ((doubt->if_several && model->node_count < 2) ||
	    (doubt->if_some_rank_is_unseen && !some_rank_is_unseen(model)))
		return;
	for (size_t i = 0; i < model->node_count; i++)
		if (doubt->holds(&model->nodes[i]) && count++ == 0)
			first = &model->nodes[i];
	if (count == 1)
		ncs_append(text, size, "node %s: %s", first->name,
			   doubt->clause);
	else if (count > 1)
		ncs_append(text, size, "%zu of %zu nodes, such as %s: %s",
			   count, model->node_count, first->name,
			   doubt->clause);
}

bool ncs_unchecked_nodes_text(const struct ncs_model *model, size_t index,
			      char *text, size_t size)
{
	size_t place = 0;

	for (size_t i = 0; i < sizeof(doubts) / sizeof(doubts[0]); i++) {
		text[0] = '\0';
		append_doubt(model, &doubts[i], text, size);
		if (text[0] && place++ == index)
			return true;
	}
	text[0] = '\0';
	return false;
}

/* --- Commands --------------------------------------------------------------- */

/* Whether a shell takes a name as it is, and no program takes it for an
 * option. */
static bool is_plain(const char *name)
{
	static const char plain[] = "abcdefghijklmnopqrstuvwxyz"
				    "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
				    "0123456789._-";

	return name[0] && name[0] != '-' && !name[strspn(name, plain)];
}

const char *ncs_node_shell_name(const struct ncs_node *node)
{
	if (is_plain(node->name))
		return node->name;
	return is_plain(node->host) ? node->host : NULL;
}
