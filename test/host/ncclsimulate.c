/* SPDX-License-Identifier: MIT */
/* Writes recordings of a simulated job on several hosts, for trying out
 * programs that read them; see simulated_hosts.h. */
#include <errno.h>
#include <getopt.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "test/unit/support/simulated_hosts.h"

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
	"  -d PPM       … and drift by up to that (100)\n";

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

static int take(struct simulated_options *options, int option, const char *text)
{
	double number = strtod(text, NULL);
	const char *colon = strchr(text, ':');

	switch (option) {
	case 's':
		options->seed = (uint64_t)number;
		return 0;
	case 'h':
		options->hosts = (unsigned)number;
		return 0;
	case 'r':
		options->ranks = (unsigned)number;
		return 0;
	case 'c':
		options->channels = (unsigned)number;
		return 0;
	case 'n':
		options->operations = (unsigned)number;
		return 0;
	case 'b':
		options->bytes = (uint64_t)number;
		return 0;
	case 't':
		options->compute_ns = (uint64_t)(number * 1e6);
		return 0;
	case 'l':
		options->late_rank = (unsigned)number;
		options->late_ns =
			colon ? (uint64_t)(strtod(colon + 1, NULL) * 1e3) : 0;
		return colon ? 0 : -EINVAL;
	case 'k':
		options->has_credits = number == 0;
		return 0;
	case 'w':
		options->skew_ns = (uint64_t)(number * 1e6);
		return 0;
	case 'd':
		options->drift = number / 1e6;
		return 0;
	default:
		return -EINVAL;
	}
}

int main(int argc, char **argv)
{
	struct simulated_options options = simulated_defaults();
	struct simulated_hosts hosts;
	char why[512];
	int option, error;

	while ((option = getopt(argc, argv, "s:h:r:c:n:b:t:l:k:w:d:")) != -1) {
		if (take(&options, option, optarg) != 0) {
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
