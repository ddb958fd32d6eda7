/* SPDX-License-Identifier: MIT */
/* Orders, which a head writes to the standard input of its agents: lines, each
 * also a sign that the head lives.
 *
 *	pack    looks may be packed
 *
 * Agents leave out lines that they do not know; heads know nothing of what an
 * agent did with them. Not thread-safe.
 */
#ifndef NCS_FLEET_LAUNCH_ORDERS_H
#define NCS_FLEET_LAUNCH_ORDERS_H

#include <stdbool.h>
#include <stddef.h>

/* The reader unpacks looks: chunks "pack" of ncclstat-record(5). */
#define NCS_ORDER_PACK "pack"

/* Room for any line, with its end and a 0. */
#define NCS_ORDER_BYTES 64u

/* One of zeros has got none. */
struct ncs_orders {
	bool packs;
	/* The line that is coming; longer ones are left out. */
	char line[NCS_ORDER_BYTES];
	size_t used;
};

/* Takes the next bytes. */
void ncs_orders_take(struct ncs_orders *orders, const char *bytes, size_t size);

#endif
