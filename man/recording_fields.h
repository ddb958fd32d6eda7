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
	X(type, "What kind of chunk it is, by number.") \
	X(rank, "Which rank it tells of, by its number in this file;" \
		" 0xffffffff: none.") \
	X(bytes, "Length of the payload as it is in the file; at most" \
		 " 1048512.") \
	X(unpacked_bytes, "Length of the payload once it is unpacked; at most" \
			  " 1048512. If it is bytes, the payload is not" \
			  " compressed; else it is one frame of Zstandard.") \
	X(from_ns, "The first moment that it tells of.") \
	X(until_ns, "The last one.") \
	X(payload_checksum, "XXH3, 64 bits, seed 0, of the payload as it is" \
			    " in the file.") \
	X(checksum, "The same of the 56 bytes before this field.")

#define NCS_FILE_HEAD_FIELDS(X) \
	X(version, "Of this format: major version in the upper 16 bits, minor" \
		   " in the lower.") \
	X(byte_order, "0x01020304, written by the machine that recorded.") \
	X(abi_version, "Of the shared memory that the recorder knows; each" \
		       " segment's own is in its header.") \
	X(program_version, "Major << 16 | minor << 8 | patch.") \
	X(recording, "Random, the same in all files of one recording.") \
	X(number, "Of this file in its recording, from 0.") \
	X(begun_monotonic_ns, "When this file was begun.") \
	X(begun_realtime_ns, "CLOCK_REALTIME then.") \
	X(interval_ns, "Time between two states of a rank, as asked for.") \
	X(time_namespace, "Inode of the recorder's /proc/self/ns/time; 0: there" \
			  " is none.") \
	X(pid_namespace, "Inode of its /proc/self/ns/pid.") \
	X(boot_id, "/proc/sys/kernel/random/boot_id.") \
	X(host, "Name of the host.") \
	X(reserved, "0.")

#define NCS_RANK_HEAD_FIELDS(X) \
	X(header_bytes, "Length of the segment's header, which comes next.") \
	X(path_bytes, "Length of the segment's path after that, without a" \
		      " zero.") \
	X(reserved, "0.")

#define NCS_STATE_HEAD_FIELDS(X) \
	X(taken_ns, "When the state was taken.") \
	X(key_offset, "Of the first chunk of its key, from the beginning of" \
		      " the file. A key's own is its own.") \
	X(key_taken_ns, "When the key was taken.") \
	X(segment_bytes, "Length of the segment.") \
	X(part, "Number of this chunk among those of the state, from 0.") \
	X(flags, "1: a key; 2: the last part; 4: the process was gone; 8: it" \
		 " was stopped, by a signal or a debugger; 16: the segment was" \
		 " removed, and this is its last state.") \
	X(runs, "How many runs follow.") \
	X(reserved, "0.") \
	X(padding, "0.")

#define NCS_RUN_FIELDS(X) \
	X(line, "Number in the segment of the first line of 64 bytes.") \
	X(lines, "How many.")

#define NCS_RECORDS_HEAD_FIELDS(X) \
	X(lane, "The lane, and its ring.") \
	X(record_bytes, "Length of a record: 64.") \
	X(first, "Position in its ring of the first record.") \
	X(count, "How many records follow.") \
	X(lost, "How many right before these had been overwritten when the" \
		" recorder came to read them.") \
	X(drained_ns, "When they were read.") \
	X(reserved, "0.")

#define NCS_CLOCK_READING_FIELDS(X) \
	X(before_ns, "CLOCK_MONOTONIC right before …") \
	X(realtime_ns, "… CLOCK_REALTIME …") \
	X(after_ns, "… and CLOCK_MONOTONIC right after.") \
	X(maximum_error_ns, "Of CLOCK_REALTIME, as adjtimex(2) has it; all" \
			    " bits: it does not.") \
	X(estimated_error_ns, "Likewise.") \
	X(synchronized, "0: the system says that it is not.") \
	X(reserved, "0.")

#define NCS_INDEX_HEAD_FIELDS(X) \
	X(previous_offset, "Of the index before this one, from the beginning" \
			   " of the file; 0: none.") \
	X(count, "How many entries follow.") \
	X(entry_bytes, "Length of an entry.") \
	X(reserved, "0.")

#define NCS_INDEX_ENTRY_FIELDS(X) \
	X(offset, "Of the chunk, from the beginning of the file.") \
	X(bytes, "As in its header, like the next two.") \
	X(from_ns, "The first moment that it tells of.") \
	X(until_ns, "The last one.") \
	X(records, "Of a chunk of records: how many; else 0.") \
	X(lost, "Of a chunk of records: how many before them are lost; else" \
		" 0.") \
	X(type, "As in its header.") \
	X(rank, "As in its header.")

#define NCS_LOOK_FIELDS(X) \
	X(recording, "As in the chunk \"file\" of the stream.") \
	X(number, "Of this look, from 0; those that were dropped count.") \
	X(dropped, "How many looks the agent has dropped so far, as those before" \
		   " them were not written yet.") \
	X(taken_ns, "When the look began.") \
	X(realtime_ns, "CLOCK_REALTIME then.") \
	X(interval_ns, "Time between two looks, as asked for.") \
	X(chunks, "How many chunks of the look come before this one.") \
	X(bytes, "Their length, with headers and zeros.") \
	X(records, "How many records are in them.") \
	X(flags, "1: the look can be read without those before: it has the" \
		 " chunk \"file\", all its ranks, and only keys.") \
	X(program_version, "Of the agent: major << 16 | minor << 8 | patch.") \
	X(ranks, "How many segments have a state in it.") \
	X(denied, "Segments of other users.") \
	X(unreadable, "Other segments that cannot be read.") \
	X(left_out, "Segments that a look of 32 MiB has no room for.") \
	X(reserved, "0.")

#define NCS_PACK_HEAD_FIELDS(X) \
	X(recording, "The first word of the stream's recording.") \
	X(look, "Number of the look.") \
	X(base, "Number of an earlier look: what its pack of the same part" \
		" unpacks to is the frame's prefix, which Zstandard is given to" \
		" unpack it. The same as look: it has none.") \
	X(part, "Number of this pack in the look, from 0.") \
	X(unpacked_bytes, "Length of what the frame unpacks to; at most" \
			  " 1048576.")

#define NCS_NODE_HEAD_FIELDS(X) \
	X(state, "0: not reachable; 1: refused; 2: not installed; 3: of another" \
		 " version; 4: failed; 5: its segments are another user's; 6:" \
		 " they cannot be read; 7: silent; 8: ended. Leave out others.") \
	X(why_bytes, "Length of the words that come next, without a zero.")

#define NCS_UNREADABLE_HEAD_FIELDS(X) \
	X(attach, "Why, by number: 2: it is another user's; 4: it has another" \
		  " major version; 5: it is no segment, or damaged; 6: the" \
		  " agent lacks memory or files.") \
	X(path_bytes, "Length of the segment's path, which comes next, without" \
		      " a zero.") \
	X(why_bytes, "Length of the reason after that, a clause for users," \
		     " without a zero.") \
	X(reserved, "0.")

#define NCS_END_FIELDS(X) \
	X(index_offset, "Of the last index; 0: none.") \
	X(chunks, "How many there are before this one.") \
	X(records, "How many there are in this file, like the next three.") \
	X(lost, "Records that were overwritten before they were read.") \
	X(states, "States, of all ranks.") \
	X(torn_states, "Of these: with a block that was caught in the middle" \
		       " of a change, whose sequence is odd.") \
	X(another, "1: the recording goes on in another file.") \
	X(reserved, "0.")

#endif
