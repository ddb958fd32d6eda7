/* SPDX-License-Identifier: MIT */
/* The configuration file; see config_file.h.
 *
 * The file affects what the program does, and root may run the program.
 * Therefore a file is read only if no one except the user can have written it.
 */
#include "tui/commands/config_file.h"

#include <assert.h>
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

#define NAME_BYTES 32
static_assert(NAME_BYTES == 32 && NCS_OPTION_VALUE_MAX == 4096,
	      "they are the widths by which a line is read");

/* Reads a line of so many bytes: a name and a value without control characters. */
static enum line_kind read_line(const char *text, size_t length,
				char name[NAME_BYTES],
				char value[NCS_OPTION_VALUE_MAX])
{
	const char *first = text + strspn(text, " \t\r\n\v\f");
	size_t end;

	if (*first == '#' || first == text + length)
		return LINE_BLANK;
	if (strlen(text) < length ||
	    sscanf(text, " %31[^= \t] = %4095[^\n]", name, value) != 2)
		return LINE_WRONG;
	end = strlen(value);
	/* It may go on. */
	if (end == NCS_OPTION_VALUE_MAX - 1)
		return LINE_WRONG;
	while (isspace((unsigned char)value[end - 1]))
		value[--end] = '\0';
	for (const char *at = value; *at; at++)
		if (iscntrl((unsigned char)*at))
			return LINE_WRONG;
	return LINE_SETTING;
}

/* --- Reading ------------------------------------------------------------- */

/* Sets the option of a line. Returns false and sets `error` to a message if the
 * line is wrong. */
static bool take_line(const char *text, size_t length,
		      struct ncs_options *options, char *error, size_t size)
{
	char name[NAME_BYTES], value[NCS_OPTION_VALUE_MAX];
	enum line_kind kind = read_line(text, length, name, value);
	int option;

	if (kind == LINE_BLANK)
		return true;
	if (kind == LINE_WRONG) {
		snprintf(error, size, "a line expects OPTION = VALUE");
		return false;
	}
	option = ncs_options_find(name);
	if (option < 0) {
		snprintf(error, size, "there is no option --%s", name);
		ncs_options_suggest(name, false, error, size);
		return false;
	}
	if (ncs_option_rows[option].place == NCS_PLACE_ONCE) {
		snprintf(error, size,
			 "--%s expects to be on the command line, not here",
			 name);
		return false;
	}
	return ncs_options_set(options, (enum ncs_option)option, value, error,
			       size);
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

void ncs_config_file_parse(const char *path, FILE *file,
			   struct ncs_options *options, FILE *complaints)
{
	char error[COMPLAINT_MAX], why[COMPLAINT_MAX + 32], *text = NULL;
	size_t size = 0;
	ssize_t length;

	for (unsigned number = 1; (length = getline(&text, &size, file)) > 0;
	     number++) {
		if (take_line(text, (size_t)length, options, error,
			      sizeof(error)))
			continue;
		snprintf(why, sizeof(why), ":%u: %s", number, error);
		complain(complaints, path, why);
	}
	if (!feof(file)) {
		snprintf(why, sizeof(why), ": not read to its end: %s",
			 strerror(errno));
		complain(complaints, path, why);
	}
	free(text);
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

/* Opens a file that can be trusted. Returns NULL if there is none, with *why NULL, or
 * if it cannot be read, with the reason. */
static FILE *open_trusted(const char *path, mode_t *mode, const char **why)
{
	/* O_NONBLOCK: the file may be a pipe without a writer. */
	int fd = open(path, O_RDONLY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK |
				    O_NOCTTY);
	struct stat status;
	FILE *file = NULL;

	if (fd < 0) {
		*why = errno == ENOENT ? NULL :
		       errno == ELOOP  ? "it is a symbolic link" :
					 strerror(errno);
		return NULL;
	}
	*why = distrust(fd, &status);
	if (!*why) {
		*mode = status.st_mode & 0777;
		file = fdopen(fd, "r");
		if (!file)
			*why = strerror(errno);
	}
	if (!file)
		close(fd);
	return file;
}

void ncs_config_file_load(const struct ncs_config_file *config,
			  struct ncs_options *options, FILE *complaints)
{
	char why[COMPLAINT_MAX];
	const char *reason;
	mode_t mode;
	FILE *file;

	if (!config->path[0])
		return;
	file = open_trusted(config->path, &mode, &reason);
	if (file) {
		ncs_config_file_parse(config->path, file, options, complaints);
		fclose(file);
	} else if (reason || config->asked) {
		snprintf(why, sizeof(why), ": not read: %s",
			 reason ? reason : strerror(ENOENT));
		complain(complaints, config->path, why);
	}
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

void ncs_config_file_merge(FILE *file, FILE *from,
			   const struct ncs_options *options)
{
	bool written[NCS_OPTIONS_END] = { false };
	char name[NAME_BYTES], value[NCS_OPTION_VALUE_MAX], *text = NULL;
	size_t size = 0;
	ssize_t length;

	while (from && (length = getline(&text, &size, from)) > 0) {
		int option = read_line(text, (size_t)length, name, value) ==
					     LINE_SETTING ?
				     ncs_options_find(name) :
				     -1;

		if (option >= 0 &&
		    ncs_options_is_live((enum ncs_option)option)) {
			write_setting(file, options, (enum ncs_option)option);
			written[option] = true;
			continue;
		}
		fwrite(text, 1, (size_t)length, file);
		if (text[length - 1] != '\n')
			fputc('\n', file);
	}
	free(text);
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
static int write_file(int descriptor, mode_t mode, FILE *from,
		      const struct ncs_options *options)
{
	FILE *file = fdopen(descriptor, "w");
	int error = 0;

	if (!file) {
		error = -errno;
		close(descriptor);
		return error;
	}
	ncs_config_file_merge(file, from, options);
	/* Without memory for a line, there is no error of the file. */
	if (from && !feof(from))
		error = -EIO;
	if (!error && (fflush(file) != 0 || fchmod(descriptor, mode) != 0 ||
		       fsync(descriptor) != 0))
		error = -errno;
	if (fclose(file) != 0 && !error)
		error = -errno;
	return error;
}

int ncs_config_file_store(const char *path, const struct ncs_options *options)
{
	char sibling[NCS_CONFIG_FILE_PATH_MAX + 8];
	const char *why;
	mode_t mode = 0600;
	FILE *from = open_trusted(path, &mode, &why);
	int error, file;

	if (why)
		return -EPERM;
	make_folders(path);
	snprintf(sibling, sizeof(sibling), "%s.XXXXXX", path);
	file = mkostemp(sibling, O_CLOEXEC);
	error = file < 0 ? -errno : 0;
	if (!error) {
		error = write_file(file, mode, from, options);
		if (!error && rename(sibling, path) != 0)
			error = -errno;
		if (error)
			unlink(sibling);
	}
	if (from)
		fclose(from);
	return error;
}
