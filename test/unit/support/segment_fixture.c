/* SPDX-License-Identifier: MIT */
/* A small segment for tests; see segment_fixture.h. */
#include "test/unit/support/segment_fixture.h"

#include <dirent.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "shm/ring.h"
#include "test/unit/support/unit.h"

const struct ncs_segment_size segment_fixture_size = {
	.lanes = 3,
	.channels = 4,
	.operations = 256,
	.classes = NCS_FUNCTION_MAX + 2,
	.histograms = 3,
	.ring_records = 8,
	.ranges = 4,
	.range_histograms = 3,
};

int segment_fixture_create(struct segment_fixture *fixture,
			   const struct ncs_process *process, uint64_t number,
			   struct ncs_writer *writer)
{
	int error = ncs_writer_create(writer, fixture->directory, process,
				      number, &segment_fixture_size, NULL);

	if (error)
		return error;
	writer->header->clock.kind = NCS_CLOCK_MONOTONIC;
	writer->header->clock.multiplier = UINT64_C(1) << 32;
	return 0;
}

void segment_fixture_make(struct segment_fixture *fixture,
			  const struct ncs_process *process, uint64_t number,
			  struct ncs_writer *writer)
{
	assert_int_equal(
		segment_fixture_create(fixture, process, number, writer), 0);
	ncs_writer_publish(writer);
}

void segment_fixture_let_go(struct ncs_writer *writer)
{
	munmap(writer->header, writer->mapped_bytes);
}

int segment_fixture_setup_bare(void **state)
{
	struct segment_fixture *fixture = calloc(1, sizeof(*fixture));

	if (!fixture)
		return -1;
	*state = fixture;
	snprintf(fixture->directory, sizeof(fixture->directory),
		 NCS_DEFAULT_DIR "/test-ncclstat.XXXXXX");
	if (!mkdtemp(fixture->directory))
		return -1;
	ncs_process_describe(&fixture->process);
	return 0;
}

int segment_fixture_setup(void **state)
{
	struct segment_fixture *fixture;

	if (segment_fixture_setup_bare(state) != 0)
		return -1;
	fixture = *state;
	if (segment_fixture_create(fixture, &fixture->process, 0,
				   &fixture->writer) != 0)
		return -1;
	fixture->header = fixture->writer.header;
	ncs_writer_publish(&fixture->writer);
	return 0;
}

int segment_fixture_teardown(void **state)
{
	struct segment_fixture *fixture = *state;
	DIR *stream = opendir(fixture->directory);
	struct dirent *found;

	while (stream && (found = readdir(stream)))
		if (strcmp(found->d_name, ".") != 0 &&
		    strcmp(found->d_name, "..") != 0)
			remove(segment_fixture_path(fixture, found->d_name));
	if (stream)
		closedir(stream);
	if (fixture->header)
		munmap(fixture->header, fixture->writer.mapped_bytes);
	if (rmdir(fixture->directory) != 0)
		return -1;
	free(fixture);
	return 0;
}

const char *segment_fixture_path(const struct segment_fixture *fixture,
				 const char *name)
{
	static char path[512];

	snprintf(path, sizeof(path), "%s/%s", fixture->directory, name);
	return path;
}

bool segment_fixture_exists(const char *path)
{
	struct stat status;

	return lstat(path, &status) == 0;
}

static void *entry(struct segment_fixture *fixture,
		   const struct ncs_table *table, unsigned index)
{
	return (char *)fixture->header + table->offset +
	       (size_t)index * table->stride;
}

struct ncs_lane *segment_fixture_lane(struct segment_fixture *fixture,
				      unsigned index)
{
	struct ncs_lane *lane = entry(fixture, &fixture->header->lanes, index);

	lane->owner = index + 1;
	return lane;
}

struct ncs_channel *segment_fixture_channel(struct segment_fixture *fixture,
					    unsigned index)
{
	struct ncs_filled *filled = &fixture->header->filled;

	if (filled->channels <= index)
		filled->channels = index + 1;
	return entry(fixture, &fixture->header->channels, index);
}

