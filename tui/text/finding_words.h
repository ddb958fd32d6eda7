/* SPDX-License-Identifier: MIT */
/* Words that the sentence of a finding and its evidence share: ranks, calls. Each
 * function appends to a text of `size` bytes, cut to fit. Pure functions.
 */
#ifndef NCS_TUI_TEXT_FINDING_WORDS_H
#define NCS_TUI_TEXT_FINDING_WORDS_H

#include <stdbool.h>
#include <stddef.h>

#include "analysis/diagnosis/finding.h"

/* Appends what a $word of a sentence stands for, of a finding or of evidence. */
typedef void ncs_append_word(const void *of, char *text, size_t size);

struct ncs_word {
	const char *word; /* in capitals, without $ */
	ncs_append_word *append;
};

/* Appends a sentence of a table, whose words are all among `count` words. */
void ncs_append_sentence(const char *sentence, const struct ncs_word *words,
			 size_t count, const void *of, char *text, size_t size);

/* Returns whether a party is a rank whose process is gone. */
bool ncs_party_is_dead(const struct ncs_party *party);

/* Appends the rank, seen or not, or the communicator that a party names. */
void ncs_append_party(const struct ncs_party *party, char *text, size_t size);

/* Appends a call: its function and, if known, its sequence number, as in
 * "AllReduce #17". */
void ncs_append_call(const struct ncs_call_id *call, char *text, size_t size);

#endif
