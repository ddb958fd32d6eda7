/* SPDX-License-Identifier: MIT */
/* Details to and from text; see detail.h. */
#include "analysis/base/detail.h"

#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/base/append.h"
#include "analysis/base/value_names.h"

/* The words of timing=, by enum ncs_timing_detail. */
static const char *const timing_words[] = { "default", "off", "auto", "all" };

/* --- To text -------------------------------------------------------------- */

static bool has_group(const struct ncs_detail *detail, unsigned group)
{
	return detail->groups >> group & 1;
}

static void append_groups(const struct ncs_detail *detail, char *text,
			  size_t size)
{
	ncs_append(text, size, "all");
	for (unsigned i = 0; i < NCS_GROUP_COUNT; i++)
		if (!has_group(detail, i))
			ncs_append(text, size, "-%s", ncs_event_group_name(i));
}

void ncs_kernel_text(const struct ncs_detail *detail, char *text, size_t size)
{
	switch (detail->kernel) {
	case NCS_KERNEL_DETAIL_DEFAULT:
		snprintf(text, size, "default");
		break;
	case NCS_KERNEL_DETAIL_OFF:
		snprintf(text, size, "off");
		break;
	case NCS_KERNEL_DETAIL_ALWAYS:
		snprintf(text, size, "always");
		break;
	case NCS_KERNEL_DETAIL_AUTO:
		snprintf(text, size, "sampled:auto");
		break;
	default:
		snprintf(text, size, "sampled:%u",
			 1u << (detail->kernel - NCS_KERNEL_DETAIL_EVERY));
	}
}

void ncs_timing_text(const struct ncs_detail *detail, char *text, size_t size)
{
	if (detail->timing <= NCS_TIMING_DETAIL_EVERY)
		snprintf(text, size, "%s", timing_words[detail->timing]);
	else
		snprintf(text, size, "1/%u",
			 1u << (detail->timing - NCS_TIMING_DETAIL_EVERY));
}

uint64_t ncs_sample_period(const struct ncs_detail *detail)
{
	return UINT64_C(1) << (detail->sample > 0 ? detail->sample - 1 : 0);
}

void ncs_detail_text(const struct ncs_detail *detail, char *text, size_t size)
{
	char kernel[32], timing[32];

	if (size == 0)
		return;
	text[0] = '\0';
	if (detail->has_groups) {
		ncs_append(text, size, "events=");
		append_groups(detail, text, size);
	}
	if (detail->kernel != NCS_KERNEL_DETAIL_DEFAULT) {
		ncs_kernel_text(detail, kernel, sizeof(kernel));
		ncs_append(text, size, "%skernel=%s", text[0] ? "," : "",
			   kernel);
	}
	if (detail->sample != 0)
		ncs_append(text, size, "%ssample=%" PRIu64, text[0] ? "," : "",
			   ncs_sample_period(detail));
	if (detail->timing != NCS_TIMING_DETAIL_DEFAULT) {
		ncs_timing_text(detail, timing, sizeof(timing));
		ncs_append(text, size, "%stiming=%s", text[0] ? "," : "",
			   timing);
	}
	if (!text[0])
		ncs_append(text, size, "default");
}

/* Returns true if kernel timing differs from the detail, so that its status
 * should be shown. */
static bool is_overruled(const struct ncs_detail *detail,
			 enum ncs_kernel_status status)
{
	switch (status) {
	case NCS_KERNEL_UNKNOWN:
	case NCS_KERNEL_OFF:
	case NCS_KERNEL_ALWAYS:
	case NCS_KERNEL_SAMPLED:
		return false;
	case NCS_KERNEL_LINGERING:
	case NCS_KERNEL_GRAPH_ON:
	case NCS_KERNEL_FOREIGN:
	case NCS_KERNEL_CHAINED:
		return true;
	default: /* no kernel is timed, whatever is asked for */
		return detail->kernel > NCS_KERNEL_DETAIL_OFF;
	}
}

