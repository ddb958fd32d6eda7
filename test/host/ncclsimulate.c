/* SPDX-License-Identifier: MIT */
/* Writes recordings of a simulated job on several hosts, or the streams of its
 * agents, for trying out programs that read them; see sim_recording.h and
 * sim_stream.h in test/unit/support/simulator. */
#include <errno.h>
#include <getopt.h>
#include <inttypes.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "fleet/launch/lines.h"
#include "ncclstat/names.h"
#include "shm/clock.h"
#include "test/unit/support/simulator/sim_recording.h"
#include "test/unit/support/simulator/sim_stream.h"

/* The most that an option can count. */
#define COUNT_MAX 1e6

#define SECOND_NS UINT64_C(1000000000)

/* The job's age at the first look of a stream; and since when a rank makes no
 * more calls. */
#define AGE_NS (60 * SECOND_NS)
#define MISSING_NS (30 * SECOND_NS)

enum { HELP = 256 };

static const struct option long_options[] = {
	{ "help", no_argument, NULL, HELP },
	{ NULL, 0, NULL, 0 },
};

static const char usage[] =
	"usage: ncclsimulate [options] DIRECTORY\n"
	"       ncclsimulate -S SECONDS [options] DIRECTORY|-\n"
	"\n"
	"Writes DIRECTORY/host0.ncclstat and so on, recordings of a job that is\n"
	"computed, and tells what is true of it. With -S it writes what agents\n"
	"(ncclstat --stream) would, a look a second: DIRECTORY/node0000.ncclstat\n"
	"and so on, all at once; or \"-\", lines to standard output as time\n"
	"passes, as --stream=packed has them, for ncclstat --follow -.\n"
	"\n"
	"  -s SEED      another job (1)\n"
	"  -h HOSTS     (4)\n"
	"  -r RANKS     on each host (2)\n"
	"  -c CHANNELS  (2)\n"
	"  -n COUNT     of operations (300)\n"
	"  -b BYTES     of an AllReduce (16777216)\n"
	"  -t MS        of computing between two (8)\n"
	"  -l RANK:US   this rank comes so much later\n"
	"  -k SOCKETS   hosts are connected by sockets: no credits (0)\n"
	"  -u           hosts are connected by NVLink, in trees: nothing tells\n"
	"               how far their clocks are apart\n"
	"  -w SKEW      the clocks are apart by up to so many ms (5000)\n"
	"  -d PPM       … and drift by up to that (100)\n"
	"  -S SECONDS   streams of that length; of the options above they have\n"
	"               -s -h -r -c -b -t -w\n"
	"  -R           … with records of all operations, and all options above\n"
	"               but -n; up to 64 hosts, to standard output only\n"
	"  -o HOST      … and only those of this host, from 0 on\n"
	"  -g RANKS     … and of each smaller communicator, some to a host or of\n"
	"               whole hosts: 0 for none (0)\n"
	"  -m RANK      … that made its last call 30 s before the first look\n"
	"  --help       this list\n";

struct settings {
	struct sim_options job;
	unsigned hosts;
	unsigned seconds; /* of streams; 0: recordings */
	bool has_records; /* the streams have */
	unsigned only;    /* the host whose looks are written; UINT_MAX: all */
	unsigned group;
	unsigned missing_rank; /* UINT_MAX: none */
};

/* Returns how long a second of the job takes by a host's clock, in ns. */
static double second_ns(const struct sim_recording *job, unsigned host)
{
	return (double)(sim_recording_clock_ns(job, host, SECOND_NS) -
			sim_recording_clock_ns(job, host, 0));
}

static void print_truth(const struct sim_recording *job)
{
	for (unsigned i = 0; i < job->hosts; i++) {
		double moved = (double)sim_recording_clock_ns(job, 0, 0) -
			       (double)sim_recording_clock_ns(job, i, 0);
		double drift = second_ns(job, 0) / second_ns(job, i) - 1;

		printf("%s: clock to be moved by %+.9f s, drift %+.3f ppm\n",
		       job->path[i], moved / 1e9, drift * 1e6);
	}
	printf("%.3f s, %" PRIu64 " records, %" PRIu64
	       " messages between hosts\n",
	       (double)job->end_ns / 1e9, job->records,
	       job->source->job.messages);
}

/* Reads a number from `least` to `most`. */
static bool read_number(const char *text, double least, double most,
			double *number)
{
	char *end;

	*number = strtod(text, &end);
	return end != text && *end == '\0' && *number >= least &&
	       *number <= most;
}

/* Reads RANK:US. */
static bool read_late_rank(struct sim_options *options, const char *text)
{
	const char *colon = strchr(text, ':');
	double rank, us;
	char *end;

	rank = strtod(text, &end);
	if (end == text || end != colon || !(rank >= 0 && rank <= COUNT_MAX) ||
	    !read_number(colon + 1, 0, 1e9, &us))
		return false;
	options->fault = SIM_HOST;
	options->victim = (unsigned)rank;
	options->fault_size = us * 1e3;
	return true;
}

