/* SPDX-License-Identifier: MIT */
/* The plugin as NVTX's injection library: if NVTX_INJECTION64_PATH names the
 * plugin, it receives the ranges of the program, of PyTorch and of NCCL itself.
 *
 * NVTX takes only one such library, so the plugin itself loads a second one,
 * "the other tool", if NCCLSTAT_NVTX_CHAIN names one. The other tool stores its
 * functions in NVTX's words first; the plugin's functions call them and return
 * their results. Handles of domains and strings are then the other tool's,
 * because it also gets calls that the plugin does not see.
 *
 * All functions but InitializeInjectionNvtx2() run in the program's calls,
 * however frequent these are: no lock, no allocation, no system call. */
#include <dlfcn.h>
#include <pthread.h>
#include <string.h>

#include "plugin/nccl/environment.h"
#include "plugin/nccl/nvtx_abi.h"
#include "shm/hash.h"
#include "plugin/state/range_stack.h"
#include "plugin/events/range_stats.h"
#include "shm/atomics.h"

#define EXPORT __attribute__((visibility("default")))

/* Called by each copy of NVTX in the process if NVTX_INJECTION64_PATH names the
 * plugin. Returns 1 if NVTX is to keep the library, else 0. */
int InitializeInjectionNvtx2(nvtx_get_export_table get_table);

/* --- handles ------------------------------------------------------------ */

/* A registered string, under its handle, which the plugin or the other tool has
 * made. Strings and domains are never removed. */
struct named {
	uint64_t handle; /* 0 if free; CLAIMED while being filled in */
	struct ncs_range_name name;
};

#define CLAIMED UINT64_MAX
#define STRING_MAX 4096u
#define DOMAIN_MAX 64u
#define PROBE_MAX 16u

static struct named strings[STRING_MAX];
static uint64_t string_count;
static uint64_t nccl_domains[DOMAIN_MAX];
static char domains[DOMAIN_MAX]; /* their addresses are the handles */
static uint64_t domain_count;

static struct named unknown_string = {
	.name = { { /* "(no name)" */ UINT64_C(0x656d616e206f6e28),
		    UINT64_C(0x29) } },
};

static void fill(struct named *entry, uint64_t handle,
		 const struct ncs_range_name *name)
{
	for (unsigned i = 0; i < NCS_RANGE_NAME_WORDS; i++)
		ncs_store_relaxed(&entry->name.words[i], name->words[i]);
	/* ORDER: pairs with find_string() (plugin/life/nvtx.c): the text is
	 * visible before its handle. */
	ncs_store_release(&entry->handle, handle);
}

/* Adds a string; its handle is the address of its entry. */
static uint64_t add_string(const struct ncs_range_name *name)
{
	uint64_t index = ncs_load_relaxed(&string_count);
	struct named *entry;

	if (index < STRING_MAX)
		index = ncs_add_relaxed(&string_count, 1);
	entry = index < STRING_MAX ? &strings[index] : &unknown_string;
	if (index < STRING_MAX)
		fill(entry, (uint64_t)(uintptr_t)entry, name);
	else
		ncs_range_lose();
	return (uint64_t)(uintptr_t)entry;
}

/* Notes a string under the other tool's handle. */
static void note_string(uint64_t handle, const struct ncs_range_name *name)
{
	uint64_t hash = ncs_hash(handle);

	for (unsigned i = 0; i < PROBE_MAX; i++) {
		struct named *entry = &strings[(hash + i) % STRING_MAX];
		uint64_t found = ncs_load_relaxed(&entry->handle);

		if (found == handle)
			return;
		/* ORDER: pairs with note_string() (plugin/life/nvtx.c): only
		 * one thread fills the entry. */
		if (found == 0 &&
		    ncs_cas_acquire_release(&entry->handle, 0, CLAIMED)) {
			fill(entry, handle, name);
			return;
		}
	}
	ncs_range_lose();
}

