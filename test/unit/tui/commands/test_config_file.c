/* SPDX-License-Identifier: MIT */
/* Tests of the configuration file: valid lines are accepted, wrong lines are
 * reported and change nothing, only the user's own files are trusted, and
 * writing keeps lines that the program does not understand. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "test/unit/support/unit.h"
#include "tui/commands/config_file.h"

static struct ncs_options options;
static char *complaints;
static char folder[] = "/tmp/ncclstat-config.XXXXXX";
static char path[256];

/* --- Text ---------------------------------------------------------------- */

static void parse_bytes(const char *text, size_t length)
{
	size_t size;
	FILE *file, *from = fmemopen((char *)(uintptr_t)text, length, "r");

	free(complaints);
	file = open_memstream(&complaints, &size);
	assert_non_null(file);
	assert_non_null(from);
	ncs_options_init(&options);
	ncs_config_file_parse("rc", from, &options, file);
	fclose(from);
	fclose(file);
}

static void parse(const char *text)
{
	parse_bytes(text, strlen(text));
}

/* Returns the text merged with the options; the caller frees it. */
static char *merged(const char *text)
{
	char *result = NULL;
	size_t size;
	FILE *file = open_memstream(&result, &size);
	FILE *from = fmemopen((char *)(uintptr_t)text, strlen(text), "r");

	assert_non_null(file);
	assert_non_null(from);
	ncs_config_file_merge(file, from, &options);
	fclose(from);
	fclose(file);
	return result;
}

static void expect_merged(const char *text, const char *expected)
{
	char *result = merged(text);

	assert_string_equal(result, expected);
	free(result);
}

static void each_line_sets_an_option(void **state)
{
	(void)state;
	parse("# a comment\n\n  interval = 0.5\nview=proxy\r\n"
	      "\tscheme\t=\tcontrast\nlevel = diag\nidle = hide\n"
	      "sort = channels:-SINCE,ranks:oldest\ncolor = never\n"
	      "columns = ranks:-COMM,gpu");
	assert_string_equal(complaints, "");
	assert_int_equal(options.interval_ns, 500000000);
	assert_int_equal(options.view, NCS_VIEW_PROXY);
	assert_int_equal(options.scheme, NCS_SCHEME_CONTRAST);
	assert_int_equal(options.level, NCS_COLUMN_DIAG);
	assert_true(options.hide_idle);
	assert_int_equal(options.color, NCS_COLOR_NEVER);
	assert_false(ncs_options_is_given(&options, NCS_OPTION_COLOR));
	assert_string_equal(options.sort[NCS_VIEW_CHANNEL].column->title,
			    "SINCE");
	assert_true(options.sort[NCS_VIEW_CHANNEL].inverted);
	assert_string_equal(options.sort[NCS_VIEW_RANK].column->title,
			    "OLDEST");
	assert_null(options.sort[NCS_VIEW_PROXY].column);
	assert_int_equal(options.columns[NCS_COLUMN_RANK_COMM],
			 NCS_COLUMN_HIDDEN);
	assert_int_equal(options.columns[NCS_COLUMN_CHANNEL_COMM],
			 NCS_COLUMN_BY_LEVEL);
	assert_int_equal(options.columns[NCS_COLUMN_RANK_GPU],
			 NCS_COLUMN_SHOWN);
}

static void wrong_line_is_reported_and_changes_nothing(void **state)
{
	static const struct {
		const char *text;
		const char *complaint;
	} cases[] = {
		{ "\n\ninterval = soon\n",
		  "rc:3: --interval expects SECONDS from 0.1 to 86400, not"
		  " 'soon'\n" },
		{ "interval = 0.05", "rc:1: --interval expects SECONDS from"
				     " 0.1 to 86400, not '0.05'\n" },
		{ "view = everything",
		  "rc:1: --view expects"
		  " ranks|diagnose|communicators|collectives|timeline"
		  "|channels|proxy|ranges|nodes|functions|sizes, not"
		  " 'everything'\n" },
		{ "sort = ranks:SINCE",
		  "rc:1: --sort expects [VIEW:][-]COLUMN,... with titles of"
		  " columns, not 'ranks:SINCE': no column 'SINCE'\n" },
		{ "columns = ranks:-STEP",
		  "rc:1: --columns expects [VIEW:][-]COLUMN,... with titles of"
		  " columns, not 'ranks:-STEP': no column 'STEP'\n" },
		{ "columns = -", "rc:1: --columns expects [VIEW:][-]COLUMN,..."
				 " with titles of columns, not '-': no column"
				 " ''\n" },
		{ "colour = never", "rc:1: there is no option --colour; did you"
				    " mean --color?\n" },
		{ "intervl = 1", "rc:1: there is no option --intervl; did you"
				 " mean --interval?\n" },
		{ "set = sample=4", "rc:1: --set expects to be on the"
				    " command line, not here\n" },
		{ "interval", "rc:1: a line expects OPTION = VALUE\n" },
		{ "interval =", "rc:1: a line expects OPTION = VALUE\n" },
		{ "= 1", "rc:1: a line expects OPTION = VALUE\n" },
		{ "idle = hide\033[2J", "rc:1: a line expects OPTION ="
					" VALUE\n" },
	};
	struct ncs_options defaults;

	(void)state;
	ncs_options_init(&defaults);
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		parse(cases[i].text);
		assert_string_equal(complaints, cases[i].complaint);
		assert_memory_equal(&options, &defaults, sizeof(options));
	}
}

