/* SPDX-License-Identifier: MIT */
/* Parsing NCCLSTAT_* variables; see environment.h. The caller logs
 * problems. */
#include "plugin/nccl/environment.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "ncclstat/record.h"
#include "ncclstat/tables/environment.def"
#include "shm/labels.h"
#include "shm/texts.h"

/* One day, in seconds: no operation takes that long, and its ticks fit into a
 * word. */
#define SLOW_MAX_S UINT64_C(86400)

enum variable {
#define X(ID, name, values, default_value, help) VARIABLE_##ID,
	NCS_ENVIRONMENT(X)
#undef X
		VARIABLE_COUNT
};

/* The name, values and default value of each variable. */
static const char variables[] =
#define X(ID, name, values, default_value, help) \
	name "\0" values "\0" default_value "\0"
	NCS_ENVIRONMENT(X)
#undef X
	;

/* Returns the number of a word among others, which an empty one ends; -1 if it is none
 * of them. */
static int find_word(const char *text, const char *words)
{
	for (int i = 0; *words; i++, words = ncs_text_behind(words))
		if (strcasecmp(text, words) == 0)
			return i;
	return -1;
}

/* Parses the digits at the beginning of a text; *suffix is the rest. */
static bool parse_number(const char *text, uint64_t *number,
			 const char **suffix)
{
	char *end;

	/* strtoull() accepts spaces and signs, and turns -1 into a large
	 * number. */
	if (text[0] < '0' || text[0] > '9')
		return false;
	errno = 0;
	*number = strtoull(text, &end, 10);
	*suffix = end;
	return errno == 0;
}

/* Parses a number from 1 to 2^most, and rounds it up to 2^*level. */
static bool parse_level(const char *text, unsigned most, unsigned *level)
{
	const char *suffix;
	uint64_t number;

	if (!parse_number(text, &number, &suffix) || *suffix || number == 0 ||
	    number > UINT64_C(1) << most)
		return false;
	for (*level = 0; UINT64_C(1) << *level < number; ++*level)
		;
	return true;
}

static bool parse_switch(const char *text, bool *on)
{
	int number = find_word(text, "0\0"
				     "1\0");

	if (number < 0)
		return false;
	*on = number == 1;
	return true;
}

static bool parse_timing(const char *text, uint8_t *timing)
{
	static const uint8_t timings[] = { NCS_TIMING_DETAIL_AUTO,
					   NCS_TIMING_DETAIL_EVERY,
					   NCS_TIMING_DETAIL_OFF };
	int number = find_word(text, "auto\0"
				     "all\0"
				     "off\0");
	unsigned level;

	if (number >= 0) {
		*timing = timings[number];
		return true;
	}
	if (strncmp(text, "1/", 2) != 0 ||
	    !parse_level(text + 2, NCS_TIMING_DETAIL_LOG2_MAX, &level))
		return false;
	*timing = (uint8_t)(NCS_TIMING_DETAIL_EVERY + level);
	return true;
}

static bool parse_kernel(const char *text, enum ncs_kernel_timing *timing)
{
	int number = find_word(text, "off\0"
				     "always\0");

	if (number < 0)
		return false;
	*timing = number == 1 ? NCS_KERNEL_TIMING_ALWAYS :
				NCS_KERNEL_TIMING_OFF;
	return true;
}

static bool parse_duration(const char *text, uint64_t *duration_ns)
{
	static const struct {
		char suffix[4];
		uint32_t ns;
	} units[] = {
		{ "us", 1000 },
		{ "ms", 1000000 },
		{ "s", 1000000000 },
	};
	const char *suffix;
	uint64_t number;

	if (!parse_number(text, &number, &suffix))
		return false;
	for (size_t i = 0; i < sizeof(units) / sizeof(units[0]); i++) {
		if (strcmp(suffix, units[i].suffix) != 0)
			continue;
		if (number > SLOW_MAX_S * UINT64_C(1000000000) / units[i].ns)
			return false;
		*duration_ns = number * units[i].ns;
		return true;
	}
	return false;
}

/* The limit of a process where the user sets none. */
#define SHM_BYTES_AUTO (UINT64_C(16) << 20)

static bool parse_bytes(const char *text, uint64_t *bytes)
{
	static const char suffixes[] = "KMG";
	const char *rest, *suffix;
	unsigned shift = 0;
	uint64_t number;

	if (!parse_number(text, &number, &rest))
		return false;
	if (*rest) {
		suffix = strchr(suffixes, toupper((unsigned char)*rest));
		if (!suffix || rest[1])
			return false;
		shift = 10 * (unsigned)(suffix - suffixes + 1);
	}
	if (number > UINT64_MAX >> shift)
		return false;
	*bytes = number << shift;
	return true;
}

