/* SPDX-License-Identifier: MIT */
/* Constant texts that lie one behind another, each with its terminating 0, as
 * "one\0" "two\0". An array of pointers to them would need a relocation for each
 * of them whenever the plugin is loaded, and four times their space. */
#ifndef NCS_SHM_TEXTS_H
#define NCS_SHM_TEXTS_H

#include <string.h>

/* Returns the text that begins behind a text. */
static inline const char *ncs_text_behind(const char *text)
{
	return text + strlen(text) + 1;
}

/* Returns one of several texts, the first of which has number 0; the caller
 * knows that there are as many. */
static inline const char *ncs_text_at(const char *texts, unsigned number)
{
	while (number-- > 0)
		texts = ncs_text_behind(texts);
	return texts;
}

#endif
