/* SPDX-License-Identifier: MIT */
/* The keys of the JSON output, as ncclstat-json(5) lists them. For one thread. */
#ifndef NCS_MAN_JSON_KEYS_H
#define NCS_MAN_JSON_KEYS_H

#include <stdbool.h>

/* Prints a list in mdoc of the keys of a definition of the JSON Schema, each by its
 * path from there, with its description. A key whose value is an object with a
 * title, or an array of these, refers to the section of that title; the keys of
 * other objects follow it. Returns false if there is no such definition. A schema
 * that cannot be read, or a key with neither a description nor such an object, ends
 * the program with a message. */
bool ncs_json_keys(const char *definition);

#endif
