/* SPDX-License-Identifier: MIT */
/* Pieces of the sentences that the live view says about ranks, channels and
 * states; the words themselves are the tables'.
 *
 * Pure functions.
 */
#ifndef NCS_TUI_TEXT_WORDS_H
#define NCS_TUI_TEXT_WORDS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "analysis/base/append.h"
#include "analysis/model/communicators.h"
#include "analysis/model/model.h"

/* "rank 5", or "pid 1234" where the rank is not known. */
void ncs_rank_label(const struct ncs_rank *rank, char *text, size_t size);

/* "rank 5 of world" */
void ncs_rank_title(const struct ncs_rank *rank, char *text, size_t size);

/* What a communicator is called, or of whom it is. */
void ncs_communicator_label(const struct ncs_communicator *communicator,
			    char *text, size_t size);

/* "channel 3 send to 6" */
void ncs_channel_label(const struct ncs_channel_view *channel, char *text,
		       size_t size);

/* Appends a duration. */
void ncs_append_duration(char *text, size_t size, uint64_t duration_ns);

/* Appends " (dead)", " (finished)" or the like unless the rank is live. */
void ncs_append_liveness(const struct ncs_rank *rank, char *text, size_t size);

/* Between the clauses of a sentence: "; ", or a blank after a colon. */
void ncs_append_separator(char *text, size_t size);

/* Appends a clause on a channel's wait: "channel 3 send to 6, peer for 41.2s", and
 * what that state means. */
void ncs_append_wait(const struct ncs_wait *wait, char *text, size_t size);

/* Appends a clause on what a rank has lost and why, if it has. */
void ncs_append_losses(const struct ncs_rank *rank, char *text, size_t size);

/* Appends what is estimated of a rank's steps in one direction, with 95 % on
 * either side; nothing where none was seen. */
void ncs_append_steps(const struct ncs_rank *rank, bool send, char *text,
		      size_t size);

/* Appends a clause on how late a rank comes to collectives, and one on the
 * operation that others wait for it in; nothing where it is not known. */
void ncs_append_lateness(const struct ncs_rank *rank, char *text, size_t size);
void ncs_append_late_now(const struct ncs_rank *rank, char *text, size_t size);

/* Appends a clause on how far apart a communicator's ranks come, and who comes
 * late. */
void ncs_append_skew(const struct ncs_communicator *communicator, char *text,
		     size_t size);

/* Appends sentences on kernel timing and the GPU's clock, if the plugin tells. */
void ncs_append_kernel_timing(const struct ncs_rank *rank, char *text,
			      size_t size);

/* The tables' sentence on a state, and its letter. */
const char *ncs_channel_state_help(unsigned state);
const char *ncs_proxy_state_help(unsigned state);
char ncs_channel_state_letter(unsigned state);
char ncs_proxy_state_letter(unsigned state);

/* Returns the letter for where times come from: 'K' for the kernel, 'P' for the
 * proxy, '-' for none. */
char ncs_timing_letter(unsigned timing);

#endif
