/* SPDX-License-Identifier: MIT */
/* Commands on many machines; see everywhere.h. */
#include "fleet/launch/everywhere.h"

#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "fleet/launch/answer.h"

#define HOST_NS UINT64_C(60000000000)
#define OUTPUT_MAX (UINT64_C(1) << 20)

struct everywhere {
	const struct ncs_agent_call *call;
	const struct ncs_hostlist *hosts;
	const struct ncs_words *options;
	struct ncs_outcome *outcomes;
};

static bool begin_host(void *context, size_t task, struct ncs_answer *answer,
		       struct ncs_guard *guard)
{
	const struct everywhere *all = context;
	struct ncs_outcome *outcome = &all->outcomes[task];
	struct ncs_words words = { .count = 0 };
	int error;

	ncs_words_add_ssh_command(&words, all->hosts->hosts[task]->name,
				  all->call, all->options);
	error = ncs_answer_begin(answer, guard, &words, NULL, OUTPUT_MAX,
				 HOST_NS, outcome->why, sizeof(outcome->why));
	ncs_words_release(&words);
	return error == 0;
}

static bool end_host(void *context, size_t task, struct ncs_answer *answer,
		     int turn)
{
	const struct everywhere *all = context;
	struct ncs_outcome *outcome = &all->outcomes[task];
	bool is_silent = answer->error_used == 0;

	outcome->is_good = ncs_answer_end(answer, "ssh", turn, &outcome->text,
					  outcome->why,
					  sizeof(outcome->why)) == 0;
	/* Its output tells why. */
	if (outcome->text && outcome->text[0] && is_silent)
		outcome->why[0] = '\0';
	return false;
}

int ncs_run_everywhere(const struct ncs_agent_call *call,
		       const struct ncs_hostlist *hosts,
		       const struct ncs_words *options,
		       struct ncs_outcome *outcomes)
{
	struct everywhere all = { call, hosts, options, outcomes };
	const struct ncs_answer_tasks tasks = { &all, begin_host, end_host };

	return ncs_answers_run(&tasks, hosts->count);
}

void ncs_outcomes_release(struct ncs_outcome *outcomes, size_t count)
{
	for (size_t i = 0; i < count; i++)
		free(outcomes[i].text);
}

/* --- Archives ------------------------------------------------------------- */

/* Time for a host to fetch from; all its output goes into a file. */
#define FETCH_NS UINT64_C(120000000000)
#define FETCH_OUTPUT_MAX 4096u
#define WHY_BYTES 512u

/* The archives that were fetched whole, below the directory. */
#define KEPT "kept"

/* How long the guard may take to end what still writes into the directory. */
#define REMOVE_TRIES 60u
#define REMOVE_STEP_NS 100000000

/* Runs its arguments but for the first two, a directory and the name of a folder in it,
 * and unpacks their output there. Only one that is whole is moved to the others: tar's
 * status is 1 if a file grew meanwhile. The limit is in blocks of 512 bytes; a program
 * that exceeds it ends with 153. */
static const char script[] =
	"umask 077; ulimit -f 4194304; base=$1 name=$2; shift 2;"
	" mkdir \"$base/$name\" && cd \"$base/$name\" || exit;"
	" \"$@\" >kept.tar; status=$?;"
	" case $status in"
	" 0 | 1) [ -s kept.tar ] || exit 1 ;;"
	" 153) echo 'more than 2 GiB are kept there' >&2; exit 1 ;;"
	" *) exit $status ;;"
	" esac;"
	" tar -xf kept.tar && rm kept.tar || {"
	" echo \"it cannot be unpacked below $base\" >&2; exit 1; };"
	" [ -d jobs ] || {"
	" echo 'the archives of several machines are there: read them there' >&2;"
	" exit 1; };"
	" mv \"$base/$name\" \"$base/" KEPT "/$name\"";

/* --- The directory of archives --------------------------------------------- */

static int remove_entry(const char *path, const struct stat *stat, int type,
			struct FTW *at)
{
	(void)stat, (void)type, (void)at;
	remove(path);
	return 0;
}

/* Removes the directory once the program has ended or closed its side: again and again
 * while something writes into it. Never returns. */
static void remove_in_the_end(const char *path, int input)
{
	const struct timespec step = { .tv_nsec = REMOVE_STEP_NS };
	char byte;

	setsid();
	while (read(input, &byte, 1) < 0 && errno == EINTR)
		;
	for (unsigned i = 0; i < REMOVE_TRIES && access(path, F_OK) == 0; i++) {
		if (i > 0)
			nanosleep(&step, NULL);
		nftw(path, remove_entry, 16, FTW_DEPTH | FTW_PHYS);
	}
	_exit(0);
}

