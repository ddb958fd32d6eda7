/* SPDX-License-Identifier: MIT */
/* Copies classes and histograms; see reader_internal.h. A mapping is hostile
 * input: no number in it is used as an index before it was checked. */
#include "shm/read/reader_internal.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "shm/array.h"
#include "shm/atomics.h"

/* Returns the number of classes to allocate: each function has a class of its
 * own even if the segment has no table of classes. */
static size_t class_room(const struct ncs_header *header)
{
	return header->classes.count > NCS_FUNCTION_MAX ?
		       header->classes.count :
		       NCS_FUNCTION_MAX;
}

int ncs_classes_init(struct ncs_snapshot *snapshot,
		     const struct ncs_header *header)
{
	snapshot->classes =
		calloc(class_room(header), sizeof(*snapshot->classes));
	return snapshot->classes ? 0 : -ENOMEM;
}

void ncs_classes_release(struct ncs_snapshot *snapshot)
{
	for (size_t i = 0; i < NCS_FUNCTION_COUNT; i++)
		for (size_t k = 0; k < NCS_TIMING_COUNT; k++)
			free(snapshot->functions[i].histogram[k]);
	free(snapshot->classes);
	free(snapshot->class_buckets);
}

/* --- Classes ----------------------------------------------------------- */

static void take_class(struct ncs_class_view *view,
		       const struct ncs_class *class)
{
	/* ORDER: pairs with claim() (plugin/state/class.c): the key is stored
	 * before any count. */
	uint64_t key = ncs_load_acquire(&class->key);

	if (key == 0)
		return;
	view->function = NCS_CLASS_KEY_FUNCTION(key) < NCS_FUNCTION_COUNT ?
				 NCS_CLASS_KEY_FUNCTION(key) :
				 NCS_FUNCTION_OTHER;
	view->size_class = NCS_CLASS_KEY_SIZE(key) < NCS_SIZE_CLASS_COUNT ?
				   NCS_CLASS_KEY_SIZE(key) :
				   NCS_CLASS_OTHER;
	view->algorithm = NCS_CLASS_KEY_ALGORITHM(key);
	view->protocol = NCS_CLASS_KEY_PROTOCOL(key);
	view->operations = ncs_load_relaxed(&class->operations);
}

/* The function of a class that is not in use. */
#define UNUSED NCS_FUNCTION_COUNT

/* Copies the table of classes. Functions' own classes, the first ones, are in
 * use without a key. */
static void take_table(struct ncs_snapshot *snapshot,
		       const struct ncs_reader *reader)
{
	const struct ncs_table *table = &reader->header.classes;

	snapshot->class_count = class_room(&reader->header);
	for (size_t i = 0; i < snapshot->class_count; i++) {
		struct ncs_class_view *view = &snapshot->classes[i];

		*view = (struct ncs_class_view){
			.function = i < NCS_FUNCTION_COUNT ? (unsigned)i :
							     UNUSED,
			.size_class = NCS_CLASS_OTHER,
			.algorithm = NCS_CLASS_OTHER,
			.protocol = NCS_CLASS_OTHER,
		};
		if (i < table->count)
			take_class(view, ncs_reader_entry(reader, table, i));
	}
}

/* None of the four needs more than 8 bits. */
static uint32_t order_of(const struct ncs_class_view *view)
{
	return view->function << 24 | view->size_class << 16 |
	       view->algorithm << 8 | view->protocol;
}

static int compare(const void *left, const void *right)
{
	uint32_t a = order_of(left), b = order_of(right);

	return (a > b) - (a < b);
}

static bool has_times(const struct ncs_class_view *view)
{
	for (size_t i = 0; i < NCS_TIMING_COUNT; i++)
		if (view->times[i].count > 0)
			return true;
	return false;
}

static void drop_unused(struct ncs_snapshot *snapshot)
{
	size_t kept = 0;

	for (size_t i = 0; i < snapshot->class_count; i++) {
		const struct ncs_class_view *view = &snapshot->classes[i];

		if (view->operations > 0 || has_times(view))
			snapshot->classes[kept++] = *view;
	}
	snapshot->class_count = kept;
	qsort(snapshot->classes, kept, sizeof(*snapshot->classes), compare);
}

