/* SPDX-License-Identifier: MIT */
/* Hoare's quickselect; see selection.h. */
#include "analysis/base/selection.h"

/* Defines the function for one type. After each round the values up to `k` are
 * at most the pivot, those from `i` on are at least the pivot, and those
 * between equal it. */
#define DEFINE_SELECT(name, type) \
	type name(type *values, size_t count, size_t place) \
	{ \
		size_t low = 0, high = count - 1; \
\
		while (low < high) { \
			type pivot = values[low + (high - low) / 2]; \
			size_t i = low, k = high; \
\
			while (i <= k) { \
				while (values[i] < pivot) \
					i++; \
				while (values[k] > pivot) \
					k--; \
				if (i <= k) { \
					type value = values[i]; \
\
					values[i++] = values[k]; \
					values[k] = value; \
					if (k == 0) \
						break; \
					k--; \
				} \
			} \
			if (place <= k) \
				high = k; \
			else if (place >= i) \
				low = i; \
			else \
				break; \
		} \
		return values[place]; \
	}

/* clang-format off */
DEFINE_SELECT(ncs_select, double)
static DEFINE_SELECT(select_u64, uint64_t)
/* clang-format on */

uint64_t ncs_percentile_of_values(uint64_t *values, size_t count,
				  unsigned percent)
{
	if (count == 0)
		return 0;
	return select_u64(values, count, (count * percent + 99) / 100 - 1);
}
