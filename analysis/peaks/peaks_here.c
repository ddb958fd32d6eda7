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
/* The time until what changes is read for the second time, which gives the first
 * differences, and then again. */
#define FIRST_NS 500000000L
#define EVERY_NS 5000000000L

struct ncs_peaks_reading {
	pthread_t thread;
	pthread_mutex_t mutex; /* of all below */
	pthread_cond_t changed;
	bool ends; /* the thread is to end … */
	bool is_over; /* … and has ended */
	bool has_read;
	struct ncs_machine_peaks peaks;
};

static struct timespec in_ns(long ns)
{
	struct timespec time;

	clock_gettime(CLOCK_MONOTONIC, &time);
	ns += time.tv_nsec;
	time.tv_sec += ns / 1000000000L;
	time.tv_nsec = ns % 1000000000L;
	return time;
}

static void read_network(struct ncs_ports *before,
			 struct ncs_machine_peaks *peaks)
{
	struct ncs_ports now;

	ncs_network_count("/sys", "/proc", &now);
	peaks->ports = (struct ncs_ports){
		.sent = now.sent - before->sent,
		.resent = now.resent - before->resent,
		.errors = now.errors - before->errors,
		.ports = now.ports,
		.down = now.down,
	};
	*before = now;
}

static void *read_peaks(void *context)
{
	struct ncs_peaks_reading *reading = context;
	struct ncs_nvml *nvml = ncs_nvml_open(NCS_NVML_LIBRARY);
	struct ncs_ports before;
	struct ncs_machine_peaks peaks = {
		.network_mb_s = (uint64_t)(1e3 * ncs_network_peak("/sys")),
	};

	ncs_nvlinks_read(nvml, &peaks);
	ncs_network_count("/sys", "/proc", &before);
	pthread_mutex_lock(&reading->mutex);
	while (!reading->ends) {
		struct timespec until =
			in_ns(reading->has_read ? EVERY_NS : FIRST_NS);

		pthread_mutex_unlock(&reading->mutex);
		ncs_clocks_read(nvml, &peaks);
		read_network(&before, &peaks);
		pthread_mutex_lock(&reading->mutex);
		reading->peaks = peaks;
		reading->has_read = true;
		while (!reading->ends &&
		       pthread_cond_timedwait(&reading->changed,
					      &reading->mutex, &until) == 0)
			;
	}
	pthread_mutex_unlock(&reading->mutex);
	ncs_nvml_close(nvml);
	pthread_mutex_lock(&reading->mutex);
	reading->is_over = true;
	pthread_cond_signal(&reading->changed);
	pthread_mutex_unlock(&reading->mutex);
	return NULL;
}

static void release_reading(struct ncs_peaks_reading *reading)
{
	pthread_cond_destroy(&reading->changed);
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
	pthread_cond_init(&reading->changed, &monotonic);
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

const struct ncs_machine_peaks *ncs_peaks_here(struct ncs_peaks_here *here)
{
	struct ncs_peaks_reading *reading;
	bool is_known;

	if (!here->has_begun)
		here->reading = begin_reading();
	here->has_begun = true;
	reading = here->reading;
	if (!reading)
		return NULL;
	pthread_mutex_lock(&reading->mutex);
	is_known = reading->has_read;
	if (is_known)
		here->peaks = reading->peaks;
	pthread_mutex_unlock(&reading->mutex);
	return is_known ? &here->peaks : NULL;
}

void ncs_peaks_here_release(struct ncs_peaks_here *here)
{
	struct ncs_peaks_reading *reading = here->reading;
	struct timespec until = in_ns(END_NS);
	bool is_over;

	*here = (struct ncs_peaks_here){ .reading = NULL };
	if (!reading)
		return;
	pthread_mutex_lock(&reading->mutex);
	reading->ends = true;
	pthread_cond_signal(&reading->changed);
	while (!reading->is_over &&
	       pthread_cond_timedwait(&reading->changed, &reading->mutex,
				      &until) == 0)
		;
	is_over = reading->is_over;
	pthread_mutex_unlock(&reading->mutex);
	if (is_over) {
		pthread_join(reading->thread, NULL);
		release_reading(reading);
	} else {
		pthread_detach(reading->thread);
	}
}
