/* SPDX-License-Identifier: MIT */
/* The thread that reads this machine's peaks; see peaks_here.h. */
#include "analysis/peaks/peaks_here.h"

#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <time.h>

#include "analysis/peaks/network_ports.h"
#include "analysis/peaks/nvlinks.h"

/* How long the end waits for the thread. */
#define END_NS 500000000L

struct ncs_peaks_reading {
	pthread_t thread;
	pthread_mutex_t mutex; /* of all below */
	pthread_cond_t is_over;
	bool has_read;
	struct ncs_machine_peaks peaks;
};

static void *read_peaks(void *context)
{
	struct ncs_peaks_reading *reading = context;
	struct ncs_machine_peaks peaks = {
		.network_mb_s = (uint64_t)(1e3 * ncs_network_peak("/sys")),
	};

	ncs_nvlinks_read(NCS_NVML_LIBRARY, &peaks);
	pthread_mutex_lock(&reading->mutex);
	reading->peaks = peaks;
	reading->has_read = true;
	pthread_cond_signal(&reading->is_over);
	pthread_mutex_unlock(&reading->mutex);
	return NULL;
}

static void release_reading(struct ncs_peaks_reading *reading)
{
	pthread_cond_destroy(&reading->is_over);
	pthread_mutex_destroy(&reading->mutex);
	free(reading);
}

/* Starts the thread, which takes no signal. Returns NULL if there is no memory
 * or no thread for it. */
static struct ncs_peaks_reading *begin_reading(void)
{
	struct ncs_peaks_reading *reading = calloc(1, sizeof(*reading));
	pthread_condattr_t monotonic;
	sigset_t all, before;
	int error;

	if (!reading)
		return NULL;
	pthread_mutex_init(&reading->mutex, NULL);
	pthread_condattr_init(&monotonic);
	pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
	pthread_cond_init(&reading->is_over, &monotonic);
	pthread_condattr_destroy(&monotonic);
	sigfillset(&all);
	pthread_sigmask(SIG_BLOCK, &all, &before);
	error = pthread_create(&reading->thread, NULL, read_peaks, reading);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	if (!error)
		return reading;
	release_reading(reading);
	return NULL;
}

/* Takes what was read, if it was by `until`; NULL: by now. Returns false if it
 * was not. */
static bool take(struct ncs_peaks_here *here, const struct timespec *until)
{
	struct ncs_peaks_reading *reading = here->reading;
	int error = 0;

	pthread_mutex_lock(&reading->mutex);
	while (until && !reading->has_read && !error)
		error = pthread_cond_timedwait(&reading->is_over,
					       &reading->mutex, until);
	here->is_known = reading->has_read;
	if (here->is_known)
		here->peaks = reading->peaks;
	pthread_mutex_unlock(&reading->mutex);
	if (!here->is_known)
		return false;
	pthread_join(reading->thread, NULL);
	release_reading(reading);
	here->reading = NULL;
	return true;
}

const struct ncs_machine_peaks *ncs_peaks_here(struct ncs_peaks_here *here)
{
	if (!here->has_begun)
		here->reading = begin_reading();
	here->has_begun = true;
	if (here->reading)
		take(here, NULL);
	return here->is_known ? &here->peaks : NULL;
}

void ncs_peaks_here_release(struct ncs_peaks_here *here)
{
	struct timespec until;

	if (here->reading) {
		clock_gettime(CLOCK_MONOTONIC, &until);
		until.tv_nsec += END_NS;
		if (until.tv_nsec >= 1000000000L) {
			until.tv_nsec -= 1000000000L;
			until.tv_sec++;
		}
		if (!take(here, &until))
			pthread_detach(here->reading->thread);
	}
	*here = (struct ncs_peaks_here){ .reading = NULL };
}
