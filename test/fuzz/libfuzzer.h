/* SPDX-License-Identifier: MIT */
/* libFuzzer's interface, which has no header of its own. */
#ifndef TEST_FUZZ_LIBFUZZER_H
#define TEST_FUZZ_LIBFUZZER_H

#include <stddef.h>
#include <stdint.h>

/* Provided by a fuzzer. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t max_size,
			       unsigned seed);

/* Provided by libFuzzer. */
size_t LLVMFuzzerMutate(uint8_t *data, size_t size, size_t max_size);

#endif
