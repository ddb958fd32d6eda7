/* SPDX-License-Identifier: MIT */
/* Prints plain text as mdoc: adds its escapes, and puts each sentence on a line of
 * its own. Must not know where the text comes from. */
#include "man/mdoc.h"

#include <ctype.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "shm/characters.h"

/* Bytes of a line of mdoc; mandoc -Tlint wants fewer than 80. */
#define LINE_MAX_BYTES 76

/* --- Escapes ------------------------------------------------------------ */

/* Returns the escape of an ASCII character to which roff gives another meaning;
 * NULL if it needs none. A dash or quote inside a word keeps its meaning. */
static const char *escape_of(char c, bool in_word)
{
	switch (c) {
	case '\\':
		return "\\e";
	case '^':
		return "\\(ha";
	case '~':
		return "\\(ti";
	case '`':
		return "\\(ga";
	case '"':
		return "\\(dq";
	case '|': /* A line may break after it. */
		return "\\(ba\\:";
	case '\'':
		return in_word ? NULL : "\\(aq";
	case '-':
		return in_word ? NULL : "\\-";
	default:
		return NULL;
	}
}

/* Escapes `length` bytes. `literal` is for a name that users type exactly so. */
static void escape(char *escaped, size_t size, const char *text, size_t length,
		   bool literal)
{
	size_t used = 0;

	for (size_t i = 0; i < length;) {
		bool in_word = !literal && i > 0 && i + 1 < length &&
			       isalnum((unsigned char)text[i - 1]) &&
			       isalnum((unsigned char)text[i + 1]);
		const char *code = escape_of(text[i], in_word);
		char one[16] = { text[i] };
		uint32_t character = 0;
		size_t bytes = ncs_utf8_decode(&text[i], &character);

		if (character >= 0x80)
			snprintf(one, sizeof(one), "\\[u%04X]", character);
		used += (size_t)snprintf(escaped + used, size - used, "%s",
					 code ? code : one);
		if (used >= size) {
			fputs("mangen: a word is too long\n", stderr);
			exit(1);
		}
		i += bytes;
	}
}

void ncs_mdoc_name(const char *name)
{
	char escaped[256];

	escape(escaped, sizeof(escaped), name, strlen(name), true);
	printf("%s%s", strlen(name) <= 3 ? "\\&" : "", escaped);
}

/* --- Sentences ---------------------------------------------------------- */

static bool ends_sentence(const char *word, size_t length)
{
	while (length > 0 && strchr(")'\"", word[length - 1]))
		length--;
	return length > 1 && strchr(".!?", word[length - 1]) &&
	       !(length > 3 && word[length - 3] == '.');
}

void ncs_mdoc_text(const char *text)
{
	size_t column = 0;
	bool new_line = true;

	while (*text) {
		size_t length = strcspn(text, " ");
		char word[256];
		bool control = *text == '.' || *text == '\'';

		escape(word, sizeof(word), text, length, false);
		if (!new_line && column + 1 + strlen(word) > LINE_MAX_BYTES)
			new_line = true;
		if (column > 0)
			putchar(new_line ? '\n' : ' ');
		if (new_line)
			column = 0;
		printf("%s%s", new_line && control ? "\\&" : "", word);
		column += 1 + strlen(word);
		new_line = ends_sentence(text, length);
		text += length;
		text += strspn(text, " ");
	}
	putchar('\n');
}

void ncs_mdoc_sentence(const char *text)
{
	char sentence[1024];
	size_t length = strlen(text);

	if (length == 0 || length + 2 > sizeof(sentence)) {
		fputs("mangen: a help text is empty or too long\n", stderr);
		exit(1);
	}
	memcpy(sentence, text, length + 1);
	sentence[0] = (char)toupper((unsigned char)sentence[0]);
	if (!strchr(".!?", sentence[length - 1]))
		strcpy(&sentence[length], ".");
	ncs_mdoc_text(sentence);
}
