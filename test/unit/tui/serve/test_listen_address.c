/* SPDX-License-Identifier: MIT */
/* Sockets for metrics: only what other machines cannot reach is opened. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "test/unit/support/unit.h"
#include "tui/serve/listen_address.h"

static struct ncs_listening listening;
static char why[600];

static int open_at(const char *address)
{
	why[0] = '\0';
	return ncs_listening_open(&listening, address, why, sizeof(why));
}

TEST(addresses_that_others_reach_are_refused)
{
	static const char *const addresses[] = {
		"0.0.0.0:9400", "[::]:9400",	     "10.0.0.1:9400",
		":9400",	"9400",		     "*:9400",
		"::1:9400",	"node7:9400",	     "127.0.0.1",
		"127.0.0.1:",	"127.0.0.1:65536",   "127.0.0.1:-1",
		"127.0.0.1:1x", "127.0.0.1.2:9400", "128.0.0.1:0",
	};

	for (size_t i = 0; i < sizeof(addresses) / sizeof(addresses[0]); i++) {
		assert_int_equal(open_at(addresses[i]), -EINVAL);
		assert_int_equal(listening.socket, -1);
		/* It says which ways there are. */
		assert_non_null(strstr(why, addresses[i]));
		assert_non_null(strstr(why, "--textfile"));
		assert_non_null(strstr(why, "exporter_exporter"));
	}
}

TEST(loopback_is_opened)
{
	assert_int_equal(open_at("127.0.0.1:0"), 0);
	assert_string_equal(listening.path, "");
	assert_true(listening.is_port);
	close(listening.socket);
	assert_int_equal(open_at("localhost:0"), 0);
	close(listening.socket);
}

TEST(a_socket_file_is_made_and_removed)
{
	char folder[] = "/tmp/ncclstat-listen.XXXXXX", path[64], lost[64];
	struct ncs_listening first;
	struct stat found;

	assert_non_null(mkdtemp(folder));
	snprintf(path, sizeof(path), "%s/socket", folder);
	snprintf(lost, sizeof(lost), "%s/none/socket", folder);
	assert_int_equal(open_at(lost), -ENOENT);
	assert_int_equal(open_at(path), 0);
	first = listening;
	/* Somebody listens: it is not taken away. */
	assert_int_equal(open_at(path), -EADDRINUSE);
	assert_int_equal(stat(path, &found), 0);
	/* Nobody does any more: it is replaced. */
	close(first.socket);
	assert_int_equal(open_at(path), 0);
	close(listening.socket);
	ncs_listening_remove(&listening);
	assert_int_equal(stat(path, &found), -1);
	/* Another's file is left alone. */
	fclose(fopen(path, "w"));
	assert_int_equal(open_at(path), -EADDRINUSE);
	assert_int_equal(unlink(path), 0);
	assert_int_equal(rmdir(folder), 0);
}

TEST(a_socket_file_is_for_its_user_and_a_group_that_is_named)
{
	char folder[] = "/tmp/ncclstat-listen.XXXXXX", path[64], group[16];
	mode_t mask = umask(0);
	struct stat found;

	assert_non_null(mkdtemp(folder));
	snprintf(path, sizeof(path), "%s/socket", folder);
	unsetenv("NCCLSTAT_GROUP");
	assert_int_equal(open_at(path), 0);
	assert_false(listening.is_port);
	assert_int_equal(stat(path, &found), 0);
	assert_int_equal(found.st_mode & 07777, 0600);
	ncs_listening_remove(&listening);
	close(listening.socket);
	/* Root may name any group, others one of theirs. */
	snprintf(group, sizeof(group), "%u",
		 geteuid() == 0 ? 54321u : (unsigned)getegid());
	setenv("NCCLSTAT_GROUP", group, 1);
	assert_int_equal(open_at(path), 0);
	assert_int_equal(stat(path, &found), 0);
	assert_int_equal(found.st_mode & 07777, 0660);
	assert_int_equal(found.st_gid, atol(group));
	ncs_listening_remove(&listening);
	close(listening.socket);
	setenv("NCCLSTAT_GROUP", "no-such-group", 1);
	assert_int_equal(open_at(path), -EINVAL);
	assert_non_null(strstr(why, "no such group"));
	assert_int_equal(listening.socket, -1);
	assert_int_equal(stat(path, &found), -1);
	unsetenv("NCCLSTAT_GROUP");
	umask(mask);
	assert_int_equal(rmdir(folder), 0);
}

TEST(a_path_may_be_too_long)
{
	char path[200];

	memset(path, 'x', sizeof(path) - 1);
	path[0] = '/';
	path[sizeof(path) - 1] = '\0';
	assert_int_equal(open_at(path), -ENAMETOOLONG);
}

TEST(systemd_must_have_passed_a_socket)
{
	char pid[24];

	unsetenv("LISTEN_PID");
	assert_int_equal(open_at("systemd"), -EINVAL);
	assert_non_null(strstr(why, ".socket"));
	snprintf(pid, sizeof(pid), "%ld", (long)getpid() + 1);
	setenv("LISTEN_PID", pid, 1);
	setenv("LISTEN_FDS", "1", 1);
	assert_int_equal(open_at("systemd"), -EINVAL);
	assert_non_null(strstr(why, ".socket"));
}
