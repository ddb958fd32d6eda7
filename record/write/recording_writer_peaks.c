/* SPDX-License-Identifier: MIT */
/* Writes what is read beside segments: the peaks of the machine as they change,
 * and stacks; see recording_writer.h. */
#include <string.h>

#include "record/format/chunk.h"
#include "record/format/peaks_chunk.h"
#include "record/write/recording_writer_internal.h"

int ncs_recording_writer_peaks(struct ncs_recording_writer *writer,
			       const struct ncs_machine_peaks *peaks,
			       uint64_t now_ns)
{
	static const struct ncs_machine_peaks unknown;
	char payload[NCS_PEAKS_BYTES_MAX];
	struct ncs_chunk chunk;

	if (writer->error != 0 ||
	    memcmp(peaks, &unknown, sizeof(*peaks)) == 0 ||
	    memcmp(peaks, &writer->peaks, sizeof(*peaks)) == 0)
		return writer->error;
	writer->peaks = *peaks;
	chunk = ncs_recording_chunk_at(NCS_CHUNK_PEAKS, NCS_NO_RANK,
				       ncs_peaks_pack(peaks, payload), now_ns);
	return ncs_recording_chunk_write(writer, &chunk, payload);
}

int ncs_recording_writer_stack(struct ncs_recording_writer *writer,
			       size_t number, const char *lines,
			       uint64_t now_ns)
{
	const struct ncs_recording_writer_rank *rank =
		ncs_recording_rank_in_file(writer, number);
	struct ncs_chunk chunk;

	if (!rank)
		return writer->error;
	chunk = ncs_recording_chunk_at(NCS_CHUNK_STACK, rank->number,
				       strnlen(lines, NCS_PAYLOAD_BYTES_MAX),
				       now_ns);
	return ncs_recording_chunk_write(writer, &chunk, lines);
}
