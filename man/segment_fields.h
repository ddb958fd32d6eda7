/* SPDX-License-Identifier: MIT */
/* Explains each field of shared memory, for ncclstat-shm(5): X(field, help).
 *
 * There is a table for each struct of ncclstat/abi_*.h and ncclstat/record.h, in
 * the order of its fields. mangen adds offsets and types from the structs
 * themselves and refuses a table that leaves out a byte of its struct, so each
 * field that is added to a struct must be explained here.
 */
#ifndef NCS_MAN_SEGMENT_FIELDS_H
#define NCS_MAN_SEGMENT_FIELDS_H

#define NCS_HEADER_FIELDS(X) \
	X(magic, "0x544154534c43434e: the bytes \"NCCLSTAT\".") \
	X(version, \
	  "Major version in the upper 16 bits, minor version in the lower." \
	  " 0 until the segment is complete.") \
	X(byte_order, \
	  "0x01020304, in the byte order of the plugin's machine.") \
	X(header_bytes, "Size of this block.") \
	X(record_bytes, "Size of a record: 64.") \
	X(segment_bytes, "Size of the whole segment.") \
	X(lanes, "Table of lanes.") \
	X(channels, "Table of channels.") \
	X(operations, "Table of operations in flight.") \
	X(histograms, "Table of histograms.") \
	X(rings, \
	  "Table of rings, one per lane. The stride covers the ring's" \
	  " header and its records.") \
	X(ring_records, "Records in each ring; a power of two.") \
	X(plugin_version, "Major << 16 | minor << 8 | patch.") \
	X(pid, "Process id in its PID namespace.") \
	X(api_version, "Version of NCCL's profiler API in use: 1 to 7.") \
	X(process_start, \
	  "Start time of the process: field 22 of /proc/PID/stat.") \
	X(pid_namespace, "Inode of /proc/self/ns/pid.") \
	X(time_namespace, "Inode of /proc/self/ns/time; 0 if there is none.") \
	X(boot_id, "/proc/sys/kernel/random/boot_id.") \
	X(host, "Name of the host.") \
	X(clock, "Conversion of ticks to nanoseconds.") \
	X(created, "When the segment was created.") \
	X(event_mask, \
	  "Event types that NCCL is asked for at present: one bit each, by" \
	  " number.") \
	X(life, "1: live; 2: the communicator was finalized.") \
	X(finished, "When the communicator was finalized; 0 before.") \
	X(latest_done, "Largest number of an operation that has finished.") \
	X(classes, "Table of classes of operations; none before 1.2.") \
	X(outside_code, \
	  "Code that communicates outside NCCL and that the process has" \
	  " loaded, one bit each (see CUPTI); from 1.12 on.") \
	X(identity, "Identity of the publishing rank; under a seqlock.") \
	X(proxy, "The proxy thread; under a seqlock.") \
	X(gpu_clock, "The GPU's clock; under a seqlock.") \
	X(kernel, "Kernel timing.") \
	X(sampling, "Which operations keep the records of their children.") \
	X(settings, \
	  "Settings in force and requested; under a seqlock.") \
	X(filled, "How far the tables are filled; from 1.2 on.") \
	X(ranges, \
	  "Table of ranges; may be empty. This and the next three fields" \
	  " from 1.3 on.") \
	X(range_histograms, "Table of histograms of ranges.") \
	X(ranges_filled, \
	  "Entries at the beginning of the table of ranges that may be in" \
	  " use.") \
	X(cupti, "Times of the GPU's kernels.") \
	X(launches, "Launches of NCCL's kernels; from 1.5 on.") \
	X(alive, \
	  "When the process was last known to live: the plugin's heartbeat," \
	  " which comes twice a second. 0: it has none. From 1.8 on.") \
	X(labels, "Block of job labels; may be empty. From 1.8 on.") \
	X(other_context, \
	  "Launches in a CUDA context that is not a device's primary one." \
	  " From 1.9 on.") \
	X(call_rings, \
	  "Table of the rings of call lanes, which are the last lanes, in" \
	  " the same order; may be empty. From 1.10 on.") \
	X(call_ring_records, "Records in each of these; a power of two.") \
	X(graphs, \
	  "Launches captured into CUDA graphs, and their replays; from 1.11" \
	  " on.")

