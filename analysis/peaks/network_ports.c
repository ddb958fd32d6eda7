/* SPDX-License-Identifier: MIT */
/* Peak bandwidth and counters of network ports; see network_ports.h. */
#include "analysis/peaks/network_ports.h"

#include <glob.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
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

/* --- Counters ------------------------------------------------------------- */

/* Counts what nothing but a bad cable, port or cooling makes. */
static uint64_t rdma_port_errors(const char *port)
{
	static const char *const names[] = {
		"counters/symbol_error",
		"counters/link_error_recovery",
		"counters/link_downed",
		"counters/local_link_integrity_errors",
	};
	uint64_t errors = 0;
	char text[64];

	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++)
		if (read_line(port, names[i], text, sizeof(text)))
			errors += strtoull(text, NULL, 10);
	return errors;
}

/* Takes the values of the second of two lines that begin with "Tcp:", the first of
 * which has their names. */
static void count_tcp(const char *proc, struct ncs_ports *counters)
{
	char path[PATH_BYTES], names[1024], values[1024];
	char *name = names, *value = values, *one;
	FILE *file;

	snprintf(path, sizeof(path), "%s/net/snmp", proc);
	file = fopen(path, "re");
	if (!file)
		return;
	do {
		names[0] = values[0] = '\0';
	} while (fgets(names, sizeof(names), file) &&
		 fgets(values, sizeof(values), file) &&
		 strncmp(values, "Tcp:", 4) != 0);
	fclose(file);
	while ((one = strsep(&name, " \n")) && value) {
		uint64_t number = strtoull(strsep(&value, " \n"), NULL, 10);

		if (strcmp(one, "OutSegs") == 0)
			counters->sent = number;
		else if (strcmp(one, "RetransSegs") == 0)
			counters->resent = number;
	}
}

void ncs_network_count(const char *sys, const char *proc,
		       struct ncs_ports *counters)
{
	char pattern[PATH_BYTES], state[64];
	glob_t found;

	*counters = (struct ncs_ports){ .ports = 0 };
	count_tcp(proc, counters);
	snprintf(pattern, sizeof(pattern), "%s/class/infiniband/*/ports/*",
		 sys);
	if (glob(pattern, 0, NULL, &found) != 0)
		return;
	for (size_t i = 0; i < found.gl_pathc; i++) {
		counters->ports++;
		counters->errors += rdma_port_errors(found.gl_pathv[i]);
		if (read_line(found.gl_pathv[i], "state", state, sizeof(state)))
			counters->down += !strstr(state, "ACTIVE");
	}
	globfree(&found);
}
