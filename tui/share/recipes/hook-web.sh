#!/bin/sh
# SPDX-License-Identifier: MIT
# For "ncclstat --watch --on=stuck:hook-web.sh": posts the diagnosis, as it is in
# ncclstat-json(5), to $WEB_HOOK.
#
# Tested by test/ui/recipes.sh.
exec curl --silent --show-error --fail --max-time 20 \
	--header 'Content-Type: application/json' --data-binary @- "$WEB_HOOK"
