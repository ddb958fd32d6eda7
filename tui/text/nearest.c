/* SPDX-License-Identifier: MIT */
/* Distances between words; see nearest.h. */
#include "tui/text/nearest.h"

#include <ctype.h>
#include <stdbool.h>
#include <string.h>

#include "analysis/base/append.h"

static bool are_alike(char a, char b)
{
	return tolower((unsigned char)a) == tolower((unsigned char)b);
}

static unsigned smaller(unsigned a, unsigned b)
{
	return a < b ? a : b;
}

/* Returns how many letters are to be put in, left out, replaced, or exchanged
 * with their neighbour to make `b` of `a`. */
static unsigned distance_of(const char *a, size_t a_length, const char *b,
			    size_t b_length)
{
	/* rows[0] is that of the letter before, rows[1] of the one before it. */
	unsigned rows[3][NCS_NEAREST_MAX + 1];

	for (size_t k = 0; k <= b_length; k++)
		rows[0][k] = (unsigned)k;
	memcpy(rows[1], rows[0], sizeof(rows[1]));
	for (size_t i = 1; i <= a_length; i++) {
		unsigned *now = rows[2];

		now[0] = (unsigned)i;
		for (size_t k = 1; k <= b_length; k++) {
			bool alike = are_alike(a[i - 1], b[k - 1]);

			now[k] = smaller(rows[0][k - 1] + !alike,
					 smaller(rows[0][k], now[k - 1]) + 1);
			if (i > 1 && k > 1 && are_alike(a[i - 1], b[k - 2]) &&
			    are_alike(a[i - 2], b[k - 1]))
				now[k] = smaller(now[k], rows[1][k - 2] + 1);
		}
		memcpy(rows[1], rows[0], sizeof(rows[1]));
		memcpy(rows[0], now, sizeof(rows[0]));
	}
	return rows[0][b_length];
}

void ncs_nearest_begin(struct ncs_nearest *nearest, const char *word,
		       size_t length)
{
	/* A third of the letters may be wrong, or one of two. */
	*nearest = (struct ncs_nearest){
		.word = word,
		.length = length,
		.distance = length == 2 ? 2 : (unsigned)length / 3 + 1,
	};
}

static void try_bytes(struct ncs_nearest *nearest, const char *name,
		      size_t length)
{
	unsigned distance;

	if (length > NCS_NEAREST_MAX || nearest->length > NCS_NEAREST_MAX)
		return;
	distance = distance_of(nearest->word, nearest->length, name, length);
	if (distance >= nearest->distance)
		return;
	nearest->distance = distance;
	nearest->name = name;
	nearest->name_length = length;
}

void ncs_nearest_try(struct ncs_nearest *nearest, const char *name)
{
	try_bytes(nearest, name, strlen(name));
}

void ncs_nearest_try_choices(struct ncs_nearest *nearest, const char *choices)
{
	for (;;) {
		size_t length = strcspn(choices, "|");

		try_bytes(nearest, choices, length);
		if (!choices[length])
			return;
		choices += length + 1;
	}
}

void ncs_nearest_append(const struct ncs_nearest *nearest, const char *before,
			char *text, size_t size)
{
	if (nearest->name)
		ncs_append(text, size, "; did you mean %s%.*s?", before,
			   (int)nearest->name_length, nearest->name);
}
