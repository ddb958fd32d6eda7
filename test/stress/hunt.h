/* SPDX-License-Identifier: MIT */
/* A hunt for torn records: one writer, and several readers that check every
 * word of each record that they accept.
 *
 * Readers are threads or processes; processes have only a read-only mapping.
 * The ring under test is given by its functions, so that broken rings
 * (test_ring_weakened.c) are hunted in the same way as the real one
 * (test_ring_torture.c): a hunt that finds nothing in them would prove nothing.
 * Workers do not assert; they count, and the test judges the counts.
 */
#ifndef NCS_TEST_STRESS_HUNT_H
#define NCS_TEST_STRESS_HUNT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "shm/ring.h"

#define HUNT_READERS 3

/* --- Parts of all hunts ------------------------------------------------ */

/* The findings of one reader. */
struct hunt_findings {
	uint64_t accepted;
	uint64_t lost;     /* counted as overwritten */
	uint64_t rejected; /* those of them that had already been copied */
	uint64_t bad;      /* accepted, although torn, stale or out of order */
	uint64_t first_bad;
};

struct hunt_control {
	uint64_t ready; /* number of readers that have begun */
	uint64_t done;  /* 1 once the writer has ended */
	struct hunt_findings findings[HUNT_READERS];
};

struct hunt {
	bool processes;
	size_t shared_bytes; /* whole pages, initially all zeros */
	void (*write)(const struct hunt *hunt, void *shared);
	/* Reads until hunt_is_done() returned true before its last reading. */
	void (*read)(const struct hunt *hunt, const void *shared,
		     const struct hunt_control *control,
		     struct hunt_findings *findings);
	const void *argument;
};

/* Runs the hunt; findings[] gets the findings of each reader. Returns false if
 * a worker could not be started or died. */
bool hunt_run(const struct hunt *hunt,
	      struct hunt_findings findings[HUNT_READERS]);

bool hunt_is_done(const struct hunt_control *control);

/* Lets other threads run while there is nothing to do. */
void hunt_idle(void);

/* Pauses the writer in the middle of a record; sometimes other threads get to
 * run. */
void hunt_stall(void);

/* Waits well under a microsecond. */
void hunt_rest(void);

/* Pauses a reader between two words: once in a while other threads get to run,
 * so that it is overtaken even if there is only one processor. */
void hunt_interrupt(void);

/* --- Rings ------------------------------------------------------------- */

/* A ring as its users see it; see shm/ring.h for its functions. produce() puts
 * `count` records and stalls inside every `stall`th one, or inside none if that
 * is 0. */
struct hunt_ring {
	const char *name;
	void (*produce)(struct ncs_ring_producer *producer, uint64_t count,
			unsigned stall);
	uint64_t (*available)(const struct ncs_ring *ring, uint64_t capacity,
			      struct ncs_ring_cursor *cursor);
	size_t (*copy)(const struct ncs_ring *ring,
		       const struct ncs_record *slots, uint64_t capacity,
		       struct ncs_ring_cursor *cursor,
		       struct ncs_record *records, size_t count);
};

struct hunt_setup {
	const struct hunt_ring *ring;
	uint32_t capacity;
	uint64_t records;
	unsigned stall; /* stall inside every nth record; 0 for never */
	size_t batch;   /* records copied at once, at most HUNT_BATCH */
	bool processes;
};

#define HUNT_BATCH 256

bool hunt_records(const struct hunt_setup *setup,
		  struct hunt_findings findings[HUNT_READERS]);

/* Returns word `k` of the record at a position, which depends on all bits of
 * the position. */
static inline uint64_t hunt_word(uint64_t position, unsigned k)
{
	return (position + 1) * (UINT64_C(0x9e3779b97f4a7c15) + 2 * k) ^
	       UINT64_C(0x0101010101010101) * k;
}

/* Returns the whole record at a position, with its position filled in. */
static inline void hunt_fill(struct ncs_record *record, uint64_t position)
{
	uint64_t words[NCS_RECORD_WORDS];

	for (unsigned k = 0; k < NCS_RECORD_WORDS; k++)
		words[k] = hunt_word(position, k);
	memcpy(record, words, sizeof(words));
	record->position = (uint32_t)position;
}

/* The real ring (real_ring.c), without and with pauses in both its sides. */
extern const struct hunt_ring hunt_real_ring;
extern const struct hunt_ring hunt_stalled_ring;

#endif
