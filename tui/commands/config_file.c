/* SPDX-License-Identifier: MIT */
/* The configuration file; see config_file.h.
 *
 * The file affects what the program does, and root may run the program.
 * Therefore a file is read only if no one except the user can have written it.
 */
#include "tui/commands/config_file.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "analysis/base/utf8.h"
#include "tui/commands/option_rows.h"

#define FILE_NAME "ncclstat/ncclstatrc"
/* Largest size of a configuration file, in bytes. */
#define FILE_BYTES_MAX 65536
#define COMPLAINT_MAX 512

/* --- Where it is --------------------------------------------------------- */

static bool set_path(struct ncs_config_file *config, const char *folder,
		     const char *below)
{
	int length = snprintf(config->path, sizeof(config->path), "%s%s",
			      folder, below);

	if (length >= 0 && (size_t)length < sizeof(config->path))
		return true;
	config->path[0] = '\0';
	return false;
}

void ncs_config_file_find(struct ncs_config_file *config, const char *asked)
{
	const char *variable = getenv("NCCLSTATRC");
	const char *folder = getenv("XDG_CONFIG_HOME"), *home = getenv("HOME");

	memset(config, 0, sizeof(*config));
	if (!asked && variable)
		asked = strcmp(variable, "none") == 0 ? "" : variable;
	if (asked)
		config->asked = set_path(config, asked, "");
	else if (folder && folder[0] == '/') /* XDG: ignore a relative path */
		set_path(config, folder, "/" FILE_NAME);
	else if (home && home[0])
		set_path(config, home, "/.config/" FILE_NAME);
}

/* --- Lines --------------------------------------------------------------- */

enum line_kind { LINE_BLANK, LINE_WRONG, LINE_SETTING };

struct config_line {
	const char *text; /* not null-terminated; without the newline */
	size_t length;
	char name[32];
	char value[NCS_OPTION_VALUE_MAX];
};

static void trim(const char **text, size_t *length)
{
	while (*length > 0 && isblank((unsigned char)**text)) {
		(*text)++;
		(*length)--;
	}
	while (*length > 0 && isspace((unsigned char)(*text)[*length - 1]))
		(*length)--;
}

/* Copies a part of a line without the blanks around it. Returns false if the
 * part is empty, too long, or contains control characters. */
static bool copy_part(char *part, size_t size, const char *text, size_t length)
{
	trim(&text, &length);
	if (length == 0 || length >= size)
		return false;
	for (size_t i = 0; i < length; i++)
		if (iscntrl((unsigned char)text[i]))
			return false;
	memcpy(part, text, length);
	part[length] = '\0';
	return true;
}

static enum line_kind read_line(struct config_line *line)
{
	const char *text = line->text, *equals;
	size_t length = line->length;

	trim(&text, &length);
	if (length == 0 || *text == '#')
		return LINE_BLANK;
	equals = memchr(text, '=', length);
	if (!equals ||
	    !copy_part(line->name, sizeof(line->name), text,
		       (size_t)(equals - text)) ||
	    !copy_part(line->value, sizeof(line->value), equals + 1,
		       length - (size_t)(equals + 1 - text)))
		return LINE_WRONG;
	return LINE_SETTING;
}

/* Takes the next line from the text. Returns false at the end of the text. */
static bool next_line(const char **text, size_t *length,
		      struct config_line *line)
{
	const char *end;

	if (*length == 0)
		return false;
	end = memchr(*text, '\n', *length);
	line->text = *text;
	line->length = end ? (size_t)(end - *text) : *length;
	*length -= line->length + (end != NULL);
	*text = end ? end + 1 : *text + line->length;
	return true;
}

/* --- Reading ------------------------------------------------------------- */

/* Sets the option of a line. Returns false and sets `error` to a message if the
 * line is wrong. */
static bool take_line(struct config_line *line, struct ncs_options *options,
		      char *error, size_t size)
{
	enum line_kind kind = read_line(line);
	int option;

	if (kind == LINE_BLANK)
		return true;
	if (kind == LINE_WRONG) {
		snprintf(error, size, "a line expects OPTION = VALUE");
		return false;
	}
	option = ncs_options_find(line->name);
	if (option < 0) {
		snprintf(error, size, "there is no option --%s", line->name);
		ncs_options_suggest(line->name, false, error, size);
		return false;
	}
	if (ncs_option_rows[option].place == NCS_PLACE_ONCE) {
		snprintf(error, size,
			 "--%s expects to be on the command line, not here",
			 line->name);
		return false;
	}
	return ncs_options_set(options, (enum ncs_option)option, line->value,
			       error, size);
}

static void complain(FILE *complaints, const char *path, const char *why)
{
	char text[NCS_CONFIG_FILE_PATH_MAX + COMPLAINT_MAX];

	ncs_utf8_clean(text, sizeof(text), path, false);
	fputs(text, complaints);
	ncs_utf8_clean(text, sizeof(text), why, false);
	fputs(text, complaints);
	fputc('\n', complaints);
}

void ncs_config_file_parse(const char *path, const char *text, size_t length,
			   struct ncs_options *options, FILE *complaints)
{
	char error[COMPLAINT_MAX], why[COMPLAINT_MAX + 32];
	struct config_line line;

	for (unsigned number = 1; next_line(&text, &length, &line); number++) {
		if (take_line(&line, options, error, sizeof(error)))
			continue;
		snprintf(why, sizeof(why), ":%u: %s", number, error);
		complain(complaints, path, why);
	}
}

