/* SPDX-License-Identifier: MIT */
/* Reads stacks in a process of its own; see stacks_reading.h.
 *
 * The child has the model as it was at the fork. It writes each message that it
 * has for the user, ended by a zero byte, and last the page of stacks, which may
 * be empty, ended likewise. */
#include "tui/screen/stacks_reading.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tui/term/terminal_rescue.h"
#include "tui/text/output.h"

/* --- The child ------------------------------------------------------------ */

static void say(void *context, const char *text)
{
	FILE *output = context;

	fputc('s', output);
	fputs(text, output);
	fputc('\0', output);
	fflush(output);
}

/* Reads, writes the page, and ends. The terminal is the parent's; signals stay
 * blocked, and the parent's death changes nothing: processes are never left
 * paused, and the time that tools have is bounded. */
static _Noreturn void read_page(const struct ncs_stacks_request *request,
				int file, bool ascii)
{
	struct ncs_stacks_request own = *request;
	struct ncs_job_stacks *stacks;
	FILE *output = fdopen(file, "w");

	ncs_rescue_remove_handlers();
	ncs_output_detach();
	if (!output)
		_exit(EXIT_FAILURE);
	own.say = say;
	own.context = output;
	stacks = ncs_job_stacks_read(&own);
	fputc('p', output);
	if (stacks)
		ncs_job_stacks_text(output, stacks, ascii);
	fputc('\0', output);
	fclose(output);
	_exit(EXIT_SUCCESS);
}

/* --- The view ------------------------------------------------------------- */

int ncs_stacks_reading_start(struct ncs_stacks_reading *reading,
			     const struct ncs_stacks_request *request,
			     bool ascii)
{
	int ends[2], error;

	if (reading->child > 0)
		return -EBUSY;
	if (pipe2(ends, O_CLOEXEC) != 0)
		return -errno;
	fcntl(ends[0], F_SETFL, O_NONBLOCK);
	reading->child = fork();
	if (reading->child == 0)
		read_page(request, ends[1], ascii);
	error = -errno;
	close(ends[1]);
	reading->output = ends[0];
	if (reading->child > 0)
		return 0;
	close(ends[0]);
	reading->child = 0;
	return error;
}

/* Adds what has come to the text. Returns false at its end. */
static bool receive(struct ncs_stacks_reading *reading)
{
	char bytes[4096];
	ssize_t count;

	while ((count = read(reading->output, bytes, sizeof(bytes))) > 0) {
		char *text = realloc(reading->text,
				     reading->size + (size_t)count);

		/* Without memory the rest is dropped; the child goes on. */
		if (!text)
			continue;
		memcpy(text + reading->size, bytes, (size_t)count);
		reading->text = text;
		reading->size += (size_t)count;
	}
	return count < 0 && (errno == EAGAIN || errno == EINTR);
}

bool ncs_stacks_reading_take(struct ncs_stacks_reading *reading,
			     const char **said, char **page)
{
	size_t before = reading->size;
	bool goes_on = receive(reading);

	*said = NULL;
	*page = NULL;
	for (size_t at = 0; at < reading->size;) {
		const char *message = reading->text + at;
		size_t length = strnlen(message, reading->size - at);

		at += length + 1;
		if (at > reading->size) /* it has not come whole */
			break;
		if (message[0] == 's' && at > before)
			*said = message + 1;
		if (message[0] == 'p')
			*page = goes_on ? NULL : strdup(message + 1);
	}
	return !goes_on;
}

void ncs_stacks_reading_end(struct ncs_stacks_reading *reading)
{
	if (reading->child == 0)
		return;
	close(reading->output);
	while (waitpid(reading->child, NULL, 0) < 0 && errno == EINTR)
		;
	free(reading->text);
	*reading = (struct ncs_stacks_reading){ 0 };
}
