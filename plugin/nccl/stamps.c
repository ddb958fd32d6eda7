/* SPDX-License-Identifier: MIT */
/* Stamps in CUDA graphs; see stamps.h. */
#include "plugin/nccl/stamps.h"

#include <errno.h>
#include <string.h>
#include <sys/mman.h>

#include "shm/atomics.h"

#define RING_BYTES (NCS_STAMP_RING * sizeof(struct ncs_stamp_slot))
#define CLOCK_BYTES 4096u
#define NUMBER_SHIFT 32
#define TIME_SHIFT 16

/* The kernels, in PTX, which the driver compiles for its GPU. */
#define STAMP_KERNEL "ncclstat_stamp"
#define CLOCK_KERNEL "ncclstat_clock"

/* One thread takes the next number, and writes 16 bytes by one instruction, which
 * the host sees together. 0x3ffff is NCS_STAMP_RING - 1. */
static const char kernels[] =
	".version 7.0\n"
	".target sm_70\n"
	".address_size 64\n"
	".global .align 4 .u32 ncclstat_stamps = 0;\n"
	".visible .entry " STAMP_KERNEL "(\n"
	"\t.param .u64 ring, .param .u32 word)\n"
	"{\n"
	"\t.reg .u64 %place, %first, %second, %time;\n"
	"\t.reg .u32 %number, %index, %word;\n"
	"\tmov.u64 %time, %globaltimer;\n"
	"\tld.param.u64 %place, [ring];\n"
	"\tld.param.u32 %word, [word];\n"
	"\tcvta.to.global.u64 %place, %place;\n"
	"\tatom.global.add.u32 %number, [ncclstat_stamps], 1;\n"
	"\tadd.u32 %number, %number, 1;\n"
	"\tand.b32 %index, %number, 0x3ffff;\n"
	"\tmul.wide.u32 %first, %index, 16;\n"
	"\tadd.u64 %place, %place, %first;\n"
	"\tmov.b64 %first, {%word, %number};\n"
	"\tshl.b64 %second, %time, 16;\n"
	"\tcvt.u64.u32 %time, %number;\n"
	"\tand.b64 %time, %time, 0xffff;\n"
	"\tor.b64 %second, %second, %time;\n"
	"\tst.volatile.global.v2.u64 [%place], {%first, %second};\n"
	"\tret;\n"
	"}\n"
	".visible .entry " CLOCK_KERNEL "(\n"
	"\t.param .u64 place, .param .u64 number)\n"
	"{\n"
	"\t.reg .u64 %place, %time, %number;\n"
	"\tld.param.u64 %place, [place];\n"
	"\tld.param.u64 %number, [number];\n"
	"\tcvta.to.global.u64 %place, %place;\n"
	"\tmov.u64 %time, %globaltimer;\n"
	"\tst.volatile.global.v2.u64 [%place], {%time, %number};\n"
	"\tret;\n"
	"}\n";

struct ncs_stamps ncs_stamps[NCS_STAMPS_MAX];

/* Loads the kernels into the current context. */
static int load_kernels(struct ncs_stamps *stamps)
{
	int error = ncs_cuda.module_load(&stamps->module, kernels);

	if (error)
		return error;
	error = ncs_cuda.module_function(&stamps->stamp, stamps->module,
					 STAMP_KERNEL);
	if (!error)
		error = ncs_cuda.module_function(&stamps->clock, stamps->module,
						 CLOCK_KERNEL);
	if (error)
		ncs_cuda.module_unload(stamps->module);
	return error;
}

/* Maps a ring, and lets the GPU write to it. */
static int make_ring(struct ncs_stamps *stamps)
{
	size_t bytes = RING_BYTES + CLOCK_BYTES;
	void *memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE,
			    MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	int error;

	if (memory == MAP_FAILED)
		return -errno;
	error = ncs_cuda.host_register(memory, bytes,
				       CUDA_HOST_REGISTER_DEVICE_MAP_FLAG);
	if (!error) {
		error = ncs_cuda.host_device_pointer(&stamps->ring_address,
						     memory, 0);
		if (error)
			ncs_cuda.host_unregister(memory);
	}
	if (error) {
		munmap(memory, bytes);
		return error;
	}
	stamps->ring = memory;
	return 0;
}

static int make(struct ncs_stamps *stamps)
{
	int error = load_kernels(stamps);

	if (error)
		return error;
	error = make_ring(stamps);
	if (error)
		ncs_cuda.module_unload(stamps->module);
	return error;
}

