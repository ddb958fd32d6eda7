/* SPDX-License-Identifier: MIT */
/* Looks into containers; see containers.h. /proc is the kernel's and believed;
 * what is below /proc/PID/root is the container's and not. */
#include "shm/read/containers.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "ncclstat/reader.h"
#include "shm/array.h"
#include "shm/labels.h"
#include "shm/object.h"
#include "shm/process.h"
#include "shm/read/paths.h"

/* --- Processes ------------------------------------------------------------- */

FILE *ncs_process_file(uint32_t pid, const char *name)
{
	char path[64];

	snprintf(path, sizeof(path), "/proc/%u/%s", pid, name);
	return fopen(path, "re");
}

char *ncs_process_text(uint32_t pid, const char *name, size_t *bytes)
{
	FILE *file = ncs_process_file(pid, name);
	size_t capacity = 0, got;
	char *text = NULL;

	*bytes = 0;
	do {
		if (ncs_array_reserve(&text, &capacity, *bytes + 4096, 1) !=
		    0) {
			free(text);
			text = NULL;
			break;
		}
		got = file ? fread(text + *bytes, 1, capacity - *bytes - 1,
				   file) :
			     0;
		*bytes += got;
		text[*bytes] = '\0';
	} while (got > 0);
	if (file)
		fclose(file);
	return text;
}

/* Returns the inode of a namespace of a process; 0 if it may not be seen. */
static uint64_t namespace_of(uint32_t pid, const char *kind)
{
	struct stat status;
	char path[48];

	snprintf(path, sizeof(path), "/proc/%u/ns/%s", pid, kind);
	return stat(path, &status) == 0 ? (uint64_t)status.st_ino : 0;
}

/* Returns the next process of a listing of /proc; 0 at its end. */
static uint32_t next_process(DIR *processes)
{
	struct dirent *found;

	while ((found = readdir(processes)))
		if (isdigit((unsigned char)found->d_name[0]))
			return (uint32_t)strtoul(found->d_name, NULL, 10);
	return 0;
}

/* Returns the number of a process in the innermost namespace that it is in. */
static uint32_t innermost_pid(uint32_t pid)
{
	FILE *file = ncs_process_file(pid, "status");
	uint32_t innermost = 0;
	char line[512];

	while (file && fgets(line, sizeof(line), file)) {
		const char *last;

		if (strncmp(line, "NSpid:", 6) != 0)
			continue;
		last = strrchr(line, '\t');
		innermost = last ? (uint32_t)strtoul(last + 1, NULL, 10) : 0;
		break;
	}
	if (file)
		fclose(file);
	return innermost;
}

uint32_t ncs_container_pid_here(uint64_t pid_namespace, uint32_t pid)
{
	DIR *processes = opendir("/proc");
	uint32_t here;

	if (!processes)
		return 0;
	while ((here = next_process(processes)) != 0)
		if (namespace_of(here, "pid") == pid_namespace &&
		    innermost_pid(here) == pid)
			break;
	closedir(processes);
	return here;
}

/* --- Mounts ---------------------------------------------------------------- */

static bool is_memory(const char *type)
{
	return strcmp(type, "tmpfs") == 0 || strcmp(type, "ramfs") == 0;
}

/* Tells by the kernel's list of mounts whether the way to a namespace's /dev/shm
 * passes through no file system that a user's program serves, and ends on a
 * tmpfs. Of several mounts in one place the last one counts. */