#define NCS_GRAPHS_FIELDS(X) \
	X(graphs, "Captures with launches.") \
	X(stamped, \
	  "Launches in them that report their replays. In a segment of" \
	  " replays, which ones do in the graph whose replay began latest: the" \
	  " first and one in so many after it, and 2^32 times the number of" \
	  " another one; 0: none.") \
	X(failure, \
	  "Latest error number of the CUDA driver as such a launch was" \
	  " prepared; 0: none.") \
	X(are_replays, \
	  "1 in a segment of replays: its operations are those of a" \
	  " communicator's graphs. The rest is 0 in others.") \
	X(of, "comm_id of the communicator; 0 if unknown.") \
	X(replays, "Number of replays of all graphs.") \
	X(launches, "Launches in them that have begun or are over.") \
	X(timed, "Those that were reported.") \
	X(lost, "Reports that were overwritten before they were read.")

#define NCS_LAUNCH_PROGRESS_FIELDS(X) \
	X(status, "Whether launches are timed, and if not, why.") \
	X(level, "One launch in 2^level is timed.") \
	X(ended, \
	  "The latest launch that is known to have ended; all earlier ones" \
	  " have ended, too. 0: none.") \
	X(ended_at, "When this was noticed.") \
	X(begun, "The latest launch that is known to have begun.") \
	X(begun_at, "When this was noticed.") \
	X(followed, \
	  "The latest launch whose begin and end will become known.") \
	X(launched, "The latest launch.") \
	X(launched_at, "When it was launched.") \
	X(timed, "Launches that were timed.") \
	X(captured, "Launches that were captured into CUDA graphs.") \
	X(bias_ns, \
	  "Half of the time between two events with nothing between them;" \
	  " it was subtracted from each time.") \
	X(error_ns, "Maximum error of a begin on the host's clock.") \
	X(failure, \
	  "Error number of the CUDA driver that ended timing; 0: none.") \
	X(watch_since, \
	  "Since when the plugin's watch thread has been in a call of the" \
	  " CUDA driver; 0: it is in none.") \
	X(missed, \
	  "Launches that should have been timed but were not, because no" \
	  " events or no lane was free; from 1.7 on.")

#define NCS_STREAM_TIMES_FIELDS(X) \
	X(timed, "Operations with a time from their stream.") \
	X(time_ns, "Sum of these times.") \
	X(timed_bytes, \
	  "Sum of the message sizes; each operation counts with those of" \
	  " its whole launch.") \
	X(reserved, "0.")

#define NCS_FILLED_FIELDS(X) \
	X(channels, \
	  "Entries in use, at the beginning of the table. One of them may" \
	  " not have its key yet.") \
	X(operations, "Slots given out so far; slots are given out in turn.") \
	X(revived, \
	  "Operations that had ended and then continued, except those in" \
	  " the 64 slots that were given out last at that time.") \
	X(reserved, "0.")

#define NCS_TABLE_FIELDS(X) \
	X(offset, "Offset in the segment, in bytes.") \
	X(count, "Number of entries.") \
	X(stride, \
	  "Distance of two entries in bytes; at least the size of the" \
	  " struct that the reader expects.")

#define NCS_CLOCK_FIELDS(X) \
	X(kind, "1: CLOCK_MONOTONIC, ticks are ns; 2: the time stamp counter" \
	  " of x86; 3: cntvct_el0 of Arm.") \
	X(base_ticks, "Reference time in ticks.") \
	X(base_monotonic_ns, "The same time by CLOCK_MONOTONIC.") \
	X(base_realtime_ns, "The same time by CLOCK_REALTIME.") \
	X(multiplier, "Nanoseconds per tick, times 2^32.")

#define NCS_IDENTITY_FIELDS(X) \
	X(sequence, "The lock.") \
	X(known, \
	  "Which of the other fields are known, by bit: 1 comm_id, 2" \
	  " comm_name, 4 rank, 8 nranks, 16 nnodes, 32 nccl_version, 64" \
	  " gpu.") \
	X(comm_id, "NCCL's hash of the communicator.") \
	X(rank, "Rank in the communicator.") \
	X(nranks, "Number of ranks.") \
	X(nnodes, "Number of nodes.") \
	X(nccl_version, "As ncclGetVersion returns it; 22809 is 2.28.9.") \
	X(comm_name, \
	  "Name of the communicator, truncated, always terminated.") \
	X(gpu, "PCI bus id of the current device at init.")

