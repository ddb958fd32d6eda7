/* SPDX-License-Identifier: MIT */
/* Tests of the command line: each option sets its field, errors name the wrong
 * option and what it expects, and the help contains all options. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ncclstat/tables/options.def"
#include "test/unit/support/unit.h"
#include "tui/commands/options.h"

#define WORDS_MAX 16

static struct ncs_options options;
static char error[256];

/* Parses a line such as "--one two", split at blanks. */
static bool parse(const char *line)
{
	static char copy[256];
	char *words[WORDS_MAX + 1] = { (char[]){ "ncclstat" } };
	int count = 1;

	error[0] = '\0';
	assert_true(strlen(line) < sizeof(copy));
	strcpy(copy, line);
	for (char *word = strtok(copy, " "); word; word = strtok(NULL, " ")) {
		assert_true(count < WORDS_MAX);
		words[count++] = word;
	}
	ncs_options_init(&options);
	return ncs_options_parse(&options, count, words, error, sizeof(error));
}

static void expect(const char *line)
{
	if (!parse(line))
		fail_msg("%s: %s", line, error);
}

/* Asserts that the error names the option and has the expected words. */
static void expect_error(const char *line, const char *option,
			 const char *expected)
{
	if (parse(line))
		fail_msg("%s is accepted", line);
	if (!strstr(error, option) || !strstr(error, expected))
		fail_msg("%s: \"%s\" does not have %s and %s", line, error,
			 option, expected);
}

/* --- Values -------------------------------------------------------------- */

TEST(without_options_the_live_view_shows_all_jobs)
{
	expect("");
	assert_int_equal(options.mode, NCS_MODE_LIVE);
	assert_int_equal(options.choice.pid, 0);
	assert_null(options.directory);
	assert_int_equal(options.interval_ns, 1000000000);
	assert_false(ncs_options_is_given(&options, NCS_OPTION_INTERVAL));
	assert_int_equal(options.count, 0);
	assert_int_equal(options.view, NCS_VIEW_COUNT);
	assert_int_equal(options.color, NCS_COLOR_AUTO);
	assert_false(options.ascii);
	assert_null(options.keys_path);
}

TEST(options_select_mode_and_format)
{
	static const struct {
		const char *line;
		enum ncs_mode mode;
		enum ncs_dump_format format;
	} cases[] = {
		{ "--dump", NCS_MODE_DUMP, NCS_DUMP_TEXT },
		{ "--dump=text", NCS_MODE_DUMP, NCS_DUMP_TEXT },
		{ "--dump=json", NCS_MODE_DUMP, NCS_DUMP_JSON },
		{ "-d", NCS_MODE_DUMP, NCS_DUMP_TEXT },
		{ "-djson", NCS_MODE_DUMP, NCS_DUMP_JSON },
		{ "--diagnose", NCS_MODE_DIAGNOSE, NCS_DUMP_TEXT },
		{ "--diagnose=json --wait 3", NCS_MODE_DIAGNOSE,
		  NCS_DUMP_JSON },
		{ "--record a --duration 3", NCS_MODE_RECORD, NCS_DUMP_TEXT },
		{ "--replay a b", NCS_MODE_REPLAY, NCS_DUMP_TEXT },
		{ "--export=csv a b", NCS_MODE_EXPORT, NCS_DUMP_TEXT },
		{ "--list", NCS_MODE_LIST, NCS_DUMP_TEXT },
		{ "-l", NCS_MODE_LIST, NCS_DUMP_TEXT },
		{ "--clean", NCS_MODE_CLEAN, NCS_DUMP_TEXT },
		{ "--set=default", NCS_MODE_SET, NCS_DUMP_TEXT },
		{ "-s sample=2", NCS_MODE_SET, NCS_DUMP_TEXT },
		{ "--help", NCS_MODE_HELP, NCS_DUMP_TEXT },
		{ "-h", NCS_MODE_HELP, NCS_DUMP_TEXT },
		{ "--version", NCS_MODE_VERSION, NCS_DUMP_TEXT },
		{ "-V", NCS_MODE_VERSION, NCS_DUMP_TEXT },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		expect(cases[i].line);
		assert_int_equal(options.mode, cases[i].mode);
		assert_int_equal(options.format, cases[i].format);
	}
}

TEST(help_wins_over_other_options)
{
	expect("--list --help");
	assert_int_equal(options.mode, NCS_MODE_HELP);
	expect("--help --no-such-option");
	assert_int_equal(options.mode, NCS_MODE_HELP);
}

