/* SPDX-License-Identifier: MIT */
/* Runs a hunt: a writer (the caller) and readers, as threads or processes; see
 * hunt.h. */
#include "test/stress/hunt.h"

#include <pthread.h>
#include <sched.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "shm/atomics.h"

/* --- Parts of all hunts ------------------------------------------------ */

struct hunt_worker {
	const struct hunt *hunt;
	const void *shared;
	struct hunt_control *control;
	unsigned index;
	pthread_t thread;
	pid_t pid;
};

bool hunt_is_done(const struct hunt_control *control)
{
	return ncs_load_acquire(&control->done) != 0;
}

void hunt_idle(void)
{
	sched_yield();
}

/* Sleeps, so that other threads run even if there is only one processor. */
static void let_others_run(void)
{
	const struct timespec pause = { .tv_nsec = 20000 };

	nanosleep(&pause, NULL);
}

void hunt_stall(void)
{
	static _Thread_local unsigned calls;

	/* Stalls twice in succession: a reader that loads head during the first
	 * stall is overtaken by one record during the second. */
	if (++calls % 131 < 2)
		let_others_run();
	else
		hunt_rest();
}

void hunt_rest(void)
{
	static _Thread_local unsigned calls;
	uint64_t word = 0;

	calls++;
	for (unsigned i = 0; i < 100 + calls % 7 * 100; i++)
		ncs_store_relaxed(&word, i);
}

void hunt_interrupt(void)
{
	static _Thread_local unsigned calls;

	if (++calls % 1009 == 0)
		let_others_run();
}

static void read_and_check(struct hunt_worker *worker)
{
	struct hunt_control *control = worker->control;
	struct hunt_findings found = { 0 };

	ncs_add_acquire_release(&control->ready, 1);
	worker->hunt->read(worker->hunt, worker->shared, control, &found);
	control->findings[worker->index] = found;
}

static void *thread_main(void *argument)
{
	read_and_check(argument);
	return NULL;
}

/* A child has only the shared memory that it maps itself. */
static void child_main(struct hunt_worker *worker, int file)
{
	worker->shared = mmap(NULL, worker->hunt->shared_bytes, PROT_READ,
			      MAP_SHARED, file, 0);
	if (worker->shared == MAP_FAILED)
		_exit(1);
	read_and_check(worker);
	_exit(0);
}

static bool start(struct hunt_worker *worker, int file)
{
	if (!worker->hunt->processes)
		return pthread_create(&worker->thread, NULL, thread_main,
				      worker) == 0;
	worker->pid = fork();
	if (worker->pid == 0)
		child_main(worker, file);
	return worker->pid > 0;
}

static bool join(struct hunt_worker *worker)
{
	int status;

	if (!worker->hunt->processes)
		return pthread_join(worker->thread, NULL) == 0;
	return waitpid(worker->pid, &status, 0) == worker->pid && status == 0;
}

static bool run_workers(const struct hunt *hunt, void *shared, int file,
			struct hunt_control *control)
{
	struct hunt_worker workers[HUNT_READERS];
	unsigned started = 0;
	bool good = true;

	for (; good && started < HUNT_READERS; started += good) {
		workers[started] = (struct hunt_worker){
			.hunt = hunt,
			.shared = shared,
			.control = control,
			.index = started,
		};
		good = start(&workers[started], file);
	}
	/* The writer must not wait for a reader that has died. */
	for (unsigned i = 0;
	     good && i < 1000000 && ncs_load_acquire(&control->ready) < started;
	     i++)
		hunt_idle();
	if (good)
		hunt->write(hunt, shared);
	ncs_store_release(&control->done, 1);
	for (unsigned i = 0; i < started; i++)
		good = join(&workers[i]) && good;
	return good;
}

bool hunt_run(const struct hunt *hunt,
	      struct hunt_findings findings[HUNT_READERS])
{
	struct hunt_control *control;
	void *shared = MAP_FAILED;
	int file = memfd_create("hunt", MFD_CLOEXEC);
	bool good = false;

	control = mmap(NULL, sizeof(*control), PROT_READ | PROT_WRITE,
		       MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (file >= 0 && ftruncate(file, (off_t)hunt->shared_bytes) == 0)
		shared = mmap(NULL, hunt->shared_bytes, PROT_READ | PROT_WRITE,
			      MAP_SHARED | MAP_POPULATE, file, 0);
	if (control != MAP_FAILED && shared != MAP_FAILED &&
	    madvise(shared, hunt->shared_bytes, MADV_DONTFORK) == 0) {
		good = run_workers(hunt, shared, file, control);
		memcpy(findings, control->findings, sizeof(control->findings));
	}
	if (shared != MAP_FAILED)
		munmap(shared, hunt->shared_bytes);
	if (control != MAP_FAILED)
		munmap(control, sizeof(*control));
	if (file >= 0)
		close(file);
	return good;
}

/* --- Rings ------------------------------------------------------------- */

static void write_records(const struct hunt *hunt, void *shared)
{
	const struct hunt_setup *setup = hunt->argument;
	struct ncs_ring_producer producer = {
		.ring = shared,
		.records = (struct ncs_record *)((struct ncs_ring *)shared + 1),
		.mask = setup->capacity - 1,
	};

	setup->ring->produce(&producer, setup->records, setup->stall);
}

static void check(const struct ncs_record *record, uint64_t position,
		  struct hunt_findings *findings)
{
	struct ncs_record wanted;

	hunt_fill(&wanted, position);
	if (memcmp(record, &wanted, sizeof(wanted)) == 0)
		return;
	if (findings->bad++ == 0)
		findings->first_bad = position;
}

static void read_records(const struct hunt *hunt, const void *shared,
			 const struct hunt_control *control,
			 struct hunt_findings *findings)
{
	const struct hunt_setup *setup = hunt->argument;
	const struct ncs_ring *ring = shared;
	const struct ncs_record *slots = (const struct ncs_record *)(ring + 1);
	struct ncs_record records[HUNT_BATCH];
	struct ncs_ring_cursor cursor = { 0 };

	for (;;) {
		bool done = hunt_is_done(control);
		uint64_t count =
			setup->ring->available(ring, setup->capacity, &cursor);
		uint64_t first = cursor.next;
		size_t good;

		if (count == 0 && done)
			break;
		if (count == 0)
			hunt_idle();
		if (count > setup->batch)
			count = setup->batch;
		good = setup->ring->copy(ring, slots, setup->capacity, &cursor,
					 records, (size_t)count);
		for (size_t i = (size_t)count - good; i < count; i++)
			check(&records[i], first + i, findings);
		findings->accepted += good;
		findings->rejected += count - good;
	}
	findings->lost = cursor.lost;
}

bool hunt_records(const struct hunt_setup *setup,
		  struct hunt_findings findings[HUNT_READERS])
{
	size_t bytes = sizeof(struct ncs_ring) +
		       setup->capacity * sizeof(struct ncs_record);
	struct hunt hunt = {
		.processes = setup->processes,
		.shared_bytes = (bytes + 4095) & ~(size_t)4095,
		.write = write_records,
		.read = read_records,
		.argument = setup,
	};

	return hunt_run(&hunt, findings);
}