static bool mounts_are_good(uint32_t pid)
{
	FILE *file = ncs_process_file(pid, "mountinfo");
	char type[64], place[4096], root[64] = "", dev[64] = "", shm[64] = "";
	char *line = NULL;
	bool is_pure = true;
	size_t room = 0;

	if (!file)
		return false;
	while (getline(&line, &room, file) > 0) {
		const char *after = strstr(line, " - ");

		if (!after || sscanf(after, " - %63s", type) != 1 ||
		    sscanf(line, "%*s %*s %*s %*s %4095s", place) != 1)
			continue;
		if (strcmp(place, "/") == 0)
			strcpy(root, type);
		else if (strcmp(place, "/dev") == 0)
			strcpy(dev, type);
		else if (strcmp(place, "/dev/shm") == 0)
			strcpy(shm, type);
		/* A file of it may be a mount, too, of any file system. */
		else if (strncmp(place, "/dev/shm/", 9) == 0)
			is_pure = false;
	}
	free(line);
	fclose(file);
	return is_pure && is_memory(shm) && strncmp(root, "fuse", 4) != 0 &&
	       (!dev[0] || is_memory(dev) || strcmp(dev, "devtmpfs") == 0);
}

/* Opens the /dev/shm that a process has; -1 if it has none of its own to look
 * at. `own` is the one of this process. */
