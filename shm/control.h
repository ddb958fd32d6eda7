/* SPDX-License-Identifier: MIT */
/* Requests for more or less detail: packing and unpacking them, and changing
 * the words of a control object.
 *
 * Used by both sides, the plugin and the viewers. Touches nothing but the words
 * of the object: no clock, no system call, and any thread of any process may
 * call any function. Nothing in the object is trusted: a word is either a valid
 * request or none.
 *
 * A detail and a request are bit fields, described in
 * ncclstat/control_object.h: a request is a base detail, which holds until it
 * is changed, and possibly a lease's detail, which holds until the lease ends.
 *
 * Any number of processes may make requests at the same time. A change is a
 * compare-and-swap of the one word of the request. If it fails, the process
 * reads the other's request and tries again, so that no change is lost and no
 * two are mixed. The lease's end and holder are words of their own, written
 * before the request: if two processes take the lease at the same time, the
 * holder may be one of them and the request the other's. Then neither considers
 * the lease its own, it is not renewed, and it ends: at worst a lease is too
 * short.
 */
#ifndef NCS_SHM_CONTROL_H
#define NCS_SHM_CONTROL_H

#include <stdbool.h>
#include <stdint.h>

#include "ncclstat/control_object.h"

/* An unpacked request. */
struct ncs_control_request {
	struct ncs_detail base;
	struct ncs_detail lease; /* all 0 if not leased */
	bool leased;
	uint32_t serial; /* 0 if there is no request yet */
};

/* Unpacks a request. Returns false if the word is not a request that this
 * version knows, or asks for an impossible detail; *request then has the word's
 * serial number and asks for nothing. */
bool ncs_request_unpack(uint64_t word, struct ncs_control_request *request);

/* Returns the word of a request; only the serial number's lower 15 bits
 * count. */
uint64_t ncs_request_pack(const struct ncs_control_request *request);

/* Unpacks a detail. Returns false, and a detail with all fields unset, if it is
 * impossible. */
bool ncs_detail_unpack(uint64_t bits, struct ncs_detail *detail);

/* Returns the bits of a detail. */
uint64_t ncs_detail_pack(const struct ncs_detail *detail);

/* Returns `upper` with its unset fields taken from `lower`. */
struct ncs_detail ncs_detail_over(const struct ncs_detail *upper,
				  const struct ncs_detail *lower);

/* Returns the groups (bits by enum ncs_event_group) that can be in force:
 * without groups whose prerequisite (tables/event_groups.def) is missing, and
 * always with NCS_GROUP_CALLS. */
uint8_t ncs_groups_sane(uint8_t groups);

/* Returns the event types of these groups, as a mask of NCCL's bits. */
uint32_t ncs_groups_events(uint8_t groups);

/* Tells whether the request `word` is the same as `other` or was made after it.
 * Serial numbers wrap around. */
bool ncs_request_is_since(uint64_t word, uint64_t other);

/* Tells whether a lease that ends at `until_ns` is over. A lease that would
 * last longer than NCS_LEASE_MAX_NS counts as over. Both times are
 * CLOCK_MONOTONIC. */
bool ncs_lease_is_over(uint64_t until_ns, uint64_t now_ns);

/* A change of the base detail. */
struct ncs_change {
	/* The fields to be changed; kernel timing can only be left to the
	 * environment again. */
	bool groups, kernel, sample, timing;
	struct ncs_detail to; /* unset fields: as in the environment */
};

/* Changes the base detail; a lease stays in force. Returns the word of the
 * request. */
uint64_t ncs_control_change(struct ncs_control *control,
			    const struct ncs_change *change);

/* Takes the lease, even if another process holds it. `holder` identifies the
 * caller and is not 0. The lease lasts for NCS_LEASE_NS unless renewed. Returns
 * the word of the request. */
uint64_t ncs_control_take_lease(struct ncs_control *control,
				const struct ncs_detail *detail,
				uint64_t holder, uint64_t now_ns);

/* Extends the lease by NCS_LEASE_NS from now. Returns false if the holder has
 * lost it: it is over, or another process has taken it. */
bool ncs_control_renew_lease(struct ncs_control *control, uint64_t holder,
			     uint64_t now_ns);

/* Ends the lease if it is the holder's. */
void ncs_control_drop_lease(struct ncs_control *control, uint64_t holder);

/* Ends the lease of the request `word`. Returns the word of the new request, or
 * `word` if another request had replaced it; nothing was changed then. */
uint64_t ncs_control_end_lease(struct ncs_control *control, uint64_t word);

#endif