TEST(arguments_set_their_fields)
{
	expect("-p 4711 --dir /tmp/x -i 0.5 -n 3 --view proxy --ascii"
	       " --keys k");
	assert_int_equal(options.choice.pid, 4711);
	assert_string_equal(options.directory, "/tmp/x");
	assert_int_equal(options.interval_ns, 500000000);
	assert_true(ncs_options_is_given(&options, NCS_OPTION_INTERVAL));
	assert_int_equal(options.count, 3);
	assert_int_equal(options.view, NCS_VIEW_PROXY);
	assert_true(options.ascii);
	assert_string_equal(options.keys_path, "k");
}

TEST(set_takes_a_setting_and_its_targets)
{
	expect("--set events=all,sample=8 --pid 7 --comm wor*");
	assert_int_equal(options.mode, NCS_MODE_SET);
	assert_true(options.change.groups && options.change.sample);
	assert_false(options.change.kernel);
	assert_int_equal(options.change.to.groups, NCS_GROUPS_ALL);
	assert_int_equal(options.choice.pid, 7);
	assert_string_equal(options.comm, "wor*");
	expect("--set default");
	assert_null(options.comm);
}

TEST(words_that_are_no_options_are_recordings)
{
	expect("--dump");
	assert_int_equal(options.file_count, 0);
	expect("--dump=json one -i 2 two");
	assert_int_equal(options.file_count, 2);
	assert_string_equal(options.files[0], "one");
	assert_string_equal(options.files[1], "two");
	assert_true(ncs_options_is_given(&options, NCS_OPTION_INTERVAL));
	expect("--diagnose -- -odd");
	assert_string_equal(options.files[0], "-odd");
	expect("--list one");
	expect("one --replay");
	expect_error("--replay", "--replay", "FILE");
	expect_error("--clean one", "'one'", "--replay");
	expect_error("--diagnose json", "'json'", "./json");
}

TEST(at_from_and_until_take_times_of_a_recording)
{
	expect("--dump one");
	assert_int_equal(options.at.kind, NCS_INSTANT_NONE);
	expect("--replay one --at=-10 --since 1:02:03.5 --until 2:00:00");
	assert_int_equal(options.at.kind, NCS_INSTANT_BEFORE_END);
	assert_int_equal(options.at.ns, UINT64_C(10000000000));
	assert_int_equal(options.since.kind, NCS_INSTANT_SINCE);
	assert_int_equal(options.since.ns, UINT64_C(3723500000000));
	assert_int_equal(options.until.ns, UINT64_C(7200000000000));
	expect_error("--dump one --at noon", "--at", "T14:03:05");
	expect_error("--dump --at 3", "--at", "FILE");
	expect_error("--dump --until 3", "--until", "FILE");
	expect_error("--list one --since 3", "--since", "--list");
	expect_error("--dump one --at 3 -i 1", "--at", "--interval");
}

TEST(options_without_meaning_for_a_recording_are_refused)
{
	expect_error("--dump one --dir /tmp", "--dir", "FILE");
	expect_error("--diagnose one --wait 3", "--wait", "FILE");
	expect_error("--dump one --output two", "--output", "--export");
	expect("--dump one --pid 7");
}

TEST(export_takes_a_format_and_an_output)
{
	for (int i = 0; i < NCS_EXPORT_COUNT; i++) {
		char line[64];

		snprintf(line, sizeof(line), "--export=%s one -o two",
			 ncs_export_name(i));
		expect(line);
		assert_int_equal(options.export_format, i);
		assert_string_equal(options.output_path, "two");
	}
	expect("one --export csv --since 1 --until -1 --pid 3");
	assert_null(options.output_path);
	expect_error("--export one", "--export", "perfetto|chrome|ndjson|csv");
	expect_error("--export=xml one", "'xml'", "perfetto");
	expect_error("--export=csv", "--export", "FILE");
	expect_error("--export=csv one --at 3", "--at", "--since");
	expect_error("--export=csv one --interval 3", "--interval", "--export");
	expect_error("--export=csv one --dump", "--dump", "one is expected");
}

