/* SPDX-License-Identifier: MIT */
/* Peaks as the payload of a chunk, which may be anybody's. */
#include <stdlib.h>
#include <string.h>

#include "record/format/peaks_chunk.h"
#include "test/unit/support/unit.h"

static struct ncs_machine_peaks many(uint32_t gpus)
{
	struct ncs_machine_peaks peaks = { .network_mb_s = 50000,
					   .gpu_count = gpus };

	for (uint32_t i = 0; i < gpus; i++)
		peaks.gpus[i] = (struct ncs_gpu_peak){
			.pci = ncs_pci_address(0, i, 0, 0),
			.nvlink_mb_s = 478116 + i,
			.reach = ~(UINT64_C(1) << i),
			.held_by = 4,
			.clock_mhz = 1290 + i,
			.clock_most_mhz = 1980,
			.uuid = { i, i + 1 },
		};
	return peaks;
}

TEST(peaks_come_back_as_they_went)
{
	for (uint32_t gpus = 0; gpus <= NCS_PEAK_GPUS_MAX; gpus++) {
		struct ncs_machine_peaks peaks = many(gpus), read;
		char payload[NCS_PEAKS_BYTES_MAX];
		size_t size = ncs_peaks_pack(&peaks, payload);

		assert_true(size <= sizeof(payload));
		memset(&read, 0xff, sizeof(read));
		assert_true(ncs_peaks_unpack(payload, size, &read));
		assert_memory_equal(&read, &peaks, sizeof(read));
	}
}

/* Entries of a later version may be longer. */
TEST(longer_entries_are_read)
{
	struct ncs_machine_peaks peaks = many(2), read = { 0 };
	char payload[NCS_PEAKS_BYTES_MAX], longer[NCS_PEAKS_BYTES_MAX] = "";
	struct ncs_peaks_head head;

	ncs_peaks_pack(&peaks, payload);
	memcpy(&head, payload, sizeof(head));
	head.gpu_bytes = 64;
	memcpy(longer, &head, sizeof(head));
	for (size_t i = 0; i < 2; i++)
		memcpy(longer + sizeof(head) + 64 * i,
		       payload + sizeof(head) + sizeof(struct ncs_gpu_peak) * i,
		       sizeof(struct ncs_gpu_peak));
	memcpy(longer + sizeof(head) + 2 * 64,
	       payload + sizeof(head) + 2 * sizeof(struct ncs_gpu_peak),
	       sizeof(struct ncs_ports));
	assert_true(ncs_peaks_unpack(
		longer, sizeof(head) + 2 * 64 + sizeof(struct ncs_ports),
		&read));
	assert_memory_equal(&read, &peaks, sizeof(read));
}

/* Entries of earlier versions end before the clock, and nothing follows them. */
TEST(shorter_entries_are_read)
{
	struct ncs_machine_peaks peaks = many(2), read = { 0 };
	char payload[NCS_PEAKS_BYTES_MAX], shorter[16 + 48];
	struct ncs_peaks_head head;

	ncs_peaks_pack(&peaks, payload);
	memcpy(&head, payload, sizeof(head));
	head.gpu_bytes = 24;
	memcpy(shorter, &head, sizeof(head));
	for (size_t i = 0; i < 2; i++)
		memcpy(shorter + sizeof(head) + 24 * i,
		       payload + sizeof(head) + sizeof(struct ncs_gpu_peak) * i,
		       24);
	assert_true(ncs_peaks_unpack(shorter, sizeof(shorter), &read));
	assert_int_equal(read.gpus[1].reach, peaks.gpus[1].reach);
	assert_int_equal(read.gpus[1].clock_most_mhz, 0);
	assert_int_equal(read.ports.ports, 0);
}

/* The payload is copied to a block of its own size, so that a sanitizer sees
 * what is read behind it. */
static void assert_refused(const struct ncs_peaks_head *head, size_t size)
{
	struct ncs_machine_peaks read = many(3), before = read;
	char *payload = calloc(1, size > 0 ? size : 1);

	assert_non_null(payload);
	memcpy(payload, head, size < sizeof(*head) ? size : sizeof(*head));
	assert_false(ncs_peaks_unpack(payload, size, &read));
	assert_memory_equal(&read, &before, sizeof(read));
	free(payload);
}

TEST(payloads_without_sense_are_refused)
{
	const uint32_t gpu = sizeof(struct ncs_gpu_peak);
	struct ncs_peaks_head head = { .gpus = 2, .gpu_bytes = gpu };

	assert_refused(&head, 0);
	assert_refused(&head, sizeof(head) - 1);
	assert_refused(&head, sizeof(head) + 2 * gpu - 1);
	head.gpu_bytes = 23;
	assert_refused(&head, sizeof(head) + 2 * gpu);
	head.gpu_bytes = UINT32_MAX;
	assert_refused(&head, sizeof(head) + 2 * gpu);
	head = (struct ncs_peaks_head){ .gpus = NCS_PEAK_GPUS_MAX + 1,
					.gpu_bytes = gpu };
	assert_refused(&head, sizeof(head) + (NCS_PEAK_GPUS_MAX + 1) * gpu);
	head.gpus = UINT32_MAX;
	assert_refused(&head, sizeof(head) + 2 * gpu);
}
