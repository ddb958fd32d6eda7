/* SPDX-License-Identifier: MIT */
/* Peak bandwidth of network ports; see network_ports.h. Called once, at the start of
 * a view. */
#include "analysis/peaks/network_ports.h"

#include <glob.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#define PATH_BYTES 512
/* Bits per second in GB/s. */
#define BITS_OF_A_GIGABYTE 8e9

/* Reads the first line of a file in a folder. Returns false if there is none. */
static bool read_line(const char *folder, const char *name, char *text,
		      int size)
{
	char path[PATH_BYTES];
	FILE *file;
	bool is_read;

	snprintf(path, sizeof(path), "%s/%s", folder, name);
	file = fopen(path, "re");
	if (!file)
		return false;
	is_read = fgets(text, size, file) != NULL;
	fclose(file);
	return is_read;
}

/* "400 Gb/sec (4X NDR)" of a port whose state is "4: ACTIVE" */
static double rdma_port_bits(const char *port)
{
	char text[128];
	double gigabits = 0;

	if (!read_line(port, "state", text, sizeof(text)) ||
	    !strstr(text, "ACTIVE") ||
	    !read_line(port, "rate", text, sizeof(text)) ||
	    sscanf(text, "%lf Gb/sec", &gigabits) != 1 || gigabits <= 0)
		return 0;
	return gigabits * 1e9;
}

/* Megabits per second of an interface that is up and has a device; bridges and
 * virtual ones have none. */
static double wired_port_bits(const char *interface)
{
	char text[128], path[PATH_BYTES];
	struct stat device;
	double megabits = 0;

	snprintf(path, sizeof(path), "%s/device", interface);
	if (stat(path, &device) != 0 ||
	    !read_line(interface, "operstate", text, sizeof(text)) ||
	    strncmp(text, "up", 2) != 0 ||
	    !read_line(interface, "speed", text, sizeof(text)) ||
	    sscanf(text, "%lf", &megabits) != 1 || megabits <= 0)
		return 0;
	return megabits * 1e6;
}

double ncs_network_peak(const char *sys)
{
	double rdma = 0, wired = 0;
	char pattern[PATH_BYTES];
	glob_t found;

	snprintf(pattern, sizeof(pattern), "%s/class/infiniband/*/ports/*",
		 sys);
	if (glob(pattern, 0, NULL, &found) == 0) {
		for (size_t i = 0; i < found.gl_pathc; i++)
			rdma += rdma_port_bits(found.gl_pathv[i]);
		globfree(&found);
	}
	snprintf(pattern, sizeof(pattern), "%s/class/net/*", sys);
	if (rdma <= 0 && glob(pattern, 0, NULL, &found) == 0) {
		for (size_t i = 0; i < found.gl_pathc; i++) {
			double bits = wired_port_bits(found.gl_pathv[i]);

			wired = bits > wired ? bits : wired;
		}
		globfree(&found);
	}
	return (rdma > 0 ? rdma : wired) / BITS_OF_A_GIGABYTE;
}
