/* SPDX-License-Identifier: MIT */
/* Builds the JSON that the program prints, with conventions that all commands
 * share: an unknown value is null, never 0; strings from shared memory and from
 * recordings are cleaned, and thus valid UTF-8. Must not know which command
 * prints.
 */
#ifndef NCS_TUI_COMMANDS_JSON_VALUES_H
#define NCS_TUI_COMMANDS_JSON_VALUES_H

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "analysis/diagnosis/episodes.h"
#include "record/replay/replay.h"

struct ncs_stamp; /* tui/commands/dump_command.h */

/* The version of all documents that are one object. It grows when a name that
 * was there is renamed, goes, or means something else. */
#define NCS_JSON_SCHEMA 3

/* Creates an object for a whole document, the second one with where and when its
 * sample was taken. From then on, lack of memory ends the
 * program with NCS_EXIT_NOTHING: an object without one of its keys would
 * mislead programs that read it. */
json_t *ncs_json_document(void);
json_t *ncs_json_stamped(const struct ncs_stamp *stamp);

/* Prints a document on one line and releases it. `flags` are those of
 * json_dumpf(). The caller checks for write errors (ferror()). */
void ncs_json_print(FILE *file, json_t *document, size_t flags);

/* A member of an object. */
struct ncs_json_member {
	const char *key; /* NULL ends a list of members */
	json_t *value;   /* NULL: the object does not have it */
};

/* Adds members to an object, which then owns their values. Returns it. */
json_t *ncs_json_add(json_t *object, const struct ncs_json_member *members);
#define NCS_JSON_ADD(object, ...) \
	ncs_json_add(object, (const struct ncs_json_member[]){ \
				     __VA_ARGS__, { NULL, NULL } })
/* Returns a new object: NCS_JSON_OBJECT({ "pid", NCS_JSON(pid) }, ...). */
#define NCS_JSON_OBJECT(...) NCS_JSON_ADD(json_object(), __VA_ARGS__)

/* Returns a new value by the type of its argument: a number, a string or a bool;
 * a comparison is an int, for json_boolean(). NCS_JSON_IF() returns null, and does
 * not evaluate the value, unless it is known. */
#define NCS_JSON(value) \
	_Generic((value), \
		char *: ncs_json_of_text, \
		const char *: ncs_json_of_text, \
		double: ncs_json_of_real, \
		float: ncs_json_of_real, \
		bool: ncs_json_of_boolean, \
		short: json_integer, \
		int: json_integer, \
		long: json_integer, \
		long long: json_integer, \
		default: ncs_json_of_number)(value)
#define NCS_JSON_IF(known, value) ((known) ? NCS_JSON(value) : json_null())

/* Return a new value: an unsigned number, at most INT64_MAX; a number, null
 * for 0; a bandwidth, a rate or an estimate, null if it is negative; a string,
 * cleaned, null for NULL, the last one also for "". */
json_t *ncs_json_of_number(uint64_t value);
json_t *ncs_json_known(uint64_t value);
json_t *ncs_json_of_real(double value);
json_t *ncs_json_of_boolean(bool value);
json_t *ncs_json_of_text(const char *raw);
json_t *ncs_json_name(const char *raw);

/* Returns a new object with the numbers values[first] up to values[end - 1], by
 * their names. */
json_t *ncs_json_counts(const char *(*name)(unsigned index),
			const uint64_t *values, unsigned first, unsigned end);

/* Returns a new array of the names of those of `count` bits that are set. */
json_t *ncs_json_bits(const char *(*name)(unsigned index), unsigned count,
		      uint64_t bits);

/* Define a function that returns a new array, of `item` for each i below `count`;
 * a new object, of `value` by `name`(i) for each i from `first` to `end` - 1. NULL is
 * left out. */
#define NCS_JSON_ARRAY(function, count, item) \
	function \
	{ \
		json_t *array = json_array(); \
\
		for (size_t i = 0; i < (count); i++) \
			json_array_append_new(array, item); \
		return array; \
	}
#define NCS_JSON_MAP(function, first, end, name, value) \
	function \
	{ \
		json_t *object = json_object(); \
\
		for (unsigned i = (first); i < (end); i++) \
			json_object_set_new(object, name(i), value); \
		return object; \
	}

/* Returns a new object that says which rank it is: its process, and its number,
 * which is null if unknown. */
json_t *ncs_json_identity(const struct ncs_rank *rank);

/* Returns a new object with a rank and what the views show of it: a bit for each
 * enum ncs_view. */
json_t *ncs_json_rank(const struct ncs_rank *rank, unsigned views);

/* Returns a new object that describes a communicator. */
json_t *ncs_json_comm(const struct ncs_identity *identity);

/* Returns a new object with the labels that tell of which job a process is
 * (shm/labels.h); null if there are none, or `labels` is NULL. */
json_t *ncs_json_job(const char *labels);

/* Returns a new array of objects, one for each segment that cannot be read. */
json_t *ncs_json_unreadable(const struct ncs_model *model);

/* Returns a new array of objects that describe the nodes of the model. */
json_t *ncs_json_nodes(const struct ncs_model *model);

/* Adds the verdict on the job: the severity of the worst finding, null if there
 * are no ranks or some could not be read, or nodes not be seen, since "well" would be a claim
 * without evidence; and the line that every screen shows. */
json_t *ncs_json_add_verdict(json_t *object, const struct ncs_model *model,
			     const struct ncs_diagnosis *diagnosis);

/* Returns a new array of the episodes of a recording; null for NULL, if it was not
 * searched. */
json_t *ncs_json_episodes(const struct ncs_episodes *episodes);

#endif