TEST(record_takes_a_file_and_limits)
{
	const struct ncs_recorder_settings *recording = &options.recording;

	expect("--record one");
	assert_string_equal(recording->path, "one");
	assert_int_equal(recording->duration_ns, 0);
	assert_int_equal(recording->rotate_bytes, 0);
	assert_int_equal(recording->rotate_ns, 0);
	assert_int_equal(recording->keep, 0);
	assert_false(recording->is_packed);
	expect("--record=- --duration 1.5 --compress");
	assert_string_equal(recording->path, "-");
	assert_int_equal(recording->duration_ns, 1500000000);
	assert_true(recording->is_packed);
	assert_int_equal(recording->pack_level, 1);
	expect("--record one --compress=9 --rotate-size 3M --rotate-time 60"
	       " --keep 2");
	assert_int_equal(recording->pack_level, 9);
	assert_int_equal(recording->rotate_bytes, 3 << 20);
	assert_int_equal(recording->rotate_ns, UINT64_C(60000000000));
	assert_int_equal(recording->keep, 2);
	expect("--record one --rotate-size 64k");
	assert_int_equal(recording->rotate_bytes, 65536);
	expect("--record one --rotate-size 100000");
	assert_int_equal(recording->rotate_bytes, 100000);
	expect("--record one --rotate-size 2G");
	assert_int_equal(recording->rotate_bytes, UINT64_C(2) << 30);
	expect("--record one --rotate=90s,1G,keep=3");
	assert_int_equal(recording->rotate_bytes, 1 << 30);
	assert_int_equal(recording->rotate_ns, UINT64_C(90000000000));
	assert_int_equal(recording->keep, 3);
	expect("--record one --rotate=15m");
	assert_int_equal(recording->rotate_ns, UINT64_C(900000000000));
	expect_error("--record one --rotate=63k", "--rotate", "64k");
	expect_error("--record one --rotate=1T", "--rotate", "1T");
	expect_error("--record one --rotate=1kk", "--rotate", "1kk");
	expect_error("--record one --rotate=-1M", "--rotate", "-1M");
	expect_error("--record one --rotate=60s,", "--rotate", "60s,");
	expect_error("--record one --rotate=25h", "--rotate", "25h");
	expect_error("--record one --compress=23", "--compress", "22");
	expect_error("--record one --compress=0", "--compress", "from 1");
	expect_error("--record one --rotate=60s,keep=0", "--rotate", "keep=0");
}

TEST(options_without_meaning_for_record_are_refused)
{
	expect_error("--record one --dump", "--record", "--dump");
	expect_error("--record one two", "'two'", "--replay");
	expect_error("--duration 3", "--duration", "--record");
	expect_error("--rotate=3s", "--rotate", "--record");
	expect_error("--compress", "--compress", "--record");
	expect_error("--record one --keep 3", "--rotate", "a time or a size");
	expect_error("--record - --rotate=1M", "--rotate", "FILE");
	expect_error("--record one -n 3", "--count", "--duration");
}

TEST(words_of_window_are_in_the_order_of_the_windows)
{
	char line[64];

	expect("");
	assert_int_equal(options.window, NCS_WINDOW_NOW);
	for (unsigned i = 0; i < NCS_WINDOW_MARK; i++) {
		snprintf(line, sizeof(line), "--window=%s",
			 ncs_window_name((enum ncs_window)i));
		expect(line);
		assert_int_equal(options.window, i);
	}
	expect_error("--window z", "--window", "now|10s");
}

TEST(words_of_view_are_in_the_order_of_the_views)
{
	for (unsigned i = 0; i < NCS_VIEW_COUNT; i++) {
		char line[64];

		snprintf(line, sizeof(line), "--view=%s", ncs_views[i].option);
		expect(line);
		assert_int_equal(options.view, i);
	}
}

TEST(color_takes_its_three_words)
{
	expect("--color=always");
	assert_int_equal(options.color, NCS_COLOR_ALWAYS);
	expect("--color never");
	assert_int_equal(options.color, NCS_COLOR_NEVER);
	expect("--color auto");
	assert_int_equal(options.color, NCS_COLOR_AUTO);
}

TEST(interval_takes_seconds_with_fractions)
{
	expect("-i 0.1");
	assert_int_equal(options.interval_ns, 100000000);
	expect("-i .25");
	assert_int_equal(options.interval_ns, 250000000);
	expect("-i 86400");
	assert_int_equal(options.interval_ns, UINT64_C(86400000000000));
}