static bool parse_limit(const char *text, struct ncs_environment *config)
{
	if (strcasecmp(text, "auto") == 0) {
		config->shm_bytes = SHM_BYTES_AUTO;
		return true;
	}
	config->shm_bytes_set = parse_bytes(text, &config->shm_bytes);
	return config->shm_bytes_set;
}

static bool parse_directory(const char *text, char *directory, size_t size)
{
	if (text[0] != '/' || strlen(text) >= size)
		return false;
	memcpy(directory, text, strlen(text) + 1);
	return true;
}

static bool parse_group(const char *text, gid_t *group)
{
	*group = NCS_GROUP_NONE;
	return strcasecmp(text, "none") == 0 ||
	       ncs_group_find(text, group) == 0;
}

/* Copies a library's path; stores an empty string if the text equals `off`. */
static bool parse_library(const char *text, const char *off, char *path,
			  size_t size)
{
	if (strlen(text) >= size)
		return false;
	strcpy(path, strcasecmp(text, off) == 0 ? "" : text);
	return true;
}

/* With "auto" the limit is high if NVTX delivers the ranges, and low if only
 * the program itself does. */
static bool parse_ranges(const char *text, uint32_t *ranges)
{
	const char *nvtx = getenv("NVTX_INJECTION64_PATH"), *rest;
	uint64_t number;

	if (strcasecmp(text, "auto") == 0) {
		*ranges = nvtx && *nvtx ? 1024 : 64;
		return true;
	}
	if (!parse_number(text, &number, &rest) || *rest ||
	    number > NCS_RANGE_MAX)
		return false;
	*ranges = (uint32_t)number;
	return true;
}

static bool parse(struct ncs_environment *config, enum variable variable,
		  const char *text)
{
	switch (variable) {
	case VARIABLE_DISABLE:
		return parse_switch(text, &config->disabled);
	case VARIABLE_DIR:
		return parse_directory(text, config->directory,
				       sizeof(config->directory));
	case VARIABLE_GROUP:
		return parse_group(text, &config->group);
	case VARIABLE_TIMING:
		return parse_timing(text, &config->timing);
	case VARIABLE_KERNEL_TIMING:
		return parse_kernel(text, &config->kernel_timing);
	case VARIABLE_GRAPHS:
		return parse_timing(text, &config->graphs);
	case VARIABLE_SAMPLE:
		return parse_level(text, NCS_LEVEL_MAX, &config->sample_level);
	case VARIABLE_SAMPLE_SLOW:
		return parse_duration(text, &config->sample_slow_ns);
	case VARIABLE_SHM_BYTES:
		return parse_limit(text, config);
	case VARIABLE_CHAIN:
		return parse_library(text, "none", config->chain,
				     sizeof(config->chain));
	case VARIABLE_RANGES:
		return parse_ranges(text, &config->ranges);
	case VARIABLE_NVTX_CHAIN:
		return parse_library(text, "none", config->nvtx_chain,
				     sizeof(config->nvtx_chain));
	case VARIABLE_CUPTI:
		return parse_library(text, "0", config->cupti,
				     sizeof(config->cupti));
	case VARIABLE_COUNT:
		break;
	}
	return false;
}

static const char *find_variable(void *context, const char *name)
{
	(void)context;
	return getenv(name);
}

void ncs_environment_labels(struct ncs_labels *labels)
{
	memset(labels, 0, sizeof(*labels));
	ncs_labels_collect(labels, find_variable, NULL);
}

int ncs_environment_read(struct ncs_environment *config, char *problem,
			 size_t problem_size)
{
	const char *name = variables, *values, *default_value;
	int result = 0;

	memset(config, 0, sizeof(*config));
	for (int i = 0; i < VARIABLE_COUNT;
	     i++, name = ncs_text_behind(default_value)) {
		const char *text = getenv(name);

		values = ncs_text_behind(name);
		default_value = ncs_text_behind(values);
		parse(config, (enum variable)i, default_value);
		if (!text || !text[0] || parse(config, (enum variable)i, text))
			continue;
		snprintf(problem, problem_size,
			 "%s=%s makes no sense (expected: %s%s); %s is used",
			 name, text, values,
			 i == VARIABLE_KERNEL_TIMING ?
				 "; NCCLSTAT_TIMING=1/N times one launch in N" :
				 "",
			 default_value);
		result = -EINVAL;
	}
	return result;
}