static bool take(struct settings *settings, int option, const char *text)
{
	struct sim_options *options = &settings->job;
	double number;

	if (option == 'l')
		return read_late_rank(options, text);
	if (option == 'R')
		return settings->has_records = true;
	if (option == 'u') {
		options->is_nvlink = true;
		options->algorithm = NCS_ALGORITHM_TREE;
		return true;
	}
	if (!read_number(text, strchr("hrcS", option) ? 1 : 0,
			 option == 'b' ? 1e15 : COUNT_MAX, &number))
		return false;
	switch (option) {
	case 's':
		options->seed = (uint64_t)number;
		break;
	case 'h':
		settings->hosts = (unsigned)number;
		break;
	case 'r':
		options->ranks_per_host = (unsigned)number;
		break;
	case 'c':
		options->channels = (unsigned)number;
		break;
	case 'n':
		options->steps = (unsigned)number;
		break;
	case 'b':
		options->bytes = (uint64_t)number;
		break;
	case 't':
		options->gap_ns = number * 1e6;
		break;
	case 'k':
		options->is_socket = number != 0;
		break;
	case 'w':
		options->skew_ns = number * 1e6;
		break;
	case 'd':
		options->drift = number / 1e6;
		break;
	case 'o':
		settings->only = (unsigned)number;
		break;
	case 'S':
		settings->seconds = (unsigned)number;
		break;
	case 'g':
		settings->group = (unsigned)number;
		break;
	case 'm':
		settings->missing_rank = (unsigned)number;
		break;
	}
	return true;
}

/* --- Streams -------------------------------------------------------------- */

/* Whether streams can be made with these settings. */
static bool check_streams(const struct settings *settings, const char *where)
{
	const struct sim_options *options = &settings->job;
	unsigned group = settings->group, node = options->ranks_per_host;

	if (settings->has_records &&
	    (settings->hosts > SIM_HOSTS_MAX || strcmp(where, "-") != 0)) {
		fprintf(stderr,
			"ncclsimulate: streams with records have up to %u hosts,"
			" and go to \"-\"\n",
			SIM_HOSTS_MAX);
		return false;
	}
	if (group > 0 && (node % group != 0 &&
			  (group % node != 0 || options->ranks % group != 0))) {
		fprintf(stderr,
			"ncclsimulate: smaller communicators divide a host, or"
			" consist of hosts\n");
		return false;
	}
	if (settings->hosts > SIM_NODES_MAX ||
	    options->channels > SIM_CHANNELS_MAX || options->gap_ns < 1000) {
		fprintf(stderr,
			"ncclsimulate: streams have up to %u hosts and %u"
			" channels, and 0.001 ms or more between operations\n",
			SIM_NODES_MAX, SIM_CHANNELS_MAX);
		return false;
	}
	return true;
}

static bool write_lines(struct ncs_line_writer *lines, const char *bytes,
			size_t size)
{
	while (size > 0) {
		char line[NCS_LINE_PADDED];
		size_t length;
		size_t taken = ncs_line_put(lines, bytes, size, line, &length);

		if (fwrite(line, 1, length, stdout) != length)
			return false;
		bytes += taken;
		size -= taken;
	}
	return fflush(stdout) == 0;
}

static void wait_until(uint64_t due_ns)
{
	const struct timespec due = {
		.tv_sec = (time_t)(due_ns / SECOND_NS),
		.tv_nsec = (long)(due_ns % SECOND_NS),
	};

	while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &due, NULL) ==
	       EINTR)
		;
}

/* Writes the looks of all nodes in turn, each when it is due. */
static int write_paced(struct sim_stream *streams,
		       const struct settings *settings)
{
	unsigned nodes = settings->hosts;
	struct ncs_line_writer *lines = calloc(nodes, sizeof(*lines));
	uint64_t begun_ns = ncs_clock_monotonic_ns();
	int error = lines ? 0 : -ENOMEM;

	for (unsigned i = 0; lines && i < nodes; i++)
		ncs_line_writer_init(&lines[i], sim_stream_name(streams, i),
				     UINT32_C(0x51a10000) + i, 0);
	for (uint64_t i = 0; i < (uint64_t)nodes * settings->seconds && !error;
	     i++) {
		uint64_t after_ns = i * SECOND_NS / nodes;
		const void *bytes;
		size_t size;

		wait_until(begun_ns + after_ns);
		error = sim_stream_look(streams, (unsigned)(i % nodes),
					AGE_NS + after_ns, &bytes, &size);
		if (!error && !write_lines(&lines[i % nodes], bytes, size))
			error = -errno;
	}
	free(lines);
	return error;
}