static void wrong_line_leaves_other_lines_in_force(void **state)
{
	(void)state;
	parse("interval = 2\ninterval = never\nview = channels\n");
	assert_int_equal(options.interval_ns, 2000000000);
	assert_int_equal(options.view, NCS_VIEW_CHANNEL);
}

/* A line longer than any value is reported; the next line is still read. */
static void line_that_is_too_long_is_reported(void **state)
{
	char text[8192];
	int length;

	(void)state;
	length = snprintf(text, sizeof(text),
			  "columns = %04096d\nview = proxy\n", 0);
	parse_bytes(text, (size_t)length);
	assert_string_equal(complaints,
			    "rc:1: a line expects OPTION = VALUE\n");
	assert_int_equal(options.view, NCS_VIEW_PROXY);
}

/* Random bytes, mixed with pieces of valid lines. An accepted value can be
 * written and reads back the same. */
static void
random_bytes_never_set_a_value_that_reads_back_differently(void **state)
{
	static const char *const pieces[] = {
		"interval", "view",  "sort", "=",           " = ",
		"\n",       "0.5",   "-",    "ranks:",      "channels:-SINCE",
		"RANK,",    "level", "#",    "collectives", "\r\n",
	};
	uint32_t seed = 7;
	char text[256];

	(void)state;
	for (int round = 0; round < 20000; round++) {
		size_t length = 0;

		while (length + 20 < sizeof(text)) {
			const char *piece;

			seed = seed * 1664525u + 1013904223u;
			if (seed >> 28 == 0)
				break;
			piece = pieces[(seed >> 20) %
				       (sizeof(pieces) / sizeof(*pieces))];
			if (seed >> 30 == 0)
				text[length++] = (char)(seed >> 12);
			else
				length += (size_t)sprintf(&text[length], "%s",
							  piece);
		}
		parse_bytes(text, length);
		for (const char *c = complaints; *c; c++)
			assert_true((unsigned char)*c >= ' ' || *c == '\n');
		assert_true(options.interval_ns >= NCS_INTERVAL_MIN_NS);
		assert_true(options.interval_ns <= NCS_INTERVAL_MAX_NS);
		assert_true(options.view <= NCS_VIEW_COUNT);
		assert_true(options.level <= NCS_COLUMN_DEBUG);
		for (unsigned i = 0; i < NCS_VIEW_COUNT; i++)
			assert_true(!options.sort[i].column ||
				    options.sort[i].column->view == i);
	}
}

/* --- Writing ------------------------------------------------------------- */

static void only_values_that_differ_from_defaults_are_written(void **state)
{
	(void)state;
	ncs_options_init(&options);
	expect_merged("", "");
	options.interval_ns = 250000000;
	options.hide_header = true;
	expect_merged("", "interval = 0.25\nheader = hide\n");
}

static void writing_keeps_order_comments_and_unknown_lines(void **state)
{
	(void)state;
	ncs_options_init(&options);
	options.view = NCS_VIEW_PROXY;
	options.level = NCS_COLUMN_DEBUG;
	expect_merged("# mine\nfuture = 1\ninterval = 5\n\nview=ranks\n"
		      "color = never\nnonsense",
		      "# mine\nfuture = 1\ninterval = 1\n\nview = proxy\n"
		      "color = never\nnonsense\nlevel = debug\n");
}

