/* SPDX-License-Identifier: MIT */
/* Sockets to serve metrics on; see listen_address.h. */
#include "tui/serve/listen_address.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "shm/group.h"

#define BACKLOG 16
/* The first socket that systemd passes: sd_listen_fds(3). */
#define SYSTEMD_SOCKET 3

#define ELSEWHERE \
	"metrics go to other machines by node_exporter (--textfile), or by" \
	" exporter_exporter in front of this, which have TLS and passwords"

/* --- What is allowed ------------------------------------------------------ */

static bool is_local(const union ncs_socket_address *address)
{
	switch (address->any.sa_family) {
	case AF_UNIX:
		return true;
	case AF_INET:
		return ntohl(address->in.sin_addr.s_addr) >> 24 == 127;
	case AF_INET6:
		return IN6_IS_ADDR_LOOPBACK(&address->in6.sin6_addr);
	default:
		return false;
	}
}

static int refuse(const char *address, char *why, size_t why_size)
{
	snprintf(why, why_size,
		 "--listen expects a path with a '/', 127.0.0.1:PORT,"
		 " [::1]:PORT or systemd, not '%s': " ELSEWHERE,
		 address);
	return -EINVAL;
}

/* Closes a socket that cannot be used. */
static int fail(int fd, const char *address, char *why, size_t why_size)
{
	int error = errno;

	snprintf(why, why_size, "%s: %s", address, strerror(error));
	if (fd >= 0)
		close(fd);
	return -error;
}

static int listen_on(struct ncs_listening *listening,
		     const union ncs_socket_address *to, socklen_t bytes,
		     const char *address, char *why, size_t why_size)
{
	int fd = socket(to->any.sa_family, SOCK_STREAM | SOCK_CLOEXEC, 0);
	int on = 1;

	if (fd < 0)
		return fail(fd, address, why, why_size);
	if (to->any.sa_family != AF_UNIX)
		setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on));
	else if (fchmod(fd, 0600) != 0) /* bind() gives the file this mode */
		return fail(fd, address, why, why_size);
	if (bind(fd, &to->any, bytes) != 0 || listen(fd, BACKLOG) != 0)
		return fail(fd, address, why, why_size);
	listening->socket = fd;
	listening->is_port = to->any.sa_family != AF_UNIX;
	return 0;
}

/* --- Unix sockets --------------------------------------------------------- */

/* Removes a socket file that nobody listens on any more. */
static void remove_abandoned(const union ncs_socket_address *to)
{
	struct stat found;
	int fd;

	if (lstat(to->un.sun_path, &found) != 0 || !S_ISSOCK(found.st_mode))
		return;
	fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	if (fd < 0)
		return;
	if (connect(fd, &to->any, sizeof(to->un)) != 0 &&
	    errno == ECONNREFUSED)
		unlink(to->un.sun_path);
	close(fd);
}

/* Lets a group connect to a socket file that this process has made. Works on the
 * file, not on its name, by which another user may have put something else in a
 * directory that is not sticky. Returns 0 or -errno. */
static int share(const char *path, gid_t group)
{
	int file = open(path, O_PATH | O_NOFOLLOW | O_CLOEXEC);
	struct stat found;
	char name[48];
	int error = 0;

	if (file < 0)
		return -errno;
	snprintf(name, sizeof(name), "/proc/self/fd/%d", file);
	if (fstat(file, &found) != 0 || !S_ISSOCK(found.st_mode) ||
	    found.st_uid != geteuid())
		error = -ENOTSOCK;
	else if (fchownat(file, "", (uid_t)-1, group, AT_EMPTY_PATH) != 0 ||
		 chmod(name, 0660) != 0)
		error = -errno;
	close(file);
	return error;
}

/* Shares a socket file with the group that the user names, if any. */
static int share_with_group(struct ncs_listening *listening, char *why,
			    size_t why_size)
{
	const char *name = getenv(NCS_GROUP_VARIABLE);
	gid_t group;
	int error;

	if (!name || !name[0])
		return 0;
	error = ncs_group_find(name, &group) == 0 ?
			share(listening->path, group) :
			-EINVAL;
	if (!error)
		return 0;
	snprintf(why, why_size, "%s: " NCS_GROUP_VARIABLE "=%s: %s",
		 listening->path, name,
		 error == -EINVAL ? "no such group" : strerror(-error));
	ncs_listening_remove(listening);
	close(listening->socket);
	listening->socket = -1;
	return error;
}

