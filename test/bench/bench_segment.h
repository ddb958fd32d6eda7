/* SPDX-License-Identifier: MIT */
/* A segment without a job, for the benches of recordings. */
#ifndef NCS_TEST_BENCH_BENCH_SEGMENT_H
#define NCS_TEST_BENCH_BENCH_SEGMENT_H

#include <string.h>

#include "ncclstat/reader.h"
#include "shm/write/writer.h"
#include "test/bench/caller.h"

/* Creates a segment of this process, not published yet. Ends the program if that
 * fails. */
static inline void bench_create_segment(struct ncs_writer *segment,
					const char *directory,
					const struct ncs_segment_size *size)
{
	struct ncs_process process;
	int error;

	ncs_process_describe(&process);
	error = ncs_writer_create(segment, directory, &process, 0, size, NULL);
	if (error)
		bench_fail(directory, strerror(-error));
}

/* Publishes the segment and opens it for reading. Ends the program if that
 * fails. */
static inline struct ncs_reader *
bench_publish_segment(struct ncs_writer *segment)
{
	struct ncs_reader *reader;
	char why[160];

	ncs_writer_publish(segment);
	if (ncs_reader_open(segment->path, &reader, why, sizeof(why)) !=
	    NCS_ATTACHED)
		bench_fail(segment->path, why);
	return reader;
}

#endif
