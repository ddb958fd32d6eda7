/* SPDX-License-Identifier: MIT */
/* Explains each field of shared memory, for ncclstat-shm(5): X(field, help).
 *
 * There is a table for each struct of ncclstat/abi.h and ncclstat/record.h, in
 * the order of its fields. mangen adds offsets and types from the structs
 * themselves and refuses a table that leaves out a byte of its struct, so each
 * field that is added to a struct must be explained here.
 */
#ifndef NCS_MAN_SEGMENT_FIELDS_H
#define NCS_MAN_SEGMENT_FIELDS_H

#define NCS_HEADER_FIELDS(X) \
	X(magic, "0x544154534c43434e: the bytes \"NCCLSTAT\".") \
	X(version, "Major version in the upper 16 bits, minor in the lower." \
		   " 0 until all else is in place.") \
	X(byte_order, "0x01020304, written by the plugin's machine.") \
	X(header_bytes, "Size of this block.") \
	X(record_bytes, "Size of a record: 64.") \
	X(segment_bytes, "Size of the whole segment.") \
	X(lanes, "Where the lanes are.") \
	X(channels, "Where the channels are.") \
	X(operations, "Where the operations in flight are.") \
	X(histograms, "Where the histograms are.") \
	X(rings, "Where the rings are, one a lane. The stride covers the" \
		 " ring's header and its records.") \
	X(ring_records, "Records in each ring: a power of two.") \
	X(plugin_version, "Major << 16 | minor << 8 | patch.") \
	X(pid, "The process, as numbered in its PID namespace.") \
	X(api_version, "Of NCCL's profiler API that is spoken: 1 to 7.") \
	X(process_start, "When the process started: field 22 of" \
			 " /proc/PID/stat.") \
	X(pid_namespace, "Inode of /proc/self/ns/pid.") \
	X(time_namespace, "Inode of /proc/self/ns/time; 0 where there is" \
			  " none.") \
	X(boot_id, "/proc/sys/kernel/random/boot_id.") \
	X(host, "Name of the host.") \
	X(clock, "How ticks become nanoseconds.") \
	X(created, "Ticks when the segment was made.") \
	X(event_mask, "Event types that NCCL is asked for at this moment: a" \
		      " bit each, by number.") \
	X(life, "1: live; 2: the communicator was finalized.") \
	X(finished, "Ticks when it was finalized; 0 before.") \
	X(latest_done, "The largest number of an operation that finished.") \
	X(classes, "Where the classes of operations are; none before 1.2.") \
	X(reserved, "0.") \
	X(identity, "Who publishes; under a seqlock.") \
	X(proxy, "The proxy thread; under a seqlock.") \
	X(gpu_clock, "The GPU's clock; under a seqlock.") \
	X(kernel, "Kernel timing.") \
	X(sampling, "Which operations keep the records of their children.") \
	X(settings, "What is collected, and what was asked for; under a" \
		    " seqlock.") \
	X(filled, "How far the tables are filled; from minor version 2 on.") \
	X(ranges, "Where the ranges are; like what follows from minor version" \
		  " 3 on. There may be none.") \
	X(range_histograms, "Where their histograms are.") \
	X(ranges_filled, "Ranges beyond so many need not be looked at.") \
	X(cupti, "What the GPU's kernels took.") \
	X(launches, "Launches of NCCL's kernels; from minor version 5 on.") \
	X(alive, "Ticks when the plugin's watch thread was last awake, some" \
		 " 20 times a second: the process lived then. 0: there is no" \
		 " such thread. From minor version 8 on.") \
	X(labels, "Where the job labels are: one block, or none; likewise.")

#define NCS_LAUNCH_PROGRESS_FIELDS(X) \
	X(status, "Whether launches are timed, and why not.") \
	X(level, "One launch in 2^level is timed.") \
	X(ended, "The latest launch that is known to have ended; it ends all" \
	  " before it. 0: none.") \
	X(ended_at, "Ticks when that was seen.") \
	X(begun, "The latest launch that is known to have begun.") \
	X(begun_at, "Ticks when that was seen.") \
	X(followed, "The latest launch whose begin and end will be known.") \
	X(launched, "The latest launch.") \
	X(launched_at, "Ticks when it was launched.") \
	X(timed, "Launches that were timed.") \
	X(captured, "Launches that were captured into CUDA graphs.") \
	X(bias_ns, "Half of the time between two events with nothing between" \
	  " them: it was taken off each time.") \
	X(error_ns, "By how much a begin may be off on the host's clock.") \
	X(failure, "Error number of CUDA's driver that ended timing; 0:" \
	  " none.") \
	X(watch_since, "Ticks since when the plugin's watch thread has been in" \
	  " a call of CUDA's driver; 0: it is not.") \
	X(missed, "Launches that were to be timed and were not, since no" \
	  " events or no lane was free; from minor version 7 on.")