#define NCS_PROXY_FIELDS(X) \
	X(sequence, "The lock.") \
	X(state, "Present state.") \
	X(since, "When the thread entered this state.") \
	X(appended_operations, "Proxy operations that it took over.") \
	X(time, "Time in each state, without the time since 'since'.") \
	X(count, "Transitions of each kind.")

#define NCS_KERNEL_FIELDS(X) \
	X(status, \
	  "Mode in force: the number of a word in ncclstat-plugin(7), from" \
	  " 0.") \
	X(mode, \
	  "Requested mode: 0 off, 1 always, 2 sampled, 3 sampled:auto; the" \
	  " last two up to 1.5.") \
	X(period, \
	  "0. Up to 1.5: one group of calls in this many is timed; 0: none.") \
	X(timed_calls, \
	  "0. Up to 1.5: calls of the communicator that NCCL was asked to" \
	  " time.") \
	X(captured_on, \
	  "0. Up to 1.5: calls captured into CUDA graphs that are timed.") \
	X(captured_off, \
	  "0. Up to 1.5: calls captured into CUDA graphs that are not" \
	  " timed.") \
	X(reserved, "0.")

#define NCS_GPU_CLOCK_FIELDS(X) \
	X(sequence, "The lock.") \
	X(ticks, \
	  "Reference time of the host; 0: the GPU's clock is not known yet.") \
	X(low_ns, "Lower bound of the GPU's clock at that time.") \
	X(high_ns, "Upper bound of the GPU's clock at that time.") \
	X(quantum_ns, "Resolution: the GPU's times are multiples of this.") \
	X(samples, "Kernel channels from which the bounds were derived.") \
	X(restarts, "How often bounds contradicted each other.") \
	X(reserved, "0.")

#define NCS_SAMPLING_FIELDS(X) \
	X(level, \
	  "Level in force: one operation in 2^level keeps the records of" \
	  " its children.") \
	X(slow_ns, \
	  "An operation that has been in progress for longer keeps them," \
	  " too, from then on.") \
	X(kept, "Operations started at a level above 0 that were selected.") \
	X(left_out, \
	  "Operations started at a level above 0 that were not selected.") \
	X(slow, \
	  "Operations that were not selected but turned out to be slow.") \
	X(reserved, "0.")

#define NCS_SETTINGS_FIELDS(X) \
	X(sequence, "The lock.") \
	X(in_force, \
	  "Settings in force: a detail with all values specified; 0: not" \
	  " known yet.") \
	X(asked, "The request that was handled last; 0: none.") \
	X(changes, "How often 'in_force' has changed.") \
	X(changed, "When it last changed; 0: never.") \
	X(refused, \
	  "The reason why a part of that request was refused; 0: nothing" \
	  " was.") \
	X(lease_until_ns, \
	  "CLOCK_MONOTONIC at the end of the lease in force; 0: there is" \
	  " none.") \
	X(lease_holder, \
	  "Holder of the lease, with the process id in the upper half; 0:" \
	  " none.")

#define NCS_CONTROL_FIELDS(X) \
	X(magic, "0x4c52544e4353434e: the bytes \"NCSCNTRL\".") \
	X(version, \
	  "Major version in the upper 16 bits, minor version in the lower:" \
	  " 2.1. 0 until the object is complete.") \
	X(byte_order, \
	  "0x01020304, in the byte order of the plugin's machine.") \
	X(control_bytes, "Size of this block.") \
	X(pid, \
	  "Process id; this and the next four fields are as in a segment's" \
	  " header.") \
	X(process_start, "Start time of the process.") \
	X(pid_namespace, "PID namespace of the process.") \
	X(time_namespace, "Time namespace of the process.") \
	X(boot_id, "Boot id of the machine.") \
	X(created_ns, \
	  "CLOCK_MONOTONIC when the object was made; 0 before 2.1.") \
	X(reserved, "0.") \
	X(request, "The request; 0: none so far.") \
	X(lease_until_ns, "CLOCK_MONOTONIC at the end of the lease.") \
	X(lease_holder, \
	  "Holder of the lease: the process id in the upper half, any" \
	  " number in the lower half.") \
	X(padding, "0.")

#define NCS_LANE_FIELDS(X) \
	X(owner, "0: not in use.") \
	X(last_call, \
	  "When the thread's latest callback came, except for the states of" \
	  " steps and kernels; 'since' of a channel covers those of steps.") \
	X(reserved, "0.") \
	X(events, "Events started, by event type.") \
	X(losses, "Losses, by loss counter.") \
	X(open_since, \
	  "By event type: when the event that the thread is in began; 0:" \
	  " none.") \
	X(functions, "Counters, by function.") \
	X(stream_times, "Times from the stream, by function; from 1.5 on.") \
	X(padding, "0.")

