/* SPDX-License-Identifier: MIT */
/* Makes the completion of ncclstat's command line for a shell from the table of
 * options: completions bash|zsh|fish >FILE
 *
 * An argument's name in the table says how it is completed: words between bars
 * as they are, FILE and DIR by the shell, PID, GLOB and ID by what --list prints.
 * Must not know single options, other than those whose argument has a grammar
 * of its own.
 */
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ncclstat/tables/commands.def"
#include "ncclstat/tables/events.def"
#include "ncclstat/tables/metrics.def"
#include "ncclstat/tables/options.def"
#include "ncclstat/tables/what_if.def"

enum has { NO, REQUIRED, OPTIONAL };

static const struct option {
	const char *name;
	char letter; /* 0 if it has none */
	enum has has;
	const char *argument;
	const char *help;
} options[] = {
#define X(ID, name, letter, has, argument, place, task, mode, kind, field, \
	  limits, help) \
	{ name, letter, has, argument, help },
	NCS_OPTIONS(X)
#undef X
};

#define OPTION_COUNT (sizeof(options) / sizeof(options[0]))

/* The commands that may be the first word. */
#define X(name, TASK, options, operands, option, takes, brief) name " "
static const char commands[] = NCS_SUBCOMMANDS(X);
#undef X

/* --- Arguments ----------------------------------------------------------- */

/* Words that begin an argument with a grammar; the user goes on writing after
 * one that ends in a sign. */
static const struct grammar {
	const char *argument;
	const char *words;
} grammars[] = {
	{ "SETTING", "default events= sample= timing=" },
	{ "ADDRESS", "127.0.0.1: [::1]: systemd" },
	{ "[-]NAME,...", "all "
#define X(ID, name, type, unit, labels, presence, help) name " "
	  NCS_METRICS(X)
#undef X
	},
	{ "[-]EVENT,...", ""
#define X(ID, name, bit, api, help) name " "
	  NCS_EVENTS(X)
#undef X
	  "settings mark" },
	{ "SPEC",
#define X(ID, name, value, where, help) name " "
	  NCS_WHAT_IFS(X)
#undef X
	},
};

static const char *grammar_of(const struct option *option)
{
	for (size_t i = 0; i < sizeof(grammars) / sizeof(grammars[0]); i++)
		if (strcmp(option->argument, grammars[i].argument) == 0)
			return grammars[i].words;
	return NULL;
}

static bool is_choice(const struct option *option)
{
	return strchr(option->argument, '|') != NULL;
}

static bool is_argument(const struct option *option, const char *name)
{
	return strcmp(option->argument, name) == 0;
}

/* Writes the words of a choice, or of a grammar, with a space between. */
static void put_words(const struct option *option)
{
	const char *words = grammar_of(option);

	for (const char *c = words ? words : option->argument; *c; c++)
		putchar(*c == '|' ? ' ' : *c);
}

/* Returns the length of the help's first sentence, or of its part before a
 * semicolon, without the sign. */
static int first_sentence(const char *help)
{
	const char *end = help;

	for (; *end; end++)
		if (strchr(".;", *end) && (end[1] == ' ' || end[1] == '\0'))
			break;
	return (int)(end - help);
}

/* Writes the help's first sentence with a backslash before each character of
 * `special`. An apostrophe becomes the typographic one, which no shell quotes
 * with. */
static void put_sentence(const char *help, const char *special)
{
	int length = first_sentence(help);

	for (int i = 0; i < length; i++) {
		if (help[i] == '\'') {
			fputs("\xe2\x80\x99", stdout);
			continue;
		}
		if (strchr(special, help[i]))
			putchar('\\');
		putchar(help[i]);
	}
}

/* --- bash ---------------------------------------------------------------- */

