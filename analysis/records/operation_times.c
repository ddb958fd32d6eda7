/* SPDX-License-Identifier: MIT */
/* Finding an operation's begin and end; see operation_times.h. */
#include "analysis/records/operation_times.h"

#include "analysis/records/step_record.h"
#include "shm/clock.h"
#include "shm/hash.h"

/* --- Children ------------------------------------------------------------- */

static void keep_first(uint64_t *first_ns, uint64_t time_ns)
{
	if (time_ns != 0 && (*first_ns == 0 || time_ns < *first_ns))
		*first_ns = time_ns;
}

static void keep_last(uint64_t *last_ns, uint64_t time_ns)
{
	if (time_ns > *last_ns)
		*last_ns = time_ns;
}

static void take_kernel(struct ncs_children *children,
			const struct ncs_record *record)
{
	if (record->value == 0)
		return;
	keep_first(&children->gpu_start_ns, record->value);
	keep_last(&children->gpu_stop_ns, record->value + record->number);
}

/* Returns a hash of a channel and peer; different pairs almost never have the
 * same hash. */
static uint64_t hash_of(const struct ncs_record *record)
{
	return ncs_hash((uint64_t)record->channel << 32 |
			(uint32_t)record->peer);
}

static void take_proxy(struct ncs_children *children,
		       const struct ncs_clock *clock,
		       const struct ncs_record *record)
{
	bool send = ncs_step_sends(record);
	uint64_t stop_ns =
		ncs_clock_ns(clock, record->start + record->duration);

	keep_first(&children->proxy_start_ns,
		   ncs_clock_ns(clock, record->start));
	keep_last(&children->proxy_stop_ns, stop_ns);
	if (!send)
		keep_last(&children->receive_stop_ns, stop_ns);
	*(send ? &children->sends : &children->receives) ^= hash_of(record);
}

static void take_step(struct ncs_children *children,
		      const struct ncs_clock *clock,
		      const struct ncs_record *record)
{
	uint64_t data_ns = ncs_clock_ns(clock, ncs_step_data_ticks(record));

	if (ncs_step_sends(record))
		keep_first(&children->data_ns, data_ns);
	else
		keep_last(&children->came_ns, data_ns);
}

void ncs_children_take(struct ncs_children *children,
		       const struct ncs_clock *clock,
		       const struct ncs_record *record)
{
	if (NCS_RECORD_LEVEL(record->flags) == NCS_LEVEL_SLOW)
		return;
	if (record->event == NCS_EVENT_KERNEL_CH)
		take_kernel(children, record);
	else if (record->event == NCS_EVENT_PROXY_OP)
		take_proxy(children, clock, record);
	else if (record->event == NCS_EVENT_PROXY_STEP)
		take_step(children, clock, record);
}

/* Returns whether the channels of the kernels stopped before data came, the last
 * of them at `stop_ns` by the host's clock, `error_ns` more or less: then they do
 * not tell when the kernels ended. With the TREE algorithm, NCCL's channels stop
 * one by one. */
static bool came_later(const struct ncs_children *children, uint64_t stop_ns,
		       uint64_t error_ns)
{
	if (children->came_ns != 0)
		return children->came_ns > stop_ns + error_ns;
	return children->receive_stop_ns > stop_ns + error_ns + NCS_TAIL_NS;
}

/* --- Times ---------------------------------------------------------------- */

uint64_t ncs_operation_times_within(const uint64_t at_ns[NCS_MOMENT_COUNT],
				    uint64_t time_ns)
{
	uint64_t begin_ns = at_ns[NCS_MOMENT_OPERATION];

	if (time_ns == 0 || time_ns > at_ns[NCS_MOMENT_LAST_END])
		return 0;
	return time_ns > begin_ns ? time_ns : begin_ns;
}

/* The record reports the better of the two: when the operation's launch began and
 * ended on its stream, or when its proxy operations did. */
