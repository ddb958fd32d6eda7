#!/bin/sh
# SPDX-License-Identifier: MIT
# Checks that plugin/nccl/cupti_abi.h agrees with CUPTI's own headers: numbers,
# sizes, and the offsets in each of their kernel records since CUDA 11.0.
#
#   test/check_cupti.sh [FOLDER WITH CUDA'S HEADERS]
#
# Skipped without these headers. First it compares a wrong number, to see that
# this is noticed.
set -eu
cd "$(dirname "$0")/.."

headers=${1:-${CUDA_HOME:-/usr/local/cuda}/include}
if [ ! -e "$headers/cupti.h" ]; then
	echo "skipped: no headers of CUPTI in $headers"
	exit 77
fi
tmp=$(mktemp -d "${TMPDIR:-/tmp}/ncclstat-cupti.XXXXXX")
trap 'rm -rf "$tmp"' EXIT
trap 'exit 130' HUP INT TERM
CC=${CC:-cc}

# The fifth version of the record is that of CUDA 11.0.
records=$(grep -hoE '^} CUpti_ActivityKernel([5-9]|[1-9][0-9]);' \
	"$headers/cupti_activity.h" "$headers/cupti_activity_deprecated.h" \
	2>/dev/null | sed 's/^} \(.*\);$/\1/')
[ -n "$records" ] || {
	echo "no record of a kernel in $headers"
	exit 1
}

{
	cat <<-'END'
	#include <cupti.h>
	#include "plugin/nccl/cupti_abi.h"
	#define SAME(ours, theirs) \
		static_assert((long)(ours) == (long)(theirs), #theirs)
	SAME(CUPTI_OK, CUPTI_SUCCESS);
	SAME(CUPTI_NO_MORE_RECORDS, CUPTI_ERROR_MAX_LIMIT_REACHED);
	SAME(CUPTI_ANOTHER_SUBSCRIBER,
	     CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED);
	SAME(CUPTI_CONCURRENT_KERNEL, CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL);
	SAME(CUPTI_ENTER, CUPTI_API_ENTER);
	SAME(CUPTI_DRIVER, CUPTI_CB_DOMAIN_DRIVER_API);
	SAME(CUPTI_RUNTIME, CUPTI_CB_DOMAIN_RUNTIME_API);
	#define X(domain, number, name) \
		SAME(number, CUPTI_##domain##_TRACE_CBID_##name);
	CUPTI_LAUNCHES(X)
	#undef X
	#define CALL(ours, theirs) SAME(offsetof(struct cupti_call, ours), \
					offsetof(CUpti_CallbackData, theirs))
	CALL(site, callbackSite);
	CALL(context, context);
	CALL(correlation, correlationId);
	#define KERNEL(type, ours, theirs) \
		SAME(offsetof(struct cupti_kernel, ours), \
		     offsetof(type, theirs))
	#define KERNELS(type) \
		KERNEL(type, kind, kind); \
		KERNEL(type, start, start); \
		KERNEL(type, end, end); \
		KERNEL(type, device, deviceId); \
		KERNEL(type, stream, streamId); \
		KERNEL(type, correlation, correlationId); \
		KERNEL(type, name, name)
	END
	for record in $records; do
		echo "KERNELS($record);"
	done
} >"$tmp/compare.c"

# compare FOLDER: prints what is wrong with the folder's
# plugin/nccl/cupti_abi.h.
compare() {
	$CC -std=c11 -fsyntax-only -DNV_CUPTI "-I$1" -I. \
		-isystem "$headers" "$tmp/compare.c" 2>&1 | grep 'error:' || :
}

mkdir -p "$tmp/wrong/plugin/nccl"
sed 's/X(DRIVER, 514,/X(DRIVER, 513,/' plugin/nccl/cupti_abi.h \
	>"$tmp/wrong/plugin/nccl/cupti_abi.h"
if ! compare "$tmp/wrong" | grep -q cuGraphLaunch; then
	echo "self-test: a wrong number is not noticed"
	exit 1
fi
compare . >"$tmp/found"
cat "$tmp/found"
echo "compared with: $(echo "$records" | tr '\n' ' ')"
[ ! -s "$tmp/found" ]
