/* libFuzzer's entry for hostile recordings; see recording_input.h. By hand:
 *
 *   clang -std=c11 -D_GNU_SOURCE -Iinclude -I. -g -O1 \
 *       -fsanitize=fuzzer,address,undefined test/fuzz/fuzz_recording.c \
 *       shm/[!w]*.c analysis/[!.]*.c record/[!w]*.c \
 *       -lxxhash -lzstd -luring -ljansson -lm -o build/fuzz_recording
 *   build/fuzz_recording -max_len=65536 corpus
 *
 * A start for the corpus is any small recording, such as test_fuzz_recording
 * writes when it is given a file name.
 */
#include "test/fuzz/recording_input.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	recording_input_run(data, size);
	return 0;
}