static int open_shm(uint32_t pid, const struct stat *own)
{
	struct open_how how = {
		.flags = O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC |
			 O_NONBLOCK,
		.resolve = RESOLVE_IN_ROOT | RESOLVE_NO_SYMLINKS |
			   RESOLVE_NO_MAGICLINKS,
	};
	struct stat status;
	char path[48];
	int root, directory;

	if (!mounts_are_good(pid))
		return -1;
	snprintf(path, sizeof(path), "/proc/%u/root", pid);
	root = open(path, O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (root < 0)
		return -1;
	directory = (int)syscall(SYS_openat2, root, "dev/shm", &how,
				 sizeof(how));
	close(root);
	if (directory >= 0 &&
	    (fstat(directory, &status) != 0 ||
	     !ncs_object_is_in_memory(directory) ||
	     (status.st_dev == own->st_dev && status.st_ino == own->st_ino))) {
		close(directory);
		directory = -1;
	}
	return directory;
}

/* --- Namespaces ------------------------------------------------------------ */

/* Tells whether a directory of an earlier namespace is the same one. */
static bool is_known(const struct ncs_containers *containers, int directory)
{
	struct stat status, other;

	if (fstat(directory, &status) != 0)
		return true;
	for (size_t i = 0; i < containers->count; i++)
		if (containers->all[i].directory >= 0 &&
		    fstat(containers->all[i].directory, &other) == 0 &&
		    other.st_dev == status.st_dev &&
		    other.st_ino == status.st_ino)
			return true;
	return false;
}

static struct ncs_container *find(const struct ncs_containers *containers,
				  uint64_t mount_namespace)
{
	for (size_t i = 0; i < containers->count; i++)
		if (containers->all[i].mount_namespace == mount_namespace)
			return &containers->all[i];
	return NULL;
}

static int add(struct ncs_containers *containers, uint64_t mount_namespace,
	       uint32_t pid, const struct stat *own)
{
	int directory;

	if (ncs_array_reserve(&containers->all, &containers->capacity,
			      containers->count + 1,
			      sizeof(*containers->all)) != 0)
		return -ENOMEM;
	directory = open_shm(pid, own);
	if (directory >= 0 && is_known(containers, directory)) {
		close(directory);
		directory = -1;
	}
	containers->all[containers->count++] = (struct ncs_container){
		.mount_namespace = mount_namespace,
		.pid = pid,
		.directory = directory,
		.is_seen = true,
	};
	return 0;
}

static void drop_unseen(struct ncs_containers *containers)
{
	size_t kept = 0;

	for (size_t i = 0; i < containers->count; i++) {
		struct ncs_container *container = &containers->all[i];

		if (container->is_seen)
			containers->all[kept++] = *container;
		else if (container->directory >= 0)
			close(container->directory);
	}
	containers->count = kept;
}

int ncs_containers_scan(struct ncs_containers *containers)
{
	uint64_t own_namespace = namespace_of((uint32_t)getpid(), "mnt");
	DIR *processes = opendir("/proc");
	struct stat own = { 0 };
	uint32_t pid;
	int error = 0;

	if (!processes)
		return 0;
	stat(NCS_DEFAULT_DIR, &own);
	for (size_t i = 0; i < containers->count; i++)
		containers->all[i].is_seen = false;
	while (!error && (pid = next_process(processes)) != 0) {
		uint64_t inode = namespace_of(pid, "mnt");
		struct ncs_container *known;

		if (inode == 0 || inode == own_namespace)
			continue;
		known = find(containers, inode);
		if (known)
			known->is_seen = true;
		else
			error = add(containers, inode, pid, &own);
	}
	closedir(processes);
	if (!error)
		drop_unseen(containers);
	return error;
}

void ncs_containers_release(struct ncs_containers *containers)
{
	for (size_t i = 0; i < containers->count; i++)
		if (containers->all[i].directory >= 0)
			close(containers->all[i].directory);
	free(containers->all);
	memset(containers, 0, sizeof(*containers));
}

/* --- Names ----------------------------------------------------------------- */

/* The beginnings of a cgroup's name before the container's id. */
static const struct {
	const char *prefix, *engine;
} engines[] = {
	{ "docker-", "docker" },	 { "docker/", "docker" },
	{ "cri-containerd-", "containerd" }, { "cri-containerd:", "containerd" },
	{ "crio-", "cri-o" },		 { "libpod-", "podman" },
};

/* Returns how many hexadecimal digits a text begins with, or other characters of
 * UIDs: '-' and, as systemd writes them, '_'. */
static size_t id_length(const char *text, const char *others)
{
	size_t length = 0;

	while (isxdigit((unsigned char)text[length]) ||
	       (text[length] && strchr(others, text[length])))
		length++;
	return length;
}

static void add_container(struct ncs_labels *labels, const char *cgroup)
{
	const char *last = strrchr(cgroup, '/');
	char text[64];

	for (size_t i = 0; i < sizeof(engines) / sizeof(engines[0]); i++) {
		const char *found = strstr(cgroup, engines[i].prefix);
		const char *id = found ? found + strlen(engines[i].prefix) : "";

		if (id_length(id, "") != 64)
			continue;
		snprintf(text, sizeof(text), "%s %.12s", engines[i].engine, id);
		ncs_labels_add(labels, "container", text);
		return;
	}
	/* Kubernetes with cgroupfs writes the id alone. */
	if (last && strstr(cgroup, "kubepods") &&
	    id_length(last + 1, "") == 64) {
		snprintf(text, sizeof(text), "%.12s", last + 1);
		ncs_labels_add(labels, "container", text);
	}
}

static void add_pod(struct ncs_labels *labels, const char *cgroup)
{
	const char *kube = strstr(cgroup, "kubepods");
	const char *pod = kube;
	char uid[37];

	while (pod && (pod = strstr(pod, "pod"))) {
		pod += 3;
		if (id_length(pod, "-_") != 36)
			continue;
		memcpy(uid, pod, 36);
		uid[36] = '\0';
		for (char *c = uid; *c; c++)
			if (*c == '_')
				*c = '-';
		ncs_labels_add(labels, "pod_uid", uid);
		return;
	}
}

void ncs_container_labels_of(struct ncs_labels *labels, const char *cgroup)
{
	add_container(labels, cgroup);
	add_pod(labels, cgroup);
}

void ncs_container_labels(struct ncs_labels *labels, uint32_t pid)
{
	FILE *file = ncs_process_file(pid, "cgroup");
	char text[4096];

	while (file && fgets(text, sizeof(text), file)) {
		text[strcspn(text, "\n")] = '\0';
		ncs_container_labels_of(labels, text);
	}
	if (file)
		fclose(file);
}

/* --- Segments ------------------------------------------------------------- */

#define PLACE "/proc/%u/root" NCS_DEFAULT_DIR "/"

/* Adds the segments of a container, named by their place in it. */
static int add_segments(const struct ncs_container *container,
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
			error = add_segments(&containers->all[i], paths);
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