TEST(options_may_be_abbreviated_and_parsed_again)
{
	expect("--dum=json --int 2");
	assert_int_equal(options.mode, NCS_MODE_DUMP);
	expect("");
	assert_int_equal(options.mode, NCS_MODE_LIVE);
	assert_false(ncs_options_is_given(&options, NCS_OPTION_INTERVAL));
}

/* busbw and algbw are words of nccl-tests; no other column has a second name. */
TEST(bandwidths_have_the_names_of_nccl_tests)
{
	expect("--sort=ranks:busbw");
	assert_string_equal(options.sort[NCS_VIEW_RANK].column->title,
			    "BUSGB/s");
	expect("--sort=ranks:BUSGB/s");
	assert_string_equal(options.sort[NCS_VIEW_RANK].column->title,
			    "BUSGB/s");
	expect("--sort=-ALGBW");
	assert_string_equal(options.sort[NCS_VIEW_COLLECTIVE].column->title,
			    "ALGGB/s");
	assert_true(options.sort[NCS_VIEW_COLLECTIVE].inverted);
	assert_null(options.sort[NCS_VIEW_RANK].column);
	expect("--columns=rank,busbw");
	expect_error("--sort=send_rate", "--sort", "[VIEW:][-]COLUMN,...");
	expect_error("--sort=operations_rate", "--sort",
		     "[VIEW:][-]COLUMN,...");
}

/* --- Errors -------------------------------------------------------------- */

TEST(errors_name_the_option_and_what_it_expects)
{
	expect_error("--dump=xml", "--dump", "text|json");
	expect_error("--dump json", "'json'", "=");
	expect_error("--list=3", "--list", "text|json");
	expect_error("--clean=3", "--clean", "no argument");
	expect_error("-p", "--pid", "PID");
	expect_error("-p 0", "--pid", "number of a process");
	expect_error("-p 12x", "--pid", "number of a process");
	expect_error("-p 4294967296", "--pid", "number of a process");
	expect_error("--view ranked", "--view", "ranks|diagnose");
	expect_error("--view rank", "--view", "ranks|diagnose");
	expect_error("--color=red", "--color", "auto|always|never");
	expect_error("--set", "--set", "SETTING");
	expect_error("--set kernel=on", "--set: kernel=", "always");
	expect_error("--set more", "--set", "events=");
	expect_error("--set default --comm=", "--comm", "GLOB");
	expect_error("-n 0", "--count", "1 or more");
	expect_error("-n -1", "--count", "1 or more");
	expect_error("--no-such", "--no-such", "option");
	expect_error("-y", "-y", "option");
	expect_error("--co always", "--co", "several: --compress, --compare,");
	expect_error("--clean somewhere", "somewhere", "option");
}

TEST(mistyped_names_get_the_nearest_one)
{
	expect_error("--diagnoze=json", "--diagnoze is", "mean --diagnose?");
	expect_error("-dump", "'ump'", "mean --dump?");
	expect_error("--dump=jsn", "'jsn'", "mean json?");
	expect_error("--view rank", "'rank'", "mean ranks?");
	expect_error("--sort=channels:-SINC", "SINC'", "mean SINCE?");
	expect_error("--sort=chanels:SINCE", "SINCE'", "mean channels?");
	expect_error("--columns=LOST,LOTS", "LOTS'", "mean LOST?");
	expect_error("--metrics=rank_inf", "'rank_inf'", "mean rank_info?");
	expect_error("--export=ndjson --events=cols one", "'cols'",
		     "mean coll?");
	expect_error("--export=csv --columns=fucntion one", "'fucntion'",
		     "mean function?");
	expect_error("dump", "'dump'", "mean --dump?");
}

TEST(a_file_alone_is_played)
{
	expect("one two --since 3");
	assert_int_equal(options.mode, NCS_MODE_REPLAY);
	assert_int_equal(options.file_count, 2);
	expect("--dump one");
	assert_int_equal(options.mode, NCS_MODE_DUMP);
	expect("--follow one");
	assert_int_equal(options.mode, NCS_MODE_LIVE);
	expect_error("one --from x", "'one'", "option");
}

TEST(interval_out_of_bounds_is_refused)
{
	static const char *const wrong[] = { "0",  "0.09", "-1",   "86401",
					     "1s", "1e1",  "nan",  "inf",
					     "",   ".",    "1.2.3" };

	for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
		char line[64];

		snprintf(line, sizeof(line), "--interval=%s", wrong[i]);
		expect_error(line, "--interval", "0.1");
	}
}

