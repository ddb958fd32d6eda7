/* SPDX-License-Identifier: MIT */
/* Reads the orders of a head, in which any bytes may be; see orders.h. */
#include "fleet/launch/orders.h"

#include <string.h>

static void take_line(struct ncs_orders *orders)
{
	if (orders->used < sizeof(orders->line)) {
		orders->line[orders->used] = '\0';
		orders->packs |= strcmp(orders->line, NCS_ORDER_PACK) == 0;
	}
	orders->used = 0;
}

void ncs_orders_take(struct ncs_orders *orders, const char *bytes, size_t size)
{
	for (size_t i = 0; i < size; i++) {
		if (bytes[i] == '\n')
			take_line(orders);
		else if (orders->used < sizeof(orders->line))
			orders->line[orders->used++] = bytes[i];
	}
}
