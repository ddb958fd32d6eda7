/* SPDX-License-Identifier: MIT */
/* Orders, which a head writes to the standard input of its agents: lines that
 * begin with a word, each also a sign that the head lives.
 *
 *	pack                   looks may be packed
 *	digest                 ranks that are level may have digests
 *	state RECORDING RANK   this rank shall not, for NCS_ORDER_STATE_NS
 *
 * RECORDING is the number of a stream, 16 hexadecimal digits, so that the same
 * bytes may reach any number of agents; RANK is decimal. An order of states is
 * written again before its time is over, so that none outlives a head, a view or
 * a connection. Agents leave out lines that they do not know; heads know nothing
 * of what an agent did with them. Not thread-safe.
 */
#ifndef NCS_FLEET_LAUNCH_ORDERS_H
#define NCS_FLEET_LAUNCH_ORDERS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The reader unpacks looks: chunks "pack" of ncclstat-record(5). */
#define NCS_ORDER_PACK "pack"

/* The reader takes digests in the place of states of ranks that are level:
 * chunks "digest" of ncclstat-record(5). */
#define NCS_ORDER_DIGEST "digest"

/* The reader shows details of a rank. */
#define NCS_ORDER_STATE "state"

/* How long such an order holds, and how often heads write it. */
#define NCS_ORDER_STATE_NS UINT64_C(6000000000)
#define NCS_ORDER_STATE_EVERY_NS UINT64_C(2000000000)

/* Ranks that are ordered at once; another one takes the place of the one whose
 * order ends first. */
#define NCS_ORDER_STATES_MAX 64u

/* Room for any line, with its end and a 0. */
#define NCS_ORDER_BYTES 64u

struct ncs_order_state {
	uint64_t recording;
	uint32_t rank;
	uint64_t until_ns; /* CLOCK_MONOTONIC */
};

/* One of zeros has got none. */
struct ncs_orders {
	bool packs;
	bool digests;
	struct ncs_order_state states[NCS_ORDER_STATES_MAX];
	size_t state_count;
	uint64_t ignored; /* lines that are no orders; empty ones are not counted */
	/* The line that is coming; longer ones are left out. */
	char line[NCS_ORDER_BYTES];
	size_t used;
};

/* Takes the next bytes, at now_ns (CLOCK_MONOTONIC). */
void ncs_orders_take(struct ncs_orders *orders, const char *bytes, size_t size,
		     uint64_t now_ns);

/* Whether the state of a rank is ordered. */
bool ncs_orders_want_state(const struct ncs_orders *orders, uint64_t recording,
			   uint32_t rank, uint64_t now_ns);

/* Forgets orders whose time is over. */
void ncs_orders_expire(struct ncs_orders *orders, uint64_t now_ns);

/* Writes the line that orders a state, with its end. Returns its length. */
size_t ncs_order_state_print(char line[NCS_ORDER_BYTES], uint64_t recording,
			     uint32_t rank);

#endif
