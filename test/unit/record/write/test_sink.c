/* SPDX-License-Identifier: MIT */
/* Tests of sinks: all bytes arrive in order, even if few are written at a time.
 * Write errors are reported, and the file then ends before the gap. */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "record/write/sink.h"
#include "test/unit/support/unit.h"

struct target {
	char path[64];
	char why[200];
};

static int setup(void **state)
{
	struct target *target = calloc(1, sizeof(*target));
	int file;

	strcpy(target->path, "/tmp/test-sink.XXXXXX");
	file = mkstemp(target->path);
	*state = target;
	return file < 0 ? -1 : close(file);
}

static int teardown(void **state)
{
	struct target *target = *state;

	unlink(target->path);
	free(target);
	return 0;
}

static unsigned char byte_at(uint64_t offset)
{
	return (unsigned char)(offset * 131 + offset / 4096);
}

/* Appends the bytes of byte_at() up to an offset. Returns false on an error. */
static bool fill(struct ncs_sink *sink, uint64_t until)
{
	while (ncs_sink_offset(sink) < until) {
		uint64_t offset = ncs_sink_offset(sink);
		size_t room;
		unsigned char *bytes = ncs_sink_room(sink, &room);

		if (!bytes)
			return false;
		assert_int_not_equal(room, 0);
		if (room > until - offset)
			room = until - offset;
		for (size_t i = 0; i < room; i++)
			bytes[i] = byte_at(offset + i);
		ncs_sink_put(sink, room);
	}
	return true;
}

static void assert_file(const char *path, uint64_t bytes)
{
	unsigned char *found = malloc(bytes + 1);
	FILE *stream = fopen(path, "rb");

	assert_non_null(stream);
	assert_int_equal(fread(found, 1, bytes + 1, stream), bytes);
	for (uint64_t i = 0; i < bytes; i++)
		if (found[i] != byte_at(i))
			fail_msg("byte %llu is wrong", (unsigned long long)i);
	fclose(stream);
	free(found);
}

/* --- Methods ------------------------------------------------------------- */

/* A size larger than all buffers together, and not a multiple of any block
 * size. */
#define MANY (17 * UINT64_C(1048576) + 777)

UNIT_FIXTURE(setup, teardown)

TEST(all_bytes_arrive_by_every_method)
{
	static const unsigned means[] = { 0, NCS_SINK_URING, NCS_SINK_DIRECT,
					  NCS_SINK_ALL_MEANS };
	struct target *target = *state;
	struct ncs_sink *sink;

	for (size_t i = 0; i < sizeof(means) / sizeof(means[0]); i++) {
		assert_int_equal(ncs_sink_open(&sink, target->path, means[i],
					       target->why,
					       sizeof(target->why)),
				 0);
		/* Flush a part of a buffer, then write the rest. */
		assert_true(fill(sink, 3 * 4096));
		assert_int_equal(ncs_sink_flush(sink), 0);
		assert_true(fill(sink, MANY));
		assert_int_equal(ncs_sink_offset(sink), MANY);
		assert_int_equal(ncs_sink_close(sink), 0);
		assert_file(target->path, MANY);
	}
}

TEST(file_is_readable_by_its_owner_only)
{
	struct target *target = *state;
	struct ncs_sink *sink;
	struct stat status;

	unlink(target->path);
	assert_int_equal(ncs_sink_open(&sink, target->path, 0, target->why,
				       sizeof(target->why)),
			 0);
	assert_int_equal(ncs_sink_close(sink), 0);
	assert_int_equal(stat(target->path, &status), 0);
	assert_int_equal(status.st_mode & 0777, 0600);
	assert_int_equal(status.st_size, 0);
}

static void *read_pipe(void *path)
{
	uint64_t *total = calloc(1, sizeof(*total));
	unsigned char bytes[999];
	int file = open(path, O_RDONLY);
	ssize_t count;

	while ((count = read(file, bytes, sizeof(bytes))) > 0)
		for (ssize_t i = 0; i < count; i++)
			if (bytes[i] == byte_at(*total))
				++*total;
	close(file);
	return total;
}

TEST(pipe_gets_all_bytes)
{
	struct target *target = *state;
	struct ncs_sink *sink;
	pthread_t reader;
	void *total;

	unlink(target->path);
	assert_int_equal(mkfifo(target->path, 0600), 0);
	pthread_create(&reader, NULL, read_pipe, target->path);
	assert_int_equal(ncs_sink_open(&sink, target->path, NCS_SINK_ALL_MEANS,
				       target->why, sizeof(target->why)),
			 0);
	assert_int_equal(sink->block_bytes, 1);
	assert_true(fill(sink, 5000));
	assert_int_equal(ncs_sink_flush(sink), 0);
	assert_true(fill(sink, 3000000));
	assert_int_equal(ncs_sink_close(sink), 0);
	pthread_join(reader, &total);
	assert_int_equal(*(uint64_t *)total, 3000000);
	free(total);
}

/* --- Errors -------------------------------------------------------------- */

/* A method that writes a few bytes at a time, with a delay, in random order,
 * and fails on request. */
static struct {
	struct ncs_sink_buffer *later[NCS_SINK_BUFFERS];
	size_t count;
	unsigned calls;
	unsigned polls;    /* calls without waiting */
	uint64_t fails_at; /* offset of the write that fails */
	int error;
	int once; /* result of the first call */
} awkward;

