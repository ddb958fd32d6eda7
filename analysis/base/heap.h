/* SPDX-License-Identifier: MIT */
/* A priority queue of pointers: a binary heap, the first item on top.
 *
 * The caller says which of two items comes before the other; it must be the
 * same function in every call. Items stay the caller's. A heap of zeros is
 * empty. Inline, so that the comparison is, too. Not thread-safe.
 */
#ifndef NCS_ANALYSIS_BASE_HEAP_H
#define NCS_ANALYSIS_BASE_HEAP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdlib.h>

#include "shm/array.h"

struct ncs_heap {
	void **items; /* items[0] is the first */
	size_t count, capacity;
};

/* Returns true if item `left` comes before item `right`; false for equal
 * items. */
typedef bool ncs_heap_before(const void *left, const void *right);

/* Adds an item. Returns 0, or -ENOMEM; then nothing changed. */
static inline int ncs_heap_push(struct ncs_heap *heap, void *item,
				ncs_heap_before *before)
{
	size_t place = heap->count;

	if (ncs_array_reserve(&heap->items, &heap->capacity, heap->count + 1,
			      sizeof(*heap->items)) != 0)
		return -ENOMEM;
	heap->count++;
	while (place > 0 && before(item, heap->items[(place - 1) / 2])) {
		heap->items[place] = heap->items[(place - 1) / 2];
		place = (place - 1) / 2;
	}
	heap->items[place] = item;
	return 0;
}

/* Removes the first item and returns it, or NULL if there is none. */
static inline void *ncs_heap_pop(struct ncs_heap *heap, ncs_heap_before *before)
{
	size_t place = 0, child;
	void *first, *last;

	if (heap->count == 0)
		return NULL;
	first = heap->items[0];
	last = heap->items[--heap->count];
	while ((child = 2 * place + 1) < heap->count) {
		if (child + 1 < heap->count &&
		    before(heap->items[child + 1], heap->items[child]))
			child++;
		if (!before(heap->items[child], last))
			break;
		heap->items[place] = heap->items[child];
		place = child;
	}
	if (heap->count > 0)
		heap->items[place] = last;
	return first;
}

/* Frees the heap's memory. Items that are in it stay the caller's. */
static inline void ncs_heap_release(struct ncs_heap *heap)
{
	free(heap->items);
	*heap = (struct ncs_heap){ 0 };
}

#endif
