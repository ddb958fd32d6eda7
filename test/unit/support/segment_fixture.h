/* SPDX-License-Identifier: MIT */
/* A small segment in a directory of its own, for tests of what reads and
 * writes segments. Its clock is CLOCK_MONOTONIC, so that ticks are ns. */
#ifndef NCS_TEST_UNIT_SUPPORT_SEGMENT_FIXTURE_H
#define NCS_TEST_UNIT_SUPPORT_SEGMENT_FIXTURE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "ncclstat/abi.h"
#include "shm/write/writer.h"

struct segment_fixture {
	char directory[64];
	struct ncs_process process; /* the test's own */
	struct ncs_writer writer;
	struct ncs_header *header; /* the writer's mapping */
};

/* The size of the segment: 3 lanes, 4 channels, 256 operations, 2 classes
 * besides those of functions, 3 histograms, and rings of 8 records. */
extern const struct ncs_segment_size segment_fixture_size;

/* cmocka's setup and teardown: *state is a struct segment_fixture with a
 * directory, and with a published segment unless _bare. Teardown removes the
 * directory with all that a test put there. */
int segment_fixture_setup(void **state);
int segment_fixture_setup_bare(void **state);
int segment_fixture_teardown(void **state);

/* A cmocka test in a fixture without a segment. */
#define SEGMENT_FIXTURE_BARE(test) \
	cmocka_unit_test_setup_teardown(test, segment_fixture_setup_bare, \
					segment_fixture_teardown)

/* Creates a segment as a process would, without publishing it; `number` is that
 * in its name. Returns 0 or -errno. */
int segment_fixture_create(struct segment_fixture *fixture,
			   const struct ncs_process *process, uint64_t number,
			   struct ncs_writer *writer);

/* Creates a segment as a process would, and publishes it; asserts that it
 * succeeds. */
void segment_fixture_make(struct segment_fixture *fixture,
			  const struct ncs_process *process, uint64_t number,
			  struct ncs_writer *writer);

/* Unmaps a segment as the end of its process does: nobody holds it any more. */
void segment_fixture_let_go(struct ncs_writer *writer);

/* Returns the path of a file in the fixture's directory; valid until the next
 * call. */
const char *segment_fixture_path(const struct segment_fixture *fixture,
				 const char *name);

/* Tells whether there is a file or symbolic link of this name. */
bool segment_fixture_exists(const char *path);

/* Return entries of the fixture's segment, to be written; they are in use from
 * now on. */
struct ncs_lane *segment_fixture_lane(struct segment_fixture *fixture,
				      unsigned index);
struct ncs_channel *segment_fixture_channel(struct segment_fixture *fixture,
					    unsigned index);
struct ncs_operation *segment_fixture_operation(struct segment_fixture *fixture,
						unsigned index);
struct ncs_class *segment_fixture_class(struct segment_fixture *fixture,
					unsigned index);
struct ncs_histogram *segment_fixture_histogram(struct segment_fixture *fixture,
						unsigned index);
struct ncs_ring *segment_fixture_ring(struct segment_fixture *fixture,
				      unsigned index);

/* Publishes `count` records in a lane's ring; record i has value i. */
void segment_fixture_put(struct segment_fixture *fixture, unsigned lane,
			 unsigned count);

/* Writes something into every table, so that damage to it matters. */
void segment_fixture_fill(struct segment_fixture *fixture, uint64_t now_ns);

/* Runs a function in a child process and returns the child's wait status. Its
 * exit status is the function's result. The function must not assert
 * anything. */
int segment_fixture_in_child(int (*run)(struct segment_fixture *fixture),
			     struct segment_fixture *fixture);

/* Describes a process that is gone: a child that was waited for. */
void segment_fixture_dead_process(struct ncs_process *process);

#endif