/* Makes the directory and starts the process that removes it. The signals that would end
 * the program are blocked. */
static int make_directory(struct ncs_fetch *fetch)
{
	char kept[sizeof(fetch->path) + sizeof(KEPT)];
	int ends[2], error;

	if (!mkdtemp(fetch->path))
		return -errno;
	snprintf(kept, sizeof(kept), "%s/" KEPT, fetch->path);
	if (mkdir(kept, 0700) != 0 || pipe2(ends, O_CLOEXEC) != 0) {
		error = -errno;
		rmdir(kept);
		rmdir(fetch->path);
		return error;
	}
	fetch->remover = fork();
	if (fetch->remover == 0) {
		close(ends[1]);
		remove_in_the_end(fetch->path, ends[0]);
	}
	error = fetch->remover < 0 ? -errno : 0;
	close(ends[0]);
	fetch->alive = ends[1];
	if (error) {
		close(ends[1]);
		rmdir(kept);
		rmdir(fetch->path);
		return error;
	}
	snprintf(fetch->kept, sizeof(fetch->kept), "%s", kept);
	return 0;
}

int ncs_fetch_begin(struct ncs_fetch *fetch)
{
	const char *folder = getenv("TMPDIR");
	sigset_t all, before;
	int error;

	snprintf(fetch->path, sizeof(fetch->path), "%s/ncclstat-XXXXXX",
		 folder && folder[0] ? folder : "/tmp");
	sigfillset(&all);
	sigprocmask(SIG_BLOCK, &all, &before);
	error = make_directory(fetch);
	sigprocmask(SIG_SETMASK, &before, NULL);
	return error;
}

void ncs_fetch_end(struct ncs_fetch *fetch)
{
	close(fetch->alive);
	while (waitpid(fetch->remover, NULL, 0) < 0 && errno == EINTR)
		;
}

/* --- Fetching ------------------------------------------------------------- */

struct fetching {
	const struct ncs_fetch *fetch;
	const struct ncs_hostlist *hosts;
	size_t fetched;
};

static bool begin_fetch(void *context, size_t task, struct ncs_answer *answer,
			struct ncs_guard *guard)
{
	const struct fetching *fetching = context;
	const struct ncs_fetch *fetch = fetching->fetch;
	const char *host = fetching->hosts->hosts[task]->name;
	struct ncs_words words = { .count = 0 }, options = { .count = 0 };
	char why[WHY_BYTES];
	int error;

	ncs_words_add(&options, "--jobs=tar");
	ncs_words_add(&options, "--job=%s", fetch->job);
	if (fetch->archive)
		ncs_words_add(&options, "--archive=%s", fetch->archive);
	ncs_words_add_shell(&words, script);
	ncs_words_add(&words, "sh");
	ncs_words_add(&words, "%s", fetch->path);
	/* No name of a host may name another directory. */
	ncs_words_add(&words, "%zu", task + 1);
	ncs_words_add_ssh_command(&words, host, &fetch->call, &options);
	ncs_words_release(&options);
	error = ncs_answer_begin(answer, guard, &words, NULL, FETCH_OUTPUT_MAX,
				 FETCH_NS, why, sizeof(why));
	if (error)
		fetch->failed(host, why);
	ncs_words_release(&words);
	return error == 0;
}

static bool end_fetch(void *context, size_t task, struct ncs_answer *answer,
		      int turn)
{
	struct fetching *fetching = context;
	char *text, why[WHY_BYTES];
	int error =
		ncs_answer_end(answer, "ssh", turn, &text, why, sizeof(why));

	free(text);
	if (error)
		fetching->fetch->failed(fetching->hosts->hosts[task]->name,
					why);
	else
		fetching->fetched++;
	return false;
}

size_t ncs_fetch_from(struct ncs_fetch *fetch, const struct ncs_hostlist *hosts)
{
	struct fetching fetching = { .fetch = fetch, .hosts = hosts };
	const struct ncs_answer_tasks tasks = { &fetching, begin_fetch,
						end_fetch };
	int error = ncs_answers_run(&tasks, hosts->count);

	for (size_t i = 0; error && i < hosts->count; i++)
		fetch->failed(hosts->hosts[i]->name, strerror(-error));
	return fetching.fetched;
}