struct ncs_operation *segment_fixture_operation(struct segment_fixture *fixture,
						unsigned index)
{
	struct ncs_filled *filled = &fixture->header->filled;

	if (filled->operations <= index)
		filled->operations = index + 1;
	return entry(fixture, &fixture->header->operations, index);
}

struct ncs_class *segment_fixture_class(struct segment_fixture *fixture,
					unsigned index)
{
	return entry(fixture, &fixture->header->classes, index);
}

struct ncs_histogram *segment_fixture_histogram(struct segment_fixture *fixture,
						unsigned index)
{
	return entry(fixture, &fixture->header->histograms, index);
}

struct ncs_ring *segment_fixture_ring(struct segment_fixture *fixture,
				      unsigned index)
{
	segment_fixture_lane(fixture, index);
	return entry(fixture, &fixture->header->rings, index);
}

void segment_fixture_put(struct segment_fixture *fixture, unsigned lane,
			 unsigned count)
{
	struct ncs_ring *ring = segment_fixture_ring(fixture, lane);
	struct ncs_ring_producer producer = {
		.ring = ring,
		.records = (struct ncs_record *)(ring + 1),
		.position = ring->head,
		.mask = fixture->header->ring_records - 1,
	};

	while (count-- > 0) {
		struct ncs_record record = { .value = producer.position };

		ncs_ring_put(&producer, &record);
	}
}

void segment_fixture_fill(struct segment_fixture *fixture, uint64_t now_ns)
{
	struct ncs_header *header = fixture->header;

	for (unsigned i = 0; i < header->channels.count; i++) {
		struct ncs_channel *channel =
			segment_fixture_channel(fixture, i);

		channel->key = NCS_CHANNEL_KEY(i, i % 2, i);
		channel->state = i % NCS_CHANNEL_STATE_COUNT;
		channel->since = now_ns - i;
	}
	for (unsigned i = 0; i < header->operations.count; i++) {
		struct ncs_operation *operation =
			segment_fixture_operation(fixture, i);

		operation->number = header->operations.count - i;
		operation->function = (uint8_t)i;
		operation->start = now_ns - i;
	}
	for (unsigned i = 0; i < header->classes.count; i++)
		segment_fixture_class(fixture, i)->key =
			NCS_CLASS_KEY(i, i, i % 3, i % 2);
	for (unsigned i = 0; i < header->histograms.count; i++)
		segment_fixture_histogram(fixture, i)->key =
			NCS_HISTOGRAM_KEY(i, i % NCS_TIMING_COUNT);
	for (unsigned i = 0; i < header->lanes.count; i++)
		segment_fixture_put(fixture, i, 5 * i);
	snprintf(header->identity.comm_name, sizeof(header->identity.comm_name),
		 "world");
	header->proxy.state = NCS_PROXY_ACTIVE;
}

int segment_fixture_in_child(int (*run)(struct segment_fixture *fixture),
			     struct segment_fixture *fixture)
{
	int status = -1;
	pid_t pid;

	fflush(NULL);
	pid = fork();
	if (pid == 0) {
		/* Otherwise cmocka's handlers would go on with its tests. */
		signal(SIGBUS, SIG_DFL);
		signal(SIGSEGV, SIG_DFL);
		signal(SIGABRT, SIG_DFL);
		_exit(run(fixture));
	}
	if (pid < 0 || waitpid(pid, &status, 0) != pid)
		return -1;
	return status;
}

void segment_fixture_dead_process(struct ncs_process *process)
{
	int gate[2];
	char byte;
	pid_t pid;

	ncs_process_describe(process);
	if (pipe(gate) != 0)
		abort();
	pid = fork();
	if (pid < 0)
		abort();
	if (pid == 0) {
		close(gate[1]);
		_exit(read(gate[0], &byte, 1) != 0);
	}
	close(gate[0]);
	process->pid = (uint32_t)pid;
	process->start = ncs_process_start(process->pid);
	close(gate[1]);
	waitpid(pid, NULL, 0);
}
