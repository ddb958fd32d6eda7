/* SPDX-License-Identifier: MIT */
/* Standard output, written at once; see output.h. */
#include "tui/text/output.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

bool ncs_output_init(struct ncs_output *output)
{
	memset(output, 0, sizeof(*output));
	output->file = open_memstream(&output->text, &output->size);
	if (!output->file)
		fprintf(stderr, "ncclstat: %s\n", strerror(errno));
	return output->file != NULL;
}

/* Returns 0 or -errno. */
static int write_all(const char *text, size_t size)
{
	while (size > 0) {
		ssize_t written = write(STDOUT_FILENO, text, size);

		if (written < 0 && errno == EINTR)
			continue;
		if (written < 0)
			return -errno;
		text += written;
		size -= (size_t)written;
	}
	return 0;
}

bool ncs_output_release(struct ncs_output *output, int *status)
{
	bool failed = ferror(output->file);
	int error;

	failed = fclose(output->file) != 0 || failed;
	error = failed ? -ENOMEM : write_all(output->text, output->size);
	free(output->text);
	memset(output, 0, sizeof(*output));
	if (!error)
		return true;
	*status = NCS_EXIT_OK;
	if (error != -EPIPE) {
		fprintf(stderr, "ncclstat: standard output: %s\n",
			strerror(-error));
		*status = NCS_EXIT_NOTHING;
	}
	return false;
}
