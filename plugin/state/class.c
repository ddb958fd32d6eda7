/* SPDX-License-Identifier: MIT */
/* The class and histogram tables; see class.h. */
#include "plugin/state/class.h"

#include "shm/hash.h"

/* Number of entries that are searched for a class. */
#define PROBE_MAX 16

/* Claims an entry for a key. Returns true if the entry now has this key. */
static bool claim(uint64_t *word, uint64_t key)
{
	uint64_t found = ncs_load_relaxed(word);

	if (found == key)
		return true;
	/* ORDER: pairs with claim() (plugin/state/class.c): only one of two
	 * threads gets the entry; and with ncs_classes_take()
	 * (shm/read/class_reader.c): the key is visible before any count. */
	if (found == 0 && ncs_cas_acquire_release(word, 0, key))
		return true;
	return ncs_load_relaxed(word) == key;
}

static uint16_t find(struct ncs_comm *comm, uint64_t key)
{
	uint32_t mask = comm->class_count - NCS_FUNCTION_MAX - 1;
	uint64_t hash = ncs_hash(key);

	for (unsigned i = 0; i < PROBE_MAX && i <= mask; i++) {
		uint32_t index =
			NCS_FUNCTION_MAX + ((uint32_t)(hash + i) & mask);

		if (claim(&comm->classes[index].key, key))
			return (uint16_t)index;
	}
	return NCS_CLASS_KEY_FUNCTION(key);
}

uint16_t ncs_class_count(struct ncs_comm *comm,
			 const struct ncs_operation_facts *facts,
			 bool size_known, uint64_t bytes)
{
	unsigned size = size_known ? ncs_size_class(bytes) :
				     NCS_SIZE_CLASS_UNKNOWN;
	uint16_t index =
		find(comm, NCS_CLASS_KEY(facts->function, size,
					 facts->algorithm, facts->protocol));

	ncs_add_relaxed(&comm->classes[index].operations, 1);
	return index;
}

/* A quarter of the histograms is reserved for functions. */
static struct ncs_histogram *
claim_histogram(struct ncs_comm *comm, unsigned index, enum ncs_timing timing)
{
	uint64_t *known = &comm->histogram_of[index][timing];
	uint64_t key = NCS_HISTOGRAM_KEY(index, timing);
	uint64_t place = ncs_load_relaxed(known);
	uint32_t room = comm->histogram_count;

	if (place != 0)
		return place > room ? NULL : &comm->histograms[place - 1];
	if (index >= NCS_FUNCTION_MAX)
		room -= room / 4;
	for (place = 1; place <= room; place++)
		if (claim(&comm->histograms[place - 1].key, key))
			break;
	if (place > room)
		place = comm->histogram_count + 1; /* never available */
	ncs_store_relaxed(known, place);
	return place > room ? NULL : &comm->histograms[place - 1];
}

struct ncs_histogram *ncs_class_histogram(struct ncs_comm *comm,
					  uint16_t class_index,
					  uint8_t function,
					  enum ncs_timing timing)
{
	struct ncs_histogram *histogram =
		claim_histogram(comm, class_index, timing);

	return histogram ? histogram : claim_histogram(comm, function, timing);
}

static void raise(uint64_t *word, uint64_t value)
{
	uint64_t before = ncs_load_relaxed(word);

	/* ORDER: pairs with raise() (plugin/state/class.c): the larger of two
	 * values stays. */
	while (before < value && !ncs_cas_acquire_release(word, before, value))
		before = ncs_load_relaxed(word);
}

static void lower(uint64_t *word, uint64_t value)
{
	uint64_t before = ncs_load_relaxed(word);

	/* ORDER: pairs with lower() (plugin/state/class.c): the smaller of two
	 * values stays; 0 is no value. */
	while ((before == 0 || before > value) &&
	       !ncs_cas_acquire_release(word, before, value))
		before = ncs_load_relaxed(word);
}

/* Widens the range of used buckets first, so that readers, which read only that
 * range, do not miss the bucket for long. */
static void count(struct ncs_histogram *histogram, uint64_t ns)
{
	unsigned bucket = ncs_histogram_bucket(ns);

	lower(&histogram->first, bucket + 1);
	raise(&histogram->end, bucket + 1);
	raise(&histogram->longest_ns, ns);
	ncs_add_relaxed(&histogram->buckets[bucket], 1);
}

void ncs_class_add_time(struct ncs_histogram *histogram, uint64_t ns,
			uint64_t bytes)
{
	count(histogram, ns);
	ncs_add_relaxed(&histogram->time_ns, ns);
	ncs_add_relaxed(&histogram->bytes, bytes);
}

void ncs_class_change_time(struct ncs_histogram *histogram, uint64_t before_ns,
			   uint64_t ns)
{
	ncs_add_relaxed(&histogram->buckets[ncs_histogram_bucket(before_ns)],
			UINT64_MAX);
	count(histogram, ns);
	ncs_add_relaxed(&histogram->time_ns, ns - before_ns);
}