/* Adds a look at a node to its file; the first one begins it. */
static int write_file(struct sim_stream *streams, unsigned look, unsigned node,
		      const char *directory)
{
	char path[4096];
	const void *bytes;
	size_t size;
	FILE *file;
	int error = sim_stream_look(streams, node, AGE_NS + look * SECOND_NS,
				    &bytes, &size);

	snprintf(path, sizeof(path), "%s/%s.ncclstat", directory,
		 sim_stream_name(streams, node));
	file = fopen(path, look > 0 ? "ae" : "we");
	if (!file)
		return -errno;
	if (!error && fwrite(bytes, 1, size, file) != size)
		error = -errno;
	if (fclose(file) != 0 && !error)
		error = -errno;
	return error;
}

/* A job whose looks are written as time passes. */
struct paced {
	uint64_t begun_ns;
	unsigned only;
	struct ncs_line_writer lines[SIM_HOSTS_MAX];
};

static int write_look(void *context, unsigned host, uint64_t true_ns,
		      const void *bytes, size_t size)
{
	struct paced *paced = context;

	if (paced->only != UINT_MAX && host != paced->only)
		return 0;
	wait_until(paced->begun_ns + true_ns);
	return write_lines(&paced->lines[host], bytes, size) ? 0 : -errno;
}

static int write_with_records(const struct settings *settings)
{
	struct sim_options options = settings->job;
	struct paced paced = { .begun_ns = ncs_clock_monotonic_ns(),
			       .only = settings->only };
	struct sim_recording job;
	int error;

	/* CLOCK_REALTIME is not this machine's. */
	options.realtime_error_ns = 0;
	for (unsigned i = 0; i < settings->hosts; i++) {
		char name[16];

		snprintf(name, sizeof(name), "node%04u", i);
		ncs_line_writer_init(&paced.lines[i], name,
				     UINT32_C(0x51a10000) + i, 0);
	}
	error = sim_recording_stream(&job, &options, SECOND_NS,
				     settings->seconds * SECOND_NS, write_look,
				     &paced);
	sim_recording_release(&job);
	return error;
}

static int write_streams(const struct settings *settings, const char *directory)
{
	const struct sim_options *options = &settings->job;
	bool is_paced = strcmp(directory, "-") == 0;
	struct sim_stream *streams;
	struct timespec realtime;
	int error = 0;

	clock_gettime(CLOCK_REALTIME, &realtime);
	streams = sim_stream_new(&(struct sim_stream_options){
		.seed = options->seed,
		.nodes = settings->hosts,
		.ranks = options->ranks_per_host,
		.group = settings->group,
		.channels = options->channels,
		.bytes = options->bytes,
		.period_ns = (uint64_t)options->gap_ns,
		.missing_rank = settings->missing_rank,
		.missing_ns = MISSING_NS,
		.begun_ns = ncs_clock_monotonic_ns() - AGE_NS,
		.realtime_ns = (uint64_t)realtime.tv_sec * SECOND_NS +
			       (uint64_t)realtime.tv_nsec - AGE_NS,
		.skew_ns = (uint64_t)options->skew_ns,
		.interval_ns = SECOND_NS,
		.is_packed = is_paced,
	});
	if (!streams)
		return -ENOMEM;
	if (is_paced)
		error = write_paced(streams, settings);
	for (unsigned i = 0; !is_paced && i < settings->seconds; i++)
		for (unsigned k = 0; k < settings->hosts && !error; k++)
			error = write_file(streams, i, k, directory);
	sim_stream_free(streams);
	return error;
}

int main(int argc, char **argv)
{
	struct settings settings = { .job = sim_steps(4, 2),
				     .hosts = 4,
				     .only = UINT_MAX,
				     .missing_rank = UINT_MAX };
	struct sim_options *job = &settings.job;
	struct sim_recording recorded;
	char why[512] = "";
	int option, error;

	while ((option = getopt_long(argc, argv,
				     "s:h:r:c:n:b:t:l:k:uw:d:S:Ro:g:m:",
				     long_options, NULL)) != -1) {
		if (option == HELP) {
			fputs(usage, stdout);
			return 0;
		}
		/* getopt_long() has said what is wrong. */
		if (option == '?' || !take(&settings, option, optarg)) {
			fputs(usage, stderr);
			return 2;
		}
	}
	if (argc != optind + 1) {
		fputs(usage, stderr);
		return 2;
	}
	job->ranks = settings.hosts * job->ranks_per_host;
	/* A rank that there is not cannot be late. */
	if (job->victim >= job->ranks) {
		job->victim = 0;
		job->fault = SIM_HEALTHY;
	}
	if (settings.seconds > 0 && !check_streams(&settings, argv[optind]))
		return 2;
	error = settings.seconds > 0 && settings.has_records ?
			write_with_records(&settings) :
		settings.seconds > 0 ?
			write_streams(&settings, argv[optind]) :
			sim_recording_write(&recorded, &settings.job,
					    argv[optind], why, sizeof(why));
	if (error) {
		fprintf(stderr, "ncclsimulate: %s\n",
			why[0] ? why : strerror(-error));
		return 1;
	}
	if (settings.seconds == 0) {
		print_truth(&recorded);
		sim_recording_release(&recorded);
	}
	return 0;
}
