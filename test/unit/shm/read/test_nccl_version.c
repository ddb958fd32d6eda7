/* SPDX-License-Identifier: MIT */
/* Tests of finding NCCL's version in the bytes of its library, which are
 * anybody's. */
#include <string.h>

#include "shm/read/nccl_processes.h"
#include "test/unit/support/unit.h"

#define VERSION(major, minor, patch) ((major) << 16 | (minor) << 8 | (patch))

static uint32_t version_in(const char *text)
{
	return ncs_nccl_version_in(text, strlen(text));
}

TEST(version_is_found_behind_its_mark)
{
	static const char bytes[] = "\0\1junk\0NCCL version 2.28.9+cuda12.9\0";

	assert_int_equal(ncs_nccl_version_in(bytes, sizeof(bytes) - 1),
			 VERSION(2, 28, 9));
}

TEST(mark_without_a_version_is_passed_over)
{
	assert_int_equal(version_in("NCCL version %d.%d; NCCL version 2.23.4"),
			 VERSION(2, 23, 4));
}

TEST(what_is_no_version_is_not_known)
{
	assert_int_equal(version_in(""), 0);
	assert_int_equal(version_in("NCCL version "), 0);
	assert_int_equal(version_in("NCCL version 2.28"), 0);
	assert_int_equal(version_in("NCCL version 2.999.1"), 0);
	assert_int_equal(version_in("NCCL versio"), 0);
}

TEST(nothing_behind_the_end_is_read)
{
	static const char bytes[] = "NCCL version 2.28.91";

	assert_int_equal(ncs_nccl_version_in(bytes, sizeof(bytes) - 2),
			 VERSION(2, 28, 9));
	assert_int_equal(ncs_nccl_version_in(bytes, sizeof(bytes) - 4), 0);
}
