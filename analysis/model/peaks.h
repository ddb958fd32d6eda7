/* SPDX-License-Identifier: MIT */
/* The peak of the links that a communicator's traffic goes over. Pure. */
#ifndef NCS_ANALYSIS_MODEL_PEAKS_H
#define NCS_ANALYSIS_MODEL_PEAKS_H

struct ncs_communicator;

enum ncs_peak_link {
	NCS_PEAK_UNKNOWN,
	NCS_PEAK_NVLINK,  /* all active links of a GPU, in one direction */
	NCS_PEAK_NETWORK, /* the network ports of a machine together */
};

struct ncs_peak {
	enum ncs_peak_link link;
	double gigabytes; /* 10^9 per second; 0: unknown */
};

/* Returns the peak of a communicator: the least of those that its machines tell.
 * It is that of NVLinks if all ranks are seen on one machine, each GPU reaches
 * the others by NVLink, and no network is used; that of the network if the ranks
 * are on several machines. Anything else is unknown. */
struct ncs_peak
ncs_communicator_peak(const struct ncs_communicator *communicator);

/* Returns the name of a link: "nvlink" or "network"; NULL if it is unknown. */
const char *ncs_peak_link_name(enum ncs_peak_link link);

#endif
