#!/bin/sh
# SPDX-License-Identifier: MIT
# Apptainer with the plugin of the host, in the place of "apptainer":
#
#   apptainer.sh exec --nv image.sif python train.py
#
# /dev/shm is the host's unless --contain or a similar option is given, so that ncclstat
# sees the job from outside; the image needs nothing of ncclstat. A directory in
# NCCLSTAT_DIR is mounted.
#
# Tested (test/ui/recipes.sh) with a stand-in that mounts what Apptainer is told to.
plugin=$(ncclstat env | sed -n "s/^export NVTX_INJECTION64_PATH='\(.*\)'$/\1/p")
if [ -n "$plugin" ] && [ -z "${NCCL_PROFILER_PLUGIN-}" ]; then
	# Folders that the loader looks into by itself: images have a LD_LIBRARY_PATH of
	# their own.
	name=${plugin##*/}
	mounts="$plugin:/usr/lib/$name,$plugin:/usr/lib64/$name"
	APPTAINER_BIND="$mounts${NCCLSTAT_DIR:+,$NCCLSTAT_DIR}${APPTAINER_BIND:+,$APPTAINER_BIND}"
	export APPTAINER_BIND APPTAINERENV_NCCL_PROFILER_PLUGIN="$name"
fi
exec apptainer "$@"
