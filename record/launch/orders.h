/* SPDX-License-Identifier: MIT */
/* Orders, which a head writes to the standard input of its agents: lines of one
 * word, each also a sign that the head lives. Agents leave out words that they
 * do not know; heads know nothing of what an agent did with them. Not
 * thread-safe.
 */
#ifndef NCS_RECORD_LAUNCH_ORDERS_H
#define NCS_RECORD_LAUNCH_ORDERS_H

#include <stdbool.h>
#include <stddef.h>

/* The reader unpacks looks: chunks "pack" of ncclstat-record(5). */
#define NCS_ORDER_PACK "pack"

/* The reader takes digests in the place of states of ranks that are level:
 * chunks "digest" of ncclstat-record(5). */
#define NCS_ORDER_DIGEST "digest"

/* One of zeros has got none. */
struct ncs_orders {
	bool packs;
	bool digests;
	/* The line that is coming; longer ones are left out. */
	char line[64];
	size_t used;
};

/* Takes the next bytes. */
void ncs_orders_take(struct ncs_orders *orders, const char *bytes, size_t size);

#endif
