/* SPDX-License-Identifier: MIT */
/* Tests of agents with launchers that are scripts: what their lines say comes
 * to the right node, failures get their state and words, and no process is
 * left. The real launchers are in test/fleet. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "analysis/base/append.h"
#include "fleet/launch/agents.h"
#include "fleet/launch/agents_internal.h"
#include "fleet/launch/subprocess.h"
#include "shm/clock.h"

#define SECOND_NS UINT64_C(1000000000)
#define NODES_MAX 1200u

/* --- A folder of scripts that stand for launchers ------------------------- */

static char folder[] = "/tmp/ncclstat-agents.XXXXXX";
static char old_path[4096];

static int make_folder(void **state)
{
	char path[8192];

	(void)state;
	if (!mkdtemp(folder))
		return -1;
	snprintf(old_path, sizeof(old_path), "%s", getenv("PATH"));
	snprintf(path, sizeof(path), "%s:%s", folder, old_path);
	setenv("PATH", path, 1);
	return 0;
}

static int remove_folder(void **state)
{
	char command[200];

	(void)state;
	setenv("PATH", old_path, 1);
	snprintf(command, sizeof(command), "rm -rf %s", folder);
	return system(command);
}

static void script(const char *name, const char *text)
{
	char path[200];
	FILE *file;

	snprintf(path, sizeof(path), "%s/%s", folder, name);
	file = fopen(path, "w");
	assert_non_null(file);
	fprintf(file, "#!/bin/sh\n%s\n", text);
	assert_int_equal(fclose(file), 0);
	assert_int_equal(chmod(path, 0755), 0);
}

/* Writes a line to a file that scripts read. */
static void put_file(const char *name, const char *text)
{
	char path[200];
	FILE *file;

	snprintf(path, sizeof(path), "%s/%s", folder, name);
	file = fopen(path, "w");
	assert_non_null(file);
	fprintf(file, "%s\n", text);
	assert_int_equal(fclose(file), 0);
}

/* Reads a file that a script wrote; "" if there is none. */
static void read_file(const char *name, char *text, size_t size)
{
	char path[200];
	FILE *file;
	size_t bytes;

	snprintf(path, sizeof(path), "%s/%s", folder, name);
	file = fopen(path, "r");
	text[0] = 0;
	if (!file)
		return;
	bytes = fread(text, 1, size - 1, file);
	text[bytes] = 0;
	fclose(file);
}

/* --- What agents tell ------------------------------------------------------ */

struct told_node {
	char name[NCS_NODE_NAME_BYTES];
	char reach[NCS_NODE_REACH_BYTES];
	enum ncs_node_state state;
	char why[NCS_NODE_WHY_BYTES];
	char bytes[1000];
	unsigned begins, gaps, pieces;
	unsigned limits; /* how often it was over one */
};

static struct told {
	struct told_node nodes[NODES_MAX];
	size_t count;
} told;

static size_t on_node(void *context, const char *name, const char *reach)
{
	(void)context;
	assert_true(told.count < NODES_MAX);
	snprintf(told.nodes[told.count].name, sizeof(told.nodes[0].name), "%s",
		 name);
	snprintf(told.nodes[told.count].reach, sizeof(told.nodes[0].reach),
		 "%s", reach);
	told.nodes[told.count].state = NCS_NODE_STARTING;
	return told.count++;
}

static void on_bytes(void *context, size_t node, enum ncs_line_step step,
		     const void *bytes, size_t size)
{
	struct told_node *known = &told.nodes[node];

	(void)context;
	assert_true(node < told.count);
	assert_int_not_equal(step, NCS_LINE_DROP);
	known->begins += step == NCS_LINE_BEGINS;
	known->gaps += step == NCS_LINE_GAP;
	known->pieces++;
	ncs_append(known->bytes, sizeof(known->bytes), "%.*s", (int)size,
		   (const char *)bytes);
}

static void on_state(void *context, size_t node, enum ncs_node_state state,
		     const char *why)
{
	(void)context;
	assert_true(node < told.count);
	if (state == NCS_NODE_OVER_LIMIT) {
		told.nodes[node].limits++;
		return;
	}
	told.nodes[node].state = state;
	snprintf(told.nodes[node].why, sizeof(told.nodes[node].why), "%s", why);
}

static const struct ncs_agents_sink sink = {
	.node = on_node,
	.bytes = on_bytes,
	.state = on_state,
};

static struct ncs_agents *open_agents(enum ncs_agents_way kind,
				      const char *target)
{
	const struct ncs_launch launch = {
		.way = kind,
		.target = target,
		.call = { .command = "ncclstat", .interval_ns = SECOND_NS },
	};
	struct ncs_agents *agents;
	char why[300] = "";

	memset(&told, 0, sizeof(told));
	if (ncs_agents_open(&agents, &launch, why, sizeof(why)) != 0)
		fail_msg("%s", why);
	return agents;
}

