/* SPDX-License-Identifier: MIT */
/* Letters of the live view: each means one thing, and all that are shown are in
 * the table of letters. */
#include <ctype.h>
#include <stdbool.h>
#include <string.h>

#include "analysis/model/waits.h"
#include "analysis/views/timeline.h"
#include "ncclstat/tables/letters.def"
#include "test/unit/support/unit.h"

static const char letters[] = {
#define X(ID) NCS_LETTER_##ID,
	NCS_LETTERS(X)
#undef X
};

TEST(no_two_letters_are_alike)
{
	for (size_t i = 0; i < sizeof(letters); i++)
		for (size_t k = 0; k < i; k++)
			assert_int_not_equal(toupper(letters[i]),
					     toupper(letters[k]));
}

/* Activities that share a letter are the same one, or are unknown. */
TEST(no_two_activities_share_a_letter)
{
	for (unsigned i = 0; i < NCS_ACTIVITY_COUNT; i++) {
		char letter = ncs_activities[i].letter;

		assert_non_null(memchr(letters, letter, sizeof(letters)));
		if (letter == NCS_LETTER_NOTHING ||
		    letter == NCS_LETTER_UNKNOWN)
			continue;
		for (unsigned k = 0; k < i; k++)
			assert_int_not_equal(letter, ncs_activities[k].letter);
	}
}

TEST(waits_of_the_job_have_the_letters_of_channels)
{
	static const unsigned channels[NCS_WAIT_COUNT] = {
		[NCS_WAIT_GPU] = NCS_CHANNEL_SEND_GPU_WAIT,
		[NCS_WAIT_PEER] = NCS_CHANNEL_SEND_PEER_WAIT,
		[NCS_WAIT_NETWORK] = NCS_CHANNEL_SEND_WAIT,
		[NCS_WAIT_IDLE] = NCS_CHANNEL_IDLE,
	};

	for (unsigned i = 0; i < NCS_WAIT_COUNT; i++)
		assert_int_equal(
			ncs_wait_letter(i),
			ncs_activities[i == NCS_WAIT_RUNNING ?
					       NCS_ACTIVITY_RUNNING :
					       (enum ncs_activity)(
						       NCS_ACTIVITY_CHANNEL +
						       channels[i])]
				.letter);
}
