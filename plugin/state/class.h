/* SPDX-License-Identifier: MIT */
/* Classes of operations: by function, size class, algorithm and protocol; and
 * the histograms of their times.
 *
 * What finds no room counts as its function's own: never lost, and seen as
 * such. Called by callbacks, by launching threads and those that see operations
 * end at once.
 */
#ifndef NCS_PLUGIN_STATE_CLASS_H
#define NCS_PLUGIN_STATE_CLASS_H

#include "plugin/state/comm.h"
#include "plugin/state/decoded.h"

/* Counts a started operation in its class, and returns that: an index. */
uint16_t ncs_class_count(struct ncs_comm *comm,
			 const struct ncs_operation_facts *facts,
			 bool size_known, uint64_t bytes);

/* The histogram for times of a class: its own, else that of its function, which
 * the operation has told. NULL: there is no room. For one class and timing it
 * is always the same. */
struct ncs_histogram *ncs_class_histogram(struct ncs_comm *comm,
					  uint16_t class_index,
					  uint8_t function,
					  enum ncs_timing timing);

/* Adds an operation's time to a histogram, … */
void ncs_class_add_time(struct ncs_histogram *histogram, uint64_t ns,
			uint64_t bytes);

/* … or puts it in place of a shorter one that it was given before. */
void ncs_class_change_time(struct ncs_histogram *histogram, uint64_t before_ns,
			   uint64_t ns);

#endif
