/* SPDX-License-Identifier: MIT */
/* A job that is simulated event by event. Its truth is known: the same job can be
 * made without its fault, or with another change.
 *
 * A rank's host runs through a program and enqueues kernels and operations, at
 * most some steps ahead of its GPU. Streams run what they have been given one
 * after the other. The kernel of an operation runs until all its ranks have
 * begun and the data has moved. Everything is a function of the options. Chance
 * depends on the place in the program only: a fault changes nothing but what it
 * delays.
 *
 * Adapters take each operation, with what its ranks did in it and when, and show it
 * as ncclstat sees jobs: sim_source.h as records, sim_states.h as states, sim_parts.h
 * as parts. sim_recording.h writes what a source shows as recordings of hosts, and
 * sim_stream.h as looks at very many nodes.
 */
#ifndef NCS_TEST_UNIT_SUPPORT_SIMULATOR_SIM_JOB_H
#define NCS_TEST_UNIT_SUPPORT_SIMULATOR_SIM_JOB_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include "ncclstat/abi_values.h"
#include "ncclstat/names.h"

#define SIM_RANKS_MAX 64u

/* True time 0 by a perfect clock. */
#define SIM_BEGIN_NS UINT64_C(1000000000000)

/* A host that may be so far ahead of its GPU never waits for it. */
#define SIM_AHEAD_FREE 1000000u

enum sim_shape {
	/* Gradients are reduced in buckets while the backward pass goes on. */
	SIM_DDP,
	/* Layers of groups of ranks, each followed by an AllReduce that the
	 * next one needs; then an AllReduce across the groups. */
	SIM_TENSOR,
	/* Each rank is a stage: all microbatches forward, all backward; then an
	 * AllReduce of all stages. */
	SIM_PIPELINE,
	/* Tensor, pipeline and data parallel, as test/gpu/jobs.py: two ranks
	 * share each layer; after some, all send to the next stage and receive
	 * from the one before at once; then gradients and norms are added up.
	 * With `alternates`, stages run one microbatch forward, one
	 * backward. */
	SIM_3D,
	SIM_FSDP, /* layers are gathered, gradients scattered beside the next */
	SIM_MOE,  /* ranks exchange tokens, and have unequal work */
	SIM_BUFFERS, /* SIM_DDP; rank 0 broadcasts buffers at first */
	SIM_SERVER,  /* rank 0 alone updates what it broadcasts to all */
	/* Hosts wait for each call: one of each smaller communicator of
	 * `neighbours`, then three of all. */
	SIM_CALLS,
	SIM_SIZES, /* a step is one AllReduce of any size, sometimes of few */
	/* Hosts wait for each call, of `bytes`: one of each smaller communicator
	 * of `neighbours`, then one of all. */
	SIM_LOOP,
	/* Ranks receive from those of the same place on the host before, then
	 * send to those on the next one. */
	SIM_ONE_WAY,
};

/* The communicators of SIM_3D. */
enum sim_group {
	SIM_GROUP_PIPE,
	SIM_GROUP_TENSOR,
	SIM_GROUP_DATA,
	SIM_GROUP_ALL,
};

/* How an operation moves data decides what its records tell. */
enum sim_transport {
	SIM_NVLINK, /* begin and end on the stream, no proxy */
	SIM_RING,   /* proxies and kernels, no times from the stream */
	/* The records of a ring, but the channels of a kernel stop long before
	 * the kernel does. */
	SIM_TREE,
	SIM_MIXED, /* times from the stream, and proxies between hosts */
	SIM_TRANSPORTS,
	/* The records of SIM_NVLINK and the launches, without errors; ranks end
	 * together, after a time that alpha_ns and beta_ns give. */
	SIM_PLAIN = SIM_TRANSPORTS,
	/* Each channel of a ring moves data in steps, between hosts over a
	 * network with a latency, a bandwidth and queues: proxies and kernels. */
	SIM_STEPS,
};

