/* SPDX-License-Identifier: MIT */
/* A fake CUPTI that needs no GPU: it records the kernels that a test launches
 * through fake_cupti.h. If built with BARE, it lacks a function of CUPTI. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "test/plugin/next/fake_cupti.h"

#define EXPORT __attribute__((visibility("default")))
#define RECORD_BYTES 256u

static cupti_on_call on_call;
static cupti_on_request on_request;
static cupti_on_complete on_complete;
static void *on_call_argument;
static uint8_t *buffer;
static size_t buffer_bytes, used_bytes, dropped;

/* The function whose next call is to block, and whether a thread is in it. */
static int to_block = -1;
static int blocks;

static void hold_one(enum fake_cupti_call call)
{
	__atomic_store_n(&to_block, call, __ATOMIC_SEQ_CST);
}

static bool is_holding(void)
{
	return __atomic_load_n(&blocks, __ATOMIC_SEQ_CST);
}

static void let_go(void)
{
	__atomic_store_n(&blocks, 0, __ATOMIC_SEQ_CST);
}

static void wait_if_held(enum fake_cupti_call call)
{
	const struct timespec pause = { .tv_nsec = 100000 };
	int expected = call;

	if (!__atomic_compare_exchange_n(&to_block, &expected, -1, false,
					 __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST))
		return;
	__atomic_store_n(&blocks, 1, __ATOMIC_SEQ_CST);
	while (is_holding())
		nanosleep(&pause, NULL);
}

__attribute__((constructor)) static void load(void)
{
	const char *files = getenv(FAKE_CUPTI_LOADING);
	int tells, awaits;
	char byte = 0;

	if (!files || sscanf(files, "%d %d", &tells, &awaits) != 2)
		return;
	if (write(tells, &byte, 1) != 1 || read(awaits, &byte, 1) != 1)
		abort();
}

static void launch(uint32_t site, uint32_t correlation)
{
	struct cupti_call call = { .site = site, .correlation = correlation };

	on_call(on_call_argument, CUPTI_DRIVER, 307, &call);
}

static void deliver(void)
{
	uint8_t *done = buffer;

	buffer = NULL;
	if (done)
		on_complete(NULL, 0, done, buffer_bytes, used_bytes);
	used_bytes = 0;
}

static uint8_t *take_buffer(void)
{
	size_t records = 1, bytes;
	uint8_t *taken = NULL;

	on_request(&taken, &bytes, &records);
	if (taken)
		buffer_bytes = bytes;
	return taken;
}

static void finish(uint8_t *taken)
{
	on_complete(NULL, 0, taken, buffer_bytes, 0);
}

static void record(const struct cupti_kernel *kernel, size_t bytes)
{
	if (buffer && used_bytes + RECORD_BYTES > buffer_bytes)
		deliver();
	if (!buffer)
		buffer = take_buffer();
	if (!buffer) {
		dropped++;
		return;
	}
	memset(buffer + used_bytes, 0, RECORD_BYTES);
	memcpy(buffer + used_bytes, kernel, sizeof(*kernel));
	used_bytes += bytes < RECORD_BYTES ? bytes : RECORD_BYTES;
}

extern struct fake_cupti fake_cupti;
EXPORT struct fake_cupti fake_cupti = {
	.version = 130001,
	.no_more_records = CUPTI_NO_MORE_RECORDS,
	.launch = launch,
	.record = record,
	.deliver = deliver,
	.take_buffer = take_buffer,
	.finish = finish,
	.hold_one = hold_one,
	.is_holding = is_holding,
	.let_go = let_go,
};

#define X(name, parameters) int cupti##name parameters;
CUPTI_FUNCTIONS(X)
#undef X

EXPORT int cuptiGetVersion(uint32_t *version)
{
	wait_if_held(FAKE_CUPTI_GetVersion);
	*version = fake_cupti.version;
	return CUPTI_OK;
}

EXPORT int cuptiGetResultString(int result, const char **text)
{
	wait_if_held(FAKE_CUPTI_GetResultString);
	*text = result == CUPTI_OK ? "all is well" : "it will not";
	return CUPTI_OK;
}

EXPORT int cuptiSubscribe(struct cupti_subscriber **subscriber,
			  cupti_on_call call, void *argument)
{
	wait_if_held(FAKE_CUPTI_Subscribe);
	fake_cupti.subscribed++;
	on_call = call;
	on_call_argument = argument;
	*subscriber = (struct cupti_subscriber *)&fake_cupti;
	return fake_cupti.subscribe;
}

EXPORT int cuptiUnsubscribe(struct cupti_subscriber *subscriber)
{
	wait_if_held(FAKE_CUPTI_Unsubscribe);
	fake_cupti.unsubscribed += (void *)subscriber == (void *)&fake_cupti;
	return CUPTI_OK;
}

EXPORT int cuptiEnableCallback(uint32_t enable,
			       struct cupti_subscriber *subscriber,
			       uint32_t domain, uint32_t number)
{
	wait_if_held(FAKE_CUPTI_EnableCallback);
	(void)domain;
	(void)number;
	fake_cupti.callbacks += enable &&
				(void *)subscriber == (void *)&fake_cupti;
	return CUPTI_OK;
}

EXPORT int cuptiActivityRegisterCallbacks(cupti_on_request request,
					  cupti_on_complete complete)
{
	wait_if_held(FAKE_CUPTI_ActivityRegisterCallbacks);
	on_request = request;
	on_complete = complete;
	return CUPTI_OK;
}

static void report(const char *name, uint64_t start, uint64_t end)
{
	const struct cupti_kernel kernel = {
		.kind = CUPTI_CONCURRENT_KERNEL,
		.start = start,
		.end = end,
		.name = name,
	};

	record(&kernel, SIZE_MAX);
}

EXPORT int cuptiActivityEnable(uint32_t kind)
{
	const char *name = getenv(FAKE_CUPTI_KERNEL);

	wait_if_held(FAKE_CUPTI_ActivityEnable);
	fake_cupti.kind = kind;
	if (name) {
		report("gemm", 1000, 4000);
		report(name, 4000, 5000);
		deliver();
	}
	return fake_cupti.enable;
}

#ifndef BARE
EXPORT int cuptiActivityFlushPeriod(uint32_t ms)
{
	wait_if_held(FAKE_CUPTI_ActivityFlushPeriod);
	(void)ms;
	return CUPTI_OK;
}
#endif

EXPORT int cuptiActivityFlushAll(uint32_t flags)
{
	wait_if_held(FAKE_CUPTI_ActivityFlushAll);
	(void)flags;
	fake_cupti.flushes++;
	deliver();
	return CUPTI_OK;
}

EXPORT int cuptiActivityGetNextRecord(uint8_t *from, size_t valid_bytes,
				      const struct cupti_record **next)
{
	wait_if_held(FAKE_CUPTI_ActivityGetNextRecord);
	size_t place = 0;

	if (*next)
		place = (size_t)((const uint8_t *)*next - from) + RECORD_BYTES;
	if (place >= valid_bytes)
		return fake_cupti.no_more_records;
	*next = (const struct cupti_record *)(from + place);
	return CUPTI_OK;
}

EXPORT int cuptiActivityGetNumDroppedRecords(void *context, uint32_t stream,
					     size_t *count)
{
	wait_if_held(FAKE_CUPTI_ActivityGetNumDroppedRecords);
	(void)context;
	(void)stream;
	*count = dropped;
	dropped = 0;
	return CUPTI_OK;
}
