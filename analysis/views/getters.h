/* SPDX-License-Identifier: MIT */
/* Getters of the cells that are computed, by kind of row. Only columns.c, whose
 * table names them, calls them.
 *
 * A getter gets a row and a value that is unknown (NCS_VALUE_NONE); it sets the
 * value if it knows it. Rates and shares cover the window, from the rank's base
 * to now. Pure: a getter reads its row and nothing else.
 */
#ifndef NCS_ANALYSIS_VIEWS_GETTERS_H
#define NCS_ANALYSIS_VIEWS_GETTERS_H

#include "analysis/views/columns.h"

#define NCS_GETTER(name) \
	void ncs_get_##name(const struct ncs_row *row, struct ncs_value *value)
#define NCS_GETTER_WITH(name) \
	void ncs_get_##name(const struct ncs_row *row, int argument, \
			    struct ncs_value *value)

/* Sets how long a rank has been in something since a time, 0 if that is not known:
 * until now or until its end, and at least so long if nobody knows when its process
 * died. Not a getter, but of use to several; in rank_getters.c. */
void ncs_value_set_lasting(struct ncs_value *value, const struct ncs_rank *rank,
			   uint64_t since_ns);

/* rank_getters.c: any row of a rank or communicator (comm, nccl_version, job),
 * ranks, and communicators. The argument of rank_bytes_rate is 1 for bytes
 * sent, 0 for bytes received. */
NCS_GETTER(comm);
NCS_GETTER(nccl_version);
NCS_GETTER(job);
NCS_GETTER(rank_pid);
NCS_GETTER(rank_gpu);
NCS_GETTER(rank_state);
NCS_GETTER(rank_wait);
NCS_GETTER(rank_oldest);
NCS_GETTER(rank_operation);
NCS_GETTER(rank_user_tag);
NCS_GETTER(rank_operations_rate);
NCS_GETTER_WITH(rank_bytes_rate);
NCS_GETTER(rank_busbw);
NCS_GETTER(rank_recent);
NCS_GETTER(rank_last_share);
NCS_GETTER(rank_late_cost);
NCS_GETTER(rank_late_cause);
NCS_GETTER(rank_lost);
NCS_GETTER(rank_last_call);
NCS_GETTER(rank_ahead);
NCS_GETTER(rank_moved);
NCS_GETTER(rank_stream);
NCS_GETTER(rank_settings);
NCS_GETTER(communicator_behind);
NCS_GETTER(communicator_slowest);
NCS_GETTER(communicator_ahead);
NCS_GETTER(communicator_straggler);
NCS_GETTER(communicator_id);

/* channel_getters.c: channels and proxy threads. The argument of proxy_share is
 * an enum ncs_proxy_state, that of proxy_rate an enum ncs_proxy_transition. */
NCS_GETTER(channel_direction);
NCS_GETTER(channel_since);
NCS_GETTER(channel_step);
NCS_GETTER(channel_rate);
NCS_GETTER(channel_recent);
NCS_GETTER(channel_gpu_share);
NCS_GETTER(channel_peer_share);
NCS_GETTER(channel_net_share);
NCS_GETTER(channel_idle_share);
NCS_GETTER(proxy_since);
NCS_GETTER_WITH(proxy_share);
NCS_GETTER_WITH(proxy_rate);

/* collective_getters.c: functions of communicators. The argument of bandwidth is
 * 1 for bus, 0 for algorithm bandwidth. */
NCS_GETTER(collective_name);
NCS_GETTER(collective_ranks);
NCS_GETTER(collective_operations);
NCS_GETTER(collective_rate);
NCS_GETTER(collective_bytes);
NCS_GETTER(collective_time);
NCS_GETTER(collective_moving);
NCS_GETTER_WITH(collective_bandwidth);
NCS_GETTER(collective_recent);
NCS_GETTER(collective_timing);
NCS_GETTER(collective_timed);
NCS_GETTER(collective_age);

/* operation_getters.c: operations by function, by class, and by range. The
 * argument of percentiles is the percentage, that of bandwidth as above. */
NCS_GETTER(function_name);
NCS_GETTER(function_rate);
NCS_GETTER_WITH(function_percentile);
NCS_GETTER(function_timing);
NCS_GETTER(function_timed);
NCS_GETTER(class_size);
NCS_GETTER(class_algorithm);
NCS_GETTER(class_protocol);
NCS_GETTER(class_rate);
NCS_GETTER(class_timed);
NCS_GETTER(class_time);
NCS_GETTER_WITH(class_bandwidth);
NCS_GETTER_WITH(class_percentile);
NCS_GETTER(class_max);
NCS_GETTER(class_timing);
NCS_GETTER(range_name);
NCS_GETTER(range_time);
NCS_GETTER(range_busy);
NCS_GETTER(range_busybw);
NCS_GETTER(range_wait);
NCS_GETTER(range_wait_share);
NCS_GETTER(range_hidden);
NCS_GETTER_WITH(range_percentile);

/* finding_getters.c: findings, and tracks of the timeline. */
NCS_GETTER(finding_comm);
NCS_GETTER(finding_channel);
NCS_GETTER(finding_call);
NCS_GETTER(track_name);
NCS_GETTER(track_now);
NCS_GETTER(track_since);

/* node_getters.c: nodes. */
NCS_GETTER(node_state);
NCS_GETTER(node_age);
NCS_GETTER(node_rate);
NCS_GETTER(node_version);
NCS_GETTER(node_why);

/* Sets the values of a sparkline (rank_getters.c). Each of `count` refreshes has
 * a value, whatever the window. */
void ncs_value_set_recent(struct ncs_value *value,
			  const struct ncs_recent *recent, uint64_t count);

#endif
