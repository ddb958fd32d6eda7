/* SPDX-License-Identifier: MIT */
/* What a test tells the CUPTI of fake_cupti.c to do: its symbol fake_cupti. */
#ifndef NCS_TEST_PLUGIN_NEXT_FAKE_CUPTI_H
#define NCS_TEST_PLUGIN_NEXT_FAKE_CUPTI_H

#include <stddef.h>
#include <stdint.h>

#include "plugin/nccl/cupti_abi.h"

struct fake_cupti {
	/* What its functions say. */
	uint32_t version;
	int subscribe;
	int enable;
	int no_more_records;
	/* What it was asked for. */
	unsigned subscribed;
	unsigned unsubscribed;
	unsigned callbacks;
	unsigned flushes;
	uint32_t kind;
	/* The calling thread launches; a record of any kind becomes part of the
	 * buffer under way, whole or to its first `bytes`; the buffer is done. */
	void (*launch)(uint32_t site, uint32_t correlation);
	void (*record)(const struct cupti_kernel *kernel, size_t bytes);
	void (*deliver)(void);
	/* Asks for a buffer, which stays empty; it is done. */
	uint8_t *(*take_buffer)(void);
	void (*finish)(uint8_t *buffer);
};

#endif
