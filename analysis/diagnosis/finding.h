/* SPDX-License-Identifier: MIT */
/* A finding of the diagnosis: verdict, root, confidence and evidence; and the
 * functions with which the rules build it.
 *
 * Pure. A finding points into the model and is valid until its next update.
 */
#ifndef NCS_ANALYSIS_DIAGNOSIS_FINDING_H
#define NCS_ANALYSIS_DIAGNOSIS_FINDING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "analysis/base/finding_numbers.h"
#include "analysis/model/communicators.h"
#include "analysis/model/model.h"
#include "analysis/model/waits.h"
#include "ncclstat/tables/evidence.def"
#include "ncclstat/tables/verdicts.def"

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

/* The identity of a call, as far as it is known. */
struct ncs_call_id {
	unsigned function;        /* NCS_FUNCTION_COUNT if unknown */
	uint64_t sequence_number; /* NCS_NO_SEQUENCE_NUMBER if unknown */
};

/* A rank of a communicator, seen here or not. */
struct ncs_party {
	const struct ncs_rank *rank;                 /* NULL if not seen here */
	const struct ncs_communicator *communicator; /* NULL if unknown */
	int32_t number; /* of the rank; -1 if unknown */
};

enum ncs_evidence_kind {
#define X(ID, sentence) NCS_EVIDENCE_##ID,
	NCS_EVIDENCE(X)
#undef X
		NCS_EVIDENCE_COUNT
};

/* A piece of evidence. Members that the sentence of its kind does not use are 0, NULL
 * or ncs_no_call. */
struct ncs_evidence {
	enum ncs_evidence_kind kind;
	struct ncs_party party;
	const struct ncs_channel_view *channel;
	const struct ncs_operation_view *operation;
	const struct ncs_node *node;
	struct ncs_call_id call;
	uint64_t duration_ns;
	uint64_t number;
	uint64_t expected;
	double share; /* 0 to 1 */
	uint64_t held_by; /* a set of bits of clock_reasons.def */
};

#define NCS_EVIDENCE_MAX 12u

/* One result of the diagnosis. */
struct ncs_finding {
	enum ncs_verdict verdict;
	enum ncs_verdict_severity severity;
	enum ncs_confidence confidence;
	struct ncs_party root; /* the rank that causes the wait */
	struct ncs_party peer; /* the other end; number is -1 if none */
	/* The node that is not seen; NULL unless the finding is on one. */
	const struct ncs_node *node;
	const struct ncs_channel_view *channel; /* NULL if none */
	/* The rank that has the channel; NULL if it is the root. */
	const struct ncs_rank *channel_rank;
	struct ncs_call_id call;
	uint64_t duration_ns; /* so far */
	double share;         /* of the time that it costs; 0: unknown … */
	double share_least;   /* … but it may be as little as this … */
	double share_most; /* … or as much; both are near where it is known */
	double step_ns;    /* a step of the job takes so long; 0: unknown */
	unsigned cause;    /* enum ncs_late_cause, or COUNT if unknown */
	/* Number of ranks that wait for the root; those that a process has on one
	 * GPU, in several communicators, count once. */
	size_t waiting;
	/* Number of other ranks, or nodes, with the same finding. */
	size_t alike;
	/* The last place takes what has no room. */
	struct ncs_evidence evidence[NCS_EVIDENCE_MAX + 1];
	size_t evidence_count;
	/* The evidence that lowers the confidence, counted from 1; 0: none. */
	size_t doubt;
};

/* Return the words of the tables in verdicts.def: names; the help of severities
 * and confidences; a verdict's sentence. */
const char *ncs_severity_name(unsigned severity);
const char *ncs_severity_help(unsigned severity);
const char *ncs_confidence_name(unsigned confidence);
const char *ncs_confidence_help(unsigned confidence);
const char *ncs_verdict_name(unsigned verdict);
const char *ncs_verdict_sentence(unsigned verdict);

/* Returns what to do next: the advice of the cause, else that of the verdict. */
const char *ncs_finding_next(const struct ncs_finding *finding);

/* A call of which nothing is known. */
extern const struct ncs_call_id ncs_no_call;

/* Returns the call of an operation. */
struct ncs_call_id ncs_call_of(const struct ncs_operation_view *operation);

/* Returns whether two calls have the same function and number. */
bool ncs_is_same_call(struct ncs_call_id a, struct ncs_call_id b);

/* Returns a rank as a party of a finding. */
struct ncs_party ncs_party_of(const struct ncs_rank *rank);

/* Adds a piece of evidence about a rank, seen here or not, and returns it, for the
 * caller to fill in what its kind uses. It is dropped if there are NCS_EVIDENCE_MAX
 * already. */
struct ncs_evidence *ncs_finding_add_evidence(struct ncs_finding *finding,
					      enum ncs_evidence_kind kind,
					      struct ncs_party party);

/* Does so for a rank that is seen, and sets how long it lasted, in ns. */
struct ncs_evidence *ncs_finding_add_fact(struct ncs_finding *finding,
					  enum ncs_evidence_kind kind,
					  const struct ncs_rank *rank,
					  uint64_t duration_ns);

/* Add the wait of a rank's channel, and an operation of a rank. */
void ncs_finding_add_wait(struct ncs_finding *finding,
			  const struct ncs_rank *rank,
			  const struct ncs_channel_view *channel);
void ncs_finding_add_operation(struct ncs_finding *finding,
			       const struct ncs_rank *rank,
			       const struct ncs_operation_view *operation);

/* Adds each thread of the rank's process that has been inside a call or a
 * launch for NCS_LONG_WAIT_NS. */
void ncs_finding_add_open_calls(struct ncs_finding *finding,
				const struct ncs_rank *rank);

/* Adds how many ranks of a communicator, which may be NULL, are seen, if not all are. */
void ncs_finding_add_unseen(struct ncs_finding *finding,
			    const struct ncs_communicator *communicator);

/* Returns how long something of a rank must have lasted to be stuck: NCS_STUCK_NS, of a
 * process that died until it was last known to live, after which it may have lived on. */
uint64_t ncs_stuck_ns(const struct ncs_rank *rank);

/* Sets how bad and how certain a finding is, by its other members: the verdict's
 * severity, but at most "slow" unless the root is stalled and the finding has lasted
 * for ncs_stuck_ns(); the confidence, but at most "likely" if the root has lost
 * records or its snapshot is torn: what was lost may explain it in another way. */
void ncs_finding_rate(struct ncs_finding *finding, bool stalled,
		      enum ncs_confidence confidence);

#endif
