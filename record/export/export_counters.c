/* SPDX-License-Identifier: MIT */
/* Computes counters from states; see export_trace_internal.h. */
#include "record/export/export_trace_internal.h"

#include <stdio.h>

#include "analysis/model/model.h"
#include "analysis/base/value_names.h"

/* Order of the rank's counters. */
enum { IN_FLIGHT, BYTES, SHARES = BYTES + 2 };

static struct ncs_counter_sums sums_of(const struct ncs_snapshot *snapshot)
{
	struct ncs_counter_sums sums = { .taken_ns = snapshot->taken_ns };
	bool unknown[2] = { false, false };

	for (size_t i = 0; i < snapshot->channel_count; i++) {
		const struct ncs_channel_view *channel = &snapshot->channels[i];

		sums.bytes[channel->send] += channel->bytes;
		if (!ncs_channel_bytes_known(channel))
			unknown[channel->send] = true;
		for (unsigned k = 0; k < NCS_CHANNEL_STATE_COUNT; k++)
			sums.state_ns[k] += channel->time_ns[k];
	}
	for (unsigned i = 0; i < 2; i++)
		sums.bytes_known[i] = snapshot->channel_count > 0 &&
				      !unknown[i];
	return sums;
}

/* Writes a value; makes the counter's track before the first value. */
static void count(const struct ncs_export_counters *counters,
		  struct ncs_trace_writer *writer, uint32_t *track,
		  const char *name, const char *unit, unsigned place,
		  uint64_t at_ns, double value)
{
	if (*track == 0)
		*track = ncs_trace_counter(writer, counters->parent, name, unit,
					   counters->place + place);
	ncs_trace_count(writer, *track, at_ns, value);
}

static void count_bytes(struct ncs_export_counters *counters,
			struct ncs_trace_writer *writer,
			const struct ncs_counter_sums *now)
{
	static const char *const names[2] = { "received", "sent" };
	const struct ncs_counter_sums *before = &counters->before;
	double interval_ns = (double)(now->taken_ns - before->taken_ns);

	for (unsigned i = 0; i < 2; i++)
		if (now->bytes_known[i] && now->bytes[i] >= before->bytes[i])
			count(counters, writer, &counters->bytes[i], names[i],
			      "B/s", BYTES + i, before->taken_ns,
			      (double)(now->bytes[i] - before->bytes[i]) * 1e9 /
				      interval_ns);
}

/* Writes the share of each channel state in the time in which channels were not
 * idle. */
static void count_shares(struct ncs_export_counters *counters,
			 struct ncs_trace_writer *writer,
			 const struct ncs_counter_sums *now)
{
	const struct ncs_counter_sums *before = &counters->before;
	uint64_t total_ns = 0;

	for (unsigned i = NCS_CHANNEL_IDLE + 1; i < NCS_CHANNEL_STATE_COUNT;
	     i++)
		total_ns += now->state_ns[i] - before->state_ns[i];
	for (unsigned i = NCS_CHANNEL_IDLE + 1;
	     total_ns > 0 && i < NCS_CHANNEL_STATE_COUNT; i++) {
		char name[64];

		snprintf(name, sizeof(name), "share %s",
			 ncs_channel_state_name(i));
		count(counters, writer, &counters->shares[i], name, "%",
		      SHARES + i, before->taken_ns,
		      100 * (double)(now->state_ns[i] - before->state_ns[i]) /
			      (double)total_ns);
	}
}

void ncs_export_counters_take(struct ncs_export_counters *counters,
			      struct ncs_trace_writer *writer,
			      const struct ncs_snapshot *snapshot)
{
	struct ncs_counter_sums now = sums_of(snapshot);

	count(counters, writer, &counters->in_flight, "operations in flight",
	      "count", IN_FLIGHT, now.taken_ns,
	      (double)snapshot->operation_count);
	if (counters->before.taken_ns != 0 &&
	    now.taken_ns > counters->before.taken_ns) {
		count_bytes(counters, writer, &now);
		count_shares(counters, writer, &now);
	}
	counters->before = now;
}
