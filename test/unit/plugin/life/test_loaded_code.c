/* SPDX-License-Identifier: MIT */
/* Libraries that communicate outside NCCL, as they are loaded by this program. */
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "test/unit/support/unit.h"

/* Included as text: the plugin's objects are for a shared library. */
#include "plugin/life/loaded_code.c"

#define BIT(ID) (UINT64_C(1) << NCS_OUTSIDE_##ID)

static char folder[] = "/tmp/ncclstat-code.XXXXXX";

static int make_folder(void **state)
{
	(void)state;
	return mkdtemp(folder) ? 0 : -1;
}

static int remove_folder(void **state)
{
	(void)state;
	return rmdir(folder);
}

static void copy(const char *path, const char *to)
{
	FILE *source = fopen(path, "re"), *target = fopen(to, "we");
	char part[4096];
	size_t length;

	assert_true(source && target);
	while ((length = fread(part, 1, sizeof(part), source)) > 0)
		assert_int_equal(fwrite(part, 1, length, target), length);
	fclose(source);
	assert_int_equal(fclose(target), 0);
}

/* Returns what is loaded while a copy of a library is, by another name. */
static uint64_t code_with(const char *library, const char *name)
{
	char path[128];
	uint64_t found;
	void *handle;

	snprintf(path, sizeof(path), "%s/%s", folder, name);
	copy(library, path);
	handle = dlopen(path, RTLD_LAZY | RTLD_LOCAL);
	if (!handle)
		fail_msg("%s", dlerror());
	found = ncs_loaded_code();
	assert_int_equal(ncs_loaded_code(), found);
	dlclose(handle);
	unlink(path);
	return found;
}

static void libraries_are_told_by_their_paths(void **state)
{
	(void)state;
	assert_int_equal(ncs_loaded_code(), 0);
	assert_int_equal(code_with(NCS_NEXT "/cupti.so", "innocent.so"), 0);
	assert_int_equal(code_with(NCS_NEXT "/cupti.so",
				   "deep_ep_cpp.cpython-312.so"),
			 BIT(DEEP_EP));
	assert_int_equal(code_with(NCS_NEXT "/cupti.so",
				   "libtensorrt_llm.so"),
			 BIT(TENSORRT_LLM));
}

static void calls_are_told_of_all_libraries_but_pytorchs(void **state)
{
	const char *library = NCS_NEXT "/one-sided.so";

	(void)state;
	assert_int_equal(code_with(library, "librdma.so"),
			 BIT(ONE_SIDED) | BIT(DEVICE_API));
	assert_int_equal(code_with(library, "libmscclpp.so"),
			 BIT(ONE_SIDED) | BIT(DEVICE_API) | BIT(MSCCLPP));
	assert_int_equal(code_with(library, "libtorch_cuda.so"), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(libraries_are_told_by_their_paths),
		cmocka_unit_test(calls_are_told_of_all_libraries_but_pytorchs),
	};

	return cmocka_run_group_tests_name("loaded_code", tests, make_folder,
					   remove_folder);
}
