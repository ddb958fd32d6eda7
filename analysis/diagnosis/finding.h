/* SPDX-License-Identifier: MIT */
/* A finding of the diagnosis: verdict, root, confidence, evidence; and how it is
 * put together.
 *
 * Pure. Points into the model and is valid until its next update.
 */
#ifndef NCS_ANALYSIS_DIAGNOSIS_FINDING_H
#define NCS_ANALYSIS_DIAGNOSIS_FINDING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "analysis/model/communicators.h"
#include "analysis/model/model.h"
#include "ncclstat/tables/verdicts.def"

/* From here on what waits, and has not moved since the pass before, is called
 * stuck: five times what is worth a look (NCS_LONG_WAIT_NS), and longer than
 * the usual hiccups of a job that goes on: saving a model, a page cache that is
 * cold, a retransmission. */
#define NCS_STUCK_NS UINT64_C(5000000000)

enum ncs_verdict_severity {
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
struct ncs_call_id {
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
	NCS_EVIDENCE_DONE,       /* party has finished `call`, `number` bytes */
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
	struct ncs_call_id call;
	uint64_t duration_ns;
	uint64_t number;
	uint64_t expected;
	double share;
};

#define NCS_EVIDENCE_MAX 12

struct ncs_finding {
	enum ncs_verdict verdict;
	enum ncs_verdict_severity severity;
	enum ncs_confidence confidence;
	struct ncs_party root;
	struct ncs_party peer; /* the other end; number -1: none */
	const struct ncs_channel_view *channel; /* NULL: none */
	/* Whose channel it is, where it is not the root's. */
	const struct ncs_rank *channel_rank;
	struct ncs_call_id call;
	uint64_t duration_ns; /* so far */
	size_t waiting;       /* ranks that wait for the root */
	size_t alike;         /* other ranks of which the same goes */
	struct ncs_evidence evidence[NCS_EVIDENCE_MAX];
	size_t evidence_count;
};

const char *ncs_severity_name(unsigned severity);
const char *ncs_confidence_name(unsigned confidence);
const char *ncs_verdict_name(unsigned verdict);
/* The table's texts. */
const char *ncs_verdict_sentence(unsigned verdict);
const char *ncs_verdict_next(unsigned verdict);

extern const struct ncs_call_id ncs_no_call;

struct ncs_party ncs_party_of(const struct ncs_rank *rank);

/* For how long something lasts that began at this moment, 0: at none. */
uint64_t ncs_age_ns(const struct ncs_rank *rank, uint64_t moment_ns);

/* Adds a piece of evidence, if there is room. */
void ncs_finding_add_evidence(struct ncs_finding *finding,
			      struct ncs_evidence evidence);
/* A fact of a rank and nothing else. */
void ncs_finding_add_fact(struct ncs_finding *finding,
			  enum ncs_evidence_kind kind,
			  const struct ncs_rank *rank, uint64_t duration_ns);
void ncs_finding_add_wait(struct ncs_finding *finding,
			  const struct ncs_rank *rank,
			  const struct ncs_channel_view *channel);
void ncs_finding_add_operation(struct ncs_finding *finding,
			       const struct ncs_rank *rank,
			       const struct ncs_operation_view *operation);
void ncs_finding_add_proxy(struct ncs_finding *finding,
			   const struct ncs_rank *rank);
/* What threads of its process have been in for long. */
void ncs_finding_add_open_calls(struct ncs_finding *finding,
				const struct ncs_rank *rank);
/* How much is seen of a communicator, where that is not all. */
void ncs_finding_add_unseen(struct ncs_finding *finding,
			    const struct ncs_communicator *communicator);

/* The table's, less where it moves or has not lasted for NCS_STUCK_NS. */
void ncs_finding_set_severity(struct ncs_finding *finding, bool stands);
/* Less where the root has lost something. */
void ncs_finding_set_confidence(struct ncs_finding *finding,
				enum ncs_confidence confidence);

#endif