static int listen_on_path(struct ncs_listening *listening, const char *path,
			  char *why, size_t why_size)
{
	union ncs_socket_address to = { .un = { .sun_family = AF_UNIX } };
	int error;

	if (strlen(path) >= sizeof(to.un.sun_path)) {
		errno = ENAMETOOLONG;
		return fail(-1, path, why, why_size);
	}
	memcpy(to.un.sun_path, path, strlen(path) + 1);
	remove_abandoned(&to);
	error = listen_on(listening, &to, sizeof(to.un), path, why, why_size);
	if (error)
		return error;
	memcpy(listening->path, to.un.sun_path, sizeof(listening->path));
	return share_with_group(listening, why, why_size);
}

/* --- Ports ---------------------------------------------------------------- */

static bool parse_port(const char *text, in_port_t *port)
{
	char *end;
	unsigned long number = strtoul(text, &end, 10);

	*port = htons((in_port_t)number);
	return text[0] >= '0' && text[0] <= '9' && *end == '\0' &&
	       number <= 65535;
}

socklen_t ncs_loopback_parse(const char *address, union ncs_socket_address *to)
{
	const char *colon = strrchr(address, ':');
	char host[64];
	in_port_t port;

	*to = (union ncs_socket_address){ .any = { .sa_family = AF_INET } };
	if (!colon || (size_t)(colon - address) >= sizeof(host) ||
	    !parse_port(colon + 1, &port))
		return 0;
	snprintf(host, sizeof(host), "%.*s", (int)(colon - address), address);
	if (strcmp(host, "[::1]") == 0) {
		to->in6 = (struct sockaddr_in6){ .sin6_family = AF_INET6,
						 .sin6_addr = in6addr_loopback,
						 .sin6_port = port };
		return sizeof(to->in6);
	}
	to->in.sin_port = port;
	if (strcmp(host, "localhost") == 0)
		to->in.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	else if (inet_pton(AF_INET, host, &to->in.sin_addr) != 1)
		return 0;
	return is_local(to) ? sizeof(to->in) : 0;
}

static int listen_on_port(struct ncs_listening *listening, const char *address,
			  char *why, size_t why_size)
{
	union ncs_socket_address to;
	socklen_t bytes = ncs_loopback_parse(address, &to);

	return bytes == 0 ?
		       refuse(address, why, why_size) :
		       listen_on(listening, &to, bytes, address, why, why_size);
}

/* --- systemd -------------------------------------------------------------- */

static bool is_environment_ours(void)
{
	const char *pid = getenv("LISTEN_PID"), *count = getenv("LISTEN_FDS");

	return pid && count && atol(pid) == (long)getpid() &&
	       strcmp(count, "1") == 0;
}

static int take_from_systemd(struct ncs_listening *listening, char *why,
			     size_t why_size)
{
	union ncs_socket_address at;
	socklen_t bytes = sizeof(at), size = sizeof(int);
	int listens = 0;

	if (!is_environment_ours()) {
		snprintf(why, why_size,
			 "--listen=systemd expects one socket from systemd"
			 " (LISTEN_FDS=1): start it by a .socket unit");
		return -EINVAL;
	}
	memset(&at, 0, sizeof(at));
	if (getsockopt(SYSTEMD_SOCKET, SOL_SOCKET, SO_ACCEPTCONN, &listens,
		       &size) != 0 ||
	    !listens ||
	    getsockname(SYSTEMD_SOCKET, &at.any, &bytes) != 0) {
		snprintf(why, why_size,
			 "what systemd passes is no socket that listens:"
			 " its unit needs ListenStream=");
		return -EINVAL;
	}
	if (!is_local(&at)) {
		snprintf(why, why_size,
			 "the socket that systemd passes can be reached from"
			 " other machines: " ELSEWHERE);
		return -EINVAL;
	}
	fcntl(SYSTEMD_SOCKET, F_SETFD, FD_CLOEXEC);
	listening->socket = SYSTEMD_SOCKET;
	listening->is_port = at.any.sa_family != AF_UNIX;
	return 0;
}

int ncs_listening_open(struct ncs_listening *listening, const char *address,
		       char *why, size_t why_size)
{
	memset(listening, 0, sizeof(*listening));
	listening->socket = -1;
	if (strcmp(address, "systemd") == 0)
		return take_from_systemd(listening, why, why_size);
	if (strchr(address, '/'))
		return listen_on_path(listening, address, why, why_size);
	return listen_on_port(listening, address, why, why_size);
}

void ncs_listening_remove(const struct ncs_listening *listening)
{
	if (listening->path[0])
		unlink(listening->path);
}
