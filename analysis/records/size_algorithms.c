/* SPDX-License-Identifier: MIT */
/* Finding an operation's algorithm by its size; see size_algorithms.h. Must not
 * trust snapshots.
 */
#include "analysis/records/size_algorithms.h"

#include <string.h>

#include "ncclstat/size_class.h"

static void add(struct ncs_size_algorithm *known,
		const struct ncs_class_view *view)
{
	if (!known->is_used)
		*known = (struct ncs_size_algorithm){ true,
						      (uint8_t)view->algorithm,
						      (uint8_t)view->protocol };
	if (known->algorithm != view->algorithm)
		known->algorithm = NCS_CLASS_OTHER;
	if (known->protocol != view->protocol)
		known->protocol = NCS_CLASS_OTHER;
}

void ncs_size_algorithms_learn(struct ncs_size_algorithms *algorithms,
			       const struct ncs_snapshot *snapshot)
{
	memset(algorithms, 0, sizeof(*algorithms));
	for (size_t i = 0; i < snapshot->class_count; i++) {
		const struct ncs_class_view *view = &snapshot->classes[i];
		struct ncs_size_algorithm *sizes;

		if (view->operations == 0 ||
		    view->function >= NCS_FUNCTION_COUNT)
			continue;
		sizes = algorithms->of[view->function];
		if (view->size_class < NCS_SIZE_CLASS_COUNT) {
			add(&sizes[view->size_class], view);
			continue;
		}
		/* Operations that found no class of their own may have any
		 * size. */
		for (unsigned k = 0; k < NCS_SIZE_CLASS_COUNT; k++)
			add(&sizes[k], view);
	}
}

struct ncs_size_algorithm
ncs_size_algorithms_find(const struct ncs_size_algorithms *algorithms,
			 unsigned function, uint64_t bytes)
{
	const struct ncs_size_algorithm *known =
		&algorithms->of[function][ncs_size_class(bytes)];

	return known->is_used ?
		       *known :
		       (struct ncs_size_algorithm){ false, NCS_CLASS_OTHER,
						    NCS_CLASS_OTHER };
}
