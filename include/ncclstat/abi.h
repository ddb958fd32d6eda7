/* SPDX-License-Identifier: MIT */
/* The shared-memory segment that a rank publishes: layout, types, sizes.
 *
 * A process has one segment for each of its communicators. The plugin writes
 * it, readers map it read-only. All words are little-endian. The headers that
 * this one includes have types and asserts only: code that uses one table
 * includes that table's header alone, so that a change of another one does not
 * rebuild it. libncclstat (reader.h) reads segments, and ncclstat-shm(5)
 * describes the format for other programs.
 *
 *   header | labels | lanes | channels | operations | classes | rings | call rings
 *          | histograms | ranges | histograms of ranges
 *
 * A segment is not to be trusted: a reader validates offsets and counts once
 * against the file's size (shm/segment.h), and checks every index against that
 * validated copy.
 *
 * A block whose first word is `sequence` is under a seqlock (shm/seqlock.h): it
 * is copied word by word, and copied again if the sequence was odd or has
 * changed. All other words are valid each by itself.
 *
 * Times are ticks of the segment's clock (struct ncs_clock) unless their name
 * ends in _ns. Reserved and padding words are 0.
 */
#ifndef NCCLSTAT_ABI_H
#define NCCLSTAT_ABI_H

#include "ncclstat/abi_channel.h"
#include "ncclstat/abi_class.h"
#include "ncclstat/abi_clock.h"
#include "ncclstat/abi_gpu_time.h"
#include "ncclstat/abi_header.h"
#include "ncclstat/abi_identity.h"
#include "ncclstat/abi_lane.h"
#include "ncclstat/abi_operation.h"
#include "ncclstat/abi_range.h"
#include "ncclstat/abi_values.h"
#include "ncclstat/histogram.h"
#include "ncclstat/record.h"
#include "ncclstat/size_class.h"

#endif
