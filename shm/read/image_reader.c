/* SPDX-License-Identifier: MIT */
/* Opens an image as if it were a segment; see image.h. An image is as hostile
 * as a segment: reader.c validates both. */
#include "shm/read/image.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "shm/read/attach.h"
#include "shm/read/reader_internal.h"

enum ncs_attach ncs_reader_open_image(const void *image, size_t bytes,
				      const char *path, struct ncs_reader **out,
				      char *why, size_t why_size)
{
	struct ncs_reader *reader;
	enum ncs_attach result;

	*out = NULL;
	if (bytes < sizeof(struct ncs_header))
		return ncs_attach_refuse(NCS_ATTACH_CORRUPT, "it is too short",
					 why, why_size);
	reader = calloc(1, sizeof(*reader));
	if (!reader)
		return ncs_attach_failure(ENOMEM, why, why_size);
	reader->path = strdup(path);
	reader->mapping = image;
	reader->mapped_bytes = bytes;
	result = reader->path ? ncs_reader_attach(reader, why, why_size) :
				ncs_attach_failure(ENOMEM, why, why_size);
	if (result == NCS_ATTACHED)
		*out = reader;
	else
		ncs_reader_close(reader);
	return result;
}

void ncs_reader_set_process_state(struct ncs_reader *reader,
				  struct ncs_process_state state)
{
	reader->process = state;
}

void ncs_reader_set_image(struct ncs_reader *reader, const void *image)
{
	reader->mapping = image;
}
