/* SPDX-License-Identifier: MIT */
/* Saves a view; see save.h. Must not change the state of the screen. */
#include "tui/screen/save.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "analysis/base/utf8.h"
#include "tui/screen/screen_parts.h"
#include "tui/screen/screen_timeline.h"
#include "tui/term/term.h"
#include "tui/text/format.h"
#include "tui/text/words.h"

/* Maximum number of files that are saved within one second. */
#define NAMES_MAX 100

/* Prints "view channels, Ranks > rank 3, filter recv, 12 of 40 rows". */
static void print_limits(FILE *file, const struct ncs_screen *screen,
			 bool ascii)
{
	const struct ncs_grid *table = &screen->tables[screen->view];
	char raw[NCS_FORMAT_MAX] = "view ", text[NCS_FORMAT_MAX];
	size_t count;

	ncs_append(raw, sizeof(raw), "%s", ncs_views[screen->view].option);
	ncs_crumbs(screen, text, sizeof(text));
	if (text[0])
		ncs_append(raw, sizeof(raw), ", %s", text);
	if (screen->filter[0])
		ncs_append(raw, sizeof(raw), ", filter %s", screen->filter);
	ncs_fold_rows(table, &count);
	ncs_append(raw, sizeof(raw), ", %zu of %zu rows", count, table->total);
	ncs_utf8_clean(text, sizeof(text), raw, ascii);
	fprintf(file, "%s\n\n", text);
}

static int print_view(FILE *file, const struct ncs_screen *screen,
		      const struct ncs_stamp *stamp)
{
	const struct ncs_grid *table = &screen->tables[screen->view];
	size_t all, count = 0;
	const struct ncs_grid_row *from = ncs_fold_rows(table, &all);
	struct ncs_row *rows = calloc(all + 1, sizeof(*rows));
	bool ascii = ncs_term_shows_ascii();
	int error = 0;

	if (!rows)
		return -ENOMEM;
	for (size_t i = 0; i < all; i++)
		if (!from[i].unreadable)
			rows[count++] = from[i].row;
	ncs_dump_head(file, &screen->model, stamp, ascii);
	ncs_dump_verdict(file, &screen->model, 0, ascii);
	print_limits(file, screen, ascii);
	if (screen->view == NCS_VIEW_TIMELINE)
		error = ncs_timeline_print(file, screen);
	else
		ncs_dump_rows(file, screen->view, rows, count, NULL, 0, ascii);
	if (count < all)
		ncs_dump_unreadable(file, &screen->model, ascii);
	free(rows);
	return error;
}

/* Creates a file and sets its name. Returns its descriptor, or -errno. */
static int create(uint64_t realtime_ns, char *name, size_t size)
{
	time_t seconds = (time_t)(realtime_ns / UINT64_C(1000000000));
	char moment[32] = "";
	struct tm local;
	int file = -1;

	if (localtime_r(&seconds, &local))
		strftime(moment, sizeof(moment), "%Y%m%d-%H%M%S", &local);
	for (int i = 1; i <= NAMES_MAX; i++) {
		char number[16] = "";

		if (i > 1)
			snprintf(number, sizeof(number), "-%d", i);
		snprintf(name, size, "ncclstat-%s%s.txt", moment, number);
		file = open(name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC,
			    0666);
		if (file >= 0 || errno != EEXIST)
			break;
	}
	return file < 0 ? -errno : file;
}

/* Prints to a descriptor and closes it. Returns 0 or -errno. */
static int write_to(int descriptor, const struct ncs_screen *screen,
		    const struct ncs_stamp *stamp)
{
	FILE *file = fdopen(descriptor, "w");
	int error;

	if (!file) {
		error = -errno;
		close(descriptor);
		return error;
	}
	error = print_view(file, screen, stamp);
	if (fclose(file) != 0 && !error)
		error = -errno;
	return error;
}

int ncs_save_view(const struct ncs_screen *screen,
		  const struct ncs_stamp *stamp, char *path, size_t size)
{
	char name[64], folder[4096] = ".";
	int descriptor = create(stamp->realtime_ns, name, sizeof(name));
	int error;

	if (!getcwd(folder, sizeof(folder)))
		strcpy(folder, ".");
	snprintf(path, size, "%s/%s", folder, name);
	if (descriptor < 0)
		return descriptor;
	error = write_to(descriptor, screen, stamp);
	/* Leave no incomplete file. */
	if (error)
		unlink(name);
	return error;
}