#define NCS_FUNCTION_FIELDS(X) \
	X(sequence, "The lock.") \
	X(calls, "CollApi and P2pApi events.") \
	X(operations, "Coll and P2p events.") \
	X(operations_done, \
	  "Operations whose proxy operations and kernel channels have all" \
	  " ended.") \
	X(with_children, \
	  "Operations that had a proxy operation or kernel channel.") \
	X(bytes, "Sum of the message sizes, counted as nccl-tests does.") \
	X(size_unknown, \
	  "Operations of unknown size, which 'bytes' does not include.") \
	X(last_sequence_number, \
	  "Largest sequence number plus 1; 0: none was reported.") \
	X(timed, "Operations with a time: of the kernel, of the proxy.") \
	X(time_ns, "Sum of these times.") \
	X(timed_bytes, "Sum of these operations' message sizes.") \
	X(reserved, "0.")

#define NCS_CHANNEL_FIELDS(X) \
	X(sequence, "The lock.") \
	X(key, "0: not in use. Bit 63 set; bit 48 set for send; channel in" \
	  " bits 32 to 39; peer in bits 0 to 31.") \
	X(state, "Wait of its oldest unfinished step.") \
	X(since, "When the step entered this state.") \
	X(function, "Function of the operation in progress.") \
	X(operation, "Number of that operation in the communicator; 0: none.") \
	X(step, "The oldest unfinished step.") \
	X(nsteps, "Number of steps of that proxy operation.") \
	X(operations_started, "Proxy operations started.") \
	X(operations_done, "Proxy operations stopped.") \
	X(steps_started, "Steps started.") \
	X(steps_done, "Steps done.") \
	X(bytes, "Sum of transSize.") \
	X(size_unknown, "Steps whose size NCCL did not report.") \
	X(reserved, "0.") \
	X(time, "Time in each state, without the time since 'since'.") \
	X(padding, "0.")

#define NCS_OPERATION_FIELDS(X) \
	X(number, \
	  "The lock: number of the operation in its communicator, from 1; 0" \
	  " while the slot is empty or is being filled.") \
	X(start, "Start.") \
	X(sequence_number, \
	  "NCCL's sequence number, per function; all bits set: none.") \
	X(bytes, "Message size, counted as nccl-tests does.") \
	X(count, "Elements, as NCCL passed it.") \
	X(event, "1: Coll; 2: P2p.") \
	X(function, "Number of the function.") \
	X(datatype, "NCCL's datatype.") \
	X(algorithm, "NCCL's algorithm.") \
	X(protocol, "NCCL's protocol.") \
	X(nchannels, "Channels, as NCCL passed it.") \
	X(flags, "0.") \
	X(reserved_byte, "0.") \
	X(peer, "Peer or root.") \
	X(range, "Number of the range of the call; 0: none. From 1.3 on.") \
	X(enqueued, "When its stopEvent came; 0: not yet.") \
	X(children_started, \
	  "Proxy operations and kernel channels started; at most 16777215.") \
	X(children_done, "Those that have ended.") \
	X(first_child, "When the first of them started.") \
	X(last_child_done, "When the latest of them ended.") \
	X(user_tag, \
	  "Tag that the application set by NCCL's API, from NCCL 2.31 on;" \
	  " 0: none.") \
	X(launch, \
	  "Number of its launch; 0: not known, or captured into a graph.") \
	X(reserved, "0.")

#define NCS_CLASS_FIELDS(X) \
	X(key, "0: not in use. Bit 32 set; size class in bits 24 to 31;" \
	  " protocol in bits 16 to 23; algorithm in bits 8 to 15; function in" \
	  " bits 0 to 7.") \
	X(operations, "Coll and P2p events.") \
	X(reserved, "0.")

#define NCS_HISTOGRAM_FIELDS(X) \
	X(key, \
	  "0: not in use. Bit 32 set; index of its class in bits 8 to 31;" \
	  " timing in bits 0 to 7: 0 kernel, 1 proxy.") \
	X(buckets, "Number of times in each bucket.") \
	X(time_ns, "Sum of these times.") \
	X(bytes, "Message bytes of these operations.") \
	X(longest_ns, "The longest of these times.") \
	X(first, \
	  "Number of the first bucket that may hold a count, plus 1; 0: not" \
	  " given.") \
	X(end, "Number of the last such bucket, plus 1; 0: not given.") \
	X(padding, "0.")

