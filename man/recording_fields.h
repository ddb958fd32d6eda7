/* SPDX-License-Identifier: MIT */
/* The help of each field of a recording, for ncclstat-record(5): X(field,
 * help).
 *
 * One table for each struct of record/format/file_format.h, in the order of its
 * fields, as in segment_fields.h.
 */
#ifndef NCS_MAN_RECORDING_FIELDS_H
#define NCS_MAN_RECORDING_FIELDS_H

#define NCS_CHUNK_FIELDS(X) \
	X(magic, "0x6b6e75686353434e: the bytes \"NCSchunk\".") \
	X(type, "Kind of the chunk.") \
	X(rank, "Number of the rank in this file; 0xffffffff: none.") \
	X(bytes, "Length of the payload in the file; at most 1048512.") \
	X(unpacked_bytes, \
	  "Length of the unpacked payload; at most 1048512. If equal to" \
	  " bytes, the payload is not compressed; else it is one Zstandard" \
	  " frame.") \
	X(from_ns, "Beginning of the time that the chunk describes.") \
	X(until_ns, "End of that time.") \
	X(payload_checksum, \
	  "XXH3 (64 bits, seed 0) of the payload as in the file.") \
	X(checksum, "XXH3 of the 56 bytes before this field.")

#define NCS_FILE_HEAD_FIELDS(X) \
	X(version, \
	  "Version of the format: major version in the upper 16 bits, minor" \
	  " version in the lower.") \
	X(byte_order, \
	  "0x01020304, in the byte order of the recording machine.") \
	X(abi_version, \
	  "Version of the shared memory that the recorder supports; the" \
	  " version of each segment is in its header.") \
	X(program_version, \
	  "Version of the recorder: major << 16 | minor << 8 | patch.") \
	X(recording, "Random number, equal in all files of one recording.") \
	X(number, "Number of this file in its recording, from 0.") \
	X(begun_monotonic_ns, "When this file was begun.") \
	X(begun_realtime_ns, "The same time by CLOCK_REALTIME.") \
	X(interval_ns, "Requested time between two states of a rank.") \
	X(time_namespace, \
	  "Inode of the recorder's /proc/self/ns/time; 0 if there is none.") \
	X(pid_namespace, "Inode of the recorder's /proc/self/ns/pid.") \
	X(boot_id, "/proc/sys/kernel/random/boot_id.") \
	X(host, "Name of the host.") \
	X(run, \
	  "Random number, equal in the files of all nodes that were recorded" \
	  " together; 0: this host was recorded by itself, or before version" \
	  " 1.7.") \
	X(reserved, "0.")

#define NCS_RANK_HEAD_FIELDS(X) \
	X(header_bytes, "Length of the segment's header, which follows.") \
	X(path_bytes, \
	  "Length of the segment's path after the header, without a" \
	  " terminating zero.") \
	X(owner, \
	  "User that the segment's file belongs to, plus 1; 0: not known, or" \
	  " recorded before version 1.8.") \
	X(reserved, "0.")

#define NCS_STATE_HEAD_FIELDS(X) \
	X(taken_ns, "When the state was read.") \
	X(key_offset, \
	  "Offset in the file of the first chunk of the key; in a key, its" \
	  " own.") \
	X(key_taken_ns, "When the key was read.") \
	X(segment_bytes, "Length of the segment.") \
	X(part, "Number of this chunk among those of the state, from 0.") \
	X(flags, \
	  "1: a key; 2: the last part; 4: the process was gone; 8: the" \
	  " process was stopped by a signal or a debugger; 16: the segment" \
	  " was removed, and this is its last state.") \
	X(runs, "Runs that follow.") \
	X(reserved, "0.") \
	X(padding, "0.")

#define NCS_RUN_FIELDS(X) \
	X(line, "Number in the segment of the first line of 64 bytes.") \
	X(lines, "Number of lines.")

#define NCS_RECORDS_HEAD_FIELDS(X) \
	X(lane, "Number of the lane, whose ring the records come from.") \
	X(record_bytes, "Length of a record: 64.") \
	X(first, "Position in the ring of the first record.") \
	X(count, "Records that follow.") \
	X(lost, \
	  "Records just before these that were overwritten before the" \
	  " recorder read them.") \
	X(drained_ns, "When the last of the records was read.") \
	X(reserved, "0.")

#define NCS_CLOCK_READING_FIELDS(X) \
	X(before_ns, "CLOCK_MONOTONIC just before CLOCK_REALTIME was read.") \
	X(realtime_ns, "CLOCK_REALTIME.") \
	X(after_ns, "CLOCK_MONOTONIC just after CLOCK_REALTIME was read.") \
	X(maximum_error_ns, \
	  "Maximum error of CLOCK_REALTIME by adjtimex(2); all bits set:" \
	  " unknown.") \
	X(estimated_error_ns, \
	  "Estimated error of CLOCK_REALTIME by adjtimex(2); all bits set:" \
	  " unknown.") \
	X(synchronized, \
	  "0: the system reports that CLOCK_REALTIME is not synchronized.") \
	X(reserved, "0.")

#define NCS_INDEX_HEAD_FIELDS(X) \
	X(previous_offset, \
	  "Offset in the file of the previous index; 0: none.") \
	X(count, "Entries that follow.") \
	X(entry_bytes, "Length of an entry.") \
	X(reserved, "0.")

