/* SPDX-License-Identifier: MIT */
/* The JSON Schema of what the program prints, made from its source, which
 * tui/share/json/ncclstat.schema.in explains. For one thread. */
#ifndef NCS_MAN_JSON_SCHEMA_H
#define NCS_MAN_JSON_SCHEMA_H

#include <jansson.h>

/* Returns the definitions of the schema by their names. A source that cannot be
 * read ends the program with a message, here and below. */
const json_t *ncs_json_definitions(void);

/* Prints the schema as it is installed. */
void ncs_json_schema(void);

#endif
