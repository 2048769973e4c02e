/* SPDX-License-Identifier: Apache-2.0 */
/*
 * load: hosts under a load of verbs. Processor cores post work requests to detailed HCAs and poll
 * for their CQEs. There are no programs and no emulated kernel. A load measures message rates and
 * latencies with many queue pairs.
 *
 *     load_params --load_create()--> nodes --load_advance()--> load_result
 *
 *     a node:   core --WQEs, doorbells--> HCA ==== fabric ==== HCA --CQEs--> core
 *
 * Rings, WQEs, CQEs and doorbells have the bytes that a driver of the mlx5 family writes and reads.
 * Data are lengths only. The caller owns HCAs and fabric. A scenario makes them
 * (hcasim/builder/build.h), or load_run() does.
 */
#ifndef TRAFFIC_LOAD_LOAD_H
#define TRAFFIC_LOAD_LOAD_H

#include "fabric/port_params.h"
#include "hca/device/hca_params.h"
#include "sim/snapshot.h"
#include "switch/switch_params.h"
#include "traffic/load/load_params.h"

struct endpoints;
struct hca;
struct hca_driver;
struct address_resolver;
struct load;

/* clang-format off */
/* X(name, unit, meaning): results of a load. They cover load.operations work requests after
 * load.warm_up. */
#define LOAD_METRICS(X) \
	X(mops, "M/s", \
	  "Work requests completed, with the completed parts of messages. Pattern all: per " \
	  "node.") \
	X(received_mops, "M/s",  "Messages received by the receiving node.") \
	X(background_mops, "M/s", \
	  "Work requests of the background completed, with the completed parts of messages.") \
	X(gbps, "Gb/s", \
	  "Payload of the work requests that mops counts.") \
	X(mean_ns, "ns", \
	  "Mean latency from the start of posting to the poll of the CQE, over the first 16384 " \
	  "work requests of each node.") \
	X(median_ns, "ns", \
	  "Median latency.") \
	X(p99_ns, "ns", \
	  "99th percentile of the latency.") \
	X(p999_ns, "ns", \
	  "99.9th percentile of the latency.") \
	X(paused, "", \
	  "Share of time for which a port was paused: the largest of all nodes. Ethernet only.") \
	X(share_least, "", \
	  "Work requests completed by the slowest posting node, divided by the mean over all " \
	  "posting nodes.")
/* clang-format on */

struct load_result {
#define LOAD_METRIC_FIELD(name, unit, meaning) double name;
	LOAD_METRICS(LOAD_METRIC_FIELD)
#undef LOAD_METRIC_FIELD
	sim_time window; /* duration of the measurement */
	/* increase of the counter during the measurement, per measured work request */
	double counter;
	/* rate of the counter during the measurement, in millions per second */
	double counter_mops;
};

/* Checks that the parameters of a load are consistent. load_create() and load_connect() rely on
 * this check. Returns false and writes the reason to *error. The reason has no file name: the
 * caller adds file and line. */
bool load_check(const struct load_params *params, char *error, size_t error_bytes);

/* Sets the defaults of load_param_list and of its groups (load_params.h). By default one node posts
 * WRITEs of 64 B to another node through a switch. */
void load_params_default(struct load_params *params);

/* Returns the number of receive work requests of a queue pair that receives SENDs. */
uint64_t load_receives(const struct load_params *params, bool datagram);

/* Checks that the nodes of a load can run in different LPs (sim/parallel.h). Returns false and
 * writes the reason to *error. */
bool load_may_be_parallel(const struct load_params *params, char *error, size_t error_bytes);

/* Creates processor cores, and memory for rings, for params.nodes adapters. The caller then handles
 * the adapters in the order of the endpoints. It creates each HCA with load_driver() and
 * load_address_resolver(), attaches it, and connects it to the fabric. `sim` and `endpoints` must
 * outlive the load. `lps` is the LP of each node. If `lps` is NULL, all nodes are in the first
 * LP. */
struct load *load_create(const struct load_params *params, struct sim *sim,
			 struct endpoints *endpoints, const uint8_t *lps);

/* Return the driver and the address resolver with which the caller creates the HCA of a node, and
 * attach that HCA. Nodes count from 0. The load owns driver and resolver. Destroy the HCA before
 * the load. */
struct hca_driver *load_driver(struct load *load, uint32_t node);
struct address_resolver *load_address_resolver(struct load *load, uint32_t node);
void load_attach(struct load *load, uint32_t node, struct hca *hca);

/* Creates regions, CQs and connected queue pairs. Call it after all adapters are connected to the
 * fabric. Returns false and writes the reason to *error if an adapter has no room for them. */
bool load_connect(struct load *load, char *error, size_t error_bytes);

/* Selects the counter that load_result reports: "block.counter" of the first node's HCA, or of its
 * cores ("server0.requests"). A NULL `counter` selects none. Returns false and writes the reason to
 * *error if the counter does not exist. */
bool load_count(struct load *load, const char *counter, char *error, size_t error_bytes);

/* Receives progress at intervals: the virtual time, and the measured work requests that are
 * done. */
typedef void load_progress(void *context, sim_time now, uint64_t done, uint64_t operations);

/*
 * Runs until virtual time `until`, or to the end of the load with SIM_NEVER. The load ends when
 * enough requests and all requests in flight have completed. Returns true while the load goes on.
 * Metrics do not depend on the steps in which a load is run. progress NULL: no reports.
 */
bool load_advance(struct load *load, sim_time until, load_progress *progress, void *context);

/* Ends the load now. It has failed unless its measurement was over. */
void load_stop(struct load *load);

/* Returns the first failure, or NULL. */
const char *load_failure(const struct load *load);

/* Computes the metrics of a load that is over. They are NaN if the load failed. Latencies are NaN
 * without completed work requests. */
void load_take_result(const struct load *load, struct load_result *result);

/* Returns two snapshots, of the start and of the end of the measurement. Returns NULL if it has not
 * ended. */
const struct snapshot *load_window(const struct load *load);

/* Destroys the load. Destroy its HCAs first. */
void load_destroy(struct load *load);

/* ---- a load that creates its own fabric: load_alone.c ---- */

enum { LOAD_ALONE_NODES_MAX = 64 };

/* Input of load_run(), which copies it. */
struct load_setup {
	struct load_params load;
	struct hca_params hca; /* parameters of each node's HCA */
	/* parameters of the first node's HCA, which the caller owns; NULL: as the others */
	struct hca_params *first_hca;
	struct switch_params sw; /* used with topology: switch */
	/* port parameters that override the parameters at both ends of each link */
	struct port_params link;
	uint64_t link_given; /* bit i: entry i of port_param_list is set in `link` */
	const char *counter; /* as for load_count() */
};

/* Sets the defaults of all lists. No parameter of the link is set, and no counter is selected. */
void load_setup_default(struct load_setup *setup);

/* Creates HCAs and fabric, runs the load, and destroys everything. Returns false and writes the
 * reason to *error if the parameters are inconsistent or the load fails. */
bool load_run(const struct load_setup *setup, struct load_result *result, char *error,
	      size_t error_bytes);

#endif
