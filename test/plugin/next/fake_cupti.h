/* SPDX-License-Identifier: MIT */
/* The struct through which a test controls fake_cupti.c, which exports it as
 * the symbol fake_cupti. */
#ifndef NCS_TEST_PLUGIN_NEXT_FAKE_CUPTI_H
#define NCS_TEST_PLUGIN_NEXT_FAKE_CUPTI_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "plugin/nccl/cupti_abi.h"

/* A variable with two file descriptors. If it is set, the library writes a byte to
 * the first while it is being loaded, and waits for one from the second. */
#define FAKE_CUPTI_LOADING "FAKE_CUPTI_LOADING"

/* A variable: the name of a kernel that is reported when CUPTI is started, as if
 * it had run for a quarter of the time, and another one for the rest. */
#define FAKE_CUPTI_KERNEL "FAKE_CUPTI_KERNEL"

enum fake_cupti_call {
#define X(name, parameters) FAKE_CUPTI_##name,
	CUPTI_FUNCTIONS(X)
#undef X
	FAKE_CUPTI_CALL_COUNT
};

struct fake_cupti {
	/* Results that the functions of the fake CUPTI return. */
	uint32_t version;
	int subscribe;
	int enable;
	int no_more_records;
	/* Number of calls of each kind. */
	unsigned subscribed;
	unsigned unsubscribed;
	unsigned callbacks;
	unsigned flushes;
	uint32_t kind;
	/* launch() launches a kernel on the calling thread; record() appends a
	 * record of any kind to the current buffer, either whole or cut to its
	 * first `bytes` bytes; deliver() completes the buffer. */
	void (*launch)(uint32_t site, uint32_t correlation);
	void (*record)(const struct cupti_kernel *kernel, size_t bytes);
	void (*deliver)(void);
	/* take_buffer() requests a buffer; finish() delivers it empty. */
	uint8_t *(*take_buffer)(void);
	void (*finish)(uint8_t *buffer);
	/* hold_one() blocks the next call of a function until let_go(), and
	 * none after it; is_holding() returns true once a thread is in it. */
	void (*hold_one)(enum fake_cupti_call call);
	bool (*is_holding)(void);
	void (*let_go)(void);
};

#endif
