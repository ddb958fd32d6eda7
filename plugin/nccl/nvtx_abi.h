/* SPDX-License-Identifier: MIT */
/* The part of NVTX 3's injection interface that the plugin uses.
 *
 * Each library that uses NVTX contains a copy of it. The copy loads the library
 * that NVTX_INJECTION64_PATH names and calls its InitializeInjectionNvtx2()
 * with a function that returns tables. From then on it calls the functions
 * whose addresses it finds in the words that these tables point to; if the
 * library has not set a word, the call does nothing. Types and asserts only;
 * the layout is that of 64-bit Linux.
 */
#ifndef NCS_PLUGIN_NCCL_NVTX_ABI_H
#define NCS_PLUGIN_NCCL_NVTX_ABI_H

#include <assert.h>
#include <stddef.h>
#include <stdint.h>
#include <wchar.h>

typedef void (*nvtx_function)(void);

typedef const void *(*nvtx_get_export_table)(uint32_t id);
typedef int (*nvtx_initialize_injection)(nvtx_get_export_table get_table);

enum nvtx_export_table { NVTX_TABLE_CALLBACKS = 1 };

enum nvtx_module { NVTX_MODULE_CORE = 1, NVTX_MODULE_CORE2 = 5 };

struct nvtx_callbacks {
	size_t bytes; /* size of this struct in this copy of NVTX */
	/* Sets `words` to an array of pointers to the words that hold
	 * functions, indexed by function number, with `count` entries; entry 0
	 * is unused. Returns 0 if there is no such module. */
	int (*get_words)(enum nvtx_module module, nvtx_function ***words,
			 unsigned *count);
};

/* Numbers of the functions of a module. */
enum nvtx_core {
	NVTX_MARK_EX = 1,
	NVTX_MARK_A = 2,
	NVTX_MARK_W = 3,
	NVTX_RANGE_START_EX = 4,
	NVTX_RANGE_START_A = 5,
	NVTX_RANGE_START_W = 6,
	NVTX_RANGE_END = 7,
	NVTX_RANGE_PUSH_EX = 8,
	NVTX_RANGE_PUSH_A = 9,
	NVTX_RANGE_PUSH_W = 10,
	NVTX_RANGE_POP = 11,
};

enum nvtx_core2 {
	NVTX_DOMAIN_MARK_EX = 1,
	NVTX_DOMAIN_RANGE_START_EX = 2,
	NVTX_DOMAIN_RANGE_END = 3,
	NVTX_DOMAIN_RANGE_PUSH_EX = 4,
	NVTX_DOMAIN_RANGE_POP = 5,
	NVTX_DOMAIN_REGISTER_STRING_A = 10,
	NVTX_DOMAIN_REGISTER_STRING_W = 11,
	NVTX_DOMAIN_CREATE_A = 12,
	NVTX_DOMAIN_CREATE_W = 13,
};

enum nvtx_message {
	NVTX_MESSAGE_NONE = 0,
	NVTX_MESSAGE_ASCII = 1,
	NVTX_MESSAGE_WIDE = 2,
	NVTX_MESSAGE_REGISTERED = 3,
};

/* Opaque handles; the tool that creates them chooses their values. */
struct nvtx_domain;
struct nvtx_string;

struct nvtx_attributes {
	uint16_t version;
	uint16_t bytes; /* size of the struct that the caller filled in */
	uint32_t category;
	int32_t color_type;
	uint32_t color;
	int32_t payload_type;
	int32_t reserved;
	uint64_t payload;
	int32_t message_type; /* enum nvtx_message */
	union {
		const char *ascii;
		const wchar_t *wide;
		const struct nvtx_string *registered;
	} message;
};

static_assert(sizeof(struct nvtx_callbacks) == 16, "callbacks");
static_assert(offsetof(struct nvtx_attributes, bytes) == 2, "size");
static_assert(offsetof(struct nvtx_attributes, payload) == 24, "payload");
static_assert(offsetof(struct nvtx_attributes, message_type) == 32, "type");
static_assert(offsetof(struct nvtx_attributes, message) == 40, "message");
static_assert(sizeof(struct nvtx_attributes) == 48, "attributes");
static_assert(sizeof(wchar_t) == 4, "wide characters are code points");

#endif
