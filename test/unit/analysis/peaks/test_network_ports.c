/* SPDX-License-Identifier: MIT */
/* The peak of the network ports, read from a folder like /sys. */
#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "analysis/peaks/network_ports.h"
#include "test/unit/support/unit.h"

static char sys[64];

static int setup(void **state)
{
	(void)state;
	snprintf(sys, sizeof(sys), "/tmp/ncclstat-sys.XXXXXX");
	return mkdtemp(sys) ? 0 : -1;
}

static int remove_one(const char *path, const struct stat *status, int type,
		      struct FTW *place)
{
	(void)status;
	(void)type;
	(void)place;
	return remove(path);
}

static int teardown(void **state)
{
	(void)state;
	return nftw(sys, remove_one, 16, FTW_DEPTH | FTW_PHYS);
}

/* Writes a file below the folder, and makes the folders that it is in. */
static void put(const char *name, const char *text)
{
	char path[256];
	FILE *file;

	snprintf(path, sizeof(path), "%s/%s", sys, name);
	for (char *slash = strchr(path + strlen(sys) + 1, '/'); slash;
	     slash = strchr(slash + 1, '/')) {
		*slash = '\0';
		mkdir(path, 0700);
		*slash = '/';
	}
	file = fopen(path, "we");
	assert_non_null(file);
	fputs(text, file);
	assert_int_equal(fclose(file), 0);
}

static void put_rdma(const char *port, const char *state, const char *rate)
{
	char name[128];

	snprintf(name, sizeof(name), "class/infiniband/%s/state", port);
	put(name, state);
	snprintf(name, sizeof(name), "class/infiniband/%s/rate", port);
	put(name, rate);
}

static void put_wired(const char *interface, const char *state,
		      const char *speed, int has_device)
{
	char name[128];

	snprintf(name, sizeof(name), "class/net/%s/operstate", interface);
	put(name, state);
	snprintf(name, sizeof(name), "class/net/%s/speed", interface);
	put(name, speed);
	snprintf(name, sizeof(name), "class/net/%s/device/vendor", interface);
	if (has_device)
		put(name, "0x15b3\n");
}

static void assert_peak(double wanted)
{
	double peak = ncs_network_peak(sys);

	if (peak < wanted - 1e-9 || peak > wanted + 1e-9)
		fail_msg("%.9g is not %.9g", peak, wanted);
}

UNIT_FIXTURE(setup, teardown)

TEST(nothing_is_known_without_ports)
{
	assert_peak(0);
}

TEST(active_ports_add_up)
{
	put_rdma("mlx5_0/ports/1", "4: ACTIVE\n", "400 Gb/sec (4X NDR)\n");
	put_rdma("mlx5_1/ports/1", "4: ACTIVE\n", "400 Gb/sec (4X NDR)\n");
	put_rdma("mlx5_2/ports/1", "1: DOWN\n", "400 Gb/sec (4X NDR)\n");
	put_wired("eth0", "up\n", "100000\n", 1);
	assert_peak(100);
}

TEST(fastest_wired_port_counts_alone)
{
	put_wired("eth0", "up\n", "10000\n", 1);
	put_wired("eth1", "up\n", "100000\n", 1);
	put_wired("eth2", "down\n", "200000\n", 1);
	put_wired("bond0", "up\n", "400000\n", 0);
	assert_peak(12.5);
}

TEST(unknown_speeds_are_left_out)
{
	put_wired("eth0", "up\n", "-1\n", 1);
	put_rdma("mlx5_0/ports/1", "4: ACTIVE\n", "unknown\n");
	assert_peak(0);
}

TEST(troubles_of_ports_are_counted)
{
	struct ncs_ports counters;

	put_rdma("mlx5_0/ports/1", "4: ACTIVE\n", "400 Gb/sec (4X NDR)\n");
	put_rdma("mlx5_1/ports/1", "1: DOWN\n", "10 Gb/sec (4X SDR)\n");
	put("class/infiniband/mlx5_0/ports/1/counters/symbol_error", "7\n");
	put("class/infiniband/mlx5_0/ports/1/counters/link_downed", "2\n");
	put("class/infiniband/mlx5_1/ports/1/counters/symbol_error", "1\n");
	put("net/snmp", "Ip: Forwarding DefaultTTL\nIp: 1 64\n"
			"Tcp: RtoAlgorithm MaxConn InSegs OutSegs RetransSegs\n"
			"Tcp: 1 -1 900 1000 12\n");
	ncs_network_count(sys, sys, &counters);
	assert_int_equal(counters.ports, 2);
	assert_int_equal(counters.down, 1);
	assert_int_equal(counters.errors, 10);
	assert_int_equal(counters.sent, 1000);
	assert_int_equal(counters.resent, 12);
}

TEST(machine_without_counters_has_none)
{
	const struct ncs_ports none = { .ports = 0 };
	struct ncs_ports counters;

	ncs_network_count("/nowhere", "/nowhere", &counters);
	assert_memory_equal(&counters, &none, sizeof(none));
	/* A line may be cut, or be none. */
	put("net/snmp", "Tcp: OutSegs RetransSegs\nTcp: 5");
	ncs_network_count(sys, sys, &counters);
	assert_int_equal(counters.sent, 5);
	assert_int_equal(counters.resent, 0);
	put("net/snmp", "Tcp:");
	ncs_network_count(sys, sys, &counters);
	assert_int_equal(counters.sent, 0);
}
