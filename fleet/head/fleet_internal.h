/* SPDX-License-Identifier: MIT */
/* A fleet, for the files that make it up: fleet.c, fleet_clocks.c,
 * fleet_keep.c, fleet_source.c and fleet_states.c. */
#ifndef NCS_FLEET_HEAD_FLEET_INTERNAL_H
#define NCS_FLEET_HEAD_FLEET_INTERNAL_H

#include <pthread.h>

#include "analysis/base/hash_table.h"
#include "fleet/head/fleet.h"
#include "fleet/head/fleet_alignment.h"
#include "fleet/stream/stream_reader.h"
#include "ncclstat/abi_header.h"
#include "record/read/budget.h"
#include "record/write/sink.h"
#include "shm/labels.h"

/* A host's clock. Nodes of one boot and time namespace share one. */
struct ncs_fleet_clock {
	char boot_id[40];
	char host[64]; /* tells hosts apart that have no boot id */
	uint64_t time_namespace;
	size_t nodes;  /* that have this clock */
	bool is_here;  /* it is this machine's */
	bool is_known; /* `move` is set */
	bool is_aligned;
	struct ncs_clock_move move; /* of its CLOCK_MONOTONIC */
	uint64_t error_ns;          /* if is_aligned */
	bool is_by_realtime;        /* by nothing but CLOCK_REALTIME */
	/* The least of arrival - taken, of all looks since a time that is some
	 * minutes ago, and of those since a later time. */
	int64_t arrivals_ns[2];
	uint64_t arrivals_since_ns;
	int64_t late_ns; /* arrival - taken of the latest look */
	struct ncs_clock_reading reading; /* the latest one */
	/* For the alignment by traffic: a constant that is added to its
	 * times, and when records of it came first; 0: none have. */
	bool has_base;
	int64_t base_ns;
	uint64_t records_since_ns;
	struct ncs_aligned traffic;
};

/* A rank, as the alignment knows it. */
struct ncs_fleet_rank {
	/* The segment that it is of. */
	uint64_t pid, process_start, created;
	struct ncs_fleet_reported reported;
};

/* The file to which looks of a node are written. */
struct ncs_fleet_file {
	int opened; /* -1: none */
	uint64_t bytes;
	struct ncs_file_head head; /* of its number, and its recording */
	struct ncs_end end; /* as it would be now */
};

struct ncs_fleet_node {
	struct ncs_name_link link; /* by facts.name */
	struct ncs_fleet *fleet;
	size_t number;
	struct ncs_node facts;
	bool is_linked;
	unsigned next_name; /* number for another one with its name */
	bool is_named;
	struct ncs_stream_reader *stream;
	size_t clock;                 /* SIZE_MAX: not known */
	struct ncs_fleet_rank *ranks; /* by their number in the stream */
	size_t rank_capacity;
	/* The launcher's word; NCS_NODE_STATE_COUNT: it says nothing. */
	enum ncs_node_state reported;
	uint64_t seen_looks;
	uint64_t seen_dropped;
	uint64_t seen_reported;
	uint64_t dropped_ns; /* when looks were dropped last; 0: never */
	uint64_t seen_limited;
	uint64_t limited_ns; /* when a limit was reached last; 0: never */
	char limited[NCS_NODE_WHY_BYTES]; /* which one */
	/* Bytes at two earlier times, for the rate. */
	uint64_t marks_ns[2];
	uint64_t marks_bytes[2];
	struct ncs_fleet_file file; /* of what is kept */
	uint64_t pass_paid;         /* for the looks that are passed on */
	uint64_t now_ns; /* of the bytes that are being taken */
};

struct ncs_fleet {
	struct ncs_source source; /* first: is cast to this struct */
	pthread_mutex_t mutex;
	pthread_cond_t changed;
	struct ncs_choice choice;
	/* Under the mutex: */
	struct ncs_budget budget; /* of what streams take */
	struct ncs_hash_table by_name;
	struct ncs_fleet_node **nodes;
	size_t count;
	size_t capacity;
	bool has_others; /* the last node stands for those without room */
	struct ncs_fleet_clock *clocks;
	size_t clock_count;
	size_t clock_capacity;
	struct ncs_fleet_alignment *alignment;
	uint64_t aligned_ns; /* when it was solved last; 0: never */
	uint64_t aligned_from_ns, aligned_until_ns; /* for which it holds */
	bool has_unsettled; /* a clock whose alignment is being found */
	struct ncs_clock_reading here; /* of this machine's clocks, */
	uint64_t here_ns; /* and when it was taken, as bytes have their time */
	/* The clocks that are aligned are so to this machine's. */
	bool is_aligned_here;
	const struct ncs_recorder_settings *keeps; /* NULL: nothing is kept */
	uint64_t run; /* of what is kept */
	struct ncs_packer *packer;  /* of what is kept; NULL until needed */
	struct ncs_sink_memory packed; /* bytes to be written next */
	ncs_fleet_pass *pass;
	void *pass_context;
	struct ncs_fleet_kept kept;
	/* The source's pass: */
	uint64_t now_ns;
	struct ncs_node *shown; /* as of the pass */
	size_t shown_count;
	size_t shown_capacity;
	size_t node;  /* at which next() continues */
	size_t place; /* among its ranks, then its unreadable segments */
	struct ncs_state_image image;
	struct ncs_snapshot snapshot;
	bool has_snapshot;
	struct ncs_machine_peaks peaks; /* of the node of that sample */
	struct ncs_header header;
	char labels[sizeof(struct ncs_labels)];
	char *stack;
	struct ncs_record *records; /* NCS_STREAM_RECORDS_MAX */
	char id[4400];
	char why[4200];
};

/* Finds the clock of a node, and what its latest look tells of it. The mutex is
 * held. Returns 0 or -ENOMEM. */
int ncs_fleet_clock_take(struct ncs_fleet *fleet, struct ncs_fleet_node *node);

/* Aligns clocks by what was told until now. The mutex is held. Returns 0 or
 * -ENOMEM. */
int ncs_fleet_clocks_align(struct ncs_fleet *fleet, uint64_t now_ns);

/* Has the alignment take the records of a rank that it has not seen. The mutex
 * is held. Returns 0 or -ENOMEM. */
int ncs_fleet_clock_tell(struct ncs_fleet *fleet, struct ncs_fleet_node *node,
			 size_t number, const struct ncs_snapshot *snapshot);

/* Whether a clock may soon be aligned: then records should wait for it. The
 * mutex is held. */
bool ncs_fleet_clock_is_due(const struct ncs_fleet *fleet, size_t clock);

/* Names a node; a number makes a name unique that is taken. The mutex is
 * held. */
void ncs_fleet_node_name(struct ncs_fleet_node *node, const char *name);

/* Notes that a node is over a limit as of its latest bytes. The mutex is held. */
void ncs_fleet_node_limit(struct ncs_fleet_node *node, const char *why);

/* Sets a node's facts as of now. The mutex is held. */
void ncs_fleet_node_judge(struct ncs_fleet_node *node, uint64_t now_ns);

/* Writes a look to the node's file, and passes it on; an ncs_stream_keep. */
void ncs_fleet_keep_look(void *node, const void *bytes, size_t size,
			 size_t end);

/* Makes the source. */
void ncs_fleet_source_init(struct ncs_fleet *fleet);
void ncs_fleet_source_release(struct ncs_fleet *fleet);

#endif
