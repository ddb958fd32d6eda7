/* SPDX-License-Identifier: MIT */
/* The header Host; see host.h and RFC 9110, section 7.2. */
#include "tui/serve/host.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <stddef.h>
#include <string.h>
#include <strings.h>

/* A name or an address, without its port; an address of IPv6 without
 * brackets. */
struct host {
	const char *text;
	size_t length;
	bool is_bracketed;
};

/* Reads HOST, HOST:PORT, [IPV6] or [IPV6]:PORT. Returns false for anything
 * else. */
static bool parse(const char *text, size_t length, struct host *host)
{
	const char *end = text + length, *rest;

	host->is_bracketed = length > 0 && text[0] == '[';
	host->text = text + host->is_bracketed;
	rest = memchr(text, host->is_bracketed ? ']' : ':', length);
	if (!rest && host->is_bracketed)
		return false;
	host->length = (size_t)((rest ? rest : end) - host->text);
	if (rest)
		rest += host->is_bracketed;
	if (rest && rest < end && *rest++ != ':')
		return false;
	while (rest && rest < end)
		if (*rest < '0' || *rest++ > '9')
			return false;
	return host->length > 0;
}

static bool is_same(const struct host *host, const char *text, size_t length)
{
	return host->length == length &&
	       strncasecmp(host->text, text, length) == 0;
}

static bool is_loopback(const struct host *host)
{
	char text[INET6_ADDRSTRLEN];
	struct in6_addr in6;
	struct in_addr in;

	if (is_same(host, "localhost", strlen("localhost")))
		return true;
	if (host->length >= sizeof(text))
		return false;
	memcpy(text, host->text, host->length);
	text[host->length] = '\0';
	if (host->is_bracketed)
		return inet_pton(AF_INET6, text, &in6) == 1 &&
		       IN6_IS_ADDR_LOOPBACK(&in6);
	return inet_pton(AF_INET, text, &in) == 1 &&
	       ntohl(in.s_addr) >> 24 == 127;
}

bool ncs_host_is_served(const char *host, const char *names)
{
	struct host asked, name;

	if (!host || !parse(host, strlen(host), &asked))
		return false;
	if (is_loopback(&asked))
		return true;
	while (names && *names) {
		size_t length = strcspn(names, ",");

		if (parse(names, length, &name) &&
		    is_same(&asked, name.text, name.length))
			return true;
		names += length;
		names += *names == ',';
	}
	return false;
}