enum sim_fault {
	SIM_HEALTHY,
	SIM_HOST,    /* its host does something else first */
	SIM_STREAM,  /* its GPU does something else first */
	SIM_NETWORK, /* what it sends takes longer by this factor; plain: all */
	SIM_PROXY,   /* its proxy thread sends so much too late */
	SIM_ASLEEP,  /* the same; it does not look at the operation before */
	SIM_GPU,     /* its kernels take longer by this factor */
	/* In SIM_CALLS. */
	SIM_SLOW_PEER, /* it computes longer by this factor */
	SIM_MISSING,   /* the victim makes no more calls */
	/* … because it waits in a smaller communicator for a rank that makes
	 * none */
	SIM_ELSEWHERE,
	SIM_STOPPED,       /* … because its process is stopped */
	SIM_DIED,          /* … because its process died */
	SIM_ORDER,         /* it calls another collective than the others */
	SIM_SIZE,          /* it calls a collective with another size */
	SIM_GPU_LATE,      /* its kernel does not start */
	SIM_CONSUMER_LATE, /* the kernel of its receive does not start */
	SIM_STUCK_LINK,    /* its data no longer get to the next rank */
	SIM_PROXY_ASLEEP,  /* its proxy thread sleeps */
	SIM_LAUNCHER,      /* the same, while its launcher is blocked */
	SIM_DEADLOCK,      /* all ranks receive first */
	SIM_UNMET,         /* the next rank receives from it, it never sends */
	SIM_FAULTS
};

struct sim_options {
	uint64_t seed;
	enum sim_shape shape;
	enum sim_transport transport;
	unsigned ranks, ranks_per_host;
	unsigned communicators; /* of each process, 1 to 4 */
	unsigned number;        /* differs in jobs that are looked at at once */
	unsigned steps;
	/* 0: the host waits for its GPU after each step. */
	unsigned ahead;
	unsigned buckets; /* of SIM_DDP */
	bool blocks;      /* stages of a pipeline wait for their sends */
	/* In SIM_DDP, rank 0 sends to rank 1 once, when the job begins. */
	bool greets;
	bool alternates;  /* they run one microbatch forward, one backward */
	double jitter;    /* work takes up to this many times longer */
	double noise;     /* works differ by so much, as a share, either way */
	double gap_ns;    /* the host's own work each step */
	double launch_ns; /* from a call until it is launched … */
	double return_ns; /* … and until the host goes on */
	/* In one step of so many, all hosts do something else first, for so
	 * long: they save a checkpoint; 0: never. */
	unsigned pause_period;
	double pause_ns;
	/* One step of so many ends with a barrier of its own; 0: none. */
	unsigned barrier_period;
	enum sim_fault fault;
	unsigned victim;   /* rank */
	double fault_size; /* ns, or the factor */
	bool buffered;     /* the network takes data at once, as sockets do */
	bool each;         /* before each operation, not once a step */
	/* A late host or a busy GPU delays each time of so many, a slow GPU one
	 * step of so many; 0: always. */
	unsigned period;
	/* In SIM_3D, once a step, before the first operation in it. */
	enum sim_group group;
	unsigned from_step;
	/* In SIM_CALLS, from when all hosts are at this time on. */
	double from_ns;
	unsigned until_step; /* 0: to the end */
	/* From a step on, what is sent is so many times as large; 0: never. */
	double resize;
	unsigned resize_step;
	/* In this step, the victim calls collectives with half the size: they
	 * end, as over NVLink; 0: never. */
	unsigned unlike_step;
	/* SIM_PLAIN takes this for each step of the algorithm, for each byte, and by
	 * this factor between hosts. */
	double alpha_ns, beta_ns, beta_inter_node;
	unsigned algorithm; /* enum ncs_algorithm; UNKNOWN: alternates */
	/* In SIM_SIZES ranks work before most operations; some are of so many
	 * `neighbours` (0: none), some go from a rank to the next. In SIM_CALLS
	 * hosts work before each call. */
	double work_ns;
	unsigned neighbours;
	bool sends;
	double stall_ns; /* SIM_CALLS sometimes adds this on one rank */
	/* In SIM_CALLS, time that all processes compute from from_ns on: with
	 * their kernels queued, or before they call; or they never call again. */
	double phase_ns;
	bool is_queued, is_idle;
	double birth_ns; /* the victim's process begins so late */
	unsigned channels;
	bool is_nvlink; /* hosts, too, are connected by it: no proxies */
	/* SIM_LOOP and SIM_ONE_WAY have `bytes`; one step of so many has 4 KiB
	 * instead; 0: none. */
	uint64_t bytes;
	unsigned small_period;
	/* In SIM_STEPS, also beta_ns. One message in 50 waits in a queue for so
	 * long, roughly; a share of records of steps is lost. */
	bool is_socket; /* receivers send no credits */
	double latency_ns, queue_ns, lost;
	bool no_kernels;
	/* The most that clocks of hosts are wrong, and that they and the GPUs'
	 * drift. */
	double skew_ns, drift, gpu_drift;
	/* In recordings: the most that CLOCK_REALTIME is wrong, which it reports;
	 * and the time at which that of the last host is corrected by 3 s; 0:
	 * never. */
	uint64_t realtime_error_ns, realtime_set_ns;
	/* Sources show states, by sim_states.h, not records. Number of processes
	 * that are visible, 0: all. */
	bool has_states;
	unsigned seen, api_version;
};

