/* SPDX-License-Identifier: MIT */
/* The NVTX functions of a program; see nvtx_copy.h. */
#include "test/plugin/nvtx_copy.h"

#include <dlfcn.h>
#include <string.h>

#include "test/plugin/scenario.h"

/* The copy being loaded: NVTX passes a function without an argument. */
static nvtx_function *core_words[NVTX_COPY_WORDS + 1];
static nvtx_function *core2_words[NVTX_COPY_WORDS + 1];

void (*nvtx_copy_on_load)(void);

static int get_words(enum nvtx_module module, nvtx_function ***words,
		     unsigned *count)
{
	if (nvtx_copy_on_load)
		nvtx_copy_on_load();
	if (module != NVTX_MODULE_CORE && module != NVTX_MODULE_CORE2)
		return 0;
	*words = module == NVTX_MODULE_CORE ? core_words : core2_words;
	*count = NVTX_COPY_WORDS;
	return 1;
}

static const void *get_table(uint32_t id)
{
	static const struct nvtx_callbacks callbacks = { sizeof(callbacks),
							 get_words };

	return id == NVTX_TABLE_CALLBACKS ? &callbacks : NULL;
}

int nvtx_copy_load(struct nvtx_copy *copy, const char *path)
{
	void *library = dlopen(path, RTLD_LAZY);
	nvtx_initialize_injection initialize;
	void *symbol;

	CHECK(library, "%s", dlerror());
	symbol = dlsym(library, "InitializeInjectionNvtx2");
	CHECK(symbol, "%s is no injection library", path);
	memcpy(&initialize, &symbol, sizeof(symbol));
	for (unsigned i = 1; i < NVTX_COPY_WORDS; i++) {
		core_words[i] = &copy->core[i];
		core2_words[i] = &copy->core2[i];
	}
	return initialize(get_table);
}

#define CALL(word, type, none, ...) \
	((word) ? ((type)(word))(__VA_ARGS__) : (none))

int nvtx_push(struct nvtx_copy *copy, const char *name)
{
	return CALL(copy->core[NVTX_RANGE_PUSH_A], int (*)(const char *), -2,
		    name);
}

int nvtx_push_wide(struct nvtx_copy *copy, const wchar_t *name)
{
	return CALL(copy->core[NVTX_RANGE_PUSH_W], int (*)(const wchar_t *), -2,
		    name);
}

int nvtx_push_attributes(struct nvtx_copy *copy,
			 const struct nvtx_attributes *attributes)
{
	return CALL(copy->core[NVTX_RANGE_PUSH_EX],
		    int (*)(const struct nvtx_attributes *), -2, attributes);
}

int nvtx_pop(struct nvtx_copy *copy)
{
	return CALL(copy->core[NVTX_RANGE_POP], int (*)(void), -2);
}

uint64_t nvtx_start(struct nvtx_copy *copy, const char *name)
{
	return CALL(copy->core[NVTX_RANGE_START_A], uint64_t(*)(const char *),
		    0, name);
}

void nvtx_end(struct nvtx_copy *copy, uint64_t id)
{
	if (copy->core[NVTX_RANGE_END])
		((void (*)(uint64_t))copy->core[NVTX_RANGE_END])(id);
}

void nvtx_mark(struct nvtx_copy *copy, const char *name)
{
	if (copy->core[NVTX_MARK_A])
		((void (*)(const char *))copy->core[NVTX_MARK_A])(name);
}

const struct nvtx_domain *nvtx_domain(struct nvtx_copy *copy, const char *name)
{
	return CALL(copy->core2[NVTX_DOMAIN_CREATE_A],
		    const struct nvtx_domain *(*)(const char *), NULL, name);
}

const struct nvtx_string *nvtx_string(struct nvtx_copy *copy,
				      const struct nvtx_domain *domain,
				      const char *text)
{
	return CALL(copy->core2[NVTX_DOMAIN_REGISTER_STRING_A],
		    const struct nvtx_string *(*)(const struct nvtx_domain *,
						  const char *),
		    NULL, domain, text);
}

static struct nvtx_attributes registered(const struct nvtx_string *name)
{
	struct nvtx_attributes attributes = {
		.version = 3,
		.bytes = sizeof(attributes),
		.message_type = NVTX_MESSAGE_REGISTERED,
		.message.registered = name,
	};

	return attributes;
}

int nvtx_domain_push(struct nvtx_copy *copy, const struct nvtx_domain *domain,
		     const struct nvtx_string *name)
{
	struct nvtx_attributes attributes = registered(name);

	return CALL(copy->core2[NVTX_DOMAIN_RANGE_PUSH_EX],
		    int (*)(const struct nvtx_domain *,
			    const struct nvtx_attributes *),
		    -2, domain, &attributes);
}

int nvtx_domain_pop(struct nvtx_copy *copy, const struct nvtx_domain *domain)
{
	return CALL(copy->core2[NVTX_DOMAIN_RANGE_POP],
		    int (*)(const struct nvtx_domain *), -2, domain);
}

uint64_t nvtx_domain_start(struct nvtx_copy *copy,
			   const struct nvtx_domain *domain,
			   const struct nvtx_string *name)
{
	struct nvtx_attributes attributes = registered(name);

	return CALL(copy->core2[NVTX_DOMAIN_RANGE_START_EX],
		    uint64_t(*)(const struct nvtx_domain *,
				const struct nvtx_attributes *),
		    0, domain, &attributes);
}