/* Runs the agents until `done` says so; fails after 30 s. */
static void run_until(struct ncs_agents *agents, bool (*done)(void))
{
	uint64_t end_ns = ncs_clock_monotonic_ns() + 30 * SECOND_NS;

	while (!done()) {
		uint64_t now_ns = ncs_clock_monotonic_ns();

		assert_true(now_ns < end_ns);
		ncs_agents_run(agents, &sink, now_ns + SECOND_NS / 20);
	}
}

static const struct told_node *node_of(const char *name)
{
	for (size_t i = 0; i < told.count; i++)
		if (strcmp(told.nodes[i].name, name) == 0)
			return &told.nodes[i];
	fail_msg("no node %s", name);
	return NULL;
}

static bool all_settled(void)
{
	for (size_t i = 0; i < told.count; i++)
		if (told.nodes[i].state == NCS_NODE_STARTING &&
		    told.nodes[i].pieces == 0)
			return false;
	return told.count > 0;
}

static bool all_ended(void)
{
	for (size_t i = 0; i < told.count; i++)
		if (told.nodes[i].state == NCS_NODE_STARTING)
			return false;
	return told.count > 0;
}

/* --- A command of the user's ----------------------------------------------- */

static void lines_of_a_command_come_to_their_nodes(void **state)
{
	struct ncs_agents *agents =
		open_agents(NCS_AGENTS_BY_COMMAND,
			    "echo 'n1: ncclstat1:n1:00000001:0:QQ==';"
			    "echo 'ncclstat1:n2:00000002:0:Qg==';"
			    "echo 'ncclstat1:n1:00000001:1:Qw==' >&2;"
			    "echo 'ncclstat1:n2:00000002:1:RA';"
			    "echo 'ncclstat1:n2:00000002:2:RQ==';"
			    "printf 'ncclstat1:n1.domain:00000001:2:Rg=='");

	(void)state;
	run_until(agents, all_ended);
	assert_int_equal(told.count, 2);
	assert_int_equal(node_of("n1")->begins, 1);
	assert_int_equal(node_of("n2")->begins, 1);
	assert_int_equal(node_of("n2")->gaps, 1);
	assert_string_equal(node_of("n2")->bytes, "BE");
	assert_true(strchr(node_of("n1")->bytes, 'A') != NULL);
	assert_int_equal(node_of("n1")->state, NCS_NODE_ENDED);
	ncs_agents_close(agents);
}

static void messages_of_a_command_judge_their_nodes(void **state)
{
	struct ncs_agents *agents = open_agents(
		NCS_AGENTS_BY_COMMAND,
		"for n in 1 2 3 4; do"
		" echo ncclstat1:n0$n:00000001:0:QQ==; done; sleep 0.2;"
		"echo 'pdsh@head: n01: ssh exited with exit code 255' >&2;"
		"echo 'srun: error: n[02-03]: tasks 1-2: Exited with exit"
		" code 3' >&2; echo 'disk is full' >&2; sleep 30");
	size_t judged = 0;
	uint64_t end_ns = ncs_clock_monotonic_ns() + 20 * SECOND_NS;

	(void)state;
	while (judged < 3 && ncs_clock_monotonic_ns() < end_ns) {
		ncs_agents_run(agents, &sink,
			       ncs_clock_monotonic_ns() + SECOND_NS / 20);
		judged = 0;
		for (size_t i = 0; i < told.count; i++)
			judged += told.nodes[i].state != NCS_NODE_STARTING;
	}
	assert_int_equal(node_of("n01")->state, NCS_NODE_NOT_REACHABLE);
	assert_int_equal(node_of("n02")->state, NCS_NODE_ENDED);
	assert_int_equal(node_of("n03")->state, NCS_NODE_ENDED);
	assert_int_equal(node_of("n04")->state, NCS_NODE_STARTING);
	assert_non_null(strstr(node_of("n02")->why, "exit status 3"));
	ncs_agents_close(agents);
}

