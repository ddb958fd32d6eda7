/* SPDX-License-Identifier: MIT */
/* Reads the orders of a head, in which any bytes may be; see orders.h. */
#include "fleet/launch/orders.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#define HEX_DIGITS 16u

/* --- States ---------------------------------------------------------------- */

/* Returns the place for an order of this rank: where it is, or where there is
 * none, or that of the one that ends first. */
static struct ncs_order_state *place_of(struct ncs_orders *orders,
					uint64_t recording, uint32_t rank)
{
	struct ncs_order_state *first = orders->states;

	for (size_t i = 0; i < orders->state_count; i++) {
		struct ncs_order_state *state = &orders->states[i];

		if (state->recording == recording && state->rank == rank)
			return state;
		if (state->until_ns < first->until_ns)
			first = state;
	}
	return orders->state_count < NCS_ORDER_STATES_MAX ?
		       &orders->states[orders->state_count++] :
		       first;
}

/* Reads digits up to the end of the text; at most `most` of them. */
static bool read_number(const char *text, const char *digits, size_t most,
			uint64_t *number)
{
	size_t length = strlen(text), base = strlen(digits);

	*number = 0;
	if (length == 0 || length > most || strspn(text, digits) != length)
		return false;
	for (; *text; text++)
		*number = *number * base +
			  (uint64_t)(strchr(digits, *text) - digits);
	return true;
}

static bool take_state(struct ncs_orders *orders, char *words, uint64_t now_ns)
{
	char *blank = strchr(words, ' ');
	uint64_t recording, rank;

	if (!blank || blank - words != HEX_DIGITS)
		return false;
	*blank = '\0';
	if (!read_number(words, "0123456789abcdef", HEX_DIGITS, &recording) ||
	    !read_number(blank + 1, "0123456789", 9, &rank))
		return false;
	*place_of(orders, recording, (uint32_t)rank) =
		(struct ncs_order_state){
			.recording = recording,
			.rank = (uint32_t)rank,
			.until_ns = now_ns + NCS_ORDER_STATE_NS,
		};
	return true;
}

bool ncs_orders_want_state(const struct ncs_orders *orders, uint64_t recording,
			   uint32_t rank, uint64_t now_ns)
{
	for (size_t i = 0; i < orders->state_count; i++)
		if (orders->states[i].recording == recording &&
		    orders->states[i].rank == rank)
			return now_ns < orders->states[i].until_ns;
	return false;
}

void ncs_orders_expire(struct ncs_orders *orders, uint64_t now_ns)
{
	size_t kept = 0;

	for (size_t i = 0; i < orders->state_count; i++)
		if (now_ns < orders->states[i].until_ns)
			orders->states[kept++] = orders->states[i];
	orders->state_count = kept;
}

size_t ncs_order_state_print(char line[NCS_ORDER_BYTES], uint64_t recording,
			     uint32_t rank)
{
	return (size_t)snprintf(line, NCS_ORDER_BYTES,
				NCS_ORDER_STATE " %016" PRIx64 " %" PRIu32
						"\n",
				recording, rank);
}

/* --- Lines ----------------------------------------------------------------- */

static bool take_order(struct ncs_orders *orders, char *line, uint64_t now_ns)
{
	static const char state[] = NCS_ORDER_STATE " ";

	if (strcmp(line, NCS_ORDER_PACK) == 0)
		return orders->packs = true;
	if (strcmp(line, NCS_ORDER_DIGEST) == 0)
		return orders->digests = true;
	return strncmp(line, state, sizeof(state) - 1) == 0 &&
	       take_state(orders, line + sizeof(state) - 1, now_ns);
}

static void take_line(struct ncs_orders *orders, uint64_t now_ns)
{
	bool is_order = false;

	if (orders->used < sizeof(orders->line)) {
		orders->line[orders->used] = '\0';
		is_order = take_order(orders, orders->line, now_ns);
	}
	orders->ignored += !is_order && orders->used > 0;
	orders->used = 0;
}

void ncs_orders_take(struct ncs_orders *orders, const char *bytes, size_t size,
		     uint64_t now_ns)
{
	for (size_t i = 0; i < size; i++) {
		if (bytes[i] == '\n')
			take_line(orders, now_ns);
		else if (orders->used < sizeof(orders->line))
			orders->line[orders->used++] = bytes[i];
	}
}