static ssize_t write_later(struct ncs_sink *sink,
			   struct ncs_sink_buffer *buffer)
{
	(void)sink;
	awkward.later[awkward.count++] = buffer;
	return NCS_SINK_LATER;
}

static ssize_t write_little(struct ncs_sink *sink, struct ncs_sink_buffer **out,
			    bool wait)
{
	size_t place = awkward.calls * 7 % awkward.count;
	struct ncs_sink_buffer *buffer = awkward.later[place];
	uint64_t offset = buffer->offset + buffer->written;
	size_t bytes = buffer->filled - buffer->written;

	*out = NULL;
	if (!wait && ++awkward.polls % 2)
		return NCS_SINK_LATER;
	*out = buffer;
	awkward.later[place] = awkward.later[--awkward.count];
	if (awkward.calls++ == 0 && awkward.once)
		return awkward.once;
	if (awkward.calls % 5 == 0)
		return awkward.calls % 2 ? -EINTR : -EAGAIN;
	if (bytes > 300000)
		bytes = 300000;
	if (awkward.fails_at >= offset && awkward.fails_at < offset + bytes)
		bytes = awkward.fails_at - offset;
	if (bytes == 0)
		return awkward.error;
	return pwrite(sink->file, buffer->bytes + buffer->written, bytes,
		      (off_t)offset);
}

static const struct ncs_sink_method awkward_way = {
	.name = "awkward",
	.write = write_later,
	.wait = write_little,
};

static struct ncs_sink *open_awkward(const struct target *target, bool direct)
{
	int file = open(target->path, O_RDWR | O_TRUNC);
	struct ncs_sink *sink;

	memset(&awkward, 0, sizeof(awkward));
	awkward.fails_at = UINT64_MAX;
	assert_int_equal(ncs_sink_open_method(&sink, file, direct, 4096,
					      &awkward_way),
			 0);
	return sink;
}

TEST(short_writes_are_continued)
{
	struct target *target = *state;
	struct ncs_sink *sink = open_awkward(target, false);

	assert_true(fill(sink, 2 * MANY));
	assert_int_equal(ncs_sink_close(sink), 0);
	assert_file(target->path, 2 * MANY);
}

/* The file system refuses O_DIRECT only at the first write. */
TEST(file_system_without_direct_writes_uses_the_page_cache)
{
	struct target *target = *state;
	struct ncs_sink *sink = open_awkward(target, true);

	awkward.once = -EINVAL;
	assert_true(fill(sink, MANY));
	assert_int_equal(ncs_sink_close(sink), 0);
	assert_file(target->path, MANY);
	/* Without O_DIRECT, -EINVAL is an error. */
	sink = open_awkward(target, false);
	awkward.once = -EINVAL;
	fill(sink, 100);
	assert_int_equal(ncs_sink_close(sink), -EINVAL);
}

TEST(full_disk_ends_the_file_before_the_gap)
{
	struct target *target = *state;
	struct ncs_sink *sink = open_awkward(target, false);
	struct stat status;
	size_t room;

	awkward.fails_at = 2 * UINT64_C(1048576) + 4096;
	awkward.error = -ENOSPC;
	assert_false(fill(sink, 4 * MANY));
	assert_int_equal(sink->error, -ENOSPC);
	assert_null(ncs_sink_room(sink, &room));
	assert_int_equal(ncs_sink_close(sink), -ENOSPC);
	stat(target->path, &status);
	assert_int_equal(status.st_size, awkward.fails_at);
	assert_file(target->path, awkward.fails_at);
}

/* The error is reported at the next flush, even if there are free buffers. */
TEST(write_error_shows_at_the_next_flush)
{
	struct target *target = *state;
	struct ncs_sink *sink = open_awkward(target, false);

	awkward.fails_at = 0;
	awkward.error = -ENOSPC;
	for (int i = 0; i < 4; i++) {
		fill(sink, ncs_sink_offset(sink) + 4096);
		ncs_sink_flush(sink);
	}
	assert_int_equal(sink->error, -ENOSPC);
	assert_int_equal(ncs_sink_close(sink), -ENOSPC);
}

/* A write of 0 bytes must not be repeated forever. */
TEST(write_of_zero_bytes_is_an_error)
{
	struct target *target = *state;
	struct ncs_sink *sink = open_awkward(target, false);

	awkward.fails_at = 5000;
	awkward.error = 0;
	fill(sink, 100000);
	assert_int_equal(ncs_sink_close(sink), -EIO);
}

TEST(full_device_is_reported_on_close)
{
	struct target *target = *state;
	struct ncs_sink *sink;

	assert_int_equal(ncs_sink_open(&sink, "/dev/full", NCS_SINK_ALL_MEANS,
				       target->why, sizeof(target->why)),
			 0);
	assert_true(fill(sink, 1000));
	assert_int_equal(ncs_sink_close(sink), -ENOSPC);
}

TEST(opening_failure_gives_the_reason)
{
	struct target *target = *state;
	struct ncs_sink *sink;

	assert_int_equal(ncs_sink_open(&sink, "/nowhere/at/all", 0, target->why,
				       sizeof(target->why)),
			 -ENOENT);
	assert_string_equal(target->why, strerror(ENOENT));
	assert_int_equal(ncs_sink_open(&sink, "/dev/ptmx", 0, target->why,
				       sizeof(target->why)),
			 -ENOTSUP);
	assert_non_null(strstr(target->why, "terminal"));
}
