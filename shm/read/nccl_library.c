/* SPDX-License-Identifier: MIT */
/* NCCL in files; see nccl_library.h. */
#include "shm/read/nccl_library.h"

#include <elf.h>
#include <fcntl.h>
#include <glob.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define PART_BYTES ((size_t)1 << 20)

static const char version_mark[] = "NCCL version ";
static const char function_name[] = "ncclCommInitRank";

uint32_t ncs_nccl_version_in(const char *bytes, size_t size)
{
	const size_t mark = sizeof(version_mark) - 1;
	const char *at = bytes, *end = bytes + size;
	unsigned major, minor, patch;
	char text[16];

	while ((at = memmem(at, (size_t)(end - at), version_mark, mark))) {
		size_t rest = (size_t)(end - at) - mark;

		at += mark;
		snprintf(text, sizeof(text), "%.*s", rest < 15 ? (int)rest : 15,
			 at);
		if (sscanf(text, "%3u.%3u.%3u", &major, &minor, &patch) == 3 &&
		    major < 256 && minor < 256 && patch < 256)
			return major << 16 | minor << 8 | patch;
	}
	return 0;
}

static uint32_t has_function(const char *bytes, size_t size)
{
	/* With the NULs around it in a table of strings. */
	return memmem(bytes, size, function_name, sizeof(function_name)) !=
	       NULL;
}

/* Reads a part of a file in pieces, which overlap by as much as what is searched
 * for takes, until `find` returns something. */
static uint32_t search(int file, off_t offset, off_t end,
		       uint32_t (*find)(const char *bytes, size_t size))
{
	const size_t overlap = sizeof(version_mark) + 16;
	char *part = malloc(PART_BYTES);
	uint32_t found = 0;

	while (part && found == 0 && offset < end) {
		size_t wanted = end - offset < (off_t)PART_BYTES ?
					(size_t)(end - offset) :
					PART_BYTES;
		ssize_t length = pread(file, part, wanted, offset);

		if (length <= 0)
			break;
		found = find(part, (size_t)length);
		if ((size_t)length <= overlap)
			break;
		offset += length - (off_t)overlap;
	}
	free(part);
	return found;
}

static off_t size_of(int file)
{
	struct stat status;

	return fstat(file, &status) == 0 && S_ISREG(status.st_mode) ?
		       status.st_size :
		       0;
}

uint32_t ncs_nccl_version_of(int file)
{
	return search(file, 0, size_of(file), ncs_nccl_version_in);
}

uint32_t ncs_nccl_version_at(const char *path)
{
	int file = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
	uint32_t version;

	if (file < 0)
		return 0;
	version = ncs_nccl_version_of(file);
	close(file);
	return version;
}

bool ncs_nccl_is_linked_into(int file)
{
	off_t size = size_of(file);
	bool found = false;
	Elf64_Ehdr head;
	Elf64_Shdr section;

	if (size == 0 || pread(file, &head, sizeof(head), 0) != sizeof(head) ||
	    memcmp(head.e_ident, ELFMAG, SELFMAG) != 0 ||
	    head.e_ident[EI_CLASS] != ELFCLASS64 ||
	    head.e_shentsize != sizeof(section) || head.e_shoff > (size_t)size)
		return false;
	for (unsigned i = 0; !found && i < head.e_shnum; i++) {
		off_t at = (off_t)(head.e_shoff + i * sizeof(section));

		if (pread(file, &section, sizeof(section), at) !=
		    sizeof(section))
			break;
		if (section.sh_type != SHT_STRTAB ||
		    section.sh_offset > (size_t)size ||
		    section.sh_size > (size_t)size - section.sh_offset)
			continue;
		found = search(file, (off_t)section.sh_offset,
			       (off_t)(section.sh_offset + section.sh_size),
			       has_function);
	}
	return found;
}

/* --- The libraries of this machine ----------------------------------------- */

/* Appends the folder of a pattern to the matches that there are. */
static void match(glob_t *matches, const char *folder, size_t length,
		  const char *below)
{
	char pattern[4096];

	if (length > 0 &&
	    (size_t)snprintf(pattern, sizeof(pattern), "%.*s/%s/libnccl.so.2",
			     (int)length, folder, below) < sizeof(pattern))
		glob(pattern, GLOB_BRACE | GLOB_APPEND, NULL, matches);
}

/* Calls match() for the folders of a list such as $PATH. */
static void match_each(glob_t *matches, const char *folders, const char *below)
{
	while (folders && *folders) {
		size_t length = strcspn(folders, ":");

		match(matches, folders, length, below);
		folders += length + (folders[length] == ':');
	}
}

static bool is_same_file(const char *a, const char *b)
{
	struct stat of_a, of_b;

	return stat(a, &of_a) == 0 && stat(b, &of_b) == 0 &&
	       of_a.st_dev == of_b.st_dev && of_a.st_ino == of_b.st_ino;
}

void ncs_nccl_libraries(void (*on_found)(const char *path, void *argument),
			void *argument)
{
	static const char packages[] =
		"../{lib,lib64,local/lib}/python3*/{site,dist}-packages/"
		"{nvidia/nccl,torch}/lib";
	static const char standard[] =
		"/usr/lib/x86_64-linux-gnu:/usr/lib/aarch64-linux-gnu"
		":/usr/lib64:/usr/lib:/usr/local/lib:/usr/local/cuda/lib64";
	const char *home = getenv("HOME");
	glob_t matches = { 0 };

	match_each(&matches, getenv("LD_LIBRARY_PATH"), ".");
	match_each(&matches, standard, ".");
	/* The environments of Python have their programs in $PATH. */
	match_each(&matches, getenv("PATH"), packages);
	if (home)
		match(&matches, home, strlen(home),
		      ".local/lib/python3*/site-packages/nvidia/nccl/lib");
	for (size_t i = 0; i < matches.gl_pathc; i++) {
		char *real = realpath(matches.gl_pathv[i], NULL);
		size_t k = 0;

		while (k < i && !is_same_file(matches.gl_pathv[k],
					      matches.gl_pathv[i]))
			k++;
		if (real && k == i)
			on_found(real, argument);
		free(real);
	}
	globfree(&matches);
}
