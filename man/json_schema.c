/* SPDX-License-Identifier: MIT */
/* Makes the JSON Schema from its source, which leaves out what holds for most
 * objects: that they have all of their members, and no others. Must not know which
 * members there are. */
#include "man/json_schema.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ncclstat/tables/fields.def"

#define SOURCE "tui/share/json/ncclstat.schema.in"

/* Members of the last object of the source, a record of an export. */
static const char fields[] =
#define X(ID, name, where, type, help) "\t" name "* (" #type ")\n"
	NCS_FIELDS(X);
#undef X

static void fail(const char *what, const char *where)
{
	fprintf(stderr, "mangen: %s: %s: %s\n", SOURCE, what, where);
	exit(1);
}

/* --- Types --------------------------------------------------------------- */

/* Types by the words that stand for them, and the names of the objects that are
 * types. */
static json_t *words, *used;

static json_t *object_of(char **text, size_t depth, const char *help);

static json_t *or_null(const char *name, bool is_or)
{
	return is_or ? json_pack("[s,s]", name, "null") : json_string(name);
}

/* Returns the type that is one of the words between bars. */
static json_t *choice_of(char *choices, bool has_null)
{
	json_t *all = json_array();

	for (char *word; (word = strsep(&choices, "|"));)
		json_array_append_new(all, json_string(word));
	if (has_null)
		json_array_append_new(all, json_null());
	return json_pack("{s:o,s:o}", "type", or_null("string", has_null),
			 "enum", all);
}

/* Returns a type, and modifies its name. Members of an object, which has a
 * description or NULL, are on the next lines of `text`. */
static json_t *type_of(char *name, char **text, size_t depth, const char *help)
{
	json_t *type = json_deep_copy(json_object_get(words, name));
	size_t length = strlen(name);
	bool has_null = length > 0 && name[length - 1] == '?';
	bool is_list = name[0] == '[', is_map = name[0] == '{';

	if (type)
		return type;
	name[length - has_null] = '\0';
	if (is_list || is_map) {
		name[length - has_null - 1] = '\0';
		return json_pack("{s:o,s:o}", "type",
				 or_null(is_list ? "array" : "object",
					 has_null),
				 is_list ? "items" : "additionalProperties",
				 type_of(name + 1, text, depth, NULL));
	}
	if (strchr(name, '|'))
		return choice_of(name, has_null);
	if (strcmp(name, "object") == 0) {
		type = object_of(text, depth, has_null ? NULL : help);
	} else {
		type = json_pack("{s:s+}", "$ref", "#/$defs/", name);
		json_object_set_new(used, name, json_true());
	}
	return has_null ? json_pack("{s:[o,{s:s}]}", "anyOf", type, "type",
				    "null") :
			  type;
}

/* --- Objects ------------------------------------------------------------- */

/* Describes a node by the rest of a line, if there is some. */
static void describe(json_t *node, const char *rest)
{
	if (rest && rest[0])
		json_object_set_new(node, "description",
				    json_string(rest + strspn(rest, " ")));
}

/* Returns an object, whose members are the next lines that begin with so many
 * tabs: "NAME (TYPE) DESCRIPTION". */
static json_t *object_of(char **text, size_t depth, const char *help)
{
	json_t *members = json_object(), *required = json_array();
	json_t *object =
		json_pack("{s:s,s:o}", "type", "object", "properties", members);

	describe(object, help);
	while (strspn(*text, "\t") == depth) {
		char *rest = strsep(text, "\n") + depth;
		char *name = strsep(&rest, " ");
		char *type = strsep(&rest, ")");
		bool is_optional = *name && name[strlen(name) - 1] == '*';
		json_t *member;

		if (!*name || !type || !rest || type[0] != '(')
			fail("a member has no type", name);
		name[strlen(name) - is_optional] = '\0';
		if (!is_optional)
			json_array_append_new(required, json_string(name));
		member = type_of(type + 1, text, depth + 1, rest);
		describe(member, rest);
		json_object_set_new(members, name, member);
	}
	if (json_array_size(required) > 0)
		json_object_set(object, "required", required);
	json_object_set_new(object, "additionalProperties", json_false());
	if (json_array_size(required) == 0)
		json_object_set_new(object, "minProperties", json_integer(1));
	json_decref(required);
	return object;
}

/* Returns a definition whose line, after the name, has its title in quotes and its
 * description, if it has them. */
static json_t *definition_of(char *line, char **text)
{
	json_t *definition = json_object(), *object;

	if (line && line[0] == '"') {
		line++;
		json_object_set_new(definition, "title",
				    json_string(strsep(&line, "\"")));
	}
	describe(definition, line);
	object = object_of(text, 1, NULL);
	json_object_update(definition, object);
	json_decref(object);
	return definition;
}

/* --- The schema ---------------------------------------------------------- */

/* Reads JSON at the beginning of a text. Sets `*end` to what follows. */
static json_t *json_of(char *text, char **end)
{
	json_error_t error;
	json_t *json = json_loads(text, JSON_DISABLE_EOF_CHECK, &error);

	if (!json)
		fail(error.text, text);
	*end = text + error.position;
	return json;
}

/* Joins lines that end in a backslash with the next. */
static void join_lines(char *text)
{
	for (char *end = text; (end = strstr(end, "\\\n"));) {
		char *next = end + 2 + strspn(end + 2, "\t");

		memmove(end, next, strlen(next) + 1);
	}
}

static json_t *read_schema(void)
{
	FILE *file = fopen(SOURCE, "r");
	char *source = NULL, *all, *text;
	size_t size = 0;
	json_t *schema, *definitions, *value;
	const char *type;

	if (!file || getdelim(&source, &size, '\0', file) < 0 ||
	    asprintf(&all, "%s%s", source, fields) < 0 || !strstr(all, "\n{"))
		fail("cannot be read", "no schema");
	fclose(file);
	free(source);
	join_lines(all);
	schema = json_of(strstr(all, "\n{"), &text);
	definitions = json_object_get(schema, "$defs");
	words = json_object();
	used = json_object();
	while (text) {
		char *line = strsep(&text, "\n");
		char *name = strsep(&line, " ");

		if (name[0] == '\t')
			fail("this belongs to no object", name);
		if (line && line[0] == '=')
			json_object_set_new(words, name,
					    json_of(line + 1, &line));
		else if (name[0] && name[0] != '#')
			json_object_set_new(definitions, name,
					    definition_of(line, &text));
	}
	json_object_foreach(used, type, value)
	{
		if (!json_object_get(definitions, type))
			fail("there is no type", type);
	}
	json_decref(words);
	json_decref(used);
	free(all);
	return schema;
}

static json_t *whole_schema(void)
{
	static json_t *schema;

	if (!schema)
		schema = read_schema();
	return schema;
}

const json_t *ncs_json_definitions(void)
{
	return json_object_get(whole_schema(), "$defs");
}

void ncs_json_schema(void)
{
	json_dumpf(whole_schema(), stdout, JSON_INDENT(1));
	putchar('\n');
}