static void bash_argument(const struct option *option)
{
	if (grammar_of(option)) {
		fputs("\t\tcompopt -o nospace 2>/dev/null\n"
		      "\t\t_ncclstat_reply -W '",
		      stdout);
		put_words(option);
		puts("' -- \"$word\"");
	} else if (is_choice(option)) {
		fputs("\t\t_ncclstat_reply -W '", stdout);
		put_words(option);
		puts("' -- \"$word\"");
	} else if (is_argument(option, "FILE")) {
		puts("\t\t_ncclstat_reply -f -- \"$word\"");
	} else if (is_argument(option, "DIR")) {
		puts("\t\t_ncclstat_reply -d -- \"$word\"");
	} else if (is_argument(option, "PID")) {
		puts("\t\t_ncclstat_reply -W \"$(_ncclstat_list 1)\" -- \"$word\"");
	} else if (is_argument(option, "GLOB")) {
		puts("\t\t_ncclstat_reply -W \"$(_ncclstat_list 3)\" -- \"$word\"");
	} else if (is_argument(option, "ID")) {
		puts("\t\t_ncclstat_reply -W \"$(_ncclstat_list 5)\" -- \"$word\"");
	} else {
		puts("\t\t:");
	}
}

static void bash_option(const struct option *option)
{
	if (option->has == NO ||
	    (option->has == OPTIONAL && !is_choice(option)))
		return;
	printf("\t=--%s", option->name);
	if (option->has == REQUIRED)
		printf(" | --%s", option->name);
	if (option->has == REQUIRED && option->letter)
		printf(" | -%c", option->letter);
	puts(")");
	bash_argument(option);
	puts("\t\treturn\n\t\t;;");
}

static void put_bash(void)
{
	puts("# Completion of ncclstat's command line for bash.\n"
	     "\n"
	     "# _ncclstat_reply ARGUMENT...: completes with what compgen makes.\n"
	     "_ncclstat_reply()\n"
	     "{\n"
	     "\tmapfile -t COMPREPLY < <(compgen \"$@\")\n"
	     "}\n"
	     "\n"
	     "# _ncclstat_list FIELD: prints a field of each segment.\n"
	     "_ncclstat_list()\n"
	     "{\n"
	     "\tncclstat --list 2>/dev/null |\n"
	     "\t\tawk -v field=\"$1\" 'NR > 1 && $field != \"-\" { print $field }'\n"
	     "}\n"
	     "\n"
	     "_ncclstat()\n"
	     "{\n"
	     "\tlocal word=$2 option=$3\n"
	     "\n"
	     "\tCOMPREPLY=()\n"
	     "\t# \"--view=ra\" arrives as three words. An argument that may be\n"
	     "\t# left out is joined to its option.\n"
	     "\tif [[ $word == '=' ]]; then\n"
	     "\t\tword= option==$option\n"
	     "\telif [[ $option == '=' ]]; then\n"
	     "\t\toption==${COMP_WORDS[COMP_CWORD - 2]}\n"
	     "\tfi\n"
	     "\tcase $option in");
	for (size_t i = 0; i < OPTION_COUNT; i++)
		bash_option(&options[i]);
	puts("\tesac\n"
	     "\tif [[ $word != -* ]]; then\n"
	     "\t\t# A word that is no option is a command or a recording.\n"
	     "\t\tlocal commands=");
	printf("\t\t[[ $COMP_CWORD != 1 ]] || commands='%s'\n", commands);
	puts("\t\t_ncclstat_reply -f -W \"$commands\" -- \"$word\"\n"
	     "\t\treturn\n"
	     "\tfi\n"
	     "\t_ncclstat_reply -W '");
	for (size_t i = 0; i < OPTION_COUNT; i++)
		printf("\t\t--%s\n", options[i].name);
	puts("\t\t' -- \"$word\"\n"
	     "}\n"
	     "\n"
	     "complete -F _ncclstat ncclstat");
}

/* --- zsh ----------------------------------------------------------------- */

static void zsh_argument(const struct option *option)
{
	const char *const colon = option->has == OPTIONAL ? "::" : ":";

	if (option->has == NO)
		return;
	fputs(colon, stdout);
	if (is_choice(option) || grammar_of(option)) {
		fputs("argument:(", stdout);
		put_words(option);
		putchar(')');
	} else if (is_argument(option, "FILE")) {
		fputs("file:_files", stdout);
	} else if (is_argument(option, "DIR")) {
		fputs("folder:_files -/", stdout);
	} else if (is_argument(option, "PID")) {
		fputs("process:_ncclstat_list 1", stdout);
	} else if (is_argument(option, "GLOB")) {
		fputs("communicator:_ncclstat_list 3", stdout);
	} else if (is_argument(option, "ID")) {
		fputs("job:_ncclstat_list 5", stdout);
	} else {
		fputs("argument: ", stdout);
	}
}

