/* SPDX-License-Identifier: MIT */
/* Tests of reading small text files: valid texts, and files that are
 * refused. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "test/unit/support/unit.h"
#include "tui/text/text_file.h"

static char path[] = "/tmp/test_text_file.XXXXXX";

static void check(const void *bytes, size_t size, int expected)
{
	FILE *file = fopen(path, "we");
	char *text;

	assert_non_null(file);
	assert_int_equal(fwrite(bytes, 1, size, file), size);
	assert_int_equal(fclose(file), 0);
	assert_int_equal(ncs_text_file_read(path, &text), expected);
	if (expected == 0)
		assert_memory_equal(text, bytes, size + 1);
	else
		assert_null(text);
	free(text);
}

TEST(text_is_read_completely_or_not_at_all)
{
	char *long_one = calloc(1, (1 << 20) + 2);
	char *text;
	int made = mkstemp(path);

	assert_true(made >= 0);
	close(made);
	assert_non_null(long_one);
	check("", 0, 0);
	check("a\nb", 3, 0);
	check("a\0b", 3, -EINVAL);
	memset(long_one, 'x', (1 << 20) + 1);
	check(long_one, (1 << 20) + 1, -EFBIG);
	long_one[1 << 20] = '\0';
	check(long_one, 1 << 20, 0);
	free(long_one);
	unlink(path);
	assert_int_equal(ncs_text_file_read(path, &text), -ENOENT);
	assert_null(text);
}
