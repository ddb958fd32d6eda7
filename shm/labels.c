/* SPDX-License-Identifier: MIT */
/* Makes and reads blocks of job labels; see labels.h. Allocates nothing: it is
 * used in the training process. */
#include "shm/labels.h"

#include <assert.h>
#include <stdint.h>
#include <string.h>

#include "ncclstat/abi_header.h"
#include "ncclstat/tables/job_labels.def"
#include "shm/characters.h"
#include "shm/texts.h"

#define REPLACEMENT "\xef\xbf\xbd" /* U+FFFD */
#define ELLIPSIS "\xe2\x80\xa6"    /* U+2026 */

/* All labels of the table fit into a block, and some of a viewer's own. */
#define X(ID, name, help) +sizeof(name "=") + NCS_LABEL_VALUE_BYTES
static_assert(1 NCS_JOB_LABELS(X) <= sizeof(struct ncs_labels),
	      "labels fit their block");
#undef X

/* Copies a value, of which at most `bytes` bytes are read. Returns the number of
 * bytes written, at most NCS_LABEL_VALUE_BYTES. */
static size_t clean(char *text, const char *value, size_t bytes)
{
	const size_t most = NCS_LABEL_VALUE_BYTES, mark = strlen(ELLIPSIS);
	size_t used = 0, last = 0; /* last: where an ellipsis has room */
	size_t place = 0;

	while (place < bytes && value[place]) {
		char next[5] = { 0 };
		const char *shown = next;
		uint32_t character = 0;
		size_t length, left = bytes - place;

		memcpy(next, value + place, left < 4 ? left : 4);
		length = ncs_utf8_decode(next, &character);
		next[length] = '\0';
		if (length == 0 || !ncs_utf8_is_harmless(character))
			shown = REPLACEMENT;
		if (used + strlen(shown) > most) {
			memcpy(text + last, ELLIPSIS, mark);
			return last + mark;
		}
		memcpy(text + used, shown, strlen(shown));
		used += strlen(shown);
		if (used + mark <= most)
			last = used;
		place += length > 0 ? length : 1;
	}
	return used;
}

const char *ncs_labels_value(const char *labels, const char *key)
{
	size_t length = strlen(key);

	for (; labels && *labels; labels += strlen(labels) + 1)
		if (strncmp(labels, key, length) == 0 && labels[length] == '=')
			return labels + length + 1;
	return NULL;
}

size_t ncs_labels_bytes(const char *labels)
{
	size_t used = 0;

	while (labels[used])
		used += strlen(labels + used) + 1;
	return used + 1;
}

static void add(struct ncs_labels *block, const char *key, const char *value,
		size_t bytes)
{
	size_t used = ncs_labels_bytes(block->text) - 1;
	size_t length = strlen(key);
	char *text = block->text + used;

	if (bytes == 0 || !value[0] || ncs_labels_value(block->text, key) ||
	    used + length + 1 + NCS_LABEL_VALUE_BYTES + 2 > sizeof(block->text))
		return;
	memcpy(text, key, length);
	text[length] = '=';
	length += 1 + clean(text + length + 1, value, bytes);
	text[length] = '\0';
	text[length + 1] = '\0';
}

void ncs_labels_add(struct ncs_labels *block, const char *key,
		    const char *value)
{
	add(block, key, value, strlen(value));
}

void ncs_labels_collect(struct ncs_labels *block,
			const char *(*find)(void *context, const char *name),
			void *context)
{
	static const char names[] =
#define X(ID, name, help) name "\0"
		NCS_JOB_LABELS(X)
#undef X
		;
	enum {
#define X(ID, name, help) NCS_LABEL_##ID,
		NCS_JOB_LABELS(X)
#undef X
	};
	/* Each with the variable that must be set as well. */
	static const char variables[] =
#define X(variable, ID, only_if) variable "\0" only_if "\0"
		NCS_JOB_VARIABLES(X)
#undef X
		;
	static const uint8_t labels[] = {
#define X(variable, ID, only_if) NCS_LABEL_##ID,
		NCS_JOB_VARIABLES(X)
#undef X
	};
	const char *variable = variables;

	for (size_t i = 0; i < sizeof(labels); i++) {
		const char *only_if = ncs_text_behind(variable);
		const char *value = find(context, variable);

		if (value && (!only_if[0] || find(context, only_if)))
			ncs_labels_add(block, ncs_text_at(names, labels[i]),
				       value);
		variable = ncs_text_behind(only_if);
	}
}

/* Tells whether a key is one that programs can use: of small letters, digits and
 * underscores. */
static bool is_key(const char *key, size_t length)
{
	return length > 0 && length < 32 &&
	       strspn(key, "abcdefghijklmnopqrstuvwxyz0123456789_") >= length;
}

void ncs_labels_add_all(struct ncs_labels *block,
			const struct ncs_labels *untrusted)
{
	const char *text = untrusted->text;
	const char *end = text + sizeof(untrusted->text);
	char key[32];

	while (text < end && *text) {
		size_t length = strnlen(text, (size_t)(end - text));
		const char *sign = memchr(text, '=', length);
		size_t of_key = sign ? (size_t)(sign - text) : 0;

		if (is_key(text, of_key)) {
			memcpy(key, text, of_key);
			key[of_key] = '\0';
			add(block, key, sign + 1, length - of_key - 1);
		}
		text += length + 1;
	}
}
