/* SPDX-License-Identifier: MIT */
/* Facts about operations that their own records do not hold: what the records
 * of all ranks tell together, and when their kernels ran on the GPU. By rank of
 * the recording and number of the operation. About 100 bytes an operation.
 *
 * Reads the records of kernels by itself, as the table of launches shows them as
 * reported, even where the GPU's clock is not known or where they do not tell an
 * operation's end.
 * Not thread-safe.
 */
#ifndef NCS_RECORD_EXPORT_OPERATION_FACTS_H
#define NCS_RECORD_EXPORT_OPERATION_FACTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "analysis/base/hash_table.h"
#include "analysis/records/joined.h"
#include "record/export/export_rank.h"
#include "record/read/recording.h"

/* From the first channel's begin to the last one's end. */
struct ncs_kernel_span {
	bool is_known;
	bool is_by_gpu; /* all channels' times are by the GPU's clock */
	uint64_t start_ns; /* in common time */
	uint64_t gpu_from_ns, gpu_until_ns; /* by the GPU's clock */
	uint64_t host_until_ns;
};

struct ncs_exported_operation {
	struct ncs_hash_link link; /* private */
	bool is_joined; /* the next five are known */
	bool is_moving; /* `moving` is known, too */
	bool kernel_end_is_wrong; /* it ended later, as joined.h tells */
	uint8_t doubt;  /* enum ncs_doubt */
	uint8_t algorithm, protocol; /* NCS_CLASS_OTHER: not known */
	struct ncs_moving_part moving;
	struct ncs_kernel_span kernel;
};

/* Start with {0}. */
struct ncs_operation_table {
	struct ncs_hash_table facts;
};

/* Frees the memory. */
void ncs_operation_table_release(struct ncs_operation_table *table);

/* Joins the operations that ended from from_ns to until_ns, and notes what is
 * known of them. Returns 0 or -errno. */
int ncs_operation_table_join(struct ncs_operation_table *table,
			     struct ncs_recording *recording, uint64_t from_ns,
			     uint64_t until_ns);

/* Notes a record of type KERNEL_CH. Returns 0 or -ENOMEM. */
int ncs_operation_table_kernel(struct ncs_operation_table *table, size_t rank,
			       const struct ncs_export_rank *facts,
			       const struct ncs_record *record);

/* Return what is known of an operation, which may become more. The first returns
 * NULL if nothing is; the second one does if there is no memory. */
struct ncs_exported_operation *
ncs_operation_table_find(const struct ncs_operation_table *table, size_t rank,
			 uint64_t operation);
struct ncs_exported_operation *
ncs_operation_table_take(struct ncs_operation_table *table, size_t rank,
			 uint64_t operation);

#endif