static const struct ncs_range_name *find_string(uint64_t handle)
{
	uint64_t place = handle - (uint64_t)(uintptr_t)strings;
	uint64_t hash;

	if (place < sizeof(strings) && place % sizeof(strings[0]) == 0 &&
	    /* ORDER: pairs with fill() (plugin/life/nvtx.c). */
	    ncs_load_acquire(&strings[place / sizeof(strings[0])].handle) ==
		    handle)
		return &strings[place / sizeof(strings[0])].name;
	hash = ncs_hash(handle);
	for (unsigned i = 0; i < PROBE_MAX; i++) {
		const struct named *entry = &strings[(hash + i) % STRING_MAX];

		/* ORDER: pairs with fill() (plugin/life/nvtx.c). */
		if (ncs_load_acquire(&entry->handle) == handle)
			return &entry->name;
	}
	return &unknown_string.name;
}

/* Returns the domain of a handle: the handle itself, except that all domains of
 * NCCL, of which each copy of NVTX has one, are one domain. */
static uint64_t domain_of(const struct nvtx_domain *handle)
{
	uint64_t domain = (uint64_t)(uintptr_t)handle;

	for (unsigned i = 0; i < DOMAIN_MAX; i++) {
		uint64_t found = ncs_load_relaxed(&nccl_domains[i]);

		if (found == 0)
			break;
		if (found == domain)
			return NCS_RANGE_DOMAIN_NCCL;
	}
	return domain;
}

static void note_domain(uint64_t handle, const struct ncs_range_name *name)
{
	if (handle == 0 || strcmp((const char *)name, "NCCL") != 0)
		return;
	for (unsigned i = 0; i < DOMAIN_MAX; i++) {
		if (ncs_load_relaxed(&nccl_domains[i]) == handle)
			return;
		/* ORDER: pairs with note_domain() (plugin/life/nvtx.c): no
		 * entry is overwritten. */
		if (ncs_cas_acquire_release(&nccl_domains[i], 0, handle))
			return;
	}
}

/* Sets the name from the message; an empty one if there is no message. */
static void name_of(struct ncs_range_name *name,
		    const struct nvtx_attributes *attributes)
{
	int32_t type = NVTX_MESSAGE_NONE;

	if (attributes && attributes->bytes >= sizeof(*attributes))
		type = attributes->message_type;
	switch (type) {
	case NVTX_MESSAGE_ASCII:
		ncs_range_name_set(name, attributes->message.ascii);
		break;
	case NVTX_MESSAGE_WIDE:
		ncs_range_name_set_wide(name, attributes->message.wide);
		break;
	case NVTX_MESSAGE_REGISTERED:
		*name = *find_string(
			(uint64_t)(uintptr_t)attributes->message.registered);
		break;
	default:
		ncs_range_name_set(name, NULL);
		break;
	}
}

/* --- functions ---------------------------------------------------------- */

#define ATTRIBUTES const struct nvtx_attributes *
#define DOMAIN const struct nvtx_domain *

/* The other tool's functions; NULL where it has none. Set before NVTX's words
 * point to ours. */
static struct {
	nvtx_function core[NVTX_RANGE_POP + 1];
	nvtx_function core2[NVTX_DOMAIN_CREATE_W + 1];
} next;

#define NEXT(table, number, type) ((type)next.table[number])

static uint64_t follow_start(const struct ncs_range_name *name, uint64_t id)
{
	if (!ncs_range_start(name, &id))
		ncs_range_lose();
	return id;
}

/* Defines a function that takes a message as text, wide text or attributes. In
 * its body `other` is the other tool's function or NULL, and `name` the
 * message. */
#define WITH_MESSAGE(function, result, number, parameter, set, ...) \
	static result function(parameter message) \
	{ \
		result (*other)(parameter) = \
			NEXT(core, number, result(*)(parameter)); \
		struct ncs_range_name name; \
\
		set(&name, message); \
		__VA_ARGS__ \
	}

#define PUSH_BODY \
	int level = ncs_range_push(NCS_RANGE_DOMAIN_DEFAULT, &name); \
	return other ? other(message) : level;

#define START_BODY return follow_start(&name, other ? other(message) : 0);

#define MARK_BODY \
	if (other) \
		other(message); \
	ncs_range_mark(&name);

