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

#include "analysis/base/append.h"
#include "analysis/model/communicators.h"
#include "analysis/model/model.h"

/* Appends "rank 5", or "pid 1234" if the rank is not known. */
void ncs_append_rank(const struct ncs_rank *rank, char *text, size_t size);

/* Appends " of COMMUNICATOR" as a rank's identity has it; not if that is only an
 * id and the model has no other communicator. `communicator` may be NULL. */
void ncs_append_of(const struct ncs_identity *identity,
		   const struct ncs_communicator *communicator, char *text,
		   size_t size);

/* Appends "rank 5 of world". */
void ncs_append_rank_of(const struct ncs_rank *rank, char *text, size_t size);

/* Appends the name of a communicator, or "communicator of rank 5" if it has
 * none. */
void ncs_append_communicator(const struct ncs_communicator *communicator,
			     char *text, size_t size);

/* Appends "channel 3 send to 6". */
void ncs_append_channel(const struct ncs_channel_view *channel, char *text,
			size_t size);

/* Appends a duration. */
void ncs_append_duration(char *text, size_t size, uint64_t duration_ns);

/* Appends a duration of a rank, which may be NULL. If nobody knows when its
 * process died, it was in its state for "at least" so long, and its death, with
 * `since_death`, is "at most" so long ago. */
void ncs_append_lasting(const struct ncs_rank *rank, bool since_death,
			uint64_t duration_ns, char *text, size_t size);

/* Appends " (dead)", " (finished)" or the like unless the rank is live. */
void ncs_append_liveness(const struct ncs_rank *rank, char *text, size_t size);

/* Appends the separator of two clauses: "; ", or a blank after a colon; nothing
 * at the beginning. */
void ncs_append_separator(char *text, size_t size);

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

/* Appends sentences on kernel timing and on the GPU's clock, if these are
 * known. */
void ncs_append_kernel_timing(const struct ncs_rank *rank, char *text,
			      size_t size);

/* Return the table's explanation of a loss and of a state, and its letter. */
const char *ncs_loss_help(unsigned loss);
const char *ncs_channel_state_help(unsigned state);
const char *ncs_proxy_state_help(unsigned state);
char ncs_channel_state_letter(unsigned state);
char ncs_proxy_state_letter(unsigned state);

#endif