static void append_kernel_note(const struct ncs_detail *detail,
			       enum ncs_kernel_status status, char *text,
			       size_t size)
{
	if (is_overruled(detail, status)) {
		ncs_append(text, size, "kernel %s",
			   ncs_kernel_status_name(status));
		return;
	}
	switch (detail->kernel) {
	case NCS_KERNEL_DETAIL_DEFAULT:
	case NCS_KERNEL_DETAIL_OFF:
		break;
	case NCS_KERNEL_DETAIL_ALWAYS:
		ncs_append(text, size, "kernel always");
		break;
	case NCS_KERNEL_DETAIL_AUTO:
		ncs_append(text, size, "kernel auto");
		break;
	default:
		ncs_append(text, size, "kernel 1/%u",
			   1u << (detail->kernel - NCS_KERNEL_DETAIL_EVERY));
	}
}

void ncs_detail_note(const struct ncs_detail *detail,
		     enum ncs_kernel_status status, char *text, size_t size)
{
	const char *comma;
	char timing[32];

	if (size == 0)
		return;
	text[0] = '\0';
	append_kernel_note(detail, status, text, size);
	if (detail->timing != NCS_TIMING_DETAIL_DEFAULT &&
	    detail->timing != NCS_TIMING_DETAIL_AUTO) {
		ncs_timing_text(detail, timing, sizeof(timing));
		ncs_append(text, size, "%stiming %s", text[0] ? ", " : "",
			   timing);
	}
	if (detail->sample > 1)
		ncs_append(text, size, "%ssample 1/%" PRIu64,
			   text[0] ? ", " : "", ncs_sample_period(detail));
	if (!detail->has_groups || detail->groups == NCS_GROUPS_ALL)
		return;
	comma = text[0] ? ", no " : "no ";
	for (unsigned i = 0; i < NCS_GROUP_COUNT; i++) {
		if (has_group(detail, i))
			continue;
		ncs_append(text, size, "%s%s", comma, ncs_event_group_name(i));
		comma = "/";
	}
}

uint64_t ncs_lease_left_ns(const struct ncs_settings_view *settings,
			   uint64_t now_ns)
{
	return ncs_lease_is_over(settings->lease_until_ns, now_ns) ?
		       0 :
		       settings->lease_until_ns - now_ns;
}

/* --- From text ------------------------------------------------------------ */

static bool is(const char *word, const char *text)
{
	return strcmp(word, text) == 0;
}

/* Returns what follows a prefix of the word; NULL if it has another one. */
static const char *after(const char *word, const char *prefix)
{
	size_t length = strlen(prefix);

	return strncmp(word, prefix, length) == 0 ? word + length : NULL;
}

/* Parses the number 2^n and sets *log2 to n. Returns false if it is no power of
 * two or if n is larger than `most`. */
static bool parse_log2(const char *word, unsigned most, unsigned *log2)
{
	size_t digits = strspn(word, "0123456789");
	unsigned long long number = strtoull(word, NULL, 10);

	if (digits == 0 || digits > 15 || word[digits])
		return false;
	for (*log2 = 0; *log2 <= most; (*log2)++)
		if (number == 1ull << *log2)
			return true;
	return false;
}

static int find_group(const char *name, size_t length)
{
	for (unsigned i = 0; i < NCS_GROUP_COUNT; i++)
		if (strlen(ncs_event_group_name(i)) == length &&
		    memcmp(ncs_event_group_name(i), name, length) == 0)
			return (int)i;
	return -1;
}

static void name_groups(char *error, size_t size)
{
	for (unsigned i = 0; i < NCS_GROUP_COUNT; i++)
		ncs_append(error, size, "%s%s", i > 0 ? ", " : "",
			   ncs_event_group_name(i));
}

/* Parses the names of groups, each after a sign: "-steps-control". */
static bool parse_groups(const char *word, char sign, uint8_t *groups,
			 char *error, size_t size)
{
	while (*word) {
		size_t length = 0;
		int group;

		while (*word == sign &&
		       isalpha((unsigned char)word[1 + length]))
			length++;
		group = find_group(word + 1, length);
		if (group < 0) {
			snprintf(error, size,
				 "events= expects all-GROUP or none+GROUP,"
				 " not '%s'; groups are ",
				 word);
			name_groups(error, size);
			return false;
		}
		if (group == NCS_GROUP_CALLS && sign == '-') {
			snprintf(error, size,
				 "events=: calls cannot be left out: requests"
				 " are read as a call begins");
			return false;
		}
		if (sign == '-')
			*groups &= (uint8_t) ~(1u << group);
		else
			*groups |= (uint8_t)(1u << group);
		word += 1 + length;
	}
	return true;
}

