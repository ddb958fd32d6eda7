/* SPDX-License-Identifier: MIT */
/* Keeps operations for the cost of transfers; see transfer_log.h. Must not grow
 * without bound. */
#include "analysis/model/transfer_log.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "shm/array.h"

/* Drops parts up to the next begin of an operation. */
static void drop(struct ncs_transfer_log *log, size_t count)
{
	while (count < log->count && log->parts[count].place > 0)
		count++;
	memmove(log->parts, log->parts + count,
		(log->count - count) * sizeof(*log->parts));
	log->count -= count;
}

int ncs_transfer_log_add(struct ncs_transfer_log *log,
			 const struct ncs_comparison *comparison)
{
	const struct ncs_joined *joined = comparison->joined;
	size_t most = NCS_LOGGED_PER_RANK * comparison->model->rank_count;

	if (most > NCS_LOGGED_MAX)
		most = NCS_LOGGED_MAX;
	if (joined->count > most / 4)
		return 0;
	if (log->count + joined->count > most)
		drop(log, most / 4);
	if (ncs_array_reserve(&log->parts, &log->capacity,
			      log->count + joined->count,
			      sizeof(*log->parts)) != 0)
		return -ENOMEM;
	for (size_t i = 0; i < joined->count; i++) {
		const struct ncs_part *part = &joined->parts[i];
		bool is_root = ncs_joined_is_root(joined, part);
		struct ncs_part_times times;

		ncs_part_times_make(&times, joined, part);
		log->parts[log->count++] = (struct ncs_logged){
			.owner = part->owner,
			.arrival_ns = times.arrival_ns,
			.launched_ns = times.begin_ns,
			.end_ns = times.least_end_ns,
			.latest_end_ns = times.end_ns,
			.operation = part->operation,
			.place = (uint32_t)i,
			.count = (uint32_t)joined->count,
			.kind = (uint8_t)ncs_work_kind_of(part),
			.waits = ncs_is_waiting(joined->wait_rule, is_root),
			.is_awaited =
				ncs_is_awaited(joined->wait_rule, is_root),
		};
	}
	return 0;
}

void ncs_transfer_log_drop(struct ncs_transfer_log *log, uint64_t until_ns)
{
	size_t count = 0;

	while (count < log->count && log->parts[count].end_ns < until_ns)
		count++;
	if (count > 0)
		drop(log, count);
}

void ncs_transfer_log_release(struct ncs_transfer_log *log)
{
	free(log->parts);
	*log = (struct ncs_transfer_log){ 0 };
}