void ncs_operation_times_take(uint64_t at_ns[NCS_MOMENT_COUNT],
			      const struct ncs_operation_clocks *clocks,
			      const struct ncs_operation_ticks *ticks,
			      const struct ncs_children *children)
{
	const struct ncs_clock *clock = clocks->host;
	uint64_t begin_ns = ncs_clock_ns(clock, ticks->begin);

	at_ns[NCS_MOMENT_OPERATION] = ncs_clock_ns(clock, ticks->start);
	at_ns[NCS_MOMENT_LAST_END] = ncs_clock_ns(clock, ticks->end);
	at_ns[NCS_MOMENT_ENQUEUED] = ncs_operation_times_within(
		at_ns, ncs_clock_ns(clock, ticks->enqueued));
	if (!ticks->is_on_stream) {
		at_ns[NCS_MOMENT_PROXY] =
			ncs_operation_times_within(at_ns, begin_ns);
		return;
	}
	at_ns[NCS_MOMENT_STREAM] = begin_ns;
	at_ns[NCS_MOMENT_STREAM_END] = at_ns[NCS_MOMENT_LAST_END];
	if (children->proxy_stop_ns > at_ns[NCS_MOMENT_LAST_END])
		at_ns[NCS_MOMENT_LAST_END] = children->proxy_stop_ns;
	at_ns[NCS_MOMENT_PROXY] =
		ncs_operation_times_within(at_ns, children->proxy_start_ns);
}

struct ncs_kernel_trust
ncs_operation_times_take_kernel(uint64_t at_ns[NCS_MOMENT_COUNT],
				const struct ncs_operation_clocks *clocks,
				const struct ncs_children *children)
{
	uint64_t start_ns, stop_ns, error_ns, stop_error_ns;

	if (children->gpu_start_ns == 0 ||
	    !ncs_gpu_readings_find(clocks->gpu, children->gpu_start_ns,
				   &start_ns, &error_ns) ||
	    !ncs_gpu_readings_find(clocks->gpu, children->gpu_stop_ns, &stop_ns,
				   &stop_error_ns))
		return (struct ncs_kernel_trust){ 0, false };
	if (error_ns < stop_error_ns)
		error_ns = stop_error_ns;
	/* The GPU's clock itself tells better than its readings how long the
	 * kernels ran. */
	stop_ns = start_ns + (children->gpu_stop_ns - children->gpu_start_ns);
	at_ns[NCS_MOMENT_KERNEL] = ncs_operation_times_within(at_ns, start_ns);
	at_ns[NCS_MOMENT_KERNEL_END] =
		ncs_operation_times_within(at_ns, stop_ns);
	return (struct ncs_kernel_trust){
		error_ns,
		came_later(children, stop_ns, error_ns),
	};
}

struct ncs_operation_run
ncs_operation_run_of(const uint64_t at_ns[NCS_MOMENT_COUNT],
		     const struct ncs_operation_clocks *clocks,
		     const struct ncs_operation_ticks *ticks,
		     bool kernel_end_is_wrong)
{
	uint64_t kernel_ns = at_ns[NCS_MOMENT_KERNEL];
	uint64_t kernel_end_ns = at_ns[NCS_MOMENT_KERNEL_END];
	bool has_proxy = ticks->begin != 0;
	struct ncs_operation_run run = {
		.begin_ns = ncs_clock_ns(clocks->host, ticks->running),
		.end_ns = ncs_clock_ns(clocks->host, ticks->end),
		.begin = has_proxy ? NCS_TIME_BY_PROXY : NCS_TIME_BY_NOTHING,
		.end = has_proxy ? NCS_TIME_BY_PROXY : NCS_TIME_BY_REPORT,
	};

	if (ticks->is_on_stream) {
		run.begin = run.end = NCS_TIME_BY_STREAM;
		return run;
	}
	if (kernel_end_ns > at_ns[NCS_MOMENT_OPERATION] &&
	    !kernel_end_is_wrong) {
		run.end_ns = kernel_end_ns;
		run.end = NCS_TIME_BY_KERNEL;
	}
	if (kernel_ns != 0 && kernel_ns <= run.end_ns) {
		run.begin_ns = kernel_ns;
		run.begin = NCS_TIME_BY_KERNEL;
	}
	if (run.begin_ns > run.end_ns)
		run.begin_ns = run.end_ns;
	return run;
}
