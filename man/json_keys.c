/* SPDX-License-Identifier: MIT */
/* Reads the JSON Schema, whose descriptions are the text of ncclstat-json(5), and
 * writes it as it is installed. Must not know which keys there are. */
#include "man/json_keys.h"

#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "man/mdoc.h"

#define SCHEMA "tui/share/json/ncclstat.schema.json"
#define REFERENCE "#/$defs/"

static json_t *whole_schema(void)
{
	static json_t *schema;
	json_error_t error;

	if (!schema)
		schema = json_load_file(SCHEMA, 0, &error);
	if (!schema) {
		fprintf(stderr, "mangen: %s:%d: %s\n", SCHEMA, error.line,
			error.text);
		exit(1);
	}
	return schema;
}

/* The definitions by their names. */
static const json_t *definitions(void)
{
	return json_object_get(whole_schema(), "$defs");
}

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
			next = json_object_get(definitions(),
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
		fprintf(stderr, "mangen: %s: %s has no description\n", SCHEMA,
			path);
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

/* Makes explicit that objects have all of their keys, and no others, unless they
 * say which they have. */
static void complete(json_t *node)
{
	json_t *properties = json_object_get(node, "properties");
	json_t *child;
	const char *name;
	size_t i;

	if (json_is_object(properties) && !json_object_get(node, "required") &&
	    !json_object_get(node, "additionalProperties")) {
		json_t *required = json_array();

		json_object_foreach(properties, name, child)
			json_array_append_new(required, json_string(name));
		json_object_set_new(node, "required", required);
		json_object_set_new(node, "additionalProperties", json_false());
	}
	json_object_foreach(node, name, child) complete(child);
	json_array_foreach(node, i, child) complete(child);
}

void ncs_json_schema(void)
{
	json_t *whole = whole_schema();

	complete(whole);
	json_dumpf(whole, stdout, JSON_INDENT(1));
	putchar('\n');
}

bool ncs_json_keys(const char *definition)
{
	const json_t *object = json_object_get(definitions(), definition);

	if (!object)
		return false;
	puts(".Bl -tag -width state_since_ns -compact");
	put_keys(object, "");
	puts(".El");
	return true;
}
