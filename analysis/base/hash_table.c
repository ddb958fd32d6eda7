/* SPDX-License-Identifier: MIT */
/* Rows of chained links; see hash_table.h. */
#include "analysis/base/hash_table.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "shm/hash.h"

#define FIRST_ROW_COUNT 64

static struct ncs_hash_link **row_of(const struct ncs_hash_table *table,
				     uint64_t hash)
{
	return &table->rows[hash & (table->row_count - 1)];
}

static void push(struct ncs_hash_table *table, struct ncs_hash_link *link)
{
	struct ncs_hash_link **row = row_of(table, link->hash);

	link->next = *row;
	*row = link;
}

/* Reverses a chain, so that pushing its links again keeps their order. */
static struct ncs_hash_link *reversed(struct ncs_hash_link *chain)
{
	struct ncs_hash_link *result = NULL;

	while (chain) {
		struct ncs_hash_link *next = chain->next;

		chain->next = result;
		result = chain;
		chain = next;
	}
	return result;
}

static int grow(struct ncs_hash_table *table)
{
	struct ncs_hash_table larger = {
		.row_count = table->row_count ? 2 * table->row_count :
						FIRST_ROW_COUNT,
		.count = table->count,
	};

	larger.rows = calloc(larger.row_count, sizeof(*larger.rows));
	if (!larger.rows)
		return -ENOMEM;
	for (size_t i = 0; i < table->row_count; i++) {
		struct ncs_hash_link *link = reversed(table->rows[i]), *next;

		for (; link; link = next) {
			next = link->next;
			push(&larger, link);
		}
	}
	free(table->rows);
	*table = larger;
	return 0;
}

int ncs_hash_table_insert(struct ncs_hash_table *table,
			  struct ncs_hash_link *link, uint64_t hash)
{
	if (table->count >= table->row_count && grow(table) != 0)
		return -ENOMEM;
	link->hash = hash;
	push(table, link);
	table->count++;
	return 0;
}

void *ncs_hash_table_add(struct ncs_hash_table *table, size_t bytes,
			 uint64_t hash)
{
	struct ncs_hash_link *item = calloc(1, bytes);

	if (item && ncs_hash_table_insert(table, item, hash) == 0)
		return item;
	free(item);
	return NULL;
}

void ncs_hash_table_remove(struct ncs_hash_table *table,
			   struct ncs_hash_link *link)
{
	struct ncs_hash_link **place = row_of(table, link->hash);

	while (*place != link)
		place = &(*place)->next;
	*place = link->next;
	table->count--;
}

static struct ncs_hash_link *with_hash(struct ncs_hash_link *link,
				       uint64_t hash)
{
	while (link && link->hash != hash)
		link = link->next;
	return link;
}

void *ncs_hash_table_first(const struct ncs_hash_table *table, uint64_t hash)
{
	return table->row_count ? with_hash(*row_of(table, hash), hash) : NULL;
}

void *ncs_hash_table_next(const void *item)
{
	const struct ncs_hash_link *link = item;

	return with_hash(link->next, link->hash);
}

uint64_t ncs_hash_of_name(const char *name, size_t length)
{
	uint64_t hash = length;

	while (length > 0) {
		size_t part = length < sizeof(hash) ? length : sizeof(hash);
		uint64_t word = 0;

		memcpy(&word, name, part);
		hash = ncs_hash_add(hash, word);
		name += part;
		length -= part;
	}
	return hash;
}

int ncs_hash_table_insert_name(struct ncs_hash_table *table,
			       struct ncs_name_link *item, const char *name)
{
	item->name = name;
	return ncs_hash_table_insert(table, &item->link,
				     ncs_hash_of_name(name, strlen(name)));
}

void *ncs_hash_table_find_name(const struct ncs_hash_table *table,
			       const char *name, size_t length)
{
	struct ncs_name_link *item =
		ncs_hash_table_first(table, ncs_hash_of_name(name, length));

	while (item && (strlen(item->name) != length ||
			memcmp(item->name, name, length) != 0))
		item = ncs_hash_table_next(item);
	return item;
}

void ncs_hash_table_sweep(struct ncs_hash_table *table,
			  bool (*keeps)(const void *item, uint64_t argument),
			  uint64_t argument)
{
	for (size_t i = 0; i < table->row_count; i++) {
		struct ncs_hash_link **place = &table->rows[i], *link;

		while ((link = *place)) {
			if (keeps && keeps(link, argument)) {
				place = &link->next;
				continue;
			}
			*place = link->next;
			table->count--;
			free(link);
		}
	}
}

void ncs_hash_table_release(struct ncs_hash_table *table)
{
	free(table->rows);
	*table = (struct ncs_hash_table){ 0 };
}