/* slurmstepd's message and srun's go different ways. */
static void reason_that_comes_after_the_status_counts(void **state)
{
	struct ncs_agents *agents = open_agents(
		NCS_AGENTS_BY_COMMAND,
		"for n in 1 2; do echo ncclstat1:n$n:00000001:0:QQ==; done;"
		"echo 'srun: error: n[1-2]: tasks 0-1: Exited with exit code 2'"
		" >&2; sleep 0.3; echo 'slurmstepd-n1: error: Node failure'"
		" >&2; sleep 30");
	uint64_t end_ns = ncs_clock_monotonic_ns() + 20 * SECOND_NS;

	(void)state;
	do
		ncs_agents_run(agents, &sink,
			       ncs_clock_monotonic_ns() + SECOND_NS / 20);
	while ((told.count < 2 ||
		node_of("n1")->state != NCS_NODE_NOT_REACHABLE ||
		node_of("n2")->state != NCS_NODE_ENDED) &&
	       ncs_clock_monotonic_ns() < end_ns);
	assert_int_equal(node_of("n1")->state, NCS_NODE_NOT_REACHABLE);
	assert_non_null(strstr(node_of("n1")->why, "Node failure"));
	assert_int_equal(node_of("n2")->state, NCS_NODE_ENDED);
	ncs_agents_close(agents);
}

/* Two thousand lines of 1,000 nodes, with noise between them. */
static bool all_are_there(void)
{
	return told.count == 1000 && all_ended();
}

static void thousand_nodes_come_through_one_pipe(void **state)
{
	struct ncs_agents *agents = open_agents(
		NCS_AGENTS_BY_COMMAND,
		"awk 'BEGIN { for (k = 0; k < 3; k++)"
		" for (i = 0; i < 1000; i++) {"
		" if (i % 100 == 7) print \"a message: \" i;"
		" printf \"%d: ncclstat1:h%d:%08x:%d:QUJD\\n\", i, i, i, k } }'");

	(void)state;
	run_until(agents, all_are_there);
	for (size_t i = 0; i < 1000; i++) {
		assert_int_equal(told.nodes[i].pieces, 3);
		assert_string_equal(told.nodes[i].bytes, "ABCABCABC");
	}
	ncs_agents_close(agents);
}

/* Each message is short, and each of its words a list of very many nodes. */
static void lists_in_messages_are_expanded_up_to_a_limit(void **state)
{
	struct ncs_agents *agents = open_agents(
		NCS_AGENTS_BY_COMMAND,
		"echo ncclstat1:n1:00000001:0:QQ==;"
		"awk 'BEGIN { for (i = 0; i < 20000; i++)"
		" print \"n[0-65535] n[0-65535] n[0-65535] n[0-65535]\" }' >&2;"
		"echo ncclstat1:n1:00000001:1:Qg==");

	(void)state;
	run_until(agents, all_ended);
	assert_string_equal(node_of("n1")->bytes, "AB");
	assert_non_null(strstr(ncs_agents_message(agents), "are left out"));
	ncs_agents_close(agents);
}

/* A list of more than 64 nodes counts for all of them. */
static void messages_name_any_number_of_nodes(void **state)
{
	struct ncs_agents *agents = open_agents(
		NCS_AGENTS_BY_COMMAND,
		"for n in $(seq 100 199); do"
		" echo ncclstat1:n$n:00000001:0:QQ==; done; sleep 0.2;"
		"echo 'srun: error: n[100-199]: Exited with exit code 255' >&2;"
		"sleep 30");
	uint64_t end_ns = ncs_clock_monotonic_ns() + 20 * SECOND_NS;
	size_t judged = 0;

	(void)state;
	while (judged < 100 && ncs_clock_monotonic_ns() < end_ns) {
		ncs_agents_run(agents, &sink,
			       ncs_clock_monotonic_ns() + SECOND_NS / 20);
		judged = 0;
		for (size_t i = 0; i < told.count; i++)
			judged += told.nodes[i].state == NCS_NODE_NOT_REACHABLE;
	}
	assert_int_equal(judged, 100);
	ncs_agents_close(agents);
}

static void last_message_of_a_command_is_kept(void **state)
{
	struct ncs_agents *agents =
		open_agents(NCS_AGENTS_BY_COMMAND,
			    "echo one >&2; echo 'two\033[1m' >&2;"
			    " echo '----' >&2");
	uint64_t end_ns = ncs_clock_monotonic_ns() + 20 * SECOND_NS;

	(void)state;
	while (!ncs_agents_have_ended(agents) &&
	       ncs_clock_monotonic_ns() < end_ns)
		ncs_agents_run(agents, &sink,
			       ncs_clock_monotonic_ns() + SECOND_NS / 20);
	assert_string_equal(ncs_agents_message(agents), "two?[1m");
	ncs_agents_close(agents);
}

/* --- ssh ------------------------------------------------------------------- */

