/* SPDX-License-Identifier: MIT */
/* The terminal after a fatal signal; see terminal_rescue.h. */
#include "tui/term/terminal_rescue.h"

#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <termios.h>
#include <unistd.h>

static struct {
	volatile sig_atomic_t armed;
	int file;
	struct termios modes;
	bool has_modes;
	char text[256]; /* escape sequences that restore the terminal */
	size_t length;
	int real_stderr; /* -1 if stderr is not held back */
	int held_stderr;
} rescue = { .real_stderr = -1, .held_stderr = -1 };

static const int fatal_signals[] = { SIGSEGV, SIGBUS, SIGABRT, SIGFPE, SIGILL };

#define FATAL_COUNT (sizeof(fatal_signals) / sizeof(*fatal_signals))
static struct sigaction former_fatal[FATAL_COUNT];

void ncs_rescue_save_modes(int file)
{
	rescue.file = file;
	rescue.has_modes = tcgetattr(file, &rescue.modes) == 0;
}

void ncs_rescue_clear(void)
{
	rescue.length = 0;
}

void ncs_rescue_arm(bool armed)
{
	rescue.armed = armed;
}

static void write_all(int file, const char *text, size_t length)
{
	while (length > 0) {
		ssize_t written = write(file, text, length);

		if (written <= 0)
			return;
		text += written;
		length -= (size_t)written;
	}
}

/* Async-signal-safe. */
void ncs_rescue_release_stderr(void)
{
	char text[512];
	off_t offset = 0;
	ssize_t length;

	if (rescue.real_stderr < 0)
		return;
	dup2(rescue.real_stderr, STDERR_FILENO);
	while ((length = pread(rescue.held_stderr, text, sizeof(text),
			       offset)) > 0) {
		write_all(STDERR_FILENO, text, (size_t)length);
		offset += length;
	}
	close(rescue.real_stderr);
	close(rescue.held_stderr);
	rescue.real_stderr = -1;
	rescue.held_stderr = -1;
}

static void on_fatal(int number)
{
	struct sigaction action = { 0 };

	if (rescue.armed) {
		rescue.armed = 0;
		write_all(rescue.file, rescue.text, rescue.length);
		if (rescue.has_modes)
			tcsetattr(rescue.file, TCSADRAIN, &rescue.modes);
		ncs_rescue_release_stderr();
	}
	/* Die of the same signal, so that the parent process learns of it and
	 * there is a core file. Do not call the former handler: it may be the
	 * reader's guard against SIGBUS, which calls this handler for signals
	 * that it does not expect. */
	action.sa_handler = SIG_DFL;
	sigaction(number, &action, NULL);
	raise(number);
}

void ncs_rescue_install_handlers(void)
{
	static char stack[1 << 16];
	const stack_t alternate = { .ss_sp = stack, .ss_size = sizeof(stack) };
	struct sigaction action = { .sa_flags = SA_ONSTACK };

	/* After a stack overflow the handler needs another stack. */
	sigaltstack(&alternate, NULL);
	action.sa_handler = on_fatal;
	for (size_t i = 0; i < FATAL_COUNT; i++)
		sigaction(fatal_signals[i], &action, &former_fatal[i]);
}

void ncs_rescue_remove_handlers(void)
{
	struct sigaction now;

	/* Leave handlers that others installed after ours. */
	for (size_t i = 0; i < FATAL_COUNT; i++)
		if (sigaction(fatal_signals[i], NULL, &now) == 0 &&
		    now.sa_handler == on_fatal)
			sigaction(fatal_signals[i], &former_fatal[i], NULL);
}

int ncs_rescue_add_byte(int byte)
{
	if (rescue.length < sizeof(rescue.text))
		rescue.text[rescue.length++] = (char)byte;
	return byte;
}

void ncs_rescue_add_text(const char *text)
{
	while (*text)
		ncs_rescue_add_byte(*text++);
}

void ncs_rescue_hold_stderr(void)
{
	int held;

	if (!isatty(STDERR_FILENO))
		return;
	held = memfd_create("ncclstat-stderr", MFD_CLOEXEC);
	if (held < 0)
		return;
	fflush(stderr);
	rescue.real_stderr = dup(STDERR_FILENO);
	if (rescue.real_stderr < 0 || dup2(held, STDERR_FILENO) < 0) {
		if (rescue.real_stderr >= 0)
			close(rescue.real_stderr);
		rescue.real_stderr = -1;
		close(held);
		return;
	}
	rescue.held_stderr = held;
}

/* Without this, giving the terminal back would wait forever for output that the
 * user has stopped. */
void ncs_rescue_resume_output(void)
{
	struct pollfd output = { .fd = rescue.file, .events = POLLOUT };
	struct termios modes;

	if (!rescue.has_modes || poll(&output, 1, 0) > 0 ||
	    tcgetattr(rescue.file, &modes) != 0)
		return;
	modes.c_iflag &= ~(tcflag_t)IXON;
	tcsetattr(rescue.file, TCSANOW, &modes);
}

void ncs_rescue_write(const char *text)
{
	write_all(rescue.file, text, strlen(text));
}
