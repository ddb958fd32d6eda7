/* SPDX-License-Identifier: MIT */
/* Waits for signals that end a command; see stop_signals.h. */
#include "tui/commands/stop_signals.h"

#include <errno.h>
#include <sys/signalfd.h>
#include <time.h>

#include "shm/clock.h"

static void block(sigset_t *set, int number)
{
	struct sigaction before;

	if (sigaction(number, NULL, &before) == 0 &&
	    before.sa_handler != SIG_IGN)
		sigaddset(set, number);
}

void ncs_stop_signals_block(sigset_t *set)
{
	static const int numbers[] = {
		SIGHUP,  SIGINT,    SIGQUIT, SIGALRM, SIGTERM,
		SIGUSR1, SIGUSR2,   SIGPROF, SIGIO,   SIGPWR,
		SIGXCPU, SIGVTALRM, SIGSTKFLT,
	};

	sigemptyset(set);
	for (size_t i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++)
		block(set, numbers[i]);
	for (int number = SIGRTMIN; number <= SIGRTMAX; number++)
		block(set, number);
	sigprocmask(SIG_BLOCK, set, NULL);
	signal(SIGPIPE, SIG_IGN);
	signal(SIGXFSZ, SIG_IGN);
}

int ncs_stop_signals_file(void)
{
	sigset_t set;

	sigemptyset(&set);
	block(&set, SIGINT);
	block(&set, SIGTERM);
	block(&set, SIGHUP);
	sigprocmask(SIG_BLOCK, &set, NULL);
	return signalfd(-1, &set, SFD_CLOEXEC);
}

bool ncs_stop_signals_wait(const sigset_t *set, uint64_t until_ns)
{
	for (;;) {
		uint64_t now_ns = ncs_clock_monotonic_ns();
		uint64_t left_ns = until_ns > now_ns ? until_ns - now_ns : 0;
		struct timespec left = {
			.tv_sec = (time_t)(left_ns / UINT64_C(1000000000)),
			.tv_nsec = (long)(left_ns % UINT64_C(1000000000)),
		};

		if (sigtimedwait(set, NULL, &left) > 0)
			return true;
		/* Another signal, such as the one after SIGSTOP, interrupts
		 * the wait. */
		if (errno != EINTR)
			return false;
	}
}
