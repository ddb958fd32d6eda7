/* SPDX-License-Identifier: MIT */
/* Words on the nodes of a job. Pure; texts are cut at the size of the buffer.
 * Names come from other machines: clean the texts before printing them. */
#ifndef NCS_TUI_TEXT_NODE_TEXT_H
#define NCS_TUI_TEXT_NODE_TEXT_H

#include <stdbool.h>
#include <stddef.h>

#include "analysis/model/model.h"

/* Appends " of 16" where there are more ranks than the `ranks` that are seen,
 * and ", 2 of 3 nodes"; nothing where the source has no nodes. */
void ncs_append_nodes(const struct ncs_node_counts *counts, size_t ranks,
		      char *text, size_t size);

/* Appends "no connection to the node: ssh: ..." */
void ncs_append_node_why(const struct ncs_node *node, char *text, size_t size);

/* Prints a clause on what nodes leave unchecked though their ranks are seen, by
 * its index from 0 on. Returns false if there is no more. */
bool ncs_unchecked_nodes_text(const struct ncs_model *model, size_t index,
			      char *text, size_t size);

/* Returns the name by which a shell command may call a node; NULL if it has none
 * that a shell takes as it is. */
const char *ncs_node_shell_name(const struct ncs_node *node);

#endif