/* Makes a context's stamps in an entry that this thread has taken. */
static bool make_in(struct ncs_stamps *stamps,
		    const struct ncs_cuda_primary *primary)
{
	int error = make(stamps);

	stamps->error = error;
	stamps->primary = *primary;
	/* ORDER: pairs with ncs_stamps_of() (plugin/nccl/stamps.c) and with
	 * ncs_replays_serve() (plugin/life/replays.c): it is complete. */
	ncs_store_release(&stamps->state,
			  error ? NCS_STAMPS_FAILED : NCS_STAMPS_READY);
	return !error;
}

struct ncs_stamps *ncs_stamps_of(const struct ncs_cuda_primary *primary)
{
	for (unsigned i = 0; i < NCS_STAMPS_MAX; i++) {
		struct ncs_stamps *stamps = &ncs_stamps[i];
		/* ORDER: pairs with make_in() (plugin/nccl/stamps.c). */
		uint64_t state = ncs_load_acquire(&stamps->state);

		/* ORDER: pairs with ncs_stamps_of() (plugin/nccl/stamps.c): one
		 * thread makes it. */
		if (state == NCS_STAMPS_UNUSED &&
		    ncs_cas_acquire_release(&stamps->state, NCS_STAMPS_UNUSED,
					    NCS_STAMPS_MAKING))
			return make_in(stamps, primary) ? stamps : NULL;
		if (state == NCS_STAMPS_UNUSED || state == NCS_STAMPS_MAKING)
			return NULL;
		if (stamps->primary.context == primary->context &&
		    stamps->primary.id == primary->id)
			return state == NCS_STAMPS_READY ? stamps : NULL;
	}
	return NULL;
}

int ncs_stamps_capture(void *stream, unsigned long long *id)
{
	int status = 0;
	int error = ncs_cuda.stream_capture_info(stream, &status, id, NULL,
						 NULL, NULL);

	if (!error && status != CUDA_CAPTURE_STATUS_ACTIVE)
		error = CUDA_ERROR_CAPTURE_FIRST;
	return error;
}

/* Puts a kernel of one thread into a stream. */
static int launch(void *kernel, void *stream, void **arguments)
{
	return ncs_cuda.launch_kernel(kernel, 1, 1, 1, 1, 1, 1, 0, stream,
				      arguments, NULL);
}

int ncs_stamps_put(const struct ncs_stamps *stamps, void *stream, uint32_t word)
{
	unsigned long long ring = stamps->ring_address;
	void *arguments[] = { &ring, &word };

	/* ORDER: pairs with ncs_stamps_read() (plugin/nccl/stamps.c): the kernel
	 * writes both words of a slot by one instruction. */
	return launch(stamps->stamp, stream, arguments);
}

int ncs_stamps_ask(const struct ncs_stamps *stamps, void *stream,
		   uint64_t number)
{
	unsigned long long place = stamps->ring_address + RING_BYTES;
	void *arguments[] = { &place, &number };

	/* ORDER: pairs with ask_clock() (plugin/life/replays.c): the kernel
	 * writes both words by one instruction. */
	return launch(stamps->clock, stream, arguments);
}

const struct ncs_stamp_clock *ncs_stamps_clock(const struct ncs_stamps *stamps)
{
	return (const struct ncs_stamp_clock *)&stamps->ring[NCS_STAMP_RING];
}

enum ncs_stamp_read ncs_stamps_read(const struct ncs_stamps *stamps,
				    uint32_t *number, uint32_t *word,
				    uint64_t *time_ns)
{
	const struct ncs_stamp_slot *stamp =
		&stamps->ring[*number & (NCS_STAMP_RING - 1)];
	/* ORDER: pairs with ncs_stamps_put() (plugin/nccl/stamps.c),
	 * which writes both words at once. */
	uint64_t first = ncs_load_acquire(&stamp->word);
	/* ORDER: pairs with ncs_stamps_put() (plugin/nccl/stamps.c): the
	 * first word is read again after this one. */
	uint64_t time = ncs_load_acquire(&stamp->time);
	uint32_t found = (uint32_t)(first >> NUMBER_SHIFT);

	if ((int32_t)(found - *number) < 0 || found == 0)
		return NCS_STAMP_NONE;
	if (found != *number) {
		*number = found;
		return NCS_STAMP_OVERWRITTEN;
	}
	if (ncs_load_relaxed(&stamp->word) != first ||
	    (uint16_t)time != (uint16_t)found)
		return NCS_STAMP_NONE;
	*word = (uint32_t)first;
	*time_ns = time >> TIME_SHIFT;
	return NCS_STAMP_THERE;
}

void ncs_stamps_forget(void)
{
	memset(ncs_stamps, 0, sizeof(ncs_stamps));
}
