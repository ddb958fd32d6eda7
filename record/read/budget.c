/* SPDX-License-Identifier: MIT */
/* Counts memory; see budget.h. */
#include "record/read/budget.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

bool ncs_budget_take(struct ncs_budget *budget, uint64_t bytes)
{
	for (const struct ncs_budget *of = budget; of; of = of->whole)
		if (bytes > of->most || of->used > of->most - bytes)
			return false;
	for (struct ncs_budget *of = budget; of; of = of->whole)
		of->used += bytes;
	return true;
}

void ncs_budget_give(struct ncs_budget *budget, uint64_t bytes)
{
	for (struct ncs_budget *of = budget; of; of = of->whole)
		of->used -= bytes;
}

/* --- What is free ---------------------------------------------------------- */

/* Reads the number in a line of a file that begins with a word; the word is ""
 * in a file of one number. Returns UINT64_MAX if there is none. */
static uint64_t read_number(const char *path, const char *word)
{
	FILE *file = fopen(path, "re");
	uint64_t number = UINT64_MAX;
	char line[256];

	while (file && number == UINT64_MAX && fgets(line, sizeof(line), file))
		if (strncmp(line, word, strlen(word)) != 0 ||
		    sscanf(line + strlen(word), "%" SCNu64, &number) != 1)
			number = UINT64_MAX;
	if (file)
		fclose(file);
	return number;
}

/* Reads the path of this process's group; returns false if it has none. */
static bool read_group(char *path, size_t size)
{
	FILE *file = fopen("/proc/self/cgroup", "re");
	char line[512];
	bool found = false;

	while (file && !found && fgets(line, sizeof(line), file))
		found = strncmp(line, "0::/", 4) == 0;
	if (file)
		fclose(file);
	if (found)
		snprintf(path, size, "/sys/fs/cgroup%.*s",
			 (int)strcspn(line + 3, "\n"), line + 3);
	return found;
}

/* Returns what this process's group may still take; UINT64_MAX if that is not
 * limited, or not known. */
static uint64_t free_of_group(void)
{
	char group[600], path[640];
	uint64_t most, used;

	if (!read_group(group, sizeof(group)))
		return UINT64_MAX;
	snprintf(path, sizeof(path), "%s/memory.max", group);
	most = read_number(path, "");
	snprintf(path, sizeof(path), "%s/memory.current", group);
	used = read_number(path, "");
	if (most == UINT64_MAX || used == UINT64_MAX)
		return UINT64_MAX;
	return most > used ? most - used : 0;
}

uint64_t ncs_budget_half_of_free(void)
{
	uint64_t kilobytes = read_number("/proc/meminfo", "MemAvailable:");
	uint64_t of_group = free_of_group();
	uint64_t of_machine = kilobytes < UINT64_MAX / 1024 ?
				      kilobytes * 1024 :
				      UINT64_MAX;

	return (of_group < of_machine ? of_group : of_machine) / 2;
}