/* A script in the place of ssh: host n1 works, the others fail as ssh does. */
static const char fake_ssh[] =
	"for last; do host=$command; command=$last; done\n"
	"echo \"$@\" >>$0.log\n"
	"case $host in\n"
	"good*) read beat; echo 'Welcome!'; echo ncclstat1:other:00000001:0:QQ==\n"
	"  cat >/dev/null; echo ended >>$0.log ;;\n"
	"*key) echo 'bash: warning: setlocale' >&2\n"
	"  echo 'root@key: Permission denied (publickey).' >&2; exit 255 ;;\n"
	"changed) echo '@    WARNING: REMOTE HOST IDENTIFICATION HAS CHANGED!"
	"     @' >&2; echo 'Host key verification failed.' >&2; exit 255 ;;\n"
	"unknown) echo 'Host key verification failed.' >&2; exit 255 ;;\n"
	"noname) echo 'ssh: Could not resolve hostname noname: Name or service"
	" not known' >&2; exit 255 ;;\n"
	"slow) echo 'ssh: connect to host slow port 22: Connection timed out'"
	" >&2; exit 255 ;;\n"
	"odd) exit 255 ;;\n"
	"idle) echo 'Access denied by pam_slurm_adopt: you have no active jobs"
	" on this node' >&2; echo 'Connection closed by 10.0.0.7 port 22' >&2;"
	" exit 255 ;;\n"
	"none) echo 'bash: line 1: exec: ncclstat: not found' >&2; exit 127 ;;\n"
	"old) echo 'ncclstat: --stream=lines is no option, or short for several"
	" (see ncclstat --help)' >&2; exit 2 ;;\n"
	"future) echo ncclstat2:x:y; cat >/dev/null ;;\n"
	"broken) echo 'segmentation fault' >&2; exit 139 ;;\n"
	"esac\n";

static bool is_over(void)
{
	return told.count == 2 && node_of("loud")->limits > 0 &&
	       node_of("good")->pieces > 0;
}

static void a_node_with_too_many_messages_is_told(void **state)
{
	struct ncs_agents *agents;

	(void)state;
	script("ssh", "for last; do host=$command; command=$last; done\n"
		      "[ $host = loud ] && exec yes complaint >&2\n"
		      "echo ncclstat1:good:00000001:0:QQ==; cat >/dev/null");
	agents = open_agents(NCS_AGENTS_BY_HOSTS, "loud,good");
	run_until(agents, is_over);
	assert_int_equal(node_of("good")->limits, 0);
	ncs_agents_close(agents);
}

static void each_failure_of_ssh_has_a_state(void **state)
{
	static const struct {
		const char *host;
		enum ncs_node_state state;
		const char *words;
	} cases[] = {
		{ "key", NCS_NODE_REFUSED, "Permission denied" },
		{ "changed", NCS_NODE_REFUSED, "has changed" },
		{ "unknown", NCS_NODE_REFUSED, "connect once" },
		{ "noname", NCS_NODE_NOT_REACHABLE, "resolve" },
		{ "slow", NCS_NODE_NOT_REACHABLE, "timed out" },
		{ "odd", NCS_NODE_NOT_REACHABLE, "exit status 255" },
		{ "idle", NCS_NODE_REFUSED, "you have no active jobs" },
		{ "none", NCS_NODE_NOT_INSTALLED, "--remote-command" },
		{ "old", NCS_NODE_OTHER_VERSION, "too old" },
		{ "future", NCS_NODE_OTHER_VERSION, "another form" },
		{ "broken", NCS_NODE_FAILED, "signal 11" },
	};
	struct ncs_agents *agents;

	(void)state;
	script("ssh", fake_ssh);
	agents = open_agents(NCS_AGENTS_BY_HOSTS,
			     "good[1-2],root@key,changed,unknown,noname,slow,"
			     "odd,idle,none,old,future,broken");
	run_until(agents, all_settled);
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		const struct told_node *node = node_of(cases[i].host);

		if (node->state != cases[i].state ||
		    !strstr(node->why, cases[i].words))
			fail_msg("%s: %s: %s", node->name,
				 ncs_node_state_name(node->state), node->why);
	}
	assert_string_equal(node_of("good1")->bytes, "A");
	assert_string_equal(node_of("good1")->reach, "ssh good1 ");
	assert_string_equal(node_of("key")->reach, "ssh root@key ");
	assert_int_equal(node_of("good2")->state, NCS_NODE_STARTING);
	ncs_agents_close(agents);
}

/* The agent's sign to end is the end of its input. */
static void close_lets_ssh_end_by_itself(void **state)
{
	struct ncs_agents *agents;
	char log[4000];

	(void)state;
	script("ssh", fake_ssh);
	agents = open_agents(NCS_AGENTS_BY_HOSTS, "good1");
	run_until(agents, all_settled);
	ncs_agents_close(agents);
	read_file("ssh.log", log, sizeof(log));
	assert_non_null(strstr(log, "ended"));
	assert_non_null(strstr(log, "BatchMode=yes"));
	assert_non_null(strstr(log, "exec ncclstat --stream=lines"
				    " --interval=1.000"
				    " --heartbeat=30"));
}

