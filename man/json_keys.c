/* SPDX-License-Identifier: MIT */
/* Prints the descriptions of the JSON Schema as the text of ncclstat-json(5). Must
 * not know which keys there are. */
#include "man/json_keys.h"

#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "man/json_schema.h"
#include "man/mdoc.h"

#define REFERENCE "#/$defs/"

static const char *string_of(const json_t *node, const char *key)
{
	return json_string_value(json_object_get(node, key));
}

/* Where the values of a key come from: past arrays, "or null" and references.
 * `*suffix` is what its path ends in: [] for an array, .* for any names. */
static const json_t *value_of(const json_t *node, const char **suffix)
{
	const json_t *next = node;

	*suffix = "";
	while (next) {
		const char *reference = string_of(next, "$ref");

		node = next;
		if (reference) {
			next = json_object_get(ncs_json_definitions(),
					       reference + strlen(REFERENCE));
		} else if (json_object_get(next, "items")) {
			*suffix = "[]";
			next = json_object_get(next, "items");
		} else if (json_object_get(next, "anyOf")) {
			next = json_array_get(json_object_get(next, "anyOf"),
					      0);
		} else {
			next = json_object_get(next, "additionalProperties");
			if (json_is_object(next))
				*suffix = ".*";
			else
				next = NULL;
		}
	}
	return node;
}

/* Prints the words that a value may have, if there are several. */
static void put_words(const json_t *value)
{
	const json_t *words = json_object_get(value, "enum");
	char text[256] = "One of";
	const char *comma = " ";

	for (size_t i = 0; i < json_array_size(words); i++) {
		const char *word = json_string_value(json_array_get(words, i));

		if (!word)
			continue;
		snprintf(text + strlen(text), sizeof(text) - strlen(text),
			 "%s%s", comma, word);
		comma = ", ";
	}
	if (!words)
		return;
	strncat(text, ".", sizeof(text) - strlen(text) - 1);
	ncs_mdoc_text(text);
}

static void put_keys(const json_t *object, const char *path);

static void put_key(const char *path, const json_t *node)
{
	const char *suffix;
	const json_t *value = value_of(node, &suffix);
	const char *help = string_of(node, "description");
	const char *title = string_of(value, "title");
	char inside[512];

	if (!help && !title) {
		fprintf(stderr, "mangen: %s has no description\n", path);
		exit(1);
	}
	snprintf(inside, sizeof(inside), "%s%s", path, suffix);
	fputs(".It Li ", stdout);
	ncs_mdoc_name(inside);
	putchar('\n');
	if (help)
		ncs_mdoc_text(help);
	put_words(value);
	if (title) {
		printf("See\n.Sx %s .\n", title);
	} else if (json_object_get(value, "properties")) {
		strncat(inside, ".", sizeof(inside) - strlen(inside) - 1);
		put_keys(value, inside);
	}
}

/* Prints the keys of an object, with the path before them. */
static void put_keys(const json_t *object, const char *path)
{
	const char *name;
	json_t *node;

	/* jansson's macro takes no const. */
	json_object_foreach(json_object_get(object, "properties"), name, node)
	{
		char whole[256];

		snprintf(whole, sizeof(whole), "%s%s", path, name);
		put_key(whole, node);
	}
}

bool ncs_json_keys(const char *definition)
{
	const json_t *object =
		json_object_get(ncs_json_definitions(), definition);

	if (!object)
		return false;
	puts(".Bl -tag -width state_since_ns -compact");
	put_keys(object, "");
	puts(".El");
	return true;
}