#define NCS_RANGE_FIELDS(X) \
	X(key, \
	  "0: not in use. Bit 32 set; number of the enclosing range in bits" \
	  " 0 to 31, 0: none.") \
	X(name, "Name given by the user, truncated, always terminated.") \
	X(calls, "CollApi and P2pApi events.") \
	X(operations, "Coll and P2p events.") \
	X(bytes, "Sum of their message sizes.") \
	X(size_unknown, "Operations of unknown size.") \
	X(with_children, \
	  "Operations with a proxy operation or kernel channel.") \
	X(with_children_bytes, \
	  "Sum of the message sizes of these operations.") \
	X(busy, \
	  "Operations with such a child in progress: bits 0 to 15. The" \
	  " other bits are private to the plugin.") \
	X(busy_since, \
	  "Since when there has been at least one such operation, if there" \
	  " is one.") \
	X(busy_time, \
	  "Time with at least one such operation, without the time since" \
	  " 'busy_since'.") \
	X(timed, "Operations with a time: of the kernel, of the proxy.") \
	X(time_ns, "Sums of these times.") \
	X(timed_bytes, "Sum of the message sizes of these operations.") \
	X(time, \
	  "Time that channels spent in each state on operations of the" \
	  " range.") \
	X(gpu, "Times of the kernels that were launched in the range.") \
	X(stream_times, "Times from the stream; from 1.5 on.") \
	X(padding, "0.")

#define NCS_GPU_TIME_FIELDS(X) \
	X(compute_kernels, \
	  "Kernels that compute: from 1.12 on neither NCCL's nor known to" \
	  " communicate outside NCCL.") \
	X(compute_ns, "Sum of their times.") \
	X(compute_busy_ns, \
	  "Time in which at least one of them ran; in a range, this" \
	  " includes the ranges inside.") \
	X(communication_kernels, "Number of NCCL's kernels.") \
	X(communication_ns, "Sum of their times.") \
	X(hidden_ns, \
	  "Part of this time in which the same GPU computed, in whatever" \
	  " range.")

#define NCS_CUPTI_FIELDS(X) \
	X(status, "Result of NCCLSTAT_CUPTI.") \
	X(total, "Times of all kernels, in ranges or not.") \
	X(unplaced, "Kernels whose launch is unknown; they are in no range.") \
	X(lost, \
	  "Records that CUPTI had no room for, or that came without times" \
	  " or too late to be counted in full.") \
	X(outside_kernels, \
	  "Kernels that communicate outside NCCL; from 1.12 on, like the" \
	  " next two.") \
	X(outside_busy_ns, "Time in which at least one of them ran.") \
	X(busy_ns, "Time in which at least one kernel ran.")

#define NCS_RANGE_HISTOGRAM_FIELDS(X) \
	X(key, "0: not in use. Bit 63 set; number of the range in bits 8 to" \
	  " 39; timing in bits 0 to 7: 0 kernel, 1 proxy.") \
	X(buckets, "Number of times in each bucket.") \
	X(padding, "0.")

#define NCS_RING_FIELDS(X) \
	X(head, "Records published so far.") \
	X(padding, "0. Records follow.")

#define NCS_RECORD_FIELDS(X) \
	X(start, "Start.") \
	X(position, "Low 32 bits of the record's position in its ring.") \
	X(event, "Event type.") \
	X(flags, \
	  "1: send (coll, p2p: begin and end are those of the kernel on the" \
	  " stream); 2: captured into a CUDA graph (p2p: the record has a" \
	  " number; from 1.8 on); 4: NCCL did not report the stop (coll," \
	  " p2p: the records of the children were left out); 8: replaces an" \
	  " earlier record of the operation. The upper four bits are a" \
	  " level, see below.") \
	X(channel, "NCCL's channel.") \
	X(function, "Number of the function.") \
	X(operation, "Low 32 bits of the operation's number; 0: none.") \
	X(peer, "Peer or root; -1: none.") \
	X(value, "Depends on the event type, see below.") \
	X(number, "Depends on the event type, see below.") \
	X(duration, "Time from start to stop.") \
	X(delta, "Times since start; 0 if not reached.")

#endif