static void launcher_that_is_missing_is_said(void **state)
{
	struct ncs_agents *agents;
	char path[8192];

	(void)state;
	snprintf(path, sizeof(path), "%s", getenv("PATH"));
	setenv("PATH", "/nonexistent", 1);
	agents = open_agents(NCS_AGENTS_BY_HOSTS, "n1");
	run_until(agents, all_settled);
	setenv("PATH", path, 1);
	assert_int_equal(node_of("n1")->state, NCS_NODE_FAILED);
	assert_non_null(strstr(node_of("n1")->why, "ssh cannot be started"));
	ncs_agents_close(agents);
}

static void bad_targets_are_refused_in_words(void **state)
{
	static const struct {
		enum ncs_agents_way way;
		const char *target, *exclude, *words;
	} cases[] = {
		{ NCS_AGENTS_BY_HOSTS, "n[3-1]", NULL, "backwards" },
		{ NCS_AGENTS_BY_HOSTS, "n[1-2]", "n[1-9]", "no node left" },
		{ NCS_AGENTS_BY_SLURM, "77", NULL,
		  "squeue says: slurm_load_jobs"
		  " error: Invalid job id" },
		{ NCS_AGENTS_BY_SLURM, "78", NULL, "it is PENDING" },
		{ NCS_AGENTS_BY_SLURM, "79", NULL, "there is no job 79" },
		{ NCS_AGENTS_BY_SLURM, "80", NULL, "name one, such as 80_2" },
		{ NCS_AGENTS_BY_SLURM, "81", NULL, "squeue says: 81+128" },
		{ NCS_AGENTS_BY_KUBE, "app=none", NULL, "kubectl says: no" },
	};

	(void)state;
	script("squeue", "case \"$*\" in *77*) echo 'slurm_load_jobs error:"
			 " Invalid job id specified' >&2; exit 1 ;;"
			 "*78*) echo 'PENDING 78 78 ' ;; *79*) ;;"
			 "*80*) echo 'PENDING 80 80_[1,3-4] ';"
			 " echo 'RUNNING 83 80_2 n2' ;;"
			 "*81*) echo 'RUNNING 81 81+0 n1';"
			 " echo 'RUNNING 82 81+128 n[2-3]' ;; esac");
	script("kubectl", "echo no such cluster >&2; exit 1");
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		const struct ncs_launch launch = {
			.way = cases[i].way,
			.target = cases[i].target,
			.exclude = cases[i].exclude,
			.call = { .command = "ncclstat" },
		};
		struct ncs_agents *agents;
		char why[300] = "";

		assert_true(ncs_agents_open(&agents, &launch, why,
					    sizeof(why)) < 0);
		assert_null(agents);
		if (!strstr(why, cases[i].words))
			fail_msg("%s: %s", cases[i].target, why);
	}
}

/* --- Slurm and Kubernetes --------------------------------------------------- */

static void step_of_slurm_has_one_task_a_node(void **state)
{
	struct ncs_agents *agents;
	char log[4000];

	(void)state;
	script("squeue", "echo 'RUNNING 5 5 n[01-03]'");
	script("srun", "trap 'exit 143' TERM; echo \"$@\" >$0.log;"
		       "for n in 01 02 03; do"
		       " echo ncclstat1:n$n:00000001:0:QQ==; done;"
		       "echo 'srun: error: n02: task 1: Exited with exit code"
		       " 127' >&2; sleep 30 & wait");
	agents = open_agents(NCS_AGENTS_BY_SLURM, "5");
	assert_int_equal(told.count, 0);
	run_until(agents, all_settled);
	assert_int_equal(told.count, 3);
	read_file("srun.log", log, sizeof(log));
	assert_non_null(strstr(log, "--jobid=5 --overlap"
				    " --nodelist=n01,n02,n03 --nodes=3"));
	ncs_agents_close(agents);
}

static bool all_have_told(void)
{
	return told.count > 0 && node_of("n1")->pieces > 0;
}

/* srun takes no 4711_3. */
static void job_in_an_array_is_named_to_srun_by_its_number(void **state)
{
	struct ncs_agents *agents;
	char log[4000];

	(void)state;
	script("squeue", "echo 'RUNNING 4714 4711_3 n1'");
	script("srun", "trap 'exit 143' TERM; echo \"$@\" >$0.log;"
		       "echo ncclstat1:n1:00000001:0:QQ==; sleep 30 & wait");
	agents = open_agents(NCS_AGENTS_BY_SLURM, "4711_3");
	run_until(agents, all_have_told);
	read_file("srun.log", log, sizeof(log));
	assert_non_null(strstr(log, "--jobid=4714 "));
	ncs_agents_close(agents);
}

