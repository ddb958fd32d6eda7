/* SPDX-License-Identifier: MIT */
/* Standard output, written at once, and messages; see output.h. */
#include "tui/text/output.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "analysis/base/utf8.h"

/* Longest message: two paths and some words. */
#define MESSAGE_MAX 9000

static bool in_ascii;

void ncs_complain_in_ascii(void)
{
	in_ascii = true;
}

bool ncs_complains_in_ascii(void)
{
	return in_ascii;
}

void ncs_complain(const char *format, ...)
{
	char raw[MESSAGE_MAX], clean[MESSAGE_MAX];
	va_list arguments;

	va_start(arguments, format);
	vsnprintf(raw, sizeof(raw), format, arguments);
	va_end(arguments);
	ncs_utf8_clean(clean, sizeof(clean), raw, in_ascii);
	fprintf(stderr, "ncclstat: %s\n", clean);
}

void ncs_complain_of_unpublished(uint64_t count)
{
	if (count > 0)
		ncs_complain("%" PRIu64 " communicator%s of these processes"
			     " cannot be seen: no room for a segment, see"
			     " NCCLSTAT_SHM_BYTES in ncclstat-plugin(7)",
			     count, count == 1 ? "" : "s");
}

unsigned ncs_output_columns(void)
{
	const char *columns = getenv("COLUMNS");
	int wanted = columns ? atoi(columns) : 0;
	struct winsize window;

	if (wanted > 0)
		return (unsigned)wanted;
	if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &window) == 0 &&
	    window.ws_col > 0)
		return window.ws_col;
	return 120;
}

void ncs_output_detach(void)
{
	int null = open("/dev/null", O_RDWR | O_CLOEXEC);

	for (int i = STDIN_FILENO; null >= 0 && i <= STDERR_FILENO; i++)
		dup2(null, i);
}

bool ncs_output_init(struct ncs_output *output)
{
	memset(output, 0, sizeof(*output));
	output->file = open_memstream(&output->text, &output->size);
	if (!output->file)
		ncs_complain("%s", strerror(errno));
	return output->file != NULL;
}

int ncs_sight_status(uint64_t ranks, uint64_t unreadable)
{
	if (ranks > 0)
		return NCS_EXIT_OK;
	return unreadable > 0 ? NCS_EXIT_UNREADABLE : NCS_EXIT_NOTHING;
}

int ncs_output_end(struct ncs_output *output, int status)
{
	bool failed = ferror(output->file);
	int error = 0;

	failed = fclose(output->file) != 0 || failed;
	if (failed)
		error = -ENOMEM;
	else if (fwrite(output->text, 1, output->size, stdout) < output->size ||
		 fflush(stdout) != 0)
		error = -errno;
	free(output->text);
	*output = (struct ncs_output){ .failed = error };
	if (!error)
		return status;
	if (error == -EPIPE)
		return NCS_EXIT_OK;
	ncs_complain("standard output: %s", strerror(-error));
	return NCS_EXIT_NOTHING;
}
