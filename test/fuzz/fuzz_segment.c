/* libFuzzer's entry for hostile segments; see segment_input.h. By hand:
 *
 *   clang -std=c11 -D_GNU_SOURCE -Iinclude -I. -g -O1 \
 *       -fsanitize=fuzzer,address,undefined \
 *       test/fuzz/fuzz_segment.c shm/[!w]*.c -o build/fuzz_segment
 *   build/fuzz_segment -max_len=65536 corpus
 *
 * An empty corpus is no good start: most inputs are no segments. A valid one is
 * any file that the plugin made, or what test_fuzz_segment writes when it is
 * given a file name.
 */
#include "test/fuzz/segment_input.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

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
