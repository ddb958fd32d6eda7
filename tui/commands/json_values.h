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

/* Add a value to an object or an array, and take ownership of the value. */
void ncs_json_add(json_t *object, const char *key, json_t *value);
void ncs_json_append(json_t *array, json_t *value);

/* Add an unsigned number, at most INT64_MAX. ncs_json_add_number_if() adds null
 * unless the number is known; the third function adds a time in ns, null if it
 * is 0. */
void ncs_json_add_number(json_t *object, const char *key, uint64_t value);
void ncs_json_add_number_if(json_t *object, const char *key, bool known,
			    uint64_t value);
void ncs_json_add_time(json_t *object, const char *key, uint64_t value_ns);

/* Add a signed number. ncs_json_add_signed_if() adds null unless the number is
 * known. */
void ncs_json_add_signed(json_t *object, const char *key, int64_t value);
void ncs_json_add_signed_if(json_t *object, const char *key, bool known,
			    int64_t value);

/* Adds a bandwidth, a rate or an estimate; null if it is negative. */
void ncs_json_add_real(json_t *object, const char *key, double value);
void ncs_json_add_bool(json_t *object, const char *key, bool value);

/* Add a word of ncclstat's own tables; null if `word` is NULL, or not known. */
void ncs_json_add_word(json_t *object, const char *key, const char *word);
void ncs_json_add_word_if(json_t *object, const char *key, bool known,
			  const char *word);
/* Add a string from outside, cleaned. ncs_json_add_text_if() adds null unless
 * the string is known and not empty. */
void ncs_json_add_text(json_t *object, const char *key, const char *raw);
void ncs_json_add_text_if(json_t *object, const char *key, bool known,
			  const char *raw);

/* Returns a new object with the numbers values[first] up to values[end - 1], by
 * their names. */
json_t *ncs_json_counts(const char *(*name)(unsigned index),
			const uint64_t *values, unsigned first, unsigned end);

/* Returns a new array of the names of those of `count` bits that are set. */
json_t *ncs_json_bits(const char *(*name)(unsigned index), unsigned count,
		      uint64_t bits);

/* Defines a function that returns a new array, of `item` for each i below
 * `count`. */
#define NCS_JSON_ARRAY(function, count, item) \
	function \
	{ \
		json_t *array = json_array(); \
\
		for (size_t i = 0; i < (count); i++) \
			ncs_json_append(array, item); \
		return array; \
	}

/* Returns a new string with the cleaned text of `raw`. */
json_t *ncs_json_clean(const char *raw);

/* Returns a new object that describes a communicator. */
json_t *ncs_json_comm(const struct ncs_identity *identity);

/* Returns a new object with the labels that tell of which job a process is
 * (shm/labels.h); null if there are none, or `labels` is NULL. */
json_t *ncs_json_job(const char *labels);

/* Returns a new array of objects, one for each segment that cannot be read. */
json_t *ncs_json_unreadable(const struct ncs_model *model);

/* Returns a new object that describes a recording and the position in it; null
 * if `replay` is NULL. */
json_t *ncs_json_recording(const struct ncs_replay *replay);

/* Returns a new array of objects that describe the nodes of the model. */
json_t *ncs_json_nodes(const struct ncs_model *model);

/* Adds the verdict on the job: the severity of the worst finding, null if there
 * are no ranks or some could not be read, or nodes not be seen, since "well" would be a claim
 * without evidence; and the line that every screen shows. */
void ncs_json_add_verdict(json_t *object, const struct ncs_model *model,
			  const struct ncs_diagnosis *diagnosis);

/* Returns a new array of the episodes of a recording; null for NULL, if it was not
 * searched. */
json_t *ncs_json_episodes(const struct ncs_episodes *episodes);

#endif
