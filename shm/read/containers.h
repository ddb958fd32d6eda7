/* SPDX-License-Identifier: MIT */
/* Finds the segments of containers from outside: the /dev/shm of every mount
 * namespace whose processes this one may look into, as the same user or root.
 *
 * A container is not trusted. Its paths are resolved inside its own root and
 * through no link; only a /dev/shm that is a tmpfs by the kernel's own list of
 * mounts is looked at, so that no file system of the container's can keep the
 * viewer waiting. Nothing is ever removed there, and nothing is written but the
 * one word of a request that the user makes (remote.h). One thread at a time may
 * use a struct.
 */
#ifndef NCS_SHM_READ_CONTAINERS_H
#define NCS_SHM_READ_CONTAINERS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

struct ncs_labels; /* ncclstat/abi_header.h */
struct ncs_paths;  /* ncclstat/path_list.h */

/* Opens a file of /proc/PID for reading. Returns NULL, and sets errno, on
 * failure. */
FILE *ncs_process_file(uint32_t pid, const char *name);

/* Returns what is in such a file, terminated, which may be nothing, to be freed by the
 * caller; NULL if there is no memory. */
char *ncs_process_text(uint32_t pid, const char *name, size_t *bytes);

/* The /dev/shm of a mount namespace. */
struct ncs_container {
	uint64_t mount_namespace; /* inode of /proc/PID/ns/mnt */
	uint32_t pid;             /* a process in it, as numbered here */
	int directory; /* descriptor of its /dev/shm; -1: not to be looked at */
	bool is_seen;  /* in the latest scan */
};

struct ncs_containers {
	struct ncs_container *all;
	size_t count;
	size_t capacity;
};

/* Lists the namespaces again: keeps those that are still there, adds new ones
 * and releases the others. Each new one is looked into once. Returns 0 or
 * -ENOMEM; a process that may not be looked at is none. */
int ncs_containers_scan(struct ncs_containers *containers);

/* Closes all; *containers is empty afterwards. */
void ncs_containers_release(struct ncs_containers *containers);

/* Returns the number that a process of another PID namespace has in this one:
 * `pid` is its number there, `pid_namespace` the inode of that namespace. 0 if
 * there is no such process to be seen. */
uint32_t ncs_container_pid_here(uint64_t pid_namespace, uint32_t pid);

/* Adds the labels "container" and "pod_uid" of a process, as numbered here, from
 * the path of its cgroup; nothing if that names neither. */
void ncs_container_labels(struct ncs_labels *labels, uint32_t pid);

/* Does so by a line of /proc/PID/cgroup. */
void ncs_container_labels_of(struct ncs_labels *labels, const char *cgroup);

/* --- Finding the segments that there are to see ---------------------------- */

/* Those of a directory and, where the user has chosen none, those of containers
 * as well. A container's segment is listed as /proc/PID/root/dev/shm/NAME; that
 * path is for people only, and must not be opened: ncs_discovery_file() says
 * what is. Release the containers at last. */
struct ncs_discovery {
	const char *directory; /* NULL for the default */
	struct ncs_containers containers;
};

/* Returns whether containers are looked into, too: a directory of the user's
 * choice is the only one. */
bool ncs_discovery_has_all(const char *directory);

/* Lists segments as ncs_discover() does. */
int ncs_discovery_list(struct ncs_discovery *discovery,
		       struct ncs_paths *paths);

/* Returns the path by which a listed segment is to be opened: `path` itself, or
 * one in `room`, valid until the next listing. */
const char *ncs_discovery_file(const struct ncs_discovery *discovery,
			       const char *path, char *room, size_t size);

#endif
