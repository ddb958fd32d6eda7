/* SPDX-License-Identifier: MIT */
/* Decoding of untrusted text; see characters.h. Pure. */
#include "shm/characters.h"

size_t ncs_utf8_decode(const char *text, uint32_t *character)
{
	static const uint32_t least[] = { 0, 0, 0x80, 0x800, 0x10000 };
	const unsigned char *bytes = (const unsigned char *)text;
	uint32_t value;
	size_t length;

	if (bytes[0] < 0x80) {
		*character = bytes[0];
		return 1;
	}
	if (bytes[0] >= 0xf5 || bytes[0] < 0xc2)
		return 0;
	length = bytes[0] >= 0xf0 ? 4 : bytes[0] >= 0xe0 ? 3 : 2;
	value = bytes[0] & (0x7fu >> length);
	for (size_t i = 1; i < length; i++) {
		if ((bytes[i] & 0xc0) != 0x80)
			return 0;
		value = value << 6 | (bytes[i] & 0x3f);
	}
	if (value < least[length] || value > 0x10ffff ||
	    (value >= 0xd800 && value <= 0xdfff))
		return 0;
	*character = value;
	return length;
}

bool ncs_utf8_is_harmless(uint32_t character)
{
	if (character < 0x20 || (character >= 0x7f && character < 0xa0))
		return false;
	/* Unsafe are marks, embeddings, overrides and isolates of the direction
	 * of writing, and separators of lines and paragraphs. */
	return !(character == 0x061c ||
		 (character >= 0x200e && character <= 0x200f) ||
		 (character >= 0x2028 && character <= 0x202e) ||
		 (character >= 0x2066 && character <= 0x2069));
}