/* Returns options of a job with a fault: what the seed decides in the same way for
 * all tests. The caller sets the rest: the shape, the number of communicators, the
 * fault's size and when it comes. */
struct sim_options sim_options(unsigned seed, enum sim_fault fault,
			       unsigned ranks, unsigned ranks_per_host);

/* Bytes of each operation of SIM_CALLS. */
#define SIM_CALL_BYTES (UINT64_C(16) << 20)

/* Returns options of a healthy job of a shape, with SIM_PLAIN. */
struct sim_options sim_plain(enum sim_shape shape, unsigned seed);

/* Returns options of a healthy SIM_LOOP of so many ranks on each host, with
 * SIM_STEPS over InfiniBand: two channels, 16 MiB, 8 ms between calls; clocks are
 * wrong by up to 5 s and drift by up to 100 ppm, CLOCK_REALTIME is by 2 ms. */
struct sim_options sim_steps(unsigned hosts, unsigned ranks_per_host);

/* --- What happens --------------------------------------------------------- */

/* Communicators of a rank. */
#define SIM_COMMS 4u

enum sim_action_kind {
	SIM_ON_HOST,   /* work of the host */
	SIM_ON_STREAM, /* a kernel on the compute stream */
	SIM_COLLECTIVE,
	SIM_SEND,
	SIM_RECEIVE,
	SIM_EXCHANGE, /* sends to one and receives from another one at once */
	SIM_AWAIT,    /* the compute stream waits for the communicator's */
	SIM_BLOCK,    /* the host waits for the compute stream */
};

/* The peer of an exchange with all others. */
#define SIM_EVERYONE (-1)

struct sim_action {
	enum sim_action_kind kind;
	unsigned comm;     /* kind of communicator, below SIM_COMMS */
	bool inlined;      /* on the compute stream, not one of its own */
	unsigned function; /* of a collective */
	int peer;          /* member of the communicator, or root … */
	int from;          /* … that an exchange receives from */
	uint64_t bytes;
	double ns;
};

/* A communicator. */
struct sim_comm {
	uint64_t id;
	unsigned count; /* of its members */
	unsigned *members;
	uint64_t numbers[NCS_FUNCTION_COUNT]; /* of its collectives */
	uint64_t operations;
	double *ready_ns; /* when all had come to each collective */
	size_t collectives, capacity;
	uint64_t *transfers; /* by member, peer, and whether it receives */
};

/* The part of a rank in an operation, in ns since the job's begin. In an exchange it
 * has a part for each send and each receive. */
struct sim_part {
	unsigned rank, member;
	const struct sim_action *action;
	unsigned function; /* enum ncs_function_id */
	int next, before;  /* members that it sends to, and receives from */
	uint64_t number;   /* sequence number, or that of its connection */
	double called_ns, launched_ns, begun_ns;
	double ready_ns; /* all that it needs have begun */
	double end_ns;
	bool sends, receives; /* over the network */
	double wire_ns;       /* time that its data is on the way */
	double late_ns;       /* its proxy thread is so late with it */
	double came_ns;       /* what it receives came then */
};

/* A member of a collective: when it had its data, in a tree also of those below
 * it, and when it sent that on. */
struct sim_hop {
	double data_ns, posted_ns;
	double came_ns; /* it came to the next one */
};

