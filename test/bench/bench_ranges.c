/* SPDX-License-Identifier: MIT */
/* Measures what a range of the program costs: a push and a pop by NVTX and by the
 * plugin's own calls, compared with an NVTX tool whose functions do nothing, all
 * interleaved in one run. There is no communicator, which does not change the
 * cost: names are looked up when NCCL is called.
 *
 *	bench_ranges [PLUGIN]
 *
 * Must not judge.
 */
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "plugin/nccl/nvtx_abi.h"
#include "shm/clock.h"
#include "test/bench/caller.h"

#define WORDS 16
#define PAIRS 1000
#define ROUNDS 2000

static nvtx_function core[WORDS], core2[WORDS];
static nvtx_function *core_words[WORDS + 1], *core2_words[WORDS + 1];

static int get_words(enum nvtx_module module, nvtx_function ***words,
		     unsigned *count)
{
	*words = module == NVTX_MODULE_CORE  ? core_words :
		 module == NVTX_MODULE_CORE2 ? core2_words :
					       NULL;
	*count = WORDS;
	return *words != NULL;
}

static const void *get_table(uint32_t id)
{
	static const struct nvtx_callbacks callbacks = { sizeof(callbacks),
							 get_words };

	return id == NVTX_TABLE_CALLBACKS ? &callbacks : NULL;
}

static void *find(void *library, const char *name)
{
	void *symbol = library ? dlsym(library, name) : NULL;

	if (!symbol) {
		fprintf(stderr, "bench_ranges: %s\n", dlerror());
		exit(1);
	}
	return symbol;
}

static int empty_push(const char *name)
{
	return name != NULL;
}

static int empty_pop(void)
{
	return 0;
}

/* --- What is measured ------------------------------------------------------ */

static int (*volatile push)(const char *name);
static int (*volatile pop)(void);
static const struct nvtx_domain *domain;
static struct nvtx_attributes attributes;

static void push_and_pop(const char *name)
{
	for (unsigned i = 0; i < PAIRS; i++) {
		push(name);
		pop();
	}
}

static void use_empty(void)
{
	push = empty_push;
	pop = empty_pop;
	push_and_pop("forward");
}

static void use_text(void)
{
	push = (int (*)(const char *))core[NVTX_RANGE_PUSH_A];
	pop = (int (*)(void))core[NVTX_RANGE_POP];
	push_and_pop("forward");
}

static void use_long_text(void)
{
	push = (int (*)(const char *))core[NVTX_RANGE_PUSH_A];
	pop = (int (*)(void))core[NVTX_RANGE_POP];
	push_and_pop("autograd::engine::evaluate_function: AddmmBackward0, op"
		     " = 12");
}

static void use_registered(void)
{
	int (*volatile domain_push)(const struct nvtx_domain *,
				    const struct nvtx_attributes *) =
		(int (*)(const struct nvtx_domain *,
			 const struct nvtx_attributes *))
			core2[NVTX_DOMAIN_RANGE_PUSH_EX];
	int (*volatile domain_pop)(const struct nvtx_domain *) = (int (*)(
		const struct nvtx_domain *))core2[NVTX_DOMAIN_RANGE_POP];

	for (unsigned i = 0; i < PAIRS; i++) {
		domain_push(domain, &attributes);
		domain_pop(domain);
	}
}

static int (*own_push)(const char *name);
static int (*own_pop)(void);

static void use_own(void)
{
	push = own_push;
	pop = own_pop;
	push_and_pop("forward");
}

static struct subject {
	const char *name;
	void (*run)(void);
	double ns[ROUNDS];
} subjects[] = {
	{ .name = "an NVTX tool that does nothing", .run = use_empty },
	{ .name = "NVTX, text of 7 bytes", .run = use_text },
	{ .name = "NVTX, text of 60 bytes", .run = use_long_text },
	{ .name = "NVTX, registered string", .run = use_registered },
	{ .name = "ncclstat_range_push, _pop", .run = use_own },
};

#define COUNT (sizeof(subjects) / sizeof(subjects[0]))

static void attach(const char *path)
{
	void *library = dlopen(path, RTLD_NOW);
	void *symbol = find(library, "InitializeInjectionNvtx2");
	nvtx_initialize_injection initialize;

	memcpy(&initialize, &symbol, sizeof(symbol));
	symbol = find(library, "ncclstat_range_push");
	memcpy(&own_push, &symbol, sizeof(symbol));
	symbol = find(library, "ncclstat_range_pop");
	memcpy(&own_pop, &symbol, sizeof(symbol));
	for (unsigned i = 1; i < WORDS; i++) {
		core_words[i] = &core[i];
		core2_words[i] = &core2[i];
	}
	if (!initialize(get_table)) {
		fprintf(stderr, "bench_ranges: %s takes no calls\n", path);
		exit(1);
	}
	domain = ((const struct nvtx_domain *(*)(const char *))
			  core2[NVTX_DOMAIN_CREATE_A])("bench");
	attributes.version = 3;
	attributes.bytes = sizeof(attributes);
	attributes.message_type = NVTX_MESSAGE_REGISTERED;
	attributes.message.registered =
		((const struct nvtx_string *(*)(const struct nvtx_domain *,
						const char *))
			 core2[NVTX_DOMAIN_REGISTER_STRING_A])(domain,
							       "forward");
}

int main(int argc, char **argv)
{
	attach(argc > 1 ? argv[1] : NCS_PLUGIN_PATH);
	for (unsigned i = 0; i < ROUNDS; i++) {
		for (unsigned k = 0; k < COUNT; k++) {
			uint64_t begin_ns = ncs_clock_monotonic_ns();

			subjects[k].run();
			subjects[k].ns[i] =
				(double)(ncs_clock_monotonic_ns() - begin_ns) /
				PAIRS;
		}
	}
	printf("%-32s %8s %8s %8s\n", "ns a push and a pop", "10 %", "median",
	       "90 %");
	for (unsigned k = 0; k < COUNT; k++) {
		bench_sort(subjects[k].ns, ROUNDS);
		printf("%-32s %8.1f %8.1f %8.1f\n", subjects[k].name,
		       subjects[k].ns[ROUNDS / 10], subjects[k].ns[ROUNDS / 2],
		       subjects[k].ns[ROUNDS * 9 / 10]);
	}
	for (unsigned k = 1; k < COUNT; k++)
		printf("%s: %.1f ns more than nothing, %.1f times\n",
		       subjects[k].name,
		       subjects[k].ns[ROUNDS / 2] - subjects[0].ns[ROUNDS / 2],
		       subjects[k].ns[ROUNDS / 2] / subjects[0].ns[ROUNDS / 2]);
	return 0;
}
