/* SPDX-License-Identifier: MIT */
/* A library that loads another one, LATE_LIBRARY, once its file is there, in each
 * process that is forked, too. */
#include <dlfcn.h>
#include <pthread.h>
#include <stdlib.h>
#include <unistd.h>

static void *load(void *path)
{
	while (access(path, R_OK) != 0)
		usleep(10000);
	return dlopen(path, RTLD_LAZY);
}

static void start(void)
{
	char *path = getenv("LATE_LIBRARY");
	pthread_t thread;

	if (path && pthread_create(&thread, NULL, load, path) == 0)
		pthread_detach(thread);
}

__attribute__((constructor)) static void begin(void)
{
	pthread_atfork(NULL, NULL, start);
	start();
}
