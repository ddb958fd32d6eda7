/* SPDX-License-Identifier: MIT */
/* Names of containers and pods in the paths of cgroups. */
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "ncclstat/abi_header.h"
#include "shm/labels.h"
#include "shm/read/containers.h"
#include "test/unit/support/unit.h"

#define ID "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"
#define POD "1234abcd-12ab-34cd-56ef-0123456789ab"
#define POD_SYSTEMD "1234abcd_12ab_34cd_56ef_0123456789ab"

TEST(cgroups_name_containers_and_pods)
{
	static const struct {
		const char *cgroup, *container, *pod;
	} cases[] = {
		{ "0::/system.slice/docker-" ID ".scope",
		  "docker 0123456789ab", NULL },
		{ "4:memory:/docker/" ID, "docker 0123456789ab", NULL },
		{ "0::/machine.slice/libpod-" ID ".scope/container",
		  "podman 0123456789ab", NULL },
		{ "0::/kubepods.slice/kubepods-pod" POD_SYSTEMD
		  ".slice/cri-containerd-" ID ".scope",
		  "containerd 0123456789ab", POD },
		{ "0::/kubepods.slice/kubepods-burstable.slice/"
		  "kubepods-burstable-pod" POD_SYSTEMD ".slice/crio-" ID
		  ".scope",
		  "cri-o 0123456789ab", POD },
		{ "5:cpu:/kubepods/besteffort/pod" POD "/" ID, "0123456789ab",
		  POD },
		{ "0::/user.slice/user-1000.slice", NULL, NULL },
		{ "0::/docker-0123.scope", NULL, NULL },
		{ "0::/podinfo/pod" POD, NULL, NULL },
		{ "", NULL, NULL },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct ncs_labels labels = { 0 };
		const char *container, *pod;

		ncs_container_labels_of(&labels, cases[i].cgroup);
		container = ncs_labels_value(labels.text, "container");
		pod = ncs_labels_value(labels.text, "pod_uid");
		assert_int_equal(!container, !cases[i].container);
		assert_int_equal(!pod, !cases[i].pod);
		if (container)
			assert_string_equal(container, cases[i].container);
		if (pod)
			assert_string_equal(pod, cases[i].pod);
	}
}

TEST(a_process_of_this_namespace_has_its_own_number)
{
	struct stat status;

	assert_int_equal(stat("/proc/self/ns/pid", &status), 0);
	assert_int_equal(ncs_container_pid_here(status.st_ino,
						(uint32_t)getpid()),
			 getpid());
	assert_int_equal(ncs_container_pid_here(1, (uint32_t)getpid()), 0);
}