WITH_MESSAGE(push_ex, int, NVTX_RANGE_PUSH_EX, ATTRIBUTES, name_of, PUSH_BODY)
WITH_MESSAGE(push_a, int, NVTX_RANGE_PUSH_A, const char *, ncs_range_name_set,
	     PUSH_BODY)
WITH_MESSAGE(push_w, int, NVTX_RANGE_PUSH_W, const wchar_t *,
	     ncs_range_name_set_wide, PUSH_BODY)
WITH_MESSAGE(start_ex, uint64_t, NVTX_RANGE_START_EX, ATTRIBUTES, name_of,
	     START_BODY)
WITH_MESSAGE(start_a, uint64_t, NVTX_RANGE_START_A, const char *,
	     ncs_range_name_set, START_BODY)
WITH_MESSAGE(start_w, uint64_t, NVTX_RANGE_START_W, const wchar_t *,
	     ncs_range_name_set_wide, START_BODY)
WITH_MESSAGE(mark_ex, void, NVTX_MARK_EX, ATTRIBUTES, name_of, MARK_BODY)
WITH_MESSAGE(mark_a, void, NVTX_MARK_A, const char *, ncs_range_name_set,
	     MARK_BODY)
WITH_MESSAGE(mark_w, void, NVTX_MARK_W, const wchar_t *,
	     ncs_range_name_set_wide, MARK_BODY)

static int pop(void)
{
	int (*other)(void) = NEXT(core, NVTX_RANGE_POP, int (*)(void));
	int level = ncs_range_pop(NCS_RANGE_DOMAIN_DEFAULT);

	return other ? other() : level;
}

static void end(uint64_t id)
{
	void (*other)(uint64_t) =
		NEXT(core, NVTX_RANGE_END, void (*)(uint64_t));

	ncs_range_end(id);
	if (other)
		other(id);
}

static int domain_push(DOMAIN domain, ATTRIBUTES attributes)
{
	int (*other)(DOMAIN, ATTRIBUTES) = NEXT(
		core2, NVTX_DOMAIN_RANGE_PUSH_EX, int (*)(DOMAIN, ATTRIBUTES));
	struct ncs_range_name name;
	int level;

	name_of(&name, attributes);
	level = ncs_range_push(domain_of(domain), &name);
	return other ? other(domain, attributes) : level;
}

static int domain_pop(DOMAIN domain)
{
	int (*other)(DOMAIN) =
		NEXT(core2, NVTX_DOMAIN_RANGE_POP, int (*)(DOMAIN));
	int level = ncs_range_pop(domain_of(domain));

	return other ? other(domain) : level;
}

/* NCCL's ranges are ignored: they end on the same thread before its call
 * returns. */
static uint64_t domain_start(DOMAIN domain, ATTRIBUTES attributes)
{
	uint64_t (*other)(DOMAIN, ATTRIBUTES) =
		NEXT(core2, NVTX_DOMAIN_RANGE_START_EX,
		     uint64_t(*)(DOMAIN, ATTRIBUTES));
	uint64_t id = other ? other(domain, attributes) : 0;
	struct ncs_range_name name;

	if (domain_of(domain) == NCS_RANGE_DOMAIN_NCCL)
		return id;
	name_of(&name, attributes);
	return follow_start(&name, id);
}

static void domain_end(DOMAIN domain, uint64_t id)
{
	void (*other)(DOMAIN, uint64_t) =
		NEXT(core2, NVTX_DOMAIN_RANGE_END, void (*)(DOMAIN, uint64_t));

	ncs_range_end(id);
	if (other)
		other(domain, id);
}

static void domain_mark(DOMAIN domain, ATTRIBUTES attributes)
{
	void (*other)(DOMAIN, ATTRIBUTES) =
		NEXT(core2, NVTX_DOMAIN_MARK_EX, void (*)(DOMAIN, ATTRIBUTES));
	struct ncs_range_name name;

	if (other)
		other(domain, attributes);
	if (domain_of(domain) == NCS_RANGE_DOMAIN_NCCL)
		return;
	name_of(&name, attributes);
	ncs_range_mark(&name);
}

