/* The activation mask: NCCL's one word that says which events it reports, for
 * all communicators of the process.
 *
 * The setters may be called by any thread, also from callbacks; they take effect
 * with NCCL's next call, as far as the release may be asked for it (gates.h).
 */
#ifndef NCS_PLUGIN_MASK_H
#define NCS_PLUGIN_MASK_H

#include <stdint.h>

#include "plugin/config.h"

/* From init: where NCCL keeps the mask, and what the release may be asked for,
 * kernel events as the environment says. */
void ncs_mask_attach(int *mask, int wanted);

/* How often NCCL is asked to time kernels. `period`: one call in as many, if
 * SAMPLED; 0: as many as the load allows. */
void ncs_mask_set_timing(enum ncs_kernel_timing mode, uint32_t period);

/* Which event types are wanted, as NCCL's bits; kernel events are not among
 * them. */
void ncs_mask_set_events(uint32_t events);

#endif
