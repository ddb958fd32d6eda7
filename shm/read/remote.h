/* SPDX-License-Identifier: MIT */
/* A control object as those open it who ask: found, validated, mapped.
 *
 * For the reader's side, and the only thing there that maps anything writable:
 * one page, none of a segment. What to do with it is in control.h. Like a
 * segment it is hostile input; one that is cut short harms nobody who has
 * called ncs_reader_guard().
 */
#ifndef NCS_SHM_READ_REMOTE_H
#define NCS_SHM_READ_REMOTE_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#include "ncclstat/control_object.h"
#include "ncclstat/reader.h"
#include "shm/process.h"

struct ncs_remote;

/* Maps a control object. On NCS_ATTACHED *remote is set, to be closed with
 * ncs_remote_close(); otherwise it is NULL and `why` (which may be NULL) gets
 * one clause for people. */
enum ncs_attach ncs_remote_open(const char *path, struct ncs_remote **remote,
				char *why, size_t why_size);

/* That of the process which made the segment with this header.
 * NCS_ATTACH_ABSENT: it has none. */
enum ncs_attach ncs_remote_find(const char *directory,
				const struct ncs_header *header,
				struct ncs_remote **remote, char *why,
				size_t why_size);
void ncs_remote_close(struct ncs_remote *remote);

/* The words to be used with control.h. */
struct ncs_control *ncs_remote_control(const struct ncs_remote *remote);

/* Whose it is, as found when it was opened. */
const struct ncs_process *ncs_remote_process(const struct ncs_remote *remote);
uid_t ncs_remote_owner(const struct ncs_remote *remote);

#endif
