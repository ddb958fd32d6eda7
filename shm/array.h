/* SPDX-License-Identifier: MIT */
/* Growing arrays: a pointer, a capacity, and a count that the caller keeps.
 *
 * An array begins as NULL with capacity 0 and is released with free(). Not for
 * the plugin's callbacks: it allocates.
 */
#ifndef NCS_SHM_ARRAY_H
#define NCS_SHM_ARRAY_H

#include <errno.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/* Makes room for `needed` items of `item_bytes` each. `array` is the address of
 * the array's pointer. Capacity at least doubles, so that adding items one by
 * one takes linear time. Returns 0, or -ENOMEM with the array unchanged. */
static inline int ncs_array_reserve(void *array, size_t *capacity,
				    size_t needed, size_t item_bytes)
{
	size_t larger = *capacity < 4 ? 8 : *capacity;
	void *items;

	if (needed <= *capacity)
		return 0;
	if (needed > SIZE_MAX / 2 / item_bytes)
		return -ENOMEM;
	while (larger < needed)
		larger *= 2;
	/* Any object pointer has the representation of a void pointer on the
	 * machines we build for; memcpy() keeps to the aliasing rules. */
	memcpy(&items, array, sizeof(items));
	items = realloc(items, larger * item_bytes);
	if (!items)
		return -ENOMEM;
	memcpy(array, &items, sizeof(items));
	*capacity = larger;
	return 0;
}

/* Same as ncs_array_reserve(), and fills the new room with zeros. */
static inline int ncs_array_reserve_zeroed(void *array, size_t *capacity,
					   size_t needed, size_t item_bytes)
{
	size_t before = *capacity;
	int error = ncs_array_reserve(array, capacity, needed, item_bytes);
	char *items;

	if (error != 0 || *capacity == before)
		return error;
	memcpy(&items, array, sizeof(items));
	memset(items + before * item_bytes, 0,
	       (*capacity - before) * item_bytes);
	return 0;
}

#endif