static bool parse_events(const char *word, struct ncs_change *change,
			 char *error, size_t size)
{
	struct ncs_detail *to = &change->to;
	const char *signs;
	uint8_t named;
	char sign;

	change->groups = true;
	to->has_groups = 0;
	to->groups = 0;
	if (is(word, "default"))
		return true;
	to->has_groups = 1;
	if ((signs = after(word, "all"))) {
		to->groups = NCS_GROUPS_ALL;
		sign = '-';
	} else if ((signs = after(word, "none"))) {
		sign = '+';
	} else {
		snprintf(error, size,
			 "events= expects default, all[-GROUP]... or"
			 " none[+GROUP]..., not '%s'",
			 word);
		return false;
	}
	if (!parse_groups(signs, sign, &to->groups, error, size))
		return false;
	named = to->groups;
	to->groups = ncs_groups_sane(named);
	if (sign == '+' && named & ~to->groups) {
		snprintf(error, size,
			 "events=none%s: network makes no sense without"
			 " steps, nor steps without proxy",
			 signs);
		return false;
	}
	return true;
}

static bool parse_sample(const char *word, struct ncs_change *change,
			 char *error, size_t size)
{
	unsigned log2;

	change->sample = true;
	if (is(word, "default"))
		change->to.sample = 0;
	else if (parse_log2(word, NCS_LEVEL_MAX, &log2))
		change->to.sample = (uint8_t)(1 + log2);
	else
		snprintf(error, size,
			 "sample= expects default or a power of two up to %u,"
			 " not '%s'",
			 1u << NCS_LEVEL_MAX, word);
	return !error[0];
}

static bool parse_timing(const char *word, struct ncs_change *change,
			 char *error, size_t size)
{
	const char *one_in = after(word, "1/");
	unsigned log2;

	change->timing = true;
	for (uint8_t i = 0; i <= NCS_TIMING_DETAIL_EVERY; i++) {
		change->to.timing = i;
		if (is(word, timing_words[i]))
			return true;
	}
	if (one_in && parse_log2(one_in, NCS_TIMING_DETAIL_LOG2_MAX, &log2)) {
		change->to.timing = (uint8_t)(NCS_TIMING_DETAIL_EVERY + log2);
		return true;
	}
	snprintf(error, size,
		 "timing= expects default, off, auto, all or 1/N with a"
		 " power of two up to %u, not '%s'",
		 1u << NCS_TIMING_DETAIL_LOG2_MAX, word);
	return false;
}

static bool parse_item(const char *word, struct ncs_change *change, char *error,
		       size_t size)
{
	const char *value;

	if (is(word, "default")) {
		*change = (struct ncs_change){ .groups = true,
					       .kernel = true,
					       .sample = true,
					       .timing = true };
		return true;
	}
	if ((value = after(word, "events=")))
		return parse_events(value, change, error, size);
	if ((value = after(word, "sample=")))
		return parse_sample(value, change, error, size);
	if ((value = after(word, "timing=")))
		return parse_timing(value, change, error, size);
	if (after(word, "kernel="))
		snprintf(error, size,
			 "kernel= cannot be changed while a job runs: start it"
			 " with NCCLSTAT_KERNEL_TIMING=off or always");
	else
		snprintf(
			error, size,
			"events=, sample=, timing= or default is expected, not '%s'",
			word);
	return false;
}

bool ncs_change_parse(const char *text, struct ncs_change *change, char *error,
		      size_t error_size)
{
	char *copy = strdup(text), *rest = copy, *word;
	bool is_good = copy;

	memset(change, 0, sizeof(*change));
	snprintf(error, error_size, "%s", copy ? "" : strerror(ENOMEM));
	while (is_good && (word = strtok_r(rest, ", ", &rest)))
		is_good = parse_item(word, change, error, error_size);
	free(copy);
	if (!is_good || change->groups || change->sample || change->timing)
		return is_good;
	snprintf(error, error_size,
		 "events=, sample=, timing= or default is expected");
	return false;
}