static void zsh_option(const struct option *option)
{
	const char *const join = option->has == NO       ? "" :
				 option->has == OPTIONAL ? "=-" :
							   "=";

	/* Options may come several times, as for --what-if. */
	fputs("\t\t'*'", stdout);
	if (option->letter)
		printf("{-%c%s,--%s%s}'[", option->letter,
		       option->has == REQUIRED ? "+" : "", option->name, join);
	else
		printf("'--%s%s[", option->name, join);
	put_sentence(option->help, "[]\\:");
	putchar(']');
	zsh_argument(option);
	puts("' \\");
}

static void put_zsh(void)
{
	puts("#compdef ncclstat\n"
	     "# Completion of ncclstat's command line for zsh.\n"
	     "\n"
	     "# _ncclstat_list FIELD: completes with a field of each segment.\n"
	     "_ncclstat_list()\n"
	     "{\n"
	     "\tlocal -a words\n"
	     "\n"
	     "\twords=(${(f)\"$(ncclstat --list 2>/dev/null |\n"
	     "\t\tawk -v field=\"$1\" 'NR > 1 && $field != \"-\" { print $field }')\"})\n"
	     "\tcompadd -- $words\n"
	     "}\n"
	     "\n"
	     "_ncclstat()\n"
	     "{\n"
	     "\t_arguments -s -S \\");
	for (size_t i = 0; i < OPTION_COUNT; i++)
		zsh_option(&options[i]);
	printf("\t\t'1: :_alternative \"commands:command:(%s)\""
	       " \"files:recording:_files\"' \\\n",
	       commands);
	puts("\t\t'*:recording:_files'\n"
	     "}\n"
	     "\n"
	     "_ncclstat \"$@\"");
}

/* --- fish ---------------------------------------------------------------- */

static void fish_option(const struct option *option)
{
	printf("complete -c ncclstat -l %s", option->name);
	if (option->letter)
		printf(" -s %c", option->letter);
	fputs(" -d '", stdout);
	put_sentence(option->help, "\\");
	putchar('\'');
	if (option->has == REQUIRED)
		fputs(is_argument(option, "FILE") ? " -rF" : " -x", stdout);
	if (option->has != NO && (is_choice(option) || grammar_of(option))) {
		fputs(" -a '", stdout);
		put_words(option);
		putchar('\'');
	} else if (is_argument(option, "DIR")) {
		fputs(" -a '(__fish_complete_directories)'", stdout);
	} else if (is_argument(option, "PID")) {
		fputs(" -a '(__ncclstat_list 1)'", stdout);
	} else if (is_argument(option, "GLOB")) {
		fputs(" -a '(__ncclstat_list 3)'", stdout);
	} else if (is_argument(option, "ID")) {
		fputs(" -a '(__ncclstat_list 5)'", stdout);
	}
	putchar('\n');
}

static void put_fish(void)
{
	puts("# Completion of ncclstat's command line for fish.\n"
	     "\n"
	     "function __ncclstat_list -d 'Print a field of each segment'\n"
	     "\tncclstat --list 2>/dev/null |\n"
	     "\t\tawk -v field=$argv[1] 'NR > 1 && $field != \"-\" { print $field }'\n"
	     "end\n");
	printf("complete -c ncclstat -n __fish_use_subcommand -a '%s'\n",
	       commands);
	for (size_t i = 0; i < OPTION_COUNT; i++)
		fish_option(&options[i]);
}

/* --- Program ------------------------------------------------------------- */

int main(int argc, char **argv)
{
	static const struct {
		const char *name;
		void (*put)(void);
	} shells[] = {
		{ "bash", put_bash },
		{ "zsh", put_zsh },
		{ "fish", put_fish },
	};

	for (size_t i = 0; argc == 2 && i < 3; i++)
		if (strcmp(argv[1], shells[i].name) == 0) {
			shells[i].put();
			return fclose(stdout) == 0 ? 0 : 1;
		}
	fputs("usage: completions bash|zsh|fish\n", stderr);
	return 2;
}
