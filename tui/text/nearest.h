/* SPDX-License-Identifier: MIT */
/* The name that a user may have meant by a mistyped word. Must not know what the
 * names are of. */
#ifndef NCS_TUI_TEXT_NEAREST_H
#define NCS_TUI_TEXT_NEAREST_H

#include <stddef.h>

/* Words longer than this many bytes are like no name. */
#define NCS_NEAREST_MAX 40

/* A word, and the name of those tried that is most like it. All strings are
 * borrowed. */
struct ncs_nearest {
	const char *word;
	size_t length;
	const char *name; /* NULL if none is near */
	size_t name_length;
	unsigned distance;
};

/* Begins with a word of so many bytes. */
void ncs_nearest_begin(struct ncs_nearest *nearest, const char *word,
		       size_t length);

/* Tries a name. The first of several that are equally near is kept. Case does not
 * count. */
void ncs_nearest_try(struct ncs_nearest *nearest, const char *name);

/* Tries each of the words of "one|two|three". */
void ncs_nearest_try_choices(struct ncs_nearest *nearest, const char *choices);

/* Appends "; did you mean NAME?" with a text before the name, if one is near. */
void ncs_nearest_append(const struct ncs_nearest *nearest, const char *before,
			char *text, size_t size);

#endif
