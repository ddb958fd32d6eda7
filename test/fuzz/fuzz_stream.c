/* SPDX-License-Identifier: MIT */
/* libFuzzer's entry point for hostile streams; see stream_input.h and "make
 * fuzz". */
#include "test/fuzz/libfuzzer.h"
#include "test/fuzz/stream_input.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	stream_input_run(data, size);
	return 0;
}

size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t max_size,
			       unsigned seed)
{
	size = LLVMFuzzerMutate(data, size, max_size);
	if (seed % 4 != 0)
		stream_input_count(data, size);
	recording_input_seal(data, size, seed);
	return size;
}
