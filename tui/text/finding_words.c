/* SPDX-License-Identifier: MIT */
/* Words that sentences and evidence share; see finding_words.h. */
#include "tui/text/finding_words.h"

#include <string.h>
#include <strings.h>

#include "analysis/base/value_names.h"
#include "tui/text/words.h"

void ncs_append_sentence(const char *sentence, const struct ncs_word *words,
			 size_t count, const void *of, char *text, size_t size)
{
	while (*sentence) {
		size_t plain = strcspn(sentence, "$"), length, i = 0;

		ncs_append(text, size, "%.*s", (int)plain, sentence);
		sentence += plain;
		if (!*sentence)
			return;
		sentence++;
		length = strspn(sentence, "abcdefghijklmnopqrstuvwxyz");
		while (i < count &&
		       (strlen(words[i].word) != length ||
			strncasecmp(words[i].word, sentence, length) != 0))
			i++;
		if (i < count)
			words[i].append(of, text, size);
		sentence += length;
	}
}

/* Whether a rank of a communicator may be on another node than those that are
 * looked at. */
static bool is_elsewhere(const struct ncs_communicator *communicator)
{
	const struct ncs_identity *identity = communicator->identity;

	return !((identity->known & NCS_KNOWN_NNODES) &&
		 identity->nnodes == 1) &&
	       !(communicator->rank_count > 0 &&
		 communicator->ranks[0]->reach[0]);
}

bool ncs_party_is_dead(const struct ncs_party *party)
{
	return party->rank && party->rank->now.liveness == NCS_DEAD;
}

void ncs_append_party(const struct ncs_party *party, char *text, size_t size)
{
	const struct ncs_communicator *communicator = party->communicator;

	if (party->rank) {
		ncs_append_rank_of(party->rank, text, size);
	} else if (!communicator) {
		ncs_append(text, size, "a rank");
	} else if (party->number < 0) {
		ncs_append_communicator(communicator, text, size);
	} else {
		ncs_append(text, size, "rank %d", party->number);
		ncs_append_of(communicator->identity, communicator, text, size);
		ncs_append(text, size, ", %s,",
			   is_elsewhere(communicator) ? "not on this node" :
							"which is not seen");
	}
}

void ncs_append_call(const struct ncs_call_id *call, char *text, size_t size)
{
	if (call->function >= NCS_FUNCTION_COUNT) {
		ncs_append(text, size, "a call");
		return;
	}
	ncs_append_numbered(text, size, call->function, call->sequence_number);
}
