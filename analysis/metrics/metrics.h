/* SPDX-License-Identifier: MIT */
/* Metrics of a node, for Prometheus: takes a model with its diagnosis and writes
 * what ncclstat/tables/metrics.def lists. Values come from the functions that
 * views and dumps use.
 *
 * What has been counted is kept from one text to the next, so that counters
 * never fall, and a peer keeps its name. Pure, but for writing to the caller's
 * file. Not thread-safe.
 */
#ifndef NCS_ANALYSIS_METRICS_METRICS_H
#define NCS_ANALYSIS_METRICS_METRICS_H

#include "analysis/diagnosis/diagnosis.h"
#include "analysis/metrics/metric_writer.h"
#include "analysis/model/rank.h"
#include "shm/labels.h"

/* --- Ranks ---------------------------------------------------------------- */

/* The ranks that have metrics, and their labels. No two have the same labels comm and
 * rank, for others join by these. Ranks that have finished have none; those that died
 * have some for a while. Pure. */

/* How long after its end a rank that died has metrics. */
#define NCS_METRICS_DEAD_NS UINT64_C(600000000000)

struct ncs_metric_rank {
	const struct ncs_rank *rank;
	bool is_live;
	/* The communicator's id, 16 hexadecimal digits, or ~PID.N where it is
	 * not known; the rank's number, or ~PID. */
	char comm[40];
	char number[24];
	/* The model's; "" where they are not known. */
	const char *comm_name, *job_id, *node;
};

/* Values of the labels NCS_METRIC_COMM, NCS_METRIC_NODE and NCS_METRIC_RANK. */
#define NCS_COMM_LABELS(entry) \
	(entry)->comm, (entry)->comm_name, (entry)->job_id
#define NCS_NODE_LABELS(entry) NCS_COMM_LABELS(entry), (entry)->node
#define NCS_RANK_LABELS(entry) NCS_NODE_LABELS(entry), (entry)->number

struct ncs_metric_ranks {
	struct ncs_metric_rank *ranks; /* in the model's order */
	size_t count, capacity;
	uint64_t duplicates; /* left out: another one has the same labels */
};

/* Finds the ranks of the model. All zeros is an empty list. Returns 0, or
 * -ENOMEM with some missing. */
int ncs_metric_ranks_find(struct ncs_metric_ranks *list,
			  const struct ncs_model *model);

/* Sets the labels of a rank. */
void ncs_metric_rank_name(struct ncs_metric_rank *entry,
			  const struct ncs_rank *rank);

/* Returns the label of a rank's job that has this key; "" if it has none. */
const char *ncs_metric_job_label(const struct ncs_rank *rank, const char *key);

/* --- Peers ---------------------------------------------------------------- */

/* Which peers of a rank metrics name: the first that it had, so that a peer that
 * has a name keeps it and none moves to "other". Pure. */

#define NCS_METRIC_PEERS_MAX 8u

/* All zeros is an empty list. */
struct ncs_named_peers {
	struct ncs_peers_of_rank {
		uint32_t serial; /* of the rank */
		bool is_seen;
		size_t count;
		int32_t peers[NCS_METRIC_PEERS_MAX];
	} *ranks;
	size_t count, capacity;
};

/* Sums over the channels between a rank and a peer, or its other peers. */
struct ncs_peer_sum {
	bool is_used; /* there is such a channel */
	bool sends, receives;
	bool bytes_known;
	uint64_t sent_bytes;
	uint64_t time_ns[NCS_CHANNEL_STATE_COUNT];
};

/* Adds up a rank's channels by peer: the named ones in their order, then one
 * for all others. Names new peers while there is room. Returns the named peers;
 * NULL if there is no memory. */
const struct ncs_peers_of_rank *
ncs_peers_sum(struct ncs_named_peers *list, const struct ncs_rank *rank,
	      struct ncs_peer_sum sums[NCS_METRIC_PEERS_MAX + 1]);

/* Forgets ranks of which nothing was added up since the last call. */
void ncs_peers_forget(struct ncs_named_peers *list);

/* --- Jobs ----------------------------------------------------------------- */

/* The jobs whose ranks have metrics, to be summed up when the last rank has gone.
 * A job is told by the id of its batch system; ranks without one are one job.
 * Pure. */

/* All zeros is an empty list. */
struct ncs_metric_jobs {
	struct ncs_metric_job {
		char id[NCS_LABEL_VALUE_BYTES]; /* "": not known */
		bool is_live;                   /* so is a rank */
		/* When its first rank began and the latest one was alive. */
		uint64_t begun_ns, ended_ns;
		/* The worst that was found in any look. */
		enum ncs_verdict_severity severity;
		const char *verdict; /* its name, or "" */
	} * jobs;
	size_t count, capacity;
	bool without_ids;
};

/* Looks at the ranks: adds jobs, and forgets those that were not live in the look
 * before. Without ids, all ranks are one job. Returns 0, or -ENOMEM with some
 * missing. */
int ncs_metric_jobs_look(struct ncs_metric_jobs *list,
			 const struct ncs_model *model,
			 const struct ncs_diagnosis *diagnosis,
			 bool without_ids);

/* Returns the job of a rank; NULL if it is not in the list. */
struct ncs_metric_job *ncs_metric_jobs_find(const struct ncs_metric_jobs *list,
					    const struct ncs_rank *rank);

/* --- Metrics -------------------------------------------------------------- */

#define NCS_METRICS_SERIES_MIN 100u
#define NCS_METRICS_SERIES_DEFAULT 2000u
#define NCS_METRICS_SERIES_MAX 1000000u

struct ncs_metrics {
	uint64_t wanted;     /* set of metrics; see metric_writer.h */
	uint64_t series_max; /* the most series of a text */
	/* Leaves out what users choose: labels, metrics whose series differ by
	 * such a label, and names of hosts but this one's. */
	bool hides_names;
	char host[64]; /* the name of this host, if hides_names */
	/* Private: */
	struct ncs_counter_store store;
	struct ncs_metric_ranks ranks;
	struct ncs_named_peers peers;
	struct ncs_metric_jobs jobs;
};

/* When and how long the model was updated. */
struct ncs_metrics_look {
	uint64_t realtime_ns; /* the model's now_ns, since 1970 */
	uint64_t took_ns;
};

/* Makes metrics without a past; ncs_metrics_release() releases all memory. */
void ncs_metrics_init(struct ncs_metrics *metrics);
void ncs_metrics_release(struct ncs_metrics *metrics);

/* Whether the wanted metrics need records; states are enough for others. */
bool ncs_metrics_need_records(const struct ncs_metrics *metrics);

/* Writes all metrics of the model to `file`; the caller checks for write errors.
 * Returns 0, or -ENOMEM if some are missing. */
int ncs_metrics_write(struct ncs_metrics *metrics, FILE *file,
		      enum ncs_metric_format format,
		      const struct ncs_model *model,
		      const struct ncs_diagnosis *diagnosis,
		      const struct ncs_metrics_look *look);

#endif
