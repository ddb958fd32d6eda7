/* SPDX-License-Identifier: MIT */
/* The reader's copies of operations in flight: slot by slot for images, sorted
 * and judged for snapshots.
 *
 * A table has thousands of slots, few of which hold an operation at a time. The
 * reader marks those that may, and reads only them: those that held one at its
 * previous reading, and those given out since the reading before that.
 */
#ifndef NCS_SHM_READ_OPERATION_READER_H
#define NCS_SHM_READ_OPERATION_READER_H

#include <stdbool.h>
#include <stddef.h>

#include "shm/read/reader_internal.h"

/* Marks the slots to be read now. */
void ncs_operation_slots_mark(struct ncs_reader *reader);

/* Returns true if ncs_operation_slots_mark() has marked the slot. */
static inline bool ncs_operation_slot_is_marked(const struct ncs_reader *reader,
						size_t index)
{
	return reader->marked[index / 64] >> (index % 64) & 1;
}

/* Copies a marked slot. Returns false and removes the mark if the slot is empty
 * or was being written. */
bool ncs_operation_slot_copy(struct ncs_reader *reader, size_t index,
			     struct ncs_operation *copy);

/* Fills in the snapshot's operations. Its liveness and functions must be filled
 * in already. */
void ncs_operations_take(struct ncs_snapshot *snapshot,
			 struct ncs_reader *reader);

#endif
