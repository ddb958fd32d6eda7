/* SPDX-License-Identifier: MIT */
/* The headers Accept and Host; see http_headers.h and RFC 9110, sections 12.5.1 and
 * 7.2. */
#include "tui/serve/http_headers.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#define DIGITS "0123456789"

/* --- Accept ----------------------------------------------------------------- */

/* Takes the part up to a separator off the front of *rest, which becomes NULL after the
 * last one, and cuts the blanks around it. Returns NULL if there is none left. */
static char *take_part(char **rest, const char *separator)
{
	char *part = strsep(rest, separator), *end;

	if (!part)
		return NULL;
	part += strspn(part, " \t");
	end = part + strlen(part);
	while (end > part && strchr(" \t", end[-1]))
		*--end = '\0';
	return part;
}

/* Returns a quality from 0 to 1; 0 for one that cannot be read. */
static double quality_of(const char *value)
{
	double quality;
	char *end;

	if ((value[0] != '0' && value[0] != '1') ||
	    value[strspn(value, "." DIGITS)])
		return 0;
	quality = strtod(value, &end);
	return *end ? 0 : quality < 1 ? quality : 1;
}

/* A media range of the header. */
struct media {
	const char *type;
	const char *version; /* "" if there is none */
	double quality;
};

static struct media media_of(char *rest)
{
	struct media media = { take_part(&rest, ";"), "", 1 };
	char *value;

	while ((value = take_part(&rest, ";"))) {
		const char *name = take_part(&value, "=");

		if (!value)
			continue;
		if (value[0] == '"' && value[1]) {
			value[strlen(value) - 1] = '\0';
			value++;
		}
		if (strcasecmp(name, "q") == 0)
			media.quality = quality_of(value);
		else if (strcasecmp(name, "version") == 0)
			media.version = value;
	}
	return media;
}

enum ncs_metric_format ncs_accept_format(const char *accept)
{
	char *copy = strdup(accept ? accept : ""), *rest = copy, *range;
	double open = 0, plain = 0;

	while ((range = take_part(&rest, ","))) {
		struct media media = media_of(range);

		if (strcasecmp(media.type, "application/openmetrics-text") ==
			    0 &&
		    (!media.version[0] ||
		     strcmp(media.version, "1.0.0") == 0) &&
		    media.quality > open)
			open = media.quality;
		if (strcasecmp(media.type, "text/plain") == 0 &&
		    media.quality > plain)
			plain = media.quality;
	}
	free(copy);
	return open > 0 && open >= plain ? NCS_METRICS_OPENMETRICS :
					   NCS_METRICS_PROMETHEUS;
}

const char *ncs_accept_content_type(enum ncs_metric_format format)
{
	return format == NCS_METRICS_OPENMETRICS ?
		       "application/openmetrics-text; version=1.0.0;"
		       " charset=utf-8" :
		       "text/plain; version=0.0.4; charset=utf-8";
}

/* --- Host ------------------------------------------------------------------- */

/* Returns the number of bytes of the host in HOST, HOST:PORT, [IPV6] or [IPV6]:PORT, which
 * ends at a comma; 0 for anything else. */
static size_t host_length(const char *text)
{
	size_t length = strcspn(text, text[0] == '[' ? "]," : ":,");
	const char *end;

	if (text[0] == '[' && text[length++] != ']')
		return 0;
	end = text + length;
	if (*end == ':')
		end += 1 + strspn(end + 1, DIGITS);
	return !*end || *end == ',' ? length : 0;
}

static bool is_loopback(const char *host, size_t length)
{
	char text[INET6_ADDRSTRLEN + 1] = "";
	struct in6_addr in6;
	struct in_addr in;

	if (length >= sizeof(text))
		return false;
	memcpy(text, host, length);
	if (text[0] == '[') {
		text[length - 1] = '\0';
		return inet_pton(AF_INET6, text + 1, &in6) == 1 &&
		       IN6_IS_ADDR_LOOPBACK(&in6);
	}
	return strcasecmp(text, "localhost") == 0 ||
	       (inet_pton(AF_INET, text, &in) == 1 &&
		ntohl(in.s_addr) >> 24 == 127);
}

bool ncs_host_is_served(const char *host, const char *names)
{
	size_t length = host && !strchr(host, ',') ? host_length(host) : 0;

	if (length == 0 || is_loopback(host, length))
		return length > 0;
	for (; names; names = strchr(names, ',')) {
		names += *names == ',';
		if (host_length(names) == length &&
		    strncasecmp(names, host, length) == 0)
			return true;
	}
	return false;
}
