/* SPDX-License-Identifier: MIT */
/* A hash table whose links lie in the caller's items: each item's first member is
 * its link.
 *
 * The caller computes the hash (shm/hash.h), owns the items, and compares keys:
 *
 *	item = ncs_hash_table_first(&table, hash);
 *	for (; item; item = ncs_hash_table_next(item))
 *		if (item->key == key)
 *			...
 *
 * A table of zeros is empty. Items that are inserted later are found first.
 * Adding and removing an item takes constant time and no memory of its own
 * besides the table's rows. Chains hold few items as long as hashes differ;
 * uthash would add 56 bytes an item and its own hash function.
 * Not thread-safe.
 */
#ifndef NCS_ANALYSIS_BASE_HASH_TABLE_H
#define NCS_ANALYSIS_BASE_HASH_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct ncs_hash_link {
	struct ncs_hash_link *next;
	uint64_t hash;
};

struct ncs_hash_table {
	struct ncs_hash_link **rows;
	size_t row_count; /* 0, or a power of two */
	size_t count;     /* of items */
};

/* Inserts an item by its link. Returns 0, or -ENOMEM; then nothing changed. */
int ncs_hash_table_insert(struct ncs_hash_table *table,
			  struct ncs_hash_link *link, uint64_t hash);

/* Inserts a new item of so many bytes, all of them 0 but for its link, and returns
 * it; NULL if there is no memory. Free it with free(3), once it is removed. */
void *ncs_hash_table_add(struct ncs_hash_table *table, size_t bytes,
			 uint64_t hash);

/* Removes an item that is in the table. */
void ncs_hash_table_remove(struct ncs_hash_table *table,
			   struct ncs_hash_link *link);

/* Returns the first item with this hash, or NULL if there is none. */
void *ncs_hash_table_first(const struct ncs_hash_table *table, uint64_t hash);

/* Returns the next item with the same hash, or NULL if there is none. */
void *ncs_hash_table_next(const void *item);

/* Returns the hash of a name of `length` bytes, for one run of the program. */
uint64_t ncs_hash_of_name(const char *name, size_t length);

/* The link of an item that is found by its name, which stays where it is. */
struct ncs_name_link {
	struct ncs_hash_link link; /* the first member */
	const char *name;
};

/* Inserts an item by its name. Returns 0, or -ENOMEM; then nothing changed. */
int ncs_hash_table_insert_name(struct ncs_hash_table *table,
			       struct ncs_name_link *item, const char *name);

/* Returns the item with this name, of `length` bytes, or NULL if there is none. */
void *ncs_hash_table_find_name(const struct ncs_hash_table *table,
			       const char *name, size_t length);

/* Removes and frees all items, or those for which `keeps` returns false. Each
 * was allocated by malloc(3). */
void ncs_hash_table_sweep(struct ncs_hash_table *table,
			  bool (*keeps)(const void *item, uint64_t argument),
			  uint64_t argument);

/* Frees the rows. The items stay the caller's; the table is then empty. */
void ncs_hash_table_release(struct ncs_hash_table *table);

#endif
