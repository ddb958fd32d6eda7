/* SPDX-License-Identifier: MIT */
/* Writes Thrift's compact protocol, in which Parquet has its headers: structs
 * of numbered fields, lists, integers, bytes. Only what Parquet needs of it.
 * Must not know what is written. Not thread-safe.
 */
#ifndef NCS_RECORD_EXPORT_THRIFT_H
#define NCS_RECORD_EXPORT_THRIFT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Types, as they stand in the headers of fields and lists. */
enum ncs_thrift_type {
	NCS_THRIFT_TRUE = 1,
	NCS_THRIFT_FALSE = 2,
	NCS_THRIFT_I32 = 5,
	NCS_THRIFT_I64 = 6,
	NCS_THRIFT_BINARY = 8,
	NCS_THRIFT_LIST = 9,
	NCS_THRIFT_STRUCT = 12,
};

#define NCS_THRIFT_DEPTH 8u

/* Start with {0}; free `bytes` with free(). */
struct ncs_thrift {
	uint8_t *bytes;
	size_t count, capacity;
	/* Number of the latest field of each struct that is open. */
	int last[NCS_THRIFT_DEPTH];
	unsigned depth;
	bool has_failed; /* no memory: what was written is not whole */
};

/* Begins a struct that is no field: an element of a list, or the outermost. */
void ncs_thrift_begin(struct ncs_thrift *thrift);
/* Ends the latest struct that was begun. */
void ncs_thrift_end(struct ncs_thrift *thrift);

/* Fields must come by ascending numbers. A struct is ended by
 * ncs_thrift_end(); a list is followed by its elements. */
void ncs_thrift_int(struct ncs_thrift *thrift, int field,
		    enum ncs_thrift_type type, int64_t value);
void ncs_thrift_flag(struct ncs_thrift *thrift, int field, bool value);
void ncs_thrift_bytes(struct ncs_thrift *thrift, int field, const void *bytes,
		      size_t count);
void ncs_thrift_text(struct ncs_thrift *thrift, int field, const char *text);
void ncs_thrift_struct(struct ncs_thrift *thrift, int field);
void ncs_thrift_list(struct ncs_thrift *thrift, int field,
		     enum ncs_thrift_type type, size_t count);

/* Elements of a list. */
void ncs_thrift_int_element(struct ncs_thrift *thrift, int64_t value);
void ncs_thrift_text_element(struct ncs_thrift *thrift, const char *text);

#endif