/* Every value of each option reads back. */
static void written_values_read_back_the_same(void **state)
{
	struct ncs_options before;
	char *text;

	(void)state;
	for (int i = 0; i < NCS_OPTIONS_END; i++) {
		if (!ncs_options_is_live((enum ncs_option)i))
			continue;
		ncs_options_init(&options);
		for (int step = 0; step < 5; step++) {
			before = options;
			text = merged("");
			parse(text);
			assert_string_equal(complaints, "");
			/* The first view is the default. */
			if (before.view == NCS_VIEW_RANK)
				before.view = NCS_VIEW_COUNT;
			assert_memory_equal(&options, &before, sizeof(options));
			free(text);
			ncs_options_step(&options, (enum ncs_option)i, true);
		}
	}
	parse("sort = ranks:-,channels:-MB/s,collectives:BUSGB/s\n");
	before = options;
	text = merged("");
	parse(text);
	assert_memory_equal(&options, &before, sizeof(options));
	free(text);
	/* The longest possible value. */
	for (size_t i = 0; i < NCS_COLUMN_COUNT; i++)
		options.columns[i] = NCS_COLUMN_HIDDEN;
	before = options;
	text = merged("");
	parse(text);
	assert_string_equal(complaints, "");
	assert_memory_equal(&options, &before, sizeof(options));
	free(text);
}

/* --- Files --------------------------------------------------------------- */

static void put(const char *text, mode_t mode)
{
	FILE *file = fopen(path, "we");

	assert_non_null(file);
	fputs(text, file);
	assert_int_equal(fclose(file), 0);
	assert_int_equal(chmod(path, mode), 0);
}

static void load(void)
{
	struct ncs_config_file config = { .asked = true };
	size_t size;
	FILE *file;

	free(complaints);
	file = open_memstream(&complaints, &size);
	assert_non_null(file);
	snprintf(config.path, sizeof(config.path), "%s", path);
	ncs_options_init(&options);
	ncs_config_file_load(&config, &options, file);
	fclose(file);
}

static void expect_refused(const char *why)
{
	load();
	assert_int_equal(options.view, NCS_VIEW_COUNT);
	if (!strstr(complaints, why))
		fail_msg("\"%s\" does not have \"%s\"", complaints, why);
	assert_int_equal(ncs_config_file_store(path, &options), -EPERM);
}

static void file_is_read_only_if_nobody_else_can_write_it(void **state)
{
	char other[512];

	(void)state;
	put("view = proxy\n", 0644);
	load();
	assert_string_equal(complaints, "");
	assert_int_equal(options.view, NCS_VIEW_PROXY);
	put("view = proxy\n", 0664);
	expect_refused("others may write to it");
	put("view = proxy\n", 0606);
	expect_refused("others may write to it");
	snprintf(other, sizeof(other), "%s/other", folder);
	put("view = proxy\n", 0644);
	assert_int_equal(rename(path, other), 0);
	assert_int_equal(symlink(other, path), 0);
	expect_refused("symbolic link");
	unlink(path);
	assert_int_equal(mkfifo(path, 0600), 0);
	expect_refused("no regular file");
	unlink(path);
	assert_int_equal(mkdir(path, 0700), 0);
	expect_refused("no regular file");
	rmdir(path);
	unlink(other);
}

static void file_of_another_user_is_refused(void **state)
{
	(void)state;
	put("view = proxy\n", 0644);
	if (geteuid() != 0 || chown(path, 12345, 12345) != 0) {
		unlink(path);
		skip();
	}
	expect_refused("another user");
	unlink(path);
}

static void missing_file_is_reported_only_if_the_user_named_it(void **state)
{
	(void)state;
	load();
	assert_non_null(strstr(complaints, "No such file"));
}

static void storing_makes_folders_and_no_other_files(void **state)
{
	char deep[512], below[512];

	(void)state;
	snprintf(below, sizeof(below), "%s/a", folder);
	snprintf(deep, sizeof(deep), "%s/a/ncclstatrc", folder);
	ncs_options_init(&options);
	options.view = NCS_VIEW_PROXY;
	assert_int_equal(ncs_config_file_store(deep, &options), 0);
	snprintf(path, sizeof(path), "%s/a/ncclstatrc", folder);
	load();
	assert_string_equal(complaints, "");
	assert_int_equal(options.view, NCS_VIEW_PROXY);
	options.view = NCS_VIEW_CHANNEL;
	assert_int_equal(ncs_config_file_store(deep, &options), 0);
	load();
	assert_int_equal(options.view, NCS_VIEW_CHANNEL);
	unlink(deep);
	/* No temporary file is left: the folder is empty. */
	assert_int_equal(rmdir(below), 0);
	snprintf(path, sizeof(path), "%s/rc", folder);
}

