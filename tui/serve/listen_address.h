/* SPDX-License-Identifier: MIT */
/* Sockets to serve metrics on. Only what cannot be reached from another machine
 * is opened: there is no encryption and no authentication here. */
#ifndef NCS_TUI_SERVE_LISTEN_ADDRESS_H
#define NCS_TUI_SERVE_LISTEN_ADDRESS_H

#include <netinet/in.h>
#include <stdbool.h>
#include <stddef.h>
#include <sys/socket.h>
#include <sys/un.h>

union ncs_socket_address {
	struct sockaddr any;
	struct sockaddr_in in;
	struct sockaddr_in6 in6;
	struct sockaddr_un un;
};

/* Reads "localhost:PORT", "127.x.y.z:PORT" or "[::1]:PORT". Returns the number of bytes
 * of the address; 0 for any other text. */
socklen_t ncs_loopback_parse(const char *address, union ncs_socket_address *to);

struct ncs_listening {
	int socket;
	bool is_port; /* all users of this machine can connect to it */
	/* Socket file to remove; "" if there is none of ours. */
	char path[sizeof(((struct sockaddr_un *)0)->sun_path)];
};

/* Opens a socket that listens: `address` is a path with a '/', 127.0.0.1:PORT,
 * localhost:PORT, [::1]:PORT, or "systemd" for the socket that systemd passes. A
 * socket file that is made is for this user alone (mode 0600), or also for the
 * group that NCCLSTAT_GROUP names (0660).
 * Returns 0, or -errno with the reason and what to do in `why`; -EINVAL is an
 * address that is refused. */
int ncs_listening_open(struct ncs_listening *listening, const char *address,
		       char *why, size_t why_size);

/* Removes the socket file. The socket is closed by the caller, or the server
 * that it was given to. */
void ncs_listening_remove(const struct ncs_listening *listening);

#endif