/* A step of a channel from one part to the next. */
struct sim_step {
	double ready_ns;  /* the sender has the data */
	double posted_ns; /* the receiver has a buffer for it */
	double sent_ns, came_ns, consumed_ns;
};

/* Steps of a channel that are in progress at once, at most. */
#define SIM_STEPS_DEPTH 8u

struct sim_operation {
	struct sim_comm *comm;
	enum sim_action_kind kind; /* SIM_SEND: with its receive */
	size_t count, capacity;
	struct sim_part *parts;
	struct sim_hop *hops; /* of a collective, by member */
	bool is_tree;
	/* In SIM_STEPS: the first parts send, each to the next one, on each
	 * channel so many steps, which sim_steps_of() finds. */
	unsigned senders, step_count;
	uint64_t step_bytes;
	struct sim_step *steps;
	size_t step_capacity;
};

struct sim_rank;

struct sim_job {
	struct sim_options options;
	unsigned step;
	struct sim_rank *ranks;
	struct sim_comm *comms;
	unsigned comm_count;
	/* When each step begins, for its first rank; when it ends on GPUs, the
	 * mean of ranks. */
	double *begins_ns, *ends_ns;
	size_t begin_capacity, end_capacity;
	unsigned faults;                /* times that one could have come */
	uint64_t messages;              /* in steps between hosts */
	double *free_ns;                /* each rank's channels in SIM_STEPS */
	struct sim_operation operation; /* the latest */
	/* Moves the data of an operation: sets the ends of its parts, and what
	 * happens on the network. */
	void (*move)(struct sim_job *job, struct sim_operation *operation);
	/* Takes an operation whose ends are known. */
	void (*take)(struct sim_job *job,
		     const struct sim_operation *operation);
};

/* Begins a job: the program stops if there is no memory. Set `take` then, run it, and
 * release it with sim_job_release(). */
void sim_job_init(struct sim_job *job, const struct sim_options *options);
void sim_job_release(struct sim_job *job);

/* Runs all steps, or the next one. */
void sim_job_run(struct sim_job *job);
void sim_job_step(struct sim_job *job);

/* Returns when the next step begins, for its first rank. */
double sim_job_ready_ns(const struct sim_job *job);

/* Returns the share of the time from a step on that a job would be without its
 * fault. */
double sim_share(const struct sim_options *options, unsigned from_step);

/* Returns the mean time of a step from one on, in ns. */
double sim_step_ns(const struct sim_options *options, unsigned from_step);

/* Returns the name of a fault. */
const char *sim_fault_name(enum sim_fault fault);

/* Returns the algorithm of an operation. */
unsigned sim_algorithm(const struct sim_options *options, uint64_t number);

/* Returns memory, which is zero, or stops the program. */
static inline void *sim_alloc(size_t count, size_t size)
{
	void *memory = calloc(count, size);

	if (!memory && count > 0)
		abort();
	return memory;
}

/* --- Chance and clocks ---------------------------------------------------- */

/* Returns a number from 0 to 1 that only depends on the arguments. */
double sim_random(const struct sim_job *job, uint64_t a, uint64_t b,
		  uint64_t c);

/* Returns a fixed number from -1 to 1. */
double sim_error(const struct sim_job *job, uint64_t what, uint64_t number);

static inline unsigned sim_host(const struct sim_job *job, unsigned rank)
{
	return rank / job->options.ranks_per_host;
}

static inline bool sim_has_hosts(const struct sim_job *job)
{
	return job->options.ranks > job->options.ranks_per_host;
}

/* Whether steps from a part to the next one go over the network. */
static inline bool sim_steps_cross(const struct sim_job *job,
				   const struct sim_operation *operation,
				   size_t from)
{
	unsigned to = operation->parts[(from + 1) % operation->count].rank;

	return !job->options.is_nvlink &&
	       sim_host(job, operation->parts[from].rank) != sim_host(job, to);
}

static inline struct sim_step *
sim_steps_of(const struct sim_operation *operation, unsigned channel,
	     size_t from)
{
	return &operation->steps[(channel * operation->senders + from) *
				 operation->step_count];
}

/* Returns a true time by the clock of a rank's host, which is wrong if there are
 * several. */
#define SIM_HOST_ERROR_NS 20e3
uint64_t sim_clock_ns(const struct sim_job *job, unsigned rank, double true_ns);

#endif
