/* SPDX-License-Identifier: MIT */
/* A hunt for torn records: one writer, several readers, and readers that check
 * every word of what they accept.
 *
 * The readers are threads or processes; processes have nothing but a
 * read-only mapping. The ring under test is given by its functions, so that
 * broken rings (test_ring_weakened.c) are hunted exactly as the real one
 * (test_ring_torture.c): a hunt that finds nothing in them would prove
 * nothing. Nobody asserts in here: workers count, the test judges.
 */
#ifndef NCS_TEST_STRESS_HUNT_H
#define NCS_TEST_STRESS_HUNT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "shm/ring.h"

#define HUNT_READERS 3

/* --- Any hunt ---------------------------------------------------------- */

/* What one reader found. */
struct hunt_look {
	uint64_t accepted;
	uint64_t lost;     /* counted as overwritten */
	uint64_t rejected; /* those of them that had been copied */
	uint64_t bad;      /* accepted, but torn, stale or out of order */
	uint64_t first_bad;
};

struct hunt_control {
	uint64_t ready; /* readers that have begun */
	uint64_t done;  /* the writer has ended */
	struct hunt_look looks[HUNT_READERS];
};

struct hunt {
	bool processes;
	size_t shared_bytes; /* zeros at first, of whole pages */
	void (*write)(const struct hunt *hunt, void *shared);
	/* Returns once hunt_is_done() said so before its last look. */
	void (*read)(const struct hunt *hunt, const void *shared,
		     const struct hunt_control *control,
		     struct hunt_look *look);
	const void *argument;
};

/* Runs it; looks[] gets what each reader found. False if a worker could not
 * be had or died. */
bool hunt_run(const struct hunt *hunt, struct hunt_look looks[HUNT_READERS]);

bool hunt_is_done(const struct hunt_control *control);

/* Lets others run, as one who has nothing to do. */
void hunt_idle(void);

/* A writer's pause in the midst of its work; at times others get to run. */
void hunt_stall(void);

/* Well under a microsecond of nothing. */
void hunt_rest(void);

/* For a reader between two words: once in a while others get to run, so that
 * it is overtaken also where there is one processor only. */
void hunt_interrupt(void);

/* --- Rings ------------------------------------------------------------- */

/* A ring as its users see it; see shm/ring.h for what the functions do.
 * produce() puts `count` records and stalls inside every `stall`th, 0: none. */
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
	unsigned stall; /* inside every nth record; 0: never */
	size_t batch;   /* records copied at once, at most HUNT_BATCH */
	bool processes;
};

#define HUNT_BATCH 256

bool hunt_records(const struct hunt_setup *setup,
		  struct hunt_look looks[HUNT_READERS]);

/* Word `k` of the record at a position. All bits of a position count. */
static inline uint64_t hunt_word(uint64_t position, unsigned k)
{
	return (position + 1) * (UINT64_C(0x9e3779b97f4a7c15) + 2 * k) ^
	       UINT64_C(0x0101010101010101) * k;
}

/* The whole record at a position, with its position in it. */
static inline void hunt_fill(struct ncs_record *record, uint64_t position)
{
	uint64_t words[NCS_RECORD_WORDS];

	for (unsigned k = 0; k < NCS_RECORD_WORDS; k++)
		words[k] = hunt_word(position, k);
	memcpy(record, words, sizeof(words));
	record->position = (uint32_t)position;
}

/* The real ring (real_ring.c): as it is, and with pauses in both its ends. */
extern const struct hunt_ring hunt_real_ring;
extern const struct hunt_ring hunt_stalled_ring;

#endif
