/* SPDX-License-Identifier: MIT */
/* Parts of the sentences about ranks, channels and states that more than one
 * view uses. The words for events and states are those of the tables.
 *
 * Pure functions. Texts are cut at the size of the buffer.
 */
#ifndef NCS_TUI_TEXT_WORDS_H
#define NCS_TUI_TEXT_WORDS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <time.h>

#include "analysis/base/append.h"
#include "analysis/model/communicators.h"
#include "analysis/model/model.h"

/* Some words for a text, which end with the expression in which they are made:
 * ncs_append(text, size, "after %s", ncs_duration(ns).text). */
struct ncs_phrase {
	char text[192];
};

/* Returns such words, cut to fit. */
struct ncs_phrase ncs_phrase(const char *format, ...)
	__attribute__((format(printf, 1, 2)));

/* Returns a duration: "4.1ms". */
struct ncs_phrase ncs_duration(uint64_t duration_ns);

/* Returns a time since 1970 by the clock here: "2026-11-24 12:00:00"; "" if it has
 * none. */
struct ncs_phrase ncs_local_time(time_t seconds);

/* Returns a number of bytes as nccl-tests does: "64M". */
struct ncs_phrase ncs_size(uint64_t bytes);

/* Returns a duration of a rank, which may be NULL. If nobody knows when its
 * process died, it was in its state for "at least" so long, and its death, with
 * `since_death`, is "at most" so long ago. */
struct ncs_phrase ncs_lasting(const struct ncs_rank *rank, bool since_death,
			      uint64_t duration_ns);

/* Returns "rank 5", or "pid 1234" if the rank is not known. */
struct ncs_phrase ncs_rank_name(const struct ncs_rank *rank);

/* Returns " of COMMUNICATOR" as a rank's identity has it; "" if that is only an
 * id and the model has no other communicator. `communicator` may be NULL. */
struct ncs_phrase ncs_of(const struct ncs_identity *identity,
			 const struct ncs_communicator *communicator);

/* Returns "rank 5 of world". */
struct ncs_phrase ncs_rank_of(const struct ncs_rank *rank);

/* Returns " (dead)", " (finished)" or the like; "" if the rank is live. */
struct ncs_phrase ncs_rank_life(const struct ncs_rank *rank);

/* Returns the name of a communicator, or "communicator of rank 5" if it has
 * none. */
struct ncs_phrase
ncs_communicator_name(const struct ncs_communicator *communicator);

/* Returns "AllReduce #4", without the number if that is
 * NCS_NO_SEQUENCE_NUMBER. */
struct ncs_phrase ncs_call_name(unsigned function, uint64_t number);

/* Returns "channel 3 send to 6". */
struct ncs_phrase ncs_channel_name(const struct ncs_channel_view *channel);

/* Appends a clause behind a separator: "; ", or a blank after a colon; nothing
 * at the beginning. */
void ncs_append_clause(char *text, size_t size, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

/* Appends a clause on a channel's wait: "channel 3 send to 6, peer for 41.2s",
 * and the meaning of that state. */
void ncs_append_wait(const struct ncs_wait *wait, char *text, size_t size);

/* Appends a clause on the records that a rank lost and the reasons, if any. */
void ncs_append_losses(const struct ncs_rank *rank, char *text, size_t size);

/* Appends the estimates for a rank's steps in one direction, with 95 %
 * confidence intervals; nothing if no step was seen. */
void ncs_append_steps(const struct ncs_rank *rank, bool send, char *text,
		      size_t size);

/* Returns whether a rank is not compared with ranks of other hosts, as clocks
 * are not aligned. */
bool ncs_rank_is_apart(const struct ncs_rank *rank);

/* Append a clause on how late a rank arrives at collectives, and one on the
 * operation in which others wait for it now; nothing if that is not known. */
void ncs_append_lateness(const struct ncs_rank *rank, char *text, size_t size);
void ncs_append_late_now(const struct ncs_rank *rank, char *text, size_t size);

/* Appends a clause on how far apart the ranks of a communicator arrive, and on
 * its straggler. */
void ncs_append_skew(const struct ncs_communicator *communicator, char *text,
		     size_t size);

/* Appends "launch 75 of 80 began 3.2s ago, 4 are ahead on the host"; nothing if
 * no launch is followed. */
void ncs_append_launch_progress(const struct ncs_rank *rank, char *text,
				size_t size);

/* Appends "1 launch in 8 is timed, 120 so far: " and the reason; nothing if the
 * plugin does not say. */
void ncs_append_launch_timing(const struct ncs_rank *rank, char *text,
			      size_t size);

/* Appends what a rank has waited for longest (analysis/model/waits.h): a
 * channel's wait, or "AllReduce #41, stream for 3.2s: ". Appends nothing if it
 * waits for nothing. */
void ncs_append_oldest(const struct ncs_rank *rank, char *text, size_t size);

/* Return the table's explanation of a loss, and of a channel's state. */
const char *ncs_loss_help(unsigned loss);
const char *ncs_channel_state_help(unsigned state);

#endif
