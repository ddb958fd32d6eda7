/* SPDX-License-Identifier: MIT */
/* The headers Accept and Host; see http_headers.h and RFC 9110, sections 12.5.1 and
 * 7.2. */
#include "tui/serve/http_headers.h"

#include <arpa/inet.h>
#include <ctype.h>
#include <netinet/in.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#define BLANKS " \t"

/* A part of the header, without blanks around it. */
struct accept_word {
	const char *text;
	size_t length;
};

/* Takes the part up to a separator off the front of *rest, and the separator.
 * Returns false if there is none left. */
static bool take_word(struct accept_word *rest, char separator, struct accept_word *word)
{
	const char *end;

	if (!rest->text)
		return false;
	end = memchr(rest->text, separator, rest->length);
	word->text = rest->text;
	word->length = end ? (size_t)(end - rest->text) : rest->length;
	rest->length -= word->length + (end != NULL);
	rest->text = end ? end + 1 : NULL;
	while (word->length > 0 && strchr(BLANKS, word->text[0])) {
		word->text++;
		word->length--;
	}
	while (word->length > 0 &&
	       strchr(BLANKS, word->text[word->length - 1]))
		word->length--;
	return true;
}

static bool is(const struct accept_word *word, const char *text)
{
	return word->length == strlen(text) &&
	       strncasecmp(word->text, text, word->length) == 0;
}

/* Returns a quality in thousandths: "0.75" is 750. One that cannot be read is
 * 0. */
static int quality_of(const struct accept_word *value)
{
	int quality = 0, digits = 100;

	if (value->length == 0 ||
	    (value->text[0] != '0' && value->text[0] != '1'))
		return 0;
	quality = (value->text[0] - '0') * 1000;
	for (size_t i = 2; i < value->length && digits > 0; i++) {
		if (!isdigit((unsigned char)value->text[i]))
			return 0;
		quality += (value->text[i] - '0') * digits;
		digits /= 10;
	}
	return quality > 1000 ? 1000 : quality;
}

/* A media range of the header. */
struct media {
	struct accept_word type;
	struct accept_word version; /* empty if there is none */
	int quality;         /* thousandths */
};

static struct media media_of(struct accept_word rest)
{
	struct media media = { .quality = 1000 };
	struct accept_word parameter, name;

	take_word(&rest, ';', &media.type);
	while (take_word(&rest, ';', &parameter)) {
		struct accept_word value = parameter;

		if (!take_word(&value, '=', &name) || !value.text)
			continue;
		if (value.length >= 2 && value.text[0] == '"') {
			value.text++;
			value.length -= 2;
		}
		if (is(&name, "q"))
			media.quality = quality_of(&value);
		else if (is(&name, "version"))
			media.version = value;
	}
	return media;
}

enum ncs_metric_format ncs_accept_format(const char *accept)
{
	struct accept_word rest = { accept, accept ? strlen(accept) : 0 }, range;
	int open = 0, plain = 0;

	while (take_word(&rest, ',', &range)) {
		struct media media = media_of(range);

		if (is(&media.type, "application/openmetrics-text") &&
		    (media.version.length == 0 ||
		     is(&media.version, "1.0.0")) &&
		    media.quality > open)
			open = media.quality;
		if (is(&media.type, "text/plain") && media.quality > plain)
			plain = media.quality;
	}
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
