/* What is wrong with a job: findings, each with a verdict, who is to blame,
 * how sure that is, and what it was seen by.
 *
 * The rules' names and sentences are in ncclstat/tables/verdicts.h. A finding
 * names the root of a chain of waits, not those who suffer from it. Rules need
 * evidence: where nothing waits for long there is no finding, whatever else is
 * unusual; a job that sleeps or computes is healthy.
 *
 * Pure: the clock is the model's. Findings point into the model and are valid
 * until its next update.
 */
#ifndef NCS_ANALYSIS_DIAGNOSIS_H
#define NCS_ANALYSIS_DIAGNOSIS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "analysis/communicators.h"
#include "analysis/model.h"
#include "analysis/pace.h"
#include "analysis/wait_graph.h"
#include "ncclstat/tables/verdicts.h"

/* From here on what waits, and has not moved since the pass before, is called
 * stuck: five times what is worth a look (NCS_LONG_WAIT_NS), and longer than
 * the usual hiccups of a job that goes on: saving a model, a page cache that is
 * cold, a retransmission. */
#define NCS_STUCK_NS UINT64_C(5000000000)

enum ncs_severity {
#define X(ID, name, help) NCS_SEVERITY_##ID,
	NCS_SEVERITIES(X)
#undef X
		NCS_SEVERITY_COUNT
};

enum ncs_confidence {
#define X(ID, name, help) NCS_CONFIDENCE_##ID,
	NCS_CONFIDENCES(X)
#undef X
		NCS_CONFIDENCE_COUNT
};

enum ncs_verdict {
#define X(ID, name, severity, sentence, next) NCS_VERDICT_##ID,
	NCS_VERDICTS(X)
#undef X
		NCS_VERDICT_COUNT
};

/* A call, as far as it is known. */
struct ncs_call {
	unsigned function;        /* NCS_FUNCTION_COUNT: not known */
	uint64_t sequence_number; /* NCS_NO_SEQUENCE_NUMBER: none */
};

/* A rank of a communicator, seen here or not. */
struct ncs_party {
	const struct ncs_rank *rank;                 /* NULL: not seen here */
	const struct ncs_communicator *communicator; /* NULL: not known */
	int32_t number;                              /* -1: not known */
};

enum ncs_evidence_kind {
	NCS_EVIDENCE_WAIT,       /* party's channel has been in its state */
	NCS_EVIDENCE_CALLED,     /* party has called, and waits in, `call` */
	NCS_EVIDENCE_BEHIND,     /* party's next would be `call` */
	NCS_EVIDENCE_ALSO,       /* the same goes for party */
	NCS_EVIDENCE_OPERATION,  /* party's operation is under way */
	NCS_EVIDENCE_ENQUEUEING, /* … is still being enqueued */
	NCS_EVIDENCE_IDLE,       /* party has nothing under way */
	NCS_EVIDENCE_INSIDE,   /* a thread of it is inside `number`, an event */
	NCS_EVIDENCE_PROXY,    /* its proxy thread is in state `number` */
	NCS_EVIDENCE_GONE,     /* its process is gone */
	NCS_EVIDENCE_FINISHED, /* it has finalized its communicator */
	NCS_EVIDENCE_STOPPED,  /* its process is stopped */
	NCS_EVIDENCE_ELSEWHERE,  /* its process waits there as this rank */
	NCS_EVIDENCE_SPEED,      /* `number` of `expected` bytes a second */
	NCS_EVIDENCE_SHARE,      /* `share` of the time in state `number` */
	NCS_EVIDENCE_UNSEEN,     /* `number` of `expected` ranks are seen */
	NCS_EVIDENCE_NO_SIGNALS, /* not told by NCCL: the proxy's state … */
};

/* What is not of its kind is 0, NULL or none. */
struct ncs_evidence {
	enum ncs_evidence_kind kind;
	struct ncs_party party;
	const struct ncs_channel_view *channel;
	const struct ncs_operation_view *operation;
	struct ncs_call call;
	uint64_t duration_ns;
	uint64_t number;
	uint64_t expected;
	double share;
};

#define NCS_EVIDENCE_MAX 12

struct ncs_finding {
	enum ncs_verdict verdict;
	enum ncs_severity severity;
	enum ncs_confidence confidence;
	struct ncs_party root;
	struct ncs_party peer; /* the other end; number -1: none */
	const struct ncs_channel_view *channel; /* NULL: none */
	/* Whose channel it is, where it is not the root's. */
	const struct ncs_rank *channel_rank;
	struct ncs_call call;
	uint64_t duration_ns; /* so far */
	size_t waiting;       /* ranks that wait for the root */
	size_t alike;         /* other ranks of which the same goes */
	struct ncs_evidence evidence[NCS_EVIDENCE_MAX];
	size_t evidence_count;
};

struct ncs_diagnosis {
	struct ncs_finding *findings; /* the worst first; none: all is well */
	size_t count;
	size_t capacity;
	size_t looks; /* passes so far */
	struct ncs_wait_graph graph;
	struct ncs_paces paces;
	bool *explained; /* communicators, in this pass */
};

void ncs_diagnosis_init(struct ncs_diagnosis *diagnosis);
void ncs_diagnosis_release(struct ncs_diagnosis *diagnosis);

/* Looks at the model after each of its passes: what is slow is told by what
 * was before. 0 or -ENOMEM; there are then no findings. */
int ncs_diagnose(struct ncs_diagnosis *diagnosis,
		 const struct ncs_model *model);

/* That of the worst finding. */
enum ncs_severity ncs_diagnosis_severity(const struct ncs_diagnosis *diagnosis);

const char *ncs_severity_name(unsigned severity);
const char *ncs_confidence_name(unsigned confidence);
const char *ncs_verdict_name(unsigned verdict);
/* The table's texts. */
const char *ncs_verdict_sentence(unsigned verdict);
const char *ncs_verdict_next(unsigned verdict);

#endif
