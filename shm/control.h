/* SPDX-License-Identifier: MIT */
/* What is asked for: details and requests taken apart and put together, and how
 * the words of a control object change.
 *
 * For both sides, the plugin and those who ask. Pure but for the words of the
 * object; no clock, no system call. Nothing in the object is trusted: whatever
 * a word holds, it is either a request that makes sense or no request.
 *
 * Any number of processes may ask at a time. A change is a compare-and-swap of
 * the one word of the request: who comes second sees what the first has done
 * and begins anew, so that none is lost and none is mixed with another. The
 * lease's end and holder are beside it, and are written before the word is; two
 * who take a lease at once may leave the name of one beside the word of the
 * other. Then each finds that the lease is not his, nobody renews it, and it
 * ends: the worst is a lease that is too short.
 */
#ifndef NCS_SHM_CONTROL_H
#define NCS_SHM_CONTROL_H

#include <stdbool.h>
#include <stdint.h>

#include "ncclstat/abi.h"
#include "ncclstat/control_object.h"

/* A request, taken apart. */
struct ncs_control_request {
	struct ncs_detail base;
	struct ncs_detail lease; /* all 0 unless leased */
	bool leased;
	uint32_t serial;
};

/* False: the word is no request that this version knows, or asks for what
 * cannot be. *request is then one that asks for nothing, but for the word's
 * serial number. */
bool ncs_request_unpack(uint64_t word, struct ncs_control_request *request);
uint64_t ncs_request_pack(const struct ncs_control_request *request);

/* A packed detail alone; false, and nothing told, where it makes no sense. */
bool ncs_detail_unpack(uint64_t bits, struct ncs_detail *detail);
uint64_t ncs_detail_pack(const struct ncs_detail *detail);

/* What `upper` tells, and what it does not tell from `lower`. */
struct ncs_detail ncs_detail_over(const struct ncs_detail *upper,
				  const struct ncs_detail *lower);

/* Groups without those that others, which are not among them, are needed for;
 * with those that are never left out. */
uint8_t ncs_groups_sane(uint8_t groups);

/* The event types of groups, as NCCL's bits. */
uint32_t ncs_groups_events(uint8_t groups);

/* Whether the request of `word` comes after that of `other`, or is the same:
 * serial numbers go round. */
bool ncs_request_is_since(uint64_t word, uint64_t other);

/* Whether a lease is over that ends at this moment; also where it lasts longer
 * than any may. */
bool ncs_lease_is_over(uint64_t until_ns, uint64_t now_ns);

/* What is to change for good. */
struct ncs_change {
	bool groups, kernel, sample; /* which of the detail's */
	struct ncs_detail to;        /* not told: the environment's */
};

/* Asks for a change that holds until the next; a lease stays. Returns the word
 * of the request. */
uint64_t ncs_control_change(struct ncs_control *control,
			    const struct ncs_change *change);

/* Takes the lease, also from another that holds it: the last one has it.
 * `holder` is not 0. Returns the word of the request. */
uint64_t ncs_control_take_lease(struct ncs_control *control,
				const struct ncs_detail *detail,
				uint64_t holder, uint64_t now_ns);

/* Makes the lease last from now on. False: it is not the holder's any more,
 * since it was over or another has taken it. */
bool ncs_control_renew_lease(struct ncs_control *control, uint64_t holder,
			     uint64_t now_ns);

/* Gives the lease back if it is the holder's. */
void ncs_control_drop_lease(struct ncs_control *control, uint64_t holder);

/* Ends the lease of the request `word`. Returns the word that is there then;
 * `word` where that had been replaced meanwhile, and nothing was done. */
uint64_t ncs_control_end_lease(struct ncs_control *control, uint64_t word);

#endif
