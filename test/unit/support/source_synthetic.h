/* SPDX-License-Identifier: MIT */
/* A made-up job, for --synthetic and for the tests of the views. */
#ifndef NCS_TEST_UNIT_SUPPORT_SOURCE_SYNTHETIC_H
#define NCS_TEST_UNIT_SUPPORT_SOURCE_SYNTHETIC_H

#include <stdint.h>

#include "analysis/base/source.h"

/* Opens a made-up job of `ranks` ranks with `channels` channels each in its
 * main communicator, at least one of both. Two sources with the same seed and
 * the same times of their passes are equal. The job is 5 s old at the first
 * pass; source_synthetic.c says what is in it. The caller closes the source.
 * Returns NULL if there is no memory. */
struct ncs_source *ncs_source_open_synthetic(uint64_t seed, unsigned ranks,
					     unsigned channels);

#endif
