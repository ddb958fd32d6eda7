/* SPDX-License-Identifier: MIT */
/* Cleaning text for terminals and files; see utf8.h. */
#include "analysis/base/utf8.h"

#include <string.h>

#include "shm/characters.h"

void ncs_utf8_clean(char *text, size_t size, const char *raw, bool ascii)
{
	size_t used = 0;

	while (*raw) {
		uint32_t character = 0;
		size_t length = ncs_utf8_decode(raw, &character);
		bool good = length > 0 && ncs_utf8_is_harmless(character) &&
			    (character < 0x80 || !ascii);
		size_t written = good ? length : 1;

		if (used + written >= size)
			break;
		if (good)
			memcpy(&text[used], raw, length);
		else
			text[used] = '?';
		used += written;
		raw += length > 0 ? length : 1;
	}
	if (size > 0)
		text[used] = '\0';
}
