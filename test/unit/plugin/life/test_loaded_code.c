/* SPDX-License-Identifier: MIT */
/* Libraries that communicate outside NCCL, as they are loaded by this program. */
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/wait.h>
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
	const char *library = NCS_NEXT "/one_sided.so";

	(void)state;
	assert_int_equal(code_with(library, "librdma.so"),
			 BIT(ONE_SIDED) | BIT(DEVICE_API));
	assert_int_equal(code_with(library, "libmscclpp.so"),
			 BIT(ONE_SIDED) | BIT(DEVICE_API) | BIT(MSCCLPP));
	assert_int_equal(code_with(library, "libtorch_cuda.so"), 0);
}

/* 1: a thread has the loader's lock; 2: a fork is next. */
static uint64_t stage;

static int keep_lock(struct dl_phdr_info *library, size_t bytes, void *unused)
{
	(void)library;
	(void)bytes;
	(void)unused;
	ncs_store_relaxed(&stage, 1);
	while (ncs_load_relaxed(&stage) != 2)
		usleep(100);
	usleep(50000); /* so that a fork that does not wait comes meanwhile */
	return 1;
}

static void *keep_list(void *unused)
{
	(void)unused;
	dl_iterate_phdr(keep_lock, NULL);
	return NULL;
}

static void *walk(void *unused)
{
	(void)unused;
	ncs_loaded_code();
	return NULL;
}

static bool is_locked(void)
{
	if (pthread_mutex_trylock(&lock) != 0)
		return true;
	pthread_mutex_unlock(&lock);
	return false;
}

/* The loader's lock, which a walk takes, would stay locked in the child. */
static void a_fork_waits_for_a_walk(void **state)
{
	pthread_t keeper, walker;
	int status;
	pid_t pid;

	(void)state;
	assert_int_equal(pthread_atfork(ncs_loaded_code_before_fork,
					ncs_loaded_code_after_fork,
					ncs_loaded_code_forget),
			 0);
	assert_int_equal(pthread_create(&keeper, NULL, keep_list, NULL), 0);
	while (ncs_load_relaxed(&stage) != 1)
		usleep(100);
	assert_int_equal(pthread_create(&walker, NULL, walk, NULL), 0);
	while (!is_locked())
		usleep(100);
	ncs_store_relaxed(&stage, 2);
	pid = fork();
	if (pid == 0) {
		alarm(100);
		/* The child walks, too. */
		_exit(code_with(NCS_NEXT "/one_sided.so", "child.so") == 0);
	}
	assert_true(pid > 0);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	if (status != 0)
		fail_msg("the child cannot load libraries: %x", status);
	pthread_join(walker, NULL);
	pthread_join(keeper, NULL);
	assert_false(is_locked());
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(libraries_are_told_by_their_paths),
		cmocka_unit_test(calls_are_told_of_all_libraries_but_pytorchs),
		cmocka_unit_test(a_fork_waits_for_a_walk),
	};

	return cmocka_run_group_tests_name("loaded_code", tests, make_folder,
					   remove_folder);
}
