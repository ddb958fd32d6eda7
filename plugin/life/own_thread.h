/* SPDX-License-Identifier: MIT */
/* Starting the plugin's own threads so that the application does not notice
 * them: none of its signals is delivered to them, and nobody joins them.
 */
#ifndef NCS_PLUGIN_LIFE_OWN_THREAD_H
#define NCS_PLUGIN_LIFE_OWN_THREAD_H

#include <stdbool.h>

/* Starts a detached thread with a small stack, in which all signals are blocked
 * but those of its own faults. Returns false if there is none. */
bool ncs_own_thread_start(void *(*run)(void *unused));

#endif
