/*
 * load: verbs under load: hosts whose processor cores post work requests to detailed HCAs and poll for their CQEs, without
 * programs and without an emulated kernel: for message rates and latencies with many queue pairs.
 *
 *     load_params --load_run()--> nodes: cores --WQEs, doorbells--> HCA ==== switch or cable ==== HCA --CQEs--> cores
 *                                                    `--> load_result
 *
 * Rings, WQEs, CQEs and doorbells are the bytes that a driver of the mlx5 family writes and reads; data are lengths only.
 */
#ifndef SCENARIOS_LOAD_LOAD_H
#define SCENARIOS_LOAD_LOAD_H

#include "fabric/port_params.h"
#include "hca/device/hca_params.h"
#include "scenarios/load/load_params.h"
#include "switch/switch_params.h"

/* All of it is copied. */
struct load_setup {
	struct load_params load;
	struct hca_params hca;    /* of every node */
	struct switch_params box; /* joined: switch */
	struct port_params link;  /* replaces values of both ends' own ports ... */
	uint64_t link_given;      /* ... bit i: entry i of port_param_list */
	const char *counter;      /* "block.counter" of the first node's HCA; NULL: none */
};

struct load_result {
	double mops; /* work requests completed, millions a second; pattern all: of a node */
	double received_mops; /* messages received, of the node that receives */
	double rival_mops;    /* as mops, of the rivals */
	double median_ns;     /* from the begin of posting until the CQE is polled */
	double gbps;          /* data of those completed */
	double paused; /* share of that time in which the first node's port was paused (Ethernet) */
	double counter;      /* while it was measured, for each work request that counts */
	double counter_mops; /* the same, millions a second */
};

/* false: *why says what does not fit together, or what went wrong. */
bool load_run(const struct load_setup *setup, struct load_result *result, char *why,
	      size_t why_bytes);

#endif