TEST(two_modes_at_once_are_refused)
{
	expect_error("--dump --list", "--list", "one is expected");
	expect_error("--list --clean", "--clean", "one is expected");
	expect_error("--dump --replay one", "--replay", "one is expected");
	expect_error("--set default --dump", "--dump", "one is expected");
	expect_error("--comm world", "--comm", "--set");
	expect_error("--comm world --dump", "--comm", "--set");
	expect_error("--diagnose --dump", "--dump", "one is expected");
	expect_error("--what-if=without:1 --dump", "--what-if", "--dump");
	expect_error("--wait 30", "--wait", "--diagnose");
	expect("--dump --dump=json");
}

TEST(clean_refuses_filters_that_it_would_ignore)
{
	expect_error("--clean --pid 7", "--clean", "--pid");
	expect("--clean --dir /tmp");
}

/* Asserts that an error ends with that. */
static void expect_ending(const char *line, const char *ending)
{
	size_t length = strlen(ending);

	expect_error(line, "--", "");
	if (strlen(error) < length ||
	    strcmp(error + strlen(error) - length, ending) != 0)
		fail_msg("%s: \"%s\" does not end with %s", line, error,
			 ending);
}

TEST(a_mistyped_word_of_an_argument_gets_the_nearest)
{
	expect_ending("--what-if=withot:3 one", "did you mean without?");
	expect_ending("--what-if=hots:0.5@rank=3 one", "did you mean host?");
	expect_ending("--record one --rotate=60s,kep=10",
		      "not '60s,kep=10'; did you mean keep=?");
	expect_ending("--record one --rotate=kepe=10,1G",
		      "did you mean keep=?");
	expect_ending("--watch --on=stuk:true", "did you mean stuck?");
	expect_ending("--watch --on=dyed:true", "did you mean died?");
}

TEST(a_word_of_an_argument_that_is_right_gets_none)
{
	expect_ending("--what-if=without:x one", "not without:RANK|stragglers");
	expect_ending("--what-if=:3 one", "overlap");
	expect_ending("--record one --rotate=60s,keep=0",
		      "not '60s,keep=0'");
	expect_ending("--record one --rotate=60x,2d", "not '60x,2d'");
	expect_ending("--watch --on=stuck:", "not 'stuck:'");
	expect_ending("--watch --on=:true", "not ':true'");
}

/* --- Help ---------------------------------------------------------------- */

static char *help_text(unsigned columns, bool all)
{
	char *text = NULL;
	size_t size = 0;
	FILE *file = open_memstream(&text, &size);

	assert_non_null(file);
	ncs_options_help(file, &(struct ncs_options){ .help_all = all },
			 columns);
	fclose(file);
	return text;
}