/* --- Histograms -------------------------------------------------------- */

/* Appends `count` words to the snapshot's class_buckets. Returns the first of
 * them, or NULL if there is no memory. */
static uint64_t *append(struct ncs_snapshot *snapshot, size_t count)
{
	size_t total = snapshot->class_bucket_count + count;

	if (ncs_array_reserve(&snapshot->class_buckets,
			      &snapshot->class_bucket_capacity, total,
			      sizeof(*snapshot->class_buckets)) != 0)
		return NULL;
	snapshot->class_bucket_count = total;
	return &snapshot->class_buckets[total - count];
}

/* Returns the histogram of a function over all its classes, allocated at its
 * first use; NULL if there is no memory. */
static uint64_t *function_histogram(struct ncs_snapshot *snapshot,
				    unsigned function, unsigned timing)
{
	uint64_t **histogram = &snapshot->functions[function].histogram[timing];

	if (!*histogram)
		*histogram = calloc(NCS_HISTOGRAM_BUCKETS, sizeof(**histogram));
	return *histogram;
}

static void take_histogram(struct ncs_snapshot *snapshot,
			   struct ncs_class_view *view, unsigned timing,
			   const struct ncs_histogram *histogram)
{
	struct ncs_class_times *times = &view->times[timing];
	uint64_t *sum = function_histogram(snapshot, view->function, timing);
	uint64_t first = ncs_load_relaxed(&histogram->first);
	uint64_t end = ncs_load_relaxed(&histogram->end);
	uint64_t *buckets;

	ncs_histogram_bounds(&first, &end);
	times->first = (unsigned)first;
	times->count = (unsigned)(end - first);
	buckets = append(snapshot, times->count);
	if (!sum || !buckets) {
		times->count = 0;
		return;
	}
	times->place = (size_t)(buckets - snapshot->class_buckets);
	for (unsigned i = 0; i < times->count; i++) {
		buckets[i] =
			ncs_load_relaxed(&histogram->buckets[times->first + i]);
		sum[times->first + i] += buckets[i];
		times->timed += buckets[i];
	}
	times->time_ns = ncs_load_relaxed(&histogram->time_ns);
	times->bytes = ncs_load_relaxed(&histogram->bytes);
	times->longest_ns = ncs_load_relaxed(&histogram->longest_ns);
}

static void clear_functions(struct ncs_snapshot *snapshot)
{
	for (size_t i = 0; i < NCS_FUNCTION_COUNT; i++)
		for (size_t k = 0; k < NCS_TIMING_COUNT; k++)
			if (snapshot->functions[i].histogram[k])
				memset(snapshot->functions[i].histogram[k], 0,
				       NCS_HISTOGRAM_BUCKETS *
					       sizeof(uint64_t));
}

void ncs_classes_take(struct ncs_snapshot *snapshot,
		      const struct ncs_reader *reader)
{
	const struct ncs_table *table = &reader->header.histograms;

	take_table(snapshot, reader);
	clear_functions(snapshot);
	snapshot->class_bucket_count = 0;
	for (size_t i = 0; i < table->count; i++) {
		const struct ncs_histogram *histogram =
			ncs_reader_entry(reader, table, i);
		/* ORDER: pairs with claim() (plugin/state/class.c): the key is
		 * stored before any count. */
		uint64_t key = ncs_load_acquire(&histogram->key);
		uint32_t index = NCS_HISTOGRAM_KEY_CLASS(key);
		unsigned timing = NCS_HISTOGRAM_KEY_TIMING(key);

		if (key == 0)
			break; /* those in use come first */
		/* A class may have been claimed after the table was copied. */
		if (index < snapshot->class_count &&
		    snapshot->classes[index].function != UNUSED &&
		    timing < NCS_TIMING_COUNT)
			take_histogram(snapshot, &snapshot->classes[index],
				       timing, histogram);
	}
	drop_unused(snapshot);
}
