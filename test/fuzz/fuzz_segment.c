/* SPDX-License-Identifier: MIT */
/* libFuzzer's entry point for hostile segments; see segment_input.h and "make
 * fuzz". */
#include "test/fuzz/libfuzzer.h"
#include "test/fuzz/segment_input.h"

static struct segment_input input = { .file = -1 };

static void clean_up(void)
{
	segment_input_close(&input);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	if (input.file < 0) {
		segment_input_open(&input);
		atexit(clean_up);
	}
	segment_input_run(&input, data, size);
	return 0;
}
