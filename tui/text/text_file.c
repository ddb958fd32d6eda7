/* SPDX-License-Identifier: MIT */
/* Reading a small text file; see text_file.h. */
#include "tui/text/text_file.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define BYTES_MAX (1u << 20)

static int read_into(char *text, FILE *file)
{
	size_t length = fread(text, 1, BYTES_MAX + 1, file);

	text[length] = '\0';
	if (ferror(file))
		return -EIO;
	if (length > BYTES_MAX)
		return -EFBIG;
	return strlen(text) == length ? 0 : -EINVAL;
}

int ncs_text_file_read(const char *path, char **text)
{
	FILE *file = fopen(path, "re");
	int error;

	*text = NULL;
	if (!file)
		return -errno;
	*text = malloc(BYTES_MAX + 2);
	error = *text ? read_into(*text, file) : -ENOMEM;
	fclose(file);
	if (error) {
		free(*text);
		*text = NULL;
	}
	return error;
}