static const struct nvtx_string *register_string(uint64_t theirs, bool is_ours,
						 const struct ncs_range_name *n)
{
	if (is_ours)
		theirs = add_string(n);
	else if (theirs)
		note_string(theirs, n);
	return (const struct nvtx_string *)(uintptr_t)theirs;
}

#define REGISTER_STRING(function, number, text_type, set) \
	static const struct nvtx_string *function(DOMAIN domain, \
						  text_type text) \
	{ \
		const struct nvtx_string *(*other)(DOMAIN, text_type) = NEXT( \
			core2, number, \
			const struct nvtx_string *(*)(DOMAIN, text_type)); \
		struct ncs_range_name name; \
\
		set(&name, text); \
		return register_string( \
			other ? (uint64_t)(uintptr_t)other(domain, text) : 0, \
			!other, &name); \
	}

REGISTER_STRING(register_string_a, NVTX_DOMAIN_REGISTER_STRING_A, const char *,
		ncs_range_name_set)
REGISTER_STRING(register_string_w, NVTX_DOMAIN_REGISTER_STRING_W,
		const wchar_t *, ncs_range_name_set_wide)

/* Domains that find no place of their own share the last one. */
static const struct nvtx_domain *
create_domain(const struct nvtx_domain *theirs, bool is_ours,
	      const struct ncs_range_name *name)
{
	uint64_t index;

	if (is_ours) {
		index = ncs_add_relaxed(&domain_count, 1);
		theirs = (const struct nvtx_domain *)(uintptr_t)&domains
			[index < DOMAIN_MAX ? index : DOMAIN_MAX - 1];
	}
	note_domain((uint64_t)(uintptr_t)theirs, name);
	return theirs;
}

#define CREATE_DOMAIN(function, number, text_type, set) \
	static const struct nvtx_domain *function(text_type text) \
	{ \
		const struct nvtx_domain *(*other)(text_type) = \
			NEXT(core2, number, \
			     const struct nvtx_domain *(*)(text_type)); \
		struct ncs_range_name name; \
\
		set(&name, text); \
		return create_domain(other ? other(text) : NULL, !other, \
				     &name); \
	}

CREATE_DOMAIN(create_domain_a, NVTX_DOMAIN_CREATE_A, const char *,
	      ncs_range_name_set)
CREATE_DOMAIN(create_domain_w, NVTX_DOMAIN_CREATE_W, const wchar_t *,
	      ncs_range_name_set_wide)

/* --- attaching ---------------------------------------------------------- */

#define FUNCTION(name) ((nvtx_function)(name))

static const nvtx_function core[] = {
	[NVTX_MARK_EX] = FUNCTION(mark_ex),
	[NVTX_MARK_A] = FUNCTION(mark_a),
	[NVTX_MARK_W] = FUNCTION(mark_w),
	[NVTX_RANGE_START_EX] = FUNCTION(start_ex),
	[NVTX_RANGE_START_A] = FUNCTION(start_a),
	[NVTX_RANGE_START_W] = FUNCTION(start_w),
	[NVTX_RANGE_END] = FUNCTION(end),
	[NVTX_RANGE_PUSH_EX] = FUNCTION(push_ex),
	[NVTX_RANGE_PUSH_A] = FUNCTION(push_a),
	[NVTX_RANGE_PUSH_W] = FUNCTION(push_w),
	[NVTX_RANGE_POP] = FUNCTION(pop),
};

static const nvtx_function core2[] = {
	[NVTX_DOMAIN_MARK_EX] = FUNCTION(domain_mark),
	[NVTX_DOMAIN_RANGE_START_EX] = FUNCTION(domain_start),
	[NVTX_DOMAIN_RANGE_END] = FUNCTION(domain_end),
	[NVTX_DOMAIN_RANGE_PUSH_EX] = FUNCTION(domain_push),
	[NVTX_DOMAIN_RANGE_POP] = FUNCTION(domain_pop),
	[NVTX_DOMAIN_REGISTER_STRING_A] = FUNCTION(register_string_a),
	[NVTX_DOMAIN_REGISTER_STRING_W] = FUNCTION(register_string_w),
	[NVTX_DOMAIN_CREATE_A] = FUNCTION(create_domain_a),
	[NVTX_DOMAIN_CREATE_W] = FUNCTION(create_domain_w),
};

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