#define NCS_STREAM_TIMES_FIELDS(X) \
	X(timed, "Operations with a time from their stream.") \
	X(time_ns, "Sum of these times.") \
	X(timed_bytes, "Sum of the message sizes, for each operation those of" \
	  " its whole launch.") \
	X(reserved, "0.")

#define NCS_FILLED_FIELDS(X) \
	X(channels, "Entries that were given out: the first ones. One may" \
		    " have no key yet.") \
	X(operations, "Slots that were given out, one after the other, round" \
		      " and round.") \
	X(revived, "Operations that had been over and are not, but for those" \
		   " in the latest 64 slots that had been given out then.") \
	X(reserved, "0.")

#define NCS_TABLE_FIELDS(X) \
	X(offset, "Bytes from the segment's start.") \
	X(count, "Entries.") \
	X(stride, "Bytes from one entry to the next; at least the size of the" \
	  " struct that the reader knows.")

#define NCS_CLOCK_FIELDS(X) \
	X(kind, "1: CLOCK_MONOTONIC, ticks are ns; 2: the time stamp counter" \
	  " of x86; 3: cntvct_el0 of Arm.") \
	X(base_ticks, "A moment, in ticks.") \
	X(base_monotonic_ns, "The same moment of CLOCK_MONOTONIC.") \
	X(base_realtime_ns, "The same moment of CLOCK_REALTIME.") \
	X(multiplier, "Nanoseconds a tick, times 2^32.")

#define NCS_IDENTITY_FIELDS(X) \
	X(sequence, "The lock.") \
	X(known, "Which of the others are known, by bit: 1 comm_id, 2" \
	  " comm_name, 4 rank, 8 nranks, 16 nnodes, 32 nccl_version, 64 gpu.") \
	X(comm_id, "NCCL's hash of the communicator.") \
	X(rank, "Rank in the communicator.") \
	X(nranks, "Its ranks.") \
	X(nnodes, "Its nodes.") \
	X(nccl_version, "As ncclGetVersion gives it; 22809 is 2.28.9.") \
	X(comm_name, "The communicator's name, cut, always terminated.") \
	X(gpu, "PCI bus id of the current device at init.")

#define NCS_PROXY_FIELDS(X) \
	X(sequence, "The lock.") \
	X(state, "The state it is in.") \
	X(since, "Ticks when it came into it.") \
	X(appended_operations, "Proxy operations that it took over.") \
	X(time, "Ticks in each state, without the time since 'since'.") \
	X(count, "Transitions of each kind.")

#define NCS_KERNEL_FIELDS(X) \
	X(status, "What is in force: the number of a word in" \
	  " ncclstat-plugin(7), from 0.") \
	X(mode, "What was asked for: 0 off, 1 always, 2 sampled, 3" \
	  " sampled:auto; the last two up to minor version 5.") \
	X(period, "0. Up to minor version 5: one group of calls in so many is" \
	  " timed; 0: no such.") \
	X(timed_calls, "0. Up to minor version 5: calls of the communicator" \
	  " that NCCL was asked to time.") \
	X(captured_on, "0. Up to minor version 5: calls that were captured" \
	  " into CUDA graphs and are timed.") \
	X(captured_off, "0. Up to minor version 5: calls that were captured" \
	  " and are not.") \
	X(reserved, "0.")

#define NCS_GPU_CLOCK_FIELDS(X) \
	X(sequence, "The lock.") \
	X(ticks, "A moment of the host's; 0: the GPU's clock is not known" \
	  " yet.") \
	X(low_ns, "What the GPU's clock showed then, at least.") \
	X(high_ns, "At most.") \
	X(quantum_ns, "Its times are multiples of this.") \
	X(samples, "Kernel channels that the bounds come from.") \
	X(restarts, "Times that bounds contradicted each other.") \
	X(reserved, "0.")

#define NCS_SAMPLING_FIELDS(X) \
	X(level, "In force: one operation in 2^level keeps them.") \
	X(slow_ns, "An operation that has been under way for longer keeps" \
	  " them, too, from then on.") \
	X(kept, "Operations that were chosen, of those that started at a" \
	  " level above 0.") \
	X(left_out, "Those that were not.") \
	X(slow, "Of these, those that turned out to be slow.") \
	X(reserved, "0.")

#define NCS_SETTINGS_FIELDS(X) \
	X(sequence, "The lock.") \
	X(in_force, "What is collected: a detail with all told; 0: not known" \
		    " yet.") \
	X(asked, "The request that was dealt with last; 0: none.") \
	X(changes, "Times that 'in_force' has changed.") \
	X(changed, "Ticks when it last did; 0: never.") \
	X(refused, "What of that request was not done, and why; 0: nothing.") \
	X(lease_until_ns, "CLOCK_MONOTONIC: when the lease in force ends;" \
			  " 0: there is none.") \
	X(lease_holder, "Whose it is, the process in the upper half; 0:" \
			" nobody's.")

