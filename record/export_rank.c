/* Who a rank is; see export_rank.h. */
#include "record/export_rank.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/names.h"
#include "analysis/ranges.h"
#include "shm/clock.h"

static void take_identity(struct ncs_export_rank *rank,
			  const struct ncs_identity *identity)
{
	rank->identity = *identity;
	if (rank->aliases)
		ncs_aliases_apply(rank->aliases, &rank->identity);
	ncs_comm_text(&rank->identity, rank->communicator,
		      sizeof(rank->communicator));
}

void ncs_export_rank_init(struct ncs_export_rank *rank, const char *host,
			  const struct ncs_header *header,
			  const struct ncs_aliases *aliases)
{
	*rank = (struct ncs_export_rank){
		.host = host,
		.pid = header->pid,
		.aliases = aliases,
		.clock = header->clock,
	};
	take_identity(rank, &header->identity);
}

void ncs_export_rank_release(struct ncs_export_rank *rank)
{
	for (size_t i = 0; i < rank->path_count; i++)
		free(rank->paths[i].path);
	free(rank->paths);
	free(rank->gpu);
}

/* --- Ranges --------------------------------------------------------------- */

/* Numbers are given out in their order and keep their names, so those that are
 * new come last. */
static int learn_ranges(struct ncs_export_rank *rank,
			const struct ncs_snapshot *snapshot)
{
	size_t known = rank->path_count;
	struct ncs_range_path *paths = rank->paths;

	if (snapshot->range_count <= known)
		return 0;
	paths = realloc(paths, snapshot->range_count * sizeof(*paths));
	if (!paths)
		return -ENOMEM;
	rank->paths = paths;
	for (size_t i = known; i < snapshot->range_count; i++) {
		uint32_t number = snapshot->ranges[i].number;
		char path[4096] = "";

		ncs_range_append_path(snapshot, number, path, sizeof(path));
		paths[i] = (struct ncs_range_path){ number, strdup(path) };
		if (!paths[i].path)
			return -ENOMEM;
		rank->path_count++;
	}
	return 0;
}

static int compare_path(const void *key, const void *element)
{
	const uint64_t *number = key;
	const struct ncs_range_path *path = element;

	return (*number > path->number) - (*number < path->number);
}

const char *ncs_export_rank_path(const struct ncs_export_rank *rank,
				 uint64_t number)
{
	const struct ncs_range_path *found;

	if (rank->path_count == 0)
		return NULL;
	found = bsearch(&number, rank->paths, rank->path_count,
			sizeof(*rank->paths), compare_path);
	return found ? found->path : NULL;
}

/* --- The GPU's clock ------------------------------------------------------ */

static int learn_gpu(struct ncs_export_rank *rank,
		     const struct ncs_gpu_clock_view *clock)
{
	size_t count = rank->gpu_count;
	struct ncs_gpu_reading *more = rank->gpu;

	if (!clock->known ||
	    (count > 0 && more[count - 1].told_ns >= clock->told_ns))
		return 0;
	if ((count & (count - 1)) == 0) /* full, as it doubles */
		more = realloc(more, (count ? 2 * count : 1) * sizeof(*more));
	if (!more)
		return -ENOMEM;
	rank->gpu = more;
	more[rank->gpu_count++] = (struct ncs_gpu_reading){ clock->told_ns,
							    clock->offset_ns,
							    clock->error_ns };
	return 0;
}

static uint64_t distance(uint64_t a, uint64_t b)
{
	return a > b ? a - b : b - a;
}

const struct ncs_gpu_reading *
ncs_export_rank_gpu(const struct ncs_export_rank *rank, uint64_t at_ns)
{
	size_t low = 0, high = rank->gpu_count;

	if (rank->gpu_count == 0)
		return NULL;
	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (rank->gpu[middle].told_ns < at_ns)
			low = middle + 1;
		else
			high = middle;
	}
	if (low == rank->gpu_count ||
	    (low > 0 && distance(rank->gpu[low - 1].told_ns, at_ns) <
				distance(rank->gpu[low].told_ns, at_ns)))
		low--;
	return &rank->gpu[low];
}

/* --- All of it ------------------------------------------------------------ */

int ncs_export_rank_learn(struct ncs_export_rank *rank,
			  const struct ncs_snapshot *snapshot)
{
	int error;

	take_identity(rank, &snapshot->identity);
	error = learn_ranges(rank, snapshot);
	return error ? error : learn_gpu(rank, &snapshot->gpu_clock);
}

void ncs_export_rank_span(const struct ncs_export_rank *rank,
			  const struct ncs_record *record, uint64_t *start_ns,
			  uint64_t *end_ns,
			  const struct ncs_gpu_reading **reading)
{
	bool is_kernel = record->event == NCS_EVENT_KERNEL_CH ||
			 record->event == NCS_EVENT_KERNEL_PHASE;

	*start_ns = ncs_clock_ns(&rank->clock, record->start);
	*end_ns = ncs_clock_ns(&rank->clock, record->start + record->duration);
	/* No record ends before it begins. */
	if (*end_ns < *start_ns)
		*end_ns = *start_ns;
	*reading = is_kernel && record->value != 0 ?
			   ncs_export_rank_gpu(rank, *start_ns) :
			   NULL;
	if (!*reading)
		return;
	*start_ns = record->value - (uint64_t)(*reading)->offset_ns;
	*end_ns = *start_ns + record->number;
	if (*end_ns < *start_ns)
		*end_ns = *start_ns;
}
