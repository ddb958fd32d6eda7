/* SPDX-License-Identifier: MIT */
/* Job labels: short texts that tell of which job a process is
 * (ncclstat/tables/job_labels.def).
 *
 * A block of labels is "key=value" after "key=value", each terminated, and an
 * empty text at the end. Values are UTF-8 without control characters: what is
 * neither is U+FFFD, and a value that was cut ends in an ellipsis (U+2026).
 * Pure, but for the caller's function that looks up variables. Any thread may
 * call these functions.
 */
#ifndef NCS_SHM_LABELS_H
#define NCS_SHM_LABELS_H

#include <stdbool.h>
#include <stddef.h>

struct ncs_labels; /* ncclstat/abi_header.h */

/* The most bytes of a value. */
#define NCS_LABEL_VALUE_BYTES 96u

/* Adds a label to a block, with the value cleaned and cut; does nothing if the
 * value is empty, the block has that key already, or has no room. */
void ncs_labels_add(struct ncs_labels *block, const char *key,
		    const char *value);

/* Adds the labels of the table. `find` returns the value of an environment
 * variable, or NULL. */
void ncs_labels_collect(struct ncs_labels *block,
			const char *(*find)(void *context, const char *name),
			void *context);

/* Adds the labels of a block that is not to be trusted, cleaned again. */
void ncs_labels_add_all(struct ncs_labels *block,
			const struct ncs_labels *untrusted);

/* Returns the value of a label in a block that one of these functions made;
 * NULL if it has none, or if `labels` is NULL. Valid as long as the block. */
const char *ncs_labels_value(const char *labels, const char *key);

/* Returns the bytes of such a block, with the empty text at its end. */
size_t ncs_labels_bytes(const char *labels);

#endif