/* A process that has the old file open still reads all of it. */
static void storing_replaces_the_file_as_a_whole(void **state)
{
	struct stat before, after, open_one;
	char old[64] = "";
	FILE *file;

	(void)state;
	put("view = ranks\n", 0640);
	file = fopen(path, "re");
	assert_non_null(file);
	assert_int_equal(stat(path, &before), 0);
	ncs_options_init(&options);
	options.view = NCS_VIEW_PROXY;
	assert_int_equal(ncs_config_file_store(path, &options), 0);
	assert_int_equal(stat(path, &after), 0);
	assert_int_equal(fstat(fileno(file), &open_one), 0);
	assert_true(before.st_ino != after.st_ino);
	assert_true(open_one.st_ino == before.st_ino);
	assert_non_null(fgets(old, sizeof(old), file));
	assert_string_equal(old, "view = ranks\n");
	assert_int_equal(after.st_mode & 0777, 0640);
	fclose(file);
	unlink(path);
}

static void write_errors_are_returned(void **state)
{
	(void)state;
	ncs_options_init(&options);
	assert_int_equal(ncs_config_file_store("/proc/none/ncclstatrc",
					       &options),
			 -ENOENT);
}

/* --- Where --------------------------------------------------------------- */

static void expect_path(const char *asked, const char *variable,
			const char *xdg, const char *home, const char *expected)
{
	static struct ncs_config_file config;

	unsetenv("NCCLSTATRC");
	unsetenv("XDG_CONFIG_HOME");
	unsetenv("HOME");
	if (variable)
		setenv("NCCLSTATRC", variable, 1);
	if (xdg)
		setenv("XDG_CONFIG_HOME", xdg, 1);
	if (home)
		setenv("HOME", home, 1);
	ncs_config_file_find(&config, asked);
	assert_string_equal(config.path, expected);
}

static void option_overrides_environment_which_overrides_home(void **state)
{
	(void)state;
	expect_path("rc", "/v", "/x", "/h", "rc");
	expect_path("", "/v", "/x", "/h", "");
	expect_path(NULL, "/v", "/x", "/h", "/v");
	expect_path(NULL, "none", "/x", "/h", "");
	expect_path(NULL, "", "/x", "/h", "");
	expect_path(NULL, NULL, "/x", "/h", "/x/ncclstat/ncclstatrc");
	expect_path(NULL, NULL, "x", "/h", "/h/.config/ncclstat/ncclstatrc");
	expect_path(NULL, NULL, NULL, "/h", "/h/.config/ncclstat/ncclstatrc");
	expect_path(NULL, NULL, NULL, NULL, "");
}

static int make_folder(void **state)
{
	(void)state;
	if (!mkdtemp(folder))
		return -1;
	snprintf(path, sizeof(path), "%s/rc", folder);
	return 0;
}

static int remove_folder(void **state)
{
	(void)state;
	free(complaints);
	unlink(path);
	return rmdir(folder);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_line_sets_an_option),
		cmocka_unit_test(wrong_line_is_reported_and_changes_nothing),
		cmocka_unit_test(wrong_line_leaves_other_lines_in_force),
		cmocka_unit_test(line_that_is_too_long_is_reported),
		cmocka_unit_test(
			random_bytes_never_set_a_value_that_reads_back_differently),
		cmocka_unit_test(
			only_values_that_differ_from_defaults_are_written),
		cmocka_unit_test(
			writing_keeps_order_comments_and_unknown_lines),
		cmocka_unit_test(written_values_read_back_the_same),
		cmocka_unit_test(file_is_read_only_if_nobody_else_can_write_it),
		cmocka_unit_test(file_of_another_user_is_refused),
		cmocka_unit_test(
			missing_file_is_reported_only_if_the_user_named_it),
		cmocka_unit_test(storing_makes_folders_and_no_other_files),
		cmocka_unit_test(storing_replaces_the_file_as_a_whole),
		cmocka_unit_test(write_errors_are_returned),
		cmocka_unit_test(
			option_overrides_environment_which_overrides_home),
	};

	return cmocka_run_group_tests_name("config", tests, make_folder,
					   remove_folder);
}
