/* SPDX-License-Identifier: MIT */
/* Counters that never fall; see metric_writer.h. */
#include "analysis/metrics/metric_writer.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "shm/array.h"
#include "shm/hash.h"

/* The contribution of one segment to a counter. */
struct ncs_counter_part {
	struct ncs_hash_link link;
	struct ncs_counter *counter;
	uint32_t serial;
	uint64_t pass;
	uint64_t greatest[NCS_COUNTER_VALUES_MAX];
	uint64_t now[NCS_COUNTER_VALUES_MAX]; /* sums of this pass */
};

static uint64_t hash_of(unsigned metric, const char *labels)
{
	size_t length = strlen(labels);
	uint64_t hash = ncs_hash(metric), word;

	for (; length >= sizeof(word); length -= sizeof(word)) {
		memcpy(&word, labels, sizeof(word));
		hash = ncs_hash_add(hash, word);
		labels += sizeof(word);
	}
	word = length;
	memcpy(&word, labels, length);
	return ncs_hash_add(hash, word);
}

void ncs_counters_begin(struct ncs_counter_store *store)
{
	store->pass++;
}

struct ncs_counter *ncs_counter_find(const struct ncs_counter_store *store,
				     unsigned metric, const char *labels)
{
	struct ncs_hash_link *link;

	if (store->counters.count == 0)
		return NULL;
	link = ncs_hash_table_first(&store->counters, hash_of(metric, labels));
	for (; link; link = ncs_hash_table_next(link)) {
		struct ncs_counter *counter =
			NCS_HASH_ITEM(link, struct ncs_counter, link);

		if (counter->metric == metric &&
		    strcmp(counter->labels, labels) == 0)
			return counter;
	}
	return NULL;
}

struct ncs_counter *ncs_counter_add(struct ncs_counter_store *store,
				    unsigned metric, const char *labels)
{
	size_t bytes = strlen(labels) + 1;
	struct ncs_counter *counter = calloc(1, sizeof(*counter) + bytes);

	if (!counter)
		return NULL;
	counter->metric = metric;
	memcpy(counter->labels, labels, bytes);
	if (ncs_array_reserve(&store->all, &store->all_capacity,
			      store->all_count + 1,
			      sizeof(struct ncs_counter *)) != 0 ||
	    ncs_hash_table_insert(&store->counters, &counter->link,
				  hash_of(metric, labels)) != 0) {
		free(counter);
		return NULL;
	}
	store->all[store->all_count++] = counter;
	return counter;
}

static struct ncs_counter_part *find_part(const struct ncs_counter_store *store,
					  const struct ncs_counter *counter,
					  uint32_t serial, uint64_t hash)
{
	struct ncs_hash_link *link;

	if (store->parts.count == 0)
		return NULL;
	link = ncs_hash_table_first(&store->parts, hash);
	for (; link; link = ncs_hash_table_next(link)) {
		struct ncs_counter_part *part =
			NCS_HASH_ITEM(link, struct ncs_counter_part, link);

		if (part->counter == counter && part->serial == serial)
			return part;
	}
	return NULL;
}

static struct ncs_counter_part *add_part(struct ncs_counter_store *store,
					 struct ncs_counter *counter,
					 uint32_t serial, uint64_t hash)
{
	struct ncs_counter_part *part = calloc(1, sizeof(*part));

	if (!part)
		return NULL;
	part->counter = counter;
	part->serial = serial;
	if (ncs_array_reserve(&store->all_parts, &store->part_capacity,
			      store->part_count + 1,
			      sizeof(struct ncs_counter_part *)) != 0 ||
	    ncs_hash_table_insert(&store->parts, &part->link, hash) != 0) {
		free(part);
		return NULL;
	}
	store->all_parts[store->part_count++] = part;
	return part;
}

int ncs_counter_contribute(struct ncs_counter_store *store,
			   struct ncs_counter *counter, uint32_t serial,
			   const uint64_t *values, size_t count)
{
	uint64_t hash = ncs_hash_add(counter->link.hash, serial);
	struct ncs_counter_part *part =
		find_part(store, counter, serial, hash);

	if (!part)
		part = add_part(store, counter, serial, hash);
	if (!part)
		return -ENOMEM;
	if (part->pass != store->pass)
		memset(part->now, 0, sizeof(part->now));
	part->pass = store->pass;
	counter->pass = store->pass;
	for (size_t i = 0; i < count; i++) {
		part->now[i] += values[i];
		if (part->now[i] <= part->greatest[i])
			continue;
		counter->values[i] += part->now[i] - part->greatest[i];
		part->greatest[i] = part->now[i];
	}
	return 0;
}

void ncs_counters_end(struct ncs_counter_store *store)
{
	size_t kept = 0;

	for (size_t i = 0; i < store->part_count; i++) {
		struct ncs_counter_part *part = store->all_parts[i];

		if (part->pass == store->pass) {
			store->all_parts[kept++] = part;
			continue;
		}
		ncs_hash_table_remove(&store->parts, &part->link);
		free(part);
	}
	store->part_count = kept;
	kept = 0;
	for (size_t i = 0; i < store->all_count; i++) {
		struct ncs_counter *counter = store->all[i];

		if (counter->pass == store->pass) {
			store->all[kept++] = counter;
			continue;
		}
		ncs_hash_table_remove(&store->counters, &counter->link);
		free(counter);
	}
	store->all_count = kept;
}

void ncs_counters_release(struct ncs_counter_store *store)
{
	for (size_t i = 0; i < store->part_count; i++)
		free(store->all_parts[i]);
	for (size_t i = 0; i < store->all_count; i++)
		free(store->all[i]);
	free(store->all_parts);
	free(store->all);
	ncs_hash_table_release(&store->parts);
	ncs_hash_table_release(&store->counters);
	memset(store, 0, sizeof(*store));
}