/* Returns the reason why the file cannot be trusted; NULL if it can. */
static const char *distrust(int file, struct stat *status)
{
	if (fstat(file, status) != 0)
		return strerror(errno);
	if (!S_ISREG(status->st_mode))
		return "it is no regular file";
	if (status->st_uid != geteuid())
		return "it belongs to another user";
	if (status->st_mode & (S_IWGRP | S_IWOTH))
		return "others may write to it (chmod go-w)";
	if (status->st_size > FILE_BYTES_MAX)
		return "it is too large";
	return NULL;
}

/* Reads the whole file into memory that the caller frees. Returns 0; -ENOENT if
 * there is no file; or -EPERM, with the reason in *why. */
static int read_trusted(const char *path, char **text, size_t *length,
			mode_t *mode, const char **why)
{
	/* O_NONBLOCK: the file may be a pipe without a writer. */
	int file = open(path, O_RDONLY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK |
				      O_NOCTTY);
	struct stat status;
	ssize_t count = 0;

	*text = NULL;
	*length = 0;
	*why = NULL;
	if (file < 0) {
		*why = errno == ELOOP ? "it is a symbolic link" :
					strerror(errno);
		return errno == ENOENT ? -ENOENT : -EPERM;
	}
	*why = distrust(file, &status);
	*text = *why ? NULL : malloc(FILE_BYTES_MAX);
	while (*text && *length < FILE_BYTES_MAX &&
	       (count = read(file, *text + *length, FILE_BYTES_MAX - *length)) >
		       0)
		*length += (size_t)count;
	if (!*why && (!*text || count < 0))
		*why = strerror(errno);
	close(file);
	if (*why) {
		free(*text);
		*text = NULL;
		return -EPERM;
	}
	*mode = status.st_mode & 0777;
	return 0;
}

void ncs_config_file_load(const struct ncs_config_file *config,
			  struct ncs_options *options, FILE *complaints)
{
	char why[COMPLAINT_MAX], *text;
	const char *reason;
	size_t length;
	mode_t mode;
	int error;

	if (!config->path[0])
		return;
	error = read_trusted(config->path, &text, &length, &mode, &reason);
	if (error == -ENOENT && !config->asked)
		return;
	if (error) {
		snprintf(why, sizeof(why), ": not read: %s", reason);
		complain(complaints, config->path, why);
		return;
	}
	ncs_config_file_parse(config->path, text, length, options, complaints);
	free(text);
}

/* --- Writing ------------------------------------------------------------- */

static void write_setting(FILE *file, const struct ncs_options *options,
			  enum ncs_option option)
{
	char value[NCS_OPTION_VALUE_MAX];

	ncs_options_value(options, option, value, sizeof(value));
	fprintf(file, "%s = %s\n", ncs_option_rows[option].name, value);
}

static bool is_default(const struct ncs_options *options,
		       enum ncs_option option)
{
	struct ncs_options defaults;
	char value[NCS_OPTION_VALUE_MAX], usual[NCS_OPTION_VALUE_MAX];

	ncs_options_init(&defaults);
	ncs_options_value(options, option, value, sizeof(value));
	ncs_options_value(&defaults, option, usual, sizeof(usual));
	return strcmp(value, usual) == 0;
}

void ncs_config_file_merge(FILE *file, const char *text, size_t length,
			   const struct ncs_options *options)
{
	bool written[NCS_OPTIONS_END] = { false };
	struct config_line line;

	while (next_line(&text, &length, &line)) {
		int option = read_line(&line) == LINE_SETTING ?
				     ncs_options_find(line.name) :
				     -1;

		if (option >= 0 &&
		    ncs_options_is_live((enum ncs_option)option)) {
			write_setting(file, options, (enum ncs_option)option);
			written[option] = true;
			continue;
		}
		fwrite(line.text, 1, line.length, file);
		fputc('\n', file);
	}
	for (int i = 0; i < NCS_OPTIONS_END; i++)
		if (ncs_options_is_live((enum ncs_option)i) && !written[i] &&
		    !is_default(options, (enum ncs_option)i))
			write_setting(file, options, (enum ncs_option)i);
}

/* Makes the folders above a file, accessible only to the user. Ignores errors:
 * creating the file will report them. */
static void make_folders(const char *path)
{
	char folder[NCS_CONFIG_FILE_PATH_MAX];

	for (const char *at = path; (at = strchr(at, '/')); at++) {
		snprintf(folder, sizeof(folder), "%.*s", (int)(at - path),
			 path);
		if (folder[0])
			mkdir(folder, 0700);
	}
}

/* Writes the merged text and closes the descriptor. Returns 0 or -errno. */
static int write_file(int descriptor, mode_t mode, const char *text,
		      size_t length, const struct ncs_options *options)
{
	FILE *file = fdopen(descriptor, "w");
	int error = 0;

	if (!file) {
		error = -errno;
		close(descriptor);
		return error;
	}
	ncs_config_file_merge(file, text, length, options);
	if (fflush(file) != 0 || fchmod(descriptor, mode) != 0 ||
	    fsync(descriptor) != 0)
		error = -errno;
	if (fclose(file) != 0 && !error)
		error = -errno;
	return error;
}

int ncs_config_file_store(const char *path, const struct ncs_options *options)
{
	char sibling[NCS_CONFIG_FILE_PATH_MAX + 8], *text;
	const char *why;
	mode_t mode = 0600;
	size_t length;
	int error, file;

	error = read_trusted(path, &text, &length, &mode, &why);
	if (error && error != -ENOENT)
		return error;
	make_folders(path);
	snprintf(sibling, sizeof(sibling), "%s.XXXXXX", path);
	file = mkostemp(sibling, O_CLOEXEC);
	error = file < 0 ? -errno : 0;
	if (!error) {
		error = write_file(file, mode, text ? text : "", length,
				   options);
		if (!error && rename(sibling, path) != 0)
			error = -errno;
		if (error)
			unlink(sibling);
	}
	free(text);
	return error;
}
