-- SPDX-License-Identifier: MIT
-- The network transfers that took longest, and what each of them waited for
-- most: gpu (the sender's kernel had not produced the data), peer (the
-- receiver's buffer was not free), network; sender, flush, kernel (the
-- receiver's kernel did not take the data).
SELECT start_ns, duration_ns / 1e3 AS duration_us, host, pid, communicator,
	communicator_id, rank, direction, peer, channel, function, operation,
	step, bytes,
	list_max([
		{'wait_ns': coalesce(send_gpu_wait_ns, 0), 'wait': 'gpu'},
		{'wait_ns': coalesce(send_peer_wait_ns, 0), 'wait': 'peer'},
		{'wait_ns': coalesce(send_wait_ns, 0), 'wait': 'network'},
		{'wait_ns': coalesce(recv_wait_ns, 0), 'wait': 'sender'},
		{'wait_ns': coalesce(recv_flush_wait_ns, 0), 'wait': 'flush'},
		{'wait_ns': coalesce(recv_gpu_wait_ns, 0), 'wait': 'kernel'}
	]).wait AS waited_for
FROM '*.steps.parquet'
ORDER BY duration_ns DESC, start_ns, rank, step
LIMIT 20;