static bool both_have_told(void)
{
	return told.count == 2 && node_of("n1")->pieces > 0 &&
	       node_of("n3")->pieces > 0;
}

/* One step has the nodes of all components. One of them has ended. */
static void components_of_a_job_are_one_step(void **state)
{
	struct ncs_agents *agents;
	char log[4000];

	(void)state;
	script("squeue", "echo 'COMPLETING 7 7+0 n0'; echo 'RUNNING 8 7+1 n1';"
			 "echo 'RUNNING 9 7+2 n[1,3]'");
	script("srun", "trap 'exit 143' TERM; echo \"$@\" >$0.log;"
		       "for n in 1 3; do"
		       " echo ncclstat1:n$n:00000001:0:QQ==; done;"
		       "sleep 30 & wait");
	agents = open_agents(NCS_AGENTS_BY_SLURM, "7");
	run_until(agents, both_have_told);
	read_file("srun.log", log, sizeof(log));
	assert_memory_equal(log, "--jobid=7 --het-group=1 ", 24);
	assert_non_null(strstr(log, "--nodelist=n1 --nodes=1 "));
	assert_non_null(strstr(log, " : --jobid=7 --het-group=2 --overlap"
				    " --nodelist=n3 --nodes=1 "));
	assert_string_equal(node_of("n3")->reach,
			    "srun --overlap --jobid=7 --het-group=2"
			    " -N1 -n1 -w n3 ");
	ncs_agents_close(agents);
}

static bool three_have_told(void)
{
	return told.count == 3 && node_of("n03")->pieces > 0;
}

/* n02 tells lies: of a node that is none of the job's, and of n01. */
static void a_step_tells_of_its_nodes_once(void **state)
{
	struct ncs_agents *agents;

	(void)state;
	script("squeue", "echo 'RUNNING 5 5 n[01-03]'");
	script("srun", "trap 'exit 143' TERM;"
		       "for n in 01 02; do"
		       " echo ncclstat1:n$n:00000001:0:QQ==; done;"
		       "echo ncclstat1:n04:00000001:0:QQ==;"
		       "echo ncclstat1:n01:00000002:0:Qg==;"
		       "for i in 1 2 3 4 5 6 7 8 9; do"
		       " echo ncclstat1:n01:00000003:$i:Qg==; done;"
		       "echo ncclstat1:n03:00000001:0:QQ==; sleep 30 & wait");
	agents = open_agents(NCS_AGENTS_BY_SLURM, "5");
	run_until(agents, three_have_told);
	assert_int_equal(node_of("n01")->begins, 1);
	assert_string_equal(node_of("n01")->bytes, "A");
	ncs_agents_close(agents);
}

static bool n1_is_refused(void)
{
	return told.count == 2 && told.nodes[0].state == NCS_NODE_REFUSED &&
	       told.nodes[1].pieces > 0;
}

static void pods_are_asked_one_by_one(void **state)
{
	struct ncs_agents *agents;
	char log[4000];

	(void)state;
	script("kubectl",
	       "echo \"$@\" >>$0.log; case \"$*\" in\n"
	       "*get*) echo ml/w-0 Running; echo ml/w-1 Running;"
	       " echo ml/w-2 Pending ;;\n"
	       "*w-0*) echo 'Error from server (Forbidden): pods \"w-0\" is"
	       " forbidden: User cannot create pods/exec' >&2; exit 1 ;;\n"
	       "*w-1*) echo ncclstat1:w-1:00000001:0:QQ==; cat >/dev/null ;;\n"
	       "esac");
	agents = open_agents(NCS_AGENTS_BY_KUBE, "ml:app=train");
	run_until(agents, n1_is_refused);
	assert_string_equal(told.nodes[0].name, "w-0");
	read_file("kubectl.log", log, sizeof(log));
	assert_non_null(strstr(log, "--namespace=ml --selector=app=train"));
	assert_non_null(strstr(log, "exec --stdin --namespace=ml w-1 --"
				    " ncclstat --stream=lines"));
	ncs_agents_close(agents);
}

static bool is_told(const char *name, enum ncs_node_state state)
{
	for (size_t i = 0; i < told.count; i++)
		if (strcmp(told.nodes[i].name, name) == 0)
			return told.nodes[i].pieces > 0 &&
			       told.nodes[i].state == state;
	return false;
}

static bool first_pod_tells(void)
{
	return is_told("w-0", NCS_NODE_STARTING);
}

