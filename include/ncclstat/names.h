/* SPDX-License-Identifier: MIT */
/* Numbers of datatypes, algorithms and protocols in records and tables. Part of
 * the shared-memory ABI: append only. Types only. */
#ifndef NCCLSTAT_NAMES_H
#define NCCLSTAT_NAMES_H

#include "ncclstat/tables/names.def"

enum ncs_datatype {
#define X(ID, name, number, bytes) NCS_DATATYPE_##ID,
	NCS_DATATYPES(X)
#undef X
	NCS_DATATYPE_COUNT
};

enum ncs_algorithm {
#define X(ID, name, number) NCS_ALGORITHM_##ID,
	NCS_ALGORITHMS(X)
#undef X
	NCS_ALGORITHM_COUNT
};

enum ncs_protocol {
#define X(ID, name, number) NCS_PROTOCOL_##ID,
	NCS_PROTOCOLS(X)
#undef X
	NCS_PROTOCOL_COUNT
};

#endif
