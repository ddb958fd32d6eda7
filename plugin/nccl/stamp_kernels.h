/* SPDX-License-Identifier: MIT */
/* The kernels of stamps.h, in PTX, which the driver compiles for its GPU.
 *
 * Text only, and only for plugin/nccl/stamps.c. The ring's size and the layouts
 * are those of stamps.h.
 */
#ifndef NCS_PLUGIN_NCCL_STAMP_KERNELS_H
#define NCS_PLUGIN_NCCL_STAMP_KERNELS_H

#define NCS_STAMP_KERNEL "ncclstat_stamp"
#define NCS_STAMP_CLOCK_KERNEL "ncclstat_clock"

/* One thread takes the next number, and writes 16 bytes by one instruction, which
 * the host sees together. 0x3ffff is NCS_STAMP_RING - 1. */
static const char ncs_stamp_kernels[] =
	".version 7.0\n"
	".target sm_70\n"
	".address_size 64\n"
	".global .align 4 .u32 ncclstat_stamps = 0;\n"
	".visible .entry " NCS_STAMP_KERNEL "(\n"
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
	".visible .entry " NCS_STAMP_CLOCK_KERNEL "(\n"
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

#endif
