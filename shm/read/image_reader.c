/* SPDX-License-Identifier: MIT */
/* Reading an image as if it were a segment; see image.h. What is in it is as
 * hostile as a segment: reader.c validates and copies both. */
#include "shm/read/image.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "shm/read/attach.h"
#include "shm/read/reader_internal.h"

enum ncs_attach ncs_reader_open_image(const void *image, size_t bytes,
				      const char *path, struct ncs_reader **out,
				      char *why, size_t why_size)
{
	struct ncs_reader *reader;
	enum ncs_attach result;

	*out = NULL;
	if (bytes < sizeof(struct ncs_header)) {
		ncs_attach_explain(why, why_size, "it is too short");
		return NCS_ATTACH_CORRUPT;
	}
	reader = calloc(1, sizeof(*reader));
	if (!reader)
		return ncs_attach_failure(ENOMEM, why, why_size);
	snprintf(reader->path, sizeof(reader->path), "%s", path);
	reader->is_image = true;
	reader->mapping = image;
	reader->mapped_bytes = bytes;
	result = ncs_reader_attach(reader, why, why_size);
	if (result == NCS_ATTACHED)
		*out = reader;
	else
		ncs_reader_close(reader);
	return result;
}

void ncs_reader_set_fate(struct ncs_reader *reader, struct ncs_image_fate fate)
{
	reader->fate = fate;
}
