#!/bin/sh
# SPDX-License-Identifier: MIT
# A hook of enroot, also for pyxis: loads the plugin of the host into all containers that
# do not choose another one. /dev/shm is the host's there, so that ncclstat sees the job
# from outside; the image needs nothing of ncclstat.
#
#   /etc/enroot/hooks.d/60-ncclstat.sh
#
# Tested (test/ui/recipes.sh) with a stand-in that mounts what enroot is told to.
grep -q '^NCCL_PROFILER_PLUGIN=' "$ENROOT_ENVIRON" && exit
plugin=$(ncclstat env | sed -n "s/^export NVTX_INJECTION64_PATH='\(.*\)'$/\1/p")
[ -n "$plugin" ] || exit 0
# Folders that the loader looks into by itself: images have a LD_LIBRARY_PATH of their own.
for folder in /usr/lib /usr/lib64; do
	echo "$plugin $folder/${plugin##*/} none x-create=file,bind,ro,nosuid,nodev,private"
done >>"$ENROOT_MOUNTS"
echo "NCCL_PROFILER_PLUGIN=${plugin##*/}" >>"$ENROOT_ENVIRON"
