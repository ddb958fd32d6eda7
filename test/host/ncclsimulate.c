/* SPDX-License-Identifier: MIT */
/* Writes recordings of a simulated job on several hosts, for trying out
 * programs that read them; see simulated_hosts.h. */
#include <errno.h>
#include <getopt.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "test/unit/support/simulated_hosts.h"

/* The most that an option can count. */
#define COUNT_MAX 1e6

enum { HELP = 256 };

static const struct option long_options[] = {
	{ "help", no_argument, NULL, HELP },
	{ NULL, 0, NULL, 0 },
};

static const char usage[] =
	"usage: ncclsimulate [options] DIRECTORY\n"
	"\n"
	"Writes DIRECTORY/host0.ncclstat and so on, recordings of a job that is\n"
	"computed, and tells what is true of it.\n"
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
	"  -w SKEW      the clocks are apart by up to so many ms (5000)\n"
	"  -d PPM       … and drift by up to that (100)\n"
	"  --help       this list\n";

static void print_truth(const struct simulated_hosts *hosts)
{
	for (unsigned i = 0; i < hosts->options.hosts; i++) {
		double moved = (double)simulated_clock_ns(hosts, 0, 0) -
			       (double)simulated_clock_ns(hosts, i, 0);
		double drift = (1 + hosts->host[0].drift) /
				       (1 + hosts->host[i].drift) -
			       1;

		printf("%s: clock to be moved by %+.9f s, drift %+.3f ppm\n",
		       hosts->host[i].path, moved / 1e9, drift * 1e6);
	}
	printf("%.3f s, %" PRIu64 " records, %" PRIu64
	       " messages between hosts\n",
	       (double)hosts->end_ns / 1e9, hosts->records, hosts->messages);
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
static bool read_late_rank(struct simulated_options *options, const char *text)
{
	const char *colon = strchr(text, ':');
	double rank, us;
	char *end;

	rank = strtod(text, &end);
	if (end == text || end != colon || !(rank >= 0 && rank <= COUNT_MAX) ||
	    !read_number(colon + 1, 0, 1e9, &us))
		return false;
	options->late_rank = (unsigned)rank;
	options->late_ns = (uint64_t)(us * 1e3);
	return true;
}

static bool take(struct simulated_options *options, int option,
		 const char *text)
{
	double number;

	if (option == 'l')
		return read_late_rank(options, text);
	if (!read_number(text, strchr("hrc", option) ? 1 : 0,
			 option == 'b' ? 1e15 : COUNT_MAX, &number))
		return false;
	switch (option) {
	case 's':
		options->seed = (uint64_t)number;
		break;
	case 'h':
		options->hosts = (unsigned)number;
		break;
	case 'r':
		options->ranks = (unsigned)number;
		break;
	case 'c':
		options->channels = (unsigned)number;
		break;
	case 'n':
		options->operations = (unsigned)number;
		break;
	case 'b':
		options->bytes = (uint64_t)number;
		break;
	case 't':
		options->compute_ns = (uint64_t)(number * 1e6);
		break;
	case 'k':
		options->has_credits = number == 0;
		break;
	case 'w':
		options->skew_ns = (uint64_t)(number * 1e6);
		break;
	case 'd':
		options->drift = number / 1e6;
		break;
	}
	return true;
}

int main(int argc, char **argv)
{
	struct simulated_options options = simulated_defaults();
	struct simulated_hosts hosts;
	char why[512];
	int option, error;

	while ((option = getopt_long(argc, argv, "s:h:r:c:n:b:t:l:k:w:d:",
				     long_options, NULL)) != -1) {
		if (option == HELP) {
			fputs(usage, stdout);
			return 0;
		}
		/* getopt_long() has said what is wrong. */
		if (option == '?' || !take(&options, option, optarg)) {
			fputs(usage, stderr);
			return 2;
		}
	}
	if (argc != optind + 1) {
		fputs(usage, stderr);
		return 2;
	}
	error = simulated_hosts_write(&options, argv[optind], &hosts, why,
				      sizeof(why));
	if (error) {
		fprintf(stderr, "ncclsimulate: %s\n",
			why[0] ? why : strerror(-error));
		return 1;
	}
	print_truth(&hosts);
	return 0;
}