static bool second_pod_tells(void)
{
	return is_told("w-1", NCS_NODE_STARTING);
}

static bool first_pod_is_gone(void)
{
	return is_told("w-0", NCS_NODE_ENDED) &&
	       strstr(told.nodes[0].why, "does not run any more");
}

static bool first_pod_is_back(void)
{
	return first_pod_tells() && told.nodes[0].pieces == 2;
}

/* The script's pods are lines of a file; an agent ends with its pod. */
static void pods_may_come_and_go(void **state)
{
	struct ncs_agents *agents;

	(void)state;
	script("kubectl",
	       "case \"$*\" in\n"
	       "*get*) cat ${0%/*}/pods ;;\n"
	       "*w-0*) grep -q w-0 ${0%/*}/pods || exit 1;"
	       " echo ncclstat1:w-0:0000000$(cat ${0%/*}/life):0:QQ==;"
	       " while grep -q w-0 ${0%/*}/pods; do sleep 0.1; done; exit 1 ;;\n"
	       "*w-1*) echo ncclstat1:w-1:00000001:0:QQ==; cat >/dev/null ;;\n"
	       "esac");
	put_file("life", "1");
	put_file("pods", "");
	agents = open_agents(NCS_AGENTS_BY_KUBE, "app=train");
	assert_false(ncs_agents_have_ended(agents));
	assert_non_null(strstr(ncs_agents_message(agents), "no pod that runs"));
	put_file("pods", "ml/w-0 Running");
	run_until(agents, first_pod_tells);
	assert_int_equal(told.count, 1);
	put_file("life", "2");
	put_file("pods", "ml/w-1 Running");
	run_until(agents, second_pod_tells);
	run_until(agents, first_pod_is_gone);
	put_file("pods", "ml/w-1 Running\nml/w-0 Running");
	run_until(agents, first_pod_is_back);
	assert_int_equal(told.count, 2);
	ncs_agents_close(agents);
}

/* --- Nothing stays behind --------------------------------------------------- */

/* Waits until the process with the pid in a file is gone; fails after 10 s. */
static void wait_until_gone(const char *file)
{
	const struct timespec step = { .tv_nsec = 10000000 };
	char text[100];
	long pid;

	read_file(file, text, sizeof(text));
	pid = strtol(text, NULL, 10);
	assert_true(pid > 1);
	for (int i = 0; kill((pid_t)pid, 0) == 0; i++) {
		assert_true(i < 1000);
		nanosleep(&step, NULL);
	}
}

/* A command that starts another one, which heeds no signal that asks. */
static const char stubborn[] =
	"(trap '' TERM HUP INT; echo $(exec sh -c 'echo $PPID') >$D/inner;"
	" while :; do sleep 0.1; done) &"
	"echo $$ >$D/outer; echo ncclstat1:n1:00000001:0:QQ==; wait";

static void stubborn_processes_are_killed_at_the_end(void **state)
{
	struct ncs_agents *agents;

	(void)state;
	setenv("D", folder, 1);
	agents = open_agents(NCS_AGENTS_BY_COMMAND, stubborn);
	run_until(agents, all_settled);
	ncs_agents_close(agents);
	wait_until_gone("outer");
	wait_until_gone("inner");
}

/* A guard that was killed ends nothing: the program does. */
static void without_a_guard_stubborn_processes_are_killed(void **state)
{
	struct ncs_agents *agents;

	(void)state;
	setenv("D", folder, 1);
	agents = open_agents(NCS_AGENTS_BY_COMMAND, stubborn);
	run_until(agents, all_settled);
	kill(agents->guard.pid, SIGKILL);
	ncs_agents_close(agents);
	wait_until_gone("outer");
	wait_until_gone("inner");
}

/* A program that has started agents, and whose guard may have been killed once,
 * until it is killed. */
static void run_program(int ready, bool loses_guard) __attribute__((noreturn));

static void run_program(int ready, bool loses_guard)
{
	struct ncs_agents *agents =
		open_agents(NCS_AGENTS_BY_COMMAND, stubborn);
	pid_t guard = agents->guard.pid;

	run_until(agents, all_settled);
	if (loses_guard)
		kill(guard, SIGKILL);
	while (loses_guard && agents->guard.pid == guard)
		ncs_agents_run(agents, &sink,
			       ncs_clock_monotonic_ns() + SECOND_NS / 20);
	if (write(ready, "x", 1) != 1)
		_exit(1);
	for (;;)
		pause();
}

