/* SPDX-License-Identifier: MIT */
/* Lists segments here and in containers; see discovery.h. */
#include "shm/read/discovery.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ncclstat/reader.h"
#include "shm/process.h"
#include "shm/read/paths.h"

#define PLACE "/proc/%u/root" NCS_DEFAULT_DIR "/"

/* Adds the segments of a container, named by their place in it. */
static int add_container(const struct ncs_container *container,
			 struct ncs_paths *paths)
{
	char directory[48];
	struct ncs_paths found;
	int error = 0;

	snprintf(directory, sizeof(directory), "/proc/self/fd/%d",
		 container->directory);
	if (ncs_discover(directory, &found) != 0)
		return 0;
	for (size_t i = 0; i < found.count && !error; i++)
		error = ncs_paths_add(paths, PLACE "%s", container->pid,
				      strrchr(found.path[i], '/') + 1);
	ncs_paths_release(&found);
	return error;
}

bool ncs_discovery_has_all(const char *directory)
{
	return !directory && !getenv("NCCLSTAT_DIR") &&
	       strcmp(ncs_directory(NULL), NCS_DEFAULT_DIR) == 0;
}

int ncs_discovery_list(struct ncs_discovery *discovery, struct ncs_paths *paths)
{
	struct ncs_containers *containers = &discovery->containers;
	int error = ncs_discover(ncs_directory(discovery->directory), paths);

	if (error || !ncs_discovery_has_all(discovery->directory))
		return error;
	error = ncs_containers_scan(containers);
	for (size_t i = 0; i < containers->count && !error; i++)
		if (containers->all[i].directory >= 0)
			error = add_container(&containers->all[i], paths);
	if (error)
		ncs_paths_release(paths);
	else
		ncs_paths_sort(paths);
	return error;
}

const char *ncs_discovery_file(const struct ncs_discovery *discovery,
			       const char *path, char *room, size_t size)
{
	const struct ncs_containers *containers = &discovery->containers;
	unsigned pid;

	room[0] = '\0'; /* names no file */
	if (sscanf(path, "/proc/%u/root/", &pid) != 1)
		return path;
	for (size_t i = 0; i < containers->count; i++)
		if (containers->all[i].pid == pid &&
		    containers->all[i].directory >= 0) {
			snprintf(room, size, "/proc/self/fd/%d%s",
				 containers->all[i].directory,
				 strrchr(path, '/'));
			break;
		}
	return room;
}

void ncs_discovery_release(struct ncs_discovery *discovery)
{
	ncs_containers_release(&discovery->containers);
}
