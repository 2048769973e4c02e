/* SPDX-License-Identifier: Apache-2.0 */
/*
 * load: verbs under load: hosts whose processor cores post work requests to detailed HCAs and poll for their CQEs, without
 * programs and without an emulated kernel: for message rates and latencies with many queue pairs.
 *
 *     load_params --load_create()--> nodes: cores --WQEs, doorbells--> HCA ==== fabric ==== HCA --CQEs--> cores
 *                                             `--load_execute()--> load_result
 *
 * Rings, WQEs, CQEs and doorbells are the bytes that a driver of the mlx5 family writes and reads; data are lengths only.
 * HCAs and fabric are the caller's: a scenario's (hcasim/builder/build.h), or those that load_run() makes.
 */
#ifndef TRAFFIC_LOAD_LOAD_H
#define TRAFFIC_LOAD_LOAD_H

#include "fabric/port_params.h"
#include "hca/device/hca_params.h"
#include "switch/switch_params.h"
#include "traffic/load/load_params.h"

struct endpoints;
struct hca;
struct hca_driver;
struct address_resolver;
struct load;

/* clang-format off */
/* X(name, unit, meaning): what a load comes to, from the end of load.warm_up on, for load.operations. */
#define LOAD_METRICS(X) \
	X(mops,          "M/s",  "work requests done, parts of messages included; pattern all: of a node") \
	X(received_mops, "M/s",  "messages received, of the node that receives")                   \
	X(background_mops,    "M/s",  "as mops, of the background")                                         \
	X(gbps,          "Gb/s", "data of these")                                                  \
	X(mean_ns,       "ns",   "mean latency: from the begin of posting until the CQE is polled; of the first 16384") \
	X(median_ns,     "ns",   "its median")                                                     \
	X(p99_ns,        "ns",   "its 99th percentile")                                            \
	X(p999_ns,       "ns",   "its 99.9th percentile")                                          \
	X(paused,        "",     "share of the time in which a port was paused (Ethernet): the most of all nodes") \
	X(share_least,   "",     "work requests completed by the node that completes least, over the mean of those that post")
/* clang-format on */

struct load_result {
#define LOAD_METRIC_FIELD(name, unit, meaning) double name;
	LOAD_METRICS(LOAD_METRIC_FIELD)
#undef LOAD_METRIC_FIELD
	double counter;      /* while it was measured, for each work request that counts */
	double counter_mops; /* the same, millions a second */
};

/* Do they fit together? false: *error, without the name of a file: who read the parameters adds it. All that load_create() and
 * load_connect() rely on is checked here. */
bool load_check(const struct load_params *params, char *error, size_t error_bytes);

/* The defaults of load_param_list and of its groups (load_params.h): a node posts WRITEs of 64 B to another at a switch. */
void load_params_default(struct load_params *params);

/* Receive work requests of a queue pair that SENDs go to. */
uint64_t load_receives(const struct load_params *params, bool datagram);

/* Can several LPs of a run (sim/parallel.h) have a node each? false: *error. */
bool load_may_be_parallel(const struct load_params *params, char *error, size_t error_bytes);

/* Cores, and rings in memory, for params.nodes adapters, which are then made with a driver and a address resolver each, in the order
 * of the endpoints, attached, and joined. Simulation and endpoints outlive the load. lps: of the run, that the nodes are in;
 * NULL: all are in the first. */
struct load *load_create(const struct load_params *params, struct sim *sim,
			 struct endpoints *endpoints, const uint8_t *lps);

/* Of a node, from 0: what its adapter is to be made with, and that it is. Driver and address resolver are the load's; the adapter
 * is destroyed before it. */
struct hca_driver *load_driver(struct load *load, uint32_t node);
struct address_resolver *load_address_resolver(struct load *load, uint32_t node);
void load_attach(struct load *load, uint32_t node, struct hca *hca);

/* Regions, CQs and connected queue pairs, once all are joined. false: *error, an adapter has no room for them. */
bool load_connect(struct load *load, char *error, size_t error_bytes);

/* Counts "block.counter" of the first node's HCA, or of its cores ("server0.requests"); NULL: nothing. false: *error, there is none. */
bool load_count(struct load *load, const char *counter, char *error, size_t error_bytes);

/* Called now and then with the virtual time, and how many of those that count are done. */
typedef void load_progress(void *context, sim_time now, uint64_t done, uint64_t operations);

/* Runs until enough is complete and what is under way has come to its end. progress NULL: nobody is told. false: *error, what
 * went wrong. */
bool load_execute(struct load *load, load_progress *progress, void *context, char *error,
		  size_t error_bytes);

/* What it came to, after load_execute() returned true. */
void load_take_result(const struct load *load, struct load_result *result);

/* After its HCAs. */
void load_destroy(struct load *load);

/* ---- with a fabric of its own: load_alone.c ---- */

enum { LOAD_ALONE_NODES_MAX = 64 };

/* All of it is copied. */
struct load_setup {
	struct load_params load;
	struct hca_params hca;   /* of every node */
	struct switch_params sw; /* joined: switch */
	struct port_params link; /* replaces values of both ends' own ports ... */
	uint64_t link_given;     /* ... bit i: entry i of port_param_list */
	const char *counter;     /* as load_count() */
};

/* Defaults of all lists; no value of the link is given, and no counter. */
void load_setup_default(struct load_setup *setup);

/* false: *error says what does not fit together, or what went wrong. */
bool load_run(const struct load_setup *setup, struct load_result *result, char *error,
	      size_t error_bytes);

#endif