TEST(help_has_every_option_with_letter_and_argument)
{
	char *text = help_text(200, true), wanted[128];

#define X(ID, name, letter, has, argument, place, task, ...) \
	snprintf(wanted, sizeof(wanted), "--" name "%s%s", \
		 argument[0] == '\0' ? "" : \
		 #has[0] == 'O'      ? "[=" : \
				       "=", \
		 argument); \
	/* Settings only have a place in the setup and the file. */ \
	if (NCS_TASK_##task != NCS_TASK_SETTINGS && !strstr(text, wanted)) \
		fail_msg("%s is not in --help", wanted); \
	if (letter) { \
		snprintf(wanted, sizeof(wanted), "-%c, --" name, letter); \
		if (!strstr(text, wanted)) \
			fail_msg("%s is not in --help", wanted); \
	}
	NCS_OPTIONS(X)
#undef X
	free(text);
}

TEST(help_lines_are_no_wider_than_asked)
{
	char *text = help_text(80, true);

	for (char *line = strtok(text, "\n"); line; line = strtok(NULL, "\n"))
		if (strlen(line) > 80)
			fail_msg("longer than 80: %s", line);
	free(text);
}

TEST(short_help_is_one_screen)
{
	char *text = help_text(80, false);
	int lines = 0;

	for (char *line = strtok(text, "\n"); line; line = strtok(NULL, "\n")) {
		assert_true(strlen(line) <= 80);
		lines++;
	}
	assert_in_range(lines, 10, 23);
	free(text);
}

TEST(commands_stand_for_options)
{
	expect("record one --rotate=60s");
	assert_int_equal(options.mode, NCS_MODE_RECORD);
	assert_string_equal(options.recording.path, "one");
	expect("record --duration 3 one");
	assert_string_equal(options.recording.path, "one");
	expect_error("record", "record", "FILE");
	expect("replay one two --at=3");
	assert_int_equal(options.mode, NCS_MODE_REPLAY);
	assert_int_equal(options.file_count, 2);
	expect("diagnose");
	assert_int_equal(options.mode, NCS_MODE_DIAGNOSE);
	expect("diagnose --diagnose=json one");
	assert_int_equal(options.format, NCS_DUMP_JSON);
	assert_int_equal(options.file_count, 1);
	expect("export csv one");
	assert_int_equal(options.export_format, NCS_EXPORT_CSV);
	assert_int_equal(options.file_count, 1);
	expect_error("export one", "--export", "perfetto");
	expect("fleet n[1-2]");
	assert_string_equal(options.hosts, "n[1-2]");
	expect("fleet --slurm=4711 --dump");
	assert_null(options.hosts);
	expect_error("fleet", "fleet", "LIST");
	expect("check");
	assert_int_equal(options.mode, NCS_MODE_CHECK);
	expect_error("record one --dump", "--record", "--dump");
	expect("record --help");
	assert_int_equal(options.mode, NCS_MODE_HELP);
	assert_string_equal(options.subcommand->name, "record");
}

TEST(cleaning_keeps_what_it_is_told)
{
	expect("--clean");
	assert_int_equal(options.retain.age_ns, 0);
	assert_int_equal(options.retain.bytes, 0);
	expect("--clean --retain=7d,2G");
	assert_int_equal(options.retain.age_ns,
			 7 * 86400 * UINT64_C(1000000000));
	assert_int_equal(options.retain.bytes, UINT64_C(2) << 30);
	expect("--clean --retain=64k");
	assert_true(options.retain.age_ns == UINT64_MAX);
	expect_error("--jobs --retain=1d", "--retain", "--clean");
	expect("--clean --archive=kept --retain=36h");
	assert_true(options.retain.bytes == UINT64_MAX);
	expect_error("--clean --archive", "--archive", "--retain");
	expect_error("--clean --retain=2w", "--retain", "2w");
	expect_error("--clean --retain=1d,", "--retain", "1d,");
	expect("--clean --archive=kept --retain=1d --hosts=n1");
	assert_string_equal(options.retain.text, "1d");
	expect_error("--clean --archive=kept --retain=1d --slurm=1", "--hosts",
		     "other way");
	expect_error("--clean --archive=kept --retain=1d --dir=/dev/shm",
		     "--dir", "--archive");
}

TEST(archives_are_read_here_or_by_ssh)
{
	expect("diagnose --archive=kept --job=7 --hosts=n[1-2]");
	assert_string_equal(options.hosts, "n[1-2]");
	expect("export csv --archive=kept --job=7 --since=-10");
	expect("diagnose --archive=kept --job=7 --at=T14:03:05");
	expect_error("watch --archive=kept --since=1", "--since", "--archive");
	expect_error("jobs --archive=kept --at=1", "--at", "--archive");
	expect_error("diagnose --since=1", "--since", "--archive");
	expect("export csv --archive=kept --job=7 --hosts=n1");
	assert_int_equal(options.mode, NCS_MODE_EXPORT);
	expect_error("export csv --hosts=n1", "--export", "FILE");
	expect("diagnose --archive=kept --slurm=7");
	assert_string_equal(options.slurm, "7");
	expect_error("diagnose --archive=kept", "--archive", "--job=ID");
	expect_error("diagnose --archive=kept --job=7 --kube=a=b", "--archive",
		     "--hosts");
	expect_error("diagnose --archive=kept --job=7 --hosts=n1 --records",
		     "--records", "--archive");
	expect("diagnose --archive --job=7 --hosts=n1");
	assert_null(options.archive_named);
	expect("--jobs=tar --job=7");
	assert_int_equal(options.jobs_format, NCS_JOBS_TAR);
	expect_error("--jobs=tar", "--jobs=tar", "--job=ID");
	expect_error("--jobs --archive=kept --hosts=n1", "--jobs", "--hosts");
}

TEST(letters_are_unique)
{
	static const char letters[] = {
#define X(ID, name, letter, has, argument, ...) letter,
		NCS_OPTIONS(X)
#undef X
	};

	for (size_t i = 0; i < sizeof(letters); i++)
		for (size_t k = 0; k < i; k++)
			assert_true(letters[i] == 0 ||
				    letters[i] != letters[k]);
}