#define NCS_CONTROL_FIELDS(X) \
	X(magic, "0x4c52544e4353434e: the bytes \"NCSCNTRL\".") \
	X(version, "Major version in the upper 16 bits, minor in the lower:" \
		   " 1.0. 0 until all else is in place.") \
	X(byte_order, "0x01020304, written by the plugin's machine.") \
	X(control_bytes, "Size of this block.") \
	X(pid, "The process, as in a segment's header; so are the next" \
	       " four.") \
	X(process_start, "When it started.") \
	X(pid_namespace, "Its PID namespace.") \
	X(time_namespace, "Its time namespace.") \
	X(boot_id, "The start of the machine.") \
	X(reserved, "0.") \
	X(request, "What is asked for; 0: nobody has asked.") \
	X(lease_until_ns, "CLOCK_MONOTONIC: when the lease ends.") \
	X(lease_holder, "Who holds it: the process in the upper half, any" \
			" number in the lower.") \
	X(padding, "0.")

#define NCS_LANE_FIELDS(X) \
	X(owner, "0: not in use.") \
	X(last_call, "Ticks of the thread's latest callback, but for the states" \
	  " of steps and kernels; a channel's 'since' has those of steps.") \
	X(reserved, "0.") \
	X(events, "Events started, by event type.") \
	X(losses, "By loss counter.") \
	X(open_since, "By event type: ticks when the event began that the" \
	  " thread is in; 0: none.") \
	X(functions, "By function.") \
	X(stream_times, "By function; from minor version 5 on.") \
	X(padding, "0.")

#define NCS_FUNCTION_FIELDS(X) \
	X(sequence, "The lock.") \
	X(calls, "CollApi and P2pApi events.") \
	X(operations, "Coll and P2p events.") \
	X(operations_done, "Those whose proxy operations and kernel channels" \
	  " have all ended.") \
	X(with_children, "Those that had a proxy operation or kernel channel.") \
	X(bytes, "Message sizes as nccl-tests counts them.") \
	X(size_unknown, "Operations whose size could not be told: 'bytes'" \
	  " lacks them.") \
	X(last_sequence_number, "The largest one, plus 1; 0: none was told.") \
	X(timed, "Operations with a time: of the kernel, of the proxy.") \
	X(time_ns, "Sum of these times.") \
	X(timed_bytes, "Sum of these operations' message sizes.") \
	X(reserved, "0.")

#define NCS_CHANNEL_FIELDS(X) \
	X(sequence, "The lock.") \
	X(key, "0: not in use. Bit 63 set; bit 48 set for send; channel in" \
	  " bits 32 to 39; peer in bits 0 to 31.") \
	X(state, "What its oldest unfinished step waits for.") \
	X(since, "Ticks when this step came into this state.") \
	X(function, "Of the operation under way.") \
	X(operation, "Its number in the communicator; 0: none.") \
	X(step, "The oldest unfinished step.") \
	X(nsteps, "Steps of that proxy operation.") \
	X(operations_started, "Proxy operations started.") \
	X(operations_done, "Proxy operations stopped.") \
	X(steps_started, "Steps started.") \
	X(steps_done, "Steps done.") \
	X(bytes, "Sum of transSize.") \
	X(size_unknown, "Steps whose size NCCL did not tell.") \
	X(reserved, "0.") \
	X(time, "Ticks in each state, without the time since 'since'.") \
	X(padding, "0.")

#define NCS_OPERATION_FIELDS(X) \
	X(number, "The lock: in its communicator, from 1; 0 while the slot is" \
	  " empty or being filled.") \
	X(start, "Ticks.") \
	X(sequence_number, "NCCL's, of the function; all bits set: none.") \
	X(bytes, "Message size as nccl-tests counts it.") \
	X(count, "Elements, as NCCL passed it.") \
	X(event, "1: Coll; 2: P2p.") \
	X(function, "By number, like the next three.") \
	X(datatype, "NCCL's datatype.") \
	X(algorithm, "NCCL's algorithm.") \
	X(protocol, "NCCL's protocol.") \
	X(nchannels, "Channels, as NCCL passed it.") \
	X(flags, "0.") \
	X(reserved_byte, "0.") \
	X(peer, "Peer or root.") \
	X(range, "Number of the range that it was called in; 0: none. From" \
		 " minor version 3 on.") \
	X(enqueued, "Ticks of its stopEvent; 0: not yet.") \
	X(children_started, \
	  "Proxy operations and kernel channels; at most 16777215.") \
	X(children_done, "Those that have ended.") \
	X(first_child, "Ticks when the first of them started.") \
	X(last_child_done, "Ticks when the latest of them ended.") \
	X(user_tag, "What the application gave it by NCCL's API, from NCCL" \
		    " 2.31 on; 0: nothing.") \
	X(launch, "The number of its launch; 0: not known, or captured into a" \
	  " graph.") \
	X(reserved, "0.")

