/* SPDX-License-Identifier: MIT */
/* libFuzzer's entry point for text written by users: the configuration file,
 * the file of aliases, the values of options. A configuration that was read
 * must, when written, be read again with the same result. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/base/aliases.h"
#include "test/fuzz/libfuzzer.h"
#include "tui/commands/config_file.h"
#include "tui/commands/option_rows.h"

/* Returns the contents of a file after it was read and written. To be freed. */
static char *written(const char *text, size_t length, size_t *written_length)
{
	struct ncs_options options;
	char *merged = NULL;
	FILE *complaints = fopen("/dev/null", "w");
	FILE *file = open_memstream(&merged, written_length);
	FILE *from = fmemopen((char *)(uintptr_t)text, length, "r");

	if (!file || !complaints || !from)
		abort();
	ncs_options_init(&options);
	ncs_config_file_parse("ncclstatrc", from, &options, complaints);
	rewind(from);
	ncs_config_file_merge(file, from, &options);
	fclose(from);
	fclose(file);
	fclose(complaints);
	return merged;
}

static void run_config(const char *text, size_t length)
{
	size_t once_length, twice_length;
	char *once = written(text, length, &once_length);
	char *twice = written(once, once_length, &twice_length);

	if (once_length != twice_length ||
	    memcmp(once, twice, once_length) != 0) {
		fprintf(stderr, "written again it is another:\n%s\n---\n%s\n",
			once, twice);
		abort();
	}
	free(once);
	free(twice);
}

static void run_aliases(const char *text)
{
	struct ncs_aliases aliases = { 0 };
	unsigned line = 0;

	ncs_aliases_parse(&aliases, text, &line);
	ncs_aliases_release(&aliases);
}

/* Passes the text as the argument of every option. */
static void run_options(const char *value)
{
	for (int option = 0; option < NCS_OPTIONS_END; option++) {
		struct ncs_options options;
		char program[] = "ncclstat", error[256], *argument;
		char *argv[] = { program, NULL, NULL };

		if (asprintf(&argument, "--%s=%s", ncs_option_rows[option].name,
			     value) < 0)
			abort();
		argv[1] = argument;
		ncs_options_init(&options);
		ncs_options_parse(&options, 2, argv, error, sizeof(error));
		free(argument);
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char *text = malloc(size + 1);

	if (!text)
		abort();
	memcpy(text, data, size);
	text[size] = '\0';
	run_config(text, size);
	run_aliases(text);
	run_options(text);
	free(text);
	return 0;
}