static void check_guard(bool loses_guard)
{
	int ready[2], status;
	char byte;
	pid_t pid;

	setenv("D", folder, 1);
	assert_int_equal(pipe(ready), 0);
	pid = fork();
	if (pid == 0)
		run_program(ready[1], loses_guard);
	close(ready[1]);
	assert_int_equal(read(ready[0], &byte, 1), 1);
	kill(pid, SIGKILL);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	wait_until_gone("outer");
	wait_until_gone("inner");
	close(ready[0]);
}

/* The program is killed: the guard ends what it had started. */
static void guard_outlives_the_program(void **state)
{
	(void)state;
	check_guard(false);
}

static void a_guard_that_was_killed_is_replaced(void **state)
{
	(void)state;
	check_guard(true);
}

/* Asks which pods run until it was answered, some seconds later each time.
 * Returns the time. */
static uint64_t ask_for_pods(struct ncs_agents *agents, uint64_t now_ns)
{
	const struct timespec step = { .tv_nsec = 5000000 };

	now_ns += 4 * SECOND_NS;
	agents->sink = &sink;
	do {
		ncs_agents_watch_pods(agents, now_ns);
		nanosleep(&step, NULL);
	} while (agents->asks_pods);
	agents->sink = NULL;
	return now_ns;
}

static void a_pod_that_stays_away_is_gone(void **state)
{
	struct ncs_agents *agents;
	uint64_t now_ns = ncs_clock_monotonic_ns(), away_ns;

	(void)state;
	/* Nobody gets into the pods. */
	script("kubectl", "case \"$*\" in\n"
			  "*get*) cat ${0%/*}/pods ;;\n"
			  "*) exit 1 ;;\n"
			  "esac");
	put_file("pods", "ml/w-0 Running");
	agents = open_agents(NCS_AGENTS_BY_KUBE, "app=train");
	now_ns = ask_for_pods(agents, now_ns);
	now_ns = ask_for_pods(agents, now_ns);
	put_file("pods", "ml/w-1 Running");
	away_ns = now_ns = ask_for_pods(agents, now_ns);
	assert_string_equal(told.nodes[0].name, "w-0");
	assert_int_equal(told.nodes[0].state, NCS_NODE_ENDED);
	while (now_ns - away_ns < 56 * SECOND_NS) {
		assert_int_equal(told.nodes[0].state, NCS_NODE_ENDED);
		now_ns = ask_for_pods(agents, now_ns);
	}
	now_ns = ask_for_pods(agents, now_ns);
	assert_int_equal(told.nodes[0].state, NCS_NODE_GONE);
	assert_non_null(strstr(told.nodes[0].why, "does not run any more"));
	assert_int_not_equal(told.nodes[1].state, NCS_NODE_GONE);
	/* It comes back, and goes again. */
	put_file("pods", "ml/w-0 Running");
	now_ns = ask_for_pods(agents, now_ns);
	assert_false(agents->launchers[0]->is_gone);
	put_file("pods", "ml/w-1 Running");
	now_ns = ask_for_pods(agents, now_ns);
	assert_int_equal(told.nodes[0].state, NCS_NODE_ENDED);
	ncs_agents_close(agents);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(lines_of_a_command_come_to_their_nodes),
		cmocka_unit_test(messages_of_a_command_judge_their_nodes),
		cmocka_unit_test(reason_that_comes_after_the_status_counts),
		cmocka_unit_test(thousand_nodes_come_through_one_pipe),
		cmocka_unit_test(lists_in_messages_are_expanded_up_to_a_limit),
		cmocka_unit_test(messages_name_any_number_of_nodes),
		cmocka_unit_test(last_message_of_a_command_is_kept),
		cmocka_unit_test(each_failure_of_ssh_has_a_state),
		cmocka_unit_test(close_lets_ssh_end_by_itself),
		cmocka_unit_test(launcher_that_is_missing_is_said),
		cmocka_unit_test(bad_targets_are_refused_in_words),
		cmocka_unit_test(a_node_with_too_many_messages_is_told),
		cmocka_unit_test(step_of_slurm_has_one_task_a_node),
		cmocka_unit_test(
			job_in_an_array_is_named_to_srun_by_its_number),
		cmocka_unit_test(components_of_a_job_are_one_step),
		cmocka_unit_test(a_step_tells_of_its_nodes_once),
		cmocka_unit_test(pods_are_asked_one_by_one),
		cmocka_unit_test(pods_may_come_and_go),
		cmocka_unit_test(a_pod_that_stays_away_is_gone),
		cmocka_unit_test(stubborn_processes_are_killed_at_the_end),
		cmocka_unit_test(without_a_guard_stubborn_processes_are_killed),
		cmocka_unit_test(guard_outlives_the_program),
		cmocka_unit_test(a_guard_that_was_killed_is_replaced),
	};

	signal(SIGPIPE, SIG_IGN);
	return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
