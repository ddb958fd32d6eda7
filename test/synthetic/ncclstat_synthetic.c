/* SPDX-License-Identifier: MIT */
/* ncclstat with a job that is made up: tests of the program's output and screens
 * have one that needs no process and that is the same each time.
 *
 *	ncclstat_synthetic [--synthetic RANKSxCHANNELS] ARGUMENT...
 *
 * It is the program itself, linked so that main() and the opening of segments come
 * here first (ld --wrap). Without the option, which must be the first, it does what
 * ncclstat does.
 */
#include <stdio.h>
#include <string.h>

#include "analysis/sources/source_shm.h"
#include "test/unit/support/source_synthetic.h"

int __real_main(int argc, char **argv);
int __wrap_main(int argc, char **argv);
struct ncs_source *__real_ncs_source_open_shm(const char *directory,
					      const struct ncs_choice *choice);
struct ncs_source *__wrap_ncs_source_open_shm(const char *directory,
					      const struct ncs_choice *choice);

static unsigned ranks, channels;

int __wrap_main(int argc, char **argv)
{
	if (argc > 2 && strcmp(argv[1], "--synthetic") == 0 &&
	    sscanf(argv[2], "%ux%u", &ranks, &channels) == 2) {
		argv[2] = argv[0];
		argc -= 2;
		argv += 2;
	}
	return __real_main(argc, argv);
}

struct ncs_source *__wrap_ncs_source_open_shm(const char *directory,
					      const struct ncs_choice *choice)
{
	return ranks > 0 ? ncs_source_open_synthetic(1, ranks, channels) :
			   __real_ncs_source_open_shm(directory, choice);
}
