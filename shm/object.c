/* SPDX-License-Identifier: MIT */
/* Names, file systems and holders of objects; see object.h. Reads at most a
 * header, trusts none of it, and maps nothing. */
#include "shm/object.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "ncclstat/abi_header.h"
#include "ncclstat/control_object.h"
#include "shm/file_status.h"

static bool parse_numbers(const char *text, uint32_t *pid, uint64_t *start)
{
	unsigned long long ticks;
	unsigned number;
	int end = -1;

	if (sscanf(text, "%u.%llu.%*u%n", &number, &ticks, &end) != 2 ||
	    end < 0 || text[end] != '\0')
		return false;
	*pid = number;
	*start = ticks;
	return true;
}

enum ncs_object_kind ncs_object_parse(const char *name, uint32_t *pid,
				      uint64_t *start)
{
	static const struct {
		const char *prefix;
		enum ncs_object_kind kind;
	} kinds[] = {
		{ NCS_NAME_PREFIX, NCS_OBJECT_SEGMENT },
		{ NCS_CONTROL_PREFIX, NCS_OBJECT_CONTROL },
	};

	*pid = 0;
	*start = 0;
	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
		size_t length = strlen(kinds[i].prefix);

		if (strncmp(name, kinds[i].prefix, length) == 0 &&
		    parse_numbers(name + length, pid, start))
			return kinds[i].kind;
	}
	return NCS_OBJECT_NONE;
}

uint32_t ncs_object_serial(const char *path)
{
	const char *number = strrchr(path, '.');

	return number ? (uint32_t)(strtoull(number + 1, NULL, 10) >> 32) : 0;
}

bool ncs_object_is_in_memory(int file)
{
	struct statfs status;

	return fstatfs(file, &status) == 0 &&
	       (status.f_type == TMPFS_MAGIC || status.f_type == RAMFS_MAGIC);
}

enum ncs_holding ncs_object_holding(int file)
{
	if (!ncs_object_is_in_memory(file))
		return NCS_HOLDING_UNKNOWN;
	fcntl(file, F_SETSIG, SIGURG); /* instead of SIGIO, which kills */
	if (fcntl(file, F_SETLEASE, F_RDLCK) != 0)
		return errno == EAGAIN ? NCS_HELD : NCS_HOLDING_UNKNOWN;
	fcntl(file, F_SETLEASE, F_UNLCK);
	return NCS_ABANDONED;
}

int ncs_object_open(int directory, const char *path)
{
	int file = openat(directory, path,
			  O_RDONLY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK);

	return file < 0 ? -errno : file;
}

/* The first bytes of an object: zeros beyond the end of the file. */
union head {
	uint64_t magic;
	struct ncs_header header;
	struct ncs_control control;
};

/* Tells whether the head is that of an object of this kind, or still empty
 * because its process was killed before it wrote anything. */
static bool is_head_of(const union head *head, enum ncs_object_kind kind)
{
	return head->magic == 0 || head->magic == (kind == NCS_OBJECT_CONTROL ?
							   NCS_CONTROL_MAGIC :
							   NCS_MAGIC);
}

/* Tells whether a head's process is known to have ended. */
static bool has_ended(const union head *head, enum ncs_object_kind kind,
		      const struct ncs_process *maker,
		      const struct ncs_process *self)
{
	uint32_t version = kind == NCS_OBJECT_CONTROL ? head->control.version :
							head->header.version;
	uint32_t major = kind == NCS_OBJECT_CONTROL ?
				 NCS_CONTROL_VERSION >> 16 :
				 NCS_ABI_MAJOR;

	return head->magic != 0 && version >> 16 == major &&
	       ncs_process_look(maker, self).gone;
}

bool ncs_object_is_abandoned(int file, enum ncs_object_kind kind,
			     const struct ncs_process *self,
			     struct ncs_process *maker)
{
	enum ncs_holding holding = ncs_object_holding(file);
	union head head = { 0 };
	struct ncs_process found;
	struct stat status;

	if (maker)
		memset(maker, 0, sizeof(*maker));
	if (holding == NCS_HELD || ncs_open_file_status(file, &status) != 0 ||
	    !S_ISREG(status.st_mode) ||
	    pread(file, &head, sizeof(head), 0) < 0 || !is_head_of(&head, kind))
		return false;
	if (kind == NCS_OBJECT_CONTROL)
		ncs_process_of_control(&head.control, &found);
	else
		ncs_process_of_header(&head.header, &found);
	if (maker)
		*maker = found;
	return holding == NCS_ABANDONED ||
	       has_ended(&head, kind, &found, self);
}
