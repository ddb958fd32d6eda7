/* SPDX-License-Identifier: MIT */
/* Counters that never fall; see metric_writer.h. */
#include "analysis/metrics/metric_writer.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "shm/hash.h"

/* The contribution of one segment to a counter. */
struct ncs_counter_part {
	struct ncs_hash_link link;
	const struct ncs_counter *counter;
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

struct ncs_counter *ncs_counter_of(struct ncs_counter_store *store,
				   unsigned metric, const char *labels)
{
	uint64_t hash = hash_of(metric, labels);
	struct ncs_hash_link *link =
		ncs_hash_table_first(&store->counters, hash);
	size_t bytes = strlen(labels) + 1;
	struct ncs_counter *counter;

	for (; link; link = ncs_hash_table_next(link)) {
		counter = NCS_HASH_ITEM(link, struct ncs_counter, link);
		if (counter->metric == metric &&
		    strcmp(counter->labels, labels) == 0)
			return counter;
	}
	counter = calloc(1, sizeof(*counter) + bytes);
	if (!counter || ncs_hash_table_insert(&store->counters, &counter->link,
					      hash) != 0) {
		free(counter);
		return NULL;
	}
	counter->metric = metric;
	memcpy(counter->labels, labels, bytes);
	return counter;
}

/* Returns the part of a segment, adding it if it is new; NULL if there is no
 * memory. */
static struct ncs_counter_part *part_of(struct ncs_counter_store *store,
					const struct ncs_counter *counter,
					uint32_t serial)
{
	uint64_t hash = ncs_hash_add(counter->link.hash, serial);
	struct ncs_hash_link *link = ncs_hash_table_first(&store->parts, hash);
	struct ncs_counter_part *part;

	for (; link; link = ncs_hash_table_next(link)) {
		part = NCS_HASH_ITEM(link, struct ncs_counter_part, link);
		if (part->counter == counter && part->serial == serial)
			return part;
	}
	part = calloc(1, sizeof(*part));
	if (!part ||
	    ncs_hash_table_insert(&store->parts, &part->link, hash) != 0) {
		free(part);
		return NULL;
	}
	part->counter = counter;
	part->serial = serial;
	return part;
}

int ncs_counter_contribute(struct ncs_counter_store *store,
			   struct ncs_counter *counter, uint32_t serial,
			   const uint64_t *values, size_t count)
{
	struct ncs_counter_part *part = part_of(store, counter, serial);

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

static bool is_part_of(struct ncs_hash_link *link, uint64_t pass)
{
	return NCS_HASH_ITEM(link, struct ncs_counter_part, link)->pass == pass;
}

static bool is_counted_in(struct ncs_hash_link *link, uint64_t pass)
{
	return NCS_HASH_ITEM(link, struct ncs_counter, link)->pass == pass;
}

void ncs_counters_end(struct ncs_counter_store *store)
{
	ncs_hash_table_sweep(&store->parts, is_part_of, store->pass);
	ncs_hash_table_sweep(&store->counters, is_counted_in, store->pass);
}

void ncs_counters_release(struct ncs_counter_store *store)
{
	ncs_hash_table_sweep(&store->parts, NULL, 0);
	ncs_hash_table_sweep(&store->counters, NULL, 0);
	ncs_hash_table_release(&store->parts);
	ncs_hash_table_release(&store->counters);
	memset(store, 0, sizeof(*store));
}
