/* SPDX-License-Identifier: MIT */
/* Classes of operations (function x size class x algorithm x protocol) and the
 * histograms of their times.
 *
 * An operation whose class finds no room in the table is counted in the class
 * of its function as a whole: no count is lost, and readers can tell. Called by
 * callbacks on several threads at the same time, when operations start and when
 * they end: no lock, no allocation, no system call.
 */
#ifndef NCS_PLUGIN_STATE_CLASS_H
#define NCS_PLUGIN_STATE_CLASS_H

#include "plugin/state/comm.h"

/* Counts a started operation in its class and returns the class's index. */
uint16_t ncs_class_count(struct ncs_comm *comm,
			 const struct ncs_operation_facts *facts,
			 bool size_known, uint64_t bytes);

/* Returns the histogram for a class and timing, or that of the function if the
 * class has none; NULL if there is no room for either. Always returns the same
 * histogram for the same arguments. */
struct ncs_histogram *ncs_class_histogram(struct ncs_comm *comm,
					  uint16_t class_index,
					  uint8_t function,
					  enum ncs_timing timing);

/* Adds the time of an operation of this many bytes to a histogram. */
void ncs_class_add_time(struct ncs_histogram *histogram, uint64_t ns,
			uint64_t bytes);

/* Replaces a time that was added before by a longer one of the same
 * operation. */
void ncs_class_change_time(struct ncs_histogram *histogram, uint64_t before_ns,
			   uint64_t ns);

#endif
