/* SPDX-License-Identifier: MIT */
/* Which kernels communicate, by names as CUPTI reports them. */
#include "test/unit/support/unit.h"

/* Included as text: the plugin's objects are for a shared library. */
#include "plugin/life/kernel_kind.c"

static void expect(enum ncs_kernel_kind kind, const char *const *names,
		   size_t count)
{
	for (size_t i = 0; i < count; i++)
		if (ncs_kernel_kind_of(names[i]) != kind)
			fail_msg("%s: kind %d instead of %d", names[i],
				 (int)ncs_kernel_kind_of(names[i]), (int)kind);
}

#define EXPECT(kind, names) expect(kind, names, COUNT(names))

TEST(communication_outside_nccl_is_told_by_its_name)
{
	static const char *const names[] = {
		/* vLLM, SGLang */
		"_ZN4vllm26cross_device_reduce_1stageI13__nv_bfloat16Li8EEEvPNS"
		"_8RankDataENS_11RankSignalsEPNS_6SignalEPT_ii",
		"_ZN6sglang26cross_device_reduce_2stageI6__halfLi4EEEvPNS_8Rank"
		"DataE",
		/* PyTorch, in an anonymous namespace */
		"_ZN55_GLOBAL__N__8d29bc1e_26_CUDASymmetricMemoryOps_cu_1234526"
		"multimem_all_reduce_kernelIN3c108BFloat16ELi16EEEvPT_mPPjmm",
		"_ZN12_GLOBAL__N_126one_shot_all_reduce_kernelIfLi4ELi8ELb0EEEv",
		/* TensorRT-LLM, FlashInfer */
		"_ZN12tensorrt_llm7kernels22oneShotAllReduceKernelI6__halfEEv",
		"_ZN10flashinfer23trtllm_allreduce_fusion39allreduce_fusion_ker"
		"nel_oneshot_lamportILNS0_22AllReduceFusionPatternE1EEEv",
		/* DeepEP, NVSHMEM, static functions, and names that C++ has not
		 * mangled */
		"_ZN7deep_ep9internode8dispatchILb0ELi4EEEvP4int4Pf",
		"_Z29nvshmemi_proxy_rma_entrypointILi1ELi0EEvPvS0_",
		"_ZL26cross_device_reduce_1stagePv",
		"_ZN2opL26cross_device_reduce_1stageEPv",
		"nvshmemi_barrier_kernel",
		"userbuffers_fp16_sum_inplace_gpu_rr_rs_oop",
	};

	EXPECT(NCS_KIND_OUTSIDE, names);
}

TEST(nccl_is_told_by_its_name)
{
	static const char *const names[] = {
		"_Z40ncclDevKernel_AllReduce_Sum_f16_RING_LL24ncclDev",
		"_Z27ncclDevKernel_SendRecvL24ncclDev",
		"ncclKernel_Broadcast",
		"_Z36ncclSymkDevKernel_AllReduce_multimem21ncclSymk",
	};

	EXPECT(NCS_KIND_NCCL, names);
}

TEST(all_others_compute)
{
	static const char *const names[] = {
		NULL,
		"",
		"_Z",
		"_ZN",
		"_Z99",
		"_Z4gemmPKfS0_Pf",
		"triton_red_fused_all_reduce_add_3",
		/* Only an argument is named so. */
		"_ZN2at6native29vectorized_elementwise_kernelILi4EN7deep_ep4add"
		"EEEviT0_",
		"_Z4copyN7nvshmem4heapE",
		/* A length that goes beyond the name, and one that overflows. */
		"_ZN99999999999999999999999994gemm",
		"_Z18446744073709551615gemm",
	};

	EXPECT(NCS_KIND_COMPUTE, names);
}