#define NCS_INDEX_ENTRY_FIELDS(X) \
	X(offset, "Offset of the chunk in the file.") \
	X(bytes, "As in the chunk's header.") \
	X(from_ns, "As in the chunk's header.") \
	X(until_ns, "As in the chunk's header.") \
	X(records, "In a chunk of records: their number; else 0.") \
	X(lost, \
	  "In a chunk of records: the number of lost records before them;" \
	  " else 0.") \
	X(type, "As in the chunk's header.") \
	X(rank, "As in the chunk's header.")

#define NCS_LOOK_FIELDS(X) \
	X(recording, "As in the chunk \"file\" of the stream.") \
	X(number, "Number of this look, from 0, including dropped looks.") \
	X(dropped, \
	  "Looks that the agent has dropped so far because earlier ones" \
	  " were not yet written.") \
	X(taken_ns, "When the look began.") \
	X(realtime_ns, "The same time by CLOCK_REALTIME.") \
	X(interval_ns, "Requested time between two looks.") \
	X(chunks, "Chunks of the look before this one.") \
	X(bytes, "Length of these chunks, with headers and zeros.") \
	X(records, "Records in these chunks.") \
	X(flags, \
	  "1: the look can be read without earlier ones: it has the chunk" \
	  " \"file\", all its ranks, and only keys.") \
	X(program_version, \
	  "Version of the agent: major << 16 | minor << 8 | patch.") \
	X(ranks, "Segments with a state in the look.") \
	X(denied, "Segments of other users.") \
	X(unreadable, "Other segments that cannot be read.") \
	X(left_out, \
	  "Segments that did not fit into a look of 32 MiB, or 64 MiB" \
	  " unpacked.") \
	X(reserved, "0.")

#define NCS_PEAKS_HEAD_FIELDS(X) \
	X(network_mb_s, \
	  "Megabytes (10^6) per second that the machine's network ports send" \
	  " together: all active ports for RDMA or, without any, the fastest" \
	  " wired port; 0: not known.") \
	X(gpus, "GPUs that follow, at most 64.") \
	X(gpu_bytes, "Length of a GPU.")

#define NCS_GPU_PEAK_FIELDS(X) \
	X(pci, \
	  "PCI address: domain << 16 | bus << 8 | device << 3 | function;" \
	  " 2^64 - 1: not known.") \
	X(nvlink_mb_s, \
	  "Megabytes per second that its active NVLinks send together, as NVML" \
	  " reports them; 0: it has none.") \
	X(reach, \
	  "The GPUs that it reaches by NVLink: bit n is the n-th GPU of this" \
	  " chunk, from 0.") \
	X(held_by, \
	  "Why its clock is held down: bits of" \
	  " nvmlDeviceGetCurrentClocksThrottleReasons.") \
	X(clock_mhz, "The clock of its multiprocessors in MHz; 0: not known.") \
	X(clock_most_mhz, "The most that this can be; 0: not known.") \
	X(uuid, "Its UUID, the first 16 digits first; zeros: not known.")

#define NCS_PORTS_FIELDS(X) \
	X(sent, "TCP segments that were sent.") \
	X(resent, "TCP segments of these that were sent again.") \
	X(errors, "Errors of ports for RDMA: of symbols, and of links.") \
	X(ports, "Ports for RDMA.") \
	X(down, "Ports of these that are not active.")

#define NCS_PACK_HEAD_FIELDS(X) \
	X(recording, "First word of the stream's recording.") \
	X(look, "Number of the look.") \
	X(base, \
	  "Number of an earlier look. The unpacked content of that look's" \
	  " pack with the same part is the prefix that Zstandard needs to" \
	  " unpack this frame. Equal to look: no prefix.") \
	X(part, "Number of this pack in the look, from 0.") \
	X(unpacked_bytes, "Length of the unpacked frame; at most 1048576.")

#define NCS_NODE_HEAD_FIELDS(X) \
	X(state, \
	  "0: not reachable; 1: refused; 2: not installed; 3: another" \
	  " version; 4: failed; 5: the segments belong to another user; 6:" \
	  " the segments cannot be read; 7: silent; 8: ended; 9: some of its" \
	  " ranks are left out. Ignore other values.") \
	X(why_bytes, \
	  "Length of the reason that follows, without a terminating zero.")

#define NCS_UNREADABLE_HEAD_FIELDS(X) \
	X(attach, \
	  "Reason: 2: it belongs to another user; 4: it has another major" \
	  " version; 5: it is not a segment, or is damaged; 6: the agent" \
	  " lacks memory or file descriptors.") \
	X(path_bytes, \
	  "Length of the segment's path, which follows, without a" \
	  " terminating zero.") \
	X(why_bytes, \
	  "Length of the reason after the path, a clause for users, without" \
	  " a terminating zero.") \
	X(reserved, "0.")

#define NCS_END_FIELDS(X) \
	X(index_offset, "Offset of the last index; 0: none.") \
	X(chunks, "Chunks before this one.") \
	X(records, "Records in this file.") \
	X(lost, \
	  "Records in this file that were overwritten before they were" \
	  " read.") \
	X(states, "States in this file, of all ranks.") \
	X(torn_states, \
	  "States with a block that was read during a change; its sequence" \
	  " is odd. 2^64 - 1: not known.") \
	X(another, "1: the recording continues in another file.") \
	X(reserved, "0.")

#endif
