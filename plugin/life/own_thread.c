/* SPDX-License-Identifier: MIT */
/* Starting the plugin's own threads; see own_thread.h. */
#include "plugin/life/own_thread.h"

#include <pthread.h>
#include <signal.h>
#include <stddef.h>

/* The driver's functions may need much more stack than ours, and so may the
 * thread-local memory of all libraries, which is part of it. Only what is used
 * takes memory. */
#define STACK_BYTES ((size_t)256 << 10)

/* The kernel ends a process at once if a thread causes one of these while it is
 * blocked: then no crash reporter of the application's would speak. */
static const int faults[] = { SIGSEGV, SIGBUS, SIGILL, SIGFPE };

bool ncs_own_thread_start(void *(*run)(void *unused))
{
	sigset_t blocked, before;
	pthread_attr_t attributes;
	pthread_t thread;
	bool started;

	if (pthread_attr_init(&attributes) != 0)
		return false;
	pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
	pthread_attr_setstacksize(&attributes, STACK_BYTES);
	sigfillset(&blocked);
	for (size_t i = 0; i < sizeof(faults) / sizeof(faults[0]); i++)
		sigdelset(&blocked, faults[i]);
	/* A thread has the signal mask of the one that starts it. */
	pthread_sigmask(SIG_SETMASK, &blocked, &before);
	started = pthread_create(&thread, &attributes, run, NULL) == 0;
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	pthread_attr_destroy(&attributes);
	return started;
}