#define NCS_CLASS_FIELDS(X) \
	X(key, "0: not in use. Bit 32 set; size class in bits 24 to 31;" \
	  " protocol in bits 16 to 23; algorithm in bits 8 to 15; function in" \
	  " bits 0 to 7.") \
	X(operations, "Coll and P2p events.") \
	X(reserved, "0.")

#define NCS_HISTOGRAM_FIELDS(X) \
	X(key, "0: not in use. Bit 32 set; place of its class in bits 8 to" \
	  " 31; timing in bits 0 to 7: 0 kernel, 1 proxy.") \
	X(buckets, "How many times fell into each.") \
	X(time_ns, "These times together.") \
	X(bytes, "Message bytes of these operations.") \
	X(longest_ns, "The longest of these times.") \
	X(first, "Number of the first bucket that may hold a count, plus 1; 0:" \
	  " not told.") \
	X(end, "Number of the last one, plus 1; 0: not told.") \
	X(padding, "0.")

#define NCS_RANGE_FIELDS(X) \
	X(key, "0: not in use. Bit 32 set; number of the range around it in" \
	  " bits 0 to 31, 0: none.") \
	X(name, "As the user gave it, cut, always terminated.") \
	X(calls, "CollApi and P2pApi events.") \
	X(operations, "Coll and P2p events.") \
	X(bytes, "Their message sizes.") \
	X(size_unknown, "Operations whose size could not be told.") \
	X(with_children, "Operations with a proxy operation or kernel" \
			 " channel.") \
	X(with_children_bytes, "Their message sizes.") \
	X(busy, "Operations with such a child under way: bits 0 to 15. The" \
		" rest is the plugin's own.") \
	X(busy_since, "Ticks since when there has been one or more, if there" \
		      " is.") \
	X(busy_time, "Ticks in which there was, without the time since" \
		     " then.") \
	X(timed, "Operations that a time is known of: kernel, proxy.") \
	X(time_ns, "Sums of these times.") \
	X(timed_bytes, "Bytes of these operations.") \
	X(time, "Ticks that channels spent in each state on its operations.") \
	X(gpu, "Of kernels that were launched in it.") \
	X(stream_times, "Times from the stream; from minor version 5 on.") \
	X(padding, "0.")

#define NCS_GPU_TIME_FIELDS(X) \
	X(compute_kernels, "Kernels that are not NCCL's.") \
	X(compute_ns, "The sum of their times.") \
	X(compute_busy_ns, "The time in which one or more ran; in a range," \
			   " with those of the ranges inside.") \
	X(communication_kernels, "Kernels of NCCL.") \
	X(communication_ns, "The sum of their times.") \
	X(hidden_ns, "The part of it in which the same GPU computed," \
		     " whatever range that was in.")

#define NCS_CUPTI_FIELDS(X) \
	X(status, "What came of NCCLSTAT_CUPTI.") \
	X(total, "Of all kernels, in ranges or not.") \
	X(unplaced, "Kernels whose launch is not known; they are in no" \
		    " range.") \
	X(lost, "Records that CUPTI had no room for, or that came without" \
		" times, or too late to be counted in full.") \
	X(reserved, "0.")

#define NCS_RANGE_HISTOGRAM_FIELDS(X) \
	X(key, "0: not in use. Bit 63 set; number of the range in bits 8 to" \
	  " 39; timing in bits 0 to 7: 0 kernel, 1 proxy.") \
	X(buckets, "How many times fell into each.") \
	X(padding, "0.")

#define NCS_RING_FIELDS(X) \
	X(head, "Records published so far.") \
	X(padding, "0. Records follow.")

#define NCS_RECORD_FIELDS(X) \
	X(start, "Ticks.") \
	X(position, "Low 32 bits of the record's position in its ring.") \
	X(event, "Event type.") \
	X(flags, "1: send (coll, p2p: its begin and end are those of its kernel" \
	  " on the stream); 2: captured into a CUDA graph (p2p: it has a" \
	  " number; from minor version 8 on); 4: NCCL did not" \
	  " report the stop (coll, p2p: the records of its children were left" \
	  " out); 8: replaces an earlier record of its operation. The upper" \
	  " four bits are a level, see below.") \
	X(channel, "NCCL's channel.") \
	X(function, "By number.") \
	X(operation, "Low 32 bits of the operation's number; 0: none.") \
	X(peer, "Peer or root; -1: none.") \
	X(value, "By event type, see below.") \
	X(number, "Likewise.") \
	X(duration, "Ticks from start to stop.") \
	X(delta, "Ticks since start; 0 where it was not reached.")

#endif
