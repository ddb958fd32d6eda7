#!/bin/sh
# SPDX-License-Identifier: MIT
# A short run of the soak: 10^8 records beside a recorder, a view and metrics.
# "make soak" runs the long one.
cd "$(dirname "$0")/../.." || exit
exec python3 test/soak/soak.py --records 1e8
