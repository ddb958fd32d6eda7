/* Reading NCCLSTAT_* variables. No output, no state: the caller logs. */
#include "plugin/config.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "ncclstat/tables/environment.h"

enum variable {
#define X(ID, name, values, default_value, help) VARIABLE_##ID,
	NCS_ENVIRONMENT(X)
#undef X
	VARIABLE_COUNT
};

static const struct {
	const char *name, *values, *default_value;
} variables[] = {
#define X(ID, name, values, default_value, help) \
	{ name, values, default_value },
	NCS_ENVIRONMENT(X)
#undef X
};

static bool parse_switch(const char *text, bool *on)
{
	if (strcmp(text, "0") != 0 && strcmp(text, "1") != 0)
		return false;
	*on = text[0] == '1';
	return true;
}

static bool parse_timing(const char *text, enum ncs_kernel_timing *timing)
{
	if (strcasecmp(text, "off") == 0)
		*timing = NCS_KERNEL_TIMING_OFF;
	else if (strcasecmp(text, "always") == 0)
		*timing = NCS_KERNEL_TIMING_ALWAYS;
	else
		return false;
	return true;
}

static bool parse_bytes(const char *text, uint64_t *bytes)
{
	static const char suffixes[] = "KMG";
	unsigned long long number;
	const char *suffix;
	unsigned shift = 0;
	char *end;

	/* strtoull() takes spaces and signs, and -1 for a large number. */
	if (text[0] < '0' || text[0] > '9')
		return false;
	errno = 0;
	number = strtoull(text, &end, 10);
	if (errno)
		return false;
	if (*end) {
		suffix = strchr(suffixes, toupper((unsigned char)*end));
		if (!suffix || end[1])
			return false;
		shift = 10 * (unsigned)(suffix - suffixes + 1);
	}
	if (number > UINT64_MAX >> shift)
		return false;
	*bytes = (uint64_t)number << shift;
	return true;
}

static bool parse_directory(const char *text, char *directory, size_t size)
{
	if (text[0] != '/' || strlen(text) >= size)
		return false;
	memcpy(directory, text, strlen(text) + 1);
	return true;
}

static bool parse(struct ncs_config *config, enum variable variable,
		  const char *text)
{
	switch (variable) {
	case VARIABLE_DISABLE:
		return parse_switch(text, &config->disabled);
	case VARIABLE_DIR:
		return parse_directory(text, config->directory,
				       sizeof(config->directory));
	case VARIABLE_KERNEL_TIMING:
		return parse_timing(text, &config->kernel_timing);
	case VARIABLE_SHM_BYTES:
		return parse_bytes(text, &config->shm_bytes);
	case VARIABLE_COUNT:
		break;
	}
	return false;
}

int ncs_config_read(struct ncs_config *config, char *problem,
		    size_t problem_size)
{
	int result = 0;

	memset(config, 0, sizeof(*config));
	for (int i = 0; i < VARIABLE_COUNT; i++) {
		const char *text = getenv(variables[i].name);

		parse(config, (enum variable)i, variables[i].default_value);
		if (!text || !text[0] ||
		    parse(config, (enum variable)i, text))
			continue;
		snprintf(problem, problem_size,
			 "%s=%s makes no sense (expected: %s); %s is used",
			 variables[i].name, text, variables[i].values,
			 variables[i].default_value);
		result = -EINVAL;
	}
	return result;
}