/* A module of a copy of NVTX: its words, and their values before the other tool
 * was initialized. */
struct module {
	const nvtx_function *ours;
	nvtx_function *next;
	size_t size;
	nvtx_function **words;
	unsigned count;
	nvtx_function before[COUNT(core) + COUNT(core2)];
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static bool attached; /* true once attached to a copy of NVTX */
static uint64_t fork_handled;

/* The thread that has the lock may not exist in the child. */
static void after_fork_in_child(void)
{
	pthread_mutex_init(&lock, NULL);
}

/* A thread that is cancelled meanwhile must not keep the lock. Returns its
 * former state. */
static int take_lock(void)
{
	int cancelling;

	pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &cancelling);
	/* ORDER: pairs with take_lock() (plugin/life/nvtx.c): only one thread
	 * registers the function. */
	if (ncs_exchange_acquire_release(&fork_handled, 1) == 0)
		pthread_atfork(NULL, NULL, after_fork_in_child);
	pthread_mutex_lock(&lock);
	return cancelling;
}

static void leave_lock(int cancelling)
{
	pthread_mutex_unlock(&lock);
	pthread_setcancelstate(cancelling, NULL);
}

static bool read_words(struct module *module,
		       const struct nvtx_callbacks *table,
		       enum nvtx_module number)
{
	if (!table->get_words(number, &module->words, &module->count) ||
	    !module->words)
		return false;
	if (module->count > module->size)
		module->count = (unsigned)module->size;
	for (unsigned i = 1; i < module->count; i++)
		if (module->words[i])
			module->before[i] = *module->words[i];
	return true;
}

/* Stores our functions in a module's words. In another copy of NVTX the other
 * tool may have stored functions that `next` does not have: we leave such words
 * to it. */
static void take_words(const struct module *module)
{
	for (unsigned i = 1; i < module->count; i++) {
		nvtx_function *word = module->words[i];
		nvtx_function theirs;

		if (!word || !module->ours[i])
			continue;
		theirs = *word != module->before[i] ? *word : NULL;
		if (!attached)
			module->next[i] = theirs;
		if (module->next[i] == theirs)
			*word = module->ours[i];
	}
}

/* Loads the other tool. Copies the pointer by memcpy(): ISO C has no conversion
 * from an object pointer, which dlsym() returns, to a function pointer. */
static nvtx_initialize_injection other_tool(const char *path)
{
	nvtx_initialize_injection initialize = NULL;
	void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
	void *symbol = library ? dlsym(library, "InitializeInjectionNvtx2") :
				 NULL;

	if (symbol != (void *)(uintptr_t)InitializeInjectionNvtx2)
		memcpy(&initialize, &symbol, sizeof(symbol));
	return initialize;
}

EXPORT int InitializeInjectionNvtx2(nvtx_get_export_table get_table)
{
	struct module modules[] = {
		{ .ours = core, .next = next.core, .size = COUNT(core) },
		{ .ours = core2, .next = next.core2, .size = COUNT(core2) },
	};
	const struct nvtx_callbacks *table = get_table(NVTX_TABLE_CALLBACKS);
	nvtx_initialize_injection other = NULL;
	static struct ncs_environment config;
	char problem[256];
	int taken = 0, cancelling;

	if (!table || table->bytes < sizeof(*table))
		return 0;
	cancelling = take_lock();
	/* Invalid values are logged at NCCL's init, which has a logger. */
	ncs_environment_read(&config, problem, sizeof(problem));
	if (config.nvtx_chain[0])
		other = other_tool(config.nvtx_chain);
	if (read_words(&modules[0], table, NVTX_MODULE_CORE) &&
	    read_words(&modules[1], table, NVTX_MODULE_CORE2)) {
		taken = other && other(get_table);
		if (!config.disabled && config.ranges != 0) {
			take_words(&modules[0]);
			take_words(&modules[1]);
			attached = true;
			taken = 1;
		}
	}
	leave_lock(cancelling);
	return taken;
}
