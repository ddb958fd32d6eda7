/* SPDX-License-Identifier: MIT */
/* The NVLinks and clocks of GPUs, read through a fake of NVIDIA's management library. */
#include <stdlib.h>
#include <string.h>

#include "analysis/peaks/nvlinks.h"

#include "ncclstat/abi_identity.h"
#include "test/unit/support/unit.h"

#define LIBRARY NCS_NEXT "/nvml/libnvidia-ml.so.1"
#define BARE_LIBRARY NCS_NEXT "/nvml-bare/libnvidia-ml.so.1"

static struct ncs_machine_peaks peaks;

/* Reads the GPUs that six numbers tell of; see fake_nvml.c. */
static void read_gpus(const char *library, const char *fake)
{
	struct ncs_nvml *nvml;

	memset(&peaks, 0xff, sizeof(peaks));
	setenv("FAKE_NVML", fake, 1);
	nvml = ncs_nvml_open(library);
	ncs_nvlinks_read(nvml, &peaks);
	ncs_clocks_read(nvml, &peaks);
	ncs_nvml_close(nvml);
}

static struct ncs_rank_peaks peaks_of(const char *gpu)
{
	struct ncs_identity identity = { .known = NCS_KNOWN_GPU };

	strncpy(identity.gpu, gpu, sizeof(identity.gpu) - 1);
	return ncs_machine_peaks_of_rank(&peaks, &identity);
}

TEST(speeds_of_a_gpu_are_added_up)
{
	read_gpus(LIBRARY, "8 18 26562 0 0 0");
	assert_int_equal(peaks.gpu_count, 8);
	for (unsigned i = 0; i < 8; i++) {
		assert_int_equal(peaks.gpus[i].nvlink_mb_s, 478116);
		assert_int_equal(peaks.gpus[i].reach, 0xff & ~(1u << i));
	}
	/* The rest stays. */
	assert_int_equal(peaks.network_mb_s, UINT64_MAX);
}

TEST(links_that_are_down_carry_nothing)
{
	read_gpus(LIBRARY, "2 18 26562 2 0 0");
	assert_int_equal(peaks.gpus[0].nvlink_mb_s, 16 * 26562);
	read_gpus(LIBRARY, "2 18 26562 18 0 0");
	assert_int_equal(peaks.gpus[0].nvlink_mb_s, 0);
	assert_int_equal(peaks.gpus[0].reach, 0);
}

TEST(gpus_without_links_have_no_peak)
{
	read_gpus(LIBRARY, "2 0 0 0 0 0");
	assert_int_equal(peaks.gpu_count, 2);
	assert_int_equal(peaks.gpus[1].nvlink_mb_s, 0);
}

TEST(gpu_that_no_link_reaches_is_told_apart)
{
	read_gpus(LIBRARY, "4 12 25000 0 3 0");
	assert_int_equal(peaks.gpus[0].reach, 0xa);
	assert_int_equal(peaks.gpus[2].reach, 0);
}

TEST(ranks_find_their_gpu_by_any_form_of_its_id)
{
	read_gpus(LIBRARY, "16 18 26562 0 0 0");
	assert_int_equal(peaks_of("0000:0A:00.0").own, 1 << 9);
	assert_int_equal(peaks_of("00000000:0a:00.0").own, 1 << 9);
	assert_int_equal(peaks_of("0000:0A:00.0").nvlink_mb_s, 478116);
	assert_int_equal(peaks_of("0001:0A:00.0").own, 0);
	assert_int_equal(peaks_of("0000:1A:00.0").own, 0);
	assert_int_equal(peaks_of("GPU 10").own, 0);
	assert_int_equal(peaks_of("").nvlink_mb_s, 0);
}

TEST(clocks_and_their_reasons_are_told_by_gpu)
{
	setenv("FAKE_CLOCKS", "2 1290 1980 4", 1);
	read_gpus(LIBRARY, "3 18 26562 0 0 0");
	assert_int_equal(peaks_of("0000:02:00.0").clock_mhz, 1290);
	assert_int_equal(peaks_of("0000:02:00.0").clock_most_mhz, 1980);
	assert_int_equal(peaks_of("0000:02:00.0").held_by, 4);
	assert_int_equal(peaks_of("0000:03:00.0").clock_mhz, 1980);
	assert_int_equal(peaks_of("0000:03:00.0").held_by, 0);
	unsetenv("FAKE_CLOCKS");
	read_gpus(LIBRARY, "3 18 26562 0 0 0");
	assert_int_equal(peaks_of("0000:02:00.0").clock_mhz, 0);
	assert_int_equal(peaks_of("0000:02:00.0").clock_most_mhz, 0);
}

TEST(uuids_are_told_as_the_library_has_them)
{
	char text[NCS_GPU_UUID_BYTES];
	uint64_t uuid[2];

	read_gpus(LIBRARY, "16 18 26562 0 0 0");
	ncs_gpu_uuid_write(peaks_of("0000:0A:00.0").uuid, text);
	assert_string_equal(text, "GPU-01234567-89ab-cdef-fedc-ba987654320a");
	ncs_gpu_uuid_write(peaks_of("0000:1A:00.0").uuid, text);
	assert_string_equal(text, "");
	ncs_gpu_uuid_read("MIG-01234567-89ab-cdef-fedc-ba987654320a", uuid);
	ncs_gpu_uuid_write(uuid, text);
	assert_string_equal(text, "");
}

TEST(missing_library_means_no_gpu)
{
	read_gpus("/nowhere/libnvidia-ml.so.1", "8 18 26562 0 0 0");
	assert_int_equal(peaks.gpu_count, 0);
	read_gpus(BARE_LIBRARY, "8 18 26562 0 0 0");
	assert_int_equal(peaks.gpu_count, 0);
	read_gpus(LIBRARY, "not started");
	assert_int_equal(peaks.gpu_count, 0);
	assert_int_equal(peaks.network_mb_s, UINT64_MAX);
}
